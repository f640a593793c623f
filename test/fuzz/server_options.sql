-- What the fuzzer inside the server works on: roles, tables and datasets of every kind, models and
-- releases, bytes that accumulators are told and write, and the function that tries a statement.
CREATE EXTENSION pg_epsilon;
CREATE ROLE curator LOGIN;
CREATE ROLE ann LOGIN;
CREATE SCHEMA fuzz;
GRANT CREATE, USAGE ON SCHEMA public TO curator, ann;
GRANT USAGE ON SCHEMA fuzz TO curator, ann;
-- Statements that ask for much shall be refused soon.
ALTER DATABASE fuzz SET pg_epsilon.max_memory = '64MB';
ALTER DATABASE fuzz SET pg_epsilon.time_quantum = 0;
ALTER DATABASE fuzz SET max_parallel_workers_per_gather = 0;

CREATE FUNCTION fuzz.charges() RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog
    AS 'SELECT coalesce(sum(charges), 0)::bigint FROM dp_ledger.dataset';

-- SQLSTATE, how many charges it made, and message of a statement, of which nothing stays but what the ledger has.
CREATE FUNCTION fuzz.try(statement bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    before bigint := fuzz.charges();
    said text;
BEGIN
    EXECUTE convert_from(statement, 'UTF8');
    RAISE SQLSTATE 'FUZZ0';
EXCEPTION WHEN query_canceled OR OTHERS THEN
    GET STACKED DIAGNOSTICS said = MESSAGE_TEXT;
    RETURN concat_ws('|', sqlstate, fuzz.charges() - before, regexp_replace(left(said, 200), '[^[:print:]]+', ' ', 'g'));
END $$;

-- ---- Tables and datasets ----

SET SESSION AUTHORIZATION curator;
CREATE TYPE colour AS ENUM ('red', 'green', 'blue');
CREATE TABLE people (id int, age int, height float8, sex text, y boolean, colour colour, born date, seen timestamptz,
    pay numeric, code uuid, unit int);
INSERT INTO people SELECT i, i % 100, 150 + i % 50 + 0.5, CASE WHEN i % 3 = 0 THEN 'f' ELSE 'm' END, i % 2 = 0,
    (ARRAY['red', 'green', 'blue'])[1 + i % 3]::colour, date '1990-01-01' + i, timestamptz '2020-01-01 00:00+00' + i * interval '1 hour',
    i * 1.5, NULL, i / 3 FROM generate_series(1, 200) i;
CREATE TABLE visits (LIKE people);
INSERT INTO visits SELECT * FROM people;
CREATE TABLE offers (id int, a float8, b float8, price numeric);
INSERT INTO offers SELECT i, sin(i), cos(i), i / 10.0 FROM generate_series(1, 50) i;
CREATE TABLE bare (LIKE people);
CREATE TABLE plain (LIKE people);
INSERT INTO plain SELECT * FROM people;
SELECT dp.create_dataset('people', 'people', 1e5);
SELECT dp.create_dataset('visits', 'visits', 1e5, unit => 'unit', max_rows => 2, neighbours => 'substitute');
SELECT dp.create_dataset('offers', 'offers', 1e5, neighbours => 'values', private_column => 'price', max_change => 1);
SELECT dp.create_dataset('plain', 'plain', 1, accounting => 'pure');
SELECT dp.add_attribute(d, 'age', 0, 100, 10), dp.add_attribute(d, 'height', 150, 200, 5, outside => 'other', nulls => 'cell'),
    dp.add_attribute(d, 'sex', ARRAY['f', 'm']), dp.add_attribute(d, 'y'), dp.add_attribute(d, 'colour')
  FROM unnest('{people,visits}'::text[]) d;
SELECT dp.add_attribute('offers', 'a', -1, 1, 1), dp.add_attribute('offers', 'b', -1, 1, 1);
SELECT dp.grant_budget(d, 'ann', 1e4) FROM unnest('{people,visits,offers}'::text[]) d;
GRANT SELECT ON people, visits, offers TO ann;

-- ---- Releases, models and strategies ----

SET SESSION AUTHORIZATION ann;
SELECT count(*) FROM dp.histogram('people', '{age,sex}', rho => 0.1);
SELECT count(*) FROM dp.histogram('people', 'age', 'prefix(age) + total', rho => 0.1, method => 'hierarchical');
SELECT count(*) FROM dp.fit('people', 'logistic_regression', 'y', '{age,sex,height}', epsilon => 1, model => 'model');
SELECT count(*) FROM dp.fit('people', 'svm', 'y', '{age,height}', epsilon => 1, model => 'numbers');
SELECT count(*) FROM dp.optimize('all_range(8)');
RESET SESSION AUTHORIZATION;

-- Reading again what is kept, after somebody has tampered with it.
CREATE FUNCTION fuzz.kept_payload(payload bytea) RETURNS void LANGUAGE sql AS $$
    UPDATE dp_ledger.release SET payload = $1 WHERE id = 2;
    SELECT count(*) FROM dp.answer(2, 'prefix(age)');
    SELECT count(*) FROM dp.cells(2) $$;
CREATE FUNCTION fuzz.kept_strategy(id bigint, matrix bytea) RETURNS void LANGUAGE sql AS $$
    UPDATE dp_ledger.strategy s SET matrix = $2 WHERE s.id = $1;
    SELECT count(*) FROM dp.answer(2, 'prefix(age)');
    SELECT dp.strategy_matrix(2);
    SELECT count(*) FROM dp.compare('all_range(8)', 1, 1e-9, '{optimal,hierarchical}');
    SELECT count(*) FROM dp.quote('people', 'age', 'prefix(age) + total', rho => 0.1, method => 'hierarchical') $$;
CREATE FUNCTION fuzz.kept_model(declaration jsonb, coefficients float8[]) RETURNS void LANGUAGE sql AS $$
    UPDATE dp_ledger.model SET declaration = $1, coefficients = $2, terms = array_fill('x'::text, array_append('{}', coalesce(cardinality($2), 0)));
    SELECT dp.predict('model', '{"age": 33, "sex": "f", "height": 180.5}'), dp.predict('model', '{"age": null, "sex": "x", "height": 1}') $$;

-- ---- Accumulators ----

CREATE FUNCTION fuzz.spec(int, int, boolean) RETURNS bytea AS 'pg_epsilon_test', 'pe_test_spec' LANGUAGE C STRICT;
CREATE FUNCTION fuzz.pass(bytea, text, int) RETURNS bytea AS 'pg_epsilon_test', 'pe_test_pass' LANGUAGE C STRICT;
CREATE FUNCTION fuzz.cut(int, int, int) RETURNS bytea AS 'pg_epsilon_test', 'pe_test_cut' LANGUAGE C STRICT;
CREATE FUNCTION fuzz.affine_spec(int, int, float8, float8) RETURNS bytea AS 'pg_epsilon_test', 'pe_test_affine_spec' LANGUAGE C STRICT;

-- What a worker hands over, and what becomes of it.
CREATE AGGREGATE fuzz.state(bytea, bytea, VARIADIC "any") (SFUNC = dp_internal.read_rows_add, STYPE = bytea);
CREATE AGGREGATE fuzz.together(bytea) (SFUNC = dp_internal.read_rows_combine, STYPE = bytea, FINALFUNC = dp_internal.read_rows_final);

-- Bytes that files of the corpus name.
CREATE TABLE fuzz.bytes (name text PRIMARY KEY, bytes bytea NOT NULL);
INSERT INTO fuzz.bytes VALUES
    -- three levels 3, 1, -7 of an integer
    ('selection', '\x636165700100000000000000000000000000000000000000000000000000000026000000706564020100696c64640300000003000000000000000100000000000000f9ffffffffffffff'),
    ('cut', fuzz.cut(2, 0, 1)),
    ('spec', fuzz.spec(2, 3, true)),
    ('pass', fuzz.pass(fuzz.spec(2, 3, true), 'gradient', 1)),
    ('moment', fuzz.pass(fuzz.spec(2, 0, false), 'moment', 2)),
    ('losses', fuzz.pass(fuzz.spec(1, 2, true), 'losses', 3)),
    ('affine', fuzz.affine_spec(2, -40, -1, 1));
INSERT INTO fuzz.bytes SELECT 'payload', payload FROM dp_ledger.release WHERE id = 2;
INSERT INTO fuzz.bytes SELECT 'strategy_' || id, matrix FROM dp_ledger.strategy WHERE id IN (1, 2);
-- The first is dense, by columns: its second column becomes its first.
INSERT INTO fuzz.bytes SELECT 'strategy_dependent', overlay(bytes PLACING substring(bytes FROM first FOR 4 * rows) FROM first + 4 * rows)
    FROM (SELECT bytes, get_byte(bytes, 16) AS rows, 49 + 4 * get_byte(bytes, 8) AS first FROM fuzz.bytes WHERE name = 'strategy_1') strategy;
INSERT INTO fuzz.bytes SELECT 'counts_state', fuzz.state(bytes, NULL, 0, id - 1) FROM people, fuzz.bytes WHERE name = 'selection' AND id < 9;
INSERT INTO fuzz.bytes SELECT 'units_state', fuzz.state(s.bytes, c.bytes, id, id % 3) FROM people, fuzz.bytes s, fuzz.bytes c
    WHERE s.name = 'selection' AND c.name = 'cut' AND id < 9;
INSERT INTO fuzz.bytes SELECT 'sums_state', fuzz.state(bytes, NULL, 0, id % 2, 0.5::float8, -0.5::float8, id % 3) FROM people, fuzz.bytes WHERE name = 'pass' AND id < 9;
INSERT INTO fuzz.bytes SELECT 'rows_state', fuzz.state(s.bytes, c.bytes, id / 3, id % 2, 0.5::float8, -0.5::float8, id % 3)
    FROM people, fuzz.bytes s, fuzz.bytes c WHERE s.name = 'pass' AND c.name = 'cut' AND id < 9;
INSERT INTO fuzz.bytes SELECT 'affine_state', fuzz.state(bytes, NULL, 0, price, a, b) FROM offers, fuzz.bytes WHERE name = 'affine' AND id < 9;
