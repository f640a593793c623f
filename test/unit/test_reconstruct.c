/*
 * test_reconstruct.c
 *	  What measurements determine, with weights from one to ten millions, against
 *	  elimination modulo a prime; what they cost in memory; single cases.
 *
 * The answers themselves are checked against least squares in test_strategy.c.
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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "optimum/optimum.h"
#include "blocks/blocks.h"
#include "blocks/reconstruct.h"
#include "numbers.h"
#include "shim.h"

#define GAP 1e-6

/* ---- helpers ---- */

#define cases(count) fewer(count, 50)

static void
parse(const char *source, const pe_shape *shape, pe_workload *workload)
{
	pe_text_error error;

	if (!pe_workload_parse(source, shape, workload, &error))
		fail_msg("%s: %s", source, error.message);
}

static pe_strategy_status
optimal(const pe_workload *workload, const bool *possible, pe_strategy *strategy)
{
	pe_classes	classes;
	pe_strategy_status status;

	pe_classes_init(&workload, 1, &classes);
	status = pe_strategy_optimal(workload, &classes, possible, GAP, strategy);
	pe_classes_free(&classes);
	return status;
}

/* ---- random workloads with weights of very different sizes ---- */

typedef struct text
{
	char		data[4096];
	int			size;
} text;

static void __attribute__((format(printf, 2, 3)))
add(text *to, const char *format,...)
{
	va_list		arguments;

	va_start(arguments, format);
	to->size += vsnprintf(to->data + to->size, sizeof(to->data) - (size_t) to->size, format, arguments);
	va_end(arguments);
}

/* Rows of one scale each; columns of zeros, ones and of the row's scale. */
static void
random_matrix(text *to, int columns, int rows)
{
	static const int scale[] = {1, 3, 1000, 100000, 10000000};

	add(to, "{");
	for (int i = 0; i < rows; i++)
	{
		int			largest = scale[between(0, lengthof(scale) - 1)];

		add(to, "%s", i > 0 ? ",{" : "{");
		for (int j = 0; j < columns; j++)
		{
			int			kind = between(0, 3);

			add(to, "%s%d", j > 0 ? "," : "", kind == 0 ? 0 : kind == 1 ? between(-1, 1) : between(-largest, largest));
		}
		add(to, "}");
	}
	add(to, "}");
}

static void
random_factor(text *to, const char *name, int cells, int most_rows)
{
	switch (between(0, 5))
	{
		case 0:
			add(to, "prefix(%s)", name);
			return;
		case 1:
			add(to, "identity(%s)", name);
			return;
		case 2:
			add(to, "width_range(%s, %d)", name, between(1, cells));
			return;
		case 3:
			add(to, "total(%s)", name);
			return;
		default:
			add(to, "matrix(%s; ", name);
			random_matrix(to, cells, between(1, most_rows));
			add(to, ")");
	}
}

/* Two attributes, some terms over both; large weights on one of them only, for the parser has a limit. */
static void
random_workload(text *to, const pe_shape *shape, int most_rows)
{
	int			terms = between(1, 3);

	to->size = 0;
	for (int t = 0; t < terms; t++)
	{
		add(to, "%s", t > 0 ? " + " : "");
		random_factor(to, "a", shape->cells[0], most_rows);
		if (between(0, 1))
			add(to, between(0, 1) ? " * identity(b)" : " * total(b)");
	}
}

/* ---- exact row spaces ---- */

#define PRIME ((UINT64_C(1) << 61) - 1)
#define MOST_CELLS 40

static uint64_t
times(uint64_t a, uint64_t b)
{
	return (uint64_t) ((unsigned __int128) a * b % PRIME);
}

static uint64_t
inverse(uint64_t a)
{
	uint64_t	result = 1;

	for (uint64_t exponent = PRIME - 2; exponent > 0; exponent >>= 1, a = times(a, a))
		if (exponent & 1)
			result = times(result, a);
	return result;
}

/* Rows in echelon form, each with a 1 where it begins. */
typedef struct space
{
	int			cells;
	int			rows;
	uint64_t	row[MOST_CELLS][MOST_CELLS];
	int			lead[MOST_CELLS];
} space;

/* Adds a row; false if it is in the space already. */
static bool
extend(space *s, const int64_t *row, bool keep)
{
	uint64_t   *v = s->row[s->rows];
	uint64_t	spare[MOST_CELLS];
	int			lead = 0;

	if (s->rows == s->cells)
		v = spare;
	for (int c = 0; c < s->cells; c++)
		v[c] = row[c] < 0 ? PRIME - (uint64_t) -row[c] : (uint64_t) row[c];
	for (int i = 0; i < s->rows; i++)
	{
		uint64_t	factor = v[s->lead[i]];

		for (int c = 0; c < s->cells && factor != 0; c++)
			v[c] = (v[c] + PRIME - times(factor, s->row[i][c])) % PRIME;
	}
	while (lead < s->cells && v[lead] == 0)
		lead++;
	if (lead == s->cells)
		return false;
	if (keep)
	{
		uint64_t	unit = inverse(v[lead]);

		for (int c = 0; c < s->cells; c++)
			v[c] = times(v[c], unit);
		s->lead[s->rows++] = lead;
	}
	return true;
}

