/*
 * plan_series.c
 *	  Plans of a series of reports: every period measured with the noise of one
 *	  plan, for one cost, paid once.
 *
 * Released, period by period: y_t = sum_(s <= t) L_ts A x_s + noise, L of
 * time/continual.h and A the strategy of the cells.
 *
 * Neighbours and sensitivity, of the dataset's rules.  S is Delta^2 of A for
 * the rows of a unit in one period, for add_remove (strategy/strategy.h; of
 * blocks blocks/blocks.h), and C the factor of time under pe_presence
 * (time/continual.h), which has substitute in it: with the least product c of
 * what two rows add, divided by S, from the columns of A themselves.  For all neighbours, with d_s
 * the difference of period s as reading t sees it,
 *
 *		sum_t |sum_s L_ts A d_s|^2 <= C S,
 *
 * both factors in integers, from the very L and A that are applied.  Of blocks
 * S_b is what block b is drawn for; the vectors of a unit, scaled by their
 * shares, are no longer than k (blocks.h), so that the sum over blocks of sum_t
 * |..|^2 / (C S_b) is at most 1.
 *
 * Of sums (plan_measurement.c) A_i is the strategy of part i and S_i its
 * Delta_i^2 for the rows, or the cells, of a unit in one period: a unit adds to
 * A_i x_i in a period a vector no longer than Delta_i, which is all that the
 * factor of time asks for.  Shares divide the cost as they do there, between
 * parts and between the blocks of each.
 *
 * That product, of a matrix: the least a_i'a_j / S.  Of blocks whose columns
 * each have the norm that their shares add up to, sum: sum - N / 2, N the largest
 * |v_i - v_j|^2 (blocks.h); of others - N / 4, for v'v >= -|v||v'| and >= (|v|^2 +
 * |v'|^2 - N) / 2.  Of parts of sums a row adds b v, b in [0, 1], where it is
 * not signed: the product is below 0 by no more than the sum of the shares, each
 * times what the products of its part are below 0 by; where it is signed, by
 * the whole share.
 *
 * Cost: sigma^2 = C S / (2 rho), and the whole series costs rho: the discrete
 * Gaussian mechanism with a vector that comes in parts.  y_t may depend on
 * y_0 .. y_(t-1) by way of later rows; rho_t = |sum_s L_ts A d_s|^2 / (2
 * sigma^2) given these adds up to at most rho on every path (fully adaptive
 * composition: accounting/filter.h).  That holds for fixed cuts too: on every
 * path the sets of all readings are parts of one set of p periods.  A period
 * has no cost of its own: each draw takes the whole cost, from an allowance of
 * its own.  A draw that was not stored may be repeated.  One draw of each
 * period leaves.
 *
 * Prolonged: L of T' periods begins with that of T, and sigma stays.  The whole
 * costs rho C' / C, rounded up.  A payer of the first part pays the difference.
 * Another payer, and a block of time that was not charged before, pay all of
 * it: a row of a new period loses as much as one of an old period did.
 *
 * One period once more: a draw of y_t beside those that are paid for is a
 * Gaussian mechanism of its own, with |sum_s L_ts A d_s|^2 <= C_t S: C_t of one
 * period, and the cost rho C_t / C, rounded up.
 */
#include "plan/private.h"

#include <math.h>

#include "base/mem.h"
#include "strategy/share.h"

/* Which of the factors. */
enum
{
	WHOLE, NOISE, PAID, PERIOD
};

/* Exact answers stay below 2^127: |y| <= |a| |L_ts| times fewer than 2^63 rows (continual.h, L). */
#define LARGEST_OF_BLOCKS ((pe_u128) 1 << 80)

/* ------------------------------------------------------------------
 * Sensitivity
 * ------------------------------------------------------------------
 */

/* k rows of a unit in one period, added or removed. */
static pe_plan_rules
rules_of_period(const pe_plan_series *series)
{
	pe_plan_rules rules = series->rules;

	rules.neighbours = PE_ADD_REMOVE;
	return rules;
}

