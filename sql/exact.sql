-- Which rows count, and where: with rho 100 the standard error is 0.07, and an estimate other than the
-- count itself has a chance below 2e-12, so estimates can be printed as counts.
CREATE EXTENSION pg_epsilon;
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;
\pset format unaligned
\pset footer off
-- rounded counts in the order of the queries
CREATE FUNCTION counts(dataset text, attributes text, workload text DEFAULT 'identity') RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(CASE WHEN stderr < 0.08 THEN estimate::bigint::text ELSE '?' END, ' ' ORDER BY query)
      FROM dp.histogram(dataset, attributes, workload, rho => 100)
$$;
SET SESSION AUTHORIZATION regress_curator;
CREATE DOMAIN word AS text;
CREATE DOMAIN small AS int2;
CREATE TABLE r (id int, i2 int2, i4 int4, i8 int8, f4 float4, f8 float8, t text, v varchar, c char(4), b boolean, d date,
    ts timestamp, tz timestamptz, dw word, ds small, i4o int4, i4d int4, f8o float8, f8d float8, f8l float8, d2 date, dn date);
SELECT dp.create_dataset('r', 'r', 1e5);
-- bins: below, first edge, inside, inner edge, last edge (closed), above, NULL
INSERT INTO r (id, i4, i4o, i4d) SELECT i, x, x, x FROM unnest(ARRAY[-5, 0, 4, 5, 6, 10, 11, 2147483647, -2147483648, NULL]) WITH ORDINALITY u (x, i);
SELECT dp.add_attribute('r', 'i4', 0, 10, 2, outside => 'clamp', nulls => 'cell');
SELECT dp.add_attribute('r', 'i4o', 0, 10, 2, outside => 'other', nulls => 'cell');
SELECT dp.add_attribute('r', 'i4d', 0, 10, 2, outside => 'drop', nulls => 'drop');
-- floats: NaN is NULL, infinities are outside, -0 is 0
INSERT INTO r (id, f8, f8o, f8d, f4, f8l) SELECT 100 + i, x, x, x, x::float4, x
  FROM unnest(ARRAY[-0.5, '-0', 0, 0.25, 0.5, 1, 1.5, 'NaN', 'Infinity', '-Infinity', NULL]::float8[]) WITH ORDINALITY u (x, i);
SELECT dp.add_attribute('r', 'f8', 0.0, 1.0, 2, outside => 'clamp', nulls => 'cell');
SELECT dp.add_attribute('r', 'f8o', 0.0, 1.0, 2, outside => 'other', nulls => 'cell');
SELECT dp.add_attribute('r', 'f8d', 0.0, 1.0, 2, outside => 'drop', nulls => 'drop');
SELECT dp.add_attribute('r', 'f4', 0.0, 1.0, 2, outside => 'other', nulls => 'cell');
SELECT dp.add_attribute('r', 'f8l', '{0,0.25,1}', outside => 'other', nulls => 'cell');
-- levels of text: bytes, case and blanks matter but in char(n); long values too
INSERT INTO r (id, t, v, c, dw) SELECT 200 + i, x, x, left(x, 4), x
  FROM unnest(ARRAY['a', 'A', 'a ', 'ä', 'a', '', repeat('long', 5000), NULL]) WITH ORDINALITY u (x, i);
SELECT dp.add_attribute('r', 't', ARRAY['a', 'ä', '', repeat('long', 5000)], outside => 'other', nulls => 'cell');
SELECT dp.add_attribute('r', 'v', ARRAY['a ', 'A'], outside => 'other', nulls => 'drop');
SELECT dp.add_attribute('r', 'c', ARRAY['a', 'A', ''], outside => 'drop', nulls => 'cell');
SELECT dp.add_attribute('r', 'dw', '{a}', outside => 'other');
-- integers of other widths, booleans
INSERT INTO r (id, i2, i8, ds, b) VALUES (300, 1, 1, 1, true), (301, -32768, -9223372036854775808, -32768, true), (302, 32767, 9223372036854775807, 32767, false), (303, NULL, NULL, NULL, NULL);
SELECT dp.add_attribute('r', 'i2', ARRAY[-32768, 32767, 5], outside => 'other', nulls => 'cell');
SELECT dp.add_attribute('r', 'i8', -9223372036854775808, 9223372036854775807, 2, nulls => 'cell');
SELECT dp.add_attribute('r', 'ds', -32768, 32767, 3, nulls => 'cell');
SELECT dp.add_attribute('r', 'b');
-- days and instants: infinite ones are outside
INSERT INTO r (id, d, d2, dn, ts, tz) SELECT 400 + i, x::date, x::date, x::date, x::timestamp, x::timestamp AT TIME ZONE 'UTC'
  FROM unnest(ARRAY['2019-12-31 23:59:59', '2020-01-01', '2020-01-31 12:00', '2020-02-01', '2020-03-01', '2020-03-01 00:00:00.000001', 'infinity', '-infinity', NULL]) WITH ORDINALITY u (x, i);
