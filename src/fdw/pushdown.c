/*
 * pushdown.c
 *	  The planner's part of plain SELECT.  See pushdown.h.
 *
 * Grouping and DISTINCT over one relation are pushed down to it.  All else is
 * left to a scan that is refused when the executor starts, before anything of
 * the statement is charged.  Nothing here looks at a dataset: a kept plan stays
 * right when attributes are declared anew.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/planmain.h"
#include "optimizer/restrictinfo.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "fdw/join_tree.h"
#include "fdw/pushdown.h"
#include "fdw/sql_text.h"
#include "fdw/table_options.h"
#include "server/compat.h"

/* Any plan that is answered is better than one that is refused; below what the server compiles expressions for. */
#define REFUSED_COST 9e4

/* What is known of a relation while it is planned; of a grouped one what it becomes. */
typedef struct pe_planned
{
	pe_scan_plan scan;
	List	   *having;
	List	   *unread;			/* columns inside of groups, which the planner lists beside them for windows: NULL */
} pe_planned;

/* ------------------------------------------------------------------
 * From and to a plan
 * ------------------------------------------------------------------
 */

/* What a simple CASE compares is put into its tests; the elements that an array is cast by are another matter. */
static Node *
with_case_value(Node *node, void *value)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, CaseTestExpr))
		return copyObject(value);
	if (IsA(node, ArrayCoerceExpr))
	{
		ArrayCoerceExpr *cast = copyObject((ArrayCoerceExpr *) node);

		cast->arg = (Expr *) with_case_value((Node *) cast->arg, value);
		return (Node *) cast;
	}
	return expression_tree_mutator(node, with_case_value, value);
}

/* CASE x WHEN 1 is CASE WHEN x = 1: x is not volatile. */
static void
remove_case_value(CaseExpr *c)
{
	ListCell   *cell;

	if (c->arg == NULL)
		return;
	foreach(cell, c->args)
		lfirst_node(CaseWhen, cell)->expr =
			(Expr *) with_case_value((Node *) lfirst_node(CaseWhen, cell)->expr, c->arg);
	c->arg = NULL;
}

static bool
is_pattern_operator(Oid operator)
{
	return operator == OID_TEXT_LIKE_OP || operator == OID_TEXT_ICLIKE_OP ||
		operator == get_negator(OID_TEXT_LIKE_OP) || operator == get_negator(OID_TEXT_ICLIKE_OP);
}

/* The elements of a list; false: they are not known one by one. */
static bool
find_elements(Node *list, List **elements)
{
	const Const *c = (const Const *) list;
	Oid			type;
	int16		length;
	bool		by_value;
	char		alignment;
	Datum	   *element;
	bool	   *nulls;
	int			count;

	if (IsA(list, ArrayExpr) && !((ArrayExpr *) list)->multidims)
	{
		*elements = ((ArrayExpr *) list)->elements;
		return true;
	}
	if (!IsA(list, Const) || c->constisnull || (type = get_element_type(c->consttype)) == InvalidOid)
		return false;
	get_typlenbyvalalign(type, &length, &by_value, &alignment);
	deconstruct_array(DatumGetArrayTypeP(c->constvalue), type, length, by_value, alignment, &element, &nulls, &count);
	for (int i = 0; i < count; i++)
		*elements = lappend(*elements, makeConst(type, -1, get_typcollation(type), length, element[i], nulls[i],
												 by_value));
	return true;
}

/* Whether an expression is of several columns, whose tests are looked at one by one. */
static bool
is_of_several(Node *e)
{
	List	   *columns = pull_var_clause(e, PVC_RECURSE_AGGREGATES | PVC_RECURSE_PLACEHOLDERS);
	ListCell   *cell;

	foreach(cell, columns)
		if (!equal(lfirst(cell), linitial(columns)))
			return true;
	return false;
}

