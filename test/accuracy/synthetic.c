/*
 * synthetic.c
 *	  See synthetic.h.
 */
#include "synthetic.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGE_ROWS 1000000
#define LARGE_FEATURES 50
#define MOST_FEATURES 51

#define SEED 11

/* ------------------------------------------------------------------
 * Rows
 * ------------------------------------------------------------------
 */

static double
dot(const double *a, const double *b, int d)
{
	double		sum = 0.0;

	for (int j = 0; j < d; j++)
		sum += a[j] * b[j];
	return sum;
}

static void
draw_row(dice *d, int features, double last, double *x)
{
	for (int j = 0; j < features; j++)
		x[j] = dice_normal(d) * (1.0 + (last - 1.0) * j / (features - 1));
}

static int
compare(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

static double
quantile(const double *x, int n, double share)
{
	double	   *sorted = pe_alloc((size_t) n, sizeof(*sorted));
	double		result;

	memcpy(sorted, x, (size_t) n * sizeof(*sorted));
	qsort(sorted, (size_t) n, sizeof(*sorted), compare);
	result = sorted[(size_t) (share * (n - 1))];
	pe_free(sorted);
	return result;
}

static double
deviation(const double *x, int n)
{
	series		s = {0};

	for (int i = 0; i < n; i++)
		series_add(&s, x[i]);
	return series_sd(&s);
}

/* What a row is multiplied by, in place of its length; and its margin with w, multiplied. */
static void
set_factors(double *length, double *margin, int n)
{
	double		unit = quantile(length, n, 0.9);

	for (int i = 0; i < n; i++)
	{
		length[i] = fmin(1.0, unit / length[i]) / unit;
		margin[i] *= length[i];
	}
}

/* Draws all rows for their lengths and margins alone. */
static void
survey(int n, int d, double last, const double *w, double *length, double *margin)
{
	dice		rows = {.state = SEED};
	double		x[MOST_FEATURES];

	for (int i = 0; i < n; i++)
	{
		draw_row(&rows, d, last, x);
		length[i] = sqrt(dot(x, x, d));
		margin[i] = dot(x, w, d);
	}
	set_factors(length, margin, n);
}

/* Draws them again, and adds them with their labels. */
static void
add_rows(dataset *data, int n, double last, const double *factor, const int16_t *label)
{
	dice		rows = {.state = SEED};
	double		x[MOST_FEATURES];
	int			d = data->map.features;

	for (int i = 0; i < n; i++)
	{
		draw_row(&rows, d, last, x);
		for (int j = 0; j < d; j++)
			x[j] *= factor[i];
		dataset_add(data, x, label[i]);
	}
}

void
make_large(dataset *data)
{
	dice		others = {.state = SEED + 1};
	double		w[LARGE_FEATURES];
	double	   *factor = pe_alloc(LARGE_ROWS, sizeof(*factor));
	double	   *margin = pe_alloc(LARGE_ROWS, sizeof(*margin));
	int16_t    *label = pe_alloc(LARGE_ROWS, sizeof(*label));
	double		scale;

	for (int j = 0; j < LARGE_FEATURES; j++)
		w[j] = dice_normal(&others);
	survey(LARGE_ROWS, LARGE_FEATURES, 0.2, w, factor, margin);
	scale = 2.5 / deviation(margin, LARGE_ROWS);
	for (int i = 0; i < LARGE_ROWS; i++)
		label[i] = dice_uniform(&others) < 1.0 / (1.0 + exp(-scale * margin[i]));
	dataset_init(data, "large", LARGE_FEATURES, true, sqrt(2.0));
	add_rows(data, LARGE_ROWS, 0.2, factor, label);
	pe_free(factor);
	pe_free(margin);
	pe_free(label);
}

void
make_linear(dataset *data, int n, int d, const double *direction)
{
	dice		others = {.state = SEED + 1};
	double	   *factor = pe_alloc((size_t) n, sizeof(*factor));
	double	   *margin = pe_alloc((size_t) n, sizeof(*margin));
	double	   *size = pe_alloc((size_t) n, sizeof(*size));
	int16_t    *label = pe_alloc((size_t) n, sizeof(*label));
	double		scale;

	survey(n, d, 0.3, direction, factor, margin);
	for (int i = 0; i < n; i++)
		size[i] = fabs(margin[i]);
	scale = 0.5 / deviation(size, n);
	for (int i = 0; i < n; i++)
		label[i] = pe_feature_scale(scale * margin[i] + 0.3 * dice_normal(&others), -1.0, 1.0);
	dataset_init(data, "linear", d, false, 1.0);
	add_rows(data, n, 0.3, factor, label);
	pe_free(factor);
	pe_free(margin);
	pe_free(size);
	pe_free(label);
}

/* ------------------------------------------------------------------
 * What no privacy would find
 * ------------------------------------------------------------------
 */

/* Solves a x = b for a symmetric positive definite a, which is overwritten, as is b, with x. */
static void
solve(double *a, double *b, int d)
{
	for (int j = 0; j < d; j++)
	{
		a[j * d + j] = sqrt(a[j * d + j] - dot(a + j * d, a + j * d, j));
		for (int i = j + 1; i < d; i++)
			a[i * d + j] = (a[i * d + j] - dot(a + i * d, a + j * d, j)) / a[j * d + j];
	}
	for (int i = 0; i < d; i++)
		b[i] = (b[i] - dot(a + i * d, b, i)) / a[i * d + i];
	for (int i = d - 1; i >= 0; i--)
	{
		b[i] /= a[i * d + i];
		for (int k = 0; k < i; k++)
			b[k] -= a[i * d + k] * b[i];
	}
}

/* Dense rows without groups as real numbers. */
static void
real_row(const dataset *data, size_t i, double *x)
{
	for (int32_t j = 0; j < data->map.shape.dense; j++)
		x[j] = (double) data->dense[i * (size_t) data->map.shape.dense + (size_t) j] / PE_ONE;
}

/* a += factor x x', below the diagonal and on it */
static void
add_product(double *a, const double *x, double factor, int d)
{
	for (int i = 0; i < d; i++)
		for (int j = 0; j <= i; j++)
			a[i * d + j] += factor * x[i] * x[j];
}

/* One Newton step; returns the largest entry of the mean gradient before it. */
static double
newton_step(const dataset *data, double *w, double *hessian, double *gradient)
{
	int			d = data->map.shape.dense;
	double		n = (double) data->rows;
	double		x[MOST_FEATURES];
	double		largest = 0.0;

	memset(hessian, 0, (size_t) d * (size_t) d * sizeof(*hessian));
	memset(gradient, 0, (size_t) d * sizeof(*gradient));
	for (size_t i = 0; i < data->rows; i++)
	{
		double		p;

		real_row(data, i, x);
		p = 1.0 / (1.0 + exp(-dot(x, w, d)));
		for (int j = 0; j < d; j++)
			gradient[j] += (p - data->label[i]) * x[j] / n;
		add_product(hessian, x, p * (1.0 - p) / n, d);
	}
	for (int j = 0; j < d; j++)
		largest = fmax(largest, fabs(gradient[j]));
	solve(hessian, gradient, d);
	for (int j = 0; j < d; j++)
		w[j] -= gradient[j];
	return largest;
}

void
logistic_optimum(const dataset *data, double *w)
{
	int			d = data->map.shape.dense;
	double	   *hessian = pe_alloc((size_t) d * (size_t) d, sizeof(*hessian));
	double	   *gradient = pe_alloc((size_t) d, sizeof(*gradient));
	int			steps = 0;

	memset(w, 0, (size_t) d * sizeof(*w));
	while (newton_step(data, w, hessian, gradient) > 1e-5)
		if (++steps > 30)
		{
			fprintf(stderr, "%s: no optimum was found\n", data->name);
			exit(2);
		}
	pe_free(hessian);
	pe_free(gradient);
}

void
linear_optimum(const dataset *data, least_squares *best)
{
	int			d = data->map.shape.dense;
	double		n = (double) data->rows;
	double	   *copy = pe_alloc((size_t) d * (size_t) d, sizeof(*copy));
	series		labels = {0};

	best->d = d;
	best->moment = pe_alloc((size_t) d * (size_t) d, sizeof(*best->moment));
	best->w = pe_alloc((size_t) d, sizeof(*best->w));
	for (size_t i = 0; i < data->rows; i++)
	{
		double		x[MOST_FEATURES];
		double		y = (double) data->label[i] / PE_ONE;

		real_row(data, i, x);
		series_add(&labels, y);
		for (int j = 0; j < d; j++)
			best->w[j] += y * x[j] / n;
		add_product(best->moment, x, 1.0 / n, d);
	}
	best->variance = labels.squares / labels.count;
	memcpy(copy, best->moment, (size_t) d * (size_t) d * sizeof(*copy));
	solve(copy, best->w, d);
	pe_free(copy);
}

void
least_squares_free(least_squares *best)
{
	pe_free(best->moment);
	pe_free(best->w);
}

double
linear_excess(const least_squares *best, const double *w)
{
	int			d = best->d;
	double		sum = 0.0;

	for (int i = 0; i < d; i++)
		for (int j = 0; j < d; j++)
			sum += (w[i] - best->w[i]) * (w[j] - best->w[j]) * best->moment[(i > j ? i : j) * d + (i > j ? j : i)];
	return sum / best->variance;
}
