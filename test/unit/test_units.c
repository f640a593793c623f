/*
 * test_units.c
 *	  Which rows of a unit count: the keyed functions against published values,
 *	  the cut against its definition, in every order, split and range.
 *
 * Random cases come from a fixed seed, so failures repeat; with PG_EPSILON_QUICK
 * set there are far fewer.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "domain/units.h"
#include "numbers.h"
#include "shim.h"

#define cases(count) fewer(count, 100)

/* ---- keyed functions ---- */

static void
assert_hex(const void *bytes, size_t size, const char *expected)
{
	char		hex[2 * 64 + 1];

	for (size_t i = 0; i < size; i++)
		snprintf(hex + 2 * i, 3, "%02x", ((const uint8_t *) bytes)[i]);
	assert_string_equal(hex, expected);
}

/* The authors' own vectors: key 00 01 .. 0f, message 00 01 .. of each length */
static void
test_siphash(void **state)
{
	static const struct
	{
		size_t		size;
		const char *expected;
	}			sample[] = {
		{0, "a3817f04ba25a8e66df67214c7550293"},
		{1, "da87c1d86b99af44347659119b22fc45"},
		{2, "8177228da4a45dc7fca38bdef60affe4"},
		{8, "3b62a9ba6258f5610f83e264f31497b4"},
		{15, "5493e99933b0a8117e08ec0f97cfc3d9"},
		{63, "5150d1772f50834a503e069a973fbd7c"},
	};
	static const uint64_t key[2] = {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)};
	uint8_t		message[64];

	(void) state;
	for (int i = 0; i < lengthof(message); i++)
		message[i] = (uint8_t) i;
	for (int s = 0; s < lengthof(sample); s++)
	{
		uint64_t	result[2];
		uint8_t		bytes[16];

		pe_siphash(key, message, sample[s].size, result);
		for (int i = 0; i < 16; i++)
			bytes[i] = (uint8_t) (result[i / 8] >> (8 * (i % 8)));
		assert_hex(bytes, sizeof(bytes), sample[s].expected);
	}
}

/* ---- the cut ---- */

#define MOST_ROWS 400
#define MOST_CELLS 8

typedef struct row
{
	int			unit;
	int32_t		cell;
	bool		counts;
} row;

typedef struct table
{
	int			rows;
	int			units;
	int32_t		cells;
	row			row[MOST_ROWS];
} table;

typedef struct ranked
{
	uint64_t	rank[2];
	int32_t		cell;
} ranked;

/* Some units have many rows, some tables few cells, so that there are ties and equal rows. */
static void
random_table(table *t)
{
	t->rows = random_below(3) == 0 ? random_below(20) : random_below(MOST_ROWS);
	t->units = 1 + random_below(random_below(2) == 0 ? 4 : 100);
	t->cells = 1 + random_below(MOST_CELLS);
	for (int i = 0; i < t->rows; i++)
	{
		t->row[i].unit = random_below(4) == 0 ? 0 : random_below(t->units);
		t->row[i].cell = random_below(t->cells);
		t->row[i].counts = random_below(5) > 0;
	}
}

static void
random_cut(pe_cut *cut)
{
	memset(cut, 0, sizeof(*cut));
	pe_random_bytes(cut->key, sizeof(cut->key));
	cut->max_rows = 1 + random_below(random_below(2) == 0 ? 6 : 60);
	cut->limit = 1 + random_below(100);
	cut->ranges = 1;
}

static int
by_rank(const void *a, const void *b)
{
	const uint64_t *x = a;
	const uint64_t *y = b;
	int			half = x[0] == y[0];

	return (x[half] > y[half]) - (x[half] < y[half]);
}

/* SipHash(second half of the key, unit || cell || j), by the definition */
static void
rank_of(const pe_cut *cut, const pe_unit_keys *keys, int unit, int32_t cell, int j, uint64_t *rank)
{
	uint64_t	key[2] = {0, 0};
	uint64_t	hash[2];
	uint8_t		message[28] = {0};

	pe_unit_hash(keys, &unit, sizeof(unit), hash);
	for (int i = 0; i < 16; i++)
		message[i] = (uint8_t) (hash[i / 8] >> (56 - 8 * (i % 8)));
	message[19] = (uint8_t) cell;
	message[26] = (uint8_t) (j >> 8);
	message[27] = (uint8_t) j;
	for (int i = 0; i < 16; i++)
		key[i / 8] |= (uint64_t) cut->key[16 + i] << 8 * (i % 8);
	pe_siphash(key, message, sizeof(message), rank);
}

/* Counts by the definition: each unit's rows, numbered in their cell, sorted by rank. */
static void
count_by_definition(const table *t, const pe_cut *cut, int64_t *count)
{
	pe_unit_keys keys;
	ranked		all[MOST_ROWS];

	pe_unit_keys_init(&keys, cut);
	for (int unit = 0; unit < t->units; unit++)
	{
		int			j[MOST_CELLS] = {0};
		int			rows = 0;

		for (int i = 0; i < t->rows; i++)
			if (t->row[i].unit == unit && t->row[i].counts)
			{
				all[rows].cell = t->row[i].cell;
				rank_of(cut, &keys, unit, all[rows].cell, ++j[all[rows].cell], all[rows].rank);
				rows++;
			}
		qsort(all, (size_t) rows, sizeof(all[0]), by_rank);
		for (int i = 0; i < rows && i < cut->max_rows; i++)
			count[all[i].cell]++;
	}
}

