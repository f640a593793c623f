/*
 * optimum_eval.h
 *	  One evaluation of the dual of optimum.h: private to optimum*.c.
 *
 * Persymmetric splitting.  With J the reversal of 0..n-1 and V = JVJ, the dual
 * has a symmetric maximiser, y = Jy.  The orthonormal bases
 *
 *	 symmetric:      (e_i + e_Ji) / sqrt 2, and the middle e_i if n is odd
 *	 antisymmetric:  (e_i - e_Ji) / sqrt 2
 *
 * reduce everything to two blocks V_b = Q_b'V Q_b, indexed alike by i = 0, 1, ..
 * (n+1)/2 - 1, the middle last and absent from the second block.  y_i then
 * stands for copies_i = 2 (1 for the middle) coordinates.  Without the symmetry
 * there is one block, V, and copies_i = 1.  Per block and over all blocks:
 *
 *	 M_b = Y^.5 V_b Y^.5 = U_b diag(s_b^2) U_b'
 *	 kappa_i = sum_b sum_k U_b[i,k]^2 s_bk,    X_ii = kappa_i / (copies_i y_i)
 *	 T = sum kappa = sum s,    sum y = sum copies_i y_i
 *	 S = sum_b sum_kl (u_k o u_l)(u_k o u_l)' s_k s_l / (s_k + s_l)
 *	 copies_i y_i dX_ii = -(S du)_i,  u = log y
 *
 * Several matrices V over the same columns (optimum.h, sums) have one block each, or
 * two: those of the first matrix come first.  Nothing else changes.
 */
#ifndef PE_STRATEGY_OPTIMUM_EVAL_H
#define PE_STRATEGY_OPTIMUM_EVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workload/algebra.h"

typedef struct pe_dual_block
{
	int32_t		size;
	int32_t		rank;
	const double *v;			/* size x size */
	double	   *built;			/* the same if it had to be built, else NULL */
	double	   *r;				/* rank x size, V_b = R'R; NULL in direct mode */
	double	   *unit;			/* size: V's columns in these units are of length 1/2 to 1, or 0 */
	double	   *chain;			/* 2 x size: c and d of optimum_chain.c, if V_b is of that form; else NULL */
	double	   *u;				/* size x rank */
	double	   *s;				/* rank, ascending up to rounding, > 0 */
	int32_t		next;			/* of s: for a walk through the roots of all blocks */
} pe_dual_block;

typedef struct pe_dual
{
	int32_t		n;
	int32_t		order;			/* length of y: n, or (n + 1) / 2 if split */
	int32_t		parts;			/* matrices V */
	bool		split;			/* each into two blocks */
	int32_t		dimension;		/* of all of them: parts x n */
	int32_t		rank;			/* of all of them */
	double		rounding;		/* relative error of a sum of n products, see optimum.h */
	bool		direct;			/* all are of full rank and used themselves, not through row factors */
	int32_t		blocks;
	pe_dual_block *block;
	double	   *copies;
	double	   *y;
	double	   *kappa;
	double	   *diagonal;		/* X_ii */
	double		trace;			/* T */
	double		trace_lower;	/* T less the possible error of the eigenvalues */
	double		slack;			/* possible error of F by rounding, for T max X_ii */
	double	   *root;			/* order: scratch vector */
	double	   *scale;			/* order: scaling of the factored system */
	float	   *right;			/* order: its right hand side */
	const double *tie;			/* order: tie tie' is added to S; or NULL */
	double	   *scratch;		/* order x order, live between two functions only in the Newton system */
	double	   *work;			/* pe_la_eigen_work(order) >= order x order */
	int32_t    *iwork;
} pe_dual;

/* Bytes that a pe_dual of order n takes, blocks and all, without v. */
extern size_t pe_dual_memory(int32_t n);

/* Sets up blocks, ranks and workspaces; v must outlive it.  split: if all of v allow it. */
extern void pe_dual_init(pe_dual *dual, const double *const *v, int32_t parts, int32_t n, bool split);

/*
 * From now on works with row factors, which V of full rank does without at
 * first: they stand a bad scaling of V better.
 */
extern void pe_dual_use_factors(pe_dual *dual);

extern void pe_dual_free(pe_dual *dual);

/* y of the start: sqrt V_ii of the sum, the largest 1 (the exact solution for one diagonal V). */
extern void pe_dual_start(const pe_dual *dual, double *y);

/* Everything that follows from y.  False if rounding or range does not allow it. */
extern bool pe_dual_evaluate(pe_dual *dual);

/* Looks whether the inverse of V_b is tridiagonal, and sets block->chain if so; V_b is of full rank. */
extern void pe_dual_find_chain(pe_dual_block *block);

/*
 * Eigenvectors and roots of a block that has a chain, and its parts of the bounds
 * for T and F.  False, with these as they were, if the dense matrix would give them more closely.
 */
extern bool pe_dual_chain_spectrum(pe_dual *dual, pe_dual_block *block);

