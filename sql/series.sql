-- Series of reports: dp.create_series, dp.quote_series, dp.report, dp.end_series, dp.series.
CREATE EXTENSION pg_epsilon;
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
CREATE ROLE regress_bob;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET TimeZone = 'UTC';
SET DateStyle = 'ISO';
SET client_min_messages = warning;
\pset format unaligned
\pset tuples_only on
SET SESSION AUTHORIZATION regress_curator;
-- each row is in one period: the one that its raw time says; 3 rows are in none
CREATE TABLE visits (sex text, at timestamptz, day date, local timestamp, n int);
INSERT INTO visits SELECT CASE WHEN i % 3 = 0 THEN 'f' ELSE 'm' END, t, t::date, t::timestamp, i
  FROM (SELECT i, timestamptz '2020-01-01' + (i % 40) * interval '1 day' AS t FROM generate_series(0, 399) i) x;
INSERT INTO visits VALUES ('f', NULL, NULL, NULL, 1), ('f', 'infinity', 'infinity', 'infinity', 1), ('f', '-infinity', '-infinity', '-infinity', 1),
  ('f', '2019-12-31 23:59:59.999999', '2019-12-31', '2019-12-31 23:59:59.999999', 1);
SELECT dp.create_dataset('visits', 'visits', 100000);
SELECT dp.add_attribute('visits', 'sex', '{f,m}');
SELECT dp.add_attribute('visits', 'n', 0, 400, 4);
SELECT dp.grant_budget('visits', 'regress_ann', 40000);
SELECT dp.grant_budget('visits', 'regress_bob', 100);

-- Without a time there is no series
SET SESSION AUTHORIZATION regress_ann;
\set VERBOSITY sqlstate
SELECT dp.create_series('visits', 's', '{sex}', start => '2020-01-01', period => '10 days', periods => 4, rho => 1);
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.set_time('visits', 'at');

-- Totals, periods and windows are the counts of the rows so far
SET SESSION AUTHORIZATION regress_ann;
SELECT series_name, rho_charged, first_due, last_due FROM dp.create_series('visits', 'weekly', '{sex}', over => 'totals + periods + windows(2)',
  start => '2020-01-01', period => '10 days', periods => 4, rho => 1000);
SELECT report, starts, ends, over, query, label, round(estimate) FROM dp.report('weekly', 1);
SELECT series, stored, next_due FROM dp.series;
SELECT report, over, label, round(estimate) FROM dp.report('weekly') WHERE query = 1;
SELECT report, over, sum(round(estimate)) FROM dp.report('weekly') GROUP BY 1, 2 ORDER BY 1, 2;
SELECT series, dataset, role, attributes, workload, predicate, over, start, period, periods, rho, stored, next_due, ended FROM dp.series;
SELECT count(*) FROM dp.report('weekly') WHERE NOT (lower95 < estimate AND estimate < upper95 AND stderr < 0.1);
SELECT function, rho, count(*) FROM dp.charges GROUP BY 1, 2 ORDER BY 1;
SELECT request->>'kind', request->>'period', request->>'attempt', length(request->>'sha256') FROM dp.charges WHERE function = 'dp.report' ORDER BY charge LIMIT 4;

-- A number that was published stays what it is
CREATE TEMP TABLE kept AS SELECT * FROM dp.report('weekly');
SET SESSION AUTHORIZATION regress_curator;
DELETE FROM visits WHERE sex = 'f' AND n < 100;
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM (SELECT * FROM dp.report('weekly') EXCEPT SELECT * FROM kept) x;
BEGIN READ ONLY; SELECT count(*) FROM (SELECT * FROM dp.report('weekly', 2) INTERSECT SELECT * FROM kept) x; COMMIT;
SET SESSION AUTHORIZATION regress_curator;
INSERT INTO visits SELECT 'f', timestamptz '2020-01-01' + (i % 40) * interval '1 day', date '2020-01-01' + i % 40, timestamp '2020-01-01' + (i % 40) * interval '1 day', i
  FROM generate_series(0, 99, 3) i;
-- the owner reads what others paid for, and others do not
SELECT sum(round(estimate)) FROM dp.report('weekly', 4);
SET SESSION AUTHORIZATION regress_bob;
SELECT * FROM dp.report('weekly');
SELECT count(*) FROM dp.series;

-- A predicate, bins, dates, local times, months, history, an open end, the largest error
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM dp.create_series('visits', 'some', '{n}', predicate => 'sex = ''f''', over => 'windows(2)', start => '2020-01-01', period => '10 days',
  periods => 4, history => 2, rho => 1000);
