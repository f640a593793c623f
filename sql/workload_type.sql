-- The type dp.workload: canonical text, equality and hash of it, casts, and what becomes of it in tables.
CREATE EXTENSION pg_epsilon;
CREATE ROLE regress_ann;
CREATE ROLE regress_curator;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;
\pset format unaligned
\pset footer off
SET SESSION AUTHORIZATION regress_ann;

-- Everything that the language has, over attributes that nobody knows
SELECT w::dp.workload FROM unnest(ARRAY['identity', ' Total ', 'prefix', 'all_range( 064 )', 'IDENTITY("age")', 'identity("Age") + total("two words")', 'identity("a""b")',
    'width_range(age,3)', 'ranges(age;3-9,0-4)', 'marginals( 2 )', 'matrix({{1,-1},{+0,007}})', 'matrix(age;{{ 1 , 0 }})', 'matrix("select" ; {{1}})',
    'all_range(age)*identity(sex)+total', '((prefix(a) + (prefix(b))))', '(prefix(a)+prefix(b))*identity(c)', 'prefix(a) * (identity(b) * total(c))',
    '2.50*(prefix(a) * (identity(b)+1e0 * total(b))) + 0.1 * (2 * total)', '10*total', E'prefix\t(\n4)']) w;
-- Canonical text of canonical text is itself, and what dp.optimize keeps
SELECT count(*) AS values, bool_and(w::dp.workload::text::dp.workload::text = w::dp.workload::text) AS fixed
  FROM unnest(ARRAY['( identity(4) )', '2*(prefix(4) * (identity(3)+1e0 * total(3)))', 'matrix({{1,2}})+(all_range(2))']) w;
SELECT (SELECT strategy FROM dp.optimize(w)) = (SELECT strategy FROM dp.optimize(w::dp.workload)) AS same
  FROM unnest(ARRAY['( identity(4) )', '2*(prefix(4) * (identity(3)+1e0 * total(3)))', 'matrix({{1,2}})+(all_range(2))']) w;
RESET SESSION AUTHORIZATION;
SELECT workload, workload::dp.workload::text = workload AS same FROM dp_ledger.strategy ORDER BY id;
SET SESSION AUTHORIZATION regress_ann;

-- What no attributes could help is refused, with the place
SELECT dp.workload 'prefix(age';
SELECT 'all_ranges(age)'::dp.workload;
SELECT dp.workload '0 * total';
SELECT dp.workload 'ranges(age; 4-3)';
SELECT dp.workload 'matrix({{1,2},{3}})';
SELECT dp.workload 'identity(0)';
SELECT dp.workload 'identity * total(age)';
SELECT dp.workload '';
\set VERBOSITY terse
SELECT (repeat('(', 100) || 'total' || repeat(')', 100))::dp.workload;
SELECT repeat('x', 2000000)::dp.workload;
-- blanks are put in: what would be too long to be read again
SELECT (repeat('total+', 170000) || 'total')::dp.workload;
\set VERBOSITY default
-- what depends on attributes is accepted, and refused where it is used
SELECT dp.workload 'prefix(4) + prefix(5)';
SELECT rank FROM dp.optimize('prefix(4) + prefix(5)'::dp.workload);
SELECT rank FROM dp.optimize('prefix(age)'::dp.workload);

-- Equality is of the canonical text, and of nothing else; with dp in the path and without
SELECT dp.workload 'prefix( 8 )' OPERATOR(dp.=) 'prefix(8)' AS same, dp.workload 'prefix(8)' OPERATOR(dp.<>) 'prefix(8) + prefix(8)' AS others;
SELECT a::dp.workload = b::dp.workload AS same, a::dp.workload <> b::dp.workload AS others
  FROM (VALUES ('prefix( 8 )', '(prefix(8))'), ('prefix(8)', 'all_range(8)'), ('total + prefix', 'prefix + total')) v(a, b);
SET search_path = dp, public;
SELECT dp.workload 'prefix( 8 )' = 'PREFIX(8)' AS same, dp.workload 'prefix( 8 )' <> 'PREFIX(8)' AS others;
SELECT a::workload = b::workload AS same, a::workload <> b::workload AS others
  FROM (VALUES ('prefix( 8 )', '(prefix(8))'), ('prefix(8)', 'all_range(8)'), ('total + prefix', 'prefix + total')) v(a, b);
