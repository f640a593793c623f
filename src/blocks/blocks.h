/*
 * blocks.h
 *	  Strategies of many attributes: a list of blocks, each a product of small integer
 *	  matrices on one contingency table.
 *
 * An axis is an attribute, or several taken together.  A block takes one of each axis'
 * matrices, or sums over the axis; its rows are the products of their rows, last axis fastest.
 * It measures (x)_a M_a on the table of its attributes.  Nothing here has the size of the
 * product of all attributes.
 *
 * Released: y_b = (x)M_a table_b + noise for every block b, all from one scan, for one cost.
 *
 * Sensitivity.  D_b is the largest squared norm of a column of block b (PE_L1: the largest
 * norm), an integer.  share_b 2^-PE_SHARE_BITS is its share.  For a row in cell j of the whole
 * product, with a_j^b the column of block b, let v_j be the stack over b of
 * sqrt(share_b / D_b) a_j^b.  pe_blocks_shares_hold proves |v_j|^2 <= 2^PE_SHARE_BITS for every j
 * in integers (PE_L1: the same of norms, share_b / D_b |a_j^b|_1).  Block b gets noise of variance
 *
 *		k^2 N D_b 2^PE_SHARE_BITS / share_b  /  (2 rho),
 *
 * k rows per unit.  For add_remove N = 1: what one unit adds is at most k columns, and norms
 * are convex, so that sum_b |A_b (x - x')|^2 / sigma_b^2 <= 2 rho.  For substitute
 * N = max(1, max_ij |v_i - v_j|^2 2^-PE_SHARE_BITS), at most 4; 1 for the vertex 0, which is
 * in both (strategy.h).  The theorem for vectors with a variance for each coordinate is
 * gaussian.h's; PE_L1: scales k N D_b 2^PE_SHARE_BITS / share_b / epsilon, N at most 2, by the
 * triangle inequality (laplace.h).
 *
 * Estimates.  Where an axis has a centre d (1'd = 1) every vector of weights w over its cells is
 * (w'd) 1 plus a part orthogonal to d.  The first is asked of blocks that sum over the axis,
 * the second of those with a matrix M, whose rows span what is orthogonal to d: so
 *
 *		w = (x)w_a is answered by sum_b (prod over a not in b of w_a'd_a)  ((x) over a in b of
 *		(w_a - (w_a'd_a) 1)' M_a^+) y_b,
 *
 * and the variance is the sum over blocks of products.  An axis without a centre stands in
 * every block; there w_a itself must be in the row space of M_a.
 */
#ifndef PE_BLOCKS_BLOCKS_H
#define PE_BLOCKS_BLOCKS_H

#include "domain/tables.h"
#include "strategy/share.h"
#include "strategy/strategy.h"

#define PE_MAX_BLOCKS 65536

/* The most cells of one product that is measured as one block. */
#define PE_PRODUCT_CELLS (1 << 24)

typedef enum pe_blocks_kind
{
	PE_BLOCKS_MARGINALS = 1,	/* every axis one attribute, with n I - 11' */
	PE_BLOCKS_SYMMETRIC,		/* axis 0 is the core; the others as of marginals */
	PE_BLOCKS_KRONECKER,		/* one block */
	PE_BLOCKS_PRODUCT			/* ordered axes T (D I - e 1'), the others as of marginals */
} pe_blocks_kind;

/* An integer matrix over the cells of an axis. */
typedef struct pe_axis_matrix
{
	bool		centred;		/* n I - 11', n the axis' cells; else */
	/*
	 * over as many columns as the axis has cells; classes and column_of are
	 * those of its own
	 */
	pe_strategy strategy;

	/* pe_blocks_prepare's: the largest squared norm of a column (PE_L1: norm), and whether all columns have it */
	pe_u128		largest;
	bool		even;
} pe_axis_matrix;

typedef struct pe_axis
{
	int			attributes;
	int			attribute[PE_MAX_ATTRIBUTES];	/* of the shape, ascending */
	int32_t		cells;			/* the product of its attributes' columns */
	int32_t    *centre;			/* e, one for each cell, d = e / denominator, of an axis of one attribute; NULL: none */
	int32_t		denominator;	/* the sum of e */
	int			matrices;
	pe_axis_matrix *matrix;
} pe_axis;

