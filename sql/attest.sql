-- A ledger checked line by line, and a freeze lifted: who may, for which table, and what is kept.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_other;
CREATE ROLE regress_ann;
CREATE ROLE regress_bob;
GRANT CREATE ON SCHEMA public TO regress_curator, regress_other;
SET client_min_messages = warning;

SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE t (b boolean, age int);
INSERT INTO t VALUES (true, 1), (false, 2);
SELECT dp.create_dataset('d', 't', 10);
SELECT dp.add_attribute('d', 'b');
SELECT dp.add_attribute('d', 'age', 0, 10, 2);
SELECT dp.grant_budget('d', 'regress_ann', 4);
SELECT dp.grant_budget('d', 'regress_bob', 4);
SELECT * FROM dp.verify_ledger('d');
SELECT * FROM dp.attest('nothing is frozen');
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM dp.histogram('d', 'b', rho => 0.001);
SELECT count(*) FROM dp.histogram('d', 'age', rho => 0.002);
SET SESSION AUTHORIZATION regress_bob;
SELECT count(*) FROM dp.histogram('d', 'b', rho => 0.001);
SET SESSION AUTHORIZATION regress_curator;
SELECT * FROM dp.verify_ledger('d');
\t on

-- Only the owner checks; nobody attests what is not his
SELECT refused($$SELECT * FROM dp.verify_ledger('nothing')$$);
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT * FROM dp.verify_ledger('d')$$);
SELECT refused($$SELECT * FROM dp.attest('I say so')$$);
SET SESSION AUTHORIZATION regress_curator;
SELECT refused($$SELECT * FROM dp.attest('')$$);
SELECT refused($$SELECT * FROM dp.attest(E' \n')$$);
SELECT count(*) FROM dp.attest(NULL);
SELECT count(*) FROM dp.verify_ledger(NULL);

-- Every column of a charge, and everything that is summed, is checked.  The message names the first bad one.
RESET SESSION AUTHORIZATION;
CREATE FUNCTION finding(change text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE change;
    SELECT CASE WHEN ok THEN 'not found' ELSE coalesce(first_bad::text, '-') || ': ' || message END INTO result FROM dp.verify_ledger('d');
    RAISE EXCEPTION USING MESSAGE = result, ERRCODE = 'UE001';
EXCEPTION WHEN SQLSTATE 'UE001' THEN
    RETURN result;
END $$;
SELECT column_name, finding(format('UPDATE dp_ledger.charge SET %I = %s WHERE seq = 2', column_name,
         CASE WHEN column_name = 'hash' THEN $$decode('00', 'hex')$$ WHEN data_type = 'boolean' THEN 'true' WHEN data_type = 'ARRAY' THEN quote_literal('{77}') WHEN data_type = 'text' THEN quote_literal('{"x": 1}') ELSE '77' END))
  FROM information_schema.columns WHERE table_schema = 'dp_ledger' AND table_name = 'charge' AND column_name <> 'format' ORDER BY ordinal_position;
SELECT refused($$SELECT finding('UPDATE dp_ledger.charge SET format = 77 WHERE seq = 2')$$);
SELECT finding('UPDATE dp_ledger.charge SET rho = rho - 1 WHERE seq = 1');
SELECT finding('UPDATE dp_ledger.charge SET hash = hash || hash WHERE seq = 1');
SELECT finding('DELETE FROM dp_ledger.charge WHERE seq = 1');
SELECT finding('DELETE FROM dp_ledger.charge WHERE seq = 2');
SELECT finding('DELETE FROM dp_ledger.charge WHERE seq = 3');
SELECT finding('DELETE FROM dp_ledger.charge');
SELECT finding('INSERT INTO dp_ledger.charge SELECT id + 100, dataset_id, 4, dataset, at, role_name, budget_id, budget_role, function, rho, delta, '
               'epsilon, cap_rho, cap_delta, cap_epsilon, relations, request, release_id, strategy_id, other_strategies, series_id, block_from, block_to, other_times, format, hash FROM dp_ledger.charge WHERE seq = 3');
SELECT finding($$UPDATE dp_ledger.dataset SET chain_head = decode(repeat('00', 32), 'hex')$$);
SELECT finding('UPDATE dp_ledger.dataset SET charges = 2');
SELECT finding('UPDATE dp_ledger.dataset SET charges = 5');
SELECT finding('UPDATE dp_ledger.dataset SET rho_spent = rho_spent - 1');
SELECT finding('UPDATE dp_ledger.dataset SET delta_spent = 1');
SELECT finding('UPDATE dp_ledger.dataset SET epsilon_spent = 1');
SELECT finding($$UPDATE dp_ledger.budget SET rho_spent = 0 WHERE role_name = 'regress_bob'$$);
SELECT finding($$UPDATE dp_ledger.budget SET delta_spent = 1 WHERE role_name = 'regress_bob'$$);
SELECT finding($$DELETE FROM dp_ledger.budget WHERE role_name = 'regress_bob'$$);

-- What a restore into another cluster looks like
UPDATE dp_ledger.dataset SET identity = '1/1/1/1';
SET SESSION AUTHORIZATION regress_curator;
SELECT frozen FROM dp.datasets;
SELECT ok FROM dp.verify_ledger('d');
SELECT * FROM dp.describe('d') LIMIT 2;
SELECT refused($$SELECT dp.create_dataset('anew', 't', 20)$$);
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT * FROM dp.histogram('d', 'b', rho => 0.004)$$);
SELECT refused($$SELECT * FROM dp.attest('I say so')$$);
SET SESSION AUTHORIZATION regress_other;
SELECT refused($$SELECT * FROM dp.attest('I say so')$$);
-- another's dataset is no reason
CREATE TABLE mine (x int);
SELECT dp.create_dataset('mine', 'mine', 1);
SELECT count(*) FROM dp.attest('I say so');
SELECT frozen FROM dp.datasets WHERE dataset = 'd';

