/*
 * test_continual.c
 *	  Strategies over time: against optima known otherwise, sensitivities against all neighbours of small series, and what is told
 *	  against sums written out in long double.
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
#include <time.h>

#include "domain/units.h"
#include "blocks/blocks.h"
#include "strategy/share.h"
#include "time/continual.h"
#include "numbers.h"
#include "reference_continual.h"
#include "shim.h"

#define QUICK_PERIODS 60
#define SMALL 5					/* periods whose neighbours are enumerated */

static const pe_presence row = {.row_is_unit = true};

typedef struct trial
{
	pe_over		over;
	pe_continual series;
} trial;

static void
parse(trial *t, const char *over)
{
	pe_text_error error;

	if (!pe_over_parse(over, &t->over, &error))
		fail_msg("%s: %s", over, error.message);
}

/* problem: without its queries. */
static void
make(trial *t, const char *over, pe_continual_problem problem)
{
	parse(t, over);
	problem.over = &t->over;
	if (problem.gap == 0)
		problem.gap = PE_CONTINUAL_GAP;
	assert_int_equal(pe_continual_make(&problem, &t->series), PE_STRATEGY_OK);
}

static void
free_trial(trial *t)
{
	pe_continual_free(&t->series);
	pe_over_free(&t->over);
}

static pe_u128
factor_of(const trial *t, pe_presence presence)
{
	pe_u128		factor;

	assert_true(pe_continual_factor(&t->series, &presence, &factor));
	return factor;
}

static double
relative_factor(const trial *t, pe_presence presence)
{
	return (double) factor_of(t, presence) / (double) factor_of(t, row);
}

/* ------------------------------------------------------------------
 * The language
 * ------------------------------------------------------------------
 */

static void
test_language(void **state)
{
	pe_over		over;
	pe_text_error error;

	(void) state;
	assert_true(pe_over_parse(" TOTALS+2.50*windows( 4 ) +periods", &over, &error));
	assert_string_equal(over.canonical, "totals + 2.5 * windows(4) + periods");
	assert_int_equal(over.terms, 3);
	assert_true(over.term[1].weight == 2.5 && over.term[0].width == 0 && over.term[1].width == 4 && over.term[2].width == 1);
	assert_int_equal(pe_over_queries(&over, 10), 30);
	assert_int_equal(pe_over_first(&over, 10, 7), 0);
	assert_int_equal(pe_over_first(&over, 10, 10 + 7), 4);
	assert_int_equal(pe_over_first(&over, 10, 10 + 2), 0);
	assert_int_equal(pe_over_first(&over, 10, 20 + 7), 7);
	pe_over_free(&over);
}

static void
test_refused_texts(void **state)
{
	static const struct
	{
		const char *text;
		int			position;
	}			wrong[] = {
		{"", 0}, {"total", 0}, {"totals +", 8}, {"totals totals", 7}, {"windows", 7}, {"windows()", 8}, {"windows(0)", 8}, {"windows(4097)", 8},
		{"windows(1.5)", 8}, {"windows(1e1)", 8}, {"windows(-1)", 8}, {"windows(99999999999999999999)", 8}, {"0 * totals", 0}, {"2 totals", 2},
		{"1e4 * totals", 0}, {"totals + prefix(52)", 9}, {"windows(3", 9}
	};
	pe_over		over;
	pe_text_error error;

	(void) state;
	for (int i = 0; i < lengthof(wrong); i++)
	{
		if (pe_over_parse(wrong[i].text, &over, &error))
			fail_msg("read: %s", wrong[i].text);
		if (error.position != wrong[i].position)
			fail_msg("%s: at %d: %s", wrong[i].text, error.position, error.message);
	}
}

static void
test_too_many_terms(void **state)
{
	char		text[10 * (PE_MAX_OVER + 1)] = "totals";
	pe_over		over;
	pe_text_error error;

	(void) state;
	for (int i = 1; i < PE_MAX_OVER; i++)
		strcat(text, "+periods");
	assert_true(pe_over_parse(text, &over, &error));
	pe_over_free(&over);
	strcat(text, "+periods");
	assert_false(pe_over_parse(text, &over, &error));
	assert_int_equal(error.status, PE_TEXT_TOO_LARGE);
}

/* W'W of the reversed workload, entry by entry. */
static void
test_workload(void **state)
{
	trial		t;
	pe_workload workload;
	const pe_workload *all = &workload;
	pe_classes	classes;
	double		gram[49];
	const int	periods = 7;

	(void) state;
	parse(&t, "totals + 3 * windows(2) + periods");
	pe_over_workload(&t.over, periods, &workload);
	pe_classes_init(&all, 1, &classes);
	assert_int_equal(classes.cells, periods);
	pe_workload_gram(&workload, &classes, true, gram);
	for (int i = 0; i < periods; i++)
		for (int j = 0; j < periods; j++)
		{
			double		sum = 0;

			for (int q = 0; q < pe_over_queries(&t.over, periods); q++)
			{
				int			least = periods - 1 - (i > j ? i : j);
				int			most = periods - 1 - (i < j ? i : j);

				if (least >= pe_over_first(&t.over, periods, q) && most <= q % periods)
					sum += t.over.term[q / periods].weight * t.over.term[q / periods].weight;
			}
			assert_true(gram[i * periods + j] == sum);
		}
	pe_classes_free(&classes);
	pe_workload_free(&workload);
	pe_over_free(&t.over);
}

/* ------------------------------------------------------------------
 * What is made
 * ------------------------------------------------------------------
 */

