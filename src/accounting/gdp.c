/*
 * gdp.c
 *	  The Gaussian trade-off curve: what mu-Gaussian DP promises, and what pure mechanisms
 *	  cost in it.  See conversion.h for the statements and their sources.
 */
#include "accounting/filter.h"

#include <math.h>

#define SQRT_HALF			0.70710678118654752440
#define SQRT_TWO_PI			2.50662827463100050242

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
 * An upper bound of ln delta(epsilon; mu): delta = exp(x) (1 - exp(y - x)) with x and y the
 * logarithms of the two terms.  mu may be off by four roundings.
 */
static double
log_delta(double mu, double epsilon)
{
	double		center = epsilon / mu;
	double		half = mu / 2;
	double		shift_error = 8 * PE_ROUNDOFF * (fabs(center) + half);
	double		x = log_phi(half - center);
	double		y = epsilon + log_phi(-half - center);
	double		x_error = log_phi_error(half - center, shift_error);
	double		y_error = log_phi_error(-half - center, shift_error) + 2 * PE_ROUNDOFF * (fabs(epsilon) + fabs(y));
	double		gap = y - x - (x_error + y_error + 4 * PE_ROUNDOFF * fabs(y - x));
	double		factor = log(-expm1(gap));

	/* NaN (a y that is minus infinity less an infinite error) leaves the first term alone */
	if (!(factor < 0))
		factor = 0;
	return x + x_error + factor + PE_ROUNDOFF * (20 + 20 * fabs(factor));
}

/* ln delta rounded down: 17 roundings of the logarithm, delta's decimal, its share, and what discrete noise takes. */
static double
log_down(double delta)
{
	double		value = log(delta);

	return value - PE_ROUNDOFF * (4 + 20 * fabs(value));
}

/* ----------
 * rho and (epsilon, delta)
 * ----------
 */

/*
 * Whether rho = mu^2 / 2 is (epsilon, delta)-DP, log_delta_target being ln delta rounded down.
 * Discrete noise differs from continuous noise by xi (noise/gaussian.h): epsilon + 2 xi and
 * exp(xi) delta.  For 10^11 numbers, all that a budget pays for, xi is 3.3e-23, and ln delta falls by
 * less than 40 / mu <= 9e5 for each unit of epsilon: together less than one of the roundings
 * that log_down takes off.  Of budgets with mu above 0.01 the same holds for 10^13 numbers.
 */
static bool
promises(double mu, double epsilon, double log_delta_target)
{
	return log_delta(mu, epsilon) <= log_delta_target;
}

/*
 * hi always satisfies the promise by its upper bound, so it is safe wherever the search ends.
 * It begins at what zCDP promises, rho + 2 sqrt(rho ln(1/delta)) (Bun and Steinke, 2016,
 * Proposition 1.3, of Gaussian noise too).
 */
double
pe_gdp_epsilon(double rho, double delta)
{
	double		floor_epsilon;
	double		mu;
	double		target;
	double		lo = 0;
	double		hi;

	if (!(rho >= 0) || isinf(rho) || !pe_delta_valid(delta))
		return INFINITY;
	if (rho == 0)
		return 0;

	/* as in pe_zcdp_epsilon */
	floor_epsilon = pe_round_up(rho, 2 * PE_ROUNDOFF * rho);
	mu = sqrt(2 * rho);
	target = log_down(delta);
	if (promises(mu, floor_epsilon, target))
		return floor_epsilon;
	lo = floor_epsilon;
	hi = rho + 2 * sqrt(rho * -target);
	while (!promises(mu, hi, target))
	{
		lo = hi;
		hi *= 2;
		if (isinf(hi))
			return INFINITY;
	}
	for (int i = 0; i < 200 && hi > lo * (1 + 2 * DBL_EPSILON); i++)
	{
		double		middle = lo + (hi - lo) / 2;

		if (promises(mu, middle, target))
			hi = middle;
		else
			lo = middle;
	}
	return hi;
}

