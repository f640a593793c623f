/*
 * test_plan_series.c
 *	  Plans of series: the sensitivity of all periods against all neighbours of small series, what each period is drawn with and what is
 *	  charged, exact answers, and errors seen against errors told.
 *
 * Random cases come from a fixed seed, so failures repeat; with PG_EPSILON_QUICK set there are far fewer.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accounting/conversion.h"
#include "plan/private.h"
#include "plans.h"
#include "strategy/share.h"
#include "blocks/reconstruct.h"
#include "block_tables.h"
#include "numbers.h"
#include "shim.h"
#include "union.h"

#define MOST_PERIODS 3
#define MOST_CELLS 2
#define MOST_VECTORS 6			/* of at most two rows in two cells */
#define MOST_SUMS 216

/* ------------------------------------------------------------------
 * What is drawn
 * ------------------------------------------------------------------
 */

typedef struct draw
{
	int			draws;
	size_t		count;			/* of the last */
	pe_u128		sensitivity;
	int64_t		nano;
	pe_i128		exact[64];
} draw;

static draw last;

static void
record(const pe_i128 *exact, size_t count, pe_u128 sensitivity, int64_t nano)
{
	last.draws++;
	last.count = count;
	last.sensitivity = sensitivity;
	last.nano = nano;
	memcpy(last.exact, exact, (count < 64 ? count : 64) * sizeof(*exact));
}

extern void __real_pe_gaussian_release(pe_accounting accounting, pe_i128 *exact, size_t count, pe_u128 sensitivity, int64_t nano, int64_t *released);
extern void __real_pe_gaussian_release_rounded(pe_accounting accounting, pe_i128 *exact, size_t count, pe_u128 sensitivity, int64_t nano, int down,
											   int64_t *released);

void
__wrap_pe_gaussian_release(pe_accounting accounting, pe_i128 *exact, size_t count, pe_u128 sensitivity, int64_t nano, int64_t *released)
{
	record(exact, count, sensitivity, nano);
	__real_pe_gaussian_release(accounting, exact, count, sensitivity, nano, released);
}

void
__wrap_pe_gaussian_release_rounded(pe_accounting accounting, pe_i128 *exact, size_t count, pe_u128 sensitivity, int64_t nano, int down,
								   int64_t *released)
{
	record(exact, count, sensitivity, nano);
	__real_pe_gaussian_release_rounded(accounting, exact, count, sensitivity, nano, down, released);
}

static int	held;

static void
hold(void)
{
	held++;
}

/* ------------------------------------------------------------------
 * Series and cells
 * ------------------------------------------------------------------
 */

typedef struct trial
{
	pe_over		over;
	pe_continual time;
	pe_strategy cells;
	pe_plan    *plan;
} trial;

static void
count_cells(pe_strategy *s, int columns)
{
	*s = (pe_strategy) {.classes = columns, .columns = columns, .rows = columns, .inner = columns, .objective = 1};
}

static void
dense_cells(pe_strategy *s, int columns, int rows)
{
	count_cells(s, columns);
	s->rows = rows;
	s->dense = pe_alloc((size_t) (rows * columns), sizeof(int32_t));
	for (int i = 0; i < rows * columns; i++)
		s->dense[i] = between(-2, 3);
	s->dense[0] = 1;			/* not all are 0 */
}

static void
make_time(trial *t, const char *over, pe_continual_problem problem)
{
	pe_text_error error;

	assert_true(pe_over_parse(over, &t->over, &error));
	problem.over = &t->over;
	problem.gap = PE_CONTINUAL_GAP;
	assert_int_equal(pe_continual_make(&problem, &t->time), PE_STRATEGY_OK);
}

/* L of small integers. */
static void
small_time(trial *t, int periods)
{
	pe_strategy strategy;
	pe_continual_problem problem = {.over = &t->over, .periods = periods};
	pe_text_error error;
	int32_t    *entry = pe_alloc((size_t) (periods * (periods + 1) / 2), sizeof(*entry));

	assert_true(pe_over_parse("totals", &t->over, &error));
	count_cells(&strategy, periods);
	strategy.column_of = pe_alloc((size_t) periods, sizeof(int32_t));
	for (int c = 0; c < periods; c++)
		strategy.column_of[c] = c;
	strategy.triangle = entry;
	for (int j = 0; j < periods; j++)
		for (int i = 0; i <= j; i++)
			*entry++ = i == j ? between(1, 4) : between(-3, 4);
	assert_true(pe_continual_restore(&problem, &strategy, &t->time));
}

static pe_plan_ask
ask_rho(double rho)
{
	return (pe_plan_ask) {PE_ZCDP, PE_ZCDP, NAN, rho, NAN, 1e-6};
}

static void
plan_it(trial *t, pe_presence presence, pe_neighbours neighbours, int max_rows, double rho)
{
	pe_plan_ask ask = ask_rho(rho);
	pe_plan_series series = {
		.cells = &t->cells, .time = &t->time, .presence = presence, .rules = {.neighbours = neighbours, .max_rows = max_rows}, .scale = 1
	};

	assert_int_equal(pe_plan_of_series(&ask, &series, &t->plan), PE_PLAN_MADE);
}

static void
free_trial(trial *t)
{
	pe_continual_free(&t->time);
	pe_over_free(&t->over);
	pe_strategy_free(&t->cells);
}

static int64_t
charged(const pe_plan *plan)
{
	return pe_cost_amount(pe_plan_cost(plan)).rho_nano;
}

/* ------------------------------------------------------------------
 * Sensitivity, against all neighbours
 * ------------------------------------------------------------------
 */

/* What a unit of at most k rows in one period can be in its cells. */
typedef struct contributions
{
	int			vectors;
	int			vector[MOST_VECTORS][MOST_CELLS];
} contributions;

static void
enumerate(contributions *c, int cells, int k)
{
	c->vectors = 0;
	for (int u = 0; u <= k; u++)
		for (int v = 0; v <= (cells > 1 ? k - u : 0); v++)
		{
			c->vector[c->vectors][0] = u;
			c->vector[c->vectors][1] = v;
			c->vectors++;
		}
	assert_true(c->vectors <= MOST_VECTORS);
}

/* All sum_s L_ts A d_s for periods of a set, which reading t may see. */
static int
sums_of_reading(const trial *t, const contributions *c, int reading, unsigned set, int64_t (*sum)[4])
{
	int			sums = 1;
	int			rows = t->cells.rows;
	double		a[4 * MOST_CELLS];

	pe_strategy_matrix(&t->cells, a);
	memset(sum[0], 0, sizeof(sum[0]));
	for (int s = 0; s <= reading; s++)
	{
		int			before = sums;

		if (!(set >> s & 1))
			continue;
		/* the first vector is 0: those before stay */
		for (int v = 1; v < c->vectors; v++)
			for (int b = 0; b < before; b++, sums++)
				for (int i = 0; i < rows; i++)
				{
					double		entry = 0;

					for (int j = 0; j < t->cells.columns; j++)
						entry += a[i * t->cells.columns + j] * c->vector[v][j];
					sum[sums][i] = sum[b][i] + pe_continual_entry(&t->time, reading, s) * (int64_t) entry;
				}
	}
	assert_true(sums <= MOST_SUMS);
	return sums;
}