typedef struct pe_blocks
{
	pe_blocks_kind kind;
	pe_norm		norm;			/* of D_b and of the shares */

	/* the attributes of the workload's shape */
	int			attributes;
	int32_t		cells[PE_MAX_ATTRIBUTES];
	/*
	 * groups of cells that are not distinguished; 0: no axis has it; 1: it may
	 * have no axis
	 */
	int32_t		columns[PE_MAX_ATTRIBUTES];
	/*
	 * of each cell: its column, PE_NOT_ASKED or PE_RULED_OUT; NULL without
	 * columns
	 */
	int32_t    *column_of[PE_MAX_ATTRIBUTES];

	int			axes;
	pe_axis    *axis;
	int32_t		blocks;
	int8_t	   *choice;			/* choice[b * axes + a]: the number of a matrix of axis a, or -1: summed over */
	uint64_t   *share;			/* of each block, > 0 */
	int64_t    *first;			/* blocks + 1: its first row in y, and the number of all rows */
} pe_blocks;

/* ---- Parts (blocks.c) ---- */

/*
 * Allocates and fills first, and the norms of the matrices, from everything but the shares, which
 * may be set before or after; everything below needs it.  False, with nothing to free of its own,
 * if matrices do not fit their axes, one is 0, there are more than INT32_MAX rows, D_b is 2^96 or more,
 * or exact answers could pass 2^125.
 */
extern bool pe_blocks_prepare(pe_blocks *blocks);

/* The rows of an axis' matrix. */
extern int32_t pe_axis_rows(const pe_axis *axis, int matrix);

/* The number of the matrix that a block takes of an axis, or -1: it sums over it. */
static inline int
pe_blocks_choice(const pe_blocks *blocks, int32_t block, int axis)
{
	return blocks->choice[(size_t) block * (size_t) blocks->axes + (size_t) axis];
}

/* The product of the cells of a block's axes from number `from` on. */
extern size_t pe_blocks_columns_from(const pe_blocks *blocks, int32_t block, int from);

/* An order of such sets, those of more attributes first: for qsort and bsearch. */
extern int pe_compare_sets(const void *a, const void *b);

/* The attributes that a block does not sum over: bit a is set. */
extern uint32_t pe_blocks_set(const pe_blocks *blocks, int32_t block);

/*
 * The axes with a centre that a block does not sum over: bit a is set;
 * estimates ask that no two blocks take the same.
 */
extern uint32_t pe_blocks_centred_axes(const pe_blocks *blocks, int32_t block);

/*
 * As bytes and back; pe_blocks_read checks every field, the shares (below)
 * among them, and gives NULL for anything else.
 */
extern size_t pe_blocks_size(const pe_blocks *blocks);
extern void pe_blocks_write(const pe_blocks *blocks, char *bytes);
extern pe_blocks *pe_blocks_read(const char *bytes, size_t size);

/*
 * The tables that have to be read: the largest sets of attributes.  False if
 * they are too many or too large; nothing to free then.
 */
extern bool pe_blocks_tables(const pe_blocks *blocks, pe_tables *tables);

/*
 * y of all blocks from the counts of those tables, or of others that hold the blocks: first[blocks]
 * numbers, exact for tables of fewer than 2^63 rows.  Does not poll: there are exact numbers
 * in its memory, which it wipes.
 */
extern void pe_blocks_apply(const pe_blocks *blocks, const pe_tables *tables, const int64_t *counts, pe_i128 *y);

/* Bytes that this takes besides y. */
extern size_t pe_blocks_apply_memory(const pe_blocks *blocks);

/* Whether they are over a shape's attributes. */
extern bool pe_blocks_fit(const pe_blocks *blocks, const pe_shape *shape);

/* A strategy of this form, which owns the blocks (allocated by pe_alloc). */
extern void pe_strategy_of_blocks(pe_strategy *strategy, pe_blocks *blocks, double objective, double lower_bound);

/* ---- Strategies of all kinds as bytes (strategy_bytes.c) ---- */

/*
 * As bytes, for a table, and back; a direct strategy is not bound then.
 * pe_strategy_read checks every field, and what keeps A x and the sensitivity
 * sound.  It does not look at the ranks of a dense M and of B, which would take
 * as long as to answer: reconstruct.h does, before it divides by anything.
 */
