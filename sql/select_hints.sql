-- Plain SELECT: where too little is left, the hint is a setting, and as it says a SELECT fits.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
CREATE ROLE regress_bob;
GRANT CREATE ON SCHEMA public TO regress_curator, regress_ann;
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE t AS SELECT (ARRAY['F', 'M'])[1 + i % 2] AS a FROM generate_series(1, 1000) i;
SELECT dp.create_dataset('t', 't', epsilon => 10, accounting => 'pure'), dp.add_attribute('t', 'a', '{F,M}'), dp.grant_budget('t', 'regress_ann', epsilon => 0.5);
SELECT dp.expose('t', 'v');
GRANT SELECT ON v TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SET pg_epsilon.epsilon = 2;
SELECT count(*) FROM v;
SET pg_epsilon.epsilon = 0;
SET pg_epsilon.max_stderr = 0.5;
SELECT count(*) FROM v;
SET pg_epsilon.max_stderr = 0;
SET pg_epsilon.epsilon = 0.5;
SELECT count(*) IS NOT NULL AS fits FROM v;
SELECT count(*) FROM v WHERE a = 'F';
-- what a function is asked has arguments
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.grant_budget('t', 'regress_ann', epsilon => 1);
SET SESSION AUTHORIZATION regress_ann;
SELECT * FROM dp.aggregate('t', '{count(*)}', epsilon => 1);

-- A standard error that a setting or an option asks for takes at most half of what is left; the hint's does.
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.grant_budget('t', 'regress_ann', epsilon => 2);
SELECT dp.expose('t', 'w');
ALTER FOREIGN TABLE w_foreign OPTIONS (ADD max_stderr '1.5');
GRANT SELECT ON w TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SET pg_epsilon.epsilon = 0;
SELECT refused('SELECT count(*) FROM w');
EXPLAIN (COSTS OFF) SELECT count(*) FROM w;
SET pg_epsilon.max_stderr = 1.8;
SELECT refused('SELECT a, count(*) FROM v GROUP BY a');
SET pg_epsilon.reuse = 'only';
SELECT refused('SELECT a, count(*) FROM v GROUP BY a');
RESET pg_epsilon.reuse;
SET pg_epsilon.max_stderr = 1.9;
SELECT count(*) FROM (SELECT a, count(*) FROM v GROUP BY a) fits;
-- as an argument it is asked for once, and what is paid is free
SET pg_epsilon.max_stderr = 0;
SELECT stderr <= 2.9 AS fits FROM dp.aggregate('t', '{count(*)}', max_stderr => 2.9);
SET pg_epsilon.max_stderr = 2.9;
SELECT count(*) IS NOT NULL AS free FROM v;
-- of gdp it grows with the root; who may not know what is left is refused without it
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE g AS TABLE t;
SELECT dp.create_dataset('g', 'g', epsilon => 10), dp.add_attribute('g', 'a', '{F,M}'), dp.grant_budget('g', 'regress_ann', epsilon => 1);
SELECT dp.expose('g', 'g_v');
GRANT SELECT ON g_v TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SET pg_epsilon.max_stderr = 6;
SELECT count(*) FROM g_v;
SET pg_epsilon.max_stderr = 7.8;
SELECT count(*) IS NOT NULL AS fits FROM g_v;
CREATE FUNCTION asked() RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS 'SELECT count(*) FROM g_v WHERE a = ''F''';
SET SESSION AUTHORIZATION regress_bob;
SELECT refused('SELECT asked()');
RESET SESSION AUTHORIZATION;

SET client_min_messages = error;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused;
DROP OWNED BY regress_curator, regress_ann, regress_bob CASCADE;
DROP ROLE regress_curator, regress_ann, regress_bob;
