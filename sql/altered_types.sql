-- Attributes whose type is gone, or another one by now: what was paid is read by its labels, and an answer is never read by another type.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
GRANT CREATE ON SCHEMA public TO regress_curator;
CREATE FUNCTION told(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    told text;
BEGIN
    EXECUTE format('SELECT string_agg(label::text || '' '' || round(estimate)::bigint, '', '' ORDER BY query) FROM (%s) q', query) INTO told;
    RETURN told;
END $$;
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_curator;
CREATE TYPE mood AS ENUM ('sad', 'mad', 'glad');
CREATE TABLE people (sex text, m mood, name text, n int);
INSERT INTO people SELECT (ARRAY['f', 'm'])[i % 2 + 1], (enum_range(NULL::mood))[i % 3 + 1], 'abcdefgh', 7 FROM generate_series(0, 2999) i;
SELECT dp.create_dataset('people', 'people', 1e5);
SELECT dp.add_attribute('people', 'sex', '{f,m}'), dp.add_attribute('people', 'm'), dp.add_attribute('people', 'name', open => true), dp.add_attribute('people', 'n', open => true);
SELECT dp.grant_budget('people', 'regress_curator', 5e4);
\t on
SELECT release AS moods FROM dp.histogram('people', '{m}', rho => 1000) LIMIT 1 \gset
SELECT release AS not_sad FROM dp.histogram('people', '{sex}', rho => 1000, predicate => 'm > ''sad''') LIMIT 1 \gset
SELECT release AS by_sex FROM dp.histogram('people', '{sex}', rho => 1000) LIMIT 1 \gset

-- A label has another name
SELECT dp.drop_attribute('people', 'm');
ALTER TYPE mood RENAME VALUE 'sad' TO 'blue';
SELECT told($$SELECT * FROM dp.answer($$ || :moods || $$, 'identity(m)')$$);
SELECT told($$SELECT * FROM dp.answer($$ || :not_sad || $$, 'identity(sex)')$$);
-- the type is gone
ALTER TABLE people DROP COLUMN m;
DROP TYPE mood;
SELECT told($$SELECT * FROM dp.answer($$ || :moods || $$, 'identity(m)')$$);
SELECT told($$SELECT * FROM dp.answer($$ || :not_sad || $$, 'identity(sex)')$$);
SELECT dp.publish(:moods, 'public.published');
SELECT m, round(estimate) FROM published ORDER BY m COLLATE "C";
-- and what has nothing to do with it is asked and known as before
SELECT known_release = :by_sex AS known FROM dp.quote('people', '{sex}', rho => 0.001);
SELECT told($$SELECT * FROM dp.histogram('people', '{sex}', rho => 0.001, reuse => true)$$) = told($$SELECT * FROM dp.answer($$ || :by_sex || $$, 'identity(sex)')$$) AS reused;
-- one of that name is another one
CREATE DOMAIN mood AS integer;
SELECT told($$SELECT * FROM dp.answer($$ || :moods || $$, 'identity(m)')$$);

-- A column that is open and of another type by now is declared anew: what was found in it is not read by that type
SELECT key FROM dp.keys('people', 'name', epsilon => 100, delta => 1e-13);
SELECT lower, upper FROM dp.bounds('people', 'n', epsilon => 100);
ALTER TABLE people ALTER name TYPE bigint USING length(name), ALTER n TYPE float8;
SELECT refused($$SELECT dp.add_attribute('people', 'name', '{8}')$$);
SELECT refused($$SELECT dp.add_attribute('people', 'n', 0, 10, 10)$$);
SELECT refused($$SELECT * FROM dp.keys('people', 'name', epsilon => 100, delta => 1e-13)$$);
SELECT dp.alter_attribute('people', 'name', '{8}'), dp.alter_attribute('people', 'n', 0, 10, 10);
SELECT key FROM dp.keys('people', 'name', epsilon => 100, delta => 1e-13);
SELECT lower, upper FROM dp.bounds('people', 'n', epsilon => 100);

RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused, told;
DROP OWNED BY regress_curator CASCADE;
DROP ROLE regress_curator;
