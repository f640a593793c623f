-- dp.quote_fit and dp.quote_minimum: what they say is what dp.fit and dp.minimize_max_affine charge; they read no data and charge nothing.
CREATE EXTENSION pg_epsilon;
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
CREATE ROLE regress_bob;
CREATE ROLE regress_pia;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;
\pset format unaligned
\pset footer off
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE people (age int, smokes boolean, ill boolean);
INSERT INTO people SELECT 20 + i % 60, i % 3 = 0, i % 5 = 0 FROM generate_series(1, 300) i;
SELECT dp.create_dataset('d', 'people', 10);
SELECT dp.add_attribute('d', 'age', 0, 100, 10);
SELECT dp.add_attribute('d', 'smokes');
SELECT dp.add_attribute('d', 'ill');
SELECT dp.grant_budget('d', 'regress_ann', 4, 1e-6);
SELECT dp.grant_budget('d', 'regress_pia', 1, accounting => 'pure');
CREATE TABLE costs (slope float8, cost float8);
INSERT INTO costs VALUES (1, 2), (-1, 3), (0.5, 1);
SELECT dp.create_dataset('v', 'costs', 10, neighbours => 'values', private_column => 'cost', max_change => 0.1);
SELECT dp.add_attribute('v', 'slope', -1, 1, 2);
SELECT dp.grant_budget('v', 'regress_ann', 2, 1e-6);

-- a fit: told, not charged
SET SESSION AUTHORIZATION regress_ann;
CREATE TEMP TABLE q AS SELECT * FROM dp.quote_fit('d', 'logistic_regression', 'ill', '{age,smokes}', epsilon => 0.5);
SELECT attname, atttypid::regtype FROM pg_attribute WHERE attrelid = 'q'::regclass AND attnum > 0 ORDER BY attnum;
SELECT rho = dp.rho_of_epsilon(0.5, 1e-6 * 0.9375::float8) AS rho, epsilon <= 0.5 AND epsilon > 0.5 - 1e-6 AS epsilon, delta, method, fits, epsilon_left_after < 4 AS left_after, replay FROM q;
SELECT count(*) FROM dp.charges;
-- then the fit keeps to it, and is a replay
SELECT count(*) FROM dp.fit('d', 'logistic_regression', 'ill', '{age,smokes}', epsilon => 0.5);
SELECT c.rho = q.rho AS same_cost FROM dp.charges c, q;
SELECT abs(b.epsilon_left - q.epsilon_left_after) < 1e-12 AS same_left FROM dp.budgets b, q WHERE b.dataset = 'd';
SELECT r.replay, r.fits, abs(r.epsilon_left_after - b.epsilon_left) < 1e-12 AS unchanged
  FROM dp.quote_fit('d', 'logistic_regression', 'ill', '{age,smokes}', epsilon => 0.5) r, dp.budgets b WHERE b.dataset = 'd';
SELECT replay FROM dp.quote_fit('d', 'logistic_regression', 'ill', '{age,smokes}', epsilon => 0.5, fresh => true);
SELECT replay FROM dp.quote_fit('d', 'logistic_regression', 'ill', '{age}', epsilon => 0.5);
-- an (epsilon, delta) method: charged what a pure epsilon costs, and delta
SELECT round(rho::numeric, 6) AS rho, epsilon, delta > 0 AND delta <= 5e-8 AS delta, method, fits FROM dp.quote_fit('d', 'svm', 'ill', '{age,smokes}', 'sgd', epsilon => 0.5, options => '{"iterations": 10}');
-- more than there is
SELECT fits, epsilon_left_after, replay FROM dp.quote_fit('d', 'svm', 'ill', '{age}', epsilon => 5);
-- a minimum
CREATE TEMP TABLE m AS SELECT * FROM dp.quote_minimum('v', '{slope}', 'cost', '{-1}', '{1}', epsilon => 0.5);
SELECT rho = dp.rho_of_epsilon(0.5, 1e-6 * 0.9375::float8) AS rho, epsilon <= 0.5 AND epsilon > 0.5 - 1e-6 AS epsilon, delta, method, fits, epsilon_left_after < 2 AS left_after, replay FROM m;
SELECT count(*) FROM dp.minimize_max_affine('v', '{slope}', 'cost', '{-1}', '{1}', epsilon => 0.5);
SELECT c.rho = m.rho AS same_cost FROM dp.charges c, m WHERE c.dataset = 'v';
SELECT replay, fits FROM dp.quote_minimum('v', '{slope}', 'cost', '{-1}', '{1}', epsilon => 0.5);
SELECT replay, method FROM dp.quote_minimum('v', '{slope}', 'cost', '{-1}', '{1}', method => 'laplace_data', epsilon => 0.5);
-- pure: epsilon alone is counted
SET SESSION AUTHORIZATION regress_pia;
SELECT rho, epsilon, delta, method, fits, round(epsilon_left_after::numeric, 9) AS left_after FROM dp.quote_fit('d', 'logistic_regression', 'ill', '{age}', epsilon => 0.25);
SELECT dp.quote_fit('d', 'logistic_regression', 'ill', '{age}', rho => 0.25);
SELECT dp.quote_fit('d', 'logistic_regression', 'ill', '{age}', epsilon => 0.25, delta => 1e-9);
-- who has no budget hears the price, in the accounting of the dataset
SET SESSION AUTHORIZATION regress_bob;
SELECT rho > 0 AS rho, delta, fits, epsilon_left_after, replay FROM dp.quote_fit('d', 'linear_regression', 'age', '{smokes}', epsilon => 0.25);
SELECT rho > 0 AS rho, delta, fits, epsilon_left_after, replay FROM dp.quote_minimum('v', '{slope}', 'cost', '{-1}', '{1}', epsilon => 0.25);
-- what is wrong is so before anything is charged
SELECT dp.quote_fit('d', 'svm', 'ill', '{age}');
SELECT dp.quote_fit('d', 'svm', 'ill', '{nobody}', epsilon => 0.25);
SELECT dp.quote_fit('d', 'svm', 'ill', '{age}', 'nonprivate');
SELECT dp.quote_fit('d', 'svm', 'ill', '{age}', 'gd', epsilon => 1e-9);
SELECT dp.quote_minimum('d', '{age}', 'ill', '{-1}', '{1}', epsilon => 0.25);
SELECT dp.quote_minimum('v', '{slope}', 'cost', '{-1}', '{1}', epsilon => 0.25, rho => 0.1);
-- a model without privacy costs nothing, and is its owner's
SET SESSION AUTHORIZATION regress_curator;
SELECT rho, epsilon, method, fits, replay FROM dp.quote_fit('d', 'svm', 'ill', '{age}', 'nonprivate');
RESET SESSION AUTHORIZATION;
SELECT count(*) AS charges FROM dp_ledger.charge;
DROP EXTENSION pg_epsilon;
DROP OWNED BY regress_curator, regress_ann, regress_bob, regress_pia;
DROP ROLE regress_curator, regress_ann, regress_bob, regress_pia;
