/*
 * test_coverage.c
 *	  How often the intervals of aggregates hold the truth, for few rows beside much noise: quotients, quantiles and what is
 *	  made of squares, through the functions that make all answers.
 *
 * Rows are fixed; noise is drawn.  Of the rows that count, as everywhere.  It prints a table; a longer run: PE_TEST_SCALE=10.
 *
 * Statistical tests use the system's randomness (statistics.h).
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counts/aggregate.h"
#include "counts/quantile.h"
#include "numbers.h"
#include "shim.h"
#include "statistics.h"

#define RHO .005
#define MOST_ROWS 5000

static const int sizes[] = {30, 40, 60, 100, 300};

/* What is wanted of all intervals, and of those that are bounded. */
#define ALL .945
#define BOUNDED .88

typedef struct tally
{
	long		all;
	long		bounded;
	long		known;			/* that have an estimate */
	long		held;
	long		held_bounded;
} tally;

/* Least lower than it should be, by more than chance: never by chance in 10^10 runs. */
static void
check_part(const char *what, long held, long of, double least)
{
	double		deviation = sqrt(least * (1 - least) * (double) of);

	if ((double) held < least * (double) of - Z_MAX * deviation - 1)
		fail_msg("%s: %.1f %% of %ld intervals hold the truth", what, 100.0 * (double) held / (double) of, of);
}

/* Those of one size.  Where few are bounded these are the ones whose denominator came out large: all sizes together are looked at. */
static void
report(const char *name, int rows, const tally *t)
{
	char		what[100];

	snprintf(what, sizeof(what), "%-34s %4d rows", name, rows);
	print_message("%s: %5.1f %% of all, %5.1f %% of the bounded ones, which are %5.1f %%; estimates %5.1f %%\n", what,
				  100.0 * (double) t->held / (double) t->all, t->bounded > 0 ? 100.0 * (double) t->held_bounded / (double) t->bounded : 100,
				  100.0 * (double) t->bounded / (double) t->all, 100.0 * (double) t->known / (double) t->all);
	check_part(what, t->held, t->all, ALL);
}

static void
add_tally(tally *to, const tally *t)
{
	to->all += t->all;
	to->bounded += t->bounded;
	to->known += t->known;
	to->held += t->held;
	to->held_bounded += t->held_bounded;
}

static void
check_bounded(const char *what, const tally *t)
{
	print_message("%-34s all sizes: %5.1f %% of the bounded ones\n", what, 100.0 * (double) t->held_bounded / (double) t->bounded);
	check_part(what, t->held_bounded, t->bounded, BOUNDED);
}

static void
count(tally *t, double truth, double estimate, double lower, double upper, bool bounded)
{
	bool		holds = lower <= truth && truth <= upper;

	t->all++;
	t->known += !isnan(estimate);
	t->held += holds;
	t->bounded += bounded;
	t->held_bounded += bounded && holds;
}

/* ------------------------------------------------------------------
 * Aggregates of sums
 * ------------------------------------------------------------------
 */

/* x in [0, 100], y in [0, 50], z in [1000, 1100]; condition a holds for about 3 rows in 10. */
typedef struct group
{
	int			rows;
	double		x[MOST_ROWS][3];
	bool		a[MOST_ROWS];
	double		skewed[MOST_ROWS];	/* most of them are in the first bins */
} group;

/* Rows are the same in each run. */
static uint64_t row_state;

static double
row_unit(void)
{
	row_state = row_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return ((double) (row_state >> 11) + .5) * 0x1p-53;
}

static double
row_normal(void)
{
	return sqrt(-2 * log(row_unit())) * cos(2 * acos(-1.0) * row_unit());
}

static double
within(double low, double high, double value)
{
	return fmin(high, fmax(low, rint(value)));
}

static void
make_group(group *g, int rows)
{
	g->rows = rows;
	row_state = (uint64_t) rows;
	for (int i = 0; i < rows; i++)
	{
		double		common = row_normal();

		g->x[i][0] = within(0, 100, 50 + 25 * common);
		g->x[i][1] = within(0, 50, 15 + 8 * common + 6 * row_normal());
		g->x[i][2] = within(1000, 1100, 1050 + 20 * row_normal());
		g->a[i] = row_unit() < .3;
		g->skewed[i] = 100 * pow(row_unit(), 4);
	}
}

typedef struct request
{
	pe_aggregate aggregate;
	pe_sums		sums;
	pe_sum		sum[PE_MAX_SUMS];
	double		variance[PE_MAX_SUMS];	/* at the whole cost */
	uint64_t	share[PE_MAX_SUMS];
	pe_norm		norm;
} request;

