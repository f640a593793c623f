/*
 * solve.h
 *	  Estimates over the columns of a strategy: post-processing, in doubles.
 *
 * The measurements y = A x + noise of a strategy A = M B determine B x by least
 * squares, z = M^+ y, and with it every query in the row space of A: w'x^,
 * x^ = B^+ z, with variance sigma^2 w'C w, C = B^+ R^-1 R^-1' B^+', R the triangle
 * of M = Q R.  Of a square M = T this is R = T and z = T^-1 y.  Of a dense one R
 * comes from Householder's QR, and z from R'R z = M'y with one step of refinement,
 * which is about as good as R^-1 Q'y and keeps no Q (corrected seminormal
 * equations: Bjorck, Linear Algebra Appl. 88/89, 1987).
 */
#ifndef PE_STRATEGY_SOLVE_H
#define PE_STRATEGY_SOLVE_H

#include "strategy/strategy.h"

/* ----------
 * Least squares with the rows of a strategy A = M B that is not direct, over its
 * columns: post-processing, in doubles.
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

/* C 1: how each column varies with the total of all.  It takes up to three times columns^2 numbers. */
extern double *pe_strategy_covariance_with_total(const pe_strategy *strategy);

/* ----------
 * Estimates without negative cells: post-processing, in doubles.
 *
 * Of all x >= 0 the one nearest to the measurements,
 *
 *	 minimise |A x - y|^2  subject to  x >= 0, 1'x = 1'x^,
 *
 * where x^ is the estimate without the constraint.  The total is
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
