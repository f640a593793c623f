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
 * otherwise, which begins where Newton's method comes to where the rank is nearly full.
 */
#ifndef PE_STRATEGY_OPTIMUM_H
#define PE_STRATEGY_OPTIMUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "optimum/design.h"
#include "workload/algebra.h"

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
 * The same where several matrices V_g over the same columns are measured apart:
 *
 *	 F = sum_g tr(V_g X_g^+),  diagonal of sum_g X_g <= 1,
 *	 F* >= T^2 / sum y,  T = sum_g tr (Y^.5 V_g Y^.5)^.5.
 *
 * A column may be 0 in some of V_g, not in all.  result: y, the bounds, iterations, and the
 * sum of the ranks.  part[g]: X_g as x or factor, and upper = tr(V_g X_g^+); no y, no lower.
 * Takes pe_optimum_memory(n) for each of them at most.
 */
extern void pe_optimum_solve_sum(const double *const *v, int32_t parts, int32_t n, double gap,
								 pe_optimum *result, pe_optimum *part);

/* Those bugs of the caller. */
extern void pe_optimum_check_gram(const double *v, int32_t n);

/*
 * Upper bound of the bytes that are allocated at one time during
 * pe_optimum_solve, with the result and with v itself (8 n^2): 40 n^2 and a
 * multiple of n.
 */
extern size_t pe_optimum_memory(int32_t n);

extern void pe_optimum_free(pe_optimum *result);

/* ----------
 * Workloads whose best strategy under L2 can be written down.
 *
 * If some group of permutations of the columns that leaves V = W'W unchanged
 * takes every column to every other, the dual of optimum.h, being concave, has a
 * maximiser that is constant, y = 1; so
 *
 *	 X = c V^.5, c = n / tr V^.5,   F* = (tr V^.5)^2 / n.
 *
 * Two such groups are recognised, from V itself and exactly: the rotations of
 * all columns (V circulant), whose V^.5 is a sum of cosines; and the
 * permutations of the cells of each attribute (unions of products of identity
 * and total, all marginals), where V_ij depends only on which attributes i and j
 * agree in and V^.5 is a sum over sets of attributes.  A diagonal V is a third
 * case: X = I, F* = tr V.
 * ----------
 */

/*
 * Solves for V as pe_optimum_solve does, with the same meaning of every part of
 * result (iterations 0), if one of the forms fits; else returns false and
 * leaves result alone.  count: the numbers of cells of the attributes whose
 * product the columns are, row-major, last fastest; with attributes 0 only V
 * itself is looked at.  O(n^2) where nothing fits, O(n^2) to build X.
 */
extern bool pe_closed_form(const double *v, int32_t n, const int32_t *count, int attributes, pe_optimum *result);

/* ----------
 * The strategy whose worst query is as good as it can be, under L2, with a
 * proof of how good it is.
 *
 * For queries w_q, weighted, the variance of the worst of them per unit of noise
 * variance and squared sensitivity is
 *
 *	 max_q w_q' X^+ w_q,  X = A'A, diagonal of X <= 1
 *
 * (the row space of A must contain all w_q).  Its least value is the square of
 * the factorisation norm gamma_2 of W.  Any p >= 0 on the queries and y > 0 on the
 * columns prove
 *
 *	 least value >= T^2 / (sum p sum y),  T = || P^.5 W Y^.5 ||_*
 *
 * (the maximum is at least the mean with weights p, and of that optimum.h's
 * bound), and give the strategy X = Y^-.5 (Y^.5 V_p Y^.5)^.5 Y^-.5, V_p = W'PW.
 * There is no duality gap: T is jointly concave in p and y (it is the fidelity of
 * V_p and Y), so maximising it is a convex problem.  Source: Lee, Shraibman,
 * Spalek, "A Direct Product Theorem for Discrepancy", CCC 2008, for gamma_2;
 * Edmonds, Nikolov, Ullman, "The Power of Factorization Mechanisms in Local and
 * Central Differential Privacy", STOC 2020, for its part in privacy.
 * ----------
 */

/*
 * Solves for the queries of source over n columns, 1 <= n <= PE_OPTIMUM_CELLS,
 * all of them not zero, until upper / lower - 1 <= gap.  design->finished: that
 * was reached; the bounds hold in both cases.
 * lower: of the largest variance for every strategy; upper: for this one, for
 * rounding a little more, as optimum.h has it; design->objective is the same.
 *
 * If the queries are of full rank design->x is X, else design->factor is G with
 * X = G'G, its largest diagonal entry 1 in both.
 *
 * Polls between LAPACK calls; reports progress once per evaluation.
 */
extern void pe_optimum_max(const pe_query_source *source, int32_t n, double gap,
						   pe_design *design, double *lower, double *upper);

/* Bytes that this takes at most, with the result, without the source's own. */
extern size_t pe_optimum_max_memory(int32_t queries, int32_t n);

