-- What a SELECT is about changes while it runs: by a function in it, which its curator calls.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
SET client_min_messages = warning;
\set select :here /test/regress/select.sql
\i :select
\t off
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.grant_budget('orders', 'regress_curator', 5000) IS NOT NULL AS granted;
CREATE TABLE act (statement text, at int, calls int);
INSERT INTO act VALUES ('', 0, 0);
-- At one of its calls it does what the table says.
CREATE FUNCTION does() RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    a act;
BEGIN
    UPDATE act SET calls = calls + 1 RETURNING * INTO a;
    IF a.calls = a.at THEN
        EXECUTE a.statement;
    END IF;
    RETURN true;
END $$;
-- It says so.
CREATE FUNCTION always(anyelement) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN does(); END';
CREATE FUNCTION same(x text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS 'BEGIN PERFORM does(); RETURN x; END';
-- Each statement at the call, undone, and what it has paid meanwhile.
CREATE FUNCTION changed(change text, at int, query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM came();
    BEGIN
        UPDATE act SET statement = change, at = changed.at, calls = 0;
        RETURN QUERY EXECUTE format('SELECT r::text FROM (%s) r', query);
        IF (SELECT calls < changed.at FROM act) AND query !~ 'plan_of' THEN
            RETURN NEXT 'nothing was done';
        END IF;
        RAISE SQLSTATE 'UNDOO';
    EXCEPTION
        WHEN SQLSTATE 'UNDOO' THEN
        WHEN OTHERS THEN
            RETURN NEXT sqlstate || ': ' || sqlerrm;
    END;
    RETURN NEXT came() || ' charged';
END $$;
CREATE FUNCTION declare_age(bins int) RETURNS void LANGUAGE sql AS $$
    SELECT dp.drop_dataset('orders');
    SELECT dp.create_dataset('orders', 'orders', 1e5);
    SELECT dp.add_attribute('orders', 'region', ARRAY['north', 'south', 'east', 'west']);
    SELECT dp.add_attribute('orders', 'age', 15, 95, bins, last => 'open');
    SELECT dp.grant_budget('orders', 'regress_curator', 5000);
$$;
\t on
\set of_age 'SELECT age, count(*) FROM orders_v WHERE always(region) GROUP BY 1'
\set of_region 'SELECT region, count(*) FROM orders_v WHERE always(age) GROUP BY 1'
SELECT changed('SELECT 1', 1, 'SELECT region, count(*) FROM orders_v WHERE always(age) GROUP BY 1 ORDER BY 1');
-- the dataset, which the transaction of its change cannot ask; test/isolation/specs/select_changed.spec has another session do it
SELECT changed('SELECT declare_age(80)', 1, :'of_age');
SELECT changed('SELECT declare_age(2)', 1, :'of_age');
SELECT changed('SELECT declare_age(16)', 4, :'of_age');
SELECT changed('SELECT declare_age(8)', 2, 'SELECT round(sum(age)) FROM orders_v WHERE always(region)');
SELECT changed('SELECT declare_age(8)', 2, 'SELECT count(*) FILTER (WHERE age < 35) FROM orders_v WHERE always(region)');
SELECT changed($$SELECT dp.new_version('orders')$$, 1, :'of_region');
SELECT changed($$SELECT dp.drop_dataset('orders')$$, 1, :'of_region');
-- by a function in an aggregate, a filter, a group, and in another scan
SELECT changed('SELECT declare_age(80)', 3, 'SELECT age, count(*) FILTER (WHERE always(region)) FROM orders_v GROUP BY 1');
SELECT changed('SELECT declare_age(80)', 2, 'SELECT same(region), age, count(*) FROM orders_v GROUP BY 1, 2');
SELECT changed('SELECT declare_age(80)', 2, 'SELECT o.age, p.n FROM (SELECT age FROM orders_v GROUP BY 1) o JOIN (SELECT age, count(*) AS n FROM orders_v WHERE always(region) GROUP BY 1) p USING (age)');
-- the relation: it is in use
SELECT changed('DROP FOREIGN TABLE orders_v_foreign CASCADE', 1, :'of_region');
SELECT changed('DROP FOREIGN TABLE orders_v_foreign CASCADE', 9, :'of_region');
SELECT changed('DROP FOREIGN TABLE orders_v_foreign CASCADE', 2, 'SELECT same(region), count(*) FROM orders_v GROUP BY 1');
SELECT changed($$ALTER FOREIGN TABLE orders_v_foreign OPTIONS (SET dataset 'visits')$$, 2, :'of_region');
SELECT changed($$ALTER FOREIGN TABLE orders_v_foreign RENAME COLUMN region TO r$$, 2, :'of_region');
SELECT changed('DROP VIEW orders_v', 2, :'of_region');
SELECT changed('DROP FOREIGN TABLE visits_v_foreign CASCADE', 2, 'SELECT o.region, v.n FROM (SELECT region FROM orders_v WHERE always(age) GROUP BY 1) o, (SELECT count(*) AS n FROM visits_v) v');
-- EXPLAIN finds the same
SELECT changed('SELECT declare_age(80)', 1, $$SELECT * FROM plan_of('SELECT age, count(*) FROM orders_v WHERE always(region) GROUP BY 1')$$);
SELECT changed('DROP FOREIGN TABLE orders_v_foreign CASCADE', 1, $$SELECT * FROM plan_of('SELECT age, count(*) FROM orders_v WHERE always(region) GROUP BY 1')$$);
\t off
-- and is free, also where a function of the SELECT asks itself
CREATE FUNCTION asks() RETURNS int STABLE LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT 30 + 0 * count(*) FROM orders_v WHERE age < 50); END';
SELECT count(*) AS charges FROM dp.charges \gset before_
EXPLAIN (COSTS OFF) SELECT count(*) FROM orders_v WHERE age < asks();
SELECT count(*) - :before_charges AS charged FROM dp.charges;
SELECT count(*) > 0 AS there FROM orders_v WHERE age < asks();
SELECT count(*) - :before_charges AS charged FROM dp.charges;
-- its NOTICEs come before it returns, and are not lost where the statement around it is refused
CREATE FUNCTION level_of(n int) RETURNS text STABLE LANGUAGE plpgsql AS $$
BEGIN
    PERFORM count(DISTINCT region) FROM orders_v WHERE region < 'a';
    RAISE NOTICE 'asked';
    RETURN repeat('north', n);
END $$;
SET pg_epsilon.epsilon = 1;
SET client_min_messages = notice;
SELECT count(*) < 0 AS there FROM orders_v WHERE region = level_of(1);
SELECT age / 3, count(*) FROM orders_v WHERE region = level_of(1) GROUP BY 1;
SET client_min_messages = warning;
-- it is used no longer
DROP VIEW orders_v;
DROP FOREIGN TABLE visits_v_foreign CASCADE;

RESET SESSION AUTHORIZATION;
SET client_min_messages = error;
DROP OWNED BY regress_ann, regress_bob, regress_curator;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused(text);
DROP ROLE regress_curator, regress_ann, regress_bob;
