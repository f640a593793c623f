/*
 * test_direct.c
 *	  Queries that are measured as they are: sums, sensitivities and answers
 *	  against W written out, and what such a strategy does not say.
 *
 * Random cases come from a fixed seed, so failures repeat; with PG_EPSILON_QUICK
 * set there are far fewer.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdbool.h>

#include "optimum/optimum.h"
#include "blocks/blocks.h"
#include "strategy/strategy.h"
#include "blocks/reconstruct.h"
#include "numbers.h"
#include "shim.h"
#include "workloads.h"

static void
parse(const char *source, const pe_shape *shape, pe_workload *workload)
{
	pe_text_error error;

	if (!pe_workload_parse(source, shape, workload, &error))
		fail_msg("%s: %s", source, error.message);
}

/* The columns are those of the optimum; false if nothing is asked for. */
static bool
make_direct(const pe_workload *workload, const bool *possible, pe_strategy *strategy)
{
	pe_classes	classes;
	pe_strategy_status status;

	pe_classes_init(&workload, 1, &classes);
	status = pe_strategy_optimal(workload, &classes, possible, 1e-2, strategy);
	pe_classes_free(&classes);
	if (status == PE_STRATEGY_EMPTY)
	{
		pe_strategy_free(strategy);
		return false;
	}
	assert_int_equal(status, PE_STRATEGY_OK);
	pe_free(strategy->triangle);
	pe_free(strategy->basis);
	strategy->triangle = strategy->basis = NULL;
	strategy->direct = true;
	strategy->rows = workload->queries;
	strategy->inner = strategy->columns;
	strategy->lower_bound = 0;
	pe_strategy_bind(strategy, workload);
	return true;
}

/* ---- against W written out ---- */

typedef struct trial
{
	pe_shape	shape;
	text		source;
	pe_workload workload;
	int32_t		cells;
	bool	   *possible;
	pe_strategy strategy;
	double	   *w;				/* queries x cells */
} trial;

static bool
begin(trial *t, bool mask)
{
	random_shape(&t->shape);
	random_workload(&t->source, &t->shape, true);
	parse(t->source.data, &t->shape, &t->workload);
	t->cells = pe_shape_cells(&t->shape);
	t->possible = mask ? pe_alloc(t->cells, sizeof(bool)) : NULL;
	for (int32_t c = 0; mask && c < t->cells; c++)
		t->possible[c] = between(0, 3) > 0;
	if (make_direct(&t->workload, t->possible, &t->strategy))
	{
		t->w = write_out(&t->workload);
		return true;
	}
	pe_free(t->possible);
	pe_workload_free(&t->workload);
	return false;
}

static void
end(trial *t)
{
	pe_strategy_free(&t->strategy);
	pe_workload_free(&t->workload);
	pe_free(t->possible);
	pe_free(t->w);
}

/* The weight of a cell; a cell ruled out, or -1, is no row at all. */
static int64_t
weight(const trial *t, int32_t query, int32_t cell)
{
	if (cell < 0 || (t->possible != NULL && !t->possible[cell]))
		return 0;
	return (int64_t) t->w[(size_t) query * t->cells + cell];
}

/* With counts up to the ends of int64; the sums of a column must not go beyond. */
static void
check_sums(const trial *t)
{
	int32_t    *column_of = pe_alloc(t->cells, sizeof(int32_t));
	int64_t    *x = pe_alloc(t->cells, sizeof(int64_t));
	int64_t    *columns = pe_alloc(t->strategy.columns, sizeof(int64_t));
	pe_i128    *y = pe_alloc(t->strategy.rows, sizeof(pe_i128));
	int64_t		most = INT64_MAX / t->cells;

	pe_strategy_columns(&t->strategy, &t->workload, t->possible, column_of);
	for (int32_t c = 0; c < t->cells; c++)
	{
		x[c] = between(0, 1) ? between(-1000, 1000) : between(0, 1) ? most : -most;
		if (column_of[c] >= 0)
			columns[column_of[c]] += x[c];
	}
	for (int32_t q = 0; q < t->strategy.rows; q++)
		y[q] = -1;				/* every one is written */
	pe_strategy_apply(&t->strategy, columns, y);
	for (int32_t q = 0; q < t->strategy.rows; q++)
	{
		pe_i128		sum = 0;

		for (int32_t c = 0; c < t->cells; c++)
			sum += (pe_i128) weight(t, q, c) * x[c];
		if (sum != y[q])
			fail_msg("query %d of %s", q, t->source.data);
	}
	pe_free(column_of);
	pe_free(x);
	pe_free(columns);
	pe_free(y);
}

