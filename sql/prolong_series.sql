-- dp.prolong_series: more periods of an open-ended series, for the difference of what all of them lose.  Budgets are so large that noise rounds to nothing.
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
SELECT dp.create_dataset('visits', 'visits', 100000);
SELECT dp.add_attribute('visits', 'sex', '{f,m}');
SELECT dp.set_time('visits', 'at');
SELECT dp.grant_budget('visits', 'regress_ann', 40000);
SELECT dp.grant_budget('visits', 'regress_bob', 40000);
SET SESSION AUTHORIZATION regress_ann;
SELECT rho_charged FROM dp.create_series('visits', 'open', '{sex}', start => '2020-01-01', period => '1 day', periods => 52, open_ended => true, rho => 1000);
CREATE TEMP TABLE kept AS SELECT * FROM dp.report('open');
SELECT dp.publish_series('open', 'by_day');

-- 52 periods more pay 9.5 % of the first charge; then 52 more from there
SELECT series_name, round((rho_charged / 1000)::numeric, 4) AS part, next_due, last_due FROM dp.prolong_series('open', 104);
SELECT series_name, round((rho_charged / 1000)::numeric, 4) AS part, next_due, last_due FROM dp.prolong_series('open', 120);
SELECT function, round(rho::numeric, 3) AS rho FROM dp.charges WHERE rho > 0 ORDER BY charge;
-- what both paid is what the whole would have cost with the same noise
SELECT round(rho::numeric, 3) AS rho, periods, stored, next_due FROM dp.series WHERE series = 'open';
-- reports of before stay, their intervals too; the table grows
SELECT count(*) FROM (SELECT * FROM dp.report('open') INTERSECT TABLE kept) x;
SELECT count(*) FROM (SELECT * FROM dp.report('open', 120) WHERE round(estimate) = CASE label->>'sex' WHEN 'f' THEN 400 ELSE 800 END) x;
SELECT dp.publish_series('open', 'by_day');
SELECT count(*), max(report) FROM by_day;
-- the noise is that of the first charge: the errors are those of a series that had 120 periods from the beginning and cost as much
SELECT r.rho AS whole FROM dp.series r WHERE series = 'open' \gset
SELECT count(*) FROM dp.create_series('visits', 'long', '{sex}', start => '2020-01-01', period => '1 day', periods => 120, open_ended => true, rho => :whole);
SELECT bool_and(abs(a.stderr / b.stderr - 1) < 1e-6) AS same FROM dp.report('open') a JOIN dp.report('long') b USING (report, over, query);
SET SESSION AUTHORIZATION regress_curator;
SELECT ok, message FROM dp.verify_ledger('visits');
SET SESSION AUTHORIZATION regress_ann;

-- Refused, with nothing charged
SELECT count(*) AS before FROM dp.charges \gset
SELECT refused($$SELECT dp.prolong_series('open', 120)$$);
SELECT refused($$SELECT dp.prolong_series('open', 52)$$);
SELECT refused($$SELECT dp.prolong_series('open', 4097)$$);
SELECT refused($$SELECT dp.prolong_series('open', NULL)$$);
SELECT refused($$SELECT dp.prolong_series('none', 52)$$);
SELECT count(*) = :before FROM dp.charges;
SELECT count(*) FROM dp.create_series('visits', 'closed', '{sex}', start => '2020-01-01', period => '10 days', periods => 4, rho => 1);
SELECT refused($$SELECT dp.prolong_series('closed', 8)$$);
SET SESSION AUTHORIZATION regress_bob;
SELECT refused($$SELECT dp.prolong_series('open', 130)$$);
SET SESSION AUTHORIZATION regress_curator;
SELECT refused($$SELECT dp.prolong_series('open', 130)$$);
-- neither the budget nor the cap pays what it does not have
SELECT dp.revoke_budget('visits', 'regress_bob');
SELECT dp.grant_budget('visits', 'regress_ann', 3000);
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT dp.prolong_series('open', 2048)$$);
SELECT periods FROM dp.series WHERE series = 'open';
RESET SESSION AUTHORIZATION;

-- The ledger's check, and what is measured, is what was paid for
\set finding :here /test/regress/finding.sql
\i :finding
SELECT finding($$UPDATE dp_ledger.series SET prolonged_rho = prolonged_rho - 1 WHERE series = 'open'$$);
SELECT finding($$UPDATE dp_ledger.series SET periods = 119, edges = edges[1:120], stderrs = stderrs[1:119] WHERE series = 'open'$$);
SELECT finding($$UPDATE dp_ledger.series SET first_periods = 4, periods = 5, edges = edges || edges[5] + 864000000000, stderrs = stderrs || 1::float8, prolonged_rho = 1 WHERE series = 'closed'$$);
UPDATE dp_ledger.series_period SET payload = NULL, charge_id = NULL, could_be_read = NULL, stored = NULL WHERE period = 120 AND series_id = (SELECT id FROM dp_ledger.series WHERE series = 'open');
UPDATE dp_ledger.charge SET series_id = NULL WHERE request LIKE '{"kind": "report"%"open"%"period": 120,%';
UPDATE dp_ledger.series SET first_periods = 104 WHERE series = 'open';
SELECT refused($$SELECT dp.report('open', 120)$$);
UPDATE dp_ledger.series SET first_periods = 52, edges[121] = edges[121] + 1 WHERE series = 'open';
SELECT refused($$SELECT dp.report('open', 120)$$);
UPDATE dp_ledger.series SET edges[121] = edges[121] - 1 WHERE series = 'open';
SELECT refused($$SELECT dp.report('open', 120)$$);

-- Not after its end
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.end_series('open');
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT dp.prolong_series('open', 130)$$);
RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon;
DROP FUNCTION refused;
DROP FUNCTION finding;
DROP OWNED BY regress_curator, regress_ann, regress_bob CASCADE;
DROP ROLE regress_curator, regress_ann, regress_bob;
