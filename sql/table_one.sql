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
CREATE TABLE patients (sex text, arm text, age int, smokes boolean, "Ward ""A""" text NOT NULL, nothing text, one text, seen date NOT NULL, score numeric);
INSERT INTO patients SELECT CASE WHEN i % 11 = 0 THEN NULL WHEN i % 3 = 0 THEN 'M' ELSE 'F' END, CASE WHEN i % 19 > 0 THEN (ARRAY['a', 'b', 'c'])[1 + i % 3] END,
       CASE WHEN i % 13 > 0 THEN 20 + (i * i * 7 + i * 3) % 59 END, CASE WHEN i % 17 > 0 THEN i % 4 = 0 END,
       'w' || i % 5, NULL, 'yes', date '2024-01-01' + i % 60, CASE WHEN i % 5 > 0 THEN (i * 7 % 100) / 10.0 END
  FROM generate_series(1, 3035) i;
SELECT dp.create_dataset('patients', 'patients', epsilon => 1e5);
SELECT dp.add_attribute('patients', 'sex', '{F,M,X}', nulls => 'cell'), dp.add_attribute('patients', 'arm', '{a,b,c}');
SELECT dp.add_attribute('patients', 'age', 20, 80, bins => 60, last => 'open'), dp.add_attribute('patients', 'score', 0, 10, bins => 1);
SELECT dp.add_attribute('patients', 'smokes', nulls => 'cell'), dp.add_attribute('patients', 'Ward "A"', '{w0,w1,w2}', outside => 'other');
SELECT dp.add_attribute('patients', 'nothing', '{x,y}'), dp.add_attribute('patients', 'one', '{yes}');
SELECT dp.add_attribute('patients', 'seen', '2024-01-01', '2024-03-01', step => '1 month');
SELECT dp.grant_budget('patients', 'regress_ann', epsilon => 1e5);
GRANT SELECT ON patients TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;

-- 1. One charge, ready to print.  Its price beforehand, free.
SELECT aggregate, round(stderr::numeric, 3) AS stderr, at_rows, replay FROM dp.quote_table_one('patients', 'sex', '{age,smokes,seen}', rho => 70000);
CREATE TEMP TABLE got AS SELECT row_number() OVER () AS line, t.* FROM dp.table_one('patients', 'sex', '{age,score,smokes,"Ward \"A\"",nothing,one,seen}', rho => 70000) t;
SELECT attribute, level, overall, groups, round(smd::numeric, 2) AS smd, p_value < 0.05 AS differs FROM got ORDER BY line;
SELECT count(*) AS charges, min(function) AS function FROM dp.charges;
-- SQL's own, of the same groups; the empty one has no rows there
CREATE FUNCTION pg_temp.text(n bigint, of_all bigint) RETURNS text LANGUAGE sql AS $$ SELECT trim(to_char(n, '9,999,990')) || CASE WHEN of_all > 0 THEN format(' (%s %%)', trim(to_char(100.0 * n / of_all, '990.0'))) ELSE '' END $$;
CREATE TEMP TABLE sums AS
SELECT CASE WHEN grouping(sex) = 1 THEN 'overall' ELSE coalesce(sex, '(missing)') END AS who, count(*) AS n, count(age) AS ages, avg(age) AS mean, stddev(age) AS sd,
       percentile_disc('{0.5,0.25,0.75}'::float8[]) WITHIN GROUP (ORDER BY age) AS q, count(score) AS scores, avg(score) AS score, stddev(score) AS score_sd,
       count(*) FILTER (WHERE smokes) AS smokers, count(*) FILTER (WHERE NOT smokes) AS others, count(*) FILTER (WHERE "Ward ""A""" = 'w1') AS w1,
       count(*) FILTER (WHERE "Ward ""A""" > 'w2') AS other, count(one) AS one, count(*) FILTER (WHERE seen < '2024-02-01') AS january
  FROM patients GROUP BY GROUPING SETS ((sex), ());
