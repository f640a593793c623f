-- Declaring attributes: every form, every type, what is refused, and the views.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
GRANT CREATE ON SCHEMA public TO regress_curator;

SET SESSION AUTHORIZATION regress_curator;
CREATE DOMAIN small AS int2 CHECK (VALUE < 1000);
CREATE DOMAIN smaller AS small;
CREATE DOMAIN word AS text;
CREATE DOMAIN day AS date;
CREATE TABLE every_type (
    i2 int2, i4 int4, i8 int8, f4 float4, f8 float8, t text, v varchar(10), c char(4), b boolean,
    d date, ts timestamp, tz timestamptz, dom2 smaller, domt word, domd day,
    i4b int4, i4c int4, i4d int4, i8b int8, f8b float8, f8c float8, tb text, db date, dc date, tsb timestamp, "Odd ""col" int,
    n numeric, j jsonb, a int[], u uuid, byt bytea, tim time, dropped int);
ALTER TABLE every_type DROP COLUMN dropped;
SELECT dp.create_dataset('e', 'every_type', 1);

\t on
-- Levels: typed arrays and literals.  The session's DateStyle and TimeZone (here Postgres, MDY and PST8PDT) do not stay in them.
SELECT refused($$SELECT dp.add_attribute('e', 'i2', ARRAY[3, 1, 2])$$);
SELECT refused($$SELECT dp.add_attribute('e', 'i4', '{10,20,-30}', 'other', 'cell')$$);
SELECT refused($$SELECT dp.add_attribute('e', 'i8', ARRAY[9223372036854775807, -9223372036854775808], outside => 'other')$$);
SELECT refused($$SELECT dp.add_attribute('e', 'f4', '{0.1,-0,1e30}')$$);
SELECT refused($$SELECT dp.add_attribute('e', 't', ARRAY['a', 'b,c', '"q"', 'ü', '', 'NULL'], nulls => 'cell')$$);
SELECT refused($$SELECT dp.add_attribute('e', 'v', '{x,"x ",y}', outside => 'other', nulls => 'cell')$$);
SELECT refused($$SELECT dp.add_attribute('e', 'c', '{ab,cd  ,e}')$$);
SELECT refused($$SELECT dp.add_attribute('e', 'b')$$);
SELECT refused($$SELECT dp.add_attribute('e', 'd', ARRAY['2020-12-31', '2021-01-01']::date[])$$);
SELECT refused($$SELECT dp.add_attribute('e', 'tz', '{2020-06-01 00:00,"2020-06-01 12:00+00"}')$$);
SELECT refused($$SELECT dp.add_attribute('e', 'dom2', ARRAY[1, 2]::small[])$$);
SELECT refused($$SELECT dp.add_attribute('e', 'domt', '{no,yes}')$$);
-- Equal bins: typed and literal, by name and by position; between integers and days edges are rounded up
SELECT refused($$SELECT dp.add_attribute('e', 'i4b', 0, 10, 3)$$);
SELECT refused($$SELECT dp.add_attribute('e', 'i4c', -10, 0, 3, 'drop', 'cell')$$);
SELECT refused($$SELECT dp.add_attribute('e', 'i4d', lower => '0', upper => '7', bins => 2, outside => 'other')$$);
SELECT refused($$SELECT dp.add_attribute('e', 'i8b', -9223372036854775808, 9223372036854775807, 4)$$);
SELECT refused($$SELECT dp.add_attribute('e', 'f8', 0.0, 1.0, 4)$$);
SELECT refused($$SELECT dp.add_attribute('e', 'f8b', '-1e308', '1e308', 2)$$);
SELECT refused($$SELECT dp.add_attribute('e', 'domd', '2020-01-01', '2021-01-01', step => '3 months')$$);
SELECT refused($$SELECT dp.alter_attribute('e', 'domd', date '2020-01-01', date '2021-01-01', step => '3 months')$$);
SELECT refused($$SELECT dp.add_attribute('e', 'db', date '2020-01-01', date '2020-01-11', 3)$$);
SELECT refused($$SELECT dp.add_attribute('e', 'ts', timestamp '2020-01-01', timestamp '2020-01-02', 3)$$);
SELECT refused($$SELECT dp.add_attribute('e', 'Odd "col', 0.5, 9.5, 3)$$);
-- Edges
SELECT refused($$SELECT dp.add_edges('e', 'f8c', '{-1.5,0,1e20}')$$);
SELECT refused($$SELECT dp.add_edges('e', 'dc', '{2020-01-01,2020-02-01,2020-03-01}', nulls => 'cell')$$);
SELECT refused($$SELECT dp.add_edges('e', 'tsb', ARRAY['2020-01-01 00:00', '2020-01-01 00:00:00.000001']::timestamp[], 'other')$$);
CREATE TABLE more (a int, b int, c int2);
SELECT dp.create_dataset('more', 'more', 1);
SELECT refused($$SELECT dp.add_edges('more', 'a', '{0,2.5,5}')$$);
SELECT refused($$SELECT dp.add_edges('more', 'b', ARRAY[-2.5, -1.5, 1.5])$$);
SELECT refused($$SELECT dp.add_edges('more', 'c', ARRAY[-32768, 0, 32767])$$);
\t off
SELECT attribute, type, kind, cells, levels, outside, nulls, last FROM dp.attributes WHERE dataset = 'e';
SELECT attribute, type, kind, cells, levels, outside, nulls, last FROM dp.attributes WHERE dataset = 'more';
-- What is stored does not depend on who looks
SET DateStyle = 'German';
SET TimeZone = 'Asia/Tokyo';
SET extra_float_digits = -10;
SELECT attribute, levels FROM dp.attributes WHERE dataset = 'e' AND attribute IN ('tz', 'd', 'f4', 'domd');
RESET DateStyle;
RESET TimeZone;
RESET extra_float_digits;

