-- Models of a registered table: what is asked, refused, charged, replayed and kept, and what comes out.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
CREATE ROLE regress_bob;
CREATE ROLE regress_poor;
CREATE ROLE regress_pure;
CREATE ROLE regress_stranger;
GRANT CREATE ON SCHEMA public TO regress_curator;
-- Fits with these arguments after the dataset d, and returns what was said.
CREATE FUNCTION ask(arguments text) RETURNS text LANGUAGE sql AS $$ SELECT refused(format('SELECT * FROM dp.fit(''d'', %s)', arguments)) $$;
SET client_min_messages = warning;
-- What the functions are
SELECT proname, provolatile, proparallel, proleakproof, prosecdef, proisstrict FROM pg_proc
 WHERE pronamespace = 'dp'::regnamespace AND proname IN ('fit', 'drop_model') ORDER BY 1;

SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE t (y boolean, x float8, z text, v float8, n int, three int, big1 int, big2 int, secret int);
INSERT INTO t SELECT i % 10 < CASE WHEN i % 3 = 0 THEN 7 ELSE 2 END, i % 101, CASE WHEN i % 3 = 0 THEN 'a' ELSE 'b' END,
       3 + 0.5 * (i % 101) + (i * 7919 % 13 - 6), i % 7, i % 3, i % 2000, i % 1500, i
  FROM generate_series(1, 10000) i;
SELECT dp.create_dataset('d', 't', 100000);
SELECT dp.add_attribute('d', 'y');
SELECT dp.add_attribute('d', 'x', 0, 100, 10);
SELECT dp.add_attribute('d', 'z', '{a,b}');
SELECT dp.add_attribute('d', 'v', -10, 80, 10);
SELECT dp.add_attribute('d', 'n', 0, 7, 7, outside => 'other', nulls => 'cell', last => 'open');
SELECT dp.add_attribute('d', 'three', ARRAY[0, 1, 2]);
SELECT dp.add_attribute('d', 'big1', (SELECT array_agg(i) FROM generate_series(0, 1999) i));
SELECT dp.add_attribute('d', 'big2', (SELECT array_agg(i) FROM generate_series(0, 1499) i));
SELECT dp.grant_budget('d', 'regress_ann', 60000);
SELECT dp.grant_budget('d', 'regress_bob', 30000);
SELECT dp.grant_budget('d', 'regress_poor', 0.1);
SELECT dp.grant_budget('d', 'regress_pure', 1000, accounting => 'pure');

