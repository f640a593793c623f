-- dp.expose with replace: the view follows what is declared, and keeps what is granted on it and said of it. Options of the relation.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
CREATE ROLE regress_bob;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;
CREATE FUNCTION columns(relation text) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = relation::regclass AND attnum > 0 AND NOT attisdropped $$;
-- Privileges, options and owner of the two relations; comments but those on columns, unless the owner wrote them.
CREATE FUNCTION kept() RETURNS SETOF text LANGUAGE sql AS $$
    SELECT concat_ws(' ', relname || ': ' || pg_get_userbyid(relowner), (SELECT string_agg(pg_get_userbyid(grantee) || ' ' || privilege_type || CASE WHEN is_grantable THEN '*' ELSE '' END, ', ' ORDER BY pg_get_userbyid(grantee), privilege_type)
             FROM aclexplode(relacl) WHERE grantee <> relowner), 'WITH ' || reloptions::text, 'OPTIONS ' || (SELECT string_agg(o, ' ' ORDER BY o) FROM unnest(ftoptions) o WHERE o !~ '^dataset_id='))
      FROM pg_class c LEFT JOIN pg_foreign_table f ON f.ftrelid = c.oid WHERE relname IN ('v.1', 'v.1_foreign') ORDER BY relname
$$;
CREATE FUNCTION said() RETURNS SETOF text LANGUAGE sql AS $$
    SELECT c.relname || coalesce('.' || a.attname, '') || ': ' || description FROM pg_description d JOIN pg_class c ON c.oid = objoid AND classoid = 'pg_class'::regclass
      LEFT JOIN pg_attribute a ON a.attrelid = objoid AND a.attnum = objsubid AND objsubid > 0 WHERE relname IN ('v.1', 'v.1_foreign') ORDER BY relname, objsubid
$$;
CREATE FUNCTION column_privileges() RETURNS SETOF text LANGUAGE sql AS $$
    SELECT c.relname || '.' || attname || ' ' || attacl::text FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid WHERE relname IN ('v.1', 'v.1_foreign') AND attacl IS NOT NULL ORDER BY 1
$$;
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE t (id int, sex text, age int, x float8, n int, at timestamptz);
INSERT INTO t SELECT i, (ARRAY['f', 'm'])[i % 2 + 1], i % 100, i, i % 30, '2024-01-05 00:00+00' FROM generate_series(1, 1000) i;
SELECT dp.create_dataset('d', 't', 1e5);
SELECT dp.add_attribute('d', 'sex', '{f,m}', nulls => 'cell'), dp.add_attribute('d', 'age', 0, 100, 4, last => 'open'), dp.add_attribute('d', 'n', (SELECT array_agg(i) FROM generate_series(0, 29) i), outside => 'other');
SELECT dp.grant_budget('d', 'regress_ann', 5e4);
\t on
-- without one to replace it is made
SELECT dp.expose('d', 'public."v.1"', epsilon => 100, replace => true);
SELECT said();
SELECT refused($$SELECT dp.expose('d', 'public."v.1"')$$);
SELECT refused($$SELECT dp.expose('d', 'public."v.1"', replace => NULL)$$);
GRANT SELECT ON "v.1" TO regress_ann WITH GRANT OPTION;
GRANT SELECT ON "v.1" TO PUBLIC;
GRANT SELECT (sex, age), UPDATE (age) ON "v.1" TO regress_bob;
GRANT SELECT ON "v.1_foreign" TO regress_bob;
ALTER VIEW "v.1" SET (security_invoker = false);
ALTER FOREIGN TABLE "v.1_foreign" OPTIONS (ADD budget 'regress_ann', ADD rows_per_unit '1');
COMMENT ON VIEW "v.1" IS 'mine';
COMMENT ON COLUMN "v.1".sex IS 'of mine, too';
CREATE VIEW over AS SELECT sex FROM "v.1";
SELECT kept();
SELECT column_privileges();