/* B L = W in long double, B exactly zero behind a query's period, and told variances. */
static void
check_answers(const trial *t)
{
	const pe_continual *s = &t->series;
	int			periods = s->periods;
	double	   *b = pe_alloc((size_t) periods, sizeof(double));
	double	   *variance = pe_alloc((size_t) s->queries, sizeof(double));

	pe_continual_variances(s, variance);
	for (int q = 0; q < s->queries; q += periods > 100 ? 7 : 1)
	{
		long double square = 0;

		pe_continual_weights(s, q, b);
		for (int j = 0; j < periods; j++)
		{
			long double entry = 0;

			for (int i = j; i < periods; i++)
				entry += (long double) b[i] * pe_continual_entry(s, i, j);
			assert_true(fabsl(entry - (j >= pe_over_first(&t->over, periods, q) && j <= q % periods)) < 1e-10L);
			square += (long double) b[j] * b[j];
			if (j > q % periods)
				assert_true(b[j] == 0.0);
		}
		assert_true(close_to(variance[q], (double) square, 1e-10));
	}
	pe_free(b);
	pe_free(variance);
}

/* Nothing of a later period, nothing of one that is forgotten, and a diagonal that can be divided by. */
static void
check_form(const trial *t)
{
	const pe_continual *s = &t->series;

	for (int i = 0; i < s->periods; i++)
	{
		assert_true(pe_continual_entry(s, i, i) > 0);
		for (int j = 0; j < s->periods; j++)
			if (j > i || j < pe_continual_since(s, i))
				assert_int_equal(pe_continual_entry(s, i, j), 0);
	}
}

static bool
too_long(int periods)
{
	return quick() && periods > QUICK_PERIODS;
}

static void
test_optimum(void **state)
{
	(void) state;
	for (int i = 0; i < lengthof(pe_test_series); i++)
	{
		const pe_series_reference *known = &pe_test_series[i];
		trial		t;
		pe_continual_errors errors;
		clock_t		begin = clock();

		if (too_long(known->periods))
			continue;
		make(&t, known->over, (pe_continual_problem) {.periods = known->periods});
		assert_true(pe_continual_tell(&t.series, &row, &errors));
		assert_true(quick() || clock() - begin < 2 * CLOCKS_PER_SEC);
		assert_true(close_to(t.series.strategy.lower_bound, known->optimum, 1e-6));
		assert_true(t.series.strategy.lower_bound <= known->optimum * (1 + 1e-8));
		assert_true(t.series.strategy.objective <= known->optimum * (1 + 1e-5));
		assert_true(close_to(errors.mean * t.series.queries, t.series.strategy.objective, 1e-9));
		assert_true(close_to(sqrt(errors.worst), known->worst, 1e-4));
		check_form(&t);
		check_answers(&t);
		free_trial(&t);
	}
}

/* To what rounding of an entry does (reference_continual.h). */
static void
test_standard_errors(void **state)
{
	(void) state;
	for (int i = 0; i < lengthof(pe_test_stderrs); i++)
	{
		const pe_stderr_reference *known = &pe_test_stderrs[i];
		trial		t;
		double	   *variance;

		if (too_long(known->periods))
			continue;
		make(&t, known->over, (pe_continual_problem) {.periods = known->periods, .gap = 1e-10});
		variance = pe_alloc((size_t) t.series.queries, sizeof(double));
		pe_continual_variances(&t.series, variance);
		for (int q = 0; q < t.series.queries; q++)
			if (!close_to(sqrt(variance[q] * (double) factor_of(&t, row)), known->stderr_of[q], 6e-5))
				fail_msg("%d %s: report %d is %.9g", known->periods, known->over, q, sqrt(variance[q] * (double) factor_of(&t, row)));
		pe_free(variance);
		free_trial(&t);
	}
}

static void
test_largest_error(void **state)
{
	(void) state;
	for (int i = 0; i < lengthof(pe_test_series); i++)
	{
		const pe_series_reference *known = &pe_test_series[i];
		trial		t;
		double		best = known->max * known->max;

		if (known->periods > QUICK_PERIODS && i != 10)
			continue;
		if (too_long(known->periods))
			continue;
		make(&t, known->over, (pe_continual_problem) {.periods = known->periods, .objective = PE_MAX, .gap = 1e-4});
		/* both are within their gaps, and the reference has six digits */
		assert_true(t.series.strategy.objective <= best * (1 + 1e-4 + 1e-5));
		assert_true(t.series.strategy.objective >= best * (1 - known->max_gap - 1e-5));
		assert_true(t.series.strategy.lower_bound <= best * (1 + 1e-5));
		check_form(&t);
		check_answers(&t);
		free_trial(&t);
	}
}

/* Bands: their optimum, what proves it, and that they forget. */
static void
test_history(void **state)
{
	(void) state;
	for (int i = 0; i < lengthof(pe_test_bands); i++)
	{
		const pe_band_reference *known = &pe_test_bands[i];
		trial		t;

		if (too_long(known->periods))
			continue;
		make(&t, known->over, (pe_continual_problem) {.periods = known->periods, .history = known->history});
		assert_true(close_to(t.series.strategy.lower_bound, known->optimum, 1e-6));
		assert_true(t.series.strategy.lower_bound <= known->optimum * (1 + 1e-8));
		assert_true(t.series.strategy.objective >= known->optimum * (1 - 1e-8));
		assert_true(t.series.strategy.objective <= known->optimum * (1 + 1e-5));
		assert_int_equal(pe_continual_since(&t.series, 30), 30 - known->history + 1);
		check_form(&t);
		check_answers(&t);
		free_trial(&t);
	}
}

