/*
 * row_values.h
 *	  Values of SQL as labels, cells and offsets of rows, for accumulators.
 */
#ifndef PE_DOOR_ROW_VALUES_H
#define PE_DOOR_ROW_VALUES_H

#include "fmgr.h"
#include "utils/numeric.h"

#include "affine/affine.h"
#include "glm/row_spec.h"
#include "server/values.h"

/* ----------
 * The label and the cells of a row, for the accumulators that read rows of models.
 * ----------
 */

/* type: a base type, of the attribute's key. */
static inline int32
pe_cell_of_value(const pe_attribute *attribute, Oid type, Datum value, bool isnull)
{
	return isnull ? pe_cell_of_null(attribute) : pe_cell_of_datum(attribute, type, value);
}

/* PE_NO_LABEL drops the row. */
static inline int16
pe_label_of_value(const pe_row_spec *spec, Oid type, Datum value, bool isnull)
{
	if (spec->classes)
		return pe_row_spec_label_of_cell(pe_cell_of_value(&spec->label, type, value, isnull));
	return isnull ? PE_NO_LABEL : pe_row_spec_label_of_number(spec, pe_number_of_datum(type, value));
}

/* ----------
 * A private value of SQL as an offset in integer units, exactly.
 *
 * A numeric must not pass through a double: two that differ by max_change could be
 * rounded to doubles that differ by more.
 * ----------
 */

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
