-- One measurement: what one front has paid for the others have free, and sums have every workload.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator, regress_ann;
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE people (sex text, age int, ward int, height int NOT NULL, weight int);
INSERT INTO people SELECT (ARRAY['f', 'm'])[i % 2 + 1], i * i % 90, i / 3 % 6, 150 + i % 41, CASE WHEN i % 7 > 0 THEN 50 + i % 50 END
  FROM generate_series(1, 20000) i;
SELECT dp.create_dataset('people', 'people', 100000);
SELECT dp.add_attribute('people', 'sex', '{f,m}', outside => 'other', nulls => 'cell');
SELECT dp.add_attribute('people', 'age', 0, 90, bins => 90, last => 'open', nulls => 'cell');
SELECT dp.add_attribute('people', 'ward', 0, 6, bins => 6, last => 'open', nulls => 'cell');
SELECT dp.add_attribute('people', 'height', 150, 191, bins => 41, last => 'open');
SELECT dp.add_attribute('people', 'weight', 50, 100, bins => 1, last => 'closed');
SELECT dp.grant_budget('people', 'regress_ann', 100000);
SELECT dp.expose('people', 'public.shown', epsilon => .1);
GRANT SELECT ON shown TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SET client_min_messages = warning;
CREATE FUNCTION pg_temp.charges() RETURNS bigint LANGUAGE sql AS $$ SELECT count(*) FROM dp.charges WHERE rho > 0 $$;

-- the same counts by four fronts: one charge
CREATE TEMP TABLE h AS SELECT * FROM dp.histogram('people', '{sex}', epsilon => .1);
SELECT bool_and(a.estimate = h.estimate AND a.stderr = h.stderr AND a.release = h.release) AS same, count(*)
  FROM dp.aggregate('people', '{count(*)}', '{sex}', epsilon => .1) a JOIN h USING (label);
SELECT bool_and(a.lower95 = h.lower95 AND a.upper95 = h.upper95) AS same_intervals FROM dp.aggregate('people', '{count(*)}', '{sex}', epsilon => .1) a JOIN h USING (label);
SELECT m.release = h.release AS same FROM dp.measure('people', '{sex}', epsilon => .1) m, h LIMIT 1;
SELECT s.sex, s.count = round(h.estimate) AS same FROM (SELECT sex, count(*) FROM shown GROUP BY sex) s JOIN h ON h.label->>'sex' = s.sex ORDER BY 1;
SELECT pg_temp.charges();
-- and the other way round
CREATE TEMP TABLE s AS SELECT ward, count(*) FROM shown GROUP BY ward;
SELECT bool_and(round(h.estimate) = s.count) AS same FROM dp.histogram('people', '{ward}', 'identity(ward)', epsilon => .1) h JOIN s ON (h.label->'ward'->>'from')::int = s.ward;
SELECT a.release = h.release AS same FROM dp.aggregate('people', '{count(*)}', '{age}', workload => 'prefix(age)', epsilon => .1) a,
  dp.histogram('people', '{age}', 'prefix(age)', epsilon => .1) h LIMIT 1;
SELECT pg_temp.charges();
-- what one paid for the free functions of the other read
SELECT count(*) FROM dp.aggregate('people', '{count(*)}', '{sex,ward}', epsilon => 400) a, dp.answer(a.release, 'identity(sex) * total(ward)');

-- a part of what was paid for is free, if it is as precise
SELECT pg_temp.charges();
SELECT count(*) FROM dp.measure('people', '{sex,age,ward}', 'marginals(2)', epsilon => 500);
SELECT label->>'sex' AS sex, abs(estimate - 10000) < 5 AS exact FROM dp.aggregate('people', '{count(*)}', '{sex}', epsilon => .2, reuse => true);
SET pg_epsilon.epsilon = .3;
SELECT sex, abs(count(*) - 10000) < 5 AS exact FROM shown GROUP BY sex HAVING sex IN ('f', 'm') ORDER BY 1;
SELECT pg_temp.charges();
-- sums too: of finer groups, beside other aggregates; each of the sums has to be there
SELECT count(*) FROM dp.aggregate('people', '{count(*), sum(height), avg(weight)}', '{sex,ward}', epsilon => 500);
SELECT pg_temp.charges();
CREATE TEMP TABLE averages AS SELECT ward, avg(height) AS height, avg(weight) AS weight, sum(height) AS sum, count(*) FROM shown GROUP BY ward;
SELECT pg_temp.charges();
SET SESSION AUTHORIZATION regress_curator;
CREATE TEMP TABLE exact AS SELECT ward, avg(height) AS height, avg(weight) AS weight, sum(height) AS sum, count(*) FROM people GROUP BY ward;
GRANT SELECT ON exact TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SELECT bool_and(abs(a.height - e.height) < .01 AND abs(a.weight - e.weight) < .05 AND abs(a.sum - e.sum) < 100 AND abs(a.count - e.count) < 5) AS exact, count(*)
  FROM averages a JOIN exact e USING (ward);
-- and the counts among them are counts for every function, the same ones: also beside weight, which may be absent
SELECT bool_and(abs(a.stderr / b.stderr - 1) < 1e-9 AND abs(a.estimate - b.estimate) < 1e-6 AND abs(a.lower95 - b.lower95) < 1e-6 AND abs(a.upper95 - b.upper95) < 1e-6) AS same, count(*)
  FROM dp.aggregate('people', '{count(*), sum(height), avg(weight)}', '{sex,ward}', epsilon => 500) a, dp.answer(a.release, 'identity(sex) * identity(ward)') b
  WHERE a.aggregate = 'count(*)' AND a.label = b.label;
