-- dp.synthesize of a dataset: what is charged and replayed, the tree, options, predicates, units, what is refused.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
CREATE ROLE regress_bob;
CREATE ROLE regress_eve;
GRANT CREATE ON SCHEMA public TO regress_curator, regress_ann, regress_bob;
-- What is rounded by chance may be one more or less.
CREATE FUNCTION about(n bigint) RETURNS bigint LANGUAGE sql AS $$ SELECT (n + 2) / 5 * 5 $$;
SET client_min_messages = warning;
\pset null '(null)'
SET SESSION AUTHORIZATION regress_curator;
-- b follows from a, and c too, which is NULL for one value; d is independent of them
CREATE TABLE rows_of (id int, a int, b text, c int, d date, e numeric(6,2));
INSERT INTO rows_of SELECT i, i % 4, chr(97 + i % 4), nullif(i % 4, 3), date '2024-01-01' + i / 4 % 100, i % 10 / 3.0 FROM generate_series(0, 3999) i;
SELECT dp.create_dataset('rows_of', 'rows_of', 90000, max_rows => 3, unit => 'id');
SELECT dp.add_attribute('rows_of', 'a', '{0,1,2,3}'), dp.add_attribute('rows_of', 'b', '{a,b}', outside => 'other'),
       dp.add_attribute('rows_of', 'c', '{0,1,2}', nulls => 'cell'), dp.add_edges('rows_of', 'd', '{2024-01-01,2024-02-01,2024-04-10}'),
       dp.add_attribute('rows_of', 'e', 0, 3, 3);
SELECT dp.grant_budget('rows_of', 'regress_ann', 50000);
SELECT dp.grant_budget('rows_of', 'regress_bob', 30000);

SET SESSION AUTHORIZATION regress_ann;
SELECT rho, round(table_stderr::numeric, 4) AS table_stderr, round(pair_stderr::numeric, 4) AS pair_stderr, cells, fits, replay, accounting
  FROM dp.quote_synthetic('rows_of', '{a,b,c,d}', rho => 100);
SELECT target, about(rows), jsonb_array_length(edges), edges @> '[["a", "b"]]' OR edges @> '[["b", "a"]]' OR edges @> '[["c", "b"]]' OR edges @> '[["b", "c"]]' AS tied
  FROM dp.synthesize('rows_of', '{a,b,c,d}', 'made', rho => 5000);
SELECT a, b, b_other, c, about(count(*)) FROM made GROUP BY 1, 2, 3, 4 HAVING count(*) > 5 ORDER BY 1, 2, 3, 4;
SELECT d < '2024-02-01' AS january, about(count(*)) FROM made GROUP BY 1 ORDER BY 1;
SELECT function, rho, release FROM dp.charges;
SELECT release, attributes, workload, method FROM dp.releases;
-- The same again is the same table, free; so is the release
SELECT release FROM dp.synthesize('rows_of', '{a,b,c,d}', 'again', rho => 5000);
SELECT release FROM dp.synthesize(1, 'from_release');
SELECT count(*) FROM (TABLE made EXCEPT ALL TABLE again) d;
SELECT count(*) FROM (TABLE made EXCEPT ALL TABLE from_release) d;
SELECT count(*) FROM dp.charges;
SELECT replay FROM dp.quote_synthetic('rows_of', '{a,b,c,d}', rho => 5000);
-- Another number of rows, and another root, too
SELECT rows, release, edges->0->>0 AS root FROM dp.synthesize('rows_of', '{a,b,c,d}', 'pg_temp.few', rho => 5000, rows => 12, options => '{"root": "d"}');
-- fresh pays anew, and so does another request
SELECT release FROM dp.synthesize('rows_of', '{a,b,c,d}', 'again', rho => 1, fresh => true, replace => true);
SELECT release FROM dp.synthesize('rows_of', '{a,b,c,d}', 'again', rho => 1, fresh => true, replace => true);
SELECT release FROM dp.synthesize('rows_of', '{a,b,c,d}', 'again', rho => 1, options => '{"shares": [2, 1, 1]}', replace => true);
SELECT release FROM dp.synthesize('rows_of', '{a,b,c,d}', 'again', rho => 1, options => '{"shares": [4, 2, 2]}', replace => true);
-- A tree that is given costs no choice
SELECT round((g.pair_stderr / q.pair_stderr)::numeric, 3) AS beside FROM dp.quote_synthetic('rows_of', '{a,b,c,d}', rho => 1) q,
    dp.quote_synthetic('rows_of', '{a,b,c,d}', rho => 1, options => '{"edges": [["a", "b"], ["b", "c"], ["c", "d"]]}') g;
