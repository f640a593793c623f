-- Datasets that protect the values of one column, not rows: how they are declared, and what they refuse.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator;

-- SQLSTATE, message, detail and hint of a statement that fails.
SET client_min_messages = warning;
\pset null (null)

SET SESSION AUTHORIZATION regress_curator;
CREATE TYPE colour AS ENUM ('red', 'green');
CREATE DOMAIN cost AS numeric(10, 2) CHECK (VALUE >= 0);
CREATE DOMAIN fare AS cost;
CREATE TABLE kinds (i2 int2, i4 int4, i8 int8, n numeric, n2 numeric(5, 1), f4 real, f8 float8, domain fare, t text, v varchar, u uuid, b bytea,
    d date, ts timestamp, tz timestamptz, iv interval, m money, bo boolean, e colour, j jsonb, a int[], o oid);
CREATE TABLE offers (id int, slope float8, kind text, price numeric, other numeric);
INSERT INTO offers SELECT i, i, CASE WHEN i % 2 = 0 THEN 'even' ELSE 'odd' END, 10 * i, i FROM generate_series(1, 20) i;
-- Registers offers with these arguments after the cap, and returns what was said.
CREATE FUNCTION register(arguments text) RETURNS text LANGUAGE sql AS $$
    SELECT refused(format('SELECT dp.create_dataset(''offers'', ''offers'', 100000, %s)', arguments))
$$;

\t on
-- Which columns can be private
DO $$
DECLARE
    c name;
    r text;
BEGIN
    FOR c IN SELECT attname FROM pg_attribute WHERE attrelid = 'kinds'::regclass AND attnum > 0 ORDER BY attnum LOOP
        BEGIN
            PERFORM dp.create_dataset('k', 'kinds', 1, neighbours => 'values', private_column => c, max_change => 1);
            r := 'can be private';
            RAISE EXCEPTION 'undo';
        EXCEPTION WHEN raise_exception THEN
        WHEN OTHERS THEN
            r := sqlstate || ' ' || sqlerrm;
        END;
        RAISE WARNING '%: %', c, r;
    END LOOP;
END $$;
SELECT register($$neighbours => 'values', private_column => 'kind', max_change => 1$$);
SELECT register($$neighbours => 'values', private_column => 'nothing', max_change => 1$$);
SELECT register($$neighbours => 'values', private_column => 'Price', max_change => 1$$);
SELECT register($$neighbours => 'values', private_column => 'ctid', max_change => 1$$);
SELECT register($$neighbours => 'values', private_column => '', max_change => 1$$);

-- What is missing, does not go together, or is no number
SELECT register($$neighbours => 'values'$$);
SELECT register($$neighbours => 'values', private_column => 'price'$$);
SELECT register($$neighbours => 'values', max_change => 1$$);
SELECT register($$neighbours => 'values', change => 'one'$$);
SELECT register($$neighbours => 'values', private_column => 'price', max_change => 0$$);
SELECT register($$neighbours => 'values', private_column => 'price', max_change => '-0'$$);
SELECT register($$neighbours => 'values', private_column => 'price', max_change => -1$$);
SELECT register($$neighbours => 'values', private_column => 'price', max_change => 'NaN'$$);
SELECT register($$neighbours => 'values', private_column => 'price', max_change => 'Infinity'$$);
SELECT register($$neighbours => 'values', private_column => 'price', max_change => '-Infinity'$$);
SELECT register($$neighbours => 'values', private_column => 'price', max_change => 1, change => 'some'$$);
SELECT register($$neighbours => 'values', private_column => 'price', max_change => 1, change => ''$$);
SELECT register($$neighbours => 'values', private_column => 'price', max_change => 1, unit => 'id'$$);
SELECT register($$neighbours => 'values', private_column => 'price', max_change => 1, max_rows => 2$$);
SELECT register($$neighbours => 'values', private_column => 'price', max_change => 1, max_rows => 0$$);
SELECT register($$neighbours => 'values', private_column => 'price', max_change => 1, unit => 'id', max_rows => 2$$);
SELECT register($$neighbours => 'Values', private_column => 'price', max_change => 1$$);
SELECT register($$private_column => 'price', max_change => 1$$);
SELECT register($$neighbours => 'substitute', private_column => 'price', max_change => 1, change => 'all'$$);
SELECT register($$neighbours => 'substitute', change => 'one'$$);
SELECT count(*) FROM dp.datasets;
-- the smallest and the largest number there is
BEGIN;
SELECT register($$neighbours => 'values', private_column => 'price', max_change => 4.9406564584124654e-324$$);
SELECT description FROM dp.describe('offers') WHERE description LIKE 'protected%';
ROLLBACK;
BEGIN;
SELECT register($$neighbours => 'values', private_column => 'price', max_change => 1.7976931348623157e308$$);
SELECT description FROM dp.describe('offers') WHERE description LIKE 'protected%';
ROLLBACK;
-- a cap of another accounting
BEGIN;
SELECT register($$neighbours => 'values', private_column => 'price', max_change => 1, accounting => 'pure'$$);
SELECT description FROM dp.describe('offers') WHERE description LIKE 'cap%';
ROLLBACK;

