-- dp.aggregate: counts, sums, averages, people and what follows from them.  At a very large rho a count that is
-- rounded is exact; of all others it is told whether they are within seven of their standard errors of the truth,
-- and what the rounding of numbers to 65535 places may cost (0 for whole numbers).
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
CREATE ROLE regress_eve;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;
SET timezone = 'UTC';

SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE sales (id int, region text, vip boolean NOT NULL, amount int NOT NULL, price float8, rating int, big numeric, sold date);
INSERT INTO sales SELECT i, CASE i % 3 WHEN 0 THEN 'north' WHEN 1 THEN 'south' ELSE 'west' END, i % 4 = 0, (i * 37) % 101,
       CASE WHEN i % 10 = 0 THEN NULL ELSE 1000 + ((i * 13) % 97) + ((i * 37) % 101) * 0.5 END, CASE WHEN i % 7 = 0 THEN NULL ELSE i % 5 END,
       CASE i % 50 WHEN 1 THEN ('1' || repeat('0', 1000))::numeric WHEN 2 THEN 'NaN' WHEN 3 THEN -('1' || repeat('0', 1000))::numeric ELSE i / 7.0 END,
       date '2024-01-01' + i % 365
  FROM generate_series(1, 3000) i;
-- no region of the list; beyond and on the bounds; what is no number
INSERT INTO sales VALUES (4000, 'east', false, 5, 1100, 1, 1), (4001, 'north', true, -50, 'Infinity', 9, 0), (4002, 'north', true, 500, 'NaN', 2, 100),
       (4003, 'south', true, 0, 1000, 2, 500), (4004, 'south', true, 100, 1200, 2, 0), (4005, NULL, true, 100, 1200, 2, 0),
       (4006, 'west', false, 2147483647, '-Infinity', 2, 1e-1000), (4007, 'west', false, -2147483648, 1200.0000001, NULL, NULL);
SELECT dp.create_dataset('sales', 'sales', epsilon => 1e5);
SELECT dp.add_attribute('sales', 'region', '{north,south,west}'), dp.add_attribute('sales', 'vip');
SELECT dp.add_attribute('sales', 'amount', 0, 100, bins => 10);
SELECT dp.add_attribute('sales', 'price', 1000, 1200, bins => 20, outside => 'drop');
SELECT dp.add_attribute('sales', 'rating', '{0,1,2,3,4}', nulls => 'cell');
SELECT dp.add_attribute('sales', 'big', 0, 500, bins => 5);
SELECT dp.add_attribute('sales', 'sold', '2024-01-01', '2025-01-01', step => '1 month');
SELECT dp.grant_budget('sales', 'regress_ann', epsilon => 1e5);

-- What the declarations make of the rows: clamp, drop, NaN is absent.
CREATE VIEW clean AS SELECT id, region, vip, greatest(least(amount, 100), 0) AS amount,
       CASE WHEN price BETWEEN 1000 AND 1200 THEN price END AS price, rating,
       CASE WHEN big <> 'NaN' THEN greatest(least(big, 500), 0) END AS big
  FROM sales WHERE region IN ('north', 'south', 'west');
GRANT SELECT ON clean, sales TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;

-- 1. Every aggregate against the rows, by group.
CREATE TEMP TABLE got AS SELECT label->>'region' AS region, aggregate, estimate, stderr, lower95, upper95
  FROM dp.aggregate('sales', '{count(*),sum(amount),avg(amount),count(price),sum(price),avg(price),var(price),stddev(amount),"corr(amount, price)","regr_slope(price, amount)",sum(big),avg(big),share,"ratio(sum(price), sum(amount))",count(*) where (vip) as vips,avg(amount) where (vip and rating = 2) as twos}', '{region}', rho => 1000);
