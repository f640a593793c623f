-- as curator
SELECT dp.add_attribute('plain', 'sex', '{f,"m, or not",""}', outside => 'drop')
