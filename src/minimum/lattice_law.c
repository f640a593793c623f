/*
 * lattice_law.c
 *	  The exponential mechanism on a lattice: exact draws.  See lattice_law.h.
 *
 * A cell c is a box of 2^w_j consecutive numbers along each coordinate j.  The
 * box of the lattice is divided into cells: the one that weighs most is halved,
 * again and again.  depth_c says how often c was: it has 2^(all - depth_c)
 * points.  A cell that no point of the set is in, as the least value of one
 * inequality over it shows, is dropped.
 *
 * Bounds.  Of rows over a cell the least and the largest values are sums of
 * integers.  L_c = the largest of the least values is a lower bound of the
 * score S on c, and so is the least value of any mean of rows: where rows
 * cross, the mean that linear programming finds (affine/programme.h) is as high
 * as S itself, up to rounding; with multiples of inequalities in it where the
 * set ends in c, at the points of the set.  A row that is nowhere above L_c is
 * not needed there: S(X) = max(L_c, the rows left), exactly, as S is L_c or
 * more at every X of c that is in the set; others are not drawn.  What is
 * inside c inherits both, so that L grows and lists shrink.  T, the score
 * without offsets, has a bound and a list of its own, and so have the
 * inequalities, whose bound is 0: rows of G.X - H that are nowhere
 * above 0 hold everywhere in the cell.
 *
 * Numbers.  Against the bound of the whole box, from which all scores are
 * reckoned, a row that is left is at most |A.X| < 2^59 away at one point, and
 * so below 2^60 everywhere: 64 bits hold all sums.
 *
 * Draws.  Let x(X) = rate (S(X) - S0) + prior (T(X) - T0) - shift, where S0 and
 * T0 are the least bounds of all cells, and shift is an integer with x >= 0
 * everywhere.  Each cell has an integer a_c >= 2^(K - depth_c) exp(-x_c), at
 * least 1, with x_c the same of its bounds.  A proposal is a cell, with
 * probability a_c / sum of all a, and a point X of it, uniformly.  It is
 * rejected if X is not inside the set, else accepted if V a_c < 2^(K - depth_c)
 * exp(-x(X)) for a uniform real V.  The right side is at most a_c, since
 * x(X) >= x_c; so a proposal ends in X with a probability proportional to
 *
 *	  a_c 2^-(all - depth_c) 2^(K - depth_c) exp(-x(X)) / a_c
 *			= 2^(K - all) exp(-x(X)),
 *
 * and that is the law of what is accepted, for any cells, K, shift and a_c.
 * Where K - depth_c is below 0, as it is of cells that are light beside the
 * heaviest, 2^(K - depth_c) is drawn first, as so many fair bits that must all
 * be 0, and then V a_c < exp(-x(X)).
 *
 * That a_c is large enough rests on doubles, with a margin for each rounding
 * (weigh); that x(X) >= x_c holds by construction.  Should an a_c ever be too
 * small, the estimate of a decision would show it, and that is a bug, not a
 * draw.
 */
#include "minimum/lattice_law.h"

#include <math.h>
#include <string.h>

#include "affine/programme.h"
#include "noise/lazy_exp.h"
#include "noise/noise.h"

/* What has rows, in the order of lattice_law.face. */
enum
{
	SCORE,						/* S */
	PUBLIC,						/* T; no rows without a prior */
	LIMIT,						/* G.X - H */
	FACES
};

#define SCORES 2				/* SCORE and PUBLIC */

/*
 * The most cells, per number of variables.  Few are enough (ENOUGH) where minima are
 * points; where they are many, on a line that is askew to the axes, all are needed.
 */
static const int32_t most_cells[PE_CELL_VARIABLES + 1] = {1, 1000, 20000, 20000, 20000, 20000};

/* A set of so many points, unless that makes more products than NET_WORK. */
#define NET_MOST 65536
#define NET_LEAST 4096
#define NET_WORK 400000000.0

/* The same of a grid; it has at most PE_PLAN_POINTS. */
#define GRID_WORK 2000000000.0

/* Among inequalities grids are tried with so many times more points, down to those that leave few enough inside. */
#define GRID_FINER 32

/* Scales of a set of points: half of it is within 1/2^i of an anchor, i below this. */
#define NET_SCALES 12

/* So often is a point outside brought nearer by half. */
#define NET_SHRINK 30

/*
 * a_c of the heaviest cell is near 2^PEAK: within a factor of 2, and of exp(4) where
 * exponents are so large that their errors are (2^49 EXPONENT_ERROR).  2^18 of them have a
 * sum below 2^64.
 */
#define PEAK 40

/*
 * A cell lighter than 2^-LIGHTEST of the heaviest is not divided, so that K -
 * depth_c is seldom below PEAK - LIGHTEST.
 */
#define LIGHTEST 30

/*
 * A bound that leaves more than that open, in units of the exponent, is made better by a
 * combination of rows, with weights of so many bits: sums stay below 2^(62 + WEIGHT_BITS).
 */
#define OPEN 0.5
#define WEIGHT_BITS 30

/*
 * It is enough if a proposal is accepted with this chance, or if all proposals of a draw are
 * less work than dividing was until then: a law is made for one draw.
 */
#define ENOUGH (1.0 / 3.0)

/* Rates are cut to 2^-RATE_SHIFT per unit of a score, so that exponents are below 2^49. */
#define RATE_SHIFT 12

/* An exponent in double is within this of itself (weigh). */
#define EXPONENT_ERROR 0x1p-47

/* Beyond this exp(-x) 2^LARGEST_SCALE is below 2^-400: an estimate of 0 serves. */
#define LARGEST_EXPONENT 700.0
#define LARGEST_SCALE 600

/* Where an estimate is less certain than that, doubles decide nothing. */
#define LARGEST_MARGIN 0x1p-10

/* The most bytes of lists. */
#define LIST_MOST ((size_t) 32 << 20)

/* log 2 */
#define LN2 0.6931471805599453

/* Products between two polls. */
#define POLL_WORK 1000000.0

/* What a proposal takes besides its products, in such. */
#define PROPOSAL_WORK 100.0

/* Indices of rows, shared by cells. */
typedef struct row_list
{
	int32_t		users;
	int32_t		count;
	int32_t		row[];
} row_list;

typedef struct face
{
	const int64_t *slope;		/* the lattice's */
	size_t		stride;
	int32_t		rows;
	int64_t    *offset;			/* less the bound of the whole box */
	pe_score_rate rate;
	double		per_unit;		/* near the rate */
	pe_wide		denominator;	/* of the rate */
	int64_t		least;			/* of the bounds of all cells: S0, T0 */
} face;

typedef struct cell
{
	int64_t		bound[FACES];	/* LIMIT: 0 */
	row_list   *list[FACES];	/* rows that can be above it; NULL: none */
	double		weight;			/* log of 2^-depth exp(-exponent of the bounds) */
	double		sure;			/* log of what the cell has at least */
	int32_t		corner[PE_CELL_VARIABLES];
	int32_t		depth;
	uint8_t		width[PE_CELL_VARIABLES];
} cell;

