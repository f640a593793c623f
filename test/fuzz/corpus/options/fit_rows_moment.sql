-- as curator
SELECT dp.fit_rows('@moment@', NULL, 0, height, height, height) FROM people
