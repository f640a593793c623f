-- Piecewise affine objectives: what is asked, refused, charged, replayed and kept, and what comes out.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
CREATE ROLE regress_bob;
CREATE ROLE regress_poor;
CREATE ROLE regress_pure;
CREATE ROLE regress_stranger;
GRANT CREATE ON SCHEMA public TO regress_curator;
-- Asks dataset d with these arguments, and returns what was said.
CREATE FUNCTION ask(arguments text) RETURNS text LANGUAGE sql AS $$ SELECT refused(format('SELECT * FROM dp.minimize_max_affine(''d'', %s)', arguments)) $$;
-- The answer of an aggregate with these options over t, or what was said.
CREATE FUNCTION ask_agg(aggregate text, arguments text, options text, rows_of text DEFAULT 't') RETURNS text LANGUAGE sql AS $$
    SELECT refused(format('SELECT dp.%s(%s, %L) FROM %s', aggregate, arguments, options, rows_of)) $$;
SET client_min_messages = warning;
-- What the functions are
SELECT proname, provolatile, proparallel, proleakproof, prosecdef, proisstrict, proretset FROM pg_proc
 WHERE pronamespace IN ('dp'::regnamespace, 'dp_internal'::regnamespace) AND proname ~ 'max_affine' ORDER BY 1, pg_get_function_identity_arguments(oid) COLLATE "C";

SET SESSION AUTHORIZATION regress_curator;
-- the minimum is 0.2 at (0.3, -0.2): |a (x - 0.3)| + |b (y + 0.2)| in four rows, and rows far below
CREATE TABLE t (a float8, b int, z text, e date, n int, o int, c float8);
INSERT INTO t VALUES (1, 1, 'x', '2020-01-01', 1, 1, -0.1 + 0.2), (1, -1, 'x', '2020-01-01', 1, 1, -0.5 + 0.2),
                     (-1, 1, 'x', '2020-01-01', 1, 1, 0.5 + 0.2), (-1, -1, 'y', '2020-01-01', 1, 1, 0.1 + 0.2);
INSERT INTO t SELECT sin(i), i % 3 - 1, 'y', '2020-01-01', 1, 1, -100 - i FROM generate_series(1, 20) i;
CREATE TABLE counted AS SELECT * FROM t;
CREATE TABLE p AS SELECT * FROM t;
CREATE TABLE nothing (LIKE t);
SELECT dp.create_dataset('d', 't', 100000, neighbours => 'values', private_column => 'c', max_change => 0.01, change => 'all');
SELECT dp.create_dataset('p', 'p', 1000, accounting => 'pure', neighbours => 'values', private_column => 'c', max_change => 0.01);
SELECT dp.create_dataset('counted', 'counted', 1000);
SELECT dp.create_dataset('nothing', 'nothing', 100000, neighbours => 'values', private_column => 'c', max_change => 0.01);
SELECT count(dp.add_attribute(n, 'a', -1, 1, 1)), count(dp.add_attribute(n, 'b', -1, 1, 1, outside => 'drop')) FROM unnest('{d,p,counted,nothing}'::text[]) n;
SELECT dp.add_attribute('d', 'z', '{x,y}'), dp.add_attribute('d', 'e', date '2000-01-01', date '2030-01-01', 1),
       dp.add_attribute('d', 'n', 0, 7, 1, nulls => 'cell'), dp.add_attribute('d', 'o', 0, 7, 1, outside => 'other');
SELECT dp.grant_budget('d', 'regress_ann', 60000);
SELECT dp.grant_budget('d', 'regress_bob', 35000);
SELECT dp.grant_budget('d', 'regress_poor', 0.1);
SELECT dp.grant_budget('d', 'regress_pure', 1000, accounting => 'pure');
SELECT count(dp.grant_budget(n, 'regress_ann', CASE n WHEN 'nothing' THEN 60000 ELSE 900 END, accounting => CASE n WHEN 'p' THEN 'pure' ELSE 'gdp' END)) FROM unnest('{p,counted,nothing}'::text[]) n;