static void
add_row(pe_units *units, const pe_cut *cut, const pe_unit_keys *keys, const row *r)
{
	uint64_t	hash[2];

	pe_unit_hash(keys, &r->unit, sizeof(r->unit), hash);
	if (!pe_unit_in_range(cut, hash))
		return;
	if (units->entries == units->room)
		pe_units_make_room(units);
	assert_true(units->entries < units->room);
	pe_units_add(units, hash, r->cell, r->counts);
}

/* The same by states: the rows dealt out to some, in ranges, and merged. */
static void
count_periods_by_states(const table *t, pe_cut cut, int states, pe_periods_cut p, int64_t *count)
{
	pe_unit_keys keys;

	pe_unit_keys_init(&keys, &cut);
	for (cut.range = 0; cut.range < cut.ranges; cut.range++)
	{
		pe_units	units[4];

		for (int s = 0; s < states; s++)
		{
			pe_units_init(&units[s], (size_t) cut.limit);
			pe_units_limit_cells(&units[s], &keys, (size_t) cut.most_cells);
		}
		for (int i = 0; i < t->rows; i++)
			add_row(&units[random_below(states)], &cut, &keys, &t->row[i]);
		for (int s = 0; s < states; s++)
			pe_units_sort(&units[s]);
		for (int s = 1; s < states; s++)
			pe_units_merge(&units[0], &units[s]);
		pe_units_count(&units[0], &keys, cut.max_rows, p.most > 0 ? &p : NULL, t->cells, count);
		pe_units_free(&units[0]);
	}
}

static void
count_by_states(const table *t, pe_cut cut, int states, int64_t *count)
{
	count_periods_by_states(t, cut, states, (pe_periods_cut) {0}, count);
}

static void
shuffle(table *t)
{
	for (int i = t->rows - 1; i > 0; i--)
	{
		int			j = random_below(i + 1);
		row			r = t->row[i];

		t->row[i] = t->row[j];
		t->row[j] = r;
	}
}

static void
test_cut(void **state)
{
	(void) state;
	for (int round = 0; round < cases(1000); round++)
	{
		table		t;
		pe_cut		cut;
		int64_t		expected[MOST_CELLS] = {0};

		random_table(&t);
		random_cut(&cut);
		count_by_definition(&t, &cut, expected);
		for (int states = 1; states <= 4; states++)
		{
			int64_t		count[MOST_CELLS] = {0};

			shuffle(&t);
			cut.limit = 1 + random_below(2 * MOST_ROWS);
			cut.ranges = 1 + (uint32_t) random_below(states == 1 ? 1 : 7);
			count_by_states(&t, cut, states, count);
			assert_memory_equal(count, expected, sizeof(count));
		}
	}
}

/* By the definition: of each unit the rows in its cells that rank first, counted or not. */
static table
of_first_cells(const table *t, const pe_cut *cut)
{
	pe_unit_keys keys;
	table		kept = {.units = t->units, .cells = t->cells};

	pe_unit_keys_init(&keys, cut);
	for (int unit = 0; unit < t->units; unit++)
	{
		bool		has[MOST_CELLS] = {0};
		bool		is_first[MOST_CELLS] = {0};
		ranked		all[MOST_CELLS];
		int			cells = 0;

		for (int i = 0; i < t->rows; i++)
			if (t->row[i].unit == unit && !has[t->row[i].cell])
			{
				has[t->row[i].cell] = true;
				all[cells].cell = t->row[i].cell;
				rank_of(cut, &keys, unit, all[cells].cell, 0, all[cells].rank);
				cells++;
			}
		qsort(all, (size_t) cells, sizeof(all[0]), by_rank);
		for (int i = 0; i < cells && i < cut->most_cells; i++)
			is_first[all[i].cell] = true;
		for (int i = 0; i < t->rows; i++)
			if (t->row[i].unit == unit && is_first[t->row[i].cell])
				kept.row[kept.rows++] = t->row[i];
	}
	return kept;
}

/* However the rows are dealt out, and however small a state is, the same cells of a unit are read. */
static void
test_most_cells(void **state)
{
	(void) state;
	for (int round = 0; round < cases(1000); round++)
	{
		table		t;
		table		kept;
		pe_cut		cut;
		int64_t		expected[MOST_CELLS] = {0};

		random_table(&t);
		random_cut(&cut);
		cut.most_cells = 1 + random_below(MOST_CELLS);
		kept = of_first_cells(&t, &cut);
		count_by_definition(&kept, &cut, expected);
		for (int states = 1; states <= 4; states++)
		{
			int64_t		count[MOST_CELLS] = {0};

			shuffle(&t);
			cut.limit = 1 + random_below(2 * MOST_ROWS);
			cut.ranges = 1 + (uint32_t) random_below(states == 1 ? 1 : 7);
			count_by_states(&t, cut, states, count);
			assert_memory_equal(count, expected, sizeof(count));
		}
	}
}

/* A state has at most so many entries for each unit, however many rows there were. */
static void
test_most_cells_room(void **state)
{
	pe_cut		cut = {.limit = 64, .most_cells = 4, .max_rows = 1, .ranges = 1};
	pe_unit_keys keys;
	pe_units	units;

	(void) state;
	pe_unit_keys_init(&keys, &cut);
	pe_units_init(&units, (size_t) cut.limit);
	pe_units_limit_cells(&units, &keys, (size_t) cut.most_cells);
	for (int i = 0; i < 100000; i++)
		add_row(&units, &cut, &keys, &(row) {.unit = i % 5, .cell = i % 9973, .counts = true});
	assert_true(units.room <= 64);
	pe_units_sort(&units);
	assert_int_equal(units.entries, 20);
	pe_units_free(&units);
}

