/*
 * block_tables.h
 *	  Lists of blocks made by hand or at random, and the same written out over all cells.
 *
 * What is written out comes from the definition of blocks.h cell by cell, and from
 * pe_strategy_matrix; nothing of the room's mode by mode arithmetic is used.
 */
#ifndef PE_TEST_BLOCK_TABLES_H
#define PE_TEST_BLOCK_TABLES_H

#include <string.h>

#include "blocks/blocks.h"
#include "numbers.h"

/* ---- by hand ---- */

/* Attributes with a column for each cell. */
static inline void
begin_blocks(pe_blocks *blocks, pe_blocks_kind kind, pe_norm norm, int attributes, const int32_t *cells)
{
	memset(blocks, 0, sizeof(*blocks));
	blocks->kind = kind;
	blocks->norm = norm;
	blocks->attributes = attributes;
	for (int a = 0; a < attributes; a++)
	{
		blocks->cells[a] = blocks->columns[a] = cells[a];
		blocks->column_of[a] = pe_alloc((size_t) cells[a], sizeof(int32_t));
		for (int32_t c = 0; c < cells[a]; c++)
			blocks->column_of[a][c] = c;
	}
	blocks->axis = pe_alloc((size_t) attributes, sizeof(*blocks->axis));
}

/* A further axis over so many attributes from `first` on, with room for matrices and no centre. */
static inline pe_axis *
add_axis(pe_blocks *blocks, int first, int attributes, int matrices)
{
	pe_axis    *axis = &blocks->axis[blocks->axes++];

	axis->attributes = attributes;
	axis->cells = 1;
	for (int i = 0; i < attributes; i++)
	{
		axis->attribute[i] = first + i;
		axis->cells *= blocks->columns[first + i];
	}
	axis->matrices = matrices;
	axis->matrix = pe_alloc((size_t) matrices, sizeof(*axis->matrix));
	return axis;
}

/* The same with n I - 11' and the centre 11'/n. */
static inline void
add_centred_axis(pe_blocks *blocks, int first, int attributes)
{
	pe_axis    *axis = add_axis(blocks, first, attributes, 1);

	axis->matrix[0].centred = true;
	axis->denominator = axis->cells;
	axis->centre = pe_alloc((size_t) axis->cells, sizeof(int32_t));
	for (int32_t c = 0; c < axis->cells; c++)
		axis->centre[c] = 1;
}

/* A strategy over n columns of its own: the identity, to which T, M or B can be added. */
static inline void
plain_strategy(pe_strategy *strategy, int32_t n)
{
	*strategy = (pe_strategy) {.classes = n, .columns = n, .rows = n, .inner = n, .objective = 1};
	strategy->column_of = pe_alloc((size_t) n, sizeof(int32_t));
	for (int32_t c = 0; c < n; c++)
		strategy->column_of[c] = c;
}

/* Room for so many blocks, of which all sum over everything and have the same share. */
static inline void
make_blocks(pe_blocks *blocks, int32_t count)
{
	blocks->blocks = count;
	blocks->choice = pe_alloc((size_t) count * (size_t) blocks->axes, 1);
	blocks->share = pe_alloc((size_t) count, sizeof(*blocks->share));
	memset(blocks->choice, -1, (size_t) count * (size_t) blocks->axes);
	for (int32_t b = 0; b < count; b++)
		blocks->share[b] = (UINT64_C(1) << PE_SHARE_BITS) / (uint64_t) count;
}

/* All sets of at most k axes, with their first matrices. */
static inline void
make_sets(pe_blocks *blocks, int k)
{
	int32_t		count = 0;

	for (uint32_t set = 0; set < UINT32_C(1) << blocks->axes; set++)
		count += __builtin_popcount(set) <= k;
	make_blocks(blocks, count);
	for (uint32_t set = 0, b = 0; set < UINT32_C(1) << blocks->axes; set++)
		if (__builtin_popcount(set) <= k)
		{
			for (int a = 0; a < blocks->axes; a++)
				blocks->choice[b * (uint32_t) blocks->axes + (uint32_t) a] = (set >> a & 1) != 0 ? 0 : -1;
			b++;
		}
}

/* ---- at random ---- */

static inline int32_t *
random_entries(size_t count, int32_t most)
{
	int32_t    *entry = pe_alloc(count, sizeof(*entry));

	for (size_t i = 0; i < count; i++)
		entry[i] = between(-most, most);
	return entry;
}

/* An upper triangle with a diagonal above 0. */
static inline int32_t *
random_triangle(int32_t n, int32_t most)
{
	int32_t    *entry = random_entries((size_t) n * ((size_t) n + 1) / 2, most);

	for (int32_t j = 0; j < n; j++)
		entry[(j + 1) * (j + 2) / 2 - 1] = between(1, most);
	return entry;
}

