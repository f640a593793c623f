/*
 * sampled.c
 *	  What sampling leaves of a cost.  See conversion.h for the statements and their sources.
 */
#include "accounting/conversion.h"

#include <math.h>

/*
 * The moment whose logarithm is taken,
 * sum over k of C(alpha, k) (1-q)^(alpha-k) q^k exp((k^2 - k) / (2 sigma^2)), is 1
 * plus the sum over k >= 2 of the same with exp(...) - 1: the terms of the
 * logarithm's small argument, all positive.
 *
 * Gives the logarithm of term k, rounded up; log_choose is ln C(alpha, k).
 */
static double
log_moment_term(double q, double sigma, int alpha, int k, double log_choose)
{
	double		exponent = fmax((double) k * (k - 1) / (2 * sigma * sigma), DBL_MIN);
	double		log_grown = exponent > 1 ? exponent + log1p(-exp(-exponent)) : log(expm1(exponent));
	double		log_none = k < alpha ? (alpha - k) * log1p(-q) : 0;
	double		log_some = k * log(q);
	double		value = log_choose + log_none + log_some + log_grown;
	double		size = log_choose + fabs(log_none) + fabs(log_some) + fabs(exponent) + fabs(log_grown) + 1;

	/* log_choose is the result of k additions, at most alpha ln 2 on the way */
	return pe_round_up(value, PE_ROUNDOFF * (24 * size + k * (0.7 * alpha + 24)));
}

/* ln C(alpha, k) from ln C(alpha, k - 1). */
static double
log_choose_step(double log_choose, int alpha, int k)
{
	return log_choose + log((double) (alpha - k + 1) / k);
}

/* The largest logarithm of a term, and at least 0: the logarithm of the 1. */
static double
largest_log_term(double q, double sigma, int alpha)
{
	double		largest = 0;
	double		log_choose = log(alpha);

	for (int k = 2; k <= alpha; k++)
	{
		log_choose = log_choose_step(log_choose, alpha, k);
		largest = fmax(largest, log_moment_term(q, sigma, alpha, k, log_choose));
	}
	return largest;
}

/* ln(1 + sum of the terms), the largest of them (or 1) divided out. */
static double
log_moment(double q, double sigma, int alpha)
{
	double		largest = largest_log_term(q, sigma, alpha);
	double		log_choose = log(alpha);
	double		sum = 0;

	for (int k = 2; k <= alpha; k++)
	{
		log_choose = log_choose_step(log_choose, alpha, k);
		sum += exp(log_moment_term(q, sigma, alpha, k, log_choose) - largest);
	}
	sum *= 1 + PE_ROUNDOFF * (64 + alpha);

	if (largest == 0)
		return pe_round_up_relative(log1p(sum));
	return pe_round_up_relative(largest + log(sum + exp(-largest)));
}

double
pe_rdp_subsampled_gaussian(double q, double sigma, int alpha)
{
	if (!(q >= 0 && q <= 1) || !(sigma > 0) || alpha < 2 || alpha > PE_ALPHA_MAX)
		return INFINITY;
	if (q == 0 || isinf(sigma))
		return 0;
	if (q == 1)
		return pe_round_up_relative(alpha / (2 * sigma * sigma));
	return pe_round_up_relative(log_moment(q, sigma, alpha) / (alpha - 1));
}

/*
 * ln(1 + (exp(e) - 1) / q): three calls and a division; nothing cancels, and
 * none amplifies a relative error (e is at most a few thousand where exp does
 * not overflow; the logarithm brings that back).  A relative 1e-12 is a
 * thousand times what they err.
 */
int64_t
pe_unsampled_epsilon(int64_t nano, double q)
{
	double		epsilon = (double) nano * 1e-9;
	double		unsampled;

	if (!(q < 1) || epsilon > 500)
		return nano;
	unsampled = log1p(expm1(epsilon) / q) * (1 - 1e-12);
	/* sampling never costs more than none */
	if (!(unsampled * 1e9 > (double) nano))
		return nano;
	return (int64_t) (unsampled * 1e9);
}
