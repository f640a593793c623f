/*
 * test_fit_search.c
 *	  Methods that select: agd and privgene; degenerate tables for them and for
 *	  those of test_fit_newton.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "glm/loss.h"
#include "fit/measure.h"
#include "noise/noise.h"
#include "noise/selection.h"
#include "models.h"
#include "numbers.h"
#include "shim.h"
#include "allowance.h"

/* So large that no noise is seen; a selection uses no more than 2^45. */
#define PLENTY (INT64_C(1) << 55)

/* ----------
 * What noise and selections were told to cost
 * ----------
 */
static int64_t spent;
static int	gradients;
static int	selections;
static bool refuse_to_move;		/* every selection of agd is made to be 0 */
static bool move_farthest;		/* or the last one */
static pe_u128 last_sensitivity;
static pe_u128 largest_sensitivity;
static bool last_monotone;
static pe_accounting last_accounting;
static double farthest_apart;	/* scores of one selection, as a part of their sensitivity */

extern void __real_pe_gaussian_release(pe_accounting accounting, pe_i128 *exact, size_t count, pe_u128 sensitivity, int64_t nano, int64_t *released);
extern int32_t __real_pe_select_least(const pe_i128 *score, int32_t count, pe_u128 sensitivity, bool monotone,
									  pe_accounting accounting, int64_t nano);

void
__wrap_pe_gaussian_release(pe_accounting accounting, pe_i128 *exact, size_t count, pe_u128 sensitivity, int64_t nano, int64_t *released)
{
	assert_true(nano > 0);
	spent += nano;
	gradients++;
	__real_pe_gaussian_release(accounting, exact, count, sensitivity, nano, released);
}

int32_t
__wrap_pe_select_least(const pe_i128 *score, int32_t count, pe_u128 sensitivity, bool monotone,
					   pe_accounting accounting, int64_t nano)
{
	int32_t		chosen = __real_pe_select_least(score, count, sensitivity, monotone, accounting, nano);

	assert_true(nano > 0);
	spent += nano;
	selections++;
	last_sensitivity = sensitivity;
	largest_sensitivity = sensitivity > largest_sensitivity ? sensitivity : largest_sensitivity;
	last_monotone = monotone;
	last_accounting = accounting;
	for (int32_t i = 0; i < count; i++)
		for (int32_t j = 0; j < count; j++)
			farthest_apart = fmax(farthest_apart, (double) (score[i] - score[j]) / (double) sensitivity);
	return refuse_to_move ? 0 : move_farthest ? count - 1 : chosen;
}

static void
start_counting(void)
{
	spent = 0;
	gradients = 0;
	selections = 0;
	refuse_to_move = false;
	move_farthest = false;
	farthest_apart = 0;
	largest_sensitivity = 0;
}

/* ----------
 * Costs and passes
 * ----------
 */

/* Whatever is chosen, no more is spent than the cost, nor read more often than was said. */
static void
test_agd_costs(void **state)
{
	static const int64_t nanos[] = {300, 1009, 55300, 2990000, 42000000, 1000000007, PLENTY};
	double		w[MODEL_MOST_COLUMNS];
	table		t;

	(void) state;
	table_start(&t, 3, 1, 2);
	table_fill(&t, PE_MODEL_LOGISTIC, 100, 1);
	for (int i = 0; i < 7 * 2 * 2 * 2; i++)
	{
		counted_source counted;
		pe_fit_problem problem;

		problem_of(&t, i % 2 == 0 ? PE_MODEL_LOGISTIC : PE_MODEL_SVM, PE_FIT_AGD, nanos[i / 8], &problem);
		if (i / 2 % 2 == 1)
			problem.options.splits = 60;
		assert_null(pe_fit_defaults(&problem));
		if (pe_fit_refusal(&problem) != NULL)
		{
			/* shares below one; a division that is for small epsilons */
			assert_true(problem.nano < 55300 || (problem.nano == PLENTY && problem.options.splits == 60));
			continue;
		}
		count_passes(&counted, &t);
		start_counting();
		refuse_to_move = i / 4 % 2 == 1;
		run_fit(pe_fit_run, &problem, &counted.source, w);
		assert_true(spent <= problem.nano);
		/* what is left over is less than a round */
		if (!refuse_to_move && isnan(problem.options.splits))
			assert_true(spent > problem.nano - problem.nano / 3);
		assert_true(selections > 0 && counted.passes <= pe_fit_passes(&problem));
		assert_true(all_finite(w, t.shape.columns));
		if (refuse_to_move)
		{
			/* one pass for the gradient, however often it was measured, and one for each selection */
			assert_int_equal(gradients, selections);
			assert_int_equal(counted.passes, selections + 1);
			for (int j = 0; j < t.shape.columns; j++)
				assert_true(w[j] == 0);
		}
		else
			assert_true(counted.passes <= gradients + selections);
	}
	table_free(&t);
}

