/*
 * condition.c
 *	  Conditions of SQL as sets of cells.  See condition.h.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "fdw/beyond.h"
#include "fdw/comparison.h"
#include "fdw/condition.h"
#include "fdw/notices.h"
#include "fdw/open_literals.h"
#include "server/values.h"

static pe_condition *
make_condition(pe_condition_kind kind)
{
	pe_condition *c = palloc0(sizeof(*c));

	c->kind = kind;
	return c;
}

pe_condition *
pe_condition_always(void)
{
	return make_condition(PE_COND_ALWAYS);
}

pe_condition *
pe_condition_never(void)
{
	return make_condition(PE_COND_NEVER);
}

pe_condition *
pe_condition_cells(const pe_sight *s, int attribute, const bool *cells, bool unnamed)
{
	const pe_public_attribute *a = pe_sight_attribute(s, attribute);
	int32		count = a->cells;
	int32		selected = 0;
	pe_condition *c = make_condition(PE_COND_CELLS);

	c->attribute = attribute;
	c->unnamed = unnamed;
	c->cells = palloc(count * sizeof(bool));
	for (int32 i = 0; i < count; i++)
		selected += c->cells[i] = cells[i];
	if (selected == count && (unnamed || (!a->drops_null && !a->drops_outside)))
		return make_condition(PE_COND_ALWAYS);
	return selected == 0 ? make_condition(PE_COND_NEVER) : c;
}

/* ------------------------------------------------------------------
 * AND and OR
 * ------------------------------------------------------------------
 */

/*
 * By attribute and then by text, so that the order in which a condition is
 * written does not show.  Comparisons have their numbers from that order.
 */
static int
rank(const pe_sight *s, const pe_condition *c)
{
	return c->kind != PE_COND_CELLS ? PG_INT32_MAX : Min(c->attribute, s->declared->attributes);
}

/* A part of a join does not change, so its text is made once. */
static const char *
text_of_part(const pe_sight *s, pe_condition *part)
{
	if (part->text == NULL)
		part->text = pe_condition_text(s, part);
	return part->text;
}

static bool
stands_before(const pe_sight *s, pe_condition *one, pe_condition *other)
{
	int			first = rank(s, one);
	int			second = rank(s, other);

	if (first != second || first < s->declared->attributes)
		return first < second;
	return strcmp(text_of_part(s, one), text_of_part(s, other)) < 0;
}

static void
add_sorted(const pe_sight *s, pe_condition *c, pe_condition *part)
{
	int			low = 0;
	int			high = list_length(c->parts);

	while (low < high)
	{
		int			middle = (low + high) / 2;

		if (stands_before(s, list_nth(c->parts, middle), part))
			low = middle + 1;
		else
			high = middle;
	}
	c->parts = list_insert_nth(c->parts, low, part);
}

static pe_condition *
find_attribute(const pe_condition *c, int attribute)
{
	ListCell   *cell;

	foreach(cell, c->parts)
	{
		pe_condition *part = lfirst(cell);

		if (part->kind == PE_COND_CELLS && part->attribute == attribute)
			return part;
	}
	return NULL;
}

/* Cells of both, or of one of them. */
static bool *
joined_cells(const pe_sight *s, int attribute, const bool *one, const bool *other, bool both)
{
	int32		count = pe_sight_attribute(s, attribute)->cells;
	bool	   *cells = palloc(count * sizeof(bool));

	for (int32 i = 0; i < count; i++)
		cells[i] = both ? one[i] && other[i] : one[i] || other[i];
	return cells;
}

static pe_condition *
with_part(const pe_sight *s, pe_condition *c, pe_condition *part)
{
	bool		both = c->kind == PE_COND_AND;
	pe_condition *same = part->kind == PE_COND_CELLS ? find_attribute(c, part->attribute) : NULL;
	ListCell   *cell;

	if (part->kind == (both ? PE_COND_ALWAYS : PE_COND_NEVER))
		return c;
	if (part->kind == (both ? PE_COND_NEVER : PE_COND_ALWAYS))
		return part;
	if (part->kind == c->kind)
	{
		foreach(cell, part->parts)
			if ((c = with_part(s, c, lfirst(cell)))->kind != part->kind)
				return c;
		return c;
	}
	if (same == NULL)
	{
		add_sorted(s, c, part);
		return c;
	}
	c->parts = list_delete_ptr(c->parts, same);
	return with_part(s, c, pe_condition_cells(s, part->attribute,
											  joined_cells(s, part->attribute, same->cells, part->cells, both),
											  both ? same->unnamed && part->unnamed
											  : same->unnamed || part->unnamed));
}

