/*
 * read_rows.c
 *	  dp_internal.read_rows: the one aggregate through which the door reads rows; and
 *	  dp_internal.read_records, the same of a record of values, for tables spread over nodes.
 *
 * It returns what an accumulator (accumulator/accumulator.h) collects, exact, to roles
 * that may read the rows anyway.  Its state is of type bytea, so that partial aggregation
 * needs no more than a combine function.
 *
 * While it grows the state is an expanded object: a pointer that no SQL can write, to
 * memory that this file has made and that is wiped when its context goes.  A value that is
 * no such pointer is bytes, which may come from anybody (CREATE AGGREGATE with a
 * crafted INITCOND is a true aggregate context), and is checked whole and copied.  When
 * a state travels it is flattened to bytes.
 */
#include "postgres.h"

#include "access/htup_details.h"	/* VARDATA and its kin, in every version */
#include "nodes/execnodes.h"
#include "utils/expandeddatum.h"
#include "utils/memutils.h"

#include "door/reader.h"
#include "door/record_call.h"
#include "server/shim.h"

PG_FUNCTION_INFO_V1(pe_sql_read_rows_add);
PG_FUNCTION_INFO_V1(pe_sql_read_records_add);
PG_FUNCTION_INFO_V1(pe_sql_read_rows_combine);
PG_FUNCTION_INFO_V1(pe_sql_read_rows_final);

typedef struct state
{
	ExpandedObjectHeader header;	/* first; everything is in its context */
	pe_accumulator rows;
	pe_reader  *reader;			/* for the arguments of site */
	const FmgrInfo *site;		/* NULL: no row was read here, or the result was taken */
	pe_record_call *call;		/* of records, whose function is site then; else NULL */
	bool		taken;			/* and wiped */
	Size		result_size;	/* finished: it is a result of so many bytes; 0: a state */
} state;

/* ------------------------------------------------------------------
 * Errors
 * ------------------------------------------------------------------
 */

static void
refuse_state(pe_combined combined)
{
	if (combined == PE_STATE_UNSOUND)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid state of " PE_READ_ROWS)));
	if (combined == PE_STATE_OTHER)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the specification and the key of " PE_READ_ROWS " must be the same for all rows")));
	if (combined == PE_STATE_OVERFLOW)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("the sums of " PE_READ_ROWS " are out of range")));
}

/*
 * A state is wiped when its result is taken.  The executor asks for the result once
 * more of groups that it keeps for a rescan.
 */
static void
check_not_taken(const state *s)
{
	if (s->taken)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("the result of " PE_READ_ROWS " can be taken once"),
				 errhint("Compute it in WITH ... AS MATERIALIZED.")));
}

/* A result of rows may be asked for again, but has the size that it had. */
static void
check_grows(const state *s)
{
	check_not_taken(s);
	if (s->result_size > 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("nothing can be added to a result of " PE_READ_ROWS)));
}

/* The size of a value with so many bytes. */
static Size
checked_size(Size bytes)
{
	if (bytes > MaxAllocSize - VARHDRSZ)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a state or result of " PE_READ_ROWS " has more than 1 GB")));
	return VARHDRSZ + bytes;
}

/* ------------------------------------------------------------------
 * A state as an expanded object
 * ------------------------------------------------------------------
 */

static Size
flat_size(ExpandedObjectHeader *object)
{
	state	   *s = (state *) object;
	MemoryContext old = MemoryContextSwitchTo(object->eoh_context);
	Size		size;

	check_not_taken(s);
	size = s->result_size > 0 ? s->result_size : pe_accumulator_size(&s->rows);
	if (s->rows.is_cut)
		s->site = NULL;			/* a row that came now would be looked at first, and refused */
	MemoryContextSwitchTo(old);
	return checked_size(size);
}

static void
flatten(ExpandedObjectHeader *object, void *result, Size size)
{
	const state *s = (state *) object;

	SET_VARSIZE(result, size);
	(s->result_size > 0 ? pe_accumulator_result : pe_accumulator_write) (&s->rows, VARDATA(result));
}

static const ExpandedObjectMethods methods = {flat_size, flatten};

static void
wipe_state(void *argument)
{
	pe_accumulator_free(&((state *) argument)->rows);
}

static state *
new_state(MemoryContext parent)
{
	MemoryContext context = AllocSetContextCreate(parent, "pg_epsilon rows", ALLOCSET_START_SMALL_SIZES);
	state	   *s = MemoryContextAllocZero(context, sizeof(*s));

	EOH_init_header(&s->header, &methods, context);
	pe_guard_set(context, wipe_state, s);
	return s;
}

static Datum
datum_of(state *s)
{
	return EOHPGetRWDatum(&s->header);
}

/* The state that a value of type bytea points to; NULL if it is bytes, or another object. */
static inline state *
state_at(Datum value)
{
	ExpandedObjectHeader *object;

	if (!VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(value)))
		return NULL;
	object = DatumGetEOHP(value);
	return object->eoh_methods == &methods ? (state *) object : NULL;
}

