-- as ann
SELECT * FROM dp.optimize('all_range(16) * identity(2) + 0.5 * total', 'optimal', 1e-4, 'sum', 'l2')
