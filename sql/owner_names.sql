-- Names can be exchanged: the unit, the time, the private column and attributes are known by name, type and number.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;
\pset tuples_only on

SET SESSION AUTHORIZATION regress_curator;
CREATE FUNCTION exchange(relation regclass, a name, b name) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('ALTER TABLE %s RENAME %I TO between_two', relation, a);
    EXECUTE format('ALTER TABLE %s RENAME %I TO %I', relation, b, a);
    EXECUTE format('ALTER TABLE %s RENAME between_two TO %I', relation, b);
END $$;
-- 10 people with 3 rows each
CREATE TABLE visits (person int, visit int, ward int, floor int, day date, seen date);
INSERT INTO visits SELECT i % 10, i, i % 2, i % 3, date '2024-01-01' + i, date '2024-03-01' + i FROM generate_series(0, 29) i;
SELECT dp.create_dataset('visits', 'visits', 1e5, unit => 'person');
SELECT dp.add_attribute('visits', 'ward', '{0,1}'::int[]);
SELECT dp.set_time('visits', 'day');
SELECT dp.grant_budget('visits', 'regress_ann', 5e4);

-- One row of each person counts, and no other column of the same type takes its place
SET SESSION AUTHORIZATION regress_ann;
SELECT round(sum(estimate)) FROM dp.histogram('visits', 'ward', rho => 1000);
SET SESSION AUTHORIZATION regress_curator;
SELECT exchange('visits', 'person', 'visit');
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT * FROM dp.histogram('visits', 'ward', rho => 1001)$$);
SELECT refused($$SELECT * FROM dp.quote('visits', 'ward', rho => 1001)$$);
SELECT refused($$SELECT * FROM dp.rows_per_unit('visits', 5, rho => 1)$$);
SELECT rho_spent FROM dp.budgets;
SELECT line FROM dp.describe('visits') line WHERE line ~ 'can be asked';
-- nor by a new registration, which would carry over what was spent
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.drop_dataset('visits');
SELECT refused($$SELECT dp.create_dataset('visits', 'visits', 1e5, unit => 'person')$$);
SELECT exchange('visits', 'person', 'visit');
SELECT dp.create_dataset('visits', 'visits', 1e5, unit => 'person');
SELECT dp.add_attribute('visits', 'ward', '{0,1}'::int[]);
SELECT dp.grant_budget('visits', 'regress_ann', 5e4);
-- where the declared column is gone, the owner's word counts anew
ALTER TABLE visits ADD next int;
UPDATE visits SET next = person;
ALTER TABLE visits DROP person;
ALTER TABLE visits RENAME next TO person;
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT * FROM dp.histogram('visits', 'ward', rho => 1)$$);
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.drop_dataset('visits');
SELECT dp.create_dataset('visits', 'visits', 1e5, unit => 'person');
SELECT dp.add_attribute('visits', 'ward', '{0,1}'::int[]), dp.add_attribute('visits', 'floor', open => true);
SELECT dp.set_time('visits', 'day');
SELECT dp.grant_budget('visits', 'regress_ann', 5e4);

-- dp.attest after a promotion, where columns still have their numbers, vouches for none of that
RESET SESSION AUTHORIZATION;
UPDATE dp_ledger.dataset SET identity = regexp_replace(identity, '^([0-9]+)/[0-9]+/', '\1/999999/');
SET SESSION AUTHORIZATION regress_curator;
SELECT exchange('visits', 'person', 'visit');
SELECT refused($$SELECT * FROM dp.attest('promoted')$$);
SELECT exchange('visits', 'person', 'visit');
SELECT dataset, message FROM dp.attest('promoted');

-- An attribute
SELECT exchange('visits', 'ward', 'floor');
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT * FROM dp.histogram('visits', 'ward', rho => 1)$$);
SELECT refused($$SELECT * FROM dp.keys('visits', 'floor', rho => 1)$$);
SELECT refused($$SELECT * FROM dp.aggregate('visits', '{count(*)}', '{ward}', rho => 1)$$);
SET SESSION AUTHORIZATION regress_curator;
-- an open column, of which levels would be those of another
SELECT refused($$SELECT dp.add_attribute('visits', 'floor', '{0,1,2}'::int[])$$);
SELECT exchange('visits', 'ward', 'floor');

