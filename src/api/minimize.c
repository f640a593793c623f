/*
 * minimize.c
 *	  dp.minimize_max_affine: a private minimum on a registered table, for roles that
 *	  may not read it.
 */
#include "postgres.h"

#include "server/arguments.h"
#include "ask/ask.h"
#include "ask/ask_minimum.h"
#include "ask/polytope.h"
#include "server/return_rows.h"

PG_FUNCTION_INFO_V1(pe_sql_minimize_max_affine);
PG_FUNCTION_INFO_V1(pe_sql_quote_minimum);

enum
{
	ARG_DATASET, ARG_SLOPES, ARG_OFFSETS, ARG_LOWER, ARG_UPPER, ARG_INEQUALITIES, ARG_METHOD, ARG_EPSILON, ARG_RHO,
	ARG_DELTA, ARG_OPTIONS, ARG_FRESH, ARG_BUDGET
};

typedef struct minimum_call
{
	pe_call		call;
	pe_minimum_validated *minimum;
	const double *value;
} minimum_call;

static void
read_arguments(FunctionCallInfo fcinfo, pe_request *request)
{
	pe_request_init(request, PE_ASK_MINIMUM, "dp.minimize_max_affine");
	request->dataset = pe_text_argument(fcinfo, ARG_DATASET, "dataset");
	request->attribute = pe_names_argument(fcinfo, ARG_SLOPES, "slopes", "a slope", &request->attributes);
	request->minimum.offsets = pe_text_argument(fcinfo, ARG_OFFSETS, "offsets");
	pe_polytope_of_arrays(fcinfo, ARG_LOWER, &request->minimum.set);
	request->method = pe_optional_text(fcinfo, ARG_METHOD);
	request->epsilon = pe_optional_float(fcinfo, ARG_EPSILON, "epsilon");
	request->rho = pe_optional_float(fcinfo, ARG_RHO, "rho");
	request->delta = pe_optional_float(fcinfo, ARG_DELTA, "delta");
	request->options = PG_ARGISNULL(ARG_OPTIONS) ? NULL : PG_GETARG_JSONB_P(ARG_OPTIONS);
	request->fresh = !PG_ARGISNULL(ARG_FRESH) && PG_GETARG_BOOL(ARG_FRESH);
	request->budget = pe_optional_name(fcinfo, ARG_BUDGET);
}

static void
validate_minimum(pe_call *call)
{
	minimum_call *c = (minimum_call *) call;

	read_arguments(call->fcinfo, &call->request);
	c->minimum = pe_minimum_validate(&call->request, !call->quote);
	call->asked = &c->minimum->asked;
}

static void
ask_for_minimum(pe_call *call)
{
	pe_door_minimise(&((minimum_call *) call)->minimum->question, &call->reply);
}

static const char *
paid_for_minimum(pe_call *call)
{
	return pe_minimum_paid(((minimum_call *) call)->minimum, &call->reply);
}

static const pe_ask_kind ask_minimum = {
	.validate = validate_minimum, .door = ask_for_minimum, .paid = paid_for_minimum
};

static void
make_row(const void *argument, int32 row, Datum *values, bool *nulls)
{
	const minimum_call *c = argument;

	pe_minimum_row(c->minimum, c->value, c->call.reply.release_id, values, nulls);
}

Datum
pe_sql_minimize_max_affine(PG_FUNCTION_ARGS)
{
	minimum_call c = {.call = {.kind = &ask_minimum, .fcinfo = fcinfo}};

	pe_ask_prepare(&c.call);
	pe_ask(&c.call);
	c.value = pe_minimum_values(c.minimum, &c.call.reply);
	pe_return_rows(fcinfo, 1, 3, make_row, &c);
	return (Datum) 0;
}

/* Reads no row, charges nothing. */
Datum
pe_sql_quote_minimum(PG_FUNCTION_ARGS)
{
	minimum_call c = {.call = {.kind = &ask_minimum, .fcinfo = fcinfo, .quote = true}};

	pe_ask_prepare(&c.call);
	pe_asked_return_quote(fcinfo, c.call.asked, c.call.replay);
	return (Datum) 0;
}
