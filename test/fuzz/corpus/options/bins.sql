-- as curator
SELECT dp.add_attribute('plain', 'age', 0, 100, 10, outside => 'clamp', nulls => 'cell')
