/*
 * door.c
 *	  The one door.  See door.h.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "jit/jit.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "optimizer/cost.h"
#include "storage/bufmgr.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/plancache.h"
#include "utils/rel.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "domain/units.h"
#include "server/access.h"
#include "server/activity.h"
#include "worker/channel.h"
#include "door/door.h"
#include "ledger/relation.h"
#include "ledger/shards.h"
#include "ledger/lineage.h"
#include "server/settings.h"
#include "ledger/dataset.h"
#include "ledger/example.h"
#include "ledger/families.h"
#include "view/registered.h"

/* ------------------------------------------------------------------
 * Who may ask, and of what
 * ------------------------------------------------------------------
 */

void
pe_door_check_asker(const pe_dataset *dataset, Oid role)
{
	Oid			writable = InvalidOid;
	ListCell   *cell;

	if (pe_dataset_owned_by(dataset, role))
		return;
	/* of a view all that it reads: what is public is no secret, but who changes it asks a question more */
	foreach(cell, pe_families_tables(dataset))
		if (!OidIsValid(writable))
			writable = pe_relation_writable_by(lfirst_oid(cell), role);
	if (OidIsValid(writable))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("a role that may change table \"%s\" may not ask dataset \"%s\"",
						get_rel_name(writable), dataset->name),
				 errdetail("A role that changes rows learns from the change of the answers."),
				 errhint("Revoke INSERT, UPDATE, DELETE, TRUNCATE and TRIGGER from it and from roles it is a "
						 "member of, or ask with another role.")));
}

void
pe_door_check_view(const pe_dataset *dataset)
{
	if (dataset->view_identity != NULL)
		(void) pe_view_prove_again(dataset);
}

/* ------------------------------------------------------------------
 * The scan
 * ------------------------------------------------------------------
 */

/*
 * What the session's settings could make visible, or change with the data, beside
 * what shows any nested statement (pe_pin_shown): plans, spills.  Nothing counts
 * rows in a subtransaction that is undone, and no hook sees a plan run (access.h).
 * The plan is always a full scan, so the blocks read depend on the size of the
 * table alone.
 */
static const pe_setting pinned[] = {
	PE_SETTING("trace_sort", "off"),
	/* a FATAL error would show what forget_error hides */
	PE_SETTING("exit_on_error", "off", .flag = &ExitOnAnyError),
	PE_SETTING("search_path", "pg_catalog, pg_temp"),
	PE_SETTING("row_security", "off", .flag = &row_security),
	PE_SETTING("plan_cache_mode", "force_generic_plan", .number = &plan_cache_mode,
	.wanted = PLAN_CACHE_MODE_FORCE_GENERIC_PLAN),
	PE_SETTING("jit", "off", .flag = &jit_enabled),
	/* a worker would have the result, which is here for some accumulators */
	PE_SETTING("force_parallel_mode", "off"),
	PE_SETTING("debug_parallel_query", "off"),
	PE_SETTING("work_mem", "64MB", .number = &work_mem, .wanted = 65536),
	/* else the planner may run what constraints call (ledger/relation.c) */
	PE_SETTING("constraint_exclusion", "off", .number = &constraint_exclusion, .wanted = CONSTRAINT_EXCLUSION_OFF),
	PE_SETTING("enable_seqscan", "on", .flag = &enable_seqscan),
	PE_SETTING("enable_indexscan", "off", .flag = &enable_indexscan),
	PE_SETTING("enable_indexonlyscan", "off", .flag = &enable_indexonlyscan),
	PE_SETTING("enable_bitmapscan", "off", .flag = &enable_bitmapscan),
	PE_SETTING("enable_tidscan", "off", .flag = &enable_tidscan)
};

/* Citus, where it is: what would show the statements that it sends, or count them. */
static const pe_setting pinned_of_citus[] = {
	PE_SETTING("citus.log_remote_commands", "off"),
	PE_SETTING("citus.multi_task_query_log_level", "off"),
	PE_SETTING("citus.log_multi_join_order", "off"),
	PE_SETTING("citus.explain_all_tasks", "off"),
	PE_SETTING("citus.stat_statements_track", "none"),
	PE_SETTING("citus.stat_tenants_track", "none"),
	PE_SETTING("citus.enable_stat_counters", "off"),
	PE_SETTING("citus.propagate_set_commands", "none"),
	PE_SETTING("citus.use_secondary_nodes", "never")	/* a standby of a node would be behind */
};

/*
 * Of a view: the rows are the same in every plan, and what a plan that looks up rows one by one would read, and
 * how often, would show them.  Where a join has a hashable clause it is a hash join.
 */
static const pe_setting pinned_of_views[] = {
	PE_SETTING("enable_nestloop", "off", .flag = &enable_nestloop),
	PE_SETTING("enable_mergejoin", "off", .flag = &enable_mergejoin),
	PE_SETTING("enable_hashjoin", "on", .flag = &enable_hashjoin),
	PE_SETTING("enable_memoize", "off", .flag = &enable_memoize),
	PE_SETTING("hash_mem_multiplier", "2"),
	/* how much of a join is spilled follows from the rows: it must not end the scan */
	PE_SETTING("temp_file_limit", "-1")
};

