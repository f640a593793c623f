/*
 * predict.c
 *	  dp.predict, dp.predict_row: what a fitted model says of a row.
 *
 * A call site keeps its model from row to row, as long as the question is the same:
 * the same name, asked by the same role, in one command of one statement.  So a role
 * that may no longer use the model, or a name that means another model now, is seen.
 */
#include "postgres.h"

#include "access/htup_details.h"	/* VARDATA and its kin, in every version */
#include "access/xact.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "read/predictor.h"

PG_FUNCTION_INFO_V1(pe_sql_predict);
PG_FUNCTION_INFO_V1(pe_sql_predict_row);

typedef struct kept
{
	MemoryContext context;		/* of what follows */
	pe_predictor *predictor;	/* NULL: none yet */
	char	   *name;
	int			size;
	Oid			user;
	CommandId	command;
	TimestampTz statement;
} kept;

static kept *
new_kept(FmgrInfo *flinfo)
{
	kept	   *k = MemoryContextAllocZero(flinfo->fn_mcxt, sizeof(*k));

	k->context = AllocSetContextCreate(flinfo->fn_mcxt, "pg_epsilon model", ALLOCSET_SMALL_SIZES);
	flinfo->fn_extra = k;
	return k;
}

static bool
is_current(const kept *k, const char *name, int size)
{
	return k->predictor != NULL && k->size == size && memcmp(k->name, name, size) == 0 && k->user == GetUserId() &&
		k->command == GetCurrentCommandId(false) && k->statement == GetCurrentStatementStartTimestamp();
}

static void
load_model(kept *k, const char *name, int size)
{
	MemoryContext old;

	k->predictor = NULL;
	MemoryContextReset(k->context);
	old = MemoryContextSwitchTo(k->context);
	k->name = pnstrdup(name, size);
	k->size = size;
	k->user = GetUserId();
	k->command = GetCurrentCommandId(false);
	k->statement = GetCurrentStatementStartTimestamp();
	k->predictor = pe_predictor_load(k->name);
	MemoryContextSwitchTo(old);
}

/* The model that the first argument names. */
static const pe_predictor *
predictor_of(FunctionCallInfo fcinfo)
{
	text	   *model = PG_GETARG_TEXT_PP(0);
	kept	   *k = fcinfo->flinfo->fn_extra != NULL ? fcinfo->flinfo->fn_extra : new_kept(fcinfo->flinfo);

	if (!is_current(k, VARDATA_ANY(model), VARSIZE_ANY_EXHDR(model)))
		load_model(k, VARDATA_ANY(model), VARSIZE_ANY_EXHDR(model));
	return k->predictor;
}

Datum
pe_sql_predict(PG_FUNCTION_ARGS)
{
	double		prediction;

	if (!pe_predict_object(predictor_of(fcinfo), PG_GETARG_JSONB_P(1), &prediction))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(prediction);
}

Datum
pe_sql_predict_row(PG_FUNCTION_ARGS)
{
	double		prediction;

	if (!pe_predict_array(predictor_of(fcinfo), PG_GETARG_ARRAYTYPE_P(1), &prediction))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(prediction);
}
