-- Odd studies: no event, nothing but events, one group, an empty group, names with quotes, no rows at all; from hardly any noise to far more than rows.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE odd ("t ""1""" float8, "e;1" boolean, g text, dead boolean, alive boolean, one text, n int);
INSERT INTO odd SELECT i % 50, i % 3 = 0, CASE WHEN i % 2 = 0 THEN 'a''b' ELSE 'x"y' END, true, false, 'only', i % 7 FROM generate_series(1,500) i;
SELECT dp.create_dataset('odd','odd',epsilon=>1e5);
SELECT dp.add_attribute('odd','t "1"',0,50,bins=>10), dp.add_attribute('odd','e;1'), dp.add_attribute('odd','g',ARRAY['a''b','x"y','none'],nulls=>'cell'), dp.add_attribute('odd','dead'), dp.add_attribute('odd','alive'), dp.add_attribute('odd','one','{only}'), dp.add_attribute('odd','n',0,7,bins=>7,last=>'open');
SELECT dp.grant_budget('odd','regress_ann',epsilon=>1e5);
GRANT SELECT ON odd TO regress_ann;
CREATE TABLE none AS SELECT * FROM odd WHERE false;
SELECT dp.create_dataset('none','none',epsilon=>1e5);
SELECT dp.add_attribute('none','t "1"',0,50,bins=>10), dp.add_attribute('none','e;1'), dp.add_attribute('none','g',ARRAY['a''b','x"y','none'],nulls=>'cell'), dp.add_attribute('none','dead'), dp.add_attribute('none','alive'), dp.add_attribute('none','one','{only}'), dp.add_attribute('none','n',0,7,bins=>7,last=>'open');
SELECT dp.grant_budget('none','regress_ann',epsilon=>1e5);
GRANT SELECT ON none TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;

-- releases of all rows and of none, at five noises, and what each function makes of them: nothing that is no number, or out of its range
CREATE TEMP TABLE rel(r bigint, what text);
DO $$ DECLARE d text; rh float8; r bigint; BEGIN
 FOREACH d IN ARRAY '{odd,none}'::text[] LOOP FOREACH rh IN ARRAY '{1e-9,1e-5,1e-2,1,500}'::float8[] LOOP
  SELECT max(release) INTO r FROM dp.histogram(d, ARRAY['t "1"','e;1','g'],'identity',rho=>rh); INSERT INTO rel VALUES (r, 'h '||d||rh);
  SELECT max(release) INTO r FROM dp.histogram(d, ARRAY['t "1"','dead','g'],'identity',rho=>rh); INSERT INTO rel VALUES (r, 'd '||d||rh);
  SELECT max(release) INTO r FROM dp.histogram(d, ARRAY['t "1"','alive','one'],'identity',rho=>rh); INSERT INTO rel VALUES (r, 'l '||d||rh);
  SELECT max(release) INTO r FROM dp.aggregate(d, ARRAY['count(*)','avg(n)','stddev(n)','avg("t ""1""")'],by=>'{g,one}',rho=>rh); INSERT INTO rel VALUES (r, 'a '||d||rh);
 END LOOP; END LOOP; END $$;
