/*
 * blocks_marginals.c
 *	  Blocks of workloads that ask every attribute by identity or total.  See blocks.h and
 *	  marginals.h, which has the shares.
 */
#include "blocks/blocks.h"

#include <string.h>

#include "blocks/marginals.h"

/* An axis for each attribute that has more than one column. */
static void
make_axes(pe_blocks *blocks)
{
	blocks->axis = pe_alloc(PE_MAX_ATTRIBUTES, sizeof(*blocks->axis));
	for (int a = 0; a < blocks->attributes; a++)
		if (blocks->columns[a] > 1)
			pe_axis_centred(&blocks->axis[blocks->axes++], a, blocks->columns[a]);
}

static pe_attribute_set
axes_of(const pe_blocks *blocks, const pe_term *term)
{
	pe_attribute_set set = 0;

	for (int a = 0; a < blocks->axes; a++)
		if (pe_term_on(term, blocks->axis[a].attribute[0]) != NULL)
			set |= pe_set_of(a);
	return set;
}

static void
make_blocks(const pe_closure *closure, const double *share, pe_blocks *blocks)
{
	size_t		axes = (size_t) blocks->axes;

	blocks->blocks = closure->sets;
	blocks->choice = pe_alloc((size_t) closure->sets * axes + 1, sizeof(*blocks->choice));
	blocks->share = pe_alloc((size_t) closure->sets, sizeof(*blocks->share));
	pe_shares_round(share, closure->sets, blocks->share);
	for (int32_t b = 0; b < closure->sets; b++)
		for (int a = 0; a < blocks->axes; a++)
			blocks->choice[(size_t) b * axes + (size_t) a] = pe_set_has(closure->set[b], a) ? 0 : -1;
}

/* False if there are too many subsets. */
static bool
share_blocks(const pe_strategy_problem *problem, pe_blocks *blocks, double *lower_bound)
{
	int32_t		terms = problem->workload->terms;
	int32_t		cells[PE_MAX_ATTRIBUTES];
	pe_attribute_set *set = pe_alloc((size_t) terms, sizeof(*set));
	double	   *weight = pe_alloc((size_t) terms, sizeof(*weight));
	pe_marginals marginals = {.attributes = blocks->axes, .cells = cells, .terms = terms, .term = set, .weight = weight,
		.norm = problem->norm, .objective = problem->objective};
	pe_closure	closure;
	bool		fits;

	for (int a = 0; a < blocks->axes; a++)
		cells[a] = blocks->axis[a].cells;
	for (int32_t t = 0; t < terms; t++)
	{
		set[t] = axes_of(blocks, &problem->workload->term[t]);
		weight[t] = problem->workload->term[t].weight;
	}
	fits = pe_closure_init(set, terms, PE_MAX_BLOCKS, &closure);
	if (fits)
	{
		double	   *share = pe_alloc((size_t) closure.sets, sizeof(*share));

		pe_marginals_shares(&marginals, &closure, share, lower_bound);
		make_blocks(&closure, share, blocks);
		pe_free(share);
		pe_closure_free(&closure);
	}
	pe_free(set);
	pe_free(weight);
	return fits;
}

bool
pe_blocks_marginals(const pe_strategy_problem *problem, pe_blocks *blocks, double *lower_bound)
{
	bool		fits;

	for (int a = 0; a < problem->workload->shape.attributes; a++)
		if (!pe_attribute_is_symmetric(problem->workload, a))
			return false;
	if (!pe_blocks_begin(problem, blocks))
		return false;
	blocks->kind = PE_BLOCKS_MARGINALS;
	make_axes(blocks);
	fits = share_blocks(problem, blocks, lower_bound) && pe_blocks_prepare(blocks);
	if (!fits)
		pe_blocks_free(blocks);
	return fits;
}
