-- Plain SELECT: values outside of what is declared are one cell, and errors on cells that no row that counts is in are none.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
\set same :here /test/regress/same.sql
\i :same
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator, regress_ann;
SET client_min_messages = warning;
SET datestyle = 'ISO';
SET SESSION AUTHORIZATION regress_curator;
CREATE TYPE size AS ENUM ('small', 'middle', 'large');
CREATE TABLE t (k text, q text, big bigint, small smallint, lv int, r real, n numeric, day date, id uuid, ok boolean, size size, most int, d date, x int, f float8, age int, pad text, clock timestamp);
INSERT INTO t SELECT (ARRAY['(other)', 'x', 'y'])[1 + i % 3], (ARRAY['1', '2', '3', 'n/a', NULL])[1 + i % 5], i % 4, i % 4, i % 4, i % 4, i % 4 + 0.5, date '2024-01-01' + i % 4,
       ('00000000-0000-0000-0000-00000000000' || i % 3)::uuid, i % 2 = 0, (ARRAY['small', 'middle', 'large'])[1 + i % 3]::size, 2147483646 + i % 2 - i % 3,
       date '2023-12-01' + i % 420, i % 120 - 10, i % 50 / 10.0 - 1, 18 + i % 60, (ARRAY['a', 'a ', 'b'])[1 + i % 3],
       timestamp '2024-03-10 01:30' + i % 3 * interval '1 hour' FROM generate_series(1, 4200) i;
SELECT dp.create_dataset('t', 't', epsilon => 1e5);
DO $$
BEGIN
    PERFORM dp.add_attribute('t', 'k', '{(other),x}', outside => 'other');
    PERFORM dp.add_attribute('t', 'pad', '{a,b}', outside => 'other');
    PERFORM dp.add_attribute('t', 'clock', '{2024-03-10 03:30}', outside => 'other');
    PERFORM dp.add_attribute('t', 'q', '{1,2,3}', outside => 'other', nulls => 'cell');
    PERFORM dp.add_attribute('t', c, '{0,1,2}', outside => 'other') FROM unnest('{big,small,lv,r}'::text[]) c;
    PERFORM dp.add_attribute('t', 'n', '{0.5,1.5}', outside => 'other');
    PERFORM dp.add_attribute('t', 'day', '{2024-01-01,2024-01-02}', outside => 'other');
    PERFORM dp.add_attribute('t', 'id', '{00000000-0000-0000-0000-000000000000,00000000-0000-0000-0000-000000000001}', outside => 'other');
    PERFORM dp.add_attribute('t', 'ok', '{true}', outside => 'other');
    PERFORM dp.add_attribute('t', 'size', '{small,large}', outside => 'other');
    PERFORM dp.add_attribute('t', 'most', '{2147483646,2147483647}', outside => 'other');
    PERFORM dp.add_edges('t', 'd', array_agg(e::date), outside => 'other') FROM generate_series(timestamp '2024-01-01', '2025-01-01', '1 month') e;
    PERFORM dp.add_attribute('t', 'x', 0, 100, bins => 10, outside => 'other', last => 'open');
    PERFORM dp.add_attribute('t', 'f', 0, 3, bins => 6, outside => 'other');
    PERFORM dp.add_attribute('t', 'age', 18, 78, bins => 60, last => 'open');
    PERFORM dp.grant_budget('t', 'regress_ann', epsilon => 1e5);
    PERFORM dp.expose('t', 'v');
END $$;
GRANT SELECT ON v, t TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SET pg_epsilon.epsilon = 1000;
CREATE FUNCTION same(statement text) RETURNS text LANGUAGE sql AS $$ SELECT same(statement, 'v', 't') $$;

-- 1. A level that is named as values outside are shown: two rows that can be told apart.
SELECT k, count(*) FROM v GROUP BY k ORDER BY count(*), k;
SELECT same('SELECT count(*) FROM R WHERE k = ''(other)''');
SELECT same('SELECT count(*) FROM R WHERE k <> ''(other)''');
SELECT same('SELECT count(*) FROM R WHERE k NOT IN (''x'', ''(other)'')');
SELECT same('SELECT count(*) FROM R WHERE k = ''(other)(other)''');
SELECT same('SELECT count(*) FROM R WHERE k LIKE ''(%''');

-- a collation that calls other texts equal tells values outside apart, too
CREATE COLLATION no_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
SELECT same('SELECT count(*) FROM R WHERE k = ''x'' COLLATE no_case');
SELECT same('SELECT count(*) FROM R WHERE k = ''x'' COLLATE "C"');
SELECT same('SELECT k COLLATE no_case, count(*) FROM R GROUP BY 1');

