/*
 * optimal.c
 *	  The optimal strategy for a workload under L2.  See strategy.h.
 */
#include "core/maker.h"
#include "core/optimum.h"

/* Solves, and rounds what is found. */
static void
optimise(pe_maker *m, double gap)
{
	pe_optimum	optimum;

	pe_optimum_solve(m->v, m->n, gap / 2, &optimum);	/* the other half is for the rounding */
	m->strategy->iterations = optimum.iterations;
	m->strategy->lower_bound = m->goal = optimum.lower;
	if (!optimum.full)
		pe_maker_round_factor(m, optimum.factor, optimum.rank);
	else if (!pe_maker_round_full(m, optimum.x))
		pe_bug("the optimum is not positive definite");
	pe_optimum_free(&optimum);
}

static void
make_sum(pe_maker *m)
{
	if (pe_maker_is_diagonal(m))
	{
		pe_maker_count_columns(m);
		m->strategy->lower_bound = m->strategy->objective;
	}
	else
		optimise(m, m->wish->gap);
}

pe_strategy_status
pe_make_optimal(const pe_strategy_wish *wish, pe_strategy *strategy)
{
	pe_maker	m;
	pe_strategy_status status;

	if (pe_workload_counts_once(wish->workload))
		return pe_maker_count_classes(wish, strategy);
	status = pe_maker_begin(&m, wish, strategy);
	if (status != PE_STRATEGY_OK)
		return status;
	m.tolerance = wish->gap;
	make_sum(&m);
	pe_maker_end(&m);
	return PE_STRATEGY_OK;
}

pe_strategy_status
pe_strategy_optimal(const pe_workload *workload, const pe_classes *classes, const bool *possible, double gap,
					pe_strategy *strategy)
{
	pe_strategy_wish wish = {
		.workload = workload, .classes = classes, .possible = possible,
		.method = PE_METHOD_OPTIMAL, .objective = PE_SUM, .norm = PE_L2, .gap = gap
	};

	return pe_make_optimal(&wish, strategy);
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
