-- count(DISTINCT x): how many values occur among the rows that count, with noise and an interval.
-- Noise of rho 100 k^2 has variance 1/200; where it is 0 at two places estimates are rounded.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator, regress_ann;
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE sales (shop text, item text, day date, pieces int, size int, note text);
INSERT INTO sales SELECT (ARRAY['a', 'b', 'c'])[1 + i % 3], CASE WHEN i % 11 > 0 THEN 'i' || i % (4 + 3 * (i % 3)) END, '2026-01-01'::date + i % (10 + i % 3), i % 7, i % 40, 'n' || i % 5 FROM generate_series(1, 600) i;
INSERT INTO sales SELECT 'd', NULL, '2026-01-01', 1, 1, 'n1' FROM generate_series(1, 30);
CREATE FUNCTION register(name text, neighbours text DEFAULT 'add_remove', accounting text DEFAULT 'gdp', unit text DEFAULT NULL, rows int DEFAULT NULL) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM dp.create_dataset(name, name || '_rows', 1e5, unit => register.unit, max_rows => rows, neighbours => neighbours, accounting => accounting),
            dp.add_attribute(name, 'shop', '{a,b,c,d,e}'), dp.add_attribute(name, 'item', ARRAY(SELECT 'i' || i FROM generate_series(0, 19) i), nulls => 'cell'),
            dp.add_attribute(name, 'pieces', ARRAY[0, 1, 2, 3, 4, 5, 6, 7]), dp.add_attribute(name, 'size', 0, 40, 4), dp.add_attribute(name, 'note', '{n0,n1}', outside => 'other'),
            dp.add_edges(name, 'day', (SELECT array_agg(d::date) FROM generate_series(date '2026-01-01', '2026-02-01', '1 day') d), outside => 'drop'),
            dp.grant_budget(name, 'regress_ann', 1e5);
END $$;
CREATE TABLE one_rows AS TABLE sales;
CREATE TABLE replaced_rows AS TABLE sales;
CREATE TABLE pure_rows AS TABLE sales;
-- customers of three rows each at most
CREATE TABLE cut_rows AS SELECT i / 3 AS customer, s.* FROM (SELECT row_number() OVER () - 1 AS i, * FROM sales) s;
CREATE TABLE crowd_rows AS SELECT i / 20 AS customer, s.* FROM (SELECT row_number() OVER () - 1 AS i, * FROM sales) s;
CREATE TABLE moving_rows AS TABLE crowd_rows;
CREATE TABLE crowd_pure_rows AS TABLE crowd_rows;
CREATE TABLE few_rows AS SELECT 1 AS customer, s.* FROM sales s;
SELECT register('one'), register('replaced', 'substitute'), register('pure', 'substitute', 'pure'), register('cut', 'add_remove', 'gdp', 'customer', 3), register('few', 'substitute', 'zcdp', 'customer', 2), register('crowd', 'add_remove', 'gdp', 'customer', 20), register('moving', 'substitute', 'zcdp', 'customer', 20), register('crowd_pure', 'substitute', 'pure', 'customer', 20);
SELECT dp.expose(d, d || '_v', epsilon => e) FROM (VALUES ('one', 300), ('cut', 900), ('replaced', 300), ('crowd', 900)) x (d, e);
SELECT dp.expose('crowd', 'low_v', epsilon => .2);
GRANT SELECT ON one_v, cut_v, replaced_v, crowd_v, low_v TO regress_ann;
CREATE FUNCTION truth(what text) RETURNS SETOF text LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN RETURN QUERY EXECUTE format('SELECT row(x.*)::text FROM (%s) x', what); END $$;
SET SESSION AUTHORIZATION regress_ann;

