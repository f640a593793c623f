-- Plain SELECT: a sum of zeros is 0, and one of no value is NULL.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE t AS SELECT i % 4 AS qty, i % 10 AS x, (ARRAY['a', 'b'])[1 + i % 2] AS g FROM generate_series(1, 1000) i;
SELECT dp.create_dataset('t', 't', epsilon => 1e5), dp.add_attribute('t', 'qty', '{0,1,2,3}'), dp.add_attribute('t', 'x', 0, 10, bins => 10, last => 'open'), dp.add_attribute('t', 'g', '{a,b}'), dp.grant_budget('t', 'regress_ann', epsilon => 1e5);
SELECT dp.expose('t', 'v', epsilon => 10000);
GRANT SELECT ON v TO regress_ann;
\pset null NULL
SET SESSION AUTHORIZATION regress_ann;
SELECT sum(qty * 0) AS a, round((sum(qty * 0) + sum(qty)) / 10.0) AS b, sum(x * 0) AS c, sum(0) AS d, avg(qty * 0) AS e, sum(CASE WHEN g = 'a' THEN 0 END) AS f FROM v;
SELECT sum(qty * 0) FROM v;
SELECT g, sum(qty * 0) AS a, sum(0) AS b, dp.stderr_sum(qty * 0) AS c FROM v GROUP BY 1 ORDER BY 1;
SELECT sum(qty * NULL) AS a, sum(qty) FILTER (WHERE false) AS b, avg(qty) FILTER (WHERE g IS NULL AND g = 'a') AS c, count(*) FILTER (WHERE false) AS d, sum(CASE WHEN g = 'z' THEN 0 END) AS e FROM v;
SELECT sum(qty), sum(qty * 0), avg(x), count(*), dp.stderr_count(*) FROM v WHERE false;
SELECT sum(qty), sum(qty * 0), avg(x), count(*) FROM v WHERE g = 'a' AND g = 'b';
SELECT sum(qty * 0) FILTER (WHERE g = 'b') FROM v WHERE g = 'a';
-- tests of several columns that no row can meet together
SELECT sum(qty), avg(x), count(*) FROM v WHERE g = 'a' AND qty = 1 AND (g = 'b' OR qty = 2);
SELECT g, count(*) FROM v WHERE (g, qty) IN (('a', 1), ('b', 2)) AND (g, qty) IN (('a', 2), ('b', 1)) GROUP BY g;

RESET SESSION AUTHORIZATION;
SET client_min_messages = error;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused;
DROP OWNED BY regress_curator, regress_ann CASCADE;
DROP ROLE regress_curator, regress_ann;