/* More columns take seconds. */
#define MOST_COLUMNS 1024

/* Products of the columns of a matrix. */
typedef struct column_products
{
	pe_i128		least;
	pe_i128		largest;		/* of a column with itself */
} column_products;

static void
take_products(void *argument, int32_t column, pe_i128 *product)
{
	column_products *p = argument;

	p->largest = product[column] > p->largest ? product[column] : p->largest;
	for (int32_t j = 0; j <= column; j++)
		p->least = product[j] < p->least ? product[j] : p->least;
}

/* False if they are not known. */
static bool
products_of(const pe_strategy *strategy, column_products *products)
{
	*products = (column_products) {.least = (pe_i128) PE_LARGEST_SENSITIVITY};
	if (pe_strategy_counts_columns(strategy))
		*products = (column_products) {.least = strategy->columns == 1, .largest = 1};
	else if (strategy->columns > MOST_COLUMNS || !pe_strategy_each_products(strategy, true, take_products, products))
		return false;
	return products->largest > 0;
}

/* 1 + least / largest, rounded down; 2^40 times numbers below 2^86 fit. */
static uint64_t
similar_of_matrix(const pe_strategy *strategy)
{
	column_products products;

	if (!products_of(strategy, &products) || products.largest >= (pe_i128) 1 << 86)
		return 0;
	return (uint64_t) ((products.largest + products.least) * (pe_i128) PE_WHOLE_SHARE / products.largest);
}

/* Whether the columns of each block have one norm: then they have what the shares add up to. */
static bool
blocks_are_even(const pe_blocks *blocks)
{
	for (int a = 0; a < blocks->axes; a++)
		for (int m = 0; m < blocks->axis[a].matrices; m++)
			if (!blocks->axis[a].matrix[m].even)
				return false;
	for (int a = 0; a < blocks->attributes; a++)
		for (int32_t c = 0; blocks->column_of[a] != NULL && c < blocks->cells[a]; c++)
			if (blocks->column_of[a][c] == PE_NOT_ASKED)
				return false;
	return true;
}

static uint64_t
similar_of_blocks(const pe_blocks *blocks)
{
	uint64_t	distance = pe_blocks_neighbours(blocks, PE_SUBSTITUTE);
	uint64_t	sum = PE_WHOLE_SHARE;

	if (!blocks_are_even(blocks))
		return PE_WHOLE_SHARE - (distance + 3) / 4;
	for (int32_t b = 0; b < blocks->blocks; b++)
		sum += blocks->share[b];
	return sum - (distance + 1) / 2 <= sum ? sum - (distance + 1) / 2 : 0;
}

static uint64_t
similar_of_strategy(const pe_strategy *strategy)
{
	return strategy->blocks != NULL ? similar_of_blocks(strategy->blocks) : similar_of_matrix(strategy);
}

/*
 * A row may also add nothing to it: no product is then above 0.  A unit that is
 * counted in several cells adds several columns.
 */
static uint64_t
similar_of_part(const pe_plan_part *part)
{
	uint64_t	similar = part->is_signed ? 0 : similar_of_strategy(part->strategy);

	if (similar >= PE_WHOLE_SHARE)
		return PE_WHOLE_SHARE;
	return part->cells > 0 ? 0 : similar;
}

/* What products are below 0 by, times the shares, rounded up. */
static uint64_t
similar_of_parts(const pe_plan_sums *sums)
{
	uint64_t	similar = PE_WHOLE_SHARE;

	for (int i = 0; i < sums->parts; i++)
		similar -= (uint64_t) (((pe_u128) sums->part[i].share * (PE_WHOLE_SHARE - similar_of_part(&sums->part[i])) +
								PE_WHOLE_SHARE - 1) >> PE_SHARE_BITS);
	return similar;
}

