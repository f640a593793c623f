/*
 * cells.c
 *	  Accumulators of rows in cells, of one product or of several tables: counts, and counts of
 *	  units.  See accumulator.h.
 */
#include <string.h>

#include "accumulator/kinds.h"

static void
begin_counts(pe_accumulator *a)
{
	a->count = pe_alloc((size_t) a->cells, sizeof(*a->count));
	if (a->reading == PE_READ_TABLES)
		pe_gathered_begin(a);
}

/* ------------------------------------------------------------------
 * Counts: an int64 for each cell
 * ------------------------------------------------------------------
 */

static size_t
counts_size(const pe_accumulator *a)
{
	return (size_t) a->cells * sizeof(*a->count);
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
	for (int64_t cell = 0; cell < a->cells; cell++)
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

/* Of tables: what is gathered is counted before anything else. */
static const pe_accumulator_kind counts_of_tables = {
	pe_gathered_count, counts_size, write_counts, combine_counts, pe_accumulator_as_it_is
};

/* ------------------------------------------------------------------
 * Counts of units: rows of units by cell, cut at the end (domain/units.h)
 * ------------------------------------------------------------------
 */

/* The cells that rows of units are in; 0 if there are too many. */
static pe_u128
cells_of_units(const pe_accumulator *a)
{
	return a->reading == PE_READ_TABLES ? pe_tables_product(&a->tables) : (pe_u128) a->domain.cells;
}

static pe_units_frame
frame_of(const pe_accumulator *a)
{
	return (pe_units_frame) {
		.keys = a->keys, .limit = a->cut.limit, .max_rows = a->cut.max_rows,
		.cells = a->units.wide_cells != 0 ? 0 : (int32_t) cells_of_units(a)
	};
}

/* Sorted, so that who takes the state in only merges. */
void
pe_collected_units_settle(pe_accumulator *a)
{
	pe_units_sort(&a->units);
}

size_t
pe_collected_units_size(const pe_accumulator *a)
{
	return pe_units_size(&a->units);
}

void
pe_collected_units_write(const pe_accumulator *a, char *bytes)
{
	pe_units_frame frame = frame_of(a);

	pe_units_write(&frame, &a->units, bytes);
	pe_wipe(&frame, sizeof(frame));
}

pe_combined
pe_collected_units_combine(pe_accumulator *a, const char *bytes, size_t size)
{
	pe_units_frame own = frame_of(a);
	pe_units_frame frame;
	pe_units	other;
	bool		sound = pe_units_read(&frame, &other, bytes, size);
	bool		same = sound && memcmp(&frame, &own, sizeof(own)) == 0 && other.wide_cells == a->units.wide_cells;

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

/* A row that was chosen, for all tables. */
static void
gather_row(void *argument, pe_u128 cell, bool counts)
{
	pe_accumulator *a = argument;
	int32_t		coordinate[PE_MAX_ATTRIBUTES];

	pe_tables_coordinates(&a->tables, cell, coordinate);
	pe_accumulator_add_coordinates(a, coordinate, counts);
}

static void
count_units(pe_accumulator *a)
{
	begin_counts(a);
	pe_units_sort(&a->units);
	if (a->reading == PE_READ_TABLES)
		pe_units_choose(&a->units, &a->keys, a->cut.max_rows, gather_row, a);
	else
		pe_units_count(&a->units, &a->keys, a->cut.max_rows, a->domain.cells, a->count);
	a->kind = a->reading == PE_READ_TABLES ? &counts_of_tables : &counts;
}

static const pe_accumulator_kind units = {
	pe_collected_units_settle, pe_collected_units_size, pe_collected_units_write, pe_collected_units_combine, count_units
};

/* ------------------------------------------------------------------
 * Both
 * ------------------------------------------------------------------
 */

static bool
read_spec(pe_accumulator *a, const char *bytes, size_t size)
{
	if (a->reading == PE_READ_TABLES)
		return pe_tables_selection_read(&a->tables, &a->domain, &a->predicate, bytes, size);
	return pe_selection_read(&a->domain, &a->predicate, bytes, size) && pe_domain_has_numbers(&a->domain);
}

static bool
begin_units(pe_accumulator *a)
{
	pe_u128		cells = cells_of_units(a);

	pe_units_init_product(&a->units, (size_t) a->cut.limit, cells);
	return cells > 0;
}

bool
pe_cells_begin(pe_accumulator *a, const char *bytes, size_t size)
{
	bool		of_tables = a->reading == PE_READ_TABLES;

	if (!read_spec(a, bytes, size) || (a->has_cut && !begin_units(a)))
		return false;
	a->cells = of_tables ? a->tables.first[a->tables.tables] : a->domain.cells;
	if (!a->has_cut)
		begin_counts(a);
	a->kind = a->has_cut ? &units : of_tables ? &counts_of_tables : &counts;
	return true;
}

void
pe_cells_free(pe_accumulator *a)
{
	if (a->count != NULL)
		pe_wipe(a->count, counts_size(a));
	pe_free(a->count);
	pe_gathered_free(a);
	pe_tables_free(&a->tables);
	pe_units_free(&a->units);
	pe_predicate_free(&a->predicate);
	pe_domain_free(&a->domain);
}
