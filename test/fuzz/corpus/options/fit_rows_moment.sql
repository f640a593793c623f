-- as curator
SELECT dp_internal.read_rows('@moment@', NULL, 0, height, height, height) FROM people
