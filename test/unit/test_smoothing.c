/*
 * test_smoothing.c
 *	  The smoothed method: its gradient, its projection, its stages.  The rest is
 *	  test_published.c's.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "published/smoothing.c"			/* its pieces are tested too */
#include "grams.h"

/* The smoothed objective at X and its gradient g; z becomes X^-1.  False if X is not positive definite. */
static bool
smoothing_evaluate(const double *v, int32_t n, double mu, const double *x, double *objective,
				   double *z, double *g, double *work)
{
	double		trace;

	memcpy(z, x, pe_la_square(n) * sizeof(double));
	if (!pe_la_inverse(n, z, n))
		return false;
	trace = pe_la_dot(pe_la_square(n), z, v);
	*objective = smooth_maximum(n, x, mu, NULL) * trace;
	gradient(v, n, 1.0, mu, x, z, trace, g, work);
	return true;
}

/* ---- the function ---- */

/* Positive definite, with diagonal entries near enough to each other that all of them matter. */
static double *
random_point(int n)
{
	double	   *x = random_gram(6 * n, n);

	for (int i = 0; i < n * n; i++)
		x[i] /= 6.0 * n;
	return x;
}

/* smax_mu(diag X) tr(V X^-1), written out */
static double
smoothed(const double *v, const double *x, int n, double mu)
{
	double		sum = 0.0;

	for (int i = 0; i < n; i++)
		sum += exp(x[i + i * n] / mu);
	return mu * log(sum) * recomputed(v, x, n);
}

static void
test_gradient(void **state)
{
	const double h = 1e-5;
	const int	n = 7;
	double	   *v = random_gram(5, n);
	double	   *x = random_point(n);
	double	   *z = matrix(n, n);
	double	   *g = matrix(n, n);
	double	   *work = pe_alloc((size_t) (n * n + n), sizeof(double));
	double		objective;

	assert_true(smoothing_evaluate(v, n, 0.1, x, &objective, z, g, work));
	assert_true(fabs(objective / smoothed(v, x, n, 0.1) - 1.0) <= 1e-12);
	for (int turn = 0; turn < 10; turn++)
	{
		double	   *p = random_symmetric(n);
		double	   *above = copy_of(x, n);
		double	   *below = copy_of(x, n);
		double		slope = (smoothed(v, above, n, 0.1) - smoothed(v, below, n, 0.1)) / (2.0 * h);

		for (int i = 0; i < n * n; i++)
		{
			above[i] += h * p[i];
			below[i] -= h * p[i];
		}
		slope = (smoothed(v, above, n, 0.1) - smoothed(v, below, n, 0.1)) / (2.0 * h);
		assert_true(fabs(slope - pe_la_dot((size_t) (n * n), g, p)) <= 1e-6 * objective);
		pe_free(p);
		pe_free(above);
		pe_free(below);
	}
	/* the maximum itself, when mu is small; and between it and mu log n above it */
	assert_true(smoothing_evaluate(v, n, 1e-9, x, &objective, z, g, work));
	assert_true(fabs(objective / (largest_diagonal(x, n) * recomputed(v, x, n)) - 1.0) <= 1e-7);
	x[0] = -1.0;
	assert_false(smoothing_evaluate(v, n, 0.1, x, &objective, z, g, work));
	pe_free(v);
	pe_free(x);
	pe_free(z);
	pe_free(g);
	pe_free(work);
}

/* ---- the projection ---- */

/* P is the nearest if and only if P >= floor, P - A >= 0 and <P - A, P - floor> = 0. */
static void
check_projection(int n, double floor, const double *a)
{
	double	   *copy = copy_of(a, n);
	double	   *p = matrix(n, n);
	double	   *z = matrix(n, n);
	double	   *work = pe_alloc(pe_la_eigen_work(n) + (size_t) n, sizeof(double));
	int32_t    *iwork = pe_alloc(pe_la_eigen_iwork(n), sizeof(int32_t));
	double	   *lift = matrix(n, n);
	double		product = 0.0;

	assert_true(pe_smoothing_project(n, floor, copy, p, z, work, iwork));
	assert_true(symmetric(p, n));
	assert_true(least_eigenvalue(p, n) >= floor - 1e-12 * n);
	for (int i = 0; i < n * n; i++)
	{
		lift[i] = p[i] - a[i];
		product += lift[i] * (p[i] - (i % (n + 1) == 0 ? floor : 0.0));
	}
	assert_true(least_eigenvalue(lift, n) >= -1e-12 * n);
	assert_true(fabs(product) <= 1e-11 * n * n);
	pe_free(copy);
	pe_free(p);
	pe_free(z);
	pe_free(work);
	pe_free(iwork);
	pe_free(lift);
}

static void
test_projection(void **state)
{
	for (int n = 1; n <= 40; n += 3)
	{
		double	   *a = random_symmetric(n);

		check_projection(n, 0.01, a);
		check_projection(n, 1.0, a);
		/* nothing to do */
		for (int i = 0; i < n; i++)
			a[i + i * n] += 100.0;
		check_projection(n, 0.01, a);
		pe_free(a);
	}
}

/* ---- where it ends ---- */

/* A maximum that is less and less smoothed comes nearer: by far. */
static void
test_stages(void **state)
{
	int			n = 24;
	double	   *v = prefix(n);
	double		best = best_possible(v, n);
	double		excess[2];
	pe_smoothing_options options;
	pe_design	design;

	for (int i = 0; i < 2; i++)
	{
		pe_smoothing_defaults(&options);
		options.stages = i == 0 ? 1 : 4;
		options.iterations = 800 / options.stages;
		pe_smoothing(v, n, &options, NULL, &design);
		excess[i] = design.objective / best - 1.0;
		pe_design_free(&design);
	}
	if (!(excess[0] >= 1e-3) || !(excess[1] <= excess[0] / 10.0))
		fail_msg("one stage %.2e off, four %.2e", excess[0], excess[1]);
	pe_free(v);
}

/* Of all points that were met the best is returned, though objectives rise on the way. */
static void
test_trace(void **state)
{
	int			n = 24;
	double	   *v = prefix(n);
	story		told = {0};
	pe_trace	trace_of = {listen, &told};
	pe_smoothing_options options;
	pe_design	design;
	double		least = INFINITY;
	int			rises = 0;

	pe_smoothing_defaults(&options);
	pe_smoothing(v, n, &options, &trace_of, &design);
	assert_int_equal(told.count, design.iterations + 1);
	assert_true(told.count <= TOLD);
	assert_true(fabs(told.objective[0] / trace(v, n) - 1.0) <= 1e-13);
	assert_true(told.measure[0] == 1.0);
	for (int i = 0; i < told.count; i++)
	{
		assert_int_equal(told.iteration[i], i);
		rises += i > 0 && told.objective[i] > told.objective[i - 1];
		least = fmin(least, told.objective[i]);
	}
	assert_true(rises > 0);
	assert_true(design.objective == least);
	pe_design_free(&design);
	/* the tolerance ends a stage */
	options.stages = 1;
	options.tolerance = 0.1;
	told.count = 0;
	pe_smoothing(v, n, &options, &trace_of, &design);
	assert_true(design.finished && design.iterations < options.iterations);
	for (int i = 0; i < told.count; i++)
		assert_true((told.measure[i] <= options.tolerance) == (i == design.iterations));
	pe_design_free(&design);
	pe_free(v);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gradient),
		cmocka_unit_test(test_projection),
		cmocka_unit_test(test_stages),
		cmocka_unit_test(test_trace),
	};

	pe_test_seed(20120827);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
