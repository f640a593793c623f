-- Which class coefficients above 0 make more likely is said: by dp.fit, its quote, the aggregates and dp.models.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;
\pset tuples_only on

SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE clients (churn text, yes text, left_us boolean, old int, x float8);
INSERT INTO clients SELECT CASE WHEN i % 100 < i / 30 THEN 'Yes' ELSE 'No' END, 'Yes', i % 100 < i / 30, i % 100, i / 3000.0 FROM generate_series(0, 2999) i;
SELECT dp.create_dataset('c', 'clients', 1e5);
SELECT dp.add_attribute('c', 'churn', '{Yes,No}'), dp.add_attribute('c', 'yes', '{Yes}', outside => 'other'), dp.add_attribute('c', 'left_us'),
    dp.add_attribute('c', 'old', 0, 100, 2, last => 'closed'), dp.add_attribute('c', 'x', 0, 1, 1);
SELECT dp.grant_budget('c', 'regress_ann', 5e4);

-- The slope is that of 'No', the last level, as is said; of true it is the other way round
SET SESSION AUTHORIZATION regress_ann;
\set VERBOSITY terse
CREATE FUNCTION pg_temp.fit(label text) RETURNS TABLE (positive text, sign float8) LANGUAGE sql AS $$
    SELECT positive, sign(coefficient) FROM dp.fit('c', 'logistic_regression', label, '{x}', rho => 100, model => 'of ' || label) WHERE term = 'x' $$;
SELECT * FROM pg_temp.fit('churn');
SELECT * FROM pg_temp.fit('left_us');
SELECT positive FROM dp.fit('c', 'linear_regression', 'x', '{old}', rho => 1, model => 'of x') LIMIT 1;
SELECT model, label, positive FROM dp.models ORDER BY model;
SET client_min_messages = notice;
-- a quote, and a replay, which charges nothing
SELECT rho FROM dp.quote_fit('c', 'svm', 'churn', '{x}', rho => 100);
SELECT positive FROM dp.fit('c', 'logistic_regression', 'churn', '{x}', rho => 100, model => 'of churn') LIMIT 1;
-- bins, and what is no level
SELECT rho FROM dp.quote_fit('c', 'logistic_regression', 'old', '{x}', rho => 1);
SELECT rho FROM dp.quote_fit('c', 'logistic_regression', 'yes', '{x}', rho => 1);
SELECT rho FROM dp.quote_fit('c', 'linear_regression', 'x', '{old}', rho => 1);
-- an aggregate
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.grant_budget('c', 'regress_curator', 1e4);
SELECT dp.logistic_regression(left_us, ARRAY[x], '{"dataset": "c", "label": "left_us", "features": ["x"], "rho": 100, "model": "by query"}') IS NOT NULL FROM clients;
SELECT positive FROM dp.models WHERE model = 'by query';

RESET SESSION AUTHORIZATION;
DROP OWNED BY regress_curator, regress_ann;
DROP EXTENSION pg_epsilon;
DROP FUNCTION refused;
DROP ROLE regress_curator, regress_ann;