CREATE TEMP TABLE truth AS
SELECT region, a.* FROM (SELECT region, count(*) n, sum(amount) sa, avg(amount) aa, count(price) np, sum(price) sp, avg(price) ap,
         var_samp(price) vp, stddev_samp(amount) da, corr(amount, price) c, regr_slope(price, amount) s, sum(big) sb, avg(big) ab,
         count(*)::float8 / sum(count(*)) OVER () sh, sum(price) / sum(amount) r, count(*) FILTER (WHERE vip) v,
         avg(amount) FILTER (WHERE vip AND rating = 2) av FROM clean GROUP BY region) t,
  -- rounding: 100/65534 for each price, 250/65534 for each big; squares and products by 2^-16 of the largest
  LATERAL (VALUES ('count(*)', n::float8, 0::float8), ('sum(amount)', sa, 0), ('avg(amount)', aa, 0), ('count(price)', np, 0), ('sum(price)', sp, np * 100 / 65534.), ('avg(price)', ap, 100 / 65534.),
         ('var(price)', vp, 4), ('stddev(amount)', da, 0.05), ('corr(amount, price)', c, 1e-3), ('regr_slope(price, amount)', s, 1e-3), ('sum(big)', sb, n * 250 / 65534.), ('avg(big)', ab, 250 / 65534.), ('share', sh, 0),
         ('ratio(sum(price), sum(amount))', r, np * 100 / 65534. / sa), ('vips', v, 0), ('twos', av, 0)) a (aggregate, value, rounding);
SELECT g.region, g.aggregate, abs(estimate - value) < 7 * stderr + rounding AS near, stderr > 0 AND stderr < abs(value) * 0.02 AS sharp,
       lower95 < estimate AND estimate < upper95 AS inside, abs((upper95 - lower95) / stderr - 2 * CASE WHEN aggregate LIKE 'corr%' THEN 2.2415 ELSE 1.96 END) < 1e-3 AS normal
  FROM got g JOIN truth t USING (region, aggregate) ORDER BY 1, g.aggregate COLLATE "C";
SELECT count(*) FROM got;
-- each by itself: it has all the sums that it needs
SELECT x, bool_and(abs(g.estimate - value) < 7 * g.stderr + rounding) AS near, bool_and(g.stderr < abs(value) * 0.02) AS sharp
  FROM (SELECT DISTINCT aggregate AS x FROM truth WHERE aggregate LIKE '%(%') a, LATERAL dp.aggregate('sales', ARRAY[x], '{region}', rho => 1000) g
  JOIN truth t ON t.region = g.label->>'region' AND t.aggregate = g.aggregate GROUP BY x ORDER BY x COLLATE "C";
SELECT region, abs(estimate - slope) < 7 * stderr + abs(slope) * 1e-3 AS near, stderr < abs(slope) * 0.02 AS sharp
  FROM (SELECT region, regr_slope(amount, price) AS slope FROM clean GROUP BY region) t, dp.aggregate('sales', '{"regr_slope(amount, price)"}', '{region}', rho => 1000)
 WHERE region = label->>'region' ORDER BY region;

-- 2. Counts, which are exact when they are rounded; groups that overlap; no groups; a predicate.
SELECT label, aggregate, round(estimate)::int AS estimate FROM dp.aggregate('sales', '{count(*),count(price),count(rating),count(big),count(region)}', '{region}', rho => 1000);
SELECT label, aggregate, round(estimate)::int AS estimate FROM dp.aggregate('sales', '{count(*)}', '{region,vip}', workload => 'identity(region)*identity(vip) + identity(region) + total', rho => 1000);
SELECT label, aggregate, round(estimate)::int AS estimate FROM dp.aggregate('sales', '{count(*),count(region),count(*) where (region is null)}', rho => 1000);
SELECT label, aggregate, round(estimate)::int AS estimate FROM dp.aggregate('sales', '{count(*),count(*) where (not vip) as others,count(*) where (region = ''north'' or vip) as more}', '{}', 'amount >= 50 and rating is not null', rho => 1000);
SELECT count(*), count(*) FILTER (WHERE NOT vip) AS others, count(*) FILTER (WHERE region = 'north' OR vip) AS more FROM sales
 WHERE amount >= 50 AND rating BETWEEN 0 AND 4 AND (region IS NULL OR region <> 'east' OR true);
-- a group that the predicate rules out is 0 without an error
SELECT label, aggregate, estimate, stderr, lower95, upper95 FROM dp.aggregate('sales', '{count(*),sum(amount),avg(amount),var(amount),"ratio(count(*), sum(amount))",share}', '{region}', 'region <> ''west''', rho => 1000) WHERE label->>'region' = 'west';
-- the same aggregate twice, and with another name: one sum is measured
SELECT aggregate, count(*) AS rows, count(DISTINCT estimate) AS estimates FROM dp.aggregate('sales', '{sum(amount),sum(amount),sum(amount) as again,count(*)}', rho => 1000) GROUP BY aggregate ORDER BY aggregate COLLATE "C";
-- medians: of bins with an interval, whose edges are those of bins
SELECT label, aggregate, estimate BETWEEN lower95 AND upper95 AS inside, upper95 - lower95 AS width, stderr FROM dp.aggregate('sales', '{median(amount),"quantile(amount, 0.9)",count(*)}', '{vip}', rho => 1000) WHERE aggregate LIKE 'quantile%';

