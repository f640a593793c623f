-- What is said where the rows of a dataset change all at once: TRUNCATE, another name, another table.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
CREATE ROLE regress_loader;
GRANT CREATE ON SCHEMA public TO regress_curator;
\t on

SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE other (id int PRIMARY KEY);
CREATE TABLE people (id int REFERENCES other, b boolean);
INSERT INTO other SELECT generate_series(1, 100);
INSERT INTO people SELECT id, id <= 40 FROM other;
SELECT dp.create_dataset('o''s people', 'people', 1e5);
SELECT dp.add_attribute('o''s people', 'b');
SELECT dp.grant_budget('o''s people', 'regress_ann', 1e5);
CREATE TABLE parts (id int, b boolean) PARTITION BY LIST (b);
CREATE TABLE parts_t PARTITION OF parts FOR VALUES IN (true);
CREATE TABLE parts_f PARTITION OF parts FOR VALUES IN (false);
SELECT dp.create_dataset('parts', 'parts', 1e5);
GRANT TRUNCATE ON people TO regress_loader;

-- The answer stays, the one who empties the table is told, and a new version is measured
SET SESSION AUTHORIZATION regress_ann;
SET client_min_messages = warning;
SELECT round(estimate) FROM dp.histogram('o''s people', 'b', rho => 100) ORDER BY query;
RESET client_min_messages;
SET SESSION AUTHORIZATION regress_loader;
TRUNCATE people;
SET SESSION AUTHORIZATION regress_ann;
SELECT round(estimate) FROM dp.histogram('o''s people', 'b', rho => 100) ORDER BY query;
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.new_version('o''s people');
SET SESSION AUTHORIZATION regress_ann;
SET client_min_messages = warning;
SELECT round(estimate) + 0 FROM dp.histogram('o''s people', 'b', rho => 100) ORDER BY query;
RESET client_min_messages;

-- By a part, by several tables of one statement, in a function, by a foreign key, and undone afterwards
SET SESSION AUTHORIZATION regress_curator;
TRUNCATE parts_t;
TRUNCATE parts, people, parts_f;
SET client_min_messages = warning;
CREATE FUNCTION empty() RETURNS void LANGUAGE plpgsql AS $$ BEGIN TRUNCATE parts; END $$;
RESET client_min_messages;
SELECT empty();
BEGIN;
TRUNCATE other CASCADE;
ROLLBACK;

-- A foreign key that refers to a part alone; a child that ONLY leaves as it is
CREATE TABLE keyed (k int PRIMARY KEY) PARTITION BY LIST (k);
CREATE TABLE keyed_1 PARTITION OF keyed FOR VALUES IN (1);
CREATE TABLE referring (k int REFERENCES keyed_1);
SELECT dp.create_dataset('referring', 'referring', 1);
CREATE TABLE parent (a int);
CREATE TABLE child () INHERITS (parent);
SET client_min_messages = error;
SELECT dp.create_dataset('child', 'child', 1);
RESET client_min_messages;
BEGIN;
TRUNCATE keyed CASCADE;
TRUNCATE ONLY parent;
TRUNCATE parent;
ALTER INDEX child RENAME TO kid;
ROLLBACK;

-- Nothing is said where nothing happens, of other tables, of what is no longer a dataset, and of rows that are written
SELECT refused('TRUNCATE other');
SELECT refused('TRUNCATE nothing');
SET SESSION AUTHORIZATION regress_ann;
SELECT refused('TRUNCATE parts');
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE plain (id int);
TRUNCATE plain;
ALTER TABLE plain RENAME TO simple;
DELETE FROM people;
INSERT INTO people SELECT id, true FROM other;
UPDATE people SET b = false;
ALTER TABLE people RENAME b TO c;
ALTER TABLE people RENAME c TO b;
ALTER TABLE parts_t RENAME TO parts_true;
SELECT dp.drop_dataset('parts');
TRUNCATE parts;

-- A dataset goes on with its table, under all names, until it is moved
CREATE TABLE people_new (LIKE people);
INSERT INTO people_new SELECT i, true FROM generate_series(1, 70) i;
RESET SESSION AUTHORIZATION;
CREATE SCHEMA away AUTHORIZATION regress_curator;
SET SESSION AUTHORIZATION regress_curator;
BEGIN;
ALTER TABLE people RENAME TO people_old;
ALTER TABLE people_old SET SCHEMA away;
ALTER TABLE people_new RENAME TO people;
SAVEPOINT s;
SELECT dp.move_dataset('o''s people', 'people', 'load');
ROLLBACK TO s;
COMMIT;
SET SESSION AUTHORIZATION regress_ann;
SELECT round(estimate) + 0 FROM dp.histogram('o''s people', 'b', rho => 100) ORDER BY query;
SET client_min_messages = warning;
SELECT round(estimate) + 0 FROM dp.histogram('o''s people', 'b', rho => 101) ORDER BY query;
RESET client_min_messages;
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.move_dataset('o''s people', 'people', 'load');
SELECT dp.new_version('o''s people');
SET SESSION AUTHORIZATION regress_ann;
SET client_min_messages = warning;
SELECT round(estimate) + 0 FROM dp.histogram('o''s people', 'b', rho => 100) ORDER BY query;
RESET client_min_messages;

-- What others do to the table that the page tells of: columns come and go
SET SESSION AUTHORIZATION regress_curator;
ALTER TABLE people ADD COLUMN c text DEFAULT 'x';
ALTER TABLE people ALTER b TYPE int USING b::int;
SET SESSION AUTHORIZATION regress_ann;
SELECT round(estimate) + 0 FROM dp.histogram('o''s people', 'b', rho => 100) ORDER BY query;

-- A ledger that cannot be read, and one that is not there, are no matter of TRUNCATE
RESET SESSION AUTHORIZATION;
ALTER TABLE dp_ledger.dataset RENAME TO gone;
TRUNCATE people;
ALTER TABLE dp_ledger.gone RENAME TO dataset;
TRUNCATE people;
DROP EXTENSION pg_epsilon;
TRUNCATE people;

-- Without the extension a schema of the ledger's name is anybody's, and is not read
CREATE SCHEMA dp_ledger;
CREATE TABLE dp_ledger.dataset (id text, name int, relation text);
CREATE INDEX dataset_relation ON dp_ledger.dataset (relation);
INSERT INTO dp_ledger.dataset VALUES ('x', 1, 'y'), ('x', 1, 'z');
TRUNCATE people;
SET client_min_messages = warning;
DROP SCHEMA dp_ledger CASCADE;
RESET client_min_messages;

\t off
DROP FUNCTION refused, empty;
DROP TABLE people, other, parts, simple, referring, keyed, child, parent CASCADE;
DROP SCHEMA away CASCADE;
REVOKE CREATE ON SCHEMA public FROM regress_curator;
DROP ROLE regress_curator, regress_ann, regress_loader;
