/*
 * blocks.c
 *	  Lists of blocks: their rows and norms, the tables they need, exact answers.
 *	  See blocks.h.
 */
#include "blocks/blocks.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------
 * Rows and norms
 * ------------------------------------------------------------------
 */

int32_t
pe_axis_rows(const pe_axis *axis, int matrix)
{
	return axis->matrix[matrix].centred ? axis->cells : axis->matrix[matrix].strategy.rows;
}

uint32_t
pe_blocks_set(const pe_blocks *blocks, int32_t block)
{
	uint32_t	set = 0;

	for (int a = 0; a < blocks->axes; a++)
		for (int i = 0; pe_blocks_choice(blocks, block, a) >= 0 && i < blocks->axis[a].attributes; i++)
			set |= UINT32_C(1) << blocks->axis[a].attribute[i];
	return set;
}

uint32_t
pe_blocks_centred_axes(const pe_blocks *blocks, int32_t block)
{
	uint32_t	set = 0;

	for (int a = 0; a < blocks->axes; a++)
		if (blocks->axis[a].centre != NULL && pe_blocks_choice(blocks, block, a) >= 0)
			set |= UINT32_C(1) << a;
	return set;
}

/* Fills largest and even of an axis' matrix; false if it is 0, or its norms do not fit. */
static bool
fill_norms(pe_axis *axis, int m, pe_norm norm)
{
	pe_axis_matrix *matrix = &axis->matrix[m];
	pe_u128    *norms = pe_alloc((size_t) axis->cells, sizeof(*norms));
	bool		fits = pe_axis_norms(axis, m, norm, norms);

	matrix->largest = 0;
	matrix->even = true;
	for (int32_t c = 0; c < axis->cells && fits; c++)
	{
		matrix->even = matrix->even && norms[c] == norms[0];
		matrix->largest = norms[c] > matrix->largest ? norms[c] : matrix->largest;
	}
	pe_free(norms);
	return fits && matrix->largest > 0;
}

/* The rows of a block; beyond INT32_MAX if there are more. */
static int64_t
rows_of(const pe_blocks *blocks, int32_t block)
{
	int64_t		rows = 1;

	for (int a = 0; a < blocks->axes; a++)
		if (pe_blocks_choice(blocks, block, a) >= 0 && rows <= INT32_MAX)
			rows *= pe_axis_rows(&blocks->axis[a], pe_blocks_choice(blocks, block, a));
	return rows;
}

/*
 * An entry is at most the norm of its column: below 2^48 where its square is below 2^96.  A table's
 * counts are numbers of rows, together below 2^63, so that an answer is below the largest entry
 * times 2^63.
 */
static bool
block_fits(const pe_blocks *blocks, int32_t block)
{
	pe_u128		largest = pe_blocks_largest(blocks, block);

	return largest < (pe_u128) 1 << (blocks->norm == PE_L1 ? 62 : 96);
}

/* Whether an axis is over attributes of its own, marked in *seen, and its matrices over its cells. */
static bool
axis_is_sound(const pe_blocks *blocks, const pe_axis *axis, uint32_t *seen)
{
	int64_t		cells = 1;

	for (int i = 0; i < axis->attributes; i++)
	{
		int			attribute = axis->attribute[i];

		if (attribute < 0 || attribute >= blocks->attributes || (*seen >> attribute & 1) != 0 ||
			(i > 0 && attribute < axis->attribute[i - 1]))
			return false;
		*seen |= UINT32_C(1) << attribute;
		cells = cells <= INT32_MAX ? cells * blocks->columns[attribute] : cells;
	}
	for (int m = 0; m < axis->matrices; m++)
		if (!axis->matrix[m].centred && (axis->matrix[m].strategy.direct || axis->matrix[m].strategy.blocks != NULL ||
			 axis->matrix[m].strategy.columns != axis->cells))
			return false;
	return cells == axis->cells && cells > 0;
}

static bool
is_sound(const pe_blocks *blocks)
{
	uint32_t	seen = 0;

	for (int a = 0; a < blocks->axes; a++)
	{
		if (!axis_is_sound(blocks, &blocks->axis[a], &seen))
			return false;
		for (int32_t b = 0; b < blocks->blocks; b++)
			if (pe_blocks_choice(blocks, b, a) < -1 || pe_blocks_choice(blocks, b, a) >= blocks->axis[a].matrices)
				return false;
	}
	return true;
}

