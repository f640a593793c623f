/*
 * unit_column.c
 *	  The unit's column in a SELECT.  See unit_column.h.
 */
#include "postgres.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"

#include "fdw/unit_column.h"

static bool
is_unit(const pe_sight *s, Node *e)
{
	return pe_sight_column(s, e) == PE_COLUMN_UNIT;
}

/* count(unit): all other aggregates look at its values. */
static bool
counts_unit(const pe_sight *s, const Aggref *aggregate)
{
	const pe_named_function *function = pe_names_function(s->names, aggregate->aggfnoid);

	return function->builtin && strcmp(function->name, "count") == 0 && aggregate->aggdistinct == NIL &&
		list_length(aggregate->args) == 1 && is_unit(s, (Node *) linitial_node(TargetEntry, aggregate->args)->expr);
}

static void
tell_absent(pe_sight *s)
{
	if (s->declared->unit_is_there || pe_sight_is_told(s, "absent units"))
		return;
	ereport(NOTICE,
			(errmsg("a test for NULL of \"%s\", the unit of privacy, is true for no row that counts",
					s->declared->unit),
			 errdetail("Rows without a unit do not count.")));
}

/* An expression of GROUP BY has a group of each truth. */
static bool
is_group(const Node *e)
{
	return IsA(e, TargetEntry) && !IsA(((TargetEntry *) e)->expr, Aggref);
}

static Node *
decided(Node *e, void *argument)
{
	pe_sight   *s = argument;
	Node	   *without;

	if (e == NULL)
		return NULL;
	if (IsA(e, NullTest) && is_unit(s, (Node *) ((NullTest *) e)->arg))
	{
		bool		is_null = ((NullTest *) e)->nulltesttype == IS_NULL;

		if (is_null)
			tell_absent(s);
		return makeBoolConst(!is_null, false);
	}
	without = expression_tree_mutator(e, decided, argument);
	if (is_group(e) && !equal(e, without))
		tell_absent(s);
	if (IsA(e, Aggref) && counts_unit(s, (Aggref *) e))
		linitial_node(TargetEntry, ((Aggref *) without)->args)->expr = (Expr *) makeBoolConst(true, false);
	return without;
}

List *
pe_unit_column_decided(pe_sight *s, List *expressions)
{
	return s->declared->unit == NULL ? expressions : (List *) decided((Node *) expressions, s);
}
