/*
 * test_domain.c
 *	  Levels, bins, products of attributes and their written form.
 *
 * Random cases come from a fixed seed, so failures repeat; with PG_EPSILON_QUICK
 * set there are far fewer.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "domain/domain.h"
#include "numbers.h"
#include "shim.h"

/* the least positive double */
#define DENORMAL 4.9406564584124654e-324

/* ---- helpers ---- */

#define cases(count) fewer(count, 100)

static pe_attribute
declare(pe_key key, pe_kind kind, pe_outside outside, pe_nulls nulls, int32_t points)
{
	pe_attribute attribute;

	memset(&attribute, 0, sizeof(attribute));
	attribute.key = key;
	attribute.kind = kind;
	attribute.outside = outside;
	attribute.nulls = nulls;
	attribute.points = points;
	attribute.point = pe_alloc((size_t) points, sizeof(pe_point));
	return attribute;
}

static pe_attribute
ints(pe_kind kind, pe_outside outside, pe_nulls nulls, int32_t points, const int64_t *value)
{
	pe_attribute attribute = declare(PE_KEY_INT, kind, outside, nulls, points);

	for (int32_t i = 0; i < points; i++)
		attribute.point[i].i = value[i];
	return attribute;
}

static pe_attribute
floats(pe_kind kind, pe_outside outside, pe_nulls nulls, int32_t points, const double *value)
{
	pe_attribute attribute = declare(PE_KEY_FLOAT, kind, outside, nulls, points);

	for (int32_t i = 0; i < points; i++)
		attribute.point[i].f = value[i];
	return attribute;
}

typedef struct piece
{
	const char *data;
	uint32_t	size;
} piece;

#define PIECE(literal) {literal, sizeof(literal) - 1}

static pe_attribute
bytes(pe_outside outside, pe_nulls nulls, int32_t points, const piece *value)
{
	pe_attribute attribute = declare(PE_KEY_BYTES, PE_LEVELS, outside, nulls, points);

	for (int32_t i = 0; i < points; i++)
	{
		attribute.point[i].b.data = value[i].data;
		attribute.point[i].b.size = value[i].size;
	}
	return attribute;
}

static pe_attribute
bytes_bins(pe_outside outside, pe_nulls nulls, int32_t points, const piece *value)
{
	pe_attribute attribute = bytes(outside, nulls, points, value);

	attribute.kind = PE_BINS;
	return attribute;
}

/* 0, 1, 2, ... as levels or edges */
static pe_attribute
counted(pe_kind kind, pe_outside outside, pe_nulls nulls, int32_t points)
{
	pe_attribute attribute = declare(PE_KEY_INT, kind, outside, nulls, points);

	for (int32_t i = 0; i < points; i++)
		attribute.point[i].i = i;
	return attribute;
}

static void
drop(pe_attribute *attribute)
{
	pe_free(attribute->lookup);
	pe_free(attribute->point);
}

static pe_domain_status
status_of(pe_attribute attribute)
{
	pe_domain_status status = pe_attribute_prepare(&attribute);

	drop(&attribute);
	return status;
}

static void
prepare(pe_attribute *attribute)
{
	assert_int_equal(pe_attribute_prepare(attribute), PE_DOMAIN_OK);
}

/* ---- levels ---- */

static void
test_int_levels(void **state)
{
	static const int64_t value[] = {7, INT64_MIN, -1, INT64_MAX, 0, 3};
	pe_attribute a = ints(PE_LEVELS, PE_OUTSIDE_DROP, PE_NULLS_DROP, lengthof(value), value);

	(void) state;
	prepare(&a);
	for (int i = 0; i < lengthof(value); i++)
		assert_int_equal(pe_cell_of_int(&a, value[i]), i);
	assert_int_equal(pe_cell_of_int(&a, 1), PE_DROPPED);
	assert_int_equal(pe_cell_of_int(&a, INT64_MAX - 1), PE_DROPPED);
	assert_int_equal(pe_cell_of_null(&a), PE_DROPPED);
	assert_int_equal(pe_attribute_cells(&a), 6);
	assert_false(pe_attribute_is_ordered(&a));
	drop(&a);
}

static void
test_float_levels(void **state)
{
	static const double value[] = {1.5, 0.0, -DBL_MAX, DENORMAL, 0.1};
	pe_attribute a = floats(PE_LEVELS, PE_OUTSIDE_OTHER, PE_NULLS_CELL, lengthof(value), value);

	(void) state;
	prepare(&a);
	for (int i = 0; i < lengthof(value); i++)
		assert_int_equal(pe_cell_of_float(&a, value[i]), i);
	assert_int_equal(pe_cell_of_float(&a, -0.0), 1);
	assert_int_equal(pe_cell_of_float(&a, -DENORMAL), 5);
	assert_int_equal(pe_cell_of_float(&a, INFINITY), 5);
	assert_int_equal(pe_cell_of_float(&a, -INFINITY), 5);
	assert_int_equal(pe_cell_of_float(&a, NAN), 6);
	assert_int_equal(pe_cell_of_float(&a, -NAN), 6);
	assert_int_equal(pe_cell_of_null(&a), 6);
	assert_false(pe_attribute_is_ordered(&a));
	drop(&a);

	a = floats(PE_LEVELS, PE_OUTSIDE_DROP, PE_NULLS_DROP, 2, (double[]) {-0.0, 1});
	prepare(&a);
	assert_int_equal(pe_cell_of_float(&a, 0.0), 0);
	assert_int_equal(pe_cell_of_float(&a, -0.0), 0);
	assert_int_equal(pe_cell_of_float(&a, NAN), PE_DROPPED);
	assert_int_equal(pe_cell_of_float(&a, INFINITY), PE_DROPPED);
	assert_true(pe_attribute_is_ordered(&a));
	drop(&a);
}

static void
test_bytes_levels(void **state)
{
	static const piece value[] = {
		PIECE("b"), PIECE(""), PIECE("a"), PIECE("a\0"), PIECE("a\0b"), PIECE("\0"), PIECE("\xff"), PIECE("A")
	};
	static const piece ascending[] = {
		PIECE(""), PIECE("\0"), PIECE("\0\0"), PIECE("a"), PIECE("a\0"), PIECE("aa"), PIECE("b"), PIECE("\x80")
	};
	pe_attribute a = bytes(PE_OUTSIDE_OTHER, PE_NULLS_DROP, lengthof(value), value);

	(void) state;
	prepare(&a);
	for (int i = 0; i < lengthof(value); i++)
	{
		/* the level is found by its bytes, not by its address, and nothing after them is read */
		char	   *copy = malloc(value[i].size > 0 ? value[i].size : 1);

		memcpy(copy, value[i].data, value[i].size);
		assert_int_equal(pe_cell_of_bytes(&a, copy, value[i].size), i);
		free(copy);
	}
	assert_int_equal(pe_cell_of_bytes(&a, "ab", 2), 8);
	assert_int_equal(pe_cell_of_bytes(&a, "a\0c", 3), 8);
	assert_int_equal(pe_cell_of_bytes(&a, "\0\0", 2), 8);
	/* a size that does not fit 32 bits is no level, though its low bits are those of one */
	assert_int_equal(pe_cell_of_bytes(&a, "", (size_t) UINT32_MAX + 1), 8);
	assert_false(pe_attribute_is_ordered(&a));
	drop(&a);

	a = bytes(PE_OUTSIDE_DROP, PE_NULLS_DROP, lengthof(ascending), ascending);
	prepare(&a);
	assert_true(pe_attribute_is_ordered(&a));
	assert_int_equal(pe_cell_of_bytes(&a, "ab", 2), PE_DROPPED);
	drop(&a);
}

static void
test_levels_brute_force(void **state)
{
	(void) state;
	for (int round = 0; round < cases(300); round++)
	{
		int32_t		n = 1 + random_below(200);
		int64_t		step = round % 3 == 0 ? 1 : round % 3 == 1 ? 4096 : (int64_t) 1 << 32;
		pe_attribute a = declare(PE_KEY_INT, PE_LEVELS, PE_OUTSIDE_OTHER, PE_NULLS_DROP, n);

		for (int32_t i = 0; i < n; i++)
			a.point[i].i = (i - n / 2) * 2 * step;
		for (int32_t i = n - 1; i > 0; i--)
		{
			int32_t		j = random_below(i + 1);
			pe_point	swap = a.point[i];

			a.point[i] = a.point[j];
			a.point[j] = swap;
		}
		prepare(&a);
		for (int32_t i = 0; i < n; i++)
		{
			assert_int_equal(pe_cell_of_int(&a, a.point[i].i), i);
			assert_int_equal(pe_cell_of_int(&a, a.point[i].i + step), n);
		}
		drop(&a);
	}
}

