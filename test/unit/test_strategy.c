/*
 * test_strategy.c
 *	  Integer strategies: the matrix of a workload, exact measurements, and the
 *	  sensitivity against every contribution that a unit can make.
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

#include "core/strategy.h"
#include "shim.h"

#define lengthof(array) ((int) (sizeof(array) / sizeof((array)[0])))

/* ---- helpers ---- */

static const char *const names[] = {"a", "b", "c", "d"};

static uint64_t
random_word(void)
{
	uint64_t	word;

	pe_random_bytes(&word, sizeof(word));
	return word;
}

static int
random_below(int n)
{
	return (int) (random_word() % (uint64_t) n);
}

static int
cases(int count)
{
	return getenv("PG_EPSILON_QUICK") != NULL ? count / 100 + 1 : count;
}

static bool
equal(pe_u128 a, pe_u128 b)
{
	if (a != b)
		print_error("%llx%016llx against %llx%016llx\n", (unsigned long long) (a >> 64), (unsigned long long) a,
					(unsigned long long) (b >> 64), (unsigned long long) b);
	return a == b;
}

static void
make_domain(pe_domain *domain, int attributes, const int *levels)
{
	memset(domain, 0, sizeof(*domain));
	domain->attributes = attributes;
	for (int i = 0; i < attributes; i++)
	{
		pe_attribute *a = &domain->attribute[i];

		a->key = PE_KEY_INT;
		a->kind = PE_LEVELS;
		a->outside = PE_OUTSIDE_DROP;
		a->nulls = levels[i] > 1 ? PE_NULLS_CELL : PE_NULLS_DROP;
		a->points = levels[i] > 1 ? levels[i] - 1 : 1;
		a->point = pe_alloc((size_t) a->points, sizeof(pe_point));
		for (int32_t j = 0; j < a->points; j++)
			a->point[j].i = j;
		assert_int_equal(pe_attribute_prepare(a), PE_DOMAIN_OK);
	}
	assert_int_equal(pe_domain_prepare(domain), PE_DOMAIN_OK);
}

static void
parse(const char *text, int attributes, pe_workload *workload)
{
	pe_workload_error error;

	if (!pe_workload_parse(text, names, attributes, workload, &error))
		fail_msg("%s: %s", text, error.message);
}

/* A strategy from a matrix that is stored by rows, zeros and all. */
static void
make_strategy(pe_strategy *strategy, int rows, int columns, const int32_t *matrix)
{
	int64_t		entries = 0;

	strategy->rows = rows;
	strategy->columns = columns;
	strategy->start = pe_alloc((size_t) columns + 1, sizeof(int64_t));
	strategy->row = pe_alloc((size_t) rows * (size_t) columns, sizeof(int32_t));
	strategy->entry = pe_alloc((size_t) rows * (size_t) columns, sizeof(int32_t));
	for (int column = 0; column < columns; column++)
	{
		strategy->start[column] = entries;
		for (int row = 0; row < rows; row++)
			if (matrix[row * columns + column] != 0)
			{
				strategy->row[entries] = row;
				strategy->entry[entries++] = matrix[row * columns + column];
			}
	}
	strategy->start[columns] = entries;
}

static void
random_matrix(int32_t *matrix, int size, int largest)
{
	for (int i = 0; i < size; i++)
		matrix[i] = random_below(3) == 0 ? 0 : random_below(2 * largest + 1) - largest;
}

/* A count, often as large as a count can be, or larger: the sums do not care for the sign */
static int64_t
random_count(void)
{
	switch (random_below(5))
	{
		case 0:
			return INT64_MAX;
		case 1:
			return INT64_MIN;
		case 2:
			return INT64_MAX - random_below(3);
		case 3:
			return random_below(10);
		default:
			return (int64_t) random_word();
	}
}

/* ---- the strategy of a workload ---- */

