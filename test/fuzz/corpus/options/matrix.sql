-- as ann
SELECT dp.strategy_matrix(2), dp.workload_matrix('all_range(4) + total'), dp.gram('prefix(4) * identity(2)')
