/*
 * strategy.h
 *	  Integer strategy matrices: what is measured.
 *
 * A strategy is a matrix A of integers, one row per measurement and one column
 * per cell, stored by columns with only the entries that are not zero.  From
 * this one object come both the exact measurements A x and the sensitivity, so
 * that the noise can never be calibrated to another matrix than the one
 * applied.
 *
 * Neighbouring tables differ in one unit; a unit contributes any x in N^n with
 * sum x <= k (it can also be no row at all).  With a_j the columns:
 *
 *	 add_remove:  Delta = k max_j |a_j|
 *
 * in the L2 norm: A(x - x') = sum of at most k columns, and the norm of a sum
 * is at most the sum of the norms; k copies of the largest column reach it.
 * Squares of entries below 2^31 over at most 2^20 rows sum below 2^82, and
 * k^2 < 2^62 is checked against the 128 bits.
 */
#ifndef PE_CORE_STRATEGY_H
#define PE_CORE_STRATEGY_H

#include <stdbool.h>

#include "core/workload.h"

typedef struct pe_strategy
{
	int32_t		rows;
	int32_t		columns;
	int64_t    *start;			/* columns + 1 offsets into row and entry */
	int32_t    *row;
	int32_t    *entry;
} pe_strategy;

/*
 * The strategy that measures the queries of a workload themselves, once each.
 * For identity, total and their products every column of W has exactly one
 * entry, 1, so tr(W'W (A'A)^+) max_j |a_j|^2 = m, the number of queries; the
 * bound ||W||_*^2 / n of the nuclear norm is m as well, for all singular values
 * of W are sqrt(n/m): the strategy is optimal with gap 0.
 *
 * possible: per cell, whether a row can count there; NULL: in all.  The columns
 * of the others are empty: cells that a predicate rules out leave the domain.
 */
extern void pe_strategy_of_workload(const pe_workload *workload, const pe_domain *domain,
									const bool *possible, pe_strategy *strategy);

/* Bytes that pe_strategy_of_workload and a measurement of it take. */
extern size_t pe_strategy_memory(int32_t cells, int32_t queries);

/*
 * Delta^2 for add_remove neighbours and units of at most max_rows rows, exact.
 * False if it does not fit 96 bits (no sampler could serve it).
 */
extern bool pe_strategy_sensitivity_sq(const pe_strategy *strategy, int32_t max_rows,
									   pe_u128 *sensitivity_sq);

/*
 * y = A x, exact.  |x_j| < 2^63, |a_ij| < 2^31 and at most 2^20 columns make
 * |y_i| < 2^114: the 128 bits cannot overflow, whatever the data, so there is
 * no check that the data could fail.
 */
extern void pe_strategy_apply(const pe_strategy *strategy, const int64_t *x, pe_i128 *y);

extern void pe_strategy_free(pe_strategy *strategy);

#endif
