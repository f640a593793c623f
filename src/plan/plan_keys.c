/*
 * plan_keys.c
 *	  Plans of keys that nobody has listed, and of sums of those that pass.  See plan.h and counts/key_threshold.h.
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

/* Whether noise of the sums can be drawn, if there are any. */
static bool
sums_serve(const pe_plan *plan)
{
	for (int32_t i = 0; i < plan->vectors; i++)
		if (!pe_noise_is_served(plan->accounting, plan->vector[i].sensitivity, plan->nano_of_sums))
			return false;
	return true;
}

static bool
keys_serve(const pe_plan *plan)
{
	return plan->delta_atto > 0 &&
		pe_noise_is_served(plan->noise.accounting, plan->noise.sensitivity, plan->noise.nano) &&
		least_tail(plan) > 0 && sums_serve(plan);
}

/* The delta that is charged is the one that the threshold is for. */
static pe_cost
keys_cost(const pe_plan *plan)
{
	return pe_cost_but_for(plan->accounting, plan->nano, plan->delta_atto);
}

static const pe_plan_kind keys_kind = {keys_serve, keys_cost, pe_plan_drawn_exactly, NULL};

static pe_plan *
begin_plan(const pe_plan_ask *ask, const pe_plan_rules *rules, double delta)
{
	pe_plan    *plan = pe_plan_begin(&keys_kind, ask);

	plan->rules = *rules;
	plan->delta_atto = pe_atto_down(delta);
	plan->noise = (pe_noise) {
		.accounting = ask->accounting, .sensitivity = pe_keys_sensitivity_sq(rules->neighbours, rules->max_rows)
	};
	return plan;
}

pe_plan_status
pe_plan_of_keys(const pe_plan_ask *ask, const pe_plan_rules *rules, double delta, pe_plan **plan)
{
	*plan = begin_plan(ask, rules, delta);
	return ask->accounting == PE_PURE ? PE_PLAN_COST : pe_plan_end(*plan, pe_plan_nano(ask, false));
}

static void
check_parts(const pe_plan_sums *sums)
{
	for (int i = 0; i < sums->parts; i++)
	{
		const pe_plan_part *part = &sums->part[i];
		bool		of_values = part->distinct > 0 && pe_strategy_counts_columns(part->strategy);

		if (part->strategy->blocks != NULL || !(pe_plan_part_is_of_rows(part) || of_values))
			pe_bug("sums of keys that are not of rows or values, or by blocks");
	}
}

/* The vectors of the parts, for one key.  False if a sensitivity is too large to be served. */
static bool
find_vectors(pe_plan *plan, const pe_plan_sums *sums)
{
	check_parts(sums);
	pe_plan_take_parts(plan, sums);
	plan->rules.by_keys = true;
	if (!pe_plan_find_apart(plan->part, plan->parts, &plan->rules, plan->accounting))
		return false;
	plan->vector = pe_plan_vectors_of_parts(plan->part, plan->parts, &plan->rules, plan->accounting, &plan->vectors);
	return plan->vector != NULL;
}

pe_plan_status
pe_plan_of_key_sums(const pe_plan_ask *ask, const pe_plan_rules *rules, double delta, const pe_plan_sums *sums,
					uint64_t share, pe_plan **made)
{
	pe_plan    *plan = *made = begin_plan(ask, rules, delta);
	int64_t		nano = pe_plan_nano(ask, false);

	if (ask->accounting == PE_PURE || nano <= 0)
		return PE_PLAN_COST;
	if (share == 0 || share >= PE_WHOLE_SHARE)
		pe_bug("counts of keys without a share, or sums of them");
	if (!find_vectors(plan, sums))
		return PE_PLAN_SENSITIVE;
	/* rounded down, and up: both together are the cost */
	plan->nano_of_sums = nano - (int64_t) (((pe_u128) nano * share) >> PE_SHARE_BITS);
	return plan->nano_of_sums == nano ? PE_PLAN_SHARES : pe_plan_end(plan, nano);
}

int64_t
pe_plan_nano_of_key_sums(const pe_plan *plan)
{
	return plan->nano_of_sums;
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
	pe_allowance allowance;		/* what is left of the cost */
	pe_noise_parts *parts;
	int64_t		threshold;
};

pe_plan_key_run *
pe_plan_begin_keys(const pe_plan *plan)
{
	pe_plan_key_run *run = pe_alloc(1, sizeof(*run));

	run->plan = plan;
	run->allowance = pe_plan_allowance(plan);
	run->threshold = pe_plan_key_threshold(plan);
	run->parts = pe_noise_begin_parts(&run->allowance, plan->noise.sensitivity, plan->noise.nano);
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

/* Where the sums of a key stand among those of `keys`, part by part; rows: of all parts before. */
static size_t
place_of(size_t keys, size_t rows, size_t key, size_t own)
{
	return keys * rows + key * own;
}

/* A_i x_i of all keys, part by part: each part is one vector. */
static void
apply_keys(const pe_plan *plan, const int64_t *columns, size_t keys, pe_i128 *exact, pe_i128 *one)
{
	for (size_t key = 0; key < keys; key++)
	{
		size_t		rows = 0;

		pe_plan_apply_parts(plan, columns, one);
		for (int i = 0; i < plan->parts; i++)
		{
			size_t		own = (size_t) plan->part[i].strategy->rows;

			for (size_t r = 0; r < own; r++)
				exact[place_of(keys, rows, key, own) + r] = one[rows + r];
			rows += own;
			columns += pe_plan_part_columns(&plan->part[i]);
		}
	}
}

/* From part by part to key by key. */
static void
release_keys(const pe_plan *plan, const int64_t *noisy, size_t keys, int64_t *released)
{
	for (size_t key = 0; key < keys; key++)
	{
		size_t		rows = 0;

		for (int i = 0; i < plan->parts; i++)
		{
			size_t		own = (size_t) plan->part[i].strategy->rows;

			for (size_t r = 0; r < own; r++)
				*released++ = noisy[place_of(keys, rows, key, own) + r];
			rows += own;
		}
	}
}

void
pe_plan_draw_key_sums(pe_plan_key_run *run, const int64_t *columns, size_t keys, int64_t *released)
{
	const pe_plan *plan = run->plan;
	size_t		rows = (size_t) pe_plan_rows(plan);
	pe_i128    *exact = pe_alloc((keys + 1) * rows, sizeof(*exact));
	int64_t    *noisy = pe_alloc(keys * rows + 1, sizeof(*noisy));
	pe_noise_vector *vector = pe_alloc((size_t) plan->vectors, sizeof(*vector));

	for (int32_t i = 0; i < plan->vectors; i++)
	{
		vector[i] = plan->vector[i];
		vector[i].count *= keys;
	}
	apply_keys(plan, columns, keys, exact, exact + keys * rows);
	pe_plan_draw_parts(plan, &run->allowance, vector, plan->nano_of_sums, exact, noisy);
	release_keys(plan, noisy, keys, released);
	pe_wipe(exact, (keys + 1) * rows * sizeof(*exact));
	pe_wipe(noisy, keys * rows * sizeof(*noisy));
	pe_free(vector);
	pe_free(noisy);
	pe_free(exact);
}

void
pe_plan_end_keys(pe_plan_key_run *run)
{
	if (run != NULL)
		pe_free(run->parts);
	pe_free(run);
}
