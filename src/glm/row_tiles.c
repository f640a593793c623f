/*
 * row_tiles.c
 *	  The rows of a model.  See row_tiles.h.
 *
 * Compiled with -O3, like kernel.c.
 */
#include "glm/row_tiles.h"

#include <string.h>


/* Blocks, and rows whose units are kept, of the first allocation. */
#define FIRST_BLOCKS 8
#define FIRST_UNITS PE_BLOCK_ROWS

bool
pe_row_shape_is_sound(const pe_row_shape *shape)
{
	int64_t		columns = shape->dense;

	if (shape->dense < 0 || shape->groups < 0 ||
		shape->dense > PE_MAX_COLUMNS || shape->groups > PE_MAX_COLUMNS)
		return false;
	for (int32_t g = 0; g < shape->groups; g++)
	{
		if (shape->cells[g] < 1)
			return false;
		columns += shape->cells[g];
	}
	return columns == shape->columns && columns >= 1 && columns <= PE_MAX_COLUMNS;
}

void
pe_rows_init(pe_rows *rows, const pe_row_shape *shape, bool with_units)
{
	if (!pe_row_shape_is_sound(shape))
		pe_bug("rows of no sound shape");
	memset(rows, 0, sizeof(*rows));
	rows->shape = *shape;
	rows->with_units = with_units;
	rows->cap_norm = -1;
}

/* ------------------------------------------------------------------
 * Memory
 * ------------------------------------------------------------------
 */

static size_t
block_bytes(const pe_row_shape *shape)
{
	return PE_TILE_ALIGN + PE_BLOCK_TILES * sizeof(int16_t) * pe_tile_size(shape);
}

size_t
pe_rows_memory(const pe_row_shape *shape, bool with_units, size_t rows)
{
	size_t		blocks = rows / PE_BLOCK_ROWS + (rows % PE_BLOCK_ROWS != 0);

	/* arrays that grow by doubling are up to twice as long, and are copied while the old one is there */
	return blocks * (block_bytes(shape) + 3 * sizeof(pe_row_block *) +
					 (with_units ? 3 * PE_BLOCK_ROWS * 2 * sizeof(uint64_t) : 0));
}

/* Makes all rows of a tile rows that are not there. */
static void
clear_tile(const pe_row_shape *shape, int16_t *tile)
{
	int16_t    *label = pe_tile_label(shape, tile);

	memset(tile, 0, pe_tile_size(shape) * sizeof(int16_t));
	if (shape->groups > 0)
		memset(pe_tile_cells(shape, tile, 0), 0xff, (size_t) shape->groups * PE_TILE * sizeof(uint16_t));
	for (int r = 0; r < PE_TILE; r++)
		label[r] = PE_NO_LABEL;
}

/* An array twice as long, the old one wiped. */
static void *
longer(void *old, size_t count, size_t room, size_t size)
{
	void	   *new = pe_alloc(room, size);

	if (count > 0)
	{
		memcpy(new, old, count * size);
		pe_wipe(old, count * size);
	}
	pe_free(old);
	return new;
}

static void
add_block(pe_rows *rows)
{
	if (rows->blocks == rows->room)
	{
		size_t		room = rows->room > 0 ? 2 * rows->room : FIRST_BLOCKS;

		rows->block = longer(rows->block, rows->blocks, room, sizeof(*rows->block));
		rows->room = room;
	}
	rows->block[rows->blocks] = pe_alloc(1, block_bytes(&rows->shape));
	rows->blocks++;
}

/* Room for one more row, which begins a tile if it is the first in it. */
static void
make_room(pe_rows *rows)
{
	if (rows->rows == rows->blocks * PE_BLOCK_ROWS)
		add_block(rows);
	if (rows->rows % PE_TILE == 0)
		clear_tile(&rows->shape, pe_rows_tile(rows, rows->rows));
	if (rows->with_units && rows->rows == rows->unit_room)
	{
		size_t		room = rows->unit_room > 0 ? 2 * rows->unit_room : FIRST_UNITS;

		rows->unit = longer(rows->unit, rows->rows, room, sizeof(*rows->unit));
		rows->unit_room = room;
	}
}

void
pe_rows_clear(pe_rows *rows)
{
	size_t		used = (rows->rows + PE_BLOCK_ROWS - 1) / PE_BLOCK_ROWS;

	for (size_t b = 0; b < used; b++)
		pe_wipe(rows->block[b], block_bytes(&rows->shape));
	if (rows->unit != NULL)
		pe_wipe(rows->unit, rows->rows * sizeof(*rows->unit));
	rows->rows = 0;
	rows->cap_norm = -1;
	rows->together = false;
}

