/*
 * kernel.h
 *	  The loops over a tile, once for every instruction set.
 *
 * All of them compute the same integers: a tile's results are functions of its
 * numbers, for every set.  pass.c says what they are for.
 */
#ifndef PE_GLM_KERNEL_H
#define PE_GLM_KERNEL_H

#include "glm/pass.h"
#include "glm/row_tiles.h"

/* Bits of the low limb of a weight and of a margin. */
#define PE_LOW_BITS 12

/* |v| of a weight is below this, so that the high limb fits 16 bits. */
#define PE_WEIGHT_LIMIT ((1 << 27) - (1 << PE_LOW_BITS))

/* Rows after which 32-bit sums must be flushed: 2048 / 4 * 255 * PE_ONE < 2^31 where four lanes share them. */
#define PE_FLUSH_TILES PE_BLOCK_TILES

/* Tiles that a second moment takes together. */
#define PE_MOMENT_TILES 16

/*
 * Weights for pairs of dense columns, as limbs v = 4096 high + low, -2048 <= low <
 * 2048: the first column's in the lower half of a word, the second's in the upper.
 */
typedef struct pe_limbs
{
	int32_t		pairs;
	uint32_t   *high;
	uint32_t   *low;
} pe_limbs;

/*
 * Margins of a tile's rows: 4096 high + low, 0 <= low < 4096, which determines
 * both.  A margin is units.high high + units.low low in float32.
 */
typedef struct pe_margins
{
	int32_t		high[PE_TILE];
	int32_t		low[PE_TILE];
} pe_margins;

typedef struct pe_margin_units
{
	float		high;
	float		low;
} pe_margin_units;

typedef struct pe_kernel_code
{
	/* Margins of the dense columns. */
	void		(*margins) (const int16_t *tile, const pe_limbs *limbs, pe_margins *margins);

	/* s of each row: rounded derivatives times scale, no larger than the row's cap. */
	void		(*residuals) (pe_loss loss, float scale, const pe_margins *margins, pe_margin_units units,
							  const int16_t *label, const int16_t *cap, int16_t *s);

	/*
	 * Adds s x_j of a tile's rows for each dense column to sums of its own,
	 * accumulator bytes a column, which flush adds to sums and clears.  next: what
	 * will be read after this tile.
	 */
	size_t		accumulator;
	void		(*gradient) (const int16_t *tile, int32_t dense, const int16_t *s,
							 void *accumulators, const int16_t *next);
	void		(*flush) (int32_t dense, void *accumulators, int64_t *sums);

	/* Adds x_i x_j of so many tiles, stride numbers apart, at most PE_MOMENT_TILES, for the dense columns i >= j. */
	void		(*moment) (const int16_t *tile, size_t stride, int32_t tiles, int32_t dense, int64_t *sums);

	/*
	 * m[r] = margin - alpha direction, and the sum of the rows' losses at it,
	 * each at most cap; label: PE_NO_LABEL is none.
	 */
	void		(*shift) (const float *margin, float alpha, const float *direction, float *m);
	int64_t		(*losses) (pe_loss loss, const float *margin, const int16_t *label, int32_t cap);

	/* A margin in float32, and m[r] = margin + step x[r] / PE_ONE. */
	void		(*floats) (const pe_margins *margins, pe_margin_units units, float *m);
	void		(*step) (const float *margin, float step, const int16_t *x, float *m);
} pe_kernel_code;

/* The code of a kernel that is available. */
extern const pe_kernel_code *pe_kernel_find(pe_kernel kernel);

#endif