/* The weight of a cell in a query, 0 where nothing can be. */
static int64_t
weight(const pe_workload *workload, const pe_term *term, const int32_t *query, int32_t cell, const bool *possible)
{
	int64_t		product = possible == NULL || possible[cell];

	for (int f = 0; f < term->factors; f++)
	{
		const pe_factor *factor = &term->factor[f];
		int32_t		stride = 1;

		for (int a = factor->attribute + 1; a < workload->shape.attributes; a++)
			stride *= workload->shape.cells[a];
		product *= pe_factor_entry(factor, query[f], cell / stride % workload->shape.cells[factor->attribute]);
	}
	return product;
}

/* The row space of what is measured, over the cells: M has full column rank, so it is B's. */
static void
space_of_strategy(const pe_measured *measured, space *s)
{
	const pe_strategy *strategy = measured->strategy;
	int32_t		column_of[MOST_CELLS];

	s->cells = pe_shape_cells(&measured->workload->shape);
	s->rows = 0;
	pe_strategy_columns(strategy, measured->workload, measured->possible, column_of);
	for (int32_t i = 0; i < strategy->inner; i++)
	{
		int64_t		row[MOST_CELLS];

		for (int cell = 0; cell < s->cells; cell++)
			row[cell] = column_of[cell] < 0 ? 0 :
				strategy->basis != NULL ? strategy->basis[(size_t) i * strategy->columns + column_of[cell]] :
				column_of[cell] == i;
		assert_true(extend(s, row, true));
	}
}

/* The first query outside a row space, or -1; counts what is in it. */
static int32_t
first_outside(space *s, const pe_workload *workload, const bool *possible)
{
	int32_t		first = -1;
	int32_t		query[PE_MAX_ATTRIBUTES];

	for (int32_t t = 0; t < workload->terms; t++)
		for (int64_t i = 0; i < workload->term[t].queries; i++)
		{
			int64_t		row[MOST_CELLS];
			int32_t		number = (int32_t) pe_term_query(&workload->term[t], i, query);

			for (int32_t cell = 0; cell < s->cells; cell++)
				row[cell] = weight(workload, &workload->term[t], query, cell, possible);
			if (extend(s, row, false) && (first < 0 || number < first))
				first = number;
		}
	return first;
}

/* Answers from measurements without noise: what the counts make of the queries. */
static void
check_answers(const pe_reconstruction *r, const char *source)
{
	const pe_strategy *strategy = r->measured->strategy;
	const pe_workload *workload = r->workload;
	int32_t		cells = pe_shape_cells(&workload->shape);
	int32_t		column_of[MOST_CELLS];
	int64_t		count[MOST_CELLS];
	int64_t		x[MOST_CELLS] = {0};
	pe_i128		exact[MOST_CELLS];
	int64_t		y[MOST_CELLS];
	double	   *estimate = pe_alloc(workload->queries, sizeof(double));
	int32_t		query[PE_MAX_ATTRIBUTES];

	pe_strategy_columns(strategy, r->measured->workload, r->measured->possible, column_of);
	for (int32_t cell = 0; cell < cells; cell++)
	{
		count[cell] = between(0, 1000);
		if (column_of[cell] >= 0)
			x[column_of[cell]] += count[cell];
	}
	pe_strategy_apply(strategy, x, exact);
	for (int32_t i = 0; i < strategy->rows; i++)
		y[i] = (int64_t) exact[i];
	pe_reconstruction_estimate(r, y, estimate);
	for (int32_t t = 0; t < workload->terms; t++)
		for (int64_t i = 0; i < workload->term[t].queries; i++)
		{
			int32_t		number = (int32_t) pe_term_query(&workload->term[t], i, query);
			double		sum = 0;
			double		size = 0;

			for (int32_t cell = 0; cell < cells; cell++)
			{
				double		w = (double) weight(workload, &workload->term[t], query, cell, r->measured->possible);

				sum += w * (double) count[cell];
				size += fabs(w) * (double) count[cell];
			}
			if (fabs(estimate[number] - sum) > 1e-6 * size + 1e-6)
				fail_msg("query %d of %s from %s: %.17g, not %.17g", number, workload->canonical, source, estimate[number], sum);
		}
	pe_free(estimate);
}

/* ---- dense strategies ---- */

#define MOST_INNER 4
#define MOST_ROWS 11

/* b in place of G^-1 b by elimination without fractions, exact; G is k x k and destroyed, of full rank. */
static void
solve_exactly(int k, pe_i128 g[MOST_INNER][MOST_INNER], pe_i128 *b, double *solution)
{
	pe_i128		before = 1;

	for (int c = 0; c < k; c++)
	{
		assert_true(g[c][c] != 0);	/* a Gram matrix needs no pivots */
		for (int i = 0; i < k; i++)
		{
			pe_i128		factor = g[i][c];

			for (int j = 0; i != c && j < k; j++)
				g[i][j] = (g[c][c] * g[i][j] - factor * g[c][j]) / before;
			if (i != c)
				b[i] = (g[c][c] * b[i] - factor * b[c]) / before;
		}
		before = g[c][c];
	}
	for (int c = 0; c < k; c++)
		solution[c] = (double) b[c] / (double) g[c][c];
}

