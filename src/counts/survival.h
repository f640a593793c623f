/*
 * survival.h
 *	  Survival curves from released counts: post-processing, in doubles.  No
 *	  rows are seen, nothing is charged.
 *
 * Of each bin j of the time two counts are known without bias, with the
 * covariance C of their noise: events d_j, and withdrawals c_j, rows whose
 * time ends there without the event.
 *
 * Consistent counts.  Of all counts that are not negative, and have the same
 * total, those are taken that are nearest in the metric of C^-1 (solve.h).  The number at risk r_j
 * = sum_{i >= j} (d_i + c_i) then never grows.
 *
 * Curve.  The actuarial estimate (Cutler and Ederer 1958): withdrawals are at
 * risk for half of their bin.
 *
 *		r'_j = r_j - c_j / 2,  q_j = d_j / r'_j,  S_j = prod_{i < j} (1 - q_i),  H_j = -log S_j
 *
 * at edge j.  Without withdrawals inside of bins that are not at their ends it
 * is what Kaplan and Meier's is at the edges.
 *
 * Interval.  Sampling: Greenwood's variance of H_j, sum d / (r' (r' - d)), on
 * the log(-log) scale: H exp(-+ z s / H).  Noise: the error of H_j is linear in that
 * of the counts as long as those at risk are known well; its variance is g'C g, g the gradient of H_j by
 * all counts.  It is nearly normal on the scale of H itself: on the log(-log) scale its
 * interval would lose the truth where H is small beside it.  Both distances from H are put together as the
 * root of the sum of their squares (MOVER: Zou and Donner, Statistics in Medicine 27, 2008),
 * and what is below 0 is cut.  With no noise it is the log(-log) interval.  Where fewer than one event
 * is seen, one is taken for the sampling.
 *
 * Known.  From the first bin on where r'_j is less than PE_SURVIVAL_KNOWN standard errors of its own noise, or
 * where nobody is left, nothing is known but that a curve does not rise: the
 * interval is from 0 to the upper end before.  If that is the first bin, it is [0, 1].
 *
 * That such intervals hold the truth as often as they say is no theorem: it is
 * simulated (test/unit/test_survival.c).
 */
#ifndef PE_COUNTS_SURVIVAL_H
#define PE_COUNTS_SURVIVAL_H

#include <stdbool.h>
#include <stdint.h>

/* A number at risk is known if it is so many standard errors above 0. */
#define PE_SURVIVAL_KNOWN 4

/* Of one group: events of all bins, then withdrawals of all bins. */
typedef struct pe_survival_counts
{
	int32_t		bins;
	bool		endless;		/* the last bin has all later times too: its end is no time */
	const double *count;		/* 2 bins */
	const double *covariance;	/* 2 bins x 2 bins, both triangles */
	double		half;			/* of an interval of a sum of the noise, in standard errors */
} pe_survival_counts;

/* At an edge, from 0. */
typedef struct pe_survival_point
{
	double		at_risk;		/* whose time is not before it; never grows */
	double		least_at_risk;	/* the lower end of its interval, of the counts as they were released */
	double		survival;
	double		stderr_;		/* of the survival, by sampling and noise; NaN: not known */
	double		lower;
	double		upper;
} pe_survival_point;

typedef struct pe_survival
{
	int32_t		bins;
	int32_t		edges;			/* the last edge of the curve: bins, or one less */
	int32_t		known;			/* so many bins */
	double	   *event;			/* consistent, of each bin */
	double	   *withdrawn;
	double	   *exposed;		/* r' */
	double	   *gradient;		/* [bin][2 bins] of -log (1 - q) by the counts; of those known */
	pe_survival_point *point;	/* bins + 1 */
} pe_survival;

/* All of it, from pe_alloc. */
extern void pe_survival_find(const pe_survival_counts *counts, pe_survival *survival);
extern void pe_survival_free(pe_survival *survival);

/* An estimate with its interval; NaN where there is none: a median that is not reached, an end that is not known. */
typedef struct pe_survival_figure
{
	double		estimate;
	double		stderr_;
	double		lower;
	double		upper;
} pe_survival_figure;

/*
 * The time at which half survive; edge: bins + 1 times.  Inside of a bin the curve is a
 * straight line.  The interval is from the last edge before which every lower
 * end is above a half to the first from which every upper end is not: if it
 * misses the median, so does the interval at the edge before or behind it.
 */
extern pe_survival_figure pe_survival_median(const pe_survival *survival, const double *edge);

/*
 * The mean of the time, cut off at `until`, from the first edge on: the area
 * under the curve.  Beyond what is known the curve is anything between 0 and
 * what is known of it.
 */
extern pe_survival_figure pe_survival_mean(const pe_survival *survival, const pe_survival_counts *counts,
										   const double *edge, double until);

/*
 * The log-rank test of groups with equal bins.  U_g = sum_j (d_gj - d_j r'_gj / r'_j) over
 * the bins whose number at risk is known, d of the counts as they were
 * released.  Its variance is that of Mantel (1966) plus that of the noise, G'C G, G the gradient of
 * U by all counts, cross covariances of the groups among them.
 *
 * A group whose number of rows may be 0, by the lower end of its interval, is left out: nothing is known of it, and as
 * a degree of freedom it would take power from the others.  Its own noise alone decides this.
 *
 * covariance: over all groups, the 2 bins counts of each one after the other.
 */
typedef struct pe_survival_test
{
	double		statistic;
	int32_t		df;				/* groups that are compared less 1; 0: there are no two */
	double		p_value;
	int32_t		bins;			/* that were compared */
} pe_survival_test;

extern void pe_survival_compare(int32_t groups, const pe_survival_counts *counts, const pe_survival *survival,
								const double *covariance, pe_survival_test *test);

/* P[X > x] of chi-squared with df degrees of freedom. */
extern double pe_chi_squared_above(double x, int32_t df);

#endif
