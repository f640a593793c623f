-- Plain SELECT: where the rows that are answered, or the types, are not those of PostgreSQL, a NOTICE or PostgreSQL's own error says so.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
GRANT CREATE ON SCHEMA public TO regress_curator;
\pset tuples_only on
SET SESSION AUTHORIZATION regress_curator;
CREATE TYPE grade AS ENUM ('low', 'middle', 'high');
CREATE TABLE t AS SELECT i % 10 AS a, (i % 7)::smallint AS s, i AS j, (ARRAY['low', 'middle', 'high'])[1 + i % 3]::grade AS g, (i % 4) / 2.0::float8 AS r, i % 7 < 3 AS f FROM generate_series(1, 2000) i;
SELECT dp.create_dataset('d', 't', 1e5);
SELECT dp.add_attribute('d', 'a', 0, 10, bins => 10, last => 'open'), dp.add_attribute('d', 's', 0, 7, bins => 7, last => 'open'),
    dp.add_attribute('d', 'j', 0, 1000, bins => 10, outside => 'other', last => 'open'), dp.add_attribute('d', 'g'),
    dp.add_attribute('d', 'r', 0, 2, bins => 4), dp.add_attribute('d', 'f');
SELECT dp.grant_budget('d', 'regress_curator', 5e4);
SELECT dp.expose('d', 'v', epsilon => 1000);
-- What goes beyond the type of the expression, by the bounds on the cells that are left
SELECT sum(a * 2147483647 * 2147483647) FROM v;
SELECT avg(a * 2147483647::bigint * 2147483647) FROM v;
SELECT round(sum(a * 2147483647::numeric * 2147483647), -21) FROM v;
SELECT sum(s * s * s * s * s * s) FROM v;
SELECT round(sum(s::bigint * s * s) / 1000.0) FROM v;
SELECT sum(-a * 300000000) FROM v;
SELECT sum(a * 300000000 - 1) FROM v;
SELECT round(sum(a * 300000000) / 3e9::numeric) FROM v WHERE a < 7;
SELECT round(sum(CASE WHEN a < 7 THEN a * 300000000 END) / 3e9::numeric) FROM v;
-- Values outside of bins are in counts, and not in sums; the NOTICE is one
SELECT round(sum(j) / 5000.0), round(avg(j)), count(j), count(*) FROM v;
SELECT count(*), round(sum(j) / 5000.0) FROM v WHERE j >= 0 AND j < 500;
-- A label that came later
ALTER TYPE grade ADD VALUE 'none';
SELECT count(g), count(DISTINCT g) FROM v;
SELECT count(g) FROM v WHERE g = 'low';

-- count(CASE WHEN ... END) is count with FILTER: one request
SELECT count(CASE WHEN a < s THEN 1 END), count(*) FILTER (WHERE a < s), count(CASE WHEN a < 3 AND f THEN 1 ELSE NULL END), count(CASE WHEN a < 3 THEN s END) FROM v;
SELECT count(CASE WHEN a < s THEN NULL::int END), count(CASE WHEN a < s THEN 1 ELSE 0 END) FROM v;
-- Floats against whole numbers with a factor or what is added, which a double holds; not of numeric
SELECT count(*) FILTER (WHERE r > 2 * a), count(*) FILTER (WHERE r > a + 1), count(*) FILTER (WHERE r <= s - 1), count(*) FILTER (WHERE a - 3 < r) FROM v;
SELECT count(*) FILTER (WHERE r > a::numeric + 0.5) FROM v;

RESET SESSION AUTHORIZATION;
DROP OWNED BY regress_curator;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused;
DROP ROLE regress_curator;