SELECT bool_and(abs(estimate - e.count) < 5) AS exact, count(*) FROM dp.answer((SELECT max(release) FROM dp.releases), 'identity(ward)') a JOIN exact e ON e.ward = (a.label->'ward'->>'from')::int;
SELECT bool_and(abs(estimate - e.count) < 5) AS exact, count(*) FROM dp.histogram('people', '{ward}', epsilon => .2, reuse => true) a JOIN exact e ON e.ward = (a.label->'ward'->>'from')::int;
SELECT bool_and(abs(estimate - e.count) < 5 AND stderr < .2) AS exact, count(*)
  FROM dp.combine((SELECT array_agg(release ORDER BY release DESC) FROM (SELECT release FROM dp.releases WHERE attributes = '{sex,ward}' OR attributes = '{ward}') r), 'identity(ward)') a
    JOIN exact e ON e.ward = (a.label->'ward'->>'from')::int;
SELECT pg_temp.charges();
-- also behind other parts
SELECT bool_and(abs(a.estimate - e.count) < 5) AS exact, count(*)
  FROM dp.aggregate('people', '{avg(weight), count(*)}', '{ward,sex}', epsilon => 700) r, dp.answer(r.release, 'identity(ward)') a JOIN exact e ON e.ward = (a.label->'ward'->>'from')::int
  WHERE r.label->>'sex' = 'f' AND r.label->'ward'->>'from' = '1' AND r.aggregate = 'count(*)';
-- not what is less precise, nor other sums, nor other rows
SET pg_epsilon.epsilon = 500;
SELECT count(*) FROM (SELECT ward, avg(height) FROM shown GROUP BY ward) x;
SELECT ward, avg(height) > 0 FROM shown GROUP BY ward ORDER BY 1 LIMIT 1;
SET pg_epsilon.epsilon = .3;
SELECT ward, stddev(height) > 0 FROM shown GROUP BY ward ORDER BY 1 LIMIT 1;
SELECT count(*) FROM dp.aggregate('people', '{sum(height)}', '{ward}', predicate => 'age < 45', epsilon => .3, reuse => true);

-- averages of all pairs of attributes: more classes of cells than one matrix can have
SET pg_epsilon.epsilon = 500;
CREATE TEMP TABLE cube AS
  SELECT sex, age, ward, height, count(*), avg(weight), sum(weight), dp.stderr_avg(weight) AS stderr, dp.stderr_sum(weight) AS stderr_sum, dp.stderr_count(*) AS stderr_count, GROUPING(sex, age, ward, height) AS set
    FROM shown GROUP BY GROUPING SETS ((sex, age), (sex, ward), (sex, height), (age, ward), (age, height), (ward, height));
SELECT set, count(*) FROM cube GROUP BY set ORDER BY set;
SET SESSION AUTHORIZATION regress_curator;
CREATE TEMP TABLE exact_cube AS
  SELECT sex, age, ward, height, count(*), avg(weight), sum(weight), GROUPING(sex, age, ward, height) AS set
    FROM people GROUP BY GROUPING SETS ((sex, age), (sex, ward), (sex, height), (age, ward), (age, height), (ward, height));
GRANT SELECT ON exact_cube TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SELECT bool_and(abs(e.count - c.count) < 8 * c.stderr_count) AS count, bool_and(abs(e.sum - c.sum) < 8 * c.stderr_sum) AS sum,
    bool_and(abs(e.avg - c.avg) < 9 * c.stderr OR c.avg IS NULL) AS avg, count(e.avg) - count(c.avg) < 100 AS told
  FROM cube c LEFT JOIN exact_cube e USING (set) WHERE (c.sex, c.age, c.ward, c.height) IS NOT DISTINCT FROM (e.sex, e.age, e.ward, e.height);
-- the same by dp.aggregate, and every cell of the exact one is there
SELECT pg_temp.charges();
SELECT count(*) = (SELECT count(*) FROM cube) AS same FROM dp.aggregate('people', '{count(*)}', '{sex,age,ward,height}', epsilon => 500,
  workload => 'identity(sex)*identity(age) + identity(sex)*identity(ward) + identity(sex)*identity(height) + identity(age)*identity(ward) + identity(age)*identity(height) + identity(ward)*identity(height)');
SELECT aggregate, stderr < 20 FROM dp.quote_aggregate('people', '{sum(weight), count(weight), avg(height)}', '{sex,age,ward,height}', workload => 'marginals(2)', epsilon => 500);
-- medians of several columns, each with a strategy of its own; replayed, read again, and one of them alone
SET pg_epsilon.epsilon = 400;
CREATE TEMP TABLE medians AS SELECT ward, percentile_disc(.5) WITHIN GROUP (ORDER BY age) AS age, percentile_disc(.25) WITHIN GROUP (ORDER BY height) AS height, count(*) FROM shown GROUP BY ward;
SELECT pg_temp.charges();
SELECT bool_and((a.age, a.height, a.count) IS NOT DISTINCT FROM (m.age, m.height, m.count)) AS same
  FROM (SELECT ward, percentile_disc(.5) WITHIN GROUP (ORDER BY age) AS age, percentile_disc(.25) WITHIN GROUP (ORDER BY height) AS height, count(*) FROM shown GROUP BY ward) a JOIN medians m USING (ward);
