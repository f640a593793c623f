/*
 * zcdp.c
 *	  Conversion between zCDP and (epsilon, delta), and the ledger's integer
 *	  units.  See zcdp.h for what is promised.
 */
#include "accounting/zcdp.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

#define NANO_DIGITS			9
#define ATTO_DIGITS			18

double
pe_round_up(double value, double error)
{
	double		sum = value + error;

	if (isnan(sum))
		return INFINITY;

	/* the sum may have been rounded down, by less than one step */
	return nextafter(sum, INFINITY);
}

static bool
delta_in_range(double delta)
{
	return delta > 0 && delta < 1;
}

/*
 * epsilon = tau + ln(1 - 1/alpha) + (ln(1/delta) - ln alpha) / (alpha - 1) with
 * alpha = 1 + t and ln(1 - 1/alpha) = -log1p(1/t).
 *
 * The bound on the error: tau passes two additions; each logarithm errs by
 * PE_LIBM_ERROR (16 roundings) and passes at most four operations, the rounding
 * of 1/t among them, which log1p does not amplify.  The 1 that is added to the
 * logarithms over t covers that delta's double is half a unit away from the
 * decimal that it stands for.
 */
double
pe_renyi_epsilon(double tau, double t, double delta)
{
	double		log_ratio;
	double		log_alpha;
	double		log_inverse_delta;
	double		value;
	double		error;

	if (!(tau >= 0) || !(t > 0) || isinf(t) || !delta_in_range(delta))
		return INFINITY;

	log_ratio = log1p(1 / t);
	log_alpha = log1p(t);
	log_inverse_delta = -log(delta);
	value = (tau - log_ratio) + (log_inverse_delta - log_alpha) / t;
	error = PE_ROUNDOFF *
		(3 * tau + 24 * log_ratio + 24 * (log_inverse_delta + log_alpha + 1) / t);
	return pe_round_up(value, error);
}

/*
 * The t = alpha - 1 that makes pe_renyi_epsilon((1 + t) rho, t, delta) smallest,
 * with l = ln(1/delta).
 *
 * The derivative of that epsilon by t is rho + (log1p(t) - l) / t^2, so the best
 * t is the root of f(t) = rho t^2 + log1p(t) - l, which increases from -l.  Both
 * terms of f are at most l at the root, hence the upper end of the bracket;
 * log1p(t) <= t gives the lower end.  Newton's method runs inside the bracket
 * and falls back on halving it (in logarithms).  Whatever it returns is valid;
 * an error in t enters epsilon squared.
 */
static double
best_order(double rho, double l)
{
	double		lo = 2 * l / (1 + sqrt(1 + 4 * rho * l));
	double		hi = fmin(fmin(sqrt(l / rho), expm1(l)), 1e150);
	double		t = hi;

	for (int i = 0; i < 200; i++)
	{
		double		f = rho * t * t + log1p(t) - l;
		double		next = t - f / (2 * rho * t + 1 / (1 + t));

		if (fabs(next - t) <= 1e-13 * t)
			break;
		if (f > 0)
			hi = t;
		else
			lo = t;
		if (!(next > lo && next < hi))
			next = sqrt(lo) * sqrt(hi);
		t = next;
	}
	return t;
}

double
pe_zcdp_epsilon(double rho, double delta)
{
	double		floor_epsilon;
	double		t;
	double		tau;

	if (!(rho >= 0) || isinf(rho) || !delta_in_range(delta))
		return INFINITY;
	if (rho == 0)
		return 0;

	/*
	 * Two roundings for the product and its factor; two more because rho
	 * stands for a number of nano-units times 1e-9.
	 */
	floor_epsilon = pe_round_up(rho, 2 * PE_ROUNDOFF * rho);
	t = best_order(rho, -log(delta));
	tau = (1 + t) * rho;
	tau = pe_round_up(tau, 4 * PE_ROUNDOFF * tau);
	return fmax(floor_epsilon, pe_renyi_epsilon(tau, t, delta));
}

/*
 * Bisection over r on the predicate epsilon(r) <= epsilon, epsilon(r) being what
 * pe_zcdp_epsilon(r * 1e-9, delta) returns.
 *
 * epsilon(r) strictly increases, so the r of a given epsilon(r) is found again.
 * Proof: the exact function is the larger of rho and an infimum over alpha > 1
 * of terms with slope alpha in rho, so it grows by at least 1e-9 per nano-unit.
 * What is computed lies above it by at most twice the error bounds plus a few
 * steps of the double grid: for epsilon <= 1e5 these are below 2.5e-10 for the
 * part that scales with epsilon (22 roundings of 1.1e-16 times 1e5), and below
 * 1e-10 for the logarithms over t (t >= 0.0025 for delta <= 1/2, since
 * t >= 2l / (1 + sqrt(1 + 4 rho l)) with l = ln(1/delta) and rho <= 1e5).  The
 * order found errs by about 1e-13, squared.  Together that is less than one
 * step of 1e-9.
 *
 * Outside that range the result still satisfies the predicate, because lo is
 * only ever moved to an r that does.
 */
