/*
 * make.c
 *	  The table of the methods, and how each one's design is made integers.  See
 *	  strategy.h, and the header of each method.
 *
 * Privacy depends on the integers alone, not on how a method finds them, and so
 * does the objective that is reported.
 */
#include "methods/make.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "published/published.h"
#include "published/partition.h"
#include "optimum/optimum.h"
#include "blocks/blocks.h"
#include "strategy/rounding.h"

/* What rounding may add to the objective of a design. */
#define TOLERANCE 1e-6

/* A diagonal entry of T so many times smaller than another: its square is below the ridge. */
#define NEARLY_SINGULAR 256

/* A bound says how far from the optimum a method is: a tenth of a percent is enough. */
#define BOUND_GAP 1e-3

/* Pivots of V below this, its diagonal scaled to 1, count as zero: as in optimum.h. */
#define RANK_TOLERANCE 1e-12

/* ------------------------------------------------------------------
 * Designs under L2
 * ------------------------------------------------------------------
 */

static void
begin_rounding(pe_rounding *m, const pe_design *design)
{
	m->goal = design->objective;
	m->tolerance = TOLERANCE;
	m->strategy->iterations = design->iterations;
}

/*
 * Whether some column of T is nearly a combination of those before it.  The
 * errors reported would then be those of rounded numbers: a ridge costs less
 * than that.
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
round_x(pe_rounding *m, const double *x)
{
	double	   *copy = pe_alloc(pe_la_square(m->n), sizeof(double));

	memcpy(copy, x, pe_la_square(m->n) * sizeof(double));
	if (!pe_rounding_full(m, copy) || is_nearly_singular(m->strategy))
		pe_rounding_singular(m, x);
	pe_free(copy);
}

static bool
make_coa(pe_rounding *m)
{
	pe_coa_options options;
	pe_design	design;

	pe_coa_defaults(&options);
	pe_coa(m->v, m->n, &options, NULL, &design);
	begin_rounding(m, &design);
	round_x(m, design.x);
	pe_design_free(&design);
	return true;
}

static bool
make_smoothing(pe_rounding *m)
{
	pe_smoothing_options options;
	pe_design	design;

	pe_smoothing_defaults(&options);
	pe_smoothing(m->v, m->n, &options, NULL, &design);
	begin_rounding(m, &design);
	round_x(m, design.x);
	pe_design_free(&design);
	return true;
}

/* The factor of a workload of this rank; where that is full, X. */
static void
round_design_factor(pe_rounding *m, const pe_design *design, int32_t rank)
{
	if (rank < m->n)
		pe_rounding_factor(m, design->factor, design->rows);
	else
	{
		double	   *x = pe_alloc(pe_la_square(m->n), sizeof(double));

		pe_la_syrk(true, m->n, design->rows, 1, design->factor, design->rows, 0, x, m->n);
		pe_la_mirror(m->n, x, m->n);
		round_x(m, x);
		pe_free(x);
	}
}

/* Completed columns where they make X definite; of a workload of smaller rank also without, if that is better. */
static bool
make_adaptive(pe_rounding *m)
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
			pe_rounding_keep_better(m, &completed);
		}
	}
	pe_adapted_free(&adapted);
	return true;
}

/* ------------------------------------------------------------------
 * The low-rank mechanism
 * ------------------------------------------------------------------
 */