static void
resolve(pe_aggregate *a)
{
	for (int i = 0; i < 2; i++)
	{
		if (a->column[i] != NULL && a->kind != PE_AGG_COUNT)
			a->number[i] = a->column[i][0] - 'x';
		if (a->part[i] != NULL)
			resolve(a->part[i]);
	}
	a->condition = a->where != NULL ? 0 : -1;
}

/* What a measurement of one count alone has: rho, or a pure epsilon that costs as much. */
static double
unit_stderr(pe_norm norm)
{
	return norm == PE_L1 ? sqrt(2) / sqrt(2 * RHO) : sqrt(1 / (2 * RHO));
}

static void
ask(request *r, const char *text, pe_norm norm)
{
	pe_text_error error;

	memset(r, 0, sizeof(*r));
	r->sums.sum = r->sum;
	r->sums.numbers = 3;
	r->norm = norm;
	assert_true(pe_number_init(&r->sums.number[0], 0, 100, true, true));
	assert_true(pe_number_init(&r->sums.number[1], 0, 50, true, true));
	assert_true(pe_number_init(&r->sums.number[2], 1000, 1100, true, true));
	assert_true(pe_aggregate_parse(text, NULL, &r->aggregate, &error));
	resolve(&r->aggregate);
	assert_true(pe_aggregates_sums(&r->aggregate, 1, 7, 0, PE_BASIS_CENTRED, &r->sums));
	for (int s = 0; s < r->sums.sums; s++)
		r->variance[s] = pow((double) pe_sum_bound(&r->sums, &r->sum[s]) * ldexp(1, pe_sum_shift(&r->sums, &r->sum[s])) * unit_stderr(norm), 2);
	pe_aggregates_share(&r->sums, &r->aggregate, 1, norm, NULL, r->variance, r->share);
}

/* The sums as they are, with the variances that their measurements have. */
static void
add_up(const request *r, const group *g, pe_sum_estimate *truth)
{
	memset(truth, 0, (size_t) r->sums.sums * sizeof(*truth));
	for (int i = 0; i < g->rows; i++)
	{
		const uint64_t has = PE_HAS_NUMBER(0) | PE_HAS_NUMBER(1) | PE_HAS_NUMBER(2) | (g->a[i] ? PE_HAS_CONDITION(0) : 0);
		const uint8_t counts = 1;
		int32_t		u[3];

		for (int n = 0; n < 3; n++)
			assert_true(pe_number_place(&r->sums.number[n], g->x[i][n], &u[n]));
		for (int s = 0; s < r->sums.sums; s++)
		{
			int64_t		weight;

			pe_sum_weigh(&r->sums, &r->sum[s], u, 1, &has, &counts, 1, &weight);
			truth[s].value += ldexp((double) weight, pe_sum_shift(&r->sums, &r->sum[s]));
		}
	}
	for (int s = 0; s < r->sums.sums; s++)
	{
		double		share = (double) r->share[s] / (double) PE_WHOLE_SHARE;

		truth[s].variance = r->variance[s] / (r->norm == PE_L1 ? share * share : share);
	}
}

static double
noise(pe_norm norm, double stderr_)
{
	if (norm == PE_L1)
		return (random_below(2) ? 1 : -1) * stderr_ / sqrt(2) * log(uniform(0x1p-53, 1));
	return stderr_ * normal();
}

/* Of exact sums the estimate is the truth. */
static double
truth_of(const request *r, const pe_sum_estimate *truth)
{
	pe_sum_estimate exact[PE_MAX_SUMS];
	pe_error_law law = pe_error_law_of(false, .05);
	pe_quotient answer;

	for (int s = 0; s < r->sums.sums; s++)
		exact[s] = (pe_sum_estimate) {truth[s].value, 0};
	pe_aggregate_answer_of(&r->sums, &r->aggregate, exact, NULL, NULL, &law, &answer);
	assert_false(isnan(answer.estimate));
	return answer.estimate;
}

static bool
is_word(const request *r, const char *word)
{
	return strcmp(pe_aggregate_word(&r->aggregate), word) == 0;
}

static bool
is_bounded(const request *r, const pe_quotient *answer)
{
	if (is_word(r, "regr_r2"))
		return !(answer->lower == 0 && answer->upper == 1);
	if (is_word(r, "corr"))
		return !(answer->lower == -1 && answer->upper == 1);
	return isfinite(answer->upper);
}

