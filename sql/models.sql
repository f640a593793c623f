-- dp.logistic_regression, dp.svm, dp.linear_regression: models of the rows of a query.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
CREATE ROLE regress_bob;
GRANT CREATE ON SCHEMA public TO regress_curator, regress_ann;
-- The answer of an aggregate with these options over t, or what was said.
CREATE FUNCTION ask(model text, arguments text, options text, rows_of text DEFAULT 't') RETURNS text LANGUAGE sql AS $$
    SELECT refused(format('SELECT dp.%s(%s, %L) FROM %s', model, arguments, options, rows_of)) $$;
-- How many terms an answer has, and whether all of them are numbers.
CREATE FUNCTION sound(terms dp.model_term[]) RETURNS text LANGUAGE sql AS $$
    SELECT count(*) || CASE WHEN bool_and(abs(coefficient) < 1e30 AND release > 0 AND model <> '') THEN ' terms' ELSE ' terms, not sound' END FROM unnest(terms) $$;
SET client_min_messages = warning;

SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE t (id int, g int, y boolean, z float8, a float8, i int, f boolean, s text, d date, many int, three int);
INSERT INTO t SELECT k, k % 3, k % 100 + k % 7 > 55, k % 100 / 10.0, CASE WHEN k % 11 = 0 THEN NULL ELSE k % 100 END, k % 4, k % 2 = 0, 'F', date '2020-01-01' + k % 366, k, k % 3 FROM generate_series(1, 1000) k;
CREATE TABLE u AS SELECT * FROM t;
CREATE TABLE p AS SELECT * FROM t;
CREATE TABLE nothing (LIKE t);
SELECT dp.create_dataset('d', 't', 1000), dp.create_dataset('u', 'u', 1000, unit => 'id', max_rows => 3), dp.create_dataset('p', 'p', 1000, accounting => 'pure');
SELECT count(dp.add_attribute(n, 'y')), count(dp.add_attribute(n, 'z', 0, 10, 4)), count(dp.add_attribute(n, 'a', 0, 100, 10, nulls => 'cell')),
       count(dp.add_attribute(n, 'i', '{0,1,2}', outside => 'other')), count(dp.add_attribute(n, 'f')), count(dp.add_attribute(n, 's', '{F,M}')),
       count(dp.add_attribute(n, 'd', date '2020-01-01', date '2021-01-01', 6)), count(dp.add_attribute(n, 'three', '{0,1,2}'))
  FROM unnest('{d,u,p}'::text[]) n;
SELECT dp.add_attribute('d', 'many', array_agg(k)) FROM generate_series(1, 2000) k;
SELECT count(dp.grant_budget(n, 'regress_ann', 100, accounting => CASE n WHEN 'p' THEN 'pure' ELSE 'gdp' END)) FROM unnest('{d,u,p}'::text[]) n;
GRANT SELECT ON t, u, p, nothing TO regress_ann, regress_bob;