uint64_t
pe_plan_series_similar(const pe_plan_series *series)
{
	if (series->rules.neighbours != PE_SUBSTITUTE)
		return 0;
	if (series->cells == NULL)
		return similar_of_parts(series->sums);
	return similar_of_strategy(series->cells);
}

static pe_presence
presence_of(const pe_plan_series *series)
{
	pe_presence presence = series->presence;

	if (presence.row_is_unit && series->rules.max_rows != 1)
		pe_bug("a row that is a unit of several rows");
	presence.neighbours = series->rules.neighbours;
	presence.similar = pe_plan_series_similar(series);
	return presence;
}

static bool
factor_of(const pe_plan_series *series, const pe_continual *time, pe_u128 *factor)
{
	const pe_presence presence = presence_of(series);

	return pe_continual_factor(time, &presence, factor);
}

/*
 * Times the factor of time, in units of 4^-lattice: coarser ones where these
 * are too fine, rounded up.  False if it is beyond what is served.
 */
static bool
enlarge(pe_u128 *sensitivity, int *lattice, pe_u128 factor)
{
	for (; *lattice > 0 && *sensitivity >= PE_LARGEST_SENSITIVITY / factor; --*lattice)
		*sensitivity = (*sensitivity + 3) / 4;
	if (*sensitivity >= PE_LARGEST_SENSITIVITY / factor)
		return false;
	*sensitivity *= factor;
	return true;
}

static bool
blocks_are_small(const pe_blocks *blocks)
{
	for (int32_t b = 0; b < blocks->blocks; b++)
		if (pe_blocks_largest(blocks, b) >= LARGEST_OF_BLOCKS)
			return false;
	return true;
}

/* Of counts one part, with the whole cost. */
static pe_plan_sums
parts_of_series(const pe_plan_series *series, pe_plan_part *whole)
{
	if (series->cells == NULL)
		return *series->sums;
	*whole = pe_plan_whole(series->cells);
	return (pe_plan_sums) {.parts = 1, .part = whole};
}

static bool
parts_are_small(const pe_plan_sums *sums)
{
	for (int i = 0; i < sums->parts; i++)
		if (sums->part[i].strategy->blocks != NULL && !blocks_are_small(sums->part[i].strategy->blocks))
			return false;
	return true;
}

/* S_v C; *vectors of them.  NULL if they are too large to be served. */
static pe_noise_vector *
vectors_of_series(const pe_plan_series *series, pe_u128 factor, pe_accounting accounting, int32_t *vectors)
{
	pe_plan_rules rules = rules_of_period(series);
	pe_plan_part whole;
	pe_plan_sums sums = parts_of_series(series, &whole);
	pe_noise_vector *vector = pe_plan_vectors_of_parts(sums.part, sums.parts, &rules, accounting, vectors);
	bool		served = vector != NULL && parts_are_small(&sums);

	for (int32_t v = 0; served && v < *vectors; v++)
		served = enlarge(&vector[v].sensitivity, &vector[v].lattice, factor);
	if (served)
		return vector;
	pe_free(vector);
	return NULL;
}

/* The noise that variances of a part are in units of.  False if it is beyond what is served. */
static bool
noise_of_series(const pe_plan_series *series, int part, pe_u128 factor, pe_accounting accounting, pe_noise *noise)
{
	pe_plan_rules rules = rules_of_period(series);
	pe_plan_part whole;
	pe_plan_sums sums = parts_of_series(series, &whole);
	bool		served = pe_plan_part_noise(&sums.part[part], &rules, accounting, noise);

	noise->rounded = true;
	return served && enlarge(&noise->sensitivity, &noise->lattice, factor);
}

/* ------------------------------------------------------------------
 * The kind
 * ------------------------------------------------------------------
 */

static bool
series_serves(const pe_plan *plan)
{
	for (int32_t i = 0; i < plan->vectors; i++)
		if (!pe_noise_is_served(plan->accounting, plan->vector[i].sensitivity, plan->nano))
			return false;
	return pe_noise_is_served(plan->accounting, plan->noise.sensitivity, plan->nano);
}