CREATE TEMP TABLE exact AS SELECT who, a.* FROM sums, LATERAL (VALUES ('n', NULL, pg_temp.text(n, 0)),
  ('age', 'mean (SD)', format('%s (%s)', round(mean, 1), round(sd, 1))), ('age', 'median [quartiles]', format('%s [%s, %s]', q[1], q[2], q[3])), ('age', '(missing)', pg_temp.text(n - ages, n)),
  ('score', 'mean (SD)', format('%s (%s)', round(score, 2), round(score_sd, 2))), ('score', '(missing)', pg_temp.text(n - scores, n)),
  ('smokes', 'false', pg_temp.text(others, smokers + others)), ('smokes', 'true', pg_temp.text(smokers, smokers + others)), ('smokes', '(missing)', pg_temp.text(n - smokers - others, n)),
  ('Ward "A"', 'w1', pg_temp.text(w1, n)), ('Ward "A"', '(other)', pg_temp.text(other, n)), ('nothing', 'x', '0'), ('nothing', '(missing)', pg_temp.text(n, n)),
  ('one', 'yes', pg_temp.text(one, n)), ('seen', '[2024-01-01, 2024-02-01)', pg_temp.text(january, n))) a (attribute, level, text);
SELECT count(*) AS compared, count(*) FILTER (WHERE text = CASE who WHEN 'overall' THEN overall ELSE groups->>who END) AS same
  FROM exact e JOIN got g ON g.attribute = e.attribute AND g.level IS NOT DISTINCT FROM e.level;
SELECT who, e.attribute, e.level, text AS exact, CASE who WHEN 'overall' THEN overall ELSE groups->>who END AS got
  FROM exact e JOIN got g ON g.attribute = e.attribute AND g.level IS NOT DISTINCT FROM e.level WHERE text <> CASE who WHEN 'overall' THEN overall ELSE groups->>who END;
-- standardised mean differences of F and M
SELECT round(abs(a.mean - b.mean) / sqrt((a.sd ^ 2 + b.sd ^ 2) / 2), 2) AS age, round(abs(a.score - b.score) / sqrt((a.score_sd ^ 2 + b.score_sd ^ 2) / 2), 2) AS score,
       (SELECT round((abs(p - q) / sqrt((p * (1 - p) + q * (1 - q)) / 2))::numeric, 2) FROM (SELECT a.january::float8 / a.n AS p, b.january::float8 / b.n AS q) s) AS seen
  FROM sums a, sums b WHERE a.who = 'F' AND b.who = 'M';

-- p-values repeat, and have the noise in them: at this rho they are nearly those of SQL's table
SELECT abs(p_value - 0.0120) < 0.01 AS of_chi2 FROM got WHERE attribute = 'seen' AND p_value IS NOT NULL;
SELECT count(*) AS p_values, count(*) FILTER (WHERE a.p_value = b.p_value) AS same FROM got a JOIN dp.table_one((SELECT min(release) FROM got)) b USING (attribute, level) WHERE a.p_value IS NOT NULL;

-- where the noise is larger than chance, a test that ignored it would reject nearly always, and this one in one of twenty
SELECT count(*) AS tests, count(*) FILTER (WHERE p_value < 0.05) < 10 AS few_rejected
  FROM generate_series(1, 20) i, LATERAL dp.table_one('patients', 'sex', '{smokes}', rho => 2e-4 + 0 * i, fresh => true) WHERE p_value IS NOT NULL;

-- 2. The same request is free, and so is what is read of its release.
SELECT count(*) AS lines, count(DISTINCT release) AS releases FROM dp.table_one('patients', 'sex', '{age,score,smokes,"Ward \"A\"",nothing,one,seen}', rho => 70000);
SELECT attribute, level, overall, round(smd::numeric, 2) AS smd FROM dp.table_one((SELECT min(release) FROM got), 'sex', '{smokes,score}');
SELECT count(*) AS lines FROM dp.table_one((SELECT min(release) FROM got));
SELECT count(*) AS charges FROM dp.charges WHERE rho > 1;
SELECT replay, fits FROM dp.quote_table_one('patients', 'sex', '{age,score,smokes,"Ward \"A\"",nothing,one,seen}', rho => 70000) LIMIT 1;
-- its number of rows by group is a release of counts
SELECT label, abs(round(estimate)) AS rows FROM dp.answer((SELECT min(release) FROM got), 'identity');

