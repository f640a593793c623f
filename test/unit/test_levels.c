/*
 * test_levels.c
 *	  Wavelets and trees: values computed elsewhere, the shape of the matrices, and
 *	  expected errors against an inversion of the test's own.
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

#include "published/published.h"
#include "base/mem.h"
#include "level_weights.h"
#include "reference_strategies.h"
#include "numbers.h"
#include "shim.h"

/* Half a unit of the references' last decimal, and what their optimum lacks. */
#define DECIMALS 6e-5

/* ---- helpers ---- */

/* V of m random queries */
static double *
random_gram(int n, int m)
{
	double	   *w = pe_alloc((size_t) (m * n), sizeof(double));
	double	   *v = pe_alloc((size_t) (n * n), sizeof(double));

	for (int i = 0; i < m * n; i++)
		w[i] = between(-2, 3);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			for (int k = 0; k < m; k++)
				v[i + j * n] += w[k + i * m] * w[k + j * m];
	pe_free(w);
	return v;
}

static int32_t *
matrix_of(const pe_levels *levels)
{
	int32_t    *matrix = pe_alloc((size_t) levels->rows * (size_t) levels->n, sizeof(int32_t));

	pe_levels_matrix(levels, matrix);
	return matrix;
}

/* Gauss and Jordan, in long double; a is positive definite */
static void
invert(long double *a, int n)
{
	for (int k = 0; k < n; k++)
	{
		long double pivot = a[k + k * n];

		a[k + k * n] = 1.0L;
		for (int j = 0; j < n; j++)
			a[k + j * n] /= pivot;
		for (int i = 0; i < n; i++)
		{
			long double factor = a[i + k * n];

			if (i == k)
				continue;
			a[i + k * n] = 0.0L;
			for (int j = 0; j < n; j++)
				a[i + j * n] -= factor * a[k + j * n];
		}
	}
}

/* The expected error from the definition, and from the matrix's entries alone. */
static double
plain_error(const pe_levels *levels, const double *weights, const double *v, pe_norm norm)
{
	int			n = levels->n;
	int			m = levels->rows;
	int32_t    *matrix = matrix_of(levels);
	long double *a = pe_alloc((size_t) (m * n), sizeof(long double));
	long double *x = pe_alloc((size_t) (n * n), sizeof(long double));
	long double longest = 0.0L;
	long double trace = 0.0L;

	for (int j = 0; j < n; j++)
	{
		long double size = 0.0L;

		for (int i = 0; i < m; i++)
		{
			long double e = a[i + j * m] = matrix[i + j * m] * (weights != NULL ? weights[levels->row[i].level] : 1.0L);

			size += norm == PE_L1 ? fabsl(e) : e * e;
		}
		longest = fmaxl(longest, norm == PE_L1 ? size * size : size);
	}
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			for (int k = 0; k < m; k++)
				x[i + j * n] += a[k + i * m] * a[k + j * m];
	invert(x, n);
	for (int i = 0; i < n * n; i++)
		trace += x[i] * v[i];
	pe_free(x);
	pe_free(a);
	pe_free(matrix);
	return (double) (longest * trace);
}

/* ---- values computed elsewhere ---- */

static void
check_ratio(const pe_reference *reference, const char *strategy, double error, double expected)
{
	double		ratio = sqrt(error / reference->optimum);

	if (!(fabs(ratio - expected) <= DECIMALS))
		fail_msg("%s %d, %s: %.6f times the optimum, expected %.4f", reference->name, reference->n, strategy, ratio,
				 expected);
}

static bool
is_power(int n, int base)
{
	while (n % base == 0)
		n /= base;
	return n == 1;
}

static void
check_wavelet(const pe_reference *reference, const double *v)
{
	double		weights[40];
	pe_levels	levels;

	pe_levels_haar(reference->n, &levels);
	check_ratio(reference, "wavelet", pe_levels_error(&levels, NULL, v, PE_L2), reference->wavelet);
	levels_optimal_weights(&levels, v, PE_L2, weights);
	check_ratio(reference, "weighted wavelet", pe_levels_error(&levels, weights, v, PE_L2), reference->weighted);
	pe_levels_free(&levels);
}

