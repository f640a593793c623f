/*
 * test_first_order.c
 *	  gd, hb, nag, masg, nag_opt, masg_opt (src/fit/fit_accelerated.c, first_order.c), sgd
 *	  and sgd_adv (src/fit/fit_sgd.c, with plans of src/fit/sampling.c).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fit/fit.h"
#include "descent.h"
#include "noise/gaussian.h"
#include "noise/laplace.h"
#include "fit/measure.h"
#include "statistics.h"
#include "numbers.h"
#include "accounting/conversion.h"
#include "allowance.h"

#define ACCELERATED 6

/* The first of them are those of fit_accelerated.c. */
static const pe_fit_method all_methods[] = {
	PE_FIT_GD, PE_FIT_HB, PE_FIT_NAG, PE_FIT_MASG, PE_FIT_NAG_OPT, PE_FIT_MASG_OPT, PE_FIT_SGD
};

static void
run_method(const pe_fit_problem *problem, pe_source *source, double *w)
{
	run_fit(problem->method == PE_FIT_SGD ? pe_fit_sgd : problem->method == PE_FIT_SGD_ADV ? pe_fit_sgd_adv
			: pe_fit_accelerated, problem, source, w);
}

/* sgd, of epsilon 1 */
static void
make_sgd_problem(pe_fit_problem *problem, int32_t steps, double q, double rows)
{
	make_descent_problem(problem, PE_FIT_SGD);
	problem->nano = 1000000000;
	problem->options.iterations = steps;
	problem->options.sampling = q;
	problem->options.rows = rows;
	assert_null(pe_fit_defaults(problem));
}

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

		make_paper_problem(&problem, multistage ? PE_FIT_MASG_OPT : PE_FIT_NAG_OPT, pure, whole ? 1 : 0.1,
						   steps[i % 4]);
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
		{true, 1, 200, PE_FIT_NAG_OPT,
		{0.00173354523935, 0.00631663335141, 0.0225256319362, 0.0230163343826}, 0.195971424955, 1},
		{true, .1, 1000, PE_FIT_NAG_OPT,
		{0.00072383807565, 0.00230847875447, 0.00731333725454, 0.00736224625246}, 0.0195971424955, 1},
		{true, 1, 500, PE_FIT_MASG_OPT,
		{0.00375125635088, 0.00968234238228, 0.0244582259768, 0.0249910284019}, 0.195971424955, 1},
		{false, 1, 500, PE_FIT_MASG_OPT,
		{0.000466470625342, 0.00114757790754, 0.00302806850752, 0.00303998683347}, 0.00306205351491, 3},
		{false, .1, 500, PE_FIT_NAG_OPT,
		{6.82298494651e-05, 0.00083080913196, 0.0099161684367, 0.0100158082734}, 0.0195971424955, 1}
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

/* The stages of masg: 89, 136, 272 steps, then the rest; a quarter of the rate and less momentum from stage 2 on. */
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
	for (int i = 0; i < 2 * ACCELERATED; i++)
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
		run_method(&problem, &watched.source, w);
		assert_int_equal(got.steps, schedule.steps);
		assert_int_equal(watched.gradients, schedule.steps);
		assert_int_equal(watched.counts, 0);
		assert_int_equal(watched.last.norm, (problem.accounting == PE_PURE) ? PE_L1 : PE_L2);
		assert_true(watched.last.sample == 0);
		assert_true(watched.last.clip <= pe_clip_integer(i >= 6 ? COLUMNS : 2, 0, watched.last.norm));
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
 * All rows in every batch and no noise: gradient descent with an implicit regulariser;
 * sgd's mean of the second half, sgd_adv's last iterate, and a trace that ends in what is
 * returned.
 */
static void
test_sgd_steps(void **state)
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
		run_method(&problem, &watched.source, w);
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

/* ----------
 * Noise and batches
 * ----------
 */

/*
 * No rows at all: what is left is the noise.  From x = 0 one step moves by rate noise /
 * divisor, whose variance is that of the step's cost: with a batch, of what the step would
 * cost without sampling.
 */
