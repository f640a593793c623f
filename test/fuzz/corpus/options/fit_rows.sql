-- as curator
SELECT dp_internal.read_rows('@pass@', NULL, 0, id, height, height, id) FROM people