/* |w_i - w_j| in both norms, the L2 one squared. */
static void
distances(const trial *t, int32_t i, int32_t j, pe_u128 *l1, pe_u128 *l2)
{
	*l1 = *l2 = 0;
	for (int32_t q = 0; q < t->strategy.rows; q++)
	{
		int64_t		change = weight(t, q, i) - weight(t, q, j);

		*l1 += (pe_u128) (change < 0 ? -change : change);
		*l2 += (pe_u128) (change * change);
	}
}

static pe_u128
larger(pe_u128 a, pe_u128 b)
{
	return a > b ? a : b;
}

/* Every cell in place of every other, and of none. */
static void
check_sensitivities(const trial *t)
{
	pe_u128		alone[2] = {0, 0};
	pe_u128		apart[2] = {0, 0};
	pe_u128		got;

	for (int32_t i = 0; i < t->cells; i++)
		for (int32_t j = -1; j < i; j++)
		{
			pe_u128		l1;
			pe_u128		l2;

			distances(t, i, j, &l1, &l2);
			alone[0] = j < 0 ? larger(alone[0], l1) : alone[0];
			alone[1] = j < 0 ? larger(alone[1], l2) : alone[1];
			apart[0] = larger(apart[0], l1);
			apart[1] = larger(apart[1], l2);
		}
	assert_true(pe_strategy_sensitivity_l1(&t->strategy, PE_ADD_REMOVE, 3, &got));
	assert_true(got == 3 * alone[0]);
	assert_true(pe_strategy_sensitivity_l1(&t->strategy, PE_SUBSTITUTE, 5, &got));
	assert_true(got == 5 * apart[0]);
	assert_true(pe_strategy_sensitivity_sq(&t->strategy, PE_ADD_REMOVE, 3, &got));
	assert_true(got == 9 * alone[1]);
	assert_true(pe_strategy_sensitivity_sq(&t->strategy, PE_SUBSTITUTE, 5, &got));
	assert_true(got == 25 * apart[1]);
}

static void
check_matrix(const trial *t)
{
	int32_t    *column_of = pe_alloc(t->cells, sizeof(int32_t));
	double	   *a = pe_alloc((size_t) t->strategy.rows * t->strategy.columns, sizeof(double));

	pe_strategy_columns(&t->strategy, &t->workload, t->possible, column_of);
	pe_strategy_matrix(&t->strategy, a);
	for (int32_t q = 0; q < t->strategy.rows; q++)
		for (int32_t c = 0; c < t->cells; c++)
			if (weight(t, q, c) != (column_of[c] < 0 ? 0 : (int64_t) a[(size_t) q * t->strategy.columns + column_of[c]]))
				fail_msg("query %d of %s", q, t->source.data);
	pe_free(column_of);
	pe_free(a);
}

/* Each answer is its own measurement. */
static void
check_answers(const trial *t)
{
	pe_measured measured = {&t->workload, &t->strategy, t->possible, NULL};
	pe_reconstruction r;
	pe_workload again;
	int64_t    *y = pe_alloc(t->strategy.rows, sizeof(int64_t));
	double	   *estimate = pe_alloc(t->strategy.rows, sizeof(double));
	double	   *variance = pe_alloc(t->strategy.rows, sizeof(double));

	for (int32_t q = 0; q < t->strategy.rows; q++)
		y[q] = between(-1000000, 1000000);
	parse(t->workload.canonical, &t->shape, &again);
	assert_true(pe_reconstruction_init(&measured, &again, &r));
	assert_int_equal(pe_reconstruction_undetermined(&r), -1);
	pe_reconstruction_estimate(&r, y, estimate);
	pe_reconstruction_variance(&r, variance);
	for (int32_t q = 0; q < t->strategy.rows; q++)
		assert_true(estimate[q] == (double) y[q] && variance[q] == 1);
	pe_reconstruction_free(&r);
	pe_workload_free(&again);
	pe_free(y);
	pe_free(estimate);
	pe_free(variance);
}

