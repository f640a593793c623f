-- Sums, averages, quantiles and people over time: what dp.aggregate tells of one table, of one that grows.
CREATE EXTENSION pg_epsilon;
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator, regress_ann;
SET TimeZone = 'UTC';
SET DateStyle = 'ISO';
SET client_min_messages = warning;
\pset format unaligned
\pset tuples_only on
SET SESSION AUTHORIZATION regress_curator;
-- 1200 orders in 4 periods of 10 days, one of them without a price and some outside of all periods
CREATE TABLE orders (id int, shop text, price int, weight float8, paid boolean, at timestamptz);
INSERT INTO orders SELECT i, CASE WHEN i % 3 = 0 THEN 'a' ELSE 'b' END, CASE WHEN i <> 7 THEN i * 37 % 101 END, (i * 13 % 50) / 2.0, i % 5 > 0, timestamptz '2020-01-01' + i % 40 * interval '1 day'
  FROM generate_series(0, 1199) i;
INSERT INTO orders VALUES (-1, 'a', 50, 1, true, NULL), (-2, 'a', 50, 1, true, '2019-12-31 23:59:59'), (-3, 'b', 50, 1, true, '2020-02-10'), (-4, NULL, 50, 1, true, '2020-01-05'), (-5, 'a', 50, 1, true, 'infinity');
SELECT dp.create_dataset('orders', 'orders', 1e5);
SELECT dp.add_attribute('orders', 'shop', '{a,b}');
SELECT dp.add_attribute('orders', 'price', 0, 100, 20);
SELECT dp.add_attribute('orders', 'weight', 0, 25, 1);
SELECT dp.add_attribute('orders', 'paid');
SELECT dp.add_attribute('orders', 'id', 0, 1200, 1200, last => 'open');
SELECT dp.set_time('orders', 'at');
SELECT dp.grant_budget('orders', 'regress_ann', 9.9e4);
-- What plain SQL finds in the periods that a report is of
CREATE FUNCTION rows_of(report int, over text) RETURNS SETOF orders LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT o.* FROM orders o, LATERAL (SELECT (at::date - '2020-01-01') / 10 + 1 AS p) x WHERE at >= '2020-01-01' AND at < '2020-02-10' AND shop IS NOT NULL
      AND CASE rows_of.over WHEN 'totals' THEN p <= rows_of.report WHEN 'periods' THEN p = rows_of.report ELSE p IN (rows_of.report - 1, rows_of.report) END $$;
