-- Budgets: granted, raised, lowered, revoked; whose budget a role draws on; what is left is what fits.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
CREATE ROLE regress_bob;
CREATE ROLE regress_team;
CREATE ROLE regress_lab;
CREATE ROLE regress_cy IN ROLE regress_team;
CREATE ROLE regress_dan IN ROLE regress_team, regress_lab;
CREATE ROLE regress_eve NOINHERIT IN ROLE regress_team;
GRANT CREATE ON SCHEMA public TO regress_curator;

SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE t (b boolean);
INSERT INTO t SELECT i % 3 = 0 FROM generate_series(1, 100) i;
SELECT dp.create_dataset('d', 't', 10, 1e-6);
SELECT dp.add_attribute('d', 'b');

\t on
SELECT refused($$SELECT dp.grant_budget('d', NULL, 1)$$);
SELECT refused($$SELECT dp.grant_budget(NULL, 'regress_ann', 1)$$);
SELECT refused($$SELECT dp.grant_budget('d', 'regress_ann', NULL)$$);
SELECT refused($$SELECT dp.grant_budget('d', 'regress_noone', 1)$$);
SELECT refused($$SELECT dp.grant_budget('d', 'public', 1)$$);
SELECT refused($$SELECT dp.grant_budget('d', 'regress_ann', 0)$$);
SELECT refused($$SELECT dp.grant_budget('d', 'regress_ann', -1)$$);
SELECT refused($$SELECT dp.grant_budget('d', 'regress_ann', 'NaN')$$);
SELECT refused($$SELECT dp.grant_budget('d', 'regress_ann', 1, 0)$$);
SELECT refused($$SELECT dp.grant_budget('d', 'regress_ann', 1, 1)$$);
SELECT refused($$SELECT dp.grant_budget('d', 'regress_ann', 1, 1e-6, accounting => 'pure')$$);
SELECT refused($$SELECT dp.grant_budget('d', 'regress_ann', 1, accounting => 'x')$$);
SELECT refused($$SELECT dp.revoke_budget('d', 'regress_ann')$$);
SELECT refused($$SELECT dp.revoke_budget('d', 'regress_noone')$$);
\t off

-- delta is that of the cap where it is not given; all but delta_share of it turns rho into epsilon
SELECT dp.grant_budget('d', 'regress_ann', 1);
SELECT dp.grant_budget('d', 'regress_bob', 2, 1e-9);
SELECT role, accounting, epsilon, delta, rho_limit = dp.rho_of_epsilon(epsilon, delta * (1 - delta_share)) AS rho_limit_is_of_the_rest,
       rho_limit * 1e9 = round(rho_limit::numeric, 9) * 1e9 AS whole_nano, rho_spent, rho_left = rho_limit AS all_left,
       epsilon_left <= epsilon AND epsilon_left > epsilon - 1e-6 AS epsilon_left, frozen
  FROM dp.budgets ORDER BY role;
-- the conversion is monotone, rounds down, and its inverse never admits more
SELECT a, bool_and(dp.epsilon_of_rho(dp.rho_of_epsilon(e, d, a), d, a) <= e
                AND dp.epsilon_of_rho(dp.rho_of_epsilon(e, d, a) + 1e-9, d, a) > e) AS tight
  FROM unnest('{gdp,zcdp}'::text[]) a, unnest(ARRAY[0.01, 0.1, 0.5, 1, 2, 10, 100]) e, unnest(ARRAY[1e-3, 1e-6, 1e-9, 1e-12]) d GROUP BY a ORDER BY a;

-- epsilon_left as printed, read again, fits, and spends exactly everything
SET SESSION AUTHORIZATION regress_ann;
SET client_min_messages = warning;
SELECT count(*) FROM dp.histogram('d', 'b', epsilon => 0.3);
SELECT epsilon_left FROM dp.budgets \gset
\t on
-- a hair more does not fit, and says what does
SELECT regexp_replace(refused(format('SELECT * FROM dp.histogram(%L, %L, epsilon => %s + 1e-6)', 'd', 'b', :'epsilon_left')), '[0-9.]+\d', '#', 'g');
\t off
SELECT count(*) FROM dp.histogram('d', 'b', 'total', epsilon => :epsilon_left);
SELECT rho_left, rho_spent = rho_limit AS all_spent, epsilon_left FROM dp.budgets;
\t on
SELECT refused($$SELECT * FROM dp.histogram('d', 'b', rho => 1e-9)$$);
\t off
-- what was paid is still answered, at any cost given that means the same
SELECT count(*) FROM dp.histogram('d', 'b', epsilon => 0.3);
SELECT count(*) FROM dp.charges;

