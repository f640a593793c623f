/*
 * plan_sums.c
 *	  Plans of sums: several vectors of sums and counts, each measured by a
 *	  strategy of its own, from one scan, for one cost.
 *
 * Released: y_i = A_i x_i + noise_i for every part i.  x_i are sums by cells of
 * what rows add, integers in [-B_i, B_i] (of counts in [0, 1]); or counts of
 * units by cells (domain/sums.h).
 *
 * Neighbours and sensitivity, of the dataset's rules; |a| is the largest norm
 * of a column of A_i.  A unit adds to A_i x_i at most k vectors b a_j, b in
 * [-B_i, B_i], k rows being left of each unit.  So
 *
 *		rows		add_remove  k B_i |a|          (norms are convex)
 *					substitute  2 k B_i |a|        two such sums; of counts, b in {0, 1}, the strategy's own
 *												   distance (strategy/strategy.h)
 *		units		pe_strategy_people_sq and _l1 (strategy/people.c), for at most `cells` cells of a unit
 *
 * All are integers, computed from the very A_i.  Part i gets noise for
 * Delta_i / sqrt(share_i) (PE_PURE: Delta_i / share_i).  Shares are positive
 * and add up to at most 1, so that for all neighbours together sum_i |A_i (x_i
 * - x_i')|^2 / sigma_i^2 <= 2 rho (strategy/share.h): discrete Gaussian noise
 * with a variance for each coordinate (Canonne, Kamath, Steinke,
 * arXiv:2004.00010, Theorem 14).  PE_PURE: the same of L1 norms and scales.
 *
 * A condition, a number that is absent and an attribute without a cell only
 * make b smaller.
 *
 * Cost: that rho; a pure epsilon costs a cap in rho what any pure mechanism
 * does.
 */
#include "plan/private.h"

#include <math.h>
#include <string.h>

#include "accounting/conversion.h"
#include "base/mem.h"
#include "strategy/share.h"

/* ------------------------------------------------------------------
 * Sensitivity
 * ------------------------------------------------------------------
 */

/* b^2 (PE_PURE: b) times; false if it is beyond what is served. */
static bool
enlarge(pe_u128 *sensitivity, uint64_t b, bool pure)
{
	for (int i = pure ? 1 : 2; i > 0; i--)
	{
		if (*sensitivity >= PE_LARGEST_SENSITIVITY / b)
			return false;
		*sensitivity *= b;
	}
	return true;
}

static bool
rows_sensitivity(const pe_plan_part *part, const pe_plan_rules *rules, bool pure, pe_u128 *sensitivity)
{
	/* what is signed can move from one bound to the other in the same cell */
	bool		doubled = part->is_signed && rules->neighbours == PE_SUBSTITUTE;
	pe_neighbours neighbours = part->is_signed ? PE_ADD_REMOVE : rules->neighbours;
	bool		served = pure
		? pe_strategy_sensitivity_l1(part->strategy, neighbours, rules->max_rows, sensitivity)
		: pe_strategy_sensitivity_sq(part->strategy, neighbours, rules->max_rows, sensitivity);

	return served && enlarge(sensitivity, (uint64_t) part->bound, pure) && (!doubled || enlarge(sensitivity, 2, pure));
}

static bool
units_sensitivity(const pe_plan_part *part, const pe_plan_rules *rules, bool pure, pe_u128 *sensitivity)
{
	return pure ? pe_strategy_people_l1(part->strategy, rules->neighbours, part->cells, sensitivity)
		: pe_strategy_people_sq(part->strategy, rules->neighbours, part->cells, sensitivity);
}

bool
pe_plan_part_sensitivity(const pe_plan_part *part, const pe_plan_rules *rules,
						 pe_accounting accounting, pe_u128 *sensitivity)
{
	bool		pure = accounting == PE_PURE;

	if (part->cells < 0 || part->bound < 1 || (part->cells > 0 && (part->is_signed || part->bound != 1)))
		pe_bug("a part of sums that cannot be");
	return part->cells > 0 ? units_sensitivity(part, rules, pure, sensitivity)
		: rows_sensitivity(part, rules, pure, sensitivity);
}

/* ------------------------------------------------------------------
 * Noise
 * ------------------------------------------------------------------
 */

bool
pe_plan_part_vector(const pe_plan_part *part, const pe_plan_rules *rules, pe_accounting accounting,
					pe_noise_vector *vector)
{
	const uint64_t whole = PE_WHOLE_SHARE;
	pe_u128		sensitivity;

	if (part->strategy->blocks != NULL)
		pe_bug("sums are not measured by blocks");
	vector->count = (size_t) part->strategy->rows;
	return pe_plan_part_sensitivity(part, rules, accounting, &sensitivity) &&
		pe_share_calibrate(accounting == PE_PURE ? PE_L1 : PE_L2, sensitivity, &whole, 1,
						   part->share, &vector->sensitivity, &vector->lattice);
}

