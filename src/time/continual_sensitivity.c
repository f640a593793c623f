/*
 * continual_sensitivity.c
 *	  The factor of time in a series' sensitivity, in integers.  See continual.h.
 */
#include "time/continual.h"

#include <stdlib.h>

#include "base/linalg.h"
#include "strategy/share.h"

/* max_s sum_t L_ts^2 */
static bool
largest_column(const pe_continual *series, pe_u128 *largest)
{
	pe_u128    *norm;
	bool		fits;

	*largest = 1;
	if (series->strategy.triangle == NULL)
		return true;
	norm = pe_alloc((size_t) series->periods, sizeof(*norm));
	fits = pe_strategy_column_norms(&series->strategy, PE_L2, norm);
	for (int32_t s = 0; fits && s < series->periods; s++)
		*largest = norm[s] > *largest ? norm[s] : *largest;
	pe_free(norm);
	return fits;
}

/* max over sets S of at most p periods of |sum over S of |L_s||^2, from above: |L| as a strategy. */
static bool
subset_bound(const pe_continual *series, int32_t most, pe_u128 *bound)
{
	pe_strategy	magnitudes = series->strategy;
	size_t		entries = (size_t) series->periods * ((size_t) series->periods + 1) / 2;
	bool		fits;

	magnitudes.triangle = series->strategy.triangle == NULL ? NULL : pe_alloc(entries, sizeof(int32_t));
	for (size_t i = 0; magnitudes.triangle != NULL && i < entries; i++)
		magnitudes.triangle[i] = abs(series->strategy.triangle[i]);
	fits = pe_strategy_people_sq(&magnitudes, PE_ADD_REMOVE, most, bound);
	pe_free(magnitudes.triangle);
	return fits;
}

static int
compare_descending(const void *a, const void *b)
{
	int32_t		left = *(const int32_t *) a;
	int32_t		right = *(const int32_t *) b;

	return (left < right) - (left > right);
}

/* The sum of the p largest |L_ts| of a row; row is scratch. */
static pe_u128
largest_of_row(const pe_continual *series, int32_t t, int32_t most, int32_t *row)
{
	int32_t		count = 0;
	pe_u128		sum = 0;

	for (int32_t s = pe_continual_since(series, t); s <= t; s++)
		row[count++] = abs(pe_continual_entry(series, t, s));
	qsort(row, (size_t) count, sizeof(*row), compare_descending);
	for (int32_t i = 0; i < count && i < most; i++)
		sum += (pe_u128) row[i];
	return sum;
}

/* At most 2^12 squares of sums of 2^12 entries below 2^31: no overflow. */
static pe_u128
moving_bound(const pe_continual *series, int32_t most)
{
	int32_t    *row = pe_alloc((size_t) series->periods, sizeof(*row));
	pe_u128		bound = 0;

	for (int32_t t = 0; t < series->periods; t++)
	{
		pe_u128		sum = largest_of_row(series, t, most, row);

		bound += sum * sum;
	}
	pe_free(row);
	return bound;
}

static bool
fixed_bound(const pe_continual *series, int32_t most, pe_u128 *bound)
{
	pe_u128		largest;

	if (!largest_column(series, &largest) || largest >= PE_LARGEST_SENSITIVITY || !subset_bound(series, most, bound))
		return false;
	largest *= (pe_u128) most * (pe_u128) most;
	*bound = largest < *bound ? largest : *bound;
	return true;
}

/* Whether the periods that count of a unit stay what they are. */
static bool
cut_is_fixed(const pe_continual *series, const pe_presence *presence)
{
	return presence->append_only && !series->forgets;
}

int32_t
pe_continual_reads_since(const pe_continual *series, const pe_presence *presence, int32_t t)
{
	return !presence->row_is_unit && cut_is_fixed(series, presence) ? 0 : pe_continual_since(series, t);
}

/* Of one row of a unit in each of its periods, for add_remove. */
static bool
factor_of_unit(const pe_continual *series, const pe_presence *presence, pe_u128 *factor)
{
	int32_t		most = presence->max_periods < series->periods ? presence->max_periods : series->periods;

	if (presence->row_is_unit)
		return largest_column(series, factor);
	if (presence->max_periods < 1)
		pe_bug("units without a number of periods");
	if (cut_is_fixed(series, presence))
		return fixed_bound(series, most, factor);
	*factor = moving_bound(series, most);
	return true;
}

/* ------------------------------------------------------------------
 * Substitute
 * ------------------------------------------------------------------
 */

/* Of more periods pairs are not looked at: it takes the cube of their number. */
#define MOST_PAIRED 400

/* d of squares and a product that are added up over readings, rounded up. */
static pe_u128
distance_sq(pe_u128 squares, pe_i128 product, uint64_t similar)
{
	pe_u128		twice = 2 * (pe_u128) (product < 0 ? -product : product);

	return squares + twice - (product > 0 ? twice * similar >> PE_SHARE_BITS : 0);
}

/* |L_s (x) v - L_r (x) v'|^2 at these readings: rows are the same at all of them. */
static pe_u128
distance_of_staying(const int32_t *x, const int32_t *y, int32_t first, int32_t last, uint64_t similar)
{
	pe_u128		squares = 0;
	pe_i128		product = 0;

	for (int32_t t = first; t <= last; t++)
	{
		squares += (pe_u128) ((int64_t) x[t] * x[t]);
		squares += (pe_u128) ((int64_t) y[t] * y[t]);
		product += (int64_t) x[t] * y[t];
	}
	return distance_sq(squares, product, similar);
}

