-- Roll-ups: classes of declared cells in by, and predicates that name cells.  At a very large rho rounded answers are exact.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;
SET timezone = 'UTC';
SET datestyle = 'ISO';

-- 120 days, of which a day before and one behind are 'other', and some rows have none; people of 1 to 3 rows
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE visits (person int, day date, ward text, amount int NOT NULL, score float8);
INSERT INTO visits SELECT i / 3, CASE WHEN i % 97 = 0 THEN NULL ELSE date '2024-12-31' + (i * 5) % 122 END,
       CASE i % 3 WHEN 0 THEN 'a' WHEN 1 THEN 'b' ELSE 'c' END, (i * 37) % 101, (i * 13) % 50 FROM generate_series(1, 3000) i;
CREATE TABLE units (LIKE visits);
INSERT INTO units SELECT * FROM visits;
SELECT dp.create_dataset('visits', 'visits', epsilon => 1e5), dp.create_dataset('units', 'units', epsilon => 1e5, unit => 'person', max_rows => 3);
DO $$ BEGIN
  PERFORM dp.add_attribute(d, 'day', '2025-01-01'::date, '2025-05-01'::date, 120, outside => 'other', nulls => 'cell', last => 'open'),
          dp.add_attribute(d, 'ward', '{a,b,c}'), dp.add_attribute(d, 'amount', 0, 100, bins => 10), dp.add_attribute(d, 'score', 0, 50, bins => 10),
          dp.grant_budget(d, 'regress_ann', epsilon => 1e5) FROM unnest('{visits,units}'::text[]) d;
