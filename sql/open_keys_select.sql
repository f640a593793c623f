-- GROUP BY of a column that nobody has listed: its groups are the values that enough rows have.
-- Noise of epsilon 300 reaches 1/2 with a probability below 1e-11 for each count.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE hits (url text NOT NULL, referer text, phrase varchar(100) NOT NULL, code int, day date, price numeric(6, 2), kind text NOT NULL, width int NOT NULL);
-- one url of a single row, which must not be seen; NULL among the referers
INSERT INTO hits SELECT 'https://x.test/' || i % 6, CASE WHEN i % 5 > 0 THEN 'r' || i % 3 END, CASE WHEN i % 2 = 0 THEN '' ELSE 'it''s ' || i % 4 END, i % 3 * 100, '2026-01-01'::date + i % 3, i % 3 * 1.50, (ARRAY['a', 'b'])[1 + i % 2], i % 10 FROM generate_series(1, 1200) i;
INSERT INTO hits VALUES ('https://only.test/me', 'only me', 'only me', 999, '2027-01-01', 9, 'a', 5);
CREATE TABLE visits AS SELECT i / 3 AS person, CASE WHEN i % 3 = 0 THEN 'start' ELSE 'page ' || i % 5 END AS page, (ARRAY['a', 'b'])[1 + i % 2] AS kind, i % 4 AS hour FROM generate_series(0, 899) i;
SELECT dp.create_dataset('hits', 'hits', 1e5, delta => 1e-5, delta_share => 0.5), dp.create_dataset('visits', 'visits', 1e5, delta => 1e-5, unit => 'person', max_rows => 3);
CREATE TABLE littles AS TABLE visits;
CREATE TABLE longs AS SELECT CASE WHEN i % 3 = 0 THEN repeat('x', 600) ELSE 'a' || i % 2 END AS a, CASE WHEN i % 3 = 0 THEN repeat('y', 440) ELSE 'b' END AS b, CASE WHEN i % 4 = 0 THEN 'z' ELSE 'k' END AS kind FROM generate_series(1, 120) i;
SELECT dp.create_dataset('little', 'littles', 2, delta => 1e-5, unit => 'person', max_rows => 3);
SELECT dp.add_attribute('little', 'page', open => true), dp.grant_budget('little', 'regress_ann', 2), dp.expose('little', 'little_v', epsilon => 1.5);
SELECT dp.add_attribute('hits', 'kind', '{a,b}'), dp.add_attribute('hits', 'width', 0, 10, 10, last => 'open'), dp.add_attribute('visits', 'kind', '{a,b}');
SELECT dp.add_attribute('hits', c, open => true) FROM unnest('{url,referer,phrase,code,day,price}'::name[]) c;
SELECT dp.add_attribute('visits', 'page', open => true), dp.add_attribute('visits', 'hour', open => true);
SELECT dp.create_dataset('longs', 'longs', 1e5, delta => 1e-5), dp.add_attribute('longs', 'a', open => true), dp.add_attribute('longs', 'b', open => true), dp.add_attribute('longs', 'kind', '{k,l}', outside => 'drop'), dp.grant_budget('longs', 'regress_ann', 1e5), dp.expose('longs', 'longs_v', epsilon => 300);
GRANT SELECT ON longs_v TO regress_ann;
SELECT dp.grant_budget(d, 'regress_ann', 1e5) FROM unnest('{hits,visits}'::text[]) d;
SELECT dp.expose('hits', 'hits_v', epsilon => 300), dp.expose('visits', 'visits_v', epsilon => 900);
GRANT SELECT ON hits_v, visits_v, little_v TO regress_ann;
CREATE FUNCTION truth(what text) RETURNS SETOF text LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN RETURN QUERY EXECUTE format('SELECT row(x.*)::text FROM (%s) x', what); END $$;
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'hits_v'::regclass AND attnum > 0 ORDER BY attnum;
SET SESSION AUTHORIZATION regress_ann;

