/*
 * dawa.h
 *	  Counts of ordered columns by way of a private partition.
 *
 * In the manner of Li, Hay, Miklau, Wang, "A Data- and Workload-Aware Algorithm
 * for Range Queries Under Differential Privacy", PVLDB 7(5), 2014: columns
 * whose counts are nearly equal are found privately and measured together, by
 * the strategy that is best for the workload on such buckets, and each bucket's
 * estimate is spread evenly over its columns.  The answers are biased, by how
 * much depends on the data, and so their errors cannot be released.
 *
 * Released: an estimate of every column.  It is a function of
 *
 *	 1. the scores of all dyadic intervals (published/partition.h) plus discrete
 *		Laplace noise for their L1 sensitivity at partition_nano, from which the
 *		partition is computed, and from it alone the strategy A for its buckets;
 *	 2. A z plus discrete Laplace noise for its L1 sensitivity at counts_nano, z
 *		the sums of the buckets' counts.
 *
 * and of nothing else that depends on rows.
 *
 * Neighbours and max_rows: those of strategy/strategy.h.
 *
 * Sensitivity: of 1 that of published/partition.h; of 2
 * pe_strategy_sensitivity_l1 of A's integers: a row in a column is a row in its
 * bucket.  Scores, sums and A z are integers; no double lies between the rows
 * and the noise.
 *
 * Cost: (partition_nano + counts_nano) 1e-9, a pure epsilon, delta 0.  1 is
 * partition_nano 1e-9-differentially private and 2, for every outcome of 1,
 * counts_nano 1e-9 (laplace.h); two steps, the second chosen by the first's
 * outcome add up (Dwork, McSherry, Nissim, Smith, TCC 2006; McSherry, "Privacy
 * Integrated Queries", SIGMOD 2009, Theorem 3), and what is made of both is
 * post-processing.
 *
 * Time depends on the partition, which is private, and not otherwise on rows.
 */
#ifndef PE_COUNTS_DAWA_H
#define PE_COUNTS_DAWA_H

#include "accounting/cost.h"
#include "published/partition.h"

/* What is asked for: everything here is public. */
typedef struct pe_dawa_plan
{
	int32_t		columns;		/* in their order, 1 to PE_OPTIMUM_CELLS */
	const double *v;			/* W'W over the columns, weighted: both triangles, diagonal > 0 */
	pe_neighbours neighbours;
	int32_t		max_rows;
	int64_t		partition_nano;
	int64_t		counts_nano;
	pe_allowance *allowance;	/* of one run, from which both draws take their part; NULL: nothing can be drawn */
} pe_dawa_plan;

/*
 * The least cost that can be divided, and how it is: a quarter, rounded down, is the
 * partition's, or nothing where plan->columns is 1: step 1 then draws nothing.
 */
#define PE_DAWA_LEAST_NANO 4
extern void pe_dawa_split(pe_dawa_plan *plan, int64_t nano);

/* Bytes that all of the below take at most, without the plan. */
extern size_t pe_dawa_memory(int32_t columns);

/* What is made on the way.  The first is private, the others are functions of it and of the plan. */
typedef struct pe_dawa_buckets
{
	pe_partition partition;
	pe_strategy strategy;		/* its columns are the buckets */
	pe_u128		sensitivity;	/* of that strategy, L1 */
	double	   *root;			/* A'A = R'R; NULL: every bucket is counted by itself */
} pe_dawa_buckets;

/*
 * Step 1.  Counts of the columns, none below 0 and 2^62 in sum at most; they are left
 * as they are, what is computed from them is wiped.  Never polls.
 */
extern void pe_dawa_divide(const pe_dawa_plan *plan, const int64_t *counts, pe_dawa_buckets *buckets);

/*
 * Between the steps: the strategy for the buckets, their workload being the
 * columns' with even spread.  The best known under L1 (optimum/optimum.h), or
 * the buckets themselves.  Takes seconds where there are many buckets; polls
 * and reports progress.
 */
extern void pe_dawa_prepare(const pe_dawa_plan *plan, pe_dawa_buckets *buckets);

/*
 * Step 2, and what follows from it: released[j] is the estimate of column j in units
 * of 2^-PE_ESTIMATE_BITS, rounded to the nearest and brought into the range of int64.
 * What is computed from the counts is wiped.  Never polls.
 */
extern void pe_dawa_measure(const pe_dawa_plan *plan, const pe_dawa_buckets *buckets, const int64_t *counts,
							int64_t *released);

extern void pe_dawa_buckets_free(pe_dawa_buckets *buckets);

/*
 * All of it: for callers with nothing to wipe if it is cancelled between the
 * steps.
 */
extern void pe_dawa_release(const pe_dawa_plan *plan, const int64_t *counts, int64_t *released);

#endif
