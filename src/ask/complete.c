/*
 * complete.c
 *	  Attributes that dropped no row when they were measured.  See complete.h.
 */
#include "postgres.h"

#include "catalog/pg_type.h"

#include "ask/complete.h"
#include "ask/request.h"

/* NaN counts as NULL. */
static bool
may_be_nan(Oid type)
{
	return type == FLOAT4OID || type == FLOAT8OID || type == NUMERICOID;
}

bool
pe_has_all_values(const pe_column *column)
{
	return column->domain.outside != PE_OUTSIDE_DROP || (column->type == BOOLOID && column->domain.points == 2);
}

/* That declares to drop rows, and cannot. */
static bool
is_complete_now(const pe_dataset *dataset, const pe_column *column)
{
	return column->domain.nulls == PE_NULLS_DROP && pe_has_all_values(column) &&
		!may_be_nan(column->type) && pe_column_is_never_null(dataset, column);
}

static int
compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *) a, *(char *const *) b);
}

pe_complete
pe_complete_now(const pe_dataset *dataset, const pe_column *columns, int count)
{
	pe_complete complete = {palloc(Max(count, 1) * sizeof(char *)), 0};

	for (int i = 0; i < count; i++)
		if (!pe_is_complete(&complete, columns[i].name) && is_complete_now(dataset, &columns[i]))
			complete.name[complete.names++] = columns[i].name;
	qsort(complete.name, complete.names, sizeof(char *), compare_names);
	return complete;
}

void
pe_complete_add(StringInfo text, const pe_complete *complete)
{
	if (complete->names > 0)
		pe_text_add_names(text, "complete", complete->name, complete->names);
}

bool
pe_is_complete(const pe_complete *complete, const char *name)
{
	for (int i = 0; i < complete->names; i++)
		if (strcmp(complete->name[i], name) == 0)
			return true;
	return false;
}
