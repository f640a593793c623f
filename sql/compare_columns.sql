-- Comparisons of two columns, in dp.aggregate and in plain SELECT.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;
SET timezone = 'Europe/Berlin';
SET datestyle = 'ISO';
CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
GRANT USAGE ON SCHEMA public TO regress_ann;

SET SESSION AUTHORIZATION regress_curator;
CREATE TYPE mood AS ENUM ('sad', 'fair', 'glad');
CREATE DOMAIN score AS int;
-- Each pair of columns less, equal and greater, with NULL on one side and on both, and with the ends of its type.
CREATE TABLE things AS SELECT i AS id, (array['north', 'south'])[1 + i % 2] AS region,
       v.i4 AS i4, (array[v.i4, 3, 7, NULL])[1 + i % 4]::bigint AS i8, (array[1, 3, NULL, 32767, 5])[1 + i % 5]::smallint AS i2, (array[2, 3, 4, NULL])[1 + i % 4]::score AS pts,
       (array['NaN', 1.5, 3, 3.00, NULL, 'Infinity', '-Infinity', -0.001, 1e30])[1 + i % 9]::numeric AS n1, (array[3, 'NaN', 1.5, NULL, 'Infinity', 0, 2.25])[1 + i % 7]::numeric AS n2,
       (array['NaN', 'Infinity', '-Infinity', 0, '-0', 1.5, NULL, 3, 1e300, 4.5])[1 + i % 10]::float8 AS f8, (array[0.5, 1.5, 'NaN', NULL, 3, 'Infinity', 0.1])[1 + i % 7]::float4 AS f4, (array[3, 4.5, 'NaN', 0, NULL])[1 + i % 5]::float8 AS g8,
       (array['2024-01-01', '2024-02-29', '2024-03-08', NULL, 'infinity', '-infinity'])[1 + i % 6]::date AS d1, (array['2024-03-01', '2024-01-08', NULL, '2024-02-29', 'infinity', '2024-01-01', '4713-01-01 BC'])[1 + i % 7]::date AS d2,
       (array['2024-01-01', '2024-02-29', '2024-03-08', NULL])[1 + i % 4]::date AS e1, (array['2024-03-01', '2024-01-08', NULL, '2024-02-22', '2024-01-01'])[1 + i % 5]::date AS e2,
       (array['2024-03-31 00:00', '2024-03-01 12:00', NULL, '2024-01-01 00:00:00.000001', 'infinity', '2024-01-01', '-infinity'])[1 + i % 7]::timestamp AS t1, (array['2024-03-31 12:00', '2024-02-29 00:00', '2024-01-01', NULL, 'infinity', '2024-01-08'])[1 + i % 6]::timestamp AS t2,
       (array['2024-03-31 00:00+01', '2024-03-31 22:00+02', NULL, '2024-01-01 00:00', 'infinity'])[1 + i % 5]::timestamptz AS z1, (array['2024-03-31 22:00+00', '2024-03-30 23:00+00', '2024-04-01 00:00+02', NULL, 'infinity', '2024-01-02 00:00'])[1 + i % 6]::timestamptz AS z2,
       (array[true, false, NULL])[1 + i % 3] AS b1, (array[false, NULL, true, true])[1 + i % 4] AS b2,
       (array['a', 'b', '', 'ab', NULL, 'a ', 'A', repeat('x', 3000)])[1 + i % 8] AS x1, (array['a', 'B', '', NULL, 'abc', repeat('x', 3000), repeat('x', 2999) || 'y'])[1 + i % 7]::varchar AS x2,
       (array['a', 'b'])[1 + i % 2]::char(3) AS c1, (array['a', 'b'])[1 + i % 2] COLLATE blind AS y1, (array['a', 'A'])[1 + i % 2] COLLATE blind AS y2,
       (array['sad', 'glad', NULL])[1 + i % 3]::mood AS m1, (array['sad', 'sad', 'fair', 'glad', NULL])[1 + i % 5]::mood AS m2,
       (array['00000000-0000-0000-0000-000000000001', 'ffffffff-0000-0000-0000-000000000000', NULL, '80000000-0000-0000-0000-000000000000'])[1 + i % 4]::uuid AS u1,
       (array['80000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000001', NULL, '00000000-0000-0000-0000-000000000002', '7fffffff-ffff-ffff-ffff-ffffffffffff'])[1 + i % 5]::uuid AS u2
  FROM generate_series(1, 5040) i, LATERAL (SELECT (array[3, -5, 2147483647, NULL, -2147483648, 7, 4])[1 + i % 7] AS i4) v;
