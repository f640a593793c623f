/*
 * tiles.h
 *	  Where the numbers of a row are: what rows.c, pass.c and the kernels share.
 *
 * A tile is a run of columns of PE_TILE 16-bit numbers: the dense columns, a
 * column of zeros if their number is odd, the cells of each group, what stands in
 * the cells, the labels, and the caps of |s|.  A column is 128 bytes, and tiles
 * begin at a multiple of 64.
 */
#ifndef PE_GLM_TILES_H
#define PE_GLM_TILES_H

#include "glm/rows.h"

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

/* Makes all rows of a tile rows that are not there. */
extern void pe_tile_clear(const pe_row_shape *shape, int16_t *tile);

#endif
