-- Plain SELECT: conditions and groups are sets of public cells, and these are what is asked for.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
SET client_min_messages = warning;
\set select :here /test/regress/select.sql
\i :select

-- One set of cells is one request, however it is written
SELECT try('SELECT count(*) FROM orders_v WHERE ts::date BETWEEN ''2025-01-01'' AND ''2025-01-31''');
SELECT try('SELECT count(*) FROM orders_v WHERE ts >= ''2025-01-01'' AND ts < ''2025-02-01''');
SELECT try('SELECT count(*) FROM orders_v WHERE date_trunc(''month'', ts) = ''2025-01-01''');
SELECT try('SELECT count(*) FROM orders_v WHERE extract(year FROM ts) = 2025 AND extract(month FROM ts) = 1');
SELECT try('SELECT count(*) FROM orders_v WHERE ts >= ''2025-01-01'' AND ts <= ''2025-01-31 23:59:59.999999''');
SELECT try('SELECT count(*) FROM orders_v WHERE to_char(ts, ''YYYY-MM'') = ''2025-01''');
SELECT try('SELECT count(*) FROM orders_v WHERE NOT (ts < ''2025-01-01'' OR ts >= date ''2025-02-01'')');
SELECT try('SELECT count(*) FROM orders_v WHERE extract(year FROM ts) = 2025');
SELECT try('SELECT count(*) FROM orders_v WHERE date_part(''year'', ts) = 2025');
SELECT try('SELECT count(*) FROM orders_v WHERE ts >= ''2025-01-01''');
SELECT try('SELECT count(*) FROM orders_v WHERE channel = ''web''');
SELECT try('SELECT count(*) FROM orders_v WHERE channel IN (''web'')');
SELECT try('SELECT count(*) FROM orders_v WHERE ''web'' = channel AND true');
-- and the order of tests does not matter
SELECT try('SELECT count(*) FROM orders_v WHERE returned AND age >= 55');
SELECT try('SELECT count(*) FROM orders_v WHERE age >= 55 AND returned IS TRUE');
SELECT try('SELECT count(*) FROM orders_v WHERE NOT (age < 55 OR NOT returned)');
-- AND, OR and NOT over several columns
SELECT try('SELECT count(*) FROM orders_v WHERE region LIKE ''%th'' OR (age < 30 AND NOT (returned OR items < 1))');
SELECT try('SELECT count(*) FROM orders_v WHERE region <> ''north'' AND region ~ ''st$'' AND lower(region) IN (''west'', ''south'')');
SELECT try('SELECT count(*) FROM orders_v WHERE (returned AND age < 30) IS NOT TRUE');
SELECT try('SELECT count(*) FROM orders_v WHERE (returned AND age < 30) IS NULL');
SELECT try('SELECT count(*) FROM orders_v WHERE channel = region');
SELECT try('SELECT count(*) FROM orders_v WHERE age + items > 50');

-- A filter of what is grouped by is a filter of the answer, and is paid already
SELECT try('SELECT region, count(*) FROM orders_v GROUP BY region');
SELECT try('SELECT region, count(*) FROM orders_v WHERE region = ''west'' GROUP BY region');
SELECT try('SELECT region, count(*) FROM orders_v WHERE region IN (''west'', ''east'') GROUP BY region');
SELECT try('SELECT region, count(*) FROM orders_v WHERE region = ''west'' AND returned GROUP BY region');
SELECT try('SELECT region, count(*) FROM orders_v WHERE returned GROUP BY region');
SELECT try('SELECT region, count(*) FROM orders_v WHERE region = ''nowhere'' GROUP BY region');
SELECT try('SELECT count(*) FROM orders_v WHERE region = ''nowhere''');
SELECT try('SELECT count(*), sum(items) FROM orders_v WHERE region = ''nowhere''');
-- With a unit, too, a filter of a grouped column is free
SELECT try('SELECT ward, count(*) FROM visits_v GROUP BY ward');
SELECT try('SELECT ward, count(*) FROM visits_v WHERE ward = ''a'' GROUP BY ward');

