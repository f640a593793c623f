/*
 * test_affine.c
 *	  Offsets as integers and scores on a lattice: against exact arithmetic, and how far
 *	  they move when offsets do.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "affine/affine_lattice.h"
#include "affine/affine.h"
#include "lattice_scores.h"
#include "numbers.h"
#include "shim.h"

#define LAST ((INT64_C(1) << PE_LATTICE_BITS) - 1)

#define cases(count) fewer(count, 20)

/* A double of any size within 2^-range .. 2^range, either sign. */
static double
any_double(int range)
{
	double		x = ldexp(1 + random_unit(), (int) (random_word() % (2 * (uint64_t) range)) - range);

	return random_word() % 2 == 0 ? x : -x;
}

/* ------------------------------------------------------------------
 * Offsets
 * ------------------------------------------------------------------
 */

/* floor(value / 2^unit) bit by bit, where it is below 2^100. */
static pe_i128
slow_floor(double value, int32_t unit)
{
	int			exponent;
	pe_i128		mantissa = (pe_i128) ldexp(frexp(value, &exponent), 53);

	for (exponent -= 53; exponent > unit; exponent--)
		mantissa *= 2;
	for (; exponent < unit; exponent++)
		mantissa = mantissa >= 0 ? mantissa / 2 : -((1 - mantissa) / 2);
	return mantissa;
}

static void
test_offset(void **state)
{
	const double most = ldexp(1, 100);

	(void) state;
	pe_test_seed(1);
	for (int c = 0; c < 20000; c++)
	{
		double		value = any_double(300);
		int			exponent;
		int32_t		unit;

		frexp(value, &exponent);
		/* the quotient from 2^-10 to 2^100 */
		unit = exponent - 100 + (int32_t) (random_word() % 111);
		assert_true(pe_affine_offset(value, unit) == slow_floor(value, unit));
		unit = exponent - 101 - (int32_t) (random_word() % 100);
		assert_true(pe_affine_offset(value, unit) == (value > 0 ? PE_OFFSET_MOST : -PE_OFFSET_MOST));
	}
	assert_true(pe_affine_offset(NAN, 0) == -PE_OFFSET_MOST);
	assert_true(pe_affine_offset(INFINITY, 0) == PE_OFFSET_MOST);
	assert_true(pe_affine_offset(-INFINITY, 0) == -PE_OFFSET_MOST);
	assert_true(pe_affine_offset(most, 0) == PE_OFFSET_MOST && pe_affine_offset(-most, 0) == -PE_OFFSET_MOST);
	assert_true(pe_affine_offset(DBL_MAX, -1113) == PE_OFFSET_MOST);
	/* rounded down, not towards 0, however small */
	assert_true(pe_affine_offset(-DBL_TRUE_MIN, 984) == -1 && pe_affine_offset(DBL_TRUE_MIN, 984) == 0);
	assert_true(pe_affine_offset(-DBL_TRUE_MIN, -1074) == -1 && pe_affine_offset(-3 * DBL_TRUE_MIN, -1073) == -2);
	assert_true(pe_affine_offset(0.0, -1113) == 0 && pe_affine_offset(0.0, 984) == 0);
	assert_true(pe_affine_offset(0.0, 0) == 0 && pe_affine_offset(-0.0, 0) == 0 && pe_affine_offset(-1.0, 0) == -1);
	pe_test_unseed();
}

static void
test_offset_of_int(void **state)
{
	(void) state;
	pe_test_seed(2);
	for (int c = 0; c < 20000; c++)
	{
		int64_t		value = (int64_t) random_word() >> (11 + random_word() % 53);
		int32_t		unit = (int32_t) (random_word() % 400) - 200;

		/* whole numbers of 53 bits are doubles */
		assert_true(pe_affine_offset_of_int(value, unit) == pe_affine_offset((double) value, unit));
	}
	assert_true(pe_affine_offset_of_int(INT64_MIN, 0) == INT64_MIN && pe_affine_offset_of_int(INT64_MAX, 0) == INT64_MAX);
	assert_true(pe_affine_offset_of_int(INT64_MAX, 1) == INT64_MAX / 2);
	assert_true(pe_affine_offset_of_int(INT64_MIN, -37) == -PE_OFFSET_MOST);
	assert_true(pe_affine_offset_of_int(INT64_MAX, -37) == ((pe_i128) INT64_MAX << 37));
	assert_true(pe_affine_offset_of_int(INT64_MAX, -38) == PE_OFFSET_MOST);
	assert_true(pe_affine_offset_of_int(1, -1113) == PE_OFFSET_MOST && pe_affine_offset_of_int(0, -1113) == 0);
	assert_true(pe_affine_offset_of_int(-1, 984) == -1);
	pe_test_unseed();
}