-- Declared: everybody sees what is protected
SELECT register($$neighbours => 'values', private_column => 'price', max_change => 0.1$$);
\t off
SELECT dataset, unit, max_rows, neighbours, private_column, max_change, change FROM dp.datasets;
SELECT * FROM dp.describe('offers');
\t on
-- The private column is no attribute; others are
SELECT refused($$SELECT dp.add_attribute('offers', 'price', 0, 200, 10)$$);
SELECT refused($$SELECT dp.add_attribute('offers', 'price', '{1,2}')$$);
SELECT refused($$SELECT dp.add_attribute('offers', 'price')$$);
SELECT refused($$SELECT dp.add_edges('offers', 'price', '{1,2}')$$);
-- nor is one that the table computes from it
ALTER TABLE offers ADD twice numeric GENERATED ALWAYS AS (2 * price) STORED, ADD far float8 GENERATED ALWAYS AS (slope + 1) STORED;
SELECT refused($$SELECT dp.add_attribute('offers', 'twice', 0, 200, 10)$$);
BEGIN;
SELECT refused($$SELECT dp.add_attribute('offers', 'far', 0, 200, 10)$$);
ROLLBACK;
ALTER TABLE offers DROP twice, DROP far;
\t off
SELECT dp.add_attribute('offers', 'slope', 0, 20, 4);
SELECT dp.add_attribute('offers', 'kind', '{even,odd}');
SELECT dp.add_attribute('offers', 'other', 0, 20, 4);
SELECT dp.grant_budget('offers', 'regress_ann', 1000);
SET SESSION AUTHORIZATION regress_ann;
SELECT * FROM dp.describe('offers') WHERE description !~ '^ ';
SELECT dataset, private_column, max_change, change FROM dp.datasets;
\t on

-- What protects rows is refused, whoever asks, and nothing is charged
SELECT refused($$SELECT * FROM dp.histogram('offers', 'kind', epsilon => 1)$$);
SELECT refused($$SELECT * FROM dp.quote('offers', 'kind', epsilon => 1)$$);
SELECT refused($$SELECT * FROM dp.quote_queries('offers', 'kind', epsilon => 1)$$);
SELECT refused($$SELECT * FROM dp.fit('offers', 'linear_regression', 'other', '{slope}', epsilon => 1)$$);
RESET SESSION AUTHORIZATION;
GRANT SELECT ON offers TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT dp.logistic_regression(kind, ARRAY[slope], '{"dataset": "offers", "label": "kind", "features": ["slope"], "epsilon": 1}') FROM offers$$);
SELECT refused($$SELECT dp.svm(kind, ARRAY[slope], '{"dataset": "offers", "label": "kind", "features": ["slope"], "epsilon": 1}') FROM offers$$);
SELECT refused($$SELECT dp.linear_regression(other, ARRAY[slope], '{"dataset": "offers", "label": "other", "features": ["slope"], "epsilon": 1}') FROM offers$$);
SET SESSION AUTHORIZATION regress_curator;
SELECT refused($$SELECT * FROM dp.quote('offers', 'kind', epsilon => 1)$$);
SELECT refused($$SELECT * FROM dp.fit('offers', 'linear_regression', 'other', '{slope}', 'nonprivate')$$);
SELECT count(*) FROM dp.charges;
SELECT ok, charges, rho_spent FROM dp.verify_ledger('offers');

