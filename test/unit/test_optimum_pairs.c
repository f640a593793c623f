/*
 * test_optimum_pairs.c
 *	  The strategy for neighbours that differ by a substitution: its bound against
 *	  strategies that were searched for by other means, what it tells against X itself.
 *
 * Random cases come from a fixed seed, so failures repeat; with PG_EPSILON_QUICK
 * set there are far fewer, and smaller ones.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certificate.h"
#include "shim.h"

#define cases(count) fewer(count, 20)

/* From W (m x n by columns), which is freed: the optimum of add_remove, then that of substitution. */
static double *
solve(double *w, int m, int n, double gap, pe_optimum *before, pe_optimum *result)
{
	double	   *v = gram(w, m, n);

	pe_free(w);
	pe_optimum_solve(v, n, 1e-7, before);
	pe_optimum_solve(v, n, 1e-7, result);
	pe_optimum_pairs(v, gap, result);
	return v;
}

static double *
random_queries(int m, int n)
{
	double	   *w = matrix(m, n);

	for (int i = 0; i < m * n; i++)
		w[i] = between(-3, 3);
	for (int j = 0; j < n; j++)
		w[j % m + j * m] += 7 * (j + 1);	/* no column of zeros, no two alike */
	return w;
}

static double *
ranges(int n, bool all)
{
	int			m = all ? n * (n + 1) / 2 : n;
	double	   *w = matrix(m, n);
	int			row = 0;

	for (int lo = 0; lo < (all ? n : 1); lo++)
		for (int hi = lo; hi < n; hi++, row++)
			for (int j = lo; j <= hi; j++)
				w[row + j * m] = 1.0;
	return w;
}

/* The Gram matrix of all ranges, which would have too many rows, of prefixes, or of random queries. */
static double *
large_gram(const char *kind, int n)
{
	double	   *v = matrix(n, n);

	for (int j = 0; j < n; j++)
		for (int i = 0; i < n; i++)
		{
			int			less = i < j ? i : j;
			int			more = i < j ? j : i;

			v[i + j * n] = strcmp(kind, "prefix") == 0 ? n - more : (less + 1.0) * (n - more);
		}
	if (strcmp(kind, "random") == 0)
	{
		pe_free(v);
		v = gram(random_queries(n, n), n, n);
	}
	return v;
}

/* ---- by other means ---- */

/* The largest X_ii and (e_i - e_j)'X(e_i - e_j). */
static double
largest_distance(const double *x, int n)
{
	double		largest = 0.0;

	for (int i = 0; i < n; i++)
		for (int j = 0; j <= i; j++)
			largest = fmax(largest, i == j ? x[i + i * n] : x[i + i * n] + x[j + j * n] - 2.0 * x[i + j * n]);
	return largest;
}

static double *
square(const pe_optimum *optimum)
{
	double	   *x = matrix(optimum->n, optimum->n);

	if (optimum->full)
		memcpy(x, optimum->x, pe_la_square(optimum->n) * sizeof(double));
	else
	{
		pe_la_syrk(true, optimum->n, optimum->rank, 1.0, optimum->factor, optimum->rank, 0.0, x, optimum->n);
		pe_la_mirror(optimum->n, x, optimum->n);
	}
	return x;
}

/* F for a largest distance of 1, and how much of V the strategy does not reach. */
static double
objective(const double *v, const pe_optimum *optimum, double *outside)
{
	double	   *x = square(optimum);
	double		largest = largest_distance(x, optimum->n);

	pe_free(x);
	*outside = 0.0;
	if (optimum->full)
		return largest * (optimum->n <= CHOLESKY_LIMIT ? long_objective(v, optimum->x, optimum->n)
						  : double_objective(v, optimum->x, optimum->n));
	return largest * factor_objective(v, optimum->factor, optimum->rank, optimum->n, outside);
}

/* What the result claims of itself and of the optimum of add_remove. */
static void
check(const char *name, const double *v, const pe_optimum *before, const pe_optimum *result, double gap)
{
	double		outside;
	double	   *x = square(result);
	double		again = objective(v, result, &outside);
	double		distance = largest_distance(x, result->n);
	double		same = objective(v, before, &outside);

	again = objective(v, result, &outside);
	if (!(fabs(again / result->upper - 1.0) < 1e-6) || !(fabs(distance - 1.0) < 1e-9) || outside > 1e-9 ||
		result->lower > result->upper * (1.0 + 1e-9) || result->upper / result->lower - 1.0 > gap ||
		result->lower < before->lower * (1.0 - 1e-9) || result->upper > same * (1.0 + 1e-9))
		fail_msg("%s of %d: F %.10g, recomputed %.10g, of add_remove's %.10g, distance %.10g, bound %.10g, outside %g", name,
				 result->n, result->upper, again, same, distance, result->lower, outside);
	pe_free(x);
}

