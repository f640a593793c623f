-- A SELECT prints every digit that an answer has, as dp.aggregate does, and cuts only at the ends of the type.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator;
\pset tuples_only on

SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE readings AS SELECT (100000000000000000 + i % 1000)::numeric(20,0) AS n, 1700000000000000000 + i % 1000 AS ns,
    9223372036854774800 + i % 500 AS b, (-9223372036854775807 - 1) + i % 500 AS low FROM generate_series(1, 20000) i;
SELECT dp.create_dataset('d', 'readings', 1e5);
SELECT dp.add_attribute('d', 'n', 100000000000000000, 100000000000001000, bins => 10);
SELECT dp.add_attribute('d', 'ns', 1700000000000000000, 1700000000000001000, bins => 10, last => 'open');
SELECT dp.add_attribute('d', 'b', 9223372036854774800, 9223372036854775800, bins => 1);
SELECT dp.add_attribute('d', 'low', -9223372036854775808, -9223372036854774808, bins => 1);
SELECT dp.grant_budget('d', 'regress_ann', 5e4);
SELECT dp.expose('d', 'readings_dp', epsilon => 1000);
GRANT SELECT ON readings_dp TO regress_ann;

SET SESSION AUTHORIZATION regress_ann;
SET client_min_messages = warning;
-- doubles of this size are 16, 256 and 1024 apart
SELECT p BETWEEN 100000000000000400 AND 100000000000000600 FROM
    (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY n) AS p FROM readings_dp) x;
SELECT p BETWEEN 1700000000000000000 AND 1700000000000001024 FROM
    (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY ns) AS p FROM readings_dp) x;
SELECT p >= 9223372036854774784 FROM
    (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY b) AS p FROM readings_dp) x;
SELECT p <= -9223372036854774784 FROM
    (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY low) AS p FROM readings_dp) x;
SELECT a BETWEEN 1700000000000000256 AND 1700000000000000768 AS ns, m BETWEEN 100000000000000480 AND 100000000000000520 AS n
    FROM (SELECT avg(ns) AS a, avg(n) AS m FROM readings_dp) x;
-- the same number as dp.aggregate returns of the same release
SELECT (SELECT avg(n) FROM readings_dp)::float8 =
    (SELECT estimate FROM dp.aggregate('d', 'avg(n)', epsilon => 1000));

RESET SESSION AUTHORIZATION;
DROP OWNED BY regress_curator, regress_ann;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused;
DROP ROLE regress_curator, regress_ann;
