-- count(DISTINCT x) of a column that nobody has listed: how many values occur among the rows that count.
-- Noise of rho 1e4 k^2 is 0 at two places; estimates are rounded.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_curator;
CREATE TYPE colour AS ENUM ('violet', 'red', 'green');
CREATE TABLE hits (id int, shop text, pieces int, i2 int2, i4 int4, i8 int8, n numeric, t text, v varchar(40), c char(9), u uuid, d date, ts timestamp,
    tz timestamptz, f4 real, f8 float8, bo boolean, e colour);
-- 3 shops and one that is not declared; values by 40, 97, ...; every eleventh row has NULL
INSERT INTO hits SELECT i, (ARRAY['a', 'b', 'c', 'x'])[1 + i % 4], i % 7, v % 40, v % 97, v % 40 * 1000000000000, v % 97 * 1.50, 'v' || v % 300, 'v' || v % 40, 'v' || v % 40, md5((v % 97)::text)::uuid,
        date '2024-02-28' + v % 97, timestamp '2024-02-28 12:00' + v % 40 * interval '1 day', timestamptz '2024-02-28 12:00+00' + v % 40 * interval '1 hour',
        v % 40 * 0.5, v % 97 * 0.1, v % 2 = 1, (ARRAY['red', 'green', 'violet'])[1 + v % 3]::colour
    FROM (SELECT i, CASE WHEN i % 11 > 0 THEN i * i % 1009 END AS v FROM generate_series(1, 2000) i) r;
-- one value each: by equality, not by how it is written
INSERT INTO hits (id, shop, pieces, n, f4, f8, c, d, ts) VALUES (-4, 'a', 1, 1.5, '-0', '-0', 'v1', 'infinity', '-infinity'), (-8, 'a', 1, 1.500, '0', '0', 'v1  ', '-infinity', 'infinity'),
    (-12, 'a', 1, 'NaN', 'NaN', 'NaN', NULL, 'infinity', 'infinity'), (-16, 'b', 1, 'NaN', '-NaN', 'NaN', NULL, NULL, NULL), (-20, 'b', 2, NULL, 'infinity', '-infinity', NULL, NULL, NULL);