/* A join of one part is that part, and of none what it is without any. */
static pe_condition *
single_part(pe_condition *c)
{
	if (c->kind != PE_COND_AND && c->kind != PE_COND_OR)
		return c;
	if (c->parts == NIL)
		return make_condition(c->kind == PE_COND_AND ? PE_COND_ALWAYS : PE_COND_NEVER);
	return list_length(c->parts) == 1 ? linitial(c->parts) : c;
}

static pe_condition *
joined_by(const pe_sight *s, pe_condition_kind kind, pe_condition *one, pe_condition *other)
{
	pe_condition *c = with_part(s, make_condition(kind), one);

	if (c->kind == kind)
		c = with_part(s, c, other);
	return single_part(c);
}

pe_condition *
pe_condition_and(const pe_sight *s, pe_condition *one, pe_condition *other)
{
	return joined_by(s, PE_COND_AND, one, other);
}

pe_condition *
pe_condition_or(const pe_sight *s, pe_condition *one, pe_condition *other)
{
	return joined_by(s, PE_COND_OR, one, other);
}

/* ------------------------------------------------------------------
 * Expressions
 * ------------------------------------------------------------------
 */

static bool
has_truth(pe_truth truth, Datum value, bool isnull)
{
	bool		is_true = !isnull && DatumGetBool(value);
	bool		is_false = !isnull && !DatumGetBool(value);

	switch (truth)
	{
		case PE_IS_TRUE:
			return is_true;
		case PE_IS_FALSE:
			return is_false;
		case PE_IS_NOT_TRUE:
			return !is_true;
		default:
			return !is_false;
	}
}

static pe_truth
negated(pe_truth truth)
{
	static const pe_truth of[] = {PE_IS_FALSE, PE_IS_TRUE, PE_IS_NOT_FALSE, PE_IS_NOT_TRUE};

	return of[truth];
}

static const pe_condition *
part_of(const pe_condition *c, int attribute)
{
	return c->kind == PE_COND_CELLS && c->attribute == attribute
		? c : c->kind == PE_COND_AND ? find_attribute(c, attribute) : NULL;
}

/* Rows without a value have no cell where the declaration drops them. */
static bool
is_true_for_null(pe_sight *s, Node *e, pe_truth truth, int attribute, const pe_condition *within)
{
	const pe_condition *part = part_of(within, attribute);
	bool		isnull;
	Datum		value;

	if (part != NULL && !part->unnamed)
		return false;
	return pe_sight_of_null(s, e, &value, &isnull) && has_truth(truth, value, isnull);
}

/* NaN counts as NULL, so its rows are left out, or are those of NULL; not of another test's. */
static void
tell_nan(pe_sight *s, Node *e, pe_truth truth, int attribute, const bool *cells, const char *what)
{
	int32		null = s->declared->attribute[attribute].null;
	bool		is_counted = null >= 0 && cells[null];
	bool		isnull;
	Datum		value;

	if (pe_sight_of_nan(s, e, attribute, &value, &isnull) && has_truth(truth, value, isnull) != is_counted)
		pe_sight_tell_nan(s, attribute, is_counted, what);
}

typedef enum pe_undeclared
{
	PE_UNDECLARED_NONE,			/* there are no such values, or they have a cell */
	PE_UNDECLARED_TRUE,
	PE_UNDECLARED_FALSE,
	PE_UNDECLARED_UNKNOWN
} pe_undeclared;

