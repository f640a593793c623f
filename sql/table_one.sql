-- dp.table_one: the first table of a study.  At a very large rho it is the one that SQL makes of the rows.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
CREATE ROLE regress_eve;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;

SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE patients (sex text, arm text, age int, "Body mass" float8 NOT NULL, smokes boolean, ward text NOT NULL, nothing text, same int NOT NULL, seen date NOT NULL);
INSERT INTO patients SELECT CASE WHEN i % 11 = 0 THEN NULL WHEN i % 3 = 0 THEN 'M' ELSE 'F' END, (ARRAY['a', 'b', 'c'])[1 + i % 3],
       CASE WHEN i % 13 > 0 THEN 20 + (i * 37) % 60 END, 18 + (i * 7 % 120) / 8.0, CASE WHEN i % 17 > 0 THEN i % 4 = 0 END,
       'w' || i % 5, NULL, 7, date '2024-01-01' + i % 60
  FROM generate_series(1, 3000) i;
SELECT dp.create_dataset('patients', 'patients', epsilon => 1e5);
SELECT dp.add_attribute('patients', 'sex', '{F,M,X}', nulls => 'cell'), dp.add_attribute('patients', 'arm', '{a,b,c}');
SELECT dp.add_attribute('patients', 'age', 20, 80, bins => 60, last => 'open'), dp.add_attribute('patients', 'Body mass', 18, 33, bins => 120);
SELECT dp.add_attribute('patients', 'smokes', nulls => 'cell'), dp.add_attribute('patients', 'ward', '{w0,w1,w2}', outside => 'other');
SELECT dp.add_attribute('patients', 'nothing', '{x,y}'), dp.add_attribute('patients', 'same', 0, 10, bins => 1);
SELECT dp.add_attribute('patients', 'seen', '2024-01-01', '2024-03-01', step => '1 month');
SELECT dp.grant_budget('patients', 'regress_ann', epsilon => 1e5);
GRANT SELECT ON patients TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;

-- 1. One charge, ready to print.
CREATE TEMP TABLE got AS SELECT row_number() OVER () AS line, t.* FROM dp.table_one('patients', 'sex', '{age,"Body mass",smokes,ward,nothing,same,seen}', rho => 1000) t;
SELECT attribute, level, overall, groups, round(smd::numeric, 3) AS smd FROM got ORDER BY line;
SELECT count(*) AS charges FROM dp.charges;
SELECT aggregate, round(stderr::numeric, 3) AS stderr, at_rows, replay FROM dp.quote_table_one('patients', 'sex', '{age,"Body mass",smokes,ward,nothing,same,seen}', rho => 1000);
