-- Units of privacy that may have several rows, and neighbours by substitution.
-- Noise of rho 100 for units of one row, and k^2 times that for k rows, is 0 but for a chance below 1e-40.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator;

-- SQLSTATE, message, detail and hint of a statement that fails.
SET client_min_messages = warning;

SET SESSION AUTHORIZATION regress_curator;
CREATE TYPE colour AS ENUM ('red', 'green');
CREATE DOMAIN passport AS varchar(20) CHECK (VALUE <> '');
CREATE TABLE kinds (i2 int2, i4 int4, i8 int8, n numeric, t text, v varchar, c char(9), u uuid, b bytea, d date, ts timestamp,
    tz timestamptz, p passport, f4 real, f8 float8, bo boolean, e colour, iv interval, j jsonb, a int[], o oid);
\t on
-- Which columns can be the unit
DO $$
DECLARE
    c name;
    r text;
BEGIN
    FOR c IN SELECT attname FROM pg_attribute WHERE attrelid = 'kinds'::regclass AND attnum > 0 ORDER BY attnum LOOP
        BEGIN
            PERFORM dp.create_dataset('k', 'kinds', 1, unit => c, max_rows => 2);
            r := 'can be the unit';
            RAISE EXCEPTION 'undo';
        EXCEPTION WHEN raise_exception THEN
        WHEN OTHERS THEN
            r := sqlstate || ' ' || sqlerrm;
        END;
        RAISE WARNING '%: %', c, r;
    END LOOP;
END $$;
SELECT refused($$SELECT dp.create_dataset('k', 'kinds', 1, unit => 'f8')$$);
SELECT refused($$SELECT dp.create_dataset('k', 'kinds', 1, unit => 'nothing')$$);
SELECT refused($$SELECT dp.create_dataset('k', 'kinds', 1, unit => 'ctid')$$);
SELECT refused($$SELECT dp.create_dataset('k', 'kinds', 1, unit => 'i4', max_rows => 0)$$);
SELECT refused($$SELECT dp.create_dataset('k', 'kinds', 1, unit => 'i4', max_rows => -5)$$);
SELECT refused($$SELECT dp.create_dataset('k', 'kinds', 1, max_rows => 2)$$);
SELECT refused($$SELECT dp.create_dataset('k', 'kinds', 1, neighbours => 'values')$$);
\t off

-- What is counted.  visits: unit i has i rows, all dropped but those in ward 0, 1 and 2
CREATE TABLE visits (patient int, ward int, age int);
INSERT INTO visits SELECT i, j % 4, 10 * (i % 3) FROM generate_series(1, 12) i, generate_series(1, i) j;
INSERT INTO visits SELECT NULL, 1, 10 FROM generate_series(1, 50);
CREATE FUNCTION register(rows int, neighbours text, unit name) RETURNS void LANGUAGE sql AS $$
    SELECT dp.create_dataset('visits', 'visits', 100000, unit => unit, max_rows => rows, neighbours => neighbours);
    SELECT dp.add_attribute('visits', 'ward', ARRAY[0, 1, 2]);
    SELECT dp.add_attribute('visits', 'age', 0, 30, 3);
    SELECT dp.grant_budget('visits', 'regress_ann', 100000);
$$;
CREATE FUNCTION counts(max_rows int, predicate text DEFAULT NULL, attributes text DEFAULT 'ward')
    RETURNS float8[] LANGUAGE plpgsql AS $$
DECLARE
    r float8[];
BEGIN
    SELECT array_agg(round(estimate::numeric) ORDER BY query) INTO r
      FROM dp.histogram('visits', attributes, rho => 100 * max_rows ^ 2, predicate => predicate, fresh => true);
    RETURN r;
END $$;
-- sum over units of least(k, their rows in wards 0 to 2)
CREATE VIEW truth AS
    SELECT k, sum(least(k, n)) AS counted FROM (VALUES (1), (2), (5), (12)) v (k),
        (SELECT patient, count(*) AS n FROM visits WHERE ward < 3 AND patient IS NOT NULL GROUP BY 1) x GROUP BY k;
