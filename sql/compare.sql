-- dp.compare: every method's expected error beside the bound of all, without data.
CREATE EXTENSION pg_epsilon;
CREATE ROLE regress_ann;
SET client_min_messages = warning;
\pset format unaligned
\pset footer off
SET SESSION AUTHORIZATION regress_ann;

-- Who is listed: what goes with the noise, and dawa where there is an example for it
SELECT string_agg(method, ', ' ORDER BY n) AS methods FROM dp.compare('all_range(8)', 1, 1e-9) WITH ORDINALITY c(method, rmse, ratio, ms, n);
SELECT string_agg(method, ', ' ORDER BY n) AS methods FROM dp.compare('all_range(8)', 1, NULL) WITH ORDINALITY c(method, rmse, ratio, ms, n);
SELECT string_agg(method, ', ' ORDER BY n) AS methods FROM dp.compare('all_range(2)', 1, 1e-9, example => '{3,4}') WITH ORDINALITY c(method, rmse, ratio, ms, n);
SELECT string_agg(method, ', ' ORDER BY n) AS methods FROM dp.compare('all_range(2) * identity(2)', 1, NULL, example => '{3,4,5,6}') WITH ORDINALITY c(method, rmse, ratio, ms, n);
SELECT method FROM dp.compare('all_range(8)', 1, 1e-9, '{identity,optimal,identity}');
SELECT count(*) FROM dp.compare('all_range(8)', 1, 1e-9, '{}');

-- Nothing is better than the bound, and the optimum is at it
CREATE TEMP TABLE w (workload text);
INSERT INTO w VALUES ('all_range(16)'), ('prefix(7) * identity(3)'), ('total(9) + identity(9)'), ('ranges(9; 0-3, 2-8, 5-5)'), ('matrix({{1,1,0,0},{0,1,1,0},{2,0,0,-1}})'),
    ('identity(5)'), ('total(5)'), ('10 * total(12) + all_range(12)');
CREATE TEMP TABLE c AS SELECT w.workload, d.delta, c.*, 0.5 AS epsilon FROM w, (VALUES (1e-6), (NULL)) d(delta), dp.compare(w.workload, 0.5, d.delta) c WHERE c.method <> 'dawa';
SELECT count(*), bool_and(rmse > 0 AND milliseconds >= 0) AS told, bool_and(ratio_to_bound >= 1 - 1e-9) AS bounded,
       bool_and(ratio_to_bound <= 1 + 1e-6) FILTER (WHERE method = 'optimal' AND delta IS NOT NULL) AS optimal FROM c;
SELECT bool_and(c.ratio_to_bound >= o.ratio_to_bound * (1 - 1e-6)) AS nothing_better FROM c JOIN c o ON o.workload = c.workload AND o.delta = c.delta WHERE o.method = 'optimal';
-- The error is that of the strategy that dp.optimize shows, and up to 4e-6 of its variance more, for the noise is discrete; of weighted queries the plain mean is told.
SELECT count(*), bool_and(abs(c.rmse ^ 2 * array_length(dp.workload_matrix(c.workload), 1) * 2 * dp.rho_of_epsilon(0.5, 1e-6) / o.objective - 1) < 4e-6) AS same
  FROM c, dp.optimize(c.workload, c.method) o WHERE c.delta IS NOT NULL AND c.workload !~ '10 ';
SELECT bool_and(abs(c.ratio_to_bound / sqrt(c.o / c.b) - 1) < 1e-3) AS same
  FROM (SELECT c.*, o.objective AS o, max(o.lower_bound) OVER (PARTITION BY workload) AS b FROM c, dp.optimize(c.workload, c.method) o WHERE c.delta IS NOT NULL) c;
-- Exactly known: single cells, whose mean variance over the ranges of n is (n + 2) / 3, and the queries themselves, of which a cell is in floor((n + 1)^2 / 4)
SELECT n, abs(c.rmse / sqrt((n + 2) / 3.0 / (2 * dp.rho_of_epsilon(0.5, 1e-6))) - 1) < 2e-6 AS identity,
       abs(g.rmse / sqrt(floor((n + 1) ^ 2 / 4) / (2 * dp.rho_of_epsilon(0.5, 1e-6))) - 1) < 2e-6 AS direct
  FROM unnest(ARRAY[1, 2, 5, 16]) n, dp.compare(format('all_range(%s)', n), 0.5, 1e-6, '{identity}') c, dp.compare(format('all_range(%s)', n), 0.5, 1e-6, '{direct}') g;
