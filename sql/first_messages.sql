-- The first hour: what is protected is said, and each mistake of a newcomer gets a message with its cure.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator;

SET SESSION AUTHORIZATION regress_curator;
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE TABLE customer (customer_id int PRIMARY KEY, name text);
CREATE TABLE film (film_id int PRIMARY KEY);
CREATE TABLE rental (rental_id int PRIMARY KEY, customer_id int NOT NULL, film int REFERENCES film, "storeId" int, note text, price_text text,
    amount int, "Age Group" text, genre text, late boolean, felt mood);
INSERT INTO film SELECT generate_series(1, 10);
INSERT INTO rental SELECT i, i % 20, 1 + i % 10, 1, NULL, '5', i % 10, CASE i % 2 WHEN 0 THEN 'young' ELSE 'old' END,
    CASE i % 4 WHEN 0 THEN NULL ELSE 'a, b' END, CASE i % 5 WHEN 0 THEN NULL ELSE i % 2 = 0 END, CASE i % 2 WHEN 0 THEN 'sad' ELSE 'ok' END::mood FROM generate_series(1, 200) i;

-- What is protected: each row, where a foreign key or a name says that a person may have several; never by the rows
SELECT dp.create_dataset('rental', 'rental', epsilon => 1e5);
SELECT dp.drop_dataset('rental');
-- a unit without max_rows; not where it is given, and not where the unit is a key
CREATE TABLE visit (visit_id int PRIMARY KEY, customer_id int);
SELECT dp.create_dataset('visit', 'visit', epsilon => 1, unit => 'customer_id');
CREATE TABLE visit2 (customer_id int);
SELECT dp.create_dataset('visit2', 'visit2', epsilon => 1, unit => 'customer_id', max_rows => 1);
CREATE TABLE visit3 (customer_id int UNIQUE, visit_id int UNIQUE);
SELECT dp.create_dataset('visit3', 'visit3', epsilon => 1, unit => 'customer_id');
-- the key of the table as the unit is each row again: told where another column is like a person
CREATE TABLE visit5 (visit_id int PRIMARY KEY, clerk_id int, film int REFERENCES film, customer_id int);
SELECT dp.create_dataset('visit5', 'visit5', epsilon => 1, unit => 'visit_id', max_rows => 1);
CREATE TABLE visit6 (patient_id int PRIMARY KEY, account_id int, film int REFERENCES film);
SELECT dp.create_dataset('visit6', 'visit6', epsilon => 1, unit => 'patient_id');
-- what is like a person comes first, then what points at another table
CREATE TABLE visit4 (clerk_id int, film int REFERENCES film, customer_id int);
SELECT dp.create_dataset('visit4', 'visit4', epsilon => 1);
-- nothing to say: the only id is a key
SELECT dp.create_dataset('customer', 'customer', epsilon => 1);
-- many of them; what cannot be a unit is none, and an index over some rows only is no key
CREATE TABLE many (a_id int, b_id int, c_id int, d_id int, e_id int, f_id int, g_uuid uuid, h_id boolean, valid int, paid int);
CREATE UNIQUE INDEX ON many (a_id) WHERE b_id > 0;
SELECT dp.create_dataset('many', 'many', epsilon => 1);
-- values are protected, rows are public
CREATE TABLE prices (shop_id int, price int);
SELECT dp.create_dataset('prices', 'prices', epsilon => 1, neighbours => 'values', private_column => 'price', max_change => 1);
-- row level security, and a part of another table
CREATE TABLE secured (x int);
ALTER TABLE secured ENABLE ROW LEVEL SECURITY;
SELECT dp.create_dataset('secured', 'secured', epsilon => 1);
CREATE TABLE whole (x int) PARTITION BY LIST (x);
CREATE TABLE half PARTITION OF whole FOR VALUES IN (1) PARTITION BY LIST (x);
CREATE TABLE part PARTITION OF half FOR VALUES IN (1);
SELECT dp.create_dataset('part', 'part', epsilon => 1);

-- Names: with quotes or without, and what was perhaps meant
SELECT dp.create_dataset('rental', 'rental', epsilon => 1e5, unit => '"customer_id"', max_rows => 10);
SELECT refused($$SELECT dp.create_dataset('x', 'visit2', epsilon => 1, unit => 'Customer_Id')$$);
SELECT refused($$SELECT dp.add_attribute('rentals', 'amount', 0, 10, 10, last => 'open')$$);
SELECT refused($$SELECT dp.add_attribute('rental', 'amuont', 0, 10, 10, last => 'open')$$);
SELECT refused($$SELECT dp.set_time('rental', 'Amount')$$);
SELECT dp.add_attribute('"rental"', '"amount"', 0, 10, 10, last => 'open');
SELECT dp.add_attribute('rental', 'Age Group', '{young,old}');
SELECT attribute FROM dp.attributes WHERE dataset = 'rental';

