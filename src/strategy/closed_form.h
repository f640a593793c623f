/*
 * closed_form.h
 *	  Workloads whose best strategy under L2 can be written down.
 *
 * If some group of permutations of the columns that leaves V = W'W unchanged
 * takes every column to every other, the dual of optimum.h, being concave, has a
 * maximiser that is constant, y = 1; so
 *
 *	 X = c V^.5, c = n / tr V^.5,   F* = (tr V^.5)^2 / n.
 *
 * Two such groups are recognised, from V itself and exactly: the rotations of
 * all columns (V circulant), whose V^.5 is a sum of cosines; and the
 * permutations of the cells of each attribute (unions of products of identity
 * and total, all marginals), where V_ij depends only on which attributes i and j
 * agree in and V^.5 is a sum over sets of attributes.  A diagonal V is a third
 * case: X = I, F* = tr V.
 */
#ifndef PE_STRATEGY_CLOSED_FORM_H
#define PE_STRATEGY_CLOSED_FORM_H

#include "strategy/optimum.h"

/*
 * Solves for V as pe_optimum_solve does, with the same meaning of every part of
 * result (iterations 0), if one of the forms fits; else returns false and
 * leaves result alone.  count: the numbers of cells of the attributes whose
 * product the columns are, row-major, last fastest; with attributes 0 only V
 * itself is looked at.  O(n^2) where nothing fits, O(n^2) to build X.
 */
extern bool pe_closed_form(const double *v, int32_t n, const int32_t *count, int attributes, pe_optimum *result);

#endif
