/*
 * sql_text.c
 *	  Expressions as SQL over names that are said.  See sql_text.h.
 */
#include "postgres.h"

#include "access/table.h"
#include "lib/stringinfo.h"
#include "nodes/makefuncs.h"
#include "nodes/plannodes.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

#include "fdw/sql_text.h"
#include "fdw/table_options.h"
#include "server/compat.h"

/* As a table of a plan: it needs no relation. */
RangeTblEntry *
pe_sql_table(const char *name, List *columns)
{
	RangeTblEntry *table = makeNode(RangeTblEntry);

	table->rtekind = RTE_VALUES;
	table->eref = makeAlias(name, columns);
	return table;
}

List *
pe_sql_columns(Oid relation)
{
	Relation	table = table_open(relation, AccessShareLock);
	List	   *names = NIL;

	for (int i = 0; i < RelationGetNumberOfAttributes(table); i++)
		names = lappend(names, makeString(TupleDescAttr(RelationGetDescr(table), i)->attisdropped
										  ? "" : pe_fdw_column_name(relation, i + 1)));
	table_close(table, NoLock);
	return names;
}

char *
pe_sql_text(List *tables, Node *expression, bool qualified)
{
	PlannedStmt *plan = makeNode(PlannedStmt);
	List	   *names = NIL;
	ListCell   *cell;

	plan->rtable = tables;
	foreach(cell, tables)
		names = lappend(names, lfirst_node(RangeTblEntry, cell)->eref->aliasname);
	return deparse_expression(expression, deparse_context_for_plan_tree(plan, names), qualified, false);
}

/* ------------------------------------------------------------------
 * A SELECT with groups
 * ------------------------------------------------------------------
 */

/* The number of its only table; 0: it is another SELECT. */
static int
only_table(const Query *q)
{
	const RangeTblRef *reference;

	if (q->commandType != CMD_SELECT || q->setOperations != NULL || q->cteList != NIL || q->hasWindowFuncs ||
		q->hasTargetSRFs || q->hasSubLinks || q->distinctClause != NIL || q->groupingSets != NIL ||
		q->limitCount != NULL || q->limitOffset != NULL || (q->groupClause == NIL && !q->hasAggs) ||
		list_length(q->jointree->fromlist) != 1 || !IsA(linitial(q->jointree->fromlist), RangeTblRef))
		return 0;
	reference = linitial_node(RangeTblRef, q->jointree->fromlist);
	return rt_fetch(reference->rtindex, q->rtable)->rtekind == RTE_RELATION ? reference->rtindex : 0;
}

static void
add_groups(StringInfo to, const Query *q, List *tables, List *targets)
{
	ListCell   *cell;

	foreach(cell, q->groupClause)
		appendStringInfo(to, "%s%s", cell == list_head(q->groupClause) ? " GROUP BY " : ", ",
						 pe_sql_text(tables, get_sortgroupclause_expr(lfirst(cell), targets), false));
}

char *
pe_sql_grouped_select(const Query *select, AttrNumber column)
{
	int			number = only_table(select);
	Oid			relation = number > 0 ? rt_fetch(number, select->rtable)->relid : InvalidOid;
	Query	   *q;
	List	   *tables;
	List	   *targets;
	StringInfoData text;

	if (number == 0 || pe_fdw_base_table(relation) == NULL)
		return NULL;
	q = copyObject((Query *) select);
	q->targetList = (List *) pe_flatten_groups(q, (Node *) q->targetList);
	q->havingQual = pe_flatten_groups(q, q->havingQual);
	ChangeVarNodes((Node *) q->targetList, number, 1, 0);
	ChangeVarNodes(q->havingQual, number, 1, 0);
	ChangeVarNodes(q->jointree->quals, number, 1, 0);
	targets = q->targetList;
	tables = list_make1(pe_sql_table("t", pe_sql_columns(relation)));
	initStringInfo(&text);
	appendStringInfo(&text, "SELECT %s FROM %s",
					 pe_sql_text(tables, (Node *) list_nth_node(TargetEntry, targets, column - 1)->expr, false),
					 pe_fdw_base_table(relation));
	if (q->jointree->quals != NULL)
		appendStringInfo(&text, " WHERE %s", pe_sql_text(tables, q->jointree->quals, false));
	add_groups(&text, q, tables, targets);
	if (q->havingQual != NULL)
		appendStringInfo(&text, " HAVING %s", pe_sql_text(tables, q->havingQual, false));
	return text.data;
}