static int64_t
largest_distance(const trial *t, int64_t (*left)[4], int lefts, int64_t (*right)[4], int rights)
{
	int64_t		largest = 0;

	for (int l = 0; l < lefts; l++)
		for (int r = 0; r < rights; r++)
		{
			int64_t		square = 0;

			for (int i = 0; i < t->cells.rows; i++)
				square += (left[l][i] - right[r][i]) * (left[l][i] - right[r][i]);
			largest = square > largest ? square : largest;
		}
	return largest;
}

/* The most that reading t can differ in between a unit in one set and nothing, or one in another set. */
static int64_t
difference(const trial *t, const contributions *c, int reading, unsigned from, unsigned to)
{
	int64_t		left[MOST_SUMS][4];
	int64_t		right[MOST_SUMS][4];
	int			lefts = sums_of_reading(t, c, reading, from, left);
	int			rights = sums_of_reading(t, c, reading, to, right);

	return largest_distance(t, left, lefts, right, rights);
}

/* The same sets for all readings, or others for each. */
static int64_t
largest_loss(const trial *t, const contributions *c, int p, bool moves, pe_neighbours neighbours)
{
	unsigned	sets = 1U << t->time.periods;
	int64_t		largest = 0;
	int64_t		each[MOST_PERIODS] = {0};

	for (unsigned from = 0; from < sets; from++)
		for (unsigned to = 0; to < (neighbours == PE_SUBSTITUTE ? sets : 1); to++)
		{
			int64_t		sum = 0;

			if (__builtin_popcount(from) > p || __builtin_popcount(to) > p)
				continue;
			for (int u = 0; u < t->time.periods; u++)
			{
				int64_t		own = difference(t, c, u, from, to);

				each[u] = own > each[u] ? own : each[u];
				sum += own;
			}
			largest = sum > largest ? sum : largest;
		}
	return moves ? each[0] + each[1] + each[2] : largest;
}

#define MOST_FROZEN 256
#define MOST_NUMBERS (MOST_PERIODS * 4)

/* All readings of a unit whose rows stay what they are, in at most p periods; a number of those in base c->vectors. */
static bool
frozen_readings(const trial *t, const contributions *c, int number, int p, int64_t *reading)
{
	int			rows = t->cells.rows;
	double		a[4 * MOST_CELLS];
	int			count = 0;

	pe_strategy_matrix(&t->cells, a);
	memset(reading, 0, MOST_NUMBERS * sizeof(*reading));
	for (int s = 0; s < t->time.periods; s++, number /= c->vectors)
	{
		const int  *vector = c->vector[number % c->vectors];

		count += number % c->vectors > 0;
		for (int u = s; u < t->time.periods; u++)
			for (int i = 0; i < rows; i++)
				for (int j = 0; j < t->cells.columns; j++)
					reading[u * 4 + i] += pe_continual_entry(&t->time, u, s) * (int64_t) a[i * t->cells.columns + j] * vector[j];
	}
	return count <= p;
}

/* Of all pairs of such units. */
static int64_t
largest_frozen(const trial *t, const contributions *c, int p)
{
	static int64_t reading[MOST_FROZEN][MOST_NUMBERS];
	int			all = 1;
	int			units = 0;
	int64_t		largest = 0;

	for (int s = 0; s < t->time.periods; s++)
		all *= c->vectors;
	assert_true(all <= MOST_FROZEN);
	for (int number = 0; number < all; number++)
		units += frozen_readings(t, c, number, p, reading[units]);
	for (int i = 0; i < units; i++)
		for (int j = 0; j < i; j++)
		{
			int64_t		square = 0;

			for (int n = 0; n < MOST_NUMBERS; n++)
				square += (reading[i][n] - reading[j][n]) * (reading[i][n] - reading[j][n]);
			largest = square > largest ? square : largest;
		}
	return largest;
}

/* Of substitute, rows that are promised to stay do; others may be missed by readings, or change their cell. */
static void
check_sensitivity(trial *t, int p, int k, bool moves, pe_neighbours neighbours)
{
	contributions c;
	pe_presence presence = {.row_is_unit = p == 0, .max_periods = p, .append_only = !moves};
	int			most = p == 0 ? 1 : p;
	int64_t		loss;

	enumerate(&c, t->cells.columns, k);
	plan_it(t, presence, neighbours, k, 0.1);
	loss = neighbours == PE_SUBSTITUTE && !moves ? largest_frozen(t, &c, most)
		: largest_loss(t, &c, most, moves && p > 0, neighbours);
	assert_true(pe_plan_sensitivity(t->plan) >= (pe_u128) loss);
	/* one row, one period: the product of the two largest columns, and no more */
	if (p == 0 && neighbours == PE_ADD_REMOVE)
		assert_true(pe_plan_sensitivity(t->plan) == (pe_u128) loss);
	/* nor, of counts, where it is replaced */
	if ((p == 0 || (p == 1 && !moves)) && pe_strategy_counts_columns(&t->cells))
		assert_true(pe_plan_sensitivity(t->plan) == (pe_u128) loss);
	free_plan(t->plan);
}

static void
test_all_neighbours(void **state)
{
	(void) state;
	for (int i = 0; i < fewer(60, 10); i++)
	{
		trial		t;

		small_time(&t, between(1, MOST_PERIODS));
		if (i % 3 == 0)
			count_cells(&t.cells, between(1, MOST_CELLS));
		else
			dense_cells(&t.cells, between(1, MOST_CELLS), between(1, 4));
		for (int n = 0; n < 2; n++)
		{
			check_sensitivity(&t, 0, 1, false, n ? PE_SUBSTITUTE : PE_ADD_REMOVE);
			check_sensitivity(&t, 0, 1, true, n ? PE_SUBSTITUTE : PE_ADD_REMOVE);
			for (int p = 1; p <= t.time.periods; p++)
				for (int k = 1; k <= 2 - n; k++)
				{
					check_sensitivity(&t, p, k, false, n ? PE_SUBSTITUTE : PE_ADD_REMOVE);
					check_sensitivity(&t, p, k, true, n ? PE_SUBSTITUTE : PE_ADD_REMOVE);
				}
		}
		free_trial(&t);
	}
}

/* ------------------------------------------------------------------
 * Costs and draws
 * ------------------------------------------------------------------
 */

