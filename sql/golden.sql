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
SET SESSION AUTHORIZATION regress_ann;
SELECT workload, figure, is_met(rms_stderr, figure) AS met, CASE WHEN NOT is_met(rms_stderr, figure) THEN rms_stderr END AS instead
  FROM (VALUES ('marginals(2)', 20, 11.744), ('marginals(3)', 20, 26.618)) f (workload, attributes, figure),
       LATERAL (SELECT array_agg('a' || i) AS attributes FROM generate_series(1, f.attributes) i) a,
       LATERAL dp.quote('l', a.attributes, workload, rho => 0.5);
SELECT workload, figure, is_met(rms_stderr, figure) AS met, CASE WHEN NOT is_met(rms_stderr, figure) THEN rms_stderr END AS instead
  FROM (VALUES ('all_range(u) * all_range(v)', 6.7548)) f (workload, figure), LATERAL dp.quote('l', '{u,v}', workload, rho => 0.5);
-- the worst of 52 reports
SELECT over, figure, is_met(stderr_worst, figure) AS met, CASE WHEN NOT is_met(stderr_worst, figure) THEN stderr_worst END AS instead
  FROM (VALUES ('totals', 2.049), ('totals + periods', 2.050)) f (over, figure),
       LATERAL dp.quote_series('l', '{a1}', 'identity', over, start => '2020-01-01', period => '7 days', periods => 52, objective => 'max', rho => 0.5);

DISCARD TEMP;
RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon CASCADE;
DROP TABLE t_r, t_s, t_p, t_q, t_l;
DROP FUNCTION quoted, is_met, declare, refused;
REVOKE CREATE ON SCHEMA public FROM regress_curator, regress_ann;
DROP ROLE regress_curator, regress_ann;
