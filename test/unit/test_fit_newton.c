/*
 * test_fit_newton.c
 *	  Names, options and refusals of the methods; newton and one_pass.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "base/linalg.h"
#include "fit/measure.h"
#include "noise/noise.h"
#include "models.h"
#include "shim.h"
#include "allowance.h"

/* So large that no noise is seen. */
#define PLENTY (INT64_C(1) << 61)

/* ----------
 * What the noise was told to cost
 * ----------
 */
#define MOST_COSTS 4096

static int64_t cost[MOST_COSTS];
static int	costs;

extern void __real_pe_gaussian_release(pe_accounting accounting, pe_i128 *exact, size_t count, pe_u128 sensitivity, int64_t nano, int64_t *released);
extern void __real_pe_laplace_release(pe_i128 *exact, size_t count, pe_u128 sensitivity, int64_t nano, int64_t *released);

static void
count_cost(int64_t nano)
{
	assert_true(costs < MOST_COSTS);
	cost[costs++] = nano;
}

void
__wrap_pe_gaussian_release(pe_accounting accounting, pe_i128 *exact, size_t count, pe_u128 sensitivity, int64_t nano, int64_t *released)
{
	count_cost(nano);
	__real_pe_gaussian_release(accounting, exact, count, sensitivity, nano, released);
}

void
__wrap_pe_laplace_release(pe_i128 *exact, size_t count, pe_u128 sensitivity, int64_t nano, int64_t *released)
{
	count_cost(nano);
	__real_pe_laplace_release(exact, count, sensitivity, nano, released);
}

/* ----------
 * Names and options
 * ----------
 */
static void
test_names(void **state)
{
	pe_fit_method method;

	(void) state;
	for (int i = 0; i < PE_FIT_METHODS; i++)
	{
		assert_true(pe_fit_method_named(pe_fit_method_name((pe_fit_method) i), &method));
		assert_int_equal(method, i);
	}
	assert_false(pe_fit_method_named("Newton", &method));
	assert_false(pe_fit_method_named("", &method));
	assert_false(pe_fit_method_named("newton2", &method));
}

/* All options are numbers in a struct of nothing else. */
#define OPTIONS (sizeof(pe_fit_options) / sizeof(double))

static void
test_options(void **state)
{
	table		t;
	pe_fit_problem problem;

	(void) state;
	table_start(&t, 3, 0, 0);
	for (int m = 0; m < PE_FIT_METHODS; m++)
		for (int model = 0; model < 3; model++)
			for (size_t i = 0; i < OPTIONS; i++)
			{
				double	   *value;
				int			accepted = 0;

				problem_of(&t, (pe_model) model, (pe_fit_method) m, 1000000000, &problem);
				value = (double *) &problem.options + i;
				assert_true(isnan(*value));
				for (double v = 0.0009765625; v <= 64; v *= 2)
				{
					problem_of(&t, (pe_model) model, (pe_fit_method) m, 1000000000, &problem);
					*value = v;
					accepted += pe_fit_defaults(&problem) == NULL;
				}
				/* an option that is known refuses what makes no sense, another refuses all */
				problem_of(&t, (pe_model) model, (pe_fit_method) m, 1000000000, &problem);
				*value = -INFINITY;
				assert_non_null(pe_fit_defaults(&problem));
				problem_of(&t, (pe_model) model, (pe_fit_method) m, 1000000000, &problem);
				*value = INFINITY;
				assert_non_null(pe_fit_defaults(&problem));
				if (m == PE_FIT_MAJORITY)
					assert_int_equal(accepted, 0);
			}
	problem_of(&t, PE_MODEL_LOGISTIC, PE_FIT_NEWTON, 1000000000, &problem);
	assert_null(pe_fit_defaults(&problem));
	assert_true(problem.options.iterations == 8 && problem.options.share == 0.2 &&
				problem.options.decay == 0.8 && problem.options.floor == 0.7 && problem.options.l2 == 0);
	/* 3 numbers and an intercept: the radius is 2 */
	assert_true(problem.options.clip == 1);
	problem_of(&t, PE_MODEL_SVM, PE_FIT_NEWTON, 1000000000, &problem);
	assert_null(pe_fit_defaults(&problem));
	assert_true(problem.options.clip == 2);
	problem.accounting = PE_PURE;
	problem.options.clip = NAN;
	assert_null(pe_fit_defaults(&problem));
	assert_true(problem.options.clip == 4);

	problem_of(&t, PE_MODEL_LOGISTIC, PE_FIT_NEWTON, 1000000000, &problem);
	problem.options.iterations = 2.5;
	assert_string_equal(pe_fit_defaults(&problem), "iterations");
	problem.options.iterations = 0;
	assert_string_equal(pe_fit_defaults(&problem), "iterations");
	problem.options.iterations = 3;
	problem.options.gamma = 0.1;
	assert_string_equal(pe_fit_defaults(&problem), "gamma");
	problem.options.gamma = NAN;
	problem.options.floor = 0;
	assert_string_equal(pe_fit_defaults(&problem), "floor");
	table_free(&t);
}

