-- dp.disclosure: what an owner publishes about a dataset.
\getenv here PG_ABS_SRCDIR
\set set_up :here /test/regress/set_up.sql
\i :set_up
CREATE ROLE regress_curator;
CREATE ROLE regress_ann;
GRANT CREATE ON SCHEMA public TO regress_curator;
SET TimeZone = 'UTC';
SET client_min_messages = warning;
SET SESSION AUTHORIZATION regress_curator;
CREATE TABLE t (y boolean, x int, day date, who int);
INSERT INTO t SELECT i % 2 = 0, i % 100, date '2020-01-01' + i % 20, i FROM generate_series(1, 400) i;
SELECT dp.create_dataset('d', 't', 40, 1e-6, unit => 'who', max_rows => 2);
SELECT dp.add_attribute('d', 'y'), dp.add_attribute('d', 'x', 0, 100, 10), dp.set_time('d', 'day', append_only => true);
-- before anything
SELECT regexp_replace(jsonb_pretty(dp.disclosure('d') - '{registered,software}'::text[]), '(\.\d{6})\d+', '\1', 'g');
SELECT dp.disclosure('d') #>> '{software,name}' AS name, dp.disclosure('d') #>> '{software,version}' = extversion AS version FROM pg_extension WHERE extname = 'pg_epsilon';
SELECT dp.grant_budget('d', 'regress_ann', 20), dp.grant_budget('d', 'regress_curator', 2, accounting => 'pure');
SET SESSION AUTHORIZATION regress_ann;
SELECT count(*) FROM dp.histogram('d', 'x', rho => 0.1);
SELECT count(*) FROM dp.histogram('d', 'x', rho => 0.2, fresh => true);
SELECT count(*) FROM dp.aggregate('d', '{count(*)}', rho => 0.01);
SELECT count(*) FROM dp.fit('d', 'logistic_regression', label => 'y', features => '{x}', rho => 0.05, model => 'm');
SELECT rho_charged FROM dp.create_series('d', 's', '{y}', start => '2020-01-01', period => '10 days', periods => 2, max_periods => 1, rho => 0.02);
SELECT count(*) FROM dp.report('s');
\t on
SELECT refused($$SELECT dp.disclosure('d')$$);
SELECT refused($$SELECT * FROM dp_ledger.all_disclosures$$);
SET SESSION AUTHORIZATION regress_curator;
SELECT refused($$SELECT dp.disclosure('nothing')$$);
SELECT dp.disclosure(NULL) IS NULL;
\t off
SELECT count(*) FROM dp.histogram('d', 'y', epsilon => 0.5);
SELECT regexp_replace(jsonb_pretty(dp.disclosure('d') - '{registered,software,privacy_unit,cap,time,promises,acts,deployment}'::text[]), '(\.\d{6})\d+', '\1', 'g');
-- charges add up to what is spent, which is what dp.spent says
SELECT (SELECT sum((c ->> 'rho')::numeric) FROM jsonb_array_elements(j -> 'charges') c) = (j #>> '{spent,rho}')::numeric AS sum,
       abs((j #>> '{spent,epsilon}')::float8 / s.epsilon - 1) < 1e-12 AS epsilon, (j #>> '{spent,rho}')::float8 = s.rho AS rho
  FROM dp.disclosure('d') j, dp.spent('d') s WHERE s.role IS NULL AND s.delta = 1e-6;
-- no name of a role
SELECT dp.disclosure('d')::text ~ 'regress_' AS names_a_role;
-- held by triggers
SELECT dp.disclosure('d') -> 'time';
SELECT dp.set_time('d', 'day', append_only => true, enforce => true);
SELECT dp.disclosure('d') -> 'time';
-- a raised cap is an act; a dropped dataset is none
SELECT dp.drop_dataset('d');
\t on
SELECT refused($$SELECT dp.disclosure('d')$$);
\t off
SELECT dp.create_dataset('d', 't', 60, 1e-6, unit => 'who', max_rows => 2);
SELECT dp.disclosure('d') #> '{acts,cap_raises}' AS cap_raises, dp.disclosure('d') #> '{acts,last_cap_raise}' <> 'null' AS "when", dp.disclosure('d') #> '{cap,epsilon}' AS cap;
-- values, and pure
CREATE TABLE v (price int);
CREATE TABLE p (LIKE t);
SELECT dp.create_dataset('v', 'v', 4, neighbours => 'values', private_column => 'price', max_change => 0.1), dp.create_dataset('p', 'p', 4, accounting => 'pure');
SELECT d, j -> 'privacy_unit' AS privacy_unit, j -> 'promises' AS promises, j -> 'time' AS "time" FROM unnest('{v,p}'::text[]) d, dp.disclosure(d) j;
SELECT j -> 'cap' AS cap, j -> 'spent' AS spent FROM dp.disclosure('p') j;
SELECT d, j -> 'dp_flavor' AS dp_flavor, j -> 'privacy_loss' AS privacy_loss FROM unnest('{v,p}'::text[]) d, LATERAL (SELECT dp.disclosure(d) -> 'deployment' AS j) x;
-- the table is gone: what was spent stays to be told
DROP TABLE t;
SELECT (j #> '{spent,rho}')::float8 > 0 AS spent, j -> 'frozen' AS frozen, j -> 'time' AS "time" FROM dp.disclosure('d') j;
RESET SESSION AUTHORIZATION;
DROP EXTENSION pg_epsilon;
DROP FUNCTION public.refused(text);
DROP OWNED BY regress_curator, regress_ann;
DROP ROLE regress_curator, regress_ann;
