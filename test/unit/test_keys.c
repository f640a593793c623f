/*
 * test_keys.c
 *	  Keys that nobody has listed: the tail of the threshold against integers, sensitivity and delta against all
 *	  neighbours, how often a key of one unit passes, and counts by number.
 *
 * The tail is checked in integers: terms are brackets in units of 2^-100, each rounded away from the
 * truth, so that what they prove does not rest on the doubles of the code under test.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "accounting/conversion.h"
#include "accumulator/accumulator.h"
#include "counts/key_threshold.h"
#include "domain/keys.h"
#include "noise/noise.h"
#include "plan/plan.h"
#include "numbers.h"
#include "shim.h"

#define lengthof(array) ((int) (sizeof(array) / sizeof((array)[0])))

static int
cases(int count)
{
	return getenv("PG_EPSILON_QUICK") != NULL ? count / 100 + 1 : count;
}

/* ------------------------------------------------------------------
 * The law in integers
 * ------------------------------------------------------------------
 */

/* A number between low and high, in units of 2^-100; all are at most 2^20. */
#define BITS 100
#define UNIT ((pe_u128) 1 << BITS)

typedef struct bracket
{
	pe_u128		low;
	pe_u128		high;
} bracket;

/* a b 2^-100, rounded down, for a and b up to 1. */
static pe_u128
product(pe_u128 a, pe_u128 b)
{
	const pe_u128 half = ((pe_u128) 1 << 50) - 1;
	pe_u128		a1 = a >> 50;
	pe_u128		b1 = b >> 50;
	pe_u128		middle = a1 * (b & half) + b1 * (a & half) + ((a & half) * (b & half) >> 50);

	return a1 * b1 + (middle >> 50);
}

static bracket
times(bracket a, bracket b)
{
	return (bracket) {product(a.low, b.low), product(a.high, b.high) + 2};
}

/* exp(-n/d), by the series of exp(-x / 2^k), whose terms alternate and fall, squared k times. */
static bracket
exp_of(pe_u128 n, pe_u128 d)
{
	int			halvings = 0;
	bracket		x;
	bracket		term = {UNIT, UNIT};
	bracket		sum = {UNIT, UNIT};

	while (n > d >> 1)
	{
		d <<= 1;
		halvings++;
	}
	/* n/d in units of 2^-100, 25 bits at a time */
	x.low = 0;
	for (int i = 0; i < 4; i++)
	{
		n <<= 25;
		x.low = x.low << 25 | n / d;
		n %= d;
	}
	x.high = x.low + 1;
	for (int k = 1; k <= 40; k++)
	{
		term = times(term, x);
		term = (bracket) {term.low / (unsigned) k, term.high / (unsigned) k + 1};
		if (k % 2 == 1)
			sum = (bracket) {sum.low - term.high, sum.high - term.low};
		else
			sum = (bracket) {sum.low + term.low, sum.high + term.high};
	}
	sum.low -= 1;
	sum.high += 1;
	for (int k = 0; k < halvings; k++)
		sum = times(sum, sum);
	return sum;
}

/* exp(-y^2 q / (2p)) for y = 0, 1, ..., most - 1: neighbouring ones have a ratio of r^(2y + 1), r = exp(-q / (2p)). */
static bracket *
terms_of(pe_u128 p, uint64_t q, int most)
{
	bracket	   *term = malloc(most * sizeof(*term));
	bracket		r = exp_of(q, 2 * p);
	bracket		r2 = times(r, r);
	bracket		ratio = r;

	term[0] = (bracket) {UNIT, UNIT};
	for (int y = 1; y < most; y++)
	{
		term[y] = times(term[y - 1], ratio);
		ratio = times(ratio, r2);
	}
	return term;
}

/* delta_atto 1e-18 in units of 2^-100, rounded down. */
static pe_u128
units_of_atto(int64_t delta_atto)
{
	const pe_u128 atto = UINT64_C(1000000000000000000);
	pe_u128		shifted = (pe_u128) delta_atto << 60;

	return shifted / atto << 40 | (shifted % atto << 40) / atto;
}

