/*
 * label.c
 *	  Labels of queries and cells.  See label.h.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/json.h"

#include "api/label.h"
#include "ledger/values.h"

static void
append_cell(StringInfo to, const pe_column *column, int32 cell)
{
	const pe_attribute *attribute = &column->domain;

	if (pe_attribute_is_null(attribute, cell))
		appendStringInfoString(to, "null");
	else if (pe_attribute_is_other(attribute, cell))
		appendStringInfoString(to, "{\"other\": true}");
	else if (attribute->kind == PE_LEVELS)
		pe_append_json_value(to, column->type, column->points[cell]);
	else
	{
		bool		last = cell == pe_attribute_ordered_cells(attribute) - 1;

		appendStringInfoString(to, "{\"from\": ");
		pe_append_json_value(to, column->type, column->points[cell]);
		appendStringInfoString(to, ", \"to\": ");
		pe_append_json_value(to, column->type, column->points[cell + 1]);
		appendStringInfo(to, ", \"last\": %s}", last ? "true" : "false");
	}
}

static void
append_attribute(StringInfo to, const pe_column *column, int32 cell)
{
	appendStringInfoString(to, to->len > 1 ? ", " : "");
	escape_json(to, column->name);
	appendStringInfoString(to, ": ");
	append_cell(to, column, cell);
}

static Datum
as_jsonb(StringInfo text)
{
	Datum		label;

	appendStringInfoChar(text, '}');
	label = DirectFunctionCall1(jsonb_in, CStringGetDatum(text->data));
	pfree(text->data);
	return label;
}

Datum
pe_label_of_query(const pe_workload *workload, const pe_domain *domain,
				  const pe_column *columns, int32 query)
{
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfoChar(&text, '{');
	for (int f = 0; f < workload->factors; f++)
		append_attribute(&text, &columns[workload->factor[f]],
						 pe_workload_coordinate(workload, domain, query, f));
	return as_jsonb(&text);
}

Datum
pe_label_of_cell(const pe_domain *domain, const pe_column *columns, int32 cell)
{
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfoChar(&text, '{');
	for (int a = 0; a < domain->attributes; a++)
		append_attribute(&text, &columns[a], pe_domain_coordinate(domain, cell, a));
	return as_jsonb(&text);
}
