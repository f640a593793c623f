-- dp.hypothesis_test: at a very large rho statistics and p-values are those of a textbook, computed here in SQL.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
CREATE ROLE regress_eve;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE study (arm text, dose text, died boolean, stage text, age int, weight float8);
INSERT INTO study SELECT CASE WHEN i % 5 < 2 THEN 'old' ELSE 'new' END, (ARRAY['none', 'low', 'high'])[(i * 7919) % 97 % 3 + 1],
    (i * 31) % 101 < 30 + 6 * (i % 5), (ARRAY['I', 'II', 'III', 'IV'])[(i * 131) % 89 % 4 + 1],
    20 + (i * 37) % 61 + 2 * (i % 5 / 2), CASE WHEN i % 11 > 0 THEN 40 + (i * 71) % 83 * 0.75 END
  FROM generate_series(1, 600) i;
SELECT dp.create_dataset('study', 'study', 90000);
SELECT dp.add_attribute('study', 'arm', ARRAY['new', 'old']);
SELECT dp.add_attribute('study', 'dose', ARRAY['none', 'low', 'high'], nulls => 'cell');
SELECT dp.add_attribute('study', 'died');
SELECT dp.add_attribute('study', 'stage', ARRAY['I', 'II', 'III', 'IV', 'V'], outside => 'other');
SELECT dp.add_attribute('study', 'age', 0, 120, 12);
SELECT dp.add_attribute('study', 'weight', 0.0, 200.0, 10);
SELECT dp.grant_budget('study', 'regress_ann', 90000);
CREATE TYPE grade AS ENUM ('low', 'medium', 'high');
CREATE TABLE grades AS SELECT (ARRAY['low', 'medium', 'high'])[1 + i % 3]::grade AS grade, i % 3 = 2 AS bad FROM generate_series(1, 300) i;
SELECT dp.create_dataset('grades', 'grades', 90000);
SELECT dp.add_attribute('grades', 'grade', ARRAY['low', 'medium', 'high']), dp.add_attribute('grades', 'bad');
SELECT dp.grant_budget('grades', 'regress_ann', 90000);
GRANT SELECT ON grades TO regress_ann;
GRANT SELECT ON study TO regress_ann;
CREATE TABLE pure_study AS SELECT * FROM study;
SELECT dp.create_dataset('pure_study', 'pure_study', 90000, accounting => 'pure');
SELECT dp.add_attribute('pure_study', 'arm', ARRAY['new', 'old']);
SELECT dp.add_attribute('pure_study', 'dose', ARRAY['none', 'low', 'high']);
SELECT dp.add_attribute('pure_study', 'stage', ARRAY['I', 'II', 'III', 'IV']);
SELECT dp.add_attribute('pure_study', 'age', 0, 120, 12);
SELECT dp.grant_budget('pure_study', 'regress_ann', 90000);
SET SESSION AUTHORIZATION regress_ann;

-- tails of a textbook: of chi-square, and of Student's t on both sides, by the midpoint rule
CREATE FUNCTION pg_temp.chi2_tail(x float8, df float8) RETURNS float8 LANGUAGE sql AS $$
    SELECT sum(f) FILTER (WHERE y > sqrt(x)) / sum(f)
      FROM (SELECT y, y ^ (df - 1) * exp(-y * y / 2) AS f FROM (SELECT (i + 0.5) / 5000 AS y FROM generate_series(0, 29999) i) g) d $$;
CREATE FUNCTION pg_temp.t_tail(t float8, df float8) RETURNS float8 LANGUAGE sql AS $$
    SELECT sum(f) FILTER (WHERE y > abs(t)) / sum(f)
      FROM (SELECT y, (1 + y * y / df) ^ (-(df + 1) / 2) AS f FROM (SELECT (i + 0.5) / 5000 AS y FROM generate_series(0, 29999) i) g) d $$;
-- the same to a twentieth, for what the noise moves; p-values of 29,999 replicates are within .02 of a textbook's
CREATE FUNCTION pg_temp.same(a float8, b float8) RETURNS boolean LANGUAGE sql AS 'SELECT abs(a - b) <= 0.05 * abs(b) + 0.001';
CREATE FUNCTION pg_temp.near(a float8, b float8) RETURNS boolean LANGUAGE sql AS 'SELECT abs(a - b) < 0.02';

