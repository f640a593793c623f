/*
 * test_accelerated.c
 *	  gd, hb, nag, masg, nag_opt and masg_opt: src/fit/fit_accelerated.c and
 *	  first_order.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "descent.h"
#include "noise/gaussian.h"
#include "noise/laplace.h"
#include "fit/measure.h"
#include "statistics.h"
#include "numbers.h"
#include "accounting/conversion.h"
#include "allowance.h"

static const pe_fit_method all_methods[] = {
	PE_FIT_GD, PE_FIT_HB, PE_FIT_NAG, PE_FIT_MASG, PE_FIT_NAG_OPT, PE_FIT_MASG_OPT
};

/* ----------
 * Schedules, against the reference program for the paper's synthetic problem
 * ----------
 */
static pe_row_shape paper_shape = {.dense = 20, .columns = 20};

/* n = 1e5, d = 20, lambda = .01, units replaced, the guess 10 of the first gap */
static void
make_paper_problem(pe_fit_problem *problem, pe_fit_method method, bool pure, double c, int32_t steps)
{
	make_descent_problem(problem, method);
	problem->shape = &paper_shape;
	problem->radius_sq = (pe_u128) 20 * PE_ONE * PE_ONE;
	problem->radius_1 = 20 * PE_ONE;
	problem->substitute = true;
	problem->accounting = pure ? PE_PURE : PE_ZCDP;
	problem->nano = pure ? 1000000000 : 24355928;
	problem->options.iterations = steps;
	problem->options.l2 = 2000;
	problem->options.rows = 100000;
	problem->options.rate = c;
	problem->options.smoothness = 5.10278475666542 - 0.02;
	problem->options.start = 10;
	if (method == PE_FIT_NAG_OPT || method == PE_FIT_MASG_OPT)
		problem->options.gap0 = 10;
	assert_null(pe_fit_defaults(problem));
}

static void
test_best_steps(void **state)
{
	static const int32_t steps[] = {100, 200, 500, 1000};
	static const int32_t expected[2][2][2][4] = {
		/* rho: c = .1, nag and masg; c = 1 */
		{{{100, 200, 500, 1000}, {89, 89, 89, 89}}, {{100, 200, 320, 320}, {89, 200, 497, 1000}}},
		/* pure */
		{{{100, 200, 349, 349}, {89, 89, 89, 89}}, {{100, 121, 121, 121}, {89, 89, 89, 89}}}
	};

	(void) state;
	for (int i = 0; i < 32; i++)
	{
		int			pure = i / 16;
		int			whole = i / 8 % 2;
		int			multistage = i / 4 % 2;
		pe_fit_problem problem;
		pe_schedule schedule;

		make_paper_problem(&problem, multistage ? PE_FIT_MASG_OPT : PE_FIT_NAG_OPT, pure, whole ? 1 : 0.1, steps[i % 4]);
		pe_schedule_make(&problem, 100000, problem.nano, &schedule);
		assert_int_equal(schedule.steps, expected[pure][whole][multistage][i % 4]);
		pe_schedule_free(&schedule);
	}
}