\t on
-- Refused: columns
SELECT refused($$SELECT dp.add_attribute('e', 'nothing', '{1}')$$);
SELECT refused($$SELECT dp.add_attribute('e', 'ctid', '{1}')$$);
SELECT refused($$SELECT dp.add_attribute('e', 'dropped', '{1}')$$);
SELECT refused($$SELECT dp.add_attribute('e', '........pg.dropped.33........', '{1}')$$);
SELECT refused($$SELECT dp.add_attribute('e', 'I4', '{1}')$$);
SELECT refused($$SELECT dp.add_attribute('e', 'i4', '{1}')$$);
SELECT refused($$SELECT dp.add_attribute('e', NULL, '{1}')$$);
SELECT refused($$SELECT dp.add_attribute(NULL, 'tb', '{1}')$$);
-- types that are no attributes, or have no order
SELECT refused($$SELECT dp.add_attribute('e', 'j', '{1}')$$);
SELECT refused($$SELECT dp.add_attribute('e', 'a', '{1}')$$);
SELECT refused($$SELECT dp.add_attribute('e', 'byt', '{1}')$$);
SELECT refused($$SELECT dp.add_attribute('e', 'tim', '{00:00}')$$);
SELECT refused($$SELECT dp.add_attribute('e', 'tb', 'a', 'z', 3)$$);
SELECT refused($$SELECT dp.add_edges('e', 'tb', '{a,b}')$$);
SELECT refused($$SELECT dp.add_attribute('e', 'tb')$$);
CREATE TABLE flags (b boolean, i int, f float8, r float4, s int2, d date, t timestamp, tz timestamptz, c char(4), x text);
SELECT dp.create_dataset('flags', 'flags', 1);
SELECT refused($$SELECT dp.add_attribute('flags', 'b', false, true, 1)$$);
SELECT refused($$SELECT dp.add_edges('flags', 'b', '{f,t}')$$);
-- levels
SELECT refused($$SELECT dp.add_attribute('flags', 'i', NULL::int[])$$);
SELECT refused($$SELECT dp.add_attribute('flags', 'i', '{}')$$);
SELECT refused($$SELECT dp.add_attribute('flags', 'i', ARRAY[]::int[])$$);
SELECT refused($$SELECT dp.add_attribute('flags', 'i', '{1,NULL}')$$);
SELECT refused($$SELECT dp.add_attribute('flags', 'i', ARRAY[1, NULL])$$);
SELECT refused($$SELECT dp.add_attribute('flags', 'i', '{1,2,1}')$$);
SELECT refused($$SELECT dp.add_attribute('flags', 'i', '{1,2, 01}')$$);
SELECT refused($$SELECT dp.add_attribute('flags', 'f', '{0,-0}')$$);
SELECT refused($$SELECT dp.add_attribute('flags', 'f', '{1,1.0}')$$);
SELECT refused($$SELECT dp.add_attribute('flags', 'f', '{1,NaN}')$$);
SELECT refused($$SELECT dp.add_attribute('flags', 'f', '{1,Infinity}')$$);
SELECT refused($$SELECT dp.add_attribute('flags', 'c', '{a,"a "}')$$);
SELECT refused($$SELECT dp.add_attribute('flags', 'i', '{1,x}')$$);
SELECT refused($$SELECT dp.add_attribute('flags', 'i', '{1,2.5}')$$);
SELECT refused($$SELECT dp.add_attribute('flags', 's', '{1,40000}')$$);
SELECT refused($$SELECT dp.add_attribute('flags', 'd', '{2020-02-30}')$$);
SELECT refused($$SELECT dp.add_attribute('flags', 'i', '1,2')$$);
SELECT refused($$SELECT dp.add_attribute('flags', 'i', '{{1,2},{3,4}}')$$);
SELECT refused($$SELECT dp.add_attribute('flags', 'i', '{1}', 'clamp')$$);
SELECT refused($$SELECT dp.add_attribute('flags', 'i', '{1}', 'Drop')$$);
SELECT refused($$SELECT dp.add_attribute('flags', 'i', '{1}', 'd')$$);
SELECT refused($$SELECT dp.add_attribute('flags', 'i', '{1}', NULL)$$);
SELECT refused($$SELECT dp.add_attribute('flags', 'i', '{1}', 'drop', 'other')$$);
SELECT refused($$SELECT dp.add_attribute('flags', 'i', '{1}', 'drop', NULL)$$);
-- bins
SELECT refused($$SELECT dp.add_attribute('flags', 'i', 0, 10, 0)$$);
SELECT refused($$SELECT dp.add_attribute('flags', 'i', 0, 10, -1)$$);
SELECT refused($$SELECT dp.add_attribute('flags', 'i', 0, 10, NULL)$$);
SELECT refused($$SELECT dp.add_attribute('flags', 'i', 0, 10000000, 1048577)$$);
SELECT refused($$SELECT dp.add_attribute('flags', 'i', 0, 10000000, 1048576, 'other')$$);
SELECT refused($$SELECT dp.add_attribute('flags', 'i', NULL::int, 10, 2)$$);
SELECT refused($$SELECT dp.add_attribute('flags', 'i', 0, NULL::int, 2)$$);
SELECT refused($$SELECT dp.add_attribute('flags', 'i', 10, 0, 2)$$);
SELECT refused($$SELECT dp.add_attribute('flags', 'i', 5, 5, 2)$$);
SELECT refused($$SELECT dp.add_attribute('flags', 'i', 0, 3, 4)$$);
SELECT refused($$SELECT dp.add_attribute('flags', 'i', 0, 10, 2, 'nearest')$$);
SELECT refused($$SELECT dp.add_attribute('flags', 'i', 0, 3000000000, 2)$$);
SELECT refused($$SELECT dp.add_attribute('flags', 'f', 0, 'Infinity'::float8, 2)$$);
SELECT refused($$SELECT dp.add_attribute('flags', 'f', 'NaN'::float8, 1, 2)$$);
SELECT refused($$SELECT dp.add_attribute('flags', 'i', 0, 'NaN'::numeric, 2)$$);
SELECT refused($$SELECT dp.add_attribute('flags', 'f', 0, 1e-320, 1000000)$$);
SELECT refused($$SELECT dp.add_attribute('flags', 'r', 1, 1.0000002, 100)$$);
SELECT refused($$SELECT dp.add_attribute('flags', 'd', '2020-01-01', 'infinity', 2)$$);
SELECT refused($$SELECT dp.add_attribute('flags', 't', '-infinity', '2020-01-01', 2)$$);
SELECT refused($$SELECT dp.add_attribute('flags', 'd', '2020-01-01', '2020-01-03', 3)$$);
-- edges
SELECT refused($$SELECT dp.add_edges('flags', 'i', NULL::int[])$$);
SELECT refused($$SELECT dp.add_edges('flags', 'i', '{1}')$$);
SELECT refused($$SELECT dp.add_edges('flags', 'i', '{1,3,2}')$$);
SELECT refused($$SELECT dp.add_edges('flags', 'i', '{1,1,2}')$$);
SELECT refused($$SELECT dp.add_edges('flags', 'i', '{1.2,1.8,3}')$$);
SELECT refused($$SELECT dp.add_edges('flags', 'i', '{1,NULL,2}')$$);
SELECT refused($$SELECT dp.add_edges('flags', 'f', '{1,NaN}')$$);
SELECT refused($$SELECT dp.add_edges('flags', 'f', '{1,Infinity}')$$);
SELECT refused($$SELECT dp.add_edges('flags', 'tz', '{2020-01-01,infinity}')$$);
SELECT refused($$SELECT dp.add_edges('flags', 'i', '{1,2,99999999999}')$$);
SELECT refused($$SELECT dp.add_edges('flags', 'i', '{1,2}', 'clamp', 'drop')$$);
SELECT refused($$SELECT dp.add_edges('flags', 'i', '{1,2}')$$);
SELECT refused($$SELECT dp.add_edges('flags', 'f', '{1,2}', last => 'half')$$);
SELECT refused($$SELECT dp.add_attribute('flags', 'f', 0, 1, 2, last => 'Open')$$);
\t off
SELECT attribute FROM dp.attributes WHERE dataset = 'flags';