RESET search_path;
SELECT dp_internal.workload_hash('prefix( 8 )') = dp_internal.workload_hash('(prefix(8))') AS same, dp_internal.workload_hash('prefix(8)') = dp_internal.workload_hash('prefix(9)') AS others,
       dp_internal.workload_hash_extended('prefix( 8 )', 7) = dp_internal.workload_hash_extended('(prefix(8))', 7) AS same, dp_internal.workload_hash_extended('prefix(8)', 7) = dp_internal.workload_hash_extended('prefix(8)', 8) AS others;

-- In tables
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE asked (id int, w dp.workload);
INSERT INTO asked VALUES (1, 'prefix( age )'), (2, '(prefix(age))'), (3, 'total+prefix'), (4, NULL), (5, 'prefix( "age" )'), (6, NULL);
INSERT INTO asked SELECT 7, 'total +  prefix'::text;
COPY asked TO STDOUT;
COPY asked FROM STDIN;
8	all_range( age )*identity( "Sex" )
\.
SELECT w, count(*) FROM asked GROUP BY w ORDER BY min(id);
SELECT count(*) FROM (SELECT DISTINCT w FROM asked) d;
SELECT count(*) FROM (SELECT w FROM asked UNION SELECT dp.workload 'total + prefix') u;
SET enable_mergejoin = off;
SET enable_nestloop = off;
SET max_parallel_workers_per_gather = 0;      -- the plans are to be the same where parallel ones are forced
SET search_path = public, dp;
EXPLAIN (COSTS OFF) SELECT count(*) FROM asked a JOIN asked b ON a.w = b.w;
SELECT count(*) FROM asked a JOIN asked b ON a.w = b.w;
SELECT count(*) FROM asked a JOIN asked b ON a.w <> b.w;
CREATE INDEX asked_w ON asked USING hash (w);
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM asked WHERE w = ' prefix (age) ';
SELECT id FROM asked WHERE w = ' prefix (age) ' ORDER BY id;
RESET search_path;
RESET enable_seqscan;
RESET max_parallel_workers_per_gather;
RESET enable_mergejoin;
RESET enable_nestloop;
CREATE TABLE parts (w dp.workload) PARTITION BY HASH (w);
CREATE TABLE part0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE part1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parts SELECT format('prefix(%s)', i) FROM generate_series(1, 20) i;
SELECT count(*) AS rows, count(DISTINCT tableoid) AS partitions FROM parts;
-- as text wherever text is meant; the other way by assignment only
SELECT length(w), w LIKE 'total%' AS likes, w || '!' AS shouted FROM asked WHERE id = 3;
SELECT array_agg(w::text ORDER BY id) FROM asked WHERE id < 4;
SELECT '{prefix( 4 ),"ranges(4; 0-1, 2-3)"}'::dp.workload[];
UPDATE asked SET w = w || ' + identity' WHERE id = 3;
SELECT w FROM asked WHERE id = 3;
UPDATE asked SET w = w || ' +' WHERE id = 3;
SELECT id FROM asked WHERE w = 'total + prefix'::text ORDER BY id;
SELECT w FROM asked ORDER BY w;

-- Where the workload of a request is wanted
CREATE TABLE people (age int, sex text);
SELECT dp.create_dataset('people', 'people', 10);
SELECT dp.add_attribute('people', 'age', 0, 100, 10);
SELECT dp.add_attribute('people', 'sex', '{m,f}');
SELECT dp.grant_budget('people', 'regress_curator', 1);
SELECT id, q.queries FROM asked, dp.quote('people', '{age,sex}', w, epsilon => 0.1) q WHERE id IN (1, 3) ORDER BY id;
SELECT count(*) FROM asked, dp.histogram('people', '{age,sex}', workload => w, epsilon => 0.1) WHERE id = 1;
SELECT count(*) FROM dp.releases r, asked WHERE id = 2 AND r.workload = w;
SELECT count(*) FROM asked, dp.answer((SELECT max(release) FROM dp.releases), w) WHERE id = 2;
SELECT dp.workload_matrix(dp.workload 'prefix(2)');

RESET SESSION AUTHORIZATION;
SELECT typname, typlen, typbyval, typstorage, typcategory FROM pg_type WHERE oid = 'dp.workload'::regtype;
\set VERBOSITY terse
DROP EXTENSION pg_epsilon;
DROP EXTENSION pg_epsilon CASCADE;
DROP TABLE people;
DROP OWNED BY regress_curator;
DROP ROLE regress_ann, regress_curator;