static void
no_change(void *change)
{
	pe_affine_unit(*(double *) change);
}

/* (D - 1) 2^unit < max_change <= D 2^unit, exactly, for the unit of its own and for coarser ones. */
static void
test_change(void **state)
{
	double		refused[] = {0, -1, NAN, INFINITY};
	double		changes[] = {1, 0.1, 1e-4, 3, 1e300, DBL_MAX, DBL_MIN, DBL_TRUE_MIN, 5 * DBL_TRUE_MIN, 1 - 0x1p-53, 1 + 0x1p-52};

	(void) state;
	pe_test_seed(3);
	for (int c = 0; c < 5000; c++)
	{
		double		change = c < 11 ? changes[c] : fabs(any_double(1000));
		int32_t		unit = pe_affine_unit(change);
		uint64_t	units = pe_affine_change(change, unit);

		assert_true(units >= UINT64_C(1) << 39 && units <= UINT64_C(1) << 40);
		for (int32_t coarser = 0; coarser < 50; coarser++)
		{
			units = pe_affine_change(change, unit + coarser);
			assert_true(units >= 1);
			/* ceil(x) = n if and only if floor(-x) = -n */
			assert_true(slow_floor(-change, unit + coarser) == -(pe_i128) units);
		}
	}
	for (int c = 0; c < 4; c++)
		assert_true(pe_test_is_bug(no_change, &refused[c]));
	pe_test_unseed();
}

/* Is |to - b| <= change in real numbers?  The difference of the doubles and what it rounds off (Knuth). */
static bool
is_within(double to, double b, double change)
{
	double		difference = to - b;
	double		part = difference - to;
	double		rest = (to - (difference - part)) - (b + part);

	if (fabs(difference) != change)
		return fabs(difference) < change;
	return difference > 0 ? rest <= 0 : rest >= 0;
}

/* b moved by at most change, often by nearly all of it. */
static double
moved(double b, double change)
{
	double		by = random_word() % 2 == 0 ? change : change * random_unit();
	double		to = random_word() % 2 == 0 ? b + by : b - by;

	while (!is_within(to, b, change))
		to = nextafter(to, b);
	return to;
}

/* No offset moves by more than its change, and some do by all of it. */
static void
test_offset_sensitivity(void **state)
{
	const double sizes[] = {0, 1e-6, 1, 1e3, 1e9};
	const double changes[] = {1, 0.1, 1e-4, 1.0 / 3, 7, 0x1.fffffffffffffp-3};

	(void) state;
	pe_test_seed(4);
	for (size_t c = 0; c < sizeof(changes) / sizeof(changes[0]); c++)
	{
		int32_t		unit = pe_affine_unit(changes[c]);
		pe_i128		change = (pe_i128) pe_affine_change(changes[c], unit);
		pe_i128		largest = 0;

		for (int n = 0; n < 4000; n++)
		{
			double		b = sizes[n % 5] * (2 * random_unit() - 1);
			double		to = moved(b, changes[c]);
			pe_i128		by = pe_affine_offset(to, unit) - pe_affine_offset(b, unit);

			by = by < 0 ? -by : by;
			assert_true(by <= change);
			largest = by > largest ? by : largest;
		}
		assert_true(largest == change);
	}
	pe_test_unseed();
}

/* ------------------------------------------------------------------
 * Rows
 * ------------------------------------------------------------------
 */
