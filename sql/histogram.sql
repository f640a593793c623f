-- dp.histogram: rows and their order, labels, replay, dp.cells; estimates are never printed.
CREATE EXTENSION pg_epsilon;
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
CREATE ROLE regress_bob;
GRANT CREATE ON SCHEMA public TO regress_curator;
\pset format unaligned
\pset footer off
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE people (sex text, age int, height float8, born date, seen timestamptz, smokes boolean, "Odd ""col" int);
-- 60 women and 40 men, aged 0 to 99, one each
INSERT INTO people SELECT CASE WHEN i % 5 < 3 THEN 'f' ELSE 'm' END, i, 150 + i / 2.0, date '2000-01-01' + i,
       timestamptz '2020-01-01 00:00+00' + i * interval '1 hour', i % 2 = 0, i % 3 FROM generate_series(0, 99) i;
SELECT dp.create_dataset('people', 'people', 100);
SELECT dp.add_attribute('people', 'sex', '{f,m}', nulls => 'cell');
SELECT dp.add_attribute('people', 'age', 0, 100, 4);
SELECT dp.add_attribute('people', 'height', 150.0, 200.0, 2, outside => 'other', nulls => 'cell');
SELECT dp.add_edges('people', 'born', '{2000-01-01,2000-02-01,2000-04-10}');
SELECT dp.add_edges('people', 'seen', '{2020-01-01 00:00+00,2020-01-02 00:00+00,2020-01-06 00:00+00}');
SELECT dp.add_attribute('people', 'smokes');
SELECT dp.add_attribute('people', 'Odd "col', ARRAY[2, 0, 1]);
SELECT dp.grant_budget('people', 'regress_ann', 50);
SELECT dp.grant_budget('people', 'regress_bob', 50);

SET SESSION AUTHORIZATION regress_ann;
-- One notice per charge; types of the columns
CREATE TEMP TABLE answer AS SELECT * FROM dp.histogram('people', 'sex', rho => 0.01);
SELECT attname, atttypid::regtype FROM pg_attribute WHERE attrelid = 'answer'::regclass AND attnum > 0 ORDER BY attnum;
SET client_min_messages = warning;

-- Cells and queries are row-major in the order asked for, last fastest; labels name what a query restricts
SELECT query, label FROM dp.histogram('people', 'sex', rho => 0.01);
SELECT query, label FROM dp.histogram('people', ARRAY['age'], rho => 0.01);
SELECT query, label FROM dp.histogram('people', '{sex,age}', rho => 0.01);
SELECT query, label FROM dp.histogram('people', '{age,sex}', rho => 0.01);
SELECT query, label FROM dp.histogram('people', 'height', rho => 0.01);
SET DateStyle = 'SQL, DMY';
SET TimeZone = 'Asia/Tokyo';
SELECT query, label FROM dp.histogram('people', ARRAY['born', 'smokes'], rho => 0.01);
SELECT query, label FROM dp.histogram('people', 'seen', rho => 0.01);
RESET DateStyle;
RESET TimeZone;
SELECT query, label FROM dp.histogram('people', '{"Odd \"col"}', rho => 0.01);
-- Workloads: total, products, in the order written; attributes absent are summed over
SELECT query, label FROM dp.histogram('people', '{sex,age}', 'total', rho => 0.01);
SELECT query, label FROM dp.histogram('people', '{sex,age}', 'identity(sex)', rho => 0.01);
SELECT query, label FROM dp.histogram('people', '{sex,smokes}', 'identity(smokes) * identity(sex)', rho => 0.01);
SELECT query, label FROM dp.histogram('people', '{sex,smokes}', ' total ( sex )*IDENTITY(Smokes)', rho => 0.01);
SELECT query, label FROM dp.histogram('people', '{sex,"Odd \"col"}', 'identity("Odd ""col") * total(sex)', rho => 0.01);

-- The canonical request is what the ledger keeps
SELECT request FROM dp.charges ORDER BY charge DESC LIMIT 3;
SELECT release, attributes, workload, predicate, method, queries, version FROM dp.releases ORDER BY release DESC LIMIT 3;

