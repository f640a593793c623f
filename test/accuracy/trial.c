/*
 * trial.c
 *	  See trial.h.
 */
#define _XOPEN_SOURCE 700
#include "trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fit/fit.h"
#include "accounting/filter.h"
#include "shim.h"
#include "allowance.h"

#define NANO 1e9

/* ------------------------------------------------------------------
 * Numbers
 * ------------------------------------------------------------------
 */

void
series_add(series *s, double x)
{
	double		from = x - s->mean;

	s->mean += from / ++s->count;
	s->squares += from * (x - s->mean);
}

double
series_sd(const series *s)
{
	return s->count > 1 ? sqrt(s->squares / (s->count - 1)) : 0.0;
}

double
series_error(const series *s)
{
	return s->count > 1 ? series_sd(s) / sqrt(s->count) : 0.0;
}

/* Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014 */
uint64_t
dice_bits(dice *d)
{
	uint64_t	z = (d->state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

double
dice_uniform(dice *d)
{
	return (double) (dice_bits(d) >> 11) * 0x1p-53;
}

/* Box and Muller, two at a time */
double
dice_normal(dice *d)
{
	double		length;
	double		angle;

	d->has_spare = !d->has_spare;
	if (!d->has_spare)
		return d->spare;
	length = sqrt(-2.0 * log(1.0 - dice_uniform(d)));
	angle = 2.0 * M_PI * dice_uniform(d);
	d->spare = length * sin(angle);
	return length * cos(angle);
}

/* ------------------------------------------------------------------
 * A model on rows
 * ------------------------------------------------------------------
 */

double
margin_of(const dataset *data, size_t i, const double *w)
{
	const pe_row_shape *shape = &data->map.shape;
	pe_row		row = dataset_row(data, i);
	const double *of_group = w + shape->dense;
	double		sum = 0.0;

	for (int32_t j = 0; j < shape->dense; j++)
		sum += row.dense[j] * w[j];
	for (int32_t g = 0; g < shape->groups; of_group += shape->cells[g++])
		if (row.cell[g] != PE_NO_GROUP_CELL)
			sum += row.unit * of_group[row.cell[g]];
	return sum / PE_ONE;
}

double
loss_of(pe_model model, double m, int16_t label)
{
	double		t = label == 1 ? m : -m;
	double		residual = m - (double) label / PE_ONE;

	if (model == PE_MODEL_LINEAR)
		return residual * residual / 2.0;
	if (model == PE_MODEL_SVM)
		return t < 1.0 ? 1.0 - t : 0.0;
	return log1p(exp(-fabs(t))) + (t < 0.0 ? -t : 0.0);
}

double
accuracy_of(const dataset *data, const size_t *order, size_t count, const double *w)
{
	size_t		right = 0;

	for (size_t i = 0; i < count; i++)
		right += (margin_of(data, order[i], w) >= 0.0) == (data->label[order[i]] == 1);
	return 100.0 * (double) right / (double) count;
}

double
objective_of(const dataset *data, pe_model model, const size_t *order, size_t count, const double *w)
{
	double		sum = 0.0;

	for (size_t i = 0; i < count; i++)
		sum += loss_of(model, margin_of(data, order[i], w), data->label[order[i]]);
	return sum / (double) count;
}

/* ------------------------------------------------------------------
 * Fits
 * ------------------------------------------------------------------
 */

void
trial_init(trial *t, pe_model model, pe_fit_method method, double epsilon, double delta)
{
	memset(t, 0, sizeof(*t));
	t->model = model;
	t->method = method;
	t->epsilon = epsilon;
	t->delta = delta;
	t->max_rows = 1;
	t->accounting = PE_GDP;
	pe_options_init(&pe_fit_option_table, &t->options);
}

static void __attribute__((noreturn))
cannot(const trial *t, const char *what, const char *more)
{
	fprintf(stderr, "%s, epsilon %g: %s %s\n", pe_fit_method_name(t->method), t->epsilon, what, more);
	exit(2);
}

static void
set_problem(pe_fit_problem *problem, const trial *t, const dataset *data, size_t rows)
{
	const pe_feature_map *map = &data->map;

	memset(problem, 0, sizeof(*problem));
	problem->model = t->model;
	problem->method = t->method;
	problem->options = t->options;
	if (t->tell_rows)
		problem->options.rows = (double) rows;
	problem->shape = &map->shape;
	problem->intercept = pe_feature_intercept(map);
	problem->radius_sq = map->radius_sq;
	problem->radius_1 = map->radius_1;
	problem->max_rows = t->max_rows;
	problem->delta = t->delta;
	problem->accounting = t->accounting;
	problem->nano = pe_fit_is_approximate(t->method) ? pe_nano_rho_down(t->epsilon) :
		pe_nano_rho_of_epsilon(t->accounting, t->epsilon, pe_delta_of_conversion(t->delta, t->delta_share));
}

/* Which groups have a cell for every row. */
static bool *
covering_groups(const pe_feature_map *map)
{
	bool	   *covering = pe_alloc((size_t) map->shape.groups + 1, sizeof(*covering));

	for (int32_t f = 0; f < map->features; f++)
		if (map->group[f] >= 0)
			covering[map->group[f]] = !map->feature[f].number;
	return covering;
}

void
trial_fit_told(const trial *t, const dataset *data, pe_rows *store, size_t rows, double *w, double *covariance)
{
	bool	   *covering = covering_groups(&data->map);
	pe_fit_problem problem;
	pe_source	source;
	const char *wrong;

	set_problem(&problem, t, data, rows);
	problem.covering = covering;
	problem.covariance = covariance;
	wrong = pe_fit_defaults(&problem);
	if (wrong != NULL)
		cannot(t, "no such option:", wrong);
	wrong = pe_fit_refusal(&problem);
	if (wrong != NULL)
		cannot(t, "refused:", wrong);
	if (pe_fit_is_private(t->method) && !pe_fit_plan_make(&problem))
		cannot(t, "the cost cannot be met", "");
	pe_source_of_rows(&source, store);
	run_fit(pe_fit_run, &problem, &source, w);
	pe_free(covering);
}

void
trial_fit(const trial *t, const dataset *data, pe_rows *store, size_t rows, double *w)
{
	trial_fit_told(t, data, store, rows, w, NULL);
}

void
store_rows(pe_rows *store, const dataset *data, const size_t *order, size_t count, int32_t per_unit)
{
	pe_rows_init(store, &data->map.shape, per_unit > 1);
	for (size_t i = 0; i < count; i++)
	{
		pe_row		row = dataset_row(data, order[i]);
		uint64_t	unit[2] = {i / (size_t) per_unit, 0};

		pe_rows_add(store, &row, per_unit > 1 ? unit : NULL);
	}
}

/* The order of rows with those of class 0 before those of class 1. */
static size_t *
by_class(const dataset *data, const size_t *order, size_t count)
{
	size_t	   *sorted = pe_alloc(count, sizeof(*sorted));
	size_t		n = 0;

	for (int16_t class = 0; class <= 1; class++)
		for (size_t i = 0; i < count; i++)
			if (data->label[order[i]] == class)
				sorted[n++] = order[i];
	return sorted;
}

/* ------------------------------------------------------------------
 * Cross-validation
 * ------------------------------------------------------------------
 */

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double) t.tv_sec + (double) t.tv_nsec / 1e9;
}