/* Parts of the first step, the middle one, and the last two. */
static void
test_parts(void **state)
{
	static const struct
	{
		bool		pure;
		double		c;
		int32_t		steps;
		pe_fit_method method;
		double		part[4];
		double		last_rate;
		int32_t		last_stage;
	}			cases[] = {
		{true, 1, 200, PE_FIT_NAG_OPT, {0.00173354523935, 0.00631663335141, 0.0225256319362, 0.0230163343826}, 0.195971424955, 1},
		{true, .1, 1000, PE_FIT_NAG_OPT, {0.00072383807565, 0.00230847875447, 0.00731333725454, 0.00736224625246}, 0.0195971424955, 1},
		{true, 1, 500, PE_FIT_MASG_OPT, {0.00375125635088, 0.00968234238228, 0.0244582259768, 0.0249910284019}, 0.195971424955, 1},
		{false, 1, 500, PE_FIT_MASG_OPT, {0.000466470625342, 0.00114757790754, 0.00302806850752, 0.00303998683347}, 0.00306205351491, 3},
		{false, .1, 500, PE_FIT_NAG_OPT, {6.82298494651e-05, 0.00083080913196, 0.0099161684367, 0.0100158082734}, 0.0195971424955, 1}
	};

	(void) state;
	for (int i = 0; i < lengthof(cases); i++)
	{
		pe_fit_problem problem;
		pe_schedule schedule;
		int64_t		sum = 0;
		int32_t		at[4];

		make_paper_problem(&problem, cases[i].method, cases[i].pure, cases[i].c, cases[i].steps);
		pe_schedule_make(&problem, 100000, problem.nano, &schedule);
		at[0] = 0;
		at[1] = schedule.steps / 2;
		at[2] = schedule.steps - 2;
		at[3] = schedule.steps - 1;
		for (int k = 0; k < 4; k++)
			assert_true(fabs((double) schedule.nano[at[k]] - cases[i].part[k] * (double) problem.nano) <
						2 + 1e-4 * cases[i].part[k] * (double) problem.nano);
		assert_true(fabs(schedule.rate[at[3]] / cases[i].last_rate - 1) < 1e-10);
		assert_int_equal(schedule.stage[at[3]], cases[i].last_stage);
		for (int32_t t = 0; t < schedule.steps; t++)
			sum += schedule.nano[t];
		assert_true(sum <= problem.nano && sum >= problem.nano - 2 * schedule.steps);
		pe_schedule_free(&schedule);
	}
}

/* The stages of masg: 89, 136 and 272 steps, then the rest; a quarter of the rate and a smaller momentum from stage 2 on. */
static void
test_stages(void **state)
{
	static const int32_t lengths[] = {89, 136, 272, 503};
	pe_fit_problem problem;
	pe_schedule schedule;
	int32_t		t = 0;

	(void) state;
	make_paper_problem(&problem, PE_FIT_MASG, true, 1, 1000);
	pe_schedule_make(&problem, 100000, problem.nano, &schedule);
	assert_int_equal(schedule.steps, 1000);
	for (int stage = 1; stage <= 4; stage++)
	{
		double		rate = (stage == 1 ? 1 : ldexp(1, -2 * stage)) / 5.10278475666542;
		double		root = sqrt(0.02 * rate);

		for (int32_t end = t + lengths[stage - 1]; t < end; t++)
		{
			assert_int_equal(schedule.stage[t], stage);
			assert_true(fabs(schedule.rate[t] / rate - 1) < 1e-12);
			assert_true(fabs(schedule.momentum[t] - (1 - root) / (1 + root)) < 1e-12);
			assert_true(schedule.nano[t] == 1 + (1000000000 - 1000) / 1000);
		}
	}
	pe_schedule_free(&schedule);
}

/* Whatever the options: at least a unit for every step, never more than the whole. */
static void
test_costs(void **state)
{
	(void) state;
	pe_test_seed(3);
	for (int i = 0; i < 3000; i++)
	{
		pe_fit_problem problem;
		pe_schedule schedule;
		int64_t		sum = 0;
		double		rows = floor(exp(20 * descent_uniform()));

		make_descent_problem(&problem, all_methods[i % 6]);
		problem.accounting = i / 6 % 2 ? PE_PURE : PE_ZCDP;
		problem.options.iterations = 1 + floor(300 * descent_uniform());
		problem.options.rate = i % 7 == 0 ? 1 : 0.001 + descent_uniform() * 0.999;
		if (i % 5 != 0)
			problem.options.l2 = exp(59 * descent_uniform() - 25);
		if (i % 3 == 0)
			problem.options.smoothness = exp(40 * descent_uniform() - 20);
		problem.nano = (int64_t) problem.options.iterations;
		if (i % 11 != 0)
			problem.nano = i % 13 == 0 ? INT64_MAX - i % 2 : problem.nano + (int64_t) exp(43 * descent_uniform());
		assert_null(pe_fit_defaults(&problem));
		pe_schedule_make(&problem, rows, problem.nano, &schedule);
		assert_true(schedule.steps >= 1 && schedule.steps <= problem.options.iterations);
		for (int32_t t = 0; t < schedule.steps; t++)
		{
			assert_true(schedule.nano[t] >= 1);
			assert_true(schedule.rate[t] > 0 && isfinite(schedule.rate[t]));
			assert_true(schedule.momentum[t] >= 0 && schedule.momentum[t] < 1);
			sum += schedule.nano[t];
			assert_true(sum >= 0);
		}
		assert_true(sum <= problem.nano);
		pe_schedule_free(&schedule);
	}
	pe_test_unseed();
}