/* A history of all periods, or more, is none; of one, each period is by itself. */
static void
test_history_limits(void **state)
{
	trial		t;

	(void) state;
	make(&t, "totals", (pe_continual_problem) {.periods = 12, .history = 12});
	assert_true(close_to(t.series.strategy.lower_bound, pe_test_series[0].optimum, 1e-6));
	assert_false(t.series.forgets);
	free_trial(&t);
	make(&t, "totals", (pe_continual_problem) {.periods = 12, .history = 1});
	assert_true(t.series.strategy.triangle == NULL && t.series.forgets);
	assert_true(t.series.strategy.objective == 78.0);
	check_answers(&t);
	free_trial(&t);
	make(&t, "periods", (pe_continual_problem) {.periods = 12});
	assert_true(t.series.strategy.objective == 12.0 && t.series.strategy.lower_bound == 12.0);
	check_answers(&t);
	free_trial(&t);
	make(&t, "totals", (pe_continual_problem) {.periods = 1});
	assert_true(t.series.strategy.objective == 1.0);
	check_answers(&t);
	free_trial(&t);
}

/* The same integers for every number of periods; errors and norms. */
static void
test_open_end(void **state)
{
	static const struct
	{
		int			periods;
		double		norm;		/* c_T */
	}			known[] = {{12, 1.85068}, {52, 2.32247}, {104, 2.54387}, {365, 2.94405}, {730, 3.16480}};
	static const double rmse[] = {1.70863, 2.16427, 0, 2.78153, 0};
	trial		longest;

	(void) state;
	make(&longest, "totals", (pe_continual_problem) {.periods = 730, .open_ended = true});
	for (int i = 0; i < lengthof(known); i++)
	{
		trial		t;
		pe_continual_errors errors;

		make(&t, "totals", (pe_continual_problem) {.periods = known[i].periods, .open_ended = true});
		assert_true(close_to(ldexp((double) factor_of(&t, row), -32), known[i].norm, 1e-5));
		assert_true(pe_continual_tell(&t.series, &row, &errors));
		assert_true(rmse[i] == 0 || close_to(sqrt(errors.mean), rmse[i], 1e-5));
		for (int u = 0; u < known[i].periods; u++)
			for (int s = 0; s <= u; s++)
				assert_int_equal(pe_continual_entry(&t.series, u, s), pe_continual_entry(&longest.series, u, s));
		check_form(&t);
		if (i < 2)
			check_answers(&t);
		free_trial(&t);
	}
	free_trial(&longest);
}

/* Added up and split, as they are told. */
static void
test_other_ways(void **state)
{
	(void) state;
	for (int i = 0; i < lengthof(pe_test_series); i++)
	{
		const pe_series_reference *known = &pe_test_series[i];
		trial		t;
		pe_continual_errors added;
		pe_continual_errors split;

		parse(&t, known->over);
		assert_true(pe_continual_tell_added(&t.over, known->periods, &row, &added));
		assert_true(close_to(sqrt(added.mean), known->added, 1e-5));
		assert_true(pe_continual_tell_split(&t.over, known->periods, &row, &split));
		assert_true(close_to(sqrt(split.mean), known->split, 1e-5));
		pe_over_free(&t.over);
	}
}

static void
test_memory(void **state)
{
	static const pe_continual_problem problem[] = {
		{.periods = 52}, {.periods = 200}, {.periods = 200, .history = 20}, {.periods = 60, .objective = PE_MAX}, {.periods = 200, .open_ended = true},
		{.periods = 200, .separate = true}
	};

	(void) state;
	for (int i = 0; i < lengthof(problem); i++)
	{
		trial		t;
		pe_continual_problem p = problem[i];

		pe_test_memory();
		make(&t, "totals + windows(5)", p);
		p.over = &t.over;
		assert_true(pe_test_memory() <= pe_continual_memory(&p));
		free_trial(&t);
	}
}

/* ------------------------------------------------------------------
 * Sensitivity, against all neighbours
 * ------------------------------------------------------------------
 */

/* L of small integers, also below 0; a Toeplitz one or none, a band or none. */
static void
make_small(trial *t, int periods, int lo, int hi)
{
	pe_strategy strategy = {.classes = periods, .columns = periods, .rows = periods, .inner = periods, .objective = 1};
	pe_continual_problem problem = {.periods = periods};
	int32_t    *entry = pe_alloc((size_t) (periods * (periods + 1) / 2), sizeof(*entry));

	parse(t, "totals");
	problem.over = &t->over;
	strategy.column_of = pe_alloc((size_t) periods, sizeof(int32_t));
	for (int c = 0; c < periods; c++)
		strategy.column_of[c] = c;
	strategy.triangle = entry;
	for (int j = 0; j < periods; j++)
		for (int i = 0; i <= j; i++)
			*entry++ = i == j ? between(1, hi) : between(lo, hi);
	assert_true(pe_continual_restore(&problem, &strategy, &t->series));
}

/* The largest square of a sum of L_ts over some of the periods of a set; readings miss rows as they like. */
static int64_t
largest_reading(const trial *t, int reading, unsigned set)
{
	int64_t		above = 0;
	int64_t		below = 0;

	for (int s = 0; s <= reading; s++)
		if (set >> s & 1)
		{
			int64_t		entry = pe_continual_entry(&t->series, reading, s);

			above += entry > 0 ? entry : 0;
			below += entry < 0 ? -entry : 0;
		}
	return above > below ? above * above : below * below;
}

static int
size_of(unsigned set)
{
	return __builtin_popcount(set);
}

