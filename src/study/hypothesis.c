/*
 * hypothesis.c
 *	  Tests of hypotheses from noisy tables and noisy sums.  See hypothesis.h.
 */
#include "study/hypothesis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/linalg.h"
#include "noise/interval.h"
#include "strategy/solve.h"
#include "study/table_one.h"

/* A level of fewer rows is empty. */
#define LEAST_ROWS 0.5

/* What is expected of a cell is not known better than to this part of its noise (hypothesis.h). */
#define LEAST_EXPECTED (1.0 / 3)

/*
 * A number of rows says something if it is above so many standard deviations of its noise; and enough to divide sums
 * of values by it, whose replicates are those of rows that are about as many.
 */
#define KNOWN 3
#define WELL_KNOWN 12

/* Statistics that differ by rounding are the same. */
#define SAME (1 - 1e-9)

/* ------------------------------------------------------------------
 * Replicates
 * ------------------------------------------------------------------
 */

/* A test: what is done with numbers, observed ones and those of a replicate alike. */
typedef struct test
{
	int32_t		rows;			/* without those that are left out */
	int32_t		columns;
	int32_t    *cell;			/* of each cell that is left: which one of the table's */
	const pe_table_noise *noise;
	double	   *count;			/* observed */
	double	   *variance;		/* of the noise of each */

	double		(*statistic) (struct test *t, const double *count);
	void		(*sample) (struct test *t, pe_dice *dice, double *count);

	double	   *row;			/* totals, as they were fitted last */
	double	   *column;
	double		total;
	double	   *score[2];		/* of trend: of the levels that are left */
	double	   *expected;		/* probabilities under the hypothesis */
	double		rows_seen;		/* how many rows replicates have */

	/* of means, by group */
	double		most;
	double	   *spread;			/* variances under the hypothesis; room for one number for each cell */
	double		mean;			/* that all have */
	double		df;
	double		error;			/* of a difference of two means, squared, as it was computed last */
} test;

static int32_t
cells_of(const test *t)
{
	return t->rows * t->columns;
}

static void
begin(test *t, const pe_noisy_table *table, const bool *row_left, const bool *column_left)
{
	int32_t		all = table->rows * table->columns;

	t->noise = table->noise;
	t->cell = pe_alloc(all, sizeof(int32_t));
	t->count = pe_la_vector(all);
	t->variance = pe_la_vector(all);
	for (int32_t j = 0; j < table->columns; j++)
		t->columns += column_left[j];
	for (int32_t i = 0, k = 0; i < table->rows; i++)
	{
		t->rows += row_left[i];
		for (int32_t j = 0; j < table->columns; j++)
			if (row_left[i] && column_left[j])
				t->cell[k++] = i * table->columns + j;
	}
	for (int32_t k = 0; k < cells_of(t); k++)
	{
		t->count[k] = table->count[t->cell[k]];
		t->variance[k] = t->noise->covariance[(size_t) t->cell[k] * (all + 1)];
	}
	t->row = pe_la_vector(t->rows);
	t->column = pe_la_vector(t->columns);
	t->expected = pe_la_vector(all);
	t->spread = pe_la_vector(all);
}

static void
begin_whole(test *t, const pe_noisy_table *table)
{
	int32_t		most = table->rows > table->columns ? table->rows : table->columns;
	bool	   *all = pe_alloc(most, sizeof(bool));

	memset(all, true, most * sizeof(bool));
	begin(t, table, all, all);
	pe_free(all);
}

static void
end(test *t)
{
	pe_free(t->cell);
	pe_free(t->count);
	pe_free(t->variance);
	pe_free(t->row);
	pe_free(t->column);
	pe_free(t->expected);
	pe_free(t->spread);
	pe_free(t->score[0]);
	pe_free(t->score[1]);
}

static void
add_noise(const test *t, pe_dice *dice, double *drawn, double *count)
{
	t->noise->draw(t->noise, dice, drawn);
	for (int32_t k = 0; k < cells_of(t); k++)
		count[k] += drawn[t->cell[k]];
}

