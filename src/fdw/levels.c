/*
 * levels.c
 *	  Levels of a column, and values that are none of them.  See levels.h.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/date.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "fdw/levels.h"
#include "fdw/notices.h"
#include "server/compat.h"
#include "server/values.h"

/* ------------------------------------------------------------------
 * A value that is no level
 * ------------------------------------------------------------------
 */

static bool
is_level(pe_sight *s, const pe_public_attribute *a, Datum value)
{
	pe_named_type *type = pe_names_type(s->names, a->type);

	for (int32 i = 0; i < a->ordered; i++)
		if (pe_same_value(type, C_COLLATION_OID, a->low[i], false, value, false))
			return true;
	return false;
}

/* A text that is longer than all levels, and so equal to none; to "(other)" where that is none of them. */
static Datum
text_outside(pe_sight *s, const pe_public_attribute *a, bool shown)
{
	StringInfoData text;
	Size		longest = 0;

	initStringInfo(&text);
	appendStringInfoString(&text, "(other)");
	if (!is_level(s, a, CStringGetTextDatum(text.data)))
		return CStringGetTextDatum(text.data);
	for (int32 i = 0; i < a->ordered && !shown; i++)
		longest = Max(longest, VARSIZE_ANY_EXHDR(DatumGetPointer(a->low[i])));
	do
		appendStringInfoString(&text, shown ? " (no level)" : "(other)");
	while ((Size) text.len <= longest || is_level(s, a, CStringGetTextDatum(text.data)));
	return CStringGetTextDatum(text.data);
}

/* The greatest value of a type whose values are whole numbers. */
static int64
most_of_type(Oid type)
{
	switch (type)
	{
		case BOOLOID:
			return 1;
		case INT2OID:
			return PG_INT16_MAX;
		case INT4OID:
			return PG_INT32_MAX;
		case DATEOID:
			return DATE_END_JULIAN - POSTGRES_EPOCH_JDATE - 1;
		default:
			return PG_INT64_MAX - 1;
	}
}

/* One more than the greatest level; where the type ends there, the first that is free from 0 on. */
static Datum
whole_outside(pe_sight *s, const pe_public_attribute *a)
{
	int64		value = pe_point_of_datum(a->type, a->low[0]).i;

	for (int32 i = 1; i < a->ordered; i++)
		value = Max(value, pe_point_of_datum(a->type, a->low[i]).i);
	value = value < most_of_type(a->type) ? value + 1 : 0;
	while (is_level(s, a, pe_datum_of_int(a->type, value)))
		value++;
	return pe_datum_of_int(a->type, value);
}

/* Greater than all levels, or less where there is no greater one that is finite. */
static Datum
float_outside(const pe_public_attribute *a)
{
	double		most = -INFINITY;
	double		value;

	for (int32 i = 0; i < a->ordered; i++)
		most = fmax(most, pe_number_of_datum(a->type, a->low[i]));
	value = a->type == FLOAT4OID ? nextafterf((float4) most, INFINITY) : nextafter(most, INFINITY);
	return a->type == FLOAT4OID ? Float4GetDatum((float4) value) : Float8GetDatum(value);
}

static Datum
numeric_outside(const pe_public_attribute *a)
{
	Datum		most = a->low[0];

	for (int32 i = 1; i < a->ordered; i++)
		most = DirectFunctionCall2(numeric_larger, most, a->low[i]);
	return DirectFunctionCall2(numeric_add, most, DirectFunctionCall1(int4_numeric, Int32GetDatum(1)));
}

static Datum
uuid_outside(pe_sight *s, const pe_public_attribute *a)
{
	pg_uuid_t  *uuid = palloc0(sizeof(*uuid));

	for (uint32 i = 0; is_level(s, a, UUIDPGetDatum(uuid)); i++)
		memcpy(uuid->data, &i, sizeof(i));
	return UUIDPGetDatum(uuid);
}

/* A label that is no level; false if all are. */
static bool
find_label(pe_sight *s, const pe_public_attribute *a, Datum *value)
{
	CatCList   *labels = SearchSysCacheList1(ENUMTYPOIDNAME, ObjectIdGetDatum(a->type));
	bool		found = false;

	for (int i = 0; i < labels->n_members && !found; i++)
	{
		*value = ObjectIdGetDatum(((Form_pg_enum) GETSTRUCT(&labels->members[i]->tuple))->oid);
		found = !is_level(s, a, *value);
	}
	ReleaseSysCacheList(labels);
	return found;
}

