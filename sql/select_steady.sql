-- Plain SELECT: an expression is steady on a bin where it is the same on all of it, also where clocks change and months end.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
\set same :here /test/regress/same.sql
\i :same
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator, regress_ann;
SET client_min_messages = warning;
SET datestyle = 'ISO';
SET timezone = 'UTC';
SET SESSION AUTHORIZATION regress_curator;
-- odd bins, in which clocks change and months end, and the days of a year in Berlin
CREATE TABLE t AS SELECT t AS tz, t AT TIME ZONE 'UTC' AS ts, t AS day, extract(epoch FROM t)::bigint / 1200 AS n, (extract(epoch FROM t)::bigint / 1200 - 1401000) / 100.0 AS x
  FROM generate_series(timestamptz '2023-01-01 00:00+00', timestamptz '2023-12-31 22:59+00', '20 minutes') t;
SELECT dp.create_dataset('t', 't', epsilon => 1e5);
DO $$
DECLARE
    edges timestamptz[] = '{2022-12-31 00:00+00,2023-01-28 01:00+00,2023-01-29 01:00+00,2023-01-30 05:00+00,2023-02-01 00:00+00,2023-02-26 01:30+00,2023-03-25 23:00+00,2023-03-26 00:30+00,2023-03-26 01:30+00,2023-03-26 02:30+00,2023-06-15 12:00+00,2023-10-28 22:00+00,2023-10-29 00:30+00,2023-10-29 01:30+00,2023-10-29 03:00+00,2023-11-05 00:00+00,2024-01-01 00:00+00}';
BEGIN
    PERFORM dp.add_edges('t', 'tz', edges), dp.add_edges('t', 'ts', (SELECT array_agg(e AT TIME ZONE 'UTC' ORDER BY e) FROM unnest(edges) e));
    PERFORM dp.add_edges('t', 'day', (SELECT array_agg(d AT TIME ZONE 'Europe/Berlin' ORDER BY d) FROM generate_series(timestamp '2023-01-01', '2024-01-01', '1 day') d));
    PERFORM dp.add_attribute('t', 'n', 1390000, 1430000, bins => 4), dp.add_attribute('t', 'x', -60, 240, bins => 30);
    PERFORM dp.grant_budget('t', 'regress_ann', epsilon => 1e5);
    PERFORM dp.expose('t', 'v');
END $$;
GRANT SELECT ON v, t TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SET pg_epsilon.epsilon = 1000;
-- the number of rows, or that a bin is cut
CREATE FUNCTION same(test text) RETURNS text LANGUAGE sql AS $$ SELECT test || ': ' || regexp_replace(same('SELECT count(*) FROM R WHERE ' || test, 'v', 't'), '^22023: .* (cuts|not known)( to have one value in)? the declared bin (.* to [^ ]+( [0-9:+-]+)?).*$', '\1 \3') $$;
CREATE FUNCTION grouped(e text) RETURNS text LANGUAGE sql AS $$ SELECT e || ': ' || regexp_replace(regexp_replace(same('SELECT ' || e || ' AS e, count(*) FROM R GROUP BY 1', 'v', 't'), '^22023: .* (cuts|not known)( to have one value in)? the declared bin (.* to [^ ]+( [0-9:+-]+)?).*$', '\1 \3'), '^same: .*$', 'same') $$;

-- 1. Months are added to days, and cut at the end of a month: 30 January is the 28th, and its morning before the evening of the 28th.
SET timezone = 'Europe/Berlin';
SELECT same(e) FROM unnest(ARRAY['tz + interval ''1 month'' >= ''2023-02-28 12:00''', 'tz + interval ''1 month'' < ''2023-02-28 02:00''', 'tz + interval ''1 month'' >= ''2023-02-20''', 'tz + interval ''1 month'' >= ''2023-03-01''',
    'tz - interval ''-1 month'' > ''2023-02-28 05:30''', 'interval ''1 month'' + tz >= ''2023-02-28 06:00''', 'ts + interval ''1 month'' >= ''2023-02-28 04:00''', 'ts + interval ''1 month'' >= ''2023-02-28 01:00''', 'ts + interval ''1 month'' < ''2023-03-26 01:30''',
    'tz + interval ''1 month'' < ''2023-03-26 02:30''', 'tz + interval ''28 days'' < ''2023-03-26 02:30''', 'tz + interval ''28 days'' < ''2023-03-26 03:30''', 'tz + interval ''1 day'' < ''2023-03-26 03:10''', 'ts::date + interval ''1 month'' >= ''2023-03-01''']) e;

-- 2. Clocks go back on 29 October at 01:00 UTC, and forward on 26 March.
SELECT same(e) FROM unnest(ARRAY['tz::timestamp >= ''2023-10-29 02:30''', 'tz::timestamp >= ''2023-10-29 02:40''', 'tz::timestamp < ''2023-10-29 02:10''', 'tz::timestamp < ''2023-10-29''', 'tz AT TIME ZONE ''Europe/Berlin'' >= ''2023-10-29 02:30''',
    'tz AT TIME ZONE ''UTC'' >= ''2023-10-29 00:30''', 'tz AT TIME ZONE ''America/New_York'' >= ''2023-11-04 20:00''', 'date_trunc(''day'', tz) >= ''2023-10-29''', 'tz::date < ''2023-10-29''', 'date_trunc(''hour'', tz) = ''2023-10-29 02:00''',
    'extract(year FROM tz) = 2022', 'ts::timestamptz >= ''2023-03-26 02:30''', 'ts AT TIME ZONE ''Europe/Berlin'' < ''2023-03-26 03:10''', 'ts < timestamptz ''2023-03-26 03:10''', 'ts >= timestamptz ''2023-03-26 04:30''',
    'ts AT TIME ZONE ''MSK'' >= ''2023-06-15 09:00+00''', 'extract(epoch FROM tz - timestamptz ''2023-01-28 01:00+00'') >= 86400']) e;

