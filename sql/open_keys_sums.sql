-- Sums and averages of each value that nobody has listed: GROUP BY of an open column, in one request with one charge.
-- The noise of epsilon 1000, of 3000 where a unit has several rows, is too small to be seen in what is rounded here; a group passes with two units.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE hits (url text NOT NULL, phrase text, code int, day date, kind text NOT NULL, width int NOT NULL, price numeric(6, 2), speed float8);
INSERT INTO hits SELECT 'https://x.test/' || i % 6, CASE WHEN i % 5 > 0 THEN 'p' || i % 3 END, i % 4 * 100, '2026-01-01'::date + i % 3, (ARRAY['a', 'b'])[1 + i % 2], i % 11, CASE WHEN i % 7 > 0 THEN i % 9 * 1.25 END, CASE WHEN i % 8 > 0 THEN i % 13 / 2.0 END FROM generate_series(1, 1200) i;
INSERT INTO hits VALUES ('https://only.test/me', 'only me', 999, '2027-01-01', 'a', 5, 5, 5);
CREATE TABLE changes AS TABLE hits;
ALTER TABLE changes ALTER url SET NOT NULL, ALTER kind SET NOT NULL, ALTER width SET NOT NULL;
-- of each person up to four rows
CREATE TABLE visits AS SELECT i / 4 AS person, CASE WHEN i % 3 = 0 THEN 'start' ELSE 'page ' || i % 5 END AS page, (ARRAY['a', 'b'])[1 + i % 2] AS kind, i % 8 AS spent FROM generate_series(0, 999) i;
SELECT dp.create_dataset('hits', 'hits', 1e5, delta => 1e-5), dp.create_dataset('changes', 'changes', 1e5, delta => 1e-5, neighbours => 'substitute'), dp.create_dataset('visits', 'visits', 1e5, delta => 1e-5, unit => 'person', max_rows => 4);
SELECT dp.add_attribute(d, 'kind', '{a,b,c}'), dp.add_attribute(d, 'width', 0, 11, 11, last => 'open'), dp.add_attribute(d, 'price', 0, 12, 12), dp.add_attribute(d, 'speed', -1, 7, 8) FROM unnest('{hits,changes}'::text[]) d;
SELECT dp.add_attribute(d, c, open => true) FROM unnest('{hits,changes}'::text[]) d, unnest('{url,phrase,code,day}'::name[]) c;
SELECT dp.add_attribute('visits', 'page', open => true), dp.add_attribute('visits', 'kind', '{a,b}'), dp.add_attribute('visits', 'spent', 0, 8, 8, last => 'open');
SELECT dp.grant_budget(d, 'regress_ann', 1e5), dp.expose(d, d || '_v', epsilon => CASE d WHEN 'visits' THEN 3e3 ELSE 1e3 END) FROM unnest('{hits,changes,visits}'::text[]) d;
GRANT SELECT ON hits_v, changes_v, visits_v TO regress_ann;
CREATE FUNCTION truth(what text) RETURNS SETOF jsonb LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN RETURN QUERY EXECUTE format('SELECT to_jsonb(x) FROM (%s) x', what); END $$;
SET SESSION AUTHORIZATION regress_ann;