\t on
-- ---- What is refused, and free ----
SET SESSION AUTHORIZATION regress_ann;
-- unknown names
SELECT refused($$SELECT * FROM dp.fit('nothing', 'svm', 'y', '{x}', epsilon => 1)$$);
SELECT refused($$SELECT * FROM dp.fit('D', 'svm', 'y', '{x}', epsilon => 1)$$);
SELECT ask($$'random_forest', 'y', '{x}', epsilon => 1$$);
SELECT ask($$'svm', 'nothing', '{x}', epsilon => 1$$);
SELECT ask($$'svm', 'y', '{nothing}', epsilon => 1$$);
SELECT ask($$'svm', 'y', '{x,secret}', epsilon => 1$$);
SELECT ask($$'svm', 'secret', '{x}', epsilon => 1$$);
SELECT ask($$'svm', 'y', '{x}', 'guess', epsilon => 1$$);
SELECT ask($$'svm', 'y', '{x}', epsilon => 1, budget => 'regress_bob'$$);
SELECT ask($$'svm', 'y', '{x}', epsilon => 1, budget => 'regress_nobody'$$);
-- NULL
SELECT refused($$SELECT * FROM dp.fit(NULL, 'svm', 'y', '{x}', epsilon => 1)$$);
SELECT ask($$NULL, 'y', '{x}', epsilon => 1$$);
SELECT ask($$'svm', NULL, '{x}', epsilon => 1$$);
SELECT ask($$'svm', 'y', NULL, epsilon => 1$$);
SELECT ask($$'svm', 'y', '{x,NULL}', epsilon => 1$$);
-- features and label
SELECT ask($$'svm', 'y', '{}', epsilon => 1$$);
SELECT ask($$'svm', 'y', '{x,x}', epsilon => 1$$);
SELECT ask($$'svm', 'y', '{y}', epsilon => 1$$);
SELECT ask($$'svm', 'y', '{x,y}', epsilon => 1$$);
SELECT ask($$'svm', 'y', '{big1,big2}', epsilon => 1$$);
SELECT ask($$'svm', 'y', '{big1}', epsilon => 1$$);
SELECT ask($$'logistic_regression', 'three', '{x}', epsilon => 1$$);
SELECT ask($$'svm', 'three', '{x}', epsilon => 1$$);
SELECT ask($$'logistic_regression', 'x', '{y}', epsilon => 1$$);
SELECT ask($$'linear_regression', 'y', '{x}', epsilon => 1$$);
SELECT ask($$'linear_regression', 'three', '{x}', epsilon => 1$$);
-- cost
SELECT ask($$'svm', 'y', '{x}'$$);
SELECT ask($$'svm', 'y', '{x}', epsilon => 1, rho => 1$$);
SELECT ask($$'svm', 'y', '{x}', epsilon => 0$$);
SELECT ask($$'svm', 'y', '{x}', epsilon => -1$$);
SELECT ask($$'svm', 'y', '{x}', epsilon => 'NaN'$$);
SELECT ask($$'svm', 'y', '{x}', epsilon => 'Infinity'$$);
SELECT ask($$'svm', 'y', '{x}', epsilon => 1e6$$);
SELECT ask($$'svm', 'y', '{x}', epsilon => 1e-300$$);
SELECT ask($$'svm', 'y', '{x}', rho => 0$$);
SELECT ask($$'svm', 'y', '{x}', rho => -1$$);
SELECT ask($$'svm', 'y', '{x}', rho => 'NaN'$$);
SELECT ask($$'svm', 'y', '{x}', rho => 'Infinity'$$);
SELECT ask($$'svm', 'y', '{x}', rho => 1e-10$$);
SELECT ask($$'svm', 'y', '{x}', rho => 1e300$$);
SELECT ask($$'svm', 'y', '{x}', epsilon => 1, delta => 0$$);
SELECT ask($$'svm', 'y', '{x}', epsilon => 1, delta => 1$$);
SELECT ask($$'svm', 'y', '{x}', epsilon => 1, delta => -1e-9$$);
SELECT ask($$'svm', 'y', '{x}', epsilon => 1, delta => 'NaN'$$);
SELECT ask($$'svm', 'y', '{x}', 'sgd', epsilon => 1, delta => 1$$);
-- options
SELECT ask($$'svm', 'y', '{x}', epsilon => 1, options => '[]'$$);
SELECT ask($$'svm', 'y', '{x}', epsilon => 1, options => '1'$$);
SELECT ask($$'svm', 'y', '{x}', epsilon => 1, options => '{"magic": 1}'$$);
SELECT ask($$'svm', 'y', '{x}', epsilon => 1, options => '{"iterations": "many"}'$$);
SELECT ask($$'svm', 'y', '{x}', epsilon => 1, options => '{"iterations": [3]}'$$);
SELECT ask($$'svm', 'y', '{x}', epsilon => 1, options => '{"iterations": 0}'$$);
SELECT ask($$'svm', 'y', '{x}', epsilon => 1, options => '{"iterations": 2.5}'$$);
SELECT ask($$'svm', 'y', '{x}', epsilon => 1, options => '{"iterations": 1e300}'$$);
SELECT ask($$'svm', 'y', '{x}', epsilon => 1, options => '{"iterations": 1e999}'$$);
SELECT ask($$'svm', 'y', '{x}', epsilon => 1, options => '{"l2": -1}'$$);
SELECT ask($$'svm', 'y', '{x}', epsilon => 1, options => '{"rate": 1}'$$);
SELECT ask($$'svm', 'y', '{x}', epsilon => 1, options => '{"intercept": 1}'$$);
SELECT ask($$'svm', 'y', '{x}', epsilon => 1, options => '{"max_norm": 0}'$$);
SELECT ask($$'svm', 'y', '{x}', epsilon => 1, options => '{"max_norm": 1e-9}'$$);
SELECT ask($$'logistic_regression', 'y', '{x}', 'agd', epsilon => 1, options => '{"hinge": 1}'$$);
SELECT ask($$'svm', 'y', '{x}', 'sgd_adv', epsilon => 1$$);
SELECT ask($$'svm', 'y', '{x}', 'sgd_adv', epsilon => 1, options => '{"rows": -1}'$$);
-- predicates
SELECT ask($$'svm', 'y', '{x}', epsilon => 1, predicate => 'x <'$$);
SELECT ask($$'svm', 'y', '{x}', epsilon => 1, predicate => 'secret = 1'$$);
SELECT ask($$'svm', 'y', '{x}', epsilon => 1, predicate => 'x < 3'$$);
SELECT ask($$'svm', 'y', '{x}', epsilon => 1, predicate => 'z = ''c'''$$);
SELECT ask($$'svm', 'y', '{x}', epsilon => 1, predicate => 'z = ''a'' AND z = ''b'''$$);
SELECT ask($$'svm', 'y', '{x}', epsilon => 1, predicate => ''$$);
-- methods
SELECT ask($$'linear_regression', 'v', '{x}', 'agd', epsilon => 1$$);
SELECT ask($$'linear_regression', 'v', '{x}', 'privgene', epsilon => 1$$);
SELECT ask($$'svm', 'y', '{x}', 'nonprivate'$$);
SELECT ask($$'svm', 'y', '{x}', 'majority'$$);
-- too little memory, known before anything is charged
RESET SESSION AUTHORIZATION;
LOAD 'pg_epsilon';
SET pg_epsilon.max_memory = '1MB';
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT * FROM dp.fit('d', 'svm', 'y', '{big2}', epsilon => 1)$$);
RESET SESSION AUTHORIZATION;
RESET pg_epsilon.max_memory;
-- who has no budget, and who has too little
SET SESSION AUTHORIZATION regress_stranger;
SELECT ask($$'svm', 'y', '{x}', epsilon => 1$$);
SELECT ask($$'svm', 'y', '{x}', 'nonprivate'$$);
SET SESSION AUTHORIZATION regress_curator;
SELECT ask($$'svm', 'y', '{x}', epsilon => 1$$);
SET SESSION AUTHORIZATION regress_poor;
SELECT ask($$'svm', 'y', '{x}', epsilon => 1$$);
SELECT ask($$'svm', 'y', '{x}', 'sgd', epsilon => 0.05, options => '{"iterations": 10}'$$);
-- pure accounting
SET SESSION AUTHORIZATION regress_pure;
SELECT ask($$'svm', 'y', '{x}', rho => 1$$);
SELECT ask($$'svm', 'y', '{x}', epsilon => 1, delta => 1e-9$$);
SELECT ask($$'svm', 'y', '{x}', 'agd', epsilon => 1, options => '{"splits": 60}'$$);
SELECT ask($$'svm', 'y', '{x}', 'sgd_adv', epsilon => 1, options => '{"rows": 1000}'$$);
SELECT ask($$'svm', 'y', '{x}', 'objpert', epsilon => 1$$);
-- nothing of all this was charged
RESET SESSION AUTHORIZATION;
SELECT (SELECT count(*) FROM dp_ledger.charge) AS charges, (SELECT count(*) FROM dp_ledger.model) AS models, (SELECT sum(rho_spent) FROM dp_ledger.budget) AS spent;
\t off

