/*
 * tables.c
 *	  Lists of contingency tables.  See tables.h.
 */
#include "domain/tables.h"

#include <string.h>

/* The cells of a set of attributes; beyond the limit if there are more. */
static int64_t
cells_of(const pe_tables *tables, uint32_t set)
{
	int64_t		cells = 1;

	for (int a = 0; a < tables->attributes; a++)
		if ((set >> a & 1) != 0 && cells <= PE_MAX_TABLE_CELLS)
			cells *= tables->cells[a];
	return cells;
}

bool
pe_tables_prepare(pe_tables *tables)
{
	if (tables->tables < 1 || tables->tables > PE_MAX_TABLES)
		return false;
	tables->first = pe_alloc((size_t) tables->tables + 1, sizeof(*tables->first));
	for (int32_t t = 0; t < tables->tables; t++)
	{
		tables->first[t + 1] = tables->first[t] + cells_of(tables, tables->set[t]);
		if (tables->first[t + 1] > PE_MAX_TABLE_CELLS)
			return false;
	}
	return true;
}

void
pe_tables_free(pe_tables *tables)
{
	pe_free(tables->set);
	pe_free(tables->first);
	memset(tables, 0, sizeof(*tables));
}

int32_t
pe_tables_place(const pe_tables *tables, int32_t t, const int32_t *coordinate)
{
	int32_t		place = 0;

	for (int a = 0; a < tables->attributes; a++)
		if ((tables->set[t] >> a & 1) != 0)
			place = place * tables->cells[a] + coordinate[a];
	return place;
}

pe_u128
pe_tables_product(const pe_tables *tables)
{
	pe_u128		cells = 1;

	for (int a = 0; a < tables->attributes; a++)
	{
		if (cells > PE_WIDE_CELLS / (pe_u128) tables->cells[a])
			return 0;
		cells *= (pe_u128) tables->cells[a];
	}
	return cells;
}

pe_u128
pe_tables_number(const pe_tables *tables, const int32_t *coordinate)
{
	pe_u128		number = 0;

	for (int a = 0; a < tables->attributes; a++)
		number = number * (uint32_t) tables->cells[a] + (uint32_t) coordinate[a];
	return number;
}

void
pe_tables_coordinates(const pe_tables *tables, pe_u128 number, int32_t *coordinate)
{
	for (int a = tables->attributes - 1; a >= 0; a--)
	{
		coordinate[a] = (int32_t) (number % (uint32_t) tables->cells[a]);
		number /= (uint32_t) tables->cells[a];
	}
}

/* ------------------------------------------------------------------
 * The written form: the number of tables and their sets, 4 bytes each, in host order; then the selection
 * ------------------------------------------------------------------
 */

size_t
pe_tables_size(const pe_tables *tables)
{
	return sizeof(tables->tables) + (size_t) tables->tables * sizeof(*tables->set);
}

void
pe_tables_write(const pe_tables *tables, char *bytes)
{
	memcpy(bytes, &tables->tables, sizeof(tables->tables));
	memcpy(bytes + sizeof(tables->tables), tables->set, (size_t) tables->tables * sizeof(*tables->set));
}

bool
pe_tables_read(pe_tables *tables, pe_cursor *from)
{
	memset(tables, 0, sizeof(*tables));
	if (!pe_take(from, &tables->tables, sizeof(tables->tables)) || tables->tables < 1 ||
		tables->tables > PE_MAX_TABLES ||
		from->left < (size_t) tables->tables * sizeof(*tables->set))
		return false;
	tables->set = pe_alloc((size_t) tables->tables, sizeof(*tables->set));
	return pe_take(from, tables->set, (size_t) tables->tables * sizeof(*tables->set));
}

bool
pe_tables_span(pe_tables *tables, const pe_domain *domain)
{
	tables->attributes = domain->attributes;
	for (int a = 0; a < domain->attributes; a++)
		tables->cells[a] = pe_attribute_cells(&domain->attribute[a]);
	for (int32_t t = 0; t < tables->tables; t++)
		if ((uint64_t) tables->set[t] >> domain->attributes != 0)
			return false;
	return pe_tables_prepare(tables);
}

size_t
pe_tables_selection_size(const pe_tables *tables, const pe_domain *domain, const pe_predicate *predicate)
{
	return pe_tables_size(tables) + pe_selection_size(domain, predicate);
}

void
pe_tables_selection_write(const pe_tables *tables, const pe_domain *domain, const pe_predicate *predicate, char *bytes)
{
	pe_tables_write(tables, bytes);
	pe_selection_write(domain, predicate, bytes + pe_tables_size(tables));
}

bool
pe_tables_selection_read(pe_tables *tables, pe_domain *domain, pe_predicate *predicate, const char *bytes, size_t size)
{
	pe_cursor	from = {bytes, size};

	if (pe_tables_read(tables, &from) && pe_selection_read(domain, predicate, from.at, from.left))
	{
		if (pe_tables_span(tables, domain))
			return true;
		pe_predicate_free(predicate);
		pe_domain_free(domain);
	}
	pe_tables_free(tables);
	return false;
}
