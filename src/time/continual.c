/*
 * continual.c
 *	  Strategies over time, and answers from what is measured.  See continual.h.
 *
 * Period s is cell and column T - 1 - s of the strategy, row t is its row T - 1
 * - t: L_ts is the entry of T in row T - 1 - t and column T - 1 - s, which is
 * above the diagonal where s <= t.
 */
#include "time/continual.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/linalg.h"
#include "optimum/optimum.h"
#include "time/continual_band.h"
#include "strategy/solve.h"
#include "strategy/rounding.h"

/* Of L's columns: the cells' strategy has as many, and both together are served in 96 bits. */
#define BITS 16

/* Queries that are looked at together. */
#define TOGETHER 512

/* ------------------------------------------------------------------
 * L
 * ------------------------------------------------------------------
 */

/* Column s of L from its diagonal on, in reverse: entry i is row T - 1 - i; NULL: each period is counted. */
static const int32_t *
reversed_column(const pe_continual *series, int32_t s)
{
	size_t		column = (size_t) (series->periods - 1 - s);

	return series->strategy.triangle == NULL ? NULL : series->strategy.triangle + column * (column + 1) / 2;
}

int32_t
pe_continual_entry(const pe_continual *series, int32_t t, int32_t s)
{
	const int32_t *column = reversed_column(series, s);

	if (t < 0 || t >= series->periods || s < 0 || s >= series->periods)
		pe_bug("a period that the series does not have");
	if (s > t || column == NULL)
		return s == t;
	return column[series->periods - 1 - t];
}

int32_t
pe_continual_since(const pe_continual *series, int32_t t)
{
	return series->window == 0 || t < series->window ? 0 : t - series->window + 1;
}

/* The largest sum of magnitudes of a row. */
static int64_t
largest_row(const pe_continual *series)
{
	int64_t		largest = 1;

	for (int32_t t = 0; t < series->periods; t++)
	{
		int64_t		sum = 0;

		for (int32_t s = pe_continual_since(series, t); s <= t; s++)
			sum += llabs(pe_continual_entry(series, t, s));
		largest = sum > largest ? sum : largest;
	}
	return largest;
}

int64_t
pe_continual_most(const pe_continual *series)
{
	return ((INT64_C(1) << 62) - 1) / largest_row(series);
}

void
pe_continual_weigh(const pe_continual *series, int32_t t, size_t columns, const int64_t *counts, int64_t *z)
{
	int64_t		most = pe_continual_most(series);

	memset(z, 0, columns * sizeof(*z));
	for (int32_t s = pe_continual_since(series, t); s <= t; s++, counts += columns)
	{
		int64_t		entry = pe_continual_entry(series, t, s);

		for (size_t j = 0; j < columns; j++)
			z[j] += entry * (counts[j] > most ? most : counts[j] < -most ? -most : counts[j]);
	}
}

/* ------------------------------------------------------------------
 * Making
 * ------------------------------------------------------------------
 */

static void
begin(const pe_continual_problem *problem, pe_continual *series)
{
	bool		limited = problem->history > 0 || problem->separate;

	if (problem->history < 0 || (problem->open_ended && limited))
		pe_bug("a series that cannot be");
	if (problem->objective == PE_MAX && (problem->open_ended || limited))
		pe_bug("only a strategy without limits minimises the largest error");
	memset(series, 0, sizeof(*series));
	series->over = problem->over;
	series->periods = problem->periods;
	series->queries = pe_over_queries(problem->over, problem->periods);
	series->forgets = problem->history > 0 && problem->history < problem->periods;
	series->window = problem->separate ? 1 : series->forgets ? problem->history : 0;
	series->open_ended = problem->open_ended;
	pe_over_workload(problem->over, problem->periods, &series->workload);
}

/* The sum of squared errors of one row, weighted, from the integers that are there. */
static double
objective_of(const pe_continual *series)
{
	double	   *variance = pe_la_vector((size_t) series->queries);
	pe_u128		factor;
	double		sum = 0;

	pe_continual_variances(series, variance);
	if (!pe_continual_factor(series, &(pe_presence) {.row_is_unit = true}, &factor))
		pe_bug("a strategy beyond its bounds");
	for (int32_t q = 0; q < series->queries; q++)
	{
		double		weight = series->over->term[q / series->periods].weight;

		sum += weight * weight * variance[q];
	}
	pe_free(variance);
	return (double) factor * sum;
}

/* A strategy over the periods, each its own column, without a matrix. */
static void
count_periods(pe_continual *series)
{
	int32_t		periods = series->periods;

	series->strategy = (pe_strategy) {.classes = periods, .columns = periods, .rows = periods, .inner = periods};
	series->strategy.column_of = pe_alloc((size_t) periods, sizeof(int32_t));
	for (int32_t c = 0; c < periods; c++)
		series->strategy.column_of[c] = c;
}

/* a_k of a Toeplitz matrix whose square is that of totals: (1 - x)^-1/2. */
static int32_t *
toeplitz_row(int32_t periods)
{
	int32_t    *row = pe_alloc((size_t) periods, sizeof(*row));
	double		a = 1;

	for (int32_t k = 0; k < periods; k++)
	{
		row[k] = (int32_t) lrint(ldexp(a, BITS));
		a *= (2.0 * k + 1) / (2.0 * k + 2);
	}
	return row;
}