/* Identity, triangle, dense, or any of the last two with a basis. */
static inline void
random_strategy(pe_strategy *strategy, int32_t n, int32_t most)
{
	int			form = between(0, 4);

	plain_strategy(strategy, n);
	if (form >= 3)
	{
		strategy->inner = strategy->rows = between(1, n);
		strategy->basis = random_entries((size_t) (strategy->inner * n), 2);
		strategy->basis[0] = 1;
	}
	if (form == 1 || form == 3)
		strategy->triangle = random_triangle(strategy->inner, most);
	else if (form > 0)
	{
		strategy->rows = strategy->inner + between(0, 2);
		strategy->dense = random_entries((size_t) (strategy->rows * strategy->inner), most);
		strategy->dense[0] = most;
	}
}

/* A random centre e, and T (D I - e 1') without its last row. */
static inline void
random_product_axis(pe_axis *axis)
{
	pe_strategy *strategy = &axis->matrix[0].strategy;
	int32_t		n = axis->cells;

	axis->centre = pe_alloc((size_t) n, sizeof(int32_t));
	for (int32_t c = 0; c < n; c++)
		axis->denominator += axis->centre[c] = between(1, 4);
	plain_strategy(strategy, n);
	strategy->inner = strategy->rows = n - 1;
	strategy->basis = pe_alloc((size_t) ((n - 1) * n), sizeof(int32_t));
	for (int32_t i = 0; i < n - 1; i++)
		for (int32_t j = 0; j < n; j++)
			strategy->basis[i * n + j] = (i == j ? axis->denominator : 0) - axis->centre[i];
	strategy->triangle = random_triangle(n - 1, 3);
}

/* Cells of an attribute that are not told apart, not asked for or ruled out; at least two columns are left. */
static inline void
random_columns(pe_blocks *blocks, int a)
{
	if (blocks->cells[a] < 3)
		return;
	blocks->columns[a]--;
	blocks->column_of[a][blocks->cells[a] - 1] = between(-2, blocks->columns[a] - 1);
}

/* The shares: random, then as large as they may be, all by one factor. */
static inline void
fill_shares(pe_blocks *blocks)
{
	const double whole = 0x1p40;
	double	   *weight = pe_alloc((size_t) blocks->blocks, sizeof(double));
	double		low = 0;
	double		high = 20;			/* no weight is below a twentieth */

	for (int32_t b = 0; b < blocks->blocks; b++)
		weight[b] = uniform(0.05, 1);
	for (int step = 0; step < 50; step++)
	{
		double		middle = (low + high) / 2;

		for (int32_t b = 0; b < blocks->blocks; b++)
			blocks->share[b] = 1 + (uint64_t) (middle * weight[b] * (whole - 1));
		if (pe_blocks_shares_hold(blocks))
			low = middle;
		else
			high = middle;
	}
	for (int32_t b = 0; b < blocks->blocks; b++)
		blocks->share[b] = 1 + (uint64_t) (low * weight[b] * (whole - 1));
	pe_free(weight);
}

/* Each block of all that an axis without a centre allows, or not. */
static inline void
random_choices(pe_blocks *blocks)
{
	int			all = 1;
	int			taken = 0;

	for (int a = 0; a < blocks->axes; a++)
		all *= blocks->axis[a].matrices + (blocks->axis[a].centre != NULL);
	make_blocks(blocks, all);
	for (int number = 0; number < all; number++)
	{
		int			left = number;

		for (int a = 0; a < blocks->axes; a++)
		{
			int			choices = blocks->axis[a].matrices + (blocks->axis[a].centre != NULL);

			blocks->choice[taken * blocks->axes + a] = (int8_t) (left % choices - (blocks->axis[a].centre != NULL));
			left /= choices;
		}
		taken += blocks->kind == PE_BLOCKS_KRONECKER ? number == all - 1 : number == all - 1 || between(0, 2) > 0;
	}
	blocks->blocks = taken;
}

/* An axis from an attribute on; returns over how many. */
static inline int
random_axis(pe_blocks *blocks, int a)
{
	bool		core = blocks->kind == PE_BLOCKS_KRONECKER || (blocks->kind == PE_BLOCKS_SYMMETRIC && a == 0);
	int			attributes = core && a + 1 < blocks->attributes && between(0, 2) == 0 ? 2 : 1;

	if (core)
	{
		pe_axis    *axis = add_axis(blocks, a, attributes, blocks->kind == PE_BLOCKS_KRONECKER ? 1 : between(1, 4));

		for (int m = 0; m < axis->matrices; m++)
			random_strategy(&axis->matrix[m].strategy, axis->cells, 9);
	}
	else if (blocks->kind == PE_BLOCKS_PRODUCT && between(0, 2) > 0)
		random_product_axis(add_axis(blocks, a, 1, 1));
	else
		add_centred_axis(blocks, a, 1);
	return attributes;
}

/*
 * Blocks of a kind over at most most_cells cells, prepared, some attributes with cells that have no
 * column if told, the last attribute in no axis now and then, a core of two attributes now and then.
 */
