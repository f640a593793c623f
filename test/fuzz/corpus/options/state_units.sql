-- as postgres
SELECT fuzz.tally_units(deserialise, combine, state) FROM fuzz.of_tally_units, (VALUES ('@units_state@'::bytea), ('@units_state@')) s(state)
