/*
 * solve_aggregate.c
 *	  dp.solve_max_affine: the minimum of a piecewise affine function by linear
 *	  programming, without privacy.
 *
 * For rows that the caller may read: nothing is charged or protected.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "server/arguments.h"
#include "server/float_array.h"
#include "server/aggregate_options.h"
#include "ask/polytope.h"
#include "door/reader.h"
#include "server/settings.h"

PG_FUNCTION_INFO_V1(pe_sql_solve_max_affine_add);
PG_FUNCTION_INFO_V1(pe_sql_solve_max_affine_final);

#define NAME "dp.solve_max_affine"
#define ARG_SLOPES 1
#define ARG_OFFSET 2
#define ARG_OPTIONS 3

/* Where the options are among the aggregate's own arguments. */
#define OPTIONS 2

/* The relative gap that is asked for unless the options say another one. */
#define DEFAULT_GAP 1e-9

typedef struct state
{
	MemoryContext context;		/* of this and of everything below */
	int32		variables;
	pe_polytope set;
	double		gap;
	int32		rows;
	int32		room;			/* rows there is memory for */
	double	   *slope;			/* row-major */
	double	   *offset;
} state;

/* ------------------------------------------------------------------
 * Options
 * ------------------------------------------------------------------
 */

static void
check_keys(const Jsonb *options)
{
	static const char *const ours[] = {"lower", "upper", "inequalities", "gap"};
	Jsonb	   *rest = pe_options_without(options, ours, lengthof(ours));
	JsonbIterator *iterator = JsonbIteratorInit(&rest->root);
	JsonbIteratorToken token;
	JsonbValue	value;

	while ((token = JsonbIteratorNext(&iterator, &value, true)) != WJB_DONE)
		if (token == WJB_KEY)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("there is no option \"%s\"", pnstrdup(value.val.string.val, value.val.string.len)),
					 errhint("There are lower, upper, inequalities and gap.")));
}

static void
read_options(state *s, const Jsonb *options)
{
	pe_polytope_argument set = {0};

	if (options != NULL)
	{
		check_keys(options);
		pe_polytope_of_json(options, &set);
		pe_option_take_number(options, "gap", &s->gap);
	}
	if (!(s->gap >= PE_PROGRAMME_LEAST_GAP && s->gap < 1))
		pe_refuse_option("gap", psprintf("a number from %g to below 1", PE_PROGRAMME_LEAST_GAP));
	pe_polytope_make(&set, s->variables, &s->set);
}

/* ------------------------------------------------------------------
 * Rows
 * ------------------------------------------------------------------
 */

static ArrayType *
slopes_argument(FunctionCallInfo fcinfo)
{
	ArrayType  *array;

	if (PG_ARGISNULL(ARG_SLOPES))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("slopes must not be null, NaN or infinite")));
	array = PG_GETARG_ARRAYTYPE_P(ARG_SLOPES);
	if (ARR_NDIM(array) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("slopes must have one dimension")));
	if (ARR_DIMS(array)[0] > PE_AFFINE_VARIABLES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many slopes"),
				 errdetail("A minimum has at most %d variables.", PE_AFFINE_VARIABLES)));
	return array;
}

/* The first row says how many variables there are. */
static state *
first_row(FunctionCallInfo fcinfo, MemoryContext parent)
{
	MemoryContext context = AllocSetContextCreate(parent, "pg_epsilon rows", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	state	   *s = palloc0(sizeof(*s));

	s->context = context;
	s->gap = DEFAULT_GAP;
	s->variables = ARR_DIMS(slopes_argument(fcinfo))[0];
	read_options(s, PG_NARGS() > ARG_OPTIONS ? pe_constant_options(fcinfo, OPTIONS) : NULL);
	MemoryContextSwitchTo(old);
	return s;
}

/* Memory for twice as many rows, if there may be so much. */
static void
grow(state *s)
{
	int64		room = Max(2 * (int64) s->room, 1024);
	size_t		row = (s->variables + 1) * sizeof(double);

	if (room > PG_INT32_MAX ||
		room * row + pe_programme_memory(s->variables, room, s->set.inequalities) > (size_t) pe_max_memory * 1024)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("the rows of the aggregate need more than pg_epsilon.max_memory"),
				 errhint("Let a superuser raise pg_epsilon.max_memory.")));
	if (s->room == 0)
	{
		s->slope = palloc_extended(room * s->variables * sizeof(double), MCXT_ALLOC_HUGE);
		s->offset = palloc_extended(room * sizeof(double), MCXT_ALLOC_HUGE);
	}
	else
	{
		s->slope = repalloc_huge(s->slope, room * s->variables * sizeof(double));
		s->offset = repalloc_huge(s->offset, room * sizeof(double));
	}
	s->room = room;
}

