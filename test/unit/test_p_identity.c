/*
 * test_p_identity.c
 *	  Strategies that count every column and a few sums besides: the objective by a
 *	  Cholesky factor in long double, its gradient by differences, groups of columns.
 *	  What is found is in test_published.c.
 *
 * Random matrices come from a fixed seed, so failures repeat.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "optimum/optimum.h"
#include "optimum/p_identity.c"			/* its pieces are tested too */
#include "long_cholesky.h"
#include "numbers.h"
#include "reference_strategies.h"
#include "shim.h"

/* The objective at Theta (p x n by columns, >= 0), and its gradient; INFINITY where Theta is so large that rounding would tell. */
static double
objective_at(const double *v, int32_t n, int32_t p, const double *theta, double *gradient)
{
	problem		f;
	double		objective;

	problem_init(&f, v, n, p);
	objective = evaluate(&f, theta, gradient) * f.mean;
	for (size_t k = 0; k < entries(&f); k++)
		gradient[k] *= f.mean;
	problem_free(&f);
	return objective;
}

/* W'W of m random queries */
static double *
random_gram(int n, int m)
{
	double	   *w = pe_alloc((size_t) m * n, sizeof(double));
	double	   *gram = pe_alloc((size_t) n * n, sizeof(double));

	for (int k = 0; k < m * n; k++)
		w[k] = uniform(0, 1) < 0.5 ? 0 : uniform(-2, 4);
	for (int k = 0; k < n; k++)
		w[k * m] = 1;			/* no column is zero */
	for (int j = 0; j < n; j++)
		for (int i = 0; i < n; i++)
			for (int k = 0; k < m; k++)
				gram[i + j * n] += w[k + i * m] * w[k + j * m];
	pe_free(w);
	return gram;
}

/* ---- the objective and its gradient ---- */

/* A = [I; Theta] D by columns */
static double *
strategy_of(const double *theta, int n, int p)
{
	double	   *a = pe_alloc((size_t) n * (n + p), sizeof(double));

	for (int j = 0; j < n; j++)
	{
		double	   *column = a + (size_t) j * (n + p);
		double		sum = 1;

		column[j] = 1;
		for (int i = 0; i < p; i++)
			sum += column[n + i] = theta[i + j * p];
		for (int i = 0; i < n + p; i++)
			column[i] /= sum;
	}
	return a;
}

static double *
random_theta(int n, int p)
{
	double	   *theta = pe_alloc((size_t) n * p, sizeof(double));

	for (int k = 0; k < n * p; k++)
		theta[k] = uniform(0, 1) < 0.2 ? 0 : uniform(0, 2);
	return theta;
}

static void
test_gradient(void **state)
{
	static const int sizes[][2] = {{1, 1}, {2, 1}, {7, 1}, {9, 3}, {12, 20}};
	const double step = 1e-5;

	(void) state;
	for (int s = 0; s < lengthof(sizes); s++)
	{
		int			n = sizes[s][0];
		int			p = sizes[s][1];
		double	   *v = random_gram(n, s % 2 == 0 ? n : 2);
		double	   *theta = random_theta(n, p);
		double	   *gradient = pe_alloc((size_t) n * p, sizeof(double));
		double	   *unused = pe_alloc((size_t) n * p, sizeof(double));
		double	   *a = strategy_of(theta, n, p);
		double		objective = objective_at(v, n, p, theta, gradient);

		assert_true(fabs(objective / long_objective(a, n + p, n, v) - 1) < 1e-11);
		for (int k = 0; k < n * p; k++)
		{
			double		at = theta[k];
			double		up;
			double		down;

			theta[k] = at + step;
			up = objective_at(v, n, p, theta, unused);
			theta[k] = at - step;	/* the formula holds a little below 0 too */
			down = objective_at(v, n, p, theta, unused);
			theta[k] = at;
			assert_true(fabs((up - down) / (2 * step) - gradient[k]) < 1e-7 * objective);
		}
		pe_free(v);
		pe_free(theta);
		pe_free(gradient);
		pe_free(unused);
		pe_free(a);
	}
}

