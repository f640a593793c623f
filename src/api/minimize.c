/*
 * minimize.c
 *	  dp.minimize_max_affine: a private minimum on a registered table, for roles that
 *	  may not read it.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "api/arguments.h"
#include "api/minimum_question.h"
#include "api/rows.h"
#include "ledger/access.h"

PG_FUNCTION_INFO_V1(pe_sql_minimize_max_affine);

enum
{
	ARG_DATASET, ARG_SLOPES, ARG_OFFSETS, ARG_LOWER, ARG_UPPER, ARG_INEQUALITIES, ARG_METHOD, ARG_EPSILON, ARG_RHO,
	ARG_DELTA, ARG_OPTIONS, ARG_FRESH, ARG_BUDGET
};

typedef struct call
{
	FunctionCallInfo fcinfo;
	pe_minimum_request request;
	pe_minimum_validated *minimum;
	pe_charge_reply reply;
	const double *value;
} call;

static char **
slope_names(FunctionCallInfo fcinfo, int *count)
{
	Datum	   *elements;
	bool	   *nulls;
	char	  **names;

	if (PG_ARGISNULL(ARG_SLOPES))
		pe_refuse_null("slopes");
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(ARG_SLOPES), NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR, &elements, &nulls, count);
	names = palloc((*count + 1) * sizeof(char *));
	for (int i = 0; i < *count; i++)
	{
		if (nulls[i])
			pe_refuse_null("a slope");
		names[i] = pstrdup(NameStr(*DatumGetName(elements[i])));
	}
	return names;
}

static char *
optional_name(FunctionCallInfo fcinfo, int n)
{
	return PG_ARGISNULL(n) ? NULL : pstrdup(NameStr(*PG_GETARG_NAME(n)));
}

static double
optional_float(FunctionCallInfo fcinfo, int n, const char *name)
{
	if (PG_ARGISNULL(n))
		return NAN;
	if (isnan(PG_GETARG_FLOAT8(n)))
		pe_refuse_parameter(name, "NaN", "a number");
	return PG_GETARG_FLOAT8(n);
}

static void
read_arguments(FunctionCallInfo fcinfo, pe_minimum_request *request)
{
	pe_minimum_request_init(request, "dp.minimize_max_affine");
	request->dataset = pe_text_argument(fcinfo, ARG_DATASET, "dataset");
	request->slope = slope_names(fcinfo, &request->slopes);
	request->offsets = optional_name(fcinfo, ARG_OFFSETS);
	if (request->offsets == NULL)
		pe_refuse_null("offsets");
	pe_polytope_of_arrays(fcinfo, ARG_LOWER, &request->set);
	request->method = PG_ARGISNULL(ARG_METHOD) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(ARG_METHOD));
	request->epsilon = optional_float(fcinfo, ARG_EPSILON, "epsilon");
	request->rho = optional_float(fcinfo, ARG_RHO, "rho");
	request->delta = optional_float(fcinfo, ARG_DELTA, "delta");
	request->options = PG_ARGISNULL(ARG_OPTIONS) ? NULL : PG_GETARG_JSONB_P(ARG_OPTIONS);
	request->fresh = !PG_ARGISNULL(ARG_FRESH) && PG_GETARG_BOOL(ARG_FRESH);
	request->budget = optional_name(fcinfo, ARG_BUDGET);
}

static void
validate(void *argument)
{
	call	   *c = argument;

	read_arguments(c->fcinfo, &c->request);
	c->minimum = pe_minimum_validate(&c->request);
}

/* Charged, or replayed, or refused. */
static void
minimise_privately(call *c)
{
	pe_door_minimise(&c->minimum->question, &c->reply);
	if (c->reply.outcome == PE_REFUSED)
		pe_minimum_refuse(c->minimum, &c->reply);
	if (c->reply.charge_id != 0)
		pe_minimum_tell(c->minimum, &c->reply);
	c->value = pe_minimum_values(c->minimum, &c->reply);
}

static void
minimise_plainly(call *c)
{
	double	   *value = palloc0((c->minimum->problem.set.variables + 1) * sizeof(double));

	pe_door_minimise_plain(&c->minimum->question, value);
	c->value = value;
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
	ErrorData  *error = pe_run_undone(validate, &c);	/* the caller's transaction keeps no lock of it */

	if (error != NULL)
		ReThrowError(error);
	if (pe_minimum_is_private(c.minimum->problem.method))
		minimise_privately(&c);
	else
		minimise_plainly(&c);
	pe_return_rows(fcinfo, 1, 3, make_row, &c);
	return (Datum) 0;
}
