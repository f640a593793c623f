/*
 * affine_lattice.c
 *	  A piecewise affine function on a lattice, in integers.  See affine_lattice.h.
 *
 * Products of two doubles are made exactly, as integers of 106 bits with an exponent,
 * and rounded once, to the unit of a sum.  So nothing overflows on the way for any
 * sizes of slopes and box, and which way a number was rounded is certain.
 */
#include "affine/affine_lattice.h"

#include <math.h>
#include <string.h>

/* The largest X. */
#define LAST ((INT64_C(1) << PE_LATTICE_BITS) - 1)

/* A row's terms over the box stay below 2^RANGE_BITS in all, those at its origin below 2^BASE_BITS. */
#define RANGE_BITS 58
#define BASE_BITS 100

/* The right side of an inequality is cut to this: the left side never gets there. */
#define SIDE_MOST ((pe_i128) 1 << 59)

/* A rounded product is cut to 2^PRODUCT_BITS: only the right side of an inequality can be so large. */
#define PRODUCT_BITS 126

/* A point in doubles is that near to the real one: round_inequality. */
#define POINT_ERROR 0x1p-50

/* Up to so many times the width from the box a point outside has a number. */
#define OUTSIDE (INT64_C(1) << (PE_LATTICE_BITS + 8))

/* ------------------------------------------------------------------
 * Exact products
 * ------------------------------------------------------------------
 */

/* mantissa 2^exponent, |mantissa| <= 2^106 */
typedef struct product
{
	pe_i128		mantissa;
	int32_t		exponent;
} product;

typedef enum rounding
{
	DOWN,
	NEAREST,
	UP
} rounding;

static product
multiply(double a, double b)
{
	int			ea;
	int			eb;
	int64_t		ma = (int64_t) ldexp(frexp(a, &ea), 53);
	int64_t		mb = (int64_t) ldexp(frexp(b, &eb), 53);

	return (product) {(pe_i128) ma * mb, ea + eb - 106};
}

/* The mantissa times 2^shift, cut. */
static pe_i128
shift_left(pe_i128 mantissa, int32_t shift)
{
	const pe_i128 most = (pe_i128) 1 << PRODUCT_BITS;

	if (mantissa == 0)
		return 0;
	if (shift >= PRODUCT_BITS || mantissa >= most >> shift || mantissa <= -(most >> shift))
		return mantissa > 0 ? most : -most;
	return mantissa * ((pe_i128) 1 << shift);
}

/* p / 2^unit, rounded. */
static pe_i128
round_product(product p, int32_t unit, rounding way)
{
	int32_t		shift = unit - p.exponent;
	pe_i128		down;

	if (shift <= 0)
		return shift_left(p.mantissa, -shift);
	if (shift > PRODUCT_BITS)
		shift = PRODUCT_BITS;
	if (way == NEAREST)
		return (p.mantissa + ((pe_i128) 1 << (shift - 1))) >> shift;
	down = p.mantissa >> shift;
	return way == UP && down * ((pe_i128) 1 << shift) != p.mantissa ? down + 1 : down;
}

/* The least e with sum_j |a_j x_j| <= 2^e, up to the sum's rounding; NOTHING if it is 0. */
#define NOTHING (INT32_MIN / 2)

static int32_t
bits_of_sum(int32_t count, const double *a, const double *x)
{
	int32_t		top = NOTHING;
	double		sum = 0;
	double		part;
	int			ea;
	int			ex;

	for (int32_t j = 0; j < count; j++)
	{
		part = frexp(a[j], &ea) * frexp(x[j], &ex);
		if (part != 0 && ea + ex > top)
			top = ea + ex;
	}
	for (int32_t j = 0; j < count; j++)
	{
		part = frexp(a[j], &ea) * frexp(x[j], &ex);
		if (part != 0)
			sum += ldexp(fabs(part), ea + ex - top);
	}
	if (sum == 0)
		return NOTHING;
	part = frexp(sum, &ea);
	return top + (part == 0.5 ? ea - 1 : ea);
}

static int32_t
larger(int32_t a, int32_t b)
{
	return a > b ? a : b;
}

/* ------------------------------------------------------------------
 * The lattice
 * ------------------------------------------------------------------
 */

