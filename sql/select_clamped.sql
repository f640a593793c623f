-- Plain SELECT: values beyond the bounds count in the end bins, or nowhere; a test that is another one for them says so.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;
SET datestyle = 'ISO';

-- All are 0 to 12. The bounds of x are 2 and 10; y is closed, z has bins of five, d drops what is outside, o counts it apart.
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE visits AS SELECT i % 13 AS x, i % 13 AS y, (i % 13)::float8 AS z, i % 13 AS d, i % 13 AS o, 1.0 * (i % 13) AS n, (i % 13)::int2 AS most,
       date '2025-01-01' + i % 13 * 30 AS day, (ARRAY['F', 'M'])[1 + i % 2] AS sex FROM generate_series(1, 2600) i;
SELECT dp.create_dataset('visits', 'visits', epsilon => 1e5);
SELECT dp.add_attribute('visits', 'x', 2, 10, bins => 8, last => 'open'), dp.add_attribute('visits', 'y', 2, 10, bins => 4),
       dp.add_attribute('visits', 'z', 0, 10, bins => 2, last => 'open'), dp.add_attribute('visits', 'sex', '{F,M}');
SELECT dp.add_attribute('visits', 'd', 2, 10, bins => 8, last => 'open', outside => 'drop'),
       dp.add_attribute('visits', 'o', 2, 10, bins => 8, last => 'open', outside => 'other'),
       dp.add_attribute('visits', 'n', 2, 10, bins => 8, last => 'open'),
       dp.add_edges('visits', 'most', '{0,5,32767}'::int2[], last => 'closed');
SELECT dp.add_edges('visits', 'day', '{2025-02-01,2025-03-01,2025-04-01,2025-05-01}'::date[]);
SELECT dp.grant_budget('visits', 'regress_ann', epsilon => 1e5);
SELECT dp.expose('visits', 'v', epsilon => 1000);
GRANT SELECT ON v TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SET client_min_messages = notice;

-- A test at the bounds, or beyond them.
SELECT count(*) FROM v WHERE x >= 10;
\set VERBOSITY terse
SELECT count(*) FROM v WHERE x < 2;
SELECT count(*) FROM v WHERE x = 9;
SELECT count(*) FROM v WHERE x > 1000 OR x BETWEEN 3 AND 5;
SELECT count(*) FROM v WHERE x IN (3, 11);
SELECT count(*) FROM v WHERE x <> 11;
SELECT count(*) FROM v WHERE y > 10;
SELECT count(*) FROM v WHERE z < 0;
SELECT count(*) FROM v WHERE n >= 10;
SELECT count(*) FROM v WHERE day < '2025-02-01';
SELECT count(*) FROM v WHERE extract(month FROM day) = 4;
SELECT count(*) FROM v WHERE x % 2 = 0;
SELECT count(*) FROM v WHERE x::text LIKE '1%';
-- nothing is above the last bin
SELECT count(*) FROM v WHERE most < 0;
-- also x >= 2: 0 and 1 count as 2
SELECT count(*) FROM v WHERE x >= 2;
SELECT count(*) FROM v WHERE x BETWEEN 2 AND 5;
SELECT count(*) FROM v WHERE nullif(x, 11) IS NULL;

