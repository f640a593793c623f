-- as ann
SELECT 'all_range(4) * (identity(2) + total(2))'::dp.workload = '2 * prefix(3)'::dp.workload
