-- coalesce of a column with `other` in GROUP BY: refused, and the hint is a cure that works.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator;
\pset tuples_only on

SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE visits AS SELECT (ARRAY['a', 'b', 'c', NULL])[1 + i % 4] AS g FROM generate_series(1, 400) i;
SELECT dp.create_dataset('d', 'visits', 1e5);
SELECT dp.add_attribute('d', 'g', '{a,b}', outside => 'other', nulls => 'cell');
SELECT dp.grant_budget('d', 'regress_ann', 5e4);
SELECT dp.expose('d', 'visits_dp', epsilon => 1000);
GRANT SELECT ON visits_dp TO regress_ann;

SET SESSION AUTHORIZATION regress_ann;
SET client_min_messages = warning;
SELECT refused($$SELECT coalesce(g, 'none'), count(*) FROM visits_dp GROUP BY 1$$);
SELECT coalesce(g, 'none'), n FROM (SELECT g, count(*) AS n FROM visits_dp GROUP BY g) x ORDER BY g COLLATE "C";

RESET SESSION AUTHORIZATION;
DROP OWNED BY regress_curator, regress_ann;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused;
DROP ROLE regress_curator, regress_ann;
