-- What the owner of a table may do and must not: datasets, caps, registering anew.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
CREATE ROLE regress_house;
CREATE ROLE regress_member IN ROLE regress_house;
CREATE ROLE regress_outsider NOINHERIT IN ROLE regress_house;
GRANT CREATE ON SCHEMA public TO regress_curator, regress_house;

-- SQLSTATE, message, detail and hint of a statement that fails.
SET client_min_messages = warning;

SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE people (id int, sex text, age int);
CREATE TABLE other (x int);

\t on
-- Numbers and words
SELECT refused($$SELECT dp.create_dataset(NULL, 'people', 1)$$);
SELECT refused($$SELECT dp.create_dataset('', 'people', 1)$$);
SELECT refused($$SELECT dp.create_dataset('people', NULL, 1)$$);
SELECT refused($$SELECT dp.create_dataset('people', 'people', NULL)$$);
SELECT refused($$SELECT dp.create_dataset('people', 'people', 0)$$);
SELECT refused($$SELECT dp.create_dataset('people', 'people', -1)$$);
SELECT refused($$SELECT dp.create_dataset('people', 'people', 'NaN')$$);
SELECT refused($$SELECT dp.create_dataset('people', 'people', 'Infinity')$$);
SELECT refused($$SELECT dp.create_dataset('people', 'people', 100001)$$);
SELECT refused($$SELECT dp.create_dataset('people', 'people', 1e-12)$$);
SELECT refused($$SELECT dp.create_dataset('people', 'people', 1, NULL)$$);
SELECT refused($$SELECT dp.create_dataset('people', 'people', 1, 0)$$);
SELECT refused($$SELECT dp.create_dataset('people', 'people', 1, 1)$$);
SELECT refused($$SELECT dp.create_dataset('people', 'people', 1, -1e-9)$$);
SELECT refused($$SELECT dp.create_dataset('people', 'people', 1, 'NaN')$$);
SELECT refused($$SELECT dp.create_dataset('people', 'people', 1, neighbours => NULL)$$);
SELECT refused($$SELECT dp.create_dataset('people', 'people', 1, neighbours => 'friends')$$);
SELECT refused($$SELECT dp.create_dataset('people', 'people', 1, neighbours => 'values')$$);
SELECT refused($$SELECT dp.create_dataset('people', 'people', 1, 1e-6, accounting => 'pure')$$);
SELECT refused($$SELECT dp.create_dataset('people', 'people', 1, accounting => 'loose')$$);
SELECT refused($$SELECT dp.create_dataset('people', 'people', 1, max_rows => 2)$$);
SELECT refused($$SELECT dp.create_dataset('people', 'people', 1, max_rows => 0)$$);
SELECT refused($$SELECT dp.create_dataset('people', 'people', 1, private_column => 'age')$$);
SELECT refused($$SELECT dp.create_dataset('people', 'people', 1, max_change => 1)$$);
SELECT refused($$SELECT dp.create_dataset('people', 'people', 1, change => 'one')$$);

