/*
 * test_interval.c
 *	  95 % intervals, against laws that are summed number by number.
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
#include <stdlib.h>
#include <string.h>

#include "blocks/reconstruct.h"
#include "methods/make.h"
#include "noise/interval.h"
#include "noise/private.h"
#include "numbers.h"
#include "shim.h"
#include "statistics.h"

/* ----------
 * Laws
 * ----------
 */

/* P[k], -reach <= k <= reach, without the rest, which is below 1e-13. */
typedef struct table
{
	int			reach;
	double	   *p;				/* of 2 reach + 1 numbers */
} table;

static table
make_table(int reach)
{
	return (table) {reach, calloc(2 * (size_t) reach + 1, sizeof(double))};
}

static pe_noise
noise(pe_accounting accounting, int sensitivity, double cost)
{
	return (pe_noise) {accounting, (pe_u128) sensitivity, (int64_t) (cost * 1e9 + 0.5), 0, false};
}

/* sigma, or b = 1/a */
static double
scale_of(const pe_noise *n)
{
	return n->accounting != PE_PURE ? sqrt((double) n->sensitivity / (2e-9 * (double) n->nano))
		: (double) n->sensitivity / (1e-9 * (double) n->nano);
}

/* The law of weight times one number. */
static table
law_of_one(const pe_noise *n, int weight)
{
	double		scale = scale_of(n);
	int			reach = (int) ceil((n->accounting != PE_PURE ? 8 : 32) * scale) + 1;
	table		law = make_table(reach * weight);
	double		sum = 0;

	for (int k = reach; k >= 0; k--)
	{
		double		p = n->accounting != PE_PURE ? exp(-0.5 * (k / scale) * (k / scale)) : exp(-k / scale);

		law.p[law.reach + k * weight] = law.p[law.reach - k * weight] = p;
		sum += k == 0 ? p : 2 * p;
	}
	for (int i = 0; i <= 2 * law.reach; i++)
		law.p[i] /= sum;
	return law;
}

/* Ends below 1e-16 are left out. */
static table
convolve(const table *a, const table *b)
{
	table		full = make_table(a->reach + b->reach);
	table		kept;
	int			skip = 0;

	for (int i = 0; i <= 2 * a->reach; i++)
		for (int j = 0; a->p[i] != 0 && j <= 2 * b->reach; j++)
			full.p[i + j] += a->p[i] * b->p[j];
	while (full.p[skip] < 1e-16)
		skip++;
	kept = make_table(full.reach - skip);
	memcpy(kept.p, full.p + skip, (2 * (size_t) kept.reach + 1) * sizeof(double));
	free(full.p);
	return kept;
}

static double
within(const table *law, double half)
{
	double		sum = 0;

	for (int k = -law->reach; k <= law->reach; k++)
		if (fabs((double) k) <= half)
			sum += law->p[law->reach + k];
	return sum;
}

/* The law of a sum of n, by doubling. */
static table
law_of_sum(const pe_noise *one, int n)
{
	table		sum = make_table(0);
	table		power = law_of_one(one, 1);

	sum.p[0] = 1;
	for (; n > 0; n /= 2)
	{
		table		old = n % 2 == 1 ? sum : power;

		if (n % 2 == 1)
		{
			sum = convolve(&old, &power);
			free(old.p);
		}
		if (n == 1)
			break;
		old = power;
		power = convolve(&old, &old);
		free(old.p);
	}
	free(power.p);
	return sum;
}

/* ----------
 * Sums of equal weights
 * ----------
 */

