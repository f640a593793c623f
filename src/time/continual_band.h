/*
 * continual_band.h
 *	  The best strategy that looks back a number of periods only, with a proof
 *	  of how good it is.  Private to continual.c.
 *
 * X = A'A is banded, X_ij = 0 for |i - j| >= b, exactly where A is triangular
 * with as many diagonals: a convex set.  So
 *
 *		F(X) = tr(V X^-1),  diagonal of X = 1,  X banded
 *
 * is a convex problem, and A, which is a smooth and invertible function of X,
 * has no other stationary points than its optimum.  optimum.h does not know
 * that constraint, and gives the start.  For every positive semidefinite S that
 * is diagonal within the band, and anything outside of it,
 *
 *		F* >= T^2 / tr S,  T = tr (K S K')^.5,  V = K'K,
 *
 * for T^2 <= tr(V X^-1) tr(S X) as in optimum.h, and tr(S X) = sum_i S_ii
 * X_ii <= tr S, as X has nothing where S is not diagonal.  At the optimum X^-1
 * V X^-1 is such an S.
 */
#ifndef PE_TIME_CONTINUAL_BAND_H
#define PE_TIME_CONTINUAL_BAND_H

#include <stddef.h>
#include <stdint.h>

/*
 * V is n x n, by columns, both triangles, positive definite; 1 <= band < n.  x (n x n) holds the optimum without the
 * band before, and X behind, both triangles, its diagonal 1.  Returns F(X), and *lower what S of its last step proves.
 *
 * Polls and reports progress once per step.
 */
extern double pe_continual_band(const double *v, int32_t n, int32_t band, double *x, double *lower,
								int32_t *iterations);

/* Bytes that this takes besides. */
extern size_t pe_continual_band_memory(int32_t n, int32_t band);

#endif
