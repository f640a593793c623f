/*
 * published.h
 *	  Strategies as others published them, kept to be compared with the optimum.
 */
#ifndef PE_PUBLISHED_PUBLISHED_H
#define PE_PUBLISHED_PUBLISHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "optimum/design.h"

/* ----------
 * The strategy by Newton's method on X with conjugate gradients, as published.
 *
 * Yuan, Yang, Zhang, Hao, "Convex Optimization for Linear Query Processing under
 * Approximate Differential Privacy", KDD 2016, Algorithms 1, 2 and 3:
 *
 *	 minimise F(X) = tr((V + theta I) X^-1)  over X > 0 with unit diagonal
 *
 * from X = I.  Gradient and Hessian are, with Z = X^-1,
 *
 *	 G = -Z (V + theta I) Z,   H(P) = -(Z P G + G P Z),
 *
 * both with the diagonal set to 0, since that of X stays what it is.
 *
 * It is kept beside the solver of optimum.h to be compared with it, so it is what
 * was published, without misprints with which it does not run:
 *
 *	 - Algorithm 2 has B = -G + Z D G + G D Z in line 7.  Of the direction P, not of D,
 *	   without the gradient and with the other sign, B = H(P) is meant: as printed the
 *	   second step divides 0 by 0.
 *	 - "for l = 0 to T" would be T + 1 steps; there are cg_steps.
 *	 - ||G||_F, which the paper plots as its measure of optimality, does not become 0
 *	   at the optimum, where G is diagonal.  ||G - diag G||_F does; it is taken
 *	   relatively to ||G||_F.
 *	 - The dual of Lemma 3 lacks a term.  Any y > 0 proves
 *	   min F >= (tr (Y^.5 (V + theta I) Y^.5)^.5)^2 / sum y; Lemma 4 is y = 1, and at the
 *	   optimum y = -diag G is tight.
 * ----------
 */

typedef struct pe_coa_options
{
	/*
	 * Added to the diagonal of V, absolutely, as published: what it means depends
	 * on the scale of V.  What is lost on V itself is of the order of its root, for
	 * V of less than full rank; with theta = 0 such a V cannot be solved.
	 */
	double		theta;
	/*
	 * 0: Algorithm 1 with theta.  Else Algorithm 3: theta, then stage by stage
	 * times decay
	 */
	int32_t		stages;
	double		decay;
	int32_t		cg_steps;		/* of Algorithm 2 */
	double		beta;			/* step sizes tried are 1, beta, beta^2, ... */
	double		sigma;			/* part of the decrease promised by the gradient that a step must bring */
	int32_t		iterations;		/* at most, in each stage */

	/*
	 * The rule for stopping.  gap > 0: when F / bound - 1 <= gap, with the bound above from
	 * y = -diag G; it costs the eigenvalues of a matrix in each iteration.
	 * gap = 0: when ||G - diag G||_F <= tolerance ||G||_F.
	 */
	double		gap;
	double		tolerance;
} pe_coa_options;

/* Algorithm 1 with the paper's numbers: theta 1e-3, 5 steps, beta 0.1, sigma 0.25; by tolerance. */
extern void pe_coa_defaults(pe_coa_options *options);

/*
 * For V (n x n, by columns, both triangles, finite; anything else is a bug of
 * the caller, like options that make no sense).  V should be positive
 * semidefinite.
 *
 * The design has x, with a diagonal of exactly 1; its objective is that on V,
 * not on V + theta I, and may be infinite where V is beyond the range of
 * floating point.  It ends unfinished after so many iterations or when no step
 * size above 1e-12 brings a decrease: rounding does not allow it.
 *
 * trace (or NULL) is given the objective on V and the relative measure above at
 * iteration 0, X = I, and after each one.  Polls between products; reports
 * progress once per iteration.
 *
 * One iteration is 2 products of n x n matrices for each step of Algorithm 2, 2
 * for the gradient and about a half for every step size tried.
 */
extern void pe_coa(const double *v, int32_t n, const pe_coa_options *options, const pe_trace *trace,
				   pe_design *design);

/* Upper bound of the bytes that are allocated at one time during pe_coa, with the design and with v itself. */
extern size_t pe_coa_memory(int32_t n);

/* ---- the pieces, for tests of the derivatives ---- */

/* t = Z P G, so that H(P) = -(T + T'); work: n^2. */
extern void pe_coa_product(int32_t n, const double *z, const double *g, const double *p, double *t, double *work);

