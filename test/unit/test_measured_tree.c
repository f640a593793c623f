/*
 * test_measured_tree.c
 *	  The tables of a tree: sensitivities by listing neighbours, the law of the choice, what is paid, and exact tables
 *	  where there is next to no noise.
 *
 * Statistical tests use the system's randomness.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accounting/conversion.h"
#include "counts/measured_tree.h"
#include "counts/tree_answers.h"
#include "noise/noise.h"
#include "plan/private.h"
#include "shim.h"

#define NANO INT64_C(1000000000)

/* Next to no noise. */
#define LARGE (INT64_C(1) << 50)

#define MOST_K 3

static pe_tree_problem
problem_of(int attributes, const int *cells, pe_neighbours neighbours, int k, pe_accounting accounting, int64_t nano)
{
	pe_tree_problem p = {
		.attributes = attributes, .share = {1, 1, 1}, .neighbours = neighbours, .max_rows = k,
		.accounting = accounting, .nano = nano
	};

	for (int a = 0; a < attributes; a++)
		p.cells[a] = cells[a];
	return p;
}

/* ----------
 * Neighbours: the rows of a unit in the four cells of two attributes with two cells
 * ----------
 */

typedef struct unit_rows
{
	int			count;
	int			cell[64][4];
} unit_rows;

static void
list_rows(int k, unit_rows *all)
{
	all->count = 0;
	for (int n = 0; n < 256; n++)
	{
		int			rows[4] = {n & 3, n >> 2 & 3, n >> 4 & 3, n >> 6};

		if (rows[0] + rows[1] + rows[2] + rows[3] <= k)
			memcpy(all->cell[all->count++], rows, sizeof(rows));
	}
}

/* Squared, or the L1 norm, of how far the tables of single attributes are apart. */
static int
apart(const int *y, const int *z, bool pure)
{
	const int	d[4] = {y[0] - z[0], y[1] - z[1], y[2] - z[2], y[3] - z[3]};
	const int	m[4] = {d[0] + d[1], d[2] + d[3], d[0] + d[2], d[1] + d[3]};
	int			sum = 0;

	for (int i = 0; i < 4; i++)
		sum += pure ? abs(m[i]) : m[i] * m[i];
	return sum;
}

static void
test_sensitivity_of_tables(void **state)
{
	const int	cells[] = {2, 2};
	unit_rows	all;

	(void) state;
	for (int k = 1; k <= MOST_K; k++)
		for (int pure = 0; pure < 2; pure++)
		{
			int			added = 0;
			int			exchanged = 0;
			pe_tree_problem p = problem_of(2, cells, PE_ADD_REMOVE, k, pure ? PE_PURE : PE_ZCDP, NANO);

			list_rows(k, &all);
			for (int i = 0; i < all.count; i++)
				for (int j = 0; j < all.count; j++)
				{
					int			far = apart(all.cell[i], all.cell[j], pure);

					exchanged = far > exchanged ? far : exchanged;
					if (all.cell[j][0] + all.cell[j][1] + all.cell[j][2] + all.cell[j][3] == 0)
						added = far > added ? far : added;
				}
			assert_int_equal(added, (int) pe_tree_sensitivity(&p, PE_TREE_ONES));
			p.neighbours = PE_SUBSTITUTE;
			assert_int_equal(exchanged, (int) pe_tree_sensitivity(&p, PE_TREE_ONES));
			assert_int_equal((pure ? 2 * k : 2 * k * k), (int) pe_tree_sensitivity(&p, PE_TREE_PAIRS));
		}
}

static int64_t
score_of(const int *rows, const int *more, const int64_t *row_margin, const int64_t *column_margin)
{
	int64_t		exact[4];

	for (int i = 0; i < 4; i++)
		exact[i] = rows[i] + more[i];
	return (int64_t) pe_tree_score(2, 2, exact, row_margin, column_margin);
}

/* The rows of all others: few, many, and tables that are as independent ones would be. */
static const int others[][4] = {{0, 0, 0, 0}, {2, 0, 0, 5}, {4, 4, 4, 4}, {1, 2, 3, 4}, {9, 3, 3, 1}};
static const int64_t margins[][2][2] = {{{0, 0}, {0, 0}}, {{2, 5}, {2, 5}}, {{8, 8}, {8, 8}}, {{3, 8}, {4, 6}}};

