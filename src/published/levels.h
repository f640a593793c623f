/*
 * levels.h
 *	  Strategies made of levels: Haar wavelets and trees.
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
 */
#ifndef PE_PUBLISHED_LEVELS_H
#define PE_PUBLISHED_LEVELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "strategy/design.h"

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