-- 3. One request is one charge; who asks again is not charged; names and spaces are no other request, the order is.
SELECT count(*) AS charges FROM dp.charges \gset
SELECT max(release) AS first FROM dp.aggregate('sales', '{sum(amount),count(*)}', '{vip}', rho => 0.5) \gset
SELECT count(*) - :charges AS charged FROM dp.charges;
SELECT count(DISTINCT release) = 1 AND min(release) = :first AS replayed FROM
  (SELECT release FROM dp.aggregate('sales', '{sum(amount),count(*)}', '{vip}', rho => 0.5) UNION ALL
   SELECT release FROM dp.aggregate('sales', '{" SUM ( amount ) AS revenue","count( * ) as n"}', '{vip}', rho => 0.5) UNION ALL
   SELECT release FROM dp.aggregate('sales', '{sum(amount),count(*)}', '{vip}', workload => ' identity ( vip ) ', rho => 0.5)) s;
SELECT count(*) - :charges AS charged FROM dp.charges;
SELECT aggregate, label, a.estimate = b.estimate AND a.stderr = b.stderr AND a.lower95 = b.lower95 AS same
  FROM dp.aggregate('sales', '{sum(amount),count(*)}', '{vip}', rho => 0.5) a JOIN dp.aggregate('sales', '{sum(amount),count(*)}', '{vip}', rho => 0.5) b USING (label, aggregate) ORDER BY 1, 2;
SELECT count(DISTINCT release) AS others FROM
  (SELECT release FROM dp.aggregate('sales', '{count(*),sum(amount)}', '{vip}', rho => 0.5) UNION ALL
   SELECT release FROM dp.aggregate('sales', '{sum(amount),count(*)}', '{vip}', 'amount < 50', rho => 0.5) UNION ALL
   SELECT release FROM dp.aggregate('sales', '{sum(amount),count(*) where (vip)}', '{vip}', rho => 0.5) UNION ALL
   SELECT release FROM dp.aggregate('sales', '{sum(amount),count(*)}', '{vip}', rho => 0.5, fresh => true)) s WHERE release > :first;
SELECT count(*) - :charges AS charged FROM dp.charges;
SELECT function, role, rho, delta, request - 'declared' AS request FROM dp.charges ORDER BY charge DESC LIMIT 1;
-- rows come group by group, in the order of the request
SELECT string_agg(coalesce(label->>'vip', '-') || ' ' || aggregate, ', ') FROM dp.aggregate('sales', '{sum(amount),count(*)}', '{vip}', rho => 0.5);

-- 4. Quotes charge nothing and say the errors that come, the largest of all groups.
SELECT q.aggregate, q.at_rows, q.rho, q.groups, q.fits, q.replay, abs(q.stderr / a.stderr - 1) < 1e-9 AS told
  FROM dp.quote_aggregate('sales', '{sum(amount),count(*)}', '{vip}', rho => 0.5) q,
       LATERAL (SELECT max(stderr) AS stderr FROM dp.aggregate('sales', '{sum(amount),count(*)}', '{vip}', rho => 0.5) a WHERE a.aggregate = q.aggregate) a;
SELECT aggregate, at_rows, stderr > 0, rho FROM dp.quote_aggregate('sales', '{avg(amount),"corr(amount, price)",median(amount),share,"ratio(sum(amount), count(*))"}', '{vip}', rho => 0.01, rows => 5000);
SELECT aggregate, stderr FROM dp.quote_aggregate('sales', '{avg(amount)}', rho => 0.01, rows => 10);
-- the figures of a direct measurement: sum of [0, 100] at rho 0.01 is 707 off, that of [1000, 1200] 8485, and the count comes with it;
-- an average of 2000 rows is .2165 off where it is in the middle, told for one halfway between there and a bound, sqrt(1 + 1/2) times
SELECT aggregate, round(stderr::numeric, 1) AS stderr FROM dp.quote_aggregate('sales', '{sum(amount)}', rho => 0.01);
SELECT aggregate, round(stderr::numeric, 1) AS stderr FROM dp.quote_aggregate('sales', '{sum(price)}', rho => 0.01);
SELECT aggregate, round(stderr::numeric, 4) AS stderr FROM dp.quote_aggregate('sales', '{avg(amount)}', rho => 0.01, rows => 2000);
-- max_stderr is of the first aggregate, in the group that is worst
SELECT count(*), bool_and(stderr BETWEEN m * 0.9999 AND m) AS met FROM generate_series(1, 20) m, LATERAL (SELECT stderr FROM dp.quote_aggregate('sales', '{sum(amount),avg(price)}', '{region}', max_stderr => m) LIMIT 1) q;
SELECT aggregate, stderr BETWEEN 19.99 AND 20 AS met FROM dp.quote_aggregate('sales', '{sum(amount),count(*),avg(amount)}', '{vip}', max_stderr => 20) LIMIT 1;
SELECT aggregate, stderr BETWEEN 1.999 AND 2 AS met FROM dp.quote_aggregate('sales', '{count(*) where (vip),sum(amount)}', '{region}', max_stderr => 2) LIMIT 1;
SELECT count(*) - :charges AS charged FROM dp.charges;