-- Replay: the same question in other words gives the same rows, free and without a notice.  4 cells are too few for the NOTICE of noise
SET client_min_messages = notice;
CREATE TEMP TABLE first AS SELECT * FROM dp.histogram('people', '{born,smokes}', rho => 0.02);
SELECT count(*) AS charges FROM dp.charges \gset
CREATE TEMP TABLE second AS SELECT * FROM dp.histogram('people', ARRAY['born', 'smokes'], 'identity', rho => 0.02);
SELECT count(*) = :charges AS nothing_charged FROM dp.charges;
SELECT count(*) AS same_rows FROM (SELECT * FROM first INTERSECT SELECT * FROM second) x;
-- how the cost was written does not matter: epsilon of the quote, or max_stderr
SELECT epsilon, max_stderr FROM dp.quote('people', '{born,smokes}', rho => 0.02) \gset
CREATE TEMP TABLE third AS SELECT * FROM dp.histogram('people', '{born,smokes}', epsilon => :epsilon);
CREATE TEMP TABLE fourth AS SELECT * FROM dp.histogram('people', '{born,smokes}', max_stderr => :max_stderr);
SELECT count(*) AS same_rows FROM (SELECT * FROM first INTERSECT SELECT * FROM third INTERSECT SELECT * FROM fourth) x;
-- other cost, other order, other workload, fresh: other answers
SELECT count(*) FROM dp.histogram('people', '{born,smokes}', rho => 0.020000001);
SELECT count(*) FROM dp.histogram('people', '{smokes,born}', rho => 0.02);
SELECT count(*) FROM dp.histogram('people', '{born,smokes}', 'identity(born) * identity(smokes)', rho => 0.02);
CREATE TEMP TABLE fresh AS SELECT * FROM dp.histogram('people', '{born,smokes}', rho => 0.02, fresh => true);
SELECT count(DISTINCT release) FROM (TABLE first UNION ALL TABLE fresh) x;
SELECT count(*) - :charges AS charged FROM dp.charges;
-- after a fresh one the newest is replayed
SELECT count(*) AS same_rows FROM (SELECT * FROM dp.histogram('people', '{born,smokes}', rho => 0.02) INTERSECT SELECT * FROM fresh) x;
-- another role pays for the same answer, the cap does not
GRANT SELECT ON fresh TO regress_bob;
SET SESSION AUTHORIZATION regress_bob;
CREATE TEMP TABLE bobs AS SELECT * FROM dp.histogram('people', '{born,smokes}', rho => 0.02);
SELECT count(*) AS same_rows FROM (TABLE bobs INTERSECT TABLE fresh) x;
SELECT role, rho, release = (SELECT release FROM fresh LIMIT 1) AS same_release FROM dp.charges;
-- a new version of the data: asked and paid anew
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.new_version('people');
SET SESSION AUTHORIZATION regress_ann;
CREATE TEMP TABLE versioned AS SELECT * FROM dp.histogram('people', '{born,smokes}', rho => 0.02);
SELECT count(DISTINCT release) FROM (TABLE fresh UNION ALL TABLE versioned) x;
SELECT version, count(*) > 0 AS some FROM dp.releases GROUP BY version ORDER BY version;
SET client_min_messages = warning;

-- dp.cells: every cell of a paid release, in the order of the cells, whatever the order of the queries
CREATE TEMP TABLE crossed AS SELECT * FROM dp.histogram('people', '{sex,smokes}', 'identity(smokes) * identity(sex)', rho => 0.03);
SELECT release FROM crossed LIMIT 1 \gset
SELECT c.cell, c.label, c.estimate = h.estimate AS same_estimate, c.stderr = h.stderr AS same_stderr, h.query
  FROM dp.cells(:release) c LEFT JOIN crossed h ON h.label = c.label ORDER BY c.cell;
-- Intervals: of one measurement the least multiple of its lattice's step that holds 95 % of the law, sigma^2 = 1 / 0.06 and 4 steps^2; of a sum of its own law
CREATE FUNCTION pg_temp.least_half(variance float8, step float8) RETURNS float8 LANGUAGE sql AS $$
    WITH law AS (SELECT m, CASE WHEN m = 0 THEN 1 ELSE 2 END * exp(-((m * step) ^ 2) / (2 * variance)) AS p
                   FROM generate_series(0, (30 * sqrt(variance) / step)::int) m)
    SELECT min(m) * step FROM (SELECT m, sum(p) OVER (ORDER BY m) AS held FROM law) x WHERE held >= 0.95 * (SELECT sum(p) FROM law)
