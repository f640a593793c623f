-- The methods of strategies where they measure: dp.histogram, dp.quote and what follows from a release.
-- An estimate is more than 10 standard errors off with a chance below 1e-22 (Gaussian noise), or 30 with one below 1e-15 (Laplace noise).
CREATE EXTENSION pg_epsilon;
CREATE ROLE regress_curator;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;
\pset format unaligned
\pset footer off
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE t (x int, sex text);
INSERT INTO t SELECT i % 64, (ARRAY['f', 'm'])[1 + i % 2] FROM generate_series(1, 5000) i;
SELECT dp.create_dataset('d', 't', 1e5);
SELECT dp.add_attribute('d', 'x', 0, 64, 16);
SELECT dp.add_attribute('d', 'sex', '{f,m}');
SELECT dp.grant_budget('d', 'regress_curator', 1e5);
CREATE TABLE p (x int);
INSERT INTO p SELECT i % 64 FROM generate_series(1, 5000) i;
SELECT dp.create_dataset('p', 'p', 1e5, accounting => 'pure');
SELECT dp.add_attribute('p', 'x', 0, 64, 64, last => 'open');
SELECT dp.grant_budget('p', 'regress_curator', 1e5, accounting => 'pure');
CREATE TABLE z (x int);
SELECT dp.create_dataset('z', 'z', 1);
SELECT dp.add_attribute('z', 'x', 0, 64, 64, last => 'open');
CREATE TEMP TABLE method (method text, pure boolean);
INSERT INTO method SELECT m, false FROM unnest('{optimal,coa,direct,identity,wavelet,hierarchical,adaptive,smoothing,lowrank}'::text[]) m;
INSERT INTO method SELECT m, true FROM unnest('{optimal,direct,identity,wavelet,hierarchical,lowrank}'::text[]) m;

-- Gaussian noise
CREATE TEMP TABLE answer AS SELECT m.method, h.* FROM method m,
    dp.histogram('d', '{x,sex}', 'all_range(x) * identity(sex) + total', rho => 1, method => m.method) h WHERE NOT pure;