/* Whether keys P[Y >= t] <= delta_atto 1e-18 for certain (1), not for certain (-1), or too near to tell (0). */
static int
passes(const bracket *term, int most, int t, int keys, int64_t delta_atto)
{
	bracket		tail = {0, 0};
	bracket		all = {UNIT, UNIT};

	for (int y = 1; y < most; y++)
	{
		all.low += 2 * term[y].low;
		all.high += 2 * term[y].high;
		if (y >= t)
		{
			tail.low += term[y].low;
			tail.high += term[y].high;
		}
	}
	/* beyond the last term there is less than 2^-90 in all */
	tail.high += (pe_u128) 1 << 10;
	all.high += (pe_u128) 1 << 11;
	if (tail.high * (unsigned) keys <= product(all.low, units_of_atto(delta_atto)))
		return 1;
	if (tail.low * (unsigned) keys > product(all.high, units_of_atto(delta_atto) + 1) + 2)
		return -1;
	return 0;
}

/* So many that the terms behind are below 2^-100. */
static int
terms_at_most(pe_u128 p, uint64_t q)
{
	return (int) (13 * sqrt((double) p / (double) q)) + 30;
}

/* The least t is proven to be one, and the one before it is proven to be none. */
static void
check_least_tail(pe_u128 p, uint64_t q, int keys, int64_t delta_atto)
{
	int			most = terms_at_most(p, q);
	bracket    *term = terms_of(p, q, most);
	int64_t		t = pe_keys_least_tail(p, q, keys, delta_atto);

	assert_in_range(t, 1, most - 1);
	assert_int_equal(passes(term, most, (int) t, keys, delta_atto), 1);
	if (t > 1)
		assert_int_equal(passes(term, most, (int) t - 1, keys, delta_atto), -1);
	free(term);
}

static void
test_tail_in_integers(void **state)
{
	static const int64_t delta[] = {INT64_C(1000000000000000), INT64_C(1000000000), INT64_C(1000000), 1000, 1, INT64_C(100000000000000000)};
	static const int keys[] = {1, 2, 3, 5, 20, 1000};

	for (int d = 0; d < lengthof(delta); d++)
		for (int k = 0; k < lengthof(keys); k++)
		{
			check_least_tail(50, 1, keys[k], delta[d]);
			check_least_tail(1, 200, keys[k], delta[d]);
			check_least_tail(1, 3, keys[k], delta[d]);
			check_least_tail(22, 7, keys[k], delta[d]);
			check_least_tail(2000003, 17, keys[k], delta[d]);
			check_least_tail(1048577, 1, keys[k], delta[d]);
		}
}

/* The bracket itself: of sigma^2 = 50 the tail at 43 is 9.5e-10 (Phi(-42.5 / sqrt 50) to three digits), and of exp(-1). */
static void
test_brackets(void **state)
{
	bracket		e = exp_of(1, 1);
	double		low = ldexp((double) e.low, -BITS);

	assert_true(e.low < e.high && e.high - e.low < 1000);
	assert_true(fabs(low - exp(-1)) < 1e-15);
	for (pe_u128 d = 1; d < 50; d += 7)
		for (pe_u128 n = 1; n < 60; n += 11)
		{
			e = exp_of(n, d);
			assert_true(e.low <= e.high && e.high - e.low < 100000);
			assert_true(fabs(ldexp((double) e.low, -BITS) - exp(-(double) n / (double) d)) < 1e-12 * exp(-(double) n / (double) d) + 1e-25);
		}
}

/* An upper bound of the tail, and not far above it, on both sides of the width from which on it is not added up. */
static void
test_tail_of_wide_noise(void **state)
{
	for (double sigma = 3900; sigma < 4400; sigma += 37)
	{
		pe_u128		p = (pe_u128) (sigma * sigma);
		long double	all = 1;

		for (int y = 1; y < 14 * 4400; y++)
			all += 2 * expl(-(long double) y * y / (2 * (long double) p));
		for (int times_sigma = 2; times_sigma <= 8; times_sigma++)
		{
			int64_t		t = (int64_t) (sigma * times_sigma);
			long double	tail = 0;
			double		told = pe_keys_tail(p, 1, t);

			for (int64_t y = t; y < 14 * 4400; y++)
				tail += expl(-(long double) y * y / (2 * (long double) p));
			assert_true(told >= tail / all);
			assert_true(told <= (double) (tail / all) * (1 + 1e-5));
		}
	}
}

