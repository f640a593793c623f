-- Method full of dp.synthesize, answers from the tables of a tree, synthetic units, and an example in the quote.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
CREATE ROLE regress_eve;
GRANT CREATE ON SCHEMA public TO regress_curator, regress_ann;
-- How far two tables of three attributes are apart: the largest difference of a cell of two of them, in rows
CREATE FUNCTION apart(made text, truth text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    far bigint;
BEGIN
    EXECUTE format('SELECT max(abs(n)) FROM (SELECT x, y, z, sum(n)::bigint AS n FROM (
        SELECT x, y, z, count(*) AS n FROM %1$s GROUP BY GROUPING SETS ((x, y), (y, z), (x, z)) UNION ALL
        SELECT x, y, z, -count(*) FROM %2$s GROUP BY GROUPING SETS ((x, y), (y, z), (x, z))) b GROUP BY x, y, z) d', made, truth) INTO far;
    RETURN far;
END $$;
SET client_min_messages = warning;
\pset null '(null)'
SET SESSION AUTHORIZATION regress_curator;
-- x and y have nothing to do with each other, z with both: no tree has all three tables
CREATE TABLE ring (id int, x int, y text, z int);
INSERT INTO ring SELECT i / 2, i % 3, (ARRAY['a', 'b', NULL])[1 + i / 3 % 3], CASE WHEN i / 9 % 2 = 0 THEN i % 3 ELSE i / 3 % 3 END FROM generate_series(0, 17999) i;
CREATE TABLE truth AS TABLE ring;
GRANT SELECT ON truth TO regress_ann;
SELECT dp.create_dataset('ring', 'ring', 90000, unit => 'id', max_rows => 4);
SELECT dp.add_attribute('ring', 'x', '{0,1,2}'), dp.add_attribute('ring', 'y', '{a,b}', nulls => 'cell'), dp.add_attribute('ring', 'z', '{0,1,2}');
SELECT dp.grant_budget('ring', 'regress_ann', 80000);

