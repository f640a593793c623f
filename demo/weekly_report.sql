-- A report that goes on: each week the counts of all rows so far, paid once for a year, in a table that grows by
-- itself.  Run by psql as a superuser, in the database that cron.database_name names:
--
--   psql -f demo/weekly_report.sql
--
-- Roles curator and analyst and curator's schema study are those of the README.  postgresql.conf before that:
-- shared_preload_libraries = 'pg_cron', cron.use_background_workers = on (else pg_cron connects by itself, and needs
-- a way in without a password for each role).

\set ON_ERROR_STOP on
-- minute, hour, day, month, day of the week; psql -v report_at=... -v start=... -v period=... chooses others
\if :{?report_at} \else \set report_at '0 6 * * 1' \endif
\if :{?period} \else \set period '7 days' \endif
\if :{?start} \else SELECT date_trunc('week', now()) AS start \gset
\endif

CREATE EXTENSION IF NOT EXISTS pg_cron;
GRANT USAGE ON SCHEMA cron TO analyst;
CREATE SCHEMA IF NOT EXISTS reports AUTHORIZATION analyst;

-- The owner: a table whose rows keep coming.  Column arrived is filled on insert and never changed, which
-- dp.set_time declares.  New rows need no dp.new_version.
SET ROLE curator;
CREATE TABLE study.visits (arrived timestamptz NOT NULL DEFAULT now(), sex text);
SELECT dp.create_dataset('visits', 'study.visits', epsilon => 4);
SELECT dp.add_attribute('visits', 'sex', '{F,M}');
SELECT dp.set_time('visits', 'arrived');
SELECT dp.grant_budget('visits', 'analyst', epsilon => 1);

-- The analyst pays once, for 52 reports.
SET ROLE analyst;
SELECT * FROM dp.create_series('visits', 'visits by week', '{sex}', start => :'start', period => :'period', periods => 52, epsilon => 1);

-- The job adds what is due to the table.  It costs nothing, run late, twice, or not for ten weeks.
SELECT cron.schedule('weekly report', :'report_at', $$SELECT dp.publish_series('visits by week', 'reports.visits_by_week')$$);
RESET ROLE;