/* Where it is too wide for int64, and what makes no sense. */
static void
test_least_tail_of_extremes(void **state)
{
	int64_t		t = pe_keys_least_tail((pe_u128) 1 << 80, 1, 7, 1000000000);
	double		z = (double) t / 0x1p40;

	assert_true(7 * erfc(z / sqrt(2)) / 2 <= 1e-9);
	assert_true(7 * erfc(z * (1 - 1e-9) / sqrt(2)) / 2 > 1e-9);
	assert_int_equal(pe_keys_least_tail((pe_u128) 1 << 126, 1, 1, 1000000000), 0);
	assert_int_equal(pe_keys_least_tail(50, 1, 1, 0), 0);
	assert_int_equal(pe_keys_least_tail(50, 1, 0, 5), 0);
}

/* ------------------------------------------------------------------
 * Plans
 * ------------------------------------------------------------------
 */

static pe_plan *
plan_of(pe_accounting accounting, pe_neighbours neighbours, int keys, double rho, double delta)
{
	const pe_plan_ask ask = {.accounting = accounting, .cap = accounting, .epsilon = NAN, .rho = rho, .max_stderr = NAN, .delta = 1e-9};
	const pe_plan_rules rules = {.neighbours = neighbours, .max_rows = keys, .cap = accounting};
	pe_plan    *plan;

	assert_int_equal(pe_plan_of_keys(&ask, &rules, delta, &plan), PE_PLAN_MADE);
	return plan;
}

static double
threshold_of(const pe_plan *plan)
{
	return ldexp((double) pe_plan_key_threshold(plan), -pe_noise_shift(pe_plan_key_noise(plan)));
}

/* The figures of the documentation. */
static void
test_thresholds(void **state)
{
	const struct { int keys; double rho; double delta; double tau; } known[] = {
		{1, 0.01, 1e-9, 44}, {5, 0.01, 1e-9, 101}, {5, 0.1, 1e-9, 33}, {1, 1e8, 1e-9, 2}
	};

	for (int i = 0; i < lengthof(known); i++)
	{
		pe_plan    *plan = plan_of(PE_ZCDP, PE_ADD_REMOVE, known[i].keys, known[i].rho, known[i].delta);
		pe_plan    *gdp = plan_of(PE_GDP, PE_ADD_REMOVE, known[i].keys, known[i].rho, known[i].delta);

		assert_true(fabs(threshold_of(plan) - known[i].tau) <= 1);
		/* on a finer lattice it is nearer to where the tail of the continuous law is */
		assert_true(threshold_of(gdp) <= threshold_of(plan) && threshold_of(gdp) > threshold_of(plan) - 1.5);
		pe_free(plan);
		pe_free(gdp);
	}
}