/* nano of the first part, times C of so much / C of the noise, rounded up. */
static int64_t
cost_at_noise(const pe_plan *plan, int which)
{
	pe_u128		total = (pe_u128) plan->nano * plan->factor[which];

	return (int64_t) ((total + plan->factor[NOISE] - 1) / plan->factor[NOISE]);
}

static pe_cost
series_cost(const pe_plan *plan)
{
	int64_t		nano = plan->period > 0 ? cost_at_noise(plan, PERIOD)
		: cost_at_noise(plan, WHOLE) - (plan->factor[PAID] > 0 ? cost_at_noise(plan, PAID) : 0);

	return pe_cost_exact(plan->accounting, nano > 0 ? nano : 1, 0);
}

/* The whole was paid for, by this charge and those before it. */
static int64_t
series_drawn(const pe_plan *plan)
{
	return plan->nano;
}

static const pe_plan_kind series_kind = {series_serves, series_cost, series_drawn, NULL};

/* ------------------------------------------------------------------
 * Making
 * ------------------------------------------------------------------
 */

static bool
take_factors(pe_plan *plan, const pe_continual *paid)
{
	const pe_plan_series *series = &plan->series;

	if (!factor_of(series, series->time, &plan->factor[WHOLE]))
		return false;
	plan->factor[NOISE] = plan->factor[WHOLE];
	if (series->first != NULL && !factor_of(series, series->first, &plan->factor[NOISE]))
		return false;
	return paid == NULL || factor_of(series, paid, &plan->factor[PAID]);
}

/* A plan without a cost; its status if it cannot have one. */
static pe_plan_status
begin_series(const pe_plan_ask *ask, const pe_plan_series *series, const pe_continual *paid, pe_plan **made)
{
	pe_plan    *plan = *made = pe_plan_begin(&series_kind, ask);
	pe_plan_part whole;
	pe_plan_sums sums;

	if ((series->cells == NULL) == (series->sums == NULL))
		pe_bug("a series is of counts or of sums");
	plan->series = *series;
	plan->rules = series->rules;
	sums = parts_of_series(series, &whole);
	pe_plan_take_parts(plan, &sums);
	for (int i = 0; i < plan->parts; i++)
		if (plan->part[i].lacks != 0)
			pe_bug("a part of the rest of the rows in a series");
	if (ask->accounting == PE_PURE)
		return PE_PLAN_COST;
	if (!take_factors(plan, paid))
		return PE_PLAN_SENSITIVE;
	plan->vector = vectors_of_series(series, plan->factor[NOISE], ask->accounting, &plan->vectors);
	if (plan->vector == NULL)
		return PE_PLAN_SENSITIVE;
	return noise_of_series(series, sums.bounded, plan->factor[NOISE], ask->accounting, &plan->noise)
		? PE_PLAN_MADE : PE_PLAN_SENSITIVE;
}

pe_plan_status
pe_plan_of_series(const pe_plan_ask *ask, const pe_plan_series *series, pe_plan **plan)
{
	pe_plan_status status = begin_series(ask, series, NULL, plan);
	int64_t		nano = pe_plan_nano(ask, false);

	if (series->first != NULL)
		pe_bug("a series that is created and prolonged");
	if (status != PE_PLAN_MADE)
		return status;
	if (ask->max_stderr > 0)
		nano = pe_noise_least_nano(ask->accounting, (*plan)->noise.sensitivity, ask->max_stderr,
								   ldexp(series->scale, -(*plan)->noise.lattice));
	return pe_plan_end(*plan, nano);
}