-- A private column that changes
ALTER TABLE offers ALTER price TYPE numeric(20, 3);
SELECT line AS not_as_declared FROM dp.describe('offers') line WHERE line ~ 'can be asked';
ALTER TABLE offers ALTER price TYPE float8;
SELECT refused($$SELECT * FROM dp.quote_minimum('offers', '{slope}', 'price', '{0}', '{1}', epsilon => 1)$$);
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT * FROM dp.quote_minimum('offers', '{slope}', 'price', '{0}', '{1}', epsilon => 1)$$);
SET SESSION AUTHORIZATION regress_curator;
ALTER TABLE offers ALTER price TYPE fare;
SELECT line AS not_as_declared FROM dp.describe('offers') line WHERE line ~ 'can be asked';
ALTER TABLE offers RENAME price TO cost;
SELECT refused($$SELECT * FROM dp.quote_minimum('offers', '{slope}', 'price', '{0}', '{1}', epsilon => 1)$$);
ALTER TABLE offers RENAME cost TO price;
SELECT line AS not_as_declared FROM dp.describe('offers') line WHERE line ~ 'can be asked';
BEGIN;
ALTER TABLE offers DROP price;
SELECT refused($$SELECT * FROM dp.quote_minimum('offers', '{slope}', 'price', '{0}', '{1}', epsilon => 1)$$);
ROLLBACK;
-- An attribute that was dropped, and made anew, computed from it
ALTER TABLE offers DROP other, ADD other numeric GENERATED ALWAYS AS (price) STORED;
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT * FROM dp.minimize_max_affine('offers', '{other}', 'price', '{0}', '{1}', epsilon => 1)$$);
SET SESSION AUTHORIZATION regress_curator;
ALTER TABLE offers ALTER other DROP EXPRESSION;

-- Frozen: it can be read, and attested for a table that has the column
RESET SESSION AUTHORIZATION;
BEGIN;
UPDATE dp_ledger.dataset SET identity = '1/1/1/1';
SET SESSION AUTHORIZATION regress_curator;
SELECT dataset, frozen, private_column, max_change, change FROM dp.datasets;
SELECT description FROM dp.describe('offers') WHERE description LIKE 'protected%';
SELECT refused($$SELECT dp.create_dataset('anew', 'offers', 100000, neighbours => 'values', private_column => 'price', max_change => 0.1)$$);
ALTER TABLE offers ALTER price TYPE float8;
SELECT refused($$SELECT * FROM dp.attest('another type')$$);
ALTER TABLE offers ALTER price TYPE numeric;
SELECT dataset, charges, message FROM dp.attest('restored');
SELECT dataset, frozen, private_column, max_change, change FROM dp.datasets;
SELECT ok, charges FROM dp.verify_ledger('offers');
RESET SESSION AUTHORIZATION;
ROLLBACK;

