/*
 * test_unit_clip.c
 *	  What a unit of several rows adds to a sum: against sums of its rows that are
 *	  clipped here once more, and never more than the noise is for.
 *
 * Random cases come from a fixed seed, so failures repeat.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/prf.h"
#include "glm/kernel.h"
#include "glm/pass.h"
#include "glm/unit_clip.h"
#include "shim.h"
#include "tables.h"

#define UNITS 12
#define MOST_SUMS 1200

/* ------------------------------------------------------------------
 * The arithmetic
 * ------------------------------------------------------------------
 */

static pe_u128
size_of(pe_norm norm, const int64_t *v, size_t count)
{
	pe_u128		size = 0;

	for (size_t i = 0; i < count; i++)
		size += norm == PE_L2 ? (pe_u128) ((pe_i128) v[i] * v[i]) : (pe_u128) llabs(v[i]);
	return size;
}

/* Whether t |v| <= 2^24 C, of numbers whose products fit. */
static bool
holds(pe_norm norm, pe_u128 t, pe_u128 size, pe_u128 clip)
{
	return norm == PE_L2 ? t * t * size <= clip << 48 : t * size <= clip << 24;
}

/* The weight, bit by bit. */
static uint32_t
weight_of(pe_norm norm, pe_u128 size, pe_u128 clip)
{
	uint32_t	t = 0;

	if (holds(norm, 1 << 24, size, clip))
		return 1 << 24;
	for (uint32_t bit = 1 << 23; bit > 0; bit /= 2)
		if (holds(norm, t + bit, size, clip))
			t += bit;
	return t;
}

/* x t / 2^bits without what is behind the point. */
static int64_t
cut_off(int64_t x, int64_t t, int bits)
{
	pe_i128		product = (pe_i128) x * t;

	return (int64_t) (product / ((pe_i128) 1 << bits));
}

static void
test_weights(void **state)
{
	for (int c = 0; c < cases(200000); c++)
		for (int norm = PE_L2; norm <= PE_L1; norm++)
		{
			pe_u128		clip = any_word() >> any_below(64) | 1;
			pe_u128		size = any_below(4) == 0 ? clip + (pe_u128) any_below(3) : (pe_u128) (any_word() >> any_below(64)) << any_below(12);

			assert_int_equal(pe_unit_weight((pe_norm) norm, size, clip), weight_of((pe_norm) norm, size, clip));
		}
	for (int c = 0; c < cases(200000); c++)
	{
		uint32_t	t = (uint32_t) any_below((1 << 24) + 1);
		int64_t		q = pe_unit_row_scale(t);
		int64_t		x = (int64_t) any_word() >> any_below(63);

		assert_true(q * q <= 16 * (int64_t) t && (q + 1) * (q + 1) > 16 * (int64_t) t);
		assert_int_equal(pe_scaled_toward_zero(x, t, 24), cut_off(x, t, 24));
	}
	assert_int_equal(pe_unit_row_scale(1 << 24), 1 << 14);
	assert_int_equal(pe_unit_weight(PE_L2, 0, 0), 0);
	/* the largest clip, and the longest unit */
	assert_int_equal(pe_unit_weight(PE_L2, PE_UNIT_CLIP_MOST - 1, PE_UNIT_CLIP_MOST - 1), 1 << 24);
	assert_int_equal(pe_unit_weight(PE_L2, ~(pe_u128) 0, PE_UNIT_CLIP_MOST - 1), 0);
}