\set VERBOSITY terse
SELECT register(1, 'add_remove', 'patient');
SELECT dataset, unit, max_rows, neighbours FROM dp.datasets;
SELECT * FROM dp.describe('visits') WHERE description LIKE 'protected%' OR description LIKE '%rows of each count%';
GRANT EXECUTE ON FUNCTION counts TO regress_ann;
GRANT SELECT ON truth TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SELECT (SELECT sum(x) FROM unnest(counts(1)) x) = counted AS cut_to_1 FROM truth WHERE k = 1;
SELECT (SELECT sum(x) FROM unnest(counts(1, predicate => 'ward = 1')) x) AS in_ward_1;
-- the same rows count whatever else is asked of them
SELECT counts(1) = counts(1) AS same_again;
SET SESSION AUTHORIZATION regress_curator;
-- with other numbers of rows; what was spent is kept
SELECT dp.drop_dataset('visits');
SELECT register(2, 'add_remove', 'patient');
SET SESSION AUTHORIZATION regress_ann;
SELECT (SELECT sum(x) FROM unnest(counts(2)) x) = counted AS cut_to_2 FROM truth WHERE k = 2;
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.drop_dataset('visits');
SELECT register(5, 'add_remove', 'patient');
SELECT * FROM dp.describe('visits') WHERE description LIKE 'protected%' OR description LIKE '%rows of each count%';
SET SESSION AUTHORIZATION regress_ann;
SELECT (SELECT sum(x) FROM unnest(counts(5)) x) = counted AS cut_to_5 FROM truth WHERE k = 5;
SELECT (SELECT sum(x) FROM unnest(counts(5, attributes => '{ward,age}')) x) = counted AS two_attributes FROM truth WHERE k = 5;
-- fewer rows of a unit for one request: the same rows as with so small a max_rows, and the error of so few
CREATE TEMP TABLE fewer AS SELECT * FROM dp.histogram('visits', 'ward', 'identity + total', rho => 400, rows_per_unit => 2);
SELECT (SELECT round(estimate::numeric) FROM fewer WHERE query = 4) = counted AS cut_to_2 FROM truth WHERE k = 2;
SELECT f.query, abs(q.stderr / f.stderr - 2.5) < 1e-6 AS error_of_2, abs(f.stderr - a.stderr) < 1e-9 AS answered_with_it
  FROM fewer f JOIN dp.quote_queries('visits', 'ward', 'identity + total', rho => 400) q USING (query)
  JOIN dp.answer((SELECT max(release) FROM fewer), 'identity + total') a USING (query) ORDER BY query;
SELECT replay, rows FROM unnest(ARRAY[NULL, 1, 2, 5]) rows, dp.quote('visits', 'ward', 'identity + total', rho => 400, rows_per_unit => rows);
SELECT count(*) FROM dp.histogram('visits', 'ward', 'identity + total', rho => 400);
SELECT replay, rows FROM unnest(ARRAY[NULL, 1, 2, 5]) rows, dp.quote('visits', 'ward', 'identity + total', rho => 400, rows_per_unit => rows);
SELECT request -> 'rows_per_unit' AS rows_per_unit FROM dp.charges WHERE request ->> 'workload' = 'identity + total' ORDER BY charge;
SELECT array_length(array_agg(DISTINCT release), 1) AS models FROM unnest(ARRAY[NULL, 1, 3, 5]) rows, dp.fit('visits', 'linear_regression', 'age', '{ward}', rho => 1, rows_per_unit => rows);
SELECT DISTINCT request -> 'rows_per_unit' AS rows_per_unit FROM dp.charges WHERE request ->> 'kind' = 'model' ORDER BY 1;
\t on
SELECT refused($$SELECT * FROM dp.histogram('visits', 'ward', rho => 1, rows_per_unit => 6)$$);
SELECT refused($$SELECT * FROM dp.histogram('visits', 'ward', rho => 1, rows_per_unit => 0)$$);
SELECT refused($$SELECT * FROM dp.quote('visits', 'ward', rho => 1, rows_per_unit => -2147483648)$$);
SELECT refused($$SELECT * FROM dp.quote_queries('visits', 'ward', rho => 1, rows_per_unit => 2147483647)$$);
SELECT refused($$SELECT * FROM dp.fit('visits', 'linear_regression', 'age', '{ward}', rho => 1, rows_per_unit => 6)$$);
SELECT refused($$SELECT * FROM dp.fit('visits', 'linear_regression', 'age', '{ward}', rho => 1, rows_per_unit => 0)$$);
\t off
-- the total of all rows: of each unit so many
SELECT round(estimate) = (SELECT sum(least(5, i)) FROM generate_series(1, 12) i) AS everybody, round(stderr::numeric, 3) AS stderr FROM dp.histogram('visits', '{}', rho => 2500);
SELECT round(estimate::numeric) AS one_each FROM dp.histogram('visits', '{}', rho => 100, rows_per_unit => 1);
-- the error of an answer is that of k rows
SELECT round(stderr::numeric, 3) AS stderr FROM dp.quote_queries('visits', 'ward', 'total', rho => 0.5);
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.drop_dataset('visits');
SELECT register(12, 'add_remove', 'patient');
SET SESSION AUTHORIZATION regress_ann;
SELECT counts(12) AS uncut;
SET SESSION AUTHORIZATION regress_curator;
SELECT array_agg(n ORDER BY ward) AS uncut FROM (SELECT ward, count(*) AS n FROM visits WHERE patient IS NOT NULL AND ward < 3 GROUP BY ward) x;
SELECT dp.drop_dataset('visits');