\t on
-- ---- What is refused, and free ----
SET SESSION AUTHORIZATION regress_ann;
-- unknown names
SELECT refused($$SELECT * FROM dp.minimize_max_affine('nobody', '{a,b}', 'c', '{-1,-1}', '{1,1}', epsilon => 1)$$);
SELECT ask($$'{a,x}', 'c', '{-1,-1}', '{1,1}', epsilon => 1$$);
SELECT ask($$'{a,b}', 'x', '{-1,-1}', '{1,1}', epsilon => 1$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', method => 'guess', epsilon => 1$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', epsilon => 1, budget => 'regress_bob'$$);
-- another kind of dataset
SELECT refused($$SELECT * FROM dp.minimize_max_affine('counted', '{a,b}', 'c', '{-1,-1}', '{1,1}', epsilon => 1)$$);
-- NULL
SELECT refused($$SELECT * FROM dp.minimize_max_affine(NULL, '{a,b}', 'c', '{-1,-1}', '{1,1}', epsilon => 1)$$);
SELECT ask($$NULL, 'c', '{-1,-1}', '{1,1}', epsilon => 1$$);
SELECT ask($$'{a,NULL}', 'c', '{-1,-1}', '{1,1}', epsilon => 1$$);
SELECT ask($$'{a,b}', NULL, '{-1,-1}', '{1,1}', epsilon => 1$$);
SELECT ask($$'{a,b}', 'c', NULL, '{1,1}', epsilon => 1$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', NULL, epsilon => 1$$);
SELECT ask($$'{a,b}', 'c', '{-1,NULL}', '{1,1}', epsilon => 1$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', '{{1,2,NULL}}', epsilon => 1$$);
-- slopes and offsets
SELECT ask($$'{}', 'c', '{}', '{}', epsilon => 1$$);
SELECT ask($$'{a,a}', 'c', '{-1,-1}', '{1,1}', epsilon => 1$$);
SELECT ask($$'{a,c}', 'c', '{-1,-1}', '{1,1}', epsilon => 1$$);
SELECT ask($$'{a,z}', 'c', '{-1,-1}', '{1,1}', epsilon => 1$$);
SELECT ask($$'{a,n}', 'c', '{-1,-1}', '{1,1}', epsilon => 1$$);
SELECT ask($$'{a,o}', 'c', '{-1,-1}', '{1,1}', epsilon => 1$$);
SELECT ask($$'{a}', 'b', '{-1}', '{1}', epsilon => 1$$);
SELECT ask(format($$'{%s}', 'c', '{-1}', '{1}', epsilon => 1$$, (SELECT string_agg('a', ',') FROM generate_series(1, 51))));
-- the set
SELECT ask($$'{a,b}', 'c', '{-1}', '{1,1}', epsilon => 1$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1,1}', epsilon => 1$$);
SELECT ask($$'{a,b}', 'c', '{{-1,-1}}', '{1,1}', epsilon => 1$$);
SELECT ask($$'{a,b}', 'c', '{-1,NaN}', '{1,1}', epsilon => 1$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{NaN,1}', epsilon => 1$$);
SELECT ask($$'{a,b}', 'c', '{-1,Infinity}', '{1,1}', epsilon => 1$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,-Infinity}', epsilon => 1$$);
SELECT ask($$'{a,b}', 'c', '{-1,2}', '{1,1}', epsilon => 1$$);
SELECT ask($$'{a,b}', 'c', '{-1,1}', '{1,1}', epsilon => 1$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', '{{1,1,-3}}', epsilon => 1$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', '{{1,1,0},{-1,-1,-1e-3}}', epsilon => 1$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', '{{1,1,-3},{1,-1,1e300}}', epsilon => 1$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', '{{1e-300,0,-1e300}}', epsilon => 1$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', '{{1,1,0},{-1,-1,0}}', epsilon => 1$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', '{{1,1,-2}}', epsilon => 1$$);
SELECT ask($$'{a,b}', 'c', '{-1,-Infinity}', '{1,1}', epsilon => 1$$);
SELECT ask($$'{a,b}', 'c', '{-Infinity,-Infinity}', '{Infinity,Infinity}', '{{1,1,1},{-1,1,1}}', epsilon => 1$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', '{1,1,1}', epsilon => 1$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', '{{{1,1,1}}}', epsilon => 1$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', '{{1,1}}', epsilon => 1$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', '{{1,1,NaN}}', epsilon => 1$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', '{{1,1,Infinity}}', epsilon => 1$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', '{{0,0,-1}}', epsilon => 1$$);
SELECT ask(format($$'{a,b}', 'c', '{-1,-1}', '{1,1}', %L, epsilon => 1$$, array_fill(1::float8, '{10923,3}')));
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1.7e308}', epsilon => 1$$);
-- cost
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}'$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', epsilon => 1, rho => 1$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', epsilon => 0$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', epsilon => -1$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', epsilon => 'NaN'$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', epsilon => 'Infinity'$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', epsilon => 1e-300$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', rho => 0$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', rho => 'Infinity'$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', rho => 1e-10$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', rho => 1e300$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', epsilon => 1, delta => 1$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', epsilon => 1, delta => 'NaN'$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', method => 'subgradient', rho => 1e-8$$);
-- options
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', epsilon => 1, options => '[]'$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', epsilon => 1, options => '{"magic": 1}'$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', epsilon => 1, options => '{"prior": "flat"}'$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', epsilon => 1, options => '{"prior": [1]}'$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', epsilon => 1, options => '{"prior": -1}'$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', epsilon => 1, options => '{"prior": 1e999}'$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', epsilon => 1, options => '{"iterations": 10}'$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', method => 'laplace_data', epsilon => 1, options => '{"prior": 1}'$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', method => 'subgradient', epsilon => 1, options => '{"iterations": 0}'$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', method => 'subgradient', epsilon => 1, options => '{"iterations": 2.5}'$$);
-- methods without privacy are not to be had, not by the owner either
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', method => 'metropolis', epsilon => 1$$);
SET SESSION AUTHORIZATION regress_curator;
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', method => 'laplace_data_l2', epsilon => 1$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', epsilon => 1$$);
-- who has no budget, and who has too little
SET SESSION AUTHORIZATION regress_stranger;
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', epsilon => 1$$);
SET SESSION AUTHORIZATION regress_poor;
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', epsilon => 1$$);
-- pure accounting
SET SESSION AUTHORIZATION regress_pure;
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', rho => 1$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', epsilon => 1, delta => 1e-9$$);
SELECT ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', epsilon => 1001$$);
-- too little memory, known before anything is charged
RESET SESSION AUTHORIZATION;
LOAD 'pg_epsilon';
SET pg_epsilon.max_memory = '1MB';
SET SESSION AUTHORIZATION regress_ann;
SELECT split_part(ask($$'{a,b}', 'c', '{-1,-1}', '{1,1}', epsilon => 1$$), ':', 1);
RESET SESSION AUTHORIZATION;
RESET pg_epsilon.max_memory;
-- in a transaction that declared, and in one that changed the table
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE mine (a float8, c float8);
SELECT dp.create_dataset('mine', 'mine', 1000, neighbours => 'values', private_column => 'c', max_change => 1);
SELECT dp.grant_budget('mine', 'regress_curator', 900);
BEGIN;
SELECT dp.add_attribute('mine', 'a', -1, 1, 1);
SELECT refused($$SELECT * FROM dp.minimize_max_affine('mine', '{a}', 'c', '{-1}', '{1}', epsilon => 1)$$);
COMMIT;
BEGIN;
ALTER TABLE mine ADD COLUMN extra int;
SELECT refused($$SELECT * FROM dp.minimize_max_affine('mine', '{a}', 'c', '{-1}', '{1}', epsilon => 1)$$);
ROLLBACK;
-- the private column is no longer what was declared
BEGIN;
ALTER TABLE mine ALTER COLUMN c TYPE numeric;
COMMIT;
SELECT refused($$SELECT * FROM dp.minimize_max_affine('mine', '{a}', 'c', '{-1}', '{1}', epsilon => 1)$$);
ALTER TABLE mine RENAME COLUMN c TO was_c;
SELECT refused($$SELECT * FROM dp.minimize_max_affine('mine', '{a}', 'c', '{-1}', '{1}', epsilon => 1)$$);
-- nothing of all this was charged
RESET SESSION AUTHORIZATION;
SELECT (SELECT count(*) FROM dp_ledger.charge) AS charges, (SELECT count(*) FROM dp_ledger.release) AS releases, (SELECT coalesce(sum(rho_spent), 0) FROM dp_ledger.budget) AS spent;
\t off