static void
check_trees(const pe_reference *reference, const double *v)
{
	double		least = INFINITY;
	int			best = 0;
	pe_levels	levels;

	pe_levels_tree(reference->n, 2, true, &levels);
	check_ratio(reference, "binary tree", pe_levels_error(&levels, NULL, v, PE_L2), reference->binary);
	pe_levels_free(&levels);
	for (int branching = 2; branching <= reference->n; branching++)
	{
		double		error;

		if (!is_power(reference->n, branching))
			continue;
		error = pe_levels_tree_error(v, reference->n, branching, true, PE_L2);
		if (error < least * (1.0 - 1e-12))
		{
			least = error;
			best = branching;
		}
	}
	check_ratio(reference, "best tree", least, reference->tree);
	assert_int_equal(best, reference->branching);
	/* more trees are tried, and those without a root: it can only be better */
	if (best <= PE_MOST_BRANCHING)
	{
		pe_levels_best_tree(v, reference->n, PE_L2, &levels);
		assert_true(pe_levels_error(&levels, NULL, v, PE_L2) <= least * (1.0 + 1e-9));
		pe_levels_free(&levels);
	}
}

static void
test_references(void **state)
{
	int			checked = 0;

	for (int i = 0; i < PE_REFERENCES; i++)
	{
		const pe_reference *reference = &pe_references[i];
		double	   *v;

		if (reference->wavelet == 0.0 || (quick() && reference->n > 256))
			continue;
		v = pe_test_gram(reference);
		check_wavelet(reference, v);
		check_trees(reference, v);
		pe_free(v);
		checked++;
	}
	assert_true(quick() || checked == 24);
}

/* ---- the matrices ---- */

/* One entry of 1 or -1 in each column and level, and no row without any. */
static void
check_levels(const pe_levels *levels)
{
	int32_t    *matrix = matrix_of(levels);
	int			entries = 0;

	for (int j = 0; j < levels->n; j++)
		for (int l = 0; l < levels->levels; l++)
		{
			int			count = 0;

			for (int i = 0; i < levels->rows; i++)
				if (levels->row[i].level == l && matrix[i + j * levels->rows] != 0)
				{
					assert_int_equal(abs(matrix[i + j * levels->rows]), 1);
					count++;
				}
			assert_int_equal(count, 1);
			entries++;
		}
	for (int i = 0; i < levels->rows; i++)
	{
		assert_true(levels->row[i].first < levels->row[i].end);
		assert_true(i == 0 || levels->row[i].level >= levels->row[i - 1].level);
		entries -= levels->row[i].end - levels->row[i].first;
	}
	assert_int_equal(entries, 0);
	assert_true(levels->rows >= levels->n);
	pe_free(matrix);
}

static void
test_shapes(void **state)
{
	static const int32_t haar_of_3[] = {1, 1, 1, 0, 1, 1, -1, 0, 1, -1, 0, 1};
	static const int32_t tree_of_5[] = {
		1, 1, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0, 1
	};
	pe_levels	levels;
	int32_t    *matrix;

	pe_levels_haar(3, &levels);
	matrix = matrix_of(&levels);
	assert_int_equal(levels.rows, 4);
	assert_int_equal(levels.wavelet, 4);
	assert_memory_equal(matrix, haar_of_3, sizeof(haar_of_3));
	pe_free(matrix);
	pe_levels_free(&levels);
	pe_levels_tree(5, 3, true, &levels);
	matrix = matrix_of(&levels);
	assert_int_equal(levels.rows, 8);
	assert_int_equal(levels.wavelet, 0);
	assert_memory_equal(matrix, tree_of_5, sizeof(tree_of_5));
	pe_free(matrix);
	pe_levels_free(&levels);
	for (int n = 1; n <= 70; n++)
		for (int branching = 1; branching <= 9; branching++)
			for (int root = 0; root <= 1; root++)
			{
				if (branching == 1)
					pe_levels_haar(n, &levels);
				else
					pe_levels_tree(n, branching, root == 1, &levels);
				check_levels(&levels);
				if (branching > 1 && n > 1)
					assert_true((levels.row[0].end == n) == (root == 1));
				pe_levels_free(&levels);
			}
}

/* ---- errors ---- */