bool
pe_blocks_prepare(pe_blocks *blocks)
{
	bool		fits = is_sound(blocks);

	blocks->first = pe_alloc((size_t) blocks->blocks + 1, sizeof(*blocks->first));
	for (int a = 0; a < blocks->axes && fits; a++)
		for (int m = 0; m < blocks->axis[a].matrices && fits; m++)
		{
			/* what a matrix is worth by itself is not reported of blocks */
			blocks->axis[a].matrix[m].strategy.objective = 1;
			blocks->axis[a].matrix[m].strategy.lower_bound = 0;
			blocks->axis[a].matrix[m].strategy.iterations = 0;
			fits = fill_norms(&blocks->axis[a], m, blocks->norm);
		}
	for (int32_t b = 0; b < blocks->blocks && fits; b++)
	{
		blocks->first[b + 1] = blocks->first[b] + rows_of(blocks, b);
		fits = blocks->first[b + 1] <= INT32_MAX && block_fits(blocks, b);
	}
	if (!fits)
	{
		pe_free(blocks->first);
		blocks->first = NULL;
	}
	return fits;
}

void
pe_blocks_free(pe_blocks *blocks)
{
	for (int a = 0; a < blocks->attributes; a++)
		pe_free(blocks->column_of[a]);
	for (int a = 0; blocks->axis != NULL && a < blocks->axes; a++)
	{
		pe_axis    *axis = &blocks->axis[a];

		for (int m = 0; axis->matrix != NULL && m < axis->matrices; m++)
			if (!axis->matrix[m].centred)
				pe_strategy_free(&axis->matrix[m].strategy);
		pe_free(axis->matrix);
		pe_free(axis->centre);
	}
	pe_free(blocks->axis);
	pe_free(blocks->choice);
	pe_free(blocks->share);
	pe_free(blocks->first);
	memset(blocks, 0, sizeof(*blocks));
}

/* ------------------------------------------------------------------
 * Tables
 * ------------------------------------------------------------------
 */

/* Sets of more attributes first. */
int
pe_compare_sets(const void *a, const void *b)
{
	uint32_t	first = *(const uint32_t *) a;
	uint32_t	second = *(const uint32_t *) b;
	int			more = __builtin_popcount(second) - __builtin_popcount(first);

	return more != 0 ? more : (first > second) - (first < second);
}

/* Whether one of the sets holds this one. */
static bool
is_held(const uint32_t *sets, int32_t count, uint32_t set)
{
	for (int32_t i = 0; i < count; i++)
		if ((set & ~sets[i]) == 0)
			return true;
	return false;
}

/* Moves the largest of sorted sets to the front, once each; returns how many. */
static int32_t
keep_largest(uint32_t *sets, int32_t count)
{
	int32_t		kept = 0;
	int32_t		larger = 0;		/* of those kept: of more attributes than the set looked at */

	for (int32_t i = 0; i < count; i++)
	{
		uint32_t	set = sets[i];

		if (i > 0 && set == sets[i - 1] && kept > 0 && set == sets[kept - 1])
			continue;
		if (kept > 0 && __builtin_popcount(sets[kept - 1]) > __builtin_popcount(set))
			larger = kept;
		if (!is_held(sets, larger, set))
			sets[kept++] = set;
	}
	return kept;
}

bool
pe_blocks_tables(const pe_blocks *blocks, pe_tables *tables)
{
	memset(tables, 0, sizeof(*tables));
	tables->attributes = blocks->attributes;
	memcpy(tables->cells, blocks->cells, sizeof(tables->cells));
	tables->set = pe_alloc((size_t) blocks->blocks, sizeof(*tables->set));
	for (int32_t b = 0; b < blocks->blocks; b++)
		tables->set[b] = pe_blocks_set(blocks, b);
	qsort(tables->set, (size_t) blocks->blocks, sizeof(*tables->set), pe_compare_sets);
	tables->tables = keep_largest(tables->set, blocks->blocks);
	if (pe_tables_prepare(tables))
		return true;
	pe_tables_free(tables);
	return false;
}