/* By the definition: of each unit the rows of each period by themselves, and of these periods the first ones that have any that count. */
static void
count_periods_by_definition(const table *t, const pe_cut *cut, pe_periods_cut p,
							void (*count_part) (const table *t, const pe_cut *cut, int64_t *count), int64_t *count)
{
	for (int unit = 0; unit < t->units; unit++)
	{
		int			found = 0;

		for (int32_t period = 0; period * p.cells < (pe_u128) t->cells; period++)
		{
			table		part = {.units = t->units, .cells = t->cells};

			for (int i = 0; i < t->rows; i++)
				if (t->row[i].unit == unit && (pe_u128) t->row[i].cell / p.cells == (pe_u128) period && t->row[i].counts)
					part.row[part.rows++] = t->row[i];
			if (part.rows > 0 && found++ < p.most)
				count_part(&part, cut, count);
		}
	}
}

static void
test_periods(void **state)
{
	(void) state;
	for (int round = 0; round < cases(500); round++)
	{
		table		t;
		pe_cut		cut;
		pe_periods_cut p = {1 + (pe_u128) random_below(3), 1 + random_below(4)};
		int64_t		expected[MOST_CELLS] = {0};

		random_table(&t);
		random_cut(&cut);
		count_periods_by_definition(&t, &cut, p, count_by_definition, expected);
		for (int states = 1; states <= 3; states++)
		{
			int64_t		count[MOST_CELLS] = {0};

			shuffle(&t);
			cut.limit = 1 + random_below(2 * MOST_ROWS);
			cut.ranges = 1 + (uint32_t) random_below(states == 1 ? 1 : 7);
			count_periods_by_states(&t, cut, states, p, count);
			assert_memory_equal(count, expected, sizeof(count));
		}
	}
}

/* What comes in a later period changes nothing of an earlier one, nor does what does not count. */
static void
test_later_periods(void **state)
{
	(void) state;
	for (int round = 0; round < cases(500); round++)
	{
		table		t;
		table		before;
		pe_cut		cut;
		pe_periods_cut p = {1 + (pe_u128) random_below(2), 1 + random_below(3)};
		int32_t		end = (int32_t) p.cells * (1 + random_below(3));
		int64_t		count[2][MOST_CELLS] = {{0}};

		random_table(&t);
		random_cut(&cut);
		before = t;
		before.rows = 0;
		for (int i = 0; i < t.rows; i++)
			if (t.row[i].cell < end && t.row[i].counts)
				before.row[before.rows++] = t.row[i];
		count_periods_by_states(&t, cut, 1, p, count[0]);
		count_periods_by_states(&before, cut, 2, p, count[1]);
		assert_memory_equal(count[0], count[1], sizeof(int64_t) * (size_t) (end < MOST_CELLS ? end : MOST_CELLS));
	}
}

/* A unit more changes the counts by at most max_rows in all, and upwards: what the sensitivity is for. */
static void
test_one_unit(void **state)
{
	(void) state;
	for (int round = 0; round < cases(1000); round++)
	{
		table		t;
		table		without;
		pe_cut		cut;
		int64_t		count[2][MOST_CELLS] = {{0}};
		int64_t		change = 0;
		int			gone;

		random_table(&t);
		random_cut(&cut);
		gone = random_below(t.units);
		without = t;
		without.rows = 0;
		for (int i = 0; i < t.rows; i++)
			if (t.row[i].unit != gone)
				without.row[without.rows++] = t.row[i];
		count_by_states(&t, cut, 1, count[0]);
		count_by_states(&without, cut, 2, count[1]);
		for (int c = 0; c < MOST_CELLS; c++)
		{
			assert_true(count[0][c] >= count[1][c]);
			change += count[0][c] - count[1][c];
		}
		assert_true(change <= cut.max_rows);
	}
}

/* Another key keeps other rows. */
static void
test_key(void **state)
{
	table		t = {.rows = MOST_ROWS, .units = 40, .cells = MOST_CELLS};
	pe_cut		cut = {.limit = 1000, .max_rows = 2, .ranges = 1};
	int64_t		count[2][MOST_CELLS] = {{0}};

	(void) state;
	for (int i = 0; i < t.rows; i++)
		t.row[i] = (row) {i % 40, i / 40 % MOST_CELLS, true};
	count_by_states(&t, cut, 1, count[0]);
	cut.key[31] = 1;
	count_by_states(&t, cut, 1, count[1]);
	assert_memory_not_equal(count[0], count[1], sizeof(count[0]));
}

/* Every hash is in one range; a table that fits is not divided, and shares are of a size. */
static void
test_ranges(void **state)
{
	pe_cut		cut = {.max_rows = 1};

	(void) state;
	pe_cut_divide(&cut, 1000, 72 * 1000, sizeof(pe_unit_rows));
	assert_int_equal(cut.ranges, 1);
	assert_int_equal(cut.limit, 1000);
	pe_cut_divide(&cut, 1001, 72 * 1000, sizeof(pe_unit_rows));
	assert_int_equal(cut.ranges, 3);
	pe_cut_divide(&cut, 0, 0, sizeof(pe_unit_rows));
	assert_int_equal(cut.ranges, 1);
	assert_true(pe_cut_is_sound(&cut));
	pe_cut_divide(&cut, UINT64_MAX, 0, sizeof(pe_unit_rows));
	assert_true(pe_cut_is_sound(&cut));
	pe_cut_divide(&cut, UINT64_MAX, SIZE_MAX, sizeof(pe_unit_rows));
	assert_true(cut.limit * (int64_t) sizeof(pe_unit_rows) < INT64_C(1) << 30);
	for (int round = 0; round < cases(10000); round++)
	{
		uint64_t	hash[2];
		int			in = 0;

		pe_random_bytes(hash, sizeof(hash));
		if (round < 2)
			hash[0] = round == 0 ? 0 : UINT64_MAX;
		cut.ranges = 1 + (uint32_t) random_below(9);
		for (cut.range = 0; cut.range < cut.ranges; cut.range++)
			in += pe_unit_in_range(&cut, hash);
		assert_int_equal(in, 1);
	}
}

