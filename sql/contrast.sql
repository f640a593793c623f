-- dp.contrast: two queries of one release; at a very large rho what the rows say, and beside that the covariance of the noise.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE study (arm text, sex text, age int, weight float8, paid int);
INSERT INTO study SELECT CASE WHEN i % 5 < 2 THEN 'old' ELSE 'new' END, (ARRAY['f', 'm'])[i % 7 % 2 + 1], (i * 37) % 100,
    CASE WHEN i % 11 > 0 THEN 40 + (i * 71) % 83 * 0.75 END, (i * 13) % 50
  FROM generate_series(1, 5000) i;
SELECT dp.create_dataset('study', 'study', 90000);
SELECT dp.add_attribute('study', 'arm', ARRAY['new', 'old']);
SELECT dp.add_attribute('study', 'sex', ARRAY['f', 'm', 'x'], nulls => 'cell');
SELECT dp.add_attribute('study', 'age', 0, 100, 10);
SELECT dp.add_attribute('study', 'weight', 0.0, 200.0, 10);
SELECT dp.add_attribute('study', 'paid', 0, 50, 5);
SELECT dp.grant_budget('study', 'regress_ann', 90000);
GRANT SELECT ON study TO regress_ann;
CREATE TABLE pure_study AS SELECT * FROM study;
SELECT dp.create_dataset('pure_study', 'pure_study', 90000, accounting => 'pure');
SELECT dp.add_attribute('pure_study', 'arm', ARRAY['new', 'old']);
SELECT dp.add_attribute('pure_study', 'sex', ARRAY['f', 'm']);
SELECT dp.add_attribute('pure_study', 'age', 0, 100, 10);
SELECT dp.grant_budget('pure_study', 'regress_ann', 90000);
SET SESSION AUTHORIZATION regress_ann;
CREATE FUNCTION pg_temp.near(a float8, b float8, most float8 DEFAULT 0.05) RETURNS boolean LANGUAGE sql AS 'SELECT abs(a - b) <= most';

-- counts and shares
SELECT max(release) AS cells FROM dp.histogram('study', '{arm,sex,age}', rho => 3000) \gset
SELECT pg_temp.near(c.estimate, a - b, 1) AS estimate, pg_temp.near(c.estimate_a, a, 1) AND pg_temp.near(c.estimate_b, b, 1) AS both, pg_temp.near((c.upper95 - c.lower95) / c.stderr, 2 * 1.96, 0.01) AS width,
    pg_temp.near(r.estimate, a / b) AS ratio, pg_temp.near(s.estimate, (a - b) / n) AS shares, pg_temp.near(t.estimate, a / b) AS ratio_of_shares
  FROM (SELECT count(*) FILTER (WHERE sex = 'f' AND age < 30)::float8 AS a, count(*) FILTER (WHERE sex = 'm' OR age >= 90)::float8 AS b, count(*)::float8 AS n FROM study) e,
    dp.contrast(:cells, $$sex = 'f' AND age < 30$$, $$count(*) WHERE (sex = 'm' OR age >= 90)$$) c,
    dp.contrast(:cells, $$sex = 'f' AND age < 30$$, $$sex = 'm' OR age >= 90$$, 'ratio') r,
    dp.contrast(:cells, $$share WHERE (sex = 'f' AND age < 30)$$, $$share WHERE (sex = 'm' OR age >= 90)$$) s,
    dp.contrast(:cells, $$share WHERE (sex = 'f' AND age < 30)$$, $$share WHERE (sex = 'm' OR age >= 90)$$, 'ratio') t;
-- all rows less all rows has no error; one part of another has that of the rest
SELECT round(estimate) AS estimate, stderr FROM dp.contrast(:cells, 'count(*)', 'count(*)');
SELECT pg_temp.near(c.stderr / r.stderr, 1, 1e-6) AS same FROM dp.contrast(:cells, 'age < 50', 'age < 40') c, dp.answer(:cells, 'ranges(age; 4-4)') r;

-- averages and sums
SELECT max(release) AS sums FROM dp.aggregate('study', '{avg(age),sum(paid),avg(weight),count(*)}', by => '{arm,sex}', rho => 3000) \gset
SELECT pg_temp.near(c.estimate, a - b) AS difference, pg_temp.near(r.estimate, a / b) AS ratio, pg_temp.near(estimate_a, a) AS a, c.stderr < 0.1 AND c.lower95 < c.estimate AND r.lower95 < r.estimate AND r.upper95 > r.estimate AS interval
  FROM (SELECT avg(age) FILTER (WHERE sex = 'f')::float8 AS a, avg(age) FILTER (WHERE sex = 'm' AND arm = 'old')::float8 AS b FROM study) e,
    LATERAL (SELECT * FROM dp.contrast(:sums, $$avg(age) WHERE (sex = 'f')$$, $$avg(age) WHERE (sex = 'm' AND arm = 'old')$$)) c,
    LATERAL (SELECT estimate, lower95, upper95 FROM dp.contrast(:sums, $$avg(age) WHERE (sex = 'f')$$, $$avg(age) WHERE (sex = 'm' AND arm = 'old')$$, 'ratio')) r;
SELECT pg_temp.near(c.estimate, a - b, 20) AS difference, pg_temp.near(r.estimate, a / b) AS ratio
  FROM (SELECT sum(paid) FILTER (WHERE arm = 'new')::float8 AS a, sum(paid) FILTER (WHERE arm = 'old')::float8 AS b FROM study) e,
    dp.contrast(:sums, $$sum(paid) WHERE (arm = 'new')$$, $$sum(paid) WHERE (arm = 'old')$$) c,
    dp.contrast(:sums, $$sum(paid) WHERE (arm = 'new')$$, $$sum(paid) WHERE (arm = 'old')$$, 'ratio') r;
