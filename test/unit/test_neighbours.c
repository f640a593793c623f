/*
 * test_neighbours.c
 *	  The sensitivity of integer strategies under both relations of neighbours,
 *	  against all pairs of contributions that a unit can make.
 *
 * Random cases come from a fixed seed, so failures repeat; with PG_EPSILON_QUICK
 * set there are far fewer.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "strategy/strategy.h"
#include "numbers.h"
#include "shim.h"

#define cases(count) fewer(count, 100)

static int32_t
random_entry(int largest)
{
	return random_below(4) == 0 ? 0 : random_below(2 * largest + 1) - largest;
}

static void
random_triangle(pe_strategy *strategy, int largest)
{
	size_t		at = 0;

	strategy->triangle = pe_alloc((size_t) strategy->rows * (strategy->rows + 1) / 2, sizeof(int32_t));
	for (int32_t j = 0; j < strategy->rows; j++)
		for (int32_t i = 0; i <= j; i++)
			strategy->triangle[at++] = i < j ? random_entry(largest) : 1 + random_below(largest);
}

/* A triangle above, so that no column depends on others, and anything below. */
static void
random_dense(pe_strategy *strategy, int largest)
{
	size_t		at = 0;

	strategy->dense = pe_alloc((size_t) strategy->rows * strategy->inner, sizeof(int32_t));
	for (int32_t j = 0; j < strategy->inner; j++)
		for (int32_t i = 0; i < strategy->rows; i++)
			strategy->dense[at++] = i == j ? 1 + random_below(largest) :
				i > j && i < strategy->inner ? 0 : random_entry(largest);
}

/* A = M B, or A = M without a basis; M is a triangle, or dense. */
static void
random_strategy(pe_strategy *strategy, bool dense, int32_t rows, int32_t inner, int32_t columns, int largest)
{
	memset(strategy, 0, sizeof(*strategy));
	strategy->rows = rows;
	strategy->inner = inner;
	strategy->columns = strategy->classes = columns;
	if (dense)
		random_dense(strategy, largest);
	else
		random_triangle(strategy, largest);
	if (inner < columns)
	{
		strategy->basis = pe_alloc((size_t) inner * columns, sizeof(int32_t));
		for (int32_t i = 0; i < inner * columns; i++)
			strategy->basis[i] = i % columns == i / columns ? 1 : random_entry(2);	/* no row of zeros */
	}
}

/* ---- brute force ---- */

/* What a unit may contribute, times A: the vertices are the columns and 0. */
typedef struct contributions
{
	int			rows;
	int			count;
	int64_t		answer[1000][6];
} contributions;

/* All A x for x in N^n with sum x <= left, columns from `column` on. */
static void
collect(contributions *all, const double *a, int columns, int column, int left, const int64_t *so_far)
{
	int64_t		next[6];

	if (column == columns)
	{
		memcpy(all->answer[all->count++], so_far, sizeof(next));
		return;
	}
	memcpy(next, so_far, sizeof(next));
	for (int copies = 0; copies <= left; copies++)
	{
		collect(all, a, columns, column + 1, left - copies, next);
		for (int i = 0; i < all->rows; i++)
			next[i] += (int64_t) a[i * columns + column];
	}
}

static pe_u128
distance_sq(const contributions *all, const int64_t *a, const int64_t *b)
{
	pe_u128		sum = 0;

	for (int i = 0; i < all->rows; i++)
		sum += (pe_u128) ((pe_i128) (a[i] - b[i]) * (a[i] - b[i]));
	return sum;
}

static void
check_by_brute_force(const pe_strategy *strategy, const double *a, int columns, int max_rows)
{
	static contributions all;
	static const int64_t none[6] = {0};
	pe_u128		largest[2] = {0, 0};
	pe_u128		got;

	all.rows = strategy->rows;
	all.count = 0;
	collect(&all, a, columns, 0, max_rows, none);
	for (int i = 0; i < all.count; i++)
	{
		pe_u128		norm_sq = distance_sq(&all, all.answer[i], none);

		largest[0] = norm_sq > largest[0] ? norm_sq : largest[0];
		for (int j = 0; j < i; j++)
		{
			pe_u128		change_sq = distance_sq(&all, all.answer[i], all.answer[j]);

			largest[1] = change_sq > largest[1] ? change_sq : largest[1];
		}
	}
	assert_true(pe_strategy_sensitivity_sq(strategy, PE_ADD_REMOVE, max_rows, &got));
	assert_true(got == largest[0]);
	assert_true(pe_strategy_sensitivity_sq(strategy, PE_SUBSTITUTE, max_rows, &got));
	assert_true(got == largest[1]);
	assert_true(got > 0);
}

static void
test_brute_force(void **state)
{
	/* the squares of the last are above 2^53 */
	static const int largest[] = {1, 3, 1000, 1 << 20, 1 << 28};

	(void) state;
	for (int round = 0; round < cases(3000); round++)
	{
		pe_strategy strategy;
		int			columns = 1 + random_below(5);
		int			inner = 1 + random_below(columns);
		bool		dense = random_below(2);
		int			rows = dense ? inner + random_below(7 - inner) : inner;
		double		a[30];

		random_strategy(&strategy, dense, rows, inner, columns, largest[round % lengthof(largest)]);
		pe_strategy_matrix(&strategy, a);
		check_by_brute_force(&strategy, a, columns, 1 + round / lengthof(largest) % 3);
		pe_strategy_free(&strategy);
	}
}

