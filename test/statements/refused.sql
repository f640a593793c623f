SELECT count(*) FROM sales WHERE delivered - ordered > 7; -- 0A000
SELECT count(*) FROM sales WHERE delivered > ordered + 7; -- 0A000
SELECT channel, count(*) FILTER (WHERE delivered = ordered) AS same_day FROM sales GROUP BY channel ORDER BY channel; -- 0A000
SELECT avg(discharged - admitted) AS days FROM stays; -- 0A000
SELECT count(*) FROM stays WHERE discharged - admitted > 14; -- 0A000
SELECT count(*) FROM stays WHERE discharged = admitted; -- 0A000
SELECT sex, count(*) FILTER (WHERE systolic > diastolic * 2) AS wide FROM stays GROUP BY sex ORDER BY sex; -- 0A000
SELECT count(*) FROM logs WHERE at BETWEEN '2026-03-05 00:00' AND '2026-03-05 23:59:59'; -- 22023
