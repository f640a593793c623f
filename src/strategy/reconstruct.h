/*
 * reconstruct.h
 *	  From measurements back to answers: post-processing, in doubles.
 *
 * The measurements y = A x + noise of a strategy A = M B determine B x by least
 * squares, z = M^+ y, and with it every query in the row space of A: w'x^,
 * x^ = B^+ z, with variance sigma^2 w'C w, C = B^+ R^-1 R^-1' B^+', R the triangle
 * of M = Q R.  Of a square M = T this is R = T and z = T^-1 y.  Of a dense one R
 * comes from Householder's QR, and z from R'R z = M'y with one step of refinement,
 * which is about as good as R^-1 Q'y and keeps no Q (corrected seminormal
 * equations: Bjorck, Linear Algebra Appl. 88/89, 1987).
 *
 * A direct strategy, A = W, answers its own queries, each by its own measurement,
 * with variance 1, and nothing else: they need not be consistent with each other.
 *
 * Another workload than the one measured is answered over the classes that both
 * tell apart together; a query that treats cells of one column differently, or
 * is not in the row space, is not determined.
 */
#ifndef PE_STRATEGY_RECONSTRUCT_H
#define PE_STRATEGY_RECONSTRUCT_H

#include "strategy/strategy.h"

/* A strategy with the workload that it was made for. */
typedef struct pe_measured
{
	const pe_workload *workload;
	const pe_strategy *strategy;
	const bool *possible;		/* cells that a predicate leaves; NULL: all */
} pe_measured;

/* What a strategy tells of a workload over the same shape. */
typedef struct pe_reconstruction
{
	const pe_measured *measured;
	const pe_workload *workload;
	pe_classes	classes;		/* of both together */
	int32_t    *column_of;		/* of these classes */
	int32_t    *members;		/* of each column: the classes it has */
	bool		diagonal;		/* a column is a class, and is counted by itself */
	bool		same;			/* the strategy is direct, and this is its workload: the text and the shape */
} pe_reconstruction;

/*
 * False, with nothing to free, if the workloads tell more than PE_OPTIMUM_CELLS
 * classes apart and the strategy is neither one that counts each class once nor
 * direct.
 */
extern bool pe_reconstruction_init(const pe_measured *measured, const pe_workload *workload,
								   pe_reconstruction *reconstruction);
extern void pe_reconstruction_free(pe_reconstruction *reconstruction);

/*
 * The first query (from 0) that the strategy does not determine, or -1.  Of another
 * workload than its own a direct strategy determines none: 0.
 */
extern int32_t pe_reconstruction_undetermined(const pe_reconstruction *reconstruction);

/*
 * estimate[q] of all queries from the measurements.  Here and below: a dense M
 * whose columns are not independent in doubles (R_jj below 1e-10 |M_j|), which
 * reading does not look for as it takes as long as this, rows of B that are not,
 * and another workload than a direct strategy's own are pe_bug.
 */
extern void pe_reconstruction_estimate(const pe_reconstruction *reconstruction, const int64_t *y, double *estimate);

/*
 * The same from the nearest counts that are not negative; returns their certificate
 * (nonnegative.h).  A direct strategy has none: to ask for them is a bug of the caller.
 */
extern double pe_reconstruction_estimate_nonnegative(const pe_reconstruction *reconstruction, const int64_t *y,
													 double *estimate);

/* variance[q] of all queries, in units of the variance of one measurement's noise: w'C w. */
extern void pe_reconstruction_variance(const pe_reconstruction *reconstruction, double *variance);

/*
 * summands[q] = n > 0 if the estimate of query q is plus or minus one whole number times
 * each of n measurements, so it is a whole number itself up to rounding; 0 where
 * that is not so, or not known, or there is nothing that errs.  variance as above.
 *
 * Of a strategy that measures the rows of a basis, a query that is one of them is found
 * by two products with fixed vectors of 30 random bits: another query is taken for it
 * with a chance of 2^-60.
 */
extern void pe_reconstruction_summands(const pe_reconstruction *reconstruction, const double *variance,
									   int32_t *summands);

/* Bytes that the above take at most, besides their results and one number for each measurement. */
extern size_t pe_reconstruction_memory(const pe_workload *workload, const pe_classes *classes);

#endif
