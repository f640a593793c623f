-- dp.set_time: the column that says when a row arrived.
CREATE EXTENSION pg_epsilon;
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator;
\pset format unaligned
\pset tuples_only on
\set VERBOSITY verbose
\set SHOW_CONTEXT never
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE visits (day date, at timestamp, seen timestamptz, n int, patient date, virtual date);
SELECT dp.create_dataset('visits', 'visits', 4, unit => 'patient', max_rows => 1);
SELECT dp.set_time('visits', 'day', append_only => true);
SELECT line FROM dp.describe('visits') line WHERE line ~ '^time|periods';
SELECT dp.set_time('visits', 'seen');
SELECT line FROM dp.describe('visits') line WHERE line ~ '^time|periods';
SELECT act, old_value, new_value FROM dp.acts WHERE act = 'set_time';
SELECT ok FROM dp.verify_ledger('visits');
-- what cannot be a time
\set VERBOSITY sqlstate
SELECT dp.set_time('visits', 'n');
SELECT dp.set_time('visits', 'patient');
SELECT dp.set_time('visits', 'none');
SELECT dp.set_time('visits', NULL);
SELECT dp.set_time('visits', 'at', NULL);
SELECT dp.set_time('none', 'at');
CREATE TABLE prices (day date, price int);
SELECT dp.create_dataset('prices', 'prices', 4, neighbours => 'values', private_column => 'price', max_change => 1);
SELECT dp.set_time('prices', 'day');
SET SESSION AUTHORIZATION regress_ann;
SELECT dp.set_time('visits', 'at');
-- a new registration has to declare it anew
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.drop_dataset('visits');
SELECT dp.create_dataset('visits', 'visits', 4, unit => 'patient', max_rows => 1);
SELECT count(*) FROM dp.describe('visits') line WHERE line ~ '^time';
RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon;
DROP OWNED BY regress_curator, regress_ann;
DROP ROLE regress_curator, regress_ann;