/* x LIKE ANY (list) is x LIKE a OR x LIKE b, and ALL is AND: x is not volatile.  So is a - b IN (1, 2). */
static Node *
with_single_tests(ScalarArrayOpExpr *o)
{
	List	   *elements = NIL;
	List	   *tests = NIL;
	ListCell   *cell;

	if ((!is_pattern_operator(o->opno) && !is_of_several(linitial(o->args))) ||
		!find_elements(lsecond(o->args), &elements))
		return (Node *) o;
	foreach(cell, elements)
		tests = lappend(tests, IsA(lfirst(cell), Const) && lfirst_node(Const, cell)->constisnull
						? makeBoolConst(false, true)
						: (Node *) make_opclause(o->opno, BOOLOID, false, copyObject(linitial(o->args)),
												 lfirst(cell), InvalidOid, o->inputcollid));
	if (tests == NIL)
		return makeBoolConst(!o->useOr, false);
	if (list_length(tests) == 1)
		return linitial(tests);
	return o->useOr ? (Node *) make_orclause(tests) : (Node *) make_andclause(tests);
}

/* Whether CASE has a value in the rows alone that its only test is true for. */
static bool
is_filter(const CaseExpr *c)
{
	return IsA(c, CaseExpr) && c->arg == NULL && list_length(c->args) == 1 &&
		(c->defresult == NULL || (IsA(c->defresult, Const) && castNode(Const, c->defresult)->constisnull));
}

/* count(DISTINCT CASE WHEN test THEN x END) is count(DISTINCT x) FILTER (WHERE test). */
static void
make_filter(Aggref *a)
{
	TargetEntry *counted = a->aggdistinct != NIL && list_length(a->args) == 1 ? linitial(a->args) : NULL;
	const CaseWhen *when;

	if (counted == NULL || a->aggfnoid != F_COUNT_ANY || !is_filter((CaseExpr *) counted->expr))
		return;
	when = linitial(((CaseExpr *) counted->expr)->args);
	a->aggfilter = a->aggfilter == NULL ? when->expr
		: (Expr *) make_andclause(list_make2(a->aggfilter, when->expr));
	counted->expr = when->result;
}

/* In one copy, as every SELECT is planned with it; each PlaceHolderVar of the planner becomes its expression. */
static Node *
made_plain(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, PlaceHolderVar))
		return made_plain((Node *) ((PlaceHolderVar *) node)->phexpr, context);
	node = expression_tree_mutator(node, made_plain, context);
	if (IsA(node, CaseExpr))
		remove_case_value((CaseExpr *) node);
	else if (IsA(node, Aggref))
		make_filter((Aggref *) node);
	return IsA(node, ScalarArrayOpExpr) ? with_single_tests((ScalarArrayOpExpr *) node) : node;
}

/* A copy whose operators know their functions, as the server makes it of expressions that it sees. */
static List *
with_functions(List *expressions)
{
	Node	   *copy = made_plain((Node *) expressions, NULL);

	fix_opfuncids(copy);
	return (List *) copy;
}

/* Of tables of outer joins the conjuncts of ON. */
static List *
with_functions_in_on(const List *optional)
{
	List	   *copy = NIL;
	const ListCell *cell;

	foreach(cell, optional)
		copy = lappend(copy, list_make2(copyObject(linitial(lfirst_node(List, cell))),
										with_functions(lsecond_node(List, lfirst_node(List, cell)))));
	return copy;
}

List *
pe_scan_plan_write(const pe_scan_plan *p)
{
	List	   *list = list_make3(makeInteger(p->kind), makeString(p->why != NULL ? p->why : ""),
								  makeInteger((int) p->relation));

	list = lappend(list, with_functions(p->where));
	list = lappend(list, with_functions(p->targets));
	list = lappend(list, makeInteger(p->grouped));
	list = lappend(list, copyObject(p->sets));
	list = lappend(list, copyObject(p->parameters));
	list = lappend(list, copyObject(p->tables));
	list = lappend(list, with_functions_in_on(p->optional));
	list = lappend(list, copyObject(p->lookups));
	return list;
}

pe_scan_plan *
pe_scan_plan_read(List *list)
{
	pe_scan_plan *p = palloc0(sizeof(*p));

	p->kind = intVal(linitial(list));
	p->why = strVal(lsecond(list));
	p->relation = (Oid) intVal(lthird(list));
	p->where = list_nth(list, 3);
	p->targets = list_nth(list, 4);
	p->grouped = intVal(list_nth(list, 5)) != 0;
	p->sets = list_nth(list, 6);
	p->parameters = list_nth(list, 7);
	p->tables = list_nth(list, 8);
	p->optional = list_nth(list, 9);
	p->lookups = list_nth(list, 10);
	return p;
}

