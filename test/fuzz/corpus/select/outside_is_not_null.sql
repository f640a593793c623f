-- exact error
-- kinds c:1:0
-- parameters 
-- flags 
SELECT count(*) AS c1 FROM R WHERE amt IS NOT NULL
