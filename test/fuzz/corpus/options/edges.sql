-- as curator
SELECT dp.add_edges('plain', 'height', '{150,160.5,1e3}', nulls => 'cell')
