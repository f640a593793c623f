-- as curator
SELECT dp.grant_budget('ann', 'people', 1e5, 1e-9, 'zcdp')