/* A random strategy over the cells, and queries v'B that it determines. */
typedef struct dense_trial
{
	pe_strategy strategy;
	int32_t		column_of[MOST_INNER + 2];
	int32_t		m[MOST_ROWS * MOST_INNER];
	int32_t		basis[MOST_INNER * (MOST_INNER + 2)];
	int64_t		y[MOST_ROWS];
	int			queries;
	int64_t		v[5][MOST_INNER];
} dense_trial;

static bool
has_rank(int rows, int columns, const int32_t *entry, size_t row_step, size_t column_step)
{
	space		s = {.cells = columns};

	for (int i = 0; i < rows; i++)
	{
		int64_t		row[MOST_CELLS];

		for (int j = 0; j < columns; j++)
			row[j] = entry[(size_t) i * row_step + (size_t) j * column_step];
		if (!extend(&s, row, true))
			return false;
	}
	return true;
}

static void
random_dense(dense_trial *t)
{
	pe_strategy *s = &t->strategy;
	int			largest = between(1, 100);

	memset(t, 0, sizeof(*t));
	s->inner = between(1, MOST_INNER);
	s->columns = s->classes = s->inner + (between(0, 1) ? between(1, 2) : 0);
	s->rows = between(0, 1) ? between(s->inner, MOST_ROWS) : between(s->inner, s->inner + 1);
	s->column_of = t->column_of;
	s->dense = t->m;
	s->basis = s->inner < s->columns ? t->basis : NULL;
	for (int c = 0; c < s->columns; c++)
		t->column_of[c] = (c + 1) % s->columns;
	do
		for (int i = 0; i < s->rows * s->inner; i++)
			t->m[i] = between(0, 2) ? between(-largest, largest) : 0;
	while (!has_rank(s->inner, s->rows, t->m, s->rows, 1));
	do
		for (int i = 0; i < s->inner * s->columns; i++)
			t->basis[i] = between(-2, 2);
	while (s->basis != NULL && !has_rank(s->inner, s->columns, t->basis, s->columns, 1));
	for (int i = 0; i < s->rows; i++)
		t->y[i] = between(-100000, 100000);
	t->queries = between(1, 5);
	for (int q = 0; q < t->queries; q++)
		for (int l = 0; l < s->inner; l++)
			t->v[q][l] = between(-3, 3);
}

/* The weight of a cell in query v'B. */
static int64_t
weight_of_cell(const dense_trial *t, int q, int cell)
{
	const pe_strategy *s = &t->strategy;
	int64_t		sum = 0;

	for (int l = 0; l < s->inner; l++)
		sum += t->v[q][l] * (s->basis != NULL ? s->basis[l * s->columns + s->column_of[cell]] : l == s->column_of[cell]);
	return sum;
}

/* v'(M'M)^-1 M'y and v'(M'M)^-1 v */
static void
exact_answer(const dense_trial *t, int q, double *estimate, double *variance)
{
	const pe_strategy *s = &t->strategy;

	for (int which = 0; which < 2; which++)
	{
		pe_i128		g[MOST_INNER][MOST_INNER] = {{0}};
		pe_i128		b[MOST_INNER] = {0};
		double		z[MOST_INNER];
		double	   *result = which == 0 ? estimate : variance;

		for (int k = 0; k < s->inner; k++)
			for (int i = 0; i < s->rows; i++)
			{
				b[k] += (pe_i128) s->dense[k * s->rows + i] * t->y[i];
				for (int l = 0; l < s->inner; l++)
					g[k][l] += (pe_i128) s->dense[k * s->rows + i] * s->dense[l * s->rows + i];
			}
		for (int k = 0; which == 1 && k < s->inner; k++)
			b[k] = t->v[q][k];
		solve_exactly(s->inner, g, b, z);
		*result = 0;
		for (int k = 0; k < s->inner; k++)
			*result += z[k] * (double) t->v[q][k];
	}
}

static void
check_dense(const dense_trial *t)
{
	pe_workload workload;
	pe_workload asked;
	pe_measured measured = {&workload, &t->strategy, NULL, NULL};
	pe_reconstruction r;
	text		source = {.size = 0};
	double		estimate[5];
	double		variance[5];
	static space s;

	add(&source, "identity(%d)", t->strategy.classes);
	parse(source.data, NULL, &workload);
	source.size = 0;
	add(&source, "matrix({");
	for (int q = 0; q < t->queries; q++)
		for (int c = 0; c < t->strategy.columns; c++)
			add(&source, "%s%d%s", c > 0 ? "," : q > 0 ? ",{" : "{", (int) weight_of_cell(t, q, c),
				c == t->strategy.columns - 1 ? "}" : "");
	add(&source, "})");
	parse(source.data, NULL, &asked);
	assert_true(pe_reconstruction_init(&measured, &asked, &r));
	assert_int_equal(pe_reconstruction_undetermined(&r), -1);
	pe_reconstruction_estimate(&r, t->y, estimate);
	pe_reconstruction_variance(&r, variance);
	for (int q = 0; q < t->queries; q++)
	{
		double		exact;
		double		exact_variance;

		exact_answer(t, q, &exact, &exact_variance);
		if (fabs(estimate[q] - exact) > 1e-9 * (1e5 + fabs(exact)) || fabs(variance[q] - exact_variance) > 1e-9 * (1 + exact_variance))
			fail_msg("query %d of %s: %.17g, not %.17g; variance %.17g, not %.17g", q, source.data,
					 estimate[q], exact, variance[q], exact_variance);
	}
	pe_reconstruction_free(&r);
	/* the cells themselves are determined if there is no basis */
	space_of_strategy(&measured, &s);
	assert_true(pe_reconstruction_init(&measured, &workload, &r));
	assert_int_equal(pe_reconstruction_undetermined(&r), first_outside(&s, &workload, NULL));
	pe_reconstruction_free(&r);
	pe_workload_free(&asked);
	pe_workload_free(&workload);
}

