-- exact error
-- kinds 
-- parameters 
-- flags refused
SELECT * FROM R LIMIT 3
