-- Sums and averages of polynomials of several columns, in dp.aggregate and in plain SELECT.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;

SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE sales (id int, region text NOT NULL, price numeric(12,2), discount numeric(4,2), tax numeric(4,2) NOT NULL, qty int NOT NULL,
                    bonus smallint, weight float8, note text);
INSERT INTO sales SELECT i, (array['north', 'south', 'west'])[1 + i % 3], CASE WHEN i % 11 > 0 THEN ((i * 7919) % 120000) / 100.0 - 50 END,
       CASE WHEN i % 13 > 0 THEN (i % 12) / 100.0 END, (i % 9) / 100.0, (i * 37) % 60 - 5, CASE WHEN i % 7 > 0 THEN i % 21 - 10 END,
       CASE WHEN i % 17 = 0 THEN 'NaN' WHEN i % 19 = 0 THEN NULL WHEN i % 101 = 0 THEN 'Infinity' ELSE (i % 100) / 64.0 - 0.5 END
  FROM generate_series(1, 4000) i;
SELECT dp.create_dataset('sales', 'sales', epsilon => 1e5);
SELECT dp.add_attribute('sales', 'region', '{north,south,west}'), dp.add_attribute('sales', 'price', '0', '1000', bins => 10),
       dp.add_attribute('sales', 'discount', '0', '0.10', bins => 1), dp.add_attribute('sales', 'tax', '0', '0.08', bins => 1),
       dp.add_attribute('sales', 'qty', 0, 50, bins => 5), dp.add_attribute('sales', 'bonus', -8, 8, bins => 1, outside => 'drop'),
       dp.add_attribute('sales', 'weight', -0.5, 1, bins => 1), dp.add_attribute('sales', 'note', '{a,b}');
SELECT dp.grant_budget('sales', 'regress_ann', epsilon => 1e5);
SELECT dp.expose('sales', 'orders');
GRANT SELECT ON orders TO regress_ann;
-- What the declarations make of the rows: each column is clamped, or dropped, before anything is computed.
CREATE VIEW clean AS SELECT id, region, CASE WHEN price > 1000 THEN 1000 WHEN price < 0 THEN 0 ELSE price END AS price,
       CASE WHEN discount > 0.1 THEN 0.1 ELSE discount END AS discount, tax, greatest(least(qty, 50), 0) AS qty,
       CASE WHEN bonus BETWEEN -8 AND 8 THEN bonus END AS bonus, bonus NOT BETWEEN -8 AND 8 AS bonus_out,
       CASE WHEN weight > 1 AND weight <> 'NaN' THEN 1 WHEN weight <> 'NaN' THEN weight END AS weight, weight = 'NaN' AS weight_out FROM sales;
GRANT SELECT ON clean, sales TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;