-- HAVING, ORDER BY and LIMIT are applied to one answer: one request, one charge
SELECT url, count(*) FROM hits_v GROUP BY url ORDER BY url;
SELECT url, count(*) AS c FROM hits_v GROUP BY url HAVING count(*) > 100 ORDER BY c DESC, url LIMIT 2;
SELECT count(*) FROM hits_v GROUP BY url ORDER BY 1 LIMIT 1;
SELECT count(url), count(1), count(*) * 2 + 1 AS twice, upper(url) AS up, length(url) FROM hits_v GROUP BY url ORDER BY up LIMIT 2;
SELECT url, length(url), 1 AS one, count(*) FROM hits_v GROUP BY url, length(url), 3 ORDER BY url DESC LIMIT 1;
SELECT url, round(dp.stderr_count(*)::numeric, 4) > 0 AS has_error, dp.lower95_count(*) < dp.upper95_count(*) AS has_interval FROM hits_v GROUP BY url ORDER BY url LIMIT 1;
SELECT function, attributes, count(*) FROM dp.charges JOIN dp.releases USING (release) GROUP BY 1, 2;
-- and the same as of dp.keys
SELECT count(*) AS charges FROM dp.charges \gset
SELECT string_agg(key || ' ' || round(estimate), ', ') FROM dp.keys('hits', 'url', epsilon => 300);
SELECT count(*) - :charges AS charged FROM dp.charges;
-- WHERE of declared columns is the predicate
SELECT url, count(*) FROM hits_v WHERE kind = 'b' AND width < 4 GROUP BY url ORDER BY url;
SELECT truth('SELECT url, count(*) FROM hits WHERE kind = ''b'' AND width < 4 GROUP BY url ORDER BY url');
SELECT string_agg(key || ' ' || round(estimate), ', ') FROM dp.keys('hits', 'url', epsilon => 300, predicate => $$kind = 'b' AND width < 4$$);
SELECT url, count(*) FROM hits_v WHERE false GROUP BY url;
SELECT predicate, method, queries FROM dp.releases WHERE predicate IS NOT NULL ORDER BY release LIMIT 1;
-- Types come as the column has them; NULL is in no group
SELECT referer, count(*) FROM hits_v GROUP BY referer ORDER BY referer;
SELECT code, count(*), pg_typeof(code) FROM hits_v GROUP BY code ORDER BY code;
SELECT day, count(*) FROM hits_v GROUP BY day ORDER BY day DESC;
SELECT price, price * 2 AS double, count(*) FROM hits_v GROUP BY price ORDER BY price;
SET datestyle = 'SQL, DMY';
SELECT day, count(*) FROM hits_v WHERE width >= 5 GROUP BY day ORDER BY day;
RESET datestyle;
-- Notices: what is in no group
SET client_min_messages = notice;
SELECT phrase, count(*) FROM hits_v GROUP BY phrase ORDER BY phrase LIMIT 1 \g /dev/null
SELECT referer FROM hits_v GROUP BY referer HAVING count(*) > 1e6;
SELECT url FROM hits_v WHERE width = 3 GROUP BY url HAVING count(*) > 1e6;
SELECT price, day FROM hits_v WHERE width = 4 AND (day <> '2026-01-01' OR day IS NULL) GROUP BY price, day HAVING count(*) > 1e6;
SELECT day FROM hits_v WHERE day = '2026-01-01' GROUP BY day HAVING count(*) > 1e6;
SET client_min_messages = warning;
-- Units: each key once of each
SELECT page, count(DISTINCT person) FROM visits_v GROUP BY page ORDER BY page;
SELECT truth('SELECT page, count(DISTINCT person) FROM visits GROUP BY page ORDER BY page');
SELECT page, count(DISTINCT person) FROM visits_v WHERE kind = 'a' GROUP BY page ORDER BY page;
SELECT truth('SELECT page, count(DISTINCT person) FROM visits WHERE kind = ''a'' GROUP BY page ORDER BY page');
-- WHERE of the column itself, and of other open ones: =, <>, IN and IS NULL with values
SELECT phrase, count(*) AS c FROM hits_v WHERE phrase <> '' GROUP BY phrase ORDER BY c DESC, phrase;
SELECT truth($$SELECT phrase, count(*) AS c FROM hits WHERE phrase <> '' GROUP BY phrase HAVING count(*) > 1 ORDER BY c DESC, phrase$$);
SELECT url, count(*) FROM hits_v WHERE referer IN ('r1', 'r2', 'unheard of') AND kind = 'a' GROUP BY url ORDER BY url;
SELECT truth($$SELECT url, count(*) FROM hits WHERE referer IN ('r1', 'r2', 'unheard of') AND kind = 'a' GROUP BY url HAVING count(*) > 1 ORDER BY url$$);
SELECT url, count(*) FROM hits_v WHERE referer IS NULL AND url <> 'https://x.test/1' GROUP BY url ORDER BY url LIMIT 2;
CREATE TEMP TABLE asked (what text);
INSERT INTO asked VALUES ($$phrase = 'it''s 1'$$), ($$phrase <> ''$$), ($$NOT phrase = ''$$), ($$referer = 'r1'$$), ($$referer <> 'r1'$$), ($$referer IN ('r1', 'r0', NULL)$$), ($$referer NOT IN ('r1', 'r0')$$),
    ($$referer IS NULL$$), ($$referer IS NOT NULL$$), ($$referer IS DISTINCT FROM 'r1'$$), ($$referer = 'r1' OR referer IS NULL$$), ($$referer = 'r1' OR kind = 'a'$$), ($$(referer = 'r1') IS NOT TRUE$$),
    ($$code = 100$$), ($$code = 100::bigint$$), ($$code IN (0, 100)$$), ($$code <> 1e2::int$$), ($$100 = code$$), ($$day = '2026-01-02'$$), ($$price = 1.5$$), ($$price = 3$$), ($$price <> 1.50$$),
    ($$url = 'https://x.test/1' AND phrase = 'it''s 3'$$), ($$url = ANY (ARRAY['https://x.test/1', 'https://x.test/2'])$$), ($$kind = 'a' AND (url = 'https://x.test/2' OR phrase = '')$$);