/* Of a table in shards: the statement that a node gets has no parameters, so they are constants of the plan. */
static const pe_setting pinned_of_shards[] = {
	PE_SETTING("plan_cache_mode", "force_custom_plan")
};

/*
 * The statement names the table, and the owner of its schema may have given the
 * name to a view meanwhile, which would run with the rights of the table's
 * owner.  A plan that is not kept is never parsed again, so what holds here
 * holds to the end.
 */
static void
check_names_the_table(SPIPlanPtr plan, const pe_visit *visit, const pe_view_proof *proof)
{
	Oid			relation = pe_dataset_read_by(visit->dataset);
	CachedPlanSource *source = linitial(SPI_plan_get_plan_sources(plan));
	List	   *range = linitial_node(Query, source->query_list)->rtable;
	RangeTblEntry *entry = linitial_node(RangeTblEntry, range);
	bool		is_named;

	/* of a view: it, and nothing that was not proved; a view of its name would be one more */
	if (proof != NULL)
		is_named = list_member_oid(source->relationOids, relation) &&
			list_difference_oid(source->relationOids, proof->reads) == NIL;
	else
		is_named = list_length(range) == 1 && entry->rtekind == RTE_RELATION && entry->relid == relation;
	if (!is_named)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the table of the dataset was renamed meanwhile"),
				 errhint("Ask again.")));
}

/*
 * Parses and plans the scan, and starts it without fetching: that checks all
 * privileges and connects to foreign servers.  What fails here is an ordinary
 * error, and free.
 */
typedef struct planning
{
	const pe_visit *visit;
	pe_scan    *scan;
	const pe_view_proof *proof;	/* NULL: no view */
} planning;

static void
plan_scan(void *argument)
{
	pe_scan    *scan = ((planning *) argument)->scan;
	SPIPlanPtr	plan = SPI_prepare_cursor(scan->statement, scan->parameters, scan->types,
										  (scan->serial ? 0 : CURSOR_OPT_PARALLEL_OK) |
										  (scan->distributed ? CURSOR_OPT_CUSTOM_PLAN : CURSOR_OPT_GENERIC_PLAN));

	if (plan == NULL)
		elog(ERROR, "cannot prepare the scan: %s", SPI_result_code_string(SPI_result));
	check_names_the_table(plan, ((planning *) argument)->visit, ((planning *) argument)->proof);
	SPI_cursor_close(SPI_cursor_open(NULL, plan, scan->values, NULL, true));
	scan->plan = plan;
}

typedef struct door
{
	const pe_visit *visit;
	pe_charge_reply *reply;
	bool		reading;		/* the charge is committed, and the rows are not read yet */
	volatile bool *charged;
	List	   *files;			/* that hold the rows */
	MemoryContext context;		/* where the reply and the files live */
} door;

/* The plan is made without a condition, so that it is none of the rows that decide. */
static List *
planned_relations(SPIPlanPtr plan)
{
	CachedPlan *cached = SPI_plan_get_cached_plan(plan);
	List	   *planned = list_copy(linitial_node(PlannedStmt, cached->stmt_list)->relationOids);

	ReleaseCachedPlan(cached, NULL);
	return planned;
}

/*
 * A child or a partition can be attached beside a lock: what was proved, of a view or where no unit is cut, is of the
 * tables that were there.
 */
static void
check_planned(const pe_visit *visit, const pe_scan *scan, List *known)
{
	if (list_difference_oid(planned_relations(scan->plan), known) != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("a table of dataset \"%s\" got a child or a partition meanwhile", visit->dataset->name),
				 errdetail("Nothing was charged."),
				 errhint("Run the statement again.")));
}

/* What the scan reads: as it was planned, since a partition can be attached beside a lock. */
static List *
scanned_relations(const pe_visit *visit, SPIPlanPtr plan)
{
	List	   *planned = planned_relations(plan);

	/* public tables lose nothing, and views have no rows of their own */
	if (visit->dataset->view_identity != NULL)
		planned = list_difference_oid(planned, list_difference_oid(planned, pe_families_read(visit->dataset)));
	return pe_lineage_order(visit->dataset->relation,
							list_concat_unique_oid(planned, pe_families_read(visit->dataset)));
}

pe_plan_rules
pe_door_rules(const pe_dataset *dataset)
{
	pe_accounting cap = dataset->accounting;

	if (dataset->private_column != NULL)
		return (pe_plan_rules) {.max_change = dataset->max_change, .change_all = dataset->change_all, .cap = cap};
	return (pe_plan_rules) {.neighbours = pe_dataset_neighbours(dataset), .max_rows = dataset->max_rows, .cap = cap};
}

