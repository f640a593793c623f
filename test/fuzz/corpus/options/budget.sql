-- as curator
SELECT dp.grant_budget('people', 'ann', 1e5, 1e-9, 'gdp', 0.25)
