/*
 * test_nonnegative.c
 *	  Estimates without negative cells: against brute force over all sets of
 *	  cells at 0, and by the conditions of optimality.
 *
 * Random cases come from a fixed seed, so failures repeat; with PG_EPSILON_QUICK
 * set there are far fewer.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "blocks/reconstruct.h"
#include "numbers.h"
#include "shim.h"

/* The most cells of a case for brute force. */
#define SMALL 8

/* ---- helpers ---- */

/* Not normal, but near enough: the sum of twelve uniforms less six. */
static double
random_normal(void)
{
	double		sum = -6;

	for (int i = 0; i < 12; i++)
		sum += (double) (random_word() >> 11) * 0x1p-53;
	return sum;
}

#define cases(count) fewer(count, 20)

static double
sum_of(int n, const double *x)
{
	double		sum = 0;

	for (int i = 0; i < n; i++)
		sum += x[i];
	return sum;
}

static double
objective(int rows, int n, const double *a, const double *y, const double *x)
{
	double		sum = 0;

	for (int i = 0; i < rows; i++)
	{
		double		error = -y[i];

		for (int j = 0; j < n; j++)
			error += a[i * n + j] * x[j];
		sum += error * error;
	}
	return sum;
}

/* Solves a square system in place by elimination; false if it is singular. */
static bool
eliminate(int n, double *m, double *b)
{
	for (int k = 0; k < n; k++)
	{
		int			best = k;

		for (int i = k + 1; i < n; i++)
			if (fabs(m[i * n + k]) > fabs(m[best * n + k]))
				best = i;
		if (fabs(m[best * n + k]) < 1e-9)
			return false;
		for (int j = 0; j < n; j++)
		{
			double		swap = m[k * n + j];

			m[k * n + j] = m[best * n + j];
			m[best * n + j] = swap;
		}
		double		swap = b[k];

		b[k] = b[best];
		b[best] = swap;
		for (int i = 0; i < n; i++)
		{
			double		factor = i == k ? 0 : m[i * n + k] / m[k * n + k];

			for (int j = k; j < n && factor != 0; j++)
				m[i * n + j] -= factor * m[k * n + j];
			b[i] -= factor * b[k];
		}
	}
	for (int k = 0; k < n; k++)
		b[k] /= m[k * n + k];
	return true;
}

/* Least squares over the cells of a set with the total kept; false if that is not one point, or has a negative cell. */
static bool
solve_on(int rows, int n, const double *a, const double *y, const double *total, unsigned set, double *x)
{
	double		m[(SMALL + 1) * (SMALL + 1)] = {0};
	double		b[SMALL + 1] = {0};
	int			cell[SMALL];
	int			count = 0;
	int			size;

	for (int j = 0; j < n; j++)
		if (set >> j & 1)
			cell[count++] = j;
	size = count + (total != NULL);
	for (int s = 0; s < count; s++)
	{
		for (int t = 0; t < count; t++)
			for (int i = 0; i < rows; i++)
				m[s * size + t] += a[i * n + cell[s]] * a[i * n + cell[t]];
		for (int i = 0; i < rows; i++)
			b[s] += a[i * n + cell[s]] * y[i];
		if (total != NULL)
			m[s * size + count] = m[count * size + s] = 1;
	}
	if (total != NULL)
		b[count] = *total;
	if (!eliminate(size, m, b))
		return false;
	memset(x, 0, n * sizeof(double));
	for (int s = 0; s < count; s++)
	{
		if (b[s] < -1e-9)
			return false;
		x[cell[s]] = b[s];
	}
	return true;
}

static double
brute_force(int rows, int n, const double *a, const double *y, const double *total, double *best)
{
	double		least = INFINITY;

	for (unsigned set = total != NULL; set < 1u << n; set++)
	{
		double		x[SMALL];

		if (!solve_on(rows, n, a, y, total, set, x))
			continue;
		if (objective(rows, n, a, y, x) < least)
		{
			least = objective(rows, n, a, y, x);
			memcpy(best, x, n * sizeof(double));
		}
	}
	return least;
}

/* ---- least squares ---- */

