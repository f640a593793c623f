SELECT count(*) FROM logs WHERE at BETWEEN '2026-03-05 00:00' AND '2026-03-05 23:59:59'; -- 22023
SELECT region, bool_or(age >= 89) AS any_old FROM census GROUP BY region; -- 0A000
SELECT mode() WITHIN GROUP (ORDER BY region) FROM census; -- 0A000
SELECT count(*) FROM logs WHERE bytes <= 50000; -- 22023
SELECT delivered - ordered AS days, count(*) FROM sales GROUP BY 1 ORDER BY 1; -- 0A000
SELECT at::time AS t, count(*) FROM logs GROUP BY 1; -- 22023
SELECT avg(power(income, 3)) FROM census; -- 22023
