-- as postgres
CREATE AGGREGATE fuzz.crafted(bytea, bytea, VARIADIC "any") (SFUNC = dp_internal.read_rows_add, STYPE = bytea, FINALFUNC = dp_internal.read_rows_final, INITCOND = '@rows_state@'); SELECT fuzz.crafted('@pass@', '@cut@', unit, id, height, height, id) FROM people