-- independence: Pearson's statistic of all levels that have rows, and Cramer's V
CREATE TEMP VIEW pairs AS
    SELECT 'died' AS a, 'dose' AS b, died::text AS x, dose AS y, count(*)::float8 AS n FROM study GROUP BY died, dose
    UNION ALL SELECT 'arm', 'stage', arm, stage, count(*) FROM study GROUP BY arm, stage;
CREATE TEMP VIEW pearson AS
    SELECT a, b, sum((n - rows * columns / total) ^ 2 / (rows * columns / total)) AS statistic, total,
        (count(DISTINCT x) - 1) * (count(DISTINCT y) - 1) AS df, least(count(DISTINCT x), count(DISTINCT y)) - 1 AS smaller
      FROM (SELECT *, sum(n) OVER (PARTITION BY a, x) AS rows, sum(n) OVER (PARTITION BY a, y) AS columns, sum(n) OVER (PARTITION BY a) AS total FROM pairs) t
      GROUP BY a, b, total;
SELECT max(release) AS cells FROM dp.histogram('study', '{arm,dose,died,stage}', rho => 20000) \gset
SELECT a, b, pg_temp.same(t.statistic, p.statistic) AS statistic, t.df = p.df AS df, pg_temp.near(p_value, pg_temp.chi2_tail(p.statistic, p.df)) AS p_value,
    pg_temp.same(estimate, sqrt(p.statistic / (total * smaller))) AS estimate, lower95, upper95
  FROM pearson p, dp.hypothesis_test(:cells, 'chi2', ARRAY[a, b], '{"replicates": 29999}') t;
-- the order of the attributes does not matter; a p-value repeats
SELECT pg_temp.same(a.statistic, b.statistic) AS statistic, pg_temp.near(a.p_value, b.p_value) AS p_value
  FROM dp.hypothesis_test(:cells, 'chi2', '{died,dose}', '{"replicates": 29999}') a, dp.hypothesis_test(:cells, 'chi2', '{dose,died}', '{"replicates": 29999}') b;
SELECT a = b AS repeats FROM dp.hypothesis_test(:cells, 'chi2', '{died,dose}') a, dp.hypothesis_test(:cells, 'chi2', '{died,dose}') b;

-- two proportions: the one of deaths, of the first group less the second
SELECT pg_temp.same(t.statistic, z) AS statistic, t.df, pg_temp.near(p_value, pg_temp.chi2_tail(z * z, 1)) AS p_value, pg_temp.same(estimate, p1 - p2) AS estimate,
    pg_temp.near((upper95 - lower95) / 2, 1.96 * sqrt(p1 * (1 - p1) / n1 + p2 * (1 - p2) / n2)) AS width
  FROM (SELECT *, (p1 - p2) / sqrt(p * (1 - p) * (1 / n1 + 1 / n2)) AS z FROM
    (SELECT avg(died::int) AS p, avg(died::int) FILTER (WHERE arm = 'new')::float8 AS p1, avg(died::int) FILTER (WHERE arm = 'old')::float8 AS p2,
        count(*) FILTER (WHERE arm = 'new')::float8 AS n1, count(*) FILTER (WHERE arm = 'old')::float8 AS n2 FROM study) s) e,
    dp.hypothesis_test(:cells, 'proportions', '{died,arm}', '{"replicates": 29999}') t;

-- trend: n r^2 where one attribute has two levels (Cochran and Armitage), else (n - 1) r^2
SELECT pg_temp.same(t.statistic, n * r * r) AS statistic, t.df, pg_temp.near(p_value, pg_temp.chi2_tail(n * r * r, 1)) AS p_value, pg_temp.same(estimate, r) AS estimate
  FROM (SELECT count(*) AS n, corr(died::int, array_position('{I,II,III,IV}', stage)) AS r FROM study) e,
    dp.hypothesis_test(:cells, 'trend', '{died,stage}', '{"replicates": 29999, "scores": {"stage": [1, 2, 3, 4, 5]}}') t;
SELECT pg_temp.same(t.statistic, (n - 1) * r * r) AS statistic, pg_temp.near(p_value, pg_temp.chi2_tail((n - 1) * r * r, 1)) AS p_value, pg_temp.same(estimate, r) AS estimate,
    pg_temp.near((upper95 - lower95) / 2, 1.96 / sqrt(n)) AS width
  FROM (SELECT count(*) AS n, corr(CASE dose WHEN 'none' THEN 0 WHEN 'low' THEN 1 ELSE 5 END, array_position('{I,II,III,IV}', stage)) AS r FROM study) e,
    dp.hypothesis_test(:cells, 'trend', '{dose,stage}', '{"replicates": 29999, "scores": {"dose": [0, 1, 5], "stage": [1, 2, 3, 4, 5]}}') t;