/* Memory is what the limit says, however many equal rows there are; more units take more. */
static void
test_room(void **state)
{
	pe_units	units;
	uint64_t	unit[2] = {1, 2};

	(void) state;
	pe_units_init(&units, 1000);
	for (int i = 0; i < 100000; i++)
	{
		if (units.entries == units.room)
			pe_units_make_room(&units);
		pe_units_add(&units, unit, i % 7, i % 7 > 0);
	}
	assert_int_equal(units.room, 1000);
	pe_units_sort(&units);
	assert_int_equal(units.entries, 7);
	for (uint64_t i = 0; i < 100000; i++)
	{
		unit[0] = i << 50;
		unit[1] = i;
		if (units.entries == units.room)
			pe_units_make_room(&units);
		pe_units_add(&units, unit, 0, true);
	}
	pe_units_sort(&units);
	assert_int_equal(units.entries, 100007);
	for (size_t i = 1; i < units.entries; i++)
		assert_true(units.entry[i - 1].unit[0] <= units.entry[i].unit[0]);
	pe_units_free(&units);
}

/* ---- groups of cells: people ---- */

/* Groups of two cells, named by large numbers; cell 5 is in none, though it has one. */
static const pe_u128 far = (pe_u128) 1 << 90;

static bool
group_of(void *argument, pe_u128 cell, pe_u128 *group)
{
	(void) argument;
	*group = far + cell / 2;
	return cell != 5;
}

/* SipHash(second half of the key, unit || group || 1), by the definition */
static void
rank_of_group(const pe_cut *cut, const pe_unit_keys *keys, int unit, int group, uint64_t *rank)
{
	uint64_t	key[2] = {0, 0};
	uint64_t	hash[2];
	uint8_t		message[40] = {0};

	pe_unit_hash(keys, &unit, sizeof(unit), hash);
	for (int i = 0; i < 16; i++)
		message[i] = (uint8_t) (hash[i / 8] >> (56 - 8 * (i % 8)));
	message[16 + 15 - 90 / 8] = 1 << 90 % 8;
	message[31] = (uint8_t) group;
	message[39] = 1;
	for (int i = 0; i < 16; i++)
		key[i / 8] |= (uint64_t) cut->key[16 + i] << 8 * (i % 8);
	pe_siphash(key, message, sizeof(message), rank);
}

/* By the definition: the groups of each unit, each once, sorted by rank. */
static void
people_by_definition(const table *t, const pe_cut *cut, int64_t *count)
{
	pe_unit_keys keys;

	pe_unit_keys_init(&keys, cut);
	for (int unit = 0; unit < t->units; unit++)
	{
		bool		has[MOST_CELLS / 2] = {false};
		ranked		all[MOST_CELLS / 2];
		int			groups = 0;

		for (int i = 0; i < t->rows; i++)
			has[t->row[i].cell / 2] |= t->row[i].unit == unit && t->row[i].counts && t->row[i].cell != 5;
		for (int g = 0; g < MOST_CELLS / 2; g++)
			if (has[g])
			{
				rank_of_group(cut, &keys, unit, g, all[groups].rank);
				all[groups++].cell = g;
			}
		qsort(all, (size_t) groups, sizeof(all[0]), by_rank);
		for (int i = 0; i < groups && i < cut->max_rows; i++)
			count[all[i].cell]++;
	}
}

typedef struct people
{
	int64_t		count[MOST_CELLS];
	uint64_t	taken;
} people;

static void
take_group(void *argument, pe_u128 group, bool counts)
{
	people	   *p = argument;

	assert_true(group >= far && group < far + MOST_CELLS / 2);
	p->count[group - far] += counts;
	p->taken++;
}

/* Narrow cells, or the same ones of a wide product. */
static void
add_to(pe_units *units, const pe_cut *cut, const pe_unit_keys *keys, const row *r)
{
	uint64_t	hash[2];

	if (units->wide_cells == 0)
	{
		add_row(units, cut, keys, r);
		return;
	}
	pe_unit_hash(keys, &r->unit, sizeof(r->unit), hash);
	if (!pe_unit_in_range(cut, hash))
		return;
	if (units->entries == units->room)
		pe_units_make_room(units);
	pe_units_add_wide(units, hash, (pe_u128) r->cell, r->counts);
}

/* A table in one range, dealt out to states, sorted and merged. */
static void
collect(const table *t, const pe_cut *cut, const pe_unit_keys *keys, int states, pe_u128 cells, pe_units *units)
{
	for (int s = 0; s < states; s++)
		pe_units_init_product(&units[s], (size_t) cut->limit, cells);
	for (int i = 0; i < t->rows; i++)
		add_to(&units[random_below(states)], cut, keys, &t->row[i]);
	for (int s = 0; s < states; s++)
		pe_units_sort(&units[s]);
	for (int s = 1; s < states; s++)
		pe_units_merge(&units[0], &units[s]);
}

