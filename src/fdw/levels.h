/*
 * levels.h
 *	  Levels of a column, and values that are none of them.
 *
 * All values outside of the levels are one cell where the declaration says so.
 * A comparison with levels is the same for all of them.  Any other test
 * distinguishes them.
 */
#ifndef PE_FDW_LEVELS_H
#define PE_FDW_LEVELS_H

#include "fdw/sight.h"

/* A value that is none of the levels, and what is shown in its place; both NULL where the type has none. */
extern void pe_levels_find_outside(pe_sight *sight, int attribute);

/* Whether a comparison of a column whose row holds no level is with levels alone. */
extern bool pe_levels_are_compared(pe_sight *sight, Node *comparison);

/* The column that an expression has the values of, where it is not NULL; -1: none. */
extern int	pe_levels_column(const pe_sight *sight, Node *expression);

/* A NOTICE for each literal that is compared with a column and is none of its levels. */
extern void pe_levels_tell_undeclared(pe_sight *sight, List *expressions);

#endif