-- ---- What comes out ----
-- a model without privacy, for the owner: least squares, and log odds
SET SESSION AUTHORIZATION regress_curator;
CREATE TEMP TABLE fitted AS SELECT * FROM dp.fit('d', 'linear_regression', 'v', '{x}', 'nonprivate', model => 'plain');
SELECT term, model, release, abs(coefficient - CASE term WHEN 'x' THEN slope ELSE intercept END) < 2e-3 AS least_squares
  FROM fitted, (SELECT regr_slope(v, x) AS slope, regr_intercept(v, x) AS intercept FROM t) s;
CREATE TEMP TABLE odds AS SELECT 'z = ' || z AS term, ln(avg(y::int) / (1 - avg(y::int))) AS odds FROM t GROUP BY z;
SELECT term, abs(coefficient - odds) < 1e-6 AS log_odds
  FROM dp.fit('d', 'logistic_regression', 'y', '{z}', 'nonprivate', options => '{"intercept": false}') JOIN odds USING (term) ORDER BY 1;
-- the mean of each group by levels of a regression; of a predicate's rows
SELECT term, abs(coefficient - avg) < 0.01 AS mean
  FROM dp.fit('d', 'linear_regression', 'v', '{three}', 'nonprivate', options => '{"intercept": false}', predicate => 'z = ''b''') f
  JOIN (SELECT 'three = ' || three AS term, avg(v) - 35 AS avg FROM t WHERE z = 'b' GROUP BY three) m USING (term) ORDER BY 1;
