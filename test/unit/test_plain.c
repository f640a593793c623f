/*
 * test_plain.c
 *	  The fits without noise.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fit/fit.h"
#include "numbers.h"
#include "shim.h"
#include "statistics.h"
#include "fit_tables.h"

static void
plain_init(table *t, pe_model model, pe_fit_method method, double l2)
{
	table_init(t, 5, 4, model, method);
	if (method == PE_FIT_NONPRIVATE)
		t->problem.options.l2 = l2;
	assert_null(pe_fit_defaults(&t->problem));
	assert_null(pe_fit_refusal(&t->problem));
	assert_false(pe_fit_is_private(method));
}

/* ----------
 * nonprivate
 * ----------
 */
static void
check_minimum(pe_model model, size_t rows, const double *truth, double l2, const char *name)
{
	table		t;
	double		w[TABLE_COLUMNS];
	long double at[TABLE_COLUMNS] = {0};
	long double best[TABLE_COLUMNS];
	long double gradient[TABLE_COLUMNS];
	long double length;

	plain_init(&t, model, PE_FIT_NONPRIVATE, l2);
	table_fill(&t, rows, truth);
	pe_fit_run(&t.problem, &t.source, w);
	for (int32_t j = 0; j < t.shape.columns; j++)
		at[j] = w[j];
	table_objective(&t, at, l2, NULL, gradient, NULL);
	length = table_length(gradient, t.shape.columns);
	table_minimise(&t, l2, NULL, best);
	for (int32_t j = 0; j < t.shape.columns; j++)
		best[j] -= at[j];
	print_message("%s: gradient %.3g, distance %.3g\n", name, (double) length,
				  (double) table_length(best, t.shape.columns));
	/* a squared loss is less precise: 2^-44 for each row */
	assert_true(length <= 0x1p-38L * (1 + (long double) rows) * sqrt(6));
	assert_true(table_length(best, t.shape.columns) <= (length + 1e-14L * (1 + (long double) rows)) / l2);
	table_free(&t);
}

static void
test_minimum(void **state)
{
	const double truth[TABLE_COLUMNS] = {2, -1, 0.5, 3, 0.3};
	const double small[TABLE_COLUMNS] = {0.4, -0.3, 0.1};
	const double far[TABLE_COLUMNS] = {1000, -700, 300};

	(void) state;
	check_minimum(PE_MODEL_LOGISTIC, 1000, truth, 0.1, "logistic");
	check_minimum(PE_MODEL_SVM, 1000, truth, 0.1, "hinge");
	check_minimum(PE_MODEL_LINEAR, 1000, small, 0.1, "regression");
	check_minimum(PE_MODEL_LOGISTIC, 300, far, 1, "separable, logistic");
	check_minimum(PE_MODEL_SVM, 300, far, 1, "separable, hinge");
	check_minimum(PE_MODEL_LINEAR, 300, far, 1, "labels at their bounds");
	for (pe_model model = PE_MODEL_LOGISTIC; model <= PE_MODEL_LINEAR; model++)
	{
		check_minimum(model, 0, truth, 1, "no rows");
		check_minimum(model, 1, truth, 1, "one row");
	}
}

/* Nothing holds the weights where l2 is 0: they are finite, and classify. */
static void
test_unregularised(void **state)
{
	const double far[TABLE_COLUMNS] = {1000, -700, 300};

	(void) state;
	for (pe_model model = PE_MODEL_LOGISTIC; model <= PE_MODEL_LINEAR; model++)
		for (int rows = 0; rows <= 500; rows += 250)
		{
			table		t;
			double		w[TABLE_COLUMNS];
			int			right = 0;

			plain_init(&t, model, PE_FIT_NONPRIVATE, 0);
			table_fill(&t, (size_t) rows, far);
			pe_fit_run(&t.problem, &t.source, w);
			for (int32_t j = 0; j < t.shape.columns; j++)
				assert_true(isfinite(w[j]));
			for (int i = 0; i < rows; i++)
			{
				long double x[TABLE_COLUMNS];
				long double margin = 0;
				double		y = table_row(&t, (size_t) i, x);

				for (int32_t j = 0; j < t.shape.columns; j++)
					margin += x[j] * w[j];
				right += margin * y > 0;
			}
			print_message("model %d, %d rows: %d right\n", (int) model, rows, right);
			assert_true(right >= rows * 95 / 100);
			table_free(&t);
		}
}

/* An exact fit of a regression without noise: weights to the digits of the rows. */
static void
test_regression(void **state)
{
	table		t;
	double		w[TABLE_COLUMNS];

	(void) state;
	plain_init(&t, PE_MODEL_LINEAR, PE_FIT_NONPRIVATE, 0);
	for (int i = 0; i < 200; i++)
	{
		double		x[TABLE_COLUMNS] = {0};

		for (int j = 0; j < 4; j++)
			x[j] = rint((2 * table_uniform() - 1) * 1000) / PE_ONE;
		/* 4 x_0 - 2 x_2 + an intercept, exact in integers */
		table_add(&t, x, -1, (int16_t) (4 * rint(x[0] * PE_ONE) - 2 * rint(x[2] * PE_ONE) + 1500));
	}
	pe_fit_run(&t.problem, &t.source, w);
	assert_true(fabs(w[0] - 4) < 1e-6);
	assert_true(fabs(w[1]) < 1e-6);
	assert_true(fabs(w[2] + 2) < 1e-6);
	assert_true(fabs(w[3]) < 1e-6);
	assert_true(fabs(w[4] - 1500.0 / PE_ONE) < 1e-7);
	table_free(&t);
}

/* ----------
 * majority
 * ----------
 */
static void
check_majority(pe_model model, const int16_t *labels, int rows, bool with_intercept, double expected)
{
	const double x[TABLE_COLUMNS] = {1, -1, 0.5, 0.25};
	table		t;
	double		w[TABLE_COLUMNS];

	plain_init(&t, model, PE_FIT_MAJORITY, NAN);
	if (!with_intercept)
		t.problem.intercept = -1;
	for (int i = 0; i < rows; i++)
		table_add(&t, x, 1, labels[i]);
	pe_fit_run(&t.problem, &t.source, w);
	for (int32_t j = 0; j < t.shape.columns; j++)
		assert_true(fabs(w[j] - (with_intercept && j == 4 ? expected : 0)) < 1e-15);
	table_free(&t);
}

static void
test_majority(void **state)
{
	const int16_t labels[] = {1, 0, 0, 1, 1};
	const int16_t numbers[] = {PE_ONE, -PE_ONE, 8000, 0, 500};

	(void) state;
	check_majority(PE_MODEL_LOGISTIC, labels, 5, true, 1);
	check_majority(PE_MODEL_LOGISTIC, labels, 3, true, -1);
	check_majority(PE_MODEL_SVM, labels, 4, true, 1);
	check_majority(PE_MODEL_SVM, labels, 0, true, 1);
	check_majority(PE_MODEL_SVM, labels, 3, false, 0);
	check_majority(PE_MODEL_LINEAR, numbers, 5, true, 8500.0 / 5 / PE_ONE);
	check_majority(PE_MODEL_LINEAR, numbers, 0, true, 0);
	check_majority(PE_MODEL_LINEAR, numbers, 5, false, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_minimum),
		cmocka_unit_test(test_unregularised),
		cmocka_unit_test(test_regression),
		cmocka_unit_test(test_majority),
	};

	return cmocka_run_group_tests_name("plain", tests, NULL, NULL);
}