/* Against exact least squares. */
static void
test_dense(void **state)
{
	(void) state;
	for (int round = 0; round < cases(4000); round++)
	{
		dense_trial t;

		random_dense(&t);
		check_dense(&t);
	}
}

/* Columns that are almost one: the triangle alone loses twice the digits that there are to lose. */
static void
test_dense_nearly_dependent(void **state)
{
	int32_t		m[6] = {2000000, 1, 0, 2000000, 0, 1};
	pe_strategy strategy = {.classes = 2, .columns = 2, .rows = 3, .inner = 2, .dense = m};
	const int64_t x[2] = {123456, 789};
	pe_i128		exact[3];
	int64_t		y[3];
	double		got[2];

	(void) state;
	pe_strategy_apply(&strategy, x, exact);
	for (int i = 0; i < 3; i++)
		y[i] = (int64_t) exact[i];
	pe_strategy_solve(&strategy, y, got);
	assert_true(fabs(got[0] - 123456) < 1e-4 && fabs(got[1] - 789) < 1e-4);
}

static void
make_triangle(void *argument)
{
	double		r[9];

	pe_strategy_triangle(argument, r);
}

/* Columns that are not independent are told, never divided by. */
static void
test_dense_dependent(void **state)
{
	static int32_t m[][12] = {
		{1, 2, 3, 4, 2, 4, 6, 8}, {0, 0, 0, 0, 1, 1, 1, 1}, {1, 0, 0, 0, 0, 0, 0, 0},
		{1, 5, 0, 7, 0, 3, 1, 1, 1, 8, 1, 8}, {1073741824, 1, 1, 0, 1073741824, 1, 1, 0},
	};
	static int32_t sound[] = {1073741824, 1, 1, 0, 1073741824, 1, 1, 1};
	pe_strategy strategy = {.rows = 4};

	(void) state;
	for (int i = 0; i < lengthof(m); i++)
	{
		strategy.columns = strategy.inner = i == 3 ? 3 : 2;
		strategy.dense = m[i];
		assert_true(pe_test_is_bug(make_triangle, &strategy));
	}
	strategy.columns = strategy.inner = 2;
	strategy.dense = sound;
	assert_false(pe_test_is_bug(make_triangle, &strategy));
}

/* ---- what is determined ---- */

/* By the two workloads, in both ways of asking; returns whether the other one was determined. */
static bool
check_determined(const pe_measured *measured, const pe_workload *asked, const char *source)
{
	static space s;
	pe_reconstruction r;
	int32_t		expected;
	int32_t		got;

	space_of_strategy(measured, &s);
	expected = first_outside(&s, asked, measured->possible);
	assert_true(pe_reconstruction_init(measured, asked, &r));
	got = pe_reconstruction_undetermined(&r);
	if (got != expected)
		fail_msg("%s from %s: query %d is not determined, not %d", asked->canonical, source, expected, got);
	if (expected < 0)
		check_answers(&r, source);
	pe_reconstruction_free(&r);
	return expected < 0;
}

static void
test_determined(void **state)
{
	int			determined = 0;
	int			pairs = 0;

	(void) state;
	for (int round = 0; round < cases(4000); round++)
	{
		pe_shape	shape = {.attributes = 2, .name = {"a", "b"}};
		text		source;
		text		other;
		pe_workload workload;
		pe_workload asked;
		pe_strategy strategy;
		bool		possible[MOST_CELLS];
		pe_measured measured = {&workload, &strategy, round % 3 == 0 ? possible : NULL, NULL};

		shape.cells[0] = shape.ordered[0] = between(1, 9);
		shape.cells[1] = shape.ordered[1] = between(1, 3);
		for (int i = 0; i < MOST_CELLS; i++)
			possible[i] = between(0, 3) > 0;
		random_workload(&source, &shape, 5);
		random_workload(&other, &shape, 2);
		parse(source.data, &shape, &workload);
		parse(other.data, &shape, &asked);
		if (optimal(&workload, measured.possible, &strategy) == PE_STRATEGY_OK)
		{
			assert_true(check_determined(&measured, &workload, source.data));
			pairs++;
			determined += check_determined(&measured, &asked, source.data);
		}
		pe_strategy_free(&strategy);
		pe_workload_free(&workload);
		pe_workload_free(&asked);
	}
	print_message("%d of %d other workloads were determined\n", determined, pairs);
	assert_true(cases(50) < 50 || (determined > pairs / 20 && determined < pairs - pairs / 20));
}

