-- What is known already: known_release of dp.quote, reuse of dp.histogram, dp.combine.
CREATE EXTENSION pg_epsilon;
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
CREATE ROLE regress_bob;
CREATE ROLE regress_team;
CREATE ROLE regress_eve;
GRANT regress_team TO regress_eve;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;
\pset format unaligned
\pset footer off
SET SESSION AUTHORIZATION regress_curator;
CREATE FUNCTION public.refused(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    detail text;
BEGIN
    EXECUTE statement;
    RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
    RETURN sqlstate || ' ' || sqlerrm || CASE WHEN detail <> '' THEN ' / ' || detail ELSE '' END;
END $$;
-- 100,000 rows of each sex; 40,000 of them have no region: what drops rows matters
CREATE TABLE people (sex text, age int, region text, smokes boolean);
INSERT INTO people SELECT (ARRAY['f', 'm'])[i % 2 + 1], i % 100, CASE WHEN i % 5 < 3 THEN 'n' END, i % 3 = 0 FROM generate_series(1, 200000) i;
SELECT dp.create_dataset('people', 'people', 1000);
SELECT dp.add_attribute('people', 'sex', ARRAY['f', 'm'], outside => 'other', nulls => 'cell');
SELECT dp.add_attribute('people', 'age', 0, 100, 10, outside => 'clamp', nulls => 'cell');
SELECT dp.add_attribute('people', 'region', ARRAY['n', 's']);
SELECT dp.add_attribute('people', 'smokes', ARRAY[false, true], outside => 'other', nulls => 'cell');
SELECT dp.grant_budget('people', 'regress_ann', 200);
SELECT dp.grant_budget('people', 'regress_bob', 200);
SELECT dp.grant_budget('people', 'regress_team', 200);

SET SESSION AUTHORIZATION regress_ann;
CREATE FUNCTION pg_temp.spent() RETURNS numeric LANGUAGE sql AS $$ SELECT sum(rho)::numeric FROM dp.charges $$;
-- What is known of a request: nothing at first
SELECT known_release, known_stderr FROM dp.quote('people', 'age', epsilon => 0.1);
CREATE TEMP TABLE fine AS SELECT * FROM dp.histogram('people', '{sex,age}', rho => 0.5);
SELECT release AS fine FROM fine LIMIT 1 \gset
-- a release over more attributes knows them, four cells of sex are one of age
SELECT known_release = :fine AS known, round(known_stderr::numeric, 4) AS known_stderr FROM dp.quote('people', 'age', epsilon => 0.1);
SELECT known_release = :fine AS known, known_stderr = (SELECT max(stderr) FROM dp.answer(:fine, 'all_range(age)')) AS told FROM dp.quote('people', '{age,sex}', 'all_range(age)', rho => 1);
-- in any order, under other names of the same queries, and of another method
SELECT known_release = :fine AS known FROM dp.quote('people', '{age,sex}', rho => 0.001, method => 'identity');
SELECT known_release = :fine AS known FROM dp.quote('people', '{}', rho => 0.001);
-- not what it does not determine, and not what counts other rows: region drops some
SELECT known_release FROM dp.quote('people', '{age,smokes}', rho => 0.001);
SELECT known_release = :fine AS known FROM dp.quote('people', '{age,smokes}', 'identity(age) + total', rho => 0.001);
SELECT known_release FROM dp.quote('people', '{age,region}', 'identity(age)', rho => 0.001);
SELECT known_release FROM dp.quote('people', 'age', rho => 0.001, predicate => 'sex = ''f''');
-- the best of several: the smallest of the largest errors, not the newest
SELECT count(*) FROM dp.histogram('people', '{sex,age}', rho => 0.1);
SELECT known_release = :fine AS known FROM dp.quote('people', 'age', epsilon => 0.1);
SELECT count(*) FROM dp.histogram('people', 'age', rho => 0.45);
SELECT known_release = :fine + 2 AS known FROM dp.quote('people', 'age', epsilon => 0.1);

-- Reuse: free, the same rows as the release gives by itself, and its number
SELECT pg_temp.spent() AS spent \gset
CREATE TEMP TABLE reused AS SELECT * FROM dp.histogram('people', '{age,sex}', 'identity(sex) * prefix(age)', rho => 0.001, reuse => true);
SELECT count(*) AS rows, count(*) FILTER (WHERE r.label = a.label AND abs(r.estimate - a.estimate) < 1e-6 AND abs(r.stderr - a.stderr) < 1e-9
       AND abs(r.lower95 - a.lower95) < 1e-6 AND abs(r.upper95 - a.upper95) < 1e-6 AND r.release = :fine) AS same
  FROM reused r JOIN dp.answer(:fine, 'identity(sex) * prefix(age)') a USING (query);
SELECT pg_temp.spent() = :spent AS free;
-- labels are those of the request
SELECT DISTINCT label = '{}' AS total, release = :fine + 2 AS from_best FROM dp.histogram('people', '{}', rho => 0.001, reuse => true);
-- nonnegative is computed from the counts of the release
SELECT bool_and(estimate >= 0) AS nonnegative, bool_and(release = :fine + 2) AS reused FROM dp.histogram('people', 'age', rho => 0.001, nonnegative => true, reuse => true);
SELECT pg_temp.spent() = :spent AS free;
-- what would be known less precisely than asked is bought
SELECT bool_and(release > :fine + 2) AS bought FROM dp.histogram('people', 'age', rho => 2, reuse => true);
SELECT pg_temp.spent() - :spent AS spent;
-- every query, not the worst one alone: the total is asked more precisely than it is known
SELECT known_stderr < max_stderr AS best_of_all FROM dp.quote('people', '{age,sex}', '1000 * total + identity(age) * identity(sex)', rho => 0.2);
SELECT bool_and(release > :fine + 3) AS bought FROM dp.histogram('people', '{age,sex}', '1000 * total + identity(age) * identity(sex)', rho => 0.2, reuse => true);
-- the same request again is known exactly as precisely
SELECT count(DISTINCT release) FROM (SELECT release FROM dp.histogram('people', 'smokes', rho => 0.3) UNION ALL
  SELECT release FROM dp.histogram('people', 'smokes', rho => 0.3, reuse => true)) x;
-- not asked for: bought, as always
SELECT pg_temp.spent() AS spent \gset
SELECT count(*) FROM dp.histogram('people', 'sex', rho => 0.001);
SELECT pg_temp.spent() - :spent AS spent;
-- method direct measures each query by itself: known over the same list only
SELECT release AS direct FROM dp.histogram('people', '{smokes,sex}', 'identity(smokes) * identity(sex) + identity(smokes)', rho => 5, method => 'direct') LIMIT 1 \gset
SELECT known_release = :direct AS known FROM dp.quote('people', '{smokes,sex}', 'identity(smokes) * identity(sex) + identity(smokes)', rho => 0.1);
SELECT known_release = :direct AS known FROM dp.quote('people', '{sex,smokes}', 'identity(smokes) * identity(sex) + identity(smokes)', rho => 0.1);
SELECT bool_and(release > :direct) AS bought FROM dp.histogram('people', '{smokes,sex}', 'identity(smokes) * identity(sex) + identity(smokes)', rho => 0.1, reuse => true, nonnegative => true);
SELECT refused($$SELECT * FROM dp.histogram('people', 'age', epsilon => 1, reuse => true, fresh => true)$$);

-- A planted release of other rows has other totals by thousands: it is not used, in any disguise
SELECT release AS planted FROM dp.histogram('people', '{age,region}', 'identity(age)', rho => 50) LIMIT 1 \gset
SELECT known_release <> :planted AS not_planted FROM dp.quote('people', 'age', rho => 0.1);
SELECT abs(sum(estimate) - 200000) < 1000 AS unbiased FROM dp.histogram('people', 'age', rho => 0.1, reuse => true);
SELECT known_release = :planted AS known FROM dp.quote('people', '{region,age}', 'identity(age)', rho => 0.1);
SELECT abs(sum(estimate) - 120000) < 1000 AS unbiased FROM dp.histogram('people', '{region,age}', 'identity(age)', rho => 0.1, reuse => true);
-- a predicate that names region drops the same rows, but keeps others
SELECT known_release FROM dp.quote('people', 'age', rho => 0.1, predicate => 'region = ''n''');
SELECT release AS north FROM dp.histogram('people', '{age}', rho => 50, predicate => 'region = ''n'' OR region = ''s''') LIMIT 1 \gset
SELECT known_release = :north AS known FROM dp.quote('people', '{age,region}', 'identity(age)', rho => 0.1, predicate => 'region = ''n'' OR region = ''s''');
SELECT known_release = :planted AS known FROM dp.quote('people', '{age,region}', 'identity(age)', rho => 0.1);
-- cells that the predicate rules out are no unknowns: all who are counted are of it
SELECT release AS women FROM dp.histogram('people', 'age', rho => 1, predicate => 'sex = ''f''') LIMIT 1 \gset
SELECT known_release = :women AS known FROM dp.quote('people', '{age,sex}', rho => 0.1, predicate => 'sex = ''f''');
SELECT known_release FROM dp.quote('people', '{age,sex}', rho => 0.1, predicate => 'sex = ''m''');

-- Whose: another budget's release is nowhere to be seen
SET SESSION AUTHORIZATION regress_bob;
SELECT known_release, known_stderr FROM dp.quote('people', 'age', rho => 0.1);
SELECT release AS bobs FROM dp.histogram('people', 'age', rho => 0.01, reuse => true) LIMIT 1 \gset
SELECT :bobs > :women AS bought, count(*) FROM dp.charges;
SELECT known_release = :bobs AS known FROM dp.quote('people', 'age', rho => 0.1);
-- one that he pays for again is his
SELECT count(*) FROM dp.histogram('people', '{sex,age}', rho => 0.5);
SELECT known_release = :fine AS known FROM dp.quote('people', 'age', rho => 0.1);
SELECT refused(format('SELECT * FROM dp.combine(ARRAY[%s, %s], ''total'')', :fine, :women)) LIKE '42704%' AS not_his;
-- the members of a role have what it paid for, also without a budget of their own
SET SESSION AUTHORIZATION regress_eve;
SELECT known_release FROM dp.quote('people', 'smokes', rho => 0.1);
SELECT release AS teams FROM dp.histogram('people', 'smokes', rho => 0.4) LIMIT 1 \gset
SELECT known_release = :teams AS known FROM dp.quote('people', 'smokes', rho => 0.1);
-- the owner may replay all of them, and is told
SET SESSION AUTHORIZATION regress_curator;
SELECT known_release = :women AS known FROM dp.quote('people', 'age', rho => 0.1, predicate => 'sex = ''f''');

-- Together: two releases of the same counts weigh by their precision
SET SESSION AUTHORIZATION regress_ann;
SELECT round((sum(1 / (c.stderr ^ 2)) / sum(1 / (a.stderr ^ 2) + 1 / (b.stderr ^ 2)))::numeric, 9) AS precision_adds_up,
       max(abs(c.estimate - (a.estimate / a.stderr ^ 2 + b.estimate / b.stderr ^ 2) * c.stderr ^ 2)) < 1e-6 AS weighted, bool_and(a.label = c.label) AS labels,
       bool_and(c.lower95 < c.estimate AND c.upper95 - c.estimate BETWEEN 1.95 * c.stderr AND 2.2 * c.stderr) AS interval
  FROM dp.combine(ARRAY[:fine, :fine + 1], 'identity') c JOIN dp.answer(:fine, 'identity') a USING (query) JOIN dp.answer(:fine + 1, 'identity') b USING (query);
-- one release, once or twice, is itself
SELECT max(abs(c.estimate - a.estimate)) < 1e-6 AND max(abs(c.stderr - a.stderr)) < 1e-9 AS same
  FROM dp.combine(ARRAY[:fine, :fine, :fine], 'prefix(age)') c JOIN dp.answer(:fine, 'prefix(age)') a USING (query);
-- what one of them knows makes the others more precise
SELECT bool_and(c.stderr < a.stderr) AS better FROM dp.combine(ARRAY[:fine, :fine + 2], 'identity(sex) * identity(age)') c JOIN dp.answer(:fine, 'identity(sex) * identity(age)') a USING (query);
-- the attributes of all, in the order of their first mention
SELECT query, label FROM dp.combine(ARRAY[:fine + 2, :fine], 'identity(sex) + total');
SELECT bool_and(c.label = a.label) AS sex_slowest, count(*) FROM dp.combine(ARRAY[:fine, :fine + 2], 'identity') c JOIN dp.answer(:fine, 'identity') a USING (query);
-- direct measurements join too
SELECT count(*), bool_and(stderr > 0) AS errors FROM dp.combine(ARRAY[:direct, :fine], 'identity(smokes) + identity(sex) * identity(age)');
SELECT refused(format('SELECT * FROM dp.combine(ARRAY[%s, %s], ''identity(smokes) * identity(age)'')', :direct, :fine));
-- what does not go together
SELECT refused(format('SELECT * FROM dp.combine(ARRAY[%s, %s], ''total'')', :fine, :planted)) LIKE '22023 releases % do not count the same rows / Dataset, %' AS other_rows;
SELECT refused(format('SELECT * FROM dp.combine(ARRAY[%s, %s], ''total'')', :fine, :women)) LIKE '22023 releases %' AS other_predicate;
SELECT refused($$SELECT * FROM dp.combine('{}', 'total')$$);
SELECT refused($$SELECT * FROM dp.combine('{NULL}', 'total')$$);
SELECT refused($$SELECT * FROM dp.combine('{999999}', 'total')$$);
SELECT refused(format('SELECT * FROM dp.combine(ARRAY[%s], ''identity(height)'')', :fine)) LIKE '42704%' AS no_attribute;
SELECT refused($$SELECT * FROM dp.combine(array_fill(1::bigint, '{1001}'), 'total')$$);

-- two copies of one payload are one measurement (as a ledger put together of two would have them)
RESET SESSION AUTHORIZATION;
INSERT INTO dp_ledger.release SELECT (jsonb_populate_record(r, '{"id": 900001, "charge_id": 900001}')).* FROM dp_ledger.release r WHERE id = :fine;
SET SESSION AUTHORIZATION regress_curator;
SELECT bool_and(abs(c.stderr - a.stderr) < 1e-9) AS once FROM dp.combine(ARRAY[:fine, 900001], 'identity') c JOIN dp.answer(:fine, 'identity') a USING (query);

-- Units: another number of rows, or another list of attributes, cuts other rows
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE visits (person int NOT NULL, ward int, day int);
INSERT INTO visits SELECT i / 4, i % 3, i % 7 FROM generate_series(0, 3999) i;
SELECT dp.create_dataset('visits', 'visits', 1000, unit => 'person', max_rows => 3);
SELECT dp.add_attribute('visits', 'ward', ARRAY[0, 1, 2], outside => 'other', nulls => 'cell');
SELECT dp.add_attribute('visits', 'day', ARRAY[0, 1, 2, 3, 4, 5, 6], outside => 'other', nulls => 'cell');
SELECT dp.grant_budget('visits', 'regress_ann', 500);
SET SESSION AUTHORIZATION regress_ann;
SELECT release AS cut FROM dp.histogram('visits', '{ward,day}', rho => 50) LIMIT 1 \gset
SELECT known_release = :cut AS known FROM dp.quote('visits', '{ward,day}', 'identity(ward)', rho => 0.1);
SELECT known_release FROM dp.quote('visits', '{day,ward}', 'identity(ward)', rho => 0.1);
SELECT known_release FROM dp.quote('visits', 'ward', rho => 0.1);
SELECT known_release FROM dp.quote('visits', '{ward,day}', rho => 0.1, rows_per_unit => 1);
SELECT known_release = :cut AS known FROM dp.quote('visits', '{ward,day}', rho => 0.1, rows_per_unit => 3);
SELECT release AS single FROM dp.histogram('visits', '{ward,day}', rho => 50, rows_per_unit => 1) LIMIT 1 \gset
SELECT known_release = :single AS known, round(known_stderr::numeric, 2) FROM dp.quote('visits', '{ward,day}', rho => 0.1, rows_per_unit => 1);
SELECT abs(sum(estimate) - 1000) < 20 AS one_each FROM dp.histogram('visits', '{ward,day}', rho => 0.1, rows_per_unit => 1, reuse => true);
SELECT refused(format('SELECT * FROM dp.combine(ARRAY[%s, %s], ''total'')', :cut, :single)) LIKE '22023 releases %' AS other_cut;

-- Nobody knows the errors of dawa: neither those asked nor those stored
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE ages AS SELECT i % 16 AS age FROM generate_series(1, 1000) i;
SELECT dp.create_dataset('ages', 'ages', 100, accounting => 'pure');
SELECT dp.add_attribute('ages', 'age', 0, 16, 16, last => 'open');
SELECT dp.grant_budget('ages', 'regress_ann', 100, accounting => 'pure');
SET SESSION AUTHORIZATION regress_ann;
SELECT release AS dawa FROM dp.histogram('ages', 'age', epsilon => 50, method => 'dawa') LIMIT 1 \gset
SELECT known_release FROM dp.quote('ages', 'age', epsilon => 0.1);
SELECT refused(format('SELECT * FROM dp.combine(ARRAY[%s], ''total'')', :dawa)) LIKE '22023 release % is of method "dawa"%' AS no_measurement;
SELECT refused($$SELECT * FROM dp.histogram('ages', 'age', epsilon => 1, method => 'dawa', reuse => true)$$);
-- Laplace noise weighs by its variance as well
SELECT release AS one FROM dp.histogram('ages', 'age', epsilon => 1) LIMIT 1 \gset
SELECT release AS other FROM dp.histogram('ages', 'age', epsilon => 2) LIMIT 1 \gset
SELECT known_release = :other AS known FROM dp.quote('ages', 'age', epsilon => 0.1, method => 'dawa');
SELECT bool_and(abs(1 / c.stderr ^ 2 - 1 / a.stderr ^ 2 - 1 / b.stderr ^ 2) < 1e-9) AS weighted, bool_and(c.upper95 - c.estimate BETWEEN 1.95 * c.stderr AND 4.48 * c.stderr) AS interval
  FROM dp.combine(ARRAY[:one, :other], 'identity') c JOIN dp.answer(:one, 'identity') a USING (query) JOIN dp.answer(:other, 'identity') b USING (query);

-- Many attributes: a release of blocks knows what it determines, and joins others where the classes are few enough
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE cube AS SELECT i % 7 AS a, i % 5 AS b, i % 3 AS c, i % 2 AS d, i % 6 AS e, i % 7 AS f, i % 4 AS g, i % 5 AS h FROM generate_series(1, 10000) i;
SELECT dp.create_dataset('cube', 'cube', 1000);
SELECT count(dp.add_attribute('cube', attribute::name, ARRAY[0, 1, 2, 3, 4, 5, 6], outside => 'other', nulls => 'cell')) FROM unnest('{a,b,c,d,e,f,g,h}'::text[]) attribute;
SELECT dp.grant_budget('cube', 'regress_ann', 500);
SET SESSION AUTHORIZATION regress_ann;
SELECT release AS cube, plan FROM dp.measure('cube', '{a,b,c,d,e,f,g,h}', 'marginals(2)', rho => 1) \gset
SELECT :'plan' AS plan, known_release = :cube AS known, known_stderr = (SELECT max(stderr) FROM dp.answer(:cube, 'identity(a) * identity(c)')) AS told
  FROM dp.quote('cube', '{c,a}', rho => 0.001);
SELECT known_release FROM dp.quote('cube', '{a,b,c}', rho => 0.001);
SELECT known_release FROM dp.quote('cube', '{a,b}', rho => 0.001, predicate => 'a = 1');
SELECT count(*) AS rows, count(*) FILTER (WHERE abs(r.estimate - a.estimate) < 1e-6 AND abs(r.stderr - a.stderr) < 1e-9 AND r.label = a.label AND r.release = :cube) AS same
  FROM dp.histogram('cube', '{h,g}', 'identity(g) * identity(h)', rho => 0.0001, reuse => true) r JOIN dp.answer(:cube, 'identity(g) * identity(h)') a USING (query);
SELECT bool_and(estimate > -1e-6) AS nonnegative, bool_and(release = :cube) AS reused FROM dp.histogram('cube', '{h,g}', rho => 0.0001, reuse => true, nonnegative => true);
-- of other kinds of blocks nonnegative counts cannot be had
SELECT release AS ranges, plan FROM dp.measure('cube', '{a,b,c,d}', 'all_range(a) * identity(b) * identity(c) * identity(d)', rho => 50) \gset
SELECT :'plan' AS plan, known_release = :ranges AS known FROM dp.quote('cube', '{a,b}', 'all_range(a)', rho => 0.0001);
SELECT bool_and(release <> :ranges) AS not_reused FROM dp.histogram('cube', '{a,b}', 'all_range(a)', rho => 0.0001, reuse => true, nonnegative => true);
SELECT refused(format('SELECT * FROM dp.combine(ARRAY[%s], ''identity(a)'')', :cube)) LIKE '54000%' AS too_large;
SELECT release AS three, plan FROM dp.measure('cube', '{a,b,c}', 'marginals(2)', rho => 1) \gset
SELECT release AS two FROM dp.measure('cube', '{b,a}', rho => 0.1) \gset
SELECT :'plan' AS plan, bool_and(c.stderr < a.stderr AND c.stderr < b.stderr) AS better, bool_and(c.label = a.label) AS labels, count(*)
  FROM dp.combine(ARRAY[:three, :two], 'identity(a) * identity(b)') c JOIN dp.answer(:three, 'identity(a) * identity(b)') a USING (query)
  JOIN dp.answer(:two, 'identity(a) * identity(b)') b USING (query);
SELECT bool_and(abs(c.estimate - a.estimate) < 1e-5 AND abs(c.stderr - a.stderr) < 1e-8) AS same
  FROM dp.combine(ARRAY[:three], 'marginals(2)') c JOIN dp.answer(:three, 'marginals(2)') a USING (query);

-- Columns that are NOT NULL, all of whose values have a cell, drop nothing (a, b, c): what differs in them alone counts the same
-- rows.  Others may: d is NULL, e is NaN, f has no cell for a value.
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE whole (a int NOT NULL, b date NOT NULL, c boolean NOT NULL, d int, e float8 NOT NULL, f text NOT NULL);
INSERT INTO whole SELECT i % 12, date '2025-01-01' + i % 10, i % 3 = 0, i % 4, i % 5, 'x' FROM generate_series(1, 3000) i;
SELECT dp.create_dataset('whole', 'whole', 1e4);
SELECT dp.add_attribute('whole', 'a', 0, 10, 10, last => 'open'), dp.add_attribute('whole', 'b', '2025-01-01', '2025-01-11', 10, last => 'open'), dp.add_attribute('whole', 'c'),
       dp.add_attribute('whole', 'd', 0, 4, 4, last => 'open'), dp.add_attribute('whole', 'e', 0, 5, 5), dp.add_attribute('whole', 'f', '{x,y}');
SELECT dp.grant_budget('whole', 'regress_ann', 9e3);
SET SESSION AUTHORIZATION regress_ann;
SELECT release AS ab FROM dp.histogram('whole', '{a,b}', rho => 50) LIMIT 1 \gset
SELECT request->'complete' AS complete FROM dp.charges WHERE release = :ab;
SELECT known_release = :ab AS known FROM dp.quote('whole', '{a}', rho => 0.1);
SELECT abs(sum(estimate) - 3000) < 30 AS near FROM dp.histogram('whole', '{b}', rho => 0.1, reuse => true);
SELECT release AS c FROM dp.histogram('whole', '{c}', rho => 50) LIMIT 1 \gset
SELECT abs(estimate - 3000) < 30 AS near FROM dp.combine(ARRAY[:ab, :c], 'total');
CREATE FUNCTION pg_temp.others(dataset text, kept bigint, attribute text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    other bigint;
BEGIN
    SELECT release INTO other FROM dp.histogram(dataset, ARRAY['a', attribute], rho => 50) LIMIT 1;
    RETURN attribute || ': ' || refused(format('SELECT * FROM dp.combine(ARRAY[%s, %s], ''total'')', kept, other));
END $$;
SELECT regexp_replace(pg_temp.others('whole', :ab, x), '[0-9]{2,}', 'n', 'g') AS others FROM unnest('{c,d,e,f}'::text[]) x;
-- of columns that a predicate names, too
SELECT release AS predicted FROM dp.histogram('whole', '{a,c}', predicate => 'b >= ''2025-01-05''', rho => 50) LIMIT 1 \gset
SELECT known_release = :predicted AS known FROM dp.quote('whole', '{a}', predicate => 'b >= ''2025-01-05''', rho => 0.1);
-- what counts is what was true then: the same request later drops rows, and is another one
SET SESSION AUTHORIZATION regress_curator;
ALTER TABLE whole ALTER b DROP NOT NULL;
INSERT INTO whole SELECT 1, NULL, true, 1, 1, 'x' FROM generate_series(1, 500);
SET SESSION AUTHORIZATION regress_ann;
SELECT release AS later FROM dp.histogram('whole', '{a,b}', rho => 50) LIMIT 1 \gset
SELECT :later > :ab AS bought;
SELECT refused(format('SELECT * FROM dp.combine(ARRAY[%s, %s], ''total'')', :ab, :later)) LIKE '22023 releases %' AS other_rows;
SELECT known_release = :later AS known FROM dp.quote('whole', '{a,b}', 'total', rho => 0.1);
SET SESSION AUTHORIZATION regress_curator;
DELETE FROM whole WHERE b IS NULL;
ALTER TABLE whole ALTER b SET NOT NULL;
SET SESSION AUTHORIZATION regress_ann;
SELECT release = :ab AS replayed FROM dp.histogram('whole', '{a,b}', rho => 50) LIMIT 1;
-- a table that others inherit from does not say what they have
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE part_of_whole () INHERITS (whole);
SET SESSION AUTHORIZATION regress_ann;
SELECT known_release IS NULL AS unknown FROM dp.quote('whole', '{a}', rho => 0.1);
SET SESSION AUTHORIZATION regress_curator;
DROP TABLE part_of_whole;

-- Expired, and of an older version: gone
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.expire_release(:single);
SET SESSION AUTHORIZATION regress_ann;
SELECT known_release FROM dp.quote('visits', '{ward,day}', rho => 0.1, rows_per_unit => 1);
SELECT refused(format('SELECT * FROM dp.combine(ARRAY[%s], ''total'')', :single)) LIKE '42704%' AS expired;
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.new_version('visits');
SET SESSION AUTHORIZATION regress_ann;
SELECT known_release FROM dp.quote('visits', '{ward,day}', 'identity(ward)', rho => 0.1);
SELECT release AS later FROM dp.histogram('visits', '{ward,day}', rho => 1, reuse => true) LIMIT 1 \gset
SELECT :later > :cut AS bought;
SELECT refused(format('SELECT * FROM dp.combine(ARRAY[%s, %s], ''total'')', :cut, :later)) LIKE '22023 releases %' AS other_version;
SELECT count(*) FROM dp.combine(ARRAY[:cut], 'total');

DISCARD TEMP;
RESET SESSION AUTHORIZATION;
DROP TABLE people, visits, ages, cube, whole;
DROP FUNCTION public.refused(text);
DROP EXTENSION pg_epsilon;
REVOKE CREATE ON SCHEMA public FROM regress_curator;
DROP ROLE regress_curator, regress_ann, regress_bob, regress_eve, regress_team;