-- majority: 1 for half of the labels or more; the mean of a regression
SELECT term, coefficient FROM dp.fit('d', 'svm', 'y', '{x,z}', 'majority');
SELECT term, coefficient FROM dp.fit('d', 'svm', 'y', '{x,z}', 'majority', predicate => 'z = ''a''');
SELECT abs(coefficient - (SELECT avg(v) FROM t)) < 0.01 AS mean FROM dp.fit('d', 'linear_regression', 'v', '{x}', 'majority') WHERE term = '(Intercept)';
-- each is kept under a name, and free
SELECT count(*) AS charges FROM dp.charges;
SELECT count(DISTINCT model) AS models, count(release) AS releases, bool_and(role = 'regress_curator') AS owner FROM dp.models;
-- with a large budget the private ones are the same
SET client_min_messages = notice;
SET SESSION AUTHORIZATION regress_ann;
CREATE TEMP TABLE rich AS SELECT * FROM dp.fit('d', 'linear_regression', 'v', '{x}', rho => 5000, model => 'rich');
SET client_min_messages = warning;
GRANT ALL ON rich TO PUBLIC;
RESET SESSION AUTHORIZATION;
SELECT term, r.model, r.release, abs(r.coefficient - p.coefficient) < 0.05 AS same FROM rich r JOIN fitted p USING (term);
-- which is what their standard errors say; without noise there are none
SELECT term, r.stderr > 0 AND r.stderr < 0.05 AS small, p.stderr AS plain FROM rich r JOIN fitted p USING (term);
GRANT SELECT ON odds TO PUBLIC;
SET SESSION AUTHORIZATION regress_ann;
SELECT method, bool_and(abs(coefficient - odds) < 0.02) AS log_odds
  FROM (VALUES ('auto', '{"clip": 1, "iterations": 20}'), ('newton', '{"clip": 1}')) m (method, options),
       dp.fit('d', 'logistic_regression', 'y', '{z}', method, rho => 4000, options => (options::jsonb || '{"intercept": false}')) JOIN odds USING (term)
 GROUP BY 1 ORDER BY 1;

-- ---- Terms ----
SELECT term FROM dp.fit('d', 'svm', 'y', '{n,z,x}', rho => 0.01);
SELECT term, coefficient = 0 AS zero FROM dp.fit('d', 'svm', 'y', '{z}', rho => 0.01, options => '{"intercept": false}');

-- ---- Replays ----
CREATE TEMP TABLE first AS SELECT * FROM dp.fit('d', 'svm', 'y', '{x,z}', rho => 0.02);
CREATE FUNCTION pg_temp.spent() RETURNS float8 LANGUAGE sql AS $$ SELECT round(sum(rho)::numeric, 9)::float8 FROM dp.charges $$;
CREATE TEMP TABLE before AS SELECT pg_temp.spent() AS spent;
-- the same, in other words: free and the same
SELECT count(*) AS same FROM dp.fit('d', 'svm', 'y', '{x,z}', rho => 0.02) f JOIN first USING (term, coefficient, model, release);
SELECT count(*) AS same FROM dp.fit('d', 'svm', 'y', '{x,z}', 'newton', rho => 0.02, options => '{"l2": 0, "intercept": true, "share": null}') f
  JOIN first USING (term, coefficient, model, release);
-- under one more name
SELECT count(*) AS same, min(f.model) AS model FROM dp.fit('d', 'svm', 'y', '{x,z}', rho => 0.02, model => 'one more') f JOIN first USING (term, coefficient, release);
SELECT count(*) AS same, min(f.model) AS model FROM dp.fit('d', 'svm', 'y', '{x,z}', rho => 0.02, model => 'one more') f JOIN first USING (term, coefficient, release);
SELECT pg_temp.spent() - spent AS paid FROM before;
-- what is another request
SELECT (SELECT count(*) FROM dp.fit('d', 'svm', 'y', '{z,x}', rho => 0.02)) AS another_order;
SELECT (SELECT count(*) FROM dp.fit('d', 'svm', 'y', '{x,z}', rho => 0.02, predicate => 'x < 50')) AS a_predicate;
SELECT (SELECT count(*) FROM dp.fit('d', 'svm', 'y', '{x,z}', rho => 0.02, options => '{"l2": 1}')) AS an_option;
SELECT round((pg_temp.spent() - spent)::numeric, 9) AS paid FROM before;
SELECT (SELECT count(*) FROM dp.fit('d', 'svm', 'y', '{x,z}', rho => 0.02, predicate => '(x<50)')) AS the_predicate_in_other_words;
SELECT round((pg_temp.spent() - spent)::numeric, 9) AS paid FROM before;
-- fresh pays, and is what is replayed from then on
CREATE TEMP TABLE second AS SELECT * FROM dp.fit('d', 'svm', 'y', '{x,z}', rho => 0.02, fresh => true);
SELECT count(*) AS same FROM first JOIN second USING (term, coefficient);
SELECT count(*) AS same FROM dp.fit('d', 'svm', 'y', '{x,z}', rho => 0.02) f JOIN second USING (term, coefficient, model, release);
SELECT round((pg_temp.spent() - spent)::numeric, 9) AS paid FROM before;
-- another budget pays, and the cap does not
RESET SESSION AUTHORIZATION;
SELECT sum(cap_rho) AS cap FROM dp_ledger.charge \gset
GRANT SELECT ON second, before TO PUBLIC;
SET SESSION AUTHORIZATION regress_bob;
SELECT count(*) AS none FROM dp.models;
SELECT count(*) AS same FROM dp.fit('d', 'svm', 'y', '{x,z}', rho => 0.02) f JOIN second USING (term, coefficient, model, release);
SELECT count(*) AS same FROM dp.fit('d', 'svm', 'y', '{x,z}', rho => 0.02) f JOIN second USING (term, coefficient, model, release);
SELECT role, function, rho, release IS NOT NULL AS released FROM dp.charges;
SELECT count(*) AS models FROM dp.models;
RESET SESSION AUTHORIZATION;
SELECT sum(cap_rho) - :cap AS cap_paid FROM dp_ledger.charge;

