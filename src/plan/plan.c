/*
 * plan.c
 *	  What all kinds of plans have: the one cost, the allowance of a run, and the draw.  See plan.h.
 */
#include "plan/private.h"

#include <math.h>
#include <string.h>

#include "accounting/conversion.h"
#include "base/mem.h"

pe_plan *
pe_plan_begin(const pe_plan_kind *kind, const pe_plan_ask *ask)
{
	pe_plan    *plan = pe_alloc(1, sizeof(*plan));

	plan->kind = kind;
	plan->accounting = ask->accounting;
	plan->delta = ask->accounting == PE_PURE ? 0 : ask->delta;
	return plan;
}

int64_t
pe_plan_nano(const pe_plan_ask *ask, bool approximate)
{
	bool		pure = ask->accounting == PE_PURE;
	int64_t		rho;

	if (!isnan(ask->epsilon))
		return pure || approximate ? pe_nano_rho_down(ask->epsilon)
			: pe_nano_rho_of_epsilon(ask->accounting, ask->epsilon, ask->delta);
	if (isnan(ask->rho) || pure)
		return 0;
	rho = pe_nano_rho_down(ask->rho);
	return approximate ? pe_nano_pure_of_rho(ask->accounting, rho) : rho;
}

/* The noise, if it is of a single draw, is calibrated to the same integer that the cost is made of. */
pe_plan_status
pe_plan_end(pe_plan *plan, int64_t nano)
{
	if (nano <= 0 || (plan->accounting == PE_PURE && (double) nano > PE_EPSILON_MAX * 1e9))
		return PE_PLAN_COST;
	plan->nano = nano;
	plan->noise.nano = nano - plan->nano_of_sums;
	if (!plan->kind->serves(plan))
		return PE_PLAN_COST;
	plan->cost = plan->kind->cost(plan);
	return PE_PLAN_MADE;
}

int64_t
pe_plan_drawn_exactly(const pe_plan *plan)
{
	return plan->accounting == PE_PURE ? plan->cost.amount.epsilon_nano : plan->cost.amount.rho_nano;
}

pe_allowance
pe_plan_allowance(const pe_plan *plan)
{
	return (pe_allowance) {.accounting = plan->accounting, .left = plan->kind->drawn(plan)};
}

void
pe_plan_measure(const pe_plan *plan, const int64_t *columns, pe_i128 *exact, int64_t *released, void (*hold) (void))
{
	pe_allowance allowance = pe_plan_allowance(plan);

	if (plan->kind->measure == NULL)
		pe_bug("a plan that is not of counts is measured");
	plan->kind->measure(plan, &allowance, columns, exact, released, hold);
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

	if (own->cap != rules->cap)
		return false;
	if (own->max_change > 0)
		return own->max_change == rules->max_change && own->change_all == rules->change_all;
	return own->max_change == rules->max_change && own->neighbours == rules->neighbours &&
		own->max_rows == rules->max_rows &&
		own->by_size == rules->by_size;
}

double
pe_plan_epsilon(const pe_plan *plan)
{
	/* a series that is prolonged has the noise of a part that was paid for before */
	int64_t		nano = plan->series.time != NULL ? plan->cost.amount.rho_nano : plan->nano;

	if (plan->accounting == PE_PURE || plan->approximate)
		return (double) nano / 1e9;
	return pe_epsilon_of_rho(plan->accounting, (double) nano * 1e-9, plan->delta);
}
