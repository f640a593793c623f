/*
 * tally.c
 *	  dp_internal.tally: exact counts per cell of a declared domain, of the rows that a
 *	  predicate selects.
 *
 * The accumulator through which the door reads rows.  It returns exact counts,
 * to whoever may read the rows anyway.  Its state is `internal`, so no SQL can
 * hand it a state of its own making.
 */
#include "postgres.h"

#include "access/htup_details.h"	/* VARDATA and its kin, in every version */
#include "fmgr.h"
#include "utils/builtins.h"

#include "door/reader.h"
#include "server/shim.h"

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
	bool		taken;			/* and wiped */
	pe_reader	reader;			/* empty in a state that was deserialised or combined */
} tally;

static MemoryContext
aggregate_context(FunctionCallInfo fcinfo)
{
	return pe_reader_context(fcinfo, "dp_internal.tally");
}

static tally *
new_tally(MemoryContext context, int32 cells)
{
	tally	   *state = MemoryContextAllocZero(context, sizeof(*state));

	state->cells = cells;
	state->count = pe_alloc_exact(context, cells * sizeof(int64));
	memset(state->count, 0, cells * sizeof(int64));
	return state;
}

static tally *
first_row(FunctionCallInfo fcinfo)
{
	MemoryContext context = aggregate_context(fcinfo);
	MemoryContext old = MemoryContextSwitchTo(context);
	pe_reader	reader;
	tally	   *state;

	pe_reader_init(&reader, fcinfo, FIRST_ATTRIBUTE, "dp_internal.tally");
	state = new_tally(context, reader.domain.cells);
	state->reader = reader;
	MemoryContextSwitchTo(old);
	return state;
}

Datum
pe_sql_tally_add(PG_FUNCTION_ARGS)
{
	tally	   *state = PG_ARGISNULL(0) ? first_row(fcinfo) : (tally *) PG_GETARG_POINTER(0);
	bool		counts;
	int32		cell = pe_reader_cell(&state->reader, fcinfo, FIRST_ATTRIBUTE, &counts);

	state->count[cell] += counts;
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
				 errmsg("the domain of dp_internal.tally must be the same for all rows")));
	for (int32 cell = 0; cell < state->cells; cell++)
		state->count[cell] += other->count[cell];
	pe_wipe(other->count, other->cells * sizeof(int64));
	PG_RETURN_POINTER(state);
}

/* The counts, which leave the state. */
static bytea *
counts_as_bytes(tally *state)
{
	size_t		size = state->cells * sizeof(int64);
	bytea	   *bytes = pe_reader_result(size);

	memcpy(VARDATA(bytes), state->count, size);
	pe_wipe(state->count, size);
	return bytes;
}

Datum
pe_sql_tally_serialize(PG_FUNCTION_ARGS)
{
	tally	   *state = (tally *) PG_GETARG_POINTER(0);

	(void) aggregate_context(fcinfo);
	pe_reader_take(&state->taken, "dp_internal.tally");
	PG_RETURN_BYTEA_P(counts_as_bytes(state));
}

Datum
pe_sql_tally_deserialize(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(0);
	size_t		size = VARSIZE_ANY_EXHDR(bytes);
	tally	   *state;

	(void) aggregate_context(fcinfo);
	if (size == 0 || size % sizeof(int64) != 0 || size / sizeof(int64) > PE_MAX_CELLS)
		pe_reader_refuse_state("dp_internal.tally");
	state = new_tally(CurrentMemoryContext, size / sizeof(int64));
	memcpy(state->count, VARDATA_ANY(bytes), size);
	pe_reader_spent(fcinfo, VARDATA_ANY(bytes), size);
	PG_RETURN_POINTER(state);
}

/* The counts of all cells, as int64 in host order; NULL if there was no row. */
Datum
pe_sql_tally_final(PG_FUNCTION_ARGS)
{
	tally	   *state = PG_ARGISNULL(0) ? NULL : (tally *) PG_GETARG_POINTER(0);

	(void) aggregate_context(fcinfo);
	if (state == NULL)
		PG_RETURN_NULL();
	pe_reader_take(&state->taken, "dp_internal.tally");
	PG_RETURN_BYTEA_P(counts_as_bytes(state));
}