-- ---- What comes out ----
SET SESSION AUTHORIZATION regress_curator;
SELECT abs(x[1] - 0.3) < 1e-6 AND abs(x[2] + 0.2) < 1e-6 AS point, abs(value - 0.2) < 1e-8 AS value, gap < 1e-8 AS gap
  FROM (SELECT (dp.solve_max_affine(ARRAY[a, b], c, '{"lower": [-1, -1], "upper": [1, 1]}')).* FROM t) s;
SET SESSION AUTHORIZATION regress_ann;
-- with a large budget every private method finds it; without the offsets the minimum is 0
SELECT m AS method, abs(x[1] - 0.3) < w AND abs(x[2] + 0.2) < w AS near, abs(public_value) < 1e-8 AS public_value
  FROM (VALUES ('exponential', 0.01), ('laplace_data', 0.01), ('laplace_solution', 0.5), ('subgradient', 0.2), ('subgradient_last', 0.5)) m (m, w),
       dp.minimize_max_affine('d', '{a,b}', 'c', '{-1,-1}', '{1,1}', method => m, rho => 1000) ORDER BY 1;
-- inequalities are kept, and may be all there is
SELECT x[1] + x[2] <= -1 + 1e-9 AND x[1] >= -1 AND x[2] >= -1 AS inside, abs(x[1] + x[2] + 1) < 0.05 AS at_the_edge, abs(public_value - 1) < 1e-6 AS public_value
  FROM dp.minimize_max_affine('d', '{a,b}', 'c', '{-1,-1}', '{1,1}', '{{1,1,-1}}', rho => 1000);
SELECT abs(x[1] - 0.3) < 0.01 AND abs(x[2] + 0.2) < 0.01 AS near
  FROM dp.minimize_max_affine('d', '{a,b}', 'c', '{-Infinity,-Infinity}', '{Infinity,Infinity}', '{{1,1,1},{1,-1,1},{-1,1,1},{-1,-1,1}}', rho => 1000);
-- whatever the sizes of their numbers, and beside one that holds everywhere
SELECT i, m AS method, x[1] + x[2] <= -1 + 1e-8 AS inside, abs(public_value - 1) < 1e-8 AS public_value
  FROM unnest('{"{{5e-324,5e-324,-5e-324}}","{{1e300,1e300,-1e300}}","{{1,1,-1},{1e-300,0,1e300}}"}'::text[]) i, unnest('{exponential,subgradient,laplace_solution}'::text[]) m,
       dp.minimize_max_affine('d', '{a,b}', 'c', '{-1,-1}', '{1,1}', i::float8[], method => m, rho => 0.01) ORDER BY 1, 2;
SELECT m AS method, x[1] + x[2] <= -1 + 1e-8 AS inside, abs(public_value - 1) < 1e-8 AS public_value
  FROM unnest('{exponential,subgradient,laplace_solution}'::text[]) m,
       dp.minimize_max_affine('d', '{a,b}', 'c', '{-Infinity,-1}', '{Infinity,Infinity}', '{{1,1,-1},{-1,0,1},{1,0,1e15},{0,1,1e300}}', method => m, rho => 0.01) ORDER BY 1;
-- the same set is the same request
SELECT count(*) AS asked, count(DISTINCT release) AS releases
  FROM unnest('{"{{1,-0.5,2}}","{{2,-1,4}}","{{0.25,-0.125,0.5}}"}'::text[]) i, dp.minimize_max_affine('d', '{a,b}', 'c', '{-1,0}', '{1,1}', i::float8[], rho => 0.001);