CREATE TEMP TABLE truth AS SELECT query, (SELECT count(*) FROM t WHERE (a.label -> 'x') IS NULL OR (x >= (label #>> '{x,from}')::int AND x < (label #>> '{x,to}')::int AND sex = label ->> 'sex')) AS truth
  FROM answer a WHERE method = 'optimal';
SELECT method, count(*) AS queries, bool_and(abs(estimate - truth) < 10 * stderr) AS right, bool_and(stderr BETWEEN 0.3 AND 10) AS stderr, count(DISTINCT release) AS releases
  FROM answer JOIN truth USING (query) GROUP BY method ORDER BY method;
-- what was quoted is what they have; each has its own request, and the same again is a replay
SELECT q.method, abs(max(a.stderr) / q.max_stderr - 1) < 1e-9 AS max, abs(sqrt(avg(a.stderr ^ 2)) / q.rms_stderr - 1) < 1e-9 AS rms, q.objective >= q.lower_bound AS bounded, q.replay
  FROM answer a JOIN method m USING (method), dp.quote('d', '{x,sex}', 'all_range(x) * identity(sex) + total', rho => 1, method => m.method) q WHERE NOT pure
 GROUP BY q.method, q.max_stderr, q.rms_stderr, q.objective, q.lower_bound, q.replay ORDER BY q.method;
SELECT bool_and(a.estimate = h.estimate AND a.release = h.release) AS replayed FROM answer a JOIN method m USING (method),
       dp.histogram('d', '{x,sex}', 'all_range(x) * identity(sex) + total', rho => 1, method => m.method) h WHERE NOT m.pure AND h.query = a.query;
SELECT method, workload FROM dp.releases ORDER BY release;
-- what the measurements determine: of the queries alone, nothing but them
SELECT max(release) FILTER (WHERE method = 'direct') AS direct, max(release) FILTER (WHERE method = 'identity') AS single, max(release) FILTER (WHERE method = 'smoothing') AS smoothing FROM answer \gset
SELECT bool_and(abs(a.estimate - t.truth) < 10 * a.stderr) AS right FROM unnest(ARRAY[:single, :smoothing]) r, dp.answer(r, 'all_range(x) * identity(sex) + total') a JOIN truth t USING (query);
SELECT count(*), bool_and(abs(estimate - 2500) < 10 * stderr) AS right FROM dp.answer(:single, 'identity(sex)');
SELECT count(*) FROM dp.cells(:single);
SELECT bool_and(a.estimate = h.estimate) AS same FROM dp.answer(:direct, 'all_range(x) * identity(sex) + total') a JOIN answer h USING (query) WHERE h.method = 'direct';
-- nor a part of them; where each cell is counted once, they are the cells
SELECT * FROM dp.answer(:direct, 'total');
SELECT * FROM dp.cells(:direct);
SELECT bool_and(abs(a.estimate - t.truth) < 10 * a.stderr) AS right FROM dp.histogram('d', '{x,sex}', rho => 1, method => 'direct') h,
       LATERAL dp.answer(h.release, 'all_range(x) * identity(sex) + total') a JOIN truth t USING (query) WHERE h.query = 1;
-- counts that are not negative
SELECT method, bool_and(estimate >= 0) AS nonnegative, bool_and(abs(estimate - truth) < 10 * stderr) AS right
  FROM method m, dp.histogram('d', '{x,sex}', 'all_range(x) * identity(sex) + total', rho => 1, method => m.method, nonnegative => true) JOIN truth USING (query) WHERE NOT pure AND method <> 'direct' GROUP BY method ORDER BY method;
SELECT * FROM dp.histogram('d', 'x', rho => 1, method => 'direct', nonnegative => true);
-- single cells: counted themselves, as the optimum does
SELECT q.method, objective, lower_bound, gap FROM method m, dp.quote('d', '{x,sex}', rho => 1, method => m.method) q WHERE NOT pure AND m.method IN ('optimal', 'identity', 'direct') ORDER BY q.method;
-- a predicate leaves fewer cells: those of it are asked
SELECT m.method, bool_and(abs(estimate - truth) < 10 * stderr) AS right FROM method m, dp.histogram('d', 'x', 'ranges(x; 0-3, 2-15)', rho => 1, method => m.method, predicate => $$sex = 'f'$$) h
       JOIN (VALUES (1, (SELECT count(*) FROM t WHERE sex = 'f' AND x < 16)), (2, (SELECT count(*) FROM t WHERE sex = 'f' AND x >= 8))) v(query, truth) USING (query) WHERE NOT pure GROUP BY m.method ORDER BY m.method;
SELECT m.method, bool_and(abs(estimate - truth) < 10 * stderr) AS right FROM method m, dp.histogram('d', '{x,sex}', 'prefix(x) + total', rho => 1, method => m.method, predicate => 'x < 8') h
       JOIN (SELECT query, CASE query WHEN 1 THEN (SELECT count(*) FROM t WHERE x < 4) ELSE (SELECT count(*) FROM t WHERE x < 8) END FROM generate_series(1, 17) query) v(query, truth) USING (query) WHERE NOT pure GROUP BY m.method ORDER BY m.method;

-- Laplace noise
SELECT m.method, count(*) AS queries, bool_and(abs(estimate - (SELECT count(*) FROM p WHERE x < (label #>> '{x,to}')::int)) < 30 * stderr) AS right, bool_and(stderr > 0.01) AS stderr
  FROM method m, dp.histogram('p', 'x', 'prefix', epsilon => 2, method => m.method) h WHERE pure GROUP BY m.method ORDER BY m.method;
SELECT q.method, objective > 0 AS objective, lower_bound, gap FROM method m, dp.quote('p', 'x', 'prefix', epsilon => 1, method => m.method) q WHERE pure ORDER BY q.method;
SELECT * FROM dp.quote('p', 'x', 'prefix', epsilon => 1, method => 'coa');
SELECT * FROM dp.quote('p', 'x', 'prefix', epsilon => 1, method => 'smoothing');
SELECT * FROM dp.quote('d', 'x', 'prefix', epsilon => 1, method => 'dawa');

-- The smallest possible largest error is at least a tenth below that of the least sum
SELECT o.objective < 0.9 * q.max_stderr ^ 2 * 2 * q.rho AS a_tenth_below FROM dp.optimize('prefix(64)', objective => 'max') o, dp.quote('z', 'x', 'prefix', rho => 1) q;

DROP TABLE answer, truth, method;
RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon;
DROP OWNED BY regress_curator;
DROP ROLE regress_curator;