/* Zero among many levels, under either sign. */
static void
test_float_zero_brute_force(void **state)
{
	(void) state;
	for (int round = 0; round < cases(300); round++)
	{
		int32_t		n = 1 + random_below(300);
		int32_t		zero = random_below(n);
		double		unit = round % 2 ? 0.1 : 1;
		pe_attribute a = declare(PE_KEY_FLOAT, PE_LEVELS, PE_OUTSIDE_DROP, PE_NULLS_DROP, n);

		for (int32_t i = 0; i < n; i++)
			a.point[i].f = (i - zero) * unit;
		if (round % 3 == 0)
			a.point[zero].f = -0.0;
		prepare(&a);
		assert_int_equal(pe_cell_of_float(&a, 0.0), zero);
		assert_int_equal(pe_cell_of_float(&a, -0.0), zero);
		for (int32_t i = 0; i < n; i++)
		{
			assert_int_equal(pe_cell_of_float(&a, (i - zero) * unit), i);
			assert_int_equal(pe_cell_of_float(&a, (i - zero + 0.5) * unit), PE_DROPPED);
		}
		drop(&a);
	}
}

/* Strings many of which are beginnings of others, so that they meet in the table. */
static void
test_bytes_brute_force(void **state)
{
	enum
	{
		STRINGS = 255, LONGEST = 7
	};
	char	   *string[STRINGS];
	int			size[STRINGS];
	int			count = 0;

	(void) state;
	/* all strings of up to seven bytes 'a' or zero, each in memory of exactly its size */
	for (int length = 0; length <= LONGEST; length++)
		for (int bits = 0; bits < 1 << length; bits++, count++)
		{
			size[count] = length;
			string[count] = malloc(length > 0 ? (size_t) length : 1);
			for (int i = 0; i < length; i++)
				string[count][i] = bits >> i & 1 ? 'a' : '\0';
		}
	assert_int_equal(count, STRINGS);

	for (int round = 0; round < cases(1000); round++)
	{
		int32_t		cell[STRINGS];
		int			share = 2 + random_below(8);
		pe_attribute a = declare(PE_KEY_BYTES, PE_LEVELS, PE_OUTSIDE_DROP, PE_NULLS_DROP, STRINGS);

		a.points = 0;
		for (int i = 0; i < STRINGS; i++)
		{
			cell[i] = random_below(share) == 0 ? a.points : PE_DROPPED;
			if (cell[i] < 0)
				continue;
			a.point[a.points].b.data = string[i];
			a.point[a.points++].b.size = (uint32_t) size[i];
		}
		if (a.points > 0)
		{
			prepare(&a);
			for (int i = 0; i < STRINGS; i++)
				assert_int_equal(pe_cell_of_bytes(&a, string[i], (size_t) size[i]), cell[i]);
		}
		drop(&a);
	}
	for (int i = 0; i < STRINGS; i++)
		free(string[i]);
}

static void
test_refused(void **state)
{
	static const piece twice[] = {PIECE("x"), PIECE("y\0"), PIECE(""), PIECE("y\0")};
	const pe_outside d = PE_OUTSIDE_DROP;
	const pe_nulls n = PE_NULLS_DROP;

	(void) state;
	assert_int_equal(status_of(ints(PE_LEVELS, d, n, 0, NULL)), PE_DOMAIN_EMPTY);
	assert_int_equal(status_of(ints(PE_BINS, d, n, 0, NULL)), PE_DOMAIN_EMPTY);
	assert_int_equal(status_of(ints(PE_BINS, d, n, 1, (int64_t[]) {5})), PE_DOMAIN_EMPTY);
	assert_int_equal(status_of(floats(PE_BINS, d, n, 1, (double[]) {5})), PE_DOMAIN_EMPTY);
	assert_int_equal(status_of(ints(PE_LEVELS, d, n, 3, (int64_t[]) {5, 6, 5})), PE_DOMAIN_DUPLICATE);
	assert_int_equal(status_of(floats(PE_LEVELS, d, n, 3, (double[]) {1, 2, 1})), PE_DOMAIN_DUPLICATE);
	assert_int_equal(status_of(floats(PE_LEVELS, d, n, 2, (double[]) {0.0, -0.0})), PE_DOMAIN_DUPLICATE);
	assert_int_equal(status_of(floats(PE_LEVELS, d, n, 2, (double[]) {-0.0, 0.0})), PE_DOMAIN_DUPLICATE);
	assert_int_equal(status_of(bytes(d, n, 4, twice)), PE_DOMAIN_DUPLICATE);
	assert_int_equal(status_of(bytes(d, n, 3, twice)), PE_DOMAIN_OK);
	assert_int_equal(status_of(floats(PE_LEVELS, d, n, 2, (double[]) {1, NAN})), PE_DOMAIN_NOT_FINITE);
	assert_int_equal(status_of(floats(PE_LEVELS, d, n, 2, (double[]) {INFINITY, 1})), PE_DOMAIN_NOT_FINITE);
	assert_int_equal(status_of(floats(PE_BINS, d, n, 2, (double[]) {-INFINITY, 1})), PE_DOMAIN_NOT_FINITE);
	assert_int_equal(status_of(floats(PE_BINS, d, n, 3, (double[]) {0, NAN, 1})), PE_DOMAIN_NOT_FINITE);
	assert_int_equal(status_of(ints(PE_BINS, d, n, 3, (int64_t[]) {1, 2, 2})), PE_DOMAIN_NOT_ASCENDING);
	assert_int_equal(status_of(ints(PE_BINS, d, n, 3, (int64_t[]) {1, 0, 2})), PE_DOMAIN_NOT_ASCENDING);
	assert_int_equal(status_of(floats(PE_BINS, d, n, 2, (double[]) {-0.0, 0.0})), PE_DOMAIN_NOT_ASCENDING);
	assert_int_equal(status_of(floats(PE_BINS, d, n, 2, (double[]) {1, 0})), PE_DOMAIN_NOT_ASCENDING);
	assert_int_equal(status_of(ints(PE_LEVELS, PE_OUTSIDE_CLAMP, n, 2, (int64_t[]) {1, 2})), PE_DOMAIN_NO_ORDER);
	assert_int_equal(status_of(bytes(PE_OUTSIDE_CLAMP, n, 1, twice)), PE_DOMAIN_NO_ORDER);
	assert_int_equal(status_of(bytes_bins(d, n, 1, twice)), PE_DOMAIN_EMPTY);
	assert_int_equal(status_of(bytes_bins(d, n, 2, twice)), PE_DOMAIN_OK);
	assert_int_equal(status_of(bytes_bins(d, n, 3, twice)), PE_DOMAIN_NOT_ASCENDING);
	assert_int_equal(status_of(bytes_bins(d, n, 2, (piece[]) {PIECE("x"), PIECE("x")})), PE_DOMAIN_NOT_ASCENDING);
	assert_int_equal(status_of(bytes_bins(d, n, 2, (piece[]) {PIECE("x\0"), PIECE("x")})), PE_DOMAIN_NOT_ASCENDING);
	assert_int_equal(status_of(bytes_bins(d, n, 2, (piece[]) {PIECE("x"), PIECE("x\0")})), PE_DOMAIN_OK);
}

/* ---- bins ---- */

static void
test_int_bins(void **state)
{
	static const int64_t edge[] = {0, 10, 20, 21, 100};
	static const struct
	{
		int64_t		value;
		int32_t		cell;
	}			inside[] = {
		{0, 0}, {9, 0}, {10, 1}, {19, 1}, {20, 2}, {21, 3}, {22, 3}, {99, 3}, {100, 3}
	};
	static const struct
	{
		pe_outside	outside;
		int32_t		low;
		int32_t		high;
	}			rule[] = {
		{PE_OUTSIDE_DROP, PE_DROPPED, PE_DROPPED}, {PE_OUTSIDE_CLAMP, 0, 3}, {PE_OUTSIDE_OTHER, 4, 4}
	};

	(void) state;
	for (int r = 0; r < lengthof(rule); r++)
	{
		pe_attribute a = ints(PE_BINS, rule[r].outside, PE_NULLS_CELL, lengthof(edge), edge);

		prepare(&a);
		for (int i = 0; i < lengthof(inside); i++)
			assert_int_equal(pe_cell_of_int(&a, inside[i].value), inside[i].cell);
		assert_int_equal(pe_cell_of_int(&a, -1), rule[r].low);
		assert_int_equal(pe_cell_of_int(&a, INT64_MIN), rule[r].low);
		assert_int_equal(pe_cell_of_int(&a, 101), rule[r].high);
		assert_int_equal(pe_cell_of_int(&a, INT64_MAX), rule[r].high);
		assert_int_equal(pe_cell_of_null(&a), rule[r].outside == PE_OUTSIDE_OTHER ? 5 : 4);
		assert_true(pe_attribute_is_ordered(&a));
		drop(&a);
	}
}

