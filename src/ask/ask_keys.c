/*
 * ask_keys.c
 *	  dp.keys: the values of a column that are listed nowhere, for roles that may not read it.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "ask/keys_call.h"
#include "server/arguments.h"
#include "server/return_rows.h"

PG_FUNCTION_INFO_V1(pe_sql_keys);

enum
{
	ARG_DATASET, ARG_COLUMN, ARG_EPSILON, ARG_RHO, ARG_DELTA, ARG_ROWS_PER_UNIT, ARG_FRESH, ARG_BUDGET, ARG_PREDICATE
};

static void
read_arguments(FunctionCallInfo fcinfo, pe_key_call *c)
{
	pe_request *request = &c->call.request;

	pe_request_init(request, PE_ASK_KEYS, "dp.keys");
	request->dataset = pe_text_argument(fcinfo, ARG_DATASET, "dataset");
	request->attribute = palloc(sizeof(char *));
	request->attribute[0] = pe_optional_name(fcinfo, ARG_COLUMN);
	if (request->attribute[0] == NULL)
		pe_refuse_null("column");
	request->attributes = c->opens = 1;
	request->predicate = pe_optional_text(fcinfo, ARG_PREDICATE);
	request->epsilon = pe_optional_float(fcinfo, ARG_EPSILON, "epsilon");
	request->rho = pe_optional_float(fcinfo, ARG_RHO, "rho");
	c->delta = pe_optional_float(fcinfo, ARG_DELTA, "delta");
	request->cuts = !PG_ARGISNULL(ARG_ROWS_PER_UNIT);
	request->rows_per_unit = request->cuts ? PG_GETARG_INT32(ARG_ROWS_PER_UNIT) : 0;
	request->fresh = !PG_ARGISNULL(ARG_FRESH) && PG_GETARG_BOOL(ARG_FRESH);
	request->budget = pe_optional_name(fcinfo, ARG_BUDGET);
}

static void
make_row(const void *argument, int32 row, Datum *values, bool *nulls)
{
	const pe_key_call *c = argument;
	double		estimate = pe_key_call_estimate(c, row);

	values[0] = CStringGetTextDatum(c->keys.key[row].key);
	values[1] = Float8GetDatum(estimate);
	values[2] = Float8GetDatum(c->stderr_);
	values[3] = Float8GetDatum(estimate - c->half);
	values[4] = Float8GetDatum(estimate + c->half);
	values[5] = Int64GetDatum(c->call.reply.release_id);
	nulls[5] = c->call.reply.release_id == 0;
}

Datum
pe_sql_keys(PG_FUNCTION_ARGS)
{
	pe_key_call c = {.call = {.fcinfo = fcinfo}};

	read_arguments(fcinfo, &c);
	pe_key_call_prepare(&c, true);
	pe_key_call_answer(&c);
	pe_return_rows(fcinfo, c.keys.keys, 6, make_row, &c);
	return (Datum) 0;
}
