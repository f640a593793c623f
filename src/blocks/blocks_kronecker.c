/*
 * blocks_kronecker.c
 *	  One product of any factors: the product of the optima of its factors.  See blocks.h.
 *
 * W = (x)W_a, W_a the factors on attribute a: one, or a union, total among them, where the terms are all
 * combinations of what is asked of each attribute, with weights that are products.  Both the optimum of
 * the sum (max_y |W Y^.5|_*^2 / sum y) and that of the largest variance (the factorisation norm) multiply: the upper
 * bounds by the product of strategies, the lower ones by the product of dual solutions.  So the
 * product of the factors' certificates is that of all.
 */
#include "blocks/blocks_terms.h"

#include <math.h>
#include <string.h>

#include "optimum/optimum.h"
#include "strategy/rounding.h"

/*
 * The squared norms of several factors together stay below 2^92, and D_b with
 * them below 2^96; one has what rounding gives it.
 */
#define ALL_BITS 46
#define FACTOR_BITS 16

/* Cells get the columns that a strategy has for their classes. */
static void
take_columns(const pe_classes *classes, const pe_strategy *strategy, int attribute, pe_blocks *blocks)
{
	blocks->columns[attribute] = strategy->columns;
	for (int32_t c = 0; c < blocks->cells[attribute]; c++)
		blocks->column_of[attribute][c] = strategy->column_of[classes->class_of[0][c]];
}

bool
pe_axis_optimal(const pe_strategy_problem *problem, int attribute, const double *weight, pe_blocks *blocks)
{
	pe_axis    *axis = &blocks->axis[blocks->axes++];
	pe_strategy_problem part_problem = *problem;
	pe_strategy *strategy;
	pe_workload part;
	const pe_workload *list = &part;
	pe_classes	classes;
	bool		made;

	*axis = (pe_axis) {.attributes = 1, .attribute = {attribute}, .matrices = 1,
		.matrix = pe_alloc(1, sizeof(pe_axis_matrix))};
	strategy = &axis->matrix[0].strategy;
	pe_workload_part(problem->workload, &attribute, 1, weight, &part);
	pe_classes_init(&list, 1, &classes);
	part_problem.workload = &part;
	part_problem.classes = &classes;
	part_problem.neighbours = PE_ADD_REMOVE;
	part_problem.possible = problem->possible_of != NULL ? problem->possible_of[attribute] : NULL;
	part_problem.possible_of = NULL;
	made = (problem->norm == PE_L1 ? pe_make_optimal_l1 : pe_make_optimal) (&part_problem, strategy) == PE_STRATEGY_OK;
	if (made)
		take_columns(&classes, strategy, attribute, blocks);
	axis->cells = strategy->columns;
	pe_classes_free(&classes);
	pe_workload_basis_free(&part);
	return made;
}

/* ------------------------------------------------------------------
 * Whether a union is a product
 * ------------------------------------------------------------------
 */

/* The terms as combinations of factors. */
typedef struct combinations
{
	const pe_workload *workload;
	int			attributes;		/* that terms name */
	int			attribute[PE_MAX_ATTRIBUTES];
	int32_t		count[PE_MAX_ATTRIBUTES];	/* of different factors on each, none counted as one */
	int32_t    *number;			/* number[t * PE_MAX_ATTRIBUTES + k]: which one a term has */
	int32_t    *term_at;		/* of each combination, the last attribute fastest; -1: none */
} combinations;

static int32_t *
number_of(const combinations *c, int32_t term, int k)
{
	return &c->number[(size_t) term * PE_MAX_ATTRIBUTES + (size_t) k];
}

/* Numbers the different factors on an attribute; false if no term names it. */
static bool
number_factors(combinations *c, int attribute, int k)
{
	const pe_term *term = c->workload->term;
	int32_t    *first = pe_alloc((size_t) c->workload->terms, sizeof(*first));
	bool		named = false;

	c->count[k] = 0;
	for (int32_t t = 0; t < c->workload->terms; t++)
	{
		const pe_factor *factor = pe_term_on(&term[t], attribute);
		int32_t		i = 0;

		pe_poll();
		while (i < c->count[k] && !pe_factors_are_same(factor, pe_term_on(&term[first[i]], attribute)))
			i++;
		if (i == c->count[k])
			first[c->count[k]++] = t;
		*number_of(c, t, k) = i;
		named = named || factor != NULL;
	}
	pe_free(first);
	return named;
}

static int32_t
place_of(const combinations *c, int32_t term)
{
	int32_t		place = 0;

	for (int k = 0; k < c->attributes; k++)
		place = place * c->count[k] + *number_of(c, term, k);
	return place;
}

/* Whether every combination is there once. */
static bool
are_all_there(combinations *c)
{
	int32_t		terms = c->workload->terms;
	int64_t		places = 1;
	bool		all;

	for (int k = 0; k < c->attributes && places <= terms; k++)
		places *= c->count[k];
	all = places == terms;
	c->term_at = pe_alloc((size_t) terms, sizeof(*c->term_at));
	for (int32_t t = 0; t < terms && all; t++)
		c->term_at[t] = -1;
	for (int32_t t = 0; t < terms && all; t++)
	{
		int32_t    *at = &c->term_at[place_of(c, t)];

		all = *at < 0;
		*at = t;
	}
	return all;
}

