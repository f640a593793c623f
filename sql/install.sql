-- What the extension installs: functions and their flags, privileges, comments,
-- what pg_dump takes along, and that it goes and comes again.
CREATE EXTENSION pg_epsilon;
CREATE ROLE regress_nobody;
\pset format unaligned
\pset footer off

-- The whole surface.  What charges or reads the ledger is VOLATILE (v) and PARALLEL UNSAFE (u);
-- what charges returns a set, or is an aggregate, which SQL calls IMMUTABLE whatever its functions are;
-- nothing is SECURITY DEFINER or LEAKPROOF; everybody may execute everything.
SELECT p.pronamespace::regnamespace AS schema, p.proname AS function, pg_get_function_identity_arguments(p.oid) AS arguments,
       p.provolatile AS volatile, p.proparallel AS parallel, p.proretset AS set,
       p.prosecdef AS definer, p.proleakproof AS leakproof,
       has_function_privilege('regress_nobody', p.oid, 'EXECUTE') AS open
  FROM pg_proc p
 WHERE p.pronamespace IN ('dp'::regnamespace, 'dp_internal'::regnamespace)
 ORDER BY p.pronamespace::regnamespace::text COLLATE "C", p.proname COLLATE "C", pg_get_function_identity_arguments(p.oid) COLLATE "C";

-- What \df dp.* shows a person: at most 130 rows, no plumbing, each argument and each column of a result with a name.
SELECT count(*) <= 130 AS few, count(*) FILTER (WHERE proname ~ '^(is_|visible_|all_)|_(add|final|combine|in|out|send|recv)$') AS plumbing,
       count(*) FILTER (WHERE prorettype = 'internal'::regtype OR 'internal'::regtype = ANY (proargtypes)) AS on_states
  FROM pg_proc WHERE pronamespace = 'dp'::regnamespace;
SELECT oid::regprocedure AS argument_without_name FROM pg_proc
 WHERE pronamespace = 'dp'::regnamespace AND pronargs > 0
   AND (proargnames IS NULL OR '' = ANY (proargnames) OR cardinality(proargnames) < cardinality(coalesce(proallargtypes, proargtypes::oid[])));

-- Every object has a comment, but indexes, sequences and the row types of tables: expect none.
SELECT p.oid::regprocedure AS function_without_comment
  FROM pg_proc p
 WHERE p.pronamespace IN ('dp'::regnamespace, 'dp_internal'::regnamespace) AND obj_description(p.oid, 'pg_proc') IS NULL;
SELECT c.oid::regclass AS relation_without_comment
  FROM pg_class c
 WHERE c.relnamespace IN ('dp'::regnamespace, 'dp_internal'::regnamespace, 'dp_ledger'::regnamespace) AND c.relkind IN ('r', 'v', 'm')
   AND obj_description(c.oid, 'pg_class') IS NULL;
SELECT a.attrelid::regclass AS view, a.attname AS column_without_comment
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
 WHERE c.relnamespace = 'dp'::regnamespace AND c.relkind = 'v' AND a.attnum > 0 AND col_description(a.attrelid, a.attnum) IS NULL
 ORDER BY a.attrelid, a.attnum;
SELECT t.oid::regtype AS type_without_comment
  FROM pg_type t LEFT JOIN pg_class c ON c.oid = t.typrelid
 WHERE t.typnamespace IN ('dp'::regnamespace, 'dp_internal'::regnamespace, 'dp_ledger'::regnamespace) AND t.typelem = 0 AND (c.relkind IS NULL OR c.relkind = 'c')
   AND obj_description(t.oid, 'pg_type') IS NULL;
SELECT pg_describe_object(d.classid, d.objid, d.objsubid) AS other_without_comment
  FROM pg_depend d JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
 WHERE e.extname = 'pg_epsilon' AND d.deptype = 'e' AND d.classid NOT IN ('pg_class'::regclass, 'pg_type'::regclass, 'pg_proc'::regclass)
   AND obj_description(d.objid, d.classid::regclass::name) IS NULL;
SELECT nspname AS schema_without_comment FROM pg_namespace WHERE nspname LIKE 'dp%' AND obj_description(oid, 'pg_namespace') IS NULL;

