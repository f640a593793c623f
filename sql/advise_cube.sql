-- dp.advise_cube: the cube for the statements of a tool's log, with the error of each of them and of each roll-up; nothing is run or charged.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
SET client_min_messages = warning;
\set select :here /test/regress/select.sql
\i :select
RESET pg_epsilon.epsilon;
\t off
SELECT count(*) AS before FROM dp.charges \gset
SELECT part, number, question, round(stderr::numeric, 3) AS stderr, hint FROM dp.advise_cube('orders', ARRAY[
    'SELECT count(*) FROM orders_v',
    'SELECT region, count(*) FROM orders_v WHERE returned GROUP BY region',
    'SELECT date_trunc(''month'', ts), sum(amount), avg(amount) FROM orders_v WHERE channel = ''web'' GROUP BY 1',
    'SELECT x.n, y.n FROM (SELECT count(*) AS n FROM orders_v WHERE items = 1) x, (SELECT region, count(*) AS n FROM orders_v GROUP BY 1) y',
    'SELECT DISTINCT region FROM orders_v',
    'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) FROM orders_v',
    'SELECT * FROM orders_v LIMIT 10',
    'SELECT count(*) FROM orders_v WHERE amount < 33.3',
    'SELECT count(*) FROM visits_v',
    'SELECT 1',
    'SELECT count(*) FROM orders_v WHERE region = $1',
    'SELECT; SELECT',
    'DELETE FROM orders_v',
    'SELECT count(*) FROM no_such',
    'SELEC',
    'SELECT count(*) FROM orders'], epsilon => 2);
-- what it proposes is what the quotes say, and is a cube of all of them
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.revoke_budget('orders', 'regress_ann'), dp.grant_budget('orders', 'regress_curator', 100);
SELECT question || ' \gset' AS call FROM dp.advise_cube('orders', ARRAY['SELECT region, channel, count(*) FROM orders_v GROUP BY 1, 2', 'SELECT region, items, count(*) FROM orders_v GROUP BY 1, 2',
    'SELECT channel, items, count(*) FROM orders_v GROUP BY ROLLUP (1, 2)'], epsilon => 3) WHERE part = 'cube' \gset
\echo :call
SELECT release FROM dp.measure('orders', ARRAY['region','channel','items'], workload => 'marginals(2)', epsilon => 3) \gset
SELECT dp.expose('orders', 'public.board', release => :release);
SELECT part, question, round(stderr::numeric, 6) AS advised FROM dp.advise_cube('orders', ARRAY['SELECT region, channel, count(*) FROM board GROUP BY 1, 2', 'SELECT region, items, count(*) FROM board GROUP BY 1, 2',
    'SELECT channel, items, count(*) FROM board GROUP BY ROLLUP (1, 2)'], epsilon => 3) WHERE part <> 'cube' ORDER BY 1, 2;
SELECT round(max(dp.stderr_count)::numeric, 6) AS shown FROM (SELECT region, channel, dp.stderr_count(*) FROM board GROUP BY 1, 2) dp;
SELECT round(max(dp.stderr_count)::numeric, 6) AS shown FROM (SELECT region, dp.stderr_count(*) FROM board GROUP BY 1) dp;
SELECT round(dp.stderr_count(*)::numeric, 6) AS shown FROM board;
-- values that are counted: of a column that is summed, and of one that the cube is by
SELECT part, question, hint FROM dp.advise_cube('orders', '{SELECT count(amount) FROM orders_v,SELECT region\, sum(amount) FROM orders_v GROUP BY 1}') WHERE part <> 'roll-up';
SELECT part, question, hint FROM dp.advise_cube('orders', '{SELECT count(amount) FROM orders_v WHERE amount >= 50}') WHERE part <> 'roll-up';
SELECT part, question, hint FROM dp.advise_cube('orders', ARRAY['SELECT region, sum(items * amount), count(items * amount) FROM orders_v GROUP BY 1']) WHERE part <> 'roll-up';
-- nothing to propose
SELECT part, number, hint FROM dp.advise_cube('orders', '{}');
SELECT part, number, hint FROM dp.advise_cube('orders', '{SELECT 1}');
SELECT part, question FROM dp.advise_cube('orders', '{SELECT count(*) FROM orders_v}');
-- functions of a statement run as who asks, and what they write is undone
CREATE TABLE seen (x text);
CREATE FUNCTION noted(x text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN INSERT INTO seen VALUES (x); RETURN x; END $$;
SELECT part, question FROM dp.advise_cube('orders', '{SELECT noted(region)\, count(*) FROM orders_v GROUP BY 1}');
SELECT * FROM seen;
SELECT refused('SELECT dp.advise_cube(NULL, ''{}'')');
SELECT refused('SELECT dp.advise_cube(''none'', ''{}'')');
SELECT refused('SELECT dp.advise_cube(''orders'', NULL)');
SELECT refused('SELECT dp.advise_cube(''orders'', ''{NULL}'')');
SELECT refused('SELECT dp.advise_cube(''orders'', ''{SELECT count(*) FROM orders_v}'', epsilon => -1)');
SELECT refused('SELECT dp.advise_cube(''orders'', ''{SELECT count(*) FROM orders_v}'', budget => ''regress_bob'')');
SET SESSION AUTHORIZATION regress_bob;
SELECT part, question, hint FROM dp.advise_cube('orders', '{SELECT region\, count(*) FROM orders_v GROUP BY 1,SELECT count(*) FROM board}');
RESET SESSION AUTHORIZATION;
SELECT count(*) FROM dp_ledger.charge;
\set ECHO none
SET client_min_messages = error;
DROP EXTENSION pg_epsilon CASCADE;
DROP OWNED BY regress_curator, regress_ann, regress_bob CASCADE;
DROP FUNCTION IF EXISTS refused;
DROP ROLE regress_curator, regress_ann, regress_bob;
