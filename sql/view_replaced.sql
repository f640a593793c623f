-- Tables under a view that are dropped and made again, and requests that no row is read for, of a view that changed.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET SESSION AUTHORIZATION regress_curator;
SET client_min_messages = warning;
CREATE TABLE p (id int PRIMARY KEY, code int NOT NULL, at date NOT NULL);
INSERT INTO p SELECT i, i % 2, date '2024-01-01' + i FROM generate_series(1, 300) i;
CREATE TABLE lookup (code int PRIMARY KEY, name text NOT NULL);
INSERT INTO lookup VALUES (0, 'a'), (1, 'b');
GRANT SELECT ON lookup TO PUBLIC;
CREATE VIEW v AS SELECT p.id, lookup.name, p.at FROM p JOIN lookup USING (code);
SELECT dp.create_dataset('v', 'v', epsilon => 1000, unit => 'id', max_rows => 1);
SELECT dp.add_attribute('v', 'name', '{a,b}'), dp.add_attribute('v', 'at', date '2024-01-01', date '2024-12-26', bins => 12), dp.set_time('v', 'at');
SELECT dp.grant_budget('v', 'regress_ann', epsilon => 500);
SELECT dp.expose('v', 'shown', epsilon => 1);
GRANT SELECT ON shown TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SET client_min_messages = warning;
SELECT bool_and(abs(estimate - 150) < 5) AS near FROM dp.histogram('v', '{name}', epsilon => 100);

-- a lookup that is made again looks as before, and is another table: the dataset goes on by a move
SET SESSION AUTHORIZATION regress_curator;
DROP TABLE lookup CASCADE;
CREATE TABLE lookup (code int PRIMARY KEY, name text NOT NULL);
INSERT INTO lookup VALUES (0, 'a'), (1, 'b');
GRANT SELECT ON lookup TO PUBLIC;
CREATE VIEW v AS SELECT p.id, lookup.name, p.at FROM p JOIN lookup USING (code);
SELECT dp.move_dataset('v', 'v', 'loaded again');
SET SESSION AUTHORIZATION regress_ann;
SELECT bool_and(abs(estimate - 150) < 5) AS near FROM dp.histogram('v', '{name}', epsilon => 99);

-- of a view that changed nothing is quoted, shown by EXPLAIN as a price, or charged for a series
SET SESSION AUTHORIZATION regress_curator;
CREATE OR REPLACE VIEW v AS SELECT p.id, lookup.name, p.at FROM p JOIN lookup USING (code) WHERE p.code = 1;
SET SESSION AUTHORIZATION regress_ann;
SELECT sum(rho) AS before FROM dp.charges \gset
SELECT refused($$SELECT * FROM dp.quote('v', '{name}', epsilon => 3)$$);
SELECT refused($$SELECT * FROM dp.quote_aggregate('v', '{count(*)}', '{name}', epsilon => 3)$$) LIKE '55000: the view of dataset "v"%' AS refused;
SELECT refused($$SELECT * FROM dp.create_series('v', 'monthly', '{name}', start => '2024-01-01', period => '30 days', periods => 3, max_periods => 1, epsilon => 10)$$) LIKE '55000: the view of dataset "v"%' AS refused;
EXPLAIN (COSTS off) SELECT name, count(*) FROM shown GROUP BY name;
SELECT sum(rho) - :before AS charged FROM dp.charges;
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.new_version('v');
SET SESSION AUTHORIZATION regress_ann;
SELECT bool_and(abs(estimate - 75) < 80) AS near FROM dp.histogram('v', '{name}', epsilon => 98);

-- a private table that is made again begins with no cap of its own while the dataset is there
SET SESSION AUTHORIZATION regress_curator;
DROP TABLE p CASCADE;
CREATE TABLE p (id int PRIMARY KEY, code int NOT NULL, at date NOT NULL);
CREATE VIEW v2 AS SELECT p.id, p.code FROM p;
SELECT refused($$SELECT dp.create_dataset('p', 'p', epsilon => 77, unit => 'id', max_rows => 1)$$);
SELECT refused($$SELECT dp.create_dataset('v2', 'v2', epsilon => 77, unit => 'id', max_rows => 1)$$);
CREATE VIEW v AS SELECT p.id, lookup.name, p.at FROM p JOIN lookup USING (code) WHERE p.code = 1;
SELECT dp.move_dataset('v', 'v', 'loaded again');
SELECT refused($$SELECT dp.create_dataset('v2', 'v2', epsilon => 77, unit => 'id', max_rows => 1)$$);
SELECT dp.create_dataset('v2', 'v2', same_cap_as => 'v', unit => 'id', max_rows => 1);

-- what people write is answered by the form that is accepted
CREATE VIEW months AS SELECT id, to_char(code, '999') AS month FROM p;
SELECT refused($$SELECT * FROM dp.check_view('months', 'id')$$);
CREATE VIEW ages AS SELECT id, code * interval '1 day' AS age FROM p;
SELECT refused($$SELECT * FROM dp.check_view('ages', 'id')$$);
RESET SESSION AUTHORIZATION;
DROP OWNED BY regress_curator, regress_ann;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused;
DROP ROLE regress_curator, regress_ann;
