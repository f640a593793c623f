/*
 * reconstruct_covariance.c
 *	  What each measurement adds to the estimates of all queries, and how these vary together.  See reconstruct.h.
 */
#include "blocks/reconstruct.h"

#include <string.h>

#include "base/linalg.h"
#include "blocks/blocks.h"

/* The weights of all queries over the columns, queries x columns by columns: a column's estimate is shared out. */
static double *
weights_over_columns(const pe_reconstruction *r)
{
	const pe_workload *workload = r->workload;
	int32_t		columns = r->measured->strategy->columns;
	double	   *weights = pe_alloc((size_t) workload->queries * columns, sizeof(double));
	int32_t    *row = pe_alloc(r->classes.cells, sizeof(int32_t));
	int32_t    *term = pe_alloc(workload->queries, sizeof(int32_t));
	int32_t    *local = pe_alloc(workload->queries, sizeof(int32_t));

	pe_workload_index(workload, term, local);
	for (int32_t q = 0; q < workload->queries; q++)
	{
		int32_t		query[PE_MAX_ATTRIBUTES];

		pe_poll();
		(void) pe_term_query(&workload->term[term[q]], local[q], query);
		pe_term_row(&workload->term[term[q]], &r->classes, query, row);
		for (int32_t c = 0; c < r->classes.cells; c++)
			if (r->column_of[c] >= 0)
				weights[(size_t) r->column_of[c] * workload->queries + q] +=
					(double) row[c] / r->members[r->column_of[c]];
	}
	pe_free(local);
	pe_free(term);
	pe_free(row);
	return weights;
}

static void
covariance_of_columns(const pe_reconstruction *r, double *covariance)
{
	const pe_strategy *strategy = r->measured->strategy;
	int32_t		queries = r->workload->queries;
	int32_t		n = strategy->columns;
	double	   *weights = weights_over_columns(r);
	double	   *c;
	double	   *times;

	if (strategy->triangle == NULL && strategy->dense == NULL)
	{
		pe_la_syrk(false, queries, n, 1, weights, queries, 0, covariance, queries);
		pe_la_mirror(queries, covariance, queries);
		pe_free(weights);
		return;
	}
	c = pe_alloc(pe_la_square(n), sizeof(double));
	times = pe_alloc(pe_la_size(queries, n), sizeof(double));
	pe_strategy_covariance(strategy, c);
	pe_la_gemm(false, false, queries, n, n, 1, weights, queries, c, n, 0, times, queries);
	pe_la_gemm(false, true, queries, queries, n, 1, times, queries, weights, queries, 0, covariance, queries);
	pe_free(times);
	pe_free(c);
	pe_free(weights);
}

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

/* Estimates are linear: what each measurement by itself adds to them. */
static void
covariance_of_blocks(const pe_reconstruction *r, double *covariance)
{
	const pe_blocks *blocks = r->measured->strategy->blocks;
	int32_t		queries = r->workload->queries;
	double	   *y = pe_alloc(blocks->first[blocks->blocks], sizeof(double));
	double	   *weight = pe_alloc(queries, sizeof(double));

	memset(covariance, 0, pe_la_square(queries) * sizeof(double));
	for (int32_t b = 0; b < blocks->blocks; b++)
		for (int64_t i = blocks->first[b]; i < blocks->first[b + 1] && matters(blocks, b, r->workload); i++)
		{
			pe_poll();
			y[i] = 1;
			memset(weight, 0, queries * sizeof(double));
			pe_blocks_estimate(blocks, r->workload, y, weight);
			y[i] = 0;
			pe_la_syrk(false, queries, 1, pe_blocks_relative_variance(blocks, b), weight, queries, 1,
					   covariance, queries);
		}
	pe_la_mirror(queries, covariance, queries);
	pe_free(weight);
	pe_free(y);
}

void
pe_reconstruction_weights(const pe_reconstruction *r, double *weights)
{
	const pe_strategy *strategy = r->measured->strategy;
	const pe_blocks *blocks = strategy->blocks;
	int32_t		queries = r->workload->queries;
	int64_t    *y;

	memset(weights, 0, pe_la_size(queries, strategy->rows) * sizeof(double));
	if (blocks != NULL)
	{
		double	   *z = pe_alloc(strategy->rows, sizeof(double));

		for (int32_t b = 0; b < blocks->blocks; b++)
			for (int64_t i = blocks->first[b]; i < blocks->first[b + 1] && matters(blocks, b, r->workload); i++)
			{
				pe_poll();
				z[i] = 1;
				pe_blocks_estimate(blocks, r->workload, z, weights + (size_t) i * queries);
				z[i] = 0;
			}
		pe_free(z);
		return;
	}
	y = pe_alloc(strategy->rows, sizeof(int64_t));
	for (int32_t i = 0; i < strategy->rows; i++)
	{
		pe_poll();
		y[i] = 1;
		pe_reconstruction_estimate(r, y, weights + (size_t) i * queries);
		y[i] = 0;
	}
	pe_free(y);
}

void
pe_reconstruction_covariance(const pe_reconstruction *r, double *covariance)
{
	int32_t		queries = r->workload->queries;

	if (r->measured->strategy->blocks != NULL)
	{
		covariance_of_blocks(r, covariance);
		return;
	}
	if (!r->measured->strategy->direct)
	{
		covariance_of_columns(r, covariance);
		return;
	}
	if (!r->same)
		pe_bug("errors of other queries than were measured by themselves");
	memset(covariance, 0, pe_la_square(queries) * sizeof(double));
	for (int32_t q = 0; q < queries; q++)
		covariance[(size_t) q * queries + q] = 1;
}

size_t
pe_reconstruction_covariance_memory(const pe_strategy *strategy, const pe_workload *workload)
{
	size_t		queries = (size_t) workload->queries;
	size_t		n = (size_t) strategy->columns;

	if (strategy->blocks != NULL)
		return (size_t) strategy->rows * sizeof(double) + pe_blocks_estimate_memory(strategy->blocks, workload);
	if (strategy->direct)
		return 0;
	return (2 * queries * n + 3 * n * n * (strategy->triangle != NULL || strategy->dense != NULL)) * sizeof(double) +
		queries * 2 * sizeof(int32_t);
}
