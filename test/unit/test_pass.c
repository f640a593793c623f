/*
 * test_pass.c
 *	  Exact sums over rows: every kernel against 128-bit arithmetic one number at a
 *	  time, what one row can change, the losses against libm, sampling, and passes as
 *	  bytes.
 *
 * Random cases come from a fixed seed, so failures repeat; with PG_EPSILON_QUICK
 * set there are fewer.  What depends on chance fails with a probability below 1e-9.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "glm/kernel.h"
#include "glm/loss.h"
#include "base/mem.h"
#include "glm/pass.h"
#include "shim.h"
#include "tables.h"

/* ---- what a row adds, written once more ---- */

#define NO_CAP_LIMIT 2147483520

/* Columns of a row, cells among them. */
static void
columns_of(const table *t, int i, int64_t *x)
{
	const pe_row *row = &t->row[i];
	int			column = t->shape.dense;

	memset(x, 0, (size_t) t->shape.columns * sizeof(*x));
	for (int j = 0; j < t->shape.dense; j++)
		x[j] = row->dense[j];
	for (int g = 0; g < t->shape.groups; g++)
	{
		if (row->cell[g] != PE_NO_GROUP_CELL)
			x[column + row->cell[g]] = row->unit;
		column += t->shape.cells[g];
	}
}

static pe_i128
whole(const int64_t *x, const int32_t *v, int columns)
{
	pe_i128		margin = 0;

	for (int j = 0; j < columns; j++)
		margin += (pe_i128) x[j] * v[j];
	return margin;
}

/* The margin in float32: its two limbs, each rounded once. */
static float
rounded_margin(const int64_t *x, const pe_weights *weights, int columns)
{
	pe_i128		margin = whole(x, weights->v, columns);
	pe_i128		high = margin >> 12;
	int32_t		low = (int32_t) (margin - high * 4096);
	volatile float unit = ldexpf(1.0f / PE_ONE, -weights->scale);
	volatile float a = (float) (int32_t) high * (unit * 4096.0f);
	volatile float b = (float) low * unit;

	return a + b;
}

static int64_t
oracle_residual(const pe_pass *pass, const table *t, int i, const int64_t *x)
{
	int			columns = t->shape.columns;
	float		m = rounded_margin(x, &pass->weights, columns);
	float		y = pe_float_label(pass->loss, t->row[i].label);
	float		v = pe_float_derivative(pass->loss, m, y) * ldexpf(1.0f, 15 - pass->residual_bits);
	int64_t		s = v >= 32767.0f ? 32767 : v <= -32767.0f ? -32767 : (int64_t) rintf(v);
	pe_u128		norm = 0;
	int64_t		cap = 0;

	for (int j = 0; j < columns; j++)
		norm += (pe_u128) (pass->norm == PE_L2 ? x[j] * x[j] : x[j] < 0 ? -x[j] : x[j]);
	/* bit by bit, the largest cap that is allowed */
	for (int64_t bit = 16384; bit > 0; bit /= 2)
		if ((pe_u128) (pass->norm == PE_L2 ? (cap + bit) * (cap + bit) : cap + bit) * norm <= pass->clip)
			cap += bit;
	return s > cap ? cap : s < -cap ? -cap : s;
}

static int64_t
oracle_loss(const pe_pass *pass, const table *t, int i, float margin)
{
	float		loss = pe_float_loss(pass->loss, margin, pe_float_label(pass->loss, t->row[i].label));
	float		v = loss * 32768.0f + 0.5f;
	int64_t		cap = pass->cap != 0 ? pass->cap : NO_CAP_LIMIT;
	int64_t		q = v >= 2147483520.0f ? NO_CAP_LIMIT : (int64_t) v;

	return q < cap ? q : cap;
}

/* Adds entries z_i z_j, i >= j. */
static void
oracle_products(const int64_t *z, int n, pe_i128 *sums)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j <= i; j++)
			*sums++ += (pe_i128) z[i] * z[j];
}

static void
oracle_coordinates(const pe_pass *pass, const table *t, int i, const int64_t *x, pe_i128 *sums)
{
	int			columns = t->shape.columns;
	float		m = rounded_margin(x, &pass->weights, columns);

	for (int j = 0; j < columns; j++)
	{
		volatile float share = (float) x[j] * (1.0f / PE_ONE);
		volatile float moved = pass->step * share;

		sums[j] += oracle_loss(pass, t, i, m + moved);
		sums[columns + j] += oracle_loss(pass, t, i, m - moved);
	}
}

static void
oracle_precise(const pe_pass *pass, const table *t, int i, const int64_t *x, pe_i128 *sums)
{
	int			columns = t->shape.columns;
	double		m = ldexp((double) whole(x, pass->weights.v, columns) / PE_ONE, -pass->weights.scale);
	double		y = pass->loss == PE_LOSS_SQUARED ? (double) t->row[i].label / PE_ONE : t->row[i].label;
	int64_t		residual = (int64_t) rint(ldexp(pe_double_derivative(pass->loss, m, y), 50));

	for (int j = 0; j < columns; j++)
		sums[j] += (pe_i128) residual * x[j];
	sums[columns] += (int64_t) rint(ldexp(pe_double_loss(pass->loss, m, y), 40));
}

/* Adds what row i adds. */
static void
oracle(const pe_pass *pass, const table *t, int i, pe_i128 *sums)
{
	static int64_t x[PE_MAX_COLUMNS + 1];
	int			columns = t->shape.columns;
	int16_t		label = t->row[i].label;
	int64_t		q;

	columns_of(t, i, x);
	switch (pass->kind)
	{
		case PE_PASS_GRADIENT:
			q = oracle_residual(pass, t, i, x);
			for (int j = 0; j < columns; j++)
				sums[j] += (pe_i128) q * x[j];
			break;
		case PE_PASS_MOMENT:
			x[columns] = pass->loss == PE_LOSS_SQUARED ? label : label == 1 ? PE_ONE : -PE_ONE;
			oracle_products(x, columns + pass->with_label, sums);
			break;
		case PE_PASS_CURVATURE:
			q = pe_quantised_curvature(pass->loss, rounded_margin(x, &pass->weights, columns),
									   pe_float_label(pass->loss, label));
			for (int j = 0; j < columns; j++)
				x[j] = (int64_t) floor((double) (x[j] * q) / 32768.0 + 0.5);
			oracle_products(x, columns, sums);
			break;
		case PE_PASS_LOSSES:
			for (int c = 0; c < pass->candidates; c++)
			{
				volatile float moved = pass->alpha[c] * rounded_margin(x, &pass->direction, columns);

				sums[c] += oracle_loss(pass, t, i, rounded_margin(x, &pass->weights, columns) - moved);
			}
			break;
		case PE_PASS_COORDINATES:
			oracle_coordinates(pass, t, i, x, sums);
			break;
		case PE_PASS_COUNT:
			sums[0] += 1;
			sums[1] += label;
			break;
		case PE_PASS_PRECISE:
			oracle_precise(pass, t, i, x, sums);
			break;
	}
}

/* ---- passes ---- */

static double
any_double(void)
{
	return (double) (any_word() >> 11) / 0x1p52 - 1.0;
}

/* Weights whose margins have about this size. */
static void
set_weights(pe_weights *weights, const pe_row_shape *shape, double size)
{
	double		w[PE_MAX_COLUMNS];
	pe_u128		radius_sq = (pe_u128) (shape->dense + shape->groups) * PE_ONE * PE_ONE;

	for (int j = 0; j < shape->columns; j++)
		w[j] = size * any_double();
	weights->v = malloc((size_t) shape->columns * sizeof(int32_t));
	pe_weights_set(weights, w, shape->columns, radius_sq);
}

