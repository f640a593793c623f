-- Columns that nobody has listed: dp.add_attribute(dataset, column, open => true), dp.keys and dp.bounds.
-- Noise of rho 100 k for k keys of a unit is below 1/2 but for a chance below 1e-11 for each count.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
CREATE ROLE regress_bob;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;
SET datestyle = 'SQL, DMY';
SET timezone = 'Asia/Tokyo';

SET SESSION AUTHORIZATION regress_curator;
CREATE TYPE colour AS ENUM ('violet', 'red', 'green');
CREATE DOMAIN name_of AS varchar(20) CHECK (VALUE <> '');
CREATE TABLE visits (person int, i2 int2, i4 int4, i8 int8, n numeric, t text, v varchar, c char(9), u uuid, d date, ts timestamp,
    tz timestamptz, p name_of, f4 real, f8 float8, bo boolean, e colour, iv interval, b bytea);
-- ten rows of each of two values, one of a third, nine that are NULL
INSERT INTO visits SELECT i, v, v - 2, (v - 2) * 1000000000000, (v - 2) * 1.50, 'v' || v, 'v' || v, 'v' || v, md5(v::text)::uuid, date '2024-02-28' + v,
        timestamp '2024-02-28 12:00' + v * interval '1 day', timestamptz '2024-02-28 12:00+00' + v * interval '1 day', 'p' || v, (v - 2) * 0.5, (v - 2) * 0.1,
        v > 1, (ARRAY['red', 'green', 'violet'])[v]::colour, v * interval '1 day', 'b'::bytea
    FROM (SELECT i, CASE WHEN i <= 10 THEN 1 WHEN i <= 20 THEN 2 WHEN i = 21 THEN 3 END AS v FROM generate_series(1, 30) i) r;
SELECT dp.create_dataset('visits', 'visits', 1e5, delta => 1e-5);
SELECT dp.grant_budget('visits', 'regress_ann', 1e5);

\t on
-- Which columns can be opened
DO $$
DECLARE
    c name;
    r text;
BEGIN
    FOR c IN SELECT attname FROM pg_attribute WHERE attrelid = 'visits'::regclass AND attnum > 0 ORDER BY attnum LOOP
        BEGIN
            PERFORM dp.add_attribute('visits', c, open => true);
            r := 'open';
        EXCEPTION WHEN OTHERS THEN
            r := sqlstate || ' ' || sqlerrm;
        END;
        RAISE WARNING '%: %', c, r;
    END LOOP;
END $$;
SELECT refused($$SELECT dp.add_attribute('visits', 'nothing', open => true)$$);
SELECT refused($$SELECT dp.add_attribute('visits', 't', open => true)$$);
SELECT refused($$SELECT dp.add_attribute('visits', 't', open => false)$$);
SELECT refused($$SELECT dp.add_attribute('visits', 't', open => NULL)$$);
SELECT refused($$SELECT dp.add_attribute('none', 't', open => true)$$);
SELECT attribute, type, kind, cells, levels, outside, nulls, last, open FROM dp.attributes WHERE dataset = 'visits' AND attribute IN ('t', 'i4', 'e');
SELECT act, subject, old_value, new_value FROM dp.acts WHERE dataset = 'visits' AND subject = 't';
SELECT * FROM dp.describe('visits') WHERE description LIKE '%open%' OR description LIKE 'ask%' LIMIT 2;

SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT dp.add_attribute('visits', 'iv', open => true)$$);
-- No attribute until it has levels or bins
SELECT refused($$SELECT * FROM dp.histogram('visits', 't', rho => 1)$$);
SELECT refused($$SELECT * FROM dp.quote('visits', 't', rho => 1)$$);
SELECT refused($$SELECT * FROM dp.fit('visits', 'linear_regression', 'i4', '{f8}', rho => 1)$$);

-- The keys of every type, in its own order and text form: 10 and 10; the third, which only one unit has, is not there
DO $$
DECLARE
    c name;
BEGIN
    FOR c IN SELECT attribute FROM dp.attributes WHERE dataset = 'visits' AND attribute <> 'person' ORDER BY 1 LOOP
        RAISE WARNING '%: %', c, (SELECT string_agg(format('%s %s', key, round(estimate)), ', ') FROM dp.keys('visits', c, rho => 100, delta => 1e-9));
    END LOOP;
END $$;
-- Nobody has a person twice
SELECT count(*) FROM dp.keys('visits', 'person', rho => 100, delta => 1e-9);
-- Standard error, interval and threshold are those of the law; the request again is free, and has the same release
\t off
SELECT count(*) AS charges FROM dp.charges \gset
SELECT key, round(stderr::numeric, 6) AS stderr, round((upper95 - estimate)::numeric, 4) AS half, round((estimate - lower95)::numeric, 4) AS half, release = max(release) OVER () AS one
  FROM dp.keys('visits', 't', rho => 100, delta => 1e-9);
