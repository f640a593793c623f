/*
 * plan_tree.c
 *	  Plans of the tables that synthetic rows are drawn from.  See plan.h and counts/measured_tree.h.
 */
#include "plan/private.h"

#include "accounting/conversion.h"
#include "base/mem.h"

static bool
tree_serves(const pe_plan *plan)
{
	const pe_tree_problem *tree = &plan->tree;
	int64_t		part[PE_TREE_PARTS];

	return pe_tree_split(tree, part) &&
		pe_noise_is_served(plan->accounting, pe_tree_sensitivity(tree, PE_TREE_ONES), part[PE_TREE_ONES]) &&
		(tree->attributes == 1 ||
		 pe_noise_is_served(plan->accounting, pe_tree_sensitivity(tree, PE_TREE_PAIRS), part[PE_TREE_PAIRS]));
}

/* A pure epsilon of an edge is what any pure mechanism costs. */
static pe_cost
tree_cost(const pe_plan *plan)
{
	const pe_tree_problem *tree = &plan->tree;
	int64_t		part[PE_TREE_PARTS];
	int64_t		as_rho = 0;

	if (plan->accounting != PE_PURE || !pe_tree_split(tree, part))
		return pe_cost_exact(plan->accounting, plan->nano, 0);
	as_rho = pe_nano_rho_of_laplace(plan->rules.cap, part[PE_TREE_ONES], pe_tree_sensitivity(tree, PE_TREE_ONES));
	for (int e = 0; part[PE_TREE_EDGES] > 0 && e < tree->attributes - 1; e++)
		as_rho += pe_nano_rho_of_pure(plan->rules.cap, pe_tree_edge_nano(tree, part[PE_TREE_EDGES], e));
	if (tree->attributes > 1)
		as_rho += pe_nano_rho_of_laplace(plan->rules.cap, part[PE_TREE_PAIRS],
										 pe_tree_sensitivity(tree, PE_TREE_PAIRS));
	return pe_cost_exact(PE_PURE, plan->nano, as_rho);
}

static const pe_plan_kind tree_kind = {tree_serves, tree_cost, pe_plan_drawn_exactly, NULL};

pe_plan_status
pe_plan_of_tree(const pe_plan_ask *ask, const pe_plan_rules *rules, pe_tree_problem *problem, pe_plan **plan,
				const char **what)
{
	int64_t		part[PE_TREE_PARTS];

	*plan = pe_plan_begin(&tree_kind, ask);
	(*plan)->rules = *rules;
	problem->neighbours = rules->neighbours;
	problem->max_rows = rules->max_rows;
	problem->accounting = ask->accounting;
	problem->nano = pe_plan_nano(ask, false);
	*what = pe_tree_refusal(problem);
	if (*what != NULL)
		return PE_PLAN_REFUSED;
	(*plan)->tree = *problem;
	if (problem->nano > 0 && !pe_tree_split(problem, part))
		return PE_PLAN_SHARES;
	return pe_plan_end(*plan, problem->nano);
}

bool
pe_plan_is_of_tree(const pe_plan *plan, const pe_tables *tables)
{
	const pe_tree_problem *tree = &plan->tree;
	pe_tables	own;
	bool		same;

	if (plan->kind != &tree_kind || tables->attributes != tree->attributes || !pe_tree_tables(tree, &own))
		return false;
	same = own.tables == tables->tables;
	for (int32_t t = 0; same && t < own.tables; t++)
		same = own.set[t] == tables->set[t] && own.first[t + 1] == tables->first[t + 1];
	for (int a = 0; same && a < tree->attributes; a++)
		same = own.cells[a] == tables->cells[a];
	pe_tables_free(&own);
	return same;
}

int64_t *
pe_plan_measure_tree(const pe_plan *plan, const pe_tables *tables, const int64_t *counts, int64_t *values,
					 void (*hold) (void))
{
	pe_allowance allowance = pe_plan_allowance(plan);
	pe_tree_problem run = plan->tree;

	if (plan->kind != &tree_kind)
		pe_bug("a plan that is not of a tree measures one");
	run.allowance = &allowance;
	hold();
	return pe_tree_measure(&run, tables, counts, values);
}
