-- Where most groups are within three standard errors of 0 one NOTICE says so: dp.aggregate, dp.histogram and dp.answer.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_curator;
-- 60 values are declared. The table has 7 of them, 1,000 times each.
CREATE TABLE t AS SELECT i % 7 AS a, i % 2 = 0 AS b FROM generate_series(1, 7000) i;
SELECT dp.create_dataset('t', 't', epsilon => 1e5), dp.add_attribute('t', 'a', 0, 60, 60, last => 'open'), dp.add_attribute('t', 'b'), dp.grant_budget('t', 'regress_curator', epsilon => 1e5);
CREATE TABLE p AS TABLE t;
SELECT dp.create_dataset('p', 'p', epsilon => 1e5, accounting => 'pure'), dp.add_attribute('p', 'a', 0, 60, 60, last => 'open'), dp.grant_budget('p', 'regress_curator', epsilon => 1e5);
-- The NOTICE of the charge has numbers that are not looked at here. What follows are replays, which have none.
CREATE VIEW counts AS SELECT * FROM dp.aggregate('t', '{count(*)}', by => '{a}', epsilon => 900);
CREATE VIEW averages AS SELECT * FROM dp.aggregate('t', '{avg(a), count(*)}', by => '{a}', epsilon => 900);
CREATE VIEW few AS SELECT * FROM dp.aggregate('t', '{count(*)}', by => '{b}', predicate => 'a > 10', epsilon => 900);
CREATE VIEW cells AS SELECT * FROM dp.histogram('t', '{a}', 'identity', epsilon => 900);
CREATE VIEW running AS SELECT * FROM dp.histogram('t', '{a}', 'prefix', epsilon => 900);
CREATE VIEW unknown AS SELECT * FROM dp.histogram('p', '{a}', 'identity', epsilon => 900, method => 'dawa');
SELECT count(*) FROM counts;
SELECT count(*) FROM averages;
SELECT count(*) FROM few;
SELECT count(*) FROM cells;
SELECT count(*), max(release) AS release FROM cells \gset
SELECT count(*) FROM running;
SELECT count(*) FROM unknown;
SET client_min_messages = notice;
-- 53 of 60 groups are empty; the noise of some may be beyond 3 standard errors.
\set VERBOSITY sqlstate
SELECT count(*) FROM counts;
-- by the first count or sum
SELECT count(*) FROM averages;
SELECT count(*) FROM cells;
SELECT count(*) FROM dp.histogram('t', '{a}', 'identity', epsilon => 900, reuse => true);
SELECT count(*) FROM dp.answer(:release, 'identity');
-- once for a statement
SELECT (SELECT count(*) FROM cells) + (SELECT count(*) FROM counts) AS rows;
\set VERBOSITY default
-- two groups are no ranking, running totals are full, and of dawa nobody knows the errors
SELECT count(*) FROM few;
SELECT count(*) FROM running;
SELECT count(*) FROM unknown;
SELECT count(*) FROM dp.answer(:release, 'prefix');
RESET SESSION AUTHORIZATION;

SET client_min_messages = error;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused;
DROP OWNED BY regress_curator CASCADE;
DROP ROLE regress_curator;
