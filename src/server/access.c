/*
 * access.c
 *	  SQL on the ledger's tables.  See access.h.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "optimizer/paths.h"
#include "optimizer/plancat.h"
#include "optimizer/planner.h"
#include "parser/analyze.h"
#include "pgstat.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "server/access.h"

static bool
has_value(const pe_setting *setting)
{
	const char *value;

	if (setting->flag != NULL)
		return *setting->flag == (strcmp(setting->value, "on") == 0);
	if (setting->number != NULL)
		return *setting->number == setting->wanted;
	value = GetConfigOption(setting->name, true, false);
	return value == NULL || strcmp(value, setting->value) == 0;
}

/* Most have the value already, and to set one costs far more than to look at it. */
void
pe_pin_settings(const pe_setting *settings, int count)
{
	for (int i = 0; i < count; i++)
		if (!has_value(&settings[i]))
			(void) set_config_option(settings[i].name, settings[i].value, PGC_SUSET, PGC_S_SESSION,
									 GUC_ACTION_SAVE, true, 0, false);
}

/* How values are written. */
static const pe_setting pinned[] = {
	PE_SETTING("search_path", "pg_catalog, pg_temp"),
	PE_SETTING("quote_all_identifiers", "off", .flag = &quote_all_identifiers),
	PE_SETTING("extra_float_digits", "1", .number = &extra_float_digits, .wanted = 1),
	PE_SETTING("datestyle", "ISO, YMD"),
	PE_SETTING("timezone", "UTC")
};

static const pe_setting shown[] = {
	PE_SETTING("pg_stat_statements.track", "none"),
	PE_SETTING("auto_explain.log_min_duration", "-1"),
	PE_SETTING("debug_print_raw_parse", "off"),
	PE_SETTING("debug_print_parse", "off", .flag = &Debug_print_parse),
	PE_SETTING("debug_print_rewritten", "off", .flag = &Debug_print_rewritten),
	PE_SETTING("debug_print_plan", "off", .flag = &Debug_print_plan),
	PE_SETTING("log_parser_stats", "off", .flag = &log_parser_stats),
	PE_SETTING("log_planner_stats", "off", .flag = &log_planner_stats),
	PE_SETTING("log_executor_stats", "off", .flag = &log_executor_stats)
};

void
pe_pin_shown(void)
{
	pe_pin_settings(shown, lengthof(shown));
}

/* What counts rows: how many others have would be among them.  The worker's own writes are counted, for autovacuum. */
static const pe_setting uncounted[] = {
	PE_SETTING("track_counts", "off", .flag = &pgstat_track_counts),
	PE_SETTING("track_functions", "none", .number = &pgstat_track_functions, .wanted = TRACK_FUNC_OFF)
};

/* Nothing but the ledger's statements runs in this process. */
static bool pinned_for_good = false;

static void
pin_for_good(const pe_setting *settings, int count)
{
	for (int i = 0; i < count; i++)
		if (GetConfigOption(settings[i].name, true, false) != NULL)
			SetConfigOption(settings[i].name, settings[i].value, PGC_SUSET, PGC_S_OVERRIDE);
}

void
pe_access_pin_for_good(void)
{
	pin_for_good(pinned, lengthof(pinned));
	pin_for_good(shown, lengthof(shown));
	pinned_for_good = true;
}

static void
refuse_parallel(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_TRANSACTION_STATE),
			 errmsg("the ledger cannot be used in a parallel operation")));
}

static void
begin(pe_access *access)
{
	SPI_connect();
	access->buffers = pgBufferUsage;
	access->wal = pgWalUsage;
	GetUserIdAndSecContext(&access->saved_user, &access->saved_context);
	SetUserIdAndSecContext(BOOTSTRAP_SUPERUSERID,
						   access->saved_context | SECURITY_LOCAL_USERID_CHANGE |
						   SECURITY_RESTRICTED_OPERATION);
	if (pinned_for_good)
		return;
	access->guc_level = NewGUCNestLevel();
	pe_pin_settings(pinned, lengthof(pinned));
	pe_pin_shown();
	pe_pin_settings(uncounted, lengthof(uncounted));
}

