-- as ann
SELECT * FROM dp.minimize_max_affine('offers', '{a,b}', 'price', '{-1,-1}', '{1,Infinity}', '{{1,1,2},{-1,0.5,1},{0,1,5}}', epsilon => 0.1, options => '{"prior": 0.5}')
