/*
 * plan_minimum.c
 *	  Plans of private minima.  See plan.h.
 */
#include "plan/private.h"

#include "accounting/conversion.h"

static bool
minimum_serves(const pe_plan *plan)
{
	return plan->nano >= pe_minimum_least_cost(&plan->minimum) && (double) plan->nano <= PE_EPSILON_MAX * 1e9;
}

/*
 * The range of the exponential mechanism is bounded, for anything that it draws
 * from (minimum/minimum_exponential.c).
 */
static pe_cost
minimum_cost(const pe_plan *plan)
{
	bool		ranged = plan->minimum.method == PE_MINIMUM_EXPONENTIAL;

	return pe_cost_exact(plan->accounting, plan->nano, ranged ? pe_nano_rho_of_range(plan->rules.cap, plan->nano) : 0);
}

static const pe_plan_kind minimum_kind = {minimum_serves, minimum_cost, pe_plan_drawn_exactly, NULL};

pe_plan_status
pe_plan_of_minimum(const pe_plan_ask *ask, pe_minimum_problem *problem, pe_plan **plan, const char **what)
{
	*plan = pe_plan_begin(&minimum_kind, ask);
	(*plan)->rules = (pe_plan_rules) {.max_change = problem->max_change, .change_all = problem->all, .cap = ask->cap};
	problem->accounting = ask->accounting;
	*what = pe_minimum_defaults(problem);
	if (*what != NULL)
		return PE_PLAN_OPTION;
	problem->nano = pe_plan_nano(ask, false);
	(*plan)->minimum = *problem;
	return pe_plan_end(*plan, problem->nano);
}

void
pe_plan_minimise(const pe_plan *plan, const pe_affine *f, double *x)
{
	pe_allowance allowance = pe_plan_allowance(plan);
	pe_minimum_problem run = plan->minimum;

	run.allowance = &allowance;
	pe_minimum_run(&run, f, x);
}