-- dates before our era
CREATE TABLE old (d date, t timestamp, tz timestamptz, dl date, tl timestamp, tzl timestamptz);
SELECT dp.create_dataset('old', 'old', 1);
SELECT dp.add_edges('old', 'd', '{0044-03-15 BC,0001-01-01 BC,0001-01-01}'), dp.add_edges('old', 't', '{0044-03-15 12:00 BC,0001-01-01 00:00:00.5 BC,0001-01-01}'),
       dp.add_edges('old', 'tz', '{0044-03-15 12:00+00 BC,0001-01-01 00:00:00.5+00 BC,2001-01-01 00:00+00}');
SELECT dp.add_attribute('old', 'dl', '{0044-03-15 BC,0001-01-01}'), dp.add_attribute('old', 'tl', '{0044-03-15 12:00 BC,0001-01-01}'),
       dp.add_attribute('old', 'tzl', '{0044-03-15 12:00+00 BC,2001-01-01 00:00+00}');
SELECT attribute, levels FROM dp.attributes WHERE dataset = 'old';
SELECT a, q.label FROM unnest('{d,t,tz,dl,tl,tzl}'::text[]) a, dp.quote_queries('old', a, rho => 0.1) q;
SELECT a, q.label FROM unnest(ARRAY['t >= ''0001-01-01 00:00:00.5 BC''', 'tz < ''0001-01-01 00:00:00.5+00 BC''', 'tzl = ''0044-03-15 12:00+00 BC''']) a,
       dp.quote_queries('old', 'd', rho => 0.1, predicate => a) q;