/* Random sums of all sizes: no longer than the clip, and hardly shorter than that or than they were. */
static void
test_lengths(void **state)
{
	for (int c = 0; c < cases(100000); c++)
	{
		pe_norm		norm = any_below(2) ? PE_L1 : PE_L2;
		size_t		count = 1 + (size_t) any_below(6);
		int			bits = 1 + any_below(34);
		int64_t		clip = 1 + (int64_t) (any_word() >> (64 - 1 - any_below(34)));
		pe_u128		limit = norm == PE_L2 ? (pe_u128) ((pe_i128) clip * clip) : (pe_u128) clip;
		int64_t		v[6];
		int64_t		was[6];
		int64_t		total[6] = {0};
		pe_u128		size;
		bool		longer;

		for (size_t i = 0; i < count; i++)
			was[i] = v[i] = ((int64_t) any_word() >> (64 - bits)) * (any_below(2) ? 1 : -1);
		size = size_of(norm, v, count);
		assert_true(pe_unit_size(norm, v, count) == size);
		longer = size > limit;
		pe_unit_add(v, count, pe_unit_weight(norm, size, limit), PE_WEIGHT_BITS, total);
		size = size_of(norm, total, count);
		assert_true(size <= limit);
		for (size_t i = 0; i < count; i++)
		{
			assert_int_equal(v[i], 0);
			assert_true(llabs(total[i]) <= llabs(was[i]) && (total[i] == 0 || (total[i] > 0) == (was[i] > 0)));
			if (!longer)
				assert_int_equal(total[i], was[i]);
		}
		if (longer)
		{
			double		length = norm == PE_L2 ? sqrt((double) size) : (double) size;
			double		before = norm == PE_L2 ? sqrt((double) size_of(norm, was, count)) : (double) size_of(norm, was, count);

			/* a unit of each coordinate, and of t */
			assert_true(length >= (double) clip - (double) count - before / (1 << 24) * 1.001);
		}
	}
}

/* ------------------------------------------------------------------
 * Passes over units
 * ------------------------------------------------------------------
 */

static double
any_double(void)
{
	return (double) (any_word() >> 11) / 0x1p52 - 1.0;
}

static void
set_weights(pe_weights *weights, const pe_row_shape *shape)
{
	double		w[PE_MAX_COLUMNS];

	for (int j = 0; j < shape->columns; j++)
		w[j] = any_double();
	weights->v = malloc((size_t) shape->columns * sizeof(int32_t));
	pe_weights_set(weights, w, shape->columns, (pe_u128) (shape->dense + shape->groups) * PE_ONE * PE_ONE);
}

/* A pass whose clip binds for some units and for others not. */
static void
make_pass(pe_pass *pass, pe_pass_kind kind, const pe_row_shape *shape, pe_norm norm)
{
	int			most = shape->dense + shape->groups;
	double		length = (norm == PE_L2 ? sqrt(most) : most) * PE_ONE;

	memset(pass, 0, sizeof(*pass));
	pass->kind = kind;
	pass->loss = (pe_loss) any_below(4);
	set_weights(&pass->weights, shape);
	set_weights(&pass->direction, shape);
	pass->residual_bits = pass->loss == PE_LOSS_SQUARED ? any_below(4) : 0;
	pass->norm = norm;
	pass->with_label = any_below(2);
	pass->candidates = 1 + any_below(8);
	for (int c = 0; c < pass->candidates; c++)
		pass->alpha[c] = (float) any_double();
	pass->step = (float) any_double();
	pass->cap = 1 + any_below(1 << 18);
	pass->clip_1 = (pe_u128) most * PE_ONE;
	if (kind == PE_PASS_MOMENT)
		pass->clip = (pe_u128) most * PE_ONE * PE_ONE;
	else if (kind == PE_PASS_GRADIENT)
	{
		length *= 32767 * exp2(-any_below(3) - any_below(2) * any_below(30)) + 1;
		pass->clip = (pe_u128) (norm == PE_L2 ? length * length : length);
	}
	else
		pass->clip = (pe_u128) 1 + (pe_u128) any_below(1 << (1 + any_below(18)));
}

static void
free_pass(pe_pass *pass)
{
	free(pass->weights.v);
	free(pass->direction.v);
}

/* The rows of a unit of the table in a store; unit < 0: of all, in an order of their own. */
static void
store_unit(pe_rows *rows, const table *t, int unit)
{
	int			first = any_below(t->n);

	pe_rows_init(rows, &t->shape, true);
	for (int k = 0; k < t->n; k++)
	{
		int			i = (first + k) % t->n;

		if (unit < 0 || (t->unit[i][0] == t->unit[unit][0] && t->unit[i][1] == t->unit[unit][1]))
			pe_rows_add(rows, &t->row[i], t->unit[i]);
		/* one that was dropped has no say, wherever it is */
		if (any_below(4) == 0)
			pe_rows_add_nothing(rows, t->unit[i]);
	}
}

static void
run_kernel(int kernel, const pe_pass *pass, pe_rows *rows, pe_i128 *sums)
{
	memset(sums, 0, pe_pass_sums(pass, &rows->shape) * sizeof(*sums));
	pe_pass_run_with((pe_kernel) kernel, pass, rows, sums);
}

