-- Minimum frequency: who sees a group of few units, by each function that returns values, and who does not.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
CREATE ROLE regress_bob;
GRANT CREATE ON SCHEMA public TO regress_curator, regress_ann;
SET client_min_messages = warning;
\pset null '(null)'
\t on
-- Groups of 9, 0, 30, 300 and 500 rows; k will be 10. Of group 3 four rows are not b. Of group 4 six have an x.
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE t AS SELECT g, NOT (g = 3 AND i <= 4) AS b, CASE WHEN g <> 4 OR i <= 6 THEN i % 100 END AS x, i % 100 AS y, timestamptz '2024-01-01' + (i % 4) * interval '1 day' AS at, 'key ' || g AS word
  FROM (VALUES (0, 9), (2, 30), (3, 300), (4, 500)) s(g, n), generate_series(1, n) i;
SELECT dp.create_dataset('d', 't', epsilon => 1e5), dp.add_attribute('d', 'g', 0, 5, 5, last => 'open'), dp.add_attribute('d', 'b'), dp.add_attribute('d', 'x', 0, 100, 4), dp.add_attribute('d', 'y', -100, 100, 1);
SELECT dp.add_attribute('d', 'word', open => true);
SELECT dp.set_time('d', 'at', append_only => true);
SELECT dp.grant_budget('d', 'regress_ann', epsilon => 9e4);
-- What is shown of a group: the first of its numbers, if all are there, or - if none is. seen: not the number.
CREATE FUNCTION shown(VARIADIC figures float8[]) RETURNS text LANGUAGE sql AS $$
    SELECT CASE WHEN count(f) = 0 THEN '-' WHEN count(f) = count(*) THEN round((array_agg(f))[1])::text ELSE 'some of its numbers' END FROM unnest(figures) f $$;
CREATE FUNCTION seen(VARIADIC figures float8[]) RETURNS text LANGUAGE sql AS $$ SELECT CASE WHEN shown(VARIADIC figures) ~ '^-?[0-9]' THEN 'shown' ELSE shown(VARIADIC figures) END $$;
SELECT dp.expose('d', 'v');
GRANT SELECT ON v TO regress_ann, regress_bob;

-- The owner's act
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT dp.set_min_count('d', 1)$$);
SELECT refused($$SELECT dp.set_min_count('d', NULL)$$);
CREATE TEMP TABLE before AS SELECT (SELECT max(release) FROM dp.histogram('d', 'g', epsilon => 1000)) AS counts, (SELECT max(release) FROM dp.aggregate('d', 'sum(y)', 'g', epsilon => 1000)) AS sums, (SELECT max(release) FROM dp.measure('d', 'g', 'matrix({{1,-1,0,0,0},{0,0,1,1,2}})', epsilon => 1000)) AS contrasts, (SELECT max(release) FROM dp.histogram('d', '{g,b}', epsilon => 1000)) AS cells, (SELECT max(release) FROM dp.histogram('d', '{g,b}', 'prefix(g) * identity(b)', epsilon => 1000)) AS finer;
GRANT SELECT ON before TO regress_curator;
SET SESSION AUTHORIZATION regress_curator;
SELECT refused($$SELECT dp.set_min_count('d', 0)$$);
SELECT refused($$SELECT dp.set_min_count('none', 1)$$);
SELECT dp.set_min_count('d', 10);
SELECT dataset, min_count FROM dp.datasets;
SELECT description FROM dp.describe('d') WHERE description ~ 'fewer';
SELECT act, old_value, new_value FROM dp.acts WHERE act = 'set_min_count';
SELECT ok FROM dp.verify_ledger('d');