/* What a test is for values outside, which have no cell where the declaration drops them. */
static pe_undeclared
of_undeclared(pe_sight *s, Node *e, pe_truth truth, int attribute)
{
	bool		isnull;
	bool		known;
	Datum		value;

	if (!s->declared->attribute[attribute].drops_outside ||
		!pe_sight_of_dropped(s, e, attribute, &value, &isnull, &known))
		return PE_UNDECLARED_NONE;
	return !known ? PE_UNDECLARED_UNKNOWN : has_truth(truth, value, isnull) ? PE_UNDECLARED_TRUE : PE_UNDECLARED_FALSE;
}

static bool
selects_any(const bool *cells, int32 count)
{
	for (int32 i = 0; i < count; i++)
		if (cells[i])
			return true;
	return false;
}

/* Rows that a condition drops out, and that meet the test. */
static void
tell_dropped(pe_sight *s, const pe_condition *c, bool null, pe_undeclared undeclared,
			 int attribute, const bool *cells, const char *what)
{
	const pe_public_attribute *a = &s->declared->attribute[attribute];
	bool		any = selects_any(cells, a->cells);

	if (c->kind == PE_COND_ALWAYS)
		return;
	if (null)
		pe_sight_tell_nulls(s, attribute, what, "is true");
	if (undeclared == PE_UNDECLARED_TRUE)
		pe_sight_tell_undeclared(s, attribute, what, "is true");
	else if (undeclared == PE_UNDECLARED_UNKNOWN && ((!any && !null) || !a->bins))
		pe_sight_tell_undeclared(s, attribute, what, "can be true");
}

void
pe_condition_tell_undeclared(pe_sight *s, Node *e, int attribute, const char *what)
{
	pe_undeclared undeclared = of_undeclared(s, e, PE_IS_TRUE, attribute);

	if (undeclared == PE_UNDECLARED_TRUE || undeclared == PE_UNDECLARED_UNKNOWN)
		pe_sight_tell_undeclared(s, attribute, what, "has a value");
}

/*
 * The truth on cells that are not left matters to no row.  Where it is no
 * error, it is in the condition: the same test has the same text.
 */
static pe_condition *
of_attribute(pe_sight *s, Node *e, pe_truth truth, int attribute, const pe_condition *within, const char *what)
{
	const pe_public_attribute *a = &s->declared->attribute[attribute];
	const bool *left = pe_condition_leaves(within, attribute);
	pe_values  *values = pe_sight_values(s, e, attribute, left, true);
	bool	   *cells = palloc(a->cells * sizeof(bool));
	bool		null = is_true_for_null(s, e, truth, attribute, within);
	pe_undeclared undeclared = of_undeclared(s, e, truth, attribute);
	pe_condition *c;

	pe_sight_check_cuts(s, values, attribute, left, what);
	pe_beyond_tell(s, e, within);
	for (int32 i = 0; i < a->cells; i++)
		cells[i] = has_truth(truth, values->value[i], values->isnull[i]);
	c = pe_condition_cells(s, attribute, cells,
						   null && (undeclared == PE_UNDECLARED_NONE || undeclared == PE_UNDECLARED_TRUE));
	tell_dropped(s, c, null, undeclared, attribute, cells, what);
	if (part_of(within, attribute) == NULL)
		tell_nan(s, e, truth, attribute, cells, what);
	return c;
}

/* Whether a test calls nothing but built-in comparisons of columns and constants, which never fail. */
static bool
is_simple(pe_sight *s, Node *e)
{
	List	   *arguments = NIL;
	ListCell   *cell;

	if (IsA(e, Var) || pe_sight_is_constant(e))
		return true;
	if (IsA(e, NullTest))
		return is_simple(s, (Node *) ((NullTest *) e)->arg);
	if (IsA(e, BooleanTest))
		return is_simple(s, (Node *) ((BooleanTest *) e)->arg);
	if (IsA(e, BoolExpr))
		arguments = ((BoolExpr *) e)->args;
	else if ((IsA(e, OpExpr) || IsA(e, DistinctExpr)) && pe_names_operator(s->names, ((OpExpr *) e)->opno)->kind != 0)
		arguments = ((OpExpr *) e)->args;
	else if (IsA(e, ScalarArrayOpExpr) && pe_names_operator(s->names, ((ScalarArrayOpExpr *) e)->opno)->kind != 0)
		arguments = ((ScalarArrayOpExpr *) e)->args;
	else
		return IsA(pe_sight_bare(s, e), Var);
	foreach(cell, arguments)
		if (!is_simple(s, lfirst(cell)))
			return false;
	return true;
}

