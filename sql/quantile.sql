-- dp.quantile: medians and percentiles from paid releases; at a very large rho they are those of the rows.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
CREATE ROLE regress_eve;
GRANT CREATE ON SCHEMA public TO regress_curator;
CREATE TYPE severity AS ENUM ('mild', 'medium', 'grave');
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE stays (ward text, age int, paid numeric, weight float8, admitted date, seen timestamptz, severity severity, code text, score int);
INSERT INTO stays SELECT CASE WHEN i % 4 = 0 THEN 'a' WHEN i % 4 < 3 THEN 'b' END, i % 100, i % 1000, (i % 50) * 0.5, date '2024-01-01' + i % 360,
    timestamptz '2024-01-01 00:00+00' + make_interval(hours => i % 240), (ARRAY['mild', 'mild', 'medium', 'grave'])[i % 4 + 1]::severity,
    (ARRAY['x', 'y', 'z'])[i % 3 + 1], CASE WHEN i % 10 = 0 THEN NULL ELSE i % 5 END
  FROM generate_series(0, 17999) i;
SELECT dp.create_dataset('stays', 'stays', 90000);
SELECT dp.add_attribute('stays', 'ward', ARRAY['a', 'b'], nulls => 'cell');
SELECT dp.add_attribute('stays', 'age', 0, 80, 20, outside => 'other', nulls => 'cell');
SELECT dp.add_attribute('stays', 'paid', 0, 1000, 10);
SELECT dp.add_attribute('stays', 'weight', 0.0, 25.0, 50);
SELECT dp.add_attribute('stays', 'admitted', '2024-01-01'::date, '2024-12-26'::date, 12);
SELECT dp.add_attribute('stays', 'seen', '2024-01-01 00:00+00'::timestamptz, '2024-01-11 00:00+00'::timestamptz, 10);
SELECT dp.add_attribute('stays', 'severity');
SELECT dp.add_attribute('stays', 'code', ARRAY['z', 'x', 'y']);
SELECT dp.add_attribute('stays', 'score', ARRAY[0, 1, 2, 3, 4], nulls => 'cell');
SELECT dp.grant_budget('stays', 'regress_ann', 90000);
CREATE TABLE visits ("Odd Name" int, b boolean);
INSERT INTO visits SELECT i % 45, i % 3 = 0 FROM generate_series(0, 29999) i;
SELECT dp.create_dataset('visits', 'visits', 90000, accounting => 'pure');
SELECT dp.add_attribute('visits', 'Odd Name', 0, 50, 10);
SELECT dp.add_attribute('visits', 'b');
SELECT dp.grant_budget('visits', 'regress_ann', 90000);
SET SESSION AUTHORIZATION regress_ann;
SET timezone = 'UTC';
CREATE FUNCTION pg_temp.paid(attributes text, workload text) RETURNS bigint LANGUAGE sql AS
    $$ SELECT max(release) FROM dp.histogram('stays', attributes, workload, rho => 3000) $$;

-- bins of 4 years, the last one with 80; older ones are 'other', and no part of it
SELECT pg_temp.paid('age', 'prefix') AS age \gset
SELECT label, fraction, round(estimate::numeric, 1) AS estimate, lower95, upper95 FROM dp.quantile(:age, 'age', '{0.26,0.5,0.9,0.01,0.98}');
-- in any order, more than once, none
SELECT fraction, round(estimate::numeric, 1) AS estimate FROM dp.quantile(:age, 'age', '{0.9,0.5,0.5}');
SELECT * FROM dp.quantile(:age, 'age', '{}');
SELECT * FROM dp.quantile(NULL, 'age', '{0.5}');
-- as text of the column's type
SELECT estimate, lower95, upper95, pg_typeof(estimate) FROM dp.quantile_text(:age, 'age', '{0.33}');

-- by group, with the cell for NULL, whose ages are as many
SELECT pg_temp.paid('{ward,age}', 'identity') AS both \gset
SELECT label, fraction, round(estimate::numeric, 1) AS estimate, lower95, upper95 FROM dp.quantile(:both, 'age', '{0.11,0.52}', '{ward}');
SELECT label, round(estimate::numeric, 1) AS estimate, lower95, upper95 FROM dp.quantile(:both, 'age', '{0.5}');
SELECT pg_temp.paid('{severity,ward,score}', 'identity(ward) * prefix(score) * identity(severity)') AS three \gset
SELECT label, estimate, lower95, upper95 FROM dp.quantile(:three, 'score', '{0.45}', by => '{ward,severity}') WHERE label->>'ward' = 'b' AND label->>'severity' <> 'grave' OR label @> '{"ward": null, "severity": "grave"}';
SELECT label, estimate FROM dp.quantile(:three, 'score', '{0.45}', by => '{severity}');

-- every workload that tells the prefixes
SELECT w, round(estimate::numeric, 1) AS estimate, lower95, upper95
  FROM (SELECT w, pg_temp.paid('{ward,age}', w) AS release FROM unnest('{all_range(age),identity(ward) * prefix(age),marginals(2),marginals(1),prefix(age) * total(ward)}'::text[]) w) r,
       dp.quantile(release, 'age', '{0.5}');

