-- as curator
SELECT dp.set_example('people', 'people')
