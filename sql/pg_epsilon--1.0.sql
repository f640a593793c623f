/* pg_epsilon 1.0: private analytics inside PostgreSQL */

\echo Use "CREATE EXTENSION pg_epsilon" to load this file. \quit

-- No operator of a user's, with types that fit better, is meant by what is read here.
SET LOCAL search_path = pg_catalog, pg_temp;

CREATE SCHEMA dp;
COMMENT ON SCHEMA dp IS 'differentially private answers: what people call, and views of the ledger (pg_epsilon)';
GRANT USAGE ON SCHEMA dp TO PUBLIC;

-- The scan of a dataset runs as the table's owner, who must find the aggregates.
CREATE SCHEMA dp_internal;
COMMENT ON SCHEMA dp_internal IS 'functions that pg_epsilon itself calls';
GRANT USAGE ON SCHEMA dp_internal TO PUBLIC;

CREATE SCHEMA dp_ledger;
COMMENT ON SCHEMA dp_ledger IS 'the ledger of pg_epsilon: datasets, budgets, charges, releases; only superusers read it, all others read the views of dp';

----------------------------------------------------------------------
-- The ledger's tables.  Nobody but superusers reads or writes them; the
-- functions below and the ledger's worker do.  Names stand beside OIDs: an OID
-- means nothing in another cluster, and no reg* column can break a restore.
-- rho is counted in 1e-9 (nano), epsilon of pure mechanisms likewise, delta in
-- 1e-18 (atto).
----------------------------------------------------------------------

CREATE SEQUENCE dp_ledger.dataset_id_seq;
CREATE TABLE dp_ledger.dataset (
    id bigint PRIMARY KEY DEFAULT pg_catalog.nextval('dp_ledger.dataset_id_seq'),
    dataset text NOT NULL,
    dropped boolean NOT NULL DEFAULT false,
    relation_oid oid NOT NULL,
    relation_schema text NOT NULL,
    relation_name text NOT NULL,
    owner text NOT NULL,
    unit text,
    unit_type text,
    unit_attnum integer,
    max_rows integer NOT NULL CHECK (max_rows >= 1),
    neighbours text NOT NULL CHECK (neighbours IN ('add_remove', 'substitute', 'values')),
    accounting text NOT NULL CHECK (accounting IN ('gdp', 'zcdp', 'pure')),
    private_column text,
    private_type text,
    private_attnum integer,
    max_change double precision CHECK (max_change > 0 AND max_change < 'Infinity'),
    change text CHECK (change IN ('one', 'all')),
    epsilon double precision NOT NULL,
    delta double precision NOT NULL,
    delta_share double precision NOT NULL CHECK (delta_share >= 0 AND delta_share < 1),
    rho_limit bigint CHECK (rho_limit >= 0),
    rho_spent bigint CHECK (rho_spent >= 0),
    delta_limit bigint CHECK (delta_limit >= 0),
    delta_spent bigint CHECK (delta_spent >= 0),
    epsilon_limit bigint CHECK (epsilon_limit >= 0),
    epsilon_spent bigint CHECK (epsilon_spent >= 0),
    version integer NOT NULL DEFAULT 1,
    declared_version integer NOT NULL DEFAULT 1,
    declarations integer NOT NULL DEFAULT 1,
    unit_key bytea NOT NULL,
    public_id text NOT NULL DEFAULT pg_catalog.gen_random_uuid()::text,
    identity text NOT NULL,
    charges bigint NOT NULL DEFAULT 0,
    acts bigint NOT NULL DEFAULT 0,
    chain_head bytea NOT NULL,
    scanned bytea,
    time_attribute text,
    time_type text,
    time_attnum integer,
    append_only boolean NOT NULL DEFAULT false,
    held boolean NOT NULL DEFAULT false,
    max_blocks integer CHECK (max_blocks >= 1),
    block_months integer CHECK (block_months >= 0),
    block_days integer CHECK (block_days >= 0),
    block_zone text,
    min_count integer CHECK (min_count >= 1),
    example_schema text,
    example_name text,
    cap_id bigint,
    view_identity text,
    view_keys text[],
    view_functions text[],
    never_fails boolean,
    max_rows_read integer CHECK (max_rows_read >= 1),
    view_settings text[],
    created timestamptz NOT NULL DEFAULT pg_catalog.now(),
    format integer NOT NULL DEFAULT 1,
    CONSTRAINT dataset_view CHECK (CASE WHEN view_identity IS NULL THEN pg_catalog.num_nonnulls(view_keys, view_functions, never_fails, max_rows_read, view_settings) = 0
        ELSE pg_catalog.num_nulls(view_keys, view_functions, never_fails, view_settings, unit) = 0 AND neighbours <> 'values' AND max_blocks IS NULL END),
    CONSTRAINT dataset_example CHECK (pg_catalog.num_nulls(example_schema, example_name) IN (0, 2)),
    CONSTRAINT dataset_cap CHECK (cap_id IS NULL OR cap_id <> id AND max_blocks IS NULL AND neighbours <> 'values'),
    CONSTRAINT dataset_blocks CHECK (pg_catalog.num_nulls(max_blocks, block_months, block_days, block_zone) IN (0, 4)
        AND (max_blocks IS NULL OR (block_months = 0) <> (block_days = 0) AND time_attribute IS NOT NULL AND neighbours <> 'values')),
    CONSTRAINT dataset_time CHECK (pg_catalog.num_nulls(time_attribute, time_type) IN (0, 2) AND (time_attribute IS NOT NULL OR NOT append_only) AND (append_only OR NOT held)),
    CONSTRAINT dataset_rho CHECK (rho_spent <= rho_limit),
    CONSTRAINT dataset_delta CHECK (delta_spent <= delta_limit),
    CONSTRAINT dataset_epsilon CHECK (epsilon_spent <= epsilon_limit),
    CONSTRAINT dataset_counted CHECK (CASE accounting
        WHEN 'pure' THEN pg_catalog.num_nulls(epsilon_limit, epsilon_spent) = 0 AND delta_share = 0
        ELSE pg_catalog.num_nulls(rho_limit, rho_spent, delta_limit, delta_spent) = 0 END),
    CONSTRAINT dataset_values CHECK (CASE neighbours
        WHEN 'values' THEN pg_catalog.num_nulls(private_column, private_type, max_change, change) = 0 AND unit IS NULL AND max_rows = 1
        ELSE pg_catalog.num_nonnulls(private_column, private_type, max_change, change) = 0 END)
);
CREATE UNIQUE INDEX dataset_name ON dp_ledger.dataset (dataset) WHERE NOT dropped;
CREATE INDEX dataset_relation ON dp_ledger.dataset (relation_oid);
CREATE INDEX dataset_cap ON dp_ledger.dataset (cap_id) WHERE cap_id IS NOT NULL;
COMMENT ON TABLE dp_ledger.dataset IS 'registered tables: privacy unit, neighbours, cap, what is spent of it, identity and head of the hash chain of charges and acts';
COMMENT ON COLUMN dp_ledger.dataset.format IS 'in which format it is, with its budgets, attributes and blocks; a library that does not know the number refuses the row';
COMMENT ON COLUMN dp_ledger.dataset.dropped IS 'unregistered: cap, spent and charges are kept and resumed by a new registration of the relation';
COMMENT ON COLUMN dp_ledger.dataset.version IS 'version of the data; a release is replayed within its version only';
COMMENT ON COLUMN dp_ledger.dataset.declared_version IS 'first version with the attributes as they are now; the cells of earlier releases had other meanings';
COMMENT ON COLUMN dp_ledger.dataset.declarations IS 'goes up whenever an attribute is altered, dropped or closed: a request that looked at another number is not charged';
COMMENT ON COLUMN dp_ledger.dataset.unit IS 'column that says whose a row is; NULL: each row is a unit of its own';
COMMENT ON COLUMN dp_ledger.dataset.unit_type IS 'base type of that column, which it must keep';
COMMENT ON COLUMN dp_ledger.dataset.unit_attnum IS 'number of that column in the relation of relation_oid: two renames can exchange names; a restored ledger takes the number of the name, by dp.attest';
COMMENT ON COLUMN dp_ledger.dataset.private_column IS 'column whose values are protected where neighbours are values; rows and other columns are public then';
COMMENT ON COLUMN dp_ledger.dataset.private_type IS 'base type of that column, which it must keep';
COMMENT ON COLUMN dp_ledger.dataset.private_attnum IS 'its number, as unit_attnum';
COMMENT ON COLUMN dp_ledger.dataset.max_change IS 'by at most this a value of that column moves between neighbours';
COMMENT ON COLUMN dp_ledger.dataset.change IS 'whether it moves in one row, or in all';
COMMENT ON COLUMN dp_ledger.dataset.unit_key IS 'secret key of the hash that chooses which rows of a unit count';
COMMENT ON COLUMN dp_ledger.dataset.example_schema IS 'schema of the table of public rows that answers in rehearsals; NULL: there is none. It is known by its name alone, and looked at in each request';
COMMENT ON COLUMN dp_ledger.dataset.example_name IS 'its name';
COMMENT ON COLUMN dp_ledger.dataset.public_id IS 'a random name that no other dataset has: foreign tables keep it, so that another dataset under the same name does not answer them';
COMMENT ON COLUMN dp_ledger.dataset.identity IS 'cluster, timeline, database and relation this row is valid in; elsewhere the dataset is frozen';
COMMENT ON COLUMN dp_ledger.dataset.scanned IS 'SHA-256 of the tables that the last charge read; NULL: the next charge names them';
COMMENT ON COLUMN dp_ledger.dataset.time_attribute IS 'column that says when a row arrived; filled on insert and never changed, by the owner''s declaration';
COMMENT ON COLUMN dp_ledger.dataset.time_type IS 'base type of that column, which it must keep';
COMMENT ON COLUMN dp_ledger.dataset.time_attnum IS 'its number, as unit_attnum';
COMMENT ON COLUMN dp_ledger.dataset.append_only IS 'rows of closed periods are neither deleted nor changed nor late, by the owner''s declaration';
COMMENT ON COLUMN dp_ledger.dataset.held IS 'triggers on the table and on all that inherits from it hold that; where one is missing no series is measured';
COMMENT ON COLUMN dp_ledger.dataset.max_blocks IS 'the cap holds for each block of time, and no unit has rows in more of them, as the owner promises; what is spent is what the block has lost that has lost most; NULL: the cap is of all times together';
COMMENT ON COLUMN dp_ledger.dataset.block_months IS 'length of a block; blocks are numbered from January 2000, or, of block_days, from 3 January 2000, a Monday';
COMMENT ON COLUMN dp_ledger.dataset.block_zone IS 'whose local days they are, where the time has a zone';
COMMENT ON COLUMN dp_ledger.dataset.delta_share IS 'part of delta for the sum of charged deltas; the rest turns rho into epsilon';
COMMENT ON COLUMN dp_ledger.dataset.cap_id IS 'the dataset whose cap, budgets and charges it has; NULL: its own. Limits and what is spent stand in that row';
COMMENT ON COLUMN dp_ledger.dataset.view_identity IS 'of a view: SHA-256 of all that its proof rested on when it was registered; NULL: no view';
COMMENT ON COLUMN dp_ledger.dataset.view_keys IS 'the owner''s word: columns that refer to a key where there is no foreign key';
COMMENT ON COLUMN dp_ledger.dataset.view_functions IS 'the owner''s word: functions that never fail and read no table';
COMMENT ON COLUMN dp_ledger.dataset.never_fails IS 'the owner''s word: no expression of the view fails';
COMMENT ON COLUMN dp_ledger.dataset.max_rows_read IS 'of a view that multiplies rows: of a unit the rows of so many cells are read; NULL: all';
COMMENT ON COLUMN dp_ledger.dataset.view_settings IS 'name and value, one after the other, of settings that expressions of the view may depend on, as they were when it was registered';
COMMENT ON COLUMN dp_ledger.dataset.rho_limit IS 'cap in 1e-9; NULL if accounting is pure';
COMMENT ON COLUMN dp_ledger.dataset.delta_limit IS 'sum of deltas allowed, in 1e-18';
COMMENT ON COLUMN dp_ledger.dataset.epsilon_limit IS 'pure cap in 1e-9; NULL unless accounting is pure';

CREATE TABLE dp_ledger.dataset_table (
    dataset_id bigint NOT NULL,
    relation_oid oid NOT NULL,
    relation_schema text NOT NULL,
    relation_name text NOT NULL,
    is_public boolean NOT NULL,
    is_named boolean NOT NULL,
    carries integer NOT NULL,
    is_past boolean NOT NULL,
    rule text NOT NULL,
    said text NOT NULL
);
CREATE INDEX dataset_table_dataset ON dp_ledger.dataset_table (dataset_id);
CREATE INDEX dataset_table_relation ON dp_ledger.dataset_table (relation_oid);
COMMENT ON TABLE dp_ledger.dataset_table IS 'the tables that the view of a dataset reads, and whose a row of each is';
COMMENT ON COLUMN dp_ledger.dataset_table.relation_oid IS '0: no table had the name when the dataset was attested';
COMMENT ON COLUMN dp_ledger.dataset_table.is_public IS 'its rows are nobody''s';
COMMENT ON COLUMN dp_ledger.dataset_table.is_named IS 'by the owner''s word, public_tables';
COMMENT ON COLUMN dp_ledger.dataset_table.carries IS 'the view has at most so many rows for each row of it, and of others that carry it';
COMMENT ON COLUMN dp_ledger.dataset_table.is_past IS 'the view read it in an earlier version: what was spent is by this rule';
COMMENT ON COLUMN dp_ledger.dataset_table.rule IS 'the column that says whose a row is, or the key of another table that does';

CREATE TABLE dp_ledger.attribute (
    dataset_id bigint NOT NULL,
    attribute text NOT NULL,
    attnum integer NOT NULL,
    position integer NOT NULL,
    type text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('levels', 'bins', 'open')),
    points text[] NOT NULL,
    ordered boolean NOT NULL,
    cells integer NOT NULL CHECK (cells >= 0),
    outside text NOT NULL CHECK (outside IN ('drop', 'clamp', 'other')),
    nulls text NOT NULL CHECK (nulls IN ('drop', 'cell')),
    last text CHECK (last IN ('open', 'closed')),
    open boolean NOT NULL DEFAULT false,
    opened integer CHECK (opened >= 1),
    since integer NOT NULL CHECK (since >= 1),
    until integer CHECK (until > since),
    CONSTRAINT attribute_last CHECK ((last IS NULL) = (kind <> 'bins')),
    CONSTRAINT attribute_open CHECK (CASE kind WHEN 'open' THEN open AND cells = 0 ELSE cells >= 1 END),
    PRIMARY KEY (dataset_id, attribute, since)
);
CREATE UNIQUE INDEX attribute_in_force ON dp_ledger.attribute (dataset_id, attribute) WHERE until IS NULL;
COMMENT ON TABLE dp_ledger.attribute IS 'declared attributes: levels or edges of bins, as text in the column''s type; and open columns';
COMMENT ON COLUMN dp_ledger.attribute.since IS 'number of declarations of the dataset at which it was declared so';
COMMENT ON COLUMN dp_ledger.attribute.until IS 'number at which it was altered or dropped: answers that were paid before are read by it; NULL: it is in force';
COMMENT ON COLUMN dp_ledger.attribute.opened IS 'number at which the column was opened first: what dp.keys and dp.bounds found holds since then';
COMMENT ON COLUMN dp_ledger.attribute.open IS 'whether dp.keys may look for values that nobody has listed; kind open: there are no levels or bins';

CREATE SEQUENCE dp_ledger.budget_id_seq;
CREATE TABLE dp_ledger.budget (
    id bigint PRIMARY KEY DEFAULT pg_catalog.nextval('dp_ledger.budget_id_seq'),
    dataset_id bigint NOT NULL,
    role_name text NOT NULL,
    role_oid oid,
    accounting text NOT NULL CHECK (accounting IN ('gdp', 'zcdp', 'pure')),
    epsilon double precision NOT NULL,
    delta double precision NOT NULL,
    delta_share double precision NOT NULL CHECK (delta_share >= 0 AND delta_share < 1),
    rho_limit bigint CHECK (rho_limit >= 0),
    rho_spent bigint CHECK (rho_spent >= 0),
    delta_limit bigint CHECK (delta_limit >= 0),
    delta_spent bigint CHECK (delta_spent >= 0),
    epsilon_limit bigint CHECK (epsilon_limit >= 0),
    epsilon_spent bigint CHECK (epsilon_spent >= 0),
    most_per_request double precision,
    most bigint CHECK (most > 0),
    per_block boolean NOT NULL DEFAULT false,
    UNIQUE (dataset_id, role_oid),
    CONSTRAINT budget_most CHECK ((most IS NULL) = (most_per_request IS NULL)),
    CONSTRAINT budget_rho CHECK (rho_spent <= rho_limit),
    CONSTRAINT budget_delta CHECK (delta_spent <= delta_limit),
    CONSTRAINT budget_epsilon CHECK (epsilon_spent <= epsilon_limit),
    CONSTRAINT budget_counted CHECK (CASE accounting
        WHEN 'pure' THEN pg_catalog.num_nulls(epsilon_limit, epsilon_spent) = 0 AND delta_share = 0
        ELSE pg_catalog.num_nulls(rho_limit, rho_spent, delta_limit, delta_spent) = 0 END)
);
COMMENT ON TABLE dp_ledger.budget IS 'what a role may lose on a dataset, and has lost; one row per role and dataset';
COMMENT ON COLUMN dp_ledger.budget.delta_share IS 'part of delta for the sum of charged deltas; the rest turns rho into epsilon';
COMMENT ON COLUMN dp_ledger.budget.per_block IS 'the limit holds for each block of time; what is spent is what the block has lost that has lost most';
COMMENT ON COLUMN dp_ledger.budget.role_oid IS 'NULL: there was no such role when the dataset was attested; no role can use the budget';

CREATE SEQUENCE dp_ledger.charge_id_seq;
CREATE TABLE dp_ledger.charge (
    id bigint PRIMARY KEY,
    dataset_id bigint NOT NULL,
    seq bigint NOT NULL,
    dataset text NOT NULL,
    at text NOT NULL,
    role_name text NOT NULL,
    budget_id bigint NOT NULL,
    budget_role text NOT NULL,
    function text NOT NULL,
    rho bigint,
    delta bigint,
    epsilon bigint,
    cap_rho bigint,
    cap_delta bigint,
    cap_epsilon bigint,
    relations text,
    request text NOT NULL,
    release_id bigint,
    strategy_id bigint,
    other_strategies bigint[],
    series_id bigint,
    block_from bigint,
    block_to bigint,
    other_times boolean,
    format integer NOT NULL DEFAULT 1,
    hash bytea NOT NULL,
    UNIQUE (dataset_id, seq)
);
CREATE INDEX charge_series ON dp_ledger.charge (series_id, seq) WHERE series_id IS NOT NULL;
CREATE INDEX charge_strategy ON dp_ledger.charge (strategy_id) WHERE strategy_id IS NOT NULL;
CREATE INDEX charge_strategies ON dp_ledger.charge (id) WHERE other_strategies IS NOT NULL;
CREATE INDEX charge_budget ON dp_ledger.charge (budget_id, release_id);
COMMENT ON TABLE dp_ledger.charge IS 'the ledger: every charge, never changed, hash-chained per dataset';
COMMENT ON COLUMN dp_ledger.charge.budget_id IS '0 where dp.attest charges the cap alone';
COMMENT ON COLUMN dp_ledger.charge.epsilon IS 'of a pure mechanism, in 1e-9; rho and delta are then NULL';
COMMENT ON COLUMN dp_ledger.charge.cap_rho IS 'what the charge cost the cap of the dataset: 0 where a stored release was paid again by another budget';
COMMENT ON COLUMN dp_ledger.charge.relations IS 'JSON: the tables that were read; NULL: those of the charge before, or none';
COMMENT ON COLUMN dp_ledger.charge.release_id IS 'set where an existing release was paid; a new release names its charge itself';
COMMENT ON COLUMN dp_ledger.charge.strategy_id IS 'what is measured; NULL: the workload itself';
COMMENT ON COLUMN dp_ledger.charge.other_strategies IS 'what else is measured, where aggregates need several: medians of several columns';
COMMENT ON COLUMN dp_ledger.charge.series_id IS 'of a line that paid for a series, or of an attempt to measure a period of it, or of a measurement that was stored: these cost 0, but for attempts after the third';
COMMENT ON COLUMN dp_ledger.charge.block_from IS 'the first block of time that was charged, whose rows were read; NULL: none, or the dataset has no blocks';
COMMENT ON COLUMN dp_ledger.charge.block_to IS 'the last one';
COMMENT ON COLUMN dp_ledger.charge.other_times IS 'whether rows without a usable time were among them; NULL: the dataset has no blocks';
COMMENT ON COLUMN dp_ledger.charge.format IS 'as of a dataset';
COMMENT ON COLUMN dp_ledger.charge.hash IS 'SHA-256 of the previous hash, of a charge or an act, and the canonical text of this charge';

CREATE TABLE dp_ledger.block (
    dataset_id bigint NOT NULL,
    budget_id bigint NOT NULL,
    block bigint NOT NULL,
    rho_spent bigint NOT NULL CHECK (rho_spent >= 0),
    delta_spent bigint NOT NULL CHECK (delta_spent >= 0),
    epsilon_spent bigint NOT NULL CHECK (epsilon_spent >= 0),
    PRIMARY KEY (dataset_id, budget_id, block)
);
COMMENT ON TABLE dp_ledger.block IS 'what blocks of time have lost: a row holds from its block up to that of the next row';
COMMENT ON COLUMN dp_ledger.block.budget_id IS '0: of the cap; else of a budget that is granted for each block';
COMMENT ON COLUMN dp_ledger.block.block IS 'the smallest bigint: rows without a usable time, and no block after it; the next one: from the beginning of time';