-- ---- Names ----
SET SESSION AUTHORIZATION regress_bob;
\t on
SELECT ask($$'svm', 'y', '{x}', rho => 0.01, model => 'rich'$$);
SELECT ask($$'svm', 'y', '{x,z}', rho => 0.02, model => 'rich'$$);
SELECT ask($$'svm', 'y', '{x}', rho => 0.01, model => 'plain'$$);
SELECT refused($$SELECT dp.drop_model('rich')$$);
SELECT refused($$SELECT dp.drop_model('plain')$$);
SELECT refused($$SELECT dp.drop_model('nothing')$$);
SET SESSION AUTHORIZATION regress_curator;
SELECT ask($$'svm', 'y', '{x}', 'nonprivate', model => 'plain'$$);
SELECT ask($$'svm', 'y', '{x}', 'nonprivate', model => 'rich'$$);
\t off
SELECT dp.drop_model('plain');
SELECT count(*) AS plain FROM dp.models WHERE model = 'plain';
SET SESSION AUTHORIZATION regress_ann;
SELECT dp.drop_model('rich');
-- its release is replayed all the same, and is a model again
SELECT count(*) AS same, min(f.model) AS model FROM dp.fit('d', 'linear_regression', 'v', '{x}', rho => 5000) f JOIN rich USING (term, coefficient, stderr, release);
SELECT dp.drop_model('model_1');
SELECT count(*) AS same, min(f.model) AS model FROM dp.fit('d', 'linear_regression', 'v', '{x}', rho => 5000, model => 'rich') f JOIN rich USING (term, coefficient, stderr, release);

-- ---- The ledger ----
SELECT function, rho, delta, epsilon, request - 'options' AS request FROM dp.charges ORDER BY charge LIMIT 1;
SELECT request -> 'options' ? 'iterations' AS defaults_are_written, request -> 'options' -> 'intercept' AS intercept FROM dp.charges ORDER BY charge LIMIT 1;
SELECT attributes, workload, predicate, method, queries FROM dp.releases ORDER BY release LIMIT 1;
-- an (epsilon, delta) method
SELECT count(*) AS terms FROM dp.fit('d', 'svm', 'y', '{x}', 'sgd', epsilon => 1, delta => 1e-11, options => '{"iterations": 10}');
SELECT rho BETWEEN 0.758955 AND 0.758957 AS as_of_pure, delta FROM dp.charges ORDER BY charge DESC LIMIT 1;
-- pure
SET SESSION AUTHORIZATION regress_pure;
SELECT count(*) AS terms FROM dp.fit('d', 'svm', 'y', '{x}', epsilon => 1);
SELECT method, c.rho, c.delta, c.epsilon, request ->> 'accounting' AS accounting, request -> 'epsilon' AS nano
  FROM dp.charges c JOIN dp.releases USING (release);
-- what a model is not
\t on
SELECT refused(format('SELECT * FROM dp.answer(%s, ''total'')', release)) ~ '^(\S+): release \d+ is a model' AS answer,
       refused(format('SELECT * FROM dp.cells(%s)', release)) ~ 'is a model' AS cells,
       refused(format('SELECT dp.publish(%s, ''public.p'')', release)) ~ 'is a model' AS publish FROM dp.releases;
\t off
SET SESSION AUTHORIZATION regress_curator;
SELECT ok, message FROM dp.verify_ledger('d');

