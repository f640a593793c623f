-- dp.synthesize of a release: columns of every type, what rows have in common with the release, replacing, rights.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
CREATE ROLE regress_bob;
GRANT CREATE ON SCHEMA public TO regress_curator, regress_ann, regress_bob;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN years AS int CHECK (VALUE > 0);
CREATE FUNCTION columns_of(target regclass) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(quote_ident(attname) || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attnum)
      FROM pg_attribute WHERE attrelid = target AND attnum > 0 AND NOT attisdropped $$;
-- What is rounded by chance may be one more or less.
CREATE FUNCTION about(n bigint) RETURNS bigint LANGUAGE sql AS $$ SELECT (n + 2) / 5 * 5 $$;
SET client_min_messages = warning;
\pset null '(null)'
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE people (sex text, age years, height float8, weight real, born date, seen timestamptz, at timestamp, smokes boolean, "feels" mood, code char(3),
    fee numeric(8,2), share numeric, key uuid, small smallint, big bigint, sex_other int, "Odd ""col" int, one int);
INSERT INTO people
SELECT CASE i % 5 WHEN 0 THEN 'f' WHEN 1 THEN E'a "quote"\nand '' a line' WHEN 2 THEN 'm' WHEN 3 THEN 'z' END,
       1 + i % 100, CASE WHEN i % 10 = 0 THEN NULL WHEN i % 10 = 1 THEN 90 ELSE 150 + i % 50 END, 50 + i % 50, date '2000-01-01' + i % 100,
       timestamptz '2020-01-01 00:00+00' + i % 2 * interval '12 h', timestamp '2020-01-01' + i % 1000 * interval '1 us', i % 3 = 0,
       (enum_range(NULL::mood))[1 + i % 3], (ARRAY['A', 'BB'])[1 + i % 2], i % 1000 / 100.0, i % 4 / 4.0, '00000000-0000-0000-0000-000000000001',
       i % 8, i * 10000000000, 1 + i % 2, 1 + i % 2, 7
  FROM generate_series(0, 999) i;
SELECT dp.create_dataset('people', 'people', 100000);
SELECT dp.add_attribute('people', 'sex', ARRAY['f', E'a "quote"\nand '' a line', 'm'], outside => 'other', nulls => 'cell');
SELECT dp.add_attribute('people', 'age', 0, 100, 4);
SELECT dp.add_attribute('people', 'height', 150.0, 200.0, 2, outside => 'other', nulls => 'cell');
SELECT dp.add_attribute('people', 'weight', 50::real, 100::real, 2);
SELECT dp.add_edges('people', 'born', '{2000-01-01,2000-02-01,2000-04-10}');
SELECT dp.add_edges('people', 'seen', '{2020-01-01 00:00+00,2020-01-01 12:00+00,2020-01-02 00:00+00}');
SELECT dp.add_edges('people', 'at', '{2020-01-01 00:00:00,2020-01-01 00:00:00.0005,2020-01-01 00:00:00.000999}');
SELECT dp.add_attribute('people', 'smokes');
SELECT dp.add_attribute('people', 'feels');
SELECT dp.add_attribute('people', 'code', '{A,BB}');
SELECT dp.add_edges('people', 'fee', '{0,1.50,10}');
SELECT dp.add_edges('people', 'share', '{0,.5,1}');
SELECT dp.add_attribute('people', 'key', '{00000000-0000-0000-0000-000000000001}');
SELECT dp.add_edges('people', 'small', '{0,1,2,8}');
SELECT dp.add_edges('people', 'big', '{0,5000000000000,9223372036854775807}');
SELECT dp.add_attribute('people', 'sex_other', '{1,2}');
SELECT dp.add_attribute('people', 'Odd "col', '{1,2}');
SELECT dp.add_attribute('people', 'one', 7, 8, 1);
SELECT dp.grant_budget('people', 'regress_ann', 90000);
SELECT dp.grant_budget('people', 'regress_bob', 50);

SET SESSION AUTHORIZATION regress_ann;
SELECT release AS all_of_them FROM dp.measure('people', '{sex,age,height,weight,born,seen,at,smokes,feels,code,fee,share,key,small,big,sex_other,"Odd \"col",one}',
    'marginals(2)', rho => 4e4) \gset