CREATE VIEW dp_ledger.block_charged AS
    WITH line AS NOT MATERIALIZED (
        SELECT c.dataset_id, 0::bigint AS budget_id, c.block_from, c.block_to, c.other_times, c.cap_rho AS rho, c.cap_delta AS delta, c.cap_epsilon AS epsilon
          FROM dp_ledger.charge c JOIN dp_ledger.dataset d ON d.id = c.dataset_id AND d.max_blocks IS NOT NULL
         WHERE (coalesce(c.cap_rho, 0), coalesce(c.cap_delta, 0), coalesce(c.cap_epsilon, 0)) <> (0, 0, 0)
        UNION ALL
        SELECT c.dataset_id, c.budget_id, c.block_from, c.block_to, c.other_times, k.rho, c.delta, c.epsilon
          FROM dp_ledger.charge c JOIN dp_ledger.budget b ON b.id = c.budget_id AND b.dataset_id = c.dataset_id AND b.per_block,
               LATERAL (SELECT CASE WHEN c.function = 'dp.prolong_series, new blocks' THEN c.cap_rho ELSE c.rho END AS rho) k    -- what was paid as a total before
         WHERE (coalesce(k.rho, 0), coalesce(c.delta, 0), coalesce(c.epsilon, 0)) <> (0, 0, 0)),
    step AS (
        SELECT DISTINCT l.dataset_id, l.budget_id, v.block
          FROM line l, LATERAL (VALUES ('-9223372036854775808'::bigint), ('-9223372036854775807'::bigint), (l.block_from),
                                       (CASE WHEN l.block_to < 9223372036854775807 THEN l.block_to + 1 END)) v(block)
         WHERE v.block IS NOT NULL)
    SELECT s.dataset_id, s.budget_id, s.block, coalesce(pg_catalog.sum(l.rho), 0)::bigint AS rho,
           coalesce(pg_catalog.sum(l.delta), 0)::bigint AS delta, coalesce(pg_catalog.sum(l.epsilon), 0)::bigint AS epsilon
      FROM step s LEFT JOIN line l ON l.dataset_id = s.dataset_id AND l.budget_id = s.budget_id
           AND CASE WHEN s.block = '-9223372036854775808'::bigint THEN l.other_times ELSE s.block BETWEEN l.block_from AND l.block_to END
     GROUP BY s.dataset_id, s.budget_id, s.block;
COMMENT ON VIEW dp_ledger.block_charged IS 'dp_ledger.block as it follows from the charges';

CREATE VIEW dp_ledger.block_missing AS
    WITH charged AS MATERIALIZED (SELECT * FROM dp_ledger.block_charged),
    step AS (SELECT dataset_id, budget_id, block FROM dp_ledger.block UNION SELECT dataset_id, budget_id, block FROM charged)
    SELECT s.dataset_id, s.budget_id, pg_catalog.max(k.rho_spent - coalesce(c.rho, 0)) AS rho,
           pg_catalog.max(k.delta_spent - coalesce(c.delta, 0)) AS delta, pg_catalog.max(k.epsilon_spent - coalesce(c.epsilon, 0)) AS epsilon
      FROM step s,
           LATERAL (SELECT b.* FROM dp_ledger.block b WHERE (b.dataset_id, b.budget_id) = (s.dataset_id, s.budget_id) AND b.block <= s.block
                       AND (b.block > '-9223372036854775808'::bigint OR b.block = s.block) ORDER BY b.block DESC LIMIT 1) k
           LEFT JOIN LATERAL (SELECT b.* FROM charged b WHERE (b.dataset_id, b.budget_id) = (s.dataset_id, s.budget_id) AND b.block <= s.block
                       AND (b.block > '-9223372036854775808'::bigint OR b.block = s.block) ORDER BY b.block DESC LIMIT 1) c ON true
     GROUP BY s.dataset_id, s.budget_id;
COMMENT ON VIEW dp_ledger.block_missing IS 'the most that a block has lost of an account and no charge says';

CREATE TABLE dp_ledger.act (
    dataset_id bigint NOT NULL,
    seq bigint NOT NULL,
    charges bigint NOT NULL,
    dataset text NOT NULL,
    at text NOT NULL,
    role_name text NOT NULL,
    act text NOT NULL,
    subject text,
    old_value text,
    new_value text,
    reason text,
    format integer NOT NULL DEFAULT 1,
    hash bytea NOT NULL
);
CREATE INDEX act_place ON dp_ledger.act (dataset_id, charges, seq);
COMMENT ON TABLE dp_ledger.act IS 'what owners did to a dataset, never changed, in one hash chain with its charges';
COMMENT ON COLUMN dp_ledger.act.charges IS 'how many charges of the dataset came before it';
COMMENT ON COLUMN dp_ledger.act.subject IS 'the attribute, role or release that it is about; NULL: the dataset itself';
COMMENT ON COLUMN dp_ledger.act.format IS 'as of a dataset';
COMMENT ON COLUMN dp_ledger.act.hash IS 'SHA-256 of the previous hash, of a charge or an act, and the canonical text of this act';

CREATE TABLE dp_ledger.charge_relation (
    dataset_id bigint NOT NULL,
    relation_oid oid NOT NULL,
    relation_schema text NOT NULL,
    relation_name text NOT NULL,
    first_seq bigint NOT NULL,
    last_seq bigint
);
CREATE INDEX charge_relation_table ON dp_ledger.charge_relation (relation_oid);
CREATE INDEX charge_relation_dataset ON dp_ledger.charge_relation (dataset_id);
COMMENT ON TABLE dp_ledger.charge_relation IS 'which tables the charges of a dataset read: a table that leaves it stays spent on';
COMMENT ON COLUMN dp_ledger.charge_relation.relation_oid IS '0: no table had the name when the dataset was attested';
COMMENT ON COLUMN dp_ledger.charge_relation.first_seq IS 'seq of the first of these charges';
COMMENT ON COLUMN dp_ledger.charge_relation.last_seq IS 'seq of the last one; NULL: charges go on reading it';

CREATE SEQUENCE dp_ledger.release_id_seq;
CREATE TABLE dp_ledger.release (
    id bigint PRIMARY KEY,
    charge_id bigint NOT NULL UNIQUE,
    dataset_id bigint NOT NULL,
    version integer NOT NULL,
    declared integer NOT NULL,
    request text NOT NULL,
    request_hash bytea NOT NULL,
    attributes text[] NOT NULL,
    workload text,
    predicate text,
    method text NOT NULL,
    queries integer NOT NULL,
    accounting text NOT NULL CHECK (accounting IN ('gdp', 'zcdp', 'pure')),
    sensitivity_sq numeric,
    rho bigint,
    sensitivity_l1 numeric,
    epsilon bigint,
    strategy_id bigint,
    other_strategies bigint[],
    payload bytea,
    format integer NOT NULL DEFAULT 1,
    created timestamptz NOT NULL DEFAULT pg_catalog.now(),
    CONSTRAINT release_noise CHECK (CASE WHEN workload IS NULL
        THEN pg_catalog.num_nonnulls(sensitivity_sq, rho, sensitivity_l1, epsilon) = 0
        WHEN accounting = 'pure' THEN pg_catalog.num_nonnulls(sensitivity_sq, rho) = 0 AND pg_catalog.num_nulls(sensitivity_l1, epsilon) = 0
        ELSE pg_catalog.num_nulls(sensitivity_sq, rho) = 0 AND pg_catalog.num_nonnulls(sensitivity_l1, epsilon) = 0 END)
);
ALTER TABLE dp_ledger.release ALTER payload SET STORAGE EXTERNAL;
CREATE INDEX release_request ON dp_ledger.release (dataset_id, version, request_hash, id);
COMMENT ON TABLE dp_ledger.release IS 'paid answers: the noisy measurements, from which everything else follows without further cost';
COMMENT ON COLUMN dp_ledger.release.format IS 'as of a dataset: how request and payload are written';
COMMENT ON COLUMN dp_ledger.release.declared IS 'it is read by the attributes as they were declared at this number';
COMMENT ON COLUMN dp_ledger.release.workload IS 'NULL: a model, whose coefficients the payload holds, a minimum, whose point and public value it holds, aggregates, whose sums it holds behind their shares of the cost, units by their number of rows, keys with their noisy counts, or noisy counts for bounds';
COMMENT ON COLUMN dp_ledger.release.accounting IS 'what the noise was calibrated for; the measurements of gdp are on a finer lattice, whose step follows from the noise';
COMMENT ON COLUMN dp_ledger.release.rho IS 'discrete Gaussian noise of this cost in 1e-9 for squared sensitivity sensitivity_sq, else';
COMMENT ON COLUMN dp_ledger.release.epsilon IS 'discrete Laplace noise of this cost in 1e-9 for sensitivity sensitivity_l1; 0: a partition and counts of its buckets, for sensitivities of their own';

CREATE SEQUENCE dp_ledger.strategy_id_seq;
CREATE TABLE dp_ledger.strategy (
    id bigint PRIMARY KEY,
    key_hash bytea NOT NULL,
    key text NOT NULL,
    gap double precision NOT NULL,
    workload text NOT NULL,
    method text NOT NULL,
    attributes text[],
    cells integer[] NOT NULL,
    ordered integer[] NOT NULL,
    columns integer NOT NULL,
    rank integer NOT NULL,
    objective double precision NOT NULL,
    lower_bound double precision NOT NULL,
    iterations integer NOT NULL,
    milliseconds double precision NOT NULL,
    matrix bytea NOT NULL,
    created timestamptz NOT NULL DEFAULT pg_catalog.now()
);
ALTER TABLE dp_ledger.strategy ALTER matrix SET STORAGE EXTERNAL;
CREATE INDEX strategy_key ON dp_ledger.strategy (key_hash, gap);
COMMENT ON TABLE dp_ledger.strategy IS 'strategies that were optimised: integer matrices that depend on no data; those that no charge refers to make room for newer ones';
COMMENT ON COLUMN dp_ledger.strategy.gap IS 'asked for; what was reached is objective / lower_bound - 1';
COMMENT ON COLUMN dp_ledger.strategy.matrix IS 'columns of classes of cells, and the integers; checked at every load, the sensitivity computed from them anew';

CREATE SEQUENCE dp_ledger.model_id_seq;
CREATE TABLE dp_ledger.model (
    id bigint PRIMARY KEY,
    model text NOT NULL UNIQUE,
    dataset_id bigint NOT NULL,
    release_id bigint,
    role_name text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('logistic_regression', 'svm', 'linear_regression')),
    method text NOT NULL,
    label text NOT NULL,
    features text[] NOT NULL,
    declaration jsonb NOT NULL,
    terms text[] NOT NULL,
    coefficients double precision[] NOT NULL,
    format integer NOT NULL DEFAULT 1,
    created timestamptz NOT NULL DEFAULT pg_catalog.now(),
    CHECK (pg_catalog.array_length(terms, 1) = pg_catalog.array_length(coefficients, 1))
);
CREATE INDEX model_release ON dp_ledger.model (release_id);
COMMENT ON TABLE dp_ledger.model IS 'fitted models by name';
COMMENT ON COLUMN dp_ledger.model.format IS 'as of a dataset';
COMMENT ON COLUMN dp_ledger.model.release_id IS 'the paid release; NULL: fitted without privacy, for the owner of the dataset alone';
COMMENT ON COLUMN dp_ledger.model.declaration IS 'how values become terms: type, bounds or levels of each feature, and the label with its positive class';
COMMENT ON COLUMN dp_ledger.model.coefficients IS 'of the terms, on the scale of the values; the first term is the intercept';

CREATE SEQUENCE dp_ledger.series_id_seq;
CREATE TABLE dp_ledger.series (
    id bigint PRIMARY KEY,
    series text NOT NULL UNIQUE,
    dataset_id bigint NOT NULL,
    version integer NOT NULL,
    declared integer NOT NULL,
    charge_id bigint NOT NULL UNIQUE,
    budget_id bigint NOT NULL,
    role_name text NOT NULL,
    attributes text[] NOT NULL,
    workload text NOT NULL,
    predicate text,
    strategy_id bigint,
    aggregates text[],
    never_null text[],
    cells_per_unit integer,
    shares bigint[],
    over_periods text NOT NULL,
    time_attribute text NOT NULL,
    time_type text NOT NULL,
    time_attnum integer NOT NULL,
    append_only boolean NOT NULL,
    starts timestamptz NOT NULL,
    time_zone text NOT NULL,
    edges bigint[] NOT NULL,
    period interval NOT NULL,
    grace interval NOT NULL,
    periods integer NOT NULL CHECK (periods >= 1),
    first_periods integer NOT NULL,
    history integer NOT NULL CHECK (history >= 0),
    max_periods integer CHECK (max_periods >= 1),
    rows_per_unit integer CHECK (rows_per_unit >= 1),
    open_ended boolean NOT NULL,
    objective text NOT NULL CHECK (objective IN ('sum', 'max')),
    strategy bytea NOT NULL,
    stderrs double precision[] NOT NULL,
    format integer NOT NULL DEFAULT 1,
    accounting text NOT NULL CHECK (accounting IN ('gdp', 'zcdp')),
    rho bigint NOT NULL CHECK (rho > 0),
    prolonged_rho bigint NOT NULL CHECK (prolonged_rho >= 0),
    created timestamptz NOT NULL DEFAULT pg_catalog.now(),
    ended timestamptz,
    ended_because text,
    CONSTRAINT series_sums CHECK (pg_catalog.num_nulls(aggregates, never_null, cells_per_unit, shares) IN (0, 4) AND pg_catalog.cardinality(aggregates) > 0 AND pg_catalog.cardinality(shares) > 0 AND pg_catalog.array_ndims(shares) = 1),
    CONSTRAINT series_units CHECK ((max_periods IS NULL) = (rows_per_unit IS NULL)),
    CONSTRAINT series_ended CHECK ((ended IS NULL) = (ended_because IS NULL)),
    CONSTRAINT series_first CHECK (first_periods BETWEEN 1 AND periods AND (first_periods = periods) = (prolonged_rho = 0)),
    CONSTRAINT series_edges CHECK (pg_catalog.array_length(edges, 1) = periods + 1),
    CONSTRAINT series_stderrs CHECK (pg_catalog.array_length(stderrs, 1) = periods)
);
ALTER TABLE dp_ledger.series ALTER strategy SET STORAGE EXTERNAL;
CREATE INDEX series_dataset ON dp_ledger.series (dataset_id);
COMMENT ON TABLE dp_ledger.series IS 'series of reports: what is measured in each period, paid once by charge_id';
COMMENT ON COLUMN dp_ledger.series.declared IS 'as of a release';
COMMENT ON COLUMN dp_ledger.series.format IS 'as of a dataset; its periods are in it, too';
COMMENT ON COLUMN dp_ledger.series.strategy_id IS 'what is measured of the cells; NULL: the workload itself';
COMMENT ON COLUMN dp_ledger.series.aggregates IS 'what is told of each group; NULL: counts by the workload';
COMMENT ON COLUMN dp_ledger.series.never_null IS 'numbers that every row had when it was paid for: which sums are measured follows from that';
COMMENT ON COLUMN dp_ledger.series.cells_per_unit IS 'in how many groups of a period a unit is counted at most; 0: none is counted';
COMMENT ON COLUMN dp_ledger.series.shares IS 'of the cost, in 2^-40: one of each sum that is measured';
COMMENT ON COLUMN dp_ledger.series.over_periods IS 'what each report asks for of the periods up to it';
COMMENT ON COLUMN dp_ledger.series.append_only IS 'what was declared of the rows of closed periods';
COMMENT ON COLUMN dp_ledger.series.time_zone IS 'the one in which periods begin and end';
COMMENT ON COLUMN dp_ledger.series.edges IS 'where periods begin and end: days of a date, else microseconds, since 2000; they stay what they are when the rules of the zone change, since rows must not move from one period to another';
COMMENT ON COLUMN dp_ledger.series.history IS 'rows of so many periods are read; 0: of all';
COMMENT ON COLUMN dp_ledger.series.max_periods IS 'in how many periods a unit counts: the first in which it has rows; NULL: each row is a unit';
COMMENT ON COLUMN dp_ledger.series.rows_per_unit IS 'how many rows of a unit count in one period; NULL: each row is a unit';
COMMENT ON COLUMN dp_ledger.series.strategy IS 'what is measured over time: integers, checked at every load; the sensitivity is computed from them anew';
COMMENT ON COLUMN dp_ledger.series.stderrs IS 'the largest standard error of each report';
COMMENT ON COLUMN dp_ledger.series.first_periods IS 'periods that it was created with: the noise of all is that of the charge for them';
COMMENT ON COLUMN dp_ledger.series.rho IS 'what the first periods cost together, in 1e-9';
COMMENT ON COLUMN dp_ledger.series.prolonged_rho IS 'what those cost that dp.prolong_series added';

CREATE TABLE dp_ledger.series_period (
    series_id bigint NOT NULL,
    period integer NOT NULL CHECK (period >= 1),
    attempts integer NOT NULL CHECK (attempts >= 1),
    charge_id bigint UNIQUE,
    payload bytea,
    could_be_read boolean,
    stored timestamptz,
    PRIMARY KEY (series_id, period),
    CONSTRAINT series_period_stored CHECK (pg_catalog.num_nulls(charge_id, payload, stored) IN (0, 3)),
    CONSTRAINT series_period_read CHECK (payload IS NULL OR could_be_read IS NOT NULL)
);
ALTER TABLE dp_ledger.series_period ALTER payload SET STORAGE EXTERNAL;
COMMENT ON TABLE dp_ledger.series_period IS 'measurements of periods: one at most is stored of each, and nothing is answered but from what is stored';
COMMENT ON COLUMN dp_ledger.series_period.attempts IS 'scans that were begun; the first three are paid for by the series';
COMMENT ON COLUMN dp_ledger.series_period.could_be_read IS 'false: reading the rows failed, and an empty table was measured';
COMMENT ON COLUMN dp_ledger.series_period.charge_id IS 'the line of the ledger that says what was stored';

CREATE TABLE dp_ledger.published (
    relation_oid oid NOT NULL,
    row_type_oid oid NOT NULL,
    relation_schema text NOT NULL,
    relation_name text NOT NULL,
    owner_oid oid NOT NULL,
    owner text NOT NULL,
    identity text NOT NULL,
    series_id bigint
);
CREATE INDEX published_oid ON dp_ledger.published (relation_oid);
CREATE INDEX published_name ON dp_ledger.published (relation_schema, relation_name);
COMMENT ON TABLE dp_ledger.published IS 'tables that dp.publish and dp.publish_series made, which alone they write again, and for whom';
COMMENT ON COLUMN dp_ledger.published.series_id IS 'the series that is published in it; NULL: a release is';
COMMENT ON COLUMN dp_ledger.published.row_type_oid IS 'with the OID of the table it is of that one only, and of no later one with its number';
COMMENT ON COLUMN dp_ledger.published.identity IS 'cluster, timeline, database and relation; elsewhere the names say which table it is';

-- A member of pg_write_all_data may write to every table, which would give budgets back: not where row level security has no policy.
ALTER TABLE dp_ledger.dataset ENABLE ROW LEVEL SECURITY;
ALTER TABLE dp_ledger.dataset_table ENABLE ROW LEVEL SECURITY;
ALTER TABLE dp_ledger.attribute ENABLE ROW LEVEL SECURITY;
ALTER TABLE dp_ledger.budget ENABLE ROW LEVEL SECURITY;
ALTER TABLE dp_ledger.charge ENABLE ROW LEVEL SECURITY;
ALTER TABLE dp_ledger.block ENABLE ROW LEVEL SECURITY;
ALTER TABLE dp_ledger.act ENABLE ROW LEVEL SECURITY;
ALTER TABLE dp_ledger.charge_relation ENABLE ROW LEVEL SECURITY;
ALTER TABLE dp_ledger.release ENABLE ROW LEVEL SECURITY;
ALTER TABLE dp_ledger.strategy ENABLE ROW LEVEL SECURITY;
ALTER TABLE dp_ledger.model ENABLE ROW LEVEL SECURITY;
ALTER TABLE dp_ledger.series ENABLE ROW LEVEL SECURITY;
ALTER TABLE dp_ledger.series_period ENABLE ROW LEVEL SECURITY;
ALTER TABLE dp_ledger.published ENABLE ROW LEVEL SECURITY;

