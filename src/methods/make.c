/*
 * make.c
 *	  The strategy that is wished for, by any method.  See strategy.h.
 */
#include <math.h>

#include "published/adaptive.h"
#include "published/coa.h"
#include "published/levels.h"
#include "published/low_rank.h"
#include "strategy/maker.h"
#include "strategy/optimum.h"
#include "strategy/optimum_max.h"
#include "published/partition.h"
#include "strategy/round_dense.h"
#include "published/smoothing.h"

/* A bound is for telling how far from the optimum a method is: a tenth of a percent is enough. */
#define BOUND_GAP 1e-3

bool
pe_strategy_is_workload(const pe_strategy_wish *wish)
{
	return pe_workload_counts_once(wish->workload) &&
		(wish->method == PE_METHOD_OPTIMAL || wish->method == PE_METHOD_GAUSSIAN || wish->method == PE_METHOD_IDENTITY);
}

pe_strategy_status
pe_strategy_make(const pe_strategy_wish *wish, pe_strategy *strategy)
{
	if (!pe_method_serves(wish->method, wish->norm) ||
		(wish->objective == PE_MAX && (wish->method != PE_METHOD_OPTIMAL || wish->norm != PE_L2)))
		pe_bug("a wish that no method serves");
	if (wish->method == PE_METHOD_DAWA)
		return pe_ordered_columns(wish->workload, wish->classes, wish->possible, strategy);
	if (wish->method != PE_METHOD_OPTIMAL)
		return pe_make_competitor(wish, strategy);
	if (wish->norm == PE_L1)
		return pe_strategy_optimal_l1(wish->workload, wish->classes, wish->possible, wish->gap, strategy);
	return pe_make_optimal(wish, strategy);
}

pe_strategy_status
pe_strategy_bound(const pe_strategy_wish *wish, double *lower_bound)
{
	pe_maker	m;
	pe_strategy strategy;
	pe_strategy_status status;

	if (pe_strategy_is_workload(wish))
		status = pe_maker_count_classes(wish, &strategy);
	else
	{
		status = pe_maker_begin(&m, wish, &strategy);
		if (status == PE_STRATEGY_OK)
		{
			pe_make_bound(&m, fmax(wish->gap, BOUND_GAP));
			pe_maker_end(&m);
		}
	}
	if (status != PE_STRATEGY_OK)
		return status;
	*lower_bound = strategy.lower_bound;
	pe_strategy_free(&strategy);
	return PE_STRATEGY_OK;
}

/* Of the method alone, for n columns. */
static size_t
method_memory(const pe_strategy_wish *wish, int32_t n)
{
	size_t		square = (size_t) n * n * sizeof(double);

	if (wish->objective == PE_MAX)
		return pe_optimum_max_memory(wish->workload->queries, n) + pe_workload_source_memory(wish->workload, wish->classes) +
			3 * square + (size_t) wish->workload->queries * sizeof(double);
	switch (wish->method)
	{
		case PE_METHOD_COA:
			return pe_coa_memory(n) + square;
		case PE_METHOD_SMOOTHING:
			return pe_smoothing_memory(n) + square;
		case PE_METHOD_ADAPTIVE:
			return pe_adaptive_memory(n) + square;
		case PE_METHOD_LOWRANK:
			return pe_low_rank_memory(n, n) + square +
				(wish->norm == PE_L1 ? pe_round_dense_memory(pe_low_rank_rows(n) + n, n, n) + square : 0);
		case PE_METHOD_WAVELET:
		case PE_METHOD_HIERARCHICAL:
			/* at most two rows for each column */
			return pe_levels_memory(n) + square;
		default:
			return 0;
	}
}

size_t
pe_strategy_make_memory(const pe_strategy_wish *wish)
{
	size_t		optimal = pe_strategy_optimal_memory(wish->workload, wish->classes);
	int32_t		n = wish->classes->cells;

	if (pe_strategy_is_workload(wish) || n > PE_OPTIMUM_CELLS)
		return optimal;
	if (wish->method == PE_METHOD_OPTIMAL && wish->norm == PE_L1)
		return pe_strategy_optimal_l1_memory(wish->workload, wish->classes);
	return optimal + method_memory(wish, n);
}
