/*
 * test_plan.c
 *	  Plans: what is charged is what is drawn, for every kind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accounting/conversion.h"
#include "fit/methods.h"
#include "plan/private.h"
#include "plans.h"
#include "blocks/blocks.h"
#include "few_blocks.h"
#include "models.h"
#include "shim.h"

#define MILLION INT64_C(1000000)

/* ----------
 * What was drawn
 * ----------
 */
typedef struct draws
{
	int			gaussian;
	int			laplace;
	pe_u128		sensitivity;	/* of the last one */
	int64_t		nano;			/* of the last one */
	int64_t		sum;
	pe_accounting accounting;	/* of the last Gaussian one */
	pe_u128		each[16];		/* sensitivities of the first ones */
} draws;

static draws drawn;

static void
record(int *count, pe_u128 sensitivity, int64_t nano)
{
	(*count)++;
	if (drawn.gaussian + drawn.laplace <= 16)
		drawn.each[drawn.gaussian + drawn.laplace - 1] = sensitivity;
	drawn.sensitivity = sensitivity;
	drawn.nano = nano;
	drawn.sum += nano;
}

extern void __real_pe_gaussian_release(pe_accounting accounting, pe_i128 *exact, size_t count, pe_u128 sensitivity, int64_t nano, int64_t *released);
extern void __real_pe_laplace_release(pe_i128 *exact, size_t count, pe_u128 sensitivity, int64_t nano, int64_t *released);

void
__wrap_pe_gaussian_release(pe_accounting accounting, pe_i128 *exact, size_t count, pe_u128 sensitivity, int64_t nano, int64_t *released)
{
	record(&drawn.gaussian, sensitivity, nano);
	drawn.accounting = accounting;
	__real_pe_gaussian_release(accounting, exact, count, sensitivity, nano, released);
}

void
__wrap_pe_laplace_release(pe_i128 *exact, size_t count, pe_u128 sensitivity, int64_t nano, int64_t *released)
{
	record(&drawn.laplace, sensitivity, nano);
	__real_pe_laplace_release(exact, count, sensitivity, nano, released);
}

extern void __real_pe_gaussian_release_rounded(pe_accounting accounting, pe_i128 *exact, size_t count, pe_u128 sensitivity, int64_t nano, int down, int64_t *released);
extern void __real_pe_laplace_release_rounded(pe_i128 *exact, size_t count, pe_u128 sensitivity, int64_t nano, int down, int64_t *released);

void
__wrap_pe_gaussian_release_rounded(pe_accounting accounting, pe_i128 *exact, size_t count, pe_u128 sensitivity, int64_t nano, int down, int64_t *released)
{
	record(&drawn.gaussian, sensitivity, nano);
	drawn.accounting = accounting;
	__real_pe_gaussian_release_rounded(accounting, exact, count, sensitivity, nano, down, released);
}

void
__wrap_pe_laplace_release_rounded(pe_i128 *exact, size_t count, pe_u128 sensitivity, int64_t nano, int down, int64_t *released)
{
	record(&drawn.laplace, sensitivity, nano);
	__real_pe_laplace_release_rounded(exact, count, sensitivity, nano, down, released);
}

static int	held;

static void
hold(void)
{
	held++;
}

/* ----------
 * What is asked
 * ----------
 */
static pe_plan_ask
ask_epsilon(bool pure, double epsilon, double delta)
{
	return (pe_plan_ask) {.accounting = pure ? PE_PURE : PE_ZCDP, .epsilon = epsilon, .rho = NAN, .max_stderr = NAN, .delta = delta};
}

static pe_plan_ask
ask_rho(double rho)
{
	return (pe_plan_ask) {.epsilon = NAN, .rho = rho, .max_stderr = NAN, .delta = 1e-6};
}

static pe_plan_ask
ask_stderr(bool pure, double max_stderr)
{
	return (pe_plan_ask) {.accounting = pure ? PE_PURE : PE_ZCDP, .epsilon = NAN, .rho = NAN, .max_stderr = max_stderr, .delta = 1e-6};
}

/* Columns (3, 1) and (-1, 2): L1 4 and 3, apart 5; L2 squared 10 and 5, apart 17. */
static int32_t entries[] = {3, 1, -1, 2};
static int32_t own_column[] = {0, 1};
static const pe_strategy two = {.classes = 2, .column_of = own_column, .columns = 2, .rows = 2, .inner = 2, .dense = entries};

static pe_plan *
plan_two(const pe_plan_ask *ask, pe_neighbours neighbours, int32_t max_rows, double scale)
{
	pe_plan_counts counts = {.strategy = &two, .rules = {neighbours, max_rows}, .scale = scale};
	pe_plan    *plan;

	assert_int_equal(pe_plan_of_counts(ask, &counts, &plan), PE_PLAN_MADE);
	return plan;
}

/* ----------
 * Counts
 * ----------
 */