static double
check_finite(double number, const char *what)
{
	if (!isfinite(number))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must not be null, NaN or infinite", what)));
	return number;
}

static void
add_row(state *s, FunctionCallInfo fcinfo)
{
	ArrayType  *array = slopes_argument(fcinfo);
	double	   *slope;
	pe_float_array walk;

	if (ARR_DIMS(array)[0] != s->variables)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("slopes of %d and of %d elements cannot be of one function",
						s->variables, ARR_DIMS(array)[0])));
	if (s->rows == s->room)
		grow(s);
	slope = s->slope + (size_t) s->rows * s->variables;
	pe_float_array_begin(&walk, array);
	for (int j = 0; j < s->variables; j++)
		slope[j] = check_finite(pe_float_array_next(&walk), "slopes");
	s->offset[s->rows++] = check_finite(PG_ARGISNULL(ARG_OFFSET) ? NAN : PG_GETARG_FLOAT8(ARG_OFFSET), "offsets");
}

Datum
pe_sql_solve_max_affine_add(PG_FUNCTION_ARGS)
{
	MemoryContext context = pe_reader_context(fcinfo, NAME);
	state	   *s = PG_ARGISNULL(0) ? first_row(fcinfo, context) : (state *) PG_GETARG_POINTER(0);
	MemoryContext old = MemoryContextSwitchTo(s->context);

	add_row(s, fcinfo);
	MemoryContextSwitchTo(old);
	PG_RETURN_POINTER(s);
}

/* ------------------------------------------------------------------
 * The minimum
 * ------------------------------------------------------------------
 */

static void
solve(const state *s, pe_affine_minimum *minimum)
{
	pe_plain_affine f = {.variables = s->variables, .rows = s->rows, .slope = s->slope, .offset = s->offset};
	pe_programme_end end = pe_affine_minimise(&f, &s->set, s->gap, minimum);

	if (end == PE_PROGRAMME_UNBOUNDED)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the function has no minimum over the feasible set"),
				 errhint("Bound the set by lower, upper or inequalities.")));
	if (end == PE_PROGRAMME_EMPTY)
		pe_polytope_refuse(end);
	/* a gap that was not reached shows in what is returned */
}

static Datum
make_solution(const state *s, const pe_affine_minimum *minimum, Oid type)
{
	Datum	   *x = palloc(s->variables * sizeof(Datum));
	Datum		values[3];
	bool		nulls[3] = {false};

	for (int j = 0; j < s->variables; j++)
		x[j] = Float8GetDatum(minimum->x[j]);
	values[0] = PointerGetDatum(construct_array(x, s->variables, FLOAT8OID, 8, FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
	values[1] = Float8GetDatum(minimum->value);
	values[2] = Float8GetDatum(minimum->value - minimum->bound);
	return HeapTupleGetDatum(heap_form_tuple(lookup_rowtype_tupdesc_copy(type, -1), values, nulls));
}

/* NULL without rows.  The state stays as it is: the result may be asked for again. */
Datum
pe_sql_solve_max_affine_final(PG_FUNCTION_ARGS)
{
	state	   *s = PG_ARGISNULL(0) ? NULL : (state *) PG_GETARG_POINTER(0);
	pe_affine_minimum minimum = {0};

	(void) pe_reader_context(fcinfo, NAME);
	if (s == NULL)
		PG_RETURN_NULL();
	minimum.x = palloc0(s->variables * sizeof(double));
	solve(s, &minimum);
	PG_RETURN_DATUM(make_solution(s, &minimum, get_fn_expr_rettype(fcinfo->flinfo)));
}