static void
test_rows(void **state)
{
	pe_affine	f;
	double		slope[3];
	double		x[3] = {0.5, -2, 4};
	double		offset[1000];
	double		most = -INFINITY;
	pe_plain_affine plain = {3, 0, NULL, offset};

	(void) state;
	pe_test_memory();
	pe_affine_init(&f, 3, -40);
	assert_true(pe_affine_value(&plain, x) == -INFINITY);
	for (int i = 0; i < 1000; i++)
	{
		for (int j = 0; j < 3; j++)
			slope[j] = sin(7 * i + j);
		offset[i] = cos(i);
		most = fmax(most, offset[i] + slope[0] * x[0] + slope[1] * x[1] + slope[2] * x[2]);
		pe_affine_add(&f, slope, i - 500);
	}
	assert_true(pe_test_memory() <= pe_affine_memory(3, 1000));
	assert_int_equal(f.rows, 1000);
	for (int i = 0; i < 1000; i++)
	{
		assert_true(f.offset[i] == i - 500);
		assert_true(f.slope[3 * i + 2] == sin(7 * i + 2));
	}
	plain.rows = f.rows;
	plain.slope = f.slope;
	assert_true(fabs(pe_affine_value(&plain, x) - most) < 1e-12);
	plain.offset = NULL;
	assert_true(pe_affine_value(&plain, x) < most);
	pe_affine_free(&f);
	assert_int_equal(f.rows, 0);
}

/* ------------------------------------------------------------------
 * Lattices
 * ------------------------------------------------------------------
 */
typedef struct instance
{
	pe_affine	f;
	pe_affine_lattice lattice;
	pe_polytope set;
	double		lower[PE_AFFINE_VARIABLES];
	double		upper[PE_AFFINE_VARIABLES];
	double		offset[64];
	double		inequality[8 * (PE_AFFINE_VARIABLES + 1)];
	double		max_change;
} instance;

/* Boxes of several sizes and places. */
static void
random_box(instance *i, int32_t d)
{
	for (int32_t j = 0; j < d; j++)
	{
		double		width = 1;
		double		from = -0.5;

		switch (random_word() % 6)
		{
			case 0:
				width = fabs(any_double(20));
				from = -random_unit() * width;
				break;
			case 1:
				from = 1e12;
				break;
			case 2:
				width = 2e9;
				from = -1e9;
				break;
			case 3:
				width = 1e-6;
				from = -3;
				break;
		}
		i->lower[j] = from;
		i->upper[j] = from + width;
	}
}

/* Inequalities through points of the box. */
static void
random_inequalities(instance *i, int32_t d, int32_t count)
{
	i->set = (pe_polytope) {d, count, i->lower, i->upper, i->inequality};
	for (int32_t k = 0; k < count; k++)
	{
		double	   *row = i->inequality + k * (d + 1);

		row[d] = 0;
		for (int32_t j = 0; j < d; j++)
		{
			row[j] = random_word() % 5 == 0 ? 0 : (2 * random_unit() - 1) / (i->upper[j] - i->lower[j]);
			row[d] += row[j] * (i->lower[j] + random_unit() * (i->upper[j] - i->lower[j]));
		}
	}
}

static void
instance_init(instance *i, int32_t d, int32_t rows, double size, double max_change)
{
	double		slope[PE_AFFINE_VARIABLES];

	i->max_change = max_change;
	pe_affine_init(&i->f, d, pe_affine_unit(max_change));
	random_box(i, d);
	random_inequalities(i, d, (int32_t) (random_word() % 4));
	for (int32_t r = 0; r < rows; r++)
	{
		for (int32_t j = 0; j < d; j++)
			slope[j] = random_word() % 7 == 0 ? 0 : size * (2 * random_unit() - 1);
		i->offset[r] = size * (2 * random_unit() - 1);
		pe_affine_add(&i->f, slope, pe_affine_offset(i->offset[r], i->f.unit));
	}
	pe_affine_lattice_init(&i->lattice, &i->f, &i->set, i->lower, i->upper, max_change);
}

static void
instance_free(instance *i)
{
	pe_affine_lattice_free(&i->lattice);
	pe_affine_free(&i->f);
}

static void
random_point(int32_t d, int64_t *at)
{
	for (int32_t j = 0; j < d; j++)
		at[j] = random_word() % 5 == 0 ? (random_word() % 2 == 0 ? 0 : LAST) : (int64_t) (random_word() & (uint64_t) LAST);
}