pe_plan_rules
pe_door_rules_of(const pe_dataset *dataset, pe_reading reading)
{
	pe_plan_rules rules = pe_door_rules(dataset);

	if (reading == PE_READ_SIZES)
	{
		rules.by_size = true;
		rules.max_rows = 1;
	}
	return rules;
}

/*
 * The rows are collected by the dataset's rules and by the specification of the
 * accumulator: for no others may the noise have been calibrated.
 */
static void
check_plan(const pe_visit *visit, const pe_scan *scan)
{
	const bytea *spec = (const bytea *) DatumGetPointer(scan->values[0]);
	pe_plan_rules rules = pe_door_rules_of(visit->dataset, pe_reading_read(VARDATA_ANY(spec), VARSIZE_ANY_EXHDR(spec)));

	if (visit->charge != NULL && !pe_plan_follows(visit->plan, &rules))
		elog(ERROR, "the plan was made for other rules than those of dataset \"%s\"", visit->dataset->name);
	if (visit->charge != NULL && visit->charge->rehearsal != OidIsValid(visit->dataset->rehearsal))
		elog(ERROR, "a request of dataset \"%s\" is a rehearsal in part", visit->dataset->name);
	if (visit->presence != NULL &&
		(visit->presence->row_is_unit != (visit->dataset->unit == NULL) ||
		 !pe_plan_follows_presence(visit->plan, visit->presence)))
		elog(ERROR, "the plan was made for other units in time than those of dataset \"%s\"", visit->dataset->name);
}

/* Charges, for the tables that are read. */
static void
reserve_charge(door *d, SPIPlanPtr plan)
{
	pe_charge_request charge = *d->visit->charge;

	charge.relations = scanned_relations(d->visit, plan);
	pe_lineage_check(d->visit->dataset, charge.relations);
	MemoryContextSwitchTo(d->context);
	pe_channel_reserve(d->visit->plan, &charge, d->reply);
}

char *
pe_door_table(const pe_dataset *dataset)
{
	Oid			relation = pe_dataset_read_by(dataset);

	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)), get_rel_name(relation));
}

void
pe_door_begin_statement(StringInfo sql, const pe_dataset *dataset, const pe_scan *scan, bool has_cut)
{
	appendStringInfo(sql, "SELECT dp_internal.%s($1, %s, %s", scan->distributed ? "read_records" : "read_rows",
					 has_cut ? "$2" : "NULL", scan->distributed ? "ROW(" : "");
	if (!scan->of_units)
		appendStringInfoChar(sql, '0');
	else
		appendStringInfo(sql, "t.%s", quote_identifier(dataset->unit));
}

void
pe_door_end_statement(StringInfo sql, const pe_dataset *dataset, const pe_scan *scan)
{
	if (scan->times.are_limited != 0)
		appendStringInfo(sql, ", t.%s", quote_identifier(dataset->time_attribute));
	appendStringInfo(sql, "%s FROM %s t", scan->distributed ? "))" : ")", pe_door_table(dataset));
}

size_t
pe_door_state_memory(const pe_scan *scan)
{
	size_t		memory = (size_t) pe_max_memory * 1024;

	return scan->distributed ? Min(memory, MaxAllocSize / 2 - 1024) : memory;
}

bytea *
pe_door_specification(pe_reading reading, size_t size)
{
	bytea	   *bytes = palloc(VARHDRSZ + PE_READING_HEAD + size);

	SET_VARSIZE(bytes, VARHDRSZ + PE_READING_HEAD + size);
	pe_reading_write(reading, VARDATA(bytes));
	return bytes;
}

/* The least room that columns take in a row of member that has them all. */
static Size
least_width(Relation member, char **stored, int count)
{
	Size		width = 0;

	for (int i = 0; i < count; i++)
	{
		AttrNumber	number = get_attnum(RelationGetRelid(member), stored[i]);
		Form_pg_attribute attribute;

		if (number <= 0)
			continue;
		attribute = TupleDescAttr(RelationGetDescr(member), number - 1);
		if (attribute->attlen > 0 && !attribute->atthasmissing)
			width += attribute->attlen;
	}
	return width;
}

/* The rows that fit a block, if they are so wide. */
static uint64
rows_of_block(Size width)
{
	return (BLCKSZ - SizeOfPageHeaderData) / (sizeof(ItemIdData) + MAXALIGN(SizeofHeapTupleHeader + width));
}

static uint64
rows_of_table(Oid relation, char **stored, int count)
{
	uint64		rows = pe_shards_hold(relation) ? pe_shards_blocks(relation) * rows_of_block(0) : 0;
	ListCell   *cell;

	foreach(cell, find_all_inheritors(relation, NoLock, NULL))
	{
		Relation	member = relation_open(lfirst_oid(cell), NoLock);

		if (member->rd_rel->relkind == RELKIND_RELATION || member->rd_rel->relkind == RELKIND_MATVIEW)
			rows += (uint64) RelationGetNumberOfBlocks(member) * rows_of_block(least_width(member, stored, count));
		else if (member->rd_rel->relkind == RELKIND_FOREIGN_TABLE)
			rows += (uint64) Max(member->rd_rel->reltuples, 0);
		relation_close(member, NoLock);
	}
	return rows;
}

