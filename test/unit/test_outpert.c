/*
 * test_outpert.c
 *	  Output perturbation: its sensitivity, by brute force over neighbours, and its noise.
 *
 * Statistical tests use the system's randomness (statistics.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fit/fit.h"
#include "noise/gaussian.h"
#include "noise/laplace.h"
#include "fit/methods.h"
#include "numbers.h"
#include "shim.h"
#include "statistics.h"
#include "fit_tables.h"
#include "allowance.h"

static void
outpert_init(table *t, int32_t dense, int32_t cells, pe_model model, double iterations, double rate, double rows)
{
	table_init(t, dense, cells, model, PE_FIT_OUTPERT);
	t->problem.options.iterations = iterations;
	t->problem.options.rate = rate;
	t->problem.options.rows = rows;
	t->problem.nano = 10000000;
	assert_null(pe_fit_defaults(&t->problem));
	assert_null(pe_fit_refusal(&t->problem));
}

/* ----------
 * The descent
 * ----------
 */

/* It is gradient descent, to the error that is allowed for. */
static void
test_descent(void **state)
{
	const double truth[TABLE_COLUMNS] = {2, -1, 0.5, 1};

	(void) state;
	for (pe_model model = PE_MODEL_LOGISTIC; model <= PE_MODEL_SVM; model++)
		for (int part = 1; part <= 3; part++)
		{
			table		t;
			pe_outpert	o;
			pe_i128		exact[TABLE_COLUMNS];
			long double w[TABLE_COLUMNS] = {0};
			long double g[TABLE_COLUMNS];
			long double off;
			double		rows = 60 * part * part;
			double		beta = 5 * (model == PE_MODEL_LOGISTIC ? 0.25 : 1);
			double		x;

			outpert_init(&t, 4, 3, model, 12, 1.6, rows);
			table_fill(&t, 200, truth);
			pe_outpert_prepare(&t.problem, rows, &o);
			pe_outpert_exact(&t.problem, &t.source, &o, exact);
			x = 200 / rows;
			for (int i = 0; i < 12; i++)
			{
				table_objective(&t, w, 0, NULL, g, NULL);
				for (int32_t j = 0; j < t.shape.columns; j++)
					w[j] -= 1.6L / beta * (x <= 2.5 ? 1 - x / 5 : 1.25 / x) / rows * g[j];
			}
			for (int32_t j = 0; j < t.shape.columns; j++)
				w[j] -= (long double) ldexp((double) exact[j], -o.bits);
			off = table_length(w, t.shape.columns);
			/* 1e-13: under valgrind long double is no better than double */
			assert_true(off <= o.error + ldexp(sqrt(t.shape.columns), -o.bits - 1) + 1e-13);
			assert_true(off > 0);
			assert_true(o.error < 1e-3 * o.sensitivity);
			table_free(&t);
		}
}

/* ----------
 * Sensitivity
 * ----------
 */

/* A random row, of the longest there are with good chance. */
static void
add_random_row(table *t)
{
	double		x[TABLE_COLUMNS];
	bool		corner = table_uniform() < 0.5;

	for (int32_t j = 0; j + 1 < t->shape.dense; j++)
		x[j] = corner ? (table_uniform() < 0.5 ? -1 : 1) : 2 * table_uniform() - 1;
	table_add(t, x, (int32_t) (table_uniform() * (t->cells[0] + 1)) - 1, table_uniform() < 0.5);
}

static void
copy_rows(table *to, const table *from, size_t first)
{
	int16_t		dense[TABLE_COLUMNS];
	uint16_t	group;
	pe_row		row = {.dense = dense, .cell = &group};

	for (size_t i = first; i < from->rows.rows; i++)
	{
		pe_rows_get(&from->rows, i, &row);
		pe_rows_add(&to->rows, &row, NULL);
	}
}

/* The distance of two tables' weights in units of the sensitivity that the noise is for. */
static double
distance(table *a, table *b, const pe_outpert *o)
{
	pe_i128		of_a[TABLE_COLUMNS];
	pe_i128		of_b[TABLE_COLUMNS];
	double		square = 0;

	pe_outpert_exact(&a->problem, &a->source, o, of_a);
	pe_outpert_exact(&b->problem, &b->source, o, of_b);
	for (int32_t j = 0; j < a->shape.columns; j++)
		square += pow((double) (of_a[j] - of_b[j]), 2);
	return sqrt(square) / (double) o->steps;
}

