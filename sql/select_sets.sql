-- Grouping sets over columns that drop rows; one price of one error; as many attributes as there can be.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE sets_owner;
CREATE ROLE sets_ann;
GRANT CREATE ON SCHEMA public TO sets_owner;
\pset format unaligned
SET SESSION AUTHORIZATION sets_owner;
CREATE TABLE sets_t AS SELECT i % 2 = 0 AS a, CASE WHEN i % 3 > 0 THEN i % 2 END AS k, i % 5 AS x FROM generate_series(1, 42000) i;
ALTER TABLE sets_t ALTER a SET NOT NULL, ALTER x SET NOT NULL;
SET client_min_messages = warning;
SELECT dp.create_dataset('sets_t', 'sets_t', epsilon => 100000);
SELECT dp.add_attribute('sets_t', 'a'), dp.add_attribute('sets_t', 'k', '{0,1}'), dp.add_attribute('sets_t', 'x', 0, 5, bins => 5, last => 'open');
SELECT dp.grant_budget('sets_t', 'sets_ann', epsilon => 100000), dp.expose('sets_t', 'sets_v', epsilon => 900);
GRANT SELECT ON sets_v TO sets_ann;
RESET client_min_messages;
SET SESSION AUTHORIZATION sets_ann;
-- The same error has one price, whichever front asks.
SELECT q.rho = h.rho AS one_price FROM unnest('{0.5,1,3,10,33.3}'::float8[]) e,
	dp.quote_aggregate('sets_t', '{count(*)}', '{a}', max_stderr => e) q, dp.quote('sets_t', '{a}', max_stderr => e) h;
SET pg_epsilon.max_stderr = 2;
SELECT k, round(count(*)::numeric, -2) FROM sets_v GROUP BY k ORDER BY k;
SELECT count(*) FROM dp.histogram('sets_t', '{k}', max_stderr => 2);
RESET pg_epsilon.max_stderr;

-- A row without k is in no set, and that is told; of the columns that drop nothing there is nothing to tell.
SELECT a, k, round(count(*)::numeric, -2) FROM sets_v GROUP BY GROUPING SETS ((a), (k), ()) ORDER BY 1, 2;
SELECT a, x < 3, round(count(*)::numeric, -2) FROM sets_v GROUP BY ROLLUP (1, 2) ORDER BY 1, 2;
-- Nor where a test is true for NULL in a column that has none.
SELECT CASE WHEN x < 3 THEN 'low' ELSE 'high' END, round(count(*)::numeric, -2) FROM sets_v GROUP BY 1 ORDER BY 1;
SELECT round(count(*)::numeric, -2) FROM sets_v WHERE a OR x >= 3;

-- max_stderr holds for groups of an expression of several columns, too, and EXPLAIN says so.
SET client_min_messages = warning;
SET pg_epsilon.max_stderr = 10;
SELECT (a::text || k) || '/' || (x > 2), round(dp.stderr_count(*)::numeric, 1) FROM sets_v GROUP BY 1 ORDER BY 1;
SELECT CASE WHEN a OR x < 2 THEN 1 ELSE 0 END, round(dp.stderr_count(*)::numeric, 1) FROM sets_v GROUP BY 1 ORDER BY 1;
EXPLAIN (COSTS OFF) SELECT CASE WHEN a OR x < 2 THEN 1 ELSE 0 END, count(*) FROM sets_v WHERE k = 1 GROUP BY 1;
RESET pg_epsilon.max_stderr;

-- 32 attributes, which is the most.
SET client_min_messages = warning;
SET SESSION AUTHORIZATION sets_owner;
DO $$BEGIN
	EXECUTE 'CREATE TABLE sets_wide AS SELECT ' || (SELECT string_agg(format('i / %s %% 3 AS a%s', j + 1, j), ', ') FROM generate_series(0, 31) j)
		|| ' FROM generate_series(1, 3000) i';
END$$;
SELECT dp.create_dataset('sets_wide', 'sets_wide', epsilon => 100000);
SELECT count(dp.add_attribute('sets_wide', ('a' || j)::name, 0, 3, bins => 3, last => 'open')) FROM generate_series(0, 31) j;
SELECT dp.grant_budget('sets_wide', 'sets_ann', epsilon => 100000), dp.expose('sets_wide', 'sets_wide_v', epsilon => 900);
GRANT SELECT ON sets_wide_v TO sets_ann;
SET SESSION AUTHORIZATION sets_ann;
SELECT queries FROM dp.measure('sets_wide', (SELECT array_agg('a' || j) FROM generate_series(0, 31) j)::text[], 'marginals(1)', epsilon => 900);
SELECT round(count(*)::numeric, -2) FROM sets_wide_v;
SELECT a31, round(count(*)::numeric, -2) FROM sets_wide_v GROUP BY a31 ORDER BY 1;
SELECT count(*) FROM dp.aggregate('sets_wide', '{count(*)}', (SELECT array_agg('a' || j) FROM generate_series(0, 31) j)::text[], workload => 'marginals(1)', epsilon => 900);

RESET SESSION AUTHORIZATION;
DROP OWNED BY sets_owner, sets_ann;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused;
DROP ROLE sets_owner, sets_ann;