SELECT report, label, round(estimate) FROM dp.report('some') WHERE query < 3;
SELECT count(*) FROM dp.create_series('visits', 'months', '{}', 'total', start => '2020-01-01', period => '1 month', periods => 3, objective => 'max', rho => 1000);
SELECT report, starts, ends, label, round(estimate) FROM dp.report('months');
SELECT count(*) FROM dp.create_series('visits', 'open', '{}', 'total', start => '2019-12-31', period => '1 day', periods => 40, open_ended => true, rho => 1000);
SELECT report, round(estimate)::int FROM dp.report('open') WHERE report IN (1, 2, 40);
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.set_time('visits', 'day', append_only => true);
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM dp.create_series('visits', 'dates', '{}', 'total', 'periods', start => '2020-01-31', period => '1 month', periods => 2, rho => 1000);
SELECT report, starts, ends, round(estimate)::int FROM dp.report('dates');
SELECT dp.create_series('visits', 'hours', '{}', 'total', start => '2020-01-31', period => '12 hours', periods => 2, rho => 1);
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.set_time('visits', 'local');
SET SESSION AUTHORIZATION regress_ann;
-- the zone is that of the creation: its days of 23 hours, too
SET TimeZone = 'Europe/Berlin';
SELECT first_due, last_due FROM dp.create_series('visits', 'zone', '{}', 'total', start => '2020-01-01', period => '1 month', periods => 4, grace => '2 hours', rho => 1000);
SET TimeZone = 'UTC';
SELECT report, starts, ends, round(estimate) FROM dp.report('zone');
SELECT count(*) FROM dp.create_series('visits', 'moved', '{}', 'total', start => '2020-01-01', period => '10 days', periods => 4, rho => 1);
-- the time was declared anew: what is stored is returned, and no more is measured
SELECT count(*) FROM dp.report('dates');
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.set_time('visits', 'at');
SET SESSION AUTHORIZATION regress_ann;
SELECT dp.report('moved');

-- Quotes are free, and say what is charged
SELECT rho_charged, round(stderr_first::numeric, 4), round(stderr_last::numeric, 4), stderr_worst = stderr_last, round(added_last::numeric, 4),
  round(split_last::numeric, 4), strategy, first_due, fits FROM dp.quote_series('visits', '{sex}', start => '2020-01-01', period => '7 days', periods => 52, rho => 0.5);
SELECT round(stderr_worst::numeric, 3), rho_charged < 1 FROM dp.quote_series('visits', '{sex}', start => '2020-01-01', period => '7 days', periods => 52, max_stderr => 3);
SELECT strategy, stderr_worst > stderr_first FROM dp.quote_series('visits', '{sex}', over => 'periods', start => '2020-01-01', period => '7 days', periods => 52, rho => 1);
SELECT strategy FROM dp.quote_series('visits', '{sex}', start => '2020-01-01', period => '7 days', periods => 2000, open_ended => true, rho => 1);
SELECT count(*) FROM dp.charges WHERE function = 'dp.quote_series';