-- 3. Three groups; by an attribute that drops NULL; by classes; by a name in quotes; without groups; of some rows
SELECT attribute, level, overall, groups, round(smd::numeric, 2) AS smd FROM dp.table_one('patients', 'arm', '{age,one}', rho => 10000);
SELECT round(max(abs(a.mean - b.mean) / sqrt((a.sd ^ 2 + b.sd ^ 2) / 2)), 2) AS largest
  FROM (SELECT arm, avg(age) AS mean, stddev(age) AS sd FROM patients WHERE arm IS NOT NULL GROUP BY arm) a, (SELECT arm, avg(age) AS mean, stddev(age) AS sd FROM patients WHERE arm IS NOT NULL GROUP BY arm) b;
SELECT attribute, level, overall, groups FROM dp.table_one('patients', 'age CELLS (0-29; 30-59)', '{smokes}', rho => 2000);
SELECT attribute, level, overall, groups FROM dp.table_one('patients', '"Ward ""A"""', '{one}', rho => 2000);
SELECT attribute, level, overall, groups, smd FROM dp.table_one('patients', NULL, '{arm}', rho => 2000);
SELECT attribute, level, overall, groups FROM dp.table_one('patients', 'one', '{smokes}', rho => 2000, predicate => 'age >= 50');
SELECT count(*) FILTER (WHERE NOT smokes), count(*) FILTER (WHERE smokes), count(*) FROM patients WHERE age >= 50;

-- 4. Under a pure budget, and of people with several rows
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE stays (person int, sex text NOT NULL, days int NOT NULL);
INSERT INTO stays SELECT i / 2, CASE WHEN i % 4 < 2 THEN 'F' ELSE 'M' END, i % 30 FROM generate_series(0, 1999) i;
SELECT dp.create_dataset('stays', 'stays', epsilon => 1e5, unit => 'person', max_rows => 2, accounting => 'pure', delta => 0);
SELECT dp.add_attribute('stays', 'sex', '{F,M}'), dp.add_attribute('stays', 'days', 0, 30, bins => 30, last => 'open');
SELECT dp.grant_budget('stays', 'regress_ann', epsilon => 1e5);
GRANT SELECT ON stays TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SELECT attribute, level, overall, groups FROM dp.table_one('stays', 'sex', '{days}', epsilon => 90000);
SELECT count(*), round(avg(days), 2) AS mean, round(stddev(days), 2) AS sd FROM stays WHERE sex = 'F';

-- 5. What the noise drowns: a dash
SELECT count(*) > 0 AS dashes, bool_or(overall LIKE '%–%') AS overall FROM dp.table_one('patients', 'sex', '{age,smokes}', rho => 1e-6) WHERE groups::text LIKE '%–%';