/* p-value; statistic: absolute values of all replicates, NULL: they are not wanted. */
static double
bootstrap(test *t, const pe_bootstrap *how, double observed, double *statistic)
{
	double	   *drawn = pe_la_vector(t->noise->cells);
	double	   *count = pe_la_vector(cells_of(t));
	int32_t		as_large = 0;
	pe_dice		dice;

	pe_dice_init(&dice, how->seed);
	for (int32_t i = 0; i < how->replicates; i++)
	{
		double		s;

		pe_poll();
		t->sample(t, &dice, count);
		add_noise(t, &dice, drawn, count);
		s = fabs(t->statistic(t, count));
		as_large += s >= fabs(observed) * SAME;
		if (statistic != NULL)
			statistic[i] = s;
	}
	pe_free(count);
	pe_free(drawn);
	return (1 + (double) as_large) / (1 + (double) how->replicates);
}

static pe_test_result
nothing_known(void)
{
	return (pe_test_result) {NAN, NAN, 1, NAN, NAN, NAN};
}

/* ------------------------------------------------------------------
 * Totals
 * ------------------------------------------------------------------
 */

/* The totals of a table, brought to the nearest ones not below 0; false if there are no rows. */
static bool
fit_totals(int32_t rows, int32_t columns, const double *count, double *row, double *column, double *total)
{
	memset(row, 0, rows * sizeof(double));
	memset(column, 0, columns * sizeof(double));
	*total = 0;
	for (int32_t i = 0; i < rows; i++)
		for (int32_t j = 0; j < columns; j++)
		{
			double		c = count[i * columns + j];

			row[i] += c;
			column[j] += c;
			*total += c;
		}
	if (!(*total > 0))
		return false;
	pe_nonnegative_nearest(rows, *total, row);
	pe_nonnegative_nearest(columns, *total, column);
	return true;
}

/* Which levels have rows; false if a table of these says nothing. */
static bool
find_levels(const pe_noisy_table *table, bool *row_left, bool *column_left)
{
	double	   *row = pe_la_vector(table->rows);
	double	   *column = pe_la_vector(table->columns);
	int32_t		rows = 0;
	int32_t		columns = 0;
	double		total;
	bool		any = fit_totals(table->rows, table->columns, table->count, row, column, &total);

	for (int32_t i = 0; i < table->rows; i++)
		rows += row_left[i] = any && row[i] >= LEAST_ROWS;
	for (int32_t j = 0; j < table->columns; j++)
		columns += column_left[j] = any && column[j] >= LEAST_ROWS;
	pe_free(row);
	pe_free(column);
	return rows > 1 && columns > 1;
}

/* ------------------------------------------------------------------
 * Independence
 * ------------------------------------------------------------------
 */

/* (t - E)^2 / scale, 0 where nothing varies. */
static double
distance(double count, double expected, double scale)
{
	return scale > 0 ? (count - expected) * (count - expected) / scale : 0;
}

static double
independence_statistic(test *t, const double *count)
{
	double		sum = 0;

	if (!fit_totals(t->rows, t->columns, count, t->row, t->column, &t->total))
		return 0;
	for (int32_t k = 0; k < cells_of(t); k++)
	{
		double		expected = t->row[k / t->columns] * t->column[k % t->columns] / t->total;
		double		scale = fmax(expected, LEAST_EXPECTED * sqrt(t->variance[k])) + t->variance[k];

		sum += distance(count[k], expected, scale);
	}
	return sum;
}

static void
sample_cells(test *t, pe_dice *dice, double *count)
{
	pe_dice_multinomial(dice, t->rows_seen, cells_of(t), t->expected, count);
}

/* The hypothesis at the totals that were fitted last. */
static void
take_totals(test *t)
{
	t->rows_seen = rint(t->total);
	for (int32_t k = 0; k < cells_of(t); k++)
		t->expected[k] = t->row[k / t->columns] * t->column[k % t->columns] / (t->total * t->total);
}

/* False, and nothing is known, if there are too few levels; else the test is prepared. */
static bool
begin_totals(test *t, const pe_noisy_table *table)
{
	bool	   *row_left = pe_alloc(table->rows, sizeof(bool));
	bool	   *column_left = pe_alloc(table->columns, sizeof(bool));
	bool		known = find_levels(table, row_left, column_left);

	if (known)
		begin(t, table, row_left, column_left);
	pe_free(row_left);
	pe_free(column_left);
	return known;
}

