/*
 * minimum_aggregate.c
 *	  dp.minimize_max_affine_agg: private minima over the rows of a query, for roles
 *	  that may read them.
 *
 * The options name a registered dataset, on whose account the minimum is, and whose
 * declaration says by how much an offset can move.  What the rows are is the query's
 * matter: who asks may read them, and vouches for it that slopes are public, and that
 * neighbours of the dataset differ in the query's offsets by no more than they do in the
 * private column, in one row or in all as it was declared.
 *
 * As of the aggregates that fit models (fit_aggregate.c): what can be wrong with the
 * options is so before any row is looked at, one charge for each group at its end, also
 * for one without rows, and the same query again is charged again.  There is no combine
 * function and none to serialise a state, and the state is `internal`: no SQL sees it.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "server/float_array.h"
#include "ask/ask.h"
#include "ask/ask_minimum.h"
#include "server/aggregate_options.h"
#include "ask/polytope.h"
#include "door/reader.h"
#include "server/settings.h"
#include "server/shim.h"

PG_FUNCTION_INFO_V1(pe_sql_minimize_max_affine_add);
PG_FUNCTION_INFO_V1(pe_sql_minimize_max_affine_final);

#define NAME "dp.minimize_max_affine_agg"
#define ARG_SLOPES 1
#define ARG_OFFSET 2

/* Where the options are among the aggregate's own arguments. */
#define OPTIONS 2

/* Memory is looked at before each so many rows. */
#define BLOCK_ROWS 1024

/* One group. */
typedef struct state
{
	pe_call		call;
	MemoryContext context;		/* of this and of everything below */
	pe_minimum_validated *minimum;
	const double *value;
	pe_affine	rows;
	size_t		bytes;			/* of rows */
	size_t	   *all_bytes;		/* of the rows of all groups of the aggregate; NULL in a group without rows */
	bool		minimised;
	Datum		result;			/* minimised */
} state;

/* ------------------------------------------------------------------
 * A group
 * ------------------------------------------------------------------
 */

static void
require(const void *given, const char *name)
{
	if (given == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the options lack \"%s\"", name),
				 errhint("They need dataset, lower, upper, and epsilon or rho.")));
}

/* Every key that is not one of dp.minimize_max_affine is an option of the method. */
static void
read_options(const Jsonb *options, pe_request *request)
{
	static const char *const ours[] = {
		"dataset", "lower", "upper", "inequalities", "method", "epsilon", "rho", "delta", "budget"
	};

	pe_option_take_string(options, "dataset", &request->dataset);
	pe_polytope_of_json(options, &request->minimum.set);
	pe_option_take_string(options, "method", &request->method);
	pe_option_take_number(options, "epsilon", &request->epsilon);
	pe_option_take_number(options, "rho", &request->rho);
	pe_option_take_number(options, "delta", &request->delta);
	pe_option_take_string(options, "budget", &request->budget);
	require(request->dataset, "dataset");
	require(request->minimum.set.lower, "lower");
	require(request->minimum.set.upper, "upper");
	request->options = pe_options_without(options, ours, lengthof(ours));
}

static void
validate_minimum(pe_call *call)
{
	state	   *s = (state *) call;
	pe_request *request = &call->request;

	pe_request_init(request, PE_ASK_MINIMUM, NAME);
	read_options(pe_constant_options(call->fcinfo, OPTIONS), request);
	request->fresh = true;
	request->of_query = true;
	s->minimum = pe_minimum_validate(request, true);
	call->asked = &s->minimum->asked;
}

static void
ask_for_minimum(pe_call *call)
{
	state	   *s = (state *) call;

	pe_minimise_collected(&s->minimum->question, &s->rows, &call->reply);
}

static const char *
paid_for_minimum(pe_call *call)
{
	return pe_minimum_paid(((state *) call)->minimum, &call->reply);
}

static const pe_ask_kind ask_minimum = {
	.validate = validate_minimum, .door = ask_for_minimum, .paid = paid_for_minimum
};

static void
forget(void *argument)
{
	state	   *s = argument;

	pe_affine_free(&s->rows);
	if (s->all_bytes != NULL)
		*s->all_bytes -= s->bytes;
}

