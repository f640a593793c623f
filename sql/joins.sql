-- Joins in plain SELECT: tables of dp.expose_tables, which dataset is asked, its rows beside those of the tables, and what is refused.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
CREATE SCHEMA shop AUTHORIZATION regress_curator;
CREATE SCHEMA s AUTHORIZATION regress_ann;
CREATE SCHEMA two AUTHORIZATION regress_ann;
CREATE SCHEMA looks AUTHORIZATION regress_ann;
-- The rows of a statement, and what the same names mean among the tables.
CREATE FUNCTION public.rows_of(query text, path text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    found text;
BEGIN
    PERFORM set_config('search_path', path || ', public', true);
    EXECUTE 'SELECT string_agg(r::text, '' '' ORDER BY r::text COLLATE "C") FROM (' || query || ') r' INTO found;
    RETURN found;
END $$;
CREATE FUNCTION public.truth(query text) RETURNS text LANGUAGE sql SECURITY DEFINER AS $$ SELECT rows_of(query, 'shop') $$;
-- Right, refused, or both answers.
CREATE FUNCTION public.ask(query text, path text DEFAULT 's') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    got text;
    wanted text;
    m text; d text; h text;
BEGIN
    got := rows_of(query, path);
    wanted := truth(query);
    RETURN CASE WHEN got IS NOT DISTINCT FROM wanted THEN 'right: ' || coalesce(left(got, 60), 'no row') ELSE 'WRONG: ' || got || ' instead of ' || wanted END;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS m = MESSAGE_TEXT, d = PG_EXCEPTION_DETAIL, h = PG_EXCEPTION_HINT;
    RETURN sqlstate || ': ' || m || E'\n    ' || d || coalesce(E'\n    ' || nullif(h, ''), '');
END $$;
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_curator;
SET search_path = shop;
CREATE TABLE customers (customer_id int PRIMARY KEY, country text NOT NULL, tier int, ref int);
CREATE TABLE dates (day int PRIMARY KEY, month text NOT NULL);
CREATE TABLE orders (order_id int PRIMARY KEY, customer_id int NOT NULL REFERENCES customers, status text NOT NULL, placed int NOT NULL REFERENCES dates, sent int REFERENCES dates);
CREATE TABLE products (product_id int PRIMARY KEY, category text NOT NULL, noted date);
CREATE TABLE lines (order_id int NOT NULL REFERENCES orders, product_id int, quantity int NOT NULL, tier int, noted date);
INSERT INTO dates SELECT i, (ARRAY['jan', 'feb', 'mar'])[1 + i / 10] FROM generate_series(0, 29) i;
INSERT INTO customers SELECT i, (ARRAY['AT', 'DE', 'FR'])[1 + i % 3], nullif(i % 4, 3), i % 9 FROM generate_series(1, 60) i;
INSERT INTO orders SELECT i, 1 + i % 50, (ARRAY['open', 'paid'])[1 + i % 7 % 2], i % 30, CASE WHEN i % 3 > 0 THEN i * 7 % 30 END FROM generate_series(1, 100) i;
INSERT INTO products SELECT i, (ARRAY['books', 'food', 'toys'])[1 + i % 3] FROM generate_series(1, 20) i;
-- some lines have no product, some one that is not there
INSERT INTO lines SELECT 1 + i % 90, CASE WHEN i % 5 > 0 THEN i % 26 END, 1 + i % 4, nullif(i % 4, 3) FROM generate_series(1, 180) i;
GRANT USAGE ON SCHEMA shop TO PUBLIC;
GRANT SELECT ON products, dates TO PUBLIC;
CREATE VIEW sales AS SELECT o.customer_id, c.country, c.tier, o.status, p.category, l.quantity, l.tier AS line_tier
  FROM lines l JOIN orders o USING (order_id) JOIN customers c USING (customer_id) LEFT JOIN products p USING (product_id);
CREATE VIEW shipping AS SELECT o.customer_id, o.status, a.month AS placed_in, b.month AS sent_in, c.country
  FROM orders o JOIN dates a ON a.day = o.placed LEFT JOIN dates b ON b.day = o.sent JOIN customers c ON c.customer_id = o.customer_id;
SELECT dp.create_dataset('sales', 'sales', epsilon => 1e5, unit => 'customer_id', max_rows => 4);
SELECT dp.add_attribute('sales', 'category', '{books,food,toys}', nulls => 'cell'), dp.add_attribute('sales', 'country', '{AT,DE,FR}'),
    dp.add_attribute('sales', 'status', '{open,paid}'), dp.add_attribute('sales', 'quantity', 1, 6, bins => 5, last => 'open'),
    dp.add_attribute('sales', 'tier', '{0,1,2}', nulls => 'cell'), dp.add_attribute('sales', 'line_tier', '{0,1,2}', nulls => 'cell');
SELECT dp.create_dataset('shipping', 'shipping', unit => 'customer_id', max_rows => 2, same_cap_as => 'sales');
SELECT dp.add_attribute('shipping', 'status', '{open,paid}'), dp.add_attribute('shipping', 'placed_in', '{jan,feb,mar}'),
    dp.add_attribute('shipping', 'sent_in', '{jan,feb,mar}', nulls => 'cell'), dp.add_attribute('shipping', 'country', '{AT,DE,FR}');
SELECT dp.grant_budget('sales', 'regress_ann', epsilon => 9e4);
RESET search_path;

SET SESSION AUTHORIZATION regress_ann;
SET pg_epsilon.epsilon = 1000;
\t on

-- Who may read nothing of the tables makes relations that answer
SELECT refused('SELECT count(*) FROM shop.orders');
SELECT dp.expose_tables('sales', 's');
SELECT relname, attname, format_type(atttypid, atttypmod), col_description(attrelid, attnum) FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
 WHERE relnamespace = 's'::regnamespace AND attnum > 0 ORDER BY 1, attnum;
SELECT obj_description('s.lines'::regclass);

-- Inner joins: USING, ON, comma; any order; three and more tables; those that the dataset has beside them
SELECT ask('SELECT status, count(*) FROM lines JOIN orders USING (order_id) GROUP BY status');
SELECT ask('SELECT status, count(*) FROM orders o JOIN lines l ON o.order_id = l.order_id GROUP BY status');
SELECT ask('SELECT country, round(sum(quantity) / 40.0) AS s FROM lines l, orders o, customers c WHERE l.order_id = o.order_id AND c.customer_id = o.customer_id GROUP BY country');
SELECT ask('SELECT country, count(*) FROM customers JOIN (orders JOIN lines USING (order_id)) USING (customer_id) WHERE status = ''open'' GROUP BY country HAVING count(*) > 20 ORDER BY 2 DESC LIMIT 2');
SELECT ask('SELECT count(*) FILTER (WHERE status = ''open'' AND country = ''AT'') AS a, round(sum(CASE WHEN country = ''DE'' THEN quantity ELSE 0 END) / 40.0) AS b FROM lines NATURAL JOIN orders JOIN customers USING (customer_id)');
SELECT ask('SELECT c.country, trunc(avg(q)) FROM (SELECT l.quantity AS q, o.customer_id FROM lines l JOIN orders o USING (order_id)) x JOIN customers c USING (customer_id) GROUP BY c.country');
SELECT ask('WITH x AS (SELECT * FROM orders WHERE status = ''paid'') SELECT country, count(*) FROM lines JOIN x USING (order_id) JOIN customers USING (customer_id) GROUP BY ROLLUP (country)');
SELECT ask('SELECT DISTINCT country FROM lines JOIN orders USING (order_id) JOIN customers USING (customer_id)');
SELECT ask('SELECT o.status, c.status, o.n + c.n AS n FROM (SELECT status, count(*) AS n FROM lines JOIN orders USING (order_id) GROUP BY 1) o JOIN (SELECT status, count(*) AS n FROM lines JOIN orders USING (order_id) GROUP BY 1) c ON c.status = o.status');
-- One table by itself: the spine
SELECT ask('SELECT count(*), round(sum(quantity) / 40.0) AS s FROM lines');
SELECT ask('SELECT quantity, count(*) FROM lines WHERE quantity < 3 GROUP BY quantity');
-- Units, by each column that is the unit
SELECT ask('SELECT count(DISTINCT o.customer_id) FROM lines JOIN orders o USING (order_id)');
SELECT ask('SELECT count(DISTINCT c.customer_id), count(c.customer_id) FROM lines JOIN orders USING (order_id) JOIN customers c USING (customer_id)');

-- Outer joins: orphans stay, and a test that they do not meet makes it an inner one
SELECT ask('SELECT category, count(*), count(category) FROM lines LEFT JOIN products USING (product_id) GROUP BY category');
SELECT ask('SELECT category, count(*) FROM products p RIGHT JOIN lines l ON p.product_id = l.product_id GROUP BY category');
SELECT ask('SELECT count(*) FROM lines LEFT JOIN products USING (product_id) WHERE category = ''food''');
SELECT ask('SELECT count(*) FROM lines LEFT JOIN products USING (product_id) WHERE category IS NULL');
SELECT ask('SELECT count(*) FROM lines LEFT JOIN products USING (product_id) WHERE category IS DISTINCT FROM ''food''');
SELECT ask('SELECT count(*) FROM lines LEFT JOIN products USING (product_id) WHERE coalesce(category, ''none'') = ''none''');
SELECT ask('SELECT count(*) FROM lines JOIN products USING (product_id) WHERE category IN (''food'', ''toys'')');
-- A foreign key says that all have one: inner and outer are the same
SELECT ask('SELECT status, count(*) FROM lines LEFT JOIN orders USING (order_id) GROUP BY status');
-- An inner join that loses orphans is no join of the dataset, where nothing tests for them
SELECT ask('SELECT count(*) FROM lines JOIN products USING (product_id)');
SELECT ask('SELECT count(*) FROM lines JOIN products USING (product_id) WHERE category IS DISTINCT FROM ''food''');
-- Other conditions in ON of the optional side
SELECT ask('SELECT count(category) FROM lines LEFT JOIN products ON products.product_id = lines.product_id AND category = ''food''');
SELECT ask('SELECT count(category) FROM lines LEFT JOIN products ON products.product_id = lines.product_id AND quantity > 1');
-- for which reason, majors of PostgreSQL differ
SELECT left(ask('SELECT count(category) FROM lines LEFT JOIN (SELECT * FROM products WHERE category = ''food'') p USING (product_id)'), 5);
SELECT ask('SELECT c, count(*) FROM lines LEFT JOIN (SELECT product_id, coalesce(category, ''none'') AS c FROM products) p USING (product_id) GROUP BY c');
SELECT ask('SELECT count(*) FROM lines LEFT JOIN products USING (product_id) WHERE products.product_id IS NULL');
SELECT ask('SELECT count(*) FROM lines LEFT JOIN products ON true');

-- Groups that no part of an OR leaves are not shown
SELECT ask('SELECT status, country, count(*) FROM lines JOIN orders USING (order_id) JOIN customers USING (customer_id) WHERE (status = ''open'' AND country = ''AT'') OR (country = ''DE'' AND status = ''open'') GROUP BY 1, 2');
SELECT ask('SELECT country, count(*) FROM lines JOIN orders USING (order_id) JOIN customers USING (customer_id) WHERE (status = ''open'' AND country = ''AT'') OR (country = ''DE'' AND status = ''paid'') GROUP BY 1');
SELECT ask('SELECT country, count(*) FROM lines JOIN orders USING (order_id) JOIN customers USING (customer_id) WHERE quantity > 2 OR (country = ''DE'' AND status = ''open'') GROUP BY 1');

-- IN and EXISTS of what is looked up; not of what multiplies
SELECT ask('SELECT count(*) FROM lines WHERE product_id IN (SELECT product_id FROM products WHERE category = ''food'')');
SELECT ask('SELECT status, count(*) FROM lines l JOIN orders USING (order_id) WHERE EXISTS (SELECT FROM products p WHERE p.product_id = l.product_id AND p.category < ''g'') GROUP BY status');
SELECT ask('SELECT count(*) FROM orders WHERE order_id IN (SELECT order_id FROM lines)');
SELECT ask('SELECT count(*) FROM lines WHERE product_id NOT IN (SELECT product_id FROM products)');
SELECT ask('SELECT count(*) FROM lines l WHERE NOT EXISTS (SELECT FROM products p WHERE p.product_id = l.product_id)');

-- What is refused, with what would answer
SELECT ask('SELECT count(*) FROM orders');
SELECT ask('SELECT count(*) FROM products');
SELECT ask('SELECT country, status, count(*) FROM orders JOIN customers USING (customer_id) GROUP BY 1, 2');
SELECT ask('SELECT count(*) FROM lines JOIN orders ON lines.product_id = orders.order_id');
SELECT ask('SELECT count(*) FROM lines a JOIN lines b USING (order_id)');
SELECT ask('SELECT count(*) FROM lines, orders');
SELECT ask('SELECT count(*) FROM lines FULL JOIN orders USING (order_id)');
SELECT ask('SELECT count(*) FROM lines l JOIN orders o ON l.order_id = o.order_id OR l.order_id = 5');
SELECT ask('SELECT count(*) FROM lines l JOIN orders o ON l.order_id = o.order_id + 0');
SELECT ask('SELECT count(*) FROM lines l JOIN orders o ON l.order_id::text = o.order_id::text');
SELECT ask('SELECT count(*) FROM lines JOIN pg_class ON relpages = order_id');
SELECT ask('SELECT count(*) FROM lines JOIN (VALUES (1)) v(order_id) USING (order_id)');
SELECT ask('SELECT count(*) FROM lines l, LATERAL (SELECT 1 FROM orders o WHERE o.order_id = l.order_id LIMIT 1) x');
SELECT ask('SELECT (SELECT count(*) FROM orders o WHERE o.order_id = l.order_id) AS n, count(*) FROM lines l GROUP BY 1');
SELECT ask('SELECT * FROM lines JOIN orders USING (order_id)');
SELECT ask('SELECT count(o.*) FROM lines JOIN orders o USING (order_id)');
SELECT ask('SELECT a.category, count(*) FROM products a JOIN products b USING (product_id) GROUP BY 1');
SELECT ask('SELECT o.customer_id, status, count(*) FROM lines JOIN orders o USING (order_id) WHERE quantity > 1 GROUP BY 1, 2');
SELECT ask('SELECT count(*) FROM customers JOIN orders USING (customer_id) JOIN lines USING (order_id) JOIN products ON products.product_id = customers.customer_id');
-- Keys are for conditions of joins
SELECT ask('SELECT product_id, count(*) FROM lines GROUP BY product_id');
SELECT ask('SELECT count(product_id) FROM lines');
SELECT ask('SELECT count(*) FROM lines JOIN orders USING (order_id) WHERE order_id = 7');
SELECT ask('SELECT count(DISTINCT order_id) FROM lines JOIN orders USING (order_id)');

-- An equality that is none of the dataset's is a test of the row; where cells decide it, it is answered
SELECT ask('SELECT count(*) FROM lines l JOIN orders o USING (order_id) JOIN customers c ON c.customer_id = o.customer_id AND c.tier = l.tier');
SELECT ask('SELECT count(*) FROM lines l JOIN orders o USING (order_id) JOIN customers c USING (customer_id) WHERE c.tier < l.tier');
SELECT ask('SELECT count(*) FROM lines l JOIN orders o USING (order_id) JOIN customers c ON c.customer_id = o.customer_id AND c.tier = l.quantity');

-- Several datasets of a cap: the tables that are joined decide; a dimension that is joined twice is told by its equality
SELECT refused('SELECT count(*) FROM s.dates');
SET client_min_messages = notice;
SELECT dp.expose_tables('shipping', 's');
SET client_min_messages = warning;
SELECT ask('SELECT status, count(*) FROM orders GROUP BY status');
SELECT ask('SELECT country, count(*) FROM orders JOIN customers USING (customer_id) GROUP BY country');
SELECT ask('SELECT country, count(*) FROM lines JOIN orders USING (order_id) JOIN customers USING (customer_id) GROUP BY country');
SELECT ask('SELECT month, count(*) FROM orders JOIN dates ON day = placed GROUP BY month');
SELECT ask('SELECT month, count(*) FROM orders LEFT JOIN dates ON day = sent GROUP BY month');
SELECT ask('SELECT a.month, b.month, count(*) FROM orders JOIN dates a ON a.day = placed LEFT JOIN dates b ON b.day = sent GROUP BY 1, 2');
SELECT ask('SELECT b.month, count(*) FROM dates a, dates b, orders WHERE b.day = placed AND a.day = sent AND a.month = ''jan'' GROUP BY 1');
SELECT ask('SELECT month, count(*) FROM orders JOIN dates ON day = sent GROUP BY month');
SELECT ask('SELECT count(*) FROM orders JOIN dates a ON a.day = placed JOIN dates b ON b.day = placed');
SELECT ask('SELECT a.month, count(*) FROM orders JOIN dates a ON a.day = placed JOIN dates b ON b.day = sent AND a.month = b.month GROUP BY 1');
SELECT ask('SELECT month, count(*) FROM lines JOIN orders USING (order_id) JOIN dates ON day = placed GROUP BY month');

-- Another dataset with the same rows: which of them is meant is not guessed; one with the columns is
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.create_dataset('orders', 'shop.orders', unit => 'customer_id', max_rows => 1, same_cap_as => 'sales');
SELECT dp.add_attribute('orders', 'status', '{open,paid}');
SET SESSION AUTHORIZATION regress_ann;
SELECT ask('SELECT status, count(*) FROM orders GROUP BY status');
SELECT dp.expose_tables('orders', 's');
SELECT ask('SELECT status, count(*) FROM orders GROUP BY status');
SELECT ask('SELECT month, count(*) FROM orders JOIN dates ON day = placed GROUP BY month');
SELECT dp.expose_tables('shipping', 'two');
SELECT ask('SELECT status, count(*) FROM orders GROUP BY status', 'two');
-- Tables of two schemas answer together as far as one dataset is bound to all of them
SELECT count(*) FROM two.orders JOIN s.customers USING (customer_id);
SELECT refused('SELECT count(*) FROM s.lines JOIN s.orders USING (order_id) JOIN two.customers USING (customer_id)');

-- A view that has an equality twice; numbers of numeric(p, s) end a digit below an edge
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE shop.rates (rate_id int PRIMARY KEY, rate numeric(3, 2) NOT NULL);
CREATE TABLE shop.loans (customer_id int NOT NULL, rate_id int NOT NULL);
INSERT INTO shop.rates SELECT i, i / 100.0 FROM generate_series(0, 10) i;
INSERT INTO shop.loans SELECT i, i % 9 FROM generate_series(1, 60) i;
CREATE VIEW shop.loans_rates AS SELECT l.customer_id, r.rate FROM shop.loans l LEFT JOIN shop.rates r ON r.rate_id = l.rate_id AND l.rate_id = r.rate_id;
SELECT dp.create_dataset('loans_rates', 'shop.loans_rates', epsilon => 1e4, unit => 'customer_id', public_tables => '{shop.rates}');
SELECT dp.add_attribute('loans_rates', 'rate', '0', '0.11', bins => 11, last => 'open');
SELECT dp.grant_budget('loans_rates', 'regress_ann', epsilon => 9e3);
SET SESSION AUTHORIZATION regress_ann;
SELECT dp.expose_tables('loans_rates', 's');
SELECT ask('SELECT count(*), count(rate) FROM loans LEFT JOIN rates USING (rate_id)');
SELECT ask('SELECT count(*) FROM loans LEFT JOIN rates USING (rate_id) WHERE rate BETWEEN 0.02 AND 0.05');
SELECT ask('SELECT count(*) FROM loans LEFT JOIN rates ON loans.rate_id = rates.rate_id WHERE rate > 0.055');
SELECT ask('SELECT rate, count(*) FROM loans JOIN rates USING (rate_id) WHERE rate < 0.03 GROUP BY rate');
SELECT ask('SELECT count(*) FROM loans JOIN rates USING (rate_id) WHERE rate > 0.049999 AND 100 * rate < 7');
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.drop_dataset('loans_rates');
SET SESSION AUTHORIZATION regress_ann;

-- A table of many columns; names that are quoted
SET SESSION AUTHORIZATION regress_curator;
DO $$BEGIN EXECUTE (SELECT format('CREATE TABLE shop."Wide" ("Who" int NOT NULL, %s)', string_agg('c' || i || ' int', ', ')) FROM generate_series(1, 400) i); END$$;
INSERT INTO shop."Wide" ("Who", c7) SELECT i, i % 2 FROM generate_series(1, 60) i;
SELECT dp.create_dataset('Wide', 'shop."Wide"', epsilon => 1e4, unit => 'Who', max_rows => 1);
SELECT dp.add_attribute('Wide', 'c7', '{0,1}'), dp.grant_budget('Wide', 'regress_ann', epsilon => 9e3);
SET SESSION AUTHORIZATION regress_ann;
SELECT dp.expose_tables('Wide', 's');
SELECT ask('SELECT c7, count(*) FROM "Wide" GROUP BY c7');
SELECT ask('SELECT "Who", count(*) FROM "Wide" GROUP BY "Who"');
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.drop_dataset('Wide');
SET SESSION AUTHORIZATION regress_ann;

-- EXPLAIN shows the request; a prepared statement is found its dataset anew
SET search_path = s;
EXPLAIN (COSTS OFF) SELECT country, sum(quantity) FROM lines JOIN orders USING (order_id) JOIN customers USING (customer_id) WHERE status = 'open' GROUP BY country;
EXPLAIN (COSTS OFF) SELECT count(*) FROM lines JOIN products USING (product_id);
PREPARE p AS SELECT count(*) FROM s.lines JOIN s.orders USING (order_id) JOIN s.customers c USING (customer_id) WHERE c.country = 'AT';
EXECUTE p;
RESET search_path;
-- A view over them, and another owner's
CREATE VIEW two.v AS SELECT o.status, c.country FROM s.lines JOIN s.orders o USING (order_id) JOIN s.customers c USING (customer_id);
SELECT count(*) FROM two.v WHERE country = 'AT';

-- A cube is one relation
SELECT part, hint FROM dp.advise_cube('sales', '{SELECT status\, count(*) FROM s.lines JOIN s.orders USING (order_id) GROUP BY status,SELECT count(*) FROM s.lines}');

-- IN with a SELECT that has groups: the view of the hint is made as it is printed, and is right
CREATE FUNCTION two.hint_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    h text;
BEGIN
    PERFORM set_config('search_path', 's', true);
    EXECUTE query;
    RETURN 'answered';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS h = PG_EXCEPTION_HINT;
    RETURN substring(h FROM 'CREATE VIEW.*same_cap_as => [^)]*\)');
END $$;
CREATE TEMP TABLE hints AS SELECT two.hint_of('SELECT order_id, customer_id, max(placed), sum(quantity), count(*) FROM lines l JOIN orders o USING (order_id) WHERE order_id IN (SELECT order_id FROM lines GROUP BY order_id HAVING sum(quantity) > 5) AND l.tier < 3 GROUP BY order_id, customer_id') AS parts,
    two.hint_of('SELECT status, count(*) FROM orders WHERE order_id IN (SELECT order_id FROM lines WHERE product_id > 3 OR tier IS NULL GROUP BY order_id HAVING count(*) > 1 AND min(quantity) < 3) GROUP BY status') AS rows;
GRANT SELECT ON hints TO PUBLIC;
SELECT ask('SELECT c.customer_id, count(*) FROM customers c, orders o WHERE o.customer_id = c.customer_id AND o.order_id IN (SELECT order_id FROM lines GROUP BY order_id HAVING sum(quantity) > 5) GROUP BY 1');
SELECT ask('SELECT count(*) FROM orders WHERE customer_id IN (SELECT customer_id + 1 FROM orders GROUP BY 1)');
SELECT ask('SELECT count(*) FROM orders JOIN (SELECT order_id FROM lines GROUP BY order_id) l USING (order_id)');
SELECT ask('SELECT count(*) FROM orders JOIN (SELECT order_id FROM lines GROUP BY order_id, tier) l USING (order_id)');
SELECT ask('SELECT count(*) FROM orders WHERE order_id IN (SELECT order_id FROM lines GROUP BY order_id LIMIT 1)');
SELECT ask('SELECT count(*) FROM orders WHERE order_id NOT IN (SELECT order_id FROM lines GROUP BY order_id)');
SELECT ask('SELECT country FROM customers WHERE customer_id IN (SELECT customer_id FROM orders GROUP BY customer_id)');
SET search_path = s;
-- 18 says of such a scan that it is disabled
CREATE FUNCTION two.plan_of(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        IF line !~ 'Disabled' THEN RETURN NEXT line; END IF;
    END LOOP;
END $$;
SELECT * FROM two.plan_of('SELECT count(*) FROM orders WHERE order_id IN (SELECT order_id FROM lines GROUP BY order_id)') AS plan;
RESET search_path;
SELECT unnest(ARRAY[parts, rows]) FROM hints;
SET SESSION AUTHORIZATION regress_curator;
SET search_path = shop, public;
SELECT replace(parts, ', same_cap_as', ', max_rows => 4, same_cap_as') AS parts, replace(rows, ', same_cap_as', ', max_rows => 4, same_cap_as') AS rows FROM hints \gset
:parts;
:rows;
SELECT dp.add_attribute('lines_orders_in', 'a5', 1, 6, bins => 5, last => 'open'), dp.add_attribute('orders_in', 'status', '{open,paid}');
SELECT dp.expose('lines_orders_in', 'shop.parts'), dp.expose('orders_in', 'shop.found_orders');
RESET search_path;
GRANT SELECT ON shop.parts, shop.found_orders TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SELECT a5, count(*) FROM shop.parts GROUP BY a5;
SELECT status, count(*) FROM shop.found_orders GROUP BY status;
SELECT truth('SELECT n, count(*) FROM (SELECT count(*) AS n FROM lines l JOIN orders o USING (order_id) WHERE order_id IN (SELECT order_id FROM lines GROUP BY order_id HAVING sum(quantity) > 5) AND l.tier < 3 GROUP BY o.order_id, customer_id) s GROUP BY 1');
SELECT truth('SELECT status, count(*) FROM orders WHERE order_id IN (SELECT order_id FROM lines WHERE product_id > 3 OR tier IS NULL GROUP BY order_id HAVING count(*) > 1 AND min(quantity) < 3) GROUP BY status');
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.drop_dataset(d) FROM unnest('{lines_orders_in,orders_in}'::text[]) d;
DROP VIEW shop.lines_orders_in, shop.orders_in;
DROP VIEW shop.parts, shop.found_orders;
SET SESSION AUTHORIZATION regress_ann;

-- What is not exposed
SET SESSION AUTHORIZATION regress_curator;
CREATE VIEW shop.facts AS SELECT customer_id, count(*) AS n FROM shop.orders GROUP BY customer_id;
CREATE VIEW shop.paid AS SELECT customer_id, status FROM shop.orders WHERE status = 'paid';
CREATE VIEW shop.found AS SELECT o.customer_id, o.status, d.month FROM shop.orders o LEFT JOIN shop.dates d ON d.day = o.sent WHERE d.day = o.placed;
CREATE VIEW shop.visits AS SELECT c.customer_id, c.country, o.status FROM shop.customers c LEFT JOIN shop.orders o USING (customer_id);
SELECT dp.create_dataset(d, 'shop.' || d, unit => 'customer_id', same_cap_as => 'shipping') FROM unnest(ARRAY['facts', 'paid', 'found', 'visits']) d;
CREATE TABLE shop.other (customer_id int, day int);
SELECT dp.create_dataset('other', 'shop.other', epsilon => 1, unit => 'customer_id');
CREATE VIEW shop.others AS SELECT customer_id, month FROM shop.other JOIN shop.dates USING (day);
SELECT dp.create_dataset('others', 'shop.others', unit => 'customer_id', same_cap_as => 'other');
SET SESSION AUTHORIZATION regress_ann;
SELECT refused('SELECT dp.expose_tables(''facts'', ''s'')');
SELECT refused('SELECT dp.expose_tables(''paid'', ''s'')');
SELECT refused('SELECT dp.expose_tables(''found'', ''s'')');
SELECT refused('SELECT dp.expose_tables(''visits'', ''s'')');
SELECT refused('SELECT dp.expose_tables(''nothing'', ''s'')');
SELECT refused('SELECT dp.expose_tables(''other'', ''nowhere'')');
SELECT refused('SELECT dp.expose_tables(''other'', ''public'')');
SELECT refused('SELECT dp.expose_tables(''others'', ''s'')');
SELECT refused('SELECT dp.expose_tables(NULL, ''s'')');
CREATE VIEW two.other AS SELECT 1;
SELECT refused('SELECT dp.expose_tables(''other'', ''two'')');
SELECT refused('CREATE FOREIGN TABLE two.wrong (a int) SERVER dp OPTIONS (base_table ''shop.orders'')');
SELECT refused('CREATE FOREIGN TABLE two.wrong (a int) SERVER dp OPTIONS (base_table ''shop.orders'', datasets ''{a}'')');
SELECT refused('CREATE FOREIGN TABLE two.wrong (a int) SERVER dp OPTIONS (base_table ''shop.orders'', datasets ''{a,b}'', dataset ''a'')');

-- A dataset whose view is gone hides no other one; what only it answers says so
SET SESSION AUTHORIZATION regress_curator;
BEGIN;
DROP VIEW shop.shipping;
SET LOCAL SESSION AUTHORIZATION regress_ann;
SELECT ask('SELECT country, count(*) FROM lines JOIN orders USING (order_id) JOIN customers USING (customer_id) GROUP BY country');
SELECT ask('SELECT month, count(*) FROM orders JOIN dates ON day = placed GROUP BY month');
ROLLBACK;

-- What is dropped meanwhile: the proof runs again at every request
SET SESSION AUTHORIZATION regress_curator;
BEGIN;
ALTER TABLE shop.orders DROP CONSTRAINT orders_customer_id_fkey;
ALTER TABLE shop.orders ADD FOREIGN KEY (customer_id) REFERENCES shop.customers NOT VALID;
COMMIT;
SELECT dp.new_version('sales'), dp.new_version('shipping');
SET SESSION AUTHORIZATION regress_ann;
SET client_min_messages = notice;
SELECT dp.expose_tables('sales', 's');
SET client_min_messages = warning;
-- customers may be missing now: what does not join them has other rows
SELECT ask('SELECT status, count(*) FROM lines JOIN orders USING (order_id) GROUP BY status');
SELECT ask('SELECT country, count(*) FROM lines JOIN orders USING (order_id) JOIN customers USING (customer_id) GROUP BY country');
SELECT ask('SELECT count(*) FROM lines LEFT JOIN orders USING (order_id) LEFT JOIN customers USING (customer_id)');
SET SESSION AUTHORIZATION regress_curator;
ALTER TABLE shop.orders VALIDATE CONSTRAINT orders_customer_id_fkey;
ALTER TABLE shop.orders ALTER customer_id DROP NOT NULL;
SELECT dp.new_version('sales'), dp.new_version('shipping');
SET SESSION AUTHORIZATION regress_ann;
SET client_min_messages = notice;
SELECT dp.expose_tables('sales', 's');
SET client_min_messages = warning;
SELECT ask('SELECT status, count(*) FROM lines JOIN orders USING (order_id) GROUP BY status');
SET SESSION AUTHORIZATION regress_curator;
ALTER TABLE shop.orders ALTER customer_id SET NOT NULL;
-- an inner join of what the dataset has by an outer one: a column has to say where a row is there
ALTER TABLE shop.products ALTER category DROP NOT NULL;
SELECT dp.new_version('sales'), dp.new_version('shipping');
SET SESSION AUTHORIZATION regress_ann;
SELECT ask('SELECT category, count(*) FROM lines JOIN products USING (product_id) GROUP BY category');
SET SESSION AUTHORIZATION regress_curator;
ALTER TABLE shop.products ALTER category SET NOT NULL;
SELECT dp.new_version('sales');
SET SESSION AUTHORIZATION regress_ann;
SELECT ask('SELECT category, count(*) FROM lines JOIN products USING (product_id) GROUP BY category');
SELECT ask('SELECT count(*) FROM lines JOIN products USING (product_id) JOIN orders USING (order_id) WHERE status = ''paid''');
SET SESSION AUTHORIZATION regress_curator;
SET SESSION AUTHORIZATION regress_ann;
SELECT ask('SELECT status, count(*) FROM lines JOIN orders USING (order_id) GROUP BY status');
EXECUTE p;
SET SESSION AUTHORIZATION regress_curator;
ALTER TABLE shop.products DROP CONSTRAINT products_pkey;
SET SESSION AUTHORIZATION regress_ann;
SELECT ask('SELECT category, count(*) FROM lines LEFT JOIN products USING (product_id) GROUP BY category');
SET SESSION AUTHORIZATION regress_curator;
ALTER TABLE shop.products ADD PRIMARY KEY (product_id);
-- Columns that nobody has listed, of each side of a join
CREATE TABLE shop.brands (brand_id int PRIMARY KEY, brand text NOT NULL);
GRANT SELECT ON shop.brands TO PUBLIC;
CREATE TABLE shop.views (visitor int NOT NULL, brand_id int, page text, spent int NOT NULL);
INSERT INTO shop.brands SELECT i, 'brand ' || i % 5 FROM generate_series(1, 20) i;
INSERT INTO shop.views SELECT i, CASE WHEN i % 9 > 0 THEN 1 + i % 24 END, 'page ' || i % 7, i % 6 FROM generate_series(1, 500) i;
CREATE VIEW shop.looks AS SELECT v.visitor, v.page, v.spent, b.brand FROM shop.views v LEFT JOIN shop.brands b USING (brand_id);
SELECT dp.create_dataset('looks', 'shop.looks', epsilon => 1e5, delta => 1e-5, unit => 'visitor', max_rows => 1, public_tables => '{shop.brands}');
SELECT dp.add_attribute('looks', 'spent', 0, 6, bins => 6, last => 'open'), dp.add_attribute('looks', 'page', open => true), dp.add_attribute('looks', 'brand', open => true);
SELECT dp.grant_budget('looks', 'regress_ann', epsilon => 9e4);
SET SESSION AUTHORIZATION regress_ann;
SELECT dp.expose_tables('looks', 'looks');
SELECT ask('SELECT page, count(*) FROM views GROUP BY page', 'looks');
SELECT ask('SELECT brand, count(*), count(DISTINCT page) AS pages FROM views JOIN brands USING (brand_id) WHERE brand IS NOT NULL GROUP BY brand', 'looks');
SELECT ask('SELECT brand, page, count(*) FROM views v LEFT JOIN brands b ON v.brand_id = b.brand_id WHERE brand <> ''brand 1'' GROUP BY brand, page HAVING count(*) > 5 ORDER BY 3 DESC', 'looks');
SELECT ask('SELECT count(*) FROM views LEFT JOIN brands USING (brand_id) WHERE brand = ''brand 2'' AND page <> ''page 3''', 'looks');
SELECT ask('SELECT count(*) FROM views JOIN brands USING (brand_id) WHERE brand = ''brand 2'' OR page = ''page 3''', 'looks');
SELECT ask('SELECT count(DISTINCT brand), count(DISTINCT page), count(brand) FROM views LEFT JOIN brands USING (brand_id)', 'looks');
SELECT ask('SELECT spent, count(DISTINCT brand) FROM views JOIN brands USING (brand_id) WHERE brand IN (''brand 0'', ''brand 1'') GROUP BY spent', 'looks');
-- rows without a value are in no group, as a NOTICE says
SELECT rows_of('SELECT brand, count(*) FROM views LEFT JOIN brands USING (brand_id) GROUP BY brand', 'looks');
SELECT ask('SELECT count(*) FROM views JOIN brands USING (brand_id) WHERE page = brand', 'looks');
SELECT ask('SELECT a.page, count(*) FROM views a JOIN views b USING (visitor) GROUP BY a.page', 'looks');
SELECT ask('SELECT DISTINCT brand FROM views JOIN brands USING (brand_id)', 'looks');
-- an inner join along a chain of outer ones: the last table says that all are there, and no value of those between has to be declared
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE shop.lands (land_id int PRIMARY KEY, land text NOT NULL);
GRANT SELECT ON shop.lands TO PUBLIC;
INSERT INTO shop.lands VALUES (0, 'north'), (1, 'south');
ALTER TABLE shop.brands ADD land_id int;
UPDATE shop.brands SET land_id = nullif(brand_id % 3, 2);
CREATE VIEW shop.trips AS SELECT v.visitor, v.brand_id, v.spent, b.brand, l.land FROM shop.views v LEFT JOIN shop.brands b USING (brand_id) LEFT JOIN shop.lands l USING (land_id);
SELECT dp.create_dataset('trips', 'shop.trips', unit => 'visitor', max_rows => 1, same_cap_as => 'looks', public_tables => '{shop.brands,shop.lands}');
SELECT dp.add_attribute('trips', 'land', '{north,south}', nulls => 'cell'), dp.add_attribute('trips', 'brand', '{brand 0,brand 1}', nulls => 'cell');
SET SESSION AUTHORIZATION regress_ann;
SELECT dp.expose_tables('trips', 'looks');
SELECT ask('SELECT land, count(*) FROM views JOIN brands USING (brand_id) JOIN lands USING (land_id) GROUP BY land', 'looks');
-- a column that another dataset of these tables has is no key of this one
SELECT ask('SELECT page, count(*) FROM views JOIN brands USING (brand_id) JOIN lands USING (land_id) GROUP BY page', 'looks');
-- a key that nobody has listed, and another such column: a group is a part of a unit
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.add_attribute('trips', 'brand_id', open => true), dp.add_attribute('trips', 'spent', open => true);
SET SESSION AUTHORIZATION regress_ann;
SELECT ask('SELECT brand_id, spent, count(*) FROM views v LEFT JOIN brands USING (brand_id) LEFT JOIN lands USING (land_id) GROUP BY brand_id, spent', 'looks');
SELECT ask('SELECT brand_id, land, count(*) FROM views v JOIN brands USING (brand_id) JOIN lands USING (land_id) GROUP BY brand_id, land', 'looks');
-- NATURAL JOIN of base tables that have a column in common which is not exposed
SELECT ask('SELECT count(*) FROM lines NATURAL JOIN orders NATURAL JOIN customers');
SELECT ask('SELECT count(*) FROM lines NATURAL LEFT JOIN products');
SELECT ask('SELECT count(*) FROM orders JOIN lines USING (order_id) NATURAL LEFT JOIN products');
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.drop_dataset(d) FROM unnest(ARRAY['orders', 'facts', 'paid', 'found', 'visits', 'trips', 'looks']) d;
SELECT dp.drop_dataset('shipping'), dp.drop_dataset('sales');
SET SESSION AUTHORIZATION regress_ann;
SELECT ask('SELECT count(*) FROM lines');
SELECT ask('SELECT count(*) FROM orders');
SELECT refused('SELECT dp.expose_tables(''sales'', ''s'')');

\t off
SET SESSION AUTHORIZATION DEFAULT;
SET client_min_messages = warning;
DROP SCHEMA s, two, shop, looks CASCADE;
DROP FUNCTION ask, truth, rows_of, refused;
DROP EXTENSION pg_epsilon CASCADE;
DROP OWNED BY regress_curator, regress_ann;
DROP ROLE regress_curator, regress_ann;