-- the order of the variables is that of the slopes
SELECT abs(x[2] - 0.3) < 0.01 AND abs(x[1] + 0.2) < 0.01 AS near FROM dp.minimize_max_affine('d', '{b,a}', 'c', '{-1,-1}', '{1,1}', rho => 1000);
-- a huge box, and one far away
SELECT abs(x[1]) <= 1e250 AND abs(x[2]) <= 1e250 AS inside FROM dp.minimize_max_affine('d', '{a,b}', 'c', '{-1e250,-1e250}', '{1e250,1e250}', rho => 1);
SET client_min_messages = notice;
SELECT abs(x[1]) <= 1e6 AND abs(x[2]) <= 1e6 AS inside, abs(x[1] - 0.3) < 0.5 AS near FROM dp.minimize_max_affine('d', '{a,b}', 'c', '{-1e6,-1e6}', '{1e6,1e6}', rho => 1000);
SET client_min_messages = warning;
SELECT x[1] BETWEEN 1e15 AND 1e15 + 1e3 AS inside FROM dp.minimize_max_affine('d', '{a}', 'c', '{1e15}', '{1.000000000001e15}', rho => 1);
-- one variable; one row; no row; a date as a slope
SELECT abs(x[1]) <= 1 AS inside, array_length(x, 1) AS variables FROM dp.minimize_max_affine('d', '{e}', 'c', '{-1}', '{1}', rho => 1);
SELECT x[1] BETWEEN -1 AND 1 AND x[2] BETWEEN -1 AND 1 AS inside, public_value FROM dp.minimize_max_affine('nothing', '{a,b}', 'c', '{-1,-1}', '{1,1}', epsilon => 1);
SET SESSION AUTHORIZATION regress_curator;
INSERT INTO nothing (a, b, c) VALUES (1, 1, 5);
SELECT dp.new_version('nothing');
SET SESSION AUTHORIZATION regress_ann;
SELECT x[1] < -0.9 AND x[2] < -0.9 AS at_the_corner, abs(public_value + 2) < 1e-8 AS public_value FROM dp.minimize_max_affine('nothing', '{a,b}', 'c', '{-1,-1}', '{1,1}', epsilon => 800);
-- a slope that is null or outside is no row, or is brought in, as declared; what is no number is never the largest
SET SESSION AUTHORIZATION regress_curator;
INSERT INTO nothing (a, b, c) VALUES (NULL, 1, 1e6), (1, NULL, 1e6), ('NaN', 1, 1e6), (1, 2, 1e6), (0, 0, NULL), (0, 0, 'NaN'), (0, 0, '-Infinity'), (-7, -1, 5);
SELECT dp.new_version('nothing');
SET SESSION AUTHORIZATION regress_ann;
SELECT abs(x[1] + x[2]) < 0.1 AS balanced, abs(public_value) < 1e-8 AS public_value FROM dp.minimize_max_affine('nothing', '{a,b}', 'c', '{-1,-1}', '{1,1}', rho => 10);
-- a prior on points that are good without the offsets: so strong that nothing else counts
SELECT abs(x[1]) < 0.01 AND abs(x[2]) < 0.01 AS public FROM dp.minimize_max_affine('d', '{a,b}', 'c', '{-1,-1}', '{1,1}', rho => 1e-6, options => '{"prior": 1e6}');
-- pure
SET SESSION AUTHORIZATION regress_pure;
SELECT abs(x[1] - 0.3) < 0.05 AND abs(x[2] + 0.2) < 0.05 AS near FROM dp.minimize_max_affine('d', '{a,b}', 'c', '{-1,-1}', '{1,1}', epsilon => 100);
SELECT rho, delta, epsilon FROM dp.charges ORDER BY charge DESC LIMIT 1;
-- in three variables so sharp that drawing from the whole lattice could take too long: a finite set of points, and the NOTICE says so
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE cubic (a float8, b float8, e float8, c float8);
INSERT INTO cubic VALUES (1, 0.5, 0.25, 0), (1, 0.25, 0.5, 0);
SELECT dp.create_dataset('cubic', 'cubic', 1000, neighbours => 'values', private_column => 'c', max_change => 0.0001);
SELECT count(dp.add_attribute('cubic', n, -1, 1, 1)) FROM unnest('{a,b,e}'::text[]) n;
SELECT dp.grant_budget('cubic', 'regress_ann', 900);
SET SESSION AUTHORIZATION regress_ann;
SET client_min_messages = notice;
SELECT abs(x[1] + 1) < 0.2 AS near FROM dp.minimize_max_affine('cubic', '{a,b,e}', 'c', '{-1,-1,-1}', '{1,1,1}', rho => 0.1);
SELECT abs(x[1]) <= 1 AS inside FROM dp.minimize_max_affine('cubic', '{a,b,e}', 'c', '{-1,-1,-1}', '{1,1,1}', rho => 1e-6);
SELECT abs(x[1]) <= 1 AS inside FROM dp.minimize_max_affine('cubic', '{a,b,e}', 'c', '{-1,-1,-1}', '{1,1,1}', '{{1,1,1,1}}', rho => 1e-6);
SET client_min_messages = warning;

-- ---- Replays ----
SET SESSION AUTHORIZATION regress_ann;
SET client_min_messages = notice;
CREATE TEMP TABLE first AS SELECT * FROM dp.minimize_max_affine('d', '{a,b}', 'c', '{-1,0}', '{1,1}', rho => 0.5);
SET client_min_messages = warning;
CREATE FUNCTION pg_temp.spent() RETURNS float8 LANGUAGE sql AS $$ SELECT round(sum(rho)::numeric, 9)::float8 FROM dp.charges WHERE role = 'regress_ann' $$;
CREATE TEMP TABLE before AS SELECT pg_temp.spent() AS spent;
-- the same, in other words: free and the same
SELECT count(*) AS same FROM dp.minimize_max_affine('d', '{a,b}', 'c', '{-1,0}', '{1,1}', rho => 0.5) JOIN first USING (x, public_value, release);
SELECT count(*) AS same FROM dp.minimize_max_affine('d', '{a,b}', 'c', '{-1.0,-0}', '{1e0,1}', '{}', method => NULL, rho => 5e-1, options => '{"prior": 0, "iterations": null}') JOIN first USING (x, public_value, release);
SELECT pg_temp.spent() - spent AS paid FROM before;
-- what is another request
SELECT count(DISTINCT release) AS releases, bool_and(release > (SELECT release FROM first)) AS new FROM (
    SELECT release FROM dp.minimize_max_affine('d', '{b,a}', 'c', '{-1,0}', '{1,1}', rho => 0.5) UNION ALL
    SELECT release FROM dp.minimize_max_affine('d', '{a,b}', 'c', '{-1,0}', '{1,1.5}', rho => 0.5) UNION ALL
    SELECT release FROM dp.minimize_max_affine('d', '{a,b}', 'c', '{-1,0.1}', '{1,1}', rho => 0.5) UNION ALL
    SELECT release FROM dp.minimize_max_affine('d', '{a,b}', 'c', '{-1,0}', '{1,1}', '{{1,1,3}}', rho => 0.5) UNION ALL
    SELECT release FROM dp.minimize_max_affine('d', '{a,b}', 'c', '{-1,0}', '{1,1}', '{{1,1,2.5}}', rho => 0.5) UNION ALL
    SELECT release FROM dp.minimize_max_affine('d', '{a,b}', 'c', '{-1,0}', '{1,1}', rho => 0.5, options => '{"prior": 0.1}') UNION ALL
    SELECT release FROM dp.minimize_max_affine('d', '{a,b}', 'c', '{-1,0}', '{1,1}', rho => 0.5, method => 'laplace_data')) r;