void
pe_test_independence(const pe_noisy_table *table, const pe_bootstrap *how, pe_test_result *result)
{
	test		t = {.statistic = independence_statistic, .sample = sample_cells};
	int32_t		smaller;

	*result = nothing_known();
	if (!begin_totals(&t, table))
		return;
	smaller = t.rows < t.columns ? t.rows : t.columns;
	result->statistic = independence_statistic(&t, t.count);
	result->df = (double) (t.rows - 1) * (t.columns - 1);
	result->estimate = fmin(sqrt(result->statistic / (t.total * (smaller - 1))), 1);
	take_totals(&t);
	result->p_value = bootstrap(&t, how, result->statistic, NULL);
	end(&t);
}

/* ------------------------------------------------------------------
 * Goodness of fit
 * ------------------------------------------------------------------
 */

static double
goodness_statistic(test *t, const double *count)
{
	double		sum = 0;

	t->total = 0;
	for (int32_t k = 0; k < cells_of(t); k++)
		t->total += count[k];
	if (!(t->total > 0))
		return 0;
	for (int32_t k = 0; k < cells_of(t); k++)
		sum += distance(count[k], t->total * t->expected[k], t->total * t->expected[k] + t->variance[k]);
	return sum;
}

void
pe_test_goodness(const pe_noisy_table *table, const double *probability, const pe_bootstrap *how,
				 pe_test_result *result)
{
	test		t = {.statistic = goodness_statistic, .sample = sample_cells};

	*result = nothing_known();
	begin_whole(&t, table);
	memcpy(t.expected, probability, cells_of(&t) * sizeof(double));
	result->statistic = goodness_statistic(&t, t.count);
	t.rows_seen = rint(t.total);
	if (t.rows_seen > 0)
	{
		result->df = -1;
		for (int32_t k = 0; k < cells_of(&t); k++)
			result->df += probability[k] > 0;
		result->estimate = sqrt(result->statistic / t.total);
		result->p_value = bootstrap(&t, how, result->statistic, NULL);
	}
	else
		result->statistic = NAN;
	end(&t);
}

/* ------------------------------------------------------------------
 * Trend
 * ------------------------------------------------------------------
 */

/* Mean and variance of scores. */
static double
mean_of(int32_t levels, const double *total, const double *score, double *variance)
{
	double		rows = 0;
	double		sum = 0;
	double		squares = 0;

	for (int32_t i = 0; i < levels; i++)
	{
		rows += total[i];
		sum += total[i] * score[i];
	}
	for (int32_t i = 0; i < levels; i++)
		squares += total[i] * (score[i] - sum / rows) * (score[i] - sum / rows);
	*variance = squares / rows;
	return sum / rows;
}

/* The noise of a sum of the cells that are left. */
static double
noise_of_sum(const test *t, const double *weight)
{
	double	   *all = pe_la_vector(t->noise->cells);
	double		variance;

	for (int32_t k = 0; k < cells_of(t); k++)
		all[t->cell[k]] = weight[k];
	variance = pe_table_noise_variance(t->noise, all);
	pe_free(all);
	return variance;
}

/* Whether a number of rows, the sum of cells with weights, is more than its noise by a factor. */
static bool
is_known(const test *t, const double *weight, double factor)
{
	double		rows = 0;

	for (int32_t k = 0; k < cells_of(t); k++)
		rows += weight[k] * t->count[k];
	return rows > factor * sqrt(noise_of_sum(t, weight));
}

/* The same of all rows. */
static bool
is_total_known(const test *t, double factor)
{
	double	   *ones = pe_la_vector(cells_of(t));
	bool		known;

	for (int32_t k = 0; k < cells_of(t); k++)
		ones[k] = 1;
	known = is_known(t, ones, factor);
	pe_free(ones);
	return known;
}

/* What is known of the association of scores. */
typedef struct association
{
	double		mean[2];
	double		variance[2];
	double		sum;			/* of products of scores, each less its mean */
	double		noise;			/* the variance of its noise */
} association;

