/*
 * test_select.c
 *	  Private selection against its exact law.
 *
 * Statistical tests use the system's randomness (statistics.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "noise/lazy_exp.h"
#include "noise/selection.h"
#include "numbers.h"
#include "shim.h"
#include "statistics.h"

#define MOST 8

typedef struct selection
{
	const char *name;
	int32_t		count;
	int64_t		score[MOST];
	int64_t		sensitivity;
	bool		monotone;
	pe_accounting accounting;
	int64_t		nano;
	double		rate;			/* of exp(-rate (score - least) / sensitivity) */
} selection;

/* rates by hand: sqrt(8 rho), epsilon, or 2 ln(Phi(mu/2) / Phi(-mu/2)) with mu^2 = 2 rho; half of it where scores are not monotone */
static const selection selections[] = {
	{"rho 0.5", 6, {0, 3, 5, 5, 10, 40}, 7, true, PE_ZCDP, 500000000, 2.0},
	{"rho 0.5, not monotone", 6, {0, 3, 5, 5, 10, 40}, 7, false, PE_ZCDP, 500000000, 1.0},
	{"rho 0.02", 8, {0, -3, 500, 5, 10, 40, 1, 2}, 3, true, PE_ZCDP, 20000000, 0.4},
	{"rho 1e-9", 3, {0, 1, 1000000}, 1, true, PE_ZCDP, 1, 8.944271909999159e-5},
	{"epsilon 1", 5, {0, 3, 5, 5, 10}, 7, true, PE_PURE, 1000000000, 1.0},
	{"epsilon 1, not monotone", 5, {0, 3, 5, 5, 10}, 7, false, PE_PURE, 1000000000, 0.5},
	{"epsilon 0.3", 6, {-9, -9, 12, 0, 3, 5}, 2, true, PE_PURE, 300000000, 0.3},
	{"gdp rho 0.5", 6, {0, 3, 5, 5, 10, 40}, 7, true, PE_GDP, 500000000, 1.6139306926099248},
	{"gdp rho 0.02, not monotone", 8, {0, -3, 50, 5, 10, 40, 1, 2}, 3, false, PE_GDP, 20000000, 0.15964958261524712},
	{"one", 1, {17}, 5, true, PE_ZCDP, 1, 1.0},
};

static void
weights_of(const selection *s, double *weight)
{
	int64_t		least = s->score[0];

	for (int i = 1; i < s->count; i++)
		least = s->score[i] < least ? s->score[i] : least;
	for (int i = 0; i < s->count; i++)
		weight[i] = exp(-s->rate * (double) (s->score[i] - least) / (double) s->sensitivity);
}

static void
law_of_exponential(const selection *s, double *p)
{
	double		sum = 0;

	weights_of(s, p);
	for (int i = 0; i < s->count; i++)
		sum += p[i];
	for (int i = 0; i < s->count; i++)
		p[i] /= sum;
}

/* Given which are left, each is as likely to be next: all orders, walked through. */
static void
walk(const double *weight, int count, unsigned left, double reached, double *p)
{
	int			many = __builtin_popcount(left);

	for (int i = 0; i < count; i++)
	{
		if ((left >> i & 1) == 0)
			continue;
		p[i] += reached / many * weight[i];
		if (weight[i] < 1)
			walk(weight, count, left & ~(1u << i), reached / many * (1 - weight[i]), p);
	}
}

static void
law_of_permute_and_flip(const selection *s, double *p)
{
	double		weight[MOST];

	weights_of(s, weight);
	for (int i = 0; i < s->count; i++)
		p[i] = 0;
	walk(weight, s->count, (1u << s->count) - 1, 1, p);
}

/* Shifted by what no 64 bits hold: only differences count. */
static const pe_i128 shifts[] = {0, (pe_i128) 1 << 100, -((pe_i128) 1 << 110)};

