-- Rehearsals: the example answers in place of the dataset, nothing is charged, nothing is written.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator LOGIN;
CREATE ROLE regress_ann LOGIN;
CREATE ROLE regress_guest LOGIN;
SELECT current_user AS super \gset
GRANT CREATE ON SCHEMA public TO regress_curator, regress_ann;
CREATE SCHEMA closed AUTHORIZATION regress_curator;
\pset null '(null)'
\t on
SET client_min_messages = warning;
-- all that the ledger holds
CREATE FUNCTION ledger() RETURNS text LANGUAGE sql SECURITY DEFINER AS $$
    SELECT md5(string_agg(format('%s %s', relname, query_to_xml(format('SELECT md5(string_agg(ROW(t.*)::text, E''\n'' ORDER BY ROW(t.*)::text)) FROM dp_ledger.%I t', relname), false, true, '')), E'\n' ORDER BY relname))
      FROM pg_class WHERE relnamespace = 'dp_ledger'::regnamespace AND relkind IN ('r', 'S') $$;
-- what EXPLAIN shows of a statement
CREATE FUNCTION plan(statement text) RETURNS SETOF text LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY EXECUTE 'EXPLAIN (COSTS OFF) ' || statement; END $$;
-- Of 3,000 rows of the dataset each region has a third; of the 30 of the example 20 are north, none is west.
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE sales AS SELECT i / 3 AS client, (ARRAY['north', 'south', 'west'])[i % 3 + 1] AS region, i % 5 AS grade, (i % 50)::float8 AS pay, date '2024-01-01' + i % 60 AS day, 'w' || i % 4 AS word FROM generate_series(1, 3000) i;
ALTER TABLE sales ALTER grade SET NOT NULL;
CREATE TABLE toy (LIKE sales);
INSERT INTO toy SELECT i, CASE WHEN i <= 20 THEN 'north' ELSE 'south' END, 4, 25, '2024-01-02', 'toy' FROM generate_series(1, 30) i;
SELECT dp.create_dataset('sales', 'sales', 10000, unit => 'client', max_rows => 2);
SELECT dp.add_attribute('sales', 'region', '{north,south,west}'), dp.add_attribute('sales', 'grade', 0, 5, bins => 5, last => 'open'), dp.add_attribute('sales', 'client', open => true), dp.add_attribute('sales', 'word', open => true), dp.add_attribute('sales', 'pay', 0, 50, bins => 5);
SELECT dp.add_attribute('sales', 'day', date '2024-01-01', date '2024-03-01', bins => 60), dp.set_time('sales', 'day');
SELECT dp.grant_budget('sales', 'regress_ann', 5000);
SELECT dp.expose('sales', 'shown', epsilon => 1000);
GRANT SELECT ON shown TO PUBLIC;

-- The owner's act, of public rows with the dataset's columns
SELECT refused($$SELECT dp.set_example('sales', 'toy')$$);
GRANT SELECT ON toy TO PUBLIC;
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT dp.set_example('sales', 'toy')$$);
SELECT refused($$SELECT dp.set_example('sales', NULL)$$);
SET SESSION AUTHORIZATION regress_curator;
CREATE VIEW seen AS SELECT * FROM toy;
CREATE TEMP TABLE passing AS SELECT * FROM toy;
CREATE TABLE narrow AS SELECT client, region, grade, pay, word FROM toy;
CREATE TABLE wide AS SELECT client, region, grade::bigint, pay, day, word FROM toy;
CREATE TABLE loose AS SELECT * FROM toy;
CREATE TABLE guarded (LIKE toy);
ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
CREATE TABLE closed.toys (LIKE toy);
GRANT SELECT ON seen, passing, narrow, wide, loose, guarded, closed.toys TO PUBLIC;
SELECT example, refused(format('SELECT dp.set_example(''sales'', %L)', example)) FROM unnest('{seen,passing,narrow,wide,loose,guarded,closed.toys,shown,sales}'::text[]) example;
GRANT SELECT (client) ON sales TO PUBLIC;
SELECT refused($$SELECT dp.set_example('sales', 'sales')$$);
SELECT refused($$SELECT dp.set_example('none', 'toy')$$);
SELECT dp.set_example(dataset => 'sales', relation => 'toy');
SELECT act, role, old_value, new_value FROM dp.acts WHERE act = 'set_example';
SELECT ok FROM dp.verify_ledger('sales');
SELECT description FROM dp.describe('sales') WHERE description ~ 'rehearse';

