-- Accounting: gdp, zcdp and pure beside each other; delta_share; conversions; what was spent.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
CREATE ROLE regress_bob;
CREATE ROLE regress_cy;
GRANT CREATE ON SCHEMA public TO regress_curator;

-- Conversions.  Limits of Gaussian differential privacy, never above 40 digits' worth of them and within 1e-9
SELECT e, d, l, dp.rho_of_epsilon(e, d) <= l AND dp.rho_of_epsilon(e, d) > l - 1.1e-9 AS gdp, dp.rho_of_epsilon(e, d) = dp.rho_of_epsilon(e, d, 'gdp') AS by_default,
       dp.epsilon_of_rho(dp.rho_of_epsilon(e, d), d) <= e AND dp.epsilon_of_rho(dp.rho_of_epsilon(e, d) + 1e-9, d) > e AS inverse,
       round((dp.rho_of_epsilon(e, d) / dp.rho_of_epsilon(e, d / 2, 'zcdp'))::numeric, 3) AS of_half_delta_in_zcdp
  FROM (VALUES (0.1, 1e-9, 0.000198331960777), (1, 1e-9, 0.0165574152451), (10, 1e-9, 1.18253335154), (1, 1e-6, 0.0280144819126), (4, 1e-6, 0.351003648416)) v(e, d, l);
SELECT dp.rho_of_epsilon(1, 5e-10, 'zcdp') AS zcdp, dp.epsilon_of_rho(0.01, 1e-9, 'zcdp') > dp.epsilon_of_rho(0.01, 1e-9) AS gdp_is_tighter;
-- what a pure epsilon costs
SELECT e, round((dp.pure_epsilon_of_rho(g) - e)::numeric, 5) AS gdp, round((dp.pure_epsilon_of_rho(e * tanh(e / 2), 'zcdp') - e)::numeric, 5) AS zcdp
  FROM (VALUES (0.1, 0.007851), (0.5, 0.194621), (1, 0.758956), (2, 2.779991), (5, 12.234814)) v(e, g);
\t on
SELECT refused($$SELECT dp.epsilon_of_rho(1, 1e-9, 'pure')$$);
SELECT refused($$SELECT dp.rho_of_epsilon(1, 1e-9, 'Gdp')$$);
SELECT refused($$SELECT dp.pure_epsilon_of_rho(1, 'pure')$$);
\t off

-- Which delta_share there is
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE g (x int, b boolean, y boolean);
INSERT INTO g SELECT i % 10, i % 3 = 0, i % 2 = 0 FROM generate_series(1, 1000) i;
CREATE TABLE z (LIKE g);
CREATE TABLE p (LIKE g);
CREATE TABLE n (LIKE g);
\t on
SELECT refused($$SELECT dp.create_dataset('g', 'g', 8, 1e-6, delta_share => -0.1)$$);
SELECT refused($$SELECT dp.create_dataset('g', 'g', 8, 1e-6, delta_share => 1)$$);
SELECT refused($$SELECT dp.create_dataset('g', 'g', 8, 1e-6, delta_share => 'NaN')$$);
SELECT refused($$SELECT dp.create_dataset('g', 'g', 8, accounting => 'pure', delta_share => 0.5)$$);
SELECT refused($$SELECT dp.create_dataset('g', 'g', 8, 1e-6, accounting => NULL)$$);
SELECT refused($$SELECT dp.create_dataset('g', 'g', 8, 1e-6)$$);
SELECT refused($$SELECT dp.create_dataset('z', 'z', 8, 1e-6, accounting => 'zcdp')$$);
SELECT refused($$SELECT dp.create_dataset('p', 'p', 8, accounting => 'pure', delta_share => 0)$$);
SELECT refused($$SELECT dp.create_dataset('n', 'n', 8, 1e-6, delta_share => 0)$$);
\t off
SELECT dp.add_attribute(d, 'x', 0, 10, 10, last => 'open'), dp.add_attribute(d, 'b'), dp.add_attribute(d, 'y') FROM unnest('{g,z,p,n}'::text[]) d;
SELECT dataset, accounting, delta_share, round(epsilon_left::numeric, 6) AS epsilon_left FROM dp.datasets ORDER BY dataset;
-- the cap and a budget of the same numbers: delta (1 - delta_share) for rho, and the rest for charges
SELECT dp.grant_budget('g', 'regress_ann', 2), dp.grant_budget('z', 'regress_ann', 2), dp.grant_budget('n', 'regress_ann', 2);
SELECT dp.grant_budget('g', 'regress_bob', 0.6, accounting => 'pure'), dp.grant_budget('z', 'regress_bob', 0.6, accounting => 'pure'), dp.grant_budget('n', 'regress_cy', 2, delta_share => 0.75, overcommit => true);
SELECT dataset, role, accounting, delta, delta_share, rho_limit = dp.rho_of_epsilon(epsilon, delta * (1 - delta_share), accounting) AS limit_is_at_the_rest,
       round(epsilon_left::numeric, 6) AS epsilon_left FROM dp.budgets WHERE accounting <> 'pure' ORDER BY dataset, role;