/* On the lattice of a release, in integers again: one more than the least noise that a key of one unit passes with. */
static void
test_thresholds_of_plans(void **state)
{
	for (int accounting = PE_ZCDP; accounting <= PE_GDP; accounting++)
		for (int substitute = 0; substitute <= 1; substitute++)
			for (int keys = 1; keys <= 3; keys++)
			{
				pe_neighbours neighbours = substitute ? PE_SUBSTITUTE : PE_ADD_REMOVE;
				pe_plan    *plan = plan_of(accounting, neighbours, keys, 0.5, 1e-6);
				const pe_noise *noise = pe_plan_key_noise(plan);
				int			shift = pe_noise_shift(noise);
				double		variance = pe_noise_stderr(noise) * pe_noise_stderr(noise);
				pe_amount	amount = pe_cost_amount(pe_plan_cost(plan));
				pe_u128		p;
				uint64_t	q;
				int64_t		t = pe_plan_key_threshold(plan) - (INT64_C(1) << shift);
				int			most;
				bracket    *term;

				assert_int_equal(amount.rho_nano, 500000000);
				assert_int_equal(amount.delta_atto, INT64_C(1000000000000));
				assert_int_equal(amount.epsilon_nano, 0);
				assert_int_equal(pe_plan_sensitivity(plan), keys * (substitute ? 2 : 1));
				assert_true(fabs(variance - keys * (substitute ? 2 : 1) / (2 * 0.5)) < 0.01);
				assert_true(pe_noise_gaussian_law(noise, &p, &q));
				most = terms_at_most(p, q);
				term = terms_of(p, q, most);
				assert_int_equal(passes(term, most, (int) t, keys, amount.delta_atto), 1);
				assert_int_equal(passes(term, most, (int) t - 1, keys, amount.delta_atto), -1);
				free(term);
				pe_free(plan);
			}
}

static void
test_refused_plans(void **state)
{
	const pe_plan_rules rules = {.neighbours = PE_ADD_REMOVE, .max_rows = 1};
	pe_plan_ask ask = {.accounting = PE_PURE, .cap = PE_GDP, .epsilon = 1, .rho = NAN, .max_stderr = NAN, .delta = 1e-9};
	pe_plan    *plan;

	assert_int_equal(pe_plan_of_keys(&ask, &rules, 1e-9, &plan), PE_PLAN_COST);
	pe_free(plan);
	ask.accounting = PE_GDP;
	assert_int_equal(pe_plan_of_keys(&ask, &rules, 1e-19, &plan), PE_PLAN_COST);
	pe_free(plan);
	ask.epsilon = 1e-12;
	assert_int_equal(pe_plan_of_keys(&ask, &rules, 1e-9, &plan), PE_PLAN_COST);
	pe_free(plan);
}

/* ------------------------------------------------------------------
 * Sensitivity: all tables of up to three rows, and all their neighbours
 * ------------------------------------------------------------------
 */

/* A unit's rows: how often it has each of three keys, 0 to 2. */
#define KEYS 3
#define CONTRIBUTIONS 27

typedef struct table
{
	int			units;
	int			contribution[3];
} table;

static void
count_table(const table *t, int k, int *count)
{
	const pe_key_spec spec = {.of_units = 1, .ranges = 1, .limit = 4};
	const pe_cut cut = {.key = {9, 8, 7}, .limit = 2, .max_rows = k, .ranges = 1};
	char		bytes[PE_READING_HEAD + sizeof(spec)];
	pe_accumulator a;
	pe_key_secret secret;
	pe_unit_keys keys;

	pe_reading_write(PE_READ_KEYS, bytes);
	memcpy(bytes + PE_READING_HEAD, &spec, sizeof(spec));
	assert_true(pe_accumulator_begin(&a, bytes, sizeof(bytes), &cut));
	for (int u = 0; u < t->units; u++)
		for (int key = 0, rest = t->contribution[u]; key < KEYS; key++, rest /= 3)
			for (int row = 0; row < rest % 3; row++)
				pe_accumulator_add_key(&a, (uint64_t[2]) {(uint64_t) u << 60, 5}, &"abc"[key], 1, true);
	(void) pe_accumulator_finish(&a);
	pe_key_counts_settle(&a.key_counts);
	pe_unit_keys_init(&keys, &cut);
	pe_key_secret_init(&secret, &keys);
	memset(count, 0, KEYS * sizeof(*count));
	for (size_t i = 0; i < a.key_counts.entries; i++)
		for (int key = 0; key < KEYS; key++)
			if (a.key_counts.entry[i].number == pe_key_number(&secret, &"abc"[key], 1))
				count[key] = (int) a.key_counts.entry[i].count;
	pe_accumulator_free(&a);
}