uint64
pe_door_rows_at_most(const pe_dataset *dataset, char **stored, int count)
{
	uint64		rows = 0;
	ListCell   *cell;

	if (dataset->view_identity == NULL || OidIsValid(dataset->rehearsal))
		return rows_of_table(pe_dataset_read_by(dataset), stored, count);
	/* a unit of a view that multiplies rows is in one of its tables */
	foreach(cell, pe_families_of(dataset))
	{
		const pe_family *family = lfirst(cell);
		int			times = dataset->max_rows_read > 0 ? !family->is_public : family->carries;

		if (times > 0 && !family->is_past)
			rows += times * rows_of_table(family->relation, NULL, 0);
	}
	return dataset->max_rows_read == 0 || rows < PG_INT64_MAX / dataset->max_rows_read
		? rows * Max(dataset->max_rows_read, 1) : PG_INT64_MAX;
}

/* What a rehearsal shows, as often as it is asked, says nothing about the dataset's key. */
static void
load_unit_key(const pe_dataset *dataset, uint8 *key)
{
	if (!OidIsValid(dataset->rehearsal))
		pe_unit_key_load(dataset, key);
	else if (!pg_strong_random(key, PE_UNIT_KEY))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random values")));
}

bytea *
pe_door_cut(const pe_dataset *dataset, uint64 rows, size_t memory, size_t entry)
{
	pe_cut		cut = {.max_rows = dataset->max_rows, .most_cells = dataset->max_rows_read};
	bytea	   *bytes = palloc(VARHDRSZ + sizeof(cut));

	if (dataset->unit != NULL && !OidIsValid(dataset->rehearsal) && pe_shards_have_units(dataset))
	{
		/* each state is of a shard: of several times what it has on average, for shards differ */
		cut.whole = 1;
		rows = rows / pe_shards_count(dataset) * 4;
	}
	pe_cut_divide(&cut, rows, memory, entry);
	load_unit_key(dataset, cut.key);
	SET_VARSIZE(bytes, VARHDRSZ + sizeof(cut));
	memcpy(VARDATA(bytes), &cut, sizeof(cut));
	pe_wipe(&cut, sizeof(cut));
	return bytes;
}

/* Takes the one row of a scan as the executor has it: SPI's own receiver would copy rows of a model twice. */
typedef struct receiver
{
	DestReceiver dest;			/* first */
	const pe_scan *scan;
	void		(*take) (void *argument, bytea *result);
	void	   *argument;
} receiver;

static bool
receive(TupleTableSlot *slot, DestReceiver *self)
{
	receiver   *r = (receiver *) self;
	bool		isnull;
	Datum		value = slot_getattr(slot, 1, &isnull);
	bytea	   *result;

	if (isnull)					/* no row */
		return true;
	result = VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(value)) ? (bytea *) DatumGetPointer(value)
		: DatumGetByteaPP(value);
	r->take(r->argument, result);
	if (!VARATT_IS_EXTERNAL(result))
		pe_wipe(VARDATA_ANY(result), VARSIZE_ANY_EXHDR(result));
	return true;
}

static void
start_receiving(DestReceiver *self, int operation, TupleDesc type)
{
}

static void
end_receiving(DestReceiver *self)
{
}

static ParamListInfo
parameters_of(const pe_scan *scan)
{
	ParamListInfo list = makeParamList(scan->parameters);

	for (int i = 0; i < scan->parameters; i++)
		list->params[i] = (ParamExternData) {.value = scan->values[i], .isnull = i > 0 && scan->without_cut,
			.pflags = PARAM_FLAG_CONST, .ptype = scan->types[i]};
	return list;
}

/* Under the snapshot that is active, as the scan is read only. */
static void
run_scan(void *argument)
{
	receiver   *r = argument;
	SPIExecuteOptions options = {.params = parameters_of(r->scan), .read_only = true, .dest = &r->dest};

	if (SPI_execute_plan_extended(r->scan->plan, &options) != SPI_OK_SELECT || SPI_processed != 1)
		elog(ERROR, "the scan failed");
}

void
pe_door_scan(const pe_scan *scan, void (*take) (void *argument, bytea *result), void *argument)
{
	/* of a kind that SPI takes for results that are wanted */
	receiver	r = {{receive, start_receiving, end_receiving, end_receiving, DestTuplestore}, scan, take, argument};

	/* here, and nowhere else: no specification reads rows of blocks that were not charged */
	pe_reading_limit(VARDATA(DatumGetPointer(scan->values[0])), &scan->times);
	pe_run_hidden(PE_HIDE_EXECUTION, run_scan, &r);
}

