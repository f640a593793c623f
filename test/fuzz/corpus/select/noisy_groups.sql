-- noisy error
-- kinds k c:1:0 s:95:0
-- parameters 
-- flags 
SELECT (reg) AS c1, count(*) AS c2, sum(age) AS c3 FROM R WHERE sc < 10 GROUP BY (reg)