-- ---- Expired, and a new version ----
SELECT max(release) AS pure_release FROM dp.releases \gset
SELECT count(*) AS models FROM dp.models WHERE release = :pure_release;
SELECT dp.expire_release(:pure_release);
SELECT count(*) AS models FROM dp.models WHERE release = :pure_release;
SET SESSION AUTHORIZATION regress_pure;
SELECT count(*) AS releases FROM dp.releases;
SELECT count(*) AS paid_anew FROM dp.fit('d', 'svm', 'y', '{x}', epsilon => 1);
SELECT count(*) AS charges FROM dp.charges;
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.new_version('d');
SET SESSION AUTHORIZATION regress_pure;
SELECT count(*) AS paid_anew FROM dp.fit('d', 'svm', 'y', '{x}', epsilon => 1);
SELECT count(*) AS charges, count(DISTINCT release) AS releases FROM dp.charges;
SELECT count(*) AS models FROM dp.models;

-- ---- Facts of the data are no errors ----
SET SESSION AUTHORIZATION regress_curator;
CREATE FUNCTION facts(what text, rows text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TABLE %I (y boolean, x float8, f4 real, n numeric, z text, v float8)', what);
    EXECUTE format('INSERT INTO %I %s', what, rows);
    PERFORM dp.create_dataset(what, what::regclass, 1000);
    PERFORM dp.add_attribute(what, 'y');
    PERFORM dp.add_attribute(what, 'x', -1, 1, 4, outside => 'other', nulls => 'cell');
    PERFORM dp.add_attribute(what, 'f4', -1, 1, 4, outside => 'drop');
    PERFORM dp.add_attribute(what, 'n', '-1', '1', 4);
    PERFORM dp.add_attribute(what, 'z', '{a,b}', outside => 'other', nulls => 'cell');
    PERFORM dp.add_attribute(what, 'v', -1, 1, 4);
    PERFORM dp.grant_budget(what, 'regress_ann', 1000);
END $$;
SELECT facts('no_rows', 'SELECT WHERE false');
SELECT facts('one_row', 'VALUES (true, 0.5, 0.5, 0.5, ''a'', 0.5)');
SELECT facts('one_class', 'SELECT true, 0.5, 0.5, 0.5, ''a'', 1 FROM generate_series(1, 1000)');
SELECT facts('all_null', 'SELECT FROM generate_series(1, 1000)');
SELECT facts('labels_null', 'SELECT NULL, 0.5, 0.5, 0.5, ''a'', NULL FROM generate_series(1, 1000)');
SELECT facts('infinite', 'SELECT i % 2 = 0, CASE i % 3 WHEN 0 THEN ''NaN'' WHEN 1 THEN ''Infinity'' ELSE ''-Infinity'' END::float8,
    CASE i % 3 WHEN 0 THEN ''NaN'' WHEN 1 THEN ''Infinity'' ELSE ''-Infinity'' END::real, ''NaN'', ''c'', ''NaN'' FROM generate_series(1, 1000) i');
SELECT facts('huge', 'SELECT i % 2 = 0, 1e308, 1e38, 10::numeric ^ 4000, repeat(''a'', 100000), -1e308 FROM generate_series(1, 50) i');
SELECT facts('ordinary', 'SELECT i % 2 = 0, i % 3 - 1, (i % 5) / 2.0 - 1, i % 2, ''b'', (i % 3 - 1) / 2.0 FROM generate_series(1, 1000) i');
SET SESSION AUTHORIZATION regress_ann;
SELECT dataset, model, method, count(*) AS terms, bool_and(coefficient > '-Infinity' AND coefficient < 'Infinity') AS finite,
    count(stderr) FILTER (WHERE stderr >= 0 AND stderr < 'Infinity') AS stderrs, count(DISTINCT release) AS releases
  FROM dp.datasets, (VALUES ('logistic_regression', 'y'), ('svm', 'y'), ('linear_regression', 'v')) m (kind, label),
       (VALUES ('newton'), ('one_pass'), ('nag_opt')) w (method), dp.fit(dataset, kind, label, '{x,f4,n,z}', method, rho => 0.1,
           options => CASE method WHEN 'nag_opt' THEN '{"iterations": 5}' END::jsonb) AS f (term, coefficient, stderr, model_name, release),
       LATERAL (SELECT kind) k (model)
 WHERE dataset <> 'd' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
SELECT count(*) AS models FROM dp.models WHERE dataset <> 'd';
-- and for their owner, without privacy
SET SESSION AUTHORIZATION regress_curator;
SELECT dataset, count(*) AS terms, bool_and(coefficient > '-Infinity' AND coefficient < 'Infinity') AS finite
  FROM dp.datasets, dp.fit(dataset, 'linear_regression', 'v', '{x,f4,n,z}', 'nonprivate') WHERE dataset <> 'd' GROUP BY 1 ORDER BY 1;
SELECT dataset, count(*) AS terms, bool_and(coefficient > '-Infinity' AND coefficient < 'Infinity') AS finite
  FROM dp.datasets, dp.fit(dataset, 'svm', 'y', '{x,f4,n,z}', 'majority') WHERE dataset <> 'd' GROUP BY 1 ORDER BY 1;

-- ---- Units: two rows of each, whatever they have ----
CREATE TABLE visits AS SELECT 1 AS unit, 1::float8 AS v, true AS y FROM generate_series(1, 1000)
    UNION ALL SELECT i, -1, false FROM generate_series(2, 3) i, generate_series(1, 2)
    UNION ALL SELECT NULL, 1, true FROM generate_series(1, 50);
SELECT dp.create_dataset('visits', 'visits', 1000, unit => 'unit', max_rows => 2);
SELECT dp.add_attribute('visits', 'v', -1, 1, 4), dp.add_attribute('visits', 'y');
-- (2 - 4) / 6, and a minority
SELECT round(coefficient::numeric, 6) AS mean FROM dp.fit('visits', 'linear_regression', 'v', '{y}', 'majority') WHERE term = '(Intercept)';
SELECT coefficient FROM dp.fit('visits', 'svm', 'y', '{v}', 'majority') WHERE term = '(Intercept)';

-- what all rows of a unit give is clipped as a whole: 1000 units of four rows against 4000 of one
CREATE TABLE stays AS SELECT i AS unit, 1::float8 AS v, true AS y, 0::float8 AS x FROM generate_series(1, 1000) i, generate_series(1, 4)
    UNION ALL SELECT i, -1, false, 0 FROM generate_series(1001, 5000) i;
SELECT dp.create_dataset('stays', 'stays', 10000, unit => 'unit', max_rows => 4);
SELECT dp.add_attribute('stays', 'v', -1, 1, 4), dp.add_attribute('stays', 'y'), dp.add_attribute('stays', 'x', -1, 1, 4);
SELECT dp.grant_budget('stays', 'regress_curator', 10000);
\t on
-- four rows weigh a quarter each, or one each
SELECT unit_clip, round(coefficient::numeric, 2) AS mean
  FROM (VALUES ('{"unit_clip": 1}'), ('{}'), ('{"unit_clip": 0}')) o (unit_clip),
       dp.fit('stays', 'linear_regression', 'v', '{x}', 'one_pass', rho => 100, options => '{"max_norm": 1}'::jsonb || unit_clip::jsonb)
 WHERE term = '(Intercept)';
-- a step of (1000 - 4000) / 10000, or of nothing
SELECT unit_clip, round(coefficient::numeric, 2) + 0 AS step
  FROM (VALUES ('{"unit_clip": 1}'), ('{}'), ('{"unit_clip": 0}')) o (unit_clip),
       dp.fit('stays', 'linear_regression', 'v', '{x}', 'gd', rho => 100,
           options => '{"max_norm": 1, "iterations": 1, "rows": 10000, "clip": 1, "l2": 0}'::jsonb || unit_clip::jsonb)
 WHERE term = '(Intercept)';
-- by default it is on where a unit may have several rows, and it is in the request
SELECT DISTINCT request #> '{options,unit_clip}', request #> '{options,clip}', request ->> 'method' FROM dp.charges WHERE dataset = 'stays' ORDER BY 1, 3;
SELECT method, bool_and(coefficient > '-Infinity' AND coefficient < 'Infinity') AS finite
  FROM (VALUES ('newton', '{}'), ('agd', '{"iterations": 3}'), ('privgene', '{"iterations": 3}'), ('sgd', '{"iterations": 3}'),
               ('nag_opt', '{"iterations": 3}')) m (method, options),
       dp.fit('stays', 'svm', 'y', '{v,x}', method, epsilon => 1, options => options::jsonb) GROUP BY 1 ORDER BY 1;
SELECT refused($$SELECT * FROM dp.fit('stays', 'svm', 'y', '{v}', epsilon => 1, options => '{"unit_clip": 0.5}')$$);
SELECT refused($$SELECT * FROM dp.fit('stays', 'svm', 'y', '{v}', 'outpert', epsilon => 1, options => '{"unit_clip": 1}')$$);
SELECT refused($$SELECT * FROM dp.fit('stays', 'svm', 'y', '{v}', 'objpert', epsilon => 1, options => '{"unit_clip": 1}')$$);
-- an aggregate does not know units
SELECT refused($$SELECT dp.svm(y, ARRAY[v], '{"dataset": "stays", "label": "y", "features": ["v"], "epsilon": 1, "unit_clip": 1}') FROM stays$$);
SELECT cardinality(dp.svm(y, ARRAY[v], '{"dataset": "stays", "label": "y", "features": ["v"], "epsilon": 1}')) AS terms FROM stays WHERE unit > 1000;
SELECT request #> '{options,unit_clip}' FROM dp.charges WHERE dataset = 'stays' ORDER BY charge DESC LIMIT 1;
\t off

-- ---- Substitution ----
CREATE TABLE fixed AS SELECT y, x, v FROM t;
SELECT dp.create_dataset('fixed', 'fixed', 10000, neighbours => 'substitute');
SELECT dp.add_attribute('fixed', 'y'), dp.add_attribute('fixed', 'x', 0, 100, 10), dp.add_attribute('fixed', 'v', -10, 80, 10);
SELECT dp.grant_budget('fixed', 'regress_ann', 5000);
SET SESSION AUTHORIZATION regress_ann;
\t on
SELECT refused($$SELECT * FROM dp.fit('fixed', 'svm', 'y', '{x}', rho => 0.0123, model => '')$$);
SELECT refused($$SELECT * FROM dp.fit('fixed', 'svm', 'y', '{x}', rho => 0.0123, model => (SELECT string_agg(md5(i::text), '') FROM generate_series(1, 200) i))$$);
SELECT refused($$SELECT * FROM dp.fit('fixed', 'svm', 'y', '{x}', 'sgd', epsilon => 1)$$);
SELECT refused($$SELECT * FROM dp.fit('fixed', 'svm', 'y', '{x}', 'sgd_adv', epsilon => 1, options => '{"rows": 1000}')$$);
\t off
SELECT count(*) AS terms FROM dp.fit('fixed', 'svm', 'y', '{x}', epsilon => 1);
-- ---- A request that was answered twice: each name is that of its own release ----
SELECT DISTINCT model FROM dp.fit('fixed', 'svm', 'y', '{x}', rho => 0.01, model => 'older');
SELECT DISTINCT model FROM dp.fit('fixed', 'svm', 'y', '{x}', rho => 0.01, model => 'newer', fresh => true);
SELECT DISTINCT o.model, o.release < n.release AS own, o.coefficient <> n.coefficient AS other
  FROM dp.fit('fixed', 'svm', 'y', '{x}', rho => 0.01, model => 'older') o JOIN dp.fit('fixed', 'svm', 'y', '{x}', rho => 0.01, model => 'newer') n USING (term);
-- ---- Options that differ are other requests, however few digits the session writes ----
SET extra_float_digits = -15;
SELECT count(DISTINCT release) AS releases FROM (VALUES (0.12), (0.13), (0.12)) o (l2),
       LATERAL dp.fit('fixed', 'svm', 'y', '{x}', epsilon => 1, options => jsonb_build_object('l2', l2, 'clip', 1));
RESET extra_float_digits;

-- ---- The accumulator: what is none of its arguments ----
RESET SESSION AUTHORIZATION;
\t on
SELECT refused($$SELECT dp_internal.read_rows('\x636165700200000000000000000000000000000000000000000000000000000000', NULL, 0, ROW(1, 2))$$);
SELECT refused($$SELECT dp_internal.read_rows('\x6361657002000000000000000000000000000000000000000000000000000000', NULL, 0, ROW(1, 2))$$);
SELECT refused($$SELECT dp_internal.read_rows(NULL, NULL, 0, ROW(1, 2))$$);
SELECT refused($$SELECT dp_internal.read_rows('\x636165700200000000000000000000000000000000000000000000000000000000', '\x00', 0, ROW(1, 2))$$);
SELECT refused($$SELECT dp_internal.read_rows('\x636165700200000000000000000000000000000000000000000000000000000000', NULL, 0, ROW(1, 2)) OVER ()$$);
SELECT refused($$SELECT dp_internal.read_rows('\x63616570020000', NULL, 0)$$);
DROP EXTENSION pg_epsilon;
DROP FUNCTION refused, ask;
SET client_min_messages = error;
DROP OWNED BY regress_curator, regress_ann, regress_bob, regress_poor, regress_pure, regress_stranger CASCADE;
DROP ROLE regress_curator, regress_ann, regress_bob, regress_poor, regress_pure, regress_stranger;