SELECT dp.create_dataset('things', 'things', epsilon => 1e5);
SELECT count(dp.add_attribute('things', name, '0', '1', bins => 1)) FROM unnest('{i4,i8,i2,pts,n1,n2,f8,f4,g8}'::text[]) name;
SELECT count(dp.add_attribute('things', name, '2024-01-01', '2024-06-01', bins => 1)) FROM unnest('{d1,d2,e1,e2,t1,t2,z1,z2}'::text[]) name;
SELECT count(dp.add_attribute('things', name, '{true,false}')) FROM unnest('{b1,b2}'::text[]) name;
SELECT count(dp.add_attribute('things', name, '{a}')) FROM unnest('{x1,x2,c1,y1,y2}'::text[]) name;
SELECT count(dp.add_attribute('things', name, '{sad,glad}')) FROM unnest('{m1,m2}'::text[]) name;
SELECT count(dp.add_attribute('things', name, '{00000000-0000-0000-0000-000000000001}')) FROM unnest('{u1,u2}'::text[]) name;
SELECT dp.add_attribute('things', 'region', '{north,south}');
SELECT dp.grant_budget('things', 'regress_ann', epsilon => 1e5);
SELECT dp.expose('things', 'seen');
GRANT SELECT ON seen, things TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SET pg_epsilon.epsilon = 30;

-- 1. Every operator on every kind of type, also negated, against the rows.
CREATE FUNCTION pg_temp.check_one(condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    answer bigint; truth bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM seen WHERE %s', condition) INTO answer;
    EXECUTE format('SELECT count(*) FROM things WHERE %s', condition) INTO truth;
    RETURN CASE WHEN abs(answer - truth) <= 3 THEN CASE WHEN truth = 0 THEN 'none' ELSE 'right' END ELSE format('%s is %s and not %s', condition, truth, answer) END;
EXCEPTION WHEN OTHERS THEN
    RETURN format('%s: %s %s', condition, SQLSTATE, SQLERRM);
END $$;
CREATE TABLE pg_temp.sides (kind int, a text, b text, ordered boolean);
INSERT INTO pg_temp.sides SELECT k, split_part(s, '|', 1), split_part(s, '|', 2), k < 3 FROM (VALUES
    (1, '{i4|i8,i8|i2,i2|pts,i4|n1,n1|n2,n2|i8,f8|g8,f8|f4,f4|g8,f8|i4,f4|n1,n2|f8,i2|f8,d1|d2,t1|t2,d1|t1,t2|d2,z1|z2,b1|b2,u1|u2}'::text[]),
    (2, '{i4|i8 + 3,i8|i4 - 4::bigint,i2 * 2|i8,i8|2 * pts + 1,i8 - pts|2,i8 + pts|6,3 * i8 - 1|2 * pts,i2|pts * 1.5,n1|n2 * 2,n1|n2 + 0.75,i8 * 0.5|n1,2 * n1|3 * n2 - 1.5,f8|g8 * 2,f8 + 1.5|g8,f8|g8 - 1.5,g8|f4 * 3,
        d1|d2 + 7,d1 - 1|d2,e1 - e2|7,e2 - e1|-7,e1::timestamp - e2|''7 days''::interval,d1|d2 + interval ''7 days'',d1 - 7|t1,t1|t2 + interval ''12 hours'',t1|d2 + interval ''30 days 12 hours'',t2 - interval ''7 days''|t1,z1|z2 - interval ''22 hours'',z1 + interval ''1 hour''|z2,-i8|-pts,10|i8 + pts}'),
    (3, '{x1|x2,m1|m2,x2|x1}')) v (k, l), unnest(l) s;
SELECT result, count(*) FROM pg_temp.sides, unnest('{=,<>,<,<=,>,>=,IS DISTINCT FROM,IS NOT DISTINCT FROM}'::text[]) o, unnest('{"","NOT "}'::text[]) negated,
       LATERAL (SELECT pg_temp.check_one(format('%s(%s %s %s)', negated, a, o, b)) AS result) r WHERE ordered OR o !~ '[<=>]' OR o IN ('=', '<>') GROUP BY 1 ORDER BY 2 DESC;
