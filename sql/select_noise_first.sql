-- Plain SELECT: the NOTICE of groups that are noise is of the first count or sum, also behind an average.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_curator;
-- 60 values are declared. The table has 7 of them, 1,000 times each.
CREATE TABLE t AS SELECT i % 7 AS a FROM generate_series(1, 7000) i;
SELECT dp.create_dataset('t', 't', epsilon => 1e5), dp.add_attribute('t', 'a', 0, 60, 60, last => 'open'), dp.grant_budget('t', 'regress_curator', epsilon => 5e4);
SELECT dp.expose('t', 'v', epsilon => 900);
SET client_min_messages = notice;
-- one NOTICE is of the charge
\set VERBOSITY sqlstate
SELECT count(n) AS groups, count(m) >= 7 AS averages FROM (SELECT a, avg(a) AS m, count(*) AS n FROM v GROUP BY a) g;
SELECT count(m) >= 7 AS averages FROM (SELECT a, avg(a) AS m FROM v WHERE a < 50 GROUP BY a) g;
\set VERBOSITY default
RESET SESSION AUTHORIZATION;

SET client_min_messages = error;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused;
DROP OWNED BY regress_curator CASCADE;
DROP ROLE regress_curator;
