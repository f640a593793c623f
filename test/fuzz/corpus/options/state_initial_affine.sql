-- as postgres
CREATE AGGREGATE fuzz.crafted(bytea, bytea, VARIADIC "any") (SFUNC = dp_internal.read_rows_add, STYPE = bytea, FINALFUNC = dp_internal.read_rows_final, INITCOND = '@affine_state@'); SELECT fuzz.crafted('@affine@', NULL, 0, price, a, b) FROM offers