/* R, rank x n by columns, with V = R'R; returns the rank. */
static int32_t
row_factor(const pe_rounding *m, double **r)
{
	int32_t		n = m->n;
	double	   *a = pe_alloc(pe_la_square(n), sizeof(double));
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
round_l1(pe_rounding *m, const pe_design *design)
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
make_low_rank(pe_rounding *m)
{
	pe_low_rank_result result;
	double	   *r;
	int32_t		rank = row_factor(m, &r);
	bool		done = true;

	pe_low_rank(r, rank, m->n, m->problem->norm, NULL, NULL, &result);
	if (rank < m->n)
		(m->problem->norm == PE_L1 ? pe_low_rank_append : pe_low_rank_project) (r, rank, m->problem->norm, &result);
	begin_rounding(m, &result.design);
	if (m->problem->norm == PE_L1)
	{
		done = round_l1(m, &result.design);
		/* an L that is all but singular becomes one with a row for each column too */
		if (!done && rank == m->n)
		{
			pe_low_rank_append(r, rank, m->problem->norm, &result);
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

static bool
make_levels(pe_rounding *m, pe_levels *levels)
{
	pe_strategy *strategy = m->strategy;

	strategy->inner = m->n;
	strategy->rows = levels->rows;
	strategy->dense = pe_alloc((size_t) levels->rows * m->n, sizeof(int32_t));
	pe_levels_matrix(levels, strategy->dense);
	strategy->objective = pe_levels_error(levels, NULL, m->v, m->problem->norm);
	pe_levels_free(levels);
	return true;
}

static bool
make_wavelet(pe_rounding *m)
{
	pe_levels	levels;

	pe_levels_haar(m->n, &levels);
	return make_levels(m, &levels);
}

static bool
make_hierarchical(pe_rounding *m)
{
	pe_levels	levels;

	pe_levels_best_tree(m->v, m->n, m->problem->norm, &levels);
	return make_levels(m, &levels);
}

static bool
make_identity(pe_rounding *m)
{
	pe_rounding_count_columns(m);
	return true;
}

/* Delta^2 of every query with its weight; false if the sensitivity is beyond what can be served. */
static bool
make_direct(pe_rounding *m)
{
	const pe_workload *workload = m->problem->workload;
	pe_strategy *strategy = m->strategy;
	pe_u128		sensitivity;
	double		squared;

	strategy->direct = true;
	strategy->inner = m->n;
	strategy->rows = workload->queries;
	pe_strategy_bind(strategy, workload);
	if (m->problem->norm == PE_L1)
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
		strategy->objective += squared * workload->term[t].weight * workload->term[t].weight *
			(double) workload->term[t].queries;
	return true;
}

/* ------------------------------------------------------------------
 * Bytes for n columns
 * ------------------------------------------------------------------
 */

static size_t
low_rank_memory(int32_t n)
{
	return pe_low_rank_memory(n, n);
}

/* The rounding of a dense matrix. */
static size_t
low_rank_memory_l1(int32_t n)
{
	return pe_round_dense_memory(pe_low_rank_rows(n) + n, n, n) + pe_la_square(n) * sizeof(double);
}

/* ------------------------------------------------------------------
 * The table
 * ------------------------------------------------------------------
 */
typedef struct operations
{
	const char *name;
	bool		l2;				/* it is about this norm */
	bool		l1;
	bool		counts_once;	/* a workload that counts each cell once is measured itself, in any size */
	/* or, once the rounding has begun: */
	pe_strategy_status (*make_all) (const pe_strategy_problem *problem, pe_strategy *strategy);
	bool		(*make) (pe_rounding *m);	/* false: beyond what can be measured */
	size_t		(*memory) (int32_t n);	/* of `make', for n columns, without the matrix that is rounded; NULL: none */
	size_t		(*memory_l1) (int32_t n);	/* under PE_L1 so much more; NULL: none */
} operations;

static pe_strategy_status
make_optimal(const pe_strategy_problem *problem, pe_strategy *strategy)
{
	pe_strategy_status status;

	if (problem->norm == PE_L2)
		return pe_make_optimal(problem, strategy);
	status = pe_strategy_optimal_l1(problem->workload, problem->classes, problem->possible, problem->gap, strategy);
	if (status == PE_STRATEGY_OK && !pe_rounding_substitute(problem, strategy))
		pe_bug("a strategy beyond its bounds");
	return status;
}

static pe_strategy_status
make_ordered_columns(const pe_strategy_problem *problem, pe_strategy *strategy)
{
	return pe_ordered_columns(problem->workload, problem->classes, problem->possible, strategy);
}

static const operations methods[PE_METHODS] = {
	[PE_METHOD_OPTIMAL] = {"optimal", .l2 = true, .l1 = true, .counts_once = true, .make_all = make_optimal},
	[PE_METHOD_COA] = {"coa", .l2 = true, .make = make_coa, .memory = pe_coa_memory},
	[PE_METHOD_DIRECT] = {"direct", .l2 = true, .l1 = true, .counts_once = true, .make = make_direct},
	[PE_METHOD_IDENTITY] = {"identity", .l2 = true, .l1 = true, .counts_once = true, .make = make_identity},
	[PE_METHOD_WAVELET] = {"wavelet", .l2 = true, .l1 = true, .make = make_wavelet, .memory = pe_levels_memory},
	[PE_METHOD_HIERARCHICAL] = {"hierarchical", .l2 = true, .l1 = true, .make = make_hierarchical,
		.memory = pe_levels_memory},
	[PE_METHOD_ADAPTIVE] = {"adaptive", .l2 = true, .make = make_adaptive, .memory = pe_adaptive_memory},
	[PE_METHOD_SMOOTHING] = {"smoothing", .l2 = true, .make = make_smoothing, .memory = pe_smoothing_memory},
	[PE_METHOD_LOWRANK] = {"lowrank", .l2 = true, .l1 = true, .make = make_low_rank,
		.memory = low_rank_memory, .memory_l1 = low_rank_memory_l1},
	[PE_METHOD_DAWA] = {"dawa", .l1 = true, .make_all = make_ordered_columns},
};

const char *
pe_method_name(pe_method method)
{
	return methods[method].name;
}

bool
pe_method_of_name(const char *name, pe_method *method)
{
	for (int i = 0; i < PE_METHODS; i++)
		if (strcmp(name, methods[i].name) == 0)
		{
			*method = (pe_method) i;
			return true;
		}
	return false;
}

bool
pe_method_serves(pe_method method, pe_norm norm)
{
	return norm == PE_L2 ? methods[method].l2 : methods[method].l1;
}

bool
pe_strategy_is_workload(const pe_strategy_problem *problem)
{
	return methods[problem->method].counts_once && pe_workload_counts_once(problem->workload) &&
		pe_shape_cells(&problem->workload->shape) <= PE_MAX_CELLS && !pe_counts_total(problem);
}

pe_strategy_status
pe_strategy_make(const pe_strategy_problem *problem, pe_strategy *strategy)
{
	const operations *method = &methods[problem->method];
	pe_rounding	m;
	pe_strategy_status status;
	bool		done;

	if (!pe_method_serves(problem->method, problem->norm) ||
		(problem->objective == PE_MAX && (problem->method != PE_METHOD_OPTIMAL || problem->norm != PE_L2)))
		pe_bug("a strategy that no method makes");
	if (pe_strategy_is_workload(problem))
		return pe_rounding_count_classes(problem, strategy);
	if (pe_blocks_serve(problem))
		return pe_make_blocks(problem, strategy);
	if (pe_shape_cells(&problem->workload->shape) > PE_MAX_CELLS)
		return PE_STRATEGY_TOO_LARGE;
	if (method->make_all != NULL)
		return method->make_all(problem, strategy);
	status = pe_rounding_begin(&m, problem, strategy);
	if (status != PE_STRATEGY_OK)
		return status;
	done = method->make(&m) && pe_rounding_substitute(problem, strategy);
	pe_rounding_end(&m);
	if (done)
		return PE_STRATEGY_OK;
	pe_strategy_free(strategy);
	return PE_STRATEGY_BEYOND;
}

pe_strategy_status
pe_strategy_bound(const pe_strategy_problem *problem, double *lower_bound)
{
	pe_rounding	m;
	pe_strategy strategy;
	pe_strategy_status status;

	if (pe_strategy_is_workload(problem))
		status = pe_rounding_count_classes(problem, &strategy);
	else if (pe_shape_cells(&problem->workload->shape) > PE_MAX_CELLS)
		status = PE_STRATEGY_TOO_LARGE;
	else
	{
		status = pe_rounding_begin(&m, problem, &strategy);
		if (status == PE_STRATEGY_OK)
		{
			pe_make_bound(&m, fmax(problem->gap, BOUND_GAP));
			pe_rounding_end(&m);
		}
	}
	if (status != PE_STRATEGY_OK)
		return status;
	*lower_bound = strategy.lower_bound;
	pe_strategy_free(&strategy);
	return PE_STRATEGY_OK;
}

/*
 * What pe_optimum_pairs, or the distances that rounding looks at beside three
 * matrices, take above pe_optimum_memory.
 */
static size_t
more_for_substitute(int32_t n)
{
	size_t		pairs = pe_optimum_pairs_memory(n);
	size_t		rounding = pe_strategy_distances_memory(n, n) + 4 * pe_la_square(n) * sizeof(double);
	size_t		most = pairs > rounding ? pairs : rounding;
	size_t		optimum = pe_optimum_memory(n);

	return most > optimum ? most - optimum : 0;
}

size_t
pe_strategy_make_memory(const pe_strategy_problem *problem)
{
	const operations *method = &methods[problem->method];
	bool		substitute = problem->neighbours == PE_SUBSTITUTE;
	int32_t		n = problem->classes->cells;
	size_t		matrix = pe_la_square(n) * sizeof(double);
	size_t		making = 0;
	size_t		bound;

	if (!pe_strategy_is_workload(problem) && pe_blocks_serve(problem))
		return pe_make_blocks_memory(problem);
	if (pe_strategy_is_workload(problem) || n > PE_OPTIMUM_CELLS)
		return (size_t) n * (sizeof(int32_t) + (substitute ? 2 * sizeof(double) : 0));
	if (problem->method == PE_METHOD_OPTIMAL && problem->norm == PE_L1)
		return pe_strategy_optimal_l1_memory(problem->workload, problem->classes);
	if (problem->objective == PE_MAX)
		making += pe_optimum_max_memory(problem->workload->queries, n) +
			pe_workload_source_memory(problem->workload, problem->classes) + 3 * matrix +
			(size_t) problem->workload->queries * sizeof(double);
	if (method->memory != NULL)
		making += method->memory(n) + matrix;
	if (method->memory_l1 != NULL && problem->norm == PE_L1)
		making += method->memory_l1(n);
	/* the one is over when the other begins */
	bound = substitute ? more_for_substitute(n) : 0;
	return pe_strategy_optimal_memory(problem->workload, problem->classes) + (making > bound ? making : bound);
}