-- Errors, with nothing charged
SELECT count(*) AS before FROM dp.charges \gset
SELECT dp.create_series('visits', 'weekly', '{sex}', start => '2020-01-01', period => '10 days', periods => 4, rho => 1);
SELECT dp.create_series('visits', '', '{sex}', start => '2020-01-01', period => '10 days', periods => 4, rho => 1);
SELECT dp.create_series('visits', repeat('s', 256), '{sex}', start => '2020-01-01', period => '10 days', periods => 4, rho => 1);
SELECT dp.create_series('visits', 's', '{sex}', period => '10 days', periods => 4, rho => 1);
SELECT dp.create_series('visits', 's', '{sex}', start => '2020-01-01', periods => 4, rho => 1);
SELECT dp.create_series('visits', 's', '{sex}', start => '2020-01-01', period => '10 days', rho => 1);
SELECT dp.create_series('visits', 's', '{sex}', start => '2020-01-01', period => '10 days', periods => 4);
SELECT dp.create_series('visits', 's', '{sex}', start => '2020-01-01', period => '10 days', periods => 0, rho => 1);
SELECT dp.create_series('visits', 's', '{sex}', start => '2020-01-01', period => '10 days', periods => 1025, rho => 1);
SELECT dp.create_series('visits', 's', '{sex}', start => '2020-01-01', period => '0', periods => 4, rho => 1);
SELECT dp.create_series('visits', 's', '{sex}', start => '2020-01-01', period => '-1 day', periods => 4, rho => 1);
SELECT dp.create_series('visits', 's', '{sex}', start => 'infinity', period => '1 day', periods => 4, rho => 1);
SELECT dp.create_series('visits', 's', '{sex}', start => '2020-01-01', period => '200000 years', periods => 4, rho => 1);
SELECT dp.create_series('visits', 's', '{sex}', start => '2020-01-01', period => '1 day', periods => 4, grace => '-1 hour', rho => 1);
SELECT dp.create_series('visits', 's', '{sex}', over => 'sums', start => '2020-01-01', period => '1 day', periods => 4, rho => 1);
SELECT dp.create_series('visits', 's', '{sex}', 'range', start => '2020-01-01', period => '1 day', periods => 4, rho => 1);
SELECT dp.create_series('visits', 's', '{none}', start => '2020-01-01', period => '1 day', periods => 4, rho => 1);
SELECT dp.create_series('visits', 's', '{sex}', start => '2020-01-01', period => '1 day', periods => 4, history => 0, rho => 1);
SELECT dp.create_series('visits', 's', '{sex}', start => '2020-01-01', period => '1 day', periods => 4, history => 2, open_ended => true, rho => 1);
SELECT dp.create_series('visits', 's', '{sex}', start => '2020-01-01', period => '1 day', periods => 4, history => 2, objective => 'max', rho => 1);
SELECT dp.create_series('visits', 's', '{sex}', start => '2020-01-01', period => '1 day', periods => 4, objective => 'least', rho => 1);
SELECT dp.create_series('visits', 's', '{sex,n}', start => '2020-01-01', period => '1 hour', periods => 1024, max_stderr => 1e-9);
SELECT dp.report('none');
SELECT dp.report('weekly', 0);
SELECT dp.report('weekly', 5);
SELECT dp.end_series('weekly');
SET SESSION AUTHORIZATION regress_bob;
SELECT dp.create_series('visits', 's', '{sex}', start => '2020-01-01', period => '10 days', periods => 4, rho => 1000);
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) = :before FROM dp.charges;
-- not due: it begins an hour ago
SELECT count(*) FROM dp.create_series('visits', 'soon', '{sex}', start => now() - interval '1 hour', period => '1 day', periods => 4, rho => 1);
SELECT count(*) FROM dp.report('soon');
SELECT dp.report('soon', 1);
-- over since an hour, and in grace
SELECT count(*) FROM dp.create_series('visits', 'grace', '{sex}', start => now() - interval '25 hours', period => '1 day', periods => 4, grace => '2 hours', rho => 1);
SELECT count(*) FROM dp.report('grace');

-- Three attempts are paid for; the fourth is charged what the period loses
SELECT count(*) FROM dp.create_series('visits', 'tried', '{sex}', over => 'periods', start => '2020-01-01', period => '10 days', periods => 4, rho => 1000);
RESET SESSION AUTHORIZATION;
INSERT INTO dp_ledger.series_period (series_id, period, attempts) SELECT id, 1, 3 FROM dp_ledger.series WHERE series = 'tried';
INSERT INTO dp_ledger.series_period (series_id, period, attempts) SELECT id, 2, 2 FROM dp_ledger.series WHERE series = 'tried';
-- the owner sees how often the next one was tried, and what could not be read; the payer does not
SET SESSION AUTHORIZATION regress_curator;
SELECT series, stored, next_attempts, unread FROM dp.series WHERE series IN ('tried', 'weekly', 'soon') ORDER BY 1;
SET SESSION AUTHORIZATION regress_ann;
SELECT DISTINCT next_attempts, unread FROM dp.series;
SELECT report, sum(round(estimate)) FROM dp.report('tried') GROUP BY 1 ORDER BY 1;
SELECT request->>'period', request->>'attempt', rho FROM dp.charges WHERE request->>'series' = 'tried' AND request->>'kind' = 'attempt' ORDER BY charge;
-- where it does not fit, it is refused
SELECT count(*) FROM dp.create_series('visits', 'poor', '{sex}', over => 'periods', start => '2020-01-01', period => '10 days', periods => 1, rho => 1000);
RESET SESSION AUTHORIZATION;
INSERT INTO dp_ledger.series_period (series_id, period, attempts) SELECT id, 1, 3 FROM dp_ledger.series WHERE series = 'poor';
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.revoke_budget('visits', 'regress_ann');
SET SESSION AUTHORIZATION regress_ann;
SELECT dp.report('poor');
-- and the three are still free, as are all that are stored
SELECT count(*) FROM dp.report('weekly');
RESET SESSION AUTHORIZATION;
UPDATE dp_ledger.series_period SET attempts = 2 WHERE series_id = (SELECT id FROM dp_ledger.series WHERE series = 'poor');
SET SESSION AUTHORIZATION regress_ann;
SELECT sum(round(estimate)) FROM dp.report('poor');

