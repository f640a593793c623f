-- as postgres
SELECT fuzz.affine_rows(deserialise, combine, state) FROM fuzz.of_affine_rows, (VALUES ('@affine_state@'::bytea), ('@affine_state@')) s(state)