void
pe_door_add_counts(const bytea *bytes, int64 *counts, size_t cells)
{
	const char *data = VARDATA_ANY(bytes);

	if (VARSIZE_ANY_EXHDR(bytes) != cells * sizeof(int64))
		elog(ERROR, "the scan returned another domain");
	for (size_t cell = 0; cell < cells; cell++)
	{
		int64		count;

		memcpy(&count, data + cell * sizeof(count), sizeof(count));
		counts[cell] += count;
	}
}

void
pe_door_scan_ranges(const pe_scan *scan, bytea *cut_bytes, void (*take) (void *argument, bytea *result), void *argument)
{
	pe_cut		cut = {.ranges = 1};

	if (cut_bytes != NULL)
		memcpy(&cut, VARDATA(cut_bytes), sizeof(cut));
	for (cut.range = 0; cut.range < cut.ranges; cut.range++)
	{
		if (cut_bytes != NULL)
			memcpy(VARDATA(cut_bytes), &cut, sizeof(cut));
		pe_door_scan(scan, take, argument);
	}
	pe_wipe(&cut, sizeof(cut));
}

/*
 * What is an error even while rows are read: a cancel, a shutdown, and the
 * failure of a serializable transaction.  Whether the last happens depends on
 * who else writes, never on a value, and the same would show at COMMIT;
 * swallowed, it would make an empty answer permanent.  Only the server's own
 * count, by the source file they are raised in: a foreign server can send any
 * SQLSTATE, with any text.
 */
static bool
is_ordinary_error(const ErrorData *error)
{
	if (error->filename == NULL)
		return false;
	switch (error->sqlerrcode)
	{
		case ERRCODE_QUERY_CANCELED:
		case ERRCODE_ADMIN_SHUTDOWN:
		case ERRCODE_CRASH_SHUTDOWN:
		case ERRCODE_CANNOT_CONNECT_NOW:
		case ERRCODE_DATABASE_DROPPED:
			return strcmp(error->filename, "postgres.c") == 0;
		case ERRCODE_T_R_SERIALIZATION_FAILURE:
			return strcmp(error->filename, "postgres.c") == 0 || strcmp(error->filename, "predicate.c") == 0;
		default:
			return false;
	}
}

/*
 * Blocks of the table itself, as this server stores them.  A scan reads all of them,
 * and whether a block can be read is found out before there is a row: no value
 * decides it, and how many blocks there are is public.  An analyst who chooses
 * values cannot make one unreadable.
 *
 * The files that read blocks raise these codes:
 *   XX001  a block's header or checksum is wrong, or the file is too short
 *   58P01  a file of the table is gone
 *   58030  the operating system cannot read
 *   53100  the disk is full (a file system that copies on write)
 *   53000  the server is out of file descriptors
 * The path in the message distinguishes the table's own blocks from those of values
 * that are stored out of line: a row decides whether one of these is read.
 *
 * These codes stay an answer, for a value can decide them:
 *   53200  a value that is decompressed may need 1 GB; a unit may have many rows
 *   XX001  from other files: a value that is stored out of line or compressed is damaged
 *   XX002  an index: rows are found by one only where values are stored out of line
 *   58P01  from other files: the transaction that wrote one row is unknown
 */
static bool
is_code_of_blocks(int code)
{
	return code == ERRCODE_DATA_CORRUPTED || code == ERRCODE_UNDEFINED_FILE || code == ERRCODE_IO_ERROR ||
		code == ERRCODE_DISK_FULL || code == ERRCODE_INSUFFICIENT_RESOURCES;
}

/* Whether text names a file at this path, or a fork or a segment of it. */
static bool
names_file(const char *text, const char *path)
{
	size_t		length = strlen(path);

	while ((text = strstr(text, path)) != NULL)
	{
		text += length;
		if (*text < '0' || *text > '9')
			return true;
	}
	return false;
}

static bool
is_error_of_blocks(const ErrorData *error, List *files)
{
	ListCell   *cell;

	if (error->filename == NULL || error->message == NULL || !is_code_of_blocks(error->sqlerrcode) ||
		(strcmp(error->filename, "bufmgr.c") != 0 && strcmp(error->filename, "md.c") != 0 &&
		 strcmp(error->filename, "fd.c") != 0))
		return false;
	foreach(cell, files)
		if (names_file(error->message, lfirst(cell)))
			return true;
	return false;
}

/*
 * Shared memory for parallel workers is taken before a row is read, as much as the
 * statement and its parameters ask for.
 */
static bool
is_error_of_workers(const ErrorData *error)
{
	return error->filename != NULL && strcmp(error->filename, "dsm_impl.c") == 0 &&
		(error->sqlerrcode == ERRCODE_DISK_FULL || error->sqlerrcode == ERRCODE_OUT_OF_MEMORY);
}