/* Draws once, for the whole cost, with the sensitivity of the very strategy. */
static void
check_counts(const pe_plan *plan, int64_t cost, pe_u128 sensitivity)
{
	const int64_t columns[2] = {100, 200};
	bool		pure = plan->accounting == PE_PURE;
	pe_amount	amount = pe_cost_amount(pe_plan_cost(plan));
	pe_i128		exact[2];
	int64_t		released[2];

	memset(&drawn, 0, sizeof(drawn));
	held = 0;
	pe_plan_measure(plan, columns, exact, released, hold);
	assert_int_equal(held, 1);
	assert_int_equal(drawn.gaussian, pure ? 0 : 1);
	assert_int_equal(drawn.laplace, pure ? 1 : 0);
	assert_true(drawn.sensitivity == sensitivity && pe_plan_sensitivity(plan) == sensitivity);
	assert_int_equal(drawn.nano, cost);
	assert_int_equal(amount.rho_nano, pure ? 0 : cost);
	assert_int_equal(amount.epsilon_nano, pure ? cost : 0);
	assert_int_equal(amount.delta_atto, 0);
	assert_int_equal(pe_cost_as_rho(pe_plan_cost(plan)), pure ? pe_nano_rho_of_laplace(PE_ZCDP, cost, sensitivity) : 0);
	assert_true(pe_noise_stderr(pe_plan_noise(plan)) == pe_noise_stderr_of(pure ? PE_PURE : PE_ZCDP, sensitivity, cost));
	assert_true(pe_plan_stderr_at(plan, cost) == pe_noise_stderr(pe_plan_noise(plan)));
	assert_true(exact[0] == 0 && exact[1] == 0);
}

static void
test_counts(void **state)
{
	(void) state;
	for (int i = 0; i < 8; i++)
	{
		bool		pure = i % 2 == 1;
		pe_neighbours neighbours = i / 2 % 2 == 1 ? PE_SUBSTITUTE : PE_ADD_REMOVE;
		int32_t		k = i / 4 == 1 ? 3 : 1;
		int			norm = pure ? neighbours == PE_SUBSTITUTE ? 5 : 4 : neighbours == PE_SUBSTITUTE ? 17 : 10;
		pe_u128		sensitivity = (pe_u128) norm * (pe_u128) (pure ? k : k * k);
		pe_plan_ask ask = pure ? ask_epsilon(true, 0.5, 0) : ask_rho(0.125);
		pe_plan    *plan = plan_two(&ask, neighbours, k, 1);

		check_counts(plan, pure ? 500 * MILLION : 125 * MILLION, sensitivity);
		free_plan(plan);
	}
}

/* A plan is for the rules that it was made with, and for no others. */
static void
test_rules(void **state)
{
	pe_plan_ask ask = ask_rho(0.125);
	pe_plan    *plan = plan_two(&ask, PE_SUBSTITUTE, 3, 1);
	pe_plan_rules rules = {.neighbours = PE_SUBSTITUTE, .max_rows = 3};

	(void) state;
	assert_true(pe_plan_follows(plan, &rules));
	rules.max_rows = 4;
	assert_false(pe_plan_follows(plan, &rules));
	rules.max_rows = 3;
	rules.neighbours = PE_ADD_REMOVE;
	assert_false(pe_plan_follows(plan, &rules));
	rules.neighbours = PE_SUBSTITUTE;
	rules.by_size = true;
	assert_false(pe_plan_follows(plan, &rules));
	rules.by_size = false;
	rules.max_change = 0.01;
	assert_false(pe_plan_follows(plan, &rules));
	free_plan(plan);
}

/* Gaussian DP draws with the same cost on a finer lattice, with a sensitivity in its units. */
static void
test_gaussian_dp(void **state)
{
	const int64_t columns[2] = {100, 200};
	pe_plan_ask ask = ask_rho(0.125);
	pe_plan    *plan;
	pe_i128		exact[2];
	int64_t		released[2];

	(void) state;
	ask.accounting = PE_GDP;
	plan = plan_two(&ask, PE_SUBSTITUTE, 3, 1);
	/* sigma^2 = 4^6 * 153 / 0.25 + 4, the least above 2^20 */
	assert_int_equal(pe_noise_shift(pe_plan_noise(plan)), 6);
	memset(&drawn, 0, sizeof(drawn));
	pe_plan_measure(plan, columns, exact, released, hold);
	assert_true(drawn.gaussian == 1 && drawn.accounting == PE_GDP);
	assert_true(drawn.sensitivity == (pe_u128) 17 * 9 << 12 && pe_plan_sensitivity(plan) == 17 * 9);
	assert_int_equal(drawn.nano, 125 * MILLION);
	assert_int_equal(pe_cost_amount(pe_plan_cost(plan)).rho_nano, 125 * MILLION);
	assert_int_equal(pe_cost_accounting(pe_plan_cost(plan)), PE_GDP);
	/* 100 and 500 within 40 standard deviations of about 25 */
	assert_true(fabs(ldexp((double) released[0], -6) - 100) < 1000 && fabs(ldexp((double) released[1], -6) - 500) < 1000);
	free_plan(plan);
	ask = ask_epsilon(false, 1, 1e-9);
	ask.accounting = PE_GDP;
	plan = plan_two(&ask, PE_ADD_REMOVE, 1, 1);
	assert_int_equal(pe_cost_amount(pe_plan_cost(plan)).rho_nano, 16557415);
	assert_true(pe_plan_epsilon(plan) <= 1 && pe_plan_epsilon(plan) > 0.999999);
	free_plan(plan);
}