-- Levels: which is given twice, and NULL as one
SELECT refused($$SELECT dp.add_attribute('rental', 'genre', '{a, b,c, b}')$$);
SELECT refused($$SELECT dp.add_attribute('rental', 'genre', ARRAY['a, b', 'c', 'c'])$$);
SELECT refused($$SELECT dp.add_attribute('rental', 'film', '{1,2,01}')$$);
SELECT refused($$SELECT dp.add_attribute('rental', 'genre', '{"a, b",NULL}')$$);
SELECT refused($$SELECT dp.add_attribute('rental', 'genre', ARRAY['a, b', NULL])$$);
SELECT refused($$SELECT dp.add_edges('rental', 'film', '{1,NULL,3}')$$);
SELECT dp.add_attribute('rental', 'genre', '{"a, b",c}', nulls => 'cell');
-- boolean and enum columns: NULL is counted too, and labels that come later
SELECT dp.add_attribute('rental', 'late', nulls => 'cell');
SELECT dp.add_attribute('rental', 'felt', outside => 'other');
SELECT refused($$SELECT dp.add_attribute('rental', 'film', nulls => 'cell')$$);
SELECT refused($$SELECT dp.add_attribute('visit', 'customer_id')$$);
-- a text column of numbers: the cure works
SELECT refused($$SELECT dp.add_attribute('rental', 'price_text', 0, 10, 10)$$);
ALTER TABLE public.rental ADD COLUMN price_text_number numeric GENERATED ALWAYS AS (price_text::numeric) STORED;
SELECT dp.add_attribute('rental', 'price_text_number', 0, 10, 10);
SELECT refused($$SELECT dp.add_attribute('rental', 'felt', 0, 10, 10)$$);
-- levels stand in quotes
SELECT line FROM dp.describe('rental') line WHERE line ~ 'levels|edges';

SELECT dp.grant_budget('rental', 'regress_ann', epsilon => 9e4);
-- A view that is there already
SELECT dp.expose('rental', 'rental_v', epsilon => 1000);
SELECT refused($$SELECT dp.expose('rental', 'rental_v', epsilon => 1000)$$);
CREATE VIEW other_foreign AS SELECT 1 AS x;
SELECT refused($$SELECT dp.expose('rental', 'other')$$);
GRANT SELECT ON rental_v TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SET client_min_messages = warning;

-- One text where an array of one is meant, and an array literal
SELECT label, round(estimate) AS estimate FROM dp.aggregate('rental', 'count(*)', 'late', epsilon => 1e4);
SELECT label, aggregate FROM dp.aggregate('rental', '{count(*),sum(amount)}', '{}', epsilon => 1000);
SELECT count(*) FROM dp.aggregate('rental', ARRAY['count(*)'], '{late}', epsilon => 1000);
SELECT aggregate, groups FROM dp.quote_aggregate('rental', 'avg(amount)', 'late', epsilon => 1000);
SELECT count(*) > 0 AS advised FROM dp.advise('rental', 'sum(amount)');
SELECT queries FROM dp.measure('rental', 'felt', epsilon => 1000);
SELECT term FROM dp.fit('rental', 'linear_regression', 'amount', 'felt', epsilon => 1000);
SELECT fits FROM dp.quote_fit('rental', 'linear_regression', 'amount', 'felt', epsilon => 1000);
SELECT count(*) FROM dp.measure('rental', '{amount,late}', epsilon => 1000), dp.quantile(release, 'amount', '{0.5}', 'late');
SELECT count(*) FROM dp.measure('rental', '{amount,late}', epsilon => 1000), dp.quantile_text(release, 'amount', '{0.5}', by => '{late}');
SELECT refused($$SELECT * FROM dp.quote_series('rental', 'late', start => '2020-01-01', period => '1 day', periods => 2, max_periods => 2, epsilon => 1)$$);
SELECT refused($$SELECT * FROM dp.create_series('rental', 's', 'late', start => '2020-01-01', period => '1 day', periods => 2, max_periods => 2, epsilon => 1, aggregates => 'sum(amount)')$$);
SELECT refused($$SELECT * FROM dp.aggregate('rental', '{{count(*),sum(amount)},{1,2}}', epsilon => 1)$$);
-- names of attributes: raw, in quotes, and what was perhaps meant.  The same request, so it is paid once.
SELECT label, round(estimate) AS estimate, release FROM dp.histogram('rental', 'Age Group', epsilon => 1e4);
SELECT label, round(estimate) AS estimate, release FROM dp.histogram('rental', '"Age Group"', epsilon => 1e4);
SELECT label, round(estimate) AS estimate, release FROM dp.histogram('rental', ARRAY['"Age Group"'], epsilon => 1e4);
SELECT label, round(estimate) AS estimate FROM dp.aggregate('rental', 'count(*)', '"Age Group"', predicate => '"Age Group" = ''old''', epsilon => 1e4);
SELECT count(DISTINCT release) FROM dp.fit('rental', 'linear_regression', '"amount"', '{"\"Age Group\""}', epsilon => 1000);
SELECT count(*) FROM dp.fit('rental', 'linear_regression', 'amount', 'Age Group', epsilon => 1000);
SELECT refused($$SELECT * FROM dp.histogram('rental', '{Age Group,"\"Age Group\""}', epsilon => 1)$$);
SELECT refused($$SELECT * FROM dp.histogram('rental', 'age group', epsilon => 1)$$);
SELECT refused($$SELECT * FROM dp.histogram('rental', '"Amount"', epsilon => 1)$$);
SELECT refused($$SELECT * FROM dp.histogram('Rental', 'amount', epsilon => 1)$$);
SELECT refused($$SELECT * FROM dp.histogram('rental', 'amount', 'prefix(amonut)', epsilon => 1)$$);
SELECT refused($$SELECT * FROM dp.histogram('rental', 'amount', predicate => '"age group" = ''old''', epsilon => 1)$$);
SELECT refused($$SELECT * FROM dp.aggregate('rental', 'avg(amuont)', epsilon => 1)$$);
SELECT refused($$SELECT * FROM dp.fit('rental', 'linear_regression', 'Amount', 'felt', epsilon => 1)$$);
SELECT fraction, estimate IS NOT NULL AS told FROM dp.measure('rental', '{amount}', 'all_range(amount)', epsilon => 1000), dp.quantile(release, '"amount"', '{0.5}');
SELECT refused($$SELECT * FROM dp.quantile(7, 'age Group', '{0.5}')$$);

