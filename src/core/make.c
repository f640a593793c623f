/*
 * make.c
 *	  The strategy that is wished for, by any method.  See strategy.h.
 */
#include "core/partition.h"
#include "core/strategy.h"

pe_strategy_status
pe_strategy_make(const pe_strategy_wish *wish, pe_strategy *strategy)
{
	if (wish->method == PE_METHOD_DAWA)
		return pe_ordered_columns(wish->workload, wish->classes, wish->possible, strategy);
	if (wish->norm == PE_L1)
		return pe_strategy_optimal_l1(wish->workload, wish->classes, wish->possible, wish->gap, strategy);
	return pe_strategy_optimal(wish->workload, wish->classes, wish->possible, wish->gap, strategy);
}

size_t
pe_strategy_make_memory(const pe_strategy_wish *wish)
{
	if (wish->norm == PE_L1)
		return pe_strategy_optimal_l1_memory(wish->workload, wish->classes);
	return pe_strategy_optimal_memory(wish->workload, wish->classes);
}

pe_strategy_status
pe_strategy_bound(const pe_strategy_wish *wish, double *lower_bound)
{
	pe_strategy strategy;
	pe_strategy_status status = pe_strategy_optimal(wish->workload, wish->classes, wish->possible, 1e-3, &strategy);

	if (status == PE_STRATEGY_OK)
	{
		*lower_bound = strategy.lower_bound;
		pe_strategy_free(&strategy);
	}
	return status;
}
