-- as curator
SELECT dp.fit_rows('@spec@', NULL, 0, id, height, height, id) FROM people
