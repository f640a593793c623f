-- as curator
SELECT dp.grant_budget('people', 'ann', 1e5, 1e-9, 'zcdp')