/*
 * Bisection over r on what pe_gdp_epsilon looks for.  The r that an epsilon was computed from
 * passes, and r + 1 does not: its own epsilon is larger by 1e-9 or more, and
 * for epsilon <= 1e5 the bounds of errors come to less than 2e-10 in epsilon.  The slope: d epsilon / d
 * rho = h(epsilon / mu + mu / 2) / mu with h(x) = phi(x) / Phi(-x) >= x, so it is at least epsilon / mu^2 +
 * 1/2, which is 1 or more where epsilon >= rho.
 */
int64_t
pe_gdp_nano_rho(double epsilon, double delta)
{
	double		target;
	int64_t		lo = 0;
	int64_t		hi;

	if (!(epsilon > 0) || isinf(epsilon) || !pe_delta_valid(delta))
		return 0;
	target = log_down(delta);
	hi = (int64_t) (fmin(epsilon, 4e9) * 1e9) + 2;
	while (hi - lo > 1)
	{
		int64_t		middle = lo + (hi - lo) / 2;

		if (promises(sqrt(2e-9 * (double) middle), epsilon, target))
			lo = middle;
		else
			hi = middle;
	}
	/* two searches of the same number may end a rounding apart, and rho must not be above epsilon */
	while (lo > 0 && pe_gdp_epsilon((double) lo * 1e-9, delta) > epsilon)
		lo--;
	return lo;
}

double
pe_gaussian_sigma(double epsilon, double delta)
{
	double		target;
	double		lo = 1;
	double		hi = 1;

	if (!(epsilon >= 0) || isinf(epsilon) || !(delta > 0 && delta < 1))
		return INFINITY;

	target = log_down(delta);
	while (!(log_delta(1 / hi, epsilon) <= target))
	{
		lo = hi;
		hi *= 2;
		if (isinf(hi))
			return INFINITY;
	}
	while (lo > 1e-150 && log_delta(1 / lo, epsilon) <= target)
	{
		hi = lo;
		lo /= 2;
	}
	/* hi always satisfies the condition by its upper bound, so it is safe wherever this ends */
	for (int i = 0; i < 200 && hi > lo * (1 + 2 * DBL_EPSILON); i++)
	{
		double		middle = lo + (hi - lo) / 2;

		if (log_delta(1 / middle, epsilon) <= target)
			hi = middle;
		else
			lo = middle;
	}
	return hi;
}


/* ----------
 * Pure mechanisms
 * ----------
 */

/*
 * epsilon = ln Phi(m) - ln Phi(-m), m = mu / 2 = sqrt(rho / 2).  For small m by erf, as the
 * difference would cancel; rho may be off by three roundings.
 */
double
pe_gdp_pure(double rho)
{
	double		m = sqrt(rho / 2);
	double		error = 4 * PE_ROUNDOFF * m;
	double		part;
	double		value;

	if (!(rho > 0) || isinf(rho))
		return 0;
	if (m < 1)
	{
		part = erf(m * SQRT_HALF);
		value = log1p(part) - log1p(-part);
		return value - 128 * PE_ROUNDOFF * value;
	}
	value = log_phi(m) - log_phi(-m);
	return value - log_phi_error(m, error) - log_phi_error(-m, error) - 2 * PE_ROUNDOFF * value;
}

/*
 * The least r whose pe_gdp_pure is not below epsilon.  4 epsilon is enough: erfc(z) <= exp(-z^2)
 * gives ln Phi(m) - ln Phi(-m) >= m^2 / 2 = rho / 4.
 */
int64_t
pe_gdp_nano_of_pure(int64_t nano_epsilon)
{
	double		epsilon = pe_round_up((double) nano_epsilon / 1e9, 0);
	int64_t		lo = 0;
	int64_t		hi;

	if (nano_epsilon <= 0)
		return nano_epsilon == 0 ? 0 : -1;
	if (nano_epsilon > INT64_MAX / 8)
		return -1;
	hi = 4 * nano_epsilon + 1;
	while (hi - lo > 1)
	{
		int64_t		middle = lo + (hi - lo) / 2;

		if (pe_gdp_pure((double) middle * 1e-9) >= epsilon)
			hi = middle;
		else
			lo = middle;
	}
	return hi;
}