/* People by states, as rows above: cut.max_rows groups of each unit at most. */
static void
people_by_states(const table *t, pe_cut cut, int states, bool wide, const pe_periods_cut *periods, people *p)
{
	pe_unit_keys keys;

	memset(p, 0, sizeof(*p));
	pe_unit_keys_init(&keys, &cut);
	for (cut.range = 0; cut.range < cut.ranges; cut.range++)
	{
		pe_units	units[4];

		collect(t, &cut, &keys, states, wide ? PE_WIDE_CELLS : 8, units);
		pe_units_choose_cells(&units[0], &keys, cut.max_rows, periods, group_of, p, take_group);
		pe_units_free(&units[0]);
	}
}

/* Each group of a unit once, the first ones by rank: in every order, split, range and width. */
static void
test_people(void **state)
{
	(void) state;
	for (int round = 0; round < cases(1000); round++)
	{
		table		t;
		pe_cut		cut;
		people		p;
		int64_t		expected[MOST_CELLS] = {0};

		random_table(&t);
		random_cut(&cut);
		cut.max_rows = 1 + random_below(5);
		people_by_definition(&t, &cut, expected);
		for (int states = 1; states <= 4; states++)
		{
			shuffle(&t);
			cut.limit = 1 + random_below(2 * MOST_ROWS);
			cut.ranges = 1 + (uint32_t) random_below(states == 1 ? 1 : 7);
			people_by_states(&t, cut, states, states % 2 == 0, NULL, &p);
			assert_memory_equal(p.count, expected, sizeof(expected));
		}
	}
}

/* Whether or not the rows that count of a period are in a group. */
static void
test_people_of_periods(void **state)
{
	(void) state;
	for (int round = 0; round < cases(1000); round++)
	{
		table		t;
		pe_cut		cut;
		people		p;
		pe_periods_cut periods = {2 * (1 + (pe_u128) random_below(2)), 1 + random_below(3)};
		int64_t		expected[MOST_CELLS] = {0};

		random_table(&t);
		random_cut(&cut);
		cut.max_rows = 1 + random_below(3);
		count_periods_by_definition(&t, &cut, periods, people_by_definition, expected);
		for (int states = 1; states <= 4; states++)
		{
			shuffle(&t);
			cut.limit = 1 + random_below(2 * MOST_ROWS);
			cut.ranges = 1 + (uint32_t) random_below(states == 1 ? 1 : 7);
			people_by_states(&t, cut, states, states % 2 == 0, &periods, &p);
			assert_memory_equal(p.count, expected, sizeof(expected));
		}
	}
}

typedef struct taken_rows
{
	int64_t		count[MOST_CELLS];
} taken_rows;

static void
take_row(void *argument, pe_u128 cell, bool counts)
{
	((taken_rows *) argument)->count[(int32_t) cell] += counts;
}

/* Wide cells are cut by periods as narrow ones are. */
static void
test_wide_periods(void **state)
{
	(void) state;
	for (int round = 0; round < cases(500); round++)
	{
		table		t;
		pe_cut		cut;
		pe_unit_keys keys;
		pe_units	units[4];
		pe_periods_cut periods = {1 + (pe_u128) random_below(3), 1 + random_below(4)};
		taken_rows	taken = {{0}};
		int64_t		rows = 0;
		int64_t		expected[MOST_CELLS] = {0};
		int64_t		least = 0;

		random_table(&t);
		random_cut(&cut);
		cut.range = 0;
		cut.ranges = 1;
		cut.limit = MOST_ROWS;
		pe_unit_keys_init(&keys, &cut);
		collect(&t, &cut, &keys, 1 + random_below(3), PE_WIDE_CELLS, units);
		pe_units_choose(&units[0], &keys, cut.max_rows, &periods, take_row, &taken);
		pe_units_free(&units[0]);
		count_periods_by_definition(&t, &cut, periods, count_by_definition, expected);
		/* the ranks of rows in wide cells are others: as many of a period count */
		for (int32_t cell = 0; cell < t.cells; cell++)
		{
			rows += taken.count[cell];
			least += expected[cell];
			if ((pe_u128) (cell + 1) % periods.cells == 0)
				assert_int_equal(rows, least);
		}
		assert_int_equal(rows, least);
	}
}

/* A unit more adds nothing or one to each group, and at most max_rows in all. */
static void
test_people_one_unit(void **state)
{
	(void) state;
	for (int round = 0; round < cases(1000); round++)
	{
		table		t;
		table		without;
		pe_cut		cut;
		people		p[2];
		int64_t		change = 0;
		int			gone;

		random_table(&t);
		random_cut(&cut);
		cut.max_rows = 1 + random_below(3);
		gone = random_below(t.units);
		without = t;
		without.rows = 0;
		for (int i = 0; i < t.rows; i++)
			if (t.row[i].unit != gone)
				without.row[without.rows++] = t.row[i];
		people_by_states(&t, cut, 1, false, NULL, &p[0]);
		people_by_states(&without, cut, 2, false, NULL, &p[1]);
		for (int c = 0; c < MOST_CELLS; c++)
		{
			assert_in_range(p[0].count[c] - p[1].count[c], 0, 1);
			change += p[0].count[c] - p[1].count[c];
		}
		assert_true(change <= cut.max_rows);
	}
}