-- 1. As people send them, within seven standard errors of the truth.
CREATE FUNCTION pg_temp.near(aggregate text, grouped text DEFAULT NULL) RETURNS TABLE (aggregate_of text, groups bigint, near boolean, sharp boolean) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format('SELECT min(a.aggregate), count(*), bool_and(abs(a.estimate - t.value) <= 7 * a.stderr), bool_and(a.stderr < abs(t.value) * 0.05)
        FROM dp.aggregate(''sales'', ARRAY[%L], %L::text[], rho => 20) a JOIN (SELECT %s AS g, %s::float8 AS value FROM clean GROUP BY 1) t
          ON t.g IS NOT DISTINCT FROM a.label->>%L', aggregate, CASE WHEN grouped IS NULL THEN '{}' ELSE '{' || grouped || '}' END, coalesce(grouped, 'NULL::text'), aggregate, coalesce(grouped, ''));
END $$;
SELECT n.* FROM unnest('{sum(price * (1 - discount)),sum(price * (1 - discount) * (1 + tax)),avg(price * (1 - discount)),count(price * discount),sum(qty * price),avg(qty * weight),
    sum(price + discount + tax),sum(-price * qty),sum(qty * qty),sum(qty * qty * qty),avg((qty - 25) * (qty - 25)),sum(price / 4.0 + qty / 3.0),sum(1.5 * price - 2e-1 * qty),
    "sum(coalesce(price, 0) * qty)","avg(coalesce(price, -10.125) * (1 + tax))","count(coalesce(price, 0) * discount)",sum(price::float8 * tax::numeric),sum(100 - price * discount),sum(qty * tax - price * tax)}'::text[]) AS a,
    pg_temp.near(a) n;
SELECT n.* FROM unnest('{sum(price * (1 - discount)),avg(price * qty),count(price * weight)}'::text[]) AS a, pg_temp.near(a, 'region') n;
-- a NaN is no value, also in coalesce; nor is what is outside where that is dropped
SELECT aggregate, abs(estimate - (SELECT sum(coalesce(bonus, 3) * qty) FROM clean WHERE bonus_out IS NOT TRUE)) < 7 * stderr AS near
  FROM dp.aggregate('sales', '{"sum(coalesce(bonus, 3) * qty)"}', rho => 20);
SELECT aggregate, abs(estimate - (SELECT sum(coalesce(weight, 0.25) * qty) FROM clean WHERE weight_out IS NOT TRUE)) < 7 * stderr AS near
  FROM dp.aggregate('sales', '{"sum(coalesce(weight, 0.25) * qty)"}', rho => 20);
-- conditions, ratios, names
SELECT aggregate, abs(estimate - t.value) < 7 * stderr AS near FROM dp.aggregate('sales', '{sum(price * qty) where (region = ''west''),"ratio(sum(price * discount), sum(price))",avg(price * qty) where (qty >= 10) as busy}', rho => 50) a
  JOIN (SELECT unnest(ARRAY['sum(price * qty) where (region = ''west'')', 'ratio(sum(discount * price), sum(price))', 'busy']) AS name, unnest(ARRAY[sum(price * qty) FILTER (WHERE region = 'west'),
               sum(price * discount) / sum(price), avg(price * qty) FILTER (WHERE qty >= 10)]) AS value FROM clean) t ON t.name = a.aggregate ORDER BY 1;

-- 2. The same polynomial by other words is the same request, and free.
SELECT count(*) AS charges FROM dp.charges \gset
SELECT DISTINCT aggregate, release FROM dp.aggregate('sales', '{sum(price * (1 - discount) * (1 + tax))}', '{region}', rho => 0.5) \gset
SELECT DISTINCT a.aggregate, a.release = :release AS replayed FROM unnest('{sum((1 + tax) * price * (1 - discount)),sum(price + tax * price - discount * (price + tax * price)),sum(price * -(discount - 1) * (0.5 + tax + 1 / 2.0)),
    sum(2 * price * (1 - discount) * (1 + tax) / 2.0),sum((price::numeric - price * discount) * (1 + 1.0 * tax))}'::text[]) AS other, dp.aggregate('sales', ARRAY[other], '{region}', rho => 0.5) a;
SELECT DISTINCT release > :release AS another FROM dp.aggregate('sales', '{sum(price * (1 - discount))}', '{region}', rho => 0.5);
SELECT count(*) - :charges AS charged FROM dp.charges;
SELECT request - 'declared' AS request FROM dp.charges ORDER BY charge DESC LIMIT 1;
-- the error is that of the bounds of the product, not of its terms: 1000 / sqrt(2 rho), 1080, 50, 1000 and 99
SELECT aggregate, round(stderr::numeric, 1) AS stderr FROM dp.quote_aggregate('sales', '{sum(price * (1 - discount))}', rho => 0.5) UNION ALL
SELECT aggregate, round(stderr::numeric, 1) FROM dp.quote_aggregate('sales', '{sum(price * (1 - discount) * (1 + tax))}', rho => 0.5) UNION ALL
SELECT aggregate, round(stderr::numeric, 1) FROM dp.quote_aggregate('sales', '{sum(qty * (1 - discount))}', rho => 0.5) UNION ALL
SELECT aggregate, round(stderr::numeric, 1) FROM dp.quote_aggregate('sales', '{sum(-price * (1 - discount))}', rho => 0.5) UNION ALL
SELECT aggregate, round(stderr::numeric, 1) FROM dp.quote_aggregate('sales', '{sum((qty - 20) * (bonus / 4.0 + 1.3))}', rho => 0.5);

-- 3. Random ones, and each of them in plain SELECT: the same request.
CREATE FUNCTION pg_temp.leaf() RETURNS text LANGUAGE sql AS $$
    SELECT (array['price', 'discount', 'tax', 'qty', 'bonus', 'weight', '(1 - discount)', '(tax + 1)', '(qty - 20.5)', 'coalesce(bonus, 0)', '(weight * 2)', '(qty / 7.0)', '-weight'])[1 + floor(random() * 13)::int] $$;
CREATE FUNCTION pg_temp.polynomial() RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(sign || ' ' || product, ' ') || ' + qty * tax' FROM (SELECT (array['+', '-'])[1 + floor(random() * 2)::int] AS sign,
        (SELECT string_agg(pg_temp.leaf(), ' * ') FROM generate_series(1, 1 + floor(random() * 3)::int + n * 0)) AS product FROM generate_series(1, 1 + floor(random() * 3)::int) n) p $$;
CREATE FUNCTION pg_temp.check_one(f text, OUT near boolean, OUT same boolean) LANGUAGE plpgsql AS $$
DECLARE
    a record; t record; s float8;
BEGIN
    SELECT estimate, stderr INTO a FROM dp.aggregate('sales', ARRAY[format('sum(%s)', f)], epsilon => 20);
    EXECUTE format('SELECT sum(%s)::float8 AS value FROM clean WHERE (bonus_out IS NOT TRUE OR strpos(%L, ''bonus'') = 0)', f, f) INTO t;
    EXECUTE format('SELECT sum(%s)::float8 FROM orders', f) INTO s;
    near := abs(a.estimate - t.value) <= 7 * a.stderr;
    same := abs(s - a.estimate) <= 1e-9 * abs(s);
    IF NOT (near AND same) THEN RAISE WARNING '%: % +- %, truth %, SELECT %', f, a.estimate, a.stderr, t.value, s; END IF;
END $$;
SET pg_epsilon.epsilon = 20;
SELECT setseed(0.42);
SELECT count(*) AS charges FROM dp.charges \gset
SELECT count(*), bool_and(near) AS near, bool_and(same) AS same FROM (SELECT pg_temp.polynomial() AS f FROM generate_series(1, 60)) p, pg_temp.check_one(f);
SELECT count(*) - :charges <= 60 AS each_once FROM dp.charges;

-- 4. Plain SELECT: FILTER, CASE, groups, what is around the aggregate.
SET pg_epsilon.epsilon = 1000;
CREATE TEMP TABLE got AS SELECT region, sum(price * (1 - discount)) AS revenue, avg(price * qty) AS each, count(price * discount) AS n,
       sum(CASE WHEN qty >= 10 THEN price * (1 - discount) ELSE 0 END) AS busy, sum(price * qty) FILTER (WHERE qty < 40) AS small,
       100.0 * sum(CASE WHEN qty < 20 THEN price * (1 - discount) ELSE 0 END) / sum(price * (1 - discount)) AS share, sum(2 * (price * qty) + 5) AS twice
  FROM orders GROUP BY region;
CREATE TEMP TABLE truth AS SELECT region, sum(price * (1 - discount)) AS revenue, avg(price * qty) AS each, count(price * discount) AS n,
       sum(CASE WHEN qty >= 10 THEN price * (1 - discount) ELSE 0 END) AS busy, sum(price * qty) FILTER (WHERE qty < 40) AS small,
       100.0 * sum(CASE WHEN qty < 20 THEN price * (1 - discount) ELSE 0 END) / sum(price * (1 - discount)) AS share, sum(2 * (price * qty) + 5) AS twice
  FROM clean GROUP BY region;
SELECT region, name, abs(g.value::float8 / t.value::float8 - 1) < 0.01 AS near FROM (SELECT region, (jsonb_each_text(to_jsonb(got))).key AS name, (jsonb_each_text(to_jsonb(got))).value FROM got) g
  JOIN (SELECT region, (jsonb_each_text(to_jsonb(truth))).key AS name, (jsonb_each_text(to_jsonb(truth))).value FROM truth) t USING (region, name) WHERE name <> 'region' ORDER BY 1, 2;
SET pg_epsilon.epsilon = 20;
EXPLAIN (COSTS OFF) SELECT sum(price * (1 - discount)), dp.stderr_sum(price * (1 - discount)) FROM orders WHERE qty < 20;
EXPLAIN (COSTS OFF) SELECT avg((price - 100) * (1 + tax)) FROM orders;

-- 5. What is refused, before anything is charged.
SELECT count(*) AS charges FROM dp.charges \gset
SELECT a, refused(format('SELECT * FROM dp.aggregate(''sales'', ARRAY[%L], rho => 0.5)', a))
  FROM unnest('{sum(price * qty * tax * discount),sum(price / qty),sum(qty / 7),sum(price * region),sum(price * note),sum(price * lost),sum(qty - qty),sum(0 * price + 7),stddev(price * qty),sum(price * qty,
    sum(weight * weight * weight * 123456789012345678901234567890),sum(qty::int),median(price * qty)}'::text[]) AS a;
SELECT s, refused(s) FROM unnest(ARRAY['SELECT sum(price * qty * tax * discount) FROM orders', 'SELECT sum(price / qty) FROM orders', 'SELECT sum(qty * bonus / 7) FROM orders', 'SELECT sum(round(price * qty)) FROM orders',
    'SELECT sum((price * qty)::int) FROM orders', 'SELECT sum(abs(price - qty)) FROM orders', 'SELECT stddev(price * qty) FROM orders', 'SELECT sum(price * length(note)) FROM orders',
    'SELECT max(price * qty) FROM orders', 'SELECT sum(price * CASE WHEN qty > 3 THEN 1 END) FROM orders']) AS s;
SELECT count(*) - :charges AS charged FROM dp.charges;

-- 6. Units, substitute, pure accounting, and groups that are too small.
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE visits (person int NOT NULL, kind text NOT NULL, a int NOT NULL, b int, c numeric(4,1));
INSERT INTO visits SELECT i % 700, CASE WHEN i % 5 > 0 THEN 'x' ELSE 'y' END, i % 10, nullif(i % 7, 3), (i % 31) / 2.0 FROM generate_series(1, 2100) i;
CREATE TABLE swapped AS TABLE visits;
CREATE TABLE pure AS TABLE visits;
ALTER TABLE swapped ALTER person SET NOT NULL, ALTER kind SET NOT NULL, ALTER a SET NOT NULL;
ALTER TABLE pure ALTER person SET NOT NULL, ALTER kind SET NOT NULL, ALTER a SET NOT NULL;
SELECT dp.create_dataset('visits', 'visits', unit => 'person', max_rows => 3, epsilon => 1e5), dp.create_dataset('swapped', 'swapped', unit => 'person', max_rows => 3, neighbours => 'substitute', epsilon => 1e5),
       dp.create_dataset('pure', 'pure', unit => 'person', max_rows => 3, accounting => 'pure', epsilon => 1e5);
SELECT dp.add_attribute(d, 'kind', '{x,y,z}'), dp.add_attribute(d, 'a', 0, 9, bins => 1), dp.add_attribute(d, 'b', 0, 6, bins => 1), dp.add_attribute(d, 'c', 0, 15, bins => 1), dp.grant_budget(d, 'regress_ann', epsilon => 1e5)
  FROM unnest('{visits,swapped,pure}'::text[]) d;
GRANT SELECT ON visits TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SELECT d, a.label->>'kind' AS kind, a.aggregate, abs(a.estimate - coalesce(t.value, 0)) < 7 * a.stderr AS near, a.stderr < 0.05 * t.value AS sharp
  FROM unnest('{visits,swapped,pure}'::text[]) d, dp.aggregate(d, '{sum(a * b),sum(a * b * c + a),avg(a * c),count(*)}', '{kind}', epsilon => 1000) a
  LEFT JOIN (SELECT kind, (j).key AS name, (j).value::float8 FROM (SELECT kind, jsonb_each_text(jsonb_build_object('sum(a * b)', sum(a * b), 'sum(a + a * b * c)', sum(a * b * c + a), 'avg(a * c)', avg(a * c), 'count(*)', count(*))) AS j FROM visits GROUP BY kind) x) t
    ON t.kind = a.label->>'kind' AND t.name = a.aggregate WHERE a.label->>'kind' <> 'z' ORDER BY 1, 2, 3;
-- at most two rows of a unit: the cut tells rows apart by the values of the polynomial
SELECT aggregate, round(estimate)::int AS estimate FROM dp.aggregate('visits', '{count(*),count(a * b)}', rows_per_unit => 2, epsilon => 1000);
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.set_min_count('visits', 50);
SET SESSION AUTHORIZATION regress_ann;
SELECT label->>'kind' AS kind, aggregate, estimate IS NULL AS hidden FROM dp.aggregate('visits', '{sum(a * b)}', '{kind}', epsilon => 100) ORDER BY 1;
SELECT label->>'kind' AS kind, aggregate, estimate IS NULL AS hidden FROM dp.aggregate('visits', '{sum(b * a)}', '{kind}', epsilon => 100) ORDER BY 1;
SELECT count(*) FROM dp.charges WHERE dataset = 'visits' AND request->>'aggregates' LIKE '%regr_count%';

-- A series has no formulas yet.
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE days (day date, a int, b int);
SELECT dp.create_dataset('days', 'days', epsilon => 10);
SELECT dp.add_attribute('days', 'day', '2026-01-01', '2027-01-01', step => '1 day'), dp.add_attribute('days', 'a', 0, 9, bins => 1), dp.add_attribute('days', 'b', 0, 9, bins => 1), dp.set_time('days', 'day'),
       dp.grant_budget('days', 'regress_ann', epsilon => 5);
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT dp.create_series('days', 'weekly', '{}'::text[], start => '2026-01-01', period => '1 day', periods => 4, aggregates => '{sum(a * b)}', epsilon => 1)$$);

-- 7. The scale of a numeric column changes: the release is read as it was measured, and is no answer to what is asked now.
SELECT release, estimate FROM dp.aggregate('sales', '{sum(price * tax)}', rho => 0.5) \gset
SET SESSION AUTHORIZATION regress_curator;
DROP VIEW clean;
ALTER TABLE sales ALTER tax TYPE numeric(6,4);
SET SESSION AUTHORIZATION regress_ann;
SELECT release > :release AS asked_anew FROM dp.aggregate('sales', '{sum(price * tax)}', rho => 0.01, reuse => true);
SELECT release > :release AS asked_anew FROM dp.aggregate('sales', '{sum(price * tax)}', rho => 0.5);
SELECT dp.publish(:release, 'pg_temp.read_again') IS NOT NULL AS published;
SELECT abs(sum_price_tax - :estimate) < 1e-6 AS as_measured FROM read_again;

DISCARD TEMP;
RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon CASCADE;
DROP VIEW IF EXISTS orders;
DROP TABLE sales, visits, swapped, pure, days;
DROP FUNCTION public.refused(text);
REVOKE CREATE ON SCHEMA public FROM regress_curator;
DROP ROLE regress_curator, regress_ann;
