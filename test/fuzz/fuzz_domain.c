/*
 * fuzz_domain.c
 *	  Any bytes as a written domain.
 *
 * They are refused, or they are exactly what pe_domain_write makes of the
 * domain that was read, and its map sends values to its cells.
 */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "domain/domain.h"

static void
demand(bool condition, const char *what)
{
	if (!condition)
		pe_bug(what);
}

static void
check_cell(const pe_attribute *attribute, int32_t cell)
{
	demand(cell == PE_DROPPED || (cell >= 0 && cell < pe_attribute_cells(attribute)), "a cell that does not exist");
}

static int32_t
cell_of_point(const pe_attribute *attribute, const pe_point *point)
{
	switch (attribute->key)
	{
		case PE_KEY_INT:
			return pe_cell_of_int(attribute, point->i);
		case PE_KEY_FLOAT:
			return pe_cell_of_float(attribute, point->f);
		case PE_KEY_BYTES:
			return pe_cell_of_bytes(attribute, point->b.data, point->b.size);
	}
	pe_bug("unknown kind of key");
}

/* Where a value is that equals the upper edge of an open last bin. */
static int32_t
cell_outside(const pe_attribute *attribute, int32_t last)
{
	return attribute->outside == PE_OUTSIDE_DROP ? PE_DROPPED : attribute->outside == PE_OUTSIDE_OTHER ? last + 1 : last;
}

/* Each class has a declared cell, and a value the class of its cell. */
static void
check_classes(const pe_attribute *attribute, const pe_attribute *declared)
{
	int32_t		cells = pe_attribute_cells(declared);
	bool	   *has_cell = pe_alloc((size_t) attribute->classes, sizeof(bool));

	demand(cells == pe_attribute_declared_cells(attribute) && attribute->classes == pe_attribute_cells(attribute), "the numbers of cells");
	for (int32_t cell = 0; cell < cells; cell++)
	{
		check_cell(attribute, attribute->class_of[cell]);
		has_cell[attribute->class_of[cell]] = true;
	}
	for (int32_t class = 0; class < attribute->classes; class++)
		demand(has_cell[class], "a class without a cell");
	for (int32_t i = 0; i < attribute->points; i++)
	{
		int32_t		cell = cell_of_point(declared, &attribute->point[i]);

		demand(cell_of_point(attribute, &attribute->point[i]) == (cell == PE_DROPPED ? cell : attribute->class_of[cell]), "the class of a point");
	}
	pe_free(has_cell);
}

/* A level is its own cell; an edge begins its bin, and the last one closes it unless it is open. */
static void
check_points(const pe_attribute *attribute)
{
	int32_t		last = pe_attribute_ordered_cells(attribute) - 1;

	for (int32_t i = 0; i < attribute->points; i++)
	{
		bool		outside = attribute->open && attribute->kind == PE_BINS && i == attribute->points - 1;

		demand(cell_of_point(attribute, &attribute->point[i]) == (outside ? cell_outside(attribute, last) : i < last ? i : last), "the cell of a point");
	}
}

static void
check_others(const pe_attribute *attribute)
{
	static const int64_t integers[] = {INT64_MIN, -1, 0, 1, INT64_MAX};
	const double floats[] = {-INFINITY, -DBL_MAX, -0.0, DBL_MIN, 0.5, DBL_MAX, INFINITY, NAN};

	check_cell(attribute, pe_cell_of_null(attribute));
	if (attribute->key == PE_KEY_INT)
		for (size_t i = 0; i < sizeof(integers) / sizeof(integers[0]); i++)
			check_cell(attribute, pe_cell_of_int(attribute, integers[i]));
	if (attribute->key == PE_KEY_FLOAT)
		for (size_t i = 0; i < sizeof(floats) / sizeof(floats[0]); i++)
			check_cell(attribute, pe_cell_of_float(attribute, floats[i]));
	if (attribute->key == PE_KEY_BYTES)
	{
		check_cell(attribute, pe_cell_of_bytes(attribute, "", 0));
		check_cell(attribute, pe_cell_of_bytes(attribute, "\xff\xff", 2));
	}
}

static void
check_domain(const pe_domain *domain, const char *bytes, size_t size)
{
	char	   *written;
	bool		numbers = pe_domain_has_numbers(domain);
	int64_t		cells = 1;

	demand(pe_domain_size(domain) == size, "the size of what was read");
	written = pe_alloc(size, 1);
	pe_domain_write(domain, written);
	demand(memcmp(written, bytes, size) == 0, "what was read is not what is written");
	pe_free(written);
	for (int a = 0; a < domain->attributes; a++)
	{
		pe_attribute declared = domain->attribute[a];

		declared.classes = 0;
		check_points(&declared);
		if (domain->attribute[a].classes > 0)
			check_classes(&domain->attribute[a], &declared);
		check_others(&domain->attribute[a]);
		if (cells <= PE_MAX_CELLS)
			cells *= pe_attribute_cells(&domain->attribute[a]);
		(void) pe_attribute_is_ordered(&domain->attribute[a]);
		demand(!numbers || pe_domain_coordinate(domain, domain->cells - 1, a) == pe_attribute_cells(&domain->attribute[a]) - 1,
			   "the last cell");
	}
	demand(numbers == (cells <= PE_MAX_CELLS) && domain->cells == (numbers ? cells : PE_MAX_CELLS + 1), "the number of cells");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	pe_domain	domain;

	if (pe_domain_read(&domain, (const char *) data, size) == PE_DOMAIN_OK)
		check_domain(&domain, (const char *) data, size);
	pe_domain_free(&domain);
	return 0;
}
