-- Blocks of time and series: a series is charged to the blocks of its periods, and one that is prolonged to new blocks pays all of it there.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
SET TimeZone = 'UTC';
SET DateStyle = 'ISO';
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
CREATE ROLE regress_bob;
GRANT CREATE ON SCHEMA public TO regress_curator, regress_ann;
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE visits (sex text, at timestamptz);
INSERT INTO visits SELECT CASE WHEN i % 3 = 0 THEN 'f' ELSE 'm' END, timestamptz '2020-01-01' + (i % 120) * interval '1 day' FROM generate_series(0, 1199) i;
SELECT dp.create_dataset('visits', 'visits', 10000, block => '1 month', block_column => 'at');
SELECT dp.add_attribute('visits', 'sex', '{f,m}');
SELECT dp.grant_budget('visits', 'regress_ann', 6000);
SELECT dp.grant_budget('visits', 'regress_bob', 4000, per_block => true);
-- forty days: January and February
SET SESSION AUTHORIZATION regress_ann;
SELECT rho_charged FROM dp.create_series('visits', 'days', '{sex}', start => '2020-01-01', period => '1 day', periods => 40, open_ended => true, rho => 1000);
SELECT count(*) FROM dp.report('days', 40);
SELECT count(*) FROM dp.report('days', 40) WHERE round(estimate) = CASE label->>'sex' WHEN 'f' THEN 134 ELSE 266 END;
SET SESSION AUTHORIZATION regress_bob;
SELECT rho_charged FROM dp.create_series('visits', 'weeks', '{sex}', start => '2020-01-06', period => '7 days', periods => 2, open_ended => true, rho => 500);
SELECT count(*) FROM dp.report('weeks');
-- prolonged to March: January and February pay the difference, March pays what they have paid, too
SET SESSION AUTHORIZATION regress_ann;
SELECT round((rho_charged / 1000)::numeric, 4) AS part FROM dp.prolong_series('days', 80);
SELECT count(*) FROM dp.report('days', 80);
SET SESSION AUTHORIZATION regress_bob;
SELECT round((rho_charged / 500)::numeric, 4) AS part FROM dp.prolong_series('weeks', 3);
SELECT round((rho_charged / 500)::numeric, 4) AS part FROM dp.prolong_series('weeks', 6);
SELECT count(*) FROM dp.report('weeks');
RESET SESSION AUTHORIZATION;
SELECT seq, function, round(rho / 1e9, 3) AS rho, round(cap_rho / 1e9, 3) AS cap, block_from - 239 AS from, block_to - 239 AS to, other_times FROM dp_ledger.charge
    WHERE (rho, cap_rho) <> (0, 0) ORDER BY seq;
SELECT count(*), count(*) FILTER (WHERE block_from = 240 AND NOT other_times) FROM dp_ledger.charge WHERE (rho, cap_rho) = (0, 0);
SET SESSION AUTHORIZATION regress_curator;
SELECT role, starts, ends, round(rho_spent::numeric, 3) AS rho FROM dp.blocks;
SELECT ok, message FROM dp.verify_ledger('visits');
-- a total that becomes one of each block has paid the whole in each
BEGIN;
SELECT dp.grant_budget('visits', 'regress_ann', 6000, per_block => true, overcommit => true);
SELECT starts, ends, round(rho_spent::numeric, 3) AS rho FROM dp.blocks WHERE role = 'regress_ann' AND rho_spent > 0;
SELECT ok, message FROM dp.verify_ledger('visits');
ROLLBACK;
-- a new block that cannot pay the whole refuses, though the others could pay the difference
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM dp.histogram('visits', 'sex', epsilon => 1500);
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.add_edges('visits', 'at', '{2020-01-01,2020-04-01,2020-05-01}', outside => 'drop');
SELECT dp.grant_budget('visits', 'regress_curator', 9000, overcommit => true);
SELECT round(estimate) FROM dp.histogram('visits', '{}', predicate => $$at >= '2020-04-01' AND at < '2020-05-01'$$, epsilon => 8000);
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT dp.prolong_series('days', 110)$$);
SELECT round((rho_charged / 1000)::numeric, 4) AS part FROM dp.prolong_series('days', 90);
RESET SESSION AUTHORIZATION;
-- the worker looks, too: no period is measured in blocks that the series has not paid for
UPDATE dp_ledger.charge SET block_from = 240, block_to = 240 WHERE series_id = (SELECT id FROM dp_ledger.series WHERE series = 'days');
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT count(*) FROM dp.report('days', 85)$$);
RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon;
DROP FUNCTION public.refused(text);
DROP OWNED BY regress_curator, regress_ann, regress_bob;
DROP ROLE regress_curator, regress_ann, regress_bob;
