-- as curator
SELECT fuzz.together(state) FROM (VALUES ('@sums_state@'::bytea), ('@sums_state@')) s(state)
