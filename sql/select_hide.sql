-- Plain SELECT: hide_below_all hides estimates that may be 0, for all of an answer together.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
SELECT current_user AS super \gset
CREATE ROLE regress_curator;
CREATE ROLE regress_ann LOGIN;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_curator;
-- 200 groups of 0 to 300 rows: from 0 to 10 standard errors
CREATE TABLE t (a int NOT NULL, b int NOT NULL, c int NOT NULL);
INSERT INTO t SELECT a, i % 4, i % 4 FROM generate_series(0, 199) a, generate_series(1, a % 11 * 30) i;
SELECT dp.create_dataset('t', 't', epsilon => 1e5), dp.add_attribute('t', 'a', 0, 200, 200, last => 'open'), dp.add_attribute('t', 'b', 0, 4, 4, last => 'open'), dp.add_attribute('t', 'c', 0, 4, 1), dp.grant_budget('t', 'regress_ann', epsilon => 1e5);
SELECT dp.expose('t', 'v');
CREATE TABLE p AS TABLE t;
SELECT dp.create_dataset('p', 'p', epsilon => 1e5, accounting => 'pure'), dp.add_attribute('p', 'a', 0, 200, 200, last => 'open'), dp.grant_budget('p', 'regress_ann', epsilon => 1e5);
SELECT dp.expose('p', 'w');
-- 120 rows in each of 200 groups: 3.4 standard errors of the number of rows that quantiles at epsilon 0.2 are told from
CREATE TABLE q AS SELECT a, i % 4 AS b FROM generate_series(0, 199) a, generate_series(1, 120) i;
SELECT dp.create_dataset('q', 'q', epsilon => 1e5), dp.add_attribute('q', 'a', 0, 200, 200, last => 'open'), dp.add_attribute('q', 'b', 0, 4, 4, last => 'open'), dp.grant_budget('q', 'regress_ann', epsilon => 1e5);
SELECT dp.expose('q', 'x');
GRANT SELECT ON v, w, x TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SET pg_epsilon.max_stderr = 30;

-- One estimate in each of 200 groups: what a normal number exceeds with a chance of 0.05 / 200 is 3.662 standard errors.
CREATE TEMP TABLE plain AS SELECT a, count(*) AS n, dp.stderr_count(*) AS e FROM v GROUP BY a;
SET pg_epsilon.hide_below_all = on;
CREATE TEMP TABLE hidden AS SELECT a, count(*) AS n FROM v GROUP BY a;
SELECT count(*), count(p.n) AS shown, count(h.n) BETWEEN 50 AND 150 AS fewer,
       bool_and(CASE WHEN abs(p.n) < 3.66 * e - 1 THEN h.n IS NULL WHEN abs(p.n) > 3.665 * e + 1 THEN h.n = p.n ELSE true END) AS right
  FROM plain p JOIN hidden h USING (a);
-- Error bars stay.
SELECT count(n) < count(e) AS hidden, count(e) FROM (SELECT count(*) AS n, dp.stderr_count(*) AS e FROM v GROUP BY a) g;

-- Pure noise is more often far off: 5.865 standard errors.
SET pg_epsilon.hide_below_all = off;
CREATE TEMP TABLE pure_plain AS SELECT a, count(*) AS n, dp.stderr_count(*) AS e FROM w GROUP BY a;
SET pg_epsilon.hide_below_all = on;
CREATE TEMP TABLE pure_hidden AS SELECT a, count(*) AS n FROM w GROUP BY a;
SELECT count(*), count(p.n) AS shown,
       bool_and(CASE WHEN abs(p.n) < 5.863 * e - 1 THEN h.n IS NULL WHEN abs(p.n) > 5.867 * e + 1 THEN h.n = p.n ELSE true END) AS right
  FROM pure_plain p JOIN pure_hidden h USING (a);

-- Two estimates in each group: 0.05 / 400, 3.836 standard errors. An average is shown where the number of rows is.
SET pg_epsilon.hide_below_all = off;
CREATE TEMP TABLE two_plain AS SELECT a, count(*) AS n, dp.stderr_count(*) AS e, avg(b) AS m FROM v GROUP BY a;
SET pg_epsilon.hide_below_all = on;
CREATE TEMP TABLE two_hidden AS SELECT a, count(*) AS n, avg(b) AS m FROM v GROUP BY a;
SELECT bool_and(CASE WHEN abs(p.n) < 3.834 * e - 1 THEN h.n IS NULL WHEN abs(p.n) > 3.838 * e + 1 THEN h.n = p.n ELSE true END) AS right,
       bool_and(h.m IS NULL OR h.n IS NOT NULL) AS right_averages, count(h.m) BETWEEN 20 AND 150 AS some, count(h.m) < count(p.m) AS fewer
  FROM two_plain p JOIN two_hidden h USING (a);