static void
check_bytes(const trial *t)
{
	size_t		size = pe_strategy_size(&t->strategy);
	char	   *bytes = pe_alloc(size + 1, 1);
	char	   *rewritten = pe_alloc(size, 1);
	pe_strategy again;

	pe_strategy_write(&t->strategy, bytes);
	assert_int_equal(pe_strategy_read(&again, bytes, size + 1), PE_STRATEGY_MALFORMED);
	assert_int_equal(pe_strategy_read(&again, bytes, size - 1), PE_STRATEGY_MALFORMED);
	assert_int_equal(pe_strategy_read(&again, bytes, size), PE_STRATEGY_OK);
	assert_true(again.direct && again.workload == NULL && again.rows == t->strategy.rows && again.inner == t->strategy.inner);
	assert_true(again.triangle == NULL && again.dense == NULL && again.basis == NULL && again.lower_bound == 0);
	pe_strategy_write(&again, rewritten);
	assert_memory_equal(bytes, rewritten, size);
	pe_strategy_free(&again);
	pe_free(bytes);
	pe_free(rewritten);
}

static void
test_random(void **state)
{
	(void) state;
	for (int i = 0; i < cases(600); i++)
	{
		trial		t;

		if (!begin(&t, i % 3 == 0))
			continue;
		check_sums(&t);
		check_sensitivities(&t);
		check_matrix(&t);
		check_answers(&t);
		check_bytes(&t);
		end(&t);
	}
}

/* ---- other workloads ---- */

static void
test_undetermined(void **state)
{
	const pe_shape shape = {2, {"a", "b"}, {4, 3}, {4, 3}};
	const pe_shape turned = {2, {"a", "b"}, {3, 4}, {3, 4}};
	const pe_shape unordered = {2, {"a", "b"}, {4, 3}, {4, 0}};
	static const struct
	{
		const char *source;
		int32_t		undetermined;
	}			sample[] = {
		{"identity + 2 * total", -1}, {" identity\n+ (2*total)", -1},
		{"identity", 0}, {"total + identity", 0}, {"identity + total", 0}, {"identity + 2 * total + total", 0}
	};
	pe_workload workload;
	pe_strategy strategy;
	pe_measured measured = {&workload, &strategy, NULL, NULL};

	(void) state;
	parse("identity + 2 * total", &shape, &workload);
	assert_true(make_direct(&workload, NULL, &strategy));
	for (int i = 0; i < lengthof(sample) + 2; i++)
	{
		const pe_shape *over = i < lengthof(sample) ? &shape : i == lengthof(sample) ? &turned : &unordered;
		pe_workload asked;
		pe_reconstruction r;

		parse(sample[i % lengthof(sample)].source, over, &asked);
		assert_true(pe_reconstruction_init(&measured, &asked, &r));
		assert_int_equal(pe_reconstruction_undetermined(&r), over == &shape ? sample[i].undetermined : 0);
		pe_reconstruction_free(&r);
		pe_workload_free(&asked);
	}
	pe_strategy_free(&strategy);
	pe_workload_free(&workload);
}

/* ---- large ones ---- */

static pe_u128
sensitivity_l1(const char *source, pe_neighbours neighbours)
{
	pe_workload workload;
	pe_strategy strategy;
	pe_classes	classes;
	const pe_workload *one = &workload;
	pe_u128		got;

	parse(source, NULL, &workload);
	pe_classes_init(&one, 1, &classes);
	strategy = (pe_strategy) {
		.classes = classes.cells, .columns = classes.cells, .inner = classes.cells, .rows = workload.queries, .direct = true
	};
	strategy.column_of = pe_alloc(classes.cells, sizeof(int32_t));
	for (int32_t c = 0; c < classes.cells; c++)
		strategy.column_of[c] = c;
	pe_strategy_bind(&strategy, &workload);
	(void) pe_test_memory();
	assert_true(pe_strategy_sensitivity_l1(&strategy, neighbours, 1, &got));
	assert_true(pe_test_memory() <= pe_strategy_sensitivity_memory(&strategy, neighbours) + 4096);
	pe_strategy_free(&strategy);
	pe_classes_free(&classes);
	pe_workload_free(&workload);
	return got;
}

/* Exact for zeros and ones; otherwise as long as it does not take too long, and then twice the largest. */
static void
test_pairs(void **state)
{
	(void) state;
	assert_true(sensitivity_l1("prefix(1200)", PE_ADD_REMOVE) == 1200);
	assert_true(sensitivity_l1("prefix(1200)", PE_SUBSTITUTE) == 1200);
	assert_true(sensitivity_l1("prefix(300) * matrix({{2,1}})", PE_SUBSTITUTE) == 600);
	assert_true(sensitivity_l1("prefix(300) * matrix({{-2,1}})", PE_SUBSTITUTE) == 900);
	if (getenv("PG_EPSILON_QUICK") != NULL)
		return;
	assert_true(sensitivity_l1("prefix(520) * matrix({{2,1}})", PE_ADD_REMOVE) == 1040);
	assert_true(sensitivity_l1("prefix(520) * matrix({{2,1}})", PE_SUBSTITUTE) == 2080);
	assert_true(sensitivity_l1("all_range(128) * matrix({{1,2,3,4,5,6,7,8}})", PE_ADD_REMOVE) == 8 * 64 * 65);
	assert_true(sensitivity_l1("all_range(128) * matrix({{1,2,3,4,5,6,7,8}})", PE_SUBSTITUTE) == 2 * 8 * 64 * 65);
}

