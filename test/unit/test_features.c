/*
 * test_features.c
 *	  How values become integers: places in bounds, indicators, columns, lengths.
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
#include <stdlib.h>
#include <string.h>

#include "glm/features.h"
#include "numbers.h"
#include "shim.h"

#define MOST_FEATURES 8

#define cases(count) fewer(count, 100)

/* ---- numbers ---- */

static void
test_scale(void **state)
{
	(void) state;
	assert_int_equal(pe_feature_scale(0.0, 0.0, 10.0), -PE_ONE);
	assert_int_equal(pe_feature_scale(10.0, 0.0, 10.0), PE_ONE);
	assert_int_equal(pe_feature_scale(5.0, 0.0, 10.0), 0);
	assert_int_equal(pe_feature_scale(7.5, 0.0, 10.0), 8191);	/* 8191.5, toward zero */
	assert_int_equal(pe_feature_scale(2.5, 0.0, 10.0), -8191);
	assert_int_equal(pe_feature_scale(11.0, 0.0, 10.0), PE_ONE);
	assert_int_equal(pe_feature_scale(-1.0, 0.0, 10.0), -PE_ONE);
	/* bounds of -1 and 1 leave a number as it is */
	assert_int_equal(pe_feature_scale(0.25, -1.0, 1.0), 4095);
	assert_int_equal(pe_feature_scale(-0.25, -1.0, 1.0), -4095);
	assert_int_equal(pe_feature_scale(1e-9, -1.0, 1.0), 0);
	assert_int_equal(pe_feature_scale(-1e-9, -1.0, 1.0), 0);
}

/* bounds that overflow when subtracted, that have nothing between them, subnormal ones */
static void
test_scale_extremes(void **state)
{
	double		tiny = 4.9406564584124654e-324;
	double		above_one = nextafter(1.0, 2.0);

	(void) state;
	assert_int_equal(pe_feature_scale(0.0, -DBL_MAX, DBL_MAX), 0);
	assert_int_equal(pe_feature_scale(DBL_MAX / 2, -DBL_MAX, DBL_MAX), 8191);
	assert_int_equal(pe_feature_scale(-DBL_MAX / 2, -DBL_MAX, DBL_MAX), -8191);
	assert_int_equal(pe_feature_scale(nextafter(DBL_MAX, 0.0), -DBL_MAX, DBL_MAX), PE_ONE - 1);
	assert_int_equal(pe_feature_scale(DBL_MAX, -1.0, DBL_MAX), PE_ONE);
	assert_int_equal(pe_feature_scale(0.0, 0.0, tiny), -PE_ONE);
	assert_int_equal(pe_feature_scale(tiny, 0.0, tiny), PE_ONE);
	assert_int_equal(pe_feature_scale(tiny, 0.0, 2 * tiny), 0);
	assert_int_equal(pe_feature_scale(tiny, -tiny, 2 * tiny), PE_ONE / 3);
	assert_int_equal(pe_feature_scale(above_one, 1.0, above_one), PE_ONE);
	assert_int_equal(pe_feature_scale(1.0, 1.0, above_one), -PE_ONE);
}

static double
random_double(void)
{
	double		x;

	do
		pe_random_bytes(&x, sizeof(x));
	while (!isfinite(x));
	return x;
}

/* any bit patterns: in range, ascending with the value, turned around with the bounds */
static void
test_scale_random(void **state)
{
	(void) state;
	for (int i = 0; i < cases(200000); i++)
	{
		double		a = random_double();
		double		b = random_below(2) ? random_double() : nextafter(a, random_double());
		double		u = random_below(2) ? random_double() : a / 2 + b / 2;
		double		v = random_double();
		double		lower = a < b ? a : b;
		double		upper = a < b ? b : a;
		int16_t		first;
		int16_t		second;

		if (!isfinite(b) || lower == upper)
			continue;
		first = pe_feature_scale(u < v ? u : v, lower, upper);
		second = pe_feature_scale(u < v ? v : u, lower, upper);
		assert_in_range(first + PE_ONE, 0, 2 * PE_ONE);
		assert_in_range(second + PE_ONE, 0, 2 * PE_ONE);
		assert_true(first <= second);
		assert_int_equal(pe_feature_scale(-(u < v ? u : v), -upper, -lower), -first);
	}
}

/* ---- one feature ---- */

