/* pg_epsilon 1.0 to 1.1: what operators see */

\echo Use "ALTER EXTENSION pg_epsilon UPDATE TO '1.1'" to load this file. \quit

-- No operator of a user's, with types that fit better, is meant by what is read here.
SET LOCAL search_path = pg_catalog, pg_temp;

-- What runs, and what became of requests: in shared memory, where the library is preloaded.
CREATE FUNCTION dp_internal.activity() RETURNS TABLE (pid integer, role_oid oid, is_own boolean, dataset_id bigint, phase text, progress text, memory bigint, started timestamptz)
    AS 'MODULE_PATHNAME', 'pe_sql_activity' LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 10;
COMMENT ON FUNCTION dp_internal.activity() IS 'requests of all roles that run in this database (used by the view)';
REVOKE ALL ON FUNCTION dp_internal.activity() FROM PUBLIC;
CREATE FUNCTION dp_internal.dataset_counts() RETURNS TABLE (dataset_id bigint, charges bigint, replays bigint, refusals bigint, reading_errors bigint, strategies bigint, release_bytes bigint)
    AS 'MODULE_PATHNAME', 'pe_sql_dataset_counts' LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 10;
COMMENT ON FUNCTION dp_internal.dataset_counts() IS 'what was counted of the datasets of this database (used by the view)';
REVOKE ALL ON FUNCTION dp_internal.dataset_counts() FROM PUBLIC;
CREATE FUNCTION dp_internal.is_monitor() RETURNS boolean
    AS 'MODULE_PATHNAME', 'pe_sql_is_monitor' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION dp_internal.is_monitor() IS 'whether the asking role has the privileges of pg_read_all_stats (used by the views)';
REVOKE ALL ON FUNCTION dp_internal.is_monitor() FROM PUBLIC;

CREATE VIEW dp_ledger.all_activity AS
    SELECT a.pid, r.rolname AS role, d.dataset, a.phase, CASE WHEN a.is_own OR o.is_owner THEN a.progress END AS progress, a.memory, a.started
      FROM dp_internal.activity() a
      LEFT JOIN pg_catalog.pg_roles r ON r.oid = a.role_oid
      LEFT JOIN dp_ledger.dataset d ON d.id = a.dataset_id,
      LATERAL (SELECT coalesce(dp_internal.is_owner(d.identity, d.relation_oid, d.owner), false) AS is_owner) o
     WHERE a.is_own OR o.is_owner OR dp_internal.is_monitor()
    OFFSET 0;
COMMENT ON VIEW dp_ledger.all_activity IS 'what dp_internal.visible_activity reads';
CREATE FUNCTION dp_internal.visible_activity() RETURNS SETOF dp_ledger.all_activity
    AS 'MODULE_PATHNAME', 'pe_sql_visible_activity' LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 10;
COMMENT ON FUNCTION dp_internal.visible_activity() IS 'the rows of dp.activity (used by the view)';
CREATE VIEW dp.activity WITH (security_barrier) AS SELECT * FROM dp_internal.visible_activity();
COMMENT ON VIEW dp.activity IS 'requests that run now in this database: your roles'', those on your datasets and, for members of pg_read_all_stats, all, without their progress; no question is shown; needs the library in shared_preload_libraries';

CREATE VIEW dp_ledger.all_counts AS
    SELECT d.dataset, n.charges, n.replays, n.refusals, CASE WHEN o.is_owner THEN n.reading_errors END AS reading_errors,
           n.strategies, CASE WHEN o.is_owner THEN n.release_bytes END AS release_bytes
      FROM dp_internal.dataset_counts() n JOIN dp_ledger.dataset d ON d.id = n.dataset_id,
      LATERAL (SELECT dp_internal.is_owner(d.identity, d.relation_oid, d.owner) AS is_owner) o
     WHERE NOT d.dropped AND (o.is_owner OR dp_internal.is_monitor())
    OFFSET 0;
COMMENT ON VIEW dp_ledger.all_counts IS 'what dp_internal.visible_counts reads';
CREATE FUNCTION dp_internal.visible_counts() RETURNS SETOF dp_ledger.all_counts
    AS 'MODULE_PATHNAME', 'pe_sql_visible_counts' LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 10;
COMMENT ON FUNCTION dp_internal.visible_counts() IS 'the rows of dp.stat_datasets (used by the view)';
CREATE VIEW dp.stat_datasets WITH (security_barrier) AS SELECT * FROM dp_internal.visible_counts();
COMMENT ON VIEW dp.stat_datasets IS 'what became of requests since the server''s start: of your datasets and, for members of pg_read_all_stats, of all; a dataset is listed from its first request on; needs the library in shared_preload_libraries';