/* One unit of weight that is not measured, beside as large a weight as there is. */
static void
test_small_weight_missed(void **state)
{
	static const struct
	{
		const char *measured;
		const char *asked;
		int32_t		undetermined;
	}			sample[] = {
		{"matrix({{1,0}})", "matrix({{1,0},{10000000,1}})", 1},
		{"matrix({{10000000,0}})", "matrix({{10000000,0},{9999999,0},{9999999,1}})", 2},
		{"matrix({{1,1,0}})", "matrix({{10000000,10000000,0},{10000000,9999999,0}})", 1},
		{"matrix({{1,1,0},{0,1,1}})", "matrix({{10000000,0,-10000000},{10000000,1,-10000000}})", 1},
		{"matrix({{3000,1000,1},{1,0,0}})", "matrix({{3001,1000,1},{0,1000,1},{0,1000,2}})", 2},
		{"total(3)", "matrix({{10000000,10000000,10000000},{10000000,10000000,10000001}})", -2},
	};

	(void) state;
	for (int i = 0; i < lengthof(sample); i++)
	{
		pe_workload workload;
		pe_workload asked;
		pe_text_error error;
		pe_strategy strategy;
		pe_measured measured = {&workload, &strategy, NULL, NULL};

		parse(sample[i].measured, NULL, &workload);
		if (!pe_workload_parse(sample[i].asked, NULL, &asked, &error))
		{
			/* beyond what the language has: nobody can ask it */
			assert_int_equal(sample[i].undetermined, -2);
			pe_workload_free(&workload);
			continue;
		}
		assert_int_equal(optimal(&workload, NULL, &strategy), PE_STRATEGY_OK);
		for (int repeat = 0; repeat < cases(100); repeat++)
		{
			pe_reconstruction r;

			assert_true(pe_reconstruction_init(&measured, &asked, &r));
			assert_int_equal(pe_reconstruction_undetermined(&r), sample[i].undetermined);
			pe_reconstruction_free(&r);
		}
		pe_strategy_free(&strategy);
		pe_workload_free(&workload);
		pe_workload_free(&asked);
	}
}

/* A cell that is ruled out has any weight, and does not make a query look larger than it is. */
static void
test_ruled_out(void **state)
{
	const bool	possible[6] = {true, false, true, false, false, true};
	const char *source = "matrix({{10000000,0,0,0,0,0},{1,10000000,0,-3,0,0}})";
	pe_workload workload;
	pe_workload asked;
	pe_strategy strategy;
	pe_measured measured = {&workload, &strategy, possible, NULL};
	pe_reconstruction r;
	int64_t		y[6] = {12345, -777, 31};
	double		estimate[100];
	double		variance[100];

	(void) state;
	parse(source, NULL, &workload);
	assert_int_equal(optimal(&workload, possible, &strategy), PE_STRATEGY_OK);
	assert_int_equal(strategy.columns, 1);
	parse("matrix({{5,9999999,0,7,0,0},{0,9999999,1,0,0,0}})", NULL, &asked);
	assert_true(pe_reconstruction_init(&measured, &asked, &r));
	assert_int_equal(pe_reconstruction_undetermined(&r), 1);
	pe_reconstruction_free(&r);
	pe_workload_free(&asked);
	pe_strategy_free(&strategy);
	pe_workload_free(&workload);

	/* of queries over such cells alone, 0 is known, in every way of computing them */
	parse("all_range(6)", NULL, &workload);
	assert_int_equal(optimal(&workload, possible, &strategy), PE_STRATEGY_OK);
	assert_int_equal(strategy.columns, 3);
	parse("all_range(6) + matrix({{0,1,0,-2,5,0}}) + identity(6)", NULL, &asked);
	assert_true(pe_reconstruction_init(&measured, &asked, &r));
	assert_int_equal(pe_reconstruction_undetermined(&r), -1);
	pe_reconstruction_estimate(&r, y, estimate);
	pe_reconstruction_variance(&r, variance);
	for (int q = 0; q < asked.queries; q++)
	{
		bool		empty = q == 6 || q == 15 || q == 16 || q == 18 || q == 21 || q == 23 || q == 25 || q == 26;

		assert_true(empty ? estimate[q] == 0 && variance[q] == 0 : variance[q] > 0);
	}
	pe_reconstruction_free(&r);
	pe_workload_free(&asked);
	pe_strategy_free(&strategy);
	pe_workload_free(&workload);
}

static void
test_large(void **state)
{
	const pe_shape shape = {2, {"a", "b"}, {500, 400}, {500, 400}};
	bool	   *possible = pe_alloc(200000, sizeof(bool));
	pe_workload workload;
	pe_workload asked;
	pe_strategy strategy;
	pe_measured measured = {&workload, &strategy, possible, NULL};
	pe_reconstruction r;

	(void) state;
	for (int cell = 0; cell < 200000; cell++)
		possible[cell] = cell % 7 != 0;
	parse("identity(a) * identity(b)", &shape, &workload);
	assert_int_equal(optimal(&workload, possible, &strategy), PE_STRATEGY_OK);
	assert_true(strategy.columns == 200000 - 28572 && strategy.triangle == NULL);
	parse("prefix(a) * prefix(b)", &shape, &asked);
	assert_true(pe_reconstruction_init(&measured, &asked, &r));
	assert_true(r.diagonal);
	assert_int_equal(pe_reconstruction_undetermined(&r), -1);
	pe_reconstruction_free(&r);
	pe_workload_free(&asked);
	pe_strategy_free(&strategy);
	pe_workload_free(&workload);
	pe_free(possible);
}

