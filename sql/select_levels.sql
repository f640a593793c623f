-- Plain SELECT: literals that are no declared level, what is decided at the middle of bins, and groups of several columns.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
\set same :here /test/regress/same.sql
\i :same
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator, regress_ann;
SET client_min_messages = warning;
SET datestyle = 'ISO';
SET timezone = 'UTC';
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE t AS SELECT (ARRAY['Berlin', 'Rome', 'Paris'])[1 + i / 96 % 3] AS city, i % 5 AS lv, (i % 800) / 100.0 AS amount, (i % 80)::float8 / 10 AS weight, 18 + i % 60 AS age, i % 4 AS a, 1.00 * (i / 24 % 4) AS b, (i / 4 % 6)::numeric AS c,
       date '2024-01-01' + i % 91 AS d, timestamp '2024-01-01' + i % (91 * 24) * interval '1 hour' AS ts FROM generate_series(1, 24000) i;
SELECT dp.create_dataset('t', 't', epsilon => 1e5);
DO $$
BEGIN
    PERFORM dp.add_attribute('t', 'city', '{Berlin,Rome,Paris}'), dp.add_attribute('t', 'lv', '{0,1,2,3,4}');
    PERFORM dp.add_attribute('t', 'amount', '0', '8', 32), dp.add_attribute('t', 'weight', 0, 8, bins => 16);
    PERFORM dp.add_attribute('t', 'age', 18, 78, bins => 12, last => 'open'), dp.add_attribute('t', 'a', '{0,1,2,3}');
    PERFORM dp.add_attribute('t', 'b', '{0,1.0,2.00,3}'), dp.add_attribute('t', 'c', '{0,1,2.0,3.00,4,5}');
    PERFORM dp.add_edges('t', 'd', array_agg(e::date)) FROM generate_series(timestamp '2024-01-01', '2024-04-01', '1 day') e;
    PERFORM dp.add_edges('t', 'ts', array_agg(e)) FROM generate_series(timestamp '2024-01-01', '2024-04-01', '1 day') e;
    PERFORM dp.grant_budget('t', 'regress_ann', epsilon => 1e5);
    PERFORM dp.expose('t', 'v');
END $$;
GRANT SELECT ON v, t TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SELECT FROM dp.quote('t', '{city}', epsilon => 1);
SET pg_epsilon.epsilon = 1000;
CREATE FUNCTION same(statement text) RETURNS text LANGUAGE sql AS $$ SELECT same(statement, 'v', 't') $$;

-- 1. A literal that is no level counts nothing, and says so: once, wherever it stands.
SET client_min_messages = notice;
SELECT count(*) FROM v WHERE city = 'rome';
SELECT count(*) FROM v WHERE city IN ('Bern', 'Rome', 'Pari', 'Bern');
SELECT count(*) FILTER (WHERE city <> 'rome') FROM v WHERE lv = 7 OR city = 'rome';
SELECT DISTINCT CASE city WHEN 'rome' THEN 1 END AS rome FROM v;
SELECT count(*) FROM v WHERE city IS DISTINCT FROM 'Paris ' AND b = 1.000;
PREPARE of_city(text, smallint) AS SELECT count(*) FROM v WHERE city = $1 AND lv = $2;
EXECUTE of_city('ROME', 6);
SET plan_cache_mode = force_generic_plan;
EXECUTE of_city('ROME', 6);
RESET plan_cache_mode;
-- no comparison of equality
SELECT count(*) FROM v WHERE city > 'rome' AND city LIKE 'r%' AND lower(city) = 'rome';
SET client_min_messages = warning;
SELECT same('SELECT count(*) FROM R WHERE city = ''rome''');
SELECT same('SELECT count(*) FROM R WHERE city <> ''rome''');

-- 2. At the middle of bins ranges are decided, and expressions that cut few.
SET pg_epsilon.cut_bins = middle;
SELECT same('SELECT count(*) FROM R WHERE amount = 4.99');
SELECT same('SELECT count(*) FROM R WHERE weight IN (1.1, 2)');
SELECT same('SELECT count(*) FILTER (WHERE amount <> 4.99) FROM R');
SELECT same('SELECT round(sum(CASE WHEN age = 20 THEN 1 ELSE 0 END)) FROM R');
SELECT same('SELECT count(*) FROM R WHERE NOT (age = 20) AND city = ''Rome''');
SELECT same('SELECT count(*) FROM R WHERE ts = ''2024-01-05 06:00''');
SELECT same('SELECT count(*) FROM R WHERE age IS DISTINCT FROM 20');
SELECT same('SELECT count(*) FROM R WHERE CASE age WHEN 20 THEN true END');
SELECT same('SELECT extract(hour FROM ts), count(*) FROM R GROUP BY 1');
SELECT same('SELECT date_trunc(''hour'', ts), count(*) FROM R GROUP BY 1');
SELECT same('SELECT count(*) FROM R WHERE extract(hour FROM ts) = 11');
SELECT same('SELECT age % 7, count(*) FROM R GROUP BY 1');
SELECT same('SELECT round(sum(abs(age - 44))) FROM R');
SELECT same('SELECT count(*) FROM R WHERE date_trunc(''hour'', ts) = ''2024-01-05 06:00''');
-- ranges are the nearest bins
SET client_min_messages = notice;
SELECT count(*) FROM v WHERE age >= 41;
SELECT count(*) FROM v WHERE age BETWEEN 26 AND 51;
SELECT CASE WHEN age < 30 THEN 'young' WHEN age < 50 THEN 'middle' ELSE 'old' END AS ages, count(*), count(*) FILTER (WHERE weight > 3.8) AS heavy, count(*) FILTER (WHERE age > 70) AS eldest FROM v GROUP BY 1 ORDER BY 1;
SELECT age / 10 AS decade, count(*) FROM v GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM v WHERE ts >= '2024-01-05 06:00' AND ts < '2024-01-07 13:00';
SET timezone = 'America/New_York';
SELECT date_trunc('month', ts::timestamptz AT TIME ZONE 'UTC') AS month, count(*) FROM v GROUP BY 1 ORDER BY 1;
SET timezone = 'UTC';
SET client_min_messages = warning;
RESET pg_epsilon.cut_bins;

-- 3. Groups of an expression of several columns are one where their type says so, however they are written.
SELECT same('SELECT a * b, count(*) FROM R GROUP BY 1') ~ '^same' AS same;
SELECT count(*) FROM (SELECT b * c, count(*) FROM v GROUP BY 1) q;
SELECT count(*) FROM (SELECT b * c, count(*) FROM t GROUP BY 1) q;
SET extra_float_digits = -15;
SELECT count(*) FROM (SELECT a + c::float8 / 1000, count(*) FROM v GROUP BY 1) q;
SELECT count(*) FROM (SELECT a + c::float8 / 1000, count(*) FROM t GROUP BY 1) q;
RESET extra_float_digits;
SELECT count(*) FROM (SELECT ROW(a, b + c), count(*) FROM v GROUP BY 1) q;
SELECT count(*) FROM (SELECT ROW(a, b + c), count(*) FROM t GROUP BY 1) q;
SELECT same('SELECT a > c, city, count(*) FROM R GROUP BY 1, 2');

RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon CASCADE;
DROP OWNED BY regress_curator, regress_ann CASCADE;
DROP FUNCTION same(text, text, text), rows_of(text), refused(text);
DROP ROLE regress_curator, regress_ann;
