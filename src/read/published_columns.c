/*
 * published_columns.c
 *	  Columns of a published table.  See published_columns.h.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/relcache.h"

#include "read/published_columns.h"
#include "server/settings.h"

static const char *const part_names[PE_PARTS] = {"value", "other", "null", "all", "row"};

/* ------------------------------------------------------------------
 * Columns
 * ------------------------------------------------------------------
 */

char *
pe_published_name(const char *base, const char *suffix)
{
	int			room = NAMEDATALEN - 1 - (int) strlen(suffix);

	return psprintf("%.*s%s", pg_mbcliplen(base, (int) strlen(base), room), base, suffix);
}

bool
pe_published_is_taken(const pe_published_columns *p, const char *name)
{
	for (int i = 0; i < p->columns; i++)
		if (strcmp(p->name[i], name) == 0)
			return true;
	return false;
}

int
pe_published_add(pe_published_columns *p, const char *base, const char *suffix, Oid type)
{
	char	   *name = pe_published_name(base, suffix);

	for (int i = 2; pe_published_is_taken(p, name); i++)
		name = pe_published_name(base, psprintf("%s_%d", suffix, i));
	p->name[p->columns] = name;
	p->type[p->columns] = type;
	return p->columns++;
}

void
pe_published_place(pe_published_columns *p, int from, int to)
{
	for (int i = from; i < to; i++)
		p->order[p->ordered++] = i;
}

/* The factor of a term that restricts an attribute, and its place; NULL if none does. */
static const pe_factor *
factor_on(const pe_term *term, int attribute, int *place)
{
	for (int f = 0; f < term->factors; f++)
		if (term->factor[f].attribute == attribute && term->factor[f].constructor != PE_TOTAL)
		{
			*place = f;
			return &term->factor[f];
		}
	return NULL;
}

/* Which parts the queries of a workload are of an attribute, and whether some are ranges. */
static void
survey(const pe_workload *workload, const pe_attribute *attribute, int a, bool *seen, bool *ranges)
{
	int			place;

	for (int t = 0; t < workload->terms; t++)
	{
		const pe_factor *factor = factor_on(&workload->term[t], a, &place);

		if (factor == NULL)
			seen[factor_on(&workload->term[t], PE_ALL_CELLS, &place) != NULL ? PE_PART_ROW : PE_PART_ALL] = true;
		else if (factor->constructor == PE_MATRIX)
			seen[PE_PART_ROW] = true;
		else
			seen[PE_PART_VALUE] = true;
		if (factor != NULL && factor->constructor == PE_IDENTITY)
		{
			seen[PE_PART_OTHER] |= attribute->classes == 0 && attribute->outside == PE_OUTSIDE_OTHER;
			seen[PE_PART_NULL] |= attribute->classes == 0 && attribute->nulls == PE_NULLS_CELL;
		}
		else if (factor != NULL && factor->constructor != PE_MATRIX)
			*ranges = true;
	}
}

/* What is said of single cells or ranges, in one column or two. */
static void
add_value_columns(pe_published_columns *p, int a, bool ranges)
{
	const pe_column *column = &p->column[a];
	bool		rolled = column->roll_up != NULL;
	Oid			type = rolled ? TEXTOID : column->type;

	p->place[a].value = pe_published_add(p, column->name,
										 rolled ? (ranges ? "_from_cells" : "_cells") : ranges ? "_from" : "", type);
	if (ranges)
		p->place[a].to = pe_published_add(p, column->name, rolled ? "_to_cells" : "_to", type);
}

