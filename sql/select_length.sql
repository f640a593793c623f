-- length of text columns that nobody has listed, in sums and averages, against PostgreSQL on the rows.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE, USAGE ON SCHEMA public TO regress_curator;
GRANT USAGE ON SCHEMA public TO regress_ann;
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE hits AS SELECT (ARRAY['a', 'b'])[1 + i % 2] AS kind, i % 10 AS width, v.t AS url, v.t::varchar(20) AS short, v.t::varchar(300) AS middling, coalesce(v.t, '') AS there, left(v.t, 5)::char(9) AS padded
  FROM generate_series(1, 4200) i, LATERAL (SELECT (ARRAY['', NULL, 'a', 'Ä', 'ä€😀', repeat('x', 1024), repeat('€', 341), repeat('😀', 256), 'http://www.google.com/', repeat('b', i % 50)])[1 + i % 10] AS t) v;
ALTER TABLE hits ALTER there SET NOT NULL;
CREATE TABLE longs AS SELECT i % 2 AS half, CASE i % 4 WHEN 0 THEN 'a' WHEN 1 THEN repeat('a', 50000) WHEN 2 THEN repeat('€', 400) ELSE (SELECT string_agg(md5((i * 100000 + j)::text), '') FROM generate_series(1, 500) j) END AS text FROM generate_series(1, 80) i;
CREATE TABLE visits AS SELECT row_number() OVER () / 4 AS visitor, kind, url FROM hits;
SELECT dp.create_dataset('hits', 'hits', 1e5, delta => 1e-5, delta_share => 0.5), dp.create_dataset('longs', 'longs', 1e5), dp.create_dataset('visits', 'visits', 1e5, unit => 'visitor', max_rows => 4);
SELECT dp.add_attribute('hits', 'kind', '{a,b}'), dp.add_attribute('visits', 'kind', '{a,b}'), dp.add_attribute('hits', 'width', 0, 10, 10, last => 'open'), dp.add_attribute('longs', 'half', '{0,1}'::int[]), dp.add_attribute('longs', 'text', open => true), dp.add_attribute('visits', 'url', open => true);
SELECT count(dp.add_attribute('hits', c, open => true)) FROM unnest('{url,short,middling,there,padded}'::name[]) c;
SELECT dp.grant_budget(d, 'regress_ann', 1e5), dp.expose(d, d || '_v', epsilon => 1000) FROM unnest('{hits,longs,visits}'::text[]) d;
GRANT SELECT ON hits, hits_v, longs, longs_v, visits, visits_v TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;

-- 1. Against PostgreSQL: sums, averages, formulas, groups, FILTER, CASE, HAVING and ORDER BY
CREATE FUNCTION pg_temp.same_rows(statement text, relation text DEFAULT 'hits') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    answer float8[]; truth float8[]; collect text := 'SELECT array_agg(v::float8 ORDER BY n, k) FROM (SELECT (jsonb_each_text(to_jsonb(r))).*, row_number() OVER () AS n FROM (%s) r) s (k, v, n) WHERE k NOT IN (''kind'', ''url'')';
BEGIN
    EXECUTE format(collect, replace(statement, 'FROM t', 'FROM ' || relation || '_v')) INTO answer;
    EXECUTE format(collect, replace(statement, 'FROM t', 'FROM ' || relation)) INTO truth;
    RETURN CASE WHEN (SELECT bool_and(abs(a - t) <= 1 + abs(t) / 40) AND array_length(answer, 1) = array_length(truth, 1) FROM unnest(answer, truth) u (a, t)) THEN 'right' ELSE format('%s and not %s', answer, truth) END;
EXCEPTION WHEN OTHERS THEN
    RETURN format('%s %s', SQLSTATE, SQLERRM);