static void
make_pass(pe_pass *pass, pe_pass_kind kind, pe_loss loss, const pe_row_shape *shape, double size)
{
	double		one = sqrt((double) shape->columns) * PE_ONE * 32768.0;

	memset(pass, 0, sizeof(*pass));
	pass->kind = kind;
	pass->loss = loss;
	set_weights(&pass->weights, shape, size);
	set_weights(&pass->direction, shape, size);
	pass->residual_bits = loss == PE_LOSS_SQUARED ? any_below(4) : 0;
	pass->norm = any_below(2) ? PE_L2 : PE_L1;
	pass->clip = (pe_u128) ((pass->norm == PE_L2 ? one * one : one * sqrt(shape->columns)) * exp2(-any_below(12)));
	pass->with_label = any_below(2);
	pass->candidates = 1 + any_below(PE_MAX_CANDIDATES);
	for (int c = 0; c < pass->candidates; c++)
		pass->alpha[c] = (float) any_double();
	pass->step = (float) any_double();
	pass->cap = any_below(3) == 0 ? 0 : 1 + any_below(1 << 18);
}

static void
free_pass(pe_pass *pass)
{
	free(pass->weights.v);
	free(pass->direction.v);
}

static pe_i128 *
new_sums(const pe_pass *pass, const pe_row_shape *shape)
{
	return calloc(pe_pass_sums(pass, shape), sizeof(pe_i128));
}

static void
assert_same_sums(const pe_i128 *a, const pe_i128 *b, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (a[i] != b[i])
			fail_msg("sum %zu is %.17g and should be %.17g (difference %g)", i, (double) a[i], (double) b[i],
					 (double) (a[i] - b[i]));
}

/* Every kernel against the oracle. */
static void
check_pass(const pe_pass *pass, const table *t, pe_rows *rows)
{
	size_t		count = pe_pass_sums(pass, &t->shape);
	pe_i128    *expected = new_sums(pass, &t->shape);
	pe_i128    *sums = new_sums(pass, &t->shape);
	bool		best = false;

	for (int i = 0; i < t->n; i++)
		oracle(pass, t, i, expected);
	for (int kernel = 0; kernel < PE_KERNELS; kernel++)
	{
		if (!pe_kernel_available((pe_kernel) kernel))
			continue;
		best |= (pe_kernel) kernel == pe_kernel_best();
		memset(sums, 0, count * sizeof(*sums));
		pe_pass_run_with((pe_kernel) kernel, pass, rows, sums);
		assert_same_sums(sums, expected, count);
	}
	assert_true(best);
	/* sums are added to what is there */
	pe_pass_run(pass, rows, sums);
	for (size_t i = 0; i < count; i++)
		expected[i] *= 2;
	assert_same_sums(sums, expected, count);
	free(expected);
	free(sums);
}

static void
check_all_passes(table *t, double size)
{
	pe_rows		rows;

	store_table(&rows, t, NULL);
	for (int kind = 0; kind <= PE_PASS_PRECISE; kind++)
		for (int loss = 0; loss <= PE_LOSS_SQUARED; loss++)
		{
			pe_pass		pass;

			/* labels are those of a classification, but that is for the squared loss as good as any */
			make_pass(&pass, (pe_pass_kind) kind, (pe_loss) loss, &t->shape, size);
			check_pass(&pass, t, &rows);
			free_pass(&pass);
		}
	pe_rows_free(&rows);
}

static void
test_oracle(void **state)
{
	static const int shapes[][2] = {{1, 0}, {2, 0}, {3, 0}, {10, 0}, {0, 1}, {0, 4}, {1, 2}, {7, 3}, {34, 2}};
	static const int sizes[] = {0, 1, 63, 64, 65, 200};

	for (int s = 0; s < lengthof(shapes); s++)
		for (int i = 0; i < lengthof(sizes); i++)
			for (int kind = ANY_NUMBERS; kind <= SHORT_UNITS; kind++)
			{
				table		t;

				if (getenv("PG_EPSILON_QUICK") != NULL && (s + i + kind) % 8 != 0)
					continue;
				make_table(&t, shapes[s][0], shapes[s][1], sizes[i], (table_kind) kind, false, 0);
				check_all_passes(&t, exp2(any_below(14) - 8));
				free_table(&t);
			}
}

/* Labels of a regression. */
static void
test_regression(void **state)
{
	for (int c = 0; c < cases(100); c++)
	{
		table		t;
		pe_rows		rows;

		make_table(&t, 1 + any_below(6), any_below(3), any_below(300), SHORT_UNITS, true, 0);
		store_table(&rows, &t, NULL);
		for (int kind = 0; kind <= PE_PASS_PRECISE; kind++)
		{
			pe_pass		pass;

			make_pass(&pass, (pe_pass_kind) kind, PE_LOSS_SQUARED, &t.shape, 1.0);
			check_pass(&pass, &t, &rows);
			free_pass(&pass);
		}
		pe_rows_free(&rows);
		free_table(&t);
	}
}

/* Several blocks, and the last tile partly filled; polled once a block. */
static void
test_blocks(void **state)
{
	static const int sizes[] = {1023, 1025, 2047, 2048, 2049, 4096, 5000};

	for (int i = 0; i < lengthof(sizes); i++)
		for (int kind = ANY_NUMBERS; kind <= ALL_ONE; kind++)
		{
			table		t;
			pe_rows		rows;
			pe_pass		pass;
			pe_i128    *sums;
			uint64_t	polls;

			if (getenv("PG_EPSILON_QUICK") != NULL && i % 3 != kind)
				continue;
			make_table(&t, 4, 2, sizes[i], (table_kind) kind, false, 0);
			check_all_passes(&t, 0.5);
			store_table(&rows, &t, NULL);
			make_pass(&pass, PE_PASS_MOMENT, PE_LOSS_LOGISTIC, &t.shape, 1.0);
			sums = new_sums(&pass, &t.shape);
			polls = pe_test_polls();
			pe_pass_run(&pass, &rows, sums);
			assert_int_equal(pe_test_polls() - polls, (sizes[i] + PE_BLOCK_ROWS - 1) / PE_BLOCK_ROWS);
			free(sums);
			free_pass(&pass);
			pe_rows_free(&rows);
			free_table(&t);
		}
}

/* ---- worst cases of the kernels ---- */

static const int wide[] = {1, 2, 3, 10, 61, 62, 63, 64, 100, 124, 126, 998, 2000};

