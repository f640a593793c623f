-- Plain SELECT: a foreign table stands for one dataset, and not for another one that is called the same later.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_stranger;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator, regress_stranger;
GRANT USAGE ON FOREIGN SERVER dp TO regress_curator;
CREATE SCHEMA imported AUTHORIZATION regress_curator;
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE t AS SELECT (ARRAY['F', 'M'])[1 + i % 2] AS sex FROM generate_series(1, 1000) i;
SELECT dp.create_dataset('people', 't', epsilon => 1e5), dp.add_attribute('people', 'sex', '{F,M}'), dp.grant_budget('people', 'regress_ann', epsilon => 1e4);
SELECT dp.expose('people', 'v', epsilon => 1000);

GRANT USAGE ON SCHEMA imported TO regress_ann;
IMPORT FOREIGN SCHEMA dp FROM SERVER dp INTO imported;
CREATE FOREIGN TABLE by_hand (sex text) SERVER dp OPTIONS (dataset 'people', epsilon '1000');
GRANT SELECT ON v, imported.people, by_hand TO regress_ann;
SELECT c.relname, count(*) FILTER (WHERE option_name = 'dataset_id') AS ids, max(length(option_value)) FILTER (WHERE option_name = 'dataset_id') AS length
  FROM pg_foreign_table f JOIN pg_class c ON c.oid = ftrelid, pg_options_to_table(ftoptions) GROUP BY c.relname ORDER BY c.relname COLLATE "C";
SET SESSION AUTHORIZATION regress_ann;
SELECT sex, count(*) FROM v GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM by_hand;

-- The same relation registered again goes on in its ledger, and is the same dataset.
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.drop_dataset('people');
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM v WHERE sex = 'F';
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.create_dataset('people', 't', epsilon => 1e5), dp.add_attribute('people', 'sex', '{F,M}');
SELECT dp.grant_budget('people', 'regress_ann', epsilon => 1e5);
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM v WHERE sex = 'F';

-- A stranger's dataset of the name does not answer the curator's view.
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.drop_dataset('people');
SET SESSION AUTHORIZATION regress_stranger;
CREATE TABLE other AS SELECT 'F' AS sex FROM generate_series(1, 10) i;
SELECT dp.create_dataset('people', 'other', epsilon => 1e5), dp.add_attribute('people', 'sex', '{F,M}'), dp.grant_budget('people', 'regress_ann', epsilon => 1e5);
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM dp.charges \gset before_
SELECT refused('SELECT count(*) FROM v');
SELECT refused('SELECT max(sex) FROM v');
EXPLAIN (COSTS OFF) SELECT sex, count(*) FROM v GROUP BY 1;
SET pg_epsilon.epsilon = 1000;
SELECT refused('SELECT count(*) FROM imported.people');
RESET pg_epsilon.epsilon;
SELECT count(*) - :before_count AS charged FROM dp.charges;
-- a table that somebody makes by hand goes by the name alone
SELECT count(*) FROM by_hand;

RESET SESSION AUTHORIZATION;
SET client_min_messages = error;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused;
DROP OWNED BY regress_curator, regress_stranger, regress_ann CASCADE;
DROP ROLE regress_curator, regress_stranger, regress_ann;
