/*
 * solve.h
 *	  Least squares with the rows of a strategy A = M B that is not direct, over its
 *	  columns: post-processing, in doubles.  reconstruct.h says how.
 *
 * A dense M with dependent columns (R_jj below 1e-10 |M_j|) is pe_bug.
 */
#ifndef PE_STRATEGY_SOLVE_H
#define PE_STRATEGY_SOLVE_H

#include "strategy/strategy.h"

/* x^ = B^+ M^+ y. */
extern void pe_strategy_solve(const pe_strategy *strategy, const int64_t *y, double *x);

/* R, inner x inner by columns, upper triangular with zeros below, R'R = M'M. */
extern void pe_strategy_triangle(const pe_strategy *strategy, double *r);

/* B^+, columns x inner by columns.  False if B's rows are not independent in doubles. */
extern bool pe_basis_inverse(const pe_strategy *strategy, double *inverse);

/* The covariance of x^ for noise of variance 1, columns x columns, both triangles. */
extern void pe_strategy_covariance(const pe_strategy *strategy, double *c);

#endif