/* Margins with columns and limbs at their ends: mode says of which sign, and how mixed. */
static void
check_margins(int dense, int mode)
{
	/* ends of the low limb, of the high one, and of both */
	static const int32_t ends[] = {
		PE_WEIGHT_LIMIT - 1, 1 - PE_WEIGHT_LIMIT, 2047, -2048, 2048, -2049, 4095, PE_WEIGHT_LIMIT - 2048, 2047 - PE_WEIGHT_LIMIT + 1
	};
	const int32_t same = ends[mode % lengthof(ends)];
	table		t;
	pe_rows		rows;
	int32_t    *v = calloc((size_t) dense + 2, sizeof(*v));
	uint32_t   *high = calloc((size_t) dense + 2, sizeof(*high));
	uint32_t   *low = calloc((size_t) dense + 2, sizeof(*low));
	pe_limbs	limbs = {(dense + 1) / 2, high, low};

	make_table(&t, dense, 0, PE_TILE, mode % 3 == 0 ? ALL_ONE : LARGEST, false, 0);
	for (int j = 0; j < dense; j++)
	{
		int32_t		l;

		v[j] = mode < lengthof(ends) ? same : mode % 2 ? ends[any_below(lengthof(ends))] :
			any_below(2 * PE_WEIGHT_LIMIT - 1) - PE_WEIGHT_LIMIT + 1;
		l = v[j] % 4096;
		l = l > 2047 ? l - 4096 : l < -2048 ? l + 4096 : l;
		low[j / 2] |= (uint32_t) (uint16_t) l << (16 * (j % 2));
		high[j / 2] |= (uint32_t) (uint16_t) ((v[j] - l) / 4096) << (16 * (j % 2));
		/* rows 0 and 1: margins as large as they can be */
		t.row[0].dense[j] = v[j] < 0 ? -PE_ONE : PE_ONE;
		t.row[1].dense[j] = v[j] < 0 ? PE_ONE : -PE_ONE;
		/* rows 2 and 3: the same of the low limbs */
		t.row[2].dense[j] = l < 0 ? -PE_ONE : PE_ONE;
		t.row[3].dense[j] = l < 0 ? PE_ONE : -PE_ONE;
	}
	store_table(&rows, &t, NULL);
	for (int kernel = 0; kernel < PE_KERNELS; kernel++)
	{
		pe_margins	margins;

		if (!pe_kernel_available((pe_kernel) kernel))
			continue;
		pe_kernel_find((pe_kernel) kernel)->margins(pe_rows_tile(&rows, 0), &limbs, &margins);
		for (int r = 0; r < PE_TILE; r++)
		{
			int64_t		margin = 0;

			for (int j = 0; j < dense; j++)
				margin += (int64_t) t.row[r].dense[j] * v[j];
			assert_int_equal(margins.low[r], margin & 4095);
			/* beyond 2^43 it wraps around */
			assert_int_equal(margins.high[r], (int32_t) (uint32_t) (uint64_t) (margin >> 12));
		}
	}
	pe_rows_free(&rows);
	free_table(&t);
	free(v);
	free(high);
	free(low);
}

static void
test_margins(void **state)
{
	for (int d = 0; d < lengthof(wide); d++)
		for (int mode = 0; mode < cases(30) + 3; mode++)
			check_margins(wide[d], mode);
}

/* The limbs that a pass makes of its weights are those: exact margins tell, through the squared loss. */
static void
test_weights_at_their_ends(void **state)
{
	for (int c = 0; c < cases(300); c++)
	{
		int32_t		v[9];		/* 3, and the cells of a group */
		table		t;
		pe_rows		rows;
		pe_pass		pass;

		make_table(&t, 3, 1, 64, LARGEST, true, 0);
		memset(&pass, 0, sizeof(pass));
		pass.kind = c % 2 ? PE_PASS_GRADIENT : PE_PASS_PRECISE;
		pass.loss = PE_LOSS_SQUARED;
		pass.clip = (pe_u128) 1 << 80;
		pass.weights.scale = 20;
		pass.residual_bits = 7;
		pass.weights.v = v;
		for (int j = 0; j < lengthof(v); j++)
			v[j] = any_below(2) ? (PE_WEIGHT_LIMIT - 1 - any_below(3)) * (any_below(2) ? 1 : -1) :
				(any_below(1 << 14) - (1 << 13)) * 4096 + (any_below(2) ? 2047 : -2048) + any_below(3) - 1;
		store_table(&rows, &t, NULL);
		check_pass(&pass, &t, &rows);
		pe_rows_free(&rows);
		free_table(&t);
	}
}

/* A gradient whose s are all the same, or at random ends, over more rows than fit before a flush. */
static void
check_large_gradient(int dense, int n, int mode)
{
	static const int16_t ends[] = {32767, -32767, 255, -1, 127, 128};
	table		t;
	pe_rows		rows;
	int16_t    *s = calloc(((size_t) n / PE_TILE + 1) * PE_TILE, sizeof(*s));
	int64_t    *expected = calloc((size_t) dense, sizeof(*expected));
	int64_t    *sums = calloc((size_t) dense, sizeof(*sums));

	make_table(&t, dense, 0, n, mode % 2 ? LARGEST : ALL_ONE, false, 0);
	store_table(&rows, &t, NULL);
	for (int i = 0; i < n; i++)
	{
		s[i] = mode < lengthof(ends) ? ends[mode] : (int16_t) (ends[any_below(lengthof(ends))]);
		for (int j = 0; j < dense; j++)
			expected[j] += (int64_t) s[i] * t.row[i].dense[j];
	}
	for (int k = 0; k < PE_KERNELS; k++)
	{
		const pe_kernel_code *code;
		char	   *memory;
		void	   *accumulators;

		if (!pe_kernel_available((pe_kernel) k))
			continue;
		code = pe_kernel_find((pe_kernel) k);
		memory = calloc(1, code->accumulator * (size_t) (dense + 1) + PE_TILE_ALIGN);
		accumulators = pe_align_tile(memory);
		memset(sums, 0, (size_t) dense * sizeof(*sums));
		for (int i = 0; i < n; i += PE_TILE)
		{
			const int16_t *tile = pe_rows_tile(&rows, (size_t) i);
			_Alignas(PE_TILE_ALIGN) int16_t of_tile[PE_TILE];

			memcpy(of_tile, s + i, sizeof(of_tile));
			code->gradient(tile, dense, of_tile, accumulators, tile);
			if (i / PE_TILE % PE_FLUSH_TILES == PE_FLUSH_TILES - 1)
				code->flush(dense, accumulators, sums);
		}
		code->flush(dense, accumulators, sums);
		for (int j = 0; j < dense; j++)
			assert_int_equal(sums[j], expected[j]);
		free(memory);
	}
	pe_rows_free(&rows);
	free_table(&t);
	free(s);
	free(expected);
	free(sums);
}

static void
test_large_gradients(void **state)
{
	for (int mode = 0; mode < 8; mode++)
	{
		check_large_gradient(1, 2048, mode);
		check_large_gradient(2, 2 * 2048 + 65, mode);
		check_large_gradient(3, 5 * 2048, mode);
		if (getenv("PG_EPSILON_QUICK") != NULL)
			continue;
		check_large_gradient(100, 2 * 2048 + 1, mode);
		check_large_gradient(998, 130, mode);
		check_large_gradient(2000, 65, mode);
	}
}

/* The same through a whole pass: every row has the largest residual, so a flush that is left out shows. */
static void
test_flush(void **state)
{
	for (int c = 0; c < 4; c++)
	{
		table		t;
		pe_rows		rows;
		pe_pass		pass;

		make_table(&t, 2 + c, c % 2, cases(5) * 2048 + 100, ALL_ONE, false, 0);
		for (int i = 0; i < t.n; i++)
			t.row[i].label = (int16_t) (c / 2);
		store_table(&rows, &t, NULL);
		make_pass(&pass, PE_PASS_GRADIENT, PE_LOSS_HINGE, &t.shape, 0.0);
		pass.norm = PE_L2;
		pass.clip = (pe_u128) 1 << 80;
		check_pass(&pass, &t, &rows);
		free_pass(&pass);
		pe_rows_free(&rows);
		free_table(&t);
	}
}