static void
test_int_extremes(void **state)
{
	static const int64_t edge[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX};
	pe_attribute a = ints(PE_BINS, PE_OUTSIDE_DROP, PE_NULLS_DROP, lengthof(edge), edge);

	(void) state;
	prepare(&a);
	for (int i = 0; i < lengthof(edge); i++)
		assert_int_equal(pe_cell_of_int(&a, edge[i]), i < lengthof(edge) - 1 ? i : i - 1);
	assert_int_equal(pe_cell_of_int(&a, INT64_MIN + 2), 1);
	assert_int_equal(pe_cell_of_int(&a, -2), 1);
	assert_int_equal(pe_cell_of_int(&a, 2), 4);
	assert_int_equal(pe_cell_of_int(&a, INT64_MAX - 2), 4);
	drop(&a);

	a = ints(PE_BINS, PE_OUTSIDE_CLAMP, PE_NULLS_DROP, 2, (int64_t[]) {INT64_MAX - 1, INT64_MAX});
	prepare(&a);
	assert_int_equal(pe_cell_of_int(&a, INT64_MIN), 0);
	assert_int_equal(pe_cell_of_int(&a, INT64_MAX), 0);
	drop(&a);
}

static void
test_float_bins(void **state)
{
	static const double edge[] = {-1.5, 0, 0.1, 1e300};
	pe_attribute a = floats(PE_BINS, PE_OUTSIDE_CLAMP, PE_NULLS_CELL, lengthof(edge), edge);

	(void) state;
	prepare(&a);
	assert_int_equal(pe_cell_of_float(&a, -1.5), 0);
	assert_int_equal(pe_cell_of_float(&a, nextafter(-1.5, -2)), 0);
	assert_int_equal(pe_cell_of_float(&a, -DENORMAL), 0);
	assert_int_equal(pe_cell_of_float(&a, -0.0), 1);
	assert_int_equal(pe_cell_of_float(&a, 0.0), 1);
	assert_int_equal(pe_cell_of_float(&a, nextafter(0.1, 0)), 1);
	assert_int_equal(pe_cell_of_float(&a, 0.1), 2);
	assert_int_equal(pe_cell_of_float(&a, 1e300), 2);
	assert_int_equal(pe_cell_of_float(&a, nextafter(1e300, INFINITY)), 2);
	assert_int_equal(pe_cell_of_float(&a, INFINITY), 2);
	assert_int_equal(pe_cell_of_float(&a, -INFINITY), 0);
	assert_int_equal(pe_cell_of_float(&a, NAN), 3);
	drop(&a);

	/* the width of all bins together is infinite */
	a = floats(PE_BINS, PE_OUTSIDE_OTHER, PE_NULLS_DROP, 3, (double[]) {-DBL_MAX, 0, DBL_MAX});
	prepare(&a);
	assert_int_equal(pe_cell_of_float(&a, -DBL_MAX), 0);
	assert_int_equal(pe_cell_of_float(&a, -1), 0);
	assert_int_equal(pe_cell_of_float(&a, 0), 1);
	assert_int_equal(pe_cell_of_float(&a, DBL_MAX), 1);
	assert_int_equal(pe_cell_of_float(&a, INFINITY), 2);
	assert_int_equal(pe_cell_of_float(&a, -INFINITY), 2);
	assert_int_equal(pe_cell_of_float(&a, NAN), PE_DROPPED);
	drop(&a);
}

static int
compare_bytes(const void *a, const void *b)
{
	const pe_point *x = a;
	const pe_point *y = b;
	uint32_t	common = x->b.size < y->b.size ? x->b.size : y->b.size;
	int			order = memcmp(x->b.data, y->b.data, common);

	return order != 0 ? order : (x->b.size > y->b.size) - (x->b.size < y->b.size);
}

static void
test_bytes_bins(void **state)
{
	static const piece edge[] = {PIECE("b"), PIECE("b\0"), PIECE("d"), PIECE("\x80"), PIECE("\xff\xff")};
	static const struct
	{
		piece		value;
		int32_t		cell;		/* clamped */
		bool		outside;
	}			sample[] = {
		{PIECE(""), 0, true}, {PIECE("\0"), 0, true}, {PIECE("az"), 0, true}, {PIECE("b"), 0, false},
		{PIECE("b\0"), 1, false}, {PIECE("b\0\0"), 1, false}, {PIECE("c"), 1, false}, {PIECE("d"), 2, false},
		{PIECE("d\0"), 2, false}, {PIECE("\x7f"), 2, false}, {PIECE("\x80"), 3, false}, {PIECE("\xff"), 3, false},
		{PIECE("\xff\xfe\xff"), 3, false}, {PIECE("\xff\xff"), 3, false}, {PIECE("\xff\xff\0"), 3, true},
	};

	(void) state;
	for (int rule = 0; rule < 3; rule++)
	{
		static const pe_outside outside[] = {PE_OUTSIDE_DROP, PE_OUTSIDE_CLAMP, PE_OUTSIDE_OTHER};
		static const int32_t cell[] = {PE_DROPPED, 0, 4};
		pe_attribute a = bytes_bins(outside[rule], PE_NULLS_CELL, lengthof(edge), edge);

		prepare(&a);
		assert_int_equal(pe_attribute_cells(&a), 5 + (rule == 2));
		assert_int_equal(pe_cell_of_null(&a), 4 + (rule == 2));
		for (int i = 0; i < lengthof(sample); i++)
			assert_int_equal(pe_cell_of_bytes(&a, sample[i].value.data, sample[i].value.size),
							 sample[i].outside && rule != 1 ? cell[rule] : sample[i].cell);
		drop(&a);
	}
}

static void
test_bytes_bins_brute_force(void **state)
{
	static const char letter[] = {'\0', 'a', '\x7f', '\x80', '\xff'};
	char		text[64][4];

	(void) state;
	for (int round = 0; round < cases(2000); round++)
	{
		pe_attribute a = declare(PE_KEY_BYTES, PE_BINS, PE_OUTSIDE_OTHER, PE_NULLS_DROP, 2 + random_below(60));
		int32_t		kept = 1;

		a.open = round % 2 == 1;
		for (int32_t i = 0; i < a.points; i++)
		{
			for (int j = 0; j < 4; j++)
				text[i][j] = letter[random_below(lengthof(letter))];
			a.point[i].b.data = text[i];
			a.point[i].b.size = (uint32_t) random_below(5);
		}
		qsort(a.point, (size_t) a.points, sizeof(pe_point), compare_bytes);
		for (int32_t i = 1; i < a.points; i++)
			if (compare_bytes(&a.point[kept - 1], &a.point[i]) != 0)
				a.point[kept++] = a.point[i];
		a.points = kept;
		if (kept >= 2)
		{
			prepare(&a);
			for (int i = 0; i < 50; i++)
			{
				char		data[4];
				pe_point	value = {.b = {data, (uint32_t) random_below(5)}};
				int32_t		cell = kept - 1;

				for (int j = 0; j < 4; j++)
					data[j] = letter[random_below(lengthof(letter))];
				for (int32_t j = 0; j < kept - 1; j++)
					if (compare_bytes(&a.point[j], &value) <= 0 && compare_bytes(&value, &a.point[j + 1]) < 0)
						cell = j;
				if (!a.open && compare_bytes(&value, &a.point[kept - 1]) == 0)
					cell = kept - 2;
				assert_int_equal(pe_cell_of_bytes(&a, data, value.b.size), cell);
			}
			for (int32_t i = 0; i < kept; i++)
				assert_int_equal(pe_cell_of_bytes(&a, a.point[i].b.data, a.point[i].b.size), i < kept - 1 || a.open ? i : i - 1);
		}
		drop(&a);
	}
}

