-- Months over daily bins by SELECT: they are measured as months, and as precise as if months had been declared.  Errors follow
-- from costs alone, so that they are the same in each run.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_owner;
CREATE ROLE regress_analyst;
CREATE SCHEMA regress_months AUTHORIZATION regress_owner;
GRANT USAGE ON SCHEMA regress_months TO regress_analyst;
SET search_path = regress_months;
SET client_min_messages = warning;
SET ROLE regress_owner;
CREATE TABLE by_day (day timestamp, amount int);
INSERT INTO by_day SELECT timestamp '2024-01-01 12:00' + i % 731 * interval '1 day', i % 100 FROM generate_series(1, 7310) i;
CREATE TABLE by_month AS SELECT * FROM by_day;
SELECT dp.create_dataset(d, d::regclass, epsilon => 1000) FROM unnest('{by_day,by_month}'::text[]) d \g /dev/null
SELECT dp.add_attribute(d, 'amount', 0, 100, 10) FROM unnest('{by_day,by_month}'::text[]) d \g /dev/null
SELECT dp.add_edges('by_day', 'day', array_agg(t)) FROM generate_series(timestamp '2024-01-01', '2026-01-01', '1 day') t \g /dev/null
SELECT dp.add_edges('by_month', 'day', array_agg(t)) FROM generate_series(timestamp '2024-01-01', '2026-01-01', '1 month') t \g /dev/null
SELECT dp.grant_budget(d, 'regress_analyst', 1000) FROM unnest('{by_day,by_month}'::text[]) d \g /dev/null
SELECT dp.expose('by_day', 'days');
GRANT SELECT ON days TO regress_analyst;
RESET ROLE;
SET ROLE regress_analyst;
SET pg_epsilon.epsilon = 1;

-- a count of months, beside months that are declared and months that are added up from days
CREATE TEMPORARY TABLE asked AS
	SELECT date_trunc('month', day) AS month, dp.stderr_count(*) AS stderr, dp.stderr_sum(amount) AS stderr_sum FROM days GROUP BY 1;
SELECT count(*), count(DISTINCT stderr) FROM asked;
CREATE TEMPORARY TABLE direct AS
	SELECT stderr, aggregate FROM dp.aggregate('by_month', '{count(*),sum(amount)}', '{day}', epsilon => 1);
SELECT round((a.stderr / d.stderr)::numeric, 2) AS count_to_direct, round((a.stderr_sum / s.stderr)::numeric, 2) AS sum_to_direct,
       a.stderr <= 1.01 * d.stderr AND a.stderr_sum <= 1.01 * s.stderr AS as_precise
  FROM (SELECT max(stderr) AS stderr, max(stderr_sum) AS stderr_sum FROM asked) a,
       (SELECT min(stderr) AS stderr FROM direct WHERE aggregate = 'count(*)') d,
       (SELECT min(stderr) AS stderr FROM direct WHERE aggregate = 'sum(amount)') s;

-- 31 days added up have an error that is the root of 31 times theirs
CREATE TEMPORARY TABLE added AS
	SELECT sqrt(31 * min(stderr) ^ 2) AS stderr FROM dp.aggregate('by_day', '{count(*),sum(amount)}', '{day}', epsilon => 1) WHERE aggregate = 'count(*)';
SELECT round((added.stderr / asked.stderr)::numeric, 1) AS days_to_asked FROM added, asked LIMIT 1;

-- days of the week are classes of days too; what was asked is free now, and EXPLAIN shows it
SELECT round((max(q.stderr) / max(asked.stderr))::numeric, 2) AS of_counts, round((max(q.stderr_sum) / max(asked.stderr_sum))::numeric, 2) AS of_sums
  FROM (SELECT dp.stderr_count(*) AS stderr, dp.stderr_sum(amount) AS stderr_sum FROM days GROUP BY extract(dow FROM day)) q, asked;
SELECT count(*) AS charges, count(DISTINCT rho) AS prices FROM dp.charges;
EXPLAIN (COSTS OFF) SELECT date_trunc('month', day) AS month, dp.stderr_count(*), dp.stderr_sum(amount) FROM days GROUP BY 1;

DISCARD TEMP;
RESET ROLE;
SET client_min_messages = error;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION public.refused(text);
DROP OWNED BY regress_owner, regress_analyst CASCADE;
DROP ROLE regress_owner, regress_analyst;