/* Second moments of columns at their ends, in every number of columns and of tiles. */
static void
test_moments(void **state)
{
	static const int widths[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 33};
	static const int tiles[] = {1, 2, 3, 15, 16, 17, 33};
	bool		few = getenv("PG_EPSILON_QUICK") != NULL;

	for (int w = 0; w < lengthof(widths); w++)
		for (int n = 0; n < lengthof(tiles); n++)
			for (int kind = ANY_NUMBERS; kind <= ALL_ONE; kind++)
			{
				table		t;
				pe_rows		rows;
				pe_pass		pass;

				if (few && (w + n + kind) % 7 != 0)
					continue;
				make_table(&t, widths[w], w % 3 == 0, tiles[n] * PE_TILE - n, (table_kind) kind, true, 0);
				store_table(&rows, &t, NULL);
				make_pass(&pass, PE_PASS_MOMENT, PE_LOSS_SQUARED, &t.shape, 1.0);
				check_pass(&pass, &t, &rows);
				free_pass(&pass);
				pe_rows_free(&rows);
				free_table(&t);
			}
}

/* More rows in a cell than 32 bits have room for. */
static void
test_full_cell(void **state)
{
	table		t;
	pe_rows		rows;
	pe_pass		pass;

	if (getenv("PG_EPSILON_QUICK") != NULL)
		skip();
	make_table(&t, 1, 1, 180000, ALL_ONE, false, 0);
	for (int i = 0; i < t.n; i++)
		t.row[i].cell[0] = 0;
	store_table(&rows, &t, NULL);
	make_pass(&pass, PE_PASS_MOMENT, PE_LOSS_LOGISTIC, &t.shape, 1.0);
	check_pass(&pass, &t, &rows);
	free_pass(&pass);
	pe_rows_free(&rows);
	free_table(&t);
}

/* Many columns: gradients and second moments. */
static void
test_wide(void **state)
{
	static const int widths[] = {100, 998, 2000};

	for (int w = 0; w < lengthof(widths); w++)
	{
		table		t;
		pe_rows		rows;

		if (getenv("PG_EPSILON_QUICK") != NULL && w > 0)
			break;
		make_table(&t, widths[w], 0, w == 0 ? 200 : 70, LARGEST, false, 0);
		store_table(&rows, &t, NULL);
		for (int c = 0; c < 3; c++)
		{
			pe_pass		pass;

			make_pass(&pass, c == 0 && w < 2 ? PE_PASS_MOMENT : c == 1 ? PE_PASS_LOSSES : PE_PASS_GRADIENT,
					  (pe_loss) c, &t.shape, 0.05);
			check_pass(&pass, &t, &rows);
			free_pass(&pass);
		}
		pe_rows_free(&rows);
		free_table(&t);
	}
}

/* ---- what one row can change ---- */

/* Sums over a table without row i; -1: over all of it. */
static void
sums_without(const pe_pass *pass, const table *t, int i, pe_i128 *sums)
{
	char		absent[64] = {0};
	pe_rows		rows;

	if (i >= 0)
		absent[i] = 1;
	store_table(&rows, t, absent);
	memset(sums, 0, pe_pass_sums(pass, &t->shape) * sizeof(*sums));
	pe_pass_run(pass, &rows, sums);
	pe_rows_free(&rows);
}

static pe_u128
norm_of(const pe_i128 *x, size_t count, pe_norm norm)
{
	pe_u128		sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += (pe_u128) (norm == PE_L2 ? x[i] * x[i] : x[i] < 0 ? -x[i] : x[i]);
	return sum;
}

/* |z|^4 of a row, with its label as it stands in a moment. */
static pe_u128
fourth_power(const pe_pass *pass, const table *t, int i)
{
	int64_t		x[PE_MAX_COLUMNS];
	pe_u128		sum = 0;
	int16_t		label = t->row[i].label;
	int64_t		z = pass->loss == PE_LOSS_SQUARED ? label : label > 0 ? PE_ONE : -PE_ONE;

	columns_of(t, i, x);
	for (int j = 0; j < t->shape.columns; j++)
		sum += (pe_u128) (x[j] * x[j]);
	if (pass->with_label)
		sum += (pe_u128) (z * z);
	return sum * sum;
}

/* What row i changes is within what pass.h says; returns the share of it that is used. */
static double
check_change(const pe_pass *pass, const table *t, int i, const pe_i128 *all, const pe_i128 *without)
{
	size_t		count = pe_pass_sums(pass, &t->shape);
	pe_i128		change[256];
	pe_i128		own[256] = {0};
	pe_u128		norm;

	assert_true(count <= (size_t) lengthof(change));
	for (size_t e = 0; e < count; e++)
		change[e] = all[e] - without[e];
	oracle(pass, t, i, own);
	assert_same_sums(change, own, count);
	if (pass->kind == PE_PASS_GRADIENT)
	{
		norm = norm_of(change, count, pass->norm);
		assert_true(norm <= pass->clip);
		return (double) norm / (double) pass->clip;
	}
	if (pass->kind == PE_PASS_MOMENT)
	{
		/* twice the off-diagonal entries' squares, and the diagonal's */
		norm = 2 * norm_of(change, count, PE_L2);
		for (size_t e = 0, row = 0; e < count; row++, e += row + 1)
			norm -= (pe_u128) (change[e] * change[e]);
		assert_true(norm == fourth_power(pass, t, i));
		return 1.0;
	}
	for (size_t e = 0; e < count; e++)
	{
		assert_true(change[e] >= 0);
		assert_true(change[e] <= (pass->kind == PE_PASS_COUNT ? 1 : pass->cap));
	}
	return pass->kind == PE_PASS_COUNT ? 1.0 : (double) change[0] / pass->cap;
}

static void
test_one_row(void **state)
{
	static const pe_pass_kind kinds[] = {
		PE_PASS_GRADIENT, PE_PASS_GRADIENT, PE_PASS_GRADIENT, PE_PASS_MOMENT, PE_PASS_LOSSES, PE_PASS_COORDINATES, PE_PASS_COUNT
	};
	double		most[3][2] = {{0}};
	double		most_loss = 0.0;

	for (int c = 0; c < cases(10000); c++)
	{
		table		t;
		pe_pass		pass;
		pe_loss		loss = (pe_loss) any_below(4);
		pe_pass_kind kind = kinds[any_below(lengthof(kinds))];
		pe_i128		all[256];
		pe_i128		without[256];

		make_table(&t, 1 + any_below(4), any_below(3), 1 + any_below(6), (table_kind) any_below(4),
				   loss == PE_LOSS_SQUARED && kind != PE_PASS_COUNT, 0);
		make_pass(&pass, kind, loss, &t.shape, exp2(any_below(10) - 4));
		pass.cap = 1 + any_below(1 << 17);
		sums_without(&pass, &t, -1, all);
		for (int i = 0; i < t.n; i++)
		{
			double		used;

			sums_without(&pass, &t, i, without);
			used = check_change(&pass, &t, i, all, without);
			if (kind == PE_PASS_GRADIENT)
				most[0][pass.norm == PE_L1] = fmax(most[0][pass.norm == PE_L1], used);
			if (kind == PE_PASS_LOSSES)
				most_loss = fmax(most_loss, used);
		}
		free_pass(&pass);
		free_table(&t);
	}
	/* the bounds are reached, so half of a clip would show */
	print_message("    of the clip: %.6f (L2, squared), %.6f (L1); of the cap: %.6f\n", most[0][0], most[0][1], most_loss);
	assert_true(most[0][0] > 0.999);
	assert_true(most[0][1] > 0.999);
	assert_true(most_loss == 1.0);
}

