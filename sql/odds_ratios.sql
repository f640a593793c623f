-- dp.odds_ratios: at a very large rho those of the rows, with intervals of the sample that they are; or why there are none.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
CREATE ROLE regress_eve;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;

SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE trial (arm text NOT NULL, "Site = no. 1" text, age int NOT NULL, died boolean NOT NULL, ill int NOT NULL);
INSERT INTO trial SELECT CASE WHEN i % 2 = 0 THEN 'placebo' ELSE 'drug' END, (ARRAY['a', 'b', 'c'])[1 + i % 3], 40 + (i * 7) % 40,
       (i * 7919 + i * i % 101) % 100 < CASE WHEN i % 2 = 0 THEN 45 ELSE 30 END, (i * 31) % 2
  FROM generate_series(1, 6000) i;
GRANT SELECT ON trial TO regress_ann;
SELECT dp.create_dataset('trial', 'trial', epsilon => 1e5);
SELECT dp.add_attribute('trial', 'arm', '{placebo,drug}'), dp.add_attribute('trial', 'Site = no. 1', '{a,b,c}');
SELECT dp.add_attribute('trial', 'age', 40, 80, bins => 40, last => 'open'), dp.add_attribute('trial', 'died'), dp.add_attribute('trial', 'ill', '{0,1}');
SELECT dp.grant_budget('trial', 'regress_ann', epsilon => 1e5);
SET SESSION AUTHORIZATION regress_ann;

-- 1. Of two levels: ad / bc, and the root of 1/a + 1/b + 1/c + 1/d, a tenth wider as doc/models.md says
SELECT count(*) AS terms FROM dp.fit('trial', 'logistic_regression', 'died', '{arm}', rho => 2000, options => '{"clip": 1.4142135624, "iterations": 30}', model => 'by_arm');
SELECT term, abs(ln(odds_ratio / (b * c / (a * d)))) < 0.01 AS is_that_of_the_rows, abs(ln(upper95 / odds_ratio) / (1.96 * 1.1 * sqrt(1 / a + 1 / b + 1 / c + 1 / d)) - 1) < 0.05 AS upper,
       abs(ln(odds_ratio / lower95) / ln(upper95 / odds_ratio) - 1) < 1e-6 AS symmetric, reason
  FROM dp.odds_ratios('by_arm'), (SELECT count(*) FILTER (WHERE arm = 'placebo' AND died)::float8 a, count(*) FILTER (WHERE arm = 'drug' AND died)::float8 b,
              count(*) FILTER (WHERE arm = 'placebo' AND NOT died)::float8 c, count(*) FILTER (WHERE arm = 'drug' AND NOT died)::float8 d FROM trial) t;

-- 2. Of numbers and several levels, names that look like terms
SELECT count(*) AS terms FROM dp.fit('trial', 'logistic_regression', 'died', '{"Site = no. 1",age,arm}', rho => 2000, options => '{"clip": 2, "iterations": 40}', model => 'by_all');
SELECT term, round(odds_ratio::numeric, 2) AS odds_ratio, lower95 < odds_ratio AND odds_ratio < upper95 AS inside, reason FROM dp.odds_ratios('by_all');

-- 3. Why there are none
CREATE FUNCTION pg_temp.why(method text, options jsonb) RETURNS text LANGUAGE sql AS $$
SELECT reason FROM dp.fit('trial', 'logistic_regression', 'died', '{age}', method => method, rho => 0.5, options => options, fresh => true) f, LATERAL dp.odds_ratios(f.model) o WHERE f.term = 'age' $$;
SELECT pg_temp.why('newton', '{}');
SELECT pg_temp.why('newton', '{"clip": 1.5, "l2": 10}');
SELECT pg_temp.why('one_pass', '{}');
SELECT pg_temp.why('gd', '{}');
SELECT pg_temp.why('newton', '{"clip": 1.5, "iterations": 1}');
SELECT pg_temp.why('newton', '{"clip": 1.5, "floor": 1000}');
-- rows of a feature and the intercept that are shortened to 1; one that is as long as any is not
SELECT pg_temp.why('newton', '{"clip": 1, "max_norm": 1}');
SELECT pg_temp.why('newton', '{"clip": 1.5, "max_norm": 1.42}') IS DISTINCT FROM pg_temp.why('newton', '{"clip": 1, "max_norm": 1}') AS not_shortened;
SELECT count(*) AS terms FROM dp.fit('trial', 'linear_regression', 'age', '{arm}', rho => 1, model => 'of_age');
SELECT refused('SELECT * FROM dp.odds_ratios(''of_age'')');
SELECT refused('SELECT * FROM dp.odds_ratios(''nothing'')');
SELECT refused('SELECT * FROM dp.odds_ratios(NULL)');
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_eve;
SELECT refused('SELECT * FROM dp.odds_ratios(''by_arm'')');
SET SESSION AUTHORIZATION regress_curator;
SELECT count(*) AS terms FROM dp.fit('trial', 'logistic_regression', 'died', '{arm}', method => 'nonprivate', model => 'plainly');
SELECT term, round(odds_ratio::numeric, 2) AS odds_ratio, lower95, reason FROM dp.odds_ratios('plainly');
SELECT count(*) AS owner_reads FROM dp.odds_ratios('by_arm');

DISCARD TEMP;
RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon;
DROP TABLE trial;
DROP FUNCTION public.refused(text);
REVOKE CREATE ON SCHEMA public FROM regress_curator;
DROP ROLE regress_curator, regress_ann, regress_eve;
