/*
 * maker.h
 *	  From a design in real numbers to the integers that are measured: what the
 *	  methods of strategy.h share.  For optimal*.c and src/methods.
 *
 * Source of the rounding: T = round(2^k R) for X = R'R, entries then moved by
 * one until every column norm is 2^k as nearly as it can be; k = 16, and more
 * while rounding costs more than it may.  For a workload of smaller rank than its
 * columns X = B'P B and P = R'R instead, so that the row space of A is that of W
 * exactly, and the answers are not biased.
 */
#ifndef PE_STRATEGY_MAKER_H
#define PE_STRATEGY_MAKER_H

#include "strategy/design.h"
#include "strategy/strategy.h"

typedef struct pe_maker
{
	const pe_strategy_wish *wish;
	int32_t		n;				/* columns */
	int32_t    *representative; /* class of each column */
	double	   *gram;			/* W'W over the columns, exact */
	double	   *v;				/* the same, weighted; gram itself if nothing is */
	double		goal;			/* the objective that the integers may exceed */
	double		tolerance;		/* by so much, relatively */
	pe_strategy *strategy;

	/*
	 * The objective for Delta = 1 where it is not the sum: c is (A'A)^+ over the
	 * columns, n x n, both triangles.  NULL: the sum.
	 */
	double		(*error) (void *argument, const double *c);
	void	   *argument;
} pe_maker;

/*
 * Classes become columns: ruled out, not asked, or one of those with the same
 * weights in every query.  Any but PE_STRATEGY_OK: nothing to measure, and nothing
 * to end.
 */
extern pe_strategy_status pe_maker_begin(pe_maker *maker, const pe_strategy_wish *wish, pe_strategy *strategy);
extern void pe_maker_end(pe_maker *maker);

/* Queries that share no cell: with a diagonal V nothing is better than to count each column. */
extern bool pe_maker_is_diagonal(const pe_maker *maker);

/* The strategy that counts each column.  The objective is that of the sum. */
extern void pe_maker_count_columns(pe_maker *maker);

/* Whether the integers are as good as they have to be. */
extern bool pe_maker_is_good(const pe_maker *maker);

/* X of full rank, n x n, destroyed.  False if it is not positive definite in doubles. */
extern bool pe_maker_round_full(pe_maker *maker, double *x);

/* X = G'G, G rows x n by columns, whose rows span what the queries do: by way of a basis where there is one. */
extern void pe_maker_round_factor(pe_maker *maker, const double *factor, int32_t rows);

/* (1 - ridge) X + ridge d I, d X's largest diagonal entry: for an X that is all but singular, or is. */
extern void pe_maker_round_singular(pe_maker *maker, const double *x);

/* Gives the strategy a basis and its number of rows as inner; false, without one, if there is none of fewer rows than columns. */
extern bool pe_maker_basis(pe_maker *maker);

/* Puts a strategy back that was made before, if it is not worse; the other one is freed. */
extern void pe_maker_keep_better(pe_maker *maker, pe_strategy *before);

/* W itself: a column for every class that is left; only for a workload that counts each cell once. */
extern pe_strategy_status pe_maker_count_classes(const pe_strategy_wish *wish, pe_strategy *strategy);

/* Method optimal under L2.  The caller has checked the wish. */
extern pe_strategy_status pe_make_optimal(const pe_strategy_wish *wish, pe_strategy *strategy);

/* The lower bound alone, of the sum under L2, to within a gap: into the strategy. */
extern void pe_make_bound(pe_maker *maker, double gap);

#endif