-- The ledger's check: what is stored is what the lines say
SET SESSION AUTHORIZATION regress_curator;
SELECT ok, message FROM dp.verify_ledger('visits');
RESET SESSION AUTHORIZATION;
\getenv here PG_ABS_SRCDIR
\set finding :here /test/regress/finding.sql
\i :finding
SELECT finding($$UPDATE dp_ledger.series_period p SET payload = (SELECT payload FROM dp_ledger.series_period o WHERE o.series_id = p.series_id AND o.period = 2) WHERE period = 1 AND series_id = 1$$);
SELECT finding($$UPDATE dp_ledger.series_period SET payload = NULL, charge_id = NULL, stored = NULL WHERE period = 4 AND series_id = 1$$);
SELECT finding($$DELETE FROM dp_ledger.series_period WHERE period = 4 AND series_id = 1$$);
SELECT finding($$UPDATE dp_ledger.series SET rho = rho + 1 WHERE id = 1$$);
SELECT finding($$UPDATE dp_ledger.series SET charge_id = 0 WHERE id = 1$$);
SELECT finding($$UPDATE dp_ledger.charge SET series_id = 2 WHERE series_id = 1 AND function = 'dp.create_series'$$);
SELECT finding($$UPDATE dp_ledger.series_period SET attempts = 2 WHERE period = 1 AND series_id = 1$$);
SELECT finding($$INSERT INTO dp_ledger.series_period (series_id, period, attempts) SELECT id, 3, 1 FROM dp_ledger.series WHERE series = 'soon'$$);
SELECT finding($$DELETE FROM dp_ledger.series_period WHERE payload IS NOT NULL AND series_id = 1$$);
SELECT finding($$DELETE FROM dp_ledger.series WHERE id = 1$$);
-- a series that was paid for is measured as it was paid for
GRANT regress_bob TO CURRENT_USER;
SELECT count(*) FROM dp.create_series('visits', 'changed', '{sex}', start => '2020-01-01', period => '10 days', periods => 4, rho => 1, budget => 'regress_bob');
UPDATE dp_ledger.series SET history = 2 WHERE series = 'changed';
SELECT dp.report('changed');
UPDATE dp_ledger.series SET history = 0, period = '9 days' WHERE series = 'changed';
SELECT dp.report('changed');
UPDATE dp_ledger.series SET period = '10 days', strategy = (SELECT strategy FROM dp_ledger.series WHERE series = 'tried') WHERE series = 'changed';
SELECT dp.report('changed');

-- where periods end was settled at the creation, whatever becomes of the rules of a zone
UPDATE dp_ledger.series SET strategy = (SELECT strategy FROM dp_ledger.series WHERE series = 'grace'), edges[2] = edges[2] - 3600000000 WHERE series = 'changed';
SELECT dp.report('changed');
UPDATE dp_ledger.series SET edges[2] = edges[2] + 3600000000 WHERE series = 'changed';
SELECT count(*) FROM dp.report('changed');
BEGIN;
UPDATE dp_ledger.series SET edges[2] = edges[2] - 3600000000 WHERE series = 'weekly';
-- what is stored is not told either
SET LOCAL SESSION AUTHORIZATION regress_ann;
SELECT dp.report('weekly');
ROLLBACK;