SELECT pg_temp.near(c.estimate, a - b) AS difference
  FROM (SELECT avg(weight) FILTER (WHERE arm = 'new') AS a, avg(weight) FILTER (WHERE arm = 'old') AS b FROM study) e,
    dp.contrast(:sums, $$avg(weight) WHERE (arm = 'new')$$, $$avg(weight) WHERE (arm = 'old')$$) c;

-- Laplace noise; a strategy of ranges, whose errors two queries share
SELECT max(release) AS laplace FROM dp.aggregate('pure_study', '{avg(age),count(*)}', by => '{arm,sex}', epsilon => 20000) \gset
SELECT pg_temp.near(c.estimate, a - b) AS difference
  FROM (SELECT avg(age) FILTER (WHERE sex = 'f')::float8 AS a, avg(age) FILTER (WHERE sex = 'm')::float8 AS b FROM study) e,
    dp.contrast(:laplace, $$avg(age) WHERE (sex = 'f')$$, $$avg(age) WHERE (sex = 'm')$$) c;
SELECT max(release) AS ranges FROM dp.histogram('study', 'age', 'all_range', rho => 1) \gset
SELECT pg_temp.near(c.stderr / r.stderr, 1, 1e-6) AS same, pg_temp.near(c.estimate, r.estimate, 1e-6) AS estimate FROM dp.contrast(:ranges, 'age < 80', 'age < 30') c, dp.answer(:ranges, 'ranges(age; 3-7)') r;
-- marginals of three attributes
SELECT max(release) AS marginals FROM dp.histogram('study', '{arm,sex,age,weight,paid}', 'marginals(2)', rho => 1) \gset
SELECT pg_temp.near(c.stderr / r.stderr, 1, 1e-6) AS same, pg_temp.near(c.estimate, r.estimate, 1e-6) AS estimate
  FROM dp.contrast(:marginals, $$sex = 'f' AND age < 80$$, $$sex = 'f' AND age < 30$$) c, dp.answer(:marginals, 'matrix(sex; {{1,0,0,0}}) * matrix(age; {{0,0,0,1,1,1,1,1,0,0}})') r;

-- where the noise covers everything
SELECT max(release) AS nothing FROM dp.aggregate('study', '{avg(age),count(*)}', by => '{arm}', rho => 1e-8) \gset
SELECT lower95, upper95 FROM dp.contrast(:nothing, $$avg(age) WHERE (arm = 'new')$$, $$avg(age) WHERE (arm = 'old')$$, 'ratio');
-- averages of ages are between their bounds, and so is their difference; an arm without rows has none
SELECT count(*) AS pairs, bool_and(lower95 BETWEEN -100 AND upper95 AND upper95 <= 100 AND coalesce(estimate BETWEEN lower95 AND upper95, true)
                                  AND coalesce(estimate_a BETWEEN 0 AND 100, true) AND coalesce(estimate_b BETWEEN 0 AND 100, true)) AS between
  FROM (VALUES (:nothing, 'arm', 'new', 'old'), (:sums, 'sex', 'f', 'x'), (:sums, 'sex', 'x', 'm')) v (r, name, a, b), dp.contrast(r, format('avg(age) WHERE (%I = %L)', name, a), format('avg(age) WHERE (%I = %L)', name, b));

-- refused, with what to do
\set VERBOSITY default
SELECT * FROM dp.contrast(:cells, $$sex = 'f'$$, $$sex = 'm'$$, 'quotient');
SELECT * FROM dp.contrast(:cells, $$sex = 'f'$$, $$sex == 'm'$$);
SELECT * FROM dp.contrast(:cells, $$sex = 'f'$$, $$sex = 'q'$$);
SELECT * FROM dp.contrast(:cells, $$sex = 'f'$$, 'weight < 60');
SELECT * FROM dp.contrast(:cells, $$avg(age) WHERE (sex = 'f')$$, $$avg(age) WHERE (sex = 'm')$$);
SELECT * FROM dp.contrast(:cells, $$count(*) WHERE (sex = 'f')$$, $$share WHERE (sex = 'm')$$);
SELECT * FROM dp.contrast(:cells, $$median(age) WHERE (sex = 'f')$$, $$median(age) WHERE (sex = 'm')$$);
SELECT * FROM dp.contrast(:cells, $$count(distinct age)$$, $$count(distinct age)$$);
SELECT * FROM dp.contrast(:cells, $$count(*) WHERE sex = 'f'$$, $$sex = 'm'$$);
SELECT * FROM dp.contrast(:marginals, $$sex = 'f' AND age < 80 AND arm = 'new'$$, $$sex = 'f' AND age < 30$$);
SELECT * FROM dp.contrast(0, 'count(*)', 'count(*)');
SELECT * FROM dp.contrast(:cells, 'count(*)', NULL);
SELECT * FROM dp.contrast(NULL, 'count(*)', 'count(*)');
-- an average under a condition is none of all rows
SELECT max(release) AS women FROM dp.aggregate('study', $${avg(age) WHERE (sex = 'f')}$$, by => '{arm}', rho => 1) \gset
SELECT * FROM dp.contrast(:women, $$avg(age) WHERE (arm = 'new')$$, $$avg(age) WHERE (arm = 'old')$$);
-- groups that are not shown
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.set_min_count('study', 2400);
SET SESSION AUTHORIZATION regress_ann;
SELECT * FROM dp.contrast(:cells, $$sex = 'f'$$, 'age < 10');

DISCARD TEMP;
RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon;
DROP TABLE study, pure_study;
DROP FUNCTION public.refused(text);
REVOKE CREATE ON SCHEMA public FROM regress_curator;
DROP ROLE regress_curator, regress_ann;