static void
make_toeplitz(pe_continual *series)
{
	int32_t    *row = toeplitz_row(series->periods);
	int32_t    *to;

	count_periods(series);
	to = series->strategy.triangle = pe_alloc(pe_la_square(series->periods) / 2 + (size_t) series->periods,
											  sizeof(int32_t));
	for (int32_t j = 0; j < series->periods; j++)
		for (int32_t i = 0; i <= j; i++)
			*to++ = row[j - i];
	pe_free(row);
}

/* Only what is 0 has no place in the band; rounding leaves it so. */
static bool
is_causal(const pe_continual *series)
{
	const pe_strategy *s = &series->strategy;

	if (s->columns != series->periods || s->classes != series->periods ||
		s->rows != series->periods || s->inner != series->periods ||
		s->dense != NULL || s->basis != NULL || s->blocks != NULL || s->direct)
		return false;
	for (int32_t c = 0; c < s->classes; c++)
		if (s->column_of[c] != c)
			return false;
	for (int32_t t = 0; t < series->periods; t++)
	{
		if (pe_continual_entry(series, t, t) < 1)
			return false;
		for (int32_t before = 0; before < pe_continual_since(series, t); before++)
			if (pe_continual_entry(series, t, before) != 0)
				return false;
	}
	return true;
}

static void
solve_band(pe_rounding *m, pe_continual *series)
{
	pe_strategy *strategy = &series->strategy;
	double	   *x;
	pe_optimum	optimum;

	pe_optimum_solve(m->v, m->n, m->problem->gap, &optimum);
	if (!optimum.full)
		pe_bug("periods that are not independent");
	x = optimum.x;
	m->goal = pe_continual_band(m->v, m->n, series->window, x, &strategy->lower_bound, &strategy->iterations);
	if (!pe_rounding_full(m, x))
		pe_bug("a band that is not positive definite");
	pe_optimum_free(&optimum);
}

static pe_strategy_status
make_band(const pe_strategy_problem *problem, pe_continual *series)
{
	pe_rounding	m;
	pe_strategy_status status = pe_rounding_begin(&m, problem, &series->strategy);

	if (status != PE_STRATEGY_OK)
		return status;
	m.tolerance = problem->gap;
	if (pe_rounding_is_diagonal(&m))
		pe_rounding_count_columns(&m);
	else
		solve_band(&m, series);
	pe_rounding_end(&m);
	return PE_STRATEGY_OK;
}

static pe_strategy_status
make_optimal(const pe_continual_problem *problem, pe_continual *series)
{
	const pe_workload *workload = &series->workload;
	pe_classes	classes;
	pe_strategy_problem whole = {
		.workload = workload, .classes = &classes, .method = PE_METHOD_OPTIMAL,
		.objective = problem->objective, .norm = PE_L2,
		.gap = problem->gap, .whole = true, .bits = problem->bits > 0 ? problem->bits : BITS
	};
	pe_strategy_status status;

	pe_classes_init(&workload, 1, &classes);
	status = series->window > 0 ? make_band(&whole, series) : pe_make_optimal(&whole, &series->strategy);
	pe_classes_free(&classes);
	return status;
}

pe_strategy_status
pe_continual_make(const pe_continual_problem *problem, pe_continual *series)
{
	pe_strategy_status status = PE_STRATEGY_OK;

	if (problem->periods > PE_MAX_PERIODS)
		return PE_STRATEGY_TOO_LARGE;
	begin(problem, series);
	if (problem->open_ended)
		make_toeplitz(series);
	else if (series->window == 1)
		count_periods(series);
	else
		status = make_optimal(problem, series);
	if (status != PE_STRATEGY_OK)
	{
		pe_workload_free(&series->workload);
		return status;
	}
	if (!is_causal(series))
		pe_bug("a strategy that looks ahead");
	if (problem->open_ended || series->window == 1)
		series->strategy.objective = objective_of(series);
	return PE_STRATEGY_OK;
}

/* The errors that the choice is by, at the sensitivity; infinity: it is not served. */
static double
worth(const pe_continual *series, const pe_presence *presence, pe_objective objective)
{
	pe_continual_errors errors;

	if (!pe_continual_tell(series, presence, &errors))
		return INFINITY;
	return objective == PE_MAX ? errors.worst : errors.mean;
}

pe_strategy_status
pe_continual_choose(const pe_continual_problem *problem, const pe_presence *presence, pe_continual *series)
{
	pe_continual_problem apart = *problem;
	pe_continual separate;
	pe_strategy_status status = pe_continual_make(problem, series);

	if (status != PE_STRATEGY_OK || problem->open_ended || series->window == 1)
		return status;
	apart.separate = true;
	apart.objective = PE_SUM;
	if (pe_continual_make(&apart, &separate) != PE_STRATEGY_OK)
		return PE_STRATEGY_OK;
	if (worth(&separate, presence, problem->objective) < worth(series, presence, problem->objective))
	{
		pe_continual kept = *series;

		*series = separate;
		separate = kept;
	}
	pe_continual_free(&separate);
	return PE_STRATEGY_OK;
}

