-- exact_units error
-- kinds c:1:0 a:3:0
-- parameters 
-- flags 
SELECT count(*) AS c1, avg(1) FILTER (WHERE extract(day from ts) <= 15) AS c2 FROM R WHERE age >= 30
