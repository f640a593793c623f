/*
 * fuzz_units.c
 *	  Any bytes as a cut, and as the body of a state with units, which a worker hands over.
 *
 * They are refused, and the state is empty, or they are exactly what is written of what
 * was read.  What was read can be merged and counted: of each unit's rows that are not
 * dropped as many count as there are, up to max_rows, and that is true of two states
 * with the same units together.
 */
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "domain/units.h"
#include "shim.h"

/* States with more rows or cells are not counted: an entry may stand for 65535 rows, each of which is ranked. */
#define MOST_ROWS 300
#define MOST_CELLS 256

/* What the allocator rounds up to. */
#define SLACK 65536

static void
demand(bool condition, const char *what)
{
	if (!condition)
		pe_bug(what);
}

/* ---- the state ---- */

static void
check_written(const pe_units_frame *frame, const pe_units *units, const char *bytes, size_t size)
{
	char	   *written = pe_alloc(size, 1);

	demand(pe_units_size(units) == size, "the size of what was read");
	pe_units_write(frame, units, written);
	demand(memcmp(written, bytes, size) == 0, "what was read is not what is written");
	pe_free(written);
}

/* An entry, of either width; a narrow cell is a wide one. */
static pe_wide_rows
entry_of(const pe_units *units, size_t i)
{
	const pe_unit_rows *narrow = &units->entry[i];

	if (units->wide_cells != 0)
		return units->wide[i];
	return (pe_wide_rows) {
		.unit = {narrow->unit[0], narrow->unit[1]}, .cell = (pe_u128) narrow->cell, .rows = narrow->rows, .counted = narrow->counted
	};
}

static uint64_t
rows_of(const pe_units *units)
{
	uint64_t	rows = 0;

	for (size_t i = 0; i < units->entries; i++)
		rows += entry_of(units, i).rows;
	return rows;
}

static bool
same_unit(const pe_wide_rows *a, const pe_wide_rows *b)
{
	return memcmp(a->unit, b->unit, sizeof(a->unit)) == 0;
}

/* How many rows count, by adding up. */
static int64_t
expected_count(const pe_units *units, int64_t max_rows)
{
	int64_t		count = 0;

	for (size_t i = 0, end; i < units->entries; i = end)
	{
		pe_wide_rows first = entry_of(units, i);
		int64_t		rows = 0;

		for (end = i; end < units->entries; end++)
		{
			pe_wide_rows entry = entry_of(units, end);

			if (!same_unit(&first, &entry))
				break;
			rows += entry.counted;
		}
		count += rows < max_rows ? rows : max_rows;
	}
	return count;
}

/* How many rows count, as they are handed on. */
typedef struct chosen
{
	const pe_units *units;
	int64_t		count;
} chosen;

static void
take(void *argument, pe_u128 cell, bool counts)
{
	chosen	   *c = argument;

	demand(c->units->wide_cells == 0 || cell < c->units->wide_cells, "a cell that does not exist");
	c->count += counts;
}

static void
check_chosen(const pe_units_frame *frame, const pe_units *units)
{
	chosen		c = {.units = units};

	pe_units_choose(units, &frame->keys, frame->max_rows, NULL, take, &c);
	demand(c.count == expected_count(units, frame->max_rows), "the rows that are chosen");
}

static bool
own_group(void *argument, pe_u128 cell, pe_u128 *group)
{
	(void) argument;
	*group = cell / 2;
	return cell % 3 > 0;
}

/* In how many pairs of cells, up to most, each unit has a row that counts, by looking; found: whether there is such a row at all. */
static int64_t
expected_groups(const pe_units *units, int64_t most, bool *found)
{
	int64_t		count = 0;

	for (size_t i = 0, end; i < units->entries; i = end)
	{
		pe_wide_rows first = entry_of(units, i);
		pe_u128		last = ~(pe_u128) 0;
		int64_t		groups = 0;

		for (end = i; end < units->entries; end++)
		{
			pe_wide_rows entry = entry_of(units, end);

			if (!same_unit(&first, &entry))
				break;
			/* sorted by cell, and so by pair */
			groups += entry.counted > 0 && entry.cell % 3 > 0 && entry.cell / 2 != last;
			if (entry.counted > 0 && entry.cell % 3 > 0)
				last = entry.cell / 2;
			*found |= entry.counted > 0;
		}
		count += groups < most ? groups : most;
	}
	return count;
}