SELECT count(*) AS charges FROM dp.charges \gset
SELECT target, rows, release = :all_of_them AS of_release, jsonb_array_length(edges) FROM dp.synthesize(:all_of_them, 'made');
SELECT columns_of('made');
-- Every table of one attribute is the release's, which is the data's at this cost
SELECT sex, sex_other, about(count(*)) AS about FROM made GROUP BY 1, 2 HAVING count(*) > 5 ORDER BY 1, 2;
SELECT least(age / 25, 3) AS quarter, about(count(*)) AS about FROM made GROUP BY 1 ORDER BY 1;
SELECT height >= 175 AS tall, height_other, about(count(*)) AS about, min(height) >= 150 AND max(height) <= 200 AS within FROM made GROUP BY 1, 2 HAVING count(*) > 5 ORDER BY 1, 2;
SELECT min(weight) >= 50 AND max(weight) <= 100 AS within, count(DISTINCT weight) > 900 AS spread FROM made;
SELECT born < '2000-02-01' AS january, about(count(*)) AS about, count(DISTINCT born) > 25 AS spread FROM made GROUP BY 1 ORDER BY 1;
SELECT seen < '2020-01-01 12:00+00' AS morning, about(count(*)) AS about, bool_and(date_trunc('second', seen) = seen) FROM made GROUP BY 1 ORDER BY 1;
SELECT min("at") >= '2020-01-01' AND max("at") <= '2020-01-01 00:00:00.000999' AS within FROM made;
SELECT smokes, feels, count(*) / 10 * 10 AS about FROM made GROUP BY 1, 2 HAVING count(*) > 5 ORDER BY 1, 2;
SELECT code, about(count(*)) AS about FROM made GROUP BY 1 ORDER BY 1;
SELECT fee < 1.5 AS cheap, about(count(*)) AS about, max(scale(fee)), min(fee) >= 0 AND max(fee) <= 10 AS within FROM made GROUP BY 1 ORDER BY 1;
SELECT share < .5 AS little, about(count(*)) AS about, max(scale(share)) FROM made GROUP BY 1 ORDER BY 1;
SELECT key, one IN (7, 8) AS one, about(count(*)) AS about FROM made GROUP BY 1, 2;
SELECT small < 1 AS zero, small = 1 AS one, about(count(*)) AS about, max(small) <= 8 AS within FROM made GROUP BY 1, 2 HAVING count(*) > 5 ORDER BY 1, 2;
SELECT big < 5000000000000 AS low, about(count(*)) AS about FROM made GROUP BY 1 ORDER BY 1;
SELECT sex_other_2, "Odd ""col", about(count(*)) AS about FROM made GROUP BY 1, 2 HAVING count(*) > 5 ORDER BY 1, 2;
SELECT regexp_replace(obj_description('made'::regclass), '\d{4}-\d\d-\d\d', 'DATE') ~
    ('^synthetic, by dp.synthesize: rows drawn from release ' || :all_of_them || ' of dataset "people", version 1 of its data; charge \d+ of rho 40000 on DATE; no row') AS comment;
-- The same rows each time, under all settings; other numbers of rows
SET DateStyle = 'SQL, DMY';
SET TimeZone = 'Asia/Tokyo';
SET extra_float_digits = 0;
SELECT rows FROM dp.synthesize(:all_of_them, 'again');
RESET ALL;
SET client_min_messages = warning;
SELECT count(*) FROM (TABLE made EXCEPT ALL TABLE again) d;
SELECT rows FROM dp.synthesize(:all_of_them, 'pg_temp.few', 7);
SELECT count(*) FROM few;
SELECT rows FROM dp.synthesize(:all_of_them, 'pg_temp.none', 0);
SELECT rows FROM dp.synthesize(:all_of_them, 'pg_temp.many', 100000);
SELECT sex, sex_other, abs(count(*) - 20000) < 100 AS scaled FROM many GROUP BY 1, 2 ORDER BY 1, 2;
-- Nothing of that was charged
SELECT count(*) = :charges AS free FROM dp.charges;

-- The dataset form has the same columns, of a tree as of all pairs
SELECT count(*) FROM dp.synthesize('people', '{sex,age,height,weight,born,seen,at,smokes,feels,code,fee,share,key,small,big,sex_other,"Odd \"col",one}', 'pg_temp.of_tree', rho => 1e3);
SELECT columns_of('of_tree') = columns_of('made') AS same;
SELECT bool_and(age BETWEEN 0 AND 100 AND weight BETWEEN 50 AND 100 AND fee BETWEEN 0 AND 10 AND (sex IS NULL OR NOT sex_other)) AS within FROM of_tree;
SELECT count(*) FROM dp.synthesize('people', '{sex,height,at,feels,code,fee,key}', 'pg_temp.of_all', rho => 1e3, method => 'full');
SELECT columns_of('of_all');
SELECT bool_and(fee BETWEEN 0 AND 10 AND (height IS NULL OR height BETWEEN 150 AND 200)) AS within FROM of_all;
SELECT code, feels, abs(count(*) - 166) < 100 AS about FROM of_all GROUP BY 1, 2 HAVING count(*) > 5 ORDER BY 1, 2;

