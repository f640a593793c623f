/*
 * blocks_sensitivity.c
 *	  The sensitivity of lists of blocks, in integers.  See blocks.h.
 *
 * Let c_a,m(j) be the squared norm of column j of matrix m of axis a (PE_L1:
 * the norm), and C_a,m the largest.  A column of block b is the (x) of columns
 * of its matrices, so its squared norm is the product of theirs, D_b is the
 * product of the C, and with one cell j_a for each axis
 *
 *		|v_j|^2 = sum_b share_b prod over a in b of c_a(j_a) / C_a.
 *
 * No factor is above 1: the shares of all blocks together bound |v_j|^2.  That
 * is all where the columns of each matrix have one norm; then each factor is 1.
 *
 * With some axis z the bound is smaller where its matrices are not so, each
 * being largest in other cells: of the factors those of z alone are kept, and
 * blocks with the same matrix on z have the same one.  So |v_j|^2 <= S + sum_m
 * S_m c_m(j_z) / C_m, S_m the shares of the blocks that take matrix m of z, S
 * those of the blocks that sum over z; it is exact where z is the only such
 * axis.
 *
 * pe_blocks_shares_hold asks that one of these bounds is kept, the first by the
 * sum or the others by every j_z, each term rounded up.
 *
 * A row that no block of an axis is given (PE_NOT_ASKED) has 0 in the blocks
 * that take that axis: less of what is added up.
 */
#include "blocks/blocks.h"
#include "strategy/share.h"

#include <math.h>
#include <string.h>

#define WHOLE PE_WHOLE_SHARE
#define LARGEST PE_LARGEST_SENSITIVITY

static void
check_prepared(const pe_blocks *blocks)
{
	if (blocks->first == NULL)
		pe_bug("blocks that are not prepared");
}

/* n I - 11' has one column of n - 1 and n - 1 of -1. */
bool
pe_axis_norms(const pe_axis *axis, int matrix, pe_norm norm, pe_u128 *norms)
{
	pe_u128		n = (pe_u128) axis->cells;

	if (!axis->matrix[matrix].centred)
		return pe_strategy_column_norms(&axis->matrix[matrix].strategy, norm, norms);
	for (int32_t c = 0; c < axis->cells; c++)
		norms[c] = norm == PE_L1 ? 2 * (n - 1) : n * (n - 1);
	return true;
}

pe_u128
pe_blocks_largest(const pe_blocks *blocks, int32_t block)
{
	pe_u128		product = 1;

	check_prepared(blocks);
	for (int a = 0; a < blocks->axes; a++)
		if (pe_blocks_choice(blocks, block, a) >= 0)
		{
			pe_u128		largest = blocks->axis[a].matrix[pe_blocks_choice(blocks, block, a)].largest;

			product = largest > LARGEST / product ? LARGEST : product * largest;
		}
	return product;
}

/* ------------------------------------------------------------------
 * Shares
 * ------------------------------------------------------------------
 */

/* Whether the columns of each matrix have one norm. */
static bool
is_even(const pe_axis *axis)
{
	for (int m = 0; m < axis->matrices; m++)
		if (!axis->matrix[m].even)
			return false;
	return true;
}

/* share part / whole, rounded up; share <= 2^40, part <= whole < 2^96. */
static uint64_t
part_of(uint64_t share, pe_u128 part, pe_u128 whole)
{
	uint64_t	rounded;

	/* what is shifted out makes the quotient larger */
	while (whole >> 87 != 0)
	{
		part = (part >> 1) + (part & 1);
		whole >>= 1;
	}
	rounded = (uint64_t) ((share * part + whole - 1) / whole);
	return rounded < share ? rounded : share;
}

/* The shares of the blocks with each matrix of an axis, from the first on those that sum over it. */
static void
shares_by_matrix(const pe_blocks *blocks, int axis, uint64_t *shares)
{
	memset(shares, 0, (1 + (size_t) blocks->axis[axis].matrices) * sizeof(*shares));
	for (int32_t b = 0; b < blocks->blocks; b++)
		shares[1 + pe_blocks_choice(blocks, b, axis)] += blocks->share[b];
}