-- Another unit, or other neighbours: what was spent cannot be carried over
\t on
SELECT refused($$SELECT dp.create_dataset('visits', 'visits', 100000)$$);
SELECT refused($$SELECT dp.create_dataset('visits', 'visits', 100000, unit => 'age')$$);
SELECT refused($$SELECT dp.create_dataset('visits', 'visits', 100000, unit => 'patient', neighbours => 'substitute')$$);
\t off

-- A unit's column that changes
SELECT register(2, 'add_remove', 'patient');
DROP VIEW truth;
ALTER TABLE visits ALTER patient TYPE bigint;
SET SESSION AUTHORIZATION regress_ann;
\t on
SELECT refused($$SELECT * FROM dp.histogram('visits', 'ward', rho => 1)$$);
SELECT refused($$SELECT * FROM dp.quote('visits', 'ward', rho => 1)$$);
SET SESSION AUTHORIZATION regress_curator;
ALTER TABLE visits RENAME patient TO person;
SELECT line FROM dp.describe('visits') line WHERE line ~ 'can be asked';
ALTER TABLE visits RENAME person TO patient;
ALTER TABLE visits ALTER patient TYPE int;
SELECT line FROM dp.describe('visits') line WHERE line ~ 'can be asked';
\t off
SELECT dp.drop_dataset('visits');

-- Units of other types: the same rows, so the same number of them
CREATE TABLE names AS
    SELECT patient, ward, 'person ' || patient AS t, lpad('', 3000, md5(patient::text)) AS long, md5(patient::text)::uuid AS u,
           (patient || CASE WHEN ward = 1 THEN '.0' ELSE '.000' END)::numeric AS n, rpad(patient::text, 9) AS v, patient::text::char(9) AS c,
           date '2020-01-01' + patient AS d, convert_to(patient::text, 'UTF8') AS b
      FROM visits;
DO $$
DECLARE
    c name;
BEGIN
    FOR c IN SELECT attname FROM pg_attribute WHERE attrelid = 'names'::regclass AND attnum > 2 ORDER BY attnum LOOP
        EXECUTE format('CREATE TABLE of_%s AS SELECT ward, %I AS unit FROM names', c, c);
        PERFORM dp.create_dataset('of_' || c, ('of_' || c)::regclass, 100000, unit => 'unit', max_rows => 3);
        PERFORM dp.add_attribute('of_' || c, 'ward', ARRAY[0, 1, 2]);
        PERFORM dp.grant_budget('of_' || c, 'regress_ann', 100000);
    END LOOP;
