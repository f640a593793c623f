/*
 * partition.h
 *	  Ordered columns cut into buckets that are aligned dyadic intervals.
 *
 * The columns 0 .. n-1 are padded to N = 2^L, L = ceil log2 n.  An interval B of
 * level l has 2^l places, the first a multiple of 2^l, and m real columns; there is
 * nothing in the others, and nothing is counted of them.  Intervals are numbered as
 * the nodes of a binary tree: 1 is all of them, 2i and 2i + 1 the halves of i, and
 * N + j is column j alone.
 *
 * The deviation of an interval, dev(B) = sum_i |x_i - S / m| with S = sum_B x, is
 * what spreading its sum evenly over its columns costs in all.  On the lattice of
 * integers it is
 *
 *	 score(B) = 2^(L-l) sum_i | m x_i - S |,  so that dev(B) = 2^l score(B) / (N m);
 *
 * for an interval without padding score / N is dev itself.  A single column has dev
 * 0, which is public.  Where m <= 2^(l-1) the left half holds the same columns, and
 * the interval stands for that half: its score is 0 for every x.
 *
 * Sensitivity of all scores together.  score(B) is the L1 norm of a linear
 * function of x, which the column j in B moves by 2^(L-l) (m - 1) in one place and by
 * 2^(L-l) in m - 1 others if x_j grows by one.  By the triangle inequality no score
 * then moves by more than 2^(L-l) 2 (m - 1), and all together by at most
 *
 *	 Delta_j = sum over levels of 2^(L-l) 2 (m - 1),
 *
 * m that of the interval of the level which holds j.  No interval of a level has
 * more real columns than the first, so j = 0 has the largest: there
 * m = min(n, 2^l).  x = 0 attains it.  A unit of at most k rows adds at most k times
 * that (the same inequality, row by row), and one that is replaced takes away as much
 * and adds as much: 2 k Delta_0.
 *
 * Source: Li, Hay, Miklau, Wang, "A Data- and Workload-Aware Algorithm for Range
 * Queries Under Differential Privacy", PVLDB 7(5), 2014, section 4, with intervals of
 * dyadic lengths at dyadic places, in integers, and with the sensitivity of an
 * interval that padding cuts off.
 */
#ifndef PE_PUBLISHED_PARTITION_H
#define PE_PUBLISHED_PARTITION_H

#include "strategy/strategy.h"

typedef struct pe_intervals
{
	int32_t		columns;		/* n, 1 to PE_OPTIMUM_CELLS */
	int32_t		padded;			/* N */
	int			levels;			/* L */
} pe_intervals;

typedef struct pe_partition
{
	int32_t		buckets;
	int32_t    *first;			/* of each bucket its first column; behind the last, n */
} pe_partition;

extern void pe_intervals_init(pe_intervals *intervals, int32_t columns);

/*
 * Scores of intervals 1 .. N-1, in score[0 .. N-2]; counts of columns below
 * 2^62 in sum, so that each is at most 2 N 2^62.
 */
extern void pe_interval_scores(const pe_intervals *intervals, const int64_t *counts, pe_i128 *score);

/* What a unit's presence, or its rows, can change in all scores together; 0 for one column. */
extern pe_u128 pe_interval_sensitivity(const pe_intervals *intervals, pe_neighbours neighbours, int32_t max_rows);

/*
 * The partition with the least sum over its buckets of deviation + bucket_cost, for
 * scores that were noised: below 0 they count as 0, as no deviation is below it.  Of
 * two as cheap the coarser one.  A tree recursion: as buckets are nodes of one tree,
 * the cheapest cut of a node is the node or the cheapest cuts of its halves.
 */
extern void pe_partition_cheapest(const pe_intervals *intervals, const int64_t *score, double bucket_cost,
								  pe_partition *partition);

extern void pe_partition_free(pe_partition *partition);

/* Whether a shape is one attribute with an order, all cells of it. */
extern bool pe_shape_is_ordered(const pe_shape *shape);

/*
 * How estimates of ordered columns are kept: a column for every class that is
 * asked for and possible, in their order, and T = 2^PE_ESTIMATE_BITS I, so that
 * the stored integers are estimates of counts in units of 2^-16.  Nothing is
 * measured by it, so there is no objective to report: it is 1, and no bound is
 * known.
 */
#define PE_ESTIMATE_BITS 16
extern pe_strategy_status pe_ordered_columns(const pe_workload *workload, const pe_classes *classes,
											 const bool *possible, pe_strategy *strategy);

/* The weighted W'W over those columns, both triangles. */
extern double *pe_ordered_gram(const pe_workload *workload, const pe_classes *classes, const pe_strategy *columns);

#endif
