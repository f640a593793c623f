/*
 * optimum_max_eval.h
 *	  One evaluation of the dual of optimum_max.h: private to optimum_max*.c.
 *
 * Queries are read a few at a time, so that there may be many.  W'W = R'R, R of full
 * row rank, and W = L R with orthonormal columns of L; V_p = R'(L'PL)R.
 *
 * A small share of p belongs to all queries equally, for every p: then L'PL
 * has a root even where p is 0, and X(y, p) has the row space of W.
 */
#ifndef PE_STRATEGY_OPTIMUM_MAX_EVAL_H
#define PE_STRATEGY_OPTIMUM_MAX_EVAL_H

#include "workload/query_source.h"

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
