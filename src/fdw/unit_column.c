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

#include "fdw/notices.h"
#include "fdw/sql_text.h"
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
	Node	   *counted = pe_sight_counted(s, aggregate);

	return counted != NULL && is_unit(s, counted);
}

static void
tell_absent(pe_sight *s)
{
	if (s->declared->unit_is_there || pe_sight_is_told(s, "absent units"))
		return;
	pe_notice((errmsg("a test for NULL of \"%s\", the unit of privacy, is true for no row that counts",
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

/* As SQL, with the names of the dataset's columns alone: what is seen may be joined tables. */
static char *
sql_of(const pe_sight *s, int table, Node *e)
{
	Node	   *alone = copyObject(e);
	List	   *names = NIL;

	for (int i = 0; i < s->columns->natts; i++)
		names = lappend(names, makeString(s->seen->attribute[i] != NULL ? s->seen->attribute[i] : ""));
	ChangeVarNodes(alone, table, 1, 0);
	return pe_sql_text(list_make1(pe_sql_table(s->dataset, names)), alone, false);
}

/* The view that the owner can make, over what has the name of the dataset: readers need not know its table. */
static char *
view_of_units(const pe_sight *s, int table, const List *targets, const List *where)
{
	const char *column = quote_identifier(s->declared->unit);
	const char *name = psprintf("%s_by_%s", s->dataset, s->declared->unit);
	StringInfoData text;
	const ListCell *cell;
	int			aggregates = 0;

	initStringInfo(&text);
	appendStringInfo(&text, "CREATE VIEW %s AS SELECT %s", quote_identifier(name), column);
	foreach(cell, targets)
	{
		const TargetEntry *entry = lfirst(cell);

		if (IsA(entry->expr, GroupingFunc) || is_unit(s, (Node *) entry->expr))
			continue;
		appendStringInfo(&text, ", %s AS %s", sql_of(s, table, (Node *) entry->expr),
						 IsA(entry->expr, Aggref) ? psprintf("a%d", ++aggregates)
						 : psprintf("g%d", foreach_current_index(cell) + 1));
	}
	appendStringInfo(&text, " FROM %s", quote_identifier(s->dataset));
	if (where != NIL)
		appendStringInfo(&text, " WHERE %s", sql_of(s, table, (Node *) make_ands_explicit((List *) where)));
	appendStringInfo(&text, " GROUP BY %s", column);
	foreach(cell, targets)
	{
		const TargetEntry *entry = lfirst(cell);

		if (entry->ressortgroupref != 0 && !is_unit(s, (Node *) entry->expr))
			appendStringInfo(&text, ", %s", sql_of(s, table, (Node *) entry->expr));
	}
	appendStringInfo(&text, "; %s",
					 pe_registration_text(name, quote_identifier(name), s->declared->unit, s->dataset));
	return text.data;
}

static void __attribute__((noreturn))
refuse_units(const pe_sight *s, int table, const List *targets, const List *where)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("groups by column \"%s\", the unit of privacy, are not answered from a dataset",
					s->declared->unit),
			 errdetail("Each group would be one unit. Nothing was charged."),
			 errhint("The owner can register a view with one row of each, over the table of the dataset: %s; "
					 "its columns are then declared and asked. How many units have 1, 2, ... rows: "
					 "SELECT * FROM dp.rows_per_unit(%s, most => 10, epsilon => 0.1).",
					 view_of_units(s, table, targets, where), quote_literal_cstr(s->dataset))));
	pg_unreachable();
}

/* What is grouped so is a part of a unit, as an order is of a customer: its rows are those of one key. */
static void __attribute__((noreturn))
refuse_parts(const pe_sight *s, const Var *key, const List *targets, const List *where)
{
	int			table = key->varno;

	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("GROUP BY of column \"%s\", by which tables are joined, and of another one whose values nobody has "
					"listed is not answered from a dataset",
					NameStr(TupleDescAttr(s->columns, key->varattno - 1)->attname)),
			 errdetail("Nothing was charged."),
			 errhint("Group by one of them. Where a group is a part of one unit the owner can register a view with one "
					 "row of each, over the table of the dataset: %s; its columns are then declared and asked.",
					 view_of_units(s, table, targets, where))));
	pg_unreachable();
}

void
pe_unit_column_check_groups(const pe_sight *s, const List *targets, const List *where)
{
	const ListCell *cell;
	Bitmapset  *open = NULL;
	const Var  *key = NULL;

	if (s->declared->unit == NULL)
		return;
	foreach(cell, targets)
	{
		const TargetEntry *entry = lfirst(cell);
		const Var  *var = (const Var *) entry->expr;

		if (entry->ressortgroupref != 0 && IsA(var, Var) && is_unit(s, (Node *) var))
			refuse_units(s, var->varno, targets, where);
	}
	foreach(cell, targets)
	{
		const TargetEntry *entry = lfirst(cell);
		const Var  *var = (const Var *) entry->expr;

		if (entry->ressortgroupref == 0 || !IsA(var, Var) || var->varattno <= 0 || s->open_of[var->varattno - 1] < 0)
			continue;
		open = bms_add_member(open, var->varattno);
		if (bms_is_member(var->varattno - 1, s->seen->keys))
			key = var;
	}
	if (key != NULL && bms_num_members(open) > 1)
		refuse_parts(s, key, targets, where);
}