/* ----------
 * The strategy by projected gradients on a smoothed maximum.
 *
 * The exponential smoothing mechanism of Yuan, Zhang, Winslett, Xiao, Yang, Hao,
 * "Low-Rank Mechanism: Optimizing Batch Queries under Differential Privacy", VLDB 2012:
 *
 *	 minimise  smax_mu(diag X) tr(V X^-1)  over X >= floor I,
 *	 smax_mu(d) = max d + mu log sum exp((d - max d) / mu),
 *
 * where smax_mu, between max d and max d + mu log n, stands for the squared
 * sensitivity max d, which has no gradient.  With softmax the gradient of smax_mu it is
 *
 *	 diag(softmax) tr(V X^-1) - smax X^-1 V X^-1.
 *
 * The nonmonotone spectral projected gradient method of Birgin, Martinez and Raydan
 * (SIAM J. Optim. 10, 2000) minimises that for one mu after the other, each from the
 * matrix before it.  The problem is not convex in X, and first-order steps are
 * short where V is far from a multiple of I: it ends near the optimum of optimum.h,
 * not at it.
 * ----------
 */

#define PE_SMOOTHING_MEMORY 64

typedef struct pe_smoothing_options
{
	int32_t		stages;			/* values of mu */
	double		first_mu;		/* relative to the largest diagonal entry of X when the stage begins */
	double		decay;			/* each mu to the one before it */
	double		floor;			/* least eigenvalue of X, relative to the largest when the stage begins */
	/*
	 * how many last objectives: the largest of them must be undercut:
	 * 1 .. PE_SMOOTHING_MEMORY
	 */
	int32_t		memory;
	double		decrease;		/* sufficient one, as a part of what the gradient promises */
	int32_t		iterations;		/* at most, in each stage */
	double		tolerance;		/* of the projected gradient, relative to that at X = I */
} pe_smoothing_options;

/* mu 1e-1 to 1e-4 in four stages, floor 1e-8, memory 10, decrease 1e-4, 200 iterations, tolerance 1e-4. */
extern void pe_smoothing_defaults(pe_smoothing_options *options);

/*
 * For V (n x n, by columns, both triangles, finite; anything else is a bug of
 * the caller, like options that make no sense).  V should be positive
 * semidefinite.
 *
 * The design has x, the best that was met by max X_ii tr(V X^-1), with largest
 * diagonal entry 1 and positive definite; its objective is that number and may
 * be infinite where V is beyond the range of floating point.  It is finished if
 * the last stage met its tolerance.
 *
 * trace (or NULL) is given this objective of the current X, which may rise, and
 * the projected gradient relative to that at X = I, at iteration 0 and after
 * each one.  Polls between products; reports progress once per iteration.
 */
extern void pe_smoothing(const double *v, int32_t n, const pe_smoothing_options *options, const pe_trace *trace,
						 pe_design *design);

/* Upper bound of the bytes that are allocated at one time during pe_smoothing, with the design and with v itself. */
extern size_t pe_smoothing_memory(int32_t n);

/* ---- the pieces, for tests ---- */

/*
 * The nearest matrix to the symmetric A (lower triangle) whose eigenvalues are at least floor, in p, both
 * triangles; A is destroyed.  work, iwork: of pe_la_eigen and n more.  z: n^2.  False
 * if the eigenvalues cannot be found.
 */
extern bool pe_smoothing_project(int32_t n, double floor, double *a, double *p, double *z,
								 double *work, int32_t *iwork);

/* ----------
 * The adaptive mechanism: eigenvectors of the workload, optimally weighted.
 *
 * With V = P diag(d) P' the strategy is A = diag(sqrt z) P', and its expected error
 *
 *	 max_j ((P o P) z)_j  sum_i d_i / z_i
 *
 * is convex in z > 0.  As in optimum.h any y > 0 bounds the least from below, by
 * T^2 / sum y with T = sum_i sqrt(d_i g_i), g = (P o P)'y, and gives z_i =
 * sqrt(d_i / g_i).  The multiplicative iteration y_j <- y_j ((P o P) z)_j makes the
 * two meet; its exponent 1.5 here instead of 1 makes it faster, and nothing has to be
 * proved for it, as both bounds hold for any y.  A column of A shorter than the
 * longest one wastes noise: rows sqrt(1 - |a_j|^2) e_j are appended, at no cost.
 *
 * Source: Li, Miklau, "An Adaptive Mechanism for Accurate Query Answering under
 * Differential Privacy", PVLDB 2012: programme 1 for the weights (solved there by a
 * general solver of semidefinite programmes), and its completion of columns.
 *
 * Eigenvectors of equal eigenvalues are not unique, and the expected error depends on
 * which are taken: here what LAPACK makes of V.  The library, and rounding, can change
 * it then.
 * ----------
 */