GRANT SELECT ON medians TO regress_curator;
SET SESSION AUTHORIZATION regress_curator;
SELECT bool_and(abs(m.age - e.age) <= 1 AND abs(m.height - e.height) <= 1) AS exact
  FROM medians m JOIN (SELECT ward, percentile_disc(.5) WITHIN GROUP (ORDER BY age) AS age, percentile_disc(.25) WITHIN GROUP (ORDER BY height) AS height FROM people GROUP BY ward) e USING (ward);
SET SESSION AUTHORIZATION regress_ann;
SELECT pg_temp.charges();
-- a release with two strategies is read again
SELECT dp.publish(max(release), 'public.published_medians') FROM dp.aggregate('people', '{median(age),median(height),count(*)}', '{ward}', epsilon => 300);
SELECT count(*) FROM published_medians;
-- a multiple of a column, more or less a number, has the error of the column's average
SELECT abs(avg(height - 150) - (avg(height) - 150)) < 1e-6 AS offset, abs(dp.stderr_avg(200 - height) / dp.stderr_avg(height) - 1) < 1e-6 AS negative,
    abs(dp.stderr_avg(height / 100.0) / dp.stderr_avg(height) - .01) < 1e-6 AS ratio, dp.lower95_avg(-height) < avg(-height) AND avg(-height) < dp.upper95_avg(-height) AS inside,
    dp.stderr_avg(2 * height + 1) < .1 AS small FROM shown;
SELECT pg_temp.charges();
RESET SESSION AUTHORIZATION;

-- with a unit, and neighbours that exchange it; and with a pure budget
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE visits AS SELECT i / 2 AS person, i * i % 90 AS age, i % 61 AS day, i % 13 AS cost, i % 11 - 5 AS change, CASE WHEN i % 4 > 0 THEN i % 13 END AS paid FROM generate_series(2, 20001) i;
SELECT dp.create_dataset('visits', 'visits', 100000, unit => 'person', max_rows => 2, neighbours => 'substitute');
SELECT dp.add_attribute('visits', 'age', 0, 90, bins => 90, last => 'open');
SELECT dp.add_attribute('visits', 'day', 0, 61, bins => 61, last => 'open');
SELECT dp.add_attribute('visits', 'cost', 0, 12, bins => 1, last => 'closed');
SELECT dp.add_attribute('visits', 'paid', 0, 12, bins => 1, last => 'closed');
SELECT dp.grant_budget('visits', 'regress_ann', 90000);
CREATE TABLE stays AS TABLE visits;
ALTER TABLE stays ALTER cost SET NOT NULL, ALTER day SET NOT NULL, ALTER change SET NOT NULL;
SELECT dp.create_dataset('stays', 'stays', 100000, delta => 0, accounting => 'pure');
SELECT dp.add_attribute('stays', 'age', 0, 90, bins => 90, last => 'open');
SELECT dp.add_attribute('stays', 'day', 0, 61, bins => 61, last => 'open');
SELECT dp.add_attribute('stays', 'cost', 0, 12, bins => 1, last => 'closed');
SELECT dp.add_attribute('stays', 'change', -5, 5, bins => 1, last => 'closed');
SELECT dp.grant_budget('stays', 'regress_ann', 90000);
CREATE TEMP TABLE exact_visits AS SELECT age, day, count(*)::float8, sum(cost)::float8, GROUPING(age, day) AS set FROM visits GROUP BY GROUPING SETS ((age), (day), ());
GRANT SELECT ON exact_visits TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
-- 5,490 cells and all margins: blocks
SELECT x.dataset, bool_and(abs(a.estimate - CASE a.aggregate WHEN 'count(*)' THEN e.count ELSE e.sum END) < 8 * a.stderr) AS exact, count(*)
  FROM (VALUES ('visits'), ('stays')) x (dataset),
    LATERAL dp.aggregate(x.dataset, '{count(*), sum(cost)}', '{age,day}', workload => 'marginals(2) + identity(age) * total(day) + total(age) * identity(day) + total', epsilon => 900) a
    JOIN exact_visits e ON e.age IS NOT DISTINCT FROM (a.label->'age'->>'from')::int AND e.day IS NOT DISTINCT FROM (a.label->'day'->>'from')::int
  WHERE NOT (a.label ? 'age' AND a.label ? 'day') GROUP BY 1 ORDER BY 1;
-- with a unit the same list of attributes counts the same rows; another list does not
SELECT x.aggregates, count(DISTINCT release) FROM (VALUES ('{count(*)}'), ('{sum(cost)}')) x (aggregates),
  dp.aggregate('visits', x.aggregates::text[], '{age,day}', workload => 'identity(age) * total(day)', epsilon => .1, reuse => true) GROUP BY 1 ORDER BY 1;

