-- dp.expose with replace gives nobody back what was revoked, and undoes no definition of the owner.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE people (sex text, region text, age int, "a b" text);
SELECT dp.create_dataset('people', 'people', 1e5);
SELECT dp.add_attribute('people', 'sex', '{f,m}'), dp.add_attribute('people', 'region', '{n,s}'), dp.add_attribute('people', 'age', 0, 100, 2, last => 'open');
SELECT dp.expose('people', 'public.v');
\t on

-- Default privileges of the owner, which he revoked here: the ones that take their place have not got them either
ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO PUBLIC, regress_ann;
GRANT SELECT (sex) ON v TO regress_ann;
SELECT dp.drop_attribute('people', 'age');
SELECT dp.expose('people', 'public.v', replace => true);
SELECT relname, (SELECT string_agg(DISTINCT CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END, ' ') FROM aclexplode(relacl)) FROM pg_class WHERE relname IN ('v', 'v_foreign') ORDER BY 1;
SELECT attname, attacl FROM pg_attribute WHERE attrelid = 'v'::regclass AND attacl IS NOT NULL;

-- A view that the owner defined anew
CREATE OR REPLACE VIEW v AS SELECT * FROM v_foreign WHERE region = 'n';
SELECT dp.add_attribute('people', 'a b', '{x}');
SELECT refused($$SELECT dp.expose('people', 'public.v', replace => true)$$);
SELECT pg_get_viewdef('v'::regclass) ~ 'WHERE' AS kept;
CREATE OR REPLACE VIEW v AS SELECT sex, upper(region) AS region FROM v_foreign;
SELECT refused($$SELECT dp.expose('people', 'public.v', replace => true)$$);
CREATE OR REPLACE VIEW v AS SELECT * FROM v_foreign;
SELECT dp.expose('people', 'public.v', replace => true);
SET quote_all_identifiers = on;
SELECT dp.expose('people', 'public.v', replace => true);
RESET quote_all_identifiers;
SELECT dp.expose('people', 'pg_temp.w') ~ 'w$' AS made;
SELECT dp.expose('people', 'pg_temp.w', replace => true) ~ 'w$' AS made;
DROP VIEW v;
CREATE VIEW v AS SELECT sex FROM v_foreign;
SELECT refused($$SELECT dp.expose('people', 'public.v', replace => true)$$);
-- one without columns
SELECT dp.expose('people', 'public.x');
SELECT dp.drop_attribute('people', attribute::name) FROM dp.attributes;
SELECT dp.expose('people', 'public.x', replace => true);
SELECT dp.expose('people', 'public.x', replace => true);
SELECT dp.add_attribute('people', 'sex', '{f,m}');
SELECT dp.expose('people', 'public.x', replace => true);
SELECT string_agg(attname, ' ') FROM pg_attribute WHERE attrelid = 'x'::regclass AND attnum > 0;

RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon CASCADE;
DROP FUNCTION refused;
DROP OWNED BY regress_curator, regress_ann CASCADE;
DROP ROLE regress_curator, regress_ann;