/* The interval of a sum of n, times g, is the smallest that holds 95 %. */
static void
check_least(pe_accounting accounting, int sensitivity, double cost, int n)
{
	pe_noise	one = noise(accounting, sensitivity, cost);
	table		law = law_of_sum(&one, n);
	pe_confidence intervals;
	double		half;
	double		held;

	pe_confidence_init(&intervals, &one, n + 7, PE_MISS);
	half = pe_confidence_half(&intervals, n, n);
	assert_true(half == floor(half));
	assert_true(pe_confidence_half(&intervals, 9.0 * n, n) == 3 * half);
	held = within(&law, half);
	if (!(held >= 0.95) || (half > 0 && !(within(&law, half - 1) < 0.95 + 1e-8)) || (half > 0 && held - within(&law, half - 1) < 0.01 && held > 0.96))
	{
		fprintf(stderr, "accounting %d, sensitivity %d, cost %g, %d numbers: %g holds %.10f, less %.10f\n",
				(int) accounting, sensitivity, cost, n, half, held, within(&law, half - 1));
		fail();
	}
	pe_confidence_free(&intervals);
	free(law.p);
}

/* One number: epsilon from 0.01 to 10, of zCDP those rho that have sigma from 0.3 to 100. */
static void
test_one(void **state)
{
	(void) state;
	for (double epsilon = 0.01; epsilon < 10.01; epsilon *= 1.0233)
	{
		check_least(PE_PURE, 1, epsilon, 1);
		check_least(PE_PURE, 2, epsilon, 1);
		check_least(PE_ZCDP, 1, epsilon * epsilon / 2, 1);
		check_least(PE_ZCDP, 2, epsilon * epsilon / 20, 1);
	}
}

static void
test_sums(void **state)
{
	static const int counts[] = {2, 3, 4, 7, 20, 100};

	(void) state;
	for (int i = 0; i < lengthof(counts); i++)
		for (double epsilon = 0.2; epsilon < 12; epsilon *= 1.5)
		{
			check_least(PE_PURE, 1, epsilon, counts[i]);
			check_least(PE_ZCDP, 1, epsilon * epsilon / 2, counts[i]);
		}
}

/* Rounding numbers of summands up to 11 bits widens, and by less than one in a thousand. */
static void
test_many(void **state)
{
	static const int counts[] = {2047, 2048, 2049, 4095, 4097, 9000, 12345, 1 << 20};

	(void) state;
	for (int norm = 0; norm < 2; norm++)
		for (int i = 0; i < lengthof(counts); i++)
		{
			pe_noise	one = norm == 0 ? noise(PE_ZCDP, 1, 0.01) : noise(PE_PURE, 1, 0.2);
			double		normal = 1.959963985 * sqrt(counts[i]) * pe_noise_stderr(&one);
			pe_confidence intervals;
			double		half;

			pe_confidence_init(&intervals, &one, 1 << 20, PE_MISS);
			half = pe_confidence_half(&intervals, counts[i], counts[i]);
			assert_true(half + 0.5 >= 0.9999 * normal);
			assert_true(half <= 1.0012 * normal + 1);
			pe_confidence_free(&intervals);
		}
	check_least(PE_ZCDP, 1, 0.5, 2048);
	check_least(PE_ZCDP, 1, 5, 2048);
	check_least(PE_PURE, 1, 2, 2048);
}

/* Noise as wide as it gets: no series is too long, no number overflows. */
static void
test_wide(void **state)
{
	static const double half_of[2][3] = {{1.959963985, 1.959963985, 1.959963985}, {2.118308, 2.056502, 1.965205}};
	static const int counts[] = {1, 2, 40};

	(void) state;
	for (int norm = 0; norm < 2; norm++)
		for (int shift = 20; shift <= 60; shift += 20)
			for (int i = 0; i < lengthof(counts); i++)
			{
				pe_noise	one = {norm == 0 ? PE_ZCDP : PE_PURE, (pe_u128) 1 << (norm == 0 ? shift + 36 : shift), 1000000, 0, false};
				pe_confidence intervals;
				double		ratio;

				pe_confidence_init(&intervals, &one, 40, PE_MISS);
				ratio = pe_confidence_half(&intervals, counts[i], counts[i]) / (sqrt(counts[i]) * intervals.stderr_);
				if (fabs(ratio - half_of[norm][i]) > 1e-4)
				{
					fprintf(stderr, "norm %d, 2^%d, %d numbers: %.9f\n", norm, shift, counts[i], ratio);
					fail();
				}
				pe_confidence_free(&intervals);
			}
}

