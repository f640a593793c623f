-- as curator
SELECT dp.create_dataset('other', 'bare', 1, neighbours => 'values', private_column => 'pay', max_change => 2.5, change => 'all')