static void
run(const pe_pass *pass, pe_rows *rows, pe_i128 *sums)
{
	run_kernel((int) pe_kernel_best(), pass, rows, sums);
}

/* ---- what a unit gives, written once more ---- */

static void
narrow(const pe_i128 *from, size_t count, int64_t *to)
{
	for (size_t i = 0; i < count; i++)
		to[i] = (int64_t) from[i];
}

static void
expect_clipped(const pe_pass *pass, const int64_t *v, size_t count, int64_t *expected)
{
	uint32_t	t = weight_of(pass->norm, size_of(pass->norm, v, count), pass->clip);

	for (size_t i = 0; i < count; i++)
		expected[i] = cut_off(v[i], t, 24);
}

static void
expect_scores(const pe_pass *pass, const int64_t *v, size_t count, int64_t *expected)
{
	int64_t		least = v[0];
	int64_t		most = v[0];
	uint32_t	t;

	for (size_t i = 1; i < count; i++)
	{
		least = v[i] < least ? v[i] : least;
		most = v[i] > most ? v[i] : most;
	}
	t = weight_of(PE_L1, (pe_u128) (most - least), pass->clip);
	for (size_t i = 0; i < count; i++)
		expected[i] = cut_off(v[i] - least, t, 24);
}

/* Columns of a row, the label as the last. */
static void
columns_of(const pe_pass *pass, const pe_rows *rows, size_t i, int64_t *x)
{
	int16_t		dense[64];
	uint16_t	cell[64];
	pe_row		row = {dense, cell, 0, 0};
	int			column = rows->shape.dense;

	pe_rows_get(rows, i, &row);
	memset(x, 0, (size_t) (rows->shape.columns + 1) * sizeof(*x));
	for (int j = 0; j < rows->shape.dense; j++)
		x[j] = dense[j];
	for (int g = 0; g < rows->shape.groups; column += rows->shape.cells[g++])
		if (cell[g] != PE_NO_GROUP_CELL)
			x[column + cell[g]] = row.unit;
	if (row.label != PE_NO_LABEL)
		x[rows->shape.columns] = pass->loss == PE_LOSS_SQUARED ? row.label : row.label == 1 ? PE_ONE : -PE_ONE;
}

