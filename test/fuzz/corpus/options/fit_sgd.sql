-- as ann
SELECT * FROM dp.fit('people', 'logistic_regression', 'y', '{age,height}', 'sgd', epsilon => 1, delta => 1e-11, options => '{"iterations": 10, "rows": 200, "rate": 0.1, "start": 0, "batch": 20, "smoothness": 1}')
