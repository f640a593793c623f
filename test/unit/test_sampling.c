/*
 * test_sampling.c
 *	  What steps on random batches cost: src/fit/sampling.c, fit_plan.c and the
 *	  pure batches of src/fit/first_order.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fit/fit.h"
#include "accounting/conversion.h"
#include "fit/methods.h"
#include "numbers.h"
#include "shim.h"
#include "allowance.h"

/* A problem of sgd with 20 columns, of which the plan sees epsilon, delta and the options alone. */
static pe_row_shape shape = {.dense = 20, .columns = 20};

static void
make_problem(pe_fit_problem *problem, pe_fit_method method, int64_t nano, double delta)
{
	memset(problem, 0, sizeof(*problem));
	problem->model = PE_MODEL_LOGISTIC;
	problem->method = method;
	problem->shape = &shape;
	problem->intercept = -1;
	problem->radius_sq = (pe_u128) 20 * PE_ONE * PE_ONE;
	problem->radius_1 = 20 * PE_ONE;
	problem->max_rows = 1;
	problem->nano = nano;
	problem->delta = delta;
	pe_options_init(&pe_fit_option_table, &problem->options);
}

static void
make_sampled(pe_fit_problem *problem, double epsilon, double delta, int32_t steps, double q, double rows)
{
	make_problem(problem, PE_FIT_SGD, pe_nano_rho_down(epsilon), delta);
	problem->options.iterations = steps;
	problem->options.sampling = q;
	problem->options.rows = rows;
	assert_null(pe_fit_defaults(problem));
}

/* ----------
 * The divergence
 * ----------
 */

/* The logarithm of a sum, whose terms are given by theirs. */
typedef struct log_sum
{
	double		largest;
	double		sum;			/* of terms, divided by the largest */
} log_sum;

static void
add_term(log_sum *s, double term)
{
	if (s->sum == 0 || term > s->largest)
	{
		s->sum = s->sum == 0 ? 1 : s->sum * exp(s->largest - term) + 1;
		s->largest = term;
	}
	else
		s->sum += exp(term - s->largest);
}

static double
log_of(const log_sum *s)
{
	return s->largest + log(s->sum);
}

/*
 * Both divergences of order alpha of a step, by summing over the integers: P0 = N_Z(0,
 * sigma^2) and (1-q) P0 + q P0(. - v).
 */
static void
divergences(double q, double sigma, int v, int alpha, double *forward, double *backward)
{
	int			reach = (int) (14 * sigma) + alpha * v + 20;
	log_sum		mass = {0};
	log_sum		there = {0};
	log_sum		back = {0};

	for (int x = -reach; x <= reach; x++)
	{
		double		p = -(double) x * x / (2 * sigma * sigma);
		double		t = (2.0 * x * v - (double) v * v) / (2 * sigma * sigma);
		double		mixed = t > 0 ? t + log(q + (1 - q) * exp(-t)) : log1p(q * expm1(t));

		add_term(&mass, p);
		add_term(&there, p + alpha * mixed);
		add_term(&back, p + (1 - alpha) * mixed);
	}
	*forward = (log_of(&there) - log_of(&mass)) / (alpha - 1);
	*backward = (log_of(&back) - log_of(&mass)) / (alpha - 1);
}

/*
 * The formula of the continuous Gaussian is exact for the discrete one, in one
 * direction, at any sigma however small; the other direction is no larger; shorter
 * shifts lose less.
 */
static void
test_discrete(void **state)
{
	static const double qs[] = {0.01, 0.2, 0.7};
	static const double sigmas[] = {0.4, 0.8, 2, 9.5};
	static const int shifts[] = {1, 3};
	static const int alphas[] = {2, 3, 8};

	(void) state;
	for (int i = 0; i < lengthof(qs) * lengthof(sigmas) * lengthof(shifts) * lengthof(alphas); i++)
	{
		double		q = qs[i % 3];
		double		sigma = sigmas[i / 3 % 4];
		int			v = shifts[i / 12 % 2];
		int			alpha = alphas[i / 24];
		double		formula = pe_rdp_subsampled_gaussian(q, sigma / v, alpha);
		double		forward;
		double		backward;
		double		shorter;
		double		unused;

		divergences(q, sigma, v, alpha, &forward, &backward);
		assert_true(fabs(formula / forward - 1) < 1e-7);
		assert_true(backward <= forward * (1 + 1e-7));
		assert_true(backward >= 0);
		if (v > 1)
		{
			divergences(q, sigma, v - 1, alpha, &shorter, &unused);
			assert_true(shorter < forward);
		}
	}
}