/* What the declaration says, edge by edge. */
static int32_t
linear_cell(const pe_attribute *a, pe_point value)
{
	const pe_point *e = a->point;
	int32_t		bins = a->points - 1;
	bool		is_int = a->key == PE_KEY_INT;

	for (int32_t i = 0; i < bins; i++)
		if ((is_int ? e[i].i <= value.i : e[i].f <= value.f) &&
			(is_int ? value.i < e[i + 1].i : value.f < e[i + 1].f))
			return i;
	if (!a->open && (is_int ? value.i == e[bins].i : value.f == e[bins].f))
		return bins - 1;
	if (a->outside == PE_OUTSIDE_DROP)
		return PE_DROPPED;
	if (a->outside == PE_OUTSIDE_OTHER)
		return bins;
	return (is_int ? value.i < e[0].i : value.f < e[0].f) ? 0 : bins - 1;
}

static double
random_finite(void)
{
	double		value;

	do
	{
		uint64_t	word = random_word();

		memcpy(&value, &word, sizeof(value));
	} while (!isfinite(value));
	return value;
}

static int
compare_floats(const void *a, const void *b)
{
	const pe_point *x = a;
	const pe_point *y = b;

	return (x->f > y->f) - (x->f < y->f);
}

static int
compare_ints(const void *a, const void *b)
{
	const pe_point *x = a;
	const pe_point *y = b;

	return (x->i > y->i) - (x->i < y->i);
}

/* Sorts the points and leaves each out that equals the one before. */
static void
make_edges(pe_attribute *a)
{
	int32_t		kept = 1;
	bool		is_int = a->key == PE_KEY_INT;

	qsort(a->point, (size_t) a->points, sizeof(pe_point), is_int ? compare_ints : compare_floats);
	for (int32_t i = 1; i < a->points; i++)
		if (is_int ? a->point[i].i > a->point[kept - 1].i : a->point[i].f > a->point[kept - 1].f)
			a->point[kept++] = a->point[i];
	a->points = kept;
}

static const pe_outside all_outside[] = {PE_OUTSIDE_DROP, PE_OUTSIDE_CLAMP, PE_OUTSIDE_OTHER};

static pe_attribute
random_int_bins(int shape)
{
	pe_attribute a = declare(PE_KEY_INT, PE_BINS, all_outside[random_below(3)], PE_NULLS_DROP,
							 2 + random_below(random_below(20) == 0 ? 1000 : 30));
	int64_t		start = (int64_t) random_word() >> (1 + random_below(62));
	int64_t		step = 1 + random_below(1000);
	int			bits = 1 + random_below(63);

	for (int32_t i = 0; i < a.points; i++)
		switch (shape)
		{
			case 0:				/* uniform */
				a.point[i].i = start + i * step;
				break;
			case 1:				/* any numbers of some size */
				a.point[i].i = (int64_t) random_word() >> bits;
				break;
			case 2:				/* the whole range */
				a.point[i].i = i == 0 ? INT64_MIN : i == 1 ? INT64_MAX : (int64_t) random_word();
				break;
			case 3:				/* skewed: 2^0, 2^1, ... */
				a.point[i].i = (int64_t) ((UINT64_C(1) << random_below(63)) + (uint64_t) random_below(2));
				break;
			default:			/* neighbours that are one double */
				a.point[i].i = INT64_MAX - random_below(3000);
		}
	make_edges(&a);
	if (a.points < 2)
	{
		a.points = 2;
		a.point[0].i = 0;
		a.point[1].i = 1;
	}
	prepare(&a);
	return a;
}

static pe_attribute
random_float_bins(int shape)
{
	pe_attribute a = declare(PE_KEY_FLOAT, PE_BINS, all_outside[random_below(3)], PE_NULLS_DROP,
							 2 + random_below(random_below(20) == 0 ? 1000 : 30));
	double		start = random_unit() * 1000 - 500;
	double		step = random_unit();
	double		close = random_unit();

	for (int32_t i = 0; i < a.points; i++)
		switch (shape)
		{
			case 0:				/* uniform, the edges rounded */
				a.point[i].f = start + i * step;
				break;
			case 1:				/* any bits */
				a.point[i].f = random_finite();
				break;
			case 2:				/* e_n - e_0 overflows */
				a.point[i].f = i == 0 ? -DBL_MAX : i == 1 ? DBL_MAX : random_finite();
				break;
			case 3:				/* denormals */
				a.point[i].f = (random_below(2001) - 1000) * DENORMAL;
				break;
			case 4:				/* skewed */
				a.point[i].f = ldexp(1, random_below(2000) - 1000);
				break;
			default:			/* each the next double */
				a.point[i].f = close;
				close = nextafter(close, INFINITY);
		}
	make_edges(&a);
	if (a.points < 2)
	{
		a.points = 2;
		a.point[0].f = 0;
		a.point[1].f = 1;
	}
	prepare(&a);
	return a;
}

static int64_t
random_int_near(const pe_attribute *a)
{
	int64_t		edge = a->point[random_below(a->points)].i;
	int64_t		first = a->point[0].i;
	uint64_t	width = (uint64_t) a->point[a->points - 1].i - (uint64_t) first;

	switch (random_below(6))
	{
		case 0:
			return edge;
		case 1:
			return edge > INT64_MIN ? edge - 1 : edge;
		case 2:
			return edge < INT64_MAX ? edge + 1 : edge;
		case 3:
			return (int64_t) random_word();
		case 4:
			return random_below(2) ? INT64_MIN : INT64_MAX;
		default:
			return (int64_t) ((uint64_t) first + (width == UINT64_MAX ? random_word() : random_word() % (width + 1)));
	}
}

static double
random_float_near(const pe_attribute *a)
{
	static const double special[] = {0.0, -0.0, DBL_MAX, -DBL_MAX, INFINITY, -INFINITY, DENORMAL, -DENORMAL, DBL_MIN};
	double		edge = a->point[random_below(a->points)].f;
	double		first = a->point[0].f;
	double		last = a->point[a->points - 1].f;
	double		part = random_unit();

	switch (random_below(6))
	{
		case 0:
			return edge;
		case 1:
			return nextafter(edge, -INFINITY);
		case 2:
			return nextafter(edge, INFINITY);
		case 3:
			return random_finite();
		case 4:
			return special[random_below(lengthof(special))];
		default:
			return first * (1 - part) + last * part;
	}
}

static void
test_bins_brute_force(void **state)
{
	(void) state;
	for (int round = 0; round < cases(2400); round++)
	{
		pe_attribute a = random_int_bins(round % 5);
		pe_attribute b = random_float_bins(round % 6);

		a.open = random_below(2) == 0;
		b.open = random_below(2) == 0;
		for (int i = 0; i < 50; i++)
		{
			pe_point	value;

			value.i = random_int_near(&a);
			assert_int_equal(pe_cell_of_int(&a, value.i), linear_cell(&a, value));
			value.f = random_float_near(&b);
			assert_int_equal(pe_cell_of_float(&b, value.f), linear_cell(&b, value));
		}
		for (int32_t i = 0; i < a.points - 1; i++)
			assert_int_equal(pe_cell_of_int(&a, a.point[i].i), i);
		for (int32_t i = 0; i < b.points - 1; i++)
			assert_int_equal(pe_cell_of_float(&b, b.point[i].f), i);
		drop(&a);
		drop(&b);
	}
}

/* The last edge of the last bin: in it where that is closed, and outside where it is open. */
static void
test_last_bin(void **state)
{
	static const piece edge[] = {PIECE("a"), PIECE("c"), PIECE("m")};
	static const int32_t of_last[2][3] = {{1, 1, 1}, {PE_DROPPED, 1, 2}};

	(void) state;
	for (int open = 0; open < 2; open++)
		for (int rule = 0; rule < 3; rule++)
		{
			pe_attribute i = ints(PE_BINS, all_outside[rule], PE_NULLS_DROP, 3, (int64_t[]) {0, 5, INT64_MAX});
			pe_attribute f = floats(PE_BINS, all_outside[rule], PE_NULLS_DROP, 3, (double[]) {-1, 0, 1});
			pe_attribute b = bytes_bins(all_outside[rule], PE_NULLS_DROP, 3, edge);

			i.open = f.open = b.open = open;
			prepare(&i);
			prepare(&f);
			prepare(&b);
			assert_int_equal(pe_cell_of_int(&i, INT64_MAX), of_last[open][rule]);
			assert_int_equal(pe_cell_of_int(&i, INT64_MAX - 1), 1);
			assert_int_equal(pe_cell_of_float(&f, 1), of_last[open][rule]);
			assert_int_equal(pe_cell_of_float(&f, nextafter(1, 0)), 1);
			assert_int_equal(pe_cell_of_bytes(&b, "m", 1), of_last[open][rule]);
			assert_int_equal(pe_cell_of_bytes(&b, "lzzz", 4), 1);
			drop(&i);
			drop(&f);
			drop(&b);
		}
}

