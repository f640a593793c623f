/*
 * fit_tables.h
 *	  Small tables for the tests of fits: random or given, with their problems, and
 *	  sums over them in long double that share no code with a pass.
 *
 * Include cmocka.h first.
 */
#ifndef PE_TEST_FIT_TABLES_H
#define PE_TEST_FIT_TABLES_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "glm/pass.h"
#include "fit/fit.h"

#define TABLE_COLUMNS 64

typedef struct table
{
	pe_row_shape shape;
	int32_t		cells[1];
	pe_rows		rows;
	pe_source	source;
	pe_fit_problem problem;
} table;

/* Random numbers that need not be good. */
static uint64_t table_state = 1;

static inline double
table_uniform(void)
{
	table_state = table_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (double) (table_state >> 11) * 0x1p-53;
}

static inline double
table_normal(void)
{
	return sqrt(-2 * log(1 - table_uniform())) * cos(6.283185307179586 * table_uniform());
}

/*
 * An empty table with so many dense columns, the last of them an intercept, and a
 * group of cells (0: none).
 */
static inline void
table_init(table *t, int32_t dense, int32_t cells, pe_model model, pe_fit_method method)
{
	memset(t, 0, sizeof(*t));
	t->cells[0] = cells;
	t->shape = (pe_row_shape) {.dense = dense, .groups = cells > 0, .cells = t->cells, .columns = dense + cells};
	pe_rows_init(&t->rows, &t->shape, false);
	pe_source_of_rows(&t->source, &t->rows);
	t->problem.model = model;
	t->problem.method = method;
	t->problem.shape = &t->shape;
	t->problem.intercept = dense - 1;
	t->problem.radius_sq = (pe_u128) (dense + t->shape.groups) * PE_ONE * PE_ONE;
	t->problem.radius_1 = (int64_t) (dense + t->shape.groups) * PE_ONE;
	t->problem.max_rows = 1;
	pe_options_init(&pe_fit_option_table, &t->problem.options);
}

static inline void
table_free(table *t)
{
	pe_rows_free(&t->rows);
}

/* x: dense - 1 numbers in [-1, 1]; cell: -1 for none. */
static inline void
table_add(table *t, const double *x, int32_t cell, int16_t label)
{
	int16_t		dense[TABLE_COLUMNS];
	uint16_t	group = cell < 0 ? PE_NO_GROUP_CELL : (uint16_t) cell;
	pe_row		row = {.dense = dense, .cell = &group, .unit = PE_ONE, .label = label};

	for (int32_t j = 0; j + 1 < t->shape.dense; j++)
		dense[j] = (int16_t) (x[j] * PE_ONE);
	dense[t->shape.dense - 1] = PE_ONE;
	pe_rows_add(&t->rows, &row, NULL);
}

/* Rows of a model with these true weights (of dense columns): labels by chance, or of a regression with noise. */
static inline void
table_fill(table *t, size_t rows, const double *truth)
{
	for (size_t i = 0; i < rows; i++)
	{
		double		x[TABLE_COLUMNS];
		double		margin = truth[t->shape.dense - 1];
		int32_t		cell = t->cells[0] > 0 ? (int32_t) (table_uniform() * (t->cells[0] + 1)) - 1 : -1;
		int16_t		label;

		for (int32_t j = 0; j + 1 < t->shape.dense; j++)
		{
			x[j] = 2 * table_uniform() - 1;
			margin += x[j] * truth[j];
		}
		margin += cell % 2 == 1 ? 0.5 : 0;
		if (t->problem.model == PE_MODEL_LINEAR)
			label = (int16_t) (fmax(-1, fmin(1, margin + 0.1 * table_normal())) * PE_ONE);
		else
			label = table_uniform() < 1 / (1 + exp(-margin));
		table_add(t, x, cell, label);
	}
}

/* A row as real numbers, one for each column of weights; its label as y. */
static inline double
table_row(const table *t, size_t number, long double *x)
{
	int16_t		dense[TABLE_COLUMNS];
	uint16_t	group[1];
	pe_row		row = {.dense = dense, .cell = group};

	memset(x, 0, (size_t) t->shape.columns * sizeof(*x));
	pe_rows_get(&t->rows, number, &row);
	for (int32_t j = 0; j < t->shape.dense; j++)
		x[j] = (long double) dense[j] / PE_ONE;
	if (t->shape.groups > 0 && group[0] != PE_NO_GROUP_CELL)
		x[t->shape.dense + group[0]] = (long double) row.unit / PE_ONE;
	if (t->problem.model == PE_MODEL_LINEAR)
		return (double) row.label / PE_ONE;
	return row.label > 0 ? 1 : -1;
}

