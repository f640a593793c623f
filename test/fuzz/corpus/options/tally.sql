-- as curator
SELECT dp_internal.tally('@selection@', id) FROM people