/* ------------------------------------------------------------------
 * Sub-selects that depend on nothing else of the statement
 * ------------------------------------------------------------------
 */

/* The sub-select that a parameter is the value of; NULL: it is of a row of something else. */
static const SubPlan *
sub_select_of(const PlannerInfo *root, const Param *p)
{
	ListCell   *cell;

	for (; root != NULL; root = root->parent_root)
		foreach(cell, root->init_plans)
			if (list_member_int(lfirst_node(SubPlan, cell)->setParam, p->paramid))
				return lfirst(cell);
	return NULL;
}

static bool
is_inner(const Node *node)
{
	return IsA(node, Param) && ((const Param *) node)->paramkind != PARAM_EXTERN;
}

/* Whether a parameter is no client's, and of no sub-select; root: NULL: of a sub-select, too. */
static bool
has_inner_parameter(Node *node, void *root)
{
	if (node == NULL)
		return false;
	if (is_inner(node))
		return root == NULL || sub_select_of(root, (Param *) node) == NULL;
	return expression_tree_walker(node, has_inner_parameter, root);
}

/* Of (SELECT expression) the expression, which has the same value; NULL: there is more to it. */
static Node *
expression_of(const PlannerInfo *root, const SubPlan *sub)
{
	const Plan *plan = list_nth(root->glob->subplans, sub->plan_id - 1);
	Node	   *expression;

	if (sub->subLinkType != EXPR_SUBLINK || !IsA(plan, Result) || plan->lefttree != NULL || plan->initPlan != NIL ||
		((const Result *) plan)->resconstantqual != NULL || list_length(plan->targetlist) != 1)
		return NULL;
	expression = (Node *) linitial_node(TargetEntry, plan->targetlist)->expr;
	return contain_volatile_functions(expression) || contain_subplans(expression) || contain_var_clause(expression) ||
		has_inner_parameter(expression, NULL) ? NULL : expression;
}

typedef struct found_parameters
{
	PlannerInfo *root;
	List	   *list;
} found_parameters;

/* Expressions of sub-selects in their places; other sub-selects are listed. */
static Node *
with_sub_selects(Node *node, void *context)
{
	found_parameters *found = context;
	const SubPlan *sub;
	Node	   *expression;

	if (node == NULL)
		return NULL;
	if (!is_inner(node))
		return expression_tree_mutator(node, with_sub_selects, context);
	sub = sub_select_of(found->root, (Param *) node);
	expression = sub != NULL ? expression_of(found->root, sub) : NULL;
	if (expression != NULL)
		return copyObject(expression);
	if (sub != NULL)
		found->list = lappend(found->list, list_make2(node, makeInteger(sub->plan_id)));
	return copyObject(node);
}

static pe_scan_plan
without_sub_selects(PlannerInfo *root, const pe_scan_plan *p)
{
	found_parameters found = {root, NIL};
	pe_scan_plan plan = *p;

	plan.where = (List *) with_sub_selects((Node *) p->where, &found);
	plan.targets = (List *) with_sub_selects((Node *) p->targets, &found);
	plan.parameters = found.list;
	return plan;
}

/* What the server must know of: a scan depends on them. */
static List *
params_of(const pe_scan_plan *p)
{
	List	   *params = NIL;
	ListCell   *cell;

	foreach(cell, p->parameters)
		params = lappend(params, linitial(lfirst_node(List, cell)));
	return params;
}

/* ------------------------------------------------------------------
 * Expressions that can be evaluated on cells
 * ------------------------------------------------------------------
 */