static void
add_columns_of(pe_published_columns *p, int a)
{
	const pe_column *column = &p->column[a];
	const pe_workload *workload = p->labels->workload;
	bool		seen[PE_PARTS] = {false};
	bool		ranges = column->domain.kind == PE_BINS && column->roll_up == NULL;
	bool		rows = false;
	int			parts = 0;
	int			place;

	survey(workload, &column->domain, a, seen, &ranges);
	for (int t = 0; t < workload->terms; t++)
	{
		const pe_factor *factor = factor_on(&workload->term[t], a, &place);

		rows |= factor != NULL && factor->constructor == PE_MATRIX;
	}
	for (int i = 0; i < PE_PARTS; i++)
		parts += seen[i];
	p->place[a] = (pe_published_places) {-1, -1, -1, -1};
	if (seen[PE_PART_VALUE])
		add_value_columns(p, a, ranges);
	if (rows)
		p->place[a].row = pe_published_add(p, column->name, "_row", INT4OID);
	if (parts > 1 && (seen[PE_PART_VALUE] || rows))
		p->place[a].cell = pe_published_add(p, column->name, "_cell", TEXTOID);
}

static bool
has_matrix_of_all(const pe_workload *workload)
{
	int			place;

	for (int t = 0; t < workload->terms; t++)
		if (factor_on(&workload->term[t], PE_ALL_CELLS, &place) != NULL)
			return true;
	return false;
}

/* The cells of each class as values. */
static void
read_classes(pe_published_columns *p, int a)
{
	const pe_column *column = &p->column[a];

	p->point[a] = palloc(column->cells * sizeof(Datum));
	for (int i = 0; i < column->cells; i++)
		p->point[a][i] = CStringGetTextDatum(column->class_cells[i]);
}

/* A value that is read, and what the allocator rounds up. */
#define POINT_OVERHEAD 48

/* All values of the columns, or the texts of classes. */
static size_t
points_memory(const pe_published_columns *p)
{
	size_t		bytes = 0;

	for (int a = 0; a < p->labels->workload->shape.attributes; a++)
	{
		const pe_column *column = &p->column[a];
		bool		rolled = column->roll_up != NULL;
		char	  **text = rolled ? column->class_cells : column->points;

		for (int i = 0; i < (rolled ? column->cells : column->domain.points); i++)
			bytes += sizeof(Datum) + POINT_OVERHEAD + 2 * strlen(text[i]);
	}
	return bytes;
}

static void
read_points(pe_published_columns *p)
{
	pe_check_memory(points_memory(p));
	for (int a = 0; a < p->labels->workload->shape.attributes; a++)
	{
		const pe_column *column = &p->column[a];
		Oid			input;
		Oid			parameter;

		if (column->roll_up != NULL)
		{
			read_classes(p, a);
			continue;
		}
		getTypeInputInfo(column->type, &input, &parameter);
		p->point[a] = palloc(column->domain.points * sizeof(Datum));
		for (int i = 0; i < column->domain.points; i++)
			p->point[a][i] = OidInputFunctionCall(input, column->points[i], parameter, -1);
	}
	for (int i = 0; i < PE_PARTS; i++)
		p->part_name[i] = CStringGetTextDatum(part_names[i]);
}

void
pe_published_add_queries(pe_published_columns *p)
{
	const pe_workload *workload = p->labels->workload;
	int			first = p->columns;

	p->matrix_row = has_matrix_of_all(workload) ? pe_published_add(p, "matrix_row", "", INT4OID) : -1;
	for (int a = 0; a < workload->shape.attributes; a++)
		add_columns_of(p, a);
	pe_published_place(p, first, p->columns);
	read_points(p);
}

/* ------------------------------------------------------------------
 * Rows
 * ------------------------------------------------------------------
 */

void
pe_published_put(int column, Datum value, Datum *values, bool *nulls)
{
	if (column < 0)
		return;
	values[column] = value;
	nulls[column] = false;
}

static pe_published_part
part_of_cell(const pe_attribute *attribute, int32 cell)
{
	return pe_attribute_is_null(attribute, cell) ? PE_PART_NULL
		: pe_attribute_is_other(attribute, cell) ? PE_PART_OTHER : PE_PART_VALUE;
}