static bool
is_toeplitz(const pe_continual *series)
{
	int32_t    *row;
	bool		same = series->strategy.triangle != NULL;

	if (!series->open_ended)
		return true;
	row = toeplitz_row(series->periods);
	for (int32_t t = 0; same && t < series->periods; t++)
		for (int32_t s = 0; same && s <= t; s++)
			same = pe_continual_entry(series, t, s) == row[t - s];
	pe_free(row);
	return same;
}

bool
pe_continual_restore(const pe_continual_problem *problem, pe_strategy *strategy, pe_continual *series)
{
	if (problem->periods > PE_MAX_PERIODS)
		return false;
	begin(problem, series);
	series->strategy = *strategy;
	if (strategy->triangle == NULL)
		series->window = 1;
	if (is_causal(series) && (series->window != 1 || strategy->triangle == NULL) && is_toeplitz(series))
	{
		*strategy = (pe_strategy) {0};
		return true;
	}
	pe_workload_free(&series->workload);
	return false;
}

void
pe_continual_free(pe_continual *series)
{
	pe_workload_free(&series->workload);
	pe_strategy_free(&series->strategy);
}

size_t
pe_continual_memory(const pe_continual_problem *problem)
{
	size_t		square = pe_la_square(problem->periods);
	size_t		queries = (size_t) problem->over->terms * (size_t) problem->periods;
	size_t		band = problem->history > 0 && problem->history < problem->periods
		? pe_continual_band_memory(problem->periods, problem->history) : 0;

	if (problem->objective == PE_MAX)
		band = pe_optimum_max_memory((int32_t) queries, problem->periods);
	/* the text of the ranges, of some 24 bytes, twice, and what is read of it */
	return square * (4 * sizeof(double) + sizeof(int32_t)) + queries * 100 +
		TOGETHER * (size_t) problem->periods * sizeof(double) +
		pe_optimum_memory(problem->periods) + band;
}

/* ------------------------------------------------------------------
 * Answers
 * ------------------------------------------------------------------
 */

/* L in reverse, in doubles, upper triangular with zeros below. */
static double *
real_triangle(const pe_continual *series)
{
	double	   *r = pe_la_vector(pe_la_square(series->periods));

	pe_strategy_triangle(&series->strategy, r);
	return r;
}

/*
 * Columns of W' in reverse become columns of B': B T = W, so T'B' = W', from
 * the first row on; before a query's period there are zeros.
 */
static void
solve_queries(const pe_continual *series, const double *triangle, int32_t first, int32_t count, double *column)
{
	size_t		periods = (size_t) series->periods;

	memset(column, 0, (size_t) count * periods * sizeof(double));
	for (int32_t i = 0; i < count; i++)
	{
		int32_t		query = first + i;
		int32_t		from = pe_over_first(series->over, series->periods, query);

		for (int32_t s = from; s <= query % series->periods; s++)
			column[(size_t) i * periods + (periods - 1 - (size_t) s)] = 1;
	}
	pe_la_triangle_solve(true, series->periods, count, triangle, series->periods, column, series->periods);
}

void
pe_continual_weights(const pe_continual *series, int32_t query, double *weight)
{
	int32_t		first = pe_over_first(series->over, series->periods, query);
	int32_t		period = query % series->periods;

	memset(weight, 0, (size_t) series->periods * sizeof(double));
	for (int32_t s = period; s >= 0; s--)
	{
		double		rest = s >= first;

		for (int32_t t = s + 1; t <= period && (series->window == 0 || t < s + series->window); t++)
			rest -= pe_continual_entry(series, t, s) * weight[t];
		weight[s] = rest / pe_continual_entry(series, s, s);
	}
}

void
pe_continual_combine(const pe_continual *series, int32_t query, size_t numbers, const double *e, double *estimate)
{
	double	   *weight = pe_la_vector((size_t) series->periods);

	pe_continual_weights(series, query, weight);
	memset(estimate, 0, numbers * sizeof(double));
	for (int32_t s = 0; s <= query % series->periods; s++, e += numbers)
		for (size_t i = 0; i < numbers; i++)
			estimate[i] += weight[s] * e[i];
	pe_free(weight);
}

void
pe_continual_variances(const pe_continual *series, double *variance)
{
	size_t		periods = (size_t) series->periods;
	double	   *triangle = real_triangle(series);
	double	   *column = pe_la_vector(TOGETHER * periods);

	for (int32_t first = 0; first < series->queries; first += TOGETHER)
	{
		int32_t		count = series->queries - first < TOGETHER ? series->queries - first : TOGETHER;

		pe_poll();
		solve_queries(series, triangle, first, count, column);
		for (int32_t i = 0; i < count; i++)
			variance[first + i] = pe_la_dot(periods, column + (size_t) i * periods, column + (size_t) i * periods);
	}
	pe_free(triangle);
	pe_free(column);
}
