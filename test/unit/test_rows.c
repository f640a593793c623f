/*
 * test_rows.c
 *	  The store of a model's rows: what goes in comes out, in memory and as bytes; of
 *	  a unit's rows those count that the definition says, in every order.
 *
 * Random cases come from a fixed seed, so failures repeat; with PG_EPSILON_QUICK
 * set there are fewer.
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
#include "glm/row_tiles.h"
#include "shim.h"
#include "tables.h"

/* A row to read into. */
typedef struct any_row
{
	pe_row		row;
	int16_t		dense[PE_MAX_COLUMNS];
	uint16_t	cell[PE_MAX_COLUMNS];
} any_row;

static pe_row *
get(const pe_rows *rows, size_t number, any_row *memory)
{
	memory->row.dense = memory->dense;
	memory->row.cell = memory->cell;
	pe_rows_get(rows, number, &memory->row);
	return &memory->row;
}

static bool
same_row(const pe_row_shape *shape, const pe_row *a, const pe_row *b)
{
	return memcmp(a->dense, b->dense, (size_t) shape->dense * sizeof(int16_t)) == 0 &&
		memcmp(a->cell, b->cell, (size_t) shape->groups * sizeof(uint16_t)) == 0 &&
		a->unit == b->unit && a->label == b->label;
}

static bool
is_out(const pe_row_shape *shape, const pe_row *row)
{
	for (int32_t j = 0; j < shape->dense; j++)
		if (row->dense[j] != 0)
			return false;
	for (int32_t g = 0; g < shape->groups; g++)
		if (row->cell[g] != PE_NO_GROUP_CELL)
			return false;
	return row->unit == 0 && row->label == PE_NO_LABEL;
}

static void
assert_store_is(const pe_rows *rows, const table *t)
{
	static any_row memory;

	assert_int_equal(rows->rows, t->n);
	for (int i = 0; i < t->n; i++)
	{
		assert_true(same_row(&t->shape, get(rows, (size_t) i, &memory), &t->row[i]));
		if (t->unit != NULL)
			assert_memory_equal(rows->unit[i], t->unit[i], sizeof(t->unit[i]));
	}
}

/* ---- in and out ---- */

static void
test_shapes(void **state)
{
	int32_t		cells[2] = {3, 4};
	pe_row_shape shape = {5, 2, cells, 12};

	assert_true(pe_row_shape_is_sound(&shape));
	shape.columns = 11;
	assert_false(pe_row_shape_is_sound(&shape));
	shape.columns = 12;
	cells[0] = 0;
	assert_false(pe_row_shape_is_sound(&shape));
	cells[0] = INT32_MAX;
	assert_false(pe_row_shape_is_sound(&shape));
	cells[0] = 3;
	shape.dense = -1;
	assert_false(pe_row_shape_is_sound(&shape));
	shape = (pe_row_shape) {PE_MAX_COLUMNS, 0, NULL, PE_MAX_COLUMNS};
	assert_true(pe_row_shape_is_sound(&shape));
	shape = (pe_row_shape) {PE_MAX_COLUMNS + 1, 0, NULL, PE_MAX_COLUMNS + 1};
	assert_false(pe_row_shape_is_sound(&shape));
	shape = (pe_row_shape) {0, 0, NULL, 0};
	assert_false(pe_row_shape_is_sound(&shape));
}

static void
test_get(void **state)
{
	static const int sizes[] = {0, 1, 63, 64, 65, 2047, 2048, 2049, 5000};
	static const int shapes[][2] = {{1, 0}, {0, 1}, {3, 2}, {4, 0}, {37, 5}};

	for (int s = 0; s < lengthof(shapes); s++)
		for (int i = 0; i < lengthof(sizes); i++)
		{
			table		t;
			pe_rows		rows;

			make_table(&t, shapes[s][0], shapes[s][1], cases(sizes[i]), SHORT_UNITS, i % 2 == 0, i % 3 == 0 ? 7 : 0);
			store_table(&rows, &t, NULL);
			assert_store_is(&rows, &t);
			/* emptied and filled again, nothing of the first rows is left */
			pe_rows_clear(&rows);
			assert_int_equal(rows.rows, 0);
			if (t.n > 3)
				t.n /= 3;
			for (int r = 0; r < t.n; r++)
				pe_rows_add(&rows, &t.row[r], t.unit != NULL ? t.unit[r] : NULL);
			assert_store_is(&rows, &t);
			pe_rows_free(&rows);
			pe_rows_free(&rows);
			free_table(&t);
		}
}

