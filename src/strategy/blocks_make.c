/*
 * blocks_make.c
 *	  Which kind of blocks a workload gets.  See blocks.h.
 */
#include "strategy/blocks.h"

#include <string.h>

const char *
pe_blocks_kind_name(pe_blocks_kind kind)
{
	static const char *const names[] = {
		[PE_BLOCKS_MARGINALS] = "marginals", [PE_BLOCKS_SYMMETRIC] = "symmetric",
		[PE_BLOCKS_KRONECKER] = "kronecker", [PE_BLOCKS_PRODUCT] = "product"
	};

	return names[kind];
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

/* The columns of an attribute: classes of which a cell is left. */
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
		blocks->columns[a] = number_columns(classes->class_of[a], classes->count[a], possible, blocks->cells[a], blocks->column_of[a]);
		left = blocks->columns[a] > 0;
	}
	for (int a = 0; a < blocks->attributes && !left; a++)
		pe_free(blocks->column_of[a]);
	return left;
}