/* Panels that are full, begun and alone: against each pair of columns in integers. */
static void
test_panels(void **state)
{
	static const int size[] = {1, 2, 127, 128, 129, 255, 256, 257, 300};

	(void) state;
	for (int s = 0; s < lengthof(size); s++)
		for (int form = 0; form < (size[s] > 2 ? 4 : 2); form++)
		{
			bool		dense = form % 2;
			int32_t		columns = size[s];
			int32_t		inner = form / 2 ? columns / 2 : columns;
			int32_t		rows = dense ? inner + 3 : inner;
			double	   *a = pe_alloc((size_t) rows * columns, sizeof(*a));
			pe_strategy strategy;
			pe_u128		largest = 0;
			pe_u128		got;

			random_strategy(&strategy, dense, rows, inner, columns, 1 << 12);
			pe_strategy_matrix(&strategy, a);
			for (int32_t i = 0; i < columns; i++)
				for (int32_t j = -1; j < i; j++)	/* -1: the empty contribution */
				{
					int64_t		sum = 0;

					for (int32_t l = 0; l < rows; l++)
					{
						int64_t		entry = (int64_t) a[l * columns + i] - (j < 0 ? 0 : (int64_t) a[l * columns + j]);

						sum += entry * entry;
					}
					largest = (pe_u128) sum > largest ? (pe_u128) sum : largest;
				}
			assert_true(pe_strategy_sensitivity_sq(&strategy, PE_SUBSTITUTE, 1, &got));
			assert_true(got == largest);
			assert_true(pe_strategy_sensitivity_sq(&strategy, PE_SUBSTITUTE, 7, &got));
			assert_true(got == 49 * largest);
			pe_strategy_free(&strategy);
			pe_free(a);
		}
}

/* ---- workloads under a predicate ---- */

/* Cells, not columns: one that is ruled out or not asked for adds nothing. */
static void
check_workload(const char *text, const bool *possible, int32_t max_rows)
{
	pe_shape	shape = {.attributes = 1, .name = {"a"}, .cells = {5}, .ordered = {5}};
	pe_workload workload;
	const pe_workload *one = &workload;
	pe_text_error error;
	pe_classes	classes;
	pe_strategy strategy;
	int32_t		column_of_cell[5];
	double		a[25];
	double		of_cells[25] = {0};

	if (!pe_workload_parse(text, &shape, &workload, &error))
		fail_msg("%s: %s", text, error.message);
	pe_classes_init(&one, 1, &classes);
	assert_int_equal(pe_strategy_optimal(&workload, &classes, possible, 1e-3, &strategy), PE_STRATEGY_OK);
	pe_strategy_columns(&strategy, &workload, possible, column_of_cell);
	pe_strategy_matrix(&strategy, a);
	for (int i = 0; i < strategy.rows; i++)
		for (int cell = 0; cell < 5; cell++)
			if (column_of_cell[cell] >= 0)
				of_cells[i * 5 + cell] = a[i * strategy.columns + column_of_cell[cell]];
	check_by_brute_force(&strategy, of_cells, 5, max_rows);
	pe_strategy_free(&strategy);
	pe_classes_free(&classes);
	pe_workload_free(&workload);
}

static void
test_workloads(void **state)
{
	static const char *const text[] = {"identity", "total", "prefix(a)", "all_range(a)", "ranges(a; 0-1, 1-2)", "total + identity"};

	(void) state;
	for (int s = 0; s < lengthof(text); s++)
		for (int mask = 1; mask < 32; mask++)
		{
			bool		possible[5];

			for (int cell = 0; cell < 5; cell++)
				possible[cell] = mask >> cell & 1;
			/* something must be asked for */
			if (s == 4 && (mask & 7) == 0)
				continue;
			check_workload(text[s], mask == 31 ? NULL : possible, 1 + mask % 3);
		}
}

/* One column: only the empty contribution tells that a row is not there. */
static void
test_total(void **state)
{
	pe_strategy total = {.classes = 1, .columns = 1, .rows = 1};
	pe_u128		got;

	(void) state;
	for (int32_t k = 1; k <= 5; k++)
	{
		assert_true(pe_strategy_sensitivity_sq(&total, PE_SUBSTITUTE, k, &got));
		assert_true(got == (pe_u128) (k * k));
	}
	total.columns = total.rows = 2;
	assert_true(pe_strategy_sensitivity_sq(&total, PE_SUBSTITUTE, 3, &got));
	assert_true(got == 18);
	assert_true(pe_strategy_sensitivity_sq(&total, PE_ADD_REMOVE, 3, &got));
	assert_true(got == 9);
	assert_true(pe_strategy_sensitivity_memory(&total, PE_SUBSTITUTE) > 0);
}

static int
seed(void **state)
{
	(void) state;
	pe_test_seed(20240612);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_brute_force),
		cmocka_unit_test(test_panels),
		cmocka_unit_test(test_workloads),
		cmocka_unit_test(test_total),
	};

	return cmocka_run_group_tests(tests, seed, NULL);
}