/* Rows that are not there behind the last: zeros and no cells, also in used memory. */
static void
test_rest_of_tile(void **state)
{
	table		t;
	pe_rows		rows;

	make_table(&t, 3, 2, 200, SHORT_UNITS, false, 0);
	store_table(&rows, &t, NULL);
	for (int again = 0; again < 2; again++)
	{
		const int16_t *tile = pe_rows_tile(&rows, rows.rows - 1);

		for (size_t r = rows.rows % PE_TILE; r < PE_TILE; r++)
		{
			for (int32_t j = 0; j < 4; j++)
				assert_int_equal(pe_tile_column(tile, j)[r], 0);
			for (int32_t g = 0; g < 2; g++)
				assert_int_equal(pe_tile_cells(&t.shape, tile, g)[r], PE_NO_GROUP_CELL);
			assert_int_equal(pe_tile_unit(&t.shape, tile)[r], 0);
			assert_int_equal(pe_tile_label(&t.shape, tile)[r], PE_NO_LABEL);
			assert_int_equal(pe_tile_cap(&t.shape, tile)[r], 0);
		}
		pe_rows_clear(&rows);
		for (int r = 0; r < 70; r++)
			pe_rows_add(&rows, &t.row[r], NULL);
	}
	pe_rows_free(&rows);
	free_table(&t);
}

/* Tiles are aligned, and the memory is what pe_rows_memory says. */
static void
test_memory(void **state)
{
	static const int shapes[][2] = {{1, 0}, {33, 3}};

	for (int s = 0; s < lengthof(shapes); s++)
		for (int units = 0; units < 2; units++)
		{
			const int	n = 30000;
			table		t;
			pe_rows		rows;
			size_t		most;
			size_t		told;

			make_table(&t, shapes[s][0], shapes[s][1], n, ANY_NUMBERS, false, 9 * units);
			pe_test_memory();
			store_table(&rows, &t, NULL);
			for (int i = 0; i < n; i += PE_TILE)
				assert_int_equal((uintptr_t) pe_rows_tile(&rows, (size_t) i) % PE_TILE_ALIGN, 0);
			told = pe_rows_memory(&t.shape, units != 0, (size_t) n);
			pe_rows_free(&rows);
			most = pe_test_memory();
			assert_true(most <= told + told / 50);
			assert_true(told <= 3 * most);
			free_table(&t);
		}
}

/* ---- what is refused ---- */

static pe_rows *refusing;

static void
add_row(void *row)
{
	pe_rows_add(refusing, row, NULL);
}

static void
get_beyond(void *row)
{
	pe_rows_get(refusing, refusing->rows, row);
}

static void
add_with_unit(void *row)
{
	static const uint64_t unit[2] = {1, 2};

	pe_rows_add(refusing, row, unit);
}

static void
test_refused(void **state)
{
	int32_t		cells[1] = {3};
	const pe_row_shape shape = {9, 1, cells, 12};
	int16_t		dense[9] = {0};
	uint16_t	cell[1] = {2};
	pe_row		row = {dense, cell, PE_ONE, 1};
	pe_rows		rows;

	pe_rows_init(&rows, &shape, false);
	refusing = &rows;
	assert_false(pe_test_is_bug(add_row, &row));
	for (int j = 0; j < 9; j++)
	{
		dense[j] = PE_ONE + 1;
		assert_true(pe_test_is_bug(add_row, &row));
		dense[j] = -PE_ONE - 1;
		assert_true(pe_test_is_bug(add_row, &row));
		dense[j] = INT16_MIN;
		assert_true(pe_test_is_bug(add_row, &row));
		dense[j] = j % 2 ? PE_ONE : -PE_ONE;
		assert_false(pe_test_is_bug(add_row, &row));
	}
	cell[0] = 3;
	assert_true(pe_test_is_bug(add_row, &row));
	cell[0] = PE_NO_GROUP_CELL;
	assert_false(pe_test_is_bug(add_row, &row));
	row.unit = -1;
	assert_true(pe_test_is_bug(add_row, &row));
	row.unit = PE_ONE + 1;
	assert_true(pe_test_is_bug(add_row, &row));
	row.unit = 0;
	row.label = PE_NO_LABEL;
	assert_true(pe_test_is_bug(add_row, &row));
	row.label = PE_ONE + 1;
	assert_true(pe_test_is_bug(add_row, &row));
	row.label = -PE_ONE;
	assert_false(pe_test_is_bug(add_row, &row));
	assert_true(pe_test_is_bug(add_with_unit, &row));
	assert_true(pe_test_is_bug(get_beyond, &row));
	assert_int_equal(rows.rows, 12);
	pe_rows_free(&rows);
}

