-- as curator
SELECT fuzz.together(state) FROM (VALUES ('@affine_state@'::bytea), ('@affine_state@')) s(state)