-- Tables and sequences are closed, views are open and barriers; nobody may create in the schema.
SELECT c.relnamespace::regnamespace AS schema, c.relname AS relation, c.relkind AS kind, c.reloptions AS options,
       CASE WHEN c.relkind <> 'S' THEN has_any_column_privilege('regress_nobody', c.oid, 'SELECT')
            ELSE has_sequence_privilege('regress_nobody', c.oid, 'SELECT, USAGE, UPDATE') END AS may_read,
       c.relkind <> 'S' AND (has_table_privilege('regress_nobody', c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER, REFERENCES')
            OR has_any_column_privilege('regress_nobody', c.oid, 'INSERT, UPDATE, REFERENCES')) AS may_write
  FROM pg_class c
 WHERE c.relnamespace IN ('dp'::regnamespace, 'dp_internal'::regnamespace, 'dp_ledger'::regnamespace) AND c.relkind IN ('r', 'v', 'S')
 ORDER BY c.relnamespace::regnamespace::text COLLATE "C", c.relkind, c.relname COLLATE "C";
SELECT nspname AS schema, has_schema_privilege('regress_nobody', oid, 'USAGE') AS may_use, has_schema_privilege('regress_nobody', oid, 'CREATE') AS may_create
  FROM pg_namespace WHERE nspname LIKE 'dp%' ORDER BY 1;

-- pg_dump takes every table and every sequence along, whole.
SELECT c.relname AS relation, x.condition = '' AS whole
  FROM pg_extension e, unnest(e.extconfig, e.extcondition) AS x (relation, condition)
  JOIN pg_class c ON c.oid = x.relation
 WHERE e.extname = 'pg_epsilon'
 ORDER BY c.relname COLLATE "C";
SELECT c.oid::regclass AS not_dumped
  FROM pg_class c
 WHERE c.relnamespace IN ('dp'::regnamespace, 'dp_internal'::regnamespace, 'dp_ledger'::regnamespace) AND c.relkind IN ('r', 'S')
   AND NOT c.oid = ANY ((SELECT extconfig FROM pg_extension WHERE extname = 'pg_epsilon')::oid[]);

-- No column that a restore could choke on, no trigger, no foreign key.
SELECT a.attrelid::regclass, a.attname, a.atttypid::regtype
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
 WHERE c.relnamespace = 'dp_ledger'::regnamespace AND c.relkind = 'r' AND a.attnum > 0
   AND format_type(a.atttypid, NULL) LIKE 'reg%';
SELECT count(*) AS triggers FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE c.relnamespace = 'dp_ledger'::regnamespace;
SELECT count(*) AS foreign_keys FROM pg_constraint WHERE connamespace = 'dp_ledger'::regnamespace AND contype = 'f';

-- Whatever could weaken privacy is for superusers.
LOAD 'pg_epsilon';
SELECT name, setting, unit, context FROM pg_settings WHERE name LIKE 'pg\_epsilon.%' ORDER BY name COLLATE "C";
\set VERBOSITY terse
SET ROLE regress_nobody;
SET pg_epsilon.time_quantum = 0;
SET pg_epsilon.max_memory = '2GB';
SET pg_epsilon.worker_linger = 0;
SET pg_epsilon.nothing = 1;
SELECT count(*) FROM dp_ledger.dataset;
SELECT count(*) FROM dp_ledger.charge;
SELECT nextval('dp_ledger.charge_id_seq');
CREATE TABLE dp.mine (x int);
SELECT count(*) FROM dp.datasets;
-- what an analyst's client lists: views, and none of the ledger's tables
SELECT table_schema, table_name, table_type FROM information_schema.tables WHERE table_schema LIKE 'dp%' ORDER BY 1, 2;
-- what a client lists that ignores privileges: the ledger's tables in their own schema alone
SELECT n.nspname AS schema, c.relkind AS kind, count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname LIKE 'dp%' AND c.relkind IN ('r', 'v', 'm', 'f', 'p', 'S') GROUP BY 1, 2 ORDER BY 1, 2;
RESET ROLE;

-- It goes without a trace, and comes again.
DROP EXTENSION pg_epsilon;
SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'dp%';
CREATE EXTENSION pg_epsilon;
SELECT count(*) FROM dp.datasets;
DROP EXTENSION pg_epsilon;
DROP ROLE regress_nobody;