CREATE TEMP TABLE bad(what text);
DO $$ DECLARE x record; y record; q text; k text; BEGIN
 FOR x IN SELECT * FROM rel LOOP
  k := CASE left(x.what,1) WHEN 'h' THEN 'e;1' WHEN 'd' THEN 'dead' ELSE 'alive' END;
  IF left(x.what,1) <> 'a' THEN
   FOR y IN SELECT * FROM dp.survival(x.r,'t "1"',k,ARRAY[CASE left(x.what,1) WHEN 'l' THEN 'one' ELSE 'g' END]) LOOP
     IF NOT coalesce(y.lower95 >= 0 AND y.upper95 <= 1 AND y.lower95 <= y.upper95, false) OR y.at_risk < 0 OR y.at_risk = 'NaN' OR y.survival < 0 OR y.survival > 1 OR y.survival='NaN' OR y.stderr = 'NaN' OR y.stderr = 'Infinity' THEN INSERT INTO bad VALUES ('survival '||x.what||' '||y::text); END IF; END LOOP;
   FOR y IN SELECT * FROM dp.survival_summary(x.r,'t "1"',k,ARRAY[CASE left(x.what,1) WHEN 'l' THEN 'one' ELSE 'g' END]) LOOP
     IF y.lower95 > y.upper95 OR y.lower95 < 0 OR y.upper95 > 50 OR y.estimate < 0 OR y.estimate > 50 OR y.estimate='NaN' OR y.stderr IN ('NaN','Infinity') THEN INSERT INTO bad VALUES ('summary '||x.what||' '||y::text); END IF; END LOOP;
   BEGIN
   FOR y IN SELECT * FROM dp.compare_survival(x.r,'t "1"',k,ARRAY[CASE left(x.what,1) WHEN 'l' THEN 'one' ELSE 'g' END]) LOOP
     IF y.p_value < 0 OR y.p_value > 1 OR y.p_value='NaN' OR y.statistic < 0 OR y.statistic IN ('NaN','Infinity') OR y.df < 1 THEN INSERT INTO bad VALUES ('compare '||x.what||' '||y::text); END IF; END LOOP;
   EXCEPTION WHEN invalid_parameter_value THEN NULL; END;
   FOREACH q IN ARRAY ARRAY['chi2','proportions','trend'] LOOP
   BEGIN
   FOR y IN SELECT * FROM dp.hypothesis_test(x.r,q,ARRAY[k,CASE left(x.what,1) WHEN 'l' THEN 'one' ELSE 'g' END],'{"replicates":99}') LOOP
     IF y.p_value < 0 OR y.p_value > 1 OR y.p_value='NaN' OR y.statistic IN ('NaN','Infinity') OR y.estimate < -1 OR y.estimate > 1 OR y.lower95 < -1 OR y.upper95 > 1 OR y.lower95 > y.upper95 OR y.estimate='NaN' THEN INSERT INTO bad VALUES (q||' '||x.what||' '||y::text); END IF; END LOOP;
   EXCEPTION WHEN invalid_parameter_value THEN NULL; END;
   END LOOP;
  ELSE
   FOR y IN SELECT * FROM dp.hypothesis_test(x.r,'means',ARRAY['n','g'],'{"replicates":99}') LOOP
     IF y.p_value < 0 OR y.p_value > 1 OR y.p_value='NaN' OR y.statistic IN ('NaN','Infinity') OR y.lower95 > y.upper95 OR y.estimate='NaN' OR y.lower95 < -7 OR y.upper95 > 7 OR y.estimate NOT BETWEEN y.lower95 AND y.upper95 THEN INSERT INTO bad VALUES ('means '||x.what||' '||y::text); END IF; END LOOP;
   FOREACH q IN ARRAY ARRAY['difference','ratio'] LOOP
   FOR y IN SELECT * FROM dp.contrast(x.r,'avg(n) WHERE (g=''a''''b'')','avg(n) WHERE (g=''none'')',q) UNION ALL SELECT * FROM dp.contrast(x.r,'avg(n) WHERE (g=''none'')','avg(n) WHERE (g=''x"y'')',q) UNION ALL SELECT * FROM dp.contrast(x.r,'count(*) WHERE (g=''none'')','g=''x"y''',q) UNION ALL SELECT * FROM dp.contrast(x.r,'share WHERE (g=''none'')','share WHERE (g=''x"y'')',q) LOOP
     IF y.lower95 IS NULL OR y.lower95 > y.upper95 OR y.estimate IN ('NaN','Infinity','-Infinity') OR y.stderr IN ('NaN','Infinity') OR y.estimate NOT BETWEEN y.lower95 AND y.upper95 OR y.lower95='NaN' THEN INSERT INTO bad VALUES ('contrast '||q||x.what||' '||y::text); END IF; END LOOP;
   END LOOP;
  END IF;
  FOR y IN SELECT * FROM dp.table_one(x.r,CASE left(x.what,1) WHEN 'l' THEN 'one' ELSE 'g' END) UNION ALL SELECT * FROM dp.table_one(x.r) LOOP
   IF y.p_value < 0 OR y.p_value > 1 OR y.p_value = 'NaN' OR y.smd < 0 OR y.smd IN ('NaN','Infinity') OR y::text ~* 'nan|inf|e\+' THEN INSERT INTO bad VALUES ('table '||x.what||' '||y::text); END IF; END LOOP;
 END LOOP; END $$;
SELECT what FROM bad;
SELECT count(*) AS releases FROM rel;

-- calls of another kind
SELECT min(r) AS some FROM rel \gset
SELECT refused(format('SELECT * FROM dp.table_one(%s, %L, %L)', :some, 'g', '{NULL}'));
SELECT refused(format('SELECT * FROM dp.table_one(%s, %L, %L)', :some, '', '{g}'));
SELECT refused('SELECT * FROM dp.table_one(-1)');
SELECT refused(format('SELECT * FROM dp.hypothesis_test(%s, %L, %L, %L)', :some, 'chi2', '{g}', '[]'));
SELECT refused(format('SELECT * FROM dp.hypothesis_test(%s, %L, ARRAY[%L, %L], %L)', :some, 'chi2', 'g', 'e;1', '{"replicates": null}'));
SELECT refused(format('SELECT * FROM dp.hypothesis_test(%s, %L, ARRAY[%L, %L], %L)', :some, 'trend', 'g', 'e;1', '{"scores": {"g": [1, 2, "3"]}}'));
SELECT refused(format('SELECT * FROM dp.hypothesis_test(%s, %L, %L, %L)', :some, 'goodness', '{g}', '{"probabilities": [0.5, 0.5]}'));
SELECT refused(format('SELECT * FROM dp.compare_survival(%s, NULL, %L, %L)', :some, 'e;1', '{g}'));
SELECT refused(format('SELECT * FROM dp.contrast(%s, %L, %L, %L)', :some, '', '', 'ratio'));

DISCARD TEMP;
RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon;
DROP TABLE odd, none;
DROP FUNCTION public.refused(text);
REVOKE CREATE ON SCHEMA public FROM regress_curator;
DROP ROLE regress_curator, regress_ann;