-- Another table in its place
CREATE VIEW shadow AS SELECT true AS b, 1 AS age;
SET SESSION AUTHORIZATION regress_curator;
ALTER TABLE t RENAME TO old;
SELECT refused($$SELECT * FROM dp.attest('gone')$$);
CREATE VIEW t AS SELECT true AS b, 1 AS age;
SELECT refused($$SELECT * FROM dp.attest('a view')$$);
DROP VIEW t;
SET SESSION AUTHORIZATION regress_other;
CREATE TABLE t (b boolean, age int);
GRANT SELECT ON t TO regress_curator;
SET SESSION AUTHORIZATION regress_curator;
SELECT refused($$SELECT * FROM dp.attest('the table of another')$$);
SET SESSION AUTHORIZATION regress_other;
DROP TABLE t;
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE t (b boolean, age bigint);
SELECT refused($$SELECT * FROM dp.attest('another type')$$);
DROP TABLE t;
CREATE TABLE t (b boolean);
SELECT refused($$SELECT * FROM dp.attest('no such column')$$);
DROP TABLE t;
CREATE TABLE t (b boolean, age int);
ALTER TABLE t ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
SELECT refused($$SELECT * FROM dp.attest('row security')$$);
DROP TABLE t;
-- one that is part of another dataset
CREATE TABLE whole (b boolean, age int) PARTITION BY LIST (b);
SELECT dp.create_dataset('whole', 'whole', 1);
CREATE TABLE t PARTITION OF whole FOR VALUES IN (true);
SELECT refused($$SELECT * FROM dp.attest('a partition')$$);
SELECT dp.drop_dataset('whole');
DROP TABLE whole;
SELECT frozen FROM dp.datasets WHERE dataset = 'd';
-- written here, for a table that has another name now
RESET SESSION AUTHORIZATION;
BEGIN;
UPDATE dp_ledger.dataset SET identity = regexp_replace((SELECT identity FROM dp_ledger.dataset WHERE dataset = 'mine'), '/\d+/(\d+)/\d+', '/77/\1/' || 'old'::regclass::oid)
 WHERE dataset = 'd';
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE t (b boolean, age int);
SELECT refused($$SELECT * FROM dp.attest('renamed')$$);
RESET SESSION AUTHORIZATION;
ROLLBACK;

