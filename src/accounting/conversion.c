/*
 * conversion.c
 *	  The ledger's integer units, and conversions by the kind of accounting.  See conversion.h
 *	  for what is promised.
 */
#include "accounting/conversion.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NANO_DIGITS			9
#define ATTO_DIGITS			18

static const char *const names[] = {[PE_PURE] = "pure", [PE_ZCDP] = "zcdp", [PE_GDP] = "gdp"};

const char *
pe_accounting_name(pe_accounting accounting)
{
	return names[accounting];
}

bool
pe_accounting_named(const char *name, pe_accounting *accounting)
{
	for (int i = PE_ZCDP; i <= PE_PURE; i++)
	{
		*accounting = (pe_accounting) i;
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	return false;
}

double
pe_round_up(double value, double error)
{
	double		sum = value + error;

	if (isnan(sum))
		return INFINITY;

	/* the sum may have been rounded down, by less than one step */
	return nextafter(sum, INFINITY);
}

double
pe_round_up_relative(double value)
{
	return pe_round_up(value, 128 * PE_ROUNDOFF * value);
}

/* ----------
 * Units
 * ----------
 */

/*
 * Reads x > 0, finite, as digits * 10^exponent with at most 17 digits; see
 * pe_nano_rho_down for which decimal it is.  Anything that the locale puts
 * between the first digit and the others is skipped.
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
 * Whether x is what a whole number of units of at most 15 digits reads as: then no other decimal of 15 digits does, and
 * these are the digits of read_decimal.  Both operands of the quotient are exact (10^18 has 42 bits beside its power of
 * two), so it is rounded once, as text is.
 */
static bool
is_whole(double x, int unit_digits, int64_t *units)
{
	double		scale = unit_digits == NANO_DIGITS ? 1e9 : 1e18;

	*units = x < 1e15 / scale ? llrint(x * scale) : 0;
	return *units > 0 && (double) *units / scale == x;
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
	if (is_whole(x, unit_digits, &units))
		return units;

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

/* ----------
 * rho and (epsilon, delta)
 * ----------
 */

double
pe_epsilon_of_rho(pe_accounting accounting, double rho, double delta)
{
	if (accounting == PE_PURE)
		return INFINITY;
	return accounting == PE_GDP ? pe_gdp_epsilon(rho, delta) : pe_zcdp_epsilon(rho, delta);
}

int64_t
pe_nano_rho_of_epsilon(pe_accounting accounting, double epsilon, double delta)
{
	if (accounting == PE_PURE)
		return 0;
	return accounting == PE_GDP ? pe_gdp_nano_rho(epsilon, delta) : pe_zcdp_nano_rho(epsilon, delta);
}

/* ----------
 * Mechanisms with a loss of another kind
 * ----------
 */

/* The quotient is the double nearest to the number of nano-units: both operands are exact up to 2^53. */
int64_t
pe_nano_rho_of_pure(pe_accounting accounting, int64_t nano_epsilon)
{
	if (nano_epsilon < 0 || accounting == PE_PURE)
		return -1;
	return accounting == PE_GDP ? pe_gdp_nano_of_pure(nano_epsilon)
		: pe_nano_up(pe_pure_to_zcdp((double) nano_epsilon / 1e9));
}

/*
 * Bisection: lo only ever moves to an epsilon that rho pays for.  hi is too large: of zCDP
 * epsilon tanh(epsilon / 2) >= epsilon - 1; of Gaussian DP epsilon is about rho / 4 + ln(1 + sqrt(rho)).
 */
int64_t
pe_nano_pure_of_rho(pe_accounting accounting, int64_t nano_rho)
{
	int64_t		lo = 0;
	int64_t		hi = nano_rho + INT64_C(2000000000);

	if (nano_rho <= 0 || nano_rho > INT64_MAX / 4)
		return 0;
	while (hi - lo > 1)
	{
		int64_t		middle = lo + (hi - lo) / 2;
		int64_t		cost = pe_nano_rho_of_pure(accounting, middle);

		if (cost >= 0 && cost <= nano_rho)
			lo = middle;
		else
			hi = middle;
	}
	return lo;
}

/* The lesser of a rho of zCDP and of what any pure mechanism costs. */
static int64_t
nano_of(double rho, int64_t nano_epsilon)
{
	int64_t		any = pe_nano_rho_of_pure(PE_ZCDP, nano_epsilon);
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
pe_nano_rho_of_laplace(pe_accounting accounting, int64_t nano_epsilon, pe_u128 sensitivity)
{
	/* a sensitivity beyond that is none that noise is drawn for */
	if (accounting != PE_ZCDP || nano_epsilon <= 0 || sensitivity == 0 || sensitivity >> 62 != 0)
		return pe_nano_rho_of_pure(accounting, nano_epsilon);
	return nano_of(pe_discrete_laplace_rho(quotient_up((double) nano_epsilon / 1e9, (double) sensitivity),
										   (int64_t) sensitivity), nano_epsilon);
}

/* Of Gaussian DP a range of eta costs what a pure epsilon of eta / 2 does. */
int64_t
pe_nano_rho_of_range(pe_accounting accounting, int64_t nano_eta)
{
	if (accounting == PE_GDP && nano_eta > 0)
		return pe_nano_rho_of_pure(accounting, nano_eta / 2 + nano_eta % 2);
	if (accounting != PE_ZCDP || nano_eta <= 0)
		return pe_nano_rho_of_pure(accounting, nano_eta);
	return nano_of(pe_bounded_range_rho(quotient_up((double) nano_eta, 1e9)), nano_eta);
}
