/*
 * row_tiles.h
 *	  The rows of a model, as 16-bit integers in tiles.
 *
 * A row is what a model sees of it: for every number its place in the declared
 * bounds as an integer in [-PE_ONE, PE_ONE], for every attribute with levels
 * the cell it is in, and a label.  features.h says how values become integers.
 * From here to the noise there are only integers.  Each row's share of a sum is
 * a function of that row and of public values, not of its place or of other
 * rows (math in pass.h).
 *
 * Rows lie in blocks of PE_BLOCK_ROWS, in tiles of PE_TILE rows, column by
 * column inside a tile.  A column of weights stands for each dense column and
 * each cell of each group, in this order: dense columns first, then group by
 * group.
 *
 * An absent row (the rest of the last tile, or one that was taken out again)
 * has the label PE_NO_LABEL, zeros in every column and no cell in any group.
 */
#ifndef PE_GLM_ROW_TILES_H
#define PE_GLM_ROW_TILES_H

#include <stdbool.h>

#include "base/mem.h"
#include "domain/units.h"

/* The integer that stands for 1: no feature is larger. */
#define PE_ONE 16383

#define PE_TILE 64
#define PE_BLOCK_TILES 32
#define PE_BLOCK_ROWS (PE_TILE * PE_BLOCK_TILES)

/* The most columns of weights that a model may have. */
#define PE_MAX_COLUMNS 2000

/* A row is in no cell of a group. */
#define PE_NO_GROUP_CELL UINT16_MAX

/* The label of a row that is not there. */
#define PE_NO_LABEL INT16_MIN

/* What a row is made of. */
typedef struct pe_row_shape
{
	int32_t		dense;			/* dense columns */
	int32_t		groups;			/* one-hot groups; a row is in one cell of each at most */
	int32_t    *cells;			/* of each group */
	int32_t		columns;		/* dense + the sum of cells */
} pe_row_shape;

/* One row; the caller's memory. */
typedef struct pe_row
{
	int16_t    *dense;			/* in [-PE_ONE, PE_ONE] */
	uint16_t   *cell;			/* of each group, or PE_NO_GROUP_CELL */
	int16_t		unit;			/* what stands in the cells: PE_ONE, less if the row was cut to a norm; >= 0 */
	int16_t		label;			/* 0 or 1; of a regression in [-PE_ONE, PE_ONE] */
} pe_row;

typedef struct pe_row_block pe_row_block;	/* row_tiles.c */

typedef struct pe_rows
{
	pe_row_shape shape;			/* cells: the caller's, which outlives this */
	size_t		rows;			/* added so far, those taken out among them */
	size_t		blocks;
	size_t		room;			/* of block */
	pe_row_block **block;
	bool		with_units;
	uint64_t	(*unit)[2];		/* of each row, with_units */
	size_t		unit_room;
	bool		together;		/* the rows of each unit follow each other */
	/* caps of |s| per row, for the clip they were computed for (pass.c); cap_norm -1: for none */
	int			cap_norm;
	pe_u128		cap_clip;
} pe_rows;

/* Whether row_shape's numbers are sound: 1 <= columns <= PE_MAX_COLUMNS and so on. */
extern bool pe_row_shape_is_sound(const pe_row_shape *shape);

/* An empty store. */
extern void pe_rows_init(pe_rows *rows, const pe_row_shape *shape, bool with_units);

/* Bytes that so many rows take. */
extern size_t pe_rows_memory(const pe_row_shape *shape, bool with_units, size_t rows);

/* Adds a row; unit is its unit's hash (domain/units.h), NULL without units. */
extern void pe_rows_add(pe_rows *rows, const pe_row *row, const uint64_t unit[2]);

/*
 * Adds a row of this unit that is not there: one that is dropped, with units,
 * is stored and cut like others, so that memory and time do not show how many
 * they are.
 */
extern void pe_rows_add_nothing(pe_rows *rows, const uint64_t unit[2]);