SELECT release, edges FROM dp.synthesize('rows_of', '{a,b,c,d}', 'given', rho => 3000, options => '{"edges": [["b", "a"], ["b", "c"], ["c", "d"]]}');
SELECT release FROM dp.synthesize('rows_of', '{a,b,c,d}', 'given', rho => 3000, options => '{"edges": [["a", "b"], ["b", "c"], ["d", "c"]]}', replace => true);
-- One attribute; a predicate; nobody
SELECT about(rows), edges FROM dp.synthesize('rows_of', '{e}', 'one', rho => 1000);
SELECT e < 1 AS low, about(count(*)) AS rows, max(scale(e)) FROM one GROUP BY 1 ORDER BY 1;
SELECT about(rows) FROM dp.synthesize('rows_of', '{a,d}', 'some_rows', rho => 1000, predicate => 'b = ''a'' AND c = 0');
SELECT a, about(count(*)) FROM some_rows GROUP BY 1 HAVING count(*) > 5;
SELECT rows FROM dp.synthesize('rows_of', '{d,e}', 'nobody', rho => 1000, predicate => 'a = 0 AND c = 1');
-- One attribute by its name; without a cost no form is meant more than the other
SELECT count(*) FROM dp.synthesize('rows_of', 'e', 'one_again', rho => 1000);
SELECT replay FROM dp.quote_synthetic('rows_of', 'e', rho => 1000);
-- Refused
SELECT refused($$SELECT dp.synthesize('rows_of', '{a,b}', 't')$$);
SELECT refused($$SELECT dp.synthesize('rows_of', '{a,b}', 'given', rho => 1)$$);
SELECT refused($$SELECT dp.synthesize('rows_of', '{a,b}', 'nowhere.t', rho => 1)$$);
SELECT refused($$SELECT dp.synthesize('rows_of', '{}', 't', rho => 1)$$);
SELECT refused($$SELECT dp.synthesize('rows_of', '{a,zip}', 't', rho => 1)$$);
SELECT refused($$SELECT dp.synthesize('rows_of', '{a,a}', 't', rho => 1)$$);
SELECT refused($$SELECT dp.synthesize('rows_of', '{a,b}', NULL, rho => 1)$$);
SELECT refused($$SELECT dp.synthesize('rows_of', '{a,b}', 't', NULL::float8)$$);
SELECT refused($$SELECT dp.synthesize('rows_of', '{a,b}', 't', rho => 1, epsilon => 1)$$);
SELECT refused($$SELECT dp.synthesize('rows_of', '{a,b}', 't', rho => 1e-9)$$);
SELECT refused($$SELECT dp.synthesize('rows_of', '{a,b}', 't', rho => 1, rows => -5)$$);
SELECT refused($$SELECT dp.synthesize('rows_of', '{a,b}', 't', rho => 1, method => 'gan')$$);
SELECT refused($$SELECT dp.synthesize('rows_of', '{a,b}', 't', rho => 1, options => '{"deep": true}')$$);
SELECT refused($$SELECT dp.synthesize('rows_of', '{a,b}', 't', rho => 1, options => '[]')$$);
SELECT refused($$SELECT dp.synthesize('rows_of', '{a,b}', 't', rho => 1, options => '{"shares": [1, 2]}')$$);
SELECT refused($$SELECT dp.synthesize('rows_of', '{a,b}', 't', rho => 1, options => '{"shares": [1, 0, 2]}')$$);
SELECT refused($$SELECT dp.synthesize('rows_of', '{a,b}', 't', rho => 1, options => '{"root": "d"}')$$);
SELECT refused($$SELECT dp.synthesize('rows_of', '{a,b,c}', 't', rho => 1, options => '{"edges": [["a", "b"]]}')$$);
SELECT refused($$SELECT dp.synthesize('rows_of', '{a,b,c}', 't', rho => 1, options => '{"edges": [["a", "b"], ["b", "a"]]}')$$);
SELECT refused($$SELECT dp.synthesize('rows_of', '{a,b,c}', 't', rho => 1, options => '{"edges": [["a", "b"], ["b", "z"]]}')$$);
SELECT refused($$SELECT dp.synthesize('rows_of', '{a,b,c}', 't', rho => 1, options => '{"edges": [["a", "b"], "b"]}')$$);
SELECT refused($$SELECT dp.synthesize('rows_of', '{a,b}', 't', rho => 80000)$$);
SELECT refused('SELECT dp.answer(1, ''total'')');
SELECT refused('SELECT dp.cells(1)') ~ '^22023: release 1 has no table' AS no_cells;
BEGIN READ ONLY;
SELECT refused($$SELECT dp.synthesize('rows_of', '{a,c}', 't', rho => 1)$$);
ROLLBACK;
-- None of these was charged
SELECT count(*) FROM dp.charges;
-- What is rolled back stays paid, and the table is made again, free
BEGIN;
SELECT release FROM dp.synthesize('rows_of', '{b,d}', 'lost', rho => 10);
ROLLBACK;
SELECT release FROM dp.synthesize('rows_of', '{b,d}', 'lost', rho => 10);
SELECT count(*) FROM dp.charges;

