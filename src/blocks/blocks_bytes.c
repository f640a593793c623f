/*
 * blocks_bytes.c
 *	  Lists of blocks as bytes.  See blocks.h.
 *
 * Numbers over cells are runs: the first number, what is added from each to the next (0 or 1), how
 * many.  A block is a bit for each axis that it takes, a number for each axis of several
 * matrices, and its share: 20 attributes take 11 bytes.  There is one way to write a list, and what reads
 * otherwise is refused.
 */
#include "blocks/blocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"

#define FORMAT 1

/* An axis has at most so many matrices: choices are int8_t. */
#define MOST_MATRICES INT8_MAX

/* ------------------------------------------------------------------
 * Writing
 * ------------------------------------------------------------------
 */

/* Counts what is put, and writes it where there is a place for it. */
typedef struct writer
{
	char	   *to;				/* or NULL */
	size_t		size;
} writer;

static void
put(writer *w, const void *what, size_t size)
{
	if (w->to != NULL)
		memcpy(w->to + w->size, what, size);
	w->size += size;
}

static void
put_int(writer *w, int32_t number)
{
	put(w, &number, sizeof(number));
}

typedef struct run
{
	int32_t		number;
	int32_t		step;
	int32_t		length;
} run;

/* Whether a number is the one before it and `step`. */
static bool
continues(const int32_t *number, int32_t step)
{
	return (int64_t) number[0] - number[-1] == step;
}

/* The longest run that numbers begin with. */
static run
run_of(const int32_t *number, int32_t left)
{
	run			r = {number[0], left > 1 && continues(number + 1, 1), 1};

	while (r.length < left && continues(number + r.length, r.step))
		r.length++;
	return r;
}

static void
put_numbers(writer *w, const int32_t *number, int32_t count)
{
	run			r;

	for (int32_t i = 0; i < count; i += r.length)
	{
		r = run_of(number + i, count - i);
		put(w, &r, sizeof(r));
	}
}

static void
put_strategy(writer *w, const pe_strategy *strategy)
{
	uint64_t	size = pe_strategy_size(strategy);

	put(w, &size, sizeof(size));
	if (w->to != NULL)
		pe_strategy_write(strategy, w->to + w->size);
	w->size += size;
}

static void
put_axis(writer *w, const pe_axis *axis)
{
	put_int(w, axis->attributes);
	for (int i = 0; i < axis->attributes; i++)
		put_int(w, axis->attribute[i]);
	put_int(w, axis->centre != NULL ? axis->denominator : 0);
	if (axis->centre != NULL)
		put_numbers(w, axis->centre, axis->cells);
	put_int(w, axis->matrices);
	for (int m = 0; m < axis->matrices; m++)
	{
		put_int(w, axis->matrix[m].centred);
		if (!axis->matrix[m].centred)
			put_strategy(w, &axis->matrix[m].strategy);
	}
}

static size_t
mask_bytes(const pe_blocks *blocks)
{
	return ((size_t) blocks->axes + 7) / 8;
}

static void
put_block(writer *w, const pe_blocks *blocks, int32_t block)
{
	uint32_t	mask = 0;

	for (int a = 0; a < blocks->axes; a++)
		if (pe_blocks_choice(blocks, block, a) >= 0)
			mask |= UINT32_C(1) << a;
	put(w, &mask, mask_bytes(blocks));
	for (int a = 0; a < blocks->axes; a++)
		if (blocks->axis[a].matrices > 1)
			put(w, &blocks->choice[(size_t) block * (size_t) blocks->axes + (size_t) a], 1);
	put(w, &blocks->share[block], sizeof(*blocks->share));
}

static void
put_blocks(writer *w, const pe_blocks *blocks)
{
	put_int(w, FORMAT);
	put_int(w, blocks->kind);
	put_int(w, blocks->norm);
	put_int(w, blocks->attributes);
	for (int a = 0; a < blocks->attributes; a++)
	{
		put_int(w, blocks->cells[a]);
		put_int(w, blocks->columns[a]);
		if (blocks->columns[a] > 0)
			put_numbers(w, blocks->column_of[a], blocks->cells[a]);
	}
	put_int(w, blocks->axes);
	for (int a = 0; a < blocks->axes; a++)
		put_axis(w, &blocks->axis[a]);
	put_int(w, blocks->blocks);
	for (int32_t b = 0; b < blocks->blocks; b++)
		put_block(w, blocks, b);
}