SELECT pg_temp.spent() - spent AS paid FROM before;
-- fresh pays, and is what is replayed from then on
SELECT count(*) AS same FROM dp.minimize_max_affine('d', '{a,b}', 'c', '{-1,0}', '{1,1}', rho => 0.5, fresh => true) JOIN first USING (release);
SELECT release > (SELECT release FROM first) AS newer FROM dp.minimize_max_affine('d', '{a,b}', 'c', '{-1,0}', '{1,1}', rho => 0.5);
SELECT pg_temp.spent() - spent AS paid FROM before;
-- another role pays, the cap does not
CREATE TEMP TABLE newest AS SELECT max(release) AS release FROM dp.releases WHERE method = 'laplace_data';
GRANT SELECT ON newest TO PUBLIC;
RESET SESSION AUTHORIZATION;
CREATE TEMP TABLE cap AS SELECT rho_spent FROM dp_ledger.dataset WHERE dataset = 'd';
SET SESSION AUTHORIZATION regress_bob;
SELECT release = (SELECT release FROM newest) AS same FROM dp.minimize_max_affine('d', '{a,b}', 'c', '{-1,0}', '{1,1}', rho => 0.5, method => 'laplace_data');
SELECT rho AS paid FROM dp.charges;
RESET SESSION AUTHORIZATION;
SELECT d.rho_spent - c.rho_spent AS cap_paid FROM dp_ledger.dataset d, cap c WHERE dataset = 'd';
-- the record
SELECT attributes, workload, predicate, method, queries FROM dp.releases WHERE release = (SELECT release FROM newest);
SELECT request - 'max_change' AS request, request->>'max_change' AS max_change FROM dp.charges WHERE release = (SELECT release FROM newest) LIMIT 1;
SELECT num_nonnulls(workload, sensitivity_sq, rho, sensitivity_l1, epsilon, strategy_id) AS not_null, length(payload) FROM dp_ledger.release WHERE id = (SELECT release FROM newest);
-- what a release of counts is used for is refused
SET SESSION AUTHORIZATION regress_ann;
SELECT regexp_replace(refused(format('SELECT * FROM dp.answer(%s, ''total'')', release)), 'release \d+', 'release N') AS answer FROM newest;
SELECT regexp_replace(refused(format('SELECT * FROM dp.cells(%s)', release)), 'release \d+', 'release N') AS cells FROM newest;
SELECT regexp_replace(refused(format('SELECT dp.publish(%s, ''x'')', release)), 'release \d+', 'release N') AS publish FROM newest;
-- expired: not listed, and charged anew
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.expire_release(release) FROM newest;
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) AS listed FROM dp.releases JOIN newest USING (release);
SELECT r.release > n.release AS newer FROM dp.minimize_max_affine('d', '{a,b}', 'c', '{-1,0}', '{1,1}', rho => 0.5, method => 'laplace_data') r, newest n;
SELECT pg_temp.spent() - spent AS paid FROM before;
-- what is rolled back stays charged; a transaction may be READ ONLY
BEGIN READ ONLY;
SELECT count(*) FROM dp.minimize_max_affine('d', '{a,b}', 'c', '{-1,0}', '{1,1}', rho => 0.25);
ROLLBACK;
SELECT pg_temp.spent() - spent AS paid FROM before;