-- The time of day falls at midnight: the third is true at both ends of its bin, and not between.  Of timestamptz it is not known.
SELECT same(e) FROM unnest(ARRAY['ts >= ''2023-03-26 00:30'' AND ts < ''2023-03-26 02:30'' AND ts::time < ''01:30''', 'ts::time >= ''00:00''', 'ts >= ''2023-01-28 01:00'' AND ts < ''2023-01-29 01:00'' AND ts::time >= ''00:30''',
    'ts >= ''2023-10-28 22:00'' AND ts < ''2023-10-29 01:30'' AND ts::time >= ''00:30''', 'ts >= ''2023-10-29 00:30'' AND ts < ''2023-10-29 01:30'' AND ts::time(0) >= ''00:30''', 'tz >= ''2023-03-26 00:30+00'' AND tz < ''2023-03-26 02:30+00'' AND tz::time < ''01:30''']) e;

-- 3. Days are days, also where they have 23 or 25 hours: nothing of this is cut.
SELECT grouped(e) FROM unnest(ARRAY['day::date', 'date_trunc(''month'', day)', 'date_trunc(''week'', day)', 'extract(dow FROM day)', 'to_char(day, ''YYYY-MM'')', 'extract(month FROM day)', 'day::date + 30', 'date_trunc(''month'', day + interval ''9 months'')',
    'date_trunc(''month'', day - interval ''1 month'')::date', '(day AT TIME ZONE ''Europe/Berlin'')::date', 'date_trunc(''month'', day, ''Europe/Berlin'')', 'day >= ''2023-07-01''', 'date_trunc(''year'', day::date)']) e;
SELECT same(e) FROM unnest(ARRAY['day + interval ''1 month'' >= ''2023-04-01''', 'day + interval ''1 month'' >= ''2023-03-26''', 'day - interval ''1 month'' >= ''2023-03-26''', 'day + interval ''1 day'' < ''2023-10-29''', 'day::timestamp >= ''2023-10-29''', 'day::date BETWEEN ''2023-03-01'' AND ''2023-10-29''']) e;
-- hours are not
SELECT grouped(e) FROM unnest(ARRAY['extract(hour FROM day)', 'to_char(day, ''HH24'')', 'day AT TIME ZONE ''UTC''', '(day AT TIME ZONE ''UTC'')::date']) e;
SET timezone = 'UTC';
SELECT grouped(e) FROM unnest(ARRAY['day::date', 'date_trunc(''month'', day, ''Europe/Berlin'')', '(day AT TIME ZONE ''Europe/Berlin'')::date']) e;
SET timezone = 'America/Sao_Paulo';
SELECT same(e) FROM unnest(ARRAY['tz::date >= ''2023-02-01''', 'date_trunc(''month'', day + interval ''4 hours'') >= ''2023-02-01''']) e;

-- 4. Numbers: rounding keeps their order, remainders do not.
SET timezone = 'UTC';
SELECT same(e) FROM unnest(ARRAY['n / 10000 = 140', 'n::numeric / 3 >= 466666.5', 'n % 7 = 0', 'n * -1 <= -1400000', '-n <= -1400000', '1000000 - n < -400000', 'n::float4 >= 1400000', 'n::int >= 1400000', 'width_bucket(n, 1430000, 1390000, 4) = 1', 'width_bucket(n, 1390000, 1430000, 4) = 1',
    'width_bucket(n, ARRAY[1400000, 1410000]::bigint[]) = 1', 'greatest(n, 1400000) > 1400000', 'coalesce(n, 0) >= 1400000', 'abs(n - 1400000) < 1', 'round(x / 10) = 5', 'floor(x / 10) = 5', 'sign(x) < 0', 'x::int >= 10', 'trunc(x, -1) = 50', 'x * x > 100', '100 / (n - 1300000) = 0']) e;

-- 5. The cell of NULL is one value, of a column alone and of several.
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE nullable AS SELECT CASE WHEN i % 4 > 0 THEN timestamptz '2024-03-01' + i % 61 * interval '1 day' END AS tz, i % 2 = 0 AS even FROM generate_series(1, 1200) i;
SELECT dp.create_dataset('nullable', 'nullable', epsilon => 1e5), dp.add_edges('nullable', 'tz', (SELECT array_agg(d) FROM generate_series(timestamptz '2024-03-01', '2024-05-01', '1 day') d), nulls => 'cell'), dp.add_attribute('nullable', 'even') \g /dev/null
SELECT dp.grant_budget('nullable', 'regress_ann', epsilon => 1e5), dp.expose('nullable', 'nullable_v', epsilon => 10000) \g /dev/null
GRANT SELECT ON nullable, nullable_v TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
-- 63 cells are one group: its error is eight times that of one
SET pg_epsilon.epsilon = 0;
SELECT e || ': ' || same('SELECT count(*) FROM R WHERE ' || e, 'nullable_v', 'nullable') FROM unnest(ARRAY['extract(day FROM tz) <= 15', 'to_char(tz, ''YYYY-MM'') = ''2024-03''', 'extract(day FROM tz) IS NULL']) e;
SELECT e || ': ' || same('SELECT ' || e || ' AS e, count(*) FROM R GROUP BY 1', 'nullable_v', 'nullable') FROM unnest(ARRAY['extract(month FROM tz)', 'CASE WHEN even THEN extract(dow FROM tz) END']) e;

RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon CASCADE;
DROP OWNED BY regress_curator, regress_ann CASCADE;
DROP FUNCTION same(text, text, text), rows_of(text), refused(text);
DROP ROLE regress_curator, regress_ann;
