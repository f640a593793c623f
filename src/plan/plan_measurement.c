/*
 * plan_measurement.c
 *	  Plans of a measurement: vectors of sums and counts, each measured by a
 *	  strategy of its own, from one scan, for one cost.
 *
 * Released: y_i = A_i x_i + noise_i for every part i.  x_i are sums by cells of
 * what rows add, integers in [-B_i, B_i] (of counts in [0, 1]); or counts of
 * units by cells (domain/sums.h).  A histogram is one part, of counts, with the
 * whole cost.
 *
 * Neighbours and sensitivity, of the dataset's rules; |a| is the largest norm
 * of a column of A_i.  A unit adds to A_i x_i at most k vectors b a_j, b in
 * [-B_i, B_i], k rows being left of each unit.  So
 *
 *		rows		add_remove  k B_i |a|          (norms are convex)
 *					substitute  2 k B_i |a|        two such sums; of counts, b in {0, 1}, the strategy's own
 *												   distance (strategy/strategy.h)
 *		units		pe_strategy_people_sq and _l1 (strategy/people.c), for at most `cells` cells of a unit
 *		lost		as rows of counts, for at most `lost` rows of a unit in place of k
 *		distinct	of V values: what k rows of counts add, at most min(k, V) in each group, as below
 *
 * Rows that the cut left out (PE_SUM_LOST) are counted of each unit up to a
 * number of their own, so that a unit with any number of rows adds a bounded
 * vector.  A unit whose rows are left out has k rows that count, too: it adds
 * to the other parts and to this one, and the shares of both pay for it.  No
 * share is spared by a row being in one of them alone, as neighbours differ in
 * units.  Values (PE_SUM_DISTINCT) are no sum over rows: a row adds to them or not
 * as other rows are there.  So they, too, stand outside N, and their share is
 * subtracted from that of all others.  Those of an open column (PE_SUM_OPEN) have a
 * cut of their own, which such a share pays for as it is.  Beside keys the groups are
 * those of all keys together, at least as many as matter below.
 *
 * Values.  With V of them, m = min(k, V) and n groups that are kept apart, a unit
 * adds some d of P = {d in N^n, sum d <= k, each d_g <= m} to the numbers of values
 * (domain/sums.h).  A norm is convex, so it is largest at a vertex of the hull of P:
 * as all limits are whole numbers, q = min(floor(k / m), n) entries are m there, one more
 * is at most r = k - q m if q < n, and others are 0.  So |d|^2 <= f(n), with
 *
 *		f(s) = min(q, s) m^2 + r^2 if s > q		(L1: min(k, s m))
 *
 * which is at most k m.  Of substitute the change is d - d' of two such vectors.
 * What both have in a group cancels, and P has with a vector all smaller ones: so
 * the largest change has d in some s groups alone and d' in the other n - s, and
 * is at most f(s) + f(n - s).  What one more group adds to f does not grow (m^2,
 * then r^2, then 0), so equal halves are the worst: f(floor(n / 2)) + f(ceil(n / 2)).
 * Where no other unit has rows all of P is reached, and these are exact.  They are
 * of groups that are counted one by one; any other A is drawn for min(k, n m) rows
 * of counts.
 *
 * Of blocks (blocks/blocks.h) A_i is the stack of all of them, each scaled by
 * its share: no column is longer than 1, and |a| = 1.  Block b of part i is
 * drawn for B_i times what it is drawn for in a histogram, 2 B_i of substitute
 * where b has a sign.
 *
 * All are integers, computed from the very A_i.  Part i gets noise for
 * Delta_i / sqrt(share_i) (PE_PURE: Delta_i / share_i).  Shares are positive
 * and add up to at most 1, so that for all neighbours together sum_i |A_i (x_i
 * - x_i')|^2 / sigma_i^2 <= 2 rho (strategy/share.h): discrete Gaussian noise
 * with a variance for each coordinate (Canonne, Kamath, Steinke,
 * arXiv:2004.00010, Theorem 14).  PE_PURE: the same of L1 norms and scales.
 *
 * Of several parts of rows under substitute Delta_i is that of add_remove times
 * sqrt(N) (PE_PURE: N), one N for all of them: how far a row that becomes
 * another moves them together (plan_neighbours.c, with the proof).
 *
 * Parts of a pair, two or more of Laplace noise, have one share: a row adds b_1 a_j,
 * b_2 a_j, ... to them, none below 0, and b_1 + b_2 + ... <= B_i: together no more
 * than one part of that share does.  Under substitute it adds as much as one with a
 * sign (plan_neighbours.c).  They are the distances of a number from both bounds, or
 * the three products of these (domain/sums.h).
 *
 * Parts that count the rest of the rows of others, without some numbers, have a
 * share of what these others have: no row is in both.  So the shares need not
 * add up to at most 1: those of the parts that any one row counts in do
 * (pe_plan_shares_hold).  Under add_remove that is enough: with v the change of
 * all parts by one row, each divided by its standard deviation, |v|^2 <= 2 rho /
 * k^2, and the k rows of a unit have vectors that add up.  Neither under substitute,
 * where a row moves from one of them to the other, nor in a series is it done.
 *
 * A condition, a number that is absent and an attribute without a cell only
 * make b smaller.
 *
 * Cost: that rho.  A pure epsilon costs a cap in rho what any pure mechanism
 * does; of a single vector, what Laplace noise of its width does.
 */
