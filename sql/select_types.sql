-- Plain SELECT: a column keeps the length, the digits and the collation of the table's.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator, regress_ann;
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_curator;
CREATE COLLATION backwards (provider = icu, locale = 'de-u-kf-upper');
CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE DOMAIN cents AS numeric(4, 2);
CREATE DOMAIN short AS char(3) COLLATE "C";
CREATE TABLE t AS SELECT (ARRAY['ab', 'abcd'])[1 + i % 2]::char(4) AS code, (ARRAY['n', 'nn', 'x'])[1 + i % 3]::varchar(2) AS v,
    (i % 5 * 0.05)::numeric(3, 2) AS discount, (i % 2)::cents AS price, (ARRAY['a', 'bc'])[1 + i % 2]::short AS s, (i % 3)::bit(2)::text::char(2) AS o,
    (timestamp '2025-01-01' + i % 2 * interval '1 day')::timestamp(0) AS ts, (i % 100 / 10.0)::numeric(5, 1) AS amount,
    (ARRAY['apple', 'Banana', 'cherry', 'Aepfel'])[1 + i % 4] COLLATE backwards AS de, (ARRAY['apple', 'Banana', 'APPLE', 'Aepfel'])[1 + i % 4] COLLATE any_case AS ci
    FROM generate_series(1, 3000) i;
SELECT dp.create_dataset('t', 't', epsilon => 1e5), dp.add_attribute('t', 'code', '{ab,abcd}'), dp.add_attribute('t', 'v', '{n,nn}', outside => 'other'), dp.add_attribute('t', 'discount', '{0,0.05,0.1,0.15,0.2}'), dp.add_attribute('t', 'price', '{0,1}');
SELECT dp.add_attribute('t', 's', '{a,bc}'), dp.add_attribute('t', 'o', '{00}', outside => 'other'), dp.add_attribute('t', 'amount', 0, 10, bins => 4), dp.add_edges('t', 'ts', '{2025-01-01,2025-01-02,2025-01-03}'::timestamp[]);
SELECT dp.add_attribute('t', 'de', '{apple,Banana,cherry,Aepfel}'), dp.add_attribute('t', 'ci', '{apple,Banana,APPLE,Aepfel}'), dp.grant_budget('t', 'regress_ann', epsilon => 1e5);
SELECT dp.expose('t', 'asked', epsilon => 1000);
GRANT SELECT ON asked TO regress_ann;
SELECT attname, format_type(atttypid, atttypmod), collname FROM pg_attribute LEFT JOIN pg_collation c ON c.oid = attcollation WHERE attrelid = 'asked'::regclass AND attnum > 0 ORDER BY attnum;

-- The table, and then the same of the dataset.
CREATE FUNCTION statements(relation text) RETURNS SETOF text LANGUAGE sql AS $$ SELECT format(q, relation) FROM unnest(ARRAY[
    'SELECT count(*) FILTER (WHERE discount::text = ''0.10'') AS a, count(*) FILTER (WHERE price || ''%%'' = ''1.00%%'') AS b, count(*) FILTER (WHERE octet_length(code) = 4) AS c FROM %I',
    'SELECT discount::text, scale(discount) AS scale, count(*) FROM %I GROUP BY 1, 2 ORDER BY 1',
    'SELECT to_json(price)::text AS j, count(*) FROM %I GROUP BY 1 ORDER BY 1',
    'SELECT code || ''.'' AS c, count(*) FROM %I GROUP BY 1 ORDER BY 1',
    'SELECT format(''%%s.'', s) AS s, count(*) FROM %I GROUP BY 1 ORDER BY 1',
    'SELECT min(price) AS a, max(discount) AS b, min(s) AS c FROM %I',
    'SELECT count(*) FILTER (WHERE de >= ''Banana'') AS a, count(*) FILTER (WHERE ci = ''apple'') AS b, count(*) FILTER (WHERE ci IN (''BANANA'')) AS c, min(de) AS d, max(de) AS e, count(DISTINCT de) AS g FROM %I',
    'SELECT de, count(*) FROM %I GROUP BY 1 ORDER BY 1 DESC',
    'SELECT lower(ci COLLATE "C") AS ci, count(*) FROM %I GROUP BY 1 ORDER BY 1',
    'SELECT upper(ci::text COLLATE "C") FROM (SELECT DISTINCT ci FROM %I) d ORDER BY 1',
    'SELECT count(*) FROM %I WHERE ci <> ''apple''']) q $$;
CREATE FUNCTION answers(relation text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    s text;
BEGIN
    FOR s IN SELECT statements(relation) LOOP
        RETURN QUERY EXECUTE format('SELECT q::text FROM (%s) q', s);
    END LOOP;
END $$;
SELECT answers('t');
CREATE TEMPORARY TABLE truth AS SELECT row_number() OVER () AS n, a FROM answers('t') a;
GRANT SELECT ON truth TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SELECT t.n, t.a AS truth, o.a AS answer FROM truth t FULL JOIN (SELECT row_number() OVER () AS n, a FROM answers('asked') a) o USING (n) WHERE t.a IS DISTINCT FROM o.a;

-- A table that is made of it can be restored, also with what stands for other values.
CREATE TABLE kept AS SELECT code, v, o, discount, s, count(*) AS n FROM asked GROUP BY 1, 2, 3, 4, 5;
CREATE TABLE restored (LIKE kept);
INSERT INTO restored SELECT code::text, v::text, o::text, discount::text::numeric, s::text, n FROM kept;
SELECT count(*) FROM restored;

RESET SESSION AUTHORIZATION;
SET client_min_messages = error;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused;
DROP OWNED BY regress_curator, regress_ann CASCADE;
DROP ROLE regress_curator, regress_ann;
