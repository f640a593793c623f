/*
 * strategy.h
 *	  Integer strategy matrices: what is measured.
 *
 * A strategy is a matrix A of integers, one row per measurement and one column
 * for each group of cells that no query of the workload distinguishes.  A = M
 * B: B a set of independent integer rows that spans the queries, or the
 * identity; M of full column rank: the identity, an upper triangular T, or any
 * matrix with at least as many rows as columns (dense).  Or A = W itself
 * (direct), the unweighted queries of the workload over the columns, which is
 * not stored and need not be of full rank.  Both the exact measurements A x and
 * the sensitivity come from this one object, so the noise is calibrated to the
 * matrix that is applied.
 *
 * Neighbouring tables differ in one unit; a unit contributes any x in N^n with
 * sum x <= k, also x = 0.  With a_j the columns:
 *
 *	 add_remove:  Delta = k max_j |a_j|
 *	 substitute:  Delta = k max(max_j |a_j|, max_ij |a_i - a_j|)
 *
 * in the L2 norm for Gaussian noise and in the L1 norm for Laplace noise.
 * A x of one unit lies in k times the convex hull of 0 and the columns, and so
 * do its vertices.  add_remove compares such a point with 0, substitute two of
 * them.  A convex function is largest at vertices, so k copies of one column,
 * or of two, reach the maximum.  0 is a vertex of both: a unit whose rows are
 * all dropped.  Without it `total` under a predicate would have equal columns,
 * no sensitivity under substitute, and leave without noise.  A cell without a
 * column (no query asks for it, or a predicate rules it out) contributes
 * nothing to A x, which is the same vertex.
 *
 * Rounding to integers can cost accuracy, never privacy: everything that is
 * said of errors is computed from the integers again.
 */
#ifndef PE_STRATEGY_STRATEGY_H
#define PE_STRATEGY_STRATEGY_H

#include <stdbool.h>

#include "optimum/design.h"
#include "workload/algebra.h"

/* column_of: no query asks for the class; the predicate rules all of its cells out. */
#define PE_NOT_ASKED (-1)
#define PE_RULED_OUT (-2)

/* Which tables a unit's presence distinguishes. */
typedef enum pe_neighbours
{
	PE_ADD_REMOVE,				/* one has a unit more */
	PE_SUBSTITUTE				/* a unit's rows are replaced by others: their number is public */
} pe_neighbours;

typedef struct pe_strategy
{
	int32_t		classes;		/* of the workload it was made for */
	int32_t    *column_of;		/* of each class: its column, or one of the above */
	int32_t		columns;
	int32_t		rows;			/* of A */
	int32_t		inner;			/* columns of M, rows of B: columns if B is the identity */
	int32_t    *triangle;		/* M = T by columns, column j its first j + 1 entries; rows = inner */
	int32_t    *dense;			/* M by columns, rows x inner; at most one of triangle and dense is there */
	int32_t    *basis;			/* B by rows, inner x columns; NULL: the identity; only with a triangle or dense */
	/*
	 * A is a list of blocks (blocks.h): no M, no B, and a table is no vector
	 * over columns
	 */
	struct pe_blocks *blocks;
	bool		direct;			/* A = W; no M, no B, inner = columns, rows = the workload's queries */
	const pe_workload *workload;	/* of a direct strategy, once pe_strategy_bind was called; not ours */

	/* the certificate: expected squared error of all queries, weighted, for one unit of
	 * noise variance and squared sensitivity */
	double		objective;		/* of these integers */
	double		lower_bound;	/* of every strategy; 0: not known */
	int32_t		iterations;		/* eigendecompositions that it took */
} pe_strategy;

typedef enum pe_strategy_status
{
	PE_STRATEGY_OK,
	PE_STRATEGY_EMPTY,			/* no cell is asked for: there is nothing to measure */
	PE_STRATEGY_TOO_LARGE,		/* more classes than can be optimised for */
	PE_STRATEGY_BEYOND,			/* the integers of this method, or its sensitivity, are beyond what can be measured */
	PE_STRATEGY_MALFORMED		/* bytes that pe_strategy_write did not write */
} pe_strategy_status;

