-- Plain SELECT: where most groups are within three standard errors of 0 one NOTICE says so; of others none.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_curator;
-- 60 values are declared. The table has 7 of them, 1,000 times each.
CREATE TABLE t AS SELECT i % 7 AS a, i % 2 = 0 AS b FROM generate_series(1, 7000) i;
SELECT dp.create_dataset('t', 't', epsilon => 1e5), dp.add_attribute('t', 'a', 0, 60, 60, last => 'open'), dp.add_attribute('t', 'b'), dp.grant_budget('t', 'regress_ann', epsilon => 1e5);
SELECT dp.expose('t', 'v');
GRANT SELECT ON v TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SET pg_epsilon.epsilon = 900;
-- the NOTICE of the charge has numbers that are not looked at here
SELECT count(n) AS groups FROM (SELECT a, count(*) AS n FROM v GROUP BY a) g;
SELECT count(n) AS groups FROM (SELECT a, sum(a) AS n FROM v GROUP BY a) g;
SELECT count(n) AS groups FROM (SELECT a, count(*) AS n FROM v WHERE a < 10 GROUP BY a) g;
SELECT b, count(*) FROM v WHERE a >= 10 GROUP BY b;
SET client_min_messages = notice;
-- Replays have no NOTICE of a charge. 53 of 60 groups are empty; the noise of some may be beyond 3 standard errors.
\set VERBOSITY sqlstate
SELECT count(n) AS groups FROM (SELECT a, count(*) AS n FROM v GROUP BY a) g;
\set VERBOSITY default
-- 3 of 10 are not most
SELECT count(n) AS groups FROM (SELECT a, count(*) AS n FROM v WHERE a < 10 GROUP BY a) g;
-- two groups are no ranking
SELECT b, count(*) FROM v WHERE a >= 10 GROUP BY b;
-- what is hidden is not ranked
SET pg_epsilon.hide_below = 3;
SELECT count(n) BETWEEN 7 AND 30 AS most_are_hidden FROM (SELECT a, count(*) AS n FROM v GROUP BY a) g;
RESET SESSION AUTHORIZATION;

SET client_min_messages = error;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused;
DROP OWNED BY regress_curator, regress_ann CASCADE;
DROP ROLE regress_curator, regress_ann;