/* Every period is drawn for all of the sensitivity and all of the cost, which is charged once. */
static void
test_each_period(void **state)
{
	trial		t;
	int64_t		counts[12 * 3];
	pe_i128		exact[3];
	int64_t		released[3];
	pe_u128		factor;

	(void) state;
	make_time(&t, "totals", (pe_continual_problem) {.periods = 12});
	count_cells(&t.cells, 3);
	plan_it(&t, (pe_presence) {.max_periods = 4, .append_only = true}, PE_ADD_REMOVE, 2, 0.25);
	assert_int_equal(charged(t.plan), 250000000);
	assert_true(pe_continual_factor(&t.time, &(pe_presence) {.max_periods = 4, .append_only = true}, &factor));
	for (int i = 0; i < lengthof(counts); i++)
		counts[i] = i;
	for (int u = 0; u < 12; u++)
	{
		last.draws = held = 0;
		pe_plan_measure_period(t.plan, u, counts, exact, released, hold);
		assert_int_equal(last.draws, 1);
		assert_int_equal(held, 1);
		assert_true(last.sensitivity == 4 * factor);
		assert_int_equal(last.nano, 250000000);
		for (int j = 0; j < 3; j++)
		{
			pe_i128		sum = 0;

			for (int s = 0; s <= u; s++)
				sum += (pe_i128) pe_continual_entry(&t.time, u, s) * counts[s * 3 + j];
			assert_true(last.exact[j] == sum);
			assert_true(exact[j] == 0);
		}
	}
	free_plan(t.plan);
	free_trial(&t);
}

/* What an error was asked for costs; noise that is read again is the same. */
static void
test_told_noise(void **state)
{
	trial		t;
	pe_plan_ask ask = {PE_ZCDP, PE_ZCDP, NAN, NAN, 50, 1e-6};
	pe_plan_series series = {.cells = &t.cells, .time = &t.time, .presence = {.row_is_unit = true}, .rules = {.max_rows = 1}};
	pe_continual_errors errors;
	pe_u128		factor;
	pe_noise  **noise;

	(void) state;
	make_time(&t, "totals", (pe_continual_problem) {.periods = 52});
	count_cells(&t.cells, 3);
	assert_true(pe_continual_tell(&t.time, &series.presence, &errors) && pe_continual_factor(&t.time, &series.presence, &factor));
	series.scale = sqrt(errors.worst / (double) factor);
	assert_int_equal(pe_plan_of_series(&ask, &series, &t.plan), PE_PLAN_MADE);
	noise = pe_plan_noise_of_series(&series, PE_ZCDP, charged(t.plan), NULL);
	assert_true(close_to(series.scale * pe_noise_stderr(*noise), 50, 1e-3) && series.scale * pe_noise_stderr(*noise) <= 50);
	assert_true(pe_noise_stderr(*noise) == pe_noise_stderr(pe_plan_noise(t.plan)));
	/* sigma^2 = C / (2 rho) */
	assert_true(close_to(errors.worst / (2e-9 * (double) charged(t.plan)), 2500, 1e-3));
	pe_free(*noise);
	pe_free(noise);
	free_plan(t.plan);
	ask = (pe_plan_ask) {PE_PURE, PE_PURE, 1, NAN, NAN, 0};
	assert_int_equal(pe_plan_of_series(&ask, &series, &t.plan), PE_PLAN_COST);
	free_plan(t.plan);
	free_trial(&t);
}

/* What a series of so many periods costs at the noise of its first part. */
static int64_t
cost_of(trial *t, const trial *first, const trial *paid, int64_t nano, pe_u128 *sensitivity)
{
	pe_plan_series series = {
		.cells = &t->cells, .time = &t->time, .first = &first->time, .presence = {.row_is_unit = true}, .rules = {.max_rows = 1}, .scale = 1
	};
	const pe_plan_ask ask = ask_rho(0);
	pe_plan    *plan;
	int64_t		cost;

	assert_int_equal(pe_plan_of_prolonged(&ask, &series, paid == NULL ? NULL : &paid->time, nano, &plan), PE_PLAN_MADE);
	cost = charged(plan);
	*sensitivity = pe_plan_sensitivity(plan);
	assert_true(pe_plan_epsilon(plan) == pe_epsilon_of_rho(PE_ZCDP, (double) cost * 1e-9, 1e-6));
	free_plan(plan);
	return cost;
}

/* Twice prolonged: who paid for all parts has paid for the whole, rounded up; the noise is that of the first part. */
static void
test_prolonged(void **state)
{
	static const int length[] = {52, 104, 200};
	const int64_t nano = 123456789;
	trial		t[3];
	pe_u128		c[3];
	pe_u128		sensitivity;
	int64_t		more[2];

	(void) state;
	for (int i = 0; i < 3; i++)
	{
		make_time(&t[i], "totals", (pe_continual_problem) {.periods = length[i], .open_ended = true});
		count_cells(&t[i].cells, 3);
		assert_true(pe_continual_factor(&t[i].time, &(pe_presence) {.row_is_unit = true}, &c[i]));
	}
	more[0] = cost_of(&t[1], &t[0], &t[0], nano, &sensitivity);
	assert_true(sensitivity == c[0]);
	assert_true(fabs((double) more[0] / (double) nano - 0.095) < 5e-4);
	more[1] = cost_of(&t[2], &t[0], &t[1], nano, &sensitivity);
	assert_true(sensitivity == c[0]);
	for (int i = 1; i < 3; i++)
	{
		int64_t		whole = cost_of(&t[i], &t[0], NULL, nano, &sensitivity);

		assert_true((pe_u128) whole * c[0] >= (pe_u128) nano * c[i]);
		assert_true((pe_u128) (whole - 1) * c[0] < (pe_u128) nano * c[i]);
		assert_int_equal(nano + more[0] + (i == 2 ? more[1] : 0), whole);
	}
	assert_int_equal(cost_of(&t[0], &t[0], &t[0], nano, &sensitivity), 1);
	for (int i = 0; i < 3; i++)
		free_trial(&t[i]);
}

