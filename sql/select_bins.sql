-- Plain SELECT: a column with bins shows their low edges, and two prices are none.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;

SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE visits (age int, weight float8, at timestamp);
INSERT INTO visits SELECT i % 100, i % 50, timestamp '2025-01-01' + i % 60 * interval '12 hours' FROM generate_series(1, 1000) i;
SELECT dp.create_dataset('visits', 'visits', epsilon => 1e5);
SELECT dp.add_attribute('visits', 'age', 0, 100, bins => 4), dp.add_attribute('visits', 'weight', 0, 50, bins => 2);
SELECT dp.add_edges('visits', 'at', '{2025-01-01,2025-01-16,2025-01-31}'::timestamp[]);
SELECT dp.grant_budget('visits', 'regress_ann', epsilon => 1e5);
SELECT dp.expose('visits', 'asked', epsilon => 1000);
GRANT SELECT ON asked TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SET client_min_messages = notice;

-- The column itself is cut by no bin, whatever is done with bins that are.
SELECT DISTINCT age FROM asked ORDER BY age;
SELECT DISTINCT weight, at FROM asked ORDER BY weight, at;
SELECT DISTINCT age::numeric FROM asked ORDER BY age;
SET pg_epsilon.cut_bins = middle;
SELECT DISTINCT age FROM asked ORDER BY age;
SET pg_epsilon.cut_bins = error;
SET client_min_messages = warning;
SELECT age, count(*) BETWEEN 249 AND 251 AS near FROM asked WHERE age >= 50 GROUP BY age ORDER BY age;
-- an expression of it is
SELECT DISTINCT age + 1 FROM asked;

-- One price.
SET pg_epsilon.epsilon = 1;
SET pg_epsilon.max_stderr = 1;
SELECT count(*) FROM asked;
SET pg_epsilon.epsilon = 0;
SELECT count(*) BETWEEN 990 AND 1010 AS near FROM asked;

RESET SESSION AUTHORIZATION;
DROP VIEW asked;
DROP FOREIGN TABLE asked_foreign;
DROP EXTENSION pg_epsilon;
DROP TABLE visits;
DROP FUNCTION public.refused(text);
REVOKE CREATE ON SCHEMA public FROM regress_curator;
DROP ROLE regress_curator, regress_ann;