#include "plan/private.h"

#include <math.h>
#include <string.h>

#include "accounting/conversion.h"
#include "base/mem.h"
#include "blocks/blocks.h"
#include "strategy/share.h"

/* ------------------------------------------------------------------
 * Sensitivity
 * ------------------------------------------------------------------
 */

pe_plan_part
pe_plan_whole(const pe_strategy *strategy)
{
	return (pe_plan_part) {.strategy = strategy, .bound = 1, .share = PE_WHOLE_SHARE};
}

/* b^2 (PE_PURE: b) times; false if it is beyond what is served. */
static bool
enlarge(pe_u128 *sensitivity, uint64_t b, bool pure)
{
	for (int i = pure ? 1 : 2; i > 0 && b > 1; i--)
	{
		if (*sensitivity >= PE_LARGEST_SENSITIVITY / b)
			return false;
		*sensitivity *= b;
	}
	return true;
}

/* Whether its rows are added or removed, and N of all parts together is what substitute makes of that. */
static bool
is_joint(const pe_plan_part *part, const pe_plan_rules *rules)
{
	return part->apart > 0 && rules->neighbours == PE_SUBSTITUTE;
}

/* From what rows of counts do to what those of numbers do. */
static bool
enlarge_for_numbers(const pe_plan_part *part, const pe_plan_rules *rules, bool pure, pe_u128 *sensitivity)
{
	/* what is signed can move from one bound to the other in the same cell */
	bool		doubled = part->is_signed && rules->neighbours == PE_SUBSTITUTE && !is_joint(part, rules);

	return enlarge(sensitivity, (uint64_t) part->bound, pure) && (!doubled || enlarge(sensitivity, 2, pure));
}

static pe_neighbours
neighbours_of_part(const pe_plan_part *part, const pe_plan_rules *rules)
{
	return part->is_signed || is_joint(part, rules) ? PE_ADD_REMOVE : rules->neighbours;
}

static bool
rows_sensitivity(const pe_plan_part *part, const pe_plan_rules *rules, bool pure, pe_u128 *sensitivity)
{
	pe_neighbours neighbours = neighbours_of_part(part, rules);
	bool		served = pure
		? pe_strategy_sensitivity_l1(part->strategy, neighbours, rules->max_rows, sensitivity)
		: pe_strategy_sensitivity_sq(part->strategy, neighbours, rules->max_rows, sensitivity);

	return served && enlarge_for_numbers(part, rules, pure, sensitivity);
}

/* f(groups) of the values above; L1 if pure. */
static pe_u128
values_added(pe_u128 rows, pe_u128 each, pe_u128 groups, bool pure)
{
	pe_u128		full = rows / each < groups ? rows / each : groups;
	pe_u128		rest = full < groups ? rows - full * each : 0;

	return pure ? full * each + rest : full * each * each + rest * rest;
}