SELECT pg_catalog.pg_extension_config_dump('dp_ledger.dataset', '');
SELECT pg_catalog.pg_extension_config_dump('dp_ledger.dataset_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('dp_ledger.dataset_table', '');
SELECT pg_catalog.pg_extension_config_dump('dp_ledger.attribute', '');
SELECT pg_catalog.pg_extension_config_dump('dp_ledger.budget', '');
SELECT pg_catalog.pg_extension_config_dump('dp_ledger.budget_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('dp_ledger.block', '');
SELECT pg_catalog.pg_extension_config_dump('dp_ledger.charge', '');
SELECT pg_catalog.pg_extension_config_dump('dp_ledger.charge_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('dp_ledger.charge_relation', '');
SELECT pg_catalog.pg_extension_config_dump('dp_ledger.act', '');
SELECT pg_catalog.pg_extension_config_dump('dp_ledger.release', '');
SELECT pg_catalog.pg_extension_config_dump('dp_ledger.release_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('dp_ledger.strategy', '');
SELECT pg_catalog.pg_extension_config_dump('dp_ledger.strategy_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('dp_ledger.model', '');
SELECT pg_catalog.pg_extension_config_dump('dp_ledger.model_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('dp_ledger.series', '');
SELECT pg_catalog.pg_extension_config_dump('dp_ledger.series_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('dp_ledger.series_period', '');
SELECT pg_catalog.pg_extension_config_dump('dp_ledger.published', '');

----------------------------------------------------------------------
-- Arithmetic of the ledger: no data, everybody may ask
----------------------------------------------------------------------

CREATE FUNCTION dp.epsilon_of_rho(rho double precision, delta double precision, accounting text DEFAULT 'gdp') RETURNS double precision
    AS 'MODULE_PATHNAME', 'pe_sql_epsilon_of_rho' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp.epsilon_of_rho(double precision, double precision, text) IS
    'smallest epsilon such that rho is (epsilon, delta)-differential privacy; accounting gdp: Gaussian differential privacy with mu = sqrt(2 rho), zcdp: rho-zCDP';

CREATE FUNCTION dp.rho_of_epsilon(epsilon double precision, delta double precision, accounting text DEFAULT 'gdp') RETURNS double precision
    AS 'MODULE_PATHNAME', 'pe_sql_rho_of_epsilon' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp.rho_of_epsilon(double precision, double precision, text) IS
    'largest rho, in whole units of 1e-9, that is (epsilon, delta)-differential privacy; accounting as of dp.epsilon_of_rho';

CREATE FUNCTION dp.pure_epsilon_of_rho(rho double precision, accounting text DEFAULT 'gdp') RETURNS double precision
    AS 'MODULE_PATHNAME', 'pe_sql_pure_epsilon_of_rho' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp.pure_epsilon_of_rho(double precision, text) IS
    'largest epsilon, in whole units of 1e-9, such that every epsilon-differentially private mechanism costs at most rho; accounting as of dp.epsilon_of_rho';

CREATE FUNCTION dp_internal.is_owner(identity text, relation oid, owner text) RETURNS boolean
    AS 'MODULE_PATHNAME', 'pe_sql_is_owner' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION dp_internal.is_owner(text, oid, text) IS
    'whether you have the privileges of the owner of a dataset row (used by the views)';

CREATE FUNCTION dp_internal.is_payer(identity text, relation oid, role_oid oid, role_name text) RETURNS boolean
    AS 'MODULE_PATHNAME', 'pe_sql_is_payer' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION dp_internal.is_payer(text, oid, oid, text) IS
    'whether you have the privileges of the role of a budget row (used by the views)';

CREATE FUNCTION dp_internal.is_frozen(identity text, relation oid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'pe_sql_is_frozen' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION dp_internal.is_frozen(text, oid) IS
    'whether a dataset row comes from another cluster, timeline, database or relation (used by the views)';

----------------------------------------------------------------------
-- What everybody sees
--
-- Where a view shows each role rows of its own, it reads a function: EXPLAIN ANALYZE
-- of a plan over the tables would count the rows of others.
----------------------------------------------------------------------

CREATE VIEW dp.datasets WITH (security_barrier) AS
    SELECT d.dataset, d.unit, d.max_rows, d.neighbours,
           CASE WHEN NOT dp_internal.is_owner(d.identity, d.relation_oid, d.owner) THEN NULL    -- it says what others spent
                WHEN k.accounting = 'pure' THEN (k.epsilon_limit - k.epsilon_spent) / 1e9::float8
                ELSE dp.epsilon_of_rho((k.rho_limit - k.rho_spent) * 1e-9::float8, k.delta * (1 - k.delta_share), k.accounting) END AS epsilon_left,
           dp_internal.is_frozen(d.identity, d.relation_oid) OR dp_internal.is_frozen(k.identity, k.relation_oid) AS frozen,
           d.private_column, d.max_change, d.change, k.accounting, k.delta_share, d.min_count
      FROM dp_ledger.dataset d JOIN dp_ledger.dataset k ON k.id = coalesce(d.cap_id, d.id)
     WHERE NOT d.dropped;
COMMENT ON VIEW dp.datasets IS 'registered datasets: the privacy unit, or the private column and how it may change, and, for the owner, what is left of the cap, as an epsilon; min_count: groups of fewer units are not shown, NULL: all are';

CREATE VIEW dp.attributes WITH (security_barrier) AS
    SELECT d.dataset, a.attribute, a.type, a.kind, a.cells,
           CASE WHEN a.type IN ('smallint', 'integer', 'bigint', 'real', 'double precision', 'numeric', 'boolean')
                THEN (SELECT pg_catalog.jsonb_agg(p::pg_catalog.jsonb) FROM pg_catalog.unnest(a.points) p)
                WHEN a.type = 'timestamp without time zone'
                THEN pg_catalog.to_jsonb(a.points::pg_catalog.timestamp[])
                WHEN a.type = 'timestamp with time zone'    -- in UTC, as they are stored
                THEN (SELECT pg_catalog.jsonb_agg(pg_catalog.regexp_replace(p, '^(\S+) (\S+)( BC)?$', '\1T\2:00\3')) FROM pg_catalog.unnest(a.points) p)
                WHEN a.kind = 'open' THEN NULL
                ELSE pg_catalog.to_jsonb(a.points) END AS levels,
           CASE WHEN a.kind <> 'open' THEN a.outside END AS outside, a.nulls, a.last, a.open
      FROM dp_ledger.dataset d JOIN dp_ledger.attribute a ON a.dataset_id = d.id
     WHERE NOT d.dropped AND a.until IS NULL
     ORDER BY d.dataset, a.position;
COMMENT ON VIEW dp.attributes IS 'declared attributes; levels: the levels, or the edges of the bins';

CREATE VIEW dp_ledger.all_budgets AS
    SELECT d.dataset, b.role_name AS role, b.accounting, b.epsilon, b.delta,
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
COMMENT ON VIEW dp_ledger.all_budgets IS 'what dp_internal.visible_budgets reads';

CREATE VIEW dp_ledger.all_charges AS
    SELECT c.id AS charge, c.at::timestamptz AS at, c.role_name AS role, c.dataset, c.function,
           c.rho / 1e9::float8 AS rho, c.delta / 1e18::float8 AS delta, c.epsilon / 1e9::float8 AS epsilon,
           c.request::jsonb AS request, coalesce(c.release_id, r.id) AS release
      FROM dp_ledger.charge c
      JOIN dp_ledger.dataset d ON d.id = c.dataset_id
      LEFT JOIN dp_ledger.budget b ON b.id = c.budget_id
      LEFT JOIN dp_ledger.release r ON r.charge_id = c.id
     WHERE dp_internal.is_payer(d.identity, d.relation_oid, coalesce(b.role_oid, 0), b.role_name)
        OR dp_internal.is_owner(d.identity, d.relation_oid, d.owner)
    OFFSET 0;
COMMENT ON VIEW dp_ledger.all_charges IS 'what dp_internal.visible_charges reads';

CREATE VIEW dp_ledger.all_acts AS
    SELECT x.at::timestamptz AS at, x.role_name AS role, x.dataset, x.act, x.subject,
           x.old_value::jsonb AS old_value, x.new_value::jsonb AS new_value, x.reason
      FROM dp_ledger.dataset d
      JOIN (SELECT a.dataset_id, a.charges, a.seq, a.at, a.role_name, a.dataset, a.act, a.subject, a.old_value, a.new_value, a.reason
              FROM dp_ledger.act a
            UNION ALL   -- that a freeze was lifted or a dataset moved is a line of the charges
            SELECT c.dataset_id, c.seq - 1, NULL, c.at, c.role_name, c.dataset, 'attest', NULL,
                   pg_catalog.jsonb_build_object('identity', c.request::jsonb -> 'before')::text,
                   pg_catalog.jsonb_build_object('identity', c.request::jsonb -> 'identity')::text, c.request::jsonb ->> 'reason'
              FROM dp_ledger.charge c
             WHERE c.function LIKE 'dp.attest%' AND c.budget_id = 0
            UNION ALL
            SELECT c.dataset_id, c.seq - 1, NULL, c.at, c.role_name, c.dataset, 'move_dataset', NULL,
                   pg_catalog.jsonb_build_object('relation', c.request::jsonb -> 'from')::text,
                   pg_catalog.jsonb_build_object('relation', c.request::jsonb -> 'to')::text, c.request::jsonb ->> 'reason'
              FROM dp_ledger.charge c
             WHERE c.function = 'dp.move_dataset' AND c.budget_id = 0) x ON x.dataset_id = d.id
     WHERE dp_internal.is_owner(d.identity, d.relation_oid, d.owner)
     ORDER BY x.dataset_id, x.charges, x.seq
    OFFSET 0;
COMMENT ON VIEW dp_ledger.all_acts IS 'what dp_internal.visible_acts reads';

CREATE VIEW dp_ledger.all_releases AS
    SELECT r.id AS release, r.charge_id AS charge, d.dataset, r.version, r.attributes, r.workload, r.predicate,
           r.method, r.queries, r.created
      FROM dp_ledger.release r JOIN dp_ledger.dataset d ON d.id = r.dataset_id
     WHERE NOT d.dropped AND r.version >= d.declared_version AND r.payload IS NOT NULL
       AND (dp_internal.is_owner(d.identity, d.relation_oid, d.owner)
            OR EXISTS (SELECT FROM dp_ledger.charge c JOIN dp_ledger.budget b ON b.id = c.budget_id
                        WHERE (c.id = r.charge_id OR c.release_id = r.id)
                          AND c.dataset_id = coalesce(d.cap_id, d.id) AND dp_internal.is_payer(d.identity, d.relation_oid, coalesce(b.role_oid, 0), b.role_name)))
    OFFSET 0;
COMMENT ON VIEW dp_ledger.all_releases IS 'what dp_internal.visible_releases reads';

CREATE VIEW dp_ledger.all_models AS
    SELECT m.model, d.dataset, m.kind, m.method, m.label, m.features, m.role_name AS role, m.release_id AS release, m.created,
           m.declaration ->> 'positive' AS positive
      FROM dp_ledger.model m JOIN dp_ledger.dataset d ON d.id = m.dataset_id
     WHERE NOT d.dropped
       AND (m.release_id IS NULL OR EXISTS (SELECT FROM dp_ledger.release r WHERE r.id = m.release_id AND r.payload IS NOT NULL))
       AND (dp_internal.is_owner(d.identity, d.relation_oid, d.owner)
            OR EXISTS (SELECT FROM dp_ledger.release r JOIN dp_ledger.charge c ON c.id = r.charge_id OR c.release_id = r.id
                         JOIN dp_ledger.budget b ON b.id = c.budget_id
                        WHERE r.id = m.release_id AND c.dataset_id = coalesce(d.cap_id, d.id)
                          AND dp_internal.is_payer(d.identity, d.relation_oid, coalesce(b.role_oid, 0), b.role_name)))
    OFFSET 0;
COMMENT ON VIEW dp_ledger.all_models IS 'what dp_internal.visible_models reads';

CREATE FUNCTION dp_internal.period_due(ends bigint, grace interval, time_zone text, time_type text) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'pe_sql_period_due' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION dp_internal.period_due(bigint, interval, text, text) IS
    'when a period of a series is due (used by the view)';

CREATE VIEW dp_ledger.all_series AS
    SELECT s.series, d.dataset, s.role_name AS role, s.attributes, s.workload, s.predicate, s.over_periods AS over, s.starts AS start, s.period, s.periods,
           (s.rho + s.prolonged_rho) / 1e9::float8 AS rho, m.stored, CASE WHEN s.ended IS NULL AND m.stored < s.periods THEN
               dp_internal.period_due(s.edges[m.stored + 2], s.grace, s.time_zone, s.time_type) END AS next_due,
           CASE WHEN s.ended IS NULL THEN nullif(s.stderrs[m.stored + 1], 'NaN') END AS next_stderr, s.created, s.ended, s.ended_because,
           CASE WHEN o.is_owner AND s.ended IS NULL AND m.stored < s.periods THEN coalesce((SELECT p.attempts FROM dp_ledger.series_period p WHERE p.series_id = s.id AND p.period = m.stored + 1), 0) END AS next_attempts,
           CASE WHEN o.is_owner THEN ARRAY(SELECT p.period FROM dp_ledger.series_period p WHERE p.series_id = s.id AND NOT p.could_be_read ORDER BY p.period) END AS unread,
           s.max_periods, s.rows_per_unit, s.aggregates
      FROM dp_ledger.series s
      JOIN dp_ledger.dataset d ON d.id = s.dataset_id
      LEFT JOIN dp_ledger.budget b ON b.id = s.budget_id,
      LATERAL (SELECT pg_catalog.count(p.payload)::integer AS stored FROM dp_ledger.series_period p WHERE p.series_id = s.id) m,
      LATERAL (SELECT dp_internal.is_owner(d.identity, d.relation_oid, d.owner) AS is_owner) o
     WHERE NOT d.dropped AND s.version >= d.declared_version
       AND (dp_internal.is_payer(d.identity, d.relation_oid, coalesce(b.role_oid, 0), b.role_name) OR o.is_owner)
    OFFSET 0;
COMMENT ON VIEW dp_ledger.all_series IS 'what dp_internal.visible_series reads';

CREATE VIEW dp_ledger.block_steps AS
    SELECT s.*, CASE WHEN s.has_times THEN CASE WHEN s.block = '-9223372036854775807'::bigint THEN '-infinity' ELSE c.origin + s.block * c.length END END AS starts,
           CASE WHEN s.has_times THEN CASE WHEN s.next IS NULL THEN 'infinity' ELSE c.origin + s.next * c.length END END AS ends
      FROM dp_ledger.dataset d,
           LATERAL (SELECT b.*, b.block > '-9223372036854775808'::bigint AS has_times, pg_catalog.lead(b.block) OVER (PARTITION BY b.budget_id ORDER BY b.block) AS next
                      FROM dp_ledger.block b WHERE b.dataset_id = d.id) s,
           LATERAL (SELECT CASE WHEN d.block_days > 0 THEN timestamp '2000-01-03' ELSE timestamp '2000-01-01' END AS origin,
                           pg_catalog.make_interval(months => d.block_months, days => d.block_days) AS length) c;
COMMENT ON VIEW dp_ledger.block_steps IS 'dp_ledger.block with local times: when its first block starts and its last one ends; NULL: rows without a usable time';

CREATE VIEW dp_ledger.all_disclosures AS
    SELECT d.id, d.time_attribute IS NOT NULL AS has_time, pg_catalog.jsonb_build_object(
           'format', 1,
           'software', pg_catalog.jsonb_build_object('name', 'pg_epsilon', 'version', (SELECT e.extversion FROM pg_catalog.pg_extension e WHERE e.extname = 'pg_epsilon')),
           'trust_model', 'central',
           'dataset', d.dataset, 'data_version', d.version, 'registered', d.created, 'frozen', dp_internal.is_frozen(d.identity, d.relation_oid),
           'privacy_unit', pg_catalog.jsonb_build_object(
               'protects', CASE WHEN d.neighbours = 'values' THEN 'values' WHEN d.unit IS NULL THEN 'row' ELSE 'unit' END,
               'unit', d.unit, 'max_rows', d.max_rows, 'neighbours', d.neighbours,
               'private_column', d.private_column, 'max_change', d.max_change, 'change', d.change),
           'accounting', p.accounting,
           'definition', CASE p.accounting WHEN 'gdp' THEN 'Gaussian differential privacy' WHEN 'zcdp' THEN 'zero-concentrated differential privacy' ELSE 'pure differential privacy' END,
           'cap', pg_catalog.jsonb_build_object('of', CASE WHEN d.max_blocks IS NULL THEN 'dataset' ELSE 'block' END, 'epsilon', p.epsilon, 'delta', k.delta, 'delta_share', p.delta_share,
               'rho', p.rho_limit / 1e9::float8, 'mu', CASE p.accounting WHEN 'gdp' THEN pg_catalog.sqrt(2e-9::float8 * p.rho_limit) END),
           'spent', pg_catalog.jsonb_build_object('epsilon', CASE
                    WHEN p.accounting = 'pure' THEN p.epsilon_spent / 1e9::float8
                    WHEN k.delta_atto > p.delta_spent THEN dp.epsilon_of_rho(p.rho_spent * 1e-9::float8, ((k.delta_atto - p.delta_spent) / 1e18)::float8, p.accounting) END,
               'delta', k.delta, 'delta_of_charges', p.delta_spent / 1e18::float8, 'rho', p.rho_spent / 1e9::float8,
               'mu', CASE p.accounting WHEN 'gdp' THEN pg_catalog.sqrt(2e-9::float8 * p.rho_spent) END),
           'budgets', (SELECT pg_catalog.jsonb_build_object('count', pg_catalog.count(*), 'rho', pg_catalog.sum(b.rho_limit) / 1e9::float8, 'pure_epsilon', pg_catalog.sum(b.epsilon_limit) / 1e9::float8)
                FROM dp_ledger.budget b WHERE b.dataset_id = p.id),
           'charges', (SELECT coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('function', c.function, 'kind', c.kind, 'method', c.method, 'mechanism_accounting', c.accounting,
                    'count', c.count, 'rho', c.rho / 1e9::float8, 'epsilon', CASE
                        WHEN p.accounting = 'pure' THEN c.epsilon / 1e9::float8
                        WHEN k.delta_atto > c.delta THEN dp.epsilon_of_rho((c.rho * 1e-9)::float8, ((k.delta_atto - c.delta) / 1e18)::float8, p.accounting) END,
                    'delta_of_charges', c.delta / 1e18::float8) ORDER BY c.function, c.kind, c.method, c.accounting), '[]')
                FROM (SELECT c.function, c.request::jsonb ->> 'kind' AS kind, c.request::jsonb ->> 'method' AS method,
                             CASE WHEN c.epsilon IS NOT NULL THEN 'pure' ELSE p.accounting END AS accounting, pg_catalog.count(*) AS count,
                             pg_catalog.sum(c.cap_rho) AS rho, coalesce(pg_catalog.sum(c.cap_delta), 0) AS delta, pg_catalog.sum(c.cap_epsilon) AS epsilon
                        FROM dp_ledger.charge c WHERE c.dataset_id = p.id AND (coalesce(c.cap_rho, 0), coalesce(c.cap_delta, 0), coalesce(c.cap_epsilon, 0)) <> (0, 0, 0)
                       GROUP BY 1, 2, 3, 4) c),
           'series', (SELECT coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('periods', s.periods, 'period', s.period, 'start', s.starts,
                    'max_periods', s.max_periods, 'append_only', s.append_only, 'rho', (s.rho + s.prolonged_rho) / 1e9::float8, 'ended', s.ended) ORDER BY s.id), '[]')
                FROM dp_ledger.series s WHERE s.dataset_id = d.id),
           'time', CASE WHEN d.time_attribute IS NOT NULL THEN
               pg_catalog.jsonb_build_object('attribute', d.time_attribute, 'append_only', d.append_only, 'enforced', false) END,
           'blocks', CASE WHEN d.max_blocks IS NOT NULL THEN
               pg_catalog.jsonb_build_object('column', d.time_attribute, 'months', d.block_months, 'days', d.block_days, 'time_zone', d.block_zone, 'max_blocks', d.max_blocks,
                   'spent', (SELECT coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('starts', b.starts, 'ends', b.ends, 'rho', b.rho_spent / 1e9::float8, 'epsilon', CASE
                        WHEN p.accounting = 'pure' THEN b.epsilon_spent / 1e9::float8
                        WHEN k.delta_atto > b.delta_spent THEN dp.epsilon_of_rho(b.rho_spent * 1e-9::float8, ((k.delta_atto - b.delta_spent) / 1e18)::float8, p.accounting) END) ORDER BY b.block), '[]')
                        FROM dp_ledger.block_steps b WHERE b.dataset_id = d.id AND b.budget_id = 0)) END,
           'promises', pg_catalog.to_jsonb(pg_catalog.array_remove(ARRAY[
               CASE WHEN d.neighbours = 'values' THEN 'other_columns_public' WHEN d.unit IS NULL THEN 'one_row_per_person' ELSE 'one_unit_per_person' END,
               'declared_without_rows',
               CASE WHEN d.time_attribute IS NOT NULL THEN 'time_unchanged' END,
               CASE WHEN d.append_only THEN 'append_only' END,
               CASE WHEN d.max_blocks IS NOT NULL AND d.unit IS NOT NULL THEN 'max_blocks' END], NULL)),
           'acts', (SELECT pg_catalog.jsonb_build_object('attestations', pg_catalog.count(*) FILTER (WHERE a.act = 'attest'), 'last_attestation', pg_catalog.max(a.at) FILTER (WHERE a.act = 'attest'),
                    'cap_raises', pg_catalog.count(*) FILTER (WHERE a.act = 'cap'), 'last_cap_raise', pg_catalog.max(a.at) FILTER (WHERE a.act = 'cap'))
                FROM (SELECT 'attest' AS act, c.at::timestamptz AS at FROM dp_ledger.charge c WHERE c.dataset_id = d.id AND c.function LIKE 'dp.attest%' AND c.budget_id = 0
                      UNION ALL
                      SELECT 'cap', a.at::timestamptz FROM dp_ledger.act a WHERE a.dataset_id = d.id AND a.act = 'create_dataset'
                         AND ((a.new_value::jsonb ->> 'epsilon')::float8 > (a.old_value::jsonb ->> 'epsilon')::float8
                              OR (a.new_value::jsonb ->> 'delta')::float8 > (a.old_value::jsonb ->> 'delta')::float8)) a))
           || CASE WHEN d.view_identity IS NULL THEN '{}' ELSE pg_catalog.jsonb_build_object('tables', (SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
                    'table', t.relation_schema || '.' || t.relation_name, 'private', NOT t.is_public, 'rule', t.said, 'word_of_owner', t.is_named) ORDER BY t.is_public, t.relation_schema, t.relation_name)
                FROM dp_ledger.dataset_table t WHERE t.dataset_id = d.id AND NOT t.is_past), 'max_rows_read', d.max_rows_read,
               'words_of_owner', pg_catalog.jsonb_build_object('keys', d.view_keys, 'functions', d.view_functions, 'never_fails', d.never_fails), 'foreign_keys', 'trusted') END
           || CASE WHEN d.id = p.id AND NOT EXISTS (SELECT FROM dp_ledger.dataset o WHERE o.cap_id = p.id AND NOT o.dropped) THEN '{}' ELSE pg_catalog.jsonb_build_object('cap_shared_by',
               (SELECT pg_catalog.jsonb_agg(o.dataset ORDER BY o.id) FROM dp_ledger.dataset o WHERE p.id IN (o.id, o.cap_id) AND NOT o.dropped)) END
           || pg_catalog.jsonb_build_object('deployment', pg_catalog.jsonb_build_object(    -- the fields of the registry of deployments; null: the owner's to fill in
               'product', pg_catalog.jsonb_build_object('name', d.dataset, 'data_curators', NULL, 'intended_use', NULL, 'data_product_type', NULL, 'data_product_region', NULL,
                   'data_product_sector', NULL, 'description', NULL, 'publication_date', NULL),
               'dp_flavor', pg_catalog.jsonb_build_object('name', CASE p.accounting WHEN 'gdp' THEN 'Gaussian DP' WHEN 'zcdp' THEN 'Zero-concentrated DP' ELSE 'Pure DP' END,
                   'input_metric', CASE d.neighbours WHEN 'add_remove' THEN 'units that one table has more' WHEN 'substitute' THEN 'units whose rows differ' ELSE 'change of a number of the private column' END,
                   'bound_on_input_distance', CASE WHEN d.neighbours = 'values' THEN d.max_change ELSE 1 END,
                   'output_measure', CASE p.accounting WHEN 'gdp' THEN 'trade-off function of a Gaussian of mean mu' WHEN 'zcdp' THEN 'Renyi divergence of each order, divided by the order' ELSE 'max-divergence' END,
                   'bound_on_output_distance', CASE p.accounting WHEN 'gdp' THEN pg_catalog.sqrt(2e-9::float8 * p.rho_limit) WHEN 'zcdp' THEN p.rho_limit / 1e9::float8 ELSE p.epsilon END,
                   'data_domain', (SELECT 'declared attributes: ' || pg_catalog.string_agg(a.attribute, ', ' ORDER BY a.position) FROM dp_ledger.attribute a WHERE a.dataset_id = d.id AND a.until IS NULL),
                   'unprotected_quantities', 'declared levels, bins and bounds; the number of rows and the size of the table; how long a request takes, in steps of the time quantum'
                       || CASE WHEN d.neighbours = 'values' THEN '; all columns but the private one' ELSE '' END),
               'privacy_loss', pg_catalog.jsonb_build_object('privacy_unit', CASE WHEN d.neighbours = 'values' THEN 'Value-level' WHEN d.unit IS NULL THEN 'Row-level' ELSE 'Unit-level: ' || d.unit END,
                   'privacy_unit_description', CASE WHEN d.neighbours = 'values' THEN pg_catalog.format('column %s, by at most %s, in %s', d.private_column, d.max_change, CASE d.change WHEN 'one' THEN 'one row' ELSE 'all rows' END)
                       WHEN d.unit IS NULL THEN 'one row, over the whole life of the table'
                       ELSE pg_catalog.format('all rows with one value of column %s, over the whole life of the table; at most %s of them count', d.unit, d.max_rows) END,
                   'privacy_parameters', pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('epsilon', p.epsilon, 'delta', k.delta, 'rho', p.rho_limit / 1e9::float8,
                       'mu', CASE p.accounting WHEN 'gdp' THEN pg_catalog.sqrt(2e-9::float8 * p.rho_limit) END)),
                   'privacy_parameters_description', 'the cap of all roles together' || CASE WHEN d.max_blocks IS NULL THEN '' ELSE ', for each block of time' END || '; spent has what was lost so far'),
               'model', pg_catalog.jsonb_build_object('model_name', 'Central', 'model_name_description', 'the noise is added in the database that holds the rows',
                   'actors', 'trusted: the owner of the table, superusers and operators of the server; not trusted: roles that ask, alone or together',
                   'release_type', 'Many releases', 'release_type_description', NULL, 'data_source_type', CASE WHEN d.time_attribute IS NOT NULL OR d.version > 1 THEN 'Dynamic' END,
                   'data_source_type_description', NULL, 'access_type', 'Interactive', 'access_type_description', 'roles with a budget ask what they choose, one question after the other'),
               'accounting', pg_catalog.jsonb_build_object('post_processing', 'estimates, intervals, tables and predictions are computed from what was released',
                   'composition', 'a filter for adaptive composition, by a durable ledger: ' || CASE p.accounting WHEN 'gdp' THEN 'squares of mu add up' WHEN 'zcdp' THEN 'rho adds up' ELSE 'epsilon adds up' END),
               'implementation', pg_catalog.jsonb_build_object('pre_processing_eda_hyperparameter_tuning', 'none on the rows, as the owner promises: declared_without_rows',
                   'mechanisms', 'exact discrete noise on integers, from the operating system''s cryptographic source; charges has the methods', 'justification', NULL),
               'resources', pg_catalog.jsonb_build_object('sources', NULL, 'registry_authors', NULL))) AS disclosure
      FROM dp_ledger.dataset d JOIN dp_ledger.dataset p ON p.id = coalesce(d.cap_id, d.id),
      LATERAL (SELECT CASE WHEN p.accounting = 'pure' THEN 0 ELSE p.delta END AS delta, pg_catalog.trunc(p.delta::numeric * 1e18) AS delta_atto) k
     WHERE NOT d.dropped;
