-- as curator
SELECT dp.add_edges('plain', 'seen', '{2020-01-01 00:00+00,2020-02-01 12:00+02}')