/* k rows are removed, or replaced by others. */
static double
random_neighbours(pe_model model, int32_t k, bool substitute)
{
	double		rows = floor(pow(200, table_uniform()));
	int			n = (int) floor(rows * 6 * table_uniform());
	double		iterations = 1 + floor(8 * table_uniform());
	double		rate = 2 * (1 - table_uniform());
	int32_t		dense = 1 + (int32_t) (4 * table_uniform());
	int32_t		cells = (int32_t) (3 * table_uniform());
	table		t;
	table		other;
	pe_outpert	o;
	double		ratio;

	outpert_init(&t, dense, cells, model, iterations, rate, rows);
	outpert_init(&other, dense, cells, model, iterations, rate, rows);
	t.problem.max_rows = other.problem.max_rows = k;
	t.problem.substitute = other.problem.substitute = substitute;
	for (int i = 0; i < n + k; i++)
		add_random_row(&t);
	copy_rows(&other, &t, (size_t) k);
	for (int i = 0; i < k && substitute; i++)
		add_random_row(&other);
	pe_outpert_prepare(&t.problem, rows, &o);
	ratio = distance(&t, &other, &o);
	table_free(&t);
	table_free(&other);
	return ratio;
}

static void
test_sensitivity(void **state)
{
	const struct
	{
		int32_t		k;
		bool		substitute;
	}			cases[] = {{1, false}, {3, false}, {1, true}, {2, true}};

	(void) state;
	for (pe_model model = PE_MODEL_LOGISTIC; model <= PE_MODEL_SVM; model++)
		for (int i = 0; i < lengthof(cases); i++)
		{
			double		most = 0;

			for (long j = 0; j < (long) (1000 * fmax(test_scale(), 0.05)); j++)
				most = fmax(most, random_neighbours(model, cases[i].k, cases[i].substitute));
			print_message("%s, k %d%s: at most %.3f of the sensitivity\n", model == PE_MODEL_SVM ? "hinge" : "logistic",
						  cases[i].k, cases[i].substitute ? ", substitute" : "", most);
			assert_true(most <= 1);
			assert_true(most > 0.05);
		}
}

/*
 * It is attained, almost: one row of a hinge beside none, with steps that do not leave
 * the straight part of its loss.  And where there are many more rows than guessed.
 */
static void
test_attained(void **state)
{
	const double x[TABLE_COLUMNS] = {1, -1};
	table		t;
	table		other;
	pe_outpert	o;
	double		ratio;

	(void) state;
	outpert_init(&t, 3, 0, PE_MODEL_SVM, 4, 0.5, 1000);
	outpert_init(&other, 3, 0, PE_MODEL_SVM, 4, 0.5, 1000);
	table_add(&t, x, -1, 1);
	pe_outpert_prepare(&t.problem, 1000, &o);
	ratio = distance(&t, &other, &o);
	print_message("attained: %.5f\n", ratio);
	assert_true(ratio <= 1);
	assert_true(ratio > 0.999);
	table_free(&t);
	table_free(&other);

	/* rows that pull one way, one that pulls the other: 2 c = 2 times as many as guessed */
	outpert_init(&t, 3, 0, PE_MODEL_SVM, 1, 2, 50);
	outpert_init(&other, 3, 0, PE_MODEL_SVM, 1, 2, 50);
	for (int i = 0; i < 99; i++)
	{
		table_add(&t, x, -1, 1);
		table_add(&other, x, -1, 1);
	}
	table_add(&t, x, -1, 0);
	pe_outpert_prepare(&t.problem, 50, &o);
	ratio = distance(&t, &other, &o);
	print_message("attained with many rows: %.5f\n", ratio);
	assert_true(ratio <= 1);
	assert_true(ratio > 0.98);
	table_free(&t);
	table_free(&other);
}

/* ----------
 * Noise
 * ----------
 */