-- what is read of several parts is each part's own: numbers, noise and units of blocks; nothing is paid
SET SESSION AUTHORIZATION regress_ann;
CREATE FUNCTION pg_temp.is_free(request text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
    before bigint := count(*) FROM dp.releases;
BEGIN
    EXECUTE request;
    RETURN count(*) = before FROM dp.releases;
END $$;
SELECT count(*) AS before FROM dp.releases \gset
SELECT bool_and(abs(a.estimate - e.sum) < 8 * a.stderr AND a.stderr < 100) AS exact, count(*)
  FROM dp.aggregate('people', '{sum(weight)}', '{ward}', epsilon => .3, reuse => true) a JOIN (SELECT ward, sum(sum) FROM exact_cube WHERE set = 5 GROUP BY ward) e ON e.ward = (a.label->'ward'->>'from')::int;
-- of height rows without one drop, so it stands in the groups of both
SELECT bool_and(abs(a.estimate - e.sum) < 8 * a.stderr AND a.stderr < 100) AS exact, count(*)
  FROM dp.aggregate('people', '{sum(weight)}', '{age,height}', workload => 'identity(age) * total(height)', epsilon => .3, reuse => true) a
    JOIN (SELECT age, sum(sum) FROM exact_cube WHERE set = 3 GROUP BY age) e ON e.age = (a.label->'age'->>'from')::int;
SELECT a.aggregate, bool_and(abs(a.estimate - b.estimate) < 1e-9 AND abs(a.stderr / b.stderr - 1) < 1e-9) AS same, bool_and(a.release = b.release) AS release
  FROM dp.aggregate('people', '{count(*), sum(height), avg(weight)}', '{sex,ward}', epsilon => 500) a
    JOIN dp.aggregate('people', '{avg(weight), sum(height)}', '{sex,ward}', epsilon => 1, reuse => true) b USING (label, aggregate) GROUP BY 1 ORDER BY 1;
SELECT count(*) - :before AS paid FROM dp.releases;
-- what is known less precisely, of other rows, and of other numbers is paid for
SELECT pg_temp.is_free($$SELECT dp.aggregate('people', '{sum(height)}', '{ward}', epsilon => 600, reuse => true)$$),
  pg_temp.is_free($$SELECT dp.aggregate('people', '{sum(height)}', '{ward}', epsilon => 590, reuse => true)$$),
  pg_temp.is_free($$SELECT dp.aggregate('people', '{sum(weight) where (height >= 160)}', '{ward}', epsilon => .3, reuse => true)$$) AS some;
SELECT pg_temp.is_free($$SELECT dp.aggregate('stays', '{sum(cost)}', '{age}', epsilon => 500)$$) AS first,
  pg_temp.is_free($$SELECT dp.aggregate('stays', '{sum(cost)}', '{age}', epsilon => .3, reuse => true)$$) AS same,
  pg_temp.is_free($$SELECT dp.aggregate('stays', '{sum(day)}', '{age}', epsilon => .3, reuse => true)$$) AS other;
-- the square of one of two numbers is not that of the other
SELECT pg_temp.is_free($$SELECT dp.aggregate('stays', '{"regr_slope(cost, change)"}', '{age}', epsilon => 800)$$) AS first,
  pg_temp.is_free($$SELECT dp.aggregate('stays', '{"regr_slope(cost, change)"}', '{age}', epsilon => .3, reuse => true)$$) AS same,
  pg_temp.is_free($$SELECT dp.aggregate('stays', '{"regr_slope(change, cost)"}', '{age}', epsilon => .3, reuse => true)$$) AS other;
-- people: of as many groups of a unit
SELECT pg_temp.is_free($$SELECT dp.aggregate('visits', '{count(distinct unit), count(*)}', '{age}', epsilon => 400, cells_per_unit => 2)$$) AS first,
  pg_temp.is_free($$SELECT dp.aggregate('visits', '{count(distinct unit)}', '{age}', epsilon => .3, cells_per_unit => 1, reuse => true)$$) AS other,
  pg_temp.is_free($$SELECT dp.aggregate('visits', '{count(distinct unit)}', '{age}', epsilon => .4, cells_per_unit => 2, reuse => true)$$) AS same;
-- a count of some rows is no release of counts
SELECT count(*) FROM dp.aggregate('people', '{count(weight), sum(weight)}', '{age}', epsilon => 900);
SELECT regexp_replace(refused(format('SELECT * FROM dp.answer(%s, ''total'')', (SELECT max(release) FROM dp.releases))), 'release \d+', 'the release') AS refused;
SELECT count(*) FROM dp.aggregate('people', '{count(weight)}', '{age}', epsilon => 900);
SELECT regexp_replace(refused(format('SELECT * FROM dp.answer(%s, ''total'')', (SELECT max(release) FROM dp.releases))), 'release \d+', 'the release') AS refused;
-- a sum alone is none; and where it stands in front of the count it is not taken for it
SELECT count(*) FROM dp.aggregate('stays', '{sum(change)}', '{age}', epsilon => 900);
SELECT regexp_replace(refused(format('SELECT * FROM dp.answer(%s, ''total'')', (SELECT max(release) FROM dp.releases))), 'release \d+', 'the release') AS refused;
SELECT count(*) FROM dp.aggregate('stays', '{sum(change), count(*)}', '{age}', epsilon => 900);
SELECT abs(estimate - 20000) < 8 * stderr AND stderr < 5 AS exact FROM dp.answer((SELECT max(release) FROM dp.releases), 'total');
-- with a unit counts beside a number may be of other rows
SELECT pg_temp.is_free($$SELECT dp.aggregate('visits', '{count(*), sum(cost)}', '{day}', epsilon => 600)$$) AS first,
  pg_temp.is_free($$SELECT dp.histogram('visits', '{day}', epsilon => .3, reuse => true)$$) AS other;
-- what is wide, what a predicate leaves of an attribute, people, and ranks of many cells
SELECT count(*) AS served FROM dp.quote_aggregate('people', '{stddev(height)}', '{age,ward,weight,height}', workload => 'prefix(age) * prefix(ward) * prefix(height)', epsilon => 1);
SELECT a.aggregate, a.stderr < .97 * b.stderr AS less
  FROM dp.quote_aggregate('people', '{count(*), sum(weight)}', '{age,ward,height}', workload => 'prefix(age) * identity(height) + prefix(age) * identity(ward)', predicate => 'age < 2', epsilon => 1) a
    JOIN dp.quote_aggregate('people', '{count(*), sum(weight)}', '{age,ward,height}', workload => 'prefix(age) * identity(height) + prefix(age) * identity(ward)', epsilon => 1) b USING (aggregate) ORDER BY 1;
CREATE TEMP TABLE many_medians AS SELECT (label->'ward'->>'from')::int AS ward, (label->'height'->>'from')::int AS height, estimate, lower95, upper95
  FROM dp.aggregate('people', '{median(age)}', '{ward,height}', epsilon => 900);
SET SESSION AUTHORIZATION regress_curator;
CREATE TEMP TABLE exact_many_medians AS SELECT ward, height, percentile_disc(.5) WITHIN GROUP (ORDER BY age) AS median FROM people GROUP BY 1, 2;
GRANT SELECT ON exact_many_medians TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*), count(*) FILTER (WHERE median BETWEEN lower95 AND upper95) > .9 * count(*) AS covered, avg(abs(estimate - median)) < 3 AS near FROM many_medians JOIN exact_many_medians USING (ward, height);
-- what is summed drops no row of the counts beside it: they are no counts by it
SELECT max(release) AS both FROM dp.aggregate('visits', '{count(*), sum(paid)}', epsilon => 900) \gset
SELECT release = :both AS reused, abs(estimate - 15000) < 8 * stderr AS exact FROM dp.histogram('visits', '{paid}', 'total', epsilon => 800, reuse => true);
SELECT refused(format($$SELECT * FROM dp.combine('{%s,%s}', 'total')$$, :both, (SELECT max(release) FROM dp.releases)));
-- a bare prefix is that of the only attribute with an order: one text, and one charge
SELECT count(DISTINCT release) FROM dp.histogram('people', '{age}', 'prefix + total', epsilon => .23);
SELECT pg_temp.is_free($$SELECT dp.histogram('people', '{age}', 'prefix(age) + total', epsilon => .23)$$),
  pg_temp.is_free($$SELECT dp.aggregate('people', '{count(*)}', '{age}', workload => 'prefix + total', epsilon => .23)$$),
  pg_temp.is_free($$SELECT dp.histogram('people', '{age}', 'prefix(age) + total', epsilon => .22)$$) AS other;