-- 2. Equality over widths, with parameters, and written in other ways.
SELECT same('SELECT count(*) FROM R WHERE ' || e) FROM unnest(ARRAY['big = 1', 'big = 1::smallint', '1 = big', 'small = 1', 'small = 1::bigint', 'lv = 1::smallint', 'r = 1', 'r = 1::float8',
    'lv <> 2', 'big IN (1, 2)', 'lv = 1.0', 'small <> ALL (ARRAY[1, 2])']) e;
SELECT same('SELECT count(*) FROM R WHERE ' || e) FROM unnest(ARRAY['lv = 3', 'lv IN (1, 3)', 'lv = 1.5', 'big > 1', 'r = 0.1', 'lv + 0 = 1']) e;
SELECT same('SELECT count(*) FROM R WHERE ' || e) FROM unnest(ARRAY['n = 0.5', 'n <> 1.50', 'day <> ''2024-01-02''', 'day = timestamp ''2024-01-01''', 'id <> ''00000000-0000-0000-0000-000000000001''',
    'NOT id = ''00000000-0000-0000-0000-000000000000''', 'size <> ''small''', 'ok', 'NOT ok', 'ok IS FALSE', 'most <> 2147483647', 'most NOT IN (2147483647, 2147483646)']) e;
PREPARE of_small(smallint, bigint) AS SELECT count(*) FROM v WHERE lv = $1 AND big = $2;
EXECUTE of_small(1, 1);
SET plan_cache_mode = force_generic_plan;
EXECUTE of_small(2, 2);
RESET plan_cache_mode;
SELECT same('SELECT count(*) FROM R WHERE ' || e) FROM unnest(ARRAY['q IS DISTINCT FROM ''1''', 'q IS NOT DISTINCT FROM ''1''', 'q IS DISTINCT FROM NULL', 'coalesce(q, ''none'') = ''1''', 'coalesce(q, ''1'') <> ''1''',
    'nullif(q, ''1'') IS NULL', 'CASE q WHEN ''1'' THEN true WHEN ''2'' THEN false END', 'q = ''1'' IS TRUE', '(q = ''1'') IS UNKNOWN', 'q IN (''1'', NULL)', 'q NOT IN (''1'', NULL)', 'coalesce(q = ''1'', false)']) e;
SELECT same('SELECT CASE q WHEN ''1'' THEN ''one'' WHEN ''2'' THEN ''two'' ELSE ''rest'' END, count(*) FROM R GROUP BY 1');
SELECT same('SELECT CASE big WHEN 1 THEN ''one'' ELSE ''rest'' END, count(*) FILTER (WHERE small = 1) FROM R GROUP BY 1');
SELECT same('SELECT round(sum(CASE q WHEN ''1'' THEN 1 WHEN ''3'' THEN 2 ELSE 0 END)) FROM R');
SELECT same('SELECT coalesce(q, ''none''), count(*) FROM R WHERE q IS NULL OR q IN (''1'', ''2'', ''3'') GROUP BY 1');
SELECT same('SELECT coalesce(q, ''none''), count(*) FROM R GROUP BY 1');
SELECT same('SELECT CASE length(q) WHEN 1 THEN 1 END, count(*) FROM R GROUP BY 1');

-- 3. Bins: values outside lie below the first edge or above the last one.
SELECT same('SELECT count(*) FROM R WHERE ' || e) FROM unnest(ARRAY['d >= ''2024-03-01'' AND d < ''2024-05-01''', 'd BETWEEN ''2024-03-01'' AND ''2024-04-30''', 'd < ''2024-03-01'' OR d >= ''2024-05-01''', 'NOT (d >= ''2024-03-01'' AND d < ''2024-05-01'')',
    'd >= date ''2024-01-01'' AND d < timestamp ''2025-01-01''', 'd::timestamp >= ''2024-03-01'' AND d < ''2024-05-01''', 'date_trunc(''month'', d) = ''2024-03-01''', 'extract(year FROM d) = 2024',
    'd IS NOT NULL', 'x >= 20 AND x < 50', 'x BETWEEN SYMMETRIC 49 AND 20', 'x >= 0 AND x <= 99', 'f >= 0.5 AND f < 1', 'f >= 0 AND f <= 3', 'x / 10 IN (3, 4)', 'x * 2 >= 40 AND x < 100', 'd > ''-infinity'' AND d < ''2024-02-01''']) e;
