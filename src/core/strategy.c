/*
 * strategy.c
 *	  Integer strategy matrices.  See strategy.h.
 */
#include "core/strategy.h"

#include <string.h>

void
pe_strategy_of_workload(const pe_workload *workload, const pe_domain *domain,
						const bool *possible, pe_strategy *strategy)
{
	int32_t		cells = domain->cells;
	int64_t		entries = 0;

	strategy->rows = pe_workload_queries(workload, domain);
	strategy->columns = cells;
	strategy->start = pe_alloc((size_t) cells + 1, sizeof(*strategy->start));
	strategy->row = pe_alloc(cells, sizeof(*strategy->row));
	strategy->entry = pe_alloc(cells, sizeof(*strategy->entry));
	for (int32_t cell = 0; cell < cells; cell++)
	{
		strategy->start[cell] = entries;
		if (possible != NULL && !possible[cell])
			continue;
		strategy->row[entries] = pe_workload_query_of_cell(workload, domain, cell);
		strategy->entry[entries++] = 1;
	}
	strategy->start[cells] = entries;
}

size_t
pe_strategy_memory(int32_t cells, int32_t queries)
{
	return ((size_t) cells + 1) * (sizeof(int64_t) + 2 * sizeof(int32_t))
		+ (size_t) queries * (sizeof(pe_i128) + sizeof(int64_t));
}

static pe_u128
column_norm_sq(const pe_strategy *strategy, int32_t column)
{
	pe_u128		norm_sq = 0;

	for (int64_t k = strategy->start[column]; k < strategy->start[column + 1]; k++)
		norm_sq += (pe_u128) ((int64_t) strategy->entry[k] * strategy->entry[k]);
	return norm_sq;
}

bool
pe_strategy_sensitivity_sq(const pe_strategy *strategy, int32_t max_rows,
						   pe_u128 *sensitivity_sq)
{
	pe_u128		largest = 0;
	pe_u128		copies_sq = (pe_u128) max_rows * (pe_u128) max_rows;

	if (max_rows < 1)
		pe_bug("a unit has at least one row");
	for (int32_t column = 0; column < strategy->columns; column++)
	{
		pe_u128		norm_sq = column_norm_sq(strategy, column);

		if (norm_sq > largest)
			largest = norm_sq;
	}
	if (largest > (((pe_u128) 1 << 96) - 1) / copies_sq)
		return false;
	*sensitivity_sq = largest * copies_sq;
	return true;
}

void
pe_strategy_apply(const pe_strategy *strategy, const int64_t *x, pe_i128 *y)
{
	memset(y, 0, (size_t) strategy->rows * sizeof(*y));
	for (int32_t column = 0; column < strategy->columns; column++)
		for (int64_t k = strategy->start[column]; k < strategy->start[column + 1]; k++)
			y[strategy->row[k]] += (pe_i128) strategy->entry[k] * x[column];
}

void
pe_strategy_free(pe_strategy *strategy)
{
	pe_free(strategy->start);
	pe_free(strategy->row);
	pe_free(strategy->entry);
	memset(strategy, 0, sizeof(*strategy));
}