/* The methods that choose it; their names are methods/make.h's. */
typedef enum pe_method
{
	PE_METHOD_OPTIMAL,			/* optimum.h */
	PE_METHOD_COA,				/* published.h */
	PE_METHOD_DIRECT,			/* the queries themselves, no inference */
	PE_METHOD_IDENTITY,			/* every column */
	PE_METHOD_WAVELET,			/* published.h */
	PE_METHOD_HIERARCHICAL,		/* published.h */
	PE_METHOD_ADAPTIVE,			/* published.h */
	PE_METHOD_SMOOTHING,		/* published.h */
	PE_METHOD_LOWRANK,			/* published.h */
	PE_METHOD_DAWA				/* counts/dawa.h */
} pe_method;

#define PE_METHODS (PE_METHOD_DAWA + 1)

/* What the strategy minimises. */
typedef enum pe_objective
{
	PE_SUM,						/* the sum of all queries' variances, weighted */
	PE_MAX						/* the largest variance of a query, weighted */
} pe_objective;

/*
 * What is asked for.  gap: how far the objective of method optimal may be from the
 * optimum, relatively; what was reached is objective / lower_bound - 1.  Under
 * PE_SUBSTITUTE method optimal may end before (optimum.h), and the other methods measure what
 * they measure under PE_ADD_REMOVE.
 */
typedef struct pe_strategy_problem
{
	const pe_workload *workload;
	const pe_classes *classes;	/* of this workload */
	const bool *possible;		/* cells that a predicate leaves; NULL: all */
	pe_method	method;
	pe_objective objective;
	pe_norm		norm;
	double		gap;
	pe_neighbours neighbours;	/* whose sensitivity counts in the objective and in its bound */
	/*
	 * of each attribute: its cells that a predicate leaves; each, or the list,
	 * NULL: all
	 */
	const bool *const *possible_of;
	bool		whole;			/* one matrix for all classes, if it can be had: no blocks */
	/*
	 * bits by which the columns of blocks stay shorter, for units of more than
	 * two rows (pe_blocks_spare)
	 */
	int			spare;
	/*
	 * of method optimal: no column of A is much longer than 2^bits; 0: as the
	 * gap asks for
	 */
	int			bits;
} pe_strategy_problem;

/*
 * The optimal strategy for a workload, over its classes.  possible: which cells
 * of the shape a predicate leaves; NULL: all.  gap: how far the objective may be
 * from the optimum, relatively; what was reached is objective / lower_bound - 1.
 *
 * A workload that counts each cell once (identity, total and their products) is
 * measured itself, in any size: W'W is diagonal and the optimum X = I attains
 * the bound ||W||_*^2 / n.  Everything else takes at most PE_OPTIMUM_CELLS
 * classes.
 *
 * Source of the rounding: T = round(2^k R) for X = R'R, entries then moved by
 * one until every column norm is 2^k as nearly as it can be; k = 16, and more
 * where the gap asks for it.  For a workload of smaller rank than its columns
 * X = B'P B and P = R'R instead, so that the row space of A is that of W
 * exactly, and the answers are not biased.
 */
extern pe_strategy_status pe_strategy_optimal(const pe_workload *workload, const pe_classes *classes,
											  const bool *possible, double gap, pe_strategy *strategy);

/*
 * The same for the L1 norm, of all that is known here: the best of the columns
 * counted one by one, the rows of a basis of the workload, the integers of
 * pe_strategy_optimal, and all columns with a few sums of them (optimum.h), by
 * Delta_1^2 tr(V (A'A)^+), V the weighted W'W, Delta_1 of add_remove.  That is the
 * objective; lower_bound is the one of the L2 norm, which holds here too as no L1
 * norm is below the L2 norm, but may be far off.
 */
extern pe_strategy_status pe_strategy_optimal_l1(const pe_workload *workload, const pe_classes *classes,
												 const bool *possible, double gap, pe_strategy *strategy);

/* How far the objective can be from the optimum, relatively; infinity where no bound is known. */
extern double pe_strategy_gap(const pe_strategy *strategy);

/* Whether pe_strategy_optimal takes the workload itself. */
extern bool pe_workload_counts_once(const pe_workload *workload);

/* The column of each cell of the workload's shape, or PE_NOT_ASKED or PE_RULED_OUT. */
extern void pe_strategy_columns(const pe_strategy *strategy, const pe_workload *workload, const bool *possible,
								int32_t *column_of_cell);

/* Bytes that they take at most. */
extern size_t pe_strategy_optimal_memory(const pe_workload *workload, const pe_classes *classes);
extern size_t pe_strategy_optimal_l1_memory(const pe_workload *workload, const pe_classes *classes);