-- From a stored answer of two aggregates, with one estimate in each group
SET pg_epsilon.max_stderr = 1000;
SET pg_epsilon.hide_below_all = off;
CREATE TEMP TABLE known AS SELECT a, count(*) AS n, dp.stderr_count(*) AS e FROM v GROUP BY a;
SET pg_epsilon.hide_below_all = on;
SELECT max(e) < 31 AS stored, bool_and(CASE WHEN abs(p.n) < 3.66 * e - 1 THEN h.n IS NULL WHEN abs(p.n) > 3.665 * e + 1 THEN h.n = p.n ELSE true END) AS right
  FROM known p JOIN (SELECT a, count(*) AS n FROM v GROUP BY a) h USING (a);
SET pg_epsilon.max_stderr = 30;

-- Groups that are merged, and a total: 22 rows.
CREATE TEMP TABLE merged AS SELECT a % 21 AS r, count(*) AS n FROM v GROUP BY ROLLUP (a % 21);
SELECT count(*), count(n) FROM merged;

-- A median is shown where so many rows are that the group is not empty; without the setting, where they are three standard errors.
SET pg_epsilon.hide_below_all = off;
SET pg_epsilon.max_stderr = 0;
SET pg_epsilon.epsilon = 0.2;
CREATE TEMP TABLE medians AS SELECT a, percentile_disc(0.5) WITHIN GROUP (ORDER BY b) AS m FROM x GROUP BY a;
SET pg_epsilon.hide_below_all = on;
SELECT count(p.m) > count(h.m) + 5 AS fewer, count(h.m) > 5 AS some, bool_and(h.m IS NULL OR h.m = p.m) AS right FROM medians p JOIN (SELECT a, percentile_disc(0.5) WITHIN GROUP (ORDER BY b) AS m FROM x GROUP BY a) h USING (a);
-- Without bins a median does not tell the number of rows.
SELECT refused('SELECT a, percentile_disc(0.5) WITHIN GROUP (ORDER BY c) FROM v GROUP BY a');
RESET pg_epsilon.epsilon;
SET pg_epsilon.max_stderr = 30;

-- What has no noise is not hidden. Both settings hide.
SELECT count(*), sum(b * 0) AS zero, count(DISTINCT b) FROM v WHERE a < 0;
SET pg_epsilon.hide_below = 1000;
SELECT count(n) FROM (SELECT count(*) AS n FROM v GROUP BY a) g;
SET pg_epsilon.hide_below = 0;
SELECT count(n) < 200 AS some FROM (SELECT count(*) AS n FROM v GROUP BY a) g;
RESET pg_epsilon.hide_below;
RESET pg_epsilon.hide_below_all;

-- An option of the relation, which a setting overrides
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_curator;
SELECT refused($$ALTER FOREIGN TABLE v_foreign OPTIONS (ADD hide_below_all 'maybe')$$);
ALTER FOREIGN TABLE v_foreign OPTIONS (ADD hide_below_all 'on');
SET SESSION AUTHORIZATION regress_ann;
SELECT count(n) < 200 AS some FROM (SELECT count(*) AS n FROM v GROUP BY a) g;
SET pg_epsilon.hide_below_all = off;
SELECT count(n) FROM (SELECT count(*) AS n FROM v GROUP BY a) g;
SET pg_epsilon.hide_below_all = 'maybe';
-- also where it is set before the library is loaded
\c - regress_ann
SET client_min_messages = warning;
SET pg_epsilon.hide_below_all = 'maybe';
SET pg_epsilon.epsilon = 1;
SELECT count(*) FROM v;
SET pg_epsilon.hide_below_all = off;
SELECT count(*) > 0 AS answered FROM v;
\c - :super

SET client_min_messages = error;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused;
DROP OWNED BY regress_curator, regress_ann CASCADE;
DROP ROLE regress_curator, regress_ann;