static void
schedule_too_cheap(void *argument)
{
	pe_schedule schedule;

	pe_schedule_make(argument, 1000, 99, &schedule);
}

static void
test_too_cheap(void **state)
{
	pe_fit_problem problem;

	(void) state;
	make_descent_problem(&problem, PE_FIT_GD);
	assert_null(pe_fit_defaults(&problem));
	assert_true(pe_test_is_bug(schedule_too_cheap, &problem));
}

/* ----------
 * Steps
 * ----------
 */

/* The paper's recursions as the reference program has them, in doubles and without noise. */
static void
descend(const descent_rows *d, const pe_fit_problem *problem, const pe_schedule *schedule, kept_trace *kept)
{
	double		mu = problem->options.l2 / problem->options.rows;
	double		x[COLUMNS];
	double		before[COLUMNS];
	bool		ball = problem->method == PE_FIT_HB;

	for (int j = 0; j < COLUMNS; j++)
		x[j] = before[j] = problem->options.start;
	for (int32_t t = 0; t < schedule->steps; t++)
	{
		double		momentum = problem->method == PE_FIT_GD ? 0 : schedule->momentum[t];
		double		z[COLUMNS];
		double		g[COLUMNS];

		if (t > 1 && schedule->stage[t] - schedule->stage[t - 1] == 1)
			memcpy(before, x, sizeof(before));
		for (int j = 0; j < COLUMNS; j++)
			z[j] = ball || momentum == 0 ? x[j] : (1 + momentum) * x[j] - momentum * before[j];
		mean_gradient(d, z, g);
		for (int j = 0; j < COLUMNS; j++)
		{
			double		next = (ball ? x[j] + momentum * (x[j] - before[j]) : z[j]) -
				schedule->rate[t] * (g[j] + mu * z[j]);

			before[j] = x[j];
			x[j] = next;
		}
		memcpy(kept->w[t + 1], x, sizeof(x));
	}
}

/* Without noise every iterate is that of the recursion; residuals are rounded to 2^-15. */
static void
test_steps(void **state)
{
	static kept_trace expected;
	static kept_trace got;
	descent_rows d;

	(void) state;
	make_descent_rows(&d, 3000, 5);
	for (int i = 0; i < 2 * lengthof(all_methods); i++)
	{
		pe_fit_problem problem;
		pe_schedule schedule;
		watched_source watched;
		double		w[COLUMNS];
		double		farthest = 0;

		make_descent_problem(&problem, all_methods[i % 6]);
		problem.accounting = i >= 6 ? PE_PURE : PE_ZCDP;
		problem.options.iterations = 60;
		problem.options.rows = 3000;
		problem.options.l2 = 60;
		problem.options.start = 1.5;
		problem.options.rate = i % 2 == 0 ? 1 : 0.3;
		problem.trace = keep;
		problem.trace_argument = &got;
		assert_null(pe_fit_defaults(&problem));
		pe_schedule_make(&problem, 3000, problem.nano, &schedule);
		descend(&d, &problem, &schedule, &expected);
		got.steps = 0;
		watch_source(&watched, &d.source);
		run_fit(pe_fit_accelerated, &problem, &watched.source, w);
		assert_int_equal(got.steps, schedule.steps);
		assert_int_equal(watched.gradients, schedule.steps);
		assert_int_equal(watched.counts, 0);
		assert_int_equal(watched.last.norm, (problem.accounting == PE_PURE) ? PE_L1 : PE_L2);
		assert_true(watched.last.sample == 0);
		assert_true(watched.last.clip <= pe_clip_integer((problem.accounting == PE_PURE) ? COLUMNS : 2, 0, watched.last.norm));
		for (int32_t t = 1; t <= schedule.steps; t++)
			for (int j = 0; j < COLUMNS; j++)
				farthest = fmax(farthest, fabs(got.w[t][j] - expected.w[t][j]));
		print_message("%s: %d steps, farthest %.2g\n", pe_fit_method_name(problem.method), schedule.steps, farthest);
		assert_true(farthest < 1e-4);
		assert_memory_equal(w, got.w[schedule.steps], sizeof(w));
		pe_schedule_free(&schedule);
	}
	free_descent_rows(&d);
}

