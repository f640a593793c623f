/*
 * collect_cells.c
 *	  Accumulators of rows in cells, of one product or of several tables: counts, sums, and both of
 *	  units.  See accumulator.h.
 */
#include <string.h>

#include "accumulator/kinds.h"

/* Whether rows are gathered first. */
static bool
has_tables(const pe_accumulator *a)
{
	return a->reading == PE_READ_TABLES || a->reading == PE_READ_PERIODS || pe_accumulator_sums(a);
}

static void
begin_counts(pe_accumulator *a)
{
	a->count = pe_alloc((size_t) a->cells, sizeof(*a->count));
	if (has_tables(a))
		pe_gathered_begin(a);
}

/* ------------------------------------------------------------------
 * Counts and sums: an int64 for each cell
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
		if (count < -PE_COUNT_MOST || count > PE_COUNT_MOST || (count < 0 && !pe_accumulator_sums(a)))
			return PE_STATE_UNSOUND;
		count += a->count[cell];
		if (count < -PE_COUNT_MOST || count > PE_COUNT_MOST)
			return PE_STATE_OVERFLOW;
		a->count[cell] = count;
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
	if (pe_accumulator_sums(a))
		return pe_sums_product(&a->summed, &a->domain);
	return has_tables(a) ? pe_tables_product(&a->tables) : (pe_u128) a->domain.cells;
}

/* How periods distinguish these; NULL: they do not. */
static const pe_periods_cut *
periods_of(const pe_accumulator *a, pe_periods_cut *periods)
{
	if (a->max_periods == 0)
		return NULL;
	*periods = (pe_periods_cut) {cells_of_units(a) / (pe_u128) pe_attribute_cells(&a->domain.attribute[0]),
		a->max_periods};
	return periods;
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
gather_sum_row(void *argument, pe_u128 cell, bool counts)
{
	pe_accumulator *a = argument;
	pe_sum_row	row;

	pe_sums_row(&a->summed, &a->domain, cell, &row);
	row.counts = counts;
	pe_accumulator_add_sum_row(a, &row);
}

/* A table of units that are counted once in each cell. */
typedef struct people
{
	const pe_accumulator *a;
	int32_t		table;
} people;

/* The cell of that table that a row of a unit is in, and whether it counts there. */
static bool
cell_of_people(void *argument, pe_u128 cell, pe_u128 *group)
{
	const people *p = argument;
	uint64_t	needs = p->a->summed.sum[p->table].needs;
	pe_sum_row	row;

	pe_sums_row(&p->a->summed, &p->a->domain, cell, &row);
	*group = (pe_u128) pe_tables_place(&p->a->tables, p->table, row.coordinate);
	return (row.has & needs) == needs;
}

static void
count_unit(void *argument, pe_u128 group, bool counts)
{
	const people *p = argument;

	p->a->count[p->a->tables.first[p->table] + (int64_t) group] += counts;
}

static void
count_people(pe_accumulator *a, const pe_periods_cut *periods)
{
	for (int32_t t = 0; t < a->summed.sums; t++)
		if (a->summed.sum[t].kind == PE_SUM_UNITS)
			pe_units_choose_cells(&a->units, &a->keys, a->summed.sum[t].most, periods,
								  cell_of_people, &(people) {a, t}, count_unit);
}

/* A table of rows that the cut left out, and what a row adds to it. */
typedef struct lost
{
	people		of;
	int			sign;
} lost;

static void
add_kept(void *argument, pe_u128 cell, bool counts)
{
	lost	   *l = argument;
	pe_u128		group;
	bool		has = cell_of_people(&l->of, cell, &group);

	l->of.a->count[l->of.a->tables.first[l->of.table] + (int64_t) group] += l->sign * (has & counts);
}

/* Adds what a cut to so many rows leaves. */
static void
add_cut(pe_accumulator *a, int32_t table, int64_t rows, const pe_periods_cut *periods, int sign)
{
	pe_units_choose(&a->units, &a->keys, rows < INT32_MAX ? (int32_t) rows : INT32_MAX, periods,
					add_kept, &(lost) {{a, table}, sign});
}

/* The rows with the smallest ranks are those of every longer cut, too. */
static void
count_lost(pe_accumulator *a, const pe_periods_cut *periods)
{
	for (int32_t t = 0; t < a->summed.sums; t++)
		if (a->summed.sum[t].kind == PE_SUM_LOST)
		{
			add_cut(a, t, (int64_t) a->cut.max_rows + a->summed.sum[t].most, periods, 1);
			add_cut(a, t, a->cut.max_rows, periods, -1);
		}
}

static void
count_units(pe_accumulator *a)
{
	pe_periods_cut room;
	const pe_periods_cut *periods = periods_of(a, &room);

	begin_counts(a);
	pe_units_sort(&a->units);
	if (a->reading == PE_READ_SIZES)
		pe_units_count_sizes(&a->units, (int32_t) a->cells, a->count);
	else if (has_tables(a))
		pe_units_choose(&a->units, &a->keys, a->cut.max_rows, periods,
						pe_accumulator_sums(a) ? gather_sum_row : gather_row, a);
	else
		pe_units_count(&a->units, &a->keys, a->cut.max_rows, periods, a->domain.cells, a->count);
	count_people(a, periods);
	count_lost(a, periods);
	a->kind = has_tables(a) ? &counts_of_tables : &counts;
}

static const pe_accumulator_kind units = {
	pe_collected_units_settle, pe_collected_units_size, pe_collected_units_write,
	pe_collected_units_combine, count_units
};

/* ------------------------------------------------------------------
 * Both
 * ------------------------------------------------------------------
 */

/* A unit's rows are all in one cell, which is not what is counted. */
static bool
read_sizes(pe_accumulator *a, const char *bytes, size_t size)
{
	pe_sizes_spec sizes;

	if (!a->has_cut || size < sizeof(sizes))
		return false;
	memcpy(&sizes, bytes, sizeof(sizes));
	a->cells = sizes.most;
	return sizes.most >= 1 && sizes.most <= PE_SIZES_MOST &&
		pe_selection_read(&a->domain, &a->predicate, bytes + sizeof(sizes), size - sizeof(sizes)) &&
		a->domain.attributes == 0;
}

static bool
read_periods(pe_accumulator *a, const char *bytes, size_t size)
{
	pe_periods_spec periods;

	if (!a->has_cut || size < sizeof(periods))
		return false;
	memcpy(&periods, bytes, sizeof(periods));
	if (periods.most < 1 || periods.most > INT32_MAX)
		return false;
	a->max_periods = (int32_t) periods.most;
	return pe_tables_selection_read(&a->tables, &a->domain, &a->predicate, bytes + sizeof(periods),
									size - sizeof(periods)) && a->domain.attributes > 0;
}

static bool
counts_lost(const pe_sums *sums)
{
	for (int32_t s = 0; s < sums->sums; s++)
		if (sums->sum[s].kind == PE_SUM_LOST)
			return true;
	return false;
}

static bool
read_summed(pe_accumulator *a, const char *bytes, size_t size)
{
	if (!pe_sums_read(&a->summed, &a->tables, &a->domain, &a->predicate, bytes, size))
		return false;
	a->max_periods = a->summed.max_periods;
	return a->has_cut || (a->max_periods == 0 && !counts_lost(&a->summed));
}

static bool
read_spec(pe_accumulator *a, const char *bytes, size_t size)
{
	if (a->reading == PE_READ_TABLES)
		return pe_tables_selection_read(&a->tables, &a->domain, &a->predicate, bytes, size);
	if (pe_accumulator_sums(a))
		return read_summed(a, bytes, size);
	if (a->reading == PE_READ_SIZES)
		return read_sizes(a, bytes, size);
	if (a->reading == PE_READ_PERIODS)
		return read_periods(a, bytes, size);
	return pe_selection_read(&a->domain, &a->predicate, bytes, size) && pe_domain_has_numbers(&a->domain);
}

static bool
begin_units(pe_accumulator *a)
{
	pe_u128		cells = cells_of_units(a);

	pe_units_init_product(&a->units, (size_t) a->cut.limit, cells);
	pe_units_limit_cells(&a->units, &a->keys, (size_t) a->cut.most_cells);
	return cells > 0;
}

bool
pe_cells_begin(pe_accumulator *a, const char *bytes, size_t size)
{
	bool		of_tables = has_tables(a);
	bool		cuts = pe_accumulator_cuts(a);

	if (!read_spec(a, bytes, size) || (cuts && !begin_units(a)))
		return false;
	if (a->reading != PE_READ_SIZES)
		a->cells = of_tables ? a->tables.first[a->tables.tables] : a->domain.cells;
	if (!cuts)
		begin_counts(a);
	a->kind = cuts ? &units : of_tables ? &counts_of_tables : &counts;
	return true;
}

void
pe_cells_end(pe_accumulator *a)
{
	if (a->count != NULL)
		pe_wipe(a->count, counts_size(a));
	pe_free(a->count);
	pe_units_free(&a->units);
	pe_predicate_free(&a->predicate);
	pe_domain_free(&a->domain);
}