static void
test_of_workload(void **state)
{
	static const struct
	{
		const char *text;
		int			kept[4];	/* attributes that restrict a query, in the order of the text, then -1 */
	}			sample[] = {
		{"identity", {0, 1, 2, -1}},
		{"total", {-1}},
		{"identity(b)", {1, -1}},
		{"total(b)", {-1}},
		{"identity(c) * identity(a)", {2, 0, -1}},
		{"identity(c) * total(b) * identity(a)", {2, 0, -1}},
		{"identity(b) * identity(c) * identity(a)", {1, 2, 0, -1}},
	};
	static const int levels[] = {3, 4, 2};
	pe_domain	domain;

	(void) state;
	make_domain(&domain, 3, levels);
	for (int s = 0; s < lengthof(sample); s++)
	{
		pe_workload workload;
		pe_strategy strategy;
		pe_u128		sensitivity_sq;
		int			rows = 1;

		for (const int *kept = sample[s].kept; *kept >= 0; kept++)
			rows *= levels[*kept];
		parse(sample[s].text, 3, &workload);
		pe_strategy_of_workload(&workload, &domain, NULL, &strategy);
		assert_int_equal(strategy.rows, rows);
		assert_int_equal(strategy.columns, 24);
		assert_int_equal(strategy.start[0], 0);
		for (int a = 0, cell = 0; a < levels[0]; a++)
			for (int b = 0; b < levels[1]; b++)
				for (int c = 0; c < levels[2]; c++, cell++)
				{
					int			at[] = {a, b, c};
					int			row = 0;

					for (const int *kept = sample[s].kept; *kept >= 0; kept++)
						row = row * levels[*kept] + at[*kept];
					assert_int_equal(strategy.start[cell + 1] - strategy.start[cell], 1);
					assert_int_equal(strategy.row[strategy.start[cell]], row);
					assert_int_equal(strategy.entry[strategy.start[cell]], 1);
				}
		for (int k = 1; k <= 5; k++)
		{
			assert_true(pe_strategy_sensitivity_sq(&strategy, k, &sensitivity_sq));
			assert_true(equal(sensitivity_sq, (pe_u128) k * (pe_u128) k));
		}
		pe_strategy_free(&strategy);
		assert_null(strategy.start);
		pe_free(workload.canonical);
	}
	pe_domain_free(&domain);
}

/* Cells that a predicate rules out: empty columns, and the same sensitivity as long as one is left. */
static void
test_possible(void **state)
{
	pe_domain	domain;
	pe_workload workload;
	pe_strategy strategy;
	pe_u128		sensitivity_sq;
	bool		possible[12] = {false, true, true, false, false, true, false, true, false, false, true, false};
	int64_t		x[12];
	pe_i128		y[4];
	int64_t		sum[4] = {0};

	(void) state;
	make_domain(&domain, 2, (int[]) {3, 4});
	parse("identity(b)", 2, &workload);
	pe_strategy_of_workload(&workload, &domain, possible, &strategy);
	assert_int_equal(strategy.rows, 4);
	assert_int_equal(strategy.columns, 12);
	for (int cell = 0; cell < 12; cell++)
	{
		assert_int_equal(strategy.start[cell + 1] - strategy.start[cell], possible[cell]);
		x[cell] = cell + 1;
		if (possible[cell])
			sum[cell % 4] += cell + 1;
	}
	pe_strategy_apply(&strategy, x, y);
	for (int row = 0; row < 4; row++)
		assert_true(y[row] == sum[row]);
	assert_true(pe_strategy_sensitivity_sq(&strategy, 1, &sensitivity_sq));
	assert_true(equal(sensitivity_sq, 1));
	pe_strategy_free(&strategy);
	pe_free(workload.canonical);
	pe_domain_free(&domain);
}

static void
test_memory(void **state)
{
	static const int32_t size[] = {1, 2, 1000, PE_MAX_CELLS};

	(void) state;
	for (int c = 0; c < lengthof(size); c++)
		for (int q = 0; q < lengthof(size); q++)
		{
			size_t		cells = (size_t) size[c];
			size_t		queries = (size_t) size[q];
			size_t		arrays = (cells + 1) * sizeof(int64_t) + 2 * cells * sizeof(int32_t)
				+ queries * (sizeof(pe_i128) + sizeof(int64_t));
			size_t		told = pe_strategy_memory(size[c], size[q]);

			assert_true(told >= arrays && told <= arrays + 64);
		}
}

/* ---- measurements ---- */

