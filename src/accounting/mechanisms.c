/*
 * mechanisms.c
 *	  What single mechanisms cost, and how much noise a cost requires.  See
 *	  mechanisms.h for the statements and their sources.
 *
 * Every formula is written as a sum of terms of one sign before it is evaluated,
 * wherever the published form cancels; then a small multiple of the rounding
 * error of the result bounds the error.
 */
#include "accounting/mechanisms.h"

#include <math.h>

#include "accounting/zcdp.h"

#define SQRT_HALF			0.70710678118654752440
#define SQRT_TWO_PI			2.50662827463100050242

/*
 * Rounds up a value that was reached by at most a few calls of libm and twenty
 * operations, none of which cancels: its relative error is below 128 roundings.
 */
static double
round_up_relative(double value)
{
	return pe_round_up(value, 128 * PE_ROUNDOFF * value);
}

/*
 * x + exp(-x) - 1 for x >= 0.  Below 1/2 by the series
 * x^2/2 (1 - x/3 (1 - x/4 (1 - ...))), in which nothing cancels much; above, the
 * value is at least a fifth of x.
 */
static double
laplace_loss(double x)
{
	double		series = 1;

	if (x >= 0.5)
		return x + expm1(-x);
	for (int k = 20; k >= 3; k--)
		series = 1 - x / k * series;
	return x * x / 2 * series;
}

/*
 * (sinh x - x) / sinh x for x > 0: below 1 by the series of sinh x - x, all of
 * whose terms are positive.  When sinh overflows, the result is 1.
 */
static double
sinh_excess(double x)
{
	double		series = 1;

	if (x >= 1)
		return 1 - x / sinh(x);
	for (int k = 10; k >= 2; k--)
		series = 1 + x * x / (2 * k * (2 * k + 1)) * series;
	return x * x / 6 * (x / sinh(x)) * series;
}

/*
 * 2 q / (1 - q^2) = 1 / sinh a, so that with x = a D
 *
 *		rho = x - (1 - exp(-x)) a / sinh a
 *			= (x + exp(-x) - 1) + (1 - exp(-x)) (sinh a - a) / sinh a,
 *
 * a sum of two positive terms.
 */
double
pe_discrete_laplace_rho(double a, int64_t sensitivity)
{
	double		x;

	if (!(a >= 0) || sensitivity < 0)
		return INFINITY;
	if (a == 0 || sensitivity == 0)
		return 0;
	if (isinf(a))
		return INFINITY;

	x = a * (double) sensitivity;
	return round_up_relative(laplace_loss(x) - expm1(-x) * sinh_excess(a));
}

/*
 * h coth h - 1 for h > 0: below 1 as the sum of 2k h^(2k) / (2k+1)! divided by
 * sinh h / h.
 */
static double
coth_excess(double h)
{
	double		power = 1;
	double		sum = 0;

	if (h >= 1)
		return h * (1 + 2 / expm1(2 * h)) - 1;
	for (int k = 1; k <= 10; k++)
	{
		power *= h * h / (2 * k * (2 * k + 1));
		sum += 2 * k * power;
	}
	return sum * (h / sinh(h));
}

/* ln(sinh h / h) for h > 0, below 1 by the series of sinh h / h - 1. */
static double
log_sinh_ratio(double h)
{
	double		power = 1;
	double		sum = 0;

	if (h >= 1)
		return h + log1p(-exp(-2 * h)) - log(2 * h);
	for (int k = 1; k <= 10; k++)
	{
		power *= h * h / (2 * k * (2 * k + 1));
		sum += power;
	}
	return log1p(sum);
}

/*
 * With h = eta / 2, eta / (exp(eta) - 1) = h coth h - h, and also
 * = exp(-h) h / sinh h.  The first for y, the second for ln y give
 *
 *		rho = (h coth h - 1) + ln(sinh h / h),
 *
 * two positive terms, h^2/3 and h^2/6 for small h.
 */
double
pe_bounded_range_rho(double eta)
{
	double		h = eta / 2;

	if (!(eta >= 0))
		return INFINITY;
	if (h == 0)
		return eta == 0 ? 0 : DBL_TRUE_MIN;
	return round_up_relative(coth_excess(h) + log_sinh_ratio(h));
}

/* The lesser of a rho and of what any pure mechanism costs. */
static int64_t
nano_of(double rho, int64_t nano_epsilon)
{
	int64_t		any = pe_nano_rho_of_pure(nano_epsilon);
	int64_t		nano = pe_nano_up(rho);

	return nano >= 0 && nano < any ? nano : any;
}

/* Both operands of a quotient are within a rounding of the numbers that they stand for: the next double is above it. */
static double
quotient_up(double a, double b)
{
	return a / b * (1 + 4 * DBL_EPSILON);
}