SELECT description FROM unnest('{g,p}'::text[]) d, dp.describe(d) WHERE description LIKE 'cap:%';
SELECT act, subject, new_value -> 'accounting' AS accounting, new_value -> 'delta_share' AS delta_share FROM dp.acts WHERE dataset IN ('n', 'p') AND act IN ('create_dataset', 'grant_budget') ORDER BY dataset, at;
-- a cap admits budgets of its own accounting, and pure ones
\t on
SELECT refused($$SELECT dp.grant_budget('g', 'regress_cy', 1, accounting => 'zcdp')$$);
SELECT refused($$SELECT dp.grant_budget('z', 'regress_cy', 1, accounting => 'gdp')$$);
SELECT refused($$SELECT dp.grant_budget('p', 'regress_cy', 1, accounting => 'gdp')$$);
SELECT refused($$SELECT dp.grant_budget('n', 'regress_cy', 2, delta_share => 0.75)$$);
SELECT refused($$SELECT dp.grant_budget('g', 'regress_cy', 1, delta_share => 1)$$);
SELECT refused($$SELECT dp.grant_budget('g', 'regress_cy', 1, accounting => 'pure', delta_share => 0.1)$$);
SELECT refused($$SELECT dp.grant_budget('g', 'regress_cy', 0.1, accounting => 'pure', delta_share => 0)$$);
SELECT dp.revoke_budget('g', 'regress_cy');
\t off

-- The same question at the same epsilon and delta: the variance under zcdp is so many times that under gdp
CREATE TABLE g6 (LIKE g);
CREATE TABLE z6 (LIKE g);
CREATE TABLE g9 (LIKE g);
CREATE TABLE z9 (LIKE g);
SELECT dp.create_dataset('g6', 'g6', 1, 1e-6), dp.create_dataset('z6', 'z6', 1, 1e-6, accounting => 'zcdp'),
       dp.create_dataset('g9', 'g9', 1, 1e-9), dp.create_dataset('z9', 'z9', 1, 1e-9, accounting => 'zcdp');
SELECT dp.add_attribute(d, 'x', 0, 10, 10, last => 'open') FROM unnest('{g6,z6,g9,z9}'::text[]) d;
SET client_min_messages = warning;
SELECT w, round((z9.max_stderr ^ 2 / g9.max_stderr ^ 2)::numeric, 3) AS at_1e_9, round((z6.max_stderr ^ 2 / g6.max_stderr ^ 2)::numeric, 3) AS at_1e_6,
       g9.accounting || ' ' || z9.accounting AS accounting, g9.delta, z9.delta AS zcdp_delta
  FROM unnest('{identity(x),prefix(x),all_range(x),total}'::text[]) w, dp.quote('g9', 'x', w, epsilon => 1) g9, dp.quote('z9', 'x', w, epsilon => 1) z9,
       dp.quote('g6', 'x', w, epsilon => 1) g6, dp.quote('z6', 'x', w, epsilon => 1) z6;
-- a count alone at (1, 1e-9): its standard deviation
SELECT round(max_stderr::numeric, 3) AS stderr FROM dp.quote('g9', 'x', 'total', epsilon => 1);