SET SESSION AUTHORIZATION regress_ann;
SELECT rho, table_stderr > 0 AS table_stderr, pair_stderr > 0 AS pair_stderr, cells, replay FROM dp.quote_synthetic('ring', '{x,y,z}', rho => 5000, method => 'full');
SELECT target, abs(rows - 18000) < 20 AS all_rows, release, edges FROM dp.synthesize('ring', '{x,y,z}', 'made', rho => 5000, method => 'full');
-- Noise is below .2 rows, and a cell of two attributes has the rounding of at most three of all
SELECT apart('made', 'truth') < 30 AS all_pairs;
SELECT release FROM dp.synthesize('ring', '{x,y,z}', 'of_tree', rho => 20000);
SELECT apart('of_tree', 'truth') > 300 AS not_by_a_tree;
SELECT max(abs(a.n - b.n)) <= 20 AS ones FROM (SELECT z, count(*) AS n FROM made GROUP BY z) a JOIN (SELECT z, count(*) AS n FROM truth GROUP BY z) b USING (z);
SELECT function, rho, request->>'workload' AS workload FROM dp.charges ORDER BY charge;
-- It is a release of counts like any other: the same again, and the release, make the same rows, free
SELECT release FROM dp.synthesize('ring', '{x,y,z}', 'again', rho => 5000, method => 'full');
SELECT release FROM dp.measure('ring', '{x,y,z}', 'marginals(2)', rho => 5000);
SELECT release FROM dp.synthesize(1, 'from_release');
SELECT count(*) FROM (TABLE made EXCEPT ALL TABLE again) d;
SELECT count(*) FROM (TABLE made EXCEPT ALL TABLE from_release) d;
SELECT count(*) FROM dp.charges;
SELECT replay FROM dp.quote_synthetic('ring', '{x,y,z}', rho => 5000, method => 'full');
-- Fewer rows, none; a predicate; one attribute, two
SELECT rows FROM dp.synthesize(1, 'pg_temp.few', 90);
SELECT max(n) <= 31 AND min(n) >= 29 AS even FROM (SELECT count(*) AS n FROM few GROUP BY x) c;
SELECT rows FROM dp.synthesize(1, 'pg_temp.none', 0);
SELECT abs(rows - 6000) < 20 AS some_rows FROM dp.synthesize('ring', '{y,z}', 'some_rows', rho => 5000, method => 'full', predicate => 'x = 1');
SELECT abs(rows - 18000) < 20 AS one, edges FROM dp.synthesize('ring', '{y}', 'one', rho => 5000, method => 'full');
SELECT rows >= 0 AS drowned FROM dp.synthesize('ring', '{x,y,z}', 'drowned', rho => 1e-6, method => 'full');
-- Refused, free
SELECT count(*) AS charges FROM dp.charges \gset
SELECT refused($$SELECT dp.synthesize('ring', '{x,y,z}', 't', rho => 1, method => 'full', options => '{"root": "x"}')$$);
SELECT refused($$SELECT dp.synthesize('ring', '{x,y,z}', 't', rho => 1, method => 'best')$$);
SELECT refused($$SELECT dp.synthesize('ring', '{x,y,z}', 'made', rho => 1, method => 'full')$$);
SET pg_epsilon.rehearse = on;
SELECT refused($$SELECT dp.synthesize('ring', '{x,y,z}', 't', rho => 1, method => 'full')$$) ~ 'no example' AS no_example;
RESET pg_epsilon.rehearse;
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE wide AS SELECT i AS a, i AS b, i AS c FROM generate_series(1, 10) i;
SELECT dp.create_dataset('wide', 'wide', 10), dp.add_attribute('wide', 'a', 0, 220, 110), dp.add_attribute('wide', 'b', 0, 220, 110), dp.add_attribute('wide', 'c', 0, 220, 110);
SELECT dp.grant_budget('wide', 'regress_ann', 10);
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT dp.synthesize('wide', '{a,b,c}', 't', rho => 1e-4, method => 'full')$$);
SELECT count(*) = :charges AS free FROM dp.charges;