static void
compare_errors(const pe_levels *levels, const double *weights, const double *v, double tolerance)
{
	for (pe_norm norm = PE_L2; norm <= PE_L1; norm++)
	{
		double		error = pe_levels_error(levels, weights, v, norm);
		double		expected = plain_error(levels, weights, v, norm);

		if (!close_to(error, expected, tolerance))
			fail_msg("%d columns, %d levels: %.12g, expected %.12g", levels->n, levels->levels, error, expected);
	}
}

static void
test_errors(void **state)
{
	for (int turn = 0; turn < (quick() ? 6 : 100); turn++)
	{
		int			n = between(1, 20);
		double	   *v = random_gram(n, between(1, 30));
		double		weights[20];
		pe_levels	levels;

		for (int l = 0; l < lengthof(weights); l++)
			weights[l] = exp(uniform(-2.0, 2.0));
		if (turn % 3 == 0)
			pe_levels_haar(n, &levels);
		else
			pe_levels_tree(n, between(2, 5), turn % 3 == 1, &levels);
		compare_errors(&levels, NULL, v, 1e-10);
		compare_errors(&levels, weights, v, 1e-10);
		pe_levels_free(&levels);
		pe_free(v);
	}
}

/* The fast formula for trees is the slow one, and the best tree the best. */
static void
test_trees(void **state)
{
	for (int turn = 0; turn < (quick() ? 2 : 30); turn++)
	{
		int			n = turn == 0 ? 1 : between(2, 60);
		double	   *v = random_gram(n, between(1, 40));
		pe_norm		norm = turn % 2 == 0 ? PE_L1 : PE_L2;
		double		least = INFINITY;
		pe_levels	levels;

		for (int branching = 2; branching <= PE_MOST_BRANCHING; branching++)
			for (int root = 0; root <= 1; root++)
			{
				double		error;

				pe_levels_tree(n, branching, root == 1, &levels);
				error = pe_levels_error(&levels, NULL, v, norm);
				assert_true(close_to(pe_levels_tree_error(v, n, branching, root == 1, norm), error, 1e-9));
				least = fmin(least, error);
				pe_levels_free(&levels);
			}
		pe_levels_best_tree(v, n, norm, &levels);
		assert_true(close_to(pe_levels_error(&levels, NULL, v, norm), least, 1e-9));
		pe_levels_free(&levels);
		pe_free(v);
	}
}

/* Where each column is counted, a tree is only its leaves, and where the total counts for much it has a root. */
static void
test_root(void **state)
{
	enum
	{
		N = 16
	};
	double		v[N * N] = {0};
	pe_levels	levels;

	for (int i = 0; i < N; i++)
		v[i + i * N] = 1.0;
	pe_levels_best_tree(v, N, PE_L2, &levels);
	assert_int_equal(levels.levels, 1);
	assert_true(close_to(pe_levels_error(&levels, NULL, v, PE_L2), N, 1e-12));
	pe_levels_free(&levels);
	for (int i = 0; i < N * N; i++)
		v[i] += 100.0;
	pe_levels_best_tree(v, N, PE_L2, &levels);
	assert_int_equal(levels.row[0].end, N);
	assert_int_equal(levels.levels, 2);
	pe_levels_free(&levels);
}

/* ---- weights ---- */

/* No other weights do better; for a power of two the least error is the formula's. */
static void
test_weights(void **state)
{
	for (int turn = 0; turn < (quick() ? 6 : 60); turn++)
	{
		int			n = turn % 3 == 0 ? 1 << between(0, 5) : between(1, 33);
		pe_norm		norm = turn % 2 == 0 ? PE_L1 : PE_L2;
		double	   *v = random_gram(n, n + 3);
		double		weights[8];
		double		least;
		pe_levels	levels;

		pe_levels_haar(n, &levels);
		levels_optimal_weights(&levels, v, norm, weights);
		least = pe_levels_error(&levels, weights, v, norm);
		assert_true(least <= pe_levels_error(&levels, NULL, v, norm) * (1.0 + 1e-9) || n != levels.wavelet);
		for (int l = 0; l < levels.levels && n == levels.wavelet; l++)
			for (int sign = -1; sign <= 1; sign += 2)
			{
				double		before = weights[l];

				weights[l] *= 1.0 + 0.02 * sign;
				assert_true(pe_levels_error(&levels, weights, v, norm) >= least * (1.0 - 1e-12));
				weights[l] = before;
			}
		pe_levels_free(&levels);
		pe_free(v);
	}
}

