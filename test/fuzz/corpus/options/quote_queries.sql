-- as ann
SELECT * FROM dp.quote_queries('people', '{sex,colour,y}', 'marginals(2)', rho => 0.1)
