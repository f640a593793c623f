-- Series of many attributes: of more than 4096 classes of cells, which are measured table by table.  Noise is so small (standard errors below 0.07) that a rounded answer is the count.
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
-- 100 guests with up to 3 equal stays in some of 4 periods; some have no time, no guest, or a value of no level
CREATE TABLE stays (guest int, a int, b int, c int, d int, e int, f int, g int, h int, at timestamp);
INSERT INTO stays SELECT guest, x % 4, x / 4 % 3, x / 5 % 4, x / 7 % 3, x / 11 % 4, x / 13 % 3, x / 17 % 4, x / 19 % 3, timestamp '2020-01-01' + period * interval '10 days' + stay * interval '1 hour'
  FROM generate_series(0, 99) guest, generate_series(0, 3) period, LATERAL (SELECT (guest * 7919 + period * 104729) % 20011 AS x) s, generate_series(1, 3) stay WHERE (guest * 7 + period * 5) % 6 >= stay;
INSERT INTO stays VALUES (1, 0, 0, 0, 0, 0, 0, 0, 0, NULL), (NULL, 0, 0, 0, 0, 0, 0, 0, 0, '2020-01-05'), (2, 0, 0, 0, 0, 0, 0, 0, 0, '2019-12-31'), (3, 9, 0, 0, 0, 0, 0, 0, 0, '2020-01-01');
SELECT dp.create_dataset('stays', 'stays', 1e5, unit => 'guest', max_rows => 2);
CREATE TABLE plain AS SELECT * FROM stays;
SELECT dp.create_dataset('rows', 'plain', 1e5);
SELECT count(*) FROM unnest('{stays,rows}'::text[]) s, unnest('{a,b,c,d,e,f,g,h}'::text[]) n, dp.add_attribute(s, n::name, CASE WHEN n IN ('a', 'c', 'e', 'g') THEN '{0,1,2,3}'::int[] ELSE '{0,1,2}' END);
SELECT dp.set_time('stays', 'at', append_only => true), dp.set_time('rows', 'at'), dp.grant_budget('stays', 'regress_ann', 9.9e4), dp.grant_budget('rows', 'regress_ann', 9.9e4);
-- What counts, written out: of each guest so many rows in each of the first periods that have any; all rows where kept is NULL
CREATE FUNCTION counted(most int, kept int) RETURNS TABLE (report int, what jsonb) LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT p, r FROM (SELECT p, r, guest, row_number() OVER (PARTITION BY guest, p ORDER BY at) AS n, dense_rank() OVER (PARTITION BY guest ORDER BY p) AS place
      FROM (SELECT *, to_jsonb(s) AS r, (at::date - '2020-01-01') / 10 + 1 AS p FROM stays s WHERE at >= '2020-01-01' AND at < '2020-02-10' AND a < 4) x) y
    WHERE kept IS NULL OR (guest IS NOT NULL AND n <= kept AND place <= most) $$;