/* Rounding to whole numbers moves no mean; and what is rounded was drawn on the finer lattice. */
static void
test_whole_draw(void **state)
{
	enum {DRAWS = 20000};
	static pe_i128 exact[DRAWS];
	static int64_t released[DRAWS];
	pe_allowance allowance = {.accounting = PE_GDP, .left = INT64_MAX};
	double		sum = 0;
	double		squares = 0;

	(void) state;
	for (int i = 0; i < DRAWS; i++)
		exact[i] = 7;
	memset(&drawn, 0, sizeof(drawn));
	pe_noise_draw(&allowance, 1, 500 * MILLION, exact, DRAWS, released);
	assert_true(drawn.sensitivity == (pe_u128) 1 << 20);
	for (int i = 0; i < DRAWS; i++)
	{
		sum += (double) released[i] - 7;
		squares += pow((double) released[i] - 7, 2);
	}
	/* variance 1 + 1/12: 6.5 standard deviations of both means */
	assert_true(fabs(sum / DRAWS) < 6.5 * sqrt(1.084 / DRAWS));
	assert_true(fabs(squares / DRAWS - 13.0 / 12) < 6.5 * 1.6 / sqrt(DRAWS));
}

/* What a pure plan costs a cap is counted by that cap's rules. */
static void
test_caps(void **state)
{
	static const pe_accounting caps[] = {PE_ZCDP, PE_GDP};
	pe_plan_ask ask = ask_epsilon(true, 0.5, 0);

	(void) state;
	for (int i = 0; i < 2; i++)
	{
		pe_plan_counts counts = {.strategy = &two, .rules = {.max_rows = 1, .cap = caps[i]}, .scale = 1};
		pe_plan_rules other = {.max_rows = 1, .cap = caps[1 - i]};
		pe_plan    *plan;

		assert_int_equal(pe_plan_of_counts(&ask, &counts, &plan), PE_PLAN_MADE);
		assert_int_equal(pe_cost_as_rho(pe_plan_cost(plan)), pe_nano_rho_of_laplace(caps[i], 500 * MILLION, 4));
		assert_true(pe_plan_follows(plan, &counts.rules) && !pe_plan_follows(plan, &other));
		free_plan(plan);
	}
	assert_int_equal(pe_nano_rho_of_laplace(PE_GDP, 500 * MILLION, 4), 194620984);
}

/* Close to what was drawn: exact but for the noise of the largest costs. */
static void
test_answers(void **state)
{
	const int64_t columns[2] = {100, 200};
	pe_plan_ask ask = ask_rho(1e9);
	pe_plan    *plan = plan_two(&ask, PE_ADD_REMOVE, 1, 1);
	pe_i128		exact[2];
	int64_t		released[2];

	(void) state;
	pe_plan_measure(plan, columns, exact, released, hold);
	assert_int_equal(released[0], 3 * 100 - 200);
	assert_int_equal(released[1], 100 + 2 * 200);
	free_plan(plan);
}

/* How the cost is asked for: epsilon at a delta, or the least cost for an error. */
static void
test_asks(void **state)
{
	pe_plan_ask ask = ask_epsilon(false, 1, 1e-6);
	pe_plan    *plan = plan_two(&ask, PE_ADD_REMOVE, 1, 1);
	int64_t		nano;

	(void) state;
	check_counts(plan, pe_nano_rho_of_epsilon(PE_ZCDP, 1, 1e-6), 10);
	assert_true(pe_plan_epsilon(plan) <= 1 && pe_plan_epsilon(plan) > 0.999999);
	free_plan(plan);
	for (int pure = 0; pure < 2; pure++)
	{
		ask = ask_stderr(pure != 0, 7);
		plan = plan_two(&ask, PE_ADD_REMOVE, 1, 2);
		nano = pe_plan_drawn_exactly(plan);
		check_counts(plan, nano, pure ? 4 : 10);
		assert_true(2 * pe_plan_stderr_at(plan, nano) <= 7 && 2 * pe_plan_stderr_at(plan, nano - 1) > 7);
		free_plan(plan);
	}
}

/* What has no noise has no plan: no cost, beyond the largest, or a sensitivity that no sampler serves. */
static void
test_refused_counts(void **state)
{
	pe_plan_counts counts = {.strategy = &two, .rules = {PE_ADD_REMOVE, 1}, .scale = 1};
	pe_plan_ask asks[] = {
		ask_rho(1e-10), ask_epsilon(true, 1e-10, 0), ask_epsilon(true, 2e5, 0), ask_rho(1e300),
		{.accounting = PE_PURE, .epsilon = NAN, .rho = 1, .max_stderr = NAN}, {.epsilon = NAN, .rho = NAN, .max_stderr = NAN, .delta = 1e-6}
	};
	pe_plan    *plan;

	(void) state;
	for (size_t i = 0; i < sizeof(asks) / sizeof(asks[0]); i++)
	{
		assert_int_equal(pe_plan_of_counts(&asks[i], &counts, &plan), PE_PLAN_COST);
		assert_int_equal(pe_cost_amount(pe_plan_cost(plan)).rho_nano + pe_cost_amount(pe_plan_cost(plan)).epsilon_nano, 0);
		free_plan(plan);
	}
}

/* ----------
 * Blocks
 * ----------
 */

/* What k rows of one cell, or k that move from one to another, lose of the plan's noise: at most 1. */
static double
loss_of(const pe_plan *plan, const pe_i128 *a, const pe_i128 *b)
{
	const pe_blocks *blocks = plan->part->strategy->blocks;
	bool		pure = plan->accounting == PE_PURE;
	double		k = plan->rules.max_rows;
	double		loss = 0;

	for (int32_t i = 0; i < blocks->blocks; i++)
	{
		double		apart = 0;

		for (int64_t r = blocks->first[i]; r < blocks->first[i + 1]; r++)
		{
			double		d = ldexp(k * (double) (a[r] - (b != NULL ? b[r] : 0)), plan->vector[i].lattice);

			apart += pure ? fabs(d) : d * d;
		}
		loss += apart / (double) plan->vector[i].sensitivity;
	}
	return loss;
}

