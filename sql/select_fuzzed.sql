-- What a fuzzer found of plain SELECT (test/fuzz/server_select.pl): each statement once had another answer than plain SQL.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE orders (channel text, region text, age int, amount numeric, ok boolean);
INSERT INTO orders SELECT CASE WHEN i % 10 = 0 THEN 'fax' ELSE (ARRAY['web', 'shop'])[1 + i % 2] END, (ARRAY['north', 'south'])[1 + i % 2], 15 + i % 80,
       CASE WHEN i % 20 = 0 THEN NULL WHEN i % 5 = 0 THEN 500 ELSE i % 100 END, i % 4 = 0 FROM generate_series(1, 1000) i;
SELECT dp.create_dataset('orders', 'orders', epsilon => 1e5);
SELECT dp.add_attribute('orders', 'channel', '{web,shop}'::text[], outside => 'other');
SELECT dp.add_attribute('orders', 'region', '{north,south}'::text[]);
SELECT dp.add_attribute('orders', 'age', 15, 95, bins => 16);
SELECT dp.add_attribute('orders', 'amount', 0::numeric, 100::numeric, bins => 10, outside => 'other', nulls => 'cell');
SELECT dp.add_attribute('orders', 'ok');
SELECT dp.grant_budget('orders', 'regress_ann', epsilon => 1e5);
SELECT dp.expose('orders', 'orders_v');
GRANT SELECT ON orders_v, orders TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SET pg_epsilon.epsilon = 1000;

-- 1. Values outside of bins are there: they are not NULL.
SELECT count(*) FROM orders_v WHERE amount IS NULL;
SELECT count(*) FROM orders WHERE amount IS NULL;
SELECT amount IS NOT NULL AS there, count(*) FROM orders_v GROUP BY 1 ORDER BY 1;
SELECT amount IS NOT NULL AS there, count(*) FROM orders GROUP BY 1 ORDER BY 1;

-- 2. nullif cuts a bin, though a bin has values.
SELECT refused('SELECT count(*) FROM orders_v WHERE nullif(age, 20) IS NULL');
SELECT count(*) FROM orders_v WHERE (age + 1) IS NULL;

-- 3. An expression of several columns that tells values outside apart: not shown as one value without a word.
SELECT refused('SELECT channel || region, count(*) FROM orders_v GROUP BY 1');
SELECT refused('SELECT CASE WHEN ok THEN region ELSE channel END, count(*) FROM orders_v GROUP BY 1');
SELECT channel || region AS both, count(*) FROM orders_v WHERE channel = 'web' GROUP BY 1;
SELECT channel = 'web' AND ok AS both, count(*) FROM orders_v GROUP BY 1 ORDER BY 1;
SELECT channel = 'web' AND ok AS both, count(*) FROM orders GROUP BY 1 ORDER BY 1;
SET pg_epsilon.cut_bins = middle;
SET client_min_messages = notice;
SELECT count(*) FROM (SELECT channel || region, count(*) FROM orders_v GROUP BY 1) q;
SET client_min_messages = warning;
RESET pg_epsilon.cut_bins;

-- 4. The total of a roll-up is a row even where WHERE leaves nothing.
SELECT region, count(*), GROUPING(region) FROM orders_v WHERE age > 1000 GROUP BY ROLLUP (region);
SELECT region, count(*), GROUPING(region) FROM orders WHERE age > 1000 GROUP BY ROLLUP (region);
SELECT region, count(*) FROM orders_v WHERE age > 1000 GROUP BY region;

-- 5. Tests of no column: one that the planner makes of two, and a parameter of a generic plan.
SELECT count(*) FROM orders_v WHERE region = 'north' AND region = 'south';
SELECT region, count(*) FROM orders_v WHERE channel = 'web' AND channel = 'shop' GROUP BY region;
SET plan_cache_mode = force_generic_plan;
PREPARE of_parameter(int) AS SELECT count(*) FROM orders_v WHERE $1 = 1 AND region = 'north';
EXECUTE of_parameter(1);
EXECUTE of_parameter(2);
RESET plan_cache_mode;

-- 6. A constant in a grouping set would show in rows of all sets.  The planner of 18 tells it from one beside the sets.
SELECT refused('SELECT region, 1 + 1, count(*) FROM orders_v GROUP BY ROLLUP (region, 1 + 1)') = 'accepted' AS answered \gset
\if :answered
SELECT count(*) = 0 AS right_or_refused FROM (
    SELECT region, 1 + 1, count(*) FROM orders_v GROUP BY ROLLUP (region, 1 + 1) EXCEPT ALL
    SELECT region, 1 + 1, count(*) FROM orders GROUP BY ROLLUP (region, 1 + 1)) d \gset
\else
SELECT refused('SELECT region, 1 + 1, count(*) FROM orders_v GROUP BY ROLLUP (region, 1 + 1)') LIKE '0A000%A constant is in a grouping set.%' AS right_or_refused \gset
\endif
SELECT :'right_or_refused' AS right_or_refused;

-- 7. The average of a constant: its count is measured.
SELECT round(avg(1) FILTER (WHERE ok), 12)::float8 AS one, round(avg(CASE WHEN region = 'north' THEN 3 END), 12)::float8 AS three FROM orders_v;

-- 8. What lies outside of bins has no number: it is in no average, and no number is added to it.
SELECT round(avg(CASE WHEN ok THEN amount END)) AS average, round(sum(amount + 10) / 1000) AS more, round(sum(-(amount + 10)) / 1000) AS less FROM orders_v;
SELECT round(avg(CASE WHEN ok THEN amount END)) AS average, round(sum(amount + 10) / 1000) AS more, round(sum(-(amount + 10)) / 1000) AS less FROM orders WHERE amount <= 100;

RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon CASCADE;
DROP OWNED BY regress_curator, regress_ann CASCADE;
DROP ROLE regress_curator, regress_ann;
DROP FUNCTION refused(text);