extern size_t pe_strategy_size(const pe_strategy *strategy);
extern void pe_strategy_write(const pe_strategy *strategy, char *bytes);
extern pe_strategy_status pe_strategy_read(pe_strategy *strategy, const char *bytes, size_t size);

/* Whether a newer library wrote the bytes: pe_strategy_read finds them malformed. */
extern bool pe_strategy_bytes_are_newer(const char *bytes, size_t size);

/* Whether bytes, sound or not, claim to be of blocks: which hold no others. */
extern bool pe_strategy_bytes_are_blocks(const char *bytes, size_t size);

/* ---- Sensitivity (blocks_sensitivity.c) ---- */

/* The squared norms (PE_L1: norms) of the columns of an axis' matrix; false if they do not fit. */
extern bool pe_axis_norms(const pe_axis *axis, int matrix, pe_norm norm, pe_u128 *norms);

/* D_b: for one row and add_remove; from 2^96 on: 2^96. */
extern pe_u128 pe_blocks_largest(const pe_blocks *blocks, int32_t block);

/* Whether the shares keep what the head of this file asks of every column, in integers, rounded up. */
extern bool pe_blocks_shares_hold(const pe_blocks *blocks);

/* N 2^PE_SHARE_BITS, rounded up. */
extern uint64_t pe_blocks_neighbours(const pe_blocks *blocks, pe_neighbours neighbours);

/*
 * How a block is drawn: its exact answers times 2^lattice[b] have the
 * sensitivity sensitivity[b] (squared, for PE_L2), rounded up; at most 2^-40 of
 * it is lost.  False if one does not fit 2^96.
 */
extern bool pe_blocks_calibrate(const pe_blocks *blocks, pe_neighbours neighbours, int32_t max_rows,
								pe_u128 *sensitivity, int *lattice);

/*
 * The variance of block b's noise beside that of a block with D = 1 and the
 * whole share: D_b 2^PE_SHARE_BITS / share_b, for PE_L1 its square.
 */
extern double pe_blocks_relative_variance(const pe_blocks *blocks, int32_t block);

/* ---- Estimates (blocks_estimate.c): post-processing, in doubles ---- */

/* The first query (from 0) of a workload over the same shape that the blocks do not determine, or -1. */
extern int32_t pe_blocks_undetermined(const pe_blocks *blocks, const pe_workload *workload);

/* estimate[q] of all queries; y in units of the answers.  variance[q] in units of pe_blocks_relative_variance. */
extern void pe_blocks_estimate(const pe_blocks *blocks, const pe_workload *workload, const double *y, double *estimate);
extern void pe_blocks_variance(const pe_blocks *blocks, const pe_workload *workload, double *variance);

/*
 * The covariance of each query with the total over all cells, which the blocks determine, in units of
 * pe_blocks_relative_variance.
 */
extern void pe_blocks_covariance_with_total(const pe_blocks *blocks, const pe_workload *workload, double *covariance);

/* Bytes that these take at most, and what is determined, besides y and their results. */
extern size_t pe_blocks_estimate_memory(const pe_blocks *blocks, const pe_workload *workload);

/*
 * The largest variance of a query and the mean of all, unweighted, and the weighted sum, from the factors: also of 10^9
 * queries, and of a term by at most some 10^7 combinations of queries that are not alike.
 */
typedef struct pe_blocks_errors
{
	double		largest;
	double		mean;
	double		weighted_sum;	/* the objective, for PE_ADD_REMOVE */
	double		weighted_largest;
} pe_blocks_errors;

extern void pe_blocks_error(const pe_blocks *blocks, const pe_workload *workload, pe_blocks_errors *errors);

/* ---- Tables without negative cells (blocks_nonnegative.c): post-processing, in doubles ---- */

/*
 * Of marginals: nearest = what y would be of the tables nearest to y (by
 * squares over variances) that have no negative cell, to rounding, and are
 * margins of each other; the total is that of y.  Zeros if the total is not
 * above 0.  Returns the certificate: how far their sum of squares can be above
 * the least one, relatively; at most PE_NONNEGATIVE_RESIDUAL unless it would
 * take thousands of steps.  nearest may be y.  Another kind is a bug of the
 * caller.
 */