-- 6. Free, from other releases, of what they hold: levels and quartiles from counts, means from sums
SELECT max(release) AS tables FROM dp.measure('patients', '{sex,smokes,seen,age}', 'marginals(2)', rho => 3000) \gset
SELECT max(release) AS groups FROM dp.aggregate('patients', '{count(*),avg(age),stddev(age),avg(score)}', by => '{sex,smokes}', rho => 3000) \gset
SELECT max(release) AS single FROM dp.measure('patients', '{sex,arm}', 'marginals(1)', rho => 500) \gset
SELECT max(release) AS sums FROM dp.aggregate('patients', '{avg(age)}', by => '{sex}', rho => 500) \gset
CREATE TEMP TABLE charged_before AS SELECT count(*) AS n FROM dp.charges;
-- counts without their percentages, whose last digit may be another one
CREATE FUNCTION pg_temp.counts(text) RETURNS text LANGUAGE sql AS $$ SELECT regexp_replace($1, ' \([^)]*\)', '', 'g') $$;
CREATE FUNCTION pg_temp.numbers(text) RETURNS float8[] LANGUAGE sql AS $$ SELECT array_agg(m[1]::float8 ORDER BY n) FROM regexp_matches(regexp_replace($1, '(\d),(\d)', '\1\2', 'g'), '\d+[.]?\d*', 'g') WITH ORDINALITY t(m, n) $$;
CREATE FUNCTION pg_temp.near(a text, b text) RETURNS boolean LANGUAGE sql AS $$ SELECT coalesce(bool_and(abs(x - y) < 0.11), false) FROM unnest(pg_temp.numbers(a), pg_temp.numbers(b)) t(x, y) WHERE x IS DISTINCT FROM y OR x IS NOT NULL $$;
SELECT attribute, level, pg_temp.counts(overall) AS overall, pg_temp.counts(groups::text) AS groups, round(smd::numeric, 1) AS smd, p_value < 0.05 AS differs FROM dp.table_one(:tables, 'sex');
SELECT attribute, level, pg_temp.counts(overall) AS overall, pg_temp.counts(groups::text) AS groups, round(smd::numeric, 1) AS smd, p_value < 0.05 AS differs FROM dp.table_one(:groups, 'sex') WHERE level IS DISTINCT FROM 'mean (SD)';
SELECT attribute, level, pg_temp.counts(overall) AS overall, groups FROM dp.table_one(:single);
SELECT attribute, level, overall ~ '^4[78]\.\d* \(–\)$' AS mean_alone, groups->>'X' AS x FROM dp.table_one(:sums, 'sex');
SELECT attribute, level, pg_temp.counts(overall) AS overall, pg_temp.counts(groups::text) AS groups FROM dp.table_one(:groups, '"smokes"', '{"\"age\"",sex}') WHERE level IS DISTINCT FROM 'mean (SD)';
-- they are those of dp.table_one
SELECT count(*) AS lines, count(*) FILTER (WHERE pg_temp.near(a.overall, b.overall) AND pg_temp.near(a.groups::text, b.groups::text) AND abs(a.smd - b.smd) < 0.01 IS NOT FALSE) AS same,
       count(*) FILTER (WHERE a.smd IS NOT NULL) AS smds, count(*) FILTER (WHERE abs(a.p_value - b.p_value) < 0.2) AS p_values
  FROM dp.table_one(:groups, 'sex') a JOIN got b ON a.attribute = b.attribute AND a.level IS NOT DISTINCT FROM b.level WHERE a.attribute <> 'score' OR a.level = '(missing)';
-- those of counts are of rows that have all attributes
SELECT sex, count(*) AS n, count(*) FILTER (WHERE NOT smokes) AS others, count(*) FILTER (WHERE smokes) AS smokers, count(*) FILTER (WHERE smokes IS NULL) AS missing,
       count(*) FILTER (WHERE seen < '2024-02-01') AS january, percentile_disc('{0.5,0.25,0.75}'::float8[]) WITHIN GROUP (ORDER BY age) AS quartiles
  FROM patients WHERE age IS NOT NULL GROUP BY GROUPING SETS ((sex), ()) ORDER BY 1, 2;
-- p-values repeat
SELECT count(*) AS p_values, count(*) FILTER (WHERE a.p_value = b.p_value) AS same FROM dp.table_one(:tables, 'sex') a JOIN dp.table_one(:tables, 'sex', '{smokes,seen}') b USING (attribute, level) WHERE a.p_value IS NOT NULL;
-- where the noise covers everything
SELECT max(release) AS nothing FROM dp.aggregate('patients', '{count(*),avg(age),stddev(age)}', by => '{sex,smokes}', rho => 1e-8) \gset
SELECT attribute, count(*) AS lines, bool_and(groups = '{}' AND smd IS NULL AND p_value IS NULL) AS none_compared FROM dp.table_one(:nothing) GROUP BY 1 ORDER BY 1;
SELECT attribute, count(*) AS lines, bool_and((smd IS NULL OR smd >= 0) AND (p_value IS NULL OR p_value BETWEEN 0 AND 1)) AS in_range FROM dp.table_one(:nothing, 'sex') GROUP BY 1 ORDER BY 1;
SELECT count(*) - n AS charged FROM dp.charges, charged_before GROUP BY n;
-- what they do not hold
SELECT refused(format('SELECT * FROM dp.table_one(%s, ''sex'')', :single));
SELECT refused(format('SELECT * FROM dp.table_one(%s, ''arm'')', :tables));
SELECT refused(format('SELECT * FROM dp.table_one(%s, ''sex'', ''{sex}'')', :tables));
SELECT refused(format('SELECT * FROM dp.table_one(%s, ''sex'', ''{smokes,score}'')', :tables));
SELECT refused(format('SELECT * FROM dp.table_one(%s, ''sex'', ''{arm}'')', :sums));
SELECT refused(format('SELECT * FROM dp.table_one(%s, NULL, ''{arm}'')', :sums));

