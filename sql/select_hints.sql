-- Plain SELECT: where too little is left, the hint is a setting, and as it says a SELECT fits.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator;
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
RESET SESSION AUTHORIZATION;

SET client_min_messages = error;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused;
DROP OWNED BY regress_curator, regress_ann CASCADE;
DROP ROLE regress_curator, regress_ann;