SET SESSION AUTHORIZATION regress_ann;
\t on
-- the options are a constant
SELECT refused($$SELECT dp.svm(y, ARRAY[a], to_jsonb(s)) FROM t$$);
SELECT refused($$SELECT dp.svm(y, ARRAY[a], jsonb '{"dataset": "d"}' || to_jsonb(s)) FROM t$$);
SELECT refused($$SELECT dp.svm(y, ARRAY[a], s::jsonb) FROM nothing$$);
SELECT refused($$SELECT dp.svm(y, ARRAY[a], (SELECT to_jsonb(max(s)) FROM nothing)) FROM t$$);
SELECT refused($$SELECT dp.svm(y, ARRAY[a], NULL) FROM t$$);
-- JSON with what dp.fit takes
SELECT ask('svm', 'y, ARRAY[a]', '');
SELECT ask('svm', 'y, ARRAY[a]', '[]');
SELECT ask('svm', 'y, ARRAY[a]', '{}');
SELECT ask('svm', 'y, ARRAY[a]', '{"dataset": "d", "features": ["a"], "epsilon": 1}');
SELECT ask('svm', 'y, ARRAY[a]', '{"dataset": "d", "label": "y", "epsilon": 1}');
SELECT ask('svm', 'y, ARRAY[a]', '{"dataset": "d", "label": "y", "features": null, "epsilon": 1}');
SELECT ask('svm', 'y, ARRAY[a]', '{"dataset": 7, "label": "y", "features": ["a"], "epsilon": 1}');
SELECT ask('svm', 'y, ARRAY[a]', '{"dataset": "d", "label": "y", "features": "a", "epsilon": 1}');
SELECT ask('svm', 'y, ARRAY[a]', '{"dataset": "d", "label": "y", "features": {"a": 1}, "epsilon": 1}');
SELECT ask('svm', 'y, ARRAY[a]', '{"dataset": "d", "label": "y", "features": [7], "epsilon": 1}');
SELECT ask('svm', 'y, ARRAY[a]', '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": "1"}');
SELECT ask('svm', 'y, ARRAY[a]', '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 0}');
SELECT ask('svm', 'y, ARRAY[a]', '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 1e999}');
SELECT ask('svm', 'y, ARRAY[a]', '{"dataset": "d", "label": "y", "features": ["a"]}');
SELECT ask('svm', 'y, ARRAY[a]', '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 1, "rho": 0.1}');
SELECT ask('svm', 'y, ARRAY[a]', '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 1, "delta": 2}');
SELECT ask('svm', 'y, ARRAY[a]', '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 1, "steps": 3}');
SELECT ask('svm', 'y, ARRAY[a]', '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 1, "predicate": "f"}');
SELECT ask('svm', 'y, ARRAY[a]', '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 1, "options": {"iterations": 3}}');
SELECT ask('svm', 'y, ARRAY[a]', '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 1, "intercept": 1}');
SELECT ask('svm', 'y, ARRAY[a]', '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 1, "max_norm": 0}');
SELECT ask('svm', 'y, ARRAY[a]', '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 1, "iterations": "few"}');
SELECT ask('svm', 'y, ARRAY[a]', '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 1, "rate": 3}');
SELECT ask('svm', 'y, ARRAY[a]', '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 1, "method": "best"}');
SELECT ask('linear_regression', 'z, ARRAY[a]', '{"dataset": "d", "label": "z", "features": ["a"], "epsilon": 1, "method": "agd"}');
SELECT ask('svm', 'y, ARRAY[a]', '{"dataset": "d", "label": "y", "features": ["a"], "method": "nonprivate"}');
SELECT ask('svm', 'y, ARRAY[a]', '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 1, "budget": "regress_bob"}');
-- the declaration
SELECT ask('svm', 'y, ARRAY[a]', '{"dataset": "e", "label": "y", "features": ["a"], "epsilon": 1}');
SELECT ask('svm', 'y, ARRAY[a]', '{"dataset": "d", "label": "g", "features": ["a"], "epsilon": 1}');
SELECT ask('svm', 'y, ARRAY[a]', '{"dataset": "d", "label": "y", "features": ["g"], "epsilon": 1}');
SELECT ask('svm', 'y, ARRAY[a, a]', '{"dataset": "d", "label": "y", "features": ["a", "a"], "epsilon": 1}');
SELECT ask('svm', 'y, ARRAY[a]', '{"dataset": "d", "label": "y", "features": [], "epsilon": 1}');
SELECT ask('svm', 'y, ARRAY[a, many]', '{"dataset": "d", "label": "y", "features": ["a", "many"], "epsilon": 1}');
SELECT ask('svm', 'y, ARRAY[1]', '{"dataset": "d", "label": "y", "features": ["s"], "epsilon": 1}');
SELECT ask('logistic_regression', 'three, ARRAY[a]', '{"dataset": "d", "label": "three", "features": ["a"], "epsilon": 1}');
SELECT ask('svm', 'z, ARRAY[a]', '{"dataset": "d", "label": "z", "features": ["a"], "epsilon": 1}');
SELECT ask('linear_regression', 'y, ARRAY[a]', '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 1}');
SELECT ask('svm', 'y::int, ARRAY[a]', '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 1}');
SELECT ask('svm', '''t'', ARRAY[a]', '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 1}');
SELECT ask('linear_regression', 'z::real, ARRAY[a]', '{"dataset": "d", "label": "z", "features": ["a"], "epsilon": 1}', 'nothing');
-- units: a method that samples them has to know them
SELECT ask('svm', 'y, ARRAY[a]', '{"dataset": "u", "label": "y", "features": ["a"], "epsilon": 1, "method": "sgd"}', 'u');
SELECT ask('svm', 'y, ARRAY[a]', '{"dataset": "p", "label": "y", "features": ["a"], "epsilon": 1, "method": "sgd"}', 'p');
-- rows and arrays
SELECT ask('svm', 'y, ARRAY[a, z]', '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 1}');
SELECT ask('svm', 'y, ARRAY[[a]]', '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 1}');
SELECT ask('svm', 'y, ''{}''', '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 1}');
SELECT ask('svm', 'y, CASE WHEN id = 700 THEN ARRAY[a, a] ELSE ARRAY[a] END', '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 1}');
-- where an aggregate can stand
SELECT refused($$SELECT dp.svm(y, ARRAY[a], '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 1}') OVER () FROM t$$);
-- no value of type internal can be written; in which words PostgreSQL says so depends on its minor release
SELECT refused($$SELECT dp_internal.svm_add(NULL, true, '{1}', '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 1}')$$) <> 'accepted';
SELECT refused($$SELECT dp_internal.svm_final(NULL)$$) <> 'accepted';
-- the budget
SELECT ask('svm', 'y, ARRAY[a]', '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 101}');
SET SESSION AUTHORIZATION regress_bob;
SELECT ask('svm', 'y, ARRAY[a]', '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 1}');
-- memory: of all groups together
RESET SESSION AUTHORIZATION;
SET pg_epsilon.max_memory = '1MB';
SET SESSION AUTHORIZATION regress_ann;
SELECT ask('svm', 'y, ARRAY[a, z, d - date ''2000-01-01'', i, f::int]', '{"dataset": "d", "label": "y", "features": ["a", "z", "d", "i", "f"], "epsilon": 1, "method": "one_pass"}', 't, generate_series(1, 100)');
SET enable_sort = off;
SELECT ask('svm', 'y, ARRAY[a, z, d - date ''2000-01-01'', i, f::int]', '{"dataset": "d", "label": "y", "features": ["a", "z", "d", "i", "f"], "epsilon": 1, "method": "one_pass"}', 't GROUP BY id');
RESET enable_sort;
RESET SESSION AUTHORIZATION;
RESET pg_epsilon.max_memory;
SELECT count(*) AS charges FROM dp_ledger.charge;
SELECT count(*) AS models FROM dp_ledger.model;
\t off

