-- Which series end with an attribute that is dropped or altered: those that name it in attributes, predicate or aggregates, and no other one.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
GRANT CREATE ON SCHEMA public TO regress_curator;
-- Which series end with an attribute; it stays.
CREATE FUNCTION ended_with(attribute text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    ended text;
BEGIN
    BEGIN
        PERFORM dp.drop_attribute('places', attribute);
        SELECT string_agg(series, ' ' ORDER BY series) INTO ended FROM dp.series WHERE series.ended IS NOT NULL;
        RAISE division_by_zero;
    EXCEPTION WHEN division_by_zero THEN
    END;
    RETURN attribute || ': ' || coalesce(ended, 'none');
END $$;
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE places (city text, "new" text, york text, "new york" text, "sum" int, x int, "n" text, "né" text, "we""ird" text, "b\d" text, "and" text, at timestamptz);
SELECT dp.create_dataset('places', 'places', 1e5);
SELECT dp.add_attribute('places', 'city', ARRAY['old new york', 'it''s new']), dp.set_time('places', 'at');
SELECT count(*) FROM unnest(ARRAY['new', 'york', 'new york', 'n', 'né', 'we"ird', 'b\d', 'and']) a, dp.add_attribute('places', a, '{k}');
SELECT count(*) FROM unnest(ARRAY['sum', 'x']) a, dp.add_attribute('places', a, 0, 10, 10, last => 'open');
SELECT dp.grant_budget('places', 'regress_curator', 5e4);
SELECT count(*) FROM unnest(ARRAY['city', 'new,york', 'new york', 'né', '"we\"ird"', '"b\\d"', 'and']) a,
  dp.create_series('places', a, ('{' || a || '}')::text[], start => '2020-01-01', period => '10 days', periods => 4, rho => 10);
SELECT count(*) FROM (VALUES ('literal', 'city IN (''old new york'', ''it''''s new'')'), ('quoted', '"new york" = ''k'' AND "we""ird" = ''k'''), ('backslash', '"b\d" = ''k'''), ('keyword', '"and" = ''k'' OR x < 3')) p (series, predicate),
  dp.create_series('places', p.series, '{york}'::text[], predicate => p.predicate, start => '2020-01-01', period => '10 days', periods => 4, rho => 10);
SELECT count(*) FROM (VALUES ('sum of x', 'sum(x)'), ('sum of sum', 'sum(sum)'), ('some', 'count(*) where (x < 3)')) p (series, aggregate),
  dp.create_series('places', p.series, '{city}'::text[], aggregates => ARRAY[p.aggregate], start => '2020-01-01', period => '10 days', periods => 4, rho => 10);
\t on
SELECT ended_with(a) FROM unnest(ARRAY['city', 'new', 'york', 'new york', 'sum', 'x', 'n', 'né', 'we"ird', 'b\d', 'and']) WITH ORDINALITY a (a, i) ORDER BY i;

RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused, ended_with;
DROP OWNED BY regress_curator CASCADE;
DROP ROLE regress_curator;