/* The file of a relation, relative to the data directory; NULL: it has none. */
static char *
file_of(Oid relation)
{
	LOCAL_FCINFO(call, 1);
	Datum		path;

	InitFunctionCallInfoData(*call, NULL, 1, InvalidOid, NULL, NULL);
	call->args[0] = (NullableDatum) {.value = ObjectIdGetDatum(relation)};
	path = pg_relation_filepath(call);
	return call->isnull ? NULL : TextDatumGetCString(path);
}

/* The files of tables and of all that inherit from them. */
static List *
files_of(List *tables)
{
	List	   *files = NIL;
	ListCell   *cell;

	foreach(cell, pe_families_heirs(tables))
	{
		char	   *file = file_of(lfirst_oid(cell));

		if (file != NULL)
			files = lappend(files, file);
	}
	return files;
}

/*
 * Reads under one snapshot, the latest, seen as of the first command of the
 * caller's transaction: nothing of what that transaction did shows, so an UPDATE
 * to be rolled back cannot shape the answer.
 */
static void
read_rows(door *d, pe_scan *scan)
{
	*d->charged = d->visit->charge != NULL && !d->visit->charge->rehearsal;
	d->reading = true;
	PushCopiedSnapshot(GetLatestSnapshot());
	GetActiveSnapshot()->curcid = FirstCommandId;
	d->visit->read(d->visit->argument, scan);
	PopActiveSnapshot();
	d->reading = false;
}

/* The tables that are read, checked under their locks; sets the proof of a view, and all that is there to read. */
static List *
check_tables(const pe_visit *visit, pe_view_proof **proof, List **known)
{
	const pe_dataset *dataset = visit->dataset;
	List	   *tables;
	ListCell   *cell;

	pe_dataset_check_there(dataset);	/* it may have been dropped meanwhile */
	*known = find_all_inheritors(dataset->relation, AccessShareLock, NULL);
	if (dataset->view_identity != NULL)
	{
		*proof = pe_view_prove_again(dataset);
		*known = (*proof)->reads;
	}
	tables = pe_families_tables(dataset);
	foreach(cell, tables)
		pe_relation_check_committed(lfirst_oid(cell));
	pe_dataset_check_alone(dataset);
	foreach(cell, tables)
		pe_relation_check(lfirst_oid(cell), *proof != NULL && lfirst_oid(cell) == dataset->relation);
	pe_columns_check(dataset, visit->columns, visit->count);
	return tables;
}

/* The same of a rehearsal: nothing of the dataset's own table is locked or looked at. */
static List *
check_example(const pe_visit *visit)
{
	Oid			relation = visit->dataset->rehearsal;
	char	  **column = palloc(Max(visit->count, 1) * sizeof(char *));

	for (int i = 0; i < visit->count; i++)
		column[i] = visit->columns[i].name;
	if (OidIsValid(pe_relation_owner(relation)))
		(void) find_all_inheritors(relation, AccessShareLock, NULL);
	pe_example_check(visit->dataset, relation, column, visit->count);
	pe_relation_check_committed(relation);
	return list_make1_oid(relation);
}

/* Of rows in shards. */
static void
check_shards(const pe_dataset *dataset, List *tables, const pe_view_proof *proof)
{
	ListCell   *cell;

	if (proof != NULL)
		pe_shards_check_view(dataset, proof->has_settings);
	/* while an error is free: each node is there, and has nothing that this transaction wrote */
	foreach(cell, tables)
		(void) pe_shards_blocks(lfirst_oid(cell));
}

/* Everything from the lock to the last row, in a subtransaction that is always undone. */
static void
charge_and_read(void *argument)
{
	door	   *d = argument;
	const pe_visit *visit = d->visit;
	Oid			relation = pe_dataset_read_by(visit->dataset);
	bool		rehearses = OidIsValid(visit->dataset->rehearsal);
	pe_scan		scan = {0};
	pe_view_proof *proof = NULL;
	List	   *tables;
	List	   *known = NIL;
	MemoryContext spi;

	/* locked first: what is checked then stays so until the last row is read */
	LockRelationOid(relation, AccessShareLock);
	tables = rehearses ? check_example(visit) : check_tables(visit, &proof, &known);

	if (visit->charge != NULL && visit->dataset->max_blocks > 0)
		scan.times = pe_time_blocks_times(visit->dataset, visit->charge->blocks);
	scan.distributed = !rehearses && pe_shards_hold_rows(visit->dataset);
	if (scan.distributed)
		check_shards(visit->dataset, tables, proof);
	scan.of_units = visit->dataset->unit != NULL;
	scan.unit_is_key = scan.of_units && !scan.distributed &&
		(proof != NULL ? proof->unit_is_key : pe_table_unit_is_key(relation, visit->dataset->unit));
	visit->prepare(visit->argument, &scan);
	check_plan(visit, &scan);
	SPI_connect();
	(void) NewGUCNestLevel();	/* undone with the subtransaction, like the user */
	pe_pin_shown();
	pe_pin_settings(pinned, lengthof(pinned));
	if (GetConfigOption(pinned_of_citus[0].name, true, false) != NULL)
		pe_pin_settings(pinned_of_citus, lengthof(pinned_of_citus));
	if (scan.distributed)
		pe_pin_settings(pinned_of_shards, lengthof(pinned_of_shards));
	if (proof != NULL)
	{
		pe_pin_settings(pinned_of_views, lengthof(pinned_of_views));
		pe_view_pin_settings(visit->dataset);
	}
	SetUserIdAndSecContext(pe_relation_owner(relation), SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION);
	pe_run_hidden(PE_HIDE_EXECUTION, plan_scan, &(planning) {visit, &scan, proof});
	if (!rehearses && !scan.distributed && (proof != NULL || (scan.unit_is_key && !scan.of_units)))
		check_planned(visit, &scan, known);

	spi = MemoryContextSwitchTo(d->context);
	d->files = files_of(tables);
	if (visit->charge != NULL && !rehearses)
		reserve_charge(d, scan.plan);
	else
		d->reply->outcome = PE_CHARGED;
	MemoryContextSwitchTo(spi);
	if (d->reply->outcome == PE_CHARGED)
		read_rows(d, &scan);
	SPI_finish();
}