/* The most that neighbours lose of the charge is at most the charge, and not much less. */
static void
check_loss(const pe_plan *plan, const pe_tables *tables, double least)
{
	static pe_i128 column[BLOCK_CELLS][BLOCK_ROWS];
	bool		substitute = plan->rules.neighbours == PE_SUBSTITUTE;
	double		most = 0;

	for (int cell = 0; cell < BLOCK_CELLS; cell++)
		column_of_cell(plan->part->strategy->blocks, tables, cell, column[cell]);
	for (int i = 0; i < BLOCK_CELLS; i++)
		for (int j = 0; j < BLOCK_CELLS; j++)
			most = fmax(most, loss_of(plan, column[i], i == j || !substitute ? NULL : column[j]));
	assert_true(most <= 1 + 1e-12);
	assert_true(most > least);
}

/* One draw for each block, all for the one cost, with its own sensitivity and on its own lattice. */
static void
check_drawn(const pe_plan *plan, const pe_tables *tables, int64_t cost)
{
	const pe_blocks *blocks = plan->part->strategy->blocks;
	int64_t		table[BLOCK_ROWS];
	pe_i128		exact[BLOCK_ROWS];
	pe_i128		known[BLOCK_ROWS];
	int64_t		released[BLOCK_ROWS];
	int		   *lattice = pe_plan_lattices(plan->part->strategy, &plan->rules, plan->accounting, cost);
	pe_amount	amount = pe_cost_amount(pe_plan_cost(plan));
	bool		pure = plan->accounting == PE_PURE;

	/* rows of the largest tables there are: noisy sums fit */
	for (int i = 0; i < BLOCK_ROWS; i++)
		table[i] = (INT64_C(1) << 33) + 1000 * i;
	pe_blocks_apply(blocks, tables, table, known);
	memset(&drawn, 0, sizeof(drawn));
	held = 0;
	pe_plan_measure(plan, table, exact, released, hold);
	assert_true(held == 1 && drawn.gaussian + drawn.laplace == blocks->blocks && (drawn.laplace > 0) == pure);
	assert_true(drawn.nano == cost && drawn.sum == cost * blocks->blocks);
	assert_true((pure ? amount.epsilon_nano : amount.rho_nano) == cost && (pure ? amount.rho_nano : amount.epsilon_nano) == 0);
	assert_int_equal(pe_cost_as_rho(pe_plan_cost(plan)), pure ? pe_nano_rho_of_pure(plan->rules.cap, cost) : 0);
	for (int32_t b = 0; b < blocks->blocks; b++)
	{
		const pe_noise noise = {plan->accounting, plan->vector[b].sensitivity, cost, plan->vector[b].lattice, false};
		double		sigma = pe_noise_stderr(&noise);

		assert_true(drawn.each[b] == plan->vector[b].sensitivity << 2 * (pe_noise_shift(&noise) - noise.lattice));
		/* what is lost of it is far below the noise */
		assert_true(ldexp(sigma, lattice[b]) >= 0x1p20 && lattice[b] <= pe_noise_shift(&noise));
		/* the unit of variances, of which the estimates' are multiples */
		assert_true(fabs(sigma / (pe_noise_stderr(pe_plan_noise(plan)) * sqrt(pe_blocks_relative_variance(blocks, b))) - 1) < 1e-6);
		for (int64_t r = blocks->first[b]; r < blocks->first[b + 1]; r++)
			assert_true(exact[r] == 0 && fabs(ldexp((double) released[r], -lattice[b]) - (double) known[r]) < 40 * sigma);
	}
	pe_free(lattice);
}

static void
check_blocks(const blocks_case *of, pe_accounting accounting, pe_neighbours neighbours, int32_t k)
{
	bool		pure = accounting == PE_PURE;
	pe_plan_ask ask = pure ? ask_epsilon(true, 0.5, 0) : ask_rho(0.125);
	pe_workload workload;
	pe_strategy strategy;
	pe_plan_counts counts = {.strategy = &strategy, .rules = {neighbours, k, .cap = k == 1 ? PE_ZCDP : PE_GDP}, .scale = 1};
	pe_plan    *plan;
	pe_tables	tables;

	make_blocks(of, pure ? PE_L1 : PE_L2, &strategy, &workload);
	ask.accounting = accounting;
	assert_int_equal(pe_plan_of_counts(&ask, &counts, &plan), PE_PLAN_MADE);
	assert_true(pe_blocks_tables(strategy.blocks, &tables));
	check_loss(plan, &tables, pure && neighbours == PE_SUBSTITUTE ? of->pure_loss : 0.9999);
	check_drawn(plan, &tables, (pure ? 500 : 125) * MILLION);
	pe_tables_free(&tables);
	free_plan(plan);
	/* shares of one norm are no shares of the other */
	ask = pure ? ask_rho(0.125) : ask_epsilon(true, 0.5, 0);
	assert_int_equal(pe_plan_of_counts(&ask, &counts, &plan), PE_PLAN_SENSITIVE);
	free_plan(plan);
	pe_strategy_free(&strategy);
	pe_workload_free(&workload);
}

static void
test_blocks(void **state)
{
	(void) state;
	for (size_t i = 0; i < sizeof(blocks_cases) / sizeof(blocks_cases[0]); i++)
		for (pe_accounting accounting = PE_ZCDP; accounting <= PE_PURE; accounting++)
			for (pe_neighbours neighbours = PE_ADD_REMOVE; neighbours <= PE_SUBSTITUTE; neighbours++)
				for (int32_t k = 1; k <= 3; k += 2)
					check_blocks(&blocks_cases[i], accounting, neighbours, k);
}

