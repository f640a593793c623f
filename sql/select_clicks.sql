-- A dashboard asked of a dataset, with a unit and a budget of 1: ten refreshes of its tiles and twenty clicks on its slicers are charged
-- once for each tile at most.  Which clicks cost is shown at the end.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_bi;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE rentals AS SELECT 1 + i * 7 % 900 AS customer, timestamp '2005-01-01' + i * 5 % 365 * interval '1 day' AS rented, (ARRAY['Action', 'Comedy', 'Drama', 'Sports'])[1 + i * i % 4] AS category,
       (ARRAY['G', 'PG', 'R'])[1 + i % 3] AS rating, 1 + i % 2 AS store, i % 6 AS amount FROM generate_series(1, 9000) i;
SELECT dp.create_dataset('rentals', 'rentals', epsilon => 3, unit => 'customer', max_rows => 20);
SELECT dp.add_edges('rentals', 'rented', array_agg(m), outside => 'drop') FROM generate_series(timestamp '2005-01-01', '2006-01-01', '1 month') m;
SELECT dp.add_attribute('rentals', 'category', '{Action,Comedy,Drama,Sports}'), dp.add_attribute('rentals', 'rating', '{G,PG,R}'), dp.add_attribute('rentals', 'store', '{1,2}'), dp.add_attribute('rentals', 'amount', 0, 6, bins => 6, last => 'open');
SELECT dp.grant_budget('rentals', 'regress_bi', epsilon => 1), dp.expose('rentals', 'board', epsilon => 0.2);
GRANT SELECT ON board TO regress_bi;
SET SESSION AUTHORIZATION regress_bi;
SET pg_epsilon.cut_bins = middle;

-- Eight tiles; slicers are of the category, the store and the month, and each tile groups by what may filter it.  {category} and
-- the like is where a tool writes a filter that is set.
CREATE TEMP TABLE tiles (tile text, statement text);
INSERT INTO tiles VALUES
  ('rentals, and', 'SELECT sum(n) AS rentals FROM (SELECT category, store, count(*) AS n FROM board GROUP BY category, store) AS virtual_table WHERE true{category}{store}'),
  ('by store', 'SELECT "source"."store" AS "store", SUM("source"."n") AS "sum" FROM (SELECT category, store, count(*) AS n FROM board GROUP BY category, store) "source" WHERE true{category}{store} GROUP BY "source"."store" ORDER BY "source"."store" ASC'),
  ('turnover, and', 'select sum("_"."a0") from (select "category", "store", sum("amount") as "a0" from board "rows" group by "category", "store") "_" where not "_"."a0" is null{category}{store}'),
  ('by category', 'SELECT category, sum(a0) AS turnover FROM (SELECT category, store, sum(amount) AS a0 FROM board GROUP BY category, store) t WHERE true{category}{store} GROUP BY category ORDER BY turnover DESC LIMIT 10000'),
  ('by month', 'SELECT CAST(DATE_TRUNC(''month'', "board"."rented") AS timestamp) AS "rented", "board"."category" AS "category", COUNT(*) AS "count" FROM "board" WHERE true{category}{month} GROUP BY CAST(DATE_TRUNC(''month'', "board"."rented") AS timestamp), "board"."category" ORDER BY 1 ASC, 2 ASC'),
  ('by rating', 'SELECT rating AS rating, category AS category, store AS store, COUNT(*) AS count FROM board WHERE true{category}{store} GROUP BY rating, category, store ORDER BY count DESC LIMIT 10000'),
  ('amount', 'SELECT store, category, avg(amount) AS mean FROM board WHERE true{category}{store} GROUP BY 1, 2 HAVING avg(amount) > 0 ORDER BY mean DESC FETCH NEXT 500 ROWS ONLY'),
  ('time series', 'SELECT date_trunc(''month'', rented) AS "time", store::text AS metric, count(*) AS value FROM board WHERE true{store}{month} GROUP BY 1, 2 ORDER BY 1, 2');

