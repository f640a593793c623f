-- pg_epsilon.reuse = only: what is paid for is answered, all else is refused, and nothing is charged.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator LOGIN;
SELECT current_user AS super \gset
CREATE ROLE regress_ann LOGIN;
CREATE ROLE regress_bob;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET SESSION AUTHORIZATION regress_curator;
SET client_min_messages = warning;
CREATE TABLE sales AS SELECT i / 3 AS client, (ARRAY['north', 'south', 'west'])[i % 3 + 1] AS region, i % 5 AS grade, date '2024-01-01' + i % 60 AS day FROM generate_series(1, 3000) i;
ALTER TABLE sales ALTER grade SET NOT NULL;
SELECT dp.create_dataset('sales', 'sales', 1000);
SELECT dp.add_attribute('sales', 'region', '{north,south,west}'), dp.add_attribute('sales', 'grade', 0, 5, bins => 5, last => 'open'), dp.add_attribute('sales', 'client', open => true);
SELECT dp.add_attribute('sales', 'day', date '2024-01-01', date '2024-03-01', bins => 60), dp.set_time('sales', 'day');
SELECT dp.grant_budget('sales', role, 300) FROM unnest('{regress_ann,regress_bob}'::text[]) role;
SELECT dp.expose('sales', 'shown', epsilon => 1);
GRANT SELECT ON shown TO regress_ann, regress_bob;
SET SESSION AUTHORIZATION regress_ann;
SET client_min_messages = warning;
SET pg_epsilon.reuse = 'only';

-- nothing is paid for yet
SELECT region, count(*) FROM shown GROUP BY region;
SELECT refused(request) FROM unnest(ARRAY[
  $$SELECT * FROM dp.histogram('sales', '{region}', epsilon => 1)$$,
  $$SELECT * FROM dp.histogram('sales', '{region}', epsilon => 1, fresh => true)$$,
  $$SELECT * FROM dp.measure('sales', '{region}', epsilon => 1)$$,
  $$SELECT * FROM dp.aggregate('sales', '{sum(grade)}', '{region}', epsilon => 1)$$,
  $$SELECT * FROM dp.aggregate('sales', '{sum(grade)}', '{region}', epsilon => 1, fresh => true)$$,
  $$SELECT * FROM dp.fit('sales', 'linear_regression', 'grade', '{region}', epsilon => 1)$$,
  $$SELECT * FROM dp.keys('sales', 'client', epsilon => 1)$$,
  $$SELECT * FROM dp.create_series('sales', 'daily', '{region}', start => '2024-01-01', period => '1 day', periods => 4, epsilon => 1)$$]) request;
SELECT count(*) FROM dp.charges;
-- a free question stays free, and a quote too
SELECT max(region) FROM shown;
SELECT rho > 0 AS quoted FROM dp.quote('sales', '{region}', epsilon => 1);
-- more than there is: what is said is that it is not known
SELECT refused($$SELECT * FROM dp.histogram('sales', '{region}', epsilon => 999)$$);

-- once paid, what follows from it
SET pg_epsilon.reuse = on;
CREATE TEMP TABLE paid AS SELECT region, grade, count(*), avg(grade) FROM shown GROUP BY region, grade;
SELECT FROM dp.create_series('sales', 'weekly', '{region}', start => '2024-01-01', period => '7 days', periods => 2, epsilon => 1);
SELECT count(*) AS before FROM dp.charges WHERE rho > 0 \gset
SET pg_epsilon.reuse = 'ONLY';
SELECT count(*) = 15 AND bool_and((s.count, s.avg) IS NOT DISTINCT FROM (p.count, p.avg)) AS same FROM (SELECT region, grade, count(*), avg(grade) FROM shown GROUP BY region, grade) s JOIN paid p USING (region, grade);
-- a click on a filter, coarser groups and fewer aggregates, at any price and any precision; no function has to be told to look for them
SELECT count(*) = 5 AND bool_and(s.count = p.count) AS same FROM (SELECT region, grade, count(*) FROM shown WHERE region = 'west' GROUP BY region, grade) s JOIN paid p USING (region, grade);
SET pg_epsilon.epsilon = .2;
SELECT region, abs(count(*) - 1000) < 150 AS near FROM shown GROUP BY region;
SELECT count(DISTINCT release) AS releases, bool_and(abs(estimate - 1000) < 150) AS near FROM dp.histogram('sales', '{region}', epsilon => .2);
SELECT count(DISTINCT release) AS releases FROM dp.aggregate('sales', '{sum(grade),count(*)}', '{region}', epsilon => .2);
RESET pg_epsilon.epsilon;
SELECT refused($$SELECT * FROM dp.histogram('sales', '{region}', epsilon => .2, fresh => true)$$);
SET pg_epsilon.epsilon = 900;
EXPLAIN (COSTS off) SELECT region, count(*) FROM shown GROUP BY region;
SELECT region, abs(count(*) - 1000) < 150 AS near FROM shown GROUP BY region;
-- a precision that is asked for holds
SET pg_epsilon.epsilon = 0;
SET pg_epsilon.max_stderr = .5;
SELECT region, count(*) FROM shown GROUP BY region;
RESET pg_epsilon.max_stderr;
RESET pg_epsilon.epsilon;
-- what is paid for of a series is measured, and no series is made longer
SELECT count(*) FROM dp.report('weekly', 1);
-- another role's release would be charged to the own budget
SET SESSION AUTHORIZATION regress_bob;
SET pg_epsilon.reuse = 'only';
SELECT refused($$SELECT region, grade, count(*), avg(grade) FROM shown GROUP BY region, grade$$);
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) - :before AS charged FROM dp.charges WHERE rho > 0;
EXPLAIN (COSTS off) SELECT day, count(*) FROM shown GROUP BY day;
-- nothing else is a value
SET pg_epsilon.reuse = 'onyl';
\c - regress_ann
SET client_min_messages = warning;
SET pg_epsilon.reuse = 'onyl';
SELECT refused($$SELECT * FROM dp.histogram('sales', '{region}', epsilon => 1)$$);
SELECT count(*) FROM shown;

-- rows of units are cut before a filter on a group: EXPLAIN says so
\c - regress_curator
SET client_min_messages = warning;
CREATE TABLE sales_of_clients AS TABLE sales;
SELECT dp.create_dataset('clients', 'sales_of_clients', 1000, unit => 'client', max_rows => 2);
SELECT dp.add_attribute('clients', 'region', '{north,south,west}'), dp.add_attribute('clients', 'grade', 0, 5, bins => 5, last => 'open');
SELECT dp.grant_budget('clients', 'regress_ann', 300);
SELECT dp.expose('clients', 'shown_clients', epsilon => 1);
GRANT SELECT ON shown_clients TO regress_ann;
\c - regress_ann
EXPLAIN (COSTS off) SELECT region, count(*) FROM shown_clients WHERE region <> 'west' GROUP BY region;
EXPLAIN (COSTS off) SELECT region, count(*) FROM shown_clients WHERE grade = 1 GROUP BY region;
\c - :super
DROP OWNED BY regress_curator, regress_ann, regress_bob;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused;
DROP ROLE regress_curator, regress_ann, regress_bob;
