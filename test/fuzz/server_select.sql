-- What the fuzzer of plain SELECT works on: a table with attributes of every kind, datasets of it
-- with and without a unit, and the function that tries a statement and looks at what it was charged.
CREATE EXTENSION pg_epsilon;
CREATE ROLE curator LOGIN;
CREATE ROLE ann LOGIN;
CREATE SCHEMA fz;
GRANT CREATE, USAGE ON SCHEMA public, fz TO curator, ann;
ALTER DATABASE fuzz_select SET pg_epsilon.time_quantum = 0;
ALTER DATABASE fuzz_select SET max_parallel_workers_per_gather = 0;
ALTER DATABASE fuzz_select SET timezone = 'Europe/Berlin';
ALTER DATABASE fuzz_select SET jit = off;

CREATE FUNCTION fz.charges() RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog
    AS 'SELECT coalesce(sum(charges), 0)::bigint FROM dp_ledger.dataset';

-- ---- The table ----

SET SESSION AUTHORIZATION curator;
\ir rows.sql

-- What the declarations make of it: clamped values are at the bound.  amt_in: what sums are of.  *_shown: what
-- a column shows that is grouped by alone, a level or that it is none, and the low edge of a bin.
CREATE VIEW fz.truth AS SELECT who, reg, chan, CASE WHEN age < 15 THEN 15 WHEN age > 95 THEN 95 ELSE age END AS age, lv, amt,
       CASE WHEN fl < 0 THEN 0 WHEN fl > 4 THEN 4 ELSE fl END AS fl, day, ts, ok, mood, sc,
       CASE WHEN amt BETWEEN 0 AND 100 THEN amt END AS amt_in,
       CASE WHEN chan IN ('web', 'shop', 'app') OR chan IS NULL THEN chan ELSE '(other)' END AS chan_shown, nullif(lv, 9) AS lv_shown,
       CASE WHEN age IS NOT NULL THEN least(15 + (greatest(age, 15) - 15) / 5 * 5, 90) END AS age_shown, least(sc / 2 * 2, 18) AS sc_shown
  FROM fz.raw;
GRANT SELECT ON fz.truth TO ann;