/* Why an expression cannot be evaluated on cells; NULL: it can. */
static char *
reason(PlannerInfo *root, Node *e, const Bitmapset *tables, const char *where)
{
	List	   *vars;
	ListCell   *cell;

	if (contain_subplans(e))
		return psprintf("%s has a subquery", where);
	if (has_inner_parameter(e, root))
		return psprintf("%s depends on another part of the statement, and each of its rows would be a charge", where);
	if (contain_volatile_functions(e))
		return psprintf("%s has a volatile function", where);
	vars = pull_var_clause(e, PVC_RECURSE_AGGREGATES | PVC_RECURSE_PLACEHOLDERS);
	foreach(cell, vars)
	{
		const Var  *var = lfirst(cell);

		if (!bms_is_member(var->varno, tables) || var->varlevelsup != 0 || var->varattno <= 0)
			return psprintf("%s has a whole row, a system column or a column of another relation", where);
	}
	return NULL;
}

/* ------------------------------------------------------------------
 * The relation itself
 * ------------------------------------------------------------------
 */

void
pe_fdw_size(PlannerInfo *root, RelOptInfo *rel, Oid relation)
{
	pe_planned *p = palloc0(sizeof(*p));
	ListCell   *cell;

	p->scan.relation = relation;
	/* tests of no column too: above a grouping of ours nothing else looks at them */
	p->scan.where = list_concat(extract_actual_clauses(rel->baserestrictinfo, false),
								extract_actual_clauses(rel->baserestrictinfo, true));
	foreach(cell, p->scan.where)
		if (p->scan.why == NULL)
			p->scan.why = reason(root, lfirst(cell), rel->relids, "WHERE");
	if (rel->reloptkind != RELOPT_BASEREL)
		p->scan.why = "it is read together with other relations, by UNION ALL or as a partition";
	else if (!bms_is_empty(rel->lateral_relids))
		p->scan.why = "it refers to another relation (LATERAL)";
	rel->fdw_private = p;
	rel->rows = 1000;
}

void
pe_fdw_paths(PlannerInfo *root, RelOptInfo *rel, Oid relation)
{
	add_path(rel, (Path *) create_foreignscan_path(root, rel, NULL, rel->rows,
												   PE_PATH_DISABLED(1) REFUSED_COST, REFUSED_COST,
												   NIL, rel->lateral_relids, NULL, PE_PATH_RESTRICTIONS NIL));
}

/* ------------------------------------------------------------------
 * Groups
 * ------------------------------------------------------------------
 */

static char *
reason_of_aggregate(PlannerInfo *root, const Aggref *a, const Bitmapset *tables)
{
	char	   *name = get_func_name(a->aggfnoid);
	char	   *why;

	if (a->aggsplit != AGGSPLIT_SIMPLE)
		return "an aggregate is computed in parts";
	why = reason(root, (Node *) a->args, tables, psprintf("the argument of %s", name));
	if (why == NULL)
		why = reason(root, (Node *) a->aggdirectargs, tables, psprintf("the argument of %s", name));
	return why != NULL ? why : reason(root, (Node *) a->aggfilter, tables, psprintf("FILTER of %s", name));
}

/* Adds the aggregates of an expression, which is computed above. */
static bool
add_aggregates(PlannerInfo *root, pe_planned *p, Node *expression, const Bitmapset *tables)
{
	List	   *parts = pull_var_clause(expression, PVC_INCLUDE_AGGREGATES | PVC_RECURSE_PLACEHOLDERS);
	ListCell   *cell;

	foreach(cell, parts)
	{
		Node	   *part = lfirst(cell);

		if (IsA(part, Aggref))
			p->scan.why = reason_of_aggregate(root, (Aggref *) part, tables);
		else if (!IsA(part, GroupingFunc))
			continue;			/* a column of a group, which is there by itself, or depends on one */
		if (p->scan.why != NULL)
			return false;
		p->scan.targets = add_to_flat_tlist(p->scan.targets, list_make1(part));
	}
	return true;
}

static void
add_group(pe_planned *p, Expr *expression, Index reference)
{
	TargetEntry *entry = makeTargetEntry(expression, list_length(p->scan.targets) + 1, NULL, false);

	entry->ressortgroupref = reference;
	p->scan.targets = lappend(p->scan.targets, entry);
}

/* Whether an expression over groups and aggregates has anything else in it. */
static bool
has_other_columns(Node *node, void *targets)
{
	if (node == NULL || IsA(node, Aggref) || IsA(node, GroupingFunc))
		return false;
	if (tlist_member((Expr *) node, targets) != NULL)
		return false;
	return IsA(node, Var) || expression_tree_walker(node, has_other_columns, targets);
}

