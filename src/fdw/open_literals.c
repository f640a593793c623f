/*
 * open_literals.c
 *	  What an open column is compared with.  See open_literals.h.
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "nodes/nodeFuncs.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"

#include "fdw/comparison.h"
#include "fdw/open_literals.h"
#include "server/compat.h"
#include "server/values.h"

/* The most literals of a column in one statement. */
#define MOST_LITERALS 10000

/* What is found of one open column. */
typedef struct compared
{
	bool		is_compared;
	Datum	   *value;
	int			values;
	int			room;
} compared;

typedef struct finding
{
	pe_sight   *sight;
	compared   *of;				/* each open column */
} finding;

static void
add_value(compared *c, Datum value)
{
	if (c->values == MOST_LITERALS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a column whose values nobody has listed is compared with more than %d values", MOST_LITERALS),
				 errdetail("Nothing was charged.")));
	if (c->values == c->room)
	{
		c->room = 2 * c->room + 8;
		c->value = c->value == NULL ? palloc(c->room * sizeof(Datum)) : repalloc(c->value, c->room * sizeof(Datum));
	}
	c->value[c->values++] = value;
}

/* ------------------------------------------------------------------
 * Constants as values of the column
 * ------------------------------------------------------------------
 */

/*
 * Whether a constant is a value of the column.  One that is none, such as 70000 of a smallint, needs no level: no row
 * equals it.
 */
static bool
is_value(Oid column, Oid type, Datum constant)
{
	if (pe_type_is_integer(column) && pe_type_is_integer(type))
	{
		int64		number = pe_point_of_datum(type, constant).i;
		int64		most = column == INT2OID ? PG_INT16_MAX : column == INT4OID ? PG_INT32_MAX : PG_INT64_MAX;

		return number <= most && number >= -most - 1;
	}
	return pe_datum_is_finite(type, constant);
}

/* Whether constants of a type are compared as values of the column's: by the same equality. */
static bool
is_comparable(Oid column, Oid type)
{
	return column == type || (pe_type_is_text(column) && pe_type_is_text(type)) ||
		((pe_type_is_integer(column) || column == NUMERICOID) && pe_type_is_integer(type));
}

static Datum
value_of(Oid column, Oid type, Datum constant)
{
	Oid			output;
	bool		varlena;

	if (column == type)
		return constant;
	getTypeOutputInfo(type, &output, &varlena);
	return pe_datum_of_text(column, OidOutputFunctionCall(output, constant));
}

/* Adds a constant, or each of an array of them; false: it is of another type. */
static bool
add_constants(finding *f, int open, Node *constant, bool is_list)
{
	Oid			column = f->sight->declared->open[open].type;
	pe_named_type *type = pe_names_type(f->sight->names, exprType(constant));
	bool		isnull;
	Datum		value;
	Datum	   *element = &value;
	bool	   *nulls = &isnull;
	int			count = 1;

	if (is_list && !OidIsValid(type->element))
		return false;
	if (is_list)
		type = pe_names_type(f->sight->names, type->element);
	if (!is_comparable(column, type->base))
		return false;
	value = pe_sight_constant(f->sight, constant, &isnull);
	if (isnull)
		return true;
	if (is_list)
		deconstruct_array(DatumGetArrayTypeP(value), type->id, type->length, type->by_value, type->alignment,
						  &element, &nulls, &count);
	for (int i = 0; i < count; i++)
		if (!nulls[i] && is_value(column, type->base, element[i]))
			add_value(&f->of[open], value_of(column, type->base, element[i]));
	return true;
}

/* ------------------------------------------------------------------
 * Comparisons
 * ------------------------------------------------------------------
 */

static void
find_comparison(finding *f, Node *e)
{
	bool		is_list = IsA(e, ScalarArrayOpExpr);
	List	   *arguments = is_list ? ((ScalarArrayOpExpr *) e)->args : ((OpExpr *) e)->args;
	int			kind = pe_names_operator(f->sight->names,
										 is_list ? ((ScalarArrayOpExpr *) e)->opno : ((OpExpr *) e)->opno)->kind;
	bool		column_first = list_length(arguments) == 2 && pe_sight_is_constant(lsecond(arguments));
	int			open;

	if (list_length(arguments) != 2 || (kind != BTEqualStrategyNumber && kind != PE_COMPARISON_NE) ||
		!(column_first || (!is_list && pe_sight_is_constant(linitial(arguments)))))
		return;
	open = pe_sight_open_column(f->sight, column_first ? linitial(arguments) : lsecond(arguments));
	if (open >= 0 && add_constants(f, open, column_first ? lsecond(arguments) : linitial(arguments), is_list))
		f->of[open].is_compared = true;
}