/* ----------
 * The best strategy under L2 where neighbours differ by a substitution, with a proof of
 * how good it is.
 *
 * The squared sensitivity is the largest squared distance of two columns, or of a
 * column from 0 (strategy.h).  Of a strategy X = A'A
 *
 *	 d_ij = (e_i - e_j)'X(e_i - e_j),  d_ii = X_ii,
 *
 * and all are to be at most 1.  Any weights w_ij >= 0 on pairs and on columns prove
 *
 *	 F* >= T^2 / sum w,  T = tr (R S R')^.5,  V = R'R,  S = sum w_ij (e_i - e_j)(e_i - e_j)' + diag(w_ii),
 *
 * for T = || (R X^-.5)(X^.5 S^.5) ||_* <= (tr V X^+)^.5 (tr S X)^.5 by the inequality of
 * Cauchy and Schwarz, and tr S X = sum w_ij d_ij <= sum w.  They give the strategy
 * X = G'G, G = diag(s^-.5) Q'R, R S R' = Q diag(s^2) Q'; its F is T max d.  T is concave in w.
 * With w_ij = 0 for all pairs this is the proof for add_remove, whose bound holds here too.
 * ----------
 */

/* Most columns for which such weights are looked for. */
#define PE_PAIRS_CELLS 2048

/*
 * From the optimum for V of add_remove (n >= 1) to the best strategy that is
 * known here, with these distances instead of the diagonal of X: its own with
 * the largest multiple of 11' that costs nothing, or that of weights.  upper
 * and lower are of this problem; y is no more.  The search ends at the gap, or
 * after a number of evaluations that n decides: 1e-3 is usual for 64 columns,
 * and a few percent for 1,000, up to a fifth where columns are unlike.  With
 * more than PE_PAIRS_CELLS columns there is none, and lower is that of
 * add_remove, up to half of the optimum.
 *
 * Polls between LAPACK calls; reports progress once per evaluation.
 */
extern void pe_optimum_pairs(const double *v, double gap, pe_optimum *optimum);

/* Bytes that this takes at most, with V and the optimum. */
extern size_t pe_optimum_pairs_memory(int32_t n);

/* ----------
 * The best known strategies under L1: every column counted, and a few sums of
 * all columns besides.
 *
 * McKenna, Miklau, Hay, Machanavajjhala, "Optimizing error of high-dimensional
 * statistical queries under differential privacy", PVLDB 11(10), 2018, section
 * 5.2 (OPT_0):
 *
 *	 A = [I; Theta] D,  Theta >= 0 of p x n,  D = diag(1 / (1 + sum_i Theta_ij)),
 *
 * so that every column sums to 1 and Delta_1 = 1, and what is looked for is
 *
 *	 min over Theta of tr(V (A'A)^-1) = tr(V D^-1 (I + Theta'Theta)^-1 D^-1).
 *
 * By Woodbury's identity (I + Theta'Theta)^-1 = I - Theta'(I + Theta Theta')^-1
 * Theta, so that the objective and its gradient cost O(p n^2) and never an inverse
 * of order n.  The problem is not convex: what is found is a local minimum, the
 * best from a few starts.  The paper's starts are random; added here are one with a
 * single sum, as rows of Theta that are alike share what one of them had better have
 * alone and are slow to let go, and Theta = 0, the columns one by one, as a value
 * never to be exceeded.
 *
 * With more than 256 columns the starts are among groups of like columns, and what is found
 * there is where the search among all of them begins.
 * ----------
 */

/* What is 0 is chosen by n alone, so that the same V gives the same strategy everywhere, up to rounding. */
typedef struct pe_p_identity_options
{
	int32_t		sums;			/* p, rows of Theta; 0: the paper's n / 16, at least 1 */
	int32_t		starts;			/* besides the one with a single sum; 0: 5 for small n, fewer for larger ones */
	/*
	 * of the objective from one start, and at one size of groups, at most; 0:
	 * as many as take bearable time
	 */
	int32_t		evaluations;
} pe_p_identity_options;

/*
 * For V (n x n, by columns, both triangles, positive semidefinite, diagonal > 0,
 * 1 <= n <= PE_OPTIMUM_CELLS), of any rank.  design.factor is A, (n + p) x n, its
 * first n rows diagonal and positive; objective is tr(V (A'A)^-1); iterations those
 * of all starts together.  A V that is not finite or has a diagonal entry <= 0 is a
 * bug of the caller.  trace: may be NULL; the measure is what the last iterations gained,
 * relatively, and INFINITY at first.
 *
 * Polls once per evaluation; reports progress once per iteration.
 */
extern void pe_p_identity(const double *v, int32_t n, const pe_p_identity_options *options, const pe_trace *trace,
						  pe_design *design);

/* p */
extern int32_t pe_p_identity_sums(int32_t n, const pe_p_identity_options *options);

/* Bytes that this takes at most, with the result but without v. */
extern size_t pe_p_identity_memory(int32_t n, const pe_p_identity_options *options);

#endif
