/*
 * block.c
 *	  A view as a tree of blocks, and what no block may have.  See prover.h.
 *
 * The query of a view is the one of its rule.  Views and common table expressions in it become
 * blocks of their own at each place where they are used: what is read twice is proved twice.
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteHandler.h"
#include "access/table.h"
#include "storage/lmgr.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/builtins.h"

#include "server/compat.h"
#include "view/prover.h"

pe_refusal *
pe_refusal_make(char *what, const char *rule, const char *form)
{
	pe_refusal *refusal = palloc(sizeof(pe_refusal));

	refusal->what = what;
	refusal->rule = pstrdup(rule);
	refusal->form = pstrdup(form);
	return refusal;
}

void
pe_view_refuse(const pe_prover *prover, const pe_refusal *refusal)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("view \"%s\" is not proved: %s", prover->view_name, refusal->what),
			 errdetail("%s", refusal->rule),
			 errhint("%s", refusal->form)));
}

void
pe_block_refuse(const pe_block *block, char *what, const char *rule, const char *form)
{
	pe_view_refuse(block->prover, pe_refusal_make(psprintf("%s in %s", what, block->name), rule, form));
}

/* ------------------------------------------------------------------
 * What no block may have
 * ------------------------------------------------------------------
 */

static void
check_features(const pe_block *block)
{
	const Query *query = block->query;

	if (query->commandType != CMD_SELECT || query->hasModifyingCTE)
		pe_block_refuse(block, "a statement that writes", "A view reads.", "Use SELECT.");
	if (query->hasRecursive)
		pe_block_refuse(block, "WITH RECURSIVE", "Rows of one step could join those of other units in the next one.",
						"Write a fixed number of joins, or keep what the recursion finds in a table.");
	if (query->rowMarks != NIL)
		pe_block_refuse(block, "FOR UPDATE or FOR SHARE", "A view is only read.", "Leave the clause out.");
	if (query->groupingSets != NIL)
		pe_block_refuse(block, "GROUPING SETS, ROLLUP or CUBE", "Some of the sets do not have the unit.",
						"Use GROUP BY with the unit; ask for levels of groups in the query on the dataset.");
	if (query->hasTargetSRFs)
		pe_block_refuse(block, "a function that returns rows, among the columns",
						"Several of them are rows side by side.",
						"Write it in FROM, as in CROSS JOIN LATERAL unnest(...).");
	if (query->limitOffset != NULL)
		pe_block_refuse(block, "OFFSET", "Which rows are left depends on rows of other units.",
						"Use row_number() OVER (PARTITION BY the unit ORDER BY ...) in a sub-select, and WHERE on it.");
}

/* ------------------------------------------------------------------
 * Aliases
 * ------------------------------------------------------------------
 */

/* Groups first: what they stand for may name a join. */
static Node *
flatten(Query *query, Node *node)
{
	return node == NULL ? NULL : pe_flatten_joins(query, pe_flatten_groups(query, node));
}

static void
flatten_joins_of(Query *query, Node *node)
{
	ListCell   *cell;

	if (node == NULL || IsA(node, RangeTblRef))
		return;
	if (IsA(node, FromExpr))
	{
		FromExpr   *from = (FromExpr *) node;

		from->quals = flatten(query, from->quals);
		foreach(cell, from->fromlist)
			flatten_joins_of(query, lfirst(cell));
	}
	else
	{
		JoinExpr   *join = castNode(JoinExpr, node);

		join->quals = flatten(query, join->quals);
		flatten_joins_of(query, join->larg);
		flatten_joins_of(query, join->rarg);
	}
}

/* Vars of joins and groups become those of their sources, in sub-selects that are correlated as well. */
static void
flatten_query(Query *query)
{
	ListCell   *cell;

	flatten_joins_of(query, (Node *) query->jointree);
	query->targetList = (List *) flatten(query, (Node *) query->targetList);
	query->havingQual = flatten(query, query->havingQual);
	foreach(cell, query->rtable)
	{
		RangeTblEntry *entry = lfirst(cell);

		if (entry->rtekind == RTE_SUBQUERY)
			entry->subquery = (Query *) pe_flatten_joins(query, (Node *) entry->subquery);
		else if (entry->rtekind == RTE_FUNCTION)
			entry->functions = (List *) pe_flatten_joins(query, (Node *) entry->functions);
		else if (entry->rtekind == RTE_VALUES)
			entry->values_lists = (List *) pe_flatten_joins(query, (Node *) entry->values_lists);
	}
}