/* A random case in all shapes: few or many rows, small or large entries, y near a nonnegative x or anywhere. */
static void
compare_with_brute_force(int rows, int n, bool keeps_total)
{
	double		a[SMALL * SMALL];
	double		given[SMALL * SMALL];
	double		y[SMALL];
	double		measured[SMALL];
	double		x[SMALL];
	double		best[SMALL];
	double		total = 1 + random_below(20);
	double		least;

	for (int i = 0; i < rows * n; i++)
		given[i] = a[i] = random_below(7) - 2;
	for (int i = 0; i < rows; i++)
		measured[i] = y[i] = random_below(41) - 20;
	for (int j = 0; j < n; j++)
		x[j] = random_below(5) - 2;
	least = brute_force(rows, n, given, measured, keeps_total ? &total : NULL, best);
	assert_true(pe_nonnegative_least_squares(rows, n, a, y, keeps_total ? &total : NULL, x) <= PE_NONNEGATIVE_RESIDUAL);
	for (int j = 0; j < n; j++)
		assert_true(x[j] >= 0);
	if (keeps_total)
		assert_true(fabs(sum_of(n, x) - total) <= 1e-8 * total);
	assert_true(fabs(objective(rows, n, given, measured, x) - least) <= 1e-6 * (1 + least));
	/* the point itself, where there is one only: seen from every measurement */
	for (int i = 0; i < rows; i++)
	{
		double		difference = 0;

		for (int j = 0; j < n; j++)
			difference += given[i * n + j] * (x[j] - best[j]);
		assert_true(fabs(difference) <= 1e-4);
	}
}

static void
test_brute_force(void **state)
{
	for (int i = 0; i < cases(4000); i++)
	{
		int			n = 1 + random_below(SMALL);
		int			rows = 1 + random_below(n);

		compare_with_brute_force(random_below(2) ? n : rows, n, random_below(2));
	}
}

static void
test_nearest(void **state)
{
	for (int i = 0; i < cases(4000); i++)
	{
		int			n = 1 + random_below(SMALL);
		double		total = 1 + random_below(30);
		double		a[SMALL * SMALL] = {0};
		double		y[SMALL];
		double		x[SMALL];
		double		best[SMALL];

		for (int j = 0; j < n; j++)
		{
			a[j * n + j] = 1;
			x[j] = y[j] = random_below(21) - 10;
		}
		pe_nonnegative_nearest(n, total, x);
		brute_force(n, n, a, y, &total, best);
		for (int j = 0; j < n; j++)
			assert_true(x[j] >= 0 && fabs(x[j] - best[j]) < 1e-9);
	}
}

/* ---- strategies ---- */

static void
parse(const char *text, pe_workload *workload)
{
	pe_text_error error;

	if (!pe_workload_parse(text, NULL, workload, &error))
		fail_msg("%s: %s", text, error.message);
}

static void
optimal(const pe_workload *workload, pe_strategy *strategy)
{
	pe_classes	classes;

	pe_classes_init(&workload, 1, &classes);
	assert_int_equal(pe_strategy_optimal(workload, &classes, NULL, 1e-3, strategy), PE_STRATEGY_OK);
	pe_classes_free(&classes);
}

/* Measures sparse counts: most cells are empty, so that about half of the estimates are below 0. */
static void
measure(const pe_strategy *strategy, double sigma, int64_t *y)
{
	int64_t    *x = pe_alloc(strategy->columns, sizeof(int64_t));
	pe_i128    *exact = pe_alloc(strategy->rows, sizeof(pe_i128));
	pe_u128		sensitivity_sq;

	assert_true(pe_strategy_sensitivity_sq(strategy, PE_ADD_REMOVE, 1, &sensitivity_sq));
	for (int32_t j = 0; j < strategy->columns; j++)
		x[j] = random_below(4) == 0 ? random_below(1000) : 0;
	pe_strategy_apply(strategy, x, exact);
	for (int32_t i = 0; i < strategy->rows; i++)
		y[i] = (int64_t) exact[i] + (int64_t) (sigma * sqrt((double) sensitivity_sq) * random_normal());
	pe_free(x);
	pe_free(exact);
}

/*
 * The conditions of optimality in the measurement space, with the multiplier of
 * the total from the cells above 0.
 */
