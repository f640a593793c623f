-- Everybody sees the declarations, his own budgets, charges and releases; an owner all of his datasets.
CREATE EXTENSION pg_epsilon;
CREATE ROLE regress_curator;
CREATE ROLE regress_keeper;
CREATE ROLE regress_ann;
CREATE ROLE regress_bob;
CREATE ROLE regress_team;
CREATE ROLE regress_cy IN ROLE regress_team;
CREATE ROLE regress_nobody;
GRANT CREATE ON SCHEMA public TO regress_curator, regress_keeper, regress_nobody;
SET client_min_messages = warning;
\pset format unaligned
\pset footer off
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE t (b boolean);
SELECT dp.create_dataset('curated', 't', 10);
SELECT dp.add_attribute('curated', 'b');
SELECT dp.grant_budget('curated', 'regress_ann', 1), dp.grant_budget('curated', 'regress_bob', 2), dp.grant_budget('curated', 'regress_team', 3);
SET SESSION AUTHORIZATION regress_keeper;
CREATE TABLE k (b boolean);
SELECT dp.create_dataset('kept', 'k', 10);
SELECT dp.add_attribute('kept', 'b');
SELECT dp.grant_budget('kept', 'regress_ann', 4);
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM dp.histogram('curated', 'b', rho => 0.001);
SELECT count(*) FROM dp.histogram('kept', 'b', rho => 0.002);
SET SESSION AUTHORIZATION regress_bob;
SELECT count(*) FROM dp.histogram('curated', 'b', rho => 0.003);
-- bob pays for ann's answer as well
SELECT count(*) FROM dp.histogram('curated', 'b', rho => 0.001);
SET SESSION AUTHORIZATION regress_cy;
SELECT count(*) FROM dp.histogram('curated', 'b', rho => 0.005);
RESET SESSION AUTHORIZATION;

-- columns
SELECT a.attrelid::regclass AS view, string_agg(a.attname || ' ' || a.atttypid::regtype, ', ' ORDER BY a.attnum) AS columns
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
 WHERE c.relnamespace = 'dp'::regnamespace AND c.relkind = 'v' AND a.attnum > 0
 GROUP BY a.attrelid ORDER BY 1;

\set show 'SELECT dataset, role, epsilon, rho_spent FROM dp.budgets ORDER BY dataset, role; SELECT charge, role, dataset, function, rho, delta, epsilon, release FROM dp.charges ORDER BY charge; SELECT release, charge, dataset, version, attributes, workload, queries FROM dp.releases ORDER BY release;'
SET SESSION AUTHORIZATION regress_ann;
:show
SET SESSION AUTHORIZATION regress_bob;
:show
SET SESSION AUTHORIZATION regress_cy;
:show
SET SESSION AUTHORIZATION regress_nobody;
:show
SELECT dataset FROM dp.datasets ORDER BY 1;
SELECT dataset, attribute FROM dp.attributes ORDER BY 1;
SET SESSION AUTHORIZATION regress_curator;
:show
SET SESSION AUTHORIZATION regress_keeper;
:show

-- Rows of others do not pass by a function that leaks, however cheap it claims to be
SET SESSION AUTHORIZATION regress_nobody;
SET client_min_messages = notice;
CREATE FUNCTION leak(x anyelement) RETURNS boolean LANGUAGE plpgsql COST 1e-10 AS $$ BEGIN RAISE NOTICE 'seen: %', x; RETURN true; END $$;
SELECT count(*) FROM dp.budgets WHERE leak(role);
SELECT count(*) FROM dp.budgets b WHERE leak(b.*::text);
SELECT count(*) FROM dp.charges WHERE leak(role);
SELECT count(*) FROM dp.charges WHERE leak(request);
SELECT count(*) FROM dp.releases WHERE leak(workload);
SELECT count(*) FROM dp.releases r JOIN dp.charges c ON leak(c.charge);
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM dp.budgets WHERE leak(role);
SELECT count(*) FROM dp.charges WHERE leak(role || rho);
SELECT count(*) FROM dp.releases WHERE leak(charge);
SET client_min_messages = warning;

-- What a role may not do: write a view, read a table, name another's secrets
SET SESSION AUTHORIZATION regress_ann;
\set VERBOSITY sqlstate
UPDATE dp.budgets SET epsilon = 100;
DELETE FROM dp.charges;
INSERT INTO dp.releases DEFAULT VALUES;
SELECT * FROM dp_ledger.dataset;
SELECT * FROM dp_ledger.attribute;
SELECT * FROM dp_ledger.budget;
SELECT * FROM dp_ledger.charge;
SELECT * FROM dp_ledger.release;
SELECT unit_key FROM dp_ledger.dataset;
UPDATE dp_ledger.budget SET rho_spent = 0;
TRUNCATE dp_ledger.charge;
CREATE TRIGGER x BEFORE INSERT ON dp_ledger.charge FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger();
ALTER TABLE dp_ledger.budget DISABLE TRIGGER ALL;
DROP TABLE dp_ledger.charge;
BEGIN;
LOCK TABLE dp_ledger.budget IN ACCESS SHARE MODE;
ROLLBACK;
SELECT last_value FROM dp_ledger.charge_id_seq;
-- the owner of a dataset likewise
SET SESSION AUTHORIZATION regress_curator;
SELECT * FROM dp_ledger.charge;
UPDATE dp_ledger.budget SET rho_spent = 0;
\set VERBOSITY default

-- A role that is renamed keeps its budget; one that is dropped and made anew gets nothing by its name
RESET SESSION AUTHORIZATION;
ALTER ROLE regress_bob RENAME TO regress_rob;
SET SESSION AUTHORIZATION regress_rob;
SELECT count(*) FROM dp.budgets;
SELECT count(*) FROM dp.histogram('curated', 'b', rho => 0.003);
RESET SESSION AUTHORIZATION;
DROP ROLE regress_rob;
CREATE ROLE regress_bob;
SET SESSION AUTHORIZATION regress_bob;
SELECT count(*) FROM dp.budgets;
SELECT count(*) FROM dp.charges;
SELECT count(*) FROM dp.histogram('curated', 'b', rho => 0.003);
-- granted to the new one, the row of the name goes on: what was spent stays spent
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.grant_budget('curated', 'regress_bob', 2);
SET SESSION AUTHORIZATION regress_bob;
SELECT rho_spent FROM dp.budgets;

-- The table goes to another owner, and with it what an owner sees
RESET SESSION AUTHORIZATION;
ALTER TABLE t OWNER TO regress_keeper;
SET SESSION AUTHORIZATION regress_curator;
SELECT count(*) FROM dp.budgets;
SELECT count(*) FROM dp.charges;
SET SESSION AUTHORIZATION regress_keeper;
SELECT dataset, count(*) FROM dp.budgets GROUP BY dataset ORDER BY dataset;
SELECT dp.grant_budget('curated', 'regress_ann', 1.5);

RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon;
DROP OWNED BY regress_curator, regress_keeper, regress_nobody;
DROP ROLE regress_curator, regress_keeper, regress_ann, regress_bob, regress_team, regress_cy, regress_nobody;
