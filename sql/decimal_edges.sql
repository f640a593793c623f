-- Equal bins of floats have the decimals that the bounds mean: -1 to 1 in 20 bins has 0.3, not a float beside it.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator, regress_ann;
\pset tuples_only on

SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE points (x float8, r real, lat float8, n numeric);
INSERT INTO points SELECT -1 + (i % 20) / 10.0, -1 + (i % 20) / 10.0, 47.2 + (i % 30) / 100.0, -1 + (i % 20) / 10.0
    FROM generate_series(0, 5999) i;
SELECT dp.create_dataset('p', 'points', 1e5);
SELECT dp.add_attribute('p', 'x', -1, 1, bins => 20, last => 'open');
SELECT dp.add_attribute('p', 'r', '-1', 1.0, bins => 20, last => 'open');
SELECT dp.add_attribute('p', 'n', -1, 1, bins => 20, last => 'open');
SELECT dp.add_attribute('p', 'lat', 47.2, 47.5, bins => 30, last => 'open');
SELECT dp.grant_budget('p', 'regress_ann', 5e4);
SELECT dp.expose('p', 'points_dp', epsilon => 1000);
GRANT SELECT ON points_dp TO regress_ann;
SELECT attribute, levels FROM dp.attributes WHERE attribute <> 'lat' ORDER BY 1;

-- Each value counts in the bin that begins with it
SET SESSION AUTHORIZATION regress_ann;
SET client_min_messages = warning;
SELECT x, count(*) FROM points_dp GROUP BY x ORDER BY x;
SELECT count(*), min(round(estimate)), max(round(estimate)) FROM dp.histogram('p', 'r', epsilon => 1000);
SELECT count(*), min(round(estimate)), max(round(estimate)) FROM dp.histogram('p', 'lat', epsilon => 1000);
-- and the decimal is an edge to compare with
SELECT count(*) FROM points_dp WHERE x >= 0.3;
SELECT count(*) FROM points_dp WHERE lat >= 47.3;
SELECT round(estimate) FROM dp.histogram('p', '{}', epsilon => 1000, predicate => 'lat >= 47.3');
RESET client_min_messages;

-- Of many bounds every edge is the float that the decimal reads as
SET SESSION AUTHORIZATION regress_curator;
CREATE FUNCTION edges_beside(column_name text, type text, lower text, upper text, bins int) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    beside bigint;
BEGIN
    PERFORM dp.alter_attribute('p', column_name, lower, upper, bins => bins);
    EXECUTE format('SELECT count(*) FROM dp.attributes a,
            jsonb_array_elements_text(to_jsonb(a.levels)) WITH ORDINALITY e (edge, k)
        WHERE a.attribute = %1$L AND e.edge::%2$s IS DISTINCT FROM
            (%3$L::numeric + round(%4$L::numeric - %3$L::numeric, 60) * (k - 1) / %5$s)::%2$s',
        column_name, type, lower, upper, bins) INTO beside;
    RETURN beside;
END $$;
\set bounds '(VALUES (''0'', ''1'', 10), (''-0.5'', ''0.5'', 10), (''0.1'', ''0.9'', 8), (''1.1'', ''2.1'', 10), (''0'', ''0.7'', 7), (''13.0'', ''13.8'', 80), (''-180'', ''180'', 3600), (''0'', ''1'', 3), (''0'', ''1'', 1024), (''-1e-20'', ''2e-20'', 7), (''1e15'', ''2e15'', 1000), (''-1.5e30'', ''1.5e30'', 9)) b (lower, upper, bins)'
SELECT lower, upper, bins, edges_beside('x', 'float8', lower, upper, bins), edges_beside('r', 'real', lower, upper, bins) FROM :bounds;
-- The whole range of the type, and bins that the type cannot part
SELECT dp.alter_attribute('p', 'x', -1.7976931348623157e308, 1.7976931348623157e308, bins => 4);
SELECT e::float8 FROM dp.attributes, jsonb_array_elements_text(levels) e WHERE attribute = 'x';
SELECT refused($$SELECT dp.alter_attribute('p', 'x', 1e16, '10000000000000008', bins => 8)$$);

RESET SESSION AUTHORIZATION;
DROP OWNED BY regress_curator, regress_ann;
DROP EXTENSION pg_epsilon;
DROP FUNCTION refused;
DROP ROLE regress_curator, regress_ann;
