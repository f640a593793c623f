-- as ann
SELECT * FROM dp.fit('people', 'logistic_regression', 'y', '{age,colour}', 'agd', rho => 0.1, options => '{"iterations": 4, "gamma": 0.1, "candidates": 5, "loss_cap": 2, "step_max": 3}')