/*
 * An upper bound of tr(|E| X^-1) for errors E of V_b, |E_ij| <= dual->rounding sqrt(V_ii V_jj),
 * from u, s and y.
 */
extern double pe_dual_gram_error(const pe_dual *dual, const pe_dual_block *block);

/* y <- factor y, without a new evaluation: X <- X / sqrt factor. */
extern void pe_dual_rescale(pe_dual *dual, double factor);

extern double pe_dual_sum(const pe_dual *dual);
extern double pe_dual_largest(const pe_dual *dual);

/* F of X scaled to unit diagonal by D^-.5 X D^-.5, and what rounding can add to it; direct mode only. */
extern double pe_dual_normalised(pe_dual *dual);

/*
 * Prepares (S + tie tie' + diag(shift)) du = b in single precision: S enters a search
 * direction only, never a bound.  step: of the quadrature in log t, which is off
 * by 6 % at 2 and by 1.4 % at 1.5; fine: a rule that is off by less than 1e-5,
 * for an S with small eigenvalues, at several times the work.  The system lives
 * in scratch until the next evaluation.  False if it cannot be factored.
 */
extern bool pe_dual_system(pe_dual *dual, double step, bool fine, const double *shift);
extern void pe_dual_solve(pe_dual *dual, const double *b, double *du);

/*
 * Whether coordinate i of 0..n-1 belongs to the index, and the entry of the
 * basis of block b of any part there (Q_b[i, index]).
 */
extern int32_t pe_dual_index(const pe_dual *dual, int32_t i);
extern double pe_dual_basis(const pe_dual *dual, int32_t b, int32_t i);

/* Q_b'V Q_b, size x size, for a persymmetric V (n x n) with b = 0 (symmetric) and 1; pe_free. */
extern double *pe_dual_build_block(const double *v, int32_t n, int32_t b, int32_t size);

/* x += Q_b X_b Q_b' for the X_b in scratch. */
extern void pe_dual_add_block(const pe_dual *dual, int32_t b, double *x);

/* Dividing by it rounds nothing. */
extern double pe_power_of_two_near(double length);

/* The largest step of at most 1 that keeps x + step dx >= 0. */
extern double pe_longest_step(int32_t n, const double *x, const double *dx);

/* ----------
 * One evaluation of the dual of optimum_max.h: private to optimum_max*.c.
 *
 * Queries are read a few at a time, so that there may be many.  W'W = R'R, R of full
 * row rank, and W = L R with orthonormal columns of L; V_p = R'(L'PL)R.
 *
 * A small share of p belongs to all queries equally, for every p: then L'PL
 * has a root even where p is 0, and X(y, p) has the row space of W.
 * ----------
 */

typedef struct pe_max_dual
{
	const pe_query_source *source;
	int32_t		n;
	int32_t		queries;
	int32_t		rank;
	double		share;			/* of all queries equally, in sigma */
	double		rounding;		/* relative error of a sum of n products, see optimum.h */

	/* R, rank x n, and the pivots by which it is triangular */
	double	   *r;
	double	   *triangle;		/* rank x rank: R's columns pivot[0..] */
	int32_t    *pivot;

	/* of the columns, then of the queries: y and p; y X_ii and p a_q */
	double	   *y;
	double	   *kappa;

	/* what follows from y and p */
	double	   *s;				/* rank, ascending */
	double	   *left;			/* n x rank: z_k, orthonormal */
	double	   *root;			/* n x rank: K, X^-1 = K K' on the row space */
	double	   *c;				/* n x n: X^-1 */
	double	   *variance;		/* a_q */
	double		trace;			/* T */
	double		trace_lower;	/* T less what rounding can have added */
	double		largest;		/* X_ii */
	double		worst;			/* a_q, with what rounding can have taken away */
} pe_max_dual;

/* y and p of the start: as for the sum of variances, p equal. */
extern void pe_max_dual_start(pe_max_dual *dual);

/* At the start; the source must outlive it. */
extern void pe_max_dual_init(pe_max_dual *dual, const pe_query_source *source, int32_t n, double share);
extern void pe_max_dual_free(pe_max_dual *dual);

/* Bytes that this takes, and an evaluation, without the source's own. */
extern size_t pe_max_dual_memory(int32_t queries, int32_t n);

/* Everything that follows from y and p.  False if rounding or range does not allow it. */
extern bool pe_max_dual_evaluate(pe_max_dual *dual);

/* y <- columns y, p <- queries p, without a new evaluation (c is left alone). */
extern void pe_max_dual_rescale(pe_max_dual *dual, double columns, double queries);

/* sigma: p of all queries, with what they have equally. */
extern double pe_max_dual_sigma(const pe_max_dual *dual);

extern double pe_max_dual_sum(const pe_max_dual *dual);

/* The vectors (z_k, u_k) in u, (n + queries) x rank. */
extern void pe_max_dual_stack(const pe_max_dual *dual, double *u);

/* The strategy: G = diag(s^.5) Z'Y^-.5, rank x n, X = G'G. */
extern void pe_max_dual_strategy(const pe_max_dual *dual, double *g);

#endif