/*
 * Of windows the planner lists the columns of what is computed of groups, too.  Nothing reads one that stands in groups
 * alone, as all above looks for the groups first.
 */
static bool
is_unread(PlannerInfo *root, const pe_planned *p, Expr *e)
{
	return IsA(e, Var) && !has_other_columns((Node *) root->processed_tlist, p->scan.targets) &&
		!has_other_columns((Node *) p->having, p->scan.targets);
}

static void
add_unread(pe_planned *p, Expr *e)
{
	int			place = list_length(p->scan.targets) + list_length(p->unread) + 1;

	p->unread = lappend(p->unread, makeTargetEntry(e, place, NULL, false));
}

/* Fills in the targets; false with the reason. */
static bool
collect_targets(PlannerInfo *root, pe_planned *p, const PathTarget *target, List *groups, const Bitmapset *tables)
{
	List	   *others = NIL;
	List	   *unread = NIL;
	ListCell   *cell;
	int			i = 0;

	foreach(cell, target->exprs)
	{
		Expr	   *e = lfirst(cell);
		Index		reference = get_pathtarget_sortgroupref(target, i++);

		if (reference == 0 || get_sortgroupref_clause_noerr(reference, groups) == NULL)
		{
			others = lappend(others, e);
			continue;
		}
		p->scan.why = reason(root, (Node *) e, tables, "GROUP BY or DISTINCT");
		if (p->scan.why == NULL && p->scan.sets != NIL && IsA(e, Const))
			p->scan.why = "a constant is in a grouping set";	/* which the planner would show in rows of all sets */
		if (p->scan.why != NULL)
			return false;
		add_group(p, e, reference);
	}
	others = list_concat(others, p->having);
	foreach(cell, others)
	{
		if (!add_aggregates(root, p, lfirst(cell), tables))
			return false;
		if (!has_other_columns(lfirst(cell), p->scan.targets))
			continue;
		if (!is_unread(root, p, lfirst(cell)))
		{
			p->scan.why = "a column is selected that is not grouped by";
			return false;
		}
		unread = lappend(unread, lfirst(cell));
	}
	foreach(cell, unread)
		add_unread(p, lfirst(cell));
	return true;
}

static bool
is_pushed(UpperRelationKind stage, const Query *query)
{
	if (stage == UPPERREL_GROUP_AGG)
		return !query->hasTargetSRFs;
	return stage == UPPERREL_DISTINCT && !query->hasDistinctOn && !query->hasAggs && query->groupClause == NIL &&
		query->groupingSets == NIL && !query->hasWindowFuncs && !query->hasTargetSRFs;
}

/* ------------------------------------------------------------------
 * Joins
 * ------------------------------------------------------------------
 */

static pe_planned *
planned_table(PlannerInfo *root, int number)
{
	RelOptInfo *rel = root->simple_rel_array[number];

	return rel != NULL && rel->reloptkind == RELOPT_BASEREL ? rel->fdw_private : NULL;
}

static bool
is_exposed(const pe_planned *p)
{
	return pe_fdw_base_table(p->scan.relation) != NULL;
}

/* A column that a sub-select computes is NULL where its row is not there, and its expression may not be. */
static bool
has_placeholder(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return IsA(node, PlaceHolderVar) || expression_tree_walker(node, has_placeholder, context);
}

/* The names of the columns that base tables have, as they are there. */
static List *
base_columns(PlannerInfo *root, const List *numbers)
{
	List	   *names = NIL;
	ListCell   *cell;

	foreach(cell, numbers)
	{
		Oid			base = pe_fdw_base_relation(planned_table(root, lfirst_int(cell))->scan.relation);
		char	   *name;

		for (AttrNumber n = 1; (name = get_attname(base, n, true)) != NULL; n++)
			if (get_attnum(base, name) == n)	/* it is not dropped */
				names = lappend(names, makeString(name));
	}
	return names;
}

/*
 * NATURAL JOIN of base tables has an equality for each name in common; that of the foreign tables, for the names that
 * are exposed.  NULL: they are the same.
 */
