-- Method dawa: estimates by way of a private partition, whose errors nobody knows.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
CREATE ROLE regress_bob;
GRANT CREATE ON SCHEMA public TO regress_curator, regress_ann;

SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE t (x int, b boolean, y int);
INSERT INTO t SELECT CASE WHEN i <= 4000 THEN i % 4 ELSE 4 + i % 8 END, i % 2 = 0, i % 10 FROM generate_series(1, 10000) i;
SELECT dp.create_dataset('t', 't', 1000, accounting => 'pure');
SELECT dp.add_attribute('t', 'x', 0, 12, 12, last => 'open'), dp.add_attribute('t', 'b'), dp.add_attribute('t', 'y', 0, 10, 10, nulls => 'cell', last => 'open');
SELECT dp.grant_budget('t', 'regress_ann', 250, accounting => 'pure');
CREATE TABLE z (x int);
SELECT dp.create_dataset('z', 'z', 1, 1e-6), dp.add_attribute('z', 'x', 0, 12, 12, last => 'open'), dp.grant_budget('z', 'regress_ann', 1);

SET SESSION AUTHORIZATION regress_ann;
-- next to no noise: what is equal goes together, and the counts are there; nobody is told an error
SELECT query, label, round(estimate::numeric, 0) AS estimate, stderr, release FROM dp.histogram('t', 'x', epsilon => 100, method => 'dawa');
SELECT query, round(estimate::numeric / 10) AS tens, stderr FROM dp.histogram('t', 'x', 'prefix', epsilon => 100, method => 'dawa') WHERE query IN (1, 4, 12);
SELECT epsilon_left FROM dp.budgets WHERE dataset = 't';

-- the same again is free, and the same
SELECT bool_and(h.estimate = c.estimate) AS same, count(h.stderr) + count(c.stderr) + count(h.lower95) + count(c.upper95) AS errors
  FROM dp.histogram('t', 'x', epsilon => 100, method => 'dawa') h JOIN dp.cells(1) c ON c.cell = h.query - 1;
SELECT query, round(estimate::numeric / 10) AS tens, stderr FROM dp.answer(1, 'ranges(12; 0-3, 4-11)');
SELECT count(*), bool_and(estimate >= 0) AS nonnegative FROM dp.histogram('t', 'x', epsilon => 100, method => 'dawa', nonnegative => true);
SELECT dp.publish(1, 'answer');
SELECT x_from, x_to, round(estimate::numeric / 10) AS tens, stderr, lower95, upper95 FROM answer ORDER BY query LIMIT 3;
SELECT workload, method, queries FROM dp.releases ORDER BY release;
-- one column, a predicate on its own attribute and on another
SELECT count(*), bool_and(abs(estimate - 10000) < 50) AS near FROM dp.histogram('t', 'x', 'total', epsilon => 1, method => 'dawa');
SELECT count(*), bool_and(abs(estimate - CASE query WHEN 3 THEN 1000 WHEN 5 THEN 750 WHEN 7 THEN 750 WHEN 9 THEN 750 ELSE 0 END) < 50) AS near
  FROM dp.histogram('t', 'x', epsilon => 5, method => 'dawa', predicate => 'x >= 2 AND x < 9 AND b');

-- Quotes know the cost, and no error
SELECT epsilon, delta, max_stderr, rms_stderr, queries, cells, method, objective, lower_bound, gap, fits, replay FROM dp.quote('t', 'x', epsilon => 100, method => 'dawa');
SELECT fits, replay FROM dp.quote('t', 'x', 'all_range', epsilon => 240, method => 'dawa');
SELECT count(*), count(stderr) AS errors FROM dp.quote_queries('t', 'x', 'all_range', epsilon => 1, method => 'dawa');

-- What is refused
\t on
SELECT refused($$SELECT dp.histogram('t', 'x', max_stderr => 5, method => 'dawa')$$);
SELECT refused($$SELECT dp.histogram('t', '{x,b}', 'prefix(x)', epsilon => 1, method => 'dawa')$$);
SELECT refused($$SELECT dp.histogram('t', 'y', epsilon => 1, method => 'dawa')$$);
SELECT refused($$SELECT dp.histogram('t', 'x', epsilon => 3e-9, method => 'dawa')$$);
SELECT refused($$SELECT dp.histogram('t', 'x', epsilon => 240, method => 'dawa')$$);
SELECT refused($$SELECT dp.histogram('z', 'x', epsilon => 0.1, method => 'dawa')$$);
-- the least cost that can be divided
SELECT refused($$SELECT dp.histogram('t', 'x', epsilon => 4.1e-9, method => 'dawa')$$);
\t off

-- Two draws stand in no column of their own
RESET SESSION AUTHORIZATION;
SELECT method, sensitivity_sq, sensitivity_l1, epsilon, rho, octet_length(payload) / 8 AS stored FROM dp_ledger.release ORDER BY id;
SELECT method, columns, rank, objective, lower_bound FROM dp_ledger.strategy WHERE method = 'dawa' ORDER BY id LIMIT 1;

DROP EXTENSION pg_epsilon;
DROP FUNCTION refused;
DROP OWNED BY regress_curator, regress_ann;
DROP ROLE regress_curator, regress_ann, regress_bob;
