-- as postgres
CREATE AGGREGATE fuzz.crafted(bytea, bytea, VARIADIC "any") (SFUNC = dp_internal.read_rows_add, STYPE = bytea, FINALFUNC = dp_internal.read_rows_final, INITCOND = '@counts_state@'); SELECT fuzz.crafted('@selection@', NULL, 0, id) FROM people