typedef struct noise_case
{
	pe_fit_method method;
	bool		pure;
	bool		substitute;
	int32_t		k;
	bool		unit_clip;
	double		batch;
} noise_case;

static const noise_case noise_cases[] = {
	{PE_FIT_GD, false, false, 1, false, 0},
	{PE_FIT_GD, false, true, 3, false, 0},
	{PE_FIT_GD, false, true, 3, true, 0},
	{PE_FIT_GD, true, false, 3, true, 0},
	{PE_FIT_GD, true, false, 2, false, 0},
	{PE_FIT_GD, true, true, 1, false, 0},
	{PE_FIT_GD, true, false, 1, false, 10},
	{PE_FIT_SGD, false, false, 3, false, 1000},
};

/* The step's rate, and what it would cost without sampling. */
static double
one_accelerated_step(const noise_case *c, pe_fit_problem *problem, int64_t *cost)
{
	pe_schedule schedule;
	double		rate;
	bool		fits;

	make_descent_problem(problem, c->method);
	problem->accounting = c->pure ? PE_PURE : PE_ZCDP;
	problem->substitute = c->substitute;
	problem->max_rows = c->k;
	problem->nano = 50000000;
	problem->options.iterations = 1;
	problem->options.rows = 1000;
	problem->options.batch = c->batch;
	problem->options.clip = 1.25;
	problem->options.unit_clip = c->unit_clip;
	assert_null(pe_fit_defaults(problem));
	pe_schedule_make(problem, 1000, problem->nano, &schedule);
	assert_true(schedule.nano[0] == problem->nano);
	rate = schedule.rate[0];
	*cost = pe_unsampled_epsilon(problem->nano, c->batch == 0 ? 1 :
								 pe_sample_probability(pe_sample_of(c->batch / 1000, &fits)));
	pe_schedule_free(&schedule);
	return rate;
}

static double
one_sgd_step(const noise_case *c, pe_fit_problem *problem, int64_t *cost)
{
	make_sgd_problem(problem, 1, c->batch / 4000, 4000);
	problem->options.rate = 0.5;
	problem->max_rows = c->k;
	assert_true(pe_plan_sampled(problem));
	*cost = problem->plan.nano_step;
	return problem->options.rate;
}

static void
check_noise(const noise_case *c)
{
	long		runs = scaled(20000);
	int			k = c->unit_clip ? 1 : c->k;
	descent_rows d;
	pe_fit_problem problem;
	double		squares = 0;
	double		fourths = 0;
	pe_u128		clip;
	int64_t		cost;
	double		deviation = (c->method == PE_FIT_SGD ? one_sgd_step : one_accelerated_step) (c, &problem, &cost);

	deviation /= (c->batch > 0 ? c->batch : 1000) * (32768.0 * PE_ONE);
	clip = pe_clip_integer(problem.options.clip, 0, c->pure ? PE_L1 : PE_L2);
	if (c->pure)
		deviation *= pe_laplace_stderr(clip * (c->substitute ? 2 : 1) * k, cost);
	else
		deviation *= pe_gaussian_stderr(PE_ZCDP, clip * (c->substitute ? 4 : 1) * k * k, cost);
	make_descent_rows(&d, 0, 1);
	pe_test_seed((uint64_t) k + 4 * c->pure + 8 * c->substitute);
	for (long i = 0; i < runs; i++)
	{
		double		w[COLUMNS];

		run_method(&problem, &d.source, w);
		for (int j = 0; j < COLUMNS; j++)
		{
			double		z = w[j] / deviation;

			squares += z * z;
			fourths += z * z * z * z;
		}
	}
	pe_test_unseed();
	/* E z^2 = 1, E z^4 = 3 of a Gaussian, 6 of a Laplace; sgd's clip is 1 / 32768 longer than its longest gradient */
	runs *= COLUMNS;
	squares /= (double) runs;
	fourths /= (double) runs * (c->pure ? 6 : 3);
	check_z("variance", (squares - 1) / sqrt((c->pure ? 5 : 2) / (double) runs));
	check_z("fourth moment", (fourths - 1) / sqrt((c->pure ? 69 : 10.7) / (double) runs));
	free_descent_rows(&d);
}