-- ---- Rows of a query: dp.minimize_max_affine_agg ----
RESET SESSION AUTHORIZATION;
GRANT SELECT ON t, nothing TO regress_ann, regress_poor;
SET SESSION AUTHORIZATION regress_ann;
\t on
-- the options are a constant, and an object
SELECT refused($$SELECT dp.minimize_max_affine_agg(ARRAY[a, b], c, to_jsonb(z)) FROM t$$);
SELECT refused($$SELECT dp.minimize_max_affine_agg(ARRAY[a, b], c, NULL) FROM t$$);
SELECT ask_agg('minimize_max_affine_agg', 'ARRAY[a, b], c', '');
SELECT ask_agg('minimize_max_affine_agg', 'ARRAY[a, b], c', '[]');
SELECT ask_agg('minimize_max_affine_agg', 'ARRAY[a, b], c', '{}');
SELECT ask_agg('minimize_max_affine_agg', 'ARRAY[a, b], c', '{"dataset": "d", "upper": [1, 1], "epsilon": 1}');
SELECT ask_agg('minimize_max_affine_agg', 'ARRAY[a, b], c', '{"dataset": "d", "lower": [1, 1], "epsilon": 1}');
SELECT ask_agg('minimize_max_affine_agg', 'ARRAY[a, b], c', '{"dataset": "d", "lower": 1, "upper": [1, 1], "epsilon": 1}');
SELECT ask_agg('minimize_max_affine_agg', 'ARRAY[a, b], c', '{"dataset": "d", "lower": ["-1", -1], "upper": [1, 1], "epsilon": 1}');
SELECT ask_agg('minimize_max_affine_agg', 'ARRAY[a, b], c', '{"dataset": "d", "lower": [], "upper": [], "epsilon": 1}');
SELECT ask_agg('minimize_max_affine_agg', 'ARRAY[a, b], c', '{"dataset": "d", "lower": [-1, null], "upper": [1, 1], "epsilon": 1}');
SELECT ask_agg('minimize_max_affine_agg', 'ARRAY[a, b], c', '{"dataset": "d", "lower": [-1, -1], "upper": [1], "epsilon": 1}');
SELECT ask_agg('minimize_max_affine_agg', 'ARRAY[a, b], c', '{"dataset": "d", "lower": [-1, -1], "upper": [1, 1], "inequalities": [1, 1, 1], "epsilon": 1}');
SELECT ask_agg('minimize_max_affine_agg', 'ARRAY[a, b], c', '{"dataset": "d", "lower": [-1, -1], "upper": [1, 1], "inequalities": [[1, 1, 1], [1, 1]], "epsilon": 1}');
SELECT ask_agg('minimize_max_affine_agg', 'ARRAY[a, b], c', '{"dataset": "d", "lower": [-1, -1], "upper": [1, 1], "inequalities": [[1, 1, null]], "epsilon": 1}');
SELECT ask_agg('minimize_max_affine_agg', 'ARRAY[a, b], c', '{"dataset": "d", "lower": [-1, -1], "upper": [1, 1], "inequalities": [[1, 1, -3]], "epsilon": 1}');
SELECT ask_agg('minimize_max_affine_agg', 'ARRAY[a, b], c', '{"dataset": "d", "lower": [-1, -1], "upper": [1, 1], "epsilon": "1"}');
SELECT ask_agg('minimize_max_affine_agg', 'ARRAY[a, b], c', '{"dataset": "d", "lower": [-1, -1], "upper": [1, 1]}');
SELECT ask_agg('minimize_max_affine_agg', 'ARRAY[a, b], c', '{"dataset": "d", "lower": [-1, -1], "upper": [1, 1], "epsilon": 1, "iterations": 3}');
SELECT ask_agg('minimize_max_affine_agg', 'ARRAY[a, b], c', '{"dataset": "d", "lower": [-1, -1], "upper": [1, 1], "epsilon": 1, "slopes": ["a", "b"]}');
SELECT ask_agg('minimize_max_affine_agg', 'ARRAY[a, b], c', '{"dataset": "d", "lower": [-1, -1], "upper": [1, 1], "epsilon": 1, "method": "best"}');
SELECT ask_agg('minimize_max_affine_agg', 'ARRAY[a, b], c', '{"dataset": "d", "lower": [-1, -1], "upper": [1, 1], "epsilon": 1, "method": "metropolis"}');
SELECT ask_agg('minimize_max_affine_agg', 'ARRAY[a, b], c', '{"dataset": "counted", "lower": [-1, -1], "upper": [1, 1], "epsilon": 1}');
-- slopes are public: what is wrong with them is an error
SELECT ask_agg('minimize_max_affine_agg', 'ARRAY[a], c', '{"dataset": "d", "lower": [-1, -1], "upper": [1, 1], "epsilon": 1}');
SELECT ask_agg('minimize_max_affine_agg', 'ARRAY[[a, b]], c', '{"dataset": "d", "lower": [-1, -1], "upper": [1, 1], "epsilon": 1}');
SELECT ask_agg('minimize_max_affine_agg', 'NULL::float8[], c', '{"dataset": "d", "lower": [-1, -1], "upper": [1, 1], "epsilon": 1}');
SELECT ask_agg('minimize_max_affine_agg', 'ARRAY[a, NULL], c', '{"dataset": "d", "lower": [-1, -1], "upper": [1, 1], "epsilon": 1}');
SELECT ask_agg('minimize_max_affine_agg', 'ARRAY[a, ''NaN''], c', '{"dataset": "d", "lower": [-1, -1], "upper": [1, 1], "epsilon": 1}');
SELECT ask_agg('minimize_max_affine_agg', 'ARRAY[a, ''Infinity''], c', '{"dataset": "d", "lower": [-1, -1], "upper": [1, 1], "epsilon": 1}');
-- where an aggregate can stand
SELECT refused($$SELECT dp.minimize_max_affine_agg(ARRAY[a, b], c, '{"dataset": "d", "lower": [-1, -1], "upper": [1, 1], "epsilon": 1}') OVER () FROM t$$);
-- no value of type internal can be written; in which words PostgreSQL says so depends on its minor release
SELECT refused($$SELECT dp_internal.minimize_max_affine_add(NULL, '{1}', 1, '{"dataset": "d", "lower": [-1], "upper": [1], "epsilon": 1}')$$) <> 'accepted';
-- the budget, and memory
SET SESSION AUTHORIZATION regress_poor;
SELECT ask_agg('minimize_max_affine_agg', 'ARRAY[a, b], c', '{"dataset": "d", "lower": [-1, -1], "upper": [1, 1], "epsilon": 1}');
RESET SESSION AUTHORIZATION;
SET pg_epsilon.max_memory = '1MB';
SET SESSION AUTHORIZATION regress_ann;
SELECT ask_agg('minimize_max_affine_agg', 'ARRAY[a, b], c', '{"dataset": "d", "lower": [-1, -1], "upper": [1, 1], "epsilon": 1, "method": "laplace_data"}', 't, generate_series(1, 10000)');
RESET SESSION AUTHORIZATION;
RESET pg_epsilon.max_memory;
SET SESSION AUTHORIZATION regress_ann;
SELECT pg_temp.spent() - spent AS paid FROM before;
\t off
-- one charge for each group, and for one without rows; never replayed
CREATE FUNCTION pg_temp.charges() RETURNS bigint LANGUAGE sql VOLATILE AS 'SELECT count(*) FROM dp.charges';
CREATE TEMP TABLE said AS SELECT pg_temp.charges() AS n;
SELECT abs((m).x[1] - 0.3) < 0.01 AND abs((m).x[2] + 0.2) < 0.01 AS near, abs((m).public_value) < 1e-8 AS public_value, (m).release > 0 AS release
  FROM (SELECT dp.minimize_max_affine_agg(ARRAY[a, b], c, '{"dataset": "d", "lower": [-1, -1], "upper": [1, 1], "rho": 1000}') AS m FROM t OFFSET 0) x;
