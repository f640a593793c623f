-- dp.alter_attribute, dp.alter_edges and dp.drop_attribute: what was paid keeps the declaration that it was paid under, and nothing else does.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator, regress_ann;
SET TimeZone = 'UTC';
SET DateStyle = 'ISO';
-- What a release or a series of calls says: labels with rounded estimates.
CREATE FUNCTION told(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    told text;
BEGIN
    EXECUTE format('SELECT string_agg(label::text || '' '' || round(estimate)::bigint, '', '' ORDER BY query) FROM (%s) q', query) INTO told;
    RETURN told;
END $$;
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_curator;
CREATE TYPE mood AS ENUM ('sad', 'glad');
CREATE TABLE people (sex text, age int, region text, m mood, at timestamptz, y boolean);
INSERT INTO people SELECT (ARRAY['f', 'm'])[i % 2 + 1], i % 100, (ARRAY['n', 's'])[i % 5 / 3 + 1], 'glad', timestamptz '2020-01-01' + (i % 40) * interval '1 day', i % 100 > 50
  FROM generate_series(0, 3999) i;
SELECT dp.create_dataset('people', 'people', 1e5);
SELECT dp.add_attribute('people', 'sex', '{f,m}'), dp.add_attribute('people', 'age', 0, 100, 2, last => 'open'), dp.add_attribute('people', 'region', '{n,s}'),
  dp.add_attribute('people', 'm'), dp.add_attribute('people', 'y'), dp.set_time('people', 'at');
SELECT dp.grant_budget('people', 'regress_ann', 8e4);
SELECT dp.expose('people', 'public.v');
GRANT SELECT ON v TO regress_ann;
\t on

SET SESSION AUTHORIZATION regress_ann;
SELECT release AS by_age FROM dp.histogram('people', '{age}', rho => 1000) LIMIT 1 \gset
SELECT release AS ranges FROM dp.histogram('people', '{age}', 'prefix(age)', rho => 1000) LIMIT 1 \gset
SELECT release AS by_both FROM dp.histogram('people', '{sex,age}', rho => 1000) LIMIT 1 \gset
SELECT release AS by_sex FROM dp.histogram('people', '{sex}', rho => 1000) LIMIT 1 \gset
SELECT release AS young FROM dp.histogram('people', '{sex}', rho => 1000, predicate => 'age < 50') LIMIT 1 \gset
SELECT release AS sums FROM dp.aggregate('people', ARRAY['sum(age)'], '{sex}', rho => 1000) LIMIT 1 \gset
SELECT dp.publish(:by_age, 'public.published');
SELECT count(*) FROM dp.fit('people', 'logistic_regression', 'y', '{age}', epsilon => 1000, model => 'm1');
SELECT dp.predict('m1', '{"age": 50}') AS predicted \gset
SELECT series_name FROM dp.create_series('people', 'uses', '{sex}', predicate => 'age < 50', start => '2020-01-01', period => '10 days', periods => 4, rho => 1000);
SELECT series_name FROM dp.create_series('people', 'other', '{sex}', predicate => 'region = ''n''', start => '2020-01-01', period => '10 days', periods => 4, rho => 1000);
SELECT told($$SELECT * FROM dp.report('uses', 1) WHERE over = 'totals'$$);
SELECT sum(rho) AS spent FROM dp.charges \gset

-- The owner's act alone, of what is declared
SELECT refused($$SELECT dp.alter_attribute('people', 'age', 0, 100, 4, last => 'open')$$);
SELECT refused($$SELECT dp.drop_attribute('people', 'age')$$);
SET SESSION AUTHORIZATION regress_curator;
SELECT refused($$SELECT dp.drop_attribute('people', 'at')$$);
SELECT refused($$SELECT dp.drop_attribute('people', 'ages')$$);
SELECT refused($$SELECT dp.alter_attribute('people', 'at', '2020-01-01', '2021-01-01', step => '1 month')$$);
SELECT refused($$SELECT dp.alter_edges('people', 'age', '{0,50,40}')$$);
SELECT refused($$SELECT dp.alter_attribute('people', 'sex')$$);
SELECT refused($$SELECT dp.add_attribute('people', 'age', 0, 100, 4, last => 'open')$$);
SET client_min_messages = notice;
SELECT dp.alter_attribute('people', 'age', 0, 100, 4, last => 'open');
SET client_min_messages = warning;
SELECT attribute, kind, cells, levels FROM dp.attributes WHERE dataset = 'people' AND attribute IN ('age', 'sex');
SELECT act, subject, old_value -> 'cells' AS old, new_value -> 'cells' AS new FROM dp.acts WHERE act LIKE 'alter%';

-- What is asked now is answered by the new declaration, and costs
SET SESSION AUTHORIZATION regress_ann;
SELECT told($$SELECT * FROM dp.histogram('people', '{age}', rho => 1000)$$);
SELECT release <> :by_age AS new, release AS finer FROM dp.histogram('people', '{age}', rho => 1000) LIMIT 1 \gset
\echo :new
SELECT sum(rho) - :spent AS cost FROM dp.charges;
-- what was paid is read by the old one
SELECT told($$SELECT * FROM dp.answer($$ || :by_age || $$, 'identity(age)')$$);
SELECT told($$SELECT cell AS query, label, estimate FROM dp.cells($$ || :by_both || $$)$$);
SELECT told($$SELECT * FROM dp.answer($$ || :by_both || $$, 'prefix(age)')$$);
SELECT told($$SELECT * FROM dp.answer($$ || :finer || $$, 'identity(age)')$$);
SELECT dp.publish(:by_age, 'public.published', replace => true);
SELECT age_from, age_to, round(estimate) FROM published ORDER BY 1;
SELECT dp.publish(:sums, 'public.sums');
SELECT sex, round(sum_age / 1000) FROM sums ORDER BY 1;
SELECT dp.predict('m1', '{"age": 50}') = :predicted AS same;
-- what does not look at the age is replayed
SELECT DISTINCT release = :by_sex AS replayed FROM dp.histogram('people', '{sex}', rho => 1000);
-- what selects by it, or adds it up, is not: the words are the same
SELECT known_release FROM dp.quote('people', '{sex}', rho => 0.001, predicate => 'age < 50');
SELECT DISTINCT release = :young AS replayed FROM dp.histogram('people', '{sex}', rho => 1000, predicate => 'age < 50');
SELECT DISTINCT release = :sums AS replayed FROM dp.aggregate('people', ARRAY['sum(age)'], '{sex}', rho => 1000);
-- nor is what an old release would tell
SELECT known_release = :finer AS known FROM dp.quote('people', '{age}', rho => 0.001);
SELECT known_release FROM dp.quote('people', '{sex,age}', rho => 0.001);
SELECT known_release IN (:by_both, :by_sex) AS known FROM dp.quote('people', '{sex}', rho => 0.001);
SELECT known_release > :young AS known FROM dp.quote('people', '{sex}', rho => 0.001, predicate => 'age < 50');
SELECT DISTINCT release > :sums AS reused FROM dp.aggregate('people', ARRAY['sum(age)'], '{sex}', rho => 0.001, reuse => true);
SELECT refused(format($$SELECT * FROM dp.combine(ARRAY[%s, %s], 'total')$$, :by_age, :finer));
SELECT told($$SELECT * FROM dp.combine(ARRAY[$$ || :by_age || ',' || :ranges || $$], 'identity(age)')$$);

-- The series that uses it has ended, and the other one goes on
SELECT series, stored, ended IS NOT NULL AS ended, ended_because, next_due IS NOT NULL AS due FROM dp.series ORDER BY 1;
SELECT told($$SELECT * FROM dp.report('uses', 1) WHERE over = 'totals'$$);
SELECT refused($$SELECT * FROM dp.report('uses', 2)$$);
SELECT told($$SELECT * FROM dp.report('other', 1) WHERE over = 'totals'$$);

-- Back to what it was: another declaration still, with its own price; of what was paid nothing is lost
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.alter_edges('people', 'age', '{0,50,100}', last => 'open');
SET SESSION AUTHORIZATION regress_ann;
SELECT DISTINCT release > :finer AS new FROM dp.histogram('people', '{age}', rho => 1000);
SELECT told($$SELECT * FROM dp.answer($$ || :finer || $$, 'identity(age)')$$);
SELECT told($$SELECT * FROM dp.answer($$ || :by_age || $$, 'identity(age)')$$);

-- Dropped: nobody asks for it, and what was paid is read; even without the column
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.drop_attribute('people', 'age');
SELECT refused($$SELECT dp.drop_attribute('people', 'age')$$);
SELECT refused($$SELECT dp.alter_attribute('people', 'age', 0, 100, 4, last => 'open')$$);
DROP VIEW v CASCADE;
ALTER TABLE people DROP COLUMN age;
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT * FROM dp.histogram('people', '{age}', rho => 1000)$$);
SELECT refused($$SELECT * FROM dp.histogram('people', '{sex}', rho => 1000, predicate => 'age < 50')$$);
SELECT told($$SELECT * FROM dp.answer($$ || :by_age || $$, 'identity(age)')$$);
SELECT told($$SELECT * FROM dp.answer($$ || :finer || $$, 'identity(age)')$$);
SELECT DISTINCT release = :by_sex AS replayed FROM dp.histogram('people', '{sex}', rho => 1000);
SELECT told($$SELECT * FROM dp.report('uses', 1) WHERE over = 'totals'$$);
-- a column of that name that came since is another attribute
SET SESSION AUTHORIZATION regress_curator;
ALTER TABLE people ADD COLUMN age text;
SELECT dp.add_attribute('people', 'age', '{young,old}');
SET SESSION AUTHORIZATION regress_ann;
SELECT told($$SELECT * FROM dp.answer($$ || :by_age || $$, 'identity(age)')$$);
SELECT told($$SELECT * FROM dp.histogram('people', '{age}', rho => 1000)$$);