END $$;
SELECT statement, pg_temp.same_rows(statement) FROM unnest(ARRAY[
    'SELECT avg(length(url)) AS a, sum(length(url)) AS b, count(*) AS n FROM t',
    'SELECT avg(char_length(short)) AS a, sum(character_length(middling)) AS b FROM t',
    'SELECT kind, avg(length(url)) AS l, count(*) AS c FROM t WHERE url <> '''' GROUP BY kind HAVING count(*) > 1000 ORDER BY l DESC LIMIT 25',
    'SELECT kind, 100 * avg(least(length(there), 60)) FILTER (WHERE url LIKE ''%b%'') AS a, sum(CASE WHEN width < 5 THEN least(length(there), 40) ELSE 0 END) AS b FROM t GROUP BY kind ORDER BY kind',
    'SELECT sum(length(url) * width) AS a, avg(length(url) + length(short) - 2 * width) AS b, sum(2 * length(url) - 7) AS c, sum(-length(url)) AS d, avg(length(url) / 2.0) AS e, avg(length(url)::numeric) AS f FROM t',
    'SELECT avg(least(length(url), 30)) AS a, sum(least(7, length(url))) AS b, avg(least(length(short), 300)) AS c, avg(least(length(url), 5000)) AS d FROM t',
    'SELECT avg(coalesce(length(url), 0)) AS a, sum(coalesce(length(url), 100) * width) AS b FROM t',
    'SELECT url, avg(length(there)) AS a FROM t WHERE url LIKE ''%a%'' GROUP BY url ORDER BY url',
    'SELECT avg(length(kind)) AS a FROM t',
    'SELECT avg(length(padded)) AS a FROM t',
    'SELECT max(length(url)) AS a FROM t', 'SELECT count(length(url)) AS a FROM t', 'SELECT count(*) AS a FROM t WHERE length(url) > 10', 'SELECT length(url) AS l, count(*) AS a FROM t GROUP BY 1', 'SELECT stddev(length(url)) AS a FROM t',
    'SELECT sum(length(url) / 2) AS a FROM t', 'SELECT avg(octet_length(url)) AS a FROM t', 'SELECT avg(length(upper(url))) AS a FROM t', 'SELECT avg(greatest(length(url), 3)) AS a FROM t', 'SELECT avg(least(length(url), 0)) AS a FROM t']) statement;
SELECT statement, pg_temp.same_rows(statement, 'visits') FROM unnest(ARRAY['SELECT kind, avg(length(url)) AS l, sum(length(url)) AS s FROM t GROUP BY kind ORDER BY kind']) statement;

-- 2. Values that are longer count as the most, which a NOTICE tells; the lesser of few characters is exact
SET client_min_messages = notice;
SELECT round(avg(length(text)), -1) FROM longs_v;
SELECT round(avg(least(length(text), 300))) AS fewer FROM longs_v;
SELECT round(avg(least(length(text), 256))) AS exact, (SELECT round(avg(least(length(text), 256))) FROM longs) AS truth FROM longs_v;
SET client_min_messages = warning;
EXPLAIN (COSTS off) SELECT half, avg(length(text) * 2) FROM longs_v GROUP BY 1;
EXPLAIN (COSTS off) SELECT sum(length(short)), sum(length(middling)), sum(length(url)) FROM hits_v;

-- 3. The same in dp.aggregate
CREATE FUNCTION pg_temp.asked(aggregate text, dataset text DEFAULT 'hits') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    answer float8; n float8; canonical text; hint text;
BEGIN
    SELECT estimate INTO answer FROM dp.aggregate(dataset, ARRAY[aggregate], epsilon => 900);
    EXECUTE format('SELECT %s FROM %I', aggregate, dataset) INTO n;
    SELECT request->>'aggregates' INTO canonical FROM dp.charges ORDER BY charge DESC LIMIT 1;
    RETURN format('%s: %s', CASE WHEN abs(answer - n) <= 1 + abs(n) / 40 THEN 'right' ELSE format('%s and not %s', n, answer) END, canonical);
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(' ', SQLSTATE, SQLERRM, nullif(hint, ''));
END $$;
SELECT aggregate, pg_temp.asked(aggregate) FROM unnest('{"avg(length(url))","sum(length( url ) + length(there))","sum(coalesce(length(url), 3))","count(length(url))","var(length(url))","sum(length(padded))","sum(length(width))",
    "sum(length(nobody))","sum(length(kind))","sum(length(url, 0))","sum(length(url, 1025))","sum(length(url, x))","sum(least(length(url), 7))","sum(length(url)","sum(length)","avg(length(url)) FILTER (WHERE url LIKE ''a%'')","corr(length(url), width)"}'::text[]) aggregate;
SELECT estimate BETWEEN 16000 AND 17500 AS right FROM dp.aggregate('hits', '{"sum(length(url, 7))"}', epsilon => 900);
SELECT estimate BETWEEN 16500 AND 18100 AS right FROM dp.aggregate('hits', '{"sum(coalesce(length(url, 7), 1.5))"}', epsilon => 900);
-- one charge, whichever way it is asked
SELECT count(*) AS charges FROM dp.charges \gset
SELECT sum(least(length(url), 9)) FROM hits_v \g /dev/null
SELECT sum(least(9, char_length(url))) FROM hits_v \g /dev/null
SELECT count(*) FROM dp.aggregate('hits', '{"sum(coalesce(length(url, 9), 9))"}', epsilon => 1000);
SELECT count(*) - :charges AS charged FROM dp.charges;
SELECT dp.create_series('hits', 'lengths', '{avg(length(url))}', period => '1 day', start => now(), periods => 3, epsilon => 1);

RESET SESSION AUTHORIZATION;
DROP FUNCTION refused;
SET client_min_messages = error;
DROP OWNED BY regress_curator, regress_ann CASCADE;
DROP EXTENSION pg_epsilon CASCADE;
DROP ROLE regress_curator, regress_ann;