-- an enum has an order, a text none but that of its scores
SELECT max(release) AS grades FROM dp.histogram('grades', '{grade,bad}', rho => 20000) \gset
SELECT round(estimate::numeric, 2) AS estimate FROM dp.hypothesis_test(:grades, 'trend', '{grade,bad}', '{"replicates": 99}');

-- goodness of fit
SELECT pg_temp.same(t.statistic, x) AS statistic, t.df, pg_temp.near(p_value, pg_temp.chi2_tail(x, 2)) AS p_value, pg_temp.same(estimate, sqrt(x / 600)) AS estimate
  FROM (SELECT sum((n - 600 * p) ^ 2 / (600 * p)) AS x FROM (SELECT dose, count(*) AS n, CASE dose WHEN 'none' THEN 0.37 WHEN 'low' THEN 0.33 ELSE 0.3 END AS p
    FROM study GROUP BY dose) s) e, dp.hypothesis_test(:cells, 'goodness', 'dose', '{"replicates": 29999, "probabilities": [0.37, 0.33, 0.3]}') t;

-- means: Welch's t; of more groups his F
SELECT max(release) AS sums FROM dp.aggregate('study', '{avg(age),var_samp(age),avg(weight),var_samp(weight),count(*)}', by => '{arm,dose}', rho => 20000) \gset
CREATE TEMP VIEW welch AS SELECT *, v1 / n1 + v2 / n2 AS v, (v1 / n1 + v2 / n2) ^ 2 / ((v1 / n1) ^ 2 / (n1 - 1) + (v2 / n2) ^ 2 / (n2 - 1)) AS df FROM
  (SELECT avg(age) FILTER (WHERE arm = 'new')::float8 AS m1, avg(age) FILTER (WHERE arm = 'old')::float8 AS m2,
    var_samp(age) FILTER (WHERE arm = 'new')::float8 AS v1, var_samp(age) FILTER (WHERE arm = 'old')::float8 AS v2,
    count(*) FILTER (WHERE arm = 'new')::float8 AS n1, count(*) FILTER (WHERE arm = 'old')::float8 AS n2 FROM study) s;
SELECT pg_temp.near(t.statistic, (m1 - m2) / sqrt(v)) AS statistic, pg_temp.near(t.df / e.df, 1) AS df,
    pg_temp.near(p_value, pg_temp.t_tail((m1 - m2) / sqrt(v), e.df)) AS p_value, pg_temp.near(estimate, m1 - m2) AS estimate,
    abs((upper95 - lower95) / 2 / sqrt(v) - 1.9645) < 0.03 AS width
  FROM welch e, dp.hypothesis_test(:sums, 'means', '{age,arm}', '{"replicates": 29999}') t;
-- the statistic's standard error is 1.6 % here
SELECT abs(t.statistic - f) <= 0.12 * f AS statistic, t.df, estimate FROM
  (SELECT sum(w * (m - mean) ^ 2) / 2 / (1 + 2.0 / 8 * sum((1 - w / ws) ^ 2 / (n - 1))) AS f FROM
    (SELECT *, sum(w) OVER () AS ws, sum(w * m) OVER () / sum(w) OVER () AS mean FROM
      (SELECT count(weight)::float8 AS n, avg(weight) AS m, count(weight) / var_samp(weight) AS w FROM study GROUP BY dose) g) h) e,
  dp.hypothesis_test(:sums, 'means', '{weight,dose}') t;

-- Laplace noise, and a strategy that measures no cell by itself
SELECT max(release) AS laplace FROM dp.histogram('pure_study', '{arm,stage}', epsilon => 30000) \gset
SELECT max(release) AS ranges FROM dp.histogram('pure_study', '{arm,stage}', 'identity(arm) * all_range(stage)', epsilon => 30000) \gset
SELECT max(release) AS pure_sums FROM dp.aggregate('pure_study', '{avg(age),var_samp(age)}', by => '{arm}', epsilon => 30000) \gset
SELECT r, pg_temp.same(t.statistic, p.statistic) AS statistic, pg_temp.near(p_value, pg_temp.chi2_tail(p.statistic, p.df)) AS p_value
  FROM pearson p, unnest(ARRAY[:laplace, :ranges]) WITH ORDINALITY u (release, r), dp.hypothesis_test(release, 'chi2', ARRAY[a, b], '{"replicates": 9999}') t WHERE a = 'arm';