static void
test_refusals(void **state)
{
	table		t;
	pe_fit_problem problem;

	(void) state;
	table_start(&t, 3, 0, 0);
	for (int m = 0; m < PE_FIT_METHODS; m++)
	{
		problem_of(&t, PE_MODEL_LOGISTIC, (pe_fit_method) m, 1000000000, &problem);
		/* it must be told of the number of rows */
		if (m == PE_FIT_SGD_ADV)
			problem.options.rows = 1000;
		assert_null(pe_fit_defaults(&problem));
		assert_null(pe_fit_refusal(&problem));
		problem.accounting = PE_PURE;
		assert_int_equal(pe_fit_refusal(&problem) != NULL, pe_fit_is_approximate((pe_fit_method) m) || m == PE_FIT_AGD);
		problem.accounting = PE_ZCDP;
		problem.max_rows = INT32_MAX;
		assert_int_equal(pe_fit_refusal(&problem) != NULL, pe_fit_is_private((pe_fit_method) m));
	}
	/* too little to be divided */
	for (int m = 0; m < 4; m++)
	{
		static const pe_fit_method divides[] = {PE_FIT_NEWTON, PE_FIT_ONE_PASS, PE_FIT_AGD, PE_FIT_PRIVGENE};

		problem_of(&t, PE_MODEL_LOGISTIC, divides[m], 1, &problem);
		assert_null(pe_fit_defaults(&problem));
		assert_non_null(pe_fit_refusal(&problem));
	}
	/* objpert: a minimum that no weights could be near to, and rows that are hardly more than their rounding */
	for (int beyond = 0; beyond < 2; beyond++)
	{
		problem_of(&t, PE_MODEL_LOGISTIC, PE_FIT_OBJPERT, 1000000000, &problem);
		problem.options.l2 = (beyond ? 1.01 : 0.99) * 0x1p42;
		assert_null(pe_fit_defaults(&problem));
		assert_int_equal(pe_fit_refusal(&problem) != NULL, beyond);
		problem.options.l2 = 0;
		problem.radius_sq = beyond ? 16383 : 16384;
		assert_int_equal(pe_fit_refusal(&problem) != NULL, beyond);
	}
	problem_of(&t, PE_MODEL_LINEAR, PE_FIT_AGD, 1000000000, &problem);
	assert_null(pe_fit_defaults(&problem));
	assert_non_null(pe_fit_refusal(&problem));
	problem_of(&t, PE_MODEL_LINEAR, PE_FIT_NEWTON, 1000000000, &problem);
	assert_null(pe_fit_defaults(&problem));
	assert_null(pe_fit_refusal(&problem));
	table_free(&t);
}

/* ----------
 * Costs and passes
 * ----------
 */

/* What a moment cost: its diagonal says so, its other entries have half of the variance. */
static int64_t
cost_of_moment(const pe_fit_problem *problem)
{
	assert_true(costs >= 2);
	assert_true(cost[0] > 0 && cost[1] == ((problem->accounting == PE_PURE) ? 1 : 2) * cost[0]);
	return cost[0];
}

