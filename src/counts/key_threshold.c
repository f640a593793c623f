/*
 * key_threshold.c
 *	  The threshold for keys that nobody has listed.  See key_threshold.h.
 */
#include "counts/key_threshold.h"

#include <math.h>

#include "accounting/conversion.h"

#define PI 3.14159265358979323846

/* Up to this sigma the terms of the tail are added. */
#define ADDED 4096

/* Terms are below exp(-this) where the sum begins; delta / keys is at least 1e-18 / 2^31 = exp(-63). */
#define FIRST_EXPONENT 110.0

#define LEAST_TAIL_MOST (INT64_C(1) << 60)

pe_u128
pe_keys_sensitivity_sq(pe_neighbours neighbours, int32_t keys)
{
	return (pe_u128) keys * (neighbours == PE_SUBSTITUTE ? 2 : 1);
}

/* 1 / (2 sigma^2), with a relative error below 4 roundings. */
static double
rate_of(pe_u128 p, uint64_t q)
{
	return (double) q / (double) p / 2;
}

/*
 * exp(-y^2 rate), as it is computed: x has a relative error of 7 roundings, which changes the result by as much as
 * x times that.  So up to x = 1000 it is right to a relative 2^-40, and below exp(-745) it is 0.
 */
static double
term(double rate, double y)
{
	return exp(-y * y * rate);
}

#define TERM_ERROR 0x1p-40

/* A lower bound of the sum of all terms. */
static double
total(double rate)
{
	double		sum = 1;

	if (rate < 0.125)			/* sigma > 2 */
		return sqrt(PI / rate) * (1 - TERM_ERROR);
	for (int y = 1; y <= 20; y++)
		sum += 2 * term(rate, y);
	return sum * (1 - TERM_ERROR);
}

/* An upper bound of the sum of the terms from y on, y > 0: their ratios fall. */
static double
rest(double rate, double y)
{
	return term(rate, y) / -expm1(-(2 * y + 1) * rate) * (1 + TERM_ERROR);
}

/*
 * The smallest t >= least at which the tail is at most `most`, and the tail at
 * t.  The terms are added from the last one on; up to 2^17 additions have a
 * relative error of 2^-36.
 */
static double
walk(double rate, double most, double least, double *t)
{
	double		all = total(rate);
	double		y = ceil(sqrt(FIRST_EXPONENT / rate)) + least;
	double		sum = rest(rate, y + 1);
	double		tail = 0;

	for (*t = y + 1; y >= least; y--)
	{
		double		longer;

		sum += term(rate, y);
		longer = sum / all * (1 + 4 * TERM_ERROR + 0x1p-34);
		if (longer > most)
			break;
		tail = longer;
		*t = y;
	}
	return tail;
}

/* P[N(0, sigma^2) >= t - 1/2], for sigma > ADDED. */
static double
tail_of_wide(double rate, int64_t t)
{
	double		from = (double) t - 0.5;

	/* the argument has a relative error of 8 roundings, up to 40 in absolute value */
	return erfc(from * sqrt(rate)) / 2 * (1 + TERM_ERROR);
}

static bool
is_narrow(double rate)
{
	return 2 * rate * ADDED * ADDED >= 1;
}

double
pe_keys_tail(pe_u128 p, uint64_t q, int64_t t)
{
	double		rate = rate_of(p, q);
	double		at;

	if (is_narrow(rate))
		return fmin(walk(rate, INFINITY, (double) t, &at), 1);
	return (double) t - 0.5 > sqrt(0.5 / rate) * (1 + TERM_ERROR) ? tail_of_wide(rate, t) : 1;
}

static int64_t
least_of_wide(pe_u128 p, uint64_t q, double most)
{
	int64_t		low = 0;		/* too small */
	int64_t		high = LEAST_TAIL_MOST;

	if (pe_keys_tail(p, q, high) > most)
		return 0;
	while (high - low > 1)
	{
		int64_t		middle = low + (high - low) / 2;

		if (pe_keys_tail(p, q, middle) > most)
			low = middle;
		else
			high = middle;
	}
	return high;
}

int64_t
pe_keys_least_tail(pe_u128 p, uint64_t q, int32_t keys, int64_t delta_atto)
{
	double		rate = rate_of(p, q);
	double		most = (double) delta_atto * 1e-18 / keys * (1 - 0x1p-48);
	double		t;

	if (delta_atto <= 0 || keys <= 0)
		return 0;
	if (!is_narrow(rate))
		return least_of_wide(p, q, most);
	(void) walk(rate, most, 1, &t);
	return (int64_t) t;
}