$$;
SELECT pg_temp.least_half(1 / 0.06 + 4 / 256.0 ^ 2, 1 / 256.0), bool_and(h.upper95 - h.estimate = pg_temp.least_half(1 / 0.06 + 4 / 256.0 ^ 2, 1 / 256.0) AND h.estimate - h.lower95 = h.upper95 - h.estimate) AS of_law,
       bool_and((c.lower95, c.upper95) = (h.lower95, h.upper95)) AS same
  FROM crossed h JOIN dp.cells(:release) c USING (label);
SELECT query, upper95 - estimate AS half, lower95 + upper95 = 2 * estimate AS middle, pg_temp.least_half(2 / 0.06 + 8 / 256.0 ^ 2, 1 / 256.0) AS of_sum
  FROM dp.answer(:release, 'identity(sex) + matrix(smokes; {{0,3},{-2,0}}) * identity(sex)');
-- little noise: a finer step
SELECT pg_temp.least_half(0.25 + 4 / 2048.0 ^ 2, 1 / 2048.0), bool_and(upper95 - estimate = pg_temp.least_half(0.25 + 4 / 2048.0 ^ 2, 1 / 2048.0)) AS of_law FROM dp.histogram('people', 'sex', rho => 2);
SELECT release AS total_release FROM dp.histogram('people', '{sex,smokes}', 'total', rho => 0.03) \gset
\set VERBOSITY sqlstate
SELECT * FROM dp.cells(:total_release);
SELECT * FROM dp.cells(0);
SELECT * FROM dp.cells(NULL);
SET SESSION AUTHORIZATION regress_bob;
-- not paid by bob: as if it did not exist
SELECT * FROM dp.cells(:release);
\set VERBOSITY default
SET SESSION AUTHORIZATION regress_curator;
-- the owner may read it
SELECT count(*) FROM dp.cells(:release);
SET SESSION AUTHORIZATION regress_ann;

-- Estimates: whole multiples of 2^-7, for 250 * 4^7 >= 2^20, within 8 standard errors of the truth, and not the truth itself: twelve cells
-- with a standard error of 15.8 are all exact with a chance below 1e-18, one is too far off below 1e-13
SELECT bool_and(abs(h.estimate - t.n) <= 8 * h.stderr) AS close, bool_and(h.estimate * 128 = round(h.estimate * 128)) AND bool_or(h.estimate * 64 <> round(h.estimate * 64)) AS on_lattice,
       bool_or(h.estimate <> t.n) AS noisy
  FROM dp.histogram('people', '{sex,age}', rho => 0.002) h
  JOIN (VALUES ('f', 0, 15), ('f', 25, 15), ('f', 50, 15), ('f', 75, 15), ('m', 0, 10), ('m', 25, 10), ('m', 50, 10), ('m', 75, 10),
               (NULL, 0, 0), (NULL, 25, 0), (NULL, 50, 0), (NULL, 75, 0)) t (sex, age, n)
    ON h.label ->> 'sex' IS NOT DISTINCT FROM t.sex AND (h.label -> 'age' ->> 'from')::int = t.age
HAVING count(*) = 12;
SELECT bool_and(abs(estimate - 100) <= 8 * stderr) AS close FROM dp.histogram('people', 'sex', 'total', rho => 0.05);
-- the standard error is that of rho = 1 / (2 sigma^2), of one row more or less, and 4 steps^2 of variance
SELECT bool_and(abs(stderr - sqrt(1 / (2 * 0.002) + 4 / 128.0 ^ 2)) < 1e-9) AS calibrated FROM dp.histogram('people', '{sex,age}', rho => 0.002);

-- A table without rows is answered with noise like any other
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE empty (x int);
SELECT dp.create_dataset('empty', 'empty', 1);
SELECT dp.add_attribute('empty', 'x', 0, 64, 64, last => 'open');
SELECT dp.grant_budget('empty', 'regress_ann', 1);
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*), count(estimate), bool_or(estimate > 0) AND bool_or(estimate < 0) AS noisy, bool_and(abs(estimate) <= 8 * stderr) AS close
  FROM dp.histogram('empty', 'x', epsilon => 0.5);
