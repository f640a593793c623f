-- What server_requests.pl asks: datasets of every accounting and kind of neighbours, with and without a unit and
-- blocks of time, on the rows of rows.sql.
CREATE EXTENSION pg_epsilon;
CREATE ROLE curator LOGIN;
CREATE ROLE ann LOGIN;	-- has a large budget
CREATE ROLE bob LOGIN;	-- a small one, and a limit of each request
CREATE ROLE cyd LOGIN;	-- a pure one
CREATE ROLE dan LOGIN;	-- the right to look, and none
CREATE SCHEMA fz;
GRANT CREATE, USAGE ON SCHEMA public, fz TO curator, ann, bob, cyd, dan;
ALTER DATABASE fuzz SET pg_epsilon.time_quantum = 0;
ALTER DATABASE fuzz SET max_parallel_workers_per_gather = 0;
ALTER DATABASE fuzz SET timezone = 'Europe/Berlin';
ALTER DATABASE fuzz SET jit = off;
ALTER DATABASE fuzz SET statement_timeout = '8s';

SET SESSION AUTHORIZATION curator;
SET timezone = 'Europe/Berlin';
\ir rows.sql
CREATE TABLE fz.large AS SELECT i, (ARRAY['north', 'south', 'East', 'west'])[1 + i % 4] AS reg, i % 100 AS age,
       i % 3 = 0 AS ok FROM generate_series(1, 400) i;
GRANT SELECT ON fz.large TO PUBLIC;

-- fz.renew DATASET: the dataset on a new table, with new budgets.  Its name says what it is: gdp_sub_unit_block.
CREATE FUNCTION fz.renew(d text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog SET timezone = 'Europe/Berlin' SET client_min_messages = error AS $$
DECLARE
    is_of text[] := string_to_array(d, '_');
    neighbours text := CASE is_of[2] WHEN 'add' THEN 'add_remove' WHEN 'sub' THEN 'substitute' ELSE 'values' END;
    delta float8 := CASE is_of[1] WHEN 'pure' THEN 0 ELSE 1e-9 END;
    unit name := CASE WHEN 'unit' = ANY (is_of) THEN 'who' END;
    block boolean := 'block' = ANY (is_of);
BEGIN
    IF EXISTS (SELECT FROM dp.datasets WHERE dataset = d) THEN
        PERFORM dp.drop_dataset(d);
        EXECUTE format('DROP TABLE fz.%I', 'raw_' || d);
    END IF;
    IF neighbours = 'values' THEN
        EXECUTE format('CREATE TABLE fz.%I AS SELECT -s::float8 AS a, (-s * t)::float8 AS b, '
            's * (20 + 0.5 * t + sin(t)) AS y FROM generate_series(0, 23) t, (VALUES (1), (-1)) signs(s)', 'raw_' || d);
        PERFORM dp.create_dataset(d, format('fz.%I', 'raw_' || d)::regclass, 1e5, delta => delta,
            accounting => is_of[1], neighbours => 'values', private_column => 'y', max_change => 0.01,
            change => is_of[3]);
        PERFORM dp.add_attribute(d, 'a', -1, 1, bins => 1), dp.add_attribute(d, 'b', -24, 24, bins => 1);
    ELSE
        EXECUTE format('CREATE TABLE fz.%I AS TABLE fz.raw', 'raw_' || d);
        PERFORM dp.create_dataset(d, format('fz.%I', 'raw_' || d)::regclass, 1e5, delta => delta,
            accounting => is_of[1], neighbours => neighbours, unit => unit,
            max_rows => CASE WHEN unit IS NULL THEN NULL WHEN is_of[2] = 'sub' THEN 1 ELSE 2 END,
            block => CASE WHEN block THEN interval '7 days' END, block_column => CASE WHEN block THEN 'ts' END,
            max_blocks => CASE WHEN block AND unit IS NOT NULL THEN 3 END);
        PERFORM fz.declare(d);
        PERFORM dp.set_time(d, 'ts', append_only => unit IS NOT NULL);
        PERFORM dp.add_attribute(d, 'chan', open => true), dp.add_attribute(d, 'amt', open => true);
    END IF;
    PERFORM dp.grant_budget(d, 'ann', 9e4, overcommit => true);
    PERFORM dp.grant_budget(d, 'bob', 6, most_per_request => 1, per_block => block, overcommit => true);
    PERFORM dp.grant_budget(d, 'cyd', 3e3, accounting => 'pure', overcommit => true);
END $$;

-- fz.expose DATASET: plain SELECT on fz.DATASET, which outlives the dataset
CREATE FUNCTION fz.expose(d text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET client_min_messages = error AS $$
BEGIN
    PERFORM dp.expose(d, 'fz.' || d);
    EXECUTE format('ALTER FOREIGN TABLE fz.%I OPTIONS (DROP dataset_id)', d || '_foreign');
    EXECUTE format('GRANT SELECT ON fz.%I, fz.%I TO ann, bob, cyd, dan', d, d || '_foreign');
END $$;
RESET SESSION AUTHORIZATION;
