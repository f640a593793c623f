/*
 * door.c
 *	  The one door.  See door.h.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/plancache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "core/units.h"
#include "ledger/access.h"
#include "ledger/channel.h"
#include "ledger/door.h"
#include "ledger/settings.h"

/* ------------------------------------------------------------------
 * Who may ask, and of what
 * ------------------------------------------------------------------
 */

void
pe_door_check_relation(Oid relation)
{
	List	   *family = find_all_inheritors(relation, NoLock, NULL);
	ListCell   *cell;

	foreach(cell, family)
	{
		HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(lfirst_oid(cell)));
		Form_pg_class class;

		if (!HeapTupleIsValid(tuple))
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("the table of the dataset is gone")));
		class = (Form_pg_class) GETSTRUCT(tuple);
		if (class->relkind != RELKIND_RELATION && class->relkind != RELKIND_PARTITIONED_TABLE &&
			class->relkind != RELKIND_FOREIGN_TABLE)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("\"%s\" is not a table", NameStr(class->relname)),
					 errhint("Register the table that holds the rows; a view could be redefined under the budget.")));
		if (class->relpersistence == RELPERSISTENCE_TEMP)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("\"%s\" is a temporary table", NameStr(class->relname)),
					 errhint("Register a permanent table: a budget outlives the session.")));
		if (class->relforcerowsecurity)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("row security of \"%s\" is forced on its owner", NameStr(class->relname)),
					 errhint("Use ALTER TABLE ... NO FORCE ROW LEVEL SECURITY; a dataset counts all rows.")));
		ReleaseSysCache(tuple);
	}
}

static void
check_writes_nothing(const pe_dataset *dataset, Oid role)
{
	Oid			writable;

	if (pe_dataset_owned_by(dataset, role))
		return;
	writable = pe_relation_writable_by(dataset->relation, role);
	if (OidIsValid(writable))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("a role that may change table \"%s\" may not ask dataset \"%s\"",
						get_rel_name(writable), dataset->name),
				 errdetail("Whoever changes rows learns from the change of the answers."),
				 errhint("Revoke INSERT, UPDATE, DELETE, TRUNCATE and TRIGGER from it and from roles it is a member of, or ask with another role.")));
}

/* ------------------------------------------------------------------
 * The scan
 * ------------------------------------------------------------------
 */

/*
 * What the session's settings could make visible, or change with the data: row
 * counters, nested plans, statement statistics, spills.  The plan is always a
 * full scan, so the blocks read depend on the size of the table alone.
 */
static const pe_setting pinned[] = {
	{"track_counts", "off"},
	{"track_functions", "none"},
	{"pg_stat_statements.track", "none"},
	{"auto_explain.log_min_duration", "-1"},
	{"auto_explain.log_nested_statements", "off"},
	{"debug_print_parse", "off"},
	{"debug_print_raw_parse", "off"},
	{"debug_print_rewritten", "off"},
	{"debug_print_plan", "off"},
	{"log_parser_stats", "off"},
	{"log_planner_stats", "off"},
	{"log_executor_stats", "off"},
	{"trace_sort", "off"},
	{"exit_on_error", "off"},	/* a FATAL error would show what forget_error hides */
	{"search_path", "pg_catalog, pg_temp"},
	{"row_security", "off"},
	{"plan_cache_mode", "force_generic_plan"},
	{"jit", "off"},
	{"work_mem", "64MB"},
	{"enable_seqscan", "on"},
	{"enable_indexscan", "off"},
	{"enable_indexonlyscan", "off"},
	{"enable_bitmapscan", "off"},
	{"enable_tidscan", "off"}
};

static int
attributes_of(const pe_question *question)
{
	return question->domain->attributes + question->domain->watched;
}