SELECT same('SELECT count(*) FROM R WHERE ' || e) FROM unnest(ARRAY['d >= ''2024-03-01''', 'd < ''2025-01-01''', 'x < 50', 'x >= 0', 'f <= 3', 'x % 10 < 10']) e;
SELECT same('SELECT count(*) FILTER (WHERE d >= ''2024-03-01'' AND d < ''2024-05-01'') FROM R');
SELECT same('SELECT date_trunc(''quarter'', d)::date, count(*) FROM R GROUP BY 1');
SELECT same('SELECT date_trunc(''quarter'', d)::date, count(*) FROM R WHERE d >= ''2024-01-01'' AND d < ''2025-01-01'' GROUP BY 1');
SELECT same('SELECT CASE WHEN d >= ''2024-03-01'' AND d < ''2024-05-01'' THEN ''spring'' ELSE ''rest'' END, count(*) FROM R GROUP BY 1');
SELECT same('SELECT CASE WHEN d >= ''2024-03-01'' AND d < ''2024-05-01'' AND ok THEN ''spring'' ELSE ''rest'' END, count(*) FROM R GROUP BY 1');
SET pg_epsilon.cut_bins = middle;
SET client_min_messages = notice;
SELECT count(*) FROM (SELECT date_trunc('quarter', d), count(*) FROM v GROUP BY 1) q;
SELECT count(*) > 0 AS some FROM (SELECT upper(k), count(*) FROM v GROUP BY 1) q;
SET client_min_messages = warning;
RESET pg_epsilon.cut_bins;

-- 4. Errors of cells that are not asked for are none; of cells that are left they come before the charge.
SELECT same('SELECT q::int, count(*) FROM R WHERE q IN (''1'', ''2'', ''3'') GROUP BY 1');
SELECT same('SELECT 100 / (age - 18), count(*) FROM R WHERE age > 50 GROUP BY 1');
SELECT same('SELECT count(*) FROM R WHERE 100 / (age - 18) > 2 AND age > 18');
SELECT same('SELECT count(*) FILTER (WHERE q::int > 1) FROM R WHERE q IN (''1'', ''2'')');
SELECT same('SELECT round(sum(q::int) FILTER (WHERE q IN (''1'', ''2''))) FROM R');
SELECT same('SELECT round(sum(CASE WHEN q IN (''1'', ''2'') THEN q::int ELSE 0 END)) FROM R');
SELECT same('SELECT round(sum(CASE WHEN age = 18 THEN 0 ELSE 10 / (age - 18) END)::numeric, -2) FROM R WHERE age < 24');
SELECT same('SELECT CASE WHEN q IN (''1'', ''2'') THEN q::int ELSE 0 END, count(*) FROM R GROUP BY 1');
SELECT same('SELECT q::int + lv, count(*) FROM R WHERE q IN (''1'', ''2'') AND lv IN (0, 1) GROUP BY 1');
SELECT same('SELECT 100 / (age - 18), count(*) FROM R GROUP BY 1');
SELECT same('SELECT count(*) FROM R WHERE q::int = 1');
-- a filter of a group is applied to the answer: one request
SELECT count(*) FROM (SELECT 100 / (age - 18) AS a, count(*) FROM v WHERE age BETWEEN 30 AND 40 GROUP BY 1) q;
SELECT count(*) FROM dp.charges;
SELECT count(*) FROM (SELECT age / 10 AS a, count(*) FROM v WHERE age >= 30 GROUP BY 1) q;
SELECT count(*) FROM (SELECT age / 10 AS a, count(*) FROM v WHERE age < 70 AND age >= 30 GROUP BY 1) q;
SELECT count(*) FROM dp.charges;

-- a cast after which values outside may equal a level
SELECT same('SELECT count(*) FROM R WHERE pad = ''a''');
SELECT same('SELECT count(*) FROM R WHERE pad::varchar = ''a''');
SELECT same('SELECT count(*) FROM R WHERE pad::bpchar = ''a''');
SELECT same('SELECT count(*) FROM R WHERE pad::bpchar NOT IN (''a'', ''c'')');
SELECT same('SELECT pad::bpchar, count(*) FROM R GROUP BY 1');
SELECT same('SELECT pad::bpchar, count(*) FROM R WHERE pad IN (''a'', ''b'') GROUP BY 1');

-- half past two does not come: as universal time it is half past three
SET timezone = 'America/New_York';
SELECT same('SELECT count(*) FROM R WHERE clock = ''2024-03-10 03:30''');
SELECT same('SELECT count(*) FROM R WHERE clock = timestamptz ''2024-03-10 03:30''');
RESET timezone;

RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon CASCADE;
DROP OWNED BY regress_curator, regress_ann CASCADE;
DROP FUNCTION same(text, text, text), rows_of(text), refused(text);
DROP ROLE regress_curator, regress_ann;