/* The noise of a release that is read again. */
static void
test_noise_to_read(void **state)
{
	pe_plan_rules rules = {.neighbours = PE_SUBSTITUTE, .max_rows = 2};
	pe_noise   *noise = pe_plan_noise_of(&two, &rules, PE_ZCDP, 7 * MILLION);

	(void) state;
	assert_true(pe_noise_stderr(noise) == pe_noise_stderr_of(PE_ZCDP, 17 * 4, 7 * MILLION));
	pe_free(noise);
	noise = pe_plan_noise_of(&two, &rules, PE_PURE, 7 * MILLION);
	assert_true(pe_noise_stderr(noise) == pe_noise_stderr_of(PE_PURE, 5 * 2, 7 * MILLION));
	pe_free(noise);
}

/* ----------
 * dawa
 * ----------
 */
static void
test_dawa(void **state)
{
	double		gram[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
	int32_t		column_of[4] = {0, 1, 2, 3};
	pe_strategy four = {.classes = 4, .column_of = column_of, .columns = 4, .rows = 4, .inner = 4};
	int64_t		columns[4] = {5, 5, 5, 90000};	/* one bucket of all, whose substitutes cancel, is never the best */
	int64_t		released[4];
	pe_intervals intervals;

	(void) state;
	pe_intervals_init(&intervals, 4);
	for (int i = 0; i < 4; i++)
	{
		pe_plan_rules rules = {.neighbours = i % 2 == 1 ? PE_SUBSTITUTE : PE_ADD_REMOVE, .max_rows = i / 2 == 1 ? 3 : 1};
		pe_plan_counts counts = {.strategy = &four, .rules = rules, .gram = gram};
		pe_plan_ask ask = ask_epsilon(true, 2, 0);
		pe_u128		first = pe_interval_sensitivity(&intervals, rules.neighbours, rules.max_rows);
		pe_plan    *plan;

		assert_int_equal(pe_plan_of_counts(&ask, &counts, &plan), PE_PLAN_MADE);
		memset(&drawn, 0, sizeof(drawn));
		held = 0;
		pe_plan_measure(plan, columns, NULL, released, hold);
		assert_int_equal(held, 1);
		assert_int_equal(drawn.laplace, 2);
		assert_int_equal(drawn.sum, 2000 * MILLION);
		assert_int_equal(drawn.nano, 1500 * MILLION);
		/* buckets are counted by themselves */
		assert_true(drawn.sensitivity == (pe_u128) rules.max_rows * (rules.neighbours == PE_SUBSTITUTE ? 2 : 1));
		assert_int_equal(pe_cost_amount(pe_plan_cost(plan)).epsilon_nano, 2000 * MILLION);
		assert_int_equal(pe_cost_as_rho(pe_plan_cost(plan)),
						 pe_nano_rho_of_pure(PE_ZCDP, 1500 * MILLION) + pe_nano_rho_of_laplace(PE_ZCDP, 500 * MILLION, first));
		assert_null(pe_plan_noise(plan));
		assert_true(pe_plan_sensitivity(plan) == 0);
		free_plan(plan);
		ask = ask_epsilon(false, 2, 1e-6);
		assert_int_equal(pe_plan_of_counts(&ask, &counts, &plan), PE_PLAN_COST);
		free_plan(plan);
		ask = ask_epsilon(true, 3e-9, 0);
		assert_int_equal(pe_plan_of_counts(&ask, &counts, &plan), PE_PLAN_COST);
		free_plan(plan);
	}
}

/* ----------
 * Models
 * ----------
 */
static pe_plan_status
plan_model(const table *t, const pe_plan_ask *ask, pe_fit_method method, pe_fit_problem *problem, pe_plan **plan)
{
	const char *what;

	problem_of(t, PE_MODEL_LOGISTIC, method, 0, problem);
	if (method == PE_FIT_SGD)
		problem->options.iterations = 20;
	return pe_plan_of_model(ask, problem, plan, &what);
}

/* Every method whose draws add up to its cost: what is drawn, and that no more could be. */
static void
check_exact_model(const table *t, const pe_plan_ask *ask, pe_fit_method method, int64_t cost)
{
	double		w[MODEL_MOST_COLUMNS];
	pe_fit_problem problem;
	pe_source	source = t->source;
	pe_plan    *plan;
	pe_amount	amount;

	assert_int_equal(plan_model(t, ask, method, &problem, &plan), PE_PLAN_MADE);
	amount = pe_cost_amount(pe_plan_cost(plan));
	assert_int_equal(ask->accounting == PE_PURE ? amount.epsilon_nano : amount.rho_nano, cost);
	assert_int_equal(ask->accounting == PE_PURE ? amount.rho_nano : amount.epsilon_nano, 0);
	assert_int_equal(amount.delta_atto, 0);
	assert_int_equal(pe_cost_as_rho(pe_plan_cost(plan)), 0);
	assert_int_equal(pe_plan_allowance(plan).left, cost);
	assert_int_equal(pe_plan_allowance(plan).accounting, ask->accounting);
	memset(&drawn, 0, sizeof(drawn));
	pe_plan_fit(plan, &source, w, NULL, NULL);
	/* equal steps, but for what rounding leaves */
	if (method == PE_FIT_GD)
		assert_true(drawn.sum <= cost && drawn.sum > cost - 200);
	assert_true(ask->accounting == PE_PURE ? drawn.gaussian == 0 && drawn.laplace > 0 : drawn.laplace == 0 && drawn.gaussian > 0);
	free_plan(plan);
}

static void
test_exact_models(void **state)
{
	static const pe_fit_method methods[] = {PE_FIT_NEWTON, PE_FIT_ONE_PASS, PE_FIT_GD, PE_FIT_NAG, PE_FIT_OUTPERT};
	pe_plan_ask rho = ask_epsilon(false, 2, 1e-6);
	pe_plan_ask pure = ask_epsilon(true, 2, 0);
	table		t;

	(void) state;
	table_start(&t, 2, 0, 0);
	table_fill(&t, PE_MODEL_LOGISTIC, 50, 1);
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
	{
		check_exact_model(&t, &rho, methods[i], pe_nano_rho_of_epsilon(PE_ZCDP, 2, 1e-6));
		check_exact_model(&t, &pure, methods[i], 2000 * MILLION);
	}
	table_free(&t);
}

/* (epsilon, delta): charged (epsilon tanh(epsilon / 2), delta), drawn what the theorem allows for it. */
static void
test_approximate_models(void **state)
{
	pe_plan_ask asks[] = {ask_epsilon(false, 1.5, 1e-6), ask_rho(0.5)};
	double		w[MODEL_MOST_COLUMNS];
	table		t;

	(void) state;
	table_start(&t, 2, 0, 0);
	table_fill(&t, PE_MODEL_LOGISTIC, 50, 1);
	for (int i = 0; i < 4; i++)
	{
		pe_fit_method method = i % 2 == 0 ? PE_FIT_SGD : PE_FIT_OBJPERT;
		const pe_plan_ask *ask = &asks[i / 2];
		int64_t		epsilon = i / 2 == 0 ? 1500 * MILLION : pe_nano_pure_of_rho(PE_ZCDP, 500 * MILLION);
		pe_fit_problem problem;
		pe_plan    *plan;
		pe_amount	amount;

		assert_int_equal(plan_model(&t, ask, method, &problem, &plan), PE_PLAN_MADE);
		amount = pe_cost_amount(pe_plan_cost(plan));
		assert_int_equal(amount.rho_nano, pe_nano_rho_of_pure(PE_ZCDP, epsilon));
		assert_int_equal(amount.delta_atto, pe_atto_down(1e-6));
		assert_int_equal(amount.epsilon_nano, 0);
		assert_true(fabs(pe_plan_epsilon(plan) - (double) epsilon * 1e-9) < 1e-12);
		assert_int_equal(problem.nano, epsilon);
		assert_true(problem.delta == 1e-6);
		assert_int_equal(pe_plan_allowance(plan).left, method == PE_FIT_OBJPERT ? epsilon :
						 20 * problem.plan.nano_step + problem.plan.nano_count);
		memset(&drawn, 0, sizeof(drawn));
		pe_plan_fit(plan, &t.source, w, NULL, NULL);
		assert_int_equal(drawn.sum, method == PE_FIT_OBJPERT ? 0 : pe_fit_drawn(&problem));
		free_plan(plan);
	}
	table_free(&t);
}

static void
run_plan(void *argument)
{
	double		w[MODEL_MOST_COLUMNS];

	pe_plan_fit(argument, NULL, w, NULL, NULL);
}

/* What becomes of a plan that is not made. */
static pe_plan_status
refusal_of_model(const table *t, const pe_plan_ask *ask, pe_fit_method method)
{
	pe_fit_problem problem;
	pe_plan    *plan;
	pe_plan_status status = plan_model(t, ask, method, &problem, &plan);

	free_plan(plan);
	return status;
}

static void
test_refused_models(void **state)
{
	pe_plan_ask ask = ask_epsilon(true, 1, 0);
	pe_plan_ask little = ask_epsilon(true, 1e-9, 0);
	pe_plan_ask much = ask_rho(2e5);
	pe_fit_problem problem;
	pe_plan    *plan;
	table		t;

	(void) state;
	table_start(&t, 2, 0, 0);
	assert_int_equal(refusal_of_model(&t, &ask, PE_FIT_SGD), PE_PLAN_REFUSED);
	assert_int_equal(refusal_of_model(&t, &little, PE_FIT_NEWTON), PE_PLAN_REFUSED);
	assert_int_equal(refusal_of_model(&t, &little, PE_FIT_GD), PE_PLAN_REFUSED);
	little.epsilon = 2e-9;
	assert_int_equal(refusal_of_model(&t, &little, PE_FIT_GD), PE_PLAN_SHARES);
	assert_int_equal(refusal_of_model(&t, &much, PE_FIT_NEWTON), PE_PLAN_COST);
	/* without privacy: no cost, and no run */
	assert_int_equal(plan_model(&t, &ask, PE_FIT_NONPRIVATE, &problem, &plan), PE_PLAN_MADE);
	assert_int_equal(pe_cost_amount(pe_plan_cost(plan)).epsilon_nano, 0);
	assert_true(pe_test_stops_with_bug(run_plan, plan));
	free_plan(plan);
	table_free(&t);
}

/* ----------
 * Minima
 * ----------
 */
static void
check_minimum(pe_minimum_method method, bool pure)
{
	static const double lower = 0;
	static const double upper = 1;
	static const double centre = 0.5;
	static const double slope[2] = {1, -1};
	pe_minimum_problem problem = {
		.method = method, .set = {.variables = 1, .lower = &lower, .upper = &upper}, .lower = &lower, .upper = &upper,
		.centre = &centre, .max_change = 0.01
	};
	pe_plan_ask ask = pure ? ask_epsilon(true, 1, 0) : ask_rho(0.1);
	int64_t		cost = pure ? 1000 * MILLION : 100 * MILLION;
	const char *what;
	pe_amount	amount;
	pe_plan    *plan;
	pe_affine	f;
	double		x;

	pe_options_init(&pe_minimum_option_table, &problem.options);
	assert_int_equal(pe_plan_of_minimum(&ask, &problem, &plan, &what), PE_PLAN_MADE);
	amount = pe_cost_amount(pe_plan_cost(plan));
	assert_int_equal(pure ? amount.epsilon_nano : amount.rho_nano, cost);
	assert_int_equal(pure ? amount.rho_nano : amount.epsilon_nano, 0);
	assert_int_equal(amount.delta_atto, 0);
	assert_int_equal(pe_cost_as_rho(pe_plan_cost(plan)),
					 pure && method == PE_MINIMUM_EXPONENTIAL ? pe_nano_rho_of_range(PE_ZCDP, cost) : 0);
	assert_int_equal(pe_plan_allowance(plan).left, cost);
	assert_int_equal(problem.nano, cost);
	assert_int_equal((problem.accounting == PE_PURE), pure);
	assert_true(pe_plan_follows(plan, &(pe_plan_rules) {.max_change = 0.01}));
	assert_false(pe_plan_follows(plan, &(pe_plan_rules) {.max_change = 0.02}));
	assert_false(pe_plan_follows(plan, &(pe_plan_rules) {.max_change = 0.01, .change_all = true}));
	assert_false(pe_plan_follows(plan, &(pe_plan_rules) {.max_rows = 1}));
	pe_affine_init(&f, 1, pe_affine_unit(0.01));
	for (int i = 0; i < 2; i++)
		pe_affine_add(&f, slope + i, pe_affine_offset(0.1, f.unit));
	memset(&drawn, 0, sizeof(drawn));
	pe_plan_minimise(plan, &f, &x);
	assert_int_equal(drawn.gaussian, !pure && method == PE_MINIMUM_LAPLACE_DATA ? 1 : 0);
	assert_int_equal(drawn.sum, method == PE_MINIMUM_LAPLACE_DATA ? cost : 0);
	pe_affine_free(&f);
	free_plan(plan);
}

static void
test_minima(void **state)
{
	(void) state;
	for (int pure = 0; pure < 2; pure++)
	{
		check_minimum(PE_MINIMUM_EXPONENTIAL, pure != 0);
		check_minimum(PE_MINIMUM_LAPLACE_DATA, pure != 0);
		check_minimum(PE_MINIMUM_SUBGRADIENT, pure != 0);
	}
}

static void
test_refused_minima(void **state)
{
	pe_plan_ask ask = ask_rho(1e-9 * 24);
	pe_minimum_problem problem = {.method = PE_MINIMUM_SUBGRADIENT, .set = {.variables = 1}};
	const char *what;
	pe_plan    *plan;

	(void) state;
	pe_options_init(&pe_minimum_option_table, &problem.options);
	assert_int_equal(pe_plan_of_minimum(&ask, &problem, &plan, &what), PE_PLAN_COST);
	free_plan(plan);
	problem.options.prior = 1;
	assert_int_equal(pe_plan_of_minimum(&ask, &problem, &plan, &what), PE_PLAN_OPTION);
	assert_string_equal(what, "prior");
	free_plan(plan);
}

/* ----------
 * Allowances
 * ----------
 */
typedef struct taking
{
	pe_allowance *allowance;
	int64_t		nano;
} taking;

static void
take(void *argument)
{
	taking	   *t = argument;

	pe_allowance_take(t->allowance, t->nano);
}

static void
draw(void *argument)
{
	pe_i128		exact = 5;
	int64_t		released = 17;

	pe_noise_draw(argument, 1, 11, &exact, 1, &released);
}

static void
test_allowances(void **state)
{
	pe_allowance allowance = {.accounting = PE_PURE, .left = 10};

	(void) state;
	pe_allowance_take(&allowance, 4);
	assert_true(pe_test_stops_with_bug(take, &(taking) {&allowance, 7}));
	assert_true(pe_test_stops_with_bug(take, &(taking) {&allowance, 0}));
	assert_true(pe_test_stops_with_bug(take, &(taking) {&allowance, -1}));
	assert_true(pe_test_stops_with_bug(take, &(taking) {NULL, 1}));
	assert_int_equal(allowance.left, 6);
	pe_allowance_take(&allowance, 6);
	assert_true(pe_test_stops_with_bug(take, &(taking) {&allowance, 1}));
	/* nothing is drawn for more than is left */
	memset(&drawn, 0, sizeof(drawn));
	allowance.left = 10;
	assert_true(pe_test_stops_with_bug(draw, &allowance));
	assert_true(pe_test_stops_with_bug(draw, NULL));
	assert_int_equal(drawn.laplace, 0);
	assert_int_equal(allowance.left, 10);
}

static void
draw_vectors(void *argument)
{
	const pe_noise_vector vectors[] = {{1, 0, 1}, {3, 1, 1}};
	pe_i128		exact[2] = {5, 6};
	int64_t		released[2];

	pe_noise_draw_vectors(argument, vectors, 2, 11, exact, released);
}

static void
draw_symmetric(void *argument)
{
	pe_i128		exact[2] = {5, 6};
	int64_t		released[2];

	pe_noise_draw_symmetric(argument, 1, 11, exact, 1, released, exact + 1, 1, released + 1);
}

static void
draw_cube(void *argument)
{
	pe_i128		exact = 5;
	int64_t		released;

	pe_noise_draw_cube(argument, 1, 11, &exact, 1, &released);
}

static void
draw_least(void *argument)
{
	const pe_i128 score[2] = {1, 2};

	(void) pe_draw_least(argument, score, 2, 1, false, 11);
}

static void
draw_exponential(void *argument)
{
	const pe_i128 score[2] = {1, 2};

	(void) pe_draw_exponential(argument, score, 2, 1, false, 11);
}

/* A fit, or a minimum, with an allowance of the test's. */
typedef struct running
{
	pe_fit_problem fit;
	pe_minimum_problem minimum;
	table	   *rows;
} running;

static void
run_objpert(void *argument)
{
	running    *r = argument;
	double		w[MODEL_MOST_COLUMNS];

	pe_fit_objpert(&r->fit, &r->rows->source, w);
}

static void
run_exponential(void *argument)
{
	running    *r = argument;
	pe_affine	f;
	double		x;

	pe_affine_init(&f, 1, pe_affine_unit(r->minimum.max_change));
	pe_minimum_exponential(&r->minimum, &f, &x);
}

/* Every way to draw takes its cost first: with one unit less than that nothing comes. */
static void
test_every_draw_pays(void **state)
{
	static void (*const draws[]) (void *argument) = {draw, draw_vectors, draw_symmetric, draw_cube, draw_least, draw_exponential};
	static const double lower = 0;
	static const double upper = 1;
	static const double centre = 0.5;
	pe_allowance allowance = {.accounting = PE_PURE};
	running		r = {
		.minimum = {
			.method = PE_MINIMUM_EXPONENTIAL, .set = {.variables = 1, .lower = &lower, .upper = &upper}, .lower = &lower,
			.upper = &upper, .centre = &centre, .max_change = 0.01, .accounting = PE_PURE, .nano = 1000 * MILLION, .allowance = &allowance
		}
	};
	pe_plan_ask ask = ask_epsilon(false, 1.5, 1e-6);
	pe_plan    *plan;
	table		t;

	(void) state;
	for (size_t i = 0; i < sizeof(draws) / sizeof(draws[0]); i++)
	{
		allowance.left = 10;
		assert_true(pe_test_stops_with_bug(draws[i], &allowance));
		allowance.left = 11;
		assert_false(pe_test_stops_with_bug(draws[i], &allowance));
		assert_int_equal(allowance.left, 0);
	}
	pe_options_init(&pe_minimum_option_table, &r.minimum.options);
	assert_null(pe_minimum_defaults(&r.minimum));
	allowance.left = r.minimum.nano - 1;
	assert_true(pe_test_stops_with_bug(run_exponential, &r));
	allowance.left = r.minimum.nano;
	assert_false(pe_test_stops_with_bug(run_exponential, &r));
	assert_int_equal(allowance.left, 0);
	table_start(&t, 2, 0, 0);
	table_fill(&t, PE_MODEL_LOGISTIC, 50, 1);
	r.rows = &t;
	assert_int_equal(plan_model(&t, &ask, PE_FIT_OBJPERT, &r.fit, &plan), PE_PLAN_MADE);
	r.fit.allowance = &allowance;
	allowance = (pe_allowance) {.left = r.fit.nano - 1};
	assert_true(pe_test_stops_with_bug(run_objpert, &r));
	allowance.left = r.fit.nano;
	assert_false(pe_test_stops_with_bug(run_objpert, &r));
	assert_int_equal(allowance.left, 0);
	free_plan(plan);
	table_free(&t);
}

/* The maximum norm has no cost in rho. */
static void
test_cube_of_rho(void **state)
{
	pe_allowance allowance = {.left = 1000};

	(void) state;
	assert_true(pe_test_stops_with_bug(draw_cube, &allowance));
}

static void
measure_minimum(void *argument)
{
	pe_plan_measure(argument, NULL, NULL, NULL, hold);
}

/* Counts are the only plans that are measured. */
static void
test_kinds(void **state)
{
	pe_plan_ask ask = ask_rho(1);
	pe_minimum_problem problem = {.method = PE_MINIMUM_LAPLACE_DATA, .set = {.variables = 1}};
	const char *what;
	pe_plan    *plan;

	(void) state;
	pe_options_init(&pe_minimum_option_table, &problem.options);
	assert_int_equal(pe_plan_of_minimum(&ask, &problem, &plan, &what), PE_PLAN_MADE);
	assert_true(pe_test_stops_with_bug(measure_minimum, plan));
	assert_null(pe_plan_noise(plan));
	free_plan(plan);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_gaussian_dp),
		cmocka_unit_test(test_whole_draw),
		cmocka_unit_test(test_caps),
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_asks),
		cmocka_unit_test(test_refused_counts),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_noise_to_read),
		cmocka_unit_test(test_dawa),
		cmocka_unit_test(test_exact_models),
		cmocka_unit_test(test_approximate_models),
		cmocka_unit_test(test_refused_models),
		cmocka_unit_test(test_minima),
		cmocka_unit_test(test_refused_minima),
		cmocka_unit_test(test_allowances),
		cmocka_unit_test(test_every_draw_pays),
		cmocka_unit_test(test_cube_of_rho),
		cmocka_unit_test(test_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
