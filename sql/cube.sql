-- Plain SELECT over a cube: one paid release answers every question of a relation, or it is refused with what the cube lacks. Readers need no budget.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
SET client_min_messages = warning;
\set select :here /test/regress/select.sql
\i :select
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.grant_budget('orders', 'regress_curator', 1e4);
SELECT max(release) AS tables FROM dp.aggregate('orders', '{count(*),sum(amount)}', '{region,channel,items,age,ts,returned}', workload => 'marginals(2)', epsilon => 4000) \gset
SELECT release AS cells FROM dp.measure('orders', '{region,items,returned,age}', epsilon => 3000) \gset
-- no budget for them
SELECT dp.expose('orders', 'public.wide_v', release => :tables), dp.expose('orders', 'public.small_v', release => :cells);
GRANT SELECT ON wide_v, small_v TO regress_bob;
CREATE OR REPLACE FUNCTION truth(query text) RETURNS jsonb[] LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT rows_of(regexp_replace(query, '\y(wide|small)_v\y', 'orders', 'g'));
$$;
SET SESSION AUTHORIZATION regress_bob;
RESET pg_epsilon.epsilon;
SELECT * FROM dp.remaining('orders');
SELECT count(*) FROM dp.charges;

-- 1. What a tool asks.
SELECT try('SELECT count(*) FROM small_v');
SELECT try('SELECT region, count(*) FROM small_v GROUP BY region');
SELECT try('SELECT region, items, returned, count(*) FROM small_v GROUP BY 1, 2, 3');
SELECT try('SELECT region, count(*) FROM small_v WHERE items = 1 AND returned GROUP BY region');
SELECT try('SELECT region, count(*) FROM small_v WHERE region IN (''north'', ''east'') GROUP BY region');
SELECT try('SELECT count(*) FROM small_v WHERE region = ''north'' OR items = 2');
SELECT try('SELECT count(*) FROM small_v WHERE NOT (region = ''north'' OR items = 2 AND returned)');
SELECT try('SELECT count(*) FILTER (WHERE returned) AS back, count(*) AS n, 100.0 * count(*) FILTER (WHERE returned) / count(*) AS rate FROM small_v');
SELECT try('SELECT region, avg(CASE WHEN returned THEN 1.0 ELSE 0 END) FROM small_v GROUP BY 1');
SELECT try('SELECT region, sum(CASE WHEN returned THEN items ELSE 0 END) FROM wide_v GROUP BY 1');
SELECT try('SELECT age / 20 * 20 AS twenties, count(*) FROM small_v WHERE age >= 35 GROUP BY 1');
SELECT try('SELECT region, items, count(*) FROM small_v GROUP BY ROLLUP (1, 2)');
SELECT try('SELECT region, items, returned, count(*) FROM small_v WHERE age < 55 GROUP BY CUBE (1, 2, 3)');
SELECT try('SELECT region, grouping(region), count(*) FROM small_v WHERE region <> ''west'' GROUP BY GROUPING SETS ((1), ())');
SELECT try('SELECT count(returned), count(*) FROM small_v');
SELECT try('SELECT region || items AS both, count(*) FROM small_v GROUP BY 1');
SELECT try('SELECT region, count(*) FROM small_v GROUP BY 1 HAVING count(*) > 140 ORDER BY 2 DESC LIMIT 3');
SELECT try('SELECT * FROM (SELECT region, count(*) AS n FROM small_v GROUP BY 1) x JOIN (SELECT region, count(*) AS m FROM small_v WHERE items = 0 GROUP BY 1) y USING (region)');
SELECT try('SELECT date_trunc(''month'', ts) AS month, count(*), sum(amount), avg(amount) FROM wide_v WHERE channel = ''web'' GROUP BY 1');
SELECT try('SELECT channel, avg(amount), sum(amount) / sum(items) AS each FROM wide_v WHERE channel = ''web'' GROUP BY 1');
SELECT try('SELECT region, sum(amount) FILTER (WHERE items = 1) AS s, avg(amount * 2 + 1) AS a FROM wide_v GROUP BY 1');
SELECT try('SELECT count(*) FROM wide_v WHERE ts >= ''2025-01-01'' AND ts < ''2025-02-01'' AND region = ''south''');
SELECT try('SELECT count(*) FROM wide_v WHERE false');
SELECT try('SELECT region, count(*) FROM wide_v WHERE items > 7 GROUP BY 1');
SELECT try('SELECT min(age), max(age), count(DISTINCT region) FROM wide_v', 'SELECT 15 AS min, 95 AS max, 4 AS count');
SELECT region, count(*), round(dp.stderr_count(*)::numeric, 3) AS stderr, round(dp.lower95_count(*)) AS lower, round(dp.upper95_count(*)) AS upper FROM wide_v WHERE age < 55 GROUP BY 1 ORDER BY 1;

-- 2. What the cube lacks.
SELECT refused('SELECT amount, count(*) FROM wide_v GROUP BY 1');
SELECT refused('SELECT count(*) FROM wide_v WHERE amount < 50');
SELECT refused('SELECT region, channel, items, count(*) FROM wide_v GROUP BY 1, 2, 3');
SELECT refused('SELECT region, channel, count(*) FROM wide_v WHERE items = 1 GROUP BY 1, 2');
SELECT refused('SELECT sum(age) FROM wide_v');
SELECT refused('SELECT stddev(amount) FROM wide_v');
SELECT refused('SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) FROM wide_v');
SELECT refused('SELECT * FROM wide_v');
SELECT refused('SELECT sum(amount) FROM small_v');
SELECT refused('SELECT count(*) FROM orders_v');

-- 3. Nothing is charged, and there is one total.
RESET SESSION AUTHORIZATION;
SELECT count(*) AS charges FROM dp_ledger.charge;
SET SESSION AUTHORIZATION regress_bob;
SELECT abs((SELECT sum(1.0::float8) FROM wide_v) - (SELECT sum(n) FROM (SELECT region, channel, sum(1.0::float8) AS n FROM wide_v GROUP BY 1, 2) x)) < 1e-9 AS total,
       abs((SELECT sum(amount::float8) FROM wide_v) - (SELECT sum(n) FROM (SELECT ts, items, sum(amount::float8) AS n FROM wide_v GROUP BY 1, 2) x)) < 1e-9 * 3e4 AS sums;
EXPLAIN (COSTS OFF) SELECT region, channel, items, returned, count(*) FROM small_v GROUP BY CUBE (1, 2, 3, 4);
EXPLAIN (COSTS OFF) SELECT region, items, age / 20, returned, count(*) FROM small_v GROUP BY CUBE (1, 2, 3, 4);
SET SESSION AUTHORIZATION regress_curator;
EXPLAIN (COSTS OFF) SELECT region, items, age / 20, returned, count(*) FROM orders_v GROUP BY CUBE (1, 2, 3, 4);
