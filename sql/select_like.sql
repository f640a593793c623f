-- LIKE of text columns that nobody has listed: in plain SELECT and in predicates, against PostgreSQL on the rows.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE, USAGE ON SCHEMA public TO regress_curator;
GRANT USAGE ON SCHEMA public TO regress_ann;
SET client_min_messages = warning;
CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false);

SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE hits AS SELECT i AS id, (ARRAY['a', 'b'])[1 + i % 2] AS kind, i % 10 AS width, v.t AS url, v.t::varchar(250) AS short, left(v.t, 5)::char(9) AS padded,
       v.t COLLATE "C" AS plain, v.t COLLATE blind AS folds, (ARRAY['north', 'south', 'northern'])[1 + i % 3] AS region, (ARRAY['north', 'south', 'northern'])[1 + i % 3] AS place
  FROM generate_series(1, 4600) i, LATERAL (SELECT (ARRAY['', NULL, '%', '_', '\', '\%', 'a', 'A', 'ab', 'http://www.google.com/', 'http://de.wikipedia.org/wiki/Straße', 'GOOGLE', 'Ä', 'ä€😀', '€', 'a%b', 'a_b', 'a\b', repeat('x', 900) || 'google',
       repeat('ü', 500), E'two\nlines', ' google ', 'aaaaaaaab'])[1 + i % 23] AS t) v;
-- longer than what is matched, compressed and not, out of line and not
CREATE TABLE longs AS SELECT CASE i % 4 WHEN 0 THEN 'a' WHEN 1 THEN repeat('a', 50000) WHEN 2 THEN 'a' || (SELECT string_agg(md5((i * 100000 + j)::text), '') FROM generate_series(1, 40 + 200 * (i / 4 % 2)) j) ELSE repeat('a', 1024) END AS text FROM generate_series(1, 80) i;
SELECT dp.create_dataset('hits', 'hits', 1e5, delta => 1e-5, delta_share => 0.5), dp.create_dataset('longs', 'longs', 1e5), dp.add_attribute('longs', 'text', open => true), dp.grant_budget('longs', 'regress_ann', 1e5), dp.expose('longs', 'longs_v', epsilon => 2000);
GRANT SELECT ON longs_v TO regress_ann;
SELECT dp.add_attribute('hits', 'kind', '{a,b}'), dp.add_attribute('hits', 'width', 0, 10, 10, last => 'open'), dp.add_attribute('hits', 'region', '{north,south}'), dp.add_attribute('hits', 'place', '{north,south}'), dp.add_attribute('hits', 'place', open => true);
SELECT count(dp.add_attribute('hits', c, open => true)) FROM unnest('{url,short,padded,plain,folds}'::name[]) c;
SELECT dp.grant_budget('hits', 'regress_ann', 1e5), dp.expose('hits', 'hits_v', epsilon => 50);
GRANT SELECT ON hits, hits_v TO regress_ann;
-- several rows of a unit
CREATE TABLE visits AS SELECT id / 4 AS visitor, kind, url FROM hits;
SELECT dp.create_dataset('visits', 'visits', 1e5, delta => 1e-5, unit => 'visitor', max_rows => 4), dp.add_attribute('visits', 'kind', '{a,b}'), dp.add_attribute('visits', 'url', open => true);
SELECT dp.grant_budget('visits', 'regress_ann', 1e5), dp.expose('visits', 'visits_v', epsilon => 200);
GRANT SELECT ON visits, visits_v TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;