static tally
run(const char *text, pe_norm norm, int rows, long draws)
{
	static group g;
	request		r;
	pe_sum_estimate truth[PE_MAX_SUMS];
	pe_error_law law = pe_error_law_of(norm == PE_L1, .05);
	tally		t = {0};
	char		name[60];
	double		value;

	make_group(&g, rows);
	ask(&r, text, norm);
	add_up(&r, &g, truth);
	value = truth_of(&r, truth);
	for (long i = 0; i < draws; i++)
	{
		pe_sum_estimate estimate[PE_MAX_SUMS];
		pe_quotient answer;

		for (int s = 0; s < r.sums.sums; s++)
			estimate[s] = (pe_sum_estimate) {truth[s].value + noise(norm, sqrt(truth[s].variance)), truth[s].variance};
		pe_aggregate_answer_of(&r.sums, &r.aggregate, estimate, NULL, NULL, &law, &answer);
		/* every bounded set is told with its estimate, unless a variance is not above 0; that of a correlation may be all there are */
		if (!is_word(&r, "var") && !is_word(&r, "stddev") && !is_word(&r, "corr") && !is_word(&r, "regr_r2"))
			assert_true(isnan(answer.estimate) || is_bounded(&r, &answer));
		if (!isnan(answer.estimate))
			assert_true(answer.lower <= answer.estimate && answer.estimate <= answer.upper);
		count(&t, value, answer.estimate, answer.lower, answer.upper, is_bounded(&r, &answer));
	}
	snprintf(name, sizeof(name), "%s%s", text, norm == PE_L1 ? ", pure" : "");
	report(name, rows, &t);
	pe_aggregate_free(&r.aggregate);
	return t;
}

static void
run_all(const char *text, long draws)
{
	tally		all = {0};

	for (int i = 0; i < lengthof(sizes); i++)
	{
		tally		t = run(text, PE_L2, sizes[i], draws);

		add_tally(&all, &t);
	}
	check_bounded(text, &all);
}

static void
test_quotients(void **state)
{
	(void) state;
	run_all("avg(x)", scaled(40000));
	run_all("avg(z)", scaled(40000));
	run_all("ratio(sum(x), count(*))", scaled(40000));
	run_all("ratio(sum(x), sum(y))", scaled(40000));
	run_all("ratio(count(*) where (a), count(*))", scaled(40000));
	run_all("ratio(sum(z) where (a), sum(z))", scaled(40000));
	run("avg(x)", PE_L1, 60, scaled(2000));
	run("ratio(count(*) where (a), count(*))", PE_L1, 300, scaled(2000));
}

static void
test_moments(void **state)
{
	static const char *const texts[] = {
		"corr(x, y)", "regr_slope(y, x)", "var(x)", "stddev(y)", "covar_samp(y, x)", "regr_intercept(y, x)", "regr_r2(y, x)"
	};

	(void) state;
	for (int i = 0; i < lengthof(texts); i++)
	{
		run_all(texts[i], scaled(12000));
		run(texts[i], PE_L2, 1000, scaled(12000));
		run(texts[i], PE_L2, 2000, scaled(12000));
		run(texts[i], PE_L2, 5000, scaled(12000));
		run(texts[i], PE_L1, 2000, scaled(2000));
	}
}

/* ------------------------------------------------------------------
 * Shares
 * ------------------------------------------------------------------
 */

/* One group of ten, of counts that are all measured by themselves. */
static tally
run_share(int rows, long draws)
{
	request		r;
	double		sigma = unit_stderr(PE_L2);
	pe_error_law law = pe_error_law_of(false, .05);
	tally		t = {0};

	ask(&r, "share", PE_L2);
	for (long i = 0; i < draws; i++)
	{
		double		own = noise(PE_L2, sigma);
		pe_sum_estimate n = {rows / 5. + own, sigma * sigma};
		pe_sum_total total = {{rows + own + noise(PE_L2, 3 * sigma), 10 * sigma * sigma}, sigma * sigma};
		pe_quotient answer;

		pe_aggregate_answer_of(&r.sums, &r.aggregate, &n, NULL, &total, &law, &answer);
		count(&t, .2, answer.estimate, answer.lower, answer.upper, isfinite(answer.upper));
	}
	report("share", rows, &t);
	pe_aggregate_free(&r.aggregate);
	return t;
}

static void
test_shares(void **state)
{
	tally		all = {0};

	(void) state;
	for (int i = 0; i < lengthof(sizes); i++)
	{
		tally		t = run_share(sizes[i], scaled(40000));

		add_tally(&all, &t);
	}
	check_bounded("share", &all);
}

/* ------------------------------------------------------------------
 * Sums by atoms
 * ------------------------------------------------------------------
 */