/* ----------
 * The plan
 * ----------
 */

/* q = .01, sigma = 1.1, 1000 steps, delta 1e-5: epsilon 1.7253 (integer orders). */
static void
test_golden(void **state)
{
	pe_fit_problem problem;
	pe_amount	cost;
	double		epsilon = pe_sampled_epsilon(0.01, 1000, 413223140, 0, 1e-5);

	(void) state;
	assert_true(fabs(epsilon - 1.7253) < 1e-4);
	make_sampled(&problem, epsilon, 1e-5, 1000, 0.01, 1e6);
	assert_true(pe_fit_plan_make(&problem));
	assert_true(fabs((double) problem.plan.nano_step / 413223140.0 - 1) < 1e-6);
	assert_int_equal(problem.plan.steps, 1000);
	assert_int_equal(problem.plan.nano_count, 0);
	assert_true(fabs(ldexp((double) problem.plan.sample, -64) - 0.01) < 1e-15);
	assert_true(ldexpl(problem.plan.sample, -64) <= 0.01L * (1 + 1e-15L));
	cost = fit_cost(&problem);
	assert_true(cost.delta_atto == INT64_C(10000000000000));
	assert_true(cost.epsilon_nano == 0);
	assert_true((double) cost.rho_nano * 1e-9 >= epsilon * tanh(epsilon / 2) * (1 - 1e-8));
	assert_true((double) cost.rho_nano * 1e-9 <= epsilon * tanh(epsilon / 2) * (1 + 1e-8));
}

#define ORDERS 4200

/* The epsilon of one integer order, by an independent sum in long double. */
static double
epsilon_of(double q, double rho, int32_t steps, double rho_count, double delta, int alpha)
{
	static long double factorial[ORDERS + 1];
	long double largest = 0;
	long double sum = 0;
	double		tau;

	for (int k = 1; k <= ORDERS && factorial[ORDERS] == 0; k++)
		factorial[k] = factorial[k - 1] + logl(k);
	for (int pass = 0; pass < 2; pass++)
	{
		for (int k = 0; k <= alpha; k++)
		{
			long double term = factorial[alpha] - factorial[k] - factorial[alpha - k] +
				(k < alpha ? (alpha - k) * log1pl(-q) : 0) + k * logl(q) + (long double) k * (k - 1) * rho;

			if (pass == 0 && term > largest)
				largest = term;
			if (pass == 1)
				sum += expl(term - largest);
		}
	}
	tau = (double) (steps * (largest + logl(sum)) / (alpha - 1)) + alpha * rho_count;
	return tau + log1p(-1.0 / alpha) - (log(delta) + log(alpha)) / (alpha - 1);
}

/* The best of all orders up to 4000. */
static double
epsilon_by_sum(double q, double rho, int32_t steps, double rho_count, double delta)
{
	double		best = INFINITY;
	int			order = 2;

	for (int alpha = 2; alpha <= 4000; alpha += alpha < 60 ? 1 : alpha / 30)
	{
		double		epsilon = epsilon_of(q, rho, steps, rho_count, delta, alpha);

		if (epsilon < best)
		{
			best = epsilon;
			order = alpha;
		}
	}
	for (int alpha = order - order / 30; alpha <= order + order / 30; alpha++)
		best = fmin(best, epsilon_of(q, rho, steps, rho_count, delta, alpha > 2 ? alpha : 2));
	return best;
}

/*
 * The noise is enough by an independent sum, and by a little more than enough: one unit
 * more is too much for the orders of the grid, a thousandth more for all orders.
 */