static void
test_costs(void **state)
{
	static const int64_t nanos[] = {100, 101, 997, 55300, 42000000, 1000000007, INT64_C(1) << 61};
	double		w[MODEL_MOST_COLUMNS];
	table		t;

	(void) state;
	table_start(&t, 2, 1, 3);
	table_fill(&t, PE_MODEL_LOGISTIC, 70, 1);
	for (int i = 0; i < 7 * 3 * 2 * 2; i++)
	{
		static const int iterations[] = {1, 8, 30};
		bool		newton = i % 2 == 0;
		counted_source counted;
		pe_fit_problem problem;
		int64_t		sum = 0;

		problem_of(&t, PE_MODEL_LOGISTIC, newton ? PE_FIT_NEWTON : PE_FIT_ONE_PASS, nanos[i / 2 % 7], &problem);
		problem.accounting = i / 14 % 2 == 1 ? PE_PURE : PE_ZCDP;
		if (newton)
			problem.options.iterations = iterations[i / 28];
		assert_null(pe_fit_defaults(&problem));
		if (pe_fit_refusal(&problem) != NULL)
		{
			/* 30 shares of which the least is below one */
			assert_true(problem.nano < 1000 && iterations[i / 28] >= 8);
			continue;
		}
		count_passes(&counted, &t);
		costs = 0;
		run_fit(pe_fit_run, &problem, &counted.source, w);
		assert_true(all_finite(w, t.shape.columns));
		assert_int_equal(counted.passes, pe_fit_passes(&problem));
		assert_int_equal(costs, newton ? 2 + (int) problem.options.iterations : 3);
		sum = cost_of_moment(&problem);
		for (int j = 2; j < costs; j++)
		{
			assert_true(cost[j] > 0);
			sum += cost[j];
		}
		assert_true(sum == problem.nano);
	}
	table_free(&t);
}

/* ----------
 * Results
 * ----------
 */

/* Without noise newton reaches the minimum of what it minimises: no mean gradient is left. */
static void
test_minimum(void **state)
{
	(void) state;
	pe_test_seed(3);
	for (int i = 0; i < 6; i++)
	{
		pe_model	model = (pe_model) (i % 3);
		double		w[MODEL_MOST_COLUMNS];
		double		gradient;
		double		before;
		double		after;
		table		t;
		pe_fit_problem problem;

		table_start(&t, 4, i / 3, 3);
		table_fill(&t, model, 3000, 5);
		problem_of(&t, model, PE_FIT_NEWTON, PLENTY, &problem);
		problem.accounting = i == 4 ? PE_PURE : PE_ZCDP;
		problem.options.iterations = 60;
		problem.options.decay = 1;
		problem.options.clip = 1000;
		assert_null(pe_fit_defaults(&problem));
		assert_null(pe_fit_refusal(&problem));
		memset(w, 0, sizeof(w));
		before = mean_loss(&t, model, w, NULL);
		run_fit(pe_fit_run, &problem, &t.source, w);
		after = mean_loss(&t, model, w, &gradient);
		assert_true(after < before);
		assert_true(gradient < 2e-4);

		/* l2 pulls the weights toward 0, and the gradient that is left is its own */
		problem.options.l2 = 300;
		run_fit(pe_fit_run, &problem, &t.source, w);
		mean_loss(&t, model, w, &gradient);
		before = 0;
		for (int j = 0; j < t.shape.columns; j++)
			before += w[j] * w[j];
		assert_true(fabs(gradient - 0.1 * sqrt(before)) < 1e-3);
		table_free(&t);
	}
	pe_test_unseed();
}