-- Ends: by the owner, by another version of the data, by a new registration
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.grant_budget('visits', 'regress_ann', 41000);
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM dp.create_series('visits', 'ended', '{sex}', start => '2020-01-01', period => '10 days', periods => 4, rho => 1);
SELECT count(*) FROM dp.report('ended', 1);
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.end_series('ended');
SELECT dp.end_series('ended');
SELECT act, subject FROM dp.acts WHERE act = 'end_series';
RESET SESSION AUTHORIZATION;
BEGIN;
UPDATE dp_ledger.series SET ended = NULL, ended_because = NULL WHERE series = 'ended';
SELECT message FROM dp.verify_ledger('visits');
ROLLBACK;
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM dp.report('ended', 1);
SELECT dp.report('ended', 2);
SELECT report, count(*) FROM dp.report('ended') GROUP BY 1;
SELECT ended IS NOT NULL, ended_because, next_due FROM dp.series WHERE series = 'ended';
SELECT count(*) FROM dp.create_series('visits', 'version', '{sex}', start => '2020-01-01', period => '10 days', periods => 4, rho => 1);
SELECT count(*) FROM dp.report('version', 1);
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.new_version('visits');
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM dp.report('version', 1);
SELECT dp.report('version', 2);
SELECT report, count(*) FROM dp.report('version') GROUP BY 1;
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.drop_dataset('visits');
SET SESSION AUTHORIZATION regress_ann;
SELECT dp.report('version', 1);
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.create_dataset('visits', 'visits', 100000);
SELECT dp.add_attribute('visits', 'sex', '{m,f}');
SET SESSION AUTHORIZATION regress_ann;
SELECT dp.report('version', 1);

-- Not served: units with rows in several periods, pure budgets, roles that change rows
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE people (person int, sex text, at timestamptz);
SELECT dp.create_dataset('people', 'people', 10, unit => 'person');
SELECT dp.add_attribute('people', 'sex', '{f,m}');
SELECT dp.set_time('people', 'at');
SELECT dp.grant_budget('people', 'regress_ann', 1);
CREATE TABLE pure (sex text, at timestamptz);
SELECT dp.create_dataset('pure', 'pure', 10);
SELECT dp.add_attribute('pure', 'sex', '{f,m}');
SELECT dp.set_time('pure', 'at');
SELECT dp.grant_budget('pure', 'regress_ann', 1, accounting => 'pure');
SELECT dp.grant_budget('pure', 'regress_bob', 1);
GRANT INSERT ON pure TO regress_bob;
SET SESSION AUTHORIZATION regress_ann;
SELECT dp.create_series('people', 's', '{sex}', start => '2020-01-01', period => '10 days', periods => 4, rho => 0.001);
SELECT dp.create_series('pure', 's', '{sex}', start => '2020-01-01', period => '10 days', periods => 4, epsilon => 0.001);
SET SESSION AUTHORIZATION regress_bob;
SELECT dp.create_series('pure', 's', '{sex}', start => '2020-01-01', period => '10 days', periods => 4, rho => 0.001);


-- A replaced row leaves one period and cell and comes to another: sqrt(2) times the error of one that is added; of one cell less
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE swapped (sex text, at timestamptz);
CREATE TABLE plain (sex text, at timestamptz);
INSERT INTO swapped SELECT CASE WHEN i < 7 THEN 'f' ELSE 'm' END, '2020-01-05' FROM generate_series(1, 10) i;
SELECT dp.create_dataset('swapped', 'swapped', 100000, neighbours => 'substitute');
SELECT dp.add_attribute('swapped', 'sex', '{f,m}');
SELECT dp.set_time('swapped', 'at');
SELECT dp.create_dataset('plain', 'plain', 10);
SELECT dp.add_attribute('plain', 'sex', '{f,m}');
SELECT dp.set_time('plain', 'at');
SELECT dp.grant_budget('plain', 'regress_ann', 5);
SELECT dp.grant_budget('swapped', 'regress_ann', 10000);
SET SESSION AUTHORIZATION regress_ann;
SELECT round((s.stderr_last / a.stderr_last)::numeric, 3) FROM dp.quote_series('swapped', '{sex}', start => '2020-01-01', period => '10 days', periods => 5, rho => 0.1) s,
  dp.quote_series('plain', '{sex}', start => '2020-01-01', period => '10 days', periods => 5, rho => 0.1) a;
SELECT workload, round((s.stderr_last / a.stderr_last)::numeric, 3) FROM unnest('{total,prefix}'::text[]) workload, dp.quote_series('swapped', '{sex}', workload, start => '2020-01-01', period => '10 days', periods => 5, rho => 0.1) s,
  dp.quote_series('plain', '{sex}', workload, start => '2020-01-01', period => '10 days', periods => 5, rho => 0.1) a;
SELECT s.aggregate, round((s.stderr_last / a.stderr_last)::numeric, 3) FROM dp.quote_series('swapped', '{sex}', start => '2020-01-01', period => '10 days', periods => 5, rho => 0.1, aggregates => '{count(*)}') s,
  dp.quote_series('plain', '{sex}', start => '2020-01-01', period => '10 days', periods => 5, rho => 0.1, aggregates => '{count(*)}') a;