/* ---- the cut ---- */

static pe_unit_keys keys;

static void
make_keys(uint8_t byte)
{
	pe_cut		cut = {.limit = 1, .max_rows = 1, .ranges = 1};

	memset(cut.key, byte, sizeof(cut.key));
	pe_unit_keys_init(&keys, &cut);
}

static void
put_high_first(uint8_t *to, uint64_t word)
{
	for (int i = 0; i < 8; i++)
		to[i] = (uint8_t) (word >> (8 * (7 - i)));
}

/* The rank of row i: the definition, with j the number of rows of the unit before it that are equal. */
static void
rank_of(const table *t, const int *order, int place, uint64_t rank[2])
{
	const pe_row_shape *shape = &t->shape;
	int			i = order[place];
	const pe_row *row = &t->row[i];
	uint8_t		bytes[2 * (PE_MAX_COLUMNS + 2)];
	size_t		size = 0;
	uint64_t	hash[2];
	uint64_t	j = 1;
	uint8_t		message[40];

	for (int32_t c = 0; c < shape->dense + shape->groups + 2; c++)
	{
		uint16_t	number = c < shape->dense ? (uint16_t) row->dense[c] :
			c < shape->dense + shape->groups ? row->cell[c - shape->dense] :
			c == shape->dense + shape->groups ? (uint16_t) row->unit : (uint16_t) row->label;

		bytes[size++] = number & 0xff;
		bytes[size++] = number >> 8;
	}
	pe_siphash(keys.hash, bytes, size, hash);
	for (int before = 0; before < place; before++)
		if (memcmp(t->unit[order[before]], t->unit[i], sizeof(t->unit[i])) == 0 &&
			same_row(shape, &t->row[order[before]], row))
			j++;
	put_high_first(message, t->unit[i][0]);
	put_high_first(message + 8, t->unit[i][1]);
	put_high_first(message + 16, hash[0]);
	put_high_first(message + 24, hash[1]);
	put_high_first(message + 32, j);
	pe_siphash(keys.rank, message, sizeof(message), rank);
}

/* Rows of a table in an order, cut: each is there or out as the definition says. */
static void
check_cut(const table *t, const int *order, int max_rows)
{
	static any_row memory;
	uint64_t	(*rank)[2] = calloc((size_t) t->n + 1, sizeof(*rank));
	pe_rows		rows;

	pe_rows_init(&rows, &t->shape, true);
	for (int place = 0; place < t->n; place++)
	{
		rank_of(t, order, place, rank[place]);
		pe_rows_add(&rows, &t->row[order[place]], t->unit[order[place]]);
	}
	pe_rows_cut(&rows, &keys, max_rows);
	for (int again = 0; again < 2; again++)
	{
		for (int place = 0; place < t->n; place++)
		{
			int			before = 0;

			for (int other = 0; other < t->n; other++)
				if (memcmp(t->unit[order[other]], t->unit[order[place]], sizeof(t->unit[0])) == 0 &&
					(rank[other][0] != rank[place][0] ? rank[other][0] < rank[place][0] : rank[other][1] < rank[place][1]))
					before++;
			if (before < max_rows)
				assert_true(same_row(&t->shape, get(&rows, (size_t) place, &memory), &t->row[order[place]]));
			else
				assert_true(is_out(&t->shape, get(&rows, (size_t) place, &memory)));
		}
		/* a cut of what is cut takes out nothing, for the ranks of those that are left are the same */
		if (max_rows == 1)
			pe_rows_cut(&rows, &keys, max_rows);
	}
	pe_rows_free(&rows);
	free(rank);
}

static void
shuffle(int *order, int n)
{
	for (int i = n - 1; i > 0; i--)
	{
		int			j = any_below(i + 1);
		int			swap = order[i];

		order[i] = order[j];
		order[j] = swap;
	}
}

/* All orders of four rows, of which some are equal. */
static void
test_cut_every_order(void **state)
{
	for (int c = 0; c < cases(300); c++)
	{
		table		t;

		make_keys((uint8_t) c);
		make_table(&t, 2, 1, 4, ANY_NUMBERS, false, 1 + any_below(3));
		for (int i = 1; i < 4; i++)
			if (any_below(2))
			{
				memcpy(t.row[i].dense, t.row[i - 1].dense, 2 * sizeof(int16_t));
				t.row[i].cell[0] = t.row[i - 1].cell[0];
				t.row[i].label = t.row[i - 1].label;
			}
		for (int p = 0; p < 24; p++)
		{
			int			order[4];
			int			left[4] = {0, 1, 2, 3};

			for (int i = 0, code = p; i < 4; code /= 4 - i, i++)
			{
				int			at = code % (4 - i);

				order[i] = left[at];
				memmove(left + at, left + at + 1, (size_t) (3 - at) * sizeof(int));
			}
			check_cut(&t, order, 1 + c % 3);
		}
		free_table(&t);
	}
}

