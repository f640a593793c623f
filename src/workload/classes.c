/*
 * classes.c
 *	  Classes of cells that no query distinguishes.  See algebra.h.
 */
#include "workload/algebra.h"

#include <string.h>

/* Marks the cells before which the columns of a matrix change. */
static void
cut_matrix(const pe_factor *factor, bool *cut)
{
	for (int32_t q = 0; q < factor->queries; q++)
	{
		const int32_t *row = factor->entry + (size_t) q * factor->cells;

		for (int32_t c = 1; c < factor->cells; c++)
			cut[c] |= row[c] != row[c - 1];
	}
}

/* Cell c and c - 1 are in the same windows unless one begins at c or ended at c - 1. */
static void
cut_windows(const pe_factor *factor, bool *cut)
{
	for (int32_t c = 1; c < factor->cells; c++)
		cut[c] |= c >= factor->width || c <= factor->cells - factor->width;
}

/* Marks the cells of an attribute before which the weights of a factor's queries change. */
static void
cut_factor(const pe_factor *factor, int32_t cells, bool *cut)
{
	switch (factor->constructor)
	{
		case PE_TOTAL:
			return;
		case PE_MATRIX:
			cut_matrix(factor, cut);
			return;
		case PE_RANGES:
			for (int32_t q = 0; q < factor->queries; q++)
			{
				cut[factor->range[2 * (size_t) q]] = true;
				cut[factor->range[2 * (size_t) q + 1] + 1] = true;
			}
			return;
		case PE_WIDTH_RANGE:
			cut_windows(factor, cut);
			break;
		case PE_IDENTITY:
		case PE_PREFIX:
		case PE_ALL_RANGE:
			for (int32_t c = 1; c < factor->cells; c++)
				cut[c] = true;
			break;
	}
	if (factor->cells < cells)
		cut[factor->cells] = true;
}

static void
cut_attribute(const pe_workload *workload, int attribute, bool *cut)
{
	int32_t		cells = workload->shape.cells[attribute];

	for (int32_t t = 0; t < workload->terms; t++)
		for (int f = 0; f < workload->term[t].factors; f++)
		{
			const pe_factor *factor = &workload->term[t].factor[f];

			if (factor->attribute == attribute)
				cut_factor(factor, cells, cut);
			else if (factor->attribute == PE_ALL_CELLS)
				memset(cut, true, cells);
		}
}

static void
number_classes(pe_classes *classes, int attribute, int32_t cells, const bool *cut)
{
	int32_t    *class_of = pe_alloc(cells, sizeof(int32_t));
	int32_t    *first = pe_alloc(cells, sizeof(int32_t));
	int32_t		count = 0;

	for (int32_t c = 0; c < cells; c++)
	{
		if (c == 0 || cut[c])
			first[count++] = c;
		class_of[c] = count - 1;
	}
	classes->class_of[attribute] = class_of;
	classes->first[attribute] = first;
	classes->count[attribute] = count;
	classes->cells = (int64_t) classes->cells * count < INT32_MAX ? classes->cells * count : INT32_MAX;
}

void
pe_classes_init(const pe_workload *const *workloads, int count, pe_classes *classes)
{
	const pe_shape *shape = &workloads[0]->shape;

	memset(classes, 0, sizeof(*classes));
	classes->attributes = shape->attributes;
	classes->cells = 1;
	for (int a = 0; a < shape->attributes; a++)
	{
		bool	   *cut = pe_alloc((size_t) shape->cells[a] + 1, sizeof(bool));

		for (int w = 0; w < count; w++)
			cut_attribute(workloads[w], a, cut);
		number_classes(classes, a, shape->cells[a], cut);
		pe_free(cut);
	}
	if (shape->attributes == 0)
		number_classes(classes, classes->attributes++, 1, &(bool) {true});
}

void
pe_classes_free(pe_classes *classes)
{
	for (int a = 0; a < classes->attributes; a++)
	{
		pe_free(classes->class_of[a]);
		pe_free(classes->first[a]);
	}
	memset(classes, 0, sizeof(*classes));
}

int32_t
pe_classes_of_cell(const pe_classes *classes, const pe_shape *shape, int32_t cell)
{
	int32_t		index = 0;
	int32_t		stride = 1;

	for (int a = shape->attributes - 1; a >= 0; a--)
	{
		index += classes->class_of[a][cell % shape->cells[a]] * stride;
		stride *= classes->count[a];
		cell /= shape->cells[a];
	}
	return index;
}