/* ---- the order and number of cells ---- */

static void
test_cell_order(void **state)
{
	(void) state;
	for (int bins = 0; bins <= 1; bins++)
		for (int outside = 0; outside < 3; outside++)
			for (int nulls = 0; nulls < 2; nulls++)
			{
				pe_attribute a = counted(bins ? PE_BINS : PE_LEVELS, all_outside[outside],
										 nulls ? PE_NULLS_CELL : PE_NULLS_DROP, 4);
				int32_t		ordered = bins ? 3 : 4;
				bool		other = all_outside[outside] == PE_OUTSIDE_OTHER;
				int32_t		cells = ordered + other + nulls;

				if (!bins && all_outside[outside] == PE_OUTSIDE_CLAMP)
				{
					assert_int_equal(status_of(a), PE_DOMAIN_NO_ORDER);
					continue;
				}
				prepare(&a);
				assert_int_equal(pe_attribute_ordered_cells(&a), ordered);
				assert_int_equal(pe_attribute_cells(&a), cells);
				assert_int_equal(pe_cell_of_int(&a, 99),
								 other ? ordered : all_outside[outside] == PE_OUTSIDE_CLAMP ? ordered - 1 : PE_DROPPED);
				assert_int_equal(pe_cell_of_null(&a), nulls ? cells - 1 : PE_DROPPED);
				for (int32_t cell = -1; cell <= cells; cell++)
				{
					assert_int_equal(pe_attribute_is_other(&a, cell), other && cell == ordered);
					assert_int_equal(pe_attribute_is_null(&a, cell), nulls && cell == ordered + other);
				}
				drop(&a);
			}
}

static void
test_limits(void **state)
{
	const pe_outside d = PE_OUTSIDE_DROP;
	const pe_nulls n = PE_NULLS_DROP;
	pe_attribute a;

	(void) state;
	assert_int_equal(PE_MAX_CELLS, 1048576);

	a = counted(PE_LEVELS, d, n, PE_MAX_CELLS);
	prepare(&a);
	for (int32_t i = 0; i < PE_MAX_CELLS; i += 997)
		assert_int_equal(pe_cell_of_int(&a, i), i);
	assert_int_equal(pe_cell_of_int(&a, PE_MAX_CELLS), PE_DROPPED);
	drop(&a);

	a = counted(PE_BINS, d, n, PE_MAX_CELLS + 1);
	prepare(&a);
	assert_int_equal(pe_attribute_cells(&a), PE_MAX_CELLS);
	for (int32_t i = 0; i < PE_MAX_CELLS; i += 997)
		assert_int_equal(pe_cell_of_int(&a, i), i);
	assert_int_equal(pe_cell_of_int(&a, PE_MAX_CELLS), PE_MAX_CELLS - 1);
	drop(&a);

	assert_int_equal(status_of(counted(PE_LEVELS, d, n, PE_MAX_CELLS + 1)), PE_DOMAIN_TOO_LARGE);
	assert_int_equal(status_of(counted(PE_BINS, d, n, PE_MAX_CELLS + 2)), PE_DOMAIN_TOO_LARGE);
	/* 'other' and NULL count */
	assert_int_equal(status_of(counted(PE_LEVELS, PE_OUTSIDE_OTHER, n, PE_MAX_CELLS)), PE_DOMAIN_TOO_LARGE);
	assert_int_equal(status_of(counted(PE_BINS, d, PE_NULLS_CELL, PE_MAX_CELLS + 1)), PE_DOMAIN_TOO_LARGE);
	assert_int_equal(status_of(counted(PE_LEVELS, PE_OUTSIDE_OTHER, PE_NULLS_CELL, PE_MAX_CELLS - 1)), PE_DOMAIN_TOO_LARGE);
	assert_int_equal(status_of(counted(PE_LEVELS, PE_OUTSIDE_OTHER, PE_NULLS_CELL, PE_MAX_CELLS - 2)), PE_DOMAIN_OK);

	a = counted(PE_LEVELS, d, n, 1);
	a.points = INT32_MAX;		/* refused before any point is read */
	assert_int_equal(pe_attribute_prepare(&a), PE_DOMAIN_TOO_LARGE);
	a.kind = PE_BINS;
	assert_int_equal(pe_attribute_prepare(&a), PE_DOMAIN_TOO_LARGE);
	drop(&a);
}

/* ---- products ---- */

static void
make_domain(pe_domain *domain, int attributes, const int *levels)
{
	memset(domain, 0, sizeof(*domain));
	domain->attributes = attributes;
	for (int i = 0; i < attributes; i++)
	{
		domain->attribute[i] = counted(PE_LEVELS, PE_OUTSIDE_DROP, PE_NULLS_DROP, levels[i]);
		prepare(&domain->attribute[i]);
	}
}

static pe_domain_status
product_status(int attributes, int first, int rest)
{
	pe_domain	domain;
	pe_domain_status status;
	int			levels[PE_MAX_ATTRIBUTES] = {0};

	for (int i = 0; i < attributes; i++)
		levels[i] = i == 0 ? first : rest;
	make_domain(&domain, attributes, levels);
	status = pe_domain_prepare(&domain);
	if (status == PE_DOMAIN_OK)
	{
		double		cells = 1;

		for (int i = 0; i < attributes; i++)
			cells *= levels[i];
		assert_int_equal(pe_domain_has_numbers(&domain), cells <= PE_MAX_CELLS);
		assert_int_equal(domain.cells, cells <= PE_MAX_CELLS ? cells : PE_MAX_CELLS + 1);
		for (int i = 0; i < attributes; i++)
			assert_int_equal(domain.stride[i] > 0, cells <= PE_MAX_CELLS);
	}
	pe_domain_free(&domain);
	return status;
}

static void
test_product_limits(void **state)
{
	pe_domain	domain;

	(void) state;
	assert_int_equal(product_status(0, 1, 1), PE_DOMAIN_OK);
	assert_int_equal(product_status(1, PE_MAX_CELLS, 1), PE_DOMAIN_OK);
	assert_int_equal(product_status(2, 1024, 1024), PE_DOMAIN_OK);
	assert_int_equal(product_status(2, 1025, 1024), PE_DOMAIN_OK);
	assert_int_equal(product_status(20, 2, 2), PE_DOMAIN_OK);
	assert_int_equal(product_status(21, 2, 2), PE_DOMAIN_OK);
	assert_int_equal(product_status(2, PE_MAX_CELLS, 1), PE_DOMAIN_OK);
	assert_int_equal(product_status(2, PE_MAX_CELLS, 2), PE_DOMAIN_OK);
	assert_int_equal(product_status(32, 1, 1), PE_DOMAIN_OK);
	/* a product that would come back into range if it wrapped at 64 bits */
	assert_int_equal(product_status(32, 4, 4), PE_DOMAIN_OK);
	assert_int_equal(product_status(32, 1024, 1024), PE_DOMAIN_OK);

	memset(&domain, 0, sizeof(domain));
	domain.attributes = PE_MAX_ATTRIBUTES + 1;
	assert_int_equal(pe_domain_prepare(&domain), PE_DOMAIN_TOO_LARGE);
}

static void
test_product_brute_force(void **state)
{
	(void) state;
	for (int round = 0; round < cases(300); round++)
	{
		pe_domain	domain;
		int			attributes = 1 + random_below(5);
		int			levels[PE_MAX_ATTRIBUTES] = {0};
		int			at[PE_MAX_ATTRIBUTES] = {0};
		int			cells = 1;

		for (int i = 0; i < attributes; i++)
			cells *= levels[i] = 1 + random_below(5);
		make_domain(&domain, attributes, levels);
		assert_int_equal(pe_domain_prepare(&domain), PE_DOMAIN_OK);
		assert_int_equal(domain.cells, cells);

		/* count up like an odometer, the last attribute fastest */
		for (int32_t cell = 0; cell < cells; cell++)
		{
			int64_t		sum = 0;

			for (int i = 0; i < attributes; i++)
			{
				assert_int_equal(pe_domain_coordinate(&domain, cell, i), at[i]);
				sum += (int64_t) at[i] * domain.stride[i];
			}
			assert_int_equal(sum, cell);
			for (int i = attributes - 1; i >= 0 && ++at[i] == levels[i]; i--)
				at[i] = 0;
		}
		pe_domain_free(&domain);
		assert_int_equal(domain.attributes, 0);
	}
}

/* ---- classes ---- */

static int32_t *
map_of(int32_t cells, const int32_t *class)
{
	int32_t    *map = pe_alloc((size_t) cells, sizeof(*map));

	memcpy(map, class, (size_t) cells * sizeof(*map));
	return map;
}