/* An error while rows were read: a line for the operator alone. */
static void
log_error(const door *d, const ErrorData *error)
{
	pe_activity_count(PE_COUNT_READING_ERRORS, 1);
	ereport(LOG_SERVER_ONLY,
			(errmsg("pg_epsilon: the rows of dataset \"%s\" could not be read (SQLSTATE %s)",
					d->visit->dataset->name, unpack_sql_state(error->sqlerrcode)),
			 errdetail("Charge " INT64_FORMAT " was answered as if the table were empty.", d->reply->charge_id),
			 errhidestmt(true), errhidecontext(true)));
}

/* The table's blocks, or shared memory, fail independent of the rows: said without the numbers of blocks. */
static void
report_storage(const door *d, const ErrorData *error)
{
	pe_activity_count(PE_COUNT_READING_ERRORS, 1);
	ereport(LOG_SERVER_ONLY,
			(errmsg("pg_epsilon: the rows of dataset \"%s\" could not be read (SQLSTATE %s): %s",
					d->visit->dataset->name, unpack_sql_state(error->sqlerrcode), error->message),
			 errdetail("Charge " INT64_FORMAT " got no answer.", d->reply->charge_id),
			 errhidestmt(true), errhidecontext(true)));
	ereport(ERROR,
			(errcode(error->sqlerrcode),
			 errmsg("the server could not read the rows of dataset \"%s\"", d->visit->dataset->name),
			 errhint("The server's log has the reason, for its administrator.")));
}

/* What became of a charge that an error followed. */
static const char *
fate_of(const pe_charge_reply *reply)
{
	if (reply->release_id != 0)
		return "and its answer is stored: to ask again is free.";
	if (!reply->unsent)
		return "and its answer may be stored: to ask again is free if it is.";
	return "and no answer was stored: to ask again is charged again.";
}

/*
 * An error after the charge, a cancel or a full disk, say: says that it stands, and leaves out the extension's own
 * statement.  It depends on no row: the number of the charge and the name of the dataset are the asker's to see before
 * any row is read.
 */
static void
tell_charged(const char *dataset, const pe_charge_reply *reply, ErrorData *error)
{
	char	   *own = error->context != NULL ? strstr(error->context, "dp_internal.") : NULL;
	const char *more = error->detail != NULL ? error->detail : "";

	if (own != NULL)
	{
		own = strchr(own, '\n');
		error->context = own != NULL ? own + 1 : NULL;
	}
	if (dataset != NULL)
		error->detail = psprintf("Charge " INT64_FORMAT " on dataset \"%s\" stands, %s%s%s", reply->charge_id,
								 dataset, fate_of(reply), *more != '\0' ? " " : "", more);
	else if (error->detail == NULL)
		error->detail = pstrdup(PE_PERIOD_LOST);
}

/* Raises the error that is being handled anew. */
static void
raise_charged(const char *dataset, const pe_charge_reply *reply)
{
	ErrorData  *error = CopyErrorData();

	FlushErrorState();
	tell_charged(dataset, reply, error);
	ReThrowError(error);
}

/* Charges and reads; false if the rows could not be read. */
static bool
visit_rows(const pe_visit *visit, pe_charge_reply *reply, volatile bool *charged)
{
	door		d = {.visit = visit, .reply = reply, .charged = charged, .context = CurrentMemoryContext};
	ErrorData  *error;
	bool		storage;

	if (visit->dataset->frozen && visit->charge != NULL && !visit->charge->rehearsal)
	{
		/* what was paid is replayed, even if the table is gone; the rest is refused */
		pe_charge_request replay = *visit->charge;

		replay.replay_only = true;
		pe_channel_reserve(visit->plan, &replay, reply);
		return true;
	}
	pe_door_check_asker(visit->dataset, GetUserId());
	error = pe_run_undone(charge_and_read, &d);
	if (error == NULL)
		return true;
	storage = is_error_of_blocks(error, d.files) || is_error_of_workers(error);
	if (*charged && d.reading && !storage && !is_ordinary_error(error))
	{
		log_error(&d, error);
		return false;
	}
	if (*charged && d.reading && storage)
		report_storage(&d, error);
	ReThrowError(error);
	pg_unreachable();
}