static bool
values_sensitivity(const pe_plan_part *part, const pe_plan_rules *rules, bool pure, pe_u128 *sensitivity)
{
	pe_u128		rows = (pe_u128) rules->max_rows;
	pe_u128		each = (pe_u128) part->distinct < rows ? (pe_u128) part->distinct : rows;
	/* of keys there are any number */
	pe_u128		groups = rules->by_keys ? 2 * rows : (pe_u128) part->strategy->columns;
	pe_plan_rules fewer = *rules;

	if (!pe_strategy_counts_columns(part->strategy))
	{
		fewer.max_rows = (int32_t) values_added(rows, each, groups, true);
		return rows_sensitivity(part, &fewer, pure, sensitivity);
	}
	*sensitivity = rules->neighbours == PE_ADD_REMOVE ? values_added(rows, each, groups, pure)
		: values_added(rows, each, groups / 2, pure) + values_added(rows, each, groups - groups / 2, pure);
	return true;
}

static bool
units_sensitivity(const pe_plan_part *part, const pe_plan_rules *rules, bool pure, pe_u128 *sensitivity)
{
	return pure ? pe_strategy_people_l1(part->strategy, rules->neighbours, part->cells, sensitivity)
		: pe_strategy_people_sq(part->strategy, rules->neighbours, part->cells, sensitivity);
}

/* Of a block with D = 1 and the whole share, times 2^PE_SHARE_BITS: k^2 N b^2, or k N b. */
static bool
unit_sensitivity(const pe_plan_part *part, const pe_plan_rules *rules, bool pure, pe_u128 *sensitivity)
{
	pe_u128		rows = (pe_u128) rules->max_rows;

	*sensitivity = pe_blocks_neighbours(part->strategy->blocks, neighbours_of_part(part, rules)) *
		(pure ? rows : rows * rows);
	return enlarge_for_numbers(part, rules, pure, sensitivity);
}

static void
check_part(const pe_plan_part *part)
{
	int			kinds = (part->cells > 0) + (part->lost > 0) + (part->distinct > 0);

	if (part->cells < 0 || part->lost < 0 || part->distinct < 0 || kinds > 1 || part->bound < 1 ||
		(kinds > 0 && (part->is_signed || part->bound != 1 || part->apart > 0 || (part->needs | part->lacks) != 0)) ||
		((part->cells > 0 || part->distinct > 0) && part->strategy->blocks != NULL))
		pe_bug("a part of a measurement that cannot be");
}

/* Of rows that the cut left out others count. */
static pe_plan_rules
rules_of_part(const pe_plan_part *part, const pe_plan_rules *rules)
{
	pe_plan_rules own = *rules;

	check_part(part);
	if (part->lost > 0)
		own.max_rows = part->lost;
	return own;
}

/* Without N of all parts. */
static bool
own_sensitivity(const pe_plan_part *part, const pe_plan_rules *rules, bool pure, pe_u128 *sensitivity)
{
	const pe_plan_rules own = rules_of_part(part, rules);

	if (part->cells > 0)
		return units_sensitivity(part, &own, pure, sensitivity);
	if (part->distinct > 0)
		return values_sensitivity(part, &own, pure, sensitivity);
	if (part->strategy->blocks == NULL)
		return rows_sensitivity(part, &own, pure, sensitivity);
	if (!unit_sensitivity(part, &own, pure, sensitivity))
		return false;
	*sensitivity = (*sensitivity + PE_WHOLE_SHARE - 1) >> PE_SHARE_BITS;
	return true;
}

bool
pe_plan_part_sensitivity(const pe_plan_part *part, const pe_plan_rules *rules,
						 pe_accounting accounting, pe_u128 *sensitivity)
{
	const uint64_t whole = PE_WHOLE_SHARE;

	if (!own_sensitivity(part, rules, accounting == PE_PURE, sensitivity))
		return false;
	if (!is_joint(part, rules))
		return true;
	/* below 2^96: the quotient and the rest each fit with N, which is at most 4 */
	*sensitivity = *sensitivity / whole * part->apart + (*sensitivity % whole * part->apart + whole - 1) / whole;
	return *sensitivity < PE_LARGEST_SENSITIVITY;
}

