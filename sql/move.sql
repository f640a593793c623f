-- A dataset goes on with another table: dp.move_dataset.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
CREATE ROLE regress_house;
CREATE ROLE regress_member IN ROLE regress_house, regress_curator;
GRANT CREATE ON SCHEMA public TO regress_curator, regress_ann, regress_house;

-- SQLSTATE, message, detail and hint of a statement that fails.
SET client_min_messages = warning;
\t on

SET SESSION AUTHORIZATION regress_curator;
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE TABLE old (id int, age int, mood mood);
INSERT INTO old SELECT i, i % 10, 'ok' FROM generate_series(1, 100) i;
SELECT dp.create_dataset('d', 'old', 1e5, unit => 'id');
SELECT dp.add_attribute('d', 'age', 0, 10, 2), dp.add_attribute('d', 'mood');
SELECT dp.grant_budget('d', 'regress_ann', 1e5);
CREATE TABLE new (LIKE old);
INSERT INTO new SELECT i, i % 10, 'ok' FROM generate_series(1, 200) i;

-- What is refused
SELECT refused($$SELECT dp.move_dataset('nothing', 'new', 'load')$$);
SELECT refused($$SELECT dp.move_dataset('d', 'new', '')$$);
SELECT refused($$SELECT dp.move_dataset('d', 0::oid::regclass, 'load')$$);
SELECT refused($$SELECT dp.move_dataset('d', 'pg_class', 'load')$$);
SELECT refused($$SELECT dp.move_dataset('d', 'old', 'load')$$);
CREATE VIEW seen AS SELECT * FROM old;
SELECT refused($$SELECT dp.move_dataset('d', 'seen', 'load')$$);
CREATE TEMPORARY TABLE short (LIKE old);
SELECT refused($$SELECT dp.move_dataset('d', 'short', 'load')$$);
-- other columns: an attribute that is gone or of another type, and the unit
CREATE TABLE wrong (id int, age int);
SELECT refused($$SELECT dp.move_dataset('d', 'wrong', 'load')$$);
ALTER TABLE wrong ADD mood text;
SELECT refused($$SELECT dp.move_dataset('d', 'wrong', 'load')$$);
ALTER TABLE wrong ALTER mood TYPE mood USING NULL, ALTER age TYPE bigint;
SELECT refused($$SELECT dp.move_dataset('d', 'wrong', 'load')$$);
ALTER TABLE wrong ALTER age TYPE int, ALTER id TYPE text;
SELECT refused($$SELECT dp.move_dataset('d', 'wrong', 'load')$$);
ALTER TABLE wrong DROP id;
SELECT refused($$SELECT dp.move_dataset('d', 'wrong', 'load')$$);
-- a table of another dataset, its part and what it is part of
CREATE TABLE whole (id int, age int, mood mood) PARTITION BY RANGE (id);
CREATE TABLE part PARTITION OF whole DEFAULT PARTITION BY RANGE (id);
CREATE TABLE leaf PARTITION OF part DEFAULT;
SELECT dp.create_dataset('other', 'part', 1);
SELECT refused($$SELECT dp.move_dataset('d', 'whole', 'load')$$);
SELECT refused($$SELECT dp.move_dataset('d', 'part', 'load')$$);
SELECT refused($$SELECT dp.move_dataset('d', 'leaf', 'load')$$);
-- tables of others, and somebody else's dataset
RESET SESSION AUTHORIZATION;
ALTER TABLE wrong OWNER TO regress_house;
SET SESSION AUTHORIZATION regress_curator;
SELECT refused($$SELECT dp.move_dataset('d', 'wrong', 'load')$$);
SET SESSION AUTHORIZATION regress_member;
SELECT refused($$SELECT dp.move_dataset('d', 'wrong', 'load')$$);
SET SESSION AUTHORIZATION regress_ann;
CREATE TABLE own (id int, age int, mood mood);
SELECT refused($$SELECT dp.move_dataset('d', 'own', 'load')$$);
SELECT refused($$SELECT dp.move_dataset('d', 'new', 'load')$$);

-- What stays: charges, budgets, version, and so the answers that were paid
SELECT count(*) FROM dp.histogram('d', 'age', rho => 0.5);
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.move_dataset('d', 'new', 'the load of Monday');
RESET SESSION AUTHORIZATION;
SELECT relation_name, relation_oid = 'new'::regclass, owner, version, rho_spent, charges FROM dp_ledger.dataset WHERE dataset = 'd';
SELECT role_name, rho_spent FROM dp_ledger.budget WHERE dataset_id = 1;
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM dp.histogram('d', 'age', rho => 0.5);
SELECT rho_spent FROM dp.budgets;
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.new_version('d');
SET SESSION AUTHORIZATION regress_ann;
SELECT string_agg(estimate::bigint::text, ' ' ORDER BY query) FROM dp.histogram('d', 'age', rho => 100);
SELECT rho_spent FROM dp.budgets;
SET SESSION AUTHORIZATION regress_curator;
SELECT role, function, rho, request FROM dp.charges WHERE function = 'dp.move_dataset';
SELECT ok, message FROM dp.verify_ledger('d');
-- The old table lost what it lost, and the new one too
SELECT dp.create_dataset('old', 'old', 1e5, unit => 'id');
SELECT refused($$SELECT dp.create_dataset('again', 'new', 1e5)$$);
RESET SESSION AUTHORIZATION;
SELECT dataset, rho_spent FROM dp_ledger.dataset ORDER BY id;
SELECT relation_name, first_seq, last_seq FROM dp_ledger.charge_relation ORDER BY first_seq;
-- Frozen
UPDATE dp_ledger.dataset SET identity = '1/1/1/1' WHERE dataset = 'd';
CREATE TABLE third (LIKE old);
ALTER TABLE third OWNER TO regress_curator;
SET SESSION AUTHORIZATION regress_curator;
SELECT refused($$SELECT dp.move_dataset('d', 'third', 'load')$$);

RESET SESSION AUTHORIZATION;
\t off
DROP EXTENSION pg_epsilon;
DROP FUNCTION refused;
DROP VIEW seen;
DROP TABLE old, new, wrong, whole, own, third, short;
DROP TYPE mood;
REVOKE CREATE ON SCHEMA public FROM regress_curator, regress_ann, regress_house;
DROP ROLE regress_member, regress_curator, regress_ann, regress_house;
