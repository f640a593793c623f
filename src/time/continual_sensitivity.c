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

bool
pe_continual_factor(const pe_continual *series, const pe_presence *presence, pe_u128 *factor)
{
	if (!factor_of_unit(series, presence, factor) || *factor >= PE_LARGEST_SENSITIVITY)
		return false;
	if (presence->neighbours == PE_SUBSTITUTE)
		*factor *= 4;
	return *factor < PE_LARGEST_SENSITIVITY;
}

bool
pe_continual_factor_of_period(const pe_continual *series, const pe_presence *presence, int32_t t, pe_u128 *factor)
{
	int32_t    *row = pe_alloc((size_t) series->periods, sizeof(*row));
	pe_u128		sum = largest_of_row(series, t, presence->row_is_unit ? 1 : presence->max_periods, row);

	pe_free(row);
	*factor = sum * sum * (presence->neighbours == PE_SUBSTITUTE ? 4 : 1);
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