/* Simple tests first: the others are evaluated on what is left then.  SQL promises no order. */
static List *
simple_first(pe_sight *s, List *tests)
{
	List	   *simple = NIL;
	List	   *others = NIL;
	ListCell   *cell;

	foreach(cell, tests)
		if (is_simple(s, lfirst(cell)))
			simple = lappend(simple, lfirst(cell));
		else
			others = lappend(others, lfirst(cell));
	return list_concat(simple, others);
}

static Node *
joined(BoolExprType kind, List *tests)
{
	return list_length(tests) == 1 ? linitial(tests) : (Node *) makeBoolExpr(kind, tests, -1);
}

/*
 * The tests of AND or OR: those of one column as one, those of several columns
 * last.  x >= 1 AND x < 5 is false on both sides of the declared bins, and
 * neither test is by itself.
 */
static List *
tests_by_column(pe_sight *s, const BoolExpr *b)
{
	List	  **of = palloc0(Max(s->declared->attributes, 1) * sizeof(List *));
	List	   *several = NIL;
	List	   *tests = NIL;
	ListCell   *cell;

	foreach(cell, b->args)
	{
		Bitmapset  *attributes = pe_sight_tested(s, lfirst(cell));
		int			attribute = bms_membership(attributes) == BMS_SINGLETON ? bms_singleton_member(attributes) : -1;

		if (bms_is_empty(attributes))
			tests = lappend(tests, lfirst(cell));
		else if (attribute < 0 || attribute >= s->declared->attributes)
			several = lappend(several, lfirst(cell));
		else
			of[attribute] = lappend(of[attribute], lfirst(cell));
	}
	for (int i = 0; i < s->declared->attributes; i++)
		if (of[i] != NIL)
			tests = lappend(tests, joined(b->boolop, simple_first(s, of[i])));
	return list_concat(tests, several);
}

/* The attributes of a condition that rows are dropped by. */
static void
find_dropping(const pe_sight *s, const pe_condition *c, Bitmapset **attributes)
{
	ListCell   *cell;

	if (c->kind == PE_COND_CELLS && (pe_sight_attribute(s, c->attribute)->drops_null ||
									 pe_sight_attribute(s, c->attribute)->drops_outside))
		*attributes = bms_add_member(*attributes, c->attribute);
	foreach(cell, c->parts)
		find_dropping(s, lfirst(cell), attributes);
}

/* Of a row that one side of OR drops the other side may be true. */
static void
tell_alternatives(pe_sight *s, const pe_condition *c, const char *what)
{
	Bitmapset  *attributes = NULL;
	StringInfoData names;
	int			a = -1;

	find_dropping(s, c, &attributes);
	if (s->adds_nothing || s->of_cube || bms_is_empty(attributes) || pe_sight_is_told(s, "alternatives"))
		return;
	initStringInfo(&names);
	while ((a = bms_next_member(attributes, a)) >= 0)
		appendStringInfo(&names, "%s\"%s\"", names.len > 0 ? ", " : "", s->declared->attribute[a].name);
	pe_notice((errmsg("%s joins columns by OR, and the dataset counts no rows without a declared value of %s",
					what, names.data),
			 errhint("The owner can declare cells for them: nulls => 'cell', outside => 'other'.")));
}

/*
 * AND is true where all are, and not true where one is not; OR the other way
 * round.  What is behind an AND is evaluated only where it is still true.
 */
static pe_condition *
of_several(pe_sight *s, const BoolExpr *b, pe_truth truth, const pe_condition *within, const char *what)
{
	bool		positive = truth == PE_IS_TRUE || truth == PE_IS_NOT_FALSE;
	pe_condition *c = make_condition((b->boolop == AND_EXPR) == positive ? PE_COND_AND : PE_COND_OR);
	pe_condition_kind kind = c->kind;
	ListCell   *cell;

	foreach(cell, tests_by_column(s, b))
	{
		pe_condition *part = pe_condition_of(s, lfirst(cell), truth, within, what);

		c = with_part(s, c, part);
		if (c->kind != kind)
			return c;
		if (kind == PE_COND_AND)
			within = pe_condition_and(s, (pe_condition *) within, part);
	}
	if (c->kind == PE_COND_OR && list_length(c->parts) > 1)
		tell_alternatives(s, c, what);
	return single_part(c);
}

