-- Figures of the mathematics, as quotes show them: errors at rho .01, of Laplace noise at epsilon .1, each within a
-- part of the last digit that is written here.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator, regress_ann;
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_curator;
-- x is nowhere NULL, y may be; a lies around 0, c far from it, d below it
CREATE TABLE t_r (g int NOT NULL, k int, b boolean NOT NULL, x int NOT NULL, y int, a int NOT NULL, c int NOT NULL, d int NOT NULL);
CREATE TABLE t_s AS TABLE t_r;
CREATE TABLE t_p AS TABLE t_r;
CREATE TABLE t_q AS TABLE t_r;
-- NOT NULL is not copied
ALTER TABLE t_s ALTER x SET NOT NULL, ALTER a SET NOT NULL, ALTER c SET NOT NULL, ALTER d SET NOT NULL, ALTER b SET NOT NULL, ALTER g SET NOT NULL;
ALTER TABLE t_p ALTER x SET NOT NULL, ALTER a SET NOT NULL, ALTER c SET NOT NULL, ALTER d SET NOT NULL, ALTER b SET NOT NULL, ALTER g SET NOT NULL;
ALTER TABLE t_q ALTER x SET NOT NULL, ALTER a SET NOT NULL, ALTER c SET NOT NULL, ALTER d SET NOT NULL, ALTER b SET NOT NULL, ALTER g SET NOT NULL;
CREATE FUNCTION declare(dataset text, accounting text, neighbours text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM dp.create_dataset(dataset, ('t_' || dataset)::regclass, epsilon => 1e5, accounting => accounting, neighbours => neighbours);
    PERFORM dp.add_attribute(dataset, 'g', '{0,1,2,3,4,5,6,7,8,9}'), dp.add_attribute(dataset, 'k', '{0,1,2,3,4,5,6,7,8,9}');
    PERFORM dp.add_attribute(dataset, 'b');
    PERFORM dp.add_attribute(dataset, 'x', 0, 100, bins => 10), dp.add_attribute(dataset, 'y', 0, 100, bins => 10);
    PERFORM dp.add_attribute(dataset, 'a', -50, 50, bins => 10), dp.add_attribute(dataset, 'c', 1000, 1100, bins => 10);
    PERFORM dp.add_attribute(dataset, 'd', -100, 0, bins => 10);
    PERFORM dp.grant_budget(dataset, 'regress_ann', epsilon => 1e5);
END $$;
SELECT declare('r', 'zcdp', 'add_remove'), declare('s', 'zcdp', 'substitute'), declare('p', 'pure', 'add_remove'), declare('q', 'pure', 'substitute');
SET SESSION AUTHORIZATION regress_ann;

-- A figure is met if what is quoted is it, rounded to as many digits.
CREATE FUNCTION quoted(dataset text, aggregates text[], "by" text[], "rows" float8, number int) RETURNS float8 LANGUAGE sql AS $$
SELECT stderr FROM (SELECT row_number() OVER () AS i, stderr FROM dp.quote_aggregate(dataset, aggregates, "by",
       rho => CASE WHEN dataset IN ('r', 's') THEN 0.01 END, epsilon => CASE WHEN dataset IN ('p', 'q') THEN 0.1 END, "rows" => "rows")) q WHERE i = number $$;
CREATE FUNCTION is_met(quoted float8, figure numeric) RETURNS boolean LANGUAGE sql AS 'SELECT abs(quoted - figure::float8) <= 0.51 * 10 ^ -scale(figure)';
CREATE TEMP TABLE figure (source text, dataset text, aggregates text[], "by" text[], at_rows float8, number int, stderr numeric);
INSERT INTO figure VALUES
-- sums by a direct measurement
('direct', 'r', '{sum(x)}', '{}', 1, 1, 707), ('direct', 'r', '{sum(a)}', '{}', 1, 1, 354), ('direct', 'r', '{sum(c)}', '{}', 1, 1, 7778),
('direct', 'r', '{sum(x)}', '{g}', 1, 1, 707), ('counts', 'r', '{count(*)}', '{}', 1, 1, 7.07), ('counts', 'r', '{count(*)}', '{g}', 1, 1, 7.07),
-- disjoint conditions, a rate, a sum and a count where x may be NULL
('atoms', 'r', '{count(*) where (k = 0),count(*) where (k = 1),count(*) where (k = 2),count(*) where (k = 3)}', '{}', 1, 4, 7.07),
('atoms', 'r', '{count(*) where (k = 0),count(*) where (k = 1)}', '{g}', 1, 2, 7.07),
-- the rate is shown at 1, where its error is sqrt(2) times that of .000500 at one half
('atoms', 'r', '{"ratio(count(*) where (b), count(*))"}', '{}', 10000, 1, 0.000707),
('atoms', 'r', '{sum(x),count(*)}', '{}', 1, 1, 765), ('atoms', 'r', '{sum(x),count(*)}', '{}', 1, 2, 8.5),
('atoms', 'r', '{sum(y),count(*)}', '{}', 1, 1, 765), ('atoms', 'r', '{sum(y),count(*)}', '{}', 1, 2, 9.6),
-- substitute; counts of ten groups are not measured one by one, which would be 10.0
('substitute', 's', '{sum(x)}', '{}', 1, 1, 707.1), ('substitute', 's', '{sum(y)}', '{}', 1, 1, 707.1), ('substitute', 's', '{sum(d)}', '{}', 1, 1, 707.1),
('substitute', 's', '{sum(x)}', '{g}', 1, 1, 1000), ('substitute', 's', '{avg(x)}', '{}', 1000, 1, .736), ('substitute', 's', '{avg(x)}', '{g}', 1000, 1, .79),
('substitute', 's', '{avg(y)}', '{}', 1000, 1, .736), ('substitute', 's', '{count(*)}', '{g}', 1, 1, 9.53), ('substitute', 's', '{count(*)}', '{}', 1, 1, 7.07),
('substitute', 's', '{sum(a)}', '{}', 1, 1, 707.1), ('substitute', 's', '{sum(c)}', '{}', 1, 1, 7778),
-- Laplace noise
('pure', 'p', '{sum(x)}', '{}', 1, 1, 1414), ('pure', 'p', '{sum(x)}', '{g}', 1, 1, 1414), ('pure', 'p', '{avg(x),count(*)}', '{}', 1000, 1, 1.12),
('pure', 'p', '{avg(x),count(*),sum(x)}', '{}', 1, 2, 20.0), ('pure', 'p', '{avg(x),count(*),sum(x)}', '{}', 1, 3, 1414), ('pure', 'p', '{avg(x)}', '{g}', 1000, 1, 1.12),
('pure', 'p', '{avg(y)}', '{}', 1000, 1, 1.12), ('pure', 'q', '{sum(x)}', '{}', 1, 1, 1414), ('pure', 'q', '{avg(x)}', '{}', 1000, 1, 2.24),
-- with the products A, C, B of the distances from both bounds, each drawn for 4 most^2: at the mean that quotes are at the
-- variance is, in these, (-A - 13 C + 23 B) / 12, the count A + C + B and the sum 2 A + C, times half of the bounds
('squares', 'p', '{var(x),count(*),sum(x)}', '{}', 1000, 1, 77.97), ('squares', 'p', '{var(x),count(*),sum(x)}', '{}', 1000, 2, 24.49),
('squares', 'p', '{var(x),count(*),sum(x)}', '{}', 1000, 3, 1581), ('squares', 'p', '{var(y)}', '{g}', 1000, 1, 77.97), ('squares', 'p', '{avg(x),var(x)}', '{}', 1000, 1, 1.173),
('squares', 'q', '{var(x)}', '{}', 1000, 1, 155.94), ('squares', 'q', '{var(x),count(*)}', '{}', 1000, 2, 48.99);
SELECT source, dataset, aggregates[number] AS aggregate, "by", stderr AS figure, is_met(quoted, stderr) AS met, CASE WHEN NOT is_met(quoted, stderr) THEN quoted END AS instead
  FROM figure, LATERAL quoted(dataset, aggregates, "by", at_rows, number) ORDER BY source, dataset, aggregates, "by", number;

-- tables of 20 attributes with ten levels, and ranges of two attributes; the mean error where a count has error 1
RESET SESSION AUTHORIZATION;
SELECT 'CREATE TABLE t_l (' || string_agg(format('a%s int NOT NULL', i), ', ') || ')' FROM generate_series(1, 20) i \gexec
ALTER TABLE t_l ADD u int NOT NULL, ADD v int NOT NULL, ADD day date NOT NULL;
ALTER TABLE t_l OWNER TO regress_curator;
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.create_dataset('l', 't_l', epsilon => 1e5, accounting => 'zcdp');
SELECT count(dp.add_attribute('l', 'a' || i, '{0,1,2,3,4,5,6,7,8,9}')) FROM generate_series(1, 20) i;
SELECT dp.add_attribute('l', 'u', 0, 128, bins => 128, last => 'open'), dp.add_attribute('l', 'v', 0, 128, bins => 128, last => 'open');
SELECT dp.add_attribute('l', 'day', '2020-01-01', '2021-01-01', bins => 1), dp.set_time('l', 'day');
SELECT dp.grant_budget('l', 'regress_ann', epsilon => 1e5);
CREATE TABLE t_w (l2 int, l5 int, r20 int, r100 int, p1 int, p2 int, p3 int, r256 int, s256 int, r1024 int, q1 int, q2 int, q3 int, q4 int, q5 int);
SELECT dp.create_dataset('w', 't_w', epsilon => 1e5, accounting => 'zcdp');
SELECT count(dp.add_attribute('w', name, 0, cells, bins => cells, last => 'open', nulls => 'drop')) FROM (VALUES ('l2', 2), ('l5', 5), ('r20', 20), ('r100', 100), ('p1', 8), ('p2', 8), ('p3', 8), ('r256', 256), ('s256', 256), ('r1024', 1024), ('q1', 10), ('q2', 10), ('q3', 10), ('q4', 10), ('q5', 10)) a (name, cells);
SELECT 'CREATE TABLE t_adult (' || string_agg(format('a%s int', i), ', ') || ')' FROM generate_series(1, 14) i \gexec
SELECT dp.create_dataset('adult', 't_adult', epsilon => 1e5, accounting => 'zcdp');
SELECT count(dp.add_attribute('adult', 'a' || i, 0, cells, bins => cells, last => 'open', nulls => 'drop')) FROM unnest('{85,9,100,16,7,15,6,5,2,100,100,99,42,2}'::int[]) WITH ORDINALITY a (cells, i);
CREATE TABLE t_kept (id int NOT NULL, a int NOT NULL, day date NOT NULL);
CREATE TABLE t_moved (LIKE t_kept INCLUDING ALL);
SELECT dp.create_dataset(d, ('t_' || d)::regclass, epsilon => 1e5, accounting => 'zcdp', unit => 'id', max_rows => 1), dp.add_attribute(d, 'a', '{0,1,2,3}'),
       dp.add_attribute(d, 'day', '2020-01-01', '2021-01-01', bins => 1), dp.set_time(d, 'day', append_only => d = 'kept') FROM unnest('{kept,moved}'::text[]) d;
SELECT count(dp.grant_budget(d, 'regress_ann', epsilon => 1e5)) FROM unnest('{w,adult,kept,moved}'::text[]) d;
SET SESSION AUTHORIZATION regress_ann;
SELECT workload, figure, is_met(rms_stderr, figure) AS met, CASE WHEN NOT is_met(rms_stderr, figure) THEN rms_stderr END AS instead
  FROM (VALUES ('marginals(2)', 20, 11.744), ('marginals(3)', 20, 26.618)) f (workload, attributes, figure),
       LATERAL (SELECT array_agg('a' || i) AS attributes FROM generate_series(1, f.attributes) i) a,
       LATERAL dp.quote('l', a.attributes, workload, rho => 0.5);
SELECT workload, figure, is_met(rms_stderr, figure) AS met, CASE WHEN NOT is_met(rms_stderr, figure) THEN rms_stderr END AS instead
  FROM (VALUES ('all_range(u) * all_range(v)', 6.7548)) f (workload, figure), LATERAL dp.quote('l', '{u,v}', workload, rho => 0.5);
-- unions of every kind of plan, by what all variances add up to; of a product form the figure is that of its construction
SELECT workload, figure, round((rms_stderr ^ 2 * queries / figure)::numeric, 4) AS of_it, plan
  FROM (VALUES ('all_range(r20) * identity(l2) + all_range(r20)', 2619.831713), ('all_range(r100) * identity(l2) + all_range(r100) * identity(l5) + identity(l2) * identity(l5)', 349971.6123),
          ('prefix(r100) * identity(l2) * identity(l5) + all_range(r100) + identity(r100) * identity(l2) + total', 59574.97817),
          ('prefix(p1) + prefix(p2) + prefix(p3) + prefix(p1) * prefix(p2) + prefix(p1) * prefix(p3) + prefix(p2) * prefix(p3) + total', 2052.7878),
          ('all_range(p1) * all_range(p2) + all_range(p1) * all_range(p3) + all_range(p2) * all_range(p3)', 41170.71),
          ('prefix(r256) * prefix(s256)', 2661475.895), ('all_range(r256) * all_range(s256)', 7.668984189e10)) f (workload, figure),
       LATERAL dp.quote('w', ARRAY(SELECT a FROM unnest('{r20,r100,l2,l5,p1,p2,p3,r256,s256}'::text[]) a WHERE f.workload ~ ('\m' || a || '\M')), workload, rho => 0.5);
SELECT queries, figure, round((rms_stderr ^ 2 * queries / figure)::numeric, 4) AS of_it, plan
  FROM (VALUES (641220.61)) f (figure),
       (SELECT string_agg(t, ' + ') AS workload FROM (SELECT DISTINCT (SELECT string_agg(DISTINCT format('prefix(q%s)', i), ' * ') FROM unnest(ARRAY[a, b, c]) i) FROM generate_series(1, 5) a, generate_series(1, 5) b, generate_series(1, 5) c) t (t)) t,
       LATERAL dp.quote('w', '{q1,q2,q3,q4,q5}', 'total + ' || workload, rho => 0.5);
-- all ranks of 1,024 cells
SELECT workload, figure, is_met(rms_stderr, figure) AS met, CASE WHEN NOT is_met(rms_stderr, figure) THEN rms_stderr END AS instead
  FROM (VALUES ('prefix(r1024)', 2.955)) f (workload, figure), LATERAL dp.quote('w', 'r1024', workload, rho => 0.5);
-- tables of two of Adult's 14 attributes at epsilon 1
SELECT figure, is_met(rms_stderr, figure) AS met, CASE WHEN NOT is_met(rms_stderr, figure) THEN rms_stderr END AS instead
  FROM (VALUES (37.866)) f (figure), LATERAL dp.quote('adult', (SELECT array_agg('a' || i ORDER BY i) FROM generate_series(1, 14) i), 'marginals(2)', rho => 0.0141);
-- the worst and the last report, beside those of periods added up and of the budget split
SELECT over, objective, periods, figure, is_met(stderr_worst, figure) AS met, CASE WHEN NOT is_met(stderr_worst, figure) THEN stderr_worst END AS instead
  FROM (VALUES ('totals', 'max', 52, 2.049), ('totals + periods', 'max', 52, 2.050), ('windows(4)', 'max', 52, 1.549), ('windows(13)', 'max', 52, 1.984),
          ('totals', 'sum', 52, 2.236), ('windows(4)', 'sum', 52, 1.561), ('windows(13)', 'sum', 52, 2.064), ('totals + periods', 'sum', 52, 2.487), ('totals', 'max', 12, 1.623), ('totals', 'sum', 12, 1.765)) f (over, objective, periods, figure),
       LATERAL dp.quote_series('l', '{a1}', 'identity', over, start => '2020-01-01', period => '7 days', periods => periods, objective => objective, rho => 0.5);
SELECT round(added_last::numeric, 3) AS sqrt_52, round(split_last::numeric, 3) AS sqrt_52 FROM dp.quote_series('l', '{a1}', 'identity', 'totals', start => '2020-01-01', period => '7 days', periods => 52, rho => 0.5);
-- units with rows in p of 52 weeks: where these stay the squared sensitivity is 3.62 and 13.0 times that of one row, and 91 times for
-- p = 12, where weeks by themselves are better: 52 p of 2.2356^2; where they may move it is 28 times for p = 1
SELECT dataset, p, strategy, figure, is_met((stderr_worst / alone) ^ 2, figure) AS met, CASE WHEN NOT is_met((stderr_worst / alone) ^ 2, figure) THEN (stderr_worst / alone) ^ 2 END AS instead
  FROM (VALUES ('kept', 2, 3.62), ('kept', 4, 13.0), ('kept', 12, 124.85), ('moved', 1, 28)) f (dataset, p, figure),
       LATERAL (SELECT stderr_worst AS alone FROM dp.quote_series('kept', '{a}', 'identity', 'totals', start => '2020-01-01', period => '7 days', periods => 52, rho => 0.5, max_periods => 1)) one,
       LATERAL dp.quote_series(dataset, '{a}', 'identity', 'totals', start => '2020-01-01', period => '7 days', periods => 52, rho => 0.5, max_periods => p);

DISCARD TEMP;
RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon CASCADE;
DROP TABLE t_r, t_s, t_p, t_q, t_l, t_w, t_adult, t_kept, t_moved;
DROP FUNCTION quoted, is_met, declare, refused;
REVOKE CREATE ON SCHEMA public FROM regress_curator, regress_ann;
DROP ROLE regress_curator, regress_ann;
