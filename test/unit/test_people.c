/*
 * test_people.c
 *	  The sensitivity of units that are counted once in a column: against all neighbours, and the
 *	  formulas at the head of people.c against sums over A written out.
 *
 * Random cases come from a fixed seed, so failures repeat; with PG_EPSILON_QUICK set
 * there are far fewer.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "blocks/blocks.h"
#include "strategy/strategy.h"
#include "numbers.h"
#include "shim.h"
#include "workloads.h"

#define MOST_COLUMNS 8
#define MOST_CELLS 3

static const pe_neighbours both[] = {PE_ADD_REMOVE, PE_SUBSTITUTE};

/* A strategy, and its entries by rows. */
typedef struct trial
{
	text		source;
	pe_shape	shape;
	pe_workload workload;
	pe_strategy strategy;
	int64_t    *a;
} trial;

static void
write_entries(trial *t)
{
	size_t		entries = (size_t) t->strategy.rows * (size_t) t->strategy.columns;
	double	   *a = pe_alloc(entries, sizeof(*a));

	t->a = pe_alloc(entries, sizeof(*t->a));
	pe_strategy_matrix(&t->strategy, a);
	for (size_t i = 0; i < entries; i++)
		t->a[i] = (int64_t) a[i];
	pe_free(a);
}

static void
free_trial(trial *t)
{
	if (t->strategy.direct)
		pe_workload_free(&t->workload);
	pe_strategy_free(&t->strategy);
	pe_free(t->a);
}

/* Every column counted by itself. */
static void
make_identity(trial *t, int columns)
{
	memset(t, 0, sizeof(*t));
	t->strategy = (pe_strategy) {.classes = columns, .columns = columns, .rows = columns, .inner = columns, .objective = 1};
	write_entries(t);
}

static int32_t *
random_entries(int count, int lo, int hi)
{
	int32_t    *entry = pe_alloc((size_t) count, sizeof(*entry));

	for (int i = 0; i < count; i++)
		entry[i] = between(lo, hi);
	return entry;
}

static void
make_dense(trial *t, int rows, int columns, int lo, int hi)
{
	memset(t, 0, sizeof(*t));
	t->strategy = (pe_strategy) {.classes = columns, .columns = columns, .rows = rows, .inner = columns, .objective = 1};
	t->strategy.dense = random_entries(rows * columns, lo, hi);
	write_entries(t);
}

/* M = T, with a basis of fewer rows, or without. */
static void
make_triangle(trial *t, int inner, int columns)
{
	memset(t, 0, sizeof(*t));
	t->strategy = (pe_strategy) {.classes = columns, .columns = columns, .rows = inner, .inner = inner, .objective = 1};
	t->strategy.triangle = random_entries(inner * (inner + 1) / 2, -3, 3);
	if (inner < columns)
		t->strategy.basis = random_entries(inner * columns, -1, 1);
	write_entries(t);
}

/* Queries measured as they are: of one attribute, some with entries other than 0 and 1. */
static void
make_direct(trial *t)
{
	const pe_workload *workload = &t->workload;
	pe_text_error error;
	pe_classes	classes;
	int			n = between(2, MOST_COLUMNS - 1);

	memset(t, 0, sizeof(*t));
	t->shape = (pe_shape) {.attributes = 1, .name = {"a"}, .ordered = {n}, .cells = {n}};
	random_workload(&t->source, &t->shape, false);
	if (!pe_workload_parse(t->source.data, &t->shape, &t->workload, &error))
		fail_msg("%s: %s", t->source.data, error.message);
	pe_classes_init(&workload, 1, &classes);
	n = classes.cells;
	pe_classes_free(&classes);
	t->strategy = (pe_strategy) {.classes = n, .columns = n, .rows = t->workload.queries, .inner = n, .direct = true, .objective = 1};
	t->strategy.column_of = pe_alloc((size_t) n, sizeof(int32_t));
	for (int32_t c = 0; c < n; c++)
		t->strategy.column_of[c] = c;
	pe_strategy_bind(&t->strategy, workload);
	write_entries(t);
}

