-- as postgres
SELECT fuzz.kept_payload('@payload@')