/* A group of more equal rows, and of more entries, than one stands for is one group. */
static void
test_people_large(void **state)
{
	const int	rows = 3 * UINT16_MAX + 5;
	const pe_cut cut = {.limit = 1 << 20, .max_rows = 2, .ranges = 1};
	pe_unit_keys keys;
	pe_units	units;
	people		p = {.taken = 0};

	(void) state;
	pe_unit_keys_init(&keys, &cut);
	pe_units_init_product(&units, (size_t) cut.limit, PE_WIDE_CELLS);
	for (int i = 0; i < rows; i++)
		add_to(&units, &cut, &keys, &(row) {0, i % 2, i == rows - 1});
	pe_units_sort(&units);
	pe_units_choose_cells(&units, &keys, cut.max_rows, NULL, group_of, &p, take_group);
	pe_units_free(&units);
	assert_int_equal(p.taken, 1);
	assert_int_equal(p.count[0], 1);
}

static bool
one_group(void *argument, pe_u128 cell, pe_u128 *group)
{
	(void) argument;
	*group = far + cell % 2;
	return cell % 70001 == 70000;
}

/* The same of two groups with as many cells each, some of which count: there is room for more than two. */
static void
test_people_many_cells(void **state)
{
	const pe_cut cut = {.limit = 1 << 20, .max_rows = 10, .ranges = 1};
	pe_unit_keys keys;
	pe_units	units;
	people		p = {.taken = 0};

	(void) state;
	pe_unit_keys_init(&keys, &cut);
	pe_units_init(&units, (size_t) cut.limit);
	for (int i = 0; i < 4 * UINT16_MAX; i++)
		add_to(&units, &cut, &keys, &(row) {0, i, true});
	pe_units_sort(&units);
	pe_units_choose_cells(&units, &keys, cut.max_rows, NULL, one_group, &p, take_group);
	pe_units_free(&units);
	assert_int_equal(p.taken, 2);
	assert_int_equal(p.count[0], 1);
	assert_int_equal(p.count[1], 1);
}

/* How many units have so many rows that count, the last cell those with as many or more. */
static void
test_sizes(void **state)
{
	(void) state;
	for (int round = 0; round < cases(1000); round++)
	{
		table		t;
		pe_cut		cut;
		pe_unit_keys keys;
		pe_units	units[4];
		int64_t		expected[20] = {0};
		int64_t		count[20] = {0};
		int			most = 1 + random_below(20);
		int			states = 1 + random_below(4);

		random_table(&t);
		random_cut(&cut);
		pe_unit_keys_init(&keys, &cut);
		for (int unit = 0; unit < t.units; unit++)
		{
			int			rows = 0;

			for (int i = 0; i < t.rows; i++)
				rows += t.row[i].unit == unit && t.row[i].counts;
			if (rows > 0)
				expected[(rows < most ? rows : most) - 1]++;
		}
		collect(&t, &cut, &keys, states, round % 2 == 0 ? PE_WIDE_CELLS : 8, units);
		pe_units_count_sizes(&units[0], most, count);
		pe_units_free(&units[0]);
		assert_memory_equal(count, expected, sizeof(count));
	}
}

/* ---- work ---- */

/* Calls of the keyed functions since the test began (linked with --wrap). */
static uint64_t hashes;

extern void __real_pe_siphash(const uint64_t key[2], const void *message, size_t size, uint64_t result[2]);
extern void __wrap_pe_siphash(const uint64_t key[2], const void *message, size_t size, uint64_t result[2]);

void
__wrap_pe_siphash(const uint64_t key[2], const void *message, size_t size, uint64_t result[2])
{
	hashes++;
	__real_pe_siphash(key, message, size, result);
}

/* What counting a table costs, and leaves. */
typedef struct work
{
	uint64_t	hashes;
	uint64_t	group_hashes;
	uint64_t	polls;
	size_t		entries;
	size_t		bytes;
	size_t		room;
	size_t		memory;
	uint64_t	groups;			/* that were handed on */
} work;

#define WORK_ROWS 20000

/* Of each ten rows as many as `selected` count; units have ten rows in four cells, and one has a tenth of all. */
static work
work_of(const pe_cut *cut, int selected, int64_t *sum)
{
	work		w;
	pe_unit_keys keys;
	pe_units	units;
	int64_t		count[4] = {0};
	int64_t		sizes[2] = {0};
	people		p = {.taken = 0};
	uint64_t	polls = pe_test_polls();

	memset(&w, 0, sizeof(w));
	hashes = 0;
	(void) pe_test_memory();
	pe_unit_keys_init(&keys, cut);
	pe_units_init(&units, (size_t) cut->limit);
	for (int i = 0; i < WORK_ROWS; i++)
	{
		const row	r = {i % 10 == 3 ? 0 : 1 + i / 10, (i * 7 + i / 10) % 4, (i * 3 + i / 10) % 10 < selected};

		add_row(&units, cut, &keys, &r);
	}
	pe_units_sort(&units);
	w.entries = units.entries;
	w.room = units.room;
	w.bytes = pe_units_size(&units);
	pe_units_count(&units, &keys, cut->max_rows, NULL, 4, count);
	w.hashes = hashes;
	pe_units_choose_cells(&units, &keys, cut->max_rows, NULL, group_of, &p, take_group);
	pe_units_count_sizes(&units, 2, sizes);
	assert_true(sizes[0] + sizes[1] >= p.count[0] && p.count[0] + p.count[1] >= sizes[1]);
	w.group_hashes = hashes - w.hashes;
	w.groups = p.taken;
	pe_units_free(&units);
	w.polls = pe_test_polls() - polls;
	w.memory = pe_test_memory();
	*sum = count[0] + count[1] + count[2] + count[3];
	return w;
}