/* ---- all neighbours ---- */

typedef struct truth
{
	int64_t		sq;
	int64_t		l1;
} truth;

/* Raises what is known to |sum of the columns with their signs|. */
static void
look_at(const trial *t, const int *sign, truth *most)
{
	truth		here = {0, 0};

	for (int32_t i = 0; i < t->strategy.rows; i++)
	{
		int64_t		sum = 0;

		for (int32_t j = 0; j < t->strategy.columns; j++)
			sum += sign[j] * t->a[(size_t) i * (size_t) t->strategy.columns + (size_t) j];
		here.sq += sum * sum;
		here.l1 += sum < 0 ? -sum : sum;
	}
	most->sq = here.sq > most->sq ? here.sq : most->sq;
	most->l1 = here.l1 > most->l1 ? here.l1 : most->l1;
}

/* All sets of at most `left[0]` columns of one table, and of at most left[1] of the other. */
static void
look_at_all(const trial *t, int column, int *sign, const int left[2], truth *most)
{
	if (column == t->strategy.columns)
	{
		look_at(t, sign, most);
		return;
	}
	for (sign[column] = -1; sign[column] <= 1; sign[column]++)
	{
		const int	then[2] = {left[0] - (sign[column] > 0), left[1] - (sign[column] < 0)};

		if (then[0] >= 0 && then[1] >= 0)
			look_at_all(t, column + 1, sign, then, most);
	}
	sign[column] = 0;
}

/* A unit's columns beside none, or beside those that replace them. */
static truth
truth_of(const trial *t, pe_neighbours neighbours, int m)
{
	const int	left[2] = {m, neighbours == PE_SUBSTITUTE ? m : 0};
	int			sign[MOST_COLUMNS];
	truth		most = {1, 1};

	look_at_all(t, 0, sign, left, &most);
	return most;
}

/* ---- formulas ---- */

static int
descending(const void *a, const void *b)
{
	const int64_t *x = a;
	const int64_t *y = b;

	return (*x < *y) - (*x > *y);
}

/* The sum of the `most` largest of n numbers. */
static int64_t
top(int64_t *number, int n, int most)
{
	int64_t		sum = 0;

	qsort(number, (size_t) n, sizeof(*number), descending);
	for (int i = 0; i < n && i < most; i++)
		sum += number[i];
	return sum;
}

static int64_t
product_of(const trial *t, int i, int j)
{
	size_t		n = (size_t) t->strategy.columns;
	int64_t		sum = 0;

	for (int32_t row = 0; row < t->strategy.rows; row++)
		sum += t->a[(size_t) row * n + (size_t) i] * t->a[(size_t) row * n + (size_t) j];
	return sum;
}

typedef struct formula
{
	int64_t		sq;
	int64_t		simple;			/* m (2 m) max_i of the m (2 m) largest |G_ij| */
	int64_t		largest;		/* max |a|^2 */
	int64_t		l1;
} formula;

static formula
formula_of(const trial *t, pe_neighbours neighbours, int m)
{
	int			n = t->strategy.columns;
	int64_t    *bound = pe_alloc((size_t) n * 6, sizeof(*bound));
	int64_t    *twice = bound + n;
	int64_t    *plus = bound + 2 * n;
	int64_t    *minus = bound + 3 * n;
	int64_t    *any = bound + 4 * n;
	int64_t    *norm = bound + 5 * n;
	int			all = neighbours == PE_SUBSTITUTE ? 2 * m : m;
	formula		f = {0};

	for (int i = 0; i < n; i++)
	{
		int64_t		own = product_of(t, i, i);
		int64_t		simple;

		for (int j = 0; j < n; j++)
		{
			int64_t		g = product_of(t, i, j);

			plus[j] = i != j && g > 0 ? g : 0;
			minus[j] = i != j && g < 0 ? -g : 0;
			any[j] = g < 0 ? -g : g;
		}
		simple = all * top(any, n, all);
		bound[i] = own + top(plus, n, m - 1);
		twice[i] = bound[i] + top(minus, n, m);
		f.simple = simple > f.simple ? simple : f.simple;
		f.largest = own > f.largest ? own : f.largest;
		for (int32_t row = 0; row < t->strategy.rows; row++)
			norm[i] += llabs(t->a[(size_t) row * (size_t) n + (size_t) i]);
	}
	f.sq = top(bound, n, m);
	if (neighbours == PE_SUBSTITUTE)
		f.sq = top(twice, n, 2 * m) < 4 * f.sq ? top(twice, n, 2 * m) : 4 * f.sq;
	f.l1 = top(norm, n, all);
	if (t->strategy.direct)
		f.l1 = (all < n ? all : n) * norm[0];	/* the largest comes first */
	pe_free(bound);
	return f;
}