COMMENT ON VIEW dp_ledger.all_disclosures IS 'what dp.disclosure reads, for owners alone: what everybody together spent is in it';

CREATE FUNCTION dp_internal.visible_series() RETURNS SETOF dp_ledger.all_series
    AS 'MODULE_PATHNAME', 'pe_sql_visible_series' LANGUAGE C STABLE PARALLEL RESTRICTED ROWS 100;
COMMENT ON FUNCTION dp_internal.visible_series() IS 'the rows of dp.series (used by the view)';
CREATE VIEW dp.series WITH (security_barrier) AS SELECT * FROM dp_internal.visible_series();
COMMENT ON VIEW dp.series IS 'series of reports that you may read; for an owner, all on their datasets';

CREATE FUNCTION dp_internal.visible_budgets() RETURNS SETOF dp_ledger.all_budgets
    AS 'MODULE_PATHNAME', 'pe_sql_visible_budgets' LANGUAGE C STABLE PARALLEL RESTRICTED ROWS 100;
COMMENT ON FUNCTION dp_internal.visible_budgets() IS 'the rows of dp.budgets (used by the view)';
CREATE VIEW dp.budgets WITH (security_barrier) AS SELECT * FROM dp_internal.visible_budgets();
COMMENT ON VIEW dp.budgets IS 'your budgets; for an owner, all budgets on their datasets. epsilon_left: one request with this epsilon fits the budget, and the cap unless budgets were granted beyond it';

CREATE VIEW dp_ledger.all_blocks AS
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
                    SELECT b.id, b.role_name, b.accounting, b.delta * (1 - b.delta_share), b.rho_limit, b.epsilon_limit
                      FROM dp_ledger.budget b
                     WHERE b.dataset_id = d.id AND b.per_block
                       AND (dp_internal.is_payer(d.identity, d.relation_oid, coalesce(b.role_oid, 0), b.role_name)
                            OR dp_internal.is_owner(d.identity, d.relation_oid, d.owner))) a
           JOIN dp_ledger.block_steps s ON s.budget_id = a.id
     WHERE s.dataset_id = d.id AND NOT d.dropped AND d.max_blocks IS NOT NULL
     ORDER BY d.dataset, a.role NULLS FIRST, s.block
    OFFSET 0;
COMMENT ON VIEW dp_ledger.all_blocks IS 'what dp_internal.visible_blocks reads';

CREATE FUNCTION dp_internal.visible_blocks() RETURNS SETOF dp_ledger.all_blocks
    AS 'MODULE_PATHNAME', 'pe_sql_visible_blocks' LANGUAGE C STABLE PARALLEL RESTRICTED ROWS 100;
COMMENT ON FUNCTION dp_internal.visible_blocks() IS 'the rows of dp.blocks (used by the view)';
CREATE VIEW dp.blocks WITH (security_barrier) AS SELECT * FROM dp_internal.visible_blocks();
COMMENT ON VIEW dp.blocks IS 'what blocks of time have lost, of your budgets that are granted for each block; for an owner, of all of them and of the cap, role NULL; blocks that have lost the same stand together, from starts up to ends, local times, both NULL: rows without a time; a block that is not listed has lost nothing';

CREATE FUNCTION dp_internal.visible_charges() RETURNS SETOF dp_ledger.all_charges
    AS 'MODULE_PATHNAME', 'pe_sql_visible_charges' LANGUAGE C STABLE PARALLEL RESTRICTED ROWS 100;
COMMENT ON FUNCTION dp_internal.visible_charges() IS 'the rows of dp.charges (used by the view)';
CREATE VIEW dp.charges WITH (security_barrier) AS SELECT * FROM dp_internal.visible_charges();
COMMENT ON VIEW dp.charges IS 'charges to your budgets; for an owner, all charges on their datasets';

CREATE FUNCTION dp_internal.visible_acts() RETURNS SETOF dp_ledger.all_acts
    AS 'MODULE_PATHNAME', 'pe_sql_visible_acts' LANGUAGE C STABLE PARALLEL RESTRICTED ROWS 100;
COMMENT ON FUNCTION dp_internal.visible_acts() IS 'the rows of dp.acts (used by the view)';
CREATE VIEW dp.acts WITH (security_barrier) AS SELECT * FROM dp_internal.visible_acts();
COMMENT ON VIEW dp.acts IS 'what owners did to your datasets: registered, granted, declared and so on, in its order; old_value and new_value: of the subject, or what changed of the dataset';

CREATE FUNCTION dp_internal.visible_releases() RETURNS SETOF dp_ledger.all_releases
    AS 'MODULE_PATHNAME', 'pe_sql_visible_releases' LANGUAGE C STABLE PARALLEL RESTRICTED ROWS 100;
COMMENT ON FUNCTION dp_internal.visible_releases() IS 'the rows of dp.releases (used by the view)';
CREATE VIEW dp.releases WITH (security_barrier) AS SELECT * FROM dp_internal.visible_releases();
COMMENT ON VIEW dp.releases IS 'paid answers that you may read again; for an owner, all of their datasets';

CREATE FUNCTION dp_internal.visible_models() RETURNS SETOF dp_ledger.all_models
    AS 'MODULE_PATHNAME', 'pe_sql_visible_models' LANGUAGE C STABLE PARALLEL RESTRICTED ROWS 100;
COMMENT ON FUNCTION dp_internal.visible_models() IS 'the rows of dp.models (used by the view)';
CREATE VIEW dp.models WITH (security_barrier) AS SELECT * FROM dp_internal.visible_models();
COMMENT ON VIEW dp.models IS 'fitted models that you may use; for an owner, all on their datasets; release NULL: fitted without privacy';

COMMENT ON COLUMN dp.datasets.dataset IS 'its name';
COMMENT ON COLUMN dp.datasets.unit IS 'column that says whose a row is; NULL: each row is a unit of its own';
COMMENT ON COLUMN dp.datasets.max_rows IS 'how many rows of a unit count';
COMMENT ON COLUMN dp.datasets.neighbours IS 'what is protected: add_remove or substitute (rows), or values (those of private_column)';
COMMENT ON COLUMN dp.datasets.epsilon_left IS 'what is left of the cap, as an epsilon; NULL for all but the owner';
COMMENT ON COLUMN dp.datasets.frozen IS 'whether charges fail until the owner calls dp.attest';
COMMENT ON COLUMN dp.datasets.private_column IS 'with values: the column that is protected';
COMMENT ON COLUMN dp.datasets.max_change IS 'with values: the largest change of a value that stays hidden';
COMMENT ON COLUMN dp.datasets.change IS 'with values: whether values change in one row, or in all';
COMMENT ON COLUMN dp.datasets.accounting IS 'what the cap adds up: rho (gdp or zcdp) or epsilon (pure)';
COMMENT ON COLUMN dp.datasets.delta_share IS 'part of the cap''s delta for charges with a delta of their own; the rest turns rho into epsilon';
COMMENT ON COLUMN dp.attributes.dataset IS 'the dataset';
COMMENT ON COLUMN dp.attributes.attribute IS 'the column';
COMMENT ON COLUMN dp.attributes.type IS 'its type';
COMMENT ON COLUMN dp.attributes.kind IS 'levels or bins; open: neither, and the column can be asked for its keys or bounds, compared with values, and grouped by in SELECT';
COMMENT ON COLUMN dp.attributes.cells IS 'number of cells, those for other values and NULL included';
COMMENT ON COLUMN dp.attributes.levels IS 'the levels, or the edges of the bins; NULL where there are none';
COMMENT ON COLUMN dp.attributes.outside IS 'what becomes of other values: drop, clamp (to the first or last bin) or other (a cell of their own)';
COMMENT ON COLUMN dp.attributes.nulls IS 'what becomes of NULL: drop or cell (of its own)';
COMMENT ON COLUMN dp.attributes.last IS 'whether the last bin holds its upper edge: closed, or open; NULL for levels';
COMMENT ON COLUMN dp.attributes.open IS 'whether dp.keys and dp.bounds may look for values that nobody has listed';
COMMENT ON COLUMN dp.blocks.dataset IS 'the dataset';
COMMENT ON COLUMN dp.blocks.role IS 'whose budget it is; NULL: the cap';
COMMENT ON COLUMN dp.blocks.starts IS 'local time of the first block; NULL: rows whose time is NULL or infinite';
COMMENT ON COLUMN dp.blocks.ends IS 'local time at which the last one ends';
COMMENT ON COLUMN dp.blocks.rho_spent IS 'what each of them has lost, in rho; NULL if accounting is pure';
COMMENT ON COLUMN dp.blocks.epsilon_spent IS 'the same as an epsilon';
COMMENT ON COLUMN dp.blocks.epsilon_left IS 'epsilon of one request that takes all that is left of each of them';
COMMENT ON COLUMN dp.budgets.per_block IS 'the total is of each block of time; what is left is of the block that has lost most: dp.blocks has the others';
COMMENT ON COLUMN dp.budgets.dataset IS 'the dataset';
COMMENT ON COLUMN dp.budgets.role IS 'whose budget it is; members of the role spend it too';
COMMENT ON COLUMN dp.budgets.accounting IS 'what adds up: rho (gdp or zcdp) or epsilon (pure)';
COMMENT ON COLUMN dp.budgets.epsilon IS 'total granted';
COMMENT ON COLUMN dp.budgets.delta IS 'total granted; all but delta_share of it turns rho into epsilon';
COMMENT ON COLUMN dp.budgets.rho_limit IS 'total in rho; NULL if accounting is pure';
COMMENT ON COLUMN dp.budgets.rho_spent IS 'spent in rho; NULL if accounting is pure';
COMMENT ON COLUMN dp.budgets.rho_left IS 'left in rho; NULL if accounting is pure';
COMMENT ON COLUMN dp.budgets.epsilon_left IS 'epsilon of one request that takes all that is left';
COMMENT ON COLUMN dp.budgets.most_per_request IS 'epsilon that one request may cost at most; NULL: no limit';
COMMENT ON COLUMN dp.budgets.frozen IS 'whether charges fail until the owner calls dp.attest';
COMMENT ON COLUMN dp.budgets.delta_share IS 'part of delta for charges with a delta of their own';
COMMENT ON COLUMN dp.charges.charge IS 'number of the charge';
COMMENT ON COLUMN dp.charges.at IS 'when it was committed';
COMMENT ON COLUMN dp.charges.role IS 'who asked';
COMMENT ON COLUMN dp.charges.dataset IS 'name of the dataset at that time';
COMMENT ON COLUMN dp.charges.function IS 'what was called';
COMMENT ON COLUMN dp.charges.rho IS 'cost in rho; NULL if pure';
COMMENT ON COLUMN dp.charges.delta IS 'cost in delta; NULL if pure';
COMMENT ON COLUMN dp.charges.epsilon IS 'cost in epsilon; NULL unless pure';
COMMENT ON COLUMN dp.charges.request IS 'the canonical request';
COMMENT ON COLUMN dp.charges.release IS 'the answer that it paid for; NULL: none was stored';
COMMENT ON COLUMN dp.acts.at IS 'when';
COMMENT ON COLUMN dp.acts.role IS 'who did it';
COMMENT ON COLUMN dp.acts.dataset IS 'name of the dataset at that time';
COMMENT ON COLUMN dp.acts.act IS 'what was done: the name of a function';
COMMENT ON COLUMN dp.acts.subject IS 'attribute, role or release that it is about; NULL: the dataset itself';
COMMENT ON COLUMN dp.acts.old_value IS 'before; NULL: there was none';
COMMENT ON COLUMN dp.acts.new_value IS 'after; NULL: there is none';
COMMENT ON COLUMN dp.acts.reason IS 'as given to dp.attest or dp.move_dataset';
COMMENT ON COLUMN dp.releases.release IS 'number of the release';
COMMENT ON COLUMN dp.releases.charge IS 'the charge that paid for it first';
COMMENT ON COLUMN dp.releases.dataset IS 'the dataset';
COMMENT ON COLUMN dp.releases.version IS 'version of the data that it is of';
COMMENT ON COLUMN dp.releases.attributes IS 'attributes of its cells or groups, some perhaps with classes of cells, features of a model, slopes of a minimum or the column of keys or bounds';
COMMENT ON COLUMN dp.releases.workload IS 'canonical workload; NULL: a model, a minimum, aggregates, units by their number of rows, keys or bounds';
COMMENT ON COLUMN dp.releases.predicate IS 'canonical predicate; NULL: all rows';
COMMENT ON COLUMN dp.releases.method IS 'how it was made';
COMMENT ON COLUMN dp.releases.queries IS 'how many queries it answers';
COMMENT ON COLUMN dp.releases.created IS 'when it was stored';
COMMENT ON COLUMN dp.series.series IS 'its name';
COMMENT ON COLUMN dp.series.dataset IS 'the dataset';
COMMENT ON COLUMN dp.series.role IS 'who created it';
COMMENT ON COLUMN dp.series.attributes IS 'what is counted by';
COMMENT ON COLUMN dp.series.workload IS 'what is asked for of the cells';
COMMENT ON COLUMN dp.series.predicate IS 'which rows count; NULL: all';
COMMENT ON COLUMN dp.series.over IS 'what each report asks for of the periods up to it';
COMMENT ON COLUMN dp.series.start IS 'when the first period begins';
COMMENT ON COLUMN dp.series.period IS 'how long each is';
COMMENT ON COLUMN dp.series.periods IS 'how many there are';
COMMENT ON COLUMN dp.series.rho IS 'what all of them cost together';
COMMENT ON COLUMN dp.series.stored IS 'periods that are measured';
COMMENT ON COLUMN dp.series.next_due IS 'when the next one is due; NULL: none is';
COMMENT ON COLUMN dp.series.next_stderr IS 'the largest standard error of the next report, of aggregates of the first; NULL: none is due any more, or it depends on the rows';
COMMENT ON COLUMN dp.series.created IS 'when it was paid for';
COMMENT ON COLUMN dp.series.ended IS 'when it ended before its last period; NULL: it goes on';
COMMENT ON COLUMN dp.series.ended_because IS 'why';
COMMENT ON COLUMN dp.series.next_attempts IS 'for the dataset''s owner: how often a measurement of the next period was begun; after three each further one is charged';
COMMENT ON COLUMN dp.series.unread IS 'for the dataset''s owner: stored periods whose rows could not be read, so that an empty table was measured';
COMMENT ON COLUMN dp.series.max_periods IS 'in how many periods a unit counts, the first in which it has rows that count; NULL: each row is a unit';
COMMENT ON COLUMN dp.series.rows_per_unit IS 'how many of its rows count in one of these periods; NULL: each row is a unit';
COMMENT ON COLUMN dp.series.aggregates IS 'what is told of each group; NULL: counts by the workload';
COMMENT ON COLUMN dp.models.model IS 'its name';
COMMENT ON COLUMN dp.models.dataset IS 'the dataset';
COMMENT ON COLUMN dp.models.kind IS 'logistic_regression, svm or linear_regression';
COMMENT ON COLUMN dp.models.method IS 'how it was fitted';
COMMENT ON COLUMN dp.models.label IS 'attribute that it predicts';
COMMENT ON COLUMN dp.models.features IS 'attributes that it predicts from';
COMMENT ON COLUMN dp.models.role IS 'who fitted it';
COMMENT ON COLUMN dp.models.release IS 'the paid release; NULL: fitted without privacy';
COMMENT ON COLUMN dp.models.created IS 'when it was stored';

GRANT SELECT ON dp.datasets, dp.attributes, dp.blocks, dp.budgets, dp.charges, dp.acts, dp.releases, dp.models, dp.series TO PUBLIC;

----------------------------------------------------------------------
-- For the owner of a table
----------------------------------------------------------------------

CREATE FUNCTION dp.create_dataset(dataset text, relation regclass, epsilon double precision DEFAULT NULL,
        delta double precision DEFAULT 1e-9, neighbours text DEFAULT 'add_remove', unit name DEFAULT NULL,
        max_rows integer DEFAULT NULL, accounting text DEFAULT 'gdp', delta_share double precision DEFAULT NULL,
        private_column name DEFAULT NULL, max_change double precision DEFAULT NULL, change text DEFAULT NULL,
        block interval DEFAULT NULL, block_column name DEFAULT NULL, max_blocks integer DEFAULT NULL,
        same_cap_as text DEFAULT NULL, public_tables regclass[] DEFAULT NULL, keys text[] DEFAULT NULL,
        functions regprocedure[] DEFAULT NULL, never_fails boolean DEFAULT NULL, max_rows_read integer DEFAULT NULL) RETURNS void
    AS 'MODULE_PATHNAME', 'pe_sql_create_dataset' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.create_dataset(text, regclass, double precision, double precision, text, name, integer, text, double precision, name, double precision, text, interval, name, integer, text, regclass[], text[], regprocedure[], boolean, integer) IS
    'registers your table, or a view that joins several, as a dataset; epsilon and delta: the cap on what it may lose to everybody together; same_cap_as: it shares the cap, the budgets, neighbours and accounting of another dataset of yours; accounting: gdp, zcdp or pure; delta_share: part of delta for charges with a delta of their own, NULL: 1/16 for gdp, 1/2 for zcdp; neighbours: add_remove or substitute protect rows, values a private_column, which moves by at most max_change in one row, or in all; block: the cap holds for each block of time, of so many days or months, by block_column, which says when a row arrived; max_blocks: no unit has rows in more blocks, as you promise. Of a view (dp.check_view tells first): public_tables are nobody''s, keys say what refers to what without a foreign key, functions never fail and read no table, never_fails: no expression does; max_rows_read: of a unit the rows of so many cells are read where the view multiplies rows';

CREATE FUNCTION dp.drop_dataset(dataset text) RETURNS void
    AS 'MODULE_PATHNAME', 'pe_sql_drop_dataset' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.drop_dataset(text) IS
    'unregisters a dataset; what was spent is kept and counts again when the table is registered anew';

CREATE FUNCTION dp.move_dataset(dataset text, relation regclass, reason text) RETURNS void
    AS 'MODULE_PATHNAME', 'pe_sql_move_dataset' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.move_dataset(text, regclass, text) IS
    'lets a dataset go on with another table of yours that has the declared columns; cap, charges, budgets and version stay; dp.new_version ends the replay of answers of the old table';

CREATE FUNCTION dp.new_version(dataset text) RETURNS integer
    AS 'MODULE_PATHNAME', 'pe_sql_new_version' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.new_version(text) IS
    'declares that the data changed: answers paid before are not replayed from now on; returns the version';

CREATE FUNCTION dp.set_min_count(dataset text, k integer) RETURNS void
    AS 'MODULE_PATHNAME', 'pe_sql_set_min_count' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.set_min_count(text, integer) IS
    'minimum frequency: a group is shown to others than the owner only where its number of units is at least k, by the lower end of its 95 % interval; all its numbers are NULL else; NULL: all groups are shown. A rule of presentation, computed from noisy counts: differences of totals may show what is hidden';

CREATE FUNCTION dp.set_example(dataset text, relation regclass) RETURNS void
    AS 'MODULE_PATHNAME', 'pe_sql_set_example' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.set_example(text, regclass) IS
    'gives a dataset an example, a table of public rows with the same columns: with pg_epsilon.rehearse = on it answers every request in place of the dataset, with noise, and nothing is charged; NULL: takes it away';

CREATE FUNCTION dp.add_attribute(dataset text, attribute name, levels anyarray,
        outside text DEFAULT 'drop', nulls text DEFAULT 'drop') RETURNS void
    AS 'MODULE_PATHNAME', 'pe_sql_add_levels' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.add_attribute(text, name, anyarray, text, text) IS
    'declares a column as an attribute with these levels; outside: drop or other; nulls: drop or cell';

CREATE FUNCTION dp.add_attribute(dataset text, attribute name, levels text DEFAULT NULL,
        outside text DEFAULT 'drop', nulls text DEFAULT 'drop') RETURNS void
    AS 'MODULE_PATHNAME', 'pe_sql_add_levels' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.add_attribute(text, name, text, text, text) IS
    'the same with the levels as an array literal in the column''s own input form; NULL: the levels of its type, of a boolean or enum column';

