-- What is left of a budget is told to those who may use it, and not to the caller of a function that asks as somebody else.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
CREATE ROLE regress_bob;
CREATE ROLE regress_eve NOINHERIT IN ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator, regress_ann;
\t on
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE t (b boolean);
SELECT dp.create_dataset('d', 't', 10, 1e-9), dp.add_attribute('d', 'b'), dp.grant_budget('d', 'regress_ann', 1);
SET SESSION AUTHORIZATION regress_ann;
CREATE FUNCTION asks(epsilon float8) RETURNS bigint SECURITY DEFINER LANGUAGE sql SET search_path = public, pg_temp AS $$
SELECT count(*) FROM dp.histogram('d', 'b', epsilon => $1) $$;

-- told: the role itself, one that used SET ROLE and not before, and the owner of the dataset
SELECT asks(0.1);
SET SESSION AUTHORIZATION regress_eve;
SELECT asks(0.11);
SET ROLE regress_ann;
SELECT asks(0.12);
SELECT refused('SELECT asks(2)');
RESET ROLE;
SET SESSION AUTHORIZATION regress_curator;
SELECT asks(0.13);

-- another role: neither when it is charged nor when it is refused
SET SESSION AUTHORIZATION regress_bob;
SELECT asks(0.14);
SELECT asks(0.8);
SELECT refused('SELECT asks(0.9)');
SELECT asks(0.14);
RESET SESSION AUTHORIZATION;
SELECT asks(0.15);

\t off
DROP FUNCTION refused, asks;
DROP TABLE t;
DROP EXTENSION pg_epsilon;
REVOKE CREATE ON SCHEMA public FROM regress_curator, regress_ann;
DROP ROLE regress_curator, regress_ann, regress_bob, regress_eve;
