-- Plain SELECT with subqueries that depend on nothing else: they are parameters.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
SET client_min_messages = warning;
\set select :here /test/regress/select.sql
\i :select
CREATE TABLE local (name text, least int, since timestamp);
INSERT INTO local VALUES ('south', 35, '2025-01-10'), ('north', 55, '2025-02-01');
GRANT SELECT ON local TO PUBLIC;

-- (SELECT expression) is the expression, also to EXPLAIN, and the same request
SELECT try($$SELECT count(*) FROM orders_v WHERE sent >= ((SELECT TIMESTAMPTZ '2025-01-10 00:00+00')) AND sent < ((SELECT (TIMESTAMPTZ '2025-01-10 00:00+00' + (7 || ' day')::interval)))$$);
SELECT try($$SELECT count(*) FROM orders_v WHERE sent >= '2025-01-10 00:00+00' AND sent < '2025-01-17 00:00+00'$$);
SELECT try('SELECT count(*) FROM orders_v WHERE age >= (SELECT 35)');
SELECT try('SELECT count(*) FROM orders_v WHERE age >= (SELECT (SELECT 35))');
SELECT try('SELECT count(*) FROM orders_v WHERE age >= (SELECT 36)');
SELECT try('SELECT count(*) FROM orders_v WHERE region = (SELECT NULL::text)');
SELECT try($$SELECT count(*) FILTER (WHERE age < (SELECT 55)), sum(CASE WHEN region = (SELECT 'north') THEN items END) AS s, sum(items * (SELECT 2)) AS t FROM orders_v$$);
SELECT try('SELECT age / (SELECT 20) AS a, count(*) FROM orders_v GROUP BY 1');
SELECT try('SELECT region, count(*) > (SELECT 150) AS many, count(*) + (SELECT 1) AS more FROM orders_v GROUP BY 1 HAVING count(*) > (SELECT 100)');

