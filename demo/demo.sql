-- The story that `make demo` tells.  Run by demo/run.sh as a superuser in an empty database;
-- every claim is checked, and a claim that fails ends the run with an error.

\set ON_ERROR_STOP on
\set VERBOSITY default
\pset pager off
\pset footer off
\pset linestyle ascii
\pset null '-'
\set ECHO none

-- Checks of the claims; no part of the story.
CREATE SCHEMA demo;
GRANT USAGE ON SCHEMA demo TO PUBLIC;
CREATE FUNCTION demo.claim(holds boolean, claim text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    IF holds IS NOT TRUE THEN
        RAISE EXCEPTION 'this should have held, and did not: %', claim;
    END IF;
    RETURN claim;
END $$;

CREATE EXTENSION pg_epsilon;
CREATE ROLE curator LOGIN;
CREATE ROLE analyst LOGIN;
CREATE SCHEMA study AUTHORIZATION curator;
GRANT USAGE ON SCHEMA study TO analyst;
CREATE SCHEMA AUTHORIZATION analyst;

\echo 'Two people share a database. The curator, an ordinary role, owns a table about real persons:'
\echo '7,874 residents of Olmsted County, Minnesota (see demo/SOURCE.md). The analyst would like to know'
\echo 'how they are distributed by age and sex. What he gets must look almost the same whether or not any'
\echo 'one of them is in the table. A superuser has run CREATE EXTENSION pg_epsilon; that is all.'
\echo
\echo '=== 1. The table ================================================================== curator ==='
\echo
\echo 'One row per person. The curator can read it, as its owner.'
\echo
\connect - curator
CREATE TABLE study.residents (
    age integer, sex text, sample_yr integer, kappa float8, lambda float8, flc_grp integer,
    creatinine float8, mgus boolean, futime integer, death boolean, chapter text);
\copy study.residents FROM 'demo/flchain.csv' WITH (FORMAT csv, HEADER)
SELECT count(*) = 7874 AS holds FROM study.residents \gset
SELECT demo.claim(:'holds', '7,874 persons are in the table') AS claim \gset
\set ECHO queries
SELECT age, sex, sample_yr, creatinine, death, chapter FROM study.residents LIMIT 3;
\set ECHO none

\echo '=== 2. Registering it ============================================================= curator ==='
\echo
\echo 'She declares what may be asked and how much may be lost: 4 by everybody together (the cap), 1 by'
\echo 'the analyst. A declaration is public: bins and levels come from common knowledge, not from rows.'
\echo
\pset tuples_only on
\o /dev/null
\set ECHO queries
SELECT dp.create_dataset('residents', 'study.residents', epsilon => 4);
SELECT dp.add_attribute('residents', 'age', 50, 110, bins => 6);
SELECT dp.add_attribute('residents', 'sex', '{F,M}');
SELECT dp.add_attribute('residents', 'death');
SELECT dp.add_attribute('residents', 'futime', 0, 5300, bins => 53);
SELECT dp.grant_budget('residents', 'analyst', epsilon => 1);
\set ECHO none
\o
\pset tuples_only off

\echo
\echo '=== 3. The rows are closed ======================================================== analyst ==='
\echo
\echo 'The analyst has no privilege on the table:'
\echo
\connect - analyst
\set ECHO queries
\set ON_ERROR_STOP off
SELECT avg(age) FROM study.residents;
\set state :SQLSTATE
\set ON_ERROR_STOP on
\set ECHO none
SELECT demo.claim(:'state' = '42501', 'the analyst may not read the table') AS claim \gset

\echo
\echo '=== 4. What may be asked ========================================================== analyst ==='
\echo
\echo 'But there is a dataset, and he has a budget on it:'
\echo
\pset tuples_only on
\pset format unaligned
\set ECHO queries
SELECT * FROM dp.describe('residents');
\set ECHO none
\pset format aligned
\pset tuples_only off

\echo
\echo '=== 5. What would it cost? ======================================================== analyst ==='
\echo
\echo 'A quote reads no data and is free: the standard error of each count, and the budget after it.'
\echo
\set ECHO queries
SELECT round(epsilon_left::numeric, 2) AS epsilon_left_before, rho_left FROM dp.budgets;
SELECT round(epsilon::numeric, 2) AS epsilon, rho, round(max_stderr::numeric, 1) AS stderr,
       queries, fits, round(epsilon_left_after::numeric, 2) AS epsilon_left_after
  FROM dp.quote('residents', '{age,sex}', epsilon => 0.5);
\set ECHO none
SELECT rho AS quoted, fits, rho_spent = 0 AS unspent
  FROM dp.quote('residents', '{age,sex}', epsilon => 0.5), dp.budgets \gset
SELECT demo.claim(:'fits' AND :'unspent', 'the request fits, and the quotes were free') AS claim \gset

\echo '=== 6. The answer ================================================================= analyst ==='
\echo
\echo 'Paid, and kept in a table of his own. Each estimate is a count plus noise of that standard error.'
\echo
\set ECHO queries
CREATE TABLE answer AS SELECT * FROM dp.histogram('residents', '{age,sex}', epsilon => 0.5);
SELECT label->'age'->>'from' AS "from", label->'age'->>'to' AS "to", label->>'sex' AS sex,
       estimate, round(stderr::numeric, 1) AS stderr
  FROM answer ORDER BY query LIMIT 4;
\set ECHO none
SELECT min(release) AS release, count(*) = 12 AS complete FROM answer \gset
SELECT demo.claim(:'complete', 'twelve counts were answered') AS claim \gset

\echo '=== 7. The budget after it ======================================================== analyst ==='
\echo
\echo 'What adds up is rho, and two questions of epsilon 0.5 together lose less than 1: so more is left'
\echo 'than 1 - 0.5. epsilon_left is the largest epsilon that one further question may have.'
\echo
\set ECHO queries
SELECT epsilon AS epsilon_granted, round(epsilon_left::numeric, 2) AS epsilon_left,
       rho_spent, rho_left
  FROM dp.budgets;
\set ECHO none
SELECT rho_spent = :quoted AS holds FROM dp.budgets \gset
SELECT demo.claim(:'holds', 'what was quoted was charged') AS claim \gset

\echo '=== 8. The truth beside it ======================================================== curator ==='
\echo
\echo 'Only she can see this. An error is within 2 standard errors about 19 times in 20. Large counts are'
\echo 'close; the few persons of 100 and more drown in the noise, which is what it is for.'
\echo
\connect - curator
\set ECHO queries
SELECT e.label->'age'->>'from' AS "from", e.label->'age'->>'to' AS "to", e.label->>'sex' AS sex,
       e.estimate, round(e.stderr::numeric, 1) AS stderr, t.truth,
       round(((e.estimate - t.truth) / e.stderr)::numeric, 2) AS "error/stderr"
  FROM dp.cells(:release) e
  LEFT JOIN LATERAL (SELECT count(*) AS truth FROM study.residents r
                      WHERE r.age >= (e.label->'age'->>'from')::int
                        AND r.age < (e.label->'age'->>'to')::int
                        AND r.sex = e.label->>'sex') t ON true
 ORDER BY e.cell;
\set ECHO none
SELECT bool_and(abs(e.estimate - t.truth) < 6 * e.stderr) AND bool_or(e.estimate <> t.truth) AS holds
  FROM dp.cells(:release) e,
       LATERAL (SELECT count(*) AS truth FROM study.residents r
                 WHERE r.age >= (e.label->'age'->>'from')::int
                   AND r.age < (e.label->'age'->>'to')::int AND r.sex = e.label->>'sex') t \gset
SELECT demo.claim(:'holds', 'the estimates are near the truth, and not the truth') AS claim \gset

\echo '=== 9. The same question again is free ============================================ analyst ==='
\echo
\echo 'It is answered from what was paid: the same numbers, no charge, also in a READ ONLY transaction.'
\echo 'So a dashboard that refreshes costs nothing, and asking twice does not average the noise away.'
\echo
\connect - analyst
SELECT rho_spent AS before FROM dp.budgets \gset
\set ECHO queries
BEGIN READ ONLY;
SELECT count(*) AS counts, count(*) FILTER (WHERE h.estimate = a.estimate) AS same_as_before
  FROM dp.histogram('residents', '{age,sex}', epsilon => 0.5) h JOIN answer a USING (query);
COMMIT;
SELECT round(epsilon_left::numeric, 2) AS epsilon_left, rho_spent FROM dp.budgets;
\set ECHO none
SELECT rho_spent = :before AS free,
       (SELECT count(*) = 12 AND bool_and(h.estimate = a.estimate AND h.release = a.release)
          FROM dp.histogram('residents', '{age,sex}', epsilon => 0.5) h JOIN answer a USING (query)) AS same
  FROM dp.budgets \gset
SELECT demo.claim(:'free' AND :'same', 'the second answer was the first one, and free') AS claim \gset

\echo '=== 10. More than is left is refused ============================================== analyst ==='
\echo
\echo 'Nothing is charged, and the message says what fits instead.'
\echo
\set ECHO queries
\set ON_ERROR_STOP off
SELECT * FROM dp.histogram('residents', '{age,sex,death}', epsilon => 0.9);
\set state :SQLSTATE
\set ON_ERROR_STOP on
\set ECHO none
SELECT rho_spent = :before AS free FROM dp.budgets \gset
SELECT demo.claim(:'state' = 'PE001' AND :'free', 'the overspend was refused and cost nothing') AS claim \gset

\echo
\echo '=== 11. ROLLBACK does not give the budget back ==================================== analyst ==='
\echo
\echo 'The charge was committed before the answer was shown, by another process.'
\echo
\set ECHO queries
SELECT round(epsilon_left::numeric, 2) AS epsilon_left_before, rho_spent FROM dp.budgets;
BEGIN;
SELECT label->'death' AS died, estimate, round(stderr::numeric, 1) AS stderr
  FROM dp.histogram('residents', 'death', epsilon => 0.4);
ROLLBACK;
SELECT round(epsilon_left::numeric, 2) AS epsilon_left_after, rho_spent FROM dp.budgets;
\set ECHO none
SELECT b.rho_spent = (:before::numeric + q.rho::numeric)::float8 AND q.replay AS holds
  FROM dp.budgets b, dp.quote('residents', 'death', epsilon => 0.4) q \gset
SELECT demo.claim(:'holds', 'the charge survived the rollback, and its answer can be read again') AS claim \gset

\echo '=== 12. Ranges, as well as they can be answered =================================== analyst ==='
\echo
\echo 'All 1,431 ranges of the time of follow-up, "from 400 to 2,100 days", in one question. Adding up 53'
\echo 'noisy cells would add up their errors. What is measured instead is the integer matrix with the'
\echo 'least total error; the gap is the proof: no other is better by more than this fraction.'
\echo
\set ECHO queries
SELECT r.queries, round(r.rms_stderr::numeric, 1) AS rms_stderr, r.gap,
       round((c.rms_stderr * sqrt((53 + 2) / 3.0))::numeric, 1) AS adding_up_cells
  FROM dp.quote('residents', 'futime', 'all_range', epsilon => 0.2) r,
       dp.quote('residents', 'futime', 'identity', epsilon => 0.2) c;
CREATE TABLE ranges AS
  SELECT * FROM dp.histogram('residents', 'futime', 'all_range', epsilon => 0.2);
SELECT label->'futime'->>'from' AS "from", label->'futime'->>'to' AS "to",
       round(estimate::numeric, 1) AS estimate, round(stderr::numeric, 1) AS stderr
  FROM ranges
 WHERE label->'futime'->>'from' = '400' AND label->'futime'->>'to' IN ('500', '2100', '5300');
\set ECHO none
SELECT max(release) AS release, count(*) = 1431 AS complete FROM ranges \gset
SELECT demo.claim(:'complete', 'all ranges were answered') AS claim \gset
SELECT r.rms_stderr < 0.6 * c.rms_stderr * sqrt((53 + 2) / 3.0) AND r.gap BETWEEN 0 AND 1e-6 AS holds
  FROM dp.quote('residents', 'futime', 'all_range', epsilon => 0.2) r,
       dp.quote('residents', 'futime', 'identity', epsilon => 0.2) c \gset
SELECT demo.claim(:'holds', 'the optimum is certified, and well below adding up cells') AS claim \gset
\echo 'What follows from these measurements is free. Half of them were followed less than how long?'
\echo
\set ECHO queries
SELECT label->'futime'->>'to' AS days, round(estimate::numeric) AS followed_less,
       round(stderr::numeric, 1) AS stderr
  FROM dp.answer(:release, 'prefix') WHERE estimate >= 7874 / 2 ORDER BY query LIMIT 1;
\set ECHO none

\echo '=== 13. A model =================================================================== analyst ==='
\echo
\echo 'Who of them died within the fifteen years of the study? A logistic regression on age and sex, paid'
\echo 'like any other answer; its coefficients are a release, and predictions from them are free.'
\echo
\set ECHO queries
SELECT term, round(coefficient::numeric, 3) AS coefficient
  FROM dp.fit('residents', 'logistic_regression', 'death', '{age,sex}', epsilon => 0.3,
              model => 'mortality');
SELECT age, sex, round(dp.predict('mortality', to_jsonb(somebody))::numeric, 2) AS chance
  FROM (VALUES (60, 'F'), (60, 'M'), (85, 'F'), (85, 'M')) AS somebody (age, sex);
\set ECHO none
SELECT dp.predict('mortality', '{"age": 85, "sex": "F"}') > dp.predict('mortality', '{"age": 60, "sex": "F"}') AS holds,
       dp.predict('mortality', '{"age": 60, "sex": "F"}') AS young, dp.predict('mortality', '{"age": 85, "sex": "F"}') AS old \gset
SELECT demo.claim(:'holds', 'the model knows that age kills') AS claim \gset

\echo '=== 14. An average ================================================================ analyst ==='
\echo
\echo 'How old are they, by sex? Count and sum are measured together, for one charge; the average follows'
\echo 'from both, and so does its error. Ages count between the declared bounds, 50 and 110.'
\echo
\set ECHO queries
SELECT label->>'sex' AS sex, aggregate, round(estimate::numeric, 2) AS estimate,
       round(stderr::numeric, 2) AS stderr
  FROM dp.aggregate('residents', '{count(*),avg(age)}', '{sex}', epsilon => 0.2);
\set ECHO none
SELECT count(*) = 2 AND bool_and(abs(estimate - CASE label->>'sex' WHEN 'F' THEN 65.23 ELSE 63.13 END) < 6 * stderr) AS holds
  FROM dp.aggregate('residents', '{count(*),avg(age)}', '{sex}', epsilon => 0.2) WHERE aggregate = 'avg(age)' \gset
SELECT demo.claim(:'holds', 'the average ages are near the truth') AS claim \gset

\echo '=== 15. Rows for a tool that needs rows =========================================== analyst ==='
\echo
\echo 'Rows drawn from the answer of step 6, free: of no resident, for a test system or a course. What is'
\echo 'computed from them has no known error; the answer itself has one.'
\echo
SELECT rho_spent AS before FROM dp.budgets \gset
\set ECHO queries
SELECT target, rows FROM dp.synthesize((SELECT max(release) FROM answer), 'look_alike');
SELECT sex, count(*) AS residents, min(age) >= 50 AND max(age) <= 110 AS within_bounds
  FROM look_alike GROUP BY sex ORDER BY sex;
\set ECHO none
SELECT count(*) BETWEEN 7000 AND 8800 AND (SELECT rho_spent = :before FROM dp.budgets) AS holds FROM look_alike \gset
SELECT demo.claim(:'holds', 'the rows cost nothing, and are about as many as the residents') AS claim \gset

\echo '=== 16. The ledger ================================================================ curator ==='
\echo
\echo 'She sees who paid what for which question, and what is left of the cap. And she alone may fit'
\echo 'without noise, to see what privacy cost the model: the same two chances, private and not.'
\echo
\connect - curator
\set ECHO queries
SELECT charge, role, rho, coalesce(request->>'attributes', request->>'features') AS attributes,
       coalesce(request->>'workload', request->>'model') AS workload, release
  FROM dp.charges ORDER BY charge;
SELECT dataset, round(epsilon_left::numeric, 2) AS epsilon_left_of_cap, frozen FROM dp.datasets;
CREATE TABLE study.plain AS
  SELECT * FROM dp.fit('residents', 'logistic_regression', 'death', '{age,sex}', 'nonprivate',
                       model => 'plain');
SELECT model, round(dp.predict(model, '{"age": 60, "sex": "F"}')::numeric, 2) AS "60, F",
       round(dp.predict(model, '{"age": 85, "sex": "F"}')::numeric, 2) AS "85, F"
  FROM dp.models ORDER BY model;
\set ECHO none
SELECT count(*) = 5 AS holds FROM dp.charges \gset
SELECT demo.claim(:'holds', 'five charges are in the ledger') AS claim \gset
SELECT abs(dp.predict('plain', '{"age": 60, "sex": "F"}') - :young) < 0.25
       AND abs(dp.predict('plain', '{"age": 85, "sex": "F"}') - :old) < 0.25 AS holds \gset
SELECT demo.claim(:'holds', 'the private chances are near those without noise') AS claim \gset