/* One set for all readings. */
static int64_t
largest_fixed(const trial *t, int most)
{
	int64_t		largest = 0;

	for (unsigned set = 0; set < 1U << t->series.periods; set++)
	{
		int64_t		sum = 0;

		for (int u = 0; u < t->series.periods && size_of(set) <= most; u++)
			sum += largest_reading(t, u, set);
		largest = sum > largest ? sum : largest;
	}
	return largest;
}

/* Another set for each reading. */
static int64_t
largest_moving(const trial *t, int most)
{
	int64_t		sum = 0;

	for (int u = 0; u < t->series.periods; u++)
	{
		int64_t		largest = 0;

		for (unsigned set = 0; set < 1U << t->series.periods; set++)
			if (size_of(set) <= most && largest_reading(t, u, set) > largest)
				largest = largest_reading(t, u, set);
		sum += largest;
	}
	return sum;
}

static void
check_neighbours(const trial *t, bool positive)
{
	bool		identity = t->series.strategy.triangle == NULL;

	assert_true((int64_t) factor_of(t, row) == largest_fixed(t, 1));
	for (int p = 1; p <= t->series.periods + 1; p++)
	{
		int64_t		fixed = largest_fixed(t, p);
		int64_t		moving = largest_moving(t, p);
		pe_presence presence = {.max_periods = p, .append_only = true};

		assert_true((int64_t) factor_of(t, presence) >= fixed);
		assert_true((int64_t) factor_of(t, presence) <= p * p * largest_fixed(t, 1));
		assert_true(!(identity || p == 1 || (positive && p >= t->series.periods)) || (int64_t) factor_of(t, presence) == fixed);
		presence.neighbours = PE_SUBSTITUTE;
		assert_true((int64_t) factor_of(t, presence) >= 4 * fixed);
		presence = (pe_presence) {.max_periods = p};
		assert_true((int64_t) factor_of(t, presence) >= moving);
		assert_true(!positive || (int64_t) factor_of(t, presence) == moving);
	}
}

static void
test_all_neighbours(void **state)
{
	(void) state;
	for (int i = 0; i < fewer(400, 10); i++)
	{
		trial		t;
		bool		positive = i % 2 == 0;

		make_small(&t, between(1, SMALL), positive ? 0 : -5, 6);
		check_neighbours(&t, positive);
		free_trial(&t);
	}
	for (int periods = 1; periods <= SMALL; periods++)
	{
		trial		t;

		make(&t, "totals", (pe_continual_problem) {.periods = periods, .separate = true});
		check_neighbours(&t, true);
		free_trial(&t);
	}
}

/* The largest |L_s - L_r|^2; or, where readings miss rows as they like, of each the most that can be. */
static double
largest_move(const trial *t, bool misses)
{
	double		largest = 0;

	for (int s = 0; s < t->series.periods; s++)
		for (int r = 0; r < s; r++)
		{
			double		sum = 0;

			for (int u = r; u < t->series.periods; u++)
			{
				double		x = pe_continual_entry(&t->series, u, s);
				double		y = pe_continual_entry(&t->series, u, r);

				sum += misses ? fmax((x - y) * (x - y), fmax(x * x, y * y)) : (x - y) * (x - y);
			}
			largest = fmax(largest, sum);
		}
	return largest;
}

/* What is charged for a row that is replaced, beside one that is added: cells that exclude each other twice as much, and one cell less. */
static void
test_replaced(void **state)
{
	static const struct
	{
		const char *over;
		pe_continual_problem problem;
	}			known[] = {
		{"totals", {.periods = 52}},
		{"totals", {.periods = 52, .open_ended = true}},
		{"periods", {.periods = 2, .separate = true}},
		{"periods", {.periods = 52, .separate = true}},
		{"windows(4)", {.periods = 52, .history = 4}},
		{"totals + 2 * windows(5)", {.periods = 30}}
	};

	(void) state;
	for (int i = 0; i < lengthof(known); i++)
	{
		trial		t;
		pe_presence presence = {.row_is_unit = true, .append_only = true, .neighbours = PE_SUBSTITUTE};

		make(&t, known[i].over, known[i].problem);
		assert_true(factor_of(&t, presence) == 4 * factor_of(&t, row));
		for (int stays = 0; stays < 2; stays++)
		{
			double		one = fmax(largest_move(&t, stays == 0 || t.series.forgets), (double) factor_of(&t, row));

			presence.append_only = stays == 1;
			presence.similar = PE_WHOLE_SHARE;
			/* the last one has readings that count some periods negatively: two rows of one cell */
			assert_true(close_to(relative_factor(&t, presence), 2, i < 5 ? 1e-4 : 0.5) && relative_factor(&t, presence) > 1.9999);
			presence.similar = 2 * PE_WHOLE_SHARE;
			assert_true(close_to((double) factor_of(&t, presence), one, 1e-9));
			presence.similar = 0;
		}
		free_trial(&t);
	}
}

