/*
 * beyond.c
 *	  Tests of values beyond the bounds.  See beyond.h.
 *
 * A value beyond is shown and summed as the one that it counts as, as GROUP BY
 * x shows it.  A test is true or false of the value itself.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"

#include "fdw/beyond.h"
#include "fdw/notices.h"
#include "server/values.h"

/* ------------------------------------------------------------------
 * NOTICEs
 * ------------------------------------------------------------------
 */

/* "as 9", or "in the bin 90 to 100" */
static char *
place_text(pe_sight *s, const pe_public_attribute *a, int32 cell)
{
	char	   *low = pe_value_text(s, a->type, a->low[cell]);

	if (a->whole && pe_same_value(pe_names_type(s->names, a->type), InvalidOid,
								  a->low[cell], false, a->high[cell], false))
		return psprintf("as %s", low);
	return psprintf("in the bin %s to %s", low, pe_value_text(s, a->type, a->edge[cell + 1]));
}

/* Whether the last bin holds its edge. */
static bool
is_closed(pe_sight *s, const pe_public_attribute *a)
{
	return pe_same_value(pe_names_type(s->names, a->type), InvalidOid,
						 a->high[a->ordered - 1], false, a->edge[a->ordered], false);
}

static void
tell_clamped(pe_sight *s, int attribute)
{
	const pe_public_attribute *a = &s->declared->attribute[attribute];
	char	   *last = pe_value_text(s, a->type, a->edge[a->ordered]);

	if (pe_sight_is_told(s, psprintf("beyond %d", attribute)))
		return;
	pe_notice((errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("values of \"%s\" below %s count %s, %s %s (outside => clamp)",
					a->name, pe_value_text(s, a->type, a->low[0]),
					place_text(s, a, 0), is_closed(s, a) ? psprintf("above %s", last) : psprintf("from %s on", last),
					place_text(s, a, a->ordered - 1)),
			 errdetail("A test is decided by what they count as.")));
}

static void
tell_dropped(pe_sight *s, int attribute)
{
	const pe_public_attribute *a = &s->declared->attribute[attribute];

	if (pe_sight_is_told(s, psprintf("beyond %d", attribute)))
		return;
	pe_notice((errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("no value of \"%s\" beyond %s to %s is counted (outside => drop)", a->name,
					pe_value_text(s, a->type, a->edge[0]), pe_value_text(s, a->type, a->edge[a->ordered])),
			 errdetail("A test asks for such values.")));
}

/* ------------------------------------------------------------------
 * Tests
 * ------------------------------------------------------------------
 */

/* An expression that is looked through. */
typedef struct search
{
	pe_sight   *sight;
	const pe_condition *where;
} search;

static bool
is_left(const search *q, int attribute, bool above)
{
	const bool *left = pe_condition_leaves(q->where, attribute);

	return left == NULL || left[above ? q->sight->declared->attribute[attribute].ordered - 1 : 0];
}

static bool
is_clamped(const search *q, int attribute)
{
	const pe_public_attribute *a = &q->sight->declared->attribute[attribute];

	return a->bins && a->other < 0 && !a->drops_outside;
}

/* A comparison that asks for values that are dropped. */
static bool
tell_comparisons(Node *e, void *argument)
{
	search	   *q = argument;
	Bitmapset  *attributes;

	if (e == NULL)
		return false;
	if (!IsA(e, OpExpr) && !IsA(e, DistinctExpr) && !IsA(e, ScalarArrayOpExpr))
		return expression_tree_walker(e, tell_comparisons, argument);
	attributes = pe_sight_attributes(q->sight, e);
	if (exprType(e) == BOOLOID && !bms_is_empty(attributes))
		for (int above = 0; above < 2; above++)
			if (pe_sight_beyond(q->sight, e, bms_singleton_member(attributes), above) == PE_BEYOND_SELECTED)
				tell_dropped(q->sight, bms_singleton_member(attributes));
	return false;
}

