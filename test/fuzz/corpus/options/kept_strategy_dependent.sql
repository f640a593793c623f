-- as postgres
SELECT fuzz.kept_strategy(1, '@strategy_dependent@')