/* Everything is as small as the header says. */
static void
assert_ranges(const instance *i)
{
	const pe_affine_lattice *l = &i->lattice;
	int32_t		d = l->variables;

	assert_true(l->unit >= i->f.unit);
	assert_true(l->change == pe_affine_change(i->max_change, l->unit));
	for (int32_t r = 0; r < l->rows; r++)
	{
		pe_i128		sum = 0;
		pe_i128		base = l->base[r] < 0 ? -l->base[r] : l->base[r];

		for (int32_t j = 0; j < d; j++)
			sum += (pe_i128) llabs(l->slope[r * d + j]) << PE_LATTICE_BITS;
		assert_true(sum < (pe_i128) 1 << 59);
		assert_true(base < (pe_i128) 1 << 101);
		assert_true(l->offset[r] <= PE_OFFSET_MOST && l->offset[r] >= -PE_OFFSET_MOST);
		assert_true(l->offset[r] == pe_affine_offset(i->offset[r], l->unit));
	}
	for (int32_t k = 0; k < l->inequalities; k++)
	{
		pe_i128		sum = 0;

		for (int32_t j = 0; j < d; j++)
			sum += (pe_i128) llabs(l->inequality[k * (d + 1) + j]) << PE_LATTICE_BITS;
		assert_true(sum < (pe_i128) 1 << 59);
		assert_true(llabs(l->inequality[k * (d + 1) + d]) < INT64_C(1) << 60);
	}
}

/*
 * The unit is no coarser than it must be: a row's range over the box has 57 bits or
 * more, or its terms at the origin 99, or the unit is that of offsets.
 */
static void
assert_fine(const instance *i)
{
	const pe_affine_lattice *l = &i->lattice;
	double		range = 0;
	double		base = 0;

	for (int32_t r = 0; r < l->rows; r++)
	{
		double		wide = 0;
		double		far = 0;

		for (int32_t j = 0; j < l->variables; j++)
		{
			wide += fabs(i->f.slope[r * l->variables + j]) * (i->upper[j] - i->lower[j]);
			far += fabs(i->f.slope[r * l->variables + j]) * fmax(fabs(i->upper[j]), fabs(i->lower[j]));
		}
		range = fmax(range, wide);
		base = fmax(base, far);
	}
	assert_true(l->unit == i->f.unit || range > ldexp(0.999, l->unit + 57) || base > ldexp(0.999, l->unit + 99));
}

/* The score is the function, but for the roundings of slopes and offsets. */
static void
assert_score(const instance *i, const int64_t *at)
{
	const pe_affine_lattice *l = &i->lattice;
	int32_t		d = l->variables;
	double		x[PE_AFFINE_VARIABLES];
	pe_plain_affine plain = {d, l->rows, i->f.slope, i->offset};
	double		value;
	double		size = 0;
	double		tolerance;

	pe_lattice_point(l, at, x);
	value = pe_affine_value(&plain, x);
	for (int32_t r = 0; r < l->rows; r++)
		for (int32_t j = 0; j < d; j++)
			size = fmax(size, fabs(i->f.slope[r * d + j] * x[j]));
	tolerance = ldexp(d, l->unit + PE_LATTICE_BITS - 1) + ldexp(d + 2, l->unit) + size * d * 1e-15;
	assert_true(fabs(ldexp((double) lattice_score(l, at), l->unit) - value) <= tolerance + fabs(value) * 1e-15);
	plain.offset = NULL;
	value = pe_affine_value(&plain, x);
	assert_true(fabs(ldexp((double) lattice_public_score(l, at), l->unit) - value) <= tolerance + fabs(value) * 1e-15);
}

/* Scores by their definition. */
static void
assert_rows(const instance *i, const int64_t *at)
{
	const pe_affine_lattice *l = &i->lattice;
	pe_i128		score = 0;

	for (int32_t r = 0; r < l->rows; r++)
	{
		pe_i128		row = l->base[r] + l->offset[r];

		for (int32_t j = 0; j < l->variables; j++)
			row += (pe_i128) l->slope[r * l->variables + j] * at[j];
		assert_true(pe_lattice_row(l, r, at) == row);
		score = r == 0 || row > score ? row : score;
	}
	assert_true(lattice_score(l, at) == score);
}

