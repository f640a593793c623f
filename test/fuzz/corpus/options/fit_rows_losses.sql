-- as curator
SELECT dp.fit_rows('@losses@', '@cut@', unit, id, height, age) FROM people