/* One period once more: its part of the cost, rounded up, by the largest entries of its row, at the noise of the whole. */
static void
test_one_period(void **state)
{
	static const pe_presence presences[] = {{.row_is_unit = true}, {.max_periods = 1}, {.max_periods = 3}, {.max_periods = 3, .append_only = true}};
	const int64_t nano = 123456789;
	const pe_plan_ask ask = ask_rho(0);
	trial		t;

	(void) state;
	make_time(&t, "totals + 2 * periods", (pe_continual_problem) {.periods = 12});
	count_cells(&t.cells, 3);
	for (int i = 0; i < 8; i++)
	{
		pe_plan_series series = {
			.cells = &t.cells, .time = &t.time, .presence = presences[i / 2],
			.rules = {.neighbours = i % 2 ? PE_SUBSTITUTE : PE_ADD_REMOVE, .max_rows = 1}, .scale = 1
		};
		pe_presence presence = series.presence;
		pe_u128		whole;
		pe_u128		parts = 0;

		presence.neighbours = series.rules.neighbours;
		presence.similar = pe_plan_series_similar(&series);
		assert_true(pe_continual_factor(&t.time, &presence, &whole));
		for (int p = 0; p < 12; p++)
		{
			pe_u128		part;
			pe_plan    *plan;

			assert_true(pe_continual_factor_of_period(&t.time, &presence, p, &part));
			assert_true(part <= whole);
			parts += part;
			assert_int_equal(pe_plan_of_period(&ask, &series, nano, p, &plan), PE_PLAN_MADE);
			assert_true((pe_u128) charged(plan) * whole >= (pe_u128) nano * part);
			assert_true((pe_u128) (charged(plan) - 1) * whole < (pe_u128) nano * part);
			assert_true(pe_plan_sensitivity(plan) == whole);
			free_plan(plan);
		}
		assert_true(parts >= whole);
		/* the largest entry of a row, and the sum of its three largest */
		if (i == 0)
			assert_true(pe_continual_factor_of_period(&t.time, &presence, 0, &parts) &&
						parts == (pe_u128) pe_continual_entry(&t.time, 0, 0) * (pe_u128) pe_continual_entry(&t.time, 0, 0));
	}
	free_trial(&t);
}

static void
measure_another_period(void *arg)
{
	trial	   *t = arg;
	const pe_plan_ask ask = ask_rho(0);
	pe_plan_series series = {.cells = &t->cells, .time = &t->time, .presence = {.row_is_unit = true}, .rules = {.max_rows = 1}, .scale = 1};
	int64_t		counts[9] = {0};
	pe_i128		exact[3];
	int64_t		released[3];

	(void) pe_plan_of_period(&ask, &series, 1000000, 1, &t->plan);
	pe_plan_measure_period(t->plan, 2, counts, exact, released, hold);
}

static void
test_follows(void **state)
{
	trial		t;
	const pe_presence presence = {.max_periods = 4, .append_only = true};

	(void) state;
	make_time(&t, "totals", (pe_continual_problem) {.periods = 12});
	count_cells(&t.cells, 3);
	plan_it(&t, presence, PE_ADD_REMOVE, 2, 0.25);
	assert_true(pe_plan_follows_presence(t.plan, &presence));
	assert_false(pe_plan_follows_presence(t.plan, &(pe_presence) {.max_periods = 4}));
	assert_false(pe_plan_follows_presence(t.plan, &(pe_presence) {.max_periods = 5, .append_only = true}));
	assert_false(pe_plan_follows_presence(t.plan, &(pe_presence) {.row_is_unit = true}));
	free_plan(t.plan);
	free_trial(&t);
}

static void
measure_by_rows(void *arg)
{
	trial	   *t = arg;

	plan_it(t, (pe_presence) {.row_is_unit = true}, PE_ADD_REMOVE, 2, 0.25);
}

static void
test_bugs(void **state)
{
	trial		t;

	(void) state;
	make_time(&t, "totals", (pe_continual_problem) {.periods = 3});
	count_cells(&t.cells, 3);
	assert_true(pe_test_stops_with_bug(measure_by_rows, &t));
	assert_true(pe_test_stops_with_bug(measure_another_period, &t));
	free_trial(&t);
}

/* ------------------------------------------------------------------
 * Strategies of the cells
 * ------------------------------------------------------------------
 */

/* y_t = sum_s L_ts A x_s of blocks, where L has entries below 0. */
static void
test_blocks(void **state)
{
	static const int cells[] = {3, 2, 4};
	trial		t;
	made		of;
	pe_blocks  *blocks = pe_alloc(1, sizeof(*blocks));
	pe_tables	tables;
	int64_t    *counts;
	pe_i128    *part;
	pe_i128    *exact;
	int64_t    *released;
	size_t		columns;
	size_t		rows;

	(void) state;
	make_time(&t, "windows(4)", (pe_continual_problem) {.periods = 8});
	parse(&of, 3, cells, "identity(a0)*identity(a1) + 2*identity(a1)*identity(a2) + identity(a0)");
	of.problem.norm = PE_L2;
	assert_true(pe_blocks_marginals(&of.problem, blocks, &of.lower_bound));
	pe_strategy_of_blocks(&t.cells, blocks, 1, 0);
	assert_true(pe_blocks_tables(blocks, &tables));
	columns = (size_t) tables.first[tables.tables];
	rows = (size_t) t.cells.rows;
	counts = pe_alloc(8 * columns, sizeof(*counts));
	part = pe_alloc(rows, sizeof(*part));
	exact = pe_alloc(rows, sizeof(*exact));
	released = pe_alloc(rows, sizeof(*released));
	for (int s = 0; s < 8; s++)
	{
		int64_t		x[24];
		int64_t    *table;

		for (int c = 0; c < 24; c++)
			x[c] = between(0, 20);
		table = counts_of_tables(blocks, &tables, x);
		memcpy(counts + (size_t) s * columns, table, columns * sizeof(*table));
		pe_free(table);
	}
	plan_it(&t, (pe_presence) {.row_is_unit = true}, PE_ADD_REMOVE, 1, 0.125);
	last.draws = 0;
	pe_plan_measure_period(t.plan, 7, counts, exact, released, hold);
	assert_int_equal(last.draws, blocks->blocks);
	/* the last block, as it was drawn */
	for (size_t i = 0; i < last.count; i++)
	{
		pe_i128		sum = 0;

		for (int s = 0; s < 8; s++)
		{
			pe_blocks_apply(blocks, &tables, counts + (size_t) s * columns, part);
			sum += pe_continual_entry(&t.time, 7, s) * part[rows - last.count + i];
		}
		assert_true(last.exact[i] == sum * ((pe_i128) 1 << t.plan->vector[blocks->blocks - 1].lattice));
	}
	/* each block is drawn for what it is in one period, times the factor of time */
	{
		pe_u128		factor;
		pe_u128    *sensitivity = pe_alloc((size_t) blocks->blocks, sizeof(*sensitivity));
		int		   *lattice = pe_alloc((size_t) blocks->blocks, sizeof(*lattice));

		assert_true(pe_continual_factor(&t.time, &(pe_presence) {.row_is_unit = true}, &factor));
		assert_true(pe_blocks_calibrate(blocks, PE_ADD_REMOVE, 1, sensitivity, lattice));
		for (int b = 0; b < blocks->blocks; b++)
			assert_true(t.plan->vector[b].sensitivity == sensitivity[b] * factor && t.plan->vector[b].lattice == lattice[b]);
		pe_free(sensitivity);
		pe_free(lattice);
	}
	pe_tables_free(&tables);
	pe_free(counts);
	pe_free(part);
	pe_free(exact);
	pe_free(released);
	free_plan(t.plan);
	free_trial(&t);
	discard(&of);
}