/* The most queries that are quick to measure: each is a difference of two sums. */
static void
test_many_queries(void **state)
{
	const int	n = getenv("PG_EPSILON_QUICK") != NULL ? 60 : 1500;
	char		source[64];
	pe_workload workload;
	pe_strategy strategy = {.direct = true};
	int64_t    *x = pe_alloc(n, sizeof(int64_t));
	pe_i128    *y;
	int32_t		at = 0;

	(void) state;
	snprintf(source, sizeof(source), "all_range(%d)", n);
	parse(source, NULL, &workload);
	strategy.classes = strategy.columns = strategy.inner = n;
	strategy.rows = workload.queries;
	strategy.column_of = pe_alloc(n, sizeof(int32_t));
	for (int32_t c = 0; c < n; c++)
	{
		strategy.column_of[c] = n - 1 - c;	/* any order of columns */
		x[n - 1 - c] = c;
	}
	pe_strategy_bind(&strategy, &workload);
	y = pe_alloc(strategy.rows, sizeof(pe_i128));
	pe_strategy_apply(&strategy, x, y);
	for (int64_t from = 0; from < n; from++)
		for (int64_t to = from; to < n; to++)
			if (y[at++] != (pe_i128) (to * (to + 1) - from * (from - 1)) / 2)
				fail_msg("from %d to %d", (int) from, (int) to);
	pe_free(x);
	pe_free(y);
	pe_strategy_free(&strategy);
	pe_workload_free(&workload);
}

/* ---- what is a bug ---- */

typedef struct misuse
{
	int			which;
	pe_workload workload;
	pe_workload other;
	pe_strategy strategy;
	pe_reconstruction own;
	pe_reconstruction of_other;
} misuse;

static void
do_wrong(void *argument)
{
	misuse	   *m = argument;
	int64_t		columns[4] = {0};
	int64_t		y[8] = {0};
	pe_i128		exact[8];
	double		answer[8];
	pe_u128		got;

	switch (m->which)
	{
		case 0:
			m->strategy.workload = NULL;
			pe_strategy_apply(&m->strategy, columns, exact);
			break;
		case 1:
			m->strategy.workload = NULL;
			pe_strategy_sensitivity_sq(&m->strategy, PE_ADD_REMOVE, 1, &got);
			break;
		case 2:
			pe_strategy_bind(&m->strategy, &m->other);
			break;
		case 3:
			pe_strategy_solve(&m->strategy, y, answer);
			break;
		case 4:
			pe_reconstruction_estimate(&m->of_other, y, answer);
			break;
		case 5:
			pe_reconstruction_variance(&m->of_other, answer);
			break;
		case 6:
			(void) pe_reconstruction_estimate_nonnegative(&m->of_other, y, answer);
			break;
		default:
			(void) pe_reconstruction_estimate_nonnegative(&m->own, y, answer);
	}
}

static void
test_bugs(void **state)
{
	misuse		m;
	pe_measured measured = {&m.workload, &m.strategy, NULL, NULL};

	(void) state;
	parse("prefix(4)", NULL, &m.workload);
	parse("prefix(4) + total(4)", NULL, &m.other);
	for (m.which = 0; m.which < 8; m.which++)
	{
		assert_true(make_direct(&m.workload, NULL, &m.strategy));
		assert_true(pe_reconstruction_init(&measured, &m.workload, &m.own));
		assert_true(pe_reconstruction_init(&measured, &m.other, &m.of_other));
		assert_true(pe_test_is_bug(do_wrong, &m));
		pe_reconstruction_free(&m.own);
		pe_reconstruction_free(&m.of_other);
		pe_strategy_free(&m.strategy);
	}
	pe_workload_free(&m.workload);
	pe_workload_free(&m.other);
}

static int
seed(void **state)
{
	(void) state;
	pe_test_seed(20240811);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_undetermined),
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_many_queries),
		cmocka_unit_test(test_bugs),
	};

	return cmocka_run_group_tests(tests, seed, NULL);
}