static void
check_optimal(const pe_strategy *strategy, bool keeps_total, const int64_t *y, const double *x)
{
	int32_t		n = strategy->columns;
	double	   *a = pe_alloc((size_t) strategy->rows * n, sizeof(double));
	double	   *slope = pe_alloc(n, sizeof(double));
	double	   *whole = pe_alloc(n, sizeof(double));
	double		lambda = 0;
	double		weight = 0;
	double		scale = 0;

	pe_strategy_matrix(strategy, a);
	for (int32_t i = 0; i < strategy->rows; i++)
	{
		double		error = -(double) y[i];

		for (int32_t j = 0; j < n; j++)
			error += a[(size_t) i * n + j] * x[j];
		for (int32_t j = 0; j < n; j++)
		{
			slope[j] += a[(size_t) i * n + j] * error;
			whole[j] += a[(size_t) i * n + j] * (double) y[i];
		}
	}
	for (int32_t j = 0; j < n; j++)
	{
		lambda += x[j] * slope[j];
		weight += x[j];
		scale = fmax(scale, fabs(whole[j]));
	}
	lambda = keeps_total && weight > 0 ? lambda / weight : 0;
	for (int32_t j = 0; j < n; j++)
	{
		assert_true(x[j] >= 0);
		assert_true(slope[j] - lambda >= -1e-8 * scale);
		assert_true(x[j] < 1e-3 || fabs(slope[j] - lambda) <= 1e-8 * scale);
	}
	pe_free(a);
	pe_free(slope);
	pe_free(whole);
}

static void
check_measurements(const pe_strategy *strategy, const char *what, double sigma, bool keeps_total)
{
	int64_t    *y = pe_alloc(strategy->rows, sizeof(int64_t));
	double	   *x = pe_alloc(strategy->columns, sizeof(double));
	double	   *again = pe_alloc(strategy->columns, sizeof(double));
	double	   *free_x = pe_alloc(strategy->columns, sizeof(double));
	double		certificate;
	double		total;
	uint64_t	polls;
	clock_t		start;

	measure(strategy, sigma, y);
	pe_strategy_solve(strategy, y, free_x);
	total = sum_of(strategy->columns, free_x);
	polls = pe_test_polls();
	start = clock();
	certificate = pe_strategy_solve_nonnegative(strategy, y, x);
	print_message("# %s, sigma %g: %d of rank %d, %.2f s, residual %.1e\n", what, sigma, strategy->columns, strategy->inner,
				  (double) (clock() - start) / CLOCKS_PER_SEC, certificate);
	assert_true(certificate <= PE_NONNEGATIVE_RESIDUAL);
	/* it can be cancelled */
	assert_true((strategy->triangle == NULL && strategy->dense == NULL) || total <= 0 || pe_test_polls() > polls);
	if (keeps_total)
		assert_true(fabs(sum_of(strategy->columns, x) - fmax(total, 0)) <= 1e-9 * fabs(total));
	if (!keeps_total || total > 0)
		check_optimal(strategy, keeps_total, y, x);
	pe_strategy_solve_nonnegative(strategy, y, again);
	assert_memory_equal(x, again, strategy->columns * sizeof(double));
	pe_free(y);
	pe_free(x);
	pe_free(again);
	pe_free(free_x);
}

static void
check_measured(const char *text, double sigma, bool keeps_total)
{
	pe_workload workload;
	pe_strategy strategy;

	parse(text, &workload);
	optimal(&workload, &strategy);
	check_measurements(&strategy, text, sigma, keeps_total);
	pe_strategy_free(&strategy);
	pe_workload_free(&workload);
}

static void
check_strategy(const char *text, double sigma)
{
	check_measured(text, sigma, true);
}

static void
test_strategies(void **state)
{
	static const char *const texts[] = {
		"identity(1)", "identity(40)", "identity(4) * identity(6)", "all_range(2)", "all_range(30)", "prefix(64)",
		"all_range(8) * all_range(8)", "prefix(5) * identity(3) + total(5) * total(3)",
		"identity(6) * total(5) + total(6) * identity(5)", "identity(6) * total(5) + 1000 * total(6) * identity(5)",
		"width_range(12,4)", "all_range(20) + 1000 * total(20)", "identity(20) + 0.001 * prefix(20)"
	};
	static const double sigmas[] = {0.1, 10, 1000, 1e6};

	for (int i = 0; i < lengthof(texts); i++)
		for (int s = 0; s < lengthof(sigmas); s++)
			check_strategy(texts[i], sigmas[s]);
}