/* Fisher and Yates */
static void
shuffle(size_t *order, size_t count, dice *d)
{
	for (size_t i = 0; i < count; i++)
		order[i] = i;
	for (size_t i = count; i > 1; i--)
	{
		size_t		j = (size_t) (((unsigned __int128) dice_bits(d) * i) >> 64);
		size_t		moved = order[i - 1];

		order[i - 1] = order[j];
		order[j] = moved;
	}
}

/* Fits to the first train rows of order and measures on the rest. */
static void
run_trials(const dataset *data, const size_t *order, size_t train, int run, trial *trials, int count)
{
	double	   *w = pe_alloc((size_t) data->map.shape.columns, sizeof(*w));
	size_t	   *sorted = by_class(data, order, train);
	pe_rows		store;

	store_rows(&store, data, trials[0].alike ? sorted : order, train, trials[0].max_rows);
	for (int i = 0; i < count; i++)
	{
		trial	   *t = &trials[i];
		double		start = now();

		if (t->most_runs > 0 && t->accuracy.count >= t->most_runs)
			continue;
		pe_test_seed((uint64_t) run * 1000003 + (uint64_t) i + 1);
		trial_fit(t, data, &store, train, w);
		series_add(&t->seconds, now() - start);
		series_add(&t->accuracy, accuracy_of(data, order + train, data->rows - train, w));
		series_add(&t->objective, objective_of(data, t->model, order, train, w));
	}
	pe_rows_free(&store);
	pe_free(sorted);
	pe_free(w);
}

/* Puts the rows of one fold behind all others. */
static void
turn(size_t *to, const size_t *order, size_t rows, int fold, size_t *train)
{
	size_t		from = rows * (size_t) fold / FOLDS;
	size_t		until = rows * (size_t) (fold + 1) / FOLDS;

	*train = rows - (until - from);
	memcpy(to, order, from * sizeof(*to));
	memcpy(to + from, order + until, (rows - until) * sizeof(*to));
	memcpy(to + *train, order + from, (until - from) * sizeof(*to));
}

void
cross_validate(const dataset *data, int repetitions, trial *trials, int count)
{
	size_t	   *order = pe_alloc(data->rows, sizeof(*order));
	size_t	   *turned = pe_alloc(data->rows, sizeof(*turned));
	dice		d = {.state = 1};

	for (int r = 0; r < repetitions; r++)
	{
		shuffle(order, data->rows, &d);
		for (int fold = 0; fold < FOLDS; fold++)
		{
			size_t		train;

			turn(turned, order, data->rows, fold, &train);
			run_trials(data, turned, train, r * FOLDS + fold, trials, count);
		}
	}
	pe_free(order);
	pe_free(turned);
}
