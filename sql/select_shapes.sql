-- Plain SELECT: what is answered, as it is planned, its rows beside those of the table, and what it charges.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
SET client_min_messages = warning;
\set select :here /test/regress/select.sql
\i :select

-- Counts, sums and averages
SELECT try('SELECT count(*) FROM orders_v');
SELECT try('SELECT count(1) AS n FROM orders_v');
SELECT try('SELECT count(channel) FROM orders_v', 'SELECT count(channel) FROM orders');
SELECT try('SELECT sum(items), avg(items), count(items) FROM orders_v');
SELECT try('SELECT region, count(*), avg(amount) FROM orders_v GROUP BY region ORDER BY region');
SELECT try('SELECT count(*) + 1 AS a, 100.0 * sum(items) / count(*) AS b FROM orders_v');
-- What is in one statement is one charge, and each part of it is paid then, as precisely
SET pg_epsilon.epsilon = 100;
SELECT try('SELECT sum(items) AS s FROM orders_v');
SET pg_epsilon.epsilon = 1000;
SELECT try('SELECT sum(items) AS s FROM orders_v');

-- CASE, FILTER and expressions of aggregates
SELECT try('SELECT region, avg(CASE WHEN channel = ''web'' THEN 1 ELSE 0 END) AS rate, count(*) FILTER (WHERE channel = ''web'') AS n FROM orders_v GROUP BY region');
SELECT try('SELECT sum(CASE WHEN returned THEN items END) AS a, sum(CASE WHEN returned THEN items ELSE 0 END) AS b, sum(CASE WHEN NOT returned THEN - items END) AS c FROM orders_v');
SELECT try('SELECT sum((age >= 30)::int) AS a, sum(items) FILTER (WHERE age < 30 AND region <> ''west'') AS b FROM orders_v');
SELECT try('SELECT 100.0 * count(*) FILTER (WHERE returned) / count(*) AS share FROM orders_v');
SELECT try('SELECT count(*) FILTER (WHERE false) AS a, sum(items) FILTER (WHERE 1 = 0) AS b, count(*) AS c FROM orders_v');
SELECT try('SELECT count(CASE WHEN returned THEN 1 END) AS a, count(NULLIF(region, ''west'')) AS b FROM orders_v');
-- least and greatest with a constant that is an edge are CASE; of NULL and of other constants nothing is known
SELECT try('SELECT abs(sum(least(age, 50)) - 25545) < 200 AS a, abs(sum(greatest(50, age)) - 34755) < 200 AS b, abs(avg(greatest(age - 60, 0)) - 3.925) < 0.2 AS c FROM orders_v',
    'SELECT sum(least(age, 50)) = 25545 AS a, sum(greatest(50, age)) = 34755 AS b, avg(greatest(age - 60, 0)) = 3.925 AS c FROM orders');
SELECT try('SELECT sum(least(age, 51)) AS a FROM orders_v');
SELECT try('SELECT sum(greatest(age, NULL)) AS a FROM orders_v');