/* The way through the door, and where its reply goes. */
typedef struct passage
{
	const pe_visit *visit;
	pe_charge_reply *reply;
} passage;

static void
pass_door(void *argument, volatile bool *charged)
{
	const passage *p = argument;
	bool		could_be_read = visit_rows(p->visit, p->reply, charged);

	if (p->reply->outcome == PE_CHARGED)
		p->visit->finish(p->visit->argument, could_be_read, p->reply);
}

static void
wipe_passage(void *argument)
{
	const pe_visit *visit = ((passage *) argument)->visit;

	visit->wipe(visit->argument);
}

void
pe_door_run(void (*body) (void *argument, volatile bool *charged), void (*wipe) (void *argument), void *argument,
			const char *dataset, const pe_charge_reply *reply)
{
	volatile bool charged = false;
	MemoryContext context = CurrentMemoryContext;

	PG_TRY();
	{
		body(argument, &charged);
	}
	PG_CATCH();
	{
		wipe(argument);
		if (charged)
		{
			pe_channel_abandon();
			MemoryContextSwitchTo(context);
			raise_charged(dataset, reply);
		}
		PG_RE_THROW();
	}
	PG_END_TRY();
	wipe(argument);
}

void
pe_door_visit(const pe_visit *visit, pe_charge_reply *reply)
{
	passage		p = {visit, reply};
	const char *dataset;

	if (visit->charge == NULL)
	{
		pe_door_run(pass_door, wipe_passage, &p, NULL, NULL);
		return;
	}
	/* a message that is sent when the scan ends would show when that was: none is before the quantum has passed */
	dataset = visit->charge->series != NULL ? NULL : visit->dataset->name;
	PE_UNDONE();
	pe_door_run(pass_door, wipe_passage, &p, dataset, reply);
	PE_END_UNDONE();
}

void
pe_door_wait(TimestampTz start)
{
	int64		quantum = (int64) pe_time_quantum * 1000;
	TimestampTz until;
	int64		left;

	if (quantum == 0)
		return;
	until = start + ((GetCurrentTimestamp() - start) / quantum + 1) * quantum;
	while ((left = until - GetCurrentTimestamp()) > 0 && !QueryCancelPending && !ProcDiePending)
	{
		/*
		 * A wait may end late by a part of itself, which would show when the
		 * scan had ended: half of what is left each time, and the last two
		 * milliseconds always by a sleep.
		 */
		if (left < 2000)
		{
			pg_usleep(left);
			continue;
		}
		/* no wait event: pg_stat_activity would show when the scan had ended */
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, left / 2000, 0);
		ResetLatch(MyLatch);
	}
	SetLatch(MyLatch);			/* an interrupt is still to be looked at */
}

void
pe_door_store(const pe_plan *plan, const pe_charge_request *charge, TimestampTz start,
			  int64 *value, int64 values, pe_charge_reply *reply)
{
	reply->values = values;
	reply->value = value;
	pe_door_wait(start);
	if (charge->rehearsal)
		RESUME_INTERRUPTS();
	else
		pe_channel_store(plan, charge, reply);
}

void
pe_door_store_doubles(const pe_plan *plan, const pe_charge_request *charge, TimestampTz start,
					  const double *value, int64 values, pe_charge_reply *reply)
{
	int64	   *bits = palloc(Max(values, 1) * sizeof(int64));

	memcpy(bits, value, values * sizeof(int64));
	HOLD_INTERRUPTS();
	pe_door_store(plan, charge, start, bits, values, reply);
}

typedef struct collection
{
	const pe_collected *collected;
	pe_charge_reply *reply;
} collection;

static void
work_on_collected(void *argument, volatile bool *charged)
{
	const pe_collected *c = ((collection *) argument)->collected;
	pe_charge_reply *reply = ((collection *) argument)->reply;
	TimestampTz start = GetCurrentTimestamp();
	double	   *value = palloc0(Max(c->values, 1) * sizeof(double));

	pe_channel_reserve(c->plan, c->charge, reply);
	if (reply->outcome != PE_CHARGED)
		return;
	*charged = true;
	c->work(c->argument, value);
	pe_door_store_doubles(c->plan, c->charge, start, value, c->values, reply);
}

static void
wipe_collected(void *argument)
{
	const pe_collected *c = ((collection *) argument)->collected;

	c->wipe(c->argument);
}

void
pe_door_collected(const pe_collected *collected, pe_charge_reply *reply)
{
	collection	c = {collected, reply};

	pe_door_run(work_on_collected, wipe_collected, &c, collected->dataset, reply);
}