CREATE FUNCTION pg_temp.one(what text) RETURNS bigint LANGUAGE plpgsql AS $$ DECLARE n bigint; BEGIN EXECUTE format('SELECT count(*) FROM hits_v WHERE %s', what) INTO n; RETURN n; END $$;
SELECT what, pg_temp.one(what) AS answer, pg_temp.one(what)::text = btrim(truth(format('SELECT count(*) FROM hits WHERE %s', what)), '()') AS is_right FROM asked;
SELECT count(*), count(referer), count(*) FILTER (WHERE referer = 'r1') AS r1, round(sum(width) FILTER (WHERE phrase = ''), -2) AS sum, round(avg(CASE WHEN code = 100 THEN width END), 1) AS avg, sum(CASE WHEN url = 'https://x.test/1' THEN 1 ELSE 0 END) AS c FROM hits_v;
SELECT truth($$SELECT count(*), count(referer), count(*) FILTER (WHERE referer = 'r1') AS r1, round(sum(width) FILTER (WHERE phrase = ''), -2) AS sum, round(avg(CASE WHEN code = 100 THEN width END), 1) AS avg, sum(CASE WHEN url = 'https://x.test/1' THEN 1 ELSE 0 END) AS c FROM hits$$);
SELECT kind, count(*) FROM hits_v WHERE url <> 'https://x.test/1' GROUP BY kind ORDER BY kind;
SELECT truth($$SELECT kind, count(*) FROM hits WHERE url <> 'https://x.test/1' GROUP BY kind ORDER BY kind$$);
SELECT page, count(DISTINCT person) FROM visits_v WHERE page IN ('start', 'page 2') GROUP BY page ORDER BY page;
SELECT count(*), count(DISTINCT person) FROM visits_v WHERE page = 'page 2';
SELECT truth($$SELECT count(*), count(DISTINCT person) FROM visits WHERE page = 'page 2'$$);
-- the same predicates, in any front
SELECT label, round(estimate::numeric) AS estimate FROM dp.histogram('hits', '{kind}', predicate => $$referer IN ('r2', 'r1') AND NOT url = 'https://x.test/1'$$, rho => 100) ORDER BY 1;
SELECT truth($$SELECT kind, count(*) FROM hits WHERE referer IN ('r2', 'r1') AND NOT url = 'https://x.test/1' GROUP BY kind ORDER BY kind$$);
SELECT aggregate, round(estimate::numeric, 0) AS estimate FROM dp.aggregate('hits', '{count(*),"sum(width) where (code = 1e2)"}', predicate => $$day = '2026-01-02' OR price IS NULL$$, rho => 20000);
SELECT truth($$SELECT count(*), sum(width) FILTER (WHERE code = 100) FROM hits WHERE day = '2026-01-02' OR price IS NULL$$);