/* What each of 24 cells adds, divided by the square roots of what blocks are drawn for: rows, cell by cell. */
static double *
vectors_of_cells(const pe_blocks *blocks)
{
	size_t		rows = (size_t) blocks->first[blocks->blocks];
	double	   *vector = pe_alloc(24 * rows, sizeof(*vector));
	pe_i128    *y = pe_alloc(rows, sizeof(*y));
	pe_tables	tables;

	assert_true(pe_blocks_tables(blocks, &tables));
	for (int c = 0; c < 24; c++)
	{
		int64_t		x[24] = {0};
		int64_t    *table;

		x[c] = 1;
		table = counts_of_tables(blocks, &tables, x);
		pe_blocks_apply(blocks, &tables, table, y);
		for (int b = 0; b < blocks->blocks; b++)
			for (int64_t i = blocks->first[b]; i < blocks->first[b + 1]; i++)
				vector[c * rows + (size_t) i] = (double) y[i] * sqrt(ldexp((double) blocks->share[b], -PE_SHARE_BITS) / (double) pe_blocks_largest(blocks, b));
		pe_free(table);
	}
	pe_tables_free(&tables);
	pe_free(y);
	return vector;
}

static double
product_of(const double *x, const double *y, size_t rows)
{
	double		sum = 0;

	for (size_t i = 0; i < rows; i++)
		sum += x[i] * y[i];
	return sum;
}

/* The most that a row loses that is replaced by another, both seen by all readings, in units of what the plan is drawn for. */
static double
largest_replaced(const trial *t, const double *vector, size_t rows)
{
	double		largest = 0;

	for (int i = 0; i < 24 * t->time.periods; i++)
		for (int j = 0; j <= i; j++)
		{
			const double *v = vector + (size_t) (i % 24) * rows;
			const double *w = vector + (size_t) (j % 24) * rows;
			double		square = 0;

			for (int u = 0; u < t->time.periods; u++)
			{
				double		x = pe_continual_entry(&t->time, u, i / 24);
				double		y = pe_continual_entry(&t->time, u, j / 24);

				square += x * x * product_of(v, v, rows) + y * y * product_of(w, w, rows) - 2 * x * y * product_of(v, w, rows);
			}
			largest = fmax(largest, square);
		}
	return largest;
}

/* Of blocks: the least product of two cells' columns, and what follows for rows that stay. */
static void
test_similar_blocks(void **state)
{
	static const struct
	{
		const char *workload;
		double		least;		/* of loss / charge */
	}			known[] = {
		{"identity(a0)*identity(a1) + 2*identity(a1)*identity(a2) + identity(a0)", 0.999999},
		{"identity(a0) + identity(a1) + identity(a2)", 0.999999},
		{"identity(a0)*identity(a1)*identity(a2)", 0.999999},
		{"prefix(a2)*identity(a0) + prefix(a2)*identity(a1)", 0.72}
	};
	static const int cells[] = {3, 2, 4};

	(void) state;
	for (int i = 0; i < lengthof(known); i++)
	{
		trial		t;
		made		of;
		size_t		rows;
		double	   *vector;
		double		loss;
		double		similar;

		make_time(&t, "windows(2) + totals", (pe_continual_problem) {.periods = 4});
		parse(&of, 3, cells, known[i].workload);
		of.problem.norm = PE_L2;
		assert_int_equal(pe_make_blocks(&of.problem, &t.cells), PE_STRATEGY_OK);
		rows = (size_t) t.cells.rows;
		vector = vectors_of_cells(t.cells.blocks);
		similar = 1;
		for (int c = 0; c < 24 * 24; c++)
			similar = fmin(similar, product_of(vector + (size_t) (c / 24) * rows, vector + (size_t) (c % 24) * rows, rows));
		plan_it(&t, (pe_presence) {.row_is_unit = true, .append_only = true}, PE_SUBSTITUTE, 1, 0.125);
		assert_true(ldexp((double) pe_plan_series_similar(&t.plan->series), -PE_SHARE_BITS) <= 1 + similar + 1e-11);
		loss = largest_replaced(&t, vector, rows) / (double) t.plan->factor[0];
		assert_true(loss <= 1.0000001);
		assert_true(loss >= known[i].least);
		free_plan(t.plan);
		pe_free(vector);
		free_trial(&t);
		discard(&of);
	}
}

/* Two parts of sums, one signed: exact answers, and the sensitivity of each part in one period times the factor of time. */
static void
test_sums(void **state)
{
	trial		t;
	pe_strategy other;
	const pe_plan_ask ask = ask_rho(0.125);
	const pe_presence presence = {.max_periods = 3, .append_only = true};
	pe_plan_rules rules = {.neighbours = PE_SUBSTITUTE, .max_rows = 2};
	pe_plan_part part[2] = {{.bound = 1000, .is_signed = true, .share = PE_WHOLE_SHARE / 4}, {.bound = 1, .share = PE_WHOLE_SHARE / 4 * 3}};
	pe_plan_sums sums = {.parts = 2, .part = part, .bounded = 1};
	pe_plan_series series = {.sums = &sums, .time = &t.time, .presence = presence, .rules = rules, .scale = 1};
	pe_presence whole = presence;
	int64_t		counts[8 * 5];
	pe_i128		exact[6];
	int64_t		released[6];
	double		a[3 * 2];
	pe_u128		factor;
	pe_noise  **noise;

	(void) state;
	make_time(&t, "windows(4)", (pe_continual_problem) {.periods = 8});
	count_cells(&t.cells, 3);
	dense_cells(&other, 2, 3);
	pe_strategy_matrix(&other, a);
	part[0].strategy = &t.cells;
	part[1].strategy = &other;
	assert_int_equal(pe_plan_of_series(&ask, &series, &t.plan), PE_PLAN_MADE);
	assert_int_equal(pe_plan_rows(t.plan), 6);
	assert_int_equal(charged(t.plan), 125000000);
	whole.neighbours = PE_SUBSTITUTE;
	/* what is signed has a quarter */
	assert_true(pe_plan_series_similar(&series) == PE_WHOLE_SHARE / 4 * 3);
	whole.similar = PE_WHOLE_SHARE / 4 * 3;
	assert_true(pe_continual_factor(&t.time, &whole, &factor));
	for (int i = 0; i < 2; i++)
	{
		pe_u128		own;
		const pe_plan_rules period = {.neighbours = PE_ADD_REMOVE, .max_rows = 2};

		assert_true(pe_plan_part_sensitivity(&part[i], &period, PE_ZCDP, &own));
		/* S / share, in units of 4^-lattice, rounded up by at most 2^-40 */
		assert_true(close_to(ldexp((double) t.plan->vector[i].sensitivity, -2 * t.plan->vector[i].lattice),
							 (double) own * (double) factor / (i == 0 ? 0.25 : 0.75), 1e-11));
	}
	noise = pe_plan_noise_of_series(&series, PE_ZCDP, charged(t.plan), NULL);
	for (int i = 0; i < 2; i++)
	{
		assert_true(noise[i]->sensitivity == t.plan->vector[i].sensitivity && noise[i]->lattice == t.plan->vector[i].lattice && noise[i]->nano == 125000000);
		pe_free(noise[i]);
	}
	pe_free(noise);
	/* also sums of more than can be weighed at once, on either side */
	for (int i = 0; i < lengthof(counts); i++)
		counts[i] = (INT64_C(1) << 55) / between(1, 1000) * (2 * (i % 2) - 1) + between(-1000, 1000);
	last.draws = 0;
	pe_plan_measure_period(t.plan, 7, counts, exact, released, hold);
	assert_int_equal(last.draws, 2);
	for (int i = 0; i < 3; i++)
	{
		pe_i128		sum = 0;

		for (int s = 0; s < 8; s++)
			for (int j = 0; j < 2; j++)
				sum += (pe_i128) a[i * 2 + j] * pe_continual_entry(&t.time, 7, s) * counts[s * 5 + 3 + j];
		assert_true(last.exact[i] == sum * ((pe_i128) 1 << t.plan->vector[1].lattice));
	}
	free_plan(t.plan);
	pe_strategy_free(&other);
	free_trial(&t);
}

