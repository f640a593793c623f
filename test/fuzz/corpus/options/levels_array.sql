-- as curator
SELECT dp.add_attribute('plain', 'age', ARRAY[1, 2, 3])
