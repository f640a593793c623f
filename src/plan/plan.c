/*
 * plan.c
 *	  What all kinds of plans have: the one cost, and the allowance of a run.  See plan.h.
 */
#include "plan/private.h"

#include <math.h>
#include <string.h>

#include "accounting/zcdp.h"
#include "base/mem.h"

pe_plan *
pe_plan_begin(const pe_plan_kind *kind, const pe_plan_ask *ask)
{
	pe_plan    *plan = pe_alloc(1, sizeof(*plan));

	plan->kind = kind;
	plan->pure = ask->pure;
	plan->delta = ask->pure ? 0 : ask->delta;
	return plan;
}

int64_t
pe_plan_nano(const pe_plan_ask *ask, bool approximate)
{
	if (!isnan(ask->epsilon))
		return ask->pure || approximate ? pe_nano_rho_down(ask->epsilon) : pe_nano_rho_of_epsilon(ask->epsilon, ask->delta);
	if (isnan(ask->rho) || ask->pure)
		return 0;
	return approximate ? pe_nano_pure_of_rho(pe_nano_rho_down(ask->rho)) : pe_nano_rho_down(ask->rho);
}

/* The noise, if it is of a single draw, is calibrated to the same integer that the cost is made of. */
pe_plan_status
pe_plan_end(pe_plan *plan, int64_t nano)
{
	if (nano <= 0 || (plan->pure && (double) nano > PE_EPSILON_MAX * 1e9))
		return PE_PLAN_COST;
	plan->nano = nano;
	plan->noise.nano = nano;
	if (!plan->kind->serves(plan))
		return PE_PLAN_COST;
	plan->cost = plan->kind->cost(plan);
	return PE_PLAN_MADE;
}

int64_t
pe_plan_drawn_exactly(const pe_plan *plan)
{
	return plan->pure ? plan->cost.amount.epsilon_nano : plan->cost.amount.rho_nano;
}

pe_allowance
pe_plan_allowance(const pe_plan *plan)
{
	return (pe_allowance) {.pure = plan->pure, .left = plan->kind->drawn(plan)};
}

const pe_cost *
pe_plan_cost(const pe_plan *plan)
{
	return &plan->cost;
}

bool
pe_plan_follows(const pe_plan *plan, const pe_plan_rules *rules)
{
	const pe_plan_rules *own = &plan->rules;

	if (own->max_change > 0)
		return own->max_change == rules->max_change && own->change_all == rules->change_all;
	return own->max_change == rules->max_change && own->neighbours == rules->neighbours && own->max_rows == rules->max_rows;
}

double
pe_plan_epsilon(const pe_plan *plan)
{
	return plan->pure || plan->approximate ? (double) plan->nano / 1e9 : pe_zcdp_epsilon((double) plan->nano * 1e-9, plan->delta);
}