static void
assert_points(const instance *i, const int64_t *at)
{
	const pe_affine_lattice *l = &i->lattice;
	double		x[PE_AFFINE_VARIABLES];
	int64_t		back[PE_AFFINE_VARIABLES];

	pe_lattice_point(l, at, x);
	pe_lattice_nearest(l, x, back);
	for (int32_t j = 0; j < l->variables; j++)
	{
		assert_true(x[j] >= i->lower[j] && x[j] <= i->upper[j]);
		assert_true((at[j] != 0 || x[j] == i->lower[j]) && (at[j] != LAST || x[j] == i->upper[j]));
		/* a box at 1e12 of width 1 has fewer doubles than points */
		if (i->upper[j] - i->lower[j] > fmax(fabs(i->lower[j]), fabs(i->upper[j])) * 1e-7)
			assert_true(llabs(back[j] - at[j]) <= (i->upper[j] - i->lower[j] > 1e-3 * fabs(i->lower[j]) ? 0 : 1));
	}
}

static void
test_lattice(void **state)
{
	(void) state;
	pe_test_seed(5);
	for (int c = 0; c < cases(600); c++)
	{
		int32_t		d = 1 + (int32_t) (random_word() % (c % 10 == 0 ? PE_AFFINE_VARIABLES : 5));
		instance	i;
		int64_t		at[PE_AFFINE_VARIABLES];

		instance_init(&i, d, 1 + (int32_t) (random_word() % 20), fabs(any_double(30)), fabs(any_double(30)));
		assert_ranges(&i);
		assert_fine(&i);
		for (int n = 0; n < 30; n++)
		{
			random_point(d, at);
			assert_score(&i, at);
			assert_points(&i, at);
			assert_rows(&i, at);
			for (int32_t j = 0; j < d; j++)
				at[j] = (at[j] - LAST / 2) * 500;
			assert_rows(&i, at);
		}
		instance_free(&i);
	}
	pe_test_unseed();
}

/* The score at a point moves by at most change when all offsets move by at most max_change, and by all of it. */
static void
test_sensitivity(void **state)
{
	const double changes[] = {1, 0.1, 1e-4, 1.0 / 3, 1e-12, 2.5e-11};

	(void) state;
	pe_test_seed(6);
	for (size_t c = 0; c < sizeof(changes) / sizeof(changes[0]); c++)
	{
		double		most = 0;

		for (int n = 0; n < 200; n++)
		{
			bool		all = random_word() % 2 == 0;
			instance	i;
			pe_affine	g;
			pe_affine_lattice other;

			instance_init(&i, 2, 6, 1, changes[c]);
			pe_affine_init(&g, 2, i.f.unit);
			for (int32_t r = 0; r < 6; r++)
				pe_affine_add(&g, i.f.slope + 2 * r,
							  pe_affine_offset(all || r == n % 6 ? moved(i.offset[r], changes[c]) : i.offset[r], i.f.unit));
			pe_affine_lattice_init(&other, &g, &i.set, i.lower, i.upper, changes[c]);
			assert_true(other.unit == i.lattice.unit && other.change == i.lattice.change);
			for (int p = 0; p < 50; p++)
			{
				int64_t		at[2];
				pe_i128		by;

				random_point(2, at);
				by = lattice_score(&other, at) - lattice_score(&i.lattice, at);
				by = by < 0 ? -by : by;
				assert_true(by <= (pe_i128) i.lattice.change);
				assert_true(lattice_public_score(&other, at) == lattice_public_score(&i.lattice, at));
				most = fmax(most, (double) by / (double) i.lattice.change);
			}
			pe_affine_lattice_free(&other);
			pe_affine_free(&g);
			instance_free(&i);
		}
		assert_true(most == 1);
	}
	pe_test_unseed();
}

/* Missing offsets are never the maximum; huge ones stay in range; a value just below and one far below. */
static void
test_missing(void **state)
{
	const double lower[1] = {-1};
	const double upper[1] = {1};
	const double slope[1] = {1e6};
	const double level[1] = {0};
	const double offsets[] = {-1e30, 1e30, INFINITY, -INFINITY, 12345.678};
	pe_polytope set = {1, 0, lower, upper, NULL};
	const int64_t at[1] = {LAST};

	(void) state;
	for (int c = 0; c < 5; c++)
	{
		pe_affine	f;
		pe_affine_lattice lattice;
		int32_t		unit = pe_affine_unit(0.1);

		pe_affine_init(&f, 1, unit);
		pe_affine_add(&f, slope, pe_affine_offset(NAN, unit));
		pe_affine_add(&f, level, pe_affine_offset(offsets[c], unit));
		pe_affine_lattice_init(&lattice, &f, &set, lower, upper, 0.1);
		if (c == 1 || c == 2 || c == 4)
			assert_true(lattice_score(&lattice, at) == pe_lattice_row(&lattice, 1, at));
		assert_true(lattice_public_score(&lattice, at) == lattice.slope[0] * LAST + lattice.base[0]);
		pe_affine_lattice_free(&lattice);
		pe_affine_free(&f);
	}
}

