/*
 * ranges.c
 *	  What CHECK constraints say of the values of a column.
 *
 * A constraint counts where it holds for all rows at any time: validated, enforced, and on every
 * table of the family that is read, and none of these is foreign.  Both ends are needed: x > 0
 * admits infinity, and NaN, which is larger than all numbers.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/tupdesc.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "server/compat.h"
#include "view/prover.h"

typedef struct bounds
{
	AttrNumber	number;
	bool		has_low;
	bool		has_high;
	pe_i128		low;
	pe_i128		high;
	int			length;
} bounds;

static bool
is_column(Node *node, AttrNumber number)
{
	while (IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	return IsA(node, Var) && ((Var *) node)->varattno == number && ((Var *) node)->varlevelsup == 0;
}

static void
bound_low(bounds *b, pe_i128 low)
{
	b->low = b->has_low ? Max(b->low, low) : low;
	b->has_low = true;
}

static void
bound_high(bounds *b, pe_i128 high)
{
	b->high = b->has_high ? Min(b->high, high) : high;
	b->has_high = true;
}

/* Of length(column) */
static void
take_length(bounds *b, int kind, const pe_extent *limit)
{
	if (limit->has_range && limit->high >= 0 && limit->high < PG_INT32_MAX &&
		(kind == BTLessStrategyNumber || kind == BTLessEqualStrategyNumber || kind == BTEqualStrategyNumber))
		b->length = b->length < 0 ? (int) limit->high : Min(b->length, (int) limit->high);
}

/* column kind constant */
static void
take_comparison(bounds *b, int kind, const pe_extent *limit)
{
	if (!limit->has_range)
		return;
	if (kind == BTGreaterStrategyNumber || kind == BTGreaterEqualStrategyNumber || kind == BTEqualStrategyNumber)
		bound_low(b, limit->low);
	if (kind == BTLessStrategyNumber || kind == BTLessEqualStrategyNumber || kind == BTEqualStrategyNumber)
		bound_high(b, limit->high);
}

/* The kind of comparison of an operator of two values of one kind of type; 0: none. */
static int
kind_of(Oid operator)
{
	Oid			left;
	Oid			right;
	ListCell   *cell;

	if (!pe_is_comparison(operator))
		return 0;
	op_input_types(operator, &left, &right);
	/* a date beside a timestamp has another unit */
	if (left != right && pe_equality_group(left, InvalidOid) != INT8OID)
		return 0;
	foreach(cell, pe_comparison_meanings(operator))
		return pe_comparison_kind((pe_comparison_meaning *) lfirst(cell));
	return 0;
}

/* Of a jsonb: that of its text. */
static bool
is_text_of(Node *node, AttrNumber number)
{
	if (IsA(node, CoerceViaIO) && exprType((Node *) ((CoerceViaIO *) node)->arg) == JSONBOID)
		node = (Node *) ((CoerceViaIO *) node)->arg;
	return is_column(node, number);
}

static bool
is_length_of(Node *node, AttrNumber number)
{
	FuncExpr   *call = (FuncExpr *) node;

	return IsA(node, FuncExpr) && list_length(call->args) == 1 && is_text_of(linitial(call->args), number) &&
		(call->funcid == F_LENGTH_TEXT || call->funcid == F_CHAR_LENGTH_TEXT ||
		 call->funcid == F_CHARACTER_LENGTH_TEXT);
}

static void
take_test(bounds *b, OpExpr *test)
{
	Node	   *left = pe_fold(linitial(test->args));
	Node	   *right = pe_fold(lsecond(test->args));
	Oid			operator = test->opno;
	int			kind;

	if (IsA(left, Const))
	{
		operator = get_commutator(operator);
		left = right;
		right = pe_fold(linitial(test->args));
	}
	kind = OidIsValid(operator) && IsA(right, Const) && !((Const *) right)->constisnull ? kind_of(operator) : 0;
	if (kind == 0)
		return;
	if (is_column(left, b->number))
		take_comparison(b, kind, pe_extent_of_const((Const *) right));
	else if (is_length_of(left, b->number))
		take_length(b, kind, pe_extent_of_const((Const *) right));
}