void
pe_access_check_serial(void)
{
	if (IsInParallelMode())
		refuse_parallel();
}

void
pe_access_begin(pe_access *access)
{
	pe_access_check_serial();
	begin(access);
}

void
pe_access_begin_reading(pe_access *access)
{
	if (IsParallelWorker())
		refuse_parallel();
	begin(access);
}

void
pe_access_end(pe_access *access)
{
	if (!pinned_for_good)
		AtEOXact_GUC(true, access->guc_level);
	SetUserIdAndSecContext(access->saved_user, access->saved_context);
	SPI_finish();
	/* EXPLAIN (ANALYZE, BUFFERS) around the call must not see what was read */
	pgBufferUsage = access->buffers;
	pgWalUsage = access->wal;
}

static Oid	asker = InvalidOid;

Oid
pe_access_asker(void)
{
	return OidIsValid(asker) ? asker : GetUserId();
}

uint64
pe_access_read_for(const pe_access *access, pe_statement *statement)
{
	Oid			before = asker;
	volatile uint64 rows = 0;

	PG_TRY();
	{
		asker = access->saved_user;
		rows = pe_access_read_again(statement, NULL);
	}
	PG_FINALLY();
	{
		asker = before;
	}
	PG_END_TRY();
	return rows;
}

/* ------------------------------------------------------------------
 * Hooks of other modules
 * ------------------------------------------------------------------
 */

typedef struct hooks
{
	post_parse_analyze_hook_type parsed;
	planner_hook_type planner;
	get_relation_info_hook_type information;
	set_rel_pathlist_hook_type paths;
	set_join_pathlist_hook_type joins;
	join_search_hook_type search;
	create_upper_paths_hook_type upper;
	ExecutorStart_hook_type start;
	ExecutorRun_hook_type run;
	ExecutorFinish_hook_type finish;
	ExecutorEnd_hook_type end;
	ExecutorCheckPerms_hook_type privileges;
} hooks;

static void
get_hooks(hooks *h)
{
	*h = (hooks) {
		post_parse_analyze_hook, planner_hook, get_relation_info_hook, set_rel_pathlist_hook, set_join_pathlist_hook,
		join_search_hook, create_upper_paths_hook, ExecutorStart_hook, ExecutorRun_hook, ExecutorFinish_hook,
		ExecutorEnd_hook, ExecutorCheckPerms_hook
	};
}

static void
set_hooks(const hooks *h)
{
	post_parse_analyze_hook = h->parsed;
	planner_hook = h->planner;
	get_relation_info_hook = h->information;
	set_rel_pathlist_hook = h->paths;
	set_join_pathlist_hook = h->joins;
	join_search_hook = h->search;
	create_upper_paths_hook = h->upper;
	ExecutorStart_hook = h->start;
	ExecutorRun_hook = h->run;
	ExecutorFinish_hook = h->finish;
	ExecutorEnd_hook = h->end;
	ExecutorCheckPerms_hook = h->privileges;
}

/*
 * A scan keeps the hooks that decide what is read, and by whom: those of the planner
 * (tables of other modules), and of privileges.  They see names, and no row.  Hooks of
 * the planner go together: those in its middle may count on what the first one made (Citus).
 */
static void
hide(pe_hidden what, const hooks *saved)
{
	hooks		left = {0};

	if (what == PE_HIDE_EXECUTION)
		left = (hooks) {
			.planner = saved->planner, .information = saved->information, .paths = saved->paths, .joins = saved->joins,
			.search = saved->search, .upper = saved->upper, .privileges = saved->privileges
		};
	set_hooks(&left);
}