CREATE TABLE visits AS SELECT id / 4 AS person, h.* FROM hits h;
CREATE TABLE few AS SELECT 1 AS person, h.* FROM hits h;
CREATE TABLE crowd AS SELECT id % 6 AS person, h.* FROM hits h;
CREATE TABLE moving AS TABLE hits;
CREATE TABLE pure AS TABLE hits;
CREATE TABLE nothing AS SELECT * FROM hits LIMIT 0;
CREATE TABLE parts (LIKE hits) PARTITION BY RANGE (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (-100) TO (700);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (700) TO (5000);
INSERT INTO parts TABLE hits;
CREATE FUNCTION register(name text, neighbours text DEFAULT 'add_remove', accounting text DEFAULT 'gdp', unit text DEFAULT NULL, rows int DEFAULT NULL) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM dp.create_dataset(name, name, 1e5, unit => register.unit, max_rows => rows, neighbours => neighbours, accounting => accounting),
            dp.add_attribute(name, 'shop', '{a,b,c,d}'), dp.add_attribute(name, 'pieces', 0, 8, 8, last => 'open'), dp.grant_budget(name, 'regress_ann', 1e5);
    PERFORM dp.add_attribute(name, column_name, open => true) FROM information_schema.columns WHERE table_name = name AND column_name NOT IN ('id', 'person', 'shop', 'pieces');
END $$;
SELECT register('hits'), register('visits', 'add_remove', 'gdp', 'person', 5), register('few', 'substitute', 'zcdp', 'person', 2), register('crowd', 'substitute', 'gdp', 'person', 2), register('moving', 'substitute'), register('pure', 'substitute', 'pure'), register('nothing'), register('parts');
SELECT dp.expose(d, d || '_v', epsilon => e) FROM (VALUES ('hits', 1000), ('visits', 5000), ('few', 2000), ('crowd', 9000), ('nothing', 1000), ('parts', 1000), ('moving', 1000)) x (d, e);
GRANT SELECT ON hits_v, visits_v, few_v, crowd_v, nothing_v, parts_v, moving_v TO regress_ann;
CREATE FUNCTION truth(what text) RETURNS SETOF text LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN RETURN QUERY EXECUTE format('SELECT row(x.*)::text FROM (%s) x', what); END $$;
-- The same statement over the rows, and over the foreign table: whether all rows of it are equal
CREATE FUNCTION differs(statement text, tables text[] DEFAULT '{hits,visits,parts,nothing,moving}') RETURNS TABLE (of text, truth text, answer text) LANGUAGE plpgsql AS $$
DECLARE
    t text;
    a text[];
    b text[];
BEGIN
    FOREACH t IN ARRAY tables LOOP
        a := ARRAY(SELECT truth(replace(statement, 'FROM r', 'FROM ' || t)) x ORDER BY x);
        EXECUTE format('SELECT ARRAY(SELECT row(x.*)::text AS r FROM (%s) x ORDER BY r)', replace(statement, 'FROM r', 'FROM ' || t || '_v')) INTO b;
        IF a IS DISTINCT FROM b THEN
            of := t; truth := a; answer := b;
            RETURN NEXT;
        END IF;
    END LOOP;
END $$;
SET SESSION AUTHORIZATION regress_ann;
SET client_min_messages = error;

-- Of all types, of all rows and by groups; a group that is empty has none
SELECT * FROM differs('SELECT count(DISTINCT i2), count(DISTINCT i4), count(DISTINCT i8), count(DISTINCT n), count(DISTINCT t), count(DISTINCT v), count(DISTINCT c), count(DISTINCT u) FROM r WHERE shop IN (''a'', ''b'', ''c'', ''d'')');
SELECT * FROM differs('SELECT count(DISTINCT d), count(DISTINCT ts), count(DISTINCT tz), count(DISTINCT f4), count(DISTINCT f8), count(DISTINCT bo), count(DISTINCT e) FROM r WHERE shop IN (''a'', ''b'', ''c'', ''d'')');
SELECT * FROM differs('SELECT shop, count(DISTINCT t), count(*) FROM r WHERE shop IN (''a'', ''b'', ''c'') GROUP BY shop', '{hits,visits,parts,moving}');
SELECT shop, count(DISTINCT u) FROM hits_v GROUP BY shop ORDER BY shop;
SELECT truth('SELECT shop, count(DISTINCT u) FROM hits GROUP BY shop ORDER BY shop');
-- WHERE, FILTER, CASE of declared ones; groups of groups
SELECT * FROM differs('SELECT count(DISTINCT t), count(DISTINCT t) FILTER (WHERE shop = ''a''), count(DISTINCT n) FILTER (WHERE shop <> ''a'' AND pieces > 4), count(*) FILTER (WHERE shop = ''b'') FROM r WHERE pieces < 6 AND shop IN (''a'', ''b'', ''c'')');
SELECT * FROM differs('SELECT shop = ''a'' AS a, count(DISTINCT i4), avg(pieces)::int IS NOT NULL AS there FROM r WHERE shop IN (''a'', ''b'', ''c'') GROUP BY 1', '{hits,visits,parts,moving}');
SELECT * FROM differs('SELECT shop, pieces, count(DISTINCT t) FROM r WHERE shop IN (''a'', ''b'', ''c'') AND pieces < 7 GROUP BY ROLLUP (shop, pieces)', '{hits,parts,moving}');
-- of literals of the same column, and beside its count
SELECT * FROM differs('SELECT count(DISTINCT v), count(DISTINCT t), count(v) FROM r WHERE v IN (''v1'', ''v2'', ''v3'') AND shop = ''a''');
SELECT * FROM differs('SELECT count(DISTINCT v) FILTER (WHERE v <> ''v1''), count(DISTINCT v COLLATE "C") FROM r WHERE shop = ''a''');
SELECT shop, count(DISTINCT t) AS n FROM hits_v GROUP BY shop HAVING count(DISTINCT t) > 10 ORDER BY n DESC, shop LIMIT 2;

-- A unit with many rows has two values that count
SELECT count(DISTINCT t) <= 2 AS cut FROM few_v;
SELECT shop, count(DISTINCT t) <= 2 AS cut FROM few_v GROUP BY shop ORDER BY shop;

-- As dp.aggregate, with errors: k of add_remove, sqrt(2) k of substitute by groups, k of one group; L1 2k
SELECT label, round(estimate::numeric) AS estimate, round(stderr::numeric, 3) AS stderr, round((upper95 - lower95)::numeric, 1) AS width FROM dp.aggregate('hits', '{count(distinct t)}', '{shop}', rho => 100);
SELECT aggregate, round(estimate::numeric) AS estimate FROM dp.aggregate('hits', '{count(distinct t) where (pieces >= 3),"ratio(count(distinct t), count(*))",count(*)}', predicate => 'shop = ''a''', rho => 1e4);
SELECT truth('SELECT count(DISTINCT t) FILTER (WHERE pieces >= 3), count(DISTINCT t)::float8 / count(*), count(*) FROM hits WHERE shop = ''a''');
SELECT d, round(stderr::numeric, 3) AS stderr FROM (VALUES ('hits', '{shop}'), ('moving', '{shop}'), ('moving', '{}'), ('visits', '{shop}'), ('few', '{shop}'), ('few', '{}')) x (d, by), LATERAL (SELECT max(stderr) AS stderr FROM dp.quote_aggregate(d, '{count(distinct t)}', by::text[], rho => .5)) q;
SELECT by, round(stderr::numeric, 2) AS stderr FROM (VALUES ('{shop}'), ('{}')) x (by), LATERAL (SELECT max(stderr) AS stderr FROM dp.quote_aggregate('pure', '{count(distinct t)}', by::text[], epsilon => .5)) q;
SELECT label, round(estimate::numeric) AS estimate FROM dp.aggregate('hits', '{count(distinct t)}', '{shop}', workload => 'identity(shop) + total', rho => 1e4);
-- Intervals hold the truth in at least 95 of 100, at any noise: 6 standard deviations below that
SELECT truth('SELECT count(DISTINCT u) AS n FROM hits');
SELECT rho, count(*) AS asked, count(*) FILTER (WHERE a.lower95 <= 95 AND a.upper95 >= 95) >= 262 AS held FROM (VALUES (.02), (.5), (4)) x (rho), generate_series(1, 300) i, LATERAL dp.aggregate('hits', '{count(distinct u)}', rho => rho + 0 * i, fresh => true) a GROUP BY 1 ORDER BY 1;

-- Beside keys that nobody has listed: of those that pass
SELECT * FROM differs('SELECT i2, count(DISTINCT u), count(DISTINCT t) FILTER (WHERE shop = ''a''), count(*) > 20 AS many FROM r WHERE shop IN (''a'', ''b'') AND i2 <> 77 GROUP BY i2 HAVING count(*) > 9', '{hits,parts,moving}');
SELECT * FROM differs('SELECT shop, v, count(DISTINCT i4) AS n FROM r WHERE v <> ''v1'' AND shop IN (''a'', ''b'', ''c'') GROUP BY shop, v HAVING count(*) > 5 ORDER BY n DESC', '{hits,parts,moving}');
SELECT * FROM differs('SELECT bo, i8, count(DISTINCT n), count(DISTINCT bo) FROM r WHERE shop IN (''a'', ''b'', ''c'') AND bo IS NOT NULL AND i8 IS NOT NULL GROUP BY bo, i8 HAVING count(*) > 5', '{hits,parts,moving}');
SELECT bo, count(DISTINCT u) FROM visits_v WHERE shop IN ('a', 'b', 'c') GROUP BY bo ORDER BY bo;
SELECT truth('SELECT bo, count(DISTINCT u) FROM visits WHERE shop IN (''a'', ''b'', ''c'') AND bo IS NOT NULL GROUP BY bo ORDER BY bo');
-- each of 6 units has two rows that count, with any keys
SELECT count(*), sum(n) BETWEEN 5 AND 12 AS cut FROM (SELECT bo, count(DISTINCT t) AS n FROM crowd_v GROUP BY bo) s;
-- WHERE and FILTER list the literals of one column together
SELECT * FROM differs('SELECT count(*) FILTER (WHERE t = ''v2''), round(sum(pieces) FILTER (WHERE v = ''v3'' OR t = ''v4'') / 20.0) AS s, count(DISTINCT u) FILTER (WHERE t = ''v5'') FROM r WHERE t <> ''v1'' AND v <> ''v6'' AND shop = ''a''', '{hits,parts,moving}');

-- Little memory: many ranges of values, and of units
RESET SESSION AUTHORIZATION;
SET pg_epsilon.max_memory = '1MB';
SET SESSION AUTHORIZATION regress_ann;
SELECT d, round(estimate::numeric) AS estimate FROM (VALUES ('hits'), ('visits')) x (d), LATERAL dp.aggregate(d, '{count(distinct t)}', '{shop}', predicate => 'pieces < 7', rho => 1e4, fresh => true) a WHERE label ->> 'shop' = 'a';
SELECT truth('SELECT count(DISTINCT t) FROM hits WHERE shop = ''a''');
SELECT * FROM differs('SELECT bo, count(DISTINCT u), count(DISTINCT t) FROM r WHERE pieces < 6 AND bo IS NOT NULL AND shop IN (''a'', ''b'', ''c'') GROUP BY bo', '{hits,parts,moving}');
RESET SESSION AUTHORIZATION;
RESET pg_epsilon.max_memory;
SET SESSION AUTHORIZATION regress_ann;
-- Parallel workers
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT d, round(estimate::numeric) AS estimate FROM (VALUES ('hits'), ('visits'), ('parts')) x (d), LATERAL dp.aggregate(d, '{count(distinct t),count(distinct d)}', '{shop}', rho => 1e4, fresh => true) a WHERE label ->> 'shop' = 'a';
SELECT truth('SELECT count(DISTINCT t), count(DISTINCT d) FROM hits WHERE shop = ''a''');
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;

-- It is paid for once, and read again for free
SELECT count(*) AS before FROM dp.charges \gset
SELECT count(DISTINCT e) FROM hits_v WHERE shop = 'a';
SELECT count(*) - :before AS charged FROM dp.charges;
SELECT count(DISTINCT e) FROM hits_v WHERE shop = 'a';
SELECT count(*) - :before AS charged FROM dp.charges;
SELECT round(estimate::numeric) AS estimate FROM dp.aggregate('parts', '{count(distinct e)}', predicate => 'shop = ''a''', rho => 2e4);
SELECT round(estimate::numeric) AS estimate FROM dp.aggregate('parts', '{count(distinct e)}', predicate => 'shop = ''a''', rho => 1e4, reuse => true);
SELECT count(*) - :before AS charged FROM dp.charges;
SELECT round(estimate::numeric) AS estimate FROM dp.aggregate('parts', '{count(distinct bo)}', predicate => 'shop = ''a''', rho => 1e4, reuse => true);
SELECT count(*) - :before AS charged FROM dp.charges;
EXPLAIN (COSTS OFF) SELECT shop, count(DISTINCT t) FROM hits_v GROUP BY shop;
EXPLAIN (COSTS OFF) SELECT v, count(DISTINCT t), count(DISTINCT u) FROM hits_v GROUP BY v;

-- What is told: values that are too long
SET client_min_messages = notice;
SELECT count(DISTINCT t) > 0 AS told, count(DISTINCT v) > 0 AS not_told FROM hits_v;
SET SESSION AUTHORIZATION regress_curator;
UPDATE hits SET t = repeat(t, 600) WHERE id <= 1000;
SET SESSION AUTHORIZATION regress_ann;
SET client_min_messages = warning;
SELECT round(estimate::numeric) AS estimate FROM dp.aggregate('hits', '{count(distinct t)}', '{shop}', rho => 1e4, fresh => true) WHERE label ->> 'shop' = 'a';
SELECT truth('SELECT count(DISTINCT t) FROM hits WHERE shop = ''a'' AND length(t) <= 1024');

-- Columns that are listed later: what was counted then does not answer for these levels
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.add_attribute('parts', 'e', '{red,green}', outside => 'drop');
SET SESSION AUTHORIZATION regress_ann;
SELECT round(estimate::numeric) AS estimate FROM dp.aggregate('parts', '{count(distinct e)}', predicate => 'shop = ''a''', rho => 1e4, reuse => true);
-- min_count: decided by the rows of the group
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.set_min_count('moving', 50);
SET SESSION AUTHORIZATION regress_ann;
SELECT label ->> 'shop' AS shop, round(estimate::numeric) AS estimate FROM dp.aggregate('moving', '{count(distinct u)}', '{shop}', rho => 1e4) ORDER BY 1;

-- Refused, free
\set VERBOSITY default
\t on
SELECT count(*) AS before FROM dp.charges \gset
SELECT a, refused(format('SELECT * FROM dp.aggregate(%L, %L, rho => 1)', 'hits', ARRAY[a])) FROM unnest(ARRAY['count(distinct id)', 'count(distinct t, u)', 'sum(distinct t)']) a;
SELECT refused($$SELECT * FROM dp.aggregate('hits', '{count(distinct t)}', '{pieces}', workload => 'prefix(pieces)', rho => 1)$$);
SELECT s, refused(s) FROM unnest(ARRAY['SELECT count(DISTINCT t || u) FROM hits_v', 'SELECT count(DISTINCT id) FROM hits_v', 'SELECT sum(DISTINCT i4) FROM hits_v', 'SELECT min(t) FROM hits_v', 'SELECT t, count(DISTINCT shop) FROM hits_v GROUP BY t']) s;
SELECT count(*) = :before AS free FROM dp.charges;
\t off
RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused;
SET client_min_messages = error;
DROP OWNED BY regress_curator, regress_ann CASCADE;
DROP ROLE regress_curator, regress_ann;