-- One request, one charge, one release
SELECT url, count(*), round(sum(width)::numeric, -2) AS sum, round(avg(width)::numeric, 1) AS avg FROM hits_v GROUP BY url ORDER BY url;
SELECT truth('SELECT url, count(*), round(sum(width), -2) AS sum, round(avg(width), 1) AS avg FROM hits WHERE url <> ''https://only.test/me'' GROUP BY url ORDER BY url');
SELECT url, round(sum(width)::numeric, -2) AS sum FROM hits_v GROUP BY url HAVING sum(width) > 900 AND count(*) > 100 ORDER BY avg(width) > 1, url DESC LIMIT 2;
SELECT url, round(sum(width)::numeric, -2) AS sum FROM hits_v GROUP BY url HAVING sum(width) > 900 AND count(*) > 100 ORDER BY avg(width) > 1, url DESC LIMIT 2;
SELECT function, attributes, count(*), count(DISTINCT release) AS releases, sum((delta > 0)::int) AS with_delta FROM dp.charges JOIN dp.releases USING (release) GROUP BY 1, 2;
-- The same request is answered from the release, to the last digit
SELECT count(*) AS charges FROM dp.charges \gset
CREATE TEMP TABLE once AS SELECT url, count(*) AS n, sum(width) AS s, avg(width) AS a, dp.stderr_sum(width) AS e, dp.lower95_avg(width) AS l FROM hits_v GROUP BY url;
SELECT count(*) AS replayed FROM (TABLE once INTERSECT SELECT url, count(*), sum(width), avg(width), dp.stderr_sum(width), dp.lower95_avg(width) FROM hits_v GROUP BY url) s;
SELECT bool_and(e > 0 AND e < 1 AND l < a) AS told FROM once;
SELECT count(*) - :charges AS charged FROM dp.charges;

-- Statements of all kinds, against PostgreSQL on the rows: a number is right to 3 in 100, and there is a row for each group of two rows and more.
CREATE FUNCTION pg_temp.near(one jsonb, other jsonb) RETURNS boolean LANGUAGE sql AS $$
    SELECT bool_and(CASE WHEN jsonb_typeof(a.value) = 'number' AND jsonb_typeof(b.value) = 'number' THEN abs(a.value::float8 - b.value::float8) <= greatest(0.1, 0.03 * abs(b.value::float8)) ELSE a.value = b.value END) FROM jsonb_each(one) a JOIN jsonb_each(other) b USING (key) $$;
CREATE FUNCTION pg_temp.same(d text, groups text, aggregates text, rest text, passes text DEFAULT 'count(*) > 1') RETURNS TABLE (rows bigint, same boolean) LANGUAGE plpgsql AS $$
DECLARE
    s text := format('SELECT %s, %s FROM {} %s GROUP BY %s HAVING %s', groups, aggregates, split_part(rest, ' HAVING ', 1), groups, coalesce(nullif(split_part(rest, ' HAVING ', 2), ''), 'true'));
BEGIN
    EXECUTE format('CREATE TEMP TABLE a AS SELECT to_jsonb(x) AS x FROM (%s) x', replace(s, '{}', d || '_v'));
    EXECUTE format('CREATE TEMP TABLE b AS SELECT x FROM truth(%L) x', replace(s, '{}', d) || ' AND ' || passes);
    RETURN QUERY SELECT count(*), count(*) = (SELECT count(*) FROM b) AND bool_and(EXISTS (SELECT FROM b WHERE pg_temp.near(a.x, b.x))) FROM a;
    DROP TABLE a, b;
END $$;
CREATE TEMP TABLE asked (groups text, aggregates text, rest text DEFAULT '');
INSERT INTO asked VALUES
    ('url', 'count(*) AS n, sum(width) AS s'), ('url', 'avg(width) AS a'), ('url', 'sum(width) AS s'), ('url', 'count(price) AS c, sum(price) AS s, avg(price) AS a'), ('url', 'avg(speed) AS a, sum(speed) AS s, count(speed) AS c'),
    ('code', 'sum(width) AS s, avg(price) AS a, count(*) AS n'), ('day', 'avg(width) AS a, sum(speed) AS s'), ('url', 'stddev(width) AS d, var_pop(speed) AS v'), ('code', 'corr(width, speed) AS c, regr_slope(width, speed) AS r'),
    ('url, day', 'avg(width) AS a, count(*) AS n'), ('code, day', 'sum(price) AS s'), ('url, kind', 'avg(price) AS a, count(*) AS n'), ('url', 'count(*) FILTER (WHERE kind = ''a'') AS a, count(*) FILTER (WHERE kind = ''b'') AS b'),
    ('day', 'sum(width) FILTER (WHERE kind = ''a'' AND width < 5) AS a, count(*) AS n'), ('url', 'sum(CASE WHEN width = 3 THEN 1 ELSE 0 END) AS c'), ('url', 'sum(width * price) AS s'), ('day', 'sum(width * (1 - width)) AS p, avg(price * width) AS a'),
    ('url', 'sum(width + 1) AS p, count(*) * 2 AS twice'), ('url, length(url)', 'sum(width) AS s');
