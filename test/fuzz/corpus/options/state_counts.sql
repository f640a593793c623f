-- as curator
SELECT fuzz.together(state) FROM (VALUES ('@counts_state@'::bytea), ('@counts_state@')) s(state)