/* ---- strategies of large integers ---- */

/*
 * The expected error is what the variances say.  Rows of ones beside rows of
 * millions leave T few digits on any lattice that serves both: then the gap says so.
 */
static void
test_scales(void **state)
{
	double		worst = 0;
	int			short_of = 0;
	int			strategies = 0;

	(void) state;
	for (int round = 0; round < cases(1500); round++)
	{
		text		source = {.size = 0};
		pe_workload workload;
		pe_strategy strategy;
		pe_measured measured = {&workload, &strategy, NULL, NULL};
		pe_reconstruction r;
		double	   *variance;
		double		sum = 0;
		pe_u128		sensitivity_sq;
		int			columns = between(2, 12);

		add(&source, "matrix(");
		random_matrix(&source, columns, between(1, columns));
		add(&source, ")");
		parse(source.data, NULL, &workload);
		if (optimal(&workload, NULL, &strategy) == PE_STRATEGY_OK)
		{
			strategies++;
			if (pe_strategy_gap(&strategy) > worst)
				worst = pe_strategy_gap(&strategy);
			short_of += pe_strategy_gap(&strategy) > GAP;
			/* the worst of them depends on the rounding of a processor's BLAS: 2.02e-4 has been seen */
			if (!(pe_strategy_gap(&strategy) < 1e-3 && pe_strategy_gap(&strategy) > -1e-9))
				fail_msg("gap %g of %s", pe_strategy_gap(&strategy), source.data);
			assert_true(pe_strategy_sensitivity_sq(&strategy, PE_ADD_REMOVE, 1000, &sensitivity_sq));
			assert_true(pe_reconstruction_init(&measured, &workload, &r));
			variance = pe_alloc(workload.queries, sizeof(double));
			pe_reconstruction_variance(&r, variance);
			for (int32_t q = 0; q < workload.queries; q++)
				sum += variance[q];
			if (fabs((double) sensitivity_sq / 1e6 * sum / strategy.objective - 1) > 1e-6)
				fail_msg("variances of %s", source.data);
			pe_free(variance);
			pe_reconstruction_free(&r);
		}
		pe_strategy_free(&strategy);
		pe_workload_free(&workload);
	}
	print_message("largest gap %.2g; %d of %d strategies missed 1e-6\n", worst, short_of, strategies);
	assert_true(short_of <= strategies / 5);
}

/* ---- memory ---- */

/* What blocks are rounded up to. */
#define SLACK 4096

static void
check_memory(const char *source)
{
	pe_workload workload;
	pe_strategy strategy;
	pe_classes	classes;
	const pe_workload *one = &workload;
	pe_measured measured = {&workload, &strategy, NULL, NULL};
	pe_reconstruction r;
	double	   *answer;
	double	   *q;
	int64_t    *y;

	parse(source, NULL, &workload);
	pe_classes_init(&one, 1, &classes);
	(void) pe_test_memory();
	assert_int_equal(pe_strategy_optimal(&workload, &classes, NULL, GAP, &strategy), PE_STRATEGY_OK);
	/* pe_test_memory leaves out what is still in use: the strategy */
	assert_true(pe_test_memory() + pe_strategy_size(&strategy) <=
				pe_strategy_optimal_memory(&workload, &classes) + SLACK);

	answer = pe_alloc(workload.queries, sizeof(double));
	q = pe_alloc((size_t) classes.cells * classes.cells, sizeof(double));
	y = pe_alloc(strategy.rows, sizeof(*y));
	(void) pe_test_memory();
	pe_workload_quadratic(&workload, &classes, q, answer);
	assert_true(pe_test_memory() <= pe_workload_quadratic_memory(&workload, &classes) + SLACK);
	assert_true(pe_reconstruction_init(&measured, &workload, &r));
	(void) pe_test_memory();
	assert_int_equal(pe_reconstruction_undetermined(&r), -1);
	pe_reconstruction_estimate(&r, y, answer);
	pe_reconstruction_variance(&r, answer);
	if (pe_test_memory() > pe_reconstruction_memory(&strategy, &workload, &r.classes) + SLACK)
		fail_msg("memory of the answers to %s", source);
	pe_reconstruction_free(&r);
	pe_free(answer);
	pe_free(q);
	pe_free(y);
	pe_classes_free(&classes);
	pe_strategy_free(&strategy);
	pe_workload_free(&workload);
}

