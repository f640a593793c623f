-- as curator
SELECT dp.add_attribute('people', 'id', '{1,2,5}', 'other', 'cell')
