/*
 * reconstruct.h
 *	  From measurements back to answers: post-processing, in doubles.
 *
 * Least squares over the columns of a strategy: strategy/solve.h.
 *
 * A direct strategy, A = W, answers its own queries, each by its own
 * measurement, with variance 1, and nothing else: they need not be consistent
 * with each other.
 *
 * Blocks answer term by term, nothing being formed over the product of all
 * attributes (blocks.h).
 *
 * Another workload than the one measured is answered over the classes that both
 * distinguish together; a query that treats cells of one column differently, or
 * is not in the row space, is not determined.
 */
#ifndef PE_BLOCKS_RECONSTRUCT_H
#define PE_BLOCKS_RECONSTRUCT_H

#include "strategy/solve.h"

/* A strategy with the workload that it was made for. */
typedef struct pe_measured
{
	const pe_workload *workload;
	const pe_strategy *strategy;
	const bool *possible;		/* cells that a predicate leaves; NULL: all */
	const int  *lattice;		/* of each block: its measurements are in units of 2^-lattice[b]; NULL for others */
} pe_measured;

/* What a strategy says of a workload over the same shape. */
typedef struct pe_reconstruction
{
	const pe_measured *measured;
	const pe_workload *workload;
	pe_classes	classes;		/* of both together; arrays below are not there for blocks */
	int32_t    *column_of;		/* of these classes */
	int32_t    *members;		/* of each column: the classes it has */
	bool		diagonal;		/* a column is a class, and is counted by itself */
	bool		same;			/* the strategy is direct, and this is its workload: the text and the shape */
} pe_reconstruction;

/*
 * False, with nothing to free, if the workloads distinguish more than
 * PE_OPTIMUM_CELLS classes and the strategy is neither one that counts each
 * class once nor direct nor of blocks.
 */
extern bool pe_reconstruction_init(const pe_measured *measured, const pe_workload *workload,
								   pe_reconstruction *reconstruction);
extern void pe_reconstruction_free(pe_reconstruction *reconstruction);

/*
 * The first query (from 0) that the strategy does not determine, or -1.  Of another
 * workload than its own a direct strategy determines none: 0.
 */
extern int32_t pe_reconstruction_undetermined(const pe_reconstruction *reconstruction);

/* ----------
 * Random vectors that show what is not determined.
 *
 * A query is determined if this much of its square or less is outside the row
 * space: of its length 1e-8, less than one unit beside the largest weight that
 * the language has, and more than rounding makes of zero.  So many random vectors that
 * all look as if it were less by a factor of ten have a chance below 1e-8.
 * ----------
 */
#define PE_OUTSIDE 1e-16
#define PE_PROBES 8

/* From -1 to 1. */
extern double pe_probe_number(void);

/* Orthonormal rows that span what B's rows do: columns x rows; NULL if B is the identity; pe_free. */
extern double *pe_strategy_row_space(const pe_strategy *strategy);

/* A random vector over the columns to which all of these rows are orthogonal; 0 if B is the identity. */
extern void pe_probe_columns(const pe_strategy *strategy, const double *row_space, double *u);

/*
 * A random vector over classes with these sums over columns; anything for a class that no column has, 0 for one that
 * is ruled out.  sums is used up.
 */
extern void pe_probe_classes(int32_t classes, const int32_t *column_of, const int32_t *members,
							 double *sums, double *z);

/* The first query (from 0) that is not orthogonal to what probe fills in, over the classes; -1: all are. */
extern int32_t pe_probe_queries(const pe_workload *workload, const pe_classes *classes, const int32_t *column_of,
								void (*probe) (const void *argument, double *z), const void *argument);

/*
 * estimate[q] of all queries from the measurements.  Here and below: a dense M
 * whose columns are not independent in doubles (R_jj below 1e-10 |M_j|), which
 * reading does not look for as it takes as long as this, rows of B that are not,
 * and another workload than a direct strategy's own are pe_bug.  Of blocks the estimates are in
 * units of the answers.
 */
extern void pe_reconstruction_estimate(const pe_reconstruction *reconstruction, const int64_t *y, double *estimate);

/*
 * The same from the nearest counts that are not negative; returns their
 * certificate (below).  Of blocks, which are marginals (pe_blocks_nonnegative),
 * from the nearest tables; their gap is reported in the unit of
 * PE_NONNEGATIVE_RESIDUAL.  A direct strategy and other blocks have none: to
 * ask for them is a bug of the caller.
 */
extern double pe_reconstruction_estimate_nonnegative(const pe_reconstruction *reconstruction, const int64_t *y,
													 double *estimate);

/*
 * variance[q] of all queries, in units of the variance of one measurement's noise: w'C w; of
 * blocks in those of pe_blocks_relative_variance.
 */
extern void pe_reconstruction_variance(const pe_reconstruction *reconstruction, double *variance);

/*
 * The covariance of the estimates of all queries, queries x queries, both triangles, in the units of variance; its
 * diagonal is variance.  Takes queries x classes numbers besides what variance does, and as many estimates as the
 * strategy has rows or classes.
 */
extern void pe_reconstruction_covariance(const pe_reconstruction *reconstruction, double *covariance);

/*
 * weights[i * queries + q]: what measurement i, in units of the answers (of blocks; of others in units of y), adds to
 * the estimate of query q.  It takes one estimate of all queries for each measurement.
 */
extern void pe_reconstruction_weights(const pe_reconstruction *reconstruction, double *weights);

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

/*
 * Bytes that the above take at most, besides their results and one number for each measurement.
 * strategy: NULL where it is not known, and is not of blocks.
 */
extern size_t pe_reconstruction_memory(const pe_strategy *strategy, const pe_workload *workload,
									   const pe_classes *classes);

#endif