-- Several open columns, and groups of declared ones beside them, are one key: the combinations that enough rows have
CREATE FUNCTION pg_temp.same(columns text, groups text DEFAULT NULL, rest text DEFAULT '') RETURNS TABLE (of text, rows bigint, same boolean) LANGUAGE plpgsql AS $$
DECLARE
    s text := format('SELECT %s, count(*) FROM {} %s GROUP BY %s HAVING count(*) > 1', columns, rest, coalesce(groups, columns));
BEGIN
    EXECUTE format('CREATE TEMP TABLE a AS SELECT x::text FROM (%s) x', replace(s, '{}', 'hits_v'));
    EXECUTE format('CREATE TEMP TABLE b AS SELECT x FROM truth(%L) x', replace(s, '{}', 'hits'));
    RETURN QUERY SELECT columns || ' ' || rest, count(*), NOT EXISTS (SELECT FROM (TABLE a EXCEPT ALL TABLE b) d) AND NOT EXISTS (SELECT FROM (TABLE b EXCEPT ALL TABLE a) d) FROM a;
    DROP TABLE a, b;
END $$;
SELECT s.* FROM (VALUES ('url, phrase', NULL, ''), ('url, kind', NULL, ''), ('kind, url, width', NULL, ''), ('referer, url, code, day, price', NULL, 'WHERE referer IS NOT NULL'), ('kind, phrase, code, width / 4', NULL, ''),
    ('url, kind', NULL, 'WHERE kind <> ''a'' AND width > 2 AND phrase <> '''''), ('width % 3, upper(kind), day, length(phrase)', 'width % 3, kind, day, phrase', ''), ('url, 1', NULL, ''), ('price, width = 4', NULL, 'WHERE width < 6'),
    ('price, width', NULL, 'WHERE width IN (2, 7)'), ('day, code', NULL, 'WHERE code = 100 OR day = ''2026-01-01''')) v(columns, groups, rest), pg_temp.same(columns, groups, rest) s;
