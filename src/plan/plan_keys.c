/*
 * plan_keys.c
 *	  Plans of keys that nobody has listed.  See plan.h and counts/key_threshold.h.
 */
#include "plan/private.h"

#include "accounting/conversion.h"
#include "base/mem.h"
#include "counts/key_threshold.h"
#include "noise/noise.h"

/* A count of 1 in the units of a release. */
static int64_t
one(const pe_plan *plan)
{
	return INT64_C(1) << pe_noise_shift(&plan->noise);
}

/* The least noise that passes with a count of 1, in the units of a release; 0: there is none. */
static int64_t
least_tail(const pe_plan *plan)
{
	pe_u128		p;
	uint64_t	q;

	return pe_noise_gaussian_law(&plan->noise, &p, &q)
		? pe_keys_least_tail(p, q, plan->rules.max_rows, plan->delta_atto) : 0;
}

static bool
keys_serve(const pe_plan *plan)
{
	return plan->delta_atto > 0 &&
		pe_noise_is_served(plan->noise.accounting, plan->noise.sensitivity, plan->nano) && least_tail(plan) > 0;
}

/* The delta that is charged is the one that the threshold is for. */
static pe_cost
keys_cost(const pe_plan *plan)
{
	return pe_cost_but_for(plan->accounting, plan->nano, plan->delta_atto);
}

static const pe_plan_kind keys_kind = {keys_serve, keys_cost, pe_plan_drawn_exactly, NULL};

pe_plan_status
pe_plan_of_keys(const pe_plan_ask *ask, const pe_plan_rules *rules, double delta, pe_plan **plan)
{
	*plan = pe_plan_begin(&keys_kind, ask);
	(*plan)->rules = *rules;
	(*plan)->delta_atto = pe_atto_down(delta);
	(*plan)->noise = (pe_noise) {
		.accounting = ask->accounting, .sensitivity = pe_keys_sensitivity_sq(rules->neighbours, rules->max_rows)
	};
	if (ask->accounting == PE_PURE)
		return PE_PLAN_COST;
	return pe_plan_end(*plan, pe_plan_nano(ask, false));
}

int64_t
pe_plan_key_threshold(const pe_plan *plan)
{
	if (plan->kind != &keys_kind)
		pe_bug("a plan that is not of keys has no threshold");
	return one(plan) + least_tail(plan);
}

const pe_noise *
pe_plan_key_noise(const pe_plan *plan)
{
	return plan->kind == &keys_kind ? &plan->noise : NULL;
}

struct pe_plan_key_run
{
	const pe_plan *plan;
	pe_noise_parts *parts;
	int64_t		threshold;
};

pe_plan_key_run *
pe_plan_begin_keys(const pe_plan *plan)
{
	pe_plan_key_run *run = pe_alloc(1, sizeof(*run));
	pe_allowance allowance = pe_plan_allowance(plan);

	run->plan = plan;
	run->threshold = pe_plan_key_threshold(plan);
	run->parts = pe_noise_begin_parts(&allowance, plan->noise.sensitivity, plan->noise.nano);
	return run;
}

/* So many at a time, for memory. */
#define STEP 4096

/*
 * A slot without a key is drawn for and looked at like any other, and has a count of 0.  Where a key passes it is
 * kept; that takes a moment, and is what is released.
 */
static size_t
draw_step(const pe_plan_key_run *run, const pe_key_count *slot, size_t slots, pe_released_key *passed)
{
	pe_i128		exact[STEP];
	int64_t		noisy[STEP];
	size_t		kept = 0;

	for (size_t i = 0; i < slots; i++)
		exact[i] = (pe_i128) slot[i].count;
	pe_noise_draw_part(run->parts, exact, slots, noisy);
	for (size_t i = 0; i < slots; i++)
	{
		passed[kept] = (pe_released_key) {slot[i].number, noisy[i]};
		kept += slot[i].count > 0 && noisy[i] >= run->threshold;
	}
	pe_wipe(noisy, sizeof(noisy));
	return kept;
}

size_t
pe_plan_draw_keys(const pe_plan_key_run *run, const pe_key_count *slot, size_t slots,
				  pe_released_key *passed, size_t most)
{
	pe_released_key step[STEP];
	size_t		kept = 0;

	for (size_t at = 0; at < slots; at += STEP)
	{
		size_t		found = draw_step(run, slot + at, slots - at < STEP ? slots - at : STEP, step);

		for (size_t i = 0; i < found && kept < most; i++)
			passed[kept++] = step[i];
	}
	pe_wipe(step, sizeof(step));
	return kept;
}

void
pe_plan_end_keys(pe_plan_key_run *run)
{
	if (run != NULL)
		pe_free(run->parts);
	pe_free(run);
}
