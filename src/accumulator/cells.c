/*
 * cells.c
 *	  Accumulators of rows in cells: counts, and counts of units.  See accumulator.h.
 */
#include <string.h>

#include "accumulator/kinds.h"

static void
begin_counts(pe_accumulator *a)
{
	a->count = pe_alloc((size_t) a->domain.cells, sizeof(*a->count));
}

/* ------------------------------------------------------------------
 * Counts: an int64 for each cell
 * ------------------------------------------------------------------
 */

static size_t
counts_size(const pe_accumulator *a)
{
	return (size_t) a->domain.cells * sizeof(*a->count);
}

static void
write_counts(const pe_accumulator *a, char *bytes)
{
	memcpy(bytes, a->count, counts_size(a));
}

static pe_combined
combine_counts(pe_accumulator *a, const char *bytes, size_t size)
{
	if (size != counts_size(a))
		return PE_STATE_UNSOUND;
	for (int32_t cell = 0; cell < a->domain.cells; cell++)
	{
		int64_t		count;

		memcpy(&count, bytes + (size_t) cell * sizeof(count), sizeof(count));
		if (count < 0 || count > PE_COUNT_MOST)
			return PE_STATE_UNSOUND;
		if (count > PE_COUNT_MOST - a->count[cell])
			return PE_STATE_OVERFLOW;
		a->count[cell] += count;
	}
	return PE_COMBINED;
}

static const pe_accumulator_kind counts = {
	pe_accumulator_as_it_is, counts_size, write_counts, combine_counts, pe_accumulator_as_it_is
};

/* ------------------------------------------------------------------
 * Counts of units: rows of units by cell, cut at the end (domain/units.h)
 * ------------------------------------------------------------------
 */

static pe_units_frame
frame_of(const pe_accumulator *a)
{
	return (pe_units_frame) {.keys = a->keys, .limit = a->cut.limit, .max_rows = a->cut.max_rows, .cells = a->domain.cells};
}

/* Sorted, so that who takes the state in only merges. */
static void
sort_units(pe_accumulator *a)
{
	pe_units_sort(&a->units);
}

static size_t
units_size(const pe_accumulator *a)
{
	return pe_units_size(&a->units);
}

static void
write_units(const pe_accumulator *a, char *bytes)
{
	pe_units_frame frame = frame_of(a);

	pe_units_write(&frame, &a->units, bytes);
	pe_wipe(&frame, sizeof(frame));
}

static pe_combined
combine_units(pe_accumulator *a, const char *bytes, size_t size)
{
	pe_units_frame own = frame_of(a);
	pe_units_frame frame;
	pe_units	other;
	bool		sound = pe_units_read(&frame, &other, bytes, size);
	bool		same = sound && memcmp(&frame, &own, sizeof(own)) == 0;

	if (same)
	{
		pe_units_sort(&a->units);
		pe_units_merge(&a->units, &other);
	}
	else
		pe_units_free(&other);
	pe_wipe(&frame, sizeof(frame));
	pe_wipe(&own, sizeof(own));
	return same ? PE_COMBINED : PE_STATE_UNSOUND;
}

static void
count_units(pe_accumulator *a)
{
	begin_counts(a);
	pe_units_sort(&a->units);
	pe_units_count(&a->units, &a->keys, a->cut.max_rows, a->domain.cells, a->count);
	a->kind = &counts;
}

static const pe_accumulator_kind units = {sort_units, units_size, write_units, combine_units, count_units};

/* ------------------------------------------------------------------
 * Both
 * ------------------------------------------------------------------
 */

bool
pe_cells_begin(pe_accumulator *a, const char *bytes, size_t size)
{
	if (!pe_selection_read(&a->domain, &a->predicate, bytes, size))
		return false;
	if (a->has_cut)
		pe_units_init(&a->units, (size_t) a->cut.limit);
	else
		begin_counts(a);
	a->kind = a->has_cut ? &units : &counts;
	return true;
}

void
pe_cells_free(pe_accumulator *a)
{
	if (a->count != NULL)
		pe_wipe(a->count, counts_size(a));
	pe_free(a->count);
	pe_units_free(&a->units);
	pe_predicate_free(&a->predicate);
	pe_domain_free(&a->domain);
}