-- raised: the total is set, what is spent stays
SET SESSION AUTHORIZATION regress_curator;
SELECT rho_spent AS spent FROM dp.budgets WHERE role = 'regress_ann' \gset
SELECT dp.grant_budget('d', 'regress_ann', 3);
SELECT epsilon, rho_spent = :spent AS kept, rho_left > 0 AS left FROM dp.budgets WHERE role = 'regress_ann';
-- lowered, but not below what is spent
\t on
SELECT refused($$SELECT dp.grant_budget('d', 'regress_ann', 2)$$);
SELECT regexp_replace(refused($$SELECT dp.grant_budget('d', 'regress_ann', 0.9)$$), 'rho [0-9.]+', 'rho #');
SELECT refused($$SELECT dp.grant_budget('d', 'regress_ann', 1)$$);
SELECT refused($$SELECT dp.revoke_budget('d', 'regress_ann')$$);
SELECT refused($$SELECT dp.revoke_budget('d', 'regress_bob')$$);
\t off
SELECT role, rho_limit = rho_spent AS nothing_left, rho_spent = 0 AS nothing_spent FROM dp.budgets ORDER BY role;
-- a budget above the cap: only if that is said, and the cap holds; what is left of it is told to the owner alone
\t on
SELECT refused($$SELECT dp.grant_budget('d', 'regress_bob', 100)$$);
SELECT refused($$SELECT dp.grant_budget('d', 'regress_bob', 100, overcommit => NULL)$$);
\t off
SELECT dp.grant_budget('d', 'regress_bob', 100, overcommit => true);
SELECT epsilon_left FROM dp.datasets \gset
SET SESSION AUTHORIZATION regress_bob;
SELECT epsilon, epsilon_left > 99 AS own_left FROM dp.budgets;
\t on
SELECT regexp_replace(refused($$SELECT * FROM dp.histogram('d', 'b', epsilon => 10)$$), '[0-9.]+\d', '#', 'g');
\t off
SELECT count(*) FROM dp.histogram('d', 'b', epsilon => :epsilon_left, delta => 1e-6 * 0.9375::float8);
SELECT epsilon_left > 50 AS own_left FROM dp.budgets;
SELECT epsilon_left IS NULL AS not_told FROM dp.datasets;
SET SESSION AUTHORIZATION regress_curator;
SELECT epsilon_left FROM dp.datasets;

-- whose budget: one's own first, else the one that is inherited, else an error that names the choices
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE t2 (b boolean);
SELECT dp.create_dataset('d2', 't2', 100);
SELECT dp.add_attribute('d2', 'b');
SELECT dp.grant_budget('d2', 'regress_team', 5), dp.grant_budget('d2', 'regress_lab', 5), dp.grant_budget('d2', 'regress_ann', 5);
\t on
SET SESSION AUTHORIZATION regress_cy;
SELECT refused($$SELECT * FROM dp.histogram('d2', 'b', rho => 0.001)$$);
SELECT refused($$SELECT * FROM dp.histogram('d2', 'b', rho => 0.001, budget => 'regress_ann')$$);
SELECT refused($$SELECT * FROM dp.histogram('d2', 'b', rho => 0.001, budget => 'regress_noone')$$);
SET SESSION AUTHORIZATION regress_dan;
SELECT refused($$SELECT * FROM dp.histogram('d2', 'b', rho => 0.002)$$);
SELECT refused($$SELECT * FROM dp.histogram('d2', 'b', rho => 0.002, budget => 'regress_lab')$$);
SET SESSION AUTHORIZATION regress_eve;
SELECT refused($$SELECT * FROM dp.histogram('d2', 'b', rho => 0.003)$$);
SELECT refused($$SELECT * FROM dp.histogram('d2', 'b', rho => 0.003, budget => 'regress_team')$$);
SET ROLE regress_team;
SELECT refused($$SELECT * FROM dp.histogram('d2', 'b', rho => 0.003)$$);
RESET ROLE;
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.grant_budget('d2', 'regress_dan', 5);
SET SESSION AUTHORIZATION regress_dan;
SELECT refused($$SELECT * FROM dp.histogram('d2', 'b', rho => 0.004)$$);
SELECT refused($$SELECT * FROM dp.histogram('d2', 'b', rho => 0.005, budget => 'regress_team')$$);
-- the owner has no budget of his own unless he grants one
SET SESSION AUTHORIZATION regress_curator;
SELECT refused($$SELECT * FROM dp.histogram('d2', 'b', rho => 0.006)$$);
\t off
-- charged is the current user; the budget is that of the role it was granted to
SELECT c.role, c.rho, r.role_name AS budget FROM dp.charges c
  CROSS JOIN LATERAL (SELECT b.role AS role_name FROM dp.budgets b WHERE b.dataset = 'd2' AND b.role IN
    (CASE c.rho WHEN 0.001 THEN 'regress_team' WHEN 0.002 THEN 'regress_lab' WHEN 0.003 THEN 'regress_team' WHEN 0.004 THEN 'regress_dan' WHEN 0.005 THEN 'regress_team' END)) r
 WHERE c.dataset = 'd2' ORDER BY c.charge;