void
pe_run_hidden(pe_hidden what, void (*body) (void *), void *argument)
{
	hooks		saved;

	get_hooks(&saved);
	hide(what, &saved);
	PG_TRY();
	{
		body(argument);
	}
	PG_FINALLY();
	{
		set_hooks(&saved);
	}
	PG_END_TRY();
}

/* ------------------------------------------------------------------
 * Statements
 * ------------------------------------------------------------------
 */

static SPIPlanPtr
planned(pe_statement *statement)
{
	if (statement->plan == NULL)
	{
		/* what is looked for has an index: a plan for each value would cost more than it finds */
		SPIPlanPtr	plan = SPI_prepare_cursor(statement->sql, statement->parameters, statement->types,
											  CURSOR_OPT_GENERIC_PLAN);

		if (plan == NULL || SPI_keepplan(plan) != 0)
			elog(ERROR, "cannot prepare a statement of the ledger: %s", SPI_result_code_string(SPI_result));
		statement->plan = plan;
	}
	return statement->plan;
}

/* One call of SPI, hidden. */
typedef struct execution
{
	pe_statement *statement;
	Datum	   *values;
	const char *nulls;
	Snapshot	snapshot;		/* NULL: the active one */
	bool		read_only;
	long		rows;			/* to be fetched */
	Portal		portal;
	uint64		processed;
} execution;

static void
execute(void *argument)
{
	execution  *e = argument;
	SPIPlanPtr	plan = planned(e->statement);
	int			result;

	if (e->snapshot == NULL)
		result = SPI_execute_plan(plan, e->values, e->nulls, e->read_only, 0);
	else
		result = SPI_execute_snapshot(plan, e->values, e->nulls, e->snapshot, InvalidSnapshot, e->read_only,
									  !e->read_only, 0);
	if (result < 0)
		elog(ERROR, "statement of the ledger failed: %s", SPI_result_code_string(result));
	e->processed = SPI_processed;
}

static uint64
run_statement(execution e)
{
	pe_run_hidden(PE_HIDE_STATEMENT, execute, &e);
	return e.processed;
}

/*
 * Of the latest rows, as they are read everywhere: what the caller's own
 * snapshot does not see would silently not be written.
 */
uint64
pe_access_write(pe_statement *statement, Datum *values, const char *nulls)
{
	return run_statement((execution) {
		.statement = statement, .values = values, .nulls = nulls, .snapshot = GetLatestSnapshot()
	});
}

/* The parameters are the values of the fields, in their order. */
static int
parameter_named(const char *name, int size, const pe_field *fields, int count)
{
	for (int i = 0; i < count; i++)
		if (strncmp(fields[i].column, name, size) == 0 && fields[i].column[size] == '\0')
			return i + 1;
	elog(ERROR, "a statement of the ledger has no value \"%.*s\"", size, name);
}

/* Writes the number of a parameter where SQL has its name. */
static char *
number_parameters(const char *sql, const pe_field *fields, int count)
{
	StringInfoData text;

	initStringInfo(&text);
	while (*sql != '\0')
	{
		int			size = strspn(sql + 1, "abcdefghijklmnopqrstuvwxyz_0123456789");

		appendStringInfoChar(&text, *sql);
		if (*sql++ != '$')
			continue;
		appendStringInfo(&text, "%d", parameter_named(sql, size, fields, count));
		sql += size;
	}
	return text.data;
}

uint64
pe_access_named(pe_statement *kept, const char *sql, const pe_field *fields, int count)
{
	Datum		values[PE_MAX_PARAMETERS];
	char		nulls[PE_MAX_PARAMETERS];

	if (count > PE_MAX_PARAMETERS)
		elog(ERROR, "a statement of the ledger has too many parameters");
	for (int i = 0; i < count; i++)
	{
		kept->types[i] = fields[i].type;
		values[i] = fields[i].value;
		nulls[i] = fields[i].isnull ? 'n' : ' ';
	}
	kept->parameters = count;
	if (kept->plan == NULL)
		kept->sql = number_parameters(sql, fields, count);
	return pe_access_write(kept, values, nulls);
}

