-- What test/fuzz/server_views.pl asks: random views over a shop, and units that are taken away by the rules that are said.
CREATE EXTENSION pg_epsilon;
CREATE SCHEMA fz;
SET search_path = fz;
CREATE TABLE regions (region text PRIMARY KEY, country text);
CREATE TABLE products (product_id int PRIMARY KEY, category text, price numeric(8,2));
CREATE TABLE rates (k int, v int);
GRANT USAGE ON SCHEMA fz TO PUBLIC;
GRANT SELECT ON regions, products, rates TO PUBLIC;
CREATE TABLE customers (customer_id int PRIMARY KEY, region text, born int CHECK (born BETWEEN 1900 AND 2100), referred_by int);
CREATE TABLE orders (order_id int PRIMARY KEY, customer_id int NOT NULL REFERENCES customers, payer int, placed date CHECK (placed BETWEEN '1900-01-01' AND '2100-01-01'),
    note varchar(20), coupon int CHECK (coupon BETWEEN -1000000 AND 1000000), ticket int UNIQUE, amount numeric, small smallint);
CREATE TABLE lines (line_id int PRIMARY KEY, order_id int NOT NULL REFERENCES orders, product_id int, qty int CHECK (qty BETWEEN 0 AND 1000), discount numeric(4,2));
CREATE TABLE visits (visitor int, at timestamp CHECK (at BETWEEN '1900-01-01' AND '2100-01-01'), page text, seconds float8);
CREATE TABLE reviews (order_id int REFERENCES orders, stars int, big bigint);
CREATE TABLE parts (line_id int REFERENCES lines, k int);
CREATE TABLE shelves (cust int, slot int NOT NULL, v int, PRIMARY KEY (cust, slot));
CREATE TABLE items (cust int, slot int, w int, FOREIGN KEY (cust, slot) REFERENCES shelves);
CREATE TABLE profiles (person int NOT NULL, colour text, until date);
CREATE UNIQUE INDEX ON orders (coupon) WHERE coupon > 0;

-- Small domains with NULLs, duplicates, and values at the ends of what is allowed.
CREATE FUNCTION fz.number(low int, high int, nulls float8 DEFAULT 0.1) RETURNS int LANGUAGE sql VOLATILE AS
$$SELECT CASE WHEN random() < nulls THEN NULL ELSE low + floor(random() * (high - low + 1))::int END$$;
CREATE FUNCTION fz.day() RETURNS date LANGUAGE sql VOLATILE AS
$$SELECT CASE WHEN random() < .1 THEN NULL WHEN random() < .05 THEN date '1900-01-01' WHEN random() < .05 THEN date '2100-01-01' ELSE date '2024-01-01' + floor(random() * 40)::int END$$;
CREATE FUNCTION fz.fill() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    units int := 5;
BEGIN
    DELETE FROM fz.regions; DELETE FROM fz.products; DELETE FROM fz.rates; DELETE FROM fz.customers; DELETE FROM fz.orders; DELETE FROM fz.lines; DELETE FROM fz.visits; DELETE FROM fz.reviews; DELETE FROM fz.parts; DELETE FROM fz.shelves; DELETE FROM fz.items; DELETE FROM fz.profiles;
    INSERT INTO fz.regions SELECT 'r' || i, 'k' || i % 2 FROM generate_series(1, 3) i;
    INSERT INTO fz.products SELECT i, 'c' || i % 3, i * 1.5 FROM generate_series(1, 5) i;
    INSERT INTO fz.rates SELECT fz.number(1, 5), fz.number(1, 3) FROM generate_series(1, 5);
    INSERT INTO fz.customers SELECT i, 'r' || fz.number(1, 3), fz.number(1948, 1953), fz.number(1, units) FROM generate_series(1, units) i WHERE random() < .9;
    INSERT INTO fz.orders SELECT i, c.customer_id, fz.number(1, units), fz.day(), (ARRAY['x', NULL, 'y', ''])[fz.number(1, 4, 0)],
           CASE WHEN random() < .3 THEN 1945 + i ELSE -fz.number(0, 3) END, CASE WHEN random() < .5 THEN i END,
           (ARRAY[1, 1.0, 1.000, 2, NULL, 0])[fz.number(1, 6, 0)], fz.number(-3, 3)
      FROM generate_series(1, 7) i, LATERAL (SELECT customer_id FROM fz.customers WHERE i > 0 ORDER BY random() LIMIT 1) c;
    INSERT INTO fz.lines SELECT i, o.order_id, fz.number(1, 6), CASE WHEN random() < .1 THEN 1000 ELSE fz.number(0, 3) END, (random() * 0.3)::numeric(4,2)
      FROM generate_series(1, 10) i, LATERAL (SELECT order_id FROM fz.orders WHERE i > 0 ORDER BY random() LIMIT 1) o;
    INSERT INTO fz.visits SELECT fz.number(1, units), least(fz.day() + fz.number(0, 3, 0) * interval '6 hours', timestamp '2100-01-01'), 'p' || fz.number(0, 2), random() FROM generate_series(1, 6);
    INSERT INTO fz.reviews SELECT CASE WHEN random() < .9 THEN o.order_id END, fz.number(1, 5), CASE WHEN random() < .1 THEN 9223372036854775807 ELSE fz.number(-2, 5) END
      FROM generate_series(1, 5) i, LATERAL (SELECT order_id FROM fz.orders WHERE i > 0 ORDER BY random() LIMIT 1) o;
    INSERT INTO fz.parts SELECT CASE WHEN random() < .9 THEN l.line_id END, fz.number(1, 3)
      FROM generate_series(1, 6) i, LATERAL (SELECT line_id FROM fz.lines WHERE i > 0 ORDER BY random() LIMIT 1) l;
    INSERT INTO fz.shelves SELECT i, j, fz.number(1, 3) FROM generate_series(1, units) i, generate_series(1, 2) j WHERE random() < .7;
    INSERT INTO fz.items SELECT s.cust, s.slot, fz.number(1, 3) FROM generate_series(1, 6) i, LATERAL (SELECT cust, slot FROM fz.shelves WHERE i > 0 ORDER BY random() LIMIT 1) s;
    INSERT INTO fz.profiles SELECT i, 'h' || fz.number(1, 2), fz.day() FROM generate_series(1, units) i WHERE random() < .7;