/*
 * No rows at all: what is left is the noise.  From x = 0 one step of gd moves by rate
 * noise / divisor, whose variance is that of the step's cost: with a batch, of what the
 * step would cost without sampling.
 */
static void
check_noise(bool pure, bool substitute, int32_t k, bool unit_clip, double batch)
{
	long		runs = scaled(20000);
	descent_rows d;
	pe_fit_problem problem;
	double		squares = 0;
	double		fourths = 0;
	double		deviation;
	pe_schedule schedule;
	int64_t		cost;
	bool		fits;

	make_descent_rows(&d, 0, 1);
	make_descent_problem(&problem, PE_FIT_GD);
	problem.accounting = pure ? PE_PURE : PE_ZCDP;
	problem.substitute = substitute;
	problem.max_rows = k;
	problem.nano = 50000000;
	problem.options.iterations = 1;
	problem.options.rows = 1000;
	problem.options.batch = batch;
	problem.options.clip = 1.25;
	problem.options.unit_clip = unit_clip;
	assert_null(pe_fit_defaults(&problem));
	pe_schedule_make(&problem, 1000, problem.nano, &schedule);
	if (unit_clip)
		k = 1;
	assert_true(schedule.nano[0] == problem.nano);
	cost = pe_unsampled_epsilon(problem.nano, batch > 0 ? pe_sample_probability(pe_sample_of(batch / 1000, &fits)) : 1);
	if (pure)
		deviation = pe_laplace_stderr(pe_clip_integer(1.25, 0, PE_L1) * (substitute ? 2 : 1) * k, cost);
	else
		deviation = pe_gaussian_stderr(PE_ZCDP, pe_clip_integer(1.25, 0, PE_L2) * (substitute ? 4 : 1) * k * k, cost);
	pe_test_seed((uint64_t) k + 4 * pure + 8 * substitute);
	deviation *= schedule.rate[0] / (batch > 0 ? batch : 1000) / (32768.0 * PE_ONE);
	for (long i = 0; i < runs; i++)
	{
		double		w[COLUMNS];

		run_fit(pe_fit_accelerated, &problem, &d.source, w);
		for (int j = 0; j < COLUMNS; j++)
		{
			double		z = w[j] / deviation;

			squares += z * z;
			fourths += z * z * z * z;
		}
	}
	pe_test_unseed();
	/* E z^2 = 1, E z^4 = 3 of a Gaussian, 6 of a Laplace */
	runs *= COLUMNS;
	check_z("variance", (squares / (double) runs - 1) / sqrt((pure ? 5 : 2) / (double) runs));
	check_z("fourth moment", (fourths / (double) runs / (pure ? 6 : 3) - 1) / sqrt((pure ? 69 : 10.7) / (double) runs));
	pe_schedule_free(&schedule);
	free_descent_rows(&d);
}

