-- Conditions of aggregates are an attribute: columns with conditions have the errors of a GROUP BY.  What is added is
-- checked at a very large rho, at which counts that are rounded are exact.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator, regress_ann;
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_curator;
-- a person has at most three rows; r: one row for each person
CREATE TABLE seen (person int NOT NULL, g text, b boolean, k int, x int, y int NOT NULL);
INSERT INTO seen SELECT i % 4000, CASE i % 3 WHEN 0 THEN 'a' WHEN 1 THEN 'b' ELSE 'c' END, CASE WHEN i % 5 < 4 THEN i % 2 = 0 END, i % 10,
       CASE WHEN i % 9 > 0 THEN i % 101 END, i * 7 % 51 FROM generate_series(1, 10000) i;
CREATE FUNCTION declare(dataset text, accounting text, neighbours text, unit name, max_rows int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM dp.create_dataset(dataset, ('t_' || dataset)::regclass, epsilon => 1e5, accounting => accounting, neighbours => neighbours, unit => unit, max_rows => max_rows);
    PERFORM dp.add_attribute(dataset, 'g', '{a,b,c}'), dp.add_attribute(dataset, 'b', nulls => 'cell');
    PERFORM dp.add_attribute(dataset, 'k', '{0,1,2,3,4,5,6,7,8,9}');
    PERFORM dp.add_attribute(dataset, 'x', 0, 100, bins => 10), dp.add_attribute(dataset, 'y', 0, 100, bins => 10);
    PERFORM dp.grant_budget(dataset, 'regress_ann', epsilon => 1e5);
    PERFORM dp.expose(dataset, 'public.' || dataset || '_v');
    EXECUTE 'GRANT SELECT ON ' || dataset || '_v TO PUBLIC';
END $$;

GRANT SELECT ON seen TO PUBLIC;
CREATE TABLE t_r AS SELECT * FROM seen;
CREATE TABLE t_z AS SELECT * FROM seen;
CREATE TABLE t_p AS SELECT * FROM seen;
CREATE TABLE t_u AS SELECT * FROM seen;
CREATE TABLE t_s AS SELECT * FROM seen;
SELECT declare('r', 'gdp', 'add_remove', NULL, 1), declare('z', 'zcdp', 'substitute', NULL, 1), declare('p', 'pure', 'add_remove', NULL, 1),
       declare('u', 'gdp', 'add_remove', 'person', 3), declare('s', 'gdp', 'substitute', 'person', 3);
SET SESSION AUTHORIZATION regress_ann;

-- counts by themselves are not read from a release by atoms: not to be shown in a quote, and not to answer
SELECT max(release) AS release FROM dp.aggregate('r', '{count(*) where (x < 50),count(*)}', '{b}', rho => 0.02) \gset
SELECT known_release FROM dp.quote('r', '{b}', 'identity(b)', rho => 0.0001);
SELECT min(release) > :release AS asked_anew FROM dp.histogram('r', '{b}', 'identity(b)', rho => 0.0001, reuse => true);

-- 1. Ten disjoint columns have the errors of the same GROUP BY, and a count by itself: 7.07 at rho .01.
CREATE TEMP TABLE ten AS SELECT array_agg(format('count(*) where (k = %s)', k)) AS columns FROM generate_series(0, 9) k;
SELECT count(*), round(min(stderr)::numeric, 2) AS least, round(max(stderr)::numeric, 2) AS most
  FROM ten, dp.quote_aggregate('r', columns, rho => 0.01);
SELECT round(max(stderr)::numeric, 2) AS ten_columns FROM ten, dp.quote_aggregate('r', columns, epsilon => 0.5);
SELECT round(max(stderr)::numeric, 2) AS one_group_by FROM dp.quote_aggregate('r', '{count(*)}', '{k}', epsilon => 0.5);
-- nested ones: the last counts all rows; each by itself would have 14.1
SELECT aggregate, round(stderr::numeric, 2) AS stderr FROM dp.quote_aggregate('r', '{count(*) where (k = 0),"count(*) where (k in (0,1))","count(*) where (k in (0,1,2))",count(*)}', rho => 0.01);
-- the same rows in other words are measured once
SELECT aggregate, round(stderr::numeric, 2) AS stderr FROM dp.quote_aggregate('r', '{"count(*) where (k in (0,1))",count(*) where (k = 0 or k = 1)}', rho => 0.01);
-- sums and averages of disjoint conditions: those of one condition
SELECT aggregate, round(stderr::numeric, 3) AS stderr FROM dp.quote_aggregate('r', '{sum(y) where (b),sum(y) where (not b),sum(y) where (b is null)}', rho => 0.01);
SELECT aggregate, round(stderr::numeric, 3) AS stderr FROM dp.quote_aggregate('r', '{sum(y) where (b)}', rho => 0.01);
SELECT aggregate, round(stderr::numeric, 3) AS stderr FROM dp.quote_aggregate('r', '{avg(y) where (b),avg(y) where (not b)}', '{g}', rho => 0.01);
SELECT aggregate, round(stderr::numeric, 3) AS stderr FROM dp.quote_aggregate('r', '{avg(y) where (b)}', '{g}', rho => 0.01);
-- in a pure budget, and where neighbours are substitutes
SELECT round(max(stderr)::numeric, 1) AS ten_columns FROM ten, dp.quote_aggregate('p', columns, epsilon => 0.1);
SELECT round(max(stderr)::numeric, 1) AS one_group_by FROM dp.quote_aggregate('p', '{count(*)}', '{k}', epsilon => 0.1);
SELECT round(max(stderr)::numeric, 2) AS ten_columns FROM ten, dp.quote_aggregate('z', columns, rho => 0.01);
SELECT round(max(stderr)::numeric, 2) AS one_group_by FROM dp.quote_aggregate('z', '{count(*)}', '{k}', rho => 0.01);
-- a rate of 10,000 rows and a half: .00050 at rho .01, and .00112 from two counts
SELECT abs(estimate - 0.5) < 7 * 0.0005 AS near, stderr < 0.00051 AS sharp, stderr > 0.00049 AS told, abs((upper95 - lower95) / stderr - 3.92) < 0.01 AS normal
  FROM dp.aggregate('r', '{"ratio(count(*) where (k in (0,1,2,3,4)), count(*))"}', rho => 0.01);

-- rows that overlap: what two of them have in common is known, of a ratio and of SELECT's own quotient
SELECT aggregate, round(stderr::numeric, 5) AS stderr FROM dp.quote_aggregate('r', '{"ratio(count(*) where (k in (0,1,2)), count(*) where (k in (2,3)))","ratio(sum(y) where (b), sum(y))",count(*) where (b)}', rho => 0.01, rows => 10000);
SET pg_epsilon.epsilon = 0.5;
SELECT dp.stderr_avg((k < 5)::int) BETWEEN 0.00074 AND 0.00077 AS by_value FROM r_v;
SELECT dp.stderr_avg(CASE WHEN k % 2 = 0 THEN 1 ELSE 0 END) BETWEEN 0.00074 AND 0.00077 AS by_case FROM r_v;
RESET pg_epsilon.epsilon;
-- a bound of the error is one of the first column; medians have a strategy of their own, beside which classes are counted one by one
SELECT max(stderr) BETWEEN 4.99 AND 5 AS bounded, count(*) FROM dp.quote_aggregate('r', '{count(*) where (b),count(*) where (not b)}', max_stderr => 5);
SELECT aggregate, round(stderr::numeric, 2) AS stderr FROM dp.quote_aggregate('r', '{"count(*) where (k in (0,1))","count(*) where (k in (1,2))",median(y)}', rho => 0.01);
-- conditions of two functions that overlap in different ways: one strategy is kept, and the other sums are counted class by class
SELECT aggregate, round(stderr::numeric, 2) AS stderr FROM dp.quote_aggregate('r', '{"count(*) where (k in (0,1))","count(*) where (k in (1,2))",count(*),"sum(x) where (b or k = 1)","sum(x) where (not b or k = 2)"}', rho => 0.01);

-- 2. What comes out, beside the rows: overlapping, nested, disjoint and empty conditions, NULLs, in every kind of budget.
CREATE FUNCTION differ(dataset text, aggregates text[], by_ text[], wrong OUT bigint, told OUT bigint, sharp OUT boolean) LANGUAGE plpgsql AS $$
DECLARE
    a text;
    truth text[] := '{}';
    sum_of text;
    r record;
    t jsonb;
BEGIN
    FOREACH a IN ARRAY aggregates LOOP
        sum_of := regexp_replace(a, '^ratio\((.*?), (.*)\)$', '((\1)::float8 / (\2))');
        truth := truth || format('(%s)::float8', regexp_replace(sum_of, 'where \(', 'FILTER (WHERE ', 'g'));
    END LOOP;
    EXECUTE format('SELECT jsonb_agg(jsonb_build_object(''g'', g, ''v'', v)) FROM (SELECT %s AS g, jsonb_build_array(%s) AS v FROM seen GROUP BY 1) s',
                   CASE WHEN by_ = '{}' THEN '''{}''::jsonb' ELSE 'jsonb_build_object(''g'', g)' END, array_to_string(truth, ', ')) INTO t;
    SELECT count(*) FILTER (WHERE NOT abs(estimate - value) <= greatest(1e-6 * abs(value), 7 * stderr + 1e-9)), count(*), bool_and(stderr <= 0.2 + abs(value) / 1000) INTO wrong, told, sharp
      FROM (SELECT label, row_number() OVER (PARTITION BY label) AS i, estimate, stderr FROM dp.aggregate(dataset, aggregates, by_, rho => CASE WHEN dataset <> 'p' THEN 1000 END, epsilon => CASE dataset WHEN 'p' THEN 2000 END)) q
      JOIN (SELECT e->'g' AS label, n AS i, (v #>> '{}')::float8 AS value FROM jsonb_array_elements(t) e, jsonb_array_elements(e->'v') WITH ORDINALITY v (v, n)) s USING (label, i);
END $$;
CREATE TABLE asked (n int, aggregates text[]);
INSERT INTO asked VALUES
 (1, '{count(*) where (b),count(*) where (not b),count(*) where (b is null),count(*)}'),
 (2, '{"count(*) where (k in (0,1,2,3))","count(*) where (k in (2,3,4))","count(*) where (k in (3,4,5,6) and b)",count(*) where (b or k = 9),count(x)}'),
 (3, '{sum(x) where (b),"sum(x) where (k in (1,2,3))",count(*) where (b),avg(x) where (not b),avg(x),sum(y) where (b),sum(y)}'),
 (4, '{"ratio(count(*) where (b), count(*))","ratio(sum(y) where (k in (1,2,3)), sum(y) where (k in (3,4)))","ratio(sum(x) where (b), count(*) where (not b))",count(*) where (not b)}'),
 (5, '{avg(x) where (x < 50),avg(y) where (x >= 30),count(*) where (x < 70 and b),count(x) where (b)}'),
 (6, '{count(*) where (b and not b),count(*) where (b),count(*) where (k = 1)}');
SELECT n, d, x.* FROM asked, unnest('{r,z,p,u,s}'::text[]) d, unnest('{"{}","{g}"}'::text[]) g, differ(d, aggregates, g::text[]) x WHERE wrong > 0 OR NOT sharp ORDER BY 1, 2;
SELECT sum(told) FROM asked, unnest('{r,z,p,u,s}'::text[]) d, unnest('{"{}","{g}"}'::text[]) g, differ(d, aggregates, g::text[]) x;
-- variances and correlations of disjoint rows; the tolerance is that of sums of squares
SELECT aggregate, abs(estimate - value) < value / 100 AS near FROM dp.aggregate('r', '{var(y) where (b),stddev(y) where (not b),"corr(x, y) where (b)","corr(x, y) where (not b)"}', rho => 1000)
  JOIN (SELECT unnest('{var(y) where (b),stddev(y) where (NOT b)}'::text[]) AS aggregate, unnest(ARRAY[var_samp(y) FILTER (WHERE b), stddev_samp(y) FILTER (WHERE NOT b)]) AS value FROM seen) t USING (aggregate) ORDER BY 1;
-- groups that overlap, with a predicate, which leaves one of them none
SELECT label, aggregate, round(estimate)::int AS estimate FROM dp.aggregate('r', '{count(*) where (b),count(*) where (not b),count(*)}', '{g}', 'g <> ''c''', workload => 'identity(g) + total(g)', rho => 1000);
SELECT g, count(*) FILTER (WHERE b), count(*) FILTER (WHERE NOT b), count(*) FROM seen WHERE g <> 'c' GROUP BY ROLLUP (g) ORDER BY 1;
-- as SELECT has it; the sum of a column with levels has a condition for each, which are disjoint
SET pg_epsilon.epsilon = 1000;
SELECT g, count(*) FILTER (WHERE b) AS yes, count(*) FILTER (WHERE NOT b) AS no, abs(avg(CASE WHEN b THEN 1 ELSE 0 END) - 0.4) < 0.001 AS rate FROM r_v GROUP BY ROLLUP (g) ORDER BY 1;
SELECT g, count(*) FILTER (WHERE b) AS yes, count(*) FILTER (WHERE NOT b) AS no FROM seen GROUP BY ROLLUP (g) ORDER BY 1;
SELECT abs(sum(k) - 45000) < 10 AS levels FROM r_v;
RESET pg_epsilon.epsilon;
-- 3. A release answers its own columns again, some of them, and in another order; not what it has not measured.
SELECT max(release) AS release FROM dp.aggregate('r', '{count(*) where (b),count(*) where (not b),count(*),avg(y) where (b)}', '{g,k}', rho => 0.02) \gset
SELECT count(DISTINCT estimate) = 30 AND min(release) = :release AND max(release) = :release AS known FROM dp.aggregate('r', '{count(*) where (not b)}', '{g,k}', rho => 0.005, reuse => true);
SELECT min(release) = :release AND max(release) = :release AS known FROM dp.aggregate('r', '{avg(y) where (b),count(*) where (b)}', '{g,k}', rho => 0.005, reuse => true);
SELECT min(release) > :release AS asked_anew FROM dp.aggregate('r', '{count(*) where (x < 50)}', '{g,k}', rho => 0.005, reuse => true);
SELECT min(release) > :release AS asked_anew FROM dp.aggregate('r', '{count(*) where (not b)}', '{g,k}', rho => 0.5, reuse => true);
SELECT aggregate, bool_and(a.estimate = b.estimate AND a.stderr = b.stderr AND a.lower95 = b.lower95) AS same
  FROM dp.aggregate('r', '{count(*) where (b),count(*) where (not b),count(*),avg(y) where (b)}', '{g,k}', rho => 0.02) a
  JOIN dp.aggregate('r', '{count(*) where (b),count(*) where (not b),count(*),avg(y) where (b)}', '{g,k}', rho => 0.02) b USING (label, aggregate) GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM dp.publish(:release, 'published');
SELECT count(*), count(DISTINCT k) FROM published;

DISCARD TEMP;
RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon CASCADE;
DROP TABLE published, asked, seen, t_r, t_z, t_p, t_u, t_s;
DROP FUNCTION refused(text), differ(text, text[], text[]), declare(text, text, text, name, int);
REVOKE CREATE ON SCHEMA public FROM regress_curator, regress_ann;
DROP ROLE regress_curator, regress_ann;