/* ------------------------------------------------------------------
 * Correlation
 * ------------------------------------------------------------------
 */

static bool
looks_up(Node *node, int *depth)
{
	bool		found;

	if (node == NULL)
		return false;
	if (IsA(node, Var))
		return ((Var *) node)->varlevelsup > *depth;
	if (IsA(node, Aggref))
	{
		if (((Aggref *) node)->agglevelsup > *depth)
			return true;
	}
	else if (IsA(node, Query))
	{
		(*depth)++;
		found = query_tree_walker((Query *) node, looks_up, depth, 0);
		(*depth)--;
		return found;
	}
	return expression_tree_walker(node, looks_up, depth);
}

static bool
is_correlated(Query *query)
{
	int			depth = 0;

	return query_tree_walker(query, looks_up, &depth, 0);
}

/* ------------------------------------------------------------------
 * Sources
 * ------------------------------------------------------------------
 */

pe_block *
pe_block_of_view(pe_prover *prover, Oid view)
{
	Relation	relation;
	Query	   *query;

	LockRelationOid(view, AccessShareLock);
	relation = table_open(view, NoLock);
	query = copyObject(get_view_query(relation));
	table_close(relation, NoLock);
	prover->reads = list_append_unique_oid(prover->reads, view);
	prover->queries = lappend(prover->queries, copyObject(query));
	return pe_block_make(prover, NULL, query, psprintf("view \"%s\"", get_rel_name(view)));
}

static pe_block *
block_of_expression(pe_block *block, const RangeTblEntry *entry)
{
	pe_block   *owner = block;
	pe_block   *made;
	ListCell   *cell;

	for (Index up = 0; owner != NULL && up < entry->ctelevelsup; up++)
		owner = owner->parent;
	foreach(cell, owner != NULL ? owner->query->cteList : NIL)
	{
		CommonTableExpr *cte = lfirst(cell);

		if (strcmp(cte->ctename, entry->ctename) != 0)
			continue;
		made = pe_block_make(block->prover, owner, castNode(Query, copyObject(cte->ctequery)),
							 psprintf("common table expression \"%s\"", cte->ctename));
		if (made->is_correlated)
			pe_block_refuse(made, "a column of a row around it",
							"A common table expression is computed once for all rows.",
							"Write it as a LATERAL sub-select.");
		return made;
	}
	elog(ERROR, "common table expression \"%s\" is not there", entry->ctename);
}

static pe_source *
make_source(pe_block *block, int number)
{
	RangeTblEntry *entry = rt_fetch(number, block->query->rtable);
	pe_source  *source = palloc0(sizeof(pe_source));

	source->number = number;
	source->entry = entry;
	source->name = entry->eref != NULL ? entry->eref->aliasname : "?";
	if (entry->tablesample != NULL)
		pe_block_refuse(block, psprintf("TABLESAMPLE of \"%s\"", source->name),
						"Which rows are read is drawn by chance, or depends on where they lie.", "Read all rows.");
	switch (entry->rtekind)
	{
		case RTE_RELATION:
			if (entry->relkind == RELKIND_VIEW)
			{
				source->kind = PE_SOURCE_BLOCK;
				source->block = pe_block_of_view(block->prover, entry->relid);
			}
			else
			{
				source->kind = PE_SOURCE_TABLE;
				pe_table_classify(block, source);
				block->prover->tables = lappend(block->prover->tables, source);
			}
			break;
		case RTE_SUBQUERY:
			source->kind = PE_SOURCE_BLOCK;
			source->block = pe_block_make(block->prover, block, entry->subquery,
										  psprintf("sub-select \"%s\"", source->name));
			break;
		case RTE_CTE:
			source->kind = PE_SOURCE_BLOCK;
			source->block = block_of_expression(block, entry);
			break;
		case RTE_VALUES:
		case RTE_FUNCTION:
			source->kind = PE_SOURCE_ROWS;
			break;
		default:
			pe_block_refuse(block, psprintf("\"%s\"", source->name), "It is no table, view, sub-select, VALUES or "
					"function.",
							"Keep its rows in a table.");
	}
	if (source->kind == PE_SOURCE_BLOCK)
		source->is_private = source->block->is_private;
	return source;
}

