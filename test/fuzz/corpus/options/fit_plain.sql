-- as curator
SELECT * FROM dp.fit('people', 'svm', 'y', '{age,sex}', 'nonprivate', options => '{"iterations": 20}')