/* Caps are the integer roots, at the edges: clips of s^2 |x|^2 exactly, and one less. */
static void
test_caps(void **state)
{
	const pe_row_shape shape = {3, 0, NULL, 3};
	int32_t		v[3] = {0};

	for (int c = 0; c < cases(20000); c++)
	{
		int16_t		dense[3] = {any_number(ANY_NUMBERS), any_number(LARGEST), any_number(ANY_NUMBERS)};
		pe_row		row = {dense, NULL, PE_ONE, 0};
		pe_norm		norm = c % 2 ? PE_L1 : PE_L2;
		int64_t		s = any_below(8) == 0 ? 32767 : any_below(32768);
		int64_t		length = 0;
		pe_pass		pass;
		pe_rows		rows;

		for (int j = 0; j < 3; j++)
			length += norm == PE_L2 ? dense[j] * dense[j] : abs(dense[j]);
		if (length == 0)
			continue;
		memset(&pass, 0, sizeof(pass));
		pass.kind = PE_PASS_GRADIENT;
		pass.loss = PE_LOSS_HINGE;
		pass.weights.v = v;
		pass.norm = norm;
		pe_rows_init(&rows, &shape, false);
		pe_rows_add(&rows, &row, NULL);
		/* the store keeps caps: a second clip must not meet those of the first, nor a second row no cap */
		for (int less = 0; less < 2; less++)
		{
			pe_i128		sums[3] = {0};

			pass.clip = (pe_u128) (norm == PE_L2 ? s * s : s) * (pe_u128) length;
			if (less && pass.clip == 0)
				continue;
			pass.clip -= (pe_u128) less;
			pe_pass_run(&pass, &rows, sums);
			for (int j = 0; j < 3; j++)
				assert_true(sums[j] == (pe_i128) (s - less) * dense[j]);
		}
		pe_rows_add(&rows, &row, NULL);
		{
			pe_i128		sums[3] = {0};

			pe_pass_run(&pass, &rows, sums);
			for (int j = 0; j < 3; j++)
				assert_true(sums[j] == (pe_i128) (2 * (s > 0 ? s - 1 : 0)) * dense[j]);
		}
		pe_rows_free(&rows);
	}
}

/* Rows that were cut add nothing to any sum. */
static void
test_cut_rows(void **state)
{
	for (int c = 0; c < cases(100); c++)
	{
		table		t;
		pe_rows		rows;
		pe_rows		kept;
		pe_unit_keys keys;
		pe_cut		cut = {.limit = 1, .max_rows = 1, .ranges = 1};
		char	   *absent;
		static int16_t dense[PE_MAX_COLUMNS];
		static uint16_t cell[PE_MAX_COLUMNS];
		pe_row		row = {dense, cell, 0, 0};

		make_table(&t, any_below(5) + 1, any_below(3), 1 + any_below(200), SHORT_UNITS, false, 20);
		absent = calloc((size_t) t.n, 1);
		pe_unit_keys_init(&keys, &cut);
		store_table(&rows, &t, NULL);
		pe_rows_cut(&rows, &keys, 2);
		for (int i = 0; i < t.n; i++)
		{
			pe_rows_get(&rows, (size_t) i, &row);
			absent[i] = row.label == PE_NO_LABEL;
		}
		store_table(&kept, &t, absent);
		for (int kind = 0; kind <= PE_PASS_PRECISE; kind++)
			for (int loss = 0; loss <= PE_LOSS_SQUARED; loss++)
			{
				pe_pass		pass;
				pe_i128    *a;
				pe_i128    *b;

				make_pass(&pass, (pe_pass_kind) kind, (pe_loss) loss, &t.shape, 1.0);
				a = new_sums(&pass, &t.shape);
				b = new_sums(&pass, &t.shape);
				pe_pass_run(&pass, &rows, a);
				pe_pass_run(&pass, &kept, b);
				assert_same_sums(a, b, pe_pass_sums(&pass, &t.shape));
				free(a);
				free(b);
				free_pass(&pass);
			}
		pe_rows_free(&rows);
		pe_rows_free(&kept);
		free(absent);
		free_table(&t);
	}
}

/* ---- losses against libm ---- */

static void
test_losses(void **state)
{
	double		worst[4][2] = {{0}};
	double		worst_curvature = 0.0;
	long		differ = 0;
	long		all = 0;

	for (int loss = 0; loss <= PE_LOSS_SQUARED; loss++)
		for (int i = 0; i < cases(400000) + 1000; i++)
		{
			float		m = (float) (any_double() * (i % 2 ? 64.0 : 4.0));
			float		y = loss == PE_LOSS_SQUARED ? (float) any_double() : (float) any_below(2);
			double		derivative = pe_double_derivative((pe_loss) loss, m, y);
			double		value = pe_double_loss((pe_loss) loss, m, y);
			float		f = pe_float_derivative((pe_loss) loss, m, y);
			double		scale = fmax(1.0, fabs(value));

			worst[loss][0] = fmax(worst[loss][0], fabs(f - derivative) / fmax(1.0, fabs(derivative)));
			worst[loss][1] = fmax(worst[loss][1], fabs(pe_float_loss((pe_loss) loss, m, y) - value) / scale);
			if (loss == PE_LOSS_LOGISTIC)
			{
				int32_t		q = pe_quantised_derivative(f, 32768.0f);
				int32_t		exact = (int32_t) fmax(-32767, fmin(32767, rint(32768.0 * derivative)));
				double		root = 1.0 / (2.0 * cosh(0.5 * m));

				assert_in_range(q - exact + 1, 0, 2);
				differ += q != exact;
				all++;
				worst_curvature = fmax(worst_curvature,
									   fabs(pe_quantised_curvature(PE_LOSS_LOGISTIC, m, y) / 65536.0 - root));
			}
		}
	for (int loss = 0; loss <= PE_LOSS_SQUARED; loss++)
	{
		print_message("    loss %d: derivative within 2^%.1f, loss within 2^%.1f\n", loss,
					  log2(worst[loss][0]), log2(worst[loss][1]));
		assert_true(worst[loss][0] < 0x1p-22);
		assert_true(worst[loss][1] < 0x1p-22);
	}
	print_message("    s differs by 1 in %.4f %% of %ld rows\n", 100.0 * (double) differ / (double) all, all);
	if (all > 100000)
		assert_true((double) differ <= 0.0005 * (double) all);
	assert_true(worst_curvature < 0x1p-16);
}

/* Derivatives and second derivatives are those of the loss. */
static void
test_derivatives(void **state)
{
	const double h = 1e-5;

	for (int loss = 0; loss <= PE_LOSS_SQUARED; loss++)
		for (int i = 0; i < cases(100000); i++)
		{
			double		m = any_double() * 5.0;
			double		y = loss == PE_LOSS_SQUARED ? any_double() : any_below(2);
			double		t = (2.0 * y - 1.0) * m;
			double		q = pe_quantised_curvature((pe_loss) loss, (float) m, (float) y) / 32768.0;
			double		unit = loss == PE_LOSS_LOGISTIC ? 0.25 : 1.0;
			double		first;
			double		second;

			/* away from the kinks */
			if (loss != PE_LOSS_SQUARED && (fabs(t - 1.0) < 2 * h || fabs(t - 0.5) < 2 * h || fabs(t - 1.5) < 2 * h))
				continue;
			first = (pe_double_loss((pe_loss) loss, m + h, y) - pe_double_loss((pe_loss) loss, m - h, y)) / (2 * h);
			second = (pe_double_derivative((pe_loss) loss, m + h, y) - pe_double_derivative((pe_loss) loss, m - h, y)) / (2 * h);
			assert_true(fabs(pe_double_derivative((pe_loss) loss, m, y) - first) < 1e-8);
			assert_true(fabs(unit * q * q - second) < 1e-4);
		}
}

