-- NaN counts as NULL: a test that is true for it in PostgreSQL leaves its rows out, and a NOTICE says so.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator;
\pset tuples_only on

SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE readings AS SELECT CASE WHEN i % 10 = 0 THEN 'NaN'::float8 ELSE i % 50 END AS f, (i % 50)::real AS r, i % 50 AS n
    FROM generate_series(1, 1000) i;
SELECT dp.create_dataset('d', 'readings', 1e5);
SELECT dp.add_attribute('d', 'f', 0, 50, bins => 50, last => 'open');
SELECT dp.add_attribute('d', 'r', 0, 50, bins => 50, last => 'open');
SELECT dp.add_attribute('d', 'n', 0, 50, bins => 50, last => 'open');
SELECT dp.grant_budget('d', 'regress_ann', 5e4);
SELECT dp.expose('d', 'readings_dp', epsilon => 1000);
GRANT SELECT ON readings_dp TO regress_ann;

SET SESSION AUTHORIZATION regress_ann;
\set ask 'SELECT count(*) FROM readings_dp WHERE'
:ask f >= 10;
:ask f IS NOT NULL;
:ask NOT r < 10;
SELECT count(*) FILTER (WHERE f >= 40), count(*) FILTER (WHERE f >= 30) FROM readings_dp;
-- None where NaN is left out anyway, and none of whole numbers
:ask f < 10;
:ask f >= 10 AND f < 20;
:ask f >= 10 AND n >= 10 AND f < 30;
:ask n >= 10;
SELECT count(*) FILTER (WHERE f >= 10) FROM readings_dp WHERE f < 20;

-- A test of nothing but NaN; of numeric where it names NaN; NULL with a cell of its own, in which NaN is counted
:ask f = 'NaN';
:ask f > 1000;
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE others AS SELECT f, f::numeric AS m FROM readings;
SELECT dp.create_dataset('o', 'others', 1e5);
SELECT dp.add_attribute('o', 'f', 0, 50, bins => 50, last => 'open', nulls => 'cell'), dp.add_attribute('o', 'm', 0, 50, bins => 50, last => 'open');
SELECT dp.grant_budget('o', 'regress_ann', 5e4);
SELECT dp.expose('o', 'others_dp', epsilon => 1000);
GRANT SELECT ON others_dp TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
\set ask 'SELECT count(*) FROM others_dp WHERE'
:ask f IS NULL;
:ask f IS NOT NULL;
:ask f IS NULL OR f >= 40;
:ask m = 'NaN';
:ask m >= 40;

RESET SESSION AUTHORIZATION;
DROP OWNED BY regress_curator, regress_ann;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused;
DROP ROLE regress_curator, regress_ann;