/* All of the cost in equal parts, and the sensitivity that the header proves. */
static void
test_privgene_costs(void **state)
{
	double		w[MODEL_MOST_COLUMNS];
	table		t;

	(void) state;
	table_start(&t, 3, 1, 2);
	table_use_units(&t, 3);
	table_fill(&t, PE_MODEL_LOGISTIC, 100, 1);
	for (int i = 0; i < 32; i++)
	{
		counted_source counted;
		pe_fit_problem problem;
		double		step = i / 8 % 2 == 0 ? 0.5 : 2;
		double		rows;

		problem_of(&t, PE_MODEL_LOGISTIC, PE_FIT_PRIVGENE, 1000003, &problem);
		problem.accounting = i % 2 == 1 ? PE_PURE : PE_ZCDP;
		problem.substitute = i / 2 % 2 == 1;
		problem.max_rows = i / 4 % 2 == 1 ? 3 : 1;
		problem.options.iterations = 7;
		problem.options.decay = 1;
		problem.options.step_max = step;
		if (i / 16 == 0)
			problem.options.unit_clip = 0;
		assert_null(pe_fit_defaults(&problem));
		assert_null(pe_fit_refusal(&problem));
		rows = problem.max_rows == 1 ? 1 : problem.options.unit_clip == 1 ? sqrt(3) : 3;
		assert_int_equal(problem.options.unit_clip == 1, i / 16 == 1 && problem.max_rows == 3);
		count_passes(&counted, &t);
		start_counting();
		run_fit(pe_fit_run, &problem, &counted.source, w);
		assert_true(spent == problem.nano);
		assert_int_equal(selections, 7);
		assert_int_equal(gradients, 0);
		assert_int_equal(counted.passes, 7);
		assert_int_equal(pe_fit_passes(&problem), 7);
		/* 2 s and the slack, or the cap of 3 */
		assert_true(last_sensitivity == (pe_u128) (rows * (step < 1 ? 32768 + 8 : 3 * 32768)));
		assert_int_equal(last_monotone, !problem.substitute);
		assert_int_equal(last_accounting, problem.accounting);
	}
	table_free(&t);
}

/*
 * The spread of what one row adds to the scores is what privgene says, in the integers
 * that passes make: margins in between and far out, capped and not.
 */
static void
test_privgene_spread(void **state)
{
	stream		s = {11};
	int			rows = getenv("PG_EPSILON_QUICK") != NULL ? 300 : 5000;

	(void) state;
	for (int i = 0; i < rows; i++)
	{
		double		w[6];
		int32_t		v[6];
		double		x[3];
		int			cell[1] = {i % 2};
		pe_i128		sums[12];
		pe_i128		least;
		pe_i128		most;
		double		step = 2 * stream_uniform(&s);
		double		size = i % 3 == 0 ? 1 : i % 3 == 1 ? 30 : 1e5;
		table		t;
		pe_pass		pass;

		table_start(&t, 3, 1, 2);
		for (int j = 0; j < 6; j++)
			w[j] = size * (2 * stream_uniform(&s) - 1);
		for (int j = 0; j < 3; j++)
			x[j] = stream_uniform(&s) < 0.5 ? 1 : -1;
		table_add(&t, x, cell, stream_uniform(&s) < 0.5, true);
		memset(&pass, 0, sizeof(pass));
		pass.kind = PE_PASS_COORDINATES;
		pass.loss = i % 4 < 2 ? PE_LOSS_LOGISTIC : i % 4 == 2 ? PE_LOSS_HUBER : PE_LOSS_HINGE;
		pass.step = (float) step;
		pass.cap = i % 5 == 0 ? 16 << PE_LOSS_BITS : 3 << PE_LOSS_BITS;
		pass.weights.v = v;
		pe_weights_set(&pass.weights, w, 6, t.radius_sq);
		t.source.run(&t.source, &pass, sums);
		least = most = sums[0];
		for (int j = 1; j < 12; j++)
		{
			least = sums[j] < least ? sums[j] : least;
			most = sums[j] > most ? sums[j] : most;
		}
		assert_true(least >= 0 && most <= pass.cap);
		assert_true((double) (most - least) <= 2 * (ceil(ldexp((double) pass.step, PE_LOSS_BITS)) + 4));
		table_free(&t);
	}
}