/* ------------------------------------------------------------------
 * Sums by blocks
 * ------------------------------------------------------------------
 */

/* Products of what 24 cells add to a part, for a weight of 1, in units of what its blocks are drawn with: from vector `first` on. */
static double *
products_of_cells(const trial *t, int part, int32_t first)
{
	const pe_blocks *blocks = t->plan->part[part].strategy->blocks;
	size_t		rows = (size_t) blocks->first[blocks->blocks];
	double	   *vector = vectors_of_cells(blocks);
	double	   *product = pe_alloc(24 * 24, sizeof(*product));

	for (int b = 0; b < blocks->blocks; b++)
	{
		const pe_noise_vector *drawn = &t->plan->vector[first + b];
		double		unit = sqrt((double) pe_blocks_largest(blocks, b) / ldexp((double) blocks->share[b], -PE_SHARE_BITS));

		for (size_t i = (size_t) blocks->first[b]; i < (size_t) blocks->first[b + 1]; i++)
			for (int c = 0; c < 24; c++)
				vector[(size_t) c * rows + i] *= unit * ldexp(1, drawn->lattice) / sqrt((double) drawn->sensitivity);
	}
	for (int c = 0; c < 24 * 24; c++)
		product[c] = product_of(vector + (size_t) (c / 24) * rows, vector + (size_t) (c % 24) * rows, rows);
	pe_free(vector);
	return product;
}

/* A row in a period and a cell, and what it adds to each part, in bounds. */
typedef struct row
{
	int			period;
	int			cell;
	double		weight[2];
} row;

static double
product_of_rows(const trial *t, double *const *product, const row *a, const row *b)
{
	double		sum = 0;

	for (int i = 0; i < 2; i++)
		sum += a->weight[i] * b->weight[i] * (double) t->plan->part[i].bound * (double) t->plan->part[i].bound * product[i][a->cell * 24 + b->cell];
	return sum;
}

/* What is lost of one row that is replaced by another, both seen by all readings; 1 is the whole charge. */
static double
loss_of_rows(const trial *t, double *const *product, const row *a, const row *b)
{
	double		aa = product_of_rows(t, product, a, a);
	double		bb = product_of_rows(t, product, b, b);
	double		ab = product_of_rows(t, product, a, b);
	double		loss = 0;

	for (int u = 0; u < t->time.periods; u++)
	{
		double		x = pe_continual_entry(&t->time, u, a->period);
		double		y = pe_continual_entry(&t->time, u, b->period);

		loss += x * x * aa + y * y * bb - 2 * x * y * ab;
	}
	return loss;
}

/* Rows with every cell and the extremes of both parts; of unsigned ones 0 and 1. */
static int
all_rows(const trial *t, row *all)
{
	int			count = 0;

	for (int s = 0; s < t->time.periods; s++)
		for (int c = 0; c < 24; c++)
			for (int i = t->plan->part[0].is_signed ? -1 : 0; i <= 1; i++)
				for (int j = t->plan->part[1].is_signed ? -1 : 0; j <= 1; j++)
					all[count++] = (row) {s, c, {i, j}};
	return count;
}

static double
largest_of_rows(const trial *t, double *const *product, bool replaced)
{
	static row	all[4 * 24 * 9];
	int			count = all_rows(t, all);
	double		largest = 0;

	for (int i = 0; i < count; i++)
		for (int j = 0; j <= (replaced ? i : 0); j++)
		{
			const row	nothing = {0};

			largest = fmax(largest, loss_of_rows(t, product, &all[i], replaced ? &all[j] : &nothing));
		}
	return largest;
}

/* Noise that is read again is what blocks are drawn with, in units of one with D = 1 and the whole share. */
static void
check_noise_read(const trial *t)
{
	int		   *lattice;
	pe_noise  **noise = pe_plan_noise_of_series(&t->plan->series, PE_ZCDP, charged(t->plan), &lattice);
	int		   *alone = pe_plan_series_lattices(&t->plan->series, PE_ZCDP, charged(t->plan));
	int			v = 0;

	for (int i = 0; i < t->plan->parts; i++)
	{
		const pe_blocks *blocks = t->plan->part[i].strategy->blocks;

		for (int b = 0; b < blocks->blocks; b++, v++)
		{
			const pe_noise drawn = {PE_ZCDP, t->plan->vector[v].sensitivity, charged(t->plan), t->plan->vector[v].lattice, true};

			assert_true(close_to(pe_noise_stderr(noise[i]) * sqrt(pe_blocks_relative_variance(blocks, b)), pe_noise_stderr(&drawn), 1e-6));
			assert_int_equal(lattice[v], pe_noise_shift(&drawn));
			assert_int_equal(alone[v], lattice[v]);
		}
		pe_free(noise[i]);
	}
	pe_free(lattice);
	pe_free(alone);
	pe_free(noise);
}

