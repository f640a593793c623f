-- as ann
SELECT * FROM dp.fit('people', 'logistic_regression', 'y', '{sex}', 'objpert', epsilon => 1, delta => 1e-11, options => '{"l2": 1}')