-- A role without a budget is answered from the example by each function, and pays nothing
SET SESSION AUTHORIZATION regress_guest;
SELECT refused($$SELECT * FROM dp.histogram('sales', 'region', epsilon => 1000)$$);
SET pg_epsilon.rehearse = on;
SET client_min_messages = notice;
SELECT ledger() AS before \gset
SELECT label, round(estimate) + 0, release FROM dp.histogram('sales', 'region', epsilon => 1000);
SELECT label, round(estimate) + 0, release FROM dp.histogram('sales', 'region', 'prefix', epsilon => 1000, fresh => true);
SELECT release, queries, epsilon FROM dp.measure('sales', '{region,grade}', 'marginals(1)', epsilon => 1000);
SELECT label, aggregate, abs(estimate - CASE aggregate WHEN 'sum(pay)' THEN 500 WHEN 'count(distinct unit)' THEN 20 ELSE 25 END) < 100 AS near, release FROM dp.aggregate('sales', '{sum(pay),avg(pay),count(distinct client),median(pay)}', '{region}', epsilon => 1000) WHERE label->>'region' = 'north';
SELECT region, count(*), CASE WHEN count(*) > 5 THEN round(avg(grade)) END FROM shown GROUP BY region ORDER BY region;
SELECT units, round(estimate) + 0, release FROM dp.rows_per_unit('sales', epsilon => 1000, most => 2) AS u(units, estimate, stderr, lower, upper, release);
SELECT release, lower, upper FROM dp.bounds('sales', 'client', epsilon => 1000);
SELECT key, round(estimate) + 0, release FROM dp.keys('sales', 'word', epsilon => 1000);
SELECT term, model, release FROM dp.fit('sales', 'linear_regression', 'pay', '{grade}', epsilon => 1000) AS f(term, estimate, stderr, model, release, positive);
SELECT round(estimate) + 0 AS estimate FROM dp.histogram('sales', 'region', epsilon => 1000, budget => 'regress_ann') WHERE query = 1;
SELECT ledger() = :'before' AS untouched;
-- the rows were those of the example: the owner may not even read his table
SET SESSION AUTHORIZATION regress_curator;
SET client_min_messages = warning;
REVOKE SELECT ON sales FROM regress_curator, PUBLIC;
SET SESSION AUTHORIZATION regress_ann;
SET pg_epsilon.rehearse = off;
SELECT refused($$SELECT count(*) FROM shown$$);
SET pg_epsilon.rehearse = on;
SELECT count(*) FROM shown;
SELECT round(estimate) FROM dp.histogram('sales', '{}', epsilon => 1000);
SET SESSION AUTHORIZATION regress_curator;
GRANT SELECT ON sales TO regress_curator;
GRANT SELECT (client) ON sales TO PUBLIC;
-- the owner's plain fit is of the example, too, and no model is kept
SET pg_epsilon.rehearse = on;
SET client_min_messages = notice;
SELECT term, coefficient, model FROM dp.fit('sales', 'linear_regression', 'pay', '{grade}', 'nonprivate') AS f(term, coefficient, stderr, model, release, positive);
SELECT count(*) FROM dp.models;
SELECT ledger() = :'before' AS untouched;

-- Plans, prices and messages are those of the real statement, except the message of the charge
SET SESSION AUTHORIZATION regress_ann;
SET client_min_messages = notice;
CREATE FUNCTION in_earnest(statement text) RETURNS text[] LANGUAGE sql SET pg_epsilon.rehearse = off AS $$ SELECT array_agg(p) FROM plan(statement) p $$;
CREATE FUNCTION rehearsed(statement text) RETURNS text[] LANGUAGE sql SET pg_epsilon.rehearse = on AS $$ SELECT array_agg(p) FROM plan(statement) p $$;
SELECT * FROM plan('SELECT region, count(*) FROM shown GROUP BY region');
SELECT statement, ARRAY(SELECT line FROM unnest(rehearsed(statement)) line WHERE line !~ 'Rehearsal: example public.toy answers, and nothing is charged$') = in_earnest(statement) AS same, cardinality(rehearsed(statement)) - cardinality(in_earnest(statement)) AS marks
  FROM unnest(ARRAY['SELECT count(*) FROM shown', 'SELECT region, avg(pay) FROM shown WHERE grade < 3 GROUP BY 1', 'SELECT region, grade, sum(pay) FROM shown GROUP BY CUBE (1, 2)',
    'SELECT count(DISTINCT client) FROM shown', 'SELECT count(*), avg(pay) FROM shown GROUP BY region HAVING count(*) > 5 ORDER BY 1', 'SELECT * FROM shown', 'SELECT DISTINCT region FROM shown']) statement;