/* A group without rows; anything wrong with the options is an error here. */
static state *
new_state(FunctionCallInfo fcinfo, MemoryContext parent)
{
	MemoryContext context = AllocSetContextCreate(parent, "pg_epsilon rows", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	state	   *s = palloc0(sizeof(*s));

	s->context = context;
	s->call = (pe_call) {.kind = &ask_minimum, .fcinfo = fcinfo};
	pe_ask_prepare(&s->call);
	pe_affine_init(&s->rows, s->minimum->problem.set.variables, pe_affine_unit(s->minimum->problem.max_change));
	pe_guard_set(context, forget, s);
	MemoryContextSwitchTo(old);
	return s;
}

/* ------------------------------------------------------------------
 * Rows
 * ------------------------------------------------------------------
 */

/* What the groups of one aggregate take together is counted with its transition function. */
static state *
first_row(FunctionCallInfo fcinfo, MemoryContext parent)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;
	state	   *s = new_state(fcinfo, parent);

	if (flinfo->fn_extra == NULL)
		flinfo->fn_extra = MemoryContextAllocZero(flinfo->fn_mcxt, sizeof(size_t));
	s->all_bytes = flinfo->fn_extra;
	return s;
}

/* Before a block of rows. */
static void
check_memory(state *s)
{
	uint64		rows = (uint64) s->rows.rows + BLOCK_ROWS;
	size_t		bytes = pe_affine_memory(s->rows.variables, rows);
	size_t		all = *s->all_bytes + (bytes - s->bytes);

	if (rows > PG_INT32_MAX || all + pe_minimum_memory(&s->minimum->problem, rows) > (size_t) pe_max_memory * 1024)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("the rows of the aggregate need more than pg_epsilon.max_memory"),
				 errdetail("Nothing was charged for this group."),
				 errhint("Let a superuser raise pg_epsilon.max_memory.")));
	*s->all_bytes = all;
	s->bytes = bytes;
}

/* Slopes are public: an error may say what is wrong with them. */
static void
read_slopes(const state *s, FunctionCallInfo fcinfo, double *slope)
{
	int			variables = s->rows.variables;
	ArrayType  *array = PG_ARGISNULL(ARG_SLOPES) ? NULL : PG_GETARG_ARRAYTYPE_P(ARG_SLOPES);
	pe_float_array walk;

	if (array == NULL || !pe_float_array_has(array, variables))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("slopes must have one dimension and as many elements as lower (%d)", variables)));
	pe_float_array_begin(&walk, array);
	for (int j = 0; j < variables; j++)
	{
		slope[j] = pe_float_array_next(&walk);
		if (!isfinite(slope[j]))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("slopes must not be null, NaN or infinite")));
	}
}

/* An offset is private: no value of it is an error. */
static pe_i128
offset_of(const state *s, FunctionCallInfo fcinfo)
{
	return pe_affine_offset(PG_ARGISNULL(ARG_OFFSET) ? NAN : PG_GETARG_FLOAT8(ARG_OFFSET), s->rows.unit);
}

static void
add_row(state *s, FunctionCallInfo fcinfo)
{
	double		slope[PE_AFFINE_VARIABLES];
	MemoryContext old;

	read_slopes(s, fcinfo, slope);
	for (int j = 0; j < s->rows.variables; j++)
		s->minimum->steepest[j] = Max(s->minimum->steepest[j], fabs(slope[j]));
	if (s->rows.rows % BLOCK_ROWS == 0)
		check_memory(s);
	old = MemoryContextSwitchTo(s->context);
	pe_affine_add(&s->rows, slope, offset_of(s, fcinfo));
	MemoryContextSwitchTo(old);
}

Datum
pe_sql_minimize_max_affine_add(PG_FUNCTION_ARGS)
{
	MemoryContext context = pe_reader_context(fcinfo, NAME);
	state	   *s = PG_ARGISNULL(0) ? first_row(fcinfo, context) : (state *) PG_GETARG_POINTER(0);

	add_row(s, fcinfo);
	PG_RETURN_POINTER(s);
}

/* ------------------------------------------------------------------
 * The minimum
 * ------------------------------------------------------------------
 */

static void
minimise_group(state *s, Oid type)
{
	Datum		values[3] = {0};
	bool		nulls[3] = {false};
	MemoryContext old = MemoryContextSwitchTo(s->context);

	pe_ask(&s->call);
	s->value = pe_minimum_values(s->minimum, &s->call.reply);
	pe_minimum_row(s->minimum, s->value, s->call.reply.release_id, values, nulls);
	s->result = HeapTupleGetDatum(heap_form_tuple(lookup_rowtype_tupdesc_copy(type, -1), values, nulls));
	s->minimised = true;
	MemoryContextSwitchTo(old);
}

Datum
pe_sql_minimize_max_affine_final(PG_FUNCTION_ARGS)
{
	MemoryContext context = pe_reader_context(fcinfo, NAME);
	state	   *s = PG_ARGISNULL(0) ? new_state(fcinfo, context) : (state *) PG_GETARG_POINTER(0);

	if (!s->minimised)
		minimise_group(s, get_fn_expr_rettype(fcinfo->flinfo));
	return datumCopy(s->result, false, -1);
}
