-- as curator
SELECT fuzz.together(state) FROM (VALUES ('@rows_state@'::bytea), ('@rows_state@')) s(state)
