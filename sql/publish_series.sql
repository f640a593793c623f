-- dp.publish_series: a table that grows by the reports that are due.  Budgets are so large that noise rounds to nothing.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
SET TimeZone = 'UTC';
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
CREATE ROLE regress_bob;
GRANT CREATE ON SCHEMA public TO regress_curator, regress_ann, regress_bob;
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE visits (sex text, at timestamptz, n int, report int);
INSERT INTO visits SELECT CASE WHEN i % 3 = 0 THEN 'f' ELSE 'm' END, timestamptz '2020-01-01' + (i % 40) * interval '1 day', i % 100, i % 2 FROM generate_series(0, 3999) i;
SELECT dp.create_dataset('visits', 'visits', 100000);
SELECT dp.add_attribute('visits', 'sex', '{f,m}');
SELECT dp.add_attribute('visits', 'n', 0, 100, 2);
SELECT dp.add_attribute('visits', 'report', '{0,1}');
SELECT dp.set_time('visits', 'at', append_only => true);
SELECT dp.grant_budget('visits', 'regress_ann', 40000);
SELECT dp.grant_budget('visits', 'regress_bob', 100);
SET SESSION AUTHORIZATION regress_ann;

-- Columns: which report and query a row is, then the attributes, then what was measured
SELECT count(*) FROM dp.create_series('visits', 'weekly', '{sex}', over => 'totals + periods', start => '2020-01-01', period => '10 days', periods => 4, rho => 1000);
SELECT dp.publish_series('weekly', 'by_week');
SELECT string_agg(quote_ident(attname) || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attnum) FROM pg_attribute
  WHERE attrelid = 'by_week'::regclass AND attnum > 0 AND NOT attisdropped;
SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'by_week'::regclass AND contype = 'p';
SELECT pg_get_userbyid(relowner) AS owner, relkind, obj_description(oid) FROM pg_class WHERE oid = 'by_week'::regclass;
SELECT report, starts, ends, over, query, sex, round(estimate) AS estimate FROM by_week ORDER BY 1, 4, 5;
-- the numbers of dp.report
SELECT count(*) FROM by_week p JOIN dp.report('weekly') r USING (report, starts, ends, over, query, estimate, stderr, lower95, upper95) WHERE r.label->>'sex' = p.sex;
-- again: nothing is there to add, nothing is charged, and nothing changes
SELECT count(*) AS charges FROM dp.charges \gset
CREATE TEMP TABLE kept AS TABLE by_week;
SELECT dp.publish_series('weekly', 'by_week');
SELECT count(*) FROM (TABLE by_week EXCEPT TABLE kept) x;
-- a report of which all rows are gone is added again, from what is stored; one of which a row is there is not
DELETE FROM by_week WHERE report IN (2, 4) OR (report = 3 AND query = 1);
SELECT dp.publish_series('weekly', 'by_week');
SELECT report, count(*) FROM by_week GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM (TABLE by_week EXCEPT TABLE kept) x;
DELETE FROM by_week WHERE report = 3;
SELECT dp.publish_series('weekly', 'by_week');
SELECT count(*) FROM (TABLE kept EXCEPT TABLE by_week) x;
SELECT count(*) = :charges AS nothing_charged FROM dp.charges;
-- views, privileges and indexes stay
CREATE VIEW on_it AS SELECT * FROM by_week;
CREATE INDEX ON by_week (sex);
GRANT SELECT ON by_week TO regress_bob;
DELETE FROM by_week WHERE report = 1;
SELECT dp.publish_series('weekly', 'by_week');
SELECT count(*), has_table_privilege('regress_bob', 'by_week', 'SELECT') FROM on_it;

-- A table grows when a period has passed, and not before
SELECT count(*) FROM dp.create_series('visits', 'seconds', '{}', 'total', start => now(), period => '1 second', periods => 50, rho => 100);
SELECT dp.publish_series('seconds', 'by_second') AS rows \gset
SELECT count(*) = :rows AS all_added, count(*) < 50 AS some_to_come FROM by_second;
SELECT pg_sleep(1.1);
SELECT dp.publish_series('seconds', 'by_second') >= 1 AS grown;
SELECT count(*) >= :rows + 1 AS grown, max(report) = count(*) AS in_order, max(ends) < now() AS due FROM by_second;
-- an empty table where nothing is due
SELECT count(*) FROM dp.create_series('visits', 'later', '{sex}', start => '2999-01-01', period => '1 day', periods => 3, rho => 1);
SELECT dp.publish_series('later', 'by_day');
SELECT dp.publish_series('later', 'by_day');
SELECT count(*) FROM by_day;