/* None, half or all of the rows selected: as many hashes, entries and bytes, with room for all rows and without. */
static void
test_work(void **state)
{
	static const int64_t limits[] = {2 * WORK_ROWS, 500};

	(void) state;
	for (int l = 0; l < lengthof(limits); l++)
	{
		pe_cut		cut = {.limit = limits[l], .max_rows = 3, .ranges = 1};
		int64_t		sum[3];
		work		none = work_of(&cut, 0, &sum[0]);
		work		half = work_of(&cut, 5, &sum[1]);
		work		all = work_of(&cut, 10, &sum[2]);

		assert_int_equal(sum[0], 0);
		assert_true(sum[1] > 0);
		assert_int_equal(sum[2], 3 * (WORK_ROWS / 10 + 1));
		assert_int_equal(all.hashes, 2 * WORK_ROWS);
		assert_int_equal(all.group_hashes, all.entries);
		assert_int_equal(all.groups, 2 * (WORK_ROWS / 10 + 1));
		assert_memory_equal(&none, &all, sizeof(all));
		assert_memory_equal(&half, &all, sizeof(all));
	}
}

/* Rows that are dropped take no place of those that count, in the same cell or another. */
static void
test_dropped_take_no_place(void **state)
{
	const pe_cut cut = {.limit = 10, .max_rows = 2, .ranges = 1};

	(void) state;
	for (int key = 0; key < 200; key++)
	{
		table		t = {.rows = 300, .units = 1, .cells = 2};
		pe_cut		keyed = cut;
		int64_t		count[MOST_CELLS] = {0};

		keyed.key[20] = (uint8_t) key;
		for (int i = 0; i < t.rows; i++)
			t.row[i] = (row) {0, i % 2, i == 100 || i == 202};
		count_by_states(&t, keyed, 2, count);
		assert_int_equal(count[0], 2);
		assert_int_equal(count[1], 0);
	}
}

static void
test_unsound(void **state)
{
	static const pe_cut unsound[] = {
		{.limit = 0, .max_rows = 1, .ranges = 1}, {.limit = 1, .max_rows = 0, .ranges = 1},
		{.limit = 1, .max_rows = 1, .ranges = 0}, {.limit = 1, .max_rows = 1, .range = 3, .ranges = 3},
		{.limit = 1, .max_rows = 1, .ranges = 1, .whole = 2}
	};

	(void) state;
	for (int i = 0; i < lengthof(unsound); i++)
		assert_false(pe_cut_is_sound(&unsound[i]));
}

/* ---- a state as bytes ---- */

#define STATE_ENTRIES 3
#define STATE_CELLS 4

/* What is written of three entries, the second one changed. */
static char *
state_with(const pe_units_frame *frame, const pe_unit_rows *second, size_t *size)
{
	pe_unit_rows entry[STATE_ENTRIES] = {
		{.unit = {1, 2}, .cell = 0, .rows = 2}, *second, {.unit = {1, 3}, .cell = 1, .rows = 1}
	};
	const pe_units units = {.entry = entry, .entries = STATE_ENTRIES, .room = STATE_ENTRIES, .limit = 8, .sorted = true};
	char	   *bytes;

	*size = pe_units_size(&units);
	bytes = pe_alloc(*size, 1);
	pe_units_write(frame, &units, bytes);
	return bytes;
}

static bool
is_read(const pe_units_frame *frame, const pe_unit_rows *second)
{
	size_t		size;
	char	   *bytes = state_with(frame, second, &size);
	pe_units_frame read;
	pe_units	units;
	bool		sound = pe_units_read(&read, &units, bytes, size);

	assert_true(sound || (units.entry == NULL && units.entries == 0));
	if (sound)
	{
		assert_memory_equal(&read, frame, sizeof(read));
		assert_int_equal(units.entries, STATE_ENTRIES);
		assert_memory_equal(&units.entry[1], second, sizeof(*second));
	}
	pe_units_free(&units);
	assert_false(pe_units_read(&read, &units, bytes, size - 1));
	assert_false(pe_units_read(&read, &units, bytes, sizeof(read) - 1));
	pe_free(bytes);
	return sound;
}

/* Whatever counting and merging rely on is checked: there is no state that they can be led astray by. */
static void
test_state(void **state)
{
	const pe_units_frame frame = {.limit = 8, .max_rows = 2, .cells = STATE_CELLS};
	const pe_units_frame many = {.limit = 8, .max_rows = 2, .cells = INT32_MAX};
	const pe_units_frame frames[] = {
		{.limit = 0, .max_rows = 2, .cells = STATE_CELLS}, {.limit = 8, .max_rows = 0, .cells = STATE_CELLS},
		{.limit = 8, .max_rows = 2, .cells = 0}, {.limit = 8, .max_rows = 2, .cells = -1}
	};
	const pe_unit_rows unsound[] = {
		{.unit = {1, 2}, .cell = STATE_CELLS, .rows = 1}, {.unit = {1, 2}, .cell = -1, .rows = 1},
		{.unit = {1, 2}, .cell = 1, .rows = 0}, {.unit = {1, 1}, .cell = 1, .rows = 1},
		{.unit = {1, 4}, .cell = 1, .rows = 1}, {.unit = {1, 2}, .cell = 0, .rows = 1},
		{.unit = {1, 2}, .cell = 1, .rows = 1, .counted = 2}
	};
	const pe_unit_rows last = {.unit = {1, 2}, .cell = STATE_CELLS - 1, .rows = 1};
	const pe_unit_rows counted = {.unit = {1, 2}, .cell = 1, .rows = 2, .counted = 2};
	const pe_unit_rows full = {.unit = {1, 2}, .cell = 0, .rows = UINT16_MAX};

	(void) state;
	assert_true(is_read(&frame, &last));
	assert_true(is_read(&frame, &counted));
	assert_true(is_read(&frame, &full));
	assert_true(is_read(&many, &last));
	for (int i = 0; i < lengthof(unsound); i++)
		assert_false(is_read(&frame, &unsound[i]));
	for (int i = 0; i < lengthof(frames); i++)
		assert_false(is_read(&frames[i], &last));
}