-- Relations
SELECT refused($$SELECT dp.create_dataset('nothing', 'nothing', 1)$$);
SELECT refused($$SELECT dp.create_dataset('nothing', 0::oid::regclass, 1)$$);
SELECT refused($$SELECT dp.create_dataset('catalog', 'pg_class', 1)$$);
CREATE VIEW people_view AS SELECT * FROM people;
CREATE MATERIALIZED VIEW people_matview AS SELECT * FROM people;
CREATE TEMP TABLE people_temp (x int);
CREATE SEQUENCE people_seq;
CREATE INDEX people_id ON people (id);
CREATE TABLE people_forced (x int);
ALTER TABLE people_forced ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE TABLE people_rls (x int);
ALTER TABLE people_rls ENABLE ROW LEVEL SECURITY;
RESET SESSION AUTHORIZATION;
CREATE FOREIGN DATA WRAPPER regress_wrapper;
CREATE SERVER regress_server FOREIGN DATA WRAPPER regress_wrapper;
GRANT USAGE ON FOREIGN SERVER regress_server TO regress_curator;
SET SESSION AUTHORIZATION regress_curator;
CREATE FOREIGN TABLE people_foreign (x int) SERVER regress_server;
SELECT refused($$SELECT dp.create_dataset('v', 'people_view', 1)$$);
SELECT refused($$SELECT dp.create_dataset('m', 'people_matview', 1)$$);
SELECT refused($$SELECT dp.create_dataset('t', 'people_temp', 1)$$);
SELECT refused($$SELECT dp.create_dataset('s', 'people_seq', 1)$$);
SELECT refused($$SELECT dp.create_dataset('i', 'people_id', 1)$$);
SELECT refused($$SELECT dp.create_dataset('r', 'people_forced', 1)$$);
SELECT refused($$SELECT dp.create_dataset('f', 'people_foreign', 1)$$);
CREATE INDEX people_rls_all ON people_rls (x);
SELECT refused($$SELECT dp.create_dataset('rls', 'people_rls', 1)$$);
SELECT refused($$SELECT dp.drop_dataset('rls')$$);
CREATE INDEX people_rls_some ON people_rls (x) WHERE x > 0;
SELECT refused($$SELECT dp.create_dataset('rls', 'people_rls', 1)$$);
SELECT refused($$SELECT dp.drop_dataset('rls')$$);
\t off

-- Accepted
SELECT dp.create_dataset('people', 'people', 1);
SELECT dp.create_dataset(dataset => 'Odd "name" ü', relation => 'other', epsilon => 2, delta => 1e-6,
                         neighbours => 'add_remove', unit => NULL, max_rows => 1, accounting => 'zcdp');
SELECT dataset, unit, max_rows, neighbours, round(epsilon_left::numeric, 4) AS epsilon_left, frozen
  FROM dp.datasets ORDER BY dataset COLLATE "C";
-- never more than the cap: everything is rounded down
SELECT dataset, epsilon_left <= CASE dataset WHEN 'people' THEN 1 ELSE 2 END AS not_above_cap FROM dp.datasets ORDER BY 1;
\t on
SELECT refused($$SELECT dp.create_dataset('people', 'people_rls', 1)$$);
SELECT refused($$SELECT dp.create_dataset('people2', 'people', 1)$$);

-- A table and one it inherits from, or one that inherits from it, are never two datasets
CREATE TABLE parts (k int, x int) PARTITION BY RANGE (k);
CREATE TABLE part1 PARTITION OF parts FOR VALUES FROM (0) TO (10);
CREATE TABLE part2 PARTITION OF parts FOR VALUES FROM (10) TO (20) PARTITION BY RANGE (k);
CREATE TABLE part2a PARTITION OF part2 FOR VALUES FROM (10) TO (15);
CREATE TABLE parent (x int);
CREATE TABLE child () INHERITS (parent);
CREATE TABLE cousin (y int);
CREATE TABLE grandchild () INHERITS (child, cousin);
SELECT refused($$SELECT dp.create_dataset('part2', 'part2', 1)$$);
SELECT refused($$SELECT dp.create_dataset('parts', 'parts', 1)$$);
SELECT refused($$SELECT dp.create_dataset('part2a', 'part2a', 1)$$);
SELECT refused($$SELECT dp.create_dataset('part1', 'part1', 1)$$);
SELECT refused($$SELECT dp.drop_dataset('part1')$$);
SELECT refused($$SELECT dp.drop_dataset('part2')$$);
SELECT refused($$SELECT dp.create_dataset('parts', 'parts', 1)$$);
SELECT refused($$SELECT dp.create_dataset('part1', 'part1', 1)$$);
SELECT refused($$SELECT dp.create_dataset('part2a', 'part2a', 1)$$);
SELECT refused($$SELECT dp.create_dataset('grandchild', 'grandchild', 1)$$);
SELECT refused($$SELECT dp.create_dataset('parent', 'parent', 1)$$);
SELECT refused($$SELECT dp.create_dataset('child', 'child', 1)$$);
SELECT refused($$SELECT dp.create_dataset('cousin', 'cousin', 1)$$);
CREATE FOREIGN TABLE part_foreign PARTITION OF parts FOR VALUES FROM (20) TO (30) SERVER regress_server;
SELECT refused($$SELECT dp.drop_dataset('parts')$$);
SELECT refused($$SELECT dp.create_dataset('parts', 'parts', 1)$$);