struct pe_lattice_law
{
	int32_t		variables;
	int32_t		bits;
	double		margin;
	pe_lattice_plan plan;
	face		face[FACES];
	cell	   *cells;
	int32_t		room;			/* cells there is memory for */
	int32_t		best_first;		/* so many of them for dividing the best */
	int32_t		count;
	int32_t    *point;			/* of a finite set: where cell i is; else NULL */
	uint64_t   *total;			/* sums of a_0 .. a_i */
	int32_t		scale;			/* K */
	uint64_t	shift;
	int64_t    *high;			/* scratch: the largest values of rows, */
	double	   *near;			/* rows on the unit cube that a cell is, and */
	int32_t    *near_row;		/* which they are; NULL for points */
	size_t		scratch;		/* rows there is room for */
	size_t		list_room;		/* bytes left for lists */
	double		work;			/* products since the last poll */
	double		spent;			/* products before it */
};

/* ----------
 * Rates
 * ----------
 */

/*
 * A rate of more than 2^-RATE_SHIFT per unit is cut to that.  That costs epsilon
 * nothing, which gets smaller, nor accuracy: where the lattice is as coarse as that asks
 * for, a step of it is worth more than 2^28 units.
 */
pe_score_rate
pe_exponential_rate(uint64_t change, pe_accounting accounting, int64_t nano)
{
	pe_score_rate rate = {0, 0, change, 0};
	pe_u128		most;

	if (change == 0 || change >> 62 != 0)
		pe_bug("scores that do not change");
	pe_select_rate(accounting, nano, &rate.numerator, &rate.factor);
	rate.factor *= 2;
	most = ((pe_u128) change * rate.factor) >> RATE_SHIFT;
	if (rate.numerator > most)
		rate.numerator = (uint64_t) most;
	return rate;
}

/* Its last bits are dropped where shift would be below -200: the rate is below 2^-147 then. */
pe_score_rate
pe_prior_rate(double tau, int32_t unit)
{
	pe_score_rate rate = {0, 0, 1, 1};
	int			exponent;
	double		mantissa = frexp(tau, &exponent);
	int32_t		shift = exponent - 53 + unit;

	if (!(tau >= 0) || isinf(tau))
		pe_bug("a base measure that is none");
	if (tau == 0)
		return rate;
	rate.numerator = (uint64_t) ldexp(mantissa, 53);
	rate.shift = shift;
	if (exponent + unit > -RATE_SHIFT)
	{
		rate.numerator = 1;
		rate.shift = -RATE_SHIFT;
	}
	else if (shift < -200)
	{
		rate.numerator = shift <= -264 ? 0 : rate.numerator >> (-200 - shift);
		rate.shift = -200;
	}
	return rate;
}

/* 2^-shift change factor */
static pe_wide
denominator_of(const pe_score_rate *rate)
{
	pe_wide		d = pe_wide_product(rate->change, rate->factor);

	for (int32_t left = -rate->shift; left > 0; left -= 50)
		d = pe_wide_times(d, UINT64_C(1) << (left < 50 ? left : 50));
	return d;
}

/* In double, within five roundings. */
static double
rate_per_unit(const pe_score_rate *rate)
{
	return ldexp((double) rate->numerator / ((double) rate->change * (double) rate->factor), rate->shift);
}

static void
check_rate(const pe_score_rate *rate)
{
	if (rate->shift > 0 || rate->shift < -200 || rate->change == 0 || rate->factor == 0)
		pe_bug("malformed rate of a score");
	if (rate_per_unit(rate) > ldexp(1.0 + 0x1p-40, -RATE_SHIFT))
		pe_bug("rate of a score too large");
}

static void
set_rate(face *f, const pe_score_rate *rate)
{
	f->rate = *rate;
	f->denominator = denominator_of(rate);
	f->per_unit = rate_per_unit(rate);
}

/* ----------
 * Memory
 * ----------
 */

/* What a list takes, with what an allocator adds. */
static size_t
list_bytes(size_t count)
{
	size_t		needed = sizeof(row_list) + count * sizeof(int32_t) + 16;
	size_t		bytes = 32;

	while (bytes < needed)
		bytes *= 2;
	return bytes;
}

/* What there is in every case. */
static size_t
fixed_memory(size_t rows, size_t inequalities)
{
	size_t		scratch = rows + inequalities;
	size_t		near = (PE_CELL_VARIABLES + 1) * sizeof(double) + sizeof(int32_t);

	return sizeof(pe_lattice_law) + 320 + (SCORES * rows + inequalities + scratch) * sizeof(int64_t) + scratch * near +
		SCORES * list_bytes(rows) + list_bytes(inequalities);
}

static size_t
cell_memory(void)
{
	return sizeof(cell) + sizeof(uint64_t);
}

static size_t
point_memory(size_t variables)
{
	return cell_memory() + variables * sizeof(int32_t);
}

/* The minimiser of the public function, with its arguments. */
static size_t
public_memory(int32_t variables, int32_t rows, int32_t inequalities)
{
	size_t		numbers = ((size_t) rows + (size_t) inequalities) * ((size_t) variables + 1);

	return numbers * sizeof(double) + pe_programme_memory(variables, rows, inequalities);
}

static size_t
most_points(int32_t variables, int32_t rows)
{
	bool		grid = variables <= PE_CELL_VARIABLES;
	double		affordable = (grid ? GRID_WORK : NET_WORK) / ((double) variables * fmax(rows, 1));

	return (size_t) fmin(fmax(affordable, NET_LEAST), grid ? PE_PLAN_POINTS : NET_MOST);
}

static size_t
points_memory(int32_t variables, int32_t rows, int32_t inequalities)
{
	return most_points(variables, rows) * point_memory((size_t) variables) +
		public_memory(variables, rows, inequalities);
}

/* Cells of the whole lattice: the best, and where a plan asks for them the public ones. */
static int32_t
most_divided(int32_t variables)
{
	return most_cells[variables] + (variables >= PE_PLAN_VARIABLES ? 1 << PE_PLAN_PARTS : 0);
}

size_t
pe_lattice_law_memory(int32_t variables, int32_t rows, int32_t inequalities)
{
	size_t		fixed = fixed_memory((size_t) rows, (size_t) inequalities);
	size_t		cells;
	size_t		lists;

	size_t		divided;
	size_t		points;

	points = variables >= PE_PLAN_VARIABLES ? points_memory(variables, rows, inequalities) : 0;
	if (variables > PE_CELL_VARIABLES)
		return fixed + points;
	cells = (size_t) most_divided(variables);
	lists = cells * (SCORES * list_bytes((size_t) rows) + list_bytes((size_t) inequalities));
	divided = cells * cell_memory() + (lists < LIST_MOST ? lists : LIST_MOST);
	return fixed + (divided > points ? divided : points);
}

/* ----------
 * Faces and lists
 * ----------
 */

/* Counts products, and polls once in a while. */
static void
spend_products(pe_lattice_law *law, double products)
{
	law->work += products;
	if (law->work < POLL_WORK)
		return;
	law->spent += law->work;
	law->work = 0;
	pe_poll();
}

static void
release_list(pe_lattice_law *law, row_list *list)
{
	if (list == NULL || --list->users > 0)
		return;
	law->list_room += list_bytes((size_t) list->count);
	pe_wipe(list, sizeof(*list) + (size_t) list->count * sizeof(int32_t));
	pe_free(list);
}

static void
release_lists(pe_lattice_law *law, cell *c)
{
	for (int k = 0; k < FACES; k++)
		release_list(law, c->list[k]);
}

