/*
 * tally_units.c
 *	  dp_internal.tally_units: exact counts per cell of a declared domain, of each unit's
 *	  rows at most max_rows.
 *
 * The accumulator through which the door reads the rows of a dataset with a
 * privacy unit.  Like dp_internal.tally (tally.c) it returns exact counts, to whoever may
 * read the rows anyway, and its state is `internal`.  What it collects, and which
 * rows count: domain/units.h.
 *
 * A row without a unit is dropped, but collected like any other dropped row.
 */
#include "postgres.h"

#include "access/htup_details.h"	/* VARDATA and its kin, in every version */
#include "utils/builtins.h"

#include "door/reader.h"
#include "door/unit_argument.h"
#include "server/shim.h"

PG_FUNCTION_INFO_V1(pe_sql_tally_units_add);
PG_FUNCTION_INFO_V1(pe_sql_tally_units_combine);
PG_FUNCTION_INFO_V1(pe_sql_tally_units_serialize);
PG_FUNCTION_INFO_V1(pe_sql_tally_units_deserialize);
PG_FUNCTION_INFO_V1(pe_sql_tally_units_final);

/* The arguments of the transition function: state, selection, cut, unit, attributes. */
#define FIRST_ATTRIBUTE (PE_ARG_UNIT + 1)

typedef struct tally
{
	pe_units_frame frame;
	pe_units	units;
	bool		taken;			/* and wiped */

	/* empty in a state that was deserialised or combined: */
	pe_cut		cut;			/* without its key */
	Oid			unit_type;		/* base type */
	pe_reader	reader;
} tally;

static MemoryContext
aggregate_context(FunctionCallInfo fcinfo)
{
	return pe_reader_context(fcinfo, "dp_internal.tally_units");
}

/* Overwrites what is exact or secret. */
static void
wipe(void *argument)
{
	tally	   *state = argument;

	pe_units_free(&state->units);
	pe_wipe(&state->frame.keys, sizeof(pe_unit_keys));
}

/* A state in the current memory context, which wipes it at its end. */
static tally *
new_tally(void)
{
	tally	   *state = palloc0(sizeof(*state));

	(void) pe_guard_set(CurrentMemoryContext, wipe, state);
	return state;
}

static tally *
first_row(FunctionCallInfo fcinfo)
{
	MemoryContext old = MemoryContextSwitchTo(aggregate_context(fcinfo));
	tally	   *state = new_tally();

	pe_cut_argument(fcinfo, &state->cut, "dp_internal.tally_units");
	state->unit_type = pe_unit_argument_type(fcinfo, "dp_internal.tally_units");
	pe_reader_init(&state->reader, fcinfo, FIRST_ATTRIBUTE, "dp_internal.tally_units");
	pe_unit_keys_init(&state->frame.keys, &state->cut);
	pe_wipe(state->cut.key, sizeof(state->cut.key));
	state->frame.limit = state->cut.limit;
	state->frame.max_rows = state->cut.max_rows;
	state->frame.cells = state->reader.domain.cells;
	pe_units_init(&state->units, state->frame.limit);
	MemoryContextSwitchTo(old);
	return state;
}

Datum
pe_sql_tally_units_add(PG_FUNCTION_ARGS)
{
	tally	   *state = PG_ARGISNULL(0) ? first_row(fcinfo) : (tally *) PG_GETARG_POINTER(0);
	uint64		unit[2];
	bool		counts;
	int32		cell = pe_reader_cell(&state->reader, fcinfo, FIRST_ATTRIBUTE, &counts);

	pe_unit_argument_hash(fcinfo, state->unit_type, &state->frame.keys, unit);
	counts &= !PG_ARGISNULL(PE_ARG_UNIT);
	if (pe_unit_in_range(&state->cut, unit))
	{
		if (unlikely(state->units.entries == state->units.room))
		{
			MemoryContext old = MemoryContextSwitchTo(aggregate_context(fcinfo));

			pe_units_make_room(&state->units);
			MemoryContextSwitchTo(old);
		}
		pe_units_add(&state->units, unit, cell, counts);
	}
	PG_RETURN_POINTER(state);
}

Datum
pe_sql_tally_units_combine(PG_FUNCTION_ARGS)
{
	MemoryContext old = MemoryContextSwitchTo(aggregate_context(fcinfo));
	tally	   *state = PG_ARGISNULL(0) ? NULL : (tally *) PG_GETARG_POINTER(0);
	tally	   *other = PG_ARGISNULL(1) ? NULL : (tally *) PG_GETARG_POINTER(1);

	if (other == NULL)
	{
		MemoryContextSwitchTo(old);
		if (state == NULL)
			PG_RETURN_NULL();
		PG_RETURN_POINTER(state);
	}
	if (state == NULL)
	{
		state = new_tally();
		state->frame = other->frame;
		pe_units_init(&state->units, state->frame.limit);
	}
	if (memcmp(&state->frame, &other->frame, sizeof(state->frame)) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the domain and the cut of dp_internal.tally_units must be the same for all rows")));
	pe_units_sort(&state->units);
	pe_units_sort(&other->units);
	pe_units_merge(&state->units, &other->units);
	MemoryContextSwitchTo(old);
	PG_RETURN_POINTER(state);
}

/* Sorted, so that the leader only merges. */
Datum
pe_sql_tally_units_serialize(PG_FUNCTION_ARGS)
{
	tally	   *state = (tally *) PG_GETARG_POINTER(0);
	size_t		size;
	bytea	   *bytes;

	(void) aggregate_context(fcinfo);
	pe_reader_take(&state->taken, "dp_internal.tally_units");
	pe_units_sort(&state->units);
	size = pe_units_size(&state->units);
	bytes = pe_reader_result(size);
	pe_units_write(&state->frame, &state->units, VARDATA(bytes));
	wipe(state);
	PG_RETURN_BYTEA_P(bytes);
}

Datum
pe_sql_tally_units_deserialize(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(0);
	tally	   *state = new_tally();

	(void) aggregate_context(fcinfo);
	if (!pe_units_read(&state->frame, &state->units, VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes)))
		pe_reader_refuse_state("dp_internal.tally_units");
	pe_reader_spent(fcinfo, VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes));
	PG_RETURN_POINTER(state);
}

/* The counts of all cells, as int64 in host order; NULL if there was no row. */
Datum
pe_sql_tally_units_final(PG_FUNCTION_ARGS)
{
	tally	   *state = PG_ARGISNULL(0) ? NULL : (tally *) PG_GETARG_POINTER(0);
	size_t		size;
	bytea	   *bytes;

	(void) aggregate_context(fcinfo);
	if (state == NULL)
		PG_RETURN_NULL();
	pe_reader_take(&state->taken, "dp_internal.tally_units");
	size = state->frame.cells * sizeof(int64);
	bytes = pe_reader_result(size);
	memset(VARDATA(bytes), 0, size);
	pe_units_sort(&state->units);
	pe_units_count(&state->units, &state->frame.keys, state->frame.max_rows, state->frame.cells, (int64 *) VARDATA(bytes));
	wipe(state);
	PG_RETURN_BYTEA_P(bytes);
}