/*
 * What one row adds to agd's scores lies as close together as the sensitivity says, in the
 * integers that passes make, and comes near it: the scores of tables of one row, longest
 * in every column, at rounds' beginning and far out, along its own gradient and noise.
 */
static void
test_agd_spread(void **state)
{
	static const int64_t nanos[] = {PLENTY, 1000000000, 10000};
	stream		s = {12};
	int			rows = getenv("PG_EPSILON_QUICK") != NULL ? 300 : 3000;
	double		nearest = 0;

	(void) state;
	for (int i = 0; i < rows; i++)
	{
		double		w[MODEL_MOST_COLUMNS];
		double		x[3];
		int			cell[1] = {i % 2};
		table		t;
		pe_fit_problem problem;

		table_start(&t, 3, 1, 2);
		for (int j = 0; j < 3; j++)
			x[j] = stream_uniform(&s) < 0.5 ? 1 : -1;
		table_add(&t, x, cell, i / 2 % 2, true);
		problem_of(&t, i % 2 == 0 ? PE_MODEL_LOGISTIC : PE_MODEL_SVM, PE_FIT_AGD, nanos[i % 3], &problem);
		problem.options.l2 = 0;
		problem.options.iterations = 5;
		if (i % 2 == 1)
			problem.options.hinge = i / 4 % 2;
		problem.options.adjust = i % 5 == 0 ? 0 : 2;
		problem.options.loss_cap = i % 7 == 0 ? 16 : 3;
		problem.options.step_max = exp2(6 * stream_uniform(&s) - 5);
		assert_null(pe_fit_defaults(&problem));
		assert_null(pe_fit_refusal(&problem));
		start_counting();
		move_farthest = i % 4 == 3;
		run_fit(pe_fit_run, &problem, &t.source, w);
		assert_true(selections > 0 && farthest_apart <= 1);
		if (problem.options.step_max < 0.25)
			nearest = fmax(nearest, farthest_apart);
		table_free(&t);
	}
	start_counting();
	assert_true(nearest > 0.9);
}

/* ----------
 * Results
 * ----------
 */
/* Fits by newton without noise, and the mean loss there. */
static double
lowest_loss(table *t, pe_model model)
{
	double		best[MODEL_MOST_COLUMNS];
	pe_fit_problem problem;

	problem_of(t, model, PE_FIT_NEWTON, PLENTY, &problem);
	problem.options.iterations = 60;
	problem.options.clip = 1000;
	assert_null(pe_fit_defaults(&problem));
	run_fit(pe_fit_run, &problem, &t->source, best);
	return mean_loss(t, model, best, NULL);
}

static double
length_sq(const table *t, const double *w)
{
	double		sum = 0;

	for (int j = 0; j < t->shape.columns; j++)
		sum += w[j] * w[j];
	return sum;
}

