-- as ann
SELECT * FROM dp.fit('people', 'svm', 'y', '{age}', 'agd', rho => 0.1, options => '{"adjust": 2, "splits": 2, "hinge": 1}')