static void
check_apply(const pe_strategy *strategy, const int32_t *matrix, const int64_t *x)
{
	pe_i128    *y = pe_alloc((size_t) strategy->rows, sizeof(pe_i128));

	/* what was there before does not matter */
	pe_random_bytes(y, (size_t) strategy->rows * sizeof(pe_i128));
	pe_strategy_apply(strategy, x, y);
	for (int row = 0; row < strategy->rows; row++)
	{
		pe_i128		sum = 0;

		for (int column = 0; column < strategy->columns; column++)
			sum += (pe_i128) matrix[row * strategy->columns + column] * x[column];
		assert_true(equal((pe_u128) y[row], (pe_u128) sum));
	}
	pe_free(y);
}

static void
test_apply(void **state)
{
	(void) state;
	for (int round = 0; round < cases(20000); round++)
	{
		int32_t		matrix[36];
		int64_t		x[6];
		int			rows = 1 + random_below(6);
		int			columns = 1 + random_below(6);
		pe_strategy strategy;

		random_matrix(matrix, rows * columns, round % 2 ? 3 : 1000000000);
		for (int i = 0; i < rows * columns; i++)
			if (round % 4 == 0 && random_below(3) == 0)
				matrix[i] = random_below(2) ? INT32_MAX : INT32_MIN;
		for (int i = 0; i < columns; i++)
			x[i] = random_count();
		make_strategy(&strategy, rows, columns, matrix);
		check_apply(&strategy, matrix, x);
		pe_strategy_free(&strategy);
	}
}

/* The measurements of a workload are its queries, counted cell by cell. */
static void
test_apply_workload(void **state)
{
	static const char *const text[] = {
		"identity", "total", "identity(a)", "identity(b) * identity(a)", "identity(c) * total(a)",
		"identity(c) * identity(a) * identity(b)"
	};

	(void) state;
	for (int round = 0; round < cases(600); round++)
	{
		int			levels[3];
		pe_domain	domain;
		pe_workload workload;
		pe_strategy strategy;
		int64_t    *x;
		pe_i128    *y;

		for (int i = 0; i < 3; i++)
			levels[i] = 1 + random_below(4);
		make_domain(&domain, 3, levels);
		parse(text[round % lengthof(text)], 3, &workload);
		pe_strategy_of_workload(&workload, &domain, NULL, &strategy);
		x = pe_alloc((size_t) domain.cells, sizeof(*x));
		y = pe_alloc((size_t) strategy.rows, sizeof(*y));
		for (int32_t cell = 0; cell < domain.cells; cell++)
			x[cell] = random_count();
		pe_strategy_apply(&strategy, x, y);
		for (int32_t query = 0; query < strategy.rows; query++)
		{
			pe_i128		sum = 0;

			for (int32_t cell = 0; cell < domain.cells; cell++)
			{
				bool		counts = true;

				for (int f = 0; f < workload.factors; f++)
					counts = counts && pe_workload_coordinate(&workload, &domain, query, f)
						== pe_domain_coordinate(&domain, cell, workload.factor[f]);
				if (counts)
					sum += x[cell];
			}
			assert_true(equal((pe_u128) y[query], (pe_u128) sum));
		}
		pe_free(x);
		pe_free(y);
		pe_strategy_free(&strategy);
		pe_free(workload.canonical);
		pe_domain_free(&domain);
	}
}

static void
test_apply_largest(void **state)
{
	pe_domain	domain;
	pe_workload workload;
	pe_strategy strategy;
	int64_t    *x = pe_alloc(PE_MAX_CELLS, sizeof(*x));
	pe_i128		y;

	(void) state;
	make_domain(&domain, 1, (int[]) {PE_MAX_CELLS});
	parse("total", 1, &workload);
	pe_strategy_of_workload(&workload, &domain, NULL, &strategy);
	for (int32_t i = 0; i < PE_MAX_CELLS; i++)
		x[i] = INT64_MAX;
	pe_strategy_apply(&strategy, x, &y);
	assert_true(equal((pe_u128) y, ((pe_u128) 1 << 83) - ((pe_u128) 1 << 20)));

	/* the largest entries there are: 2^31 2^63 2^20 = 2^114 */
	for (int32_t i = 0; i < PE_MAX_CELLS; i++)
	{
		x[i] = INT64_MIN;
		strategy.entry[i] = INT32_MIN;
	}
	pe_strategy_apply(&strategy, x, &y);
	assert_true(equal((pe_u128) y, (pe_u128) 1 << 114));

	pe_free(x);
	pe_strategy_free(&strategy);
	pe_free(workload.canonical);
	pe_domain_free(&domain);
}

