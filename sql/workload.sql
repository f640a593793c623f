-- Workloads: what every constructor asks, in which order, with which labels, and that the answers
-- are right.  With rho 2000 no standard error here is above 0.06: an estimate that is 0.5 off is eight
-- of them, a chance below 1e-15 for each of a thousand.
CREATE EXTENSION pg_epsilon;
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;
\pset format unaligned
\pset footer off
-- The rows that a label speaks of, counted by whoever may read them; thousands of counts, none worth a parallel worker.
CREATE FUNCTION truth(label jsonb) RETURNS bigint LANGUAGE plpgsql SET max_parallel_workers_per_gather = 0 AS $$
DECLARE
    k text; v jsonb; condition text := 'true'; counted bigint;
BEGIN
    FOR k, v IN SELECT * FROM jsonb_each(label) LOOP
        condition := condition || CASE
            WHEN v = 'null' THEN format(' AND %I IS NULL', k)
            WHEN v ? 'other' THEN format(' AND (%1$I < 0 OR %1$I > 100)', k)
            WHEN v ? 'from' THEN format(' AND %1$I >= %2$L AND %1$I %3$s %4$L', k, v ->> 'from',
                                        CASE WHEN (v ->> 'last')::boolean THEN '<=' ELSE '<' END, v ->> 'to')
            ELSE format(' AND %I = %L', k, v #>> '{}') END;
    END LOOP;
    EXECUTE 'SELECT count(*) FROM people WHERE ' || condition INTO counted;
    RETURN counted;
END $$;
-- All queries of a workload against the truth.
CREATE FUNCTION agrees(attributes text, workload text, predicate text DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
    SELECT format('%s queries, %s', count(*), CASE WHEN bool_and(abs(estimate - truth(label)) < 0.5 AND stderr < 0.06)
                  THEN 'all right' ELSE string_agg(format('%s %s %s %s', query, label, estimate, stderr), '; ')
                       FILTER (WHERE (abs(estimate - truth(label)) < 0.5 AND stderr < 0.06) IS NOT TRUE) END)
      FROM dp.histogram('people', attributes, workload, rho => 2000, predicate => predicate)
$$;
CREATE FUNCTION refused(attributes text, workload text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    m text; d text; h text;
BEGIN
    PERFORM dp.histogram('people', attributes, workload, rho => 1);
    RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS m = MESSAGE_TEXT, d = PG_EXCEPTION_DETAIL, h = PG_EXCEPTION_HINT;
    RETURN sqlstate || ': ' || m || coalesce(E'\n    DETAIL: ' || nullif(d, ''), '') || coalesce(E'\n    HINT: ' || nullif(h, ''), '');
END $$;
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE people (age int, sex text, smokes boolean, grade int, born date);
INSERT INTO people SELECT CASE WHEN i % 17 > 0 THEN i % 120 - 10 END, (ARRAY['m', 'f', NULL])[1 + i % 3], i % 5 < 2, 1 + i * i % 4,
       date '2020-01-01' + i % 90 FROM generate_series(1, 3000) i;
SELECT dp.create_dataset('people', 'people', 1e5);
SELECT dp.add_attribute('people', 'age', 0, 100, 10, outside => 'other', nulls => 'cell');
SELECT dp.add_attribute('people', 'sex', '{m,f}', nulls => 'cell');
SELECT dp.add_attribute('people', 'smokes');
SELECT dp.add_attribute('people', 'grade', '{1,2,3,4}');
SELECT dp.add_edges('people', 'born', '{2020-01-01,2020-02-01,2020-03-01,2020-04-01}');
SELECT dp.grant_budget('people', 'regress_curator', 1e5);
SELECT dp.grant_budget('people', 'regress_ann', 10, overcommit => true);

-- Labels and order
SELECT query, label FROM dp.quote_queries('people', 'grade', 'prefix', rho => 1);
SELECT query, label FROM dp.quote_queries('people', 'grade', 'all_range(grade)', rho => 1);
SELECT query, label FROM dp.quote_queries('people', 'grade', 'width_range(grade, 2)', rho => 1);
SELECT query, label FROM dp.quote_queries('people', 'age', 'ranges(age; 3-9, 0-4, 0-9)', rho => 1);
SELECT query, label FROM dp.quote_queries('people', 'smokes', 'all_range', rho => 1);
SELECT query, label FROM dp.quote_queries('people', 'born', 'prefix + total', rho => 1);
SELECT query, label FROM dp.quote_queries('people', '{age,smokes}', 'ranges(age; 0-4) * identity(smokes) + total', rho => 1);
SELECT query, label FROM dp.quote_queries('people', '{sex,smokes,grade}', 'marginals(1) + marginals(0)', rho => 1);
SELECT query, label FROM dp.quote_queries('people', '{smokes,grade}', '(identity(smokes) + total(smokes)) * ranges(grade; 0-1, 2-3)', rho => 1);
SELECT query, label FROM dp.quote_queries('people', '{smokes,grade}', 'identity(smokes) * (ranges(grade; 0-1) + total(grade))', rho => 1);
SELECT query, label FROM dp.quote_queries('people', '{smokes,grade}', 'matrix(grade; {{1,-1,0,0},{0,0,2,3}}) * identity(smokes)', rho => 1);
SELECT query, label FROM dp.quote_queries('people', 'smokes', 'matrix({{1,-1}})', rho => 1);
SELECT query, label FROM dp.quote_queries('people', '{smokes,grade}', 'matrix({{1,0,0,0,0,0,0,1},{1,1,1,1,-1,-1,-1,-1}})', rho => 1);

-- Ranges between edges: the same queries as between the cells, and the same canonical text
SELECT query, label FROM dp.quote_queries('people', 'age', 'ranges(age; 30..100, 0 .. 50, 0..1e2)', rho => 1);
SELECT query, label FROM dp.quote_queries('people', '{born,smokes}', 'ranges(born; ''2020-01-01''..''2020-03-01'', ''2020-03-01''..''April 1, 2020'') * identity(smokes)', rho => 1);
SELECT r.release = c.release AS same FROM dp.histogram('people', 'age', 'ranges(age; 30..100, 0..50)', rho => 3) r, dp.histogram('people', 'age', 'ranges(age; 3-9, 0-4)', rho => 3) c WHERE r.query = 1 AND c.query = 1;
SELECT DISTINCT workload FROM dp.releases WHERE workload LIKE 'ranges%';
SELECT 'ranges ( born ;''2020-01-01'' .. ''2020-02-01'' , 0-1,-5..5)'::dp.workload;
SELECT agrees('{age}', 'ranges(age; 30..100, 0..50)'), agrees('{born}', 'ranges(born; ''2020-01-01''..''2020-03-01'', 2-2)');

-- Answers
SELECT w AS workload, agrees('{age}', w) FROM unnest('{identity,total,prefix,all_range,prefix(10),"width_range(age, 3)","ranges(age; 3-9, 0-4)",all_range + identity,"identity + 3 * prefix(age)"}'::text[]) w;
SELECT w AS workload, agrees('{age,sex,smokes}', w) FROM unnest('{identity,all_range(age) * identity(sex),all_range(age) * identity(sex) + total,marginals(1),marginals(2),marginals(3),prefix(age) * all_range(smokes),total(age) + total(sex),prefix(age) * (identity(sex) + total(sex))}'::text[]) w;
-- Rows of a matrix: differences and sums
SELECT round(estimate) = (SELECT count(*) FILTER (WHERE grade = 1) - count(*) FILTER (WHERE grade = 2) FROM people) AS difference
  FROM dp.histogram('people', 'grade', 'matrix({{1,-1,0,0}})', rho => 2000);
SELECT bool_and(round(estimate) = (SELECT count(*) FILTER (WHERE grade = 1) * 3 - count(*) FILTER (WHERE grade = 4) FROM people p
                                    WHERE p.smokes = (label ->> 'smokes')::boolean)) AS both, count(*)
  FROM dp.histogram('people', '{grade,smokes}', 'matrix({{3,0,0,-1}}) * identity(2)', rho => 2000);
-- A query that counts nothing: 0, and known to be
SELECT estimate, stderr FROM dp.histogram('people', 'grade', 'matrix({{0,0,0,0},{1,1,1,1}})', rho => 2000) WHERE query = 1;

-- Canonical text: one request, however it is written; a weight changes the strategy, not the queries
SELECT count(*) AS charges FROM dp.charges \gset
SELECT count(*) FROM dp.histogram('people', '{age,sex}', '((PREFIX( "age" )*identity(sex)))+  ( total )', rho => 2);
SELECT count(*) FROM dp.histogram('people', '{age,sex}', 'prefix(age) * identity(sex) + total', rho => 2);
SELECT count(*) - :charges AS charges FROM dp.charges;
SELECT workload FROM dp.releases ORDER BY release DESC LIMIT 1;
SELECT count(*) FROM dp.histogram('people', '{age,sex}', '2.50*(prefix(age) * (identity(sex)+1e0 * total(sex))) + marginals( 01 )', rho => 2);
SELECT workload FROM dp.releases ORDER BY release DESC LIMIT 1;
-- The total is better known where it weighs more
SELECT (SELECT stderr FROM dp.quote_queries('people', 'age', 'total + all_range', rho => 1) WHERE query = 1) >
       (SELECT stderr FROM dp.quote_queries('people', 'age', '100 * total + all_range', rho => 1) WHERE query = 1) AS better;

-- Quotes: the optimum with its certificate, and what it gains over single cells
SELECT queries, cells, method, gap >= 0 AND gap <= 1e-6 AS certified, abs(objective / 16.44088734 - 1) < 1e-6 AS optimum, max_stderr > rms_stderr AS uneven
  FROM dp.quote('people', 'grade', 'all_range', rho => 1);
SELECT max_stderr <= 3 AND max_stderr > 2.999999 AS reached FROM dp.quote('people', 'age', 'all_range', max_stderr => 3);
SELECT max(q.stderr) = max(t.max_stderr) AS same_max, sqrt(avg(q.stderr ^ 2)) / max(t.rms_stderr) - 1 < 1e-12 AS same_rms
  FROM dp.quote_queries('people', 'age', 'all_range', rho => 1) q, dp.quote('people', 'age', 'all_range', rho => 1) t;

-- What a release determines besides is free; what it does not is refused
CREATE TEMP TABLE ranges AS SELECT * FROM dp.histogram('people', '{age,sex}', 'all_range(age) * identity(sex)', rho => 2000);
SELECT max(release) AS release FROM ranges \gset
SELECT count(*), bool_and(abs(a.estimate - r.estimate) < 1e-9 AND abs(a.stderr / r.stderr - 1) < 1e-9 AND a.label = r.label) AS same
  FROM dp.answer(:release, 'all_range(age) * identity(sex)') a JOIN ranges r USING (query);
SELECT bool_and(abs(estimate - truth(label)) < 0.5) AS right, count(*) FROM dp.answer(:release, 'prefix(age) + ranges(age; 2-7) * identity(sex)');
SELECT query, label FROM dp.answer(:release, 'ranges(age; 0-9) + ranges(age; 20..30)');
SELECT * FROM dp.answer(:release, 'total');      -- 'other' and NULL of age were not asked for
SELECT * FROM dp.cells(:release);
SELECT * FROM dp.answer(:release, 'prefix(born)');
SELECT * FROM dp.answer(:release, 'prefix(age');
SELECT * FROM dp.answer(-1, 'total');
SELECT release AS margins FROM dp.histogram('people', '{age,sex,smokes}', 'marginals(2)', rho => 2000) LIMIT 1 \gset
SELECT bool_and(abs(estimate - truth(label)) < 0.5) AS right, count(*) FROM dp.answer(:margins, 'marginals(2) + marginals(1) + total + prefix(age) * identity(sex)');
SELECT * FROM dp.answer(:margins, 'identity');
SELECT * FROM dp.answer(:margins, 'marginals(1) + prefix(age) * identity(sex) * identity(smokes)');

-- Errors
\set VERBOSITY default
SELECT * FROM dp.quote('people', '{age,sex}', 'prefix(sex)', rho => 1);
SELECT * FROM dp.quote('people', '{age,sex}', 'prefix(age) * prefix(age)', rho => 1);
SELECT * FROM dp.quote('people', '{age,grade}', 'all_range', rho => 1);
SELECT * FROM dp.quote('people', 'sex', 'all_range', rho => 1);
SELECT * FROM dp.quote('people', 'age', 'prefix(12)', rho => 1);
SELECT * FROM dp.quote('people', 'age', 'ranges(age; 3-12)', rho => 1);
SELECT * FROM dp.quote('people', 'age', 'ranges(age; 4-3)', rho => 1);
SELECT * FROM dp.quote('people', 'age', 'width_range(age, 11)', rho => 1);
SELECT * FROM dp.quote('people', 'age', 'ranges(age; 30..45)', rho => 1);
SELECT * FROM dp.quote('people', 'age', 'ranges(age; 30..10)', rho => 1);
SELECT * FROM dp.quote('people', 'age', 'ranges(age; ''30''..40.5)', rho => 1);
SELECT * FROM dp.quote('people', 'born', 'ranges(born; ''2020-01-01''..''2020-05-01'')', rho => 1);
SELECT * FROM dp.quote('people', 'born', 'ranges(born; ''2020-01-01''..''soon'')', rho => 1);
SELECT * FROM dp.quote('people', 'grade', 'ranges(grade; 1..4)', rho => 1);
SELECT * FROM dp.optimize('ranges(10; 1..4)');
SELECT * FROM dp.quote('people', 'age', 'matrix({{1,2},{3}})', rho => 1);
SELECT * FROM dp.quote('people', 'age', 'matrix({{1,2},{3,4}})', rho => 1);
SELECT * FROM dp.quote('people', 'age', 'matrix({{1.5}})', rho => 1);
SELECT * FROM dp.quote('people', 'age', '0 * total', rho => 1);
SELECT * FROM dp.quote('people', 'age', '2 total', rho => 1);
SELECT * FROM dp.quote('people', '{age,sex}', 'marginals(3)', rho => 1);
SELECT * FROM dp.quote('people', '{age,sex}', 'identity * total(age)', rho => 1);
SELECT * FROM dp.quote('people', '{age,sex}', 'prefix(age) + identity(born)', rho => 1);
SELECT * FROM dp.quote('people', 'grade', 'matrix({{0,0,0,0}})', rho => 1);
\set VERBOSITY terse
SELECT refused('age', repeat('(', 100) || 'total' || repeat(')', 100));
SELECT refused('age', 'all_range' || repeat(' + all_range', 70000));
SELECT refused('age', repeat('x', 2000000));
SELECT * FROM dp.quote('people', 'age', 'all_range', rho => 1, method => 'best');

-- What others asked is not for everybody to see
RESET SESSION AUTHORIZATION;
SELECT max(id) AS strategy FROM dp_ledger.strategy WHERE attributes IS NOT NULL \gset
SELECT array_ndims(dp.strategy_matrix(:strategy)) AS for_superusers;
SET SESSION AUTHORIZATION regress_ann;
\set VERBOSITY sqlstate
SELECT dp.strategy_matrix(:strategy);
RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon;
DROP TABLE people, ranges;
DROP FUNCTION truth(jsonb), agrees(text, text, text), refused(text, text);
REVOKE CREATE ON SCHEMA public FROM regress_curator;
DROP ROLE regress_curator, regress_ann;
