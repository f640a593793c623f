-- as curator
SELECT dp_internal.read_rows('@selection@', NULL, 0, id) FROM people