SELECT * FROM dp.quote('sales', 'region', epsilon => 1) \gset rehearsed_
SET pg_epsilon.rehearse = off;
SELECT * FROM dp.quote('sales', 'region', epsilon => 1) \gset in_earnest_
SELECT (:'rehearsed_rho', :'rehearsed_epsilon', :'rehearsed_max_stderr', :'rehearsed_fits', :'rehearsed_epsilon_left_after', :'rehearsed_replay', :'rehearsed_plan') = (:'in_earnest_rho', :'in_earnest_epsilon', :'in_earnest_max_stderr', :'in_earnest_fits', :'in_earnest_epsilon_left_after', :'in_earnest_replay', :'in_earnest_plan') AS same;
SET pg_epsilon.rehearse = on;
SELECT region, count(*) FROM shown WHERE region = 'north' AND grade = 4 GROUP BY region, grade;

-- What is paid for is not part of it, and is there afterwards
SET pg_epsilon.rehearse = off;
SELECT estimate > 500 AS in_earnest FROM dp.histogram('sales', 'region', epsilon => 900) WHERE query = 1;
SET pg_epsilon.rehearse = on;
SELECT ledger() AS paid \gset
SELECT round(estimate) + 0, release FROM dp.histogram('sales', 'region', epsilon => 900) WHERE query = 1;
SELECT round(estimate) + 0, release FROM dp.histogram('sales', 'region', epsilon => 800, reuse => true) WHERE query = 1;
SELECT line FROM plan('SELECT region, count(*) FROM shown GROUP BY region') line WHERE line ~ 'Quote|Rehearsal';
SELECT round(estimate) FROM dp.answer((SELECT max(release) FROM dp.releases), 'total');
SELECT ledger() = :'paid' AS untouched;
SET pg_epsilon.rehearse = off;
SELECT estimate > 500 AS in_earnest FROM dp.histogram('sales', 'region', epsilon => 900) WHERE query = 1;
SELECT ledger() = :'paid' AS untouched;
-- a SELECT that a release knows, free
SET pg_epsilon.rehearse = on;
SET pg_epsilon.epsilon = 100;
SELECT line FROM plan('SELECT region, count(*) FROM shown GROUP BY region') line WHERE line ~ 'Quote';
SELECT region, round(count(*) / 10.0) * 10 AS about FROM shown GROUP BY region ORDER BY region;
RESET pg_epsilon.epsilon;
-- reuse = only refuses what costs: a rehearsal costs nothing
SET pg_epsilon.reuse = 'only';
SELECT count(*) FROM shown;
RESET pg_epsilon.reuse;

-- What has no rehearsal
SELECT refused(request) FROM unnest(ARRAY[
  $$SELECT * FROM dp.create_series('sales', 's', '{region}', start => '2024-01-01', period => '10 days', periods => 4, rho => 1, max_periods => 4)$$,
  $$SELECT dp.linear_regression(pay, ARRAY[pay], '{"dataset": "sales", "label": "pay", "features": ["pay"], "epsilon": 1}') FROM toy$$]) request;
SET pg_epsilon.rehearse = off;
SET client_min_messages = warning;
SELECT series_name FROM dp.create_series('sales', 's', '{region}', start => '2024-01-01', period => '10 days', periods => 4, rho => 1000, max_periods => 4);
SELECT label, estimate > 50 AS stored FROM dp.report('s', 1) WHERE over = 'totals';
SET pg_epsilon.rehearse = on;
SELECT label, estimate > 50 AS stored FROM dp.report('s', 1) WHERE over = 'totals';
SELECT refused($$SELECT * FROM dp.report('s', 2)$$);
SELECT refused($$SELECT * FROM dp.prolong_series('s', 5)$$);