static row_list *
make_list(int32_t count)
{
	row_list   *list = pe_alloc(1, sizeof(*list) + (size_t) count * sizeof(int32_t));

	list->users = 1;
	list->count = count;
	return list;
}

/* The constant of a row. */
static pe_i128
row_constant(const pe_affine_lattice *lattice, int k, int32_t i)
{
	if (k == LIMIT)
		return -(pe_i128) lattice->inequality[(size_t) i * ((size_t) lattice->variables + 1) +
											  (size_t) lattice->variables];
	return k == SCORE ? lattice->base[i] + lattice->offset[i] : lattice->base[i];
}

/* The least and the largest A.X over the whole box. */
static void
row_range(const pe_lattice_law *law, const face *f, int32_t i, int64_t *low, int64_t *high)
{
	const int64_t *a = f->slope + (size_t) i * f->stride;
	int64_t		last = (INT64_C(1) << law->bits) - 1;

	*low = *high = 0;
	for (int32_t j = 0; j < law->variables; j++)
		*(a[j] < 0 ? low : high) += a[j] * last;
}

/*
 * A face's rows that matter in the whole box, less its bound there: offsets in 64 bits.
 * A row that is left is above the bound somewhere, and no row is above it everywhere.
 */
static void
open_face(pe_lattice_law *law, const pe_affine_lattice *lattice, int k, cell *root)
{
	face	   *f = &law->face[k];
	pe_i128		bound = 0;
	int32_t		kept = 0;
	int64_t		low;
	int64_t		high;

	for (int32_t i = 0; i < f->rows; i++)
	{
		row_range(law, f, i, &low, &high);
		if ((i == 0 && k != LIMIT) || row_constant(lattice, k, i) + low > bound)
			bound = row_constant(lattice, k, i) + low;
	}
	/* an inequality that holds nowhere: no point is left */
	root->bound[k] = k == LIMIT && bound > 0;
	if (k == LIMIT)
		bound = 0;
	root->list[k] = f->rows > 0 ? make_list(f->rows) : NULL;
	for (int32_t i = 0; i < f->rows; i++)
	{
		pe_i128		less = row_constant(lattice, k, i) - bound;

		row_range(law, f, i, &low, &high);
		if (less + high <= 0)
			continue;
		f->offset[i] = (int64_t) less;
		root->list[k]->row[kept++] = i;
	}
	if (f->rows > 0)
		root->list[k]->count = kept;
	if (kept == 0)
	{
		release_list(law, root->list[k]);
		root->list[k] = NULL;
	}
	pe_wipe(&bound, sizeof(bound));
	spend_products(law, 2.0 * f->rows * law->variables);
}

static void
open_faces(pe_lattice_law *law, const pe_affine_lattice *lattice, bool with_public, cell *root)
{
	for (int k = 0; k < FACES; k++)
	{
		face	   *f = &law->face[k];

		f->slope = k == LIMIT ? lattice->inequality : lattice->slope;
		f->stride = (size_t) lattice->variables + (k == LIMIT);
		f->rows = k == LIMIT ? lattice->inequalities : k == SCORE || with_public ? lattice->rows : 0;
		f->offset = pe_alloc((size_t) f->rows, sizeof(int64_t));
		open_face(law, lattice, k, root);
	}
}

/* max(bound, rows of the list at a point) */
static int64_t
value_at(const pe_lattice_law *law, const cell *c, int k, const int64_t *at)
{
	const face *f = &law->face[k];
	const row_list *list = c->list[k];
	int64_t		value = c->bound[k];

	for (int32_t i = 0; list != NULL && i < list->count; i++)
	{
		const int64_t *a = f->slope + (size_t) list->row[i] * f->stride;
		int64_t		row = f->offset[list->row[i]];

		for (int32_t j = 0; j < law->variables; j++)
			row += a[j] * at[j];
		value = row > value ? row : value;
	}
	return value;
}

/* About rate (S - S0) + prior (T - T0), within EXPONENT_ERROR of itself: nine roundings. */
static double
exponent(const pe_lattice_law *law, const int64_t *value)
{
	double		sum = 0;

	for (int k = 0; k < SCORES; k++)
		sum += (double) (value[k] - law->face[k].least) * law->face[k].per_unit;
	return sum;
}

/* ----------
 * Cells
 * ----------
 */

/*
 * Keeps those rows of the cell's list that are above its bound somewhere; all,
 * where there is no room for another list.
 */
static void
keep_rows(pe_lattice_law *law, cell *c, int k, int32_t kept)
{
	row_list   *old = c->list[k];
	row_list   *list = NULL;
	size_t		bytes = list_bytes((size_t) kept);

	if (kept == old->count || (kept > 0 && bytes > law->list_room))
		return;
	if (kept > 0)
	{
		list = make_list(kept);
		law->list_room -= bytes;
		kept = 0;
		for (int32_t i = 0; i < old->count; i++)
		{
			if (law->high[i] > c->bound[k])
				list->row[kept++] = old->row[i];
		}
	}
	c->list[k] = list;
	release_list(law, old);
}

/*
 * The least and the largest value of each row of the list over a cell; returns
 * the largest of the least, or the bound.
 */
static int64_t
measure_rows(pe_lattice_law *law, const cell *c, int k)
{
	const face *f = &law->face[k];
	const row_list *list = c->list[k];
	int64_t		bound = c->bound[k];

	for (int32_t i = 0; i < list->count; i++)
	{
		const int64_t *a = f->slope + (size_t) list->row[i] * f->stride;
		int64_t		low = f->offset[list->row[i]];
		int64_t		range = 0;

		for (int32_t j = 0; j < law->variables; j++)
		{
			int64_t		size = (INT64_C(1) << c->width[j]) - 1;

			low += a[j] * (c->corner[j] + (a[j] < 0 ? size : 0));
			range += (a[j] < 0 ? -a[j] : a[j]) * size;
		}
		law->high[i] = low + range;
		bound = low > bound ? low : bound;
	}
	spend_products(law, 2.0 * list->count * law->variables);
	return bound;
}

/* The value of a row at the cell's corner. */
static int64_t
row_at_corner(const pe_lattice_law *law, const cell *c, int k, int32_t row)
{
	const face *f = &law->face[k];
	const int64_t *a = f->slope + (size_t) row * f->stride;
	int64_t		value = f->offset[row];

	for (int32_t j = 0; j < law->variables; j++)
		value += a[j] * c->corner[j];
	return value;
}

/* A row on the unit cube that the cell is, in units of size. */
static void
put_near(pe_lattice_law *law, const cell *c, int k, int32_t row, int64_t bound, double size, int32_t number)
{
	const face *f = &law->face[k];
	const int64_t *a = f->slope + (size_t) row * f->stride;
	double	   *to = law->near + (size_t) number * ((size_t) law->variables + 1);

	for (int32_t j = 0; j < law->variables; j++)
		to[j] = (double) a[j] * (double) ((INT64_C(1) << c->width[j]) - 1) / size;
	to[law->variables] = (double) (row_at_corner(law, c, k, row) - bound) / size;
	law->near_row[number] = row;
}