static void
test_noise(void **state)
{
	(void) state;
	check_noise(false, false, 1, false, 0);
	check_noise(false, true, 3, false, 0);
	check_noise(false, true, 3, true, 0);
	check_noise(true, false, 3, true, 0);
	check_noise(true, false, 2, false, 0);
	check_noise(true, true, 1, false, 0);
	check_noise(true, false, 1, false, 10);
}

/* Batches: each row with probability q, sums divided by what was expected; the mean over batches is the gradient of all. */
static void
test_batches(void **state)
{
	const double q = 0.125;
	long		runs = scaled(4000);
	descent_rows d;
	pe_fit_problem problem;
	pe_schedule schedule;
	watched_source watched;
	double		gradient[COLUMNS];
	double		zero[COLUMNS] = {0};
	double		sum[COLUMNS] = {0};
	double		squares[COLUMNS] = {0};

	(void) state;
	make_descent_rows(&d, 500, 9);
	make_descent_problem(&problem, PE_FIT_GD);
	problem.accounting = PE_PURE;
	problem.options.iterations = 1;
	problem.options.rows = 500;
	problem.options.batch = 500 * q;
	assert_null(pe_fit_defaults(&problem));
	pe_schedule_make(&problem, 500, problem.nano, &schedule);
	mean_gradient(&d, zero, gradient);
	watch_source(&watched, &d.source);
	pe_test_seed(77);
	for (long i = 0; i < runs; i++)
	{
		double		w[COLUMNS];

		run_fit(pe_fit_accelerated, &problem, &watched.source, w);
		for (int j = 0; j < COLUMNS; j++)
		{
			sum[j] -= w[j] / schedule.rate[0];
			squares[j] += w[j] / schedule.rate[0] * w[j] / schedule.rate[0];
		}
	}
	pe_test_unseed();
	assert_true(watched.last.sample == UINT64_C(1) << 61);
	for (int j = 0; j < COLUMNS; j++)
	{
		double		variance = 0;
		double		seen = squares[j] / (double) runs - sum[j] / (double) runs * sum[j] / (double) runs;

		/* at w = 0 every residual is 1/2 */
		for (int i = 0; i < d.count; i++)
			variance += q * (1 - q) * d.x[i][j] * d.x[i][j] / 4 / (500 * q) / (500 * q);
		check_z("mean of batches", (sum[j] / (double) runs - gradient[j]) / sqrt(variance / (double) runs));
		check_z("variance of batches", (seen / variance - 1) / sqrt(2 / (double) runs));
	}
	pe_schedule_free(&schedule);
	free_descent_rows(&d);
}

static descent_rows no_rows;

static void
batches_of_rho(void *argument)
{
	double		w[COLUMNS];

	run_fit(pe_fit_accelerated, argument, &no_rows.source, w);
}

/* What is not accounted for does not run, even if somebody asked past the refusal. */
static void
test_unaccounted(void **state)
{
	pe_fit_problem problem;

	(void) state;
	make_descent_rows(&no_rows, 0, 1);
	make_descent_problem(&problem, PE_FIT_NAG);
	problem.options.rows = 100;
	problem.options.batch = 10;
	assert_null(pe_fit_defaults(&problem));
	assert_true(pe_test_is_bug(batches_of_rho, &problem));
	problem.accounting = problem.substitute = true ? PE_PURE : PE_ZCDP;
	assert_true(pe_test_is_bug(batches_of_rho, &problem));
	free_descent_rows(&no_rows);
}