static void
test_sensitivity_of_scores(void **state)
{
	const int	cells[] = {2, 2};
	const int	none[4] = {0, 0, 0, 0};
	unit_rows	all;

	(void) state;
	for (int k = 1; k <= MOST_K; k++)
	{
		int64_t		added = 0;
		int64_t		exchanged = 0;
		bool		up = false;
		bool		down = false;
		pe_tree_problem p = problem_of(2, cells, PE_ADD_REMOVE, k, PE_ZCDP, NANO);

		list_rows(k, &all);
		for (size_t o = 0; o < sizeof(others) / sizeof(others[0]); o++)
			for (size_t m = 0; m < sizeof(margins) / sizeof(margins[0]); m++)
				for (int i = 0; i < all.count; i++)
				{
					int64_t		with = score_of(others[o], all.cell[i], margins[m][0], margins[m][1]);
					int64_t		without = score_of(others[o], none, margins[m][0], margins[m][1]);

					added = llabs(with - without) > added ? llabs(with - without) : added;
					up |= with > without;
					down |= with < without;
					for (int j = 0; j < all.count; j++)
					{
						int64_t		other = score_of(others[o], all.cell[j], margins[m][0], margins[m][1]);

						exchanged = llabs(with - other) > exchanged ? llabs(with - other) : exchanged;
					}
				}
		assert_int_equal(added, (int) pe_tree_score_sensitivity(&p));
		p.neighbours = PE_SUBSTITUTE;
		assert_int_equal(exchanged, (int) pe_tree_score_sensitivity(&p));
		assert_true(up && down);	/* so they are not monotone */
	}
}

/* What independent attributes would have is whole, rounded to the nearest. */
static void
test_score(void **state)
{
	const int64_t rows[] = {1, 2};
	const int64_t columns[] = {2, 1};
	const int64_t exact[] = {0, 0, 0, 0};
	const int64_t nothing[] = {0, 0};

	(void) state;
	/* 2/3, 1/3, 4/3, 2/3 */
	assert_int_equal((int) pe_tree_score(2, 2, exact, rows, columns), 1 + 0 + 1 + 1);
	assert_int_equal((int) pe_tree_score(2, 2, exact, nothing, nothing), 0);
}

/* ----------
 * Cost
 * ----------
 */

static void
test_split(void **state)
{
	const int	cells[] = {2, 3, 4, 5};
	int64_t		part[PE_TREE_PARTS];
	int64_t		sum = 0;
	pe_tree_problem p = problem_of(4, cells, PE_ADD_REMOVE, 1, PE_ZCDP, 100);

	(void) state;
	assert_true(pe_tree_split(&p, part));
	assert_int_equal(part[0] + part[1] + part[2], 100);
	assert_int_equal(part[1], 33);
	p.share[PE_TREE_EDGES] = .1;
	assert_true(pe_tree_split(&p, part));
	assert_int_equal(part[1], 4);
	for (int e = 0; e < 3; e++)
		sum += pe_tree_edge_nano(&p, part[1], e);
	assert_int_equal(sum, 4);
	p.share[PE_TREE_EDGES] = .01;
	assert_false(pe_tree_split(&p, part));
	p.given = true;
	assert_true(pe_tree_split(&p, part));
	assert_int_equal(part[1], 0);
	p.attributes = 1;
	assert_true(pe_tree_split(&p, part));
	assert_int_equal(part[0], 100);
	p.nano = 0;
	assert_false(pe_tree_split(&p, part));
}

static void
test_refusal(void **state)
{
	const int	cells[] = {2, 2, 2};
	pe_tree_problem p = problem_of(3, cells, PE_ADD_REMOVE, 1, PE_ZCDP, 100);

	(void) state;
	assert_null(pe_tree_refusal(&p));
	p.share[0] = 0;
	assert_non_null(pe_tree_refusal(&p));
	p.share[0] = NAN;
	assert_non_null(pe_tree_refusal(&p));
	p.share[0] = 1;
	p.given = true;
	p.edge[0][1] = 1;
	p.edge[1][1] = 1;			/* the same edge again */
	assert_non_null(pe_tree_refusal(&p));
	p.edge[1][0] = 2;
	assert_null(pe_tree_refusal(&p));
}

