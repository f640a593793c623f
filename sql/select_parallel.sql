-- Plain SELECT in statements that have a parallel part elsewhere.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
SET client_min_messages = warning;
\set select :here /test/regress/select.sql
\i :select
\t off
CREATE TABLE big AS SELECT i, (ARRAY['north', 'south', 'east', 'west'])[1 + i % 4] AS region FROM generate_series(1, 10000) i;
ANALYZE big;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
CREATE FUNCTION is_parallel(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        IF line ~ 'Gather' THEN
            RETURN true;
        END IF;
    END LOOP;
    RETURN false;
END $$;
-- Parallel, its rows, and what it charged.
-- In one go: the rows of a loop are fetched by a cursor, which is never parallel.
CREATE FUNCTION asked(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    rows text[];
BEGIN
    EXECUTE format('SELECT array_agg(r::text) FROM (%s) r', query) INTO rows;
    RETURN QUERY SELECT unnest(rows);
EXCEPTION WHEN OTHERS THEN
    RETURN NEXT refused(query);
END $$;
CREATE FUNCTION beside(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM came();
    IF NOT is_parallel(query) THEN
        RETURN NEXT 'not parallel';
    END IF;
    RETURN QUERY SELECT asked(query);
    RETURN NEXT came() || ' charged';
END $$;
\t on
SELECT beside($$ SELECT 'dp' AS source, count(*) FROM orders_v UNION ALL SELECT 'local', count(*) FROM big ORDER BY 1 $$);
SELECT beside($$ SELECT count(*) FROM big WHERE i < (SELECT count(*) FROM orders_v WHERE age < 55) $$);
SELECT beside($$ SELECT (SELECT count(*) FROM orders_v WHERE returned) AS returned, count(*) FROM big $$);
SELECT beside($$ SELECT region, o.n, v.n AS visits, b.n AS big FROM (SELECT region, count(*) AS n FROM orders_v GROUP BY 1) o
    JOIN (SELECT region, count(*) AS n FROM big GROUP BY 1) b USING (region) CROSS JOIN (SELECT count(*) AS n FROM visits_v) v ORDER BY 1 $$);
SELECT beside($$ WITH o AS MATERIALIZED (SELECT region, sum(items) AS s FROM orders_v GROUP BY 1)
    SELECT region, s, (SELECT max(s) FROM o) AS most, n FROM o JOIN (SELECT region, count(*) AS n FROM big GROUP BY 1) b USING (region) ORDER BY 1 $$);
-- free by declaration
SELECT beside($$ SELECT 'dp' AS source, max(items) FROM orders_v UNION ALL SELECT 'local', max(i) FROM big ORDER BY 1 $$);
SELECT beside($$ SELECT DISTINCT region, n FROM (SELECT DISTINCT region FROM orders_v) o, (SELECT count(*) AS n FROM big) b ORDER BY 1 $$);
-- paid already
SELECT beside($$ SELECT 'dp' AS source, count(*) FROM orders_v UNION ALL SELECT 'local', count(*) FROM big ORDER BY 1 $$);
\t off

-- As clients use it
SET plan_cache_mode = force_generic_plan;
PREPARE p(int) AS SELECT 'dp' AS source, count(*) FROM orders_v WHERE age >= $1 UNION ALL SELECT 'local', count(*) FROM big ORDER BY 1;
SELECT came() IS NOT NULL AS looked;
EXECUTE p(75);
EXECUTE p(35);
EXECUTE p(75);
SELECT came();
EXPLAIN (COSTS OFF) EXECUTE p(55);
SELECT came();
RESET plan_cache_mode;
DEALLOCATE p;
CREATE FUNCTION both_of() RETURNS TABLE (source text, n bigint) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY SELECT 'dp', count(*) FROM orders_v WHERE amount < 50 UNION ALL SELECT 'local', count(*) FROM big;
END $$;
SELECT * FROM both_of() ORDER BY 1;
CREATE FUNCTION both_looped() RETURNS TABLE (source text, n bigint) LANGUAGE plpgsql AS $$
BEGIN
    FOR source, n IN SELECT 'dp', count(*) FROM orders_v WHERE amount < 30 UNION ALL SELECT 'local', count(*) FROM big LOOP
        RETURN NEXT;
    END LOOP;
END $$;
SELECT * FROM both_looped() ORDER BY 1;
SELECT came();
CREATE TABLE made AS SELECT 'dp' AS source, count(*) FROM orders_v WHERE amount < 20 UNION ALL SELECT 'local', count(*) FROM big;
SELECT * FROM made ORDER BY 1;
SELECT came();
BEGIN;
DECLARE c CURSOR FOR SELECT 'dp' AS source, count(*) FROM orders_v WHERE amount < 10 UNION ALL SELECT 'local', count(*) FROM big ORDER BY 1;
FETCH 1 FROM c;
FETCH 2 FROM c;
COMMIT;
SELECT came();
COPY (SELECT 'dp', count(*) FROM orders_v WHERE amount < 40 UNION ALL SELECT 'local', count(*) FROM big ORDER BY 1) TO STDOUT;
SELECT came();

-- EXPLAIN is free; EXPLAIN ANALYZE shows the price that it pays, here and where nothing is parallel
SELECT plan_of($$ SELECT (SELECT sum(items) FROM orders_v) AS s, count(*) FROM big $$);
SELECT came();
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
SELECT analyzed($$ SELECT (SELECT sum(items) FROM orders_v) AS s, count(*) FROM big $$);
SELECT came();
SELECT analyzed($$ SELECT (SELECT sum(items) FROM orders_v) AS s, count(*) FROM big $$);
SELECT analyzed($$ SELECT sum(items), count(*) FROM orders_v $$);
SELECT analyzed($$ SELECT sum(items), count(*) FROM orders_v $$);
SELECT analyzed($$ SELECT max(items) FROM orders_v $$);
SELECT came();

-- What no row is asked of is free
SELECT is_parallel($$ SELECT count(*) FROM orders_v WHERE age < 20 UNION ALL SELECT count(*) FROM big LIMIT 0 $$);
SELECT count(*) FROM orders_v WHERE age < 20 UNION ALL SELECT count(*) FROM big LIMIT 0;
SELECT * FROM (SELECT count(*) FROM orders_v WHERE age < 20 OFFSET 0) o, (SELECT count(*) FROM big) b WHERE false;
SELECT i, (SELECT count(*) FROM orders_v WHERE age < 20) FROM big LIMIT 0;
SELECT count(*) FROM big WHERE i = ANY (ARRAY(SELECT count(*) FROM orders_v WHERE age < 20 LIMIT 0));
SELECT came();

-- A refused part is refused before another one is charged, whatever their order
\t on
SELECT beside($$ SELECT count(*) FROM orders_v WHERE age < 20 UNION ALL SELECT count(*) FROM orders_v WHERE age < 21 UNION ALL SELECT count(*) FROM big $$);
SELECT beside($$ SELECT count(*) FROM orders_v WHERE age < 21 UNION ALL SELECT count(*) FROM orders_v WHERE age < 20 UNION ALL SELECT count(*) FROM big $$);
SELECT beside($$ SELECT count(*) FROM orders_v WHERE age < 20 UNION ALL SELECT o.age FROM orders_v o UNION ALL SELECT count(*) FROM big $$);
SELECT beside($$ SELECT count(*) FROM orders_v o JOIN orders_v p USING (age) UNION ALL SELECT count(*) FROM orders_v WHERE age < 20 UNION ALL SELECT count(*) FROM big $$);
SELECT beside($$ SELECT count(*) FROM big WHERE i > (SELECT count(*) FROM orders_v WHERE age < 20) AND i > (SELECT count(*) FROM orders_v WHERE age < 21) $$);
-- of the budget, too: each fits, and both together do not
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.grant_budget('orders', 'regress_bob', 1500) IS NOT NULL AS granted;
SET SESSION AUTHORIZATION regress_ann;
GRANT SELECT ON big TO regress_bob;
SET SESSION AUTHORIZATION regress_bob;
SELECT beside($$ SELECT (SELECT count(*) FROM orders_v WHERE age < 25) AS a, (SELECT count(*) FROM orders_v WHERE age < 30) AS b, count(*) FROM big $$);
SET SESSION AUTHORIZATION regress_ann;

-- A function that is called in a parallel operation asks nothing
CREATE FUNCTION lies(i int) RETURNS bigint PARALLEL RESTRICTED LANGUAGE plpgsql AS $$
BEGIN
    RETURN (SELECT count(*) FROM orders_v WHERE age < 20) + i;
END $$;
CREATE FUNCTION explains(i int) RETURNS text PARALLEL RESTRICTED LANGUAGE plpgsql AS $$
BEGIN
    RETURN (SELECT string_agg(p, ' ') FROM plan_of('SELECT count(*) FROM orders_v WHERE age < 20') p);
END $$;
SELECT beside($$ SELECT lies(count(*)::int) FROM big $$);
SELECT beside($$ SELECT explains(count(*)::int) FROM big $$);
SELECT beside($$ SELECT lies(1) AS l, count(*) FROM orders_v WHERE age < 40 UNION ALL SELECT 1, count(*) FROM big $$);
SET max_parallel_workers_per_gather = 0;
SELECT lies(count(*)::int) FROM big;
SELECT came() || ' charged';
\t off

RESET SESSION AUTHORIZATION;
SET client_min_messages = error;
DROP OWNED BY regress_ann, regress_bob, regress_curator;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused(text);
DROP ROLE regress_curator, regress_ann, regress_bob;