/* The squared distance on keys of both, and the keys that one has alone, each of one unit. */
static void
compare_tables(const table *one, const table *other, int k, int *squared, int *own)
{
	int			a[KEYS];
	int			b[KEYS];
	int			own_a = 0;
	int			own_b = 0;

	count_table(one, k, a);
	count_table(other, k, b);
	*squared = 0;
	for (int key = 0; key < KEYS; key++)
	{
		if (a[key] > 0 && b[key] > 0)
			*squared += (a[key] - b[key]) * (a[key] - b[key]);
		else if (a[key] > 0)
		{
			own_a++;
			assert_int_equal(a[key], 1);
		}
		else if (b[key] > 0)
		{
			own_b++;
			assert_int_equal(b[key], 1);
		}
	}
	*own = own_a > own_b ? own_a : own_b;
}

static void
test_sensitivity(void **state)
{
	for (int k = 1; k <= 3; k++)
	{
		int			worst[2] = {0, 0};
		int			most_own = 0;
		int			squared;
		int			own;

		for (int c = 0; c < CONTRIBUTIONS * CONTRIBUTIONS; c++)
			for (int changed = 0; changed < CONTRIBUTIONS; changed++)
			{
				table		with = {3, {c % CONTRIBUTIONS, c / CONTRIBUTIONS, changed}};
				table		without = {2, {c % CONTRIBUTIONS, c / CONTRIBUTIONS}};
				table		changed_more = {3, {c % CONTRIBUTIONS, c / CONTRIBUTIONS, CONTRIBUTIONS - 1 - changed}};

				compare_tables(&with, &without, k, &squared, &own);
				worst[0] = squared > worst[0] ? squared : worst[0];
				most_own = own > most_own ? own : most_own;
				compare_tables(&with, &changed_more, k, &squared, &own);
				worst[1] = squared > worst[1] ? squared : worst[1];
				most_own = own > most_own ? own : most_own;
			}
		assert_int_equal(worst[0], pe_keys_sensitivity_sq(PE_ADD_REMOVE, k));
		assert_true(worst[1] <= (int) pe_keys_sensitivity_sq(PE_SUBSTITUTE, k));
		if (k == 1)				/* with three keys in all, two disjoint sets of them have at most one key each */
			assert_int_equal(worst[1], 2);
		assert_int_equal(most_own, k);
	}
}

/* ------------------------------------------------------------------
 * How often a key that only one unit has passes
 * ------------------------------------------------------------------
 */

#define DELTA 1e-3

/* Of `runs` units, each with k keys of its own, how many have one that passes. */
static int64_t
units_that_pass(const pe_plan *plan, int k, int64_t runs)
{
	int64_t		step = 4096;
	pe_key_count *slot = calloc((size_t) (step * k), sizeof(*slot));
	pe_released_key *passed = calloc((size_t) (step * k), sizeof(*passed));
	int64_t		units = 0;

	for (int64_t i = 0; i < step * k; i++)
		slot[i] = (pe_key_count) {(pe_u128) (1 + i), 1};
	for (int64_t run = 0; run < runs; run += step)
	{
		pe_plan_key_run *draw = pe_plan_begin_keys(plan);
		size_t		found = pe_plan_draw_keys(draw, slot, (size_t) (step * k), passed, (size_t) (step * k));

		for (size_t i = 0; i < found; i++)
			units += i == 0 || (passed[i].number - 1) / (unsigned) k != (passed[i - 1].number - 1) / (unsigned) k;
		pe_plan_end_keys(draw);
	}
	free(slot);
	free(passed);
	return units;
}

/*
 * In n runs at most n delta + 6.2 sqrt(n delta) units: a count with a mean of at most n delta is above with a chance
 * below 1e-9.  And near what the law says, so that a threshold that is too high shows too.
 */
