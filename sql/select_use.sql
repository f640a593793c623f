-- Plain SELECT as clients use it: prepared statements, cursors, COPY, tables made of it, transactions, loops.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
SET client_min_messages = warning;
\set select :here /test/regress/select.sql
\i :select
\t off
SELECT came();

-- Prepared statements, with plans of their own and with a generic one
PREPARE p(text, timestamp) AS SELECT region, count(*) FROM orders_v WHERE region <> $1 AND ts < $2 GROUP BY region ORDER BY region;
SET plan_cache_mode = force_custom_plan;
EXECUTE p('west', '2025-01-01');
SELECT came();
SET plan_cache_mode = force_generic_plan;
EXECUTE p('west', '2025-01-01');
EXECUTE p('north', '2025-01-01');
SELECT came();
EXECUTE p('west', '2025-02-01');
SELECT came();
EXPLAIN (COSTS OFF) EXECUTE p('west', '2024-12-01');
EXECUTE p('west', '2024-12-01 10:00');
EXECUTE p(NULL, '2025-01-01');
SELECT came();
PREPARE q(int) AS SELECT round(sum(items * $1)::numeric / $1) AS s, count(*) FILTER (WHERE age < $1) AS n, count(*) * $1 AS m FROM orders_v;
EXECUTE q(20);
SELECT came();
EXECUTE q(NULL);
SELECT sum(NULL::int) AS s, count(NULL) AS c, avg(NULL::int) AS a, count(*) AS n FROM orders_v;
RESET plan_cache_mode;
DEALLOCATE ALL;
-- a STABLE function of the time
SELECT count(*) FROM orders_v WHERE ts >= date_trunc('day', timestamp '2025-02-01 11:00') - interval '31 days' AND ts < now() + interval '1 day';
SELECT came() > 0 AS charged;

-- Cursors; going back and reading again is the same answer
BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY;
DECLARE c SCROLL CURSOR WITH HOLD FOR SELECT region, count(*) FROM orders_v WHERE returned GROUP BY region ORDER BY region;
DECLARE d SCROLL CURSOR FOR SELECT returned, count(*) FROM orders_v GROUP BY returned;
SELECT came();
FETCH 2 FROM c;
FETCH BACKWARD 1 FROM c;
FETCH ALL FROM c;
MOVE ABSOLUTE 0 IN c;
FETCH NEXT FROM c;
FETCH ALL FROM d;
FETCH BACKWARD ALL FROM d;
SELECT came();
SAVEPOINT s;
SELECT age / 20, count(*) FROM orders_v WHERE age < 20 GROUP BY 1;
ROLLBACK TO s;
SELECT count(*), sum(items) FROM orders_v WHERE age < 20;
COMMIT;
SELECT came();
FETCH ALL FROM c;
CLOSE c;
-- What was charged in a savepoint that was rolled back stays charged and paid
BEGIN;
SAVEPOINT s;
SELECT count(*) FROM orders_v WHERE age >= 80;
ROLLBACK TO s;
ROLLBACK;
SELECT came();
SELECT count(*) FROM orders_v WHERE age >= 80;
SELECT came();

-- Results as tables
CREATE TEMP TABLE t AS SELECT region, count(*) AS n FROM orders_v GROUP BY region;
SELECT t.region, t.n FROM t ORDER BY region;
CREATE MATERIALIZED VIEW m AS SELECT region, count(*) AS n FROM orders_v GROUP BY region;
SELECT region, n FROM m ORDER BY region;
REFRESH MATERIALIZED VIEW m;
INSERT INTO t SELECT 'all', count(*) FROM orders_v;
COPY (SELECT region, count(*) FROM orders_v GROUP BY region ORDER BY region) TO STDOUT;
COPY (SELECT region, count(*) FROM orders_v GROUP BY region ORDER BY region) TO STDOUT (FORMAT csv, HEADER);
SELECT came();

-- A join that reads a scan again and again
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SELECT g, sum(n) FROM generate_series(1, 3) g, (SELECT region, count(*) AS n FROM orders_v GROUP BY region) q GROUP BY g ORDER BY g;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;

-- Loops of a function; each question that is new is a charge
DO $$
DECLARE
    n bigint;
    total bigint = 0;
    r record;
BEGIN
    FOR i IN 1 .. 4 LOOP
        SELECT count(*) INTO n FROM orders_v WHERE age < 15 + 5 * (i % 2 + 5);
        total := total + n;
    END LOOP;
    FOR r IN SELECT region, count(*) AS n FROM orders_v GROUP BY region LOOP
        total := total + r.n;
    END LOOP;
    RAISE WARNING 'total agrees: %', (truth('SELECT 2 * count(*) FILTER (WHERE age < 40) + 2 * count(*) FILTER (WHERE age < 45) + count(*) AS n FROM orders'))[1] = jsonb_build_object('n', total);
END $$;
SELECT came();
-- A function as a role that has a budget, called by one that has none
CREATE FUNCTION asks() RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM orders_v WHERE age < 40';
CREATE FUNCTION asks_as_ann() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT count(*) FROM public.orders_v WHERE age < 40';
SELECT asks() = asks_as_ann() AS same;
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_bob;
SELECT refused('SELECT asks()');
SELECT asks_as_ann() > 0 AS told;
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_ann;
SELECT came();

-- An error above the aggregates comes after the charge, and the corrected statement is free
SELECT refused('SELECT region, 1 / (count(*) - count(*)) FROM orders_v WHERE items < 1 GROUP BY region');
SELECT came();
SELECT region, count(*) FROM orders_v WHERE items < 1 GROUP BY region ORDER BY region;
SELECT came();
-- one below them comes before it
SELECT refused('SELECT count(*) FROM orders_v WHERE 1 / (age - age) > 0');
SELECT refused('SELECT count(*) FROM orders_v WHERE (region || ''x'')::int > 0');
SELECT refused('SELECT count(*) FROM orders_v WHERE age < 65 AND (SELECT 1 / 0) > 0');
SELECT came();

RESET SESSION AUTHORIZATION;
DROP OWNED BY regress_ann, regress_curator;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused(text);
DROP ROLE regress_curator, regress_ann, regress_bob;
