-- Series of aggregates by many attributes: of more than 4096 classes of cells, where each sum is measured table by table.  Noise is small beside what is counted: each answer is what the table has, to seven of its standard errors.
CREATE EXTENSION pg_epsilon;
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator, regress_ann;
SET TimeZone = 'UTC';
SET DateStyle = 'ISO';
SET client_min_messages = warning;
\pset format unaligned
\pset tuples_only on
SET SESSION AUTHORIZATION regress_curator;
-- 100 guests with up to 3 equal stays in some of 4 periods, some of unknown price; some have no time, no guest, or a value of no level
CREATE TABLE stays (guest int, a int, b int, c int, d int, e int, f int, g int, h int, price int, kilos float8, at timestamp);
INSERT INTO stays SELECT guest, x % 4, x / 4 % 3, x / 5 % 4, x / 7 % 3, x / 11 % 4, x / 13 % 3, x / 17 % 4, x / 19 % 3, CASE WHEN guest % 7 > 0 THEN guest % 11 END, 0, timestamp '2020-01-01' + period * interval '10 days' + stay * interval '1 hour'
  FROM generate_series(0, 99) guest, generate_series(0, 3) period, LATERAL (SELECT (guest * 7919 + period * 104729) % 20011 AS x) s, generate_series(1, 3) stay WHERE (guest * 7 + period * 5) % 6 >= stay;
INSERT INTO stays VALUES (1, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, NULL), (NULL, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, '2020-01-05'), (2, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, '2019-12-31'), (3, 9, 0, 0, 0, 0, 0, 0, 0, 5, 0, '2020-01-01');
CREATE TABLE plain AS SELECT * FROM stays;
CREATE TABLE replaced AS SELECT * FROM stays;
SELECT dp.create_dataset('stays', 'stays', 1e5, unit => 'guest', max_rows => 2), dp.create_dataset('rows', 'plain', 1e5), dp.create_dataset('replaced', 'replaced', 1e5, neighbours => 'substitute', accounting => 'zcdp');
SELECT count(*) FROM unnest('{stays,rows,replaced}'::text[]) s, unnest('{a,b,c,d,e,f,g,h}'::text[]) n, dp.add_attribute(s, n::name, CASE WHEN n IN ('a', 'c', 'e', 'g') THEN '{0,1,2,3}'::int[] ELSE '{0,1,2}' END);
SELECT count(dp.add_attribute(s, 'price', 0, 10, 5)), count(dp.add_attribute(s, 'kilos', 0, 10, 1)), count(dp.set_time(s, 'at', append_only => s <> 'rows')), count(dp.grant_budget(s, 'regress_ann', 9.9e4)) FROM unnest('{stays,rows,replaced}'::text[]) s;
-- What counts, written out: of each guest so many rows in each of the first periods that have any; all rows where kept is NULL
CREATE FUNCTION counted(most int, kept int) RETURNS TABLE (report int, what jsonb, price float8) LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT p, r, price FROM (SELECT p, r, guest, price, row_number() OVER (PARTITION BY guest, p ORDER BY at) AS n, dense_rank() OVER (PARTITION BY guest ORDER BY p) AS place
      FROM (SELECT *, to_jsonb(s) AS r, (at::date - '2020-01-01') / 10 + 1 AS p FROM stays s WHERE at >= '2020-01-01' AND at < '2020-02-10' AND a < 4) x) y
    WHERE kept IS NULL OR (guest IS NOT NULL AND n <= kept AND place <= most) $$;