-- Registering anew: only in the terms in which something was spent
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.drop_dataset('offers');
SELECT register($$neighbours => 'values', private_column => 'other', max_change => 0.1$$);
SELECT register($$neighbours => 'values', private_column => 'price', max_change => 0.2$$);
SELECT register($$neighbours => 'values', private_column => 'price', max_change => 0.05$$);
SELECT register($$neighbours => 'values', private_column => 'price', max_change => 0.10000000000000002$$);
SELECT register($$neighbours => 'values', private_column => 'price', max_change => 0.1, change => 'all'$$);
SELECT register($$neighbours => 'substitute'$$);
SELECT register($$neighbours => 'add_remove'$$);
ALTER TABLE offers ALTER price TYPE float8;
SELECT register($$neighbours => 'values', private_column => 'price', max_change => 0.1, change => 'one'$$);
SELECT refused($$SELECT dp.add_attribute('offers', 'price', 0, 200, 10)$$);
\t off
SELECT * FROM dp.describe('offers') WHERE description LIKE 'protected%';
-- the other way round
CREATE TABLE rows (x float8, y float8);
SELECT dp.create_dataset('rows', 'rows', 1);
SELECT private_column, max_change, change FROM dp.datasets WHERE dataset = 'rows';
SELECT dp.drop_dataset('rows');
\t on
SELECT refused($$SELECT dp.create_dataset('rows', 'rows', 1, neighbours => 'values', private_column => 'y', max_change => 1)$$);
\t off

-- All rows may change
CREATE TABLE demand (hour int, slope int, load float8);
SELECT dp.create_dataset('demand', 'demand', 1, neighbours => 'values', private_column => 'load', max_change => 1e-4, change => 'all');
SELECT dp.add_attribute('demand', 'hour', '{0,12}');
-- levels are no slopes
SELECT count(*) AS asks FROM dp.describe('demand') WHERE description LIKE 'ask%';
SELECT dp.add_attribute('demand', 'slope', -5, 5, 10, last => 'open');
SELECT * FROM dp.describe('demand') WHERE description LIKE 'protected%' OR description LIKE 'ask%';
SELECT dataset, private_column, max_change, change FROM dp.datasets ORDER BY 1;
-- names that need quotes
CREATE TABLE odd ("a 'slope'" int, "the ""load""" int);
SELECT dp.create_dataset('it''s odd', 'odd', 1, neighbours => 'values', private_column => 'the "load"', max_change => 2);
SELECT dp.add_attribute('it''s odd', 'a ''slope''', -5, 5, 10, last => 'open');
SELECT * FROM dp.describe('it''s odd') WHERE description LIKE 'protected%' OR description LIKE 'ask%';

-- What the table of datasets holds, and refuses to hold
RESET SESSION AUTHORIZATION;
SELECT dataset, private_column, private_type, max_change, change FROM dp_ledger.dataset ORDER BY 1;
\t on
-- the message alone: the detail is the row
CREATE FUNCTION broken(dataset text, change text) RETURNS text LANGUAGE sql AS $$
    SELECT split_part(refused(format('UPDATE dp_ledger.dataset SET %s WHERE dataset = %L', change, dataset)), E'\n', 1)
$$;
SELECT broken('offers', $$private_column = NULL$$);
SELECT broken('offers', $$private_type = NULL$$);
SELECT broken('offers', $$max_change = NULL$$);
SELECT broken('offers', $$max_change = 'NaN'$$);
SELECT broken('offers', $$max_change = 'Infinity'$$);
SELECT broken('offers', $$max_change = 0$$);
SELECT broken('offers', $$change = NULL$$);
SELECT broken('offers', $$change = 'some'$$);
SELECT broken('offers', $$unit = 'id'$$);
SELECT broken('offers', $$max_rows = 2$$);
SELECT broken('offers', $$neighbours = 'add_remove'$$);
SELECT broken('rows', $$max_change = 1$$);
DROP EXTENSION pg_epsilon;
DROP FUNCTION refused CASCADE;
SET client_min_messages = error;
DROP OWNED BY regress_curator, regress_ann CASCADE;
DROP ROLE regress_curator, regress_ann;