/* What the units of rows are chosen by. */
typedef struct box
{
	int32_t		variables;
	double		half[PE_AFFINE_VARIABLES];	/* of the width: the width itself may be no double */
	double		far[PE_AFFINE_VARIABLES];	/* the largest absolute value of a coordinate */
} box;

static void
measure_box(box *b, const double *lower, const double *upper, int32_t variables)
{
	b->variables = variables;
	for (int32_t j = 0; j < variables; j++)
	{
		if (!isfinite(lower[j]) || !isfinite(upper[j]) || lower[j] > upper[j])
			pe_bug("a lattice of a box that is none");
		b->half[j] = upper[j] / 2 - lower[j] / 2;
		b->far[j] = fmax(fabs(lower[j]), fabs(upper[j]));
	}
}

/* The least unit for a row. */
static int32_t
unit_of_row(const box *b, const double *row)
{
	return larger(bits_of_sum(b->variables, row, b->half) + 1 - RANGE_BITS,
				  bits_of_sum(b->variables, row, b->far) - BASE_BITS);
}

static void
divide_box(pe_affine_lattice *lattice, const box *b, const double *lower, const double *upper)
{
	size_t		size = (size_t) b->variables * sizeof(double);

	memcpy(lattice->origin, lower, size);
	memcpy(lattice->end, upper, size);
	for (int32_t j = 0; j < b->variables; j++)
		lattice->step[j] = 2 * (b->half[j] / (double) LAST);
}

static void
round_rows(pe_affine_lattice *lattice, const pe_affine *f)
{
	int32_t		d = f->variables;
	int32_t		unit = lattice->unit;
	int32_t		coarser = unit - f->unit;

	for (int32_t i = 0; i < f->rows; i++)
	{
		const double *a = f->slope + (size_t) i * (size_t) d;
		int64_t    *slope = lattice->slope + (size_t) i * (size_t) d;

		for (int32_t j = 0; j < d; j++)
		{
			slope[j] = (int64_t) round_product(multiply(a[j], lattice->step[j]), unit, NEAREST);
			lattice->base[i] += round_product(multiply(a[j], lattice->origin[j]), unit, NEAREST);
		}
		/* rounds down */
		lattice->offset[i] = f->offset[i] >> (coarser < 127 ? coarser : 127);
	}
}

/*
 * G.X <= H for g.x <= h in units of 2^s.  G is rounded up and X is not negative, so that
 * G.X is at least g.(x - origin) / 2^s; H is rounded down.  With F the larger end of a
 * coordinate in absolute value, what doubles make of it is within 2^-50 F = POINT_ERROR F
 * of origin + X step: 2^-52 F from X step, 2^-53 F from the sum, and where the last point
 * is the end itself, 2^-51 F from the two roundings of the step.
 */
static void
round_inequality(const pe_affine_lattice *lattice, const box *b, const double *row, int64_t *rounded)
{
	int32_t		d = b->variables;
	int32_t		unit = unit_of_row(b, row);
	pe_i128		side;

	/* a row of zeros holds everywhere or nowhere, in any unit */
	if (unit < NOTHING / 2)
		unit = 0;
	side = round_product(multiply(row[d], 1), unit, DOWN);
	for (int32_t j = 0; j < d; j++)
	{
		rounded[j] = (int64_t) round_product(multiply(row[j], lattice->step[j]), unit, UP);
		side -= round_product(multiply(row[j], lattice->origin[j]), unit, UP);
		side -= round_product(multiply(fabs(row[j]), b->far[j] * POINT_ERROR), unit, UP);
	}
	rounded[d] = (int64_t) (side > SIDE_MOST ? SIDE_MOST : side < -SIDE_MOST ? -SIDE_MOST : side);
}

static void
alloc_rows(pe_affine_lattice *lattice)
{
	size_t		d = (size_t) lattice->variables;
	size_t		rows = (size_t) lattice->rows;

	lattice->slope = pe_alloc(rows * d, sizeof(*lattice->slope));
	lattice->base = pe_alloc(rows, sizeof(*lattice->base));
	lattice->offset = pe_alloc(rows, sizeof(*lattice->offset));
	lattice->inequality = pe_alloc((size_t) lattice->inequalities * (d + 1), sizeof(*lattice->inequality));
}