static int64_t
at_least_one(int64_t number)
{
	return number > 1 ? number : 1;
}

static double worst;

/* Both sensitivities are those of the formulas; with all neighbours, and those of small ones alone. */
static void
check(const trial *t, pe_neighbours neighbours, int m, bool small)
{
	formula		f = formula_of(t, neighbours, m);
	truth		known = small ? truth_of(t, neighbours, m) : (truth) {1, 1};
	int64_t		all = neighbours == PE_SUBSTITUTE ? 2 * m : m;
	pe_u128		sq;
	pe_u128		l1;

	assert_true(pe_strategy_people_sq(&t->strategy, neighbours, m, &sq));
	assert_true(pe_strategy_people_l1(&t->strategy, neighbours, m, &l1));
	if (sq < (pe_u128) known.sq || l1 < (pe_u128) known.l1)
		fail_msg("m %d, neighbours %d, %s: %g and %g of a truth of %g and %g", m, neighbours, t->source.data,
				 (double) sq, (double) l1, (double) known.sq, (double) known.l1);
	assert_int_equal((int64_t) sq, at_least_one(f.sq));
	assert_int_equal((int64_t) l1, at_least_one(f.l1));
	assert_true(f.sq <= f.simple && f.sq <= all * all * f.largest);
	if (small)
		worst = fmax(worst, (double) sq / (double) known.sq);
}

static void
check_small(trial *t)
{
	for (int m = 1; m <= MOST_CELLS; m++)
		for (int b = 0; b < lengthof(both); b++)
			check(t, both[b], m, true);
	free_trial(t);
}

static void
test_all_neighbours(void **state)
{
	(void) state;
	for (int round = 0; round < fewer(300, 20); round++)
	{
		trial		t;

		make_dense(&t, between(2, 5), between(3, MOST_COLUMNS - 1), -2, 3);
		check_small(&t);
		make_dense(&t, between(2, 5), between(3, MOST_COLUMNS - 1), 0, 2);
		check_small(&t);
		make_triangle(&t, between(2, 4), between(4, MOST_COLUMNS - 1));
		check_small(&t);
		make_direct(&t);
		check_small(&t);
	}
	printf("people: the squared sensitivity is at most %.2f times that of all neighbours\n", worst);
}

/* Exact where columns are counted one by one, and sqrt(m) of one person's noise, not m. */
static void
test_identity(void **state)
{
	pe_u128		got;

	(void) state;
	for (int n = 1; n < MOST_COLUMNS; n++)
		for (int m = 1; m <= 4; m++)
			for (int b = 0; b < lengthof(both); b++)
			{
				trial		t;
				truth		known;

				make_identity(&t, n);
				known = truth_of(&t, both[b], m);
				assert_true(pe_strategy_people_sq(&t.strategy, both[b], m, &got));
				assert_int_equal((int64_t) got, known.sq);
				assert_true(pe_strategy_people_l1(&t.strategy, both[b], m, &got));
				assert_int_equal((int64_t) got, known.l1);
				free_trial(&t);
			}
}