/* ------------------------------------------------------------------
 * States from bytes
 * ------------------------------------------------------------------
 */

/* An argument as bytes.  An object is flattened to memory that is wiped, before anything is changed. */
static bytea *
bytes_of(FunctionCallInfo fcinfo, int argument)
{
	state	   *s = state_at(PG_GETARG_DATUM(argument));
	Size		size;
	bytea	   *bytes;

	if (s == NULL)
		return PG_GETARG_BYTEA_PP(argument);
	size = EOH_get_flat_size(&s->header);
	bytes = pe_alloc_exact(CurrentMemoryContext, size);
	EOH_flatten_into(&s->header, bytes, size);
	return bytes;
}

/*
 * Overwrites the bytes of a state that a parallel worker or a partition handed over.
 * Nowhere else: a value may lie in a page of a table.  Nor where there are groups: it may be
 * a sort's own, which a rescan gives out again.
 */
static void
wipe_bytes(FunctionCallInfo fcinfo, bytea *bytes)
{
	const AggState *aggregate = castNode(AggState, fcinfo->context);

	if (DO_AGGSPLIT_COMBINE(aggregate->aggsplit) && aggregate->aggstrategy == AGG_PLAIN)
		pe_wipe(VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes));
}

static state *
state_of_bytes(MemoryContext parent, bytea *bytes)
{
	state	   *s = new_state(parent);
	MemoryContext old = MemoryContextSwitchTo(s->header.eoh_context);

	refuse_state(pe_accumulator_read(&s->rows, VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes)));
	MemoryContextSwitchTo(old);
	return s;
}

static void
add_bytes(state *s, bytea *bytes)
{
	MemoryContext old = MemoryContextSwitchTo(s->header.eoh_context);

	check_grows(s);
	refuse_state(pe_accumulator_combine(&s->rows, VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes)));
	MemoryContextSwitchTo(old);
}

/* The state of argument 0; of bytes, if need be. */
static state *
own_state(FunctionCallInfo fcinfo, MemoryContext parent)
{
	state	   *s = state_at(PG_GETARG_DATUM(0));

	return s != NULL ? s : state_of_bytes(parent, PG_GETARG_BYTEA_PP(0));
}

/* ------------------------------------------------------------------
 * Rows
 * ------------------------------------------------------------------
 */

static void
read_cut(FunctionCallInfo fcinfo, pe_cut *cut)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(PE_ARG_KEY);
	bool		sound = VARSIZE_ANY_EXHDR(bytes) == sizeof(*cut);

	if (sound)
		memcpy(cut, VARDATA_ANY(bytes), sizeof(*cut));
	if (!sound || !pe_cut_is_sound(cut))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid key for " PE_READ_ROWS)));
}

/* A state without rows. */
static state *
first_state(FunctionCallInfo fcinfo, MemoryContext parent)
{
	state	   *s = new_state(parent);
	MemoryContext old = MemoryContextSwitchTo(s->header.eoh_context);
	bool		has_cut = !PG_ARGISNULL(PE_ARG_KEY);
	pe_cut		cut;
	bytea	   *spec;

	if (PG_ARGISNULL(PE_ARG_SPEC))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("the specification of " PE_READ_ROWS " must not be null")));
	spec = PG_GETARG_BYTEA_PP(PE_ARG_SPEC);
	if (has_cut)
		read_cut(fcinfo, &cut);
	if (!pe_accumulator_begin(&s->rows, VARDATA_ANY(spec), VARSIZE_ANY_EXHDR(spec), has_cut ? &cut : NULL))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid specification for " PE_READ_ROWS)));
	pe_wipe(&cut, sizeof(cut));
	MemoryContextSwitchTo(old);
	return s;
}

/* The state that the row of this call is added to. */
static state *
growing_state(FunctionCallInfo fcinfo)
{
	MemoryContext parent = pe_reader_context(fcinfo, PE_READ_ROWS);
	state	   *s = PG_ARGISNULL(0) ? first_state(fcinfo, parent) : own_state(fcinfo, parent);

	check_grows(s);
	if (s->rows.is_cut)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("no row can be added to a state of " PE_READ_ROWS " whose units were cut")));
	return s;
}

/* The same, ready for the arguments of the call.  On its own: rows do not pay for its frame. */
static pg_noinline state *
ready_state(FunctionCallInfo fcinfo)
{
	state	   *s = growing_state(fcinfo);
	MemoryContext old = MemoryContextSwitchTo(s->header.eoh_context);

	s->reader = pe_reader_make(&s->rows, fcinfo);
	s->site = fcinfo->flinfo;
	s->call = NULL;
	MemoryContextSwitchTo(old);
	return s;
}