SELECT workload FROM dp.releases ORDER BY release DESC LIMIT 1;
-- classes of cells follow from the cells: decades from ages; not where rows of units are cut by them
SET SESSION AUTHORIZATION regress_curator;
CREATE TEMP TABLE exact_heights AS SELECT age, sex, count(*), sum(height) FROM people GROUP BY 1, 2;
GRANT SELECT ON exact_heights TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SELECT 'age CELLS (' || string_agg(format('%s-%s', 10 * i, 10 * i + 9), '; ') || '; 90)' AS decades FROM generate_series(0, 8) i \gset
SELECT count(*) FROM dp.aggregate('people', '{count(*), sum(height)}', '{age,sex}', epsilon => 950);
SELECT count(*) - :before AS paid FROM dp.releases \gset
SELECT aggregate, count(*), bool_and(abs(a.estimate - CASE aggregate WHEN 'count(*)' THEN e.n ELSE e.sum END) < 8 * a.stderr AND a.stderr < 20) AS exact
  FROM dp.aggregate('people', '{count(*), sum(height)}', ARRAY[:'decades', 'sex'], epsilon => .3, reuse => true) a
    JOIN (SELECT age / 10 AS decade, sex, sum(count) AS n, sum(sum) AS sum FROM exact_heights GROUP BY 1, 2) e
    ON e.sex = a.label->>'sex' AND format('%s-%s', 10 * e.decade, 10 * e.decade + 9) = a.label->'age'->>'cells' GROUP BY 1 ORDER BY 1;
SELECT pg_temp.is_free(format($$SELECT dp.aggregate('people', '{avg(height)}', %L, epsilon => .3, reuse => true)$$, ARRAY[:'decades'])),
  pg_temp.is_free(format($$SELECT dp.aggregate('people', '{sum(height)}', %L, workload => 'prefix(age) * total(sex)', epsilon => .3, reuse => true)$$, ARRAY[:'decades', 'sex'])) AS prefix,
  pg_temp.is_free($$SELECT dp.aggregate('people', '{count(*)}', '{"age CELLS (0-90)"}', epsilon => .3, reuse => true)$$) AS one;
SELECT count(*) - :before - :paid AS paid FROM dp.releases;
SELECT pg_temp.is_free($$SELECT dp.aggregate('visits', '{count(*)}', '{age}', epsilon => 900)$$) AS first,
  pg_temp.is_free($$SELECT dp.aggregate('visits', '{count(*)}', '{"age CELLS (0-44; 45-89)"}', epsilon => .3, reuse => true)$$) AS other;