-- Answers from the tables of a tree: what PostgreSQL says, at this cost
SELECT label->'x' AS x, label->'y' AS y, label->'z' AS z, round(estimate) AS estimate, stderr < 1 AND upper95 - lower95 < 4 AS known FROM dp.answer(2, 'total + identity(x) + identity(y) + prefix(z)');
SELECT jsonb_agg(e) AS edges FROM (SELECT jsonb_array_elements(edges) AS e FROM dp.synthesize(2, 'pg_temp.edges')) e \gset
SELECT replace(replace(format('identity(%s) * identity(%s)', :'edges'::jsonb->0->>0, :'edges'::jsonb->0->>1), '"', ''), '''', '') AS pair \gset
SELECT count(*), min(estimate) > 990 AND max(estimate) < 4010 AS near, sum(round(estimate)) AS sum FROM dp.answer(2, :'pair');
SELECT round(estimate) AS difference FROM dp.answer(2, 'matrix(z; {{1,0,-1}})');
SELECT dp.publish(2, 'shown', workload => 'identity(x) + total');
SELECT x, round(estimate) AS estimate FROM shown ORDER BY query;
SELECT regexp_replace(refused($$SELECT dp.answer(2, 'identity')$$), 'pairs: .*\.$', 'pairs: ...', 'n');
SELECT refused($$SELECT dp.cells(2)$$) ~ '^22023' AS not_all;
SELECT refused($$SELECT dp.answer(2, 'identity(w)')$$);
SELECT refused($$SELECT dp.publish(2, 'shown_2')$$);
SELECT refused($$SELECT dp.quantile(2, 'z', '{0.5}')$$) ~ '^22023: release 2 holds the tables of a tree' AS counts_alone;
-- Cells that the noise drowns are one class, empty ones nearly all: what asks for one of them is NULL
SELECT count(*) FROM dp.synthesize('wide', '{a,b}', 'faint', rho => 0.5);
SELECT max(release) AS faint FROM dp.charges \gset
SELECT count(*), count(estimate) < 12100 AS fewer, count(estimate) = count(stderr) AS same FROM dp.answer(:faint, 'identity(a) * identity(b)');
SELECT count(estimate) FROM dp.answer(:faint, 'identity(a) + total');
SET SESSION AUTHORIZATION regress_eve;
SELECT refused($$SELECT dp.answer(2, 'total')$$);

-- Units: of so many rows, or as dp.rows_per_unit has measured it
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT dp.synthesize(1, 'units', unit => true)$$);
SELECT refused($$SELECT dp.synthesize(1, 'units', rows_per_unit => 2)$$);
SELECT refused($$SELECT dp.synthesize(1, 'units', unit => true, rows_per_unit => 5)$$);
SELECT refused($$SELECT dp.synthesize('wide', '{a,b}', 't', rho => 1e-4, unit => true)$$);
SELECT rows FROM dp.synthesize(1, 'pg_temp.units', 10, unit => true, rows_per_unit => 4);
SELECT id, count(*) FROM units GROUP BY id ORDER BY id;
SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'units' ORDER BY ordinal_position;
SELECT rows, abs(round(units)) AS units FROM dp.rows_per_unit('ring', 4, rho => 5000);
SELECT release = 1 AS same FROM dp.synthesize('ring', '{x,y,z}', 'by_two', rho => 5000, method => 'full', unit => true);
-- Noise moves sizes that nobody has by a few; the last unit can be smaller
SELECT n, abs(count(*) - 9000) < 60 AS most FROM (SELECT count(*) AS n FROM by_two GROUP BY id) c GROUP BY n HAVING count(*) > 60;
SELECT count(*) FROM (TABLE made EXCEPT ALL SELECT x, y, z FROM by_two) d;
SELECT obj_description('by_two'::regclass) ~ 'rows of a unit as in release \d+; no row is anybody' AS said;
SELECT release = 2 AS same FROM dp.synthesize('ring', '{x,y,z}', 'tree_by_three', rho => 20000, unit => true, rows_per_unit => 3);
SELECT max(n), min(n) >= 1 AS some FROM (SELECT count(*) AS n FROM tree_by_three GROUP BY id) c;

-- Sizes of few units are not shown to others
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE visits AS SELECT CASE WHEN i < 4000 THEN i / 2 ELSE i END AS person, i % 2 AS z FROM generate_series(0, 4019) i;
SELECT dp.create_dataset('visits', 'visits', 20000, unit => 'person', max_rows => 2), dp.add_attribute('visits', 'z', '{0,1}'), dp.grant_budget('visits', 'regress_ann', 20000);
SELECT rows, count(*) AS units FROM (SELECT count(*) AS rows FROM visits GROUP BY person) p GROUP BY rows ORDER BY rows;
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM dp.rows_per_unit('visits', 2, rho => 5000);
SELECT count(*) FROM dp.synthesize('visits', '{z}', 'all_sizes', rho => 1000, unit => true);
SELECT count(*) FILTER (WHERE n = 1) BETWEEN 15 AND 25 AS ones FROM (SELECT count(*) AS n FROM all_sizes GROUP BY person) c;
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.set_min_count('visits', 100);
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM dp.synthesize('visits', '{z}', 'many_sizes', rho => 1000, unit => true);
SELECT count(*) FILTER (WHERE n = 1) <= 1 AS ones FROM (SELECT count(*) AS n FROM many_sizes GROUP BY person) c;

-- An example: public rows, with the rights of the caller
CREATE TABLE public_rows AS SELECT i % 3 AS x, (ARRAY['a', 'b'])[1 + i % 2] AS y, i % 3 AS z FROM generate_series(0, 5999) i;
SELECT total_variation < 0.001 AS near FROM dp.quote_synthetic('ring', '{x,z}', rho => 5000, example => 'public_rows');
-- Cells of 2000 rows and noise of 2.6 to 4.3: by ten standard deviations the mean is below 3 %
SELECT total_variation BETWEEN 0.0001 AND 0.03 AS noisy FROM dp.quote_synthetic('ring', '{x,z}', rho => 4, example => 'public_rows');
SELECT total_variation IS NULL AS none FROM dp.quote_synthetic('ring', '{x,z}', rho => 4);
SELECT total_variation < 0.001 AS one FROM dp.quote_synthetic('ring', '{z}', rho => 5000, example => 'public_rows');
SELECT refused($$SELECT dp.quote_synthetic('ring', '{x,z}', rho => 1, method => 'full', example => 'public_rows')$$);
SELECT refused($$SELECT dp.quote_synthetic('ring', '{x,z}', rho => 1, predicate => 'y = ''a''', example => 'public_rows')$$);
SELECT refused($$SELECT dp.quote_synthetic('ring', '{x,z}', rho => 1, example => 'ring')$$);
SELECT refused($$SELECT dp.quote_synthetic('ring', '{x,z}', rho => 1, example => 'shown')$$);
CREATE TABLE wrong AS SELECT 'a' AS x, 1 AS z;
SELECT refused($$SELECT dp.quote_synthetic('ring', '{x,z}', rho => 1, example => 'wrong')$$);
CREATE TABLE nobody AS SELECT 7 AS x, 1 AS z;
SELECT refused($$SELECT dp.quote_synthetic('ring', '{x,z}', rho => 1, example => 'nobody')$$);
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE hers AS SELECT 1 AS x, 1 AS z;
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT dp.quote_synthetic('ring', '{x,z}', rho => 1, example => 'hers')$$);

