-- dp.acts: what owners did, to be seen by them alone; each act once, with its old and new value.
CREATE EXTENSION pg_epsilon;
CREATE ROLE regress_curator;
CREATE ROLE regress_keeper;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator, regress_keeper;
SET client_min_messages = warning;
\pset format unaligned
\pset tuples_only on
\set show 'SELECT role, dataset, act, subject, old_value, new_value, reason FROM dp.acts;'
SET SESSION AUTHORIZATION regress_keeper;
CREATE TABLE k (b boolean);
SELECT dp.create_dataset('kept', 'k', 1, accounting => 'pure');
SELECT dp.grant_budget('kept', 'regress_ann', 1, accounting => 'pure');
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE t (b boolean, n int, s text);
SELECT dp.create_dataset('d', 't', 2, unit => 'n', max_rows => 3);
SELECT dp.add_attribute('d', 'b');
SELECT dp.add_attribute('d', 's', '{x,"y\""}', outside => 'other', nulls => 'cell');
SELECT dp.add_edges('d', 'n', (SELECT array_agg(i) FROM generate_series(1, 1000) i), last => 'open');
SELECT dp.grant_budget('d', 'regress_ann', 0.5);
SELECT dp.grant_budget('d', 'regress_ann', 1, 1e-10);
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM dp.histogram('d', 'b', rho => 0.001);
SELECT count(*) FROM dp.histogram('d', 'b', rho => 0.002);
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.expire_release(1);
SELECT dp.new_version('d');
SELECT dp.revoke_budget('d', 'regress_ann');
-- what is refused is no act
SELECT dp.revoke_budget('d', 'regress_keeper');
SELECT dp.add_attribute('d', 'b');
SELECT dp.grant_budget('d', 'regress_ann', 1e-5);
SELECT dp.expire_release(1);
-- another cap, by registering anew
SELECT dp.drop_dataset('d');
SELECT dp.create_dataset('e', 't', 4, unit => 'n', max_rows => 3);
:show
SELECT bool_and(at BETWEEN now() - interval '10 minutes' AND now() + interval '10 minutes') FROM dp.acts;
SELECT ok, charges, first_bad, message FROM dp.verify_ledger('e');

-- Owners see the acts on their own datasets, others none; the table is closed
SET SESSION AUTHORIZATION regress_keeper;
:show
SET SESSION AUTHORIZATION regress_ann;
:show
SELECT count(*) FROM dp_ledger.act;
SET client_min_messages = notice;
CREATE FUNCTION pg_temp.leak(x anyelement) RETURNS boolean LANGUAGE plpgsql COST 1e-10 AS $$ BEGIN RAISE NOTICE 'seen: %', x; RETURN true; END $$;
SELECT count(*) FROM dp.acts WHERE pg_temp.leak(new_value);
SET client_min_messages = warning;

-- A ledger that was written elsewhere: to attest is an act with a reason
RESET SESSION AUTHORIZATION;
UPDATE dp_ledger.dataset SET identity = '1/1/1/1' WHERE dataset = 'e';
SET SESSION AUTHORIZATION regress_curator;
SELECT dataset, charges FROM dp.attest('restored after a fire');
SELECT role, dataset, act, old_value, new_value - 'identity' AS new_value, reason FROM dp.acts WHERE act = 'attest';
SELECT dp.grant_budget('e', 'regress_ann', 1.5);
SELECT act FROM dp.acts OFFSET 11;
SELECT ok, charges, first_bad, message FROM dp.verify_ledger('e');

RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon;
DROP TABLE t, k;
DROP OWNED BY regress_curator, regress_keeper, regress_ann;
DROP ROLE regress_curator, regress_keeper, regress_ann;
