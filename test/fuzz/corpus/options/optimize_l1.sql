-- as ann
SELECT * FROM dp.optimize('prefix(12)', 'optimal', gap => 1e-2, objective => 'sum', norm => 'l1')