/* The rows that are above the bound somewhere, in units of the size of what is open. */
static int32_t
bring_near(pe_lattice_law *law, const cell *c, int k, double size)
{
	const row_list *list = c->list[k];
	int32_t		count = 0;

	for (int32_t i = 0; i < list->count; i++)
	{
		if (law->high[i] > c->bound[k])
			put_near(law, c, k, list->row[i], c->bound[k], size, count++);
	}
	return count;
}

/* How much an inequality changes over the cell. */
static double
size_of_limit(const pe_lattice_law *law, const cell *c, int32_t row)
{
	const face *f = &law->face[LIMIT];
	const int64_t *a = f->slope + (size_t) row * f->stride;
	double		size = 1;

	for (int32_t j = 0; j < law->variables; j++)
		size += fabs((double) a[j]) * (double) ((INT64_C(1) << c->width[j]) - 1);
	return size;
}

/* The inequalities that do not hold in all of the cell, behind so many rows, each in units of its own size. */
static int32_t
bring_limits_near(pe_lattice_law *law, const cell *c, int32_t rows)
{
	const row_list *list = c->list[LIMIT];

	for (int32_t i = 0; list != NULL && i < list->count; i++)
		put_near(law, c, LIMIT, list->row[i], 0, size_of_limit(law, c, list->row[i]), rows + i);
	return list != NULL ? list->count : 0;
}

/* A weighted mean of rows, and of inequalities any multiples. */
typedef struct mean
{
	int32_t		count;
	int			face[PE_CELL_BOUND_VARIABLES + 1];
	int32_t		row[PE_CELL_BOUND_VARIABLES + 1];
	int64_t		weight[PE_CELL_BOUND_VARIABLES + 1];	/* of 2^-WEIGHT_BITS; those of rows have the sum 1 */
} mean;

/*
 * Rounds weights.  Those of inequalities, in units of rows, are cut to 2^60: products with
 * numbers below 2^60 have a sum in 128 bits.
 */
static void
round_weights(const pe_lattice_law *law, const cell *c, int k, double open, int32_t rows,
			  const int32_t *index, const double *weight, mean *m)
{
	int64_t		left = INT64_C(1) << WEIGHT_BITS;
	int32_t		heaviest = -1;

	for (int32_t i = 0; i < m->count; i++)
	{
		bool		limit = index[i] >= rows;
		double		real = ldexp(weight[i], WEIGHT_BITS);

		m->row[i] = law->near_row[index[i]];
		m->face[i] = limit ? LIMIT : k;
		if (limit)
			m->weight[i] = (int64_t) fmin(real * open / size_of_limit(law, c, m->row[i]), 0x1p60);
		else
		{
			m->weight[i] = (int64_t) fmin(real, (double) left);
			left -= m->weight[i];
			heaviest = heaviest < 0 || m->weight[i] > m->weight[heaviest] ? i : heaviest;
		}
	}
	if (heaviest < 0)
		m->count = 0;			/* only rounding allows that */
	else
		m->weight[heaviest] += left;
}

/*
 * The least value over the cell of the mean, rounded down: at no point of the set S is below
 * it.  No less than the bound that there is, and no more than most: where no point of the set
 * is in the cell it can be any number.
 */
static int64_t
bound_of_mean(const pe_lattice_law *law, const cell *c, int k, const mean *m, int64_t most)
{
	pe_i128		sum = 0;

	for (int32_t i = 0; i < m->count; i++)
		sum += (pe_i128) m->weight[i] * row_at_corner(law, c, m->face[i], m->row[i]);
	for (int32_t j = 0; j < law->variables; j++)
	{
		pe_i128		slope = 0;

		for (int32_t i = 0; i < m->count; i++)
		{
			const face *f = &law->face[m->face[i]];

			slope += (pe_i128) m->weight[i] * f->slope[(size_t) m->row[i] * f->stride + (size_t) j];
		}
		if (slope < 0)
			sum += slope * ((INT64_C(1) << c->width[j]) - 1);
	}
	if (sum >> WEIGHT_BITS <= c->bound[k])
		return c->bound[k];
	if (sum >> WEIGHT_BITS >= most)
		return most;
	return (int64_t) (sum >> WEIGHT_BITS);
}

/*
 * Where rows cross inside the cell, none of them alone says how high their maximum is: a
 * mean of them does, and where the set ends there, one with inequalities, which are not above
 * 0 in it.  Doubles choose the weights, integers make the bound.
 */
static void
raise_bound(pe_lattice_law *law, cell *c, int k, int64_t most)
{
	double		open = (double) (most - c->bound[k]);
	int32_t		index[PE_CELL_BOUND_VARIABLES + 1];
	double		weight[PE_CELL_BOUND_VARIABLES + 1];
	mean		m = {0};
	int32_t		rows;
	int32_t		limits;

	if (!(open * law->face[k].per_unit > OPEN))
		return;
	rows = bring_near(law, c, k, open);
	limits = bring_limits_near(law, c, rows);
	spend_products(law, 4.0 * (rows + limits) * law->variables);
	m.count = pe_cell_weights(law->variables, rows, limits, law->near, index, weight);
	round_weights(law, c, k, open, rows, index, weight, &m);
	if (m.count > 0)
		c->bound[k] = bound_of_mean(law, c, k, &m, most);
	pe_wipe(&m, sizeof(m));
}

/* The cell's own bound and list of a face, from those it has inherited; returns an upper bound. */
static int64_t
narrow(pe_lattice_law *law, cell *c, int k)
{
	const row_list *list = c->list[k];
	int64_t		most;
	int32_t		kept = 0;

	if (list == NULL)
		return c->bound[k];
	most = c->bound[k] = measure_rows(law, c, k);
	for (int32_t i = 0; i < list->count; i++)
		most = law->high[i] > most ? law->high[i] : most;
	if (k != LIMIT)
		raise_bound(law, c, k, most);
	for (int32_t i = 0; i < list->count; i++)
		kept += law->high[i] > c->bound[k];
	keep_rows(law, c, k, kept);
	return most;
}

/* Bounds and weight of a cell; false if no point of the set is in it. */
static bool
finish_cell(pe_lattice_law *law, cell *c)
{
	int64_t		most[FACES];

	narrow(law, c, LIMIT);
	if (c->bound[LIMIT] > 0)
		return false;
	for (int k = 0; k < SCORES; k++)
		most[k] = narrow(law, c, k);
	c->weight = -c->depth * LN2 - exponent(law, c->bound);
	c->sure = c->list[LIMIT] != NULL ? -INFINITY : -c->depth * LN2 - exponent(law, most);
	pe_wipe(most, sizeof(most));
	return true;
}

/* The sums over a list of |a_ij| 2^w_j, divided by its length; returns their sum. */
static double
mean_ranges(const pe_lattice_law *law, const cell *c, int k, double *range)
{
	const face *f = &law->face[k];
	const row_list *list = c->list[k];
	double		sum = 0;

	for (int32_t j = 0; j < law->variables; j++)
		range[j] = 0;
	for (int32_t i = 0; list != NULL && i < list->count; i++)
	{
		const int64_t *a = f->slope + (size_t) list->row[i] * f->stride;

		for (int32_t j = 0; j < law->variables; j++)
			range[j] += fabs((double) a[j]);
	}
	for (int32_t j = 0; list != NULL && j < law->variables; j++)
	{
		range[j] = ldexp(range[j], c->width[j]) / list->count;
		sum += range[j];
	}
	return sum;
}

