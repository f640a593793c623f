-- as ann
SELECT * FROM dp.minimize_max_affine('offers', '{a,b}', 'price', '{-2,-1e250}', '{2,1e250}', method => 'laplace_data', epsilon => 1, fresh => true)
