-- Plain SELECT: functions of users run while it is translated, and may drop what the rest of it uses.  Nothing crashes, and sizes are known before anything is made.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator, regress_ann;
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE t AS SELECT (ARRAY['F', 'M'])[1 + i % 2] AS a, i % 100 AS age, i % 50 AS income, (ARRAY['x', 'y'])[1 + i / 2 % 2] AS z FROM generate_series(1, 1000) i;
SELECT dp.create_dataset('t', 't', epsilon => 1e5), dp.add_attribute('t', 'a', '{F,M}'), dp.add_attribute('t', 'z', '{x,y}');
SELECT dp.add_attribute('t', 'age', 0, 100, bins => 100, last => 'open'), dp.add_attribute('t', 'income', 0, 50, bins => 50, last => 'open'), dp.grant_budget('t', 'regress_ann', epsilon => 1e5);
SELECT dp.expose('t', 'v', epsilon => 1000);
CREATE TABLE eight (a1 int, a2 int, a3 int, a4 int, a5 int, a6 int, a7 int, a8 int);
SELECT dp.create_dataset('eight', 'eight', epsilon => 1);
DO $$
BEGIN
    FOR i IN 1 .. 8 LOOP
        PERFORM dp.add_attribute('eight', 'a' || i, 0, 255, bins => 255, last => 'open');
    END LOOP;
END $$;
SELECT dp.expose('eight', 'eight_v', epsilon => 0.1);
CREATE TABLE huge (b1 int, b2 int);
SELECT dp.create_dataset('huge', 'huge', epsilon => 1), dp.add_attribute('huge', 'b1', 0, 1000000, bins => 1000000, last => 'open'), dp.add_attribute('huge', 'b2', 0, 2000, bins => 2000, last => 'open'), dp.expose('huge', 'huge_v', epsilon => 0.1);
GRANT SELECT ON v, eight_v, huge_v TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;

-- 1. What is dropped meanwhile: the tests of a run first.  Each statement drops what another part of it uses.
CREATE FUNCTION do_drop(what text) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'DROP ' || what || ' CASCADE'; RETURN true; EXCEPTION WHEN undefined_object OR undefined_function THEN RETURN true; END $$;
CREATE FUNCTION drops(x text, what text) RETURNS bool IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN do_drop(what); END';
-- whether it is answered, or which error it is; for a function that is gone that depends on the version of PostgreSQL
CREATE FUNCTION answers(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    r record;
BEGIN
    FOR r IN EXECUTE 'EXPLAIN ' || statement LOOP END LOOP;
    FOR r IN EXECUTE statement LOOP END LOOP;
    RETURN 'answered';
EXCEPTION WHEN OTHERS THEN
    RETURN regexp_replace(sqlstate || ': ' || regexp_replace(sqlerrm, '\d{4,}', 'N'), '^(42883|42704): function with OID N does not exist$|^55000: an expression of the SELECT could not be evaluated$', 'refused: a function is gone');
END $$;
CREATE FUNCTION f(x text) RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN length(x); END';
SELECT answers('SELECT count(*) FROM v WHERE drops(a, ''FUNCTION f(text)'') AND f(z) = 1');
CREATE FUNCTION g(x int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN x; END';
SELECT answers('SELECT g(income), count(*) FROM v WHERE drops(a, ''FUNCTION g(int)'') GROUP BY 1');
SELECT answers('SELECT sum(g(income)) FROM v WHERE drops(a, ''FUNCTION g(int)'')');
SELECT answers('SELECT count(*) FILTER (WHERE g(income) > 3), count(g(income)) FROM v WHERE drops(a, ''FUNCTION g(int)'')');
CREATE OR REPLACE FUNCTION g(x int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN PERFORM do_drop(''FUNCTION g(int)''); RETURN x; END';
SELECT answers('SELECT count(*) FROM v WHERE g(income) > 3');
CREATE FUNCTION times(int, int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT $1 * $2';
CREATE OPERATOR public.* (LEFTARG = int, RIGHTARG = int, FUNCTION = times);
SELECT answers('SELECT sum(income OPERATOR(public.*) 2) FROM v WHERE drops(a, ''OPERATOR public.* (int, int)'')');
CREATE OPERATOR public.* (LEFTARG = int, RIGHTARG = int, FUNCTION = times);
SELECT answers('SELECT income OPERATOR(public.*) 2, count(*) FROM v WHERE drops(a, ''FUNCTION times(int, int)'') GROUP BY 1');
CREATE TYPE mood AS ENUM ('sad', 'glad');
CREATE FUNCTION feel(x text) RETURNS mood IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN CASE x WHEN 'x' THEN 'sad' ELSE 'glad' END; END $$;
SELECT answers('SELECT feel(z), count(*) FROM v WHERE drops(a, ''TYPE mood'') GROUP BY 1');
SELECT answers('SELECT count(*) FROM v WHERE drops(a, ''TYPE mood'') AND feel(z) = ''sad''');
CREATE TYPE pair AS (one int, two text);
CREATE FUNCTION paired(x text) RETURNS pair IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN ROW(1, x)::pair; END $$;
SELECT answers('SELECT paired(z), count(*) FROM v WHERE drops(a, ''TYPE pair'') GROUP BY 1');
CREATE DOMAIN small AS int CHECK (VALUE < 1000);
SELECT answers('SELECT sum(income::small), count(*) FILTER (WHERE z::text = ''x'') FROM v WHERE drops(a, ''DOMAIN small'')');
SELECT answers('SELECT income::small, count(*) FROM v WHERE drops(a, ''DOMAIN small'') GROUP BY 1');
SELECT answers('SELECT (z || a)::text, count(*) FROM v WHERE drops(a, ''DOMAIN small'') AND (income::small) IN (1, 2) GROUP BY 1');
CREATE COLLATION mine (provider = icu, locale = 'de');
SELECT answers('SELECT count(*) FROM v WHERE drops(a, ''COLLATION mine'') AND z COLLATE mine < ''y''');
CREATE AGGREGATE total(int) (SFUNC = int4pl, STYPE = int);
SELECT answers('SELECT total(income) FROM v WHERE drops(a, ''AGGREGATE total(int)'')');
-- the server lives, and the session too
SELECT count(*) FROM v;

-- 2. Sizes: an expression of 255^8 combinations, and two billion groups.
EXPLAIN (COSTS OFF) SELECT a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8, count(*) FROM eight_v GROUP BY 1;
EXPLAIN (COSTS OFF) SELECT count(*) FROM eight_v GROUP BY a1, a2, a3, a4, a5, a6, a7, a8;
EXPLAIN (COSTS OFF) SELECT count(*) FROM eight_v GROUP BY CUBE (a1, a2, a3, a4, a5, a6, a7, a8);
EXPLAIN (COSTS OFF) SELECT b1, b2, count(*) FROM huge_v GROUP BY 1, 2;
EXPLAIN (COSTS OFF) SELECT b1 + b2, count(*) FROM huge_v GROUP BY 1;
RESET SESSION AUTHORIZATION;
SET pg_epsilon.max_memory = '100MB';
SET SESSION AUTHORIZATION regress_ann;
EXPLAIN (COSTS OFF) SELECT b1, count(*) FROM huge_v GROUP BY 1;

RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon CASCADE;
DROP OWNED BY regress_curator, regress_ann CASCADE;
DROP FUNCTION refused(text);
DROP ROLE regress_curator, regress_ann;
