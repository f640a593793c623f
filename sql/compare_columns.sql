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

-- 2. In FILTER, CASE, sums and groups, beside other tests.
CREATE FUNCTION pg_temp.same_rows(statement text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    answer float8[]; truth float8[];
BEGIN
    EXECUTE format('SELECT array_agg(v ORDER BY n) FROM (SELECT (jsonb_each_text(to_jsonb(r))).*, row_number() OVER () AS n FROM (%s) r) s (k, v, n) WHERE k <> ''region''', replace(statement, 'FROM t', 'FROM seen')) INTO answer;
    EXECUTE format('SELECT array_agg(v ORDER BY n) FROM (SELECT (jsonb_each_text(to_jsonb(r))).*, row_number() OVER () AS n FROM (%s) r) s (k, v, n) WHERE k <> ''region''', replace(statement, 'FROM t', 'FROM things')) INTO truth;
    RETURN (SELECT bool_and(abs(a - t) <= 5 + abs(t) / 100) AND array_length(answer, 1) = array_length(truth, 1) FROM unnest(answer, truth) u (a, t));
END $$;
SELECT statement, pg_temp.same_rows(statement) FROM unnest(ARRAY[
    'SELECT region, count(*) AS a, count(*) FILTER (WHERE i4 < i8) AS b, count(*) FILTER (WHERE x1 = x2) AS c FROM t GROUP BY region ORDER BY region',
    'SELECT region, sum(CASE WHEN d1 > d2 + 7 THEN 1 ELSE 0 END) AS a FROM t GROUP BY region ORDER BY region',
    'SELECT region, 1000 * avg((d1 > d2 + 7)::int) AS a, sum(2 * (n1 > n2)::int) AS b FROM t GROUP BY region ORDER BY region',
    'SELECT count(*) AS a FROM t WHERE i4 < i8 AND region = ''north'' OR b1 <> b2',
    'SELECT count(*) AS a FROM t WHERE i8 BETWEEN i2 AND pts',
    'SELECT count(*) AS a FROM t WHERE i8 IN (i2, pts)',
    'SELECT count(*) AS a FROM t WHERE (i4 < i8) IS NOT TRUE AND (x1 = x2) IS NOT FALSE',
    'SELECT count(*) AS a FROM t WHERE NOT (i4 < i8 OR n1 = n2) AND i4 IS DISTINCT FROM pts OR t1 < t2']) statement;

-- a parameter that is NULL, in a plan that is kept
SET plan_cache_mode = force_generic_plan;
SET pg_epsilon.epsilon = 1000;
PREPARE later(int) AS SELECT count(*) FILTER (WHERE i4 < i2 + $1) AS later, count(*) FILTER (WHERE NOT i4 - i2 >= $1) AS sooner, count(*) FILTER (WHERE (i4 < i2 + $1) IS NULL) AS unknown FROM seen;
EXECUTE later(NULL);
EXECUTE later(1);
DEALLOCATE later;
SET pg_epsilon.epsilon = 30;
RESET plan_cache_mode;

-- 3. One request, whichever side is written first, and free the second time.
SET pg_epsilon.epsilon = 31;
SELECT count(*) AS charges FROM dp.charges \gset
SELECT count(*) FROM seen WHERE i4 < i8 \g /dev/null
SELECT count(*) FROM seen WHERE d1 > d2 + 7 \g /dev/null
SELECT count(*) FROM seen WHERE t1 > t2 + interval '7 days' \g /dev/null
SELECT count(*) FROM seen WHERE n1 > n2 * 1.1 \g /dev/null
SELECT count(*) FROM seen WHERE i4 < i8 AND b1 = b2 \g /dev/null
SELECT count(*) FROM seen WHERE f8 > f4 * 2 \g /dev/null
SELECT count(*) - :charges AS charged FROM dp.charges;
SELECT request->>'predicate' AS predicate FROM dp.charges ORDER BY charge DESC LIMIT 6;
SELECT count(*) AS charges FROM dp.charges \gset
SELECT count(*) FROM seen WHERE i8 > i4 \g /dev/null
SELECT count(*) FROM seen WHERE 2 * i8 - 2 * i4 > 0 \g /dev/null
SELECT count(*) FROM seen WHERE d2 < d1 - 7 \g /dev/null
SELECT count(*) FROM seen WHERE d1 - d2 > 7 \g /dev/null
SELECT count(*) FROM seen WHERE d1 > d2 + interval '7 days' \g /dev/null
SELECT count(*) FROM seen WHERE t1 - t2 > '7 days' \g /dev/null
SELECT count(*) FROM seen WHERE t2 + '168 hours' < t1 \g /dev/null
SELECT count(*) FROM seen WHERE n2 * 11 < 10 * n1 \g /dev/null
SELECT count(*) FROM seen WHERE b2 = b1 AND i8 > i4 \g /dev/null
SELECT count(*) FROM seen WHERE f4 * 2 < f8 \g /dev/null
SELECT count(*) - :charges AS charged FROM dp.charges;
-- NOT (a < b) is a >= b, and another question than (a < b) IS NOT TRUE
SELECT count(*) AS charges FROM dp.charges \gset
SELECT count(*) FROM seen WHERE NOT (i2 < pts) \g /dev/null
SELECT count(*) FROM seen WHERE i2 >= pts \g /dev/null
SELECT count(*) FROM seen WHERE (i2 < pts) IS NOT TRUE \g /dev/null
SELECT count(*) - :charges AS charged FROM dp.charges;

-- 4. The language of predicates.
CREATE FUNCTION pg_temp.asked(predicate text, truth text DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    answer float8; n bigint; canonical text; hint text;
BEGIN
    SELECT estimate INTO answer FROM dp.aggregate('things', '{count(*)}', predicate => asked.predicate, epsilon => 29);
    EXECUTE 'SELECT count(*) FROM things WHERE ' || coalesce(truth, predicate) INTO n;
    SELECT request->>'predicate' INTO canonical FROM dp.charges ORDER BY charge DESC LIMIT 1;
    RETURN format('%s: %s', CASE WHEN abs(answer - n) <= 3 THEN 'right' ELSE format('%s and not %s', n, answer) END, canonical);
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(' ', SQLSTATE, SQLERRM, nullif(hint, ''));
END $$;
SELECT predicate, pg_temp.asked(predicate) FROM unnest('{i4 < i8,i8 > i2,2 * i8 >= i2 + 1,i8 <> 1.5 * pts - 0.5,i2 IS DISTINCT FROM i8,i2 IS NOT DISTINCT FROM i8,NOT i4 = pts,NOT (i4 < pts AND x2 = x1),n1 < 2 * n2,f8 > 0.1 * g8,
    0.1 * g8 < f8,f8 < g8 + 0.5,d1 <= d2 + 3,u1 < u2,m1 = m2,x1 <> x2 OR region = ''north'',b1 < b2,-1 * i8 < pts,f8 > 1e-5 * g8,f8 < g8 - 1e300}'::text[]) predicate;
SELECT pg_temp.asked('t1 < d1 + ''36 hours''', 't1 < d1 + interval ''36 hours'''), pg_temp.asked('z2 > z1 - ''24 hours''', 'z2 > z1 - interval ''24 hours''');
SELECT pg_temp.asked('i4 <=> i8 IN CELLS (0, 3-4)', '(i4 >= i8) IS NOT TRUE'), pg_temp.asked('pts <=> i2 IN CELLS (0)', 'pts < i2');
SELECT predicate, pg_temp.asked(predicate) FROM unnest('{i4 < i4,i4 < x1,x1 < x2,m1 > m2,c1 = x1,y1 = y2,i4 = nobody,nobody = i4,region = north,d1 < z1,t1 < z1,z1 < z2 + ''1 day'',t1 < t2 + ''1 month'',t1 < t2 + 7,d1 < d2 + 1.5,d1 < d2 + ''1 day'',2 * d1 < d2,
    x1 = x2 + 1,2 * f8 < 3 * g8,f8 < 2 * g8 + 1,n1 < -1 * n2,0 * i4 < i8,i4 < 0 * i8,i4 < 99999999999999999999 * i8,i4 < i8 + 1e3,i4 < i8 +,i4 <=> i8,i4 <=> i8 IN (1),i4 <=> i8 IN CELLS (5),i4 IS DISTINCT i8,i4 < 2 *,"i4 < ''2'' * i8",i4 = true * i8,i4 LIKE i8}'::text[]) predicate;
-- the same as in SELECT, of counts too
SELECT count(*) AS charges FROM dp.charges \gset
SELECT count(*) FROM dp.histogram('things', '{region}', predicate => 'd1 > d2 + 7', epsilon => 30);
SELECT count(*) FROM dp.measure('things', '{region}', predicate => 'i4 < i8 AND b1', epsilon => 1);
SELECT count(*) - :charges AS charged FROM dp.charges;

-- 5. What does not go, and charges nothing.
SELECT count(*) AS charges FROM dp.charges \gset
CREATE FUNCTION pg_temp.refused(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    hint text;
BEGIN
    EXECUTE statement;
    RETURN 'answered';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(' ', SQLSTATE, SQLERRM, nullif(hint, ''));
END $$;
SELECT test, pg_temp.refused('SELECT count(*) FROM seen WHERE ' || test) FROM unnest('{x1 < x2,m1 < m2,c1 = x1::bpchar,c1 = x1,y1 = y2,x1 COLLATE blind = x2,d1 < z1,t1 = z1,z1 + ''1 day'' < z2,t1 < t2 + ''1 month'',n1 - n2 > 1,f8 - g8 > 1,f8 * 2 < g8 * 3,
    i4 + i8 > pts,i4 / 2 > i8,i4 * i8 > 7,i4 % 2 = i8,abs(i4) < i8,(i4 < i8) IS NULL,i4::numeric::int < i8,f8::int < i4,i4::float8 = i8::float8,-n1 < -n2,i4 < i8 + NULL,coalesce(i4; 0) < i8}'::text[]) t, replace(t, ';', ',') test;
SELECT pg_temp.refused(statement) FROM unnest(ARRAY['SELECT i4 + i8 > i2, count(*) FROM seen GROUP BY 1', 'SELECT sum(i4 - i8) FILTER (WHERE i4 <> i8 * i8) FROM seen',
    $$SELECT * FROM dp.fit('things', 'linear_regression', 'i4', '{i8}', predicate => 'i4 < i8', epsilon => 1)$$]) statement;
SELECT count(*) - :charges AS charged FROM dp.charges;
-- a relation of a release has no rows that could be compared
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.grant_budget('things', 'regress_curator', epsilon => 10, overcommit => true);
SELECT DISTINCT release FROM dp.aggregate('things', '{count(*)}', '{b1,b2}', epsilon => 3) \gset
SELECT dp.expose('things', 'paid', release => :release);
GRANT SELECT ON paid TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SELECT pg_temp.refused('SELECT count(*) FROM paid WHERE b1 AND b2'), pg_temp.refused('SELECT count(*) FROM paid WHERE b1 = b2');
-- an operator, a function and a cast of the analyst's never see a row
RESET SESSION AUTHORIZATION;
CREATE SCHEMA own AUTHORIZATION regress_ann;
SET SESSION AUTHORIZATION regress_ann;
CREATE FUNCTION own.less(a int, b int) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'saw %', a; RETURN a < b; END $$;
CREATE OPERATOR own.< (leftarg = int, rightarg = int, function = own.less);
CREATE OPERATOR own.<= (leftarg = int, rightarg = int, function = int4gt);
CREATE OPERATOR own.+ (leftarg = int, rightarg = int, function = int4mi);
SELECT pg_temp.refused('SELECT count(*) FROM seen WHERE ' || test) FROM unnest('{i4 OPERATOR(own.<) pts::int,i4 OPERATOR(own.<=) pts::int,(i4 OPERATOR(own.+) 1) < pts,own.less(i4; pts)}'::text[]) t, replace(t, ';', ',') test;
-- what is declared to be compared as whole numbers is not read from texts, on either side
\set whole '\\x63616570050000000000000000000000000000000000000000000000000000000100000000000000300000007065640200013c77010000000000000001000000000000000000000000000000000000000000f03f000000000000000001000000000000000000000001000000000000000000000000000000000000000000000000000000000000000100000000000000000000001600000070657001010000000100000000020000010100000000'
SELECT pg_temp.refused(format('SELECT dp_internal.read_rows(%L, NULL, 0, %s)', :'whole', sides)) FROM unnest('{1,"1, 2","text ''one'', 2","1, text ''two''"}'::text[]) sides;

-- 6. EXPLAIN.
EXPLAIN (COSTS OFF) SELECT region, count(*) FILTER (WHERE NOT (d1 <= d2 + 7)) FROM seen WHERE i8 > i4 AND (x1 IS DISTINCT FROM x2 OR (b1 = b2) IS NOT TRUE) GROUP BY region;

-- 7. Units of several rows: the cut may tell rows apart by what is compared.
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE stays AS SELECT 1 + i % 300 AS person, i % 2 = 0 AS acute, date '2024-01-01' + i % 30 AS admitted, date '2024-01-01' + i % 30 + i % 4 AS discharged, 100 + i % 40 AS systolic, 45 + i % 20 AS diastolic, 'code ' || i % 7 AS code FROM generate_series(1, 900) i;
SELECT dp.create_dataset('stays', 'stays', epsilon => 1e5, unit => 'person', max_rows => 3);
SELECT dp.add_attribute('stays', 'acute', '{true,false}'), dp.add_attribute('stays', 'admitted', '2024-01-01', '2024-03-01', bins => 1), dp.add_attribute('stays', 'discharged', '2024-01-01', '2024-03-01', bins => 1),
       dp.add_attribute('stays', 'systolic', 50, 200, bins => 3), dp.add_attribute('stays', 'diastolic', 50, 110, bins => 3), dp.add_attribute('stays', 'code', open => true);
SELECT dp.grant_budget('stays', 'regress_ann', epsilon => 1e5), dp.expose('stays', 'stayed');
GRANT SELECT ON stayed, stays TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SELECT abs(a.n - t.n) <= 12 AS rows, abs(a.units - t.units) <= 12 AS units, abs(a.same - t.same) <= 12 AS filtered, abs(a.high - t.high) <= t.high / 30 AS sum
  FROM (SELECT count(*) AS n, count(DISTINCT person) AS units, count(*) FILTER (WHERE discharged = admitted) AS same, sum(systolic) FILTER (WHERE systolic > 2 * diastolic) AS high FROM stayed WHERE discharged - admitted < 3) a,
       (SELECT count(*) AS n, count(DISTINCT person) AS units, count(*) FILTER (WHERE discharged = admitted) AS same, sum(systolic) FILTER (WHERE systolic > 2 * diastolic) AS high FROM stays WHERE discharged - admitted < 3) t;
-- dates are whole numbers of days in sums and averages
SET pg_epsilon.epsilon = 100;
SELECT abs(a.days - t.days) <= 200 AS days, abs(a.mean - t.mean) < 0.3 AS mean, abs(a.weighted - t.weighted) < t.weighted / 5 AS weighted, pg_typeof(a.days), pg_typeof(a.mean)
  FROM (SELECT sum(discharged - admitted) AS days, avg(discharged - admitted) AS mean, sum((discharged - admitted) * systolic) AS weighted FROM stayed) a,
       (SELECT sum(discharged - admitted) AS days, avg(discharged - admitted) AS mean, sum((discharged - admitted) * systolic) AS weighted FROM stays) t;
SELECT count(*) AS charges FROM dp.charges \gset
SELECT pg_temp.refused('SELECT ' || a || ' FROM stayed') FROM unnest('{sum(admitted - (discharged - 7)),avg(admitted - (date ''2024-01-01'' - systolic))}'::text[]) a;
-- units by their rows, keys, series and models refuse; open columns without cells do not compare
SELECT pg_temp.refused(statement) FROM unnest(ARRAY[$$SELECT * FROM dp.rows_per_unit('stays', most => 3, epsilon => 1, predicate => 'admitted = discharged')$$,
    $$SELECT * FROM dp.keys('stays', 'code', epsilon => 1, predicate => 'admitted = discharged')$$, 'SELECT code, count(*) FROM stayed WHERE admitted = discharged GROUP BY code',
    $$SELECT * FROM dp.aggregate('stays', '{count(*)}', epsilon => 1, predicate => 'code = acute')$$, 'SELECT count(*) FROM stayed WHERE code = code::varchar || acute::text']) statement;
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.set_time('stays', 'admitted');
SELECT pg_temp.refused(statement) FROM unnest(ARRAY[$$SELECT * FROM dp.quote_series('stays', '{acute}', start => '2024-01-01', period => '10 days', periods => 4, rho => 1, predicate => 'systolic > 2 * diastolic')$$,
    $$SELECT * FROM dp.quote_series('stays', '{acute}', aggregates => '{count(*) where (systolic > 2 * diastolic)}', start => '2024-01-01', period => '10 days', periods => 4, rho => 1)$$]) statement;

RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon CASCADE;
RESET client_min_messages;
DROP OWNED BY regress_ann, regress_curator;
DROP COLLATION blind;
DROP FUNCTION refused(text);
DROP ROLE regress_curator, regress_ann;