SELECT role, rho_spent FROM dp.budgets WHERE dataset = 'd2' ORDER BY role;
SELECT dp.revoke_budget('d2', 'regress_team');
\t on
SET SESSION AUTHORIZATION regress_cy;
SELECT refused($$SELECT * FROM dp.histogram('d2', 'b', rho => 0.0001)$$);
\t off

RESET SESSION AUTHORIZATION;
-- another budget pays for a release that exists, the cap does not
SET SESSION AUTHORIZATION regress_ann;
SELECT rho_spent FROM dp.budgets WHERE dataset = 'd2';
SELECT count(*) FROM dp.histogram('d2', 'b', rho => 0.004);
SELECT rho_spent FROM dp.budgets WHERE dataset = 'd2';
RESET SESSION AUTHORIZATION;
SELECT rho_spent, (SELECT sum(rho) FROM dp_ledger.charge c WHERE c.dataset_id = d.id) AS charged,
       (SELECT sum(cap_rho) FROM dp_ledger.charge c WHERE c.dataset_id = d.id) AS charged_to_cap,
       (SELECT count(*) FROM dp_ledger.release r WHERE r.dataset_id = d.id) AS releases, charges
  FROM dp_ledger.dataset d WHERE dataset = 'd2';
-- nothing is ever spent beyond a limit, and the sums are those of the charges
SELECT b.role_name, b.rho_spent <= b.rho_limit AS within, b.rho_spent = sum(c.rho) AS adds_up
  FROM dp_ledger.budget b JOIN dp_ledger.charge c ON c.budget_id = b.id GROUP BY b.id ORDER BY b.id;

-- What one request may cost: told, quoted, refused before anything is charged, changed by granting again, an act
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE t3 (b boolean);
SELECT dp.create_dataset('d3', 't3', 100);
SELECT dp.add_attribute('d3', 'b');
\t on
SELECT refused($$SELECT dp.grant_budget('d3', 'regress_ann', 5, most_per_request => 0)$$);
SELECT refused($$SELECT dp.grant_budget('d3', 'regress_ann', 5, most_per_request => -1)$$);
SELECT refused($$SELECT dp.grant_budget('d3', 'regress_ann', 5, most_per_request => 'NaN')$$);
SELECT refused($$SELECT dp.grant_budget('d3', 'regress_ann', 5, most_per_request => 1e-12)$$);
\t off
SELECT dp.grant_budget('d3', 'regress_ann', 5, most_per_request => 0.5), dp.grant_budget('d3', 'regress_bob', 5, accounting => 'pure', most_per_request => 0.25);
SELECT role, epsilon, most_per_request FROM dp.budgets WHERE dataset = 'd3' ORDER BY role;
SET SESSION AUTHORIZATION regress_ann;
SELECT e, fits FROM unnest(ARRAY[0.5, 0.501]) e, dp.quote('d3', 'b', epsilon => e);
SELECT count(*) FROM dp.histogram('d3', 'b', epsilon => 0.5);
\t on
SELECT regexp_replace(refused($$SELECT * FROM dp.histogram('d3', 'b', epsilon => 0.501)$$), '[0-9.]+\d', '#', 'g');
SELECT regexp_replace(refused($$SELECT * FROM dp.histogram('d3', 'b', max_stderr => 0.1, fresh => true)$$), '[0-9.]+\d', '#', 'g');
SET SESSION AUTHORIZATION regress_bob;
SELECT refused($$SELECT * FROM dp.histogram('d3', 'b', epsilon => 0.26)$$);
\t off
SELECT count(*) FROM dp.histogram('d3', 'b', epsilon => 0.25);
SET SESSION AUTHORIZATION regress_curator;
SELECT count(*) AS charges FROM dp.charges WHERE dataset = 'd3';
SELECT dp.grant_budget('d3', 'regress_ann', 5);
SELECT subject, new_value -> 'most_per_request' AS most FROM dp.acts WHERE dataset = 'd3' AND act = 'grant_budget' ORDER BY at;
SET SESSION AUTHORIZATION regress_ann;
SELECT most_per_request FROM dp.budgets WHERE dataset = 'd3';
-- a charge of more than a third of what is left says so
SET client_min_messages = notice;
SELECT count(*) FROM dp.histogram('d3', 'b', rho => 0.05);
SELECT count(*) FROM dp.histogram('d3', 'b', rho => 0.1);
RESET client_min_messages;
RESET SESSION AUTHORIZATION;

DROP EXTENSION pg_epsilon;
DROP FUNCTION refused;
DROP OWNED BY regress_curator;
DROP ROLE regress_curator, regress_ann, regress_bob, regress_cy, regress_dan, regress_eve, regress_team, regress_lab;