static char *
reason_of_natural(PlannerInfo *root, const List *join)
{
	List	   *right = base_columns(root, lsecond(join));
	StringInfoData equal;
	ListCell   *cell;

	initStringInfo(&equal);
	foreach(cell, lthird_node(List, join))
		appendStringInfo(&equal, "%s%s", equal.len > 0 ? ", " : "", quote_identifier(strVal(lfirst(cell))));
	foreach(cell, base_columns(root, linitial(join)))
		if (list_member(right, lfirst(cell)) && !list_member(lthird(join), lfirst(cell)))
			return psprintf("NATURAL JOIN compares \"%s\" too, which is not exposed%s", strVal(lfirst(cell)),
							equal.len > 0 ? psprintf("; write JOIN ... USING (%s)", equal.data) : "");
	return NULL;
}

/* Why tables are not joined as one dataset; NULL: they may be. */
static char *
reason_of_tables(PlannerInfo *root, const pe_join_tree *tree)
{
	ListCell   *cell;

	if (tree->why != NULL)
		return tree->why;
	foreach(cell, tree->tables)
	{
		const pe_planned *table = planned_table(root, lfirst_int(cell));

		if (!is_exposed(table))
			return "it is joined with a relation that dp.expose_tables did not make";
		if (planner_rt_fetch(lfirst_int(cell), root)->securityQuals != NIL)
			return "a view with security_barrier is joined";
		if (table->scan.why != NULL)
			return table->scan.why;
	}
	foreach(cell, tree->natural)
	{
		char	   *why = reason_of_natural(root, lfirst(cell));

		if (why != NULL)
			return why;
	}
	if (tree->optional != NIL && has_placeholder((Node *) root->parse->targetList, NULL))
		return "a column is computed on the optional side of an outer join";
	return NULL;
}

/* All scans of a join say why it is refused: each of them is begun. */
static void
refuse_tables(PlannerInfo *root, const List *tables, char *why)
{
	const ListCell *cell;

	foreach(cell, tables)
		planned_table(root, lfirst_int(cell))->scan.why = why;
}

static List *
table_of_plan(int number, Oid relation, bool is_looked_up)
{
	return list_make3(makeInteger(number), makeInteger((int) relation), makeInteger(is_looked_up));
}

static pe_planned *
planned_join(PlannerInfo *root, const pe_join_tree *tree, const Bitmapset *tables)
{
	pe_planned *p = palloc0(sizeof(*p));
	ListCell   *cell;

	p->scan.relation = planned_table(root, linitial_int(tree->tables))->scan.relation;
	p->scan.where = tree->where;
	p->scan.optional = tree->optional;
	p->scan.why = reason_of_tables(root, tree);
	foreach(cell, tree->tables)
		p->scan.tables = lappend(p->scan.tables,
								 table_of_plan(lfirst_int(cell), planned_table(root, lfirst_int(cell))->scan.relation,
											   list_member_int(tree->looked_up, lfirst_int(cell))));
	foreach(cell, tree->where)
		if (p->scan.why == NULL)
			p->scan.why = reason(root, lfirst(cell), tables, "WHERE");
	if (p->scan.why == NULL && tree->optional != NIL &&
		(has_placeholder((Node *) tree->where, NULL) || has_placeholder(root->parse->havingQual, NULL)))
		p->scan.why = "a column is computed on the optional side of an outer join";
	return p;
}

/* What a join is as one scan; NULL: it is not ours, or is left to its scans, which are refused. */
static pe_planned *
join_below(PlannerInfo *root, Bitmapset **tables)
{
	pe_join_tree *tree = pe_join_tree_of(root->parse);
	bool		any = false;
	pe_planned *p;
	ListCell   *cell;

	*tables = NULL;
	foreach(cell, tree->tables)
	{
		if (planned_table(root, lfirst_int(cell)) == NULL)
			return NULL;
		any = any || is_exposed(planned_table(root, lfirst_int(cell)));
		*tables = bms_add_member(*tables, lfirst_int(cell));
	}
	if (!any)
		return NULL;
	p = planned_join(root, tree, *tables);
	if (p->scan.why != NULL)
		refuse_tables(root, tree->tables, p->scan.why);
	return p;
}

