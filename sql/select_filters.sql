-- Plain SELECT: a WHERE on a grouped column is applied to the answer, and is free; except on the column of blocks, and where people are counted in groups.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;
SET datestyle = 'ISO';
SET SESSION AUTHORIZATION regress_curator;
CREATE FUNCTION charges() RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM dp.charges';

-- 1. Blocks of time: only those pay that WHERE leaves.
CREATE TABLE stays AS SELECT date '2026-01-01' + i % 90 AS arrived, 'w' || i % 3 AS ward FROM generate_series(1, 9000) i;
SELECT dp.create_dataset('stays', 'stays', epsilon => 2000, block => '1 month', block_column => 'arrived');
SELECT dp.add_edges('stays', 'arrived', (SELECT array_agg(x::date) FROM generate_series(timestamp '2026-01-01', '2026-04-01', '1 day') x), outside => 'drop'), dp.add_attribute('stays', 'ward', '{w0,w1,w2}');
SELECT dp.grant_budget('stays', 'regress_ann', epsilon => 2000, per_block => true), dp.expose('stays', 's', epsilon => 500);
GRANT SELECT ON s TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
EXPLAIN (COSTS OFF) SELECT arrived, count(*) FROM s WHERE arrived >= '2026-03-30' GROUP BY 1;
SELECT arrived, count(*) FROM s WHERE arrived >= '2026-03-30' GROUP BY 1 ORDER BY 1;
SELECT starts, epsilon_spent > 0 AS spent FROM dp.blocks WHERE dataset = 'stays' AND starts IS NOT NULL ORDER BY 1;
-- an expression of the column, and others beside it: a filter of theirs is of the answer
EXPLAIN (COSTS OFF) SELECT date_trunc('month', arrived), ward, count(*) FROM s WHERE arrived >= '2026-03-01' AND ward <> 'w1' GROUP BY 1, 2;
SELECT date_trunc('month', arrived)::date AS month, ward, count(*) FROM s WHERE arrived >= '2026-03-01' AND ward <> 'w1' GROUP BY 1, 2 ORDER BY 1, 2;
SELECT starts, epsilon_spent > 0 AS spent FROM dp.blocks WHERE dataset = 'stays' AND starts IS NOT NULL ORDER BY 1;

-- 2. A unit: a filter is free, and the same answer.
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE visits AS SELECT i % 2000 AS person, (ARRAY['north', 'south', 'west'])[1 + i % 7 % 3] AS region, i % 10 AS cost FROM generate_series(1, 4000) i;
SELECT dp.create_dataset('visits', 'visits', epsilon => 1e5, unit => 'person', max_rows => 2);
SELECT dp.add_attribute('visits', 'region', '{north,south,west}'), dp.add_attribute('visits', 'cost', 0, 10, bins => 10, last => 'open');
SELECT dp.grant_budget('visits', 'regress_ann', epsilon => 1e5), dp.expose('visits', 'v', epsilon => 20000);
GRANT SELECT ON v TO regress_ann;
SELECT region, count(*), round(sum(cost) / 10.0) AS tens FROM visits GROUP BY 1 ORDER BY 1;
SET SESSION AUTHORIZATION regress_ann;
SELECT region, count(*), round(sum(cost) / 10.0) AS tens FROM v GROUP BY 1 ORDER BY 1;
SELECT charges() AS before \gset
SELECT region, count(*), round(sum(cost) / 10.0) AS tens FROM v WHERE region = 'south' GROUP BY 1 ORDER BY 1;
SELECT * FROM (SELECT region, count(*), round(sum(cost) / 10.0) AS tens FROM v GROUP BY 1) t WHERE region IN ('north', 'west') ORDER BY 1;
SELECT charges() - :before AS charged;
EXPLAIN (COSTS OFF) SELECT region, count(*), round(sum(cost) / 10.0) AS tens FROM v WHERE region = 'south' GROUP BY 1;
-- cells of one class that are told apart by the filter
SELECT cost / 5 AS fives, count(*) FROM v WHERE cost < 7 GROUP BY 1 ORDER BY 1;
SELECT cost / 5 AS fives, count(*) FROM v WHERE cost >= 7 GROUP BY 1 ORDER BY 1;
-- not where people are counted: of the groups that a person is in some are drawn
EXPLAIN (COSTS OFF) SELECT region, count(DISTINCT person) FROM v WHERE region = 'south' GROUP BY 1;
EXPLAIN (COSTS OFF) SELECT region, dp.people(*), count(*) FROM v WHERE region = 'south' GROUP BY 1;
SELECT region, count(DISTINCT person) FROM v WHERE region = 'south' GROUP BY 1;
-- nor in grouping sets
EXPLAIN (COSTS OFF) SELECT region, count(*) FROM v WHERE region = 'south' GROUP BY ROLLUP (1);
-- nor where fewer rows of each unit are counted than there are: those that WHERE leaves
SET SESSION AUTHORIZATION regress_curator;
ALTER FOREIGN TABLE v_foreign OPTIONS (ADD rows_per_unit '1');
SELECT count(DISTINCT person) AS people_with_one FROM visits WHERE region = 'south';
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM v WHERE region = 'south';
SELECT region, count(*) FROM v WHERE region = 'south' GROUP BY 1;

RESET SESSION AUTHORIZATION;
SET client_min_messages = error;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused;
DROP OWNED BY regress_curator, regress_ann CASCADE;
DROP ROLE regress_curator, regress_ann;
