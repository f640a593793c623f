-- exact error
-- kinds k c:1:0
-- parameters 
-- flags merges
SELECT (CASE WHEN ok THEN reg ELSE chan END) AS c1, count(*) AS c2 FROM R GROUP BY (CASE WHEN ok THEN reg ELSE chan END)
