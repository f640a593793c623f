/*
 * steady.h
 *	  Whether an expression has one value on all of a cell, as far as that follows from the ends of its bin.
 *
 * An expression that follows one column is monotone on pieces of its bin.
 * Where a piece ends follows from what it calls: at changes of the clocks if it
 * looks at local time, at the ends of months if it adds months.  It is steady
 * if it is the same at both ends of all pieces.  All other expressions are
 * steady if all that they look at is.
 */
#ifndef PE_FDW_STEADY_H
#define PE_FDW_STEADY_H

#include "fdw/sight.h"

/* From the low row of a sight to its high one. */
extern bool pe_is_steady(pe_sight *sight, Node *expression);

/* How an expression cuts the bin between the rows; of one that is steady PE_NOT_CUT. */
extern pe_bin_cut pe_cut_of(pe_sight *sight, Node *expression);

#endif
