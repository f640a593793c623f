-- GROUP BY of what conditions decide: comparisons of two columns, CASE with tests of several, patterns, literals of open columns.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE, USAGE ON SCHEMA public TO regress_curator;
GRANT USAGE ON SCHEMA public TO regress_ann;
SET client_min_messages = warning;

SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE deals AS SELECT i AS id, i / 3 AS who, (i * 13) % 100 AS a, (i * 29) % 90 AS b, CASE WHEN i % 7 <> 0 THEN (i * 11) % 100 END AS x, (ARRAY['north', 'south', 'east'])[1 + i % 3] AS region, i % 4 = 0 AS ok,
       date '2024-01-01' + (i * 7) % 300 AS d, date '2024-01-01' + (i * 17) % 330 AS e, ((i * 613) % 10000 / 100.0)::numeric(8,2) AS price, ((i * 331) % 8000 / 100.0)::numeric(8,2) AS cost,
       CASE WHEN i % 11 <> 0 THEN 'https://' || (ARRAY['google', 'example', 'wiki'])[1 + i / 5 % 3] || '.org/' || i % 9 END AS url
  FROM generate_series(0, 5999) i;
ALTER TABLE deals ALTER a SET NOT NULL, ALTER b SET NOT NULL, ALTER d SET NOT NULL, ALTER e SET NOT NULL, ALTER price SET NOT NULL, ALTER cost SET NOT NULL, ALTER region SET NOT NULL, ALTER ok SET NOT NULL;
CREATE TABLE unit_deals AS SELECT * FROM deals;
ALTER TABLE unit_deals ALTER a SET NOT NULL, ALTER b SET NOT NULL, ALTER d SET NOT NULL, ALTER e SET NOT NULL, ALTER price SET NOT NULL, ALTER cost SET NOT NULL, ALTER region SET NOT NULL, ALTER ok SET NOT NULL;
SELECT dp.create_dataset('deals', 'deals', 1e5), dp.create_dataset('unit_deals', 'unit_deals', 1e5, unit => 'who', max_rows => 3);
SELECT count(dp.add_attribute(t, c, '0', '100', bins => 10, nulls => 'cell', last => 'open')) FROM unnest('{deals,unit_deals}'::text[]) t, unnest('{a,b,x,price,cost}'::text[]) c;
SELECT count(dp.add_attribute(t, c, '2024-01-01', '2025-01-01', bins => 1)) FROM unnest('{deals,unit_deals}'::text[]) t, unnest('{d,e}'::text[]) c;
SELECT dp.add_attribute(t, 'region', '{north,south,east}'), dp.add_attribute(t, 'ok'), dp.add_attribute(t, 'url', open => true) FROM unnest('{deals,unit_deals}'::text[]) t;
SELECT dp.grant_budget(t, 'regress_ann', 1e5), dp.expose(t, t || '_v') FROM unnest('{deals,unit_deals}'::text[]) t;
GRANT SELECT ON deals, deals_v, unit_deals, unit_deals_v TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SET pg_epsilon.epsilon = 400;

