-- The unit's column is renamed: each hint is a cure that works.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator;
\pset tuples_only on

SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE visits AS SELECT i AS person, 1 AS k FROM generate_series(1, 10) i;
SELECT dp.create_dataset('d', 'visits', 100, unit => 'person', max_rows => 3);
SELECT dp.add_attribute('d', 'k', '{1}');
SELECT dp.grant_budget('d', 'regress_ann', 50);
SET SESSION AUTHORIZATION regress_ann;
SET client_min_messages = warning;
SELECT count(*) FROM dp.histogram('d', 'k', epsilon => 1);
SET SESSION AUTHORIZATION regress_curator;
ALTER TABLE visits RENAME person TO client;
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT dp.histogram('d', 'k', epsilon => 2)$$);

-- As another unit the table cannot be registered again; who tried is shown the cure
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.drop_dataset('d');
SELECT refused($$SELECT dp.create_dataset('d', 'visits', 100, unit => 'client', max_rows => 3)$$);
ALTER TABLE visits RENAME client TO person;
SELECT dp.create_dataset('d', 'visits', 100, unit => 'person', max_rows => 3);
-- No hint about names where none has changed
SELECT dp.drop_dataset('d');
SELECT refused($$SELECT dp.create_dataset('d', 'visits', 100, unit => 'k', max_rows => 3)$$);

RESET SESSION AUTHORIZATION;
DROP OWNED BY regress_curator, regress_ann;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused;
DROP ROLE regress_curator, regress_ann;