/* ----------
 * Less than 5 %
 * ----------
 */

/* What is beyond, from the small numbers on. */
static double
beyond(const table *law, double half)
{
	double		sum = 0;

	for (int k = law->reach; k > half; k--)
		sum += law->p[law->reach + k] + law->p[law->reach - k];
	return sum;
}

/*
 * Of so many groups without rows one is shown with a chance of at most 5 %, if each is where its noise is beyond the interval that misses
 * 0.05 / groups.  One step less would break that; a sum's series has an error of some digits.
 */
static void
check_groups(pe_accounting accounting, double cost, int n, double groups)
{
	pe_noise	one = noise(accounting, 1, cost);
	table		law = law_of_sum(&one, n);
	pe_confidence intervals;
	double		half;

	pe_confidence_init(&intervals, &one, n, 0.05 / groups);
	half = pe_confidence_half(&intervals, n, n);
	if (!(groups * beyond(&law, half) <= 0.05) || (half > 0 && !(groups * beyond(&law, half - 1) > 0.05 * (1 - 1e-3))))
	{
		fprintf(stderr, "accounting %d, cost %g, %d numbers, %g groups: %g shows %.10f, less %.10f\n",
				(int) accounting, cost, n, groups, half, groups * beyond(&law, half), groups * beyond(&law, half - 1));
		fail();
	}
	assert_true(pe_confidence_half(&intervals, n, 0) >= half);
	pe_confidence_free(&intervals);
	free(law.p);
}

static void
test_groups(void **state)
{
	static const double groups[] = {1, 10, 1000, 100000};

	(void) state;
	for (int i = 0; i < lengthof(groups); i++)
		for (double epsilon = 0.02; epsilon < 12; epsilon *= 1.31)
			for (int n = 1; n <= (epsilon > 0.3 ? 9 : 1); n *= 3)
			{
				check_groups(PE_ZCDP, epsilon * epsilon / 2, n, groups[i]);
				check_groups(PE_PURE, epsilon, n, groups[i]);
			}
}

/* ----------
 * Any weights
 * ----------
 */
static void
check_any(pe_accounting accounting, double cost, const int *weight, int count)
{
	pe_noise	one = noise(accounting, 1, cost);
	table		law = make_table(0);
	double		square = 0;
	pe_confidence intervals;
	double		half;

	law.p[0] = 1;
	for (int i = 0; i < count; i++)
	{
		table		next = law_of_one(&one, weight[i]);
		table		old = law;

		law = convolve(&old, &next);
		square += (double) weight[i] * weight[i];
		free(old.p);
		free(next.p);
	}
	pe_confidence_init(&intervals, &one, count, PE_MISS);
	half = pe_confidence_half(&intervals, square, 0);
	if (!(within(&law, half) >= 0.95))
	{
		fprintf(stderr, "accounting %d, cost %g, %d weights: %g holds %.10f\n", (int) accounting, cost, count, half, within(&law, half));
		fail();
	}
	pe_confidence_free(&intervals);
	free(law.p);
}

static void
test_any(void **state)
{
	static const int weights[][4] = {{1}, {7}, {1, 1, 1, 1}, {1, 2}, {1, 10}, {1, 2, 3, 4}, {5, 5, 1, 1}, {3, 4, 5, 6}, {1, 20, 20}};

	(void) state;
	for (int w = 0; w < lengthof(weights); w++)
		for (double epsilon = 0.5; epsilon < 12; epsilon *= 1.26)
		{
			int			count = 0;

			while (count < 4 && weights[w][count] != 0)
				count++;
			check_any(PE_PURE, epsilon, weights[w], count);
			check_any(PE_ZCDP, epsilon * epsilon / 2, weights[w], count);
		}
}