/*
 * The coordinate to halve: along which rows vary most, in units of the exponent; what
 * inequalities leave open counts as one such unit.  Of equal ones the widest.
 */
static int32_t
coordinate_of(pe_lattice_law *law, const cell *c)
{
	double		gain[PE_CELL_VARIABLES] = {0};
	double		range[PE_CELL_VARIABLES];
	int32_t		best = -1;

	for (int k = 0; k < FACES; k++)
	{
		double		sum = mean_ranges(law, c, k, range);
		double		unit = k != LIMIT ? law->face[k].per_unit : sum > 0 ? 1 / sum : 0;

		for (int32_t j = 0; j < law->variables; j++)
			gain[j] += unit * range[j];
		spend_products(law, c->list[k] == NULL ? 0 : 0.5 * c->list[k]->count * law->variables);
	}
	for (int32_t j = 0; j < law->variables; j++)
	{
		if (c->width[j] == 0)
			continue;
		if (best < 0 || gain[j] > gain[best] || (gain[j] == gain[best] && c->width[j] > c->width[best]))
			best = j;
	}
	return best;
}

/* ----------
 * The heap: cells[0] is the heaviest of those that may still be divided
 * ----------
 */
static void
push(cell *heap, int32_t *count, const cell *c)
{
	int32_t		at = (*count)++;

	while (at > 0 && heap[(at - 1) / 2].weight < c->weight)
	{
		heap[at] = heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap[at] = *c;
}

static cell
pop(cell *heap, int32_t *count)
{
	cell		first = heap[0];
	const cell *last = &heap[--*count];
	int32_t		at = 0;

	for (;;)
	{
		int32_t		child = 2 * at + 1;

		if (child + 1 < *count && heap[child + 1].weight > heap[child].weight)
			child++;
		if (child >= *count || heap[child].weight <= last->weight)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = *last;
	return first;
}

/* ----------
 * Dividing
 * ----------
 */

/* Cells that may be divided, from the front of the memory, and those of one point, from its end. */
typedef struct division
{
	int32_t		open;
	int32_t		closed;
	double		heaviest;		/* of those of one point */
} division;

static void
add_cell(pe_lattice_law *law, division *v, cell *c)
{
	if (finish_cell(law, c))
		push(law->cells, &v->open, c);
	else
		release_lists(law, c);
}

/* Leaves the lower half of a cell; returns the upper one, with the same lists. */
static cell
cut(cell *c, int32_t j)
{
	cell		upper;

	c->width[j]--;
	c->depth++;
	upper = *c;
	upper.corner[j] += INT32_C(1) << c->width[j];
	for (int k = 0; k < FACES; k++)
	{
		if (c->list[k] != NULL)
			c->list[k]->users++;
	}
	return upper;
}

static void
halve(pe_lattice_law *law, division *v, cell *c)
{
	cell		upper = cut(c, coordinate_of(law, c));

	add_cell(law, v, c);
	add_cell(law, v, &upper);
	pe_wipe(&upper, sizeof(upper));
}

/* Sums over cells, divided by exp(heaviest): of what they are bounded by, and of what they have at least. */
static void
add_weights(const cell *c, int32_t count, double heaviest, double *bound, double *sure)
{
	for (int32_t i = 0; i < count; i++)
	{
		*bound += exp(c[i].weight - heaviest);
		*sure += exp(c[i].sure - heaviest);
	}
}

/* Closed cells follow the open ones, and the rest is nothing. */
static void
gather(pe_lattice_law *law, const division *v)
{
	memmove(law->cells + v->open, law->cells + law->room - v->closed, (size_t) v->closed * sizeof(cell));
	law->count = v->open + v->closed;
}

/* What a proposal from a cell takes at most. */
static double
work_of_proposal(const pe_lattice_law *law, const cell *c)
{
	double		products = PROPOSAL_WORK;

	for (int k = 0; k < FACES; k++)
		products += c->list[k] == NULL ? 0 : (double) c->list[k]->count * law->variables;
	return products;
}

static bool
enough(const pe_lattice_law *law, const division *v)
{
	double		heaviest = fmax(v->heaviest, law->cells[0].weight);
	double		bound = 0;
	double		sure = 0;

	add_weights(law->cells, v->open, heaviest, &bound, &sure);
	add_weights(law->cells + law->room - v->closed, v->closed, heaviest, &bound, &sure);
	if (sure >= ENOUGH * bound)
		return true;
	return sure >= law->plan.acceptance * bound && sure * law->spent >= work_of_proposal(law, &law->cells[0]) * bound;
}

/* ----------
 * Public cells
 * ----------
 */

/* Along which coordinate a cell is wider than a public cell; -1: none. */
static int32_t
too_wide(const pe_lattice_law *law, const cell *c)
{
	for (int32_t j = 0; j < law->variables; j++)
	{
		if (c->width[j] + law->plan.part[j] > law->bits)
			return j;
	}
	return -1;
}

/*
 * Divides what is wider than a public cell, until the plan's bound of the acceptance holds.
 * What all of it weighs next to nothing beside the best cell stays.  Without inequalities no cell is
 * ever without points.  There are no more than best_first cells to begin with, and each
 * public cell is cut out once: room is enough.
 */
static void
divide_publicly(pe_lattice_law *law, division *v)
{
	double		least = v->heaviest;

	for (int32_t i = 0; i < v->open; i++)
		least = fmax(least, law->cells[i].weight);
	least -= LIGHTEST * LN2;
	for (int32_t i = 0; i < v->open && v->open + v->closed < law->room; i++)
	{
		cell	   *c = &law->cells[i];
		int32_t		j;

		while (c->weight >= least && (j = too_wide(law, c)) >= 0 && v->open + v->closed < law->room)
		{
			cell		upper = cut(c, j);

			if (!finish_cell(law, c) || !finish_cell(law, &upper))
				pe_bug("a cell of a box without points");
			law->cells[v->open++] = upper;
			pe_wipe(&upper, sizeof(upper));
		}
	}
}

static void
divide(pe_lattice_law *law, const cell *root)
{
	division	v = {0, 0, -INFINITY};
	int32_t		next = 1;
	cell		c = *root;

	add_cell(law, &v, &c);
	while (v.open > 0 && v.open + v.closed < law->best_first)
	{
		if (v.open >= next && enough(law, &v))
			break;
		if (v.open >= next)
			next = v.open + v.open / 4 + 1;
		if (law->cells[0].weight < v.heaviest - LIGHTEST * LN2)
			break;
		c = pop(law->cells, &v.open);
		if (c.depth == law->bits * law->variables)
		{
			v.heaviest = fmax(v.heaviest, c.weight);
			law->cells[law->room - ++v.closed] = c;
		}
		else
			halve(law, &v, &c);
	}
	if (law->plan.acceptance > 0 && v.open > 0 && !enough(law, &v))
		divide_publicly(law, &v);
	gather(law, &v);
	pe_wipe(&c, sizeof(c));
}

/* ----------
 * A finite set of points
 * ----------
 */

/* A public sequence: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014. */
static double
next_public(uint64_t *state)
{
	uint64_t	z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (double) ((z ^ z >> 31) >> 11) * 0x1p-53;
}

/* The nearest number of the lattice that is used. */
static int64_t
nearest(const pe_lattice_law *law, double x)
{
	return (int64_t) (fmin(fmax(x, 0), (double) ((INT64_C(1) << law->bits) - 1)) + 0.5);
}

/* Makes room for so many points. */
static void
alloc_cells(pe_lattice_law *law, int32_t room, bool points)
{
	law->room = room;
	law->cells = pe_alloc((size_t) room, sizeof(cell));
	law->total = pe_alloc((size_t) room, sizeof(uint64_t));
	law->point = points ? pe_alloc((size_t) room * (size_t) law->variables, sizeof(int32_t)) : NULL;
}

static void
add_point(pe_lattice_law *law, const cell *root, const int64_t *at)
{
	cell	   *c = &law->cells[law->count];

	memset(c, 0, sizeof(*c));
	for (int k = 0; k < SCORES; k++)
	{
		if (law->face[k].per_unit > 0)
			c->bound[k] = value_at(law, root, k, at);
		if (root->list[k] != NULL)
			spend_products(law, (double) root->list[k]->count * law->variables);
	}
	c->weight = c->sure = -exponent(law, c->bound);
	for (int32_t j = 0; j < law->variables; j++)
		law->point[(size_t) law->count * (size_t) law->variables + (size_t) j] = (int32_t) at[j];
	law->count++;
}

/* anchor + t (u - anchor), with t halved until it is inside; whether it is. */
static bool
bring_inside(pe_lattice_law *law, const pe_affine_lattice *lattice, const double *anchor,
			 const double *u, double t, int64_t *at)
{
	for (int tries = 0; tries < NET_SHRINK; tries++)
	{
		for (int32_t j = 0; j < law->variables; j++)
			at[j] = nearest(law, anchor[j] + t * (u[j] - anchor[j]));
		spend_products(law, (double) lattice->inequalities * law->variables);
		if (pe_lattice_inside(lattice, at))
			return true;
		t /= 2;
	}
	return false;
}

/*
 * Half of the points spread from the centre, half from the minimiser of the public
 * function, at all scales; the first two are these themselves.
 */
static void
spread_points(pe_lattice_law *law, const pe_affine_lattice *lattice, const cell *root, const double *centre,
			  const double *minimiser)
{
	double		last = (double) ((INT64_C(1) << law->bits) - 1);
	double		u[PE_AFFINE_VARIABLES];
	int64_t		at[PE_AFFINE_VARIABLES];
	uint64_t	state = 0;

	for (int32_t i = 0; law->count < law->room && i < NET_MOST; i++)
	{
		double		t = i < 2 ? 0 : ldexp(1, -(i / 2 % NET_SCALES));

		for (int32_t j = 0; j < law->variables; j++)
			u[j] = next_public(&state) * last;
		if (bring_inside(law, lattice, i % 2 == 0 ? centre : minimiser, u, t, at))
			add_point(law, root, at);
	}
}

/*
 * The minimiser over the set of the function without offsets, on the unit cube: what is
 * left of its rows in the whole box, and inequalities, with numbers at most about 2.
 */
static void
minimise_public(const pe_lattice_law *law, const pe_affine_lattice *lattice, const cell *root, double *minimiser)
{
	const face *f = &law->face[PUBLIC];
	size_t		d = (size_t) law->variables;
	int32_t		rows = root->list[PUBLIC] != NULL ? root->list[PUBLIC]->count : 0;
	double	   *slope = pe_alloc((size_t) rows * d, sizeof(double));
	double	   *offset = pe_alloc((size_t) rows, sizeof(double));
	double	   *inequality = pe_alloc((size_t) lattice->inequalities * (d + 1), sizeof(double));
	double		lower[PE_AFFINE_VARIABLES] = {0};
	double		upper[PE_AFFINE_VARIABLES];
	pe_plain_affine function = {law->variables, rows, slope, offset};
	pe_polytope set = {law->variables, lattice->inequalities, lower, upper, inequality};
	pe_affine_minimum found = {minimiser, 0, 0, 0};

	for (size_t j = 0; j < d; j++)
		upper[j] = 1;
	for (int32_t i = 0; i < rows; i++)
	{
		int32_t		row = root->list[PUBLIC]->row[i];

		for (size_t j = 0; j < d; j++)
			slope[(size_t) i * d + j] = ldexp((double) f->slope[(size_t) row * d + j], law->bits - 58);
		offset[i] = ldexp((double) f->offset[row], -58);
	}
	for (size_t i = 0; i < (size_t) lattice->inequalities * (d + 1); i++)
		inequality[i] = ldexp((double) lattice->inequality[i], (i + 1) % (d + 1) != 0 ? law->bits - 58 : -58);
	pe_affine_minimise(&function, &set, 1e-6, &found);
	for (size_t j = 0; j < d; j++)
		minimiser[j] = isfinite(minimiser[j]) ? ldexp(minimiser[j], law->bits) : 0;
	pe_free(slope);
	pe_free(offset);
	pe_free(inequality);
}

/* The lattice's point nearest to the centre. */
static void
round_centre(const pe_lattice_law *law, const pe_affine_lattice *lattice, const double *centre, int64_t *at)
{
	pe_lattice_nearest(lattice, centre, at);
	for (int32_t j = 0; j < law->variables; j++)
		at[j] = nearest(law, (double) at[j]);
}

/*
 * Whether the centre's point is inside: then its cell is never dropped, and every draw ends.
 * If it is not, rounding has eaten up the set, and whether a cell is left would be for the
 * offsets to say, by which cells are divided; and what is left may have no point to draw.
 */
static bool
holds_centre(const pe_lattice_law *law, const pe_affine_lattice *lattice, const double *centre)
{
	int64_t		at[PE_AFFINE_VARIABLES];

	round_centre(law, lattice, centre, at);
	return pe_lattice_inside(lattice, at);
}

/* No point is known to be inside: the centre is, as doubles. */
static void
make_alone(pe_lattice_law *law, const pe_affine_lattice *lattice, const double *centre)
{
	cell		nothing;
	int64_t		at[PE_AFFINE_VARIABLES];

	memset(&nothing, 0, sizeof(nothing));
	if (law->point == NULL)
		law->point = pe_alloc((size_t) law->variables, sizeof(int32_t));
	round_centre(law, lattice, centre, at);
	add_point(law, &nothing, at);
}

/* ----------
 * A grid: half of a finite set in few variables, so that none of the box is far from a point.
 * The other half spreads from the centre and the public minimiser at all scales, for boxes
 * that are far larger than they need be.
 * ----------
 */

/* The point of a grid with this number: from side to side, or in the middle where there is one along a coordinate. */
static void
point_of_grid(const pe_lattice_law *law, const int32_t *points, int64_t number, int64_t *at)
{
	int64_t		last = (INT64_C(1) << law->bits) - 1;

	for (int32_t j = 0; j < law->variables; j++)
	{
		at[j] = points[j] > 1 ? last * (number % points[j]) / (points[j] - 1) : last / 2;
		number /= points[j];
	}
}

static int64_t
size_of_grid(const pe_lattice_law *law, const int32_t *points)
{
	int64_t		size = 1;

	for (int32_t j = 0; j < law->variables; j++)
		size *= points[j];
	return size;
}

/* How many points of a grid are inside the set; the points themselves become the law's, if it is for them. */
static int64_t
visit_grid(pe_lattice_law *law, const pe_affine_lattice *lattice, const cell *root, const int32_t *points, bool add)
{
	int64_t		size = size_of_grid(law, points);
	int64_t		inside = 0;
	int64_t		at[PE_AFFINE_VARIABLES];

	for (int64_t i = 0; i < size; i++)
	{
		point_of_grid(law, points, i, at);
		spend_products(law, (double) (lattice->inequalities + 1) * law->variables);
		if (!pe_lattice_inside(lattice, at))
			continue;
		inside++;
		if (add)
			add_point(law, root, at);
	}
	return inside;
}

/*
 * The most points of a grid whose outer points are no more work than the inner
 * ones.
 */
static double
most_of_grid(const pe_lattice_law *law, const pe_affine_lattice *lattice, double room)
{
	double		affordable = NET_WORK / ((double) law->variables * fmax(lattice->inequalities, 1));

	if (lattice->inequalities == 0)
		return room;
	return fmin(fmax(affordable, room), room * GRID_FINER);
}

/* The finest grid with no more than room points inside; all of it is public. */
static void
make_grid(pe_lattice_law *law, const pe_affine_lattice *lattice, const cell *root, int32_t room)
{
	int32_t		points[PE_CELL_VARIABLES];
	double		most = most_of_grid(law, lattice, room);

	for (;; most /= 2)
	{
		pe_lattice_plan_grid(law->variables, law->plan.share, most, points);
		if (most <= room || visit_grid(law, lattice, root, points, false) <= room)
			break;
	}
	(void) visit_grid(law, lattice, root, points, true);
}

static void
make_points(pe_lattice_law *law, const pe_affine_lattice *lattice, const cell *root, const double *centre)
{
	double		minimiser[PE_AFFINE_VARIABLES];
	double		middle[PE_AFFINE_VARIABLES];
	int64_t		at[PE_AFFINE_VARIABLES];

	if (law->variables <= PE_CELL_VARIABLES)
		make_grid(law, lattice, root, law->room / 2);
	round_centre(law, lattice, centre, at);
	for (int32_t j = 0; j < law->variables; j++)
		minimiser[j] = middle[j] = (double) at[j];
	if (law->room > law->count + 1)
		minimise_public(law, lattice, root, minimiser);
	spread_points(law, lattice, root, middle, minimiser);
	if (law->count == 0)
		make_alone(law, lattice, centre);
}

/* ----------
 * Weights
 * ----------
 */

/* S0, T0, and the largest integer that surely is at most each exponent. */
static void
reckon_from_least(pe_lattice_law *law)
{
	double		least = INFINITY;

	for (int k = 0; k < SCORES; k++)
	{
		law->face[k].least = INT64_MAX;
		for (int32_t i = 0; i < law->count; i++)
			law->face[k].least = law->cells[i].bound[k] < law->face[k].least
				? law->cells[i].bound[k] : law->face[k].least;
	}
	for (int32_t i = 0; i < law->count; i++)
		least = fmin(least, exponent(law, law->cells[i].bound));
	law->shift = (uint64_t) (least * (1 - EXPONENT_ERROR));
}

/*
 * An integer that is at least 2^(scale - depth) exp(-x_c): x_c is not below the
 * argument except by the rounding of the difference, 2^-53 of it, which is
 * small where it is large (700); exp errs by 2^-45, and one is added where that
 * is more than 2^-40 covers.
 */
static uint64_t
upper_weight(const pe_lattice_law *law, const cell *c)
{
	double		x = exponent(law, c->bound) * (1 - EXPONENT_ERROR) - (double) law->shift;
	double		bound = ldexp(exp(-fmin(x, LARGEST_EXPONENT)), law->scale - c->depth);

	return (uint64_t) ceil(bound * (1 + 0x1p-40)) + 1;
}

void
pe_lattice_law_weigh(pe_lattice_law *law, int32_t peak)
{
	double		heaviest = -INFINITY;
	uint64_t	total = 0;

	reckon_from_least(law);
	for (int32_t i = 0; i < law->count; i++)
	{
		const cell *c = &law->cells[i];

		heaviest = fmax(heaviest, -c->depth - (exponent(law, c->bound) - (double) law->shift) / LN2);
	}
	law->scale = peak - (int32_t) floor(heaviest);
	for (int32_t i = 0; i < law->count; i++)
	{
		uint64_t	weight = upper_weight(law, &law->cells[i]);

		if (law->scale < 0 || law->scale > LARGEST_SCALE || total + weight < total)
			pe_bug("weights of cells out of range");
		total += weight;
		law->total[i] = total;
	}
}

/* ----------
 * The law
 * ----------
 */

/* How much memory cells and points may have. */
static void
allot(pe_lattice_law *law, const pe_affine_lattice *lattice, size_t memory, int32_t cells)
{
	size_t		fixed = fixed_memory((size_t) lattice->rows, (size_t) lattice->inequalities);
	size_t		left = memory > fixed ? memory - fixed : 0;
	bool		points = law->plan.finite;
	size_t		apart = points ? public_memory(law->variables, lattice->rows, lattice->inequalities) : left / 2;
	size_t		each = points ? point_memory((size_t) law->variables) : cell_memory();
	size_t		room = (left > apart ? left - apart : 0) / each;
	size_t		most = points ? most_points(law->variables, lattice->rows) : (size_t) cells;

	most = most < (size_t) cells ? most : (size_t) cells;
	room = room < most ? room : most;
	room = room > 1 ? room : 1;
	left = left > room * each ? left - room * each : 0;
	law->list_room = left < LIST_MOST ? left : LIST_MOST;
	law->best_first = points || room < (size_t) most_cells[law->variables] ? (int32_t) room
		: most_cells[law->variables];
	alloc_cells(law, (int32_t) room, points);
}

static pe_lattice_law *
new_law(const pe_affine_lattice *lattice, pe_score_rate rate, pe_score_rate prior, int32_t bits, double margin,
		const pe_lattice_plan *plan)
{
	pe_lattice_law *law;

	check_rate(&rate);
	check_rate(&prior);
	law = pe_alloc(1, sizeof(*law));
	law->variables = lattice->variables;
	law->bits = bits;
	law->margin = margin;
	law->plan = *plan;
	set_rate(&law->face[SCORE], &rate);
	set_rate(&law->face[PUBLIC], &prior);
	law->scratch = (size_t) lattice->rows + (size_t) lattice->inequalities;
	law->high = pe_alloc(law->scratch, sizeof(int64_t));
	if (!plan->finite)
	{
		law->near = pe_alloc(law->scratch, ((size_t) law->variables + 1) * sizeof(double));
		law->near_row = pe_alloc(law->scratch, sizeof(int32_t));
	}
	return law;
}

/* Fills in cells or points, and their weights. */
static void
fill(pe_lattice_law *law, const pe_affine_lattice *lattice, const double *centre, size_t memory, int32_t cells)
{
	bool		points = law->plan.finite;
	cell		root;

	memset(&root, 0, sizeof(root));
	allot(law, lattice, memory, cells);
	open_faces(law, lattice, points || law->face[PUBLIC].rate.numerator != 0, &root);
	if (points)
		make_points(law, lattice, &root, centre);
	else if (holds_centre(law, lattice, centre))
	{
		for (int32_t j = 0; j < law->variables; j++)
			root.width[j] = (uint8_t) law->bits;
		divide(law, &root);
		memset(root.list, 0, sizeof(root.list));
	}
	else
		make_alone(law, lattice, centre);
	release_lists(law, &root);
	pe_lattice_law_weigh(law, PEAK);
	pe_wipe(&root, sizeof(root));
}

pe_lattice_law *
pe_lattice_law_make_with(const pe_affine_lattice *lattice, pe_score_rate rate, pe_score_rate prior,
						 const double *centre, size_t memory, int32_t cells, int32_t bits, double margin)
{
	pe_lattice_plan plan = {.finite = lattice->variables > PE_CELL_VARIABLES};
	pe_lattice_law *law = new_law(lattice, rate, prior, bits, margin, &plan);

	fill(law, lattice, centre, memory, cells);
	return law;
}

pe_lattice_law *
pe_lattice_law_make(const pe_affine_lattice *lattice, pe_score_rate rate, pe_score_rate prior,
					const double *centre, size_t memory, const pe_lattice_plan *plan)
{
	pe_lattice_law *law = new_law(lattice, rate, prior, PE_LATTICE_BITS, PE_LAZY_MARGIN, plan);

	fill(law, lattice, centre, memory,
		 plan->finite ? INT32_MAX : plan->acceptance > 0 ? most_divided(lattice->variables) :
		 most_cells[lattice->variables]);
	return law;
}

bool
pe_lattice_law_corner(const pe_lattice_law *law, int32_t number, int64_t *at)
{
	if (number >= law->count)
		return false;
	for (int32_t j = 0; j < law->variables; j++)
		at[j] = law->point != NULL ? law->point[(size_t) number * (size_t) law->variables + (size_t) j] :
			law->cells[number].corner[j];
	return true;
}

void
pe_lattice_law_free(pe_lattice_law *law)
{
	for (int32_t i = 0; i < law->count; i++)
		release_lists(law, &law->cells[i]);
	for (int k = 0; k < FACES; k++)
	{
		pe_wipe(law->face[k].offset, (size_t) law->face[k].rows * sizeof(int64_t));
		pe_free(law->face[k].offset);
	}
	pe_wipe(law->cells, (size_t) law->room * sizeof(cell));
	pe_wipe(law->total, (size_t) law->room * sizeof(uint64_t));
	pe_wipe(law->high, law->scratch * sizeof(int64_t));
	pe_free(law->cells);
	pe_free(law->total);
	pe_free(law->high);
	if (law->near != NULL)
		pe_wipe(law->near, law->scratch * ((size_t) law->variables + 1) * sizeof(double));
	pe_free(law->near);
	pe_free(law->near_row);
	pe_free(law->point);
	pe_wipe(law, sizeof(*law));
	pe_free(law);
}

/* ----------
 * A draw
 * ----------
 */

/* A cell, with probability a_c / sum of all a. */
static const cell *
draw_cell(const pe_lattice_law *law, pe_bits *bits)
{
	uint64_t	r = pe_bits_below(bits, law->total[law->count - 1]);
	int32_t		low = 0;
	int32_t		high = law->count - 1;

	/* the first whose sum is above r */
	while (low < high)
	{
		int32_t		middle = (low + high) / 2;

		if (law->total[middle] > r)
			high = middle;
		else
			low = middle + 1;
	}
	return &law->cells[low];
}

/* A point of the cell, uniformly. */
static void
draw_point(const pe_lattice_law *law, const cell *c, pe_bits *bits, int64_t *at)
{
	(void) pe_lattice_law_corner(law, (int32_t) (c - law->cells), at);
	for (int32_t j = 0; law->point == NULL && j < law->variables; j++)
		at[j] += pe_bits_next32(bits) & ((UINT32_C(1) << c->width[j]) - 1);
}

static __attribute__((noinline)) bool
accept_exactly(const pe_lattice_law *law, uint64_t a, uint32_t scale, const int64_t *value,
			   uint64_t first, pe_bits *bits)
{
	const face *score = &law->face[SCORE];
	const face *public = &law->face[PUBLIC];
	pe_lazy_claim claim;
	bool		less;

	claim.a = a;
	claim.b = 1;
	claim.n1 = pe_wide_product((pe_u128) (value[SCORE] - score->least), score->rate.numerator);
	claim.d1 = score->denominator;
	claim.n2 = pe_wide_product((pe_u128) (value[PUBLIC] - public->least), public->rate.numerator);
	claim.d2 = public->denominator;
	claim.shift = law->shift;
	claim.scale = scale;
	less = pe_lazy_less_exact(&claim, first, bits);
	pe_wipe(&claim, sizeof(claim));
	return less;
}

/* With the chance 2^-count. */
static bool
all_zero(pe_bits *bits, int32_t count)
{
	for (; count > 0; count -= 32)
		if (pe_bits_next32(bits) >> (count < 32 ? 32 - count : 0) != 0)
			return false;
	return true;
}

/*
 * V a < 2^scale exp(-x): in double, where x errs by EXPONENT_ERROR of what it was before
 * the shift and exp(-x) by as much, relatively; exactly, where that leaves a doubt.
 */
static bool
accept(const pe_lattice_law *law, const cell *c, const int64_t *value, pe_bits *bits)
{
	size_t		number = (size_t) (c - law->cells);
	uint64_t	a = law->total[number] - (number > 0 ? law->total[number - 1] : 0);
	int32_t		above = law->scale - c->depth;
	int32_t		scale = above > 0 ? above : 0;
	uint64_t	first = pe_bits_next64(bits);
	double		low = (double) first * 0x1p-64;
	double		whole = exponent(law, value);
	double		x = whole - (double) law->shift;
	double		estimate = x < LARGEST_EXPONENT ? ldexp(exp(-x), scale) / (double) a : 0;
	double		relative = law->margin + 4 * EXPONENT_ERROR * whole;
	pe_lazy_answer answer = PE_LAZY_UNSURE;

	if (!all_zero(bits, -above))
		return false;
	if (relative < LARGEST_MARGIN)
	{
		if (estimate > 1 + relative)
			pe_bug("a cell weighs more than its bound");
		answer = pe_lazy_quick(low, low, estimate, relative);
	}
	if (answer != PE_LAZY_UNSURE)
		return answer == PE_LAZY_YES;
	return accept_exactly(law, a, (uint32_t) scale, value, first, bits);
}

/* Whether a point of the cell is drawn and accepted. */
static bool
propose(const pe_lattice_law *law, const cell *c, pe_bits *bits, int64_t *at, int64_t *value)
{
	draw_point(law, c, bits, at);
	if (value_at(law, c, LIMIT, at) > 0)
		return false;
	for (int k = 0; k < SCORES; k++)
		value[k] = value_at(law, c, k, at);
	return accept(law, c, value, bits);
}

/* What was proposed before a poll was rejected: nothing that matters is drawn yet. */
uint64_t
pe_lattice_law_draw(const pe_lattice_law *law, pe_bits *bits, int64_t *at)
{
	int64_t		value[FACES];
	const cell *c = draw_cell(law, bits);
	double		done = 0;
	uint64_t	proposals = 1;

	while (!propose(law, c, bits, at, value))
	{
		done += work_of_proposal(law, c);
		if (done >= POLL_WORK)
		{
			done = 0;
			pe_poll();
		}
		c = draw_cell(law, bits);
		proposals++;
	}
	pe_wipe(value, sizeof(value));
	return proposals;
}
