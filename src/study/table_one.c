/*
 * table_one.c
 *	  Texts and differences of a Table One.  See table_one.h.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/linalg.h"
#include "base/mem.h"
#include "study/table_one.h"

/* ------------------------------------------------------------------
 * Texts
 * ------------------------------------------------------------------
 */

/* The power of ten that a number above 0 begins with. */
static double
first_digit(double number)
{
	return pow(10, floor(log10(number)));
}

/* What is rounded to: no finer than `finest`. */
static double
unit_of(double error, double finest)
{
	return error > 0 && !isinf(error) ? fmax(first_digit(error), finest) : finest;
}

static int
decimals_of(double unit)
{
	return unit < 1 ? (int) rint(-log10(unit)) : 0;
}

/* Digits with a comma between thousands. */
static void
add_grouped(char *text, const char *digits)
{
	size_t		whole = strspn(digits, "0123456789");
	size_t		at = strlen(text);

	for (size_t i = 0; digits[i] != 0; i++)
	{
		text[at++] = digits[i];
		if (i + 1 < whole && (whole - i - 1) % 3 == 0)
			text[at++] = ',';
	}
	text[at] = 0;
}

static void
add_number(char *text, double number, double unit)
{
	char		digits[48];
	double		rounded = rint(number / unit) * unit;

	if (!(fabs(rounded) < 1e15))
	{
		snprintf(text + strlen(text), 24, "%.3g", number);
		return;
	}
	if (rounded < 0)
		strcat(text, "-");
	snprintf(digits, sizeof(digits), "%.*f", decimals_of(unit), fabs(rounded));
	add_grouped(text, digits);
}

bool
pe_table_has_rows(pe_figure count)
{
	return count.value >= fmax(.5, 1.96 * count.error);
}

void
pe_table_count(pe_figure count, pe_figure percent, char *text)
{
	bool		drowned = count.error >= .5 && count.value < 1.96 * count.error;

	strcpy(text, isnan(count.value) || isnan(count.error) || drowned ? PE_TABLE_DASH : "");
	if (text[0] != 0)
		return;
	add_number(text, fmax(count.value, 0), unit_of(count.error, 1));
	if (isnan(percent.value) || isnan(percent.error))
		return;
	strcat(text, " (");
	add_number(text, fmin(fmax(percent.value, 0), 100), fmin(unit_of(percent.error, .1), 10));
	strcat(text, " %)");
}

void
pe_table_mean(pe_figure mean, pe_figure deviation, char *text)
{
	bool		spreads = deviation.value > 0;
	double		finest = spreads ? first_digit(deviation.value) / 100 : 1e-3;
	bool		drowned = spreads ? mean.error >= deviation.value
		: isnan(deviation.value) && 1.96 * mean.error >= fabs(mean.value);

	if (isnan(mean.value) || isnan(mean.error) || drowned)
	{
		strcpy(text, PE_TABLE_DASH);
		return;
	}
	text[0] = 0;
	add_number(text, mean.value, unit_of(mean.error, finest));
	strcat(text, " (");
	if (isnan(deviation.value) || isnan(deviation.error))
		strcat(text, PE_TABLE_DASH);
	else
		add_number(text, deviation.value, unit_of(deviation.error, finest));
	strcat(text, ")");
}

void
pe_table_median(const pe_figure quartile[3], double least, char *text)
{
	static const char *const before[] = {" [", "", ", "};
	static const int order[] = {1, 0, 2};

	text[0] = 0;
	for (int i = 0; i < 3; i++)
	{
		const pe_figure *q = &quartile[order[i]];

		strcat(text, i > 0 ? before[order[i]] : "");
		if (isnan(q->value))
			strcat(text, PE_TABLE_DASH);
		else
			add_number(text, q->value, unit_of(q->error, fmax(least, 1e-3)));
	}
	strcat(text, "]");
	if (isnan(quartile[0].value) && isnan(quartile[1].value) && isnan(quartile[2].value))
		strcpy(text, PE_TABLE_DASH);
}

pe_figure
pe_table_percent(pe_figure part, pe_figure whole)
{
	double		p = part.value / whole.value;
	double		rest = whole.error * whole.error - part.error * part.error;

	if (!pe_table_has_rows(whole))
		return (pe_figure) {NAN, NAN};
	return (pe_figure) {
		100 * p, 100 * hypot((1 - p) * part.error, p * sqrt(fmax(rest, 0))) / whole.value
	};
}

/* ------------------------------------------------------------------
 * Noisy numbers that depend on each other
 * ------------------------------------------------------------------
 */

static double
covariance_of(const pe_noisy *numbers, const int32_t *one, int32_t ones, const int32_t *other, int32_t others)
{
	double		sum = 0;

	for (int32_t i = 0; i < ones; i++)
		for (int32_t j = 0; j < others; j++)
			sum += numbers->covariance[(size_t) one[i] * numbers->count + other[j]];
	return sum;
}