static void
check_noise(bool pure)
{
	long		n = scaled(3000);
	pe_i128		exact[TABLE_COLUMNS];
	double		sum = 0;
	double		squares = 0;
	double		sigma;
	double		fourth = pure ? 6 : 3;
	table		t;
	pe_amount	cost;
	pe_outpert	o;

	outpert_init(&t, 2, 0, PE_MODEL_LOGISTIC, 3, 1, 20);
	t.problem.accounting = pure ? PE_PURE : PE_ZCDP;
	assert_null(pe_fit_refusal(&t.problem));
	assert_true(pe_fit_plan_make(&t.problem));
	cost = fit_cost(&t.problem);
	assert_int_equal(pure ? cost.epsilon_nano : cost.rho_nano, t.problem.nano);
	assert_int_equal(pure ? cost.rho_nano : cost.epsilon_nano, 0);
	for (int i = 0; i < 10; i++)
		add_random_row(&t);
	pe_outpert_prepare(&t.problem, 20, &o);
	pe_outpert_exact(&t.problem, &t.source, &o, exact);
	if (pure)
		sigma = pe_laplace_stderr((pe_u128) ceil((double) o.steps * sqrt(2)), t.problem.nano);
	else
		sigma = pe_gaussian_stderr(PE_ZCDP, (pe_u128) o.steps * o.steps, t.problem.nano);
	for (long i = 0; i < n; i++)
	{
		double		w[2];

		run_fit(pe_fit_outpert, &t.problem, &t.source, w);
		for (int j = 0; j < 2; j++)
		{
			double		z = (ldexp(w[j], o.bits) - (double) exact[j]) / sigma;

			sum += z;
			squares += z * z;
		}
	}
	check_z("mean", sum / sqrt(2.0 * (double) n));
	check_z("variance", (squares - 2.0 * (double) n) / sqrt(2.0 * (double) n * (fourth - 1)));
	table_free(&t);
}

static void
test_noise(void **state)
{
	(void) state;
	check_noise(false);
	check_noise(true);
}

/* Without a guess the number of rows is measured, and the fit is not far off. */
static void
test_measured_rows(void **state)
{
	const double truth[TABLE_COLUMNS] = {2, -1};
	table		t;
	double		w[TABLE_COLUMNS];
	double		exact[TABLE_COLUMNS];
	pe_i128		at[TABLE_COLUMNS];
	pe_outpert	o;
	double		farthest = 0;

	(void) state;
	outpert_init(&t, 2, 0, PE_MODEL_LOGISTIC, 20, 1, NAN);
	t.problem.nano = 1000000000;
	table_fill(&t, 2000, truth);
	assert_int_equal(pe_fit_passes(&t.problem), 22);
	run_fit(pe_fit_outpert, &t.problem, &t.source, w);
	pe_outpert_prepare(&t.problem, 2000, &o);
	pe_outpert_exact(&t.problem, &t.source, &o, at);
	for (int j = 0; j < 2; j++)
	{
		exact[j] = ldexp((double) at[j], -o.bits);
		farthest = fmax(farthest, fabs(w[j] - exact[j]));
	}
	print_message("weights %g %g, without noise %g %g\n", w[0], w[1], exact[0], exact[1]);
	assert_true(exact[0] > 0.5);
	assert_true(farthest < 0.2);
	table_free(&t);
}

/* ----------
 * Edges
 * ----------
 */
static void
prepare_too_fast(void *arg)
{
	pe_outpert	o;

	pe_outpert_prepare(arg, 10, &o);
}

static void
test_edges(void **state)
{
	table		t;
	pe_outpert	o;
	pe_i128		exact[TABLE_COLUMNS];

	(void) state;
	outpert_init(&t, 3, 2, PE_MODEL_LOGISTIC, 5, 1, 1e15);
	pe_outpert_prepare(&t.problem, 1e15, &o);
	pe_outpert_exact(&t.problem, &t.source, &o, exact);
	for (int j = 0; j < 5; j++)
		assert_true(exact[j] == 0);
	assert_true(o.steps >= 1);

	t.problem.options.rate = 2.5;
	assert_non_null(pe_fit_refusal(&t.problem));
	assert_true(pe_test_is_bug(prepare_too_fast, &t.problem));
	t.problem.options.rate = 1;
	t.problem.model = PE_MODEL_LINEAR;
	assert_non_null(pe_fit_refusal(&t.problem));
	assert_true(pe_test_is_bug(prepare_too_fast, &t.problem));
	table_free(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_descent),
		cmocka_unit_test(test_sensitivity),
		cmocka_unit_test(test_attained),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_measured_rows),
		cmocka_unit_test(test_edges),
	};

	return cmocka_run_group_tests_name("outpert", tests, NULL, NULL);
}