int64_t
pe_nano_rho_of_laplace(int64_t nano_epsilon, pe_u128 sensitivity)
{
	/* a sensitivity beyond that is none that noise is drawn for */
	if (nano_epsilon <= 0 || sensitivity == 0 || sensitivity >> 62 != 0)
		return pe_nano_rho_of_pure(nano_epsilon);
	return nano_of(pe_discrete_laplace_rho(quotient_up((double) nano_epsilon / 1e9, (double) sensitivity), (int64_t) sensitivity),
				   nano_epsilon);
}

int64_t
pe_nano_rho_of_range(int64_t nano_eta)
{
	if (nano_eta <= 0)
		return pe_nano_rho_of_pure(nano_eta);
	return nano_of(pe_bounded_range_rho(quotient_up((double) nano_eta, 1e9)), nano_eta);
}

/*
 * ln Phi(x).  Far in the lower tail, where erfc would underflow, by the
 * asymptotic series ln Phi(x) = -x^2/2 - ln(-x sqrt(2 pi)) + ln(1 - 1/x^2 +
 * 3/x^4 - ...); the first term left out is below 2e-16 there.
 */
static double
log_phi(double x)
{
	double		series = 1;

	if (x > 0)
		return log1p(-0.5 * erfc(x * SQRT_HALF));
	if (x > -20)
		return log(0.5 * erfc(-x * SQRT_HALF));
	for (int k = 8; k >= 1; k--)
		series = 1 - (2 * k - 1) / (x * x) * series;
	return -x * x / 2 - log(-x * SQRT_TWO_PI) + log(series);
}

/*
 * A bound on the error of log_phi(x), x itself being off by at most x_error: the
 * relative error of the argument is amplified by x^2, and the derivative of
 * ln Phi is below |x| + 1.
 */
static double
log_phi_error(double x, double x_error)
{
	return PE_ROUNDOFF * (40 + 6 * x * x) + (fabs(x) + 1) * x_error;
}

/*
 * An upper bound of ln delta of the continuous Gaussian:
 * delta = exp(x) (1 - exp(y - x)) with x and y the logarithms of the two terms.
 */
static double
log_gaussian_delta(double sigma, double epsilon)
{
	double		center = epsilon * sigma;
	double		half = 1 / (2 * sigma);
	double		shift_error = 4 * PE_ROUNDOFF * (center + half);
	double		x = log_phi(half - center);
	double		y = epsilon + log_phi(-half - center);
	double		x_error = log_phi_error(half - center, shift_error);
	double		y_error = log_phi_error(-half - center, shift_error) + 2 * PE_ROUNDOFF * (epsilon + fabs(y));
	double		gap = y - x - (x_error + y_error + 4 * PE_ROUNDOFF * fabs(y - x));
	double		factor = log(-expm1(gap));

	/* NaN (a y that is minus infinity less an infinite error) leaves the first term alone */
	if (!(factor < 0))
		factor = 0;
	return x + x_error + factor + PE_ROUNDOFF * (20 + 20 * fabs(factor));
}

double
pe_gaussian_sigma(double epsilon, double delta)
{
	double		target;
	double		lo = 1;
	double		hi = 1;

	if (!(epsilon >= 0) || isinf(epsilon) || !(delta > 0 && delta < 1))
		return INFINITY;

	/* rounded down: 17 roundings of the logarithm, and half a unit for delta's decimal */
	target = log(delta);
	target -= PE_ROUNDOFF * (2 + 20 * fabs(target));

	while (!(log_gaussian_delta(hi, epsilon) <= target))
	{
		lo = hi;
		hi *= 2;
		if (isinf(hi))
			return INFINITY;
	}
	while (lo > 1e-150 && log_gaussian_delta(lo, epsilon) <= target)
	{
		hi = lo;
		lo /= 2;
	}
	/* hi always satisfies the condition by its upper bound, so it is safe wherever this ends */
	for (int i = 0; i < 200 && hi > lo * (1 + 2 * DBL_EPSILON); i++)
	{
		double		middle = lo + (hi - lo) / 2;

		if (log_gaussian_delta(middle, epsilon) <= target)
			hi = middle;
		else
			lo = middle;
	}
	return hi;
}

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
		return round_up_relative(log1p(sum));
	return round_up_relative(largest + log(sum + exp(-largest)));
}

double
pe_rdp_subsampled_gaussian(double q, double sigma, int alpha)
{
	if (!(q >= 0 && q <= 1) || !(sigma > 0) || alpha < 2 || alpha > PE_ALPHA_MAX)
		return INFINITY;
	if (q == 0 || isinf(sigma))
		return 0;
	if (q == 1)
		return round_up_relative(alpha / (2 * sigma * sigma));
	return round_up_relative(log_moment(q, sigma, alpha) / (alpha - 1));
}

/*
 * ln(1 + (exp(e) - 1) / q): three calls and a division, nothing of which cancels, and
 * none amplifies a relative error (e is at most a few thousand where exp does not
 * overflow; the logarithm brings that back).  A relative 1e-12 is a thousand times what
 * they err.
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
