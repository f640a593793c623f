\set ECHO none
-- What the tests of plain SELECT share: a curator, her datasets with relations that stand for them, an analyst, and what a
-- statement is planned as, returns and charges.  The noise of epsilon 1000 is 0 in every count, but for a chance below 1e-100.
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
CREATE ROLE regress_bob;
GRANT CREATE ON SCHEMA public TO regress_curator, regress_ann;
SET timezone = 'UTC';
SET datestyle = 'ISO';
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE orders (region text, channel text, items int, amount numeric(6,2), age int, ts timestamp, sent timestamptz, returned boolean);
INSERT INTO orders SELECT (ARRAY['north', 'south', 'east', 'west'])[1 + i / 7 % 4], (ARRAY['web', 'shop', 'fax', NULL])[1 + i % 11 % 4], i * 7 % 5 % 3,
    (i * 79 % 1000) / 10.0, 15 + i * 7 % 5 % 3 * 20 + i * 31 % 40, timestamp '2024-12-01' + i * 13 % 90 * interval '1 day' + i % 24 * interval '1 hour',
    timestamptz '2024-12-01 00:00+00' + i * 17 % 90 * interval '1 day' + i % 24 * interval '1 hour', i % 6 = 0 FROM generate_series(1, 600) i;
DO $$
BEGIN
    PERFORM dp.create_dataset('orders', 'orders', 1e5);
    PERFORM dp.add_attribute('orders', 'region', ARRAY['north', 'south', 'east', 'west']);
    PERFORM dp.add_attribute('orders', 'channel', ARRAY['web', 'shop'], outside => 'other', nulls => 'cell');
    PERFORM dp.add_attribute('orders', 'items', 0, 3, 3, last => 'open');
    PERFORM dp.add_attribute('orders', 'amount', '0', '100', 10);
    PERFORM dp.add_attribute('orders', 'age', 15, 95, 16);
    PERFORM dp.add_edges('orders', 'ts', array_agg(t)) FROM generate_series(timestamp '2024-12-01', '2025-03-01', '1 day') t;
    PERFORM dp.add_edges('orders', 'sent', array_agg(t)) FROM generate_series(timestamptz '2024-12-01 00:00+00', '2025-03-01 00:00+00', '1 day') t;
    PERFORM dp.add_attribute('orders', 'returned');
    PERFORM dp.grant_budget('orders', 'regress_ann', 9e4);
    PERFORM dp.expose('orders', 'public.orders_v');
END $$;
GRANT SELECT ON orders_v TO PUBLIC;
-- a customer has at most 3 visits: none is cut with rows of three
CREATE TABLE visits (customer int, ts timestamp, ward text, cost int);
INSERT INTO visits SELECT i % 40, timestamp '2025-01-01' + i * 7 % 59 * interval '1 day' + interval '1 hour', (ARRAY['a', 'b'])[1 + i % 2], i % 3 FROM generate_series(1, 120) i;
DO $$
BEGIN
    PERFORM dp.create_dataset('visits', 'visits', 1e5, unit => 'customer', max_rows => 3);
    PERFORM dp.add_edges('visits', 'ts', array_agg(t)) FROM generate_series(timestamp '2025-01-01', '2025-03-01', '1 day') t;
    PERFORM dp.add_attribute('visits', 'ward', ARRAY['a', 'b']);
    PERFORM dp.add_attribute('visits', 'cost', 0, 3, 3, last => 'open');
    PERFORM dp.grant_budget('visits', 'regress_ann', 9e4);
    PERFORM dp.expose('visits', 'public.visits_v');
END $$;
GRANT SELECT ON visits_v TO PUBLIC;

-- How many charges the caller has paid for since he asked last.
CREATE FUNCTION came() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    before bigint := coalesce(nullif(current_setting('test.charges', true), ''), '0');
BEGIN
    PERFORM set_config('test.charges', (SELECT count(*) FROM dp.charges)::text, false);
    RETURN current_setting('test.charges')::bigint - before;
END $$;
-- The rows of a statement; sorted by what is no number, if it is not.
CREATE FUNCTION rows_of(query text) RETURNS jsonb[] LANGUAGE plpgsql AS $$
DECLARE
    r record;
    found jsonb[] = '{}';
BEGIN
    FOR r IN EXECUTE query LOOP
        found := found || to_jsonb(r);
    END LOOP;
    IF query !~* 'order by [^)]*$' THEN
        found := ARRAY(SELECT row FROM unnest(found) row ORDER BY
            (SELECT string_agg(value::text, ' ' ORDER BY key) FROM jsonb_each(row) WHERE jsonb_typeof(value) <> 'number') COLLATE "C" NULLS FIRST, row);
    END IF;
    RETURN found;
END $$;
-- The same of the tables, as their owner.
CREATE FUNCTION truth(query text) RETURNS jsonb[] LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT rows_of(regexp_replace(query, '\y(orders|visits)_v\y', '\1', 'g'));
$$;
-- Whole numbers agree if they are the same, others to a two-hundredth and a hundredth: an average of 0 to 3 in 29 rows has a standard error of 0.0013.
CREATE FUNCTION agree(one jsonb, other jsonb) RETURNS boolean LANGUAGE sql AS $$
    SELECT coalesce(bool_and(CASE WHEN jsonb_typeof(o.value) = 'number' AND jsonb_typeof(t.value) = 'number' AND
            (o.value::numeric % 1 <> 0 OR t.value::numeric % 1 <> 0)
        THEN abs(o.value::numeric - t.value::numeric) <= abs(t.value::numeric) / 200 + 0.01 ELSE o.value IS NOT DISTINCT FROM t.value END), true)
      FROM jsonb_each(one) o FULL JOIN jsonb_each(other) t USING (key);
$$;
-- What EXPLAIN shows of a statement: scan by scan, and not in their order, which is the planner's and another one in other majors.
CREATE FUNCTION plan_of(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
    scans text[] := '{}';
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        CONTINUE WHEN line !~ '^ *(Request|Quote|Refused):';
        IF line ~ '^ *Quote:' THEN
            scans[cardinality(scans)] := scans[cardinality(scans)] || E'\n' || ltrim(line);
        ELSE
            scans := scans || ltrim(line);
        END IF;
    END LOOP;
    RETURN QUERY SELECT part FROM unnest(scans) scan, regexp_split_to_table(scan, E'\n') WITH ORDINALITY parts(part, place) ORDER BY scan COLLATE "C", place;
END $$;
-- What a statement is planned as, whether its rows are those of the tables (or of another statement over them), what it charges.
CREATE FUNCTION try(query text, over_tables text DEFAULT NULL) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    got jsonb[];
    wanted jsonb[];
    charges bigint = came();
BEGIN
    RETURN QUERY SELECT * FROM plan_of(query);
    charges := came();
    IF charges > 0 THEN
        RETURN NEXT charges || ' charged by EXPLAIN';
    END IF;
    BEGIN
        got := rows_of(query);
        wanted := truth(coalesce(over_tables, query));
        IF cardinality(got) = cardinality(wanted) AND (SELECT bool_and(agree(o, t)) FROM unnest(got, wanted) x(o, t)) IS NOT FALSE THEN
            RETURN NEXT cardinality(got) || ' rows as in the table';
        ELSE
            RETURN NEXT format('%s instead of %s', got, wanted);
        END IF;
    EXCEPTION WHEN OTHERS THEN
        RETURN NEXT refused(query);
    END;
    RETURN NEXT came() || ' charged';
END $$;
SET SESSION AUTHORIZATION regress_ann;
SET pg_epsilon.epsilon = 1000;
\t on
\set ECHO all