/* People in pairs of cells, and units by their rows: as many units as have rows that count. */
static void
check_people(const pe_units_frame *frame, const pe_units *units)
{
	chosen		c = {.units = units};
	int64_t		sizes[3] = {0};
	bool		found = false;

	pe_units_choose_cells(units, &frame->keys, frame->max_rows, NULL, own_group, &c, take);
	demand(c.count == expected_groups(units, frame->max_rows, &found), "the groups that are chosen");
	pe_units_count_sizes(units, 3, sizes);
	demand((sizes[0] + sizes[1] + sizes[2] > 0) == found && sizes[0] >= 0 && sizes[1] >= 0 && sizes[2] >= 0, "units by their rows");
	demand(sizes[0] + 2 * sizes[1] + 3 * sizes[2] == expected_count(units, 3), "rows of units, up to three");
}

static void
check_count(const pe_units_frame *frame, const pe_units *units)
{
	int64_t    *count = pe_alloc((size_t) frame->cells + 1, sizeof(*count));
	int64_t		sum = 0;

	check_chosen(frame, units);
	check_people(frame, units);
	if (units->wide_cells != 0)
	{
		pe_free(count);
		return;
	}
	pe_units_count(units, &frame->keys, frame->max_rows, NULL, frame->cells, count);
	for (int32_t cell = 0; cell < frame->cells; cell++)
	{
		demand(count[cell] >= 0, "a count below 0");
		sum += count[cell];
	}
	demand(sum == expected_count(units, frame->max_rows), "the rows that count");
	pe_free(count);
}

/* With room for a row more; then the state twice. */
static void
check_merged(const pe_units_frame *frame, pe_units *units, const char *bytes, size_t size)
{
	static const uint64_t unit[2] = {UINT64_MAX, 0};
	uint64_t	rows = rows_of(units);
	pe_units_frame again;
	pe_units	other;

	demand(pe_units_read(&again, &other, bytes, size), "a state that was read once is refused");
	pe_units_make_room(&other);
	if (other.wide_cells != 0)
		pe_units_add_wide(&other, unit, other.wide_cells - 1, true);
	else
		pe_units_add(&other, unit, 0, true);
	pe_units_sort(&other);
	pe_units_merge(units, &other);
	demand(rows_of(units) == 2 * rows + 1, "the rows of two states");
	check_count(frame, units);
}

static void
check_memory(const char *bytes, size_t size)
{
	pe_units_frame frame;
	pe_units	units;

	(void) pe_test_memory();
	if (!pe_units_read(&frame, &units, bytes, size))
		demand(units.entries == 0 && units.memory == NULL, "refused, and something is left");
	pe_units_free(&units);
	demand(pe_test_memory() <= size + SLACK, "a state takes more memory than its bytes");
}

static void
check_state(const char *bytes, size_t size)
{
	pe_units_frame frame;
	pe_units	units;

	if (pe_units_read(&frame, &units, bytes, size))
	{
		check_written(&frame, &units, bytes, size);
		if (rows_of(&units) <= MOST_ROWS && frame.cells <= MOST_CELLS)
		{
			check_count(&frame, &units);
			check_merged(&frame, &units, bytes, size);
		}
	}
	pe_units_free(&units);
}

/* ---- a cut ---- */

/* Whether every unit is in one range of this cut: the hash is divided among them. */
static void
check_ranges(pe_cut *cut)
{
	const uint64_t ends[][2] = {{0, 0}, {UINT64_MAX, UINT64_MAX}};

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
	{
		cut->range = i == 0 ? 0 : cut->ranges - 1;
		demand(pe_unit_in_range(cut, ends[i]), "a unit in no range");
		cut->range = i == 0 ? cut->ranges - 1 : 0;
		demand(cut->ranges == 1 || !pe_unit_in_range(cut, ends[i]), "a unit in two ranges");
	}
}

static void
check_cut(const char *bytes, size_t size)
{
	static const char name[] = "a unit";
	pe_unit_keys keys;
	uint64_t	unit[2];
	pe_cut		cut;

	if (size != sizeof(cut))
		return;
	memcpy(&cut, bytes, sizeof(cut));
	if (!pe_cut_is_sound(&cut))
		return;
	pe_unit_keys_init(&keys, &cut);
	pe_unit_hash(&keys, name, sizeof(name), unit);
	(void) pe_unit_in_range(&cut, unit);
	check_ranges(&cut);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_cut((const char *) data, size);
	check_memory((const char *) data, size);
	check_state((const char *) data, size);
	return 0;
}
