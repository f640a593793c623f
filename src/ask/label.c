/*
 * label.c
 *	  Labels of queries.  See label.h.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"

#include "ask/label.h"
#include "server/values.h"

static JsonbValue
text_value(const char *text)
{
	JsonbValue	value;

	value.type = jbvString;
	value.val.string.val = (char *) text;
	value.val.string.len = (int) strlen(text);
	return value;
}

/* A declared value: a scalar of JSON. */
static Jsonb *
scalar_of_point(const pe_column *column, char *point)
{
	StringInfoData text;

	initStringInfo(&text);
	pe_append_json_value(&text, column->type, point);
	return DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(text.data)));
}

/*
 * The same as what is put into a label.  It is kept: the value alone, which is
 * a hundredth of what it takes to make it.
 */
static JsonbValue
value_of_point(const pe_labels *labels, const pe_column *column, char *point)
{
	Jsonb	   *made = scalar_of_point(column, point);
	Jsonb	   *kept = MemoryContextAlloc(labels->context, VARSIZE(made));
	JsonbValue	value;

	memcpy(kept, made, VARSIZE(made));
	if (!JsonbExtractScalar(&kept->root, &value))
		elog(ERROR, "a declared value is not a scalar of JSON");
	return value;
}

/* Made when the first label asks for it: no declared value is null. */
static JsonbValue *
point_of(const pe_labels *labels, int a, int32 p)
{
	JsonbValue *value = &labels->point[a][p];

	if (value->type == jbvNull)
		*value = value_of_point(labels, &labels->columns[a], labels->columns[a].points[p]);
	return value;
}

/* What a value is kept in besides its text: lengths, and what the allocator rounds up. */
#define VALUE_OVERHEAD 48

size_t
pe_labels_memory(const pe_workload *workload, const pe_column *columns)
{
	size_t		bytes = (size_t) workload->queries * 2 * sizeof(int32);

	for (int a = 0; a < workload->shape.attributes; a++)
		for (int p = 0; p < columns[a].domain.points; p++)
			bytes += sizeof(JsonbValue) + VALUE_OVERHEAD + 2 * strlen(columns[a].points[p]);
	return bytes;
}

void
pe_labels_init(pe_labels *labels, const pe_workload *workload, const pe_column *columns)
{
	int			attributes = workload->shape.attributes;

	labels->workload = workload;
	labels->columns = columns;
	labels->context = CurrentMemoryContext;
	labels->name = palloc(attributes * sizeof(JsonbValue));
	labels->point = palloc(attributes * sizeof(JsonbValue *));
	labels->declared = palloc(attributes * sizeof(pe_attribute));
	for (int a = 0; a < attributes; a++)
	{
		labels->name[a] = text_value(columns[a].name);
		labels->declared[a] = columns[a].domain;
		labels->declared[a].classes = 0;
		labels->point[a] = pe_alloc(columns[a].domain.points, sizeof(JsonbValue));	/* all jbvNull: not made yet */
	}
	labels->term = pe_alloc(workload->queries, sizeof(int32));
	labels->local = pe_alloc(workload->queries, sizeof(int32));
	pe_workload_index(workload, labels->term, labels->local);
}

static void
push_pair(JsonbParseState **state, const char *key, JsonbValue *value)
{
	JsonbValue	name = text_value(key);

	pushJsonbValue(state, WJB_KEY, &name);
	pushJsonbValue(state, WJB_VALUE, value);
}

static void
push_bool(JsonbParseState **state, const char *key, bool flag)
{
	JsonbValue	value;

	value.type = jbvBool;
	value.val.boolean = flag;
	push_pair(state, key, &value);
}

/* Declared cells from .. to of an ordered attribute, as the values between which they lie. */
static void
push_values(JsonbParseState **state, const pe_labels *labels, int a, int32 from, int32 to)
{
	const pe_attribute *attribute = &labels->declared[a];
	bool		last = to == pe_attribute_ordered_cells(attribute) - 1;

	pushJsonbValue(state, WJB_BEGIN_OBJECT, NULL);
	push_pair(state, "from", point_of(labels, a, from));
	/* the last bin ends at the last edge, the last level is itself the end */
	push_pair(state, "to", point_of(labels, a, last ? attribute->points - 1 : to + 1));
	push_bool(state, "last", last && !attribute->open);
	pushJsonbValue(state, WJB_END_OBJECT, NULL);
}

