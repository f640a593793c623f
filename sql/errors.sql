-- Bad input: each with its SQLSTATE and a message that says what to do, and nothing is charged.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
CREATE ROLE regress_poor;
CREATE ROLE regress_stranger;
GRANT CREATE ON SCHEMA public TO regress_curator;
-- Asks with the arguments given after the dataset d and returns what was said.
CREATE FUNCTION ask(arguments text) RETURNS text LANGUAGE sql AS $$ SELECT refused(format('SELECT * FROM dp.histogram(%s)', arguments)) $$;
SET client_min_messages = warning;
\pset format unaligned
\t on

SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE t (sex text, age int, b boolean, big1 int, big2 int, big3 int);
INSERT INTO t SELECT 'f', i, true, i, i, i FROM generate_series(1, 10) i;
SELECT dp.create_dataset('d', 't', 10);
SELECT dp.add_attribute('d', 'sex', '{f,m}');
SELECT dp.add_attribute('d', 'age', 0, 100, 10);
SELECT dp.add_attribute('d', 'big1', 0, 1024, 1024, last => 'open');
SELECT dp.add_attribute('d', 'big2', 0, 1024, 1024, last => 'open');
SELECT dp.add_attribute('d', 'big3', 0, 2, 2, last => 'open');
SELECT dp.grant_budget('d', 'regress_ann', 5);
SELECT dp.grant_budget('d', 'regress_poor', 0.1);

SET SESSION AUTHORIZATION regress_ann;
-- unknown names
SELECT ask($$'nothing', 'sex', epsilon => 1$$);
SELECT ask($$'D', 'sex', epsilon => 1$$);
SELECT ask($$'d', 'nothing', epsilon => 1$$);
SELECT ask($$'d', 'b', epsilon => 1$$);
SELECT ask($$'d', '{sex,nothing}', epsilon => 1$$);
SELECT ask($$'d', '{sex,sex}', epsilon => 1$$);
SELECT ask($$'d', '', epsilon => 1$$);
SELECT ask($$'d', '{sex,NULL}', epsilon => 1$$);
SELECT ask($$'d', '{sex', epsilon => 1$$);
-- NULL
SELECT ask($$NULL, 'sex', epsilon => 1$$);
SELECT ask($$'d', NULL::text, epsilon => 1$$);
SELECT ask($$'d', NULL::text[], epsilon => 1$$);
SELECT ask($$'d', 'sex', NULL, epsilon => 1$$);
SELECT ask($$'d', 'sex', epsilon => 1, method => NULL$$);
-- cost: exactly one, and a number
SELECT ask($$'d', 'sex'$$);
SELECT ask($$'d', 'sex', epsilon => NULL$$);
SELECT ask($$'d', 'sex', epsilon => 1, rho => 0.1$$);
SELECT ask($$'d', 'sex', rho => 0.1, max_stderr => 3$$);
SELECT ask($$'d', 'sex', epsilon => 1, rho => 0.1, max_stderr => 3$$);
SELECT ask($$'d', 'sex', epsilon => 1, rows_per_unit => 2$$);
SELECT ask($$'d', 'sex', epsilon => 1, rows_per_unit => 0$$);
SELECT ask($$'d', 'sex', epsilon => 0$$);
SELECT ask($$'d', 'sex', epsilon => -1$$);
SELECT ask($$'d', 'sex', epsilon => 'NaN'$$);
SELECT ask($$'d', 'sex', epsilon => 'Infinity'$$);
SELECT ask($$'d', 'sex', epsilon => 1e6$$);
SELECT ask($$'d', 'sex', epsilon => 1e-300$$);
SELECT ask($$'d', 'sex', rho => 0$$);
SELECT ask($$'d', 'sex', rho => -1$$);
SELECT ask($$'d', 'sex', rho => 'NaN'$$);
SELECT ask($$'d', 'sex', rho => 'Infinity'$$);
SELECT ask($$'d', 'sex', rho => 1e-10$$);
SELECT ask($$'d', 'sex', rho => 1e300$$);
SELECT ask($$'d', 'sex', max_stderr => 0$$);
SELECT ask($$'d', 'sex', max_stderr => -1$$);
SELECT ask($$'d', 'sex', max_stderr => 'NaN'$$);
SELECT ask($$'d', 'sex', max_stderr => 'Infinity'$$);
SELECT ask($$'d', 'sex', max_stderr => 1e-300$$);
SELECT ask($$'d', 'sex', epsilon => 1, delta => 0$$);
SELECT ask($$'d', 'sex', epsilon => 1, delta => 1$$);
SELECT ask($$'d', 'sex', epsilon => 1, delta => -1e-9$$);
SELECT ask($$'d', 'sex', epsilon => 1, delta => 'NaN'$$);
SELECT ask($$'d', 'sex', epsilon => 1, delta => 'Infinity'$$);
-- what is not there
SELECT ask($$'d', 'sex', epsilon => 1, method => 'direct', nonnegative => true$$);
SELECT ask($$'d', 'sex', epsilon => 1, method => 'dawa'$$);
SELECT ask($$'d', 'sex', epsilon => 1, method => 'guess'$$);
-- too many cells: known before anything is read, however big the product
SELECT ask($$'d', '{big1,big2,big3}', epsilon => 1, method => 'identity'$$);
SELECT ask($$'d', '{age,big1,big2}', epsilon => 1$$);
SELECT ask($$'d', '{big1,big2,big3}', 'total', epsilon => 1, method => 'direct'$$);
-- workload: the constructor, the attribute, the factor
SELECT ask($$'d', 'sex', 'identity(age)', epsilon => 1$$);
SELECT ask($$'d', '{sex,age}', 'identity(sex) * identity(sex)', epsilon => 1$$);
SELECT ask($$'d', '{sex,age}', 'identity(sex) * total(sex)', epsilon => 1$$);
SELECT ask($$'d', '{sex,age}', 'identity * identity', epsilon => 1$$);
SELECT ask($$'d', '{sex,age}', 'identity(sex) * total', epsilon => 1$$);

