-- dp.advise: what a precision would cost.  Nothing is random: no row is read.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
CREATE ROLE regress_eve;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;
\pset null '(null)'
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE sales (region text, vip boolean, age int, amount int NOT NULL, price numeric, stars int);
SELECT dp.create_dataset('sales', 'sales', epsilon => 3);
SELECT dp.add_attribute('sales', 'region', '{north,south,west}'), dp.add_attribute('sales', 'vip'), dp.add_attribute('sales', 'age', 0, 80, 8);
SELECT dp.add_attribute('sales', 'amount', 0, 100, 10), dp.add_attribute('sales', 'price', 1000, 1100, 1), dp.add_attribute('sales', 'stars', '{1,2,3,4,5}');
SELECT dp.grant_budget('sales', 'regress_ann', 1, overcommit => true);

-- A page: each aggregate, all in one request, and ways to count.  An empty table tells the same.
SET SESSION AUTHORIZATION regress_ann;
SELECT * FROM dp.advise('sales', '{count(*),sum(amount),avg(amount)}', '{region,vip}');
SELECT * FROM dp.advise('sales', '{median(amount),"count(*) where (vip)","ratio(sum(amount), count(*))"}', guess => 20000);
-- Counts by three: the same relative error of every cell, every pair, or everything below an age
SELECT * FROM dp.advise('sales', '{count(*)}', '{region,vip,age}') WHERE question LIKE 'dp.measure%';
SELECT question, hint FROM dp.advise('sales', '{count(*)}', '{region,age,stars}', predicate => 'region <> ''west''', guess => 100) WHERE question LIKE 'dp.measure%';
-- An epsilon of the advice is enough, and one that is a hundredth less is not
SELECT a.aggregate, d.relative_error, q.stderr <= d.relative_error * a.value AS enough, less.stderr > d.relative_error * a.value AS least, q.rho = d.rho AS same_rho, d.fits = q.fits AS fits
  FROM (VALUES ('count(*)', 500.0), ('sum(amount)', 500 * 75.0), ('avg(amount)', 75.0), ('sum(price)', 500 * 1075.0), ('share', 1 / 6.0)) a (aggregate, value),
       dp.advise('sales', ARRAY[a.aggregate], '{region,vip}', guess => 500) d,
       dp.quote_aggregate('sales', ARRAY[a.aggregate], '{region,vip}', epsilon => d.epsilon, "rows" => 500) q,
       dp.quote_aggregate('sales', ARRAY[a.aggregate], '{region,vip}', epsilon => d.epsilon * 0.985, "rows" => 500) less
 WHERE d.question = a.aggregate ORDER BY 1, 2;
-- of all together the worst, and of counts the largest
SELECT d.relative_error, max(q.stderr / v.value) <= d.relative_error AS enough
  FROM dp.advise('sales', '{count(*),sum(amount),avg(amount)}', '{region}') d,
       dp.quote_aggregate('sales', '{count(*),sum(amount),avg(amount)}', '{region}', epsilon => d.epsilon) q
       JOIN (VALUES ('count(*)', 1000.0), ('sum(amount)', 75000.0), ('avg(amount)', 75.0)) v (aggregate, value) USING (aggregate)
 WHERE d.question = 'all of them' GROUP BY 1, d.epsilon ORDER BY 1;
SELECT d.question, q.max_stderr <= 50 AS enough, q.rho = d.rho AS same_rho
  FROM dp.advise('sales', '{count(*)}', '{region,age}') d, LATERAL dp.quote('sales', '{region,age}', replace(d.question, 'dp.measure, ', ''), epsilon => d.epsilon) q
 WHERE d.question LIKE 'dp.measure, %identity%';

-- Few rows: where the denominator would be lost in noise the cost is that at which it is not; beyond that nothing is enough
SELECT question, relative_error, epsilon, hint FROM dp.advise('sales', '{avg(amount),"corr(age, amount)"}', guess => 3);
SELECT question, relative_error, epsilon, fits, hint FROM dp.advise('sales', '{count(*)}', guess => 1e-9);
SELECT question, relative_error, epsilon, rho FROM dp.advise('sales', '{count(*)}', guess => 1e15);
-- Quantiles on a grid
SELECT * FROM dp.advise('sales', '{median(price)}', '{vip}');

-- Without a budget: what it costs, and not whether it fits
SET SESSION AUTHORIZATION regress_eve;
SELECT question, relative_error, epsilon, fits FROM dp.advise('sales', '{count(*)}');
SELECT refused($$SELECT dp.advise('sales', '{count(*)}', budget => 'regress_ann')$$);

-- Pure epsilon, and a unit
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE visits (person int, ward int, days int);
SELECT dp.create_dataset('visits', 'visits', epsilon => 3, unit => 'person', max_rows => 4, accounting => 'pure'), dp.grant_budget('visits', 'regress_ann', 1, overcommit => true);
SELECT dp.add_attribute('visits', 'ward', '{1,2,3,4}'), dp.add_attribute('visits', 'days', 0, 30, bins => 3);
SET SESSION AUTHORIZATION regress_ann;
SELECT * FROM dp.advise('visits', '{count(*),count(distinct person),avg(days)}', '{ward}');

-- Nothing was charged
SELECT count(*) FROM dp.charges;
SELECT refused($$SELECT dp.advise('sales', '{}')$$);
SELECT refused($$SELECT dp.advise('sales', '{sum(region)}')$$);
SELECT refused($$SELECT dp.advise('sales', '{count(*)}', '{nothing}')$$);
SELECT refused($$SELECT dp.advise('nothing', '{count(*)}')$$);
SELECT refused($$SELECT dp.advise('sales', '{count(*)}', predicate => 'age = 7')$$);
SELECT v, refused(format($$SELECT dp.advise('sales', '{count(*)}', guess => %s)$$, v)) FROM unnest(ARRAY['0', '-1', '''NaN''', '''Infinity''', 'NULL']) v;
SELECT refused($$SELECT dp.advise('sales', NULL)$$);

RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon;
DROP FUNCTION refused;
SET client_min_messages = error;
DROP OWNED BY regress_curator, regress_ann, regress_eve CASCADE;
DROP ROLE regress_curator, regress_ann, regress_eve;