/* Either row may be missed by a reading, or be in another cell. */
static pe_u128
distance_of_moving(const int32_t *x, const int32_t *y, int32_t first, int32_t last, uint64_t similar)
{
	pe_u128		sum = 0;

	for (int32_t t = first; t <= last; t++)
	{
		int64_t		xx = (int64_t) x[t] * x[t];
		int64_t		yy = (int64_t) y[t] * y[t];
		pe_u128		both = distance_sq((pe_u128) xx + (pe_u128) yy, (int64_t) x[t] * y[t], similar);
		pe_u128		larger = (pe_u128) (xx > yy ? xx : yy);

		sum += both > larger ? both : larger;
	}
	return sum;
}

/* Column s from place s * periods on. */
static int32_t *
columns_of(const pe_continual *series)
{
	size_t		periods = (size_t) series->periods;
	int32_t    *column = pe_alloc(periods * periods, sizeof(*column));

	for (int32_t t = 0; t < series->periods; t++)
		for (int32_t s = pe_continual_since(series, t); s <= t; s++)
			column[(size_t) s * periods + (size_t) t] = pe_continual_entry(series, t, s);
	return column;
}

/* The largest of all pairs of periods up to the last reading. */
static pe_u128
largest_distance(const pe_continual *series, const int32_t readings[2], uint64_t similar, bool stays)
{
	int32_t    *column = columns_of(series);
	pe_u128		largest = 0;

	for (int32_t s = 0; s <= readings[1]; s++)
	{
		pe_poll();
		for (int32_t r = 0; r <= s; r++)
		{
			pe_u128		own = (stays ? distance_of_staying : distance_of_moving)
				(column + (size_t) s * (size_t) series->periods, column + (size_t) r * (size_t) series->periods,
				 readings[0] > r ? readings[0] : r, readings[1], similar);

			largest = own > largest ? own : largest;
		}
	}
	pe_free(column);
	return largest;
}

static bool
is_positive(const pe_continual *series)
{
	size_t		entries = (size_t) series->periods * ((size_t) series->periods + 1) / 2;

	for (size_t i = 0; series->strategy.triangle != NULL && i < entries; i++)
		if (series->strategy.triangle[i] < 0)
			return false;
	return true;
}

/* Whether pairs of periods say more: a row has one, and so has the unit of a cut that stays. */
static bool
has_pairs(const pe_continual *series, const pe_presence *presence, bool stays)
{
	return (presence->row_is_unit || (presence->max_periods == 1 && stays)) && series->periods <= MOST_PAIRED;
}

/*
 * one: what add_remove has at the readings from first to last; stays: rows and
 * cuts do.  Where nothing is negative and c <= 0 the worst pair is of one
 * period, the largest: of rows, one (2 - 2 c).
 */
static pe_u128
factor_of_replaced(const pe_continual *series, const pe_presence *presence, const int32_t readings[2], bool stays,
				   pe_u128 one)
{
	bool		positive = is_positive(series);
	pe_u128		factor = (positive && presence->similar >= PE_WHOLE_SHARE ? 2 : 4) * one;
	pe_u128		pairs;

	if (!has_pairs(series, presence, stays))
		return factor;
	if (positive && presence->similar <= PE_WHOLE_SHARE)
		return distance_sq(2 * one, (pe_i128) one, presence->similar);
	pairs = largest_distance(series, readings, presence->similar, stays);
	if (pairs < one)
		pairs = one;
	return pairs < factor ? pairs : factor;
}

bool
pe_continual_factor(const pe_continual *series, const pe_presence *presence, pe_u128 *factor)
{
	if (!factor_of_unit(series, presence, factor) || *factor >= PE_LARGEST_SENSITIVITY)
		return false;
	if (presence->neighbours == PE_SUBSTITUTE)
		*factor = factor_of_replaced(series, presence, (int32_t[2]) {0, series->periods - 1},
									 cut_is_fixed(series, presence), *factor);
	return *factor < PE_LARGEST_SENSITIVITY;
}

bool
pe_continual_factor_of_period(const pe_continual *series, const pe_presence *presence, int32_t t, pe_u128 *factor)
{
	int32_t    *row = pe_alloc((size_t) series->periods, sizeof(*row));
	pe_u128		sum = largest_of_row(series, t, presence->row_is_unit ? 1 : presence->max_periods, row);

	pe_free(row);
	*factor = sum * sum;
	if (presence->neighbours == PE_SUBSTITUTE)
		*factor = factor_of_replaced(series, presence, (int32_t[2]) {t, t}, cut_is_fixed(series, presence), *factor);
	return *factor < PE_LARGEST_SENSITIVITY;
}

static bool
can_prolong(const pe_continual *part, const pe_continual *whole)
{
	bool		separate = part->window == 1 && whole->window == 1;

	return part->periods <= whole->periods && (separate || (part->open_ended && whole->open_ended));
}

bool
pe_continual_prolonged(const pe_continual *part, const pe_continual *whole,
					   const pe_presence *presence, bool paid, pe_u128 *factor)
{
	pe_u128		before;

	if (!can_prolong(part, whole))
		pe_bug("a series that cannot be prolonged");
	if (!pe_continual_factor(whole, presence, factor) || !pe_continual_factor(part, presence, &before))
		return false;
	if (paid)
		*factor -= before;
	return true;
}
