/*
 * affine_rows.c
 *	  dp_internal.affine_rows: the rows of a piecewise affine function.
 *
 * The accumulator through which the door reads rows for a minimum.  It collects
 * slopes and offsets and hands them to the door; whoever else calls it gets an error
 * at its end.  Its state is `internal`, so no SQL can hand it a state of its own making.
 *
 * Slopes are public: a row whose slope is null, or lies outside where the declaration
 * drops that, is no row of the function.  The offset is private, an integer from here
 * on (offset_value.h), and has no say in what is done.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"	/* VARDATA and its kin, in every version */
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "door/offset_value.h"
#include "door/reader.h"
#include "door/affine_sink.h"
#include "server/shim.h"
#include "server/values.h"

PG_FUNCTION_INFO_V1(pe_sql_affine_rows_add);
PG_FUNCTION_INFO_V1(pe_sql_affine_rows_combine);
PG_FUNCTION_INFO_V1(pe_sql_affine_rows_serialize);
PG_FUNCTION_INFO_V1(pe_sql_affine_rows_deserialize);
PG_FUNCTION_INFO_V1(pe_sql_affine_rows_final);

#define NAME "dp_internal.affine_rows"
#define ARG_SPEC 1
#define ARG_OFFSET 2
#define ARG_FIRST 3

typedef struct state
{
	MemoryContext context;		/* the rows, and the numbers of reader; this itself is outside */
	pe_guard   *guard;			/* of the context, until the rows are the door's */
	pe_affine_spec spec;
	pe_affine	rows;
	bool		taken;			/* and wiped */
	bool		reads;			/* not a state that was deserialised or combined */
	pe_offset_reader reader;
	Oid			type[PE_AFFINE_VARIABLES];	/* base types of the slopes */
	const char *pending;		/* of a state that was deserialised: its bytes, the rows not yet taken in */
	size_t		pending_size;
} state;

static MemoryContext
aggregate_context(FunctionCallInfo fcinfo)
{
	return pe_reader_context(fcinfo, NAME);
}

/* ---- a state ---- */

static void
wipe(void *argument)
{
	state	   *s = argument;

	pe_affine_free(&s->rows);
}

static state *
new_state(MemoryContext parent, const pe_affine_spec *spec)
{
	state	   *s = MemoryContextAllocZero(parent, sizeof(*s));
	MemoryContext old;

	s->context = AllocSetContextCreate(parent, "pg_epsilon affine rows", ALLOCSET_DEFAULT_SIZES);
	s->spec = *spec;
	old = MemoryContextSwitchTo(s->context);
	pe_affine_init(&s->rows, spec->variables, spec->unit);
	s->guard = pe_guard_set(s->context, wipe, s);
	MemoryContextSwitchTo(old);
	return s;
}

static void
add_row(state *s, const double *slope, pe_i128 offset)
{
	MemoryContext old = MemoryContextSwitchTo(s->context);

	pe_affine_spec_add(&s->spec, &s->rows, slope, offset);
	MemoryContextSwitchTo(old);
}

/* ---- reading rows ---- */

static void
check_types(FunctionCallInfo fcinfo, state *s)
{
	if (PG_NARGS() - ARG_FIRST != s->spec.variables)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a row of " NAME " has %d slopes, and %d are declared", PG_NARGS() - ARG_FIRST, s->spec.variables)));
	if (!pe_offset_reader_init(&s->reader, getBaseType(get_fn_expr_argtype(fcinfo->flinfo, ARG_OFFSET)), s->spec.unit))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("the offset of " NAME " is not a number")));
	for (int j = 0; j < s->spec.variables; j++)
	{
		s->type[j] = getBaseType(get_fn_expr_argtype(fcinfo->flinfo, ARG_FIRST + j));
		if (!pe_type_has_bins(s->type[j]))
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("slope %d of " NAME " is not a number", j + 1)));
	}
}