-- The setting counts as it is when a request begins, and one statement does not mix
SET client_min_messages = notice;
CREATE FUNCTION set_rehearse(word text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN PERFORM set_config('pg_epsilon.rehearse', word, false); RETURN true; END $$;
CREATE FUNCTION wakes(region text) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN PERFORM set_config('pg_epsilon.rehearse', 'off', false); RETURN true; END $$;
SELECT ledger() AS before \gset
BEGIN;
DECLARE c CURSOR FOR SELECT count(*) FROM shown UNION ALL SELECT count(*) + 0 * count(region) FROM shown WHERE region IN ('north', 'south');
FETCH c;
SET pg_epsilon.rehearse = off;
FETCH c;
ROLLBACK;
SHOW pg_epsilon.rehearse;
BEGIN;
DECLARE c CURSOR FOR SELECT count(*) FROM shown UNION ALL SELECT count(*) + 0 * count(region) FROM shown WHERE region IN ('north', 'south');
SET LOCAL pg_epsilon.rehearse = off;
FETCH c;
ROLLBACK;
SELECT round(estimate) FROM dp.histogram('sales', 'region', epsilon => 1000) WHERE query = 1 AND set_rehearse('off');
SELECT ledger() = :'before' AS untouched;
SHOW pg_epsilon.rehearse;
SET pg_epsilon.rehearse = on;
PREPARE p AS SELECT count(*) FROM shown;
EXECUTE p;
SET pg_epsilon.rehearse = off;
EXECUTE p;
SET pg_epsilon.rehearse = on;
EXECUTE p;
-- a function of the statement wakes the dataset between two of its scans
SELECT (SELECT count(*) FROM shown), (SELECT count(*) FROM shown WHERE wakes(region) AND grade < 3);
SHOW pg_epsilon.rehearse;
SET pg_epsilon.rehearse = on;
CREATE VIEW over_shown AS SELECT region, count(*) AS n FROM shown GROUP BY region;
SELECT * FROM over_shown WHERE region = 'north';
-- a function with a setting of its own
CREATE FUNCTION asleep() RETURNS bigint LANGUAGE sql SET pg_epsilon.rehearse = on AS $$ SELECT count(*) FROM shown $$;
SET pg_epsilon.rehearse = off;
SELECT asleep();
-- what is mistyped is refused, also where it was set before the library was loaded
SET pg_epsilon.rehearse = 'onn';
\c - regress_ann
SET client_min_messages = warning;
SET pg_epsilon.rehearse = 'onn';
SELECT refused('SELECT count(*) FROM shown');
SELECT refused($$SELECT * FROM dp.histogram('sales', 'region', epsilon => 1)$$);
\c - :super
SET SESSION AUTHORIZATION regress_ann;
SET pg_epsilon.rehearse = on;

-- A cube is of a release, and stays so
SET SESSION AUTHORIZATION regress_curator;
SET client_min_messages = warning;
SELECT dp.grant_budget('sales', 'regress_curator', 1000);
SET pg_epsilon.rehearse = off;
SELECT dp.expose('sales', 'board', release => (SELECT release FROM dp.measure('sales', '{region}', epsilon => 950)));
GRANT SELECT ON board TO PUBLIC;
SET SESSION AUTHORIZATION regress_guest;
SET pg_epsilon.rehearse = on;
SET client_min_messages = notice;
SELECT count(*) BETWEEN 1990 AND 2010 AS is_of_the_release FROM board;
SELECT refused('SELECT (SELECT count(*) FROM board), (SELECT count(*) FROM shown)');

-- Groups of few units are hidden as they would be
SET SESSION AUTHORIZATION regress_curator;
SET client_min_messages = warning;
SELECT dp.set_min_count('sales', 8);
SET SESSION AUTHORIZATION regress_guest;
SET client_min_messages = notice;
SELECT label, round(estimate) + 0 FROM dp.histogram('sales', 'region', epsilon => 1000);
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.set_min_count('sales', NULL);

-- The example is looked at in each request
SET client_min_messages = warning;
CREATE FUNCTION rehearses() RETURNS text LANGUAGE sql AS $$ SELECT refused('SELECT count(*) FROM shown') $$;
SET pg_epsilon.rehearse = on;
DROP VIEW seen;
SELECT rehearses();
REVOKE SELECT ON toy FROM PUBLIC;
SELECT rehearses();
GRANT SELECT ON toy TO PUBLIC;
ALTER TABLE toy ENABLE ROW LEVEL SECURITY;
SELECT rehearses();
ALTER TABLE toy DISABLE ROW LEVEL SECURITY;
ALTER TABLE toy ALTER grade DROP NOT NULL;
SELECT refused($$SELECT * FROM dp.aggregate('sales', '{avg(grade)}', '{}', epsilon => 1000)$$);
ALTER TABLE toy ALTER grade SET NOT NULL;
ALTER TABLE toy ALTER client TYPE text;
SELECT rehearses();
ALTER TABLE toy ALTER client TYPE int USING client::int;
ALTER TABLE toy RENAME region TO place;
SELECT refused($$SELECT * FROM dp.histogram('sales', 'region', epsilon => 1000)$$);
ALTER TABLE toy RENAME place TO region;
ALTER TABLE toy SET SCHEMA closed;
SELECT rehearses();
CREATE VIEW toy AS SELECT * FROM sales;
GRANT SELECT ON toy TO PUBLIC;
SELECT rehearses();
DROP VIEW toy;
ALTER TABLE closed.toy SET SCHEMA public;
-- the dataset's table becomes a part of it: its rows are read by neither
ALTER TABLE sales INHERIT toy;
SELECT rehearses();
ALTER TABLE sales NO INHERIT toy;
-- what the own transaction made of it
BEGIN;
ALTER TABLE toy ADD CHECK (grade > 0);
SELECT rehearses();
ROLLBACK;
SELECT rehearses();
-- by its name: a table that takes its place is looked at like it
DROP TABLE toy;
CREATE TABLE toy (LIKE sales) PARTITION BY LIST (region);
CREATE TABLE toy_north PARTITION OF toy FOR VALUES IN ('north');
INSERT INTO toy SELECT i, 'north', 4, 25, '2024-01-02', 'toy' FROM generate_series(1, 70) i;
GRANT SELECT ON toy TO PUBLIC;
SET SESSION AUTHORIZATION regress_guest;
SELECT count(*) FROM shown;
-- rows of its units are chosen anew by each request: the dataset's own key, which chooses the same ones, has no part in it
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE toy_south PARTITION OF toy FOR VALUES IN ('south');
CREATE TABLE toy_west PARTITION OF toy FOR VALUES IN ('west');
INSERT INTO toy SELECT i, region, 4, 25, '2024-01-02', 'toy' FROM generate_series(1, 20000) i, unnest('{north,south,west}'::text[]) region;
SET SESSION AUTHORIZATION regress_guest;
SET client_min_messages = warning;
SELECT array_agg(round(estimate) ORDER BY query) AS one FROM dp.histogram('sales', 'region', epsilon => 1000) \gset
SELECT array_agg(round(estimate) ORDER BY query) AS other FROM dp.histogram('sales', 'region', epsilon => 1000) \gset
SELECT :'one' <> :'other' AS chosen_anew;
-- taken away
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.set_example('sales', NULL);
SELECT act, role, old_value, new_value FROM dp.acts WHERE act = 'set_example';
SELECT description FROM dp.describe('sales') WHERE description ~ 'rehearse';
SET SESSION AUTHORIZATION regress_guest;
SELECT refused('SELECT count(*) FROM shown');
SELECT refused($$SELECT * FROM dp.histogram('sales', 'region', epsilon => 1)$$);
SELECT line FROM plan('SELECT count(*) FROM shown') line WHERE line ~ 'Refused';

-- Of values, and of a view
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE costs AS SELECT (i % 9 + 1)::float8 AS a, (i % 7)::float8 AS c FROM generate_series(1, 200) i;
CREATE TABLE toy_costs AS SELECT 0::float8 AS a, 6::float8 AS c;
GRANT SELECT ON toy_costs TO PUBLIC;
SELECT dp.create_dataset('costs', 'costs', 1000, neighbours => 'values', private_column => 'c', max_change => 0.1);
SELECT dp.add_attribute('costs', 'a', 0, 10, bins => 10, last => 'closed'), dp.set_example('costs', 'toy_costs');
CREATE TABLE clients AS SELECT i AS client, 'c' || i AS name FROM generate_series(0, 1000) i;
ALTER TABLE clients ADD PRIMARY KEY (client);
ALTER TABLE sales ADD FOREIGN KEY (client) REFERENCES clients;
CREATE VIEW joined AS SELECT s.client, s.region, s.pay FROM sales s JOIN clients c ON c.client = s.client;
SELECT dp.create_dataset('joined', 'joined', unit => 'client', max_rows => 5, same_cap_as => 'sales');
SELECT dp.add_attribute('joined', 'region', '{north,south,west}'), dp.set_example('joined', 'toy');
SET SESSION AUTHORIZATION regress_guest;
SET client_min_messages = notice;
SELECT round(public_value) + 0 AS value, release FROM dp.minimize_max_affine('costs', '{a}', 'c', '{-1}', '{1}', epsilon => 900);
SELECT label, round(estimate / 20000) + 0 AS estimate FROM dp.histogram('joined', 'region', epsilon => 1000);
RESET SESSION AUTHORIZATION;

SET client_min_messages = error;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused, ledger, plan;
DROP OWNED BY regress_curator, regress_ann, regress_guest CASCADE;
DROP ROLE regress_curator, regress_ann, regress_guest;