-- a new attribute, other bins: what uses the view stays
SELECT dp.add_attribute('d', 'x', 0, 1000, 2, last => 'open'), dp.alter_attribute('d', 'age', 0, 100, 2, last => 'open');
SELECT dp.expose('d', 'public."v.1"', replace => true);
SELECT columns('"v.1"'), columns('"v.1_foreign"');
SELECT kept();
SELECT said();
SELECT column_privileges();
SET SESSION AUTHORIZATION regress_ann;
SELECT age, x, round(count(*)) FROM "v.1" GROUP BY 1, 2 ORDER BY 1, 2;
SET SESSION AUTHORIZATION regress_curator;
-- a price
SELECT dp.expose('d', 'public."v.1"', epsilon => 200, replace => true);
SELECT kept();

-- one that is gone: nobody asks for it, and the message says what to do
SELECT dp.drop_attribute('d', 'age');
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT age, count(*) FROM "v.1" GROUP BY 1$$);
SET SESSION AUTHORIZATION regress_curator;
SELECT refused($$SELECT dp.expose('d', 'public."v.1"', replace => true)$$);
DROP VIEW over;
SELECT dp.expose('d', 'public."v.1"', replace => true);
SELECT columns('"v.1"'), columns('"v.1_foreign"');
SELECT kept();
SELECT said();
SELECT column_privileges();
SET SESSION AUTHORIZATION regress_ann;
SELECT x, round(count(*)) FROM "v.1" GROUP BY 1 ORDER BY 1;
-- by another role than its owner: it stays the owner's
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.drop_attribute('d', 'x');
RESET SESSION AUTHORIZATION;
SELECT dp.expose('d', 'public."v.1"', replace => true);
SELECT kept();
SET SESSION AUTHORIZATION regress_ann;
SELECT refused($$SELECT dp.expose('d', 'public."v.1"', replace => true)$$);
SELECT sex, round(count(*)) FROM "v.1" GROUP BY 1 ORDER BY 1;
-- a dataset that was registered anew
SET SESSION AUTHORIZATION regress_curator;
SELECT dp.drop_dataset('d'), dp.create_dataset('e', 't', 1e5);
SELECT dp.add_attribute('e', 'sex', '{f,m}'), dp.add_attribute('e', 'age', 0, 100, 4, last => 'open'), dp.grant_budget('e', 'regress_ann', 5e4);
SELECT refused($$SELECT dp.expose('e', 'public."v.1"', replace => true)$$);
-- what dp.expose did not make
CREATE VIEW other AS SELECT 1 AS one;
SELECT refused($$SELECT dp.expose('e', 'other', replace => true)$$);
SELECT to_regclass('other_foreign') IS NULL AS nothing_made;

-- cut_bins and hide_below of the relation, which a setting overrides
SELECT dp.expose('e', 'public.w', epsilon => 1);
GRANT SELECT ON w TO regress_ann;
SELECT refused($$ALTER FOREIGN TABLE w_foreign OPTIONS (ADD cut_bins 'half')$$);
SELECT refused($$ALTER FOREIGN TABLE w_foreign OPTIONS (ADD hide_below '-1')$$);
SELECT refused($$ALTER FOREIGN TABLE w_foreign OPTIONS (ADD hide_below 'much')$$);
SELECT refused($$CREATE FOREIGN TABLE x (sex text) SERVER dp OPTIONS (hide_below '')$$);
ALTER FOREIGN TABLE w_foreign OPTIONS (ADD cut_bins 'middle', ADD hide_below '1000');
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) IS NULL AS hidden FROM w WHERE age < 60;
SET pg_epsilon.hide_below = 0;
SELECT count(*) IS NULL AS hidden FROM w WHERE age < 60;
SET pg_epsilon.cut_bins = error;
SELECT refused($$SELECT count(*) FROM w WHERE age < 60$$);
RESET pg_epsilon.cut_bins;
RESET pg_epsilon.hide_below;
SELECT count(*) IS NULL AS hidden FROM w WHERE age < 60;
RESET SESSION AUTHORIZATION;

DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused, columns, kept, said, column_privileges;
DROP OWNED BY regress_curator, regress_ann, regress_bob CASCADE;
DROP ROLE regress_curator, regress_ann, regress_bob;
