-- Every kind of request over views, against plain SQL: at a huge epsilon the noise is none.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
\set same :here /test/regress/same.sql
\i :same
\set shop :here /test/regress/shop.sql
\i :shop
SET client_min_messages = warning;
SET datestyle = 'ISO';
\t on

SET SESSION AUTHORIZATION regress_shop;
DO $$
BEGIN
    PERFORM dp.create_dataset('sales', 'sales', 1e5, unit => 'customer_id', max_rows => 24, accounting => 'pure');
    PERFORM dp.add_attribute('sales', 'country', ARRAY['at', 'de', 'fr', 'it']);
    PERFORM dp.add_attribute('sales', 'category', ARRAY['food', 'toys', 'books']);
    PERFORM dp.add_attribute('sales', 'qty', 0, 5, 5, last => 'open');
    PERFORM dp.add_attribute('sales', 'paid', 0, 400, 8);
    PERFORM dp.add_edges('sales', 'placed', ARRAY['2026-01-01', '2026-02-01', '2026-03-01', '2026-04-01']::date[]);
    PERFORM dp.create_dataset('facts', 'facts', unit => 'customer_id', same_cap_as => 'sales', max_rows => 1);
    PERFORM dp.add_attribute('facts', 'country', ARRAY['at', 'de', 'fr', 'it']);
    PERFORM dp.add_attribute('facts', 'orders', 0, 20, 20, last => 'open', outside => 'other');
    PERFORM dp.add_attribute('facts', 'born', 1940, 2000, 6, last => 'open');
    PERFORM dp.grant_budget('facts', 'regress_ann', 9e4);
    PERFORM dp.expose('sales', 'public.sales_v'), dp.expose('facts', 'public.facts_v');
END $$;
GRANT SELECT ON sales_v, facts_v TO regress_ann;
GRANT SELECT ON sales, facts TO regress_ann;
-- no customer has more lines than count
SELECT max(n) <= 24 AS none_cut, count(*) AS customers FROM (SELECT count(*) AS n FROM sales GROUP BY customer_id) s;

SET SESSION AUTHORIZATION regress_ann;
SET pg_epsilon.epsilon = 1000;
CREATE FUNCTION counts(dataset text, attributes text[]) RETURNS text LANGUAGE sql AS
    $$SELECT string_agg(round(estimate)::text, ' ' ORDER BY query) FROM dp.histogram(dataset, attributes, epsilon => 4000)$$;
SELECT counts('sales', '{country,category}') = (SELECT string_agg(n::text, ' ' ORDER BY a, b) FROM unnest(ARRAY['at', 'de', 'fr', 'it']) WITH ORDINALITY x(country, a),
    unnest(ARRAY['food', 'toys', 'books']) WITH ORDINALITY y(category, b), LATERAL (SELECT count(*) AS n FROM sales s WHERE s.country = x.country AND s.category = y.category) n) AS histogram;
SELECT string_agg(aggregate || ' ' || round(estimate), ', ' ORDER BY aggregate COLLATE "C") = (SELECT format('count(*) %s, count(distinct unit) %s, sum(qty) %s', count(*), count(DISTINCT customer_id), sum(qty))
    FROM sales WHERE country = 'fr') AS aggregate
  FROM dp.aggregate('sales', '{count(*),sum(qty),count(distinct unit)}', predicate => 'country = ''fr''', epsilon => 4000);
SELECT * FROM dp.rows_per_unit('facts', 3, epsilon => 4000);
SELECT same('SELECT country, count(*) FROM R GROUP BY country', 'sales_v', 'sales');
SELECT same('SELECT category, date_trunc(''month'', placed), count(*) FROM R WHERE country IN (''at'', ''it'') GROUP BY 1, 2', 'sales_v', 'sales');
SELECT same('SELECT count(*), count(DISTINCT customer_id) FROM R WHERE qty >= 2', 'sales_v', 'sales');
SELECT same('SELECT orders, count(*) FROM R WHERE orders BETWEEN 5 AND 6 GROUP BY orders', 'facts_v', 'facts');
SELECT same('SELECT country, round(sum(orders)), count(*) FROM R GROUP BY country', 'facts_v', 'facts');
-- a model: how many orders somebody has, by birth
SELECT count(*) AS terms, bool_and(abs(coefficient) < 1e6) AS finite FROM dp.fit('facts', 'linear_regression', 'orders', ARRAY['born'], epsilon => 4000);
-- quantiles, and keys that nobody has listed
SELECT round(estimate) = (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY orders) FROM facts) AS median
  FROM dp.aggregate('facts', '{"median(orders)"}', epsilon => 4000);
