/*
 * reader.c
 *	  How arguments become rows: what all readers share.  See reader.h.
 */
#include "postgres.h"

#include "nodes/execnodes.h"
#include "utils/lsyscache.h"

#include "door/reader.h"
#include "server/values.h"

MemoryContext
pe_reader_context(FunctionCallInfo fcinfo, const char *name)
{
	MemoryContext context;

	if (AggCheckCallContext(fcinfo, &context) != AGG_CONTEXT_AGGREGATE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("%s can only be used as a plain aggregate", name)));
	return context;
}

Oid
pe_reader_type(FunctionCallInfo fcinfo, int argument)
{
	return argument < PG_NARGS() ? getBaseType(get_fn_expr_argtype(fcinfo->flinfo, argument)) : InvalidOid;
}

void
pe_reader_refuse_type(int n)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("value %d of a row of " PE_READ_ROWS " is not of a type that it was declared for", n + 1)));
}

void
pe_reader_check_values(int given, int declared)
{
	if (given != declared)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a row of " PE_READ_ROWS " has %d values, and %d are declared", given, declared)));
}

static Oid
unit_type(FunctionCallInfo fcinfo)
{
	Oid			type = pe_reader_type(fcinfo, PE_ARG_UNIT);

	if (!OidIsValid(type) || !pe_type_is_unit(type))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("argument %d of " PE_READ_ROWS " is not of a type that can be a unit", PE_ARG_UNIT)));
	return type;
}

void
pe_reader_unit(const pe_reader *reader, const pe_unit_keys *keys, FunctionCallInfo fcinfo, uint64 unit[2])
{
	const char *data = "";
	uint32		size = 0;
	int64		room;

	if (!PG_ARGISNULL(PE_ARG_UNIT))
		pe_unit_bytes(reader->unit_type, PG_GETARG_DATUM(PE_ARG_UNIT), &room, &data, &size);
	pe_unit_hash(keys, data, size, unit);
}

static Oid
time_type(FunctionCallInfo fcinfo)
{
	Oid			type = pe_reader_type(fcinfo, PG_NARGS() - 1);

	if (!OidIsValid(type) || !pe_type_is_time(type))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("the last argument of " PE_READ_ROWS " is not of a type that can be a time")));
	return type;
}

bool
pe_reader_has_time(const pe_reader *reader, const pe_accumulator *a, FunctionCallInfo fcinfo)
{
	bool		isnull = PG_ARGISNULL(reader->time_argument);
	Datum		time = PG_GETARG_DATUM(reader->time_argument);

	if (isnull || !pe_datum_is_finite(reader->time_type, time))
		return pe_times_have(&a->times, false, 0);
	return pe_times_have(&a->times, true, pe_point_of_datum(reader->time_type, time).i);
}

pe_reader *
pe_reader_make(const pe_accumulator *a, FunctionCallInfo fcinfo)
{
	pe_reader  *reader = NULL;

	switch (a->reading)
	{
		case PE_READ_CELLS:
		case PE_READ_TABLES:
		case PE_READ_SUMS:
		case PE_READ_SIZES:
		case PE_READ_PERIODS:
		case PE_READ_KEY_SUMS:
		case PE_READ_VALUES:
		case PE_READ_KEY_VALUES:
			reader = pe_cell_reader(a, fcinfo);
			break;
		case PE_READ_MODEL:
			reader = pe_model_reader(a, fcinfo);
			break;
		case PE_READ_AFFINE:
			reader = pe_slope_reader(a, fcinfo);
			break;
		case PE_READ_KEYS:
		case PE_READ_KEY_NAMES:
			reader = pe_key_reader(a, fcinfo);
			break;
	}
	reader->context = CurrentMemoryContext;
	if (a->has_cut)
		reader->unit_type = unit_type(fcinfo);
	if (a->times.are_limited != 0)
	{
		reader->time_type = time_type(fcinfo);
		reader->time_argument = PG_NARGS() - 1;
	}
	return reader;
}
