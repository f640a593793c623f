/*
 * tally.c
 *	  dp.tally: exact counts per cell of a declared domain, of the rows that a
 *	  predicate selects.
 *
 * The accumulator through which the door reads rows.  It returns exact counts,
 * to whoever may read the rows anyway.  Its state is `internal`, so no SQL can
 * hand it a state of its own making.
 *
 * The predicate looks at cell numbers and at nothing else (core/predicate.h), so
 * no row can make it fail, and every row is read whatever it says.
 */
#include "postgres.h"

#include "access/htup_details.h"	/* VARDATA and its kin, in every version */
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "core/predicate.h"
#include "ledger/values.h"

PG_FUNCTION_INFO_V1(pe_sql_tally_add);
PG_FUNCTION_INFO_V1(pe_sql_tally_combine);
PG_FUNCTION_INFO_V1(pe_sql_tally_serialize);
PG_FUNCTION_INFO_V1(pe_sql_tally_deserialize);
PG_FUNCTION_INFO_V1(pe_sql_tally_final);

/* The arguments of the transition function before the attributes. */
#define FIRST_ATTRIBUTE 2

typedef struct tally
{
	int32		cells;
	int64	   *count;
	pe_domain	domain;			/* empty in a state that was deserialised or combined */
	pe_predicate predicate;		/* without steps: none */
	Oid			type[PE_MAX_ATTRIBUTES];	/* base types of the arguments */
} tally;

static MemoryContext
aggregate_context(FunctionCallInfo fcinfo)
{
	MemoryContext context;

	if (AggCheckCallContext(fcinfo, &context) != AGG_CONTEXT_AGGREGATE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("dp.tally can only be used as a plain aggregate")));
	return context;
}

static tally *
new_tally(MemoryContext context, int32 cells)
{
	tally	   *state = MemoryContextAllocZero(context, sizeof(*state));

	state->cells = cells;
	state->count = MemoryContextAllocZero(context, cells * sizeof(int64));
	return state;
}

/* The arguments must be what the domain was declared for. */
static void
check_arguments(FunctionCallInfo fcinfo, tally *state)
{
	int			attributes = state->domain.attributes + state->domain.watched;

	if (PG_NARGS() - FIRST_ATTRIBUTE != attributes)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the domain has %d attributes, and %d are given",
						attributes, PG_NARGS() - FIRST_ATTRIBUTE)));
	for (int a = 0; a < attributes; a++)
	{
		pe_key		key;

		state->type[a] = getBaseType(get_fn_expr_argtype(fcinfo->flinfo, a + FIRST_ATTRIBUTE));
		if (!pe_type_key(state->type[a], &key) || key != state->domain.attribute[a].key)
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("argument %d is not of a type that the domain was declared for", a + FIRST_ATTRIBUTE)));
	}
}

static tally *
first_row(FunctionCallInfo fcinfo)
{
	MemoryContext context = aggregate_context(fcinfo);
	MemoryContext old = MemoryContextSwitchTo(context);
	pe_domain	domain;
	pe_predicate predicate;
	bytea	   *bytes;
	tally	   *state;

	if (PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("the domain of dp.tally must not be null")));
	bytes = PG_GETARG_BYTEA_P_COPY(1);	/* the domain's points refer to it */
	if (!pe_selection_read(&domain, &predicate, VARDATA(bytes), VARSIZE(bytes) - VARHDRSZ))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid domain for dp.tally")));
	state = new_tally(context, domain.cells);
	state->domain = domain;
	state->predicate = predicate;
	check_arguments(fcinfo, state);
	MemoryContextSwitchTo(old);
	return state;
}

static pg_attribute_always_inline int32
coordinate_of_row(FunctionCallInfo fcinfo, const tally *state, int a)
{
	const pe_attribute *attribute = &state->domain.attribute[a];

	return PG_ARGISNULL(a + FIRST_ATTRIBUTE)
		? pe_cell_of_null(attribute)
		: pe_cell_of_datum(attribute, state->type[a], PG_GETARG_DATUM(a + FIRST_ATTRIBUTE));
}

