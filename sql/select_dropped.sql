-- Plain SELECT: rows that an attribute's declaration drops, by their NULLs or by values outside.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_curator;
-- x: 70 rows NULL, 180 from 50 on; y: 100 rows NULL, 100 of 'c'; z: 140 NULL, none outside
CREATE TABLE t (x int, y text, z boolean, w int);
INSERT INTO t SELECT CASE WHEN i % 10 > 0 THEN i % 70 END, (ARRAY['a', 'b', 'a', 'b', 'a', 'c', NULL])[1 + i % 7], CASE WHEN i % 5 > 0 THEN i % 2 = 0 END, nullif(i % 4, 0) FROM generate_series(1, 700) i;
DO $$
BEGIN
    PERFORM dp.create_dataset('t', 't', 1e5);
    PERFORM dp.add_attribute('t', 'x', 0, 50, 50, outside => 'drop', last => 'open');
    PERFORM dp.add_attribute('t', 'y', '{a,b}');
    PERFORM dp.add_attribute('t', 'z');
    PERFORM dp.add_attribute('t', 'w', 0, 4, 4, last => 'open');
    PERFORM dp.grant_budget('t', 'regress_ann', 9e4);
    PERFORM dp.expose('t', 'public.v');
END $$;
GRANT SELECT ON v TO PUBLIC;
SET SESSION AUTHORIZATION regress_ann;
SET pg_epsilon.epsilon = 1000;
\set VERBOSITY terse
\t on
CREATE FUNCTION pg_temp.count_where(test text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
BEGIN
    EXECUTE 'SELECT count(*) FROM v WHERE ' || test INTO n;
    RETURN NEXT test || ': ' || n;
EXCEPTION WHEN OTHERS THEN
    RETURN NEXT test || ': ' || sqlerrm;
END $$;
SET client_min_messages = warning;
-- all that is declared and NULL: values outside are not selected, so the test is no empty one
SELECT pg_temp.count_where(e) FROM unnest(ARRAY['x BETWEEN 0 AND 49 OR x IS NULL', '(x < 50) IS NOT FALSE', 'coalesce(x < 50, true)', 'y IN (''a'', ''b'') OR y IS NULL', 'y IS DISTINCT FROM ''c''']) e;
-- all that there is: nothing is dropped
SELECT pg_temp.count_where(e) FROM unnest(ARRAY['x > 0 OR x <= 0 OR x IS NULL', 'coalesce(x, 1) IS NOT NULL', 'coalesce(y, ''a'') IS NOT NULL', 'z OR NOT z OR z IS NULL', 'y = ''a'' IS NOT NULL OR y IS NULL']) e;
-- a part
SELECT pg_temp.count_where(e) FROM unnest(ARRAY['x < 20', 'x < 20 OR x IS NULL', 'x IS NULL', 'x IS NOT NULL', 'z IS NOT TRUE', 'z IS NULL OR x < 20']) e;
-- a test that is true for NULL, where NULLs are dropped, says so once
SET client_min_messages = notice;
SELECT count(*) FROM v WHERE x IS NULL;
SELECT count(*) FROM v WHERE (x < 20 OR x IS NULL);
SELECT count(*) FROM v WHERE x < 20;
SELECT count(*) FROM v WHERE x > 0 OR x <= 0 OR x IS NULL;
-- so does a test that values are met by which are dropped
SELECT count(*) FROM v WHERE y <> 'a';
SELECT count(*) FROM v WHERE upper(y) = 'C';
SELECT count(*) FROM v WHERE y LIKE 'c%';
SELECT count(*) FROM v WHERE x * x > 2500;
SELECT count(*) FROM v WHERE y LIKE 'b%';
SELECT count(*) FROM v WHERE y >= 'b';
SELECT count(*) FROM v WHERE y IN ('a', 'b') AND y >= 'b';
SELECT count(*) FROM v WHERE y = 'c';
-- an OR, beside which another column decides
SELECT count(*) FROM v WHERE x = 1 OR z;
SELECT count(*) FROM v WHERE NOT (x = 1 AND z);
SELECT count(*) FILTER (WHERE y = 'a' OR z) FROM v;
-- a sum of what a test is for values that are not declared; of 0 it is the same
SELECT sum(CASE WHEN y <> 'a' THEN 1 ELSE 0 END) FROM v;
SELECT sum((y >= 'b')::int) FROM v;
SELECT sum(CASE WHEN y = 'a' THEN 1 ELSE 0 END) FROM v;
SELECT round(avg((y = 'a')::int), 1) FROM v;
SELECT sum(CASE WHEN y <> 'a' THEN interval '1 day' END) FROM v;
-- and a group of them; the column itself is about the values that count
SELECT y <> 'a', count(*) FROM v GROUP BY 1 ORDER BY 1;
SELECT CASE WHEN y = 'a' THEN 'a' ELSE 'rest' END, count(*) FROM v GROUP BY 1 ORDER BY 1;
SELECT y, count(*) FROM v GROUP BY 1 ORDER BY 1;
SELECT y = 'a', count(*) FROM v WHERE y IN ('a', 'b') GROUP BY 1 ORDER BY 1;
-- a group or an argument that has a value for NULL
SELECT z IS NULL, count(*) FROM v GROUP BY 1 ORDER BY 1;
SELECT coalesce(y, 'none'), count(*) FROM v GROUP BY 1 ORDER BY 1;
SELECT CASE WHEN x < 20 THEN 'low' ELSE 'high' END, count(*) FROM v GROUP BY 1 ORDER BY 1;
SELECT round(avg(coalesce(w, 5))) FROM v;
SELECT round(sum(coalesce(w, 5)), -1) FROM v;
-- a sum that it does not change
SELECT sum(CASE WHEN w < 2 THEN 1 ELSE 0 END), sum(CASE WHEN w < 2 THEN 1 END), round(sum(coalesce(w, 0)), -1), sum(CASE WHEN z THEN 1 ELSE 0 END) FROM v;
SELECT round(avg(CASE WHEN x < 20 THEN 1 ELSE 0 END), 2) FROM v;
-- Rows without a unit count nowhere: count of the unit is count(*), and IS NULL is true for none, which is told
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE u (person int, ward text);
INSERT INTO u SELECT CASE WHEN i % 10 > 0 THEN i / 20 * 10 + i % 10 END, (ARRAY['a', 'b'])[1 + i % 2] FROM generate_series(0, 299) i;
SELECT count(*), count(person), count(DISTINCT person) FROM u;
DO $$
BEGIN
    PERFORM dp.create_dataset('u', 'u', 1e5, unit => 'person', max_rows => 2);
    PERFORM dp.add_attribute('u', 'ward', '{a,b}');
    PERFORM dp.grant_budget('u', 'regress_ann', 9e4);
    PERFORM dp.expose('u', 'public.u_v');
END $$;
GRANT SELECT ON u_v TO PUBLIC;
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*), count(person), count(DISTINCT person) FROM u_v;
SELECT ward, count(person), count(person) FILTER (WHERE person IS NOT NULL) FROM u_v GROUP BY ward ORDER BY ward;
SELECT count(*) FROM u_v WHERE person IS NOT NULL AND ward = 'a';
SELECT count(*) FROM u_v WHERE person IS NOT NULL OR ward = 'a';
SELECT count(*), count(person) FROM u_v WHERE person IS NULL OR ward = 'a';
SELECT person IS NOT NULL AS there, count(*), sum(CASE WHEN person IS NULL THEN 1 ELSE 0 END) FROM u_v GROUP BY 1;
SELECT person IS NOT NULL AS there, count(*) FROM u_v GROUP BY 1;
SELECT count(person + 1) FROM u_v;
SET SESSION AUTHORIZATION regress_curator;
DELETE FROM u WHERE person IS NULL;
ALTER TABLE u ALTER person SET NOT NULL;
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*), count(person) FILTER (WHERE person IS NULL) FROM u_v WHERE NOT person IS NULL;
\t off

RESET SESSION AUTHORIZATION;
SET client_min_messages = error;
DROP OWNED BY regress_ann, regress_curator;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused(text);
DROP ROLE regress_curator, regress_ann;