-- Of tables: run before the SELECT is translated
CREATE FUNCTION tried(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    charges bigint = came();
BEGIN
    RETURN NEXT regexp_replace((SELECT string_agg(p, ' ') FROM plan_of(query) p), '; .*', '');
    charges := came();
    IF charges > 0 THEN
        RETURN NEXT charges || ' charged by EXPLAIN';
    END IF;
    RETURN QUERY SELECT CASE WHEN cardinality(o) = cardinality(t) AND (SELECT bool_and(agree(a, b)) FROM unnest(o, t) x(a, b)) IS NOT FALSE
            THEN cardinality(o) || ' rows as in the table' ELSE format('%s instead of %s', o, t) END
        FROM (SELECT rows_of(query) o, truth(query) t OFFSET 0) x;
    RETURN NEXT came() || ' charged';
EXCEPTION WHEN OTHERS THEN
    RETURN NEXT refused(query);
    RETURN NEXT came() || ' charged';
END $$;
SELECT tried('SELECT count(*) FROM orders_v WHERE age >= (SELECT min(least) FROM local)');
SELECT tried('SELECT count(*) FROM orders_v WHERE age >= (SELECT max(least) + 1 FROM local)');
SELECT tried('SELECT region, count(*) FROM orders_v WHERE ts >= (SELECT min(since) FROM local) AND ts < (SELECT max(since) FROM local) GROUP BY 1');
SELECT tried('SELECT count(*) FILTER (WHERE region = (SELECT max(name) FROM local)), sum(items * (SELECT count(*) FROM local)) AS s FROM orders_v');
SELECT tried('SELECT age / (SELECT 10 * count(*) FROM local) AS a, count(*) FROM orders_v GROUP BY 1');
SELECT tried('SELECT count(*) FROM orders_v WHERE region = ANY (ARRAY(SELECT name FROM local))');
SELECT tried('SELECT count(*) FROM orders_v WHERE EXISTS (SELECT FROM local)');
SELECT tried('SELECT count(*) FROM orders_v WHERE NOT EXISTS (SELECT FROM local) OR region = (SELECT max(name) FROM local)');
SELECT tried('SELECT count(*) FROM orders_v WHERE region = (SELECT name FROM local WHERE false)');
SELECT tried('SELECT count(*) FROM orders_v WHERE region = (SELECT name FROM local)');
SELECT tried('WITH l AS MATERIALIZED (SELECT max(least) AS m FROM local) SELECT count(*) FROM orders_v WHERE age < (SELECT m FROM l)');
SELECT tried('SELECT o.n, p.n AS m FROM (SELECT count(*) AS n FROM orders_v WHERE age < (SELECT max(least) FROM local)) o, (SELECT count(*) AS n FROM orders_v WHERE age < (SELECT min(least) FROM local)) p');
SELECT tried('SELECT n, name FROM local, (SELECT count(*) AS n FROM orders_v WHERE age < (SELECT 25)) o');
-- a volatile one is run once
SELECT tried('SELECT count(*) FROM orders_v WHERE age < 35 + 0 * (SELECT random())');
-- nothing below LIMIT 0 is run
SELECT count(*) FROM orders_v WHERE age < (SELECT 1 / least FROM local) LIMIT 0;

-- One that depends on other rows, or on another dataset, is refused
SELECT tried('SELECT name, (SELECT count(*) FROM orders_v WHERE region = name) FROM local');
SELECT tried('SELECT name, (SELECT count(*) FROM orders_v WHERE region = (SELECT l.name)) FROM local l');
SELECT tried('SELECT name, (SELECT count(*) FROM orders_v WHERE region = (SELECT max(m.name) FROM local m WHERE m.least = l.least)) FROM local l');
SELECT tried('SELECT count(*) FROM orders_v WHERE age >= (SELECT round(avg(age)) FROM orders_v)');
SELECT tried('WITH a AS MATERIALIZED (SELECT 5 * count(*) AS n FROM visits_v WHERE cost = 0) SELECT count(*) FROM orders_v WHERE age < (SELECT n FROM a)');
SELECT tried('SELECT name, n FROM local l JOIN LATERAL (SELECT count(*) AS n FROM orders_v WHERE region = l.name) o ON true');
SELECT tried('SELECT count(*) FROM orders_v WHERE region IN (SELECT name FROM local)');

-- As clients use it
PREPARE p(int) AS SELECT count(*) FROM orders_v WHERE age >= (SELECT $1) AND ts >= (SELECT min(since) FROM local);
SET plan_cache_mode = force_generic_plan;
EXECUTE p(35);
EXECUTE p(55);
SELECT came();
EXECUTE p(35);
UPDATE local SET since = since + interval '1 day';
EXECUTE p(35);
SELECT came();
DEALLOCATE p;
RESET plan_cache_mode;
CREATE FUNCTION analyzed(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
        IF line ~ '^ *(Request|Quote|Refused):' THEN
            RETURN NEXT ltrim(line);
        END IF;
    END LOOP;
END $$;
SELECT analyzed('SELECT count(*) FROM orders_v WHERE age >= (SELECT max(least) FROM local)');
SELECT came();
-- beside a parallel part an expression is one, and a table is not known yet
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
CREATE TABLE big AS SELECT i FROM generate_series(1, 10000) i;
ANALYZE big;
SELECT (SELECT count(*) FROM orders_v WHERE age >= (SELECT 75)), count(*) FROM big;
SELECT refused('SELECT (SELECT count(*) FROM orders_v WHERE age >= (SELECT max(least) FROM local)), count(*) FROM big');
SELECT came();
SET max_parallel_workers_per_gather = 0;
SELECT (SELECT count(*) FROM orders_v WHERE age >= (SELECT max(least) FROM local)), count(*) FROM big;
\t off

RESET SESSION AUTHORIZATION;
SET client_min_messages = error;
DROP OWNED BY regress_ann, regress_bob, regress_curator;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused(text);
DROP ROLE regress_curator, regress_ann, regress_bob;