/* How many values a type has; -1: many. */
static int
values_of_type(Oid type)
{
	CatCList   *labels;
	int			count;

	if (type == BOOLOID)
		return 2;
	if (!type_is_enum(type))
		return -1;
	labels = SearchSysCacheList1(ENUMTYPOIDNAME, ObjectIdGetDatum(type));
	count = labels->n_members;
	ReleaseSysCacheList(labels);
	return count;
}

/* False if all values of the type are levels. */
static bool
find_value(pe_sight *s, const pe_public_attribute *a, Datum *value)
{
	switch (a->type)
	{
		case FLOAT4OID:
		case FLOAT8OID:
			*value = float_outside(a);
			return true;
		case NUMERICOID:
			*value = numeric_outside(a);
			return true;
		case UUIDOID:
			*value = uuid_outside(s, a);
			return true;
		case BOOLOID:
			if (a->ordered == 2)
				return false;
			*value = whole_outside(s, a);
			return true;
		default:
			if (!pe_type_is_text(a->type) && !a->whole)
				return find_label(s, a, value);
			*value = pe_type_is_text(a->type) ? text_outside(s, a, false) : whole_outside(s, a);
			return true;
	}
}

void
pe_levels_find_outside(pe_sight *s, int attribute)
{
	const pe_public_attribute *a = &s->declared->attribute[attribute];
	pe_stand_in *o = &s->outside[attribute];

	*o = (pe_stand_in) {.isnull = true, .shown_null = true};
	if ((a->other < 0 && !a->drops_outside) || a->bins)
		return;
	o->isnull = !find_value(s, a, &o->value);
	o->only = !o->isnull && a->ordered + 1 == values_of_type(a->type);
	if (pe_type_is_text(a->type))
		o->shown = text_outside(s, a, true);
	o->shown_null = !pe_type_is_text(a->type);
}

/* ------------------------------------------------------------------
 * Comparisons with levels
 * ------------------------------------------------------------------
 */

/* Whether a cast gives another value for each value. */
static bool
is_injective(const pe_sight *s, const FuncExpr *f)
{
	const pe_named_function *function = pe_names_function(s->names, f->funcid);
	Oid			from;

	if (!function->builtin || list_length(f->args) != 1)
		return false;
	from = pe_names_type(s->names, exprType(linitial(f->args)))->base;
	switch (f->funcresulttype)
	{
		case INT4OID:
			return from == INT2OID;
		case INT8OID:
			return from == INT2OID || from == INT4OID;
		case NUMERICOID:
			return pe_type_is_integer(from);
		case FLOAT8OID:
			return from == INT2OID || from == INT4OID || from == FLOAT4OID;
		default:
			return false;
	}
}

int
pe_levels_column(const pe_sight *s, Node *e)
{
	for (;;)
	{
		if (IsA(e, RelabelType) && pe_sight_keeps_values_apart(s, (RelabelType *) e))
			e = (Node *) ((RelabelType *) e)->arg;
		else if (IsA(e, CoerceToDomain))
			e = (Node *) ((CoerceToDomain *) e)->arg;
		else if (IsA(e, CoalesceExpr))
			e = linitial(((CoalesceExpr *) e)->args);
		else if (IsA(e, FuncExpr) && is_injective(s, (FuncExpr *) e))
			e = linitial(((FuncExpr *) e)->args);
		else
			break;
	}
	return IsA(e, Var) && ((Var *) e)->varattno > 0 ? s->attribute_of[((Var *) e)->varattno - 1] : -1;
}

/* Local times that the clock leaves out are the same universal time as others are. */
static bool
joins_times(const pe_sight *s, int attribute, Node *constant)
{
	pe_named_type *type = pe_names_type(s->names, exprType(constant));
	Oid			base = OidIsValid(type->element) ? pe_names_type(s->names, type->element)->base : type->base;

	return s->declared->attribute[attribute].type == TIMESTAMPOID && base == TIMESTAMPTZOID;
}

/* Equality with constants, one or a list of them. */
typedef struct equality
{
	int			attribute;
	Node	   *column;
	Node	   *constant;
	bool		column_first;
	pe_named_operator *operator;
	Oid			collation;
} equality;