/*
 * Delta^2 for units of at most max_rows rows, exact.  False if it does not fit
 * 96 bits (no sampler could serve it), or if the entries of A are so large that
 * A x could overflow 127 bits for counts below 2^63.
 *
 * The distances |a_i - a_j|^2 = |a_i|^2 + |a_j|^2 - 2 a_i'a_j come from products
 * of panels of A in doubles where the largest |a_j|^2, found in integers before,
 * is below 2^53: by Cauchy-Schwarz every sum of some of the terms |a_il a_jl| is
 * then below 2^53 too, so in every order, blocking and with fused multiplications of
 * BLAS each number on the way is an integer that a double holds.  With larger
 * columns, which 16 to 24 bits of rounding do not give, all is done in integers.
 * It takes 3 seconds for 4096 columns, 0.6 for 2048, on a busy processor.
 *
 * Of a direct strategy the norms and distances are those of W'W, integers below
 * 2^53 in doubles (pe_direct_memory); false if they are not.
 */
extern bool pe_strategy_sensitivity_sq(const pe_strategy *strategy, pe_neighbours neighbours, int32_t max_rows,
									   pe_u128 *sensitivity_sq);

/* Bytes that this takes. */
extern size_t pe_strategy_sensitivity_memory(const pe_strategy *strategy, pe_neighbours neighbours);

/* The same under PE_SUBSTITUTE for a matrix of this size. */
extern size_t pe_strategy_distances_memory(int32_t rows, int32_t columns);

/*
 * Delta in the L1 norm for units of at most max_rows rows, exact; for substitute
 * and a strategy of more than PE_L1_PAIRS columns that is not the identity, the
 * bound 2 k max_j |a_j|, as there are too many pairs of columns to look at.  A
 * direct strategy of zeros and ones is exact in any size, one of other weights and
 * very many queries is bounded sooner (pe_direct_memory).
 * False if the entries of A are so large that A x could overflow 127 bits for
 * counts below 2^63.
 */
#define PE_L1_PAIRS 1024
extern bool pe_strategy_sensitivity_l1(const pe_strategy *strategy, pe_neighbours neighbours, int32_t max_rows,
									   pe_u128 *sensitivity);

/*
 * Calls take for every column i with |a_i - a_j|_1 and |a_i + a_j|_1 of all
 * columns j <= i, exact.
 * False, and take was not called, for blocks, for a direct strategy, for more
 * than PE_L1_PAIRS columns, and where pe_strategy_sensitivity_l1 would be.
 */
extern bool pe_strategy_each_distances_l1(const pe_strategy *strategy,
										  void (*take) (void *argument, int32_t column, const pe_u128 *distance,
														const pe_u128 *sum),
										  void *argument);

/*
 * |a_j|^2 of every column (PE_L1: |a_j|_1), exact, for one row and add_remove; 0 where a column
 * is.  False as the sensitivities above, and for a direct strategy.
 */
extern bool pe_strategy_column_norms(const pe_strategy *strategy, pe_norm norm, pe_u128 *norms);

/*
 * a_i'a_j of all columns, exact; columns x columns.  False, and the products undefined, if an
 * |a_j|^2 is 2^62 or more, for more than some 2000 columns, and for a direct strategy.
 */
extern bool pe_strategy_products(const pe_strategy *strategy, int64_t *product);

/*
 * Calls take for every column i with a_i'a_j of all columns j, exact, which take may overwrite; below: of j <= i, and
 * what stands behind these means nothing.  False, and take may have been called for some, where
 * pe_strategy_sensitivity_sq would be; for blocks; and for a direct strategy whose products do not stay below 2^53.
 * Of all columns it takes up to twice as long as the distances of substitute.
 */
extern bool pe_strategy_each_products(const pe_strategy *strategy, bool below,
									  void (*take) (void *argument, int32_t column, pe_i128 *product), void *argument);

/* Bytes that this takes. */
extern size_t pe_strategy_each_products_memory(const pe_strategy *strategy);