static uint32_t
least_of(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static void
expect_moment(const pe_pass *pass, const pe_rows *rows, int64_t *expected)
{
	int			d = rows->shape.columns;
	pe_u128		square = 0;
	pe_u128		square_1 = 0;
	int64_t		label[64] = {0};
	int64_t		own = 0;		/* the label's square, which nobody releases */
	int64_t		x[65];
	uint32_t	t;
	int64_t		q;

	for (size_t i = 0; i < rows->rows; i++)
	{
		pe_u128		one;

		columns_of(pass, rows, i, x);
		one = size_of(PE_L1, x, (size_t) d);
		square += size_of(PE_L2, x, (size_t) d);
		square_1 += one * one;
		for (int j = 0; j < d; j++)
			label[j] += x[d] * x[j];
		own += x[d] * x[d];
	}
	t = weight_of(PE_L1, square, pass->clip);
	if (pass->norm == PE_L1)
		t = least_of(t, weight_of(PE_L1, square_1, pass->clip_1 * pass->clip_1));
	if (pass->with_label)
		t = least_of(t, weight_of(pass->norm, size_of(pass->norm, label, (size_t) d),
								  pass->norm == PE_L1 ? pass->clip_1 * PE_ONE : pass->clip * PE_ONE * PE_ONE));
	q = (int64_t) floor(sqrt(16.0 * t));
	for (size_t i = 0; i < rows->rows; i++)
	{
		columns_of(pass, rows, i, x);
		for (int j = 0; j < d; j++)
			x[j] = cut_off(x[j], q, 14);
		for (int j = 0, n = 0; j < d; j++)
			for (int k = 0; k <= j; k++)
				expected[n++] += x[j] * x[k];
	}
	for (int j = 0; j < d && pass->with_label; j++)
		expected[d * (d + 1) / 2 + j] = cut_off(label[j], q * q, 28);
	if (pass->with_label)
		expected[d * (d + 1) / 2 + d] = own;
}

/* Of a unit's rows alone in a store. */
static void
expect_unit(const pe_pass *pass, pe_rows *rows, int64_t *expected)
{
	size_t		count = pe_pass_sums(pass, &rows->shape);
	pe_pass		by_row = *pass;
	pe_i128		sums[MOST_SUMS];
	int64_t		v[MOST_SUMS];

	memset(expected, 0, count * sizeof(*expected));
	if (pass->kind == PE_PASS_MOMENT)
	{
		expect_moment(pass, rows, expected);
		return;
	}
	by_row.unit_clip = false;
	run(&by_row, rows, sums);
	narrow(sums, count, v);
	(pass->kind == PE_PASS_GRADIENT ? expect_clipped : expect_scores) (pass, v, count, expected);
}

/* ---- what the noise is for ---- */

/* |a - b|: squared of PE_L2, where entries beside the diagonal of a moment count twice. */
static double
distance(const pe_pass *pass, const pe_row_shape *shape, const int64_t *a, const int64_t *b)
{
	size_t		count = pe_pass_sums(pass, shape);
	double		sum = 0;

	for (int j = 0, n = 0; pass->kind == PE_PASS_MOMENT && j < shape->columns; j++)
		for (int k = 0; k <= j; k++, n++)
			sum += pass->norm == PE_L1 ? fabs((double) (a[n] - b[n])) : (j == k ? 1 : 2) * pow((double) (a[n] - b[n]), 2);
	for (size_t i = 0; i < count && pass->kind == PE_PASS_GRADIENT; i++)
		sum += pass->norm == PE_L1 ? fabs((double) (a[i] - b[i])) : pow((double) (a[i] - b[i]), 2);
	return sum;
}

static double
label_distance(const pe_pass *pass, const pe_row_shape *shape, const int64_t *a, const int64_t *b)
{
	int			d = shape->columns;
	double		sum = 0;

	for (int j = d * (d + 1) / 2; j < d * (d + 1) / 2 + d; j++)
		sum += pass->norm == PE_L1 ? fabs((double) (a[j] - b[j])) : pow((double) (a[j] - b[j]), 2);
	return sum;
}

/* What one row can have, squared of PE_L2. */
static double
limit_of(const pe_pass *pass)
{
	double		square = (double) pass->clip;
	double		one = (double) pass->clip_1;

	if (pass->kind == PE_PASS_MOMENT)
		return pass->norm == PE_L1 ? (one * one + square) / 2 : square * square;
	return (double) pass->clip;
}

/* A unit against none and against another. */
static void
check_sensitivity(const pe_pass *pass, const pe_row_shape *shape, const int64_t *a, const int64_t *b)
{
	static const int64_t none[MOST_SUMS];
	double		limit = limit_of(pass) * (1 + 1e-12);
	double		twice = pass->norm == PE_L1 ? 2 : pass->kind == PE_PASS_MOMENT ? 2 : 4;

	if (pass->kind == PE_PASS_LOSSES || pass->kind == PE_PASS_COORDINATES)
	{
		for (size_t i = 0; i < pe_pass_sums(pass, shape); i++)
			assert_true(a[i] >= 0 && (pe_u128) a[i] <= pass->clip);
		return;
	}
	assert_true(distance(pass, shape, a, none) <= limit);
	assert_true(distance(pass, shape, a, b) <= twice * limit);
	if (pass->kind == PE_PASS_MOMENT && pass->with_label)
	{
		limit = (pass->norm == PE_L1 ? (double) pass->clip_1 * PE_ONE : (double) pass->clip * PE_ONE * PE_ONE) * (1 + 1e-12);
		assert_true(label_distance(pass, shape, a, none) <= limit);
		assert_true(label_distance(pass, shape, a, b) <= (pass->norm == PE_L1 ? 2 : 4) * limit);
	}
}

/* ---- whole tables ---- */

static void
add(int64_t *to, const int64_t *v, size_t count)
{
	for (size_t i = 0; i < count; i++)
		to[i] += v[i];
}

/* Whether this is the first row of its unit in the table. */
static bool
is_first(const table *t, int row)
{
	for (int i = 0; i < row; i++)
		if (memcmp(t->unit[i], t->unit[row], sizeof(t->unit[0])) == 0)
			return false;
	return true;
}

/* Each unit's part alone, and the sums of all, in another order, by every kernel. */
static void
check_units(const pe_pass *pass, const table *t)
{
	size_t		count = pe_pass_sums(pass, &t->shape);
	static int64_t expected[MOST_SUMS];
	static int64_t one[MOST_SUMS];
	static int64_t before[MOST_SUMS];
	static pe_i128 sums[MOST_SUMS];
	pe_rows		rows;

	memset(expected, 0, sizeof(expected));
	memset(before, 0, sizeof(before));
	for (int i = 0; i < t->n; i++)
	{
		uint64_t	coin[2] = {0, 0};

		if (!is_first(t, i))
			continue;
		store_unit(&rows, t, i);
		expect_unit(pass, &rows, one);
		pe_rows_free(&rows);
		check_sensitivity(pass, &t->shape, one, before);
		memcpy(before, one, sizeof(before));
		if (pass->sample != 0)
			pe_siphash(pass->sample_key, t->unit[i], sizeof(t->unit[0]), coin);
		if (pass->sample == 0 || coin[0] < pass->sample)
			add(expected, one, count);
	}
	store_unit(&rows, t, -1);
	for (int kernel = 0; kernel < PE_KERNELS; kernel++)
	{
		if (!pe_kernel_available((pe_kernel) kernel))
			continue;
		run_kernel(kernel, pass, &rows, sums);
		for (size_t i = 0; i < count; i++)
			if (sums[i] != expected[i])
				fail_msg("kind %d, kernel %d: sum %zu is %.17g and should be %.17g", pass->kind, kernel, i, (double) sums[i],
						 (double) expected[i]);
	}
	pe_rows_free(&rows);
}

static const pe_pass_kind kinds[] = {PE_PASS_GRADIENT, PE_PASS_MOMENT, PE_PASS_LOSSES, PE_PASS_COORDINATES};

static void
any_table(table *t, int units)
{
	make_table(t, any_below(8), 1 + any_below(3), 1 + any_below(any_below(8) == 0 ? 400 : 60), (table_kind) any_below(4), false, units);
}

static void
test_units(void **state)
{
	for (int c = 0; c < cases(1500); c++)
	{
		table		t;
		pe_pass		pass;

		any_table(&t, 1 + any_below(UNITS));
		make_pass(&pass, kinds[c % 4], &t.shape, any_below(2) ? PE_L1 : PE_L2);
		/* |x|_1 may decide too */
		pass.clip_1 = 1 + pass.clip_1 / (pe_u128) (1 + any_below(4));
		pass.unit_clip = true;
		check_units(&pass, &t);
		free_pass(&pass);
		free_table(&t);
	}
}

/* Whole units take part or none of their rows. */
static void
test_sampled_units(void **state)
{
	for (int c = 0; c < cases(300); c++)
	{
		table		t;
		pe_pass		pass;

		any_table(&t, 1 + any_below(100));
		make_pass(&pass, PE_PASS_GRADIENT, &t.shape, any_below(2) ? PE_L1 : PE_L2);
		pass.unit_clip = true;
		pass.sample = any_word() >> (c % 2 ? 1 + any_below(3) : 4 + any_below(4));
		pass.sample_key[0] = any_word();
		pass.sample_key[1] = any_word();
		check_units(&pass, &t);
		free_pass(&pass);
		free_table(&t);
	}
}

/* A unit of one row adds what the row does: of scores the differences. */
static void
test_one_row(void **state)
{
	for (int c = 0; c < cases(800); c++)
	{
		table		t;
		pe_pass		pass;
		pe_rows		rows;
		static pe_i128 by_row[MOST_SUMS];
		static pe_i128 by_unit[MOST_SUMS];
		bool		scores;

		any_table(&t, 0);
		make_pass(&pass, kinds[c % 4], &t.shape, any_below(2) ? PE_L1 : PE_L2);
		scores = pass.kind == PE_PASS_LOSSES || pass.kind == PE_PASS_COORDINATES;
		if (scores)
			pass.clip = (pe_u128) pass.cap;
		pe_rows_init(&rows, &t.shape, true);
		for (int i = 0; i < t.n; i++)
		{
			uint64_t	unit[2] = {any_word(), (uint64_t) i};

			pe_rows_add(&rows, &t.row[i], unit);
		}
		run(&pass, &rows, by_row);
		pass.unit_clip = true;
		run(&pass, &rows, by_unit);
		for (size_t i = 0; i < pe_pass_sums(&pass, &t.shape); i++)
			assert_true(by_unit[i] - (scores ? by_unit[0] : 0) == by_row[i] - (scores ? by_row[0] : 0));
		pe_rows_free(&rows);
		free_pass(&pass);
		free_table(&t);
	}
}

/* A clip of a moment's weights that was left in the rows is none of a gradient's caps. */
static void
test_passes_in_turn(void **state)
{
	for (int c = 0; c < cases(100); c++)
	{
		table		t;
		pe_rows		rows;
		pe_rows		fresh;
		static pe_i128 sums[MOST_SUMS];
		static pe_i128 expected[MOST_SUMS];

		any_table(&t, UNITS);
		store_table(&rows, &t, NULL);
		for (int k = 0; k < 6; k++)
		{
			pe_pass		pass;

			make_pass(&pass, kinds[any_below(4)], &t.shape, any_below(2) ? PE_L1 : PE_L2);
			pass.unit_clip = any_below(2);
			store_table(&fresh, &t, NULL);
			run(&pass, &rows, sums);
			run(&pass, &fresh, expected);
			assert_memory_equal(sums, expected, pe_pass_sums(&pass, &t.shape) * sizeof(*sums));
			pe_rows_free(&fresh);
			free_pass(&pass);
		}
		pe_rows_free(&rows);
		free_table(&t);
	}
}

/* ------------------------------------------------------------------
 * Bytes, and what cannot be
 * ------------------------------------------------------------------
 */

static void
check_read(const pe_pass *pass, const pe_row_shape *shape, bool sound)
{
	size_t		size = pe_pass_size(pass, shape);
	char	   *bytes = malloc(size);
	pe_pass		copy;

	pe_pass_write(pass, shape, bytes);
	assert_int_equal(pe_pass_read(&copy, shape, bytes, size), sound);
	if (sound)
	{
		assert_int_equal(copy.unit_clip, pass->unit_clip);
		assert_true(copy.clip_1 == pass->clip_1 && copy.clip == pass->clip);
	}
	free(bytes);
}

static void
test_bytes(void **state)
{
	pe_row_shape shape;

	make_shape(&shape, 3, 1);
	for (int kind = 0; kind <= PE_PASS_PRECISE; kind++)
	{
		bool		takes = kind == PE_PASS_GRADIENT || kind == PE_PASS_MOMENT || kind == PE_PASS_LOSSES || kind == PE_PASS_COORDINATES;
		pe_pass		pass;

		make_pass(&pass, (pe_pass_kind) kind, &shape, PE_L2);
		check_read(&pass, &shape, true);
		pass.unit_clip = true;
		check_read(&pass, &shape, takes);
		pass.clip = PE_UNIT_CLIP_MOST;
		check_read(&pass, &shape, false);
		pass.clip = PE_UNIT_CLIP_MOST - 1;
		check_read(&pass, &shape, takes && kind != PE_PASS_MOMENT);
		pass.clip = 1;
		pass.clip_1 = (pe_u128) 1 << 40;
		check_read(&pass, &shape, false);
		free_pass(&pass);
	}
	free(shape.cells);
}

static void
clip_too_far(void *nothing)
{
	(void) pe_unit_weight(PE_L2, 1, PE_UNIT_CLIP_MOST);
}

typedef struct gradient_of_rows
{
	pe_pass		pass;
	pe_rows		rows;
} gradient_of_rows;

static void
run_gradient(void *of)
{
	gradient_of_rows *g = of;
	pe_i128		sums[MOST_SUMS];

	run(&g->pass, &g->rows, sums);
}

/* Rows whose units are not known, as a unit each, would get the noise of one where there are k. */
static void
test_refused(void **state)
{
	gradient_of_rows g;
	table		t;

	any_table(&t, 0);
	make_pass(&g.pass, PE_PASS_GRADIENT, &t.shape, PE_L2);
	g.pass.unit_clip = true;
	store_table(&g.rows, &t, NULL);
	assert_true(pe_test_is_bug(run_gradient, &g));
	assert_true(pe_test_is_bug(clip_too_far, NULL));
	pe_rows_free(&g.rows);
	free_pass(&g.pass);
	free_table(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_sampled_units),
		cmocka_unit_test(test_one_row),
		cmocka_unit_test(test_passes_in_turn),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