-- A budget holds 1e5, and what is spent stays with the table: both are made anew when much is spent.  The relation and kept plans stay:
-- the relation does not know which dataset of the name it stands for.
CREATE FUNCTION fz.renew(d text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog SET timezone = 'Europe/Berlin' AS $$
BEGIN
    IF EXISTS (SELECT FROM dp.datasets WHERE dataset = d) THEN
        PERFORM dp.drop_dataset(d);
        EXECUTE format('DROP TABLE fz.%I', 'raw_' || d);
    END IF;
    EXECUTE format('CREATE TABLE fz.%I AS TABLE fz.raw', 'raw_' || d);
    IF d LIKE '%units' THEN
        PERFORM dp.create_dataset(d, 'fz.raw_' || d, epsilon => 1e5, unit => 'who', max_rows => 2);
    ELSE
        PERFORM dp.create_dataset(d, 'fz.raw_' || d, epsilon => 1e5);
    END IF;
    PERFORM fz.declare(d);
    PERFORM dp.grant_budget(d, 'ann', epsilon => 1e5);
END $$;
DO $$
DECLARE
    d text;
BEGIN
    FOREACH d IN ARRAY '{exact,exact_units,noisy,noisy_units}'::text[] LOOP
        PERFORM fz.renew(d);
        PERFORM dp.expose(d, 'fz.' || d);
        EXECUTE format('ALTER FOREIGN TABLE fz.%I OPTIONS (DROP dataset_id)', d || '_foreign');
        EXECUTE format('GRANT SELECT ON fz.%I, fz.%I TO ann', d, d || '_foreign');
    END LOOP;
END $$;
-- what is read by parallel workers
CREATE TABLE fz.large AS SELECT i, (ARRAY['north', 'south', 'East', 'west'])[1 + i % 4] AS reg, i % 100 AS age, i % 3 = 0 AS ok FROM generate_series(1, 4000) i;
ANALYZE fz.large;
GRANT SELECT ON fz.large TO ann;
RESET SESSION AUTHORIZATION;

-- ---- What a function changes while it is asked ----

-- A dataset of ann's own in schema mine, and in schema other what statements use and functions of hers drop and declare anew.
CREATE SCHEMA mine AUTHORIZATION ann;
CREATE EXTENSION dblink;
-- the same in another session, which does not wait long for what this one has locked
CREATE FUNCTION fz.elsewhere(body text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
BEGIN
    PERFORM dblink_exec(format('host=%s port=%s dbname=%s user=ann', split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), current_database()),
        format('SET lock_timeout = 100; SET client_min_messages = error; DO %L', format('BEGIN %s; END', body)));
END $$;

GRANT CREATE ON DATABASE fuzz_select TO ann;
SET SESSION AUTHORIZATION ann;
CREATE TABLE mine.people AS SELECT reg, age, lv, ok FROM fz.truth;
CREATE TABLE mine.others AS SELECT reg, (age + 7) % 80 + 15 AS age, lv, NOT ok AS ok FROM fz.truth LIMIT 350;
-- the dataset anew, with one of several declarations: few cells and many, other levels, another table
CREATE FUNCTION mine.declare_own(how text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM dp.datasets WHERE dataset = 'own') THEN
        PERFORM dp.drop_dataset('own');
    END IF;
    PERFORM dp.create_dataset('own', CASE how WHEN 'others' THEN 'mine.others' ELSE 'mine.people' END::regclass, epsilon => 1e5);
    PERFORM dp.add_attribute('own', 'reg', CASE how WHEN 'levels' THEN '{west,East,north,south}' ELSE '{north,south,East,west}' END::text[]);
    PERFORM dp.add_attribute('own', 'age', 15, 95, bins => CASE how WHEN 'few' THEN 2 WHEN 'many' THEN 80 ELSE 16 END, last => CASE how WHEN 'many' THEN 'open' END, nulls => CASE how WHEN 'few' THEN 'drop' ELSE 'cell' END);
    IF how <> 'less' THEN
        PERFORM dp.add_attribute('own', 'lv', CASE how WHEN 'levels' THEN '{4,3}' ELSE '{1,2,3,4}' END::int[], outside => 'other', nulls => 'cell');
    END IF;
    PERFORM dp.add_attribute('own', 'ok');
    PERFORM dp.grant_budget('own', 'ann', epsilon => 1e5);
END $$;
-- everything as it was: the tables, the dataset and its relation, the schema
CREATE FUNCTION mine.remake(dataset_too boolean) RETURNS void LANGUAGE plpgsql SET client_min_messages = error AS $$
BEGIN
    IF dataset_too THEN
        IF EXISTS (SELECT FROM dp.datasets WHERE dataset = 'own') THEN
            PERFORM dp.drop_dataset('own');
        END IF;
        DROP VIEW IF EXISTS mine.own, mine.own_renamed CASCADE;
        DROP FOREIGN TABLE IF EXISTS mine.own_foreign, mine.own_foreign_renamed CASCADE;
        DROP TABLE IF EXISTS mine.people;
        CREATE TABLE mine.people AS SELECT reg, age, lv, ok FROM fz.truth;
        PERFORM mine.declare_own('first');
        PERFORM dp.expose('own', 'mine.own');
        ALTER FOREIGN TABLE mine.own_foreign OPTIONS (DROP dataset_id);
    END IF;
    DROP SCHEMA IF EXISTS other CASCADE;
    CREATE SCHEMA other;
    CREATE FUNCTION other.g(x int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN x; END';
    CREATE FUNCTION other.s(x int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT x + 1';
    CREATE FUNCTION other.t(x text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN x || ''!''; END';
    CREATE FUNCTION other.b(x boolean) RETURNS boolean STABLE LANGUAGE plpgsql AS 'BEGIN RETURN x; END';
    CREATE FUNCTION other.plus(x int, y int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN x + y; END';
    CREATE FUNCTION other.is(x int, y int) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN x = y; END';
    CREATE FUNCTION other.is_text(x text, y text) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN x = y; END';
    CREATE OPERATOR other.+ (LEFTARG = int, RIGHTARG = int, FUNCTION = other.plus);
    CREATE OPERATOR other.* (LEFTARG = int, RIGHTARG = int, FUNCTION = other.plus);
    CREATE OPERATOR other.= (LEFTARG = int, RIGHTARG = int, FUNCTION = other.is);
    CREATE OPERATOR other.= (LEFTARG = text, RIGHTARG = text, FUNCTION = other.is_text);
    CREATE DOMAIN other.small AS int CHECK (VALUE < 1000);
    CREATE TYPE other.grade AS ENUM ('north', 'south', 'East', 'west');
    CREATE TYPE other.pair AS (a int, b text);
    CREATE COLLATION other.plain FROM "C";
    CREATE AGGREGATE other.total(int) (SFUNC = other.plus, STYPE = int, INITCOND = '0');
END $$;

-- What is done at which call of a function, and where.
CREATE TABLE mine.bell ();
CREATE FUNCTION mine.arm(calls int, action text, elsewhere boolean) RETURNS void LANGUAGE sql AS $$
    SELECT set_config('fz.calls', calls::text, false), set_config('fz.action', action, false), set_config('fz.elsewhere', elsewhere::text, false), set_config('fz.done', '', false);
$$;
CREATE FUNCTION mine.called() RETURNS void VOLATILE LANGUAGE plpgsql AS $$
DECLARE
    calls int := current_setting('fz.calls')::int - 1;
BEGIN
    PERFORM set_config('fz.calls', calls::text, false);
    IF calls <> 0 THEN
        RETURN;
    END IF;
    PERFORM set_config('fz.done', 'yes', false);
    IF current_setting('fz.elsewhere')::boolean THEN
        PERFORM fz.elsewhere(current_setting('fz.action'));
        -- a lock that was not held has this session hear of it, of rows as of a dataset
        LOCK TABLE mine.bell IN ACCESS SHARE MODE;
    ELSIF current_setting('fz.action') ~ '^(RAISE|PERFORM pg_cancel_backend)' THEN
        EXECUTE format('DO %L', format('BEGIN %s; END', current_setting('fz.action')));
    ELSE
        BEGIN
            EXECUTE format('DO %L', format('BEGIN %s; END', current_setting('fz.action')));
        EXCEPTION WHEN OTHERS THEN
            PERFORM set_config('fz.done', sqlstate, false);
        END;
    END IF;
EXCEPTION WHEN lock_not_available OR undefined_object OR duplicate_object OR undefined_function THEN
    PERFORM set_config('fz.done', sqlstate, false);
END $$;
-- said to be immutable, so that they may be asked of cells
CREATE FUNCTION mine.int(x int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN PERFORM mine.called(); RETURN x; END';
CREATE FUNCTION mine.text(x text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS 'BEGIN PERFORM mine.called(); RETURN x; END';
CREATE FUNCTION mine.bool(x boolean) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS 'BEGIN PERFORM mine.called(); RETURN x; END';
CREATE FUNCTION mine.always(x anyelement) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS 'BEGIN PERFORM mine.called(); RETURN true; END';
SELECT mine.remake(true);
RESET SESSION AUTHORIZATION;

-- ---- One statement ----

-- SQLSTATE, message and detail, how many charges it made, and its rows: fields end with \x1e, columns with \x1f, rows with \x1d.
-- The cursor of a loop has no parallel plan: with "whole" all rows are aggregated by the statement.
CREATE FUNCTION fz.run(statement text, whole boolean DEFAULT false) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    before bigint := fz.charges();
    found record;
    rows json[];
    lines text[] := '{}';
    m text; d text;
BEGIN
    IF whole THEN
        EXECUTE format('SELECT array_agg(row_to_json(found)) FROM (%s) found', statement) INTO rows;
        lines := ARRAY(SELECT (SELECT string_agg(coalesce(value, '\N'), E'\x1f') FROM json_each_text(row)) FROM unnest(rows) row);
        RETURN concat('00000', E'\x1e', '', E'\x1e', fz.charges() - before, E'\x1e', array_to_string(lines, E'\x1d', ''));
    END IF;
    FOR found IN EXECUTE statement LOOP
        lines := lines || (SELECT string_agg(coalesce(value, '\N'), E'\x1f') FROM json_each_text(row_to_json(found)));
    END LOOP;
    RETURN concat('00000', E'\x1e', '', E'\x1e', fz.charges() - before, E'\x1e', array_to_string(lines, E'\x1d', ''));
EXCEPTION WHEN query_canceled OR OTHERS THEN
    GET STACKED DIAGNOSTICS m = MESSAGE_TEXT, d = PG_EXCEPTION_DETAIL;
    RETURN concat(sqlstate, E'\x1e', m, ' (', d, ')', E'\x1e', fz.charges() - before, E'\x1e', '');
END $$;

-- EXPLAIN, the statement twice, the same on the rows, and the requests that EXPLAIN told: answers end with \x1c.
CREATE FUNCTION fz.try(statement text, arguments text, truth text, replays boolean, whole boolean DEFAULT false) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    text text := statement;
    told text;
    ran text;
    answers text;
BEGIN
    IF arguments <> '' THEN
        DEALLOCATE ALL;
        EXECUTE 'PREPARE fzp AS ' || statement;
        text := 'EXECUTE fzp' || arguments;
    END IF;
    told := fz.run('EXPLAIN (COSTS off) ' || text);
    ran := fz.run(text, whole);
    answers := concat(told, E'\x1c', ran, E'\x1c', fz.run(text, whole), E'\x1c');
    IF arguments <> '' AND truth <> '' THEN
        DEALLOCATE ALL;
        EXECUTE 'PREPARE fzp AS ' || truth;
        answers := concat(answers, fz.run('EXECUTE fzp' || arguments));
    ELSIF truth <> '' THEN
        answers := concat(answers, fz.run(truth));
    END IF;
    answers := concat(answers, E'\x1c');
    -- what was not run, as below LIMIT 0, is recorded nowhere
    IF replays AND ran ~ E'^00000\x1e\x1e[1-9]' AND told !~ E'One-Time|Limit|Plan \\d|Nested Loop' THEN
        SELECT concat(answers, string_agg(fz.run('SELECT aggregate, estimate FROM ' || left(request, -1) || ', reuse => true)'), E'\x1c'))
          INTO answers FROM (SELECT (regexp_match(line, 'Request: (dp\.aggregate.*\))$'))[1] AS request FROM regexp_split_to_table(told, E'[\x1d\x1e]') line) r
         WHERE request IS NOT NULL;
    END IF;
    RETURN translate(answers, E'\n', ' ');
END $$;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA fz TO ann;
