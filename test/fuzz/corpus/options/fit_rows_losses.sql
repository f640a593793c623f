-- as curator
SELECT dp_internal.read_rows('@losses@', '@cut@', unit, id, height, age) FROM people
