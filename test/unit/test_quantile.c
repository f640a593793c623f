/*
 * test_quantile.c
 *	  Quantiles from released ranks: isotonic regression against its formula, the variance against covariances, the
 *	  place of the quantile against a search, and how often intervals hold the quantile of the rows.
 *
 * Statistical tests use the system's randomness (statistics.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accounting/private.h"
#include "counts/quantile.h"
#include "noise/noise.h"
#include "numbers.h"
#include "shim.h"
#include "statistics.h"

#define MOST 40

/* ----------
 * Isotonic regression
 * ----------
 */
static double
mean_between(const double *value, int from, int to)
{
	double		sum = 0;

	for (int i = from; i <= to; i++)
		sum += value[i];
	return sum / (to - from + 1);
}

/* The largest, over what begins at or before i, of the smallest mean over what ends at or behind it. */
static double
isotonic_at(const double *value, int count, int i)
{
	double		most = -INFINITY;

	for (int a = 0; a <= i; a++)
	{
		double		least = INFINITY;

		for (int b = i; b < count; b++)
			least = fmin(least, mean_between(value, a, b));
		most = fmax(most, least);
	}
	return most;
}

static void
test_isotonic(void **state)
{
	(void) state;
	for (int round = 0; round < fewer(3000, 10); round++)
	{
		int			count = random_below(MOST);
		double		slope = uniform(-1, 2);
		double		value[MOST];
		double		fitted[MOST];

		for (int i = 0; i < count; i++)
			value[i] = round % 2 == 0 ? slope * i + normal() * 3 : random_below(4);
		pe_isotonic(count, value, fitted);
		for (int i = 0; i < count; i++)
			assert_true(fabs(fitted[i] - isotonic_at(value, count, i)) < 1e-9);
	}
}

static void
test_ascending(void **state)
{
	(void) state;
	for (int round = 0; round < fewer(1000, 10); round++)
	{
		int32_t		cells = between(1, MOST - 1);
		double		below[MOST] = {0};
		double		ascending[MOST];

		for (int e = 1; e <= cells; e++)
			below[e] = normal() * 10 + e;
		below[cells] = fmax(below[cells], 0.1);
		pe_ascending_ranks(cells, below, ascending);
		assert_true(ascending[0] == 0 && ascending[cells] == below[cells]);
		for (int e = 1; e <= cells; e++)
			assert_true(ascending[e] >= ascending[e - 1]);
	}
}

/* ----------
 * Variances
 * ----------
 */

/* F, N and N - F are sums of independent numbers with these weights: so are their variances. */
static void
test_variance(void **state)
{
	(void) state;
	for (int round = 0; round < 200; round++)
	{
		double		q = random_unit();
		double		below = 0;
		double		above = 0;
		double		total = 0;
		double		expected = 0;

		for (int i = 0; i < 20; i++)
		{
			double		f = normal();
			double		n = normal();

			below += f * f;
			total += n * n;
			above += (n - f) * (n - f);
			expected += (f - q * n) * (f - q * n);
		}
		assert_true(close_to(pe_quantile_variance(below, above, total, q), expected, 1e-10));
	}
	/* rounding does not make it negative */
	assert_true(pe_quantile_variance(1, 0, 1 + 1e-15, 1e-17) >= 0);
	assert_true(pe_quantile_variance(0, 1, 1.01, 0.5) >= 0);
}

/* ----------
 * The place, and the interval around it
 * ----------
 */
typedef struct measured
{
	int32_t		cells;
	double		below[MOST];
	double		ascending[MOST];
	double		below_variance[MOST];
	double		above_variance[MOST];
	pe_rank_estimates ranks;
} measured;

static void
finish(measured *m, const pe_noise *noise)
{
	pe_ascending_ranks(m->cells, m->below, m->ascending);
	m->ranks = (pe_rank_estimates) {
		.cells = m->cells, .below = m->below, .below_variance = m->below_variance, .above_variance = m->above_variance,
		.ascending = m->ascending, .total_stderr = pe_noise_stderr(noise) * sqrt(m->below_variance[m->cells])
	};
}

/* Rows below each edge. */
static void
true_ranks(int32_t cells, const int64_t *count, double *rank)
{
	rank[0] = 0;
	for (int e = 0; e < cells; e++)
		rank[e + 1] = rank[e] + (double) count[e];
}