static void
test_own_keys_pass(void **state)
{
	int64_t		runs = cases(1000000);

	for (int accounting = PE_ZCDP; accounting <= PE_GDP; accounting++)
		for (int k = 1; k <= 3; k++)
		{
			pe_plan    *plan = plan_of(accounting, PE_ADD_REMOVE, k, 0.1, DELTA);
			pe_u128		p;
			uint64_t	q;
			double		tail;
			double		expected;
			int64_t		passed = units_that_pass(plan, k, runs);

			assert_true(pe_noise_gaussian_law(pe_plan_key_noise(plan), &p, &q));
			tail = pe_keys_tail(p, q, pe_plan_key_threshold(plan) - (INT64_C(1) << pe_noise_shift(pe_plan_key_noise(plan))));
			expected = (double) ((runs + 4095) / 4096 * 4096) * -expm1(k * log1p(-tail));
			assert_true(expected <= (double) ((runs + 4095) / 4096 * 4096) * DELTA);
			assert_true(fabs((double) passed - expected) <= 6.2 * sqrt(expected) + 6);
			print_message("accounting %d, k = %d: %lld of %lld units have a key that passes, %.1f expected\n", accounting, k,
						  (long long) passed, (long long) runs, expected);
			pe_free(plan);
		}
}

/* A slot without a key never passes, and no more keys are returned than asked for. */
static void
test_empty_slots(void **state)
{
	pe_plan    *plan = plan_of(PE_ZCDP, PE_ADD_REMOVE, 1, 1e-4, 0.4);
	pe_plan_key_run *run = pe_plan_begin_keys(plan);
	static pe_key_count slot[10000];
	static pe_released_key passed[10000];
	double		variance = 0;
	int			same = 0;

	assert_true(pe_plan_key_threshold(plan) < 100);	/* noise of 70 passes it often */
	assert_int_equal(pe_plan_draw_keys(run, slot, 10000, passed, 10000), 0);
	for (int i = 0; i < 10000; i++)
		slot[i] = (pe_key_count) {(pe_u128) (i + 1), 1000000};
	assert_int_equal(pe_plan_draw_keys(run, slot, 10000, passed, 10000), 10000);
	for (int i = 0; i < 10000; i++)
	{
		assert_true(passed[i].number == (pe_u128) (i + 1));
		assert_true(llabs(passed[i].value - 1000000) < 1000);
		variance += (double) (passed[i].value - 1000000) * (double) (passed[i].value - 1000000) / 10000;
		same += i > 0 && passed[i].value == passed[i - 1].value;
	}
	/* each count has noise of its own: 5000, with a deviation of 71; neighbours are the same with a chance of 0.004 */
	assert_true(fabs(variance - 5000) < 500);
	assert_true(same < 100);
	assert_int_equal(pe_plan_draw_keys(run, slot, 10000, passed, 17), 17);
	pe_plan_end_keys(run);
	pe_free(plan);
}

/* ------------------------------------------------------------------
 * Counts by number
 * ------------------------------------------------------------------
 */

/* Against counting one by one, with every limit, and in two parts that travel as bytes. */
static void
test_counts(void **state)
{
	pe_test_seed(4);
	for (int trial = 0; trial < cases(2000); trial++)
	{
		int			keys = 1 + random_below(trial % 2 == 0 ? 5 : 3000);
		int			rows = random_below(4000);
		static uint64_t told[3000];
		pe_key_counts counts;
		pe_key_counts part;
		char	   *bytes;
		size_t		size;

		memset(told, 0, sizeof(told));
		pe_key_counts_init(&counts, (size_t) (1 + random_below(3000)));
		pe_key_counts_init(&part, (size_t) (1 + random_below(3000)));
		for (int row = 0; row < rows; row++)
		{
			int			key = random_below(keys);

			told[key]++;
			/* numbers that have the first bytes in common among them */
			pe_key_counts_add(row % 3 == 0 ? &part : &counts, ((pe_u128) (key % 7) << 112) + (unsigned) key + 1, 1);
		}
		size = pe_key_counts_size(&part);
		bytes = malloc(size + 1);
		pe_key_counts_write(&part, bytes);
		assert_true(pe_key_counts_read(&counts, 0, 1, bytes, size));
		pe_key_counts_settle(&counts);
		for (size_t i = 0; i < counts.entries; i++)
		{
			int			key = (int) ((uint64_t) counts.entry[i].number) - 1;

			assert_true(i == 0 || counts.entry[i - 1].number < counts.entry[i].number);
			assert_int_equal(counts.entry[i].count, told[key]);
			told[key] = 0;
		}
		for (int key = 0; key < keys; key++)
			assert_int_equal(told[key], 0);
		free(bytes);
		pe_key_counts_free(&counts);
		pe_key_counts_free(&part);
	}
	pe_test_unseed();
}