void
pe_affine_lattice_init(pe_affine_lattice *lattice, const pe_affine *f, const pe_polytope *set,
					   const double *lower, const double *upper, double max_change)
{
	size_t		d = (size_t) f->variables;
	box			b;

	memset(lattice, 0, sizeof(*lattice));
	lattice->variables = f->variables;
	lattice->rows = f->rows;
	lattice->inequalities = set->inequalities;
	lattice->unit = f->unit;
	measure_box(&b, lower, upper, f->variables);
	divide_box(lattice, &b, lower, upper);
	for (int32_t i = 0; i < f->rows; i++)
		lattice->unit = larger(lattice->unit, unit_of_row(&b, f->slope + (size_t) i * d));
	lattice->change = pe_affine_change(max_change, lattice->unit);
	alloc_rows(lattice);
	round_rows(lattice, f);
	for (int32_t k = 0; k < set->inequalities; k++)
		round_inequality(lattice, &b, set->inequality + (size_t) k * (d + 1),
						 lattice->inequality + (size_t) k * (d + 1));
}

void
pe_affine_lattice_free(pe_affine_lattice *lattice)
{
	pe_wipe(lattice->offset, (size_t) lattice->rows * sizeof(*lattice->offset));
	pe_free(lattice->offset);
	pe_free(lattice->base);
	pe_free(lattice->slope);
	pe_free(lattice->inequality);
	memset(lattice, 0, sizeof(*lattice));
}

size_t
pe_affine_lattice_memory(int32_t variables, int32_t rows, int32_t inequalities)
{
	size_t		d = (size_t) variables;

	return (size_t) rows * (d * sizeof(int64_t) + 2 * sizeof(pe_i128)) +
		(size_t) inequalities * (d + 1) * sizeof(int64_t);
}

/* ------------------------------------------------------------------
 * Points
 * ------------------------------------------------------------------
 */
void
pe_lattice_point(const pe_affine_lattice *lattice, const int64_t *at, double *x)
{
	for (int32_t j = 0; j < lattice->variables; j++)
	{
		if (at[j] <= 0)
			x[j] = lattice->origin[j];
		else if (at[j] >= LAST)
			x[j] = lattice->end[j];
		else
			x[j] = fmin(lattice->origin[j] + (double) at[j] * lattice->step[j], lattice->end[j]);
	}
}

void
pe_lattice_nearest(const pe_affine_lattice *lattice, const double *x, int64_t *at)
{
	for (int32_t j = 0; j < lattice->variables; j++)
	{
		double		steps = (x[j] - lattice->origin[j]) / lattice->step[j];

		if (lattice->step[j] == 0)
			steps = 0;
		at[j] = (int64_t) rint(fmax(-(double) OUTSIDE, fmin((double) (LAST + OUTSIDE), steps)));
	}
}

/* ------------------------------------------------------------------
 * Scores
 * ------------------------------------------------------------------
 */
static pe_i128
product_with(int32_t count, const int64_t *row, const int64_t *at)
{
	pe_i128		sum = 0;

	for (int32_t j = 0; j < count; j++)
		sum += (pe_i128) row[j] * at[j];
	return sum;
}

/* A_i . X and what it has at the origin: all that is public of a row. */
static pe_i128
public_row(const pe_affine_lattice *lattice, int32_t row, const int64_t *at)
{
	const int64_t *slope = lattice->slope + (size_t) row * (size_t) lattice->variables;

	return product_with(lattice->variables, slope, at) + lattice->base[row];
}

pe_i128
pe_lattice_row(const pe_affine_lattice *lattice, int32_t row, const int64_t *at)
{
	return public_row(lattice, row, at) + lattice->offset[row];
}

bool
pe_lattice_inside(const pe_affine_lattice *lattice, const int64_t *at)
{
	const int64_t *row = lattice->inequality;

	for (int32_t k = 0; k < lattice->inequalities; k++, row += lattice->variables + 1)
		if (product_with(lattice->variables, row, at) > row[lattice->variables])
			return false;
	return true;
}
