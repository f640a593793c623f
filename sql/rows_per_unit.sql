-- dp.rows_per_unit: how many units have so many rows.  Noise of rho 100 and more is 0 but for a chance below 1e-40.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
CREATE ROLE regress_bob;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;
\set VERBOSITY terse

-- patient i has i rows, every fourth of which is in no ward that is declared; i % 3 tells the age; some rows have no patient
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE visits (patient int, ward int, age int);
INSERT INTO visits SELECT i, j % 4, 10 * (i % 3) FROM generate_series(1, 12) i, generate_series(1, i) j;
INSERT INTO visits SELECT NULL, 1, 10 FROM generate_series(1, 50);
CREATE TABLE truth AS SELECT n AS rows, count(*) AS units FROM (SELECT count(*) AS n FROM visits WHERE patient IS NOT NULL GROUP BY patient) x GROUP BY n;
GRANT SELECT ON truth TO regress_ann;
SELECT dp.create_dataset('visits', 'visits', 100000, unit => 'patient', max_rows => 5);
SELECT dp.add_attribute('visits', 'ward', ARRAY[0, 1, 2]);
SELECT dp.add_attribute('visits', 'age', 0, 30, 3);
SELECT dp.grant_budget('visits', 'regress_ann', 50000);
SELECT dp.grant_budget('visits', 'regress_bob', 40000);

SET SESSION AUTHORIZATION regress_ann;
-- nothing was found yet
SELECT description FROM dp.describe('visits') LIMIT 4;
-- all units, without a cut, rows without a unit in none of them
SELECT rows, round(units::numeric) AS units FROM dp.rows_per_unit('visits', 12, rho => 100);
SELECT bool_and(round(r.units) = t.units) AS exact FROM dp.rows_per_unit('visits', 12, rho => 100) r JOIN truth t USING (rows);
-- those with more are in the last line
SELECT array_agg(round(units::numeric) ORDER BY rows) AS at_least_four FROM dp.rows_per_unit('visits', 4, rho => 100);
SELECT array_agg(round(units::numeric) ORDER BY rows) AS everybody FROM dp.rows_per_unit('visits', 1, rho => 100);
SELECT count(*) AS lines, sum(round(units::numeric)) AS units FROM dp.rows_per_unit('visits', 65535, rho => 100);
-- a predicate: rows of patients with age 10, those with wards 1 and 2
SELECT array_agg(round(units::numeric) ORDER BY rows) AS units FROM dp.rows_per_unit('visits', 12, 'age >= 10 AND age < 20', rho => 100);
SELECT array_agg(round(units::numeric) ORDER BY rows) AS units FROM dp.rows_per_unit('visits', 8, 'ward IN (1, 2)', rho => 100);
SELECT array_agg(n ORDER BY rows) AS units FROM (SELECT rows, count(x.n) AS n FROM generate_series(1, 8) rows LEFT JOIN
    (VALUES (1, 1), (2, 2), (3, 2), (4, 2), (5, 3), (6, 4), (7, 4), (8, 4), (9, 5), (10, 6), (11, 6), (12, 6)) x (patient, n) ON x.n = rows GROUP BY rows) y;
-- the noise of one row, whatever max_rows is, and an interval of 1.96 of it
SELECT round(stderr::numeric, 4) AS stderr, round(((upper95 - lower95) / stderr)::numeric, 2) AS width, upper95 - units = units - lower95 AS around
  FROM dp.rows_per_unit('visits', 3, rho => 0.005) LIMIT 1;
SELECT stderr <= 7 AND stderr > 6.999 AS max_stderr FROM dp.rows_per_unit('visits', 3, max_stderr => 7) LIMIT 1;
-- the same request is free; another most, another predicate, other rows are another request
CREATE TEMP TABLE asked AS SELECT most, predicate, release FROM (VALUES (12, NULL), (4, NULL), (12, 'age >= 10 AND age < 20'), (12, '(age>=10) and age<20')) v (most, predicate),
    dp.rows_per_unit('visits', most, predicate, rho => 100) WHERE rows = 1;
SELECT most, predicate, dense_rank() OVER (ORDER BY release) AS release FROM asked ORDER BY most, predicate;
SELECT count(*) AS charges, count(DISTINCT request ->> 'most') AS mosts, max(request ->> 'kind') AS kind, count(request -> 'rows_per_unit') AS cut, sum(rho) > 500 AS paid
  FROM dp.charges WHERE function = 'dp.rows_per_unit';
