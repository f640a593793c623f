-- dp.publish and dp.expire_release: columns of every kind of query, replacing, rights, names.  Estimates
-- are never printed.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
CREATE ROLE regress_bob;
GRANT CREATE ON SCHEMA public TO regress_curator, regress_ann, regress_bob;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN years AS int CHECK (VALUE > 0);
CREATE SCHEMA "Reports" AUTHORIZATION regress_ann;
-- Asks, publishes as `target`, and tells the columns.
CREATE FUNCTION published(attributes text, workload text, target text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    number bigint; rows bigint; columns text;
BEGIN
    SELECT max(release) INTO number FROM dp.histogram('people', attributes, workload, rho => 0.01);
    rows := dp.publish(number, target);
    SELECT string_agg(quote_ident(attname) || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attnum) INTO columns
      FROM pg_attribute WHERE attrelid = target::regclass AND attnum > 0 AND NOT attisdropped;
    RETURN rows || ' rows: ' || columns;
END $$;
SET client_min_messages = warning;
\pset null '(null)'
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE people (sex text, age years, height float8, born date, seen timestamptz, smokes boolean, "feels" mood, code char(3), fee numeric(8,2),
    key uuid, query int, "Odd ""col" int, age_from int);
SELECT dp.create_dataset('people', 'people', 100);
SELECT dp.add_attribute('people', 'sex', '{f,m}', outside => 'other', nulls => 'cell');
SELECT dp.add_attribute('people', 'age', 0, 100, 4);
SELECT dp.add_attribute('people', 'height', 150.0, 200.0, 2, outside => 'other', nulls => 'cell');
SELECT dp.add_edges('people', 'born', '{2000-01-01,2000-02-01,2000-04-10}');
SELECT dp.add_edges('people', 'seen', '{2020-01-01 00:00+00,2020-01-02 00:00+00}');
SELECT dp.add_attribute('people', 'smokes');
SELECT dp.add_attribute('people', 'feels');
SELECT dp.add_attribute('people', 'code', '{A,BB}');
SELECT dp.add_edges('people', 'fee', '{0,1.50,10}');
SELECT dp.add_attribute('people', 'key', '{00000000-0000-0000-0000-000000000001}');
SELECT dp.add_attribute('people', 'query', '{1,2}');
SELECT dp.add_attribute('people', 'Odd "col', '{1,2}');
SELECT dp.add_attribute('people', 'age_from', '{7,8}');
SELECT dp.grant_budget('people', 'regress_ann', 50);
SELECT dp.grant_budget('people', 'regress_bob', 50);

SET SESSION AUTHORIZATION regress_ann;
-- Levels, with and without 'other' and NULL
SELECT published('sex', 'identity', 'by_sex');
SELECT query, sex, sex_cell FROM by_sex ORDER BY query;
SELECT published('smokes', 'identity', 'by_smokes');
SELECT query, smokes FROM by_smokes ORDER BY query;
SELECT published('{feels,code,key}', 'identity', 'by_three');
SELECT query, feels, code, key FROM by_three WHERE feels <= 'ok' ORDER BY query;
-- Bins: half-open, the last one closed; a domain counts as its base type
SELECT published('age', 'identity', 'by_age');
SELECT query, age_from, age_to FROM by_age ORDER BY query;
SELECT published('height', 'identity', 'by_height');
SELECT query, height_from, height_to, height_cell FROM by_height ORDER BY query;
SET DateStyle = 'SQL, DMY';
SET TimeZone = 'Asia/Tokyo';
SELECT published('{born,seen}', 'identity', 'by_date');
SELECT published('fee', 'identity', 'by_fee');
RESET DateStyle;
RESET TimeZone;
SELECT query, born_from, born_to, seen_from AT TIME ZONE 'UTC' AS seen_from FROM by_date ORDER BY query;
SELECT fee_from, fee_to FROM by_fee ORDER BY query;
-- Ranges: of bins their edges, of levels the first and the last
SELECT published('age', 'all_range + total', 'by_range');
SELECT query, age_from, age_to, age_cell FROM by_range ORDER BY query;
SELECT published('sex', 'prefix + identity', 'by_prefix');
SELECT query, sex_from, sex_to, sex_cell FROM by_prefix ORDER BY query;
-- Unions: what a term does not restrict is 'all'
SELECT published('{age,smokes}', 'identity(age) * identity(smokes) + identity(smokes) + total', 'by_union');
SELECT query, age_from, age_cell, smokes, smokes_cell FROM by_union ORDER BY query;
-- What no query restricts has no column
SELECT published('{age,smokes}', 'identity(smokes)', 'by_one');
SELECT published('{age,smokes}', 'total', 'by_none');
-- Rows of matrices
SELECT published('{age,smokes}', 'matrix(smokes; {{1,-1},{1,1}}) * prefix(age)', 'by_matrix');
SELECT query, age_from, age_to, smokes_row FROM by_matrix ORDER BY query;
SELECT published('smokes', 'identity + matrix({{1,-1}})', 'by_row');
SELECT query, smokes, smokes_row, smokes_cell FROM by_row ORDER BY query;
SELECT published('{smokes,query}', 'identity(smokes) + matrix({{1,0,0,-1},{1,1,1,1}})', 'by_cells');
SELECT query, matrix_row, smokes, smokes_cell FROM by_cells ORDER BY query;
-- Names that are taken get a number
SELECT published('{query,age,age_from}', 'identity', 'by_names');
SELECT published('{"Odd \"col"}', 'identity', 'by_odd');

-- The same numbers as dp.answer; the interval is that of the law, smallest on multiples of 1/256, and not cut off at 0
SELECT release AS release FROM dp.histogram('people', 'age', rho => 0.01) LIMIT 1 \gset
SELECT count(*) AS rows, bool_and(p.estimate = a.estimate AND p.stderr = a.stderr
           AND p.lower95 = a.lower95 AND p.upper95 = a.upper95) AS same,
       bool_and(p.upper95 - p.estimate BETWEEN 1.9599 * p.stderr AND 1.96 * p.stderr + 1 / 256.0 AND p.estimate - p.lower95 = p.upper95 - p.estimate) AS of_law, bool_or(p.lower95 < 0) AS below_0
  FROM by_age p JOIN dp.answer(:release, 'identity') a USING (query);
-- What it says of itself; it is an ordinary table of the caller's with a primary key; nothing was charged
SELECT regexp_replace(obj_description('by_age'::regclass), 'on \d{4}-\d\d-\d\d$', 'on a date');
SELECT pg_get_userbyid(relowner) AS owner, relkind, relpersistence FROM pg_class WHERE oid = 'by_age'::regclass;
SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'by_age'::regclass AND contype = 'p';
SELECT count(*) AS charges FROM dp.charges \gset
SELECT dp.publish(:release, '"Reports"."By Age"');
SELECT dp.publish(:release, 'pg_temp.mine', false);
SELECT count(*) FROM "Reports"."By Age";
SELECT relpersistence FROM pg_class WHERE oid = 'mine'::regclass;
SELECT count(*) = :charges AS nothing_charged FROM dp.charges;
-- With a predicate
SELECT release AS selected FROM dp.histogram('people', 'smokes', rho => 0.01, predicate => 'age >= 25') LIMIT 1 \gset
SELECT dp.publish(:selected, 'selected');
SELECT regexp_replace(obj_description('selected'::regclass), 'on \d{4}-\d\d-\d\d$', 'on a date');

-- Replacing: privileges and views stay where the columns do
SELECT refused(format('SELECT dp.publish(%s, %L)', :release, 'by_age'));
GRANT SELECT ON by_age TO regress_bob;
CREATE VIEW on_it AS SELECT * FROM by_age;
SELECT 'by_age'::regclass::oid AS before \gset
SELECT release AS again FROM dp.histogram('people', 'age', rho => 0.02) LIMIT 1 \gset
SELECT dp.publish(:again, 'by_age', replace => true);
SELECT 'by_age'::regclass::oid = :before AS kept, has_table_privilege('regress_bob', 'by_age', 'SELECT') AS granted, count(*) FROM on_it;
SELECT regexp_replace(obj_description('by_age'::regclass), 'on \d{4}-\d\d-\d\d$', 'on a date');
-- not while a table inherits from it, or anything is on it that runs
CREATE TABLE child () INHERITS (by_age);
INSERT INTO child SELECT * FROM ONLY by_age LIMIT 2;
SELECT dp.publish(:again, 'by_age', replace => true);
SELECT count(*) FROM child;
DROP TABLE child;
-- other columns: another table, unless something depends on the old one
SELECT refused(format('SELECT dp.publish(%s, %L, replace => true)', :selected, 'by_age'));
DROP VIEW on_it;
SELECT dp.publish(:selected, 'by_age', replace => true);
SELECT query, smokes FROM by_age ORDER BY query;
-- only a table that dp.publish made
CREATE TABLE own (query int PRIMARY KEY);
CREATE VIEW own_view AS SELECT 1 AS query;
COMMENT ON VIEW own_view IS 'published by dp.publish: not really';
SELECT refused(format('SELECT dp.publish(%s, %L)', :release, 'own'));
SELECT refused(format('SELECT dp.publish(%s, %L, true)', :release, 'own'));
SELECT refused(format('SELECT dp.publish(%s, %L, true)', :release, 'own_view'));
SELECT refused(format('SELECT dp.publish(%s, %L, true)', :release, 'people'));
-- the caller's transaction
BEGIN;
SELECT dp.publish(:release, 'undone');
ROLLBACK;
SELECT to_regclass('undone');
-- names
SELECT refused(format('SELECT dp.publish(%s, %L)', :release, ''));
SELECT refused(format('SELECT dp.publish(%s, %L)', :release, 'a.b.c.d'));
SELECT refused(format('SELECT dp.publish(%s, %L)', :release, 'nowhere.t'));
SELECT refused(format('SELECT dp.publish(%s, %L)', :release, 'dp.t'));
SELECT refused(format('SELECT dp.publish(%s, %L)', :release, 't; DROP TABLE own'));
SELECT dp.publish(:release, '"t; DROP TABLE own --"');
SELECT count(*) FROM own;
SELECT dp.publish(NULL, 't'), dp.publish(:release, NULL);
BEGIN READ ONLY;
SELECT refused(format('SELECT dp.publish(%s, %L)', :release, 't'));
ROLLBACK;

-- Not paid, not published; another's table is not replaced
SET SESSION AUTHORIZATION regress_bob;
SELECT refused(format('SELECT dp.publish(%s, %L)', :release, 'stolen'));
SELECT release AS bobs FROM dp.histogram('people', 'smokes', rho => 0.01, predicate => 'age >= 25') LIMIT 1 \gset
SELECT :bobs = :selected AS same_release;
SELECT refused(format('SELECT dp.publish(%s, %L, true)', :bobs, 'by_age'));
SELECT refused(format('SELECT dp.publish(%s, %L)', :bobs, '"Reports".t'));
SELECT dp.publish(:bobs, 'bobs');
SELECT refused('SELECT dp.expire_release(' || :bobs || ')');
SELECT refused('SELECT dp.expire_release(' || :release || ')');
SELECT refused('SELECT dp.expire_release(0)');

-- The owner may publish any of them, and expire them: the payload goes, the charge stays
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.publish(:release, 'curators');
SELECT count(*) AS charges, sum(rho) AS rho FROM dp.charges \gset
BEGIN;
SELECT dp.expire_release(:release);
ROLLBACK;
SELECT count(*) FROM dp.cells(:release);
SELECT dp.expire_release(:release);
SELECT count(*) = :charges AND sum(rho) = :rho AS charges_stay FROM dp.charges;
SELECT refused(format('SELECT * FROM dp.cells(%s)', :release));
SELECT refused(format('SELECT dp.expire_release(%s)', :release));
SET SESSION AUTHORIZATION regress_ann;
SELECT refused(format('SELECT * FROM dp.answer(%s, %L)', :release, 'total'));
SELECT refused(format('SELECT dp.publish(%s, %L)', :release, 't'));
SELECT count(*) FROM dp.releases WHERE release = :release;
SELECT replay FROM dp.quote('people', 'age', rho => 0.01);
SELECT DISTINCT release <> :release AS paid_anew FROM dp.histogram('people', 'age', rho => 0.01);

-- All of a dataset that are older than so long: the owner's, each an act, with what becomes of requests
SELECT refused($$SELECT dp.expire_releases('people', '1 day')$$);
SET SESSION AUTHORIZATION regress_curator;
SELECT refused($$SELECT dp.expire_releases('people', '-1 second')$$);
SELECT refused($$SELECT dp.expire_releases('nothing', '1 day')$$);
SELECT dp.expire_releases('people', NULL) IS NULL AS nothing;
SELECT count(*) AS there, (SELECT count(*) FROM dp.charges) AS charges FROM dp.releases WHERE dataset = 'people' \gset
SELECT dp.expire_releases('people', '1 day');
BEGIN;
SET LOCAL client_min_messages = warning;
SELECT dp.expire_releases('people', '0') = :there AS all_of_them, :there > 1 AS several;
SELECT count(*) FROM dp.releases WHERE dataset = 'people';
SELECT count(*) = :charges AS charges_stay FROM dp.charges;
SELECT count(*) = :there + 1 AS acts FROM dp.acts WHERE act = 'expire_release';
SELECT ok FROM dp.verify_ledger('people');
ROLLBACK;
SELECT count(*) = :there AS undone FROM dp.releases WHERE dataset = 'people';
SET SESSION AUTHORIZATION regress_ann;
-- what was published is the caller's, whatever becomes of the release
SELECT count(*) FROM "Reports"."By Age";

RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon;
DROP FUNCTION refused(text), published(text, text, text);
DROP OWNED BY regress_curator, regress_ann, regress_bob;
DROP TYPE mood;
DROP DOMAIN years;
DROP ROLE regress_curator, regress_ann, regress_bob;