-- and likewise with the variance of discrete Laplace noise, 1 / (2 sinh(a / 2)^2), a = epsilon / Delta
SELECT n, abs(c.rmse / sqrt((n + 2) / 3.0 / (2 * sinh(0.25) ^ 2)) - 1) < 1e-9 AS identity,
       abs(g.rmse / (1 / (sqrt(2) * sinh(0.25 / floor((n + 1) ^ 2 / 4)))) - 1) < 1e-9 AS direct
  FROM unnest(ARRAY[1, 2, 5, 16]) n, dp.compare(format('all_range(%s)', n), 0.5, NULL, '{identity}') c, dp.compare(format('all_range(%s)', n), 0.5, NULL, '{direct}') g;
-- A strategy is kept: what it took is what it took then
SELECT bool_and(a.milliseconds = b.milliseconds) AS kept FROM dp.compare('all_range(16)', 2, 1e-9) a JOIN c b USING (method) WHERE b.workload = 'all_range(16)' AND b.delta IS NOT NULL;

-- dawa is simulated, under a pure epsilon whatever the others have, and has no bound.  One cell is one bucket, and gets three quarters
-- of epsilon.  The mean of 200 squares of that noise is not 4 times too large or small but by a chance below 1e-9.
SELECT method, ratio_to_bound, milliseconds >= 0 AS milliseconds,
       rmse BETWEEN 1 / (sqrt(2) * sinh(0.1875)) / 2 AND 1 / (sqrt(2) * sinh(0.1875)) * 2 AS rmse
  FROM unnest(ARRAY[1e-6, NULL]) delta, dp.compare('identity(1)', 0.5, delta, '{dawa}', '{1000}');
SELECT rmse FROM dp.compare('identity(1)', 0.5, NULL, '{dawa}');
SET client_min_messages = notice;
SELECT rmse, ratio_to_bound, milliseconds FROM dp.compare('identity(1)', 0.5, NULL, '{dawa}');
SET client_min_messages = warning;
-- cells that no query asks for count for nothing: all that is asked are two neighbours with as much in each
SELECT rmse < 100 AS rmse FROM dp.compare('ranges(6; 2-3)', 1, NULL, '{dawa}', '{1000000,0,7,7,0,1000000}');

-- Errors
SELECT * FROM dp.compare('all_range(8)', 1, 1e-9, '{optimal,best}');
SELECT * FROM dp.compare('all_range(8)', 1, NULL, '{coa}');
SELECT * FROM dp.compare('all_range(8) * identity(2)', 1, NULL, '{dawa}');
SELECT * FROM dp.compare('all_range(8)', 1, 1e-9, '{optimal,NULL}');
SELECT * FROM dp.compare('all_range(8)', 0, 1e-9);
SELECT * FROM dp.compare('all_range(8)', 1e-10, NULL);
SELECT * FROM dp.compare('all_range(8)', 2e-9, NULL, '{dawa}');
SELECT * FROM dp.compare('all_range(8)', NULL, 1e-9);
SELECT * FROM dp.compare('all_range(8)', 1, 0);
SELECT * FROM dp.compare('all_range(8)', 1, 'NaN');
SELECT * FROM dp.compare('all_range(age)', 1, 1e-9);
SELECT * FROM dp.compare(NULL, 1, 1e-9);
SELECT * FROM dp.compare('matrix({{0,0}})', 1, 1e-9);
SELECT * FROM dp.compare('all_range(5000)', 1, 1e-9);
SELECT * FROM dp.compare('all_range(3)', 1, 1e-9, example => '{1,2}');
SELECT * FROM dp.compare('all_range(3)', 1, 1e-9, example => '{{1,2,3}}');
SELECT * FROM dp.compare('all_range(3)', 1, 1e-9, example => '{1,NULL,3}');
SELECT * FROM dp.compare('all_range(3)', 1, 1e-9, example => '{1,-1,3}');
SELECT * FROM dp.compare('all_range(3)', 1, 1e-9, example => '{4000000000000000000,4000000000000000000,4000000000000000000}');

DROP TABLE w, c;
RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon;
DROP ROLE regress_ann;
