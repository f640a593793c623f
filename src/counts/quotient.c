/*
 * quotient.c
 *	  Errors of what is linear in independent noise, and of quotients.  See quotient.h.
 */
#include "counts/quotient.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "noise/interval.h"

/* ------------------------------------------------------------------
 * Linear errors
 * ------------------------------------------------------------------
 */

/*
 * Noise is on a lattice of 2^-20 of a deviation and less: so much wider is an
 * interval of one number, and of many added up.
 */
#define ONE (1 + 1e-6)
#define MANY (1 + 2.4e-5)

/* Partial fractions of more parts lose too many digits. */
#define MOST_EXACT 8

/*
 * P[|S| > h] of a sum of Laplace numbers of different scales is sum_i c_i exp(-h / a_i), c_i = prod over j of
 * a_i^2 / (a_i^2 - a_j^2) (partial fractions of the characteristic function).
 */
static double
laplace_tail(const double *scale, int count, double h)
{
	double		tail = 0;

	for (int i = 0; i < count; i++)
	{
		double		c = 1;

		for (int j = 0; j < count; j++)
			if (j != i)
				c *= scale[i] * scale[i] / (scale[i] * scale[i] - scale[j] * scale[j]);
		tail += c * exp(-h / scale[i]);
	}
	return tail;
}

static int
compare_numbers(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

/*
 * Scales that differ: small ones, which matter little, and those too close to the one before are made a little
 * larger, which makes the interval wider.
 */
static void
spread(double *scale, int count)
{
	qsort(scale, (size_t) count, sizeof(*scale), compare_numbers);
	for (int i = 0; i < count; i++)
		scale[i] = fmax(scale[i], (i == 0 ? scale[count - 1] * 1e-3 : scale[i - 1]) * 1.02);
}

static double
laplace_half(const pe_error_law *law, const double *part, int parts, double error)
{
	double		scale[MOST_EXACT];
	double		low = 0;
	double		high = law->several * error;

	for (int i = 0; i < parts; i++)
		scale[i] = fabs(part[i]) / sqrt(2);
	spread(scale, parts);
	while (high - low > 1e-9 * high)
	{
		double		middle = (low + high) / 2;

		if (laplace_tail(scale, parts, middle) > law->miss)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/* The standard deviation of a sum of parts, whose square may be beyond all numbers. */
static double
length_of(const double *part, int parts)
{
	double		length = 0;

	for (int i = 0; i < parts; i++)
		length = hypot(length, part[i]);
	return length;
}

/* P[|X| > h] of one Laplace number is exp(-sqrt(2) h). */
pe_error_law
pe_error_law_of(bool laplace, double miss)
{
	double		normal = pe_normal_half(miss);

	return (pe_error_law) {
		.laplace = laplace, .miss = miss, .one = laplace ? ONE * log(1 / miss) / sqrt(2) : MANY * normal,
		.several = MANY * (laplace ? pe_laplace_sum_half(miss) : normal), .halved = pe_normal_half(miss / 2) / normal
	};
}

double
pe_error_most(const pe_error_law *law, int parts)
{
	return law->factor > 0 ? law->factor : parts == 1 ? law->one : law->several;
}

static bool
is_exact(const pe_error_law *law, int parts)
{
	return law->factor == 0 && law->laplace && parts > 1 && parts <= MOST_EXACT;
}

double
pe_error_half(const pe_error_law *law, const double *part, int parts)
{
	double		error = length_of(part, parts);

	if (error > 0 && is_exact(law, parts))
		return laplace_half(law, part, parts, error);
	return error > 0 ? pe_error_most(law, parts) * error : 0;
}

/* ------------------------------------------------------------------
 * Quotients
 * ------------------------------------------------------------------
 */

/*
 * At r = a/b + d the error of a - r b has the parts b (slope_i - d below_i),
 * slope those of the delta method: the set is |d| <= h(d), h of the parts
 * slope_i - d below_i.  All in units of the largest slope.
 */
typedef struct fieller
{
	const pe_error_law *law;
	int			parts;
	double	   *slope;
	double	   *below;			/* relative to b */
	double	   *room;
	double		unit;
} fieller;

static double
half_at(const fieller *f, double d)
{
	for (int i = 0; i < f->parts; i++)
		f->room[i] = f->slope[i] - d * f->below[i];
	return pe_error_half(f->law, f->room, f->parts);
}

/* h(d) <= h(0) + |d| h of b alone, which is below 1. */
static double
beyond(const fieller *f)
{
	return half_at(f, 0) / (1 - pe_error_half(f->law, f->below, f->parts));
}

/*
 * h(d) - |d| is convex, not below 0 at 0 and not above it at the bound.  spread() makes some h a little
 * larger, which may leave the bound inside: it is doubled then.  What is returned is not inside of the set.
 */
static double
end_by_search(const fieller *f, int side)
{
	double		in = 0;
	double		out = beyond(f);

	for (; out < 1e300 && half_at(f, side * out) > out; out *= 2)
		in = out;
	while (out - in > 1e-7 * out)
	{
		double		middle = (in + out) / 2;

		if (half_at(f, side * middle) >= middle)
			in = middle;
		else
			out = middle;
	}
	return side * out;
}

/* Where h is z standard deviations: (1 - z^2 b^2) d^2 + 2 z^2 (s b) d = z^2 s^2. */
static double
end_by_root(const fieller *f, int side)
{
	double		z = pe_error_most(f->law, f->parts);
	double		ss = 0;
	double		sb = 0;
	double		bb = 0;
	double		left;

	for (int i = 0; i < f->parts; i++)
	{
		ss += f->slope[i] * f->slope[i];
		sb += f->slope[i] * f->below[i];
		bb += f->below[i] * f->below[i];
	}
	left = 1 - z * z * bb;
	return (side * z * sqrt(z * z * sb * sb + left * ss) - z * z * sb) / left;
}

static double
end_of(const fieller *f, int side)
{
	return is_exact(f->law, f->parts) ? end_by_search(f, side) : end_by_root(f, side);
}

static void
begin(fieller *f, const pe_error_law *law, const pe_linear_estimate *above, const pe_linear_estimate *below, int parts)
{
	size_t		count = (size_t) parts;
	double		b = below->value;

	*f = (fieller) {.law = law, .parts = parts, .slope = pe_alloc(3 * count + 1, sizeof(double))};
	f->below = f->slope + count;
	f->room = f->below + count;
	for (int i = 0; i < parts; i++)
	{
		f->below[i] = below->part[i] / b;
		f->slope[i] = above->part[i] / b - above->value / b * f->below[i];
		f->unit = fmax(f->unit, fabs(f->slope[i]));
	}
	for (int i = 0; i < parts && f->unit > 0; i++)
		f->slope[i] /= f->unit;
}

static bool
is_bounded(const fieller *f, double b)
{
	return b != 0 && pe_error_half(f->law, f->below, f->parts) < 1;
}

void
pe_quotient_of(const pe_error_law *law, const pe_linear_estimate *above,
			   const pe_linear_estimate *below, int parts, pe_quotient *quotient)
{
	fieller		f;

	begin(&f, law, above, below, parts);
	*quotient = (pe_quotient) {NAN, NAN, -INFINITY, INFINITY};
	if (is_bounded(&f, below->value))
	{
		double		estimate = above->value / below->value;

		*quotient = (pe_quotient) {
			estimate, f.unit * length_of(f.slope, parts), estimate + f.unit * end_of(&f, -1),
			estimate + f.unit * end_of(&f, 1)
		};
	}
	pe_free(f.slope);
}