/* Larger tables, in a random order. */
static void
test_cut(void **state)
{
	for (int c = 0; c < cases(100); c++)
	{
		table		t;
		int			order[300];

		make_keys((uint8_t) (100 + c));
		make_table(&t, any_below(3), 1 + any_below(3), 1 + any_below(300), SHORT_UNITS, c % 2 == 0, 1 + any_below(60));
		for (int i = 0; i < t.n; i++)
			order[i] = i;
		shuffle(order, t.n);
		check_cut(&t, order, 1 + any_below(5));
		free_table(&t);
	}
}

/* ---- rows that are dropped ---- */

/* Calls of the keyed function (linked with --wrap). */
static uint64_t hashes;

extern void __real_pe_siphash(const uint64_t key[2], const void *message, size_t size, uint64_t result[2]);
extern void __wrap_pe_siphash(const uint64_t key[2], const void *message, size_t size, uint64_t result[2]);

void
__wrap_pe_siphash(const uint64_t key[2], const void *message, size_t size, uint64_t result[2])
{
	hashes++;
	__real_pe_siphash(key, message, size, result);
}

/* Cuts a table of which some rows are dropped, and the others alone: the same are left.  Returns the memory. */
static size_t
cut_with_dropped(const table *t, int selected, int max_rows, uint64_t *work)
{
	static any_row memory[2];
	pe_rows		all;
	pe_rows		kept;
	size_t		most;

	pe_rows_init(&kept, &t->shape, true);
	for (int i = 0; i < t->n; i++)
		if (i % 4 < selected)
			pe_rows_add(&kept, &t->row[i], t->unit[i]);
	pe_rows_cut(&kept, &keys, max_rows);
	(void) pe_test_memory();
	hashes = 0;
	pe_rows_init(&all, &t->shape, true);
	for (int i = 0; i < t->n; i++)
		if (i % 4 < selected)
			pe_rows_add(&all, &t->row[i], t->unit[i]);
		else
			pe_rows_add_nothing(&all, t->unit[i]);
	assert_int_equal(all.rows, t->n);
	pe_rows_cut(&all, &keys, max_rows);
	*work = hashes;
	for (size_t i = 0, k = 0; i < all.rows; i++)
		if (i % 4 < (size_t) selected)
			assert_true(same_row(&t->shape, get(&all, i, &memory[0]), get(&kept, k++, &memory[1])));
		else
			assert_true(is_out(&t->shape, get(&all, i, &memory[0])));
	pe_rows_free(&all);
	most = pe_test_memory();
	pe_rows_free(&kept);
	return most;
}

/* None, half or all of the rows are there: as many hashes and as much memory, and no place is taken. */
static void
test_dropped(void **state)
{
	for (int c = 0; c < cases(50); c++)
	{
		table		t;
		int			max_rows = 1 + any_below(5);

		make_keys((uint8_t) c);
		make_table(&t, any_below(3), 1 + any_below(3), 1 + any_below(300), SHORT_UNITS, c % 2 == 0, 1 + any_below(60));
		for (int selected = 0; selected <= 4; selected += 2)
		{
			static size_t memory;
			uint64_t	work;
			size_t		most = cut_with_dropped(&t, selected, max_rows, &work);

			assert_int_equal(work, 2 * t.n);
			if (selected > 0)
				assert_int_equal(most, memory);
			memory = most;
		}
		free_table(&t);
	}
}

/* ---- the rows of a unit together ---- */