/* Each longer one begins as the shorter one does, so that sensitivities grow and what is measured already fits in. */
static void
check_lengths(const pe_plan_series *series, const pe_continual *paid, const pe_presence *presence)
{
	pe_u128		factor;

	if (series->first == NULL)
		pe_bug("a series that is prolonged has a first part");
	(void) pe_continual_prolonged(series->first, series->time, presence, true, &factor);
	if (paid != NULL)
	{
		(void) pe_continual_prolonged(series->first, paid, presence, true, &factor);
		(void) pe_continual_prolonged(paid, series->time, presence, true, &factor);
	}
}

/* At the noise that nano paid for; PE_PLAN_COST where a cost would not fit 62 bits. */
static pe_plan_status
end_at_noise(pe_plan *plan, int64_t nano)
{
	if (nano <= 0 || plan->factor[WHOLE] >= ((pe_u128) 1 << 126) / (pe_u128) nano ||
		(pe_u128) nano * plan->factor[WHOLE] / plan->factor[NOISE] >= (pe_u128) 1 << 62)
		return PE_PLAN_COST;
	return pe_plan_end(plan, nano);
}

pe_plan_status
pe_plan_of_prolonged(const pe_plan_ask *ask, const pe_plan_series *series, const pe_continual *paid,
					 int64_t nano, pe_plan **plan)
{
	pe_plan_status status;
	pe_presence presence;

	presence = presence_of(series);
	check_lengths(series, paid, &presence);
	status = begin_series(ask, series, paid, plan);
	return status == PE_PLAN_MADE ? end_at_noise(*plan, nano) : status;
}

pe_plan_status
pe_plan_of_period(const pe_plan_ask *ask, const pe_plan_series *series, int64_t nano, int32_t t, pe_plan **plan)
{
	pe_plan_status status = begin_series(ask, series, NULL, plan);
	pe_presence presence;

	if (status != PE_PLAN_MADE)
		return status;
	if (t < 0 || t >= series->time->periods)
		pe_bug("a period that a series does not have");
	presence = presence_of(series);
	(*plan)->period = t + 1;
	return pe_continual_factor_of_period(series->time, &presence, t, &(*plan)->factor[PERIOD])
		? end_at_noise(*plan, nano) : PE_PLAN_SENSITIVE;
}

bool
pe_plan_follows_presence(const pe_plan *plan, const pe_presence *presence)
{
	const pe_presence *own = &plan->series.presence;

	return plan->kind == &series_kind && own->row_is_unit == presence->row_is_unit &&
		(own->row_is_unit || (own->max_periods == presence->max_periods && own->append_only == presence->append_only));
}

/* ------------------------------------------------------------------
 * Reading
 * ------------------------------------------------------------------
 */

/* Those that the first part was drawn with; NULL if there are none. */
static pe_noise_vector *
vectors_to_read(const pe_plan_series *series, pe_accounting accounting, pe_u128 *factor, int32_t *vectors)
{
	if (accounting == PE_PURE || !factor_of(series, series->first != NULL ? series->first : series->time, factor))
		return NULL;
	return vectors_of_series(series, *factor, accounting, vectors);
}

static int *
lattices_of(const pe_noise_vector *vector, int32_t vectors, pe_accounting accounting, int64_t nano)
{
	int		   *lattice = pe_alloc((size_t) vectors, sizeof(*lattice));

	for (int32_t v = 0; v < vectors; v++)
	{
		const pe_noise noise = {accounting, vector[v].sensitivity, nano, vector[v].lattice, true};

		lattice[v] = pe_noise_shift(&noise);
	}
	return lattice;
}

pe_noise **
pe_plan_noise_of_series(const pe_plan_series *series, pe_accounting accounting, int64_t nano, int **lattice)
{
	int			parts = series->sums != NULL ? series->sums->parts : 1;
	pe_u128		factor;
	int32_t		vectors;
	pe_noise_vector *vector = vectors_to_read(series, accounting, &factor, &vectors);
	pe_noise  **noise = pe_alloc((size_t) parts, sizeof(*noise));
	bool		served = vector != NULL;

	for (int i = 0; served && i < parts; i++)
	{
		noise[i] = pe_alloc(1, sizeof(**noise));
		served = noise_of_series(series, i, factor, accounting, noise[i]);
		noise[i]->nano = nano;
	}
	if (lattice != NULL)
		*lattice = served ? lattices_of(vector, vectors, accounting, nano) : NULL;
	pe_free(vector);
	if (served)
		return noise;
	for (int i = 0; i < parts; i++)
		pe_free(noise[i]);
	pe_free(noise);
	return NULL;
}

