/*
 * test_cell_bound.c
 *	  The weights of rows that prove a least value over the unit cube: against linear
 *	  programming.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "affine/programme.h"
#include "noise/bits.h"
#include "shim.h"

#define MOST_LIMITS 5
#define MOST_ROWS 40

static pe_bits bits;

/* Between -1 and 1; or of few values, so that there are ties, or of all sizes. */
static double
draw(int kind)
{
	double		u = (double) pe_bits_below(&bits, 2000001) / 1e6 - 1;

	return kind == 0 ? u : kind == 1 ? (double) pe_bits_below(&bits, 5) - 2 : u * pow(10, (double) pe_bits_below(&bits, 9) - 4);
}

/* The least value over the cube of the weighted mean. */
static double
proved(int32_t d, const double *row, const int32_t *index, const double *weight, int32_t count)
{
	double		bound = 0;

	for (int32_t j = 0; j <= d; j++)
	{
		double		sum = 0;

		for (int32_t i = 0; i < count; i++)
			sum += weight[i] * row[index[i] * (d + 1) + j];
		bound += j == d ? sum : fmin(sum, 0);
	}
	return bound;
}

static double
least_value(int32_t d, int32_t rows, const double *row)
{
	double		slope[MOST_ROWS * PE_CELL_BOUND_VARIABLES];
	double		offset[MOST_ROWS];
	double		lower[PE_CELL_BOUND_VARIABLES] = {0};
	double		upper[PE_CELL_BOUND_VARIABLES];
	double		x[PE_CELL_BOUND_VARIABLES];
	pe_plain_affine f = {d, rows, slope, offset};
	pe_polytope cube = {d, 0, lower, upper, NULL};
	pe_affine_minimum minimum = {.x = x};

	for (int32_t j = 0; j < d; j++)
		upper[j] = 1;
	for (int32_t i = 0; i < rows; i++)
	{
		for (int32_t j = 0; j < d; j++)
			slope[i * d + j] = row[i * (d + 1) + j];
		offset[i] = row[i * (d + 1) + d];
	}
	assert_int_equal(pe_affine_minimise(&f, &cube, 1e-10, &minimum), PE_PROGRAMME_SOLVED);
	return minimum.value;
}

static void
test_weights(void **state)
{
	(void) state;
	pe_test_seed(3);
	pe_bits_init(&bits);
	for (int round = 0; round < 3000; round++)
	{
		int			kind = round % 3;
		int32_t		d = 1 + (int32_t) pe_bits_below(&bits, PE_CELL_BOUND_VARIABLES);
		int32_t		rows = 1 + (int32_t) pe_bits_below(&bits, MOST_ROWS);
		double		row[MOST_ROWS * (PE_CELL_BOUND_VARIABLES + 1)];
		int32_t		index[PE_CELL_BOUND_VARIABLES + 1];
		double		weight[PE_CELL_BOUND_VARIABLES + 1];
		double		sum = 0;
		double		size = 1;
		int32_t		count;

		for (int32_t i = 0; i < rows * (d + 1); i++)
		{
			row[i] = draw(kind);
			size = fmax(size, fabs(row[i]));
		}
		count = pe_cell_weights(d, rows, 0, row, index, weight);
		assert_in_range(count, 1, d + 1);
		for (int32_t i = 0; i < count; i++)
		{
			assert_in_range(index[i], 0, rows - 1);
			assert_true(weight[i] > 0);
			sum += weight[i];
		}
		assert_true(fabs(sum - 1) < 1e-9);
		assert_true(fabs(proved(d, row, index, weight, count) - least_value(d, rows, row)) < 1e-8 * size);
	}
	pe_test_unseed();
}

/* The same over what limits leave of the cube, a point of which is known; those that no bound needs have no weight. */
static double
least_within(int32_t d, int32_t rows, int32_t limits, const double *row)
{
	double		lower[PE_CELL_BOUND_VARIABLES] = {0};
	double		upper[PE_CELL_BOUND_VARIABLES];
	double		slope[MOST_ROWS * PE_CELL_BOUND_VARIABLES];
	double		offset[MOST_ROWS];
	double		inequality[MOST_LIMITS * (PE_CELL_BOUND_VARIABLES + 1)];
	double		x[PE_CELL_BOUND_VARIABLES];
	pe_plain_affine f = {d, rows, slope, offset};
	pe_polytope set = {d, limits, lower, upper, inequality};
	pe_affine_minimum minimum = {.x = x};

	for (int32_t j = 0; j < d; j++)
		upper[j] = 1;
	for (int32_t i = 0; i < rows; i++)
	{
		memcpy(slope + i * d, row + i * (d + 1), (size_t) d * sizeof(double));
		offset[i] = row[i * (d + 1) + d];
	}
	memcpy(inequality, row + rows * (d + 1), (size_t) (limits * (d + 1)) * sizeof(double));
	for (int32_t k = 0; k < limits; k++)
		inequality[k * (d + 1) + d] = -inequality[k * (d + 1) + d];
	assert_int_equal(pe_affine_minimise(&f, &set, 1e-10, &minimum), PE_PROGRAMME_SOLVED);
	return minimum.value;
}

static void
test_limits(void **state)
{
	int			needed = 0;

	(void) state;
	pe_test_seed(4);
	pe_bits_init(&bits);
	for (int round = 0; round < 1000; round++)
	{
		int32_t		d = 1 + (int32_t) pe_bits_below(&bits, PE_CELL_BOUND_VARIABLES);
		int32_t		rows = 1 + (int32_t) pe_bits_below(&bits, MOST_ROWS);
		int32_t		limits = (int32_t) pe_bits_below(&bits, MOST_LIMITS + 1);
		double		row[(MOST_ROWS + MOST_LIMITS) * (PE_CELL_BOUND_VARIABLES + 1)];
		int32_t		index[PE_CELL_BOUND_VARIABLES + 1];
		double		weight[PE_CELL_BOUND_VARIABLES + 1];
		double		sum = 0;
		double		size = 1;
		int32_t		count;

		for (int32_t i = 0; i < (rows + limits) * (d + 1); i++)
		{
			row[i] = draw(0);
			size = fmax(size, fabs(row[i]));
		}
		/* the middle of the cube is within them */
		for (int32_t k = rows; k < rows + limits; k++)
		{
			double	   *b = &row[k * (d + 1) + d];

			*b = -fabs(*b) / 8;
			for (int32_t j = 0; j < d; j++)
				*b -= row[k * (d + 1) + j] / 2;
		}
		count = pe_cell_weights(d, rows, limits, row, index, weight);
		assert_in_range(count, 1, d + 1);
		for (int32_t i = 0; i < count; i++)
		{
			assert_in_range(index[i], 0, rows + limits - 1);
			assert_true(weight[i] > 0);
			sum += index[i] < rows ? weight[i] : 0;
			needed += index[i] >= rows;
		}
		assert_true(fabs(sum - 1) < 1e-9);
		assert_true(fabs(proved(d, row, index, weight, count) - least_within(d, rows, limits, row)) < 1e-7 * size);
	}
	assert_true(needed > 100);
	pe_test_unseed();
}

/* Rows that cross: neither says anything, both together all. */
static void
test_crossing(void **state)
{
	const double row[] = {2, -2, 0, -2, 2, 0};
	int32_t		index[3];
	double		weight[3];

	(void) state;
	assert_int_equal(pe_cell_weights(2, 2, 0, row, index, weight), 2);
	assert_true(fabs(weight[0] - 0.5) < 1e-12 && fabs(weight[1] - 0.5) < 1e-12);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_crossing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
