-- as postgres
SELECT fuzz.tally(deserialise, combine, state) FROM fuzz.of_tally, (VALUES ('@tally_state@'::bytea), ('@tally_state@')) s(state)
