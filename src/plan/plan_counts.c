/*
 * plan_counts.c
 *	  Plans of counts: a strategy measured with noise, and dawa's two steps.  See plan.h.
 */
#include "plan/private.h"

#include <math.h>

#include "accounting/conversion.h"
#include "base/mem.h"
#include "published/partition.h"
#include "blocks/blocks.h"

/* ----------
 * A strategy, measured with noise
 * ----------
 */
/* In the L1 norm of PE_PURE, else squared in the L2 norm; false if it is too large to be served. */
static bool
sensitivity_of(const pe_strategy *strategy, const pe_plan_rules *rules, pe_accounting accounting, pe_u128 *sensitivity)
{
	return accounting == PE_PURE
		? pe_strategy_sensitivity_l1(strategy, rules->neighbours, rules->max_rows, sensitivity)
		: pe_strategy_sensitivity_sq(strategy, rules->neighbours, rules->max_rows, sensitivity);
}

/* ----------
 * Blocks: what a vector for each of them is drawn with
 * ----------
 */

pe_noise_vector *
pe_plan_vectors_of(const pe_blocks *blocks, const pe_plan_rules *rules, pe_accounting accounting)
{
	pe_noise_vector *vector = pe_alloc((size_t) blocks->blocks, sizeof(*vector));
	pe_u128    *sensitivity = pe_alloc((size_t) blocks->blocks, sizeof(*sensitivity));
	int		   *lattice = pe_alloc((size_t) blocks->blocks, sizeof(*lattice));
	bool		served = (blocks->norm == PE_L1) == (accounting == PE_PURE) &&
		pe_blocks_calibrate(blocks, rules->neighbours, rules->max_rows, sensitivity, lattice);

	for (int32_t b = 0; b < blocks->blocks; b++)
		vector[b] = (pe_noise_vector) {sensitivity[b], lattice[b], (size_t) (blocks->first[b + 1] - blocks->first[b])};
	pe_free(sensitivity);
	pe_free(lattice);
	if (served)
		return vector;
	pe_free(vector);
	return NULL;
}

pe_noise
pe_plan_unit_noise(const pe_blocks *blocks, const pe_plan_rules *rules, pe_accounting accounting)
{
	pe_u128		rows = (pe_u128) rules->max_rows;
	uint64_t	neighbours = pe_blocks_neighbours(blocks, rules->neighbours);

	if (accounting == PE_PURE)
		return (pe_noise) {.accounting = accounting, .sensitivity = rows * neighbours, .lattice = PE_SHARE_BITS};
	return (pe_noise) {.accounting = accounting, .sensitivity = rows * rows * neighbours, .lattice = PE_SHARE_BITS / 2};
}

int *
pe_plan_lattices(const pe_strategy *strategy, const pe_plan_rules *rules, pe_accounting accounting, int64_t nano)
{
	const pe_blocks *blocks = strategy->blocks;
	pe_noise_vector *vector = blocks != NULL ? pe_plan_vectors_of(blocks, rules, accounting) : NULL;
	int		   *lattice;

	if (vector == NULL)
		return NULL;
	lattice = pe_alloc((size_t) blocks->blocks, sizeof(*lattice));
	for (int32_t b = 0; b < blocks->blocks; b++)
	{
		const pe_noise noise = {accounting, vector[b].sensitivity, nano, vector[b].lattice, true};

		lattice[b] = pe_noise_shift(&noise);
	}
	pe_free(vector);
	return lattice;
}

/* Whether noise for a cost of plan->nano can be drawn: of every block. */
static bool
strategy_serves(const pe_plan *plan)
{
	const pe_blocks *blocks = plan->strategy->blocks;

	for (int32_t b = 0; blocks != NULL && b < blocks->blocks; b++)
		if (!pe_noise_is_served(plan->noise.accounting, plan->vector[b].sensitivity, plan->nano))
			return false;
	return pe_noise_is_served(plan->noise.accounting, plan->noise.sensitivity, plan->nano);
}