/* y of a period of the last block of the last part, without noise. */
static void
check_exact(const trial *t, const pe_blocks *blocks)
{
	pe_tables	tables;
	size_t		rows = (size_t) t->cells.rows;
	pe_i128    *exact = pe_alloc(2 * rows, sizeof(*exact));
	pe_i128    *part = pe_alloc(rows, sizeof(*part));
	int64_t    *released = pe_alloc(2 * rows, sizeof(*released));
	int64_t    *counts;
	size_t		columns;

	assert_true(pe_blocks_tables(blocks, &tables));
	columns = (size_t) tables.first[tables.tables];
	assert_int_equal(pe_plan_part_columns(&t->plan->part[1]), columns);
	assert_int_equal(pe_plan_rows(t->plan), 2 * rows);
	counts = pe_alloc(2 * columns * 4, sizeof(*counts));
	/* also sums of more than can be weighed at once, on either side */
	for (size_t i = 0; i < 2 * columns * 4; i++)
		counts[i] = (INT64_C(1) << 50) / between(1, 1000) * (2 * (int64_t) (i % 2) - 1) + between(-1000, 1000);
	last.draws = 0;
	pe_plan_measure_period(t->plan, 3, counts, exact, released, hold);
	assert_int_equal(last.draws, 2 * blocks->blocks);
	for (size_t i = 0; i < last.count; i++)
	{
		pe_i128		sum = 0;

		for (int s = 0; s < 4; s++)
		{
			pe_blocks_apply(blocks, &tables, counts + (2 * (size_t) s + 1) * columns, part);
			sum += pe_continual_entry(&t->time, 3, s) * part[rows - last.count + i];
		}
		assert_true(last.exact[i] == sum * ((pe_i128) 1 << t->plan->vector[t->plan->vectors - 1].lattice));
	}
	pe_tables_free(&tables);
	pe_free(counts);
	pe_free(released);
	pe_free(part);
	pe_free(exact);
}

/* Two parts of one list of blocks: what is lost at most, of what was charged, in all cells and periods. */
static void
check_parts_of_blocks(const char *workload, const pe_plan_part *part, pe_neighbours neighbours, double least)
{
	static const int cells[] = {3, 2, 4};
	trial		t;
	made		of;
	pe_plan_part own[2] = {part[0], part[1]};
	const pe_plan_sums sums = {.parts = 2, .part = own, .bounded = 1};
	const pe_plan_ask ask = ask_rho(0.125);
	pe_plan_series series = {
		.sums = &sums, .time = &t.time, .presence = {.row_is_unit = true, .append_only = true},
		.rules = {.neighbours = neighbours, .max_rows = 1}, .scale = 1
	};
	double	   *product[2];
	double		loss;

	make_time(&t, "windows(2) + totals", (pe_continual_problem) {.periods = 4});
	parse(&of, 3, cells, workload);
	of.problem.norm = PE_L2;
	of.problem.spare = pe_blocks_spare_for(ldexp(1, 32 + 30 + 2 + 8));
	assert_int_equal(pe_make_blocks(&of.problem, &t.cells), PE_STRATEGY_OK);
	own[0].strategy = own[1].strategy = &t.cells;
	assert_int_equal(pe_plan_of_series(&ask, &series, &t.plan), PE_PLAN_MADE);
	product[0] = products_of_cells(&t, 0, 0);
	product[1] = products_of_cells(&t, 1, t.cells.blocks->blocks);
	loss = largest_of_rows(&t, product, neighbours == PE_SUBSTITUTE);
	if (!(loss <= 1.0000001 && loss >= least))
		fail_msg("%s: %g of the charge is lost", workload, loss);
	check_noise_read(&t);
	check_exact(&t, t.cells.blocks);
	pe_free(product[0]);
	pe_free(product[1]);
	free_plan(t.plan);
	free_trial(&t);
	discard(&of);
}

static void
test_sums_by_blocks(void **state)
{
	static const struct
	{
		const char *workload;
		double		counts;		/* the least of loss / charge: of two parts of counts, */
		double		numbers;	/* and of counts with numbers of either sign */
	}			known[] = {
		{"identity(a0)*identity(a1) + 2*identity(a1)*identity(a2) + identity(a0)", 0.999, 0.82},
		{"identity(a0) + identity(a1) + identity(a2)", 0.999, 0.82},
		{"prefix(a2)*identity(a0) + prefix(a2)*identity(a1)", 0.72, 0.67}
	};
	const pe_plan_part counts = {.bound = 1, .share = PE_WHOLE_SHARE / 4 * 3};
	const pe_plan_part others = {.bound = 1, .share = PE_WHOLE_SHARE / 4};
	/* so wide that the units of some blocks are coarser than in one period */
	const pe_plan_part numbers = {.bound = 32767, .is_signed = true, .share = PE_WHOLE_SHARE / 4};

	(void) state;
	for (int i = 0; i < lengthof(known); i++)
	{
		check_parts_of_blocks(known[i].workload, (pe_plan_part[2]) {counts, others}, PE_SUBSTITUTE, known[i].counts);
		check_parts_of_blocks(known[i].workload, (pe_plan_part[2]) {counts, numbers}, PE_SUBSTITUTE, known[i].numbers);
		check_parts_of_blocks(known[i].workload, (pe_plan_part[2]) {counts, numbers}, PE_ADD_REMOVE, 0.999);
	}
}

/* Queries measured as they are, with L below 0. */
static void
test_direct(void **state)
{
	static const int cells[] = {5};
	trial		t;
	made		of;
	int64_t		counts[8 * 5];
	pe_i128		exact[16];
	int64_t		released[16];
	double		a[16 * 5];

	(void) state;
	make_time(&t, "windows(4)", (pe_continual_problem) {.periods = 8});
	parse(&of, 1, cells, "all_range(a0)");
	count_cells(&t.cells, 5);
	t.cells.direct = true;
	t.cells.rows = of.workload.queries;
	assert_int_equal(t.cells.rows, 15);
	t.cells.column_of = pe_alloc(5, sizeof(int32_t));
	for (int c = 0; c < 5; c++)
		t.cells.column_of[c] = c;
	pe_strategy_bind(&t.cells, &of.workload);
	pe_strategy_matrix(&t.cells, a);
	for (int i = 0; i < lengthof(counts); i++)
		counts[i] = between(0, 1000);
	plan_it(&t, (pe_presence) {.row_is_unit = true}, PE_ADD_REMOVE, 1, 0.125);
	pe_plan_measure_period(t.plan, 7, counts, exact, released, hold);
	for (int i = 0; i < 15; i++)
	{
		pe_i128		sum = 0;

		for (int s = 0; s < 8; s++)
			for (int j = 0; j < 5; j++)
				sum += (pe_i128) a[i * 5 + j] * pe_continual_entry(&t.time, 7, s) * counts[s * 5 + j];
		assert_true(last.exact[i] == sum);
	}
	free_plan(t.plan);
	free_trial(&t);
	discard(&of);
}