-- 5. A table with no rows, one, and rows that have no values, or odd ones.
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE odd (x float8, y int, z numeric, g boolean);
SELECT dp.create_dataset('odd', 'odd', epsilon => 1e5), dp.add_attribute('odd', 'x', 0.5, 0.75, bins => 2, nulls => 'cell'),
       dp.add_attribute('odd', 'y', -10, 10, bins => 10, outside => 'other'), dp.add_attribute('odd', 'z', -1e300, 1e300, bins => 1), dp.add_attribute('odd', 'g');
SELECT dp.grant_budget('odd', 'regress_ann', epsilon => 1e5);
-- what a table has of everything, against what it should; asked anew, for the rows are other ones.  What has no value is mostly
-- unknown, and never without an error
CREATE FUNCTION asked(truth float8[]) RETURNS TABLE (aggregate text, truth float8, near boolean) LANGUAGE sql AS
$$ SELECT a.aggregate, t, CASE WHEN t IS NULL THEN num_nulls(estimate, stderr) IN (0, 2) AND num_nulls(lower95, upper95) = 0 ELSE abs(estimate - t) < 7 * stderr + 1e-4 END
     FROM dp.aggregate('odd', '{count(*),count(x),count(y),count(z),sum(y),avg(x),avg(y),stddev(y)}', rho => 3000, fresh => true) WITH ORDINALITY a
     JOIN unnest(truth) WITH ORDINALITY u (t, n) ON u.n = a.ordinality $$;
GRANT EXECUTE ON FUNCTION asked(float8[]) TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SELECT * FROM asked('{0,0,0,0,0,NULL,NULL,NULL}');
SET SESSION AUTHORIZATION regress_curator;
INSERT INTO odd VALUES (0.6, 3, 1, true);
SET SESSION AUTHORIZATION regress_ann;
SELECT * FROM asked('{1,1,1,1,3,0.6,3,NULL}');
SET SESSION AUTHORIZATION regress_curator;
TRUNCATE odd;
INSERT INTO odd SELECT NULL, NULL, NULL, NULL FROM generate_series(1, 100);
SET SESSION AUTHORIZATION regress_ann;
SELECT * FROM asked('{100,0,0,0,0,NULL,NULL,NULL}');
SET SESSION AUTHORIZATION regress_curator;
TRUNCATE odd;
-- NaN is in no cell; what is other counts, and has no value
INSERT INTO odd SELECT 'NaN', 11, 'NaN', true FROM generate_series(1, 100);
SET SESSION AUTHORIZATION regress_ann;
SELECT * FROM asked('{100,0,100,0,0,NULL,NULL,NULL}');
SET SESSION AUTHORIZATION regress_curator;
TRUNCATE odd;
-- on the bounds and beyond; x is clamped, y is other
INSERT INTO odd SELECT x, y, z, true FROM generate_series(1, 100), (VALUES ('Infinity'::float8, 10, 1e300), (0.75, -10, -1e300), ('-Infinity', 11, 1e299), (0.5, -11, 0), (1e308, 0, 'NaN')) v (x, y, z);
SET SESSION AUTHORIZATION regress_ann;
SELECT * FROM asked('{500,500,500,400,0,0.65,0,8.178608201095308}');
-- bounds so far apart that their difference is no number
SELECT aggregate, estimate IS NOT NULL AS told, stderr > 0 AS noisy FROM dp.aggregate('odd', '{sum(z),avg(z)}', rho => 3000);