/* Reads a row back: a copy of the store's integers into the memory that row points to. */
extern void pe_rows_get(const pe_rows *rows, size_t number, pe_row *row);

/* Empties the store for new rows and keeps its memory, or frees it; both wipe. */
extern void pe_rows_clear(pe_rows *rows);
extern void pe_rows_free(pe_rows *rows);

/*
 * Takes out all rows of a unit but the k with the smallest
 * SipHash(key, unit || SipHash of the row's integers and label || j), j = 1, 2, ...
 * numbering the unit's equal rows: a function of the unit's own rows, as they are
 * in domain/units.h with the row in the place of the cell.  Rows that are not there are
 * hashed, sorted and ranked too, behind those that are: they take no place.
 */
extern void pe_rows_cut(pe_rows *rows, const pe_unit_keys *keys, int32_t max_rows);

/*
 * Moves the rows of each unit together, in the order of the units' hashes, unless they are there
 * already: with units.  No sum depends on the order.
 */
extern void pe_rows_put_together(pe_rows *rows);

/*
 * All rows as bytes of this machine and back.  pe_rows_read appends to rows, which
 * is of the same shape; false, with nothing appended, for bytes that no
 * pe_rows_write of this shape wrote (every number is checked).
 */
extern size_t pe_rows_size(const pe_rows *rows);
extern void pe_rows_write(const pe_rows *rows, char *bytes);
extern bool pe_rows_read(pe_rows *rows, const char *bytes, size_t size);

/* ----------
 * Where the numbers of a row are: what row_tiles.c, pass.c and the kernels share.
 *
 * A tile is a run of columns of PE_TILE 16-bit numbers: the dense columns, a
 * column of zeros if their number is odd, the cells of each group, what stands in
 * the cells, the labels, and the caps of |s|.  A column is 128 bytes, and tiles
 * begin at a multiple of 64.
 * ----------
 */

#define PE_TILE_ALIGN 64

/* An allocation with room to align the tiles in it. */
struct pe_row_block
{
	char		bytes[PE_TILE_ALIGN];
};

static inline int16_t *
pe_align_tile(void *memory)
{
	return (int16_t *) (((uintptr_t) memory + PE_TILE_ALIGN - 1) & ~(uintptr_t) (PE_TILE_ALIGN - 1));
}

/* Dense columns with the one that makes them even. */
static inline int32_t
pe_tile_dense(const pe_row_shape *shape)
{
	return (shape->dense + 1) & ~1;
}

/* Numbers of a tile. */
static inline size_t
pe_tile_size(const pe_row_shape *shape)
{
	return (size_t) PE_TILE * (size_t) (pe_tile_dense(shape) + shape->groups + 3);
}

static inline int16_t *
pe_tile_column(const int16_t *tile, int32_t column)
{
	return (int16_t *) (uintptr_t) tile + (size_t) PE_TILE * (size_t) column;
}

static inline uint16_t *
pe_tile_cells(const pe_row_shape *shape, const int16_t *tile, int32_t group)
{
	return (uint16_t *) pe_tile_column(tile, pe_tile_dense(shape) + group);
}

static inline int16_t *
pe_tile_unit(const pe_row_shape *shape, const int16_t *tile)
{
	return pe_tile_column(tile, pe_tile_dense(shape) + shape->groups);
}

static inline int16_t *
pe_tile_label(const pe_row_shape *shape, const int16_t *tile)
{
	return pe_tile_column(tile, pe_tile_dense(shape) + shape->groups + 1);
}

static inline int16_t *
pe_tile_cap(const pe_row_shape *shape, const int16_t *tile)
{
	return pe_tile_column(tile, pe_tile_dense(shape) + shape->groups + 2);
}

/* The tile of a row number of a store. */
static inline int16_t *
pe_rows_tile(const pe_rows *rows, size_t number)
{
	return pe_align_tile(rows->block[number / PE_BLOCK_ROWS]) +
		number % PE_BLOCK_ROWS / PE_TILE * pe_tile_size(&rows->shape);
}

#endif