END $$;

-- Whose a row is, as an expression of SQL, by the rules that dp.check_view says.
CREATE FUNCTION fz.owner(rules jsonb, relation text, alias text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    rule text := rules ->> relation;
    part text[] := regexp_match(rule, '^key \((.*)\) -> (\S+) \((.*)\)$');
    mine text[];
    theirs text[];
    other text := alias || 'x';
BEGIN
    IF rule LIKE 'column %' THEN
        RETURN alias || '.' || substr(rule, 8);
    END IF;
    mine := string_to_array(part[1], ', ');
    theirs := string_to_array(part[3], ', ');
    RETURN format('(SELECT %s FROM %s %s WHERE %s)', fz.owner(rules, part[2], other), part[2], other,
                  (SELECT string_agg(format('%s.%s = %s.%s', other, theirs[i], alias, mine[i]), ' AND ') FROM generate_subscripts(mine, 1) i));
END $$;

-- Takes away all rows of one unit, or of all others, where it is known whose they are.
CREATE FUNCTION fz.remove(rules jsonb, unit int, others boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    relation text;
    found tid[];
    every jsonb := '{}';
BEGIN
    FOR relation IN SELECT jsonb_object_keys(rules) LOOP
        EXECUTE format('SELECT coalesce(array_agg(a.ctid), ''{}'') FROM %s a WHERE %s %s $1', relation, fz.owner(rules, relation, 'a'), CASE WHEN others THEN '<>' ELSE '=' END)
           INTO found USING unit;
        every := every || jsonb_build_object(relation, found::text[]);
    END LOOP;
    FOR relation IN SELECT jsonb_object_keys(rules) LOOP
        EXECUTE format('DELETE FROM %s WHERE ctid = ANY ($1)', relation) USING ARRAY(SELECT jsonb_array_elements_text(every -> relation))::tid[];
    END LOOP;
END $$;

-- The rows again, in another order.
CREATE FUNCTION fz.shuffle(rules jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    relation text;
BEGIN
    FOR relation IN SELECT jsonb_object_keys(rules) UNION SELECT unnest('{fz.regions,fz.products,fz.rates}'::text[]) LOOP
        EXECUTE format('WITH gone AS (DELETE FROM %s RETURNING *) INSERT INTO %1$s SELECT * FROM gone ORDER BY random()', relation);
    END LOOP;
END $$;

CREATE FUNCTION fz.plan(n int) RETURNS void LANGUAGE sql VOLATILE AS $$
    SELECT set_config('enable_hashjoin', (n IN (0, 3))::text, true), set_config('enable_mergejoin', (n IN (2, 3))::text, true), set_config('enable_nestloop', (n IN (1, 3))::text, true),
           set_config('enable_hashagg', (n IN (0, 3))::text, true), set_config('enable_indexscan', (n = 1)::text, true), set_config('enable_bitmapscan', (n = 1)::text, true),
           set_config('enable_memoize', (n = 1)::text, true), set_config('enable_sort', (n <> 0)::text, true), set_config('enable_material', (n <> 1)::text, true)
$$;

-- The rows of the view as one text; those of a unit are left out, or kept alone.
CREATE FUNCTION fz.rows(unit int, alone boolean) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    rows text;
BEGIN
    EXECUTE format('SELECT coalesce(string_agg(v::text, E''\n'' ORDER BY v::text COLLATE "C"), '''') FROM fz.v v WHERE v.unit IS NOT NULL AND ($1 IS NULL OR v.unit %s $1)', CASE WHEN alone THEN '=' ELSE '<>' END)
       INTO rows USING unit;
    RETURN rows;
END $$;

-- After a removal, undone.
CREATE FUNCTION fz.after(rules jsonb, unit int, others boolean) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    after text;
BEGIN
    BEGIN
        PERFORM fz.remove(rules, unit, others);
        after := fz.rows(NULL, false);
        RAISE EXCEPTION 'undone' USING ERRCODE = 'FZ000';
    EXCEPTION WHEN SQLSTATE 'FZ000' THEN
        RETURN after;
    END;
END $$;

-- One database; NULL: the view is stable on it.
CREATE FUNCTION fz.look(rules jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    before text;
    unit int;
BEGIN
    PERFORM fz.fill(), fz.plan(3);
    IF (SELECT count(*) > 1000 FROM (SELECT FROM fz.v LIMIT 1001) v) THEN
        RETURN NULL;
    END IF;
    before := fz.rows(NULL, false);
    FOR plan IN 0 .. 2 LOOP
        PERFORM fz.plan(plan);
        IF fz.rows(NULL, false) <> before THEN
            RETURN 'other rows under plan ' || plan;
        END IF;
    END LOOP;
    FOR unit IN 1 .. 6 LOOP
        PERFORM fz.plan(unit % 4);
        IF fz.after(rules, unit, false) <> fz.rows(unit, false) THEN
            RETURN 'other rows without unit ' || unit;
        END IF;
        IF fz.after(rules, unit, true) <> fz.rows(unit, true) THEN
            RETURN 'other rows with unit ' || unit || ' alone';
        END IF;
    END LOOP;
    FOR turn IN 1 .. 2 LOOP
        PERFORM fz.shuffle(rules), fz.plan(turn);
        IF fz.rows(NULL, false) <> before THEN
            RETURN 'other rows in another order';
        END IF;
    END LOOP;
    RETURN NULL;
END $$;

-- What comes of a view: a word, and more.
CREATE FUNCTION fz.try(definition bytea, databases int, seed float8) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    rules jsonb;
    why text;
BEGIN
    SET LOCAL search_path = fz;
    SET LOCAL session_replication_role = replica;
    SET LOCAL client_min_messages = warning;
    BEGIN
        EXECUTE 'CREATE VIEW fz.v AS ' || convert_from(definition, 'UTF8');
    EXCEPTION WHEN OTHERS THEN
        RETURN 'invalid ' || SQLSTATE || ' ' || SQLERRM;
    END;
    BEGIN
        SELECT coalesce(jsonb_object_agg('fz.' || relation::text, rule) FILTER (WHERE role = 'private'), '{}') INTO rules FROM dp.check_view('fz.v', 'unit');
    EXCEPTION WHEN feature_not_supported THEN
        DROP VIEW fz.v;
        RETURN 'refused ' || SQLERRM;
    WHEN OTHERS THEN
        DROP VIEW fz.v;
        RETURN 'broken ' || SQLSTATE || ' ' || SQLERRM;
    END;
    FOR i IN 1 .. databases LOOP
        PERFORM setseed(((seed * 1000 + i) / 1000.0) - floor((seed * 1000 + i) / 1000.0));
        BEGIN
            why := fz.look(rules);
        EXCEPTION WHEN OTHERS THEN
            why := 'fails ' || SQLSTATE || ' ' || SQLERRM;
        END;
        EXIT WHEN why IS NOT NULL;
    END LOOP;
    DROP VIEW fz.v;
    RETURN CASE WHEN why IS NULL THEN 'accepted' WHEN why LIKE 'fails%' THEN why ELSE 'unstable ' || why END || CASE WHEN why IS NULL THEN '' ELSE ' ' || rules::text END;
END $$;