-- what is told of an attribute is the JSON form of its column's type
SELECT bool_and(levels = CASE attribute WHEN 'd' THEN to_jsonb('{0044-03-15 BC,0001-01-01 BC,0001-01-01}'::date[])
		WHEN 't' THEN to_jsonb('{0044-03-15 12:00 BC,0001-01-01 00:00:00.5 BC,0001-01-01}'::timestamp[])
		ELSE to_jsonb('{0044-03-15 12:00+00 BC,0001-01-01 00:00:00.5+00 BC,2001-01-01 00:00+00}'::timestamptz[]) END) AS same
  FROM dp.attributes WHERE dataset = 'old' AND attribute IN ('d', 't', 'tz') AND set_config('timezone', 'UTC', true) = 'UTC';

-- The last bin: open or closed, by default as the type has it; what equals its upper edge is then outside or inside
CREATE TABLE weeks (day date, closed date, at timestamptz, x float8, open float8, n int, clamped int, other numeric, kept timestamp);
INSERT INTO weeks VALUES ('2024-01-08', '2024-01-08', '2024-01-08 00:00+00', 1, 1, 10, 10, 1.5, '2024-01-08'),
    ('2024-01-07', '2024-01-07', '2024-01-07 23:59:59.999999+00', 0.5, 0.5, 9, 9, 1.4999, '2024-01-07 23:59:59.999999');