-- Whether a row is where a label says: in a cell, or in a range of a
CREATE FUNCTION is_in(what jsonb, label jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT what @> label OR (what @> (label - 'a') AND ((what->'a')::int < (label->'a'->'to')::int OR (label->'a'->'last')::boolean)) $$;
-- Answers of two reports that are not those numbers; how many there were, and how many were not 0
CREATE FUNCTION wrong(name text, most int DEFAULT NULL, kept int DEFAULT NULL, reports int[] DEFAULT '{2,4}', h_below int DEFAULT 3, OUT wrong bigint, OUT answers bigint, OUT above bigint) LANGUAGE sql AS $$
    WITH c AS MATERIALIZED (SELECT * FROM counted(most, kept) WHERE (what->'h')::int < h_below)
    SELECT count(*) FILTER (WHERE round(r.estimate) IS DISTINCT FROM t.n), count(*), count(*) FILTER (WHERE t.n > 0)
      FROM unnest(reports) n, dp.report(name, n) r,
        LATERAL (SELECT count(*) AS n FROM c WHERE CASE r.over WHEN 'totals' THEN c.report <= r.report WHEN 'periods' THEN c.report = r.report ELSE c.report IN (r.report, r.report - 1) END
          AND is_in(c.what, r.label)) t $$;
SET SESSION AUTHORIZATION regress_ann;

-- All pairs of eight attributes
SELECT strategy, round(stderr_first::numeric, 3) AS first, round(stderr_last::numeric, 3) AS last, round(added_last::numeric, 3) AS added, fits
  FROM dp.quote_series('rows', '{a,b,c,d,e,f,g,h}', 'marginals(2)', over => 'totals', start => '2020-01-01', period => '10 days', periods => 4, rho => 1);
-- in one period they cost what a histogram of them does
SELECT round((s.stderr_last / q.max_stderr)::numeric, 6) FROM dp.quote('rows', '{a,b,c,d,e,f,g,h}', 'marginals(2)', rho => 1) q,
  dp.quote_series('rows', '{a,b,c,d,e,f,g,h}', 'marginals(2)', start => '2020-01-01', period => '10 days', periods => 1, rho => 1) s;
SELECT count(*) FROM dp.create_series('rows', 'pairs', '{a,b,c,d,e,f,g,h}', 'marginals(2)', over => 'totals + periods', start => '2020-01-01', period => '10 days', periods => 4, rho => 10000);
SELECT * FROM wrong('pairs');
SELECT max(stderr) < 0.07, bool_and(lower95 < estimate AND estimate < upper95), count(DISTINCT query) FROM dp.report('pairs', 3);
-- with ranges, and a predicate over an attribute that is not counted
SELECT count(*) FROM dp.create_series('rows', 'ranges', '{a,b,c,d,e,f,g}', 'prefix(a) * (identity(b) + identity(c) + identity(d)) * identity(e) * identity(f) * identity(g)', start => '2020-01-01',
  period => '10 days', periods => 4, predicate => 'h < 2', history => 2, over => 'windows(2)', rho => 50000);
SELECT * FROM wrong('ranges', h_below => 2);
SELECT max(stderr) < 0.07 FROM dp.report('ranges', 4);
-- units: a fixed cut of two rows in each of two periods; of one row; of an open end
SELECT count(*) FROM dp.create_series('stays', 'guests', '{a,b,c,d,e,f,g,h}', 'marginals(2)', over => 'totals + periods', start => '2020-01-01', period => '10 days', periods => 4, max_periods => 2, rho => 50000);
SELECT * FROM wrong('guests', 2, 2);
SELECT count(*) FROM dp.create_series('stays', 'open', '{a,b,c,d,e,f,g,h}', 'marginals(2)', start => '2020-01-01', period => '10 days', periods => 3, max_periods => 2, rows_per_unit => 1, open_ended => true, rho => 30000);
SELECT * FROM wrong('open', 2, 1, '{2,3}');
SELECT count(*) FROM dp.prolong_series('open', 4);
SELECT * FROM wrong('open', 2, 1);
SELECT max(stderr) < 0.07 FROM unnest('{guests,open}'::text[]) n, dp.report(n, 4);

-- A table of them
SELECT dp.publish_series('pairs', 'pairs_published');
SELECT count(*), count(*) FILTER (WHERE round(p.estimate) IS DISTINCT FROM round(r.estimate)) FROM dp.report('pairs') r JOIN pairs_published p USING (report, over, query);
SELECT report, a, b, round(estimate) AS estimate FROM pairs_published WHERE over = 'totals' AND report = 4 AND a IS NOT NULL AND b IS NOT NULL ORDER BY 2, 3 LIMIT 3;
-- What is not served, and says so before the charge
SELECT count(*) FROM dp.create_series('rows', 'x', '{a,b,c,d,e,f,g,h}', 'marginals(8)', start => '2020-01-01', period => '1 hour', periods => 100, rho => 1);
RESET SESSION AUTHORIZATION;
SELECT dataset, ok, message FROM unnest('{rows,stays}'::text[]) dataset, dp.verify_ledger(dataset);
DROP OWNED BY regress_ann, regress_curator;
DROP EXTENSION pg_epsilon;
DROP ROLE regress_curator, regress_ann;