-- a number that may be absent beside all rows: the rest of the rows is measured too, at no cost
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE partly AS SELECT i % 3 AS g, CASE WHEN i % 5 > 0 THEN i % 101 END AS x, CASE WHEN i % 4 > 0 THEN i % 51 - 25 END AS y, i % 101 AS z FROM generate_series(0, 10099) i;
SELECT dp.create_dataset('partly', 'partly', 100000);
SELECT dp.add_attribute('partly', 'g', '{0,1,2}', outside => 'other', nulls => 'cell'), dp.add_attribute('partly', 'x', 0, 100, bins => 1, last => 'closed'), dp.add_attribute('partly', 'y', -25, 26, bins => 51, last => 'open', nulls => 'cell'),
  dp.add_attribute('partly', 'z', 0, 9, bins => 1, last => 'closed', outside => 'other');
SELECT dp.grant_budget('partly', 'regress_ann', 90000);
CREATE TABLE exact_partly AS SELECT g, count(*) AS n, count(x) AS n_x, sum(x) AS x, sum(y) AS y, sum(x) FILTER (WHERE y >= 0) AS x_of_some FROM partly GROUP BY g;
GRANT SELECT ON exact_partly TO regress_ann;
SET SESSION AUTHORIZATION regress_ann;
SELECT r.request, aggregate, round(stderr::numeric, 2) AS stderr FROM (VALUES (1, '{sum(x),count(*)}'), (2, '{sum(x),count(*),count(x)}'), (3, '{avg(x),count(*)}'), (4, '{avg(x),avg(y),count(*)}'), (5, '{"corr(x,y)",avg(x),count(*)}')) r (request, a),
  LATERAL dp.quote_aggregate('partly', a::text[], rho => .01, rows => 1000) ORDER BY 1, 2;
SELECT aggregate, round(stderr::numeric, 2) AS stderr FROM dp.quote_aggregate('partly', '{sum(x),count(*)}', '{g}', rho => .01);
-- exact where there is hardly noise; read again; a part of it is as precise
CREATE TEMP TABLE told AS SELECT label->>'g' AS g, aggregate, estimate, stderr, lower95, upper95, release FROM dp.aggregate('partly', '{sum(x),count(*),count(x),avg(y),"corr(x,y)"}', '{g}', epsilon => 900);
SELECT aggregate, bool_and(abs(estimate - CASE aggregate WHEN 'sum(x)' THEN e.x WHEN 'count(*)' THEN e.n ELSE n_x END) < 8 * stderr AND stderr < 9 AND estimate BETWEEN lower95 AND upper95) AS exact
  FROM told JOIN exact_partly e ON e.g::text = told.g WHERE aggregate IN ('sum(x)', 'count(*)', 'count(x)') GROUP BY 1 ORDER BY 1;
SELECT aggregate, bool_and(abs(a.estimate - t.estimate) < 1e-9 AND abs(a.stderr / t.stderr - 1) < 1e-9 AND a.release = t.release) AS same
  FROM dp.aggregate('partly', '{sum(x),count(*),count(x),avg(y),"corr(x,y)"}', '{g}', epsilon => 900) a JOIN told t USING (aggregate) WHERE a.label->>'g' = t.g GROUP BY 1 ORDER BY 1;
SELECT x.asked, bool_and(a.release = t.release) AS free, bool_and(abs(a.estimate - t.estimate) < 1e-9 AND abs(a.stderr / t.stderr - 1) < 1e-9) AS same
  FROM (VALUES ('{sum(x)}'), ('{count(*)}'), ('{avg(y),count(*)}')) x (asked), LATERAL dp.aggregate('partly', x.asked::text[], '{g}', epsilon => 1, reuse => true) a JOIN told t USING (aggregate)
  WHERE a.label->>'g' = t.g GROUP BY 1 ORDER BY 1;
SELECT aggregate, abs(estimate - CASE aggregate WHEN 'sum(x)' THEN e.x ELSE n END) < 8 * stderr AS exact, abs(stderr / (SELECT sqrt(sum(stderr ^ 2)) FROM told t WHERE t.aggregate = a.aggregate) - 1) < 1e-6 AS of_all
  FROM dp.aggregate('partly', '{sum(x),count(*)}', epsilon => 1, reuse => true) a, (SELECT sum(x) AS x, sum(n) AS n FROM exact_partly) e ORDER BY 1;
-- the count of all rows is the same one everywhere, with the same error and interval
CREATE FUNCTION pg_temp.same_counts(release bigint) RETURNS TABLE (front text, n bigint, same boolean) LANGUAGE sql AS $$
  SELECT front, count(*), bool_and(abs(a.estimate - t.estimate) < 1e-6 AND abs(a.stderr / t.stderr - 1) < 1e-6
      AND abs(a.lower95 - t.lower95) < 1e-5 * t.stderr AND abs(a.upper95 - t.upper95) < 1e-5 * t.stderr)
    FROM told t, LATERAL (SELECT 'dp.answer', * FROM dp.answer($1, 'identity(g)')
      UNION ALL SELECT 'dp.combine', * FROM dp.combine(ARRAY[$1, $1], 'identity(g)')
      UNION ALL SELECT 'dp.histogram', query, label, estimate, stderr, lower95, upper95 FROM dp.histogram('partly', '{g}', epsilon => 1, reuse => true)
      UNION ALL SELECT 'dp.aggregate', 1, label, estimate, stderr, lower95, upper95 FROM dp.aggregate('partly', '{count(*)}', '{g}', epsilon => 1, reuse => true)) a (front, query, label, estimate, stderr, lower95, upper95)
    WHERE t.release = $1 AND t.aggregate = 'count(*)' AND a.label->>'g' = t.g GROUP BY front ORDER BY front $$;
