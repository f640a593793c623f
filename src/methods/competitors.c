/*
 * competitors.c
 *	  Every other method than the optimum: its design made integers.  See
 *	  strategy.h, and the header of each method.
 *
 * Whatever a method finds, privacy depends on the integers alone, and so does
 * the objective that is told.
 */
#include <math.h>
#include <string.h>

#include "methods/competitors.h"
#include "published/adaptive.h"
#include "published/coa.h"
#include "published/levels.h"
#include "base/linalg.h"
#include "published/low_rank.h"
#include "strategy/maker.h"
#include "strategy/optimum.h"
#include "strategy/round_dense.h"
#include "published/smoothing.h"

/* What rounding may add to the objective of a design. */
#define TOLERANCE 1e-6

/* A diagonal entry of T so many times smaller than another: its square is below the ridge. */
#define NEARLY_SINGULAR 256

/* Pivots of V below this, its diagonal scaled to 1, count as zero: as in optimum.h. */
#define RANK_TOLERANCE 1e-12

static size_t
square(int32_t n)
{
	return (size_t) n * n;
}

/* ------------------------------------------------------------------
 * Designs under L2
 * ------------------------------------------------------------------
 */

static void
begin_rounding(pe_maker *m, const pe_design *design)
{
	m->goal = design->objective;
	m->tolerance = TOLERANCE;
	m->strategy->iterations = design->iterations;
}

/*
 * Whether some column of T is nearly a combination of those before it.  What is told
 * of the errors would then be told of rounded numbers: a ridge costs less than that.
 */
static bool
is_nearly_singular(const pe_strategy *strategy)
{
	const int32_t *column = strategy->triangle;
	int32_t		least = INT32_MAX;
	int32_t		largest = 0;

	for (int32_t j = 0; j < strategy->inner; column += ++j)
	{
		least = column[j] < least ? column[j] : least;
		largest = column[j] > largest ? column[j] : largest;
	}
	return least < largest / NEARLY_SINGULAR;
}

/* X in full. */
static void
round_x(pe_maker *m, const double *x)
{
	double	   *copy = pe_alloc(square(m->n), sizeof(double));

	memcpy(copy, x, square(m->n) * sizeof(double));
	if (!pe_maker_round_full(m, copy) || is_nearly_singular(m->strategy))
		pe_maker_round_singular(m, x);
	pe_free(copy);
}

static void
make_coa(pe_maker *m)
{
	pe_coa_options options;
	pe_design	design;

	pe_coa_defaults(&options);
	pe_coa(m->v, m->n, &options, NULL, &design);
	begin_rounding(m, &design);
	round_x(m, design.x);
	pe_design_free(&design);
}

static void
make_smoothing(pe_maker *m)
{
	pe_smoothing_options options;
	pe_design	design;

	pe_smoothing_defaults(&options);
	pe_smoothing(m->v, m->n, &options, NULL, &design);
	begin_rounding(m, &design);
	round_x(m, design.x);
	pe_design_free(&design);
}

/* The factor of a workload of this rank; where that is full, X. */
static void
round_design_factor(pe_maker *m, const pe_design *design, int32_t rank)
{
	if (rank < m->n)
		pe_maker_round_factor(m, design->factor, design->rows);
	else
	{
		double	   *x = pe_alloc(square(m->n), sizeof(double));

		pe_la_syrk(true, m->n, design->rows, 1, design->factor, design->rows, 0, x, m->n);
		pe_la_mirror(m->n, x, m->n);
		round_x(m, x);
		pe_free(x);
	}
}

/* Completed columns where they make X definite; of a workload of smaller rank also without, if that is better. */
static void
make_adaptive(pe_maker *m)
{
	pe_adapted	adapted;

	pe_adaptive(m->v, m->n, PE_ADAPTIVE_GAP, NULL, &adapted);
	begin_rounding(m, &adapted.design);
	if (adapted.design.x == NULL)
		round_design_factor(m, &adapted.design, adapted.design.rows);
	else
	{
		round_x(m, adapted.design.x);
		if (adapted.uncompleted < adapted.design.objective)
		{
			pe_strategy completed = *m->strategy;

			m->strategy->triangle = NULL;
			m->goal = adapted.uncompleted;
			round_design_factor(m, &adapted.design, adapted.design.rows);
			pe_maker_keep_better(m, &completed);
		}
	}
	pe_adapted_free(&adapted);
}

/* ------------------------------------------------------------------
 * The low-rank mechanism
 * ------------------------------------------------------------------
 */

/* R, rank x n by columns, with V = R'R; returns the rank. */
static int32_t
row_factor(const pe_maker *m, double **r)
{
	int32_t		n = m->n;
	double	   *a = pe_alloc(square(n), sizeof(double));
	double	   *unit = pe_alloc(n, sizeof(double));
	double	   *work = pe_alloc(2 * (size_t) n, sizeof(double));
	int32_t    *pivot = pe_alloc(n, sizeof(int32_t));
	int32_t		rank;

	for (int32_t i = 0; i < n; i++)
		unit[i] = sqrt(m->v[(size_t) i * n + i]);
	for (int32_t j = 0; j < n; j++)
		for (int32_t i = 0; i < n; i++)
			a[(size_t) j * n + i] = m->v[(size_t) j * n + i] / (unit[i] * unit[j]);
	rank = pe_la_cholesky_pivoted(n, a, n, RANK_TOLERANCE, pivot, work);
	*r = pe_alloc((size_t) rank * n, sizeof(double));
	for (int32_t i = 0; i < n; i++)
		for (int32_t k = 0; k < rank && k <= i; k++)
			(*r)[k + (size_t) pivot[i] * rank] = a[i + (size_t) k * n] * unit[pivot[i]];
	pe_free(a);
	pe_free(unit);
	pe_free(work);
	pe_free(pivot);
	return rank;
}

