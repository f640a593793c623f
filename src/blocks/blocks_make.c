/*
 * blocks_make.c
 *	  Which kind of blocks a workload gets.  See blocks.h.
 */
#include "blocks/blocks.h"

#include <string.h>

#include "base/mem.h"
#include "optimum/optimum.h"
#include "blocks/marginals.h"

const char *
pe_strategy_form(const pe_strategy *strategy)
{
	static const char *const names[] = {
		[PE_BLOCKS_MARGINALS] = "marginals", [PE_BLOCKS_SYMMETRIC] = "symmetric",
		[PE_BLOCKS_KRONECKER] = "kronecker", [PE_BLOCKS_PRODUCT] = "product"
	};

	if (strategy->blocks != NULL)
		return names[strategy->blocks->kind];
	if (strategy->direct)
		return "direct";
	return strategy->triangle == NULL && strategy->dense == NULL ? "counts" : "dense";
}

bool
pe_blocks_fit(const pe_blocks *blocks, const pe_shape *shape)
{
	return blocks->attributes == shape->attributes &&
		memcmp(blocks->cells, shape->cells, (size_t) shape->attributes * sizeof(int32_t)) == 0;
}

const pe_factor *
pe_term_on(const pe_term *term, int attribute)
{
	for (int f = 0; f < term->factors; f++)
		if (term->factor[f].attribute == attribute && term->factor[f].constructor != PE_TOTAL)
			return &term->factor[f];
	return NULL;
}

bool
pe_attribute_is_symmetric(const pe_workload *workload, int attribute)
{
	for (int32_t t = 0; t < workload->terms; t++)
	{
		const pe_factor *factor = pe_term_on(&workload->term[t], attribute);

		if (factor != NULL && factor->constructor != PE_IDENTITY)
			return false;
	}
	return true;
}

static bool
has_matrix_over_all(const pe_workload *workload)
{
	for (int32_t t = 0; t < workload->terms; t++)
		if (pe_term_on(&workload->term[t], PE_ALL_CELLS) != NULL)
			return true;
	return false;
}

static bool
is_named(const pe_workload *workload, int attribute)
{
	for (int32_t t = 0; t < workload->terms; t++)
		if (pe_term_on(&workload->term[t], attribute) != NULL)
			return true;
	return false;
}

/* The columns of an attribute: classes with a cell left. */
static int32_t
number_columns(const int32_t *class_of, int32_t classes, const bool *possible, int32_t cells, int32_t *column_of)
{
	int32_t    *column = pe_alloc((size_t) classes, sizeof(*column));
	int32_t		columns = 0;

	for (int32_t c = 0; c < cells; c++)
		if (possible == NULL || possible[c])
			column[class_of[c]] = 1;
	for (int32_t k = 0; k < classes; k++)
		column[k] = column[k] == 1 ? columns++ : PE_RULED_OUT;
	for (int32_t c = 0; c < cells; c++)
		column_of[c] = column[class_of[c]];
	pe_free(column);
	return columns;
}

bool
pe_blocks_begin(const pe_strategy_problem *problem, pe_blocks *blocks)
{
	const pe_workload *workload = problem->workload;
	const pe_classes *classes = problem->classes;
	bool		left = !has_matrix_over_all(workload);

	memset(blocks, 0, sizeof(*blocks));
	blocks->norm = problem->norm;
	blocks->attributes = workload->shape.attributes;
	for (int a = 0; a < blocks->attributes && left; a++)
	{
		const bool *possible = problem->possible_of != NULL ? problem->possible_of[a] : NULL;

		blocks->cells[a] = workload->shape.cells[a];
		if (!is_named(workload, a))
			continue;
		blocks->column_of[a] = pe_alloc((size_t) blocks->cells[a], sizeof(int32_t));
		blocks->columns[a] = number_columns(classes->class_of[a], classes->count[a], possible,
											blocks->cells[a], blocks->column_of[a]);
		left = blocks->columns[a] > 0;
	}
	for (int a = 0; a < blocks->attributes && !left; a++)
		pe_free(blocks->column_of[a]);
	return left;
}

void
pe_axis_centred(pe_axis *axis, int attribute, int32_t columns)
{
	*axis = (pe_axis) {.attributes = 1, .attribute = {attribute}, .cells = columns,
		.denominator = columns, .matrices = 1,
		.centre = pe_alloc((size_t) columns, sizeof(int32_t)), .matrix = pe_alloc(1, sizeof(pe_axis_matrix))};
	for (int32_t c = 0; c < columns; c++)
		axis->centre[c] = 1;
	axis->matrix[0].centred = true;
}

/* ------------------------------------------------------------------
 * The kind
 * ------------------------------------------------------------------
 */

/*
 * Up to so many classes one matrix for all of them is found in less time than a person notices,
 * and is as good.
 */
#define FEW_CLASSES 512

/* The classes of all attributes whose cells cannot be exchanged; INT32_MAX if there are more. */
static int64_t
core_classes(const pe_strategy_problem *problem)
{
	const pe_workload *workload = problem->workload;
	int64_t		cells = 1;

	for (int a = 0; a < workload->shape.attributes && cells <= PE_OPTIMUM_CELLS; a++)
		if (!pe_attribute_is_symmetric(workload, a))
			cells *= problem->classes->count[a];
	return cells < INT32_MAX ? cells : INT32_MAX;
}