/* Units of several periods: twice where nothing can be below 0, four times else; and a longer series has no less. */
static void
test_replaced_units(void **state)
{
	pe_presence presence = {.max_periods = 3, .append_only = true, .neighbours = PE_SUBSTITUTE};
	pe_presence added = presence;
	pe_presence unit_of_one = {.max_periods = 1, .append_only = true, .neighbours = PE_SUBSTITUTE, .similar = PE_WHOLE_SHARE / 2};
	trial		t;
	pe_u128		before = 0;

	(void) state;
	added.neighbours = PE_ADD_REMOVE;
	make(&t, "totals", (pe_continual_problem) {.periods = 20, .open_ended = true});
	presence.similar = PE_WHOLE_SHARE - 1;
	assert_true(factor_of(&t, presence) == 4 * factor_of(&t, added));
	presence.similar = PE_WHOLE_SHARE;
	assert_true(factor_of(&t, presence) == 2 * factor_of(&t, added));
	/* two rows of one period, of a product of - 1/2 */
	assert_true(close_to(relative_factor(&t, unit_of_one), 3, 1e-4));
	/* another period may count at each reading */
	unit_of_one.append_only = false;
	assert_true(factor_of(&t, unit_of_one) == 4 * factor_of(&t, (pe_presence) {.max_periods = 1}));
	unit_of_one.append_only = true;
	free_trial(&t);
	make(&t, "windows(4)", (pe_continual_problem) {.periods = 20});
	assert_true(factor_of(&t, presence) == 4 * factor_of(&t, added));
	free_trial(&t);
	for (int periods = 398; periods <= 402; periods++)
	{
		make(&t, "totals", (pe_continual_problem) {.periods = periods, .open_ended = true});
		assert_true(factor_of(&t, unit_of_one) >= before);
		before = factor_of(&t, unit_of_one);
		free_trial(&t);
	}
}

/* A cut that moves loses more than a fixed one is charged: so it must be told apart. */
static void
test_moving_cut(void **state)
{
	static const struct
	{
		int			p;
		double		moving;
	}			known[] = {{1, 28}, {4, 126}, {12, 341}};
	trial		t;

	(void) state;
	make(&t, "totals", (pe_continual_problem) {.periods = 52});
	for (int i = 0; i < lengthof(known); i++)
		assert_true(fabs(relative_factor(&t, (pe_presence) {.max_periods = known[i].p}) - known[i].moving) < 0.5);
	free_trial(&t);
	/* rows that are deleted move the cut of an append-only table as well */
	make(&t, "totals", (pe_continual_problem) {.periods = 52, .history = 4});
	assert_true(factor_of(&t, (pe_presence) {.max_periods = 4, .append_only = true}) == factor_of(&t, (pe_presence) {.max_periods = 4}));
	free_trial(&t);
	make(&t, "totals", (pe_continual_problem) {.periods = 52, .history = 4, .separate = true});
	assert_true(factor_of(&t, (pe_presence) {.max_periods = 4, .append_only = true}) == 52);
	free_trial(&t);
	make(&t, "totals", (pe_continual_problem) {.periods = 52, .separate = true});
	assert_true(factor_of(&t, (pe_presence) {.max_periods = 4, .append_only = true}) == 4);
	assert_true(factor_of(&t, (pe_presence) {.max_periods = 4}) == 52);
	free_trial(&t);
}

static void
test_presence(void **state)
{
	(void) state;
	for (int i = 0; i < lengthof(pe_test_presence); i++)
	{
		const pe_presence_reference *known = &pe_test_presence[i];
		trial		t;

		if (too_long(known->periods))
			continue;
		make(&t, "totals", (pe_continual_problem) {.periods = known->periods, .gap = 1e-9});
		/* that program's bound is of real numbers; ours has integers, and the diagonal in every sum */
		assert_true(close_to(relative_factor(&t, (pe_presence) {.max_periods = known->max_periods, .append_only = true}), known->fixed, 5e-4));
		free_trial(&t);
	}
}

/* Negative entries count by their magnitude. */
static void
test_windows_of_units(void **state)
{
	trial		t;

	(void) state;
	make(&t, "windows(4)", (pe_continual_problem) {.periods = 52});
	assert_true(fabs(relative_factor(&t, (pe_presence) {.max_periods = 4, .append_only = true}) - 10.4) < 0.05);
	free_trial(&t);
}

/* ------------------------------------------------------------------
 * Units as they are cut (domain/units.h): what one loses, all readings together
 * ------------------------------------------------------------------
 */

#define CELLS 2

/* Rows of one unit: how many of each cell of each period, from reading to reading. */
typedef struct unit_rows
{
	int			rows[QUICK_PERIODS][CELLS];
	int			max_rows;
	pe_presence presence;
} unit_rows;

/* d_s of periods s = since .. t as reading t sees them: what the cut leaves of the unit's rows. */
static void
read_unit(const trial *t, const unit_rows *u, int32_t reading, int64_t *count)
{
	static const uint64_t unit[2] = {1, 2};
	int32_t		since = pe_continual_reads_since(&t->series, &u->presence, reading);
	int32_t		read = reading + 1 - since;
	int64_t		all[QUICK_PERIODS * CELLS] = {0};
	pe_unit_keys keys;
	pe_units	units;

	pe_unit_keys_init(&keys, &(pe_cut) {.max_rows = 1});
	pe_units_init(&units, QUICK_PERIODS * CELLS * 8);
	for (int32_t s = 0; s < read; s++)
		for (int32_t cell = 0; cell < CELLS; cell++)
			for (int i = 0; i < u->rows[since + s][cell]; i++)
			{
				if (units.entries == units.room)
					pe_units_make_room(&units);
				pe_units_add(&units, unit, s * CELLS + cell, true);
			}
	pe_units_sort(&units);
	pe_units_count(&units, &keys, u->max_rows, &(pe_periods_cut) {CELLS, u->presence.max_periods}, read * CELLS, all);
	pe_units_free(&units);
	memcpy(count, all + (pe_continual_since(&t->series, reading) - since) * CELLS,
		   (size_t) (reading + 1 - pe_continual_since(&t->series, reading)) * CELLS * sizeof(int64_t));
}

