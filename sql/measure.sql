-- Many attributes: dp.measure, plans of blocks, answers to any part; estimates are compared at a cost that leaves no error.
CREATE EXTENSION pg_epsilon;
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator;
GRANT CREATE ON SCHEMA public TO regress_ann;
SET SESSION AUTHORIZATION regress_curator;
CREATE FUNCTION public.refused(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE statement;
	RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
	RETURN sqlstate || ' ' || regexp_replace(sqlerrm, '\d+', '#', 'g');
END $$;
-- 24 attributes of ten cells: 10^24 together
CREATE TABLE wide AS SELECT i AS id, i / 3 AS person FROM generate_series(0, 2999) i;
DO $$
DECLARE
	a int;
BEGIN
	FOR a IN 1..24 LOOP
		EXECUTE format('ALTER TABLE wide ADD COLUMN a%s int', a);
		EXECUTE format('UPDATE wide SET a%s = (id * %s + id / %s) %% 10', a, 2 * a + 1, a + 6);
	END LOOP;
END $$;
ALTER TABLE wide ADD COLUMN day int, ADD COLUMN hour int, ADD COLUMN place text;
UPDATE wide SET day = id % 130, hour = NULLIF((id * 7) % 25, 24), place = (ARRAY['n', 'e', 's', 'w', 'nowhere'])[1 + id % 5];
SELECT dp.create_dataset('wide', 'wide', 1e5, accounting => 'zcdp');
DO $$
DECLARE
	a int;
BEGIN
	FOR a IN 1..24 LOOP
		PERFORM dp.add_attribute('wide', format('a%s', a)::name, 0, 10, 10, last => 'open');
	END LOOP;
END $$;
SELECT dp.add_attribute('wide', 'day', 0, 128, 128, outside => 'clamp', last => 'open');
SELECT dp.add_attribute('wide', 'hour', 0, 24, 24, nulls => 'cell', last => 'open');
SELECT dp.add_attribute('wide', 'place', '{n,e,s,w}', outside => 'other');
SELECT dp.grant_budget('wide', 'regress_ann', 1e5);

SET SESSION AUTHORIZATION regress_ann;
SET client_min_messages = warning;
SELECT array_agg('a' || i) AS all24 FROM generate_series(1, 24) i \gset
SELECT array_agg('a' || i) || 'place'::text AS all25 FROM generate_series(1, 24) i \gset
SELECT array_agg('a' || i) AS all20 FROM generate_series(1, 20) i \gset

-- Quotes: the kind, the product of all cells, the certificate
SELECT plan, cells, queries, round(objective::numeric, 1) AS objective, gap < 1e-9 AS closed FROM dp.quote('wide', :'all20', 'marginals(2)', rho => 0.5);
SELECT plan, cells, queries, round(objective::numeric) AS objective, gap < 1e-9 AS closed FROM dp.quote('wide', :'all20', 'marginals(3)', rho => 0.5);
SELECT plan, cells, queries FROM dp.quote('wide', :'all24', 'marginals(1) + marginals(2)', rho => 0.5);
SELECT plan, queries, abs(objective / 3109985362 - 1) < 1e-6 AS optimum, gap < 1e-5 AS close FROM dp.optimize('all_range(128) * all_range(128)'), LATERAL (SELECT 68161536 AS queries) q;
SELECT plan, abs(objective / 239285.053 - 1) < 1e-6 AS optimum, gap < 1e-6 AS close
  FROM dp.optimize('all_range(85) * identity(2) * total(5) * total(2) + all_range(85) * total(2) * identity(5) * total(2) + total(85) * identity(2) * total(5) * identity(2)');

-- The least largest variance: of tables, whose largest is 53.03 where the sum is least, and of a product
SELECT plan, abs(objective / 7.89703335 - 1) < 1e-6 AS optimum, gap < 1e-6 AS close
  FROM dp.optimize((SELECT string_agg(concat_ws(' * ', s[1] || '(50)', s[2] || '(100)', s[3] || '(7)', s[4] || '(4)', s[5] || '(2)'), ' + ')
                      FROM generate_series(1, 5) i, generate_series(i + 1, 5) j,
                      LATERAL (SELECT array_agg(CASE WHEN a IN (i, j) THEN 'identity' ELSE 'total' END ORDER BY a) AS s FROM generate_series(1, 5) a) t), objective => 'max');
SELECT plan, gap < 1e-4 AS close FROM unnest('{all_range(48) * prefix(24),prefix(128) * prefix(64)}'::text[]) w, dp.optimize(w, objective => 'max');
-- one attribute is one matrix
SELECT plan, array_dims(dp.strategy_matrix(strategy)) FROM dp.optimize('prefix(520)');
-- Product form: the bound is told however far it is
SELECT plan, gap BETWEEN 0.05 AND 0.5 AS far FROM dp.quote('wide', '{day,hour,a1,place}', 'prefix(day) * all_range(hour) + prefix(hour) * all_range(a1) + prefix(day) * identity(place)', rho => 1);

-- All two-way tables, measured once, charged once; any part of them is free, to the owner too
SELECT release, queries, plan, round(rho::numeric, 3) AS rho FROM dp.measure('wide', :'all24', 'marginals(2)', rho => 20000) \gset m_
SELECT :'m_plan' AS plan, :'m_queries' AS queries, :'m_rho' AS rho;
SELECT count(*) AS charges FROM dp.charges;
SELECT count(*) FROM dp.answer(:m_release, 'identity(a3) * identity(a17)');
-- The same request by dp.histogram is a replay, also in another notation of the cost; a part of it is another request
SELECT count(*), min(release) = :m_release AS same FROM dp.histogram('wide', :'all24', 'marginals(2)', rho => 2e4);
SELECT replay FROM dp.quote('wide', :'all24', 'marginals(2)', rho => 20000);
SELECT replay FROM dp.quote('wide', :'all24', 'marginals(1)', rho => 20000);
SELECT count(*) AS charges FROM dp.charges;
-- What does not follow
SELECT count(*) FROM dp.answer(:m_release, 'identity(a1) * identity(a2) * identity(a3)');
SELECT count(*) FROM dp.answer(:m_release, 'identity');
SELECT count(*) FROM dp.cells(:m_release);
-- Published parts agree with each other
SELECT dp.publish(:m_release, 'a1_a2', workload => 'identity(a1) * identity(a2)');
SELECT dp.publish(:m_release, 'a1_a3', workload => 'identity(a1) * identity(a3) + identity(a1)');
SELECT max(abs(s - r)) < 1e-9 AS agree FROM (SELECT a1_from, sum(estimate) AS s FROM a1_a2 GROUP BY 1) a
  JOIN (SELECT a1_from, sum(estimate) AS r FROM a1_a3 WHERE a3_cell = 'value' GROUP BY 1) b USING (a1_from);
SELECT max(abs(s - r)) < 1e-9 AS agree FROM (SELECT a1_from, sum(estimate) AS s FROM a1_a2 GROUP BY 1) a
  JOIN (SELECT a1_from, estimate AS r FROM a1_a3 WHERE a3_cell = 'all') b USING (a1_from);

-- Each kind, with NULL cells, 'other', rows that are clamped, a predicate
SELECT release, plan FROM dp.measure('wide', '{day,hour}', 'all_range(day) * prefix(hour)', rho => 14000) \gset k_
SELECT release, plan FROM dp.measure('wide', '{day,hour,place,a1}', 'prefix(day) * identity(place) + all_range(day) * identity(a1) + identity(place) * identity(a1)', rho => 20000) \gset s_
SELECT release, plan FROM dp.measure('wide', '{day,hour,a1,place}', 'prefix(day) * all_range(hour) + prefix(hour) * all_range(a1) + prefix(day) * identity(place)', rho => 20000) \gset p_
SELECT release, plan FROM dp.measure('wide', :'all25', 'marginals(1) + identity(a2) * identity(place)', rho => 20000, predicate => 'a1 < 5 AND place IN (''n'', ''s'') AND (a2 < 3 OR a3 >= 5)') \gset w_
SELECT :'k_plan' AS k, :'s_plan' AS s, :'p_plan' AS p, :'w_plan' AS w;

-- Exact answers, as the owner
SET SESSION AUTHORIZATION regress_curator;
CREATE VIEW counted AS SELECT *, least(day, 127) AS d, CASE WHEN place = 'nowhere' THEN NULL ELSE place END AS p FROM wide;
SELECT count(*) AS queries, max(abs(estimate - coalesce(n, 0))) < 0.6 AS exact, max(stderr) < 0.08 AS sure
  FROM dp.answer(:m_release, 'identity(a3) * identity(a17)') a
  LEFT JOIN (SELECT a3, a17, count(*) AS n FROM wide GROUP BY 1, 2) t
    ON (label->'a3'->>'from')::int = a3 AND (label->'a17'->>'from')::int = a17;
SELECT count(*) AS queries, max(abs(estimate - n)) < 0.6 AS exact, max(stderr) < 0.08 AS sure
  FROM dp.answer(:k_release, 'ranges(day; 0-3, 20-80, 127-127) * ranges(hour; 0-23, 5-5)') a,
  LATERAL (SELECT count(*) AS n FROM counted WHERE d >= (label->'day'->>'from')::int AND d < (label->'day'->>'to')::int
              AND hour >= (label->'hour'->>'from')::int AND hour < (label->'hour'->>'to')::int) t;
SELECT count(*) FROM dp.answer(:k_release, 'identity(hour)');
SELECT count(*) AS queries, max(abs(estimate - n)) < 0.6 AS exact, max(stderr) < 0.08 AS sure
  FROM dp.answer(:s_release, 'prefix(day) * identity(place)') a,
  LATERAL (SELECT count(*) AS n FROM counted WHERE d < (label->'day'->>'to')::int
              AND p IS NOT DISTINCT FROM CASE WHEN jsonb_typeof(label->'place') = 'string' THEN label->>'place' END) t;
SELECT count(*) AS queries, max(abs(estimate - n)) < 0.6 AS exact, max(stderr) < 0.08 AS sure
  FROM dp.answer(:p_release, 'ranges(day; 5-9, 100-127) * ranges(hour; 0-0, 3-20)') a,
  LATERAL (SELECT count(*) AS n FROM counted WHERE d >= (label->'day'->>'from')::int AND d < (label->'day'->>'to')::int
              AND hour >= (label->'hour'->>'from')::int AND hour < (label->'hour'->>'to')::int) t;
SELECT count(*) AS queries, max(abs(estimate - n)) < 0.6 AS exact, max(stderr) < 0.08 AS sure
  FROM dp.answer(:w_release, 'identity(a2) * identity(place)') a,
  LATERAL (SELECT count(*) AS n FROM wide WHERE a1 < 5 AND place IN ('n', 's') AND (a2 < 3 OR a3 >= 5)
              AND a2 = (label->'a2'->>'from')::int AND place = label->>'place') t;

-- Each kind with units of three rows, a predicate, the NULL cell and 'other' together: exact, as every person has three rows
CREATE TABLE several AS SELECT * FROM wide;
SELECT dp.create_dataset('several', 'several', 1e5, accounting => 'zcdp', unit => 'person', max_rows => 3);
SELECT dp.add_attribute('several', 'a1', 0, 10, 10, last => 'open'), dp.add_attribute('several', 'a2', 0, 10, 10, last => 'open'),
  dp.add_attribute('several', 'day', 0, 128, 128, outside => 'clamp', last => 'open'), dp.add_attribute('several', 'hour', 0, 24, 24, nulls => 'cell', last => 'open'),
  dp.add_attribute('several', 'place', '{n,e,s,w}', outside => 'other');
SELECT dp.grant_budget('several', 'regress_ann', 1e5);
CREATE VIEW chosen AS SELECT *, to_jsonb(coalesce(p, 'other')) AS place_cell, to_jsonb(coalesce(hour, -1)) AS hour_cell
  FROM counted WHERE a1 < 8 AND (d < 90 OR a2 >= 5 OR hour IS NULL);
SET SESSION AUTHORIZATION regress_ann;
\set chosen 'a1 < 8 AND (day < 90 OR a2 >= 5 OR hour IS NULL)'
SELECT release, plan FROM dp.measure('several', '{day,hour,place,a1,a2}', 'identity(hour) * identity(place) + identity(a1) * identity(place)', rho => 10000, predicate => :'chosen') \gset m3_
SELECT release, plan FROM dp.measure('several', '{day,hour,place,a1,a2}', 'prefix(day) * identity(hour) * identity(place)', rho => 16000, predicate => :'chosen') \gset k3_
SELECT release, plan FROM dp.measure('several', '{day,hour,place,a1,a2}', 'prefix(day) * identity(place) * identity(hour) + all_range(day) * identity(a1)', rho => 16000, predicate => :'chosen') \gset s3_
SELECT release, plan FROM dp.measure('several', '{day,hour,place,a1,a2}', 'identity(hour) * identity(place) + prefix(day) * prefix(hour) + prefix(day) * prefix(a2)', rho => 50000, predicate => :'chosen') \gset p3_
SELECT :'m3_plan' AS m, :'k3_plan' AS k, :'s3_plan' AS s, :'p3_plan' AS p;
SET SESSION AUTHORIZATION regress_curator;
SELECT r.kind, count(*) AS queries, max(abs(estimate - n)) < 0.6 AS exact, max(stderr) < 0.08 AS sure, sum(n)
  FROM (VALUES ('m', :m3_release::bigint), ('k', :k3_release), ('s', :s3_release), ('p', :p3_release)) r(kind, release),
  LATERAL dp.answer(r.release, 'identity(hour) * identity(place)' || CASE WHEN kind IN ('k', 's') THEN ' * ranges(day; 0-127)' ELSE '' END) a,
  LATERAL (SELECT label->'hour'->'from' AS h, CASE WHEN jsonb_typeof(label->'place') = 'string' THEN label->'place' ELSE '"other"' END AS of_place) l,
  LATERAL (SELECT count(*) AS n FROM chosen WHERE hour_cell = coalesce(h, '-1') AND place_cell = of_place) t
  GROUP BY 1 ORDER BY 1;

-- Units of several rows, and the other rules
CREATE TABLE persons AS SELECT * FROM wide;
SELECT dp.create_dataset('persons', 'persons', 1e5, accounting => 'zcdp', unit => 'person', max_rows => 2, neighbours => 'substitute');
DO $$
DECLARE
	a int;
BEGIN
	FOR a IN 1..24 LOOP
		PERFORM dp.add_attribute('persons', format('a%s', a)::name, 0, 10, 10, last => 'open');
	END LOOP;
END $$;
SELECT dp.grant_budget('persons', 'regress_ann', 1e5);
SET SESSION AUTHORIZATION regress_ann;
SELECT release, plan FROM dp.measure('persons', :'all24', 'marginals(2)', rho => 80000) \gset u_
SELECT plan, round((rms_stderr / (SELECT rms_stderr FROM dp.quote('wide', :'all24', 'marginals(2)', rho => 80000)))::numeric, 2) AS wider
  FROM dp.quote('persons', :'all24', 'marginals(2)', rho => 80000);
-- 1000 persons with three rows each; two of them count, the same ones in every table
SELECT abs(estimate - 2000) < 7 * stderr AS total, stderr < 2 AS sure FROM dp.answer(:u_release, 'total');
SELECT bool_and(abs(a.estimate - b.estimate) < 1e-6) AS same FROM dp.answer(:u_release, 'identity(a1)') a
  JOIN (SELECT label->'a1' AS cell, sum(estimate) AS estimate FROM dp.answer(:u_release, 'identity(a1) * identity(a9)') GROUP BY 1) b ON a.label->'a1' = b.cell;

-- Units of many rows: three factors leave room for them
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE heavy AS SELECT person, a1, a2, a3 FROM wide;
SELECT dp.create_dataset('heavy', 'heavy', 1e5, accounting => 'zcdp', unit => 'person', max_rows => 1000);
SELECT dp.add_attribute('heavy', ('a' || i)::name, 0, 10, 10, last => 'open') FROM generate_series(1, 3) i;
SELECT dp.grant_budget('heavy', 'regress_ann', 1e5);
-- 2^112 cells have numbers, 2^128 do not; without a unit they need none
CREATE TABLE tall AS SELECT person, a1, a2, a3, a4, a5, a6, a7, a8 FROM wide;
CREATE TABLE flat AS SELECT * FROM tall;
SELECT dp.create_dataset('tall', 'tall', 1e5, accounting => 'zcdp', unit => 'person', max_rows => 3), dp.create_dataset('flat', 'flat', 1e5, accounting => 'zcdp');
SELECT dp.add_attribute(d, ('a' || i)::name, 0, 65536, 65536, last => 'open') FROM unnest('{tall,flat}'::name[]) d, generate_series(1, 8) i;
SELECT dp.grant_budget('tall', 'regress_ann', 1e5), dp.grant_budget('flat', 'regress_ann', 1e5);
SET SESSION AUTHORIZATION regress_ann;
SELECT plan, fits, gap < 0.01 AS near FROM dp.quote('heavy', '{a1,a2,a3}', 'prefix(a1) * prefix(a2) * prefix(a3)', rho => 1);
SELECT plan, fits FROM dp.quote('heavy', '{a1,a2,a3}', 'prefix(a1) * prefix(a2) * prefix(a3)', rho => 1, rows_per_unit => 1);

-- Pure budgets: the same plans with Laplace noise
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE pure AS SELECT * FROM wide;
SELECT dp.create_dataset('pure', 'pure', 1e5, accounting => 'pure');
DO $$
DECLARE
	a int;
BEGIN
	FOR a IN 1..20 LOOP
		PERFORM dp.add_attribute('pure', format('a%s', a)::name, 0, 10, 10, last => 'open');
	END LOOP;
END $$;
SELECT dp.add_attribute('pure', 'hour', 0, 24, 24, nulls => 'cell', last => 'open');
SELECT dp.grant_budget('pure', 'regress_ann', 1e5);
SET SESSION AUTHORIZATION regress_ann;
SELECT plan, gap FROM dp.quote('pure', :'all20', 'marginals(2)', epsilon => 1);
SELECT plan, gap FROM dp.quote('pure', '{hour,a1,a2}', 'all_range(hour) * identity(a1) * identity(a2)', epsilon => 1);
SELECT release FROM dp.measure('pure', :'all20', 'marginals(2)', epsilon => 50000) \gset l_
SELECT release, plan FROM dp.measure('pure', '{hour,a1,a2}', 'all_range(hour) * identity(a1) * identity(a2)', epsilon => 40000) \gset q_

SET SESSION AUTHORIZATION regress_curator;
SELECT max(abs(estimate - n)) < 0.6 AS exact, max(stderr) < 0.08 AS sure FROM dp.answer(:l_release, 'identity(a1) * identity(a20)') a,
  LATERAL (SELECT count(*) AS n FROM pure WHERE a1 = (label->'a1'->>'from')::int AND a20 = (label->'a20'->>'from')::int) t;
SELECT max(abs(estimate - n)) < 0.6 AS exact, max(stderr) < 0.08 AS sure FROM dp.answer(:q_release, 'ranges(hour; 3-9, 10-23) * identity(a2)') a,
  LATERAL (SELECT count(*) AS n FROM pure WHERE hour >= (label->'hour'->>'from')::int AND hour < (label->'hour'->>'to')::int
              AND a2 = (label->'a2'->>'from')::int) t;

SET SESSION AUTHORIZATION regress_ann;
-- What is refused names the number and the limit
SELECT release FROM dp.measure('wide', (SELECT array_agg('a' || i) FROM generate_series(1, 33) i), 'total', rho => 1);
SELECT plan FROM dp.quote('wide', :'all24', 'identity', rho => 1);
SELECT plan FROM dp.quote('wide', :'all24', 'marginals(12)', rho => 1);
SELECT plan FROM dp.quote('wide', '{day,hour,place,a1,a2,a3}', 'all_range(day) * all_range(hour) * identity(place) * identity(a1) * identity(a2) * identity(a3)', rho => 1);
SELECT count(*) FROM dp.histogram('wide', '{a1,a2,a3,a4,a5,a6,a7,a8}', 'marginals(7)', rho => 1);
SELECT plan FROM dp.quote('wide', :'all24', 'marginals(2)', rho => 1, method => 'identity');
SELECT plan FROM dp.quote('wide', '{day,hour,a1,a2,a3,a4}', 'prefix(day) * prefix(hour) * prefix(a1) * prefix(a2) * prefix(a3) * prefix(a4)', rho => 1);
SELECT plan FROM dp.quote('wide', '{day,a1,place}', 'identity + matrix({{' || repeat('1,', 6399) || '1}})', rho => 1);
SELECT plan FROM dp.quote('wide', :'all24', 'identity(a1) * identity(a2) * identity(a3) * identity(a4) * identity(a5) * identity(a6) * identity(a7) * identity(a8) + identity(a9)', rho => 1);
SELECT plan FROM dp.optimize(repeat('identity(2) * ', 16) || 'total(2) * total(1000) + ' || repeat('total(2) * ', 16) || 'identity(2) * total(1000)');
SELECT plan FROM dp.quote('tall', '{a1,a2,a3,a4,a5,a6,a7}', 'marginals(1)', rho => 1);
SELECT plan FROM dp.quote('tall', '{a1,a2,a3,a4,a5,a6,a7,a8}', 'marginals(1)', rho => 1);
SELECT plan FROM dp.quote('flat', '{a1,a2,a3,a4,a5,a6,a7,a8}', 'marginals(1)', rho => 1);
-- a table of a million cells: not in 32 MB, known before anything is charged
\set million 'identity(a1) * identity(a2) * identity(a3) * identity(a4) * identity(a5) * identity(a6) + identity(a7) * identity(a8)'
SELECT plan FROM dp.quote('wide', :'all24', :'million', rho => 1);
SELECT count(*) AS charges FROM dp.charges \gset
RESET SESSION AUTHORIZATION;
LOAD 'pg_epsilon';
SET pg_epsilon.max_memory = '32MB';
SET SESSION AUTHORIZATION regress_ann;
SELECT refused(format('SELECT plan FROM dp.quote(''wide'', %L, %L, rho => 1)', :'all24', :'million')) AS quoted,
       refused(format('SELECT release FROM dp.measure(''wide'', %L, %L, rho => 1)', :'all24', :'million')) AS measured;
SELECT count(*) = :charges AS free FROM dp.charges;
RESET SESSION AUTHORIZATION;
RESET pg_epsilon.max_memory;
SET SESSION AUTHORIZATION regress_ann;
-- Nearest tables without negative cells, from the same release
SELECT count(*), min(release) = :m_release AS same, min(estimate) >= 0 AS nonnegative FROM dp.histogram('wide', :'all24', 'marginals(2)', rho => 20000, nonnegative => true);
SELECT count(*) > 0 AS answered FROM dp.histogram('wide', '{day,place}', 'prefix(day) * identity(place)', rho => 20);
SELECT count(*) FROM dp.histogram('wide', '{day,place}', 'prefix(day) * identity(place)', rho => 20, nonnegative => true);
SELECT * FROM dp.strategy_matrix((SELECT strategy FROM dp.optimize('all_range(128) * all_range(128)')));
SELECT count(*) FROM dp.workload_matrix('total(2000000)');
SELECT count(*) FROM dp.workload_matrix('total(2000) * total(1000)');
SELECT plan FROM dp.optimize('all_range(5000) * identity(3)');
SELECT plan FROM dp.optimize('identity(3) * total(100000) + matrix({{1,2,3}}) * total(100000)');

RESET SESSION AUTHORIZATION;
DROP FUNCTION public.refused(text);
DROP EXTENSION pg_epsilon;
DROP OWNED BY regress_curator, regress_ann;
DROP ROLE regress_curator, regress_ann;