-- ... with the position, as psql shows it
\set VERBOSITY default
SELECT * FROM dp.histogram('d', '{sex,age}', '', epsilon => 1);
\echo :SQLSTATE
SELECT * FROM dp.histogram('d', '{sex,age}', 'identity(sex) * ', epsilon => 1);
SELECT * FROM dp.histogram('d', '{sex,age}', 'identity(sex) & identity(age)', epsilon => 1);
SELECT * FROM dp.histogram('d', '{sex,age}', 'identity(sex) * prefixes(age)', epsilon => 1);
SELECT * FROM dp.histogram('d', '{sex,age}', 'identity(sex) * identity(height)', epsilon => 1);
\echo :SQLSTATE
SELECT * FROM dp.histogram('d', '{sex,age}', 'identity(sex', epsilon => 1);
SELECT * FROM dp.histogram('d', '{sex,age}', 'identity()', epsilon => 1);
SELECT * FROM dp.histogram('d', '{sex,age}', 'identity("sex)', epsilon => 1);
SELECT * FROM dp.histogram('d', '{sex,age}', 'identity(ü) * total', epsilon => 1);
SELECT * FROM dp.histogram('d', '{sex,age}', 'identity(sex) ü', epsilon => 1);
SELECT * FROM dp.histogram('d', '{sex,age}', 'identity(sex))', epsilon => 1);
SELECT * FROM dp.histogram('d', '{sex,age}', 'identity("")', epsilon => 1);
SELECT * FROM dp.quote('d', '{sex,age}', '*', epsilon => 1);
SELECT * FROM dp.histogram('d', '{sex,age}', 'identity(sex) * identity(sex)', epsilon => 1);
\echo :SQLSTATE
SELECT refused(format('SELECT * FROM dp.histogram(%L, %L, %L, epsilon => 1)', 'd', 'sex', 'identity(' || repeat('x', 300) || ')'));

-- no budget, too little of it
SET SESSION AUTHORIZATION regress_stranger;
SELECT ask($$'d', 'sex', epsilon => 1$$);
SELECT ask($$'d', 'sex', epsilon => 1, budget => 'regress_ann'$$);
SELECT ask($$'d', 'sex', epsilon => 1, budget => 'regress_nobody_at_all'$$);
SET SESSION AUTHORIZATION regress_curator;
SELECT ask($$'d', 'sex', epsilon => 1$$);
SET SESSION AUTHORIZATION regress_poor;
SELECT regexp_replace(ask($$'d', 'sex', epsilon => 1$$), '(epsilon => )[0-9.]+', '\1#');
SELECT regexp_replace(ask($$'d', 'sex', max_stderr => 1$$), '(epsilon => )[0-9.]+', '\1#');
-- what the hint says fits
SELECT substring(ask($$'d', 'sex', epsilon => 1$$) FROM 'epsilon => ([0-9.]+) fits') AS fitting \gset
SELECT fits, epsilon_left_after FROM dp.quote('d', 'sex', epsilon => :fitting);

