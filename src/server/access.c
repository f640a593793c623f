/*
 * access.c
 *	  SQL on the ledger's tables.  See access.h.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_type.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"

#include "server/access.h"

/* Most have the value already, and to set one costs far more than to look at it. */
void
pe_pin_settings(const pe_setting *settings, int count)
{
	for (int i = 0; i < count; i++)
	{
		const char *value = GetConfigOption(settings[i].name, true, false);

		if (value != NULL && strcmp(value, settings[i].value) != 0)
			(void) set_config_option(settings[i].name, settings[i].value, PGC_SUSET, PGC_S_SESSION,
									 GUC_ACTION_SAVE, true, 0, false);
	}
}

/* How values are written, and what of other modules and versions would show the ledger's statements to the session. */
static const pe_setting pinned[] = {
	{"search_path", "pg_catalog, pg_temp"},
	{"quote_all_identifiers", "off"},
	{"extra_float_digits", "1"},
	{"datestyle", "ISO, YMD"},
	{"timezone", "UTC"},
	{"pg_stat_statements.track", "none"},
	{"auto_explain.log_min_duration", "-1"},
	{"debug_print_raw_parse", "off"}
};

/* What of the server itself would show their plans. */
static const pe_setting shown[] = {
	{"debug_print_parse", "off"},
	{"debug_print_rewritten", "off"},
	{"debug_print_plan", "off"},
	{"log_parser_stats", "off"},
	{"log_planner_stats", "off"},
	{"log_executor_stats", "off"}
};

/* Whether any of them is on; asked for at every access, and hardly ever so. */
static bool
is_shown(void)
{
	return Debug_print_parse || Debug_print_rewritten || Debug_print_plan ||
		log_parser_stats || log_planner_stats || log_executor_stats;
}

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
	GetUserIdAndSecContext(&access->saved_user, &access->saved_context);
	SetUserIdAndSecContext(BOOTSTRAP_SUPERUSERID,
						   access->saved_context | SECURITY_LOCAL_USERID_CHANGE |
						   SECURITY_RESTRICTED_OPERATION);
	if (pinned_for_good)
		return;
	access->guc_level = NewGUCNestLevel();
	pe_pin_settings(pinned, lengthof(pinned));
	if (is_shown())
		pe_pin_settings(shown, lengthof(shown));
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
}

static SPIPlanPtr
planned(pe_statement *statement)
{
	if (statement->plan == NULL)
	{
		/* what is looked for has an index: a plan for each value would cost more than it finds */
		SPIPlanPtr	plan = SPI_prepare_cursor(statement->sql, statement->parameters, statement->types, CURSOR_OPT_GENERIC_PLAN);

		if (plan == NULL || SPI_keepplan(plan) != 0)
			elog(ERROR, "cannot prepare a statement of the ledger: %s", SPI_result_code_string(SPI_result));
		statement->plan = plan;
	}
	return statement->plan;
}

static uint64
checked(int result)
{
	if (result < 0)
		elog(ERROR, "statement of the ledger failed: %s", SPI_result_code_string(result));
	return SPI_processed;
}

/* Of the latest rows, as they are read everywhere: what the caller's own snapshot does not see would silently not be written. */
uint64
pe_access_write(pe_statement *statement, Datum *values, const char *nulls)
{
	SPIPlanPtr	plan = planned(statement);

	return checked(SPI_execute_snapshot(plan, values, nulls, GetLatestSnapshot(), InvalidSnapshot, false, true, 0));
}

uint64
pe_access_read(pe_statement *statement, Datum *values, const char *nulls)
{
	uint64		rows;

	PushCopiedSnapshot(IsInParallelMode() ? GetActiveSnapshot() : GetLatestSnapshot());
	rows = checked(SPI_execute_snapshot(planned(statement), values, nulls, GetActiveSnapshot(),
										InvalidSnapshot, true, false, 0));
	PopActiveSnapshot();
	return rows;
}

uint64
pe_access_read_again(pe_statement *statement, Datum *values)
{
	return checked(SPI_execute_plan(planned(statement), values, NULL, true, 0));
}

Portal
pe_access_cursor(pe_statement *statement, Datum *values)
{
	return SPI_cursor_open(NULL, planned(statement), values, NULL, true);
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
pe_access_texts(uint64 row, int column, int *count)
{
	MemoryContext spi = CurrentMemoryContext;
	bool		isnull;
	Datum		array = pe_access_datum(row, column, &isnull);
	char	  **texts;
	Datum	   *elements;
	bool	   *nulls;

	/* beside the array: it outlives pe_access_end */
	MemoryContextSwitchTo(GetMemoryChunkContext(DatumGetPointer(array)));
	deconstruct_array(DatumGetArrayTypeP(array), TEXTOID, -1, false, TYPALIGN_INT, &elements, &nulls, count);
	texts = palloc0(Max(*count, 1) * sizeof(char *));
	for (int i = 0; i < *count; i++)
		texts[i] = TextDatumGetCString(elements[i]);
	MemoryContextSwitchTo(spi);
	return texts;
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

/* Whatever is said below ERROR on the way could tell what was read. */
static const pe_setting quiet[] = {
	{"client_min_messages", "error"}
};

ErrorData *
pe_run_undone(void (*body) (void *), void *argument)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	BufferUsage buffers = pgBufferUsage;
	WalUsage	wal = pgWalUsage;
	ErrorData  *volatile error = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		pe_pin_settings(quiet, lengthof(quiet));	/* goes with the subtransaction */
		body(argument);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
	}
	PG_END_TRY();
	RollbackAndReleaseCurrentSubTransaction();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;

	/* EXPLAIN (ANALYZE, BUFFERS, WAL) around the call must not see what was read in it */
	pgBufferUsage = buffers;
	pgWalUsage = wal;
	return error;
}