-- Small groups: of several attributes, in both forms, for the owner too
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE groups AS SELECT CASE WHEN i < 600 THEN 0 WHEN i < 1200 THEN 1 ELSE 2 END AS x, (ARRAY['a', 'b'])[1 + i % 2] AS y, i % 2 AS z FROM generate_series(0, 1239) i;
SELECT dp.create_dataset('groups', 'groups', 50000), dp.set_min_count('groups', 100);
SELECT dp.add_attribute('groups', 'x', '{0,1,2}'), dp.add_attribute('groups', 'y', '{a,b}'), dp.add_attribute('groups', 'z', '{0,1}');
SELECT dp.grant_budget('groups', 'regress_ann', 20000), dp.grant_budget('groups', 'regress_curator', 20000);
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM dp.synthesize('groups', '{x,y,z}', 'groups_full', rho => 1000, method => 'full');
SELECT x, y, z, count(*) > 200 AS many FROM groups_full GROUP BY 1, 2, 3 HAVING count(*) > 50 ORDER BY 1, 2, 3;
SELECT release FROM dp.histogram('groups', '{x,y,z}', rho => 1000) LIMIT 1 \gset
SELECT count(*) FROM dp.synthesize(:release, 'groups_whole');
SELECT x, y, z, count(*) > 200 AS many FROM groups_whole GROUP BY 1, 2, 3 HAVING count(*) > 50 ORDER BY 1, 2, 3;
SELECT count(*) FROM dp.synthesize('groups', '{x,y}', 'groups_tree', rho => 1000);
SELECT max(release) AS tree FROM dp.charges WHERE dataset = 'groups' \gset
SELECT label->'x' AS x, estimate IS NULL AS hidden FROM dp.answer(:tree, 'identity(x)');
SET SESSION AUTHORIZATION regress_curator;
SELECT count(*) FROM dp.synthesize('groups', '{x,y,z}', 'groups_owner', rho => 1000, method => 'full');
SELECT x, y, z, count(*) > 200 AS many FROM groups_owner GROUP BY 1, 2, 3 HAVING count(*) > 50 ORDER BY 1, 2, 3;

RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon;
DROP FUNCTION refused(text), apart(text, text);
DROP OWNED BY regress_curator, regress_ann;
DROP ROLE regress_curator, regress_ann, regress_eve;
