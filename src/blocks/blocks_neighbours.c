/*
 * blocks_neighbours.c
 *	  How far apart two columns of a list of blocks can be: N of blocks.h for substitute.
 *
 * |v_i - v_j|^2 = |v_i|^2 + |v_j|^2 - 2 X, the first two at most 1 and
 *
 *		X = sum_b share_b prod over a in b of t_a,  t_a = a_i'a_j / C
 *
 * of the columns of the matrix that b takes of axis a.  What is needed is a lower bound of X.
 *
 * An axis with one matrix has one t_a, in [l_a, 1]: l_a the least product of two of its columns, equal
 * or not, over C; -1/(n - 1) for n I - 11'.  It is 0 in a cell that is not asked for: then l_a is
 * at most 0.  X is affine in each t_a alone, so that over the box it is least at a corner:
 * 2^d patterns of who takes l_a and who 1.  For marginals these are the pairs of cells: the minimum
 * is exact.
 *
 * One axis z may have several matrices; without one it is the first axis that is not centred.  For
 * two of its cells i, j all its t are known, and X is their sum times what the blocks with each matrix
 * have at the corners of the others.  So every pair of cells is looked at, with |v_i|^2 and |v_j|^2 of
 * their own.  Where this takes too long each t of z is in an interval of its own.
 *
 * The corners: f(S), S the axes with t = 1, starts as the shares by sets of axes.  For
 * each axis f(with) and f(without) become f(without) + f(with) and f(without) + l f(with): after all
 * of them f(S) = sum_b share_b prod over a in b outside S of l_a.
 *
 * With other lists (several axes of several matrices, more than 20 axes) each block is bounded by
 * itself: a product of numbers in [l_a, 1] is at least the least of 0 and all l_a.
 *
 * All is in integers.  t is a multiple of 2^-40, rounded towards the smaller X.  f is in units of
 * 2^-60 and below 2^62: where the shares hold those of one group of z add up to at most 1, or all
 * of them by another axis, which has one matrix, to at most 2.  A step at most doubles what f is wrong by and
 * adds one unit: in the end less than 2^d.  All groups together, 2^22 values of f at most, make X
 * wrong by less than 2^22 2^-60, four of 2^-40; SLACK covers it.
 *
 * PE_L1: |v_i - v_j|_1 is at most |v_i|_1 + |v_j|_1 <= 2.
 */
#include "blocks/blocks.h"

#define WHOLE (INT64_C(1) << PE_SHARE_BITS)
#define SLACK 16

/* Bits of f below those of a share. */
#define FINER 20

/* Beyond them each block is bounded by itself. */
#define MOST_AXES 20
#define MOST_CORNERS ((size_t) 1 << 22)

/* Beyond them, seconds, intervals are taken: the operations for all products of an axis, and for all pairs. */
#define MOST_WORK 0x1p34
#define MOST_TERMS 0x1p28

/* part / whole 2^40, rounded down; |part| <= whole < 2^86 */
static int64_t
ratio_down(pe_i128 part, pe_i128 whole)
{
	pe_i128		scaled = part * WHOLE;

	return (int64_t) (scaled / whole - (scaled % whole < 0));
}

static bool
has_not_asked(const pe_blocks *blocks, const pe_axis *axis)
{
	for (int i = 0; i < axis->attributes; i++)
		for (int32_t c = 0; c < blocks->cells[axis->attribute[i]]; c++)
			if (blocks->column_of[axis->attribute[i]][c] == PE_NOT_ASKED)
				return true;
	return false;
}

static int64_t
least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* a_i'a_j of all columns of a matrix; NULL if they cannot be had. */
static int64_t *
products_of(const pe_axis *axis, int m)
{
	int64_t		n = axis->cells;
	int64_t    *product;

	if ((double) n * (double) n * (double) n * axis->matrices > MOST_WORK)
		return NULL;
	product = pe_alloc((size_t) (n * n), sizeof(*product));
	for (int64_t i = 0; i < n * n && axis->matrix[m].centred; i++)
		product[i] = i % (n + 1) == 0 ? n * (n - 1) : -n;
	if (axis->matrix[m].centred || pe_strategy_products(&axis->matrix[m].strategy, product))
		return product;
	pe_free(product);
	return NULL;
}

/* l of a matrix, rounded down. */
static int64_t
least_of_matrix(const pe_axis *axis, int m)
{
	const pe_axis_matrix *matrix = &axis->matrix[m];
	size_t		n = (size_t) axis->cells;
	int64_t    *product;
	int64_t		smallest;

	if (matrix->centred)
		return ratio_down(-1, axis->cells - 1);
	if (matrix->strategy.triangle == NULL && matrix->strategy.dense == NULL)
		return n > 1 ? 0 : WHOLE;
	product = products_of(axis, m);
	if (product == NULL)
		return -WHOLE;
	smallest = product[0];
	for (size_t i = 1; i < n * n; i++)
		smallest = least(smallest, product[i]);
	pe_free(product);
	return ratio_down(smallest, (pe_i128) matrix->largest);
}