static void
find_sources(pe_block *block, Node *node)
{
	ListCell   *cell;

	if (IsA(node, RangeTblRef))
	{
		int			number = ((RangeTblRef *) node)->rtindex;

		if (rt_fetch(number, block->query->rtable)->rtekind != RTE_RESULT)
			block->source[number] = make_source(block, number);
	}
	else if (IsA(node, FromExpr))
	{
		foreach(cell, ((FromExpr *) node)->fromlist)
			find_sources(block, lfirst(cell));
	}
	else
	{
		JoinExpr   *join = castNode(JoinExpr, node);

		if (join->jointype == JOIN_FULL)
			pe_block_refuse(block, "FULL JOIN", "Rows of both sides are null-extended, and neither side has all units.",
							"Join both to the table of units by LEFT JOIN, or write UNION ALL.");
		find_sources(block, join->larg);
		find_sources(block, join->rarg);
	}
}

/* ------------------------------------------------------------------
 * UNION ALL
 * ------------------------------------------------------------------
 */

static void
find_branches(pe_block *block, Node *node)
{
	if (IsA(node, RangeTblRef))
	{
		RangeTblEntry *entry = rt_fetch(((RangeTblRef *) node)->rtindex, block->query->rtable);
		pe_block   *branch = pe_block_make(block->prover, block, entry->subquery,
										   psprintf("branch %d of UNION ALL in %s",
													list_length(block->branches) + 1, block->name));

		block->branches = lappend(block->branches, branch);
	}
	else
	{
		SetOperationStmt *set = castNode(SetOperationStmt, node);

		if (set->op != SETOP_UNION || !set->all)
			pe_block_refuse(block, set->op == SETOP_UNION ? "UNION without ALL" : set->op == SETOP_EXCEPT ?
							"EXCEPT" : "INTERSECT", "Rows of several blocks are compared with each other.",
							"Use UNION ALL, SELECT DISTINCT with the unit, or NOT EXISTS of the unit's own rows.");
		find_branches(block, set->larg);
		find_branches(block, set->rarg);
	}
}

/* ------------------------------------------------------------------
 * Sub-selects in expressions
 * ------------------------------------------------------------------
 */

typedef struct finding
{
	pe_block   *block;
	pe_place	place;
	const char *part;
} finding;

static bool
find_links(Node *node, finding *f)
{
	if (node == NULL || IsA(node, Query))
		return false;
	if (IsA(node, SubLink))
	{
		SubLink    *link = (SubLink *) node;
		pe_subselect *subselect = palloc0(sizeof(pe_subselect));

		subselect->link = link;
		subselect->place = f->place;
		subselect->part = f->part;
		subselect->block = pe_block_make(f->block->prover, f->block, castNode(Query, link->subselect),
										 psprintf("sub-select in %s of %s", f->part, f->block->name));
		f->block->subselects = lappend(f->block->subselects, subselect);
		return find_links(link->testexpr, f);
	}
	return expression_tree_walker(node, find_links, f);
}

static void
find_links_of(pe_block *block, Node *node, pe_place place, const char *part)
{
	finding		f = {block, place, part};

	find_links(node, &f);
}

static void
find_links_of_conjuncts(pe_block *block, Node *quals, bool is_where, bool is_outer)
{
	ListCell   *cell;

	if (quals == NULL)
		return;
	if (IsA(quals, BoolExpr) && ((BoolExpr *) quals)->boolop == AND_EXPR)
	{
		foreach(cell, ((BoolExpr *) quals)->args)
			find_links_of_conjuncts(block, lfirst(cell), is_where, is_outer);
		return;
	}
	find_links_of(block, quals, is_outer ? PE_PLACE_JOIN : is_where && IsA(quals, SubLink) ? PE_PLACE_CONJUNCT
				  : PE_PLACE_ROW, is_where ? "WHERE" : "ON");
}

