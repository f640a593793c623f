-- as ann
SELECT * FROM dp.table_one('people', 'sex', '{age}', rho => 0.001, predicate => 'age > 20')