/* Attributes that are not summed over. */
static int
axes(const pe_strategy_problem *problem)
{
	int			axes = 0;

	for (int a = 0; a < problem->workload->shape.attributes; a++)
		axes += problem->classes->count[a] > 1;
	return axes;
}

int
pe_blocks_spare_for(double times)
{
	int			spare = 0;

	/* four bits are there without */
	for (; times > 8.0; times /= 4.0)
		spare++;
	return spare;
}

int
pe_blocks_spare(pe_neighbours neighbours, int32_t max_rows)
{
	return pe_blocks_spare_for((neighbours == PE_SUBSTITUTE ? 4.0 : 1.0) * max_rows * max_rows);
}

bool
pe_blocks_serve(const pe_strategy_problem *problem)
{
	if (problem->method != PE_METHOD_OPTIMAL)
		return false;
	if (pe_shape_cells(&problem->workload->shape) > PE_MAX_CELLS || problem->classes->cells > PE_OPTIMUM_CELLS)
		return true;
	if (problem->classes->cells <= FEW_CLASSES || problem->whole ||
		problem->neighbours != PE_ADD_REMOVE || problem->possible != NULL ||
		has_matrix_over_all(problem->workload))
		return false;
	/* the optimum of a product is the product of optima, by either objective */
	return (problem->workload->terms == 1 && axes(problem) > 1) ||
		(problem->objective == PE_SUM && core_classes(problem) * 2 <= problem->classes->cells);
}

typedef bool (*make_kind) (const pe_strategy_problem *problem, pe_blocks *blocks, double *lower_bound);

/*
 * The objective of the integers; what it is under substitute is that of
 * add_remove times N, of PE_L1 times its square.
 */
static double
objective_of(const pe_strategy_problem *problem, const pe_blocks *blocks)
{
	double		neighbours = (double) pe_blocks_neighbours(blocks, problem->neighbours) /
		(double) (UINT64_C(1) << PE_SHARE_BITS);
	pe_blocks_errors errors;

	pe_blocks_error(blocks, problem->workload, &errors);
	return (problem->objective == PE_MAX ? errors.weighted_largest : errors.weighted_sum) *
		(problem->norm == PE_L1 ? neighbours * neighbours : neighbours);
}

/* Cheapest first; a kind that does not serve leaves nothing behind. */
pe_strategy_status
pe_make_blocks(const pe_strategy_problem *problem, pe_strategy *strategy)
{
	static const make_kind kinds[] = {pe_blocks_marginals, pe_blocks_kronecker, pe_blocks_symmetric, pe_blocks_product};
	pe_blocks  *blocks = pe_alloc(1, sizeof(*blocks));

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
	{
		double		lower_bound = 0;

		memset(blocks, 0, sizeof(*blocks));
		if (!kinds[k](problem, blocks, &lower_bound))
			continue;
		if (!pe_blocks_shares_hold(blocks))
			pe_bug("shares of blocks add up to more than the whole");
		pe_strategy_of_blocks(strategy, blocks, objective_of(problem, blocks), lower_bound);
		return PE_STRATEGY_OK;
	}
	pe_free(blocks);
	return PE_STRATEGY_TOO_LARGE;
}

/* Bytes for each block: its choices, its share, and what finds them (closure.h). */
#define BLOCK_MEMORY 256

size_t
pe_make_blocks_memory(const pe_strategy_problem *problem)
{
	const pe_workload *workload = problem->workload;
	int32_t		largest = 0;
	size_t		symmetric = workload->terms > 1 ? pe_blocks_symmetric_memory(problem) : 0;
	size_t		others;

	for (int a = 0; a < workload->shape.attributes; a++)
		if (!pe_attribute_is_symmetric(workload, a) && problem->classes->count[a] <= PE_OPTIMUM_CELLS &&
			problem->classes->count[a] > largest)
			largest = problem->classes->count[a];
	others = largest > 0 ? 2 * pe_optimum_memory(largest) : 0;
	return (size_t) PE_MAX_BLOCKS * BLOCK_MEMORY + pe_marginals_memory(workload->terms, problem->objective) +
		(symmetric > others ? symmetric : others);
}

pe_blame
pe_blocks_blame(const pe_strategy_problem *problem, int *attribute, double *number)
{
	const pe_workload *workload = problem->workload;

	*number = 1;
	for (int a = 0; a < workload->shape.attributes; a++)
		*number *= problem->classes->count[a];
	if (has_matrix_over_all(workload))
		return PE_BLAME_MATRIX;
	for (int a = 0; a < workload->shape.attributes; a++)
		if (!pe_attribute_is_symmetric(workload, a) && problem->classes->count[a] > PE_OPTIMUM_CELLS)
		{
			*attribute = a;
			*number = problem->classes->count[a];
			return PE_BLAME_ATTRIBUTE;
		}
	return workload->terms == 1 && *number > PE_PRODUCT_CELLS ? PE_BLAME_PRODUCT : PE_BLAME_BLOCKS;
}
