/*
 * test_min_count.c
 *	  Minimum frequency: how often a group of too few units is shown, by the exact law of the noise.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "counts/min_count.h"
#include "noise/interval.h"
#include "noise/private.h"
#include "shim.h"

/* The most that the rule promises, and what the rounding of this test's own sums is worth. */
#define MOST_SHOWN (.025 + 1e-12)

/* P[k], -reach <= k <= reach; what is beyond is below 1e-13. */
typedef struct law
{
	int			reach;
	double	   *p;
} law;

static pe_noise
noise(pe_accounting accounting, double cost)
{
	return (pe_noise) {accounting, (pe_u128) 1, (int64_t) (cost * 1e9 + 0.5), 0, false};
}

/* sigma, or b */
static double
scale_of(const pe_noise *n)
{
	return n->accounting != PE_PURE ? sqrt(1 / (2e-9 * (double) n->nano)) : 1 / (1e-9 * (double) n->nano);
}

static law
law_of(const pe_noise *n)
{
	double		scale = scale_of(n);
	law			l = {(int) ceil((n->accounting != PE_PURE ? 8 : 32) * scale) + 1, NULL};
	double		sum = 0;

	l.p = calloc(2 * (size_t) l.reach + 1, sizeof(double));
	for (int k = -l.reach; k <= l.reach; k++)
	{
		l.p[l.reach + k] = n->accounting != PE_PURE ? exp(-0.5 * (k / scale) * (k / scale)) : exp(-abs(k) / scale);
		sum += l.p[l.reach + k];
	}
	for (int i = 0; i <= 2 * l.reach; i++)
		l.p[i] /= sum;
	return l;
}

static law
law_of_sum(const law *one, int n)
{
	law			sum = {0, calloc(1, sizeof(double))};

	sum.p[0] = 1;
	for (; n > 0; n--)
	{
		law			more = {sum.reach + one->reach, calloc(2 * (size_t) (sum.reach + one->reach) + 1, sizeof(double))};

		for (int i = 0; i <= 2 * sum.reach; i++)
			for (int j = 0; j <= 2 * one->reach; j++)
				more.p[i + j] += sum.p[i] * one->p[j];
		free(sum.p);
		sum = more;
	}
	return sum;
}

/* With which probability a group with this count is shown, where n numbers of noise are added up. */
static double
shown(const pe_min_count *rule, const pe_noise *one, int n, double count)
{
	law			of_one = law_of(one);
	law			sum = law_of_sum(&of_one, n);
	pe_confidence intervals;
	double		half;
	double		p = 0;

	pe_confidence_init(&intervals, one, n, PE_MISS);
	half = pe_confidence_half(&intervals, n, n);
	for (int s = -sum.reach; s <= sum.reach; s++)
		if (pe_min_count_shows(rule, count + s - half))
			p += sum.p[sum.reach + s];
	pe_confidence_free(&intervals);
	free(of_one.p);
	free(sum.p);
	return p;
}

/* All groups of fewer than k units, by rows or units, with one number of noise or several. */
static void
test_law(void **state)
{
	static const double costs[] = {5, .5, .1, .02, .005, .001};

	(void) state;
	for (int pure = 0; pure < 2; pure++)
		for (size_t c = 0; c < sizeof(costs) / sizeof(costs[0]); c++)
			for (int n = 1; n <= (costs[c] < .01 ? 1 : 3); n++)
				for (int rows = 1; rows <= 4; rows += 3)
				{
					pe_noise	one = noise(pure ? PE_PURE : PE_ZCDP, pure ? 5 * costs[c] : costs[c]);
					pe_min_count rule = {10, rows};

					assert_true(shown(&rule, &one, n, rows * 9.0) <= MOST_SHOWN);
					assert_true(shown(&rule, &one, n, 0) <= shown(&rule, &one, n, rows * 9.0));
					/* far more units are shown nearly always: the rule is no ban */
					assert_true(shown(&rule, &one, n, rows * 10.0 + 20 * scale_of(&one) * n + 40) > .99);
				}
}

/* Of much noise it is not far from that bound: a smaller h would break it. */
static void
test_close(void **state)
{
	pe_noise	one = noise(PE_ZCDP, .002);
	pe_min_count rule = {5, 1};

	(void) state;
	assert_true(shown(&rule, &one, 1, 4) > .02);
}

static void
test_rule(void **state)
{
	pe_min_count rule = {5, 2};
	pe_min_count none = {0, 2};

	(void) state;
	assert_true(pe_min_count_shows(&rule, 10));
	assert_false(pe_min_count_shows(&rule, 9.999));
	assert_false(pe_min_count_shows(&rule, -INFINITY));
	assert_false(pe_min_count_shows(&rule, NAN));
	assert_true(pe_min_count_shows(&none, NAN));
	assert_true(pe_min_count_shows(&none, -3));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_law),
		cmocka_unit_test(test_close),
		cmocka_unit_test(test_rule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