/* The sum of g_j x_j less h, in twice the precision of double. */
static double
excess(int32_t d, const double *row, const double *x)
{
	double		high = -row[d];
	double		low = 0;

	for (int32_t j = 0; j < d; j++)
	{
		double		product = row[j] * x[j];
		double		sum = high + product;
		double		part = sum - high;

		low += fma(row[j], x[j], -product) + (high - (sum - part)) + (product - part);
		high = sum;
	}
	return high + low;
}

/* Points inside by integers are inside as doubles; points inside by a little more than the rounding are inside by integers. */
static void
test_inside(void **state)
{
	int			inside = 0;
	int			outside = 0;

	(void) state;
	pe_test_seed(7);
	for (int c = 0; c < cases(600); c++)
	{
		int32_t		d = 1 + (int32_t) (random_word() % (c % 10 == 0 ? PE_AFFINE_VARIABLES : 4));
		instance	i;

		instance_init(&i, d, 1, 1, 1);
		for (int n = 0; n < 100; n++)
		{
			bool		sure = true;
			bool		holds = true;
			bool		said;
			int64_t		at[PE_AFFINE_VARIABLES];
			double		x[PE_AFFINE_VARIABLES];

			random_point(d, at);
			pe_lattice_point(&i.lattice, at, x);
			for (int32_t k = 0; k < i.set.inequalities; k++)
			{
				const double *row = i.inequality + k * (d + 1);
				double		over = excess(d, row, x);
				double		range = 0;
				double		size = 0;

				for (int32_t j = 0; j < d; j++)
				{
					range += fabs(row[j]) * (i.upper[j] - i.lower[j]);
					size += fabs(row[j]) * fmax(fabs(i.lower[j]), fabs(i.upper[j]));
				}
				holds = holds && over <= 0;
				sure = sure && over <= -(range * (d + 2) * 0x1p-28 + size * 0x1p-48);
			}
			said = pe_lattice_inside(&i.lattice, at);
			assert_true(!said || holds);
			assert_true(!sure || said);
			inside += said;
			outside += !said;
		}
		instance_free(&i);
	}
	assert_true(inside > cases(600) && outside > cases(600));
	pe_test_unseed();
}

/* On the edge of an inequality: points that lie on it, as near as doubles can say. */
static void
test_edge(void **state)
{
	(void) state;
	pe_test_seed(8);
	for (int c = 0; c < cases(20000); c++)
	{
		const double lower[2] = {-random_unit() - 1e-3, random_unit() * 1e3};
		const double upper[2] = {random_unit(), lower[1] + random_unit() + 1e-3};
		const double row[3] = {2 * random_unit() - 1, 2 * random_unit() - 1, 0};
		double		edge[3];
		double		x[2];
		int64_t		at[2];
		pe_affine	f;
		pe_affine_lattice lattice;
		pe_polytope set = {2, 1, lower, upper, edge};

		pe_affine_init(&f, 2, 0);
		memcpy(edge, row, sizeof(edge));
		pe_affine_lattice_init(&lattice, &f, &set, lower, upper, 1e12);
		random_point(2, at);
		pe_lattice_point(&lattice, at, x);
		pe_affine_lattice_free(&lattice);
		/* the inequality ends a last bit before the point */
		edge[2] = row[0] * x[0] + row[1] * x[1];
		while (excess(2, edge, x) <= 0)
			edge[2] = nextafter(edge[2], -INFINITY);
		pe_affine_lattice_init(&lattice, &f, &set, lower, upper, 1e12);
		assert_false(pe_lattice_inside(&lattice, at));
		pe_affine_lattice_free(&lattice);
		pe_affine_free(&f);
	}
	pe_test_unseed();
}

