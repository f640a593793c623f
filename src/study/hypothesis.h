/*
 * hypothesis.h
 *	  Tests of hypotheses from noisy tables and noisy sums: post-processing, in doubles.
 *
 * A table t is T + e: T counts a sample, e is noise whose law is known (table_noise.h).  No p-value here
 * is that of a textbook, which takes e for chance in the sample and rejects far too often.  Each is by parametric
 * bootstrap: what the hypothesis leaves open (the number of rows, margins, variances) is estimated from the
 * noisy numbers; samples of the hypothesis at these estimates, with noise drawn by its law, go
 * through the same computation; and with R of them
 *
 *	 p = (1 + the number of replicates whose statistic is at least that observed) / (R + 1).
 *
 * The generator is seeded by the caller, so the p-value repeats.
 *
 * Statistics, at no noise those of a textbook:
 *
 *	 independence	X^2 = sum (t - E)^2 / (max(E, sqrt(v) / 3) + v), E = (row's total)(column's total) / n of totals
 *					brought to the nearest ones not below 0 that add up to n; v the variance of the cell's noise.
 *					sqrt(v) / 3 keeps rare cells, whose E is by chance almost 0 in some replicates, from deciding: of 50
 *					rows in 4 x 4 skewed cells the level is 2.6 % without it, and above 5.5 % with more than half.
 *					A level with a total below 1/2 counts as empty and is left out.
 *	 goodness		sum (t - E)^2 / (E + v) with E = n p, p public
 *	 trend			n r^2 (one attribute has two levels: Cochran and Armitage) or (n - 1) r^2 (linear by
 *					linear), r the correlation of scores, of the table brought to the nearest one not below 0
 *	 proportions	the root of X^2 of two groups and two outcomes, with the sign of the difference
 *	 means			Welch's t of two groups, F of more; the variance of a mean contains that of its noise
 *
 * Where the total is not above its noise nothing is known: p is 1.
 *
 * Intervals are of sampling and noise together, by the delta method, and as wide as the value can be where a
 * group has no more rows than its noise.
 */
#ifndef PE_STUDY_HYPOTHESIS_H
#define PE_STUDY_HYPOTHESIS_H

#include "study/table_noise.h"

/* Replicates where nothing else is said. */
#define PE_REPLICATES 9999

typedef struct pe_test_result
{
	double		statistic;		/* NaN here and below: there is none */
	double		df;
	double		p_value;
	double		estimate;		/* Cramer's V, the correlation, or the difference */
	double		lower;			/* 95 % */
	double		upper;
} pe_test_result;

/* A noisy table, by rows. */
typedef struct pe_noisy_table
{
	int32_t		rows;
	int32_t		columns;
	const double *count;
	const pe_table_noise *noise;	/* of these cells */
} pe_noisy_table;

/* How p-values are computed. */
typedef struct pe_bootstrap
{
	int32_t		replicates;
	uint64_t	seed[2];
} pe_bootstrap;

extern void pe_test_independence(const pe_noisy_table *table, const pe_bootstrap *how, pe_test_result *result);

/* probability: of each cell of a table with one row; they add up to 1. */
extern void pe_test_goodness(const pe_noisy_table *table, const double *probability, const pe_bootstrap *how,
							 pe_test_result *result);

/* Scores of rows and of columns. */
extern void pe_test_trend(const pe_noisy_table *table, const double *row_score, const double *column_score,
						  const pe_bootstrap *how, pe_test_result *result);

/* Two rows: the outcome, the first one is counted; two columns: the groups.  The estimate is first less second. */
extern void pe_test_proportions(const pe_noisy_table *table, const pe_bootstrap *how, pe_test_result *result);

/*
 * Sums of a number u by groups: the table has three rows, n, sum of u, and sum of u^2, and a column for each group.
 * u is in [-most, most].
 */
extern void pe_test_means(const pe_noisy_table *sums, double most, const pe_bootstrap *how, pe_test_result *result);

#endif
