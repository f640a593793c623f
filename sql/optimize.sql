-- dp.optimize and the matrices: no data, everybody may ask.
CREATE EXTENSION pg_epsilon;
CREATE ROLE regress_ann;
SET client_min_messages = warning;
\pset format unaligned
\pset footer off
SET SESSION AUTHORIZATION regress_ann;

-- Optima that are known, each to 1e-6 and with a certificate of the integers
CREATE TEMP TABLE known (workload text, optimum float8, rank int);
INSERT INTO known VALUES
    ('all_range(2)', 2 + sqrt(3), 2), ('all_range(64)', 11024.3815, 64), ('all_range(256)', 276929.3084, 256),
    ('prefix(2)', ((1 + sqrt(5)) / 2) ^ 2, 2), ('prefix(64)', 282.2014211, 64), ('prefix(256)', 1631.403045, 256),
    ('identity(64)', 64, 64), ('total(64) + identity(64)', (63 + sqrt(65)) ^ 2 / 64, 64),
    ('prefix(16) * prefix(16)', 45.66535681 ^ 2, 256), ('all_range(16) * identity(4)', 1652.560867, 64),
    ('identity(2) * identity(3) * total(5) + identity(2) * total(3) * identity(5) + total(2) * identity(3) * identity(5)', 61.46296197, 22),
    ('identity(10) * total(10) + total(10) * identity(10)', 37.69116882, 19),
    ('matrix({{1,1},{0,1},{1,0}})', 2 + sqrt(3), 2);
SELECT k.workload, o.size, o.rank = k.rank AS rank, abs(o.objective / k.optimum - 1) < 1e-6 AS optimal, o.lower_bound <= k.optimum * (1 + 1e-9) AS bounded,
       o.gap >= 0 AND o.gap <= 1e-6 AS certified, abs(o.gap - (o.objective / o.lower_bound - 1)) < 1e-12 AS gap, o.iterations < 15 AS quick, method
  FROM known k, dp.optimize(k.workload) o;
-- It is kept: the same strategy again, to everybody
SELECT count(DISTINCT strategy) AS strategies FROM generate_series(1, 3), dp.optimize('prefix(8)');
SELECT a.strategy = b.strategy AS same FROM dp.optimize('prefix( 8 )') a, dp.optimize('(prefix(8))', gap => 0.1) b;
SELECT a.strategy = b.strategy AS same FROM dp.optimize('prefix(8)') a, dp.optimize('prefix(8) + prefix(8)') b;

-- Every method: none is below the bound, and by how much each is above it (in standard errors, to three digits where it is known)
CREATE TEMP TABLE method (method text, norm text, prefix64 text, all_range2 text);
INSERT INTO method VALUES ('optimal', 'l2', '1.000', '1.000'), ('coa', 'l2', '1.000', '1.000'), ('direct', 'l2', '3.810', '1.268'), ('identity', 'l2', '2.715', '1.035'),
    ('wavelet', 'l2', '1.193', '1.035'), ('hierarchical', 'l2', '1.199', '1.035'), ('adaptive', 'l2', NULL, '1.000'), ('smoothing', 'l2', '1.000', '1.000'), ('lowrank', 'l2', '1.000', '1.000'),
    ('optimal', 'l1', NULL, NULL), ('direct', 'l1', NULL, NULL), ('identity', 'l1', '2.715', '1.035'), ('wavelet', 'l1', NULL, NULL), ('hierarchical', 'l1', NULL, NULL), ('lowrank', 'l1', NULL, NULL);
SELECT m.method, norm, bool_and(o.method = m.method AND o.objective >= o.lower_bound AND o.gap = o.objective / o.lower_bound - 1 AND o.milliseconds >= 0) AS told,
       bool_and(round(sqrt(objective / optimum)::numeric, 3) = ratio::numeric) AS known
  FROM (SELECT method, norm, prefix64, 'prefix(64)', 282.2014211 FROM method UNION ALL SELECT method, norm, all_range2, 'all_range(2)', 2 + sqrt(3) FROM method) m(method, norm, ratio, workload, optimum),
       dp.optimize(m.workload, m.method, norm => m.norm) o GROUP BY m.method, norm ORDER BY norm DESC, m.method;
-- An L1 norm is not below the L2 norm
SELECT a.objective >= b.lower_bound AS bounded, a.objective <= i.objective AS no_worse FROM dp.optimize('all_range(32)', norm => 'l1') a, dp.optimize('all_range(32)') b, dp.optimize('all_range(32)', 'identity', norm => 'l1') i;
-- Each is kept by itself
SELECT count(*) AS asked, count(DISTINCT strategy) AS strategies FROM method m, dp.optimize('all_range(2)', m.method, norm => m.norm);
SELECT count(DISTINCT strategy) FROM (SELECT strategy FROM dp.optimize('prefix(8)') UNION ALL SELECT strategy FROM dp.optimize('prefix(8)', objective => 'max')) s;
SELECT a.strategy = b.strategy AS same FROM dp.optimize('prefix(8)', objective => 'max') a, dp.optimize('prefix(8)', objective => 'max', gap => 0.1) b;
-- Under substitution: what is told is of its sensitivity; a strategy of its own, better than the other one (which coa measures), and kept by itself
SELECT m.method, norm, bool_and(s.objective BETWEEN a.objective AND 4 * a.objective) AS larger, bool_and(s.objective >= s.lower_bound AND s.gap = s.objective / s.lower_bound - 1) AS told,
       bool_and(s.lower_bound >= a.lower_bound * (1 - 1e-3)) AS bounded, bool_and(s.strategy <> a.strategy) AS kept
  FROM (SELECT DISTINCT method, norm FROM method) m, dp.optimize('all_range(16)', m.method, norm => m.norm) a, dp.optimize('all_range(16)', m.method, norm => m.norm, neighbours => 'substitute') s
  GROUP BY m.method, norm ORDER BY norm DESC, m.method;