/* ----------
 * Measuring
 * ----------
 */

/* Rows of three attributes, the first two tied, the third loose. */
static const int cells_of_three[] = {2, 2, 3};

static void
count_three(const pe_tables *tables, int64_t *counts, int times)
{
	for (int i = 0; i < 12 * times; i++)
	{
		const int32_t cell[] = {i % 2, i % 2, i / 2 % 3};

		for (int32_t t = 0; t < tables->tables; t++)
			counts[tables->first[t] + pe_tables_place(tables, t, cell)]++;
	}
}

static int64_t *
measure(pe_tree_problem *p, const pe_tables *tables, const int64_t *counts, int64_t *values)
{
	pe_allowance allowance = {.accounting = p->accounting, .left = p->nano};
	int64_t    *value;

	p->allowance = &allowance;
	value = pe_tree_measure(p, tables, counts, values);
	assert_int_equal(allowance.left, 0);
	return value;
}

static void
test_exact(void **state)
{
	(void) state;
	for (int given = 0; given < 2; given++)
		for (int pure = 0; pure < 2; pure++)
		{
			pe_tree_problem p = problem_of(3, cells_of_three, PE_SUBSTITUTE, 2, pure ? PE_PURE : PE_GDP, LARGE);
			int64_t		counts[64] = {0};
			int64_t    *value;
			int64_t		values;
			pe_tables	tables;
			pe_synthetic m;

			p.given = given;
			p.edge[0][0] = 2;
			p.edge[0][1] = 1;
			p.edge[1][1] = 2;
			assert_true(pe_tree_tables(&p, &tables));
			count_three(&tables, counts, 10);
			value = measure(&p, &tables, counts, &values);
			assert_true(pe_tree_model(3, p.cells, value, values, given ? 2 : 0, 0, NULL, &m));
			assert_true(fabs(m.total - 120) < 1e-6);
			for (int i = 0; i < 3; i++)
				assert_true(fabs(m.one[2][i] - 40) < 1e-6);
			if (given)
			{
				assert_int_equal(m.parent[0], 2);
				assert_int_equal(m.parent[1], 2);
				for (int i = 0; i < 6; i++)
					assert_true(fabs(m.table[0][i] - 20) < 1e-6);
			}
			else
			{
				assert_int_equal(m.parent[1], 0);
				assert_true(fabs(m.table[1][0] - 60) < 1e-6);
				assert_true(fabs(m.table[1][1]) < 1e-6);
			}
			pe_synthetic_free(&m);
			/* what is cut off, or has another format or tree, is none */
			assert_false(pe_tree_model(3, p.cells, value, values - 1, 0, 0, NULL, &m));
			assert_false(pe_tree_model(3, p.cells, value, 4, 0, 0, NULL, &m));
			assert_false(pe_tree_model(2, p.cells, value, values, 0, 0, NULL, &m));
			value[5 + 7] = 1;		/* the first edge: both ends alike */
			value[5 + 8] = 1;
			assert_false(pe_tree_model(3, p.cells, value, values, 0, 0, NULL, &m));
			value[0]++;
			assert_false(pe_tree_model(3, p.cells, value, values, 0, 0, NULL, &m));
			pe_free(value);
			pe_tables_free(&tables);
		}
}