SELECT dp.add_edges('r', 'd', '{2020-01-01,2020-02-01,2020-03-01}', outside => 'other', nulls => 'cell');
SELECT dp.add_edges('r', 'd2', '{2020-01-01,2020-02-01,2020-03-01}', outside => 'clamp', nulls => 'drop');
SELECT dp.add_attribute('r', 'dn', '{2020-01-01,infinity}', outside => 'other', nulls => 'cell');
SELECT dp.add_attribute('r', 'dn', '{2020-01-01}', outside => 'other', nulls => 'cell');
SELECT dp.add_edges('r', 'ts', '{2020-01-01,2020-02-01,2020-03-01}', outside => 'other', nulls => 'cell');
SELECT dp.add_edges('r', 'tz', '{2020-01-01 00:00+00,2020-02-01 00:00+00,2020-03-01 00:00+00}', outside => 'other', nulls => 'cell');
SELECT dp.grant_budget('r', 'regress_ann', 1e5);
-- 42 rows; in the columns that they leave out they are NULL
SELECT count(*) FROM r;

SET SESSION AUTHORIZATION regress_ann;
SELECT counts('r', 'i4') AS i4_clamp_cell, counts('r', 'i4o') AS i4_other_cell, counts('r', 'i4d') AS i4_drop_drop;
SELECT counts('r', 'f8') AS f8_clamp_cell, counts('r', 'f8o') AS f8_other_cell, counts('r', 'f8d') AS f8_drop_drop;
SELECT counts('r', 'f4') AS f4_other_cell, counts('r', 'f8l') AS f8_levels_other_cell;
SELECT counts('r', 't') AS text_other_cell, counts('r', 'v') AS varchar_other_drop, counts('r', 'c') AS char_drop_cell, counts('r', 'dw') AS word_other_drop;
SELECT counts('r', 'i2') AS int2_levels_other_cell, counts('r', 'i8') AS int8_cell, counts('r', 'ds') AS small_cell, counts('r', 'b') AS boolean_drop;
SELECT counts('r', 'd') AS date_other_cell, counts('r', 'd2') AS date_clamp_drop, counts('r', 'dn') AS date_levels_other_cell;
SET TimeZone = 'Asia/Tokyo';
SELECT counts('r', 'ts') AS timestamp_other_cell, counts('r', 'tz') AS timestamptz_other_cell;
RESET TimeZone;
-- the same by the owner's own GROUP BY
RESET SESSION AUTHORIZATION;
SELECT count(*) FILTER (WHERE ts >= '2020-01-01' AND ts < '2020-02-01') AS first, count(*) FILTER (WHERE ts >= '2020-02-01' AND ts <= '2020-03-01') AS second,
       count(*) FILTER (WHERE ts < '2020-01-01' OR ts > '2020-03-01') AS other, count(*) FILTER (WHERE ts IS NULL) AS nulls FROM r;
SELECT count(*) FILTER (WHERE i4 < 5) AS low, count(*) FILTER (WHERE i4 >= 5) AS high, count(*) FILTER (WHERE i4 IS NULL) AS nulls FROM r;
SELECT count(*) FILTER (WHERE t = 'a') AS a, count(*) FILTER (WHERE t = 'ä') AS umlaut, count(*) FILTER (WHERE t = '') AS empty,
       count(*) FILTER (WHERE length(t) > 100) AS long, count(*) FILTER (WHERE t IN ('A', 'a ')) AS other, count(*) FILTER (WHERE t IS NULL) AS nulls FROM r;

-- several attributes: a row that one of them drops counts nowhere; products and marginals agree
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE s (x int, y text);
INSERT INTO s SELECT i % 4, CASE i % 3 WHEN 0 THEN 'p' WHEN 1 THEN 'q' END FROM generate_series(0, 119) i;
INSERT INTO s VALUES (NULL, 'p'), (7, 'q'), (NULL, NULL);
SELECT dp.create_dataset('s', 's', 1e5);
SELECT dp.add_attribute('s', 'x', ARRAY[3, 0, 1], nulls => 'cell');
SELECT dp.add_attribute('s', 'y', '{p,q}', outside => 'other');
SELECT dp.grant_budget('s', 'regress_ann', 1e5);
SET SESSION AUTHORIZATION regress_ann;
SELECT counts('s', 'x') AS x, counts('s', 'y') AS y, counts('s', '{x,y}') AS x_y, counts('s', '{y,x}') AS y_x;
SELECT counts('s', '{x,y}', 'identity(x)') AS x_of_both, counts('s', '{x,y}', 'identity(y) * identity(x)') AS crossed,
       counts('s', '{x,y}', 'total(y) * identity(x)') AS summed, counts('s', '{x,y}', 'total') AS total, counts('s', '{x,y}', 'total(x)') AS total_x;

