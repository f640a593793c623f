-- Bins of days, weeks and months: dp.add_attribute(..., step => '1 month').
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET TimeZone = 'Europe/Berlin';
SET DateStyle = 'ISO';
\pset tuples_only on

SET SESSION AUTHORIZATION regress_curator;
CREATE DOMAIN day AS date;
CREATE TABLE sales (d date, dom day, ts timestamp, tz timestamptz, n int, t text);
INSERT INTO sales SELECT date '2024-01-01' + i, date '2024-01-01' + i, date '2024-01-01' + i, (date '2024-01-01' + i)::timestamptz FROM generate_series(0, 212) i;
SELECT dp.create_dataset('s', 'sales', 1e5);
SELECT dp.grant_budget('s', 'regress_ann', 5e4);

-- Equal bins whose edges are no days
SELECT refused($$SELECT dp.add_attribute('s', 'd', '2024-01-01', '2024-08-01', 7)$$);
SELECT refused($$SELECT dp.add_attribute('s', 'd', date '2024-01-01', date '2024-08-01', bins => 7)$$);
SELECT refused($$SELECT dp.add_attribute('s', 'dom', '2024-01-01', '2024-08-01', 7)$$);
SELECT refused($$SELECT dp.add_attribute('s', 'ts', '2024-01-01', '2024-08-01', 7)$$);
SELECT refused($$SELECT dp.add_attribute('s', 'ts', '2024-01-01', '2024-01-06', 7)$$);
SELECT refused($$SELECT dp.add_attribute('s', 'ts', '2024-01-01', '2024-01-07', 4)$$);
-- 366 days of 24 hours each, of which some begin at 1 o'clock
SELECT refused($$SELECT dp.add_attribute('s', 'tz', '2024-01-01', '2025-01-01', 366)$$);
SELECT refused($$SELECT dp.add_attribute('s', 'tz', '2024-01-01', '2024-03-01', 60)$$);
SELECT refused($$SELECT dp.add_attribute('s', 'ts', '2024-01-01', '2024-01-03', 8, outside => 'drop')$$);
SELECT dp.drop_dataset('s');
SELECT dp.create_dataset('s', 'sales', 1e5);
SELECT dp.grant_budget('s', 'regress_ann', 5e4);

-- Months
SELECT dp.add_attribute('s', 'd', lower => '2024-01-01', upper => '2024-08-01', step => '1 month');
SELECT dp.add_attribute('s', 'dom', '2024-01-01', '2024-08-01', step => '7 months', outside => 'other', nulls => 'cell', last => 'closed');
SELECT dp.add_attribute('s', 'ts', '2024-01-31 12:00', '2024-05-31 12:00', step => '1 month');
-- local days and months, where the column has a zone: one of 23 hours
SELECT dp.add_attribute('s', 'tz', '2024-03-30', '2024-04-01', step => '1 day');
SELECT attribute, levels, outside, nulls, last FROM dp.attributes ORDER BY attribute;
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_ann;
SELECT label, round(estimate) FROM dp.histogram('s', 'd', epsilon => 1000);
SET SESSION AUTHORIZATION regress_curator;
RESET client_min_messages;

-- Steps of other lengths, and by their types
SELECT dp.drop_dataset('s');
SELECT dp.create_dataset('s', 'sales', 1e5);
SELECT dp.add_attribute('s', 'd', '2024-01-01', '2024-01-29', interval '1 week');
SELECT dp.add_attribute('s', 'dom', '2023-11-30', '2024-05-30', step => interval '3 months');
SELECT dp.add_attribute('s', 'ts', '2024-01-01', '2024-01-02', step => '6 hours');
SELECT dp.add_attribute('s', 'tz', '2023-10-29 02:00', '2023-10-29 03:00', step => '1 hour');
SELECT attribute, levels FROM dp.attributes ORDER BY attribute;
PREPARE declared (text, name, text, text, interval) AS SELECT refused(format('SELECT dp.add_attribute(%L, %L, %L, %L, step => %L)', $1, $2, $3, $4, $5));

-- upper must be reached, and is named
EXECUTE declared('s', 'd', '2024-01-01', '2024-12-31', '1 month');
EXECUTE declared('s', 'd', '2024-01-31', '2024-05-30', '1 month');
EXECUTE declared('s', 'ts', '2024-01-01', '2024-01-01 10:00', '3 hours');
EXECUTE declared('s', 'tz', '2024-01-01', '2024-01-02 10:00', '1 day');
EXECUTE declared('s', 'd', '2024-01-01', '2024-01-02', '10 years');
EXECUTE declared('s', 'd', '2024-01-01', '2024-01-01', '1 day');
EXECUTE declared('s', 'd', '2024-01-02', '2024-01-01', '1 day');
-- what is no step, or has none
EXECUTE declared('s', 'd', '2024-01-01', '2024-02-01', '0');
EXECUTE declared('s', 'd', '2024-01-01', '2024-02-01', '-1 day');
EXECUTE declared('s', 'd', '2024-01-01', '2024-02-01', '1 month -1 day');
EXECUTE declared('s', 'd', '2024-01-01', '2024-02-01', '12 hours');
EXECUTE declared('s', 'd', '2024-01-01', '2024-02-01', NULL);
EXECUTE declared('s', 'd', '2024-01-01', 'infinity', '1 day');
EXECUTE declared('s', 'd', '2024-01-01', '2024-02-30', '1 day');
EXECUTE declared('s', 'n', '0', '10', '1 day');
EXECUTE declared('s', 't', '2024-01-01', '2024-02-01', '1 day');
EXECUTE declared('s', 'ts', '2024-01-01', '2025-01-01', '1 second');
EXECUTE declared('s', 'd', '2024-01-01', '5000000-01-01', '178956970 years');

-- The overloads: whose they are is decided by the types that are known, and by names
SELECT refused($$SELECT dp.add_attribute('s', 'n', 0, 20, '2')$$);
SELECT refused($$SELECT dp.add_attribute('s', 't', '{a,b}', 'other', 'cell')$$);
PREPARE positional AS SELECT dp.add_attribute($1, $2, $3, $4, step => $5);
PREPARE equal AS SELECT dp.add_attribute($1, $2, $3, $4, bins => $5);
PREPARE listed AS SELECT dp.add_attribute($1, $2, $3, $4, $5);
PREPARE numbers AS SELECT dp.add_attribute($1, $2, 0, 72, $3);
SELECT name, parameter_types FROM pg_prepared_statements WHERE name <> 'declared' ORDER BY name;

RESET SESSION AUTHORIZATION;
DROP OWNED BY regress_curator, regress_ann;
DROP EXTENSION pg_epsilon;
DROP FUNCTION refused;
DROP ROLE regress_curator, regress_ann;
