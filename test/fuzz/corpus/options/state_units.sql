-- as curator
SELECT fuzz.together(state) FROM (VALUES ('@units_state@'::bytea), ('@units_state@')) s(state)
