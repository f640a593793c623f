-- Views as datasets: what may be registered, what is kept, what is looked at again at every request, and caps that are shared.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
\set shop :here /test/regress/shop.sql
\i :shop
SET datestyle = 'ISO';
\t on
-- What a request of the analyst says, and whether it was charged.
CREATE FUNCTION asked(dataset text, attribute text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    before bigint := (SELECT count(*) FROM dp.charges);
    said text := refused(format('SELECT * FROM dp.histogram(%L, %L, epsilon => 1, fresh => true)', dataset, attribute));
BEGIN
    RETURN CASE WHEN (SELECT count(*) FROM dp.charges) > before THEN 'charged, ' ELSE 'free, ' END || split_part(said, E'\n    HINT', 1);
END $$;
GRANT EXECUTE ON FUNCTION asked(text, text), refused(text) TO PUBLIC;
CREATE ROLE regress_writer;

-- What is refused of arguments
SET SESSION AUTHORIZATION regress_shop;
SET client_min_messages = warning;
SELECT refused($$SELECT dp.create_dataset('d', 'sales', unit => 'customer_id')$$);
SELECT refused($$SELECT dp.create_dataset('d', 'sales', 1, unit => 'customer_id', same_cap_as => 'd')$$);
SELECT refused($$SELECT dp.create_dataset('d', 'sales', unit => 'customer_id', same_cap_as => 'nobody')$$);
SELECT refused($$SELECT dp.create_dataset('d', 'sales', 1)$$);
SELECT refused($$SELECT dp.create_dataset('d', 'sales', 1, unit => 'category')$$);
SELECT refused($$SELECT dp.create_dataset('d', 'sales', 1, neighbours => 'values', private_column => 'qty', max_change => 1)$$);
SELECT refused($$SELECT dp.create_dataset('d', 'sales', 1, unit => 'customer_id', block => '1 month', block_column => 'placed', max_blocks => 1)$$);
SELECT refused($$SELECT dp.create_dataset('d', 'sales', 1, unit => 'customer_id', max_rows_read => 0)$$);
SELECT refused($$SELECT dp.create_dataset('d', 'sales', 1, unit => 'customer_id', max_rows_read => 5)$$);
SELECT refused($$SELECT dp.create_dataset('d', 'sales', 1, unit => 'customer_id', public_tables => '{NULL}')$$);
SELECT refused($$SELECT dp.create_dataset('d', 'sales', 1, unit => 'customer_id', keys => '{lines to orders}')$$);
SELECT refused($$SELECT dp.create_dataset('d', 'orders', 1, unit => 'customer_id', public_tables => '{products}')$$);
SELECT refused($$SELECT dp.create_dataset('d', 'orders', 1, unit => 'customer_id', never_fails => true)$$);
CREATE TEMPORARY VIEW short AS SELECT * FROM sales;
SELECT refused($$SELECT dp.create_dataset('d', 'short', 1, unit => 'customer_id')$$);
-- rows of a customer that two joins side by side multiply
CREATE VIEW pairs AS SELECT a.customer_id, a.placed, b.placed AS other FROM orders a JOIN orders b ON b.customer_id = a.customer_id;
SELECT refused($$SELECT dp.create_dataset('d', 'pairs', 1, unit => 'customer_id')$$);
RESET client_min_messages;

-- What is registered, and what is said of it
SELECT dp.create_dataset('sales', 'sales', 1e4, delta => 1e-6, unit => 'customer_id', max_rows => 24);
SELECT dp.create_dataset('facts', 'facts', unit => 'customer_id', same_cap_as => 'sales', max_rows => 1);
SELECT dp.create_dataset('pairs', 'pairs', unit => 'customer_id', same_cap_as => 'facts', max_rows => 10, max_rows_read => 50);
SET client_min_messages = warning;
SELECT dp.add_attribute('sales', 'country', ARRAY['at', 'de', 'fr', 'it']), dp.add_attribute('facts', 'country', ARRAY['at', 'de', 'fr', 'it']);
SELECT dp.add_edges('pairs', 'placed', ARRAY['2026-01-01', '2026-03-01', '2026-05-01']::date[]);
SELECT dp.grant_budget('facts', 'regress_ann', 1e3);
SELECT * FROM dp.describe('sales');
SELECT * FROM dp.describe('pairs');
SELECT dataset, unit, max_rows, round(epsilon_left) AS epsilon_left FROM dp.datasets ORDER BY dataset;
SELECT dataset, role, epsilon FROM dp.budgets ORDER BY dataset;
SELECT jsonb_pretty(dp.disclosure('pairs') -> 'tables'), dp.disclosure('pairs') -> 'max_rows_read', dp.disclosure('pairs') -> 'cap_shared_by', dp.disclosure('pairs') -> 'words_of_owner';

-- One cap: a question of one of them spends of all
SET SESSION AUTHORIZATION regress_ann;
SELECT asked('sales', 'country'), asked('facts', 'country'), asked('pairs', 'placed');
SELECT dataset, role, round(rho_spent::numeric, 3) AS rho_spent FROM dp.budgets ORDER BY dataset;
SELECT dataset, function FROM dp.charges ORDER BY charge;
SET SESSION AUTHORIZATION regress_shop;
SELECT dataset, epsilon_left < 1e4 AS counted FROM dp.datasets ORDER BY dataset;
SELECT ok, charges, message FROM dp.verify_ledger('sales');
SELECT ok, charges, message FROM dp.verify_ledger('facts');
SELECT refused($$SELECT dp.drop_dataset('sales')$$);

-- A table has one cap, and one rule in it
SELECT refused($$SELECT dp.create_dataset('orders', 'orders', 1, unit => 'customer_id')$$);
SELECT refused($$SELECT dp.create_dataset('orders', 'orders', unit => 'order_id', same_cap_as => 'sales')$$);
SELECT refused($$SELECT dp.create_dataset('orders', 'orders', same_cap_as => 'sales')$$);
SELECT refused($$SELECT dp.create_dataset('orders', 'orders', unit => 'placed', same_cap_as => 'sales')$$);
SELECT refused($$SELECT dp.create_dataset('orders', 'orders', unit => 'customer_id', same_cap_as => 'sales', accounting => 'pure')$$);
SELECT refused($$SELECT dp.create_dataset('orders', 'orders', unit => 'customer_id', same_cap_as => 'sales', neighbours => 'substitute')$$);
SELECT refused($$SELECT dp.create_dataset('orders', 'orders', unit => 'customer_id', same_cap_as => 'sales', delta => 1e-4)$$);
SELECT dp.create_dataset('orders', 'orders', unit => 'customer_id', same_cap_as => 'sales', max_rows => 6);
SELECT dp.drop_dataset('orders');
CREATE VIEW by_order AS SELECT order_id, count(*) AS lines FROM lines GROUP BY order_id;
SELECT refused($$SELECT dp.create_dataset('by_order', 'by_order', 1, unit => 'order_id')$$);
SELECT refused($$SELECT dp.create_dataset('by_order', 'by_order', unit => 'order_id', same_cap_as => 'sales')$$);
-- what is private somewhere is public nowhere, and the reverse
CREATE TABLE notes (note_id int PRIMARY KEY, customer_id int NOT NULL, product_id int NOT NULL);
CREATE VIEW with_orders AS SELECT n.customer_id, o.placed FROM notes n JOIN orders o ON o.order_id = n.note_id;
CREATE VIEW with_products AS SELECT n.customer_id, p.category FROM notes n JOIN products p USING (product_id);
SELECT refused($$SELECT dp.create_dataset('d', 'with_orders', 1, unit => 'customer_id', public_tables => '{orders}')$$);
SELECT refused($$SELECT dp.create_dataset('d', 'products', 1, unit => 'product_id')$$);
SELECT dp.create_dataset('notes', 'with_products', 1, unit => 'customer_id');
SELECT dp.drop_dataset('notes');

-- A stranger who may read the tables puts no cap on them, and keeps nobody from one
SET SESSION AUTHORIZATION regress_stranger;
CREATE VIEW seen AS SELECT customer_id, placed FROM orders;
SELECT refused($$SELECT dp.create_dataset('mine', 'seen', 1, unit => 'customer_id')$$);
SELECT refused($$SELECT dp.create_dataset('mine', 'sales', 1, unit => 'customer_id')$$);
SELECT refused($$SELECT dp.create_dataset('mine', 'orders', unit => 'customer_id', same_cap_as => 'sales')$$);
CREATE TABLE own (id int PRIMARY KEY, customer_id int NOT NULL);
CREATE VIEW around AS SELECT o.id, n.product_id FROM own o JOIN public.notes n ON n.note_id = o.customer_id;
RESET SESSION AUTHORIZATION;
GRANT SELECT ON notes TO regress_stranger;
SET SESSION AUTHORIZATION regress_stranger;
SELECT dp.create_dataset('around', 'around', 1, unit => 'id', public_tables => '{notes}');
SELECT dp.add_attribute('around', 'product_id', 0, 40, 4, last => 'open'), dp.grant_budget('around', 'regress_ann', 1);
SET SESSION AUTHORIZATION regress_ann;
SELECT asked('around', 'product_id');
SET SESSION AUTHORIZATION regress_shop;
SELECT dp.create_dataset('notes', 'notes', 1, unit => 'customer_id');
SET SESSION AUTHORIZATION regress_ann;
SELECT asked('around', 'product_id');
SET SESSION AUTHORIZATION regress_shop;
SELECT dp.drop_dataset('notes');

-- A role that may change one of the tables may not ask, be it public
GRANT INSERT ON products TO regress_writer;
RESET SESSION AUTHORIZATION;
GRANT regress_writer TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SELECT asked('sales', 'country'), asked('facts', 'country');
RESET SESSION AUTHORIZATION;
REVOKE regress_writer FROM regress_ann;

-- Everything that the proof rests on, changed behind it: refused before the charge.  Then it is as before, or taken as it is.
\set ask 'SET SESSION AUTHORIZATION regress_ann; SELECT asked(''sales'', ''country''), asked(''facts'', ''country''); SET SESSION AUTHORIZATION regress_shop;'
SET SESSION AUTHORIZATION regress_shop;
-- the view
CREATE OR REPLACE VIEW sales AS SELECT o.customer_id, c.country, o.placed, p.category, l.qty, l.qty * p.price AS paid
  FROM lines l JOIN orders o USING (order_id) JOIN customers c USING (customer_id) JOIN products p USING (product_id) WHERE l.qty > 0;
:ask
SELECT dp.new_version('sales');
:ask
-- NOT NULL
ALTER TABLE orders ALTER customer_id DROP NOT NULL;
:ask
ALTER TABLE orders ALTER customer_id SET NOT NULL;
:ask
-- a check
ALTER TABLE lines DROP CONSTRAINT lines_qty_check;
:ask
ALTER TABLE lines ADD CONSTRAINT lines_qty_check CHECK (qty BETWEEN 0 AND 100);
:ask
-- a foreign key
ALTER TABLE lines DROP CONSTRAINT lines_order_id_fkey;
:ask
SELECT refused($$SELECT dp.new_version('sales')$$);
ALTER TABLE lines ADD CONSTRAINT lines_order_id_fkey FOREIGN KEY (order_id) REFERENCES orders;
SELECT dp.new_version('sales');
:ask
-- a unique index, which goes with the foreign keys to it
ALTER TABLE products DROP CONSTRAINT products_pkey CASCADE;
:ask
-- one of another operator class, for which 1 and -1 are equal, knows other values once
RESET SESSION AUTHORIZATION;
CREATE FUNCTION compared(int, int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT btint4cmp(abs($1), abs($2))';
CREATE OPERATOR CLASS of_size FOR TYPE int USING btree AS OPERATOR 3 pg_catalog.=, FUNCTION 1 compared(int, int);
SET SESSION AUTHORIZATION regress_shop;
CREATE UNIQUE INDEX one_of_size ON products (product_id of_size);
:ask
SELECT refused($$SELECT dp.new_version('sales')$$);
DROP INDEX one_of_size;
-- the usual class, by its name, is the same promise
CREATE UNIQUE INDEX one_as_usual ON products (product_id int4_ops);
SELECT dp.new_version('sales');
:ask
DROP INDEX one_as_usual;
ALTER TABLE products ADD PRIMARY KEY (product_id);
SELECT dp.new_version('sales');
:ask
RESET SESSION AUTHORIZATION;
DROP OPERATOR FAMILY of_size USING btree;
DROP FUNCTION compared;
SET SESSION AUTHORIZATION regress_shop;
-- a child table
CREATE TABLE more_orders () INHERITS (orders);
:ask
DROP TABLE more_orders;
:ask
-- a privilege: what was private is public, and the reverse
GRANT SELECT ON orders TO PUBLIC;
:ask
REVOKE SELECT ON orders FROM PUBLIC;
REVOKE SELECT ON products FROM PUBLIC;
:ask
GRANT SELECT ON products TO PUBLIC;
:ask
-- row security
ALTER TABLE lines ENABLE ROW LEVEL SECURITY;
:ask
ALTER TABLE lines DISABLE ROW LEVEL SECURITY;
:ask
-- an owner
RESET SESSION AUTHORIZATION;
ALTER TABLE lines OWNER TO regress_stranger;
:ask
RESET SESSION AUTHORIZATION;
ALTER TABLE lines OWNER TO regress_shop;
SET SESSION AUTHORIZATION regress_shop;
GRANT SELECT ON lines TO regress_stranger;
:ask
-- types and collations, by way of a view below
CREATE VIEW below AS SELECT customer_id, country FROM customers;
CREATE VIEW above AS SELECT b.customer_id, b.country FROM below b;
SELECT dp.create_dataset('above', 'above', unit => 'customer_id', same_cap_as => 'sales');
SELECT dp.add_attribute('above', 'country', ARRAY['at', 'de', 'fr', 'it']);
SET SESSION AUTHORIZATION regress_ann;
SELECT asked('above', 'country');
SET SESSION AUTHORIZATION regress_shop;
CREATE OR REPLACE VIEW below AS SELECT customer_id, upper(country) COLLATE "C" AS country FROM customers;
SET SESSION AUTHORIZATION regress_ann;
SELECT asked('above', 'country');
SET SESSION AUTHORIZATION regress_shop;
DROP VIEW below CASCADE;
SET SESSION AUTHORIZATION regress_ann;
SELECT asked('above', 'country');
SET SESSION AUTHORIZATION regress_shop;
SELECT dp.drop_dataset('above');
-- a function of the owner's word
RESET SESSION AUTHORIZATION;
CREATE FUNCTION group_of(year int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT year / 10';
SET SESSION AUTHORIZATION regress_shop;
CREATE VIEW ages AS SELECT customer_id, group_of(born) AS decade FROM customers;
SELECT refused($$SELECT dp.create_dataset('ages', 'ages', unit => 'customer_id', same_cap_as => 'sales')$$);
SELECT dp.create_dataset('ages', 'ages', unit => 'customer_id', same_cap_as => 'sales', functions => '{group_of(int)}');
SELECT dp.add_attribute('ages', 'decade', 190, 210, 20, last => 'open');
SELECT line FROM dp.describe('ages') line WHERE line ~ 'word';
SET SESSION AUTHORIZATION regress_ann;
SELECT asked('ages', 'decade');
RESET SESSION AUTHORIZATION;
CREATE OR REPLACE FUNCTION group_of(year int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT year / 5';
SET SESSION AUTHORIZATION regress_ann;
SELECT asked('ages', 'decade');
SET SESSION AUTHORIZATION regress_shop;
SELECT dp.new_version('ages');
SET SESSION AUTHORIZATION regress_ann;
SELECT asked('ages', 'decade');
SET SESSION AUTHORIZATION regress_shop;
SELECT dp.drop_dataset('ages');

-- Attributes are altered, and a view gives its place to another
SELECT dp.alter_attribute('facts', 'country', ARRAY['at', 'de', 'fr', 'it', 'es']);
SET SESSION AUTHORIZATION regress_ann;
SELECT asked('facts', 'country');
SET SESSION AUTHORIZATION regress_shop;
CREATE VIEW other_facts AS SELECT customer_id, country FROM customers;
SELECT refused($$SELECT dp.move_dataset('facts', 'orders', 'a table')$$);
SELECT dp.move_dataset('facts', 'other_facts', 'without orders');
SET SESSION AUTHORIZATION regress_ann;
SELECT asked('facts', 'country');
SET SESSION AUTHORIZATION regress_shop;
SELECT line FROM dp.describe('facts') line WHERE line ~ ': ';

-- What was spent by a rule binds the cap when the view no longer reads the table
CREATE TABLE cards (card_id int PRIMARY KEY, customer_id int NOT NULL, kind int NOT NULL);
CREATE VIEW card_kinds AS SELECT customer_id, kind FROM cards;
CREATE VIEW by_card AS SELECT card_id, kind FROM cards;
SELECT dp.create_dataset('card_kinds', 'card_kinds', unit => 'customer_id', same_cap_as => 'sales');
SELECT dp.add_attribute('card_kinds', 'kind', 0, 2, 2, last => 'open');
SET SESSION AUTHORIZATION regress_ann;
SELECT asked('card_kinds', 'kind');
SET SESSION AUTHORIZATION regress_shop;
CREATE OR REPLACE VIEW card_kinds AS SELECT customer_id, born AS kind FROM customers;
SELECT dp.new_version('card_kinds');
SET SESSION AUTHORIZATION regress_ann;
SELECT asked('card_kinds', 'kind');
SET SESSION AUTHORIZATION regress_shop;
SELECT refused($$SELECT dp.create_dataset('by_card', 'by_card', unit => 'card_id', same_cap_as => 'sales')$$);
SELECT refused($$SELECT dp.create_dataset('cards', 'cards', unit => 'card_id', same_cap_as => 'sales')$$);
SELECT refused($$SELECT dp.create_dataset('cards', 'cards', 1, unit => 'customer_id')$$);
SELECT dp.drop_dataset('card_kinds');

-- Time: promises of views
SELECT refused($$SELECT dp.set_time('sales', 'placed', append_only => true, enforce => true)$$);
SELECT dp.set_time('sales', 'placed', append_only => true);
CREATE VIEW firsts AS SELECT customer_id, min(placed) AS first FROM orders GROUP BY customer_id;
SELECT dp.create_dataset('firsts', 'firsts', unit => 'customer_id', same_cap_as => 'sales');
SELECT refused($$SELECT dp.set_time('firsts', 'first', append_only => true)$$);
SELECT dp.set_time('firsts', 'first');
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT * FROM dp.create_series('firsts', 's', '{}'::text[], max_periods => 2, epsilon => 1, periods => 3, period => '1 month', start => '2026-01-01')$$);
SELECT series_name, rho_charged > 0 AS charged FROM dp.create_series('sales', 's', '{}'::text[], max_periods => 2, epsilon => 10, periods => 3, period => '1 month', start => '2026-01-01');
SELECT report, count(*) AS answers FROM dp.report('s') GROUP BY report ORDER BY report;
SET SESSION AUTHORIZATION regress_shop;
SELECT refused($$SELECT dp.set_time('pairs', 'placed')$$);

-- Rows that go all at once are told
RESET client_min_messages;
BEGIN;
TRUNCATE lines;
ROLLBACK;
ALTER VIEW sales RENAME TO sold;
ALTER VIEW sold RENAME TO sales;
SET client_min_messages = warning;

-- What was spent stays with the tables
SELECT dp.drop_dataset('facts'), dp.drop_dataset('pairs'), dp.drop_dataset('firsts'), dp.drop_dataset('sales');
SELECT dp.create_dataset('lines_again', 'sales', 1e4, delta => 1e-6, unit => 'customer_id');
SELECT dataset, epsilon_left < 1e4 AS counted FROM dp.datasets WHERE dataset = 'lines_again';
SELECT refused($$SELECT dp.create_dataset('by_order', 'by_order', 1e4, delta => 1e-6, unit => 'order_id')$$);
SELECT dp.drop_dataset('lines_again');
SELECT refused($$SELECT dp.create_dataset('orders', 'orders', 1e4, delta => 1e-6, unit => 'order_id')$$);
SELECT dp.create_dataset('orders', 'orders', 1e4, delta => 1e-6, unit => 'customer_id');
SELECT dataset, epsilon_left < 1e4 AS counted FROM dp.datasets WHERE dataset = 'orders';
SELECT act, dataset, new_value - 'view' - 'owner' FROM dp.acts WHERE act IN ('take_view', 'move_dataset') ORDER BY at;
RESET SESSION AUTHORIZATION;
\t off
SET client_min_messages = error;
DROP EXTENSION pg_epsilon CASCADE;
DROP OWNED BY regress_shop, regress_ann, regress_stranger, regress_writer CASCADE;
DROP FUNCTION refused, asked, group_of;
DROP ROLE regress_shop, regress_ann, regress_stranger, regress_writer;