/* What the paper's programme is solved to. */
#define PE_ADAPTIVE_GAP 1e-5

/*
 * design.factor: A before completing, a row for each eigenvalue above 1e-12 of the
 * largest one, the longest column of norm 1.  design.x: A'A with the diagonal
 * completed to 1, if that is positive definite and well away from singular (pivots
 * above 1e-10), else NULL: always there if V is of full rank and not nearly singular,
 * and also otherwise where enough columns are short.  design.objective is that of x
 * if there is one, and of factor otherwise.
 */
typedef struct pe_adapted
{
	pe_design	design;
	double		uncompleted;	/* the objective of factor */
	double		lower;			/* of any weights of these eigenvectors, before completing */
} pe_adapted;

/*
 * For V (n x n, by columns, both triangles, finite, positive semidefinite, not
 * zero), until uncompleted / lower - 1 <= gap, but no longer than 3000 steps;
 * finished says which.  The trace's measure is that gap.  Polls at every step,
 * and reports progress.
 */
extern void pe_adaptive(const double *v, int32_t n, double gap, const pe_trace *trace, pe_adapted *adapted);

/* Upper bound of the bytes that are allocated at one time by this, with the result. */
extern size_t pe_adaptive_memory(int32_t n);

extern void pe_adapted_free(pe_adapted *adapted);

/* ----------
 * The low-rank mechanism: W = B L, L measured.
 *
 * For a row factor R of the workload (V = R'R; with W itself the time would grow with
 * the number of queries, and B'B, all that matters, be the same) it minimises
 *
 *	 1/2 |B|_F^2  such that  R = B L,  every column of L in the unit ball of the norm,
 *
 * by an augmented Lagrangian with multipliers pi and penalty beta: B is a least squares
 * solution, L comes from accelerated projected gradient steps.  The problem is not
 * convex in (B, L); what comes out depends on the start and need not be optimal.
 *
 * Source: Yuan, Zhang, Winslett, Xiao, Yang, Hao, "Low-Rank Mechanism: Optimizing Batch
 * Queries under Differential Privacy", PVLDB 2012, Algorithms 1 and 2, for the L1 norm;
 * "Optimizing Batch Linear Queries under Exact and Approximate Differential Privacy",
 * TODS 2015, for the L2 norm.  Two things are different here.  The residual at which it
 * stops is relative: the papers' 0.01 means nothing where queries have weights.  And
 * beta = 1 at first, as published, lets the ball of the L1 norm, which has corners,
 * empty rows of L, often until R = B L cannot be had; then all is begun anew with twice
 * that beta.
 * ----------
 */

typedef struct pe_low_rank_options
{
	double		residual;		/* stops where |R - B L|_F is at most this part of |R|_F */
	int32_t		outer;			/* most updates of the multipliers after one beginning */
	int32_t		alternations;	/* between B and L in each, at most */
	int32_t		gradients;		/* steps for L in each of those, at most */
} pe_low_rank_options;

extern const pe_low_rank_options pe_low_rank_defaults;

/* Rows of L for a workload of this rank: a fifth more. */
extern int32_t pe_low_rank_rows(int32_t rank);

/*
 * design.factor: L, its longest column of norm 1; no design.x.  design.objective:
 * |R L^+|_F^2 with the B that is best for L.  L need not span the rows of R: residual
 * says what its answers miss with any noise, and only if that is 0 (always, up to
 * rounding, where L has the rank of its columns) is the objective the whole error.
 */
typedef struct pe_low_rank_result
{
	pe_design	design;
	double		residual;		/* |R - R L^+ L|_F^2 */
} pe_low_rank_result;

/*
 * R is rank x n by columns, 1 <= rank <= n, finite, not zero.  options: NULL for
 * pe_low_rank_defaults.  The start is random, but always the same.  The trace's
 * measure is |R - B L|_F / |R|_F, its objective |B|_F^2.  Polls at every step for L,
 * and reports progress with every update of the multipliers.
 */
extern void pe_low_rank(const double *r, int32_t rank, int32_t n, pe_norm norm, const pe_low_rank_options *options,
						const pe_trace *trace, pe_low_rank_result *result);

/*
 * Projects the rows of L onto those of R, and scales it so that its longest column is
 * of norm 1: a strategy whose rows are combinations of the workload's, as one over a
 * basis of integer rows must be.  Objective and residual are made anew; the residual
 * is 0 then, up to rounding, unless L misses a direction of R altogether.
 */