SELECT (dp.create_series('swapped', 'swapped', '{sex}', start => '2020-01-01', period => '10 days', periods => 2, rho => 1000)).rho_charged;
SELECT report, label, round(estimate) FROM dp.report('swapped') WHERE query = 1;

-- The time is one more attribute of each scan: more than can be read are refused before they are paid
SET SESSION AUTHORIZATION regress_curator;
DO $$ BEGIN EXECUTE 'CREATE TABLE wide (at timestamptz, ' || (SELECT string_agg('a' || i || ' int', ', ') FROM generate_series(1, 32) i) || ')'; END $$;
SELECT dp.create_dataset('wide', 'wide', 100000);
SELECT count(dp.add_attribute('wide', ('a' || i)::name, 0, 2, 1)) FROM generate_series(1, 32) i;
SELECT dp.set_time('wide', 'at');
SELECT dp.grant_budget('wide', 'regress_ann', 1000);
SET SESSION AUTHORIZATION regress_ann;
SELECT dp.create_series('wide', 'wide', array_agg('a' || i), 'total', start => '2020-01-01', period => '10 days', periods => 1, rho => 1) FROM generate_series(1, 32) i;
SELECT count(*) FROM dp.charges WHERE dataset = 'wide';
SELECT (dp.create_series('wide', 'wide', array_agg('a' || i), 'total', start => '2020-01-01', period => '10 days', periods => 1, rho => 1)).series_name FROM generate_series(1, 31) i;
SELECT count(*) FROM dp.report('wide');

-- What was stored and is lost or changed is damage: nothing is drawn in its place, and nothing is charged
RESET SESSION AUTHORIZATION;
CREATE FUNCTION told() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RETURN (SELECT count(*) FROM dp.report('swapped'));
EXCEPTION WHEN OTHERS THEN
    RETURN sqlstate || ': ' || sqlerrm;
END $$;
CREATE TEMP TABLE lines AS SELECT count(*) AS n FROM dp_ledger.charge;
DELETE FROM dp_ledger.series_period WHERE period = 2 AND series_id = (SELECT id FROM dp_ledger.series WHERE series = 'swapped');
SELECT told();
SELECT count(*) = (SELECT n FROM lines) AS nothing_charged FROM dp_ledger.charge;
UPDATE dp_ledger.series_period SET payload = set_byte(payload, 7, get_byte(payload, 7) # 1) WHERE period = 1 AND series_id = (SELECT id FROM dp_ledger.series WHERE series = 'swapped');
SELECT told();
SELECT ok, message FROM dp.verify_ledger('swapped');
DROP FUNCTION told();

-- what a type is called does not follow search_path
CREATE SCHEMA odd AUTHORIZATION regress_curator;
GRANT USAGE ON SCHEMA odd TO PUBLIC;
SET SESSION AUTHORIZATION regress_curator;
CREATE DOMAIN odd.date AS text;
CREATE TYPE odd.mood AS ENUM ('good', 'bad');
SET search_path = odd, pg_catalog, public;
CREATE TABLE days (day pg_catalog.date, mood mood, at date);
INSERT INTO days SELECT pg_catalog.date '2020-01-01' + i % 20, 'good' FROM generate_series(0, 99) i;
SELECT dp.create_dataset('days', 'odd.days', 1e5, block => '1 day', block_column => 'day');
SELECT dp.add_attribute('days', 'mood', '{good,bad}');
RESET search_path;
SELECT dp.set_time('days', 'day');
SET search_path = odd, pg_catalog, public;
SELECT dp.set_time('days', 'day');
SELECT dp.grant_budget('days', 'regress_ann', 9e4);
SET SESSION AUTHORIZATION regress_ann;
SELECT round(estimate) FROM dp.report((SELECT series_name FROM dp.create_series('days', 'by day', '{mood}', start => '2020-01-01', period => '10 days', periods => 2, rho => 1000))) WHERE query = 1;
RESET search_path;
SELECT round(estimate) FROM dp.report((SELECT series_name FROM dp.create_series('days', 'by another', '{mood}', start => '2020-01-01', period => '10 days', periods => 2, rho => 1000))) WHERE query = 1;
RESET SESSION AUTHORIZATION;
SELECT DISTINCT time_type FROM dp_ledger.series s WHERE series ~ '^by';
DROP EXTENSION pg_epsilon;
DROP FUNCTION finding;
DROP OWNED BY regress_curator, regress_ann, regress_bob;
DROP ROLE regress_curator, regress_ann, regress_bob;