-- with a cut: of each customer at most 3 lines count, whichever they are
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_ann;
SELECT round(estimate) = (SELECT sum(least(n, 3)) FROM (SELECT count(*) AS n FROM sales GROUP BY customer_id) s) AS cut
  FROM dp.aggregate('sales', '{count(*)}', rows_per_unit => 3, epsilon => 4000);
-- a customer has one country, so the cut is the same in each
SELECT string_agg(round(estimate)::text, ' ' ORDER BY label ->> 'country') = (SELECT string_agg(n::text, ' ' ORDER BY country) FROM
    (SELECT country, sum(least(n, 3)) AS n FROM (SELECT country, count(*) AS n FROM sales GROUP BY customer_id, country) s GROUP BY country) s) AS cut_by_country
  FROM dp.aggregate('sales', '{count(*)}', '{country}', rows_per_unit => 3, epsilon => 4000);

-- parallel workers, each with a part of the lines
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SELECT round(estimate) = (SELECT sum(least(n, 4)) FROM (SELECT count(*) AS n FROM sales GROUP BY customer_id) s) AS parallel
  FROM dp.aggregate('sales', '{count(*)}', rows_per_unit => 4, epsilon => 4000);
RESET min_parallel_table_scan_size;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;

-- settings of the role that asks decide nothing of the rows: they are those of the owner's session when the view was registered
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_shop;
CREATE TABLE clicks (customer_id int NOT NULL, at timestamptz NOT NULL CHECK (at BETWEEN '2000-01-01' AND '2100-01-01'));
INSERT INTO clicks SELECT i % 100, timestamptz '2026-01-01 00:00+00' + i * interval '1 hour' FROM generate_series(0, 239) i;
SET timezone = 'UTC';
CREATE VIEW days AS SELECT customer_id, at::date AS day FROM clicks;
DO $$
BEGIN
    PERFORM dp.create_dataset('days', 'days', unit => 'customer_id', same_cap_as => 'sales', max_rows => 3);
    PERFORM dp.add_edges('days', 'day', array_agg(t::date)) FROM generate_series(timestamp '2026-01-01', '2026-01-11', '1 day') t;
END $$;
SET SESSION AUTHORIZATION regress_ann;
SET timezone = 'Pacific/Auckland';
SET datestyle = 'German';
SELECT counts('days', '{day}');
RESET timezone;
SET datestyle = 'ISO';

-- an outer join has a row for each order, and one for a customer without: the tables bound its rows
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_shop;
CREATE VIEW with_orders AS SELECT c.customer_id, c.country, o.placed FROM customers c LEFT JOIN orders o USING (customer_id);
DO $$
BEGIN
    PERFORM dp.create_dataset('with_orders', 'with_orders', unit => 'customer_id', same_cap_as => 'sales', max_rows => 6);
    PERFORM dp.add_attribute('with_orders', 'country', ARRAY['at', 'de', 'fr', 'it']);
END $$;
GRANT SELECT ON with_orders TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SELECT counts('with_orders', '{country}') = (SELECT string_agg(n::text, ' ' ORDER BY country) FROM (SELECT country, count(*) AS n FROM with_orders GROUP BY country) w) AS left_join;

-- a view that multiplies rows: of a customer the rows of so many cells are read, and of these so many count
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_shop;
CREATE VIEW orders_of AS SELECT customer_id FROM orders;
GRANT SELECT ON orders_of TO regress_ann;
CREATE VIEW pairs AS SELECT a.customer_id, a.placed, b.placed - a.placed AS days FROM orders a JOIN orders b ON b.customer_id = a.customer_id;
DO $$
BEGIN
    PERFORM dp.create_dataset('pairs', 'pairs', unit => 'customer_id', same_cap_as => 'sales', max_rows => 40, max_rows_read => 2);
    PERFORM dp.add_edges('pairs', 'placed', array_agg(t)) FROM generate_series(timestamp '2026-01-01', '2026-04-01', '1 day') t;
    PERFORM dp.add_attribute('pairs', 'days', 0, 100, 2, outside => 'drop');
END $$;
GRANT SELECT ON pairs TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
-- cells of one attribute are the days of orders: a customer has five or six of them, and as many pairs on each
SELECT round(estimate) = (SELECT sum(n * 2) FROM (SELECT count(*) AS n FROM orders_of GROUP BY customer_id) o) AS two_cells
  FROM (SELECT sum(round(estimate)) AS estimate FROM dp.histogram('pairs', 'placed', epsilon => 4000)) h;
