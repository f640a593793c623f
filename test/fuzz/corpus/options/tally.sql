-- as curator
SELECT dp.tally('@selection@', id) FROM people