-- 1. Patterns on each column, in every truth
CREATE FUNCTION pg_temp.check_one(condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    answer bigint; truth bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM hits_v WHERE %s', condition) INTO answer;
    EXECUTE format('SELECT count(*) FROM hits WHERE %s', condition) INTO truth;
    RETURN CASE WHEN abs(answer - truth) <= 3 THEN CASE WHEN truth = 0 THEN 'none' ELSE 'right' END ELSE format('%s is %s and not %s', condition, truth, answer) END;
EXCEPTION WHEN OTHERS THEN
    RETURN format('%s: %s %s', condition, SQLSTATE, SQLERRM);
END $$;
CREATE TABLE pg_temp.patterns AS SELECT p FROM unnest(ARRAY['', '%', '%%', '_', '__', '___', '%_', '_%', '%google%', '%google', 'http%', '%w%w%', '\%', '\_', '\\', '\\\%', '%\%%', 'a_b', 'a\_b', 'a\%b', 'a%b', '%Ä%', 'Ä', '_€%', '%€_', '%😀',
       '%ß%', '%xx%google', 'ü%', '%ü', '%üüü%', E'%\n%', ' %', '% ', 'G%E', '%a%a%a%b', '%aab', 'x' || repeat('_', 60), '%' || repeat('x', 63), '%go' || '_' || 'gle%']) p;
SELECT result, count(*) FROM pg_temp.patterns, unnest('{url,short,plain}'::text[]) c, unnest('{%s LIKE %L,%s NOT LIKE %L,(%s LIKE %L) IS NOT TRUE,NOT (%s NOT LIKE %L)}'::text[]) form,
       LATERAL (SELECT pg_temp.check_one(format(form, c, p)) AS result) r GROUP BY 1 ORDER BY 2 DESC;
SELECT result, count(*) FROM pg_temp.patterns, unnest(ARRAY['%s COLLATE "C" ILIKE %L', '%s COLLATE "C" NOT ILIKE %L']) form, LATERAL (SELECT pg_temp.check_one(format(form, 'url', p)) AS result) r GROUP BY 1 ORDER BY 2 DESC;
SELECT pg_temp.check_one(c) FROM unnest(ARRAY['url LIKE ''a!%%'' ESCAPE ''!''', 'url LIKE ''%\%'' ESCAPE ''''', 'url ~~ ''h%''', 'url !~~ ''h%''', 'url LIKE ''h%'' AND url LIKE ''%e%'' AND url <> ''x''', 'url LIKE ''a%'' OR url IN (''Ä'', ''_'')',
    '(url LIKE ''a%'') IS NOT FALSE OR kind = ''a''', 'NOT (url LIKE ''a%'' AND kind = ''a'')', 'url LIKE ''a%'' OR url IS NULL', 'url LIKE ''a%'' AND url NOT LIKE ''a%''', 'url LIKE ''a%'' OR url NOT LIKE ''a%''', '(url LIKE ''a%'') IS TRUE', '(url LIKE ''a%'') = true', '(url LIKE ''a%'') IS NOT TRUE AND (short LIKE ''b'') IS NOT FALSE', 'url LIKE NULL', 'region LIKE ''%r''',
    'url LIKE short', '''abc'' LIKE url', 'padded LIKE ''a%''', 'folds LIKE ''a%''', 'url COLLATE blind LIKE ''a%''', 'url ILIKE ''a%''', '(url LIKE ''a%'') = (kind = ''a'')', '(url LIKE ''a%'') IS NULL', 'upper(url) LIKE ''A%''', 'url SIMILAR TO ''a%''', 'url ~ ''^a''', 'starts_with(url, ''a'')']) c;
-- any and all of a list, with NULL in it, and of none
SELECT form, pg_temp.check_one(form) FROM unnest(ARRAY['url LIKE ANY (ARRAY[''h%'', ''%e''])', 'url NOT LIKE ALL (ARRAY[''h%'', ''%e''])', 'url LIKE ALL (ARRAY[''h%'', ''%e%''])', 'url NOT LIKE ANY (ARRAY[''h%'', ''%e%''])',
    'short LIKE ANY (ARRAY[''a%'', NULL])', '(short LIKE ANY (ARRAY[''a%'', NULL])) IS NULL', 'NOT url LIKE ALL (ARRAY[''a%'', NULL])', 'url LIKE ANY (ARRAY[''h%''])', 'url COLLATE "C" ILIKE ANY (''{G%,%E}'')', 'url LIKE ALL (''{}'')',
    'url LIKE ANY (''{}'')', 'kind LIKE ANY (ARRAY[''a%'', ''c%'']) AND url LIKE ANY (ARRAY[''a%'', ''h%''])', 'url LIKE ANY (ARRAY[kind || ''%''])']) form;
SELECT pg_temp.check_one(format('url LIKE %L', p)) FROM unnest(ARRAY[repeat('x', 64), repeat('ü', 32), repeat('x', 62) || '%', '\']) p;

-- 2. In FILTER, CASE, sums and groups, beside other tests; of keys too
CREATE FUNCTION pg_temp.same_rows(statement text, relation text DEFAULT 'hits') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    answer float8[]; truth float8[]; collect text := 'SELECT array_agg(v::float8 ORDER BY n, k) FROM (SELECT (jsonb_each_text(to_jsonb(r))).*, row_number() OVER () AS n FROM (%s) r) s (k, v, n) WHERE k NOT IN (''kind'', ''url'')';
BEGIN
    EXECUTE format(collect, replace(statement, 'FROM t', 'FROM ' || relation || '_v')) INTO answer;
    EXECUTE format(collect, replace(statement, 'FROM t', 'FROM ' || relation)) INTO truth;
    RETURN CASE WHEN (SELECT bool_and(abs(a - t) <= 4 + abs(t) / 100) AND array_length(answer, 1) = array_length(truth, 1) FROM unnest(answer, truth) u (a, t)) THEN 'right' ELSE format('%s and not %s', answer, truth) END;
EXCEPTION WHEN OTHERS THEN
    RETURN format('%s %s', SQLSTATE, SQLERRM);
END $$;
SELECT statement, pg_temp.same_rows(statement) FROM unnest(ARRAY[
    'SELECT kind, count(*) AS a, count(*) FILTER (WHERE url LIKE ''%google%'') AS b, count(*) FILTER (WHERE url NOT LIKE ''h%'') AS c FROM t GROUP BY kind ORDER BY kind',
    'SELECT kind, sum(CASE WHEN url LIKE ''h%'' THEN 1 ELSE 0 END) AS a, sum(CASE WHEN url LIKE ''h%'' THEN width END) AS b FROM t GROUP BY kind ORDER BY kind',
    'SELECT 1000 * avg((url LIKE ''%a%'')::int) AS a, sum(2 * (url LIKE ''%google%'')::int) AS b FROM t',
    'SELECT avg(width) AS a, sum(width) AS b FROM t WHERE url LIKE ''%google%'' AND kind = ''a''',
    'SELECT count(DISTINCT width) AS a, count(DISTINCT url) AS b FROM t WHERE url LIKE ''%google%''',
    'SELECT width, count(*) AS n FROM t WHERE url LIKE ''%google%'' GROUP BY 1 ORDER BY 1']) statement;
SELECT statement, pg_temp.same_rows(statement) FROM unnest(ARRAY[
    'SELECT url, count(*) AS n FROM t WHERE url LIKE ''%o%'' AND url NOT LIKE ''xxxx%'' GROUP BY url ORDER BY url COLLATE "C"',
    'SELECT url, kind, count(*) AS n, avg(width) AS m FROM t WHERE url LIKE ''a%'' GROUP BY 1, 2 ORDER BY url COLLATE "C", kind',
    'SELECT url, count(*) FILTER (WHERE short LIKE ''%b'') AS n FROM t WHERE url LIKE ''a%'' GROUP BY 1 ORDER BY url COLLATE "C"']) statement;
SELECT statement, pg_temp.same_rows(statement, 'visits') FROM unnest(ARRAY['SELECT kind, count(*) AS n FROM t WHERE url LIKE ''%google%'' GROUP BY kind ORDER BY kind', 'SELECT count(DISTINCT visitor) AS n FROM t WHERE url LIKE ''%google%''',
    'SELECT url, count(*) AS n FROM t WHERE url LIKE ''a_%'' GROUP BY url ORDER BY url COLLATE "C"']) statement;
-- values that are longer are as no pattern, which a NOTICE tells
SET client_min_messages = notice;
SELECT count(*) FILTER (WHERE text LIKE '%') AS "all", count(*) FILTER (WHERE text LIKE 'aa%') AS some, count(*) FILTER (WHERE text NOT LIKE 'a%') AS not FROM longs_v;
SELECT count(*) > 0 FROM hits_v WHERE short LIKE '%';
SET client_min_messages = warning;
PREPARE matching (text) AS SELECT count(*) BETWEEN 597 AND 603 AS right FROM hits_v WHERE url LIKE $1;
EXECUTE matching('%google%');
EXECUTE matching('%oogle%');
SELECT url ~ 'a' AS a, count(*) FROM hits_v GROUP BY 1;
SELECT url LIKE 'a%' AS a, count(*) > 100 AS many FROM hits_v GROUP BY 1 ORDER BY 1;

-- 3. One request however it is written, and its text
SET pg_epsilon.epsilon = 51;
SELECT count(*) AS charges FROM dp.charges \gset
SELECT count(*) FROM hits_v WHERE url LIKE '%_oo%' \g /dev/null
SELECT count(*) FROM hits_v WHERE url LIKE '_%%oo%%' \g /dev/null
SELECT count(*) FROM hits_v WHERE NOT url NOT LIKE '%\_oo%' ESCAPE '!' \g /dev/null
SELECT count(*) FROM hits_v WHERE url ~~ '_%\o\o%' \g /dev/null
SELECT count(*) - :charges AS charged FROM dp.charges;
SELECT request->>'predicate' AS predicate FROM dp.charges ORDER BY charge DESC LIMIT 3;
EXPLAIN (COSTS off) SELECT count(*) FROM hits_v WHERE (url LIKE 'it''s %') IS NOT TRUE AND (short LIKE '\%%') IS NOT FALSE;

-- 4. Predicates; of declared texts where they are open too
CREATE FUNCTION pg_temp.asked(predicate text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    answer float8; n bigint; canonical text; hint text;
BEGIN
    SELECT estimate INTO answer FROM dp.aggregate('hits', '{count(*)}', predicate => asked.predicate, epsilon => 49);
    EXECUTE 'SELECT count(*) FROM hits WHERE ' || replace(predicate, 'plain ILIKE', 'plain COLLATE "C" ILIKE') INTO n;
    SELECT request->>'predicate' INTO canonical FROM dp.charges ORDER BY charge DESC LIMIT 1;
    RETURN format('%s: %s', CASE WHEN abs(answer - n) <= 3 THEN 'right' ELSE format('%s and not %s', n, answer) END, canonical);
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(' ', SQLSTATE, SQLERRM, nullif(hint, ''));
END $$;
SELECT predicate, pg_temp.asked(predicate) FROM unnest('{url LIKE ''%google%'',url not like ''%%google'' AND kind = ''a'',NOT (url LIKE ''a%'' OR plain ILIKE ''G%''),region LIKE ''north_%'',place LIKE ''north_%'',place LIKE ''%'',"(url LIKE '''' OR url IS NULL) AND url NOT LIKE ''x''",url LIKE 7,url LIKE,url LIKE short,
    width LIKE ''7'',padded LIKE ''a'',folds LIKE ''a'',nobody LIKE ''a'',id LIKE ''a'',url LIKE ''a\'',url NOT ''a'',url IN CELLS (0),url LIKE true}'::text[]) predicate;
SELECT count(*) FROM dp.histogram('hits', '{kind}', predicate => 'url LIKE ''%google%''', epsilon => 5);
SELECT count(*) FROM dp.measure('hits', '{kind}', predicate => 'url LIKE ''%google%''', epsilon => 1);
SELECT key, round(estimate) FROM dp.keys('hits', 'url', predicate => 'url LIKE ''a__%''', epsilon => 300, delta => 1e-6) ORDER BY key COLLATE "C";
SELECT dp.rows_per_unit('visits', 3, predicate => 'url LIKE ''a''', epsilon => 1);

RESET SESSION AUTHORIZATION;
DROP FUNCTION refused;
SET client_min_messages = error;
DROP OWNED BY regress_curator, regress_ann CASCADE;
DROP COLLATION blind;
DROP EXTENSION pg_epsilon CASCADE;
DROP ROLE regress_curator, regress_ann;
