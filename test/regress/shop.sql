\set ECHO none
-- What the tests of views share: a shop of several tables, its owner, an analyst and a stranger who may read the tables.
CREATE ROLE regress_shop;
CREATE ROLE regress_ann;
CREATE ROLE regress_stranger;
GRANT CREATE ON SCHEMA public TO regress_shop, regress_ann, regress_stranger;
SET SESSION AUTHORIZATION regress_shop;
CREATE TABLE products (product_id int PRIMARY KEY, category text COLLATE "C" NOT NULL, price int NOT NULL CHECK (price BETWEEN 0 AND 1000));
CREATE TABLE customers (customer_id int PRIMARY KEY, country text COLLATE "C" NOT NULL, born int NOT NULL CHECK (born BETWEEN 1900 AND 2020));
CREATE TABLE orders (order_id int PRIMARY KEY, customer_id int NOT NULL REFERENCES customers, placed date NOT NULL CHECK (placed BETWEEN '2000-01-01' AND '2100-01-01'));
CREATE TABLE lines (order_id int NOT NULL REFERENCES orders, product_id int NOT NULL REFERENCES products, qty int NOT NULL CHECK (qty BETWEEN 0 AND 100));
GRANT SELECT ON products TO PUBLIC;
GRANT SELECT ON customers, orders, lines TO regress_stranger;
INSERT INTO products SELECT i, (ARRAY['food', 'toys', 'books'])[1 + i % 3], i * 7 % 100 FROM generate_series(1, 30) i;
INSERT INTO customers SELECT i, (ARRAY['at', 'de', 'fr', 'it'])[1 + i % 4], 1940 + i % 60 FROM generate_series(1, 400) i;
INSERT INTO orders SELECT i, 1 + i * 7 % 397, date '2026-01-01' + i % 90 FROM generate_series(1, 2000) i;
INSERT INTO lines SELECT 1 + i * 31 % 2000, 1 + i % 30, i % 5 FROM generate_series(1, 6000) i;
-- a line belongs to a customer through its order
CREATE VIEW sales AS
    SELECT o.customer_id, c.country, o.placed, p.category, l.qty, l.qty * p.price AS paid
      FROM lines l JOIN orders o USING (order_id) JOIN customers c USING (customer_id) JOIN products p USING (product_id);
-- one row for each customer
CREATE VIEW facts AS
    SELECT c.customer_id, c.country, c.born, coalesce(f.orders, 0) AS orders, f.first
      FROM customers c LEFT JOIN (SELECT customer_id, count(*) AS orders, min(placed) AS first FROM orders GROUP BY customer_id) f USING (customer_id);
RESET SESSION AUTHORIZATION;
\set ECHO all
