-- What server_polynomials.pl asks of: columns of all types of numbers, with NULL, NaN and values outside.
CREATE EXTENSION pg_epsilon;
CREATE SCHEMA pz;
ALTER DATABASE fuzz SET pg_epsilon.time_quantum = 0;
ALTER DATABASE fuzz SET pg_epsilon.epsilon = 5;
ALTER DATABASE fuzz SET client_min_messages = error;
CREATE TABLE pz.rows (g int NOT NULL, price numeric(12,2), discount numeric(4,3), tax numeric(4,2) NOT NULL, qty int NOT NULL, small smallint, wide bigint, ratio float8, far float8, loose numeric);
INSERT INTO pz.rows SELECT i % 3, CASE WHEN i % 11 > 0 THEN ((i * 7919) % 120000) / 100.0 - 50 END, CASE WHEN i % 13 > 0 THEN (i * 17 % 240) / 1000.0 END, (i % 9) / 100.0, (i * 37) % 60 - 5,
       CASE WHEN i % 7 > 0 THEN i % 21 - 10 END, CASE WHEN i % 29 > 0 THEN (i::bigint * 104729) % 2000003 END,
       CASE WHEN i % 17 = 0 THEN 'NaN' WHEN i % 19 = 0 THEN NULL WHEN i % 101 = 0 THEN 'Infinity' ELSE (i % 1000) / 640.0 - 0.5 END, 1e6 + (i * 31 % 500) / 4.0,
       CASE WHEN i % 23 > 0 THEN (i * 7 % 1000) / 7.0 END
  FROM generate_series(1, 20000) i;
ANALYZE pz.rows;
SELECT dp.create_dataset('rows', 'pz.rows', epsilon => 1e5);
SELECT dp.add_attribute('rows', 'g', '{0,1,2}'), dp.add_attribute('rows', 'price', '0', '1000', bins => 10), dp.add_attribute('rows', 'discount', '0', '0.2', bins => 1),
       dp.add_attribute('rows', 'tax', '0', '0.08', bins => 1), dp.add_attribute('rows', 'qty', 0, 50, bins => 5), dp.add_attribute('rows', 'small', -8, 8, bins => 1, outside => 'drop'),
       dp.add_attribute('rows', 'wide', -5, 1000000, bins => 1), dp.add_attribute('rows', 'ratio', -0.5, 1, bins => 1), dp.add_attribute('rows', 'far', 1e6, 1e6 + 100, bins => 1), dp.add_attribute('rows', 'loose', '0', '100', bins => 1);
SELECT dp.grant_budget('rows', 'postgres', epsilon => 1e5);
SELECT dp.expose('rows', 'pz.asked');
-- the rows as they count; out: values that are there for SQL, and count nowhere
CREATE TABLE pz.clean AS SELECT g, greatest(least(price, 1000), 0) + price * 0 AS price, greatest(least(discount, 0.2), 0) + discount * 0 AS discount, tax, greatest(least(qty, 50), 0) AS qty,
       CASE WHEN small BETWEEN -8 AND 8 THEN small END AS small, small NOT BETWEEN -8 AND 8 AS small_out, CASE WHEN wide > 1000000 THEN 1000000 ELSE wide END AS wide,
       CASE WHEN ratio > 1 AND ratio <> 'NaN' THEN 1 WHEN ratio <> 'NaN' THEN ratio END AS ratio, ratio = 'NaN' AS ratio_out, CASE WHEN far > 1e6 + 100 THEN 1e6 + 100 ELSE far END AS far,
       CASE WHEN loose > 100 THEN 100 ELSE loose END AS loose
  FROM pz.rows;
ANALYZE pz.clean;

-- NULL if all is right: the sum and the average by dp.aggregate, by group and not, and the same by SELECT.
CREATE FUNCTION pz.try(f text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    a record; n bigint; s float8; v float8; word text := (ARRAY['sum', 'avg'])[1 + floor(random() * 2)::int]; grouped boolean := random() < 0.3; charged bigint; text text := format('%s(%s)', word, f);
    rows text := format('pz.clean WHERE (small_out IS NOT TRUE OR strpos(%L, ''small'') = 0) AND (ratio_out IS NOT TRUE OR strpos(%L, ''ratio'') = 0)', f, f);
BEGIN
    SELECT count(*) INTO charged FROM dp.charges;
    FOR a IN SELECT label, aggregate, estimate, stderr FROM dp.aggregate('rows', ARRAY[text], CASE WHEN grouped THEN '{g}' ELSE '{}' END::text[], epsilon => 5) LOOP
        EXECUTE format('SELECT %s::float8, count(%s) FROM %s%s', text, f, rows, CASE WHEN grouped THEN ' AND g = ' || (a.label->>'g') ELSE '' END) INTO v, n;
        IF a.estimate IS NULL OR NOT abs(a.estimate - v) <= 7 * a.stderr THEN RETURN format('%s: %s +- %s, and the rows have %s', a.aggregate, a.estimate, a.stderr, v); END IF;
    END LOOP;
    IF grouped THEN RETURN NULL; END IF;
    BEGIN
        EXECUTE format('SELECT %s::float8 FROM pz.asked', text) INTO s;
    EXCEPTION WHEN program_limit_exceeded THEN
        RETURN 'refused: SELECT: ' || sqlerrm;    -- PostgreSQL has divided constants, to more digits
    END;
    -- a quotient of constants is one number to the planner, and then another request
    IF f ~ '/' AND abs(s - a.estimate) <= 10 * a.stderr THEN RETURN NULL; END IF;
    IF NOT (abs(s - a.estimate) <= 1e-9 * abs(s) OR s = round(a.estimate)) THEN RETURN format('%s: SELECT has %s, dp.aggregate %s', a.aggregate, s, a.estimate); END IF;
    IF (SELECT count(*) FROM dp.charges) > charged + 1 THEN RETURN format('%s was charged twice', a.aggregate); END IF;
    RETURN NULL;
EXCEPTION
    -- what is refused was not charged
    WHEN program_limit_exceeded OR invalid_parameter_value OR feature_not_supported THEN
        RETURN CASE WHEN (SELECT count(*) FROM dp.charges) > charged THEN format('%s: refused, and charged: %s', f, sqlerrm) ELSE 'refused: ' || sqlerrm END;
END $$;
