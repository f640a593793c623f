-- as ann
SELECT * FROM dp.survival('people', 'age', 'y', '{sex}', rho => 0.001, predicate => 'height >= 160', event_level => 'true', fresh => false)