static void
test_agd_minimum(void **state)
{
	(void) state;
	pe_test_seed(5);
	for (int i = 0; i < 8; i++)
	{
		pe_model	model = i % 2 == 0 ? PE_MODEL_LOGISTIC : PE_MODEL_SVM;
		double		w[MODEL_MOST_COLUMNS];
		double		short_w[MODEL_MOST_COLUMNS];
		double		loss;
		double		lowest;
		table		t;
		pe_fit_problem problem;

		table_start(&t, 4, i / 2 % 2, 3);
		table_fill(&t, model, 3000, 5);
		lowest = lowest_loss(&t, model);
		problem_of(&t, model, PE_FIT_AGD, PLENTY, &problem);
		problem.options.iterations = 100;
		problem.options.loss_cap = 30;
		if (i / 4 == 1)
			problem.options.adjust = 0;
		assert_null(pe_fit_defaults(&problem));
		run_fit(pe_fit_run, &problem, &t.source, w);
		loss = mean_loss(&t, model, w, NULL);
		assert_true(loss >= lowest - 1e-5);
		if (!(loss < lowest + 0.005))
			fail_msg("agd ends at %g, the minimum is %g", loss, lowest);

		/* l2 is in the gradient and in the scores */
		problem.options.l2 = 3000;
		run_fit(pe_fit_run, &problem, &t.source, short_w);
		assert_true(length_sq(&t, short_w) < length_sq(&t, w) / 4);
		table_free(&t);
	}
	pe_test_unseed();
}

/*
 * The hinge itself: another loss than the smoothed one, in gradients and in scores.  For
 * rows of one kind all steps to a margin of 1 or more are as good, or of 1.5 or more.
 */
static void
test_agd_hinge(void **state)
{
	double		least[2] = {INFINITY, INFINITY};
	double		w[2];
	double		x[1] = {1};
	table		t;

	(void) state;
	pe_test_seed(6);
	table_start(&t, 1, 0, 0);
	for (int i = 0; i < 400; i++)
		table_add(&t, x, NULL, 1, true);
	for (int i = 0; i < 60; i++)
	{
		pe_fit_problem problem;

		problem_of(&t, PE_MODEL_SVM, PE_FIT_AGD, PLENTY, &problem);
		problem.options.hinge = i % 2;
		problem.options.iterations = 1;
		problem.options.candidates = 40;
		assert_null(pe_fit_defaults(&problem));
		run_fit(pe_fit_run, &problem, &t.source, w);
		least[i % 2] = fmin(least[i % 2], w[0] + w[1]);
	}
	/* steps of 0.05, margins of sqrt(2) each */
	assert_true(least[0] > 1.48);
	assert_true(least[1] > 0.99 && least[1] < 1.42);
	table_free(&t);
	pe_test_unseed();
}

static void
test_privgene_minimum(void **state)
{
	(void) state;
	pe_test_seed(7);
	for (int i = 0; i < 4; i++)
	{
		pe_model	model = i % 2 == 0 ? PE_MODEL_LOGISTIC : PE_MODEL_SVM;
		double		w[MODEL_MOST_COLUMNS];
		double		loss;
		double		lowest;
		table		t;
		pe_fit_problem problem;

		table_start(&t, 4, 1, 3);
		table_fill(&t, model, 2000, 5);
		lowest = lowest_loss(&t, model);
		problem_of(&t, model, PE_FIT_PRIVGENE, PLENTY, &problem);
		problem.accounting = i / 2 == 1 ? PE_PURE : PE_ZCDP;
		problem.options.iterations = 80;
		problem.options.loss_cap = 16;
		assert_null(pe_fit_defaults(&problem));
		run_fit(pe_fit_run, &problem, &t.source, w);
		loss = mean_loss(&t, model, w, NULL);
		if (!(loss < lowest + 0.01))
			fail_msg("privgene ends at %g, the minimum is %g", loss, lowest);
		table_free(&t);
	}
	pe_test_unseed();
}

/* Each at the least cost that is not refused, or a little more, and at one that shows no noise. */
static const struct
{
	pe_fit_method method;
	pe_model	most;			/* model, of those from the first on */
	int64_t		least;
	int64_t		plenty;
}			degenerate_cases[] = {
	{PE_FIT_NEWTON, PE_MODEL_LINEAR, 60, INT64_C(1) << 61},
	{PE_FIT_ONE_PASS, PE_MODEL_LINEAR, 60, INT64_C(1) << 61},
	{PE_FIT_AGD, PE_MODEL_SVM, 250, PLENTY},
	{PE_FIT_PRIVGENE, PE_MODEL_SVM, 250, PLENTY},
};