void
pe_rows_free(pe_rows *rows)
{
	pe_rows_clear(rows);
	for (size_t b = 0; b < rows->blocks; b++)
		pe_free(rows->block[b]);
	pe_free(rows->block);
	pe_free(rows->unit);
	rows->block = NULL;
	rows->unit = NULL;
	rows->blocks = rows->room = rows->unit_room = 0;
}

/* ------------------------------------------------------------------
 * One row
 * ------------------------------------------------------------------
 */

static bool
is_sound(const pe_row_shape *shape, const pe_row *row)
{
	unsigned	outside = 0;

	for (int32_t j = 0; j < shape->dense; j++)
		outside |= (uint16_t) (row->dense[j] + PE_ONE) > 2 * PE_ONE;
	for (int32_t g = 0; g < shape->groups; g++)
		outside |= row->cell[g] >= shape->cells[g] && row->cell[g] != PE_NO_GROUP_CELL;
	outside |= row->unit < 0 || row->unit > PE_ONE;
	outside |= row->label < -PE_ONE || row->label > PE_ONE;
	return outside == 0;
}

/* Whether the row is one that is not there. */
static bool
is_nothing(const pe_row_shape *shape, const pe_row *row)
{
	unsigned	something = (unsigned) (row->label != PE_NO_LABEL) | (unsigned) (row->unit != 0);

	for (int32_t j = 0; j < shape->dense; j++)
		something |= (unsigned) (row->dense[j] != 0);
	for (int32_t g = 0; g < shape->groups; g++)
		something |= (unsigned) (row->cell[g] != PE_NO_GROUP_CELL);
	return something == 0;
}

/* Appends a row that has been checked. */
static void
append(pe_rows *rows, const pe_row *row, const uint64_t unit[2])
{
	const pe_row_shape *shape = &rows->shape;
	size_t		place = rows->rows % PE_TILE;
	int16_t    *tile;
	int16_t    *to;

	make_room(rows);
	tile = pe_rows_tile(rows, rows->rows);
	to = tile + place;
	for (int32_t j = 0; j < shape->dense; j++)
		to[(size_t) PE_TILE * (size_t) j] = row->dense[j];
	for (int32_t g = 0; g < shape->groups; g++)
		pe_tile_cells(shape, tile, g)[place] = row->cell[g];
	pe_tile_unit(shape, tile)[place] = row->unit;
	pe_tile_label(shape, tile)[place] = row->label;
	if (rows->with_units)
		memcpy(rows->unit[rows->rows], unit, sizeof(rows->unit[0]));
	rows->rows++;
	rows->cap_norm = -1;
	rows->together = false;
}

void
pe_rows_add(pe_rows *rows, const pe_row *row, const uint64_t unit[2])
{
	if (!is_sound(&rows->shape, row))
		pe_bug("a number of a row is out of its range");
	if (rows->with_units != (unit != NULL))
		pe_bug("a row with a unit where there are none, or without one");
	append(rows, row, unit);
}

void
pe_rows_get(const pe_rows *rows, size_t number, pe_row *row)
{
	const pe_row_shape *shape = &rows->shape;
	size_t		place = number % PE_TILE;
	const int16_t *tile;

	if (number >= rows->rows)
		pe_bug("no such row");
	tile = pe_rows_tile(rows, number);
	for (int32_t j = 0; j < shape->dense; j++)
		row->dense[j] = pe_tile_column(tile, j)[place];
	for (int32_t g = 0; g < shape->groups; g++)
		row->cell[g] = pe_tile_cells(shape, tile, g)[place];
	row->unit = pe_tile_unit(shape, tile)[place];
	row->label = pe_tile_label(shape, tile)[place];
}

static void
write_nothing(pe_rows *rows, size_t number)
{
	const pe_row_shape *shape = &rows->shape;
	size_t		place = number % PE_TILE;
	int16_t    *tile = pe_rows_tile(rows, number);

	for (int32_t j = 0; j < shape->dense; j++)
		pe_tile_column(tile, j)[place] = 0;
	for (int32_t g = 0; g < shape->groups; g++)
		pe_tile_cells(shape, tile, g)[place] = PE_NO_GROUP_CELL;
	pe_tile_unit(shape, tile)[place] = 0;
	pe_tile_label(shape, tile)[place] = PE_NO_LABEL;
	pe_tile_cap(shape, tile)[place] = 0;
}

