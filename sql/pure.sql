-- Pure accounting: budgets and caps that sum epsilon, discrete Laplace noise, and what does not go with them.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
CREATE ROLE regress_bob;
CREATE ROLE regress_cy;
GRANT CREATE ON SCHEMA public TO regress_curator;

SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE t (x int, b boolean);
INSERT INTO t SELECT i % 10, i % 3 = 0 FROM generate_series(1, 1000) i;
CREATE TABLE u (x int, b boolean);
\t on
SELECT refused($$SELECT dp.create_dataset('p', 't', 5, 1e-6, accounting => 'pure')$$);
SELECT refused($$SELECT dp.create_dataset('p', 't', 1e-10, accounting => 'pure')$$);
SELECT refused($$SELECT dp.create_dataset('p', 't', -1, accounting => 'pure')$$);
SELECT refused($$SELECT dp.create_dataset('p', 't', 5, delta => NULL)$$);
SELECT refused($$SELECT dp.create_dataset('p', 't', 5, 0, accounting => 'pure')$$);
SELECT refused($$SELECT dp.create_dataset('z', 'u', 5, 1e-6, accounting => 'zcdp')$$);
\t off
SELECT dp.add_attribute('p', 'x', 0, 10, 10, last => 'open'), dp.add_attribute('p', 'b');
SELECT dp.add_attribute('z', 'x', 0, 10, 10, last => 'open'), dp.add_attribute('z', 'b');
\t on
-- a pure cap takes pure budgets only; they have no delta
SELECT refused($$SELECT dp.grant_budget('p', 'regress_ann', 1, accounting => 'zcdp')$$);
SELECT refused($$SELECT dp.grant_budget('p', 'regress_ann', 1, 1e-6, 'pure')$$);
SELECT refused($$SELECT dp.grant_budget('z', 'regress_ann', 1, 1e-6, 'pure')$$);
SELECT refused($$SELECT dp.grant_budget('p', 'regress_ann', 1e-10, accounting => 'pure')$$);
SELECT refused($$SELECT dp.grant_budget('p', 'regress_ann', 1.0000000009, 0)$$);
SELECT refused($$SELECT dp.grant_budget('p', 'regress_bob', 100, accounting => 'pure', overcommit => true)$$);
SELECT refused($$SELECT dp.grant_budget('z', 'regress_ann', 2, accounting => 'pure', overcommit => true)$$);
SELECT refused($$SELECT dp.grant_budget('z', 'regress_bob', 2, overcommit => true)$$);
SELECT refused($$SELECT dp.grant_budget('z', 'regress_cy', 2, overcommit => true)$$);
-- nothing is spent of it: another accounting may take its place
SELECT refused($$SELECT dp.grant_budget('z', 'regress_cy', 3, accounting => 'pure', overcommit => true)$$);
\t off
SELECT dataset, role, accounting, epsilon, delta, rho_limit, rho_spent, rho_left, epsilon_left FROM dp.budgets WHERE accounting = 'pure' ORDER BY dataset, role;
SELECT dataset, epsilon_left FROM dp.datasets WHERE dataset = 'p';
SELECT * FROM dp.describe('p') LIMIT 4;

-- What is charged: epsilon in 1e-9, rounded down
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*), count(DISTINCT stderr), bool_and(estimate = round(estimate)) AS whole FROM dp.histogram('p', 'x', epsilon => 0.2500000009);
SELECT epsilon_left FROM dp.budgets WHERE dataset = 'p';
-- the same again is free, also if epsilon was written otherwise; dp.answer and dp.cells know the noise
SELECT count(*) FROM dp.histogram('p', 'x', epsilon => 0.25);
SELECT release FROM dp.releases \gset
SELECT max(stderr) = (SELECT max_stderr FROM dp.quote('p', 'x', epsilon => 0.25)) AS same_stderr,
       abs(max(stderr) - 1 / (sqrt(2) * sinh(0.125))) < 1e-12 AS closed_form FROM dp.cells(:release);
