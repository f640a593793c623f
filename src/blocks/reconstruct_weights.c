/*
 * reconstruct_weights.c
 *	  What each measurement by itself adds to the estimates of all queries, which are linear.  See reconstruct.h.
 */
#include "blocks/reconstruct.h"

#include <string.h>

#include "base/linalg.h"
#include "blocks/blocks.h"

/* Whether some term asks for parts of an attribute. */
static bool
asks_for(const pe_workload *workload, int attribute)
{
	for (int32_t t = 0; t < workload->terms; t++)
		for (int f = 0; f < workload->term[t].factors; f++)
			if (workload->term[t].factor[f].attribute == attribute &&
				workload->term[t].factor[f].constructor != PE_TOTAL)
				return true;
	return false;
}

/* Queries that sum over an axis with a centre ask nothing of a block that does not. */
static bool
matters(const pe_blocks *blocks, int32_t block, const pe_workload *workload)
{
	for (int a = 0; a < blocks->axes; a++)
	{
		const pe_axis *axis = &blocks->axis[a];

		if (pe_blocks_choice(blocks, block, a) >= 0 && axis->centre != NULL &&
			!asks_for(workload, axis->attribute[0]))
			return false;
	}
	return true;
}

static void
weights_of_blocks(const pe_reconstruction *r, double *weights)
{
	const pe_blocks *blocks = r->measured->strategy->blocks;
	double	   *y = pe_alloc(blocks->first[blocks->blocks], sizeof(double));

	for (int32_t b = 0; b < blocks->blocks; b++)
		for (int64_t i = blocks->first[b]; i < blocks->first[b + 1] && matters(blocks, b, r->workload); i++)
		{
			pe_poll();
			y[i] = 1;
			pe_blocks_estimate(blocks, r->workload, y, weights + (size_t) i * r->workload->queries);
			y[i] = 0;
		}
	pe_free(y);
}

void
pe_reconstruction_weights(const pe_reconstruction *r, double *weights)
{
	int32_t		queries = r->workload->queries;
	int32_t		rows = r->measured->strategy->rows;
	int64_t    *y;

	memset(weights, 0, pe_la_size(queries, rows) * sizeof(double));
	if (r->measured->strategy->blocks != NULL)
	{
		weights_of_blocks(r, weights);
		return;
	}
	y = pe_alloc(rows, sizeof(int64_t));
	for (int32_t i = 0; i < rows; i++)
	{
		pe_poll();
		y[i] = 1;
		pe_reconstruction_estimate(r, y, weights + (size_t) i * queries);
		y[i] = 0;
	}
	pe_free(y);
}