int *
pe_plan_series_lattices(const pe_plan_series *series, pe_accounting accounting, int64_t nano)
{
	pe_u128		factor;
	int32_t		vectors;
	pe_noise_vector *vector = vectors_to_read(series, accounting, &factor, &vectors);
	int		   *lattice = vector != NULL ? lattices_of(vector, vectors, accounting, nano) : NULL;

	pe_free(vector);
	return lattice;
}

/* ------------------------------------------------------------------
 * Drawing
 * ------------------------------------------------------------------
 */

/* What is counted in one period: numbers of it. */
static size_t
columns_of(const pe_plan *plan)
{
	size_t		columns = 0;

	for (int i = 0; i < plan->parts; i++)
		columns += (size_t) pe_plan_part_columns(&plan->part[i]);
	return columns;
}

/* A z of counts that pe_continual_weigh takes as they are. */
static void
measure_part(const pe_plan *plan, int32_t t, size_t columns, const int64_t *counts, pe_i128 *exact)
{
	int64_t    *z = pe_alloc(columns, sizeof(*z));

	pe_continual_weigh(plan->series.time, t, columns, counts, z);
	pe_plan_apply_parts(plan, z, exact);
	pe_wipe(z, columns * sizeof(*z));
	pe_free(z);
}

/* Sums are in two halves, high * 2^HALF + low: whole ones may be beyond what is weighed, for a row adds up to 2^16. */
#define HALF 31

static void
measure_sums(const pe_plan *plan, int32_t t, size_t columns, const int64_t *sums, pe_i128 *exact)
{
	size_t		numbers = columns * (size_t) (t + 1 - pe_continual_since(plan->series.time, t));
	size_t		rows = (size_t) pe_plan_rows(plan);
	int64_t    *half = pe_alloc(numbers, sizeof(*half));
	pe_i128    *high = pe_alloc(rows, sizeof(*high));

	for (size_t i = 0; i < numbers; i++)
		half[i] = sums[i] >> HALF;
	measure_part(plan, t, columns, half, high);
	for (size_t i = 0; i < numbers; i++)
		half[i] = sums[i] & ((INT64_C(1) << HALF) - 1);
	measure_part(plan, t, columns, half, exact);
	for (size_t i = 0; i < rows; i++)
		exact[i] += high[i] * ((pe_i128) 1 << HALF);
	pe_wipe(high, rows * sizeof(*high));
	pe_wipe(half, numbers * sizeof(*half));
	pe_free(high);
	pe_free(half);
}

/* y_t without noise. */
static void
measure_exactly(const pe_plan *plan, int32_t t, const int64_t *counts, pe_i128 *exact)
{
	(plan->series.sums != NULL ? measure_sums : measure_part) (plan, t, columns_of(plan), counts, exact);
}

void
pe_plan_measure_period(const pe_plan *plan, int32_t t, const int64_t *counts, pe_i128 *exact,
					   int64_t *released, void (*hold) (void))
{
	pe_allowance allowance = pe_plan_allowance(plan);

	if (plan->kind != &series_kind)
		pe_bug("a plan that is not of a series measures a period");
	if (plan->period > 0 && plan->period != t + 1)
		pe_bug("a plan of another period");
	measure_exactly(plan, t, counts, exact);
	hold();
	pe_noise_draw_vectors(&allowance, plan->vector, (size_t) plan->vectors, plan->nano, exact, released);
}
