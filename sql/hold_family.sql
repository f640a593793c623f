-- dp.set_time(..., enforce => true): the triggers are on every table of the dataset, or no series is measured.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = error;
\pset tuples_only on

SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE days (guest int, at date) PARTITION BY RANGE (at);
CREATE TABLE days_1 PARTITION OF days FOR VALUES FROM ('2020-01-01') TO ('2020-01-11');
CREATE TABLE stays (guest int, at date);
INSERT INTO days SELECT i, date '2020-01-01' + i FROM generate_series(0, 9) i;
INSERT INTO stays SELECT i, date '2020-01-01' + i FROM generate_series(0, 29) i;
SELECT dp.create_dataset(d, d, 1e5, unit => 'guest') FROM unnest('{days,stays}'::text[]) d;
SELECT dp.grant_budget(d, 'regress_ann', 5e4) FROM unnest('{days,stays}'::text[]) d;
SELECT dp.set_time(d, 'at', append_only => true, enforce => true) FROM unnest('{days,stays}'::text[]) d;
SELECT tgrelid::regclass, tgname, tgenabled FROM pg_trigger WHERE tgname ~ 'pg_epsilon' ORDER BY 1, 2;
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM unnest('{days,stays}'::text[]) d, dp.create_series(d, 's of ' || d, '{}', 'total', start => '2020-01-01', period => '10 days', periods => 3, max_periods => 1, rho => 1000);
SELECT round(sum(estimate)) FROM dp.report('s of days', 1);
SELECT round(sum(estimate)) FROM dp.report('s of stays', 1);

-- A partition that comes later has the trigger for rows, and none for TRUNCATE
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE days_2 PARTITION OF days FOR VALUES FROM ('2020-01-11') TO ('2020-01-21');
SELECT refused('INSERT INTO days_1 VALUES (1, ''2020-01-02'')');
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT * FROM dp.report('s of days', 2)$$);
SELECT refused($$SELECT * FROM dp.create_series('days', 'next', '{}', 'total', start => '2020-01-01', period => '10 days', periods => 3, max_periods => 1, rho => 1)$$);
SELECT round(sum(estimate)) FROM dp.report('s of days', 1);
SELECT count(*) FROM dp.charges WHERE dataset = 'days' AND rho > 0;
SET SESSION AUTHORIZATION regress_curator;
SELECT regexp_replace(d, '^ *', '') FROM dp.describe('days') d WHERE d ~ 'periods that are over';
SELECT dp.disclosure('days') -> 'time';
SELECT dp.set_time('days', 'at', append_only => true, enforce => true);
SELECT regexp_replace(d, '^ *', '') FROM dp.describe('days') d WHERE d ~ 'periods that are over';
SELECT refused('TRUNCATE days_2');
SELECT refused('TRUNCATE days_1');
SET SESSION AUTHORIZATION regress_ann;
SELECT round(sum(estimate)) FROM dp.report('s of days', 2);

-- A child that comes later, or a table that becomes one, has neither
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE late (ward int) INHERITS (stays);
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT * FROM dp.report('s of stays', 2)$$);
SET SESSION AUTHORIZATION regress_curator;
ALTER TABLE late NO INHERIT stays;
SET SESSION AUTHORIZATION regress_ann;
SELECT round(sum(estimate)) FROM dp.report('s of stays', 2);
SET SESSION AUTHORIZATION regress_curator;
ALTER TABLE late INHERIT stays;
SELECT dp.set_time('stays', 'at', append_only => true, enforce => true);
SELECT refused('INSERT INTO late VALUES (1, ''2020-01-02'')');
SELECT refused('TRUNCATE late');
SELECT tgrelid::regclass, tgname FROM pg_trigger WHERE tgrelid = 'late'::regclass ORDER BY 2;

