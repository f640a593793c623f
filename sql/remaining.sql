-- dp.remaining: what is left of the caller's budget, in questions.  As many are answered as it says.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
CREATE ROLE regress_bob;
CREATE ROLE regress_team;
CREATE ROLE regress_lab;
CREATE ROLE regress_dan IN ROLE regress_team, regress_lab;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE t AS SELECT i % 3 = 0 AS b FROM generate_series(1, 100) i;
SELECT dp.create_dataset('d', 't', 10, 1e-6), dp.add_attribute('d', 'b');
SELECT dp.grant_budget('d', 'regress_ann', 1), dp.grant_budget('d', 'regress_bob', 1, accounting => 'pure', most_per_request => 0.5),
       dp.grant_budget('d', 'regress_team', 1), dp.grant_budget('d', 'regress_lab', 1);

-- Gaussian: rho is counted, so half of the epsilon is about a quarter of the budget
SET SESSION AUTHORIZATION regress_ann;
SELECT budget, used_percent, round(epsilon::numeric, 6) AS epsilon, questions_left FROM dp.remaining('d');
SELECT used_percent, round(epsilon::numeric, 6) AS epsilon, questions_left FROM dp.remaining('d', 0.5);
SELECT questions_left AS questions FROM dp.remaining('d', 0.5) \gset
CREATE FUNCTION pg_temp.ask(epsilon float8) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    answers int := 0;
BEGIN
    LOOP
        PERFORM * FROM dp.aggregate('d', '{count(*)}', epsilon => ask.epsilon, fresh => true);
        answers := answers + 1;
    END LOOP;
EXCEPTION WHEN SQLSTATE 'PE001' THEN
    RETURN answers;
END $$;
SELECT pg_temp.ask(0.5) = :questions AS as_many;
SELECT used_percent > 50 AND used_percent <= 100 AS used, questions_left FROM dp.remaining('d', 0.5);
SELECT questions_left > 0 AS smaller_ones FROM dp.remaining('d', 0.01);

-- an error in place of an epsilon: it costs what its quote says
SELECT r.epsilon = q.epsilon AS epsilon, questions_left > 0 AS more
  FROM dp.remaining('d', max_stderr => 100) r, dp.quote_aggregate('d', '{count(*)}', max_stderr => 100) q;

-- the price that is set for a SELECT
SET pg_epsilon.epsilon = 0.01;
SELECT round(epsilon::numeric, 6) AS epsilon, questions_left = (SELECT questions_left FROM dp.remaining('d', 0.01)) AS same FROM dp.remaining('d');
RESET pg_epsilon.epsilon;

-- pure: epsilon is counted; more than one request may cost is no question
SET SESSION AUTHORIZATION regress_bob;
SELECT * FROM dp.remaining('d', 0.3);
SELECT * FROM dp.remaining('d', 0.6);
SELECT count(*) FROM dp.aggregate('d', '{count(*)}', epsilon => 0.25);
SELECT * FROM dp.remaining('d', 0.25);

-- the own budget alone: what others have spent does not matter; the owner has none
SET SESSION AUTHORIZATION regress_dan;
\t on
SELECT refused($$SELECT * FROM dp.remaining('d')$$);
\t off
SELECT budget, used_percent FROM dp.remaining('d', budget => 'regress_lab');
\t on
SELECT refused($$SELECT * FROM dp.remaining('d', budget => 'regress_ann')$$);
SELECT refused($$SELECT * FROM dp.remaining('d', 0.1, 10, 'regress_lab')$$);
SELECT refused($$SELECT * FROM dp.remaining('d', -1, budget => 'regress_lab')$$);
SELECT refused($$SELECT * FROM dp.remaining('e')$$);
SELECT refused($$SELECT * FROM dp.remaining(NULL)$$);
SET SESSION AUTHORIZATION regress_curator;
SELECT refused($$SELECT * FROM dp.remaining('d')$$);
\t off
-- what was taken back is used
SELECT dp.revoke_budget('d', 'regress_lab');
SET SESSION AUTHORIZATION regress_dan;
SELECT * FROM dp.remaining('d', 0.1, budget => 'regress_lab');
RESET SESSION AUTHORIZATION;

SET client_min_messages = error;
DROP EXTENSION pg_epsilon;
DROP FUNCTION refused;
DROP OWNED BY regress_curator, regress_ann CASCADE;
DROP ROLE regress_curator, regress_ann, regress_bob, regress_dan, regress_team, regress_lab;
