-- Plain SELECT: what is refused, what is free, and who is asked for a price.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
SET client_min_messages = warning;
\set select :here /test/regress/select.sql
\i :select
CREATE TEMP TABLE local (region text);

-- Rows are not shown
SELECT try('SELECT * FROM orders_v');
SELECT try('TABLE orders_v LIMIT 3');
SELECT try('SELECT region FROM orders_v WHERE returned');
SELECT try('SELECT 1 AS one FROM orders_v');
SELECT try('SELECT row_number() OVER () AS r FROM orders_v');
SELECT try('SELECT DISTINCT ON (region) region, age FROM orders_v');
SELECT try('SELECT EXISTS (SELECT FROM orders_v) AS e');
COPY orders_v TO STDOUT;
COPY (SELECT region FROM orders_v) TO STDOUT;
SELECT refused('SELECT count(*) FROM orders_v FOR UPDATE');
-- nor written
SELECT refused('INSERT INTO orders_v (region) VALUES (''north'')');
SELECT refused('DELETE FROM orders_v');
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_curator;
SELECT refused('INSERT INTO orders_v (region) VALUES (''north'')');
COPY orders_v_foreign TO STDOUT;
ANALYZE orders_v_foreign;
SELECT refused('SELECT region FROM orders_v FOR UPDATE');
SELECT refused('SELECT ctid, count(*) FROM orders_v_foreign GROUP BY 1');
SELECT refused('SELECT tableoid FROM orders_v_foreign');
SELECT refused('SELECT * FROM orders_v_foreign TABLESAMPLE system (1)');
SELECT refused('UPDATE orders_v_foreign SET region = ''north''');
SELECT refused('TRUNCATE orders_v_foreign');
SET SESSION AUTHORIZATION regress_ann;

-- What is not pushed down as a whole
SELECT try('SELECT count(*) FROM orders_v JOIN local USING (region)');
SELECT try('SELECT count(*) FROM orders_v WHERE region IN (SELECT region FROM local)');
SELECT try('SELECT l.region, (SELECT count(*) FROM orders_v o WHERE o.region = l.region) FROM (VALUES (''north''), (''west'')) l(region)');
SELECT try('SELECT l.region, n FROM (VALUES (''north''), (''west'')) l(region), LATERAL (SELECT count(*) AS n FROM orders_v o WHERE o.region = l.region) q');
SELECT try('SELECT count(*) FROM orders_v a JOIN orders_v b ON a.region = b.region');
SELECT try('SELECT count(*) FROM orders_v a LEFT JOIN orders_v b ON a.region = b.region');
SELECT try('WITH r AS MATERIALIZED (SELECT * FROM orders_v) SELECT count(*) FROM r');
SELECT try('WITH r AS (SELECT * FROM orders_v) SELECT (SELECT count(*) FROM r), (SELECT sum(items) FROM r)');
SELECT try('SELECT count(*) FROM (SELECT region FROM orders_v UNION ALL SELECT region FROM orders_v) q');
SELECT try('SELECT count(*) FROM (SELECT region FROM orders_v LIMIT 10) q');
SELECT try('SELECT region, count(*) FROM (SELECT region FROM orders_v ORDER BY region) q GROUP BY region');
SELECT try('SELECT count(*) FROM (SELECT * FROM (SELECT region FROM orders_v OFFSET 0) q) r');
SELECT try('SELECT region FROM (SELECT region FROM orders_v ORDER BY region) q');
SELECT try('SELECT region, generate_series(1, 2), count(*) FROM orders_v GROUP BY region');
SELECT try('SELECT random() < 2 AS r, count(*) FROM orders_v GROUP BY 1');
SELECT try('SELECT count(*) FROM orders_v WHERE random() < 0.5');
SELECT try('SELECT count(*) FROM orders_v WHERE orders_v IS NOT NULL');
SELECT try('SELECT count(orders_v) FROM orders_v');
-- Aggregates that are not told
SELECT try('SELECT string_agg(region, '','') FROM orders_v');
SELECT try('SELECT array_agg(age) FROM orders_v');
SELECT try('SELECT bool_or(returned) FROM orders_v');
SELECT try('SELECT sum(DISTINCT age) FROM orders_v');
SELECT try('SELECT count(DISTINCT (region, channel)) FROM orders_v');
SELECT try('SELECT mode() WITHIN GROUP (ORDER BY region) FROM orders_v');
SELECT try('SELECT percentile_cont(0) WITHIN GROUP (ORDER BY age) FROM orders_v');
SELECT try('SELECT percentile_cont(ARRAY[0.1, 1]) WITHIN GROUP (ORDER BY age) FROM orders_v');
SELECT try('SELECT percentile_cont(ARRAY[age / 1000.0]) WITHIN GROUP (ORDER BY age) FROM orders_v GROUP BY age');
SELECT try('SELECT dp.median(region) FROM orders_v');
SELECT try('SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY coalesce(age, 0)) FROM orders_v');
SELECT try('SELECT min(age + 1) FROM orders_v');
SELECT try('SELECT sum(age / items) FROM orders_v');