SELECT dp.create_dataset('weeks', 'weeks', 1e5);
SELECT dp.add_edges('weeks', 'day', '{2024-01-01,2024-01-08}', 'other'), dp.add_edges('weeks', 'closed', '{2024-01-01,2024-01-08}', 'other', last => 'closed'),
       dp.add_edges('weeks', 'at', ARRAY['2024-01-01 00:00+00', '2024-01-08 00:00+00']::timestamptz[], 'drop', 'drop', 'open'),
       dp.add_attribute('weeks', 'x', 0.0, 1.0, 1, 'drop'), dp.add_attribute('weeks', 'open', 0.0, 1.0, 1, 'other', 'drop', 'open'),
       dp.add_attribute('weeks', 'n', 0, 10, 2, 'drop', last => 'open'), dp.add_attribute('weeks', 'clamped', '0', '10', 2, last => 'open'),
       dp.add_edges('weeks', 'other', '{0,1,1.5}', 'other', last => 'open'), dp.add_edges('weeks', 'kept', '{2024-01-01,2024-01-08}', 'drop', last => NULL);
SELECT attribute, levels, last FROM dp.attributes WHERE dataset = 'weeks';
SET client_min_messages = warning;
SELECT dp.grant_budget('weeks', 'regress_curator', 1e4);
SELECT a AS attribute, query, label, round(estimate::numeric) AS counted FROM unnest('{day,closed,at,x,open,n,clamped,other,kept}'::text[]) a, dp.histogram('weeks', a, rho => 100);
SELECT a AS predicate, round(estimate::numeric) AS counted FROM unnest('{day < ''2024-01-08'',day <= ''2024-01-07'',closed <= ''2024-01-08'',open < 1,n <= 9,n >= 5,clamped >= 5,other < 1.5,kept < ''2024-01-08''}'::text[]) a,
       dp.histogram('weeks', '{}', rho => 100, predicate => a);
\t on
SELECT refused($$SELECT dp.quote('weeks', 'day', rho => 1, predicate => 'day <= ''2024-01-08''')$$);
SELECT refused($$SELECT dp.quote('weeks', 'day', rho => 1, predicate => 'open <= 1')$$);
SELECT refused($$SELECT dp.quote('weeks', 'x', rho => 1, predicate => 'n >= 10')$$);
\t off
SELECT description FROM dp.describe('weeks') WHERE description LIKE '%edge%';
SELECT subject, new_value -> 'last' AS last FROM dp.acts WHERE dataset = 'weeks' AND subject IN ('day', 'closed', 'n') ORDER BY subject;
-- a model's bounds follow: what equals the open edge is outside, for dp.fit and for dp.predict
SELECT model AS week_model FROM dp.fit('weeks', 'linear_regression', 'n', '{open,x}', rho => 1000) LIMIT 1 \gset
SELECT dp.predict(:'week_model', '{"open": 1, "x": 1}') = dp.predict(:'week_model', '{"open": 2, "x": 1}') AS open_edge_is_outside,
       dp.predict(:'week_model', '{"open": 0.999, "x": 1}') <> dp.predict(:'week_model', '{"open": 1, "x": 1}') AS below_is_inside;
RESET client_min_messages;

-- dp.describe, as anybody sees it
SELECT dp.create_dataset('page', 'flags', 3) FROM dp.drop_dataset('flags');
SELECT dp.add_attribute('page', 'b');
SELECT dp.add_attribute('page', 'i', 0, 100, 20, outside => 'other', nulls => 'cell');
SELECT dp.add_edges('page', 'd', '{2020-01-01,2020-02-01}');
SELECT dp.add_attribute('page', 'x', '{a,b}', 'drop', 'cell');
\pset tuples_only on
SELECT * FROM dp.describe('page');
SELECT refused($$SELECT dp.grant_budget('page', 'regress_curator', 1, 1e-6)$$);
SELECT description FROM dp.describe('page') WHERE description LIKE 'your budget%';
SELECT refused($$SELECT dp.describe('nothing')$$);

RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon;
DROP FUNCTION refused;
DROP OWNED BY regress_curator;
DROP ROLE regress_curator;