static bool
find_comparisons(Node *e, void *argument)
{
	finding    *f = argument;
	Node	   *tested = NULL;
	int			open;

	if (e == NULL)
		return false;
	pe_comparison_find_pattern(f->sight, e);
	pe_comparison_find_length(f->sight, e);
	if (IsA(e, OpExpr) || IsA(e, DistinctExpr) || IsA(e, ScalarArrayOpExpr))
		find_comparison(f, e);
	else if (IsA(e, NullTest))
		tested = (Node *) ((NullTest *) e)->arg;
	else if (IsA(e, Aggref))
		tested = pe_sight_counted(f->sight, (Aggref *) e);
	open = tested != NULL ? pe_sight_open_column(f->sight, tested) : -1;
	if (open >= 0)
		f->of[open].is_compared = true;
	return expression_tree_walker(e, find_comparisons, argument);
}

/* A level of a column that is only tested for NULL; false: none is known. */
static bool
any_value(Oid type, Datum *value)
{
	const char *text = pe_type_is_text(type) ? "" : type == BOOLOID ? "false" : type == UUIDOID
		? "00000000-0000-0000-0000-000000000000" : pe_type_is_time(type) ? "2000-01-01"
		: pe_type_is_number(type) ? "0" : NULL;

	if (text != NULL)
		*value = pe_datum_of_text(type, (char *) text);
	return text != NULL;
}

static void
make_attribute(pe_sight *s, int open, compared *c)
{
	const pe_public_open *column = &s->declared->open[open];
	Datum		value;
	int			attribute;

	if (c->values == 0 && any_value(column->type, &value))
		add_value(c, value);
	if (c->values == 0)
		return;
	attribute = pe_public_list(s->declared, column, c->value, c->values);
	for (int i = 0; i < s->columns->natts; i++)
		if (s->open_of[i] == open)
			s->attribute_of[i] = attribute;
}

void
pe_literals_of_open(pe_sight *s, List *expressions)
{
	finding		f = {s, palloc0(Max(s->declared->opens, 1) * sizeof(compared))};

	if (s->declared->opens == 0)
		return;
	(void) find_comparisons((Node *) expressions, &f);
	for (int i = 0; i < s->declared->opens; i++)
		if (f.of[i].is_compared)
			make_attribute(s, i, &f.of[i]);
	ResetExprContext(s->econtext);
}

/* ------------------------------------------------------------------
 * Text
 * ------------------------------------------------------------------
 */

static int
cells_that(const pe_public_attribute *a, const bool *cells, bool is_true)
{
	int			count = 0;

	for (int32 i = 0; i < a->ordered; i++)
		count += cells[i] == is_true;
	return count;
}

static void
append_literals(StringInfo to, const pe_public_attribute *a, const bool *cells, bool is_true)
{
	bool		single = cells_that(a, cells, is_true) == 1;
	const char *separator = "";

	appendStringInfo(to, "%s %s", quote_identifier(a->name),
					 single ? (is_true ? "= " : "<> ") : is_true ? "IN (" : "NOT IN (");
	for (int32 i = 0; i < a->ordered; i++)
		if (cells[i] == is_true)
		{
			appendStringInfo(to, "%s%s", separator, a->listed[i]);
			separator = ", ";
		}
	appendStringInfoString(to, single ? "" : ")");
}

/* Other values are selected where they are beside all literals but some. */
char *
pe_literals_text(const pe_public_attribute *a, const bool *cells)
{
	bool		others = cells[a->other];
	bool		tests = cells_that(a, cells, !others) > 0;
	StringInfoData text;

	initStringInfo(&text);
	if (!tests)
		return psprintf("%s IS %sNULL", quote_identifier(a->name), others ? "NOT " : "");
	if (cells[a->null])
		appendStringInfo(&text, "(%s IS NULL OR ", quote_identifier(a->name));
	append_literals(&text, a, cells, !others);
	appendStringInfoString(&text, cells[a->null] ? ")" : "");
	return text.data;
}