static pe_feature
number(double lower, double upper, bool clamp, bool other, bool null)
{
	pe_feature	feature = {.number = true, .lower = lower, .upper = upper,
		.clamp = clamp, .other = other, .null = null};

	return feature;
}

static pe_feature
levels(int32_t count, bool other, bool null)
{
	pe_feature	feature = {.levels = count, .other = other, .null = null};

	return feature;
}

static pe_feature_value
is(double x)
{
	pe_feature_value value = {.number = x, .cell = PE_NO_GROUP_CELL};

	return value;
}

static pe_feature_value
in_cell(int32_t cell)
{
	pe_feature_value value = {.number = NAN, .cell = cell};

	return value;
}

static const pe_feature_value null_value = {.null = true, .number = 0.25, .cell = 0};

/* Encodes the only feature of a map without intercept; -1: dropped; else place in *dense, cell as returned. */
#define DROPPED (-1)
#define NO_CELL PE_NO_GROUP_CELL

static int
encode_one(pe_feature feature, pe_feature_value value, int16_t *dense)
{
	pe_feature_map map = {.features = 1, .feature = &feature};
	uint16_t	cell[1] = {NO_CELL};
	int16_t		column[1] = {12345};
	pe_row		row = {.dense = column, .cell = cell};
	bool		kept;

	assert_true(pe_feature_map_prepare(&map));
	kept = pe_feature_encode(&map, &value, &row);
	if (kept)
		assert_int_equal(row.unit, PE_ONE);
	pe_feature_map_free(&map);
	*dense = column[0];
	return kept ? cell[0] : DROPPED;
}

static void
test_number(void **state)
{
	static const double nulls[] = {NAN, -NAN};
	static const double outside[] = {-1.5, 1.5, INFINITY, -INFINITY, DBL_MAX};
	int16_t		dense;

	(void) state;
	for (int other = 0; other < 2; other++)
		for (int null = 0; null < 2; null++)
		{
			pe_feature	feature = number(-1, 1, false, other, null);

			assert_int_equal(encode_one(feature, is(0.5), &dense), NO_CELL);
			assert_int_equal(dense, 8191);
			assert_int_equal(encode_one(feature, is(1.0), &dense), NO_CELL);
			assert_int_equal(dense, PE_ONE);
			for (int i = 0; i < lengthof(outside); i++)
			{
				assert_int_equal(encode_one(feature, is(outside[i]), &dense), other ? 0 : DROPPED);
				assert_int_equal(dense, 0);
			}
			for (int i = 0; i < lengthof(nulls); i++)
				assert_int_equal(encode_one(feature, is(nulls[i]), &dense), null ? other : DROPPED);
			assert_int_equal(encode_one(feature, null_value, &dense), null ? other : DROPPED);
			assert_int_equal(dense, 0);
		}
}

static void
test_clamp(void **state)
{
	int16_t		dense;

	(void) state;
	for (int null = 0; null < 2; null++)
	{
		pe_feature	feature = number(-1, 1, true, false, null);

		assert_int_equal(encode_one(feature, is(INFINITY), &dense), NO_CELL);
		assert_int_equal(dense, PE_ONE);
		assert_int_equal(encode_one(feature, is(-7), &dense), NO_CELL);
		assert_int_equal(dense, -PE_ONE);
		assert_int_equal(encode_one(feature, is(NAN), &dense), null ? 0 : DROPPED);
	}
}

static void
test_levels(void **state)
{
	int16_t		dense;

	(void) state;
	for (int other = 0; other < 2; other++)
		for (int null = 0; null < 2; null++)
		{
			pe_feature	feature = levels(3, other, null);
			int			cells = 3 + other + null;

			for (int cell = -2; cell < 7; cell++)
				assert_int_equal(encode_one(feature, in_cell(cell), &dense),
								 cell >= 0 && cell < cells ? cell : DROPPED);
			assert_int_equal(encode_one(feature, null_value, &dense), null ? cells - 1 : DROPPED);
			assert_int_equal(dense, 12345);
		}
}

/* ---- the map ---- */