/* Marginals: far fewer measurements than cells. */
static void
test_marginals(void **state)
{
	check_strategy("identity(5) * identity(6) * total(7) + identity(5) * total(6) * identity(7) + total(5) * identity(6) * identity(7)", 10);
	check_strategy("identity(9) * identity(8) * total(5) + total(9) * total(8) * identity(5)", 100);
}

/* Where nothing says what the total is, nothing is kept. */
static void
test_no_total(void **state)
{
	static const double sigmas[] = {0.1, 10, 1000, 1e6};

	for (int s = 0; s < lengthof(sigmas); s++)
	{
		check_measured("ranges(10; 0-4, 2-6)", sigmas[s], false);
		check_measured("width_range(14,4)", sigmas[s], false);
		check_measured("matrix({{1,-1,0},{0,1,-1}})", sigmas[s], false);
	}
}

/* ---- dense strategies ---- */

/* A binary tree over 32 cells: 63 rows, every node once. */
static void
make_tree(pe_strategy *tree)
{
	int32_t		row = 0;

	*tree = (pe_strategy) {.classes = 32, .columns = 32, .inner = 32, .rows = 63};
	tree->dense = pe_alloc(63 * 32, sizeof(int32_t));
	for (int32_t width = 32; width > 0; width /= 2)
		for (int32_t from = 0; from < 32; from += width, row++)
			for (int32_t j = from; j < from + width; j++)
				tree->dense[j * 63 + row] = 1;
}

/* Random rows, many of them, over sums of neighbours: the total is a sum of these where there is an even number. */
static void
make_sums(pe_strategy *sums, int32_t columns)
{
	*sums = (pe_strategy) {.classes = columns, .columns = columns, .inner = columns - 1, .rows = 3 * columns};
	sums->dense = pe_alloc((size_t) sums->rows * sums->inner, sizeof(int32_t));
	sums->basis = pe_alloc((size_t) sums->inner * columns, sizeof(int32_t));
	for (int32_t i = 0; i < sums->rows * sums->inner; i++)
		sums->dense[i] = random_below(100) - 20;
	for (int32_t i = 0; i < sums->inner; i++)
		sums->basis[i * columns + i] = sums->basis[i * columns + i + 1] = 1;
}

static void
test_dense(void **state)
{
	static const double sigmas[] = {0.1, 10, 1000, 1e6};
	pe_strategy strategy;

	for (int s = 0; s < lengthof(sigmas); s++)
	{
		make_tree(&strategy);
		check_measurements(&strategy, "tree", sigmas[s], true);
		pe_strategy_free(&strategy);
		for (int32_t columns = 9; columns <= 12; columns++)
		{
			make_sums(&strategy, columns);
			check_measurements(&strategy, "sums", sigmas[s], columns % 2 == 0);
			pe_strategy_free(&strategy);
		}
	}
}

/* About a second is allowed. */
static void
test_large(void **state)
{
	int			n = getenv("PG_EPSILON_QUICK") != NULL ? 64 : 1024;
	char		text[64];

	snprintf(text, sizeof(text), "all_range(%d)", n);
	check_strategy(text, 20);
	snprintf(text, sizeof(text), "prefix(%d) + identity(%d)", n, n);
	check_strategy(text, 1000);
}

/* A total that is not above 0: nothing is counted. */
static void
test_negative_total(void **state)
{
	pe_workload workload;
	pe_strategy strategy;
	int64_t		y[5];
	double		x[5];

	parse("identity(5)", &workload);
	optimal(&workload, &strategy);
	for (int total = -1; total <= 0; total++)
	{
		memcpy(y, (int64_t[]) {7, -3, 2, -6, total}, sizeof(y));
		assert_true(pe_strategy_solve_nonnegative(&strategy, y, x) == 0);
		for (int j = 0; j < 5; j++)
			assert_true(x[j] == 0);
	}
	pe_strategy_free(&strategy);
	pe_workload_free(&workload);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_brute_force),
		cmocka_unit_test(test_nearest),
		cmocka_unit_test(test_strategies),
		cmocka_unit_test(test_marginals),
		cmocka_unit_test(test_no_total),
		cmocka_unit_test(test_dense),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_negative_total),
	};

	pe_test_seed(20240304);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