SELECT dataset, attributes, workload, predicate, method, queries FROM dp.releases WHERE release = (SELECT min(release) FROM asked);
\t on
-- A release of it has no cells
SELECT refused(format('SELECT * FROM dp.cells(%s)', min(release))) FROM asked;
SELECT refused(format($$SELECT * FROM dp.answer(%s, 'total')$$, min(release))) FROM asked;
SELECT refused(format($$SELECT dp.publish(%s, 'published')$$, min(release))) FROM asked;
-- What cannot be asked
SELECT refused($$SELECT * FROM dp.rows_per_unit('visits', 0, rho => 1)$$);
SELECT refused($$SELECT * FROM dp.rows_per_unit('visits', 65536, rho => 1)$$);
SELECT refused($$SELECT * FROM dp.rows_per_unit('visits', NULL, rho => 1)$$);
SELECT refused($$SELECT * FROM dp.rows_per_unit(NULL, 3, rho => 1)$$);
SELECT refused($$SELECT * FROM dp.rows_per_unit('nothing', 3, rho => 1)$$);
SELECT refused($$SELECT * FROM dp.rows_per_unit('visits', 3)$$);
SELECT refused($$SELECT * FROM dp.rows_per_unit('visits', 3, rho => 1, epsilon => 1)$$);
SELECT refused($$SELECT * FROM dp.rows_per_unit('visits', 3, rho => 1e-10)$$);
SELECT refused($$SELECT * FROM dp.rows_per_unit('visits', 3, 'nobody = 1', rho => 1)$$);
SELECT refused($$SELECT * FROM dp.rows_per_unit('visits', 3, 'ward < 0', rho => 1)$$);
SELECT refused($$SELECT * FROM dp.rows_per_unit('visits', 3, 'ward = 1 AND ward = 2', rho => 1)$$);
SELECT refused($$SELECT * FROM dp.rows_per_unit('visits', 3, rho => 1, budget => 'regress_bob')$$);
\t off

-- Percentages have noise: one that is off by one reads as it is without.
RESET SESSION AUTHORIZATION;
CREATE FUNCTION near(text) RETURNS text LANGUAGE sql AS $$
    SELECT regexp_replace(regexp_replace(regexp_replace(regexp_replace($1, '4[123] %', '42 %'), '6[345] %', '64 %'), '8[234] %', '83 %'), '9[567] %', '96 %') $$;
SET SESSION AUTHORIZATION regress_ann;
-- What dp.describe says of the newest release of all rows: to who may replay it and to the owner, and to nobody else
SELECT count(*) FROM dp.rows_per_unit('visits', 12, rho => 5000);
SELECT count(*) FROM dp.rows_per_unit('visits', 12, 'age >= 10', rho => 5000);
SELECT near(description) FROM dp.describe('visits') OFFSET 3 LIMIT 3;
SET SESSION AUTHORIZATION regress_bob;
SELECT count(*) FROM dp.describe('visits') WHERE description LIKE '%rows of a unit%';
SELECT count(*) FROM dp.rows_per_unit('visits', 20, rho => 20000);
SELECT near(description) FROM dp.describe('visits') OFFSET 3 LIMIT 3;
-- with more noise than units
SELECT count(*) FROM dp.rows_per_unit('visits', 30, rho => 0.0001);
SELECT description FROM dp.describe('visits') OFFSET 3 LIMIT 1;
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM dp.rows_per_unit('visits', 7, rho => 5000);
SELECT near(description) FROM dp.describe('visits') OFFSET 3 LIMIT 3;
SET SESSION AUTHORIZATION regress_curator;
SELECT near(description) FROM dp.describe('visits') OFFSET 3 LIMIT 3;
-- of another version nothing is known yet
SELECT dp.new_version('visits');
SELECT count(*) FROM dp.describe('visits') WHERE description LIKE '%rows of a unit%';