INSERT INTO asked VALUES
    ('kind, day, code', 'sum(width) AS s', 'WHERE width > 2'), ('url', 'avg(CASE WHEN kind = ''a'' THEN width END) AS a', 'WHERE kind <> ''b'''), ('url', 'sum(width) AS s', 'WHERE kind = ''b'' AND width < 4'), ('url', 'avg(width) AS a, count(*) AS n', 'WHERE code = 100'),
    ('code', 'sum(width) AS s', 'WHERE url <> ''https://x.test/1'''), ('phrase', 'sum(width) FILTER (WHERE day = ''2026-01-02'') AS s', 'WHERE phrase = ''p1'' AND code = 100'), ('url', 'sum(width) AS s', 'WHERE true HAVING sum(width) > 900'),
    ('day', 'avg(width) AS a', 'WHERE true HAVING avg(price) < 6 AND count(*) > 2'), ('phrase', 'sum(width) AS s, count(*) AS n', 'WHERE phrase IS NOT NULL');
SELECT groups, aggregates, rest, h.rows, h.same, c.rows AS changes, c.same FROM asked, pg_temp.same('hits', groups, aggregates, rest) h, pg_temp.same('changes', groups, aggregates, rest) c;
-- Rows without a value are in no group
SELECT phrase, count(*), avg(price) BETWEEN 3 AND 7 AS avg FROM hits_v GROUP BY phrase ORDER BY 1;
SELECT truth('SELECT phrase, count(*), avg(price) BETWEEN 3 AND 7 AS avg FROM hits WHERE phrase <> ''only me'' GROUP BY phrase ORDER BY 1');
-- Where no row has a declared group beside a value there is no group of both, as in PostgreSQL; and where nothing passes there is none
SELECT kind, count(s) AS groups FROM (SELECT url, kind, sum(width) AS s FROM hits_v WHERE width < 5 GROUP BY url, kind) s GROUP BY kind ORDER BY 1;
SELECT url, sum(width) FROM hits_v WHERE url = 'https://only.test/me' GROUP BY url;
SELECT url, sum(width) FROM hits_v WHERE kind = 'c' GROUP BY url;

-- Units with several rows: rows are counted, and the units by which a value is found
SELECT page, count(DISTINCT person) AS people, count(*) AS rows, round(sum(spent)::numeric, -2) AS sum, avg(spent) BETWEEN 3.3 AND 3.7 AS avg FROM visits_v GROUP BY page ORDER BY page;
SELECT truth('SELECT page, count(DISTINCT person) AS people, count(*) AS rows, round(sum(spent), -2) AS sum, avg(spent) BETWEEN 3.3 AND 3.7 AS avg FROM visits GROUP BY page ORDER BY page');
SELECT groups, aggregates, rest, s.* FROM (VALUES ('page', 'count(*) AS n', ''), ('page, kind', 'count(*) AS n, sum(spent) AS s', ''), ('page', 'avg(spent) AS a, count(DISTINCT person) AS p', 'WHERE kind = ''a'' AND spent > 1'), ('page', 'count(*) FILTER (WHERE spent = 2) AS c', '')) v(groups, aggregates, rest),
    pg_temp.same('visits', groups, aggregates, rest, 'count(DISTINCT person) > 1') s;
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_curator;
ALTER FOREIGN TABLE visits_v_foreign OPTIONS (ADD rows_per_unit '2');
SET SESSION AUTHORIZATION regress_ann;
-- two rows of each count, in all pages together
SELECT round(sum(n)::numeric, -1) AS rows, sum(p) BETWEEN 250 AND 500 AS pairs FROM (SELECT page, count(*) AS n, count(DISTINCT person) AS p FROM visits_v GROUP BY page) s;