/* Columns, an operator if there is one, and what they become. */
static char *
list_of(const pe_field *fields, int count, bool columns, const char *operator, const char *separator)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < count; i++)
	{
		appendStringInfo(&text, "%s%s", i > 0 ? separator : "", columns ? fields[i].column : "");
		if (operator != NULL)
			appendStringInfo(&text, "%s%s%s", operator, fields[i].sql != NULL ? "" : "$",
							 fields[i].sql != NULL ? fields[i].sql : fields[i].column);
	}
	return text.data;
}

uint64
pe_access_insert(pe_statement *kept, const char *table, const pe_field *fields, int count, const char *rest)
{
	char	   *columns = list_of(fields, count, true, NULL, ", ");
	char	   *values = list_of(fields, count, false, "", ", ");

	return pe_access_named(kept, psprintf("INSERT INTO dp_ledger.%s (%s) SELECT %s %s", table, columns, values, rest),
						   fields, count);
}

uint64
pe_access_update(pe_statement *kept, const char *table, const pe_field *fields, int count, int keys, const char *rest)
{
	char	   *set = list_of(fields + keys, count - keys, true, " = ", ", ");
	char	   *found_by = list_of(fields, keys, true, " = ", " AND ");

	return pe_access_named(kept, psprintf("UPDATE dp_ledger.%s SET %s WHERE %s %s", table, set, found_by, rest),
						   fields, count);
}

uint64
pe_access_read(pe_statement *statement, Datum *values, const char *nulls)
{
	uint64		rows;

	PushCopiedSnapshot(IsInParallelMode() ? GetActiveSnapshot() : GetLatestSnapshot());
	rows = run_statement((execution) {
		.statement = statement, .values = values, .nulls = nulls, .snapshot = GetActiveSnapshot(), .read_only = true
	});
	PopActiveSnapshot();
	return rows;
}

uint64
pe_access_read_again(pe_statement *statement, Datum *values)
{
	return run_statement((execution) {.statement = statement, .values = values, .read_only = true});
}

static void
open_cursor(void *argument)
{
	execution  *e = argument;

	e->portal = SPI_cursor_open(NULL, planned(e->statement), e->values, NULL, true);
}

Portal
pe_access_cursor(pe_statement *statement, Datum *values)
{
	execution	e = {.statement = statement, .values = values};

	pe_run_hidden(PE_HIDE_STATEMENT, open_cursor, &e);
	return e.portal;
}

static void
fetch(void *argument)
{
	execution  *e = argument;

	SPI_cursor_fetch(e->portal, true, e->rows);
}

void
pe_access_fetch(Portal portal, long rows)
{
	execution	e = {.portal = portal, .rows = rows};

	pe_run_hidden(PE_HIDE_STATEMENT, fetch, &e);
}

static void
close_cursor(void *argument)
{
	SPI_cursor_close(((execution *) argument)->portal);
}

void
pe_access_close(Portal portal)
{
	execution	e = {.portal = portal};

	pe_run_hidden(PE_HIDE_STATEMENT, close_cursor, &e);
}

/* Copies to the memory that was current before SPI_connect: it outlives pe_access_end. */
Datum
pe_access_datum(uint64 row, int column, bool *isnull)
{
	TupleDesc	desc = SPI_tuptable->tupdesc;
	Form_pg_attribute attribute = TupleDescAttr(desc, column - 1);
	Datum		value = SPI_getbinval(SPI_tuptable->vals[row], desc, column, isnull);

	if (*isnull || attribute->attbyval)
		return value;
	if (attribute->attlen == -1)
		value = PointerGetDatum(PG_DETOAST_DATUM(value));
	return SPI_datumTransfer(value, false, attribute->attlen);
}