extern double pe_blocks_nonnegative(const pe_blocks *blocks, const double *y, double *nearest);

/* Bytes that this takes besides both. */
extern size_t pe_blocks_nonnegative_memory(const pe_blocks *blocks);

/* ---- Kinds (blocks_make.c) ---- */

/*
 * Sets attributes, cells, columns and column_of: the classes of the problem's
 * workload, without those where the predicate leaves no cell.  False, with
 * nothing to free, if a term has a matrix over all cells, or an attribute has
 * no column left.
 */
extern bool pe_blocks_begin(const pe_strategy_problem *problem, pe_blocks *blocks);

/* Makes the axis of one attribute that is asked by identity and total: n I - 11', centre 1/n. */
extern void pe_axis_centred(pe_axis *axis, int attribute, int32_t columns);

/*
 * Appends the axis of one attribute without a centre: the optimum, for add_remove and with the
 * problem's objective, norm, gap and bits, of the factors of the terms with weight[t] > 0, and gives
 * the attribute its columns.  False if there is none; the axis then is one that pe_blocks_free frees.
 */
extern bool pe_axis_optimal(const pe_strategy_problem *problem, int attribute, const double *weight, pe_blocks *blocks);

/* What a term asks of an attribute: its factor, or NULL where it sums over it. */
extern const pe_factor *pe_term_on(const pe_term *term, int attribute);

/* Whether all terms ask an attribute by identity or sum over it: its cells can be exchanged. */
extern bool pe_attribute_is_symmetric(const pe_workload *workload, int attribute);

/* By how many bits columns have to be shorter for such units, so that k^2 N D_b still fits. */
extern int pe_blocks_spare(pe_neighbours neighbours, int32_t max_rows);

/* The same where sensitivities, squared, are so many times those of one row: of a series, with its factor of time. */
extern int pe_blocks_spare_for(double times);

/*
 * Whether method optimal makes blocks: where one matrix for all classes cannot be had, or takes
 * long, and blocks lose nothing.
 */
extern bool pe_blocks_serve(const pe_strategy_problem *problem);

/*
 * Picks the kind and makes the blocks, with their certificate: PE_STRATEGY_TOO_LARGE where no kind
 * serves.
 */
extern pe_strategy_status pe_make_blocks(const pe_strategy_problem *problem, pe_strategy *strategy);

/* Why no kind serves a problem. */
typedef enum pe_blame
{
	PE_BLAME_MATRIX,			/* a matrix over all cells has no product form */
	PE_BLAME_ATTRIBUTE,			/* ranges of one attribute with more than PE_OPTIMUM_CELLS classes */
	PE_BLAME_PRODUCT,			/* the only term has more than PE_PRODUCT_CELLS cells */
	PE_BLAME_BLOCKS				/* it would take more than PE_MAX_BLOCKS blocks, or tables beyond PE_MAX_TABLE_CELLS */
} pe_blame;

/* number: of classes or cells; attribute: which one, where one is to blame. */
extern pe_blame pe_blocks_blame(const pe_strategy_problem *problem, int *attribute, double *number);

/* Bytes that this takes at most. */
extern size_t pe_make_blocks_memory(const pe_strategy_problem *problem);

/*
 * Each kind: false if it does not serve the problem, with nothing to free.  Fills and prepares blocks, and
 * the lower bound of add_remove; 0: none.
 */
extern bool pe_blocks_marginals(const pe_strategy_problem *problem, pe_blocks *blocks, double *lower_bound);
extern bool pe_blocks_symmetric(const pe_strategy_problem *problem, pe_blocks *blocks, double *lower_bound);
extern size_t pe_blocks_symmetric_memory(const pe_strategy_problem *problem);
extern bool pe_blocks_kronecker(const pe_strategy_problem *problem, pe_blocks *blocks, double *lower_bound);
extern bool pe_blocks_product(const pe_strategy_problem *problem, pe_blocks *blocks, double *lower_bound);

/*
 * What is measured, in a word, as dp.quote shows it: the kind of blocks,
 * "counts", "direct" or "dense".
 */
extern const char *pe_strategy_form(const pe_strategy *strategy);

#endif