-- In EXPLAIN, by a prepared statement, in a query around it, and with another price
\t on
EXPLAIN (COSTS OFF) SELECT url, count(*), avg(width), sum(price) FROM hits_v WHERE kind = 'a' GROUP BY url;
EXPLAIN (COSTS OFF) SELECT page, kind, count(*) FROM visits_v GROUP BY page, kind;
EXPLAIN (COSTS OFF) SELECT url, count(*), sum(width), avg(width), dp.stderr_sum(width), dp.lower95_avg(width) FROM hits_v GROUP BY url;
\t off
PREPARE by_kind(text) AS SELECT url, round(sum(width)::numeric, -2) AS sum FROM hits_v WHERE kind = $1 GROUP BY url ORDER BY url LIMIT 1;
EXECUTE by_kind('a');
EXECUTE by_kind('b');
SELECT round(sum(s)::numeric, -2) AS all FROM (SELECT url, sum(width) AS s FROM hits_v GROUP BY url) s;
SET pg_epsilon.epsilon = 500;
SELECT url, round(sum(width)::numeric, -2) AS sum FROM hits_v GROUP BY url ORDER BY url LIMIT 1;
RESET pg_epsilon.epsilon;

-- Refused before the charge
SELECT count(*) AS charges FROM dp.charges \gset
\t on
SELECT refused('SELECT url, dp.median(width) FROM hits_v GROUP BY url');
SELECT refused('SELECT url, percentile_cont(0.5) WITHIN GROUP (ORDER BY width) FROM hits_v GROUP BY url');
SELECT refused('SELECT page, count(DISTINCT person) FILTER (WHERE kind = ''a'') FROM visits_v GROUP BY page');
SELECT refused('SELECT url, sum(code) FROM hits_v GROUP BY url');
SELECT refused('SELECT url, sum(width), max(url) FROM hits_v GROUP BY url');
SELECT refused('SELECT url, sum(width) FROM hits_v WHERE width > price GROUP BY url');
SELECT refused('SELECT url FROM hits_v GROUP BY url');
SELECT refused('SELECT length(url), sum(width) FROM hits_v GROUP BY length(url)');
SET pg_epsilon.max_stderr = 10;
SELECT refused('SELECT url, sum(width) FROM hits_v GROUP BY url');
RESET pg_epsilon.max_stderr;
SET pg_epsilon.epsilon = 1e-9;
SELECT refused('SELECT url, sum(width) FROM hits_v GROUP BY url');
RESET pg_epsilon.epsilon;
SET pg_epsilon.reuse = 'only';
SELECT refused('SELECT url, sum(width), sum(speed) FROM hits_v GROUP BY url');
RESET pg_epsilon.reuse;
\t off
SELECT count(*) - :charges AS charged FROM dp.charges;

-- A minimum frequency: of a value by its count, and of an aggregate by the count of what it is made of
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.set_min_count('hits', 60);
SET SESSION AUTHORIZATION regress_ann;
SELECT code, day, round(sum(width)::numeric, -2) AS sum, round(sum(width) FILTER (WHERE width = 3)) AS threes FROM hits_v GROUP BY code, day ORDER BY 1, 2 LIMIT 2;
SELECT count(sum) FROM (SELECT code, url, day, phrase, sum(width) FROM hits_v GROUP BY code, url, day, phrase) s;

RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused;
SET client_min_messages = error;
DROP OWNED BY regress_curator, regress_ann CASCADE;
DROP ROLE regress_curator, regress_ann;
