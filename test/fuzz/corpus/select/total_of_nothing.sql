-- exact error
-- kinds k c:1:0 k
-- parameters 
-- flags merges
SELECT (extract(month from day)) AS c1, count(*) AS c2, GROUPING((extract(month from day))) AS c3 FROM R WHERE lv > 1000 AND lv = 1 GROUP BY ROLLUP((extract(month from day)))
