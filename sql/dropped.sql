-- What the cut of units left out: `dropped` of dp.aggregate, and what SELECT says of it.
-- Of each unit at most c rows are counted: noise of rho 100 c^2, or 16 times that beside other aggregates, has variance 1/200.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator, regress_ann;
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_curator;
-- patient i has i rows; those of ward 3, and those of nobody, never count
CREATE TABLE visits (patient int, ward int, age int, cost int NOT NULL, day date, weight int);
INSERT INTO visits SELECT i, j % 4, 10 * (j % 3), i + j, '2026-01-10'::date + 30 * (j % 2), i FROM generate_series(1, 8) i, generate_series(1, i) j;
INSERT INTO visits SELECT NULL, 1, 10, 1, '2026-01-10', 1 FROM generate_series(1, 50);
CREATE FUNCTION register(name text, rows int, neighbours text DEFAULT 'add_remove', accounting text DEFAULT 'gdp') RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TABLE %I AS TABLE visits; ALTER TABLE %1$I ALTER cost SET NOT NULL', name || '_rows');
    PERFORM dp.create_dataset(name, name || '_rows', 1e5, unit => 'patient', max_rows => rows, neighbours => neighbours, accounting => accounting),
            dp.add_attribute(name, 'ward', ARRAY[0, 1, 2]), dp.add_attribute(name, 'age', 0, 30, 3), dp.add_attribute(name, 'cost', 0, 20, 4),
            dp.grant_budget(name, 'regress_ann', 1e5);
END $$;
-- rows beyond k, at most c of each unit: PostgreSQL's own numbering of those that a condition leaves
CREATE FUNCTION beyond(k int, c int, condition text) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    r bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM (SELECT row_number() OVER (PARTITION BY patient) n FROM visits WHERE patient IS NOT NULL AND (%s)) x WHERE n > %s AND n <= %s', condition, k, k + c) INTO r;
    RETURN r;
END $$;
SELECT register('three', 3), register('few', 3), register('priced', 3), register('replaced', 3, 'substitute'), register('pure', 2, 'substitute', 'pure'), register('read', 2);
CREATE TABLE sole AS TABLE visits;
SELECT dp.create_dataset('sole', 'sole', 1), dp.add_attribute('sole', 'ward', ARRAY[0, 1, 2]), dp.grant_budget('sole', 'regress_ann', 1);
CREATE TABLE months AS TABLE visits;
SELECT dp.create_dataset('months', 'months', 1e4, unit => 'patient', max_rows => 1, block => '1 month', block_column => 'day', max_blocks => 2);
SELECT dp.add_edges('months', 'day', '{2026-01-01,2026-02-01,2026-03-01}', outside => 'drop'), dp.set_time('months', 'day', append_only => true), dp.grant_budget('months', 'regress_ann', 1e4);
SET SESSION AUTHORIZATION regress_ann;

-- As many of each unit as count, unless it is said; shown once, with the label of all groups together
SELECT label, aggregate, round(estimate::numeric) AS estimate, beyond(0, 3, 'true') AS left, beyond(3, 3, 'true') AS beyond FROM dp.aggregate('three', '{count(*),dropped}', rho => 14400);
SELECT label - 'ward' AS label, aggregate, round(sum(estimate)::numeric) AS estimate, count(*) AS groups FROM dp.aggregate('three', '{dropped(1),count(*),dropped as more,avg(cost)}', '{ward}', rho => 28800) WHERE aggregate !~ 'avg' GROUP BY 1, 2 ORDER BY 2;
SELECT beyond(3, 1, 'ward < 3'), beyond(3, 3, 'ward < 3') AS more, beyond(0, 3, 'ward < 3') AS left;
-- what counts and what was dropped are all rows that the predicate leaves
SELECT round(sum(estimate)::numeric) AS all_rows, beyond(0, 1000, 'ward < 3 AND age < 20')
  FROM dp.aggregate('three', '{count(*),dropped(4)}', '{ward}', 'age < 20', rho => 25600);