-- A column that was altered is declared as it is now
SET SESSION AUTHORIZATION regress_curator;
ALTER TYPE mood ADD VALUE 'mad';
ALTER TABLE people ALTER sex TYPE varchar(3);
SELECT dp.alter_attribute('people', 'm'), dp.alter_attribute('people', 'sex', '{f,m,x}', nulls => 'cell');
SELECT attribute, type, cells, levels, nulls FROM dp.attributes WHERE dataset = 'people' ORDER BY 1;
SET SESSION AUTHORIZATION regress_ann;
SELECT told($$SELECT * FROM dp.histogram('people', '{sex}', rho => 1000)$$);
SELECT told($$SELECT * FROM dp.answer($$ || :by_sex || $$, 'identity(sex)')$$);

-- and so is one that was made anew
SET SESSION AUTHORIZATION regress_curator;
ALTER TABLE people DROP COLUMN m;
ALTER TABLE people ADD COLUMN m mood DEFAULT 'mad';
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT * FROM dp.histogram('people', '{m}', rho => 1000)$$);
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.alter_attribute('people', 'm');
SET SESSION AUTHORIZATION regress_ann;
SELECT told($$SELECT * FROM dp.histogram('people', '{m}', rho => 1000)$$);

-- In the transaction of the act nothing is asked, and what is undone was not done
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.grant_budget('people', 'regress_curator', 1e4);
BEGIN;
SELECT dp.alter_attribute('people', 'sex', '{m,f}');
SELECT refused($$SELECT * FROM dp.histogram('people', '{sex}', rho => 1)$$);
ROLLBACK;
SELECT levels FROM dp.attributes WHERE attribute = 'sex';
-- one transaction for all that is corrected
BEGIN;
SELECT dp.alter_attribute('people', 'sex', '{m,f}'), dp.alter_attribute('people', 'sex', '{f,m,z}'), dp.drop_attribute('people', 'region');
SELECT dp.add_attribute('people', 'region', '{s,n}');
COMMIT;
SELECT told($$SELECT * FROM dp.histogram('people', '{sex,region}', rho => 100)$$);
SELECT dp.alter_attribute('people', 'y', open => true);
SELECT refused($$SELECT dp.alter_attribute('people', 'y', open => true)$$);