SELECT count(*) FROM dp.charges WHERE dataset = 'empty';

-- (dp.histogram(...)).* charges once, and a set of calls charges each
SELECT count(*) AS charges FROM dp.charges \gset
CREATE TEMP TABLE star AS SELECT (dp.histogram('people', 'smokes', rho => 0.011, fresh => true)).*;
SELECT count(*), count(DISTINCT release) FROM star;
SELECT (dp.histogram('people', 'smokes', rho => 0.012, fresh => true)).query;
SELECT count(*) - :charges AS charged FROM dp.charges;
SELECT count(*) FROM generate_series(1, 3) i, dp.histogram('people', 'smokes', rho => 0.013 + 0 * i, fresh => true);
SELECT count(*) - :charges AS charged FROM dp.charges;
-- LIMIT pays for all
SELECT query FROM dp.histogram('people', '{sex,smokes}', rho => 0.014) LIMIT 1;
SELECT rho FROM dp.charges ORDER BY charge DESC LIMIT 1;
-- in a prepared statement, and in a READ ONLY transaction
PREPARE ask(float8) AS SELECT count(*) FROM dp.histogram('people', 'smokes', rho => $1);
EXECUTE ask(0.015);
EXECUTE ask(0.015);
BEGIN READ ONLY;
SELECT count(*) FROM dp.histogram('people', 'smokes', rho => 0.016);
ROLLBACK;
SELECT count(*) - :charges AS charged FROM dp.charges;

-- Without attributes all rows are one cell, with a predicate those that it selects
SELECT query, label FROM dp.histogram('people', '{}', rho => 0.01);
SELECT query, label FROM dp.histogram('people', ARRAY[]::text[], 'total + marginals(0)', rho => 0.01);
SELECT release AS everybody FROM dp.histogram('people', '{}', 'total', rho => 2) WHERE abs(estimate - 100) < 10 \gset
SELECT abs(estimate - 60) < 10 AS women FROM dp.histogram('people', '{}', rho => 2, predicate => $$sex = 'f'$$);
SELECT cell, label, abs(estimate - 100) < 10 AS all_rows FROM dp.cells(:everybody);
SELECT query, label, abs(estimate - 100) < 10 AS all_rows FROM dp.answer(:everybody, 'identity');
SELECT cells, queries, rho, fits FROM dp.quote('people', '{}', rho => 0.01);
SELECT query, label, round(stderr::numeric, 5) AS stderr FROM dp.quote_queries('people', '{}', rho => 0.5);
SELECT dp.publish(:everybody, 'pg_temp.everybody') AS rows;
SELECT query, abs(estimate - 100) < 10 AS all_rows FROM pg_temp.everybody;
SELECT attributes, workload, predicate FROM dp.releases WHERE attributes = '{}' ORDER BY release DESC LIMIT 1;
SELECT DISTINCT request -> 'attributes' AS attributes FROM dp.charges WHERE request ->> 'predicate' LIKE 'sex%';
SELECT * FROM dp.quote('people', '{}', 'prefix', rho => 1);
SELECT * FROM dp.quote('people', '{}', 'total(sex)', rho => 1);

RESET SESSION AUTHORIZATION;
-- charges are chained: seq without gaps, every hash its own
SELECT count(*) = max(seq) AS no_gap, count(DISTINCT hash) = count(*) AS distinct_hashes,
       (SELECT chain_head FROM dp_ledger.dataset WHERE dataset = 'people') = (SELECT hash FROM dp_ledger.charge c JOIN dp_ledger.dataset d ON d.id = c.dataset_id WHERE d.dataset = 'people' ORDER BY seq DESC LIMIT 1) AS head
  FROM dp_ledger.charge c JOIN dp_ledger.dataset d ON d.id = c.dataset_id WHERE d.dataset = 'people';
DROP EXTENSION pg_epsilon;
DROP OWNED BY regress_curator, regress_ann, regress_bob;
DROP ROLE regress_curator, regress_ann, regress_bob;