/* Margins beyond all bounds, infinite ones too: results are in their ranges, the same in every kernel. */
static void
test_extreme_margins(void **state)
{
	for (int c = 0; c < cases(200); c++)
	{
		table		t;

		make_table(&t, 2, 1, 64, LARGEST, false, 0);
		for (int loss = 0; loss <= PE_LOSS_SQUARED; loss++)
			for (int kind = 0; kind < 3; kind++)
			{
				static const pe_pass_kind kinds[] = {PE_PASS_GRADIENT, PE_PASS_LOSSES, PE_PASS_COORDINATES};
				pe_pass		pass;
				pe_rows		rows;
				size_t		count;
				pe_i128    *expected;
				pe_i128    *sums;

				make_pass(&pass, kinds[kind], (pe_loss) loss, &t.shape, exp2(any_below(90)));
				pass.step = any_below(2) ? 3e38f : -1e30f;
				pass.cap = any_below(2) ? 1000 : 0;
				for (int i = 0; i < pass.candidates; i++)
					pass.alpha[i] = any_below(2) ? -3.4e38f : 1e-38f;
				store_table(&rows, &t, NULL);
				count = pe_pass_sums(&pass, &t.shape);
				expected = new_sums(&pass, &t.shape);
				pe_pass_run_with(PE_KERNEL_PLAIN, &pass, &rows, expected);
				for (int kernel = 0; kernel < PE_KERNEL_PLAIN; kernel++)
				{
					if (!pe_kernel_available((pe_kernel) kernel))
						continue;
					sums = new_sums(&pass, &t.shape);
					pe_pass_run_with((pe_kernel) kernel, &pass, &rows, sums);
					assert_same_sums(sums, expected, count);
					free(sums);
				}
				if (kind > 0)
					for (size_t i = 0; i < count; i++)
					{
						assert_true(expected[i] >= 0);
						assert_true(expected[i] <= (pe_i128) 64 * (pass.cap != 0 ? pass.cap : NO_CAP_LIMIT));
					}
				free(expected);
				pe_rows_free(&rows);
				free_pass(&pass);
			}
		free_table(&t);
	}
}

/* ---- PRECISE ---- */

/* Against long double, where that is more than double. */
static void
test_precise(void **state)
{
	/* at run time: valgrind has long doubles of 64 bits */
	volatile long double one = 1.0L;

	if (one + 0x1p-60L == one)
		skip();
	for (int c = 0; c < cases(2000); c++)
	{
		pe_loss		loss = (pe_loss) (c % 4);
		table		t;
		pe_rows		rows;
		pe_pass		pass;
		pe_i128    *sums;
		static int64_t x[PE_MAX_COLUMNS];
		long double m;
		long double y;
		long double d;
		long double l;
		long double sign;
		double		bound = loss == PE_LOSS_SQUARED ? 0x1p-42 : 0x1p-50;

		make_table(&t, 1 + any_below(5), any_below(2), 1, ANY_NUMBERS, loss == PE_LOSS_SQUARED, 0);
		make_pass(&pass, PE_PASS_PRECISE, loss, &t.shape, exp2(any_below(12) - 5));
		store_table(&rows, &t, NULL);
		sums = new_sums(&pass, &t.shape);
		pe_pass_run(&pass, &rows, sums);
		columns_of(&t, 0, x);
		m = ldexpl((long double) whole(x, pass.weights.v, t.shape.columns) / PE_ONE, -pass.weights.scale);
		y = loss == PE_LOSS_SQUARED ? (long double) t.row[0].label / PE_ONE : t.row[0].label;
		sign = 2.0L * y - 1.0L;
		if (loss == PE_LOSS_LOGISTIC)
		{
			d = -sign / (1.0L + expl(sign * m));
			l = fmaxl(-sign * m, 0.0L) + log1pl(expl(-fabsl(m)));
		}
		else if (loss == PE_LOSS_SQUARED)
		{
			d = m - y;
			l = 0.5L * d * d;
		}
		else if (loss == PE_LOSS_HINGE)
		{
			d = sign * m < 1.0L ? -sign : 0.0L;
			l = fmaxl(0.0L, 1.0L - sign * m);
		}
		else
		{
			d = fminl(1.0L, fmaxl(0.0L, 1.5L - sign * m));
			l = d * (1.5L - sign * m - 0.5L * d);
			d *= -sign;
		}
		if (fabsl(m) <= 512.0L)
		{
			for (int j = 0; j < t.shape.columns; j++)
				assert_true(fabsl((long double) sums[j] - ldexpl(d, PE_PRECISE_BITS) * (long double) x[j]) <=
							ldexp(bound, PE_PRECISE_BITS) * fabs((double) x[j]));
			assert_true(fabsl((long double) sums[t.shape.columns] - ldexpl(l, PE_PRECISE_LOSS_BITS)) <=
						ldexp(loss == PE_LOSS_SQUARED ? 0x1p-32 : 0x1p-39, PE_PRECISE_LOSS_BITS));
		}
		free(sums);
		pe_rows_free(&rows);
		free_pass(&pass);
		free_table(&t);
	}
}

/* ---- sampling ---- */

/* Every row adds 32767 to the only sum if it takes part. */
static void
make_counting(pe_pass *pass, int32_t *v, uint64_t sample)
{
	memset(pass, 0, sizeof(*pass));
	memset(v, 0, 4 * sizeof(*v));
	pass->kind = PE_PASS_GRADIENT;
	pass->loss = PE_LOSS_HINGE;
	pass->weights.v = v;
	pass->clip = (pe_u128) 1 << 100;
	pass->sample = sample;
}

static long
count_chosen(const pe_pass *pass, pe_rows *rows)
{
	pe_i128		sums[4] = {0};

	pe_pass_run(pass, rows, sums);
	assert_true(sums[0] % 32767 == 0);
	return (long) (sums[0] / 32767);
}

static void
check_share(const char *what, long chosen, double trials, double p, double per_coin)
{
	double		z = ((double) chosen - trials * p) / sqrt(trials * p * (1.0 - p) * per_coin);

	print_message("    %s: %ld of %.0f, z %.2f\n", what, chosen, trials, z);
	assert_true(fabs(z) < 7.1);
}

/* Rows take part as often as they should: shares that are copied or masked, and that 16 bits cannot tell. */
static void
test_sampled_rows(void **state)
{
	static const struct
	{
		uint64_t	sample;
		int			passes;
	}			cases[] = {
		{UINT64_C(1) << 63, 20},
		{UINT64_C(1) << 60, 20},
		{(UINT64_C(1) << 60) - 1, 20},
		{UINT64_C(0x0022222222222222), 20},
		{UINT64_C(3) << 47, 150},	/* 1.5 of 2^16 */
		{UINT64_C(1) << 47, 300},
		{UINT64_MAX, 3},
	};
	const int	n = cases(60000) + 37;
	table		t;
	pe_rows		rows;
	pe_pass		pass;
	int32_t		v[4];

	make_table(&t, 1, 0, n, ALL_ONE, false, 0);
	for (int i = 0; i < n; i++)
	{
		t.row[i].dense[0] = 1;
		t.row[i].label = 0;
	}
	store_table(&rows, &t, NULL);
	pe_test_seed(5);
	for (int c = 0; c < lengthof(cases); c++)
	{
		double		p = ldexp((double) cases[c].sample, -64);
		long		chosen = 0;
		char		what[40];

		make_counting(&pass, v, cases[c].sample);
		for (int k = 0; k < cases[c].passes; k++)
			chosen += count_chosen(&pass, &rows);
		snprintf(what, sizeof(what), "chance %.3g", p);
		if (p < 1.0)
			check_share(what, chosen, (double) n * cases[c].passes, p, 1.0);
		else
			assert_int_equal(chosen, (long) n * cases[c].passes);
	}
	pe_test_unseed();
	pe_rows_free(&rows);
	free_table(&t);
}