-- The owner attests.  Nothing is given back, what was paid is answered, the line says who and why.
SET SESSION AUTHORIZATION regress_curator;
ALTER TABLE old RENAME TO t;
BEGIN READ ONLY;
SELECT refused($$SELECT * FROM dp.attest('read only')$$);
ROLLBACK;
\t off
SELECT * FROM dp.attest('restored from the dump of Sunday, nothing was asked since');
SELECT dataset, frozen FROM dp.datasets ORDER BY 1;
SELECT * FROM dp.verify_ledger('d');
SELECT role, dataset, function, rho, request->>'reason' AS reason, request->>'before' AS before, request->'finding' AS finding
  FROM dp.charges WHERE function LIKE 'dp.attest%';
SELECT role, rho_spent FROM dp.budgets WHERE dataset = 'd' ORDER BY role;
SELECT * FROM dp.attest('again');
SET SESSION AUTHORIZATION regress_ann;
SELECT replay FROM dp.quote('d', 'b', rho => 0.001);
SELECT count(*) FROM dp.charges;
SELECT count(*) FROM dp.histogram('d', 'b', rho => 0.004);
SET SESSION AUTHORIZATION regress_curator;
SELECT * FROM dp.verify_ledger('d');
\t on
-- in one transaction with a request: COMMIT first
RESET SESSION AUTHORIZATION;
UPDATE dp_ledger.dataset SET identity = '1/1/1/1' WHERE dataset = 'd';
SELECT dp.grant_budget('d', 'regress_curator', 1);
SET SESSION AUTHORIZATION regress_curator;
BEGIN;
SELECT count(*) FROM dp.attest('undone');
SELECT refused($$SELECT * FROM dp.histogram('d', 'b', rho => 0.005)$$);
ROLLBACK;
SELECT frozen FROM dp.datasets WHERE dataset = 'd';

-- Roles that are missing: their budgets stay, and cannot be used before the owner grants again
RESET SESSION AUTHORIZATION;
ALTER ROLE regress_bob RENAME TO regress_rob;
SET client_min_messages = notice;
SET SESSION AUTHORIZATION regress_curator;
SELECT count(*) FROM dp.attest('a role is missing');
SET client_min_messages = warning;
SELECT role, rho_spent FROM dp.budgets WHERE dataset = 'd' ORDER BY role;
SET SESSION AUTHORIZATION regress_rob;
SELECT refused($$SELECT * FROM dp.histogram('d', 'b', rho => 0.001)$$);
RESET SESSION AUTHORIZATION;
CREATE ROLE regress_bob;
SET SESSION AUTHORIZATION regress_bob;
SELECT refused($$SELECT * FROM dp.histogram('d', 'b', rho => 0.001)$$);
SELECT count(*) FROM dp.charges;
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.grant_budget('d', 'regress_bob', 4);
SELECT role, rho_spent FROM dp.budgets WHERE dataset = 'd' ORDER BY role;

-- One that was unregistered goes along; without its table it is passed over
CREATE TABLE former (b boolean);
SELECT dp.create_dataset('former', 'former', 5);
SELECT dp.drop_dataset('former');
RESET SESSION AUTHORIZATION;
UPDATE dp_ledger.dataset SET identity = '1/1/1/1' WHERE dataset = 'former';
SET SESSION AUTHORIZATION regress_curator;
SELECT refused($$SELECT dp.create_dataset('former', 'former', 5)$$);
ALTER TABLE former RENAME TO away;
SET client_min_messages = notice;
SELECT count(*) FROM dp.attest('without its table');
ALTER TABLE away RENAME TO former;
SELECT dataset, relation, message FROM dp.attest('with its table');
SET client_min_messages = warning;
SELECT dp.create_dataset('former', 'former', 5);

