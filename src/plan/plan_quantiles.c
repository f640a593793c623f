/*
 * plan_quantiles.c
 *	  Plans of quantiles on a public grid.  See plan.h.
 *
 * Released: points of a public grid, one for each group and fraction, by levels of exponential mechanisms.
 * Neighbours: add_remove and substitute of a unit with at most max_rows rows.  Sensitivity: of each level's selections
 * together, in integers, and why: counts/quantile_select.h.  Cost: each level has bounded range eta for its part of
 * the cost, and parts add up; a cap that counts rho is charged what each level's range costs.
 */
#include "plan/private.h"

#include "accounting/conversion.h"
#include "base/mem.h"

static bool
quantiles_serves(const pe_plan *plan)
{
	return plan->nano >= pe_quantile_levels(plan->quantiles.fractions) && (double) plan->nano <= PE_EPSILON_MAX * 1e9;
}

/* A pure epsilon of a level is its range. */
static pe_cost
quantiles_cost(const pe_plan *plan)
{
	int32_t		levels = pe_quantile_levels(plan->quantiles.fractions);
	int64_t		as_rho = 0;

	for (int32_t i = 0; plan->accounting == PE_PURE && i < levels; i++)
		as_rho += pe_nano_rho_of_range(plan->rules.cap, pe_quantile_level_nano(plan->nano, levels, i));
	return pe_cost_exact(plan->accounting, plan->nano, as_rho);
}

static const pe_plan_kind quantiles_kind = {quantiles_serves, quantiles_cost, pe_plan_drawn_exactly, NULL};

pe_plan_status
pe_plan_of_quantiles(const pe_plan_ask *ask, const pe_plan_rules *rules,
					 pe_quantile_problem *problem, pe_plan **plan, const char **what)
{
	*plan = pe_plan_begin(&quantiles_kind, ask);
	(*plan)->rules = *rules;
	problem->neighbours = rules->neighbours;
	problem->max_rows = rules->max_rows;
	problem->accounting = ask->accounting;
	problem->nano = pe_plan_nano(ask, false);
	*what = pe_quantile_refusal(problem);
	if (*what != NULL)
		return PE_PLAN_REFUSED;
	(*plan)->quantiles = *problem;
	if (problem->nano > 0 && problem->nano < pe_quantile_levels(problem->fractions))
		return PE_PLAN_SHARES;
	return pe_plan_end(*plan, problem->nano);
}

void
pe_plan_select_quantiles(const pe_plan *plan, const int64_t *count, int32_t *chosen, void (*hold) (void))
{
	pe_allowance allowance = pe_plan_allowance(plan);
	pe_quantile_problem run = plan->quantiles;

	if (plan->kind != &quantiles_kind)
		pe_bug("a plan that is not of quantiles selects them");
	run.allowance = &allowance;
	hold();
	pe_quantile_select(&run, count, chosen);
}