/* What query q of a factor, or no factor, says of an attribute. */
static void
put_attribute(const pe_published_columns *p, int a, const pe_factor *factor, int32 q, Datum *values, bool *nulls)
{
	const pe_attribute *attribute = &p->column[a].domain;
	pe_published_part said = PE_PART_VALUE;
	int32		from = q;
	int32		to = q;

	if (factor->constructor == PE_MATRIX)
	{
		said = PE_PART_ROW;
		pe_published_put(p->place[a].row, Int32GetDatum(q + 1), values, nulls);
	}
	else if (factor->constructor == PE_IDENTITY)
		said = part_of_cell(attribute, q);
	else
		pe_factor_range(factor, q, &from, &to);
	if (said == PE_PART_VALUE)
	{
		pe_published_put(p->place[a].value, p->point[a][from], values, nulls);
		pe_published_put(p->place[a].to,
						 p->point[a][attribute->kind == PE_BINS && attribute->classes == 0 ? to + 1 : to],
						 values, nulls);
	}
	pe_published_put(p->place[a].cell, p->part_name[said], values, nulls);
}

void
pe_published_put_query(const pe_published_columns *p, int32 q, Datum *values, bool *nulls)
{
	const pe_term *term = &p->labels->workload->term[p->labels->term[q]];
	int32		factor_query[PE_MAX_ATTRIBUTES];
	bool		of_all;
	int			place;

	(void) pe_term_query(term, p->labels->local[q], factor_query);
	of_all = factor_on(term, PE_ALL_CELLS, &place) != NULL;
	if (of_all)
		pe_published_put(p->matrix_row, Int32GetDatum(factor_query[place] + 1), values, nulls);
	for (int a = 0; a < p->labels->workload->shape.attributes; a++)
	{
		const pe_factor *factor = factor_on(term, a, &place);

		if (factor != NULL)
			put_attribute(p, a, factor, factor_query[place], values, nulls);
		else
			pe_published_put(p->place[a].cell, p->part_name[of_all ? PE_PART_ROW : PE_PART_ALL], values, nulls);
	}
}

void
pe_published_reorder(const pe_published_columns *p, const Datum *value, const bool *isnull, Datum *values, bool *nulls)
{
	for (int i = 0; i < p->ordered; i++)
	{
		values[i] = value[p->order[i]];
		nulls[i] = isnull[p->order[i]];
	}
}

/* ------------------------------------------------------------------
 * The table
 * ------------------------------------------------------------------
 */

char *
pe_published_list(const pe_published_columns *p, const char *key)
{
	StringInfoData list;

	initStringInfo(&list);
	for (int i = 0; i < p->ordered; i++)
		appendStringInfo(&list, "%s%s %s", i > 0 ? ", " : "", quote_identifier(p->name[p->order[i]]),
						 format_type_extended(p->type[p->order[i]], -1,
											  FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY));
	if (key != NULL)
		appendStringInfo(&list, ", %s", key);
	return list.data;
}

bool
pe_published_has(const pe_published_columns *p, Oid table)
{
	Relation	relation = RelationIdGetRelation(table);
	TupleDesc	desc = RelationGetDescr(relation);
	bool		same = desc->natts == p->columns;

	for (int i = 0; i < p->columns && same; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);

		same = !attribute->attisdropped && attribute->atttypid == p->type[p->order[i]] &&
			strcmp(NameStr(attribute->attname), p->name[p->order[i]]) == 0;
	}
	RelationClose(relation);
	return same;
}

void
pe_published_make(const pe_published_columns *p, pe_target *target, const char *key)
{
	if (OidIsValid(target->relation) && pe_published_has(p, target->relation))
		pe_target_empty(target);
	else
		pe_target_create(target, pe_published_list(p, key));
}

/* "by day CELLS (0-30; 31-58); ", the attributes that are rolled up. */
const char *
pe_published_roll_ups(const pe_published_columns *p)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int a = 0; a < p->labels->workload->shape.attributes; a++)
		if (p->column[a].roll_up != NULL)
			appendStringInfo(&text, "%s%s", text.len > 0 ? ", " : "by ", p->column[a].roll_up);
	appendStringInfoString(&text, text.len > 0 ? "; " : "");
	return text.data;
}
