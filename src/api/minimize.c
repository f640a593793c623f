/*
 * minimize.c
 *	  dp.minimize_max_affine: a private minimum on a registered table, for roles that
 *	  may not read it.
 */
#include "postgres.h"

#include "server/arguments.h"
#include "ask/ask_minimum.h"
#include "ask/polytope.h"
#include "server/return_rows.h"
#include "server/access.h"

PG_FUNCTION_INFO_V1(pe_sql_minimize_max_affine);
PG_FUNCTION_INFO_V1(pe_sql_quote_minimum);

enum
{
	ARG_DATASET, ARG_SLOPES, ARG_OFFSETS, ARG_LOWER, ARG_UPPER, ARG_INEQUALITIES, ARG_METHOD, ARG_EPSILON, ARG_RHO,
	ARG_DELTA, ARG_OPTIONS, ARG_FRESH, ARG_BUDGET
};

typedef struct call
{
	FunctionCallInfo fcinfo;
	pe_request request;
	pe_minimum_validated *minimum;
	pe_charge_reply reply;
	const double *value;
	bool		replay;			/* of a quote */
} call;

static void
read_arguments(FunctionCallInfo fcinfo, pe_request *request)
{
	pe_request_init(request, "dp.minimize_max_affine");
	request->dataset = pe_text_argument(fcinfo, ARG_DATASET, "dataset");
	request->attribute = pe_names_argument(fcinfo, ARG_SLOPES, "slopes", "a slope", &request->attributes);
	request->offsets = pe_text_argument(fcinfo, ARG_OFFSETS, "offsets");
	pe_polytope_of_arrays(fcinfo, ARG_LOWER, &request->set);
	request->method = pe_optional_text(fcinfo, ARG_METHOD);
	request->epsilon = pe_optional_float(fcinfo, ARG_EPSILON, "epsilon");
	request->rho = pe_optional_float(fcinfo, ARG_RHO, "rho");
	request->delta = pe_optional_float(fcinfo, ARG_DELTA, "delta");
	request->options = PG_ARGISNULL(ARG_OPTIONS) ? NULL : PG_GETARG_JSONB_P(ARG_OPTIONS);
	request->fresh = !PG_ARGISNULL(ARG_FRESH) && PG_GETARG_BOOL(ARG_FRESH);
	request->budget = pe_optional_name(fcinfo, ARG_BUDGET);
}

static void
validate(call *c)
{
	read_arguments(c->fcinfo, &c->request);
	c->minimum = pe_minimum_validate(&c->request, true);
}

/* Charged, or replayed, or refused. */
static void
minimise(call *c)
{
	pe_door_minimise(&c->minimum->question, &c->reply);
	if (c->reply.outcome == PE_REFUSED)
		pe_asked_refuse(&c->minimum->asked, &c->reply, "");
	pe_minimum_tell(c->minimum, &c->reply);
	c->value = pe_minimum_values(c->minimum, &c->reply);
}

static void
make_row(const void *argument, int32 row, Datum *values, bool *nulls)
{
	const call *c = argument;

	pe_minimum_row(c->minimum, c->value, c->reply.release_id, values, nulls);
}

Datum
pe_sql_minimize_max_affine(PG_FUNCTION_ARGS)
{
	call		c = {.fcinfo = fcinfo};

	PE_UNDONE();				/* the caller's transaction keeps no lock of it */
	validate(&c);
	PE_END_UNDONE();
	minimise(&c);
	pe_return_rows(fcinfo, 1, 3, make_row, &c);
	return (Datum) 0;
}

static void
validate_quote(call *c)
{
	read_arguments(c->fcinfo, &c->request);
	c->minimum = pe_minimum_validate(&c->request, false);
	c->replay = pe_asked_is_replay(&c->minimum->asked);
}

/* Reads no row, charges nothing. */
Datum
pe_sql_quote_minimum(PG_FUNCTION_ARGS)
{
	call		c = {.fcinfo = fcinfo};

	PE_UNDONE();				/* the caller's transaction keeps no lock of it */
	validate_quote(&c);
	PE_END_UNDONE();
	pe_asked_return_quote(fcinfo, &c.minimum->asked, c.replay);
	return (Datum) 0;
}