/* ---- small problems ---- */

/* No strategy that random steps find, from the one that was found and from anywhere, is below the bound. */
static void
search_below(const double *v, const pe_optimum *result)
{
	int			n = result->n;
	double	   *x = matrix(n, n);
	double	   *best = square(result);
	double		least = INFINITY;

	for (int step = 0; step < 400; step++)
	{
		double		size = step % 4 == 0 ? 1.0 : pow(10.0, -uniform(0.0, 5.0));
		double		f;
		double	   *move = matrix(n, n);

		for (int i = 0; i < n * n; i++)
			move[i] = normal();
		for (int i = 0; i < n; i++)
			for (int j = 0; j < n; j++)
			{
				double		sum = 0.0;

				for (int k = 0; k < n; k++)
					sum += move[k + i * n] * move[k + j * n];
				/* a step towards any matrix keeps X positive definite */
				x[i + j * n] = (step % 4 == 0 ? 0.0 : (1.0 - size) * best[i + j * n]) + size * sum / n;
			}
		f = largest_distance(x, n) * long_objective(v, x, n);
		if (f < least)
		{
			least = f;
			memcpy(best, x, (size_t) (n * n) * sizeof(double));
		}
		if (f < result->lower * (1.0 - 1e-9))
			fail_msg("order %d: a strategy of %.12g below the bound %.12g", n, f, result->lower);
		pe_free(move);
	}
	pe_free(x);
	pe_free(best);
}

static void
test_small(void **state)
{
	(void) state;
	for (int round = 0; round < cases(200); round++)
	{
		int			n = 1 + round % 5;
		int			m = n + random_below(3);
		pe_optimum	before;
		pe_optimum	result;
		double	   *v = solve(random_queries(m, n), m, n, 1e-6, &before, &result);

		check("random", v, &before, &result, 2e-3);
		search_below(v, &result);
		pe_optimum_free(&before);
		pe_optimum_free(&result);
		pe_free(v);
	}
}

/* Columns of very different lengths: the bound allows for what rounding does, and is near all the same. */
static void
test_scaled(void **state)
{
	(void) state;
	for (int round = 0; round < cases(100); round++)
	{
		int			n = 2 + round % 5;
		int			m = n + random_below(3);
		double	   *w = random_queries(m, n);
		pe_optimum	before;
		pe_optimum	result;
		double	   *v;

		for (int j = 0; j < n; j++)
		{
			double		length = pow(10.0, between(-4, 4));

			for (int i = 0; i < m; i++)
				w[i + j * m] *= length;
		}
		v = solve(w, m, n, 1e-6, &before, &result);
		check("scaled", v, &before, &result, 2e-2);
		search_below(v, &result);
		pe_optimum_free(&before);
		pe_optimum_free(&result);
		pe_free(v);
	}
}

/* Two columns: X has three numbers, and the distances leave a grid of them. */
static void
test_two(void **state)
{
	(void) state;
	for (int round = 0; round < cases(40); round++)
	{
		pe_optimum	before;
		pe_optimum	result;
		double	   *v = solve(random_queries(3, 2), 3, 2, 1e-6, &before, &result);
		double		least = INFINITY;

		for (int a = 1; a <= 200; a++)
			for (int c = 1; c <= 200; c++)
			{
				/* the inner product: as small as the distance allows, as large as the angle does, and between */
				double		p = a / 200.0;
				double		q = c / 200.0;
				double		low = fmax((p + q - 1.0) / 2.0, -sqrt(p * q));

				for (int b = 0; b < 200; b++)
				{
					double		r = low + (sqrt(p * q) - low) * b / 200.0;
					double		determinant = p * q - r * r;

					if (determinant > 0.0)
						least = fmin(least, (v[0] * q - 2.0 * v[1] * r + v[3] * p) / determinant);
				}
			}
		if (least < result.lower * (1.0 - 1e-9) || result.upper > least * (1.0 + 1e-4))
			fail_msg("two columns: %.10g to %.10g, but %.10g of a grid", result.lower, result.upper, least);
		pe_optimum_free(&before);
		pe_optimum_free(&result);
		pe_free(v);
	}
}

/* One column; single cells, whose optimum is X = (I + 11') / 2. */
static void
test_known(void **state)
{
	(void) state;
	for (int n = 1; n <= 40; n += n < 5 ? 1 : 7)
	{
		double	   *w = matrix(n, n);
		double	   *v;
		double		optimum = 2.0 * n * n / (n + 1.0);
		pe_optimum	before;
		pe_optimum	result;

		for (int j = 0; j < n; j++)
			w[j + j * n] = 1.0;
		v = solve(w, n, n, 1e-6, &before, &result);
		check("cells", v, &before, &result, 1e-5);
		assert_true(close_to(result.upper, optimum, 1e-5) && result.lower <= optimum * (1.0 + 1e-12));
		pe_optimum_free(&before);
		pe_optimum_free(&result);
		pe_free(v);
	}
}