-- numbers, dates, times, levels
SELECT round(estimate::numeric, 2) AS estimate, lower95, upper95 FROM dp.quantile(pg_temp.paid('paid', 'prefix'), 'paid', '{0.05,0.52,0.995}');
SELECT round(estimate::numeric, 2) AS estimate, lower95, upper95 FROM dp.quantile_text(pg_temp.paid('paid', 'prefix'), 'paid', '{0.5005}');
SELECT round(estimate::numeric, 2) AS estimate, lower95, upper95 FROM dp.quantile(pg_temp.paid('weight', 'all_range'), 'weight', '{0.51,0.75}');
SELECT estimate::date AS estimate, lower95, upper95 FROM dp.quantile_text(pg_temp.paid('admitted', 'prefix'), 'admitted', '{0.13,0.501}');
SELECT date_trunc('hour', estimate::timestamptz) AS estimate, lower95, upper95 FROM dp.quantile_text(pg_temp.paid('seen', 'prefix'), 'seen', '{0.52}');
SELECT fraction, estimate, lower95, upper95 FROM dp.quantile_text(pg_temp.paid('severity', 'identity'), 'severity', '{0.3,0.6,0.9}');
SELECT fraction, estimate, lower95, upper95 FROM dp.quantile(pg_temp.paid('score', 'prefix'), 'score', '{0.1,0.5,0.95}');

-- rows that are not seen through the noise, or an interval around the point
SELECT max(release) AS few FROM dp.histogram('stays', 'age', 'prefix', rho => 0.000000001) \gset
SELECT count(*) FROM dp.quantile(:few, 'age', '{0.5}') WHERE lower95 <= coalesce(estimate, lower95) AND coalesce(estimate, upper95) <= upper95;
-- a predicate on the attribute itself: cells that it rules out have no rows
SELECT max(release) AS old FROM dp.histogram('stays', 'age', 'prefix', rho => 3000, predicate => 'age >= 40') \gset
SELECT round(estimate::numeric, 1) AS estimate, lower95, upper95 FROM dp.quantile(:old, 'age', '{0.01,0.5}');

-- Laplace noise; odd names; no rows at all: NULL; of dawa nobody knows the errors
SELECT max(release) AS pure FROM dp.histogram('visits', '{"Odd Name",b}', 'prefix("Odd Name") * identity(b)', epsilon => 20000) \gset
SELECT label, round(estimate::numeric, 1) AS estimate, lower95, upper95 FROM dp.quantile(:pure, 'Odd Name', '{0.52}', '{b}');
SELECT label, estimate, lower95, upper95 FROM dp.quantile_text(:pure, 'b', '{0.51}', '{Odd Name}') WHERE (label #>> '{Odd Name,from}')::int = 10;
SELECT max(release) AS dawa FROM dp.histogram('visits', 'Odd Name', 'prefix', epsilon => 20000, method => 'dawa') \gset
SELECT round(estimate::numeric, 1) AS estimate, lower95, upper95 FROM dp.quantile(:dawa, 'Odd Name', '{0.52}');

-- free, and the same each time
SELECT count(*) AS charges FROM dp.charges \gset
SELECT count(DISTINCT q) FROM (SELECT q.estimate AS q FROM generate_series(1, 3), dp.quantile(:age, 'age', '{0.5}') q) s;
SELECT count(*) = :charges AS nothing_charged FROM dp.charges;

-- Errors
SELECT refused(format('SELECT * FROM dp.quantile(%s, ''age'', ''{0}'')', :age));
SELECT refused(format('SELECT * FROM dp.quantile(%s, ''age'', ''{0.5,1}'')', :age));
SELECT refused(format('SELECT * FROM dp.quantile(%s, ''age'', ''{-0.5}'')', :age));
SELECT refused(format('SELECT * FROM dp.quantile(%s, ''age'', ''{NaN}'')', :age));
SELECT refused(format('SELECT * FROM dp.quantile(%s, ''age'', ''{0.5,NULL}'')', :age));
SELECT refused(format('SELECT * FROM dp.quantile(%s, ''age'', ''{0.5}'', ''{NULL}'')', :age));
SELECT refused(format('SELECT * FROM dp.quantile(%s, ''ward'', ''{0.5}'')', :age));
SELECT refused(format('SELECT * FROM dp.quantile(%s, ''age'', ''{0.5}'', ''{code}'')', :both));
SELECT refused(format('SELECT * FROM dp.quantile(%s, ''age'', ''{0.5}'', ''{age}'')', :both));
SELECT refused(format('SELECT * FROM dp.quantile(%s, ''age'', ''{0.5}'', ''{ward,ward}'')', :both));
SELECT refused(format('SELECT * FROM dp.quantile(%s, ''code'', ''{0.5}'')', pg_temp.paid('code', 'identity')));
SELECT refused(format('SELECT * FROM dp.quantile(%s, ''severity'', ''{0.5}'')', pg_temp.paid('severity', 'identity')));
SELECT refused(format('SELECT * FROM dp.quantile(%s, ''admitted'', ''{0.5}'')', pg_temp.paid('admitted', 'prefix')));
SELECT refused(format('SELECT * FROM dp.quantile_text(%s, ''code'', ''{0.5}'')', pg_temp.paid('code', 'identity')));
-- what the release does not determine
SELECT refused(format('SELECT * FROM dp.quantile(%s, ''age'', ''{0.5}'')', pg_temp.paid('age', 'ranges(age; 0-9, 10-19)')));
SELECT refused(format('SELECT * FROM dp.quantile(%s, ''age'', ''{0.5}'', ''{ward}'')', pg_temp.paid('{ward,age}', 'prefix(age)')));
SELECT refused('SELECT * FROM dp.quantile(0, ''age'', ''{0.5}'')');
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_eve;
SELECT refused(format('SELECT * FROM dp.quantile(%s, ''age'', ''{0.5}'')', :age));
SET SESSION AUTHORIZATION regress_curator;
SELECT round(estimate::numeric, 1) AS owner_reads FROM dp.quantile(:age, 'age', '{0.5}');

DISCARD TEMP;
RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon;
DROP TABLE stays, visits;
DROP TYPE severity;
DROP FUNCTION public.refused(text);
REVOKE CREATE ON SCHEMA public FROM regress_curator;
DROP ROLE regress_curator, regress_ann, regress_eve;