/* The same where a cell may not be asked for. */
static int64_t
least_of_axis(const pe_blocks *blocks, const pe_axis *axis, int m)
{
	int64_t		of_matrix = least_of_matrix(axis, m);

	return has_not_asked(blocks, axis) ? least(of_matrix, 0) : of_matrix;
}

/* ------------------------------------------------------------------
 * Corners
 * ------------------------------------------------------------------
 */

typedef struct corners
{
	const pe_blocks *blocks;
	int			z;				/* or -1: all axes are centred */
	int			others;			/* axes besides z */
	int			other[MOST_AXES];
	int			groups;			/* of blocks: those without z, then by its matrices */
	size_t		count;			/* 2^others */
	int64_t    *f;				/* groups x count */
} corners;

/* What t of a group is between. */
typedef struct interval
{
	int64_t		low;
	int64_t		high;
} interval;

/*
 * The axis of several matrices, or else the first one that is not n I - 11';
 * -1: there is none, -2: there are several.
 */
static int
choose_z(const pe_blocks *blocks)
{
	int			z = -1;

	for (int a = blocks->axes - 1; a >= 0; a--)
	{
		bool		several = blocks->axis[a].matrices > 1;

		if (several && z >= 0 && blocks->axis[z].matrices > 1)
			return -2;
		if (several || (!blocks->axis[a].matrix[0].centred && (z < 0 || blocks->axis[z].matrices == 1)))
			z = a;
	}
	return z;
}

/* False if the corners are too many, or several axes have several matrices. */
static bool
choose_axes(const pe_blocks *blocks, corners *c)
{
	*c = (corners) {.blocks = blocks, .z = choose_z(blocks), .others = blocks->axes, .groups = 1};
	if (c->z >= 0)
	{
		c->others--;
		c->groups += blocks->axis[c->z].matrices;
	}
	if (c->z == -2 || c->others > MOST_AXES)
		return false;
	for (int a = 0, i = 0; a < blocks->axes; a++)
		if (a != c->z)
			c->other[i++] = a;
	c->count = (size_t) 1 << c->others;
	return (size_t) c->groups * c->count <= MOST_CORNERS;
}

/* One step for one axis and one group. */
static void
split(int64_t *f, size_t count, size_t bit, int64_t l)
{
	for (size_t s = 0; s < count; s++)
		if ((s & bit) == 0)
		{
			int64_t		without = f[s];
			int64_t		with = f[s | bit];

			f[s | bit] = without + with;
			f[s] = without + (int64_t) ((pe_i128) l * with >> PE_SHARE_BITS);
		}
}

static void
fill_corners(corners *c)
{
	const pe_blocks *blocks = c->blocks;

	c->f = pe_alloc((size_t) c->groups * c->count, sizeof(*c->f));
	for (int32_t b = 0; b < blocks->blocks; b++)
	{
		size_t		group = c->z < 0 ? 0 : (size_t) (1 + pe_blocks_choice(blocks, b, c->z));
		size_t		set = 0;

		for (int i = 0; i < c->others; i++)
			if (pe_blocks_choice(blocks, b, c->other[i]) >= 0)
				set |= (size_t) 1 << i;
		c->f[group * c->count + set] += (int64_t) (blocks->share[b] << FINER);
	}
	for (int i = 0; i < c->others; i++)
	{
		int64_t		l = least_of_axis(blocks, &blocks->axis[c->other[i]], 0);

		pe_poll();
		for (int g = 0; g < c->groups; g++)
			split(c->f + (size_t) g * c->count, c->count, (size_t) 1 << i, l);
	}
}

/* The least X of all corners, in 2^-40, rounded down; t of each group. */
static int64_t
least_corner(const corners *c, const interval *t)
{
	pe_i128		smallest = 0;

	for (size_t s = 0; s < c->count; s++)
	{
		pe_i128		x = 0;

		for (int g = 0; g < c->groups; g++)
		{
			int64_t		f = c->f[(size_t) g * c->count + s];

			x += (pe_i128) f * (f < 0 ? t[g].high : t[g].low);
		}
		if (s == 0 || x < smallest)
			smallest = x;
	}
	return (int64_t) (smallest >> (PE_SHARE_BITS + FINER));
}

/* |v|^2 where t are those of a column with itself: all axes take 1. */
static int64_t
square_at(const corners *c, const interval *t)
{
	pe_i128		x = 0;

	for (int g = 0; g < c->groups; g++)
		x += (pe_i128) c->f[((size_t) g + 1) * c->count - 1] * t[g].high;
	return least((int64_t) (x >> (PE_SHARE_BITS + FINER)) + 1, WHOLE);
}

/* N where t of z are in intervals of their own. */
static int64_t
apart_by_intervals(const corners *c, interval *t)
{
	t[0] = (interval) {WHOLE, WHOLE};
	for (int g = 1; g < c->groups; g++)
		t[g] = (interval) {least_of_axis(c->blocks, &c->blocks->axis[c->z], g - 1), WHOLE};
	return 2 * WHOLE - 2 * least_corner(c, t);
}