/* The same, ready for records like that of the call. */
static pg_noinline state *
ready_for_records(FunctionCallInfo fcinfo)
{
	state	   *s = growing_state(fcinfo);
	MemoryContext old = MemoryContextSwitchTo(s->header.eoh_context);
	FunctionCallInfo call;

	s->site = NULL;
	s->call = pe_record_call_make(fcinfo);
	call = pe_record_call_fill(s->call, fcinfo);
	s->reader = pe_reader_make(&s->rows, call);
	s->site = call->flinfo;
	MemoryContextSwitchTo(old);
	return s;
}

Datum
pe_sql_read_rows_add(PG_FUNCTION_ARGS)
{
	state	   *s = PG_ARGISNULL(0) ? NULL : state_at(PG_GETARG_DATUM(0));

	if (unlikely(s == NULL || s->site != fcinfo->flinfo))
		s = ready_state(fcinfo);
	s->reader->read(s->reader, &s->rows, fcinfo);
	return datum_of(s);
}

/*
 * The same of a record.  Whose call it is the record's descriptor says: the engine that
 * hands it on makes its call anew for each row.
 */
Datum
pe_sql_read_records_add(PG_FUNCTION_ARGS)
{
	state	   *s = PG_ARGISNULL(0) ? NULL : state_at(PG_GETARG_DATUM(0));
	bool		ready = s != NULL && s->call != NULL && s->site != NULL;
	FunctionCallInfo call = ready ? pe_record_call_fill(s->call, fcinfo) : NULL;

	if (unlikely(call == NULL))
	{
		s = ready_for_records(fcinfo);
		call = pe_record_call_fill(s->call, fcinfo);
	}
	s->reader->read(s->reader, &s->rows, call);
	return datum_of(s);
}

/* ------------------------------------------------------------------
 * Parallel workers and partitions
 * ------------------------------------------------------------------
 */

Datum
pe_sql_read_rows_combine(PG_FUNCTION_ARGS)
{
	MemoryContext parent = pe_reader_context(fcinfo, PE_READ_ROWS);
	state	   *s;
	bytea	   *other;

	if (PG_ARGISNULL(1))
	{
		if (PG_ARGISNULL(0))
			PG_RETURN_NULL();
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	}
	other = bytes_of(fcinfo, 1);
	if (PG_ARGISNULL(0))
		s = state_of_bytes(parent, other);
	else
		add_bytes(s = own_state(fcinfo, parent), other);
	wipe_bytes(fcinfo, other);
	return datum_of(s);
}

/* ------------------------------------------------------------------
 * The end
 * ------------------------------------------------------------------
 */

/*
 * Room for an exact result of so many bytes, not zeroed, in the current memory context.
 * The executor copies what an aggregate returns and drops the original, so it is
 * overwritten when that context is reset.
 */
static bytea *
new_result(Size bytes)
{
	Size		size = checked_size(bytes);
	bytea	   *result = pe_alloc_exact(CurrentMemoryContext, size);

	SET_VARSIZE(result, size);
	return result;
}

/*
 * The state itself, for a door that takes the rows as they lie there (pe_read_rows_take); as bytes
 * for everybody else.  The executor would flatten a pointer that is not of the current context.
 */
static Datum
object_result(state *s)
{
	void	   *pointer = palloc(EXPANDED_POINTER_SIZE);

	memcpy(pointer, DatumGetPointer(EOHPGetRODatum(&s->header)), EXPANDED_POINTER_SIZE);
	return PointerGetDatum(pointer);
}

bool
pe_read_rows_take(bytea *result, MemoryContext owner, pe_rows *rows, uint64 *dropped)
{
	state	   *s = state_at(PointerGetDatum(result));

	if (s == NULL || s->taken || !pe_accumulator_has_rows(&s->rows))
		return false;
	s->taken = true;
	MemoryContextSetParent(s->header.eoh_context, owner);
	*dropped = s->rows.dropped;
	*rows = s->rows.rows;
	pe_rows_init(&s->rows.rows, &s->rows.model.map.shape, false);
	return true;
}

/* What the accumulator has collected (pe_accumulator_finish); NULL if there was no row. */
Datum
pe_sql_read_rows_final(PG_FUNCTION_ARGS)
{
	MemoryContext parent = pe_reader_context(fcinfo, PE_READ_ROWS);
	MemoryContext old;
	state	   *s;
	Size		size;
	bytea	   *result;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	s = own_state(fcinfo, parent);
	check_not_taken(s);
	s->site = NULL;
	old = MemoryContextSwitchTo(s->header.eoh_context);
	size = pe_accumulator_finish(&s->rows);
	MemoryContextSwitchTo(old);
	if (pe_accumulator_has_rows(&s->rows))
	{
		s->result_size = size;
		PG_RETURN_DATUM(object_result(s));
	}
	s->taken = true;
	result = new_result(size);
	pe_accumulator_result(&s->rows, VARDATA(result));
	pe_accumulator_free(&s->rows);
	PG_RETURN_BYTEA_P(result);
}