-- Facts of the data are no errors: each answers with as many terms, and numbers.
SET SESSION AUTHORIZATION regress_ann;
CREATE FUNCTION charges() RETURNS bigint LANGUAGE sql VOLATILE AS 'SELECT count(*) FROM dp.charges';
SELECT sound(dp.logistic_regression(y, ARRAY[a, i, f::int], '{"dataset": "d", "label": "y", "features": ["a", "i", "f"], "epsilon": 1}')) FROM t;
SELECT sound(dp.logistic_regression(y, ARRAY[a], '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 1}')) AS no_rows FROM nothing;
SELECT sound(dp.logistic_regression(y, ARRAY[a], '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 1}')) AS no_rows FROM t WHERE false;
SELECT sound(dp.svm(y, ARRAY[a], '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 1}')) AS one_row FROM t WHERE id = 1;
SELECT sound(dp.svm(true, ARRAY[a], '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 1}')) AS one_class FROM t;
SELECT sound(dp.svm(NULL::boolean, ARRAY[a], '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 1}')) AS no_label FROM t;
SELECT sound(dp.svm(y, NULL, '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 1}')) AS no_features FROM t;
SELECT sound(dp.svm(y, ARRAY[a, 5], '{"dataset": "d", "label": "y", "features": ["a", "z"], "epsilon": 1}')) AS constant FROM t;
SELECT sound(dp.linear_regression(z, '{NaN}', '{"dataset": "d", "label": "z", "features": ["a"], "epsilon": 1}')) AS nan FROM t;
SELECT sound(dp.linear_regression(z * 'Infinity', '{-Infinity}', '{"dataset": "d", "label": "z", "features": ["a"], "epsilon": 1}')) AS infinite FROM t;
SELECT sound(dp.linear_regression(z / nullif(z, 0) * 'NaN', '{1}', '{"dataset": "d", "label": "z", "features": ["f"], "epsilon": 1}')) AS nan FROM t;
SELECT charges();
-- methods and options
SELECT sound(dp.svm(y, ARRAY[a], '{"dataset": "d", "label": "y", "features": ["a"], "rho": 0.01, "method": "agd", "iterations": 10}')) AS agd FROM t;
SELECT sound(dp.logistic_regression(y, ARRAY[a], '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 1, "method": "sgd", "iterations": 50, "rows": 1000}')) AS sgd FROM t;
SELECT ask('logistic_regression', 'y, ARRAY[a]', '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 0.5, "delta": 1e-12, "method": "objpert"}');
SELECT sound(dp.logistic_regression(y, ARRAY[a], '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 0.5, "delta": 1e-12, "method": "sgd", "intercept": false, "max_norm": 1}')) AS sgd FROM t;
SELECT sound(dp.logistic_regression(y, ARRAY[a], '{"dataset": "p", "label": "y", "features": ["a"], "epsilon": 0.5, "budget": "regress_ann"}')) AS pure FROM p;
SELECT sound(dp.linear_regression(z, ARRAY[a], '{"dataset": "u", "label": "z", "features": ["a"], "epsilon": 0.5, "model": null}')) AS units FROM u;
SELECT dataset, function, request->>'method' AS method, rho IS NOT NULL AS rho, delta, epsilon, request #>> '{options,intercept}' AS intercept, request #>> '{options,max_norm}' AS max_norm, request->>'rows' AS rows
  FROM dp.charges ORDER BY charge DESC LIMIT 5;