-- 1. The groups and figures are those of the rows.
CREATE FUNCTION pg_temp.rows_of(statement text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    rows jsonb;
BEGIN
    EXECUTE format('SELECT jsonb_agg(to_jsonb(r)) FROM (%s) r', statement) INTO rows;
    RETURN rows;
END $$;
CREATE FUNCTION pg_temp.same(statement text, relation text DEFAULT 'deals') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    answer jsonb := pg_temp.rows_of(replace(statement, 'FROM t', 'FROM ' || relation || '_v'));
    truth jsonb := pg_temp.rows_of(replace(statement, 'FROM t', 'FROM ' || relation));
BEGIN
    RETURN CASE WHEN jsonb_array_length(answer) = jsonb_array_length(truth) AND (SELECT bool_and(CASE WHEN jsonb_typeof(g.value) = 'number' AND jsonb_typeof(w.value) = 'number' THEN abs(g.value::float8 - w.value::float8) <= 4 + abs(w.value::float8) / 100 ELSE g.value = w.value END)
        FROM jsonb_array_elements(answer) WITH ORDINALITY got (r, n) JOIN jsonb_array_elements(truth) WITH ORDINALITY wanted (r, n) USING (n), LATERAL jsonb_each(got.r) g JOIN LATERAL jsonb_each(wanted.r) w USING (key))
        THEN 'right' ELSE format('%s and not %s', answer, truth) END;
END $$;
CREATE TABLE pg_temp.asked AS SELECT row_number() OVER () AS n, s FROM unnest(ARRAY[
    'SELECT a < b AS k, count(*) FROM t GROUP BY 1 ORDER BY 1',
    'SELECT (a < b)::int AS k, count(*), sum(a), avg(b) FROM t GROUP BY 1 ORDER BY 1',
    'SELECT a < x AS k, count(*), count(x) FROM t GROUP BY 1 ORDER BY 1',
    'SELECT coalesce(a < x, false) AS k, count(*) FROM t GROUP BY 1 ORDER BY 1',
    'SELECT (a < x) IS NOT TRUE AS k, count(*) FROM t GROUP BY 1 ORDER BY 1',
    'SELECT a < x IS NULL AS k, count(*) FROM t GROUP BY 1 ORDER BY 1',
    'SELECT region, a < b AS k, count(*), sum(price) FROM t GROUP BY 1, 2 ORDER BY 1, 2',
    'SELECT CASE WHEN price > 2 * cost THEN ''high'' WHEN price > cost THEN ''above'' ELSE ''below'' END AS k, count(*), avg(price), stddev(cost) FROM t GROUP BY 1 ORDER BY 1',
    'SELECT CASE WHEN price > 2 * cost THEN 1 WHEN price > cost THEN 0 ELSE 1 END AS k, count(*) FROM t GROUP BY 1 ORDER BY 1',
    'SELECT CASE WHEN a < b THEN region ELSE ''none'' END AS k, count(*) FROM t GROUP BY 1 ORDER BY 1',
    'SELECT CASE WHEN a < b THEN CASE WHEN ok THEN ''x'' ELSE ''y'' END END AS k, count(*) FROM t GROUP BY 1 ORDER BY 1',
    'SELECT ''k: '' || CASE WHEN a < b AND ok THEN ''x'' WHEN region = ''north'' THEN ''y'' ELSE ''z'' END AS k, count(*), sum(b) FROM t GROUP BY 1 ORDER BY 1',
    'SELECT CASE WHEN ok AND region = ''north'' THEN ''x'' ELSE ''y'' END AS k, avg(price), variance(a) FROM t GROUP BY 1 ORDER BY 1',
    'SELECT a < b AS k, e > d AS l, count(*) FROM t GROUP BY 1, 2 ORDER BY 1, 2',
    'SELECT e - d > 30 AS late, count(*), avg(e - d) AS days FROM t GROUP BY 1 ORDER BY 1',
    'SELECT a BETWEEN b AND x AS k, count(*) FROM t GROUP BY 1 ORDER BY 1',
    'SELECT a IN (b, x) AS k, count(*) FROM t GROUP BY 1 ORDER BY 1',
    'SELECT a IS DISTINCT FROM x AS k, count(*) FROM t GROUP BY 1 ORDER BY 1',
    'SELECT url LIKE ''%google%'' AS k, count(*), sum(a) FROM t GROUP BY 1 ORDER BY 1',
    'SELECT region, CASE WHEN url LIKE ''%google%'' THEN ''g'' WHEN url LIKE ''%wiki%'' THEN ''w'' ELSE ''other'' END AS k, count(*) FROM t GROUP BY 1, 2 ORDER BY 1, 2',
    'SELECT url = ''https://wiki.org/1'' AS k, count(*) FROM t GROUP BY 1 ORDER BY 1',
    'SELECT url IS NULL AS k, count(*) FROM t GROUP BY 1 ORDER BY 1',
    'SELECT url IN (''https://wiki.org/1'', ''https://google.org/3'') AS k, count(*) FROM t WHERE a < b GROUP BY 1 ORDER BY 1',
    'SELECT a < b AS k, count(*) FILTER (WHERE ok), sum(CASE WHEN region = ''north'' THEN price ELSE 0 END) FROM t GROUP BY 1 ORDER BY 1',
    'SELECT a < b AS k, count(*) FROM t WHERE a < b GROUP BY 1 ORDER BY 1',
    'SELECT a < b AS k, count(*) FROM t WHERE a >= b AND region <> ''north'' GROUP BY 1 ORDER BY 1',
    'SELECT a < b AS k, count(*) FROM t GROUP BY 1 HAVING count(*) > 3000 ORDER BY 1',
    'SELECT region, a < b AS k, count(*), avg(a), grouping(region, a < b) FROM t GROUP BY ROLLUP (1, 2) ORDER BY 1, 2, 5',
    'SELECT a < x AS k, e > d AS l, count(*), grouping(a < x, e > d) FROM t GROUP BY CUBE (1, 2) ORDER BY 4, 1, 2',
    'SELECT CASE WHEN url LIKE ''%wiki%'' THEN ''w'' ELSE ''o'' END AS k, ok, sum(price) FROM t GROUP BY GROUPING SETS ((1), (2), ()) ORDER BY 1, 2',
    'SELECT DISTINCT a < b AS k FROM t ORDER BY 1',
    'SELECT DISTINCT a < x AS k FROM t ORDER BY 1',
    'SELECT ok AS o, a < b AS k, count(DISTINCT region) AS n FROM t GROUP BY 1, 2 ORDER BY 1, 2',
    'SELECT a < b AS k, percentile_cont(0.5) WITHIN GROUP (ORDER BY price) AS p FROM t GROUP BY 1 ORDER BY 1',
    'SELECT k, sum(n) FROM (SELECT a < b AS k, region, count(*) AS n FROM t GROUP BY 1, 2) s GROUP BY 1 ORDER BY 1',
    'SELECT greatest((a < x)::int, 0) AS k, count(*) FROM t GROUP BY 1 ORDER BY 1',
    'SELECT coalesce(CASE WHEN a < x THEN nullif(region, ''north'') END, CASE WHEN b < x THEN nullif(region, ''south'') END, ''none'') AS k, count(*) FROM t GROUP BY 1 ORDER BY 1',
    'SELECT ARRAY[true, a < x] AS k, count(*) FROM t GROUP BY 1 ORDER BY 1',
    'SELECT CASE current_database() WHEN '''' THEN 7 WHEN current_database() THEN (a < x)::int ELSE 8 END AS k, count(*) FROM t GROUP BY 1 ORDER BY 1',
    'SELECT date_trunc(''year'', d)::date AS y, d < e AS k, count(*) FROM t GROUP BY 1, 2 ORDER BY 1, 2']) s;
SELECT n, s FROM pg_temp.asked, LATERAL (SELECT pg_temp.same(s) AS r) x WHERE r <> 'right';
SELECT count(*) FROM pg_temp.asked, LATERAL (SELECT pg_temp.same(s) AS r) x WHERE r = 'right';
SELECT pg_temp.same(s, 'unit_deals') AS r, count(*) FROM pg_temp.asked GROUP BY 1;
-- where WHERE leaves their NULLs out a comparison has none, and no group of NULL
SELECT pg_temp.same(s) FROM unnest(ARRAY['SELECT a < x AS k, count(*) FROM t WHERE x IS NOT NULL GROUP BY 1 ORDER BY 1', 'SELECT x > a AS k, count(*) FROM t WHERE ok GROUP BY 1 ORDER BY 1',
    'SELECT CASE WHEN a < x THEN ''less'' WHEN a >= x THEN ''more'' END AS k, count(*) FROM t WHERE x >= 20 GROUP BY 1 ORDER BY 1', 'SELECT CASE WHEN a < x THEN 1 WHEN a >= x THEN 2 ELSE 3 END AS k, count(*) FROM t WHERE x < 20 OR ok AND x >= 50 GROUP BY 1 ORDER BY 1',
    'SELECT CASE WHEN a < x THEN 1 WHEN a >= x THEN 2 ELSE 3 END AS k, count(*) FROM t WHERE x < 20 OR ok GROUP BY 1 ORDER BY 1', 'SELECT a < x AS k, count(*) FROM t WHERE coalesce(x, 0) < 20 GROUP BY 1 ORDER BY 1']) s;
SELECT pg_temp.same('SELECT a < b AS k, count(DISTINCT who) FROM t GROUP BY 1 ORDER BY 1', 'unit_deals');

-- 2. The conditions exclude each other: each count has the error of one.
EXPLAIN (COSTS OFF) SELECT CASE WHEN price > 2 * cost THEN 'high' WHEN price > cost THEN 'above' ELSE 'below' END, count(*) FROM deals_v GROUP BY 1;
EXPLAIN (COSTS OFF) SELECT count(*) FROM deals_v;
EXPLAIN (COSTS OFF) SELECT region, a < x, avg(price) FROM deals_v GROUP BY 1, 2;
-- asked again, it is free; so is the same of FILTER
SELECT count(*) AS paid FROM dp.charges \gset
SELECT FROM deals_v GROUP BY a < b;
SELECT a < b, count(*) FROM deals_v GROUP BY 1 HAVING count(*) < 0;
SELECT count(*) FILTER (WHERE a < b) BETWEEN 1 AND 6000 AS some FROM deals_v;
SELECT count(*) - :paid AS charges FROM dp.charges;

-- 3. What is not answered, free
CREATE FUNCTION pg_temp.refused(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    hint text;
BEGIN
    EXECUTE statement;
    RETURN 'answered';
EXCEPTION WHEN feature_not_supported OR invalid_parameter_value THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
    RETURN format('%s %s (%s)', SQLSTATE, SQLERRM, hint);
END $$;
SELECT pg_temp.refused(s) FROM unnest(ARRAY[
    'SELECT a < b, (a < b), count(*) FROM deals_v GROUP BY GROUPING SETS ((1), (2))',
    'SELECT url, a < b, count(*) FROM deals_v GROUP BY 1, 2',
    'SELECT a > 33, count(*) FROM deals_v GROUP BY 1',
    'SELECT a > 33 AND ok, count(*) FROM deals_v GROUP BY 1',
    'SELECT a > 33 AND ok, avg(b) FROM deals_v GROUP BY 1',
    'SELECT a > 33 AND a < b, count(*) FROM deals_v GROUP BY 1',
    'SELECT a + b > x, count(*) FROM deals_v GROUP BY 1',
    'SELECT CASE WHEN a < b THEN x ELSE 0 END, count(*) FROM deals_v GROUP BY 1',
    'SELECT CASE WHEN a < b THEN a + x ELSE 0 END, count(*) FROM deals_v GROUP BY 1',
    'SELECT a < b, a < x, b < x, d < e, count(*) FROM deals_v GROUP BY 1, 2, 3, 4',
    'SELECT url > ''h'', count(*) FROM deals_v GROUP BY 1',
    'SELECT coalesce(' || (SELECT string_agg('CASE WHEN a < b + ' || i || ' THEN nullif(region, ''north'') END', ', ') FROM generate_series(1, 12) i) || '), count(*) FROM deals_v GROUP BY 1',
    'SELECT ' || (SELECT string_agg('CASE ' || w || ' ELSE 2 END', ', ') FROM (SELECT string_agg('WHEN a < b + ' || i || ' THEN 1', ' ') AS w FROM generate_series(1, 96) i GROUP BY i % 4) c) || ', count(*) FROM deals_v GROUP BY 1, 2, 3, 4',
    'SELECT upper(url), count(*) FROM deals_v GROUP BY 1']) s;
SELECT count(*) - :paid AS charges FROM dp.charges;
-- decided at the middle of bins, where that is set
SET pg_epsilon.cut_bins = middle;
SELECT pg_temp.same('SELECT a >= 30 AND a < b AS k, count(*) FROM t GROUP BY 1 ORDER BY 1');
SELECT count(*) FROM (SELECT a > 33 AND a < b AS k, count(*) AS n FROM deals_v GROUP BY 1) s WHERE n > 500;

RESET SESSION AUTHORIZATION;
DROP FUNCTION refused;
SET client_min_messages = error;
DROP OWNED BY regress_curator, regress_ann CASCADE;
DROP EXTENSION pg_epsilon CASCADE;
DROP ROLE regress_curator, regress_ann;