/* As much memory for one key as for many. */
static void
test_memory_of_counts(void **state)
{
	size_t		memory[2];

	for (int many = 0; many < 2; many++)
	{
		pe_key_counts counts;

		(void) pe_test_memory();
		pe_key_counts_init(&counts, 1 << 16);
		for (int row = 0; row < 60000; row++)
			pe_key_counts_add(&counts, (pe_u128) 1 + (many ? (pe_u128) row << 90 : 0), 1);
		pe_key_counts_settle(&counts);
		assert_int_equal(counts.entries, many ? 60000 : 1);
		memory[many] = pe_test_memory();
		pe_key_counts_free(&counts);
	}
	/* but for what the C library rounds up */
	assert_true(labs((long) memory[0] - (long) memory[1]) < 16384);
}

/* Each key is in one range, and ranges have about the same number. */
static void
test_ranges(void **state)
{
	const pe_cut cut = {.key = {1}, .limit = 1, .max_rows = 1, .ranges = 1};
	pe_unit_keys keys;
	pe_key_secret secret;
	int			found[7] = {0};

	pe_unit_keys_init(&keys, &cut);
	pe_key_secret_init(&secret, &keys);
	for (int i = 0; i < 7000; i++)
	{
		pe_u128		number = pe_key_number(&secret, &i, sizeof(i));
		int			in = 0;

		assert_true(number > 0 && number < PE_KEY_NUMBERS);
		for (uint32_t range = 0; range < 7; range++)
			if (pe_key_in_range(number, range, 7))
			{
				found[range]++;
				in++;
			}
		assert_int_equal(in, 1);
	}
	for (int range = 0; range < 7; range++)
		assert_in_range(found[range], 800, 1200);
}

static void
test_names(void **state)
{
	static const pe_u128 number[3] = {5, 70, (pe_u128) 1 << 119};
	pe_key_names names;
	pe_key_names others;
	char		bytes[100];
	size_t		size;

	assert_true(pe_key_numbers_are_sound(number, 3));
	assert_false(pe_key_numbers_are_sound((pe_u128[]) {0}, 1));
	assert_false(pe_key_numbers_are_sound((pe_u128[]) {5, 5}, 2));
	assert_false(pe_key_numbers_are_sound((pe_u128[]) {6, 5}, 2));
	assert_false(pe_key_numbers_are_sound((pe_u128[]) {PE_KEY_NUMBERS}, 1));
	pe_key_names_init(&names, number, 3);
	pe_key_names_init(&others, number, 3);
	pe_key_names_add(&names, 70, "b", 1);
	pe_key_names_add(&names, 70, "ab", 2);
	pe_key_names_add(&names, 70, "abc", 3);
	pe_key_names_add(&names, 71, "none", 4);
	pe_key_names_add(&names, 5, "", 0);
	assert_int_equal(names.name[1].size, 2);
	assert_memory_equal(names.name[1].bytes, "ab", 2);
	size = pe_key_names_size(&names);
	assert_int_equal(size, 3 * 4 + 2);
	pe_key_names_write(&names, bytes);
	pe_key_names_add(&others, (pe_u128) 1 << 119, "z", 1);
	pe_key_names_add(&others, 70, "a", 1);
	assert_true(pe_key_names_read(&others, bytes, size));
	assert_true(others.name[0].bytes != NULL && others.name[0].size == 0);
	assert_int_equal(others.name[1].size, 1);	/* the smaller one of both */
	assert_int_equal(others.name[2].size, 1);
	for (size_t less = 0; less < size; less++)
	{
		char	   *exact = malloc(less + 1);

		memcpy(exact, bytes, less);
		assert_false(pe_key_names_read(&others, exact, less));
		free(exact);
	}
	memcpy(bytes, &(uint32_t) {PE_KEY_MOST + 2}, 4);
	assert_false(pe_key_names_read(&others, bytes, sizeof(bytes)));
	pe_key_names_free(&names);
	pe_key_names_free(&others);
}