-- Another budget pays for the same rows, the cap does not
SET SESSION AUTHORIZATION regress_curator;
SELECT max(release) AS newest, round((SELECT epsilon_left FROM dp.datasets)::numeric, 6) AS before FROM dp.charges \gset
SET SESSION AUTHORIZATION regress_bob;
SELECT release FROM dp.synthesize('rows_of', '{a,b,c,d}', 'his', rho => 5000);
SELECT count(*) FROM (SELECT * FROM his) h;
SELECT rho FROM dp.charges;
SET SESSION AUTHORIZATION regress_curator;
SELECT round((SELECT epsilon_left FROM dp.datasets)::numeric, 6) = :before AS cap_is_whole;
SET SESSION AUTHORIZATION regress_eve;
SELECT refused($$SELECT dp.synthesize('rows_of', '{a,b}', 't', rho => 1)$$);
SELECT refused($$SELECT dp.synthesize(1, 't')$$);
RESET SESSION AUTHORIZATION;
SELECT count(*) FROM (SELECT * FROM made EXCEPT ALL SELECT * FROM his) d;

-- What nobody may make, a table in another's schema or of a type out of reach, is not paid for
RESET SESSION AUTHORIZATION;
CREATE SCHEMA kept AUTHORIZATION regress_curator;
SET SESSION AUTHORIZATION regress_curator;
CREATE TYPE kept.kind AS ENUM ('u', 'v');
CREATE TABLE kinds AS SELECT i AS id, 'u'::kept.kind AS kind, i % 2 AS x FROM generate_series(1, 100) i;
SELECT dp.create_dataset('kinds', 'kinds', 10);
SELECT dp.add_attribute('kinds', 'kind'), dp.add_attribute('kinds', 'x', '{0,1}');
SELECT dp.grant_budget('kinds', 'regress_ann', 10);
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT dp.synthesize('kinds', '{x}', 'kept.t', rho => 1)$$);
\set VERBOSITY default
SELECT dp.synthesize('kinds', '{kind,x}', 't_kinds', rho => 1);
\set VERBOSITY terse
SELECT count(*) FROM dp.charges WHERE dataset = 'kinds';

-- A pure budget; a declaration that changes
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE pure_rows AS SELECT i % 3 AS x, i % 3 AS y, i % 2 AS z FROM generate_series(0, 599) i;
SELECT dp.create_dataset('pure_rows', 'pure_rows', 50000, accounting => 'pure');
SELECT dp.add_attribute('pure_rows', 'x', '{0,1,2}'), dp.add_attribute('pure_rows', 'y', '{0,1,2}'), dp.add_attribute('pure_rows', 'z', '{0,1}');
SELECT dp.grant_budget('pure_rows', 'regress_ann', 50000);
SET SESSION AUTHORIZATION regress_ann;
SELECT about(rows), edges @> '[["x", "y"]]' AS tied FROM dp.synthesize('pure_rows', '{x,y,z}', 'pure_made', epsilon => 10000) \gset
SELECT :about AS about, :'tied' AS tied;
SELECT x, y, about(count(*)) FROM pure_made GROUP BY 1, 2 HAVING count(*) > 5 ORDER BY 1, 2;
SELECT epsilon FROM dp.charges WHERE dataset = 'pure_rows';
SELECT max(release) AS pure FROM dp.charges WHERE dataset = 'pure_rows' \gset
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.alter_attribute('pure_rows', 'x', '{0,1}');
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM dp.synthesize(:pure, 'pure_again');
SELECT count(*) FROM (SELECT * FROM pure_made EXCEPT ALL SELECT * FROM pure_again) d;
SELECT replay FROM dp.quote_synthetic('pure_rows', '{x,y,z}', epsilon => 10000);