SELECT round((stderr / sqrt(10))::numeric, 9) = round((1 / (sqrt(2) * sinh(0.125)))::numeric, 9) AS of_total FROM dp.answer(:release, 'total');
-- intervals: P[|Y| > m] = 2 q^(m+1) / (1 + q) is at most 5 % for m = 12, not for 11
SELECT bool_and(upper95 - estimate = 12 AND estimate - lower95 = 12) AS interval, 2 * exp(-0.25 * 13) / (1 + exp(-0.25)) <= 0.05 AS held,
       2 * exp(-0.25 * 12) / (1 + exp(-0.25)) > 0.05 AS least FROM dp.cells(:release);
SELECT rho, epsilon, delta, queries, method, lower_bound, gap, fits, epsilon_left_after, replay FROM dp.quote('p', 'x', epsilon => 0.25);
SELECT rho, epsilon, delta, objective < 55 AS better_than_cells, lower_bound, gap, fits, epsilon_left_after, replay FROM dp.quote('p', 'x', 'prefix', epsilon => 0.25);
SELECT max(stderr) = max_stderr AS same FROM dp.quote('p', 'x', 'prefix', epsilon => 0.25), dp.quote_queries('p', 'x', 'prefix', epsilon => 0.25) GROUP BY max_stderr;
-- max_stderr: the least epsilon
SELECT m, q.max_stderr <= m AS kept, l.max_stderr > m AS less_is_above, q.fits
  FROM unnest(ARRAY[1.5, 7, 1234.5]) m, dp.quote('p', 'x', 'prefix', max_stderr => m) q, dp.quote('p', 'x', 'prefix', epsilon => q.epsilon - 1e-9) l;
\t on
SELECT refused($$SELECT * FROM dp.histogram('p', 'x', rho => 0.1)$$);
SELECT refused($$SELECT * FROM dp.histogram('p', 'x', epsilon => 0.1, delta => 1e-6)$$);
SELECT refused($$SELECT * FROM dp.histogram('p', 'x', epsilon => 0.1, delta => 0)$$);
SELECT refused($$SELECT * FROM dp.histogram('p', 'x', epsilon => 1e-10)$$);
SELECT refused($$SELECT * FROM dp.histogram('p', 'x', max_stderr => 1e-300)$$);
SELECT refused($$SELECT * FROM dp.histogram('p', 'x', epsilon => 0.1, rho => 0.1)$$);
SELECT refused($$SELECT * FROM dp.quote('p', 'x', rho => 0.1)$$);
SELECT refused($$SELECT * FROM dp.histogram('p', 'b', epsilon => 0.7500000011)$$);
\t off
-- all that is left fits, and then nothing is
SELECT count(*) FROM dp.histogram('p', 'b', epsilon => (SELECT epsilon_left FROM dp.budgets WHERE dataset = 'p'));
\t on
SELECT refused($$SELECT * FROM dp.histogram('p', 'b', epsilon => 0.000000001)$$);
\t off
-- another budget of the cap: it pays for what is there, the cap does not
SET SESSION AUTHORIZATION regress_bob;
SELECT epsilon_left FROM dp.budgets WHERE dataset = 'p';
SELECT count(*) FROM dp.histogram('p', 'x', epsilon => 0.25);
SELECT epsilon_left FROM dp.budgets WHERE dataset = 'p';
\t on
SELECT refused($$SELECT * FROM dp.histogram('p', 'b', epsilon => 4.1)$$);
\t off

