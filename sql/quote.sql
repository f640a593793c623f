-- dp.quote and dp.quote_queries: what they say is what dp.histogram does; they read no data and charge nothing.
CREATE EXTENSION pg_epsilon;
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
CREATE ROLE regress_bob;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;
\pset format unaligned
\pset footer off
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE t (x int, b boolean);
SELECT dp.create_dataset('d', 't', 10);
SELECT dp.add_attribute('d', 'x', 0, 100, 10, nulls => 'cell');
SELECT dp.add_attribute('d', 'b');
SELECT dp.grant_budget('d', 'regress_ann', 1, 1e-6);

SET SESSION AUTHORIZATION regress_ann;
CREATE TEMP TABLE q AS SELECT * FROM dp.quote('d', '{x,b}', epsilon => 0.25);
SELECT attname, atttypid::regtype FROM pg_attribute WHERE attrelid = 'q'::regclass AND attnum > 0 ORDER BY attnum;
SELECT epsilon <= 0.25 AND epsilon > 0.25 - 1e-6 AS epsilon, rho = dp.rho_of_epsilon(0.25, 1e-6 * 0.9375::float8) AS rho, delta, max_stderr * sqrt(2 * rho) BETWEEN 1 AND 1.000002 AS stderr,
       rms_stderr = max_stderr AS rms, queries, cells, method, objective, lower_bound, gap, fits, epsilon_left_after < 1 AND epsilon_left_after > 0.9 AS left_after, replay, accounting FROM q;
SELECT queries, cells FROM dp.quote('d', 'x', epsilon => 0.25);
SELECT queries, cells FROM dp.quote('d', '{x,b}', 'total', epsilon => 0.25);
SELECT queries, cells FROM dp.quote('d', '{x,b}', 'total(x) * identity(b)', epsilon => 0.25);
-- delta says at which delta epsilon is meant: a smaller one buys less
SELECT a.rho > b.rho AS less, b.delta FROM dp.quote('d', 'b', epsilon => 0.25) a, dp.quote('d', 'b', epsilon => 0.25, delta => 1e-12) b;
-- rho is counted in 1e-9 and rounded down
SELECT rho FROM dp.quote('d', 'b', rho => 0.0012345678999);
-- quote_queries: the queries of dp.histogram
SELECT query, label, round(stderr::numeric, 4) AS stderr FROM dp.quote_queries('d', '{b,x}', 'identity(b)', rho => 0.02);
SELECT count(*) AS queries, count(DISTINCT label) AS labels, count(DISTINCT stderr) AS stderrs FROM dp.quote_queries('d', '{x,b}', rho => 0.02);
SELECT count(*) FROM dp.charges;
-- then the answer keeps to it
SELECT bool_and(h.stderr = q.max_stderr) AS same_stderr, bool_and(h.label = l.label AND h.stderr = l.stderr) AS same_queries, count(*)
  FROM q, dp.histogram('d', '{x,b}', epsilon => 0.25) h JOIN dp.quote_queries('d', '{x,b}', epsilon => 0.25) l USING (query);
SELECT c.rho = q.rho AS same_cost FROM dp.charges c, q;
SELECT abs(b.epsilon_left - q.epsilon_left_after) < 1e-12 AS same_left FROM dp.budgets b, q;
-- paid: a replay, which costs nothing more
SELECT replay, fits, abs(r.epsilon_left_after - b.epsilon_left) < 1e-12 AS unchanged FROM dp.quote('d', '{x,b}', epsilon => 0.25) r, dp.budgets b;
SELECT replay, epsilon_left_after < b.epsilon_left AS costs FROM dp.quote('d', '{x,b}', epsilon => 0.25, fresh => true) r, dp.budgets b;
-- too dear: does not fit, and nothing would be left
SELECT fits, epsilon_left_after, replay FROM dp.quote('d', 'x', epsilon => 1);
SELECT fits, epsilon_left_after FROM dp.quote('d', 'x', epsilon => (SELECT epsilon_left FROM dp.budgets));

-- max_stderr: the cheapest rho whose standard error is at most that; one unit of 1e-9 less is above
SELECT m, q.max_stderr <= m AS kept, l.max_stderr > m AS less_is_above
  FROM unnest(ARRAY[0.5, 1, 3.7, 10, 100, 1234.5]) m, dp.quote('d', 'x', max_stderr => m) q, dp.quote('d', 'x', rho => q.rho - 1e-9) l;

-- who has no budget may ask for the price, told at the cap's delta
SET SESSION AUTHORIZATION regress_bob;
SELECT delta, fits, epsilon_left_after, replay, rho > 0 AS rho FROM dp.quote('d', '{x,b}', epsilon => 0.25);
SELECT count(*) FROM dp.quote_queries('d', '{x,b}', epsilon => 0.25);
\set VERBOSITY sqlstate
SELECT * FROM dp.quote('d', 'x');
SELECT * FROM dp.quote('d', 'x', epsilon => 1, rho => 1);
SELECT * FROM dp.quote('d', 'x', epsilon => -1);
SELECT * FROM dp.quote('d', 'nothing', epsilon => 1);
SELECT * FROM dp.quote('nothing', 'x', epsilon => 1);
SELECT * FROM dp.quote('d', 'x', 'nothing', epsilon => 1);
SELECT * FROM dp.quote('d', 'x', epsilon => 1, budget => 'regress_ann');
SELECT * FROM dp.quote_queries('d', 'x', epsilon => 0);
SELECT * FROM dp.quote_queries('d', 'x', epsilon => 1, method => 'best');
\set VERBOSITY default

-- A quote takes no lock and needs no row: the table may be locked by somebody else, and be broken
SET SESSION AUTHORIZATION regress_ann;
BEGIN READ ONLY;
SELECT queries FROM dp.quote('d', 'x', epsilon => 0.1);
SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND relation = 't'::regclass;
COMMIT;
RESET SESSION AUTHORIZATION;
SELECT count(*) AS charges FROM dp_ledger.charge;
SELECT count(*) AS releases FROM dp_ledger.release;
DROP EXTENSION pg_epsilon;
DROP OWNED BY regress_curator, regress_ann;
DROP ROLE regress_curator, regress_ann, regress_bob;