/* ------------------------------------------------------------------
 * Exact answers
 * ------------------------------------------------------------------
 */

/* What it takes to fold a table onto the columns of a block's axes. */
typedef struct fold
{
	int			attributes;		/* of the table */
	int32_t		cells[PE_MAX_ATTRIBUTES];
	int64_t    *place[PE_MAX_ATTRIBUTES];	/* what each cell adds to the place of a count; below 0: it is left out */
} fold;

static int64_t
table_cells(const pe_tables *tables, int32_t table)
{
	return tables->first[table + 1] - tables->first[table];
}

/* The smallest table that holds a set of attributes. */
static int32_t
table_for(const pe_tables *tables, uint32_t set)
{
	int32_t		found = -1;

	for (int32_t t = 0; t < tables->tables; t++)
		if ((set & ~tables->set[t]) == 0 && (found < 0 || table_cells(tables, t) < table_cells(tables, found)))
			found = t;
	if (found < 0)
		pe_bug("no table for a block");
	return found;
}

/* From one column of an attribute to the next, among the columns of a block's axes; 0: it is summed over. */
static int64_t
stride_of(const pe_blocks *blocks, int32_t block, int attribute)
{
	int64_t		stride = 1;

	for (int a = blocks->axes - 1; a >= 0; a--)
	{
		const pe_axis *axis = &blocks->axis[a];

		for (int i = axis->attributes - 1; pe_blocks_choice(blocks, block, a) >= 0 && i >= 0; i--)
		{
			if (axis->attribute[i] == attribute)
				return stride;
			stride *= blocks->columns[axis->attribute[i]];
		}
	}
	return 0;
}

/*
 * The place of each cell of an attribute, below 0 where it is left out: what is
 * not asked for counts where it is summed over.
 */
static void
fill_places(const pe_blocks *blocks, int attribute, int64_t stride, int64_t *place)
{
	for (int32_t c = 0; c < blocks->cells[attribute]; c++)
	{
		int32_t		column = blocks->column_of[attribute] != NULL ? blocks->column_of[attribute][c] : 0;

		place[c] = column == PE_RULED_OUT ? -1 : stride * column;
	}
}

/*
 * Adds the counts of the cells whose first attributes add up to `place`, or leaves them out if it
 * is below 0; returns what is behind them.
 */
static const int64_t *
add_counts(const fold *f, int attribute, int64_t place, const int64_t *count, pe_u128 *x)
{
	const int64_t *add = f->place[attribute];

	if (f->attributes == 0)
		x[0] += (pe_u128) count[0];
	else if (attribute < f->attributes - 1)
		for (int32_t c = 0; c < f->cells[attribute]; c++)
			count = add_counts(f, attribute + 1, place < 0 || add[c] < 0 ? -1 : place + add[c], count, x);
	else
	{
		for (int32_t c = 0; c < f->cells[attribute] && place >= 0; c++)
			if (add[c] >= 0)
				x[place + add[c]] += (pe_u128) count[c];
		count += f->cells[attribute];
	}
	return count;
}

/* x = the counts of a table over the columns of a block's axes; places: room for all attributes' cells. */
static void
fold_table(const pe_blocks *blocks, int32_t block, const pe_tables *tables, const int64_t *counts,
		   int64_t *places, pe_u128 *x)
{
	int32_t		table = table_for(tables, pe_blocks_set(blocks, block));
	fold		f = {0};

	for (int a = 0; a < blocks->attributes; a++)
		if ((tables->set[table] >> a & 1) != 0)
		{
			f.cells[f.attributes] = blocks->cells[a];
			f.place[f.attributes++] = places;
			fill_places(blocks, a, stride_of(blocks, block, a), places);
			places += blocks->cells[a];
		}
	add_counts(&f, 0, 0, counts + tables->first[table], x);
}

/* y = (n I - 11') x of `width` vectors side by side */
static void
apply_centred(int32_t n, size_t width, const pe_u128 *x, pe_u128 *y)
{
	memset(y, 0, width * sizeof(*y));
	for (int32_t i = 0; i < n; i++)
		for (size_t k = 0; k < width; k++)
			y[k] -= x[(size_t) i * width + k];
	/* the first row holds the sums until it is computed itself */
	for (int32_t i = n - 1; i >= 0; i--)
		for (size_t k = 0; k < width; k++)
			y[(size_t) i * width + k] = (pe_u128) n * x[(size_t) i * width + k] + y[k];
}

