/*
 * unit_column.h
 *	  The unit's column in a SELECT: whether it is there is known of each row that counts.
 */
#ifndef PE_FDW_UNIT_COLUMN_H
#define PE_FDW_UNIT_COLUMN_H

#include "fdw/sight.h"

/*
 * Expressions without IS [NOT] NULL of the unit's column and without count of
 * it: a row without a unit does not count (domain/units.h), so that these are
 * constants.  NOTICE where such rows may be and are asked for.
 */
extern List *pe_unit_column_decided(pe_sight *sight, List *expressions);

/*
 * 0A000 for GROUP BY the unit's column, and of two columns whose values nobody has listed, with the view of one row for
 * each unit, or part of a unit, that would answer.
 */
extern void pe_unit_column_check_groups(const pe_sight *sight, const List *targets, const List *where);

#endif
