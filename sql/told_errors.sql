-- Errors that are told: quotients and quantiles of few rows, sums of many parts, bins of one value.
\set VERBOSITY terse
\pset format unaligned
CREATE EXTENSION pg_epsilon;
CREATE ROLE regress_teller;
CREATE ROLE regress_asker;
GRANT CREATE ON SCHEMA public TO regress_teller;
CREATE SCHEMA told AUTHORIZATION regress_teller;
GRANT USAGE ON SCHEMA told TO regress_asker;
SET SESSION AUTHORIZATION regress_teller;

-- 1. Sums that are made of ten counts and more under Laplace noise: one term for each level, and groups that merge cells
CREATE TABLE levels AS SELECT 1 + i % 10 AS d, 1 + i % 16 AS e, i % 2 = 0 AS b FROM generate_series(1, 3200) i;
SELECT dp.create_dataset('levels', 'levels', epsilon => 100000, delta => 0, accounting => 'pure');
SELECT dp.add_attribute('levels', 'd', '{1,2,3,4,5,6,7,8,9,10}'::int[]);
SELECT dp.add_attribute('levels', 'e', '{1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16}'::int[]);
SELECT dp.add_attribute('levels', 'b');
SELECT dp.grant_budget('levels', 'regress_asker', epsilon => 100000);
SELECT dp.expose('levels', 'told.levels', epsilon => 2000);
GRANT SELECT ON told.levels TO regress_asker;
-- 2. Whole numbers in bins of one value, in wider bins, and dates
CREATE TABLE ages AS SELECT CASE WHEN i % 10 = 0 THEN 0 ELSE 5 END AS k, CASE WHEN i % 10 = 0 THEN 0 ELSE 5 END AS wide,
       date '2024-01-01' + CASE WHEN i % 10 = 0 THEN 0 ELSE 5 END AS day FROM generate_series(1, 10000) i;
SELECT dp.create_dataset('ages', 'ages', epsilon => 1e5);
SELECT dp.add_attribute('ages', 'k', 0, 10, bins => 10, last => 'open');
SELECT dp.add_attribute('ages', 'wide', 0, 10, bins => 2, last => 'open');
SELECT dp.add_edges('ages', 'day', ARRAY(SELECT date '2024-01-01' + i FROM generate_series(0, 10) i));
SELECT dp.grant_budget('ages', 'regress_asker', epsilon => 1e5);
SELECT dp.expose('ages', 'told.ages', epsilon => 500);
GRANT SELECT ON told.ages TO regress_asker;
-- 3. Few rows in a group
CREATE TABLE few AS SELECT 1 + i % 20 AS g, (i * 37) % 101 AS x FROM generate_series(1, 800) i;
SELECT dp.create_dataset('few', 'few', epsilon => 1e5);
SELECT dp.add_attribute('few', 'g', ARRAY(SELECT generate_series(1, 21)));
SELECT dp.add_attribute('few', 'x', 0, 101, bins => 101, last => 'open');
SELECT dp.grant_budget('few', 'regress_asker', epsilon => 1e5);
SELECT dp.expose('few', 'told.few');
GRANT SELECT ON told.few TO regress_asker;

SET SESSION AUTHORIZATION regress_asker;
SET search_path = told, public;
SET client_min_messages = warning;

SELECT sum(d) BETWEEN 17590 AND 17610 AS d, dp.stderr_sum(d) > 0 AS noisy, abs(dp.upper95_sum(d) - sum(d)) < 9 AS narrow FROM levels;
SELECT sum(e) BETWEEN 27190 AND 27210 AS e, dp.stderr_sum(e) > 0 AS noisy, abs(dp.upper95_sum(e) - sum(e)) < 9 AS narrow FROM levels;
SELECT round(avg(d), 1) AS d, dp.lower95_avg(d) < avg(d) AND avg(d) < dp.upper95_avg(d) AS inside FROM levels;
SELECT d > 5 AND e > 2 AS "both", count(*), dp.stderr_count(*) > 0 AS noisy, dp.lower95_count(*) < 1e9 AS told FROM levels GROUP BY 1 ORDER BY 1;
SELECT d + e > 12 AS high, count(*) FROM levels GROUP BY 1 ORDER BY 1;

-- one value: that value
SELECT percentile_disc(.05) WITHIN GROUP (ORDER BY k) AS p05, percentile_disc(.95) WITHIN GROUP (ORDER BY k) AS p95, percentile_cont(.95) WITHIN GROUP (ORDER BY k) AS c95, dp.median(k), dp.quantile(k, .02) AS q02 FROM ages;
SELECT aggregate, estimate FROM dp.aggregate('ages', '{median(k),"quantile(k, 0.05)"}', rho => 1000);
SELECT max(release) AS k FROM dp.histogram('ages', 'k', 'prefix', rho => 1000) \gset
SELECT fraction, estimate, lower95, upper95 FROM dp.quantile(:k, 'k', '{0.05,0.5,0.95}');
SELECT fraction, estimate, lower95, upper95 FROM dp.quantile_text(:k, 'k', '{0.05,0.95}');
SELECT max(release) AS day FROM dp.histogram('ages', 'day', 'prefix', rho => 1000) \gset
SELECT fraction, estimate, lower95, upper95 FROM dp.quantile_text(:day, 'day', '{0.05,0.95}');
-- several values: interpolated, as if the rows of the bin were spread evenly
SELECT percentile_cont(.55) WITHIN GROUP (ORDER BY wide)::numeric(4,1) AS wide FROM ages;

-- an interval for every average, share and quantile; a point where the interval is bounded, and then in it.  Nothing is known of the group of no row
SELECT count(*) AS groups, count(*) FILTER (WHERE l IS NULL OR u IS NULL) AS without, bool_and((a IS NULL) = (l = '-Infinity')) AS null_where_unbounded, bool_and(a IS NULL OR (l <= a AND a <= u)) AS inside
  FROM (SELECT g, avg(x) AS a, dp.lower95_avg(x) AS l, dp.upper95_avg(x) AS u FROM few GROUP BY g) q, (SELECT set_config('pg_epsilon.epsilon', '0.2', false)) s;
SELECT aggregate, count(*), count(*) FILTER (WHERE lower95 IS NULL OR upper95 IS NULL) AS without,
       bool_and(aggregate ~ '^(median|quantile)' OR (estimate IS NULL) = (lower95 = '-Infinity' AND upper95 = 'Infinity')) AS null_where_unbounded, bool_and(estimate IS NULL OR (lower95 <= estimate AND estimate <= upper95)) AS inside
  FROM dp.aggregate('few', '{avg(x),"ratio(count(*) where (x > 50), count(*))",median(x),"quantile(x, 0.9)"}', '{g}', rho => 0.002) GROUP BY 1 ORDER BY aggregate COLLATE "C";
SELECT max(release) AS few FROM dp.histogram('few', '{x,g}', 'prefix(x) * identity(g)', rho => 0.002) \gset
SELECT count(*), count(*) FILTER (WHERE lower95 IS NULL OR upper95 IS NULL) AS without, bool_and(estimate IS NULL OR (lower95 <= estimate AND estimate <= upper95)) AS inside FROM dp.quantile(:few, 'x', '{0.5,0.9}', '{g}');

RESET SESSION AUTHORIZATION;
DROP SCHEMA told CASCADE;
SELECT dp.drop_dataset('levels'), dp.drop_dataset('ages'), dp.drop_dataset('few');
DROP EXTENSION pg_epsilon;
DROP TABLE levels, ages, few;
DROP OWNED BY regress_teller, regress_asker;
DROP ROLE regress_teller, regress_asker;