/* A test of one column. */
static void
tell_test(search *q, Node *e, int attribute)
{
	const pe_public_attribute *a = &q->sight->declared->attribute[attribute];

	if (a->bins && a->drops_outside)
		(void) tell_comparisons(e, q);
	if (is_clamped(q, attribute))
		for (int above = 0; above < 2; above++)
			if (is_left(q, attribute, above) && pe_sight_beyond(q->sight, e, attribute, above) != PE_BEYOND_AS_IN_BIN)
				tell_clamped(q->sight, attribute);
}

/* A test of several columns that is not made of tests of one. */
static void
tell_several(search *q, const Bitmapset *attributes)
{
	int			a = -1;

	while ((a = bms_next_member(attributes, a)) >= 0 && a < q->sight->declared->attributes)
		if (is_clamped(q, a) && (is_left(q, a, false) || is_left(q, a, true)))
			tell_clamped(q->sight, a);
}

static bool
is_test(Node *e)
{
	if (IsA(e, List) || IsA(e, CaseWhen))
		return false;
	return exprType(e) == BOOLOID || IsA(e, NullIfExpr) || (IsA(e, CaseExpr) && ((CaseExpr *) e)->arg != NULL);
}

/* Whether a test over several columns is looked through to the tests that it joins. */
static bool
joins_tests(Node *e)
{
	return IsA(e, BoolExpr) || IsA(e, BooleanTest) ||
		IsA(e, NullTest) || (IsA(e, CaseExpr) && ((CaseExpr *) e)->arg == NULL);
}

static bool
tell_tests(Node *e, void *argument)
{
	search	   *q = argument;
	Bitmapset  *attributes;

	if (e == NULL || IsA(e, Var))
		return false;
	if (!is_test(e))
		return expression_tree_walker(e, tell_tests, argument);
	attributes = pe_sight_tested(q->sight, e);
	if (bms_membership(attributes) == BMS_SINGLETON &&
		bms_singleton_member(attributes) >= q->sight->declared->attributes)
		return false;
	if (bms_membership(attributes) == BMS_SINGLETON)
		tell_test(q, e, bms_singleton_member(attributes));
	else if (joins_tests(e))
		return expression_tree_walker(e, tell_tests, argument);
	else
		tell_several(q, attributes);
	return false;
}

void
pe_beyond_tell(pe_sight *s, Node *e, const pe_condition *where)
{
	search		q = {s, where};

	(void) tell_tests(e, &q);
}

/* What adds nothing to a sum. */
static bool
is_zero(Node *e, bool adds, Datum value)
{
	return adds && pe_type_is_number(exprType(e)) && pe_number_of_datum(exprType(e), value) == 0;
}

void
pe_beyond_tell_nulls(pe_sight *s, Node *e, bool adds, const char *what)
{
	Bitmapset  *attributes = pe_sight_attributes(s, e);
	bool		isnull;
	Datum		value;
	int			a = -1;

	if (bms_is_empty(attributes) || IsA(e, Var) || !pe_sight_of_null(s, e, &value, &isnull) || isnull ||
		is_zero(e, adds, value))
		return;
	while ((a = bms_next_member(attributes, a)) >= 0)
		pe_sight_tell_nulls(s, a, what, "has a value");
}

/* CASE, or a test.  A column as it is, and what is computed with it, is about the values that count. */
static bool
is_decided(Node *e)
{
	return IsA(e, CaseExpr) || (IsA(e, FuncExpr) && ((FuncExpr *) e)->funcid == F_INT4_BOOL) ||
		(exprType(e) == BOOLOID && !IsA(e, Var));
}

void
pe_beyond_tell_undeclared(pe_sight *s, Node *e, int attribute, bool adds, const char *what)
{
	const pe_public_attribute *a = &s->declared->attribute[attribute];
	bool		isnull;
	bool		known;
	Datum		value;

	if (!is_decided(e) || !a->drops_outside ||
		!pe_sight_of_dropped(s, e, attribute, &value, &isnull, &known) || (!known && a->bins) ||
		(known && (isnull || is_zero(e, adds, value))))
		return;
	pe_sight_tell_undeclared(s, attribute, what, known ? "has a value" : "can have a value");
}