static void
test_largest(void **state)
{
	static const struct
	{
		double		epsilon;
		double		delta;
		int32_t		steps;
		double		q;
		double		rows;
	}			cases[] = {
		{0.05, 1e-8, 1000, 0.01, NAN}, {0.1, 1e-8, 1000, 0.01, 36169}, {0.4, 1e-8, 3000, 0.00553, 36169},
		{1.6, 1e-8, 300, 0.01, NAN}, {1, 1e-6, 1, 0.5, NAN}, {8, 1e-5, 100, 0.1, 1000}, {0.5, 1e-6, 10000, 1e-4, NAN},
		{20, 1e-3, 10, 0.3, NAN}, {0.3, 1e-6, 7, 1, 1000}
	};

	(void) state;
	for (int i = getenv("PG_EPSILON_QUICK") != NULL ? 3 : 0; i < lengthof(cases); i++)
	{
		double		q = cases[i].q;
		int32_t		steps = cases[i].steps;
		double		delta = cases[i].delta;
		pe_fit_problem problem;
		pe_fit_plan *plan = &problem.plan;
		pe_amount	cost;
		double		rho;
		struct timespec before;
		struct timespec after;

		make_sampled(&problem, cases[i].epsilon, delta, steps, q, cases[i].rows);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
		assert_true(pe_plan_sampled(&problem));
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
		rho = (double) plan->nano_step * 1e-9;
		print_message("epsilon %g, %d steps, q %g: sigma / clip %.4g, %.1f ms\n", cases[i].epsilon, steps, q,
					  sqrt(0.5 / rho), (double) (after.tv_sec - before.tv_sec) * 1e3 +
					  (double) (after.tv_nsec - before.tv_nsec) * 1e-6);
		assert_true(plan->nano_count > 0 || !isnan(cases[i].rows));
		if (q < 1)
		{
			assert_true(epsilon_by_sum(q, rho, steps, (double) plan->nano_count * 1e-9, delta) <=
						cases[i].epsilon * (1 + 1e-9));
			assert_true(epsilon_by_sum(q, rho * 1.002, steps, (double) plan->nano_count * 1e-9, delta) > cases[i].epsilon);
		}
		q = pe_sample_probability(plan->sample);
		assert_true(pe_sampled_epsilon(q, steps, plan->nano_step, plan->nano_count, delta) <= cases[i].epsilon);
		assert_true(pe_sampled_epsilon(q, steps, plan->nano_step + 1, plan->nano_count, delta) >
					cases[i].epsilon * (1 - 1e-12));
		cost = fit_cost(&problem);
		assert_true(cost.rho_nano == pe_nano_rho_of_pure(PE_ZCDP, problem.nano));
		assert_true(cost.delta_atto == pe_atto_down(delta));
	}
}

/* More steps, larger batches, and a count take more noise; all units in every batch are zCDP's steps. */
static void
test_directions(void **state)
{
	double		base = pe_sampled_epsilon(0.01, 1000, 100000000, 0, 1e-6);
	double		whole = pe_sampled_epsilon(1, 10, 1000000, 0, 1e-6);

	(void) state;
	assert_true(pe_sampled_epsilon(0.01, 1001, 100000000, 0, 1e-6) > base);
	assert_true(pe_sampled_epsilon(0.0101, 1000, 100000000, 0, 1e-6) > base);
	assert_true(pe_sampled_epsilon(0.01, 1000, 101000000, 0, 1e-6) > base);
	assert_true(pe_sampled_epsilon(0.01, 1000, 100000000, 1000, 1e-6) > base);
	assert_true(pe_sampled_epsilon(0.01, 1000, 100000000, 0, 1e-7) > base);
	assert_true(whole >= pe_zcdp_epsilon(0.01, 1e-6) * (1 - 1e-12));
	assert_true(whole <= pe_zcdp_epsilon(0.01, 1e-6) * 1.001);
	assert_true(isinf(pe_sampled_epsilon(0.01, 0, 1, 0, 1e-6)));
	assert_true(isinf(pe_sampled_epsilon(0.01, 1, 0, 0, 1e-6)));
	assert_true(isinf(pe_sampled_epsilon(0.01, 1, 1, -1, 1e-6)));
	assert_true(isinf(pe_sampled_epsilon(0.01, 1, 1, 0, 0)));
}