SET SESSION AUTHORIZATION regress_curator;
SELECT register('more', 3), register('tables', 3);
SET SESSION AUTHORIZATION regress_ann;
-- any cut, any predicate
SELECT count(*), bool_and(round(estimate::numeric) = beyond(k, c, coalesce(predicate, 'true'))) AS as_postgres
  FROM generate_series(1, 3) k, unnest(ARRAY[1, 2, 6]) c, unnest(ARRAY[NULL, 'ward = 1', 'age >= 10 AND cost < 15']) predicate,
       dp.aggregate('few', format('{dropped(%s)}', c), '{}', predicate, rows_per_unit => k, rho => 100 * c * c);
-- groups that are measured by blocks, and sets of groups
SELECT label, round(estimate::numeric) AS estimate FROM dp.aggregate('tables', '{dropped(5),count(*)}', '{ward,age}', workload => 'marginals(1)', rho => 40000) WHERE aggregate ~ 'dropped';
SELECT beyond(3, 5, 'ward < 3');
-- blocks of time: of those that are charged
SELECT round(sum(estimate)::numeric) AS dropped, beyond(1, 2, $$day < '2026-02-01'$$)
  FROM dp.aggregate('months', '{dropped(2)}', '{}', $$day < '2026-02-01'$$, rho => 400);
-- where (...): those of the same rows that it is true of
SELECT beyond(3, 3, 'ward < 3'), round(max(estimate)::numeric) AS dropped, round(sum(estimate)::numeric) AS twice FROM dp.aggregate('more', ARRAY['dropped where (ward <= 1)', 'dropped where (ward = 2)', 'dropped'], '{}', 'ward <= 2', rho => 2700);
-- the rows that count are the same, whether or not what was dropped is counted
SELECT count(*), bool_and(round(a.estimate::numeric) = round(b.estimate::numeric)) AS same
  FROM dp.aggregate('more', '{count(*)}', '{ward}', rho => 1000) a JOIN dp.aggregate('more', '{count(*),dropped}', '{ward}', rho => 1000) b USING (label, aggregate);
-- neighbours by substitution, and a pure budget
SELECT aggregate, round(estimate::numeric) AS estimate FROM dp.aggregate('replaced', '{count(*),dropped}', rho => 14400);
SELECT aggregate, round(estimate::numeric) AS estimate, beyond(2, 2, 'true') FROM dp.aggregate('pure', '{dropped,count(*)}', epsilon => 4000);

-- A sixteenth of the cost: errors of others are 3.3 % larger, and its own is four times that of a count of all
SELECT q.aggregate, round((q.stderr / alone.stderr)::numeric, 4) AS times
  FROM dp.quote_aggregate('priced', '{count(*),dropped}', rho => 1) q, dp.quote_aggregate('priced', '{count(*)}', rho => 1) alone;
SELECT q.aggregate, round((q.stderr / alone.stderr)::numeric, 4) AS times
  FROM dp.quote_aggregate('priced', '{count(*),dropped(12),dropped}', rho => 1) q, dp.quote_aggregate('priced', '{count(*)}', rho => 1) alone;
SELECT q.aggregate, round((q.stderr / alone.stderr)::numeric, 4) AS times FROM dp.quote_aggregate('priced', '{dropped(3)}', rho => 1) q, dp.quote_aggregate('priced', '{count(*)}', rho => 1) alone;
SELECT aggregate, round(stderr::numeric, 3) AS stderr, groups FROM dp.quote_aggregate('priced', '{count(*),dropped}', '{ward}', max_stderr => 2);
SELECT aggregate, round(stderr::numeric, 3) AS stderr FROM dp.quote_aggregate('priced', '{dropped,count(*)}', '{ward}', max_stderr => 2);

