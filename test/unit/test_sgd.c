/*
 * test_sgd.c
 *	  sgd and sgd_adv: src/fit/fit_sgd.c, with plans of src/fit/sampling.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fit/fit.h"
#include "descent.h"
#include "noise/gaussian.h"
#include "fit/measure.h"
#include "statistics.h"
#include "numbers.h"
#include "allowance.h"

static void
make_problem(pe_fit_problem *problem, pe_fit_method method, int32_t steps, double q, double rows)
{
	make_descent_problem(problem, method);
	problem->nano = 1000000000;
	problem->options.iterations = steps;
	problem->options.sampling = q;
	problem->options.rows = rows;
	assert_null(pe_fit_defaults(problem));
}

/*
 * All rows in every batch and no noise: gradient descent with an implicit regulariser;
 * sgd's mean of the second half, sgd_adv's last iterate, and a trace that ends in what is
 * returned.
 */
static void
test_steps(void **state)
{
	static kept_trace kept;
	descent_rows d;

	(void) state;
	make_descent_rows(&d, 2000, 21);
	for (int adv = 0; adv < 2; adv++)
	{
		pe_fit_problem problem;
		watched_source watched;
		double		x[COLUMNS] = {0.5, 0.5, 0.5, 0.5};
		double		mean[COLUMNS] = {0};
		double		w[COLUMNS];
		double		mu;

		make_descent_problem(&problem, adv ? PE_FIT_SGD_ADV : PE_FIT_SGD);
		problem.options.iterations = 41;
		problem.options.sampling = 1;
		problem.options.rows = 2000;
		problem.options.start = 0.5;
		problem.options.l2 = 100;
		problem.options.rate = 0.7;
		assert_null(pe_fit_defaults(&problem));
		problem.plan = (pe_fit_plan) {.nano_step = WITHOUT_NOISE, .steps = 41};
		problem.trace = keep;
		problem.trace_argument = &kept;
		kept.steps = 0;
		watch_source(&watched, &d.source);
		run_fit(adv ? pe_fit_sgd_adv : pe_fit_sgd, &problem, &watched.source, w);
		assert_int_equal(watched.gradients, 41);
		assert_int_equal(watched.counts, 0);
		assert_int_equal(kept.steps, 41);
		assert_memory_equal(w, kept.w[41], sizeof(w));
		mu = problem.options.l2 / 2000;
		for (int t = 1; t <= 41; t++)
		{
			double		g[COLUMNS];

			mean_gradient(&d, x, g);
			for (int j = 0; j < COLUMNS; j++)
			{
				x[j] = (x[j] - 0.7 * g[j]) / (1 + 0.7 * mu);
				if (t > 20)
					mean[j] += x[j] / 21;
				if (t <= 20)
					assert_true(fabs(kept.w[t][j] - x[j]) < 1e-5);
			}
		}
		for (int j = 0; j < COLUMNS; j++)
			assert_true(fabs(w[j] - (adv ? x[j] : mean[j])) < 1e-5);
	}
	free_descent_rows(&d);
}

/* The mean square of a step without rows, in squares of what its noise would make at the rate 1. */
static double
unset_rate_sq(pe_model model, int64_t nano_step, long runs, double *distance_sq)
{
	descent_rows d;
	pe_fit_problem problem;
	double		sum = 0;
	double		noise;
	bool		fits;

	make_descent_rows(&d, 0, 1);
	make_descent_problem(&problem, PE_FIT_SGD);
	problem.model = model;
	problem.nano = 1000000000;
	problem.options.iterations = 1;
	problem.options.sampling = 0.25;
	problem.options.rows = 4000;
	assert_null(pe_fit_defaults(&problem));
	problem.plan = (pe_fit_plan) {.nano_step = nano_step, .steps = 1, .sample = pe_sample_of(0.25, &fits)};
	for (long i = 0; i < runs; i++)
	{
		double		w[COLUMNS];

		run_fit(pe_fit_sgd, &problem, &d.source, w);
		for (int j = 0; j < COLUMNS; j++)
			sum += w[j] * w[j] / runs;
	}
	free_descent_rows(&d);
	noise = problem.options.clip / 1000 * sqrt(COLUMNS * 5e8 / nano_step);
	*distance_sq = sum;
	return sum / (noise * noise) * problem.options.smoothness * problem.options.smoothness;
}

/* A rate that is not given: 1 / L or 2 / L, or what keeps the noise of all steps from going farther than 8. */
static void
test_unset_rate(void **state)
{
	long		runs = scaled(20000);
	double		allowed = 6.2 * sqrt(2.0 / COLUMNS / runs);
	double		distance_sq;

	(void) state;
	pe_test_seed(6);
	assert_true(fabs(unset_rate_sq(PE_MODEL_LOGISTIC, 1000000, runs, &distance_sq) - 1) < allowed);
	assert_true(fabs(unset_rate_sq(PE_MODEL_SVM, 1000000, runs, &distance_sq) / 4 - 1) < allowed);
	unset_rate_sq(PE_MODEL_LOGISTIC, 1, runs, &distance_sq);
	assert_true(fabs(distance_sq / 64 - 1) < allowed);
	pe_test_unseed();
}