static void
apply_matrix(const pe_axis *axis, int matrix, size_t width, const pe_u128 *x, pe_u128 *y)
{
	if (axis->matrix[matrix].centred)
		apply_centred(axis->cells, width, x, y);
	else
		pe_strategy_apply_wide(&axis->matrix[matrix].strategy, width, x, y);
}

size_t
pe_blocks_columns_from(const pe_blocks *blocks, int32_t block, int from)
{
	size_t		columns = 1;

	for (int a = from; a < blocks->axes; a++)
		if (pe_blocks_choice(blocks, block, a) >= 0)
			columns *= (size_t) blocks->axis[a].cells;
	return columns;
}

/* y of a block, axis by axis; x is destroyed, z is as large. */
static void
apply_axes(const pe_blocks *blocks, int32_t block, pe_u128 *x, pe_u128 *z, pe_u128 *y)
{
	size_t		done = 1;		/* rows of the axes that are behind */

	for (int a = 0; a < blocks->axes; a++)
	{
		const pe_axis *axis = &blocks->axis[a];
		int			matrix = pe_blocks_choice(blocks, block, a);
		size_t		width = pe_blocks_columns_from(blocks, block, a + 1);
		pe_u128    *swap = x;

		if (matrix < 0)
			continue;
		for (size_t i = 0; i < done; i++)
			apply_matrix(axis, matrix, width, x + i * (size_t) axis->cells * width,
						 z + i * (size_t) pe_axis_rows(axis, matrix) * width);
		done *= (size_t) pe_axis_rows(axis, matrix);
		x = z;
		z = swap;
	}
	memcpy(y, x, done * sizeof(*y));
}

/* The most numbers that stand between a block's table and its y. */
static size_t
most_between(const pe_blocks *blocks, int32_t block)
{
	size_t		done = 1;
	size_t		most = 1;

	for (int a = 0; a <= blocks->axes; a++)
	{
		size_t		numbers = done * pe_blocks_columns_from(blocks, block, a);

		most = numbers > most ? numbers : most;
		if (a < blocks->axes && pe_blocks_choice(blocks, block, a) >= 0)
			done *= (size_t) pe_axis_rows(&blocks->axis[a], pe_blocks_choice(blocks, block, a));
	}
	return most;
}

static size_t
most_of_all(const pe_blocks *blocks)
{
	size_t		most = 0;

	for (int32_t b = 0; b < blocks->blocks; b++)
	{
		size_t		numbers = most_between(blocks, b);

		most = numbers > most ? numbers : most;
	}
	return most;
}

static size_t
all_places(const pe_blocks *blocks)
{
	size_t		places = 0;

	for (int a = 0; a < blocks->attributes; a++)
		places += (size_t) blocks->cells[a];
	return places;
}

size_t
pe_blocks_apply_memory(const pe_blocks *blocks)
{
	/* the third: what a strategy has between B and M */
	return 3 * most_of_all(blocks) * sizeof(pe_u128) + all_places(blocks) * sizeof(int64_t);
}

void
pe_blocks_apply(const pe_blocks *blocks, const pe_tables *tables, const int64_t *counts, pe_i128 *y)
{
	size_t		most = most_of_all(blocks);
	int64_t    *places = pe_alloc(all_places(blocks), sizeof(*places));
	pe_u128    *x = pe_alloc(most, sizeof(*x));
	pe_u128    *z = pe_alloc(most, sizeof(*z));

	for (int32_t b = 0; b < blocks->blocks; b++)
	{
		memset(x, 0, pe_blocks_columns_from(blocks, b, 0) * sizeof(*x));
		fold_table(blocks, b, tables, counts, places, x);
		apply_axes(blocks, b, x, z, (pe_u128 *) y + blocks->first[b]);
	}
	pe_wipe(x, most * sizeof(*x));
	pe_wipe(z, most * sizeof(*z));
	pe_free(x);
	pe_free(z);
	pe_free(places);
}