CREATE FUNCTION dp.add_attribute(dataset text, attribute name, lower anycompatible, upper anycompatible, bins integer,
        outside text DEFAULT 'clamp', nulls text DEFAULT 'drop', last text DEFAULT NULL) RETURNS void
    AS 'MODULE_PATHNAME', 'pe_sql_add_bins' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.add_attribute(text, name, anycompatible, anycompatible, integer, text, text, text) IS
    'declares a column as an attribute of equal bins from lower to upper; outside: clamp, drop or other; nulls: drop or cell; last: whether the last bin is open or closed at upper, NULL: open for dates and timestamps';

CREATE FUNCTION dp.add_attribute(dataset text, attribute name, lower text, upper text, bins integer,
        outside text DEFAULT 'clamp', nulls text DEFAULT 'drop', last text DEFAULT NULL) RETURNS void
    AS 'MODULE_PATHNAME', 'pe_sql_add_bins' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.add_attribute(text, name, text, text, integer, text, text, text) IS
    'the same with the bounds in the column''s own input form';

CREATE FUNCTION dp.add_attribute(dataset text, attribute name, lower text, upper text, step interval,
        outside text DEFAULT 'clamp', nulls text DEFAULT 'drop', last text DEFAULT NULL) RETURNS void
    AS 'MODULE_PATHNAME', 'pe_sql_add_steps' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.add_attribute(text, name, text, text, interval, text, text, text) IS
    'declares a date or timestamp column as an attribute of bins that are one step long, for instance step => ''1 month'', from lower to upper, where the last step ends; the calendar is that of the session''s time zone; name the parameter step';

CREATE FUNCTION dp.add_attribute(dataset text, attribute name, lower timestamp, upper timestamp, step interval,
        outside text DEFAULT 'clamp', nulls text DEFAULT 'drop', last text DEFAULT NULL) RETURNS void
    AS 'MODULE_PATHNAME', 'pe_sql_add_steps' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.add_attribute(text, name, timestamp, timestamp, interval, text, text, text) IS
    'the same with dates or timestamps as bounds';

CREATE FUNCTION dp.add_attribute(dataset text, attribute name, open boolean) RETURNS void
    AS 'MODULE_PATHNAME', 'pe_sql_open_attribute' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.add_attribute(text, name, boolean) IS
    'opens a column whose values nobody has listed: dp.keys and dp.bounds may look for them from then on; levels or bins may be declared before or later';

CREATE FUNCTION dp_internal.hold_time() RETURNS trigger
    AS 'MODULE_PATHNAME', 'pe_sql_hold_time' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp_internal.hold_time() IS
    'holds what dp.set_time declares, with enforce: its triggers call it';

CREATE FUNCTION dp.set_time(dataset text, attribute name, append_only boolean DEFAULT false, enforce boolean DEFAULT false) RETURNS void
    AS 'MODULE_PATHNAME', 'pe_sql_set_time' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.set_time(text, name, boolean, boolean) IS
    'declares which column says when a row arrived, for series: it is filled on insert and never changed; append_only: rows of periods that are over are neither deleted nor changed, and none come late; both are your promise; enforce: triggers on your table hold the second, while series go on';

CREATE FUNCTION dp.add_edges(dataset text, attribute name, edges anyarray,
        outside text DEFAULT 'clamp', nulls text DEFAULT 'drop', last text DEFAULT NULL) RETURNS void
    AS 'MODULE_PATHNAME', 'pe_sql_add_edges' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.add_edges(text, name, anyarray, text, text, text) IS
    'declares a column as an attribute of bins between ascending edges: [e1, e2), [e2, e3), ...; last: open or closed at its upper edge, NULL: open for dates and timestamps';

CREATE FUNCTION dp.add_edges(dataset text, attribute name, edges text,
        outside text DEFAULT 'clamp', nulls text DEFAULT 'drop', last text DEFAULT NULL) RETURNS void
    AS 'MODULE_PATHNAME', 'pe_sql_add_edges' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.add_edges(text, name, text, text, text, text) IS
    'the same with the edges as an array literal in the column''s own input form';

CREATE FUNCTION dp.alter_attribute(dataset text, attribute name, levels anyarray,
        outside text DEFAULT 'drop', nulls text DEFAULT 'drop') RETURNS void
    AS 'MODULE_PATHNAME', 'pe_sql_alter_levels' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.alter_attribute(text, name, anyarray, text, text) IS
    'declares an attribute anew, with these levels; what was paid for keeps the old declaration, and nothing is refunded; outside: drop or other; nulls: drop or cell';

CREATE FUNCTION dp.alter_attribute(dataset text, attribute name, levels text DEFAULT NULL,
        outside text DEFAULT 'drop', nulls text DEFAULT 'drop') RETURNS void
    AS 'MODULE_PATHNAME', 'pe_sql_alter_levels' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.alter_attribute(text, name, text, text, text) IS
    'the same with the levels as an array literal in the column''s own input form; NULL: the levels of its type as they are now, of a boolean or enum column';

CREATE FUNCTION dp.alter_attribute(dataset text, attribute name, lower anycompatible, upper anycompatible, bins integer,
        outside text DEFAULT 'clamp', nulls text DEFAULT 'drop', last text DEFAULT NULL) RETURNS void
    AS 'MODULE_PATHNAME', 'pe_sql_alter_bins' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.alter_attribute(text, name, anycompatible, anycompatible, integer, text, text, text) IS
    'declares an attribute anew, with equal bins from lower to upper; outside: clamp, drop or other; nulls: drop or cell; last: whether the last bin is open or closed at upper, NULL: open for dates and timestamps';

CREATE FUNCTION dp.alter_attribute(dataset text, attribute name, lower text, upper text, bins integer,
        outside text DEFAULT 'clamp', nulls text DEFAULT 'drop', last text DEFAULT NULL) RETURNS void
    AS 'MODULE_PATHNAME', 'pe_sql_alter_bins' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.alter_attribute(text, name, text, text, integer, text, text, text) IS
    'the same with the bounds in the column''s own input form';

CREATE FUNCTION dp.alter_attribute(dataset text, attribute name, lower text, upper text, step interval,
        outside text DEFAULT 'clamp', nulls text DEFAULT 'drop', last text DEFAULT NULL) RETURNS void
    AS 'MODULE_PATHNAME', 'pe_sql_alter_steps' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.alter_attribute(text, name, text, text, interval, text, text, text) IS
    'declares an attribute anew, with bins that are one step long, for instance step => ''1 month'', from lower to upper, where the last step ends; the calendar is that of the session''s time zone; name the parameter step';

CREATE FUNCTION dp.alter_attribute(dataset text, attribute name, lower timestamp, upper timestamp, step interval,
        outside text DEFAULT 'clamp', nulls text DEFAULT 'drop', last text DEFAULT NULL) RETURNS void
    AS 'MODULE_PATHNAME', 'pe_sql_alter_steps' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.alter_attribute(text, name, timestamp, timestamp, interval, text, text, text) IS
    'the same with dates or timestamps as bounds';

CREATE FUNCTION dp.alter_attribute(dataset text, attribute name, open boolean) RETURNS void
    AS 'MODULE_PATHNAME', 'pe_sql_alter_open' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.alter_attribute(text, name, boolean) IS
    'opens the column of an attribute for dp.keys and dp.bounds, or closes it; its levels or bins stay';

CREATE FUNCTION dp.alter_edges(dataset text, attribute name, edges anyarray,
        outside text DEFAULT 'clamp', nulls text DEFAULT 'drop', last text DEFAULT NULL) RETURNS void
    AS 'MODULE_PATHNAME', 'pe_sql_alter_edges' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.alter_edges(text, name, anyarray, text, text, text) IS
    'declares an attribute anew, with bins between ascending edges: [e1, e2), [e2, e3), ...; last: open or closed at its upper edge, NULL: open for dates and timestamps';

CREATE FUNCTION dp.alter_edges(dataset text, attribute name, edges text,
        outside text DEFAULT 'clamp', nulls text DEFAULT 'drop', last text DEFAULT NULL) RETURNS void
    AS 'MODULE_PATHNAME', 'pe_sql_alter_edges' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.alter_edges(text, name, text, text, text, text) IS
    'the same with the edges as an array literal in the column''s own input form';

CREATE FUNCTION dp.drop_attribute(dataset text, attribute name) RETURNS void
    AS 'MODULE_PATHNAME', 'pe_sql_drop_attribute' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.drop_attribute(text, name) IS
    'ends the declaration of an attribute, or of an open column: nobody asks for it any more; what was paid for is still read, and nothing is refunded';

CREATE FUNCTION dp.grant_budget(dataset text, grantee name, epsilon double precision,
        delta double precision DEFAULT NULL, accounting text DEFAULT NULL, delta_share double precision DEFAULT NULL,
        overcommit boolean DEFAULT false, most_per_request double precision DEFAULT NULL, per_block boolean DEFAULT false) RETURNS void
    AS 'MODULE_PATHNAME', 'pe_sql_grant_budget' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.grant_budget(text, name, double precision, double precision, text, double precision, boolean, double precision, boolean) IS
    'sets the total that a role may lose on your dataset; delta, accounting and delta_share NULL: those of the cap; accounting: that of the cap, or pure; overcommit: also where all budgets together exceed the cap; most_per_request: the epsilon that one request may cost, NULL: no limit; per_block: the total is of each block of time';

CREATE FUNCTION dp.revoke_budget(dataset text, grantee name) RETURNS void
    AS 'MODULE_PATHNAME', 'pe_sql_revoke_budget' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.revoke_budget(text, name) IS
    'takes back what a role has not spent yet; what it paid for it may still read';

CREATE FUNCTION dp.verify_ledger(dataset text)
        RETURNS TABLE (ok boolean, charges bigint, rho_spent double precision, first_bad bigint, message text)
    AS 'MODULE_PATHNAME', 'pe_sql_verify_ledger' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE ROWS 1;
COMMENT ON FUNCTION dp.verify_ledger(text) IS
    'computes the hash chain of your dataset''s charges and acts anew and adds up its charges; first_bad: the charge that is not as it was written, or follows a missing one';

CREATE FUNCTION dp.ledger_lines(dataset text)
        RETURNS TABLE (line bigint, kind text, number bigint, content text, hash text)
    AS 'MODULE_PATHNAME', 'pe_sql_ledger_lines' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE ROWS 1000;
COMMENT ON FUNCTION dp.ledger_lines(text) IS
    'your dataset''s charges and acts as the hash chain has them, to be handed over: kind, charge or act, and its number of these; content, JSON; hash, in hexadecimal, SHA-256 of the hash of the line before, of 32 zero bytes first, and of content';

CREATE FUNCTION dp.check_view(relation regclass, unit text, public_tables regclass[] DEFAULT NULL, keys text[] DEFAULT NULL,
        functions regprocedure[] DEFAULT NULL, never_fails boolean DEFAULT false)
        RETURNS TABLE (relation regclass, role text, rule text, reason text)
    AS 'MODULE_PATHNAME', 'pe_sql_check_view' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 10;
COMMENT ON FUNCTION dp.check_view(regclass, text, regclass[], text[], regprocedure[], boolean) IS
    'whether your view could be a dataset: proves that each row belongs to one unit and depends on its own rows and public tables alone, or says which part it cannot prove and what would be accepted; a row for each table, public or private with the rule that says whose its rows are, and for each word of yours that is believed; reads no row of a table';

CREATE FUNCTION dp.disclosure(dataset text) RETURNS jsonb
    AS 'MODULE_PATHNAME', 'pe_sql_disclosure' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.disclosure(text) IS
    'what you publish about your dataset, for a registry of deployments: unit of privacy, neighbours, cap, what is spent, number and sum of budgets, charges by kind, series, promises and acts; from the ledger, never from rows; names no role. For the owner alone: it has what everybody together spent';

CREATE FUNCTION dp.attest(reason text)
        RETURNS TABLE (dataset text, relation text, charges bigint, rho_spent double precision, message text)
    AS 'MODULE_PATHNAME', 'pe_sql_attest' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE ROWS 10;
COMMENT ON FUNCTION dp.attest(text) IS
    'lifts the freeze of all your datasets in this database, after a restore or a promotion: you vouch that their charges are complete; gives no budget back';

----------------------------------------------------------------------
-- For the analyst.  What charges is VOLATILE, PARALLEL UNSAFE and returns a table.
----------------------------------------------------------------------

CREATE FUNCTION dp.describe(dataset text) RETURNS TABLE (description text)
    AS 'MODULE_PATHNAME', 'pe_sql_describe' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.describe(text) IS
    'a page on a dataset: what is protected, what may be asked, and what is left of your budget';

CREATE FUNCTION dp.spent(dataset text)
        RETURNS TABLE (role text, delta double precision, epsilon double precision, rho double precision, delta_spent double precision)
    AS 'MODULE_PATHNAME', 'pe_sql_spent' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE ROWS 6;
COMMENT ON FUNCTION dp.spent(text) IS
    'what your budgets have lost so far; for the owner, what all have, role NULL: everybody together. epsilon: what charges fixed in advance with this sum are at delta, NULL: at none. No guarantee at a time that answers choose: only the limits of budgets and cap are one';

CREATE FUNCTION dp.remaining(dataset text, epsilon double precision DEFAULT NULL, max_stderr double precision DEFAULT NULL, budget name DEFAULT NULL)
    RETURNS TABLE (budget text, used_percent double precision, epsilon double precision, questions_left bigint)
    AS 'MODULE_PATHNAME', 'pe_sql_remaining' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 1;
COMMENT ON FUNCTION dp.remaining(text, double precision, double precision, name) IS
    'what is left of your budget in questions: so many new ones like count(*) fit, at epsilon each or at the epsilon that max_stderr takes; both NULL: at the price that is set for a SELECT, and without one epsilon is all that is left; used_percent: of what the budget counts; the cap is not asked; reads no data, charges nothing';

CREATE FUNCTION dp.rows_per_unit(dataset text, most integer, predicate text DEFAULT NULL,
        epsilon double precision DEFAULT NULL, rho double precision DEFAULT NULL, max_stderr double precision DEFAULT NULL,
        delta double precision DEFAULT NULL, fresh boolean DEFAULT false, budget name DEFAULT NULL)
    RETURNS TABLE (rows integer, units double precision, stderr double precision, lower95 double precision, upper95 double precision, release bigint)
    AS 'MODULE_PATHNAME', 'pe_sql_rows_per_unit' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.rows_per_unit(text, integer, text, double precision, double precision, double precision, double precision, boolean, name) IS
    'how many units have 1, 2, ... most rows, before any cut, units with more rows counted in the last line; a unit is in one line, so the noise is that of one row per unit: stderr 1/sqrt(2 rho), sqrt(2) times that under substitute; give exactly one of epsilon, rho and max_stderr; the same request again is answered free';

CREATE FUNCTION dp.histogram(dataset text, attributes text[], workload text DEFAULT 'identity',
        epsilon double precision DEFAULT NULL, rho double precision DEFAULT NULL, max_stderr double precision DEFAULT NULL,
        delta double precision DEFAULT NULL, predicate text DEFAULT NULL, method text DEFAULT 'optimal',
        nonnegative boolean DEFAULT false, fresh boolean DEFAULT false, budget name DEFAULT NULL,
        rows_per_unit integer DEFAULT NULL, reuse boolean DEFAULT false)
    RETURNS TABLE (query integer, label jsonb, estimate double precision, stderr double precision, lower95 double precision, upper95 double precision, release bigint)
    AS 'MODULE_PATHNAME', 'pe_sql_histogram' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.histogram(text, text[], text, double precision, double precision, double precision, double precision, text, text, boolean, boolean, name, integer, boolean) IS
    'private answers to a workload of counts, each of the rows that count, between lower95 and upper95 with a probability of at least 95 %; give exactly one of epsilon, rho and max_stderr; the same request again is answered free; nonnegative: consistent with counts that are not below 0, which makes estimates biased, while stderr stays that of the unbiased ones; rows_per_unit: how many rows of a unit count, NULL: max_rows; fewer need less noise; reuse: where a paid release of the same rows that you may replay knows every query as precisely, answer from it, free';

CREATE FUNCTION dp.histogram(dataset text, attributes text, workload text DEFAULT 'identity',
        epsilon double precision DEFAULT NULL, rho double precision DEFAULT NULL, max_stderr double precision DEFAULT NULL,
        delta double precision DEFAULT NULL, predicate text DEFAULT NULL, method text DEFAULT 'optimal',
        nonnegative boolean DEFAULT false, fresh boolean DEFAULT false, budget name DEFAULT NULL,
        rows_per_unit integer DEFAULT NULL, reuse boolean DEFAULT false)
    RETURNS TABLE (query integer, label jsonb, estimate double precision, stderr double precision, lower95 double precision, upper95 double precision, release bigint)
    AS 'MODULE_PATHNAME', 'pe_sql_histogram' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.histogram(text, text, text, double precision, double precision, double precision, double precision, text, text, boolean, boolean, name, integer, boolean) IS
    'the same for one attribute by its name, or several as an array literal';

CREATE FUNCTION dp.measure(dataset text, attributes text[], workload text DEFAULT 'identity',
        epsilon double precision DEFAULT NULL, rho double precision DEFAULT NULL, max_stderr double precision DEFAULT NULL,
        delta double precision DEFAULT NULL, predicate text DEFAULT NULL, method text DEFAULT 'optimal',
        nonnegative boolean DEFAULT false, fresh boolean DEFAULT false, budget name DEFAULT NULL,
        rows_per_unit integer DEFAULT NULL)
    RETURNS TABLE (release bigint, queries integer, rho double precision, epsilon double precision, plan text)
    AS 'MODULE_PATHNAME', 'pe_sql_measure' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.measure(text, text[], text, double precision, double precision, double precision, double precision, text, text, boolean, boolean, name, integer) IS
    'measures and charges what dp.histogram with the same arguments would, and returns the release alone; dp.answer and dp.publish then give any part of it, free; plan: marginals, symmetric, kronecker or product for many attributes, else counts, dense or direct';

CREATE FUNCTION dp.measure(dataset text, attributes text, workload text DEFAULT 'identity',
        epsilon double precision DEFAULT NULL, rho double precision DEFAULT NULL, max_stderr double precision DEFAULT NULL,
        delta double precision DEFAULT NULL, predicate text DEFAULT NULL, method text DEFAULT 'optimal',
        nonnegative boolean DEFAULT false, fresh boolean DEFAULT false, budget name DEFAULT NULL,
        rows_per_unit integer DEFAULT NULL)
    RETURNS TABLE (release bigint, queries integer, rho double precision, epsilon double precision, plan text)
    AS 'MODULE_PATHNAME', 'pe_sql_measure' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.measure(text, text, text, double precision, double precision, double precision, double precision, text, text, boolean, boolean, name, integer) IS
    'the same for one attribute by its name, or several as an array literal';

CREATE FUNCTION dp.create_series(dataset text, series text, attributes text[], workload text DEFAULT NULL, over text DEFAULT 'totals',
        start timestamptz DEFAULT NULL, period interval DEFAULT NULL, periods integer DEFAULT NULL,
        epsilon double precision DEFAULT NULL, rho double precision DEFAULT NULL, max_stderr double precision DEFAULT NULL,
        delta double precision DEFAULT NULL, predicate text DEFAULT NULL, grace interval DEFAULT '0', history integer DEFAULT NULL,
        open_ended boolean DEFAULT false, max_periods integer DEFAULT NULL, objective text DEFAULT 'sum', budget name DEFAULT NULL,
        aggregates text[] DEFAULT NULL, rows_per_unit integer DEFAULT NULL, cells_per_unit integer DEFAULT NULL)
    RETURNS TABLE (series_name text, rho_charged double precision, epsilon_charged double precision, first_due timestamptz, last_due timestamptz)
    AS 'MODULE_PATHNAME', 'pe_sql_create_series' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.create_series(text, text, text[], text, text, timestamptz, interval, integer, double precision, double precision, double precision, double precision, text, interval, integer, boolean, integer, text, name, text[], integer, integer) IS
    'pays once for reports on a table that grows, one each period: dp.report returns them, free; over: totals, periods, windows(n), with + and weights; give exactly one of epsilon, rho and max_stderr, of all reports together; history: rows of so many periods are read, and older ones may be deleted; open_ended: it can be prolonged; max_periods: in how many periods a unit with several rows counts, the first in which it has any; rows_per_unit: with so many rows in each, at most max_rows; objective: sum, or max of the squared errors; aggregates: as of dp.aggregate, of groups by the attributes, instead of counts by the workload (NULL: identity)';

CREATE FUNCTION dp.create_series(dataset text, series text, attributes text, workload text DEFAULT NULL, over text DEFAULT 'totals',
        start timestamptz DEFAULT NULL, period interval DEFAULT NULL, periods integer DEFAULT NULL,
        epsilon double precision DEFAULT NULL, rho double precision DEFAULT NULL, max_stderr double precision DEFAULT NULL,
        delta double precision DEFAULT NULL, predicate text DEFAULT NULL, grace interval DEFAULT '0', history integer DEFAULT NULL,
        open_ended boolean DEFAULT false, max_periods integer DEFAULT NULL, objective text DEFAULT 'sum', budget name DEFAULT NULL,
        aggregates text DEFAULT NULL, rows_per_unit integer DEFAULT NULL, cells_per_unit integer DEFAULT NULL)
    RETURNS TABLE (series_name text, rho_charged double precision, epsilon_charged double precision, first_due timestamptz, last_due timestamptz)
    AS 'MODULE_PATHNAME', 'pe_sql_create_series' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.create_series(text, text, text, text, text, timestamptz, interval, integer, double precision, double precision, double precision, double precision, text, interval, integer, boolean, integer, text, name, text, integer, integer) IS
    'the same for one attribute by its name and one aggregate, or several as array literals';

CREATE FUNCTION dp.quote_series(dataset text, attributes text[], workload text DEFAULT NULL, over text DEFAULT 'totals',
        start timestamptz DEFAULT NULL, period interval DEFAULT NULL, periods integer DEFAULT NULL,
        epsilon double precision DEFAULT NULL, rho double precision DEFAULT NULL, max_stderr double precision DEFAULT NULL,
        delta double precision DEFAULT NULL, predicate text DEFAULT NULL, grace interval DEFAULT '0', history integer DEFAULT NULL,
        open_ended boolean DEFAULT false, max_periods integer DEFAULT NULL, objective text DEFAULT 'sum', budget name DEFAULT NULL,
        aggregates text[] DEFAULT NULL, rows_per_unit integer DEFAULT NULL, cells_per_unit integer DEFAULT NULL, "rows" double precision DEFAULT 1000,
        OUT rho_charged double precision, OUT epsilon_charged double precision, OUT at_delta double precision,
        OUT stderr_first double precision, OUT stderr_last double precision, OUT stderr_worst double precision,
        OUT added_last double precision, OUT split_last double precision, OUT strategy text,
        OUT first_due timestamptz, OUT last_due timestamptz, OUT fits boolean, OUT epsilon_left_after double precision, OUT aggregate text, OUT at_rows double precision)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'pe_sql_quote_series' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.quote_series(text, text[], text, text, timestamptz, interval, integer, double precision, double precision, double precision, double precision, text, interval, integer, boolean, integer, text, name, text[], integer, integer, double precision) IS
    'what dp.create_series with the same arguments would charge, and the largest standard errors of the first, the last and the worst report; added_last, split_last: of the last report, if each period were counted by itself and added up, or if each report were asked anew on its part of the budget; of aggregates a row for each, where errors that depend on the rows are told for at_rows rows in each group of a report; reads no row, charges nothing';