static void
check_degenerate(int c, pe_model model, int kind, int64_t nano, int turn)
{
	pe_fit_method method = degenerate_cases[c].method;
	bool		searches = method == PE_FIT_AGD || method == PE_FIT_PRIVGENE;
	double		x[3] = {0.5, -1, 0};
	double		none[3] = {0, 0, 0};
	double		w[MODEL_MOST_COLUMNS];
	int			cell[1] = {1};
	table		t;
	pe_fit_problem problem;

	table_start(&t, 3, 1, 2);
	table_use_units(&t, 7);
	/* no row; one; one class; constant columns; zeros; many */
	for (int row = 0; row < (kind == 0 ? 0 : kind == 1 ? 1 : 200); row++)
		table_add(&t, kind == 4 ? none : x, cell, kind == 2 ? 1 : row % 2, model != PE_MODEL_LINEAR);
	if (kind == 5)
		table_fill(&t, model, 200, 9);
	problem_of(&t, model, method, nano, &problem);
	problem.max_rows = turn % 5 == 0 ? 100 : 1;
	if (searches && turn % 10 == 0)
		problem.options.unit_clip = 0;
	problem.substitute = turn % 7 == 0;
	assert_null(pe_fit_defaults(&problem));
	assert_null(pe_fit_refusal(&problem));
	start_counting();
	run_fit(pe_fit_run, &problem, &t.source, w);
	assert_true(all_finite(w, t.shape.columns));
	assert_true(spent <= problem.nano || !searches);
	if (method == PE_FIT_AGD)
	{
		pe_u128		rows = problem.max_rows == 1 ? 1 : turn % 10 == 0 ? 100 : 10;

		/* the first steps are longer than the cap; 100 rows that are clipped as a unit give as much as 10 */
		assert_true(largest_sensitivity == rows * (3 << PE_LOSS_BITS));
		assert_int_equal(last_monotone, !problem.substitute);
	}
	table_free(&t);
}

/* Tables that say nothing, and costs that buy nothing: numbers all the same. */
static void
test_degenerate(void **state)
{
	int			turn = 0;

	(void) state;
	for (int c = 0; c < lengthof(degenerate_cases); c++)
		for (int plenty = 0; plenty < 2; plenty++)
			for (int kind = 0; kind < 6; kind++)
				for (pe_model model = PE_MODEL_LOGISTIC; model <= degenerate_cases[c].most; model++)
					check_degenerate(c, model, kind, plenty ? degenerate_cases[c].plenty : degenerate_cases[c].least,
									 turn++);
}

/* Noise may choose the longest step in every round, and the range grows each time. */
static void
test_agd_range(void **state)
{
	double		w[MODEL_MOST_COLUMNS];
	table		t;
	pe_fit_problem problem;

	(void) state;
	table_start(&t, 3, 0, 0);
	table_fill(&t, PE_MODEL_LOGISTIC, 20, 3);
	problem_of(&t, PE_MODEL_LOGISTIC, PE_FIT_AGD, 1000000000, &problem);
	problem.options.iterations = 2000;
	problem.options.adjust = 1;
	assert_null(pe_fit_defaults(&problem));
	assert_null(pe_fit_refusal(&problem));
	start_counting();
	move_farthest = true;
	run_fit(pe_fit_run, &problem, &t.source, w);
	assert_true(selections >= 2000);
	assert_true(all_finite(w, t.shape.columns));
	start_counting();
	table_free(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_agd_costs),
		cmocka_unit_test(test_privgene_costs),
		cmocka_unit_test(test_privgene_spread),
		cmocka_unit_test(test_agd_spread),
		cmocka_unit_test(test_agd_minimum),
		cmocka_unit_test(test_agd_hinge),
		cmocka_unit_test(test_privgene_minimum),
		cmocka_unit_test(test_degenerate),
		cmocka_unit_test(test_agd_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