void
pe_rows_add_nothing(pe_rows *rows, const uint64_t unit[2])
{
	if (!rows->with_units)
		pe_bug("a row that is not there where there are no units");
	make_room(rows);
	memcpy(rows->unit[rows->rows], unit, sizeof(rows->unit[0]));
	rows->rows++;
	rows->cap_norm = -1;
	rows->together = false;
	write_nothing(rows, rows->rows - 1);
}

/* Memory for a row, in one piece that begins with it. */
static pe_row *
row_alloc(const pe_row_shape *shape)
{
	size_t		numbers = (size_t) shape->dense + (size_t) shape->groups;
	pe_row	   *row = pe_alloc(1, sizeof(*row) + numbers * sizeof(int16_t));

	row->dense = (int16_t *) (row + 1);
	row->cell = (uint16_t *) (row->dense + shape->dense);
	return row;
}

static void
row_free(const pe_row_shape *shape, pe_row *row)
{
	pe_wipe(row, sizeof(*row) + ((size_t) shape->dense + (size_t) shape->groups) * sizeof(int16_t));
	pe_free(row);
}

/* ------------------------------------------------------------------
 * Which rows of a unit count
 * ------------------------------------------------------------------
 */

/* A row under a key: its unit's hash, its own, or its rank.  Those that are not there come behind all others. */
typedef struct keyed_row
{
	uint64_t	key[2];
	uint64_t	row:63;
	uint64_t	nothing:1;
} keyed_row;

static inline bool
comes_after(const keyed_row *a, const keyed_row *b)
{
	if (a->nothing != b->nothing)
		return a->nothing;
	return a->key[0] != b->key[0] ? a->key[0] > b->key[0] : a->key[1] > b->key[1];
}

/* Merges two sorted runs that follow each other. */
static void
merge(const keyed_row *from, size_t first, size_t all, keyed_row *to)
{
	size_t		i = 0;
	size_t		j = first;

	for (size_t n = 0; n < all; n++)
		to[n] = j == all || (i < first && !comes_after(&from[i], &from[j])) ? from[i++] : from[j++];
}

/* Sorts by key; equal ones stay in their order.  other: as much memory again. */
static void
sort(keyed_row *rows, size_t count, keyed_row *other)
{
	keyed_row  *from = rows;
	keyed_row  *to = other;

	for (size_t run = 1; run < count; run *= 2)
	{
		keyed_row  *swap = from;

		for (size_t start = 0; start < count; start += 2 * run)
		{
			size_t		all = count - start < 2 * run ? count - start : 2 * run;

			merge(from + start, run < all ? run : all, all, to + start);
		}
		from = to;
		to = swap;
	}
	if (from != rows)
		memcpy(rows, from, count * sizeof(*rows));
}

static void
bytes_of_word(uint8_t *to, uint64_t word)
{
	for (int i = 0; i < 8; i++)
		to[i] = (uint8_t) (word >> (56 - 8 * i));
}

/* The hash of a row's integers, low bytes first: the same on every machine. */
static void
hash_row(const pe_rows *rows, const pe_unit_keys *keys, keyed_row *of, pe_row *row, uint8_t *bytes)
{
	const pe_row_shape *shape = &rows->shape;
	size_t		size = 0;

	pe_rows_get(rows, of->row, row);
#define PUT(number) \
	(bytes[size] = (uint8_t) (number), bytes[size + 1] = (uint8_t) ((uint16_t) (number) >> 8), size += 2)
	for (int32_t j = 0; j < shape->dense; j++)
		PUT(row->dense[j]);
	for (int32_t g = 0; g < shape->groups; g++)
		PUT(row->cell[g]);
	PUT(row->unit);
	PUT(row->label);
#undef PUT
	pe_siphash(keys->hash, bytes, size, of->key);
	of->nothing = row->label == PE_NO_LABEL;
}

/* SipHash(key, unit || hash of the row || j), numbers with their high bytes first, as the row's key. */
static void
rank_row(const pe_unit_keys *keys, const uint64_t unit[2], uint64_t j, keyed_row *row)
{
	uint8_t		message[40];

	bytes_of_word(message, unit[0]);
	bytes_of_word(message + 8, unit[1]);
	bytes_of_word(message + 16, row->key[0]);
	bytes_of_word(message + 24, row->key[1]);
	bytes_of_word(message + 32, j);
	pe_siphash(keys->rank, message, sizeof(message), row->key);
}

/* What cutting needs besides the rows. */
typedef struct cut_memory
{
	pe_row	   *row;
	uint8_t    *bytes;
	keyed_row  *other;
} cut_memory;

