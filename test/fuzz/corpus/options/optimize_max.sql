-- as ann
SELECT * FROM dp.optimize('width_range(20, 5)', 'optimal', objective => 'max')