static state *
first_row(FunctionCallInfo fcinfo)
{
	MemoryContext context = aggregate_context(fcinfo);
	bytea	   *bytes;
	pe_affine_spec spec;
	state	   *s;
	MemoryContext old;

	if (PG_ARGISNULL(ARG_SPEC))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("the specification of " NAME " must not be null")));
	bytes = PG_GETARG_BYTEA_PP(ARG_SPEC);
	if (!pe_affine_spec_read(&spec, VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid specification for " NAME)));
	s = new_state(context, &spec);
	old = MemoryContextSwitchTo(s->context);
	check_types(fcinfo, s);
	s->reads = true;
	MemoryContextSwitchTo(old);
	return s;
}

/* The slope of a value; false if it drops the row. */
static bool
slope_of(const pe_slope_spec *spec, double value, double *slope)
{
	*slope = value < spec->lower ? spec->lower : value > spec->upper ? spec->upper : value;
	return !isnan(value) && (spec->clamp != 0 || *slope == value);
}

/* The slopes of a row; false if one of them drops it. */
static bool
read_slopes(FunctionCallInfo fcinfo, const state *s, double *slope)
{
	for (int j = 0; j < s->spec.variables; j++)
		if (PG_ARGISNULL(ARG_FIRST + j) ||
			!slope_of(&s->spec.slope[j], pe_number_of_datum(s->type[j], PG_GETARG_DATUM(ARG_FIRST + j)), &slope[j]))
			return false;
	return true;
}

Datum
pe_sql_affine_rows_add(PG_FUNCTION_ARGS)
{
	state	   *s = PG_ARGISNULL(0) ? first_row(fcinfo) : (state *) PG_GETARG_POINTER(0);
	double		slope[PE_AFFINE_VARIABLES];

	if (!s->reads)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a state of " NAME " that was combined reads no rows")));
	if (read_slopes(fcinfo, s, slope))
	{
		pe_i128		offset = pe_offset_of_datum(&s->reader, PG_GETARG_DATUM(ARG_OFFSET), PG_ARGISNULL(ARG_OFFSET));

		add_row(s, slope, offset);
		pe_wipe(&offset, sizeof(offset));
	}
	PG_RETURN_POINTER(s);
}

/* ---- parallel workers ---- */

Datum
pe_sql_affine_rows_serialize(PG_FUNCTION_ARGS)
{
	state	   *s = (state *) PG_GETARG_POINTER(0);
	size_t		size = pe_affine_rows_size(&s->spec, &s->rows);
	bytea	   *bytes;

	(void) aggregate_context(fcinfo);
	pe_reader_take(&s->taken, NAME);
	bytes = pe_reader_result(size);
	pe_affine_rows_write(&s->spec, &s->rows, VARDATA(bytes));
	pe_affine_free(&s->rows);
	PG_RETURN_BYTEA_P(bytes);
}

/* Rows are taken in by the state they are combined with: they are copied once. */
Datum
pe_sql_affine_rows_deserialize(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(0);
	pe_affine_spec spec;
	state	   *s;

	(void) aggregate_context(fcinfo);
	if (!pe_affine_rows_spec(&spec, VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes)))
		pe_reader_refuse_state(NAME);
	s = new_state(CurrentMemoryContext, &spec);
	s->pending = VARDATA_ANY(bytes);
	s->pending_size = VARSIZE_ANY_EXHDR(bytes);
	PG_RETURN_POINTER(s);
}

static void
check_same(const state *s, const state *other)
{
	if (memcmp(&s->spec, &other->spec, sizeof(s->spec)) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the specification of " NAME " must be the same for all rows")));
}

/* Takes in what a deserialised state brought. */
static void
absorb(FunctionCallInfo fcinfo, state *s, const state *other)
{
	MemoryContext old = MemoryContextSwitchTo(s->context);

	if (!pe_affine_rows_read(&s->spec, &s->rows, other->pending, other->pending_size))
		pe_reader_refuse_state(NAME);
	pe_reader_spent(fcinfo, (char *) other->pending, other->pending_size);
	MemoryContextSwitchTo(old);
}

Datum
pe_sql_affine_rows_combine(PG_FUNCTION_ARGS)
{
	MemoryContext context = aggregate_context(fcinfo);
	state	   *s = PG_ARGISNULL(0) ? NULL : (state *) PG_GETARG_POINTER(0);
	state	   *other = PG_ARGISNULL(1) ? NULL : (state *) PG_GETARG_POINTER(1);

	if (other == NULL)
	{
		if (s == NULL)
			PG_RETURN_NULL();
		PG_RETURN_POINTER(s);
	}
	if (s == NULL)
		s = new_state(context, &other->spec);
	check_same(s, other);
	absorb(fcinfo, s, other);
	PG_RETURN_POINTER(s);
}

/* ---- the end ---- */

/* NULL: the rows go to the door and nowhere else. */
Datum
pe_sql_affine_rows_final(PG_FUNCTION_ARGS)
{
	state	   *s = PG_ARGISNULL(0) ? NULL : (state *) PG_GETARG_POINTER(0);

	(void) aggregate_context(fcinfo);
	if (s == NULL)
		PG_RETURN_NULL();
	pe_reader_take(&s->taken, NAME);
	pe_affine_sink_put(&s->rows, s->context);
	pe_guard_lift(s->guard);
	PG_RETURN_NULL();
}