SELECT w AS workload, round((c.objective / a.objective)::numeric, 2) AS same, round((s.objective / a.objective)::numeric, 2) AS substitute, s.gap <= 2e-3 AS certified
  FROM (VALUES ('all_range(16)'), ('prefix(16)'), ('identity(10) * total(10) + total(10) * identity(10)')) v(w),
       dp.optimize(w) a, dp.optimize(w, 'coa', neighbours => 'substitute') c, dp.optimize(w, gap => 1e-3, neighbours => 'substitute') s;
SELECT w AS workload, rank, round(objective::numeric, 4) AS objective, gap
  FROM (VALUES ('identity(2)'), ('identity(10)'), ('identity(3) * total(4)'), ('total(4)')) v(w), dp.optimize(w, neighbours => 'substitute');
SELECT dp.strategy_matrix(strategy) FROM dp.optimize('identity(3)', neighbours => 'substitute');
SELECT o.objective >= o.lower_bound AND o.objective BETWEEN 1 * a.objective AND 2.1 * a.objective AS told FROM dp.optimize('prefix(8)', objective => 'max') a, dp.optimize('prefix(8)', objective => 'max', neighbours => 'substitute') o;

-- The largest variance: certified, and the mean where all queries are alike
SELECT w AS workload, o.objective >= o.lower_bound AND o.gap <= 1e-6 AS certified, abs(o.objective * s.queries / t.objective - 1) < 2e-6 AS alike
  FROM (VALUES ('identity(6)', 6), ('total(7)', 1), ('identity(3) * total(4)', 3), ('width_range(1, 1)', 1)) s(w, queries), dp.optimize(w, objective => 'max') o, dp.optimize(w) t;
SELECT o.gap <= 1e-6 AS certified, o.objective >= t.lower_bound / 64 AS above_the_least_mean
  FROM dp.optimize('prefix(64)', objective => 'max') o, dp.optimize('prefix(64)') t;

-- The matrices
SELECT dp.workload_matrix('all_range(3)');
SELECT dp.workload_matrix('prefix(2) * identity(2) + 5 * total(2)');
SELECT dp.workload_matrix('width_range(4, 2) + ranges(4; 0-3, 1-1)');
SELECT dp.workload_matrix('matrix({{1,-2},{0,3}}) * total(2)');
SELECT dp.gram('all_range(3)');
SELECT dp.gram('total(2) + 2 * identity(2)');
SELECT dp.gram('prefix(2) * identity(2)');
SELECT dp.strategy_matrix(strategy) FROM dp.optimize('identity(3)');
SELECT dp.strategy_matrix(strategy) FROM dp.optimize('ranges(6; 0-1, 4-5)');
-- The certificate, computed again in SQL from the strategy itself for two cells: F = max column norm^2 tr(W (A'A)^-1 W')
WITH a AS (SELECT dp.strategy_matrix(strategy) AS a, objective FROM dp.optimize('all_range(2)')),
     g AS (SELECT a[1][1] ^ 2 + a[2][1] ^ 2 AS x, a[1][1] * a[1][2] + a[2][1] * a[2][2] AS z, a[1][2] ^ 2 + a[2][2] ^ 2 AS y, objective FROM a)
SELECT abs(greatest(x, y) * ((y + x) + (x + y - 2 * z)) / (x * y - z * z) / objective - 1) < 1e-12 AS objective FROM g;

-- Errors
SELECT * FROM dp.optimize('identity');
SELECT * FROM dp.optimize('prefix');
SELECT * FROM dp.optimize('prefix(age)');
SELECT * FROM dp.optimize('prefix(4) * identity(3) + prefix(5)');
SELECT * FROM dp.optimize('prefix(0)');
SELECT * FROM dp.optimize('all_range(5000)');
SELECT * FROM dp.optimize('identity(1048577)');
SELECT * FROM dp.optimize('identity(99999999999999999999)');
SELECT * FROM dp.optimize(NULL);
SELECT * FROM dp.optimize('prefix(4)', gap => 0);
SELECT * FROM dp.optimize('prefix(4)', gap => 'NaN');
SELECT * FROM dp.optimize('prefix(4)', objective => 'least');
SELECT * FROM dp.optimize('prefix(4)', objective => NULL);
SELECT * FROM dp.optimize('prefix(4)', objective => 'max', norm => 'l1');
SELECT * FROM dp.optimize('prefix(4)', objective => 'max', method => 'identity');
SELECT * FROM dp.optimize('prefix(4)', norm => 'l3');
SELECT * FROM dp.optimize('prefix(4)', neighbours => 'values');
SELECT * FROM dp.optimize('prefix(4)', neighbours => NULL);
SELECT * FROM dp.optimize('prefix(4)', method => 'best');
SELECT * FROM dp.optimize('prefix(4)', method => 'adaptive', norm => 'l1');
SELECT * FROM dp.optimize('prefix(4)', method => 'dawa');
SELECT dp.strategy_matrix(999999);
SELECT dp.workload_matrix('all_range(4000)');
SELECT dp.workload_matrix('prefix(3');
SELECT dp.gram('identity(20000)');
SELECT size, rank, objective, lower_bound, gap FROM dp.optimize('identity(100000) * total(10)');

DROP TABLE known, method;
RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon;
DROP ROLE regress_ann;
