-- What the twin harness (scripts/twin.sh) asks: datasets of every accounting and kind of neighbours, with and without
-- a unit and blocks of time, on the rows of test/fuzz/rows.sql; and what the ledger has of them, without times,
-- hashes of times and OIDs.
CREATE EXTENSION pg_epsilon;
CREATE ROLE curator LOGIN;
CREATE ROLE ann LOGIN;	-- has a large budget
CREATE ROLE bob LOGIN;	-- a small one, and a limit of each request
CREATE ROLE cyd LOGIN;	-- a pure one
CREATE ROLE dan LOGIN;	-- the right to look, and none
CREATE SCHEMA fz;
GRANT CREATE, USAGE ON SCHEMA public, fz TO curator, ann, bob, cyd, dan;
ALTER DATABASE twin SET pg_epsilon.time_quantum = 0;
ALTER DATABASE twin SET max_parallel_workers_per_gather = 0;
ALTER DATABASE twin SET timezone = 'Europe/Berlin';
ALTER DATABASE twin SET jit = off;
ALTER DATABASE twin SET statement_timeout = '8s';

SET SESSION AUTHORIZATION curator;
SET timezone = 'Europe/Berlin';
\ir ../fuzz/rows.sql
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

-- ---- What is compared ----

CREATE SCHEMA twin;
-- twin.plain ROW: its columns by their names
CREATE FUNCTION twin.plain(r jsonb) RETURNS text STABLE LANGUAGE sql AS $$
    SELECT string_agg(key || '=' || coalesce(value, 'null'), ' ' ORDER BY key COLLATE "C") FROM jsonb_each_text(r)
     WHERE key <> ALL ('{at,created,stored,ended,hash,chain_head,identity,scanned,milliseconds,relation_oid,
                         row_type_oid,role_oid,owner_oid}')
$$;
-- twin.news DATASET: what came to the ledger since the last call in this session, and what the dataset and its budgets
-- have lost
CREATE FUNCTION twin.news(d text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    t text;
    last bigint;
    now bigint;
BEGIN
    FOREACH t IN ARRAY '{charge,release,strategy,model,series}'::text[] LOOP
        last := coalesce(nullif(current_setting('twin.' || t, true), ''), '0')::bigint;
        RETURN QUERY EXECUTE format('SELECT %L || twin.plain(to_jsonb(r)) FROM dp_ledger.%I r '
            'WHERE id > $1 ORDER BY id', t || ' ', t) USING last;
        EXECUTE format('SELECT coalesce(max(id), 0) FROM dp_ledger.%I', t) INTO now;
        PERFORM set_config('twin.' || t, greatest(last, now)::text, false);
    END LOOP;
    RETURN QUERY SELECT 'dataset ' || twin.plain(to_jsonb(r)) FROM dp_ledger.dataset r
                  WHERE dataset = d AND NOT dropped;
    RETURN QUERY SELECT 'budget ' || twin.plain(to_jsonb(b)) FROM dp_ledger.budget b
                   JOIN dp_ledger.dataset r ON r.id = b.dataset_id WHERE dataset = d AND NOT dropped ORDER BY b.id;
END $$;
-- twin.whole DATASET: all that the ledger has of it
CREATE FUNCTION twin.whole(d text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    one bigint := (SELECT id FROM dp_ledger.dataset WHERE dataset = d AND NOT dropped);
    t text;
BEGIN
    FOREACH t IN ARRAY '{charge,release,budget,block,act,charge_relation,attribute,series}'::text[] LOOP
        RETURN QUERY EXECUTE format('SELECT %L || twin.plain(to_jsonb(r)) AS line FROM dp_ledger.%I r '
            'WHERE dataset_id = $1 ORDER BY line COLLATE "C"', t || ' ', t) USING one;
    END LOOP;
    RETURN QUERY SELECT 'period ' || twin.plain(to_jsonb(p)) AS line FROM dp_ledger.series_period p
                   JOIN dp_ledger.series s ON s.id = p.series_id WHERE s.dataset_id = one ORDER BY line COLLATE "C";
END $$;
-- twin.level NUMBERS: after a difference the next numbers are the same again, above those of both
CREATE FUNCTION twin.level(floor bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    s regclass;
BEGIN
    FOR s IN SELECT oid::regclass FROM pg_class WHERE relnamespace = 'dp_ledger'::regnamespace AND relkind = 'S' LOOP
        PERFORM setval(s, floor);
    END LOOP;
END $$;
