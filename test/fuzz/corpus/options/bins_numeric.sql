-- as curator
SELECT dp.add_attribute('plain', 'pay', '0.5', '1e3', 7, 'other')