CREATE FUNCTION dp.quote_series(dataset text, attributes text, workload text DEFAULT NULL, over text DEFAULT 'totals',
        start timestamptz DEFAULT NULL, period interval DEFAULT NULL, periods integer DEFAULT NULL,
        epsilon double precision DEFAULT NULL, rho double precision DEFAULT NULL, max_stderr double precision DEFAULT NULL,
        delta double precision DEFAULT NULL, predicate text DEFAULT NULL, grace interval DEFAULT '0', history integer DEFAULT NULL,
        open_ended boolean DEFAULT false, max_periods integer DEFAULT NULL, objective text DEFAULT 'sum', budget name DEFAULT NULL,
        aggregates text DEFAULT NULL, rows_per_unit integer DEFAULT NULL, cells_per_unit integer DEFAULT NULL, "rows" double precision DEFAULT 1000,
        OUT rho_charged double precision, OUT epsilon_charged double precision, OUT at_delta double precision,
        OUT stderr_first double precision, OUT stderr_last double precision, OUT stderr_worst double precision,
        OUT added_last double precision, OUT split_last double precision, OUT strategy text,
        OUT first_due timestamptz, OUT last_due timestamptz, OUT fits boolean, OUT epsilon_left_after double precision, OUT aggregate text, OUT at_rows double precision)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'pe_sql_quote_series' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.quote_series(text, text, text, text, timestamptz, interval, integer, double precision, double precision, double precision, double precision, text, interval, integer, boolean, integer, text, name, text, integer, integer, double precision) IS
    'the same for one attribute by its name and one aggregate, or several as array literals';

CREATE FUNCTION dp.report(series text, period integer DEFAULT NULL)
    RETURNS TABLE (report integer, starts timestamptz, ends timestamptz, over text, query integer, label jsonb, aggregate text,
                   estimate double precision, stderr double precision, lower95 double precision, upper95 double precision)
    AS 'MODULE_PATHNAME', 'pe_sql_report' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.report(text, integer) IS
    'the report of a period of a series, from 1, or of all that are due; measures what is due and not stored yet, in order, and stores it; free, and the same numbers each time';

CREATE FUNCTION dp.publish_series(series text, target text) RETURNS bigint
    AS 'MODULE_PATHNAME', 'pe_sql_publish_series' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.publish_series(text, text) IS
    'adds the reports of a series that are due, and not there yet, to an ordinary table of yours, which it makes; measures what is not stored, as dp.report does; free; returns the number of rows that were added';

CREATE FUNCTION dp.prolong_series(series text, periods integer)
    RETURNS TABLE (series_name text, rho_charged double precision, next_due timestamptz, last_due timestamptz)
    AS 'MODULE_PATHNAME', 'pe_sql_prolong_series' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.prolong_series(text, integer) IS
    'lets an open-ended series have so many periods, more than before; the budget that paid for it, and the cap, pay the difference of what all periods lose then and before; the noise stays';

CREATE FUNCTION dp.end_series(series text) RETURNS void
    AS 'MODULE_PATHNAME', 'pe_sql_end_series' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.end_series(text) IS
    'ends a series on a dataset of yours: no more periods are measured, what is stored is still returned';

CREATE FUNCTION dp.aggregate(dataset text, aggregates text[], "by" text[] DEFAULT '{}', predicate text DEFAULT NULL,
        workload text DEFAULT NULL, rows_per_unit integer DEFAULT NULL, cells_per_unit integer DEFAULT NULL,
        epsilon double precision DEFAULT NULL, rho double precision DEFAULT NULL, max_stderr double precision DEFAULT NULL,
        delta double precision DEFAULT NULL, fresh boolean DEFAULT false, reuse boolean DEFAULT false, budget name DEFAULT NULL)
    RETURNS TABLE (label jsonb, aggregate text, estimate double precision, stderr double precision, lower95 double precision, upper95 double precision, release bigint)
    AS 'MODULE_PATHNAME', 'pe_sql_aggregate' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.aggregate(text, text[], text[], text, text, integer, integer, double precision, double precision, double precision, double precision, boolean, boolean, name) IS
    'private aggregates of groups in one request, for one charge: count(*), count(x), count(distinct unit), count(distinct x), which is how many declared values of x occur, sum(x), avg(x), formulas in these such as sum(price * (1 - discount)), median(x), quantile(x, fraction), share, ratio(a, b), dropped(n), and statistics such as stddev(x), corr(y, x) and regr_slope(y, x), each with where (predicate) and as name; dropped(n): rows that the cut to rows_per_unit left out, at most n of each unit, of all groups together; by: the attributes of the groups, or classes of their cells, day CELLS (0-30; 31-58); workload: other groups of them; cells_per_unit: in how many groups a unit is counted at most, NULL: as many as rows count; max_stderr: of the first aggregate, a count or a sum; reuse: a paid release of the same rows, also of finer groups, from which all of them follow as precisely is answered from, free, with its time as a notice';

CREATE FUNCTION dp.aggregate(dataset text, aggregates text, "by" text DEFAULT '{}', predicate text DEFAULT NULL,
        workload text DEFAULT NULL, rows_per_unit integer DEFAULT NULL, cells_per_unit integer DEFAULT NULL,
        epsilon double precision DEFAULT NULL, rho double precision DEFAULT NULL, max_stderr double precision DEFAULT NULL,
        delta double precision DEFAULT NULL, fresh boolean DEFAULT false, reuse boolean DEFAULT false, budget name DEFAULT NULL)
    RETURNS TABLE (label jsonb, aggregate text, estimate double precision, stderr double precision, lower95 double precision, upper95 double precision, release bigint)
    AS 'MODULE_PATHNAME', 'pe_sql_aggregate' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.aggregate(text, text, text, text, text, integer, integer, double precision, double precision, double precision, double precision, boolean, boolean, name) IS
    'the same for one aggregate, by one attribute, or several of them as array literals';

CREATE FUNCTION dp.quote_aggregate(dataset text, aggregates text[], "by" text[] DEFAULT '{}', predicate text DEFAULT NULL,
        workload text DEFAULT NULL, rows_per_unit integer DEFAULT NULL, cells_per_unit integer DEFAULT NULL,
        epsilon double precision DEFAULT NULL, rho double precision DEFAULT NULL, max_stderr double precision DEFAULT NULL,
        delta double precision DEFAULT NULL, fresh boolean DEFAULT false, reuse boolean DEFAULT false, budget name DEFAULT NULL, "rows" double precision DEFAULT 1000)
    RETURNS TABLE (aggregate text, stderr double precision, at_rows double precision, rho double precision, epsilon double precision,
        groups integer, fits boolean, epsilon_left_after double precision, replay boolean)
    AS 'MODULE_PATHNAME', 'pe_sql_quote_aggregate' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 4;
COMMENT ON FUNCTION dp.quote_aggregate(text, text[], text[], text, text, integer, integer, double precision, double precision, double precision, double precision, boolean, boolean, name, double precision) IS
    'what dp.aggregate with the same arguments costs, and the largest standard error of each aggregate; those that depend on the rows are told for at_rows rows in each group, numbers spread over their bounds; replay: it is answered free; reads no data, charges nothing';

CREATE FUNCTION dp.quote_aggregate(dataset text, aggregates text, "by" text DEFAULT '{}', predicate text DEFAULT NULL,
        workload text DEFAULT NULL, rows_per_unit integer DEFAULT NULL, cells_per_unit integer DEFAULT NULL,
        epsilon double precision DEFAULT NULL, rho double precision DEFAULT NULL, max_stderr double precision DEFAULT NULL,
        delta double precision DEFAULT NULL, fresh boolean DEFAULT false, reuse boolean DEFAULT false, budget name DEFAULT NULL, "rows" double precision DEFAULT 1000)
    RETURNS TABLE (aggregate text, stderr double precision, at_rows double precision, rho double precision, epsilon double precision,
        groups integer, fits boolean, epsilon_left_after double precision, replay boolean)
    AS 'MODULE_PATHNAME', 'pe_sql_quote_aggregate' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 4;
COMMENT ON FUNCTION dp.quote_aggregate(text, text, text, text, text, integer, integer, double precision, double precision, double precision, double precision, boolean, boolean, name, double precision) IS
    'the same for one aggregate, by one attribute, or several of them as array literals';

CREATE FUNCTION dp.table_one(dataset text, "by" text, attributes text[], epsilon double precision DEFAULT NULL,
        rho double precision DEFAULT NULL, max_stderr double precision DEFAULT NULL, delta double precision DEFAULT NULL,
        predicate text DEFAULT NULL, rows_per_unit integer DEFAULT NULL, fresh boolean DEFAULT false, budget name DEFAULT NULL)
    RETURNS TABLE (attribute text, level text, overall text, "groups" jsonb, smd double precision, p_value double precision, release bigint)
    AS 'MODULE_PATHNAME', 'pe_sql_table_one' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 50;
COMMENT ON FUNCTION dp.table_one(text, text, text[], double precision, double precision, double precision, double precision, text, integer, boolean, name) IS
    'the first table of a study, ready to print, in one request, for one charge: of each attribute n and percent of each level, or mean and standard deviation, median and quartiles of a number with bins, and what is missing, overall and in each group of by, with the largest standardised mean difference between two groups and a p-value; by NULL: overall alone; a dash is a number that the noise drowns; max_stderr: of the number of rows in a group';

CREATE FUNCTION dp.table_one(release bigint, "by" text DEFAULT NULL, attributes text[] DEFAULT NULL)
    RETURNS TABLE (attribute text, level text, overall text, "groups" jsonb, smd double precision, p_value double precision, release bigint)
    AS 'MODULE_PATHNAME', 'pe_sql_table_one_of_release' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 50;
COMMENT ON FUNCTION dp.table_one(bigint, text, text[]) IS
    'the same from a paid release, free: all of one of dp.table_one, and of others what they hold: levels, quartiles and what is missing from counts of by and an attribute, means and deviations from averages and variances by it; attributes: some of them, in any order, NULL: all; by NULL: all rows together, of dp.table_one its own groups';

CREATE FUNCTION dp.quote_table_one(dataset text, "by" text, attributes text[], epsilon double precision DEFAULT NULL,
        rho double precision DEFAULT NULL, max_stderr double precision DEFAULT NULL, delta double precision DEFAULT NULL,
        predicate text DEFAULT NULL, rows_per_unit integer DEFAULT NULL, fresh boolean DEFAULT false, budget name DEFAULT NULL,
        "rows" double precision DEFAULT 1000)
    RETURNS TABLE (aggregate text, stderr double precision, at_rows double precision, rho double precision, epsilon double precision,
        "groups" integer, fits boolean, epsilon_left_after double precision, replay boolean)
    AS 'MODULE_PATHNAME', 'pe_sql_quote_table_one' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 20;
COMMENT ON FUNCTION dp.quote_table_one(text, text, text[], double precision, double precision, double precision, double precision, text, integer, boolean, name, double precision) IS
    'what dp.table_one with the same arguments costs, and the largest standard error of each aggregate that it measures in a group; levels(x): of the count of a level; those that depend on the rows are of at_rows rows in each group; reads no data, charges nothing';

CREATE FUNCTION dp.advise(dataset text, aggregates text[], "by" text[] DEFAULT '{}', predicate text DEFAULT NULL,
        guess double precision DEFAULT 1000, budget name DEFAULT NULL)
    RETURNS TABLE (question text, relative_error double precision, epsilon double precision, rho double precision, fits boolean, hint text)
    AS 'MODULE_PATHNAME', 'pe_sql_advise' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 10;
COMMENT ON FUNCTION dp.advise(text, text[], text[], text, double precision, name) IS
    'what dp.aggregate would cost for standard errors of 1, 5 and 10 % of each aggregate, alone and together, where each group has guess rows and numbers are spread over their bounds; and of counts, which workload of dp.measure costs least for the same error; fits: your budget has it, NULL: there is none; reads no data, charges nothing';

CREATE FUNCTION dp.advise(dataset text, aggregates text, "by" text DEFAULT '{}', predicate text DEFAULT NULL,
        guess double precision DEFAULT 1000, budget name DEFAULT NULL)
    RETURNS TABLE (question text, relative_error double precision, epsilon double precision, rho double precision, fits boolean, hint text)
    AS 'MODULE_PATHNAME', 'pe_sql_advise' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 10;
COMMENT ON FUNCTION dp.advise(text, text, text, text, double precision, name) IS
    'the same for one aggregate, by one attribute, or several of them as array literals';

CREATE FUNCTION dp.quote(dataset text, attributes text[], workload text DEFAULT 'identity',
        epsilon double precision DEFAULT NULL, rho double precision DEFAULT NULL, max_stderr double precision DEFAULT NULL,
        delta double precision DEFAULT NULL, predicate text DEFAULT NULL, method text DEFAULT 'optimal',
        nonnegative boolean DEFAULT false, fresh boolean DEFAULT false, budget name DEFAULT NULL,
        rows_per_unit integer DEFAULT NULL)
    RETURNS TABLE (rho double precision, epsilon double precision, delta double precision, max_stderr double precision,
        rms_stderr double precision, queries integer, cells numeric, method text, objective double precision,
        lower_bound double precision, gap double precision, fits boolean, epsilon_left_after double precision, replay boolean, accounting text, plan text,
        known_release bigint, known_stderr double precision)
    AS 'MODULE_PATHNAME', 'pe_sql_quote' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.quote(text, text[], text, double precision, double precision, double precision, double precision, text, text, boolean, boolean, name, integer) IS
    'what dp.histogram with the same arguments would cost and how far off its answers would be; reads no data, charges nothing; known_release: of the paid releases that you may replay, the one that answers all of it best, with a largest standard error of known_stderr; reuse => true answers from one that is precise enough';

CREATE FUNCTION dp.quote(dataset text, attributes text, workload text DEFAULT 'identity',
        epsilon double precision DEFAULT NULL, rho double precision DEFAULT NULL, max_stderr double precision DEFAULT NULL,
        delta double precision DEFAULT NULL, predicate text DEFAULT NULL, method text DEFAULT 'optimal',
        nonnegative boolean DEFAULT false, fresh boolean DEFAULT false, budget name DEFAULT NULL,
        rows_per_unit integer DEFAULT NULL)
    RETURNS TABLE (rho double precision, epsilon double precision, delta double precision, max_stderr double precision,
        rms_stderr double precision, queries integer, cells numeric, method text, objective double precision,
        lower_bound double precision, gap double precision, fits boolean, epsilon_left_after double precision, replay boolean, accounting text, plan text,
        known_release bigint, known_stderr double precision)
    AS 'MODULE_PATHNAME', 'pe_sql_quote' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.quote(text, text, text, double precision, double precision, double precision, double precision, text, text, boolean, boolean, name, integer) IS
    'the same for one attribute by its name, or several as an array literal';

CREATE FUNCTION dp.quote_queries(dataset text, attributes text[], workload text DEFAULT 'identity',
        epsilon double precision DEFAULT NULL, rho double precision DEFAULT NULL, max_stderr double precision DEFAULT NULL,
        delta double precision DEFAULT NULL, predicate text DEFAULT NULL, method text DEFAULT 'optimal',
        nonnegative boolean DEFAULT false, fresh boolean DEFAULT false, budget name DEFAULT NULL,
        rows_per_unit integer DEFAULT NULL)
    RETURNS TABLE (query integer, label jsonb, stderr double precision)
    AS 'MODULE_PATHNAME', 'pe_sql_quote_queries' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.quote_queries(text, text[], text, double precision, double precision, double precision, double precision, text, text, boolean, boolean, name, integer) IS
    'the queries that dp.histogram with the same arguments would answer, each with its standard error; reads no data, charges nothing';

CREATE FUNCTION dp.quote_queries(dataset text, attributes text, workload text DEFAULT 'identity',
        epsilon double precision DEFAULT NULL, rho double precision DEFAULT NULL, max_stderr double precision DEFAULT NULL,
        delta double precision DEFAULT NULL, predicate text DEFAULT NULL, method text DEFAULT 'optimal',
        nonnegative boolean DEFAULT false, fresh boolean DEFAULT false, budget name DEFAULT NULL,
        rows_per_unit integer DEFAULT NULL)
    RETURNS TABLE (query integer, label jsonb, stderr double precision)
    AS 'MODULE_PATHNAME', 'pe_sql_quote_queries' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.quote_queries(text, text, text, double precision, double precision, double precision, double precision, text, text, boolean, boolean, name, integer) IS
    'the same for one attribute by its name, or several as an array literal';

CREATE FUNCTION dp.answer(release bigint, workload text)
        RETURNS TABLE (query integer, label jsonb, estimate double precision, stderr double precision, lower95 double precision, upper95 double precision)
    AS 'MODULE_PATHNAME', 'pe_sql_answer' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.answer(bigint, text) IS
    'answers another workload from a paid release of counts, or from the count(*) of paid aggregates, free: everything that its measurements determine';

CREATE FUNCTION dp.cells(release bigint)
    RETURNS TABLE (cell integer, label jsonb, estimate double precision, stderr double precision, lower95 double precision, upper95 double precision)
    AS 'MODULE_PATHNAME', 'pe_sql_cells' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.cells(bigint) IS
    'the estimate for every cell of a paid release, free; only for those who may replay it, and the owner';

CREATE FUNCTION dp.quantile(release bigint, attribute text, fractions double precision[], by text[] DEFAULT '{}')
    RETURNS TABLE (label jsonb, fraction double precision, estimate double precision, lower95 double precision, upper95 double precision)
    AS 'MODULE_PATHNAME', 'pe_sql_quantile' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.quantile(bigint, text, double precision[], text[]) IS
    'medians and percentiles of a numeric attribute from a paid release, free, each with an interval that holds it, of the rows that count, with a probability of at least 95 %; NULL where the number of rows is within three standard errors of 0, with an interval still; by: for each cell of these attributes';

CREATE FUNCTION dp.quantile(release bigint, attribute text, fractions double precision[], by text)
    RETURNS TABLE (label jsonb, fraction double precision, estimate double precision, lower95 double precision, upper95 double precision)
    AS 'MODULE_PATHNAME', 'pe_sql_quantile' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.quantile(bigint, text, double precision[], text) IS
    'the same by one attribute, or several as an array literal';

CREATE FUNCTION dp.quantile_text(release bigint, attribute text, fractions double precision[], by text[] DEFAULT '{}')
    RETURNS TABLE (label jsonb, fraction double precision, estimate text, lower95 text, upper95 text)
    AS 'MODULE_PATHNAME', 'pe_sql_quantile_text' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.quantile_text(bigint, text, double precision[], text[]) IS
    'the same of any ordered attribute, as text of its own type: dates, timestamps, levels';

CREATE FUNCTION dp.quantile_text(release bigint, attribute text, fractions double precision[], by text)
    RETURNS TABLE (label jsonb, fraction double precision, estimate text, lower95 text, upper95 text)
    AS 'MODULE_PATHNAME', 'pe_sql_quantile_text' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.quantile_text(bigint, text, double precision[], text) IS
    'the same by one attribute, or several as an array literal';

CREATE FUNCTION dp.combine(releases bigint[], workload text)
        RETURNS TABLE (query integer, label jsonb, estimate double precision, stderr double precision, lower95 double precision, upper95 double precision)
    AS 'MODULE_PATHNAME', 'pe_sql_combine' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.combine(bigint[], text) IS
    'answers a workload from several paid releases of the same rows together, free: generalised least squares, more precise than each of them; a workload without names is over the attributes of all, in the order of their first mention';

CREATE FUNCTION dp.hypothesis_test(release bigint, kind text, attributes text[], options jsonb DEFAULT NULL)
    RETURNS TABLE (statistic double precision, df double precision, p_value double precision, estimate double precision, lower95 double precision, upper95 double precision)
    AS 'MODULE_PATHNAME', 'pe_sql_hypothesis_test' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.hypothesis_test(bigint, text, text[], jsonb) IS
    'tests a hypothesis from a paid release, free; kind: chi2 (independence of two attributes), trend (of two ordered ones; option scores), proportions (outcome, group: two levels each), means (number, group: from averages and variances), goodness (one attribute; option probabilities); p_value: by parametric bootstrap with the exact law of the noise, option replicates (9999), the same each time; estimate: Cramer''s V, correlation, difference of proportions or of means, Cohen''s w, with an interval for sampling and noise together where there is one';

CREATE FUNCTION dp.hypothesis_test(release bigint, kind text, attributes text, options jsonb DEFAULT NULL)
    RETURNS TABLE (statistic double precision, df double precision, p_value double precision, estimate double precision, lower95 double precision, upper95 double precision)
    AS 'MODULE_PATHNAME', 'pe_sql_hypothesis_test' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.hypothesis_test(bigint, text, text, jsonb) IS
    'the same of one attribute by its name, or several as an array literal';

CREATE FUNCTION dp.contrast(release bigint, query_a text, query_b text, kind text DEFAULT 'difference')
    RETURNS TABLE (estimate double precision, stderr double precision, lower95 double precision, upper95 double precision, estimate_a double precision, estimate_b double precision)
    AS 'MODULE_PATHNAME', 'pe_sql_contrast' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.contrast(bigint, text, text, text) IS
    'compares two queries of one paid release, free: a minus b, or with kind => ''ratio'' a / b; a query is count(*), sum(x), avg(x) or share with WHERE (condition), or a condition alone, which counts rows; stderr and the 95% interval are of the noise of both together, by their exact covariance, and not of sampling; NULL where the release says nothing; averages, and what is made of them, are between the bounds of their number';
CREATE FUNCTION dp.survival(dataset text, "time" text, event text, by text[] DEFAULT '{}',
        epsilon double precision DEFAULT NULL, rho double precision DEFAULT NULL, max_stderr double precision DEFAULT NULL,
        delta double precision DEFAULT NULL, predicate text DEFAULT NULL, event_level text DEFAULT NULL,
        fresh boolean DEFAULT false, budget name DEFAULT NULL, rows_per_unit integer DEFAULT NULL)
    RETURNS TABLE (label jsonb, at double precision, at_risk double precision, survival double precision, stderr double precision, lower95 double precision, upper95 double precision, release bigint)
    AS 'MODULE_PATHNAME', 'pe_sql_survival' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.survival(text, text, text, text[], double precision, double precision, double precision, double precision, text, text, boolean, name, integer) IS
    'survival curves by group: measures and charges what dp.histogram of time, event and by with workload prefix(time) * identity(event) * identity(by) would, and makes curves of these counts; time: an attribute with bins, since each unit''s start; event: one of two levels, true or the larger number is that it happened, event_level names another; give exactly one of epsilon, rho and max_stderr, of the counts; columns: at, an edge of the time''s bins; at_risk, how many had neither event nor end before it; survival, the part without the event up to it, by product limit, where those whose time ends inside of a bin count half in it; stderr, lower95 and upper95, by the choice of the rows and by the noise; where too few are at risk for the noise stderr is NULL and the interval all that is possible; the same request again is answered free; dp.quote with these attributes and this workload is its quote';