-- Months over daily cells are asked for as months
SELECT try('SELECT date_trunc(''month'', ts) AS m, count(*) FROM orders_v GROUP BY 1');
SELECT try('SELECT to_char(ts, ''YYYY-MM'') AS m, count(*) FROM orders_v GROUP BY 1');
SELECT try('SELECT extract(month FROM ts) + 0.5 AS m, count(*) FROM orders_v WHERE ts >= ''2025-01-01'' GROUP BY 1 ORDER BY 1');
SELECT try('SELECT CASE WHEN age < 30 THEN ''young'' WHEN age < 55 THEN ''middle'' ELSE ''old'' END AS c, count(*) FROM orders_v GROUP BY 1');
SELECT try('SELECT amount >= 50 AS dear, count(*) FROM orders_v GROUP BY 1');
SELECT try('SELECT upper(left(region, 1)) || returned AS k, count(*) FROM orders_v GROUP BY 1');
SELECT try('SELECT region = ''north'' AND returned AS k, count(*), sum(items) FROM orders_v GROUP BY 1');
SELECT try('SELECT region = ''north'' AND returned AS k, avg(items) FROM orders_v GROUP BY 1');
SELECT try('SELECT 7 AS seven, region, count(*) FROM orders_v GROUP BY 1, 2');

-- STABLE functions go by the session's time zone, and cells decide
SELECT try('SELECT date_trunc(''month'', sent) AS m, count(*) FROM orders_v GROUP BY 1');
SELECT try('SELECT sent::date AS d, count(*) FROM orders_v WHERE sent >= ''2025-02-26 00:00+00'' GROUP BY 1');
SELECT try('SELECT count(*) FROM orders_v WHERE extract(year FROM sent) = 2025');
SELECT try('SELECT count(*) FROM orders_v WHERE sent >= date_trunc(''day'', timestamptz ''2025-02-01 10:00+00'') - interval ''40 days''');
SET timezone = 'America/New_York';
SELECT try('SELECT date_trunc(''month'', sent) AS m, count(*) FROM orders_v GROUP BY 1');
SELECT try('SELECT count(*) FROM orders_v WHERE extract(year FROM sent) = 2025');
SELECT try('SELECT count(*) FROM orders_v WHERE sent >= ''2024-12-31 19:00''');
SET timezone = 'UTC';

-- A test that cuts a bin is an error that names it, or is decided at its middle and says so
SELECT try('SELECT count(*) FROM orders_v WHERE amount > 55');
SELECT try('SELECT count(*) FROM orders_v WHERE amount BETWEEN 33 AND 34');
SELECT try('SELECT count(*) FROM orders_v WHERE amount = 35');
SELECT try('SELECT count(*) FROM orders_v WHERE amount IN (35, 120)');
SELECT try('SELECT count(*) FROM orders_v WHERE amount * 2 > 110');
SELECT try('SELECT count(*) FROM orders_v WHERE extract(hour FROM ts) = 7');
SELECT try('SELECT count(*) FILTER (WHERE age = 21) FROM orders_v');
SELECT try('SELECT sum(CASE WHEN age < 21 THEN items END) FROM orders_v');
SELECT try('SELECT age % 10 AS a, count(*) FROM orders_v GROUP BY 1');
SELECT try('SELECT sum(age % 10) FROM orders_v');
SELECT try('SELECT count(*) FROM orders_v WHERE amount < 200 AND amount >= 0');
SET pg_epsilon.cut_bins = middle;
SET client_min_messages = notice;
SELECT count(*) FROM orders_v WHERE amount BETWEEN 30 AND 34;
SELECT max(age) FROM orders_v WHERE amount > 54 AND ts > '2025-01-01 13:00';
SELECT DISTINCT age / 40 FROM orders_v WHERE age < 37;
SET client_min_messages = warning;
SELECT try('SELECT count(*) FROM orders_v WHERE amount > 54', 'SELECT count(*) FROM orders WHERE amount >= 50');
SELECT try('SELECT count(*) FROM orders_v WHERE amount BETWEEN 33 AND 36', 'SELECT count(*) FROM orders WHERE amount >= 30 AND amount < 40');
SELECT try('SELECT count(*) FROM orders_v WHERE amount BETWEEN 30 AND 34', 'SELECT 0 AS count');
SELECT try('SELECT age / 10 * 10 AS decade, count(*) FROM orders_v WHERE age >= 33 GROUP BY 1', 'SELECT age / 10 * 10 AS decade, count(*) FROM orders WHERE age >= 35 GROUP BY 1');
RESET pg_epsilon.cut_bins;
-- A wide bin: at both ends and in its middle the test is false
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE wide (amount float8);
INSERT INTO wide SELECT i FROM generate_series(1, 99) i;
SELECT dp.create_dataset('wide', 'wide', 1e4);
SELECT dp.add_attribute('wide', 'amount', 0, 100, 1);
SELECT dp.grant_budget('wide', 'regress_ann', 1e4);
SELECT dp.expose('wide', 'public.wide_v');
GRANT SELECT ON wide_v TO PUBLIC;
SET SESSION AUTHORIZATION regress_ann;
SELECT try('SELECT count(*) FROM wide_v WHERE amount BETWEEN 30 AND 40');
SELECT try('SELECT count(*) FROM wide_v WHERE amount = 33');
SELECT try('SELECT count(*) FROM wide_v WHERE abs(amount - 35) <= 5');
SELECT try('SELECT count(*) FROM wide_v WHERE CASE WHEN amount > 30 THEN amount < 40 ELSE false END');
SET pg_epsilon.cut_bins = middle;
SET client_min_messages = notice;
SELECT count(*) FROM wide_v WHERE amount BETWEEN 30 AND 40;
SET client_min_messages = warning;
SELECT try('SELECT count(*) FROM wide_v WHERE amount BETWEEN 30 AND 40', 'SELECT 0 AS count');
SELECT try('SELECT count(*) FROM wide_v WHERE amount BETWEEN 40 AND 60', 'SELECT 99 AS count');
RESET pg_epsilon.cut_bins;