SELECT count(*) - :charges AS charged FROM dp.charges;
SELECT function, rho, delta, epsilon, request - 'version' AS request FROM dp.charges WHERE request ->> 'column' = 't';
SELECT attributes, workload, predicate, method, queries FROM dp.releases WHERE attributes = '{t}';
SELECT release AS r FROM dp.releases WHERE attributes = '{t}' \gset
\t on
-- delta is charged, and another one is another request
SELECT count(*) FROM dp.keys('visits', 't', rho => 100, delta => 2e-9);
SELECT count(DISTINCT release) FROM dp.charges WHERE request ->> 'column' = 't';
SELECT count(*) FROM dp.keys('visits', 't', rho => 100, delta => 1e-9, fresh => true);
SELECT count(DISTINCT release) FROM dp.charges WHERE request ->> 'column' = 't';
-- By default a part of what the budget keeps for charges
SELECT count(*) FROM dp.keys('visits', 't', epsilon => 200);
SELECT delta > 0 AND delta <= 1e-5 / 16 / 10 FROM dp.charges ORDER BY charge DESC LIMIT 1;
-- The NOTICE says where the threshold is
SET client_min_messages = notice;
SELECT key FROM dp.keys('visits', 'v', rho => 0.01, delta => 1e-9);
RESET client_min_messages;
SET client_min_messages = warning;

-- Nothing else gives it out
SELECT refused(format($$SELECT * FROM dp.answer(%s, 'total')$$, :r));
SELECT refused(format($$SELECT * FROM dp.cells(%s)$$, :r));
SELECT refused(format($$SELECT * FROM dp.publish(%s, 'pg_temp.leak')$$, :r));
SELECT refused(format($$SELECT * FROM dp.combine('{%s}', 'total')$$, :r));

-- What is refused
SELECT refused($$SELECT * FROM dp.keys('visits', 'iv', rho => 1)$$);
SELECT refused($$SELECT * FROM dp.keys('visits', 'nothing', rho => 1)$$);
SELECT refused($$SELECT * FROM dp.keys('none', 't', rho => 1)$$);
SELECT refused($$SELECT * FROM dp.keys(NULL, 't', rho => 1)$$);
SELECT refused($$SELECT * FROM dp.keys('visits', NULL, rho => 1)$$);
SELECT refused($$SELECT * FROM dp.keys('visits', 't')$$);
SELECT refused($$SELECT * FROM dp.keys('visits', 't', rho => 1, epsilon => 1)$$);
SELECT refused($$SELECT * FROM dp.keys('visits', 't', rho => -1)$$);
SELECT refused($$SELECT * FROM dp.keys('visits', 't', rho => 1e-10)$$);
SELECT refused($$SELECT * FROM dp.keys('visits', 't', rho => 1, delta => 0)$$);
SELECT refused($$SELECT * FROM dp.keys('visits', 't', rho => 1, delta => 1)$$);
SELECT refused($$SELECT * FROM dp.keys('visits', 't', rho => 1, delta => 1e-19)$$);
SELECT refused($$SELECT * FROM dp.keys('visits', 't', rho => 1, delta => 0.1)$$);
SELECT refused($$SELECT * FROM dp.keys('visits', 't', rho => 1e7)$$);
SELECT refused($$SELECT * FROM dp.keys('visits', 't', rho => 1, rows_per_unit => 2)$$);
SELECT refused($$SELECT * FROM dp.keys('visits', 't', rho => 1, budget => 'regress_bob')$$);
SET SESSION AUTHORIZATION regress_bob;
SELECT refused($$SELECT * FROM dp.keys('visits', 't', rho => 1)$$);
SELECT refused(format($$SELECT * FROM dp.answer(%s, 'total')$$, :r));
SELECT count(*) FROM dp.releases;

-- The owner pays like anybody, and declares what was found
SET SESSION AUTHORIZATION regress_curator;
SELECT refused($$SELECT * FROM dp.keys('visits', 't', rho => 1)$$);
SELECT dp.grant_budget('visits', 'regress_curator', 5000, overcommit => true);
SELECT array_agg(key) AS found FROM dp.keys('visits', 't', rho => 100, delta => 1e-9, budget => 'regress_curator') \gset
SELECT dp.add_attribute('visits', 't', :'found', outside => 'other');
SELECT dp.add_attribute('visits', 'f8', -1, 1, 4);
SELECT refused($$SELECT dp.add_attribute('visits', 't', '{a}')$$);
SELECT attribute, kind, cells, levels, outside, nulls, last, open FROM dp.attributes WHERE dataset = 'visits' AND attribute IN ('t', 'f8');
SELECT act, subject, old_value, new_value FROM dp.acts WHERE dataset = 'visits' AND subject = 't';
SELECT ok, message FROM dp.verify_ledger('visits');
-- a column with levels can be opened too
CREATE TABLE lately (t text);
SELECT dp.create_dataset('late', 'lately', 10);
SELECT dp.add_attribute('late', 't', ARRAY['a', 'b']);
SELECT dp.grant_budget('late', 'regress_ann', 5);
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT * FROM dp.keys('late', 't', rho => 1)$$);
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.add_attribute('late', 't', open => true);
SELECT attribute, kind, cells, levels, open FROM dp.attributes WHERE dataset = 'late';
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM dp.histogram('late', 't', rho => 0.1);
-- an empty table has no keys
SELECT count(*) FROM dp.keys('late', 't', rho => 0.1);
SELECT * FROM dp.describe('visits') WHERE description LIKE '  t %' OR description LIKE '%    open:%';
SELECT label, round(estimate) FROM dp.histogram('visits', 't', rho => 100);

