-- as curator
SELECT dp_internal.fit_rows('@losses@', '@cut@', unit, id, height, age) FROM people