/*
 * Coins are those of the rows: with a random number in each row, sums over two
 * passes are independent, and the part of each row is seen in a column of its own.
 */
static void
test_each_row_is_sampled(void **state)
{
	const int	passes = cases(20000) + 1000;
	long		seen[128] = {0};
	long		both = 0;
	table		t;
	pe_rows		rows;
	pe_pass		pass;
	int32_t		v[128] = {0};

	make_table(&t, 128, 0, 128, ALL_ONE, false, 0);
	for (int i = 0; i < 128; i++)
	{
		for (int j = 0; j < 128; j++)
			t.row[i].dense[j] = i == j;
		t.row[i].label = 0;
	}
	store_table(&rows, &t, NULL);
	pe_test_seed(6);
	for (int c = 0; c < 2; c++)
	{
		const double p = c == 0 ? 0.0625 - 0x1p-30 : 0.25;

		memset(seen, 0, sizeof(seen));
		both = 0;
		make_counting(&pass, v, (uint64_t) ldexp(p, 64));
		for (int k = 0; k < passes / 4; k++)
		{
			pe_i128		sums[128] = {0};

			pe_pass_run(&pass, &rows, sums);
			for (int i = 0; i < 128; i++)
			{
				assert_true(sums[i] == 0 || sums[i] == 32767);
				seen[i] += sums[i] != 0;
				both += i > 0 && sums[i] != 0 && sums[i - 1] != 0;
			}
		}
		for (int i = 0; i < 128; i++)
			assert_true(fabs((double) seen[i] - passes / 4 * p) < 7.5 * sqrt(passes / 4 * p * (1 - p)));
		/* neighbours: pairs share rows, so the variance is below 3 times that of independent pairs */
		check_share("neighbours together", both, 127.0 * (passes / 4), p * p, 3.0);
	}
	pe_test_unseed();
	pe_rows_free(&rows);
	free_table(&t);
}

/* All rows of a unit take part or none; the coins follow from the key. */
static void
test_sampled_units(void **state)
{
	const int	units = cases(20000) + 5;
	int16_t		dense[2];
	const pe_row_shape shape = {2, 0, NULL, 2};
	pe_row		row = {dense, NULL, PE_ONE, 0};
	int32_t		v[4];
	pe_rows		rows;
	static const uint64_t samples[] = {UINT64_C(1) << 62, UINT64_C(1) << 59};

	pe_rows_init(&rows, &shape, true);
	for (int sign = -1; sign <= 1; sign += 2)
		for (int u = 0; u < units; u++)
		{
			const uint64_t unit[2] = {(uint64_t) u / 2, (uint64_t) u % 2};

			dense[0] = 1;
			dense[1] = (int16_t) (sign * (1 + u % 1000));
			pe_rows_add(&rows, &row, unit);
		}
	for (int c = 0; c < lengthof(samples); c++)
	{
		double		p = ldexp((double) samples[c], -64);
		long		chosen = 0;
		int			same = 0;
		long		last = -1;

		for (int k = 0; k < 20; k++)
		{
			pe_pass		pass;
			pe_i128		sums[2] = {0};
			pe_i128		again[2] = {0};

			make_counting(&pass, v, samples[c]);
			pass.sample_key[0] = (uint64_t) k * 77;
			pass.sample_key[1] = 5;
			pe_pass_run(&pass, &rows, sums);
			/* rows of a unit have opposite numbers */
			assert_true(sums[1] == 0);
			assert_true(sums[0] % (2 * 32767) == 0);
			pe_pass_run_with(PE_KERNEL_PLAIN, &pass, &rows, again);
			assert_same_sums(sums, again, 2);
			chosen += (long) (sums[0] / (2 * 32767));
			same += (long) sums[0] == last;
			last = (long) sums[0];
		}
		check_share("units", chosen, 20.0 * units, p, 1.0);
		assert_true(same < 10);
	}
	pe_rows_free(&rows);
}

/* Sampled sums are sums of the chosen rows' own contributions, clipped. */
static void
test_sampled_sums(void **state)
{
	for (int c = 0; c < cases(200); c++)
	{
		table		t;
		pe_rows		rows;
		pe_pass		pass;
		pe_i128    *sums;
		pe_i128    *expected;

		make_table(&t, 1 + any_below(8), any_below(3), 1 + any_below(4000), SHORT_UNITS, false, 300);
		make_pass(&pass, PE_PASS_GRADIENT, (pe_loss) any_below(4), &t.shape, 1.0);
		pass.sample = any_word() >> (c % 2 ? 1 + any_below(3) : 4 + any_below(4));
		pass.sample_key[0] = any_word();
		pass.sample_key[1] = any_word();
		store_table(&rows, &t, NULL);
		expected = new_sums(&pass, &t.shape);
		for (int i = 0; i < t.n; i++)
		{
			uint64_t	coin[2];

			pe_siphash(pass.sample_key, t.unit[i], sizeof(t.unit[i]), coin);
			if (coin[0] < pass.sample)
				oracle(&pass, &t, i, expected);
		}
		for (int kernel = 0; kernel < PE_KERNELS; kernel++)
		{
			if (!pe_kernel_available((pe_kernel) kernel))
				continue;
			sums = new_sums(&pass, &t.shape);
			pe_pass_run_with((pe_kernel) kernel, &pass, &rows, sums);
			assert_same_sums(sums, expected, (size_t) t.shape.columns);
			free(sums);
		}
		free(expected);
		free_pass(&pass);
		pe_rows_free(&rows);
		free_table(&t);
	}
}

/* ---- weights ---- */

static void
test_weights(void **state)
{
	const pe_u128 most = ((pe_u128) 1 << 43) - 8192;

	for (int c = 0; c < cases(20000); c++)
	{
		int			columns = 1 + any_below(c % 100 == 0 ? PE_MAX_COLUMNS : 20);
		static double w[PE_MAX_COLUMNS];
		static int32_t v[PE_MAX_COLUMNS];
		pe_weights	weights = {0, v};
		pe_u128		radius_sq = any_below(10) == 0 ? 0 : (pe_u128) (1 + any_below(columns)) * PE_ONE * PE_ONE;
		double		size = ldexp(1.0, any_below(130) - 40);
		pe_u128		square = 0;
		bool		larger = true;
		double		next = 0.0;

		for (int j = 0; j < columns; j++)
			w[j] = any_below(10) == 0 ? 0.0 : size * any_double();
		pe_weights_set(&weights, w, columns, radius_sq);
		for (int j = 0; j < columns; j++)
		{
			double		real = fmax(-0x1p90, fmin(0x1p90, w[j]));

			assert_true(abs(v[j]) < PE_WEIGHT_LIMIT);
			assert_true(fabs(ldexp(v[j], -weights.scale) - real) <= ldexp(0.5, -weights.scale));
			square += (pe_u128) ((int64_t) v[j] * v[j]);
			larger = larger && fabs(rint(ldexp(real, weights.scale + 1))) < PE_WEIGHT_LIMIT;
			next += pow(rint(ldexp(real, weights.scale + 1)), 2.0);
		}
		assert_true(square * radius_sq < most * most);
		/* and no larger scale would do */
		assert_true(weights.scale == 30 || !larger || next * (double) radius_sq > 0.999999 * (double) (most * most));
	}
}