/* What cannot be had is refused before anything is charged. */
static void
test_refusals(void **state)
{
	pe_fit_problem problem;

	(void) state;
	make_sampled(&problem, 1, 1e-6, 1000, 0.01, 1e5);
	assert_true(pe_fit_plan_make(&problem));
	problem.substitute = true;
	assert_false(pe_fit_plan_make(&problem));
	assert_non_null(pe_fit_refusal(&problem));
	problem.substitute = false;
	problem.accounting = PE_PURE;
	assert_false(pe_fit_plan_make(&problem));
	assert_non_null(pe_fit_refusal(&problem));
	make_sampled(&problem, 1, 0, 1000, 0.01, 1e5);
	assert_false(pe_fit_plan_make(&problem));
	make_sampled(&problem, 1, 1e-19, 1000, 0.01, 1e5);
	assert_false(pe_fit_plan_make(&problem));
	make_sampled(&problem, 1, 1e-6, 1000, 1e-30, 1e5);
	assert_false(pe_fit_plan_make(&problem));
	/* no order in reach proves so small an epsilon, whatever the noise */
	make_sampled(&problem, 1e-4, 1e-9, 1000, 0.01, 1e5);
	assert_false(pe_fit_plan_make(&problem));
	make_sampled(&problem, 1, 1e-6, 1000, 0.01, 1e5);
	problem.nano = 0;
	assert_false(pe_fit_plan_make(&problem));
}

/* Batches of sgd by rows, and the settings of sgd_adv. */
static void
test_sampled_options(void **state)
{
	pe_fit_problem problem;

	(void) state;
	make_problem(&problem, PE_FIT_SGD, 1000000000, 1e-6);
	problem.options.batch = 500;
	assert_string_equal(pe_fit_defaults(&problem), "rows");
	problem.options.rows = 400;
	assert_string_equal(pe_fit_defaults(&problem), "batch");
	problem.options.rows = 50000;
	assert_null(pe_fit_defaults(&problem));
	assert_true(problem.options.sampling == 0.01);
	assert_null(pe_fit_defaults(&problem));
	assert_true(isnan(problem.options.rate) && problem.options.smoothness == 5);
	problem.options.batch = 500;
	assert_string_equal(pe_fit_defaults(&problem), "sampling");

	make_problem(&problem, PE_FIT_SGD, 1000000000, 1e-6);
	assert_null(pe_fit_defaults(&problem));
	assert_int_equal(pe_fit_passes(&problem), 1001);
	assert_true(pe_fit_plan_make(&problem));
	assert_true(problem.plan.nano_count == pe_nano_rho_of_epsilon(PE_ZCDP, 1, 1e-6) / 50);

	make_problem(&problem, PE_FIT_SGD_ADV, 1600000000, 1e-8);
	assert_string_equal(pe_fit_defaults(&problem), "rows");
	problem.options.rows = 36169;
	assert_null(pe_fit_defaults(&problem));
	assert_true(problem.options.iterations == 116);
	assert_true(problem.options.sampling == 200.0 / 36169);
	assert_true(problem.options.rate == 0.1);
	assert_true(problem.options.clip == 3);
	assert_true(fabs(problem.options.l2 - 36.169) < 1e-9);
	assert_null(pe_fit_defaults(&problem));
	assert_true(pe_fit_plan_make(&problem));
}

/* ----------
 * Pure batches, and methods that are charged as they are
 * ----------
 */

/* ln(1 + q (exp(e) - 1)) of what comes out is at most what went in, and one unit more is not, but for rounding. */
static void
test_pure_batches(void **state)
{
	static const int64_t nanos[] = {1, 1000, 8000000, 1000000000, INT64_C(20000000000)};
	static const double qs[] = {1e-9, 0.01, 0.5, 0.999};

	(void) state;
	for (int i = 0; i < lengthof(nanos) * lengthof(qs); i++)
	{
		int64_t		nano = nanos[i % 5];
		bool		fits;
		uint64_t	sample = pe_sample_of(qs[i / 5], &fits);
		long double q = ldexpl(sample, -64);
		int64_t		unsampled = pe_unsampled_epsilon(nano, pe_sample_probability(sample));
		long double cost = log1pl(q * expm1l((long double) unsampled * 1e-9L)) * 1e9L;
		long double more = log1pl(q * expm1l((long double) unsampled * 1e-9L * (1 + 1e-11L) + 2e-9L)) * 1e9L;

		assert_true(fits);
		assert_true(unsampled >= nano);
		assert_true(unsampled == nano || cost <= nano);
		assert_true(more > nano);
	}
	assert_int_equal(pe_unsampled_epsilon(12345, 1), 12345);
	/* where exp would overflow there is nothing to gain */
	assert_int_equal(pe_unsampled_epsilon(INT64_MAX, pe_sample_probability(1)), INT64_MAX);
}