/* Groups whose interval does not begin above `least` have no rows of their own, in tables of one attribute and of two. */
static void
test_small_groups(void **state)
{
	const int	cells[] = {2, 2};
	const int64_t counts[] = {1000, 60, 60, 1000};
	pe_tree_problem p = problem_of(2, cells, PE_ADD_REMOVE, 1, PE_ZCDP, NANO * 100);
	int64_t		values;
	int64_t    *value;
	pe_tables	tables;
	pe_synthetic m;

	(void) state;
	assert_true(pe_tree_tables(&p, &tables));
	value = measure(&p, &tables, counts, &values);
	assert_true(pe_tree_model(2, p.cells, value, values, 0, 0, NULL, &m));
	assert_true(fabs(m.table[1][1] - 60) < 5);
	pe_synthetic_free(&m);
	/* the table of both alone, and not one whose interval only ends above */
	for (int least = 60; least <= 500; least += 440)
	{
		double		second = 0;

		value[5 + 4 + 2 + 1] = value[5 + 4 + 2 + 2] = 60;
		assert_true(pe_tree_model(2, p.cells, value, values, 0, least, NULL, &m));
		assert_true(m.table[1][1] < 45);
		assert_true(fabs(m.one[0][0] - 1060) < 5);
		for (int i = 0; i < 2; i++)
			second += m.one[1][i];
		assert_true(fabs(second - 2120) < 5);
		pe_synthetic_free(&m);
	}
	/* a group of one attribute */
	value[5] = 2000;
	assert_true(pe_tree_model(2, p.cells, value, values, 0, 1500, NULL, &m));
	assert_true(m.one[0][1] < 600);
	pe_synthetic_free(&m);
	pe_free(value);
	pe_tables_free(&tables);
}

static void
test_one_attribute(void **state)
{
	const int	cells[] = {1};
	pe_tree_problem p = problem_of(1, cells, PE_ADD_REMOVE, 1, PE_ZCDP, LARGE);
	const int64_t counts[] = {7};
	int64_t		values;
	int64_t    *value;
	pe_tables	tables;
	pe_synthetic m;

	(void) state;
	assert_true(pe_tree_tables(&p, &tables));
	value = measure(&p, &tables, counts, &values);
	assert_true(pe_tree_model(1, p.cells, value, values, 0, 0, NULL, &m));
	assert_true(fabs(m.one[0][0] - 7) < 1e-9);
	assert_int_equal(m.parent[0], -1);
	pe_synthetic_free(&m);
	pe_free(value);
	pe_tables_free(&tables);
}

/* Nobody: rows all the same. */
static void
test_nobody(void **state)
{
	pe_tree_problem p = problem_of(3, cells_of_three, PE_ADD_REMOVE, 1, PE_ZCDP, NANO / 10);
	const int64_t counts[64] = {0};
	pe_tables	tables;

	(void) state;
	assert_true(pe_tree_tables(&p, &tables));
	assert_true(pe_tree_memory(&p, &tables) > 0);
	for (int i = 0; i < 50; i++)
	{
		int64_t		values;
		int64_t    *value = measure(&p, &tables, counts, &values);
		pe_synthetic m;

		assert_true(pe_tree_model(3, p.cells, value, values, i % 3, 0, NULL, &m));
		assert_true(m.total >= 0);
		pe_synthetic_free(&m);
		pe_free(value);
	}
	pe_tables_free(&tables);
}

/* ----------
 * The plan
 * ----------
 */

static void
no_hold(void)
{
}

static pe_plan_status
plan_of(pe_accounting accounting, double cost, int k, pe_tree_problem *p, pe_plan **plan)
{
	const pe_plan_ask ask = {
		.accounting = accounting, .cap = PE_ZCDP, .epsilon = accounting == PE_PURE ? cost : NAN,
		.rho = accounting == PE_PURE ? NAN : cost, .max_stderr = NAN, .delta = 1e-9
	};
	const pe_plan_rules rules = {.neighbours = PE_SUBSTITUTE, .max_rows = k, .cap = PE_ZCDP};
	const char *what;

	*p = problem_of(3, cells_of_three, PE_ADD_REMOVE, 1, PE_ZCDP, 0);
	return pe_plan_of_tree(&ask, &rules, p, plan, &what);
}

