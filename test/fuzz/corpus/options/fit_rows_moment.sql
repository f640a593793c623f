-- as curator
SELECT dp_internal.fit_rows('@moment@', NULL, 0, height, height, height) FROM people