/* Of any size without a look at the columns. */
static void
test_large_identity(void **state)
{
	pe_strategy s = {.classes = 1 << 28, .columns = 1 << 28, .rows = 1 << 28, .inner = 1 << 28, .objective = 1};
	pe_u128		got;

	(void) state;
	assert_true(pe_strategy_counts_columns(&s));
	assert_int_equal(pe_strategy_people_memory(&s), 0);
	assert_true(pe_strategy_people_sq(&s, PE_ADD_REMOVE, 10, &got));
	assert_int_equal((int64_t) got, 10);
	assert_true(pe_strategy_people_sq(&s, PE_SUBSTITUTE, 10, &got));
	assert_int_equal((int64_t) got, 20);
	assert_true(pe_strategy_people_l1(&s, PE_ADD_REMOVE, 10, &got));
	assert_int_equal((int64_t) got, 10);
	assert_true(pe_strategy_people_l1(&s, PE_SUBSTITUTE, 10, &got));
	assert_int_equal((int64_t) got, 20);
	assert_true(pe_strategy_people_sq(&s, PE_SUBSTITUTE, INT32_MAX, &got));
	assert_int_equal((int64_t) got, 1 << 28);
}

/* Several panels of columns, as a triangle too, which is not multiplied below its diagonal. */
static void
test_panels(void **state)
{
	trial		t;

	(void) state;
	make_dense(&t, 20, 300, -9, 9);
	check(&t, PE_ADD_REMOVE, 7, false);
	check(&t, PE_SUBSTITUTE, 7, false);
	check(&t, PE_SUBSTITUTE, 400, false);
	free_trial(&t);
	make_triangle(&t, 290, 290);
	check(&t, PE_ADD_REMOVE, 5, false);
	check(&t, PE_SUBSTITUTE, 5, false);
	free_trial(&t);
}

/* Entries so large that products are not doubles any more: the same, times the square of what they were multiplied by. */
static void
test_large_entries(void **state)
{
	const int32_t factor = 1 << 28;

	(void) state;
	for (int round = 0; round < fewer(100, 10); round++)
	{
		trial		t;

		make_dense(&t, between(2, 5), between(3, MOST_COLUMNS - 1), -2, 3);
		for (int b = 0; b < lengthof(both); b++)
		{
			int32_t		entries = t.strategy.rows * t.strategy.columns;
			pe_u128		small;
			pe_u128		large;

			assert_true(pe_strategy_people_sq(&t.strategy, both[b], 2, &small));
			for (int32_t i = 0; i < entries; i++)
				t.strategy.dense[i] *= factor;
			assert_true(pe_strategy_people_sq(&t.strategy, both[b], 2, &large));
			assert_true(large == small * (pe_u128) factor * (pe_u128) factor);
			for (int32_t i = 0; i < entries; i++)
				t.strategy.dense[i] /= factor;
		}
		free_trial(&t);
	}
}

static void
no_cells(void *strategy)
{
	pe_u128		got;

	(void) pe_strategy_people_sq(strategy, PE_ADD_REMOVE, 0, &got);
}

/* What no sampler can serve, and what is no matrix. */
static void
test_refused(void **state)
{
	int32_t		dense[4] = {INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX};
	int32_t		basis[4] = {INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX};
	pe_strategy s = {.classes = 2, .columns = 2, .rows = 2, .inner = 2, .dense = dense, .basis = basis, .objective = 1};
	struct pe_blocks blocks = {0};
	pe_u128		got;

	(void) state;
	assert_false(pe_strategy_people_sq(&s, PE_ADD_REMOVE, 1, &got));
	assert_false(pe_strategy_people_l1(&s, PE_ADD_REMOVE, 1, &got));
	s.dense = s.basis = NULL;
	s.blocks = &blocks;
	assert_false(pe_strategy_people_sq(&s, PE_ADD_REMOVE, 1, &got));
	assert_false(pe_strategy_people_l1(&s, PE_ADD_REMOVE, 1, &got));
	assert_false(pe_strategy_counts_columns(&s));
	s.blocks = NULL;
	assert_true(pe_test_is_bug(no_cells, &s));
}

static int
seed(void **state)
{
	(void) state;
	pe_test_seed(20260724);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_neighbours),
		cmocka_unit_test(test_identity),
		cmocka_unit_test(test_large_identity),
		cmocka_unit_test(test_panels),
		cmocka_unit_test(test_large_entries),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, seed, NULL);
}
