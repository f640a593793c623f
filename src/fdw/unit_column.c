/*
 * unit_column.c
 *	  The unit's column in a SELECT.  See unit_column.h.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "rewrite/rewriteManip.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"

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

/* ------------------------------------------------------------------
 * One row of each unit
 * ------------------------------------------------------------------
 */

/* As SQL, with the names of the columns alone. */
static char *
sql_of(const Var *unit, Oid relation, Node *e)
{
	Node	   *alone = copyObject(e);

	ChangeVarNodes(alone, unit->varno, 1, 0);
	return deparse_expression(alone, deparse_context_for(get_rel_name(relation), relation), false, false);
}

/* The view that the owner can make, over what has the name of the dataset: readers need not know its table. */
static char *
view_of_units(const pe_sight *s, const Var *unit, Oid relation, const List *targets, const List *where)
{
	const char *column = quote_identifier(s->declared->unit);
	const char *name = quote_identifier(psprintf("%s_by_%s", s->dataset, s->declared->unit));
	StringInfoData text;
	const ListCell *cell;
	int			aggregates = 0;

	initStringInfo(&text);
	appendStringInfo(&text, "CREATE VIEW %s AS SELECT %s", name, column);
	foreach(cell, targets)
	{
		const TargetEntry *entry = lfirst(cell);

		if (IsA(entry->expr, GroupingFunc) || equal(entry->expr, unit))
			continue;
		appendStringInfo(&text, ", %s AS %s", sql_of(unit, relation, (Node *) entry->expr),
						 IsA(entry->expr, Aggref) ? psprintf("a%d", ++aggregates)
						 : psprintf("g%d", foreach_current_index(cell) + 1));
	}
	appendStringInfo(&text, " FROM %s", quote_identifier(s->dataset));
	if (where != NIL)
		appendStringInfo(&text, " WHERE %s", sql_of(unit, relation, (Node *) make_ands_explicit((List *) where)));
	appendStringInfo(&text, " GROUP BY %s", column);
	foreach(cell, targets)
	{
		const TargetEntry *entry = lfirst(cell);

		if (entry->ressortgroupref != 0 && !equal(entry->expr, unit))
			appendStringInfo(&text, ", %s", sql_of(unit, relation, (Node *) entry->expr));
	}
	appendStringInfo(&text, "; SELECT dp.create_dataset(%1$s, %1$s, unit => %2$s, same_cap_as => %3$s)",
					 quote_literal_cstr(name), quote_literal_cstr(s->declared->unit), quote_literal_cstr(s->dataset));
	return text.data;
}

void
pe_unit_column_check_groups(const pe_sight *s, Oid relation, const List *targets, const List *where)
{
	const ListCell *cell;

	if (s->declared->unit == NULL)
		return;
	foreach(cell, targets)
	{
		const TargetEntry *entry = lfirst(cell);

		if (entry->ressortgroupref != 0 && IsA(entry->expr, Var) && is_unit(s, (Node *) entry->expr))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("groups by column \"%s\", the unit of privacy, are not answered from a dataset",
							s->declared->unit),
					 errdetail("Each group would be one unit. Nothing was charged."),
					 errhint("The owner can register a view with one row of each, over the table of the dataset: %s; "
							 "its columns are then declared and asked. How many units have 1, 2, ... rows: "
							 "SELECT * FROM dp.rows_per_unit(%s, most => 10, epsilon => 0.1).",
							 view_of_units(s, (const Var *) entry->expr, relation, targets, where),
							 quote_literal_cstr(s->dataset))));
	}
}