static char *
scan_statement(const pe_question *question)
{
	Oid			relation = question->dataset->relation;
	StringInfoData sql;

	initStringInfo(&sql);
	if (question->dataset->unit == NULL)
		appendStringInfoString(&sql, "SELECT dp.tally($1");
	else
		appendStringInfo(&sql, "SELECT dp.tally_units($1, $2, t.%s", quote_identifier(question->dataset->unit));
	for (int i = 0; i < attributes_of(question); i++)
		appendStringInfo(&sql, ", t.%s", quote_identifier(question->columns[i].name));
	appendStringInfo(&sql, ") FROM %s t",
					 quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)), get_rel_name(relation)));
	return sql.data;
}

/*
 * The statement names the table, and whoever owns its schema may have given the
 * name to a view meanwhile, which would run with the rights of the table's
 * owner.  A plan that is not kept is never parsed again, so what holds here
 * holds to the end.
 */
static void
check_names_the_table(SPIPlanPtr plan, Oid relation)
{
	CachedPlanSource *source = linitial(SPI_plan_get_plan_sources(plan));
	List	   *range = linitial_node(Query, source->query_list)->rtable;
	RangeTblEntry *entry = linitial_node(RangeTblEntry, range);

	if (list_length(range) != 1 || entry->rtekind != RTE_RELATION || entry->relid != relation)
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
static SPIPlanPtr
plan_scan(const pe_question *question, Datum *values)
{
	Oid			types[2] = {BYTEAOID, BYTEAOID};
	int			parameters = question->dataset->unit == NULL ? 1 : 2;
	SPIPlanPtr	plan = SPI_prepare_cursor(scan_statement(question), parameters, types,
										  CURSOR_OPT_PARALLEL_OK | CURSOR_OPT_GENERIC_PLAN);

	if (plan == NULL)
		elog(ERROR, "cannot prepare the scan: %s", SPI_result_code_string(SPI_result));
	check_names_the_table(plan, question->dataset->relation);
	SPI_cursor_close(SPI_cursor_open(NULL, plan, values, NULL, true));
	return plan;
}

/* What the accumulator is told: the domain, and the predicate if there is one. */
static bytea *
selection_bytes(const pe_question *question)
{
	size_t		size = pe_selection_size(question->domain, question->predicate);
	bytea	   *bytes = palloc(VARHDRSZ + size);

	SET_VARSIZE(bytes, VARHDRSZ + size);
	pe_selection_write(question->domain, question->predicate, VARDATA(bytes));
	return bytes;
}

/*
 * The most rows that a table can have, by its size: as many as fit its blocks
 * if they were empty.  A foreign table counts with what ANALYZE left of it.
 * Where there are more (another access method), more memory is taken.
 */
static uint64
rows_at_most(Oid relation)
{
	uint64		rows = 0;
	ListCell   *cell;

	foreach(cell, find_all_inheritors(relation, NoLock, NULL))
	{
		Relation	member = relation_open(lfirst_oid(cell), NoLock);

		if (member->rd_rel->relkind == RELKIND_RELATION)
			rows += (uint64) RelationGetNumberOfBlocks(member) * MaxHeapTuplesPerPage;
		else if (member->rd_rel->relkind == RELKIND_FOREIGN_TABLE)
			rows += (uint64) Max(member->rd_rel->reltuples, 0);
		relation_close(member, NoLock);
	}
	return rows;
}

/* How the accumulator cuts the rows of units, for the first range of them; NULL without a unit. */
static bytea *
cut_bytes(const pe_dataset *dataset)
{
	bytea	   *bytes;
	pe_cut		cut = {.max_rows = dataset->max_rows};

	if (dataset->unit == NULL)
		return NULL;
	pe_cut_divide(&cut, rows_at_most(dataset->relation), (size_t) pe_max_memory * 1024);
	pe_unit_key_load(dataset, cut.key);
	bytes = palloc(VARHDRSZ + sizeof(cut));
	SET_VARSIZE(bytes, VARHDRSZ + sizeof(cut));
	memcpy(VARDATA(bytes), &cut, sizeof(cut));
	pe_wipe(&cut, sizeof(cut));
	return bytes;
}

/* Adds the counts that one scan returns. */
static void
scan_once(const pe_question *question, SPIPlanPtr plan, Datum *values, int64 *counts)
{
	int32		cells = question->domain->cells;
	bool		isnull;
	Datum		tally;
	int			result;

	result = SPI_execute_snapshot(plan, values, NULL, GetActiveSnapshot(), InvalidSnapshot, true, false, 0);
	if (result != SPI_OK_SELECT || SPI_processed != 1)
		elog(ERROR, "the scan failed");
	tally = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull);
	if (!isnull)				/* NULL: the table has no row */
	{
		bytea	   *bytes = DatumGetByteaPP(tally);
		char	   *data = VARDATA_ANY(bytes);

		if (VARSIZE_ANY_EXHDR(bytes) != cells * sizeof(int64))
			elog(ERROR, "the scan returned another domain");
		for (int32 cell = 0; cell < cells; cell++)
		{
			int64		count;

			memcpy(&count, data + cell * sizeof(count), sizeof(count));
			counts[cell] += count;
		}
		pe_wipe(data, cells * sizeof(int64));
	}
	SPI_freetuptable(SPI_tuptable);
}