-- Units: of each at most k keys, and each once
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE stays (person text, ward text);
-- 40 people with the same ward three times and two others; one of them has a ward of their own, one person is NULL, and two wards are only in rows without a person
INSERT INTO stays SELECT 'p' || i, w FROM generate_series(1, 40) i, unnest(ARRAY['heart', 'heart', 'heart', 'lung', 'skin', NULL]) w;
INSERT INTO stays VALUES ('p1', 'own'), (NULL, 'heart'), (NULL, 'nobody'), ('p2', repeat('x', 1024)), ('p3', repeat('x', 1024)), ('p4', repeat('x', 1025)), ('p5', repeat('x', 1025));
INSERT INTO stays SELECT 'many', 'w' || i FROM generate_series(1, 1000) i;
INSERT INTO stays SELECT 'more', 'w' || i FROM generate_series(1, 1000) i;
SELECT dp.create_dataset('stays', 'stays', 1e5, delta => 1e-5, unit => 'person', max_rows => 5, accounting => 'zcdp');
SELECT dp.add_attribute('stays', 'ward', open => true);
SELECT dp.grant_budget('stays', 'regress_ann', 1e5);
SET SESSION AUTHORIZATION regress_ann;
-- noise is on whole numbers here; two people have the long ward, which is the least that can be told
SELECT left(key, 6), length(key), estimate FROM dp.keys('stays', 'ward', rho => 1000, delta => 1e-9) WHERE key !~ '^w[0-9]';
-- two people with five keys each of a thousand meet in few of them
SELECT count(*) <= 5, sum(estimate) <= 10 OR count(*) = 0 FROM dp.keys('stays', 'ward', rho => 1000, delta => 1e-9) WHERE key ~ '^w[0-9]';
-- with one key of each the three wards share the forty people, but for three who have another ward that may be chosen
SELECT sum(estimate) BETWEEN 37 AND 40, count(*) FROM dp.keys('stays', 'ward', rho => 1000, delta => 1e-9, rows_per_unit => 1) WHERE key IN ('heart', 'lung', 'skin');
SELECT refused($$SELECT * FROM dp.keys('stays', 'ward', rho => 1, rows_per_unit => 6)$$);
SELECT refused($$SELECT * FROM dp.keys('stays', 'ward', rho => 1, rows_per_unit => 0)$$);
-- stderr: sqrt(k / 2 rho); substitute: sqrt(2) times as much
SELECT DISTINCT round((stderr / sqrt(5 / (2 * 0.5)))::numeric, 2) FROM dp.keys('stays', 'ward', rho => 0.5, delta => 1e-9);
SELECT DISTINCT round((stderr / sqrt(2 / (2 * 0.5)))::numeric, 2) FROM dp.keys('stays', 'ward', rho => 0.5, delta => 1e-9, rows_per_unit => 2);
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.drop_dataset('stays');
CREATE TABLE others AS SELECT * FROM stays;
INSERT INTO others SELECT NULL, NULL FROM generate_series(1, 6000);
SELECT dp.create_dataset('others', 'others', 1e5, delta => 1e-5, unit => 'person', max_rows => 5, accounting => 'zcdp', neighbours => 'substitute');
SELECT dp.add_attribute('others', 'ward', open => true);
SELECT dp.grant_budget('others', 'regress_ann', 1e5);
SET SESSION AUTHORIZATION regress_ann;
SELECT DISTINCT round((stderr / sqrt(2 * 5 / (2 * 0.5)))::numeric, 2) FROM dp.keys('others', 'ward', rho => 0.5, delta => 1e-9);

-- In several ranges of units and of keys: the same
RESET SESSION AUTHORIZATION;
SET pg_epsilon.max_memory = '1MB';
SET SESSION AUTHORIZATION regress_ann;
SELECT key, estimate FROM dp.keys('others', 'ward', rho => 1000, delta => 1e-9) WHERE key IN ('heart', 'lung', 'skin');
SELECT key, round(estimate) FROM dp.keys('visits', 'i4', rho => 100, delta => 1.5e-9);