-- Replays, what is known already, and stored releases
SELECT count(*) AS charges FROM dp.charges \gset
SELECT max(release) AS release, max(estimate) FILTER (WHERE aggregate ~ 'dropped') AS dropped FROM dp.aggregate('priced', '{count(*),dropped(4)}', '{ward}', rho => 2) \gset
SELECT aggregate, estimate = :dropped AS same, release = :release AS replayed FROM dp.aggregate('priced', '{count(*),dropped(4)}', '{ward}', rho => 2) WHERE aggregate ~ 'dropped';
SELECT aggregate, estimate = :dropped AS same, release = :release AS reused FROM dp.aggregate('priced', '{dropped(4)}', '{ward}', rho => .01, reuse => true);
SELECT count(*) - :charges AS charged FROM dp.charges;
SELECT aggregate, release = :release AS reused FROM dp.aggregate('priced', '{dropped(3)}', '{ward}', rho => .01, reuse => true);
SELECT aggregate, release = :release AS reused FROM dp.aggregate('priced', '{dropped(4)}', '{ward}', rho => .01, rows_per_unit => 2, reuse => true);
SELECT count(*) - :charges AS charged FROM dp.charges;
SELECT aggregate, replay FROM dp.quote_aggregate('priced', '{count(*),dropped(4)}', '{ward}', rho => 2);
SELECT dp.publish(:release, 'published');
SELECT count(*), bool_and(dropped = :dropped AND dropped_lower95 < dropped) AS same FROM published;
SELECT count(*) AS counts FROM dp.answer(:release, 'identity');
DROP TABLE published;

-- A SELECT is asked to count them by an option of the foreign table, and says so
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.add_attribute('read', 'weight', 0, 20, 1);
SELECT dp.expose('read', 'v', epsilon => 20000);
GRANT SELECT ON v TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SET client_min_messages = notice;
SELECT round(count(*)) AS count FROM v;
RESET SESSION AUTHORIZATION;
ALTER FOREIGN TABLE v_foreign OPTIONS (ADD count_dropped '3');
SET SESSION AUTHORIZATION regress_ann;
EXPLAIN (COSTS OFF) SELECT ward, count(*), avg(cost) FROM v GROUP BY ward;
SELECT round(sum(count)) AS count FROM (SELECT ward, count(*) AS count FROM v GROUP BY ward) x;
SELECT round(sum(count)) AS count FROM (SELECT ward, count(*) AS count FROM v GROUP BY ward) x;
SELECT beyond(2, 3, 'ward < 3');
SELECT max(ward) FROM v;
-- a quantile of a column with a single bin is asked for by itself
EXPLAIN (COSTS OFF) SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY weight), dp.median(weight) FROM v;
SET client_min_messages = warning;
RESET SESSION AUTHORIZATION;
\t on
SELECT refused($$ALTER FOREIGN TABLE v_foreign OPTIONS (SET count_dropped '0')$$);
SELECT refused($$ALTER FOREIGN TABLE v_foreign OPTIONS (ADD counts_dropped '1')$$);

-- Refused, and nothing is charged
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) AS charges FROM dp.charges \gset
SELECT refused(format('SELECT * FROM dp.aggregate(%L, ARRAY[%L], rho => 1)', 'priced', a))
  FROM unnest(ARRAY['dropped(0)', 'dropped(65536)', 'dropped(-1)', 'dropped()', 'dropped(ward)', 'ratio(dropped, count(*))', 'sum(dropped)']) a;
SELECT refused($$SELECT * FROM dp.aggregate('priced', '{dropped,count(*)}', rho => 1, rows_per_unit => 6)$$);
SELECT refused($$SELECT * FROM dp.aggregate('sole', '{dropped,count(*)}', rho => 1)$$);
SELECT refused($$SELECT * FROM dp.quote_series('months', '{}', start => '2026-01-01', period => '10 days', periods => 4, rho => 1, aggregates => '{count(*),dropped}')$$);
SELECT count(*) = :charges AS free FROM dp.charges;
\t off
RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused;
SET client_min_messages = error;
DROP OWNED BY regress_curator, regress_ann CASCADE;
DROP ROLE regress_curator, regress_ann;