static void
set_infinite(void *w)
{
	int32_t		v[1];
	pe_weights	weights = {0, v};

	pe_weights_set(&weights, w, 1, 1);
}

static void
test_bad_weights(void **state)
{
	double		w = INFINITY;

	assert_true(pe_test_is_bug(set_infinite, &w));
	w = NAN;
	assert_true(pe_test_is_bug(set_infinite, &w));
	w = 1e308;
	assert_false(pe_test_is_bug(set_infinite, &w));
}

/* ---- passes as bytes, sources, units of sums ---- */

static void
test_bytes(void **state)
{
	for (int c = 0; c < cases(2000); c++)
	{
		pe_row_shape shape;
		pe_pass		pass;
		pe_pass		copy;
		size_t		size;
		char	   *bytes;
		char	   *again;

		make_shape(&shape, 1 + any_below(5), any_below(3));
		make_pass(&pass, (pe_pass_kind) any_below(7), (pe_loss) any_below(4), &shape, 1.0);
		pass.sample = any_word();
		pass.sample_key[0] = any_word();
		pass.sample_key[1] = any_word();
		size = pe_pass_size(&pass, &shape);
		bytes = malloc(size);
		again = malloc(size);
		pe_pass_write(&pass, &shape, bytes);
		assert_true(pe_pass_read(&copy, &shape, bytes, size));
		pe_pass_write(&copy, &shape, again);
		assert_memory_equal(bytes, again, size);
		assert_int_equal(copy.kind, pass.kind);
		assert_int_equal(copy.loss, pass.loss);
		assert_int_equal(copy.norm, pass.norm);
		assert_true(copy.clip == pass.clip);
		assert_int_equal(copy.sample, pass.sample);
		assert_int_equal(copy.residual_bits, pass.residual_bits);
		assert_int_equal(copy.with_label, pass.with_label);
		assert_int_equal(copy.cap, pass.cap);
		for (size_t cut = 0; cut < size; cut += 1 + size / 20)
			assert_false(pe_pass_read(&copy, &shape, bytes, cut));
		/* bytes that are changed are refused, or are a pass that can be run */
		for (int k = 0; k < 20; k++)
		{
			size_t		at = (size_t) any_below((int) size);
			char		was = bytes[at];
			pe_rows		rows;

			bytes[at] = (char) any_word();
			if (pe_pass_read(&copy, &shape, bytes, size))
			{
				pe_i128    *sums = new_sums(&copy, &shape);

				pe_rows_init(&rows, &shape, false);
				pe_pass_run(&copy, &rows, sums);
				pe_rows_free(&rows);
				free(sums);
			}
			bytes[at] = was;
		}
		if (pass.kind != PE_PASS_MOMENT && pass.kind != PE_PASS_COUNT)
		{
			const int32_t beyond = any_below(2) ? PE_WEIGHT_LIMIT : -PE_WEIGHT_LIMIT;

			pass.weights.v[any_below(shape.columns)] = beyond;
			pe_pass_write(&pass, &shape, bytes);
			assert_false(pe_pass_read(&copy, &shape, bytes, size));
		}
		free(bytes);
		free(again);
		free_pass(&pass);
		free(shape.cells);
	}
}

/* Sums times their unit are the real numbers. */
static void
test_units_of_sums(void **state)
{
	const pe_row_shape shape = {2, 0, NULL, 2};
	int16_t		dense[2] = {PE_ONE, -PE_ONE / 3};
	pe_row		row = {dense, NULL, PE_ONE, 1};
	double		w[2] = {0.7, 0.3};
	const double x = dense[1] / (double) PE_ONE;
	double		margin = 0.7 + 0.3 * x;
	double		sigma = 1.0 / (1.0 + exp(-margin));
	int32_t		v[2];
	pe_rows		rows;
	pe_source	source;
	pe_pass		pass;
	pe_i128		sums[6] = {77, 77, 77, 77, 77, 77};

	pe_rows_init(&rows, &shape, false);
	pe_rows_add(&rows, &row, NULL);
	pe_source_of_rows(&source, &rows);
	memset(&pass, 0, sizeof(pass));
	pass.weights.v = v;
	pass.clip = (pe_u128) 1 << 100;
	pe_weights_set(&pass.weights, w, 2, (pe_u128) 2 * PE_ONE * PE_ONE);
	pass.kind = PE_PASS_GRADIENT;
	source.run(&source, &pass, sums);
	assert_true(fabs((double) sums[0] * pe_pass_unit(&pass) - (sigma - 1.0)) < 1e-4);
	assert_true(fabs((double) sums[1] * pe_pass_unit(&pass) - (sigma - 1.0) * x) < 1e-4);
	pass.kind = PE_PASS_MOMENT;
	pass.with_label = true;
	source.run(&source, &pass, sums);
	assert_true(fabs((double) sums[2] * pe_pass_unit(&pass) - x * x) < 1e-9);
	assert_true(fabs((double) sums[4] * pe_pass_unit(&pass) - x) < 1e-9);
	assert_true(fabs((double) sums[5] * pe_pass_unit(&pass) - 1.0) < 1e-9);
	pass.kind = PE_PASS_CURVATURE;
	source.run(&source, &pass, sums);
	assert_true(fabs((double) sums[1] * pe_pass_unit(&pass) - sigma * (1.0 - sigma) * x) < 1e-4);
	pass.kind = PE_PASS_PRECISE;
	source.run(&source, &pass, sums);
	assert_true(fabs((double) sums[1] * pe_pass_unit(&pass) - (sigma - 1.0) * x) < 1e-8);
	assert_true(fabs(ldexp((double) sums[2], -PE_PRECISE_LOSS_BITS) + log(sigma)) < 1e-8);
	pass.kind = PE_PASS_LOSSES;
	pass.candidates = 2;
	pass.alpha[1] = 1.0f;
	pass.direction = pass.weights;
	source.run(&source, &pass, sums);
	assert_true(fabs((double) sums[0] * pe_pass_unit(&pass) + log(sigma)) < 1e-4);
	assert_true(fabs((double) sums[1] * pe_pass_unit(&pass) - log(2.0)) < 1e-4);
	pass.loss = PE_LOSS_SQUARED;
	pass.residual_bits = 3;
	pass.kind = PE_PASS_GRADIENT;
	source.run(&source, &pass, sums);
	assert_true(fabs((double) sums[0] * pe_pass_unit(&pass) - (margin - 1.0 / PE_ONE)) < 1e-3);
	pe_rows_free(&rows);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_oracle),
		cmocka_unit_test(test_regression),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_margins),
		cmocka_unit_test(test_weights_at_their_ends),
		cmocka_unit_test(test_large_gradients),
		cmocka_unit_test(test_flush),
		cmocka_unit_test(test_moments),
		cmocka_unit_test(test_full_cell),
		cmocka_unit_test(test_wide),
		cmocka_unit_test(test_one_row),
		cmocka_unit_test(test_caps),
		cmocka_unit_test(test_cut_rows),
		cmocka_unit_test(test_losses),
		cmocka_unit_test(test_derivatives),
		cmocka_unit_test(test_extreme_margins),
		cmocka_unit_test(test_precise),
		cmocka_unit_test(test_sampled_rows),
		cmocka_unit_test(test_each_row_is_sampled),
		cmocka_unit_test(test_sampled_units),
		cmocka_unit_test(test_sampled_sums),
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_bad_weights),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_units_of_sums),
	};

	for (int kernel = 0; kernel < PE_KERNELS; kernel++)
		if (pe_kernel_available((pe_kernel) kernel))
			print_message("kernel %d is available\n", kernel);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
