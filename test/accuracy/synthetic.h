/*
 * synthetic.h
 *	  Problems whose rows are drawn: a large logistic regression that is badly
 *	  conditioned, and linear regressions.  The distributions are those that the
 *	  figures in reference.csv were made with; the rows are not, for those came from
 *	  another generator.
 */
#ifndef PE_TEST_SYNTHETIC_H
#define PE_TEST_SYNTHETIC_H

#include "trial.h"

/*
 * n = 10^6, 50 features x_j of standard deviation falling from 1 to 0.2, all rows
 * divided by the 90 % quantile of |x| and cut to length 1; an intercept; labels of a
 * logistic model whose margins have standard deviation 2.5.
 */
extern void make_large(dataset *data);

/*
 * d features of standard deviation falling from 1 to 0.3, divided and cut likewise, no
 * intercept; y = x.w + 0.3 N(0, 1), cut to [-1, 1], where w points where `direction`
 * does and |x.w| has standard deviation 1/2.
 */
extern void make_linear(dataset *data, int n, int d, const double *direction);

/* The weights that minimise the mean of the losses, found by Newton steps in double arithmetic. */
extern void logistic_optimum(const dataset *data, double *w);

/* The same of a linear regression, with what is needed to measure distances from it. */
typedef struct least_squares
{
	int			d;
	double	   *moment;			/* sum x x' / n */
	double	   *w;
	double		variance;		/* of the labels */
} least_squares;

extern void linear_optimum(const dataset *data, least_squares *best);
extern void least_squares_free(least_squares *best);

/* By how much w's mean squared error is above the least, in variances of the labels. */
extern double linear_excess(const least_squares *best, const double *w);

#endif
