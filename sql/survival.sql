-- dp.survival, dp.survival_summary and dp.compare_survival: at a very large rho they are the actuarial estimates of the rows.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
CREATE ROLE regress_eve;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_curator;
-- arm c has nobody; arm is NULL in some rows, and so are days and died
CREATE TABLE trial (days int, died boolean, arm text, score int, status text, code int, seen date, site int);
INSERT INTO trial SELECT CASE WHEN i % 41 <> 0 THEN (i * i + 7 * i) % 130 END, CASE WHEN i % 37 <> 0 THEN i % CASE WHEN i % 2 = 0 THEN 3 ELSE 5 END = 0 END,
    CASE WHEN i % 19 <> 0 THEN CASE WHEN i % 2 = 0 THEN 'a' ELSE 'b' END END, (i / 100) % 3, CASE WHEN i % 3 = 0 THEN 'dead' ELSE 'alive' END, CASE WHEN i % 3 = 0 THEN 2 ELSE 1 END,
    date '2024-01-01' + i % 300, i % 50
  FROM generate_series(1, 6000) i;
SELECT dp.create_dataset('trial', 'trial', 90000);
SELECT dp.add_attribute('trial', 'days', 0, 120, 6, outside => 'drop'), dp.add_attribute('trial', 'died', nulls => 'cell');
SELECT dp.add_attribute('trial', 'arm', '{a,b,c}', nulls => 'cell'), dp.add_attribute('trial', 'score', 0, 3, 3, last => 'open'), dp.add_attribute('trial', 'status', '{dead,alive}');
SELECT dp.add_attribute('trial', 'code', '{2,1}'), dp.add_attribute('trial', 'seen', '2024-01-01'::date, '2024-12-26'::date, 12), dp.add_attribute('trial', 'site', 0, 50, 50, last => 'open');
SELECT dp.grant_budget('trial', 'regress_ann', 90000);
CREATE VIEW rows_that_count AS SELECT * FROM trial WHERE days BETWEEN 0 AND 120;
GRANT SELECT ON rows_that_count TO regress_ann;
-- all later times are in the last bin; one bin; all have the event, nobody has it, and nobody is there
CREATE TABLE small (t float8, clamped int, one int, all_die boolean, none_dies boolean, grp text, other int);
INSERT INTO small SELECT i % 10, 5 * (i % 10), i % 10, true, false, 'x', i % 10 FROM generate_series(1, 4000) i;
SELECT dp.create_dataset('small', 'small', 90000, accounting => 'pure');
SELECT dp.add_attribute('small', 't', 0.0, 10.0, 5, outside => 'drop', last => 'open'), dp.add_attribute('small', 'clamped', 0, 40, 4, last => 'open'), dp.add_attribute('small', 'one', 0, 10, 1, outside => 'drop', last => 'open');
SELECT dp.add_attribute('small', 'other', 0, 5, 5, last => 'open', outside => 'other'), dp.add_attribute('small', 'all_die'), dp.add_attribute('small', 'none_dies'), dp.add_attribute('small', 'grp', '{x,y}');
SELECT dp.grant_budget('small', 'regress_ann', 90000);
SET SESSION AUTHORIZATION regress_ann;

-- the last bin is closed: 120 counts in it
SELECT label, at, round(at_risk) AS at_risk, round(survival::numeric, 3) AS survival, round(stderr::numeric, 4) AS stderr, round(lower95::numeric, 3) AS lower95, round(upper95::numeric, 3) AS upper95, release
  FROM dp.survival('trial', 'days', 'died', rho => 3000);
-- beside the rows: product limit, withdrawals count half, Greenwood's variance, intervals on the log(-log) scale
CREATE FUNCTION pg_temp.actuarial(groups text) RETURNS TABLE (g text, at float8, survival float8, stderr float8, lower95 float8, upper95 float8) LANGUAGE sql AS $$
  SELECT g, at, s, s * sqrt(v), CASE WHEN s > 0 THEN power(s, exp(1.959963985 * sqrt(v) / -ln(s))) END, CASE WHEN s > 0 THEN power(s, exp(-1.959963985 * sqrt(v) / -ln(s))) END
    FROM (SELECT g, 20.0 * (bin + 1) AS at, exp(sum(ln(1 - d / n)) OVER w) AS s, sum(d / (n * (n - d))) OVER w AS v
            FROM (SELECT g, bin, d, sum(d + c) OVER (PARTITION BY g ORDER BY bin DESC) - c / 2 AS n
                    FROM (SELECT CASE groups WHEN 'arm' THEN coalesce(arm, 'null') ELSE 'all' END AS g, least(days / 20, 5) AS bin,
                                 (count(*) FILTER (WHERE died))::float8 AS d, (count(*) FILTER (WHERE NOT died))::float8 AS c
                            FROM rows_that_count GROUP BY 1, 2) b) r
          WINDOW w AS (PARTITION BY g ORDER BY bin)) t $$;