SELECT url, kind, count(*) AS c FROM hits_v WHERE width < 3 GROUP BY url, kind ORDER BY c DESC, url LIMIT 2;
SELECT kind, code, count(code), pg_typeof(code), code + 1 AS more FROM hits_v GROUP BY code, kind ORDER BY 2, 1 LIMIT 3;
SELECT referer, kind, count(*) FROM hits_v GROUP BY referer, kind ORDER BY 1, 2;
SELECT referer, code, count(*) FROM hits_v GROUP BY referer, code ORDER BY 1, 2 LIMIT 3;
SELECT left(a, 3) AS a, left(b, 3) AS b, count(*) FROM (SELECT a, b, count(*) AS n FROM longs_v GROUP BY a, b) s, generate_series(1, n) GROUP BY 1, 2 ORDER BY 1, 2;
SELECT left(a, 3) AS a, kind, n FROM (SELECT a, kind, count(*) AS n FROM longs_v GROUP BY a, kind) s ORDER BY 1, 2;
SELECT page, kind, count(DISTINCT person) FROM visits_v GROUP BY page, kind ORDER BY 1, 2 LIMIT 4;
SELECT truth('SELECT page, kind, count(DISTINCT person) FROM visits GROUP BY page, kind ORDER BY 1, 2 LIMIT 4');
SELECT page, hour, count(DISTINCT person), count(*) FROM visits_v GROUP BY page, hour HAVING count(*) > 50 ORDER BY 1, 2;
SELECT truth('SELECT page, hour, count(DISTINCT person), count(*) FROM visits GROUP BY page, hour HAVING count(*) > 50 ORDER BY 1, 2');
-- NOTICES
SET client_min_messages = notice;
SELECT a, b FROM longs_v WHERE kind = 'k' GROUP BY a, b HAVING count(*) > 1e6;
SELECT a, kind FROM longs_v WHERE b = 'b' GROUP BY a, kind HAVING count(*) > 1e6;
SET client_min_messages = warning;
\t on
EXPLAIN (COSTS OFF) SELECT url, kind, count(*) FROM hits_v GROUP BY kind, url;
SELECT refused('SELECT url, kind FROM hits_v GROUP BY url, kind');
\t off
-- In a query around it, by a prepared statement, and twice in a statement
SELECT sum(c) FROM (SELECT url, count(*) AS c FROM hits_v GROUP BY url) s;
SELECT a.url, a.c, b.c FROM (SELECT url, count(*) AS c FROM hits_v GROUP BY url) a JOIN (SELECT url, count(*) AS c FROM hits_v WHERE kind = 'a' GROUP BY url) b USING (url) ORDER BY 1;
PREPARE by_kind(text) AS SELECT url, count(*) FROM hits_v WHERE kind = $1 GROUP BY url ORDER BY url LIMIT 1;
EXECUTE by_kind('a');
EXECUTE by_kind('b');
-- lists of a varchar column with a parameter, and with all of them, in plans that are kept
SET plan_cache_mode = force_generic_plan;
PREPARE one_of(text) AS SELECT count(*) FROM hits_v WHERE phrase IN ('', $1, 'unheard of');
EXECUTE one_of('it''s 3');
PREPARE those(varchar[]) AS SELECT count(*) FROM hits_v WHERE phrase = ANY ($1);
EXECUTE those('{"it''s 3",""}');
SELECT truth($$SELECT count(*) FROM hits WHERE phrase IN ('', 'it''s 3')$$);
RESET plan_cache_mode;

-- EXPLAIN has the request and its price, with delta, and is free
SELECT count(*) AS charges FROM dp.charges \gset
\t on
EXPLAIN (COSTS OFF) SELECT url, count(*) FROM hits_v GROUP BY url;
EXPLAIN (COSTS OFF) SELECT page, count(DISTINCT person) FROM visits_v WHERE kind = 'b' GROUP BY page HAVING count(DISTINCT person) > 50;
-- each of two fits, and both together do not: nothing is charged
EXPLAIN (COSTS OFF) SELECT page, count(DISTINCT person) FROM little_v GROUP BY page;
SELECT refused('SELECT * FROM (SELECT page, count(DISTINCT person) FROM little_v GROUP BY page) a, (SELECT count(DISTINCT person) FROM little_v) b');
SET pg_epsilon.epsilon = 300;
EXPLAIN (COSTS OFF) SELECT page, count(DISTINCT person) FROM little_v GROUP BY page;
RESET pg_epsilon.epsilon;
SET pg_epsilon.max_stderr = 10;
SELECT refused('SELECT url, count(*) FROM hits_v GROUP BY url');
RESET pg_epsilon.max_stderr;
SET pg_epsilon.reuse = 'only';
EXPLAIN (COSTS OFF) SELECT code, count(*) FROM hits_v WHERE width = 1 GROUP BY code;
SELECT refused('SELECT code, count(*) FROM hits_v WHERE width = 1 GROUP BY code');
RESET pg_epsilon.reuse;

