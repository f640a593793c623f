/*
 * offset_value.h
 *	  A private value of SQL as an offset in integer units, exactly.
 *
 * A numeric must not pass through a double: two that differ by max_change could be
 * rounded to doubles that differ by more.
 */
#ifndef PE_DOOR_OFFSET_VALUE_H
#define PE_DOOR_OFFSET_VALUE_H

#include "fmgr.h"
#include "utils/numeric.h"

#include "affine/affine.h"

/* How values of one type become offsets. */
typedef struct pe_offset_reader
{
	Oid			type;			/* base type */
	int32		unit;
	Numeric		factor;			/* units in 1; of numeric only */
	Numeric		most;			/* PE_OFFSET_MOST units */
	Numeric		least;
} pe_offset_reader;

/* Prepares it in the current memory context; false if the type is no number. */
extern bool pe_offset_reader_init(pe_offset_reader *reader, Oid type, int32 unit);

/* floor(value / 2^unit), cut to +-PE_OFFSET_MOST; what is null or NaN is missing.  No value is an error. */
extern pe_i128 pe_offset_of_datum(const pe_offset_reader *reader, Datum value, bool isnull);

#endif