static void
test_columns(void **state)
{
	pe_feature	feature[] = {levels(2, true, true), number(0, 1, false, false, false),
		number(0, 1, false, true, true), levels(3, false, false), number(0, 1, true, false, true)};
	pe_feature_map map = {.features = lengthof(feature), .feature = feature, .intercept = true};
	static const int32_t cells[] = {4, 2, 3, 1};

	(void) state;
	assert_true(pe_feature_map_prepare(&map));
	assert_int_equal(map.shape.dense, 4);
	assert_int_equal(map.shape.groups, lengthof(cells));
	assert_memory_equal(map.shape.cells, cells, sizeof(cells));
	assert_int_equal(map.shape.columns, 14);
	assert_true(pe_feature_column(&map, 1, -1) == 0);
	assert_true(pe_feature_column(&map, 2, -1) == 1);
	assert_true(pe_feature_column(&map, 4, -1) == 2);
	assert_true(pe_feature_intercept(&map) == 3);
	assert_true(pe_feature_column(&map, 0, 0) == 4);
	assert_true(pe_feature_column(&map, 0, 3) == 7);
	assert_true(pe_feature_column(&map, 2, 1) == 9);
	assert_true(pe_feature_column(&map, 3, 2) == 12);
	assert_true(pe_feature_column(&map, 4, 0) == 13);
	assert_true(map.radius_sq == (pe_u128) 6 * PE_ONE * PE_ONE);
	assert_true(map.radius_1 == 6 * PE_ONE);
	pe_feature_map_free(&map);

	map.intercept = false;
	assert_true(pe_feature_map_prepare(&map));
	assert_int_equal(map.shape.columns, 13);
	assert_int_equal(pe_feature_intercept(&map), -1);
	assert_true(pe_feature_column(&map, 0, 0) == 3);
	assert_true(map.radius_sq == (pe_u128) 5 * PE_ONE * PE_ONE);
	assert_true(map.radius_1 == 5 * PE_ONE);
	pe_feature_map_free(&map);
}

typedef struct asked
{
	pe_feature_map *map;
	int32_t		feature;
	int32_t		cell;
} asked;

static void
ask(void *argument)
{
	asked	   *this = argument;

	pe_feature_column(this->map, this->feature, this->cell);
}

static void
test_no_such_column(void **state)
{
	pe_feature	feature[] = {levels(2, false, false), number(0, 1, false, false, true)};
	pe_feature_map map = {.features = 2, .feature = feature};
	asked		wrong[] = {{&map, 0, -1}, {&map, 0, 2}, {&map, 1, 1}, {&map, 1, -2}, {&map, 2, 0}, {&map, -1, 0}};

	(void) state;
	assert_true(pe_feature_map_prepare(&map));
	for (int i = 0; i < lengthof(wrong); i++)
		assert_true(pe_test_is_bug(ask, &wrong[i]));
	pe_feature_map_free(&map);
}

static bool
one_is_sound(pe_feature feature, bool intercept, double max_norm)
{
	pe_feature_map map = {.features = 1, .feature = &feature, .intercept = intercept, .max_norm = max_norm};
	bool		sound = pe_feature_map_prepare(&map);

	if (sound)
		pe_feature_map_free(&map);
	return sound;
}

static void
test_unsound(void **state)
{
	pe_feature_map nothing = {.features = 0};

	(void) state;
	assert_false(pe_feature_map_prepare(&nothing));
	nothing.intercept = true;
	assert_true(pe_feature_map_prepare(&nothing));
	assert_int_equal(nothing.shape.columns, 1);
	pe_feature_map_free(&nothing);
	nothing.features = -1;
	assert_false(pe_feature_map_prepare(&nothing));

	assert_true(one_is_sound(number(0, 1, true, false, true), true, 0));
	assert_false(one_is_sound(number(1, 1, true, false, true), true, 0));
	assert_false(one_is_sound(number(2, 1, true, false, true), true, 0));
	assert_false(one_is_sound(number(NAN, 1, true, false, true), true, 0));
	assert_false(one_is_sound(number(0, INFINITY, true, false, true), true, 0));
	assert_false(one_is_sound(number(0, 1, true, true, false), true, 0));
	assert_false(one_is_sound(levels(0, false, false), true, 0));
	assert_false(one_is_sound(levels(-1, true, true), true, 0));
	assert_true(one_is_sound(levels(PE_MAX_COLUMNS - 1, false, false), true, 0));
	assert_false(one_is_sound(levels(PE_MAX_COLUMNS - 1, true, false), true, 0));
	assert_false(one_is_sound(levels(INT32_MAX, true, true), true, 0));
	assert_false(one_is_sound(levels(2, false, false), true, -1));
	assert_false(one_is_sound(levels(2, false, false), true, NAN));
	assert_false(one_is_sound(levels(2, false, false), true, 1.0 / 20000));
	assert_true(one_is_sound(levels(2, false, false), true, 1.0 / 10000));
	assert_true(one_is_sound(levels(2, false, false), true, INFINITY));
}

