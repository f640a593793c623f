-- exact error
-- kinds k k c:1:0 k
-- parameters 
-- flags merges
SELECT (reg) AS c1, (1 + 1) AS c2, count(*) AS c3, GROUPING((reg), (1 + 1)) AS c4 FROM R GROUP BY ROLLUP((reg), (1 + 1))
