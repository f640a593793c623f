/*
 * bounds.h
 *	  Confidence bounds for what an audit counts.
 *
 * Every bound holds for any law and any number of draws, and fails with a
 * probability below AUDIT_BETA.  A run computes fewer than 1e8 of them, so that
 * all together fail with a probability below 1e-9.
 */
#ifndef PE_AUDIT_BOUNDS_H
#define PE_AUDIT_BOUNDS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define AUDIT_BETA 1e-17

/* n times the divergence of Bernoulli(seen) from Bernoulli(p) */
static inline double
bernoulli_divergence(double seen, double p, double n)
{
	double		sum = 0;

	if (seen > 0)
		sum += seen * log(seen / p);
	if (seen < 1)
		sum += (1 - seen) * (log1p(-seen) - log1p(-p));
	return n * sum;
}

/*
 * The end of the interval for a probability of which count of n draws were: the
 * p beyond count/n at which Chernoff's bound, exp(-n KL), falls below AUDIT_BETA.
 * It contains the interval of Clopper and Pearson.
 */
static inline double
probability_bound(uint64_t count, uint64_t n, bool upper)
{
	double		seen = (double) count / (double) n;
	double		inside = seen;
	double		outside = upper ? 1 : 0;

	if (seen == outside)
		return outside;
	for (int i = 0; i < 50; i++)
	{
		double		p = (inside + outside) / 2;

		if (bernoulli_divergence(seen, p, (double) n) <= -log(AUDIT_BETA))
			inside = p;
		else
			outside = p;
	}
	return outside;
}

/*
 * How far the mean of n draws of a variable of this sample variance and range can
 * be from its expectation: Maurer and Pontil, "Empirical Bernstein bounds and
 * sample variance penalization", COLT 2009, Theorem 4.
 */
static inline double
mean_error(double variance, double range, double n)
{
	double		l = log(2 / AUDIT_BETA);

	return sqrt(2 * variance * l / n) + 7 * range * l / (3 * (n - 1));
}

#endif