static bool
find_association(test *t, const double *count, association *a)
{
	double	   *weight = t->spread;

	if (!fit_totals(t->rows, t->columns, count, t->row, t->column, &t->total))
		return false;
	(void) mean_of(t->rows, t->row, t->score[0], &a->variance[0]);
	(void) mean_of(t->columns, t->column, t->score[1], &a->variance[1]);
	a->mean[0] = a->mean[1] = 0;
	for (int32_t k = 0; k < cells_of(t); k++)
	{
		a->mean[0] += count[k] * t->score[0][k / t->columns] / t->total;
		a->mean[1] += count[k] * t->score[1][k % t->columns] / t->total;
	}
	a->sum = 0;
	for (int32_t k = 0; k < cells_of(t); k++)
	{
		weight[k] = (t->score[0][k / t->columns] - a->mean[0]) * (t->score[1][k % t->columns] - a->mean[1]);
		a->sum += weight[k] * count[k];
	}
	a->noise = noise_of_sum(t, weight);
	return true;
}

/* The squared sum over its variance, which is n times the product of those of the scores, and that of noise. */
static double
trend_statistic(test *t, const double *count)
{
	association a;
	double		n;
	double		variance;

	if (!find_association(t, count, &a))
		return 0;
	n = t->rows == 2 || t->columns == 2 ? t->total : fmax(t->total - 1, 0);
	variance = t->total * a.variance[0] * a.variance[1] + a.noise;
	return variance > 0 ? a.sum * a.sum / variance * n / t->total : 0;
}

static double
between(double least, double x, double most)
{
	return fmin(fmax(x, least), most);
}

/* An interval of a number that is between two others; NaN: all of it. */
static void
put_interval(double variance, double least, double most, pe_test_result *result)
{
	double		half = pe_normal_half(PE_MISS) * sqrt(variance);
	bool		known = isfinite(half);

	result->lower = known ? between(least, result->estimate - half, most) : least;
	result->upper = known ? between(least, result->estimate + half, most) : most;
}

/*
 * The variance of the correlation: each row of standardised scores x, y adds (x y - r (x^2 + y^2) / 2) / n to it, to
 * the first order.  NaN: nothing is known.
 */
static double
variance_of_correlation(test *t, const association *a, double r)
{
	double	   *step = t->spread;
	double		variance = 0;

	if (!is_total_known(t, KNOWN))
		return NAN;
	for (int32_t k = 0; k < cells_of(t); k++)
	{
		double		x = (t->score[0][k / t->columns] - a->mean[0]) / sqrt(a->variance[0]);
		double		y = (t->score[1][k % t->columns] - a->mean[1]) / sqrt(a->variance[1]);

		step[k] = (x * y - r * (x * x + y * y) / 2) / t->total;
		variance += fmax(t->count[k], 0) * step[k] * step[k];
	}
	return variance + noise_of_sum(t, step);
}

/* By a power of two, which changes no digit: squares of the largest and of the least numbers are none. */
static void
scale_scores(int32_t levels, double *score)
{
	double		most = 0;
	int			exponent;

	for (int32_t i = 0; i < levels; i++)
		most = fmax(most, fabs(score[i]));
	(void) frexp(most, &exponent);
	for (int32_t i = 0; i < levels; i++)
		score[i] = ldexp(score[i], -exponent);
}

/* Of the levels that are left. */
static void
take_scores(test *t, const pe_noisy_table *table, const double *row_score, const double *column_score)
{
	t->score[0] = pe_la_vector(t->rows);
	t->score[1] = pe_la_vector(t->columns);
	for (int32_t k = 0; k < cells_of(t); k++)
	{
		t->score[0][k / t->columns] = row_score[t->cell[k] / table->columns];
		t->score[1][k % t->columns] = column_score[t->cell[k] % table->columns];
	}
	scale_scores(t->rows, t->score[0]);
	scale_scores(t->columns, t->score[1]);
}

void
pe_test_trend(const pe_noisy_table *table, const double *row_score, const double *column_score,
			  const pe_bootstrap *how, pe_test_result *result)
{
	test		t = {.statistic = trend_statistic, .sample = sample_cells};
	association a;

	*result = nothing_known();
	if (!begin_totals(&t, table))
		return;
	take_scores(&t, table, row_score, column_score);
	result->statistic = trend_statistic(&t, t.count);
	result->df = 1;
	if (find_association(&t, t.count, &a) && a.variance[0] > 0 && a.variance[1] > 0)
	{
		result->estimate = between(-1, a.sum / (t.total * sqrt(a.variance[0] * a.variance[1])), 1);
		put_interval(variance_of_correlation(&t, &a, result->estimate), -1, 1, result);
	}
	take_totals(&t);
	if (is_total_known(&t, WELL_KNOWN))
		result->p_value = bootstrap(&t, how, result->statistic, NULL);
	end(&t);
}