-- Only the owner, and who has his privileges
SET SESSION AUTHORIZATION regress_house;
CREATE TABLE house (x int, b boolean);
SET SESSION AUTHORIZATION regress_curator;
SELECT refused($$SELECT dp.create_dataset('house', 'house', 1)$$);
SET SESSION AUTHORIZATION regress_outsider;
SELECT refused($$SELECT dp.create_dataset('house', 'house', 1)$$);
SET SESSION AUTHORIZATION regress_member;
SELECT refused($$SELECT dp.create_dataset('house', 'house', 1)$$);
SELECT refused($$SELECT dp.add_attribute('house', 'b')$$);
SELECT refused($$SELECT dp.add_attribute('house', 'x', 0, 10, 2)$$);
SELECT refused($$SELECT dp.grant_budget('house', 'regress_ann', 1)$$);
SELECT refused($$SELECT dp.revoke_budget('house', 'regress_ann')$$);
SELECT dp.new_version('house');
-- ann has EXECUTE on all of them and owns nothing; the outsider is a member without the privileges
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT dp.create_dataset('mine', 'other', 1)$$);
SELECT refused($$SELECT dp.add_attribute('house', 'x', '{1,2}')$$);
SELECT refused($$SELECT dp.add_attribute('house', 'b')$$);
SELECT refused($$SELECT dp.add_attribute('house', 'x', 0, 10, 2)$$);
SELECT refused($$SELECT dp.add_edges('house', 'x', '{1,2}')$$);
SELECT refused($$SELECT dp.grant_budget('house', 'regress_ann', 1)$$);
SELECT refused($$SELECT dp.revoke_budget('house', 'regress_ann')$$);
SELECT refused($$SELECT dp.new_version('house')$$);
SELECT refused($$SELECT dp.drop_dataset('house')$$);
SET SESSION AUTHORIZATION regress_outsider;
SELECT refused($$SELECT dp.grant_budget('house', 'regress_outsider', 1)$$);
SELECT refused($$SELECT dp.drop_dataset('house')$$);
SET ROLE regress_house;
SELECT refused($$SELECT dp.drop_dataset('house')$$);
RESET ROLE;
SELECT refused($$SELECT dp.drop_dataset('house')$$);

-- NULL and unknown names
SET SESSION AUTHORIZATION regress_curator;
SELECT refused($$SELECT dp.drop_dataset('nothing')$$);
SELECT refused($$SELECT dp.new_version('nothing')$$);
SELECT refused($$SELECT dp.grant_budget('nothing', 'regress_ann', 1)$$);
SELECT refused($$SELECT dp.add_attribute('nothing', 'x', 0, 1, 1)$$);
SELECT dp.drop_dataset(NULL) IS NULL, dp.new_version(NULL) IS NULL, dp.revoke_budget(NULL, NULL) IS NULL;
\t off

