-- exact error
-- kinds c:1:0
-- parameters 2
-- flags 
SELECT count(*) AS c1 FROM R WHERE $1::int = 1 AND ok