static void
push_cells(JsonbParseState **state, const pe_labels *labels, int a, const char *key, int32 class)
{
	JsonbValue	cells = text_value(labels->columns[a].class_cells[class]);

	push_pair(state, key, &cells);
}

/* Cells from .. to; of classes, which no two values bound, the first and the last one. */
static void
push_range(JsonbParseState **state, const pe_labels *labels, int a, int32 from, int32 to)
{
	if (labels->columns[a].roll_up == NULL)
	{
		push_values(state, labels, a, from, to);
		return;
	}
	pushJsonbValue(state, WJB_BEGIN_OBJECT, NULL);
	push_cells(state, labels, a, "from_cells", from);
	push_cells(state, labels, a, "to_cells", to);
	pushJsonbValue(state, WJB_END_OBJECT, NULL);
}

static void
push_declared_cell(JsonbParseState **state, const pe_labels *labels, int a, int32 cell)
{
	const pe_attribute *attribute = &labels->declared[a];
	JsonbValue	null;

	if (pe_attribute_is_null(attribute, cell))
	{
		null.type = jbvNull;
		pushJsonbValue(state, WJB_VALUE, &null);
	}
	else if (pe_attribute_is_other(attribute, cell))
	{
		pushJsonbValue(state, WJB_BEGIN_OBJECT, NULL);
		push_bool(state, "other", true);
		pushJsonbValue(state, WJB_END_OBJECT, NULL);
	}
	else if (attribute->kind == PE_LEVELS)
		pushJsonbValue(state, WJB_VALUE, point_of(labels, a, cell));
	else
		push_values(state, labels, a, cell, cell);
}

/* A class of a single declared cell is called as that is. */
static void
push_cell(JsonbParseState **state, const pe_labels *labels, int a, int32 cell)
{
	const char *cells;

	if (labels->columns[a].roll_up == NULL)
	{
		push_declared_cell(state, labels, a, cell);
		return;
	}
	cells = labels->columns[a].class_cells[cell];
	if (strpbrk(cells, ",-") == NULL)
	{
		push_declared_cell(state, labels, a, pg_strtoint32(cells));
		return;
	}
	pushJsonbValue(state, WJB_BEGIN_OBJECT, NULL);
	push_cells(state, labels, a, "cells", cell);
	pushJsonbValue(state, WJB_END_OBJECT, NULL);
}

static void
push_row(JsonbParseState **state, int32 query)
{
	JsonbValue	row;

	row.type = jbvNumeric;
	row.val.numeric = DatumGetNumeric(DirectFunctionCall1(int4_numeric, Int32GetDatum(query + 1)));
	push_pair(state, "row", &row);
}

static void
push_factor(JsonbParseState **state, const pe_labels *labels, const pe_factor *factor, int32 query)
{
	int32		from;
	int32		to;

	if (factor->constructor == PE_TOTAL)
		return;
	if (factor->attribute == PE_ALL_CELLS)
	{
		push_row(state, query);
		return;
	}
	pushJsonbValue(state, WJB_KEY, &labels->name[factor->attribute]);
	switch (factor->constructor)
	{
		case PE_IDENTITY:
			push_cell(state, labels, factor->attribute, query);
			break;
		case PE_MATRIX:
			pushJsonbValue(state, WJB_BEGIN_OBJECT, NULL);
			push_row(state, query);
			pushJsonbValue(state, WJB_END_OBJECT, NULL);
			break;
		default:
			pe_factor_range(factor, query, &from, &to);
			push_range(state, labels, factor->attribute, from, to);
	}
}

Datum
pe_label(const pe_labels *labels, int32 query)
{
	const pe_term *term = &labels->workload->term[labels->term[query]];
	int32		factor_query[PE_MAX_ATTRIBUTES];
	JsonbParseState *state = NULL;
	JsonbValue *label;

	(void) pe_term_query(term, labels->local[query], factor_query);
	pushJsonbValue(&state, WJB_BEGIN_OBJECT, NULL);
	for (int f = 0; f < term->factors; f++)
		push_factor(&state, labels, &term->factor[f], factor_query[f]);
	label = pushJsonbValue(&state, WJB_END_OBJECT, NULL);
	return JsonbPGetDatum(JsonbValueToJsonb(label));
}