static inline void
random_blocks(pe_blocks *blocks, pe_blocks_kind kind, pe_norm norm, int most_cells, bool lacks)
{
	int32_t		cells[PE_MAX_ATTRIBUTES];
	int			attributes = 0;
	int			product = 1;

	for (; attributes < 5 && product * 2 <= most_cells && (attributes < 1 || between(0, 3) > 0); attributes++)
	{
		cells[attributes] = between(2, most_cells / product < 5 ? most_cells / product : 5);
		product *= cells[attributes];
	}
	begin_blocks(blocks, kind, norm, attributes, cells);
	for (int a = 0; a < attributes && lacks; a++)
		if (between(0, 1) == 0)
			random_columns(blocks, a);
	for (int a = 0; a < attributes;)
	{
		if (a > 0 && a == attributes - 1 && between(0, 3) == 0)
		{
			pe_free(blocks->column_of[a]);
			blocks->column_of[a] = NULL;
			blocks->columns[a] = 0;
			break;
		}
		a += random_axis(blocks, a);
	}
	random_choices(blocks);
	if (!pe_blocks_prepare(blocks))
		fail_msg("random blocks");
	fill_shares(blocks);
}

/* ---- written out ---- */

static inline int
cells_of_all(const pe_blocks *blocks)
{
	int			cells = 1;

	for (int a = 0; a < blocks->attributes; a++)
		cells *= blocks->cells[a];
	return cells;
}

/* The place of a cell of everything in an attribute; row-major, last fastest. */
static inline int
place_in(const pe_blocks *blocks, int cell, int attribute)
{
	for (int a = blocks->attributes - 1; a > attribute; a--)
		cell /= blocks->cells[a];
	return cell % blocks->cells[attribute];
}

/* Whether no row is in a cell. */
static inline bool
cell_is_ruled_out(const pe_blocks *blocks, int cell)
{
	for (int a = 0; a < blocks->attributes; a++)
		if (blocks->column_of[a] != NULL && blocks->column_of[a][place_in(blocks, cell, a)] == PE_RULED_OUT)
			return true;
	return false;
}

/* The column of an axis for a cell, or below 0. */
static inline int32_t
column_in_axis(const pe_blocks *blocks, const pe_axis *axis, int cell)
{
	int32_t		column = 0;

	for (int i = 0; i < axis->attributes; i++)
	{
		int32_t		of = blocks->column_of[axis->attribute[i]][place_in(blocks, cell, axis->attribute[i])];

		if (of < 0)
			return of;
		column = column * blocks->columns[axis->attribute[i]] + of;
	}
	return column;
}

/* The matrix, rows x cells by rows. */
static inline double *
axis_matrix(const pe_axis *axis, int m)
{
	double	   *a = matrix(pe_axis_rows(axis, m), axis->cells);

	if (!axis->matrix[m].centred)
		pe_strategy_matrix(&axis->matrix[m].strategy, a);
	for (int i = 0; i < axis->cells && axis->matrix[m].centred; i++)
		for (int j = 0; j < axis->cells; j++)
			a[i * axis->cells + j] = (i == j ? axis->cells : 0) - 1;
	return a;
}

/* A of all blocks, first[blocks] x cells by rows, 0 for cells that are ruled out. */
static inline int64_t *
blocks_matrix(const pe_blocks *blocks)
{
	int			cells = cells_of_all(blocks);
	int64_t    *a = pe_alloc((size_t) blocks->first[blocks->blocks] * (size_t) cells, sizeof(*a));

	for (int32_t b = 0; b < blocks->blocks; b++)
		for (int cell = 0; cell < cells; cell++)
			for (int64_t row = blocks->first[b]; row < blocks->first[b + 1]; row++)
				a[row * cells + cell] = !cell_is_ruled_out(blocks, cell);
	for (int32_t b = 0; b < blocks->blocks; b++)
	{
		int64_t		stride = 1;

		for (int x = blocks->axes - 1; x >= 0; x--)
		{
			const pe_axis *axis = &blocks->axis[x];
			int			m = pe_blocks_choice(blocks, b, x);
			double	   *of = m >= 0 ? axis_matrix(axis, m) : NULL;

			for (int64_t row = blocks->first[b]; row < blocks->first[b + 1] && m >= 0; row++)
				for (int cell = 0; cell < cells; cell++)
				{
					int32_t		column = column_in_axis(blocks, axis, cell);
					int64_t		at = (row - blocks->first[b]) / stride % pe_axis_rows(axis, m);

					a[row * cells + cell] *= column < 0 ? 0 : (int64_t) of[at * axis->cells + column];
				}
			stride *= m >= 0 ? pe_axis_rows(axis, m) : 1;
			pe_free(of);
		}
	}
	return a;
}

/* The counts of tables, from those of all cells. */
static inline int64_t *
counts_of_tables(const pe_blocks *blocks, const pe_tables *tables, const int64_t *x)
{
	int64_t    *counts = pe_alloc((size_t) tables->first[tables->tables], sizeof(*counts));

	for (int32_t t = 0; t < tables->tables; t++)
		for (int cell = 0; cell < cells_of_all(blocks); cell++)
		{
			int64_t		place = 0;

			for (int a = 0; a < blocks->attributes; a++)
				if ((tables->set[t] >> a & 1) != 0)
					place = place * blocks->cells[a] + place_in(blocks, cell, a);
			counts[tables->first[t] + place] += x[cell];
		}
	return counts;
}

#endif
