-- zcdp_add ann
SELECT count(*) FROM dp.aggregate('zcdp_add', '{count(*) where (ok),count(*)}', '{reg}', rho => 0.02)
SELECT known_release IS NULL FROM dp.quote('zcdp_add', '{reg}', 'identity(reg)', rho => 0.001)
