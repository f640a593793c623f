-- as ann
SELECT * FROM dp.minimize_max_affine('offers', '{b}', 'price', '{-1}', '{1e6}', method => 'subgradient', rho => 0.1, options => '{"iterations": 20, "step": 0.5}')