/* Takes out all rows of one unit but those that rank first.  All are ranked, needed or not. */
static void
cut_unit(pe_rows *rows, const pe_unit_keys *keys, keyed_row *of, size_t count, int32_t max_rows,
		 const cut_memory *memory)
{
	const uint64_t unit[2] = {rows->unit[of[0].row][0], rows->unit[of[0].row][1]};
	uint64_t	last[2] = {0, 0};
	uint64_t	j = 0;

	for (size_t i = 0; i < count; i++)
	{
		if (i % 4096 == 0)
			pe_poll();
		hash_row(rows, keys, &of[i], memory->row, memory->bytes);
	}
	sort(of, count, memory->other);
	for (size_t i = 0; i < count; i++)
	{
		bool		again = i > 0 && of[i].key[0] == last[0] && of[i].key[1] == last[1];

		if (i % 4096 == 0)
			pe_poll();
		memcpy(last, of[i].key, sizeof(last));
		j = again ? j + 1 : 1;
		rank_row(keys, unit, j, &of[i]);
	}
	sort(of, count, memory->other);
	for (size_t i = (size_t) max_rows; i < count; i++)
		write_nothing(rows, of[i].row);
}

/* All rows, by unit, whether they are there or not. */
static void
list_rows(const pe_rows *rows, keyed_row *list)
{
	for (size_t i = 0; i < rows->rows; i++)
	{
		list[i].key[0] = rows->unit[i][0];
		list[i].key[1] = rows->unit[i][1];
		list[i].row = i;
		list[i].nothing = 0;
	}
}

void
pe_rows_cut(pe_rows *rows, const pe_unit_keys *keys, int32_t max_rows)
{
	const pe_row_shape *shape = &rows->shape;
	size_t		row_bytes = 2 * ((size_t) shape->dense + (size_t) shape->groups + 2);
	keyed_row  *list;
	cut_memory	memory;
	size_t		count = rows->rows;

	if (!rows->with_units || max_rows < 1)
		pe_bug("rows without units cannot be cut");
	list = pe_alloc(rows->rows, sizeof(*list));
	memory.other = pe_alloc(rows->rows, sizeof(*list));
	memory.bytes = pe_alloc(row_bytes, 1);
	memory.row = row_alloc(shape);
	list_rows(rows, list);
	sort(list, count, memory.other);
	for (size_t start = 0, end; start < count; start = end)
	{
		const uint64_t *unit = rows->unit[list[start].row];

		for (end = start + 1; end < count; end++)
			if (list[end].key[0] != unit[0] || list[end].key[1] != unit[1])
				break;
		cut_unit(rows, keys, list + start, end - start, max_rows, &memory);
	}
	row_free(shape, memory.row);
	pe_wipe(memory.bytes, row_bytes);
	pe_free(memory.bytes);
	pe_wipe(memory.other, rows->rows * sizeof(*list));
	pe_free(memory.other);
	pe_wipe(list, rows->rows * sizeof(*list));
	pe_free(list);
}

/* ------------------------------------------------------------------
 * The rows of a unit together
 * ------------------------------------------------------------------
 */

/* Copies the row of a place, which may be in another store, to another place. */
static void
copy_row(const pe_rows *from, size_t number, pe_rows *to, size_t place)
{
	const int16_t *source = pe_rows_tile(from, number) + number % PE_TILE;
	int16_t    *target = pe_rows_tile(to, place) + place % PE_TILE;
	size_t		size = pe_tile_size(&from->shape);

	for (size_t at = 0; at < size; at += PE_TILE)
		target[at] = source[at];
	memcpy(to->unit[place], from->unit[number], sizeof(to->unit[0]));
}

/* Moves row list[i].row to place i, for every i, along the cycles of that permutation; spare holds one row. */
static void
permute(pe_rows *rows, keyed_row *list, pe_rows *spare)
{
	for (size_t start = 0; start < rows->rows; start++)
	{
		size_t		to = start;

		if (start % PE_BLOCK_ROWS == 0)
			pe_poll();
		copy_row(rows, start, spare, 0);
		while (list[to].row != start)
		{
			size_t		from = list[to].row;

			copy_row(rows, from, rows, to);
			list[to].row = to;
			to = from;
		}
		copy_row(spare, 0, rows, to);
		list[to].row = to;
	}
}

void
pe_rows_put_together(pe_rows *rows)
{
	static const uint64_t none[2];
	keyed_row  *list;
	keyed_row  *other;
	pe_rows		spare;

	if (rows->together || rows->rows == 0)
		return;
	if (!rows->with_units)
		pe_bug("rows without units cannot be put together");
	list = pe_alloc(rows->rows, sizeof(*list));
	other = pe_alloc(rows->rows, sizeof(*other));
	pe_rows_init(&spare, &rows->shape, true);
	pe_rows_add_nothing(&spare, none);
	list_rows(rows, list);
	sort(list, rows->rows, other);
	permute(rows, list, &spare);
	rows->together = true;
	pe_rows_free(&spare);
	pe_wipe(other, rows->rows * sizeof(*other));
	pe_free(other);
	pe_wipe(list, rows->rows * sizeof(*list));
	pe_free(list);
}

