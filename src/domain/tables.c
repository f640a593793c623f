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
