/*
 * test_coa.c
 *	  The published Newton method: its derivatives, its steps, its rules for
 *	  stopping.  The rest is test_published.c's.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "published/coa.c"			/* its pieces are tested too */
#include "grams.h"

/* F at X: z becomes X^-1 and g the gradient with its diagonal.  False if X is not positive definite. */
static bool
coa_evaluate(const double *v, int32_t n, double theta, const double *x, double *objective,
			 double *z, double *g, double *work)
{
	memcpy(z, x, pe_la_square(n) * sizeof(double));
	if (!pe_la_inverse(n, z, n))
		return false;
	*objective = pe_la_dot(pe_la_square(n), z, v) + theta * trace_of(n, z);
	gradient(v, n, 1.0, theta, z, g, work);
	return true;
}

/* Algorithm 3 with the paper's numbers: theta from 1 to 1e-10 in 11 stages. */
static void
homotopy_defaults(pe_coa_options *options)
{
	pe_coa_defaults(options);
	options->theta = 1.0;
	options->stages = 11;
}

/* ---- derivatives ---- */

/* Positive definite with a diagonal of about 1. */
static double *
random_point(int n)
{
	double	   *x = random_gram(3 * n, n);

	for (int i = 0; i < n * n; i++)
		x[i] /= 3.0 * n;
	return x;
}

/* F and its gradient at X + h P */
static double
value_beside(const double *v, int n, double theta, const double *x, double h, const double *p, double *g)
{
	double	   *point = copy_of(x, n);
	double	   *z = matrix(n, n);
	double	   *work = matrix(n, n);
	double		objective;

	for (int i = 0; i < n * n; i++)
		point[i] += h * p[i];
	assert_true(coa_evaluate(v, n, theta, point, &objective, z, g, work));
	pe_free(point);
	pe_free(z);
	pe_free(work);
	return objective;
}

static void
test_derivatives(void **state)
{
	const double h = 1e-5;
	const int	n = 7;
	double	   *v = random_gram(5, n);
	double	   *x = random_point(n);
	double	   *g = matrix(n, n);
	double	   *z = matrix(n, n);
	double	   *t = matrix(n, n);
	double	   *work = matrix(n, n);
	double	   *above = matrix(n, n);
	double	   *below = matrix(n, n);
	double		objective;

	assert_true(coa_evaluate(v, n, 0.5, x, &objective, z, g, work));
	for (int i = 0; i < n; i++)
		v[i + i * n] += 0.5;
	assert_true(fabs(objective / recomputed(v, x, n) - 1.0) <= 1e-12);
	for (int i = 0; i < n; i++)
		v[i + i * n] -= 0.5;
	for (int turn = 0; turn < 10; turn++)
	{
		double	   *p = random_symmetric(n);
		double		slope = pe_la_dot((size_t) (n * n), g, p);
		double		change = value_beside(v, n, 0.5, x, h, p, above) - value_beside(v, n, 0.5, x, -h, p, below);

		assert_true(fabs(change / (2.0 * h) - slope) <= 1e-6 * objective);
		pe_coa_product(n, z, g, p, t, work);
		for (int j = 0; j < n; j++)
			for (int i = 0; i < n; i++)
			{
				double		second = (above[i + j * n] - below[i + j * n]) / (2.0 * h);

				assert_true(fabs(second + t[i + j * n] + t[j + i * n]) <= 1e-5 * objective);
			}
		pe_free(p);
	}
	/* not positive definite */
	x[0] = -1.0;
	assert_false(coa_evaluate(v, n, 0.5, x, &objective, z, g, work));
	pe_free(v);
	pe_free(x);
	pe_free(g);
	pe_free(z);
	pe_free(t);
	pe_free(work);
	pe_free(above);
	pe_free(below);
}

/* Column (i, j) of the Hessian over the pairs i > j, at X = I: Z = I, G = -V. */
static void
hessian_column(const double *v, int n, int i, int j, double *column)
{
	double	   *p = matrix(n, n);
	double	   *z = matrix(n, n);
	double	   *g = matrix(n, n);
	double	   *t = matrix(n, n);
	double	   *work = matrix(n, n);

	p[i + j * n] = p[j + i * n] = 1.0;
	for (int k = 0; k < n * n; k++)
	{
		z[k] = k % (n + 1) == 0;
		g[k] = -v[k];
	}
	pe_coa_product(n, z, g, p, t, work);
	for (int b = 0; b < n; b++)
		for (int a = b + 1; a < n; a++)
			*column++ = -t[a + b * n] - t[b + a * n];
	pe_free(p);
	pe_free(z);
	pe_free(g);
	pe_free(t);
	pe_free(work);
}