/* ---- usual problems ---- */

static void
test_usual(void **state)
{
	(void) state;
	for (int n = 2; n <= (quick() ? 16 : 128); n *= 2)
		for (int all = 0; all < (n <= 64 ? 2 : 1); all++)
		{
			int			m = all ? n * (n + 1) / 2 : n;
			pe_optimum	before;
			pe_optimum	result;
			double	   *v = solve(ranges(n, all), m, n, 1e-6, &before, &result);

			check(all ? "all ranges" : "prefixes", v, &before, &result, n <= 64 ? 5e-4 : 5e-3);
			/* a fifth is gained, and more with more columns */
			if (n >= 64)
				assert_true(result.upper < (all ? 1.62 : 1.46) * before.upper);
			pe_optimum_free(&before);
			pe_optimum_free(&result);
			pe_free(v);
		}
}

/* Fewer queries than columns: the strategy has their row space. */
static void
test_low_rank(void **state)
{
	(void) state;
	for (int round = 0; round < cases(60); round++)
	{
		int			n = 2 + random_below(12);
		int			m = 1 + random_below(n - 1);
		pe_optimum	before;
		pe_optimum	result;
		double	   *v = solve(random_queries(m, n), m, n, 1e-6, &before, &result);

		assert_false(result.full);
		check("low rank", v, &before, &result, 5e-3);
		pe_optimum_free(&before);
		pe_optimum_free(&result);
		pe_free(v);
	}
}

/* Columns in another order, which hides that the problem splits, have the same optimum. */
static void
test_order(void **state)
{
	(void) state;
	for (int n = 9; n <= 20; n += 11)
	{
		double	   *v = large_gram("all ranges", n);
		double	   *moved = matrix(n, n);
		pe_optimum	result[2];

		for (int i = 0; i < n; i++)
			for (int j = 0; j < n; j++)
				moved[i + j * n] = v[i * 7 % n + j * 7 % n * n];
		for (int k = 0; k < 2; k++)
		{
			pe_optimum_solve(k == 0 ? v : moved, n, 1e-7, &result[k]);
			pe_optimum_pairs(k == 0 ? v : moved, 1e-6, &result[k]);
		}
		assert_true(result[0].lower <= result[1].upper && result[1].lower <= result[0].upper);
		assert_true(close_to(result[0].upper, result[1].upper, 1e-3));
		pe_optimum_free(&result[0]);
		pe_optimum_free(&result[1]);
		pe_free(v);
		pe_free(moved);
	}
}

/* So many columns that a part of them is solved first, or are unlike each other; and more than are searched for. */
static void
test_large(void **state)
{
	static const struct
	{
		const char *kind;
		int			n;
		double		gap;
	}			large[] = {{"all ranges", 301, 4e-2}, {"prefix", 300, 4e-2}, {"random", 260, 0.2}, {"all ranges", PE_PAIRS_CELLS + 1, 1.0}};

	(void) state;
	for (int k = 0; k < (quick() ? 1 : lengthof(large)); k++)
	{
		int			n = large[k].n;
		double	   *v = large_gram(large[k].kind, n);
		uint64_t	polls = pe_test_polls();
		pe_optimum	before;
		pe_optimum	result;
		size_t		taken;

		pe_optimum_solve(v, n, 1e-3, &before);
		pe_optimum_solve(v, n, 1e-3, &result);
		(void) pe_test_memory();
		pe_optimum_pairs(v, 1e-6, &result);
		taken = pe_test_memory() + 2 * pe_la_square(n) * sizeof(double);	/* V and X */
		if (taken > pe_optimum_pairs_memory(n) + 16 * 4096)	/* pages */
			fail_msg("%s of %d: %zu bytes, %zu told", large[k].kind, n, taken, pe_optimum_pairs_memory(n));
		assert_true(pe_test_polls() > polls || n > PE_PAIRS_CELLS);
		check(large[k].kind, v, &before, &result, large[k].gap);
		pe_optimum_free(&before);
		pe_optimum_free(&result);
		pe_free(v);
	}
}

static int
seed(void **state)
{
	(void) state;
	pe_test_seed(20261123);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_scaled),
		cmocka_unit_test(test_two),
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_usual),
		cmocka_unit_test(test_low_rank),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_large),
	};

	return cmocka_run_group_tests(tests, seed, NULL);
}
