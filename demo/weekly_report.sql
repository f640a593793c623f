-- A report that renews itself every week, with pg_cron.  Run by psql as a superuser, in the
-- database that cron.database_name names, where dataset residents of the README is:
--
--   psql -f demo/weekly_report.sql
--
-- postgresql.conf before that: shared_preload_libraries = 'pg_cron', cron.use_background_workers = on
-- (else pg_cron connects by itself, and needs a way in without a password for each role).

\set ON_ERROR_STOP on
-- minute, hour, day, month, day of the week: psql -v data_at=... -v report_at=... chooses others
\if :{?data_at} \else \set data_at '0 5 * * 1' \endif
\if :{?report_at} \else \set report_at '0 6 * * 1' \endif

CREATE EXTENSION IF NOT EXISTS pg_cron;
GRANT USAGE ON SCHEMA cron TO curator, analyst;
CREATE SCHEMA IF NOT EXISTS reports AUTHORIZATION analyst;

-- The owner says once a week that the data changed.  Each new version of the report is paid for, so
-- her cap and the analyst's budget say for how many weeks that goes.
SET ROLE curator;
SELECT cron.schedule('new data', :'data_at', $$SELECT dp.new_version('residents')$$);

-- The analyst's job pays once for each version; run again, it replays and costs nothing.  Whoever may
-- read the table, views on it included, reads the old report until the new one is complete.
SET ROLE analyst;
SELECT cron.schedule('weekly report', :'report_at',
    $$SELECT dp.publish(max(release), 'reports.residents_by_age', replace => true)
        FROM dp.histogram('residents', '{age,sex}', epsilon => 0.1)$$);
RESET ROLE;