/* Bins of width 2 from 0 on, or levels 0, 2, 4, ... of any kind of key. */
static pe_attribute
even(pe_key key, pe_kind kind, pe_outside outside, pe_nulls nulls, int32_t points)
{
	static const char *const text[] = {"a", "c", "e", "g", "i", "k", "m", "o"};
	pe_attribute a = declare(key, kind, outside, nulls, points);

	for (int32_t i = 0; i < points; i++)
		if (key == PE_KEY_INT)
			a.point[i].i = 2 * i;
		else if (key == PE_KEY_FLOAT)
			a.point[i].f = 2 * i;
		else
		{
			a.point[i].b.data = text[i];
			a.point[i].b.size = 1;
		}
	return a;
}

/* The cell of a value, from below the first point to beyond the last; -2: of NULL, -3: of NaN. */
static int32_t
cell_of(const pe_attribute *a, int value)
{
	char		c = (char) ('a' + value);

	if (value == -2 || (value == -3 && a->key != PE_KEY_FLOAT))
		return pe_cell_of_null(a);
	if (a->key == PE_KEY_INT)
		return pe_cell_of_int(a, value);
	if (a->key == PE_KEY_FLOAT)
		return pe_cell_of_float(a, value == -3 ? NAN : value);
	return pe_cell_of_bytes(a, &c, 1);
}

/* Any map in which each class has a cell: the first classes cells are one of each, then they are shuffled. */
static int32_t *
random_map(int32_t cells, int32_t classes)
{
	int32_t    *map = pe_alloc((size_t) cells, sizeof(*map));

	for (int32_t c = 0; c < cells; c++)
		map[c] = c < classes ? c : random_below(classes);
	for (int32_t c = cells - 1; c > 0; c--)
	{
		int32_t		other = random_below(c + 1);
		int32_t		kept = map[c];

		map[c] = map[other];
		map[other] = kept;
	}
	return map;
}

static void
test_classes(void **state)
{
	(void) state;
	for (int round = 0; round < cases(20000); round++)
	{
		pe_key		key = (pe_key) "ifb"[random_below(3)];
		pe_kind		kind = random_below(2) ? PE_BINS : PE_LEVELS;
		pe_outside	outside = (pe_outside) (kind == PE_BINS ? "dco" : "do")[random_below(kind == PE_BINS ? 3 : 2)];
		pe_attribute declared = even(key, kind, outside, random_below(2) ? PE_NULLS_CELL : PE_NULLS_DROP, 2 + random_below(6));
		int32_t		cells;
		int32_t		classes;
		pe_attribute a;

		declared.open = kind == PE_BINS && random_below(2);
		prepare(&declared);
		a = declared;
		cells = pe_attribute_cells(&declared);
		classes = 1 + random_below(cells);
		assert_true(pe_attribute_roll_up(&a, classes, random_map(cells, classes)));
		assert_int_equal(pe_attribute_declared_cells(&a), cells);
		assert_int_equal(pe_attribute_declared_cells(&declared), cells);
		assert_int_equal(pe_attribute_cells(&a), classes);
		assert_int_equal(pe_attribute_ordered_cells(&a), classes);
		assert_true(pe_attribute_is_ordered(&a));
		for (int32_t class = -1; class <= cells; class++)
			assert_false(pe_attribute_is_null(&a, class) || pe_attribute_is_other(&a, class));
		for (int value = -3; value < 20; value++)
		{
			int32_t		cell = cell_of(&declared, value);

			assert_int_equal(cell_of(&a, value), cell == PE_DROPPED ? PE_DROPPED : a.class_of[cell]);
		}
		pe_free(a.class_of);
		drop(&declared);
	}
}

/* Levels whose order is not that of their values have classes that are ordered; nothing is rolled up by half. */
static void
test_classes_refused(void **state)
{
	pe_attribute a = ints(PE_LEVELS, PE_OUTSIDE_OTHER, PE_NULLS_CELL, 2, (int64_t[]) {5, 3});
	int32_t		map[4] = {0, 1, 1, 0};

	(void) state;
	prepare(&a);
	assert_false(pe_attribute_is_ordered(&a));
	assert_false(pe_attribute_roll_up(&a, 0, map));
	assert_false(pe_attribute_roll_up(&a, -1, map));
	assert_false(pe_attribute_roll_up(&a, 1, map));
	assert_false(pe_attribute_roll_up(&a, 3, map));
	assert_false(pe_attribute_roll_up(&a, 5, map));
	assert_false(pe_attribute_roll_up(&a, INT32_MAX, map));
	map[3] = -1;
	assert_false(pe_attribute_roll_up(&a, 2, map));
	map[3] = 2;
	assert_false(pe_attribute_roll_up(&a, 2, map));
	assert_int_equal(a.classes, 0);
	assert_null(a.class_of);
	map[3] = 1;
	assert_true(pe_attribute_roll_up(&a, 2, map));
	assert_true(pe_attribute_is_ordered(&a));
	assert_int_equal(pe_cell_of_int(&a, 5), 0);
	assert_int_equal(pe_cell_of_int(&a, 3), 1);
	assert_int_equal(pe_cell_of_int(&a, 4), 1);
	assert_int_equal(pe_cell_of_null(&a), 1);
	drop(&a);
}

/* The product is one of classes, of which each attribute has few: the declared cells together have no numbers. */
static void
test_product_of_classes(void **state)
{
	pe_domain	domain;

	(void) state;
	memset(&domain, 0, sizeof(domain));
	domain.attributes = 3;
	for (int i = 0; i < 3; i++)
	{
		domain.attribute[i] = counted(PE_BINS, PE_OUTSIDE_OTHER, PE_NULLS_CELL, 5001);
		prepare(&domain.attribute[i]);
	}
	assert_int_equal(pe_domain_prepare(&domain), PE_DOMAIN_OK);
	assert_false(pe_domain_has_numbers(&domain));
	for (int i = 0; i < 3; i++)
		assert_true(pe_attribute_roll_up(&domain.attribute[i], i + 2, random_map(5002, i + 2)));
	assert_int_equal(pe_domain_prepare(&domain), PE_DOMAIN_OK);
	assert_int_equal(domain.cells, 24);
	assert_int_equal(domain.stride[0], 12);
	assert_int_equal(domain.stride[1], 4);
	assert_int_equal(domain.stride[2], 1);
	for (int32_t cell = 0; cell < 24; cell++)
		for (int i = 0; i < 3; i++)
			assert_int_equal(pe_domain_coordinate(&domain, cell, i), cell / domain.stride[i] % (i + 2));
	pe_domain_free(&domain);
}

/* ---- the written form ---- */

static void
varied_domain(pe_domain *domain)
{
	static const piece value[] = {PIECE("red"), PIECE(""), PIECE("\0"), PIECE("a\0b"), PIECE("\xff\xfe")};
	static const piece empty[] = {PIECE("")};
	static const piece edge[] = {PIECE(""), PIECE("\0"), PIECE("m")};

	memset(domain, 0, sizeof(*domain));
	domain->attributes = 10;
	domain->attribute[0] = ints(PE_LEVELS, PE_OUTSIDE_OTHER, PE_NULLS_CELL, 3, (int64_t[]) {5, INT64_MIN, INT64_MAX});
	domain->attribute[1] = ints(PE_BINS, PE_OUTSIDE_CLAMP, PE_NULLS_DROP, 4, (int64_t[]) {-3, 0, 10, 1000000});
	domain->attribute[2] = floats(PE_LEVELS, PE_OUTSIDE_DROP, PE_NULLS_CELL, 3, (double[]) {-0.0, 2.5, -7});
	domain->attribute[3] = floats(PE_BINS, PE_OUTSIDE_OTHER, PE_NULLS_DROP, 4, (double[]) {-DBL_MAX, 0, DENORMAL, DBL_MAX});
	domain->attribute[4] = bytes(PE_OUTSIDE_OTHER, PE_NULLS_CELL, lengthof(value), value);
	domain->attribute[5] = bytes(PE_OUTSIDE_DROP, PE_NULLS_DROP, 1, empty);
	domain->attribute[6] = bytes_bins(PE_OUTSIDE_CLAMP, PE_NULLS_DROP, lengthof(edge), edge);
	domain->attribute[7] = ints(PE_BINS, PE_OUTSIDE_DROP, PE_NULLS_DROP, 2, (int64_t[]) {-3, 0});
	domain->attribute[7].open = true;
	domain->attribute[8] = ints(PE_BINS, PE_OUTSIDE_OTHER, PE_NULLS_CELL, 3, (int64_t[]) {0, 7, 9});
	domain->attribute[9] = bytes(PE_OUTSIDE_DROP, PE_NULLS_CELL, 2, value);
	for (int i = 0; i < domain->attributes; i++)
		prepare(&domain->attribute[i]);
	assert_true(pe_attribute_roll_up(&domain->attribute[8], 3, map_of(4, (int32_t[]) {2, 0, 1, 0})));
	assert_true(pe_attribute_roll_up(&domain->attribute[9], 1, map_of(3, (int32_t[]) {0, 0, 0})));
	assert_int_equal(pe_domain_prepare(domain), PE_DOMAIN_OK);
}

