-- Series on a dataset whose units have rows in several periods: in each period max_rows of a unit count, in the first max_periods in which it has any.
CREATE EXTENSION pg_epsilon;
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET TimeZone = 'UTC';
SET DateStyle = 'ISO';
SET client_min_messages = warning;
\pset format unaligned
\pset tuples_only on
SET SESSION AUTHORIZATION regress_curator;
-- 60 guests, each in the same house; up to 4 stays in a period, in some of 4 periods; some stays are short, and some have no time or no guest
CREATE TABLE stays (guest int, house text, long boolean, at timestamp);
INSERT INTO stays SELECT guest, CASE WHEN guest % 3 = 0 THEN 'a' ELSE 'b' END, (guest * 5 + period * 3 + stay) % 4 > 0, timestamp '2020-01-01' + period * interval '10 days' + stay * interval '1 hour'
  FROM generate_series(0, 59) guest, generate_series(0, 3) period, generate_series(1, 4) stay WHERE (guest * 7 + period * 5) % 6 >= stay;
INSERT INTO stays VALUES (1, 'a', true, NULL), (NULL, 'a', true, '2020-01-05'), (2, 'b', true, '2019-12-31'), (3, 'a', true, '2020-03-01'), (4, 'b', true, 'infinity');
SELECT dp.create_dataset('stays', 'stays', 1e5, unit => 'guest', max_rows => 2);
SELECT dp.add_attribute('stays', 'house', '{a,b}');
SELECT dp.add_attribute('stays', 'long');
SELECT dp.set_time('stays', 'at', append_only => true);
SELECT dp.grant_budget('stays', 'regress_ann', 9.9e4);
CREATE TABLE plain (at timestamp);
SELECT dp.create_dataset('plain', 'plain', 100);
SELECT dp.set_time('plain', 'at');
SELECT dp.grant_budget('plain', 'regress_ann', 50);
-- What a filter that is written out finds in each period
CREATE FUNCTION truth(most int, only_long boolean, kept int) RETURNS TABLE (report int, house text, n numeric) LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH counted AS (SELECT guest, house, (at::date - '2020-01-01') / 10 + 1 AS report, least(count(*), kept) AS n FROM stays
        WHERE guest IS NOT NULL AND at >= '2020-01-01' AND at < '2020-02-10' AND (long OR NOT only_long) GROUP BY 1, 2, 3),
      placed AS (SELECT *, row_number() OVER (PARTITION BY guest ORDER BY report) AS place FROM counted)
    SELECT r, h, coalesce(sum(p.n), 0) FROM generate_series(1, 4) r CROSS JOIN unnest('{a,b}'::text[]) h LEFT JOIN placed p ON p.report = r AND p.house = h AND place <= most GROUP BY 1, 2 $$;
-- Reports of periods and of totals that are not those numbers; and how many there were
CREATE FUNCTION wrong(name text, most int, only_long boolean DEFAULT false, kept int DEFAULT 2) RETURNS text LANGUAGE sql AS $$
    SELECT count(*) FILTER (WHERE round(r.estimate) IS DISTINCT FROM t.n) || ' of ' || count(*)
      FROM dp.report(name) r LEFT JOIN LATERAL (SELECT sum(n) AS n FROM truth(most, only_long, kept) t
        WHERE t.house = r.label->>'house' AND CASE r.over WHEN 'totals' THEN t.report <= r.report WHEN 'periods' THEN t.report = r.report ELSE t.report IN (r.report - 1, r.report) END) t ON true $$;
SET SESSION AUTHORIZATION regress_ann;

-- How many periods has to be said, where there are units and nowhere else
SELECT dp.create_series('stays', 's', '{house}', start => '2020-01-01', period => '10 days', periods => 4, rho => 1000);
SELECT dp.create_series('stays', 's', '{house}', start => '2020-01-01', period => '10 days', periods => 4, max_periods => 0, rho => 1000);
SELECT dp.create_series('plain', 's', '{}', 'total', start => '2020-01-01', period => '10 days', periods => 4, max_periods => 2, rho => 1);

-- A cut that is fixed: the first p periods; measured together, and each by itself
SELECT p, strategy, round(stderr_last::numeric, 2) AS last, round(added_last::numeric, 2) AS added FROM generate_series(1, 4) p,
  dp.quote_series('stays', '{house}', over => 'totals + periods', start => '2020-01-01', period => '10 days', periods => 4, max_periods => p, rho => 1);
SELECT count(*) FROM unnest('{1,2,4}'::int[]) p, dp.create_series('stays', 'first ' || p, '{house}', over => 'totals + periods', start => '2020-01-01', period => '10 days', periods => 4,
  max_periods => p, rho => 10000);
SELECT p, wrong('first ' || p, p) FROM unnest('{1,2,4}'::int[]) p;
-- A period has rows of a unit only if they count
SELECT count(*) FROM dp.create_series('stays', 'long', '{house}', over => 'totals + periods', start => '2020-01-01', period => '10 days', periods => 4,
  max_periods => 2, predicate => 'long', rho => 10000);