int64_t
pe_nano_rho_of_epsilon(double epsilon, double delta)
{
	int64_t		lo = 0;
	int64_t		hi;

	if (!(epsilon > 0) || isinf(epsilon) || !delta_in_range(delta))
		return 0;

	/* epsilon(r) > r * 1e-9, so that hi is too large */
	hi = (int64_t) (fmin(epsilon, 4e9) * 1e9) + 2;
	while (hi - lo > 1)
	{
		int64_t		middle = lo + (hi - lo) / 2;

		if (pe_zcdp_epsilon((double) middle * 1e-9, delta) <= epsilon)
			lo = middle;
		else
			hi = middle;
	}
	return lo;
}

/*
 * Reads x > 0, finite, as digits * 10^exponent with at most 17 digits; see
 * pe_nano_rho_down for which decimal it is.  Whatever the locale puts between
 * the first digit and the others is skipped.
 */
static void
read_decimal(double x, int64_t *digits, int *exponent)
{
	char		text[64];
	const char *c;
	int			places;

	for (places = 14; places < 16; places++)
	{
		snprintf(text, sizeof(text), "%.*e", places, x);
		if (strtod(text, NULL) == x)
			break;
	}
	/* 17 digits always read back */
	snprintf(text, sizeof(text), "%.*e", places, x);

	*digits = 0;
	for (c = text; *c != 'e'; c++)
	{
		if (*c >= '0' && *c <= '9')
			*digits = *digits * 10 + (*c - '0');
	}
	*exponent = (int) strtol(c + 1, NULL, 10) - places;
}

/*
 * x in units of 10^-unit_digits, rounded down, by integers alone: dividing by
 * ten repeatedly, each time rounded down, is dividing by the power of ten,
 * rounded down once.
 */
static int64_t
units_down(double x, int unit_digits)
{
	int64_t		units;
	int			exponent;

	if (!(x >= 0) || isinf(x))
		return -1;
	if (x == 0)
		return 0;

	read_decimal(x, &units, &exponent);
	exponent += unit_digits;
	for (; exponent > 0; exponent--)
	{
		if (__builtin_mul_overflow(units, (int64_t) 10, &units))
			return -1;
	}
	for (; exponent < 0 && units > 0; exponent++)
		units /= 10;
	return units;
}

int64_t
pe_nano_rho_down(double rho)
{
	return units_down(rho, NANO_DIGITS);
}

int64_t
pe_atto_down(double delta)
{
	return units_down(delta, ATTO_DIGITS);
}

/*
 * cost = m 2^-shift exactly, with m < 2^53; cost < 2^34 makes shift >= 19.
 * m 10^9 < 2^83 fits 128 bits, so quotient and remainder are exact.
 */
int64_t
pe_nano_up(double cost)
{
	int			exponent;
	int			shift;
	pe_u128		scaled;
	pe_u128		units;

	if (!(cost >= 0) || cost > 9.3e9)
		return -1;
	if (cost == 0)
		return 0;

	scaled = (pe_u128) (uint64_t) ldexp(frexp(cost, &exponent), 53);
	scaled *= 1000000000;
	shift = 53 - exponent;
	if (shift >= 128)
		return 1;

	units = scaled >> shift;
	if ((units << shift) != scaled)
		units++;
	return units > (pe_u128) INT64_MAX ? -1 : (int64_t) units;
}

double
pe_pure_to_zcdp(double epsilon)
{
	double		value;

	if (!(epsilon >= 0))
		return INFINITY;
	if (epsilon == 0)
		return 0;

	/* one call of libm, one product, and twice the half unit of epsilon's decimal */
	value = epsilon * tanh(epsilon / 2);
	return pe_round_up(value, 20 * PE_ROUNDOFF * value);
}

/* The quotient is the double nearest to the number of nano-units: both operands are exact up to 2^53. */
int64_t
pe_nano_rho_of_pure(int64_t nano_epsilon)
{
	return nano_epsilon < 0 ? -1 : pe_nano_up(pe_pure_to_zcdp((double) nano_epsilon / 1e9));
}

/*
 * Bisection as in pe_nano_rho_of_epsilon: lo only ever moves to an epsilon that
 * rho pays for.  hi is too large: epsilon tanh(epsilon / 2) >= epsilon - 1.
 */
int64_t
pe_nano_pure_of_rho(int64_t nano_rho)
{
	int64_t		lo = 0;
	int64_t		hi = nano_rho + INT64_C(2000000000);

	if (nano_rho <= 0 || nano_rho > INT64_MAX / 4)
		return 0;
	while (hi - lo > 1)
	{
		int64_t		middle = lo + (hi - lo) / 2;
		int64_t		cost = pe_nano_rho_of_pure(middle);

		if (cost >= 0 && cost <= nano_rho)
			lo = middle;
		else
			hi = middle;
	}
	return lo;
}