/*
 * Reads the rows into counts per cell, units range by range.  The snapshot is
 * the latest, one for all ranges, seen as of the first command of the caller's
 * transaction: nothing of what that transaction did shows, so an UPDATE to be
 * rolled back cannot shape the answer.
 */
static void
scan(const pe_question *question, SPIPlanPtr plan, Datum *values, int64 *counts)
{
	char	   *cut_data = question->dataset->unit == NULL ? NULL : VARDATA(DatumGetPointer(values[1]));
	pe_cut		cut = {.ranges = 1};

	PushCopiedSnapshot(GetLatestSnapshot());
	GetActiveSnapshot()->curcid = FirstCommandId;
	if (cut_data != NULL)
		memcpy(&cut, cut_data, sizeof(cut));
	for (cut.range = 0; cut.range < cut.ranges; cut.range++)
	{
		if (cut_data != NULL)
			memcpy(cut_data, &cut, sizeof(cut));
		scan_once(question, plan, values, counts);
	}
	pe_wipe(&cut, sizeof(cut));
	PopActiveSnapshot();
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

typedef struct door
{
	const pe_question *question;
	pe_charge_reply *reply;
	int64	   *counts;			/* exact, until it is wiped */
	bytea	   *cut;			/* how units are cut, and the key, until it is wiped; NULL without them */
	bool		reading;		/* the charge is committed */
	MemoryContext context;		/* where the reply lives */
} door;

/* Everything from the lock to the last row, in a subtransaction that is always undone. */
static void
charge_and_read(void *argument)
{
	door	   *d = argument;
	const pe_question *question = d->question;
	Datum		values[2] = {PointerGetDatum(selection_bytes(question)), (Datum) 0};
	MemoryContext spi;
	SPIPlanPtr	plan;

	/* locked first: what is checked then stays so until the last row is read */
	LockRelationOid(question->dataset->relation, AccessShareLock);
	(void) find_all_inheritors(question->dataset->relation, AccessShareLock, NULL);
	pe_relation_check_committed(question->dataset->relation);
	pe_dataset_check_alone(question->dataset);
	pe_door_check_relation(question->dataset->relation);
	pe_columns_check(question->dataset, question->columns, attributes_of(question));

	d->cut = cut_bytes(question->dataset);
	values[1] = PointerGetDatum(d->cut);
	SPI_connect();
	(void) NewGUCNestLevel();	/* undone with the subtransaction, like the user */
	pe_pin_settings(pinned, lengthof(pinned));
	SetUserIdAndSecContext(pe_relation_owner(question->dataset->relation),
						   SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION);
	plan = plan_scan(question, values);

	spi = MemoryContextSwitchTo(d->context);
	pe_channel_reserve(&question->charge, d->reply);
	MemoryContextSwitchTo(spi);
	if (d->reply->outcome == PE_CHARGED)
	{
		d->reading = true;
		scan(question, plan, values, d->counts);
		d->reading = false;
	}
	SPI_finish();
}

/* An error while rows were read: the answer of an empty table, and a line for the operator alone. */
static void
forget_error(door *d, const ErrorData *error)
{
	memset(d->counts, 0, d->question->domain->cells * sizeof(int64));
	ereport(LOG_SERVER_ONLY,
			(errmsg("the rows of dataset \"%s\" could not be read (SQLSTATE %s)",
					d->question->dataset->name, unpack_sql_state(error->sqlerrcode)),
			 errdetail("Charge " INT64_FORMAT " was answered as if the table were empty.", d->reply->charge_id),
			 errhidestmt(true), errhidecontext(true)));
}

static void
read_rows(door *d)
{
	ErrorData  *error = pe_run_undone(charge_and_read, d);

	if (d->cut != NULL)
		pe_wipe(VARDATA(d->cut), sizeof(pe_cut));
	if (error == NULL)
		return;
	if (d->reading && !is_ordinary_error(error))
	{
		forget_error(d, error);
		return;
	}
	pe_wipe(d->counts, d->question->domain->cells * sizeof(int64));
	if (d->reading)
		pe_channel_abandon();
	ReThrowError(error);
}

/* ------------------------------------------------------------------
 * Noise, store, time
 * ------------------------------------------------------------------
 */

/* Measures, adds noise and stores; no interrupt may come between the draw and the store. */
static void
release(door *d)
{
	const pe_question *question = d->question;
	const pe_strategy *strategy = question->strategy;
	int64	   *columns = pe_alloc(strategy->columns, sizeof(*columns));
	pe_i128    *exact = pe_alloc(strategy->rows, sizeof(*exact));
	int64	   *measured = pe_alloc(strategy->rows, sizeof(*measured));

	for (int32 cell = 0; cell < question->domain->cells; cell++)
		if (question->column_of_cell[cell] >= 0)
			columns[question->column_of_cell[cell]] += d->counts[cell];
	pe_wipe(d->counts, question->domain->cells * sizeof(int64));
	pe_strategy_apply(strategy, columns, exact);
	pe_wipe(columns, strategy->columns * sizeof(int64));
	pe_free(columns);

	HOLD_INTERRUPTS();
	pe_noise_release(&question->noise, exact, strategy->rows, measured);
	d->reply->values = strategy->rows;
	d->reply->value = measured;
	d->reply->release_id = pe_channel_store(&question->charge, d->reply->charge_id, measured, strategy->rows);
	pe_free(exact);
}

/* Sleeps to the next multiple of the time quantum after start. */
static void
wait_for_quantum(TimestampTz start)
{
	int64		quantum = (int64) pe_time_quantum * 1000;

	if (quantum == 0)
		return;
	for (TimestampTz until = start + ((GetCurrentTimestamp() - start) / quantum + 1) * quantum;;)
	{
		long		left = (long) ceil((until - GetCurrentTimestamp()) / 1000.0);

		if (left <= 0)
			return;
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, left, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
}

void
pe_door_answer(const pe_question *question, pe_charge_reply *reply)
{
	TimestampTz start = GetCurrentTimestamp();
	door		d = {question, reply, NULL, NULL, false, CurrentMemoryContext};

	if (question->dataset->frozen)
	{
		/* what was paid is replayed, whatever became of the table; the rest is refused */
		pe_charge_request replay = question->charge;

		replay.replay_only = true;
		pe_channel_reserve(&replay, reply);
		return;
	}
	check_writes_nothing(question->dataset, GetUserId());
	d.counts = pe_alloc(question->domain->cells, sizeof(*d.counts));
	read_rows(&d);
	if (reply->outcome == PE_CHARGED)
	{
		release(&d);
		wait_for_quantum(start);
	}
	pe_free(d.counts);
}