pe_figure
pe_table_sum(const pe_noisy *numbers, const int32_t *cell, int32_t cells)
{
	pe_figure	sum = {0, sqrt(fmax(covariance_of(numbers, cell, cells, cell, cells), 0))};

	for (int32_t i = 0; i < cells; i++)
		sum.value += numbers->value[cell[i]];
	return sum;
}

pe_figure
pe_table_share(const pe_noisy *numbers, const int32_t *part, int32_t parts, const int32_t *whole, int32_t wholes)
{
	pe_figure	some = pe_table_sum(numbers, part, parts);
	pe_figure	all = pe_table_sum(numbers, whole, wholes);
	double		p = some.value / all.value;
	double		variance = some.error * some.error + p * p * all.error * all.error
		- 2 * p * covariance_of(numbers, part, parts, whole, wholes);

	if (!pe_table_has_rows(all))
		return (pe_figure) {NAN, NAN};
	return (pe_figure) {100 * p, 100 * sqrt(fmax(variance, 0)) / all.value};
}

/* The standard error of a sum of three numbers with weights. */
static double
error_of(const pe_noisy *sums, const int32_t place[3], const double weight[3])
{
	double		variance = 0;

	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			if (weight[i] != 0 && weight[j] != 0)
				variance += weight[i] * weight[j] * covariance_of(sums, &place[i], 1, &place[j], 1);
	return sqrt(fmax(variance, 0));
}

void
pe_table_moments(const pe_noisy *sums, const int32_t place[3], pe_figure *mean, pe_figure *deviation)
{
	double		n = sums->value[place[0]];
	double		m = sums->value[place[1]] / n;
	double		variance;
	double		error;

	*mean = *deviation = (pe_figure) {NAN, NAN};
	if (!pe_table_has_rows(pe_table_sum(sums, place, 1)))
		return;
	*mean = (pe_figure) {m, error_of(sums, place, (double[3]) {-m / n, 1 / n, 0})};
	if (place[2] < 0 || !(n > 1))
		return;
	variance = (sums->value[place[2]] - m * m * n) / (n - 1);
	error = error_of(sums, place, (double[3]) {(m * m - variance) / (n - 1), -2 * m / (n - 1), 1 / (n - 1)});
	if (variance > 1.96 * error)
		*deviation = (pe_figure) {sqrt(variance), error / (2 * sqrt(variance))};
}

/* ------------------------------------------------------------------
 * Differences
 * ------------------------------------------------------------------
 */

double
pe_table_difference_of_means(double mean, double deviation, double other_mean, double other_deviation)
{
	double		spread = sqrt((deviation * deviation + other_deviation * other_deviation) / 2);

	return spread > 0 ? fabs(mean - other_mean) / spread : NAN;
}

/* Shares of levels; false if there are no rows. */
static bool
shares_of(int32_t levels, const double *count, double *share)
{
	double		all = 0;

	for (int32_t i = 0; i < levels; i++)
		all += fmax(count[i], 0);
	for (int32_t i = 0; i < levels; i++)
		share[i] = fmax(count[i], 0) / all;
	return all > 0;
}

/* Levels that nobody has say nothing, and would leave the covariance without an inverse. */
static int32_t
drop_empty(int32_t levels, double *share, double *other)
{
	int32_t		kept = 0;

	for (int32_t i = 0; i < levels; i++)
		if (share[i] + other[i] > 1e-12)
		{
			share[kept] = share[i];
			other[kept++] = other[i];
		}
	return kept;
}

/* Of all levels except the last. */
static double
distance(int32_t n, const double *p, const double *q, double *work)
{
	double	   *d = work + (size_t) n * n;

	for (int32_t j = 0; j < n; j++)
	{
		for (int32_t i = 0; i < n; i++)
			work[(size_t) j * n + i] = -(p[i] * p[j] + q[i] * q[j]) / 2;
		work[(size_t) j * n + j] += (p[j] + q[j]) / 2;
		d[j] = d[n + j] = p[j] - q[j];
	}
	if (!pe_la_cholesky(n, work, n))
		return NAN;
	pe_la_cholesky_solve(n, 1, work, n, d, n);
	return sqrt(pe_la_dot(n, d, d + n));
}

double
pe_table_difference_of_levels(int32_t levels, const double *count, const double *other)
{
	double	   *p = pe_alloc((size_t) 2 * levels + 1, sizeof(double));
	double	   *q = p + levels;
	double		found = NAN;

	if (shares_of(levels, count, p) && shares_of(levels, other, q))
	{
		int32_t		kept = drop_empty(levels, p, q);
		double	   *work;

		found = 0;
		if (kept > 1)
		{
			work = pe_alloc((size_t) kept * kept + 2 * kept, sizeof(double));
			found = distance(kept - 1, p, q, work);
			pe_free(work);
		}
	}
	pe_free(p);
	return found < 1e6 ? found : NAN;	/* NaN too, and what rounding leaves where nothing varies within groups */
}