/* With as many steps as there are unknowns one iteration is one of Newton's, solved here by Cholesky. */
static void
test_newton(void **state)
{
	enum
	{
		ORDER = 4, PAIRS = 6
	};
	pe_coa_options options;

	pe_coa_defaults(&options);
	options.theta = 0.0;
	options.cg_steps = PAIRS;
	options.iterations = 1;
	options.tolerance = 0.0;
	for (int turn = 0; turn < 20; turn++)
	{
		double	   *v = random_gram(4 * ORDER, ORDER);
		double		hessian[PAIRS * PAIRS];
		double		step[PAIRS];
		int			k = 0;
		pe_design	design;

		for (int i = 0; i < ORDER; i++)
			v[i + i * ORDER] += 40.0;
		for (int j = 0; j < ORDER; j++)
			for (int i = j + 1; i < ORDER; i++, k++)
			{
				hessian_column(v, ORDER, i, j, hessian + k * PAIRS);
				step[k] = v[i + j * ORDER];
			}
		assert_true(pe_la_cholesky(PAIRS, hessian, PAIRS));
		pe_la_cholesky_solve(PAIRS, 1, hessian, PAIRS, step, PAIRS);
		pe_coa(v, ORDER, &options, NULL, &design);
		assert_int_equal(design.iterations, 1);
		k = 0;
		for (int j = 0; j < ORDER; j++)
			for (int i = j + 1; i < ORDER; i++, k++)
				assert_true(fabs(design.x[i + j * ORDER] - step[k]) <= 1e-10);
		pe_design_free(&design);
		pe_free(v);
	}
}

/* So many steps of Algorithm 2, of two products each: between iterations everything else is polled 4 times. */
static void
test_steps(void **state)
{
	double	   *v = random_gram(32, 8);

	for (int i = 0; i < 8; i++)
		v[i + i * 8] += 80.0;
	for (int steps = 1; steps <= 5; steps++)
	{
		uint64_t	polls[2];

		for (int iterations = 0; iterations < 2; iterations++)
		{
			uint64_t	before = pe_test_polls();
			pe_coa_options options;
			pe_design	design;

			pe_coa_defaults(&options);
			options.cg_steps = steps;
			options.iterations = iterations;
			options.tolerance = 0.0;
			pe_coa(v, 8, &options, NULL, &design);
			assert_int_equal(design.iterations, iterations);
			assert_false(design.finished);
			pe_design_free(&design);
			polls[iterations] = pe_test_polls() - before;
		}
		assert_int_equal(polls[1] - polls[0], 2 * steps + 4);
	}
	pe_free(v);
}

/* ---- what a design must be ---- */

static void
assert_design(const double *v, const pe_design *design)
{
	int			n = design->n;
	double		expected = recomputed(v, design->x, n);

	assert_null(design->factor);
	assert_true(symmetric(design->x, n));
	for (int i = 0; i < n; i++)
		assert_true(design->x[i + i * n] == 1.0);
	/* no worse than where it began, which has a diagonal of 1 too */
	if (!(fabs(design->objective / expected - 1.0) <= 1e-6) || !(design->objective <= trace(v, n) * (1.0 + 1e-9)))
		fail_msg("n %d: objective %.12g, recomputed %.12g, tr V %.12g", n, design->objective, expected, trace(v, n));
}

/* ---- closed forms ---- */

static void
test_order_two(void **state)
{
	pe_coa_options options;

	pe_coa_defaults(&options);
	options.tolerance = 1e-6;
	for (int turn = 0; turn < 200; turn++)
	{
		double		theta = turn % 2 == 0 ? 0.0 : uniform(0.1, 2.0);
		double		a = exp(uniform(-1.0, 1.0));
		double		c = exp(uniform(-1.0, 1.0));
		double		b = uniform(-0.9, 0.9) * sqrt(a * c);
		double		v[4] = {a, b, b, c};
		double		both = a + c + 2.0 * theta;
		double		x = (both - sqrt(both * both - 4.0 * b * b)) / (2.0 * b);
		double		expected = (a + c - 2.0 * b * x) / (1.0 - x * x);
		pe_design	design;

		options.theta = theta;
		pe_coa(v, 2, &options, NULL, &design);
		if (!design.finished || fabs(design.x[1] - x) > 2e-6 || fabs(design.objective / expected - 1.0) > 1e-6)
			fail_msg("%g %g %g, theta %g: x %.12g, expected %.12g; %.12g, expected %.12g", a, b, c, theta,
					 design.x[1], x, design.objective, expected);
		assert_design(v, &design);
		pe_design_free(&design);
	}
}