/* Far outside: as far as 2^8 widths, and no farther. */
static void
test_nearest(void **state)
{
	const double lower[1] = {2};
	const double upper[1] = {4};
	const double xs[] = {2, 4, 3, 2 - 2 * 100.0, 4 + 2 * 200.0, 1e9, -1e300, INFINITY};
	const double steps[] = {0, LAST, LAST / 2.0, -100.0 * LAST, LAST + 200.0 * LAST, LAST + 0x1p36, -0x1p36, LAST + 0x1p36};
	pe_polytope set = {1, 0, lower, upper, NULL};
	pe_affine	f;
	pe_affine_lattice lattice;

	(void) state;
	pe_affine_init(&f, 1, 0);
	pe_affine_lattice_init(&lattice, &f, &set, lower, upper, 1e12);
	assert_true(lattice_score(&lattice, (int64_t[]) {5}) == 0 && pe_lattice_inside(&lattice, (int64_t[]) {5}));
	for (size_t c = 0; c < sizeof(xs) / sizeof(xs[0]); c++)
	{
		int64_t		at[1];

		pe_lattice_nearest(&lattice, &xs[c], at);
		assert_true(fabs((double) at[0] - steps[c]) <= 1e-6 * fabs(steps[c]) + 1);
		assert_true(llabs(at[0]) < INT64_C(1) << (PE_LATTICE_BITS + 9));
	}
	pe_affine_lattice_free(&lattice);
	pe_affine_free(&f);
}

/* A box as large as doubles go, with slopes that no product with it is a double of; inequalities of zeros. */
static void
test_huge(void **state)
{
	const double lower[2] = {-DBL_MAX, -1};
	const double upper[2] = {DBL_MAX, 1};
	const double slope[2] = {1e300, 1};
	const double rows[] = {0, 0, -DBL_TRUE_MIN, 1e300, 0, 0, 0, 0, 0};
	pe_polytope set = {2, 1, lower, upper, rows};
	const int64_t middle[2] = {LAST / 2, 0};
	const int64_t right[2] = {LAST / 2 + 100, 0};
	pe_affine	f;
	pe_affine_lattice lattice;

	(void) state;
	pe_affine_init(&f, 2, pe_affine_unit(1));
	pe_affine_add(&f, slope, 0);
	pe_affine_lattice_init(&lattice, &f, &set, lower, upper, 1);
	assert_true(lattice.change == 1 && lattice.slope[0] > 0 && lattice.slope[1] == 0);
	assert_false(pe_lattice_inside(&lattice, middle));
	pe_affine_lattice_free(&lattice);
	set.inequality = rows + 3;
	set.inequalities = 2;
	pe_affine_lattice_init(&lattice, &f, &set, lower, upper, 1);
	assert_true(pe_lattice_inside(&lattice, (int64_t[]) {0, 0}) && !pe_lattice_inside(&lattice, right));
	pe_affine_lattice_free(&lattice);
	pe_affine_free(&f);
}

/* ------------------------------------------------------------------
 * Bytes
 * ------------------------------------------------------------------
 */

/* Whether it is read, from bytes of the right size, and from no others. */
static bool
is_spec(const pe_affine_spec *spec, size_t size)
{
	pe_affine_spec read;
	bool		sound = pe_affine_spec_read(&read, (const char *) spec, size);

	if (sound)
		assert_memory_equal(&read, spec, size);
	assert_false(pe_affine_spec_read(&read, (const char *) spec, size - 1));
	assert_false(pe_affine_spec_read(&read, (const char *) spec, size + 1));
	return sound;
}

static void
test_spec(void **state)
{
	const pe_affine_spec sound = {.variables = 2, .unit = -40, .most = 10, .slope = {{-1, 1, 1}, {0, 0, 0}}};
	const size_t size = PE_AFFINE_SPEC_SIZE(2);
	pe_affine_spec spec = sound;

	(void) state;
	assert_true(is_spec(&spec, size));
#define REFUSED(field, value) (spec = sound, spec.field = (value), assert_false(is_spec(&spec, size)))
	REFUSED(variables, 0);
	REFUSED(variables, -1);
	REFUSED(variables, PE_AFFINE_VARIABLES + 1);
	REFUSED(unit, 1201);
	REFUSED(unit, INT32_MIN);
	REFUSED(most, 0);
	REFUSED(most, INT32_MAX);
	REFUSED(slope[1].lower, NAN);
	REFUSED(slope[1].upper, INFINITY);
	REFUSED(slope[1].lower, 0.5);
#undef REFUSED
}