-- One charge for each group, and one for equal aggregates.  Names of groups are numbered.
CREATE TEMP TABLE said (what text, n bigint);
INSERT INTO said SELECT 'before', charges();
SELECT count(*) AS groups, count(DISTINCT (m[1]).release) AS releases, bool_and((m[1]).model = 'g_' || (m[1]).release) AS numbered, min(sound(m)), max(sound(m))
  FROM (SELECT g, dp.svm(y, ARRAY[a], '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 0.1, "model": "g"}') AS m FROM t GROUP BY g) x;
SELECT charges() - n AS charged FROM said;
SELECT count(m) AS groups FROM (SELECT dp.svm(y, ARRAY[a], '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 0.1}') AS m FROM t GROUP BY GROUPING SETS ((g), (f), ())) x;
SELECT charges() - n AS charged FROM said;
SELECT count(m) AS groups FROM (SELECT dp.svm(y, ARRAY[a], '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 0.1}') AS m FROM nothing GROUP BY g) x;
SELECT charges() - n AS charged FROM said;
SELECT (unnest(dp.svm(y, ARRAY[a], '{"dataset": "d", "label": "y", "features": ["f"], "epsilon": 0.1, "model": "plain"}'))).term FROM t;
SELECT dp.svm(y, ARRAY[a], '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 0.1}') = dp.svm(y, ARRAY[a], '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 0.1}') AS equal FROM t;
SELECT charges() - n AS charged FROM said;
SELECT dp.svm(y, ARRAY[a], '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 0.1}') = dp.svm(y, ARRAY[a], '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 0.10}') AS equal FROM t;
SELECT charges() - n AS charged FROM said;
-- a name is taken once: nothing is charged for the second
SELECT ask('svm', 'y, ARRAY[a]', '{"dataset": "d", "label": "y", "features": ["f"], "epsilon": 0.1, "model": "plain"}');
SELECT charges() - n AS charged FROM said;
SELECT kind, method, label, features, role, model = 'plain' AS plain FROM dp.models WHERE model ~ '^(g_|plain)' ORDER BY release;
SELECT dp.predict('plain', '{"f": true}') BETWEEN -1e30 AND 1e30 AS predicts;
-- the rest of what SQL has: DISTINCT, ORDER BY, FILTER, views, parameters
SELECT sound(dp.svm(DISTINCT y, ARRAY[a], '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 0.1}')),
       sound(dp.svm(y, ARRAY[a], '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 0.1}' ORDER BY id)),
       sound(dp.svm(y, ARRAY[a], '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 0.1}') FILTER (WHERE f)),
       sound(dp.svm(y, ARRAY[a], '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 0.1}') FILTER (WHERE false)) FROM t;