static bool
find_equality(pe_sight *s, Node *e, equality *q)
{
	bool		is_list = IsA(e, ScalarArrayOpExpr);
	List	   *arguments = is_list ? ((ScalarArrayOpExpr *) e)->args : ((OpExpr *) e)->args;

	if (list_length(arguments) != 2)
		return false;
	q->column_first = !pe_sight_is_constant(linitial(arguments));
	q->column = q->column_first ? linitial(arguments) : lsecond(arguments);
	q->constant = q->column_first ? lsecond(arguments) : linitial(arguments);
	q->attribute = pe_levels_column(s, q->column);
	q->operator = pe_names_operator(s->names, is_list ? ((ScalarArrayOpExpr *) e)->opno : ((OpExpr *) e)->opno);
	q->collation = exprInputCollation(e);
	return q->attribute >= 0 && !s->declared->attribute[q->attribute].bins &&
		pe_sight_is_constant(q->constant) && (!is_list || q->column_first) &&
		(q->operator->kind == BTEqualStrategyNumber || q->operator->kind == PE_COMPARISON_NE) &&
		pe_names_is_bytewise(s->names, q->collation) &&
		!joins_times(s, q->attribute, q->constant);
}

/* Whether a constant equals a level, as the comparison has it. */
static bool
equals_level(pe_sight *s, const equality *q, Datum constant)
{
	const pe_public_attribute *a = &s->declared->attribute[q->attribute];

	for (int32 i = 0; i < a->ordered; i++)
	{
		bool		isnull;
		Datum		level;

		pe_sight_put(s, s->between, q->attribute, a->low[i], false);
		level = pe_sight_evaluate(s, q->column, s->between, &isnull);
		if (!isnull && pe_names_order(q->operator, q->collation, level, constant, q->column_first) == 0)
			return true;
	}
	return false;
}

/* Bytes of texts, the shorter of two that begin alike first. */
static int
by_bytes(const void *a, const void *b)
{
	const void *one = DatumGetPointer(*(const Datum *) a);
	const void *other = DatumGetPointer(*(const Datum *) b);
	Size		size = VARSIZE_ANY_EXHDR(one);
	Size		other_size = VARSIZE_ANY_EXHDR(other);
	int			order = memcmp(VARDATA_ANY(one), VARDATA_ANY(other), Min(size, other_size));

	return order != 0 ? order : (size > other_size) - (size < other_size);
}

/* Texts of levels in order, where they are compared as they are and equal ones are equal bytes; NULL: others. */
static Datum *
sorted_levels(pe_sight *s, const equality *q, Oid type)
{
	const pe_public_attribute *a = &s->declared->attribute[q->attribute];
	Datum	   *level;

	if (!IsA(pe_sight_bare(s, q->column), Var) || (a->type != TEXTOID && a->type != VARCHAROID) ||
		(type != TEXTOID && type != VARCHAROID))
		return NULL;
	level = palloc(Max(a->ordered, 1) * sizeof(Datum));
	for (int32 i = 0; i < a->ordered; i++)
		level[i] = PointerGetDatum(PG_DETOAST_DATUM_PACKED(a->low[i]));
	qsort(level, a->ordered, sizeof(Datum), by_bytes);
	return level;
}

/* The same by these, which are sorted_levels. */
static bool
is_one_of(pe_sight *s, const equality *q, const Datum *sorted, Datum constant)
{
	Datum		sought;

	if (sorted == NULL)
		return equals_level(s, q, constant);
	sought = PointerGetDatum(PG_DETOAST_DATUM_PACKED(constant));
	return bsearch(&sought, sorted, s->declared->attribute[q->attribute].ordered, sizeof(Datum), by_bytes) != NULL;
}

/* Of a constant, or of each of a list. */
static Oid
type_of_constants(pe_sight *s, Node *e, const equality *q)
{
	return IsA(e, ScalarArrayOpExpr) ? pe_names_type(s->names, exprType(q->constant))->element
		: exprType(q->constant);
}

/* The row between, with nothing in it yet. */
static void
clear_between(pe_sight *s)
{
	ExecClearTuple(s->between);
	memset(s->between->tts_isnull, true, s->columns->natts * sizeof(bool));
	ExecStoreVirtualTuple(s->between);
}

/* The constants of an equality. */
static Datum *
constants_of(pe_sight *s, const equality *q, bool is_list, bool **nulls, int *count)
{
	Datum	   *constant = palloc(sizeof(Datum));
	pe_named_type *type;
	Datum		value;
	bool		isnull;

	clear_between(s);
	value = pe_sight_evaluate(s, q->constant, s->between, &isnull);
	*count = isnull ? 0 : 1;
	*nulls = palloc0(sizeof(bool));
	constant[0] = value;
	if (isnull || !is_list)
		return constant;
	type = pe_names_type(s->names, pe_names_type(s->names, exprType(q->constant))->element);
	deconstruct_array(DatumGetArrayTypeP(value), type->id, type->length,
					  type->by_value, type->alignment, &constant, nulls, count);
	return constant;
}