SELECT pg_temp.charges() - n AS charged FROM said;
SELECT count(*) AS groups, count(DISTINCT (m).release) AS releases
  FROM (SELECT b, dp.minimize_max_affine_agg(ARRAY[a, b], c, '{"dataset": "d", "lower": [-1, -1], "upper": [1, 1], "inequalities": [[1, 1, 1]], "epsilon": 0.1}') AS m FROM t GROUP BY b OFFSET 0) x;
SELECT pg_temp.charges() - n AS charged FROM said;
SELECT (m).x[1] BETWEEN -1 AND 1 AS inside, (m).public_value
  FROM (SELECT dp.minimize_max_affine_agg(ARRAY[a, b], c, '{"dataset": "d", "lower": [-1, -1], "upper": [1, 1], "epsilon": 0.1}') AS m FROM t WHERE false OFFSET 0) x;
SELECT pg_temp.charges() - n AS charged FROM said;
SELECT count(*) AS groups FROM (SELECT dp.minimize_max_affine_agg(ARRAY[a, b], c, '{"dataset": "d", "lower": [-1, -1], "upper": [1, 1], "epsilon": 0.1}') AS m FROM t WHERE false GROUP BY b OFFSET 0) x;
SELECT pg_temp.charges() - n AS charged FROM said;
-- an offset is private: whatever it is is no error
SELECT (m).x[1] < -0.9 AS at_the_end FROM (SELECT dp.minimize_max_affine_agg(s, o, '{"dataset": "d", "lower": [-1], "upper": [1], "rho": 1000}') AS m
  FROM (VALUES ('{-1}'::float8[], NULL::float8), ('{-1}', 'NaN'), ('{-1}', '-Infinity'), ('{1}', 5), ('{1}', -1e308)) v (s, o) OFFSET 0) x;
SELECT (m).x[1] > 0.9 AS at_the_end FROM (SELECT dp.minimize_max_affine_agg(s, o, '{"dataset": "d", "lower": [-1], "upper": [1], "rho": 1000}') AS m
  FROM (VALUES ('{-1}'::float8[], 'Infinity'::float8), ('{1}', 1)) v (s, o) OFFSET 0) x;
-- parameters; pure; the owner's methods; EXPLAIN runs nothing
PREPARE q (jsonb) AS SELECT (dp.minimize_max_affine_agg(ARRAY[a, b], c, $1)).release > 0 AS release FROM t;
SET plan_cache_mode = force_generic_plan;
EXECUTE q('{"dataset": "d", "lower": [-1, -1], "upper": [1, 1], "epsilon": 0.1, "method": "subgradient", "iterations": 5}');
RESET plan_cache_mode;
SELECT (dp.minimize_max_affine_agg(ARRAY[a, b], c, '{"dataset": "p", "lower": [-1, -1], "upper": [1, 1], "epsilon": 0.5, "budget": "regress_ann"}')).release > 0 AS pure FROM t;
SELECT dataset, function, rho IS NOT NULL AS rho, epsilon, request->>'rows' AS rows, request->'options' AS options FROM dp.charges ORDER BY charge DESC LIMIT 2;
UPDATE said SET n = pg_temp.charges();
EXPLAIN (COSTS OFF) SELECT dp.minimize_max_affine_agg(ARRAY[a, b], c, '{"dataset": "d", "lower": [-1, -1], "upper": [1, 1], "epsilon": 0.1}') FROM t;
SELECT pg_temp.charges() - n AS charged FROM said;
-- a result that is asked for again is kept with its rows
SET enable_material = off;
SET enable_memoize = off;
SET enable_sort = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT count(*), count(DISTINCT (x.m).release) AS releases
  FROM generate_series(1, 3) k LEFT JOIN (SELECT b, dp.minimize_max_affine_agg(ARRAY[a, b], c, '{"dataset": "d", "lower": [-1, -1], "upper": [1, 1], "epsilon": 0.1}') AS m FROM t GROUP BY b) x ON x.b <> 10 + k;
SELECT pg_temp.charges() - n AS charged FROM said;
SELECT count(*), count(DISTINCT (x.m).x) AS solutions
  FROM generate_series(1, 3) k LEFT JOIN (SELECT z, dp.solve_max_affine(ARRAY[a, b], c, '{"lower": [-1, -1], "upper": [1, 1]}') AS m FROM t GROUP BY z) x ON x.z <> k::text;
RESET enable_material;
RESET enable_memoize;
RESET enable_sort;
RESET enable_hashjoin;
RESET enable_mergejoin;
-- the same question of the table is another one
SELECT release > (SELECT max(release) FROM dp.charges) AS new FROM dp.minimize_max_affine('d', '{a,b}', 'c', '{-1,-1}', '{1,1}', epsilon => 0.1);

-- ---- Without privacy: dp.solve_max_affine ----
SET SESSION AUTHORIZATION regress_stranger;
CREATE TEMP TABLE r AS SELECT sin(i) AS a, cos(1.7 * i) AS b, sin(2.3 * i) / 2 AS c FROM generate_series(1, 300) i;
-- no point of a fine lattice is better, and the gap is proved
SELECT abs((s).value - (SELECT max(a * (s).x[1] + b * (s).x[2] + c) FROM r)) < 1e-12 AS value, (s).gap BETWEEN 0 AND 1e-8 AS gap,
       (SELECT min(v) FROM (SELECT max(a * i / 20.0 + b * j / 20.0 + c) AS v FROM r, generate_series(-20, 20) i, generate_series(-20, 20) j GROUP BY i, j) g)
       BETWEEN (s).value - 1e-9 AND (s).value + 0.1 AS least
  FROM (SELECT dp.solve_max_affine(ARRAY[a, b], c, '{"lower": [-1, -1], "upper": [1, 1]}') AS s FROM r OFFSET 0) x;
