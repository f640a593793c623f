-- Aggregates: sums, averages, people and what follows from them.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;

SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE sales (id int, region text, vip boolean NOT NULL, amount int NOT NULL, price float8, rating int, big numeric);
INSERT INTO sales SELECT i, CASE i % 3 WHEN 0 THEN 'north' WHEN 1 THEN 'south' ELSE 'west' END, i % 4 = 0, (i * 37) % 101,
       CASE WHEN i % 10 = 0 THEN NULL ELSE 1000 + ((i * 13) % 97) + ((i * 37) % 101) * 0.5 END, CASE WHEN i % 7 = 0 THEN NULL ELSE i % 5 END,
       CASE i % 50 WHEN 1 THEN ('1' || repeat('0', 1000))::numeric WHEN 2 THEN 'NaN' ELSE i / 7.0 END
  FROM generate_series(1, 3000) i;
INSERT INTO sales VALUES (4000, 'east', false, 5, 1, 1, 1), (4001, 'north', true, -50, 'Infinity', 9, 0), (4002, 'north', true, 500, 'NaN', 2, 100);
SELECT dp.create_dataset('sales', 'sales', epsilon => 1e5);
SELECT dp.add_attribute('sales', 'region', '{north,south,west}'), dp.add_attribute('sales', 'vip');
SELECT dp.add_attribute('sales', 'amount', 0, 100, bins => 10);
SELECT dp.add_attribute('sales', 'price', 1000, 1200, bins => 20, outside => 'drop');
SELECT dp.add_attribute('sales', 'rating', '{0,1,2,3,4}', nulls => 'cell');
SELECT dp.add_attribute('sales', 'big', 0, 500, bins => 5);
SELECT dp.grant_budget('sales', 'regress_ann', epsilon => 1e5);

-- What the declarations make of the rows.
CREATE VIEW clean AS SELECT id, region, vip, greatest(least(amount, 100), 0) AS amount,
       CASE WHEN price BETWEEN 1000 AND 1200 THEN price END AS price, rating,
       CASE WHEN big <> 'NaN' THEN greatest(least(big, 500), 0) END AS big
  FROM sales WHERE region IN ('north', 'south', 'west');
GRANT SELECT ON clean TO regress_ann;

SET SESSION AUTHORIZATION regress_ann;
CREATE TEMP TABLE got AS SELECT label->>'region' AS region, aggregate, estimate, stderr, lower95, upper95
  FROM dp.aggregate('sales', '{count(*),sum(amount),avg(amount),count(price),sum(price),avg(price),var(price),stddev(amount),"corr(amount, price)","regr_slope(price, amount)",sum(big),avg(big),share,"ratio(sum(price), sum(amount))",count(*) where (vip) as vips}', '{region}', rho => 1000);
CREATE TEMP TABLE truth AS
SELECT region, a.aggregate, a.value FROM (SELECT region, count(*) n, sum(amount) sa, avg(amount) aa, count(price) np, sum(price) sp, avg(price) ap,
         var_samp(price) vp, stddev_samp(amount) da, corr(amount, price) c, regr_slope(price, amount) s, sum(big) sb, avg(big) ab,
         count(*)::float8 / sum(count(*)) OVER () sh, sum(price) / sum(amount) r, count(*) FILTER (WHERE vip) v FROM clean GROUP BY region) t,
  LATERAL (VALUES ('count(*)', n::float8), ('sum(amount)', sa), ('avg(amount)', aa), ('count(price)', np), ('sum(price)', sp), ('avg(price)', ap), ('var(price)', vp),
         ('stddev(amount)', da), ('corr(amount, price)', c), ('regr_slope(price, amount)', s), ('sum(big)', sb), ('avg(big)', ab), ('share', sh),
         ('ratio(sum(price), sum(amount))', r), ('vips', v)) a (aggregate, value);
SELECT g.region, g.aggregate, round(value::numeric, 4) AS truth, round(estimate::numeric, 4) AS estimate, round(stderr::numeric, 6) AS stderr,
       abs(estimate - value) < 7 * stderr + abs(value) * 1e-6 AS ok
  FROM got g JOIN truth t USING (region, aggregate) ORDER BY 1, 2;
SELECT label, aggregate, round(estimate::numeric, 2), stderr, lower95, upper95 FROM dp.aggregate('sales', '{median(amount),"quantile(amount, 0.9)",count(*)}', '{vip}', rho => 1000);
SELECT label, aggregate, round(estimate::numeric, 2) e, round(stderr::numeric, 4) s FROM dp.aggregate('sales', '{count(*),sum(amount)}', '{region,vip}', workload => 'identity(region)*identity(vip) + identity(region) + total', rho => 1000);
SELECT * FROM dp.quote_aggregate('sales', '{count(*),sum(amount),avg(amount),median(amount)}', '{vip}', rho => 0.01);
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE visits AS SELECT u AS person, 1 + (u + v) % 4 AS ward, (u * 7 + v) % 31 AS days FROM generate_series(1, 200) u, generate_series(1, 5) v WHERE v <= 1 + u % 5;
SELECT dp.create_dataset('visits', 'visits', epsilon => 1e5, unit => 'person', max_rows => 3), dp.grant_budget('visits', 'regress_ann', epsilon => 1e5);
SELECT dp.add_attribute('visits', 'ward', '{1,2,3,4}'), dp.add_attribute('visits', 'days', 0, 30, bins => 3);
SELECT ward, count(*), count(distinct person) FROM visits GROUP BY 1 ORDER BY 1;
SELECT count(distinct person) FROM visits;
SET SESSION AUTHORIZATION regress_ann;
SELECT label, aggregate, round(estimate::numeric, 2) e, round(stderr::numeric, 4) s FROM dp.aggregate('visits', '{count(*),count(distinct unit),avg(days)}', '{ward}', workload => 'identity + total', rho => 1000);
SELECT label, aggregate, round(estimate::numeric, 2) e, round(stderr::numeric, 4) s FROM dp.aggregate('visits', '{count(distinct person)}', '{ward}', cells_per_unit => 5, rho => 1000);
SELECT * FROM dp.charges ORDER BY 1;
