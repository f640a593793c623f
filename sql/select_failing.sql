-- Plain SELECT: a function that fails on a cell of no row is called again, on others, from its beginning.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
SET client_min_messages = warning;
\set select :here /test/regress/select.sql
\i :select
CREATE TABLE many (x int);
INSERT INTO many SELECT generate_series(1, 1000);
GRANT SELECT ON many TO PUBLIC;
-- it fails in the midst of the table for ages of 60, which WHERE leaves out; then it is called for NULL
CREATE FUNCTION sum_to_20(age int) RETURNS bigint IMMUTABLE LANGUAGE sql AS
    'SELECT sum(CASE WHEN coalesce(age, 5) <> 60 THEN coalesce(age, 5) ELSE 1 / (x - 20) END) FROM public.many';
SELECT try('SELECT count(*) FILTER (WHERE sum_to_20(age) >= 40000) FROM orders_v WHERE age < 55 OR age IS NULL', 'SELECT count(*) FILTER (WHERE age >= 40) FROM orders_v WHERE age < 55');
SELECT try('SELECT count(*) FILTER (WHERE sum_to_20(age) < 30000), count(*) FROM orders_v WHERE age < 55 OR age IS NULL', 'SELECT count(*) FILTER (WHERE age < 30), count(*) FROM orders_v WHERE age < 55');
\t off

RESET SESSION AUTHORIZATION;
SET client_min_messages = error;
DROP OWNED BY regress_ann, regress_bob, regress_curator;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused(text);
DROP ROLE regress_curator, regress_ann, regress_bob;