/* The written form in memory of exactly its size. */
static char *
written(const pe_domain *domain, size_t *size)
{
	char	   *to;

	*size = pe_domain_size(domain);
	to = malloc(*size);
	pe_domain_write(domain, to);
	return to;
}

/* Reads from a copy in memory of exactly that size, and frees what was read. */
static pe_domain_status
read_status(const char *from, size_t size)
{
	pe_domain	domain;
	pe_domain_status status;
	char	   *copy = malloc(size > 0 ? size : 1);

	memcpy(copy, from, size);
	status = pe_domain_read(&domain, copy, size);
	if (status == PE_DOMAIN_OK)
	{
		/* what is accepted is what would be written */
		size_t		again_size;
		char	   *again = written(&domain, &again_size);

		assert_int_equal(again_size, size);
		assert_memory_equal(again, from, size);
		free(again);

		/* and it maps every value into its cells */
		for (int i = 0; i < domain.attributes; i++)
		{
			const pe_attribute *a = &domain.attribute[i];

			for (int probe = 0; probe < 8; probe++)
			{
				int64_t		value = (int64_t) random_word() >> random_below(64);
				int32_t		cell = a->key == PE_KEY_INT ? pe_cell_of_int(a, value) :
					a->key == PE_KEY_FLOAT ? pe_cell_of_float(a, (double) value) :
					pe_cell_of_bytes(a, (const char *) &value, (size_t) random_below(9));

				assert_in_range(cell + 1, 0, pe_attribute_cells(a));
			}
		}
	}
	pe_domain_free(&domain);
	free(copy);
	return status;
}

static void
test_round_trip(void **state)
{
	pe_domain	domain;
	pe_domain	back;
	size_t		size;
	char	   *form;

	(void) state;
	varied_domain(&domain);
	form = written(&domain, &size);
	assert_int_equal(pe_domain_read(&back, form, size), PE_DOMAIN_OK);
	assert_int_equal(back.attributes, domain.attributes);
	assert_int_equal(back.cells, domain.cells);
	for (int i = 0; i < domain.attributes; i++)
	{
		const pe_attribute *a = &domain.attribute[i];
		const pe_attribute *b = &back.attribute[i];

		assert_int_equal(b->key, a->key);
		assert_int_equal(b->kind, a->kind);
		assert_int_equal(b->open, a->open);
		assert_int_equal(b->outside, a->outside);
		assert_int_equal(b->nulls, a->nulls);
		assert_int_equal(b->points, a->points);
		assert_int_equal(b->classes, a->classes);
		if (a->classes > 0)
			assert_memory_equal(b->class_of, a->class_of, (size_t) pe_attribute_declared_cells(a) * sizeof(int32_t));
		else
			assert_null(b->class_of);
		assert_int_equal(back.stride[i], domain.stride[i]);
		for (int32_t j = 0; j < a->points; j++)
		{
			const pe_point *p = &a->point[j];
			const pe_point *q = &b->point[j];

			switch (a->key)
			{
				case PE_KEY_INT:
					assert_true(q->i == p->i);
					assert_int_equal(pe_cell_of_int(b, p->i), pe_cell_of_int(a, p->i));
					break;
				case PE_KEY_FLOAT:
					assert_memory_equal(&q->f, &p->f, sizeof(double));
					assert_int_equal(pe_cell_of_float(b, p->f), pe_cell_of_float(a, p->f));
					break;
				case PE_KEY_BYTES:
					assert_int_equal(q->b.size, p->b.size);
					assert_memory_equal(q->b.data, p->b.data, p->b.size);
					assert_true(q->b.data >= form && q->b.data + q->b.size <= form + size);
					assert_int_equal(pe_cell_of_bytes(b, p->b.data, p->b.size),
									 pe_cell_of_bytes(a, p->b.data, p->b.size));
					break;
			}
		}
		assert_int_equal(pe_cell_of_null(b), pe_cell_of_null(a));
	}
	pe_domain_free(&back);
	assert_int_equal(read_status(form, size), PE_DOMAIN_OK);
	free(form);
	pe_domain_free(&domain);

	/* watched attributes come back as such, and span no cell */
	varied_domain(&domain);
	domain.watched = 2;
	domain.attributes -= domain.watched;
	assert_int_equal(pe_domain_prepare(&domain), PE_DOMAIN_OK);
	form = written(&domain, &size);
	assert_int_equal(read_status(form, size), PE_DOMAIN_OK);
	assert_int_equal(pe_domain_read(&back, form, size), PE_DOMAIN_OK);
	assert_int_equal(back.attributes, domain.attributes);
	assert_int_equal(back.watched, 2);
	assert_int_equal(back.cells, domain.cells);
	assert_int_equal(back.stride[domain.attributes], 0);
	assert_int_equal(back.stride[domain.attributes + 1], 0);
	pe_domain_free(&back);
	pe_domain_free(&domain);
	free(form);

	/* no attribute at all: one cell */
	memset(&domain, 0, sizeof(domain));
	assert_int_equal(pe_domain_prepare(&domain), PE_DOMAIN_OK);
	form = written(&domain, &size);
	assert_int_equal(pe_domain_read(&back, form, size), PE_DOMAIN_OK);
	assert_int_equal(back.cells, 1);
	pe_domain_free(&back);
	free(form);
}

static void
test_round_trip_largest(void **state)
{
	pe_domain	domain;
	size_t		size;
	char	   *form;

	(void) state;
	memset(&domain, 0, sizeof(domain));
	domain.attributes = 1;
	domain.attribute[0] = counted(PE_BINS, PE_OUTSIDE_DROP, PE_NULLS_DROP, PE_MAX_CELLS + 1);
	prepare(&domain.attribute[0]);
	assert_int_equal(pe_domain_prepare(&domain), PE_DOMAIN_OK);
	form = written(&domain, &size);
	assert_int_equal(read_status(form, size), PE_DOMAIN_OK);
	free(form);
	pe_domain_free(&domain);
}

static void
test_read_refuses(void **state)
{
	pe_domain	domain;
	size_t		size;
	char	   *form;
	char	   *longer;
	int			accepted = 0;

	(void) state;
	varied_domain(&domain);
	form = written(&domain, &size);

	for (size_t part = 0; part < size; part++)
		assert_int_equal(read_status(form, part), PE_DOMAIN_MALFORMED);

	longer = malloc(size + 9);
	memset(longer, 0, size + 9);
	memcpy(longer, form, size);
	for (size_t more = 1; more <= 9; more++)
		assert_int_equal(read_status(longer, size + more), PE_DOMAIN_MALFORMED);
	free(longer);

	/* every other value of every byte */
	for (size_t i = 0; i < size; i++)
		for (int flip = 1; flip < 256; flip += getenv("PG_EPSILON_QUICK") != NULL ? 37 : 1)
		{
			pe_domain_status status;

			form[i] ^= (char) flip;
			status = read_status(form, size);
			form[i] ^= (char) flip;
			if (i < 4)
				assert_int_equal(status, PE_DOMAIN_MALFORMED);
			accepted += status == PE_DOMAIN_OK;
		}
	assert_true(accepted > 0);	/* another level is another domain */

	/* several bytes at once, after the magic */
	for (int round = 0; round < cases(100000); round++)
	{
		char	   *copy = malloc(size);

		memcpy(copy, form, size);
		for (int i = 1 + random_below(4); i > 0; i--)
			copy[4 + random_below((int) size - 4)] = (char) random_word();
		(void) read_status(copy, (size_t) random_below((int) size + 1));
		(void) read_status(copy, size);
		free(copy);
	}
	free(form);
	pe_domain_free(&domain);
}