SELECT * FROM pg_temp.same_counts((SELECT max(release) FROM told));
SELECT bool_and(abs(a.stderr / b.stderr - 1) < 1e-6 AND abs(a.estimate - b.estimate) < 1e-3 * a.stderr AND abs(a.lower95 - b.lower95) < 1e-3 * a.stderr AND abs(a.upper95 - b.upper95) < 1e-3 * a.stderr) AS blocks, count(*)
  FROM dp.aggregate('people', '{count(*),sum(weight)}', '{sex,age,ward,height}', workload => 'marginals(1)', epsilon => 700) a, dp.answer(a.release, 'marginals(1)') b WHERE a.aggregate = 'count(*)' AND a.label = b.label;
-- beside a share a count is what was measured of all rows alone, and has that interval
SELECT bool_and(abs((upper95 - lower95) / stderr / 3.92 - 1) < .02) AS as_told, count(*) FROM dp.aggregate('partly', '{share,count(*)}', '{g}', epsilon => .1, reuse => true) WHERE aggregate = 'count(*)';
-- what an earlier version measured is refused, also where it is only read; nothing is charged
RESET SESSION AUTHORIZATION;
CREATE TEMP TABLE earlier AS SELECT id, payload, request FROM dp_ledger.release WHERE id = (SELECT max(release) FROM told);
GRANT SELECT ON earlier TO regress_ann;
UPDATE dp_ledger.release SET payload = substring(payload FROM 9) WHERE id = (SELECT id FROM earlier);
CREATE FUNCTION pg_temp.refused_of(statement text) RETURNS text LANGUAGE sql AS $$ SELECT regexp_replace(refused(format(statement, (SELECT id FROM earlier))), 'release \d+', 'the release') $$;
SET SESSION AUTHORIZATION regress_ann;
SELECT pg_temp.charges() AS before \gset
SELECT pg_temp.refused_of($$SELECT dp.aggregate('partly', '{sum(x),count(*),count(x),avg(y),"corr(x,y)"}', '{g}', epsilon => 900)$$);
SELECT left(pg_temp.refused_of($$SELECT dp.answer(%s, 'total')$$), 60) AS answer;
SELECT pg_temp.charges() - :before AS charges;
RESET SESSION AUTHORIZATION;
UPDATE dp_ledger.release r SET payload = e.payload, request = replace(r.request, '"kind": "measurement"', '"kind": "aggregate"') FROM earlier e WHERE r.id = e.id;
SET SESSION AUTHORIZATION regress_ann;
SELECT left(pg_temp.refused_of($$SELECT dp.answer(%s, 'total')$$), 60) AS answer, left(pg_temp.refused_of($$SELECT dp.combine('{%s}', 'total')$$), 60) AS combine, left(pg_temp.refused_of($$SELECT dp.publish(%s, 'public.p')$$), 60) AS publish;
RESET SESSION AUTHORIZATION;
UPDATE dp_ledger.release r SET request = e.request FROM earlier e WHERE r.id = e.id;
SET SESSION AUTHORIZATION regress_ann;
-- a share of rows with x of all rows, whose errors have much in common
SELECT a.aggregate, bool_and(abs(a.estimate - e.n_x / e.n::float8) < 8 * a.stderr) AS exact, max(a.stderr) < 1e-3 AS small
  FROM dp.aggregate('partly', '{"ratio(count(x), count(*))",sum(x)}', '{g}', epsilon => 800) a JOIN exact_partly e ON e.g::text = a.label->>'g' WHERE a.aggregate LIKE 'ratio%' GROUP BY 1;
-- rows of a condition have no rest among all; and a count of values beyond the bounds is no count of those that are summed
SELECT aggregate, bool_and(abs(estimate - CASE aggregate WHEN 'count(*)' THEN e.n ELSE e.x_of_some END) < 8 * stderr) AS exact
  FROM dp.aggregate('partly', '{sum(x) where (y >= 0),count(*)}', '{g}', epsilon => 800) a JOIN exact_partly e ON e.g::text = a.label->>'g' GROUP BY 1 ORDER BY 1;
SELECT aggregate, abs(estimate - CASE aggregate WHEN 'count(z)' THEN 10100 ELSE 4500 END) < 8 * stderr AS exact, stderr < 3 AS small FROM dp.aggregate('partly', '{count(z),sum(z)}', epsilon => 800);
-- in either order it is one correlation; and the count of what was averaged is free
SELECT aggregate FROM dp.aggregate('partly', '{"corr(y,x)"}', '{g}', epsilon => 500) WHERE label->>'g' = '0';
SELECT pg_temp.is_free($$SELECT dp.aggregate('partly', '{"corr(x,y)"}', '{g}', epsilon => 500)$$) AS corr, pg_temp.is_free($$SELECT dp.aggregate('partly', '{"covar_samp(y,x)"}', '{g}', epsilon => 5, reuse => true)$$) AS covar,
  pg_temp.is_free($$SELECT dp.aggregate('partly', '{"regr_slope(x,y)","regr_slope(y,x)"}', '{g}', epsilon => 5, reuse => true)$$) AS slopes;