/* Private fits: with rows to measure, without any rows, at the least cost and at a sensible one. */
static void
test_runs(void **state)
{
	static const int counts[] = {0, 1, 4000};
	static const int64_t costs[] = {101, 50000000};

	(void) state;
	for (int i = 0; i < lengthof(all_methods) * lengthof(counts) * lengthof(costs) * 2; i++)
	{
		descent_rows d;
		watched_source watched;
		pe_fit_problem problem;
		double		w[COLUMNS];

		make_descent_rows(&d, counts[i / 6 % 3], 2);
		watch_source(&watched, &d.source);
		make_descent_problem(&problem, all_methods[i % 6]);
		problem.accounting = i / 36 ? PE_PURE : PE_ZCDP;
		problem.nano = costs[i / 18 % 2];
		problem.options.iterations = 50;
		assert_null(pe_fit_defaults(&problem));
		run_fit(pe_fit_accelerated, &problem, &watched.source, w);
		assert_int_equal(watched.counts, 1);
		assert_true(watched.gradients >= 1 && watched.gradients <= 50);
		assert_int_equal(pe_fit_passes(&problem), 51);
		for (int j = 0; j < COLUMNS; j++)
			assert_true(isfinite(w[j]));
		free_descent_rows(&d);
	}
}

/* Part of the rows whose label the sign of the margin tells. */
static double
accuracy(const descent_rows *d, const double *w)
{
	int			right = 0;

	for (int i = 0; i < d->count; i++)
	{
		double		margin = 0;

		for (int j = 0; j < COLUMNS; j++)
			margin += d->x[i][j] * w[j];
		right += (margin > 0) == (d->y[i] > 0);
	}
	return (double) right / d->count;
}

/* With defaults and rho .02 every method learns what there is to learn from 20000 rows (86 %). */
static void
test_learns(void **state)
{
	descent_rows d;
	double		best = 0;
	double		truth[COLUMNS];

	(void) state;
	make_descent_rows(&d, 20000, 12);
	for (int j = 0; j < COLUMNS; j++)
		truth[j] = (j % 2 == 0 ? 1 : -2) * (j + 1);
	best = accuracy(&d, truth);
	for (int i = 0; i < lengthof(all_methods); i++)
	{
		pe_fit_problem problem;
		double		w[COLUMNS];

		make_descent_problem(&problem, all_methods[i]);
		problem.nano = 20000000;
		assert_null(pe_fit_defaults(&problem));
		run_fit(pe_fit_accelerated, &problem, &d.source, w);
		print_message("%s: accuracy %.3f of %.3f\n", pe_fit_method_name(problem.method), accuracy(&d, w), best);
		assert_true(accuracy(&d, w) > best - 0.05);
	}
	free_descent_rows(&d);
}

/* ----------
 * Options
 * ----------
 */
static void
test_options(void **state)
{
	pe_fit_problem problem;

	(void) state;
	make_descent_problem(&problem, PE_FIT_NAG);
	assert_null(pe_fit_defaults(&problem));
	assert_true(problem.options.iterations == 100 && problem.options.clip == 2 && problem.options.smoothness == 1);
	assert_null(pe_fit_defaults(&problem));
	problem.options.rate = 1.5;
	assert_string_equal(pe_fit_defaults(&problem), "rate");
	problem.options.rate = 1;
	problem.options.l2 = 0;
	assert_string_equal(pe_fit_defaults(&problem), "l2");
	problem.method = PE_FIT_GD;
	assert_null(pe_fit_defaults(&problem));
	problem.options.batch = 10;
	assert_string_equal(pe_fit_defaults(&problem), "rows");
	problem.options.rows = 9;
	assert_string_equal(pe_fit_defaults(&problem), "batch");
	problem.options.sampling = 0.1;
	assert_string_equal(pe_fit_defaults(&problem), "sampling");
	make_descent_problem(&problem, PE_FIT_NEWTON);
	problem.options.smoothness = 1;
	assert_string_equal(pe_fit_defaults(&problem), "smoothness");
	make_descent_problem(&problem, PE_FIT_MASG_OPT);
	problem.model = PE_MODEL_SVM;
	problem.accounting = PE_PURE;
	assert_null(pe_fit_defaults(&problem));
	assert_true(problem.options.iterations == 1000 && problem.options.clip == 4 && problem.options.smoothness == 4);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_best_steps),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_stages),
		cmocka_unit_test(test_costs),
		cmocka_unit_test(test_too_cheap),
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_batches),
		cmocka_unit_test(test_unaccounted),
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_learns),
		cmocka_unit_test(test_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
