-- dp.predict and dp.predict_row: what a kept model says of a row.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
CREATE ROLE regress_bob;
CREATE SCHEMA hidden;
GRANT CREATE ON SCHEMA public TO regress_curator, regress_ann;
GRANT CREATE, USAGE ON SCHEMA hidden TO regress_curator;
SET client_min_messages = warning;

-- every type that an attribute can have; the enum is in a schema that ann may not use
SET SESSION AUTHORIZATION regress_curator;
CREATE TYPE hidden.mood AS ENUM ('sad', 'glad');
CREATE TABLE t (y float8, yes boolean, a int, b float8, num numeric, d date, ts timestamptz, lt timestamp,
                s text, f boolean, i bigint, e hidden.mood, u uuid, dl date, n numeric, c char(5), r real);
SELECT dp.create_dataset('d', 't', 1e5);
SELECT dp.add_attribute('d', 'y', -10, 10, 2), dp.add_attribute('d', 'yes'), dp.add_attribute('d', 'a', 0, 100, 10);
SELECT dp.add_attribute('d', 'b', 0, 10, 10, outside => 'other', nulls => 'cell'), dp.add_attribute('d', 'num', -1e30, 1e30, 2);
SELECT dp.add_attribute('d', 'd', date '2020-01-01', date '2021-01-01', 6, outside => 'drop');
SELECT dp.add_attribute('d', 'ts', timestamptz '2020-01-01 00:00+00', timestamptz '2021-01-01 00:00+00', 1);
SELECT dp.add_attribute('d', 'lt', timestamp '2020-01-01', timestamp '2021-01-01', 6);
SELECT dp.add_attribute('d', 's', '{F,M}', outside => 'other', nulls => 'cell'), dp.add_attribute('d', 'f');
SELECT dp.add_attribute('d', 'i', '{1,2,9007199254740993}', outside => 'other'), dp.add_attribute('d', 'e', '{sad,glad}', nulls => 'cell');
SELECT dp.add_attribute('d', 'u', '{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}', outside => 'other');
SELECT dp.add_attribute('d', 'dl', '{2020-02-29,2020-03-01}', outside => 'other');
SELECT dp.add_attribute('d', 'n', '{0.1,2.50}', outside => 'other', nulls => 'cell');
SELECT dp.add_attribute('d', 'c', '{ab,c}', outside => 'other'), dp.add_attribute('d', 'r', '{0.1,0.5}', outside => 'other');
SELECT dp.grant_budget('d', 'regress_ann', 1e4);