-- Under substitution two counts change
CREATE TABLE fixed AS SELECT * FROM visits;
SELECT dp.create_dataset('fixed', 'fixed', 100000, unit => 'patient', max_rows => 5, neighbours => 'substitute');
SELECT dp.grant_budget('fixed', 'regress_ann', 90000);
-- a pure budget counts the L1 norm
CREATE TABLE pure AS SELECT * FROM visits;
SELECT dp.create_dataset('pure', 'pure', 1000, 0, unit => 'patient', max_rows => 5, accounting => 'pure');
SELECT dp.grant_budget('pure', 'regress_ann', 900, accounting => 'pure');
CREATE TABLE pure_fixed AS SELECT * FROM visits;
SELECT dp.create_dataset('pure_fixed', 'pure_fixed', 1000, 0, unit => 'patient', neighbours => 'substitute', accounting => 'pure');
SELECT dp.grant_budget('pure_fixed', 'regress_ann', 900, accounting => 'pure');
-- tables without a unit, without a row, of values
CREATE TABLE loose AS SELECT * FROM visits;
SELECT dp.create_dataset('loose', 'loose', 1000);
SELECT dp.grant_budget('loose', 'regress_ann', 900);
CREATE TABLE empty (patient int);
SELECT dp.create_dataset('empty', 'empty', 100000, unit => 'patient');
SELECT dp.grant_budget('empty', 'regress_ann', 90000);
CREATE TABLE nobody AS SELECT NULL::int AS patient FROM generate_series(1, 5);
SELECT dp.create_dataset('nobody', 'nobody', 100000, unit => 'patient');
SELECT dp.grant_budget('nobody', 'regress_ann', 90000);
CREATE TABLE offers (a float8, b float8);
SELECT dp.create_dataset('offers', 'offers', 1, neighbours => 'values', private_column => 'b', max_change => 1);
SELECT dp.grant_budget('offers', 'regress_ann', 1);
SET SESSION AUTHORIZATION regress_ann;
SELECT round(stderr::numeric, 4) AS substitute FROM dp.rows_per_unit('fixed', 3, rho => 0.005) LIMIT 1;
SELECT round(stderr::numeric, 4) AS substitute_one_cell FROM dp.rows_per_unit('fixed', 1, rho => 0.005) LIMIT 1;
SELECT array_agg(round(units::numeric) ORDER BY rows) AS units FROM dp.rows_per_unit('fixed', 4, rho => 200);
SELECT round(stderr::numeric, 2) AS pure FROM dp.rows_per_unit('pure', 3, epsilon => 0.1) LIMIT 1;
SELECT array_agg(round(units::numeric) ORDER BY rows) AS units FROM dp.rows_per_unit('pure', 4, epsilon => 100);
SELECT round(stderr::numeric, 2) AS pure_substitute FROM dp.rows_per_unit('pure_fixed', 3, epsilon => 0.1) LIMIT 1;
SELECT array_agg(round(units::numeric) ORDER BY rows) AS units FROM dp.rows_per_unit('empty', 4, rho => 100);
SELECT array_agg(round(units::numeric) ORDER BY rows) AS units FROM dp.rows_per_unit('nobody', 4, rho => 100);
SELECT description FROM dp.describe('nobody') OFFSET 3 LIMIT 1;
\t on
SELECT refused($$SELECT * FROM dp.rows_per_unit('loose', 3, rho => 1)$$);
SELECT refused($$SELECT * FROM dp.rows_per_unit('offers', 3, rho => 1)$$);
SELECT refused($$SELECT * FROM dp.rows_per_unit('pure', 3, rho => 1)$$);
SELECT refused($$SELECT * FROM dp.rows_per_unit('pure', 3, epsilon => 1, delta => 1e-9)$$);
SELECT refused($$SELECT * FROM dp.rows_per_unit('pure', 3, epsilon => 1e4)$$);
-- too little is left
SELECT split_part(refused($$SELECT * FROM dp.rows_per_unit('pure', 3, epsilon => 899)$$), ':', 1);
\t off

-- Units of many rows in a partitioned table
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE many (patient int, ward int) PARTITION BY HASH (ward);
CREATE TABLE many_0 PARTITION OF many FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE many_1 PARTITION OF many FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO many SELECT 0, j FROM generate_series(1, 70000) j;
INSERT INTO many SELECT 1, j FROM generate_series(1, 65534) j;
INSERT INTO many SELECT 10 + j % 1000, j FROM generate_series(1, 3000) j;
SELECT dp.create_dataset('many', 'many', 100000, unit => 'patient');
SELECT dp.grant_budget('many', 'regress_ann', 90000);
SET SESSION AUTHORIZATION regress_ann;
SELECT rows, round(units::numeric) AS units FROM dp.rows_per_unit('many', 65535, rho => 100) WHERE abs(units) > 0.5;
SELECT rows, round(units::numeric) AS units FROM dp.rows_per_unit('many', 4, rho => 10000);
SELECT description FROM dp.describe('many') OFFSET 3 LIMIT 3;

RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon;
DROP FUNCTION refused;
SET client_min_messages = error;
DROP OWNED BY regress_curator, regress_ann, regress_bob CASCADE;
DROP ROLE regress_curator, regress_ann, regress_bob;
