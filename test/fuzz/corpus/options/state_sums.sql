-- as postgres
SELECT fuzz.fit_rows(deserialise, combine, state) FROM fuzz.of_fit_rows, (VALUES ('@sums_state@'::bytea), ('@sums_state@')) s(state)