SELECT count(*), max(abs(s.survival - a.survival)) < 1e-4 AS survival, max(abs(s.stderr - a.stderr)) < 1e-5 AS stderr,
       max(abs(s.lower95 - a.lower95)) < 2e-4 AND max(abs(s.upper95 - a.upper95)) < 2e-4 AS interval
  FROM dp.survival('trial', 'days', 'died', rho => 3000) s JOIN pg_temp.actuarial('') a USING (at);
-- by arm, with the group of NULL; c is empty: nothing is known of it
SELECT count(*), max(abs(s.survival - a.survival)) < 1e-3 AS survival, max(abs(s.stderr - a.stderr)) < 1e-4 AS stderr,
       max(abs(s.lower95 - a.lower95)) < 1e-3 AND max(abs(s.upper95 - a.upper95)) < 1e-3 AS interval
  FROM dp.survival('trial', 'days', 'died', '{arm}', rho => 3000) s JOIN pg_temp.actuarial('arm') a ON a.at = s.at AND a.g = coalesce(label->>'arm', 'null');
SELECT at, stderr, lower95, upper95 FROM dp.survival('trial', 'days', 'died', 'arm', rho => 3000) WHERE label->>'arm' = 'c';

-- the request is that of a histogram: either replays the other
SELECT count(*) AS charges FROM dp.charges \gset
SELECT DISTINCT release FROM dp.survival('trial', 'days', 'died', '{arm}', rho => 3000) ORDER BY 1;
SELECT DISTINCT release FROM dp.histogram('trial', '{days,died,arm}', 'prefix(days) * identity(died) * identity(arm)', rho => 3000);
SELECT count(*) = :charges AS nothing_charged FROM dp.charges;
SELECT max(release) AS more FROM dp.survival('trial', 'days', 'died', '{arm}', rho => 3000, fresh => true) \gset
SELECT count(*) = :charges + 1 AS charged_anew FROM dp.charges;

-- free, from each release that determines the counts, in any order of attributes, summed over others
SELECT max(release) AS cells FROM dp.histogram('trial', '{score,arm,died,days}', 'identity', rho => 3000) \gset
SELECT max(release) AS tables FROM dp.measure('trial', '{arm,days,died,score,site}', 'marginals(3)', rho => 3000) \gset
SELECT max(release) AS without FROM dp.histogram('trial', '{days,died,arm}', 'prefix(days) * identity(died) * identity(arm)', rho => 3000, predicate => 'arm IN (''a'', ''b'')') \gset
SELECT max(release) AS nulls FROM dp.histogram('trial', '{days,died,arm}', 'prefix(days) * identity(died) * identity(arm)', rho => 3000, predicate => 'arm IS NULL OR arm IN (''a'', ''b'')') \gset
SELECT count(*) AS charges FROM dp.charges \gset
SELECT r, count(*), max(abs(s.survival - a.survival)) < 0.01 AS survival, max(abs(s.stderr - a.stderr)) < 0.001 AS stderr
  FROM (VALUES (:more), (:cells), (:tables)) v(r), LATERAL (SELECT * FROM dp.survival(r, 'days', 'died')) s JOIN pg_temp.actuarial('') a USING (at) GROUP BY 1 ORDER BY 1;
SELECT count(*), max(abs(s.survival - a.survival)) < 0.01 AS survival
  FROM dp.survival(:cells, '"days"', 'died', 'arm') s JOIN pg_temp.actuarial('arm') a ON a.at = s.at AND a.g = coalesce(label->>'arm', 'null');
SELECT label, count(*) FROM dp.survival(:cells, 'days', 'died', '{arm,score}') GROUP BY 1 ORDER BY 1;

-- median and restricted mean; the test that arms are alike
SELECT label, figure, round(estimate::numeric, 1) AS estimate, round(stderr::numeric, 2) AS stderr, round(lower95::numeric, 1) AS lower95, round(upper95::numeric, 1) AS upper95, until
  FROM dp.survival_summary(:more, 'days', 'died', 'arm') WHERE label->>'arm' IS NOT NULL;
