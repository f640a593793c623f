/*
 * plan_dawa.c
 *	  Plans of counts by dawa's two steps.  See plan.h.
 */
#include "plan/private.h"

#include "accounting/conversion.h"
#include "base/mem.h"
#include "published/partition.h"

static bool
dawa_serves(const pe_plan *plan)
{
	return plan->accounting == PE_PURE && plan->nano >= PE_DAWA_LEAST_NANO;
}

/* The second draw has a sensitivity that the first one decides: it costs a cap what any pure mechanism does. */
static pe_cost
dawa_cost(const pe_plan *plan)
{
	pe_dawa_plan shares = plan->dawa;
	pe_intervals intervals;
	int64_t		as_rho;

	pe_dawa_split(&shares, plan->nano);
	pe_intervals_init(&intervals, shares.columns);
	as_rho = pe_nano_rho_of_pure(plan->rules.cap, shares.counts_nano);
	if (shares.partition_nano > 0)
		as_rho += pe_nano_rho_of_laplace(plan->rules.cap, shares.partition_nano,
										 pe_interval_sensitivity(&intervals, shares.neighbours, shares.max_rows));
	return pe_cost_exact(PE_PURE, plan->nano, as_rho);
}

/*
 * The strategy for the buckets takes time: if that is cancelled nothing follows the charge.
 * What is drawn before it leaves the run only through the second draw.
 */
static void
dawa_measure(const pe_plan *plan, pe_allowance *allowance, const int64_t *columns, pe_i128 *exact,
			 int64_t *released, void (*hold) (void))
{
	pe_dawa_plan run = plan->dawa;
	pe_dawa_buckets buckets;

	(void) exact;
	pe_dawa_split(&run, plan->nano);
	run.allowance = allowance;
	pe_dawa_divide(&run, columns, &buckets);
	pe_dawa_prepare(&run, &buckets);
	hold();
	pe_dawa_measure(&run, &buckets, columns, released);
	pe_dawa_buckets_free(&buckets);
}

static const pe_plan_kind dawa_kind = {dawa_serves, dawa_cost, pe_plan_drawn_exactly, dawa_measure};

int64_t
pe_plan_least_dawa(void)
{
	return PE_DAWA_LEAST_NANO;
}

pe_plan_status
pe_plan_of_dawa(const pe_plan_ask *ask, const pe_plan_counts *counts, pe_plan **made)
{
	pe_plan    *plan = *made = pe_plan_begin(&dawa_kind, ask);

	plan->strategy = counts->strategy;
	plan->rules = counts->rules;
	plan->dawa.columns = counts->strategy->columns;
	plan->dawa.v = counts->gram;
	plan->dawa.neighbours = counts->rules.neighbours;
	plan->dawa.max_rows = counts->rules.max_rows;
	return pe_plan_end(plan, pe_plan_nano(ask, false));
}
