/*
 * nonnegative.h
 *	  Estimates without negative cells: post-processing, in doubles.
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
 */
#ifndef PE_STRATEGY_NONNEGATIVE_H
#define PE_STRATEGY_NONNEGATIVE_H

#include "strategy/strategy.h"

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