-- Spread, correlation and quantiles; the last are exact to a part of a bin
SELECT try('SELECT variance(items), var_samp(items) AS v, stddev(age), stddev_samp(age) AS s, corr(items, age) FROM orders_v');
SELECT try('SELECT abs(percentile_cont(0.5) WITHIN GROUP (ORDER BY age) - 50) < 5 AS a, abs(percentile_disc(0.9) WITHIN GROUP (ORDER BY age DESC) - 25) < 5 AS b,
    abs(dp.median(age) - 50) < 5 AS c, abs(dp.quantile(age, 0.9) - 73) < 5 AS d FROM orders_v', 'SELECT true AS a, true AS b, true AS c, true AS d');
SELECT try('SELECT returned, abs(dp.median(age) - 49) < 5 AS a FROM orders_v GROUP BY returned', 'SELECT returned, true AS a FROM orders_v GROUP BY returned');

-- What tells the error; FILTER on each
SELECT try('SELECT dp.stderr_count(*) BETWEEN 0.01 AND 0.1 AS a, dp.stderr_sum(items) BETWEEN 0.01 AND 1 AS b, dp.stderr_avg(items) BETWEEN 1e-6 AND 0.01 AS c,
    dp.lower95_count(*) BETWEEN 599 AND 601 AS d, dp.upper95_count(*) BETWEEN 599 AND 601 AS e, dp.lower95_sum(items) < dp.upper95_sum(items) AS f, dp.lower95_avg(items) < dp.upper95_avg(items) AS g FROM orders_v',
    'SELECT true AS a, true AS b, true AS c, true AS d, true AS e, true AS f, true AS g');
SELECT try('SELECT dp.stderr_count(*) FILTER (WHERE returned) < 0.1 AS a, dp.upper95_sum(items) FILTER (WHERE returned) - dp.lower95_sum(items) FILTER (WHERE returned) BETWEEN 0.01 AND 2 AS b,
    dp.median(age) FILTER (WHERE age < 55) < 49 AS c, dp.quantile(age, 0.1) FILTER (WHERE age >= 55) BETWEEN 55 AND 60 AS d FROM orders_v', 'SELECT true AS a, true AS b, true AS c, true AS d');
SELECT try('SELECT dp.ratio(items, age) AS a, dp.ratio(items, age) FILTER (WHERE returned) AS b FROM orders_v',
    'SELECT sum(items)::numeric / sum(age) AS a, sum(items) FILTER (WHERE returned) / (sum(age) FILTER (WHERE returned))::numeric AS b FROM orders');
-- The error of a sum of two terms is that of both
SELECT try('SELECT abs(dp.stderr_sum(CASE WHEN returned THEN 1 ELSE 2 END) / sqrt(dp.stderr_count(*) FILTER (WHERE returned) ^ 2 + 4 * dp.stderr_count(*) FILTER (WHERE NOT returned) ^ 2) - 1) < 1e-9 AS a FROM orders_v',
    'SELECT true AS a');
-- They are computed by the wrapper alone
SELECT refused('SELECT dp.median(relpages) FROM pg_class');
SELECT refused('SELECT dp.people(*) FROM pg_class');

-- Above the aggregates PostgreSQL computes
SELECT try('SELECT region, count(*) FROM orders_v GROUP BY region HAVING count(*) > 149 AND region <> ''west'' ORDER BY 2 DESC, 1');
SELECT try('SELECT age / 10 * 10 AS a, sum(items) AS s FROM orders_v GROUP BY 1 ORDER BY 1');
SELECT try('SELECT region FROM orders_v GROUP BY region ORDER BY count(*) FILTER (WHERE returned), region LIMIT 2');
SELECT try('SELECT region, count(*) AS n, sum(count(*)) OVER (ORDER BY region) AS running, rank() OVER (ORDER BY count(*) FILTER (WHERE returned)) AS r FROM orders_v GROUP BY region ORDER BY region');
-- A window over an expression of GROUP BY beside another function of it: the planner lists the column, too, and nothing reads it
SELECT try('SELECT date_trunc(''week'', ts)::date AS w, count(*) AS n, sum(count(*)) OVER (ORDER BY date_trunc(''week'', ts)) AS running FROM orders_v GROUP BY date_trunc(''week'', ts) ORDER BY 1 LIMIT 3');
SELECT try('SELECT upper(left(region, 1)) AS r, rank() OVER (PARTITION BY left(region, 1) ORDER BY count(*)) AS a, sum(count(*)) OVER (ORDER BY left(region, 1), returned) AS b FROM orders_v GROUP BY left(region, 1), returned HAVING lower(left(region, 1)) <> ''n'' ORDER BY 1, 3');
SELECT try('SELECT region, 100.0 * count(*) / sum(count(*)) OVER () AS share FROM orders_v GROUP BY 1');
SELECT try('SELECT * FROM (SELECT region, count(*) AS n FROM orders_v GROUP BY region) q WHERE n > 149 AND region < ''s''');
SELECT try('SELECT count(*) AS groups FROM (SELECT region, count(*) FROM orders_v GROUP BY region) q');
SELECT try('SELECT q."A" FROM (SELECT "_".region AS "A", count(1) AS "B" FROM (SELECT * FROM orders_v) "_" GROUP BY "_".region) q WHERE q."B" IS NOT NULL ORDER BY 1 LIMIT 3');
SELECT try('SELECT (SELECT count(*) FROM orders_v) AS a, (SELECT sum(items) FROM orders_v) AS b');

-- One scan for a CTE that is used twice; two for two; the same twice is one charge
SELECT try('WITH r AS (SELECT age >= 55 AS old, count(*) AS n FROM orders_v GROUP BY 1) SELECT a.old, a.n::numeric / b.t AS share FROM r a, (SELECT sum(n) AS t FROM r) b');
SELECT try('SELECT 1 AS k, count(*) AS n FROM orders_v WHERE returned UNION ALL SELECT 2, sum(items) FROM orders_v WHERE NOT returned');
SELECT try('SELECT 1 AS k, count(*) AS n FROM orders_v WHERE age < 20 UNION ALL SELECT 2, count(*) FROM orders_v WHERE age < 20');
SELECT try('SELECT a.region, a.n, b.s FROM (SELECT region, count(*) AS n FROM orders_v WHERE returned GROUP BY 1) a JOIN (SELECT region, sum(items) AS s FROM orders_v WHERE NOT returned GROUP BY 1) b USING (region)');
SELECT try('SELECT d, coalesce(n, 0) AS n FROM generate_series(1, 4) d LEFT JOIN (SELECT extract(month FROM ts) AS m, count(*) AS n FROM orders_v GROUP BY 1) q ON m = d ORDER BY d');
SELECT try('SELECT name, n FROM (VALUES (''north'', ''N''), (''east'', ''E'')) l(region, name) JOIN (SELECT region, count(*) AS n FROM orders_v GROUP BY 1) q USING (region)');

-- What is declared is told free: min and max are bounds and levels, not what occurs
SELECT try('SELECT min(age) AS a, max(age) AS b, count(DISTINCT region) AS c, min(region) AS d, max(ts) AS e FROM orders_v',
    'SELECT 15 AS a, 95 AS b, 4 AS c, ''east'' AS d, timestamp ''2025-02-28 23:59:59.999999'' AS e');
SELECT try('SELECT DISTINCT region FROM orders_v');
SELECT try('SELECT DISTINCT region, returned FROM orders_v ORDER BY 1, 2');
SELECT try('SELECT region FROM orders_v GROUP BY region');
SELECT try('SELECT min(age), max(age) FROM orders_v WHERE age >= 30 AND age < 50', 'SELECT 30 AS min, 49 AS max');
SELECT try('SELECT region, min(age), count(DISTINCT items) AS n FROM orders_v WHERE age >= 30 GROUP BY region', 'SELECT region, 30 AS min, count(DISTINCT items) AS n FROM orders WHERE age >= 30 GROUP BY region');
SELECT try('SELECT count(*) AS n FROM (SELECT DISTINCT date_trunc(''month'', ts) FROM orders_v) q');

-- With a unit: it stands in count(DISTINCT ...) alone
SELECT try('SELECT count(DISTINCT customer) FROM visits_v');
SELECT try('SELECT count(DISTINCT CASE WHEN ward = ''a'' THEN customer END) AS a, count(DISTINCT CASE WHEN cost = 2 THEN customer ELSE NULL END) FILTER (WHERE ward = ''b'') AS b, count(DISTINCT CASE WHEN cost = 2 THEN ward END) AS w FROM visits_v');
SELECT try('SELECT count(DISTINCT CASE WHEN ward = ''a'' THEN customer ELSE 0 END) AS a FROM visits_v');
SELECT try('SELECT dp.people(*) AS n FROM visits_v', 'SELECT count(DISTINCT customer) AS n FROM visits');
SELECT try('SELECT date_trunc(''month'', ts) AS m, count(DISTINCT customer) AS n FROM visits_v GROUP BY 1');
SELECT try('SELECT date_trunc(''month'', ts) AS m, dp.people(*) AS n FROM visits_v GROUP BY 1', 'SELECT date_trunc(''month'', ts) AS m, count(DISTINCT customer) AS n FROM visits GROUP BY 1');
SELECT try('SELECT dp.people(*) FILTER (WHERE ward = ''a'') AS n FROM visits_v', 'SELECT count(DISTINCT customer) FILTER (WHERE ward = ''a'') AS n FROM visits');
SELECT try('SELECT ward, count(*), abs(avg(cost) - 1) < 0.2 AS about_1 FROM visits_v GROUP BY ward');
SELECT try('SELECT count(customer) FROM visits_v');
SELECT try('SELECT customer, count(*) FROM visits_v GROUP BY customer');
SELECT try('SELECT count(*) FROM visits_v WHERE customer = 7');
SELECT try('SELECT count(*) FILTER (WHERE customer > 7) FROM visits_v');
SELECT try('SELECT sum(customer) FROM visits_v');
SELECT try('SELECT min(customer) FROM visits_v');
SELECT try('SELECT DISTINCT customer FROM visits_v');
SELECT try('SELECT count(DISTINCT customer + 1) FROM visits_v');
SELECT try('SELECT count(DISTINCT items) FROM orders_v WHERE items < 1', 'SELECT 1 AS count');
SELECT try('SELECT dp.people(*) FROM orders_v');

-- Little more than noise is hidden, if that is asked for: 0 rows in a group are, and half of a standard error is not of others
SET pg_epsilon.hide_below = 100;
SELECT try('SELECT items < 1 AS none, count(*) AS n FROM orders_v WHERE age < 20 GROUP BY 1', 'SELECT items < 1 AS none, nullif(count(*) FILTER (WHERE age < 20), 0) AS n FROM orders GROUP BY 1');
SELECT try('SELECT count(*) AS n, dp.stderr_count(*) > 0 AS e FROM orders_v WHERE items < 1 AND region = ''north'' AND age < 20 AND returned AND channel = ''web'' AND amount < 10', 'SELECT NULL AS n, true AS e');
RESET pg_epsilon.hide_below;
SELECT try('SELECT count(*) AS n, dp.stderr_count(*) > 0 AS e FROM orders_v WHERE items < 1 AND region = ''north'' AND age < 20 AND returned AND channel = ''web'' AND amount < 10', 'SELECT 0 AS n, true AS e');

\t off
RESET SESSION AUTHORIZATION;
DROP OWNED BY regress_ann, regress_curator;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused(text);
DROP ROLE regress_curator, regress_ann, regress_bob;