-- Two scans of which one is refused charge nothing, in either order
SELECT try('SELECT count(*) FROM orders_v WHERE age < 30 UNION ALL SELECT age FROM orders_v');
SELECT try('SELECT age FROM orders_v UNION ALL SELECT count(*) FROM orders_v WHERE age < 30');

-- Free, and no row
SELECT try('SELECT * FROM orders_v LIMIT 0');
SELECT try('SELECT region, count(*) FROM orders_v GROUP BY region LIMIT 0');
SELECT try('SELECT * FROM orders_v WHERE 0 = 1');
SELECT try('SELECT count(*) FROM orders_v WHERE false');
SELECT try('SELECT region, sum(items) AS s FROM orders_v WHERE 1 = 0 GROUP BY region');
SELECT try('SELECT CASE WHEN false THEN (SELECT count(*) FROM orders_v) END AS n', 'SELECT NULL AS n');
SELECT region, count(*), avg(age) FROM orders_v GROUP BY region \gdesc
SELECT * FROM orders_v \gdesc
PREPARE described AS SELECT count(*) FROM orders_v;
SELECT came();

-- The price: a setting, a table's option, or none, with what it would cost
RESET pg_epsilon.epsilon;
SELECT try('SELECT sum(items) FROM orders_v');
SELECT try('SELECT count(*) FROM orders_v WHERE age > 21');
SET pg_epsilon.max_stderr = 0.2;
SELECT try('SELECT sum(items) - sum(items) AS zero, dp.stderr_sum(items) BETWEEN 0.19 AND 0.2001 AS is_02 FROM orders_v', 'SELECT 0 AS zero, true AS is_02');
SET pg_epsilon.epsilon = 1;
SELECT try('SELECT sum(items) FROM orders_v WHERE returned');
RESET pg_epsilon.max_stderr;
RESET pg_epsilon.epsilon;
SELECT try('SELECT sum(items) - sum(items) AS zero FROM orders_v');
SET pg_epsilon.epsilon = -1;
SET pg_epsilon.cut_bins = up;
SET pg_epsilon.epsilon = 1e-300;
SELECT try('SELECT count(*) FROM orders_v WHERE age < 30');
RESET pg_epsilon.epsilon;
\t off
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.expose('orders', 'priced_v', epsilon => 700);
GRANT SELECT ON priced_v TO regress_ann, regress_bob;
SELECT refused($$SELECT dp.expose('orders', 'free_v', epsilon => 0)$$);
SELECT refused($$SELECT dp.expose('orders', 'public.orders_v')$$);
SELECT refused($$SELECT dp.expose('nothing', 'nothing_v')$$);
ALTER FOREIGN TABLE priced_v_foreign OPTIONS (DROP epsilon, ADD max_stderr '0.04');
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*), dp.stderr_count(*) BETWEEN 0.038 AND 0.04001 AS is_004 FROM priced_v;
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_curator;
ALTER FOREIGN TABLE priced_v_foreign OPTIONS (DROP max_stderr, ADD epsilon '700');
SET SESSION AUTHORIZATION regress_ann;
EXPLAIN (COSTS OFF) SELECT region, count(*) FROM priced_v GROUP BY region;
CREATE FUNCTION pg_temp.as_json(query text) RETURNS SETOF json LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY EXECUTE 'EXPLAIN (COSTS OFF, FORMAT JSON) ' || query; END $$;
SELECT j -> 0 -> 'Plan' ->> 'Request' AS request, j -> 0 -> 'Plan' ->> 'Quote' AS quote, j -> 0 -> 'Plan' ->> 'Refused' AS refused
  FROM unnest(ARRAY['SELECT region, count(*) FROM priced_v GROUP BY region', 'SELECT region FROM priced_v', 'SELECT count(*) FROM priced_v WHERE age > 21']) q, pg_temp.as_json(q) j;
-- The session's setting goes before the option
SET pg_epsilon.epsilon = 650;
EXPLAIN (COSTS OFF) SELECT region, count(*) FROM priced_v GROUP BY region;
RESET pg_epsilon.epsilon;
SELECT came();
-- A role with SELECT and no budget, one with a budget and no SELECT
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_bob;
SELECT refused('SELECT count(*) FROM priced_v');
SELECT refused('SELECT count(*) FROM priced_v_foreign');
SELECT refused('SELECT DISTINCT region FROM priced_v');
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_curator;
REVOKE SELECT ON priced_v FROM regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SELECT refused('SELECT count(*) FROM priced_v');