-- Values outside the levels and NULL have cells of their own
SELECT try('SELECT channel, count(*) FROM orders_v GROUP BY channel', 'SELECT CASE channel WHEN ''fax'' THEN ''(other)'' ELSE channel END AS channel, count(*) FROM orders GROUP BY 1');
SELECT try('SELECT count(*) FROM orders_v WHERE channel IS NULL');
SELECT try('SELECT count(*) FROM orders_v WHERE channel IS NOT NULL');
SELECT try('SELECT count(*) FROM orders_v WHERE channel <> ''web''');
SELECT try('SELECT count(*) FROM orders_v WHERE channel IS DISTINCT FROM ''web''');
SELECT try('SELECT coalesce(channel, ''none'') AS c, count(*) FROM orders_v WHERE channel IS NULL OR channel = ''shop'' GROUP BY 1');
SELECT try('SELECT count(*) FROM orders_v WHERE channel = ''fax''');
SELECT try('SELECT count(*) FROM orders_v WHERE channel LIKE ''w%''');
-- what is not true goes to ELSE, NULL too
SELECT try('SELECT sum(CASE WHEN channel = ''web'' THEN items ELSE 1 END) AS s FROM orders_v');
SELECT try('SELECT count(*) FROM orders_v WHERE (channel = ''web'' AND returned) IS NOT TRUE');
SELECT try('SELECT length(channel) AS l, count(*) FROM orders_v GROUP BY 1');

-- Grouping sets are one request
SELECT try('SELECT region, returned, count(*), GROUPING(region) AS g, GROUPING(region, returned) AS h FROM orders_v GROUP BY CUBE (region, returned)');
SELECT try('SELECT region, count(*) FROM orders_v GROUP BY ROLLUP (region)');
SELECT try('SELECT region, returned, sum(items) AS s FROM orders_v GROUP BY GROUPING SETS ((region), (returned), ())');
SELECT try('SELECT extract(month FROM ts) || ''.'' AS m, extract(dow FROM ts) || ''.'' AS d, count(*) FROM orders_v GROUP BY GROUPING SETS (1, 2)');
SELECT try('SELECT region, count(*) FROM orders_v GROUP BY GROUPING SETS ((region), (region))');
SELECT try('SELECT region, count(*) FROM orders_v WHERE region <> ''west'' GROUP BY ROLLUP (region) HAVING count(*) > 151');

\t off
RESET SESSION AUTHORIZATION;
DROP OWNED BY regress_ann, regress_curator;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused(text);
DROP ROLE regress_curator, regress_ann, regress_bob;
