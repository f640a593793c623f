-- Plain SELECT: a setting that is mistyped before the library is loaded stays an error until it is set anew.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
SELECT current_user AS super \gset
CREATE ROLE regress_curator;
CREATE ROLE regress_ann LOGIN;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE t AS SELECT (ARRAY['F', 'M'])[1 + i % 2] AS a FROM generate_series(1, 1000) i;
SELECT dp.create_dataset('t', 't', epsilon => 1e5), dp.add_attribute('t', 'a', '{F,M}'), dp.grant_budget('t', 'regress_ann', epsilon => 1e5);
SELECT dp.expose('t', 'v', epsilon => 1000);
GRANT SELECT ON v TO regress_ann;

-- In a new session nothing is known of the setting yet.
\c - regress_ann
SET client_min_messages = warning;
SET pg_epsilon.epsilon = '0,01';
SELECT count(*) FROM v;
SHOW pg_epsilon.epsilon;
EXPLAIN (COSTS OFF) SELECT count(*) FROM v;
SELECT max(a) FROM v;
SELECT count(*) FROM dp.charges;
-- a price of one transaction is one for it alone
BEGIN;
SET LOCAL pg_epsilon.epsilon = 1000;
SELECT count(*) FROM v;
COMMIT;
SELECT count(*) FROM v;
-- from now on it is refused where it is set
SET pg_epsilon.epsilon = '0,02';
SET pg_epsilon.epsilon = 1001;
SET pg_epsilon.epsilon = 'NaN';
SET pg_epsilon.epsilon = -1;
SELECT count(*) FROM v;
SET pg_epsilon.epsilon = 1000;
SELECT count(*) FROM v;

-- RESET, too, sets it anew, and so does a pool.
\c - regress_ann
SET client_min_messages = warning;
SET pg_epsilon.epsilon = '0,01';
SELECT count(*) FROM v;
DISCARD ALL;
SET client_min_messages = warning;
SELECT count(*) FROM v;

-- The others.
\c - regress_ann
SET client_min_messages = warning;
SET pg_epsilon.max_stderr = '1 000';
SELECT count(*) FROM v;
SET pg_epsilon.max_stderr = 0;
SELECT count(*) FROM v;
\c - regress_ann
SET client_min_messages = warning;
SET pg_epsilon.hide_below = 'two';
SELECT count(*) FROM v;
SET pg_epsilon.hide_below = 2;
SELECT count(*) FROM v;
\c - regress_ann
SET client_min_messages = warning;
SET pg_epsilon.cut_bins = 'midle';
SELECT count(*) FROM v;
SET pg_epsilon.cut_bins = 'midle';
SET pg_epsilon.cut_bins = 'Middle';
SELECT count(*) FROM v;

-- What is kept for a role before the library is loaded, and what a client asks for as it connects.
\c - :super
ALTER ROLE regress_ann SET pg_epsilon.epsilon = '0,01';
\c - regress_ann
SET client_min_messages = warning;
SELECT count(*) FROM v;
RESET pg_epsilon.epsilon;
SELECT count(*) FROM v;
ALTER ROLE regress_ann SET pg_epsilon.epsilon = '0,02';
ALTER ROLE regress_ann RESET pg_epsilon.epsilon;
SET pg_epsilon.epsilon = 1000;
SELECT count(*) FROM v;
\c -reuse-previous=on "user=regress_ann options='-c pg_epsilon.epsilon=0,01'"
SET client_min_messages = warning;
SELECT count(*) FROM v;

-- A parallel worker begins with what its session has.
\c -reuse-previous=on "user=regress_ann options=''"
SET client_min_messages = warning;
SET pg_epsilon.epsilon = '0,01';
SELECT count(*) FROM v;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT count(*) > 0 AS answered FROM pg_catalog.pg_class;

\c - :super
SET client_min_messages = error;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused;
DROP OWNED BY regress_curator, regress_ann CASCADE;
DROP ROLE regress_curator, regress_ann;
