/*
 * rounding.h
 *	  From a design in real numbers to the integers that are measured: what the
 *	  methods of strategy.h share.  For optimal*.c and src/methods.
 *
 * Source of the rounding: T = round(2^k R) for X = R'R, entries then moved by
 * one until every column norm is 2^k as nearly as it can be; k = 16, and more
 * while rounding costs more than it may.  For a workload of smaller rank than its
 * columns X = B'P B and P = R'R instead, so that the row space of A is that of W
 * exactly, and the answers are not biased.
 */
#ifndef PE_STRATEGY_ROUNDING_H
#define PE_STRATEGY_ROUNDING_H

#include "optimum/design.h"
#include "strategy/strategy.h"
#include "workload/algebra.h"

typedef struct pe_rounding
{
	const pe_strategy_problem *problem;
	int32_t		n;				/* columns */
	int32_t    *representative; /* class of each column */
	double	   *gram;			/* W'W over the columns, exact */
	double	   *v;				/* the same, weighted; gram itself if nothing is */
	double		goal;			/* the objective that the integers may exceed */
	double		tolerance;		/* by so much, relatively */
	pe_neighbours neighbours;	/* whose Delta it has */
	pe_strategy *strategy;

	/*
	 * The objective for Delta = 1 where it is not the sum: c is (A'A)^+ over the
	 * columns, n x n, both triangles.  NULL: the sum.
	 */
	double		(*error) (void *argument, const double *c);
	void	   *argument;
} pe_rounding;

/*
 * Classes become columns: ruled out, not asked, or one of those with the same
 * weights in every query.  Any but PE_STRATEGY_OK: nothing to measure, and nothing
 * to end.
 */
extern pe_strategy_status pe_rounding_begin(pe_rounding *rounding,
											const pe_strategy_problem *problem, pe_strategy *strategy);
extern void pe_rounding_end(pe_rounding *rounding);

/* Queries that share no cell: with a diagonal V nothing is better than to count each column. */
extern bool pe_rounding_is_diagonal(const pe_rounding *rounding);

/* The strategy that counts each column.  The objective is that of the sum. */
extern void pe_rounding_count_columns(pe_rounding *rounding);

/* Whether the integers are as good as they have to be. */
extern bool pe_rounding_is_good(const pe_rounding *rounding);

/* X of full rank, n x n, destroyed.  False if it is not positive definite in doubles. */
extern bool pe_rounding_full(pe_rounding *rounding, double *x);

/* X = G'G, G rows x n by columns, whose rows span what the queries do: by way of a basis where there is one. */
extern void pe_rounding_factor(pe_rounding *rounding, const double *factor, int32_t rows);

/*
 * The same with the strategy's basis (inner its rows).  Only n, v, goal,
 * tolerance, problem and strategy are read.  False if the factor does not span
 * it.
 */
extern bool pe_rounding_with_basis(pe_rounding *rounding, const double *factor, int32_t rows);

/* (1 - ridge) X + ridge d I, d X's largest diagonal entry: for an X that is all but singular, or is. */
extern void pe_rounding_singular(pe_rounding *rounding, const double *x);

/* Puts a strategy back that was made before, if it is not worse; the other one is freed. */
extern void pe_rounding_keep_better(pe_rounding *rounding, pe_strategy *before);

/*
 * Where the problem is one of substitution, and the strategy was made as for add_remove:
 * from that objective to its own.  The bound holds as it is, for no sensitivity is below that of
 * add_remove.  False if the sensitivity is beyond what can be served.
 */
extern bool pe_rounding_substitute(const pe_strategy_problem *problem, pe_strategy *strategy);

/*
 * W itself: a column for every class that is left; only for a workload that counts each cell
 * once.  Under PE_SUBSTITUTE the optimum has X = (I + 11') / 2, by symmetry, and is better by
 * n / (n + 1): the total can be measured too, at no cost.  That is done where pe_counts_total
 * says so.
 */
extern pe_strategy_status pe_rounding_count_classes(const pe_strategy_problem *problem, pe_strategy *strategy);

