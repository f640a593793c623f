-- Where no two rows can be of one unit, none is cut and nothing is sorted; where they can, the cut leaves one row of each.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
SET client_min_messages = error;
\t on
CREATE ROLE regress_curator;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET SESSION AUTHORIZATION regress_curator;

-- Each table has 40 units, with three rows each where nothing forbids that.  All rows are in one cell.
CREATE TABLE keyed (u int PRIMARY KEY, one int DEFAULT 1, n int, word text);
INSERT INTO keyed SELECT i, 1, i % 5, 'w' || i % 3 FROM generate_series(1, 40) i;
CREATE TABLE partitioned (u int PRIMARY KEY, one int DEFAULT 1) PARTITION BY HASH (u);
CREATE TABLE partitioned_0 PARTITION OF partitioned FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE partitioned_1 PARTITION OF partitioned FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO partitioned SELECT u FROM keyed;
CREATE TABLE nullable (u int UNIQUE, one int DEFAULT 1);
INSERT INTO nullable SELECT u FROM keyed UNION ALL SELECT NULL FROM generate_series(1, 7);
CREATE TABLE parent (u int PRIMARY KEY, one int DEFAULT 1);
INSERT INTO parent SELECT u FROM keyed;
CREATE TABLE child () INHERITS (parent);
INSERT INTO child SELECT u FROM keyed, generate_series(1, 2);
CREATE TABLE several (u int NOT NULL REFERENCES keyed, one int DEFAULT 1, k int NOT NULL, PRIMARY KEY (u, k));
INSERT INTO several SELECT u, 1, k FROM keyed, generate_series(1, 3) k;
CREATE TABLE in_part (u int NOT NULL, one int DEFAULT 1, k int NOT NULL);
INSERT INTO in_part TABLE several;
CREATE UNIQUE INDEX ON in_part (u) WHERE k = 1;
CREATE TABLE invalid (u int NOT NULL, one int DEFAULT 1, k int NOT NULL);
INSERT INTO invalid TABLE several;
\set VERBOSITY terse
CREATE UNIQUE INDEX CONCURRENTLY no_key ON invalid (u);
\set VERBOSITY default
CREATE TABLE new_index (u int NOT NULL, one int DEFAULT 1, k int NOT NULL PRIMARY KEY);
INSERT INTO new_index SELECT u, 1, row_number() OVER () FROM several;

CREATE TABLE places (one int PRIMARY KEY);
INSERT INTO places VALUES (1), (2);
GRANT SELECT ON places TO PUBLIC;
CREATE VIEW of_keyed AS SELECT u, k.one, n, word FROM keyed k JOIN places p ON p.one = k.one;
CREATE VIEW of_several AS SELECT s.u, k.one, s.k AS n, word FROM several s JOIN keyed k ON k.u = s.u;
CREATE VIEW of_groups AS SELECT u, max(one) AS one, sum(k) AS n, max('w'::text) AS word FROM several GROUP BY u;
CREATE VIEW of_both AS SELECT u, one, n, word FROM keyed UNION ALL SELECT u, one, n, word FROM keyed;
CREATE VIEW of_null_group AS SELECT u, 1 AS one, 1 AS n, 'w'::text AS word FROM nullable GROUP BY u;
CREATE VIEW of_nullable AS SELECT u, n.one, n.one AS n, 'w'::text AS word FROM nullable n JOIN places p ON p.one = n.one;

