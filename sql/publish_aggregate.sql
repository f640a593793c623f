-- Releases of aggregates, read again: dp.publish of them, and dp.aggregate with reuse.  Numbers are exact at this cost, and rounded.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
CREATE ROLE regress_bob;
CREATE ROLE regress_eve;
GRANT CREATE ON SCHEMA public TO regress_curator, regress_ann, regress_bob, regress_eve;
CREATE FUNCTION columns_of(target text) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(quote_ident(attname) || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attnum)
      FROM pg_attribute WHERE attrelid = target::regclass AND attnum > 0 AND NOT attisdropped $$;
-- Whether a request is answered from a release.
CREATE FUNCTION reused(request text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    before bigint = (SELECT count(*) FROM dp.charges); told text; release bigint;
BEGIN
    EXECUTE 'SELECT max(release) FROM ' || request INTO release;
    RETURN CASE WHEN (SELECT count(*) FROM dp.charges) = before THEN 'from release ' || release ELSE 'charged' END;
END $$;
-- A figure is the truth, within seven of its standard errors and 5 % of it.
CREATE FUNCTION near(estimate float8, stderr float8, truth float8) RETURNS boolean LANGUAGE sql AS $$
    SELECT abs(estimate - truth) <= 7 * stderr AND stderr < greatest(abs(truth), 5) / 20 $$;
SET client_min_messages = warning;
\pset null '(null)'
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE sales (id int, region text, vip boolean, age int, amount int NOT NULL, "Net ""price" numeric, fee int);
INSERT INTO sales SELECT i, CASE i % 4 WHEN 0 THEN 'north' WHEN 1 THEN 'south' WHEN 2 THEN 'over there' END, i % 3 = 0, i % 40, (i * 37) % 101, (i % 11) / 10.0, i % 1000
  FROM generate_series(1, 2000) i;
SELECT dp.create_dataset('sales', 'sales', epsilon => 1e5);
SELECT dp.add_attribute('sales', 'region', '{north,south}', outside => 'other', nulls => 'cell'), dp.add_attribute('sales', 'vip'), dp.add_attribute('sales', 'age', 0, 40, 2);
SELECT dp.add_attribute('sales', 'amount', 0, 101, 101, last => 'open'), dp.add_attribute('sales', 'Net "price', 0, 1, 10), dp.add_attribute('sales', 'fee', 0, 1000, 1);
SELECT dp.grant_budget('sales', 'regress_ann', 1e5, overcommit => true), dp.grant_budget('sales', 'regress_bob', 1e5, overcommit => true);
CREATE VIEW sums AS SELECT r.region, CASE WHEN s.region IS NULL THEN 'null' WHEN r.region IS NULL THEN 'other' END AS cell, s.age / 20 * 20 AS age,
       count(*), sum(amount), avg(amount), percentile_disc(0.5) WITHIN GROUP (ORDER BY amount) AS median
  FROM sales s LEFT JOIN (VALUES ('north'), ('south')) r (region) USING (region) GROUP BY 1, 2, 3;
CREATE VIEW by_vip AS SELECT vip, count(*), count(*) FILTER (WHERE vip) AS vips, avg(amount) FILTER (WHERE vip) AS of_vips, sum("Net ""price") AS price,
       coalesce(sum(amount) FILTER (WHERE vip), 0) / count(*)::numeric AS ratio, count(*) / 2000.0 AS share, stddev_samp(amount) AS deviation FROM sales GROUP BY 1;
CREATE VIEW by_vip_avg AS SELECT vip, avg(amount) FROM sales GROUP BY 1;
GRANT SELECT ON sums, by_vip, by_vip_avg TO regress_ann;

SET SESSION AUTHORIZATION regress_ann;

-- The columns: those of the groups, then of each aggregate; a quantile has no standard error
SELECT max(release) AS one FROM dp.aggregate('sales', '{count(*),sum(amount),avg(amount),median(amount)}', '{region,age}', rho => 5000) \gset
SELECT refused($$SELECT dp.publish(1, 'by_region')$$);
SELECT columns_of('by_region');
SELECT query, t.region, region_cell, age_from, age_to, round(t.count) AS count, near(t.count, count_stderr, s.count) AS counts, near(sum_amount, sum_amount_stderr, s.sum) AS sums,
       near(avg_amount, avg_amount_stderr, s.avg) AS averages, (avg_amount_upper95 - avg_amount) / avg_amount_stderr BETWEEN 1.95 AND 1.97 AS interval,
       quantile_amount_0_5 BETWEEN s.median - 1 AND s.median + 2 AS medians, s.median BETWEEN quantile_amount_0_5_lower95 - 1 AND quantile_amount_0_5_upper95 + 1 AS covered
  FROM by_region t JOIN sums s ON region_cell = coalesce(s.cell, 'value') AND t.region IS NOT DISTINCT FROM s.region AND age_from = s.age ORDER BY query;
SELECT regexp_replace(obj_description('by_region'::regclass), '\d{4}-\d\d-\d\d', 'DATE');
-- the table has the numbers of the replay
SELECT bool_and(t.count = a.estimate AND t.count_stderr = a.stderr AND t.count_lower95 = a.lower95 AND t.count_upper95 = a.upper95) AS same, count(*)
  FROM by_region t JOIN (SELECT row_number() OVER () AS query, * FROM dp.aggregate('sales', '{count(*),sum(amount),avg(amount),median(amount)}', '{region,age}', rho => 5000)
                          WHERE aggregate = 'count(*)') a USING (query);

-- Default names: conditions are numbered, names are cut and made unique, attributes yield
SELECT max(release) AS two FROM dp.aggregate('sales', ARRAY['count(*)', 'count(*) where (vip) as vips', 'sum(amount) where (age < 20)', 'avg(amount) where (vip)', 'count("Net ""price")',
    'count("Net ""price") where (vip)', 'sum("Net ""price")', 'ratio(sum(amount) where (vip), count(*))', 'corr(amount, "Net ""price")', 'share', 'count(*)', 'stddev(amount)'], '{vip}', rho => 5000) \gset
SELECT dp.publish(:two, 'named');
SELECT replace(columns_of('named'), ' double precision', '');
SELECT t.vip, round(t.count) AS count, near(t.count, count_stderr, s.count) AS counts, near(count_where_1, count_where_1_stderr, s.vips) AS vips, CASE WHEN t.vip THEN round(avg_amount_where_1) END AS of_vips,
       near("count_Net ""price_where_3", "count_Net ""price_where_3_stderr", s.vips) AS prices, near("sum_Net ""price", "sum_Net ""price_stderr", s.price) AS price,
       abs(ratio_sum_amount_where_1_count - s.ratio) <= 7 * ratio_sum_amount_where_1_count_stderr AS ratio, near(t.share, share_stderr, s.share) AS share, near(stddev_amount, stddev_amount_stderr, s.deviation) AS deviation
  FROM named t JOIN by_vip s USING (vip) ORDER BY query;
-- in an order of one's own
SELECT max(release) AS three FROM dp.aggregate('sales', '{count(*),sum(amount),median(age)}', rho => 5000) \gset
SELECT dp.publish(:three, 'total', names => '{n,revenue,"Median age"}');
SELECT columns_of('total');
SELECT round(n) AS n, near(revenue, revenue_stderr, (SELECT sum(sum) FROM sums)) AS revenue FROM total;
-- groups of a workload, and an attribute with a name that is taken
SELECT max(release) AS four FROM dp.aggregate('sales', '{count(*),avg(amount)}', '{vip,age}', 'region = ''north''', 'identity(vip) + prefix(age) + total', rho => 5000) \gset
SELECT dp.publish(:four, 'several', names => '{vip,age_from}');
SELECT replace(columns_of('several'), ' double precision', '');
SELECT query, vip_2, vip_cell, age_from_2, age_to, age_cell, round(vip) AS count FROM several ORDER BY query;
SELECT regexp_replace(obj_description('several'::regclass), '\d{4}-\d\d-\d\d', 'DATE');

-- quantiles on a grid have an estimate alone, and are not reused: no errors can be compared
SELECT max(release) AS grid FROM dp.aggregate('sales', '{median(fee),"quantile(fee, 0.9)"}', '{vip}', epsilon => 100) \gset
SELECT dp.publish(:grid, 'on_grid');
SELECT replace(columns_of('on_grid'), ' double precision', '');
SELECT vip, abs(quantile_fee_0_5 - 500) < 20 AS median, abs(quantile_fee_0_9 - 900) < 20 AS ninth FROM on_grid ORDER BY query;
SELECT reused($$dp.aggregate('sales', '{median(fee)}', '{vip}', epsilon => 90, reuse => true)$$);

-- Replacing: the same columns, and others
CREATE VIEW on_total AS SELECT n FROM total;
SELECT dp.publish(:three, 'total', true, names => '{n,revenue,"Median age"}');
SELECT round(n) AS n FROM on_total;
SELECT refused($$SELECT dp.publish(3, 'total', true)$$);
DROP VIEW on_total;
SELECT dp.publish(:three, 'total', true);
SELECT columns_of('total');
SELECT refused($$SELECT dp.publish(1, 'by_region')$$);

-- What does not go together
SELECT refused($$SELECT dp.publish(1, 'x', workload => 'total')$$);
SELECT refused($$SELECT dp.publish(1, 'x', names => '{a,b}')$$);
SELECT refused($$SELECT dp.publish(1, 'x', names => '{a,b,c,a}')$$);
SELECT refused($$SELECT dp.publish(1, 'x', names => '{a,b,a_stderr,c}')$$);
SELECT refused($$SELECT dp.publish(1, 'x', names => '{query,b,c,d}')$$);
SELECT refused($$SELECT dp.publish(1, 'x', names => '{a,b,c,""}')$$);
SELECT refused($$SELECT dp.publish(1, 'x', names => ARRAY['a', 'b', 'c', repeat('x', 56)])$$);
SELECT dp.publish(:one, 'x', names => ARRAY['a', 'b', 'c', repeat('x', 55)]);
SELECT refused($$SELECT dp.publish(1, 'y', names => ARRAY['a', 'b', 'c', NULL])$$);
SELECT max(release) AS counts FROM dp.histogram('sales', 'vip', rho => 5000) \gset
SELECT refused($$SELECT dp.publish(7, 'y', names => '{a}')$$);
SELECT refused($$SELECT * FROM dp.answer(1, 'total')$$);
SELECT refused($$SELECT * FROM dp.cells(1)$$);
SELECT refused($$SELECT * FROM dp.combine(ARRAY[1, 7], 'total')$$);
SELECT refused($$SELECT * FROM dp.quantile(1, 'age', '{0.5}')$$);
SELECT refused($$SELECT dp.publish(999999, 'y')$$);

-- Who may not replay it: the release is as if it did not exist
SET SESSION AUTHORIZATION regress_bob;
SELECT refused($$SELECT dp.publish(1, 'y')$$);
SET SESSION AUTHORIZATION regress_eve;
SELECT refused($$SELECT dp.publish(1, 'y')$$);
-- the owner may
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.publish(:one, 'of_the_owner');
-- and another budget that paid for the same
SET SESSION AUTHORIZATION regress_bob;
SELECT max(release) = :one AS same FROM dp.aggregate('sales', '{count(*),sum(amount),avg(amount),median(amount)}', '{region,age}', rho => 5000);
SELECT dp.publish(:one, 'of_bob');

-- Units: sums of the rows that count, people counted once in each group
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE visits AS SELECT u AS person, 1 + (u + v) % 4 AS ward, (u * 7 + v) % 31 AS days FROM generate_series(1, 200) u, generate_series(1, 5) v WHERE v <= 1 + u % 5;
SELECT dp.create_dataset('visits', 'visits', epsilon => 1e5, unit => 'person', max_rows => 5), dp.grant_budget('visits', 'regress_ann', epsilon => 1e5);
SELECT dp.add_attribute('visits', 'ward', '{1,2,3,4}'), dp.add_attribute('visits', 'days', 0, 30, bins => 3);
CREATE VIEW by_ward AS SELECT ward, sum(days) FROM visits GROUP BY 1;
GRANT SELECT ON by_ward TO regress_ann;
SELECT ward, count(*), count(DISTINCT person), sum(days) FROM visits GROUP BY ROLLUP (ward) ORDER BY 1;
SET SESSION AUTHORIZATION regress_ann;
SELECT max(release) AS units FROM dp.aggregate('visits', '{count(*),count(distinct person),sum(days)}', '{ward}', workload => 'identity + total', cells_per_unit => 5, rho => 5000) \gset
SELECT dp.publish(:units, 'people');
SELECT columns_of('people');
SELECT query, ward, ward_cell, round(count) AS count, round(count_units) AS people, near(sum_days, sum_days_stderr, coalesce(sum, 8999)) AS days FROM people LEFT JOIN by_ward USING (ward) ORDER BY query;
SELECT regexp_replace(obj_description('people'::regclass), '\d{4}-\d\d-\d\d', 'DATE');

-- Reuse: the same groups and rows, all the aggregates, and no more noise in any of their sums
SELECT reused($$dp.aggregate('sales', '{count(*),sum(amount)}', '{vip}', rho => 200)$$);
SELECT reused($$dp.aggregate('sales', '{count(*),sum(amount)}', '{vip}', rho => 100)$$);
SELECT reused($$dp.aggregate('sales', '{count(*),sum(amount)}', '{vip}', rho => 50, reuse => true)$$);
SELECT reused($$dp.aggregate('sales', '{sum(amount),count(*) AS n}', '{vip}', rho => 50, reuse => true)$$);
SELECT reused($$dp.aggregate('sales', '{count(*)}', '{vip}', max_stderr => 1, reuse => true)$$);
SELECT label, aggregate, near(estimate, stderr, s.count), release = :two AS reused
  FROM dp.aggregate('sales', '{count(*) AS n}', '{vip}', rho => 1, reuse => true) JOIN by_vip s ON s.vip = (label->>'vip')::boolean;
-- the quote says so
SELECT reuse, bool_and(replay) AS free FROM (VALUES (true), (false)) v (reuse), LATERAL dp.quote_aggregate('sales', '{sum(amount)}', '{vip}', rho => 1, reuse => v.reuse) GROUP BY 1 ORDER BY 1;
-- a share of the cost is more than the release had for this sum
SELECT reused($$dp.aggregate('sales', '{count(*),avg(amount)}', '{age}', rho => 10)$$);
SELECT reused($$dp.aggregate('sales', '{count(*)}', '{age}', rho => 9, reuse => true)$$);
SELECT reused($$dp.aggregate('sales', '{count(*)}', '{age}', rho => 1, reuse => true)$$);
-- nothing of other aggregates, groups, rows, accounting, or after fresh
SELECT reused($$dp.aggregate('sales', '{avg(amount)}', '{vip}', rho => 1, reuse => true)$$);
SELECT reused($$dp.aggregate('sales', '{sum(amount)}', '{age}', rho => 1, reuse => true)$$);
SELECT reused($$dp.aggregate('sales', '{sum(amount)}', '{vip}', workload => 'total', rho => 1, reuse => true)$$);
SELECT reused($$dp.aggregate('sales', '{sum(amount)}', '{vip}', 'age < 20', rho => 1, reuse => true)$$);
SELECT reused($$dp.aggregate('sales', '{"sum(amount) where (age >= 20)"}', '{vip}', rho => 1, reuse => true)$$);
SELECT refused($$SELECT dp.aggregate('sales', '{sum(amount)}', '{vip}', rho => 1, reuse => true, fresh => true)$$);
-- ratios, quantiles, and conditions
SELECT reused($$dp.aggregate('sales', '{"ratio(sum(amount) where (age < 20), count(*))",median(amount),"count(*) where (vip)",share,"corr(age,amount)"}', '{region}', rho => 200)$$);
SELECT reused($$dp.aggregate('sales', '{median(amount)}', '{region}', rho => 2, reuse => true)$$),
       reused($$dp.aggregate('sales', '{"ratio(sum(amount) where (age < 20.0), count(*))"}', '{region}', rho => 2, reuse => true)$$),
       reused($$dp.aggregate('sales', '{"count(*) where (vip)",share}', '{region}', rho => 2, reuse => true)$$),
       reused($$dp.aggregate('sales', '{"corr(age,amount)"}', '{region}', rho => 2, reuse => true)$$);
-- of units: the same attributes are read, and as many rows and cells of each count
SELECT reused($$dp.aggregate('visits', '{count(*),count(distinct unit),sum(days)}', '{ward}', rho => 100)$$);
SELECT reused($$dp.aggregate('visits', '{sum(days),count(distinct person)}', '{ward}', rho => 1, reuse => true)$$),
       reused($$dp.aggregate('visits', '{count(*),count(distinct unit)}', '{ward}', rho => 1, reuse => true)$$),
       reused($$dp.aggregate('visits', '{sum(days)}', '{ward}', cells_per_unit => 4, rho => 1, reuse => true)$$),
       reused($$dp.aggregate('visits', '{sum(days)}', '{ward}', rows_per_unit => 4, rho => 1, reuse => true)$$);
-- another budget: what it has not paid for is not known to it, and whether it is there shows nowhere
SET SESSION AUTHORIZATION regress_bob;
SELECT reused($$dp.aggregate('sales', '{count(*),sum(amount)}', '{vip}', rho => 50, reuse => true)$$);
SELECT reused($$dp.aggregate('sales', '{count(*),sum(amount)}', '{vip}', rho => 40, reuse => true)$$);
SET SESSION AUTHORIZATION regress_eve;
SELECT refused($$SELECT dp.aggregate('sales', '{count(*),sum(amount)}', '{vip}', rho => 50, reuse => true)$$);
SET SESSION AUTHORIZATION regress_ann;

-- A column that is no longer NOT NULL: the release is read as it was measured, and the request is another one
SELECT max(release) AS before FROM dp.aggregate('sales', '{count(*),avg(amount)}', '{vip}', rho => 1000) \gset
SET SESSION AUTHORIZATION regress_curator;
ALTER TABLE sales ALTER amount DROP NOT NULL;
SET SESSION AUTHORIZATION regress_ann;
SELECT dp.publish(:before, 'before');
SELECT near(avg_amount, avg_amount_stderr, avg) FROM before JOIN by_vip_avg USING (vip);
SELECT max(release) > :before AS another FROM dp.aggregate('sales', '{count(*),avg(amount)}', '{vip}', rho => 1000);

-- An attribute that is declared anew: the release cannot be told any more
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.drop_dataset('sales'), dp.create_dataset('sales', 'sales', epsilon => 1e5), dp.add_attribute('sales', 'age', 0, 40, 4);
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT dp.publish(1, 'by_region', true)$$);
-- one that was expired
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.expire_release(:units);
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT dp.publish(8, 'people', true)$$);