SELECT refused($$SELECT * FROM dp.fit('pairs', 'linear_regression', 'days', ARRAY['placed'], epsilon => 1)$$);

-- what is paid once is replayed
SELECT counts('sales', '{country,category}') IS NOT NULL AS again, (SELECT count(*) FROM dp.charges) = (SELECT count(DISTINCT charge) FROM dp.charges) AS once;
SELECT dataset, count(*) > 0 AS charged FROM dp.charges GROUP BY dataset ORDER BY dataset;
RESET SESSION AUTHORIZATION;
SELECT * FROM dp.verify_ledger('sales');

-- partitions, and a table with children
SET SESSION AUTHORIZATION regress_shop;
CREATE TABLE stays (stay_id int, patient int NOT NULL, ward int NOT NULL, days int NOT NULL CHECK (days BETWEEN 0 AND 400), PRIMARY KEY (stay_id)) PARTITION BY RANGE (stay_id);
CREATE TABLE stays_1 PARTITION OF stays FOR VALUES FROM (0) TO (300);
CREATE TABLE stays_2 PARTITION OF stays DEFAULT;
CREATE TABLE wards (ward int PRIMARY KEY, name text COLLATE "C" NOT NULL);
GRANT SELECT ON wards TO PUBLIC;
INSERT INTO wards SELECT i, 'ward ' || i FROM generate_series(1, 5) i;
INSERT INTO stays SELECT i, i % 130, 1 + i % 5, i % 17 FROM generate_series(1, 600) i;
CREATE VIEW ward_stays AS SELECT s.patient, s.days, w.name FROM stays s JOIN wards w USING (ward);
DO $$
BEGIN
    PERFORM dp.create_dataset('stays', 'ward_stays', 1e5, unit => 'patient', max_rows => 6, accounting => 'pure');
    PERFORM dp.add_attribute('stays', 'name', ARRAY['ward 1', 'ward 2', 'ward 3', 'ward 4', 'ward 5']);
    PERFORM dp.add_attribute('stays', 'days', 0, 17, 17, last => 'open');
    PERFORM dp.grant_budget('stays', 'regress_ann', 9e4);
    PERFORM dp.expose('stays', 'public.stays_v');
END $$;
GRANT SELECT ON stays_v, ward_stays TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SELECT same('SELECT name, count(*) FROM R WHERE days >= 5 GROUP BY name', 'stays_v', 'ward_stays');

-- a materialized view is read like a table
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_shop;
CREATE MATERIALIZED VIEW kept AS SELECT patient, ward FROM stays;
SELECT dp.create_dataset('kept', 'kept', 1e5, unit => 'patient', max_rows => 6, accounting => 'pure');
SELECT dp.add_attribute('kept', 'ward', 1, 6, 5, last => 'open');
SELECT dp.grant_budget('kept', 'regress_ann', 9e4);
-- keys that nobody has listed, of a view
CREATE VIEW named AS SELECT s.patient, w.name FROM stays_2 s JOIN wards w USING (ward);
SELECT refused($$SELECT dp.create_dataset('named', 'named', 1e5, delta => 1e-5, unit => 'patient', max_rows => 4)$$);
SELECT dp.drop_dataset('stays');
SELECT dp.create_dataset('named', 'named', 1e5, delta => 1e-5, unit => 'patient', max_rows => 4);
-- it begins with what the table under it lost as part of another view
SELECT function, epsilon_left < 1e5 AS counted FROM dp.charges, dp.datasets WHERE charges.dataset = 'named' AND datasets.dataset = 'named';
SELECT dp.add_attribute('named', 'name', open => true);
SELECT dp.grant_budget('named', 'regress_ann', 1e4);
SET SESSION AUTHORIZATION regress_ann;
SELECT counts('kept', '{ward}');
SELECT key, round(estimate) FROM dp.keys('named', 'name', epsilon => 1e4) ORDER BY key;
RESET SESSION AUTHORIZATION;
\t off
SET client_min_messages = error;
DROP EXTENSION pg_epsilon CASCADE;
DROP OWNED BY regress_shop, regress_ann, regress_stranger CASCADE;
DROP FUNCTION refused, rows_of, same;
DROP ROLE regress_shop, regress_ann, regress_stranger;
