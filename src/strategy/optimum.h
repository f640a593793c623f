/*
 * optimum.h
 *	  The best possible strategy under L2, with a proof of how good it is.
 *
 * For a workload W with V = W'W, the expected squared error of measuring A x
 * with Gaussian noise and answering W A^+ is, per unit of noise variance and
 * squared sensitivity,
 *
 *	 F(X) = tr(V X^+),  X = A'A, diagonal of X <= 1
 *
 * (the row space of A must contain that of W).  The least F* is what this solver
 * approaches from both sides.  Any y > 0 proves
 *
 *	 F* >= T^2 / sum y,  T = tr (Y^.5 V Y^.5)^.5,  Y = diag(y),
 *
 * and gives the strategy X(y) = Y^-.5 (Y^.5 V Y^.5)^.5 Y^-.5, so one
 * eigendecomposition yields both bounds.  Source: the dual of the problem of
 * Yuan, Yang, Zhang, Hao, "Convex Optimization for Linear Query Processing under
 * Approximate Differential Privacy", KDD 2016, maximised over log y by Newton's
 * method where V is of full rank, and by a primal-dual interior point method
 * otherwise.
 */
#ifndef PE_STRATEGY_OPTIMUM_H
#define PE_STRATEGY_OPTIMUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Largest order that is solved. */
#define PE_OPTIMUM_CELLS 4096

/*
 * What is certified is lower <= F* <= upper.  Both bounds contain an allowance
 * for rounding: sums of n products, and with them eigenvalues relative to the
 * largest, are taken to be wrong by min(n, 4 sqrt n) eps, which is what rounding
 * does except with negligible probability (Higham, Mary, "A New Approach to
 * Probabilistic Rounding Error Analysis", SIAM J. Sci. Comput. 41, 2019).  So
 * upper is F(X) and a little more: ordinarily less than 1e-7 of it, for a badly
 * scaled V up to about 1e-6.
 *
 * Where V is not of full rank (with its diagonal scaled to about 1, pivots below
 * 1e-12 count as zero), upper is tr(R'R X^+) for the part R'R of V that was kept, and
 * lower is a bound for R'R and so for V too (V - R'R is positive semidefinite).
 * The part left out has no diagonal entry above 4e-12 of V's, and only matters
 * for a V that is singular up to rounding but not exactly.
 */
typedef struct pe_optimum
{
	int32_t		n;
	int32_t		rank;			/* of V; n if full */
	bool		full;
	double	   *y;				/* n, > 0: the certificate, lower <= T(y)^2 / sum y */
	double	   *x;				/* full: X, n x n, both triangles, positive definite, diagonal <= 1; else NULL */
	double	   *factor;			/* not full: G, rank x n, by columns, X = G'G, largest diagonal entry 1; else NULL */
	double		upper;			/* F(X) */
	double		lower;
	int32_t		iterations;		/* evaluations: eigendecompositions of one y */
} pe_optimum;

/*
 * Lossless reduction of V = W'W (n x n, by columns, both triangles), in place
 * and in O(n^2): drops columns of W that are zero (V_jj = 0) and keeps one of
 * columns that are identical (V_ii = V_ij = V_jj, exactly, which is |w_i - w_j| =
 * 0).  On return v is n' x n', and column_of[j] the kept column that stands for
 * column j, or -1.  Returns n'.  F* stays what it was: a zero column can be any
 * column of the strategy, copies share one, which costs no sensitivity.
 */
extern int32_t pe_optimum_reduce(double *v, int32_t n, int32_t *column_of);

/*
 * Solves for V (n x n, by columns, both triangles, positive semidefinite,
 * diagonal > 0, 1 <= n <= PE_OPTIMUM_CELLS) until upper / lower - 1 <= gap.  If
 * 60 evaluations do not reach that, or rounding does not allow it, the best is
 * returned with its honest bounds.  A V that is not finite or has a diagonal
 * entry <= 0 is a bug of the caller.
 *
 * If V is persymmetric, V_ij = V_(n-1-j)(n-1-i) exactly, the problem splits into
 * two of half the size, at a quarter of the time.
 *
 * Polls between LAPACK calls; reports progress once per evaluation.
 */
extern void pe_optimum_solve(const double *v, int32_t n, double gap, pe_optimum *result);

/*
 * Upper bound of the bytes that are allocated at one time during
 * pe_optimum_solve, with the result and with v itself (8 n^2): 40 n^2 and a
 * multiple of n.
 */
extern size_t pe_optimum_memory(int32_t n);

extern void pe_optimum_free(pe_optimum *result);

#endif