-- inherited tables, partitions, dropped columns, columns added later, generated columns, row security: all rows count
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE parts (gone int, k int, b boolean) PARTITION BY RANGE (k);
CREATE TABLE part1 PARTITION OF parts FOR VALUES FROM (0) TO (10);
CREATE TABLE part2 (b boolean, k int, gone int);
ALTER TABLE parts ATTACH PARTITION part2 FOR VALUES FROM (10) TO (20);
INSERT INTO parts (k, b) SELECT i, i % 4 = 0 FROM generate_series(0, 19) i;
ALTER TABLE parts DROP COLUMN gone;
ALTER TABLE parts ADD COLUMN late int DEFAULT 2;
ALTER TABLE parts ADD COLUMN double int GENERATED ALWAYS AS (k * 2) STORED;
SELECT dp.create_dataset('parts', 'parts', 1e5);
SELECT dp.add_attribute('parts', 'b');
SELECT dp.add_attribute('parts', 'late', '{1,2}');
SELECT dp.add_attribute('parts', 'double', 0, 40, 4);
SELECT dp.grant_budget('parts', 'regress_ann', 1e5);
CREATE TABLE base (b boolean);
CREATE TABLE derived (extra int) INHERITS (base);
INSERT INTO base VALUES (true), (false);
INSERT INTO derived VALUES (true, 1), (true, 2);
SELECT dp.create_dataset('base', 'base', 1e5);
SELECT dp.add_attribute('base', 'b');
SELECT dp.grant_budget('base', 'regress_ann', 1e5);
CREATE TABLE secured (b boolean);
INSERT INTO secured VALUES (true), (false), (false);
ALTER TABLE secured ENABLE ROW LEVEL SECURITY;
CREATE POLICY none ON secured USING (false);
SELECT dp.create_dataset('secured', 'secured', 1e5);
SELECT dp.add_attribute('secured', 'b');
SELECT dp.grant_budget('secured', 'regress_ann', 1e5);
SET SESSION AUTHORIZATION regress_ann;
SELECT counts('parts', 'b') AS b, counts('parts', 'late') AS late, counts('parts', 'double') AS double, counts('base', 'b') AS inherited, counts('secured', 'b') AS secured;
-- whatever the session has set
SET enable_seqscan = off;
SET search_path = '';
SET row_security = off;
SET extra_float_digits = -15;
SET constraint_exclusion = on;
SELECT public.counts('parts', 'b', 'total') AS parts, public.counts('secured', 'b', 'total') AS secured;
RESET ALL;
SET client_min_messages = warning;
-- by parallel workers as well, each with a part of the rows
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SELECT counts('s', '{x,y}', 'identity(x) * identity(y)') AS x_y, counts('parts', 'b', 'identity(b)') AS parts, counts('r', 't', 'identity(t)') AS text;
RESET ALL;
SET client_min_messages = warning;
-- a table and a column with names that need quotes
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE "select ""from" ("where ""is" boolean);
INSERT INTO "select ""from" VALUES (true), (true), (NULL);
SELECT dp.create_dataset('it''s', '"select ""from"', 1e5);
SELECT dp.add_attribute('it''s', 'where "is');
SELECT dp.grant_budget('it''s', 'regress_ann', 1e5);
SET SESSION AUTHORIZATION regress_ann;
SELECT counts('it''s', 'where "is') AS quoted;
-- renamed and moved: the dataset is the relation, not its name
SET SESSION AUTHORIZATION regress_curator;
ALTER TABLE "select ""from" RENAME TO renamed;
CREATE TABLE "select ""from" ("where ""is" boolean);
INSERT INTO renamed VALUES (false);
SELECT dp.new_version('it''s');
SET SESSION AUTHORIZATION regress_ann;
SELECT counts('it''s', 'where "is') AS renamed;
-- long values, compressed and out of line: as long as a level, and longer than all of them
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE long_values (v text);
CREATE TABLE long_apart (v text);
ALTER TABLE long_apart ALTER v SET STORAGE EXTERNAL;
INSERT INTO long_values SELECT repeat(c, n) FROM unnest('{a,b}'::text[]) c, unnest('{1,5000,5001,200000}'::int[]) n;
INSERT INTO long_apart SELECT v FROM long_values;
SELECT dp.create_dataset(t, t::regclass, 1e5) FROM unnest('{long_values,long_apart}'::text[]) t;
SELECT dp.add_attribute(t, 'v', ARRAY['a', repeat('a', 5000)], outside => 'other') FROM unnest('{long_values,long_apart}'::text[]) t;
SELECT dp.grant_budget(t, 'regress_ann', 1e5) FROM unnest('{long_values,long_apart}'::text[]) t;
SET SESSION AUTHORIZATION regress_ann;
SELECT counts('long_values', 'v') AS compressed, counts('long_apart', 'v') AS out_of_line;

RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon;
DROP FUNCTION counts;
DROP OWNED BY regress_curator, regress_ann CASCADE;
DROP ROLE regress_curator, regress_ann;