/* Cut to n columns, the weighted wavelet is at least as good as the whole one whose other cells nobody asks for. */
static void
test_cut(void **state)
{
	for (int turn = 0; turn < (quick() ? 4 : 40); turn++)
	{
		int			n = between(3, 30);
		pe_norm		norm = turn % 2 == 0 ? PE_L1 : PE_L2;
		double	   *v = random_gram(n, n);
		double	   *padded;
		double		weights[8];
		double		whole_weights[8];
		pe_levels	levels;
		pe_levels	whole;

		pe_levels_haar(n, &levels);
		pe_levels_haar(levels.wavelet, &whole);
		padded = pe_alloc((size_t) (whole.n * whole.n), sizeof(double));
		for (int j = 0; j < n; j++)
			memcpy(padded + j * whole.n, v + j * n, (size_t) n * sizeof(double));
		levels_optimal_weights(&levels, v, norm, weights);
		levels_optimal_weights(&whole, padded, norm, whole_weights);
		assert_int_equal(levels.levels, whole.levels);
		for (int l = 0; l < levels.levels; l++)
			assert_true(close_to(weights[l], whole_weights[l], 1e-12));
		assert_true(pe_levels_error(&levels, weights, v, norm) <=
					pe_levels_error(&whole, weights, padded, norm) * (1.0 + 1e-9));
		pe_free(padded);
		pe_levels_free(&whole);
		pe_levels_free(&levels);
		pe_free(v);
	}
}

/* The total alone: every level but the first is worth nothing, and the matrix stays invertible. */
static void
test_total(void **state)
{
	double		v[64];
	double		weights[4];
	pe_levels	levels;

	for (int i = 0; i < 64; i++)
		v[i] = 1e-200;
	pe_levels_haar(8, &levels);
	for (pe_norm norm = PE_L2; norm <= PE_L1; norm++)
	{
		levels_optimal_weights(&levels, v, norm, weights);
		assert_true(weights[0] == 1.0 && weights[1] > 0.0 && weights[3] > 0.0);
		assert_true(close_to(pe_levels_error(&levels, weights, v, norm), 1e-200, 1e-3));
	}
	pe_levels_free(&levels);
}

/* ---- the host ---- */

static void
no_columns(void *levels)
{
	pe_levels_haar(0, levels);
}

static void
no_branches(void *levels)
{
	pe_levels_tree(4, 1, true, levels);
}

static void
weigh_tree(void *levels)
{
	double		v[4] = {1.0, 0.0, 0.0, 1.0};
	double		weights[2];

	pe_levels_tree(2, 2, true, levels);
	levels_optimal_weights(levels, v, PE_L2, weights);
}

static void
test_refusals(void **state)
{
	pe_levels	levels;

	assert_true(pe_test_is_bug(no_columns, &levels));
	assert_true(pe_test_is_bug(no_branches, &levels));
	assert_true(pe_test_is_bug(weigh_tree, &levels));
	pe_levels_free(&levels);
}

static void
test_memory(void **state)
{
	for (int n = 1; n <= 200; n += 33)
	{
		double	   *v = random_gram(n, 3);
		double		weights[10];
		pe_levels	levels;

		pe_test_memory();
		pe_levels_best_tree(v, n, PE_L2, &levels);
		pe_levels_error(&levels, NULL, v, PE_L2);
		assert_true(pe_test_memory() <= pe_levels_memory(n));
		pe_levels_free(&levels);
		pe_test_memory();
		pe_levels_haar(n, &levels);
		levels_optimal_weights(&levels, v, PE_L1, weights);
		pe_levels_error(&levels, weights, v, PE_L1);
		assert_true(pe_test_memory() <= pe_levels_memory(n));
		pe_levels_free(&levels);
		pe_free(v);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_references),
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_trees),
		cmocka_unit_test(test_root),
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_total),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_memory),
	};

	pe_test_seed(20100301);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