-- On a cap that counts rho by zcdp a pure charge costs epsilon tanh(epsilon / 2), rounded up (of gdp: accounting.sql)
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM dp.histogram('z', 'b', epsilon => 0.5);
RESET SESSION AUTHORIZATION;
SELECT rho, delta, epsilon, cap_rho, cap_delta, cap_epsilon, request FROM dp_ledger.charge WHERE dataset = 'z';
SELECT rho_spent, delta_spent, epsilon_spent FROM dp_ledger.dataset WHERE dataset = 'z';
SELECT rho, epsilon, sensitivity_sq, sensitivity_l1 FROM dp_ledger.release ORDER BY id;
-- the same request to a zCDP budget is another one
SET SESSION AUTHORIZATION regress_bob;
SET client_min_messages = warning;
SELECT count(*) FROM dp.histogram('z', 'b', epsilon => 0.5);
SELECT gap < 1e-3 AS certified FROM dp.quote('z', 'x', 'prefix', epsilon => 0.5);
-- to another pure budget it is the same
SET SESSION AUTHORIZATION regress_cy;
SELECT replay FROM dp.quote('z', 'b', epsilon => 0.5);
SELECT count(*) FROM dp.histogram('z', 'b', epsilon => 0.5);
RESET SESSION AUTHORIZATION;
SELECT role_name, rho, delta, epsilon, cap_rho, cap_delta, cap_epsilon, release_id IS NULL AS new FROM dp_ledger.charge WHERE dataset = 'z' AND rho IS NULL ORDER BY seq;
SELECT count(*) AS releases FROM dp_ledger.release r JOIN dp_ledger.dataset d ON d.id = r.dataset_id WHERE d.dataset = 'z';
-- what is left: of the budget, and of the cap as much epsilon as its rho pays for
UPDATE dp_ledger.dataset SET rho_limit = rho_spent + 4995838 WHERE dataset = 'z';
SET SESSION AUTHORIZATION regress_ann;
SELECT epsilon_left FROM dp.budgets WHERE dataset = 'z';
SELECT fits FROM dp.quote('z', 'x', epsilon => 0.100000006);
SELECT fits, epsilon_left_after FROM dp.quote('z', 'x', epsilon => 0.1);
\t on
SELECT refused($$SELECT * FROM dp.histogram('z', 'x', epsilon => 0.100000006)$$);
SELECT refused($$SELECT * FROM dp.histogram('z', 'x', epsilon => 0.100000005)$$);
\t off
SELECT epsilon_left FROM dp.budgets WHERE dataset = 'z';
SELECT charge, role, dataset, rho, delta, epsilon FROM dp.charges WHERE role = 'regress_ann' ORDER BY charge;

-- Changing a budget: never below what is spent, never to another accounting
SET SESSION AUTHORIZATION regress_curator;
\t on
SELECT refused($$SELECT dp.grant_budget('p', 'regress_ann', 0.999999999, accounting => 'pure')$$);
SELECT refused($$SELECT dp.grant_budget('z', 'regress_ann', 4)$$);
SELECT refused($$SELECT dp.grant_budget('z', 'regress_bob', 4, accounting => 'pure')$$);
SELECT refused($$SELECT dp.grant_budget('p', 'regress_ann', 1.5, accounting => 'pure', overcommit => true)$$);
SELECT refused($$SELECT dp.revoke_budget('p', 'regress_bob')$$);
\t off
SELECT role, epsilon, epsilon_left FROM dp.budgets WHERE dataset = 'p' ORDER BY role;
-- who has no budget is quoted in the terms of the cap
SET SESSION AUTHORIZATION regress_cy;
SELECT rho, epsilon, delta, fits FROM dp.quote('p', 'x', epsilon => 0.5);
-- dropped and registered again: the cap goes on, in the same terms
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.drop_dataset('p');
\t on
SELECT refused($$SELECT dp.create_dataset('p', 't', 5)$$);
SELECT refused($$SELECT dp.create_dataset('p', 't', 0.999999999, accounting => 'pure')$$);
SELECT refused($$SELECT dp.create_dataset('p', 't', 1.5, accounting => 'pure')$$);
\t off
SELECT epsilon_left FROM dp.datasets WHERE dataset = 'p';
SELECT role, epsilon, epsilon_left FROM dp.budgets WHERE dataset = 'p' ORDER BY role;