/* No rows: a step's noise is that of nano_step, of k rows a unit, divided by q rows. */
static void
test_noise(void **state)
{
	long		runs = scaled(20000);
	descent_rows d;
	pe_fit_problem problem;
	double		squares = 0;
	double		fourths = 0;
	double		deviation;

	(void) state;
	make_descent_rows(&d, 0, 1);
	make_problem(&problem, PE_FIT_SGD, 1, 0.25, 4000);
	problem.options.rate = 0.5;
	problem.max_rows = 3;
	assert_true(pe_plan_sampled(&problem));
	deviation = problem.options.rate / 1000 / (32768.0 * PE_ONE) *
		pe_gaussian_stderr(PE_ZCDP, pe_clip_integer(problem.options.clip, 0, PE_L2) * 9, problem.plan.nano_step);
	pe_test_seed(4);
	for (long i = 0; i < runs; i++)
	{
		double		w[COLUMNS];

		run_fit(pe_fit_sgd, &problem, &d.source, w);
		for (int j = 0; j < COLUMNS; j++)
		{
			double		z = w[j] / deviation;

			squares += z * z;
			fourths += z * z * z * z;
		}
	}
	pe_test_unseed();
	runs *= COLUMNS;
	/* the clip is brought to the longest gradient, 1 / 32768 less than 1 */
	check_z("variance", (squares / (double) runs - 1) / sqrt(2 / (double) runs));
	check_z("fourth moment", (fourths / (double) runs / 3 - 1) / sqrt(10.7 / (double) runs));
	free_descent_rows(&d);
}

/* Batches are random, new in every step, and right in the mean and in the variance. */
static void
test_batches(void **state)
{
	const double q = 0.2;
	long		runs = scaled(4000);
	descent_rows d;
	pe_fit_problem problem;
	watched_source watched;
	double		zero[COLUMNS] = {0};
	double		gradient[COLUMNS];
	double		sum[COLUMNS] = {0};
	double		squares[COLUMNS] = {0};
	bool		fits;

	(void) state;
	make_descent_rows(&d, 400, 31);
	make_problem(&problem, PE_FIT_SGD, 1, q, 400);
	problem.options.rate = 0.5;
	problem.plan = (pe_fit_plan) {.nano_step = WITHOUT_NOISE, .steps = 1, .sample = pe_sample_of(q, &fits)};
	mean_gradient(&d, zero, gradient);
	watch_source(&watched, &d.source);
	pe_test_seed(8);
	for (long i = 0; i < runs; i++)
	{
		double		w[COLUMNS];

		run_fit(pe_fit_sgd, &problem, &watched.source, w);
		for (int j = 0; j < COLUMNS; j++)
		{
			sum[j] -= w[j] / problem.options.rate;
			squares[j] += w[j] / problem.options.rate * w[j] / problem.options.rate;
		}
	}
	pe_test_unseed();
	assert_true(watched.last.sample == problem.plan.sample);
	for (int j = 0; j < COLUMNS; j++)
	{
		double		variance = 0;
		double		seen = squares[j] / (double) runs - sum[j] / (double) runs * sum[j] / (double) runs;

		for (int i = 0; i < d.count; i++)
			variance += q * (1 - q) * d.x[i][j] * d.x[i][j] / 4 / (400 * q) / (400 * q);
		check_z("mean of batches", (sum[j] / (double) runs - gradient[j]) / sqrt(variance / (double) runs));
		check_z("variance of batches", (seen / variance - 1) / sqrt(2 / (double) runs));
	}
	free_descent_rows(&d);
}

/* The rows of a unit come together or not at all, anew in every step. */
static void
test_units(void **state)
{
	pe_row_shape shape = {.dense = 1, .columns = 1};
	pe_fit_problem problem;
	pe_source	source;
	pe_rows		rows;
	long		runs = scaled(4000);
	long		came = 0;
	bool		fits;

	(void) state;
	pe_rows_init(&rows, &shape, true);
	pe_source_of_rows(&source, &rows);
	for (int i = 0; i < 30; i++)
	{
		static const uint64_t unit[2] = {123456789, 987654321};
		int16_t		one = PE_ONE;
		pe_row		row = {&one, NULL, PE_ONE, 1};

		pe_rows_add(&rows, &row, unit);
	}
	make_problem(&problem, PE_FIT_SGD, 1, 0.3, 30);
	problem.shape = &shape;
	problem.max_rows = 30;
	problem.options.rate = 1;
	problem.plan = (pe_fit_plan) {.nano_step = WITHOUT_NOISE, .steps = 1, .sample = pe_sample_of(0.3, &fits)};
	pe_test_seed(15);
	for (long i = 0; i < runs; i++)
	{
		double		w;

		/* 30 residuals of 1/2, divided by the 9 rows that are expected */
		run_fit(pe_fit_sgd, &problem, &source, &w);
		assert_true(fabs(w) < 0.01 || fabs(w - 15 / 9.0) < 0.01);
		came += w > 1;
	}
	pe_test_unseed();
	check_z("units that come", ((double) came - 0.3 * (double) runs) / sqrt(0.21 * (double) runs));
	pe_rows_free(&rows);
}