/* One attribute with the given letters and count of points, then room for some of them. */
static pe_domain_status
read_count(const char *letters, int32_t count, size_t room, bool *allocated)
{
	pe_domain	domain;
	pe_domain_status status;
	size_t		size = 4 + 2 + 4 + 4 + room;
	char	   *form = calloc(size, 1);

	memcpy(form, "ped\2\1\0", 6);
	memcpy(form + 6, letters, 4);
	memcpy(form + 10, &count, 4);
	status = pe_domain_read(&domain, form, size);
	*allocated = domain.attribute[0].point != NULL;
	pe_domain_free(&domain);
	free(form);
	return status;
}

static void
test_read_counts(void **state)
{
	static const char *const letters[] = {"ildd", "ieoc", "flcd", "feoc", "blod"};
	static const int32_t counts[] = {INT32_MAX, INT32_MIN, -1, PE_MAX_CELLS + 2, PE_MAX_CELLS, 17, 1 << 30};
	bool		allocated;

	(void) state;
	for (int i = 0; i < lengthof(letters); i++)
		for (int j = 0; j < lengthof(counts); j++)
		{
			assert_int_equal(read_count(letters[i], counts[j], 64, &allocated), PE_DOMAIN_MALFORMED);
			assert_false(allocated);
		}

	/* too many points, though all of them are there */
	assert_int_equal(read_count("blod", PE_MAX_CELLS + 2, 4 * (PE_MAX_CELLS + 2), &allocated), PE_DOMAIN_MALFORMED);
	assert_false(allocated);
	/* four bytes are the smallest point: the empty string */
	assert_int_equal(read_count("blod", 1, 4, &allocated), PE_DOMAIN_OK);
	assert_int_equal(read_count("blod", 2, 8, &allocated), PE_DOMAIN_DUPLICATE);
	/* no point at all, and too few edges */
	assert_int_equal(read_count("ildd", 0, 0, &allocated), PE_DOMAIN_EMPTY);
	assert_int_equal(read_count("iedd", 1, 8, &allocated), PE_DOMAIN_EMPTY);
	/* letters that stand for nothing */
	assert_int_equal(read_count("ildd", 1, 8, &allocated), PE_DOMAIN_OK);
	assert_int_equal(read_count("xldd", 1, 8, &allocated), PE_DOMAIN_MALFORMED);
	assert_int_equal(read_count("ixdd", 1, 8, &allocated), PE_DOMAIN_MALFORMED);
	assert_int_equal(read_count("ilxd", 1, 8, &allocated), PE_DOMAIN_MALFORMED);
	assert_int_equal(read_count("ildx", 1, 8, &allocated), PE_DOMAIN_MALFORMED);
	assert_int_equal(read_count("ildo", 1, 8, &allocated), PE_DOMAIN_MALFORMED);
	assert_int_equal(read_count("il\0d", 1, 8, &allocated), PE_DOMAIN_MALFORMED);
	assert_int_equal(read_count("ilcd", 1, 8, &allocated), PE_DOMAIN_NO_ORDER);
	assert_int_equal(read_count("bedd", 2, 8, &allocated), PE_DOMAIN_NOT_ASCENDING);
	/* more attributes than a domain has */
	assert_int_equal(read_status("ped\2\41\0", 6), PE_DOMAIN_MALFORMED);
	assert_int_equal(read_status("ped\2\0\41", 6), PE_DOMAIN_MALFORMED);
	assert_int_equal(read_status("ped\2\40\1", 6), PE_DOMAIN_MALFORMED);
	assert_int_equal(read_status("ped\2\377\1", 6), PE_DOMAIN_MALFORMED);
	assert_int_equal(read_status("ped\2\0\0", 6), PE_DOMAIN_OK);
	assert_int_equal(read_status("ped\2\0", 5), PE_DOMAIN_MALFORMED);
	assert_int_equal(read_status("ped\1\0\0", 6), PE_DOMAIN_MALFORMED);
}

/* Two levels and a map: of so many classes, whose declared cells have these. */
static pe_domain_status
read_map(const char *letters, int32_t classes, const int32_t *class, int32_t cells)
{
	static const int64_t level[] = {1, 2};
	static const int32_t points = 2;
	size_t		size = 6 + 4 + 4 + sizeof(level) + 4 + (size_t) cells * 4;
	char	   *form = malloc(size);
	pe_domain_status status;

	memcpy(form, "ped\2\1\0", 6);
	memcpy(form + 6, letters, 4);
	memcpy(form + 10, &points, 4);
	memcpy(form + 14, level, sizeof(level));
	memcpy(form + 14 + sizeof(level), &classes, 4);
	if (cells > 0)
		memcpy(form + 18 + sizeof(level), class, (size_t) cells * 4);
	status = read_status(form, size);
	free(form);
	return status;
}

static void
test_read_maps(void **state)
{
	int32_t		classes[] = {0, -1, 3, 4, INT32_MAX, INT32_MIN};

	(void) state;
	assert_int_equal(read_map("Ildd", 2, (int32_t[]) {1, 0}, 2), PE_DOMAIN_OK);
	assert_int_equal(read_map("Iloc", 2, (int32_t[]) {1, 0, 0, 1}, 4), PE_DOMAIN_OK);
	assert_int_equal(read_map("Iloc", 4, (int32_t[]) {3, 1, 0, 2}, 4), PE_DOMAIN_OK);
	/* a cell too few and one too many, a class that has none, and one that is none */
	assert_int_equal(read_map("Iloc", 2, (int32_t[]) {1, 0, 0}, 3), PE_DOMAIN_MALFORMED);
	assert_int_equal(read_map("Iloc", 2, (int32_t[]) {1, 0, 0, 1, 1}, 5), PE_DOMAIN_MALFORMED);
	assert_int_equal(read_map("Iloc", 3, (int32_t[]) {1, 0, 0, 1}, 4), PE_DOMAIN_MALFORMED);
	assert_int_equal(read_map("Iloc", 2, (int32_t[]) {1, 0, 2, 1}, 4), PE_DOMAIN_MALFORMED);
	assert_int_equal(read_map("Iloc", 2, (int32_t[]) {1, 0, -1, 1}, 4), PE_DOMAIN_MALFORMED);
	assert_int_equal(read_map("Iloc", 2, NULL, 0), PE_DOMAIN_MALFORMED);
	for (int i = 0; i < lengthof(classes); i++)
		assert_int_equal(read_map("Ildd", classes[i], (int32_t[]) {0, 1}, 2), PE_DOMAIN_MALFORMED);
	/* a map where the letter says that there is none, and none where it says that there is one */
	assert_int_equal(read_map("ildd", 2, (int32_t[]) {1, 0}, 2), PE_DOMAIN_MALFORMED);
	assert_int_equal(read_map("Eldd", 2, (int32_t[]) {1, 0}, 2), PE_DOMAIN_MALFORMED);
	/* what is wrong with the attribute itself comes first */
	assert_int_equal(read_map("Ilcd", 2, (int32_t[]) {1, 0}, 2), PE_DOMAIN_NO_ORDER);
}

static void
test_read_product_without_numbers(void **state)
{
	pe_domain	domain;
	pe_domain	back;
	size_t		size;
	char	   *form;

	(void) state;
	make_domain(&domain, 2, (int[]) {1025, 1024});
	form = written(&domain, &size);
	assert_int_equal(pe_domain_read(&back, form, size), PE_DOMAIN_OK);
	assert_false(pe_domain_has_numbers(&back));
	pe_domain_free(&back);
	free(form);
	pe_domain_free(&domain);
}

static int
seed(void **state)
{
	(void) state;
	pe_test_seed(20240229);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_int_levels),
		cmocka_unit_test(test_float_levels),
		cmocka_unit_test(test_bytes_levels),
		cmocka_unit_test(test_levels_brute_force),
		cmocka_unit_test(test_float_zero_brute_force),
		cmocka_unit_test(test_bytes_brute_force),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_int_bins),
		cmocka_unit_test(test_int_extremes),
		cmocka_unit_test(test_float_bins),
		cmocka_unit_test(test_bytes_bins),
		cmocka_unit_test(test_bytes_bins_brute_force),
		cmocka_unit_test(test_bins_brute_force),
		cmocka_unit_test(test_last_bin),
		cmocka_unit_test(test_cell_order),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_product_limits),
		cmocka_unit_test(test_product_brute_force),
		cmocka_unit_test(test_classes),
		cmocka_unit_test(test_classes_refused),
		cmocka_unit_test(test_product_of_classes),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_round_trip_largest),
		cmocka_unit_test(test_read_refuses),
		cmocka_unit_test(test_read_counts),
		cmocka_unit_test(test_read_maps),
		cmocka_unit_test(test_read_product_without_numbers),
	};

	return cmocka_run_group_tests(tests, seed, NULL);
}
