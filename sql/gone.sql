-- The table of a dataset is dropped: every question is refused alike, also one that names no column.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator;
\pset tuples_only on

SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE visits AS SELECT 1 AS k, date '2024-01-01' AS day;
SELECT dp.create_dataset('d', 'visits', 100);
SELECT dp.add_attribute('d', 'k', '{1}');
SELECT dp.add_attribute('d', 'day', '2024-01-01', '2024-03-01', step => '1 month');
SELECT dp.set_time('d', 'day', append_only => true, enforce => true);
SELECT dp.grant_budget('d', 'regress_ann', 50);
SELECT dp.expose('d', 'visits_dp', epsilon => 1);
GRANT SELECT ON visits_dp TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SET client_min_messages = warning;
SELECT count(*) FROM dp.histogram('d', '{}', epsilon => 1);
SET SESSION AUTHORIZATION regress_curator;
DROP TABLE visits;

-- Each front, the paid question too
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT dp.histogram('d', '{}', epsilon => 1)$$);
SELECT statement, left(refused(statement), 40) FROM unnest('{
    "SELECT dp.histogram(''d'', ''k'', epsilon => 1)",
    "SELECT dp.aggregate(''d'', ''count(*)'', epsilon => 1)",
    "SELECT dp.measure(''d'', ''{}'', epsilon => 1)",
    "SELECT count(*) FROM visits_dp",
    "SELECT sum(1) FROM visits_dp",
    "SELECT dp.quote(''d'', ''{}'', epsilon => 1)",
    "SELECT dp.quote_aggregate(''d'', ''count(*)'', epsilon => 1)",
    "SELECT dp.remaining(''d'', epsilon => 1)"}'::text[]) statement;
EXPLAIN (COSTS OFF) SELECT count(*) FROM visits_dp;
-- What is public can still be read, and what was paid for too
SELECT count(*) > 0 FROM dp.describe('d');
SELECT count(*) FROM dp.answer((SELECT max(release) FROM dp.charges), 'total');
SET SESSION AUTHORIZATION regress_curator;
SELECT count(*) > 0 FROM dp.disclosure('d');
SELECT refused($$SELECT dp.alter_attribute('d', 'k', '{1,2}')$$);
SELECT left(refused($$SELECT dp.set_time('d', 'day', append_only => true, enforce => true)$$), 40);

-- The hint: another table
CREATE TABLE visits AS SELECT 1 AS k, date '2024-01-01' AS day;
SELECT dp.move_dataset('d', 'visits', 'a new table');
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM dp.histogram('d', '{}', epsilon => 2);

RESET SESSION AUTHORIZATION;
DROP OWNED BY regress_curator, regress_ann;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused;
DROP ROLE regress_curator, regress_ann;