CREATE FUNCTION register(relation text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF relation ~ '^of_|several' THEN
        PERFORM dp.create_dataset(relation, relation, unit => 'u', max_rows => 1, same_cap_as => CASE WHEN relation LIKE 'of_null%' THEN 'nullable' ELSE 'keyed' END);
    ELSE
        PERFORM dp.create_dataset(relation, relation, 1e5, unit => 'u', max_rows => 1);
        PERFORM dp.grant_budget(relation, 'regress_curator', 9e4);
    END IF;
    PERFORM dp.add_attribute(relation, 'one', '{1}');
END $$;
-- What the cut leaves, which is one row of each unit.
CREATE FUNCTION counted(relation text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    units bigint; rows bigint; counted numeric := (SELECT round(estimate) FROM dp.histogram(relation, 'one', rho => 900, fresh => true));
BEGIN
    EXECUTE format('SELECT count(DISTINCT u), count(*) FROM %I', relation) INTO units, rows;
    RETURN format('%s: %s of %s rows', relation, CASE WHEN counted = units THEN 'as many as units' ELSE format('WRONG, %s,', counted) END, rows);
END $$;
\set tables '''{keyed,partitioned,nullable,parent,several,in_part,invalid,new_index}''::text[]'
SELECT count(register(r)) FROM unnest(:tables) r;
SELECT counted(r) FROM unnest(:tables) r;
-- What this transaction deletes is read, and what it then declares says nothing of that.
\set VERBOSITY terse
BEGIN;
DELETE FROM new_index a USING new_index b WHERE a.u = b.u AND a.k > b.k;
CREATE UNIQUE INDEX ON new_index (u);
SELECT counted('new_index');
ROLLBACK;
BEGIN;
DELETE FROM nullable WHERE u IS NULL;
ALTER TABLE nullable ALTER u SET NOT NULL;
SELECT counted('nullable');
ROLLBACK;
ALTER TABLE child ADD CONSTRAINT low CHECK (u < 40) NOT VALID;
BEGIN;
DELETE FROM child WHERE u >= 40;
ALTER TABLE child VALIDATE CONSTRAINT low;
SELECT counted('parent');
ROLLBACK;
\set VERBOSITY default
-- Views.
\set views '''{of_keyed,of_several,of_groups,of_both,of_nullable,of_null_group}''::text[]'
SELECT count(register(r)) FROM unnest(:views) r;
SELECT counted(r) FROM unnest(:views) r;
-- Every kind of question where the unit is a key, by the view and by a table.
DO $$
BEGIN
    PERFORM dp.add_attribute(r, 'n', 0, 5, 5, last => 'open'), dp.add_attribute(r, 'word', open => true) FROM unnest('{keyed,of_keyed}'::text[]) r;
END $$;
SELECT string_agg(aggregate || ' ' || round(estimate)::int, ', ') FROM unnest('{keyed,of_keyed}'::text[]) r, dp.aggregate(r, '{count(*),sum(n),count(distinct word)}', rho => 5000) GROUP BY r;
SELECT a AS aggregates, string_agg(round(estimate)::int::text, ' ') FROM unnest('{keyed,of_keyed}'::text[]) r, unnest(ARRAY['sum(n)', 'count(distinct unit)', 'dropped']) a, dp.aggregate(r, ARRAY['count(*)', a], rho => 5000) GROUP BY r, a ORDER BY a;
SELECT string_agg(key || ' ' || round(estimate)::int, ', ' ORDER BY key) FROM unnest('{keyed,of_keyed}'::text[]) r, dp.keys(r, 'word', rho => 1000, delta => 1e-12) GROUP BY r;
SELECT string_agg(round(estimate)::int::text, ' ' ORDER BY query) FROM unnest('{keyed,of_keyed}'::text[]) r, dp.histogram(r, '{one,n}', 'marginals(1)', rho => 1000) GROUP BY r;
SELECT estimate BETWEEN 1.5 AND 2.5 AS median FROM unnest('{keyed,of_keyed}'::text[]) r, dp.aggregate(r, '{median(n)}', rho => 1000);
SELECT string_agg(round(units)::int::text, ' ' ORDER BY rows) FROM unnest('{keyed,of_keyed}'::text[]) r, dp.rows_per_unit(r, 3, rho => 1000) GROUP BY r;

RESET SESSION AUTHORIZATION;
SET client_min_messages = error;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused;
DROP OWNED BY regress_curator;
DROP ROLE regress_curator;
