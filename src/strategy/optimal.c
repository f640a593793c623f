/*
 * optimal.c
 *	  The optimal strategy for a workload under L2.  See strategy.h.
 */
#include <math.h>
#include <string.h>

#include "optimum/optimum.h"
#include "strategy/rounding.h"

/* What rounding of a strategy for substitutions may cost. */
#define LEAST_TOLERANCE 1e-6

/* The solver, or what can be written down; for substitutions, what is found from there. */
static void
solve(const pe_rounding *m, double gap, pe_optimum *optimum)
{
	const pe_classes *classes = m->problem->classes;
	bool		all = m->n == classes->cells;	/* so that columns are the product of attributes */

	if (!pe_closed_form(m->v, m->n, classes->count, all ? classes->attributes : 0, optimum))
		pe_optimum_solve(m->v, m->n, gap, optimum);
	if (m->problem->neighbours == PE_SUBSTITUTE)
		pe_optimum_pairs(m->v, gap, optimum);
}

/* X of full rank.  Where weights of very different sizes make it all but singular a ridge may do better. */
static void
round_full(pe_rounding *m, double *x)
{
	size_t		size = (size_t) m->n * m->n;
	double	   *copy = pe_alloc(size, sizeof(double));
	pe_strategy before;

	memcpy(copy, x, size * sizeof(double));
	if (!pe_rounding_full(m, copy))
		pe_rounding_singular(m, x);
	else if (!pe_rounding_is_good(m))
	{
		before = *m->strategy;
		m->strategy->triangle = NULL;
		pe_rounding_singular(m, x);
		pe_rounding_keep_better(m, &before);
	}
	pe_free(copy);
}

/*
 * For substitutions the optimum may be farther from its bound than the gap:
 * rounding is then held against the optimum.
 */
static void
make_sum(pe_rounding *m)
{
	bool		pairs = m->problem->neighbours == PE_SUBSTITUTE;
	pe_optimum	optimum;

	if (!pairs && pe_rounding_is_diagonal(m))
	{
		pe_rounding_count_columns(m);
		m->strategy->lower_bound = m->strategy->objective;
		return;
	}
	solve(m, m->problem->gap / 2, &optimum);	/* the other half is for the rounding */
	m->strategy->iterations = optimum.iterations;
	m->strategy->lower_bound = optimum.lower;
	m->goal = pairs ? optimum.upper : optimum.lower;
	m->tolerance = pairs ? fmax(m->problem->gap / 2, LEAST_TOLERANCE) : m->problem->gap;
	m->neighbours = m->problem->neighbours;
	if (!optimum.full)
		pe_rounding_factor(m, optimum.factor, optimum.rank);
	else if (pairs)
		round_full(m, optimum.x);
	else if (!pe_rounding_full(m, optimum.x))
		pe_bug("the optimum is not positive definite");
	pe_optimum_free(&optimum);
}

void
pe_make_bound(pe_rounding *m, double gap)
{
	pe_optimum	optimum;

	solve(m, gap, &optimum);
	m->strategy->lower_bound = optimum.lower;
	pe_optimum_free(&optimum);
}

/* ---- the largest variance ---- */

typedef struct worst_query
{
	const pe_query_source *source;
	double	   *variance;
} worst_query;

static double
largest_variance(void *argument, const double *c)
{
	const worst_query *w = argument;
	double		largest = 0;

	w->source->variances(w->source->argument, c, w->variance);
	for (int32_t q = 0; q < w->source->queries; q++)
		largest = fmax(largest, w->variance[q]);
	return largest;
}

static void
make_max(pe_rounding *m)
{
	pe_workload_source kept;
	pe_query_source source;
	worst_query worst = {&source, NULL};
	pe_design	design;
	double		upper;

	pe_workload_source_init(m->problem->workload, m->problem->classes, m->representative, m->n, m->v, &kept, &source);
	worst.variance = pe_alloc(source.queries, sizeof(double));
	m->error = largest_variance;
	m->argument = &worst;
	pe_optimum_max(&source, m->n, m->problem->gap / 2, &design, &m->strategy->lower_bound, &upper);
	m->strategy->iterations = design.iterations;
	m->goal = m->strategy->lower_bound;
	if (design.x == NULL)
		pe_rounding_factor(m, design.factor, design.rows);
	else
		round_full(m, design.x);
	pe_design_free(&design);
	pe_free(worst.variance);
	pe_workload_source_free(&kept);
}

pe_strategy_status
pe_make_optimal(const pe_strategy_problem *problem, pe_strategy *strategy)
{
	pe_rounding	m;
	pe_strategy_status status;

	if (pe_workload_counts_once(problem->workload))
		return pe_rounding_count_classes(problem, strategy);
	status = pe_rounding_begin(&m, problem, strategy);
	if (status != PE_STRATEGY_OK)
		return status;
	m.tolerance = problem->gap;
	if (problem->objective == PE_MAX)
	{
		make_max(&m);
		if (!pe_rounding_substitute(problem, strategy))
			pe_bug("a strategy beyond its bounds");
	}
	else
		make_sum(&m);
	/* no strategy is better: what is below the bound was lost by rounding in sums of very different numbers */
	strategy->objective = fmax(strategy->objective, strategy->lower_bound);
	pe_rounding_end(&m);
	return PE_STRATEGY_OK;
}

pe_strategy_status
pe_strategy_optimal(const pe_workload *workload, const pe_classes *classes, const bool *possible, double gap,
					pe_strategy *strategy)
{
	pe_strategy_problem problem = {
		.workload = workload, .classes = classes, .possible = possible,
		.method = PE_METHOD_OPTIMAL, .objective = PE_SUM, .norm = PE_L2, .gap = gap
	};

	return pe_make_optimal(&problem, strategy);
}

size_t
pe_strategy_optimal_memory(const pe_workload *workload, const pe_classes *classes)
{
	size_t		n = classes->cells;
	size_t		queries;
	pe_workload candidates;

	if (pe_workload_counts_once(workload) || n > PE_OPTIMUM_CELLS)
		return n * sizeof(int32_t);
	pe_workload_basis(workload, &candidates);
	queries = candidates.queries;
	pe_workload_basis_free(&candidates);
	/* the Gram matrix twice; the optimum, and in its room what follows it; a basis, and what finds it */
	return n * n * (2 * sizeof(double) + sizeof(int32_t)) + pe_optimum_memory((int32_t) n)
		+ queries * (2 * sizeof(int32_t) + 5 * sizeof(double));
}