/* Whether a test of several columns is NULL, or not; neither is NULL itself. */
static pe_condition *
of_unknown(pe_sight *s, Node *e, bool unknown, const pe_condition *within, const char *what)
{
	pe_condition *neither;

	if (unknown)
	{
		neither = pe_condition_and(s, pe_condition_of(s, e, PE_IS_NOT_TRUE, within, what),
								   pe_condition_of(s, e, PE_IS_NOT_FALSE, within, what));
		return pe_condition_may_hold(s, neither, false) ? neither : pe_condition_never();
	}
	return pe_condition_or(s, pe_condition_of(s, e, PE_IS_TRUE, within, what),
						   pe_condition_of(s, e, PE_IS_FALSE, within, what));
}

static bool
is_positive(pe_truth truth)
{
	return truth == PE_IS_TRUE || truth == PE_IS_NOT_FALSE;
}

static pe_condition *
of_test(pe_sight *s, const BooleanTest *t, pe_truth truth, const pe_condition *within, const char *what)
{
	static const pe_truth meant[] = {
		[IS_TRUE] = PE_IS_TRUE, [IS_NOT_TRUE] = PE_IS_NOT_TRUE,
		[IS_FALSE] = PE_IS_FALSE, [IS_NOT_FALSE] = PE_IS_NOT_FALSE
	};
	static const pe_truth opposite[] = {PE_IS_NOT_TRUE, PE_IS_NOT_FALSE, PE_IS_TRUE, PE_IS_FALSE};
	bool		positive = is_positive(truth);

	if (t->booltesttype == IS_UNKNOWN || t->booltesttype == IS_NOT_UNKNOWN)
		return of_unknown(s, (Node *) t->arg, (t->booltesttype == IS_UNKNOWN) == positive, within, what);
	return pe_condition_of(s, (Node *) t->arg,
						   positive ? meant[t->booltesttype] : opposite[meant[t->booltesttype]], within, what);
}

/* Whether it is NULL in every row, as what is computed with a parameter that is NULL. */
static bool
is_null(pe_sight *s, Node *e)
{
	List	   *arguments = NIL;
	bool		isnull = false;
	ListCell   *cell;

	check_stack_depth();
	if (pe_sight_is_constant(e))
	{
		(void) pe_sight_constant(s, e, &isnull);
		return isnull;
	}
	if (IsA(e, OpExpr) && op_strict(((OpExpr *) e)->opno))
		arguments = ((OpExpr *) e)->args;
	else if (IsA(e, FuncExpr) && func_strict(((FuncExpr *) e)->funcid))
		arguments = ((FuncExpr *) e)->args;
	foreach(cell, arguments)
		if (is_null(s, lfirst(cell)))
			return true;
	return false;
}

