-- as ann
SELECT * FROM dp.fit('people', 'svm', 'y', '{age,colour}', 'agd', rho => 0.1, options => '{"iterations": 4, "gamma": 0.1, "candidates": 5, "loss_cap": 2, "step_max": 3, "adjust": 2, "splits": 2, "hinge": 1}')