/* ------------------------------------------------------------------
 * A predicate behind the specification
 * ------------------------------------------------------------------
 */

/* Whether a specification with so many attributes that span cells, and so many watched, is sound; cut: bytes left out. */
static bool
selection_is_sound(int attributes, int watched, bool with_predicate, size_t cut)
{
	const pe_key_spec spec = {.of_units = 1, .ranges = 1, .limit = 4};
	const pe_cut units = {.limit = 2, .max_rows = 1, .ranges = 1};
	pe_point	level[2] = {{.i = 3}, {.i = 5}};
	pe_attribute attribute = {
		.key = PE_KEY_INT, .kind = PE_LEVELS, .outside = PE_OUTSIDE_OTHER, .nulls = PE_NULLS_CELL, .points = 2, .point = level
	};
	uint8_t		truth[4] = {PE_TRUE, PE_FALSE, PE_FALSE, PE_UNKNOWN};
	pe_predicate_leaf leaf = {.attribute = 0, .cells = 4, .truth = truth};
	int32_t		step = 0;
	pe_predicate predicate = {.leaves = 1, .leaf = &leaf, .steps = 1, .step = &step};
	pe_domain	domain = {.attributes = attributes, .watched = watched, .cells = 1};
	const pe_predicate *given = with_predicate ? &predicate : NULL;
	char		bytes[PE_READING_HEAD + sizeof(spec) + 4096];
	pe_accumulator a;
	bool		sound;

	assert_int_equal(pe_attribute_prepare(&attribute), PE_DOMAIN_OK);
	domain.attribute[0] = attribute;
	if (attributes > 0)
	{
		domain.cells = 4;
		domain.stride[0] = 1;
	}
	pe_reading_write(PE_READ_KEYS, bytes);
	memcpy(bytes + PE_READING_HEAD, &spec, sizeof(spec));
	pe_selection_write(&domain, given, bytes + PE_READING_HEAD + sizeof(spec));
	sound = pe_accumulator_begin(&a, bytes, PE_READING_HEAD + sizeof(spec) + pe_selection_size(&domain, given) - cut, &units);
	if (sound)
	{
		int32_t		cell[2] = {0, 1};

		assert_int_equal(a.key_domain.watched, watched);
		assert_int_equal(a.key_domain.attributes, attributes);
		assert_true(!with_predicate || pe_predicate_selects(&a.key_predicate, &cell[0]));
		assert_false(with_predicate && pe_predicate_selects(&a.key_predicate, &cell[1]));
		pe_accumulator_free(&a);
	}
	pe_free(attribute.lookup);
	return sound;
}

static void
test_selection(void **state)
{
	(void) state;
	assert_true(selection_is_sound(0, 1, true, 0));
	assert_true(selection_is_sound(1, 0, true, 0));
	assert_true(selection_is_sound(1, 0, false, 0));
	assert_false(selection_is_sound(0, 1, false, 0));
	assert_false(selection_is_sound(0, 0, false, 0));
	for (size_t cut = 1; cut < 40; cut++)
		assert_false(selection_is_sound(0, 1, true, cut));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_brackets),
		cmocka_unit_test(test_tail_in_integers),
		cmocka_unit_test(test_tail_of_wide_noise),
		cmocka_unit_test(test_least_tail_of_extremes),
		cmocka_unit_test(test_thresholds),
		cmocka_unit_test(test_thresholds_of_plans),
		cmocka_unit_test(test_refused_plans),
		cmocka_unit_test(test_sensitivity),
		cmocka_unit_test(test_own_keys_pass),
		cmocka_unit_test(test_empty_slots),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_memory_of_counts),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_selection)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