SELECT bool_and(abs(estimate - e.n_x) < 8 * stderr AND stderr < 1) AS exact, pg_temp.is_free($$SELECT dp.aggregate('partly', '{count(x)}', '{g}', epsilon => 1, reuse => true)$$) AS free
  FROM dp.aggregate('partly', '{count(x)}', '{g}', epsilon => 1, reuse => true) a JOIN exact_partly e ON e.g::text = a.label->>'g';
SELECT pg_temp.is_free($$SELECT dp.aggregate('partly', '{avg(z)}', '{g}', epsilon => 500)$$) AS first, pg_temp.is_free($$SELECT dp.aggregate('partly', '{count(z)}', '{g}', epsilon => 1, reuse => true)$$) AS other;
-- shares of all rows in several tables, whose errors are as told: of all rows none, and of groups what many releases have
SELECT bool_and(abs(e.count / 20000.0 - a.estimate) < 8 * a.stderr) AS exact, count(*) FROM dp.aggregate('people', '{share}', '{sex,age,ward,height}', workload => 'marginals(2)', epsilon => 500) a
  JOIN exact_cube e ON set = 5 AND e.sex = a.label->>'sex' AND e.ward = (a.label->'ward'->>'from')::int;
SELECT estimate, round(stderr::numeric, 9) AS stderr, round((upper95 - lower95)::numeric, 9) AS width FROM dp.aggregate('people', '{share}', '{sex,age,ward,height}', workload => 'marginals(1) + total', epsilon => 500) WHERE label = '{}';
CREATE TEMP TABLE shares AS SELECT a.estimate, a.stderr, a.label->>'sex' AS sex, (a.label->'ward'->>'from')::int AS ward FROM generate_series(1, 300) i,
  LATERAL dp.aggregate('people', '{share}', '{sex,age,ward,height}', workload => 'marginals(1)', epsilon => .1 + 0 * i, fresh => true) a WHERE a.label ? 'sex' OR a.label ? 'ward';
SELECT x.of, abs(sqrt(avg(((estimate - e) / stderr) ^ 2)) - 1) < .12 AS as_told, max(stderr) < .01 AS small FROM shares, LATERAL (SELECT CASE WHEN sex IS NOT NULL THEN 'sex' ELSE 'ward' END, CASE WHEN sex IS NOT NULL THEN .5 ELSE 1 / 6.0 END) x (of, e)
  WHERE sex IN ('f', 'm') OR ward IS NOT NULL GROUP BY 1 ORDER BY 1;
-- of all cells of one product, and of tables that all have the ordered attribute; the last prefix is everybody
SELECT 'height, age, ward' AS of, bool_and(abs(e.count / 20000.0 - a.estimate) < 8 * a.stderr) AS exact, count(*), max(stderr) < 1e-5 AS small FROM dp.aggregate('people', '{share}', '{age,ward,height}', workload => 'prefix(height) * identity(age) * identity(ward)', epsilon => 500) a
  JOIN exact_cube e ON set = 9 AND e.age = (a.label->'age'->>'from')::int AND e.ward = (a.label->'ward'->>'from')::int AND (a.label->'height'->>'to')::int = 191;
CREATE TEMP TABLE tall AS SELECT (label->'height'->>'to')::int AS below, estimate, stderr FROM dp.aggregate('people', '{share}', '{age,ward,height}', workload => 'identity(age) * identity(ward) + prefix(height) * total(ward)', epsilon => 500) WHERE label ? 'height';
SELECT count(*), bool_and(abs(estimate - (SELECT sum(count) / 20000.0 FROM exact_cube WHERE set = 6 AND height < below)) < 8 * stderr) FILTER (WHERE below < 191) AS exact, max(stderr) < 1e-4 AS small, min(stderr) FILTER (WHERE below < 191) > 1e-7 AS told,
  max(abs(estimate - 1)) FILTER (WHERE below = 191) < 1e-9 AS all_rows, max(stderr) FILTER (WHERE below = 191) < 1e-8 AS known FROM tall;
-- by any margin, and not under substitute or a pure budget
SELECT bool_and(stderr < 1) AS blocks FROM dp.quote_aggregate('people', '{count(*),sum(weight)}', '{sex,age,ward,height}', workload => 'marginals(1)', epsilon => 900) WHERE aggregate = 'count(*)';
SELECT x.dataset, aggregate, round(stderr::numeric, 1) AS stderr FROM (VALUES ('visits'), ('stays')) x (dataset), LATERAL dp.quote_aggregate(x.dataset, CASE x.dataset WHEN 'visits' THEN '{count(*),avg(paid)}'::text[] ELSE '{count(*),avg(cost)}' END, epsilon => .1) ORDER BY 1, 2;
RESET SESSION AUTHORIZATION;
SELECT count(*) AS with_two FROM dp_ledger.release r JOIN dp_ledger.charge c ON c.id = r.charge_id AND c.other_strategies = r.other_strategies
  WHERE cardinality(r.other_strategies) = 1;
SELECT dataset, ok, message FROM (VALUES ('people'), ('visits'), ('stays')) x (dataset), LATERAL dp.verify_ledger(dataset) ORDER BY 1;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION public.refused(text);
DROP OWNED BY regress_curator, regress_ann;
DROP ROLE regress_curator, regress_ann;
