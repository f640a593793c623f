-- exact_units error
-- kinds 
-- parameters 
-- flags refused
SELECT count(*) FROM R WHERE who = 3