static descent_rows no_rows;

static void
run_problem(void *argument)
{
	double		w[COLUMNS];

	run_fit(pe_fit_sgd, argument, &no_rows.source, w);
}

/* Without a plan, or on what the plan does not cover, it does not run. */
static void
test_unaccounted(void **state)
{
	pe_fit_problem problem;

	(void) state;
	make_descent_rows(&no_rows, 0, 1);
	make_problem(&problem, PE_FIT_SGD, 10, 0.1, 1000);
	assert_true(pe_test_is_bug(run_problem, &problem));
	assert_true(pe_plan_sampled(&problem));
	problem.substitute = true;
	assert_true(pe_test_is_bug(run_problem, &problem));
	problem.substitute = false;
	problem.accounting = PE_PURE;
	assert_true(pe_test_is_bug(run_problem, &problem));
	free_descent_rows(&no_rows);
}

/* No rows, a few, and many; the number of rows measured. */
static void
test_runs(void **state)
{
	static const int counts[] = {0, 2, 5000};

	(void) state;
	for (int i = 0; i < lengthof(counts) * 3; i++)
	{
		descent_rows d;
		watched_source watched;
		pe_fit_problem problem;
		double		w[COLUMNS];

		make_descent_rows(&d, counts[i / 3], 2);
		watch_source(&watched, &d.source);
		make_problem(&problem, PE_FIT_SGD, 30, 0.1, NAN);
		problem.model = (pe_model) (i % 3);
		assert_true(pe_plan_sampled(&problem));
		run_fit(pe_fit_sgd, &problem, &watched.source, w);
		assert_int_equal(watched.counts, 1);
		assert_int_equal(watched.gradients, 30);
		assert_int_equal(pe_fit_passes(&problem), 31);
		for (int j = 0; j < COLUMNS; j++)
			assert_true(isfinite(w[j]));
		free_descent_rows(&d);
	}
}

/* Rates and regularisers beyond any sense do not end in numbers that are not finite. */
static void
test_extremes(void **state)
{
	static const double extremes[] = {1e-300, 1e6};
	descent_rows d;

	(void) state;
	make_descent_rows(&d, 50, 2);
	for (int i = 0; i < 8; i++)
	{
		pe_fit_problem problem;
		double		w[COLUMNS];

		make_descent_problem(&problem, PE_FIT_SGD);
		problem.model = PE_MODEL_LINEAR;
		problem.nano = 10000000;
		problem.options.iterations = 300;
		problem.options.rate = extremes[i % 2];
		problem.options.l2 = extremes[i / 2 % 2] * 1e9;
		problem.options.rows = i / 4 ? 1 : 1e15;
		assert_null(pe_fit_defaults(&problem));
		assert_true(pe_plan_sampled(&problem));
		run_fit(pe_fit_sgd, &problem, &d.source, w);
		for (int j = 0; j < COLUMNS; j++)
			assert_true(isfinite(w[j]));
	}
	free_descent_rows(&d);
}

/* epsilon 1, delta 1e-6: what there is to learn from 20000 rows, with defaults but for fewer steps. */
static void
test_learns(void **state)
{
	descent_rows d;

	(void) state;
	make_descent_rows(&d, 20000, 12);
	for (int model = PE_MODEL_LOGISTIC; model <= PE_MODEL_SVM; model++)
	{
		pe_fit_problem problem;
		double		w[COLUMNS];
		int			right = 0;
		int			best = 0;

		make_problem(&problem, PE_FIT_SGD, 200, NAN, NAN);
		problem.model = (pe_model) model;
		assert_true(pe_plan_sampled(&problem));
		run_fit(pe_fit_sgd, &problem, &d.source, w);
		for (int i = 0; i < d.count; i++)
		{
			double		margin = 0;
			double		truth = 0;

			for (int j = 0; j < COLUMNS; j++)
			{
				margin += d.x[i][j] * w[j];
				truth += d.x[i][j] * (j % 2 == 0 ? 1 : -2) * (j + 1);
			}
			right += (margin > 0) == (d.y[i] > 0);
			best += (truth > 0) == (d.y[i] > 0);
		}
		print_message("model %d: accuracy %.3f of %.3f\n", model, right / 20000.0, best / 20000.0);
		assert_true(right > best - 1000);
	}
	free_descent_rows(&d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_unset_rate),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_batches),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_unaccounted),
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_learns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