/* ------------------------------------------------------------------
 * Noise
 * ------------------------------------------------------------------
 */

int32_t
pe_plan_part_vectors(const pe_plan_part *part)
{
	return part->strategy->blocks != NULL ? part->strategy->blocks->blocks : 1;
}

/* From the whole cost to a share of it, with N. */
static bool
share_out(const pe_plan_part *part, const pe_plan_rules *rules, bool pure, pe_u128 *sensitivity, int *lattice)
{
	const uint64_t apart = is_joint(part, rules) ? part->apart : PE_WHOLE_SHARE;
	int			finer;

	if (part->share == apart)
		return true;
	if (!pe_share_calibrate(pure ? PE_L1 : PE_L2, *sensitivity, &apart, 1, part->share, sensitivity, &finer))
		return false;
	*lattice += finer;
	return true;
}

static bool
vectors_of_blocks(const pe_plan_part *part, const pe_plan_rules *rules, bool pure, pe_noise_vector *vector)
{
	const pe_blocks *blocks = part->strategy->blocks;
	pe_u128    *sensitivity = pe_alloc((size_t) blocks->blocks, sizeof(*sensitivity));
	int		   *lattice = pe_alloc((size_t) blocks->blocks, sizeof(*lattice));
	bool		served = (blocks->norm == PE_L1) == pure &&
		pe_blocks_calibrate(blocks, neighbours_of_part(part, rules), rules->max_rows, sensitivity, lattice);

	for (int32_t b = 0; served && b < blocks->blocks; b++)
	{
		vector[b] = (pe_noise_vector) {sensitivity[b], lattice[b], (size_t) (blocks->first[b + 1] - blocks->first[b])};
		served = enlarge_for_numbers(part, rules, pure, &vector[b].sensitivity) &&
			share_out(part, rules, pure, &vector[b].sensitivity, &vector[b].lattice);
	}
	pe_free(sensitivity);
	pe_free(lattice);
	return served;
}

bool
pe_plan_vectors_of_part(const pe_plan_part *part, const pe_plan_rules *rules, pe_accounting accounting,
						pe_noise_vector *vector)
{
	const pe_plan_rules own = rules_of_part(part, rules);
	bool		pure = accounting == PE_PURE;

	if (part->strategy->blocks != NULL)
		return vectors_of_blocks(part, &own, pure, vector);
	*vector = (pe_noise_vector) {.count = (size_t) part->strategy->rows};
	return own_sensitivity(part, rules, pure, &vector->sensitivity) &&
		share_out(part, rules, pure, &vector->sensitivity, &vector->lattice);
}

pe_noise_vector *
pe_plan_vectors_of_parts(const pe_plan_part *part, int parts, const pe_plan_rules *rules, pe_accounting accounting,
						 int32_t *vectors)
{
	pe_noise_vector *vector;
	pe_noise_vector *to;

	*vectors = 0;
	for (int i = 0; i < parts; i++)
		*vectors += pe_plan_part_vectors(&part[i]);
	to = vector = pe_alloc((size_t) *vectors, sizeof(*vector));
	for (int i = 0; i < parts; i++)
	{
		if (!pe_plan_vectors_of_part(&part[i], rules, accounting, to))
		{
			pe_free(vector);
			return NULL;
		}
		to += pe_plan_part_vectors(&part[i]);
	}
	return vector;
}

/* Whether noise is drawn for its own sensitivity, in whole numbers: of one matrix with the whole cost. */
static bool
is_drawn_whole(const pe_plan_part *part)
{
	return part->strategy->blocks == NULL && part->share == PE_WHOLE_SHARE && part->apart == 0;
}

bool
pe_plan_part_noise(const pe_plan_part *part, const pe_plan_rules *rules, pe_accounting accounting, pe_noise *noise)
{
	const pe_plan_rules own = rules_of_part(part, rules);
	bool		pure = accounting == PE_PURE;

	*noise = (pe_noise) {.accounting = accounting, .rounded = part->share != PE_WHOLE_SHARE || is_joint(part, rules)};
	if (part->strategy->blocks == NULL)
		return own_sensitivity(part, rules, pure, &noise->sensitivity) &&
			share_out(part, rules, pure, &noise->sensitivity, &noise->lattice);
	noise->lattice = pure ? PE_SHARE_BITS : PE_SHARE_BITS / 2;
	return unit_sensitivity(part, &own, pure, &noise->sensitivity) &&
		share_out(part, rules, pure, &noise->sensitivity, &noise->lattice);
}

