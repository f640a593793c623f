/*
 * scans.c
 *	  The foreign scans of a plan that is about to be executed.  See scans.h.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "fdw/scans.h"

/* What is found, and whether the executor comes there. */
typedef struct walk
{
	const PlannedStmt *statement;
	Bitmapset  *seen;			/* sub-selects, by their numbers */
	List	   *scans;
	bool		is_dead;
} walk;

static bool
is_null(const Const *c)
{
	return c->constisnull;
}

/*
 * Whether a node asks for no row of what is below, as far as constants decide
 * it.
 */
static bool
is_limit_0(const Plan *plan)
{
	const Limit *limit = (const Limit *) plan;
	const Const *count = IsA(plan, Limit) ? (const Const *) limit->limitCount : NULL;

	return count != NULL && IsA(count, Const) && !is_null(count) && DatumGetInt64(count->constvalue) == 0 &&
		(limit->limitOffset == NULL || IsA(limit->limitOffset, Const));
}

static bool
is_never(const Plan *plan)
{
	const ListCell *cell;

	if (!IsA(plan, Result))
		return false;
	foreach(cell, (List *) ((const Result *) plan)->resconstantqual)
	{
		const Const *test = lfirst(cell);

		if (IsA(test, Const) && (is_null(test) || !DatumGetBool(test->constvalue)))
			return true;
	}
	return false;
}

static List *
members_of(const Plan *plan)
{
	switch (nodeTag(plan))
	{
		case T_Append:
			return ((const Append *) plan)->appendplans;
		case T_MergeAppend:
			return ((const MergeAppend *) plan)->mergeplans;
		case T_CustomScan:
			return ((const CustomScan *) plan)->custom_plans;
		case T_SubqueryScan:
			return list_make1(((const SubqueryScan *) plan)->subplan);
		default:
			return NIL;
	}
}

static void
note_scan(walk *w, const Plan *plan)
{
	pe_scan_of_plan *found = palloc(sizeof(*found));

	found->scan = (const ForeignScan *) plan;
	found->is_dead = w->is_dead;
	w->scans = lappend(w->scans, found);
}

static void walk_plan(walk *w, const Plan *plan);

static void
walk_subplan(walk *w, int number)
{
	if (bms_is_member(number, w->seen))
		return;
	w->seen = bms_add_member(w->seen, number);
	walk_plan(w, list_nth(w->statement->subplans, number - 1));
}

static void
walk_plan(walk *w, const Plan *plan)
{
	bool		was_dead = w->is_dead;
	ListCell   *cell;

	if (plan == NULL)
		return;
	check_stack_depth();
	w->is_dead = was_dead || is_limit_0(plan) || is_never(plan);
	if (IsA(plan, ForeignScan))
		note_scan(w, plan);
	walk_plan(w, plan->lefttree);
	walk_plan(w, plan->righttree);
	foreach(cell, members_of(plan))
		walk_plan(w, lfirst(cell));
	foreach(cell, plan->initPlan)
		walk_subplan(w, lfirst_node(SubPlan, cell)->plan_id);
	w->is_dead = was_dead;
}

List *
pe_scans_of_plan(const PlannedStmt *statement)
{
	walk		w = {.statement = statement};

	walk_plan(&w, statement->planTree);
	w.is_dead = is_limit_0(statement->planTree) || is_never(statement->planTree);
	for (int i = 1; i <= list_length(statement->subplans); i++)
		walk_subplan(&w, i);
	return w.scans;
}
