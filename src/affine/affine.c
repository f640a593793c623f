/*
 * affine.c
 *	  Piecewise affine functions: rows and the integers of their offsets.  See affine.h.
 */
#include "affine/affine.h"

#include <math.h>
#include <string.h>

/* An offset moves by at most 2^CHANGE_BITS units. */
#define CHANGE_BITS 40

/* PE_OFFSET_MOST = 2^MOST_BITS. */
#define MOST_BITS 100

/* Rows of the first allocation. */
#define FIRST_ROOM 64

/* ------------------------------------------------------------------
 * Integers
 * ------------------------------------------------------------------
 */

/* max_change = u 2^e with 1/2 <= u < 1, so that max_change / 2^(e - 40) lies from 2^39 to 2^40. */
int32_t
pe_affine_unit(double max_change)
{
	int			exponent;

	if (!isfinite(max_change) || max_change <= 0)
		pe_bug("a change that is not a positive number");
	frexp(max_change, &exponent);
	return exponent - CHANGE_BITS;
}

/* ceil(x) = -floor(-x) */
uint64_t
pe_affine_change(double max_change, int32_t unit)
{
	pe_i128		change = -pe_affine_offset(-max_change, unit);

	if (change < 1 || change > INT64_MAX)
		pe_bug("a change that is out of all proportion to its unit");
	return (uint64_t) change;
}

/*
 * With value = u 2^e, 1/2 <= |u| < 1: the quotient is below 1 in absolute value if
 * e <= unit, and ldexp would round it where it is tiny; else it is a normal number, and
 * ldexp is exact.
 */
pe_i128
pe_affine_offset(double value, int32_t unit)
{
	int			exponent;

	if (isnan(value))
		return -PE_OFFSET_MOST;
	if (isinf(value))
		return value > 0 ? PE_OFFSET_MOST : -PE_OFFSET_MOST;
	frexp(value, &exponent);
	if (value == 0 || exponent <= unit)
		return value < 0 ? -1 : 0;
	if (exponent - unit > MOST_BITS)
		return value > 0 ? PE_OFFSET_MOST : -PE_OFFSET_MOST;
	return (pe_i128) floor(ldexp(value, -unit));
}

/* A shift to the right rounds down. */
pe_i128
pe_affine_offset_of_int(int64_t value, int32_t unit)
{
	int32_t		shift = unit < -MOST_BITS ? MOST_BITS : -unit;
	pe_i128		most;

	if (unit >= 0)
		return value >> (unit < 63 ? unit : 63);
	most = PE_OFFSET_MOST >> shift;
	if (value >= most)
		return PE_OFFSET_MOST;
	if (value <= -most)
		return -PE_OFFSET_MOST;
	return (pe_i128) value * ((pe_i128) 1 << shift);
}

/* ------------------------------------------------------------------
 * Rows
 * ------------------------------------------------------------------
 */
void
pe_affine_init(pe_affine *f, int32_t variables, int32_t unit)
{
	if (variables < 1 || variables > PE_AFFINE_VARIABLES)
		pe_bug("a function of that many variables");
	memset(f, 0, sizeof(*f));
	f->variables = variables;
	f->unit = unit;
}

static void
free_rows(pe_affine *f)
{
	if (f->offset != NULL)
		pe_wipe(f->offset, (size_t) f->room * sizeof(*f->offset));
	pe_free(f->offset);
	pe_free(f->slope);
}

static void
set_room(pe_affine *f, int32_t room)
{
	size_t		d = (size_t) f->variables;
	size_t		rows = (size_t) f->rows;
	double	   *slope = pe_alloc((size_t) room * d, sizeof(*slope));
	pe_i128    *offset = pe_alloc((size_t) room, sizeof(*offset));

	if (rows > 0)
	{
		memcpy(slope, f->slope, rows * d * sizeof(*slope));
		memcpy(offset, f->offset, rows * sizeof(*offset));
	}
	free_rows(f);
	f->slope = slope;
	f->offset = offset;
	f->room = room;
}

void
pe_affine_add(pe_affine *f, const double *slope, pe_i128 offset)
{
	if (f->rows == f->room)
	{
		if (f->room > INT32_MAX / 2)
			pe_bug("too many rows of a function");
		set_room(f, f->room > 0 ? 2 * f->room : FIRST_ROOM);
	}
	memcpy(f->slope + (size_t) f->rows * (size_t) f->variables, slope, (size_t) f->variables * sizeof(*slope));
	f->offset[f->rows++] = offset;
}

void
pe_affine_free(pe_affine *f)
{
	free_rows(f);
	memset(f, 0, sizeof(*f));
}

/* There is room for up to twice the rows, and half of it a second time when it grows. */
size_t
pe_affine_memory(int32_t variables, size_t rows)
{
	return 3 * (rows + FIRST_ROOM) * ((size_t) variables * sizeof(double) + sizeof(pe_i128));
}

double
pe_affine_value(const pe_plain_affine *f, const double *x)
{
	const double *slope = f->slope;
	double		value = -INFINITY;

	for (int32_t i = 0; i < f->rows; i++, slope += f->variables)
	{
		double		sum = f->offset == NULL ? 0 : f->offset[i];

		for (int32_t j = 0; j < f->variables; j++)
			sum += slope[j] * x[j];
		value = fmax(value, sum);
	}
	return value;
}
