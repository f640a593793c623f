-- as postgres
SELECT fuzz.kept_strategy(2, '@strategy_2@')
