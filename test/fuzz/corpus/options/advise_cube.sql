-- as ann
SELECT * FROM dp.advise_cube('people', '{SELECT 1,"SELECT sex, count(*) FROM people GROUP BY 1"}', 0.5, 'ann')
