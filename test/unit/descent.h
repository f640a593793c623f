/*
 * descent.h
 *	  Rows and problems for the tests of the first-order methods.
 */
#ifndef PE_TEST_DESCENT_H
#define PE_TEST_DESCENT_H

#include <math.h>
#include <string.h>

#include "fit/methods.h"
#include "shim.h"

#define COLUMNS 4

/* No noise to speak of. */
#define WITHOUT_NOISE (INT64_MAX / 64)

static pe_row_shape descent_shape = {.dense = COLUMNS, .columns = COLUMNS};

/* Rows in memory, as what a pass sees and as doubles. */
typedef struct descent_rows
{
	pe_rows		rows;
	pe_source	source;
	int			count;
	double	  (*x)[COLUMNS];
	double	   *y;				/* -1, 1 */
} descent_rows;

static inline double
descent_uniform(void)
{
	uint64_t	word;

	pe_random_bytes(&word, sizeof(word));
	return ldexp((double) (word >> 11), -53);
}

/* Features in [-1, 1], the first of them an intercept; labels from a logistic model. */
static inline void
make_descent_rows(descent_rows *d, int count, uint64_t seed)
{
	pe_rows_init(&d->rows, &descent_shape, false);
	pe_source_of_rows(&d->source, &d->rows);
	d->count = count;
	d->x = pe_alloc((size_t) count, sizeof(*d->x));
	d->y = pe_alloc((size_t) count, sizeof(*d->y));
	pe_test_seed(seed);
	for (int i = 0; i < count; i++)
	{
		int16_t		dense[COLUMNS];
		double		margin = 0;
		pe_row		row = {dense, NULL, PE_ONE, 0};

		for (int j = 0; j < COLUMNS; j++)
		{
			dense[j] = j == 0 ? PE_ONE : (int16_t) ((2 * descent_uniform() - 1) * PE_ONE);
			d->x[i][j] = dense[j] / (double) PE_ONE;
			margin += (j % 2 == 0 ? 1 : -2) * d->x[i][j] * (j + 1);
		}
		row.label = descent_uniform() < 1 / (1 + exp(-margin));
		d->y[i] = row.label == 1 ? 1 : -1;
		pe_rows_add(&d->rows, &row, NULL);
	}
	pe_test_unseed();
}

static inline void
free_descent_rows(descent_rows *d)
{
	pe_rows_free(&d->rows);
	pe_free(d->x);
	pe_free(d->y);
}

static inline void
make_descent_problem(pe_fit_problem *problem, pe_fit_method method)
{
	memset(problem, 0, sizeof(*problem));
	problem->model = PE_MODEL_LOGISTIC;
	problem->method = method;
	problem->shape = &descent_shape;
	problem->intercept = 0;
	problem->radius_sq = (pe_u128) COLUMNS * PE_ONE * PE_ONE;
	problem->radius_1 = (int64_t) COLUMNS * PE_ONE;
	problem->max_rows = 1;
	problem->nano = WITHOUT_NOISE;
	problem->delta = 1e-6;
	pe_options_init(&pe_fit_option_table, &problem->options);
}

/* The gradient of the mean logistic loss, in doubles. */
static inline void
mean_gradient(const descent_rows *d, const double *w, double *gradient)
{
	memset(gradient, 0, COLUMNS * sizeof(double));
	for (int i = 0; i < d->count; i++)
	{
		double		margin = 0;

		for (int j = 0; j < COLUMNS; j++)
			margin += d->x[i][j] * w[j];
		for (int j = 0; j < COLUMNS; j++)
			gradient[j] -= d->y[i] * d->x[i][j] / (1 + exp(d->y[i] * margin)) / d->count;
	}
}

/* A trace that keeps all iterates. */
#define MOST_STEPS 2000

typedef struct kept_trace
{
	int32_t		steps;
	double		w[MOST_STEPS + 1][COLUMNS];
} kept_trace;

static inline void
keep(void *argument, int32_t step, const double *w)
{
	kept_trace *kept = argument;

	assert_true(step == kept->steps + 1 && step <= MOST_STEPS);
	kept->steps = step;
	memcpy(kept->w[step], w, sizeof(kept->w[step]));
}

/* A source that looks at the passes before they are run. */
typedef struct watched_source
{
	pe_source	source;
	pe_source  *inner;
	int			gradients;
	int			counts;
	pe_pass		last;			/* gradient; its weights are gone */
} watched_source;

static inline void
watch(pe_source *source, const pe_pass *pass, pe_i128 *sums)
{
	watched_source *watched = (watched_source *) source;

	if (pass->kind == PE_PASS_GRADIENT)
	{
		/* keys of two samples are never the same */
		if (pass->sample != 0 && watched->gradients > 0)
			assert_memory_not_equal(pass->sample_key, watched->last.sample_key, sizeof(pass->sample_key));
		watched->gradients++;
		watched->last = *pass;
	}
	else
	{
		assert_int_equal(pass->kind, PE_PASS_COUNT);
		watched->counts++;
	}
	watched->inner->run(watched->inner, pass, sums);
}

static inline void
watch_source(watched_source *watched, pe_source *inner)
{
	memset(watched, 0, sizeof(*watched));
	watched->source = *inner;
	watched->source.run = watch;
	watched->inner = inner;
}

#endif