/* The first and second derivative of a loss by the margin, and the loss. */
static inline long double
table_loss(pe_model model, long double margin, long double y, long double *first, long double *second)
{
	long double t = y * margin;
	long double p;

	switch (model)
	{
		case PE_MODEL_LOGISTIC:
			p = 1 / (1 + expl(t));
			*first = -y * p;
			*second = p * (1 - p);
			return t > 0 ? log1pl(expl(-t)) : -t + log1pl(expl(t));
		case PE_MODEL_SVM:
			*second = t > 0.5L && t < 1.5L;
			*first = t >= 1.5L ? 0 : t <= 0.5L ? -y : -y * (1.5L - t);
			return t >= 1.5L ? 0 : t <= 0.5L ? 1 - t : (1.5L - t) * (1.5L - t) / 2;
		case PE_MODEL_LINEAR:
			*first = margin - y;
			*second = 1;
			return (margin - y) * (margin - y) / 2;
	}
	return 0;
}

/*
 * Value, gradient and (if not NULL) second derivative, columns x columns, of the sum
 * of losses + lambda/2 |w|^2 + b.w; b may be NULL.
 */
static inline long double
table_objective(const table *t, const long double *w, long double lambda, const double *b,
				long double *gradient, long double *hessian)
{
	int32_t		n = t->shape.columns;
	long double value = 0;

	for (int32_t j = 0; j < n; j++)
	{
		gradient[j] = lambda * w[j] + (b == NULL ? 0 : b[j]);
		value += w[j] * (gradient[j] - lambda * w[j] / 2);
	}
	if (hessian != NULL)
		for (int32_t j = 0; j < n * n; j++)
			hessian[j] = j % (n + 1) == 0 ? lambda : 0;
	for (size_t i = 0; i < t->rows.rows; i++)
	{
		long double x[TABLE_COLUMNS];
		long double margin = 0;
		long double first = 0;
		long double second = 0;
		double		y = table_row(t, i, x);

		for (int32_t j = 0; j < n; j++)
			margin += x[j] * w[j];
		value += table_loss(t->problem.model, margin, y, &first, &second);
		for (int32_t j = 0; j < n; j++)
		{
			gradient[j] += first * x[j];
			for (int32_t k = 0; hessian != NULL && k < n; k++)
				hessian[j * n + k] += second * x[j] * x[k];
		}
	}
	return value;
}

static inline long double
table_length(const long double *x, int32_t n)
{
	long double square = 0;

	for (int32_t j = 0; j < n; j++)
		square += x[j] * x[j];
	return sqrtl(square);
}

/* x = a^-1 x by elimination; a is positive definite and destroyed. */
static inline void
table_solve(int32_t n, long double *a, long double *x)
{
	for (int32_t i = 0; i < n; i++)
		for (int32_t k = i + 1; k < n; k++)
		{
			long double factor = a[k * n + i] / a[i * n + i];

			for (int32_t j = i; j < n; j++)
				a[k * n + j] -= factor * a[i * n + j];
			x[k] -= factor * x[i];
		}
	for (int32_t i = n - 1; i >= 0; i--)
	{
		for (int32_t j = i + 1; j < n; j++)
			x[i] -= a[i * n + j] * x[j];
		x[i] /= a[i * n + i];
	}
}

/* The minimiser by Newton's method with halved steps, lambda > 0.  w has TABLE_COLUMNS numbers. */
static inline void
table_minimise(const table *t, long double lambda, const double *b, long double *w)
{
	int32_t		n = t->shape.columns;
	long double *hessian = calloc(TABLE_COLUMNS * TABLE_COLUMNS, sizeof(*hessian));
	long double g[TABLE_COLUMNS];

	memset(w, 0, TABLE_COLUMNS * sizeof(*w));
	for (int i = 0; i < 200; i++)
	{
		long double value = table_objective(t, w, lambda, b, g, hessian);
		long double step[TABLE_COLUMNS];
		long double next[TABLE_COLUMNS];
		long double size = 1;
		int			halvings;

		if (table_length(g, n) < 1e-14L * (1 + (long double) t->rows.rows))
			break;
		memcpy(step, g, sizeof(step));
		table_solve(n, hessian, step);
		for (halvings = 0; halvings < 40; halvings++, size /= 2)
		{
			for (int32_t j = 0; j < n; j++)
				next[j] = w[j] - size * step[j];
			if (table_objective(t, next, lambda, b, g, NULL) <= value + 1e-15L * fabsl(value))
				break;
		}
		if (halvings == 40 || size * table_length(step, n) < 1e-18L * (1 + table_length(w, n)))
			break;
		memcpy(w, next, (size_t) n * sizeof(*w));
	}
	free(hessian);
}

#endif