-- Counts: what was paid before is hidden too
SET SESSION AUTHORIZATION regress_ann;
SELECT label, shown(estimate, stderr, lower95, upper95) FROM dp.histogram('d', 'g', epsilon => 1000);
SELECT label, shown(estimate, stderr, lower95, upper95) FROM dp.histogram('d', 'g', epsilon => 900, reuse => true);
SELECT label, shown(estimate, stderr, lower95, upper95) FROM dp.histogram('d', 'g', epsilon => 1000, nonnegative => true);
SELECT label, shown(estimate, stderr, lower95, upper95) FROM dp.histogram('d', '{g,b}', 'marginals(1)', epsilon => 1000);
SELECT label, shown(estimate, stderr, lower95, upper95) FROM before, dp.answer(counts, 'prefix + ranges(g; 0-0, 0-1, 1-2)');
SELECT label, shown(estimate, stderr, lower95, upper95) FROM before, dp.cells(cells);
SELECT label, shown(estimate, stderr, lower95, upper95) FROM before, dp.combine(ARRAY[finer, cells], 'identity(g)');
SELECT label, seen(estimate, lower95, upper95) FROM before, dp.quantile((SELECT max(release) FROM dp.measure('d', '{g,x}', epsilon => 1000)), 'x', '{0.5}', by => '{g}');
-- a total is shown, and what is left of it without the others: SECURITY.md says so
SELECT shown(estimate) FROM before, dp.answer(counts, 'total');
-- Contrasts: a query that is no group
SELECT refused($$SELECT dp.answer(counts, 'matrix({{1,0,0,0,1000}})') FROM before$$);
SELECT refused($$SELECT dp.combine(ARRAY[finer, cells], 'matrix({{1,-1,0,0,0}}) * total(b)') FROM before$$);
SELECT refused($$SELECT dp.answer(contrasts, 'matrix({{1,-1,0,0,0}})') FROM before$$);
SELECT refused($$SELECT dp.publish(contrasts, 'contrasts') FROM before$$);
SELECT refused($$SELECT dp.histogram('d', 'g', 'matrix({{1,-1,0,0,0}})', epsilon => 1)$$);
SELECT refused($$SELECT dp.aggregate('d', '{count(*)}', '{g}', workload => 'matrix({{2,0,0,0,0}})', epsilon => 1)$$);
SELECT label, shown(estimate) FROM before, dp.answer(counts, 'matrix({{1,1,0,0,0},{1,0,0,0,1},{0,0,0,0,0}})');
-- no interval, no group
SELECT refused($$SELECT dp.aggregate('d', 'median(y)', 'g', epsilon => 1)$$);

-- Aggregates: a sum asks for its count, which the quote shows and which has no rows of its own
SELECT aggregate FROM dp.quote_aggregate('d', '{sum(x),sum(y)}', '{g}', epsilon => 1000);
SELECT aggregate FROM dp.quote_aggregate('d', '{avg(x),sum(x),count(*),sum(y)}', '{g}', epsilon => 1000);
SELECT label, aggregate, seen(estimate, stderr, lower95, upper95) FROM dp.aggregate('d', '{sum(x),sum(y)}', '{g}', epsilon => 1000) ORDER BY 2, 1;
SELECT label, aggregate, seen(estimate, stderr, lower95, upper95) FROM dp.aggregate('d', '{count(*),count(x),avg(x),stddev(x),share,count(*) where (not b) as not_b,"ratio(count(*) where (not b), count(*)) as part"}', '{g}', epsilon => 1000) ORDER BY 2, 1;
SELECT label, aggregate, seen(estimate, lower95, upper95) FROM dp.aggregate('d', '{median(x)}', '{g}', epsilon => 1000) ORDER BY 2, 1;
-- the very release that has no count
SELECT dp.publish(sums, 'of_sums') FROM before;
SELECT g_from, shown(sum_y, sum_y_stderr, sum_y_lower95, sum_y_upper95) FROM of_sums ORDER BY 1;

-- Published tables: for everybody, also those of the owner
SELECT dp.publish(counts, 'by_ann') FROM before;
GRANT SELECT ON by_ann TO regress_bob;
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.publish(counts, 'by_curator') FROM before;
GRANT SELECT ON by_curator TO regress_bob;
SELECT refused($$SELECT dp.publish(contrasts, 'contrasts') FROM before$$);
SET SESSION AUTHORIZATION regress_bob;
SELECT g_from, shown(a.estimate, a.stderr, a.lower95, a.upper95), shown(c.estimate, c.stderr, c.lower95, c.upper95) FROM by_ann a JOIN by_curator c USING (query, g_from) ORDER BY query;