/* ------------------------------------------------------------------
 * Two proportions
 * ------------------------------------------------------------------
 */

/* The share of the first row in a column, with its variance; NaN: nothing is known. */
static double
share_of(test *t, int32_t column, double *variance)
{
	double		weight[4] = {0};
	double		some = t->count[column];
	double		all = some + t->count[2 + column];
	double		share;
	double		shrunk;

	weight[column] = weight[2 + column] = 1;
	*variance = NAN;
	if (!(all > 0))
		return NAN;
	share = between(0, some / all, 1);
	if (!is_known(t, weight, KNOWN))
		return share;
	weight[column] = (1 - share) / all;
	weight[2 + column] = -share / all;
	shrunk = (fmax(some, 0) + 1) / (fmax(all, some) + 2);	/* Agresti and Caffo, Amer. Statist. 54, 2000 */
	*variance = shrunk * (1 - shrunk) / (all + 2) + noise_of_sum(t, weight);
	return share;
}

void
pe_test_proportions(const pe_noisy_table *table, const pe_bootstrap *how, pe_test_result *result)
{
	test		t = {0};
	double		one;
	double		other;
	double		share;

	pe_test_independence(table, how, result);
	begin_whole(&t, table);
	share = share_of(&t, 0, &one);
	result->estimate = share - share_of(&t, 1, &other);
	result->lower = result->upper = result->df = NAN;
	if (!isnan(result->estimate))
		put_interval(one + other, -1, 1, result);
	result->statistic = copysign(sqrt(result->statistic), result->estimate);
	end(&t);
}

/* ------------------------------------------------------------------
 * Means
 * ------------------------------------------------------------------
 */

/* What is known of a group. */
typedef struct moments
{
	double		rows;
	double		mean;
	double		spread;			/* variance of the number, with n - 1 */
	double		noise;			/* variance of the mean's noise */
} moments;

enum
{
	ROWS, SUM, SQUARES
};

static double
covariance_of(const test *t, int32_t i, int32_t j)
{
	return t->noise->covariance[(size_t) t->cell[i] * t->noise->cells + t->cell[j]];
}

/* False where there are too few rows. */
static bool
find_moments(const test *t, const double *count, int32_t g, moments *m)
{
	int32_t		n = ROWS * t->columns + g;
	int32_t		s = SUM * t->columns + g;
	int32_t		q = SQUARES * t->columns + g;

	m->rows = count[n];
	if (!(m->rows >= 2))
		return false;
	m->mean = between(-t->most, count[s] / m->rows, t->most);
	m->spread = between(0, (count[q] - m->mean * count[s]) / (m->rows - 1), 2 * t->most * t->most);
	m->noise = (covariance_of(t, s, s) - 2 * m->mean * covariance_of(t, n, s)
				+ m->mean * m->mean * covariance_of(t, n, n)) / (m->rows * m->rows);
	return m->spread / m->rows + m->noise > 0;
}

/* Whether the rows of a group are many beside their noise. */
static bool
has_rows(const test *t, int32_t g)
{
	return t->count[ROWS * t->columns + g] > WELL_KNOWN * sqrt(covariance_of(t, ROWS * t->columns + g,
																		ROWS * t->columns + g));
}

/* Of two groups, by the degrees of freedom of Welch and Satterthwaite. */
static double
welch_t(test *t, const moments *m)
{
	double		one = m[0].spread / m[0].rows;
	double		other = m[1].spread / m[1].rows;

	t->df = (one + other) * (one + other) /
		(one * one / (m[0].rows - 1) + other * other / (m[1].rows - 1));
	t->error = one + m[0].noise + other + m[1].noise;
	return (m[0].mean - m[1].mean) / sqrt(t->error);
}

/* Of more: Welch, Biometrika 38, 1951. */
static double
welch_f(test *t, const moments *m)
{
	double		k = t->columns;
	double		weights = 0;
	double		mean = 0;
	double		above = 0;
	double		below = 0;

	for (int32_t g = 0; g < t->columns; g++)
	{
		double		weight = 1 / (m[g].spread / m[g].rows + m[g].noise);

		weights += weight;
		mean += weight * m[g].mean;
	}
	mean /= weights;
	for (int32_t g = 0; g < t->columns; g++)
	{
		double		weight = 1 / (m[g].spread / m[g].rows + m[g].noise);

		above += weight * (m[g].mean - mean) * (m[g].mean - mean);
		below += (1 - weight / weights) * (1 - weight / weights) / (m[g].rows - 1);
	}
	t->df = k - 1;
	return above / (k - 1) / (1 + 2 * (k - 2) / (k * k - 1) * below);
}