-- Memory that others have used before is used by requests: a session that makes tables has much of it
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE fees AS SELECT vip, fee FROM sales;
SELECT dp.create_dataset('fees', 'fees', epsilon => 1e5), dp.add_attribute('fees', 'vip'), dp.add_attribute('fees', 'fee', 0, 1000, 1);
SELECT dp.grant_budget('fees', 'regress_ann', epsilon => 9e4);
SET SESSION AUTHORIZATION regress_ann;
SET client_min_messages = warning;
CREATE TEMP TABLE wrong (median float8);
DO $$
DECLARE
    of_release bigint;
BEGIN
    FOR i IN 1 .. 150 LOOP
        SELECT max(release) INTO of_release FROM dp.aggregate('fees', '{median(fee)}', '{vip}', epsilon => 90, fresh => true);
        PERFORM dp.publish(of_release, 'pg_temp.again');
        INSERT INTO wrong SELECT quantile_fee_0_5 FROM pg_temp.again WHERE abs(quantile_fee_0_5 - 500) >= 20;
        DROP TABLE pg_temp.again;
    END LOOP;
END $$;
SELECT count(*) AS wrong FROM wrong;

RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon;
DROP FUNCTION refused, columns_of, reused, near;
SET client_min_messages = error;
DROP OWNED BY regress_curator, regress_ann, regress_bob, regress_eve CASCADE;
DROP ROLE regress_curator, regress_ann, regress_bob, regress_eve;