SELECT pg_temp.near(t.statistic, (m1 - m2) / sqrt(v)) AS statistic, pg_temp.near(estimate, m1 - m2) AS estimate
  FROM welch e, dp.hypothesis_test(:pure_sums, 'means', '{age,arm}') t;

-- where the noise covers everything nothing is known
SELECT max(release) AS nothing FROM dp.histogram('study', '{dose,died}', rho => 1e-7) \gset
SELECT p_value, coalesce(lower95, -1) AS lower95, coalesce(upper95, 1) AS upper95 FROM dp.hypothesis_test(:nothing, 'trend', '{died,dose}', '{"scores": {"dose": [0, 1, 5]}}');

-- names in quotes
SELECT a.p_value = b.p_value AS same FROM dp.hypothesis_test(:sums, 'means', '{age,arm}') a, dp.hypothesis_test(:sums, 'means', '{"\"age\"","\"arm\""}') b;

-- refused, with what to do
\set VERBOSITY default
SELECT * FROM dp.hypothesis_test(:cells, 'anova', '{died,dose}');
SELECT * FROM dp.hypothesis_test(:cells, 'chi2', '{died}');
SELECT * FROM dp.hypothesis_test(:cells, 'chi2', '{died,died}');
SELECT * FROM dp.hypothesis_test(:cells, 'means', '{age}');
SELECT * FROM dp.hypothesis_test(NULL, 'chi2', '{died,dose}');
SELECT * FROM dp.hypothesis_test(:nothing, 'chi2', '{died,stage}');
SELECT * FROM dp.hypothesis_test(:nothing, 'proportions', '{died,dose}');
SELECT * FROM dp.hypothesis_test(:cells, 'trend', '{died,dose}');
SELECT * FROM dp.hypothesis_test(:cells, 'trend', '{died,stage}');
SELECT * FROM dp.hypothesis_test(:cells, 'trend', '{died,dose}', '{"scores": {"dose": [0, 1]}}');
SELECT * FROM dp.hypothesis_test(:cells, 'trend', '{died,dose}', '{"scores": {"arm": [0, 1]}}');
SELECT * FROM dp.hypothesis_test(:cells, 'chi2', '{died,dose}', '{"scores": {}}');
SELECT * FROM dp.hypothesis_test(:cells, 'chi2', '{died,dose}', '{"replicates": 10}');
SELECT * FROM dp.hypothesis_test(:cells, 'goodness', 'dose');
SELECT * FROM dp.hypothesis_test(:cells, 'goodness', 'dose', '{"probabilities": [0.5, 0.4]}');
SELECT * FROM dp.hypothesis_test(:cells, 'goodness', 'dose', '{"probabilities": [0.5, 0.5, 0]}');
SELECT * FROM dp.hypothesis_test(:cells, 'goodness', 'dose', '{"probabilities": [0.5, 0.5]}');
SELECT * FROM dp.hypothesis_test(:cells, 'means', '{age,arm}');
SELECT * FROM dp.hypothesis_test(:sums, 'means', '{age,stage}');
SELECT * FROM dp.hypothesis_test(:sums, 'means', '{Body Mass,"ev\"ent"}');
SELECT * FROM dp.hypothesis_test(:sums, 'means', '{arm,age}');
SELECT max(release) AS total FROM dp.histogram('study', '{dose,died}', 'identity(dose) + identity(died)', rho => 1) \gset
SELECT * FROM dp.hypothesis_test(:total, 'chi2', '{dose,died}');
SET SESSION AUTHORIZATION regress_eve;
SELECT * FROM dp.hypothesis_test(:cells, 'chi2', '{died,dose}');
-- a table with a cell that is not shown is not tested
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.set_min_count('study', 300);
SET SESSION AUTHORIZATION regress_ann;
\set VERBOSITY terse
SELECT * FROM dp.hypothesis_test(:cells, 'proportions', '{died,arm}');
SELECT p_value IS NOT NULL AS shown FROM dp.hypothesis_test(:cells, 'chi2', '{died,arm}');
SELECT p_value IS NOT NULL AS shown FROM dp.hypothesis_test(:cells, 'goodness', 'arm', '{"probabilities": [0.6, 0.4]}');

DISCARD TEMP;
RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon;
DROP TABLE study, pure_study, grades;
DROP TYPE grade;
DROP FUNCTION public.refused(text);
REVOKE CREATE ON SCHEMA public FROM regress_curator;
DROP ROLE regress_curator, regress_ann, regress_eve;
