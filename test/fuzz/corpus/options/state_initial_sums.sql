-- as postgres
CREATE AGGREGATE fuzz.crafted(bytea, bytea, VARIADIC "any") (SFUNC = dp_internal.read_rows_add, STYPE = bytea, FINALFUNC = dp_internal.read_rows_final, INITCOND = '@sums_state@'); SELECT fuzz.crafted('@pass@', NULL, 0, id, height, height, id) FROM people
