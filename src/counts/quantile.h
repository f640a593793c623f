/*
 * quantile.h
 *	  Quantiles from released ranks: post-processing, in doubles.  No rows are
 *	  seen, nothing is charged.
 *
 * Of an attribute with ordered cells 0 .. n-1, T(e) rows are below edge e
 * (0 .. n), N = T(n) in all; F and N^ are unbiased estimates of them.  The
 * q-quantile of the rows lies in the cell k with T(k) < q N <= T(k + 1).
 *
 * Interval.  F(e) - q N^ is a linear answer, (1-q) F(e) - q (N^ - F(e)), whose
 * mean is T(e) - q N and whose error S is a weighted sum of independent
 * symmetric numbers.  With P[|S| <= h(e)] >= 0.95 (noise/interval.h) an edge is
 * *below* if F(e) - q N^ < -h(e) and *above* if it is > h(e).  The interval is
 * from the last edge up to which every one is below to the first edge from
 * which every one is above, or the end of the cells.  If the quantile is less
 * than the lower end, edge k + 1 was taken to be below, although T(k + 1) - q
 * N >= 0: by symmetry that has a probability of at most 0.025.  If it is not
 * less than the upper end, edge k was taken to be above, although T(k) - q
 * N < 0: at most 0.025 too.  So the interval has the quantile with a
 * probability of at least 0.95, wherever the rows are inside their cells; no
 * other edges matter, and nothing is lost by there being many.
 *
 * Point.  F is made to ascend by isotonic regression (least squares: pool
 * adjacent violators) between 0 and N^, and the point is where it reaches q N^,
 * as if the rows of a cell were spread evenly over it.  It lies in the
 * interval: below the lower end every F is less than q N^, so every mean of
 * those up to an edge is too, and with it the regression there; above the upper
 * end likewise.
 */
#ifndef PE_COUNTS_QUANTILE_H
#define PE_COUNTS_QUANTILE_H

#include "noise/interval.h"

/* Estimates of one group; variances in units of one measurement's noise. */
typedef struct pe_rank_estimates
{
	int32_t		cells;
	const double *below;		/* F of the edges 0 .. cells; the first is 0, the last N^ */
	const double *below_variance;	/* of F, of each edge; NULL: nobody knows the errors */
	const double *above_variance;	/* of N^ - F */
	const double *ascending;	/* pe_ascending_ranks of below */
	double		total_stderr;	/* of N^; 0: not known */
} pe_rank_estimates;

typedef struct pe_quantile_place
{
	int32_t		cell;			/* -1: N^ is not above 0 by more than three standard errors */
	double		inside;			/* how far into it, from 0 to 1 */
	int32_t		lower;			/* edges of the interval; where errors are not known -1 */
	int32_t		upper;
} pe_quantile_place;

/* Isotonic regression of value[0 .. count-1], all weights equal. */
extern void pe_isotonic(int32_t count, const double *value, double *fitted);

/* That of the inner edges, cut to 0 .. N^; ascending: cells + 1 numbers. */
extern void pe_ascending_ranks(int32_t cells, const double *below, double *ascending);

/*
 * The variance of F - q N^ from those of F, N^ - F and N^:  Var(N^ - F) = Var N^ + Var F - 2 Cov(F, N^), so it is
 * (1-q) Var F + q Var(N^ - F) - q (1-q) Var N^.
 */
extern double pe_quantile_variance(double below, double above, double total, double q);

/* The q-quantile, 0 < q < 1.  The interval is reported for any N^. */
extern void pe_quantile_find(const pe_rank_estimates *ranks, double q, pe_confidence *confidence,
							 pe_quantile_place *place);

#endif
