-- as curator
SELECT dp_internal.read_rows('@spec@', NULL, 0, id, height, height, id) FROM people
