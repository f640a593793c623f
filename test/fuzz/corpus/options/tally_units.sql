-- as curator
SELECT dp_internal.tally_units('@selection@', '@cut@', unit, id) FROM people