static void
test_samples(void **state)
{
	bool		fits;

	(void) state;
	assert_true(pe_sample_of(1, &fits) == 0 && fits);
	assert_true(pe_sample_of(2, &fits) == 0 && fits);
	assert_true(pe_sample_of(0.5, &fits) == UINT64_C(1) << 63 && fits);
	(void) pe_sample_of(0, &fits);
	assert_false(fits);
	(void) pe_sample_of(NAN, &fits);
	assert_false(fits);
	(void) pe_sample_of(1e-20, &fits);
	assert_false(fits);
	assert_true(pe_sample_probability(0) == 1);
	assert_true(pe_sample_probability(UINT64_C(1) << 63) >= 0.5);
	assert_true(pe_sample_probability(UINT64_MAX) <= 1);
	/* a double cannot tell the largest integers apart: upwards */
	assert_true(pe_sample_probability(UINT64_C(0x8000000000000001)) > 0.5);
}

static void
test_charges(void **state)
{
	pe_fit_problem problem;
	pe_amount	cost;

	(void) state;
	for (int method = PE_FIT_GD; method <= PE_FIT_MASG_OPT; method++)
	{
		make_problem(&problem, (pe_fit_method) method, 20000000, 0);
		assert_null(pe_fit_defaults(&problem));
		assert_true(pe_fit_plan_make(&problem));
		cost = fit_cost(&problem);
		assert_true(cost.rho_nano == 20000000 && cost.delta_atto == 0 && cost.epsilon_nano == 0);
		problem.accounting = PE_PURE;
		assert_true(pe_fit_plan_make(&problem));
		cost = fit_cost(&problem);
		assert_true(cost.rho_nano == 0 && cost.delta_atto == 0 && cost.epsilon_nano == 20000000);
		/* a unit for each step and one for the count */
		problem.nano = (int64_t) problem.options.iterations + 1;
		assert_true(pe_fit_plan_make(&problem) || problem.nano / 50 > 1);
		problem.nano--;
		assert_false(pe_fit_plan_make(&problem));
		problem.options.rows = 1000;
		assert_true(pe_fit_plan_make(&problem));
		assert_int_equal(pe_fit_passes(&problem), problem.options.iterations);
		problem.options.batch = 10;
		assert_null(pe_fit_refusal(&problem));
		assert_true(pe_fit_plan_make(&problem));
		problem.substitute = true;
		assert_false(pe_fit_plan_make(&problem));
		assert_non_null(pe_fit_refusal(&problem));
		problem.substitute = false;
		problem.accounting = PE_ZCDP;
		assert_false(pe_fit_plan_make(&problem));
		assert_non_null(pe_fit_refusal(&problem));
	}
	make_problem(&problem, PE_FIT_NEWTON, 5000, 0);
	assert_null(pe_fit_defaults(&problem));
	assert_true(pe_fit_plan_make(&problem));
	cost = fit_cost(&problem);
	assert_true(cost.rho_nano == 5000);
	problem.nano = 0;
	assert_false(pe_fit_plan_make(&problem));
	make_problem(&problem, PE_FIT_MAJORITY, 0, 0);
	assert_true(pe_fit_plan_make(&problem));
	cost = fit_cost(&problem);
	assert_true(cost.rho_nano == 0 && cost.delta_atto == 0 && cost.epsilon_nano == 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_discrete),
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_largest),
		cmocka_unit_test(test_directions),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_sampled_options),
		cmocka_unit_test(test_pure_batches),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_charges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
