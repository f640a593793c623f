/*
 * affine_rows.c
 *	  dp.affine_rows: the rows of a piecewise affine function.
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

#include "api/offset_value.h"
#include "api/reader.h"
#include "ledger/affine_sink.h"
#include "ledger/values.h"

PG_FUNCTION_INFO_V1(pe_sql_affine_rows_add);
PG_FUNCTION_INFO_V1(pe_sql_affine_rows_combine);
PG_FUNCTION_INFO_V1(pe_sql_affine_rows_serialize);
PG_FUNCTION_INFO_V1(pe_sql_affine_rows_deserialize);
PG_FUNCTION_INFO_V1(pe_sql_affine_rows_final);

#define NAME "dp.affine_rows"
#define ARG_SPEC 1
#define ARG_OFFSET 2
#define ARG_FIRST 3

/* No unit of a max_change that a double can be is further from 0. */
#define UNIT_MOST 1200

/* In the context of a state: wipes what an error has left there. */
typedef struct guard
{
	MemoryContextCallback callback;
	struct state *state;		/* NULL: the rows are the door's by now */
} guard;

typedef struct state
{
	MemoryContext context;		/* the rows, and the numbers of reader; this itself is outside */
	guard	   *guard;
	pe_affine_spec spec;
	pe_affine	rows;
	bool		taken;			/* and wiped */
	bool		reads;			/* not a state that was deserialised or combined */
	pe_offset_reader reader;
	Oid			type[PE_AFFINE_VARIABLES];	/* base types of the slopes */
	const char *pending;		/* of a state that was deserialised: its rows, not yet taken in */
	uint64		pending_rows;
} state;

static MemoryContext
aggregate_context(FunctionCallInfo fcinfo)
{
	return pe_reader_context(fcinfo, NAME);
}

/* ---- a state ---- */

static bool
slope_is_sound(const pe_slope_spec *slope)
{
	return isfinite(slope->lower) && isfinite(slope->upper) && slope->lower <= slope->upper;
}

static bool
spec_is_sound(const pe_affine_spec *spec)
{
	if (spec->variables < 1 || spec->variables > PE_AFFINE_VARIABLES ||
		spec->unit < -UNIT_MOST || spec->unit > UNIT_MOST || spec->most < 1 || spec->most >= PG_INT32_MAX)
		return false;
	for (int j = 0; j < spec->variables; j++)
		if (!slope_is_sound(&spec->slope[j]))
			return false;
	return true;
}

static bool
read_spec(pe_affine_spec *spec, const char *bytes, size_t size)
{
	if (size < offsetof(pe_affine_spec, slope) || size > sizeof(*spec))
		return false;
	memset(spec, 0, sizeof(*spec));
	memcpy(spec, bytes, size);
	return spec_is_sound(spec) && size == PE_AFFINE_SPEC_SIZE(spec->variables);
}

static void
wipe_guarded(void *argument)
{
	guard	   *g = argument;

	if (g->state != NULL)
		pe_affine_free(&g->state->rows);
}

static void
set_guard(state *s)
{
	s->guard = MemoryContextAllocZero(s->context, sizeof(*s->guard));
	s->guard->state = s;
	s->guard->callback = (MemoryContextCallback) {.func = wipe_guarded, .arg = s->guard};
	MemoryContextRegisterResetCallback(s->context, &s->guard->callback);
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
	set_guard(s);
	MemoryContextSwitchTo(old);
	return s;
}

static void
add_row(state *s, const double *slope, pe_i128 offset)
{
	MemoryContext old = MemoryContextSwitchTo(s->context);

	if (s->rows.rows <= s->spec.most)
		pe_affine_add(&s->rows, slope, offset);
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
	if (!read_spec(&spec, VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes)))
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
		elog(ERROR, "a state of " NAME " that was combined reads no rows");
	if (read_slopes(fcinfo, s, slope))
	{
		pe_i128		offset = pe_offset_of_datum(&s->reader, PG_GETARG_DATUM(ARG_OFFSET), PG_ARGISNULL(ARG_OFFSET));

		add_row(s, slope, offset);
		pe_wipe(&offset, sizeof(offset));
	}
	PG_RETURN_POINTER(s);
}

/* ---- parallel workers ---- */

/* A serialised state: this, all slopes, all offsets. */
typedef struct written
{
	pe_affine_spec spec;
	uint64		rows;
} written;

static size_t
slopes_size(const pe_affine_spec *spec, uint64 rows)
{
	return rows * spec->variables * sizeof(double);
}

Datum
pe_sql_affine_rows_serialize(PG_FUNCTION_ARGS)
{
	state	   *s = (state *) PG_GETARG_POINTER(0);
	written		head = {.spec = s->spec, .rows = s->rows.rows};
	size_t		slopes = slopes_size(&s->spec, head.rows);
	size_t		size = sizeof(head) + slopes + head.rows * sizeof(pe_i128);
	bytea	   *bytes;
	char	   *to;

	(void) aggregate_context(fcinfo);
	pe_reader_take(&s->taken, NAME);
	bytes = pe_reader_result(size);
	to = VARDATA(bytes);
	memcpy(to, &head, sizeof(head));
	if (head.rows > 0)
	{
		memcpy(to + sizeof(head), s->rows.slope, slopes);
		memcpy(to + sizeof(head) + slopes, s->rows.offset, head.rows * sizeof(pe_i128));
	}
	pe_affine_free(&s->rows);
	PG_RETURN_BYTEA_P(bytes);
}

/* Rows are taken in by the state they are combined with: they are copied once. */
Datum
pe_sql_affine_rows_deserialize(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(0);
	size_t		size = VARSIZE_ANY_EXHDR(bytes);
	written		head;
	state	   *s;

	(void) aggregate_context(fcinfo);
	if (size >= sizeof(head))
		memcpy(&head, VARDATA_ANY(bytes), sizeof(head));
	if (size < sizeof(head) || head.rows > PG_INT32_MAX || !spec_is_sound(&head.spec) ||
		size != sizeof(head) + slopes_size(&head.spec, head.rows) + head.rows * sizeof(pe_i128))
		elog(ERROR, "invalid serialised state of " NAME);
	s = new_state(CurrentMemoryContext, &head.spec);
	s->pending = VARDATA_ANY(bytes) + sizeof(head);
	s->pending_rows = head.rows;
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
absorb(state *s, const state *other)
{
	size_t		row_size = s->spec.variables * sizeof(double);
	const char *offsets = other->pending + slopes_size(&other->spec, other->pending_rows);
	double		slope[PE_AFFINE_VARIABLES];
	pe_i128		offset = 0;

	for (uint64 i = 0; i < other->pending_rows; i++)
	{
		memcpy(slope, other->pending + i * row_size, row_size);
		memcpy(&offset, offsets + i * sizeof(offset), sizeof(offset));
		for (int j = 0; j < s->spec.variables; j++)
			if (!isfinite(slope[j]))
				elog(ERROR, "invalid serialised state of " NAME);
		if (offset < -PE_OFFSET_MOST || offset > PE_OFFSET_MOST)
			elog(ERROR, "invalid serialised state of " NAME);
		add_row(s, slope, offset);
	}
	pe_wipe(&offset, sizeof(offset));
	pe_wipe((char *) offsets, other->pending_rows * sizeof(offset));
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
	absorb(s, other);
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
	s->guard->state = NULL;
	PG_RETURN_NULL();
}