static void
test_max_norm(void **state)
{
	pe_feature	feature[] = {number(-1, 1, true, false, false), number(-1, 1, true, false, false), levels(2, false, false)};
	pe_feature_map map = {.features = 3, .feature = feature, .intercept = true, .max_norm = 1.0};
	pe_feature_value longest[] = {is(-1), is(1), in_cell(1)};
	pe_feature_value short_one[] = {is(0), is(0), in_cell(0)};
	int16_t		dense[3];
	uint16_t	cell[1];
	pe_row		row = {.dense = dense, .cell = cell};

	(void) state;
	assert_true(pe_feature_map_prepare(&map));
	assert_true(map.radius_sq == PE_ONE * PE_ONE);
	assert_true(map.radius_1 == 2 * PE_ONE);	/* sqrt(4 entries) */
	assert_true(pe_feature_encode(&map, longest, &row));
	/* four entries of the same size: half of PE_ONE each, toward zero */
	assert_int_equal(dense[0], -8191);
	assert_int_equal(dense[1], 8191);
	assert_int_equal(dense[2], 8191);
	assert_int_equal(row.unit, 8191);
	assert_int_equal(cell[0], 1);
	pe_feature_map_free(&map);

	/* a norm that a row does not reach leaves it alone */
	map.max_norm = 1.5;
	assert_true(pe_feature_map_prepare(&map));
	assert_true(map.radius_sq == (pe_u128) (2.25 * PE_ONE * PE_ONE));
	assert_true(pe_feature_encode(&map, short_one, &row));
	assert_int_equal(dense[2], PE_ONE);
	assert_int_equal(row.unit, PE_ONE);
	pe_feature_map_free(&map);

	/* nor does a norm that no row reaches */
	map.max_norm = 2.5;
	assert_true(pe_feature_map_prepare(&map));
	assert_true(map.radius_sq == (pe_u128) 4 * PE_ONE * PE_ONE);
	assert_true(map.radius_1 == 4 * PE_ONE);
	pe_feature_map_free(&map);
}

/* ---- random maps and rows against the definition ---- */

static pe_feature
random_feature(void)
{
	bool		other = random_below(2);
	bool		null = random_below(2);
	double		lower = random_below(100) - 50;

	if (random_below(2))
		return levels(1 + random_below(4), other, null);
	return number(lower, lower + 1 + random_below(100), !other && random_below(2), other, null);
}

static pe_feature_value
random_value(void)
{
	static const double special[] = {NAN, INFINITY, -INFINITY, DBL_MAX};
	pe_feature_value value = {.null = random_below(8) == 0, .cell = random_below(8) - 1};

	value.number = random_below(8) == 0 ? special[random_below(4)] : random_below(3000) / 10.0 - 150.0;
	return value;
}

/*
 * The row as a vector with a column for each column of weights, before it is cut,
 * one column after another as the declaration says.  False if it is dropped.
 */
static bool
expand(const pe_feature_map *map, const pe_feature_value *value, int *x)
{
	memset(x, 0, (size_t) map->shape.columns * sizeof(*x));
	if (map->intercept)
		x[pe_feature_intercept(map)] = PE_ONE;
	for (int i = 0; i < map->features; i++)
	{
		const pe_feature *f = &map->feature[i];
		bool		null = value[i].null || (f->number && isnan(value[i].number));
		bool		outside = f->number ? value[i].number < f->lower || value[i].number > f->upper
			: value[i].cell < 0 || value[i].cell >= f->levels + f->other + f->null;
		int			indicators = f->number ? 0 : f->levels;

		if (null && !f->null)
			return false;
		if (null)
			x[pe_feature_column(map, i, indicators + f->other)] = PE_ONE;
		else if (!f->number && outside)
			return false;
		else if (!f->number)
			x[pe_feature_column(map, i, value[i].cell)] = PE_ONE;
		else if (outside && !f->clamp && !f->other)
			return false;
		else if (outside && f->other)
			x[pe_feature_column(map, i, 0)] = PE_ONE;
		else
			x[pe_feature_column(map, i, -1)] = pe_feature_scale(value[i].number, f->lower, f->upper);
	}
	return true;
}