-- 6. Units: rows are cut, people are counted once in each group and in all.
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE visits AS SELECT u AS person, 1 + (u + v) % 4 AS ward, (u * 7 + v) % 31 AS days, v FROM generate_series(1, 200) u, generate_series(1, 5) v WHERE v <= 1 + u % 5;
SELECT dp.create_dataset('visits', 'visits', epsilon => 1e5, unit => 'person', max_rows => 3), dp.grant_budget('visits', 'regress_ann', epsilon => 1e5);
SELECT dp.add_attribute('visits', 'ward', '{1,2,3,4}'), dp.add_attribute('visits', 'days', 0, 30, bins => 3);
GRANT SELECT ON visits TO regress_ann;
SELECT ward, count(distinct person) FROM visits GROUP BY 1 ORDER BY 1;
SELECT count(distinct person), count(distinct person) FILTER (WHERE days >= 20) AS some, sum(least(n, 3)) / count(distinct person) AS rows FROM (SELECT *, count(*) OVER (PARTITION BY person) n FROM visits) v;
SELECT sum(least(n, 3)) AS rows, sum(least(n, 1)) AS people FROM (SELECT count(*) n FROM visits GROUP BY person) s;
SET SESSION AUTHORIZATION regress_ann;
SELECT label, aggregate, round(estimate)::int AS estimate FROM dp.aggregate('visits', '{count(distinct unit)}', '{ward}', cells_per_unit => 4, rho => 1000);
SELECT label, aggregate, round(estimate)::int AS estimate FROM dp.aggregate('visits', '{count(*),count(distinct person),count(distinct unit) where (days >= 20)}', rho => 20000);
-- a unit in one group alone is in one group; in all groups together it is counted by itself
SELECT round(sum(estimate))::int AS estimate FROM dp.aggregate('visits', '{count(distinct unit)}', '{ward}', cells_per_unit => 1, rho => 1000);
-- rows without a unit do not count: count of the unit is count(*)
SELECT aggregate, count(DISTINCT estimate) AS estimates FROM dp.aggregate('visits', '{count(person),count(*),count(person) where (days >= 20)}', rho => 1000) GROUP BY 1 ORDER BY 1;
SELECT label, round(estimate)::int AS estimate FROM dp.aggregate('visits', '{count(distinct unit)}', '{ward}', workload => 'identity + total', cells_per_unit => 4, rho => 3000);
SELECT count(*) FROM (SELECT release FROM dp.aggregate('visits', '{count(distinct unit)}', '{ward}', workload => 'identity + total', cells_per_unit => 4, rho => 3000) GROUP BY 1) replayed;
-- cells_per_unit => NULL: as many as rows count
SELECT a.aggregate, a.stderr = b.stderr AS same FROM dp.quote_aggregate('visits', '{count(distinct unit)}', '{ward}', rho => 1) a, dp.quote_aggregate('visits', '{count(distinct unit)}', '{ward}', cells_per_unit => 3, rho => 1) b;
-- m groups cost the root of m, rows their number: noise of people in up to 4 wards 2, of rows 3, cut to 1 row 1
SELECT round((stderr * sqrt(2))::numeric, 4) AS people FROM dp.quote_aggregate('visits', '{count(distinct unit)}', '{ward}', cells_per_unit => 4, rho => 1);
SELECT round((stderr * sqrt(2))::numeric, 4) AS "rows" FROM dp.quote_aggregate('visits', '{count(*)}', '{ward}', rho => 1);
SELECT round((stderr * sqrt(2))::numeric, 4) AS one_row FROM dp.quote_aggregate('visits', '{count(*)}', '{ward}', rows_per_unit => 1, rho => 1);
SELECT round((stderr * sqrt(2))::numeric, 2) AS days FROM dp.quote_aggregate('visits', '{sum(days)}', '{ward}', rows_per_unit => 2, rho => 1);
SELECT round(estimate)::int AS one_row FROM dp.aggregate('visits', '{count(*)}', rows_per_unit => 1, rho => 1000);
SELECT round(estimate)::int AS two_rows FROM dp.aggregate('visits', '{count(*)}', rows_per_unit => 2, rho => 1000);
-- other numbers of rows and cells are other requests
SELECT count(DISTINCT release) AS releases FROM (SELECT release FROM dp.aggregate('visits', '{count(*),count(distinct unit)}', rows_per_unit => 1, rho => 1) UNION ALL
  SELECT release FROM dp.aggregate('visits', '{count(*),count(distinct unit)}', rows_per_unit => 2, rho => 1) UNION ALL
  SELECT release FROM dp.aggregate('visits', '{count(*),count(distinct unit)}', rows_per_unit => 2, cells_per_unit => 2, rho => 1) UNION ALL
  SELECT release FROM dp.aggregate('visits', '{count(*),count(distinct unit)}', rows_per_unit => 2, cells_per_unit => 1, rho => 1)) s;