/* ----------
 * Units that are counted at most once in a column, and in at most m columns
 * (people.c).
 *
 * Delta^2, and Delta in the L1 norm, bounded from above in integers; of a
 * strategy that counts columns one by one they are exact: min(m, columns), and
 * for substitute min(2 m, columns).  The cut must keep a unit once per *column*
 * (pe_units_choose_cells, domain/units.h): where several groups of the cut are
 * one column, a unit is in that column several times, and this does not hold.
 *
 * False as pe_strategy_sensitivity_sq, and for blocks.
 * ----------
 */
extern bool pe_strategy_people_sq(const pe_strategy *strategy, pe_neighbours neighbours, int32_t cells_per_unit,
								  pe_u128 *sensitivity_sq);
extern bool pe_strategy_people_l1(const pe_strategy *strategy, pe_neighbours neighbours, int32_t cells_per_unit,
								  pe_u128 *sensitivity);

/* Bytes that these take at most. */
extern size_t pe_strategy_people_memory(const pe_strategy *strategy);

/* Whether every column is measured by itself, and nothing else. */
extern bool pe_strategy_counts_columns(const pe_strategy *strategy);

/*
 * y = A x, exact; x has an entry per column, below 2^63.  With the entries that
 * the sensitivities above accept the 128 bits cannot overflow for any
 * data (each y is below 2^125 in absolute value), so there is no check that the
 * data could fail.
 */
extern void pe_strategy_apply(const pe_strategy *strategy, const int64_t *x, pe_i128 *y);

/*
 * The same of `width` vectors side by side: x is columns x width and y
 * rows x width, by rows; not for direct strategies.  Modulo 2^128: exact where
 * each y is below 2^127, for any values on the way.
 */
extern void pe_strategy_apply_wide(const pe_strategy *strategy, size_t width, const pe_u128 *x, pe_u128 *y);

/*
 * Gives a direct strategy its workload, which must outlive it; nothing for
 * others.  Sensitivities, A x and A need it.  A workload of another number of
 * queries is a bug of the caller.
 */
extern void pe_strategy_bind(pe_strategy *strategy, const pe_workload *workload);

/* The entries of A, rows x columns by rows, as doubles: exact. */
extern void pe_strategy_matrix(const pe_strategy *strategy, double *a);

/* Whether a strategy that was read, not of blocks, keeps A x and the sensitivity sound. */
extern bool pe_strategy_is_sound(const pe_strategy *strategy);

extern void pe_strategy_free(pe_strategy *strategy);

/* Of the blocks that a strategy may own (blocks.h). */
extern void pe_blocks_free(struct pe_blocks *blocks);

/* ----------
 * The queries of a workload measured as they are: A = W.
 *
 * Nothing of such a strategy is stored, so what is said of it comes from the
 * workload that pe_strategy_bind gave: everything here needs it (pe_bug).  A
 * column is a set of classes with the same weights in every query, and one of
 * them stands for it.
 * ----------
 */

/*
 * Raises *largest to the largest |a_j|^2, and with pairs to the largest
 * |a_i - a_j|^2 = G_ii + G_jj - 2 G_ij of G = W'W.  False if an entry of G is not
 * below 2^53 (the parser refuses such a workload): up to there it is exact.
 */
extern bool pe_direct_largest_sq(const pe_strategy *strategy, bool pairs, pe_u128 *largest);

/* pe_strategy_each_products of a direct strategy. */
extern bool pe_direct_each_products(const pe_strategy *strategy,
									void (*take) (void *argument, int32_t column, pe_i128 *product), void *argument);

/*
 * pe_direct_largest_sq of |a_j|_1 and |a_i - a_j|_1.  Where W has only zeros and ones these
 * are the squares above.  Otherwise they are added up query by query; the
 * differences, if that is too much (PE_L1_PAIRS columns, 2^32 terms), are bounded
 * by twice the largest |a_j|_1.
 */
extern bool pe_direct_largest_l1(const pe_strategy *strategy, bool pairs, pe_u128 *largest);

/* Bytes that these take at most. */
extern size_t pe_direct_memory(const pe_strategy *strategy);

/*
 * y = W x, exact, as pe_strategy_apply.  It takes a few operations for every query
 * of ranges and as many as there are classes for one of a matrix, and does not
 * poll: there are exact numbers in its memory, which it wipes.
 */
extern void pe_direct_apply(const pe_strategy *strategy, const int64_t *x, pe_i128 *y);

/* The entries of W over the columns, as pe_strategy_matrix. */
extern void pe_direct_matrix(const pe_strategy *strategy, double *a);

#endif
