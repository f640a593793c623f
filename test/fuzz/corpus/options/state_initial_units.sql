-- as postgres
CREATE AGGREGATE fuzz.crafted(bytea, bytea, VARIADIC "any") (SFUNC = dp_internal.read_rows_add, STYPE = bytea, FINALFUNC = dp_internal.read_rows_final, INITCOND = '@units_state@'); SELECT fuzz.crafted('@selection@', '@cut@', unit, id) FROM people
