-- Plain SELECT over a cube: one paid release answers every question of a relation, or it is refused with what the cube lacks. Readers need no budget.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
SET client_min_messages = warning;
\set select :here /test/regress/select.sql
\i :select
RESET SESSION AUTHORIZATION;
CREATE ROLE regress_payers;
GRANT CREATE ON SCHEMA public TO regress_payers;
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.revoke_budget('orders', 'regress_ann'), dp.grant_budget('orders', 'regress_curator', 9e4);
SELECT max(release) AS tables FROM dp.aggregate('orders', '{count(*),sum(amount),sum(items)}', '{region,channel,items,age,ts,returned}', workload => 'marginals(2)', epsilon => 5.5e4) \gset
SELECT release AS cells FROM dp.measure('orders', '{region,items,returned,age}', epsilon => 2.5e4) \gset
-- no budget for them
SELECT dp.expose('orders', 'public.wide_v', release => :tables), dp.expose('orders', 'public.small_v', release => :cells);
GRANT SELECT ON wide_v, small_v TO regress_bob;
SELECT substr(option, 9) AS digest FROM pg_foreign_table, unnest(ftoptions) option WHERE ftrelid = 'small_v_foreign'::regclass AND option LIKE 'payload=%' \gset
CREATE FUNCTION explained(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY EXECUTE 'EXPLAIN (COSTS OFF) ' || query; END $$;
CREATE OR REPLACE FUNCTION truth(query text) RETURNS jsonb[] LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT rows_of(regexp_replace(query, '\y(wide|small)_v\y', 'orders', 'g'));
$$;
-- Sums have more noise than try allows: whether all numbers are within a twentieth of the table's, or of 1.
CREATE FUNCTION near(query text) RETURNS text LANGUAGE sql AS $$
    SELECT count(*) || ' numbers' || CASE WHEN bool_and(abs(o.value::numeric - t.value::numeric) <= greatest(abs(t.value::numeric), 1) / 20) THEN ' near those of the table' ELSE ': ' || string_agg(o.value::text || ' for ' || t.value::text, ', ') END
      FROM unnest(rows_of(query), truth(query)) x(o, t), jsonb_each(o) o JOIN LATERAL jsonb_each(t) t USING (key) WHERE jsonb_typeof(o.value) = 'number';
$$;
SET SESSION AUTHORIZATION regress_bob;
RESET pg_epsilon.epsilon;
SELECT refused('SELECT * FROM dp.remaining(''orders'')');
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
SELECT near('SELECT region, sum(CASE WHEN returned THEN items ELSE 0 END) FROM wide_v GROUP BY 1');
SELECT try('SELECT age / 20 * 20 AS twenties, count(*) FROM small_v WHERE age >= 35 GROUP BY 1');
SELECT try('SELECT region, items, count(*) FROM small_v GROUP BY ROLLUP (1, 2)');
SELECT try('SELECT region, items, returned, count(*) FROM small_v WHERE age < 75 GROUP BY CUBE (1, 2, 3)');
SELECT try('SELECT region, grouping(region), count(*) FROM small_v WHERE region <> ''west'' GROUP BY GROUPING SETS ((1), ())');
SELECT try('SELECT count(returned), count(*) FROM small_v');
-- the values of a column that is summed: amount is missing in some rows
SELECT near('SELECT region, count(amount) AS paid, count(items) AS sold, count(*) AS n, avg(2 * amount) AS twice FROM wide_v GROUP BY 1');
SELECT near('SELECT count(amount) FILTER (WHERE region = ''north'') AS paid, sum(amount) / count(amount) AS mean FROM wide_v');
SELECT try('SELECT region || items AS both, count(*) FROM small_v GROUP BY 1');
SELECT try('SELECT region, count(*) FROM small_v GROUP BY 1 HAVING count(*) > 150 ORDER BY 1 DESC LIMIT 3');
SELECT try('SELECT * FROM (SELECT region, count(*) AS n FROM small_v GROUP BY 1) x JOIN (SELECT region, count(*) AS m FROM small_v WHERE items = 0 GROUP BY 1) y USING (region)');
SELECT near('SELECT date_trunc(''month'', ts) AS month, count(*), sum(amount), avg(amount) FROM wide_v WHERE channel = ''web'' GROUP BY 1');
SELECT near('SELECT channel, avg(amount), sum(amount) / sum(items) AS each FROM wide_v WHERE channel = ''web'' GROUP BY 1');
SELECT near('SELECT region, sum(amount) FILTER (WHERE items = 1) AS s, avg(amount * 2 + 1) AS a FROM wide_v GROUP BY 1');
SELECT try('SELECT count(*) FROM wide_v WHERE ts >= ''2025-01-01'' AND ts < ''2025-02-01'' AND region = ''south''');
SELECT try('SELECT count(*) FROM wide_v WHERE false');
SELECT try('SELECT region, count(*) FROM wide_v WHERE items > 7 GROUP BY 1');
SELECT try('SELECT min(age), max(age) FROM wide_v', 'SELECT 15 AS min, 95 AS max');
SELECT refused('SELECT count(DISTINCT region) FROM wide_v');
SELECT region, count(*), round(dp.stderr_count(*)::numeric, 3) AS stderr, round(dp.lower95_count(*)) AS lower, round(dp.upper95_count(*)) AS upper FROM wide_v WHERE age < 55 GROUP BY 1 ORDER BY 1;

-- values of a column are weights of one query
SELECT try('SELECT region, sum(items), avg(items) FROM small_v GROUP BY 1');
SELECT try('SELECT sum(items * 2.5 - 1) AS s, avg(items) FILTER (WHERE returned) AS a FROM small_v');
SELECT try('SELECT returned, sum(CASE region WHEN ''north'' THEN 1 WHEN ''south'' THEN -2 WHEN ''east'' THEN 5.5 END) FROM small_v GROUP BY 1');
SELECT round((dp.stderr_sum(items) / dp.stderr_count(*))::numeric, 3) AS ratio, round(sqrt(5.0 / 3), 3) AS of_weights FROM small_v;

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
SELECT regexp_replace(line, 'of \d{4}-.*,', 'of TIME,') FROM explained('SELECT region, items, age / 20, returned, count(*) FROM small_v GROUP BY CUBE (1, 2, 3, 4)') line;

-- 4. Not after the owner lost the right, and not by who never had it.
SET SESSION AUTHORIZATION regress_ann;
SELECT refused(format('SELECT dp.expose(''orders'', ''public.mine_v'', release => %s)', :cells));
CREATE FOREIGN TABLE forged (region text, items int, age int, returned boolean) SERVER dp OPTIONS (dataset 'orders', release :'cells', payload :'digest');
SELECT refused('SELECT count(*) FROM forged');
SELECT left(refused('ALTER FOREIGN TABLE forged OWNER TO regress_curator'), 5) AS refused;
SET SESSION AUTHORIZATION regress_curator;
-- a paid release of ann's: her relation, until her budget's role is no longer hers
SELECT dp.grant_budget('orders', 'regress_payers', 5e3);
RESET SESSION AUTHORIZATION;
GRANT regress_payers TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SELECT release AS of_payers FROM dp.measure('orders', '{region}', epsilon => 1e3, budget => 'regress_payers') \gset
SELECT dp.expose('orders', 'public.of_payers', release => :of_payers);
GRANT SELECT ON of_payers TO regress_bob;
SELECT refused(format('SELECT dp.expose(''orders'', ''public.other_v'', release => %s)', :cells));
SET SESSION AUTHORIZATION regress_bob;
SELECT count(*) > 0 FROM of_payers;
SELECT refused(format('SELECT dp.answer(%s::bigint)', :of_payers));
SELECT refused('SELECT count(*) FROM of_payers_foreign');
-- a cursor that is open keeps what it has read; the next statement is refused
RESET SESSION AUTHORIZATION;
REVOKE regress_payers FROM regress_ann;
SET SESSION AUTHORIZATION regress_bob;
SELECT refused('SELECT count(*) FROM of_payers');
SELECT explained('SELECT count(*) FROM of_payers');
-- a group that owns the relation
RESET SESSION AUTHORIZATION;
ALTER VIEW of_payers OWNER TO regress_payers;
ALTER FOREIGN TABLE of_payers_foreign OWNER TO regress_payers;
SET SESSION AUTHORIZATION regress_bob;
SELECT count(*) > 0 FROM of_payers;
-- the view's owner reads the foreign table
RESET SESSION AUTHORIZATION;
ALTER VIEW of_payers OWNER TO regress_ann;
SET SESSION AUTHORIZATION regress_bob;
SELECT refused('SELECT count(*) FROM of_payers');
RESET SESSION AUTHORIZATION;
GRANT SELECT ON of_payers_foreign TO regress_ann;
SET SESSION AUTHORIZATION regress_bob;
SELECT count(*) > 0 FROM of_payers;
-- some columns alone
RESET SESSION AUTHORIZATION;
REVOKE SELECT ON small_v FROM regress_bob;
GRANT SELECT (region) ON small_v TO regress_bob;
SET SESSION AUTHORIZATION regress_bob;
SELECT region, count(*) FROM small_v GROUP BY 1 ORDER BY 1;
SELECT refused('SELECT items, count(*) FROM small_v GROUP BY 1');

-- 5. Another release under the number or the hash.
SET SESSION AUTHORIZATION regress_curator;
ALTER FOREIGN TABLE small_v_foreign OPTIONS (SET release :'tables');
SELECT refused('SELECT count(*) FROM small_v');
ALTER FOREIGN TABLE small_v_foreign OPTIONS (SET release :'cells', SET payload 'ff00000000000000000000000000000000000000000000000000000000000000');
SELECT refused('SELECT count(*) FROM small_v');
ALTER FOREIGN TABLE small_v_foreign OPTIONS (SET payload :'digest');
SELECT count(*) FROM small_v;
SELECT refused('ALTER FOREIGN TABLE small_v_foreign OPTIONS (DROP payload)');
SELECT refused('ALTER FOREIGN TABLE small_v_foreign OPTIONS (ADD epsilon ''1'')');
SELECT refused('ALTER FOREIGN TABLE small_v_foreign OPTIONS (SET payload ''no hash'')');
SELECT refused('ALTER FOREIGN TABLE small_v_foreign OPTIONS (SET release ''0'')');
SELECT refused(format('ALTER FOREIGN TABLE wide_v_foreign OPTIONS (SET dataset ''visits'', DROP dataset_id)'));
SELECT refused('SELECT count(*) FROM wide_v');
ALTER FOREIGN TABLE wide_v_foreign OPTIONS (SET dataset 'orders');

-- 6. A reader's function runs as the reader, and sees declared levels alone.
SET SESSION AUTHORIZATION regress_ann;
CREATE FUNCTION peek(x text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RAISE WARNING '% as %', x, current_user;
    BEGIN
        PERFORM count(*) FROM dp_ledger.release;
        RAISE WARNING 'it reads the ledger';
    EXCEPTION WHEN insufficient_privilege THEN NULL;
    END;
    RETURN x < 'north';
END $$;
SET SESSION AUTHORIZATION regress_curator;
GRANT SELECT ON small_v TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM small_v WHERE peek(region);
SELECT peek(region), count(*) FROM small_v GROUP BY 1 ORDER BY 1;
-- one that loses the reader's right, or the owner's, while it runs: the next statement has it not
SELECT refused('CREATE FUNCTION dp_internal.f() RETURNS int LANGUAGE sql AS ''SELECT 1''');

-- 7. What dp.expose says and keeps.
SET SESSION AUTHORIZATION regress_curator;
SELECT obj_description('small_v'::regclass), string_agg(attname, ',' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'small_v'::regclass AND attnum > 0;
SELECT refused(format('SELECT dp.expose(''orders'', ''public.small_v'', release => %s)', :cells));
SELECT dp.expose('orders', 'public.small_v', replace => true);
SELECT count(*) FROM small_v;
SELECT dp.expose('orders', 'public.small_v', release => :tables, replace => true);
SELECT obj_description('small_v'::regclass), string_agg(attname, ',' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'small_v'::regclass AND attnum > 0;
SELECT channel, count(*) > 0 FROM small_v GROUP BY 1 ORDER BY 1;
SELECT dp.expose('orders', 'public.small_v', epsilon => 1, replace => true);
SELECT obj_description('small_v'::regclass);
SELECT option FROM pg_foreign_table, unnest(ftoptions) option WHERE ftrelid = 'small_v_foreign'::regclass AND option !~ '^dataset_id' ORDER BY 1;
SELECT dp.expose('orders', 'public.small_v', release => :cells, replace => true);
SELECT refused(format('SELECT dp.expose(''orders'', ''public.x'', release => %s, epsilon => 1)', :cells));
SELECT refused(format('SELECT dp.expose(''visits'', ''public.x'', release => %s)', :cells));
SELECT refused('SELECT dp.expose(''orders'', ''public.x'', release => 999)');
SELECT refused('SELECT dp.expose(''orders'', ''public.x'', release => 0)');
SELECT max(release) AS other FROM dp.aggregate('orders', '{count(*) where (items = 1),count(*)}', '{region}', epsilon => 1e3) \gset
SELECT refused(format('SELECT dp.expose(''orders'', ''public.x'', release => %s)', :other));
SELECT max(release) AS other FROM dp.aggregate('orders', '{count(*)}', '{age CELLS (0-7; 8-15)}', epsilon => 1e3) \gset
SELECT refused(format('SELECT dp.expose(''orders'', ''public.x'', release => %s)', :other));

-- 8. With a unit, a predicate, and none of attributes.
SELECT dp.revoke_budget('visits', 'regress_ann'), dp.grant_budget('visits', 'regress_curator', 9e4);
SELECT release AS of_units FROM dp.measure('visits', '{ward,cost,ts}', 'identity(ward) * identity(cost) + identity(ts) * identity(ward)', predicate => 'cost >= 1', epsilon => 2e4) \gset
SELECT dp.expose('visits', 'public.units_v', release => :of_units);
GRANT SELECT ON units_v TO regress_bob;
CREATE OR REPLACE FUNCTION truth(query text) RETURNS jsonb[] LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT rows_of(regexp_replace(regexp_replace(query, '\yunits_v\y', '(SELECT * FROM visits WHERE cost >= 1) v', 'g'), '\yformula_v\y', 'orders'));
$$;
SET SESSION AUTHORIZATION regress_bob;
SELECT try('SELECT ward, count(*) FROM units_v GROUP BY 1');
SELECT try('SELECT ward, count(*) FROM units_v WHERE ward = ''a'' GROUP BY 1');
SELECT try('SELECT date_trunc(''month'', ts) AS month, count(*) FROM units_v WHERE ward = ''b'' GROUP BY 1');
SELECT try('SELECT count(*) FROM units_v WHERE cost = 1');
SELECT try('SELECT cost, count(*) FROM units_v GROUP BY 1');
SELECT refused('SELECT cost, count(*) FROM units_v WHERE ts < ''2025-02-01'' GROUP BY 1');
SELECT refused('SELECT count(DISTINCT customer) FROM units_v');
SELECT refused('SELECT dp.people(*) FROM units_v');
SET SESSION AUTHORIZATION regress_curator;
SELECT max(release) AS overall FROM dp.aggregate('orders', '{count(*),avg(amount)}', epsilon => 1e3) \gset
SELECT dp.expose('orders', 'public.overall_v', release => :overall);
SELECT count(*), round(avg(amount)), round(sum(amount), -2) FROM overall_v;
SELECT refused('SELECT count(*) FROM overall_v WHERE amount < 50');
-- a formula: the relation has its columns, also where nothing else is of them
SELECT max(release) AS formula FROM dp.aggregate('orders', '{count(*),sum(items * amount)}', '{region}', epsilon => 5e3) \gset
SELECT dp.expose('orders', 'public.formula_v', release => :formula);
SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'formula_v' ORDER BY ordinal_position;
SELECT near('SELECT region, sum(items * amount), avg(items * amount) AS mean, count(items * amount) AS n FROM formula_v GROUP BY 1');
-- multiples of it
SELECT near('SELECT region, sum(2 * items * amount), avg(-(amount * items)) AS mean, count(3 * items * amount) AS n, avg(items * amount / 4.0) AS quarter FROM formula_v GROUP BY 1');
SELECT refused('SELECT sum(items * amount + items) FROM formula_v');
SELECT refused('SELECT sum(amount) FROM formula_v');
SELECT refused('SELECT dp.median(amount) FROM formula_v');

-- count(x) counts values outside of what is declared, which have no number and are in no sum
CREATE TABLE parcels AS SELECT region, amount + 30 AS weight FROM orders;
SELECT dp.create_dataset('parcels', 'parcels', 9e4), dp.add_attribute('parcels', 'region', '{north,south,east,west}'::text[]), dp.add_attribute('parcels', 'weight', '0', '100', 10, outside => 'other');
SELECT dp.grant_budget('parcels', 'regress_curator', 9e4);
SELECT max(release) AS weighed FROM dp.aggregate('parcels', '{count(*),sum(weight)}', '{region}', epsilon => 2e4) \gset
SELECT dp.expose('parcels', 'public.weighed_v', release => :weighed);
SELECT refused('SELECT count(weight) FROM weighed_v');
SELECT round(sum(weight), -2) = (SELECT round(sum(weight), -2) FROM parcels WHERE weight <= 100) AS of_declared FROM weighed_v;

-- 9. Rows that come, attributes that are declared anew, a release that expires.
SELECT dp.new_version('orders');
INSERT INTO orders SELECT * FROM orders;
SELECT count(*) FROM small_v;
SELECT regexp_replace(line, 'of \d{4}-.*,', 'of TIME,') FROM explained('SELECT count(*) FROM small_v') line;
SELECT dp.alter_attribute('orders', 'region', '{north,south,east}'::text[], outside => 'other');
SELECT refused('SELECT region, count(*) FROM small_v GROUP BY 1');
SELECT count(*) FROM small_v WHERE items = 1;
SELECT dp.expire_release(:tables);
SELECT refused('SELECT count(*) FROM wide_v');
RESET SESSION AUTHORIZATION;
\set ECHO none
SET client_min_messages = error;
DROP EXTENSION pg_epsilon CASCADE;
DROP OWNED BY regress_curator, regress_ann, regress_bob, regress_payers CASCADE;
DROP FUNCTION IF EXISTS refused;
DROP ROLE regress_curator, regress_ann, regress_bob, regress_payers;