-- Other kinds of columns; names that are taken get a number; a predicate
SELECT count(*) FROM dp.create_series('visits', 'wide', '{n,report}', 'identity + identity(report)', predicate => 'sex = ''f''', start => '2020-01-01', period => '20 days', periods => 2, rho => 1000);
SELECT dp.publish_series('wide', 'wide');
SELECT report, query, n_from, n_to, n_cell, report_2, round(estimate) AS estimate FROM wide ORDER BY 1, 2;
SELECT obj_description('wide'::regclass);
SELECT dp.publish_series('wide', 'pg_temp.wide');

-- All or nothing: after ROLLBACK the table is as it was, and what was measured is stored
SELECT count(*) FROM dp.create_series('visits', 'undone', '{sex}', start => '2020-01-01', period => '10 days', periods => 4, rho => 1000);
BEGIN;
SELECT dp.publish_series('undone', 'undone');
ROLLBACK;
SELECT to_regclass('undone'), stored FROM dp.series WHERE series = 'undone';
SELECT count(*) AS charges FROM dp.charges \gset
SELECT dp.publish_series('undone', 'undone');
SELECT count(*) = :charges AS nothing_measured FROM dp.charges;

-- Refused: what dp.publish_series did not make for this series and this role, and what runs something
SELECT refused($$SELECT dp.publish_series('undone', 'by_week')$$);
CREATE TABLE own (report int);
SELECT refused($$SELECT dp.publish_series('weekly', 'own')$$);
SELECT dp.publish(max(release), 'released') FROM dp.histogram('visits', '{sex}', rho => 1);
SELECT refused($$SELECT dp.publish_series('weekly', 'released')$$);
SELECT refused($$SELECT dp.publish_series('weekly', 'no_schema.x')$$);
SELECT refused($$SELECT dp.publish_series('none', 'x')$$);
SELECT refused($$SELECT dp.publish_series('weekly', NULL)$$);
SELECT refused($$SELECT dp.publish_series(NULL, 'x')$$);
BEGIN READ ONLY;
SELECT refused($$SELECT dp.publish_series('weekly', 'x')$$);
ROLLBACK;
CREATE FUNCTION ran() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'ran'; RETURN NEW; END $$;
CREATE TRIGGER ran BEFORE INSERT ON by_week FOR EACH ROW EXECUTE FUNCTION ran();
DELETE FROM by_week WHERE report = 1;
SELECT refused($$SELECT dp.publish_series('weekly', 'by_week')$$);
DROP TRIGGER ran ON by_week;
SELECT refused($$SELECT dp.publish_series('weekly', 'by_week')$$);
ALTER TABLE undone ADD more int;
SELECT refused($$SELECT dp.publish_series('undone', 'undone')$$);
SET SESSION AUTHORIZATION regress_bob;
SELECT refused($$SELECT dp.publish_series('weekly', 'bobs')$$);
SET SESSION AUTHORIZATION regress_curator;
-- the owner of the dataset reads the series, and has a table of their own
SELECT refused($$SELECT dp.publish_series('weekly', 'by_week')$$);
SELECT dp.publish_series('weekly', 'owners');
-- a name that dp.publish is asked to replace
SET SESSION AUTHORIZATION regress_ann;
SELECT dp.publish(max(release), 'by_day', replace => true) FROM dp.releases;
SELECT refused($$SELECT dp.publish_series('later', 'by_day')$$);

-- A series that ended is published up to its end; then a run says so
SELECT count(*) FROM dp.create_series('visits', 'ended', '{sex}', start => '2020-01-01', period => '10 days', periods => 4, rho => 1);
SELECT count(*) FROM dp.report('ended', 2);
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.end_series('ended');
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT dp.publish_series('ended', 'ended')$$);
SELECT refused($$SELECT dp.publish_series('ended', 'ended')$$);
SELECT max(report) FROM ended;

RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon;
DROP FUNCTION refused;
DROP OWNED BY regress_curator, regress_ann, regress_bob CASCADE;
DROP ROLE regress_curator, regress_ann, regress_bob;