bool
pe_levels_are_compared(pe_sight *s, Node *e)
{
	equality	q;
	bool	   *nulls;
	int			count;
	Datum	   *constant;
	Datum	   *sorted;

	if (!find_equality(s, e, &q) || !s->is_outside[q.attribute])
		return false;
	constant = constants_of(s, &q, IsA(e, ScalarArrayOpExpr), &nulls, &count);
	sorted = sorted_levels(s, &q, type_of_constants(s, e, &q));
	for (int i = 0; i < count; i++)
		if (!nulls[i] && !is_one_of(s, &q, sorted, constant[i]))
			return false;
	return true;
}

/* ------------------------------------------------------------------
 * Literals that are no level
 * ------------------------------------------------------------------
 */

/*
 * The level that is nearest to a literal: by the difference for numbers and
 * times, by the spelling for all else.  NULL: none is named.
 */
static char *
nearest_level(pe_sight *s, const pe_public_attribute *a, Oid type, Datum value)
{
	bool		by_difference = (pe_type_is_number(type) && pe_type_is_number(a->type)) ||
		(type == a->type && pe_type_is_time(type));
	char	  **level = palloc(a->ordered * sizeof(char *));
	double		least = INFINITY;
	int32		nearest = 0;

	for (int32 i = 0; i < a->ordered; i++)
	{
		double		difference;

		level[i] = pe_value_text(s, a->type, a->low[i]);
		if (!by_difference)
			continue;
		difference = fabs(pe_number_of_datum(a->type, a->low[i]) - pe_number_of_datum(type, value));
		nearest = difference < least ? i : nearest;
		least = Min(least, difference);
	}
	if (!by_difference)
		nearest = pe_public_nearest(pe_value_text(s, type, value), level, a->ordered);
	return nearest < 0 ? NULL : level[nearest];
}

static void
tell_equality(pe_sight *s, const equality *q, Oid type, Datum value)
{
	const pe_public_attribute *a = &s->declared->attribute[q->attribute];
	char	   *text = pe_value_text(s, type, value);
	char	   *nearest;

	if (pe_sight_is_told(s, psprintf("%d:%s", q->attribute, text)))
		return;
	nearest = nearest_level(s, a, type, value);
	pe_notice((errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s is no declared level of \"%s\"", quote_literal_cstr(text), a->name),
			 errdetail("A comparison with it is true for no row that counts, or for all of them."),
			 nearest != NULL ? errhint("The nearest level is %s.", quote_literal_cstr(nearest)) : 0));
}

/* Literals and parameters, whose evaluation calls nothing. */
static bool
is_plain(Node *e)
{
	ListCell   *cell;

	while (IsA(e, RelabelType))
		e = (Node *) ((RelabelType *) e)->arg;
	if (!IsA(e, ArrayExpr))
		return IsA(e, Const) || IsA(e, Param);
	foreach(cell, ((ArrayExpr *) e)->elements)
		if (!is_plain(lfirst(cell)))
			return false;
	return true;
}

static bool
tell_undeclared(Node *e, void *sight)
{
	pe_sight   *s = sight;
	equality	q;
	bool	   *nulls;
	int			count;
	Datum	   *constant;
	Datum	   *sorted;
	Oid			type;

	if (e == NULL)
		return false;
	if ((IsA(e, OpExpr) || IsA(e, DistinctExpr) || IsA(e, NullIfExpr) || IsA(e, ScalarArrayOpExpr)) &&
		find_equality(s, e, &q) && is_plain(q.constant) &&
		s->declared->attribute[q.attribute].other < 0 && s->declared->attribute[q.attribute].ordered > 0)
	{
		constant = constants_of(s, &q, IsA(e, ScalarArrayOpExpr), &nulls, &count);
		type = type_of_constants(s, e, &q);
		sorted = sorted_levels(s, &q, type);
		for (int i = 0; i < count; i++)
			if (!nulls[i] && !is_one_of(s, &q, sorted, constant[i]))
				tell_equality(s, &q, type, constant[i]);
	}
	return expression_tree_walker(e, tell_undeclared, sight);
}

void
pe_levels_tell_undeclared(pe_sight *s, List *expressions)
{
	(void) tell_undeclared((Node *) expressions, s);
	ResetExprContext(s->econtext);
}