-- The time of a series
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM dp.create_series('visits', 's', '{}', 'total', start => '2024-01-01', period => '10 days', periods => 3, max_periods => 3, rho => 1000);
SELECT round(sum(estimate)) FROM dp.report('s', 1);
SET SESSION AUTHORIZATION regress_curator;
SELECT exchange('visits', 'day', 'seen');
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT * FROM dp.report('s', 2)$$);
SELECT round(sum(estimate)) FROM dp.report('s', 1);
SELECT refused($$SELECT * FROM dp.create_series('visits', 'r', '{}', 'total', start => '2024-01-01', period => '10 days', periods => 3, max_periods => 3, rho => 1)$$);
-- declared anew it is another column, which the series was not paid for
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.set_time('visits', 'day');
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT * FROM dp.report('s', 2)$$);
SET SESSION AUTHORIZATION regress_curator;
SELECT exchange('visits', 'day', 'seen');
SELECT dp.set_time('visits', 'day');
SET SESSION AUTHORIZATION regress_ann;
SELECT round(sum(estimate)) FROM dp.report('s', 2);

-- The time of blocks
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE calls (ward int, day date, seen date);
INSERT INTO calls SELECT 0, date '2024-01-01' + i, date '2025-01-01' + i FROM generate_series(0, 9) i;
SELECT dp.create_dataset('calls', 'calls', 1e5, block => '1 month', block_column => 'day');
SELECT dp.add_attribute('calls', 'ward', '{0}'::int[]);
SELECT dp.grant_budget('calls', 'regress_ann', 5e4);
SELECT exchange('calls', 'day', 'seen');
SELECT refused($$SELECT dp.set_time('calls', 'day')$$);
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT * FROM dp.histogram('calls', 'ward', rho => 1)$$);
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.drop_dataset('calls');
SELECT refused($$SELECT dp.create_dataset('calls', 'calls', 1e5, block => '1 month', block_column => 'day')$$);

-- The private column
CREATE TABLE offers (slope int, price numeric, cost numeric);
INSERT INTO offers VALUES (1, 10, 20);
SELECT dp.create_dataset('offers', 'offers', 10, neighbours => 'values', private_column => 'price', max_change => 1);
SELECT dp.add_attribute('offers', 'slope', 0, 10, 2);
SELECT dp.grant_budget('offers', 'regress_ann', 5);
SELECT exchange('offers', 'price', 'cost');
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT * FROM dp.minimize_max_affine('offers', '{slope}', 'price', '{0}', '{1}', epsilon => 1)$$);

-- Another table: columns are those of the declared names there, and a part has its columns in another order
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE moved (gone int, day date, person int, floor int, ward int) PARTITION BY LIST (ward);
ALTER TABLE moved DROP gone;
CREATE TABLE part (ward int, floor int, person int, day date);
ALTER TABLE moved ATTACH PARTITION part DEFAULT;
INSERT INTO moved SELECT date '2024-01-01' + i, i % 10, i % 3, i % 2 FROM generate_series(0, 29) i;
SELECT dp.move_dataset('visits', 'moved', 'another order');
SELECT dp.new_version('visits');
SET SESSION AUTHORIZATION regress_ann;
SELECT round(sum(estimate)) FROM dp.histogram('visits', 'ward', rho => 1000);

-- What is gone is shown at its line, and hides nothing else
SET SESSION AUTHORIZATION regress_curator;
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE TABLE people (person int, age int, mood mood, at date, born date);
SELECT dp.create_dataset('people', 'people', 10, unit => 'person');
SELECT dp.add_attribute('people', 'age', 0, 10, 2), dp.add_attribute('people', 'mood'), dp.add_attribute('people', 'born', open => true),
    dp.add_attribute('people', 'at', '2024-01-01', '2024-01-03', 2), dp.set_time('people', 'at');
ALTER TABLE people RENAME age TO years;
ALTER TABLE people ALTER person TYPE bigint, DROP born, ALTER at TYPE timestamp;
ALTER TYPE mood RENAME VALUE 'ok' TO 'fine';
SET SESSION AUTHORIZATION regress_ann;
SELECT * FROM dp.describe('people');
SET SESSION AUTHORIZATION regress_curator;
DROP TABLE people;
DROP TYPE mood;
SET SESSION AUTHORIZATION regress_ann;
SELECT * FROM dp.describe('people');
SELECT attribute, type, cells FROM dp.attributes WHERE dataset = 'people';
SELECT dataset, unit FROM dp.datasets ORDER BY dataset;
SET SESSION AUTHORIZATION regress_curator;
SELECT count(*) FROM dp.series;
SELECT count(*) FROM dp.budgets;
SELECT count(*) FROM dp.blocks;
SELECT dp.disclosure('people') ->> 'dataset';

RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon;
DROP FUNCTION refused;
DROP OWNED BY regress_curator, regress_ann;
DROP ROLE regress_curator, regress_ann;