END $$;
SELECT sum(least(3, n)) AS truth FROM (SELECT patient, count(*) AS n FROM visits WHERE ward < 3 AND patient IS NOT NULL GROUP BY 1) x;
SET SESSION AUTHORIZATION regress_ann;
SELECT dataset, (SELECT sum(round(estimate::numeric)) FROM dp.histogram(dataset, 'ward', rho => 900)) AS counted FROM dp.datasets ORDER BY 1;
SET SESSION AUTHORIZATION regress_curator;

-- Substitution: a row that is counted can become one that is not
CREATE TABLE fixed (x int);
INSERT INTO fixed SELECT i % 10 FROM generate_series(1, 1000) i;
SELECT dp.create_dataset('fixed', 'fixed', 100000, neighbours => 'substitute');
SELECT dp.add_attribute('fixed', 'x', 0, 10, 10, last => 'open');
SELECT dp.grant_budget('fixed', 'regress_ann', 100000);
SELECT * FROM dp.describe('fixed') WHERE description LIKE 'protected%';
SET SESSION AUTHORIZATION regress_ann;
-- Delta^2 is 1 for one count, 2 for several, which are measured with their total: 20 / 11
SELECT round(max_stderr::numeric, 4) AS total FROM dp.quote('fixed', 'x', 'total', rho => 0.5);
SELECT round(max_stderr::numeric, 4) AS under_predicate FROM dp.quote('fixed', 'x', 'total', rho => 0.5, predicate => 'x < 5');
SELECT round(max_stderr::numeric, 4) AS identity FROM dp.quote('fixed', 'x', rho => 0.5);
SELECT round(max_stderr::numeric, 4) AS one_cell FROM dp.quote('fixed', 'x', rho => 0.5, predicate => 'x < 1');
SELECT array_agg(round(estimate::numeric) ORDER BY query) AS exact, count(DISTINCT round(stderr::numeric, 12)) AS errors FROM dp.histogram('fixed', 'x', rho => 2000);
SELECT round(estimate::numeric) AS estimate FROM dp.histogram('fixed', 'x', 'total', rho => 2000, predicate => 'x < 5');
-- ranges: not better than add_remove, nor as good; the certificate is of substitution
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE loose AS SELECT * FROM fixed;
SELECT dp.create_dataset('loose', 'loose', 100000);
SELECT dp.add_attribute('loose', 'x', 0, 10, 10, last => 'open');
SELECT s.max_stderr / l.max_stderr BETWEEN 1 AND 2 AS ratio, s.objective / l.objective BETWEEN 1.1 AND 1.5 AND s.lower_bound > l.objective AND s.gap <= 1e-3 AS certificate
  FROM dp.quote('fixed', 'x', 'all_range', rho => 0.5) s, dp.quote('loose', 'x', 'all_range', rho => 0.5) l;

RESET SESSION AUTHORIZATION;
-- The accumulator: what is none of its arguments
\t on
SELECT refused($$SELECT dp_internal.read_rows('\x00', '\x00', 1, 1)$$);
SELECT refused($$SELECT dp_internal.read_rows('\x00', decode(repeat('00', 60) || '01000000', 'hex'), 1, 1)$$);
SELECT refused($$SELECT dp_internal.read_rows('\x636165700100000000000000000000000000000000000000000000000000000026000000706564020100696c64640300000003000000000000000100000000000000f9ffffffffffffff', decode(repeat('00', 32) || '0100000000000000' || '0000000000000000' || '01000000' || '00000000' || '01000000' || '00000000', 'hex'), 1.5::float8, 1)$$);
SELECT refused($$SELECT dp_internal.read_rows('\x00', decode(repeat('00', 32) || '0100000000000000' || '0000000000000000' || '01000000' || '00000000' || '01000000' || '00000000', 'hex'), 1, 1)$$);
SELECT refused($$SELECT dp_internal.read_rows('\x00', '\x00', 1, 1) OVER ()$$);
DROP EXTENSION pg_epsilon;
DROP FUNCTION refused;
SET client_min_messages = error;
DROP OWNED BY regress_curator, regress_ann CASCADE;
DROP ROLE regress_curator, regress_ann;
