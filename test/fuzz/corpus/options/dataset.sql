-- as curator
SELECT dp.create_dataset('other', 'bare', epsilon => 1, delta => 1e-9, neighbours => 'substitute', unit => 'unit', max_rows => 3, accounting => 'zcdp', delta_share => 0.25)
