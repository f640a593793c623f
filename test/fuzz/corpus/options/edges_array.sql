-- as curator
SELECT dp.add_edges('plain', 'pay', ARRAY[0, 1.5, 1e20])