/* Least squares by the normal equations, in double. */
static void
least_squares(table *t, pe_model model, double *w)
{
	int32_t		d = t->shape.columns;
	double		x[MODEL_MOST_COLUMNS * MODEL_MOST_COLUMNS] = {0};
	int16_t		dense[MODEL_MOST_COLUMNS];
	uint16_t	cells[MODEL_MOST_GROUPS];
	pe_row		row = {dense, cells, 0, 0};

	memset(w, 0, (size_t) d * sizeof(*w));
	for (size_t i = 0; i < t->rows.rows; i++)
	{
		double		y;

		pe_rows_get(&t->rows, i, &row);
		y = model == PE_MODEL_LINEAR ? (double) row.label / PE_ONE : 2 * row.label - 1;
		for (int j = 0; j < d; j++)
		{
			w[j] += y * dense[j] / PE_ONE;
			for (int k = 0; k < d; k++)
				x[j * d + k] += (double) dense[j] * dense[k] / PE_ONE / PE_ONE;
		}
	}
	assert_true(pe_la_cholesky(d, x, d));
	pe_la_cholesky_solve(d, 1, x, d, w, d);
}

static void
test_one_pass(void **state)
{
	(void) state;
	pe_test_seed(4);
	for (int i = 0; i < 6; i++)
	{
		pe_model	model = (pe_model) (i % 3);
		double		w[MODEL_MOST_COLUMNS];
		double		exact[MODEL_MOST_COLUMNS];
		table		t;
		pe_fit_problem problem;

		table_start(&t, 4, 0, 0);
		table_fill(&t, model, 3000, 5);
		problem_of(&t, model, PE_FIT_ONE_PASS, PLENTY, &problem);
		problem.accounting = i / 3 == 1 ? PE_PURE : PE_ZCDP;
		assert_null(pe_fit_defaults(&problem));
		assert_null(pe_fit_refusal(&problem));
		run_fit(pe_fit_run, &problem, &t.source, w);
		least_squares(&t, model, exact);
		/* (M/4)^-1 v/2 is twice the least squares of labels -1 and 1 */
		for (int j = 0; j < t.shape.columns; j++)
			assert_true(fabs(w[j] - (model == PE_MODEL_LOGISTIC ? 2 : 1) * exact[j]) < 1e-6);
		table_free(&t);
	}
	pe_test_unseed();
}

/* A regression of newton starts from the same statistics as one_pass, and ends at the same weights. */
static void
test_same_regression(void **state)
{
	double		w[2][MODEL_MOST_COLUMNS];
	table		t;

	(void) state;
	table_start(&t, 4, 0, 0);
	table_fill(&t, PE_MODEL_LINEAR, 3000, 5);
	for (int i = 0; i < 2; i++)
	{
		pe_fit_problem problem;

		problem_of(&t, PE_MODEL_LINEAR, i == 0 ? PE_FIT_NEWTON : PE_FIT_ONE_PASS, PLENTY, &problem);
		assert_null(pe_fit_defaults(&problem));
		run_fit(pe_fit_run, &problem, &t.source, w[i]);
	}
	for (int j = 0; j < t.shape.columns; j++)
		assert_true(fabs(w[0][j] - w[1][j]) < 2e-3);
	table_free(&t);
}

static int	traced;

static void
trace(void *argument, int32_t step, const double *w)
{
	assert_int_equal(step, ++traced);
	assert_true(all_finite(w, *(int32_t *) argument));
}

/* Each step is shown, progress is told after each pass, and no more memory is taken than was said. */
static void
test_host(void **state)
{
	double		w[MODEL_MOST_COLUMNS];
	uint64_t	steps = pe_test_steps();
	table		t;
	pe_fit_problem problem;

	(void) state;
	table_start(&t, 40, 1, 3);
	table_fill(&t, PE_MODEL_LOGISTIC, 500, 1);
	problem_of(&t, PE_MODEL_LOGISTIC, PE_FIT_NEWTON, 1000000000, &problem);
	problem.trace = trace;
	problem.trace_argument = &t.shape.columns;
	assert_null(pe_fit_defaults(&problem));
	traced = 0;
	pe_test_memory();
	run_fit(pe_fit_run, &problem, &t.source, w);
	assert_true(pe_test_memory() <= pe_fit_memory(&problem) + pe_rows_memory(&t.shape, false, 500));
	assert_int_equal(traced, 8);
	assert_int_equal(pe_test_steps() - steps, 9);
	table_free(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_costs),
		cmocka_unit_test(test_minimum),
		cmocka_unit_test(test_one_pass),
		cmocka_unit_test(test_same_regression),
		cmocka_unit_test(test_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
