-- Numbers that are measured by their distances from their bounds: sums under substitute and of Laplace noise, averages of
-- Laplace noise.  What was measured one way answers what would be measured another way.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator, regress_ann;
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_curator;
-- x is always there, y not; d is not above 0
CREATE TABLE t_s (g int NOT NULL, k int NOT NULL, x int NOT NULL, y float8, d int NOT NULL);
INSERT INTO t_s SELECT i % 3, i % 10, i * 7 % 101, CASE WHEN i % 4 > 0 THEN i * 13 % 997 / 10.0 END, -(i * 3 % 51) FROM generate_series(1, 9000) i;
CREATE TABLE t_p AS TABLE t_s;
CREATE TABLE t_u AS TABLE t_s;
ALTER TABLE t_p ALTER x SET NOT NULL, ALTER d SET NOT NULL, ALTER g SET NOT NULL;
ALTER TABLE t_u ALTER x SET NOT NULL, ALTER d SET NOT NULL, ALTER g SET NOT NULL;
CREATE FUNCTION declare(dataset text, accounting text, neighbours text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM dp.create_dataset(dataset, ('t_' || dataset)::regclass, epsilon => 1e5, accounting => accounting, neighbours => neighbours);
    PERFORM dp.add_attribute(dataset, 'g', '{0,1,2}'), dp.add_attribute(dataset, 'k', '{0,1,2,3,4,5,6,7,8,9}');
    PERFORM dp.add_attribute(dataset, 'x', 0, 100, bins => 10), dp.add_attribute(dataset, 'y', 0, 100, bins => 10), dp.add_attribute(dataset, 'd', -50, 0, bins => 10);
    PERFORM dp.grant_budget(dataset, 'regress_ann', epsilon => 1e5);
END $$;
SELECT declare('s', 'gdp', 'substitute'), declare('p', 'pure', 'add_remove'), declare('u', 'pure', 'substitute');
GRANT SELECT ON t_s TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;

-- 1. Against the rows, by group and without; numbers that are rounded err by 100/65534 each.
CREATE TEMP TABLE truth AS SELECT g, a.* FROM (SELECT g, count(*) n, sum(x) sx, avg(x) ax, sum(y) sy, avg(y) ay, count(y) ny, sum(d) sd,
       sum(x) FILTER (WHERE k < 5) s5, avg(x) FILTER (WHERE k >= 5) a5, variance(x) vx, stddev_pop(y) dy, variance(x) FILTER (WHERE k < 5) v5 FROM t_s GROUP BY GROUPING SETS ((g), ())) t,
  LATERAL (VALUES ('count(*)', n::float8, 0::float8), ('sum(x)', sx, 0), ('avg(x)', ax, 0), ('sum(y)', sy, ny * 100 / 65534.), ('avg(y)', ay, 100 / 65534.), ('count(y)', ny, 0),
     ('sum(d)', sd, 0), ('small', s5, 0), ('large', a5, 0), ('ratio(sum(x), count(*))', ax, 0), ('var(x)', vx, 0), ('stddev_pop(y)', dy, 100 / 65534.), ('spread', v5, 0)) a (aggregate, value, rounding);
SELECT dataset, request, bool_and(abs(estimate - value) < 20 * stderr + rounding) AS near, bool_and(stderr < abs(value) * 0.01) AS sharp, count(*)
  FROM unnest('{s,p,u}'::text[]) dataset,
       (VALUES ('{sum(x)}'::text[]), ('{sum(y)}'), ('{sum(d)}'), ('{sum(x),sum(d)}'), ('{sum(y),count(*)}'), ('{avg(x)}'), ('{avg(y),sum(y)}'), ('{avg(x),count(*),sum(x)}'),
         ('{avg(y),count(*)}'), ('{avg(x),avg(y)}'), ('{sum(x) where (k < 5) as small,avg(x) where (k >= 5) as large}'), ('{"ratio(sum(x), count(*))"}'), ('{sum(x) where (k < 5) as small,sum(x)}'),
         ('{var(x)}'), ('{stddev_pop(y),avg(y)}'), ('{var(x),avg(x),count(*),sum(x)}'), ('{var(x) where (k < 5) as spread,count(*)}'), ('{var(x),avg(y)}')) r (request),
       unnest('{"",g}'::text[]) "by",
       LATERAL dp.aggregate(dataset, request, CASE WHEN "by" = '' THEN '{}'::text[] ELSE ARRAY["by"] END, epsilon => 60) a
  JOIN truth t ON t.aggregate = a.aggregate AND t.g IS NOT DISTINCT FROM (a.label->>'g')::int GROUP BY 1, 2 ORDER BY 1, 2;

-- 2. The same request is a replay; errors are those of the quote.
SELECT dataset, request, bool_and(a.estimate = b.estimate AND a.stderr = b.stderr AND a.release = b.release) AS same, bool_and(abs(a.stderr / q.stderr - 1) < 1e-9) FILTER (WHERE a.aggregate !~ '^(avg|var)') AS quoted
  FROM unnest('{s,p,u}'::text[]) dataset, (VALUES ('{sum(x)}'::text[]), ('{avg(x),count(*)}'), ('{sum(y),count(*)}'), ('{sum(x),count(*),var(x)}')) r (request),
       LATERAL dp.aggregate(dataset, request, epsilon => 60) a JOIN LATERAL dp.aggregate(dataset, request, epsilon => 60) b USING (aggregate)
       JOIN LATERAL dp.quote_aggregate(dataset, request, epsilon => 60) q USING (aggregate) GROUP BY 1, 2 ORDER BY 1, 2;

-- 3. What was measured in one basis answers a request of another, with the errors that it has.
CREATE FUNCTION pg_temp.reused(dataset text, first text[], then_ text[], "by" text[]) RETURNS TABLE (free bool, aggregate text, near bool, told bool) LANGUAGE plpgsql AS $$
DECLARE
    before bigint;
BEGIN
    PERFORM dp.aggregate(dataset, first, "by", epsilon => 900, fresh => true);
    before := count(*) FROM dp.releases;
    RETURN QUERY WITH got AS MATERIALIZED (SELECT * FROM dp.aggregate(dataset, then_, "by", epsilon => 1, reuse => true))
      SELECT (SELECT count(*) FROM dp.releases) = before, g.aggregate, bool_and(abs(estimate - value) < 20 * stderr + rounding), bool_and(stderr > 0 AND stderr < abs(value) / 100)
        FROM got g JOIN truth t ON t.aggregate = g.aggregate AND t.g IS NOT DISTINCT FROM (g.label->>'g')::int GROUP BY g.aggregate;
END $$;
SELECT dataset, first, then_, "by", r.* FROM (VALUES ('s', '{avg(x)}'::text[], '{sum(x)}'::text[], '{g}'::text[]), ('s', '{avg(y),count(*)}', '{sum(y)}', '{}'), ('s', '{avg(d)}', '{sum(d)}', '{g}'), ('s', '{sum(y)}', '{sum(y)}', '{g}'),
    ('p', '{avg(x)}', '{sum(x)}', '{g}'), ('p', '{avg(x)}', '{count(*)}', '{g}'), ('u', '{avg(d)}', '{sum(d)}', '{}'), ('p', '{var(x)}', '{sum(x)}', '{g}'), ('u', '{var(d)}', '{sum(d)}', '{}'), ('p', '{var(x)}', '{count(*)}', '{}'), ('u', '{stddev(y)}', '{count(y)}', '{g}')) v (dataset, first, then_, "by"), LATERAL pg_temp.reused(dataset, first, then_, "by") r
 ORDER BY 1, 2, 3;
-- both sums from one count would have noise in common, and are paid for
SELECT count(*) FROM dp.aggregate('s', '{avg(x),avg(d)}', '{k}', epsilon => 900);
SELECT count(*) AS before FROM dp.releases \gset
SELECT count(*) FROM dp.aggregate('s', '{sum(d)}', '{k}', epsilon => 1, reuse => true);
SELECT count(*) - :before AS paid FROM dp.releases;
SELECT count(*) FROM dp.aggregate('s', '{sum(x),sum(d)}', '{k}', epsilon => 1, reuse => true);
SELECT count(*) - :before AS paid FROM dp.releases;
-- counts of groups beside an average are a release of counts
SELECT max(release) AS counts FROM dp.aggregate('p', '{count(*),avg(x)}', '{g}', epsilon => 70) \gset
SELECT count(*) = 1 AND bool_and(abs(estimate - 9000) < 1) AS counted FROM dp.answer(:counts, 'total');

DISCARD TEMP;
RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon CASCADE;
DROP TABLE t_s, t_p, t_u;
DROP FUNCTION declare, refused;
REVOKE CREATE ON SCHEMA public FROM regress_curator, regress_ann;
DROP ROLE regress_curator, regress_ann;