/* ---- sensitivity ---- */

/* The largest |A x|^2 over all x in N^n with sum x <= left, from cell on. */
static pe_u128
largest_change(const pe_strategy *strategy, int64_t *x, int cell, int left)
{
	pe_u128		largest = 0;

	if (cell == strategy->columns)
	{
		pe_i128		y[8];

		pe_strategy_apply(strategy, x, y);
		for (int row = 0; row < strategy->rows; row++)
			largest += (pe_u128) (y[row] * y[row]);
		return largest;
	}
	for (int count = 0; count <= left; count++)
	{
		pe_u128		change;

		x[cell] = count;
		change = largest_change(strategy, x, cell + 1, left - count);
		if (change > largest)
			largest = change;
	}
	x[cell] = 0;
	return largest;
}

static void
check_sensitivity(const pe_strategy *strategy)
{
	int64_t		x[32] = {0};

	for (int k = 1; k <= 3; k++)
	{
		pe_u128		sensitivity_sq = 12345;

		assert_true(pe_strategy_sensitivity_sq(strategy, k, &sensitivity_sq));
		assert_true(equal(sensitivity_sq, largest_change(strategy, x, 0, k)));
	}
}

static void
test_sensitivity_brute_force(void **state)
{
	static const int largest[] = {1, 2, 3, 10, 100000, INT32_MAX / 2};

	(void) state;
	for (int round = 0; round < cases(6000); round++)
	{
		int32_t		matrix[25];
		int			rows = 1 + random_below(5);
		int			columns = 1 + random_below(5);
		pe_strategy strategy;

		random_matrix(matrix, rows * columns, largest[round % lengthof(largest)]);
		make_strategy(&strategy, rows, columns, matrix);
		check_sensitivity(&strategy);
		pe_strategy_free(&strategy);
	}
}

static void
test_sensitivity_of_workloads(void **state)
{
	static const char *const text[] = {"identity", "total", "identity(a)", "identity(b) * identity(a)", "total(a)"};

	(void) state;
	for (int a = 1; a <= 3; a++)
		for (int b = 1; b <= 3; b++)
			for (int s = 0; s < lengthof(text); s++)
			{
				pe_domain	domain;
				pe_workload workload;
				pe_strategy strategy;

				/* largest_change has room for eight rows */
				if (a * b > 8)
					continue;
				make_domain(&domain, 2, (int[]) {a, b});
				parse(text[s], 2, &workload);
				pe_strategy_of_workload(&workload, &domain, NULL, &strategy);
				check_sensitivity(&strategy);
				pe_strategy_free(&strategy);
				pe_free(workload.canonical);
				pe_domain_free(&domain);
			}
}

static void
test_sensitivity_known(void **state)
{
	/* the largest column is neither the first nor the last, nor the one with the most or the largest entries */
	static const int32_t matrix[] = {
		1, 3, 0, 4, 1,
		1, -3, 0, 0, 0,
		1, 0, 0, 0, 0,
		1, 0, 0, 0, 0,
	};
	static const int32_t zero[] = {0, 0};
	pe_strategy strategy;
	pe_u128		got;

	(void) state;
	make_strategy(&strategy, 4, 5, matrix);
	assert_true(pe_strategy_sensitivity_sq(&strategy, 1, &got));
	assert_true(equal(got, 18));
	assert_true(pe_strategy_sensitivity_sq(&strategy, 7, &got));
	assert_true(equal(got, 18 * 49));
	assert_true(pe_strategy_sensitivity_sq(&strategy, INT32_MAX, &got));
	assert_true(equal(got, 18 * (pe_u128) INT32_MAX * INT32_MAX));
	pe_strategy_free(&strategy);

	make_strategy(&strategy, 1, 2, zero);
	assert_true(pe_strategy_sensitivity_sq(&strategy, 3, &got));
	assert_true(equal(got, 0));
	pe_strategy_free(&strategy);
}