/* ------------------------------------------------------------------
 * Rows as bytes
 * ------------------------------------------------------------------
 */

/* What the bytes begin with; the numbers of each row follow. */
typedef struct bytes_head
{
	uint64_t	rows;
	int32_t		dense;
	int32_t		groups;
	int32_t		columns;
	int32_t		with_units;
} bytes_head;

static size_t
row_size(const pe_rows *rows)
{
	return sizeof(int16_t) * ((size_t) rows->shape.dense + (size_t) rows->shape.groups + 2) +
		(rows->with_units ? sizeof(rows->unit[0]) : 0);
}

size_t
pe_rows_size(const pe_rows *rows)
{
	return sizeof(bytes_head) + rows->rows * row_size(rows);
}

static bytes_head
head_of(const pe_rows *rows)
{
	bytes_head	head;

	memset(&head, 0, sizeof(head));
	head.rows = rows->rows;
	head.dense = rows->shape.dense;
	head.groups = rows->shape.groups;
	head.columns = rows->shape.columns;
	head.with_units = rows->with_units;
	return head;
}

static void
write_bytes(char **to, const void *from, size_t size)
{
	if (size > 0)
		memcpy(*to, from, size);
	*to += size;
}

static void
read_bytes(const char **from, void *to, size_t size)
{
	if (size > 0)
		memcpy(to, *from, size);
	*from += size;
}

void
pe_rows_write(const pe_rows *rows, char *bytes)
{
	const pe_row_shape *shape = &rows->shape;
	bytes_head	head = head_of(rows);
	pe_row	   *row = row_alloc(shape);

	write_bytes(&bytes, &head, sizeof(head));
	for (size_t i = 0; i < rows->rows; i++)
	{
		pe_rows_get(rows, i, row);
		write_bytes(&bytes, row->dense, (size_t) shape->dense * sizeof(int16_t));
		write_bytes(&bytes, row->cell, (size_t) shape->groups * sizeof(uint16_t));
		write_bytes(&bytes, &row->unit, sizeof(row->unit));
		write_bytes(&bytes, &row->label, sizeof(row->label));
		if (rows->with_units)
			write_bytes(&bytes, rows->unit[i], sizeof(rows->unit[i]));
	}
	row_free(shape, row);
}

static const char *
read_row(const pe_rows *rows, const char *bytes, pe_row *row, uint64_t unit[2])
{
	read_bytes(&bytes, row->dense, (size_t) rows->shape.dense * sizeof(int16_t));
	read_bytes(&bytes, row->cell, (size_t) rows->shape.groups * sizeof(uint16_t));
	read_bytes(&bytes, &row->unit, sizeof(row->unit));
	read_bytes(&bytes, &row->label, sizeof(row->label));
	if (rows->with_units)
		read_bytes(&bytes, unit, sizeof(rows->unit[0]));
	return bytes;
}

/* Whether the bytes of so many rows have numbers that rows can have. */
static bool
are_sound(const pe_rows *rows, const char *bytes, size_t count, pe_row *row)
{
	uint64_t	unit[2];

	for (size_t i = 0; i < count; i++)
	{
		bytes = read_row(rows, bytes, row, unit);
		if (!is_sound(&rows->shape, row) && !is_nothing(&rows->shape, row))
			return false;
	}
	return true;
}

bool
pe_rows_read(pe_rows *rows, const char *bytes, size_t size)
{
	bytes_head	expected = head_of(rows);
	bytes_head	head;
	pe_row	   *row;
	uint64_t	unit[2];
	bool		sound;

	if (size < sizeof(head))
		return false;
	read_bytes(&bytes, &head, sizeof(head));
	size -= sizeof(head);
	expected.rows = head.rows;
	if (memcmp(&head, &expected, sizeof(head)) != 0 ||
		size % row_size(rows) != 0 || head.rows != size / row_size(rows))
		return false;
	row = row_alloc(&rows->shape);
	sound = are_sound(rows, bytes, head.rows, row);
	for (size_t i = 0; sound && i < head.rows; i++)
	{
		bytes = read_row(rows, bytes, row, unit);
		append(rows, row, unit);
	}
	row_free(&rows->shape, row);
	return sound;
}
