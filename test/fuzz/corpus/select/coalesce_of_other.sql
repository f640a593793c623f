-- exact error
-- kinds k c:1:0
-- parameters 
-- flags 
SELECT (coalesce(chan, 'north')) AS c1, count(*) AS c2 FROM R GROUP BY (coalesce(chan, 'north'))
