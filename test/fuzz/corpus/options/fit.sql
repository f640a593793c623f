-- as ann
SELECT * FROM dp.fit('people', 'logistic_regression', 'y', '{age,sex,height}', 'newton', epsilon => 0.1, predicate => 'age < 50', options => '{"iterations": 3, "l2": 0.5, "clip": 1, "share": 0.2, "decay": 0.9, "floor": 1, "intercept": true, "max_norm": 2}', model => 'fitted')