SELECT figure, round(estimate::numeric, 1) AS estimate, round(stderr::numeric, 2) AS stderr, until FROM dp.survival_summary(:more, 'days', 'died', until => 50);
SELECT statistic > 60 AS large, df <= 2 AS df, p_value < 1e-9 AS differ, until FROM dp.compare_survival(:more, 'days', 'died', 'arm');
-- a and b are compared, not those whose arm is NULL: as if there were no such cell
SELECT abs(a.statistic / b.statistic - 1) < 0.1 AS alike, a.df, b.df FROM dp.compare_survival(:nulls, 'days', 'died', 'arm') a, dp.compare_survival(:without, 'days', 'died', 'arm') b;
-- and nothing is known of c, which the predicate rules out
SELECT at, at_risk, survival, stderr, lower95, upper95 FROM dp.survival(:without, 'days', 'died', 'arm') WHERE label->>'arm' = 'c' AND at < 60;
-- no difference: the scores do not matter
SELECT df, p_value > 0.01 AS alike FROM dp.compare_survival(:cells, 'days', 'died', '{score}');
SELECT count(*) = :charges AS nothing_charged FROM dp.charges;

-- which level is the event: the larger number, or the one that is named
SELECT round(survival::numeric, 3) AS survival FROM dp.survival('trial', 'days', 'code', rho => 3000) WHERE at = 20;
SELECT round(survival::numeric, 3) AS survival FROM dp.survival('trial', 'days', 'code', rho => 3000, event_level => '1') WHERE at = 20;
SELECT round(survival::numeric, 3) AS survival FROM dp.survival('trial', 'days', 'status', rho => 3000, event_level => 'dead') WHERE at = 20;
SELECT round(survival::numeric, 3) AS alive FROM dp.survival('trial', 'days', 'died', rho => 3000, event_level => 'f') WHERE at = 20;
-- a predicate that rules out cells of the time
SELECT at, round(at_risk) AS at_risk, round(survival::numeric, 3) AS survival FROM dp.survival('trial', 'days', 'died', rho => 3000, predicate => 'days < 60');

-- times beyond the last edge are in the last bin: the curve ends where it begins; Laplace noise
SELECT at, round(at_risk) AS at_risk, round(survival::numeric, 3) AS survival, round(upper95::numeric, 3) AS upper95 FROM dp.survival('small', 'clamped', 'all_die', epsilon => 1000);
-- all die, at the end everybody: 0, and an interval that ends with the one before
SELECT at, round(at_risk) AS at_risk, round(survival::numeric, 3) AS survival, round(stderr::numeric, 3) AS stderr, round(lower95::numeric, 3) AS lower95, round(upper95::numeric, 3) AS upper95 FROM dp.survival('small', 't', 'all_die', epsilon => 1000);
-- nobody dies: 1, with a lower end as if one did
SELECT at, round(at_risk) AS at_risk, round(survival::numeric, 3) AS survival, round(lower95::numeric, 3) AS lower95, round(upper95::numeric, 3) AS upper95 FROM dp.survival('small', 't', 'none_dies', epsilon => 1000);
-- one bin
SELECT at, round(at_risk) AS at_risk, round(survival::numeric, 3) AS survival, round(upper95::numeric, 3) AS upper95 FROM dp.survival('small', 'one', 'none_dies', 'grp', epsilon => 1000) WHERE label->>'grp' = 'x';
-- noise beyond all rows: nothing is known
SELECT bool_and(lower95 = 0 AND upper95 = 1 AND stderr IS NULL) AS nothing FROM dp.survival('trial', 'days', 'died', '{arm,score}', rho => 1e-9) WHERE at > 0;

