/*
 * models.h
 *	  Small tables of rows for the unit tests of private models, and what is asked of a
 *	  fit.
 *
 * Include cmocka.h first.
 */
#ifndef PE_TEST_MODELS_H
#define PE_TEST_MODELS_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "glm/pass.h"
#include "fit/fit.h"

#define MODEL_MOST_GROUPS 4
#define MODEL_MOST_COLUMNS 64

/* Rows and their shape: some numbers, an intercept, some groups of cells. */
typedef struct table
{
	int32_t		cells[MODEL_MOST_GROUPS];
	pe_row_shape shape;
	pe_rows		rows;
	pe_source	source;
	pe_u128		radius_sq;
	int64_t		radius_1;
	size_t		per_unit;		/* with units: each so many rows are one; 0: rows are of `unit` */
	uint64_t	unit;
} table;

/* A reproducible stream of its own: the data of a test do not depend on its noise. */
typedef struct stream
{
	uint64_t	state;
} stream;

static inline double
stream_uniform(stream *s)
{
	uint64_t	z = (s->state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (double) ((z ^ z >> 31) >> 11) * 0x1p-53;
}

static inline void
table_start(table *t, int32_t numbers, int32_t groups, int32_t cells)
{
	int32_t		features = numbers + 1 + groups;

	memset(t, 0, sizeof(*t));
	for (int32_t g = 0; g < groups; g++)
		t->cells[g] = cells;
	t->shape.dense = numbers + 1;
	t->shape.groups = groups;
	t->shape.cells = t->cells;
	t->shape.columns = numbers + 1 + groups * cells;
	t->radius_sq = (pe_u128) features * PE_ONE * PE_ONE;
	t->radius_1 = (int64_t) features * PE_ONE;
	pe_rows_init(&t->rows, &t->shape, false);
	pe_source_of_rows(&t->source, &t->rows);
}

/* Rows that are added from now on have units. */
static inline void
table_use_units(table *t, size_t per_unit)
{
	pe_rows_free(&t->rows);
	pe_rows_init(&t->rows, &t->shape, true);
	t->per_unit = per_unit;
}

static inline void
table_free(table *t)
{
	pe_rows_free(&t->rows);
}

/* x: the numbers, cells the cell of each group. */
static inline void
table_add(table *t, const double *x, const int *cell, double label, bool classes)
{
	int16_t		dense[MODEL_MOST_COLUMNS];
	uint16_t	cells[MODEL_MOST_GROUPS] = {0};
	pe_row		row = {dense, cells, PE_ONE, 0};
	uint64_t	unit[2] = {t->per_unit > 0 ? t->rows.rows / t->per_unit : t->unit, 0};

	for (int32_t j = 0; j < t->shape.dense - 1; j++)
		dense[j] = (int16_t) (fmax(-1, fmin(1, x[j])) * PE_ONE);
	dense[t->shape.dense - 1] = PE_ONE;
	for (int32_t g = 0; g < t->shape.groups; g++)
		cells[g] = (uint16_t) cell[g];
	row.label = (int16_t) (classes ? label : fmax(-1, fmin(1, label)) * PE_ONE);
	pe_rows_add(&t->rows, &row, t->rows.with_units ? unit : NULL);
}

/* Rows of which the label follows the first columns' weights 2, -2, 1, -1, 0, .. with noise. */
static inline void
table_fill(table *t, pe_model model, int rows, uint64_t seed)
{
	static const double weight[5] = {2, -2, 1, -1, 0};
	stream		s = {seed};

	for (int i = 0; i < rows; i++)
	{
		double		x[MODEL_MOST_COLUMNS];
		int			cell[MODEL_MOST_GROUPS];
		double		margin = 0.3;

		for (int32_t j = 0; j < t->shape.dense - 1; j++)
		{
			x[j] = 2 * stream_uniform(&s) - 1;
			margin += weight[j % 5] * x[j];
		}
		for (int32_t g = 0; g < t->shape.groups; g++)
		{
			cell[g] = (int) (stream_uniform(&s) * t->cells[g]);
			margin += cell[g] == 0 ? 0.5 : 0;
		}
		if (model == PE_MODEL_LINEAR)
			table_add(t, x, cell, margin / 8 + 0.2 * (stream_uniform(&s) - 0.5), false);
		else
			table_add(t, x, cell, stream_uniform(&s) < 1 / (1 + exp(-margin)), true);
	}
}

static inline void
problem_of(const table *t, pe_model model, pe_fit_method method, int64_t nano, pe_fit_problem *problem)
{
	memset(problem, 0, sizeof(*problem));
	problem->model = model;
	problem->method = method;
	pe_options_init(&pe_fit_option_table, &problem->options);
	problem->shape = &t->shape;
	problem->intercept = t->shape.dense - 1;
	problem->radius_sq = t->radius_sq;
	problem->radius_1 = t->radius_1;
	problem->max_rows = 1;
	problem->nano = nano;
}

/* ----------
 * What came out
 * ----------
 */
static inline pe_loss
loss_of_model(pe_model model)
{
	return model == PE_MODEL_LOGISTIC ? PE_LOSS_LOGISTIC : model == PE_MODEL_LINEAR ? PE_LOSS_SQUARED : PE_LOSS_HUBER;
}

/* The mean loss at w and the length of its mean gradient, not clipped. */
static inline double
mean_loss(table *t, pe_model model, const double *w, double *gradient_length)
{
	pe_i128		sums[MODEL_MOST_COLUMNS + 1];
	int32_t		v[MODEL_MOST_COLUMNS];
	double		rows = t->rows.rows > 0 ? (double) t->rows.rows : 1;
	double		square = 0;
	pe_pass		pass;

	memset(&pass, 0, sizeof(pass));
	pass.kind = PE_PASS_PRECISE;
	pass.loss = loss_of_model(model);
	pass.weights.v = v;
	pe_weights_set(&pass.weights, w, t->shape.columns, t->radius_sq);
	t->source.run(&t->source, &pass, sums);
	for (int32_t j = 0; j < t->shape.columns; j++)
		square += pow((double) sums[j] * pe_pass_unit(&pass) / rows, 2);
	if (gradient_length != NULL)
		*gradient_length = sqrt(square);
	return (double) sums[t->shape.columns] * 0x1p-40 / rows;
}

/* A source that counts passes. */
typedef struct counted_source
{
	pe_source	source;
	pe_source  *inner;
	int			passes;
} counted_source;

static inline void
run_counted(pe_source *source, const pe_pass *pass, pe_i128 *sums)
{
	counted_source *counted = (counted_source *) source;

	counted->passes++;
	counted->inner->run(counted->inner, pass, sums);
}

static inline void
count_passes(counted_source *counted, table *t)
{
	counted->source = t->source;
	counted->source.run = run_counted;
	counted->inner = &t->source;
	counted->passes = 0;
}

static inline bool
all_finite(const double *w, int32_t columns)
{
	for (int32_t j = 0; j < columns; j++)
		if (!isfinite(w[j]))
			return false;
	return true;
}

#endif