CREATE FUNCTION dp.survival(dataset text, "time" text, event text, by text,
        epsilon double precision DEFAULT NULL, rho double precision DEFAULT NULL, max_stderr double precision DEFAULT NULL,
        delta double precision DEFAULT NULL, predicate text DEFAULT NULL, event_level text DEFAULT NULL,
        fresh boolean DEFAULT false, budget name DEFAULT NULL, rows_per_unit integer DEFAULT NULL)
    RETURNS TABLE (label jsonb, at double precision, at_risk double precision, survival double precision, stderr double precision, lower95 double precision, upper95 double precision, release bigint)
    AS 'MODULE_PATHNAME', 'pe_sql_survival' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.survival(text, text, text, text, double precision, double precision, double precision, double precision, text, text, boolean, name, integer) IS
    'the same by one attribute, or several as an array literal';

CREATE FUNCTION dp.survival(release bigint, "time" text, event text, by text[] DEFAULT '{}', event_level text DEFAULT NULL)
    RETURNS TABLE (label jsonb, at double precision, at_risk double precision, survival double precision, stderr double precision, lower95 double precision, upper95 double precision, release bigint)
    AS 'MODULE_PATHNAME', 'pe_sql_survival_of_release' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.survival(bigint, text, text, text[], text) IS
    'survival curves from a paid release that determines the counts of time, event and by, free; as of dp.survival of a dataset';

CREATE FUNCTION dp.survival(release bigint, "time" text, event text, by text, event_level text DEFAULT NULL)
    RETURNS TABLE (label jsonb, at double precision, at_risk double precision, survival double precision, stderr double precision, lower95 double precision, upper95 double precision, release bigint)
    AS 'MODULE_PATHNAME', 'pe_sql_survival_of_release' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.survival(bigint, text, text, text, text) IS
    'the same by one attribute, or several as an array literal';

CREATE FUNCTION dp.survival_summary(release bigint, "time" text, event text, by text[] DEFAULT '{}', event_level text DEFAULT NULL, until double precision DEFAULT NULL)
    RETURNS TABLE (label jsonb, figure text, estimate double precision, stderr double precision, lower95 double precision, upper95 double precision, until double precision)
    AS 'MODULE_PATHNAME', 'pe_sql_survival_summary' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.survival_summary(bigint, text, text, text[], text, double precision) IS
    'of each survival curve of a paid release, free, two rows, named by figure: median, the time at which half survive, inside of a bin on a straight line, NULL where it is not reached, with ends that are edges; restricted mean, of the time up to until, NULL: the last edge of the curve; intervals by the choice of the rows and by the noise';

CREATE FUNCTION dp.survival_summary(release bigint, "time" text, event text, by text, event_level text DEFAULT NULL, until double precision DEFAULT NULL)
    RETURNS TABLE (label jsonb, figure text, estimate double precision, stderr double precision, lower95 double precision, upper95 double precision, until double precision)
    AS 'MODULE_PATHNAME', 'pe_sql_survival_summary' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.survival_summary(bigint, text, text, text, text, double precision) IS
    'the same by one attribute, or several as an array literal';

CREATE FUNCTION dp.compare_survival(release bigint, "time" text, event text, by text[] DEFAULT '{}', event_level text DEFAULT NULL)
    RETURNS TABLE (statistic double precision, df integer, p_value double precision, until double precision)
    AS 'MODULE_PATHNAME', 'pe_sql_compare_survival' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.compare_survival(bigint, text, text, text[], text) IS
    'the log-rank test that the survival curves of all groups of by are one, from a paid release, free; groups that may have no rows are not compared; its variance is that of the choice of the rows and that of the noise; until: the last edge that is compared, after which too few are at risk for the noise; NULL where nothing can be compared';

CREATE FUNCTION dp.compare_survival(release bigint, "time" text, event text, by text, event_level text DEFAULT NULL)
    RETURNS TABLE (statistic double precision, df integer, p_value double precision, until double precision)
    AS 'MODULE_PATHNAME', 'pe_sql_compare_survival' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.compare_survival(bigint, text, text, text, text) IS
    'the same by one attribute, or several as an array literal';

CREATE FUNCTION dp.publish(release bigint, target text, replace boolean DEFAULT false, workload text DEFAULT NULL, names text[] DEFAULT NULL) RETURNS bigint
    AS 'MODULE_PATHNAME', 'pe_sql_publish' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.publish(bigint, text, boolean, text, text[]) IS
    'makes a paid release an ordinary table of yours, free: a row per count with estimate, stderr and 95% interval, or a row per group with these for each aggregate; replace: one that this function made; workload: the part of it to publish, NULL: what was asked for; names: of the columns of aggregates; returns the number of rows';

CREATE FUNCTION dp.synthesize(dataset text, attributes text[], target text,
        epsilon double precision DEFAULT NULL, rho double precision DEFAULT NULL, delta double precision DEFAULT NULL,
        rows bigint DEFAULT NULL, predicate text DEFAULT NULL, method text DEFAULT 'tree', options jsonb DEFAULT NULL,
        fresh boolean DEFAULT false, budget name DEFAULT NULL, replace boolean DEFAULT false,
        unit boolean DEFAULT false, rows_per_unit integer DEFAULT NULL)
    RETURNS TABLE (target text, rows bigint, release bigint, edges jsonb)
    AS 'MODULE_PATHNAME', 'pe_sql_synthesize' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 1;
COMMENT ON FUNCTION dp.synthesize(text, text[], text, double precision, double precision, double precision, bigint, text, text, jsonb, boolean, name, boolean, boolean, integer) IS
    'measures tables of attributes and of a tree of pairs, which it chooses (method tree), or of all pairs (full: at most 1048576 cells of all attributes together), for one charge, and draws synthetic rows from them into an ordinary table of yours; give epsilon or rho; rows: NULL for the noisy number of rows; options of a tree: shares of the cost, edges that are given, root; unit: a column of synthetic units too, whose numbers of rows are rows_per_unit, NULL: what dp.rows_per_unit has measured; the same request again makes the same table, free; nothing computed from the rows has a known error';

CREATE FUNCTION dp.synthesize(dataset text, attributes text, target text,
        epsilon double precision DEFAULT NULL, rho double precision DEFAULT NULL, delta double precision DEFAULT NULL,
        rows bigint DEFAULT NULL, predicate text DEFAULT NULL, method text DEFAULT 'tree', options jsonb DEFAULT NULL,
        fresh boolean DEFAULT false, budget name DEFAULT NULL, replace boolean DEFAULT false,
        unit boolean DEFAULT false, rows_per_unit integer DEFAULT NULL)
    RETURNS TABLE (target text, rows bigint, release bigint, edges jsonb)
    AS 'MODULE_PATHNAME', 'pe_sql_synthesize' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 1;
COMMENT ON FUNCTION dp.synthesize(text, text, text, double precision, double precision, double precision, bigint, text, text, jsonb, boolean, name, boolean, boolean, integer) IS
    'the same for one attribute by its name, or several as an array literal';

CREATE FUNCTION dp.synthesize(release bigint, target text, rows bigint DEFAULT NULL, replace boolean DEFAULT false,
        unit boolean DEFAULT false, rows_per_unit integer DEFAULT NULL)
    RETURNS TABLE (target text, rows bigint, release bigint, edges jsonb)
    AS 'MODULE_PATHNAME', 'pe_sql_synthesize_release' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 1;
COMMENT ON FUNCTION dp.synthesize(bigint, text, bigint, boolean, boolean, integer) IS
    'draws synthetic rows from the tables of a paid release, free, into an ordinary table of yours; rows: NULL for as many as the release has; replace: a table that this function made; unit, rows_per_unit: a column of synthetic units; the same release gives the same rows; nothing computed from them has a known error: dp.answer has it';

CREATE FUNCTION dp.quote_synthetic(dataset text, attributes text[],
        epsilon double precision DEFAULT NULL, rho double precision DEFAULT NULL, delta double precision DEFAULT NULL,
        predicate text DEFAULT NULL, method text DEFAULT 'tree', options jsonb DEFAULT NULL, budget name DEFAULT NULL,
        example regclass DEFAULT NULL)
    RETURNS TABLE (rho double precision, epsilon double precision, delta double precision, table_stderr double precision,
        pair_stderr double precision, cells bigint, fits boolean, epsilon_left_after double precision, replay boolean, accounting text, total_variation double precision)
    AS 'MODULE_PATHNAME', 'pe_sql_quote_synthetic' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 1;
COMMENT ON FUNCTION dp.quote_synthetic(text, text[], double precision, double precision, double precision, text, text, jsonb, name, regclass) IS
    'what dp.synthesize would cost, and the noise of its tables: table_stderr of a count of one attribute, pair_stderr of a count of two, which a class of cells that noise drowns has as a whole; cells: of the tables that are read; example: public rows with the same columns, total_variation: how far the tables of two attributes are off in the mean of ten synthetic tables made from it, 0 to 1; reads no row of the dataset and charges nothing';

CREATE FUNCTION dp.quote_synthetic(dataset text, attributes text,
        epsilon double precision DEFAULT NULL, rho double precision DEFAULT NULL, delta double precision DEFAULT NULL,
        predicate text DEFAULT NULL, method text DEFAULT 'tree', options jsonb DEFAULT NULL, budget name DEFAULT NULL,
        example regclass DEFAULT NULL)
    RETURNS TABLE (rho double precision, epsilon double precision, delta double precision, table_stderr double precision,
        pair_stderr double precision, cells bigint, fits boolean, epsilon_left_after double precision, replay boolean, accounting text, total_variation double precision)
    AS 'MODULE_PATHNAME', 'pe_sql_quote_synthetic' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 1;
COMMENT ON FUNCTION dp.quote_synthetic(text, text, double precision, double precision, double precision, text, text, jsonb, name, regclass) IS
    'the same for one attribute by its name, or several as an array literal';

CREATE FUNCTION dp.fit(dataset text, kind text, label text, features text[], method text DEFAULT 'auto',
        epsilon double precision DEFAULT NULL, rho double precision DEFAULT NULL, delta double precision DEFAULT NULL,
        predicate text DEFAULT NULL, options jsonb DEFAULT NULL, model text DEFAULT NULL,
        fresh boolean DEFAULT false, budget name DEFAULT NULL, rows_per_unit integer DEFAULT NULL)
    RETURNS TABLE (term text, coefficient double precision, stderr double precision, model text, release bigint, positive text)
    AS 'MODULE_PATHNAME', 'pe_sql_fit' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.fit(text, text, text, text[], text, double precision, double precision, double precision, text, jsonb, text, boolean, name, integer) IS
    'fits a private model of a label by declared attributes; kind: logistic_regression, svm or linear_regression; give epsilon or rho; model: the name it is stored by; coefficients are on the scale of the values; stderr: the standard deviation of a coefficient by the noise alone, not by the choice of the rows, for methods newton and one_pass, else NULL; for an svm by newton NULL; positive: the class that coefficients above 0 make more likely, the last cell of the label; the same request again is answered free';

CREATE FUNCTION dp.fit(dataset text, kind text, label text, features text, method text DEFAULT 'auto',
        epsilon double precision DEFAULT NULL, rho double precision DEFAULT NULL, delta double precision DEFAULT NULL,
        predicate text DEFAULT NULL, options jsonb DEFAULT NULL, model text DEFAULT NULL,
        fresh boolean DEFAULT false, budget name DEFAULT NULL, rows_per_unit integer DEFAULT NULL)
    RETURNS TABLE (term text, coefficient double precision, stderr double precision, model text, release bigint, positive text)
    AS 'MODULE_PATHNAME', 'pe_sql_fit' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.fit(text, text, text, text, text, double precision, double precision, double precision, text, jsonb, text, boolean, name, integer) IS
    'the same for one feature by its name, or several as an array literal';

CREATE FUNCTION dp.quote_fit(dataset text, kind text, label text, features text[], method text DEFAULT 'auto',
        epsilon double precision DEFAULT NULL, rho double precision DEFAULT NULL, delta double precision DEFAULT NULL,
        predicate text DEFAULT NULL, options jsonb DEFAULT NULL, model text DEFAULT NULL,
        fresh boolean DEFAULT false, budget name DEFAULT NULL, rows_per_unit integer DEFAULT NULL)
    RETURNS TABLE (rho double precision, epsilon double precision, delta double precision, method text, fits boolean,
        epsilon_left_after double precision, replay boolean, accounting text)
    AS 'MODULE_PATHNAME', 'pe_sql_quote_fit' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 1;
COMMENT ON FUNCTION dp.quote_fit(text, text, text, text[], text, double precision, double precision, double precision, text, jsonb, text, boolean, name, integer) IS
    'what dp.fit with the same arguments would cost; reads no data, charges nothing';

CREATE FUNCTION dp.quote_fit(dataset text, kind text, label text, features text, method text DEFAULT 'auto',
        epsilon double precision DEFAULT NULL, rho double precision DEFAULT NULL, delta double precision DEFAULT NULL,
        predicate text DEFAULT NULL, options jsonb DEFAULT NULL, model text DEFAULT NULL,
        fresh boolean DEFAULT false, budget name DEFAULT NULL, rows_per_unit integer DEFAULT NULL)
    RETURNS TABLE (rho double precision, epsilon double precision, delta double precision, method text, fits boolean,
        epsilon_left_after double precision, replay boolean, accounting text)
    AS 'MODULE_PATHNAME', 'pe_sql_quote_fit' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 1;
COMMENT ON FUNCTION dp.quote_fit(text, text, text, text, text, double precision, double precision, double precision, text, jsonb, text, boolean, name, integer) IS
    'the same for one feature by its name, or several as an array literal';

CREATE FUNCTION dp.keys(dataset text, "column" name, epsilon double precision DEFAULT NULL, rho double precision DEFAULT NULL,
        delta double precision DEFAULT NULL, rows_per_unit integer DEFAULT NULL, fresh boolean DEFAULT false, budget name DEFAULT NULL,
        predicate text DEFAULT NULL)
    RETURNS TABLE (key text, estimate double precision, stderr double precision, lower95 double precision, upper95 double precision, release bigint)
    AS 'MODULE_PATHNAME', 'pe_sql_keys' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.keys(text, name, double precision, double precision, double precision, integer, boolean, name, text) IS
    'the values of an open column that enough units have, and how many units have each, with noise; give epsilon or rho; delta: the probability that a value of a single unit is among them, which is charged, NULL: a small part of what the budget keeps for charges; rows_per_unit: how many keys of a unit count, each once, NULL: max_rows; predicate: which rows count; the same request again is answered free';

CREATE FUNCTION dp.bounds(dataset text, "column" name, epsilon double precision DEFAULT NULL, rho double precision DEFAULT NULL,
        delta double precision DEFAULT NULL, budget name DEFAULT NULL, fresh boolean DEFAULT false)
    RETURNS TABLE (lower double precision, upper double precision, release bigint)
    AS 'MODULE_PATHNAME', 'pe_sql_bounds' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 1;
COMMENT ON FUNCTION dp.bounds(text, name, double precision, double precision, double precision, name, boolean) IS
    'powers of two, or minus them, or 0, between which nearly all numbers of an open column lie, from a noisy histogram; NULL: too few rows to tell; give epsilon or rho; the same request again is answered free';

CREATE TYPE dp.model_term AS (term text, coefficient double precision, stderr double precision, model text, release bigint);
COMMENT ON TYPE dp.model_term IS 'a term of a fitted model, stderr as of dp.fit; the aggregates that fit models return an array of them';

CREATE FUNCTION dp_internal.logistic_regression_add(internal, label "any", features double precision[], options jsonb) RETURNS internal
    AS 'MODULE_PATHNAME', 'pe_sql_logistic_regression_add' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp_internal.logistic_regression_add(internal, "any", double precision[], jsonb) IS 'transition function of the aggregate dp.logistic_regression';
CREATE FUNCTION dp_internal.logistic_regression_final(internal) RETURNS dp.model_term[]
    AS 'MODULE_PATHNAME', 'pe_sql_logistic_regression_final' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp_internal.logistic_regression_final(internal) IS 'final function of the aggregate dp.logistic_regression';
CREATE AGGREGATE dp.logistic_regression(label "any", features double precision[], options jsonb) (
    SFUNC = dp_internal.logistic_regression_add, STYPE = internal, SSPACE = 65536,
    FINALFUNC = dp_internal.logistic_regression_final, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE);
COMMENT ON AGGREGATE dp.logistic_regression("any", double precision[], jsonb) IS
    'fits a private model to rows that you may read, the logistic loss of a label of two classes; options is a constant, {"dataset": .., "label": .., "features": [..], "epsilon": ..}; one charge for each group';

CREATE FUNCTION dp_internal.svm_add(internal, label "any", features double precision[], options jsonb) RETURNS internal
    AS 'MODULE_PATHNAME', 'pe_sql_svm_add' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp_internal.svm_add(internal, "any", double precision[], jsonb) IS 'transition function of the aggregate dp.svm';
CREATE FUNCTION dp_internal.svm_final(internal) RETURNS dp.model_term[]
    AS 'MODULE_PATHNAME', 'pe_sql_svm_final' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp_internal.svm_final(internal) IS 'final function of the aggregate dp.svm';
CREATE AGGREGATE dp.svm(label "any", features double precision[], options jsonb) (
    SFUNC = dp_internal.svm_add, STYPE = internal, SSPACE = 65536,
    FINALFUNC = dp_internal.svm_final, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE);
COMMENT ON AGGREGATE dp.svm("any", double precision[], jsonb) IS
    'fits a private model to rows that you may read, the smoothed hinge loss of a label of two classes; options is a constant, {"dataset": .., "label": .., "features": [..], "epsilon": ..}; one charge for each group';

CREATE FUNCTION dp_internal.linear_regression_add(internal, label "any", features double precision[], options jsonb) RETURNS internal
    AS 'MODULE_PATHNAME', 'pe_sql_linear_regression_add' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp_internal.linear_regression_add(internal, "any", double precision[], jsonb) IS 'transition function of the aggregate dp.linear_regression';
CREATE FUNCTION dp_internal.linear_regression_final(internal) RETURNS dp.model_term[]
    AS 'MODULE_PATHNAME', 'pe_sql_linear_regression_final' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp_internal.linear_regression_final(internal) IS 'final function of the aggregate dp.linear_regression';
CREATE AGGREGATE dp.linear_regression(label "any", features double precision[], options jsonb) (
    SFUNC = dp_internal.linear_regression_add, STYPE = internal, SSPACE = 65536,
    FINALFUNC = dp_internal.linear_regression_final, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE);
COMMENT ON AGGREGATE dp.linear_regression("any", double precision[], jsonb) IS
    'fits a private model to rows that you may read, the squared error of a number; options is a constant, {"dataset": .., "label": .., "features": [..], "epsilon": ..}; one charge for each group';

CREATE FUNCTION dp.predict(model text, features jsonb) RETURNS double precision
    AS 'MODULE_PATHNAME', 'pe_sql_predict' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION dp.predict(text, jsonb) IS
    'what a model says of a row, to_jsonb(row) or any object with its features: a probability, a margin (svm) or a value; NULL for a row that its declaration drops';

CREATE FUNCTION dp.predict_row(model text, features double precision[]) RETURNS double precision
    AS 'MODULE_PATHNAME', 'pe_sql_predict_row' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION dp.predict_row(text, double precision[]) IS
    'the same of features in the order of the model, all of them numbers: true is 1, a date the days and a timestamp the microseconds since 2000-01-01';

CREATE FUNCTION dp.odds_ratios(model text)
    RETURNS TABLE (term text, odds_ratio double precision, lower95 double precision, upper95 double precision, reason text)
    AS 'MODULE_PATHNAME', 'pe_sql_odds_ratios' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 10;
COMMENT ON FUNCTION dp.odds_ratios(text) IS
    'odds ratios of a logistic regression, free: of a number for one more, of a level against the first level of its feature; the interval is of the noise and of the sample that the rows are, and NULL, with the reason, where no theory gives it';

CREATE FUNCTION dp.drop_model(model text) RETURNS void
    AS 'MODULE_PATHNAME', 'pe_sql_drop_model' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.drop_model(text) IS
    'forgets a model''s name and coefficients; its charge stays, and so does its release. For the role that gave the name, and the owner of the table';

CREATE FUNCTION dp.minimize_max_affine(dataset text, slopes text[], offsets text, lower double precision[], upper double precision[],
        inequalities double precision[] DEFAULT NULL, method text DEFAULT 'exponential',
        epsilon double precision DEFAULT NULL, rho double precision DEFAULT NULL, delta double precision DEFAULT NULL,
        options jsonb DEFAULT NULL, fresh boolean DEFAULT false, budget name DEFAULT NULL)
    RETURNS TABLE (x double precision[], public_value double precision, release bigint)
    AS 'MODULE_PATHNAME', 'pe_sql_minimize_max_affine' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 1;
COMMENT ON FUNCTION dp.minimize_max_affine(text, text[], text, double precision[], double precision[], double precision[], text, double precision, double precision, double precision, jsonb, boolean, name) IS
    'a private point where the largest of slopes . x + offset over the rows is small: lower <= x <= upper, and rows (g, h) of inequalities mean g . x <= h; public_value: the minimum without offsets; give epsilon or rho; the same request again is answered free';

CREATE FUNCTION dp.quote_minimum(dataset text, slopes text[], offsets text, lower double precision[], upper double precision[],
        inequalities double precision[] DEFAULT NULL, method text DEFAULT 'exponential',
        epsilon double precision DEFAULT NULL, rho double precision DEFAULT NULL, delta double precision DEFAULT NULL,
        options jsonb DEFAULT NULL, fresh boolean DEFAULT false, budget name DEFAULT NULL)
    RETURNS TABLE (rho double precision, epsilon double precision, delta double precision, method text, fits boolean,
        epsilon_left_after double precision, replay boolean, accounting text)
    AS 'MODULE_PATHNAME', 'pe_sql_quote_minimum' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 1;
COMMENT ON FUNCTION dp.quote_minimum(text, text[], text, double precision[], double precision[], double precision[], text, double precision, double precision, double precision, jsonb, boolean, name) IS
    'what dp.minimize_max_affine with the same arguments would cost; reads no data, charges nothing';

