/*
 * test_keys.c
 *	  Keys that nobody has listed: the tail of the threshold against integers, sensitivity and delta against all
 *	  neighbours, how often a key of one unit passes, and counts by number.
 *
 * The tail is checked in integers: terms are brackets in units of 2^-100, each rounded away from the
 * truth, so that what they prove does not rest on the doubles of the code under test.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "accounting/conversion.h"
#include "counts/keys.h"
#include "domain/keys.h"
#include "noise/noise.h"
#include "plan/plan.h"
#include "shim.h"

#define lengthof(array) ((int) (sizeof(array) / sizeof((array)[0])))

static int
cases(int count)
{
	return getenv("PG_EPSILON_QUICK") != NULL ? count / 100 + 1 : count;
}

/* ------------------------------------------------------------------
 * The law in integers
 * ------------------------------------------------------------------
 */

/* A number between low and high, in units of 2^-100; all are at most 2^20. */
#define BITS 100
#define UNIT ((pe_u128) 1 << BITS)

typedef struct bracket
{
	pe_u128		low;
	pe_u128		high;
} bracket;

/* a b 2^-100, rounded down, for a and b up to 1. */
static pe_u128
product(pe_u128 a, pe_u128 b)
{
	const pe_u128 half = ((pe_u128) 1 << 50) - 1;
	pe_u128		a1 = a >> 50;
	pe_u128		b1 = b >> 50;
	pe_u128		middle = a1 * (b & half) + b1 * (a & half) + ((a & half) * (b & half) >> 50);

	return a1 * b1 + (middle >> 50);
}

static bracket
times(bracket a, bracket b)
{
	return (bracket) {product(a.low, b.low), product(a.high, b.high) + 2};
}

/* exp(-n/d), by the series of exp(-x / 2^k), whose terms alternate and fall, squared k times. */
static bracket
exp_of(pe_u128 n, pe_u128 d)
{
	int			halvings = 0;
	bracket		x;
	bracket		term = {UNIT, UNIT};
	bracket		sum = {UNIT, UNIT};

	while (n > d >> 1)
	{
		d <<= 1;
		halvings++;
	}
	/* n/d in units of 2^-100, 25 bits at a time */
	x.low = 0;
	for (int i = 0; i < 4; i++)
	{
		n <<= 25;
		x.low = x.low << 25 | n / d;
		n %= d;
	}
	x.high = x.low + 1;
	for (int k = 1; k <= 40; k++)
	{
		term = times(term, x);
		term = (bracket) {term.low / (unsigned) k, term.high / (unsigned) k + 1};
		if (k % 2 == 1)
			sum = (bracket) {sum.low - term.high, sum.high - term.low};
		else
			sum = (bracket) {sum.low + term.low, sum.high + term.high};
	}
	sum.low -= 1;
	sum.high += 1;
	for (int k = 0; k < halvings; k++)
		sum = times(sum, sum);
	return sum;
}

/* exp(-y^2 q / (2p)) for y = 0, 1, ..., most - 1: neighbouring ones have a ratio of r^(2y + 1), r = exp(-q / (2p)). */
static bracket *
terms_of(pe_u128 p, uint64_t q, int most)
{
	bracket	   *term = malloc(most * sizeof(*term));
	bracket		r = exp_of(q, 2 * p);
	bracket		r2 = times(r, r);
	bracket		ratio = r;

	term[0] = (bracket) {UNIT, UNIT};
	for (int y = 1; y < most; y++)
	{
		term[y] = times(term[y - 1], ratio);
		ratio = times(ratio, r2);
	}
	return term;
}

/* Whether keys P[Y >= t] <= delta_atto 1e-18 for certain (1), not for certain (-1), or too near to tell (0). */
static int
passes(const bracket *term, int most, int t, int keys, int64_t delta_atto)
{
	bracket		tail = {0, 0};
	bracket		all = {UNIT, UNIT};
	const pe_u128 atto = UINT64_C(1000000000000000000);

	for (int y = 1; y < most; y++)
	{
		all.low += 2 * term[y].low;
		all.high += 2 * term[y].high;
		if (y >= t)
		{
			tail.low += term[y].low;
			tail.high += term[y].high;
		}
	}
	/* beyond the last term there is less than 2^-90 in all */
	tail.high += (pe_u128) 1 << 10;
	all.high += (pe_u128) 1 << 11;
	/* tail / all <= delta / (keys 1e18): both sides shifted so that they fit */
	tail.low = tail.low * (unsigned) keys;
	tail.high = tail.high * (unsigned) keys;
	if (tail.high <= product(all.low >> 6, (pe_u128) delta_atto * UNIT / atto >> 0) << 6)
		return 1;
	if (tail.low > (product(all.high >> 6, ((pe_u128) delta_atto << 60) / atto * (UNIT >> 60) + (UNIT >> 60)) + 2) << 6)
		return -1;
	return 0;
}
