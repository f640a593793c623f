-- as ann
SELECT dp.epsilon_of_rho(0.5, 1e-9), dp.rho_of_epsilon(1, 1e-9, 'zcdp'), dp.pure_epsilon_of_rho(0.5, 'gdp')