/* Three rows of which one is wanted and one more kept, written and read; at[] of the bytes is changed if it is told. */
static bool
is_read(size_t at, const void *change, size_t change_size)
{
	const pe_affine_spec spec = {.variables = 1, .most = 1, .slope = {{-1, 1, 1}}};
	const double slope[] = {1, -1, 0.5};
	pe_affine_spec read_spec;
	pe_affine	f;
	pe_affine	read;
	size_t		size;
	char	   *bytes;
	bool		sound;

	pe_affine_init(&f, 1, 0);
	for (int i = 0; i < 3; i++)
		pe_affine_spec_add(&spec, &f, &slope[i], i == 1 ? PE_OFFSET_MOST : i);
	assert_int_equal(f.rows, 2);
	size = pe_affine_rows_size(&spec, &f);
	bytes = pe_alloc(size, 1);
	pe_affine_rows_write(&spec, &f, bytes);
	if (change_size > 0)
		memcpy(bytes + at, change, change_size);
	pe_affine_init(&read, 1, 0);
	sound = pe_affine_rows_spec(&read_spec, bytes, size) && pe_affine_rows_read(&spec, &read, bytes, size);
	assert_int_equal(read.rows, sound ? 2 : 0);
	if (sound)
		assert_true(read.slope[1] == -1 && read.offset[1] == PE_OFFSET_MOST);
	assert_false(pe_affine_rows_spec(&read_spec, bytes, size - 1));
	pe_affine_free(&read);
	pe_affine_free(&f);
	pe_free(bytes);
	return sound;
}

static void
test_state(void **state)
{
	const size_t count = PE_AFFINE_SPEC_SIZE(1);
	const size_t slopes = count + sizeof(uint64_t);
	const size_t offsets = slopes + 2 * sizeof(double);
	const pe_i128 beyond = PE_OFFSET_MOST + 1;
	const pe_i128 below = -PE_OFFSET_MOST - 1;

	(void) state;
	assert_true(is_read(0, NULL, 0));
	assert_false(is_read(count, &(uint64_t) {3}, sizeof(uint64_t)));
	assert_false(is_read(count, &(uint64_t) {UINT64_MAX}, sizeof(uint64_t)));
	assert_false(is_read(slopes + sizeof(double), &(double) {NAN}, sizeof(double)));
	assert_false(is_read(slopes, &(double) {INFINITY}, sizeof(double)));
	assert_false(is_read(offsets + sizeof(pe_i128), &beyond, sizeof(beyond)));
	assert_false(is_read(offsets, &below, sizeof(below)));
	/* another specification */
	assert_false(is_read(offsetof(pe_affine_spec, unit), &(int32_t) {1}, sizeof(int32_t)));
}

/* A worker keeps one row more than are wanted, so a state with more is none. */
static void
test_too_many(void **state)
{
	pe_affine_spec spec = {.variables = 1, .most = 2, .slope = {{-1, 1, 1}}};
	const double slope = 1;
	pe_affine	f;

	(void) state;
	pe_affine_init(&f, 1, 0);
	for (int i = 0; i < 3; i++)
		pe_affine_add(&f, &slope, i);
	for (; spec.most > 0; spec.most--)
	{
		size_t		size = pe_affine_rows_size(&spec, &f);
		char	   *bytes = pe_alloc(size, 1);
		pe_affine_spec read;

		pe_affine_rows_write(&spec, &f, bytes);
		assert_int_equal(pe_affine_rows_spec(&read, bytes, size), spec.most == 2);
		pe_free(bytes);
	}
	pe_affine_free(&f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_offset),
		cmocka_unit_test(test_offset_of_int),
		cmocka_unit_test(test_change),
		cmocka_unit_test(test_offset_sensitivity),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_lattice),
		cmocka_unit_test(test_sensitivity),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_inside),
		cmocka_unit_test(test_edge),
		cmocka_unit_test(test_nearest),
		cmocka_unit_test(test_huge),
		cmocka_unit_test(test_spec),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_state),
	};

	return cmocka_run_group_tests_name("affine", tests, NULL, NULL);
}