static void
find_links_of_joins(pe_block *block, Node *node, bool is_outer)
{
	ListCell   *cell;

	if (IsA(node, RangeTblRef))
		return;
	if (IsA(node, FromExpr))
	{
		foreach(cell, ((FromExpr *) node)->fromlist)
			find_links_of_joins(block, lfirst(cell), is_outer);
		find_links_of_conjuncts(block, ((FromExpr *) node)->quals, true, is_outer);
	}
	else
	{
		JoinExpr   *join = castNode(JoinExpr, node);

		find_links_of_joins(block, join->larg, is_outer || join->jointype != JOIN_INNER);
		find_links_of_joins(block, join->rarg, is_outer || join->jointype != JOIN_INNER);
		find_links_of_conjuncts(block, join->quals, false, is_outer || join->jointype != JOIN_INNER);
	}
}

static void
find_subselects(pe_block *block)
{
	Query	   *query = block->query;
	ListCell   *cell;

	find_links_of_joins(block, (Node *) query->jointree, false);
	foreach(cell, query->targetList)
	{
		TargetEntry *entry = lfirst(cell);

		find_links_of(block, (Node *) entry->expr, PE_PLACE_ROW,
					  entry->resname != NULL ? psprintf("column \"%s\"", entry->resname) : "ORDER BY or GROUP BY");
	}
	find_links_of(block, query->havingQual, PE_PLACE_ROW, "HAVING");
	foreach(cell, query->rtable)
	{
		RangeTblEntry *entry = lfirst(cell);

		if (entry->rtekind == RTE_FUNCTION || entry->rtekind == RTE_VALUES)
			find_links_of(block, (Node *) (entry->rtekind == RTE_VALUES ? entry->values_lists : entry->functions),
						  PE_PLACE_JOIN, "FROM");
	}
}

/* ------------------------------------------------------------------
 * Blocks
 * ------------------------------------------------------------------
 */

/* A block is private if any row of it can depend on a private table. */
static bool
is_private(const pe_block *block)
{
	ListCell   *cell;

	for (int i = 1; i <= block->count; i++)
		if (block->source[i] != NULL && block->source[i]->is_private)
			return true;
	foreach(cell, block->branches)
		if (((pe_block *) lfirst(cell))->is_private)
			return true;
	foreach(cell, block->subselects)
		if (((pe_subselect *) lfirst(cell))->block->is_private)
			return true;
	return false;
}

pe_block *
pe_block_make(pe_prover *prover, pe_block *parent, Query *query, char *name)
{
	pe_block   *block = palloc0(sizeof(pe_block));

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	block->prover = prover;
	block->parent = parent;
	block->query = query;
	block->name = name;
	block->count = list_length(query->rtable);
	block->source = palloc0((block->count + 1) * sizeof(pe_source *));
	block->outputs = list_length(query->targetList);
	block->extent = palloc0((block->outputs + 1) * sizeof(pe_extent *));
	check_features(block);
	flatten_query(query);
	block->is_correlated = is_correlated(query);
	if (query->setOperations != NULL)
		find_branches(block, query->setOperations);
	else
	{
		find_sources(block, (Node *) query->jointree);
		pe_block_find_equalities(block);
		find_subselects(block);
	}
	block->is_private = is_private(block);
	return block;
}

pe_source *
pe_source_of_var(const pe_block *block, const Var *var, pe_block **where)
{
	const pe_block *at = block;

	for (Index up = 0; at != NULL && up < var->varlevelsup; up++)
		at = at->parent;
	if (at == NULL || var->varno < 1 || var->varno > at->count || at->source[var->varno] == NULL)
		elog(ERROR, "column %d of relation %d, %u levels up, is not there", var->varattno, (int) var->varno,
			 var->varlevelsup);
	if (where != NULL)
		*where = (pe_block *) at;
	return at->source[var->varno];
}

pe_subselect *
pe_subselect_of(const pe_block *block, const SubLink *link)
{
	ListCell   *cell;

	foreach(cell, block->subselects)
		if (((pe_subselect *) lfirst(cell))->link == link)
			return lfirst(cell);
	elog(ERROR, "a sub-select of %s is not known", block->name);
}

Node *
pe_block_output(const pe_block *block, AttrNumber number)
{
	if (block->branches != NIL || number < 1 || number > block->outputs)
		return NULL;
	return (Node *) list_nth_node(TargetEntry, block->query->targetList, number - 1)->expr;
}

char *
pe_block_output_name(const pe_block *block, AttrNumber number)
{
	char	   *name = number >= 1 && number <= block->outputs ?
		list_nth_node(TargetEntry, block->query->targetList, number - 1)->resname : NULL;

	return name != NULL ? name : "?column?";
}