/* The term that differs from the first in having factor i on the k-th attribute. */
static int32_t
term_with(const combinations *c, int k, int32_t i)
{
	int32_t		place = 0;

	for (int l = 0; l < c->attributes; l++)
		place = place * c->count[l] + (l == k ? i : *number_of(c, 0, l));
	return c->term_at[place];
}

/* The weight of a factor beside that of the first term's. */
static double
weight_of(const combinations *c, int k, int32_t i)
{
	return c->workload->term[term_with(c, k, i)].weight / c->workload->term[0].weight;
}

static bool
weights_are_products(const combinations *c)
{
	const pe_term *term = c->workload->term;

	for (int32_t t = 0; t < c->workload->terms; t++)
	{
		double		weight = term[0].weight;

		for (int k = 0; k < c->attributes; k++)
			weight *= weight_of(c, k, *number_of(c, t, k));
		if (!(fabs(weight - term[t].weight) <= 1e-12 * weight))
			return false;
	}
	return true;
}

static bool
find_combinations(const pe_workload *workload, combinations *c)
{
	*c = (combinations) {.workload = workload};
	c->number = pe_alloc((size_t) workload->terms * PE_MAX_ATTRIBUTES, sizeof(*c->number));
	for (int a = 0; a < workload->shape.attributes; a++)
		if (number_factors(c, a, c->attributes))
			c->attribute[c->attributes++] = a;
	return are_all_there(c) && weights_are_products(c);
}

static void
free_combinations(combinations *c)
{
	pe_free(c->number);
	pe_free(c->term_at);
}

/* ------------------------------------------------------------------
 * Axes
 * ------------------------------------------------------------------
 */

/* Whether an attribute is asked by identity alone. */
static bool
is_counted(const combinations *c, int k)
{
	const pe_factor *factor = pe_term_on(&c->workload->term[0], c->attribute[k]);

	return c->count[k] == 1 && factor->constructor == PE_IDENTITY;
}

/* The bits and the gap of each factor; false if the product has too many cells. */
static bool
divide_problem(const combinations *c, const pe_blocks *blocks, pe_strategy_problem *problem)
{
	int			solved = 0;
	int64_t		cells = 1;

	for (int k = 0; k < c->attributes && cells <= PE_PRODUCT_CELLS; k++)
	{
		solved += !is_counted(c, k);
		cells *= blocks->columns[c->attribute[k]];
	}
	if (solved > 1)
	{
		problem->bits = (ALL_BITS - problem->spare) / solved;
		if (problem->bits > FACTOR_BITS)
			problem->bits = FACTOR_BITS;
		problem->gap /= solved;
	}
	return cells <= PE_PRODUCT_CELLS;
}

/* An axis for each attribute, and a lower bound; false if one is too large. */
static bool
make_axes(const pe_strategy_problem *problem, const combinations *c, pe_blocks *blocks, double *lower_bound)
{
	const pe_workload *workload = problem->workload;
	pe_strategy_problem part = *problem;

	if (!divide_problem(c, blocks, &part))
		return false;
	*lower_bound = workload->term[0].weight * workload->term[0].weight;
	blocks->axis = pe_alloc(PE_MAX_ATTRIBUTES, sizeof(*blocks->axis));
	for (int k = 0; k < c->attributes; k++)
	{
		double	   *weight = pe_alloc((size_t) workload->terms, sizeof(*weight));
		bool		made;

		for (int32_t i = 0; i < c->count[k]; i++)
			weight[term_with(c, k, i)] = weight_of(c, k, i);
		made = pe_axis_optimal(&part, c->attribute[k], weight, blocks);
		pe_free(weight);
		if (!made)
			return false;
		*lower_bound *= blocks->axis[k].matrix[0].strategy.lower_bound;
	}
	return true;
}

bool
pe_blocks_kronecker(const pe_strategy_problem *problem, pe_blocks *blocks, double *lower_bound)
{
	combinations c;
	bool		made;

	if (!pe_blocks_begin(problem, blocks))
		return false;
	blocks->kind = PE_BLOCKS_KRONECKER;
	blocks->blocks = 1;
	blocks->choice = pe_alloc(PE_MAX_ATTRIBUTES, sizeof(*blocks->choice));	/* all 0: the one matrix of each axis */
	blocks->share = pe_alloc(1, sizeof(*blocks->share));
	blocks->share[0] = UINT64_C(1) << PE_SHARE_BITS;
	made = find_combinations(problem->workload, &c) &&
		make_axes(problem, &c, blocks, lower_bound) && pe_blocks_prepare(blocks);
	free_combinations(&c);
	if (!made)
		pe_blocks_free(blocks);
	else if (problem->norm == PE_L1)
		*lower_bound = 0;
	return made;
}
