-- as curator
SELECT dp.add_attribute('plain', 'colour', '{red,blue}')
