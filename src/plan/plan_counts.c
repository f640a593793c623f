/*
 * plan_counts.c
 *	  Plans of counts: a strategy measured with noise, and dawa's two steps.  See plan.h.
 */
#include "plan/private.h"

#include "accounting/conversion.h"
#include "base/mem.h"
#include "published/partition.h"

/* ----------
 * A strategy, measured with noise
 * ----------
 */
bool
pe_plan_sensitivity_of(const pe_strategy *strategy, const pe_plan_rules *rules, pe_accounting accounting, pe_u128 *sensitivity)
{
	return accounting == PE_PURE
		? pe_strategy_sensitivity_l1(strategy, rules->neighbours, rules->max_rows, sensitivity)
		: pe_strategy_sensitivity_sq(strategy, rules->neighbours, rules->max_rows, sensitivity);
}

static bool
strategy_serves(const pe_plan *plan)
{
	return pe_noise_is_served(plan->noise.accounting, plan->noise.sensitivity, plan->nano);
}

static pe_cost
strategy_cost(const pe_plan *plan)
{
	bool		pure = plan->accounting == PE_PURE;

	return pe_cost_exact(plan->accounting, plan->nano,
						 pure ? pe_nano_rho_of_laplace(plan->rules.cap, plan->nano, plan->noise.sensitivity) : 0);
}

static void
strategy_measure(const pe_plan *plan, pe_allowance *allowance, const int64_t *columns, pe_i128 *exact,
				 int64_t *released, void (*hold) (void))
{
	size_t		rows = (size_t) plan->strategy->rows;

	pe_strategy_apply(plan->strategy, columns, exact);
	hold();
	pe_noise_draw_fine(allowance, plan->noise.sensitivity, plan->noise.nano, exact, rows, released);
}

static const pe_plan_kind strategy_kind = {strategy_serves, strategy_cost, pe_plan_drawn_exactly, strategy_measure};

/* ----------
 * dawa
 * ----------
 */
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

/* ----------
 * Both
 * ----------
 */
static pe_plan_status
plan_strategy(const pe_plan_ask *ask, const pe_plan_counts *counts, pe_plan *plan)
{
	int64_t		nano = pe_plan_nano(ask, false);

	plan->noise.accounting = ask->accounting;
	if (!pe_plan_sensitivity_of(counts->strategy, &counts->rules, plan->noise.accounting, &plan->noise.sensitivity))
		return PE_PLAN_SENSITIVE;
	if (ask->max_stderr > 0)
		nano = pe_noise_least_nano(plan->noise.accounting, plan->noise.sensitivity, ask->max_stderr, counts->scale);
	return pe_plan_end(plan, nano);
}

static pe_plan_status
plan_dawa(const pe_plan_ask *ask, const pe_plan_counts *counts, pe_plan *plan)
{
	plan->dawa.columns = counts->strategy->columns;
	plan->dawa.v = counts->gram;
	plan->dawa.neighbours = counts->rules.neighbours;
	plan->dawa.max_rows = counts->rules.max_rows;
	return pe_plan_end(plan, pe_plan_nano(ask, false));
}

pe_plan_status
pe_plan_of_counts(const pe_plan_ask *ask, const pe_plan_counts *counts, pe_plan **plan)
{
	*plan = pe_plan_begin(counts->gram != NULL ? &dawa_kind : &strategy_kind, ask);
	(*plan)->strategy = counts->strategy;
	(*plan)->rules = counts->rules;
	return (counts->gram != NULL ? plan_dawa : plan_strategy) (ask, counts, *plan);
}

const pe_noise *
pe_plan_noise(const pe_plan *plan)
{
	return plan->kind == &strategy_kind ? &plan->noise : NULL;
}

pe_u128
pe_plan_sensitivity(const pe_plan *plan)
{
	return plan->noise.sensitivity;
}

double
pe_plan_stderr_at(const pe_plan *plan, int64_t nano)
{
	return pe_noise_stderr_of(plan->noise.accounting, plan->noise.sensitivity, nano);
}

pe_noise *
pe_plan_noise_of(const pe_strategy *strategy, const pe_plan_rules *rules, pe_accounting accounting, int64_t nano)
{
	pe_u128		sensitivity;

	if (!pe_plan_sensitivity_of(strategy, rules, accounting, &sensitivity))
		return NULL;
	return pe_noise_to_read(accounting, sensitivity, nano);
}

void
pe_plan_measure(const pe_plan *plan, const int64_t *columns, pe_i128 *exact, int64_t *released, void (*hold) (void))
{
	pe_allowance allowance = pe_plan_allowance(plan);

	if (plan->kind->measure == NULL)
		pe_bug("a plan that is not of counts is measured");
	plan->kind->measure(plan, &allowance, columns, exact, released, hold);
}