/* ------------------------------------------------------------------
 * Errors seen and told
 * ------------------------------------------------------------------
 */

#define CELLS 10
#define SERIES 1000
#define NEAR 0.05

typedef struct simulation
{
	trial		t;
	int			first;			/* periods at its creation, if it was prolonged; else 0 */
	trial		created;
	bool		forget;			/* old rows are deleted */
	pe_plan_series ask;
	int64_t		nano;
	double	   *square;			/* of all queries */
} simulation;

/* What is there in period t of the periods that it reads. */
static void
read_rows(const simulation *s, const int64_t *x, int t, int64_t *seen)
{
	int			since = pe_continual_since(&s->t.time, t);

	/* periods before are not there: nothing of them may be asked for */
	memcpy(seen, x + since * CELLS, (size_t) ((t - since + 1) * CELLS) * sizeof(*x));
}

/* One series: draws of every period, then the reports. */
static void
run_series(simulation *s, const pe_plan *early, const pe_plan *late, int shift, const int64_t *x, int64_t *seen, double *e)
{
	const pe_continual *time = &s->t.time;
	pe_i128		exact[CELLS];
	int64_t		released[CELLS];
	double		estimate[CELLS];

	for (int u = 0; u < time->periods; u++)
	{
		read_rows(s, x, u, seen);
		pe_plan_measure_period(s->first > 0 && u < s->first ? early : late, u, seen, exact, released, hold);
		for (int j = 0; j < CELLS; j++)
			e[u * CELLS + j] = ldexp((double) released[j], -shift);
	}
	for (int q = 0; q < time->queries; q++)
	{
		pe_continual_combine(time, q, CELLS, e, estimate);
		for (int j = 0; j < CELLS; j++)
		{
			double		truth = 0;

			for (int u = pe_over_first(&s->t.over, time->periods, q); u <= q % time->periods; u++)
				truth += (double) x[u * CELLS + j];
			s->square[q] += (estimate[j] - truth) * (estimate[j] - truth);
		}
	}
}

static void
compare(const simulation *s, int series)
{
	const pe_continual *time = &s->t.time;
	double	   *variance = pe_alloc((size_t) time->queries, sizeof(double));
	pe_noise  **noise = pe_plan_noise_of_series(&s->ask, PE_ZCDP, s->nano, NULL);
	double		near = quick() ? 0.25 : NEAR;

	pe_continual_variances(time, variance);
	for (int q = 0; q < time->queries; q++)
	{
		double		told = sqrt(variance[q]) * pe_noise_stderr(*noise);
		double		seen = sqrt(s->square[q] / (series * CELLS));

		if (!close_to(seen, told, near))
			fail_msg("report %d: told %g, seen %g", q, told, seen);
	}
	pe_free(*noise);
	pe_free(noise);
	pe_free(variance);
}

static void
simulate(simulation *s, pe_presence presence, int max_rows)
{
	int			series = fewer(SERIES, 20);
	int			numbers = s->t.time.periods * CELLS;
	pe_plan    *early = NULL;
	pe_plan    *late = NULL;
	int64_t    *x = pe_alloc((size_t) numbers, sizeof(*x));
	int64_t    *seen = pe_alloc((size_t) numbers, sizeof(*seen));
	double	   *e = pe_alloc((size_t) numbers, sizeof(*e));
	const pe_plan_ask rho = ask_rho(0.05);
	int		   *lattice;

	count_cells(&s->t.cells, CELLS);
	s->square = pe_alloc((size_t) s->t.time.queries, sizeof(double));
	s->ask = (pe_plan_series) {.cells = &s->t.cells, .time = &s->t.time, .presence = presence, .rules = {.max_rows = max_rows}, .scale = 1};
	s->nano = 50000000;
	if (s->first > 0)
	{
		pe_plan_series created = s->ask;

		created.time = &s->created.time;
		assert_int_equal(pe_plan_of_series(&rho, &created, &early), PE_PLAN_MADE);
		s->ask.first = &s->created.time;
		assert_int_equal(pe_plan_of_prolonged(&rho, &s->ask, &s->created.time, s->nano, &late), PE_PLAN_MADE);
	}
	else
		assert_int_equal(pe_plan_of_series(&rho, &s->ask, &late), PE_PLAN_MADE);
	lattice = pe_plan_series_lattices(&s->ask, PE_ZCDP, s->nano);
	for (int i = 0; i < numbers; i++)
		x[i] = between(0, 60);
	for (int i = 0; i < series; i++)
		run_series(s, early, late, lattice[0], x, seen, e);
	compare(s, series);
	pe_free(lattice);
	pe_free(x);
	pe_free(seen);
	pe_free(e);
	pe_free(s->square);
	free_plan(late);
	if (early != NULL)
		free_plan(early);
}

static void
test_totals(void **state)
{
	simulation	s = {0};

	(void) state;
	make_time(&s.t, "totals", (pe_continual_problem) {.periods = 52});
	simulate(&s, (pe_presence) {.row_is_unit = true}, 1);
	free_trial(&s.t);
}

static void
test_windows(void **state)
{
	simulation	s = {0};

	(void) state;
	make_time(&s.t, "windows(4)", (pe_continual_problem) {.periods = 52, .history = 4});
	simulate(&s, (pe_presence) {.row_is_unit = true}, 1);
	free_trial(&s.t);
}

static void
test_units(void **state)
{
	simulation	s = {0};

	(void) state;
	make_time(&s.t, "totals", (pe_continual_problem) {.periods = 52});
	simulate(&s, (pe_presence) {.max_periods = 4, .append_only = true}, 1);
	free_trial(&s.t);
}

static void
test_open_end(void **state)
{
	simulation	s = {.first = 52};

	(void) state;
	make_time(&s.t, "totals", (pe_continual_problem) {.periods = 104, .open_ended = true});
	make_time(&s.created, "totals", (pe_continual_problem) {.periods = 52, .open_ended = true});
	simulate(&s, (pe_presence) {.row_is_unit = true}, 1);
	pe_over_free(&s.created.over);
	pe_continual_free(&s.created.time);
	free_trial(&s.t);
}

static int
seed(void **state)
{
	(void) state;
	pe_test_seed(20261124);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_neighbours),
		cmocka_unit_test(test_each_period),
		cmocka_unit_test(test_told_noise),
		cmocka_unit_test(test_prolonged),
		cmocka_unit_test(test_one_period),
		cmocka_unit_test(test_follows),
		cmocka_unit_test(test_bugs),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_similar_blocks),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_sums_by_blocks),
		cmocka_unit_test(test_direct),
		cmocka_unit_test(test_totals),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_open_end),
	};

	return cmocka_run_group_tests(tests, seed, NULL);
}