int64
pe_access_int64(uint64 row, int column)
{
	TupleDesc	desc = SPI_tuptable->tupdesc;
	bool		isnull;
	Datum		value = SPI_getbinval(SPI_tuptable->vals[row], desc, column, &isnull);

	if (isnull)
		return 0;
	switch (TupleDescAttr(desc, column - 1)->attlen)
	{
		case 8:
			return DatumGetInt64(value);
		case 4:
			return DatumGetInt32(value);
		case 1:
			return DatumGetBool(value);
		default:
			elog(ERROR, "column %d of a statement of the ledger is not an integer", column);
	}
}

char **
pe_texts_of_array(Datum array, int *count)
{
	char	  **texts;
	Datum	   *elements;
	bool	   *nulls;

	deconstruct_array(DatumGetArrayTypeP(array), TEXTOID, -1, false, TYPALIGN_INT, &elements, &nulls, count);
	texts = palloc0(Max(*count, 1) * sizeof(char *));
	for (int i = 0; i < *count; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_DATA_CORRUPTED),
					 errmsg("a list of texts in the ledger has a NULL")));
		texts[i] = TextDatumGetCString(elements[i]);
	}
	return texts;
}

char **
pe_access_texts(uint64 row, int column, int *count)
{
	bool		isnull;
	Datum		array = pe_access_datum(row, column, &isnull);
	/* beside the array: it outlives pe_access_end */
	MemoryContext spi = MemoryContextSwitchTo(GetMemoryChunkContext(DatumGetPointer(array)));
	char	  **texts = pe_texts_of_array(array, count);

	MemoryContextSwitchTo(spi);
	return texts;
}

int64 *
pe_access_int64s(uint64 row, int column, int *count)
{
	bool		isnull;
	Datum		array = pe_access_datum(row, column, &isnull);
	MemoryContext spi;
	int64	   *numbers;

	*count = 0;
	if (isnull)
		return NULL;
	/* likewise */
	spi = MemoryContextSwitchTo(GetMemoryChunkContext(DatumGetPointer(array)));
	numbers = pe_int64s_of_array(array, count);
	MemoryContextSwitchTo(spi);
	return numbers;
}

char *
pe_access_text(uint64 row, int column)
{
	TupleDesc	desc = SPI_tuptable->tupdesc;
	char	   *text = SPI_getvalue(SPI_tuptable->vals[row], desc, column);

	if (text == NULL)
		return NULL;
	return DatumGetCString(SPI_datumTransfer(CStringGetDatum(text), false, -2));
}

/* Messages below ERROR on the way could show what was read. */
static const pe_setting quiet[] = {
	PE_SETTING("client_min_messages", "error")
};

void
pe_undone_begin(pe_undone *undone)
{
	*undone = (pe_undone) {CurrentMemoryContext, CurrentResourceOwner, pgBufferUsage, pgWalUsage};
	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(undone->context);
}

/* These settings go with the subtransaction. */
void
pe_undone_silence(void)
{
	pe_pin_settings(quiet, lengthof(quiet));
	pe_pin_settings(uncounted, lengthof(uncounted));
}

/* EXPLAIN (ANALYZE, BUFFERS, WAL) around the call must not see what was read. */
void
pe_undone_end(pe_undone *undone)
{
	RollbackAndReleaseCurrentSubTransaction();
	MemoryContextSwitchTo(undone->context);
	CurrentResourceOwner = undone->owner;
	pgBufferUsage = undone->buffers;
	pgWalUsage = undone->wal;
}

ErrorData *
pe_undone_catch(pe_undone *undone)
{
	ErrorData  *error;

	MemoryContextSwitchTo(undone->context);
	error = CopyErrorData();
	FlushErrorState();
	pe_undone_end(undone);
	return error;
}

bool		pe_is_explaining = false;

ErrorData *
pe_run_undone(void (*body) (void *), void *argument)
{
	pe_undone	undone;

	pe_undone_begin(&undone);
	PG_TRY();
	{
		pe_undone_silence();
		body(argument);
	}
	PG_CATCH();
	{
		return pe_undone_catch(&undone);
	}
	PG_END_TRY();
	pe_undone_end(&undone);
	return NULL;
}
