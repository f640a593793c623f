-- dp.set_time(..., enforce => true): triggers of the owner's refuse to touch rows of periods that are over.
CREATE EXTENSION pg_epsilon;
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
CREATE ROLE regress_app;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET TimeZone = 'UTC';
SET DateStyle = 'ISO';
SET client_min_messages = warning;
\pset format unaligned
\pset tuples_only on
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE stays (guest int, at timestamp, PRIMARY KEY (guest, at));
CREATE TABLE days (guest int, at date) PARTITION BY RANGE (at);
CREATE TABLE days_of_january PARTITION OF days FOR VALUES FROM ('2020-01-01') TO ('2020-02-01');
CREATE TABLE days_since (at date, guest int);
ALTER TABLE days ATTACH PARTITION days_since DEFAULT;
INSERT INTO stays SELECT i, timestamp '2020-01-01' + i * interval '1 day' FROM generate_series(0, 59) i;
INSERT INTO days SELECT i, date '2020-01-01' + i FROM generate_series(0, 59) i;
SELECT dp.create_dataset(d, d, 100, unit => 'guest', max_rows => 1) FROM unnest('{stays,days}'::text[]) d;
SELECT dp.grant_budget(d, 'regress_ann', 50) FROM unnest('{stays,days}'::text[]) d;
GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON stays, days TO regress_app;
\set VERBOSITY terse

-- Only what it can hold
SELECT dp.set_time('stays', 'at', enforce => true);
SELECT dp.set_time('stays', 'at', append_only => true, enforce => NULL);
SELECT dp.set_time('stays', 'at', append_only => true, enforce => true);
SELECT dp.set_time('days', 'at', append_only => true, enforce => true);
SELECT tgname, tgfoid::regproc, tgenabled FROM pg_trigger WHERE tgrelid = 'stays'::regclass ORDER BY 1;
SELECT regexp_replace(d, '^ *', '') FROM dp.describe('stays') d WHERE d ~ 'periods that are over';

-- Nothing is held without a series
SET SESSION AUTHORIZATION regress_app;
UPDATE stays SET at = at + interval '1 hour' WHERE guest = 0;
INSERT INTO stays VALUES (60, '2020-01-15');
DELETE FROM stays WHERE guest = 60;

-- The 30 days of a series that are over
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM unnest('{stays,days}'::text[]) d, dp.create_series(d, 's of ' || d, '{}', 'total', start => '2020-01-01', period => '10 days', periods => 3, max_periods => 1, rho => 0.01);
SET SESSION AUTHORIZATION regress_app;
UPDATE stays SET guest = 100 WHERE guest = 5;
UPDATE stays SET at = '2020-01-05' WHERE guest = 40;
UPDATE stays SET at = '2020-03-05' WHERE guest = 5;
DELETE FROM stays WHERE guest = 29;
INSERT INTO stays VALUES (61, '2020-01-30 23:59:59.999999');
INSERT INTO stays VALUES (5, '2020-01-06') ON CONFLICT DO NOTHING;
TRUNCATE stays;
UPDATE days SET guest = 100 WHERE guest = 5;
UPDATE days SET at = '2020-01-05' WHERE guest = 40;
DELETE FROM days WHERE guest = 5;
INSERT INTO days VALUES (61, '2020-01-01');
TRUNCATE days;
\copy days FROM stdin
62	2020-01-02
\.
-- before them, behind them, and without a time
INSERT INTO stays VALUES (61, '2020-01-31'), (62, '2019-12-31'), (63, 'infinity'), (64, '-infinity');
UPDATE stays SET at = '2020-02-03' WHERE guest = 61;
DELETE FROM stays WHERE guest > 60 OR guest = 30;
INSERT INTO days VALUES (61, NULL), (62, '2020-01-31'), (63, '2019-12-31');
DELETE FROM days WHERE guest > 60;
SELECT count(*) FROM stays;
SELECT count(*) FROM days;

-- Whoever owns the table says what is held: a series that has ended holds nothing
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.end_series('s of stays');
DELETE FROM stays WHERE guest = 5;
ALTER TABLE days DISABLE TRIGGER pg_epsilon_time;
SELECT regexp_replace(d, '^ *', '') FROM dp.describe('days') d WHERE d ~ 'periods that are over';
DELETE FROM days WHERE guest = 5;
SELECT dp.set_time('days', 'at', append_only => true);
SELECT count(*) FROM pg_trigger WHERE tgrelid = 'days'::regclass;
DELETE FROM days WHERE guest = 6;
-- another table may call the function, and holds nothing
CREATE TABLE other (at date);
CREATE TRIGGER t BEFORE INSERT ON other FOR EACH ROW EXECUTE FUNCTION dp_internal.hold_time('days');
INSERT INTO other VALUES ('2020-01-05');
CREATE TRIGGER u AFTER INSERT ON other FOR EACH ROW EXECUTE FUNCTION dp_internal.hold_time('days');
INSERT INTO other VALUES ('2020-01-05');
DROP TRIGGER u ON other;
CREATE TRIGGER u BEFORE INSERT ON other FOR EACH ROW EXECUTE FUNCTION dp_internal.hold_time();
INSERT INTO other VALUES ('2020-01-05');

RESET SESSION AUTHORIZATION;
DROP OWNED BY regress_ann, regress_curator, regress_app;
DROP EXTENSION pg_epsilon;
DROP ROLE regress_curator, regress_ann, regress_app;
