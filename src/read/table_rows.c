/*
 * table_rows.c
 *	  Rows of a Table One.  See table_rows.h.
 */
#include "postgres.h"

#include <math.h>

#include "utils/builtins.h"
#include "utils/jsonb.h"

#include "read/table_rows.h"
#include "server/return_rows.h"
#include "study/table_one.h"

pe_table_row *
pe_table_add_row(pe_table_rows *t, const char *attribute, const char *level)
{
	pe_table_row *row;

	t->row = t->row == NULL ? palloc(sizeof(*row)) : repalloc(t->row, (t->count + 1) * sizeof(*row));
	row = &t->row[t->count++];
	*row = (pe_table_row) {attribute, level, palloc((t->groups + 1) * sizeof(char *)), NAN, NAN};
	for (int32 q = 0; q <= t->groups; q++)
		row->text[q] = palloc0(PE_TABLE_TEXT);
	return row;
}

const char *
pe_table_cell_name(const pe_column *column, int32 cell)
{
	const pe_attribute *attribute = &column->domain;

	if (column->roll_up != NULL)
		return column->class_cells[cell];
	if (pe_attribute_is_null(attribute, cell))
		return "(missing)";
	if (pe_attribute_is_other(attribute, cell))
		return "(other)";
	if (attribute->kind == PE_LEVELS)
		return column->points[cell];
	return psprintf("[%s, %s%c", column->points[cell], column->points[cell + 1],
					cell == attribute->points - 2 && !attribute->open ? ']' : ')');
}

int32
pe_table_values_of(const pe_column *column)
{
	int32		cells = pe_attribute_cells(&column->domain);

	return cells > 0 && pe_attribute_is_null(&column->domain, cells - 1) ? cells - 1 : cells;
}

static void
push_string(JsonbParseState **state, JsonbIteratorToken token, const char *text)
{
	JsonbValue	value;

	value.type = jbvString;
	value.val.string.val = unconstify(char *, text);
	value.val.string.len = strlen(text);
	pushJsonbValue(state, token, &value);
}

static Datum
groups_of_row(const pe_table_rows *t, const pe_table_row *row)
{
	JsonbParseState *state = NULL;

	pushJsonbValue(&state, WJB_BEGIN_OBJECT, NULL);
	for (int32 q = 0; q < t->groups && t->by != NULL; q++)
	{
		push_string(&state, WJB_KEY, pe_table_cell_name(t->by, q));
		push_string(&state, WJB_VALUE, row->text[q]);
	}
	return JsonbPGetDatum(JsonbValueToJsonb(pushJsonbValue(&state, WJB_END_OBJECT, NULL)));
}

static void
make_row(const void *argument, int32 number, Datum *values, bool *nulls)
{
	const pe_table_rows *t = argument;
	const pe_table_row *row = &t->row[number];

	values[0] = CStringGetTextDatum(row->attribute);
	nulls[1] = row->level == NULL;
	if (!nulls[1])
		values[1] = CStringGetTextDatum(row->level);
	values[2] = CStringGetTextDatum(row->text[t->groups]);
	values[3] = groups_of_row(t, row);
	pe_put_float(row->difference, &values[4], &nulls[4]);
	pe_put_float(row->p_value, &values[5], &nulls[5]);
	values[6] = Int64GetDatum(t->release);
	nulls[6] = t->release == 0;
}

void
pe_table_return_rows(FunctionCallInfo fcinfo, const pe_table_rows *rows)
{
	pe_return_rows(fcinfo, rows->count, 7, make_row, unconstify(pe_table_rows *, rows));
}
