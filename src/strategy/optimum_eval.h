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
 */
#ifndef PE_STRATEGY_OPTIMUM_EVAL_H
#define PE_STRATEGY_OPTIMUM_EVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pe_dual_block
{
	int32_t		size;
	int32_t		rank;
	const double *v;			/* size x size */
	double	   *built;			/* the same if it had to be built, else NULL */
	double	   *r;				/* rank x size, V_b = R'R; NULL in direct mode */
	double	   *u;				/* size x rank */
	double	   *s;				/* rank, ascending up to rounding, > 0 */
} pe_dual_block;

typedef struct pe_dual
{
	int32_t		n;
	int32_t		order;			/* length of y: n, or (n + 1) / 2 if split */
	int32_t		rank;			/* of V */
	double		rounding;		/* relative error of a sum of n products, see optimum.h */
	double	   *unit;			/* order: V's columns in these units are of length 1/2 to 1 */
	bool		direct;			/* V is of full rank and used itself, not through row factors */
	int32_t		blocks;
	pe_dual_block block[2];
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

/* Sets up blocks, ranks and workspaces; v must outlive it.  split: if v allows it. */
extern void pe_dual_init(pe_dual *dual, const double *v, int32_t n, bool split);

/*
 * From now on works with row factors, which V of full rank does without at
 * first: they stand a bad scaling of V better.
 */
extern void pe_dual_use_factors(pe_dual *dual);

extern void pe_dual_free(pe_dual *dual);

/* y of the start: sqrt V_ii, the largest 1 (the exact solution for diagonal V). */
extern void pe_dual_start(const pe_dual *dual, double *y);

/* Everything that follows from y.  False if rounding or range does not allow it. */
extern bool pe_dual_evaluate(pe_dual *dual);

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
 * basis of block b there (Q_b[i, index]).
 */
extern int32_t pe_dual_index(const pe_dual *dual, int32_t i);
extern double pe_dual_basis(const pe_dual *dual, int32_t b, int32_t i);

#endif
