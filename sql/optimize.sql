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
SELECT * FROM dp.optimize('prefix(4)', objective => 'max');
SELECT * FROM dp.optimize('prefix(4)', objective => 'least');
SELECT * FROM dp.optimize('prefix(4)', norm => 'l1');
SELECT * FROM dp.optimize('prefix(4)', method => 'coa');
SELECT dp.strategy_matrix(999999);
SELECT dp.workload_matrix('all_range(4000)');
SELECT dp.workload_matrix('prefix(3');
SELECT dp.gram('identity(20000)');
SELECT size, rank, objective, lower_bound, gap FROM dp.optimize('identity(100000) * total(10)');

DROP TABLE known;
RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon;
DROP ROLE regress_ann;
