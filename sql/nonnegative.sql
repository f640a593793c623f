-- nonnegative => true: the same release, answers of counts that are not below 0.
CREATE EXTENSION pg_epsilon;
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;
\pset format unaligned
\pset footer off
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE people (age int, sex text);
INSERT INTO people SELECT 40 + i % 7, 'f' FROM generate_series(1, 600) i;
SELECT dp.create_dataset('people', 'people', 1000);
SELECT dp.add_attribute('people', 'age', 0, 100, 50, outside => 'other', nulls => 'cell');
SELECT dp.add_attribute('people', 'sex', '{f,m}', nulls => 'cell');
SELECT dp.grant_budget('people', 'regress_ann', 1000);
SET SESSION AUTHORIZATION regress_ann;

-- Cells by themselves.  48 of 52 cells are empty: with noise of deviation 7 some estimates are below 0
CREATE TEMP TABLE unbiased AS SELECT * FROM dp.histogram('people', 'age', rho => 0.01);
SELECT count(*) AS charges FROM dp.charges \gset
CREATE TEMP TABLE nonnegative AS SELECT * FROM dp.histogram('people', 'age', rho => 0.01, nonnegative => true);
SELECT count(*) = :charges AS free FROM dp.charges;
SELECT bool_or(u.estimate < 0) AS some_below_0, bool_and(n.estimate >= 0) AS none_below_0,
       bool_and(n.release = u.release AND n.label = u.label AND n.stderr = u.stderr) AS same_release,
       abs(sum(n.estimate) - sum(u.estimate)) < 1e-6 AS same_total,
       -- the nearest point: all cells above 0 are moved by the same
       max(u.estimate - n.estimate) FILTER (WHERE n.estimate > 0) - min(u.estimate - n.estimate) FILTER (WHERE n.estimate > 0) < 1e-6 AS moved_alike
  FROM unbiased u JOIN nonnegative n USING (query);
-- the interval is that without, cut off at 0, and holds the estimate
SELECT bool_and(n.lower95 = least(greatest(u.lower95, 0), n.estimate) AND n.upper95 = greatest(u.upper95, 0, n.estimate)) AS cut,
       bool_or(u.lower95 < 0) AS some_below_0, bool_and(n.lower95 >= 0) AS none_below_0
  FROM unbiased u JOIN nonnegative n USING (query);
-- a query with a negative weight may be below 0
SELECT bool_and(n.lower95 = least(u.lower95, n.estimate) AND n.upper95 = greatest(u.upper95, n.estimate)) AS not_cut
  FROM dp.histogram('people', 'sex', 'identity + matrix({{1,-1,0}})', rho => 0.01, nonnegative => true) n
  JOIN dp.histogram('people', 'sex', 'identity + matrix({{1,-1,0}})', rho => 0.01) u USING (query);
-- the same answer each time, paid for in either form
SELECT count(*) = 52 AS same FROM (SELECT * FROM dp.histogram('people', 'age', rho => 0.01, nonnegative => true) INTERSECT TABLE nonnegative) x;
CREATE TEMP TABLE first AS SELECT * FROM dp.histogram('people', 'sex', rho => 0.01, nonnegative => true);
SELECT replay FROM dp.quote('people', 'sex', rho => 0.01);
SELECT count(*) AS same_release FROM dp.histogram('people', 'sex', rho => 0.01) h JOIN first f USING (query, release);

-- Ranges: every range is the sum of its cells
CREATE TEMP TABLE ranges AS SELECT * FROM dp.histogram('people', '{age}', 'all_range', rho => 0.01, nonnegative => true);
CREATE TEMP TABLE bounds AS SELECT query, (label -> 'age' ->> 'from')::int / 2 AS first, (label -> 'age' ->> 'to')::int / 2 - 1 AS last, estimate FROM ranges;
SELECT count(*), bool_and(b.estimate >= 0) AS none_below_0,
       bool_and(abs(b.estimate - (SELECT sum(c.estimate) FROM bounds c WHERE c.first = c.last AND c.first BETWEEN b.first AND b.last)) < 1e-6) AS consistent
  FROM bounds b;
SELECT abs(n.estimate - u.estimate) < 1e-6 AS same_total, n.stderr = u.stderr AS same_stderr
  FROM ranges n JOIN dp.histogram('people', '{age}', 'all_range', rho => 0.01) u USING (query, release)
 WHERE n.label -> 'age' ->> 'from' = '0' AND n.label -> 'age' ->> 'to' = '100';
-- nearer to what was measured than the truth is, brought to the same total
SELECT sum((n.estimate - u.estimate) ^ 2) <= sum((t.n * total / 600 - u.estimate) ^ 2) AS nearer
  FROM dp.histogram('people', '{age}', 'identity(age)', rho => 0.01, nonnegative => true) n
  JOIN (SELECT query, estimate, sum(estimate) OVER () AS total
          FROM dp.histogram('people', '{age}', 'identity(age)', rho => 0.01)) u USING (query)
  CROSS JOIN LATERAL (SELECT CASE (n.label -> 'age' ->> 'from')::int WHEN 40 THEN 171 WHEN 42 THEN 172 WHEN 44 THEN 172 WHEN 46 THEN 85 ELSE 0 END AS n) t;
-- Margins measure less than the cells
SELECT count(*), bool_and(estimate >= 0) AS none_below_0,
       abs(sum(estimate) FILTER (WHERE label ? 'sex') - sum(estimate) FILTER (WHERE label ? 'age')) < 1e-6 AS consistent
  FROM dp.histogram('people', '{age,sex}', 'marginals(1)', rho => 0.01, nonnegative => true);
-- With a predicate; differences may be below 0
SELECT bool_and(estimate >= 0) AS none_below_0 FROM dp.histogram('people', 'age', rho => 0.01, predicate => 'sex = ''m''', nonnegative => true);
SELECT count(*) FROM dp.histogram('people', 'sex', 'matrix({{1,-1,0},{0,1,-1}})', rho => 0.01, nonnegative => true);

RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon;
DROP OWNED BY regress_curator, regress_ann;
DROP ROLE regress_curator, regress_ann;