-- shows CATEGORY, STORE, MONTH: all tiles are sent with these filters; what goes wrong, and how often it has been charged
CREATE FUNCTION pg_temp.shows(category text, store text, month text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    r record; sent text;
BEGIN
    FOR r IN SELECT * FROM tiles LOOP
        sent := replace(replace(replace(r.statement, '{category}', coalesce(' AND ' || category, '')), '{store}', coalesce(' AND ' || store, '')), '{month}', coalesce(' AND ' || month, ''));
        IF refused(sent) <> 'accepted' THEN
            RAISE WARNING '% %', sent, refused(sent);
        END IF;
    END LOOP;
    RETURN (SELECT count(*) || ' charges' FROM dp.charges);
END $$;
SELECT i AS refresh, pg_temp.shows(NULL, NULL, NULL) FROM generate_series(1, 10) i;
SELECT category, store, month, pg_temp.shows(category, store, month)
  FROM (VALUES ('category = ''Action''', NULL, NULL), ('category IN (''Action'', ''Drama'')', NULL, NULL), ('category = ANY (ARRAY[''Drama''])', NULL, NULL),
               ('category <> ''Sports''', 'store = 1', NULL), ('category <> ''Sports''', 'store = 2', NULL), (NULL, 'store IN (1, 2)', NULL), (NULL, 'store = 1', 'rented >= timestamp ''2005-03-01'''),
               (NULL, NULL, 'rented >= timestamp ''2005-03-01'' AND rented < timestamp ''2005-06-01'''), (NULL, 'store = 2', 'rented BETWEEN ''2005-03-01'' AND ''2005-05-31 23:59:59.999'''),
               ('category = ''Action''', 'store = 2', 'date_trunc(''month'', rented) = ''2005-07-01'''), ('lower(category) = ''drama''', NULL, 'extract(quarter FROM rented) = 2'),
               ('category LIKE ''%a%''', 'store = 1', NULL), ('category NOT IN (''Action'')', 'store::text = ''1''', NULL), ('NOT (category = ''Action'')', NULL, 'rented < ''2005-02-01'''),
               ('category = ''Comedy''', 'store > 1', 'extract(month FROM rented) IN (11, 12)'), ('category = ''Comedy'' OR category = ''Drama''', NULL, NULL), (NULL, 'store <> 1', NULL),
               ('(category = ''Comedy'' OR category IS NULL)', NULL, NULL), ('upper(left(category, 1)) = ''S''', 'store BETWEEN 1 AND 1', 'rented::date >= ''2005-12-01'''), ('(category = ''Action'' OR category = ''Sports'')', NULL, 'rented >= date_trunc(''year'', timestamp ''2005-06-07'')')) click (category, store, month);
SELECT charge, request->>'attributes' AS by, request->>'aggregates' AS aggregates FROM dp.charges ORDER BY charge;

-- One question for all tiles: with MATERIALIZED PostgreSQL leaves out none of its columns, and filters come after it.
CREATE FUNCTION pg_temp.costs(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    before bigint := (SELECT count(*) FROM dp.charges);
BEGIN
    IF refused(statement) <> 'accepted' THEN
        RETURN refused(statement);
    END IF;
    RETURN (SELECT count(*) - before FROM dp.charges);
END $$;
\set all 'SELECT category, store, count(*) AS n, avg(amount) AS mean, sum(amount) AS total FROM board GROUP BY category, store'
SELECT statement, pg_temp.costs(replace(replace(statement, '{all}', :'all'), '{kept}', 'WITH a AS MATERIALIZED (' || :'all' || ') SELECT * FROM a')) AS charges
  FROM unnest(ARRAY['SELECT sum(n) FROM ({kept}) t', 'SELECT sum(total) FROM ({kept}) t WHERE store = 2', 'SELECT category, max(mean) FROM ({kept}) t WHERE store = 1 GROUP BY 1', 'SELECT store, sum(total) / sum(n) FROM ({kept}) t WHERE category <> ''Drama'' GROUP BY 1',
                    -- without it each set of columns is a question of its own: for its price it is answered more precisely
                    'SELECT sum(total) / sum(n) FROM ({all}) t', 'SELECT sum(n) FROM ({all}) t WHERE store = 2', 'SELECT sum(total) / sum(n) FROM ({all}) t WHERE category = ''Drama''']) statement;
-- What a click costs: a filter on a column that the tile does not group by, at every state that was not seen before.
SELECT statement, pg_temp.costs(statement) AS charges
  FROM unnest(ARRAY['SELECT count(*) FROM board', 'SELECT count(*) FROM board WHERE store = 1', 'SELECT count(*) FROM board WHERE store = 1 AND category = ''Action''', 'SELECT count(*) FROM board WHERE category IN (''Action'') AND store IN (1)',
                    'SELECT rating, count(*) FROM board WHERE store = 1 GROUP BY rating', 'SELECT category, store, count(*) FROM board WHERE store = 1 GROUP BY CUBE (1, 2)', 'SELECT rating, count(DISTINCT customer) FROM board WHERE rating = ''G'' GROUP BY 1']) statement;
SELECT sum(rho) <= max(rho_limit) AS within FROM dp.charges, dp.budgets;

RESET SESSION AUTHORIZATION;
SET client_min_messages = error;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused;
DROP OWNED BY regress_curator, regress_bi CASCADE;
DROP ROLE regress_curator, regress_bi;