/* A rate: units that have it and units that do not are measured. */
static tally
run_rate(pe_norm norm, int rows, double rate, long draws)
{
	static const double of_some[] = {1, 0};
	static const double of_all[] = {1, 1};
	request		r;
	double		sigma = unit_stderr(norm);
	pe_error_law law = pe_error_law_of(norm == PE_L1, .05);
	tally		t = {0};

	ask(&r, "ratio(count(*) where (a), count(*))", norm);
	for (long i = 0; i < draws; i++)
	{
		double		one = noise(norm, sigma);
		double		rest = noise(norm, sigma);
		int			some = r.aggregate.part[0]->sum[PE_USE_N];
		pe_sum_estimate estimate[2];
		pe_sum_noise common[2];
		pe_quotient answer;

		estimate[some] = (pe_sum_estimate) {rate * rows + one, sigma * sigma};
		estimate[1 - some] = (pe_sum_estimate) {rows + one + rest, 2 * sigma * sigma};
		common[some] = (pe_sum_noise) {of_some, 2, sigma, 0};
		common[1 - some] = (pe_sum_noise) {of_all, 2, sigma, 0};
		pe_aggregate_answer_of(&r.sums, &r.aggregate, estimate, common, NULL, &law, &answer);
		count(&t, rate, answer.estimate, answer.lower, answer.upper, isfinite(answer.upper));
	}
	report(norm == PE_L1 ? "rate by atoms, pure" : "rate by atoms", rows, &t);
	pe_aggregate_free(&r.aggregate);
	return t;
}

static void
test_rates(void **state)
{
	tally		all = {0};

	(void) state;
	for (int i = 0; i < lengthof(sizes); i++)
	{
		tally		t = run_rate(PE_L2, sizes[i], .5, scaled(40000));

		add_tally(&all, &t);
		t = run_rate(PE_L2, sizes[i], .1, scaled(40000));
		add_tally(&all, &t);
	}
	check_bounded("rate by atoms", &all);
	run_rate(PE_L1, 300, .3, scaled(2000));
}

/* ------------------------------------------------------------------
 * Quantiles
 * ------------------------------------------------------------------
 */

#define BINS 20

/* Rows by bins of 5. */
static void
count_cells(const double *value, int rows, int64_t *count)
{
	memset(count, 0, BINS * sizeof(*count));
	for (int i = 0; i < rows; i++)
		count[(int) fmin(BINS - 1, value[i] / (100. / BINS))]++;
}

static void
count_values(const group *g, bool skewed, int64_t *count)
{
	double		x[MOST_ROWS];

	for (int i = 0; i < g->rows; i++)
		x[i] = g->x[i][0];
	count_cells(skewed ? g->skewed : x, g->rows, count);
}

/* The bin that has the quantile. */
static int
cell_of(const int64_t *count, double rank)
{
	int64_t		below = 0;
	int			k = -1;

	while (k < BINS - 1 && (double) below < rank - 1e-9)
		below += count[++k];
	return k;
}

static void
measure(const int64_t *count, double sigma, double *below)
{
	below[0] = 0;
	for (int e = 1; e <= BINS; e++)
		below[e] = below[e - 1] + (double) count[e - 1] + sigma * normal();
}

static void
run_quantile(double fraction, bool skewed, int rows, long draws)
{
	static group g;
	pe_noise   *law = pe_noise_to_read(PE_ZCDP, 1, 0, (int64_t) (RHO * 1e9));
	double		sigma = pe_noise_stderr(law);
	double		below_variance[BINS + 1];
	double		above_variance[BINS + 1];
	pe_confidence confidence;
	int64_t		cells[BINS];
	tally		t = {0};
	char		name[60];
	int			truth;

	make_group(&g, rows);
	count_values(&g, skewed, cells);
	truth = cell_of(cells, fraction * rows);
	for (int e = 0; e <= BINS; e++)
	{
		below_variance[e] = e;
		above_variance[e] = BINS - e;
	}
	pe_confidence_init(&confidence, law, BINS, PE_MISS);
	for (long i = 0; i < draws; i++)
	{
		double		below[BINS + 1];
		double		ascending[BINS + 1];
		pe_rank_estimates ranks = {BINS, below, below_variance, above_variance, ascending, sigma * sqrt(below_variance[BINS])};
		pe_quantile_place place;

		measure(cells, sigma, below);
		pe_ascending_ranks(BINS, below, ascending);
		pe_quantile_find(&ranks, fraction, &confidence, &place);
		assert_true(place.lower >= 0 && place.lower < place.upper && place.upper <= BINS);
		count(&t, truth, place.cell < 0 ? NAN : place.cell, place.lower, place.upper - 1, true);
	}
	snprintf(name, sizeof(name), "quantile(%s, %g)", skewed ? "skewed" : "x", fraction);
	report(name, rows, &t);
	pe_confidence_free(&confidence);
	pe_free(law);
}

static void
test_quantiles(void **state)
{
	static const double fractions[] = {.1, .25, .5, .9};

	(void) state;
	for (int f = 0; f < lengthof(fractions); f++)
		for (int i = 0; i < lengthof(sizes); i++)
		{
			run_quantile(fractions[f], false, sizes[i], scaled(40000));
			run_quantile(fractions[f], true, sizes[i], scaled(40000));
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quotients),
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_moments),
		cmocka_unit_test(test_quantiles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