static void
test_plan(void **state)
{
	pe_tree_problem p;
	pe_plan    *plan;
	pe_tables	tables;
	int64_t		counts[64] = {0};
	int64_t		part[PE_TREE_PARTS];
	int64_t		as_rho = 0;
	int64_t		values;

	(void) state;
	assert_int_equal(plan_of(PE_ZCDP, .5, 3, &p, &plan), PE_PLAN_MADE);
	assert_int_equal(pe_cost_amount(pe_plan_cost(plan)).rho_nano, NANO / 2);
	assert_int_equal(plan->tree.max_rows, 3);
	assert_int_equal(plan->tree.neighbours, PE_SUBSTITUTE);
	assert_true(pe_tree_tables(&p, &tables));
	assert_true(pe_plan_is_of_tree(plan, &tables));
	pe_free(pe_plan_measure_tree(plan, &tables, counts, &values, no_hold));
	tables.set[0] = 5;
	assert_false(pe_plan_is_of_tree(plan, &tables));
	tables.set[0] = 3;
	tables.first[3]++;
	assert_false(pe_plan_is_of_tree(plan, &tables));
	tables.first[3]--;
	pe_tables_free(&tables);
	pe_free(plan);
	/* a pure one costs a cap that counts rho what its draws do together */
	assert_int_equal(plan_of(PE_PURE, 1, 2, &p, &plan), PE_PLAN_MADE);
	assert_int_equal(pe_cost_amount(pe_plan_cost(plan)).epsilon_nano, NANO);
	assert_true(pe_tree_split(&p, part));
	as_rho = pe_nano_rho_of_laplace(PE_ZCDP, part[0], 12) + pe_nano_rho_of_laplace(PE_ZCDP, part[2], 8) +
		pe_nano_rho_of_pure(PE_ZCDP, part[1] / 2 + part[1] % 2) + pe_nano_rho_of_pure(PE_ZCDP, part[1] / 2);
	assert_int_equal(pe_cost_as_rho(pe_plan_cost(plan)), as_rho);
	pe_free(plan);
	assert_int_equal(plan_of(PE_ZCDP, 3e-9, 1, &p, &plan), PE_PLAN_SHARES);
	pe_free(plan);
	assert_int_equal(plan_of(PE_ZCDP, 0, 1, &p, &plan), PE_PLAN_COST);
	pe_free(plan);
}

#define DRAWS 20000

/*
 * The law of the first choice: exp(score rate / (2 k)), where the tables of single attributes have no noise to speak of
 * and so r is known.  Here the pair that is left out of the tree of three says which choices were made.
 */
static void
test_law(void **state)
{
	const int	cells[] = {2, 2, 2};

	(void) state;
	for (int k = 1; k <= 2; k++)
	{
		pe_tree_problem p = problem_of(3, cells, PE_ADD_REMOVE, k, PE_ZCDP, LARGE);
		/* tables of 01, 02, 12: scores 24, 16, 8 */
		const int64_t counts[] = {16, 4, 4, 16, 14, 6, 6, 14, 12, 8, 8, 12};
		const double score[] = {24, 16, 8};
		double		expected[3] = {0};
		double		weight[3];
		double		found[3] = {0};
		int64_t		part[PE_TREE_PARTS];
		uint64_t	numerator;
		uint64_t	factor;
		pe_tables	tables;

		p.share[PE_TREE_EDGES] = 2 * 2 * 4e6 / (double) LARGE;
		p.share[PE_TREE_ONES] = p.share[PE_TREE_PAIRS] = 1;
		assert_true(pe_tree_split(&p, part));
		pe_select_rate(PE_ZCDP, pe_tree_edge_nano(&p, part[PE_TREE_EDGES], 0), &numerator, &factor);
		for (int i = 0; i < 3; i++)
			weight[i] = exp(score[i] * (double) numerator / (double) factor / (2 * k));
		for (int i = 0; i < 3; i++)
			for (int j = 0; j < 3; j++)
				if (i != j)
					expected[3 - i - j] += weight[i] / (weight[0] + weight[1] + weight[2]) *
						weight[j] / (weight[0] + weight[1] + weight[2] - weight[i]);
		assert_true(pe_tree_tables(&p, &tables));
		for (int draw = 0; draw < DRAWS; draw++)
		{
			int64_t		values;
			int64_t    *value = measure(&p, &tables, counts, &values);
			int64_t		first = value[5 + 6] + value[5 + 7] - 1;	/* 01: 0, 02: 1, 12: 2 */
			int64_t		second = value[5 + 6 + 6] + value[5 + 6 + 7] - 1;

			found[3 - first - second] += 1. / DRAWS;
			pe_free(value);
		}
		for (int i = 0; i < 3; i++)
			assert_true(fabs(found[i] - expected[i]) < 5 * sqrt(expected[i] * (1 - expected[i]) / DRAWS));
		assert_true(expected[0] > .01 && expected[2] < .9);
		pe_tables_free(&tables);
	}
}

