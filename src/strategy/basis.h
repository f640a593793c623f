/*
 * basis.h
 *	  Independent integer rows that span the queries of a workload.
 */
#ifndef PE_STRATEGY_BASIS_H
#define PE_STRATEGY_BASIS_H

#include "workload/algebra.h"

/*
 * Rows of the workload (prefix and all_range replaced by single cells, which
 * span the same) that are a basis of its row space, over the columns: each
 * column stands for the class representative[column], other classes count as
 * absent.  Chosen by the largest part that the rows before do not explain.
 *
 * gram: W'W, unweighted, columns x columns, exact integers.  On success basis
 * is rows x columns, by rows, and the number of rows is returned.  Returns 0 if
 * rounding leaves it open whether the rows span everything; the test for that
 * is exact up to a chance of 2^-31 (a random combination of the rows of W'W must
 * be one of the basis, modulo a prime).
 */
extern int32_t pe_basis_select(const pe_workload *workload, const pe_classes *classes,
							   const int32_t *representative, int32_t columns, const double *gram, int32_t **basis);

#endif