CREATE TYPE dp.affine_minimum AS (x double precision[], public_value double precision, release bigint);
COMMENT ON TYPE dp.affine_minimum IS 'a private minimum of a piecewise affine function, as dp.minimize_max_affine_agg returns it';

CREATE FUNCTION dp_internal.minimize_max_affine_add(internal, slopes double precision[], offsets double precision, options jsonb) RETURNS internal
    AS 'MODULE_PATHNAME', 'pe_sql_minimize_max_affine_add' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp_internal.minimize_max_affine_add(internal, double precision[], double precision, jsonb) IS 'transition function of the aggregate dp.minimize_max_affine_agg';
CREATE FUNCTION dp_internal.minimize_max_affine_final(internal) RETURNS dp.affine_minimum
    AS 'MODULE_PATHNAME', 'pe_sql_minimize_max_affine_final' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp_internal.minimize_max_affine_final(internal) IS 'final function of the aggregate dp.minimize_max_affine_agg';
CREATE AGGREGATE dp.minimize_max_affine_agg(slopes double precision[], offsets double precision, options jsonb) (
    SFUNC = dp_internal.minimize_max_affine_add, STYPE = internal, SSPACE = 65536,
    FINALFUNC = dp_internal.minimize_max_affine_final, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE);
COMMENT ON AGGREGATE dp.minimize_max_affine_agg(double precision[], double precision, jsonb) IS
    'the same of rows that you may read; options is a constant, {"dataset": .., "lower": [..], "upper": [..], "epsilon": ..}; one charge for each group';

CREATE TYPE dp.affine_solution AS (x double precision[], value double precision, gap double precision);
COMMENT ON TYPE dp.affine_solution IS 'a minimum of a piecewise affine function, as dp.solve_max_affine returns it; no point has a value below value - gap';

CREATE FUNCTION dp_internal.solve_max_affine_add(internal, slopes double precision[], offsets double precision) RETURNS internal
    AS 'MODULE_PATHNAME', 'pe_sql_solve_max_affine_add' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION dp_internal.solve_max_affine_add(internal, double precision[], double precision) IS 'transition function of the aggregate dp.solve_max_affine';
CREATE FUNCTION dp_internal.solve_max_affine_add(internal, slopes double precision[], offsets double precision, options jsonb) RETURNS internal
    AS 'MODULE_PATHNAME', 'pe_sql_solve_max_affine_add' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION dp_internal.solve_max_affine_add(internal, double precision[], double precision, jsonb) IS 'transition function of the aggregate dp.solve_max_affine';
CREATE FUNCTION dp_internal.solve_max_affine_final(internal) RETURNS dp.affine_solution
    AS 'MODULE_PATHNAME', 'pe_sql_solve_max_affine_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION dp_internal.solve_max_affine_final(internal) IS 'final function of the aggregate dp.solve_max_affine';
CREATE AGGREGATE dp.solve_max_affine(slopes double precision[], offsets double precision) (
    SFUNC = dp_internal.solve_max_affine_add, STYPE = internal, SSPACE = 65536,
    FINALFUNC = dp_internal.solve_max_affine_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE);
COMMENT ON AGGREGATE dp.solve_max_affine(double precision[], double precision) IS
    'the minimum over all x of the largest of slopes . x + offset, without privacy, by a linear programme with a certified gap';
CREATE AGGREGATE dp.solve_max_affine(slopes double precision[], offsets double precision, options jsonb) (
    SFUNC = dp_internal.solve_max_affine_add, STYPE = internal, SSPACE = 65536,
    FINALFUNC = dp_internal.solve_max_affine_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE);
COMMENT ON AGGREGATE dp.solve_max_affine(double precision[], double precision, jsonb) IS
    'the same over a set; options is a constant, {"lower": [..], "upper": [..], "inequalities": [[..], ..], "gap": 1e-9}, each of them optional';

CREATE FUNCTION dp.expire_release(release bigint) RETURNS void
    AS 'MODULE_PATHNAME', 'pe_sql_expire_release' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.expire_release(bigint) IS
    'removes what a release on your dataset measured: nobody can read it again; its charge stays';

CREATE FUNCTION dp.expire_releases(dataset text, older_than interval) RETURNS integer
    AS 'MODULE_PATHNAME', 'pe_sql_expire_releases' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.expire_releases(text, interval) IS
    'removes what all releases on your dataset measured that were stored longer ago than this: nobody can read them again, models and cubes that rest on them go with them, their charges stay, and a role that asks the same again is charged anew; returns their number';

----------------------------------------------------------------------
-- The accumulator that reads the rows.  It needs SELECT on them like any
-- aggregate, and returns exact counts to whoever has it.
----------------------------------------------------------------------

CREATE FUNCTION dp_internal.read_rows_add(bytea, specification bytea, key bytea, VARIADIC unit_and_values "any") RETURNS bytea
    AS 'MODULE_PATHNAME', 'pe_sql_read_rows_add' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION dp_internal.read_rows_add(bytea, bytea, bytea, "any") IS 'transition function of the aggregate dp_internal.read_rows';
CREATE FUNCTION dp_internal.read_rows_combine(bytea, bytea) RETURNS bytea
    AS 'MODULE_PATHNAME', 'pe_sql_read_rows_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION dp_internal.read_rows_combine(bytea, bytea) IS 'combine function of the aggregate dp_internal.read_rows';
CREATE FUNCTION dp_internal.read_rows_final(bytea) RETURNS bytea
    AS 'MODULE_PATHNAME', 'pe_sql_read_rows_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION dp_internal.read_rows_final(bytea) IS 'final function of the aggregate dp_internal.read_rows';
CREATE AGGREGATE dp_internal.read_rows(specification bytea, key bytea, VARIADIC unit_and_values "any") (
    SFUNC = dp_internal.read_rows_add, STYPE = bytea, SSPACE = 8192, COMBINEFUNC = dp_internal.read_rows_combine,
    FINALFUNC = dp_internal.read_rows_final, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = SAFE);
COMMENT ON AGGREGATE dp_internal.read_rows(bytea, bytea, "any") IS
    'exact counts, sums or rows, as the specification says and the scan of a dataset uses them; the key says how rows of a unit, the first value, are cut; needs SELECT on the rows';
CREATE FUNCTION dp_internal.read_records_add(bytea, specification bytea, key bytea, unit_and_values record) RETURNS bytea
    AS 'MODULE_PATHNAME', 'pe_sql_read_records_add' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION dp_internal.read_records_add(bytea, bytea, bytea, record) IS 'transition function of the aggregate dp_internal.read_records';
CREATE AGGREGATE dp_internal.read_records(specification bytea, key bytea, unit_and_values record) (
    SFUNC = dp_internal.read_records_add, STYPE = bytea, SSPACE = 8192, COMBINEFUNC = dp_internal.read_rows_combine,
    FINALFUNC = dp_internal.read_rows_final, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = SAFE);
COMMENT ON AGGREGATE dp_internal.read_records(bytea, bytea, record) IS
    'dp_internal.read_rows with the unit and the values as one record, for tables whose rows are on other nodes';

----------------------------------------------------------------------
-- Workloads to keep in a table.  A value is the canonical text, stored as text
-- is: what is not about the language is the server's own.  Equality and hash
-- only: workloads have no order.
----------------------------------------------------------------------

CREATE TYPE dp.workload;
CREATE FUNCTION dp_internal.workload_in(cstring) RETURNS dp.workload
    AS 'MODULE_PATHNAME', 'pe_sql_workload_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_internal.workload_in(cstring) IS 'input of the type dp.workload: checks the language and makes the text canonical';
CREATE FUNCTION dp_internal.workload_out(dp.workload) RETURNS cstring
    AS 'textout' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_internal.workload_out(dp.workload) IS 'output of the type dp.workload';
CREATE FUNCTION dp_internal.workload_recv(internal) RETURNS dp.workload
    AS 'MODULE_PATHNAME', 'pe_sql_workload_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_internal.workload_recv(internal) IS 'binary input of the type dp.workload: checks like the other';
CREATE FUNCTION dp_internal.workload_send(dp.workload) RETURNS bytea
    AS 'textsend' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_internal.workload_send(dp.workload) IS 'binary output of the type dp.workload';
CREATE TYPE dp.workload (INPUT = dp_internal.workload_in, OUTPUT = dp_internal.workload_out,
    RECEIVE = dp_internal.workload_recv, SEND = dp_internal.workload_send, INTERNALLENGTH = VARIABLE, STORAGE = extended, CATEGORY = 'S');
COMMENT ON TYPE dp.workload IS
    'which counts are asked for, all_range(age) * identity(sex) + total, in canonical text: white space and needless parentheses are gone; attributes and sizes are checked where it is used';

CREATE CAST (text AS dp.workload) WITH INOUT AS ASSIGNMENT;
COMMENT ON CAST (text AS dp.workload) IS 'checks the language and makes the text canonical';
CREATE CAST (dp.workload AS text) WITH INOUT AS IMPLICIT;
COMMENT ON CAST (dp.workload AS text) IS 'the canonical text, for all that wants a workload as text';

CREATE FUNCTION dp_internal.workload_eq(dp.workload, dp.workload) RETURNS boolean
    AS 'byteaeq' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_internal.workload_eq(dp.workload, dp.workload) IS 'whether two workloads have the same canonical text';
CREATE FUNCTION dp_internal.workload_ne(dp.workload, dp.workload) RETURNS boolean
    AS 'byteane' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_internal.workload_ne(dp.workload, dp.workload) IS 'whether two workloads have different canonical texts';
CREATE OPERATOR dp.= (LEFTARG = dp.workload, RIGHTARG = dp.workload, FUNCTION = dp_internal.workload_eq,
    COMMUTATOR = OPERATOR(dp.=), NEGATOR = OPERATOR(dp.<>), RESTRICT = eqsel, JOIN = eqjoinsel, HASHES);
COMMENT ON OPERATOR dp.= (dp.workload, dp.workload) IS 'same canonical text';
CREATE OPERATOR dp.<> (LEFTARG = dp.workload, RIGHTARG = dp.workload, FUNCTION = dp_internal.workload_ne,
    COMMUTATOR = OPERATOR(dp.<>), NEGATOR = OPERATOR(dp.=), RESTRICT = neqsel, JOIN = neqjoinsel);
COMMENT ON OPERATOR dp.<> (dp.workload, dp.workload) IS 'different canonical text';

CREATE FUNCTION dp_internal.workload_hash(dp.workload) RETURNS integer
    AS 'hashvarlena' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_internal.workload_hash(dp.workload) IS 'hash of a workload''s canonical text';
CREATE FUNCTION dp_internal.workload_hash_extended(dp.workload, bigint) RETURNS bigint
    AS 'hashvarlenaextended' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp_internal.workload_hash_extended(dp.workload, bigint) IS 'hash of a workload''s canonical text with a seed';
CREATE OPERATOR CLASS dp.workload_ops DEFAULT FOR TYPE dp.workload USING hash AS
    OPERATOR 1 dp.= (dp.workload, dp.workload),
    FUNCTION 1 dp_internal.workload_hash(dp.workload),
    FUNCTION 2 dp_internal.workload_hash_extended(dp.workload, bigint);
COMMENT ON OPERATOR FAMILY dp.workload_ops USING hash IS 'equality of workloads by their canonical texts';
COMMENT ON OPERATOR CLASS dp.workload_ops USING hash IS 'equality of workloads by their canonical texts';

----------------------------------------------------------------------
-- Strategies: no data, everybody may ask
----------------------------------------------------------------------

CREATE FUNCTION dp.optimize(workload text, method text DEFAULT 'optimal', gap double precision DEFAULT 1e-6,
        objective text DEFAULT 'sum', norm text DEFAULT 'l2', neighbours text DEFAULT 'add_remove')
        RETURNS TABLE (strategy bigint, method text, size numeric, rank integer, objective double precision,
                       lower_bound double precision, gap double precision, iterations integer, milliseconds double precision, plan text)
    AS 'MODULE_PATHNAME', 'pe_sql_optimize' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 1;
COMMENT ON FUNCTION dp.optimize(text, text, double precision, text, text, text) IS
    'computes the strategy of a method for a workload given by sizes, all_range(64) * identity(2), with a certificate: no strategy has an objective below lower_bound; gap: how near to the optimum method optimal comes, relatively; objective: sum of all queries'' variances, or max, the largest; norm: l2 for Gaussian noise, l1 for Laplace noise, whose bound is that of l2; neighbours: add_remove, or substitute, where a row may leave one cell and enter another';

CREATE FUNCTION dp.compare(workload text, epsilon double precision, delta double precision,
        methods text[] DEFAULT NULL, example bigint[] DEFAULT NULL)
        RETURNS TABLE (method text, rmse double precision, ratio_to_bound double precision, milliseconds double precision)
    AS 'MODULE_PATHNAME', 'pe_sql_compare' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 10;
COMMENT ON FUNCTION dp.compare(text, double precision, double precision, text[], bigint[]) IS
    'how far off the answers to a workload given by sizes would be by each method, NULL: by all that go with the noise; delta: at which epsilon is meant under gdp, NULL: a pure epsilon; ratio_to_bound: to what no strategy can be better than, which may be far below what any strategy reaches where epsilon is pure; example: public counts of the cells, on which dawa is simulated';

CREATE FUNCTION dp.strategy_matrix(strategy bigint) RETURNS double precision[]
    AS 'MODULE_PATHNAME', 'pe_sql_strategy_matrix' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.strategy_matrix(bigint) IS
    'the integer matrix of a strategy: a row per measurement, a column per cell';

CREATE FUNCTION dp.workload_matrix(workload text) RETURNS double precision[]
    AS 'MODULE_PATHNAME', 'pe_sql_workload_matrix' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp.workload_matrix(text) IS
    'a workload given by sizes as a matrix: a row per query, a column per cell, without weights';

CREATE FUNCTION dp.gram(workload text) RETURNS double precision[]
    AS 'MODULE_PATHNAME', 'pe_sql_gram' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION dp.gram(text) IS
    'W''W of a workload given by sizes, its rows multiplied by their weights: all that the optimum depends on';

----------------------------------------------------------------------
-- Plain SELECT: datasets as relations, through a foreign data wrapper that asks what its caller could ask
----------------------------------------------------------------------

CREATE FUNCTION dp_internal.fdw_handler() RETURNS fdw_handler
    AS 'MODULE_PATHNAME', 'pe_sql_fdw_handler' LANGUAGE C STRICT;
COMMENT ON FUNCTION dp_internal.fdw_handler() IS 'handler of the foreign data wrapper pg_epsilon';
CREATE FUNCTION dp_internal.fdw_validator(text[], oid) RETURNS void
    AS 'MODULE_PATHNAME', 'pe_sql_fdw_validator' LANGUAGE C STRICT;
COMMENT ON FUNCTION dp_internal.fdw_validator(text[], oid) IS 'checks the options of foreign tables that stand for datasets';

CREATE FOREIGN DATA WRAPPER pg_epsilon HANDLER dp_internal.fdw_handler VALIDATOR dp_internal.fdw_validator;
COMMENT ON FOREIGN DATA WRAPPER pg_epsilon IS 'datasets of pg_epsilon as relations that answer aggregates and show no row';
CREATE SERVER dp FOREIGN DATA WRAPPER pg_epsilon;
COMMENT ON SERVER dp IS 'the datasets of this database: IMPORT FOREIGN SCHEMA dp FROM SERVER dp INTO ...';
-- not on the wrapper: no other server is needed, and Citus cannot make an extension whose wrapper has a grant to PUBLIC
GRANT USAGE ON FOREIGN SERVER dp TO PUBLIC;

CREATE FUNCTION dp.expose(dataset text, target text, epsilon double precision DEFAULT NULL, replace boolean DEFAULT false, release bigint DEFAULT NULL) RETURNS text
    AS 'MODULE_PATHNAME', 'pe_sql_expose' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.expose(text, text, double precision, boolean, bigint) IS
    'makes a view of yours that stands for a dataset in plain SELECT, with a foreign table behind it: aggregates are answered, rows are not shown; who reads it needs SELECT on it and a budget, which pays; epsilon: what a SELECT costs, NULL: what pg_epsilon.epsilon or pg_epsilon.max_stderr says; replace: the view follows what is declared now, and keeps its privileges, options, comments and owner; release: a cube, every SELECT is answered from this release or refused, free, and its readers need SELECT and no budget; returns the view''s name';

CREATE FUNCTION dp.expose_tables(dataset text, schema text) RETURNS text[]
    AS 'MODULE_PATHNAME', 'pe_sql_expose_tables' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION dp.expose_tables(text, text) IS
    'makes a foreign table of yours for each base table of a dataset whose view is joins by keys alone, in a schema and named as the table: SELECT joins them, and which of them are joined decides which dataset answers; of datasets of one cap they are shared; declared attributes are columns, and keys for join conditions alone; public tables too; returns the names';

CREATE FUNCTION dp.advise_cube(dataset text, statements text[], epsilon double precision DEFAULT 1, budget name DEFAULT NULL)
    RETURNS TABLE (part text, number integer, question text, stderr double precision, hint text)
    AS 'MODULE_PATHNAME', 'pe_sql_advise_cube' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 20;
COMMENT ON FUNCTION dp.advise_cube(text, text[], double precision, name) IS
    'the cube for a list of SELECTs, as the log of a tool has them: the call that measures it at this epsilon, the standard error that each statement and each roll-up has from it, and why a statement is not answered; statements are planned and not run, nothing is charged';

-- They are computed by the wrapper alone.
CREATE FUNCTION dp_internal.of_dataset(double precision) RETURNS double precision
    AS 'MODULE_PATHNAME', 'pe_sql_of_dataset' LANGUAGE C;
COMMENT ON FUNCTION dp_internal.of_dataset(double precision) IS 'transition function of aggregates that only relations of datasets answer: an error';
CREATE FUNCTION dp_internal.of_dataset(double precision, "any") RETURNS double precision
    AS 'MODULE_PATHNAME', 'pe_sql_of_dataset' LANGUAGE C;
COMMENT ON FUNCTION dp_internal.of_dataset(double precision, "any") IS 'transition function of aggregates that only relations of datasets answer: an error';
CREATE FUNCTION dp_internal.of_dataset(double precision, "any", "any") RETURNS double precision
    AS 'MODULE_PATHNAME', 'pe_sql_of_dataset' LANGUAGE C;
COMMENT ON FUNCTION dp_internal.of_dataset(double precision, "any", "any") IS 'transition function of aggregates that only relations of datasets answer: an error';
CREATE FUNCTION dp_internal.of_dataset(double precision, "any", double precision) RETURNS double precision
    AS 'MODULE_PATHNAME', 'pe_sql_of_dataset' LANGUAGE C;
COMMENT ON FUNCTION dp_internal.of_dataset(double precision, "any", double precision) IS 'transition function of aggregates that only relations of datasets answer: an error';
CREATE FUNCTION dp_internal.people_of_dataset(bigint) RETURNS bigint
    AS 'MODULE_PATHNAME', 'pe_sql_of_dataset' LANGUAGE C;
COMMENT ON FUNCTION dp_internal.people_of_dataset(bigint) IS 'transition function of dp.people: an error';

CREATE AGGREGATE dp.stderr_count(*) (SFUNC = dp_internal.of_dataset, STYPE = double precision);
COMMENT ON AGGREGATE dp.stderr_count(*) IS 'in a SELECT on a dataset: the standard error of count(*)';
CREATE AGGREGATE dp.lower95_count(*) (SFUNC = dp_internal.of_dataset, STYPE = double precision);
COMMENT ON AGGREGATE dp.lower95_count(*) IS 'in a SELECT on a dataset: the lower end of the 95% interval of count(*)';
CREATE AGGREGATE dp.upper95_count(*) (SFUNC = dp_internal.of_dataset, STYPE = double precision);
COMMENT ON AGGREGATE dp.upper95_count(*) IS 'in a SELECT on a dataset: the upper end of the 95% interval of count(*)';
CREATE AGGREGATE dp.stderr_sum(x "any") (SFUNC = dp_internal.of_dataset, STYPE = double precision);
COMMENT ON AGGREGATE dp.stderr_sum("any") IS 'in a SELECT on a dataset: the standard error of sum(x)';
CREATE AGGREGATE dp.lower95_sum(x "any") (SFUNC = dp_internal.of_dataset, STYPE = double precision);
COMMENT ON AGGREGATE dp.lower95_sum("any") IS 'in a SELECT on a dataset: the lower end of the 95% interval of sum(x)';
CREATE AGGREGATE dp.upper95_sum(x "any") (SFUNC = dp_internal.of_dataset, STYPE = double precision);
COMMENT ON AGGREGATE dp.upper95_sum("any") IS 'in a SELECT on a dataset: the upper end of the 95% interval of sum(x)';
CREATE AGGREGATE dp.stderr_avg(x "any") (SFUNC = dp_internal.of_dataset, STYPE = double precision);
COMMENT ON AGGREGATE dp.stderr_avg("any") IS 'in a SELECT on a dataset: the standard error of avg(x)';
CREATE AGGREGATE dp.lower95_avg(x "any") (SFUNC = dp_internal.of_dataset, STYPE = double precision);
COMMENT ON AGGREGATE dp.lower95_avg("any") IS 'in a SELECT on a dataset: the lower end of the 95% interval of avg(x) over the rows that count; -Infinity where the average is unknown';
CREATE AGGREGATE dp.upper95_avg(x "any") (SFUNC = dp_internal.of_dataset, STYPE = double precision);
COMMENT ON AGGREGATE dp.upper95_avg("any") IS 'in a SELECT on a dataset: the upper end of the 95% interval of avg(x) over the rows that count; Infinity where the average is unknown';
CREATE AGGREGATE dp.median(x "any") (SFUNC = dp_internal.of_dataset, STYPE = double precision);
COMMENT ON AGGREGATE dp.median("any") IS 'in a SELECT on a dataset: the median of a column of numbers';
CREATE AGGREGATE dp.quantile(x "any", fraction double precision) (SFUNC = dp_internal.of_dataset, STYPE = double precision);
COMMENT ON AGGREGATE dp.quantile("any", double precision) IS 'in a SELECT on a dataset: the value below which a fraction of the rows are, of a column of numbers';
CREATE AGGREGATE dp.ratio(x "any", y "any") (SFUNC = dp_internal.of_dataset, STYPE = double precision);
COMMENT ON AGGREGATE dp.ratio("any", "any") IS 'in a SELECT on a dataset: sum(x) / sum(y)';
CREATE AGGREGATE dp.people(*) (SFUNC = dp_internal.people_of_dataset, STYPE = bigint);
COMMENT ON AGGREGATE dp.people(*) IS 'in a SELECT on a dataset with a unit: the number of units, as count(DISTINCT unit)';
