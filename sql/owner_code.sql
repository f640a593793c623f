-- What the planner runs of the owner's, in the asker's session: only functions of superusers are let.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;
\pset tuples_only on
CREATE FUNCTION trusted(i int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT $1';

SET SESSION AUTHORIZATION regress_curator;
-- reads a cursor of the session that runs it
CREATE FUNCTION spy() RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$
DECLARE
    found text;
    cursor refcursor := 'secret';
BEGIN
    IF EXISTS (SELECT FROM pg_cursors WHERE name = 'secret') THEN
        FETCH cursor INTO found;
        RAISE WARNING '% reads %', current_user, found;
    END IF;
    RETURN 1;
END $$;
CREATE FUNCTION plus(a int, b int) RETURNS int IMMUTABLE LANGUAGE sql AS $$SELECT $1 + $2 * public.spy()$$;
CREATE OPERATOR |+| (FUNCTION = plus, LEFTARG = int, RIGHTARG = int);
CREATE TABLE t (x int, y int);
INSERT INTO t SELECT i % 3, i FROM generate_series(1, 300) i;
SELECT dp.create_dataset('d', 't', 1e5);
SELECT dp.add_attribute('d', 'x', '{0,1,2}'::int[]);
SELECT dp.grant_budget('d', 'regress_ann', 5e4);
CREATE FUNCTION ask(dataset text) RETURNS text LANGUAGE plpgsql SET client_min_messages = warning AS $$
DECLARE
    secret refcursor := 'secret';
    answer text;
BEGIN
    OPEN secret FOR SELECT 'what only I may see';
    SELECT string_agg(round(estimate)::text, ' ' ORDER BY query) INTO answer FROM dp.histogram(dataset, 'x', rho => 100, fresh => true);
    CLOSE secret;
    RETURN answer;
END $$;
CREATE FUNCTION asked(dataset text) RETURNS text LANGUAGE sql AS $$SELECT refused(format('SELECT ask(%L)', dataset))$$;
SET SESSION AUTHORIZATION regress_ann;
SELECT ask('d');

-- An index's expression and condition, also by a function that is inlined and by an operator
SET SESSION AUTHORIZATION regress_curator;
CREATE INDEX i ON t ((x + spy()));
SET SESSION AUTHORIZATION regress_ann;
SELECT asked('d');
SELECT count(*) FROM dp.charges;
SET SESSION AUTHORIZATION regress_curator;
DROP INDEX i;
CREATE INDEX i ON t (x) WHERE x > spy();
SET SESSION AUTHORIZATION regress_ann;
SELECT asked('d');
SET SESSION AUTHORIZATION regress_curator;
DROP INDEX i;
CREATE INDEX i ON t ((plus(x, 1)));
SET SESSION AUTHORIZATION regress_ann;
SELECT asked('d');
SET SESSION AUTHORIZATION regress_curator;
DROP INDEX i;
CREATE INDEX i ON t ((x |+| 1));
SET SESSION AUTHORIZATION regress_ann;
SELECT asked('d');
SET SESSION AUTHORIZATION regress_curator;
DROP INDEX i;
-- extended statistics
CREATE STATISTICS s ON (x + spy()), y FROM t;
SET SESSION AUTHORIZATION regress_ann;
SELECT asked('d');
SET SESSION AUTHORIZATION regress_curator;
DROP STATISTICS s;
-- a table that inherits
CREATE TABLE child () INHERITS (t);
CREATE INDEX i ON child ((x + spy()));
SET SESSION AUTHORIZATION regress_ann;
SELECT asked('d');
SET SESSION AUTHORIZATION regress_curator;
DROP TABLE child;

-- What runs nothing of others: the server's own functions, and those of superusers
CREATE INDEX i ON t ((x + 1), (lower(y::text))) WHERE abs(x) >= 0;
CREATE INDEX j ON t ((trusted(x)));
-- and what is not computed for an answer: constraints, policies, generated columns, defaults, triggers, domains
ALTER TABLE t ADD CHECK (x < 1000 * spy()), ADD g int GENERATED ALWAYS AS (x + spy()) STORED, ADD d int DEFAULT spy();
CREATE POLICY p ON t USING (x < 1000 * spy());
CREATE TABLE child (CHECK (x < 1000 * spy())) INHERITS (t);
SET client_min_messages = error;
ALTER TABLE t ENABLE ROW LEVEL SECURITY;
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_ann;
SET constraint_exclusion = on;
SELECT asked('d');
RESET constraint_exclusion;
SET SESSION AUTHORIZATION regress_curator;
CREATE DOMAIN small AS int CHECK (VALUE < 1000 * spy());
CREATE TABLE domains (x small);
SELECT dp.create_dataset('domains', 'domains', 1e5);
SELECT dp.add_attribute('domains', 'x', '{0,1,2}'::int[]);
SELECT dp.grant_budget('domains', 'regress_ann', 5e4);
SET SESSION AUTHORIZATION regress_ann;
SELECT asked('domains');

-- Who registers, moves or attests a table is told too
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE parts (x int, y int) PARTITION BY RANGE ((x + spy()));
CREATE TABLE part PARTITION OF parts DEFAULT;
SELECT refused($$SELECT dp.create_dataset('parts', 'parts', 10)$$);
SELECT refused($$SELECT dp.move_dataset('d', 'parts', 'load')$$);
-- a function that was a superuser's
RESET SESSION AUTHORIZATION;
ALTER FUNCTION trusted(int) OWNER TO regress_curator;
SET SESSION AUTHORIZATION regress_ann;
SELECT asked('d');

RESET SESSION AUTHORIZATION;
DROP OWNED BY regress_curator, regress_ann;
DROP EXTENSION pg_epsilon;
DROP FUNCTION refused;
DROP ROLE regress_curator, regress_ann;