/* Counts of cells, or the ranks of edges, each with noise of its own. */
static void
measure(bool ranks, pe_accounting accounting, int64_t nano, const pe_noise *noise, int32_t cells, const int64_t *count, measured *m)
{
	pe_allowance allowance = {.accounting = accounting, .left = nano};
	pe_i128		exact[MOST];
	int64_t		released[MOST];
	int64_t		sum = 0;

	for (int e = 0; e < cells; e++)
	{
		sum += count[e];
		exact[e] = ranks ? sum : count[e];
	}
	pe_noise_draw_fine(&allowance, 1, nano, exact, (size_t) cells, released);
	memset(m, 0, sizeof(*m));
	m->cells = cells;
	m->above_variance[0] = ranks ? 1 : cells;
	for (int e = 1; e <= cells; e++)
	{
		double		value = ldexp((double) released[e - 1], -pe_noise_shift(noise));

		m->below[e] = ranks ? value : m->below[e - 1] + value;
		m->below_variance[e] = ranks ? 1 : e;
		m->above_variance[e] = e == cells ? 0 : ranks ? 2 : cells - e;
	}
	finish(m, noise);
}

/* Where the ranks reach this one, which is in the interval. */
static void
check_point(const measured *m, double rank, const pe_quantile_place *place)
{
	int			k = 0;

	while (m->ascending[k + 1] < rank)
		k++;
	assert_int_equal(place->cell, k);
	assert_true(place->inside >= 0 && place->inside <= 1);
	assert_true(fabs(m->ascending[k] + place->inside * (m->ascending[k + 1] - m->ascending[k]) - rank) <= 1e-9 * (1 + fabs(rank)));
	assert_true(place->cell >= place->lower && place->cell < place->upper);
}

/* What the header says, by a search. */
static void
check_place(const measured *m, double q, pe_confidence *confidence, const pe_quantile_place *place)
{
	double		rank = q * m->below[m->cells];
	int			lower = 0;
	int			upper = m->cells;

	for (int side = 0; side < 2; side++)
		for (int i = 1; i < m->cells; i++)
		{
			int			e = side == 0 ? i : m->cells - i;
			double		variance = (1 - q) * m->below_variance[e] + q * m->above_variance[e] - q * (1 - q) * m->below_variance[m->cells];
			double		half = pe_confidence_half(confidence, variance, 0);

			if (side == 0 ? m->below[e] - rank >= -half : m->below[e] - rank <= half)
				break;
			if (side == 0)
				lower = e;
			else
				upper = e;
		}
	assert_int_equal(place->lower, lower);
	assert_int_equal(place->upper, upper);
	if (place->cell >= 0)
		check_point(m, rank, place);
	else
		assert_true(m->below[m->cells] <= 3 * m->ranks.total_stderr);
}

static void
test_place(void **state)
{
	(void) state;
	for (int round = 0; round < fewer(2000, 10); round++)
	{
		pe_accounting accounting = round % 2 == 0 ? PE_ZCDP : PE_PURE;
		int64_t		nano = INT64_C(1) << between(20, 30);
		pe_noise   *noise = pe_noise_to_read(accounting, 1, 0, nano);
		pe_confidence confidence;
		int32_t		cells = between(1, MOST - 2);
		int64_t		count[MOST];
		measured	m;
		pe_quantile_place place;

		for (int i = 0; i < cells; i++)
			count[i] = random_below(3) * random_below(200);
		measure(round % 3 == 0, accounting, nano, noise, cells, count, &m);
		pe_confidence_init(&confidence, noise, cells, PE_MISS);
		for (int i = 0; i < 20; i++)
		{
			double		q = uniform(0.001, 0.999);

			pe_quantile_find(&m.ranks, q, &confidence, &place);
			check_place(&m, q, &confidence, &place);
		}
		pe_confidence_free(&confidence);
		pe_free(noise);
	}
}

/* Totals that are not above three standard errors: an interval and no point.  Errors that nobody knows: a point alone. */
static void
test_half_of_it(void **state)
{
	pe_noise   *noise = pe_noise_to_read(PE_ZCDP, 1, 0, 1000000);
	double		three = 3 * pe_noise_stderr(noise);
	measured	m = {.cells = 2, .below = {0, 1, 2}, .below_variance = {0, 1, 1}, .above_variance = {1, 2, 0}};
	pe_confidence confidence;
	pe_quantile_place place;

	(void) state;
	pe_confidence_init(&confidence, noise, 2, PE_MISS);
	for (int i = 0; i < 5; i++)
	{
		m.below[2] = i == 0 ? -5 : i == 1 ? 0 : i == 2 ? three : i == 3 ? three * 1.001 : NAN;
		finish(&m, noise);
		pe_quantile_find(&m.ranks, 0.5, &confidence, &place);
		assert_true((place.cell >= 0) == (i == 3));
		assert_true(place.lower == 0 && place.upper == 2);
	}
	m.below[2] = 1;
	finish(&m, noise);
	m.ranks.total_stderr = 0;
	m.ranks.below_variance = NULL;
	pe_quantile_find(&m.ranks, 0.5, &confidence, &place);
	assert_true(place.lower == -1 && place.upper == -1 && place.cell == 0);
	pe_confidence_free(&confidence);
	pe_free(noise);
}