/* Adds to each column of an axis what the blocks with each of its matrices have there. */
static bool
add_parts(const pe_blocks *blocks, int number, const uint64_t *shares, uint64_t *total)
{
	const pe_axis *axis = &blocks->axis[number];
	pe_u128    *norms = pe_alloc((size_t) axis->cells, sizeof(*norms));
	bool		fits = shares[0] <= WHOLE;

	for (int32_t c = 0; c < axis->cells; c++)
		total[c] = shares[0];
	for (int m = 0; m < axis->matrices && fits; m++)
	{
		fits = shares[1 + m] <= WHOLE && pe_axis_norms(axis, m, blocks->norm, norms);
		for (int32_t c = 0; c < axis->cells && fits && shares[1 + m] > 0; c++)
			total[c] += part_of(shares[1 + m], norms[c], axis->matrix[m].largest);
	}
	pe_free(norms);
	return fits;
}

/* Whether every column of an axis keeps the limit. */
static bool
columns_hold(const pe_blocks *blocks, int number)
{
	const pe_axis *axis = &blocks->axis[number];
	uint64_t   *shares = pe_alloc(1 + (size_t) axis->matrices, sizeof(*shares));
	uint64_t   *total = pe_alloc((size_t) axis->cells, sizeof(*total));
	bool		hold;

	shares_by_matrix(blocks, number, shares);
	hold = add_parts(blocks, number, shares, total);
	for (int32_t c = 0; c < axis->cells && hold; c++)
		hold = total[c] <= WHOLE;
	pe_free(total);
	pe_free(shares);
	return hold;
}

bool
pe_blocks_shares_hold(const pe_blocks *blocks)
{
	uint64_t	sum = 0;
	bool		hold;

	check_prepared(blocks);
	/* at most 2^16 shares of at most 2^40 */
	for (int32_t b = 0; b < blocks->blocks; b++)
	{
		if (blocks->share[b] == 0 || blocks->share[b] > WHOLE)
			return false;
		sum += blocks->share[b];
	}
	hold = sum <= WHOLE;
	for (int a = 0; a < blocks->axes && !hold; a++)
		hold = !is_even(&blocks->axis[a]) && columns_hold(blocks, a);
	return hold;
}

/* ------------------------------------------------------------------
 * What is drawn
 * ------------------------------------------------------------------
 */

/* k^2 N D (PE_L1: k for k^2) for this share. */
static bool
calibrate(const pe_blocks *blocks, int32_t block, uint64_t neighbours, int32_t max_rows,
		  pe_u128 *sensitivity, int *lattice)
{
	const uint64_t factor[3] = {neighbours, (uint64_t) max_rows, blocks->norm == PE_L2 ? (uint64_t) max_rows : 1};

	return pe_share_calibrate(blocks->norm, pe_blocks_largest(blocks, block), factor, 3,
							  blocks->share[block], sensitivity, lattice);
}

bool
pe_blocks_calibrate(const pe_blocks *blocks, pe_neighbours neighbours, int32_t max_rows,
					pe_u128 *sensitivity, int *lattice)
{
	uint64_t	factor = pe_blocks_neighbours(blocks, neighbours);

	if (max_rows < 1)
		pe_bug("a unit has at least one row");
	for (int32_t b = 0; b < blocks->blocks; b++)
		if (!calibrate(blocks, b, factor, max_rows, &sensitivity[b], &lattice[b]))
			return false;
	return true;
}

double
pe_blocks_relative_variance(const pe_blocks *blocks, int32_t block)
{
	double		relative = (double) pe_blocks_largest(blocks, block) * 0x1p40 / (double) blocks->share[block];

	return blocks->norm == PE_L1 ? relative * relative : relative;
}