-- Plain SELECT
SET SESSION AUTHORIZATION regress_ann;
SET pg_epsilon.epsilon = 1000;
SELECT g, shown(count(*), dp.stderr_count(*), dp.lower95_count(*), dp.upper95_count(*)), seen(avg(x)), seen(sum(y), dp.stderr_sum(y), dp.lower95_sum(y), dp.upper95_sum(y)), seen(count(*) FILTER (WHERE NOT b), dp.stderr_count(*) FILTER (WHERE NOT b)) FROM v GROUP BY g ORDER BY g;
SELECT g, seen(sum(y)) FROM v GROUP BY g ORDER BY g;
SELECT g, seen(dp.stderr_sum(y)), seen(dp.stderr_avg(x), dp.lower95_avg(x)) FROM v GROUP BY g ORDER BY g;
SELECT g, seen(dp.median(x)) FROM v GROUP BY g ORDER BY g;
SELECT g, seen(sum(CASE WHEN b THEN 1 ELSE 1000 END)) FROM v GROUP BY g ORDER BY g;
SELECT g, seen(avg(CASE WHEN b THEN 0 ELSE 1 END)) FROM v GROUP BY g ORDER BY g;
SELECT g FROM v GROUP BY g HAVING count(*) < 100 ORDER BY g;
SELECT g FROM v GROUP BY g HAVING NOT (count(*) < 100) ORDER BY g;
SELECT g, CASE WHEN count(*) BETWEEN 5 AND 15 THEN 'nine' WHEN count(*) > 15 THEN 'many' ELSE 'unknown' END FROM v GROUP BY g ORDER BY count(*), g;
SELECT shown(count(*)) FROM v WHERE g = 0;
SELECT g = 0 AND b AS few, shown(count(*)) FROM v GROUP BY 1 ORDER BY 1;
-- of groups that are joined all rows together decide: 9 and 30, and 39 of them are b
SELECT g < 3 AND b AS some, shown(count(*), dp.stderr_count(*)) FROM v GROUP BY 1 ORDER BY 1;
SELECT g, GROUPING(g), shown(count(*)) FROM v GROUP BY CUBE (g) ORDER BY 1;
WITH c AS (SELECT g, count(*) AS n FROM v GROUP BY g) SELECT shown(sum(n)), shown(max(n) - min(n)), count(n) FROM c;
EXPLAIN (COSTS OFF) SELECT g, sum(x) FROM v GROUP BY g;
CREATE FUNCTION pg_temp.explained(text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) ' || $1 LOOP
        RETURN NEXT regexp_replace(line, 'rows=(\d+)\.00', 'rows=\1');    -- as of PostgreSQL 18
    END LOOP;
END $$;
SELECT pg_temp.explained('SELECT g FROM v GROUP BY g HAVING count(*) < 100');
SET client_min_messages = notice;
SELECT g, count(*) > 0 FROM v GROUP BY g ORDER BY g;
-- of the 500 rows of group 4 six have an x
SELECT g, count(*) > 0, seen(sum(x)) FROM v GROUP BY g ORDER BY g;
SELECT label, aggregate, seen(estimate) FROM dp.aggregate('d', '{count(*),sum(x)}', '{g}', epsilon => 900);
SELECT count(*) FROM before, dp.answer(counts, 'identity');
SET client_min_messages = warning;

-- An option of the relation raises it, and lowers nothing; a relation of one's own neither
SELECT refused($$CREATE FOREIGN TABLE x (g int) SERVER dp OPTIONS (min_count '0')$$);
CREATE FOREIGN TABLE own (g int, b boolean) SERVER dp OPTIONS (dataset 'd', min_count '1');
SELECT g, shown(count(*)) FROM own GROUP BY g ORDER BY g;
ALTER FOREIGN TABLE own OPTIONS (SET min_count '400');
SELECT g, shown(count(*)) FROM own GROUP BY g ORDER BY g;

-- The owner sees all, by all of them
SET SESSION AUTHORIZATION regress_curator;
SELECT replace(shown(estimate, stderr, lower95, upper95), '-0', '0') FROM before, dp.cells(counts);
SELECT shown(estimate) IS NOT NULL FROM before, dp.answer(counts, 'matrix({{1,-1,0,0,0}})');
SELECT dp.grant_budget('d', 'regress_curator', epsilon => 1e4, overcommit => true);
SET pg_epsilon.epsilon = 1000;
SELECT g, replace(shown(count(*), dp.stderr_count(*)), '-0', '0') FROM v GROUP BY g ORDER BY g;

