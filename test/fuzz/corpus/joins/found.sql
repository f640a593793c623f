-- Faults that were found: a hint that joins the spine of a dataset from below, or takes the unit of a table that loses rows;
-- an ON that has its equality twice; groups that an OR excludes; GROUP BY the unit of a table that is joined.
CREATE TABLE customers (cust int NOT NULL, nation int, country text NOT NULL, tier int, name text, PRIMARY KEY (cust));
CREATE TABLE nations (nation int NOT NULL, region int, nname text, PRIMARY KEY (nation));
CREATE TABLE profiles (cust int NOT NULL, colour text, tier int, PRIMARY KEY (cust));
CREATE TABLE orders (ord int NOT NULL, cust int NOT NULL, status text NOT NULL, name text, PRIMARY KEY (ord));
CREATE TABLE lines (ord int NOT NULL, prod int, qty int NOT NULL, tier int);
CREATE TABLE products (prod int NOT NULL, name text, PRIMARY KEY (prod));
INSERT INTO nations SELECT i, nullif(i % 3, 0), (ARRAY['A', 'B', NULL])[1 + i % 3] FROM generate_series(1, 6) i;
INSERT INTO customers SELECT i, nullif(i % 9, 0), (ARRAY['AT', 'DE', 'FR'])[1 + i % 3], nullif(i % 4, 3), (ARRAY['x', 'y', 'z'])[1 + i % 3] FROM generate_series(1, 24) i;
INSERT INTO profiles SELECT i, (ARRAY['red', 'blue', NULL])[1 + i % 3], i % 3 FROM generate_series(1, 40, 2) i;
INSERT INTO orders SELECT i, 1 + i % 22, (ARRAY['open', 'paid'])[1 + i % 2], (ARRAY['x', NULL, 'z'])[1 + i % 3] FROM generate_series(1, 40) i;
INSERT INTO products SELECT i, (ARRAY['x', NULL, 'z'])[1 + i % 3] FROM generate_series(1, 8) i;
INSERT INTO lines SELECT i, nullif(i % 11, 0), 1 + i % 5, nullif(i % 4, 3) FROM generate_series(1, 40) i;
ALTER TABLE lines ADD CONSTRAINT lines_ord_orders FOREIGN KEY (ord) REFERENCES orders (ord);
GRANT USAGE ON SCHEMA base TO PUBLIC;
GRANT SELECT ON nations, products TO PUBLIC;
CREATE VIEW d1 AS SELECT f.cust, l.qty, l.tier AS l_tier, o.status, f.colour, f.tier AS f_tier, p.name AS p_name FROM lines l JOIN orders o ON o.ord = l.ord JOIN profiles f ON f.cust = o.cust LEFT JOIN products p ON p.prod = l.prod AND l.prod = p.prod;
SELECT dp.create_dataset('d1', 'd1', unit => 'cust', max_rows => 2, epsilon => 1e5);
SELECT dp.add_attribute('d1', 'qty', 1, 6, bins => 5, last => 'open'), dp.add_attribute('d1', 'l_tier', '{0,1,2}', nulls => 'cell'), dp.add_attribute('d1', 'status', '{open,paid}'), dp.add_attribute('d1', 'colour', '{red,blue}', nulls => 'cell'), dp.add_attribute('d1', 'f_tier', '{0,1,2}', nulls => 'cell'), dp.add_attribute('d1', 'p_name', '{x,y,z}', nulls => 'cell');
SELECT dp.grant_budget('d1', 'ann', epsilon => 9.9e4);
SELECT dp.expose_tables('d1', 'desk');
CREATE VIEW d2 AS SELECT c.cust, c.country, c.tier, c.name, n.nname FROM customers c LEFT JOIN nations n ON n.nation = c.nation;
SELECT dp.create_dataset('d2', 'd2', unit => 'cust', same_cap_as => 'd1');
SELECT dp.add_attribute('d2', 'country', '{AT,DE,FR}'), dp.add_attribute('d2', 'tier', '{0,1,2}', nulls => 'cell'), dp.add_attribute('d2', 'name', '{x,y,z}'), dp.add_attribute('d2', 'nname', '{A,B}', nulls => 'cell');
SELECT dp.expose_tables('d2', 'desk');
-- ask
SELECT o.status, count(*), sum(l.qty) FROM lines l JOIN orders o ON o.ord = l.ord GROUP BY o.status
SELECT o.status, f.colour, count(*), sum(l.qty) FROM lines l JOIN orders o ON o.ord = l.ord JOIN profiles f ON f.cust = o.cust GROUP BY o.status, f.colour
SELECT p.name, count(*) FROM profiles f, orders o, lines l LEFT JOIN products p USING (prod) WHERE f.cust = o.cust AND o.ord = l.ord GROUP BY p.name
SELECT p.name, count(*) FROM lines l JOIN orders o ON o.ord = l.ord JOIN profiles f ON f.cust = o.cust LEFT JOIN products p ON p.prod = l.prod AND p.prod = l.prod GROUP BY p.name
SELECT c.country, count(n.nname), count(*) FROM customers c JOIN nations n ON c.nation = n.nation JOIN customers again ON again.cust = c.cust GROUP BY c.country
SELECT p.name, count(*) FROM products p JOIN products again ON again.prod = p.prod GROUP BY p.name
SELECT n.nname, c.country, count(*) FROM customers c LEFT JOIN nations n ON n.nation = c.nation WHERE (n.nname = 'A' AND c.country = 'DE') OR (c.country = 'FR' AND n.nname IS NULL) GROUP BY n.nname, c.country
SELECT o.cust, o.status, count(*) FROM lines l JOIN orders o ON o.ord = l.ord JOIN profiles f ON f.cust = o.cust WHERE l.qty > 1 GROUP BY o.cust, o.status
SELECT n.nname, count(*) FROM customers c LEFT JOIN nations n ON n.nation = c.nation WHERE n.nname IS DISTINCT FROM 'A' GROUP BY ROLLUP(n.nname)