/* A dense matrix of far more rows than columns takes no more than a triangle. */
static void
check_memory_of_dense(int32_t columns, int32_t inner, int32_t rows)
{
	char		source[32];
	pe_workload workload;
	pe_strategy strategy = {.classes = columns, .columns = columns, .inner = inner, .rows = rows};
	pe_measured measured = {&workload, &strategy, NULL, NULL};
	pe_reconstruction r;
	double	   *answer = pe_alloc(columns, sizeof(double));
	int64_t    *y = pe_alloc(rows, sizeof(*y));
	size_t		most;

	snprintf(source, sizeof(source), "identity(%d)", columns);
	parse(source, NULL, &workload);
	strategy.column_of = pe_alloc(columns, sizeof(int32_t));
	strategy.dense = pe_alloc((size_t) rows * inner, sizeof(int32_t));
	strategy.basis = inner < columns ? pe_alloc((size_t) inner * columns, sizeof(int32_t)) : NULL;
	for (int32_t c = 0; c < columns; c++)
		strategy.column_of[c] = c;
	for (int32_t i = 0; i < rows * inner; i++)
		strategy.dense[i] = between(-100, 100);
	for (int32_t i = 0; inner < columns && i < inner * columns; i++)
		strategy.basis[i] = i % columns == i / columns || i % columns == columns - 1;
	for (int32_t i = 0; i < rows; i++)
		y[i] = between(-1000, 1000);
	(void) pe_test_memory();
	assert_true(pe_strategy_sensitivity_sq(&strategy, PE_SUBSTITUTE, 1, &(pe_u128) {0}));
	assert_true(pe_strategy_sensitivity_l1(&strategy, PE_SUBSTITUTE, 1, &(pe_u128) {0}));
	assert_true(pe_test_memory() <= pe_strategy_sensitivity_memory(&strategy, PE_SUBSTITUTE) + SLACK);
	assert_true(pe_strategy_sensitivity_sq(&strategy, PE_ADD_REMOVE, 1, &(pe_u128) {0}));
	assert_true(pe_test_memory() <= pe_strategy_sensitivity_memory(&strategy, PE_ADD_REMOVE) + SLACK);
	assert_true(pe_reconstruction_init(&measured, &workload, &r));
	most = pe_reconstruction_memory(&strategy, &workload, &r.classes) + (size_t) rows * sizeof(double) + SLACK;
	(void) pe_test_memory();
	assert_int_equal(pe_reconstruction_undetermined(&r), inner < columns ? 0 : -1);
	pe_reconstruction_estimate(&r, y, answer);
	assert_true(pe_test_memory() <= most);
	pe_reconstruction_variance(&r, answer);
	assert_true(pe_test_memory() <= most);
	(void) pe_reconstruction_estimate_nonnegative(&r, y, answer);
	assert_true(pe_test_memory() <= most);
	pe_reconstruction_free(&r);
	pe_strategy_free(&strategy);
	pe_workload_free(&workload);
	pe_free(answer);
	pe_free(y);
}

static void
test_memory_dense(void **state)
{
	(void) state;
	check_memory_of_dense(100, 100, 100);
	check_memory_of_dense(100, 100, 150);
	check_memory_of_dense(100, 100, 1234);
	check_memory_of_dense(100, 99, 300);
	check_memory_of_dense(100, 40, 60);
}

static void
test_memory(void **state)
{
	static const char *const source[] = {
		/* almost full rank: a basis as large as it gets */
		"width_range(150, 2)", "2.5 * width_range(150, 3) + total(150)", "prefix(150)", "all_range(60)",
		"identity(8) * identity(8) * total(3) + total(8) * identity(8) * identity(3)",
		"identity(12) * all_range(12) + total(12) * all_range(12)", "3 * prefix(120) + identity(120)",
		/* far more queries than cells */
		"ranges(8; 0-3, 1-4, 2-5) * all_range(10) + width_range(8, 5) * all_range(10)",
	};

	(void) state;
	for (int i = 0; i < lengthof(source); i++)
		check_memory(source[i]);
}

/* A matrix over all cells of several attributes. */
static void
test_memory_whole(void **state)
{
	const pe_shape shape = {2, {"a", "b"}, {2, 30}, {2, 30}};
	text		source = {.size = 0};
	pe_workload workload;
	const pe_workload *one = &workload;
	pe_classes	classes;
	double		answer;
	double	   *q = pe_alloc(60 * 60, sizeof(double));

	(void) state;
	add(&source, "matrix({");
	for (int i = 0; i < 60; i++)
		add(&source, "%s%d", i > 0 ? "," : "{", i);
	add(&source, "}})");
	parse(source.data, &shape, &workload);
	pe_classes_init(&one, 1, &classes);
	assert_int_equal(classes.cells, 60);
	for (int i = 0; i < 60; i++)
		q[61 * i] = 1;
	(void) pe_test_memory();
	pe_workload_quadratic(&workload, &classes, q, &answer);
	assert_true(pe_test_memory() <= pe_workload_quadratic_memory(&workload, &classes) + 64);
	assert_true(answer == 59 * 60 * 119 / 6);
	pe_free(q);
	pe_classes_free(&classes);
	pe_workload_free(&workload);
}

/* ---- covariances ---- */

/* What one unit of each measurement adds to the estimates: the sum of squares of these is the covariance. */
static void
covariance_of_units(const pe_reconstruction *r, double *covariance)
{
	int32_t		queries = r->workload->queries;
	int32_t		rows = r->measured->strategy->rows;
	double	   *weights = pe_alloc((size_t) rows * queries, sizeof(double));

	pe_reconstruction_weights(r, weights);
	for (int32_t m = 0; m < rows; m++)
		for (int32_t i = 0; i < queries; i++)
			for (int32_t k = 0; k < queries; k++)
				covariance[i * queries + k] += weights[m * queries + i] * weights[m * queries + k];
	pe_free(weights);
}

