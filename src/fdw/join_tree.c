/*
 * join_tree.c
 *	  What a SELECT joins.  See join_tree.h.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "fdw/join_tree.h"

static void walk(pe_join_tree *tree, Node *node);

static void
take_table(pe_join_tree *tree, const RangeTblRef *reference)
{
	tree->tables = lappend_int(tree->tables, reference->rtindex);
}

/* Conjuncts of an inner level hold for every row. */
static void
take_conditions(pe_join_tree *tree, Node *quals)
{
	tree->where = list_concat(tree->where, castNode(List, quals));
}

/* One table, without a condition of its own: which row is there would depend on it. */
static const RangeTblRef *
single_table(Node *node)
{
	while (IsA(node, FromExpr) && ((FromExpr *) node)->quals == NULL && list_length(((FromExpr *) node)->fromlist) == 1)
		node = linitial(((FromExpr *) node)->fromlist);
	return IsA(node, RangeTblRef) ? (RangeTblRef *) node : NULL;
}

static void
take_left_join(pe_join_tree *tree, const JoinExpr *join)
{
	const RangeTblRef *table = single_table(join->rarg);

	if (table == NULL)
		tree->why = "the optional side of an outer join has a condition of its own, or is a join";
	else
		tree->optional = lappend(tree->optional, list_make2(makeInteger(table->rtindex), join->quals));
}

/* `first`: the tables of the join stand from there, `before`: those of its right side. */
static void
take_natural(pe_join_tree *tree, const JoinExpr *join, int first, int before)
{
	List	   *left = list_copy_tail(list_truncate(list_copy(tree->tables), before), first);

	tree->natural = lappend(tree->natural, list_make3(left, list_copy_tail(tree->tables, before), join->usingClause));
}

/* All tables are taken of one that is refused, too: each of them says why. */
static void
take_join(pe_join_tree *tree, const JoinExpr *join)
{
	int			first = list_length(tree->tables);
	int			before;

	walk(tree, join->larg);
	before = list_length(tree->tables);
	walk(tree, join->rarg);
	if (join->isNatural)
		take_natural(tree, join, first, before);
	switch (join->jointype)
	{
		case JOIN_INNER:
			take_conditions(tree, join->quals);
			break;
		case JOIN_SEMI:
			tree->looked_up = list_concat(tree->looked_up, list_copy_tail(tree->tables, before));
			take_conditions(tree, join->quals);
			break;
		case JOIN_LEFT:
			take_left_join(tree, join);
			break;
		case JOIN_ANTI:
			tree->why = "rows that have no match are asked for (NOT EXISTS, or an outer join and IS NULL)";
			break;
		case JOIN_FULL:
			tree->why = "it has a FULL JOIN";
			break;
		default:
			tree->why = "it has a join of another kind";
	}
}

static void
walk(pe_join_tree *tree, Node *node)
{
	ListCell   *cell;

	check_stack_depth();
	if (IsA(node, RangeTblRef))
		take_table(tree, (RangeTblRef *) node);
	else if (IsA(node, JoinExpr))
		take_join(tree, (JoinExpr *) node);
	else
	{
		foreach(cell, castNode(FromExpr, node)->fromlist)
			walk(tree, lfirst(cell));
		take_conditions(tree, ((FromExpr *) node)->quals);
	}
}

pe_join_tree *
pe_join_tree_of(const Query *query)
{
	pe_join_tree *tree = palloc0(sizeof(*tree));

	walk(tree, (Node *) query->jointree);
	return tree;
}