/* How wide: 2.1569 standard deviations of wide Laplace noise, 1.96 of Gaussian, and not above Chebyshev's. */
static void
test_any_width(void **state)
{
	pe_noise	noises[] = {
		{PE_PURE, 1000000, 1000000000, 0, false}, {PE_ZCDP, (pe_u128) 1000000 * 1000000, 1000000000, 0, false}, {PE_ZCDP, 200, 1000000000, 0, false},
		{PE_ZCDP, 1, 500000000, 0, false}, {PE_PURE, 1, 3000000000, 0, false},
		/* of sums: a large sensitivity, of whose noise digits are rounded off */
		{PE_ZCDP, (pe_u128) 1 << 70, 1000000, 20, true}, {PE_GDP, (pe_u128) 1 << 70, 1000000, 20, true}, {PE_PURE, (pe_u128) 1 << 50, 1000000, 20, true}
	};
	static const double most[] = {2.1571, 1.9602, 2.25, 2.717, 4.4722, 1.9602, 1.9602, 2.1571};

	(void) state;
	for (int i = 0; i < lengthof(noises); i++)
	{
		pe_confidence intervals;
		double		ratio;

		pe_confidence_init(&intervals, &noises[i], 1000, PE_MISS);
		ratio = pe_confidence_half(&intervals, 4, 0) / (2 * pe_noise_stderr(&noises[i]));
		assert_true(ratio >= 1.959);
		if (ratio > most[i])
			fprintf(stderr, "noise %d: %.6f\n", i, ratio);
		assert_true(ratio <= most[i]);
		pe_confidence_free(&intervals);
	}
}

/* Continuous Laplace numbers of every two weights: P[|S| > x] in closed form. */
static void
test_two_laplace(void **state)
{
	pe_noise	one = {PE_PURE, 1000000, 1000000000, 0, false};
	pe_confidence intervals;

	(void) state;
	pe_confidence_init(&intervals, &one, 2, PE_MISS);
	for (double ratio = 0.001; ratio < 1; ratio += 0.001)
	{
		double		x = pe_confidence_half(&intervals, 1 + ratio * ratio, 0) / 1e6;
		double		missed = (exp(-x) - ratio * ratio * exp(-x / ratio)) / (1 - ratio * ratio);

		assert_true(missed <= 0.05);
	}
	pe_confidence_free(&intervals);
}

/* ----------
 * Draws
 * ----------
 */
static double
held_of_draws(const pe_noise *one, int n, double half, long draws)
{
	pe_i128	   *exact = calloc(n * draws, sizeof(*exact));
	int64_t    *drawn = calloc(n * draws, sizeof(*drawn));
	long		held = 0;

	pe_noise_release(one, exact, n * draws, drawn);
	for (long i = 0; i < draws; i++)
	{
		double		sum = 0;

		for (int k = 0; k < n; k++)
			sum += (double) drawn[i * n + k];
		held += fabs(sum) <= half;
	}
	free(exact);
	free(drawn);
	return (double) held / (double) draws;
}

/* Six standard deviations and more below 95 %: 0.945 for 10^5 draws. */
static void
test_draws(void **state)
{
	static const double costs[] = {0.01, 0.3, 1, 2, 8};
	long		draws = scaled(100000);
	double		least = 0.95 - 0.005 * sqrt(1e5 / (double) draws);

	(void) state;
	for (int i = 0; i < lengthof(costs); i++)
		for (int norm = 0; norm < 2; norm++)
			for (int n = 1; n <= 3; n += 2)
			{
				pe_noise	one = noise(norm == 0 ? PE_ZCDP : PE_PURE, 1, costs[i]);
				pe_confidence intervals;

				pe_confidence_init(&intervals, &one, n, PE_MISS);
				assert_true(held_of_draws(&one, n, pe_confidence_half(&intervals, n, n), draws) >= least);
				assert_true(held_of_draws(&one, n, pe_confidence_half(&intervals, n, 0), draws) >= least);
				pe_confidence_free(&intervals);
			}
}

