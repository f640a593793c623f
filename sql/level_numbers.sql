-- Numbers of columns that are declared by levels, in sums, averages, statistics and formulas.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE, USAGE ON SCHEMA public TO regress_curator;
GRANT USAGE ON SCHEMA public TO regress_ann;
SET client_min_messages = warning;

SET SESSION AUTHORIZATION regress_curator;
-- 4 lies between levels, 9 beyond them: rows with these have no number, nor have those with NULL
CREATE TABLE votes AS SELECT i AS id, (ARRAY['a', 'b'])[1 + i % 2] AS team, (ARRAY[1, 2, 3, 5, 4, 9, NULL])[1 + i % 7] AS stars, (ARRAY[0.5, 0.25, 2, 4])[1 + i / 7 % 4]::numeric(4,2) AS weight, (ARRAY[7, -3, 20])[1 + i % 3]::bigint AS far,
       i % 25 AS many, (i * 11) % 50 AS x, CASE WHEN i % 5 <> 0 THEN (i * 7) % 40 END AS y
  FROM generate_series(0, 6999) i;
-- the rows that have a number
CREATE VIEW there AS SELECT id, team, CASE WHEN stars IN (1, 2, 3, 5) THEN stars END AS stars, weight, far, many, x, y FROM votes;
CREATE TABLE unit_votes AS SELECT id / 2 AS who, * FROM votes;
CREATE VIEW unit_there AS SELECT * FROM there;
SELECT dp.create_dataset('votes', 'votes', 1e5), dp.create_dataset('unit_votes', 'unit_votes', 1e5, unit => 'who', max_rows => 2);
SELECT dp.add_attribute(t, 'team', '{a,b}'), dp.add_attribute(t, 'stars', '{5,1,2,3}'), dp.add_attribute(t, 'weight', '{0.25,0.5,2,4}'), dp.add_attribute(t, 'far', '{-3,7,20}'),
       dp.add_attribute(t, 'many', (SELECT array_agg(n) FROM generate_series(0, 24) n)), dp.add_attribute(t, 'x', 0, 50, 50, last => 'open'), dp.add_attribute(t, 'y', 0, 40, 4, last => 'open'), dp.grant_budget(t, 'regress_ann', 1e5), dp.expose(t, t || '_v')
  FROM unnest('{votes,unit_votes}'::text[]) t \g /dev/null
GRANT SELECT ON votes_v, unit_votes_v, there, unit_there TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SET pg_epsilon.epsilon = 400;
CREATE FUNCTION pg_temp.figures(statement text) RETURNS float8[] LANGUAGE plpgsql AS $$
DECLARE
    figures float8[];
BEGIN
    EXECUTE format('SELECT array_agg(v::float8 ORDER BY n, k) FROM (SELECT (jsonb_each_text(to_jsonb(r))).*, row_number() OVER () AS n FROM (%s) r) s (k, v, n) WHERE k <> ''team''', statement) INTO figures;
    RETURN figures;
END $$;
CREATE FUNCTION pg_temp.same(statement text, units text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    answer float8[] := pg_temp.figures(replace(statement, 'FROM t', 'FROM ' || units || 'votes_v'));
    truth float8[] := pg_temp.figures(replace(statement, 'FROM t', 'FROM ' || units || 'there'));
BEGIN
    RETURN CASE WHEN (SELECT bool_and(abs(a - t) <= 0.02 + abs(t) / 300) AND array_length(answer, 1) = array_length(truth, 1) FROM unnest(answer, truth) u (a, t)) THEN 'right' ELSE format('%s: %s and not %s', statement, answer, truth) END;
END $$;
SELECT pg_temp.same(s, u) AS r, u, count(*) FROM unnest('{"",unit_}'::text[]) u, unnest(ARRAY[
    'SELECT sum(stars * x) AS a, avg(stars * x) AS b, count(stars * x) AS c FROM t',
    'SELECT team, sum(stars * y) AS a, avg(stars + y) AS b FROM t GROUP BY team ORDER BY team',
    'SELECT avg(stars + 1) AS a, sum(2 * stars) AS b, avg(stars / 4.0) AS c FROM t',
    'SELECT corr(stars, x) AS a, covar_pop(stars, y) AS b, regr_slope(y, stars) AS c, regr_count(stars, y) AS d FROM t',
    'SELECT stddev(stars) AS a, variance(weight) AS b, var_pop(far) AS c FROM t',
    'SELECT sum(weight * far) AS a, sum(weight * stars * x) AS b, avg(weight * weight) AS c FROM t',
    'SELECT sum(many) AS a, avg(many) AS b, stddev(many) AS c, sum(many * stars) AS d FROM t',
    'SELECT team, avg(many) AS a FROM t WHERE stars <= 3 GROUP BY team ORDER BY team',
    'SELECT sum(stars * x) FILTER (WHERE team = ''a'') AS a, sum(CASE WHEN x > 20 THEN stars * y ELSE 0 END) AS b FROM t',
    'SELECT sum(x * CASE WHEN team = ''a'' THEN stars ELSE 2 END) AS a, avg(x - CASE WHEN team = ''b'' THEN y END) AS b, sum((CASE WHEN x > y THEN x ELSE y END) / 2.0) AS c FROM t']) s GROUP BY 1, 2 ORDER BY 2;
-- the same of dp.aggregate
SELECT bool_and(abs(a.estimate - t.v) <= 0.02 + abs(t.v) / 300) AS same, count(*) FROM dp.aggregate('votes', '{sum(stars * x),avg(stars),"corr(stars, x)",stddev(many)}', epsilon => 400) a
  JOIN (SELECT unnest(ARRAY['sum(stars * x)', 'avg(stars)', 'corr(stars, x)', 'stddev(many)']) AS aggregate, unnest(ARRAY[sum(stars * x), avg(stars), corr(stars, x), stddev(many)]) AS v FROM there) t USING (aggregate);
EXPLAIN (COSTS OFF) SELECT avg(stars * x) FROM votes_v;
-- asked again it is free
SELECT count(*) AS paid FROM dp.charges \gset
SELECT FROM dp.aggregate('votes', '{sum(stars * x),avg(stars),"corr(stars, x)",stddev(many)}', epsilon => 400) LIMIT 1;
SELECT count(*) - :paid AS charges FROM dp.charges;
-- what has no bounds is refused as before
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY stars) FROM votes_v;
SELECT sum(coalesce(stars, 0) * x) FROM votes_v;
SELECT * FROM dp.aggregate('votes', '{"sum(coalesce(stars, 0) * x)"}', epsilon => 1);
SELECT * FROM dp.aggregate('votes', '{median(stars)}', epsilon => 1);

RESET SESSION AUTHORIZATION;
DROP FUNCTION refused;
SET client_min_messages = error;
DROP OWNED BY regress_curator, regress_ann CASCADE;
DROP EXTENSION pg_epsilon CASCADE;
DROP ROLE regress_curator, regress_ann;