/* t of two cells of z; -1 for the second: one that is not asked for. */
static void
fill_pair(const corners *c, int64_t *const *product, int64_t i, int64_t j, interval *t)
{
	const pe_axis *axis = &c->blocks->axis[c->z];

	t[0] = (interval) {WHOLE, WHOLE};
	for (int g = 1; g < c->groups; g++)
	{
		int64_t		low = j < 0 ? 0
			: ratio_down(product[g - 1][i * axis->cells + j], (pe_i128) axis->matrix[g - 1].largest);

		t[g] = (interval) {low, j < 0 ? 0 : low + 1};
	}
}

/* The largest N of all pairs of z's cells. */
static int64_t
apart_by_pairs(const corners *c, int64_t *const *product, interval *t)
{
	int64_t		n = c->blocks->axis[c->z].cells;
	int64_t    *square = pe_alloc((size_t) n, sizeof(*square));
	int64_t		largest = 0;

	for (int64_t i = 0; i < n; i++)
	{
		pe_poll();
		fill_pair(c, product, i, i, t);
		square[i] = square_at(c, t);
		for (int64_t j = 0; j <= i; j++)
		{
			fill_pair(c, product, i, j, t);
			largest = -least(-largest, 2 * least_corner(c, t) - square[i] - square[j]);
		}
	}
	pe_free(square);
	if (has_not_asked(c->blocks, &c->blocks->axis[c->z]))
	{
		fill_pair(c, product, 0, -1, t);
		largest = -least(-largest, 2 * least_corner(c, t) - square_at(c, t) - WHOLE);
	}
	return largest;
}

/* The products of all matrices of z; false, with nothing to free, if they cannot be had. */
static bool
fill_products(const corners *c, int64_t **product)
{
	const pe_axis *axis = &c->blocks->axis[c->z];

	if ((double) axis->cells * axis->cells * (double) c->count * c->groups > MOST_TERMS)
		return false;
	for (int m = 0; m < axis->matrices; m++)
	{
		product[m] = products_of(axis, m);
		if (product[m] != NULL)
			continue;
		while (m > 0)
			pe_free(product[--m]);
		return false;
	}
	return true;
}

static int64_t
apart_at_corners(const corners *c)
{
	interval   *t = pe_alloc((size_t) c->groups, sizeof(*t));
	int64_t   **product = pe_alloc((size_t) c->groups, sizeof(*product));
	bool		pairs = c->z >= 0 && fill_products(c, product);
	int64_t		apart = pairs ? apart_by_pairs(c, product, t) : apart_by_intervals(c, t);

	for (int g = 1; g < c->groups && pairs; g++)
		pe_free(product[g - 1]);
	pe_free(product);
	pe_free(t);
	return apart;
}

/* ------------------------------------------------------------------
 * Block by block
 * ------------------------------------------------------------------
 */

/* l of all matrices of all axes, those of an axis from first[axis] on. */
static int64_t *
least_of_all(const pe_blocks *blocks, int *first)
{
	int			matrices = 0;
	int64_t    *l;

	for (int a = 0; a < blocks->axes; matrices += blocks->axis[a++].matrices)
		first[a] = matrices;
	l = pe_alloc((size_t) matrices, sizeof(*l));
	for (int a = 0; a < blocks->axes; a++)
		for (int m = 0; m < blocks->axis[a].matrices; m++)
			l[first[a] + m] = least_of_axis(blocks, &blocks->axis[a], m);
	return l;
}

static int64_t
apart_by_blocks(const pe_blocks *blocks)
{
	int			first[PE_MAX_ATTRIBUTES];
	int64_t    *l = least_of_all(blocks, first);
	pe_i128		x = 0;

	for (int32_t b = 0; b < blocks->blocks; b++)
	{
		int64_t		lowest = WHOLE;

		for (int a = 0; a < blocks->axes; a++)
			if (pe_blocks_choice(blocks, b, a) >= 0)
				lowest = least(lowest, least(l[first[a] + pe_blocks_choice(blocks, b, a)], 0));
		x += (pe_i128) blocks->share[b] * lowest;
	}
	pe_free(l);
	return 2 * WHOLE - 2 * (int64_t) (x >> PE_SHARE_BITS);
}

uint64_t
pe_blocks_neighbours(const pe_blocks *blocks, pe_neighbours neighbours)
{
	int64_t		apart;
	corners		c;

	if (!pe_blocks_shares_hold(blocks))
		pe_bug("shares that do not hold");
	if (neighbours == PE_ADD_REMOVE || blocks->norm == PE_L1)
		return (uint64_t) (neighbours == PE_ADD_REMOVE ? WHOLE : 2 * WHOLE);
	if (choose_axes(blocks, &c))
	{
		fill_corners(&c);
		apart = apart_at_corners(&c);
		pe_free(c.f);
	}
	else
		apart = apart_by_blocks(blocks);
	return (uint64_t) least(-least(-(apart + SLACK), -WHOLE), 4 * WHOLE);
}