static void
expand_row(const pe_feature_map *map, const pe_row *row, int *x)
{
	int			start = map->shape.dense;

	memset(x, 0, (size_t) map->shape.columns * sizeof(*x));
	for (int j = 0; j < map->shape.dense; j++)
		x[j] = row->dense[j];
	for (int g = 0; g < map->shape.groups; g++)
	{
		if (row->cell[g] != PE_NO_GROUP_CELL)
		{
			assert_in_range(row->cell[g], 0, map->shape.cells[g] - 1);
			x[start + row->cell[g]] = row->unit;
		}
		start += map->shape.cells[g];
	}
}

static int64_t
norm_2_sq(const int *x, int columns)
{
	int64_t		sum = 0;

	for (int j = 0; j < columns; j++)
		sum += (int64_t) x[j] * x[j];
	return sum;
}

static int64_t
norm_1(const int *x, int columns)
{
	int64_t		sum = 0;

	for (int j = 0; j < columns; j++)
		sum += abs(x[j]);
	return sum;
}

/* In the bounds; unchanged if it was in them; else the same direction, each entry down by less than 1 + 2^-16. */
static void
check_row(const pe_feature_map *map, const int *whole, const int *x)
{
	int			columns = map->shape.columns;
	int64_t		before = norm_2_sq(whole, columns);
	double		factor = before <= (int64_t) map->radius_sq ? 1.0 : sqrt((double) map->radius_sq / (double) before);

	assert_true(norm_2_sq(x, columns) <= (int64_t) map->radius_sq);
	assert_true(norm_1(x, columns) <= map->radius_1);
	for (int j = 0; j < columns; j++)
	{
		double		expected = fabs(whole[j] * factor);

		assert_true(x[j] == 0 || (x[j] > 0) == (whole[j] > 0));
		assert_true(abs(x[j]) <= expected);
		assert_true(factor < 1.0 ? abs(x[j]) > expected - 1.0 - 0x1p-16 : abs(x[j]) == expected);
	}
}

static void
test_random_rows(void **state)
{
	static const double norms[] = {0, 0.001, 0.5, 1, 1.5, 2, 2.5, 100};
	int			kept = 0;
	int			cut = 0;

	(void) state;
	for (int i = 0; i < cases(20000); i++)
	{
		pe_feature	feature[MOST_FEATURES];
		pe_feature_value value[MOST_FEATURES];
		pe_feature_map map = {.features = 1 + random_below(MOST_FEATURES), .feature = feature,
			.intercept = random_below(2), .max_norm = norms[random_below(lengthof(norms))]};
		int			whole[MOST_FEATURES * 7 + 1];
		int			x[MOST_FEATURES * 7 + 1];
		int16_t		dense[MOST_FEATURES + 1];
		uint16_t	cell[MOST_FEATURES];
		pe_row		row = {.dense = dense, .cell = cell};

		for (int j = 0; j < map.features; j++)
			feature[j] = random_feature();
		assert_true(pe_feature_map_prepare(&map));
		for (int r = 0; r < 10; r++)
		{
			bool		expected;

			for (int j = 0; j < map.features; j++)
				value[j] = random_value();
			expected = expand(&map, value, whole);
			assert_int_equal(pe_feature_encode(&map, value, &row), expected);
			if (!expected)
				continue;
			expand_row(&map, &row, x);
			check_row(&map, whole, x);
			kept++;
			cut += norm_2_sq(whole, map.shape.columns) > (int64_t) map.radius_sq;
		}
		pe_feature_map_free(&map);
	}
	assert_true(kept > cases(20000) / 10);
	assert_true(cut > cases(20000) / 20);
}

static int
seed(void **state)
{
	(void) state;
	pe_test_seed(20260101);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scale),
		cmocka_unit_test(test_scale_extremes),
		cmocka_unit_test(test_scale_random),
		cmocka_unit_test(test_number),
		cmocka_unit_test(test_clamp),
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_no_such_column),
		cmocka_unit_test(test_unsound),
		cmocka_unit_test(test_max_norm),
		cmocka_unit_test(test_random_rows),
	};

	return cmocka_run_group_tests(tests, seed, NULL);
}
