/*
 * measured_tree.h
 *	  The tables of a tree of attributes, chosen and measured: what synthetic rows are drawn from.
 *
 * In the manner of MST (McKenna, Miklau, Sheldon, "Winning the NIST Contest", JPC 11(3), 2021).
 *
 * Released:
 *
 *	 1. x_a + noise for the table x_a of each of d attributes, with noise for all of them as one vector;
 *	 2. d - 1 edges of a spanning tree, each of a mechanism of its own (noise/selection.h) that chooses among the
 *		pairs of attributes which the edges before leave apart.  The score of a pair is sum_ij |M_ij - r_ij|, and a
 *		large one is likelier: M is the pair's exact table by classes of cells, and r what independent attributes
 *		would have, in whole numbers.  Classes and r are functions of 1;
 *	 3. x_ab + noise for the table by classes of each edge, with noise for all of them as one vector;
 *
 * and nothing else that depends on rows.
 *
 * Neighbours and max_rows k: those of strategy/strategy.h.  What a unit has is k rows at most, and a row is in one cell
 * of each table, as every row that counts is in all of them.
 *
 * Sensitivity.  Of 1 the unit's rows are d vectors y_a >= 0 of sum at most k: |y_a|_1 <= k and |y_a|_2 <= k.  For
 * add_remove that is k^2 d for the squared L2 norm, and k d for L1.  For substitute it is the difference of two such
 * vectors, both >= 0: |y - z|_2^2 <= |y|^2 + |z|^2, so 2 k^2 d, and 2 k d.  Of 3 the same with d - 1.  Of 2: the
 * score is a sum of distances, and each moves by as much as its cell, so by |y|_1 <= k, and by |y - z|_1 <=
 * 2 k for substitute.  A row makes one pair's score larger and another's smaller: scores are not monotone.  r is whole
 * and fixed by 1, so the scores are whole numbers.
 *
 * Cost: the parts that 1, each edge and 3 take of nano, which are fixed before.  They add up, each chosen by the
 * outcomes before it (accounting/cost.h); noise/gaussian.h, noise/laplace.h and noise/selection.c have the theorems.
 *
 * Where the tree is given nothing is chosen, and 2 costs nothing.
 *
 * Time depends on released numbers, and on the tries of a selection (noise/selection.h).
 */
#ifndef PE_COUNTS_MEASURED_TREE_H
#define PE_COUNTS_MEASURED_TREE_H

#include "accounting/cost.h"
#include "counts/synthetic.h"
#include "domain/tables.h"
#include "strategy/strategy.h"

/* The parts of the cost: tables of one attribute, edges, tables of edges. */
enum
{
	PE_TREE_ONES, PE_TREE_EDGES, PE_TREE_PAIRS, PE_TREE_PARTS
};

/* Everything here is public. */
typedef struct pe_tree_problem
{
	int			attributes;		/* 1 to PE_MAX_ATTRIBUTES */
	int32_t		cells[PE_MAX_ATTRIBUTES];
	bool		given;			/* the tree is: edge has attributes - 1 pairs, without a cycle */
	int			edge[PE_MAX_ATTRIBUTES][2];
	double		share[PE_TREE_PARTS];	/* of the cost, in proportion */
	pe_neighbours neighbours;
	int32_t		max_rows;
	pe_accounting accounting;	/* the plan fills in this, */
	int64_t		nano;			/* and the cost, all of it */
	pe_allowance *allowance;	/* of one run, from which each draw takes its part; NULL: nothing can be drawn */
} pe_tree_problem;

/* NULL, or what is wrong with the public numbers, a sentence. */
extern const char *pe_tree_refusal(const pe_tree_problem *problem);

/* Whether two pairs of an attribute are joined already by the edges before: given edges must be a tree. */
extern bool pe_tree_is_tree(const pe_tree_problem *problem);

/*
 * What each part has of nano; the first one has what rounding leaves.  False if a part that draws has less than one
 * nano-unit for each draw.  Of one attribute the first part has all, of a given tree the second has nothing.
 */
extern bool pe_tree_split(const pe_tree_problem *problem, int64_t part[PE_TREE_PARTS]);

/* What edge number e, from 0, has of the second part. */
extern int64_t pe_tree_edge_nano(const pe_tree_problem *problem, int64_t part, int e);

/* Of the parts with tables, as of strategy.h: squared, unless the accounting is pure; and of a score. */
extern pe_u128 pe_tree_sensitivity(const pe_tree_problem *problem, int part);
extern pe_u128 pe_tree_score_sensitivity(const pe_tree_problem *problem);

/* The standard deviation of a count of a part with tables. */
extern double pe_tree_stderr(const pe_tree_problem *problem, int part);

/*
 * The tables that are read: of each pair of attributes, or of the one attribute.  False if they have too many cells,
 * with nothing to free.
 */
extern bool pe_tree_tables(const pe_tree_problem *problem, pe_tables *tables);

/*
 * All of it, from the counts of those tables, none below 0 and fewer than 2^62 rows, which are left as they are; what
 * is computed from them is wiped.  Returns what is released, and how many numbers that are.  Never polls.
 */
extern int64_t *pe_tree_measure(const pe_tree_problem *problem, const pe_tables *tables, const int64_t *counts,
								int64_t *values);

/* Bytes that this takes at most besides its arguments. */
extern size_t pe_tree_memory(const pe_tree_problem *problem, const pe_tables *tables);

/*
 * The model of what was released, with the attribute `root` as its first root: post-processing.  cells and attributes
 * are the model's to be.  False if the numbers are not what pe_tree_measure gives.
 *
 * least: where the count of a group, less half an interval of 95 %, is below it, the group has no rows of its own; 0:
 * all have.  Half of an interval is PE_TREE_HALF standard deviations and 1, which is enough for both kinds of noise.
 * possible: as that of the model, by attributes; NULL: all cells.  Classes do not depend on it.
 */
#define PE_TREE_HALF 2.12
extern bool pe_tree_model(int attributes, const int32_t *cells, const int64_t *value, int64_t values, int root,
						  double least, bool *const *possible, pe_synthetic *model);

/* What was released, part by part. */
typedef struct pe_tree_released
{
	int			attributes;
	pe_classing classing[PE_MAX_ATTRIBUTES];	/* of the tables of edges */
	const int64_t *one[PE_MAX_ATTRIBUTES];	/* by cells */
	int			edge[PE_MAX_ATTRIBUTES][2]; /* attributes - 1, the lesser one first */
	const int64_t *pair[PE_MAX_ATTRIBUTES]; /* of each edge, by the classes of both, the second one fastest */
} pe_tree_released;

/* Points into value.  False, with nothing to free, if the numbers are not what pe_tree_measure gives. */
extern bool pe_tree_open(int attributes, const int32_t *cells, const int64_t *value, int64_t values,
						 pe_tree_released *tables);
extern void pe_tree_close(pe_tree_released *tables);

/* ---- Its parts, for unit tests and audits ---- */

/* The score of a pair from its exact table by classes, and the margins of what was released. */
extern pe_i128 pe_tree_score(int32_t rows, int32_t columns, const int64_t *exact, const int64_t *row_margin,
							 const int64_t *column_margin);

/* The edges of a tree by the scores of pairs, at a * attributes + b, a < b, from the cost of the second part. */
extern void pe_tree_choose(const pe_tree_problem *problem, int64_t nano, const pe_i128 *score, int (*edge)[2]);

#endif