/* |sum_s L_ts d_s|^2 of one reading, as it is weighed. */
static double
loss_of_reading(const trial *t, const unit_rows *u, int32_t reading)
{
	int64_t		count[QUICK_PERIODS * CELLS];
	int64_t		z[CELLS];
	double		loss = 0;

	read_unit(t, u, reading, count);
	pe_continual_weigh(&t->series, reading, CELLS, count, z);
	for (int cell = 0; cell < CELLS; cell++)
		loss += (double) z[cell] * (double) z[cell];
	return loss;
}

static double
bound_of(const trial *t, const unit_rows *u)
{
	return (double) factor_of(t, u->presence) * u->max_rows * u->max_rows;
}

static void
change_rows(unit_rows *u, int32_t period)
{
	for (int cell = 0; cell < CELLS; cell++)
		u->rows[period][cell] = random_below(3) == 0 ? between(1, 4) : 0;
}

static unit_rows
any_unit(void)
{
	return (unit_rows) {.max_rows = between(1, 4), .presence = {.max_periods = between(1, 5), .append_only = random_below(2) == 0}};
}

/*
 * Where rows of closed periods stay, they come with their period.  Elsewhere each reading finds others: deleted, late, or no longer
 * of the predicate.  Neither ever loses more than is charged.
 */
static void
test_cut_of_units(void **state)
{
	static const pe_continual_problem problem[] = {
		{.periods = 12}, {.periods = 12, .history = 3}, {.periods = 12, .open_ended = true}, {.periods = 12, .separate = true},
		{.periods = 12, .separate = true, .history = 3}
	};
	double		most = 0;

	(void) state;
	for (int i = 0; i < lengthof(problem); i++)
	{
		trial		t;

		make(&t, i % 2 == 0 ? "totals + periods" : "windows(3)", problem[i]);
		for (int round = 0; round < fewer(2000, 100); round++)
		{
			unit_rows	u = any_unit();
			bool		stays = u.presence.append_only && problem[i].history == 0;
			double		loss = 0;

			for (int32_t reading = 0; reading < t.series.periods; reading++)
			{
				for (int32_t s = stays ? reading : 0; s <= reading; s++)
					change_rows(&u, s);
				loss += loss_of_reading(&t, &u, reading);
			}
			assert_true(loss <= bound_of(&t, &u));
			most = fmax(most, loss / bound_of(&t, &u));
		}
		free_trial(&t);
	}
	/* the bound is of use: some unit comes near it */
	assert_true(most > 0.5 && most <= 1);
}

/* The loss of a unit with a row in every period, whose rows are gone after so many, in units of a row's. */
static double
loss_of_forgotten(const trial *t, int max_periods, int periods)
{
	unit_rows	u = {.max_rows = 1, .presence = {.max_periods = max_periods}};
	double		loss = 0;

	for (int32_t reading = 0; reading < t->series.periods; reading++)
	{
		u.rows[reading][0] = 1;
		if (reading >= periods)
			u.rows[reading - periods][0] = 0;
		loss += loss_of_reading(t, &u, reading);
	}
	return loss / (double) factor_of(t, row);
}

/* What append_only promises is needed: where it is broken a unit loses what a moving cut is charged, and not what a fixed one is. */
static void
test_broken_promise(void **state)
{
	static const struct
	{
		int			p;
		double		fixed;
		double		broken;
	}			known[] = {{1, 1, 28}, {4, 13, 126}};
	trial		t;

	(void) state;
	make(&t, "totals", (pe_continual_problem) {.periods = 52});
	for (int i = 0; i < lengthof(known); i++)
	{
		assert_true(fabs(relative_factor(&t, (pe_presence) {.max_periods = known[i].p, .append_only = true}) - known[i].fixed) < 0.05);
		assert_true(fabs(loss_of_forgotten(&t, known[i].p, known[i].p) - known[i].broken) < 0.5);
	}
	free_trial(&t);
}

/* ------------------------------------------------------------------
 * Choosing, prolonging, keeping
 * ------------------------------------------------------------------
 */

static bool
chooses_periods(pe_continual_problem problem, pe_presence presence)
{
	trial		t;
	bool		separate;

	parse(&t, "totals");
	problem.over = &t.over;
	problem.gap = PE_CONTINUAL_GAP;
	assert_int_equal(pe_continual_choose(&problem, &presence, &t.series), PE_STRATEGY_OK);
	separate = t.series.strategy.triangle == NULL;
	assert_true(t.series.forgets == (problem.history > 0));
	free_trial(&t);
	return separate;
}

/* rmse 7.3 against 10.3 for p = 4, 19.4 against 17.8 for p = 12. */
static void
test_choice(void **state)
{
	const pe_continual_problem year = {.periods = 52};

	(void) state;
	assert_false(chooses_periods(year, row));
	assert_false(chooses_periods(year, (pe_presence) {.max_periods = 4, .append_only = true}));
	assert_true(chooses_periods(year, (pe_presence) {.max_periods = 12, .append_only = true}));
	assert_true(chooses_periods(year, (pe_presence) {.max_periods = 52}));
	assert_false(chooses_periods(year, (pe_presence) {.max_periods = 1}));
	assert_true(chooses_periods((pe_continual_problem) {.periods = 52, .objective = PE_MAX}, (pe_presence) {.max_periods = 52, .append_only = true}));
	assert_false(chooses_periods((pe_continual_problem) {.periods = 52, .history = 13}, row));
	assert_true(chooses_periods((pe_continual_problem) {.periods = 52, .history = 4}, (pe_presence) {.max_periods = 52, .append_only = true}));
}

