-- as curator
SELECT dp.tally_units('@selection@', '@cut@', unit, id) FROM people