extern void pe_low_rank_project(const double *r, int32_t rank, pe_norm norm, pe_low_rank_result *result);

/*
 * Appends rows eta e_j for all columns j, and scales L so that its longest column is of
 * norm 1: it has the rank of its columns then, and R - R L^+ L = 0 for every R.  eta is
 * the best of 2^-1, 2^-2 .. 2^-10.  This is for the L1 norm, where L gains much from
 * the corners of the ball, and loses it by projection; in the L2 norm projection costs
 * hardly anything.
 */
extern void pe_low_rank_append(const double *r, int32_t rank, pe_norm norm, pe_low_rank_result *result);

/* Upper bound of the bytes that are allocated at one time by these, with the result. */
extern size_t pe_low_rank_memory(int32_t rank, int32_t n);

extern void pe_low_rank_free(pe_low_rank_result *result);

/* ----------
 * Strategies made of levels: Haar wavelets and trees.
 *
 * The columns are taken in order.  Every row is 1 on an interval of them, 0
 * elsewhere, or 1 on one interval and -1 on the next one; every column lies in one
 * row of each level.  So all columns have the same norm: the number of levels, in
 * the L1 norm and, squared, in the L2 norm.
 *
 * Sources: the wavelet strategy is that of Xiao, Wang, Gehrke, "Differential Privacy
 * via Wavelet Transforms", ICDE 2010; trees are those of Hay, Rastogi, Miklau,
 * Suciu, "Boosting the Accuracy of Differentially Private Histograms through
 * Consistency", PVLDB 2010, with the number of children chosen as Qardaji, Yang, Li,
 * "Understanding Hierarchical Methods for Differentially Private Histograms", PVLDB
 * 2013, ask for it, but by the expected error of the workload at hand.
 * ----------
 */

/* 1 from first to before middle, -1 from there to before end. */
typedef struct pe_level_row
{
	int32_t		level;			/* from 0, the coarsest */
	int32_t		first;
	int32_t		middle;
	int32_t		end;
} pe_level_row;

typedef struct pe_levels
{
	int32_t		n;				/* columns */
	int32_t		levels;
	int32_t		rows;			/* level by level, from left to right; of full column rank */
	pe_level_row *row;
	int32_t		wavelet;		/* Haar: the power of two that was cut to n columns; a tree: 0 */
} pe_levels;

/*
 * The Haar matrix of size 2^ceil(log2 n) with its first n columns; rows that are
 * zero there are left out.  Level 0 is the total, level 1 its first half less the
 * second, and so on.  If n is no power of two the rows that were cut are not
 * orthogonal any more, and there can be more of them than columns.
 */
extern void pe_levels_haar(int32_t n, pe_levels *levels);

/*
 * All nodes of the tree whose nodes have `branching' children (>= 2): the levels are
 * the intervals of branching^h, cut to n columns, the coarsest one that of everything.
 * Without the root that one is left out (not for n = 1, where it is all there is).
 */
extern void pe_levels_tree(int32_t n, int32_t branching, bool with_root, pe_levels *levels);

/* Most children that are tried. */
#define PE_MOST_BRANCHING 16

/*
 * The tree of the least expected error for V among those with 2 to PE_MOST_BRANCHING
 * children, with and without the root.  V (n x n, both triangles, finite) as in
 * design.h.  The same error (of the same matrix) as pe_levels_error has without
 * weights, up to rounding.  O(n^2) for each tree.
 */
extern void pe_levels_best_tree(const double *v, int32_t n, pe_norm norm, pe_levels *levels);

/* Expected error of one tree, in O(n^2). */
extern double pe_levels_tree_error(const double *v, int32_t n, int32_t branching, bool with_root, pe_norm norm);

/*
 * Delta^2 tr(V (A'A)^-1), A the rows, each times its level's weight (> 0; NULL: 1),
 * Delta its sensitivity in the norm.  O(n^3).  Infinite if the weights are so
 * different that A'A is singular to the precision of numbers.
 */
extern double pe_levels_error(const pe_levels *levels, const double *weights, const double *v, pe_norm norm);

/* The matrix without weights: rows x n, by columns. */
extern void pe_levels_matrix(const pe_levels *levels, int32_t *matrix);

/* Upper bound of the bytes that are allocated at one time by any of these, with the result (not the matrix). */
extern size_t pe_levels_memory(int32_t n);

extern void pe_levels_free(pe_levels *levels);

#endif