-- 7. What is too small to be shown
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.set_min_count('patients', 100);
SET SESSION AUTHORIZATION regress_ann;
SET client_min_messages = notice;
SELECT attribute, level, overall, groups FROM dp.table_one((SELECT min(release) FROM got), 'sex', '{smokes}');
SELECT attribute, level, pg_temp.counts(overall) AS overall, pg_temp.counts(groups::text) AS groups, round(smd::numeric, 1) AS smd, p_value < 0.05 AS differs FROM dp.table_one(:tables, 'sex') WHERE level IS DISTINCT FROM '(missing)';
SELECT attribute, level, pg_temp.counts(overall) AS overall, pg_temp.counts(groups::text) AS groups, round(smd::numeric, 1) AS smd FROM dp.table_one(:groups, 'sex', '{age}') WHERE level IS DISTINCT FROM 'mean (SD)';
SELECT groups->>'F' <> '–' AS f, groups->>'X' AS x FROM dp.table_one(:groups, 'sex', '{age}') WHERE level = 'mean (SD)';
SET client_min_messages = warning;

-- 8. Refused before the charge, with the cure
SELECT release AS counts FROM dp.measure('patients', '{sex}', rho => 1) \gset
CREATE TEMP TABLE charged AS SELECT count(*) AS n FROM dp.charges;
SELECT refused('SELECT * FROM dp.table_one(''patients'', ''sex'', ''{}'', rho => 1)');
SELECT refused('SELECT * FROM dp.table_one(''patients'', ''sex'', ''{sex}'', rho => 1)');
SELECT refused('SELECT * FROM dp.table_one(''patients'', ''age'', ''{age}'', rho => 1)');
SELECT refused('SELECT * FROM dp.table_one(''patients'', ''sex'', ''{age,age}'', rho => 1)');
SELECT refused('SELECT * FROM dp.table_one(''patients'', ''sex'', ''{ages}'', rho => 1)');
SELECT refused('SELECT * FROM dp.table_one(''patients'', ''sexes'', ''{age}'', rho => 1)');
SELECT refused('SELECT * FROM dp.table_one(''patients'', ''sex'', NULL, rho => 1)');
SELECT refused('SELECT * FROM dp.table_one(''patients'', ''sex'', ''{age}'')');
SELECT refused('SELECT * FROM dp.table_one(''patients'', ''sex'', ''{age}'', rho => 1e9)');
SELECT refused('SELECT * FROM dp.aggregate(''patients'', ''{levels(arm)}'', ''{sex}'', rho => 1)');
SELECT refused(format('SELECT * FROM dp.table_one(%s, ''arm'')', (SELECT min(release) FROM got)));
SELECT refused(format('SELECT * FROM dp.table_one(%s, attributes => ''{arm}'')', (SELECT min(release) FROM got)));
SELECT refused(format('SELECT * FROM dp.table_one(%s, ''sex'')', :counts));
SELECT attribute, level FROM dp.table_one((SELECT min(release) FROM got), '"sex"', '{"\"smokes\""}');
SELECT count(*) FROM dp.quote_table_one('patients', '"sex"', '{"\"age\"",arm}', rho => 1);
SELECT refused('SELECT * FROM dp.table_one(NULL::bigint)');
SELECT refused('SELECT * FROM dp.table_one(0)');
SELECT count(*) - n AS charged FROM dp.charges, charged GROUP BY n;
SET SESSION AUTHORIZATION regress_eve;
SELECT refused('SELECT * FROM dp.table_one(''patients'', ''sex'', ''{age}'', rho => 1)');
SELECT refused('SELECT * FROM dp.table_one(1)');

DISCARD TEMP;
RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon;
DROP TABLE patients, stays;
DROP FUNCTION public.refused(text);
REVOKE CREATE ON SCHEMA public FROM regress_curator;
DROP ROLE regress_curator, regress_ann, regress_eve;