-- more memory than one request may take: known from its domain alone
RESET SESSION AUTHORIZATION;
LOAD 'pg_epsilon';
SET pg_epsilon.max_memory = '1MB';
SET SESSION AUTHORIZATION regress_ann;
SELECT ask($$'d', '{big1,big2}', epsilon => 1$$) LIKE '53200: the request needs % kB, more than pg_epsilon.max_memory%';
SELECT ask($$'d', '{big1,big2}', 'total', epsilon => 1$$) LIKE '53200: %';
RESET SESSION AUTHORIZATION;
RESET pg_epsilon.max_memory;

-- changed in the same transaction: the ledger's worker could not see it
GRANT regress_ann TO regress_curator;
SET SESSION AUTHORIZATION regress_curator;
BEGIN;
SELECT dp.grant_budget('d', 'regress_ann', 6);
SET LOCAL ROLE regress_ann;
SELECT ask($$'d', 'sex', epsilon => 1$$);
ROLLBACK;
BEGIN;
SELECT dp.new_version('d');
SET LOCAL ROLE regress_ann;
SELECT ask($$'d', 'sex', epsilon => 1$$);
SELECT refused($$SELECT * FROM dp.quote('d', 'sex', epsilon => 1)$$);
ROLLBACK;
BEGIN;
SELECT dp.add_attribute('d', 'b');
SELECT ask($$'d', '{sex,b}', epsilon => 1, budget => 'regress_ann'$$);
ROLLBACK;
BEGIN;
SAVEPOINT s;
SELECT dp.new_version('d');
RELEASE s;
SELECT ask($$'d', 'sex', epsilon => 1, budget => 'regress_ann'$$);
ROLLBACK;
CREATE TABLE t2 (b boolean);
BEGIN;
SELECT dp.create_dataset('d2', 't2', 1);
SELECT dp.add_attribute('d2', 'b');
SELECT dp.grant_budget('d2', 'regress_ann', 1);
SELECT ask($$'d2', 'b', epsilon => 0.5, budget => 'regress_ann'$$);
ROLLBACK;

-- the table was changed under its declaration
ALTER TABLE t RENAME COLUMN sex TO gender;
SELECT ask($$'d', 'sex', epsilon => 1, budget => 'regress_ann'$$);
ALTER TABLE t RENAME COLUMN gender TO sex;
ALTER TABLE t ALTER COLUMN age TYPE bigint;
SELECT ask($$'d', 'age', epsilon => 1, budget => 'regress_ann'$$);
ALTER TABLE t ALTER COLUMN age TYPE int;
ALTER TABLE t ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
SELECT ask($$'d', 'age', epsilon => 1, budget => 'regress_ann'$$);
ALTER TABLE t NO FORCE ROW LEVEL SECURITY;
ALTER TABLE t DROP COLUMN age;
SELECT ask($$'d', 'age', epsilon => 1, budget => 'regress_ann'$$);

-- arithmetic
SELECT refused('SELECT dp.epsilon_of_rho(-1, 1e-9)');
SELECT refused($$SELECT dp.epsilon_of_rho('NaN', 1e-9)$$);
SELECT refused($$SELECT dp.epsilon_of_rho('Infinity', 1e-9)$$);
SELECT refused('SELECT dp.epsilon_of_rho(1, 0)');
SELECT refused('SELECT dp.rho_of_epsilon(0, 1e-9)');
SELECT refused('SELECT dp.rho_of_epsilon(1, 1)');

-- not an aggregate for others, nor one that can be made to show its state
CREATE TABLE mine (x int);
INSERT INTO mine VALUES (1);
SELECT refused($$SELECT dp_internal.read_rows('\x00', NULL, 0, x) FROM mine$$);
SELECT refused($$SELECT dp_internal.read_rows(NULL, NULL, 0, x) FROM mine$$);
SELECT refused($$SELECT dp_internal.read_rows('\x636165700100000000000000000000000000000000000000000000000000000070656401016c646401000000', NULL, 0, x) FROM mine$$);
SELECT refused($$SELECT dp_internal.read_rows('\x00', NULL, 0, x) OVER () FROM mine$$);
SELECT refused($$SELECT dp_internal.read_rows('\x6361657001000000000000000000000000000000000000000000000000000000', NULL)$$);
SELECT refused($$CREATE AGGREGATE public.steal(bytea, bytea, int, int) (SFUNC = dp_internal.read_rows_add, STYPE = internal)$$);