char *
pe_source_column_name(const pe_source *source, AttrNumber number)
{
	return number >= 1 && number <= list_length(source->entry->eref->colnames) ?
		strVal(list_nth(source->entry->eref->colnames, number - 1)) : "?";
}

/* ------------------------------------------------------------------
 * Expressions in messages
 * ------------------------------------------------------------------
 */

static void append_expression(StringInfo to, const pe_block *block, Node *node);

static void
append_list(StringInfo to, const pe_block *block, List *list)
{
	ListCell   *cell;

	foreach(cell, list)
	{
		Node	   *node = lfirst(cell);

		if (cell != list_head(list))
			appendStringInfoString(to, ", ");
		append_expression(to, block, IsA(node, TargetEntry) ? (Node *) ((TargetEntry *) node)->expr : node);
	}
}

static void
append_operator(StringInfo to, const pe_block *block, Oid operator, List *arguments)
{
	char	   *name = get_opname(operator);

	if (list_length(arguments) == 1)
		appendStringInfo(to, "%s", name != NULL ? name : "?");
	append_expression(to, block, linitial(arguments));
	if (list_length(arguments) == 2)
	{
		appendStringInfo(to, " %s ", name != NULL ? name : "?");
		append_expression(to, block, lsecond(arguments));
	}
}

static void
append_call(StringInfo to, const pe_block *block, Oid function, List *arguments)
{
	char	   *name = get_func_name(function);

	appendStringInfo(to, "%s(", name != NULL ? name : "?");
	append_list(to, block, arguments);
	appendStringInfoChar(to, ')');
}

static void
append_var(StringInfo to, const pe_block *block, const Var *var)
{
	pe_source  *source = pe_source_of_var(block, var, NULL);

	appendStringInfo(to, "%s.%s", source->name, var->varattno > 0 ? pe_source_column_name(source, var->varattno) : "*");
}

static void
append_const(StringInfo to, const Const *constant)
{
	Oid			output;
	bool		is_varlena;

	if (constant->constisnull)
	{
		appendStringInfoString(to, "NULL");
		return;
	}
	getTypeOutputInfo(constant->consttype, &output, &is_varlena);
	appendStringInfo(to, "'%.40s'", OidOutputFunctionCall(output, constant->constvalue));
}

static void
append_expression(StringInfo to, const pe_block *block, Node *node)
{
	if (node == NULL || to->len > 200)
		return;
	switch (nodeTag(node))
	{
		case T_Var:
			append_var(to, block, (Var *) node);
			break;
		case T_Const:
			append_const(to, (Const *) node);
			break;
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
			append_operator(to, block, ((OpExpr *) node)->opno, ((OpExpr *) node)->args);
			break;
		case T_FuncExpr:
			if (((FuncExpr *) node)->funcformat == COERCE_IMPLICIT_CAST)
				append_expression(to, block, linitial(((FuncExpr *) node)->args));
			else if (((FuncExpr *) node)->funcformat == COERCE_EXPLICIT_CAST)
			{
				append_expression(to, block, linitial(((FuncExpr *) node)->args));
				appendStringInfo(to, "::%s", format_type_be(((FuncExpr *) node)->funcresulttype));
			}
			else
				append_call(to, block, ((FuncExpr *) node)->funcid, ((FuncExpr *) node)->args);
			break;
		case T_Aggref:
			append_call(to, block, ((Aggref *) node)->aggfnoid, ((Aggref *) node)->args);
			break;
		case T_WindowFunc:
			append_call(to, block, ((WindowFunc *) node)->winfnoid, ((WindowFunc *) node)->args);
			break;
		case T_RelabelType:
			append_expression(to, block, (Node *) ((RelabelType *) node)->arg);
			break;
		case T_CoerceViaIO:
			append_expression(to, block, (Node *) ((CoerceViaIO *) node)->arg);
			appendStringInfo(to, "::%s", format_type_be(((CoerceViaIO *) node)->resulttype));
			break;
		default:
			appendStringInfoString(to, "...");
	}
}

const char *
pe_expression_text(const pe_block *block, Node *node)
{
	StringInfoData text;

	initStringInfo(&text);
	append_expression(&text, block, node);
	return text.data;
}