-- A trigger that does not fire, that fires for some rows or for other datasets
CREATE FUNCTION report() RETURNS text LANGUAGE sql AS $$SELECT refused('SELECT * FROM dp.report(''s of stays'', 3)')$$;
ALTER TABLE late DISABLE TRIGGER pg_epsilon_time;
SET SESSION AUTHORIZATION regress_ann;
SELECT report();
SET SESSION AUTHORIZATION regress_curator;
ALTER TABLE late ENABLE ALWAYS TRIGGER pg_epsilon_time;
ALTER TABLE stays DISABLE TRIGGER ALL;
SET SESSION AUTHORIZATION regress_ann;
SELECT report();
SET SESSION AUTHORIZATION regress_curator;
ALTER TABLE stays ENABLE TRIGGER ALL;
SET SESSION AUTHORIZATION regress_ann;
-- not for rows that are replicated
SELECT report();
SET SESSION AUTHORIZATION regress_curator;
DROP TRIGGER pg_epsilon_time ON stays;
CREATE TRIGGER pg_epsilon_time BEFORE INSERT OR UPDATE OR DELETE ON stays FOR EACH ROW WHEN (pg_trigger_depth() > 9) EXECUTE FUNCTION dp_internal.hold_time('stays');
ALTER TABLE stays ENABLE ALWAYS TRIGGER pg_epsilon_time, ENABLE ALWAYS TRIGGER pg_epsilon_time_truncate;
SET SESSION AUTHORIZATION regress_ann;
SELECT report();
SET SESSION AUTHORIZATION regress_curator;
DROP TRIGGER pg_epsilon_time ON stays;
CREATE TRIGGER pg_epsilon_time BEFORE INSERT OR UPDATE OF guest OR DELETE ON stays FOR EACH ROW EXECUTE FUNCTION dp_internal.hold_time('stays');
ALTER TABLE stays ENABLE ALWAYS TRIGGER pg_epsilon_time;
SET SESSION AUTHORIZATION regress_ann;
SELECT report();
SET SESSION AUTHORIZATION regress_curator;
DROP TRIGGER pg_epsilon_time ON stays;
CREATE TRIGGER pg_epsilon_time BEFORE INSERT OR UPDATE OR DELETE ON stays FOR EACH ROW EXECUTE FUNCTION dp_internal.hold_time('days');
ALTER TABLE stays ENABLE ALWAYS TRIGGER pg_epsilon_time;
SET SESSION AUTHORIZATION regress_ann;
SELECT report();
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.set_time('stays', 'at', append_only => true, enforce => true);
SET SESSION AUTHORIZATION regress_ann;
SELECT report();
SELECT round(sum(estimate)) FROM dp.report('s of stays', 3);

-- Replicated rows come late as others do
RESET SESSION AUTHORIZATION;
SET session_replication_role = replica;
SELECT refused('INSERT INTO stays VALUES (1, ''2020-01-02'')');
SELECT refused('TRUNCATE days_1');
RESET session_replication_role;
-- and a renamed time is held as before
SET SESSION AUTHORIZATION regress_curator;
ALTER TABLE stays ADD seen date;
ALTER TABLE stays RENAME at TO was;
ALTER TABLE stays RENAME seen TO at;
SELECT refused('INSERT INTO stays VALUES (1, ''2020-01-02'')');
SELECT refused('INSERT INTO late VALUES (1, ''2020-01-02'')');
ALTER TABLE stays RENAME at TO seen;
ALTER TABLE stays RENAME was TO at;

-- The owner's word instead
SELECT dp.set_time('stays', 'at', append_only => true);
SELECT count(*) FROM pg_trigger WHERE tgname ~ 'pg_epsilon' AND tgrelid IN ('stays'::regclass, 'late'::regclass);
SELECT regexp_replace(d, '^ *', '') FROM dp.describe('stays') d WHERE d ~ 'periods that are over';

-- What no trigger can hold: a time that is computed when triggers have seen the row, and rows that are elsewhere
CREATE TABLE moments (at timestamp, day date GENERATED ALWAYS AS (at::date) STORED);
SELECT dp.create_dataset('moments', 'moments', 10);
SELECT refused($$SELECT dp.set_time('moments', 'day', append_only => true, enforce => true)$$);
SELECT dp.set_time('moments', 'day', append_only => true);
RESET SESSION AUTHORIZATION;
CREATE FOREIGN DATA WRAPPER regress_nowhere;
CREATE SERVER regress_nowhere FOREIGN DATA WRAPPER regress_nowhere;
CREATE FOREIGN TABLE elsewhere (guest int, at date) SERVER regress_nowhere;
ALTER TABLE days ATTACH PARTITION elsewhere DEFAULT;
ALTER FOREIGN TABLE elsewhere OWNER TO regress_curator;
SET SESSION AUTHORIZATION regress_curator;
SELECT refused($$SELECT dp.set_time('days', 'at', append_only => true, enforce => true)$$);

RESET SESSION AUTHORIZATION;
DROP FOREIGN TABLE elsewhere;
DROP FOREIGN DATA WRAPPER regress_nowhere CASCADE;
DROP OWNED BY regress_curator, regress_ann;
DROP EXTENSION pg_epsilon;
DROP FUNCTION refused;
DROP ROLE regress_curator, regress_ann;
