-- as curator
SELECT dp.set_min_count('people', 10)