/* A scan of one relation, or of several that are joined. */
static pe_planned *
scan_below(PlannerInfo *root, RelOptInfo *input, Bitmapset **tables)
{
	pe_planned *p = input->fdw_private;

	if (input->reloptkind == RELOPT_JOINREL)
		return join_below(root, tables);
	if (input->reloptkind != RELOPT_BASEREL || p == NULL)
		return NULL;
	*tables = input->relids;
	if (is_exposed(p) && p->scan.tables == NIL)
		p->scan.tables = list_make1(table_of_plan(input->relid, p->scan.relation, false));
	return p;
}

static void
note_refusal(PlannerInfo *root, RelOptInfo *input, const Bitmapset *tables, char *why)
{
	List	   *numbers = NIL;
	int			i = -1;

	if (input->reloptkind == RELOPT_BASEREL)
		((pe_planned *) input->fdw_private)->scan.why = why;
	else
	{
		while ((i = bms_next_member(tables, i)) >= 0)
			numbers = lappend_int(numbers, i);
		refuse_tables(root, numbers, why);
	}
}

void
pe_fdw_upper_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input, RelOptInfo *output, void *extra)
{
	Query	   *query = root->parse;
	bool		distinct = stage == UPPERREL_DISTINCT;
	PathTarget *target = distinct ? root->upper_targets[UPPERREL_DISTINCT] : output->reltarget;
	Bitmapset  *tables;
	pe_planned *below;
	pe_planned *p;

	if (output->fdw_private != NULL || !is_pushed(stage, query))
		return;
	below = scan_below(root, input, &tables);
	if (below == NULL || below->scan.why != NULL)
		return;
	p = palloc0(sizeof(*p));
	*p = *below;
	p->scan.kind = PE_SCAN_GROUPS;
	p->scan.grouped = query->groupClause != NIL || query->groupingSets != NIL || distinct;
	p->scan.sets = distinct ? NIL : query->groupingSets;	/* which the planner has expanded */
	p->having = distinct ? NIL : (List *) ((GroupPathExtraData *) extra)->havingQual;
	if (!collect_targets(root, p, target, distinct ? query->distinctClause : query->groupClause, tables))
	{
		note_refusal(root, input, tables, p->scan.why);
		return;
	}
	output->fdw_private = p;
	add_path(output, (Path *) create_foreign_upper_path(root, output, target, 100, PE_PATH_DISABLED(0) 10, 20,
														NIL, NULL, PE_PATH_RESTRICTIONS NIL));
}

/* ------------------------------------------------------------------
 * IN with a SELECT that has groups
 * ------------------------------------------------------------------
 */

/*
 * Of an equality with a column of a sub-select the other side, and the SELECT; NULL: it is another condition.  Of an
 * inner join the values are unique: so 17 plans IN where groups are.
 */
static List *
lookup_of(PlannerInfo *root, const OpExpr *test, int select, bool is_in)
{
	RangeTblEntry *table = planner_rt_fetch(select, root);
	char	   *name = IsA(test, OpExpr) && list_length(test->args) == 2 ? get_opname(test->opno) : NULL;
	char	   *text = NULL;

	if (name == NULL || strcmp(name, "=") != 0 || table->lateral)
		return NULL;
	for (int side = 0; side < 2; side++)
	{
		const Var  *column = list_nth(test->args, side);

		if (!IsA(column, Var) || column->varno != select || column->varattno <= 0 ||
			!(is_in || query_is_distinct_for(table->subquery, list_make1_int(column->varattno),
											 list_make1_oid(test->opno))))
			continue;
		text = pe_sql_grouped_select(table->subquery, column->varattno);
		return text != NULL ? list_make2(list_nth(test->args, 1 - side), makeString(text)) : NULL;
	}
	return NULL;
}

/* Takes the condition by which a sub-select is looked up. */
static bool
take_lookup(PlannerInfo *root, pe_join_tree *tree, int select, List **lookups)
{
	List	   *where = NIL;
	List	   *lookup = NIL;
	ListCell   *cell;

	if (planner_rt_fetch(select, root)->rtekind != RTE_SUBQUERY)
		return false;
	foreach(cell, tree->where)
	{
		if (!bms_is_member(select, pull_varnos(root, lfirst(cell))))
		{
			where = lappend(where, lfirst(cell));
			continue;
		}
		lookup = lookup == NIL ? lookup_of(root, lfirst(cell), select, list_member_int(tree->looked_up, select)) : NIL;
		if (lookup == NIL)
			return false;
	}
	tree->where = where;
	*lookups = lappend(*lookups, lookup);
	return lookup != NIL;
}

