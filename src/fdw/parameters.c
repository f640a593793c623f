/*
 * parameters.c
 *	  Values of sub-selects that a scan depends on.  See parameters.h.
 *
 * They are run before the scan is translated, and with it all scans of the statement.  So none of them may have one.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "executor/nodeSubplan.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"

#include "fdw/parameters.h"
#include "fdw/sight.h"

#define ASK_FIRST "Run the subquery first, and give its result as a parameter or a literal."

typedef bool (*is_ours_function) (const ForeignScan *scan);

static bool
asks(PlanState *state, is_ours_function is_ours)
{
	if (IsA(state, ForeignScanState) && is_ours((const ForeignScan *) state->plan))
		return true;
	if (IsA(state, CteScanState) && asks(((CteScanState *) state)->cteplanstate, is_ours))
		return true;
	return planstate_tree_walker(state, asks, is_ours);
}

static void
check_sub_select(EState *estate, int subplan, is_ours_function is_ours)
{
	PlanState  *state = list_nth(estate->es_subplanstates, subplan - 1);

	if (!bms_is_empty(state->plan->extParam))
		pe_refuse_translation("a subquery that depends on other rows", ASK_FIRST);
	if (asks(state, is_ours))
		pe_refuse_translation("a test by a subquery over a dataset", ASK_FIRST);
}

static void
run_sub_select(EState *estate, const Param *p)
{
	ParamExecData *data = &estate->es_param_exec_vals[p->paramid];

	if (data->execPlan != NULL)
		ExecSetParamPlan(data->execPlan, GetPerTupleExprContext(estate));
}

static Node *
with_values(Node *node, void *estate)
{
	const Param *p = (const Param *) node;
	const ParamExecData *data;
	int16		length;
	bool		by_value;

	if (node == NULL)
		return NULL;
	if (!IsA(node, Param) || p->paramkind != PARAM_EXEC)
		return expression_tree_mutator(node, with_values, estate);
	data = &((EState *) estate)->es_param_exec_vals[p->paramid];
	get_typlenbyval(p->paramtype, &length, &by_value);
	return (Node *) makeConst(p->paramtype, p->paramtypmod, p->paramcollid, length,
							  data->isnull ? (Datum) 0 : datumCopy(data->value, by_value, length),
							  data->isnull, by_value);
}

void
pe_parameters_check(EState *estate, const pe_scan_plan *plan, is_ours_function is_ours, bool is_ahead)
{
	ListCell   *cell;

	if (is_ahead && plan->parameters != NIL)
		pe_refuse_translation("a subquery inside a SELECT with a parallel part",
							  "SET max_parallel_workers_per_gather = 0.");
	foreach(cell, plan->parameters)
		check_sub_select(estate, intVal(lsecond(lfirst_node(List, cell))), is_ours);
}

pe_scan_plan *
pe_parameters_fill(EState *estate, const pe_scan_plan *plan, is_ours_function is_ours, bool is_ahead)
{
	pe_scan_plan *filled = palloc(sizeof(*filled));
	ListCell   *cell;

	pe_parameters_check(estate, plan, is_ours, is_ahead);
	*filled = *plan;
	if (plan->parameters == NIL)
		return filled;
	foreach(cell, plan->parameters)
		run_sub_select(estate, linitial_node(Param, lfirst_node(List, cell)));
	filled->where = (List *) with_values((Node *) plan->where, estate);
	filled->targets = (List *) with_values((Node *) plan->targets, estate);
	filled->parameters = NIL;
	return filled;
}