-- In each part of a SELECT, and once for each column.
SELECT count(*) FILTER (WHERE x >= 10), count(*) FILTER (WHERE x < 2), count(*) FILTER (WHERE y <= 0) FROM v;
SELECT sum(CASE WHEN x >= 10 THEN 1 ELSE 0 END) FROM v;
SELECT sum(CASE WHEN x >= 10 THEN y ELSE 0 END) FROM v;
SELECT count(CASE WHEN x >= 10 THEN 1 END) FROM v;
SELECT count(nullif(x, 11)) FROM v;
SELECT x >= 10 AS much, count(*) FROM v GROUP BY 1;
SELECT CASE WHEN x >= 10 THEN 'much' WHEN x < 5 THEN 'little' ELSE 'some' END AS how, count(*) FROM v GROUP BY 1 ORDER BY 1;
SELECT CASE x WHEN 10 THEN 'ten' ELSE 'another' END AS how, count(*) FROM v GROUP BY 1;
SELECT CASE WHEN x >= 10 THEN sex ELSE '' END AS how, count(*) FROM v GROUP BY 1 ORDER BY 1;
SELECT (x >= 10) = (sex = 'F') AS how, count(*) FROM v GROUP BY 1 ORDER BY 1;
SELECT x || sex = '12F' AS how, count(*) FROM v GROUP BY 1 ORDER BY 1;
-- a test that is not evaluated in an end bin, where it fails
SELECT CASE WHEN x >= 9 THEN 'much' WHEN 10 / (9 - x) > 2 THEN 'some' ELSE 'little' END AS how, count(*) FROM v GROUP BY 1 ORDER BY 1;
SELECT CASE WHEN sex = 'F' THEN '' WHEN x >= 9 THEN 'much' WHEN 10 / (9 - x) > 2 THEN 'some' ELSE 'little' END AS how, count(*) FROM v GROUP BY 1 ORDER BY 1;
SELECT CASE WHEN d >= 9 THEN 'much' WHEN 10 / (9 - d) > 2 THEN 'some' ELSE 'little' END AS how, count(*) FROM v GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM v WHERE d < 9 AND 10 / (9 - d) > 2;
SET pg_epsilon.cut_bins = middle;
SELECT count(*) FROM v WHERE z >= 7;
SELECT count(*) FROM v WHERE z > 11;
RESET pg_epsilon.cut_bins;

-- The test is the same for all values beyond: nothing is said.
SELECT count(*) FROM v WHERE x >= 3;
SELECT count(*) FROM v WHERE x < 5;
SELECT count(*) FROM v WHERE x BETWEEN 3 AND 8 AND x <> 4;
SELECT count(*) FROM v WHERE x + 1 > 5;
SELECT count(*) FROM v WHERE trunc(n)::int >= 5;
SELECT count(*) FROM v WHERE x IS NULL;
SELECT count(*) FROM v WHERE most >= 5;
SELECT count(*) FROM v WHERE day >= '2025-03-01';
SELECT count(*) FROM v WHERE day - date '2025-01-01' > 58;
SELECT count(*) FILTER (WHERE x >= 2), count(*) FILTER (WHERE x < 20) FROM v WHERE x BETWEEN 3 AND 8;
SELECT round(sum(x), -2) AS sum, round(avg(x)) AS avg FROM v;
SELECT round(sum(x + 1), -2) AS sum FROM v;
-- groups are of what values count as
SELECT x, count(*) FROM v GROUP BY x ORDER BY x LIMIT 1;
SELECT x / 5 AS fives, count(*) FROM v GROUP BY 1 ORDER BY 1;
SELECT date_trunc('month', day)::date AS month, count(*) FROM v GROUP BY 1 ORDER BY 1;
SELECT CASE WHEN x < 5 THEN 'little' ELSE 'much' END AS how, count(*) FROM v GROUP BY 1 ORDER BY 1;

-- What is dropped: a test that asks for it says so.
SELECT count(*) FROM v WHERE d >= 10;
SELECT count(*) FROM v WHERE d < 2;
SELECT count(*) FROM v WHERE d = 11;
SELECT count(*) FROM v WHERE d IN (3, 11);
SELECT count(*) FROM v WHERE d < 15;
SELECT d > 10 AS more, count(*) FROM v GROUP BY 1;
-- and others do not
SELECT count(*) FROM v WHERE d >= 2;
SELECT count(*) FROM v WHERE d < 10;
SELECT count(*) FROM v WHERE d = 9;
SELECT count(*) FROM v WHERE d % 2 = 0;

-- What is counted apart is no end bin's.
SELECT count(*) FROM v WHERE o = 9;
SELECT count(*) FROM v WHERE o BETWEEN 2 AND 8;
\set VERBOSITY default

RESET SESSION AUTHORIZATION;
DROP VIEW v;
DROP FOREIGN TABLE v_foreign;
DROP EXTENSION pg_epsilon;
DROP TABLE visits;
DROP FUNCTION public.refused(text);
REVOKE CREATE ON SCHEMA public FROM regress_curator;
DROP ROLE regress_curator, regress_ann;
