/*
 * open_literals.h
 *	  What an open column is compared with: the literals of a statement are its levels, for that statement.
 *
 * A row is in the cell of its literal, of other values, or of NULL; a comparison by =, <> or IN has one truth in
 * each, so that it is a test as of any declared column.  LIKE has an attribute of its own (comparison.h).  All other
 * expressions of the column are unknown where the value is another one, and are refused.
 */
#ifndef PE_FDW_OPEN_LITERALS_H
#define PE_FDW_OPEN_LITERALS_H

#include "fdw/sight.h"

/* Makes attributes of the open columns that expressions compare with constants, test for NULL or match by LIKE. */
extern void pe_literals_of_open(pe_sight *sight, List *expressions);

/* Of such an attribute the text of a set of its cells, as a predicate has it. */
extern char *pe_literals_text(const pe_public_attribute *attribute, const bool *cells);

#endif