-- without options and with bounds that do not matter the same
SELECT abs((s).value - (w).value) < 1e-9 AS same
  FROM (SELECT dp.solve_max_affine(ARRAY[a, b], c) AS s, dp.solve_max_affine(ARRAY[a, b], c, '{"lower": [-1, null], "inequalities": [[0, -1, 100]], "gap": 1e-6}') AS w FROM r OFFSET 0) x;
-- bounds, inequalities
SELECT (s).x, (s).value FROM (SELECT dp.solve_max_affine(ARRAY[k], 0, '{"lower": [-2], "upper": [3]}') AS s FROM (VALUES (1.0), (2.0)) v (k) OFFSET 0) x;
SELECT round((s).x[1]::numeric, 6) AS x, round((s).x[2]::numeric, 6) AS y, round((s).value::numeric, 6) AS value
  FROM (SELECT dp.solve_max_affine(ARRAY[a, b], 0, '{"upper": [9, 9], "inequalities": [[-1, -1, -1], [1, -1, 0]], "lower": [0, 0]}') AS s FROM (VALUES (3, 1)) v (a, b) OFFSET 0) x;
-- nothing, one row, groups
SELECT (s).x, s IS NULL AS no_rows FROM (SELECT dp.solve_max_affine(ARRAY[a, b], c) AS s FROM r WHERE false OFFSET 0) x;
SELECT (s).value FROM (SELECT dp.solve_max_affine('{0}', 7) AS s OFFSET 0) x;
SELECT k, (s).value FROM (SELECT k, dp.solve_max_affine(ARRAY[i], k, '{"lower": [-1], "upper": [1]}') AS s FROM generate_series(0, 1) i, generate_series(1, 3) k GROUP BY k OFFSET 0) x ORDER BY k;
\t on
-- what is wrong is an error
SELECT refused($$SELECT dp.solve_max_affine(ARRAY[1], 0)$$);
SELECT refused($$SELECT dp.solve_max_affine(ARRAY[1], 0, '{"upper": [1]}')$$);
SELECT refused($$SELECT dp.solve_max_affine(ARRAY[1], 0, '{"lower": [2], "upper": [1]}')$$);
SELECT refused($$SELECT dp.solve_max_affine(ARRAY[1, 1], 0, '{"lower": [0, 0], "upper": [1, 1], "inequalities": [[1, 1, -1]]}')$$);
SELECT refused($$SELECT dp.solve_max_affine(ARRAY[1, 1], 0, '{"lower": [0]}')$$);
SELECT refused($$SELECT dp.solve_max_affine(ARRAY[1, 1], 0, '{"inequalities": [[1, 1]]}')$$);
SELECT refused($$SELECT dp.solve_max_affine(ARRAY[1, 1], 0, '{"inequalities": [[1, 1, 1e999]]}')$$);
SELECT refused($$SELECT dp.solve_max_affine(ARRAY[1], 0, '{"gap": 0}')$$);
SELECT refused($$SELECT dp.solve_max_affine(ARRAY[1], 0, '{"gap": 1}')$$);
SELECT refused($$SELECT dp.solve_max_affine(ARRAY[1], 0, '{"gap": "small"}')$$);
SELECT refused($$SELECT dp.solve_max_affine(ARRAY[1], 0, '{"epsilon": 1}')$$);
SELECT refused($$SELECT dp.solve_max_affine(ARRAY[1], 0, '[]')$$);
SELECT refused($$SELECT dp.solve_max_affine(ARRAY[1], 0, NULL)$$);
SELECT refused($$SELECT dp.solve_max_affine(NULL, 0)$$);
SELECT refused($$SELECT dp.solve_max_affine('{}', 0)$$);
SELECT refused($$SELECT dp.solve_max_affine('{{1}}', 0)$$);
SELECT refused($$SELECT dp.solve_max_affine('{NULL}', 0)$$);
SELECT refused($$SELECT dp.solve_max_affine('{NaN}', 0)$$);
SELECT refused($$SELECT dp.solve_max_affine('{Infinity}', 0)$$);
SELECT refused($$SELECT dp.solve_max_affine('{1}', NULL)$$);
SELECT refused($$SELECT dp.solve_max_affine('{1}', 'NaN')$$);
SELECT refused($$SELECT dp.solve_max_affine('{1}', '-Infinity')$$);
SELECT refused($$SELECT dp.solve_max_affine(s, 0) FROM (VALUES ('{1}'::float8[]), ('{1,2}')) v (s)$$);
SELECT refused($$SELECT dp.solve_max_affine((SELECT array_agg(1) FROM generate_series(1, 51)), 0)$$);
SELECT refused($$SELECT dp.solve_max_affine('{1}', 0) OVER ()$$);
RESET SESSION AUTHORIZATION;
SET pg_epsilon.max_memory = '1MB';
SELECT refused($$SELECT dp.solve_max_affine(ARRAY[i], 0, '{"lower": [-1], "upper": [1]}') FROM generate_series(1, 100000) i$$);
RESET pg_epsilon.max_memory;
-- the accumulator is the door's
SELECT refused($$SELECT dp_internal.read_rows('\x636165700300000000000000000000000000000000000000000000000000000000', NULL, 0, c, a) FROM t$$);
SELECT refused($$SELECT dp_internal.read_rows('\x636165700300000000000000000000000000000000000000000000000000000000', '\x00', 0, c, a) FROM t$$);
\t off

DROP FUNCTION refused, ask, ask_agg;
DROP EXTENSION pg_epsilon;
DROP OWNED BY regress_curator, regress_ann CASCADE;
DROP OWNED BY regress_poor, regress_stranger CASCADE;
DROP ROLE regress_curator, regress_ann, regress_bob, regress_poor, regress_pure, regress_stranger;