-- Bounds: the ends of the first and the last range between powers of two in which there are rows
RESET SESSION AUTHORIZATION;
RESET pg_epsilon.max_memory;
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE numbers (i2 int2, i4 int4, i8 int8, n numeric, f4 float4, f8 float8, nothing int, zero int, t text, k int, large float8);
INSERT INTO numbers SELECT CASE WHEN i <= 20 THEN -32768 ELSE 32767 END, i * 1000 - 20000, -i, i / 7.0 + 3, i * 1e30, CASE WHEN i = 1 THEN 'NaN' WHEN i = 2 THEN 'Infinity' ELSE i * 1e-6 END,
    NULL, 0, 'x', i, 1e300 FROM generate_series(1, 40) i;
SELECT dp.create_dataset('numbers', 'numbers', 1e5, delta => 1e-5);
SELECT dp.add_attribute('numbers', c, open => true) FROM unnest('{i2,i4,i8,n,f4,f8,nothing,zero,t,large}'::name[]) c;
SELECT dp.grant_budget('numbers', 'regress_ann', 1e5);
SELECT dp.grant_budget('numbers', 'regress_bob', 1e3, accounting => 'pure', overcommit => true);
SET SESSION AUTHORIZATION regress_ann;
SELECT c, lower, upper FROM unnest('{i2,i4,i8,n,f4,f8,nothing,zero,large}'::name[]) c, dp.bounds('numbers', c, rho => 100);
SELECT count(*) AS charges FROM dp.charges WHERE dataset = 'numbers' \gset
SELECT lower, upper FROM dp.bounds('numbers', 'i4', rho => 100);
SELECT count(*) - :charges FROM dp.charges WHERE dataset = 'numbers';
SELECT count(*) FROM dp.bounds('numbers', 'i4', rho => 100, fresh => true);
SELECT count(*) - :charges FROM dp.charges WHERE dataset = 'numbers';
SELECT rho, delta, request - 'version' FROM dp.charges WHERE request ->> 'column' = 'i4' AND dataset = 'numbers' LIMIT 1;
SELECT refused(format($$SELECT * FROM dp.answer(%s, 'total')$$, (SELECT max(release) FROM dp.releases WHERE attributes = '{i4}')));
-- too few rows for the noise
SET client_min_messages = notice;
SELECT lower, upper FROM dp.bounds('numbers', 'zero', rho => 1e-4);
SET client_min_messages = warning;
SELECT refused($$SELECT * FROM dp.bounds('numbers', 't', rho => 1)$$);
SELECT refused($$SELECT * FROM dp.bounds('numbers', 'k', rho => 1)$$);
SELECT refused($$SELECT * FROM dp.bounds('numbers', 'i4')$$);
SELECT refused($$SELECT * FROM dp.bounds('numbers', NULL, rho => 1)$$);
SELECT refused($$SELECT * FROM dp.bounds('numbers', 'i4', rho => 1e9)$$);
-- a pure budget pays epsilon
SET SESSION AUTHORIZATION regress_bob;
SELECT lower, upper FROM dp.bounds('numbers', 'i4', epsilon => 100);
SELECT refused($$SELECT * FROM dp.bounds('numbers', 'i4', rho => 1)$$);

-- Pure budgets have no delta, and where values are protected keys are public
RESET SESSION AUTHORIZATION;
RESET pg_epsilon.max_memory;
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE purely (t text, x float8, y float8);
SELECT dp.create_dataset('pure', 'purely', 10, accounting => 'pure');
SELECT dp.add_attribute('pure', 't', open => true);
SELECT dp.grant_budget('pure', 'regress_ann', 5);
CREATE TABLE moving (x float8, y float8);
SELECT dp.create_dataset('moving', 'moving', 10, neighbours => 'values', private_column => 'y', max_change => 1);
SELECT refused($$SELECT dp.add_attribute('moving', 'x', open => true)$$);
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT * FROM dp.keys('pure', 't', epsilon => 1)$$);
SELECT refused($$SELECT * FROM dp.keys('moving', 'x', rho => 1)$$);

-- What was declared in this transaction cannot be charged yet; a column that has another type now is refused
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.grant_budget('pure', 'regress_curator', 1);
BEGIN;
SELECT dp.add_attribute('pure', 'x', open => true);
SELECT refused($$SELECT * FROM dp.keys('pure', 'x', epsilon => 1)$$);
ROLLBACK;
ALTER TABLE others ALTER ward TYPE varchar;
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT * FROM dp.keys('others', 'ward', rho => 1)$$);

-- Expired: asked again it is paid again
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.expire_release(:r);
SELECT count(*) FROM dp.releases WHERE release = :r;
