-- as curator
SELECT dp_internal.fit_rows('@spec@', NULL, 0, id, height, height, id) FROM people