-- Registering anew: the cap starts where it was left
SELECT dp.drop_dataset('people');
CREATE TABLE again (b boolean);
INSERT INTO again VALUES (true), (true), (false);
SELECT dp.create_dataset('again', 'again', 8);
SELECT dp.add_attribute('again', 'b');
SELECT dp.grant_budget('again', 'regress_ann', 4);
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM dp.histogram('again', 'b', rho => 0.125);
SELECT count(*) FROM dp.histogram('again', 'b', rho => 0.125);
SELECT release AS first_release FROM dp.releases \gset
SET SESSION AUTHORIZATION regress_curator;
SELECT role, rho_spent, rho_left > 0 AS left FROM dp.budgets WHERE dataset = 'again';
SELECT dp.drop_dataset('again');
SELECT count(*) FROM dp.datasets WHERE dataset = 'again';
SELECT count(*) FROM dp.attributes WHERE dataset = 'again';
SELECT count(*) FROM dp.budgets WHERE dataset = 'again';
SELECT role, dataset, rho FROM dp.charges;
\t on
-- below what is spent (rho 0.125 is about epsilon 3.2 at half of 1e-9)
SELECT refused($$SELECT dp.create_dataset('anew', 'again', 0.5)$$);
-- what was spent in other terms cannot be carried over
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_curator;
SELECT refused($$SELECT dp.create_dataset('anew', 'again', 8, accounting => 'pure')$$);
RESET SESSION AUTHORIZATION;
BEGIN;
UPDATE dp_ledger.dataset SET unit = 'id' WHERE dataset = 'again' AND dropped;
SET SESSION AUTHORIZATION regress_curator;
SELECT refused($$SELECT dp.create_dataset('anew', 'again', 8)$$);
RESET SESSION AUTHORIZATION;
ROLLBACK;
SET SESSION AUTHORIZATION regress_curator;
\t off
-- another name, another cap; the old cost counts, the old declarations and budgets are gone
SELECT dp.create_dataset('anew', 'again', 6);
RESET SESSION AUTHORIZATION;
SELECT dataset, dropped, epsilon, rho_spent, charges, version FROM dp_ledger.dataset WHERE relation_name = 'again';
SET SESSION AUTHORIZATION regress_curator;
SELECT round(epsilon_left::numeric, 3) < 6 AS less_than_all FROM dp.datasets WHERE dataset = 'anew';
SELECT count(*) FROM dp.attributes WHERE dataset = 'anew';
SELECT role, rho_spent, rho_left FROM dp.budgets WHERE dataset = 'anew';
SELECT dp.add_attribute('anew', 'b');
\t on
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT * FROM dp.histogram('anew', 'b', rho => 0.001)$$);
SET SESSION AUTHORIZATION regress_curator;
SELECT refused($$SELECT dp.grant_budget('anew', 'regress_ann', 0.5)$$);
SELECT refused($$SELECT dp.grant_budget('anew', 'regress_ann', 6)$$);
\t off
-- the same question is a new one: a registration is a new version
SET SESSION AUTHORIZATION regress_ann;
SELECT replay FROM dp.quote('anew', 'b', rho => 0.125);
SELECT bool_and(release <> :first_release) AS new_release FROM dp.histogram('anew', 'b', rho => 0.125);
SELECT rho_spent FROM dp.budgets;

-- A dataset whose table was dropped can be unregistered by who registered it
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE gone (b boolean);
SELECT dp.create_dataset('gone', 'gone', 1);
SELECT dp.add_attribute('gone', 'b');
SELECT dp.grant_budget('gone', 'regress_ann', 1);
DROP TABLE gone;
\t on
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT * FROM dp.histogram('gone', 'b', epsilon => 0.1)$$);
SELECT refused($$SELECT dp.drop_dataset('gone')$$);
SET SESSION AUTHORIZATION regress_curator;
SELECT refused($$SELECT dp.drop_dataset('gone')$$);


-- What a partition lost is not lost again under its parent
CREATE TABLE whole (b boolean) PARTITION BY LIST (b);
CREATE TABLE part PARTITION OF whole FOR VALUES IN (true);
\t off
SELECT dp.create_dataset('part', 'part', 1);
SELECT dp.drop_dataset('part');
SELECT dp.create_dataset('whole', 'whole', 1);
SELECT dp.drop_dataset('whole');
SELECT dp.create_dataset('part', 'part', 1);
SELECT dp.add_attribute('part', 'b');
SELECT dp.grant_budget('part', 'regress_ann', 1);
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM dp.histogram('part', 'b', rho => 0.001);
SELECT count(*) FROM dp.releases WHERE dataset = 'part';
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.drop_dataset('part');
-- nor are its releases listed, which could not be read
SELECT count(*) FROM dp.releases WHERE dataset = 'part';
\t on
SELECT refused($$SELECT dp.create_dataset('whole', 'whole', 1)$$);

RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon;
DROP FUNCTION refused;
SET client_min_messages = error;
DROP OWNED BY regress_curator, regress_house, regress_member, regress_ann CASCADE;
DROP FOREIGN DATA WRAPPER regress_wrapper CASCADE;
DROP ROLE regress_curator, regress_ann, regress_house, regress_member, regress_outsider;
