-- exact error
-- kinds k c:1:0
-- parameters 
-- flags 
SELECT ({chan}) AS c1, count(*) AS c2 FROM R WHERE reg = 'north'::text AND reg = 'East'::text GROUP BY ({chan})