-- Options of the wrapper
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_curator;
SELECT refused('CREATE FOREIGN TABLE f (region text) SERVER dp OPTIONS (datset ''orders'')');
SELECT refused('CREATE FOREIGN TABLE f (region text) SERVER dp OPTIONS (dataset ''orders'', attribute ''region'')');
SELECT refused('CREATE FOREIGN TABLE f (region text OPTIONS (dataset ''orders'')) SERVER dp');
SELECT refused('CREATE FOREIGN TABLE f (region text) SERVER dp OPTIONS (epsilon ''-1'')');
SELECT refused('CREATE FOREIGN TABLE f (region text) SERVER dp OPTIONS (epsilon ''much'')');
SELECT refused('CREATE FOREIGN TABLE f (region text) SERVER dp OPTIONS (max_stderr ''inf'')');
SELECT refused('CREATE FOREIGN TABLE f (region text) SERVER dp OPTIONS (epsilon ''1'', max_stderr ''1'')');
-- A column may stand for an attribute of another name, twice; its type is the attribute's, or a domain over it
CREATE DOMAIN zone AS text;
CREATE FOREIGN TABLE named (r zone OPTIONS (attribute 'region'), again text OPTIONS (attribute 'region'), items int, nothing int)
    SERVER dp OPTIONS (dataset 'orders', epsilon '700');
GRANT SELECT ON named TO regress_ann;
CREATE FOREIGN TABLE wrong (region varchar, items int) SERVER dp OPTIONS (dataset 'orders', epsilon '700');
GRANT SELECT ON wrong TO regress_ann;
CREATE FOREIGN TABLE missing (region text) SERVER dp OPTIONS (epsilon '700');
GRANT SELECT ON missing TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SELECT r, count(*) FROM named WHERE again <> 'west' GROUP BY r ORDER BY r;
SELECT r || again AS k, count(*) FROM named GROUP BY 1 ORDER BY 1;
SELECT refused('SELECT nothing, count(*) FROM named GROUP BY 1');
SELECT refused('SELECT count(region) FROM wrong');
SELECT refused('SELECT count(*) FROM missing');
EXPLAIN (COSTS OFF) SELECT count(region) FROM wrong;
EXPLAIN (COSTS OFF) SELECT count(*) FROM missing;

-- IMPORT FOREIGN SCHEMA and dp.expose are for everybody, and what they make gives nothing
RESET SESSION AUTHORIZATION;
GRANT CREATE ON DATABASE :DBNAME TO regress_bob;
SET SESSION AUTHORIZATION regress_bob;
CREATE SCHEMA bobs;
IMPORT FOREIGN SCHEMA dp LIMIT TO (orders) FROM SERVER dp INTO bobs;
SELECT c.relname, c.relkind, pg_get_userbyid(c.relowner) FROM pg_class c WHERE relnamespace = 'bobs'::regnamespace ORDER BY 1;
DROP FOREIGN TABLE bobs.orders;
IMPORT FOREIGN SCHEMA dp EXCEPT (orders) FROM SERVER dp INTO bobs;
SELECT attname, atttypid::regtype FROM pg_attribute WHERE attrelid = 'bobs.visits'::regclass AND attnum > 0 ORDER BY attnum;
DROP FOREIGN TABLE bobs.visits;
IMPORT FOREIGN SCHEMA dp FROM SERVER dp INTO bobs;
SELECT c.relname FROM pg_class c WHERE relnamespace = 'bobs'::regnamespace ORDER BY 1;
SELECT refused('IMPORT FOREIGN SCHEMA other FROM SERVER dp INTO bobs');
SELECT dp.expose('orders', 'bobs.mine');
SELECT c.relname, c.relkind, pg_get_userbyid(c.relowner), obj_description(c.oid, 'pg_class') FROM pg_class c WHERE relnamespace = 'bobs'::regnamespace AND relname LIKE 'mine%' ORDER BY 1;
SELECT refused($$SELECT dp.expose('orders', 'nowhere.mine')$$);
SET pg_epsilon.epsilon = 1;
SELECT refused('SELECT count(*) FROM bobs.mine');
SELECT refused('SELECT count(*) FROM bobs.orders');
SELECT refused('SELECT * FROM bobs.orders');

-- A security_barrier view keeps aggregates from being pushed down
CREATE VIEW bobs.barrier WITH (security_barrier) AS SELECT * FROM bobs.orders WHERE region <> 'west';
CREATE VIEW bobs.over AS SELECT region, items FROM bobs.orders WHERE region <> 'west';
SELECT refused('SELECT count(*) FROM bobs.barrier');
EXPLAIN (COSTS OFF) SELECT count(*) FROM bobs.over;

-- What stands for a dataset is no table of a dataset, nor a partition of one
SELECT refused($$SELECT dp.create_dataset('again', 'bobs.orders', 1)$$);
CREATE TABLE bobs.all_orders (LIKE bobs.orders) PARTITION BY LIST (region);
ALTER TABLE bobs.all_orders ATTACH PARTITION bobs.orders FOR VALUES IN ('north');
SELECT refused($$SELECT dp.create_dataset('again', 'bobs.all_orders', 1)$$);
SELECT refused('SELECT count(*) FROM bobs.all_orders');
SELECT refused($$SELECT dp.create_dataset('again', 'bobs.mine', 1)$$);

RESET SESSION AUTHORIZATION;
SELECT refused('DROP EXTENSION pg_epsilon') ~ '^2BP01';
DROP OWNED BY regress_ann, regress_bob, regress_curator;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused(text);
DROP ROLE regress_curator, regress_ann, regress_bob;