-- Small groups are hidden in what is made for anybody, the owner too; the charge is the same
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE groups AS SELECT CASE WHEN i < 600 THEN 0 WHEN i < 1100 THEN 1 ELSE 2 END AS g, i % 2 AS h FROM generate_series(0, 1139) i;
SELECT dp.create_dataset('groups', 'groups', 50000), dp.set_min_count('groups', 100);
SELECT dp.add_attribute('groups', 'g', '{0,1,2}'), dp.add_attribute('groups', 'h', '{0,1}');
SELECT dp.grant_budget('groups', 'regress_ann', 30000), dp.grant_budget('groups', 'regress_curator', 10000);
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM dp.synthesize('groups', '{g}', 'shown', rho => 1000);
SELECT g, about(count(*)) FROM shown GROUP BY 1 ORDER BY 1;
SELECT max(release) AS shown FROM dp.charges WHERE dataset = 'groups' \gset
SELECT count(*) FROM dp.synthesize(:shown, 'shown_again');
SELECT count(*) FROM (SELECT * FROM shown EXCEPT ALL SELECT * FROM shown_again) d;
SELECT count(*) FROM dp.synthesize('groups', '{g,h}', 'both_of_them', rho => 1000);
SELECT g, h, count(*) > 100 AS many FROM both_of_them GROUP BY 1, 2 HAVING count(*) > 50 ORDER BY 1, 2;
SET SESSION AUTHORIZATION regress_curator;
SELECT count(*) FROM dp.synthesize('groups', '{g}', 'shown_to_owner', rho => 1000);
SELECT g, about(count(*)) FROM shown_to_owner GROUP BY 1 ORDER BY 1;

-- Rows that the predicate rules out are not drawn, of one attribute or of several together, in both forms and methods
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE few_of (e int, h text, t int);
INSERT INTO few_of SELECT i % 5, chr(120 + i / 5 % 2), i % 20 FROM generate_series(0, 599) i;
SELECT dp.create_dataset('few_of', 'few_of', 90000);
SELECT dp.add_attribute('few_of', 'e', '{0,1,2,3,4}'), dp.add_attribute('few_of', 'h', '{x,y}'), dp.add_attribute('few_of', 't', 0, 20, 4);
SELECT dp.grant_budget('few_of', 'regress_ann', 30000);
SET SESSION AUTHORIZATION regress_ann;
SELECT release FROM dp.histogram('few_of', '{e,h,t}', rho => .01, predicate => 'h = ''x''') LIMIT 1 \gset
SELECT count(*) FROM dp.synthesize(:release, 'few_1', 100);
SELECT release FROM dp.histogram('few_of', '{e,h,t}', rho => 100, predicate => 'h = ''x'' OR t < 10') LIMIT 1 \gset
SELECT count(*) FROM dp.synthesize(:release, 'few_2', 100);
SELECT release FROM dp.measure('few_of', '{e,h}', 'marginals(1)', rho => .01, predicate => 'h = ''x'' AND t < 10 OR e = 2') LIMIT 1 \gset
SELECT count(*) FROM dp.synthesize(:release, 'few_3', 100);
SELECT count(*) FROM dp.synthesize('few_of', '{e,h,t}', 'few_4', rho => .01, rows => 100, predicate => 'h = ''x'' AND t < 10');
SELECT count(*) FROM dp.synthesize('few_of', '{e,h}', 'few_5', rho => .01, rows => 100, predicate => 'h = ''x'' AND t < 10 OR e = 2');
SELECT count(*) FROM dp.synthesize('few_of', '{e,h,t}', 'few_6', rho => .01, rows => 100, predicate => 'h = ''x'' AND t < 10', method => 'full');
SELECT count(*) FROM dp.synthesize('few_of', '{e,h,t}', 'few_7', rho => .01, rows => 100, predicate => 'h <> ''x'' AND t >= 10 OR e = 2', method => 'full');
SELECT max(release) AS few FROM dp.charges WHERE dataset = 'few_of' \gset
SELECT count(*) FROM dp.synthesize(:few, 'few_8', 100);
SELECT i, n, out FROM (SELECT 1 AS i, count(*) AS n, count(*) FILTER (WHERE h = 'y') AS out FROM few_1
  UNION ALL SELECT 2, count(*), count(*) FILTER (WHERE h = 'y' AND t >= 10) FROM few_2
  UNION ALL SELECT 3, count(*), count(*) FILTER (WHERE h = 'y' AND e <> 2) FROM few_3
  UNION ALL SELECT 4, count(*), count(*) FILTER (WHERE h = 'y' OR t >= 10) FROM few_4
  UNION ALL SELECT 5, count(*), count(*) FILTER (WHERE h = 'y' AND e <> 2) FROM few_5
  UNION ALL SELECT 6, count(*), count(*) FILTER (WHERE h = 'y' OR t >= 10) FROM few_6
  UNION ALL SELECT 7, count(*), count(*) FILTER (WHERE e <> 2 AND (h = 'x' OR t < 10)) FROM few_7
  UNION ALL SELECT 8, count(*), count(*) FILTER (WHERE e <> 2 AND (h = 'x' OR t < 10)) FROM few_8) d ORDER BY i;