-- Cubes, of the owner's releases: their readers have no budget. One of counts alone has the sum of x where each of its values is shown.
SELECT max(release) AS cube FROM dp.aggregate('d', '{count(*),sum(y)}', '{g,b}', epsilon => 1000) \gset
SELECT max(release) AS counts FROM dp.histogram('d', '{g,b}', epsilon => 1000, fresh => true) \gset
SELECT dp.expose('d', 'cube', release => :cube), dp.expose('d', 'counts', release => :counts);
GRANT SELECT ON cube, counts TO regress_bob;
SELECT g, replace(shown(count(*)), '-0', '0') FROM cube GROUP BY g ORDER BY g;
SET SESSION AUTHORIZATION regress_bob;
SELECT g, shown(count(*), dp.stderr_count(*), dp.lower95_count(*), dp.upper95_count(*)), seen(sum(y), dp.stderr_sum(y)), seen(avg(y), dp.lower95_avg(y), dp.upper95_avg(y)), seen(count(*) FILTER (WHERE NOT b)), seen(sum(CASE WHEN b THEN 1 ELSE 1000 END)) FROM cube GROUP BY g ORDER BY g;
SELECT g, shown(count(*)), seen(sum(g)), seen(avg(CASE WHEN b THEN 0 ELSE 1 END), dp.stderr_avg(CASE WHEN b THEN 0 ELSE 1 END), dp.lower95_avg(CASE WHEN b THEN 0 ELSE 1 END)), seen(sum(CASE WHEN b THEN 1 ELSE 1000 END)) FROM counts GROUP BY g ORDER BY g;
SELECT seen(sum(CASE WHEN g = 0 THEN 1000 ELSE 1 END)), seen(sum(CASE WHEN g < 3 THEN 1000 ELSE 1 END)), seen(avg(CASE WHEN g = 0 THEN 1 ELSE 0 END)), seen(sum(CASE WHEN g > 2 THEN 1 ELSE 0 END)), shown(count(*) FILTER (WHERE g = 0)) FROM counts;
SELECT shown(count(*)) FROM counts WHERE g = 0;
SELECT g FROM counts GROUP BY g HAVING count(*) < 100 ORDER BY g;
SET client_min_messages = notice;
SELECT g, count(*) > 0 FROM counts GROUP BY g ORDER BY g;
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_curator;
ALTER FOREIGN TABLE counts_foreign OPTIONS (ADD min_count '400');
SET SESSION AUTHORIZATION regress_bob;
SELECT g, shown(count(*)) FROM counts GROUP BY g ORDER BY g;

-- Reports: by periods and in totals
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM dp.create_series('d', 'days', '{g}', over => 'totals + periods', start => '2024-01-01', period => '1 day', periods => 3, rho => 10000);
SELECT count(*) FROM dp.create_series('d', 'sums', '{g}', over => 'totals + periods', start => '2024-01-01', period => '1 day', periods => 3, rho => 10000, aggregates => '{sum(y)}');
SELECT over, label, seen(estimate, stderr, lower95, upper95) FROM dp.report('days', 3) ORDER BY over, query;
SELECT over, label, aggregate, seen(estimate, stderr, lower95, upper95) FROM dp.report('sums', 3) ORDER BY over, query, aggregate;
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.publish_series('days', 'published_days');
SELECT report, over, g_from, shown(estimate, stderr, lower95, upper95) FROM published_days WHERE report = 3 AND g_from < 2 ORDER BY over, query;
SELECT over, label, seen(estimate, stderr, lower95, upper95) FROM dp.report('days', 3) WHERE query < 3 ORDER BY over, query;

-- NULL ends it
SELECT dp.set_min_count('d', NULL);
SET SESSION AUTHORIZATION regress_ann;
SELECT replace(shown(estimate, stderr, lower95, upper95), '-0', '0') FROM before, dp.cells(counts);
SELECT aggregate FROM dp.quote_aggregate('d', 'sum(y)', 'g', epsilon => 1000);