-- 7. Pure budgets, and rows that are exchanged.
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE pure AS SELECT (i * 7) % 11 AS x, i % 2 = 0 AS g FROM generate_series(1, 1000) i;
SELECT dp.create_dataset('pure', 'pure', epsilon => 1e5, accounting => 'pure', neighbours => 'substitute'), dp.add_attribute('pure', 'x', 0, 10, bins => 5), dp.add_attribute('pure', 'g'),
       dp.grant_budget('pure', 'regress_ann', epsilon => 1e5);
SELECT count(*), sum(x), avg(x) FROM pure WHERE g;
SET SESSION AUTHORIZATION regress_ann;
SELECT aggregate, CASE aggregate WHEN 'count(*)' THEN round(estimate)::int END AS estimate, abs(estimate - CASE aggregate WHEN 'count(*)' THEN 500 WHEN 'sum(x)' THEN 2498 ELSE 4.996 END) < 20 * stderr AS near
  FROM dp.aggregate('pure', '{count(*),sum(x),avg(x)}', '{}', 'g', epsilon => 5000);
-- one discrete Laplace number of scale 2: 6 on each side, the whole number above ln 20 of its scale; sensitivities under substitute: 2 of counts in groups, 2 * 10 of the sum, which is measured itself
SELECT aggregate, round(((upper95 - lower95) / 2 / stderr * sqrt(2))::numeric, 4) AS half FROM dp.aggregate('pure', '{count(*)}', '{g}', epsilon => 1) LIMIT 1;
SELECT aggregate, round((stderr / sqrt(2))::numeric, 3) AS scale FROM dp.quote_aggregate('pure', '{count(*)}', '{g}', epsilon => 1);
SELECT aggregate, round((stderr / sqrt(2))::numeric, 3) AS scale, rho, epsilon FROM dp.quote_aggregate('pure', '{sum(x)}', '{g}', epsilon => 1);

-- 8. Errors; none of them charges.
SELECT count(*) AS charges FROM dp.charges \gset
CREATE FUNCTION pg_temp.asks(aggregates text, rest text DEFAULT '', dataset text DEFAULT 'sales') RETURNS text LANGUAGE sql AS
  $$ SELECT refused(format('SELECT count(*) FROM dp.aggregate(%L, %L%s, rho => 1)', dataset, aggregates, rest)) $$;