/* X = I is optimal: no step. */
static void
test_diagonal(void **state)
{
	for (int n = 1; n <= 20; n++)
	{
		pe_coa_options options;
		pe_design	design;
		double	   *v = diagonal(n);

		pe_coa_defaults(&options);
		options.gap = n % 2 == 0 ? 1e-6 : 0.0;
		pe_coa(v, n, &options, NULL, &design);
		assert_true(design.finished && design.iterations == 0);
		assert_true(fabs(design.objective / trace(v, n) - 1.0) <= 1e-13);
		pe_design_free(&design);
		pe_free(v);
	}
}

/* ---- the rules for stopping ---- */

/* Whatever is certified holds on V + theta I, where it was certified, and is not far too careful. */
static void
test_certificate(void **state)
{
	static const double gaps[] = {0.3, 0.03, 1e-3, 1e-5};
	int			wide = 0;

	for (int turn = 0; turn < (quick() ? 8 : 80); turn++)
	{
		int			n = 2 + turn % 19;
		double		gap = gaps[turn % lengthof(gaps)];
		double	   *v = random_gram(n + turn % 7, n);
		pe_coa_options options;
		pe_design	design;
		double		reached;

		pe_coa_defaults(&options);
		options.theta = 0.1;
		options.gap = gap;
		options.iterations = 400;
		pe_coa(v, n, &options, NULL, &design);
		for (int i = 0; i < n; i++)
			v[i + i * n] += options.theta;
		reached = recomputed(v, design.x, n) / best_possible(v, n) - 1.0;
		if (!design.finished || !(reached <= gap * (1.0 + 1e-6) + 1e-8))
			fail_msg("n %d: gap %.3e, certified %.3e", n, reached, gap);
		wide += reached > gap / 100.0;
		pe_design_free(&design);
		pe_free(v);
	}
	assert_true(wide >= (quick() ? 1 : 10));
}

static void
test_trace(void **state)
{
	int			n = 48;
	double	   *v = prefix(n);
	double		all = 0.0;
	double		rest = 0.0;
	story		told = {0};
	pe_trace	trace_of = {listen, &told};
	pe_coa_options options;
	pe_design	design;

	for (int i = 0; i < n * n; i++)
	{
		all += v[i] * v[i];
		rest += i % (n + 1) == 0 ? 0.0 : v[i] * v[i];
	}
	pe_coa_defaults(&options);
	options.theta = 0.0;
	pe_coa(v, n, &options, &trace_of, &design);
	assert_int_equal(told.count, design.iterations + 1);
	assert_true(fabs(told.objective[0] / trace(v, n) - 1.0) <= 1e-13);
	assert_true(fabs(told.measure[0] / sqrt(rest / all) - 1.0) <= 1e-12);
	for (int i = 0; i < told.count; i++)
	{
		assert_int_equal(told.iteration[i], i);
		assert_true(i == 0 || told.objective[i] <= told.objective[i - 1]);
		assert_true((told.measure[i] <= options.tolerance) == (design.finished && i == design.iterations));
	}
	assert_true(design.finished && told.objective[design.iterations] == design.objective);
	pe_design_free(&design);
	/* every stage goes on counting */
	homotopy_defaults(&options);
	told.count = 0;
	pe_coa(v, n, &options, &trace_of, &design);
	assert_int_equal(told.count, design.iterations + 1);
	for (int i = 0; i < told.count; i++)
		assert_int_equal(told.iteration[i], i);
	pe_design_free(&design);
	pe_free(v);
}

/* No step raises F, however wild the directions are: few queries, and little else. */
static void
test_descent(void **state)
{
	for (int turn = 0; turn < 40; turn++)
	{
		int			n = 4 + turn % 13;
		double	   *v = turn % 2 == 0 ? random_gram(n, n) : badly_scaled(n, n);
		story		told = {0};
		pe_trace	trace_of = {listen, &told};
		pe_coa_options options;
		pe_design	design;

		pe_coa_defaults(&options);
		options.theta = 0.0;
		options.cg_steps = 1 + turn % 7;
		pe_coa(v, n, &options, &trace_of, &design);
		assert_int_equal(told.count, design.iterations + 1);
		for (int i = 1; i < told.count; i++)
			assert_true(told.objective[i] <= told.objective[i - 1]);
		pe_design_free(&design);
		pe_free(v);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_derivatives),
		cmocka_unit_test(test_newton),
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_order_two),
		cmocka_unit_test(test_diagonal),
		cmocka_unit_test(test_certificate),
		cmocka_unit_test(test_trace),
		cmocka_unit_test(test_descent),
	};

	pe_test_seed(20160813);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