-- By groups, with conditions, beside other aggregates: NULL is no value, and an empty group has none
SELECT label, round(estimate::numeric) AS estimate, round(stderr::numeric, 2) AS stderr, round((upper95 - lower95)::numeric, 1) AS width FROM dp.aggregate('one', '{count(distinct item)}', '{shop}', rho => 100);
SELECT label, aggregate, round(estimate::numeric) AS estimate FROM dp.aggregate('one', '{count(distinct item),count(distinct day),count(*),count(distinct item) where (pieces >= 3)}', '{shop}', rho => 10000) WHERE label ->> 'shop' = 'a';
SELECT truth('SELECT count(DISTINCT item), count(DISTINCT day), count(*), count(DISTINCT item) FILTER (WHERE pieces >= 3) FROM sales WHERE shop = ''a''');
SELECT aggregate, round(estimate::numeric) AS estimate FROM dp.aggregate('one', '{count(distinct item),"ratio(count(distinct item), count(*))"}', predicate => 'pieces = 2', rho => 1e4);
-- terms of a workload are counted by themselves
SELECT label, round(estimate::numeric) AS estimate FROM dp.aggregate('one', '{count(distinct pieces)}', '{shop}', workload => 'identity(shop) + total', rho => 1e4);

-- Errors that are quoted: k of add_remove, sqrt(2) k of substitute by groups, k of one group; L1 2k
SELECT d, round(stderr::numeric, 3) AS stderr FROM (VALUES ('one', '{shop}'), ('replaced', '{shop}'), ('replaced', '{}'), ('cut', '{shop}'), ('few', '{shop}'), ('few', '{}')) x (d, by), LATERAL (SELECT max(stderr) AS stderr FROM dp.quote_aggregate(d, '{count(distinct item)}', by::text[], rho => .5)) q;
SELECT by, round(stderr::numeric, 2) AS stderr FROM (VALUES ('{shop}'), ('{}')) x (by), LATERAL (SELECT max(stderr) AS stderr FROM dp.quote_aggregate('pure', '{count(distinct item)}', by::text[], epsilon => .5)) q;
-- of 8 values where units have 20 rows: 8 of one group, the root of 8^2 + 8^2 + 4^2 of several, and as much again of replaced units
CREATE FUNCTION error_of(dataset text, by text[]) RETURNS numeric LANGUAGE sql AS $$ SELECT round(max(stderr)::numeric, 3) FROM dp.quote_aggregate(dataset, '{count(distinct pieces)}', by, rho => .5) $$;
SELECT error_of('crowd', '{}') AS one_group, error_of('crowd', '{shop}') AS groups, error_of('crowd', '{item}') AS many_groups, error_of('moving', '{}') AS one_moving, error_of('moving', '{shop}') AS moving, error_of('moving', '{item}') AS many_moving;
SELECT round(max(stderr)::numeric, 2) AS pure FROM dp.quote_aggregate('crowd_pure', '{count(distinct pieces)}', epsilon => .5);
-- Intervals hold the truth in at least 95 of 100, at any noise: 6 standard deviations below that
SELECT rho, count(*) AS asked, count(*) FILTER (WHERE a.lower95 <= 10 AND a.upper95 >= 10) >= 262 AS held FROM (VALUES (.02), (.5), (4)) x (rho), generate_series(1, 300) i, LATERAL dp.aggregate('one', '{count(distinct item)}', rho => rho + 0 * i, fresh => true) a GROUP BY 1 ORDER BY 1;
-- A unit with many rows counts two of them
SELECT round(estimate::numeric) <= 2 AS cut FROM dp.aggregate('few', '{count(distinct item)}', rho => 1e4);