SELECT wrong('long', 2, true);
-- An open end, and its prolonging
SELECT count(*) FROM dp.create_series('stays', 'open', '{house}', over => 'totals + periods', start => '2020-01-01', period => '10 days', periods => 3, max_periods => 2, open_ended => true, rho => 10000);
SELECT wrong('open', 2);
SELECT count(*) FROM dp.prolong_series('open', 4);
SELECT wrong('open', 2);
-- With a history the cut is of what is read: of two periods both count
SELECT count(*) FROM dp.create_series('stays', 'windows', '{house}', over => 'windows(2)', start => '2020-01-01', period => '10 days', periods => 4, max_periods => 2, history => 2, rho => 10000);
SELECT wrong('windows', 4);

-- One row of a guest in each period, where max_rows are two: half of the error, of counts as of sums
SELECT rows, round(stderr_last::numeric, 4) AS last FROM unnest('{NULL,2,1}'::int[]) rows,
  dp.quote_series('stays', '{house}', start => '2020-01-01', period => '10 days', periods => 4, max_periods => 2, rho => 1, rows_per_unit => rows);
SELECT rows, round(stderr_last::numeric, 4) AS last FROM unnest('{NULL,2,1}'::int[]) rows,
  dp.quote_series('stays', '{house}', start => '2020-01-01', period => '10 days', periods => 4, max_periods => 2, rho => 1, rows_per_unit => rows, aggregates => '{count(*)}');
SELECT count(*) FROM dp.create_series('stays', 'one each', '{house}', over => 'totals + periods', start => '2020-01-01', period => '10 days', periods => 3, max_periods => 2, rows_per_unit => 1,
  open_ended => true, rho => 10000);
SELECT wrong('one each', 2, kept => 1);
SELECT count(*) FROM dp.prolong_series('one each', 4);
SELECT wrong('one each', 2, kept => 1);
SELECT count(*) FROM dp.create_series('stays', 'sum of one each', '{house}', over => 'totals + periods', start => '2020-01-01', period => '10 days', periods => 4, max_periods => 2, rows_per_unit => 1, rho => 10000,
  aggregates => '{count(*)}');
SELECT wrong('sum of one each', 2, kept => 1);
SELECT count(*) FROM dp.create_series('plain', 'rows', '{}', 'total', start => '2020-01-01', period => '10 days', periods => 2, rows_per_unit => 1, rho => 0.1);
-- out of range
SELECT count(*) FROM dp.quote_series('stays', '{house}', start => '2020-01-01', period => '10 days', periods => 4, max_periods => 2, rho => 1, rows_per_unit => 3);
SELECT count(*) FROM dp.create_series('stays', 's', '{house}', start => '2020-01-01', period => '10 days', periods => 4, max_periods => 2, rho => 1, rows_per_unit => 0, aggregates => '{count(*)}');
SELECT count(*) FROM dp.create_series('plain', 's', '{}', 'total', start => '2020-01-01', period => '10 days', periods => 4, rho => 1, rows_per_unit => 2);

-- What the ledger keeps says how units were cut
SELECT request->>'max_periods', request->>'rows_per_unit' FROM dp.charges WHERE request->>'series' IN ('first 2', 'one each', 'rows') AND rho > 0 ORDER BY charge;
RESET SESSION AUTHORIZATION;
SELECT ok, message FROM dp.verify_ledger('stays');
SELECT series, max_periods, rows_per_unit FROM dp.series WHERE series LIKE 'first%' OR series IN ('one each', 'rows') ORDER BY 1;
-- a series that says another number of periods, or of rows, than was paid for is refused
UPDATE dp_ledger.series SET max_periods = 3 WHERE series = 'first 2';
DELETE FROM dp_ledger.series_period p USING dp_ledger.series s WHERE s.id = series_id AND series = 'first 2' AND p.period = 4;
UPDATE dp_ledger.series SET rows_per_unit = 2 WHERE series = 'one each';
SET SESSION AUTHORIZATION regress_ann;
\set VERBOSITY sqlstate
SELECT count(*) FROM dp.report('first 2', 4);
SELECT count(*) FROM dp.report('one each', 1);
\set VERBOSITY default

-- Without the promise a unit's periods may be others at each reading, which costs more
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.set_time('stays', 'at');
SET SESSION AUTHORIZATION regress_ann;
SELECT p, strategy, round(stderr_last::numeric, 2) AS last, round(added_last::numeric, 2) AS added FROM generate_series(1, 4) p,
  dp.quote_series('stays', '{house}', over => 'totals + periods', start => '2020-01-01', period => '10 days', periods => 4, max_periods => p, rho => 1);
SELECT count(*) FROM dp.create_series('stays', 'moving', '{house}', over => 'totals + periods', start => '2020-01-01', period => '10 days', periods => 4,
  max_periods => 4, rho => 10000);
SELECT wrong('moving', 4);

RESET SESSION AUTHORIZATION;
DROP OWNED BY regress_ann, regress_curator;
DROP EXTENSION pg_epsilon;
DROP ROLE regress_curator, regress_ann;