-- Other releases: one attribute; the whole product; single tables; a SELECT's
SELECT release FROM dp.histogram('people', 'sex', rho => 3e3) LIMIT 1 \gset
SELECT about(rows), edges FROM dp.synthesize(:release, 'by_sex');
SELECT sex, sex_other, about(count(*)) AS about FROM by_sex GROUP BY 1, 2 ORDER BY 1, 2;
SELECT release FROM dp.histogram('people', '{sex_other,small,feels}', rho => 3e3) LIMIT 1 \gset
SELECT about(rows), edges FROM dp.synthesize(:release, 'whole');
SELECT count(*), max(abs(made - estimate)) < 1.001 AS near
  FROM (SELECT sex_other, least(small, 2), feels, count(*) FROM whole GROUP BY 1, 2, 3) w (a, b, c, made)
  JOIN (SELECT (label->>'sex_other')::int, (label->'small'->>'from')::int, (label->>'feels')::mood, estimate FROM dp.cells(:release)) c (a, b, c, estimate)
    USING (a, b, c) WHERE estimate > 1;
SELECT release FROM dp.measure('people', '{age,born,fee,share,small,big,sex,height,seen,at,weight,feels}', 'marginals(1)', rho => 3e3) \gset
SELECT about(rows), edges FROM dp.synthesize(:release, 'apart');
SELECT release FROM dp.measure('people', '{age,born,fee,share,small,big,sex,height,seen,at,weight,feels}', 'marginals(1) + identity(sex) * identity(height)', rho => 3e3) \gset
SELECT about(rows), edges FROM dp.synthesize(:release, 'together');
SELECT sex, sex_other, height < 175 AS little, height_other, about(count(*)) AS about FROM together GROUP BY 1, 2, 3, 4 HAVING count(*) > 5 ORDER BY 1, 2, 3, 4;
SELECT release FROM dp.aggregate('people', '{count(*),avg(age)}', '{smokes,feels}', rho => 3e3) LIMIT 1 \gset
SELECT about(rows) FROM dp.synthesize(:release, 'of_averages');
-- Nobody is there
SELECT release FROM dp.histogram('people', '{smokes,feels}', predicate => 'sex_other = 1 AND "Odd ""col" = 2', rho => 3e3) LIMIT 1 \gset
SELECT rows FROM dp.synthesize(:release, 'nobody');
SELECT count(*) FROM nobody;
SELECT rows FROM dp.synthesize(:release, 'somebody', 60);
-- Too few groups for a small budget: rows all the same
SELECT release FROM dp.histogram('people', '{sex,age,born,small}', rho => 1e-6) LIMIT 1 \gset
SELECT rows >= 0 AS made FROM dp.synthesize(:release, 'drowned');

-- Refused
SELECT refused(format('SELECT dp.synthesize(%s, %L)', :release, 'drowned'));
SELECT rows >= 0 AS made FROM dp.synthesize(:release, 'drowned', replace => true);
CREATE TABLE mine (a int);
SELECT refused(format('SELECT dp.synthesize(%s, %L, replace => true)', :release, 'mine'));
SELECT refused(format('SELECT dp.synthesize(%s, %L, -1)', :release, 't'));
SELECT refused(format('SELECT dp.synthesize(%s, %L, 1000000000000)', :release, 't'));
SELECT refused('SELECT dp.synthesize(NULL, ''t'')');
SELECT refused(format('SELECT dp.synthesize(%s, NULL)', :release));
SELECT refused(format('SELECT dp.synthesize(%s, %L)', :release, 'nowhere.t'));
SELECT release FROM dp.histogram('people', '{smokes,age}', 'identity(smokes)', rho => .1) LIMIT 1 \gset
SELECT refused(format('SELECT dp.synthesize(%s, %L)', :release, 't'));
SELECT release FROM dp.aggregate('people', '{sum(age)}', '{smokes}', rho => 1) LIMIT 1 \gset
SELECT refused(format('SELECT dp.synthesize(%s, %L)', :release, 't'));
SET SESSION AUTHORIZATION regress_bob;
SELECT refused(format('SELECT dp.synthesize(%s, %L)', :all_of_them, 't')) ~ '^42704' AS not_his;
-- Small groups are not shown to others, so nobody is drawn in them
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.set_min_count('people', 250);
SET SESSION AUTHORIZATION regress_ann;
SELECT release FROM dp.histogram('people', 'small', rho => 3e3) LIMIT 1 \gset
SELECT refused(format('SELECT dp.synthesize(%s, %L)', :release, 'hidden'));
SELECT least(small, 2) AS least, about(count(*)) AS about FROM hidden GROUP BY 1;
SET SESSION AUTHORIZATION regress_curator;
SELECT about(rows) FROM dp.synthesize(:release, 'hidden_too');

RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon;
DROP FUNCTION refused(text), columns_of(regclass), about(bigint);
DROP OWNED BY regress_curator, regress_ann, regress_bob;
DROP TYPE mood;
DROP DOMAIN years;
DROP ROLE regress_curator, regress_ann, regress_bob;