pe_condition *
pe_condition_of(pe_sight *s, Node *e, pe_truth truth, const pe_condition *within, const char *what)
{
	Bitmapset  *attributes = pe_sight_tested(s, e);
	bool		isnull;
	Datum		value;
	pe_condition *c;

	if (within->kind == PE_COND_NEVER)
		return make_condition(PE_COND_NEVER);
	switch (bms_membership(attributes))
	{
		case BMS_EMPTY_SET:
			value = pe_sight_constant(s, e, &isnull);
			return make_condition(has_truth(truth, value, isnull) ? PE_COND_ALWAYS : PE_COND_NEVER);
		case BMS_SINGLETON:
			if (bms_singleton_member(attributes) < s->declared->attributes)
				return of_attribute(s, e, truth, bms_singleton_member(attributes), within, what);
			break;
		default:
			break;
	}
	if (IsA(e, BoolExpr) && ((BoolExpr *) e)->boolop == NOT_EXPR)
		return pe_condition_of(s, linitial(((BoolExpr *) e)->args), negated(truth), within, what);
	if (IsA(e, BoolExpr))
		return of_several(s, (BoolExpr *) e, truth, within, what);
	if (IsA(e, BooleanTest))
		return of_test(s, (BooleanTest *) e, truth, within, what);
	if (IsA(e, NullTest) && exprType((Node *) ((NullTest *) e)->arg) == BOOLOID &&
		!IsA(((NullTest *) e)->arg, Var))
		return of_unknown(s, (Node *) ((NullTest *) e)->arg,
						  (((NullTest *) e)->nulltesttype == IS_NULL) == is_positive(truth), within, what);
	c = pe_comparison_condition(s, e, truth);
	if (c == NULL && is_null(s, e))
		return make_condition(has_truth(truth, (Datum) 0, true) ? PE_COND_ALWAYS : PE_COND_NEVER);
	if (c == NULL && bms_membership(attributes) == BMS_SINGLETON)
		pe_refuse_translation(psprintf("%s by an expression of a column whose values nobody has listed", what),
							  "Such a column is tested by =, <>, IN, LIKE and IS NULL, and these are joined by AND, OR "
							  "and NOT.");
	if (c == NULL)
		pe_refuse_translation(psprintf("%s that compares several columns with each other", what),
							  "Compare two columns of one kind of type, as in a < b + 7, or single columns with "
							  "constants, and join tests by AND, OR and NOT.");
	return c;
}

/* Tests in WHERE are joined by AND. */
pe_condition *
pe_condition_of_list(pe_sight *s, List *expressions, const char *what)
{
	return of_several(s, (BoolExpr *) makeBoolExpr(AND_EXPR, expressions, -1), PE_IS_TRUE, pe_condition_always(), what);
}

/* ------------------------------------------------------------------
 * What a condition leaves
 * ------------------------------------------------------------------
 */

const bool *
pe_condition_leaves(const pe_condition *c, int attribute)
{
	const pe_condition *part = part_of(c, attribute);

	return part != NULL ? part->cells : NULL;
}

const bool *
pe_condition_may_leave(const pe_sight *s, const pe_condition *c, int attribute)
{
	bool		is_and = c->kind == PE_COND_AND;
	const bool *all = NULL;
	ListCell   *cell;

	if (c->kind == PE_COND_CELLS)
		return c->attribute == attribute ? c->cells : NULL;
	if (!is_and && c->kind != PE_COND_OR)
		return NULL;
	foreach(cell, c->parts)
	{
		const bool *part = pe_condition_may_leave(s, lfirst(cell), attribute);

		if (part == NULL && !is_and)
			return NULL;
		if (part != NULL)
			all = all == NULL ? part : joined_cells(s, attribute, all, part, is_and);
	}
	return all;
}

pe_condition *
pe_condition_without(const pe_sight *s, const pe_condition *c, const Bitmapset *attributes)
{
	pe_condition *rest = pe_condition_always();
	ListCell   *cell;

	if (c->kind == PE_COND_CELLS && bms_is_member(c->attribute, attributes))
		return rest;
	if (c->kind != PE_COND_AND)
		return (pe_condition *) c;
	foreach(cell, c->parts)
		rest = pe_condition_and(s, rest, pe_condition_without(s, lfirst(cell), attributes));
	return rest;
}

/* NaN counts as NULL. */
static bool
is_never_null(const pe_sight *s, int attribute, bool declared)
{
	const pe_public_attribute *a = pe_sight_attribute(s, attribute);

	return (declared && pe_sight_drops_null(s, attribute)) ||
		(a->is_there && !pe_type_is_float(a->type) && a->type != NUMERICOID);
}

/* Whether a row can have a cell, as far as NOT NULL decides it, and the declaration. */
static bool
may_have_cell(const pe_sight *s, int attribute, int32 cell, bool declared)
{
	const pe_public_attribute *a = pe_sight_attribute(s, attribute);

	return !is_never_null(s, attribute, declared) ||
		(cell != a->null && !(pe_sight_compares(s, attribute) && cell == a->other));
}

