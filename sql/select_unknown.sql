-- An expression that may have one value in a bin, which its ends do not show, is not called a cut; the hint works.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator;
\pset tuples_only on

SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE visits AS SELECT timestamp '2023-01-01' + i * interval '1 hour' AS ts, ((i % 100) / 10.0)::float8 AS f, i % 40 AS age
    FROM generate_series(0, 8759) i;
SELECT dp.create_dataset('d', 'visits', 1e5);
SELECT dp.add_attribute('d', 'ts', '2023-01-01', '2024-01-01', step => '1 month');
SELECT dp.add_attribute('d', 'f', 0, 10, bins => 10);
SELECT dp.add_attribute('d', 'age', 0, 40, bins => 4, last => 'open');
SELECT dp.grant_budget('d', 'regress_ann', 5e4);
SELECT dp.expose('d', 'visits_dp', epsilon => 1000);
GRANT SELECT ON visits_dp TO regress_ann;

SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT to_char(ts, 'YYYY-MM'), count(*) FROM visits_dp GROUP BY 1$$);
SELECT refused($$SELECT count(*) FROM visits_dp WHERE power(f, 2) < 4$$);
-- the cures
SET client_min_messages = warning;
SELECT date_trunc('month', ts) AS month, count(*) FROM visits_dp GROUP BY 1 ORDER BY 1 LIMIT 2;
SELECT count(*) FROM visits_dp WHERE ts >= '2023-03-01' AND ts < '2023-04-01';
SELECT count(*) FROM visits_dp WHERE f >= 0 AND f < 2;
RESET client_min_messages;
-- These do cut a bin
SELECT refused($$SELECT count(*) FROM visits_dp WHERE f < 1.5$$);
SELECT refused($$SELECT count(*) FROM visits_dp WHERE ts < '2023-01-05'$$);
SELECT refused($$SELECT extract(day FROM ts), count(*) FROM visits_dp GROUP BY 1$$);
SELECT refused($$SELECT age / 7, count(*) FROM visits_dp GROUP BY 1$$);
-- At the middle of bins, where they are not most
SET pg_epsilon.cut_bins = middle;
SELECT refused($$SELECT to_char(ts, 'YYYY-MM'), count(*) FROM visits_dp GROUP BY 1$$);
EXPLAIN (COSTS OFF) SELECT count(*) FROM visits_dp WHERE power(f, 2) < 4 AND f < 3;

RESET SESSION AUTHORIZATION;
DROP OWNED BY regress_curator, regress_ann;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused;
DROP ROLE regress_curator, regress_ann;
