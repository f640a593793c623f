-- as curator
SELECT dp.fit_rows('@pass@', NULL, 0, id, height, height, id) FROM people