static void
check_covariance(const pe_workload *workload, const pe_strategy *strategy, const bool *possible, const pe_workload *asked)
{
	pe_measured measured = {workload, strategy, possible, NULL};
	pe_reconstruction r;
	int32_t		n = asked->queries;
	double	   *covariance = pe_alloc((size_t) n * n, sizeof(double));
	double	   *expected = pe_alloc((size_t) n * n, sizeof(double));
	double	   *variance = pe_alloc(n, sizeof(double));
	double		largest = 0;

	assert_true(pe_reconstruction_init(&measured, asked, &r));
	covariance_of_units(&r, expected);
	pe_reconstruction_covariance(&r, covariance);
	pe_reconstruction_variance(&r, variance);
	for (int32_t i = 0; i < n; i++)
		largest = fmax(largest, variance[i]);
	for (int32_t i = 0; i < n * n; i++)
		assert_true(fabs(covariance[i] - expected[i]) <= 1e-7 * largest);
	for (int32_t i = 0; i < n; i++)
		assert_true(fabs(covariance[i * n + i] - variance[i]) <= 1e-7 * largest);
	pe_reconstruction_free(&r);
	pe_free(covariance);
	pe_free(expected);
	pe_free(variance);
}

/* Of every form of a strategy: counted by itself, triangular, of another workload; with cells that are ruled out. */
static void
test_covariance(void **state)
{
	static const char *const source[] = {"identity(a) * identity(b)", "prefix(a) * identity(b)", "prefix(a)",
	"all_range(a) * identity(b) + total"};
	static const char *const asked[] = {"identity(a) * identity(b)", "identity(a) * matrix(b; {{0,1,0},{2,0,-1}}) + total",
	"ranges(a; 0-1, 2-4) + prefix(a)", "prefix(a) * identity(b) + identity(b)"};
	const pe_shape shape = {2, {"a", "b"}, {5, 3}, {5, 3}};
	bool		possible[15];

	(void) state;
	for (int i = 0; i < 15; i++)
		possible[i] = i % 3 != 1 || i > 6;
	for (int i = 0; i < lengthof(source); i++)
		for (int rules = 0; rules < 2; rules++)
		{
			pe_workload workload;
			pe_workload queries;
			pe_strategy strategy;

			parse(source[i], &shape, &workload);
			parse(asked[i], &shape, &queries);
			assert_int_equal(optimal(&workload, rules ? possible : NULL, &strategy), PE_STRATEGY_OK);
			check_covariance(&workload, &strategy, rules ? possible : NULL, &queries);
			pe_strategy_free(&strategy);
			pe_workload_free(&workload);
			pe_workload_free(&queries);
		}
}

/* Nothing is asked for: nothing is left behind. */
static void
test_empty(void **state)
{
	static const char *const source[] = {"matrix({{0,0,0}})", "2 * matrix({{0,0},{0,0}}) + 3 * matrix({{0,0}})"};

	(void) state;
	for (int i = 0; i < lengthof(source); i++)
	{
		pe_workload workload;
		pe_strategy strategy;

		parse(source[i], NULL, &workload);
		assert_int_equal(optimal(&workload, NULL, &strategy), PE_STRATEGY_EMPTY);
		pe_strategy_free(&strategy);
		pe_workload_free(&workload);
	}
}

/* A certificate that is no number is no certificate; of the bound 0 says that it is not known. */
static void
test_bytes(void **state)
{
	static const double bad[] = {INFINITY, -INFINITY, NAN, -1, 0};
	double		number;
	pe_workload workload;
	pe_strategy strategy;
	pe_strategy again;
	size_t		size;
	char	   *bytes;
	int			found = 0;

	(void) state;
	parse("prefix(5)", NULL, &workload);
	assert_int_equal(optimal(&workload, NULL, &strategy), PE_STRATEGY_OK);
	size = pe_strategy_size(&strategy);
	bytes = pe_alloc(size, 1);
	pe_strategy_write(&strategy, bytes);
	for (size_t at = 0; at + sizeof(number) <= size; at += sizeof(number))
	{
		memcpy(&number, bytes + at, sizeof(number));
		if (number != strategy.objective && number != strategy.lower_bound)
			continue;
		found++;
		for (int i = 0; i < lengthof(bad); i++)
		{
			bool		fine = bad[i] == 0 && number == strategy.lower_bound;

			memcpy(bytes + at, &bad[i], sizeof(number));
			assert_int_equal(pe_strategy_read(&again, bytes, size), fine ? PE_STRATEGY_OK : PE_STRATEGY_MALFORMED);
			pe_strategy_free(&again);
		}
		memcpy(bytes + at, &number, sizeof(number));
	}
	assert_int_equal(found, 2);
	pe_free(bytes);
	pe_strategy_free(&strategy);
	pe_workload_free(&workload);
}

static int
seed(void **state)
{
	(void) state;
	pe_test_seed(20240719);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_determined),
		cmocka_unit_test(test_small_weight_missed),
		cmocka_unit_test(test_ruled_out),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_scales),
		cmocka_unit_test(test_dense),
		cmocka_unit_test(test_dense_nearly_dependent),
		cmocka_unit_test(test_dense_dependent),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_memory_dense),
		cmocka_unit_test(test_memory_whole),
		cmocka_unit_test(test_covariance),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_bytes),
	};

	return cmocka_run_group_tests(tests, seed, NULL);
}