/* Weeks 53 to 104 cost 9.5 % of the first year's charge, days 366 to 730 7.5 %; who has not paid pays all. */
static void
test_prolonged(void **state)
{
	static const int length[2][2] = {{52, 104}, {365, 730}};
	static const double more[] = {0.095, 0.075};

	(void) state;
	for (int i = 0; i < 2; i++)
	{
		trial		part;
		trial		whole;
		pe_u128		factor;
		const pe_presence unit = {.max_periods = 3, .append_only = true};

		make(&part, "totals", (pe_continual_problem) {.periods = length[i][0], .open_ended = true});
		make(&whole, "totals", (pe_continual_problem) {.periods = length[i][1], .open_ended = true});
		assert_true(pe_continual_prolonged(&part.series, &whole.series, &row, true, &factor));
		assert_true(factor == factor_of(&whole, row) - factor_of(&part, row));
		assert_true(fabs((double) factor / (double) factor_of(&part, row) - more[i]) < 5e-4);
		assert_true(pe_continual_prolonged(&part.series, &whole.series, &row, false, &factor));
		assert_true(factor == factor_of(&whole, row));
		assert_true(pe_continual_prolonged(&part.series, &whole.series, &unit, true, &factor));
		assert_true(factor == factor_of(&whole, unit) - factor_of(&part, unit));
		free_trial(&part);
		free_trial(&whole);
	}
}

/* Periods by themselves: nothing more for a row that is paid for, a period each for a cut that moves. */
static void
test_prolonged_apart(void **state)
{
	trial		part;
	trial		whole;
	pe_u128		factor;

	(void) state;
	make(&part, "totals", (pe_continual_problem) {.periods = 12, .separate = true});
	make(&whole, "totals", (pe_continual_problem) {.periods = 24, .separate = true});
	assert_true(pe_continual_prolonged(&part.series, &whole.series, &row, true, &factor) && factor == 0);
	assert_true(pe_continual_prolonged(&part.series, &whole.series, &row, false, &factor) && factor == 1);
	assert_true(pe_continual_prolonged(&part.series, &whole.series, &(pe_presence) {.max_periods = 2}, true, &factor) && factor == 12);
	free_trial(&part);
	free_trial(&whole);
}

/* A row of a period that is new loses as much as one of the first year did: c_52, and not the difference. */
static void
test_new_block(void **state)
{
	trial		part;
	trial		whole;
	int64_t		loss = 0;
	pe_u128		charged;

	(void) state;
	make(&part, "totals", (pe_continual_problem) {.periods = 52, .open_ended = true});
	make(&whole, "totals", (pe_continual_problem) {.periods = 104, .open_ended = true});
	for (int u = 52; u < 104; u++)
		loss += (int64_t) pe_continual_entry(&whole.series, u, 52) * pe_continual_entry(&whole.series, u, 52);
	assert_true((pe_u128) loss == factor_of(&part, row));
	assert_true(pe_continual_prolonged(&part.series, &whole.series, &row, false, &charged));
	assert_true(charged >= (pe_u128) loss);
	assert_true(pe_continual_prolonged(&part.series, &whole.series, &row, true, &charged));
	assert_true(charged < (pe_u128) loss);
	free_trial(&part);
	free_trial(&whole);
}

static bool
restores(const trial *t, pe_continual_problem problem, void (*change) (pe_strategy *strategy))
{
	size_t		size = pe_strategy_size(&t->series.strategy);
	char	   *bytes = pe_alloc(size, 1);
	pe_strategy read;
	pe_continual series;
	bool		same = false;

	pe_strategy_write(&t->series.strategy, bytes);
	assert_int_equal(pe_strategy_read(&read, bytes, size), PE_STRATEGY_OK);
	if (change != NULL)
		change(&read);
	problem.over = &t->over;
	if (pe_continual_restore(&problem, &read, &series))
	{
		same = series.window == t->series.window && series.forgets == t->series.forgets && series.queries == t->series.queries;
		for (int u = 0; u < series.periods; u++)
			for (int s = 0; s < series.periods; s++)
				same = same && pe_continual_entry(&series, u, s) == pe_continual_entry(&t->series, u, s);
		pe_continual_free(&series);
	}
	else
		pe_strategy_free(&read);
	pe_free(bytes);
	return same;
}

/* What was measured two periods ago is measured now, or another integer. */
static void
look_back(pe_strategy *strategy)
{
	strategy->triangle[(strategy->rows - 1) * strategy->rows / 2] += 1;
}

static void
swap_columns(pe_strategy *strategy)
{
	strategy->column_of[0] = 1;
	strategy->column_of[1] = 0;
}

static void
lose_diagonal(pe_strategy *strategy)
{
	strategy->triangle[0] = 0;
}

static void
test_kept(void **state)
{
	trial		t;

	(void) state;
	make(&t, "totals", (pe_continual_problem) {.periods = 12});
	assert_true(restores(&t, (pe_continual_problem) {.periods = 12}, NULL));
	assert_false(restores(&t, (pe_continual_problem) {.periods = 13}, NULL));
	assert_false(restores(&t, (pe_continual_problem) {.periods = 12, .history = 4}, NULL));
	assert_false(restores(&t, (pe_continual_problem) {.periods = 12, .open_ended = true}, NULL));
	assert_false(restores(&t, (pe_continual_problem) {.periods = 12}, swap_columns));
	assert_false(restores(&t, (pe_continual_problem) {.periods = 12}, lose_diagonal));
	free_trial(&t);
	make(&t, "totals", (pe_continual_problem) {.periods = 12, .history = 4});
	assert_true(restores(&t, (pe_continual_problem) {.periods = 12, .history = 4}, NULL));
	assert_false(restores(&t, (pe_continual_problem) {.periods = 12, .history = 4}, look_back));
	free_trial(&t);
	make(&t, "totals", (pe_continual_problem) {.periods = 12, .open_ended = true});
	assert_true(restores(&t, (pe_continual_problem) {.periods = 12, .open_ended = true}, NULL));
	assert_false(restores(&t, (pe_continual_problem) {.periods = 12, .open_ended = true}, look_back));
	free_trial(&t);
	make(&t, "totals", (pe_continual_problem) {.periods = 12, .history = 4, .separate = true});
	assert_true(restores(&t, (pe_continual_problem) {.periods = 12, .history = 4}, NULL));
	free_trial(&t);
}