-- At a high cost the tables of what is left are the data's; a predicate that is never true is not paid for
SELECT count(*) FROM dp.synthesize('few_of', '{e,h,t}', 'few_9', rho => 1e3, predicate => 'h = ''x'' AND t < 10');
SELECT e, h, about(count(*)) FROM few_9 GROUP BY 1, 2 ORDER BY 1, 2;
SELECT refused($$SELECT dp.synthesize('few_of', '{e,h}', 't', rho => 1, predicate => 'h = ''x'' AND h = ''y''')$$);
SELECT count(*) FROM dp.charges WHERE dataset = 'few_of';

-- What fails for the table fails before the charge; the same columns keep what is on the table
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT dp.synthesize('few_of', '{e,h}', 't', rho => 2, rows => 2147483647)$$);
SELECT rows FROM dp.synthesize(:few, 'kept', 10);
CREATE INDEX kept_h ON kept (h);
GRANT SELECT ON kept TO regress_bob;
CREATE VIEW on_kept AS SELECT h FROM kept;
SELECT rows FROM dp.synthesize(:few, 'kept', 20, replace => true);
SELECT count(*), has_table_privilege('regress_bob', 'kept', 'SELECT'), to_regclass('kept_h') FROM on_kept GROUP BY 2, 3;
SELECT refused($$SELECT dp.synthesize('few_of', '{e}', 'kept', rho => 2, replace => true)$$);
DROP VIEW on_kept;
BEGIN;
DECLARE open_one CURSOR FOR SELECT * FROM kept;
FETCH 1 FROM open_one \gset kept_
SELECT refused($$SELECT dp.synthesize('few_of', '{e}', 'kept', rho => 2, replace => true)$$);
ROLLBACK;
SELECT dp.create_dataset('of_kept', 'kept', 10);
SELECT refused($$SELECT dp.synthesize('few_of', '{e}', 'kept', rho => 2, replace => true)$$);
SELECT count(*) FROM dp.charges WHERE dataset = 'few_of';
SELECT rows > 400 AS many FROM dp.synthesize('few_of', '{e}', 'few_1', rho => 2, replace => true);
SELECT columns FROM (SELECT string_agg(attname, ',') AS columns FROM pg_attribute WHERE attrelid = 'few_1'::regclass AND attnum > 0) c;

-- No rows, no columns, no release
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE empty_of AS SELECT NULL::int AS x FROM generate_series(1, 50);
CREATE TABLE public_of AS SELECT i % 2 AS x FROM generate_series(1, 50) i;
GRANT SELECT ON public_of TO PUBLIC;
SELECT dp.create_dataset('empty_of', 'empty_of', 90000);
SELECT dp.add_attribute('empty_of', 'x', '{0,1}'), dp.set_example('empty_of', 'public_of');
SELECT dp.grant_budget('empty_of', 'regress_ann', 30000);
SET SESSION AUTHORIZATION regress_ann;
SET client_min_messages = notice;
\set VERBOSITY default
SELECT rows FROM dp.synthesize('empty_of', 'x', 'empty_made', rho => 1e4);
\set VERBOSITY terse
SET client_min_messages = warning;
SELECT dp.measure('empty_of', '{}', 'total', rho => 1) IS NOT NULL AS measured;
SELECT max(release) AS total FROM dp.charges WHERE dataset = 'empty_of' \gset
SELECT refused('SELECT dp.synthesize(' || :total || ', ''t'')') ~ '^22023: release \d+ has no attribute that rows could have\n    HINT: Take a release with groups.$' AS no_attribute;
SET pg_epsilon.rehearse = on;
SELECT release, rows > 40 AS many FROM dp.synthesize('empty_of', 'x', 'rehearsed', rho => 1e4);
RESET pg_epsilon.rehearse;
SELECT obj_description('rehearsed'::regclass);

RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon;
DROP FUNCTION refused(text), about(bigint);
DROP OWNED BY regress_curator, regress_ann, regress_bob;
DROP ROLE regress_curator, regress_ann, regress_bob, regress_eve;