/* column IN (1, 2, 3) */
static void
take_list(bounds *b, ScalarArrayOpExpr *test)
{
	Const	   *list = (Const *) pe_fold(lsecond(test->args));
	pe_extent  *all = NULL;
	Oid			element;
	int16		length;
	bool		by_value;
	char		align;
	Datum	   *values;
	bool	   *nulls;
	int			count;

	if (!test->useOr || kind_of(test->opno) != BTEqualStrategyNumber || !is_column(linitial(test->args), b->number) ||
		!IsA(list, Const) || list->constisnull)
		return;
	element = ARR_ELEMTYPE(DatumGetArrayTypeP(list->constvalue));
	get_typlenbyvalalign(element, &length, &by_value, &align);
	deconstruct_array(DatumGetArrayTypeP(list->constvalue), element, length, by_value, align, &values, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		pe_extent  *one = pe_extent_of_const(makeConst(element, -1, InvalidOid, length, values[i], nulls[i], by_value));

		if (!nulls[i])
			all = all != NULL ? pe_extent_join(all, one) : one;
	}
	/* a list with a NULL lets every value pass */
	for (int i = 0; i < count; i++)
		if (nulls[i])
			return;
	if (all != NULL && all->has_range)
	{
		bound_low(b, all->low);
		bound_high(b, all->high);
	}
	if (all != NULL && all->length >= 0 && element == TEXTOID &&
		OidIsValid(pe_equality_group(TEXTOID, test->inputcollid)))
		b->length = b->length < 0 ? all->length : Min(b->length, all->length);
}

static void
take_conditions(bounds *b, Node *node)
{
	ListCell   *cell;

	if (IsA(node, BoolExpr) && ((BoolExpr *) node)->boolop == AND_EXPR)
	{
		foreach(cell, ((BoolExpr *) node)->args)
			take_conditions(b, lfirst(cell));
	}
	else if (IsA(node, OpExpr) && list_length(((OpExpr *) node)->args) == 2)
		take_test(b, (OpExpr *) node);
	else if (IsA(node, ScalarArrayOpExpr))
		take_list(b, (ScalarArrayOpExpr *) node);
}

static pe_extent *
extent_in(Oid oid, const char *name)
{
	Relation	relation = table_open(oid, NoLock);
	TupleDesc	columns = RelationGetDescr(relation);
	bounds		b = {.number = get_attnum(oid, name), .length = -1};
	Form_pg_attribute column = TupleDescAttr(columns, b.number - 1);
	pe_extent  *extent = pe_extent_of_type(column->atttypid, column->atttypmod);

	/* '1 month' and '30 days' are equal intervals that lead to different days: a comparison bounds neither part */
	if (relation->rd_rel->relkind != RELKIND_FOREIGN_TABLE && columns->constr != NULL &&
		getBaseType(column->atttypid) != INTERVALOID)
		for (int i = 0; i < columns->constr->num_check; i++)
		{
			const ConstrCheck *check = &columns->constr->check[i];

			if (check->ccvalid && pe_check_is_enforced(check))
				take_conditions(&b, stringToNode(check->ccbin));
		}
	table_close(relation, NoLock);
	if (b.has_low && b.has_high && b.low <= b.high)
	{
		extent->low = extent->has_range ? Max(extent->low, b.low) : b.low;
		extent->high = extent->has_range ? Min(extent->high, b.high) : b.high;
		extent->has_range = true;
		if (getBaseType(column->atttypid) == NUMERICOID && extent->digits < 0)
			extent->digits = 38;
	}
	else if (extent->has_range)
	{
		/* integers are neither NaN nor infinite: one end is enough */
		extent->low = b.has_low ? Max(extent->low, b.low) : extent->low;
		extent->high = b.has_high ? Min(extent->high, b.high) : extent->high;
	}
	if (b.length >= 0)
		extent->length = extent->length < 0 ? b.length : Min(extent->length, b.length);
	extent->is_nonzero = extent->has_range && (extent->low > 0 || extent->high < 0);
	return extent;
}

pe_extent *
pe_column_extent(const pe_source *source, AttrNumber number)
{
	const char *name = get_attname(source->relation, number, false);
	pe_extent  *extent = NULL;
	ListCell   *cell;

	foreach(cell, source->members)
	{
		pe_extent  *one = extent_in(lfirst_oid(cell), name);

		extent = extent != NULL ? pe_extent_join(extent, one) : one;
	}
	return extent;
}