/* ------------------------------------------------------------------
 * Measuring and answering
 * ------------------------------------------------------------------
 */

/* z against sums; counts that no table reaches count as the largest that does. */
static void
test_weigh(void **state)
{
	trial		t;
	int64_t		counts[12 * 3];
	int64_t		z[3];
	int64_t		most;

	(void) state;
	make(&t, "windows(3)", (pe_continual_problem) {.periods = 12, .history = 5});
	most = pe_continual_most(&t.series);
	for (int i = 0; i < lengthof(counts); i++)
		counts[i] = i == 4 ? INT64_MAX : i == 8 ? INT64_MIN : between(-1000000, 1000000);
	for (int u = 0; u < 12; u++)
	{
		int			since = pe_continual_since(&t.series, u);

		pe_continual_weigh(&t.series, u, 3, counts, z);
		for (int j = 0; j < 3; j++)
		{
			pe_i128		sum = 0;

			for (int s = since; s <= u; s++)
			{
				int64_t		count = counts[(s - since) * 3 + j];

				sum += (pe_i128) pe_continual_entry(&t.series, u, s) * (count > most ? most : count < -most ? -most : count);
			}
			assert_true(sum == z[j] && z[j] < INT64_C(1) << 62 && z[j] > -(INT64_C(1) << 62));
		}
	}
	free_trial(&t);
}

/* From exact measurements the exact answers, of two numbers at once; later measurements are not looked at. */
static void
test_combine(void **state)
{
	trial		t;
	double		x[12][2];
	double		e[12][2];
	double		estimate[2];

	(void) state;
	make(&t, "totals + windows(3) + periods", (pe_continual_problem) {.periods = 12});
	for (int s = 0; s < 12; s++)
		for (int j = 0; j < 2; j++)
			x[s][j] = between(0, 1000);
	for (int u = 0; u < 12; u++)
		for (int j = 0; j < 2; j++)
		{
			e[u][j] = 0;
			for (int s = 0; s <= u; s++)
				e[u][j] += pe_continual_entry(&t.series, u, s) * x[s][j];
		}
	for (int q = 0; q < t.series.queries; q++)
	{
		double		(*seen)[2] = pe_alloc((size_t) (q % 12 + 1), sizeof(*seen));

		memcpy(seen, e, (size_t) (q % 12 + 1) * sizeof(*seen));
		pe_continual_combine(&t.series, q, 2, &seen[0][0], estimate);
		pe_free(seen);
		for (int j = 0; j < 2; j++)
		{
			double		sum = 0;

			for (int s = pe_over_first(&t.over, 12, q); s <= q % 12; s++)
				sum += x[s][j];
			assert_true(fabs(estimate[j] - sum) < 1e-6);
		}
	}
	free_trial(&t);
}

static void
ask_nothing(void *arg)
{
	pe_u128		factor;

	(void) pe_continual_factor(arg, &(pe_presence) {0}, &factor);
}

static void
ask_beyond(void *arg)
{
	(void) pe_continual_entry(arg, 12, 0);
}

static void
prolong_what_ends(void *arg)
{
	pe_u128		factor;

	(void) pe_continual_prolonged(arg, arg, &row, true, &factor);
}

static void
test_bugs(void **state)
{
	trial		t;

	(void) state;
	make(&t, "totals", (pe_continual_problem) {.periods = 12});
	assert_true(pe_test_is_bug(ask_nothing, &t.series));
	assert_true(pe_test_is_bug(ask_beyond, &t.series));
	assert_true(pe_test_is_bug(prolong_what_ends, &t.series));
	free_trial(&t);
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
		cmocka_unit_test(test_language),
		cmocka_unit_test(test_refused_texts),
		cmocka_unit_test(test_too_many_terms),
		cmocka_unit_test(test_workload),
		cmocka_unit_test(test_optimum),
		cmocka_unit_test(test_standard_errors),
		cmocka_unit_test(test_largest_error),
		cmocka_unit_test(test_history),
		cmocka_unit_test(test_history_limits),
		cmocka_unit_test(test_open_end),
		cmocka_unit_test(test_other_ways),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_all_neighbours),
		cmocka_unit_test(test_replaced),
		cmocka_unit_test(test_replaced_units),
		cmocka_unit_test(test_moving_cut),
		cmocka_unit_test(test_presence),
		cmocka_unit_test(test_windows_of_units),
		cmocka_unit_test(test_cut_of_units),
		cmocka_unit_test(test_broken_promise),
		cmocka_unit_test(test_choice),
		cmocka_unit_test(test_prolonged),
		cmocka_unit_test(test_prolonged_apart),
		cmocka_unit_test(test_new_block),
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_weigh),
		cmocka_unit_test(test_combine),
		cmocka_unit_test(test_bugs),
	};

	return cmocka_run_group_tests(tests, seed, NULL);
}