-- Levels.  Each indicator gets a bit, so that a prediction tells which terms are in it.
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) AS terms FROM dp.fit('d', 'linear_regression', 'y', '{s,f,i,e,u,dl,n,c,r}', epsilon => 1, model => 'levels');
RESET SESSION AUTHORIZATION;
UPDATE dp_ledger.model SET coefficients = (SELECT array_agg(2.0 ^ (k - 1) ORDER BY k) FROM generate_series(1, cardinality(terms)) k) WHERE model = 'levels';
CREATE FUNCTION terms_of(row_json jsonb) RETURNS text LANGUAGE sql AS $$
    SELECT coalesce(string_agg(term, '; ' ORDER BY k), 'NULL')
      FROM unnest((SELECT terms FROM dp_ledger.model WHERE model = 'levels')) WITH ORDINALITY x (term, k)
     WHERE k > 1 AND (dp.predict('levels', '{"s": "F", "f": true, "i": 1, "e": "sad", "u": "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11",
                                            "dl": "2020-02-29", "n": 0.1, "c": "ab", "r": 0.5, "more": [1]}' || row_json))::bigint >> (k - 1)::int & 1 = 1 $$;
\t on
SELECT terms_of('{}');
SELECT terms_of('{"s": "M", "f": false, "i": 2, "e": "glad", "u": "b0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "dl": "2020-03-01", "n": 2.5, "c": "c    ", "r": 0.1}');
SELECT terms_of('{"s": null, "i": 3, "e": null, "dl": "infinity", "n": null, "c": "cab", "r": 0.10000001}');
SELECT terms_of('{"s": "", "i": 9007199254740993, "dl": "2020-03-02", "n": "NaN", "c": "ab     ", "r": "NaN"}');
SELECT terms_of('{"s": 5, "f": "no", "i": 9007199254740992, "n": 0.10000000000000001, "c": true}');
SELECT terms_of('{"s": true, "i": 1.000, "n": "2.5", "r": 0.50}');
SELECT terms_of('{"i": 1e40, "n": -1e400, "dl": "2020-060"}');
-- what the declaration drops has no prediction
SELECT terms_of('{"f": null}');
SELECT terms_of('{"i": null}');
SELECT terms_of('{"e": "angry"}');
SELECT terms_of('{"r": null}');
SELECT terms_of('{"u": null}');
-- what is no value of the type is an error
SELECT refused($$SELECT terms_of('{"f": "maybe"}')$$);
SELECT refused($$SELECT terms_of('{"f": [true]}')$$);
SELECT refused($$SELECT terms_of('{"i": true}')$$);
SELECT refused($$SELECT terms_of('{"i": "one"}')$$);
SELECT refused($$SELECT terms_of('{"s": {"F": 1}}')$$);
SELECT refused($$SELECT terms_of('{"u": "a0eebc99"}')$$);
SELECT refused($$SELECT terms_of('{"dl": "yesterday or so"}')$$);
\t off

-- Numbers.  Outside their bounds they are clamped, or in the middle with an indicator.
SET SESSION AUTHORIZATION regress_ann;
SELECT array_agg(term) AS terms FROM dp.fit('d', 'linear_regression', 'y', '{a,b}', epsilon => 1, model => 'numbers');
SELECT count(*) AS terms FROM dp.fit('d', 'linear_regression', 'y', '{d,ts,lt}', epsilon => 1, model => 'times');
SELECT count(*) AS terms FROM dp.fit('d', 'linear_regression', 'y', '{num}', epsilon => 1, model => 'numeric');
SELECT count(*) AS terms FROM dp.fit('d', 'logistic_regression', 'yes', '{a}', epsilon => 1, model => 'logistic');
SELECT count(*) AS terms FROM dp.fit('d', 'svm', 'yes', '{a}', epsilon => 1, model => 'svm');
SELECT count(*) AS terms FROM dp.fit('d', 'linear_regression', 'y', '{a,f,i,n}', epsilon => 1, model => 'mixed');
RESET SESSION AUTHORIZATION;
UPDATE dp_ledger.model SET coefficients = '{1,2,4,8,16}' WHERE model = 'numbers';
UPDATE dp_ledger.model SET coefficients = '{0,1,1e-6,1e-6}' WHERE model = 'times';
UPDATE dp_ledger.model SET coefficients = '{0,1}' WHERE model = 'numeric';
UPDATE dp_ledger.model SET coefficients = '{-5,0.1}' WHERE model IN ('logistic', 'svm');
SET SESSION AUTHORIZATION regress_ann;
SELECT j AS row, dp.predict('numbers', j) AS prediction, dp.predict_row('numbers', ARRAY[nullif(j->>'a', '')::float8, (j->>'b')::float8]) AS of_row
  FROM unnest(ARRAY['{"a": 3, "b": 5}', '{"a": 101, "b": 10}', '{"a": -1, "b": 0.0}', '{"a": 0.5, "b": 10.5}', '{"a": 3, "b": null}', '{"a": 3}',
                    '{"a": 3, "b": "NaN"}', '{"a": "3", "b": "-Infinity"}', '{"a": "Infinity", "b": 1}',
                    '{"b": 1}', '{"a": null, "b": 1}', '{"a": "NaN", "b": 1}', '{}']::jsonb[]) j;
SELECT dp.predict('numbers', '{"a": 1e500, "b": 1e500}') = 1 + 2 * 100 + 4 * 5 + 8 AS beyond_double;
-- dates are days, and timestamps microseconds, since 2000-01-01
SELECT dp.predict('times', '{"d": "2020-01-11", "ts": "2020-01-01T00:00:01+00:00", "lt": "2020-01-01 00:00"}') = date '2020-01-11' - date '2000-01-01' + 2 * 7305 * 86400.0 + 1 AS times,
       dp.predict('times', '{"d": "2020-01-11", "ts": "infinity", "lt": "-infinity"}') = 7315 + (7305 + 7671) * 86400.0 AS infinite,
       dp.predict('times', '{"d": "2019-12-31", "ts": "2020-01-01", "lt": "2020-01-01"}') IS NULL AS outside,
       dp.predict_row('times', ARRAY[7315, 7305 * 86400e6, 7305 * 86400e6]) = 7315 + 2 * 7305 * 86400.0 AS of_row;
-- a numeric is the double nearest to it, whatever its digits
SELECT setseed(0.5);
CREATE TABLE numerics AS
    SELECT (CASE WHEN k % 2 = 0 THEN 1 ELSE -1 END * round(random()::numeric * 10::numeric ^ (k % 25), k % 17) / 10::numeric ^ (k % 11))::numeric AS v FROM generate_series(1, 3000) k
    UNION ALL SELECT unnest('{0,0.00,-0.5,1e-30,9007199254740992,9007199254740993,90071992547409930000,9999999999999999,0.9007199254740993,123456789012345678901234567890,1e29,4e-320,10000,100000000,1e20,1e24}'::numeric[]);
SELECT bool_and(dp.predict('numeric', jsonb_build_object('num', v)) = v::float8) AS same, count(*) > 3000 AS many FROM numerics;
-- a probability, and a margin
SELECT abs(dp.predict('logistic', '{"a": 50}') - 0.5) < 1e-15 AS half, abs(dp.predict('logistic', '{"a": 100}') - 1 / (1 + exp(-5))) < 1e-15 AS five,
       abs(dp.predict('svm', '{"a": 20}') + 3) < 1e-15 AS margin;
-- rows as arrays: the same, by value
SELECT bool_and(dp.predict('mixed', jsonb_build_object('a', a, 'f', f, 'i', i, 'n', n)) IS NOT DISTINCT FROM dp.predict_row('mixed', ARRAY[a, f::int, i, n]::float8[])) AS same,
       count(*), count(dp.predict_row('mixed', ARRAY[a, f::int, i, n]::float8[])) AS predicted
  FROM unnest('{1,50,NULL}'::int[]) a, unnest('{t,f,NULL}'::boolean[]) f, unnest('{1,2,7,NULL}'::int[]) i, unnest('{0.1,2.5,3,NaN,NULL}'::numeric[]) n;
SELECT dp.predict_row('numbers', '[0:1]={3,5}') AS bounds, dp.predict_row('numbers', '{3,NaN}') AS nan, dp.predict_row('numbers', '{NaN,3}') AS no_prediction,
       dp.predict(NULL, '{}') AS no_model, dp.predict('numbers', NULL) AS no_row, dp.predict_row('numbers', NULL) AS no_array;
\t on
SELECT refused($$SELECT dp.predict_row('levels', '{1,2,3,4,5,6,7,8,9}')$$);
SELECT refused($$SELECT dp.predict_row('numbers', '{1}')$$);
SELECT refused($$SELECT dp.predict_row('numbers', '{}')$$);
SELECT refused($$SELECT dp.predict_row('numbers', '{{1,2}}')$$);
SELECT refused($$SELECT dp.predict('numbers', '[1, 2]')$$);
SELECT refused($$SELECT dp.predict('numbers', '7')$$);
SELECT refused($$SELECT dp.predict('numbers', '{"a": true, "b": 1}')$$);
SELECT refused($$SELECT dp.predict('numbers', '{"a": "much", "b": 1}')$$);
SELECT refused($$SELECT dp.predict('numbers', '{"a": [1], "b": 1}')$$);
SELECT refused($$SELECT dp.predict('times', '{"d": 7315}')$$);
SELECT refused($$SELECT dp.predict('nothing', '{}')$$);
\t off

-- The fit and the prediction mean the same: without noise, exact data come back, those with indicators too.
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE x (y float8, a float8, b float8, s text);
INSERT INTO x SELECT -3 + 0.05 * a + CASE WHEN b IS NULL THEN 2 WHEN b > 10 THEN -1 ELSE 0.25 * b END + CASE s WHEN 'F' THEN 1 ELSE 0 END, a, b, s
  FROM generate_series(0, 100, 5) a, unnest('{0,2,7,10,11,NULL}'::float8[]) b, unnest('{F,M}'::text[]) s;
SELECT dp.create_dataset('x', 'x', 10), dp.add_attribute('x', 'y', -10, 10, 2), dp.add_attribute('x', 'a', -50, 200, 2);
SELECT dp.add_attribute('x', 'b', 0, 10, 2, outside => 'other', nulls => 'cell'), dp.add_attribute('x', 's', '{F,M}');
SELECT count(*) AS terms FROM dp.fit('x', 'linear_regression', 'y', '{a,b,s}', method => 'nonprivate', model => 'exact');
SELECT max(abs(dp.predict('exact', to_jsonb(x)) - y)) < 1e-3 AS exact FROM x;
SELECT count(*) FROM dp.charges WHERE dataset = 'x';

-- Whose it is: those who paid, and the owner.  A model without privacy is the owner's.
SELECT dp.predict('numbers', '{"a": 1, "b": 1}') AS owner;
SET SESSION AUTHORIZATION regress_bob;
\t on
SELECT refused($$SELECT dp.predict('numbers', '{"a": 1, "b": 1}')$$);
SELECT refused($$SELECT dp.predict_row('numbers', '{1,1}')$$);
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT dp.predict('exact', '{"a": 1, "b": 1}')$$);
RESET SESSION AUTHORIZATION;
-- asked from one place by one role and then another, of a model that is dropped in between
CREATE FUNCTION ask_as(roles text[], afterwards text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    r text;
BEGIN
    FOREACH r IN ARRAY roles LOOP
        PERFORM set_config('role', r, true);
        BEGIN
            RETURN NEXT r || ' ' || dp.predict('svm', '{"a": 50}');
        EXCEPTION WHEN OTHERS THEN
            RETURN NEXT r || ' ' || sqlstate;
        END;
        EXECUTE afterwards;
    END LOOP;
    PERFORM set_config('role', 'none', true);
END $$;
SELECT ask_as('{regress_ann,regress_bob,regress_ann,regress_curator}', 'SELECT');
SELECT ask_as('{regress_ann,regress_ann}', $d$DO $x$ BEGIN PERFORM dp.drop_model('svm'); EXCEPTION WHEN undefined_object THEN NULL; END $x$$d$);
\t off

-- In a parallel query the leader predicts; a worker does not.
SET SESSION AUTHORIZATION regress_ann;
CREATE TABLE many AS SELECT k % 100 AS a, k % 10 AS b FROM generate_series(1, 20000) k;
ANALYZE many;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF) SELECT sum(dp.predict('numbers', to_jsonb(m))) FROM many m;
SELECT sum(dp.predict('numbers', to_jsonb(m))) = sum(1 + 2 * a + 4 * b) AS same FROM many m;
CREATE FUNCTION says_it_is_safe(j jsonb) RETURNS float8 LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$ BEGIN RETURN dp.predict('numbers', j); END $$;
SET parallel_leader_participation = off;
\set VERBOSITY terse
SELECT sum(says_it_is_safe(to_jsonb(m))) FROM many m;

RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon;
DROP FUNCTION refused, ask_as, terms_of;
DROP OWNED BY regress_curator, regress_ann CASCADE;
DROP SCHEMA hidden;
DROP ROLE regress_curator, regress_ann, regress_bob;
