/*
 * slope_reader.c
 *	  The row of a piecewise affine function.  See reader.h.
 *
 * The values of a row are the offset, then the slopes.  Slopes are public: a row whose
 * slope is null, or lies outside where the declaration drops that, is no row of the
 * function.  The offset is private, an integer from here on (row_values.h), and has no
 * say in what is done.
 */
#include "postgres.h"

#include <math.h>

#include "door/row_values.h"
#include "door/reader.h"
#include "server/values.h"

#define ARG_OFFSET PE_ARG_FIRST
#define ARG_SLOPES (PE_ARG_FIRST + 1)

typedef struct slope_reader
{
	pe_reader	reader;
	pe_offset_reader offset;
	Oid			type[PE_AFFINE_VARIABLES];	/* base types of the slopes */
} slope_reader;

/* The slope of a value; false if it drops the row. */
static bool
slope_of(const pe_slope_spec *spec, double value, double *slope)
{
	*slope = value < spec->lower ? spec->lower : value > spec->upper ? spec->upper : value;
	return !isnan(value) && (spec->clamp != 0 || *slope == value);
}

/* The slopes of a row; false if one of them drops it. */
static bool
read_slopes(const slope_reader *r, const pe_affine_spec *spec, FunctionCallInfo fcinfo, double *slope)
{
	for (int j = 0; j < spec->variables; j++)
		if (PG_ARGISNULL(ARG_SLOPES + j) ||
			!slope_of(&spec->slope[j], pe_number_of_datum(r->type[j], PG_GETARG_DATUM(ARG_SLOPES + j)), &slope[j]))
			return false;
	return true;
}

static void
read_row(pe_reader *reader, pe_accumulator *a, FunctionCallInfo fcinfo)
{
	slope_reader *r = (slope_reader *) reader;
	double		slope[PE_AFFINE_VARIABLES];
	pe_i128		offset;
	MemoryContext old;

	if (!read_slopes(r, &a->affine_spec, fcinfo, slope))
		return;
	offset = pe_offset_of_datum(&r->offset, PG_GETARG_DATUM(ARG_OFFSET), PG_ARGISNULL(ARG_OFFSET));
	old = MemoryContextSwitchTo(reader->context);
	pe_accumulator_add_affine(a, slope, offset);
	MemoryContextSwitchTo(old);
	pe_wipe(&offset, sizeof(offset));
}

pe_reader *
pe_slope_reader(const pe_accumulator *a, FunctionCallInfo fcinfo)
{
	const pe_affine_spec *spec = &a->affine_spec;
	slope_reader *r = palloc0(sizeof(*r));

	pe_reader_check_values(PG_NARGS() - PE_ARG_FIRST, 1 + spec->variables);
	if (!pe_offset_reader_init(&r->offset, pe_reader_type(fcinfo, ARG_OFFSET), spec->unit))
		pe_reader_refuse_type(0);
	for (int j = 0; j < spec->variables; j++)
	{
		r->type[j] = pe_reader_type(fcinfo, ARG_SLOPES + j);
		if (!pe_type_has_bins(r->type[j]))
			pe_reader_refuse_type(1 + j);
	}
	r->reader.read = read_row;
	return &r->reader;
}