-- Whether a row is where a label says: in a cell, or in a range of a
CREATE FUNCTION is_in(what jsonb, label jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT what @> label OR (what @> (label - 'a') AND ((what->'a')::int < (label->'a'->'to')::int OR (label->'a'->'last')::boolean)) $$;
-- Answers of reports that are not what the table has; how many there were, and the largest error of each aggregate
CREATE FUNCTION wrong(name text, most int DEFAULT NULL, kept int DEFAULT NULL, reports int[] DEFAULT '{3}', h_below int DEFAULT 3)
  RETURNS TABLE (aggregate text, wrong bigint, answers bigint, precise boolean) LANGUAGE sql AS $$
    WITH c AS MATERIALIZED (SELECT * FROM counted(most, kept) WHERE (what->'h')::int < h_below)
    SELECT r.aggregate, count(*) FILTER (WHERE NOT (abs(r.estimate - x.truth) <= 7 * r.stderr)), count(*), max(r.stderr) < CASE WHEN r.aggregate ~ '^count' THEN 0.1 ELSE 1 END
      FROM unnest(reports) n, dp.report(name, n) r,
        LATERAL (SELECT CASE WHEN r.aggregate ~ '^count' THEN count(*) WHEN r.aggregate ~ '^sum' THEN coalesce(sum(c.price), 0) ELSE avg(c.price) END AS truth, count(c.price) AS n FROM c
          WHERE CASE r.over WHEN 'totals' THEN c.report <= r.report WHEN 'periods' THEN c.report = r.report ELSE c.report IN (r.report, r.report - 1) END AND is_in(c.what, r.label)
            AND (r.aggregate !~ 'where' OR c.price >= 4)) x WHERE r.aggregate !~ '^avg' OR x.n > 2 GROUP BY 1 ORDER BY 1 $$;
SET SESSION AUTHORIZATION regress_ann;

-- All pairs of eight attributes: counts and averages, under both neighbours and accountings.
SELECT d, aggregate, strategy, round(stderr_first::numeric, 3) AS first, round(stderr_last::numeric, 3) AS last, round(added_last::numeric, 3) AS added, fits FROM unnest('{rows,replaced}'::text[]) d,
  dp.quote_series(d, '{a,b,c,d,e,f,g,h}', 'marginals(2)', over => 'totals', start => '2020-01-01', period => '10 days', periods => 4, rho => 1, aggregates => '{count(*),sum(price),avg(price)}') ORDER BY 1, 2;
-- in one period they have the errors of dp.aggregate
SELECT q.aggregate, abs(s.stderr_last / q.stderr - 1) < 1e-6 FROM dp.quote_aggregate('rows', '{sum(price),avg(price)}', '{a,b,c,d,e,f,g,h}', workload => 'marginals(2)', rho => 1) q
  JOIN dp.quote_series('rows', '{a,b,c,d,e,f,g,h}', 'marginals(2)', start => '2020-01-01', period => '10 days', periods => 1, rho => 1, aggregates => '{sum(price),avg(price)}') s USING (aggregate) ORDER BY 1;
SELECT count(*) FROM unnest('{rows,replaced}'::text[]) d, dp.create_series(d, 'pairs of ' || d, '{a,b,c,d,e,f,g,h}', 'marginals(2)', over => 'totals + periods', start => '2020-01-01', period => '10 days', periods => 4, rho => 20000,
  aggregates => '{count(*),avg(price),sum(price)}');
SELECT d, w.* FROM unnest('{rows,replaced}'::text[]) d, wrong('pairs of ' || d) w;
-- errors of the reports are those of the quote
SELECT count(*), max(abs(q.stderr_last / r.stderr - 1)) < 1e-9 FROM unnest('{rows,replaced}'::text[]) d, dp.quote_series(d, '{a,b,c,d,e,f,g,h}', 'marginals(2)', over => 'totals + periods', start => '2020-01-01', period => '10 days', periods => 4, rho => 20000,
  aggregates => '{count(*),avg(price),sum(price)}') q, LATERAL (SELECT max(stderr) AS stderr FROM dp.report('pairs of ' || d, 4) r WHERE r.aggregate = q.aggregate AND over = 'totals') r WHERE q.aggregate !~ 'avg';
-- stored once, and the same each time
CREATE TEMP TABLE kept AS SELECT * FROM dp.report('pairs of rows');
SELECT count(*) FROM (SELECT * FROM dp.report('pairs of rows') EXCEPT SELECT * FROM kept) x;
-- ranges, windows, a condition, and a predicate over an attribute that is not grouped by
SELECT count(*) FROM dp.create_series('rows', 'ranges', '{a,b,c,d,e,f,g}', 'prefix(a) * (identity(b) + identity(c) + identity(d)) * identity(e) * identity(f) * identity(g)', start => '2020-01-01',
  period => '10 days', periods => 4, predicate => 'h < 2', history => 2, over => 'windows(2)', rho => 50000, aggregates => '{count(*),sum(price),count(*) where (price >= 4)}');
SELECT * FROM wrong('ranges', h_below => 2);
-- units: a fixed cut of two rows in each of two periods; of one row; of an open end
SELECT count(*) FROM dp.create_series('stays', 'guests', '{a,b,c,d,e,f,g,h}', 'marginals(2)', over => 'totals + periods', start => '2020-01-01', period => '10 days', periods => 4, max_periods => 2, rho => 50000,
  aggregates => '{count(*),sum(price)}');
SELECT * FROM wrong('guests', 2, 2);
SELECT count(*) FROM dp.create_series('stays', 'open', '{a,b,c,d,e,f,g,h}', 'marginals(2)', start => '2020-01-01', period => '10 days', periods => 3, max_periods => 2, rows_per_unit => 1, open_ended => true, rho => 30000,
  aggregates => '{avg(price),count(*)}');
SELECT * FROM wrong('open', 2, 1);
SELECT count(*) FROM dp.prolong_series('open', 4);
SELECT * FROM wrong('open', 2, 1, '{4}');
-- numbers of 65535 places have the errors of whole ones, by any strategy over time
SELECT open_ended, round(stderr_last::numeric, 2) FROM unnest('{false,true}'::boolean[]) open_ended, dp.quote_series('rows', '{a,b,c,d,e,f,g,h}', 'marginals(2)', start => '2020-01-01', period => '7 days', periods => 52, rho => 1, open_ended => open_ended,
  aggregates => '{sum(kilos)}');

-- A table of them
SELECT dp.publish_series('pairs of rows', 'pairs_published');
SELECT count(*), count(*) FILTER (WHERE p.avg_price IS DISTINCT FROM r.estimate) FROM dp.report('pairs of rows') r JOIN pairs_published p USING (report, over, query) WHERE aggregate = 'avg(price)';
-- Shares: those of a table add up to all rows, in each period and over time
SELECT count(*) FROM dp.create_series('rows', 'shares', '{a,b,c,d,e,f,g,h}', 'marginals(2)', start => '2020-01-01', period => '10 days', periods => 4, rho => 1, aggregates => '{share}');
SELECT count(*), bool_and(abs(sum - 1) < 1e-6) AS all_rows, bool_and(least > 0 AND most < 1) AS errors
  FROM (SELECT sum(estimate), min(stderr) AS least, max(stderr) AS most FROM dp.report('shares') GROUP BY report, over, ARRAY(SELECT jsonb_object_keys(label) ORDER BY 1)) x;
-- What is not served, and says so before the charge
SELECT count(*) FROM dp.create_series('rows', 'x', '{a,b,c,d,e,f,g,h}', 'marginals(8)', start => '2020-01-01', period => '1 hour', periods => 1000, rho => 1, aggregates => '{count(*),avg(price)}');
RESET SESSION AUTHORIZATION;
SELECT dataset, ok, message FROM unnest('{rows,stays,replaced}'::text[]) dataset, dp.verify_ledger(dataset);
DROP OWNED BY regress_ann, regress_curator;
DROP EXTENSION pg_epsilon;
DROP ROLE regress_curator, regress_ann;
