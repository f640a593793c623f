-- as curator
SELECT dp_internal.read_rows('@selection@', '@cut@', unit, id) FROM people