-- What is refused, with the statement that answers
SELECT refused('SELECT DISTINCT url FROM hits_v');
SELECT refused('SELECT DISTINCT url, kind FROM hits_v');
SELECT refused('SELECT url FROM hits_v GROUP BY url');
SELECT refused('SELECT url FROM hits_v');
SELECT refused('SELECT length(url), count(*) FROM hits_v GROUP BY length(url)');
SELECT refused('SELECT url || kind, count(*) FROM hits_v GROUP BY url || kind');
SELECT refused('SELECT url, kind || width, count(*) FROM hits_v GROUP BY url, kind || width');
SELECT refused('SELECT url, kind, count(*) FROM hits_v GROUP BY GROUPING SETS ((url, kind), (url))');
SELECT refused('SELECT url, count(*) FROM hits_v GROUP BY ROLLUP (url)');
SELECT refused('SELECT url, count(*), count(DISTINCT kind) FROM hits_v GROUP BY url');
SELECT refused('SELECT url, max(code) FROM hits_v GROUP BY url');
SELECT refused('SELECT min(url), max(url) FROM hits_v');
-- what WHERE leaves nothing of has no values, free
SELECT url, count(*) FROM hits_v WHERE kind = 'undeclared' GROUP BY url;
SELECT count(*) FROM (SELECT url, referer, sum(width) FROM hits_v WHERE kind = 'undeclared' GROUP BY 1, 2) s;
SELECT refused('SELECT count(*) FROM hits_v WHERE url ~ ''^https''');
SELECT refused('SELECT count(*) FROM hits_v WHERE url ~ ''^https'' AND url <> ''x''');
SELECT refused('SELECT count(*) FROM hits_v WHERE url > ''x''');
SELECT refused('SELECT count(*) FROM hits_v WHERE url = referer');
SELECT refused('SELECT count(*) FROM hits_v WHERE lower(url) = ''x''');
SELECT refused('SELECT max(code), count(*) FROM hits_v WHERE code = 100');
SELECT refused('SELECT avg(code) FROM hits_v WHERE code = 100');
SELECT refused('SELECT sum(code + 1) FROM hits_v WHERE code <> 100');
SELECT refused('SELECT count(*) FROM hits_v WHERE code = 99999999999');
SELECT refused('SELECT url > ''x'', count(*) FROM hits_v GROUP BY 1');
SELECT refused($$SELECT * FROM dp.histogram('hits', '{kind}', predicate => 'url < ''x''', rho => 1)$$);
SELECT refused($$SELECT * FROM dp.histogram('hits', '{kind}', predicate => 'url IN CELLS (0)', rho => 1)$$);
SELECT refused($$SELECT * FROM dp.histogram('hits', '{kind}', predicate => 'code = 1.5', rho => 1)$$);
SELECT refused($$SELECT * FROM dp.histogram('hits', '{kind}', predicate => 'url = ''x'' AND url = ''y''', rho => 1)$$);
SELECT refused($$SELECT * FROM dp.histogram('hits', '{url}', predicate => 'url = ''x''', rho => 1)$$);
SELECT refused('SELECT person, count(*) FROM visits_v GROUP BY person');
\t off
SELECT count(*) - :charges AS charged FROM dp.charges;

-- A minimum frequency leaves keys out; one row of each unit may be counted as such
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.set_min_count('hits', 250);
ALTER FOREIGN TABLE visits_v_foreign OPTIONS (ADD rows_per_unit '1');
SET SESSION AUTHORIZATION regress_ann;
SELECT code, count(*) FROM hits_v GROUP BY code ORDER BY code;
SELECT url, count(*) FROM hits_v GROUP BY url;
-- and so does a higher one of the relation
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_curator;
ALTER FOREIGN TABLE hits_v_foreign OPTIONS (ADD min_count '500');
SET SESSION AUTHORIZATION regress_ann;
SELECT code, count(*) FROM hits_v GROUP BY code ORDER BY code;
SELECT sum(count) FROM (SELECT page, count(*) FROM visits_v GROUP BY page) s;
SELECT page, count(*) = count(DISTINCT person) AS same FROM visits_v GROUP BY page ORDER BY page LIMIT 1;
-- Closed again, the column answers nothing
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.set_min_count('hits', NULL);
SELECT dp.drop_attribute('hits', 'code');
SET SESSION AUTHORIZATION regress_ann;
SELECT refused('SELECT code, count(*) FROM hits_v GROUP BY code');

RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused;
SET client_min_messages = error;
DROP OWNED BY regress_curator, regress_ann CASCADE;
DROP ROLE regress_curator, regress_ann;