/* One column of so many equal entries. */
static void
column_strategy(pe_strategy *strategy, int32_t rows, int32_t entry)
{
	strategy->rows = rows;
	strategy->columns = 1;
	strategy->start = pe_alloc(2, sizeof(int64_t));
	strategy->row = pe_alloc((size_t) rows, sizeof(int32_t));
	strategy->entry = pe_alloc((size_t) rows, sizeof(int32_t));
	for (int32_t i = 0; i < rows; i++)
	{
		strategy->row[i] = i;
		strategy->entry[i] = entry;
	}
	strategy->start[1] = rows;
}

static void
test_sensitivity_overflow(void **state)
{
	static const struct
	{
		int32_t		rows;
		int32_t		entry;
		int32_t		max_rows;
		bool		fits;
	}			sample[] = {
		/* 4 2^62 k^2 = 2^64 k^2 */
		{4, INT32_MIN, 65535, true},
		{4, INT32_MIN, 65536, false},
		{4, INT32_MIN, INT32_MAX, false},
		{4, INT32_MIN + 1, 65536, true},
		{4, INT32_MAX, 65536, true},
		{4, INT32_MAX, 65537, false},
		/* 2^20 2^62 k^2 = 2^82 k^2 */
		{PE_MAX_CELLS, INT32_MIN, 1, true},
		{PE_MAX_CELLS, INT32_MIN, 127, true},
		{PE_MAX_CELLS, INT32_MIN, 128, false},
		{PE_MAX_CELLS, INT32_MAX, 128, true},
		{PE_MAX_CELLS, INT32_MIN, INT32_MAX, false},
		/* 2^20 k^2 < 2^82 */
		{PE_MAX_CELLS, -1, INT32_MAX, true},
		/* 2^94 again and again */
		{1, 65536, INT32_MAX, true},
		{4, 65536, INT32_MAX, true},
		{5, 65536, INT32_MAX, false},
	};

	(void) state;
	for (int i = 0; i < lengthof(sample); i++)
	{
		pe_strategy strategy;
		pe_u128		got = 12345;
		pe_u128		norm_sq = (pe_u128) ((int64_t) sample[i].entry * sample[i].entry) * (pe_u128) sample[i].rows;
		pe_u128		copies = (pe_u128) sample[i].max_rows;

		column_strategy(&strategy, sample[i].rows, sample[i].entry);
		assert_int_equal(pe_strategy_sensitivity_sq(&strategy, sample[i].max_rows, &got), sample[i].fits);
		assert_true(equal(got, sample[i].fits ? norm_sq * copies * copies : 12345));
		assert_true(!sample[i].fits || got >> 96 == 0);
		pe_strategy_free(&strategy);
	}
}

static void
ask_for_rows(void *arg)
{
	pe_strategy strategy = {0};
	int64_t		start = 0;
	pe_u128		got;

	strategy.start = &start;
	(void) pe_strategy_sensitivity_sq(&strategy, *(int32_t *) arg, &got);
}

static void
test_no_rows(void **state)
{
	int32_t		none[] = {0, -1, INT32_MIN};
	int32_t		one = 1;

	(void) state;
	for (int i = 0; i < lengthof(none); i++)
		assert_true(pe_test_is_bug(ask_for_rows, &none[i]));
	assert_false(pe_test_is_bug(ask_for_rows, &one));
}

static int
seed(void **state)
{
	(void) state;
	pe_test_seed(20240302);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_of_workload),
		cmocka_unit_test(test_possible),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_apply),
		cmocka_unit_test(test_apply_workload),
		cmocka_unit_test(test_apply_largest),
		cmocka_unit_test(test_sensitivity_brute_force),
		cmocka_unit_test(test_sensitivity_of_workloads),
		cmocka_unit_test(test_sensitivity_known),
		cmocka_unit_test(test_sensitivity_overflow),
		cmocka_unit_test(test_no_rows),
	};

	return cmocka_run_group_tests(tests, seed, NULL);
}