/* The tables of ours in a statement that is joined with such sub-selects alone; false: it is another one. */
static bool
take_lookups(PlannerInfo *root, pe_join_tree *tree, List **lookups, Bitmapset **tables)
{
	List	   *numbers = NIL;
	ListCell   *cell;

	foreach(cell, tree->tables)
	{
		int			number = lfirst_int(cell);

		if (planned_table(root, number) == NULL)
		{
			if (!take_lookup(root, tree, number, lookups))
				return false;
			continue;
		}
		numbers = lappend_int(numbers, number);
		*tables = bms_add_member(*tables, number);
	}
	tree->tables = numbers;
	return tree->why == NULL && *lookups != NIL && numbers != NIL;
}

/* What a hint must know of a statement whose rows are looked up in groups. */
static void
note_lookups(PlannerInfo *root, pe_scan_plan *scan)
{
	pe_join_tree *tree = pe_join_tree_of(root->parse);
	List	   *lookups = NIL;
	Bitmapset  *tables = NULL;
	pe_planned *p;

	if (!take_lookups(root, tree, &lookups, &tables))
		return;
	p = planned_join(root, tree, tables);
	if (p->scan.why != NULL ||
		!collect_targets(root, p, root->upper_targets[UPPERREL_GROUP_AGG], root->parse->groupClause, tables))
		return;
	p->scan.kind = scan->kind;
	p->scan.relation = scan->relation;
	p->scan.why = "its rows are those that a SELECT with groups finds";
	p->scan.lookups = lookups;
	*scan = p->scan;
}

/* ------------------------------------------------------------------
 * The plan
 * ------------------------------------------------------------------
 */

static bool
is_limit_0(const Query *query)
{
	Node	   *limit = query->limitCount;

	return limit != NULL && IsA(limit, Const) && !((Const *) limit)->constisnull &&
		DatumGetInt64(((Const *) limit)->constvalue) == 0;
}

static bool
aggregates(const Query *query)
{
	return query->hasAggs || query->groupClause != NIL || query->groupingSets != NIL;
}

/* Whether a SELECT around this one, which does not, has aggregates. */
static bool
is_aggregated_around(const PlannerInfo *root)
{
	for (root = root->parent_root; root != NULL; root = root->parent_root)
		if (aggregates(root->parse))
			return true;
	return false;
}

ForeignScan *
pe_fdw_plan(PlannerInfo *root, RelOptInfo *rel, Oid relation,
			ForeignPath *path, List *targets, List *clauses, Plan *outer)
{
	pe_planned *p = rel->fdw_private;
	Query	   *query = root->parse;
	pe_scan_plan scan;

	if (rel->reloptkind == RELOPT_UPPER_REL)
	{
		scan = without_sub_selects(root, &p->scan);
		return make_foreignscan(targets, p->having, 0, params_of(&scan),
								pe_scan_plan_write(&scan), list_concat_copy(p->scan.targets, p->unread), NIL, outer);
	}
	if (p->scan.why == NULL && !aggregates(query) && is_aggregated_around(root) &&
		(query->sortClause != NIL || query->limitCount != NULL || query->limitOffset != NULL))
		p->scan.why = "rows are sorted or limited before an aggregate has them";
	p->scan.kind = is_limit_0(query) ? PE_SCAN_EMPTY
		: p->scan.why != NULL || aggregates(query) ? PE_SCAN_UNTRANSLATED : PE_SCAN_ROWS;
	p->scan.targets = NIL;
	scan = p->scan;
	if (scan.kind == PE_SCAN_UNTRANSLATED && scan.why == NULL && is_exposed(p))
		note_lookups(root, &scan);
	return make_foreignscan(targets, extract_actual_clauses(clauses, false), rel->relid,
							NIL, pe_scan_plan_write(&scan), NIL, NIL, outer);
}
