-- as ann
SELECT dp.strategy_matrix(1), dp.workload_matrix('all_range(4) + total'), dp.gram('marginals(1)')