-- In SELECT: one NOTICE in each session
\unset ECHO
\c
SET SESSION AUTHORIZATION regress_ann;
\set ECHO all
SELECT shop, count(DISTINCT item) AS n FROM cut_v GROUP BY shop HAVING count(DISTINCT item) > 4 ORDER BY n DESC;
SELECT count(DISTINCT item) FROM cut_v;
SET client_min_messages = warning;
SELECT shop, count(DISTINCT item) FROM one_v GROUP BY shop ORDER BY shop;
SELECT truth('SELECT shop, count(DISTINCT item) FROM sales GROUP BY shop ORDER BY shop');
SELECT count(DISTINCT item), count(DISTINCT pieces) FILTER (WHERE shop = 'a' AND item IS NOT NULL) FROM one_v WHERE day < '2026-01-08';
SELECT truth('SELECT count(DISTINCT item), count(DISTINCT pieces) FILTER (WHERE shop = ''a'' AND item IS NOT NULL) FROM sales WHERE day < ''2026-01-08''');
SELECT date_trunc('week', day)::date AS week, count(DISTINCT day) FROM one_v GROUP BY 1 ORDER BY 1;
SELECT truth('SELECT date_trunc(''week'', day)::date, count(DISTINCT day) FROM sales GROUP BY 1 ORDER BY 1');
SELECT shop IN ('a', 'b') AS ab, count(DISTINCT item) FROM one_v GROUP BY 1 ORDER BY 1;
SELECT shop, grouping(shop), count(DISTINCT pieces) FROM replaced_v GROUP BY ROLLUP (shop) ORDER BY 1;
-- min and max of distinct values are what is declared
SELECT min(DISTINCT pieces), max(DISTINCT pieces) FROM one_v;
-- It is paid for once
SELECT count(*) AS before FROM dp.charges \gset
SELECT shop, count(DISTINCT item) FROM one_v GROUP BY shop ORDER BY shop LIMIT 1;
SELECT count(*) = :before AS free FROM dp.charges;
EXPLAIN (COSTS OFF) SELECT shop, count(DISTINCT item) FROM one_v GROUP BY shop;

-- A NOTICE where the noise alone is more than all values
SET client_min_messages = notice;
SELECT bool_and(n IS NOT NULL) AS told FROM (SELECT shop, count(DISTINCT pieces) AS n FROM low_v GROUP BY shop) x;
SELECT count(DISTINCT pieces) IS NOT NULL AS told, count(DISTINCT item) IS NOT NULL AS told FROM crowd_v;
SET client_min_messages = warning;

-- What follows from no release: groups do not add up
SELECT round(estimate::numeric) AS estimate FROM dp.aggregate('replaced', '{count(distinct item)}', '{shop}', rho => 1e4) LIMIT 1;
SELECT count(*) AS before FROM dp.charges \gset
SELECT round(estimate::numeric) AS estimate FROM dp.aggregate('replaced', '{count(distinct item)}', rho => 1e3, reuse => true);
SELECT count(*) - :before AS charged FROM dp.charges;

-- min_count: decided by the rows of the group
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.set_min_count('replaced', 50);
SET SESSION AUTHORIZATION regress_ann;
SELECT label ->> 'shop' AS shop, aggregate, round(estimate::numeric) AS estimate FROM dp.aggregate('replaced', '{count(distinct item)}', '{shop}', rho => 2e4) ORDER BY 1, 2;

-- Refused, free
\set VERBOSITY default
\t on
SELECT count(*) AS before FROM dp.charges \gset
SELECT a, refused(format('SELECT * FROM dp.aggregate(%L, %L, rho => 1)', 'one', ARRAY[a])) FROM unnest(ARRAY['count(distinct size)', 'count(distinct note)', 'count(distinct nothing)', 'count(distinct)', 'count(distinct item, day)', 'count(distinct "unit")']) a;
SELECT refused($$SELECT * FROM dp.aggregate('one', '{count(distinct shop)}', '{shop}', rho => 1)$$);
SELECT refused($$SELECT * FROM dp.aggregate('one', '{count(distinct item)}', '{pieces}', workload => 'prefix(pieces)', rho => 1)$$);
SELECT s, refused(s) FROM unnest(ARRAY['SELECT sum(DISTINCT pieces) FROM one_v', 'SELECT avg(DISTINCT pieces) FROM one_v', 'SELECT count(DISTINCT pieces + 1) FROM one_v', 'SELECT count(DISTINCT size) FROM one_v', 'SELECT count(DISTINCT (shop, item)) FROM one_v']) s;
SELECT count(*) = :before AS free FROM dp.charges;
\t off
RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused;
SET client_min_messages = error;
DROP OWNED BY regress_curator, regress_ann CASCADE;
DROP ROLE regress_curator, regress_ann;