size_t
pe_blocks_size(const pe_blocks *blocks)
{
	writer		w = {NULL, 0};

	put_blocks(&w, blocks);
	return w.size;
}

void
pe_blocks_write(const pe_blocks *blocks, char *bytes)
{
	writer		w = {bytes, 0};

	put_blocks(&w, blocks);
}

/* ------------------------------------------------------------------
 * Reading
 * ------------------------------------------------------------------
 */

/* A number from low to high; *number stays as it is if there is none. */
static bool
take_int(pe_cursor *from, int32_t low, int32_t high, int32_t *number)
{
	int32_t		read;

	if (!pe_take(from, &read, sizeof(read)) || read < low || read > high)
		return false;
	*number = read;
	return true;
}

/* Numbers from low to high. */
static bool
take_numbers(pe_cursor *from, int32_t low, int32_t high, int32_t *number, int32_t count)
{
	run			r;

	for (int32_t i = 0; i < count; i += r.length)
	{
		if (!pe_take(from, &r, sizeof(r)) || r.length < 1 || r.length > count - i || (r.step != 0 && r.step != 1) ||
			r.number < low || (int64_t) r.number + (r.length - 1) * r.step > high)
			return false;
		for (int32_t k = 0; k < r.length; k++)
			number[i + k] = r.number + k * r.step;
	}
	return true;
}

static bool
take_attribute(pe_cursor *from, pe_blocks *blocks, int a)
{
	if (!take_int(from, 1, PE_MAX_CELLS, &blocks->cells[a]) ||
		!take_int(from, 0, blocks->cells[a], &blocks->columns[a]))
		return false;
	if (blocks->columns[a] == 0)
		return true;
	/* a run takes bytes: a million cells at most for each attribute */
	blocks->column_of[a] = pe_alloc((size_t) blocks->cells[a], sizeof(int32_t));
	return take_numbers(from, PE_RULED_OUT, blocks->columns[a] - 1, blocks->column_of[a], blocks->cells[a]);
}

static bool
take_matrix(pe_cursor *from, pe_axis_matrix *matrix)
{
	int32_t		centred;
	uint64_t	size;

	if (!take_int(from, 0, 1, &centred))
		return false;
	matrix->centred = centred == 1;
	if (matrix->centred)
		return true;
	if (!pe_take(from, &size, sizeof(size)) || size > from->left || pe_strategy_bytes_are_blocks(from->at, size) ||
		pe_strategy_read(&matrix->strategy, from->at, size) != PE_STRATEGY_OK)
		return false;
	from->at += size;
	from->left -= size;
	return true;
}

static bool
take_centre(pe_cursor *from, pe_axis *axis)
{
	if (!take_int(from, 0, INT32_MAX, &axis->denominator))
		return false;
	if (axis->denominator == 0)
		return true;
	axis->centre = pe_alloc((size_t) axis->cells, sizeof(*axis->centre));
	return take_numbers(from, INT32_MIN, INT32_MAX, axis->centre, axis->cells);
}

static bool
take_axis(pe_cursor *from, const pe_blocks *blocks, pe_axis *axis)
{
	int64_t		cells = 1;

	if (!take_int(from, 1, blocks->attributes, &axis->attributes))
		return false;
	for (int i = 0; i < axis->attributes; i++)
	{
		if (!take_int(from, 0, blocks->attributes - 1, &axis->attribute[i]))
			return false;
		cells *= blocks->columns[axis->attribute[i]];
		if (cells < 1 || cells > PE_MAX_CELLS)
			return false;
	}
	axis->cells = (int32_t) cells;
	if (!take_centre(from, axis) || !take_int(from, 1, MOST_MATRICES, &axis->matrices))
		return false;
	axis->matrix = pe_alloc((size_t) axis->matrices, sizeof(*axis->matrix));
	for (int m = 0; m < axis->matrices; m++)
		if (!take_matrix(from, &axis->matrix[m]))
			return false;
	return true;
}