pe_noise *
pe_plan_noise_of_part(const pe_plan_part *part, const pe_plan_rules *rules, pe_accounting accounting, int64_t nano)
{
	pe_noise   *noise = pe_alloc(1, sizeof(*noise));

	if (pe_plan_part_noise(part, rules, accounting, noise))
	{
		noise->nano = nano;
		return noise;
	}
	pe_free(noise);
	return NULL;
}

pe_noise *
pe_plan_noise_of(const pe_strategy *strategy, const pe_plan_rules *rules, pe_accounting accounting, int64_t nano)
{
	pe_plan_part whole = pe_plan_whole(strategy);

	return pe_plan_noise_of_part(&whole, rules, accounting, nano);
}

int *
pe_plan_lattices_of_part(const pe_plan_part *part, const pe_plan_rules *rules, pe_accounting accounting, int64_t nano)
{
	int32_t		blocks = pe_plan_part_vectors(part);
	pe_noise_vector *vector = pe_alloc((size_t) blocks, sizeof(*vector));
	int		   *lattice = NULL;

	if (part->strategy->blocks != NULL && pe_plan_vectors_of_part(part, rules, accounting, vector))
	{
		lattice = pe_alloc((size_t) blocks, sizeof(*lattice));
		for (int32_t b = 0; b < blocks; b++)
		{
			const pe_noise noise = {accounting, vector[b].sensitivity, nano, vector[b].lattice, true};

			lattice[b] = pe_noise_shift(&noise);
		}
	}
	pe_free(vector);
	return lattice;
}

int *
pe_plan_lattices(const pe_strategy *strategy, const pe_plan_rules *rules, pe_accounting accounting, int64_t nano)
{
	pe_plan_part whole = pe_plan_whole(strategy);

	return pe_plan_lattices_of_part(&whole, rules, accounting, nano);
}

/* ------------------------------------------------------------------
 * The kind
 * ------------------------------------------------------------------
 */

/* Of every vector; of one part also what variances are in units of. */
static bool
measurement_serves(const pe_plan *plan)
{
	for (int32_t i = 0; i < plan->vectors; i++)
		if (!pe_noise_is_served(plan->accounting, plan->vector[i].sensitivity, plan->nano))
			return false;
	return plan->parts > 1 || pe_noise_is_served(plan->accounting, plan->noise.sensitivity, plan->nano);
}

/* Laplace noise of several widths costs a cap what any pure mechanism does. */
static pe_cost
measurement_cost(const pe_plan *plan)
{
	int64_t		as_rho = 0;

	if (plan->accounting == PE_PURE)
		as_rho = plan->parts == 1 && is_drawn_whole(plan->part)
			? pe_nano_rho_of_laplace(plan->rules.cap, plan->nano, plan->noise.sensitivity)
			: pe_nano_rho_of_pure(plan->rules.cap, plan->nano);
	return pe_cost_exact(plan->accounting, plan->nano, as_rho);
}

/* The tables that blocks are measured from; pe_tables_free. */
static pe_tables
tables_of_blocks(const pe_blocks *blocks)
{
	pe_tables	tables;

	if (!pe_blocks_tables(blocks, &tables))
		pe_bug("tables that were read cannot be told");
	return tables;
}

int64_t
pe_plan_part_columns(const pe_plan_part *part)
{
	pe_tables	tables;
	int64_t		cells;

	if (part->strategy->blocks == NULL)
		return part->strategy->columns;
	tables = tables_of_blocks(part->strategy->blocks);
	cells = tables.first[tables.tables];
	pe_tables_free(&tables);
	return cells;
}