/* Most queries that are counted with their total: for more it would gain less than 2 percent. */
#define PE_TOTAL_CELLS 64

/* Whether a workload that counts each cell once is to be counted so. */
extern bool pe_counts_total(const pe_strategy_problem *problem);

/* Method optimal under L2, and under L1 for add_remove.  The caller has checked the problem. */
extern pe_strategy_status pe_make_optimal(const pe_strategy_problem *problem, pe_strategy *strategy);
extern pe_strategy_status pe_make_optimal_l1(const pe_strategy_problem *problem, pe_strategy *strategy);

/*
 * Replaces integers that are optimal for L2, a triangle with their objective for it, by better ones for L1, if there
 * are any, and the objective by that of L1.
 */
extern void pe_choose_l1(const pe_strategy_problem *problem, pe_strategy *strategy);

/* T = I, which a strategy with a basis needs. */
extern int32_t *pe_unit_triangle(int32_t rows);

/* A limit of bits, or fewer if the problem, or the strategy in real numbers, has a limit. */
static inline int
pe_rounding_bits(int bits, int limit)
{
	return limit > 0 && limit < bits ? limit : bits;
}

/* The lower bound alone, of the sum under L2, to within a gap: into the strategy. */
extern void pe_make_bound(pe_rounding *rounding, double gap);

/* ----------
 * Independent integer rows that span the queries of a workload.
 * ----------
 */

/*
 * Rows of the workload (prefix and all_range replaced by single cells, which
 * span the same) that are a basis of its row space, over the columns: each
 * column stands for the class representative[column], other classes count as
 * absent.  Chosen by the largest part that the rows before do not explain.
 *
 * gram: W'W, unweighted, columns x columns, exact integers.  On success basis
 * is rows x columns, by rows, and the number of rows is returned.  Returns 0 if
 * rounding leaves it open whether the rows span everything; the test for that
 * is exact up to a chance of 2^-31 (a random combination of the rows of W'W must
 * be one of the basis, modulo a prime).
 */
extern int32_t pe_basis_select(const pe_workload *workload, const pe_classes *classes,
							   const int32_t *representative, int32_t columns, const double *gram, int32_t **basis);

/* ----------
 * From a real strategy matrix to a dense one of integers (strategy.h).
 * ----------
 */

/* The strategy in real numbers, in the coordinates of the columns or of a basis. */
typedef struct pe_real_strategy
{
	const double *factor;		/* rows x inner, by columns, of full column rank */
	int32_t		rows;
	int32_t		inner;
	int32_t		diagonal;		/* so many rows at the head are diagonal and positive, and stay so: 0 or inner */
	const double *v;			/* W'W, weighted, in these coordinates: inner x inner, both triangles */
	pe_norm		norm;
	int			bits;			/* the finest lattice, as in pe_strategy_problem; 0: no limit */
} pe_real_strategy;

/* What rounding may cost, relatively, before a finer lattice is tried. */
#define PE_ROUNDING_LOSS 1e-6

/*
 * M = round(2^k A), A scaled so that its largest column norm is 1.  Under L1 and
 * without a basis the sum of magnitudes of each column of M is the real one to the
 * nearest integer (by largest remainders): a column below the largest wastes noise,
 * and this loss of the first order is gone.  Rows that become zero are left out.
 * k = 16, and more until rounding costs less than PE_ROUNDING_LOSS of the
 * objective, at most 24, where plain rounding costs some 1e-7.
 *
 * strategy: its columns, column_of and, if the coordinates are those of a basis,
 * basis are there already, and no other matrix.  On success dense, rows, inner and
 * objective are set, the objective from the integers: Delta^2 tr(V (M'M)^-1), Delta
 * that of add_remove.  False if the integers of every lattice are beyond what can be
 * measured or not of full column rank; the strategy then is what it was.
 */
extern bool pe_round_dense(const pe_real_strategy *real, pe_strategy *strategy);

/* Bytes that this takes at most, with M but without its arguments. */
extern size_t pe_round_dense_memory(int32_t rows, int32_t inner, int32_t columns);

#endif
