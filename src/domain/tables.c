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

static size_t
sets_size(const pe_tables *tables)
{
	return sizeof(tables->tables) + (size_t) tables->tables * sizeof(*tables->set);
}

size_t
pe_tables_selection_size(const pe_tables *tables, const pe_domain *domain, const pe_predicate *predicate)
{
	return sets_size(tables) + pe_selection_size(domain, predicate);
}

void
pe_tables_selection_write(const pe_tables *tables, const pe_domain *domain, const pe_predicate *predicate, char *bytes)
{
	memcpy(bytes, &tables->tables, sizeof(tables->tables));
	memcpy(bytes + sizeof(tables->tables), tables->set, (size_t) tables->tables * sizeof(*tables->set));
	pe_selection_write(domain, predicate, bytes + sets_size(tables));
}

/* The attributes that the sets are of; false if a set names another one. */
static bool
span(pe_tables *tables, const pe_domain *domain)
{
	tables->attributes = domain->attributes;
	for (int a = 0; a < domain->attributes; a++)
		tables->cells[a] = pe_attribute_cells(&domain->attribute[a]);
	for (int32_t t = 0; t < tables->tables; t++)
		if ((uint64_t) tables->set[t] >> domain->attributes != 0)
			return false;
	return true;
}

bool
pe_tables_selection_read(pe_tables *tables, pe_domain *domain, pe_predicate *predicate, const char *bytes, size_t size)
{
	memset(tables, 0, sizeof(*tables));
	if (size < sizeof(tables->tables))
		return false;
	memcpy(&tables->tables, bytes, sizeof(tables->tables));
	if (tables->tables < 1 || tables->tables > PE_MAX_TABLES || size < sets_size(tables))
		return false;
	tables->set = pe_alloc((size_t) tables->tables, sizeof(*tables->set));
	memcpy(tables->set, bytes + sizeof(tables->tables), (size_t) tables->tables * sizeof(*tables->set));
	if (pe_selection_read(domain, predicate, bytes + sets_size(tables), size - sets_size(tables)))
	{
		if (span(tables, domain) && pe_tables_prepare(tables))
			return true;
		pe_predicate_free(predicate);
		pe_domain_free(domain);
	}
	pe_tables_free(tables);
	return false;
}