/* The shares and the sensitivities are of the very blocks that are applied: blocks/blocks.h. */
static void
apply_part(const pe_plan_part *part, const int64_t *columns, pe_i128 *exact)
{
	pe_tables	tables;

	if (part->strategy->blocks == NULL)
	{
		pe_strategy_apply(part->strategy, columns, exact);
		return;
	}
	tables = tables_of_blocks(part->strategy->blocks);
	pe_blocks_apply(part->strategy->blocks, &tables, columns, exact);
	pe_tables_free(&tables);
}

void
pe_plan_apply_parts(const pe_plan *plan, const int64_t *columns, pe_i128 *exact)
{
	for (int i = 0; i < plan->parts; i++)
	{
		apply_part(&plan->part[i], columns, exact);
		columns += pe_plan_part_columns(&plan->part[i]);
		exact += plan->part[i].strategy->rows;
	}
}

void
pe_plan_draw_parts(const pe_plan *plan, pe_allowance *allowance, const pe_noise_vector *vector, int64_t nano,
				   pe_i128 *exact, int64_t *released)
{
	if (plan->parts == 1 && is_drawn_whole(plan->part))
		pe_noise_draw_fine(allowance, vector->sensitivity, nano, exact, vector->count, released);
	else
		pe_noise_draw_vectors(allowance, vector, (size_t) plan->vectors, nano, exact, released);
}

static void
measure_parts(const pe_plan *plan, pe_allowance *allowance, const int64_t *columns, pe_i128 *exact,
			  int64_t *released, void (*hold) (void))
{
	pe_plan_apply_parts(plan, columns, exact);
	hold();
	pe_plan_draw_parts(plan, allowance, plan->vector, plan->nano, exact, released);
}

static const pe_plan_kind measurement_kind = {
	measurement_serves, measurement_cost, pe_plan_drawn_exactly, measure_parts
};

/* ------------------------------------------------------------------
 * Shares
 * ------------------------------------------------------------------
 */

/* The sets of numbers that parts lack, each once; -1: too many. */
static int
find_lacks(const pe_plan_part *part, int parts, uint16_t *lacks)
{
	int			count = 0;

	for (int i = 0; i < parts; i++)
	{
		int			at = 0;

		while (at < count && lacks[at] != part[i].lacks)
			at++;
		if (part[i].lacks == 0 || at < count)
			continue;
		if (count == PE_MOST_LACKS)
			return -1;
		lacks[count++] = part[i].lacks;
	}
	return count;
}

/* Whether a row may count in a part: of the sets it has not all numbers of those in `absent`. */
static bool
may_count(const pe_plan_part *part, const uint16_t *lacks, int count, unsigned absent)
{
	for (int l = 0; l < count; l++)
	{
		bool		is_absent = (absent >> l & 1) != 0;

		if (is_absent ? (lacks[l] & ~part->needs) == 0 : lacks[l] == part->lacks)
			return false;
	}
	return true;
}

bool
pe_plan_shares_hold(const pe_plan_part *part, int parts)
{
	uint16_t	lacks[PE_MOST_LACKS];
	int			count = find_lacks(part, parts, lacks);

	for (int i = 0; i < parts; i++)
		if (part[i].share == 0 || part[i].share > PE_WHOLE_SHARE)
			return false;
	for (unsigned absent = 0; count >= 0 && absent >> count == 0; absent++)
	{
		uint64_t	left = PE_WHOLE_SHARE;

		for (int i = 0; i < parts; i++)
		{
			if (pe_plan_part_is_second(part, i) || !may_count(&part[i], lacks, count, absent))
				continue;
			if (part[i].share > left)
				return false;
			left -= part[i].share;
		}
	}
	return count >= 0;
}

void
pe_plan_take_parts(pe_plan *plan, const pe_plan_sums *sums)
{
	plan->parts = sums->parts;
	plan->part = pe_alloc((size_t) sums->parts, sizeof(*plan->part));
	memcpy(plan->part, sums->part, (size_t) sums->parts * sizeof(*plan->part));
	for (int i = 0; i < sums->parts; i++)
		if (plan->part[i].pair > 0 && plan->accounting != PE_PURE)
			pe_bug("a pair whose noise is not that of Laplace");
	if (!pe_plan_shares_hold(plan->part, plan->parts))
		pe_bug("shares of sums that are more than the whole");
}