pe_noise *
pe_plan_noise_of_part(const pe_plan_part *part, const pe_plan_rules *rules, pe_accounting accounting, int64_t nano)
{
	pe_noise_vector vector;
	pe_noise   *noise;

	if (!pe_plan_part_vector(part, rules, accounting, &vector))
		return NULL;
	noise = pe_alloc(1, sizeof(*noise));
	*noise = (pe_noise) {accounting, vector.sensitivity, nano, vector.lattice, true};
	return noise;
}

/* ------------------------------------------------------------------
 * The kind
 * ------------------------------------------------------------------
 */

static bool
sums_serve(const pe_plan *plan)
{
	for (int i = 0; i < plan->parts; i++)
		if (!pe_noise_is_served(plan->accounting, plan->vector[i].sensitivity, plan->nano))
			return false;
	return true;
}

static pe_cost
sums_cost(const pe_plan *plan)
{
	return pe_cost_exact(plan->accounting, plan->nano,
						 plan->accounting == PE_PURE ? pe_nano_rho_of_pure(plan->rules.cap, plan->nano) : 0);
}

void
pe_plan_apply_parts(const pe_plan *plan, const int64_t *columns, pe_i128 *exact)
{
	for (int i = 0; i < plan->parts; i++)
	{
		pe_strategy_apply(plan->part[i].strategy, columns, exact);
		columns += plan->part[i].strategy->columns;
		exact += plan->part[i].strategy->rows;
	}
}

static void
sums_measure(const pe_plan *plan, pe_allowance *allowance, const int64_t *columns, pe_i128 *exact,
			 int64_t *released, void (*hold) (void))
{
	pe_plan_apply_parts(plan, columns, exact);
	hold();
	pe_noise_draw_vectors(allowance, plan->vector, (size_t) plan->parts, plan->nano, exact, released);
}

static const pe_plan_kind sums_kind = {sums_serve, sums_cost, pe_plan_drawn_exactly, sums_measure};

void
pe_plan_take_parts(pe_plan *plan, const pe_plan_sums *sums)
{
	uint64_t	left = PE_WHOLE_SHARE;

	plan->parts = sums->parts;
	plan->part = pe_alloc((size_t) sums->parts, sizeof(*plan->part));
	memcpy(plan->part, sums->part, (size_t) sums->parts * sizeof(*plan->part));
	for (int i = 0; i < sums->parts; i++)
	{
		if (plan->part[i].share == 0 || plan->part[i].share > left)
			pe_bug("shares of sums that are more than the whole");
		left -= plan->part[i].share;
	}
}

pe_plan_status
pe_plan_of_sums(const pe_plan_ask *ask, const pe_plan_sums *sums, pe_plan **made)
{
	pe_plan    *plan = *made = pe_plan_begin(&sums_kind, ask);
	int64_t		nano = pe_plan_nano(ask, false);
	const pe_noise_vector *bounded;

	pe_plan_take_parts(plan, sums);
	plan->rules = sums->rules;
	plan->vector = pe_alloc((size_t) plan->parts, sizeof(*plan->vector));
	for (int i = 0; i < plan->parts; i++)
		if (!pe_plan_part_vector(&plan->part[i], &plan->rules, ask->accounting, &plan->vector[i]))
			return PE_PLAN_SENSITIVE;
	bounded = &plan->vector[sums->bounded];
	if (ask->max_stderr > 0)
		nano = pe_noise_least_nano(ask->accounting, bounded->sensitivity, ask->max_stderr,
								   ldexp(sums->scale, -bounded->lattice));
	return pe_plan_end(plan, nano);
}

bool
pe_plan_is_of_sums(const pe_plan *plan, const pe_sums *sums)
{
	bool		same = (plan->kind == &sums_kind || plan->series.sums != NULL) && plan->parts == sums->sums;

	for (int i = 0; same && i < plan->parts; i++)
		same = plan->part[i].bound >= pe_sum_bound(sums, &sums->sum[i]) &&
			plan->part[i].is_signed == pe_sum_is_signed(&sums->sum[i]) &&
			plan->part[i].cells == sums->sum[i].most;
	return same;
}

int64_t
pe_plan_rows(const pe_plan *plan)
{
	int64_t		rows = 0;

	for (int i = 0; i < plan->parts; i++)
		rows += plan->part[i].strategy->rows;
	return rows;
}