-- Strategies are chosen for the L1 norm, and kept apart from those for L2
RESET SESSION AUTHORIZATION;
SELECT key::jsonb ->> 'norm' AS norm, key::jsonb ->> 'workload' AS workload, count(*) FROM dp_ledger.strategy GROUP BY 1, 2 ORDER BY 1, 2;
SELECT e, dp.pure_epsilon_of_rho(e * tanh(e / 2), 'zcdp') BETWEEN e - 2e-9 / least(e, 1) AND e + 1e-9 AS back FROM unnest(ARRAY[0.001, 0.1, 1, 5]) e;
-- 10 rows and 10 columns of a square of cells, each counted twice: 20 queries of rank 19, whose basis is measured; Delta_1 is 4
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE v (n int);
INSERT INTO v SELECT i % 100 FROM generate_series(1, 5000) i;
SELECT dp.create_dataset('v', 'v', 1e5, accounting => 'pure'), dp.add_attribute('v', 'n', 0, 100, 100, last => 'open');
SELECT dp.grant_budget('v', 'regress_ann', 1e5, accounting => 'pure');
SELECT 'matrix({' || string_agg(r, ',' ORDER BY q) || '})' AS twice FROM (SELECT q, '{' || string_agg(CASE WHEN c / 10 = q OR c % 10 = q - 10 THEN '2' ELSE '0' END, ',' ORDER BY c) || '}' AS r
  FROM generate_series(0, 99) c, generate_series(0, 19) q GROUP BY q) m \gset
SET SESSION AUTHORIZATION regress_ann;
SELECT min(stderr) * sqrt(2) * sinh(1 / 8.0::float8) BETWEEN 0.999999 AND 1.000001 AS of_delta_4, count(*) FROM dp.quote_queries('v', 'n', :'twice', epsilon => 1);
-- epsilon 10000: next to no noise
SELECT count(*), min(round(estimate)), max(round(estimate)) FROM dp.histogram('v', 'n', :'twice', epsilon => 10000);
-- what is published says epsilon
SELECT release AS measured FROM dp.histogram('v', 'n', :'twice', epsilon => 10000) LIMIT 1 \gset
SELECT dp.publish(:measured, 'pg_temp.published');
SELECT substring(obj_description('published'::regclass) FROM 'charge \d+ of (\w+ \d+) on') AS cost;
DROP TABLE published;
RESET SESSION AUTHORIZATION;
SELECT r.sensitivity_l1, s.rank, octet_length(r.payload) / 8 AS measured FROM dp_ledger.release r JOIN dp_ledger.strategy s ON s.id = r.strategy_id ORDER BY r.id DESC LIMIT 1;
-- neighbours by substitution, and units of up to three rows: Delta_1 is 2, and 6
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE s (b boolean);
CREATE TABLE s3 (id int NOT NULL, b boolean);
SELECT dp.create_dataset('s', 's', 10, neighbours => 'substitute', accounting => 'pure'), dp.add_attribute('s', 'b');
SELECT dp.create_dataset('s3', 's3', 10, neighbours => 'substitute', unit => 'id', max_rows => 3, accounting => 'pure'), dp.add_attribute('s3', 'b');
SELECT a.max_stderr * sqrt(2) * sinh(1 / 4.0::float8) BETWEEN 0.999999 AND 1.000001 AS two,
       c.max_stderr * sqrt(2) * sinh(1 / 12.0::float8) BETWEEN 0.999999 AND 1.000001 AS six
  FROM dp.quote('s', 'b', epsilon => 1) a, dp.quote('s3', 'b', epsilon => 1) c;
RESET SESSION AUTHORIZATION;
-- the sums are those of the charges
SELECT d.dataset, d.epsilon_spent = sum(c.cap_epsilon) AS pure, d.rho_spent = sum(c.cap_rho) AS rho FROM dp_ledger.dataset d JOIN dp_ledger.charge c ON c.dataset_id = d.id GROUP BY d.id ORDER BY d.id;
SELECT b.role_name, b.epsilon_spent = sum(c.epsilon) AS pure, b.rho_spent = sum(c.rho) AS rho FROM dp_ledger.budget b JOIN dp_ledger.charge c ON c.budget_id = b.id GROUP BY b.id ORDER BY b.id;

DROP EXTENSION pg_epsilon;
DROP FUNCTION refused;
DROP OWNED BY regress_curator;
DROP ROLE regress_curator, regress_ann, regress_bob, regress_cy;