-- Open columns: what dp.keys found is replayed while the column stays, and not once it is closed
CREATE TABLE names (name text, sex text);
INSERT INTO names SELECT 'ann', 'f' FROM generate_series(1, 1000);
SELECT dp.create_dataset('names', 'names', 1000), dp.add_attribute('names', 'name', open => true), dp.add_attribute('names', 'sex', '{f,m}');
SELECT dp.grant_budget('names', 'regress_ann', 100);
SET SESSION AUTHORIZATION regress_ann;
SELECT key, round(estimate, -2) FROM (SELECT key, estimate::numeric FROM dp.keys('names', 'name', epsilon => 10, delta => 1e-12)) k;
SELECT count(*) FROM dp.charges WHERE dataset = 'names';
SET SESSION AUTHORIZATION regress_curator;
SELECT refused($$SELECT dp.add_attribute('names', 'name', open => false)$$);
SELECT refused($$SELECT dp.alter_attribute('names', 'name', open => false)$$);
SELECT refused($$SELECT dp.alter_attribute('names', 'sex', open => false)$$);
SELECT dp.add_attribute('names', 'name', '{ann}');
SELECT dp.alter_attribute('names', 'name', '{ann,bob}');
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM dp.keys('names', 'name', epsilon => 10, delta => 1e-12);
SELECT count(*) FROM dp.charges WHERE dataset = 'names';
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.alter_attribute('names', 'name', open => false);
SELECT attribute, kind, cells, open FROM dp.attributes WHERE dataset = 'names';
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT count(*) FROM dp.keys('names', 'name', epsilon => 10, delta => 1e-12)$$);

