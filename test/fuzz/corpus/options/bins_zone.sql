-- as curator
SELECT dp.add_attribute('plain', 'born', '-011990-01', '', 12)