/* ----------
 * Answers
 * ----------
 */

/* A tree a - b - c without noise, from a count of each cell of 2 x 3 x 4; the last two cells of c are one class. */
typedef struct answered
{
	pe_tree_released released;
	int64_t		joint[24];
	int64_t		one[3][4];
	int64_t		pair[2][12];
} answered;

static void
make_answered(answered *t)
{
	static const int cells[] = {2, 3, 4};

	*t = (answered) {.released = {.attributes = 3, .edge = {{0, 1}, {1, 2}}}};
	for (int a = 0; a < 3; a++)
	{
		pe_classing *c = &t->released.classing[a];

		*c = (pe_classing) {.cells = cells[a], .classes = a == 2 ? 3 : cells[a], .class_of = pe_alloc(4, sizeof(int32_t))};
		for (int i = 0; i < cells[a]; i++)
			c->class_of[i] = i < c->classes ? i : c->classes - 1;
		t->released.one[a] = t->one[a];
	}
	for (int i = 0; i < 24; i++)
	{
		int			cell[] = {i / 12, i / 4 % 3, i % 4};
		int64_t		count = t->joint[i] = i * i % 37;

		for (int a = 0; a < 3; a++)
			t->one[a][cell[a]] += count;
		t->pair[0][cell[0] * 3 + cell[1]] += count;
		t->pair[1][cell[1] * 3 + (cell[2] < 3 ? cell[2] : 2)] += count;
	}
	for (int e = 0; e < 2; e++)
		t->released.pair[e] = t->pair[e];
}

/* The answer from all cells; sets whether it treats the last two cells of c alike. */
static double
answer_from_cells(const answered *t, const pe_term *term, const int32_t *query, bool *alike)
{
	double		sum = 0;
	double		weight[24];

	*alike = true;
	for (int i = 0; i < 24; i++)
	{
		int			cell[] = {i / 12, i / 4 % 3, i % 4};

		weight[i] = 1;
		for (int f = 0; f < term->factors; f++)
			weight[i] *= pe_factor_entry(&term->factor[f], query[f], cell[term->factor[f].attribute]);
		sum += weight[i] * (double) t->joint[i];
		*alike &= i % 4 != 3 || weight[i] == weight[i - 1];
	}
	return sum;
}

static void
test_answers(void **state)
{
	static const char *const text[] = {
		"total + identity(a) + prefix(b) + all_range(c)", "identity(a) * prefix(b)", "all_range(b) * all_range(c)",
		"2 * matrix(b; {{1, -2, 0}, {0, 0, 5}}) + identity(c) * identity(b)", "identity(b) * (total(c) + prefix(c))"
	};
	pe_shape	shape = {.attributes = 3, .name = {"a", "b", "c"}, .cells = {2, 3, 4}, .ordered = {2, 3, 4}};
	answered	t;

	(void) state;
	make_answered(&t);
	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++)
	{
		pe_workload workload;
		pe_text_error error;
		pe_tree_answer *answer;
		int			undetermined = 0;

		assert_true(pe_workload_parse(text[i], &shape, &workload, &error));
		answer = pe_alloc((size_t) workload.queries, sizeof(*answer));
		assert_int_equal(pe_tree_answers(&t.released, &workload, answer), -1);
		for (int32_t n = 0; n < workload.terms; n++)
			for (int64_t local = 0; local < workload.term[n].queries; local++)
			{
				int32_t		query[PE_MAX_ATTRIBUTES];
				const pe_tree_answer *found = &answer[pe_term_query(&workload.term[n], local, query)];
				bool		alike;
				double		expected = answer_from_cells(&t, &workload.term[n], query, &alike);

				if (found->part == PE_TREE_PAIRS && !alike)
				{
					assert_true(isnan(found->estimate) && isnan(found->squares) && isnan(found->weights));
					undetermined++;
				}
				else
					assert_true(found->estimate == expected);
			}
		assert_int_equal(undetermined > 0, i >= 2);
		pe_free(answer);
		pe_workload_free(&workload);
	}
	pe_tree_close(&t.released);
}