-- The column of the blocks keeps bins, which may be others
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE logs (who int, day date);
INSERT INTO logs SELECT i, date '2020-01-01' + i % 60 FROM generate_series(1, 600) i;
SELECT dp.create_dataset('logs', 'logs', 1000, unit => 'who', block => '1 month', block_column => 'day', max_blocks => 1);
SELECT dp.add_attribute('logs', 'day', '2020-01-01', '2020-02-01', step => '1 month', outside => 'drop');
SELECT dp.grant_budget('logs', 'regress_ann', 500);
SELECT refused($$SELECT dp.drop_attribute('logs', 'day')$$);
SELECT refused($$SELECT dp.drop_attribute('logs', 'who')$$);
SELECT dp.alter_attribute('logs', 'day', '2020-01-01', '2020-03-01', step => '1 month', outside => 'drop');
SET SESSION AUTHORIZATION regress_ann;
SELECT told($$SELECT * FROM dp.histogram('logs', '{day}', rho => 100)$$);

-- The ledger's chain holds all of it; a dataset that is registered anew begins with nothing declared
SET SESSION AUTHORIZATION regress_curator;
SELECT act, subject, old_value IS NOT NULL AS old, new_value IS NOT NULL AS new FROM dp.acts WHERE dataset = 'people' AND act <> 'add_attribute';
SELECT count(*) > 0 AS kept, bool_and(new_value IS NULL) AS nothing FROM dp.acts WHERE act = 'drop_attribute';
SELECT dp.drop_dataset('people');
SELECT dp.create_dataset('people', 'people', 1e5);
SELECT count(*) FROM dp.attributes WHERE dataset = 'people';
SELECT dp.add_attribute('people', 'sex', '{f,m}');
SELECT refused(format($$SELECT * FROM dp.answer(%s, 'total')$$, :by_sex));
RESET SESSION AUTHORIZATION;
SELECT count(*) FROM dp_ledger.attribute a JOIN dp_ledger.dataset d ON d.id = a.dataset_id WHERE dataset = 'people';

DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused, told;
DROP OWNED BY regress_curator, regress_ann CASCADE;
DROP ROLE regress_curator, regress_ann;