/* Where Theta Theta' hides I, the objective would be noise. */
static void
test_too_large(void **state)
{
	double		v[4] = {2, 1, 1, 2};
	double		theta[4] = {1e9, 1e9, 0, 1e9};
	double		gradient[4];

	(void) state;
	assert_true(isinf(objective_at(v, 2, 2, theta, gradient)));
	theta[0] = NAN;
	assert_true(isinf(objective_at(v, 2, 2, theta, gradient)));
	theta[0] = 1e308;
	assert_true(isinf(objective_at(v, 2, 2, theta, gradient)));
}

/* ---- groups of columns ---- */

/* Each column with the one that it is most like, however they are ordered; the odd one by itself. */
static void
test_pairs(void **state)
{
	static const int order[] = {4, 0, 6, 2, 1, 5, 3};
	static const int32_t expected[] = {0, 1, 2, 3, 1, 2, 0};	/* 4 and 3, 0 and 1, 6 and 5, 2 */
	double		v[49];
	int32_t		group_of[7];
	problem		f;

	(void) state;
	for (int i = 0; i < 7; i++)
		for (int j = 0; j < 7; j++)
			v[i + 7 * j] = pe_test_all_range(7, order[i], order[j]);
	problem_init(&f, v, 7, 1);
	assert_int_equal(pair_columns(&f, group_of), 4);
	assert_memory_equal(group_of, expected, sizeof(expected));
	problem_free(&f);
}

/* Theta among all columns that is Phi among groups is worth the same; so it is among groups of groups. */
static void
test_groups(void **state)
{
	static const int sizes[][2] = {{2, 1}, {7, 2}, {12, 3}, {33, 5}};

	(void) state;
	for (int k = 0; k < lengthof(sizes); k++)
	{
		int			n = sizes[k][0];
		int			p = sizes[k][1];
		int			half = (n + 1) / 2;
		double	   *v = random_gram(n, n);
		double	   *gram = pe_alloc((size_t) half * half, sizeof(double));
		double	   *again = pe_alloc((size_t) half * half, sizeof(double));
		double	   *theta = pe_alloc((size_t) n * p, sizeof(double));
		double	   *gradient = pe_alloc((size_t) n * p, sizeof(double));
		double	   *phi = random_theta(n, p);
		int32_t    *group_of = pe_alloc((size_t) n, sizeof(int32_t));
		int32_t    *upper = pe_alloc((size_t) n, sizeof(int32_t));
		problem		all;
		search		groups;
		search		quarters;

		problem_init(&all, v, n, p);
		assert_int_equal(pair_columns(&all, group_of), half);
		search_init_groups(&groups, &all, group_of, half, gram);
		for (int j = 0; j < n; j++)
			for (int i = 0; i < p; i++)
				theta[i + j * p] = phi[i + group_of[j] * p] * groups.f.part[group_of[j]];
		assert_true(fabs(evaluate(&groups.f, phi, gradient) / evaluate(&all, theta, gradient) - 1) < 1e-12);
		/* how the objective changes with Phi */
		evaluate(&groups.f, phi, groups.gradient);
		for (int i = 0; i < half * p; i++)
		{
			double		at = phi[i];
			double		up;

			phi[i] = at + 1e-5;
			up = evaluate(&groups.f, phi, gradient);
			phi[i] = at - 1e-5;
			up -= evaluate(&groups.f, phi, gradient);
			phi[i] = at;
			assert_true(fabs(up / 2e-5 - groups.gradient[i]) < 1e-7 * n);
		}
		assert_int_equal(pair_columns(&groups.f, upper), (half + 1) / 2);
		search_init_groups(&quarters, &groups.f, upper, (half + 1) / 2, again);
		for (int j = 0; j < n; j++)
			for (int i = 0; i < p; i++)
				theta[i + j * p] = phi[i + upper[group_of[j]] * p] * quarters.f.part[upper[group_of[j]]];
		assert_true(fabs(evaluate(&quarters.f, phi, gradient) / evaluate(&all, theta, gradient) - 1) < 1e-12);
		search_free(&quarters);
		search_free(&groups);
		problem_free(&all);
		pe_free(v);
		pe_free(gram);
		pe_free(again);
		pe_free(theta);
		pe_free(gradient);
		pe_free(phi);
		pe_free(group_of);
		pe_free(upper);
	}
}

static int
seed(void **state)
{
	(void) state;
	pe_test_seed(20180806);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gradient),
		cmocka_unit_test(test_too_large),
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_groups),
	};

	return cmocka_run_group_tests(tests, seed, NULL);
}
