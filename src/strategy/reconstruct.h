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
 * Blocks answer term by term, nothing being formed over the product of all
 * attributes (blocks.h).
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
	const int  *lattice;		/* of each block: its measurements are in units of 2^-lattice[b]; NULL for others */
} pe_measured;

/* What a strategy tells of a workload over the same shape. */
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
 * False, with nothing to free, if the workloads tell more than PE_OPTIMUM_CELLS
 * classes apart and the strategy is neither one that counts each class once nor
 * direct nor of blocks.
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
extern void pe_probe_classes(int32_t classes, const int32_t *column_of, const int32_t *members, double *sums, double *z);

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
 * The same from the nearest counts that are not negative; returns their certificate
 * (below).  Of blocks, which are marginals (pe_blocks_nonnegative), from the nearest tables; their gap is told in
 * the unit of PE_NONNEGATIVE_RESIDUAL.  A direct strategy and other blocks have none: to ask for them is a bug of the caller.
 */
extern double pe_reconstruction_estimate_nonnegative(const pe_reconstruction *reconstruction, const int64_t *y,
													 double *estimate);

/*
 * variance[q] of all queries, in units of the variance of one measurement's noise: w'C w; of
 * blocks in those of pe_blocks_relative_variance.
 */
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

/*
 * Bytes that the above take at most, besides their results and one number for each measurement.
 * strategy: NULL where it is not known, and is not of blocks.
 */
extern size_t pe_reconstruction_memory(const pe_strategy *strategy, const pe_workload *workload, const pe_classes *classes);

/* ----------
 * Least squares with the rows of a strategy A = M B that is not direct, over its
 * columns: post-processing, in doubles.  reconstruct.h says how.
 *
 * A dense M with dependent columns (R_jj below 1e-10 |M_j|) is pe_damaged: none is made, so it was read.
 * ----------
 */

/* x^ = B^+ M^+ y. */
extern void pe_strategy_solve(const pe_strategy *strategy, const int64_t *y, double *x);

/* R, inner x inner by columns, upper triangular with zeros below, R'R = M'M. */
extern void pe_strategy_triangle(const pe_strategy *strategy, double *r);

/* B^+, columns x inner by columns.  False if B's rows are not independent in doubles. */
extern bool pe_basis_inverse(const pe_strategy *strategy, double *inverse);

/* The covariance of x^ for noise of variance 1, columns x columns, both triangles. */
extern void pe_strategy_covariance(const pe_strategy *strategy, double *c);

/* ----------
 * Estimates without negative cells: post-processing, in doubles.
 *
 * Of all x >= 0 the one nearest to the measurements,
 *
 *	 minimise |A x - y|^2  subject to  x >= 0, 1'x = 1'x^,
 *
 * where x^ is the estimate without the constraint (reconstruct.h).  The total is
 * kept only where A determines it; if it is not above 0, x = 0.  With A of full
 * column rank |A x - y|^2 = (x - x^)'C^-1 (x - x^); otherwise many x may be the
 * nearest, but they give all queries in the row space of A the same answers.
 *
 * Method: the total is a term of an augmented Lagrangian, and what A leaves
 * open is held near the point before (proximal method of multipliers,
 * Rockafellar, Math. Oper. Res. 1(2), 1976).  Each step of that is a least
 * squares problem over x >= 0 with a positive definite matrix, solved by block
 * principal pivoting (Portugal, Judice and Vicente, Math. Comp. 63, 1994): cells
 * of the wrong sign change sides all at once, and one at a time (Murty's rule)
 * when that does not help, which ends for every positive definite matrix.
 *
 * Certificate: with g = A'(A x - y) - lambda 1 the optimum is where
 * min(x_j, g_j) = 0 for all j.  What is returned is the largest |min(x_j, g_j)|,
 * x_j relative to the largest |x| and g_j to the largest |A'y|, or the relative
 * error of the total if that is larger.  It is computed from A, not from the
 * matrices of the method.
 * ----------
 */

/* The iterations stop at this residual; a result above it is not the optimum. */
#define PE_NONNEGATIVE_RESIDUAL 1e-9

/*
 * x for a matrix A by rows, rows x columns; x holds a first guess before.
 * total: what to keep, above 0; or NULL.  A and y are scaled in place.  Returns
 * the certificate.
 */
extern double pe_nonnegative_least_squares(int32_t rows, int32_t columns, double *a, double *y,
										   const double *total, double *x);

/* The same where A is the identity, exact up to rounding: the nearest point of a simplex. */
extern void pe_nonnegative_nearest(int32_t columns, double total, double *x);

/*
 * x over the columns of a strategy from its measurements y.  Returns the
 * certificate.  Of a dense M the rows of R B are taken for A and R B x^ for y (R of
 * M = Q R): |A x - y|^2 is |R B (x - x^)|^2 and what no x changes, A'A and A'y are
 * the same, and there are no more rows than columns.  A direct strategy is a bug of
 * the caller: its queries alone say nothing of cells.
 */
extern double pe_strategy_solve_nonnegative(const pe_strategy *strategy, const int64_t *y, double *x);

#endif