/* L over the columns, which it has the rank of.  False if that cannot be measured. */
static bool
round_l1(pe_maker *m, const pe_design *design)
{
	pe_real_strategy real = {
		.factor = design->factor, .rows = design->rows, .inner = m->n, .v = m->v, .norm = PE_L1
	};

	m->strategy->inner = m->n;
	return pe_round_dense(&real, m->strategy);
}

/*
 * What the rows of L do not span cannot be answered.  For a workload of smaller rank
 * they are made combinations of its rows or, in the L1 norm, which would lose by
 * that, are joined by all columns.
 */
static bool
make_low_rank(pe_maker *m)
{
	pe_low_rank_result result;
	double	   *r;
	int32_t		rank = row_factor(m, &r);
	bool		done = true;

	pe_low_rank(r, rank, m->n, m->wish->norm, NULL, NULL, &result);
	if (rank < m->n)
		(m->wish->norm == PE_L1 ? pe_low_rank_append : pe_low_rank_project) (r, rank, m->wish->norm, &result);
	begin_rounding(m, &result.design);
	if (m->wish->norm == PE_L1)
	{
		done = round_l1(m, &result.design);
		/* an L that is all but singular becomes one with a row for each column too */
		if (!done && rank == m->n)
		{
			pe_low_rank_append(r, rank, m->wish->norm, &result);
			begin_rounding(m, &result.design);
			done = round_l1(m, &result.design);
		}
	}
	else
		round_design_factor(m, &result.design, rank);
	pe_free(r);
	pe_low_rank_free(&result);
	return done;
}

/* ------------------------------------------------------------------
 * Strategies that are integers by nature
 * ------------------------------------------------------------------
 */

static void
make_levels(pe_maker *m)
{
	pe_strategy *strategy = m->strategy;
	pe_levels	levels;

	if (m->wish->method == PE_METHOD_WAVELET)
		pe_levels_haar(m->n, &levels);
	else
		pe_levels_best_tree(m->v, m->n, m->wish->norm, &levels);
	strategy->inner = m->n;
	strategy->rows = levels.rows;
	strategy->dense = pe_alloc((size_t) levels.rows * m->n, sizeof(int32_t));
	pe_levels_matrix(&levels, strategy->dense);
	strategy->objective = pe_levels_error(&levels, NULL, m->v, m->wish->norm);
	pe_levels_free(&levels);
}

/* Delta^2 of every query with its weight; false if the sensitivity is beyond what can be served. */
static bool
make_direct(pe_maker *m)
{
	const pe_workload *workload = m->wish->workload;
	pe_strategy *strategy = m->strategy;
	pe_u128		sensitivity;
	double		squared;

	strategy->direct = true;
	strategy->inner = m->n;
	strategy->rows = workload->queries;
	pe_strategy_bind(strategy, workload);
	if (m->wish->norm == PE_L1)
	{
		if (!pe_strategy_sensitivity_l1(strategy, PE_ADD_REMOVE, 1, &sensitivity))
			return false;
		squared = (double) sensitivity * (double) sensitivity;
	}
	else
	{
		if (!pe_strategy_sensitivity_sq(strategy, PE_ADD_REMOVE, 1, &sensitivity))
			return false;
		squared = (double) sensitivity;
	}
	for (int32_t t = 0; t < workload->terms; t++)
		strategy->objective += squared * workload->term[t].weight * workload->term[t].weight * (double) workload->term[t].queries;
	return true;
}

static bool
make(pe_maker *m)
{
	switch (m->wish->method)
	{
		case PE_METHOD_COA:
			make_coa(m);
			return true;
		case PE_METHOD_DIRECT:
			return make_direct(m);
		case PE_METHOD_IDENTITY:
			pe_maker_count_columns(m);
			return true;
		case PE_METHOD_WAVELET:
		case PE_METHOD_HIERARCHICAL:
			make_levels(m);
			return true;
		case PE_METHOD_ADAPTIVE:
			make_adaptive(m);
			return true;
		case PE_METHOD_SMOOTHING:
			make_smoothing(m);
			return true;
		case PE_METHOD_LOWRANK:
			return make_low_rank(m);
		default:
			pe_bug("a method that makes no strategy");
	}
}

pe_strategy_status
pe_make_competitor(const pe_strategy_wish *wish, pe_strategy *strategy)
{
	pe_maker	m;
	pe_strategy_status status;
	bool		done;

	if (pe_strategy_is_workload(wish))
		return pe_maker_count_classes(wish, strategy);
	status = pe_maker_begin(&m, wish, strategy);
	if (status != PE_STRATEGY_OK)
		return status;
	done = make(&m);
	pe_maker_end(&m);
	if (done)
		return PE_STRATEGY_OK;
	pe_strategy_free(strategy);
	return PE_STRATEGY_BEYOND;
}
