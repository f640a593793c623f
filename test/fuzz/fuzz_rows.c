/*
 * fuzz_rows.c
 *	  Any bytes as the rows of a model that a worker hands over: the first says of
 *	  which shape they shall be, and whether they have units.
 *
 * They are refused, and nothing is appended, or they are exactly what is written of
 * what was read.  Rows that were read can be appended to others, cut and counted:
 * no unit keeps more than it may have, and no row comes or goes otherwise.
 */
#include <stdint.h>
#include <string.h>

#include "glm/pass.h"
#include "glm/row_tiles.h"
#include "shim.h"

/* Rows of a cut are looked at one by one up to so many. */
#define MOST_ROWS 300

/* What reading takes besides: a row, and what the allocator rounds up to. */
#define SLACK 65536

static int32_t one_group[] = {2};
static int32_t groups[] = {3, 1, 2};

static const pe_row_shape shapes[] = {
	{.dense = 1, .columns = 1},
	{.groups = 1, .cells = one_group, .columns = 2},
	{.dense = 3, .groups = 3, .cells = groups, .columns = 9}
};

#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static void
demand(bool condition, const char *what)
{
	if (!condition)
		pe_bug(what);
}

static bool
read_rows(pe_rows *rows, const char *bytes, size_t size)
{
	size_t		before = rows->rows;
	bool		sound = pe_rows_read(rows, bytes, size);

	demand(sound || rows->rows == before, "rows were appended that were refused");
	return sound;
}

static void
check_written(const pe_rows *rows, const char *bytes, size_t size)
{
	char	   *written = pe_alloc(size, 1);

	demand(pe_rows_size(rows) == size, "the size of what was read");
	pe_rows_write(rows, written);
	demand(memcmp(written, bytes, size) == 0, "what was read is not what is written");
	pe_free(written);
}

static int16_t
label_of(const pe_rows *rows, size_t number)
{
	int16_t		dense[4];
	uint16_t	cell[4];
	pe_row		row = {.dense = dense, .cell = cell};

	pe_rows_get(rows, number, &row);
	return row.label;
}

/* Appended to themselves: the same rows twice. */
static void
check_appended(pe_rows *rows, const char *bytes, size_t size)
{
	size_t		count = rows->rows;

	demand(read_rows(rows, bytes, size), "rows that were read once are refused");
	demand(rows->rows == 2 * count, "the number of rows of two states");
	for (size_t i = 0; i < count; i++)
		demand(label_of(rows, i) == label_of(rows, count + i), "a row that was appended");
}

/* How many rows of the unit of this one are there. */
static size_t
rows_of_unit(const pe_rows *rows, size_t number)
{
	size_t		there = 0;

	for (size_t i = 0; i < rows->rows; i++)
		there += memcmp(rows->unit[i], rows->unit[number], sizeof(rows->unit[i])) == 0 && label_of(rows, i) != PE_NO_LABEL;
	return there;
}

static void
check_cut(pe_rows *rows, int32_t max_rows)
{
	const pe_cut cut = {.key = {1, 2, 3}, .limit = 1, .max_rows = max_rows, .ranges = 1};
	pe_unit_keys keys;
	size_t		before[2 * MOST_ROWS];

	for (size_t i = 0; i < rows->rows; i++)
		before[i] = rows_of_unit(rows, i);
	pe_unit_keys_init(&keys, &cut);
	pe_rows_cut(rows, &keys, max_rows);
	for (size_t i = 0; i < rows->rows; i++)
		demand(rows_of_unit(rows, i) == (before[i] < (size_t) max_rows ? before[i] : (size_t) max_rows), "the rows of a unit that was cut");
}

static void
check_count(pe_rows *rows)
{
	const pe_pass pass = {.kind = PE_PASS_COUNT, .loss = PE_LOSS_SQUARED};
	pe_i128		sums[2] = {0, 0};
	pe_i128		there = 0;
	pe_i128		labels = 0;

	demand(pe_pass_sums(&pass, &rows->shape) == 2, "the sums of a count");
	pe_pass_run(&pass, rows, sums);
	for (size_t i = 0; i < rows->rows; i++)
	{
		int16_t		label = label_of(rows, i);

		there += label != PE_NO_LABEL;
		labels += label != PE_NO_LABEL ? label : 0;
	}
	demand(sums[0] == there && sums[1] == labels, "the count of rows, or the sum of labels");
}

/* Reads and frees, no more, within the memory that so many rows are said to take. */
static void
check_memory(const pe_row_shape *shape, bool with_units, const char *bytes, size_t size)
{
	pe_rows		rows;
	size_t		allowed;

	(void) pe_test_memory();
	pe_rows_init(&rows, shape, with_units);
	(void) read_rows(&rows, bytes, size);
	allowed = pe_rows_memory(shape, with_units, rows.rows) + SLACK;
	pe_rows_free(&rows);
	demand(pe_test_memory() <= allowed, "more memory than rows are said to take");
}

static void
check_rows(const pe_row_shape *shape, bool with_units, const char *bytes, size_t size)
{
	pe_rows		rows;

	pe_rows_init(&rows, shape, with_units);
	if (read_rows(&rows, bytes, size))
	{
		check_written(&rows, bytes, size);
		check_count(&rows);
		if (rows.rows <= MOST_ROWS)
		{
			check_appended(&rows, bytes, size);
			if (with_units)
				check_cut(&rows, 2);
		}
	}
	pe_rows_free(&rows);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *bytes = (const char *) data + 1;
	const pe_row_shape *shape;
	bool		with_units;

	if (size == 0)
		return 0;
	shape = &shapes[data[0] % SHAPES];
	with_units = data[0] / SHAPES % 2 == 1;
	check_memory(shape, with_units, bytes, size - 1);
	check_rows(shape, with_units, bytes, size - 1);
	return 0;
}
