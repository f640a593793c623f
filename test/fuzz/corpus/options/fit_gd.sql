-- as ann
SELECT * FROM dp.fit('people', 'svm', 'y', '{age}', 'nag_opt', rho => 0.1, options => '{"iterations": 5, "gap0": 0.5, "batch": 0}')