/* ----------
 * How often the interval holds the quantile
 * ----------
 */
static const double fractions[] = {0.02, 0.1, 0.25, 0.5, 0.75, 0.95};

#define FRACTIONS 6

typedef struct coverage
{
	const char *name;
	pe_accounting accounting;
	int64_t		nano;
	bool		ranks;
	int32_t		cells;
	int64_t		scale;			/* of the counts */
} coverage;

static const coverage coverages[] = {
	{"zcdp, cells", PE_ZCDP, 5000000, false, 16, 4},
	{"zcdp, ranks", PE_ZCDP, 5000000, true, 16, 4},
	{"gdp, cells", PE_GDP, 5000000, false, 30, 4},
	{"gdp, little noise", PE_GDP, 2000000000, false, 12, 1},
	{"zcdp, little noise", PE_ZCDP, 2000000000, true, 12, 1},
	{"pure, cells", PE_PURE, 100000000, false, 16, 4},
	{"pure, ranks", PE_PURE, 100000000, true, 30, 4},
	{"pure, little noise", PE_PURE, 2000000000, true, 8, 1},
};

/* So many rows in each cell that fractions fall on edges: the worst that there is. */
static void
rows_of(const coverage *c, int64_t *count)
{
	for (int i = 0; i < c->cells; i++)
		count[i] = c->scale * 5 * (i % 3 == 2 ? 0 : 1 + i % 4);
}

/* The cell that has the quantile: T(k) < q N <= T(k + 1). */
static int32_t
true_cell(const double *rank, int32_t cells, double q)
{
	int32_t		k = 0;

	while (rank[k + 1] < q * rank[cells] - 1e-9)
		k++;
	return k;
}

static void
check_coverage(const coverage *c, double *width)
{
	pe_noise   *noise = pe_noise_to_read(c->accounting, 1, 0, c->nano);
	long		n = scaled(20000);
	long		missed[2][FRACTIONS] = {{0}};	/* below and above the interval */
	double		widths = 0;
	pe_confidence confidence;
	int64_t		count[MOST];
	double		rank[MOST];

	rows_of(c, count);
	true_ranks(c->cells, count, rank);
	pe_confidence_init(&confidence, noise, c->cells, PE_MISS);
	for (long i = 0; i < n; i++)
	{
		measured	m;

		measure(c->ranks, c->accounting, c->nano, noise, c->cells, count, &m);
		for (int f = 0; f < FRACTIONS; f++)
		{
			pe_quantile_place place = {0};
			int32_t		k = true_cell(rank, c->cells, fractions[f]);

			pe_quantile_find(&m.ranks, fractions[f], &confidence, &place);
			missed[0][f] += k < place.lower;
			missed[1][f] += k >= place.upper;
			widths += (place.upper - place.lower) / (FRACTIONS * (double) n);
		}
	}
	for (int f = 0; f < FRACTIONS; f++)
		for (int side = 0; side < 2; side++)
		{
			double		z = ((double) missed[side][f] - 0.025 * (double) n) / sqrt(0.025 * 0.975 * (double) n);

			print_message("%s, %g: %.2f %% %s\n", c->name, fractions[f], 100.0 * (double) missed[side][f] / (double) n,
						  side == 0 ? "below" : "above");
			if (z > Z_MAX)
				fail_msg("%s: the interval of %g misses too often", c->name, fractions[f]);
		}
	*width = widths / c->cells;
	pe_confidence_free(&confidence);
	pe_free(noise);
}

static void
test_coverage(void **state)
{
	(void) state;
	for (int i = 0; i < lengthof(coverages); i++)
	{
		double		width;

		check_coverage(&coverages[i], &width);
		print_message("%s: %.0f %% of the cells\n", coverages[i].name, 100 * width);
		/* an interval that is everything says nothing */
		assert_true(width < 0.9);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_isotonic),
		cmocka_unit_test(test_ascending),
		cmocka_unit_test(test_variance),
		cmocka_unit_test(test_place),
		cmocka_unit_test(test_half_of_it),
		cmocka_unit_test(test_coverage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