-- What is charged: the rho that was asked for; the accounting is a part of the request
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM dp.histogram('g', 'x', rho => 0.01);
SELECT count(*) FROM dp.histogram('g', 'x', rho => 0.01);
SELECT count(*) FROM dp.histogram('z', 'x', rho => 0.01);
SELECT dataset, rho, delta, epsilon, request ->> 'accounting' AS accounting FROM dp.charges ORDER BY charge;
-- all that is left fits, and then nothing does
SELECT epsilon_left FROM dp.budgets WHERE dataset = 'g' \gset
SELECT count(*) FROM dp.histogram('g', 'x', 'total', epsilon => :epsilon_left);
SELECT rho_left, epsilon_left FROM dp.budgets WHERE dataset = 'g';
\t on
SELECT refused($$SELECT * FROM dp.histogram('g', 'x', 'total', rho => 1e-9)$$);
\t off
-- a pure charge costs a gdp cap what epsilon-differential privacy costs as Gaussian differential privacy, rounded up
SET SESSION AUTHORIZATION regress_bob;
SELECT count(*) FROM dp.histogram('g', 'b', epsilon => 0.5);
SELECT count(*) FROM dp.histogram('z', 'b', epsilon => 0.5);
RESET SESSION AUTHORIZATION;
SELECT dataset, rho, epsilon, cap_rho, cap_delta, cap_epsilon FROM dp_ledger.charge WHERE epsilon IS NOT NULL ORDER BY dataset;
SELECT DISTINCT d.dataset, r.accounting, r.rho IS NULL AS pure FROM dp_ledger.release r JOIN dp_ledger.dataset d ON d.id = r.dataset_id ORDER BY 1, 2;

-- Granting again: the same accounting keeps what is spent, another one is refused
SET SESSION AUTHORIZATION regress_curator;
\t on
SELECT refused($$SELECT dp.grant_budget('g', 'regress_ann', 3, delta_share => 0)$$);
SELECT refused($$SELECT dp.grant_budget('g', 'regress_ann', 3)$$);
SELECT refused($$SELECT dp.grant_budget('g', 'regress_bob', 0.7, accounting => 'pure')$$);
SELECT regexp_replace(refused($$SELECT dp.grant_budget('g', 'regress_ann', 3, accounting => 'pure')$$), 'rho [0-9.]+', 'rho #');
SELECT refused($$SELECT dp.grant_budget('g', 'regress_bob', 2)$$);
SELECT refused($$SELECT dp.grant_budget('g', 'regress_bob', 2, accounting => 'zcdp')$$);
SELECT refused($$SELECT dp.grant_budget('z', 'regress_bob', 2, overcommit => true)$$);
\t off
SELECT dataset, role, accounting, delta_share, rho_spent > 0 AS spent, rho_left > 0 AS rho_left, epsilon_left > 0 AS left FROM dp.budgets WHERE dataset IN ('g', 'z') ORDER BY dataset, role;

-- Without a share of delta: methods that are charged a delta are refused, auto takes none of them
SET SESSION AUTHORIZATION regress_ann;
\t on
SELECT regexp_replace(refused($$SELECT * FROM dp.fit('n', 'logistic_regression', 'y', '{b}', 'sgd', epsilon => 0.1)$$), 'rho [0-9.]+', 'rho #');
SELECT regexp_replace(refused($$SELECT * FROM dp.fit('n', 'logistic_regression', 'y', '{b}', 'sgd', epsilon => 0.1, delta => 1e-15)$$), 'rho [0-9.]+', 'rho #');
\t off
SELECT m, method, accounting, fits, delta FROM unnest('{auto,sgd,newton}'::text[]) m, dp.quote_fit('n', 'logistic_regression', 'y', '{b}', m, epsilon => 0.1) q;
SELECT count(*) FROM dp.fit('n', 'logistic_regression', 'y', '{b}', epsilon => 0.1);
-- a tenth of what is kept is what such a method is charged by default
SELECT d, delta, fits FROM unnest('{g,z}'::text[]) d, dp.quote_fit(d, 'logistic_regression', 'y', '{b}', 'sgd', epsilon => 0.1);
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.grant_budget('g', 'regress_cy', 1, 2e-7, delta_share => 0.5, overcommit => true);
SET SESSION AUTHORIZATION regress_cy;
SELECT d, delta, fits FROM unnest('{g,n}'::text[]) d, dp.quote_fit(d, 'logistic_regression', 'y', '{b}', 'sgd', epsilon => 0.1);
\t on
SELECT regexp_replace(refused($$SELECT * FROM dp.fit('g', 'logistic_regression', 'y', '{b}', 'sgd', epsilon => 0.1, delta => 6e-7)$$), 'rho [0-9.]+', 'rho #');
\t off