pe_plan_status
pe_plan_of_sums(const pe_plan_ask *ask, const pe_plan_sums *sums, pe_plan **made)
{
	pe_plan    *plan = *made = pe_plan_begin(&measurement_kind, ask);
	int64_t		nano = pe_plan_nano(ask, false);
	pe_noise	bounded;

	pe_plan_take_parts(plan, sums);
	plan->rules = sums->rules;
	if (!pe_plan_find_apart(plan->part, plan->parts, &plan->rules, ask->accounting))
		return PE_PLAN_SENSITIVE;
	if (!pe_plan_part_noise(&plan->part[sums->bounded], &plan->rules, ask->accounting, &bounded))
		return PE_PLAN_SENSITIVE;
	plan->vector = pe_plan_vectors_of_parts(plan->part, plan->parts, &plan->rules, ask->accounting, &plan->vectors);
	if (plan->vector == NULL)
		return PE_PLAN_SENSITIVE;
	if (plan->parts == 1)
		plan->noise = bounded;
	if (ask->max_stderr > 0)
		nano = pe_noise_least_nano(ask->accounting, bounded.sensitivity, ask->max_stderr,
								   ldexp(sums->scale, -bounded.lattice));
	return pe_plan_end(plan, nano);
}

pe_plan_status
pe_plan_of_counts(const pe_plan_ask *ask, const pe_plan_counts *counts, pe_plan **plan)
{
	pe_plan_part whole = pe_plan_whole(counts->strategy);
	const pe_plan_sums measured = {1, &whole, counts->rules, 0, counts->scale};

	return counts->gram == NULL ? pe_plan_of_sums(ask, &measured, plan) : pe_plan_of_dawa(ask, counts, plan);
}

void
pe_plan_tell_apart(const pe_plan *plan, pe_plan_part *part)
{
	for (int i = 0; i < plan->parts; i++)
		part[i].apart = plan->part[i].apart;
}

/* How many tables are read for a part. */
static int32_t
tables_of_part(const pe_plan_part *part)
{
	pe_tables	tables;
	int32_t		count;

	if (part->strategy->blocks == NULL)
		return 1;
	tables = tables_of_blocks(part->strategy->blocks);
	count = tables.tables;
	pe_tables_free(&tables);
	return count;
}

static bool
has_limit(const pe_plan_part *part, const pe_sum *sum)
{
	bool		lost = sum->kind == PE_SUM_LOST;

	return part->cells == (lost ? 0 : sum->most) && part->lost == (lost ? sum->most : 0) &&
		(part->distinct > 0) == pe_sum_is_of_values(sum);
}

/* No row is said not to count in a part that does. */
static bool
counts_no_more(const pe_plan_part *part, const pe_sum *sum)
{
	return (part->needs & ~sum->needs) == 0 && part->lacks == sum->lacks;
}

bool
pe_plan_is_of_sums(const pe_plan *plan, const pe_sums *sums)
{
	bool		same = plan->kind == &measurement_kind || plan->series.sums != NULL || plan->nano_of_sums > 0;
	int32_t		sum = 0;

	for (int i = 0; same && i < plan->parts; i++)
	{
		int32_t		end = sum + tables_of_part(&plan->part[i]);

		for (same = sum < end && end <= sums->sums; same && sum < end; sum++)
			same = plan->part[i].bound >= pe_sum_bound(sums, &sums->sum[sum]) &&
				plan->part[i].is_signed == pe_sum_is_signed(&sums->sum[sum]) &&
				has_limit(&plan->part[i], &sums->sum[sum]) && counts_no_more(&plan->part[i], &sums->sum[sum]);
	}
	return same && sum == sums->sums;
}