SELECT charges() - n AS charged FROM said;
CREATE VIEW v AS SELECT g, dp.svm(y, ARRAY[a], '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 0.1}') AS m FROM t GROUP BY g;
SELECT g, sound(m) FROM v WHERE g = 1;
SELECT charges() - n AS charged FROM said;
PREPARE fit (text) AS SELECT sound(dp.svm(y, ARRAY[a], $1::jsonb)) FROM t;
SET plan_cache_mode = force_custom_plan;
EXECUTE fit('{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 0.1}');
SET plan_cache_mode = force_generic_plan;
EXECUTE fit('{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 0.1}');
EXECUTE fit('{"dataset": "d", "label": "y", "features": ["f"], "epsilon": 0.1}');
RESET plan_cache_mode;
SELECT charges() - n AS charged FROM said;
DO $$
DECLARE
    options jsonb := '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 0.1}';
BEGIN
    PERFORM dp.svm(y, ARRAY[a], options) FROM t;
END $$;
SELECT charges() - n AS charged FROM said;
-- EXPLAIN runs nothing; what is rolled back stays charged; a transaction may be READ ONLY
EXPLAIN (COSTS OFF) SELECT dp.svm(y, ARRAY[a], '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 0.1}') FROM t;
SELECT charges() - n AS charged FROM said;
BEGIN READ ONLY;
SELECT sound(dp.svm(y, ARRAY[a], '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 0.1}')) FROM t;
ROLLBACK;
SELECT charges() - n AS charged FROM said;
-- a result that is asked for again is kept with its rows
SET enable_material = off;
SET enable_memoize = off;
SET enable_sort = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT count(*), count(DISTINCT (x.m[1]).release) AS releases
  FROM generate_series(1, 3) k LEFT JOIN (SELECT g, dp.svm(y, ARRAY[a], '{"dataset": "d", "label": "y", "features": ["a"], "epsilon": 0.1}') AS m FROM t GROUP BY g) x ON x.g <> 10 + k;
SELECT charges() - n AS charged FROM said;
RESET enable_material;
RESET enable_memoize;
RESET enable_sort;
RESET enable_hashjoin;
RESET enable_mergejoin;
-- the same question of the table is another one: it is not answered from the rows of a query
SELECT count(*) AS terms, min(release) > (SELECT max(release) FROM dp.charges) AS new FROM dp.fit('d', 'svm', 'y', '{a}', epsilon => 0.1);
SELECT charges() - n AS charged FROM said;

-- Rows mean the same as for dp.fit: without noise, for the owner, the same coefficients.
SET SESSION AUTHORIZATION regress_curator;
SELECT count(*) AS terms, max(abs(m.coefficient - f.coefficient)) < 1e-9 AS same, bool_and(m.model = 'mine' AND m.release IS NULL)
  FROM (SELECT (unnest(dp.linear_regression(z, ARRAY[a, i, f::int, d - date '2000-01-01'], '{"dataset": "d", "label": "z", "features": ["a", "i", "f", "d"], "method": "nonprivate", "model": "mine"}'))).* FROM t) m
  JOIN dp.fit('d', 'linear_regression', 'z', '{a,i,f,d}', method => 'nonprivate') f USING (term);
SELECT count(*) AS terms, max(abs(m.coefficient - f.coefficient)) < 1e-6 AS same
  FROM (SELECT (unnest(dp.logistic_regression(y, ARRAY[a, i, f::int], '{"dataset": "d", "label": "y", "features": ["a", "i", "f"], "method": "nonprivate", "l2": 1}'))).* FROM t) m
  JOIN dp.fit('d', 'logistic_regression', 'y', '{a,i,f}', method => 'nonprivate', options => '{"l2": 1}') f USING (term);
SELECT count(*) AS groups, count(DISTINCT (m[1]).model) AS models, bool_and((m[1]).model ~ '^mine_[0-9]+$') AS numbered
  FROM (SELECT dp.svm(y, ARRAY[a], '{"dataset": "d", "label": "y", "features": ["a"], "method": "majority", "model": "mine"}') AS m FROM t GROUP BY g) x;
SELECT count(*) AS charges FROM dp.charges WHERE role = 'regress_curator';
BEGIN READ ONLY;
SELECT sound(dp.svm(y, ARRAY[a], '{"dataset": "d", "label": "y", "features": ["a"], "method": "majority"}')) FROM t;
ROLLBACK;

RESET SESSION AUTHORIZATION;
DROP VIEW v;
DROP FUNCTION refused, ask, sound;
DROP EXTENSION pg_epsilon;
DROP OWNED BY regress_curator, regress_ann CASCADE;
DROP ROLE regress_curator, regress_ann, regress_bob;