/* ----------
 * What an estimate is a sum of
 * ----------
 */
/* The estimate of what is such a sum is a whole number. */
static void
check_whole(const pe_reconstruction *r, const int32_t *summands)
{
	int64_t    *y = calloc(r->measured->strategy->rows, sizeof(*y));
	double	   *estimate = calloc(r->workload->queries, sizeof(double));

	for (int i = 0; i < r->measured->strategy->rows; i++)
		y[i] = 1000 + i * i * 7;
	pe_reconstruction_estimate(r, y, estimate);
	for (int q = 0; q < r->workload->queries; q++)
		assert_true(summands[q] == 0 || fabs(estimate[q] - rint(estimate[q])) < 1e-6);
	free(y);
	free(estimate);
}

/* Of a query whose number is told instead of checked. */
#define ANY (-1)

static void
check_summands(const char *text, pe_method method, pe_accounting accounting, int *expected)
{
	pe_workload workload;
	pe_text_error error;
	pe_classes	classes;
	pe_strategy strategy;
	pe_reconstruction r;
	const pe_workload *list = &workload;
	double	   *variance;
	int32_t    *summands;

	assert_true(pe_workload_parse(text, NULL, &workload, &error));
	pe_classes_init(&list, 1, &classes);
	assert_int_equal(pe_strategy_make(&(pe_strategy_problem) {.workload = &workload, .classes = &classes, .method = method,
		.objective = PE_SUM, .norm = accounting == PE_PURE ? PE_L1 : PE_L2, .gap = 1e-3}, &strategy), PE_STRATEGY_OK);
	pe_strategy_bind(&strategy, &workload);
	assert_true(pe_reconstruction_init(&(pe_measured) {&workload, &strategy, NULL, NULL}, &workload, &r));
	variance = calloc(workload.queries, sizeof(double));
	summands = calloc(workload.queries, sizeof(int32_t));
	pe_reconstruction_variance(&r, variance);
	pe_reconstruction_summands(&r, variance, summands);
	for (int q = 0; q < workload.queries; q++)
		if (expected[q] == ANY)
			expected[q] = summands[q];
		else
			assert_int_equal(summands[q], expected[q]);
	check_whole(&r, summands);
	free(variance);
	free(summands);
	pe_reconstruction_free(&r);
	pe_strategy_free(&strategy);
	pe_classes_free(&classes);
	pe_workload_free(&workload);
}

static void
test_summands(void **state)
{
	static int ones[] = {1, 1, 1, 1, 1, 1};
	static int prefixes[] = {1, 2, 3, 4};
	static int weighted[] = {1, 3, 2, 0, 0, 0, 1};
	static int unknown[] = {0, 0, 0, 0};
	int			margins[20];
	int			found = 0;

	(void) state;
	check_summands("identity(6)", PE_METHOD_OPTIMAL, PE_ZCDP, ones);
	check_summands("prefix(4)", PE_METHOD_DIRECT, PE_ZCDP, ones);
	check_summands("prefix(4)", PE_METHOD_IDENTITY, PE_PURE, prefixes);
	check_summands("matrix({{0,0,5},{3,-3,3},{-1,0,1},{1,2,0},{0,0,0},{1,1,-2},{1,0,0}})", PE_METHOD_IDENTITY, PE_ZCDP, weighted);
	check_summands("prefix(4)", PE_METHOD_OPTIMAL, PE_ZCDP, unknown);
	/* a basis of 19 of the 20 rows is measured */
	for (int q = 0; q < 20; q++)
		margins[q] = ANY;
	check_summands("identity(10) * total(10) + total(10) * identity(10)", PE_METHOD_OPTIMAL, PE_PURE, margins);
	for (int q = 0; q < 20; q++)
		found += margins[q];
	assert_int_equal(found, 19);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_wide),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_any),
		cmocka_unit_test(test_any_width),
		cmocka_unit_test(test_two_laplace),
		cmocka_unit_test(test_draws),
		cmocka_unit_test(test_summands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