CREATE FUNCTION truth(report int, over text, shop text, aggregate text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE n float8; BEGIN EXECUTE format('SELECT (%s)::float8 FROM rows_of(%s, %L) WHERE shop = %L', aggregate, report, over, shop) INTO n; RETURN n; END $$;
CREATE FUNCTION all_rows() RETURNS SETOF orders LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$ SELECT * FROM orders WHERE at >= '2020-01-01' AND at < '2020-02-10' AND price IS NOT NULL $$;
CREATE FUNCTION all_of(report int, over text) RETURNS SETOF int LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT price FROM orders o, LATERAL (SELECT (at::date - '2020-01-01') / 10 + 1 AS p) x WHERE at >= '2020-01-01' AND at < '2020-02-10' AND p <= all_of.report AND (all_of.over = 'totals' OR p > all_of.report - 3) $$;
SET SESSION AUTHORIZATION regress_ann;

-- Totals, periods and windows, each against SQL: the sums and counts to the noise of a large budget, what follows from them to theirs
SELECT series_name, first_due, last_due FROM dp.create_series('orders', 'sales', '{shop}', over => 'totals + periods + windows(2)', start => '2020-01-01', period => '10 days', periods => 4, rho => 10000,
  aggregates => '{count(*),sum(price),avg(price),count(price),sum(weight) as kilos,avg(weight),stddev(price),count(*) where (paid),"ratio(sum(price), count(*))"}');
SELECT series, attributes, workload, aggregates, next_stderr > 0 FROM dp.series;
SELECT report, starts, over, query, label, aggregate FROM dp.report('sales', 1) WHERE over = 'totals' ORDER BY 4, 6;
SELECT aggregate, count(*) AS reports, count(*) FILTER (WHERE abs(estimate - t) > 7 * stderr + CASE aggregate WHEN 'kilos' THEN .02 WHEN 'avg(weight)' THEN 1e-3 ELSE 1e-6 END) AS wrong,
       count(*) FILTER (WHERE NOT (lower95 < estimate AND estimate < upper95)) AS odd, max(stderr) < CASE WHEN aggregate ~ '^sum|kilos' THEN 20 ELSE .5 END AS precise
  FROM dp.report('sales') r, LATERAL (SELECT truth(report, over, label->>'shop', CASE aggregate WHEN 'kilos' THEN 'sum(weight)' WHEN 'count(*) where (paid)' THEN 'count(*) filter (where paid)'
    WHEN 'ratio(sum(price), count(*))' THEN 'sum(price)::float8 / count(*)' ELSE aggregate END) AS t) x GROUP BY 1 ORDER BY 1;
-- all that a report is made of is stored once, and stays
CREATE TEMP TABLE kept AS SELECT * FROM dp.report('sales');
SET SESSION AUTHORIZATION regress_curator;
UPDATE orders SET price = 0 WHERE shop = 'a';
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM (SELECT * FROM dp.report('sales') EXCEPT SELECT * FROM kept) x;
BEGIN READ ONLY; SELECT count(*) FROM (SELECT * FROM dp.report('sales', 2) INTERSECT SELECT * FROM kept) x; COMMIT;
SET SESSION AUTHORIZATION regress_curator;
UPDATE orders SET price = CASE WHEN id <> 7 THEN id * 37 % 101 END WHERE shop = 'a';
SET SESSION AUTHORIZATION regress_ann;

-- Shares, quantiles, a predicate, no groups
SELECT count(*) FROM dp.create_series('orders', 'shares', '{shop}', start => '2020-01-01', period => '10 days', periods => 4, rho => 10000, predicate => 'paid', aggregates => '{share,count(*)}');
SELECT count(*), count(*) FILTER (WHERE abs(estimate - t) > 7 * stderr + 1e-9) AS wrong FROM dp.report('shares') r,
  LATERAL (SELECT (SELECT CASE aggregate WHEN 'share' THEN count(*)::float8 / (SELECT count(*) FROM rows_of(report, over) WHERE paid) ELSE count(*) END FROM rows_of(report, over) WHERE paid AND shop = label->>'shop') AS t) x;
SELECT count(*) FROM dp.create_series('orders', 'lines', '{shop}', start => '2020-01-01', period => '10 days', periods => 4, rho => 10000,
  aggregates => '{"regr_count(price, weight)","covar_pop(price, weight)","regr_intercept(price, weight)",var_pop(price)}');
SELECT aggregate, count(*), count(*) FILTER (WHERE abs(estimate - truth(report, over, label->>'shop', aggregate)) > 7 * stderr + 0.1) AS wrong, bool_and(stderr < 5) AS precise
  FROM dp.report('lines') GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM dp.create_series('orders', 'middle', '{}', over => 'totals + windows(3)', start => '2020-01-01', period => '10 days', periods => 4, rho => 10000, aggregates => '{median(price),"quantile(price, 0.9)",count(*)}');
-- within a cell of 5 of what SQL finds, all rows being of one group
SELECT aggregate, count(*), count(*) FILTER (WHERE abs(estimate - t) > CASE WHEN stderr IS NULL THEN 5 ELSE 7 * stderr END) AS wrong, count(*) FILTER (WHERE t NOT BETWEEN lower95 - 5 AND upper95 + 5) AS odd, bool_and(stderr IS NULL) AS no_stderr
  FROM dp.report('middle') r, LATERAL (SELECT CASE aggregate WHEN 'count(*)' THEN count(*) ELSE percentile_disc(CASE WHEN aggregate ~ '0.9' THEN .9 ELSE .5 END) WITHIN GROUP (ORDER BY price) END AS t FROM all_of(report, over) price) x GROUP BY 1 ORDER BY 1;

-- What a quote tells is what is charged and what reports tell; those that depend on rows are told for some
SELECT aggregate, round(stderr_first::numeric, 3) AS first, round(stderr_last::numeric, 3) AS last, round(stderr_worst::numeric, 3) AS worst, round(added_last::numeric, 3) AS added, round(split_last::numeric, 3) AS split, strategy, at_rows
  FROM dp.quote_series('orders', '{shop}', start => '2020-01-01', period => '10 days', periods => 4, rho => 1, aggregates => '{sum(price),avg(price),"quantile(price, 0.5)"}');
SELECT count(DISTINCT aggregate), bool_and(abs(stderr_last - stderr) < 1e-9 * stderr) FROM dp.quote_series('orders', '{shop}', over => 'totals + periods + windows(2)', start => '2020-01-01', period => '10 days', periods => 4, rho => 10000,
  aggregates => '{count(*),sum(price),avg(price),count(price),sum(weight) as kilos,avg(weight),stddev(price),count(*) where (paid),"ratio(sum(price), count(*))"}') q
  JOIN dp.report('sales', 4) USING (aggregate) WHERE over = 'totals' AND aggregate IN ('count(*)', 'sum(price)', 'kilos');
-- max_stderr bounds the worst report of the first aggregate
SELECT round(stderr_worst::numeric, 2), stderr_worst <= 40 FROM dp.quote_series('orders', '{shop}', over => 'totals + 2 * periods', start => '2020-01-01', period => '10 days', periods => 4, max_stderr => 40, aggregates => '{sum(price),avg(price)}') WHERE aggregate = 'sum(price)';
-- a total of sums is as good as measured directly: 4 totals at the optimum, times the bound of the price
SELECT round((q.stderr_last / c.stderr_last)::numeric, 6) FROM dp.quote_series('orders', '{}', start => '2020-01-01', period => '10 days', periods => 4, rho => 1, aggregates => '{sum(price)}') q,
  dp.quote_series('orders', '{}', 'total', start => '2020-01-01', period => '10 days', periods => 4, rho => 1) c;

-- Published: a column for each aggregate, by the name that it was given
SELECT dp.publish_series('sales', 'public.sales_by_shop');
SELECT dp.publish_series('sales', 'public.sales_by_shop');
SELECT string_agg(attname, ' ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'public.sales_by_shop'::regclass AND attnum > 0 AND attname !~ '_(stderr|lower95|upper95)$';
SELECT count(*) FROM public.sales_by_shop s JOIN dp.report('sales') r USING (report, over, query) WHERE r.estimate = CASE r.aggregate WHEN 'count(*)' THEN s.count WHEN 'kilos' THEN s.kilos WHEN 'avg(price)' THEN s.avg_price END
  AND r.stderr = CASE r.aggregate WHEN 'count(*)' THEN s.count_stderr WHEN 'kilos' THEN s.kilos_stderr WHEN 'avg(price)' THEN s.avg_price_stderr END;
SELECT obj_description('public.sales_by_shop'::regclass) ~ 'aggregates count\(\*\), sum\(price\), avg\(price\)';
DROP TABLE public.sales_by_shop;

-- An open end, and its prolonging
SELECT count(*) FROM dp.create_series('orders', 'open', '{shop}', start => '2020-01-01', period => '10 days', periods => 2, open_ended => true, rho => 10000, aggregates => '{sum(price),count(*)}');
SELECT count(*) FROM dp.prolong_series('open', 4);
SELECT count(*), count(*) FILTER (WHERE abs(estimate - truth(report, over, label->>'shop', aggregate)) > 7 * stderr) AS wrong, max(stderr) < 20 FROM dp.report('open');
SELECT count(*) FROM dp.create_series('orders', 'wide', '{shop,price,id}', start => '2020-01-01', period => '1 minute', periods => 100, open_ended => true, rho => 1, aggregates => '{count(*),sum(weight) where (paid)}');
SELECT count(*) FROM dp.prolong_series('wide', 1000);

-- Classes of cells, and a count of what is there where a condition holds
SELECT count(*) FROM dp.create_series('orders', 'classes', '{"price CELLS (0-9; 10-19)"}', start => '2020-01-01', period => '10 days', periods => 4, rho => 10000, aggregates => '{count(price) where (paid),sum(weight)}');
SELECT aggregate, label, abs(estimate - t) < 7 * stderr + .1 AS good FROM dp.report('classes', 4) r,
  LATERAL (SELECT CASE WHEN aggregate ~ '^count' THEN count(price) FILTER (WHERE paid) ELSE sum(weight) END AS t FROM all_rows() WHERE (price < 50) = (query = 1)) x ORDER BY 1, query;

-- What is paid for is what is measured: shares, sums and aggregates are in the line of the charge
SELECT request->>'aggregates', jsonb_array_length(request->'shares'), (SELECT sum(s::text::int8) FROM jsonb_array_elements(request->'shares') s) <= 1::int8 << 40 FROM dp.charges WHERE request->>'series' = 'open' AND rho > 0 ORDER BY charge LIMIT 1;
RESET SESSION AUTHORIZATION;
SELECT ok, message FROM dp.verify_ledger('orders');
CREATE PROCEDURE damaged(change text) LANGUAGE plpgsql AS $$ BEGIN
  EXECUTE format('UPDATE dp_ledger.series SET %s WHERE series = ''open''', change);
  DELETE FROM dp_ledger.series_period p USING dp_ledger.series s WHERE s.id = series_id AND series = 'open' AND p.period = 4;
  SET LOCAL SESSION AUTHORIZATION regress_ann;
  BEGIN
    PERFORM dp.report('open', 4);
    RAISE WARNING 'it is not seen: %', change;
  EXCEPTION WHEN data_corrupted OR invalid_parameter_value THEN
    RAISE WARNING '%: %', change, SQLSTATE;
  END;
  RESET SESSION AUTHORIZATION;
  ROLLBACK;
END $$;
CALL damaged('aggregates = ''{count(*),sum(price)}''');
CALL damaged('aggregates = ''{sum(weight),count(*)}''');
CALL damaged('shares = ARRAY[shares[1], shares[2] + 1]');
CALL damaged('shares = ARRAY[1::int8 << 40, 1]');
CALL damaged('shares = shares[1:1]');
CALL damaged('cells_per_unit = 2');
CALL damaged('aggregates[1] = NULL');
CALL damaged('never_null = ''{NULL}''');
DROP PROCEDURE damaged;
-- but an earlier version measured other parts, and its charge says so
BEGIN;
UPDATE dp_ledger.charge c SET request = regexp_replace(c.request, '"shares": \[(\d+), [^]]*\]', '"shares": [\1]') FROM dp_ledger.series s WHERE s.charge_id = c.id AND series = 'open';
UPDATE dp_ledger.series SET shares = shares[1:1] WHERE series = 'open';
SET LOCAL SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM dp.report('open');
ROLLBACK;
-- nor is what is stored told as something else
BEGIN;
UPDATE dp_ledger.series SET shares = ARRAY[shares[3], shares[2], shares[1]] WHERE series = 'open';
SET LOCAL SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM dp.report('open');
ROLLBACK;
\set VERBOSITY sqlstate
UPDATE dp_ledger.series SET shares = '{}' WHERE series = 'open';
UPDATE dp_ledger.series SET shares = ARRAY[shares] WHERE series = 'open';
\set VERBOSITY default
SET SESSION AUTHORIZATION regress_ann;

-- What a series cannot have, and what makes no sense
SELECT count(*) FROM dp.create_series('orders', 'x', '{shop}', start => '2020-01-01', period => '10 days', periods => 4, rho => 1, aggregates => '{median(weight)}');
SELECT count(*) FROM dp.create_series('orders', 'x', '{shop}', start => '2020-01-01', period => '10 days', periods => 4, rho => 1, aggregates => '{}');
SELECT count(*) FROM dp.create_series('orders', 'x', '{shop}', start => '2020-01-01', period => '10 days', periods => 4, rho => 1, aggregates => '{sum(shop)}');
SELECT count(*) FROM dp.create_series('orders', 'x', '{shop}', start => '2020-01-01', period => '10 days', periods => 4, rho => 1, cells_per_unit => 2);
SELECT count(*) FROM dp.create_series('orders', 'x', '{shop}', start => '2020-01-01', period => '10 days', periods => 4, max_stderr => 1, aggregates => '{avg(price)}');
SELECT count(*) FROM dp.quote_series('orders', '{shop}', start => '2020-01-01', period => '10 days', periods => 4, rho => 1, aggregates => '{avg(price)}', "rows" => 0);
SELECT count(*) FROM dp.create_series('orders', 'x', '{shop,price,id}', start => '2020-01-01', period => '1 minute', periods => 1024, rho => 1, aggregates => '{count(*),sum(weight) where (paid)}');

-- Units: at most max_rows of each count in a period, in the first max_periods; people once in each group of a period
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE stays (guest int, house text, nights int, at timestamp);
INSERT INTO stays SELECT guest, CASE WHEN (guest + stay) % 3 = 0 THEN 'a' ELSE 'b' END, 5, timestamp '2020-01-01' + period * interval '10 days' + stay * interval '1 hour'
  FROM generate_series(0, 59) guest, generate_series(0, 3) period, generate_series(1, 4) stay WHERE (guest * 7 + period * 5) % 6 >= stay;
INSERT INTO stays VALUES (1, 'a', 5, NULL), (NULL, 'a', 5, '2020-01-05'), (2, 'b', 5, '2019-12-31'), (3, 'a', 5, '2020-03-01');
SELECT dp.create_dataset('stays', 'stays', 1e5, unit => 'guest', max_rows => 2);
SELECT dp.add_attribute('stays', 'house', '{a,b}');
SELECT dp.add_attribute('stays', 'nights', 0, 10, 5);
SELECT dp.set_time('stays', 'at', append_only => true);
SELECT dp.grant_budget('stays', 'regress_ann', 9.9e4);
-- rows of a guest in a period, cut to 2, and the periods in which he counts
CREATE FUNCTION counted(most int) RETURNS TABLE (report int, guests numeric, stays numeric) LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT p, count(*), sum(n) FROM (SELECT (at::date - '2020-01-01') / 10 + 1 AS p, least(count(*), 2) AS n, row_number() OVER (PARTITION BY guest ORDER BY (at::date - '2020-01-01') / 10 + 1) AS place FROM stays
      WHERE guest IS NOT NULL AND at >= '2020-01-01' AND at < '2020-02-10' GROUP BY guest, 1) x WHERE place <= most GROUP BY 1 $$;
CREATE FUNCTION in_houses() RETURNS numeric LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT count(DISTINCT (guest, house)) FROM stays WHERE guest IS NOT NULL AND at >= '2020-01-01' AND at < '2020-01-11' $$;
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM dp.create_series('stays', 'x', '{}', start => '2020-01-01', period => '10 days', periods => 4, max_periods => 2, rho => 1, aggregates => '{count(distinct guest)}');
SELECT count(*) FROM dp.create_series('stays', 'x', '{}', start => '2020-01-01', period => '10 days', periods => 4, max_periods => 1, history => 2, rho => 1, aggregates => '{count(distinct guest)}');
SELECT count(*) FROM unnest('{1,2,4}'::int[]) p, dp.create_series('stays', 'stays ' || p, '{}', over => 'totals + periods', start => '2020-01-01', period => '10 days', periods => 4, max_periods => p, rho => 10000,
  aggregates => '{sum(nights),count(*),avg(nights)}');
SELECT p, count(*), count(*) FILTER (WHERE abs(r.estimate - CASE r.aggregate WHEN 'sum(nights)' THEN 5 * t.n WHEN 'count(*)' THEN t.n ELSE 5 END) > 7 * stderr + 1e-6) AS wrong, max(stderr) < 5 FROM unnest('{1,2,4}'::int[]) p, dp.report('stays ' || p) r,
  LATERAL (SELECT sum(stays) AS n FROM counted(p) c WHERE CASE r.over WHEN 'totals' THEN c.report <= r.report ELSE c.report = r.report END) t GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM dp.create_series('stays', 'guests', '{}', over => 'periods', start => '2020-01-01', period => '10 days', periods => 4, max_periods => 3, rho => 10000, aggregates => '{count(distinct guest)}');
SELECT bool_and(abs(estimate - guests) < 7 * stderr), max(stderr) < .1 FROM dp.report('guests') JOIN counted(3) USING (report);
-- in two houses at most; and in total, where a guest counts in one period
SELECT count(*) FROM dp.create_series('stays', 'houses', '{house}', over => 'periods', start => '2020-01-01', period => '10 days', periods => 4, max_periods => 4, rho => 10000, aggregates => '{count(distinct unit)}', cells_per_unit => 2);
SELECT abs(sum(estimate) - in_houses()) < 7 * sqrt(sum(stderr ^ 2)), max(stderr) < .1 FROM dp.report('houses', 1);
SELECT count(*) FROM dp.create_series('stays', 'new guests', '{}', start => '2020-01-01', period => '10 days', periods => 4, max_periods => 1, rho => 10000, aggregates => '{count(distinct guest)}');
SELECT bool_and(abs(estimate - (SELECT sum(guests) FROM counted(1) c WHERE c.report <= r.report)) < 7 * stderr), max(stderr) < .1 FROM dp.report('new guests') r;
-- with a history the cut is of what is read
SELECT count(*) FROM dp.create_series('stays', 'last two', '{}', over => 'windows(2)', start => '2020-01-01', period => '10 days', periods => 4, max_periods => 2, history => 2, rho => 10000, aggregates => '{sum(nights)}');
SELECT bool_and(abs(estimate - 5 * (SELECT sum(stays) FROM counted(4) c WHERE c.report IN (r.report - 1, r.report))) < 7 * stderr), max(stderr) < 2 FROM dp.report('last two') r;
-- what is stored stays readable when the data has a new version
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.new_version('stays');
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM dp.report('last two');
SELECT dp.report('houses', 2);
RESET SESSION AUTHORIZATION;
SELECT ok, message FROM dp.verify_ledger('stays');

DROP OWNED BY regress_ann, regress_curator;
DROP EXTENSION pg_epsilon;
DROP ROLE regress_curator, regress_ann;
