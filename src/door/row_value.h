/*
 * row_value.h
 *	  The label and the cells of a row, for the accumulators that read rows of models.
 */
#ifndef PE_DOOR_ROW_VALUE_H
#define PE_DOOR_ROW_VALUE_H

#include "glm/row_spec.h"
#include "server/values.h"

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

#endif