/* Where a part of one table counts a row the other one does, in the same cell: sums from p and from q on. */
static bool
counts_alike(const pe_plan_part *part, const pe_sums *sums, const pe_tables *tables, int32_t p, int32_t q)
{
	bool		counts = part->bound == 1 && !part->is_signed;

	for (int32_t t = 0; t < tables_of_part(part); t++, p++, q++)
	{
		const pe_sum *one = &sums->sum[p];
		const pe_sum *other = &sums->sum[q];

		if (tables->set[p] != tables->set[q] || one->by_atom != other->by_atom ||
			(counts && (one->kind != PE_SUM_ONE || (one->needs & ~other->needs) != 0 || one->lacks != other->lacks)))
			return false;
	}
	return true;
}

/* Whether two parts divide the bound of one number, of the same rows: sums from p and from q on. */
static bool
divide_bound(const pe_plan_part *part, const pe_sums *sums, int32_t p, int32_t q)
{
	for (int32_t t = 0; t < tables_of_part(part); t++, p++, q++)
	{
		const pe_sum *one = &sums->sum[p];
		const pe_sum *other = &sums->sum[q];

		if (pe_sum_degree(one) == 0 || pe_sum_degree(one) != pe_sum_degree(other) || one->kind == other->kind ||
			one->a != other->a || one->needs != other->needs)
			return false;
	}
	return true;
}

/* Whether no two groups are added up. */
static bool
groups_stay_apart(const pe_plan_part *part, int64_t groups, const int32_t *column_of)
{
	int32_t		columns = part->strategy->columns;
	bool	   *taken;
	bool		apart = true;

	if (column_of == NULL)
		return groups == columns;
	taken = pe_alloc((size_t) columns, sizeof(*taken));
	memset(taken, 0, (size_t) columns * sizeof(*taken));
	for (int64_t g = 0; g < groups && apart; g++)
	{
		int32_t		column = column_of[g];

		apart = column < 0 || (column < columns && !taken[column]);
		if (apart && column >= 0)
			taken[column] = true;
	}
	pe_free(taken);
	return apart;
}

/*
 * Whether the table of what counts values is by them last, and they and the groups are those of its sensitivity.  Of
 * an open column it is by the groups alone, and there is no limit to the values.
 */
static bool
counts_values(const pe_plan_part *part, const pe_sums *sums, const pe_tables *tables, const pe_domain *domain,
			  int32_t t, const int32_t *column_of)
{
	int64_t		cells = tables->first[t + 1] - tables->first[t];
	const pe_attribute *values;
	int			counted;

	if (sums->sum[t].kind == PE_SUM_OPEN)
		return part->distinct == PE_ANY_VALUES && groups_stay_apart(part, cells, column_of);
	counted = pe_sum_counted_attribute(&sums->sum[t]);
	values = &domain->attribute[counted];
	return tables->set[t] >> counted == 1 && part->distinct >= pe_attribute_ordered_cells(values) &&
		groups_stay_apart(part, cells / pe_attribute_cells(values), column_of);
}

bool
pe_plan_is_by_tables(const pe_plan *plan, const pe_sums *sums, const pe_tables *tables, const pe_domain *domain,
					 int32_t *const *column_of)
{
	const pe_plan_part *part = plan->part;
	int32_t		p = 0;

	for (int i = 0; i < plan->parts; p += tables_of_part(&part[i++]))
	{
		int32_t		q = 0;

		if (part[i].distinct > 0 && !counts_values(&part[i], sums, tables, domain, p, column_of[i]))
			return false;
		for (int j = 0; j < plan->parts; q += tables_of_part(&part[j++]))
			if (i != j && part[i].table > 0 && part[i].table == part[j].table &&
				(column_of[i] != column_of[j] || !counts_alike(&part[i], sums, tables, p, q) ||
				 (part[i].pair > 0 && part[i].pair == part[j].pair && !divide_bound(&part[i], sums, p, q))))
				return false;
	}
	return true;
}

int64_t
pe_plan_rows(const pe_plan *plan)
{
	int64_t		rows = 0;

	for (int i = 0; i < plan->parts; i++)
		rows += plan->part[i].strategy->rows;
	return rows;
}

/* ------------------------------------------------------------------
 * A single part
 * ------------------------------------------------------------------
 */

const pe_noise *
pe_plan_noise(const pe_plan *plan)
{
	return (plan->kind == &measurement_kind && plan->parts == 1) || plan->series.time != NULL ? &plan->noise : NULL;
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