static void
check(const selection *s, double margin, pe_i128 shift, long n)
{
	double		p[MOST];
	long		seen[MOST] = {0};
	pe_i128		score[MOST];
	double		chi = 0;
	double		rare = 0;
	long		seen_rare = 0;
	int			bins = 0;
	pe_bits		bits;

	(s->accounting == PE_PURE ? law_of_permute_and_flip : law_of_exponential) (s, p);
	for (int i = 0; i < s->count; i++)
		score[i] = s->score[i] + shift;
	pe_bits_init(&bits);
	for (long draw = 0; draw < n; draw++)
		seen[pe_select_with(score, s->count, (pe_u128) s->sensitivity, s->monotone, s->accounting, s->nano, margin, &bits)]++;
	pe_bits_wipe(&bits);
	for (int i = 0; i < s->count; i++)
	{
		double		expected = p[i] * (double) n;

		/* what is rare goes together */
		if (expected < BIN_MIN)
		{
			rare += expected;
			seen_rare += seen[i];
			continue;
		}
		chi += ((double) seen[i] - expected) * ((double) seen[i] - expected) / expected;
		bins++;
	}
	if (rare >= BIN_MIN)
	{
		chi += ((double) seen_rare - rare) * ((double) seen_rare - rare) / rare;
		bins++;
	}
	else
		assert_true((double) seen_rare <= rare + 7 * sqrt(rare) + 30);
	if (bins > 1 && chi_square_tail(chi, bins - 1) < P_MIN)
		fail_msg("%s: chi-square %g in %d bins", s->name, chi, bins);
}

static void
test_law(void **state)
{
	(void) state;
	for (int i = 0; i < lengthof(selections); i++)
		for (int j = 0; j < lengthof(shifts); j++)
			check(&selections[i], PE_LAZY_MARGIN, shifts[j], scaled(100000));
}

/* No decision in double. */
static void
test_exact_path(void **state)
{
	(void) state;
	for (int i = 0; i < lengthof(selections); i++)
		check(&selections[i], INFINITY, 0, scaled(6000));
}

/* The table of laws is that of the mechanisms: sums to 1, and the rates are what the charge buys. */
static void
test_rates(void **state)
{
	(void) state;
	for (int i = 0; i < lengthof(selections); i++)
	{
		const selection *s = &selections[i];
		double		p[MOST];
		double		sum = 0;
		double		rate = s->accounting == PE_PURE ? (double) s->nano * 1e-9 : s->accounting == PE_ZCDP ? sqrt(8e-9 * (double) s->nano)
			: 2 * log(erfc(-sqrt(0.25e-9 * (double) s->nano)) / erfc(sqrt(0.25e-9 * (double) s->nano)));

		(s->accounting == PE_PURE ? law_of_permute_and_flip : law_of_exponential) (s, p);
		for (int j = 0; j < s->count; j++)
			sum += p[j];
		assert_true(fabs(sum - 1) < 1e-12);
		if (s->count > 1)
			assert_true(fabs(s->rate / (s->monotone ? rate : rate / 2) - 1) < 1e-9);
	}
}

/* Far beyond what a double holds exactly, and nearly nothing to choose by. */
static void
test_extremes(void **state)
{
	pe_i128		far[3] = {(pe_i128) 1 << 120, 0, -((pe_i128) 1 << 120)};
	pe_i128		near[2] = {5, 5};
	long		first = 0;
	long		n = scaled(100000);
	pe_bits		bits;

	(void) state;
	for (int i = 0; i < 1000; i++)
	{
		assert_int_equal(pe_select_least(far, 3, 1, true, PE_ZCDP, 1), 2);
		assert_int_equal(pe_select_least(far, 3, 1, false, PE_PURE, INT64_MAX), 2);
		assert_int_equal(pe_select_least(far, 3, (pe_u128) 1 << 100, true, PE_ZCDP, INT64_MAX), 2);
	}
	pe_bits_init(&bits);
	for (long i = 0; i < n; i++)
		first += pe_select_with(near, 2, (pe_u128) 1 << 110, i % 2 == 0, i % 3 == 0 ? PE_PURE : PE_ZCDP, 1 + i,
								PE_LAZY_MARGIN, &bits) == 0;
	pe_bits_wipe(&bits);
	assert_true(fabs((double) first - (double) n / 2) < Z_MAX * sqrt((double) n) / 2);
}

static int	kind;

static void
select_badly(void *arg)
{
	const pe_i128 *score = arg;

	pe_select_least(score, kind == 0 ? 0 : 2, kind == 1 ? 0 : kind == 2 ? (pe_u128) 1 << 120 : 1, true, PE_ZCDP,
					kind == 3 ? 0 : 1);
}

static void
test_refusals(void **state)
{
	pe_i128		score[2] = {1, 2};

	(void) state;
	for (kind = 0; kind < 4; kind++)
		assert_true(pe_test_is_bug(select_badly, score));
	assert_false(pe_test_is_bug(select_badly, score));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_law),
		cmocka_unit_test(test_exact_path),
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
