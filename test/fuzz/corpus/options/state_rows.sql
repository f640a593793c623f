-- as postgres
SELECT fuzz.fit_rows(deserialise, combine, state) FROM fuzz.of_fit_rows, (VALUES ('@rows_state@'::bytea), ('@rows_state@')) s(state)