static bool
may_have_cells(const pe_sight *s, const pe_condition *c, bool declared)
{
	for (int32 i = 0; i < pe_sight_attribute(s, c->attribute)->cells; i++)
		if (c->cells[i] && may_have_cell(s, c->attribute, i, declared))
			return true;
	return c->unnamed && !declared &&
		(pe_sight_attribute(s, c->attribute)->drops_null || pe_sight_attribute(s, c->attribute)->drops_outside);
}

/* So many alternatives are tried: of more it is not known that none holds. */
#define MOST_TRIED 256

/* An AND without the alternatives of its first OR; NULL: it has none. */
static pe_condition *
first_alternatives(const pe_sight *s, const pe_condition *c, List **alternatives)
{
	pe_condition *rest = pe_condition_always();
	ListCell   *cell;

	*alternatives = NIL;
	foreach(cell, c->parts)
		if (*alternatives == NIL && ((pe_condition *) lfirst(cell))->kind == PE_COND_OR)
			*alternatives = ((pe_condition *) lfirst(cell))->parts;
		else
			rest = pe_condition_and(s, rest, lfirst(cell));
	return *alternatives != NIL ? rest : NULL;
}

static bool
may_hold(const pe_sight *s, const pe_condition *c, bool declared, int *tried)
{
	List	   *alternatives = c->kind == PE_COND_OR ? c->parts : NIL;
	pe_condition *rest = c->kind == PE_COND_AND ? first_alternatives(s, c, &alternatives) : pe_condition_always();
	ListCell   *cell;

	if (c->kind == PE_COND_ALWAYS || c->kind == PE_COND_NEVER || ++*tried > MOST_TRIED)
		return c->kind != PE_COND_NEVER;
	if (c->kind == PE_COND_CELLS)
		return may_have_cells(s, c, declared);
	foreach(cell, alternatives)
		if (may_hold(s, pe_condition_and(s, rest, lfirst(cell)), declared, tried))
			return true;
	foreach(cell, alternatives == NIL ? c->parts : NIL)
		if (!may_have_cells(s, lfirst(cell), declared))
			return false;
	return alternatives == NIL;
}

bool
pe_condition_may_hold(const pe_sight *s, const pe_condition *c, bool declared)
{
	int			tried = 0;

	return may_hold(s, c, declared, &tried);
}

/* ------------------------------------------------------------------
 * Text
 * ------------------------------------------------------------------
 */

static void
append_cells(StringInfo to, const bool *cells, int32 count)
{
	const char *separator = "";

	for (int32 from = 0; from < count; from++)
	{
		int32		last = from;

		if (!cells[from])
			continue;
		while (last + 1 < count && cells[last + 1])
			last++;
		appendStringInfo(to, last > from ? "%s%d-%d" : "%s%d", separator, from, last);
		separator = ", ";
		from = last;
	}
}

static void
append(StringInfo to, const pe_sight *s, const pe_condition *c, bool nested)
{
	ListCell   *cell;

	if (c->kind == PE_COND_CELLS && c->attribute >= s->declared->attributes)
	{
		appendStringInfoString(to, pe_comparison_text(s, c->attribute, c->cells));
		return;
	}
	if (c->kind == PE_COND_CELLS)
	{
		const pe_public_attribute *a = &s->declared->attribute[c->attribute];

		if (a->listed != NULL)
		{
			appendStringInfoString(to, pe_literals_text(a, c->cells));
			return;
		}
		appendStringInfo(to, "%s IN CELLS (", quote_identifier(a->name));
		append_cells(to, c->cells, a->cells);
		appendStringInfoChar(to, ')');
		return;
	}
	appendStringInfoString(to, nested ? "(" : "");
	foreach(cell, c->parts)
	{
		if (lfirst(cell) != linitial(c->parts))
			appendStringInfoString(to, c->kind == PE_COND_AND ? " AND " : " OR ");
		append(to, s, lfirst(cell), true);
	}
	appendStringInfoString(to, nested ? ")" : "");
}

char *
pe_condition_text(const pe_sight *s, const pe_condition *c)
{
	StringInfoData text;

	if (c->kind == PE_COND_ALWAYS || c->kind == PE_COND_NEVER)
		return NULL;
	initStringInfo(&text);
	append(&text, s, c, false);
	return text.data;
}