-- Errors, before any charge
SELECT count(*) AS charges FROM dp.charges \gset
SELECT refused($$SELECT * FROM dp.survival('trial', 'day', 'died', epsilon => 1)$$);
SELECT refused($$SELECT * FROM dp.survival('trial', 'arm', 'died', epsilon => 1)$$);
SELECT refused($$SELECT * FROM dp.survival('trial', 'seen', 'died', epsilon => 1)$$);
SELECT refused($$SELECT * FROM dp.survival('trial', 'days', 'arm', epsilon => 1)$$);
SELECT refused($$SELECT * FROM dp.survival('trial', 'days', 'score', epsilon => 1)$$);
SELECT refused($$SELECT * FROM dp.survival('trial', 'days', 'status', epsilon => 1)$$);
SELECT refused($$SELECT * FROM dp.survival('trial', 'days', 'status', epsilon => 1, event_level => 'Dead')$$);
SELECT refused($$SELECT * FROM dp.survival('trial', 'days', 'died', epsilon => 1, event_level => 'perhaps')$$);
SELECT refused($$SELECT * FROM dp.survival('trial', 'days', 'died', '{days}', epsilon => 1)$$);
SELECT refused($$SELECT * FROM dp.survival('trial', 'days', 'died', '{arm,NULL}', epsilon => 1)$$);
SELECT refused($$SELECT * FROM dp.survival('trial', 'days', 'died', '{arm,site,score}', epsilon => 1)$$);
SELECT refused($$SELECT * FROM dp.survival('trial', 'days', 'died')$$);
SELECT refused($$SELECT * FROM dp.survival('trial', 'days', 'died', epsilon => 1, rho => 1)$$);
SELECT refused($$SELECT * FROM dp.survival('trial', NULL, 'died', epsilon => 1)$$);
-- those in a cell 'other' would be missing
SELECT refused($$SELECT * FROM dp.survival('small', 'other', 'all_die', epsilon => 1)$$);
SELECT refused($$SELECT * FROM dp.survival('nothing', 'days', 'died', epsilon => 1)$$);
SELECT count(*) = :charges AS nothing_charged FROM dp.charges;
-- of releases, with what they lack
SELECT max(release) AS some FROM dp.histogram('trial', '{days,died}', 'prefix(days)', rho => 1) \gset
SELECT refused(format('SELECT * FROM dp.survival(%s, ''days'', ''died'')', :some));
SELECT refused(format('SELECT * FROM dp.survival(%s, ''days'', ''died'', ''arm'')', :some));
SELECT refused(format('SELECT * FROM dp.survival(%s, ''days'', ''days'')', :some));
SELECT refused(format('SELECT * FROM dp.survival(%s, ''days'', ''died'', ''{arm,arm}'')', :cells));
SELECT refused(format('SELECT * FROM dp.survival_summary(%s, ''days'', ''died'', until => 121)', :cells));
SELECT refused(format('SELECT * FROM dp.survival_summary(%s, ''days'', ''died'', until => 0)', :cells));
SELECT refused(format('SELECT * FROM dp.compare_survival(%s, ''days'', ''died'')', :cells));
SELECT refused('SELECT * FROM dp.survival(NULL::bigint, ''days'', ''died'')');
SELECT refused('SELECT * FROM dp.survival(0, ''days'', ''died'')');
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_eve;
SELECT refused(format('SELECT * FROM dp.survival(%s, ''days'', ''died'')', :cells));
SELECT refused($$SELECT * FROM dp.survival('trial', 'days', 'died', epsilon => 1)$$);

-- groups of few units are shown to the owner alone: a row by how many are at risk in its bin
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.set_min_count('trial', 600);
SET SESSION AUTHORIZATION regress_ann;
SET client_min_messages = notice;
SELECT label, at, round(at_risk) AS at_risk, round(survival::numeric, 2) AS survival FROM dp.survival(:more, 'days', 'died', 'arm') WHERE label->>'arm' IS NULL OR label->>'arm' = 'a';
SELECT label, figure, estimate IS NULL AS hidden FROM dp.survival_summary(:more, 'days', 'died', 'arm') WHERE label->>'arm' IS NULL OR label->>'arm' = 'a';
-- figures of hidden parts of the curve are hidden
SELECT label, until, estimate IS NULL AS hidden FROM (VALUES (80), (100), (110), (120)) v(u), LATERAL dp.survival_summary(:more, 'days', 'died', 'arm', until => u) WHERE label->>'arm' = 'a' AND figure LIKE '%mean';
SELECT refused(format('SELECT * FROM dp.compare_survival(%s, ''days'', ''died'', ''arm'')', :more));
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_curator;
SELECT count(survival) AS owner_sees FROM dp.survival(:more, 'days', 'died', 'arm') WHERE label->>'arm' IS DISTINCT FROM 'c';

-- a rehearsal is answered from the example
CREATE TABLE example (LIKE trial);
INSERT INTO example SELECT 70, true, 'a' FROM generate_series(1, 1000);
GRANT SELECT ON example TO public;
SELECT dp.set_example('trial', 'example');
SET SESSION AUTHORIZATION regress_ann;
SET client_min_messages = warning;
SET pg_epsilon.rehearse = on;
SELECT at, round(at_risk) AS at_risk, round(survival::numeric, 2) AS survival, release FROM dp.survival('trial', 'days', 'died', rho => 2000);
RESET pg_epsilon.rehearse;

DISCARD TEMP;
RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon;
DROP VIEW rows_that_count;
DROP TABLE trial, small, example;
DROP FUNCTION public.refused(text);
REVOKE CREATE ON SCHEMA public FROM regress_curator;
DROP ROLE regress_curator, regress_ann, regress_eve;
