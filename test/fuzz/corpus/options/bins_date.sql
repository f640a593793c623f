-- as curator
SELECT dp.add_attribute('plain', 'born', '1990-01-01', '2000-12-31', 12)