COMMENT ON COLUMN dp.activity.pid IS 'process of the session, as in pg_stat_activity';
COMMENT ON COLUMN dp.activity.role IS 'who asks';
COMMENT ON COLUMN dp.activity.dataset IS 'the dataset; NULL: not known yet';
COMMENT ON COLUMN dp.activity.phase IS 'preparing, charging (the ledger is asked), reading (from the charge until the time quantum has passed), storing or answering';
COMMENT ON COLUMN dp.activity.progress IS 'what the session was last sent in a NOTICE, at most once a second; NULL: nothing, or the request is of another role and the dataset of another owner';
COMMENT ON COLUMN dp.activity.memory IS 'bytes, as computed before they are taken and before anything is charged; NULL: not computed yet';
COMMENT ON COLUMN dp.activity.started IS 'when the statement began';
COMMENT ON COLUMN dp.stat_datasets.dataset IS 'the dataset';
COMMENT ON COLUMN dp.stat_datasets.charges IS 'charges, those of replays by another budget too';
COMMENT ON COLUMN dp.stat_datasets.replays IS 'requests that were answered by what was paid before';
COMMENT ON COLUMN dp.stat_datasets.refusals IS 'requests that the ledger refused: too little was left, or the dataset is frozen';
COMMENT ON COLUMN dp.stat_datasets.reading_errors IS 'charges whose rows could not be read; for the owner alone, since it depends on rows';
COMMENT ON COLUMN dp.stat_datasets.strategies IS 'strategies that requests had to optimise';
COMMENT ON COLUMN dp.stat_datasets.release_bytes IS 'bytes of releases that were stored; for the owner alone';

-- 1.0 has none for these columns.
COMMENT ON COLUMN dp.datasets.min_count IS 'groups of fewer units are NULL for everybody but the owner; NULL: all groups are shown';
COMMENT ON COLUMN dp.models.positive IS 'the class whose probability or margin is predicted; NULL for linear_regression';

GRANT SELECT ON dp.activity, dp.stat_datasets TO PUBLIC;

-- A role that was renamed is shown by its name of today, also before its next charge writes that into the ledger.
CREATE OR REPLACE VIEW dp_ledger.all_budgets AS
    SELECT d.dataset, CASE WHEN dp_internal.is_frozen(d.identity, d.relation_oid) THEN b.role_name
                ELSE coalesce((SELECT r.rolname::text COLLATE pg_catalog."default" FROM pg_catalog.pg_roles r WHERE r.oid = b.role_oid), b.role_name) END AS role,
           b.accounting, b.epsilon, b.delta,
           b.rho_limit / 1e9::float8 AS rho_limit, b.rho_spent / 1e9::float8 AS rho_spent,
           (b.rho_limit - b.rho_spent) / 1e9::float8 AS rho_left,
           CASE b.accounting
                WHEN 'pure' THEN (b.epsilon_limit - b.epsilon_spent) / 1e9::float8
                ELSE dp.epsilon_of_rho((b.rho_limit - b.rho_spent) * 1e-9::float8, b.delta * (1 - b.delta_share), b.accounting) END AS epsilon_left,
           b.most_per_request, dp_internal.is_frozen(d.identity, d.relation_oid) AS frozen, b.delta_share, b.per_block
      FROM dp_ledger.budget b JOIN dp_ledger.dataset d ON coalesce(d.cap_id, d.id) = b.dataset_id
     WHERE NOT d.dropped
       AND (dp_internal.is_payer(d.identity, d.relation_oid, coalesce(b.role_oid, 0), b.role_name)
            OR dp_internal.is_owner(d.identity, d.relation_oid, d.owner))
    OFFSET 0;

CREATE OR REPLACE VIEW dp_ledger.all_blocks AS
    SELECT d.dataset, a.role, s.starts, s.ends,
           CASE WHEN a.accounting <> 'pure' THEN s.rho_spent / 1e9::float8 END AS rho_spent,
           CASE WHEN a.accounting = 'pure' THEN s.epsilon_spent / 1e9::float8
                ELSE dp.epsilon_of_rho(s.rho_spent * 1e-9::float8, a.delta, a.accounting) END AS epsilon_spent,
           CASE WHEN a.accounting = 'pure' THEN (a.epsilon_limit - s.epsilon_spent) / 1e9::float8
                ELSE dp.epsilon_of_rho((a.rho_limit - s.rho_spent) * 1e-9::float8, a.delta, a.accounting) END AS epsilon_left
      FROM dp_ledger.dataset d,
           LATERAL (SELECT 0::bigint AS id, NULL::text AS role, d.accounting, d.delta * (1 - d.delta_share) AS delta, d.rho_limit, d.epsilon_limit
                     WHERE dp_internal.is_owner(d.identity, d.relation_oid, d.owner)
                    UNION ALL
                    SELECT b.id, CASE WHEN dp_internal.is_frozen(d.identity, d.relation_oid) THEN b.role_name
                           ELSE coalesce((SELECT r.rolname::text COLLATE pg_catalog."default" FROM pg_catalog.pg_roles r WHERE r.oid = b.role_oid), b.role_name) END,
                           b.accounting, b.delta * (1 - b.delta_share), b.rho_limit, b.epsilon_limit
                      FROM dp_ledger.budget b
                     WHERE b.dataset_id = d.id AND b.per_block
                       AND (dp_internal.is_payer(d.identity, d.relation_oid, coalesce(b.role_oid, 0), b.role_name)
                            OR dp_internal.is_owner(d.identity, d.relation_oid, d.owner))) a
           JOIN dp_ledger.block_steps s ON s.budget_id = a.id
     WHERE s.dataset_id = d.id AND NOT d.dropped AND d.max_blocks IS NOT NULL
     ORDER BY d.dataset, a.role NULLS FIRST, s.block
    OFFSET 0;