static void
test_noise(void **state)
{
	(void) state;
	for (int i = 0; i < lengthof(noise_cases); i++)
		check_noise(&noise_cases[i]);
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

		run_method(&problem, &d.source, w);
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

/* A row is in a batch with probability q; problem moves by rate times the mean gradient of rows / expected. */
static void
check_batches(const pe_fit_problem *problem, double rate, double q, uint64_t sample, uint64_t data, uint64_t seed)
{
	long		runs = scaled(4000);
	double		expected = problem->options.rows * q;
	descent_rows d;
	watched_source watched;
	double		zero[COLUMNS] = {0};
	double		gradient[COLUMNS];
	double		sum[COLUMNS] = {0};
	double		squares[COLUMNS] = {0};

	make_descent_rows(&d, (int) problem->options.rows, data);
	mean_gradient(&d, zero, gradient);
	watch_source(&watched, &d.source);
	pe_test_seed(seed);
	for (long i = 0; i < runs; i++)
	{
		double		w[COLUMNS];

		run_method(problem, &watched.source, w);
		for (int j = 0; j < COLUMNS; j++)
		{
			sum[j] -= w[j] / rate;
			squares[j] += w[j] / rate * w[j] / rate;
		}
	}
	pe_test_unseed();
	assert_true(watched.last.sample == sample);
	for (int j = 0; j < COLUMNS; j++)
	{
		double		variance = 0;
		double		seen = squares[j] / (double) runs - sum[j] / (double) runs * sum[j] / (double) runs;

		/* at w = 0 every residual is 1/2 */
		for (int i = 0; i < d.count; i++)
			variance += q * (1 - q) * d.x[i][j] * d.x[i][j] / 4 / expected / expected;
		check_z("mean of batches", (sum[j] / (double) runs - gradient[j]) / sqrt(variance / (double) runs));
		check_z("variance of batches", (seen / variance - 1) / sqrt(2 / (double) runs));
	}
	free_descent_rows(&d);
}

/* Batches are random, new in every step, and right in the mean (the gradient of all rows) and in the variance. */
static void
test_batches(void **state)
{
	pe_fit_problem problem;
	pe_schedule schedule;
	bool		fits;

	(void) state;
	make_descent_problem(&problem, PE_FIT_GD);
	problem.accounting = PE_PURE;
	problem.options.iterations = 1;
	problem.options.rows = 500;
	problem.options.batch = 500 * 0.125;
	assert_null(pe_fit_defaults(&problem));
	pe_schedule_make(&problem, 500, problem.nano, &schedule);
	check_batches(&problem, schedule.rate[0], 0.125, UINT64_C(1) << 61, 9, 77);
	pe_schedule_free(&schedule);
	make_sgd_problem(&problem, 1, 0.2, 400);
	problem.options.rate = 0.5;
	problem.plan = (pe_fit_plan) {.nano_step = WITHOUT_NOISE, .steps = 1, .sample = pe_sample_of(0.2, &fits)};
	check_batches(&problem, 0.5, 0.2, problem.plan.sample, 31, 8);
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
	make_sgd_problem(&problem, 1, 0.3, 30);
	problem.shape = &shape;
	problem.max_rows = 30;
	problem.options.rate = 1;
	problem.plan = (pe_fit_plan) {.nano_step = WITHOUT_NOISE, .steps = 1, .sample = pe_sample_of(0.3, &fits)};
	pe_test_seed(15);
	for (long i = 0; i < runs; i++)
	{
		double		w;

		/* 30 residuals of 1/2, divided by the 9 rows that are expected */
		run_method(&problem, &source, &w);
		assert_true(fabs(w) < 0.01 || fabs(w - 15 / 9.0) < 0.01);
		came += w > 1;
	}
	pe_test_unseed();
	check_z("units that come", ((double) came - 0.3 * (double) runs) / sqrt(0.21 * (double) runs));
	pe_rows_free(&rows);
}

/* ----------
 * Runs
 * ----------
 */
static descent_rows no_rows;

static void
run_without_rows(void *argument)
{
	double		w[COLUMNS];

	run_method(argument, &no_rows.source, w);
}

/* Without a plan, or on what is not accounted for, it does not run, even if somebody asked past the refusal. */
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
	assert_true(pe_test_is_bug(run_without_rows, &problem));
	problem.accounting = PE_PURE;
	problem.substitute = true;
	assert_true(pe_test_is_bug(run_without_rows, &problem));
	make_sgd_problem(&problem, 10, 0.1, 1000);
	assert_true(pe_test_is_bug(run_without_rows, &problem));
	assert_true(pe_plan_sampled(&problem));
	problem.substitute = true;
	assert_true(pe_test_is_bug(run_without_rows, &problem));
	problem.substitute = false;
	problem.accounting = PE_PURE;
	assert_true(pe_test_is_bug(run_without_rows, &problem));
	free_descent_rows(&no_rows);
}

