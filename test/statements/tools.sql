SELECT "census"."region" AS "region", COUNT(*) AS "count" FROM "asked"."census" WHERE "census"."age" >= 18 GROUP BY "census"."region" ORDER BY "count" DESC, "census"."region" ASC LIMIT 2000;
SELECT region AS region, COUNT(*) AS count FROM (SELECT * FROM census) AS virtual_table GROUP BY region ORDER BY count DESC, region LIMIT 1000;
SELECT "t"."sex" AS "sex", SUM(1) AS "sum:Number of Records:ok" FROM "asked"."census" "t" GROUP BY 1 HAVING (COUNT(1) > 0) ORDER BY 1;
select "rows"."region" as "region", sum("rows"."income") as "a0", count(*) as "a1" from ( select "_"."region", "_"."income" from "asked"."census" "_" where "_"."married" = true ) "rows" group by "region" order by 1;
SELECT upper(left(region, 2)) AS r, count(*) AS n, count(*) - lag(count(*)) OVER (ORDER BY left(region, 2)) AS d FROM census GROUP BY left(region, 2) ORDER BY left(region, 2);
SELECT (age / 10) * 10 AS lo, (age / 10) * 10 + 9 AS hi, count(*), sum(count(*)) OVER (ORDER BY age / 10) AS cum FROM census GROUP BY age / 10 ORDER BY 1;
SELECT avg(least(hours, 40)) AS capped, sum(greatest(hours - 40, 0)) AS overtime FROM census;
SELECT sex, sum(greatest(0, income - 50000)) AS above, avg(least(60000, income)) AS lower FROM census GROUP BY sex ORDER BY sex;
SELECT CASE WHEN born < '1946-01-01' THEN 'silent' WHEN born < '1965-01-01' THEN 'boomer' WHEN born < '1981-01-01' THEN 'x' WHEN born < '1997-01-01' THEN 'millennial' ELSE 'z' END AS generation, count(*), avg(income) FROM census GROUP BY 1 ORDER BY 1;
SELECT regexp_replace(region, '(north|south)', 'pole') AS kind, count(*) FROM census GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM census WHERE region SIMILAR TO '(north|south)' AND age BETWEEN SYMMETRIC 60 AND 20;
SELECT count(*) FROM census WHERE housing IS DISTINCT FROM 'rent';
SELECT CASE WHEN GROUPING(region) = 1 THEN 'All' ELSE region END AS region, CASE WHEN GROUPING(sex) = 1 THEN 'All' ELSE sex END AS sex, count(*) FROM census GROUP BY CUBE (region, sex) ORDER BY GROUPING(region, sex), 1, 2;
SELECT l.label, s.n FROM (SELECT region, count(*) AS n FROM census GROUP BY region) s JOIN (VALUES ('north', 'N'), ('south', 'S')) AS l(region, label) USING (region) ORDER BY 1;
SELECT region, count(*) AS n FROM census GROUP BY region ORDER BY n DESC, region FETCH FIRST 3 ROWS WITH TIES;
SELECT g.d AS decade, coalesce(s.n, 0) AS n FROM generate_series(0, 90, 10) AS g(d) LEFT JOIN (SELECT age / 10 * 10 AS d, count(*) AS n FROM census GROUP BY 1) s ON s.d = g.d ORDER BY 1;
SELECT date_trunc('week', answered)::date AS w, avg(satisfaction) AS m, avg(avg(satisfaction)) OVER (ORDER BY date_trunc('week', answered) ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) AS rolling FROM survey GROUP BY date_trunc('week', answered) ORDER BY 1 LIMIT 8; -- within 0.05
SELECT recommend > 2 * satisfaction AS keen, count(*) FROM survey WHERE recommend IS NOT NULL GROUP BY 1 ORDER BY 1;
SELECT CASE WHEN recommend > 2 * satisfaction THEN 'keen' WHEN recommend <= 2 * satisfaction THEN 'not' END AS keen, count(*) FROM survey WHERE recommend >= 3 GROUP BY 1 ORDER BY 1;
SELECT CASE WHEN recommend >= 9 THEN 'promoter' WHEN recommend >= 7 THEN 'passive' WHEN recommend IS NOT NULL THEN 'detractor' ELSE 'no answer' END AS kind, count(*), round(100.0 * count(*) / sum(count(*)) OVER (), 1) AS pct FROM survey GROUP BY 1 ORDER BY 1;
SELECT (ARRAY['bad', 'poor', 'ok', 'good', 'great'])[satisfaction] AS grade, count(*) FROM survey GROUP BY 1 ORDER BY 1;
SELECT make_date(2025, extract(month FROM answered)::int, 1) AS m, count(*) FROM survey GROUP BY 1 ORDER BY 1;
SELECT CAST(DATE_TRUNC('month', "asked"."sales"."sold_at") AS date) AS "sold_at", COUNT(*) AS "count" FROM "asked"."sales" WHERE ("asked"."sales"."sold_at" >= timestamp '2024-03-01 00:00:00') AND ("asked"."sales"."sold_at" < timestamp '2024-09-01 00:00:00') GROUP BY CAST(DATE_TRUNC('month', "asked"."sales"."sold_at") AS date) ORDER BY 1;
SELECT to_char(date_trunc('month', ordered), 'YYYY-MM') AS month, sum(quantity) AS pieces, sum(sum(quantity)) OVER (ORDER BY date_trunc('month', ordered)) AS cumulative FROM sales WHERE ordered < '2024-07-01' GROUP BY date_trunc('month', ordered) ORDER BY 1;
SELECT to_char(date_trunc('month', ordered), 'YYYY-MM') AS month, country || '!' AS c, count(*) AS n, rank() OVER (PARTITION BY date_trunc('month', ordered) ORDER BY count(*) DESC, country) AS r, sum(count(*)) OVER (PARTITION BY country ORDER BY date_trunc('month', ordered)) AS cum FROM sales WHERE ordered < '2024-04-01' GROUP BY date_trunc('month', ordered), country HAVING count(*) > 1 AND to_char(date_trunc('month', ordered), 'MM') <> '02' ORDER BY 1, 2;
SELECT (DATE(DATE_TRUNC('month', sales.sold_at ))) AS "sales.sold_month", COALESCE(SUM(sales.price ), 0) AS "sales.total", COUNT(*) AS "sales.count" FROM sales AS sales WHERE ((( sales.sold_at ) >= ((SELECT (DATE_TRUNC('year', TIMESTAMP '2024-06-01')))) AND ( sales.sold_at ) < ((SELECT ((DATE_TRUNC('year', TIMESTAMP '2024-06-01')) + (1 || ' year')::INTERVAL))))) GROUP BY 1 ORDER BY 1 DESC FETCH NEXT 500 ROWS ONLY;
SELECT to_timestamp(floor(extract(epoch FROM sold_at) / 604800) * 604800) AS "time", count(*) FROM sales GROUP BY 1 ORDER BY 1 LIMIT 4;
SELECT (date_trunc('month', sold_at) + interval '1 month - 1 day')::date AS month_end, count(*) FROM sales GROUP BY 1 ORDER BY 1;
SELECT count(DISTINCT CASE WHEN refunded THEN customer END) AS refunders, count(DISTINCT customer) AS customers FROM sales;
SELECT country, count(DISTINCT CASE WHEN channel = 'web' AND NOT refunded THEN customer ELSE NULL END) AS web, count(DISTINCT CASE WHEN channel = 'shop' THEN customer END) FILTER (WHERE quantity > 3) AS shop FROM sales GROUP BY country ORDER BY country;
SELECT count(DISTINCT CASE WHEN refunded THEN country END) AS countries FROM sales;
WITH days AS (SELECT d::date AS d FROM generate_series(date '2024-01-01', date '2024-01-10', '1 day') d), s AS (SELECT ordered AS d, count(*) AS n FROM sales GROUP BY 1) SELECT days.d, coalesce(s.n, 0) AS n FROM days LEFT JOIN s USING (d) ORDER BY 1;
SELECT CASE WHEN date '2026-01-01' - ordered <= 30 THEN '0-30' WHEN date '2026-01-01' - ordered <= 90 THEN '31-90' ELSE '90+' END AS aging, sum(price) FROM sales GROUP BY 1 ORDER BY 1;
SELECT country, category, s > 0 AS sold FROM (SELECT country, category, sum(quantity) AS s, row_number() OVER (PARTITION BY country ORDER BY category) AS rn FROM sales GROUP BY country, category) t WHERE rn = 1 ORDER BY country;
SELECT CASE WHEN systolic >= 180 OR diastolic >= 120 THEN 'crisis' WHEN systolic >= 140 OR diastolic >= 90 THEN 'stage 2' WHEN systolic >= 130 OR diastolic >= 80 THEN 'stage 1' WHEN systolic >= 120 THEN 'elevated' ELSE 'normal' END AS class, count(*) FROM stays GROUP BY 1 ORDER BY 1;
SELECT avg(least(bmi, 30)) AS b, avg(greatest(30, bmi)) AS g FROM stays;
SELECT count(*) FROM stays WHERE date '2024-03-15' BETWEEN admitted AND discharged;
SELECT floor(bmi / 5) * 5 AS b, count(*) FROM stays GROUP BY 1 ORDER BY 1;
SELECT at::time >= '08:00' AND at::time < '18:00' AS office, count(*) FROM logs GROUP BY 1 ORDER BY 1;
SELECT count(*) FILTER (WHERE at::time < '06:00') AS night, count(*) FILTER (WHERE CAST(at AS time) >= time '22:00') AS late FROM logs;
SELECT CASE WHEN at::time < '06:00' THEN 'night' WHEN at::time < '12:00' THEN 'morning' WHEN at::time < '18:00' THEN 'afternoon' ELSE 'evening' END AS part, count(*), avg(bytes) FROM logs GROUP BY 1 ORDER BY 1;
SELECT date_trunc('hour', at)::time AS t, count(*), 100.0 * count(*) / sum(count(*)) OVER () AS pct FROM logs GROUP BY date_trunc('hour', at)::time ORDER BY 1;
SELECT COUNT(DISTINCT CASE WHEN (path = '/pay') THEN visitor ELSE NULL END) * 1.0 / NULLIF(COUNT(DISTINCT visitor), 0) AS conversion FROM logs;
SELECT extract(epoch FROM date_trunc('hour', at))::bigint * 1000 AS ms, count(*) FROM logs WHERE at < '2026-03-01 05:00' GROUP BY 1 ORDER BY 1;
SELECT coalesce(NULLIF(trim(leading '/' from path), ''), 'home') AS page, count(*) FROM logs GROUP BY 1 ORDER BY 1;
SELECT path, count(*) FROM logs GROUP BY path ORDER BY array_position(ARRAY['/', '/search', '/cart', '/pay', '/help'], path);
SELECT avg(power(hours, 2)) AS a, sqrt(avg(hours ^ 2)) AS rms, avg(hours::numeric ^ 2) AS n FROM census; -- within 3
SELECT avg(power(bmi, 2)) AS b, avg(bmi ^ 2.0) AS c FROM stays;
SELECT avg(power(systolic - diastolic, 2)) AS b FROM stays;
SELECT count(*) FROM sales WHERE (delivered - ordered) IN (0, 1, 2);
SELECT count(*) FILTER (WHERE delivered - ordered NOT IN (0, 1)) AS a, count(*) FILTER (WHERE (delivered - ordered) = ANY (ARRAY[3, NULL])) AS b FROM sales;
SELECT CASE WHEN delivered - ordered IN (0, 1) THEN 'fast' WHEN delivered - ordered IN (2, 3) THEN 'ok' ELSE 'slow' END AS k, count(*) FROM sales GROUP BY 1 ORDER BY 1;
SELECT children + hours / 10 IN (3, 4) AS k, count(*) FROM census GROUP BY 1 ORDER BY 1;
SELECT avg(date '2026-01-01' - ordered) AS recency, sum(ordered - date '2024-01-01') AS s FROM sales;
SELECT country, avg((date '2026-01-01' - ordered) / 365.25) AS years FROM sales GROUP BY country ORDER BY country; -- within 0.05
SELECT sum((date '2026-01-01' - ordered) * quantity) / sum(quantity)::numeric AS w FROM sales;
SELECT round(avg(date '2024-01-01' - born) / 365.25, 1) AS age FROM census; -- within 0.11
SELECT avg(CASE WHEN refunded THEN date '2026-01-01' - ordered END) AS r, avg(NULL::date - ordered) AS n FROM sales; -- within 2
SELECT avg(admitted - date '2024-01-01' + systolic) AS a FROM stays;
