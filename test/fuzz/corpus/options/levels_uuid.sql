-- as curator
SELECT dp.add_attribute('plain', 'code', '{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}')
