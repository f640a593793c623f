/*
 * time_column.c
 *	  dp.set_time, and the triggers that hold what it declares.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "server/arguments.h"
#include "ledger/time.h"
#include "owner/views.h"

PG_FUNCTION_INFO_V1(pe_sql_set_time);
PG_FUNCTION_INFO_V1(pe_sql_hold_time);

Datum
pe_sql_set_time(PG_FUNCTION_ARGS)
{
	pe_dataset *dataset = pe_dataset_load_own(pe_text_argument(fcinfo, 0, "dataset"));
	static const char *const name[] = {"attribute", "append_only", "enforce"};

	for (int i = 0; i < lengthof(name); i++)
		if (PG_ARGISNULL(i + 1))
			pe_refuse_null(name[i]);
	if (PG_GETARG_BOOL(3) && !PG_GETARG_BOOL(2))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("enforce goes with append_only alone"),
				 errdetail("What it holds is that rows of periods that are over are neither deleted nor changed, "
						   "and that none come late.")));
	pe_dataset_check_rows(dataset);
	if (PG_GETARG_BOOL(3))
		pe_view_not_served(dataset, "the time cannot be held by triggers",
						   "Use enforce => false, if you promise that no table under the view changes rows of periods "
						   "that are over.");
	pe_view_check_time(dataset, PG_GETARG_BOOL(2));
	pe_time_declare(dataset, NameStr(*PG_GETARG_NAME(1)), PG_GETARG_BOOL(2), PG_GETARG_BOOL(3));
	pe_time_hold(dataset, NameStr(*PG_GETARG_NAME(1)), PG_GETARG_BOOL(3));
	PG_RETURN_VOID();
}

/* ------------------------------------------------------------------
 * The trigger
 * ------------------------------------------------------------------
 */

/* What is held, once for a statement. */
static const pe_held_time *
held_by(FunctionCallInfo fcinfo, const TriggerData *data)
{
	pe_held_time *held = fcinfo->flinfo->fn_extra;

	if (held == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);

		held = palloc(sizeof(*held));
		*held = pe_time_held(data->tg_trigger->tgargs[0], RelationGetRelid(data->tg_relation));
		fcinfo->flinfo->fn_extra = held;
		MemoryContextSwitchTo(old);
	}
	return held;
}

/* Whether a row is of a period that is over; one without a time is of none. */
static bool
is_held(const TriggerData *data, const pe_held_time *held, HeapTuple row)
{
	AttrNumber	number = get_attnum(RelationGetRelid(data->tg_relation), held->attribute);
	bool		isnull = true;
	Datum		value = 0;
	int64		time;

	if (number > 0)
		value = heap_getattr(row, number, RelationGetDescr(data->tg_relation), &isnull);
	if (isnull)
		return false;
	time = getBaseType(get_atttype(RelationGetRelid(data->tg_relation), number)) == DATEOID
		? DatumGetDateADT(value) : DatumGetTimestamp(value);
	return held->from <= time && time < held->to;
}

static void __attribute__((noreturn))
refuse_change(const TriggerData *data, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_RESTRICT_VIOLATION),
			 errmsg("%s in table \"%s\"", what, RelationGetRelationName(data->tg_relation)),
			 errdetail("Dataset \"%s\" has series of reports that rest on rows of periods that are over: "
					   "none is changed or deleted, and none comes late.",
					   data->tg_trigger->tgargs[0]),
			 errhint("The owner can end the series with dp.end_series, "
					 "or lift this with dp.set_time and enforce => false. "
					 "What a person loses then is in SECURITY.md.")));
	pg_unreachable();
}

Datum
pe_sql_hold_time(PG_FUNCTION_ARGS)
{
	const TriggerData *data = (const TriggerData *) fcinfo->context;
	const pe_held_time *held;
	bool		is_update;

	if (!CALLED_AS_TRIGGER(fcinfo) || data->tg_trigger->tgnargs != 1 || !TRIGGER_FIRED_BEFORE(data->tg_event))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("dp_internal.hold_time is for the triggers that dp.set_time makes")));
	held = held_by(fcinfo, data);
	if (!TRIGGER_FIRED_FOR_ROW(data->tg_event))
	{
		if (held->from < held->to)
			refuse_change(data, "rows of periods that are over cannot be truncated");
		PG_RETURN_POINTER(NULL);
	}
	is_update = TRIGGER_FIRED_BY_UPDATE(data->tg_event);
	if (is_held(data, held, data->tg_trigtuple) || (is_update && is_held(data, held, data->tg_newtuple)))
		refuse_change(data, TRIGGER_FIRED_BY_INSERT(data->tg_event)
					  ? "a row comes too late for its period"
					  : "a row of a period that is over cannot be changed or deleted");
	PG_RETURN_POINTER(is_update ? data->tg_newtuple : data->tg_trigtuple);
}