static double
means_statistic(test *t, const double *count)
{
	moments    *m = pe_alloc(t->columns, sizeof(*m));
	bool		known = true;
	double		statistic = 0;

	for (int32_t g = 0; g < t->columns && known; g++)
		known = find_moments(t, count, g, &m[g]);
	if (known)
		statistic = t->columns == 2 ? welch_t(t, m) : welch_f(t, m);
	pe_free(m);
	return statistic;
}

/* Groups of normal numbers with one mean, and as many rows and the variances that were observed. */
static void
sample_sums(test *t, pe_dice *dice, double *count)
{
	for (int32_t g = 0; g < t->columns; g++)
	{
		double		n = t->expected[g];
		double		sum = n * t->mean + sqrt(n * t->spread[g]) * pe_dice_normal(dice);

		count[ROWS * t->columns + g] = n;
		count[SUM * t->columns + g] = sum;
		count[SQUARES * t->columns + g] = sum * sum / n + t->spread[g] * 2 * pe_dice_gamma(dice, (n - 1) / 2);
	}
}

/* Without groups that have no rows above the noise; false where less than two are left. */
static bool
begin_groups(test *t, const pe_noisy_table *sums)
{
	bool		all[SQUARES + 1] = {true, true, true};
	bool	   *left = pe_alloc(sums->columns, sizeof(bool));
	int32_t		groups = 0;

	for (int32_t g = 0; g < sums->columns; g++)
	{
		double		variance = sums->noise->covariance[(size_t) g * (sums->noise->cells + 1)];

		left[g] = pe_table_has_rows((pe_figure) {sums->count[g], sqrt(variance)});
		groups += left[g];
	}
	if (groups >= 2)
		begin(t, sums, all, left);
	pe_free(left);
	return groups >= 2;
}

/* The hypothesis at what was observed; false if nothing is known. */
static bool
take_moments(test *t)
{
	double		weights = 0;

	t->mean = 0;
	for (int32_t g = 0; g < t->columns; g++)
	{
		moments		m;
		double		weight;

		if (!has_rows(t, g) || !find_moments(t, t->count, g, &m))
			return false;
		weight = 1 / (m.spread / m.rows + m.noise);
		weights += weight;
		t->mean += weight * m.mean;
		t->expected[g] = rint(m.rows);
		t->spread[g] = m.spread;
	}
	t->mean /= weights;
	return true;
}

static int
ascending(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

/* The difference of two groups: as many of its errors as 95 % of the replicates have at most. */
static void
put_difference(const test *t, const pe_bootstrap *how, double *statistic, double error, pe_test_result *result)
{
	int32_t		place = (int32_t) ceil((1 - PE_MISS) * (how->replicates + 1)) - 1;
	double		half;

	qsort(statistic, how->replicates, sizeof(double), ascending);
	half = place < how->replicates ? statistic[place] * sqrt(error) : INFINITY;
	result->estimate = t->count[SUM * 2] / t->count[ROWS * 2] - t->count[SUM * 2 + 1] / t->count[ROWS * 2 + 1];
	result->lower = fmax(result->estimate - half, -2 * t->most);
	result->upper = fmin(result->estimate + half, 2 * t->most);
}

void
pe_test_means(const pe_noisy_table *sums, double most, const pe_bootstrap *how, pe_test_result *result)
{
	test		t = {.statistic = means_statistic, .sample = sample_sums, .most = most};
	double	   *statistic;

	*result = nothing_known();
	if (!begin_groups(&t, sums))
		return;
	statistic = pe_la_vector(how->replicates);
	if (take_moments(&t))
	{
		double		error;

		result->statistic = means_statistic(&t, t.count);
		result->df = t.df;
		error = t.error;
		result->p_value = bootstrap(&t, how, result->statistic, statistic);
		if (t.columns == 2)
			put_difference(&t, how, statistic, error, result);
	}
	pe_free(statistic);
	end(&t);
}