static bool
take_block(pe_cursor *from, pe_blocks *blocks, int32_t block)
{
	int8_t	   *choice = blocks->choice + (size_t) block * (size_t) blocks->axes;
	uint32_t	mask = 0;

	if (!pe_take(from, &mask, mask_bytes(blocks)))
		return false;
	for (int a = 0; a < blocks->axes; a++)
		choice[a] = (mask >> a & 1) != 0 ? 0 : -1;
	for (int a = 0; a < blocks->axes; a++)
		if (blocks->axis[a].matrices > 1 && !pe_take(from, &choice[a], 1))
			return false;
	return pe_take(from, &blocks->share[block], sizeof(*blocks->share));
}

/* Everything, each array no larger than its bytes allow; sums, and what belongs together, is not looked at. */
static bool
take_blocks(pe_cursor *from, pe_blocks *blocks)
{
	int32_t		format;
	int32_t		kind;
	int32_t		norm;

	if (!take_int(from, FORMAT, FORMAT, &format) || !take_int(from, PE_BLOCKS_MARGINALS, PE_BLOCKS_PRODUCT, &kind) ||
		!take_int(from, PE_L2, PE_L1, &norm) || !take_int(from, 1, PE_MAX_ATTRIBUTES, &blocks->attributes))
		return false;
	blocks->kind = (pe_blocks_kind) kind;
	blocks->norm = (pe_norm) norm;
	for (int a = 0; a < blocks->attributes; a++)
		if (!take_attribute(from, blocks, a))
			return false;
	if (!take_int(from, 0, blocks->attributes, &blocks->axes))
		return false;
	blocks->axis = pe_alloc((size_t) blocks->axes, sizeof(*blocks->axis));
	for (int a = 0; a < blocks->axes; a++)
		if (!take_axis(from, blocks, &blocks->axis[a]))
			return false;
	if (!take_int(from, 1, PE_MAX_BLOCKS, &blocks->blocks) ||
		(size_t) blocks->blocks > from->left / sizeof(*blocks->share))
		return false;
	blocks->choice = pe_alloc((size_t) blocks->blocks * (size_t) blocks->axes, 1);
	blocks->share = pe_alloc((size_t) blocks->blocks, sizeof(*blocks->share));
	for (int32_t b = 0; b < blocks->blocks; b++)
		if (!take_block(from, blocks, b))
			return false;
	return from->left == 0;
}

/* ------------------------------------------------------------------
 * What was read
 * ------------------------------------------------------------------
 */

/*
 * Whether every column has a cell, and attributes have columns just where an
 * axis has them; a single one needs no axis.
 */
static bool
columns_are_sound(const pe_blocks *blocks)
{
	uint32_t	used = 0;
	bool		sound = true;

	for (int a = 0; a < blocks->axes; a++)
		for (int i = 0; i < blocks->axis[a].attributes; i++)
			used |= UINT32_C(1) << blocks->axis[a].attribute[i];
	for (int a = 0; a < blocks->attributes && sound; a++)
	{
		bool	   *seen = pe_alloc((size_t) blocks->columns[a], sizeof(*seen));

		for (int32_t c = 0; blocks->columns[a] > 0 && c < blocks->cells[a]; c++)
			if (blocks->column_of[a][c] >= 0)
				seen[blocks->column_of[a][c]] = true;
		sound = (used >> a & 1) != 0 ? blocks->columns[a] > 0 : blocks->columns[a] <= 1;
		for (int32_t c = 0; c < blocks->columns[a]; c++)
			sound = sound && seen[c];
		pe_free(seen);
	}
	return sound;
}

/* Whether M e = 0. */
static bool
matrix_kills(const pe_strategy *strategy, const int32_t *e)
{
	int64_t    *x = pe_alloc((size_t) strategy->columns, sizeof(*x));
	pe_i128    *y = pe_alloc((size_t) strategy->rows, sizeof(*y));
	bool		killed = true;

	for (int32_t c = 0; c < strategy->columns; c++)
		x[c] = e[c];
	pe_strategy_apply(strategy, x, y);
	for (int32_t i = 0; i < strategy->rows; i++)
		killed = killed && y[i] == 0;
	pe_free(x);
	pe_free(y);
	return killed;
}

/*
 * Whether a centre is of one attribute, adds up to its denominator and each
 * matrix is 0 at it, and n I - 11' is there once at most.
 */
