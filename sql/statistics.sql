-- Every aggregate of PostgreSQL whose name says that it is of statistics, at a very large rho beside the rows: by dp.aggregate and
-- by plain SELECT, which has its type.  Of two numbers only rows that have both count.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
SET client_min_messages = warning;
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE trial (arm text NOT NULL, y float8, x int);
INSERT INTO trial SELECT (ARRAY['a', 'b'])[1 + i % 2], CASE WHEN i % 7 > 0 THEN 30 + i * 37 % 101 * 0.5 + i * 13 % 29 END,
       CASE WHEN i % 5 > 0 THEN i * 37 % 101 END FROM generate_series(1, 40000) i;
DO $$
BEGIN
    PERFORM dp.create_dataset('trial', 'trial', 1e5);
    PERFORM dp.add_attribute('trial', 'arm', ARRAY['a', 'b']);
    PERFORM dp.add_attribute('trial', 'y', 0, 200, 10, nulls => 'cell');
    PERFORM dp.add_attribute('trial', 'x', 0, 100, 10, nulls => 'cell');
    PERFORM dp.grant_budget('trial', 'regress_ann', 9e4);
    PERFORM dp.expose('trial', 'public.trial_v');
END $$;
GRANT SELECT ON trial, trial_v TO regress_ann;

-- Whether answers by arm are those of the table; 7 standard errors are exceeded once in 10^11
CREATE FUNCTION by_aggregate(aggregate text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    near boolean;
BEGIN
    EXECUTE format('SELECT bool_and(abs(estimate - truth) <= 7 * stderr + abs(truth) / 2000 AND stderr < 0.01 + abs(truth) / 50 AND lower95 < estimate AND estimate < upper95)
                      FROM (SELECT arm, %1$s::float8 AS truth FROM trial GROUP BY arm) t, dp.aggregate(''trial'', ARRAY[%1$L], ''{arm}'', rho => 2000) a WHERE arm = label->>''arm''',
                   aggregate) INTO near;
    RETURN CASE WHEN near THEN 'as in the table' ELSE 'another value' END;
EXCEPTION WHEN OTHERS THEN
    RETURN sqlstate || ': ' || sqlerrm;
END $$;
CREATE FUNCTION by_select(aggregate text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    near boolean;
BEGIN
    EXECUTE format('SELECT bool_and(abs(answer - truth) <= abs(truth) / 200 AND pg_typeof(answer) = pg_typeof(truth))
                      FROM (SELECT arm, %1$s AS truth FROM trial GROUP BY arm) t JOIN (SELECT arm, %1$s AS answer FROM trial_v GROUP BY arm) a USING (arm)', aggregate) INTO near;
    RETURN CASE WHEN near THEN 'as in the table' ELSE 'another value' END;
EXCEPTION WHEN OTHERS THEN
    RETURN sqlstate || ': ' || sqlerrm;
END $$;
SET SESSION AUTHORIZATION regress_ann;
SET pg_epsilon.epsilon = 1000;
SELECT aggregate, by_aggregate(aggregate), by_select(aggregate)
  FROM (SELECT DISTINCT format('%s(%s)', proname, CASE pronargs WHEN 2 THEN 'y, x' ELSE 'y' END) AS aggregate
          FROM pg_proc WHERE prokind = 'a' AND pronamespace = 'pg_catalog'::regnamespace AND proname ~ '^(var|stddev|covar|corr|regr)') a
 ORDER BY aggregate COLLATE "C";

-- Several in one request: quoted, published, with conditions
\set all '{var_pop(y),stddev_pop(y),"covar_samp(y, x)","covar_pop(y, x)","regr_count(y, x)","regr_avgx(y, x)","regr_avgy(y, x)","regr_intercept(y, x)","regr_r2(y, x) where (arm = ''a'') as r2"}'
SELECT aggregate, at_rows, stderr > 0 AS told FROM dp.quote_aggregate('trial', :'all', rho => 100, rows => 2000);
SELECT max(release) AS release FROM dp.aggregate('trial', :'all', rho => 2000) \gset
SELECT max(release) = :release AS replayed FROM dp.aggregate('trial', replace(:'all', ', ', ',')::text[], rho => 2000);
SET client_min_messages = error;
SELECT dp.publish(:release, 'pg_temp.of_trial');
SET client_min_messages = warning;
SELECT string_agg(attname, ' ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'of_trial'::regclass AND attnum > 0 AND attname !~ '_(stderr|lower95|upper95)$';
SELECT abs(o.regr_r2_y_x_where_1 - t.r2) < 7 * o.regr_r2_y_x_where_1_stderr + 0.001 AS r2, abs(o.regr_intercept_y_x - t.i) < 7 * o.regr_intercept_y_x_stderr + 0.01 AS intercept,
       abs(o.regr_count_y_x - t.n) < 7 * o.regr_count_y_x_stderr AS count, o.regr_intercept_y_x_stderr < 1 AS precise
  FROM of_trial o, (SELECT regr_r2(y, x) FILTER (WHERE arm = 'a') AS r2, regr_intercept(y, x) AS i, regr_count(y, x) AS n FROM trial) t;
SELECT abs(v.r2 - t.r2) < 0.05 AND abs(v.n - t.n) <= 2 AND v.none = t.none AND v.nothing IS NULL AS near
  FROM (SELECT regr_r2(y, x) FILTER (WHERE arm = 'a') AS r2, regr_count(x, y) AS n, regr_count(y, x) FILTER (WHERE arm > 'z') AS none, covar_pop(y, x) FILTER (WHERE false) AS nothing FROM trial_v) v,
       (SELECT regr_r2(y, x) FILTER (WHERE arm = 'a') AS r2, regr_count(x, y) AS n, 0 AS none FROM trial) t;
-- A count is first in a request that a standard error is set for, and is added up where groups are joined
SET pg_epsilon.epsilon = 0;
SET pg_epsilon.max_stderr = 0.03;
SELECT v.n = t.n AS same FROM (SELECT arm IN ('a', 'b') OR x > 50 AS any, regr_count(y, x) AS n FROM trial_v GROUP BY 1) v, (SELECT regr_count(y, x) AS n FROM trial) t;
SELECT refused($$SELECT covar_pop(y, x) FROM trial_v$$);

RESET SESSION AUTHORIZATION;
DROP OWNED BY regress_ann, regress_curator;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused(text);
DROP ROLE regress_curator, regress_ann;
