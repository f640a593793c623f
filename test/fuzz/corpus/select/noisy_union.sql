-- noisy_units middle
-- kinds k c:1:0
-- parameters 
-- flags merges
SELECT 'a' AS c1, count(*) AS c2 FROM R UNION ALL SELECT reg, count(*) FROM R WHERE amt > 5 GROUP BY reg