-- What was spent: to a role its own, to the owner everybody's
SET SESSION AUTHORIZATION regress_ann;
SELECT role, delta, rho, delta_spent, epsilon IS NULL AS nothing, abs(epsilon / dp.epsilon_of_rho(rho, delta, 'zcdp') - 1) < 1e-12 AS of_the_sum FROM dp.spent('z');
SELECT role, delta, round(epsilon::numeric, 4) AS epsilon, epsilon < 2 AS below_the_limit FROM dp.spent('g');
SELECT count(*) FROM dp.spent('p');
SET SESSION AUTHORIZATION regress_bob;
SELECT * FROM dp.spent('g');
-- the deltas that were charged are taken off: at some delta nothing is left
SET SESSION AUTHORIZATION regress_cy;
SELECT count(*) FROM dp.fit('g', 'logistic_regression', 'y', '{b}', 'sgd', epsilon => 0.1, delta => 1e-9);
SELECT role, delta, rho, delta_spent, epsilon IS NULL AS nothing, abs(epsilon / CASE WHEN delta > delta_spent THEN dp.epsilon_of_rho(rho, delta - delta_spent) END - 1) < 1e-9 AS of_the_sum FROM dp.spent('g');
\t on
SELECT refused($$SELECT * FROM dp.fit('n', 'logistic_regression', 'y', '{b}', 'sgd', epsilon => 0.1, delta => 1e-9)$$);
\t off
SET SESSION AUTHORIZATION regress_curator;
SELECT role, count(*), min(delta) AS least, max(delta) AS most, max(rho) AS rho, max(delta_spent) AS delta_spent FROM dp.spent('g') GROUP BY role ORDER BY role NULLS FIRST;
SELECT delta, abs(s.epsilon / dp.epsilon_of_rho(s.rho, s.delta - s.delta_spent) - 1) < 1e-9 AS of_the_sum FROM dp.spent('g') s WHERE role IS NULL AND delta > delta_spent;
\t on
SELECT refused($$SELECT * FROM dp.spent('nothing')$$);
\t off

-- Dropped and registered anew: the cap goes on in the same accounting alone
SELECT dp.drop_dataset('g'), dp.drop_dataset('p');
\t on
SELECT refused($$SELECT dp.create_dataset('g', 'g', 8, 1e-6, accounting => 'zcdp')$$);
SELECT refused($$SELECT dp.create_dataset('g', 'g', 8, accounting => 'pure')$$);
SELECT refused($$SELECT dp.create_dataset('p', 'p', 8)$$);
SELECT refused($$SELECT dp.create_dataset('g', 'g', 8, 1e-6, delta_share => 0)$$);
\t off
SELECT accounting, delta_share FROM dp.datasets WHERE dataset = 'g';

-- A partition that was read for one dataset becomes one of its own: what it lost is carried over to a cap of the same accounting,
-- and pure charges to any
CREATE TABLE w (k int, b boolean) PARTITION BY LIST (k);
CREATE TABLE w1 PARTITION OF w FOR VALUES IN (1);
CREATE TABLE w2 PARTITION OF w FOR VALUES IN (2);
SELECT dp.create_dataset('w', 'w', 8, 1e-6), dp.add_attribute('w', 'b'), dp.grant_budget('w', 'regress_ann', 2), dp.grant_budget('w', 'regress_bob', 1, accounting => 'pure');
SET SESSION AUTHORIZATION regress_bob;
SELECT count(*) FROM dp.histogram('w', 'b', epsilon => 0.5);
SET SESSION AUTHORIZATION regress_curator;
ALTER TABLE w DETACH PARTITION w1;
SELECT dp.create_dataset('w1', 'w1', 8, 1e-6, accounting => 'zcdp');
SELECT role, delta, rho FROM dp.spent('w1') WHERE delta = 1e-6;
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM dp.histogram('w', 'b', rho => 0.01);
SET SESSION AUTHORIZATION regress_curator;
ALTER TABLE w DETACH PARTITION w2;
\t on
SELECT refused($$SELECT dp.create_dataset('w2', 'w2', 8, 1e-6, accounting => 'zcdp')$$);
SELECT refused($$SELECT dp.create_dataset('w2', 'w2', 8, accounting => 'pure')$$);
SELECT refused($$SELECT dp.create_dataset('w2', 'w2', 8, 1e-6)$$);
\t off
SELECT rho FROM dp.spent('w2') WHERE delta = 1e-6;
RESET SESSION AUTHORIZATION;
-- the sums are those of the charges
SELECT d.dataset, d.epsilon_spent = sum(c.cap_epsilon) AS pure, d.rho_spent = sum(c.cap_rho) AS rho, d.delta_spent = sum(c.cap_delta) AS delta FROM dp_ledger.dataset d JOIN dp_ledger.charge c ON c.dataset_id = d.id GROUP BY d.id ORDER BY d.id;

DROP EXTENSION pg_epsilon;
DROP FUNCTION refused;
DROP OWNED BY regress_curator;
DROP ROLE regress_curator, regress_ann, regress_bob, regress_cy;
