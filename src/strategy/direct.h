/*
 * direct.h
 *	  The queries of a workload measured as they are: A = W.
 *
 * Nothing of such a strategy is stored, so what is said of it comes from the
 * workload that pe_strategy_bind told: everything here needs it (pe_bug).  A
 * column is a set of classes with the same weights in every query, and one of
 * them stands for it.
 */
#ifndef PE_STRATEGY_DIRECT_H
#define PE_STRATEGY_DIRECT_H

#include "strategy/strategy.h"

/*
 * Raises *largest to the largest |a_j|^2, and with pairs to the largest
 * |a_i - a_j|^2 = G_ii + G_jj - 2 G_ij of G = W'W.  False if an entry of G is not
 * below 2^53 (the parser refuses such a workload): up to there it is exact.
 */
extern bool pe_direct_largest_sq(const pe_strategy *strategy, bool pairs, pe_u128 *largest);

/*
 * The same of |a_j|_1 and |a_i - a_j|_1.  Where W has only zeros and ones these
 * are the squares above.  Otherwise they are added up query by query; the
 * differences, if that is too much (PE_L1_PAIRS columns, 2^32 terms), are bounded
 * by twice the largest |a_j|_1.
 */
extern bool pe_direct_largest_l1(const pe_strategy *strategy, bool pairs, pe_u128 *largest);

/* Bytes that these take at most. */
extern size_t pe_direct_memory(const pe_strategy *strategy);

/*
 * y = W x, exact, as pe_strategy_apply.  It takes a few operations for every query
 * of ranges and as many as there are classes for one of a matrix, and does not
 * poll: there are exact numbers in its memory, which it wipes.
 */
extern void pe_direct_apply(const pe_strategy *strategy, const int64_t *x, pe_i128 *y);

/* The entries of W over the columns, as pe_strategy_matrix. */
extern void pe_direct_matrix(const pe_strategy *strategy, double *a);

#endif