/* The cell of a row, or PE_DROPPED. */
static int32
cell_of_row(FunctionCallInfo fcinfo, const tally *state)
{
	int32		cell = 0;

	for (int a = 0; a < state->domain.attributes; a++)
	{
		int32		coordinate = coordinate_of_row(fcinfo, state, a);

		if (coordinate == PE_DROPPED)
			return PE_DROPPED;
		cell += coordinate * state->domain.stride[a];
	}
	return cell;
}

/*
 * The same under a predicate: a row that it does not select is dropped.  On its
 * own, so that a scan without one does not pay for its frame.
 */
static pg_noinline int32
cell_of_selected_row(FunctionCallInfo fcinfo, const tally *state)
{
	int32		coordinate[PE_MAX_ATTRIBUTES];
	int32		cell = 0;

	for (int a = 0; a < state->domain.attributes + state->domain.watched; a++)
	{
		coordinate[a] = coordinate_of_row(fcinfo, state, a);
		if (coordinate[a] == PE_DROPPED)
			return PE_DROPPED;
		cell += coordinate[a] * state->domain.stride[a];
	}
	return pe_predicate_selects(&state->predicate, coordinate) ? cell : PE_DROPPED;
}

Datum
pe_sql_tally_add(PG_FUNCTION_ARGS)
{
	tally	   *state = PG_ARGISNULL(0) ? first_row(fcinfo) : (tally *) PG_GETARG_POINTER(0);
	int32		cell = state->predicate.steps == 0
		? cell_of_row(fcinfo, state)
		: cell_of_selected_row(fcinfo, state);

	if (cell != PE_DROPPED)
		state->count[cell]++;
	PG_RETURN_POINTER(state);
}

Datum
pe_sql_tally_combine(PG_FUNCTION_ARGS)
{
	MemoryContext context = aggregate_context(fcinfo);
	tally	   *state = PG_ARGISNULL(0) ? NULL : (tally *) PG_GETARG_POINTER(0);
	tally	   *other = PG_ARGISNULL(1) ? NULL : (tally *) PG_GETARG_POINTER(1);

	if (other == NULL)
	{
		if (state == NULL)
			PG_RETURN_NULL();
		PG_RETURN_POINTER(state);
	}
	if (state == NULL)
		state = new_tally(context, other->cells);
	if (state->cells != other->cells)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the domain of dp.tally must be the same for all rows")));
	for (int32 cell = 0; cell < state->cells; cell++)
		state->count[cell] += other->count[cell];
	PG_RETURN_POINTER(state);
}

static bytea *
counts_as_bytes(const tally *state)
{
	size_t		size = state->cells * sizeof(int64);
	bytea	   *bytes = palloc(VARHDRSZ + size);

	SET_VARSIZE(bytes, VARHDRSZ + size);
	memcpy(VARDATA(bytes), state->count, size);
	return bytes;
}

Datum
pe_sql_tally_serialize(PG_FUNCTION_ARGS)
{
	(void) aggregate_context(fcinfo);
	PG_RETURN_BYTEA_P(counts_as_bytes((tally *) PG_GETARG_POINTER(0)));
}

Datum
pe_sql_tally_deserialize(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(0);
	size_t		size = VARSIZE_ANY_EXHDR(bytes);
	tally	   *state;

	(void) aggregate_context(fcinfo);
	if (size == 0 || size % sizeof(int64) != 0 || size / sizeof(int64) > PE_MAX_CELLS)
		elog(ERROR, "invalid serialised state of dp.tally");
	state = new_tally(CurrentMemoryContext, size / sizeof(int64));
	memcpy(state->count, VARDATA_ANY(bytes), size);
	PG_RETURN_POINTER(state);
}

/* The counts of all cells, as int64 in host order; NULL if there was no row. */
Datum
pe_sql_tally_final(PG_FUNCTION_ARGS)
{
	tally	   *state = PG_ARGISNULL(0) ? NULL : (tally *) PG_GETARG_POINTER(0);
	bytea	   *bytes;

	(void) aggregate_context(fcinfo);
	if (state == NULL)
		PG_RETURN_NULL();
	bytes = counts_as_bytes(state);
	pe_wipe(state->count, state->cells * sizeof(int64));
	PG_RETURN_BYTEA_P(bytes);
}
