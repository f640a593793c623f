/*
 * test_p_identity.c
 *	  Strategies that count every column and a few sums besides: the gradient by
 *	  differences, the objective by a Cholesky factor in long double, what is found
 *	  against closed forms, and V of every kind.
 *
 * Random matrices come from a fixed seed, so failures repeat; with PG_EPSILON_QUICK
 * set there are fewer, and none of order 256.
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

/* ---- Gram matrices ---- */

typedef double (*entry) (int n, int i, int j);

/* All but of rank 1: more sums than one are in each other's way. */
static double
mostly_total(int n, int i, int j)
{
	return 1e4 + 1e-4 * (i == j);
}

static double
total(int n, int i, int j)
{
	return 1.0;
}

static double
diagonal(int n, int i, int j)
{
	return (i == j) * (i + 1.0);
}

static double
scaled(int n, int i, int j)
{
	return pe_test_prefix(n, i, j) * exp(16.0 * (i + j - n) / n);
}

static double *
build(entry v, int n)
{
	double	   *gram = pe_alloc((size_t) n * n, sizeof(double));

	for (int j = 0; j < n; j++)
		for (int i = 0; i < n; i++)
			gram[i + (size_t) j * n] = v(n, i, j);
	return gram;
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

static double
trace_of(const double *v, int n)
{
	double		sum = 0;

	for (int j = 0; j < n; j++)
		sum += v[j + (size_t) j * n];
	return sum;
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

/* ---- what is found ---- */

/* That A is what it shall be, and worth what is said. */
static void
check_design(const pe_design *d, const double *v, int n)
{
	pe_optimum	optimum;

	assert_int_equal(d->n, n);
	assert_null(d->x);
	assert_true(d->rows > n);
	for (int j = 0; j < n; j++)
	{
		double		sum = 0;

		for (int i = 0; i < d->rows; i++)
		{
			double		a = d->factor[i + (size_t) j * d->rows];

			assert_true(i == j ? a > 0 : i < n ? a == 0 : a >= 0);
			sum += a;
		}
		assert_true(fabs(sum - 1) < 1e-14 * n);
	}
	assert_true(d->objective <= trace_of(v, n) * (1 + 1e-13));
	assert_true(fabs(d->objective / long_objective(d->factor, d->rows, n, v) - 1) < 1e-6);
	pe_optimum_solve(v, n, 1e-3, &optimum);
	assert_true(d->objective >= optimum.lower * (1 - 1e-9));
	pe_optimum_free(&optimum);
}

static void
find(const double *v, int n, pe_p_identity_options options, pe_design *d)
{
	pe_test_memory();
	pe_p_identity(v, n, &options, NULL, d);
	assert_true(pe_test_memory() <= pe_p_identity_memory(n, &options) + 4096);
	check_design(d, v, n);
}

/* (1 + t)^2 tr((I + 11')(I + t^2 11')^-1), least over t >= 0 */
static double
uniform_sum(int n)
{
	double		least = INFINITY;

	for (double t = 0; t < 2; t += 1e-5)
		least = fmin(least, (1 + t) * (1 + t) * (n - 1 + (n + 1) / (1 + n * t * t)));
	return least;
}

/* One sum is enough for a total, and symmetry makes it uniform. */
static void
test_total(void **state)
{
	(void) state;
	for (int n = 2; n <= 64; n *= 2)
	{
		double	   *v = build(pe_test_total_identity, n);
		pe_design	d;

		find(v, n, (pe_p_identity_options) {.sums = 1}, &d);
		assert_true(d.finished);
		assert_true(d.objective < uniform_sum(n) * (1 + 1e-6));
		assert_true(n < 64 || d.objective < 0.97 * trace_of(v, n));
		pe_design_free(&d);
		pe_free(v);
	}
}

/* However many sums are allowed, one is found to do nearly all: (1 + t)^2 tr(V (I + t^2 11')^-1) is 10,259 at its least, tr V 640,000. */
static void
test_mostly_total(void **state)
{
	double	   *v = build(mostly_total, 64);

	(void) state;
	for (int sums = 1; sums <= (quick() ? 1 : 16); sums *= 4)
	{
		pe_design	d;

		find(v, 64, (pe_p_identity_options) {.sums = sums}, &d);
		assert_true(d.objective < 1.05 * 10259);
		pe_design_free(&d);
	}
	pe_free(v);
}

/* Root mean squared errors at which McKenna's own program arrives, or this one did, and a little more. */
static void
test_reference(void **state)
{
	static const struct
	{
		entry		v;
		int			n;
		double		queries;
		double		most;
	}			known[] = {
		{pe_test_all_range, 64, 64 * 65 / 2, 3.96},
		{pe_test_prefix, 64, 64, 3.79},
		{pe_test_all_range, 256, 256 * 257 / 2, 5.736},
		{pe_test_prefix, 256, 256, 5.22},
		{pe_test_all_range, 320, 320 * 321 / 2, 6.04},
	};

	(void) state;
	for (int k = 0; k < lengthof(known); k++)
	{
		int			n = known[k].n;
		double	   *v;
		pe_design	d;

		if (quick() && n > 64)
			continue;
		v = build(known[k].v, n);
		find(v, n, (pe_p_identity_options) {0}, &d);
		print_message("n %d: rmse %.4f, %d iterations%s\n", n, sqrt(d.objective / known[k].queries), d.iterations,
					  d.finished ? "" : ", not finished");
		assert_true(sqrt(d.objective / known[k].queries) <= known[k].most);
		assert_int_equal(d.rows, n + n / 16);
		pe_design_free(&d);
		pe_free(v);
	}
}

/* No sum helps where every query has a cell of its own. */
static void
test_diagonal(void **state)
{
	double	   *v = build(diagonal, 20);
	pe_design	d;

	(void) state;
	find(v, 20, (pe_p_identity_options) {0}, &d);
	assert_true(d.objective > trace_of(v, 20) * (1 - 1e-12));
	pe_design_free(&d);
	pe_free(v);
}

/* Of rank 1, and scaled by e^-16 to e^16; any number of sums; one column. */
static void
test_any(void **state)
{
	static const entry kinds[] = {total, scaled, pe_test_total_identity, pe_test_all_range};
	static const int sizes[] = {1, 2, 3, 15, 33};
	pe_design	d;

	(void) state;
	for (int k = 0; k < lengthof(kinds); k++)
		for (int s = 0; s < lengthof(sizes) - quick(); s++)
			for (int sums = 0; sums <= (quick() ? 8 : 40); sums += 8)
			{
				double	   *v = build(kinds[k], sizes[s]);

				find(v, sizes[s], (pe_p_identity_options) {.sums = sums, .evaluations = 200}, &d);
				pe_design_free(&d);
				pe_free(v);
			}
	for (int repeat = 0; repeat < (quick() ? 4 : 60); repeat++)
	{
		int			n = 1 + repeat % 30;
		double	   *v = random_gram(n, 1 + repeat % 7);

		find(v, n, (pe_p_identity_options) {.evaluations = 200}, &d);
		pe_design_free(&d);
		pe_free(v);
	}
}

/* The extremes of what floating point can hold end as well. */
static void
test_extremes(void **state)
{
	static const double sizes[] = {1e-300, 1e-150, 1e150, 1e300};

	(void) state;
	for (int s = 0; s < lengthof(sizes); s++)
	{
		double	   *v = build(pe_test_all_range, 24);
		double	   *plain = build(pe_test_all_range, 24);
		pe_design	d;
		pe_design	of_plain;
		const pe_p_identity_options options = {.evaluations = 100};

		for (int k = 0; k < 24 * 24; k++)
			v[k] *= sizes[s];
		pe_p_identity(v, 24, &options, NULL, &d);
		pe_p_identity(plain, 24, &options, NULL, &of_plain);
		assert_true(fabs(d.objective / sizes[s] / of_plain.objective - 1) < 1e-2);
		pe_design_free(&d);
		pe_design_free(&of_plain);
		pe_free(v);
		pe_free(plain);
	}
}

/* ---- how it goes about ---- */

typedef struct told
{
	int			calls;
	int			rises;
	double		objective;
	double		least;
} told;

static void
listen(void *argument, int32_t iteration, double objective, double measure)
{
	told	   *t = argument;

	t->calls++;
	assert_int_equal(iteration, t->calls);
	t->rises += t->calls > 1 && objective > t->objective;
	t->objective = objective;
	t->least = t->calls > 1 ? fmin(t->least, objective) : objective;
	assert_true(measure >= 0);
}

/* Every iteration is told, and none makes it worse but the first of the second start; the same happens twice. */
static void
test_iterations(void **state)
{
	double	   *v = build(pe_test_prefix, 48);
	const pe_p_identity_options options = {.starts = 1};
	told		t = {0};
	uint64_t	polls = pe_test_polls();
	uint64_t	steps = pe_test_steps();
	pe_design	d;
	pe_design	again;

	(void) state;
	pe_p_identity(v, 48, &options, &(pe_trace) {listen, &t}, &d);
	assert_int_equal(t.calls, d.iterations);
	assert_int_equal(t.rises, 1);
	assert_true(t.calls > 10 && t.least == d.objective);
	assert_true(pe_test_polls() - polls >= (uint64_t) t.calls);
	assert_true(pe_test_steps() - steps == (uint64_t) t.calls);
	pe_p_identity(v, 48, &options, NULL, &again);
	assert_memory_equal(d.factor, again.factor, (size_t) 48 * d.rows * sizeof(double));
	pe_design_free(&again);
	pe_p_identity(v, 48, &(pe_p_identity_options) {.starts = 3}, NULL, &again);
	assert_true(again.objective <= d.objective && again.iterations > d.iterations);
	pe_design_free(&again);
	pe_design_free(&d);

	pe_p_identity(v, 48, &(pe_p_identity_options) {.starts = 1, .evaluations = 5}, NULL, &d);
	assert_true(!d.finished && d.iterations < 2 * 5);
	pe_design_free(&d);
	pe_free(v);
}

static void
call(void *v)
{
	pe_design	d;

	pe_p_identity(v, 2, &(pe_p_identity_options) {0}, NULL, &d);
}

static void
call_without_columns(void *v)
{
	pe_design	d;

	pe_p_identity(v, 0, &(pe_p_identity_options) {0}, NULL, &d);
}

static void
test_bugs(void **state)
{
	double		bad[][4] = {{1, 0, 0, 0}, {1, NAN, NAN, 1}, {INFINITY, 0, 0, 1}, {1, 0, 0, -1}};

	(void) state;
	for (int k = 0; k < lengthof(bad); k++)
		assert_true(pe_test_is_bug(call, bad[k]));
	assert_true(pe_test_is_bug(call_without_columns, bad[0]));
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
		cmocka_unit_test(test_total),
		cmocka_unit_test(test_mostly_total),
		cmocka_unit_test(test_reference),
		cmocka_unit_test(test_diagonal),
		cmocka_unit_test(test_any),
		cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_iterations),
		cmocka_unit_test(test_bugs),
	};

	return cmocka_run_group_tests(tests, seed, NULL);
}