-- Per customer: refused, with where it is answered
SELECT refused('SELECT customer_id, count(*) FROM rental_v GROUP BY customer_id');
SELECT refused('SELECT avg(n) FROM (SELECT customer_id, count(*) AS n FROM rental_v GROUP BY customer_id) q');
SELECT refused('SELECT n, count(*) FROM (SELECT count(*) AS n FROM rental_v GROUP BY customer_id) q GROUP BY n');
SELECT rows, round(units) AS units FROM dp.rows_per_unit('rental', most => 10, epsilon => 1e4) WHERE rows = 10;

-- A superuser has no budget by the privileges of a superuser: a test of his spends nobody's
RESET SESSION AUTHORIZATION;
SELECT refused($$SELECT * FROM dp.histogram('rental', 'felt', epsilon => 1)$$);
SELECT refused($$SELECT * FROM dp.histogram('rental', 'felt', epsilon => 1, budget => 'regress_ann')$$);
SELECT refused('SELECT count(*) FROM public.rental_v');
SELECT line FROM dp.describe('rental') line WHERE line ~ 'budget';
-- quotes and what is paid: as the owner's
SELECT fits FROM dp.quote('rental', 'felt', epsilon => 1);
SELECT count(*) FROM dp.cells(7);
-- as a member, or in the role of one who has a budget
SET ROLE regress_ann;
SELECT count(*) FROM dp.histogram('rental', 'felt', epsilon => 1000);
RESET ROLE;
GRANT regress_ann TO CURRENT_USER;
SELECT count(*) FROM dp.histogram('rental', 'felt', epsilon => 2);
REVOKE regress_ann FROM CURRENT_USER;
SELECT function, role = current_user AS by_superuser FROM dp.charges ORDER BY charge DESC LIMIT 1;

-- A forgotten unit can be given while nothing is charged, and not later; the chain of acts and charges is whole
SET SESSION AUTHORIZATION regress_curator;
SET client_min_messages = notice;
SELECT dp.drop_dataset('visit'), dp.drop_dataset('rental');
SELECT dp.create_dataset('visit', 'visit', epsilon => 1);
SELECT dataset, unit, max_rows FROM dp.datasets WHERE dataset = 'visit';
SELECT dp.drop_dataset('visit');
SELECT dp.create_dataset('visit', 'visit', epsilon => 1, unit => 'visit_id');
SELECT dataset, unit, max_rows FROM dp.datasets WHERE dataset = 'visit';
SELECT ok FROM dp.verify_ledger('visit');
SELECT refused($$SELECT dp.create_dataset('rental', 'rental', epsilon => 1e5, unit => 'film')$$);
SELECT refused($$SELECT dp.create_dataset('rental', 'rental', epsilon => 1e5)$$);
SELECT dp.create_dataset('rental', 'rental', epsilon => 1e5, unit => 'customer_id', max_rows => 10);
RESET SESSION AUTHORIZATION;
SET client_min_messages = warning;

DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused;
DROP OWNED BY regress_curator, regress_ann;
DROP ROLE regress_curator, regress_ann;
