/*
 * beyond.h
 *	  Tests of values beyond the bounds of a column with bins.
 *
 * With outside => 'clamp' the first bin and the last one also hold the values
 * beyond them; with 'drop' no cell holds these.  A test that has another result
 * there than in the bin gives another answer than on the table: a NOTICE says
 * so.
 */
#ifndef PE_FDW_BEYOND_H
#define PE_FDW_BEYOND_H

#include "fdw/condition.h"

/*
 * One NOTICE for each column that a test in an expression decides in another
 * way beyond its bounds.  where: which cells are left.
 */
extern void pe_beyond_tell(pe_sight *sight, Node *expression, const pe_condition *where);

/*
 * NOTICE for each column of a value whose rows without a value are dropped,
 * where the expression is not NULL for them.  adds: 0 is as good as NULL.
 */
extern void pe_beyond_tell_nulls(pe_sight *sight, Node *expression, bool adds, const char *what);

/*
 * The same of a column whose rows with values that are not declared are
 * dropped, of all that WHERE leaves: of tests, and of CASE.
 */
extern void pe_beyond_tell_undeclared(pe_sight *sight, Node *expression, int attribute, bool adds, const char *what);

#endif
