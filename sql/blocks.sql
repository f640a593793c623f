-- Blocks of time: a cap that holds for each of them.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
SET TimeZone = 'Europe/Paris';
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
CREATE ROLE regress_bob;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET SESSION AUTHORIZATION regress_curator;
-- two rows a day of 2026, five without a usable time
CREATE TABLE visits (day date, at timestamp, seen timestamptz, ward text, age int, patient int);
INSERT INTO visits SELECT '2026-01-01'::date + n / 2, '2026-01-01'::timestamp + n / 2 * interval '1 day', '2026-01-01'::timestamptz + n / 2 * interval '1 day',
    CASE n % 2 WHEN 0 THEN 'a' ELSE 'b' END, 20 + n % 50, n / 10 FROM generate_series(0, 729) n;
INSERT INTO visits VALUES (NULL, NULL, NULL, 'a', 30, 1), (NULL, NULL, NULL, 'a', 30, 1), ('infinity', 'infinity', 'infinity', 'a', 30, 2),
    ('-infinity', '-infinity', '-infinity', 'b', 30, 3), ('infinity', 'infinity', 'infinity', 'b', 30, 3);
-- what is refused
SELECT refused($$SELECT dp.create_dataset('visits', 'visits', 4, block => '1 month')$$);
SELECT refused($$SELECT dp.create_dataset('visits', 'visits', 4, block_column => 'day')$$);
SELECT refused($$SELECT dp.create_dataset('visits', 'visits', 4, max_blocks => 1)$$);
SELECT refused(format($$SELECT dp.create_dataset('visits', 'visits', 4, block => %L, block_column => 'day')$$, block)) FROM unnest('{1 hour,0,-1 month,1 month 1 day,1 day 1 hour}'::text[]) block;
SELECT refused(format($$SELECT dp.create_dataset('visits', 'visits', 4, block => '1 month', block_column => %L)$$, c)) FROM unnest('{age,none}'::text[]) c;
SELECT refused($$SELECT dp.create_dataset('visits', 'visits', 4, block => '1 month', block_column => 'day', max_blocks => 2)$$);
SELECT refused($$SELECT dp.create_dataset('visits', 'visits', 4, unit => 'patient', block => '1 month', block_column => 'day')$$);
SELECT refused($$SELECT dp.create_dataset('visits', 'visits', 4, unit => 'patient', block => '1 month', block_column => 'day', max_blocks => 0)$$);
SELECT refused($$SELECT dp.create_dataset('visits', 'visits', 4, block => '1 month', block_column => 'day', neighbours => 'values', private_column => 'age', max_change => 1)$$);
SELECT dp.create_dataset('ages', 'visits', 4);
SELECT dp.drop_dataset('ages');
SELECT refused($$SELECT dp.create_dataset('visits', 'visits', 4, block => '1 month', block_column => 'day')$$);
-- another table: what was registered without blocks cannot be counted by blocks
CREATE TABLE stays AS TABLE visits;
SELECT dp.create_dataset('stays', 'stays', 4000, block => '1 month', block_column => 'day');
SELECT dp.add_edges('stays', 'day', '{2026-01-01,2026-02-01,2026-03-01,2026-04-01,2026-05-01,2026-06-01,2026-07-01,2026-08-01,2026-09-01,2026-10-01,2026-11-01,2026-12-01,2027-01-01}', outside => 'drop');
SELECT dp.add_attribute('stays', 'ward', '{a,b}'::text[]);
SELECT dp.add_attribute('stays', 'age', 0, 100, 10);
SELECT dp.grant_budget('stays', 'regress_ann', 4000);
SELECT line FROM dp.describe('stays') line WHERE line ~ '^(time|blocks|cap)' OR line ~ 'blocks';
SELECT refused($$SELECT dp.set_time('stays', 'at')$$);
SELECT dp.set_time('stays', 'day', append_only => true);
-- what an answer reads is what it is charged to: 62 rows of March, 31 of ward a
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_ann;
SELECT round(estimate) FROM dp.histogram('stays', '{}', predicate => $$day >= '2026-03-01' AND day < '2026-04-01'$$, epsilon => 2000);
SELECT round(estimate) FROM dp.histogram('stays', 'ward', predicate => $$day >= '2026-03-01' AND day < '2026-04-01'$$, epsilon => 1000);
SELECT refused($$SELECT * FROM dp.histogram('stays', 'ward', predicate => $p$day >= '2026-03-01' AND day < '2026-04-01'$p$, epsilon => 1600)$$);
-- last month's questions leave this month's budget whole, but the role's own is one total
SELECT refused($$SELECT * FROM dp.histogram('stays', 'ward', predicate => $p$day >= '2026-04-01' AND day < '2026-05-01'$p$, epsilon => 3900)$$);
SELECT round(epsilon_left / 100) FROM dp.budgets;
SELECT count(*) FROM dp.blocks;
SET SESSION AUTHORIZATION regress_curator;
SELECT role, starts, ends, round(epsilon_spent / 100) AS spent, round(epsilon_left / 100) AS left FROM dp.blocks;
SELECT round(epsilon_left / 100) FROM dp.datasets WHERE dataset = 'stays';
-- a budget of each block
SELECT refused($$SELECT dp.grant_budget('stays', 'regress_bob', 100, per_block => true)$$);
SELECT refused($$SELECT dp.grant_budget('stays', 'regress_bob', 100, accounting => 'pure', per_block => true)$$);
SELECT dp.revoke_budget('stays', 'regress_ann');
SELECT dp.grant_budget('stays', 'regress_bob', 500, per_block => true);
SELECT dp.grant_budget('stays', 'regress_bob', 900, per_block => true);
SELECT refused($$SELECT dp.grant_budget('stays', 'regress_ann', 4000, per_block => true)$$);
SET SESSION AUTHORIZATION regress_bob;
SELECT round(estimate) FROM dp.histogram('stays', 'ward', predicate => $$day >= '2026-01-01' AND day < '2026-02-01'$$, epsilon => 800);
SELECT round(estimate) FROM dp.histogram('stays', 'ward', predicate => $$day >= '2026-02-01' AND day < '2026-03-01'$$, epsilon => 800);
SELECT fits, round(epsilon_left_after / 100) FROM dp.quote('stays', 'ward', predicate => $$day >= '2026-02-01' AND day < '2026-03-01'$$, epsilon => 500);
SELECT fits, round(epsilon_left_after / 100) FROM dp.quote('stays', 'ward', predicate => $$day >= '2026-05-01' AND day < '2026-06-01'$$, epsilon => 500);
SELECT refused($$SELECT * FROM dp.histogram('stays', 'ward', predicate => $p$day >= '2026-01-01' AND day < '2026-04-01'$p$, epsilon => 500)$$);
SELECT starts, ends, round(epsilon_spent / 100) AS spent, round(epsilon_left / 100) AS left FROM dp.blocks;
-- the attribute itself drops rows outside of 2026, and those without a time
SELECT min(estimate) BETWEEN 54 AND 58 AS days FROM dp.histogram('stays', 'day', epsilon => 100);
SELECT count(*) FROM dp.histogram('stays', 'ward', epsilon => 100);
SELECT abs(estimate - 122) < 2 AS close FROM dp.aggregate('stays', '{count(*)}', predicate => $$day >= '2026-03-01' AND day < '2026-05-01'$$, epsilon => 100);
-- a condition of one aggregate leaves the others their rows: every block pays
SELECT abs(estimate - CASE WHEN aggregate = 'count(*)' THEN 735 ELSE 118 END) < 2 AS close FROM dp.aggregate('stays', '{count(*),count(*) where (day < ''2026-03-01'')}', rho => 40);
SELECT starts, ends, round(epsilon_spent / 100) AS spent FROM dp.blocks;
RESET SESSION AUTHORIZATION;
SELECT seq, block_from, block_to, other_times FROM dp_ledger.charge WHERE dataset = 'stays' ORDER BY seq;
SELECT ok, message FROM dp.verify_ledger('stays');
-- what is stored of blocks is what the charges say
BEGIN;
UPDATE dp_ledger.block SET rho_spent = rho_spent - 1 WHERE budget_id = 0 AND block = 314;
SELECT ok, message FROM dp.verify_ledger('stays');
ROLLBACK;
BEGIN;
DELETE FROM dp_ledger.block WHERE (budget_id, block) = (SELECT budget_id, max(block) FROM dp_ledger.block WHERE budget_id <> 0 GROUP BY 1);
SELECT ok, message FROM dp.verify_ledger('stays');
ROLLBACK;
BEGIN;
UPDATE dp_ledger.charge SET block_to = block_to - 1 WHERE seq = 1 AND dataset = 'stays';
SELECT ok, message FROM dp.verify_ledger('stays');
ROLLBACK;
-- who takes back a budget of each block takes all of it
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.revoke_budget('stays', 'regress_bob');
SELECT per_block, rho_left, round(epsilon_left) FROM dp.budgets WHERE role = 'regress_bob';
SELECT ok, message FROM dp.verify_ledger('stays');
SELECT dp.grant_budget('stays', 'regress_bob', 1000, per_block => true);
SELECT ok, message FROM dp.verify_ledger('stays');
SELECT starts, ends, round(epsilon_spent / 100) AS spent FROM dp.blocks WHERE role = 'regress_bob';
SELECT act, new_value -> 'per_block' FROM dp.acts WHERE act ~ 'budget' AND subject = 'regress_bob';
-- dropped and registered again: the same blocks, with what they have lost
SELECT dp.drop_dataset('stays');
SELECT refused($$SELECT dp.create_dataset('stays', 'stays', 4000)$$);
SELECT refused($$SELECT dp.create_dataset('stays', 'stays', 4000, block => '2 months', block_column => 'day')$$);
SELECT refused($$SELECT dp.create_dataset('stays', 'stays', 4000, block => '1 month', block_column => 'at')$$);
SELECT dp.create_dataset('stays', 'stays', 4000, block => '1 month', block_column => 'day');
SELECT starts, ends, round(epsilon_spent / 100) AS spent FROM dp.blocks;
SELECT per_block, rho_left FROM dp.budgets ORDER BY role;
SELECT ok, message FROM dp.verify_ledger('stays');
RESET SESSION AUTHORIZATION;
BEGIN;
UPDATE dp_ledger.charge SET block_to = NULL WHERE dataset = 'stays' AND block_to = 9223372036854775807;
SELECT ok, message FROM dp.verify_ledger('stays');
ROLLBACK;
-- a budget per block as high as what a total has spent promises as much again of every other block
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE small (day date);
SELECT dp.create_dataset('small', 'small', 1, accounting => 'pure', block => '1 month', block_column => 'day');
SELECT dp.add_edges('small', 'day', '{2026-01-01,2026-02-01,2026-03-01}', outside => 'drop');
SELECT dp.grant_budget('small', 'regress_ann', 0.5), dp.grant_budget('small', 'regress_bob', 0.5);
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM dp.histogram('small', '{}', predicate => $$day < '2026-02-01'$$, epsilon => 0.5);
SET SESSION AUTHORIZATION regress_bob;
SELECT count(*) FROM dp.histogram('small', '{}', predicate => $$day >= '2026-02-01'$$, epsilon => 0.5);
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.grant_budget('small', 'regress_curator', 0.5);
SELECT refused($$SELECT dp.grant_budget('small', 'regress_ann', 0.5, per_block => true)$$);
-- the zone is meant, and not an abbreviation that a session may define
SET TimeZone = 'EST';
CREATE TABLE zoned (at timestamptz);
SELECT dp.create_dataset('zoned', 'zoned', 10, block => '1 day', block_column => 'at');
SELECT dp.add_edges('zoned', 'at', '{2026-01-01 00:00-05,2026-01-02 00:00-05,2026-01-03 00:00-05}', outside => 'drop');
SELECT dp.grant_budget('zoned', 'regress_ann', 10);
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM dp.histogram('zoned', '{}', predicate => $$at < '2026-01-02 00:00-05'$$, epsilon => 0.5);
SET timezone_abbreviations = 'Australia';
SELECT count(*) FROM dp.histogram('zoned', '{}', predicate => $$at < '2026-01-02 00:00-05'$$, epsilon => 0.6);
RESET timezone_abbreviations;
RESET SESSION AUTHORIZATION;
SELECT '2000-01-03'::date + block_from::int AS from, '2000-01-03'::date + block_to::int AS to FROM dp_ledger.charge WHERE dataset = 'zoned' ORDER BY seq;
SET TimeZone = 'Europe/Paris';
-- a broken ledger that is attested: no block has lost less than before
RESET SESSION AUTHORIZATION;
CREATE TEMP TABLE before AS SELECT * FROM dp.blocks;
DELETE FROM dp_ledger.charge WHERE dataset = 'stays' AND seq = 2;
DELETE FROM dp_ledger.charge WHERE dataset = 'zoned';
DELETE FROM dp_ledger.block WHERE dataset_id = (SELECT id FROM dp_ledger.dataset WHERE dataset = 'zoned');
CREATE TEMP TABLE zoned_before AS SELECT rho_spent FROM dp_ledger.dataset WHERE dataset = 'zoned';
UPDATE dp_ledger.charge SET block_to = block_from WHERE dataset = 'stays' AND seq = 5;
SELECT ok, message FROM dp.verify_ledger('stays');
SELECT dataset, message ~ 'broken|missing|written' AS told FROM dp.attest('a test') ORDER BY 1;
SELECT ok, message FROM dp.verify_ledger('stays');
SELECT count(*), bool_and(a.rho_spent >= b.rho_spent) AS no_less FROM before b JOIN dp.blocks a ON a.dataset = 'stays' AND b.dataset = 'stays' AND a.role IS NOT DISTINCT FROM b.role
    AND (a.starts IS NULL AND b.starts IS NULL OR a.starts < b.ends AND b.starts < a.ends);
SELECT function, budget_role, block_from, block_to, other_times, cap_rho > 0 AS costs FROM dp_ledger.charge WHERE dataset = 'stays' AND function ~ 'attest' ORDER BY seq;
SELECT d.rho_spent >= b.rho_spent AS no_less, (SELECT min(s.rho_spent) = d.rho_spent FROM dp_ledger.block s WHERE s.dataset_id = d.id AND s.budget_id = 0) AS everywhere
    FROM dp_ledger.dataset d, zoned_before b WHERE d.dataset = 'zoned';
SELECT ok, message FROM dp.verify_ledger('zoned');
RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon;
DROP FUNCTION public.refused(text);
DROP OWNED BY regress_curator, regress_ann, regress_bob;
DROP ROLE regress_curator, regress_ann, regress_bob;