-- No function meets an internal error, called with NULLs or with values that mean nothing
SET SESSION AUTHORIZATION regress_curator;
DO $$
DECLARE
    f record; kind int; call text; said text := '';
BEGIN
    FOR f IN SELECT p.oid, p.pronamespace::regnamespace AS schema, p.proname, p.proargtypes FROM pg_proc p
              WHERE p.pronamespace IN ('dp'::regnamespace, 'dp_internal'::regnamespace) AND p.prokind = 'f' AND has_function_privilege(p.oid, 'EXECUTE') ORDER BY p.oid LOOP
        FOR kind IN 0..2 LOOP
            SELECT format('SELECT %I.%I(%s)', f.schema, f.proname, string_agg(CASE
                WHEN kind = 0 AND t IN ('anyarray'::regtype, '"any"'::regtype, 'anycompatible'::regtype) THEN 'NULL::int' || CASE WHEN t = 'anyarray'::regtype THEN '[]' ELSE '' END
                WHEN kind = 0 OR t = 'internal'::regtype THEN 'NULL::' || CASE WHEN t = 'internal'::regtype THEN 'internal' ELSE t::text END
                WHEN t IN ('text'::regtype, 'name'::regtype, 'cstring'::regtype) THEN CASE kind WHEN 1 THEN '''''' ELSE '''d''' END || '::' || t
                WHEN t IN ('oid'::regtype, 'regclass'::regtype) THEN CASE kind WHEN 1 THEN '0' ELSE '4294967295' END || '::oid::' || t
                WHEN t = 'bytea'::regtype THEN CASE kind WHEN 1 THEN '''''' ELSE '''\x70656401016c646401000000''' END || '::bytea'
                WHEN t = 'jsonb'::regtype THEN CASE kind WHEN 1 THEN '''{}''' ELSE '''[1]''' END || '::jsonb'
                WHEN t = 'double precision'::regtype THEN CASE kind WHEN 1 THEN '''NaN''' ELSE '-1e300' END || '::float8'
                WHEN t IN ('integer'::regtype, 'bigint'::regtype) THEN CASE kind WHEN 1 THEN '-1' ELSE '2147483647' END
                WHEN t = 'boolean'::regtype THEN 'true'
                WHEN t IN ('"any"'::regtype, 'anycompatible'::regtype) THEN '1'
                WHEN t = 'anyarray'::regtype THEN CASE kind WHEN 1 THEN '''{}''' ELSE '''{{1}}''' END || '::int[]'
                WHEN t::text LIKE '%[]' THEN CASE kind WHEN 1 THEN '''{}''' ELSE '''{{1}}''' END || '::' || t
                ELSE 'NULL::' || t END, ', ' ORDER BY n)) INTO call
              FROM unnest(f.proargtypes::oid[]::regtype[]) WITH ORDINALITY a (t, n);
            BEGIN
                EXECUTE call;
                RAISE EXCEPTION 'undone';
            EXCEPTION WHEN OTHERS THEN
                IF sqlstate LIKE 'XX%' OR sqlstate IN ('42883', '42725') THEN
                    said := said || format(E'%s: %s %s\n', call, sqlstate, sqlerrm);
                END IF;
            END;
        END LOOP;
    END LOOP;
    IF said <> '' THEN
        RAISE EXCEPTION '%', said;
    END IF;
END $$;

-- Nothing of all this was charged
RESET SESSION AUTHORIZATION;
SELECT (SELECT count(*) FROM dp_ledger.charge) AS charges, (SELECT count(*) FROM dp_ledger.release) AS releases,
       (SELECT sum(rho_spent) FROM dp_ledger.budget) AS spent, (SELECT sum(rho_spent) FROM dp_ledger.dataset) AS spent_of_cap;
DROP EXTENSION pg_epsilon;
DROP FUNCTION ask, refused;
DROP OWNED BY regress_curator;
DROP ROLE regress_curator, regress_ann, regress_poor, regress_stranger;
