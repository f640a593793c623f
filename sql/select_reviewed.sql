-- Plain SELECT: each fault that a hostile reading of it found.
\set VERBOSITY terse
CREATE EXTENSION pg_epsilon;
CREATE ROLE regress_reviewer;
CREATE TABLE held (age int, lvl int, k int, x bigint, ts timestamp NOT NULL, region text NOT NULL, channel text NOT NULL);
INSERT INTO held SELECT CASE WHEN i % 10 > 0 THEN 15 + i % 80 END, CASE WHEN i % 5 = 0 THEN NULL WHEN i % 5 = 1 THEN 77 ELSE i % 3 END, i % 2000, i - 500,
	timestamp '2025-01-01 07:00' + i % 20 * interval '1 day', (ARRAY['north','south'])[1 + i % 2], (ARRAY['web','shop','app'])[1 + i % 3] FROM generate_series(0, 999) i;
SELECT dp.create_dataset('held', 'held', epsilon => 20000);
SELECT dp.add_attribute('held', 'age', 15, 95, 80, last => 'open');
SELECT dp.add_attribute('held', 'lvl', '{0,1,2}'::int[], outside => 'other', nulls => 'cell');
SELECT dp.add_attribute('held', 'k', 0, 2000, 2000, last => 'open');
SELECT dp.add_attribute('held', 'x', -9000000000000000000, 9000000000000000000, 1);
SELECT dp.add_edges('held', 'ts', (SELECT array_agg(d) FROM generate_series(timestamp '2025-01-01', '2025-01-21', '1 day') d));
SELECT dp.add_attribute('held', 'region', '{north,south}'::text[]);
SELECT dp.add_attribute('held', 'channel', '{web,shop,app}'::text[]);
SELECT dp.grant_budget('held', 'regress_reviewer', 10000);
CREATE SCHEMA reviewed;
GRANT USAGE ON SCHEMA reviewed TO regress_reviewer;
SELECT dp.expose('held', 'reviewed.v');
GRANT SELECT ON reviewed.v TO regress_reviewer;
SET ROLE regress_reviewer;
SET pg_epsilon.epsilon = 500;
SET client_min_messages = warning;
SET search_path = reviewed, public;

-- 1, 2. A value is read by the type that it is declared of.
SELECT max(age::numeric) FROM v;
SELECT max(age::float8) FROM v;
SELECT count(*) > 0 AS there, avg(NULL::interval) AS none, avg(NULL::int) AS no_number FROM v;

-- 3. Groups beyond what can be told are refused at once.
EXPLAIN (COSTS OFF) SELECT count(*) FROM v GROUP BY k, age, ts::date, region;

-- 4, 5, 6. Many values, sets and levels of nesting take no time that no cancel ends.
EXPLAIN (COSTS OFF) SELECT sum(k % 1000) FROM v;
SELECT count(*) FROM (SELECT k % 7 AS a, (k * 7919) % 11 AS b FROM v GROUP BY CUBE (k % 7, (k * 7919) % 11)) q;
SET statement_timeout = '20s';
SELECT count(*) > 0 AS there FROM v WHERE ((((((((((((age > 16) IS TRUE AND age > 16) IS TRUE AND age > 16) IS TRUE AND age > 16) IS TRUE AND age > 16) IS TRUE
	AND age > 16) IS TRUE AND age > 16) IS TRUE AND age > 16) IS TRUE AND age > 16) IS TRUE AND age > 16) IS TRUE AND age > 16) IS TRUE AND age > 16);
RESET statement_timeout;

-- 7. A test that is true in all cells still leaves out the rows that it is not true for.
SELECT count(*) FROM v;
SELECT count(*) FROM v WHERE age IS NOT NULL;
SELECT count(*) FROM v WHERE age >= 15;
SELECT count(*) FROM v WHERE age >= 30 OR age < 30;
SELECT count(*) FROM v WHERE age >= 15 OR age IS NULL;

-- 8. What is none of the levels has no number.  Grouped by, it is beside NULL, which has no other name in this type; a test tells them apart.
-- A value that CASE gives NULL is in the group of that value.
SELECT sum(lvl) FROM v;
SELECT sum(lvl) FROM v WHERE lvl IN (1, 2);
SELECT lvl, count(*) FROM v GROUP BY 1 ORDER BY 1, 2;
SELECT count(*) FROM v WHERE lvl IS NULL;
SELECT CASE WHEN lvl IN (0, 1) THEN 'low' ELSE 'high' END AS c, count(*) FROM v GROUP BY 1 ORDER BY 1;

-- 9. What the planner holds the place of.
SELECT m, count(*) FROM (SELECT date_trunc('year', ts) AS m FROM v) s GROUP BY ROLLUP (m) ORDER BY 1;

-- 10. What is declared of groups that join combinations.
SELECT (region = 'north' AND channel = 'web') AS both, max(region) FROM v GROUP BY 1;

-- 11. Edges as far apart as numbers go.
SELECT count(*) FROM v WHERE x > 0;

-- 12. CASE of a constant that is compared with a column.
PREPARE chosen(int) AS SELECT count(*) FROM v WHERE CASE $1 WHEN age THEN true ELSE false END;
SET plan_cache_mode = force_generic_plan;
EXECUTE chosen(17);
RESET plan_cache_mode;

-- 13. Halves of a day.
SELECT to_char(ts, 'A.M.'), count(*) FROM v GROUP BY 1;

-- 14. The price is that of the look at all scans together.
SELECT (SELECT count(*) FROM v WHERE channel = 'web') > 0 AS one, set_config('pg_epsilon.epsilon', '777', false) AS price, (SELECT count(*) FROM v WHERE channel = 'app') > 0 AS other;
SELECT count(DISTINCT rho) AS prices FROM dp.charges;
SET pg_epsilon.epsilon = 500;

-- 16. What WHERE rules out is not paid for.
SELECT sum(CASE WHEN region = 'north' THEN age END) FROM v WHERE region <> 'north';

-- 17. A function that goes up by its first argument.
SELECT round(15.5, age) AS r, count(*) FROM v WHERE age < 17 GROUP BY 1;

-- Sums of a number more or less.
SELECT sum(age + 20) - sum(age) - 20 * count(age) BETWEEN -50 AND 50 AS more, sum(100 - age) + sum(age) - 100 * count(age) BETWEEN -50 AND 50 AS less FROM v;

-- Sums of what is no finite number.
SELECT sum(age * 'Infinity'::float8) FROM v;
SELECT sum('NaN'::float8) FROM v;
SELECT avg(CASE WHEN region = 'north' THEN '-Infinity'::float8 ELSE age END) FROM v;
SELECT sum(age * 1e200 * 1e200) FROM v;
SELECT sum(CASE WHEN region = 'north' THEN 'NaN'::float8 ELSE 0 END) = 0 AS none FROM v WHERE region = 'south';

-- Two keys of grouping sets that are one expression.
SELECT channel = 'web' AS a, (channel = 'web') = true AS b, count(*) FROM v GROUP BY CUBE (1, 2);

RESET ROLE;
DROP SCHEMA reviewed CASCADE;
SELECT dp.drop_dataset('held');
DROP EXTENSION pg_epsilon;
DROP TABLE held;
DROP OWNED BY regress_reviewer;
DROP ROLE regress_reviewer;