/* Laplace noise of several widths costs a cap what any pure mechanism does. */
static pe_cost
strategy_cost(const pe_plan *plan)
{
	int64_t		as_rho = 0;

	if (plan->accounting == PE_PURE)
		as_rho = plan->vector != NULL ? pe_nano_rho_of_pure(plan->rules.cap, plan->nano)
			: pe_nano_rho_of_laplace(plan->rules.cap, plan->nano, plan->noise.sensitivity);
	return pe_cost_exact(plan->accounting, plan->nano, as_rho);
}

/* The shares and the sensitivities are of the very blocks that are applied: blocks/blocks.h. */
static void
measure_blocks(const pe_plan *plan, pe_allowance *allowance, const int64_t *counts, pe_i128 *exact,
			   int64_t *released, void (*hold) (void))
{
	const pe_blocks *blocks = plan->strategy->blocks;
	pe_tables	tables;

	if (!pe_blocks_tables(blocks, &tables))
		pe_bug("tables that were read cannot be told");
	pe_blocks_apply(blocks, &tables, counts, exact);
	pe_tables_free(&tables);
	hold();
	pe_noise_draw_vectors(allowance, plan->vector, (size_t) blocks->blocks, plan->noise.nano, exact, released);
}

static void
strategy_measure(const pe_plan *plan, pe_allowance *allowance, const int64_t *columns, pe_i128 *exact,
				 int64_t *released, void (*hold) (void))
{
	size_t		rows = (size_t) plan->strategy->rows;

	if (plan->vector != NULL)
	{
		measure_blocks(plan, allowance, columns, exact, released, hold);
		return;
	}
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
/* Without its cost; false if the sensitivity is too large to be served. */
static bool
noise_of_strategy(const pe_strategy *strategy, const pe_plan_rules *rules, pe_accounting accounting, pe_noise *noise)
{
	if (strategy->blocks != NULL)
	{
		*noise = pe_plan_unit_noise(strategy->blocks, rules, accounting);
		return true;
	}
	*noise = (pe_noise) {.accounting = accounting};
	return sensitivity_of(strategy, rules, accounting, &noise->sensitivity);
}

static pe_plan_status
plan_strategy(const pe_plan_ask *ask, const pe_plan_counts *counts, pe_plan *plan)
{
	int64_t		nano = pe_plan_nano(ask, false);

	if (!noise_of_strategy(counts->strategy, &counts->rules, ask->accounting, &plan->noise))
		return PE_PLAN_SENSITIVE;
	if (counts->strategy->blocks != NULL)
	{
		plan->vector = pe_plan_vectors_of(counts->strategy->blocks, &counts->rules, ask->accounting);
		if (plan->vector == NULL)
			return PE_PLAN_SENSITIVE;
	}
	if (ask->max_stderr > 0)
		nano = pe_noise_least_nano(plan->noise.accounting, plan->noise.sensitivity, ask->max_stderr,
								   ldexp(counts->scale, -plan->noise.lattice));
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
	return plan->kind == &strategy_kind || plan->series.time != NULL ? &plan->noise : NULL;
}

pe_u128
pe_plan_sensitivity(const pe_plan *plan)
{
	return plan->noise.sensitivity;
}

double
pe_plan_stderr_at(const pe_plan *plan, int64_t nano)
{
	pe_noise	noise = plan->noise;

	noise.nano = nano;
	return pe_noise_stderr(&noise);
}

pe_noise *
pe_plan_noise_of(const pe_strategy *strategy, const pe_plan_rules *rules, pe_accounting accounting, int64_t nano)
{
	pe_noise	noise;

	if (!noise_of_strategy(strategy, rules, accounting, &noise))
		return NULL;
	return pe_noise_to_read(accounting, noise.sensitivity, noise.lattice, nano);
}

void
pe_plan_measure(const pe_plan *plan, const int64_t *columns, pe_i128 *exact, int64_t *released, void (*hold) (void))
{
	pe_allowance allowance = pe_plan_allowance(plan);

	if (plan->kind->measure == NULL)
		pe_bug("a plan that is not of counts is measured");
	plan->kind->measure(plan, &allowance, columns, exact, released, hold);
}