/* In more than one block: each row with its unit, those of a unit in their order, and each unit once. */
static void
test_together(void **state)
{
	static any_row memory;

	for (int c = 0; c < 6; c++)
	{
		table		t;
		pe_rows		rows;
		size_t		at = 0;

		make_table(&t, any_below(4), 1 + any_below(2), c == 0 ? 0 : 1 + any_below(c < 3 ? 100 : 3 * PE_BLOCK_ROWS), SHORT_UNITS, false, 300);
		store_table(&rows, &t, NULL);
		for (int again = 0; again < 2; again++)
		{
			pe_rows_put_together(&rows);
			at = 0;
			while (at < rows.rows)
			{
				const uint64_t *unit = rows.unit[at];

				assert_true(at == 0 || rows.unit[at - 1][0] < unit[0] || (rows.unit[at - 1][0] == unit[0] && rows.unit[at - 1][1] < unit[1]));
				for (int i = 0; i < t.n; i++)
				{
					if (memcmp(t.unit[i], unit, sizeof(t.unit[i])) != 0)
						continue;
					assert_memory_equal(rows.unit[at], unit, sizeof(rows.unit[at]));
					assert_true(same_row(&t.shape, get(&rows, at++, &memory), &t.row[i]));
				}
			}
			assert_int_equal(at, t.n);
		}
		pe_rows_free(&rows);
		free_table(&t);
	}
}

/* ---- as bytes ---- */

static void
test_bytes(void **state)
{
	for (int c = 0; c < cases(200); c++)
	{
		table		t;
		pe_rows		rows;
		pe_rows		copy;
		char	   *bytes;
		char	   *again;
		size_t		size;
		static any_row memory[2];

		make_keys((uint8_t) c);
		make_table(&t, 1 + any_below(4), any_below(3), any_below(150), SHORT_UNITS, c % 2 == 0, c % 3 == 0 ? 9 : 0);
		store_table(&rows, &t, NULL);
		if (t.unit != NULL)
			pe_rows_cut(&rows, &keys, 2);
		size = pe_rows_size(&rows);
		bytes = malloc(size);
		again = malloc(size);
		pe_rows_write(&rows, bytes);
		pe_rows_init(&copy, &t.shape, t.unit != NULL);
		assert_true(pe_rows_read(&copy, bytes, size));
		assert_int_equal(pe_rows_size(&copy), size);
		pe_rows_write(&copy, again);
		assert_memory_equal(bytes, again, size);
		assert_true(pe_rows_read(&copy, bytes, size));
		assert_int_equal(copy.rows, 2 * rows.rows);
		for (size_t i = 0; i < 2 * rows.rows; i++)
			assert_true(same_row(&t.shape, get(&copy, i, &memory[0]), get(&rows, i % rows.rows, &memory[1])));
		for (size_t cut = 0; cut < size; cut += 1 + size / 50)
			assert_false(pe_rows_read(&copy, bytes, cut));
		assert_int_equal(copy.rows, 2 * rows.rows);
		pe_rows_free(&copy);
		pe_rows_free(&rows);
		free(bytes);
		free(again);
		free_table(&t);
	}
}

/* Whatever bytes are changed: they are refused, or what is read is written as the same bytes. */
static void
test_changed_bytes(void **state)
{
	table		t;
	pe_rows		rows;
	size_t		size;
	char	   *bytes;
	char	   *again;
	int			refused = 0;

	make_table(&t, 2, 1, 5, ANY_NUMBERS, true, 3);
	store_table(&rows, &t, NULL);
	size = pe_rows_size(&rows);
	bytes = malloc(size);
	again = malloc(size);
	pe_rows_write(&rows, bytes);
	for (int c = 0; c < cases(30000); c++)
	{
		pe_rows		copy;
		size_t		at = (size_t) any_below((int) size);
		char		was = bytes[at];

		bytes[at] = (char) any_word();
		pe_rows_init(&copy, &t.shape, true);
		if (pe_rows_read(&copy, bytes, size))
		{
			assert_int_equal(pe_rows_size(&copy), size);
			pe_rows_write(&copy, again);
			assert_memory_equal(bytes, again, size);
			for (size_t i = 0; i < copy.rows; i++)
			{
				static any_row memory;
				const pe_row *row = get(&copy, i, &memory);

				assert_in_range(row->dense[0] + PE_ONE, 0, 2 * PE_ONE);
				assert_in_range(row->dense[1] + PE_ONE, 0, 2 * PE_ONE);
				assert_true(row->cell[0] < t.shape.cells[0] || row->cell[0] == PE_NO_GROUP_CELL);
				assert_in_range(row->unit, 0, PE_ONE);
				assert_in_range(row->label + PE_ONE, 0, 2 * PE_ONE);
			}
		}
		else
		{
			refused++;
			assert_int_equal(copy.rows, 0);
		}
		pe_rows_free(&copy);
		bytes[at] = was;
	}
	assert_true(refused > cases(30000) / 10);
	pe_rows_free(&rows);
	free(bytes);
	free(again);
	free_table(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_get),
		cmocka_unit_test(test_rest_of_tile),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_cut_every_order),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_dropped),
		cmocka_unit_test(test_together),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_changed_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
