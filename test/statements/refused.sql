SELECT sum(price * quantity) AS revenue FROM sales; -- 0A000
SELECT category, sum(price * quantity * (1 - discount)) AS revenue FROM sales GROUP BY category ORDER BY revenue DESC; -- 0A000
SELECT channel, avg(price) AS mean_price, avg(price * quantity) AS mean_line FROM sales GROUP BY channel ORDER BY channel; -- 0A000
SELECT count(*) FROM sales WHERE delivered - ordered > 7; -- 0A000
SELECT count(*) FROM sales WHERE delivered > ordered + 7; -- 0A000
SELECT channel, count(*) FILTER (WHERE delivered = ordered) AS same_day FROM sales GROUP BY channel ORDER BY channel; -- 0A000
SELECT category, sum(price * quantity) / sum(quantity) AS price_per_piece FROM sales GROUP BY category ORDER BY category; -- 0A000
SELECT country, avg(price - price * discount) AS paid FROM sales GROUP BY country ORDER BY country; -- 0A000
SELECT country, sum(price * quantity) FILTER (WHERE NOT refunded) AS kept FROM sales GROUP BY country ORDER BY country; -- 0A000
SELECT avg(discharged - admitted) AS days FROM stays; -- 0A000
SELECT count(*) FROM stays WHERE discharged - admitted > 14; -- 0A000
SELECT count(*) FROM stays WHERE discharged = admitted; -- 0A000
SELECT ward, avg(systolic - diastolic) AS pulse_pressure FROM stays GROUP BY ward ORDER BY ward; -- 0A000
SELECT count(*) AS n, sum(days) AS days, sum(days * cost) AS weighted FROM stays WHERE insurance = 'private'; -- 0A000
SELECT sex, count(*) FILTER (WHERE systolic > diastolic * 2) AS wide FROM stays GROUP BY sex ORDER BY sex; -- 0A000
SELECT count(*) FROM logs WHERE at BETWEEN '2026-03-05 00:00' AND '2026-03-05 23:59:59'; -- 22023