-- The column of the unit is one of those declared
CREATE TABLE visits (person int, b boolean);
SELECT dp.create_dataset('visits', 'visits', 5, unit => 'person', max_rows => 2);
SELECT dp.add_attribute('visits', 'b');
SELECT dp.grant_budget('visits', 'regress_ann', 2);
RESET SESSION AUTHORIZATION;
UPDATE dp_ledger.dataset SET identity = '1/1/1/1' WHERE dataset = 'visits';
SET SESSION AUTHORIZATION regress_curator;
ALTER TABLE visits RENAME person TO someone;
SELECT refused($$SELECT * FROM dp.attest('another unit')$$);
ALTER TABLE visits RENAME someone TO person;
SELECT dataset, message FROM dp.attest('its unit');
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM dp.histogram('visits', 'b', rho => 0.001);
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.drop_dataset('visits');

-- A table that was replaced by one of its name, as a restore over itself does
CREATE TABLE replaced (b boolean);
SELECT dp.create_dataset('replaced', 'replaced', 5);
DROP TABLE replaced;
CREATE TABLE replaced (b boolean);
SELECT refused($$SELECT dp.create_dataset('anew', 'replaced', 5)$$);
SELECT dataset, relation, message FROM dp.attest('the same rows');
SELECT dp.drop_dataset('replaced');

-- A broken chain: a superuser alone, what is spent is the more of the two, and the sums agree again
RESET SESSION AUTHORIZATION;
SELECT role_name, b.rho_spent, b.rho_limit FROM dp_ledger.budget b JOIN dp_ledger.dataset d ON d.id = b.dataset_id WHERE d.dataset = 'd' ORDER BY 1;
SELECT rho_spent FROM dp_ledger.dataset WHERE dataset = 'd';
UPDATE dp_ledger.charge SET rho = 0, cap_rho = 0 WHERE seq = 2 AND dataset = 'd';
DELETE FROM dp_ledger.charge WHERE seq = 3 AND dataset = 'd';
UPDATE dp_ledger.charge SET rho = 3000000000, cap_rho = 900000000 WHERE seq = 1 AND dataset = 'd';
UPDATE dp_ledger.budget SET rho_spent = rho_spent + 5 WHERE role_name = 'regress_curator';
SET SESSION AUTHORIZATION regress_curator;
SELECT ok, first_bad, message FROM dp.verify_ledger('d');
SELECT refused($$SELECT * FROM dp.attest('never mind')$$);
RESET SESSION AUTHORIZATION;
SELECT dataset, message FROM dp.attest('a bad disk');
SELECT role_name, b.rho_spent, b.rho_limit >= b.rho_spent AS within FROM dp_ledger.budget b JOIN dp_ledger.dataset d ON d.id = b.dataset_id WHERE d.dataset = 'd' ORDER BY 1;
SELECT rho_spent, rho_limit >= rho_spent FROM dp_ledger.dataset WHERE dataset = 'd';
SELECT * FROM dp.verify_ledger('d');
SELECT seq, function, budget_role, rho, delta, epsilon, cap_rho, request::jsonb->>'finding' FROM dp_ledger.charge WHERE dataset = 'd' AND function LIKE 'dp.attest%' ORDER BY seq;
-- what was wrong is known; what is changed from now on is found, before and after
SELECT finding('UPDATE dp_ledger.charge SET rho = 1 WHERE seq = 1');
SELECT finding('UPDATE dp_ledger.charge SET rho = 1 WHERE seq = (SELECT max(seq) FROM dp_ledger.charge)');
SELECT finding('DELETE FROM dp_ledger.charge WHERE seq = 2');
SET SESSION AUTHORIZATION regress_bob;
SELECT count(*) FROM dp.histogram('d', 'b', rho => 0.002);
SET SESSION AUTHORIZATION regress_curator;
SELECT ok FROM dp.verify_ledger('d');

RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon;
DROP FUNCTION refused, finding;
SET client_min_messages = error;
DROP OWNED BY regress_curator, regress_other, regress_ann, regress_bob, regress_rob CASCADE;
DROP ROLE regress_curator, regress_other, regress_ann, regress_bob, regress_rob;