/* ---- wide cells ---- */

#define WIDE ((pe_u128) 1 << 100)

static bool
is_wide_read(pe_u128 cells, const pe_wide_rows *second)
{
	const pe_units_frame frame = {.limit = 8, .max_rows = 2};
	pe_wide_rows entry[] = {
		{.unit = {1, 2}, .cell = WIDE - 2, .rows = 2}, *second, {.unit = {1, 3}, .cell = 1, .rows = 1}
	};
	const pe_units units = {.wide = entry, .wide_cells = cells, .entries = 3, .room = 3, .limit = 8, .sorted = true};
	size_t		size = pe_units_size(&units);
	char	   *bytes = pe_alloc(size, 1);
	pe_units_frame read;
	pe_units	back;
	bool		sound;

	pe_units_write(&frame, &units, bytes);
	sound = pe_units_read(&read, &back, bytes, size);
	assert_true(sound || back.memory == NULL);
	if (sound)
	{
		assert_true(back.wide_cells == cells);
		assert_memory_equal(back.wide, entry, sizeof(entry));
	}
	pe_units_free(&back);
	for (size_t less = 1; sound && less <= sizeof(*entry); less++)
	{
		assert_int_equal(pe_units_read(&read, &back, bytes, size - less), less == sizeof(*entry));
		pe_units_free(&back);
	}
	assert_false(pe_units_read(&read, &back, bytes, sizeof(read) + sizeof(cells) - 1));
	pe_free(bytes);
	return sound;
}

/* The same checks of wide cells, whose upper halves count. */
static void
test_wide_state(void **state)
{
	const pe_wide_rows last = {.unit = {1, 2}, .cell = WIDE - 1, .rows = UINT16_MAX, .counted = UINT16_MAX};
	const pe_wide_rows unsound[] = {
		{.unit = {1, 2}, .cell = WIDE, .rows = 1}, {.unit = {1, 2}, .cell = WIDE - 3, .rows = 1},
		{.unit = {1, 2}, .cell = UINT64_MAX, .rows = 1}, {.unit = {1, 2}, .cell = WIDE - 1, .rows = 0},
		{.unit = {1, 2}, .cell = WIDE - 1, .rows = UINT16_MAX + 1}, {.unit = {1, 2}, .cell = WIDE - 1, .rows = UINT32_MAX},
		{.unit = {1, 2}, .cell = WIDE - 1, .rows = 1, .counted = 2}, {.unit = {1, 2}, .cell = WIDE - 2, .rows = 1},
		{.unit = {1, 4}, .cell = WIDE - 1, .rows = 1}
	};

	(void) state;
	assert_true(is_wide_read(WIDE, &last));
	assert_true(is_wide_read(PE_WIDE_CELLS, &last));
	assert_false(is_wide_read(WIDE - 1, &last));
	assert_false(is_wide_read(PE_WIDE_CELLS + 1, &last));
	assert_false(is_wide_read(~(pe_u128) 0, &last));
	for (int i = 0; i < lengthof(unsound); i++)
		assert_false(is_wide_read(WIDE, &unsound[i]));
	assert_int_equal(pe_unit_entry_size(INT32_MAX), sizeof(pe_unit_rows));
	assert_int_equal(pe_unit_entry_size((pe_u128) INT32_MAX + 1), sizeof(pe_wide_rows));
}

/* Fewer entries where they are larger, and never more than 768 MB of them. */
static void
test_wide_cut(void **state)
{
	pe_cut		cut = {.max_rows = 1};

	(void) state;
	pe_cut_divide(&cut, 1000, 120 * 1000, sizeof(pe_wide_rows));
	assert_int_equal(cut.ranges, 1);
	assert_int_equal(cut.limit, 1000);
	pe_cut_divide(&cut, 1001, 120 * 1000, sizeof(pe_wide_rows));
	assert_int_equal(cut.ranges, 3);
	pe_cut_divide(&cut, UINT64_MAX, SIZE_MAX, sizeof(pe_wide_rows));
	assert_in_range(cut.limit * (int64_t) sizeof(pe_wide_rows), (INT64_C(3) << 28) - 200, INT64_C(3) << 28);
}

static int
seed(void **state)
{
	(void) state;
	pe_test_seed(20240611);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_siphash),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_most_cells),
		cmocka_unit_test(test_most_cells_room),
		cmocka_unit_test(test_periods),
		cmocka_unit_test(test_later_periods),
		cmocka_unit_test(test_one_unit),
		cmocka_unit_test(test_key),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_people),
		cmocka_unit_test(test_people_of_periods),
		cmocka_unit_test(test_wide_periods),
		cmocka_unit_test(test_people_one_unit),
		cmocka_unit_test(test_people_large),
		cmocka_unit_test(test_people_many_cells),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_work),
		cmocka_unit_test(test_dropped_take_no_place),
		cmocka_unit_test(test_unsound),
		cmocka_unit_test(test_state),
		cmocka_unit_test(test_wide_state),
		cmocka_unit_test(test_wide_cut),
	};

	return cmocka_run_group_tests(tests, seed, NULL);
}