static void
check_run(const pe_fit_problem *problem, int rows, int least, int most)
{
	descent_rows d;
	watched_source watched;
	double		w[COLUMNS];

	make_descent_rows(&d, rows, 2);
	watch_source(&watched, &d.source);
	run_method(problem, &watched.source, w);
	assert_int_equal(watched.counts, 1);
	assert_true(watched.gradients >= least && watched.gradients <= most);
	assert_int_equal(pe_fit_passes(problem), most + 1);
	for (int j = 0; j < COLUMNS; j++)
		assert_true(isfinite(w[j]));
	free_descent_rows(&d);
}

/* Private fits that measure the number of rows: none, few and many, at the least cost and at a sensible one. */
static void
test_runs(void **state)
{
	static const int counts[] = {0, 1, 4000};
	static const int sgd_counts[] = {0, 2, 5000};
	static const int64_t costs[] = {101, 50000000};
	pe_fit_problem problem;

	(void) state;
	for (int i = 0; i < ACCELERATED * lengthof(counts) * lengthof(costs) * 2; i++)
	{
		make_descent_problem(&problem, all_methods[i % 6]);
		problem.accounting = i / 36 ? PE_PURE : PE_ZCDP;
		problem.nano = costs[i / 18 % 2];
		problem.options.iterations = 50;
		assert_null(pe_fit_defaults(&problem));
		check_run(&problem, counts[i / 6 % 3], 1, 50);
	}
	for (int i = 0; i < lengthof(sgd_counts) * 3; i++)
	{
		make_sgd_problem(&problem, 30, 0.1, NAN);
		problem.model = (pe_model) (i % 3);
		assert_true(pe_plan_sampled(&problem));
		check_run(&problem, sgd_counts[i / 3], 30, 30);
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
		run_method(&problem, &d.source, w);
		for (int j = 0; j < COLUMNS; j++)
			assert_true(isfinite(w[j]));
	}
	free_descent_rows(&d);
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

/* What there is to learn from 20000 rows (86 %), with rho .02, or with epsilon 1, delta 1e-6 and fewer steps. */
static void
test_learns(void **state)
{
	descent_rows d;
	double		truth[COLUMNS];
	double		best;

	(void) state;
	make_descent_rows(&d, 20000, 12);
	for (int j = 0; j < COLUMNS; j++)
		truth[j] = (j % 2 == 0 ? 1 : -2) * (j + 1);
	best = accuracy(&d, truth);
	for (int i = 0; i <= lengthof(all_methods); i++)
	{
		pe_fit_problem problem;
		double		w[COLUMNS];

		if (i < ACCELERATED)
		{
			make_descent_problem(&problem, all_methods[i]);
			problem.nano = 20000000;
			assert_null(pe_fit_defaults(&problem));
		}
		else
		{
			make_sgd_problem(&problem, 200, NAN, NAN);
			problem.model = i == ACCELERATED ? PE_MODEL_LOGISTIC : PE_MODEL_SVM;
			assert_true(pe_plan_sampled(&problem));
		}
		run_method(&problem, &d.source, w);
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
		cmocka_unit_test(test_sgd_steps),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_unset_rate),
		cmocka_unit_test(test_batches),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_unaccounted),
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_learns),
		cmocka_unit_test(test_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