-- Units: 15 people with one row each, and 5. Rows count as rows / max_rows, unless units are counted.
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE pure AS SELECT g, y FROM t;
CREATE TABLE visits AS SELECT 1000 * s + i AS who, s, i % 50 AS x, word, CASE s WHEN 3 THEN 5000 ELSE (s - 1) * i END AS z, timestamptz '2024-01-01' AS at FROM (VALUES (1, 15, 'rare'), (2, 300, 'often'), (3, 5, 'seldom')) v(s, n, word), generate_series(1, n) i;
INSERT INTO visits SELECT who, s, x, word, z, at + interval '1 day' FROM visits WHERE s = 2;
SELECT dp.create_dataset('p', 'visits', epsilon => 1e5, delta => 1e-6, unit => 'who', max_rows => 2), dp.add_attribute('p', 's', '{1,2,3}'), dp.add_attribute('p', 'x', 0, 100, 4);
SELECT dp.set_time('p', 'at');
SELECT dp.add_attribute('p', 'word', open => true), dp.add_attribute('p', 'z', open => true), dp.grant_budget('p', 'regress_ann', epsilon => 9e4), dp.set_min_count('p', 10), dp.expose('p', 'pv');
GRANT SELECT ON pv TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SELECT label, shown(estimate) FROM dp.histogram('p', 's', epsilon => 1000);
SELECT label, shown(estimate) FROM dp.histogram('p', 's', epsilon => 1000, rows_per_unit => 1);
SELECT label, aggregate, shown(estimate) FROM dp.aggregate('p', '{count(*),count(distinct unit)}', '{s}', epsilon => 1000) ORDER BY 1, 2;
SELECT s, shown(count(*)), seen(avg(x)), shown(dp.people(*)) FROM pv GROUP BY s ORDER BY s;
SET client_min_messages = notice;
SELECT rows, shown(units, stderr, lower95, upper95) FROM dp.rows_per_unit('p', 4, epsilon => 1000);
SET client_min_messages = warning;
SELECT description FROM dp.describe('p') WHERE description ~ 'release';
SELECT key, shown(estimate) FROM dp.keys('p', 'word', epsilon => 1000, delta => 1e-10);
-- without the rule from 0 to 8192
SELECT lower, upper FROM dp.bounds('p', 'z', epsilon => 1000);
-- Totals of three periods: a unit may have a row in each, so that 15 rows may be of 5 units
SELECT count(*) FROM dp.create_series('p', 'both', '{s}', over => 'totals + periods', start => '2024-01-01', period => '1 day', periods => 3, max_periods => 3, rows_per_unit => 1, rho => 10000);
SELECT report, over, seen(estimate, stderr, lower95, upper95) FROM dp.report('both') WHERE label = '{"s": 1}' AND over = 'totals' ORDER BY 1;

-- Laplace noise, where a sum and its count are measured from both bounds. dawa has no interval.
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.create_dataset('q', 'pure', epsilon => 1e5, accounting => 'pure'), dp.add_attribute('q', 'g', 0, 5, 5, last => 'open'), dp.add_attribute('q', 'y', -100, 100, 1), dp.grant_budget('q', 'regress_ann', epsilon => 9e4), dp.set_min_count('q', 10);
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT dp.histogram('q', 'g', method => 'dawa', epsilon => 1)$$);
SELECT aggregate FROM dp.quote_aggregate('q', 'sum(y)', 'g', epsilon => 1000);
SELECT label, aggregate, seen(estimate, stderr, lower95, upper95) FROM dp.aggregate('q', '{sum(y),avg(y)}', '{g}', epsilon => 1000) ORDER BY 2, 1;
SELECT label, shown(estimate, stderr, lower95, upper95) FROM dp.histogram('q', 'g', epsilon => 1000);

-- The law: of 1000 groups of 9 no more than 25 are shown on average, with a standard deviation of 4.9
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE many AS SELECT i % 1000 AS g FROM generate_series(0, 8999) i;
SELECT dp.create_dataset('m', 'many', epsilon => 1e5), dp.add_attribute('m', 'g', 0, 1000, 1000, last => 'open'), dp.grant_budget('m', 'regress_ann', epsilon => 9e4), dp.set_min_count('m', 10);
SET SESSION AUTHORIZATION regress_ann;
SELECT count(estimate) BETWEEN 1 AND 60 AS few FROM dp.histogram('m', 'g', epsilon => 1);
SELECT count(estimate) BETWEEN 1 AND 60 AS few FROM dp.aggregate('m', '{count(*)}', '{g}', epsilon => 1.1);
-- it stays with the table
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.drop_dataset('m');
SELECT dp.create_dataset('m2', 'many', epsilon => 1e5);
SELECT dataset, min_count FROM dp.datasets ORDER BY 1;
RESET SESSION AUTHORIZATION;

SET client_min_messages = error;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused;
DROP OWNED BY regress_curator, regress_ann, regress_bob CASCADE;
DROP ROLE regress_curator, regress_ann, regress_bob;
