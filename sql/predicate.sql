-- Predicates: which rows they select, what they cost, how they are refused.  With rho 100 the standard
-- error is 0.07, and an estimate other than the count itself has a chance below 2e-12 (see exact.sql).
CREATE EXTENSION pg_epsilon;
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
CREATE ROLE regress_bob;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;
\pset format unaligned
\pset footer off
CREATE FUNCTION counts(attributes text, predicate text, workload text DEFAULT 'identity') RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(CASE WHEN stderr < 0.08 THEN estimate::bigint::text ELSE '?' END, ' ' ORDER BY query)
      FROM dp.histogram('p', attributes, workload, rho => 100, predicate => predicate)
$$;
-- The owner asks for the rows that a predicate selects and counts them himself with WHERE.
CREATE FUNCTION agrees(predicate text, condition text DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    asked text := counts('one', predicate);
    truth text;
BEGIN
    EXECUTE format('SELECT count(*) FROM p WHERE %s', coalesce(condition, predicate)) INTO truth;
    RETURN CASE WHEN asked = truth THEN asked ELSE format('%s, and it is %s', asked, truth) END;
END $$;
CREATE FUNCTION refused(predicate text, attributes text DEFAULT 'one') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    m text; d text; h text;
BEGIN
    PERFORM dp.histogram('p', attributes, rho => 1, predicate => predicate);
    RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS m = MESSAGE_TEXT, d = PG_EXCEPTION_DETAIL, h = PG_EXCEPTION_HINT;
    RETURN sqlstate || ': ' || m || coalesce(E'\n    DETAIL: ' || nullif(d, ''), '') || coalesce(E'\n    HINT: ' || nullif(replace(h, 'DateStyle', 'datestyle'), ''), '');    -- as 15 to 17 spell it
END $$;

SET SESSION AUTHORIZATION regress_curator;
SET DateStyle = 'ISO, YMD';
SET TimeZone = 'UTC';
CREATE TYPE grade AS ENUM ('low', 'high');
ALTER TYPE grade ADD VALUE 'middle' BEFORE 'high';
CREATE DOMAIN small AS int2;
CREATE TABLE p (one int DEFAULT 1, age int, n int8, i2 small, sex text, code char(4), word varchar, grade grade, smokes boolean,
    born date, seen timestamp, at timestamptz, score numeric(6, 2), x float8, y float4, u uuid, k int, "Odd ""col" text, "and" boolean);
INSERT INTO p (age, n, i2, sex, code, word, grade, smokes, born, seen, at, score, x, y, u, k, "Odd ""col", "and")
SELECT CASE WHEN i % 11 > 0 THEN i % 130 - 10 END, CASE WHEN i % 7 > 0 THEN i % 13 - 1 END, i % 5, (ARRAY['f', 'm', 'x', NULL])[1 + i % 4],
       (ARRAY['a', 'b', 'c'])[1 + i % 3], (ARRAY['it''s', 'b', 'ä'])[1 + i % 3], (ARRAY['low', 'middle', 'high', NULL])[1 + i * 7 % 4]::grade,
       (ARRAY[true, false, NULL])[1 + i * 5 % 3], date '2019-12-30' + i % 70, timestamp '2019-12-30' + i % 70 * interval '1 day',
       timestamptz '2019-12-30 00:00+00' + i % 70 * interval '1 day', (i % 41 - 10) / 4.0, i % 23 / 8.0 - 0.5, i % 23 / 8.0 - 0.5,
       lpad(to_hex(i % 3), 32, '0')::uuid, i % 4, (ARRAY['v', 'w'])[1 + i % 2], i % 2 = 0
  FROM generate_series(1, 1000) i;
INSERT INTO p (x, y, score) VALUES ('NaN', 'NaN', 'NaN'), ('Infinity', '-Infinity', 100), (NULL, NULL, NULL);
SELECT dp.create_dataset('p', 'p', 1e5);
SELECT dp.add_attribute('p', 'one', '{1}');
SELECT dp.add_attribute('p', 'age', 0, 100, 10, outside => 'clamp', nulls => 'cell');
SELECT dp.add_edges('p', 'n', '{0,1,2,10}', outside => 'other', nulls => 'cell');
SELECT dp.add_attribute('p', 'i2', '{0,1,2,3,4}', nulls => 'cell');
SELECT dp.add_attribute('p', 'sex', '{f,m}', outside => 'other', nulls => 'cell');
SELECT dp.add_attribute('p', 'code', '{a,b}', outside => 'other', nulls => 'cell');
SELECT dp.add_attribute('p', 'word', ARRAY['it''s', 'ä', E'\\'], outside => 'other', nulls => 'cell');
SELECT dp.add_attribute('p', 'grade', '{low,middle,high}', nulls => 'cell');
SELECT dp.add_attribute('p', 'smokes');
SELECT dp.add_edges('p', 'born', '{2020-01-01,2020-02-01,2020-03-01}', outside => 'other', nulls => 'cell');
SELECT dp.add_edges('p', 'seen', '{2020-01-01,2020-02-01,2020-03-01}', outside => 'other', nulls => 'cell');
SELECT dp.add_edges('p', 'at', '{2020-01-01 00:00+00,2020-02-01 00:00+00,2020-03-01 00:00+00}', outside => 'drop', nulls => 'drop');
SELECT dp.add_edges('p', 'score', '{0,1.5,3,4.5}', outside => 'other', nulls => 'cell');
SELECT dp.add_attribute('p', 'x', 0.0, 1.0, 4, outside => 'drop', nulls => 'cell');
SELECT dp.add_attribute('p', 'y', 0.0, 1.0, 4, outside => 'clamp', nulls => 'drop');
SELECT dp.add_attribute('p', 'u', '{00000000-0000-0000-0000-000000000000,00000000-0000-0000-0000-000000000001}', outside => 'other', nulls => 'cell');
SELECT dp.add_attribute('p', 'k', '{3,1,2}', outside => 'other', nulls => 'cell');
SELECT dp.add_attribute('p', 'Odd "col', '{v,w}', nulls => 'cell');
SELECT dp.add_attribute('p', 'and', '{false,true}', nulls => 'cell');
SELECT dp.grant_budget('p', 'regress_curator', 9e4);
SELECT dp.grant_budget('p', 'regress_ann', 1e3);
SELECT dp.grant_budget('p', 'regress_bob', 1e3);

-- ---- which rows ----
-- levels: other is none of them; NULL is unknown but to IS NULL
SELECT agrees($$sex = 'f'$$), agrees($$sex <> 'f'$$), agrees($$sex != 'f'$$), agrees($$'m' = sex$$), agrees($$sex IN ('f', 'm')$$), agrees($$sex NOT IN ('f', 'm')$$);
SELECT agrees($$sex IS NULL$$), agrees($$sex IS NOT NULL$$), agrees($$NOT sex = 'f'$$), agrees($$NOT (sex = 'f' OR sex IS NULL)$$), agrees($$sex IS NULL OR sex = 'm'$$);
SELECT agrees($$code = 'a'$$), agrees($$code = 'a   '$$, $$code = 'a'$$), agrees($$code <> 'b'$$), agrees($$word = 'it''s'$$), agrees($$word IN ('ä', 'it''s')$$), agrees($$word <> '\'$$);
SELECT agrees($$"Odd ""col" = 'v'$$), agrees($$"and"$$), agrees($$NOT "and"$$), agrees($$"and" = false$$), agrees($$TRUE = "and"$$);
-- ... ordered ones; of other nobody knows on which side it lies
SELECT agrees($$sex < 'm'$$, $$sex = 'f'$$), agrees($$sex >= 'f'$$, $$sex IN ('f', 'm')$$), agrees($$NOT sex > 'f'$$, $$sex = 'f'$$), agrees($$i2 < 3$$), agrees($$i2 <= 3$$), agrees($$3 < i2$$), agrees($$i2 >= 3.0$$), agrees($$i2 BETWEEN 1 AND 3$$), agrees($$i2 NOT BETWEEN 1 AND 3e0$$), agrees($$i2 BETWEEN 3 AND 1$$ || ' OR i2 = 0');
-- ... enums in the order of the type, booleans
SELECT agrees($$grade < 'middle'$$), agrees($$grade >= 'middle'$$), agrees($$grade BETWEEN 'low' AND 'middle'$$), agrees($$grade <> 'middle'$$), agrees($$grade IS NULL$$), agrees($$smokes$$), agrees($$NOT smokes$$), agrees($$smokes < true$$), agrees($$smokes = 't'$$);
SELECT agrees($$u = '00000000-0000-0000-0000-000000000001'$$), agrees($$u <> '00000000-0000-0000-0000-000000000001'$$), agrees($$k = 3$$), agrees($$k NOT IN (1, 2)$$);
-- bins: clamped values count as what they were clamped to, others are on no side
SELECT agrees($$age < 30$$), agrees($$age >= 30$$), agrees($$age <= 29$$), agrees($$age > 29$$), agrees($$age BETWEEN 20 AND 59$$), agrees($$age NOT BETWEEN 20 AND 59$$), agrees($$30 > age$$), agrees($$age IS NULL$$), agrees($$NOT (age >= 30)$$);
SELECT agrees($$age >= 0$$, $$age IS NOT NULL$$), agrees($$age <= 100$$, $$age IS NOT NULL$$), agrees($$age >= 90 AND age <= 100$$, $$age >= 90$$);
SELECT agrees($$n < 2$$, $$n IN (0, 1)$$), agrees($$n = 0$$), agrees($$n = 1$$), agrees($$n <> 1$$, $$n BETWEEN 0 AND 10 AND n <> 1$$), agrees($$n IN (0, 1)$$), agrees($$n <= 10$$, $$n BETWEEN 0 AND 10$$), agrees($$n > 10 OR n = 0$$, $$n = 0$$), agrees($$n >= 2$$, $$n BETWEEN 2 AND 10$$), agrees($$n IS NOT NULL$$);
SELECT agrees($$born < '2020-02-01'$$, $$born BETWEEN '2020-01-01' AND '2020-01-31'$$), agrees($$born <= '2020-01-31'$$, $$born BETWEEN '2020-01-01' AND '2020-01-31'$$), agrees($$born >= '2020-02-01'$$, $$born BETWEEN '2020-02-01' AND '2020-02-29'$$), agrees($$born < '2020-03-01'$$, $$born BETWEEN '2020-01-01' AND '2020-02-29'$$);
SELECT agrees($$seen < '2020-02-01'$$, $$seen >= '2020-01-01' AND seen < '2020-02-01'$$), agrees($$seen <= '2020-01-31 23:59:59.999999'$$, $$seen >= '2020-01-01' AND seen < '2020-02-01'$$), agrees($$at >= '2020-02-01 00:00+00'$$, $$at >= '2020-02-01 00:00+00' AND at < '2020-03-01 00:00+00'$$), agrees($$at >= '2020-02-01 09:00+09'$$, $$at >= '2020-02-01 00:00+00' AND at < '2020-03-01 00:00+00'$$);
SELECT agrees($$score < 1.5$$, $$score >= 0 AND score < 1.5$$), agrees($$score >= 1.50$$, $$score BETWEEN 1.5 AND 4.5$$), agrees($$score <= 4.5$$, $$score BETWEEN 0 AND 4.5$$), agrees($$score BETWEEN 15e-1 AND 4.5$$), agrees($$score IS NULL$$, $$score IS NULL OR score = 'NaN'$$);
SELECT agrees($$x < 0.5$$, $$x >= 0 AND x < 0.5$$), agrees($$x >= .25 AND x < 75e-2$$), agrees($$x <= 1$$, $$x BETWEEN 0 AND 1$$), agrees($$x IS NULL$$, $$x IS NULL OR x = 'NaN'$$), agrees($$x < -0.0 OR x >= 0.75$$, $$x BETWEEN 0.75 AND 1$$), agrees($$y < 0.5$$), agrees($$y >= 0.5$$, $$y >= 0.5 AND y <> 'NaN'$$);
-- three-valued logic over several attributes; an attribute that drops rows drops them whatever the rest says
SELECT agrees($$sex = 'f' AND age < 30$$), agrees($$sex = 'f' OR age < 30$$), agrees($$NOT (sex = 'f' AND age < 30)$$), agrees($$NOT (sex <> 'm' OR NOT (age < 30 AND i2 < 3))$$), agrees($$(sex = 'f' OR sex = 'm') AND (grade = 'low' OR age >= 70) AND i2 < 3$$), agrees($$sex = 'f' OR smokes$$, $$(sex = 'f' OR smokes) AND smokes IS NOT NULL$$), agrees($$sex = 'f' OR sex <> 'f' OR sex IS NULL$$, 'true');

-- ---- counted and in the predicate, or one of both ----
SELECT counts('sex', $$sex <> 'f'$$), counts('sex', $$age < 30$$), counts('{sex,grade}', $$sex = 'f' OR grade = 'low'$$, 'identity(sex) * identity(grade)') AS both, counts('{sex,grade}', $$NOT (sex = 'f' AND smokes)$$, 'identity(grade)') AS marginal;
SELECT coalesce(sex, '-') AS sex, count(*) FILTER (WHERE sex <> 'f') AS a, count(*) FILTER (WHERE age < 30) AS b FROM p GROUP BY 1 ORDER BY 1;
-- cells that the predicate rules out are known to be empty
SELECT max(release) AS release FROM dp.releases WHERE predicate = $$grade = 'low' OR sex = 'f'$$ \gset
SELECT cell, label, round(estimate::numeric) AS estimate, stderr > 0 AS noisy FROM dp.cells(:release) ORDER BY cell;
SELECT cells, queries, rho FROM dp.quote('p', '{sex,grade}', rho => 1, predicate => $$age < 30$$);
SELECT count(*), count(DISTINCT stderr) FROM dp.quote_queries('p', '{sex,grade}', rho => 1, predicate => $$age < 30$$);
-- by parallel workers as well
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SELECT agrees($$sex = 'f' AND NOT (age < 30 AND grade > 'low')$$);
RESET min_parallel_table_scan_size;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;

-- ---- one text for equal predicates, and replay ----
SET SESSION AUTHORIZATION regress_ann;
SELECT release AS first FROM dp.histogram('p', 'one', rho => 0.5, predicate => $$sex='f'  and(age<30 or((smokes)))$$) \gset
SELECT release = :first AS replay FROM dp.histogram('p', 'one', rho => 0.5, predicate => $$ SEX = 'f' AND (30 > Age OR "smokes") $$);
SELECT release = :first AS replay FROM dp.histogram('p', 'one', rho => 0.5, predicate => $$((sex = 'f') AND (age < 3e1 OR smokes))$$);
SELECT replay FROM dp.quote('p', 'one', rho => 0.5, predicate => $$(sex = 'f') AND (age < 30.0 OR smokes)$$);
-- another order is the same request; another predicate, or none, is another
SELECT release = :first AS replay FROM dp.histogram('p', 'one', rho => 0.5, predicate => $$(age < 30 OR smokes) AND sex = 'f'$$);
SELECT release = :first AS replay FROM dp.histogram('p', 'one', rho => 0.5, predicate => $$sex = 'f' AND (age < 40 OR smokes)$$);
SELECT release = :first AS replay FROM dp.histogram('p', 'one', rho => 0.5);
SELECT predicate, attributes, workload FROM dp.releases ORDER BY release;
SELECT request->'predicate' AS predicate, rho FROM dp.charges ORDER BY charge;
-- literals in one form, whatever the settings of the session
SET DateStyle = 'German, DMY';
SET TimeZone = 'Asia/Tokyo';
SET extra_float_digits = -15;
SELECT count(*) FROM dp.histogram('p', 'one', rho => 0.25, predicate => $$born >= '01.02.2020' AND at < '1.2.2020 09:00' AND x >= 0.250 AND score < 1.500 AND word IN ('it''s', '\') AND code = 'a ' AND "Odd ""col" <> 'w' AND n <> +0 AND NOT(NOT "and")$$);
RESET DateStyle;
RESET TimeZone;
RESET extra_float_digits;
SELECT predicate FROM dp.releases ORDER BY release DESC LIMIT 1;
SELECT replay FROM dp.quote('p', 'one', rho => 0.25, predicate => (SELECT predicate FROM dp.releases ORDER BY release DESC LIMIT 1));
SELECT max(release) AS release FROM dp.releases \gset
SELECT cell, stderr > 0 AS noisy FROM dp.cells(:release);
-- a paid answer is read again even in the transaction that bumps the version
SET SESSION AUTHORIZATION regress_curator;
SELECT max(release) AS own FROM dp.releases WHERE predicate = 'smokes' \gset
BEGIN;
SELECT dp.new_version('p');
SELECT count(*) FROM dp.cells(:own);
ROLLBACK;
-- another budget pays for the same answer, and may then read it
SET SESSION AUTHORIZATION regress_bob;
SELECT release = :first AS same FROM dp.histogram('p', 'one', rho => 0.5, predicate => $$sex = 'f' AND (age < 30 OR smokes)$$);
SELECT predicate FROM dp.releases;

-- ---- what is refused, for nothing ----
RESET SESSION AUTHORIZATION;
SELECT count(*) AS charges FROM dp_ledger.charge \gset
SET SESSION AUTHORIZATION regress_ann;
\t on
-- casts, functions, operators, columns and rows that are not declared: not in the language
SELECT refused(t) FROM unnest(ARRAY[
    $$sex::int = 1$$, $$CAST(sex AS int) = 1$$, $$age < '30'::int$$, $$age = date '2020-01-01'$$, $$abs(age) < 30$$, $$pg_sleep(1) IS NULL$$,
    $$1/(age-50) > 0$$, $$age + 1 < 30$$, $$-age < 30$$, $$sex LIKE 'f%'$$, $$sex ~ 'f'$$, $$sex || 'x' = 'fx'$$, $$sex COLLATE "C" = 'f'$$,
    $$sex OPERATOR(pg_catalog.=) 'f'$$, $$sex = evil('f')$$, $$sex IS DISTINCT FROM 'f'$$, $$smokes IS TRUE$$, $$age = ANY ('{30}')$$,
    $$(SELECT true)$$, $$EXISTS (SELECT FROM p)$$, $$sex IN (SELECT 'f')$$, $$age < (SELECT 30)$$, $$CASE WHEN smokes THEN true END$$,
    $$p.sex = 'f'$$, $$p = 1$$, $$(sex, age) = ('f', 30)$$, $$sex[1] = 'f'$$, $$age = age$$, $$1 = 1$$, $$true$$, $$NOT true$$, $$sex = NULL$$, $$age < $1$$,
    $$sex = 'f'; DROP TABLE p$$, $$sex = 'f' -- comment$$, $$sex = /* c */ 'f'$$, $$sex = E'f'$$, $$sex = U&'f'$$, '$$f$$ = sex', $$sex == 'f'$$, $$sex === 'f'$$, $$sex => 'f'$$]) t;
SELECT refused(t) FROM unnest(ARRAY[$$tableoid = 1$$, $$ctid = '(0,1)'$$, $$xmin = '1'$$, $$"ctid" IS NULL$$, $$height < 3$$, $$"Sex" = 'f'$$]) t;
-- the grammar
SELECT refused(t) FROM unnest(ARRAY['', '  ', $$sex$$, $$sex =$$, $$sex = f$$, $$= 'f'$$, $$sex 'f'$$, $$sex = 'f$$, $$sex = "f"$$, $$"sex = 'f'$$, $$"" = 'f'$$, $$(sex = 'f'$$, $$sex = 'f')$$, $$()$$,
    $$sex = 'f' AND$$, $$sex = 'f' OR OR age < 30$$, $$NOT$$, $$sex NOT$$, $$sex NOT = 'f'$$, $$sex IS$$, $$sex IS 'f'$$, $$sex IS NOT$$, $$sex IN$$, $$sex IN ()$$, $$sex IN ('f'$$, $$sex IN ('f',)$$, $$sex IN 'f'$$,
    $$age BETWEEN 10$$, $$age BETWEEN 10 AND$$, $$age BETWEEN 10 OR 20$$, $$age < 30 AND sex$$, $$age < 3x$$, $$age < 1.2.3$$, $$age < 1e$$, $$age < .$$, $$age < - 3$$, $$and$$, $$and = true$$, $$ü = 1$$, $$age < ü$$]) t;
-- literals: no level, no edge, not exactly a number of bins
SELECT refused(t) FROM unnest(ARRAY[$$sex = 'F'$$, $$sex <> 'x'$$, $$sex IN ('f', 'x')$$, $$k < 3$$, $$k BETWEEN 1 AND 2$$, $$i2 < 5$$, $$grade = 'none'$$, $$grade = low$$, $$word < 'it''s'$$,
    $$age < 37$$, $$age < -1$$, $$age >= 101$$, $$age < 100$$, $$age >= 100$$, $$age <= 30$$, $$age > 30$$, $$age = 30$$, $$age <> 30$$, $$age BETWEEN 20 AND 60$$, $$age IN (10, 20)$$, $$n = 2$$, $$n = 10$$,
    $$born <= '2020-02-01'$$, $$born < '2020-02-15'$$, $$born = '2020-02-01'$$, $$at < '2020-01-15 00:00+00'$$, $$score <= 1.5$$, $$score < 1.51$$, $$x > 0.5$$, $$x <= 0.5$$, $$x = 0.5$$, $$x < 0.1$$, $$y BETWEEN 0 AND 0.5$$]) t;
-- literals that are none of the type
SELECT refused(t) FROM unnest(ARRAY[$$age < 30.5$$, $$age < 'x'$$, $$age < 1e30$$, $$i2 = 100000$$, $$age = true$$, $$sex = 1$$, $$sex = true$$, $$born < 2020$$, $$born < '2020-13-01'$$, $$smokes = 1$$, $$smokes = 'maybe'$$,
    $$u = 'x'$$, $$x < 'NaN'$$, $$x < 'Infinity'$$, $$score < 'NaN'$$, $$born < 'infinity'$$, $$score < 1e200000$$]) t;
-- nothing to select, too much to read
SELECT refused(t) FROM unnest(ARRAY[$$sex = 'f' AND sex = 'm'$$, $$smokes IS NULL$$, $$NOT (age < 30 OR age >= 30 OR age IS NULL)$$, $$i2 BETWEEN 3 AND 1$$]) t;
SELECT refused(repeat('(', 64) || $$sex = 'f'$$ || repeat(')', 64), 'sex') = 'accepted' AS deep, refused(repeat('(', 65) || $$sex = 'f'$$ || repeat(')', 65)), refused(repeat('NOT ', 65) || $$sex = 'f'$$);
SELECT refused(repeat($$sex = 'f' OR $$, 6000) || $$sex = 'f'$$), refused($$sex = '$$ || repeat('x', 1000) || $$'$$), refused(repeat('x', 300) || ' = 1');
\t off
-- ... with the position, as psql shows it
\set VERBOSITY default
SELECT * FROM dp.histogram('p', 'one', rho => 1, predicate => $$sex = 'f' AND age < 37$$);
\echo :SQLSTATE
SELECT * FROM dp.histogram('p', 'one', rho => 1, predicate => $$"Odd ""col" = 'v' AND word = 'ä' AND heigth < 3$$);
SELECT * FROM dp.histogram('p', 'one', rho => 1, predicate => $$word = 'ä' AND sex ~ 'f'$$);
SELECT * FROM dp.quote('p', 'one', rho => 1, predicate => $$word = 'ä' AND age < 'x'$$);
SELECT * FROM dp.quote_queries('p', 'one', rho => 1, predicate => $$word = 'ä' AND grade IN ('low', 'none')$$);
-- an attribute that was declared in the same transaction
RESET SESSION AUTHORIZATION;
GRANT regress_ann TO regress_curator;
SET SESSION AUTHORIZATION regress_curator;
ALTER TABLE p ADD COLUMN late boolean;
BEGIN;
SELECT dp.add_attribute('p', 'late');
SELECT count(*) FROM dp.histogram('p', 'one', rho => 1, predicate => 'late', budget => 'regress_ann');
ROLLBACK;
-- a column that is no longer what was declared
BEGIN;
ALTER TABLE p ALTER COLUMN k TYPE bigint;
SELECT count(*) FROM dp.histogram('p', 'one', rho => 1, predicate => 'k = 1', budget => 'regress_ann');
ROLLBACK;
RESET SESSION AUTHORIZATION;
SELECT count(*) - :charges - 1 AS charged FROM dp_ledger.charge;
-- The same rows in other words are one release: spellings, releases and charges.
SELECT max(id) AS before FROM dp_ledger.charge \gset
SET SESSION AUTHORIZATION regress_curator;
SELECT of, count(*) AS spellings, count(DISTINCT release) AS releases
  FROM (VALUES (1, 'age >= 20 AND age < 40'), (1, 'age BETWEEN 20 AND 39'), (1, 'age IN CELLS (2-3)'), (1, '40 > age AND NOT age < 20'),
               (1, 'NOT (age < 20 OR age >= 40)'), (2, 'smokes'), (2, 'smokes = true'), (2, 'NOT smokes = false'), (2, 'smokes IN CELLS (1)'),
               (3, 'i2 > 2 * age'), (3, '2 * age < i2'), (3, 'NOT i2 <= 2 * age'), (4, 'smokes AND (sex = ''f'' OR i2 = 1)'),
               (4, '(i2 IN (1) OR sex IN (''f'')) AND smokes'), (4, 'NOT (NOT smokes OR i2 <> 1 AND sex <> ''f'')'),
               (5, 'smokes OR NOT smokes'), (5, 'smokes IS NOT NULL'), (6, 'sex = ''m'' AND age < 20'), (7, 'sex = ''m'' OR age < 20')) v (of, predicate),
       dp.histogram('p', '{}', epsilon => 30, predicate => predicate) GROUP BY of ORDER BY of;
SELECT dp.expose('p', 'public.pv');
SET pg_epsilon.epsilon = 30;
SELECT count(*) > 0 AS some FROM pv WHERE age BETWEEN 20 AND 39;
SELECT count(*) > 0 AS some FROM pv WHERE smokes;
SELECT count(*) > 0 AS some FROM pv WHERE 2 * age < i2;
SELECT count(*) > 0 AS some FROM pv WHERE (i2 = 1 OR sex = 'f') AND smokes;
RESET SESSION AUTHORIZATION;
SELECT request::jsonb->>'predicate' AS predicate, count(*) AS charges FROM dp_ledger.charge WHERE id > :before
 GROUP BY 1 ORDER BY (request::jsonb->>'predicate') COLLATE "C";

DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION counts, agrees, refused;
DROP OWNED BY regress_curator, regress_ann, regress_bob CASCADE;
DROP ROLE regress_curator, regress_ann, regress_bob;