-- texts
SELECT pg_temp.asks('{}');
SELECT pg_temp.asks('{NULL}');
SELECT refused('SELECT count(*) FROM dp.aggregate(''sales'', NULL, rho => 1)');
SELECT pg_temp.asks('{""}');
SELECT pg_temp.asks('{count}');
SELECT pg_temp.asks('{count()}');
SELECT pg_temp.asks('{sum(*)}');
SELECT pg_temp.asks('{mean(amount)}');
SELECT pg_temp.asks('{"sum(amount"}');
SELECT pg_temp.asks('{"sum(amount) sum(amount)"}');
SELECT pg_temp.asks('{"sum(amount) as"}');
SELECT pg_temp.asks('{"sum(amount, price)"}');
SELECT pg_temp.asks('{corr(amount)}');
SELECT pg_temp.asks('{count(distinct region)}');
SELECT pg_temp.asks('{count(distinct)}');
SELECT pg_temp.asks('{quantile(amount)}');
SELECT pg_temp.asks('{"quantile(amount, 0)"}');
SELECT pg_temp.asks('{"quantile(amount, 1)"}');
SELECT pg_temp.asks('{"quantile(amount, -0.5)"}');
SELECT pg_temp.asks('{"quantile(amount, 1e-400)"}');
SELECT pg_temp.asks('{"ratio(avg(amount), count(*))"}');
SELECT pg_temp.asks('{"ratio(sum(amount), median(amount))"}');
SELECT pg_temp.asks('{"ratio(count(*), ratio(count(*), count(*)))"}');
SELECT pg_temp.asks('{ratio(count(*))}');
SELECT pg_temp.asks('{"ratio(sum(amount), count(*)) where (vip)"}');
SELECT pg_temp.asks('{count(*) where vip}');
SELECT pg_temp.asks('{count(*) where ()}');
SELECT pg_temp.asks('{"count(*) where (vip"}');
SELECT pg_temp.asks('{count(*) where (id = 1)}');
SELECT pg_temp.asks('{"count(price) where (vip) or (not vip)"}');
SELECT pg_temp.asks(E'{"count(*) where (region = \'north)"}');
-- columns
SELECT pg_temp.asks('{sum(nothing)}');
SELECT pg_temp.asks('{count(nothing)}');
SELECT pg_temp.asks('{sum(id)}');
SELECT pg_temp.asks('{sum(region)}');
SELECT pg_temp.asks('{median(rating)}');
SELECT pg_temp.asks('{avg(vip)}');
SELECT pg_temp.asks('{avg(sold)}');
SELECT pg_temp.asks('{median(sold)}');
SELECT pg_temp.asks('{median(region)}');
SELECT pg_temp.asks('{median(amount)}', ', ''{amount}''');
SELECT pg_temp.asks('{median(amount)}', ', ''{vip}'', workload => ''identity + total''');
SELECT pg_temp.asks('{count(*)}', ', ''{nothing}''');
SELECT pg_temp.asks('{count(*)}', ', ''{vip,vip}''');
SELECT pg_temp.asks('{count(*)}', ', ''{NULL}''');
SELECT pg_temp.asks('{count(*)}', ', ''{vip}'', workload => ''identity(region)''');
SELECT pg_temp.asks('{count(*)}', ', predicate => ''id = 1''');
-- units
SELECT pg_temp.asks('{count(*)}', ', cells_per_unit => 2');
SELECT pg_temp.asks('{count(*)}', ', rows_per_unit => 2');
SELECT pg_temp.asks('{count(distinct unit)}', ', cells_per_unit => 0', 'visits');
SELECT pg_temp.asks('{count(distinct unit)}', ', cells_per_unit => 65536', 'visits');
SELECT pg_temp.asks('{count(*)}', ', rows_per_unit => 0', 'visits');
SELECT pg_temp.asks('{count(*)}', ', rows_per_unit => 4', 'visits');
SELECT pg_temp.asks('{count(distinct unit)}', ', ''{ward}'', workload => ''prefix(ward)''', 'visits');
SELECT pg_temp.asks('{count(distinct unit)}', ', ''{ward}'', workload => ''ranges(ward; 0-1)''', 'visits');
SELECT pg_temp.asks('{count(distinct days)}', '', 'visits');
SELECT pg_temp.asks('{sum(person)}', '', 'visits');
-- without a unit each row is one
SELECT aggregate, round(estimate)::int AS estimate FROM dp.aggregate('sales', '{count(distinct unit)}', rho => 1000);
SELECT count(*) AS charges FROM dp.charges \gset
-- limits
SELECT pg_temp.asks((SELECT array_agg('count(*)'::text)::text FROM generate_series(1, 65)));
SELECT pg_temp.asks((SELECT array_agg(format('count(*) where (price >= %s)', i))::text FROM generate_series(1010, 1170, 10) i));
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_curator;
DO $$ BEGIN EXECUTE 'CREATE TABLE wide (u int, ' || (SELECT string_agg('c' || i || ' float8', ', ') FROM generate_series(1, 17) i) || ')'; END $$;
CREATE TABLE wide_units (LIKE wide);
SELECT dp.create_dataset('wide', 'wide', epsilon => 1e5), dp.create_dataset('wide_units', 'wide_units', epsilon => 1e5, unit => 'u');
DO $$ BEGIN PERFORM dp.add_attribute(d, ('c' || i)::name, 0, 1, bins => 1) FROM generate_series(1, 17) i, unnest('{wide,wide_units}'::text[]) d; END $$;
SELECT dp.grant_budget('wide', 'regress_ann', epsilon => 1e5), dp.grant_budget('wide_units', 'regress_ann', epsilon => 1e5);
SET SESSION AUTHORIZATION regress_ann;
SELECT pg_temp.asks((SELECT array_agg(format('sum(c%s)', i))::text FROM generate_series(1, 17) i), '', 'wide');
SELECT pg_temp.asks((SELECT array_agg(format('corr(c%s, c%s)', 1 + i / 8, 9 + i % 8))::text FROM generate_series(0, 63) i), '', 'wide');
SELECT pg_temp.asks((SELECT array_agg(format('sum(c%s)', i))::text FROM generate_series(1, 9) i), '', 'wide_units');
SELECT pg_temp.asks((SELECT array_agg(format('sum(c%s)', i))::text FROM generate_series(1, 16) i), '', 'wide');
-- (the last one)
SELECT count(*) - :charges AS charged FROM dp.charges;
-- costs and budgets
SELECT refused('SELECT count(*) FROM dp.aggregate(''sales'', ''{count(*)}'')');
SELECT refused('SELECT count(*) FROM dp.aggregate(''sales'', ''{count(*)}'', rho => 1, epsilon => 1)');
SELECT refused('SELECT count(*) FROM dp.aggregate(''sales'', ''{count(*)}'', rho => -1)');
SELECT refused('SELECT count(*) FROM dp.aggregate(''sales'', ''{"avg(amount)","count(*)"}'', max_stderr => 1)');
SELECT refused('SELECT count(*) FROM dp.aggregate(''sales'', ''{"median(amount)"}'', max_stderr => 1)');
SELECT refused('SELECT count(*) FROM dp.aggregate(''sales'', ''{share}'', ''{vip}'', max_stderr => 1)');
SELECT refused('SELECT count(*) FROM dp.aggregate(''sales'', ''{count(*)}'', max_stderr => 0)');
SELECT refused('SELECT count(*) FROM dp.aggregate(''pure'', ''{count(*)}'', rho => 1)');
SELECT refused('SELECT count(*) FROM dp.aggregate(''sales'', ''{count(*)}'', rho => 1e9)');
SELECT refused('SELECT count(*) FROM dp.quote_aggregate(''sales'', ''{count(*)}'', rho => 1, rows => 0)');
SELECT refused('SELECT count(*) FROM dp.quote_aggregate(''sales'', ''{count(*)}'', rho => 1, rows => ''NaN'')');
SELECT refused('SELECT count(*) FROM dp.aggregate(''nothing'', ''{count(*)}'', rho => 1)');
SELECT count(*) - :charges AS charged FROM dp.charges;
SET SESSION AUTHORIZATION regress_eve;
SELECT refused('SELECT count(*) FROM dp.aggregate(''sales'', ''{count(*)}'', rho => 1)');
SELECT aggregate, fits FROM dp.quote_aggregate('sales', '{count(*)}', rho => 1);
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.grant_budget('sales', 'regress_eve', epsilon => 0.1, overcommit => true);
SET SESSION AUTHORIZATION regress_eve;
SELECT refused('SELECT count(*) FROM dp.aggregate(''sales'', ''{count(*)}'', rho => 1)');
SELECT aggregate, fits, epsilon_left_after FROM dp.quote_aggregate('sales', '{count(*)}', rho => 1);