static bool
axis_is_centred(const pe_axis *axis)
{
	int64_t		sum = 0;
	int			centred = 0;
	bool		sound = true;

	for (int m = 0; m < axis->matrices; m++)
		centred += axis->matrix[m].centred;
	if (centred > 1 || axis->centre == NULL)
		return centred <= 1;
	for (int32_t c = 0; c < axis->cells; c++)
	{
		sum += axis->centre[c];
		sound = sound && (centred == 0 || axis->centre[c] == axis->centre[0]);
	}
	for (int m = 0; m < axis->matrices && sound; m++)
		sound = axis->matrix[m].centred || matrix_kills(&axis->matrix[m].strategy, axis->centre);
	return sound && sum == axis->denominator && axis->attributes == 1;
}

/* Every block takes an axis that has no centre. */
static bool
axes_are_sound(const pe_blocks *blocks)
{
	for (int a = 0; a < blocks->axes; a++)
	{
		if (!axis_is_centred(&blocks->axis[a]))
			return false;
		for (int32_t b = 0; b < blocks->blocks && blocks->axis[a].centre == NULL; b++)
			if (pe_blocks_choice(blocks, b, a) < 0)
				return false;
	}
	return true;
}

static bool
kind_is_sound(const pe_blocks *blocks)
{
	int			others = 0;		/* axes that are not one attribute with n I - 11' alone */
	int			last = -1;

	for (int a = 0; a < blocks->axes; a++)
		if (blocks->axis[a].attributes != 1 || blocks->axis[a].matrices != 1 || !blocks->axis[a].matrix[0].centred)
		{
			others++;
			last = a;
		}
	switch (blocks->kind)
	{
		case PE_BLOCKS_MARGINALS:
			return others == 0;
		case PE_BLOCKS_SYMMETRIC:
			return others == 0 || last == 0;
		case PE_BLOCKS_KRONECKER:
			return blocks->blocks == 1;
		default:
			return true;
	}
}

/* Whether each set is there without any one of its members, too; they are sorted. */
static bool
have_subsets(const uint32_t *set, int32_t count)
{
	for (int32_t i = 0; i < count; i++)
		for (uint32_t left = set[i]; left != 0; left &= left - 1)
		{
			uint32_t	smaller = set[i] & ~(left & -left);

			if (bsearch(&smaller, set, (size_t) count, sizeof(*set), pe_compare_sets) == NULL)
				return false;
		}
	return true;
}

/*
 * Whether no two blocks take the same axes with a centre: of two that do estimates would use one.  Tables of marginals
 * are margins of each other, which nonnegative ones rely on.
 */
static bool
sets_are_sound(const pe_blocks *blocks)
{
	uint32_t   *set = pe_alloc((size_t) blocks->blocks, sizeof(*set));
	bool		sound = true;

	for (int32_t b = 0; b < blocks->blocks; b++)
		set[b] = pe_blocks_centred_axes(blocks, b);
	qsort(set, (size_t) blocks->blocks, sizeof(*set), pe_compare_sets);
	for (int32_t b = 1; b < blocks->blocks && sound; b++)
		sound = set[b] != set[b - 1];
	if (blocks->kind == PE_BLOCKS_MARGINALS)
		sound = sound && have_subsets(set, blocks->blocks);
	pe_free(set);
	return sound;
}

/* Whether these bytes are what is written of the blocks. */
static bool
is_written_so(const pe_blocks *blocks, const char *bytes, size_t size)
{
	char	   *written;
	bool		same;

	if (pe_blocks_size(blocks) != size)
		return false;
	written = pe_alloc(size, 1);
	pe_blocks_write(blocks, written);
	same = memcmp(written, bytes, size) == 0;
	pe_free(written);
	return same;
}

pe_blocks *
pe_blocks_read(const char *bytes, size_t size)
{
	pe_cursor	from = {bytes, size};
	pe_blocks  *blocks = pe_alloc(1, sizeof(*blocks));

	if (take_blocks(&from, blocks) && pe_blocks_prepare(blocks) && pe_blocks_shares_hold(blocks) &&
		columns_are_sound(blocks) && axes_are_sound(blocks) && kind_is_sound(blocks) && sets_are_sound(blocks) &&
		is_written_so(blocks, bytes, size))
		return blocks;
	pe_blocks_free(blocks);
	pe_free(blocks);
	return NULL;
}