END $$;
GRANT SELECT ON visits, units TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SELECT dataset, attribute, cells FROM dp.attributes WHERE attribute = 'day' ORDER BY 1;
SELECT 'day CELLS (0-30; 31-58; 59-89; 90-119; 120, 121)' AS months \gset
-- a label's month; those of 'other' and NULL are the last
CREATE FUNCTION pg_temp.month(label jsonb) RETURNS text LANGUAGE sql AS $$
  SELECT coalesce(to_char(date '2025-01-01' + split_part(label#>>'{day,cells}', '-', 1)::int, 'YYYY-MM'), '-') $$;
CREATE TEMP VIEW clean AS SELECT *, CASE WHEN day BETWEEN '2025-01-01' AND '2025-04-30' THEN to_char(date_trunc('month', day), 'YYYY-MM') ELSE '2025-05' END AS month FROM visits;

-- 1. Months over daily bins are SQL's.
SELECT label, round(estimate)::int AS estimate FROM dp.aggregate('visits', '{count(*)}', ARRAY[:'months'], rho => 1000);
CREATE TEMP TABLE got AS SELECT pg_temp.month(label) AS month, aggregate, estimate, stderr
  FROM dp.aggregate('visits', '{count(*),sum(amount),avg(score),count(*) where (ward = ''a'') as a}', ARRAY[:'months'], rho => 1000);
SELECT month, aggregate, abs(estimate - value) < 7 * stderr + rounding AS near, stderr < abs(value) * 0.01 AS sharp
  FROM (SELECT month, count(*) AS n, sum(amount) AS s, avg(score) AS m, count(*) FILTER (WHERE ward = 'a') AS a FROM clean GROUP BY month) t
  CROSS JOIN LATERAL (VALUES ('count(*)', n::float8, 0), ('sum(amount)', s, 0), ('avg(score)', m, 1e-3), ('a', a, 0)) v (aggregate, value, rounding)
  JOIN got USING (month, aggregate) ORDER BY month, aggregate COLLATE "C";
SELECT month, count(*) AS rows FROM clean GROUP BY month ORDER BY month;
-- classes of many ranges, in the order written: days of the week and all others; a class of one cell has the label of that cell
SELECT 'day CELLS (' || string_agg(cells, '; ' ORDER BY place) || '; 120; 121)' AS weekdays
  FROM (SELECT (place + 3) % 7 AS place, string_agg(c::text, ',' ORDER BY c DESC) AS cells FROM generate_series(0, 6) place, generate_series(0, 119) c WHERE c % 7 = place GROUP BY place) w \gset
SELECT (row_number() OVER ())::int AS class, left(label::text, 40) AS label, round(estimate)::int AS estimate FROM dp.aggregate('visits', '{count(*)}', ARRAY[:'weekdays'], rho => 1000);
SELECT extract(isodow FROM day) AS weekday, count(*) FROM visits WHERE day BETWEEN '2025-01-01' AND '2025-04-30' GROUP BY 1 ORDER BY 1;
SELECT count(*) FILTER (WHERE day IS NOT NULL) AS other, count(*) FILTER (WHERE day IS NULL) AS "null" FROM visits WHERE (day BETWEEN '2025-01-01' AND '2025-04-30') IS NOT TRUE;
-- levels; two attributes that are rolled up, in a name in quotes and in capitals
SELECT label, round(estimate)::int AS estimate FROM dp.aggregate('visits', '{count(*)}', '{"\"ward\" cells ( 2,0 ;1 )","AMOUNT CELLS(0-4;5-9)"}', rho => 1000);
SELECT ward = 'b' AS b, amount >= 50 AS large, count(*) FROM visits GROUP BY 1, 2 ORDER BY 1, 2;

-- 2. Workloads are over the classes.
SELECT label, round(estimate)::int AS estimate FROM dp.aggregate('visits', '{count(*)}', ARRAY[:'months', 'ward'], workload => 'identity(ward) + prefix(day) + total(day)', rho => 1000);
SELECT label, round(estimate)::int AS estimate FROM dp.aggregate('visits', '{count(*)}', ARRAY[:'months'], workload => 'matrix(day; {{1,0,0,0,1},{0,1,1,0,0}}) + ranges(day; 1-3)', rho => 1000);
SELECT label, round(estimate)::int AS estimate FROM dp.aggregate('visits', '{count(*)}', ARRAY[:'months', 'ward'], 'ward <> ''b''', 'identity(day) * identity(ward)', rho => 1000) WHERE round(estimate) <> 0;
SELECT month, ward, count(*) FROM clean WHERE ward <> 'b' GROUP BY 1, 2 ORDER BY 1, 2;
-- their strategy is that of so many groups: months of identity are asked as months
SELECT q.stderr / m.stderr AS ratio FROM dp.quote_aggregate('visits', '{count(*)}', ARRAY[:'months'], rho => 0.5) q, dp.quote_aggregate('visits', '{count(*)}', '{ward}', rho => 0.5) m;
SELECT groups FROM dp.quote_aggregate('visits', '{count(*)}', ARRAY[:'months'], rho => 0.5);

-- 3. Units: people by month, sums and rows where none is cut; medians.
SELECT max(rows) AS rows_of_a_person FROM (SELECT count(*) AS rows FROM units GROUP BY person) p;
SELECT pg_temp.month(label) AS month, aggregate, round(estimate)::int AS estimate FROM dp.aggregate('units', '{count(distinct person),count(*)}', ARRAY[:'months'], rho => 10000);
SELECT month, count(DISTINCT person) AS people, count(*) FROM clean GROUP BY month ORDER BY month;
SELECT pg_temp.month(label) AS month, label->>'ward' AS ward, round(estimate)::int AS estimate FROM dp.aggregate('units', '{count(distinct person)}', ARRAY[:'months', 'ward'], workload => 'identity(day) * identity(ward) + identity(day)', rho => 10000) WHERE pg_temp.month(label) < '2025-03';
SELECT month, ward, count(DISTINCT person) FROM clean WHERE month < '2025-03' GROUP BY GROUPING SETS ((month, ward), (month)) ORDER BY ward IS NULL, 1, 2;
-- a person with rows on several days of one class is one person of one cell: one of each is enough here
SELECT pg_temp.month(label) AS month, round(estimate)::int AS estimate FROM dp.aggregate('units', '{count(distinct person)}', '{"day CELLS (0-121)"}', cells_per_unit => 1, rho => 10000);
SELECT count(DISTINCT person) FROM units;
SELECT dataset, m.month, estimate BETWEEN lower95 AND upper95 AND median BETWEEN lower95 AND upper95 AND upper95 - lower95 = 10 AS inside
  FROM (SELECT 'visits' AS dataset, pg_temp.month(label) AS month, * FROM dp.aggregate('visits', '{median(amount)}', ARRAY[:'months'], rho => 10000) UNION ALL
        SELECT 'units', pg_temp.month(label), * FROM dp.aggregate('units', '{median(amount)}', ARRAY[:'months'], rho => 10000)) g
  JOIN (SELECT month, percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) AS median FROM clean GROUP BY month) m USING (month) ORDER BY 1, 2;

-- 4. Predicates and conditions on the attribute itself are about its declared cells, by values or by numbers.
SELECT pg_temp.month(label) AS month, aggregate, round(estimate)::int AS estimate, stderr > 0 AS noisy
  FROM dp.aggregate('visits', '{count(*),count(*) where (day in cells (45-50)) as some,count(day),count(*) where (day not in cells (0-120)) as none}', ARRAY[:'months'], 'day >= ''2025-02-10'' OR day IN CELLS (121)', rho => 1000);
SELECT month, count(*), count(*) FILTER (WHERE day BETWEEN date '2025-01-01' + 45 AND date '2025-01-01' + 50) AS some, count(day), count(*) FILTER (WHERE day IS NULL) AS none
  FROM clean WHERE (day >= '2025-02-10' AND day < '2025-05-01') OR day IS NULL GROUP BY month ORDER BY month;
-- a number of the attribute that is rolled up has its declared bounds
SELECT label, aggregate, abs(estimate - value) < 7 * stderr AS near, stderr < 20 AS sharp
  FROM dp.aggregate('visits', '{count(*),sum(amount)}', '{amount CELLS (0-4; 5-9)}', rho => 1000) g,
       LATERAL (SELECT CASE aggregate WHEN 'count(*)' THEN count(*) ELSE sum(amount) END AS value FROM visits WHERE (amount >= 50) = (label#>>'{amount,cells}' = '5-9')) v;
-- the same in datasets with a unit
SELECT pg_temp.month(label) AS month, aggregate, round(estimate)::int AS estimate
  FROM dp.aggregate('units', '{count(*),count(distinct person),count(*) where (day in cells (45-50)) as some}', ARRAY[:'months'], 'day >= ''2025-02-10''', rho => 10000);
SELECT month, count(*), count(DISTINCT person), count(*) FILTER (WHERE day BETWEEN date '2025-01-01' + 45 AND date '2025-01-01' + 50) AS some
  FROM clean WHERE day >= '2025-02-10' AND day < '2025-05-01' GROUP BY month ORDER BY month;
-- elsewhere
SELECT label, round(estimate)::int AS estimate FROM dp.histogram('visits', '{ward}', predicate => 'day in cells (120, 1 - 3,2,4)', rho => 1000);
SELECT ward, count(*) FROM visits WHERE day BETWEEN '2025-01-02' AND '2025-01-05' OR NOT day BETWEEN '2025-01-01' AND '2025-04-30' GROUP BY ward ORDER BY ward;
SELECT release AS measured FROM dp.measure('visits', '{ward}', predicate => 'day NOT IN CELLS (0-119) AND ward IN CELLS (1)', rho => 1000) \gset
SELECT predicate FROM dp.releases WHERE release = :measured;
SELECT query, round(estimate)::int AS estimate FROM dp.answer(:measured, 'identity(ward)');

-- 5. Canonical text: another spelling is the same request, another order or other classes are another one.
SELECT count(*) AS charges FROM dp.charges \gset
SELECT max(release) AS first FROM dp.aggregate('visits', '{count(*)}', ARRAY[:'months', 'ward'], 'ward in cells (2, 0)', rho => 0.5) \gset
SELECT attributes, predicate FROM dp.releases WHERE release = :first;
SELECT request::jsonb->'attributes' AS attributes, request::jsonb->'predicate' AS predicate FROM dp.charges ORDER BY charge DESC LIMIT 1;
SELECT count(DISTINCT release) = 1 AND min(release) = :first AS replayed FROM (
  SELECT release FROM dp.aggregate('visits', '{count(*)}', ARRAY[:'months', 'ward'], 'ward in cells (2, 0)', rho => 0.5) UNION ALL
  SELECT release FROM dp.aggregate('visits', '{count(*)}', '{"Day Cells(30,0-12,14-29,13;31-58;59-89;90-119;121,120)","ward cells (0;1;2)"}', 'WARD IN CELLS (0,2,2)', rho => 0.5)) s;
SELECT aggregate, replay FROM dp.quote_aggregate('visits', '{count(*)}', '{"day CELLS (0-30; 31-58; 59-89; 90-119; 120-121)",ward}', 'ward in cells (0, 2)', rho => 0.5);
SELECT count(*) - :charges AS charged FROM dp.charges;
SELECT count(DISTINCT release) AS others, bool_and(release > :first) AS new FROM (
  SELECT release FROM dp.aggregate('visits', '{count(*)}', '{day,ward}', 'ward in cells (0, 2)', rho => 0.5) UNION ALL
  SELECT release FROM dp.aggregate('visits', '{count(*)}', '{"day CELLS (0-29; 30-58; 59-89; 90-119; 120-121)",ward}', 'ward in cells (0, 2)', rho => 0.5) UNION ALL
  SELECT release FROM dp.aggregate('visits', '{count(*)}', '{"day CELLS (31-58; 0-30; 59-89; 90-119; 120-121)",ward}', 'ward in cells (0, 2)', rho => 0.5) UNION ALL
  SELECT release FROM dp.aggregate('visits', '{count(*)}', ARRAY[:'months', 'ward CELLS (2; 1; 0)'], 'ward in cells (0, 2)', rho => 0.5)) s;
SELECT count(*) - :charges AS charged FROM dp.charges;
-- a release that is as precise answers what was asked of the same classes, and of no others
SET client_min_messages = error;
SELECT release <= :first AS known FROM dp.aggregate('visits', '{count(*)}', ARRAY[:'months', 'ward'], 'ward in cells (0, 2)', rho => 0.1, reuse => true) LIMIT 1;
SELECT replay FROM dp.quote_aggregate('visits', '{count(*)}', '{"day CELLS (0-28; 29-58; 59-89; 90-119; 120-121)",ward}', 'ward in cells (0, 2)', rho => 0.1, reuse => true);
SELECT max(release) AS people FROM dp.aggregate('units', '{count(distinct person)}', '{ward}', rho => 0.5) \gset
SELECT release = :people AS known FROM dp.aggregate('units', '{count(distinct person)}', '{ward}', rho => 0.1, reuse => true) LIMIT 1;
SELECT max(release) AS people FROM dp.aggregate('units', '{count(distinct person)}', ARRAY[:'months'], cells_per_unit => 2, rho => 0.5) \gset
SELECT release = :people AS known FROM dp.aggregate('units', '{count(distinct person)}', ARRAY[:'months'], cells_per_unit => 2, rho => 0.1, reuse => true) LIMIT 1;
SELECT replay FROM dp.quote_aggregate('units', '{count(distinct person)}', '{"day CELLS (0-28; 29-58; 59-89; 90-119; 120-121)"}', cells_per_unit => 2, rho => 0.1, reuse => true);
SET client_min_messages = warning;

-- 6. What reads such a release.
SELECT max(release) AS paid FROM dp.aggregate('visits', '{count(*),median(amount)}', ARRAY[:'months', 'ward'], 'day in cells (0-100, 121)', rho => 10000) \gset
SELECT refused(format('SELECT count(*) FROM dp.answer(%s, ''total'')', :paid));
SELECT left(refused(format('SELECT count(*) FROM dp.cells(%s)', :paid)), 5) AS sqlstate;
SELECT left(refused(format('SELECT * FROM dp.quantile(%s, ''day'', ''{0.5}'')', :paid)), 5) AS sqlstate;
SELECT dp.publish(:paid, 'pg_temp.published', names => '{n,middle}');
SELECT query, day_cells, ward, round(n)::int AS n, middle BETWEEN middle_lower95 AND middle_upper95 AS inside FROM pg_temp.published ORDER BY query;
SELECT month, ward, count(*) FROM clean WHERE day BETWEEN '2025-01-01' AND date '2025-01-01' + 100 OR day IS NULL GROUP BY 1, 2 ORDER BY 1, 2;
SELECT regexp_replace(obj_description('pg_temp.published'::regclass), '^.*(by day.*) charge.*$', '\1') AS comment;
SELECT max(release) AS ranges FROM dp.aggregate('visits', '{count(*)}', ARRAY[:'months'], workload => 'prefix(day) + total', rho => 1000) \gset
SELECT dp.publish(:ranges, 'pg_temp.ranges');
SELECT query, day_from_cells, day_to_cells, day_cell, round(count)::int AS count FROM pg_temp.ranges ORDER BY query;
SELECT refused(format('SELECT * FROM dp.advise(''visits'', ''{count(*)}'', ARRAY[%L])', :'months'));

-- 7. Refused, free.
SELECT count(*) AS charges FROM dp.charges \gset
CREATE FUNCTION pg_temp.by(VARIADIC elements text[]) RETURNS text LANGUAGE sql AS $$
  SELECT refused(format('SELECT count(*) FROM dp.aggregate(''visits'', ''{count(*)}'', %L::text[], rho => 1)', elements)) $$;
CREATE FUNCTION pg_temp.predicate(text) RETURNS text LANGUAGE sql AS $$
  SELECT refused(format('SELECT count(*) FROM dp.aggregate(''visits'', ''{count(*)}'', ''{ward}'', %L, rho => 1)', $1)) $$;
SELECT count(*) FROM dp.aggregate('visits', '{count(*)}', '{"ward CELLS (0; 1, 1-2)"}', rho => 1);
SELECT count(*) FROM dp.histogram('visits', '{ward}', predicate => 'ward = ''a'' OR day in cells (120, 3-1 , 7)', rho => 1);
SELECT pg_temp.by('ward CELLS ()');
SELECT pg_temp.by('ward CELLS (0; 1; 2');
SELECT pg_temp.by('ward CELLS (0; ; 1, 2)');
SELECT pg_temp.by('ward CELLS (0, x; 1, 2)');
SELECT pg_temp.by('ward CELLS (0; 1, 2) + 1');
SELECT pg_temp.by('ward CELLS (0; 1)');
SELECT pg_temp.by('ward CELLS (0; 1; 2-3)');
SELECT pg_temp.by('ward CELLS (0; 1; 99999999999999999999)');
SELECT pg_temp.by('ward CELLS (0-1; 1-2)');
SELECT pg_temp.by('ward CELLS (0, 0; 1-2)');
SELECT pg_temp.by('ward CELLS (2-0; 1)');
SELECT pg_temp.by('nothing CELLS (0; 1)');
SELECT pg_temp.by('ward CELLS');
SELECT pg_temp.by('ward', 'ward CELLS (0; 1-2)');
SELECT pg_temp.by('ward CELLS (0-1; 2)', 'ward CELLS (0; 1-2)');
SELECT left(pg_temp.by('ward CELLS (' || repeat(' ', 1024 * 1024) || '0-2)'), 5) AS sqlstate;
SELECT pg_temp.predicate('ward IN CELLS ()');
SELECT pg_temp.predicate('ward IN CELLS 0');
SELECT pg_temp.predicate('ward IN CELLS (0 1)');
SELECT pg_temp.predicate('ward IN CELLS (-1)');
SELECT pg_temp.predicate('ward IN CELLS (0-)');
SELECT pg_temp.predicate('ward IN CELLS (3)');
SELECT pg_temp.predicate('ward IN CELLS (2-1)');
SELECT pg_temp.predicate('nothing IN CELLS (0)');
SELECT refused(format('SELECT count(*) FROM dp.aggregate(''visits'', ''{count(*)}'', %L, ''day in cells (0-9) and day in cells (11)'', rho => 1)', ARRAY[:'months']));
SELECT refused(format('SELECT count(*) FROM dp.aggregate(''visits'', ''{count(*)}'', %L, workload => ''ranges(day; ''''2025-01-01''''..''''2025-02-01'''')'', rho => 1)', ARRAY[:'months']));
SELECT refused(format('SELECT count(*) FROM dp.aggregate(''visits'', ''{count(*)}'', %L, workload => ''ranges(day; 3-5)'', rho => 1)', ARRAY[:'months']));
SELECT refused('SELECT count(*) FROM dp.aggregate(''visits'', ''{median(amount)}'', ''{amount CELLS (0-4; 5-9)}'', rho => 1)');
SELECT left(refused('SELECT count(*) FROM dp.histogram(''visits'', ''{ward CELLS (0; 1-2)}'', rho => 1)'), 5) AS sqlstate;
SELECT count(*) - :charges AS charged FROM dp.charges;

-- 8. A column whose name reads like the beginning of a roll-up is itself.
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE odd ("blood cells (10^9/L)" int, blood int);
INSERT INTO odd SELECT i % 4, i % 2 FROM generate_series(1, 40) i;
SELECT dp.create_dataset('odd', 'odd', epsilon => 1e5);
SELECT dp.add_attribute('odd', 'blood cells (10^9/L)', '{0,1,2,3}'), dp.add_attribute('odd', 'blood', '{0,1}'), dp.grant_budget('odd', 'regress_ann', epsilon => 1e5);
SET SESSION AUTHORIZATION regress_ann;
SELECT label, round(estimate)::int AS estimate FROM dp.aggregate('odd', '{count(*)}', '{blood cells (10^9/L)}', rho => 1000);
SELECT label, round(estimate)::int AS estimate FROM dp.aggregate('odd', '{count(*)}', '{blood cells (1; 0)}', rho => 1000);
SELECT label, round(estimate)::int AS estimate FROM dp.aggregate('odd', '{count(*)}', '{"\"blood cells (10^9/L)\" cells (1; 0, 2-3)"}', rho => 1000);

DISCARD TEMP;
RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon;
DROP TABLE visits, units, odd;
DROP FUNCTION public.refused(text);
REVOKE CREATE ON SCHEMA public FROM regress_curator;
DROP ROLE regress_curator, regress_ann;