-- 9. What else reads releases: none takes sums for counts.
SET SESSION AUTHORIZATION regress_ann;
SELECT left(refused(format('SELECT count(*) FROM dp.answer(%s, ''total'')', :first)), 5) AS sqlstate;
SELECT left(refused(format('SELECT count(*) FROM dp.cells(%s)', :first)), 5) AS sqlstate;
SELECT left(refused(format('SELECT * FROM dp.quantile(%s, ''vip'', ''{0.5}'')', :first)), 5) AS sqlstate;
SELECT method, attributes, queries FROM dp.releases WHERE release = :first;
-- of a column that is NOT NULL the count of rows is the count of values; where that changes, other sums are measured: another request
SELECT max(release) AS release FROM dp.aggregate('sales', '{count(*),sum(amount)}', rho => 900) \gset
SET SESSION AUTHORIZATION regress_curator;
ALTER TABLE sales ALTER amount DROP NOT NULL;
SET SESSION AUTHORIZATION regress_ann;
SELECT aggregate, release = :release AS replayed FROM dp.aggregate('sales', '{count(*),sum(amount)}', rho => 900);
SET SESSION AUTHORIZATION regress_curator;
UPDATE sales SET amount = 0 WHERE amount IS NULL;
ALTER TABLE sales ALTER amount SET NOT NULL;
SET SESSION AUTHORIZATION regress_ann;
SELECT aggregate, release = :release AS replayed FROM dp.aggregate('sales', '{count(*),sum(amount)}', rho => 900);

DISCARD TEMP;
RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon;
DROP VIEW clean;
DROP TABLE sales, odd, visits, pure, wide, wide_units;
DROP FUNCTION public.refused(text), public.asked(float8[]);
REVOKE CREATE ON SCHEMA public FROM regress_curator;
DROP ROLE regress_curator, regress_ann, regress_eve;