/* Which counts an answer is of, and what it makes of their noise. */
static void
test_answer_noise(void **state)
{
	pe_shape	shape = {.attributes = 3, .name = {"a", "b", "c"}, .cells = {2, 3, 4}, .ordered = {2, 3, 4}};
	pe_workload workload;
	pe_text_error error;
	pe_tree_answer answer[4];
	answered	t;

	(void) state;
	make_answered(&t);
	/* the total is of the two cells of a, and two cells of c are one count of a pair */
	assert_true(pe_workload_parse("total + matrix(b; {{3, -1, 0}}) + identity(a) * matrix(b; {{0, 0, -2}})", &shape,
								  &workload, &error));
	assert_int_equal(pe_tree_answers(&t.released, &workload, answer), -1);
	assert_true(answer[0].part == PE_TREE_ONES && answer[0].squares == 2 && answer[0].weights == 2);
	assert_true(answer[1].part == PE_TREE_ONES && answer[1].squares == 10 && answer[1].weights == 4);
	assert_true(answer[2].part == PE_TREE_PAIRS && answer[2].squares == 4 && answer[2].weights == 2);
	pe_workload_free(&workload);
	assert_true(pe_workload_parse("matrix(c; {{0, 0, 1, 1}}) * matrix(b; {{1, 0, 0}})", &shape, &workload, &error));
	assert_int_equal(pe_tree_answers(&t.released, &workload, answer), -1);
	assert_true(answer[0].part == PE_TREE_PAIRS && answer[0].squares == 1);
	pe_workload_free(&workload);
	/* no edge; three attributes; all cells */
	for (int i = 0; i < 3; i++)
	{
		static const char *const none[] = {"total + identity(a) * identity(c)", "identity(a) + prefix(c) + identity", "identity(a) * identity(b) * prefix(c)"};
		static const int term[] = {1, 2, 0};

		assert_true(pe_workload_parse(none[i], &shape, &workload, &error));
		pe_tree_answer *room = pe_alloc((size_t) workload.queries, sizeof(*room));
		assert_int_equal(pe_tree_answers(&t.released, &workload, room), term[i]);
		pe_free(room);
		pe_workload_free(&workload);
	}
	pe_tree_close(&t.released);
}

/* What was measured, opened: the counts of the data where there is next to no noise. */
static void
test_open(void **state)
{
	const int	cells[] = {2, 2};
	const int64_t counts[] = {1000, 60, 70, 800};
	pe_tree_problem p = problem_of(2, cells, PE_ADD_REMOVE, 1, PE_ZCDP, LARGE);
	int64_t		values;
	int64_t    *value;
	pe_tables	tables;
	pe_tree_released released;

	(void) state;
	assert_true(pe_tree_tables(&p, &tables));
	value = measure(&p, &tables, counts, &values);
	assert_false(pe_tree_open(2, p.cells, value, values - 1, &released));
	assert_true(pe_tree_open(2, p.cells, value, values, &released));
	assert_int_equal(released.one[0][0], 1060);
	assert_int_equal(released.one[1][1], 860);
	assert_true(released.edge[0][0] == 0 && released.edge[0][1] == 1);
	assert_memory_equal(released.pair[0], counts, sizeof(counts));
	pe_tree_close(&released);
	pe_free(value);
	pe_tables_free(&tables);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sensitivity_of_tables), cmocka_unit_test(test_sensitivity_of_scores),
		cmocka_unit_test(test_score), cmocka_unit_test(test_split), cmocka_unit_test(test_refusal),
		cmocka_unit_test(test_exact), cmocka_unit_test(test_small_groups), cmocka_unit_test(test_one_attribute),
		cmocka_unit_test(test_nobody), cmocka_unit_test(test_plan),
		cmocka_unit_test(test_law), cmocka_unit_test(test_answers), cmocka_unit_test(test_answer_noise),
		cmocka_unit_test(test_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
