/*
 * test_optimum_max.c
 *	  The strategy whose worst query is best: values known otherwise, the laws of
 *	  the factorisation norm, and variances recomputed in long double.
 *
 * Random queries come from a fixed seed, so failures repeat; with
 * PG_EPSILON_QUICK set there are far fewer, and small ones.
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

#include "base/mem.h"
#include "optimum/optimum.h"
#include "certificate.h"
#include "numbers.h"
#include "shim.h"

/* ---- queries written out ---- */

typedef struct table
{
	const double *w;			/* m x n by columns */
	int			m;
	int			n;
	double	   *gram;
	pe_query_source source;
} table;

static void
rows_of_table(const void *argument, const int32_t *query, int32_t count, double *rows)
{
	const table *t = argument;

	for (int32_t i = 0; i < count; i++)
		for (int k = 0; k < t->n; k++)
			rows[i + (size_t) k * (size_t) count] = t->w[query[i] + (size_t) k * (size_t) t->m];
}

static void
variances_of_table(const void *argument, const double *c, double *variance)
{
	const table *t = argument;

	for (int q = 0; q < t->m; q++)
	{
		variance[q] = 0.0;
		for (int j = 0; j < t->n; j++)
			for (int i = 0; i < t->n; i++)
				variance[q] += t->w[q + i * t->m] * c[i + j * t->n] * t->w[q + j * t->m];
	}
}

static void
table_init(table *t, const double *w, int m, int n)
{
	double		largest = 0.0;

	for (int i = 0; i < m * n; i++)
		largest = fmax(largest, fabs(w[i]));
	*t = (table) {.w = w, .m = m, .n = n, .gram = gram(w, m, n)};
	t->source = (pe_query_source) {m, largest, t->gram, rows_of_table, variances_of_table, t};
}

/* ---- the result by other means ---- */

/* G of a design, rows x n by columns: the factor, or the root of X. */
static long double *
root_of(const pe_design *design, int *rows)
{
	int			n = design->n;
	long double *l;
	long double *g;

	if (design->factor != NULL)
	{
		*rows = design->rows;
		return long_copy(design->factor, (size_t) design->rows * (size_t) n);
	}
	*rows = n;
	l = long_copy(design->x, (size_t) n * (size_t) n);
	g = calloc((size_t) n * (size_t) n, sizeof(long double));
	assert_true(long_cholesky(l, n));
	for (int i = 0; i < n; i++)
		for (int k = 0; k <= i; k++)
			g[k + i * n] = l[i * n + k];
	free(l);
	return g;
}

/* K = G G', by rows, as its lower triangular root. */
static long double *
root_of_rows(const long double *g, int rows, int n)
{
	long double *k = calloc((size_t) rows * (size_t) rows, sizeof(long double));

	for (int j = 0; j < n; j++)
		for (int a = 0; a < rows; a++)
			for (int b = 0; b < rows; b++)
				k[a * rows + b] += g[a + j * rows] * g[b + j * rows];
	assert_true(long_cholesky(k, rows));
	return k;
}

/* b = (L L')^-1 b */
static void
solve_rows(const long double *l, int rows, long double *b)
{
	for (int i = 0; i < rows; i++)
	{
		for (int k = 0; k < i; k++)
			b[i] -= l[i * rows + k] * b[k];
		b[i] /= l[i * rows + i];
	}
	for (int i = rows - 1; i >= 0; i--)
	{
		for (int k = i + 1; k < rows; k++)
			b[i] -= l[k * rows + i] * b[k];
		b[i] /= l[i * rows + i];
	}
}

/*
 * The largest |b|^2 with G'b = w_q, times the largest squared column of G; *outside,
 * the largest part of a query that the rows of G do not reach.
 */
static double
largest_variance(const table *t, const pe_design *design, double *outside)
{
	int			n = t->n;
	int			rows;
	long double *g = root_of(design, &rows);
	long double *k = root_of_rows(g, rows, n);
	long double *b = calloc((size_t) rows, sizeof(long double));
	long double largest = 0.0L;
	long double sensitivity = 0.0L;

	*outside = 0.0;
	for (int q = 0; q < t->m; q++)
	{
		long double variance = 0.0L;
		long double missing = 0.0L;
		long double size = 0.0L;

		memset(b, 0, (size_t) rows * sizeof(long double));
		for (int j = 0; j < n; j++)
			for (int a = 0; a < rows; a++)
				b[a] += g[a + j * rows] * t->w[q + j * t->m];
		solve_rows(k, rows, b);
		for (int a = 0; a < rows; a++)
			variance += b[a] * b[a];
		for (int j = 0; j < n; j++)
		{
			long double left = t->w[q + j * t->m];

			size += left * left;
			for (int a = 0; a < rows; a++)
				left -= g[a + j * rows] * b[a];
			missing += left * left;
		}
		largest = fmaxl(largest, variance);
		*outside = fmax(*outside, size > 0.0L ? (double) sqrtl(missing / size) : 0.0);
	}
	for (int j = 0; j < n; j++)
	{
		long double length = 0.0L;

		for (int a = 0; a < rows; a++)
			length += g[a + j * rows] * g[a + j * rows];
		sensitivity = fmaxl(sensitivity, length);
	}
	assert_true(fabsl(sensitivity - 1.0L) <= 1e-12L);
	free(g);
	free(k);
	free(b);
	return (double) (largest * sensitivity);
}

/* Solves, and recomputes what is claimed; false with a message if something is wrong. */
static bool
solve_table(const char *name, const table *t, double *lower, double *upper)
{
	pe_design	design;
	pe_optimum	sum;
	double		outside;
	double		variance;
	bool		good;

	pe_optimum_max(&t->source, t->n, GAP, &design, lower, upper);
	variance = largest_variance(t, &design, &outside);
	/* the largest is not below the mean, whose least value is known */
	pe_optimum_solve(t->gram, t->n, GAP, &sum);
	good = design.finished && *upper / *lower - 1.0 <= GAP && *lower <= *upper
		&& design.objective == *upper && design.n == t->n && (design.x == NULL) != (design.factor == NULL)
		&& variance <= *upper * (1.0 + 1e-9) && variance >= *upper * (1.0 - 1e-6)
		&& *upper >= sum.lower / t->m * (1.0 - 1e-9) && outside <= 1e-7;
	if (!good)
		print_error("%s: %d queries, %d columns: %.12g .. %.12g (%.1e), recomputed %.12g, mean at least %.12g, "
					"outside %.1e, evaluations %d\n", name, t->m, t->n, *lower, *upper, *upper / *lower - 1.0,
					variance, sum.lower / t->m, outside, design.iterations);
	pe_optimum_free(&sum);
	pe_design_free(&design);
	return good;
}

static void
solve_matrix(const char *name, const double *w, int m, int n, double *lower, double *upper)
{
	table		t;

	table_init(&t, w, m, n);
	assert_true(solve_table(name, &t, lower, upper));
	pe_free(t.gram);
}

/* ---- values known otherwise ---- */

/*
 * weight * identity + total: X = (1 - b) I + b 11' by symmetry, whose inverse has
 * 1/(1 - b) and 1/(1 + (n-1) b) for eigenvalues; the best b by ternary search.
 */
static double
total_identity(int n, double weight)
{
	double		low = 0.0;
	double		high = 1.0;
	double		value = 0.0;

	for (int i = 0; i < 200; i++)
	{
		double		trial[2];

		for (int k = 0; k < 2; k++)
		{
			double		b = low + (k + 1) * (high - low) / 3.0;
			double		constant = 1.0 / (1.0 + (n - 1) * b);
			double		cell = (constant + (n - 1) / (1.0 - b)) / n;

			trial[k] = fmax(weight * weight * cell, n * constant);
		}
		if (trial[0] < trial[1])
			high = low + 2.0 * (high - low) / 3.0;
		else
			low = low + (high - low) / 3.0;
		value = fmin(trial[0], trial[1]);
	}
	return value;
}

static void
test_known(void **state)
{
	static const double steps[] = {1.0, 1.0, 0.0, 1.0};
	static const double one[] = {3.0, -7.0, 2.0};
	static const double diagonal[] = {10.0, 0.0, 0.0, 1.0};
	double		lower;
	double		upper;

	/* gamma_2 of the prefixes of two cells is 2/sqrt 3 */
	solve_matrix("prefix", steps, 2, 2, &lower, &upper);
	assert_true(lower <= 4.0 / 3.0 && upper >= 4.0 / 3.0);
	/* one query: its largest weight, squared */
	solve_matrix("one", one, 1, 3, &lower, &upper);
	assert_true(lower <= 49.0 && upper >= 49.0 * (1.0 - 1e-12));
	/* the same three as queries of one column */
	solve_matrix("column", one, 3, 1, &lower, &upper);
	assert_true(lower <= 49.0 && upper >= 49.0 * (1.0 - 1e-12));
	/* a query that nobody pays for: its p goes to 0 */
	solve_matrix("diagonal", diagonal, 2, 2, &lower, &upper);
	assert_true(lower <= 100.0 && upper >= 100.0 * (1.0 - 1e-12));
	for (int n = 2; n <= 20; n += 3)
		for (double weight = 0.5; weight <= 8.0; weight *= 2.0)
		{
			double	   *w = matrix(n + 1, n);
			double		expected = total_identity(n, weight);

			for (int j = 0; j < n; j++)
			{
				w[j + j * (n + 1)] = weight;
				w[n + j * (n + 1)] = 1.0;
			}
			solve_matrix("total and cells", w, n + 1, n, &lower, &upper);
			if (lower > expected * (1.0 + 1e-9) || upper < expected * (1.0 - 1e-9))
				fail_msg("n %d weight %g: %.12g .. %.12g, expected %.12g", n, weight, lower, upper, expected);
			pe_free(w);
		}
}

/* ---- laws ---- */

static double *
random_queries(int m, int n, int kind)
{
	double	   *w = matrix(m, n);

	for (int i = 0; i < m; i++)
	{
		int			a = between(0, n - 1);
		int			b = between(0, n - 1);
		double		scale = kind == 3 ? exp(uniform(-3.0, 3.0)) : 1.0;

		for (int j = 0; j < n; j++)
			switch (kind)
			{
				case 0:
					w[i + j * m] = (j >= a && j <= b) || (j >= b && j <= a);
					break;
				case 1:
					w[i + j * m] = between(-3, 3);
					break;
				case 2:
					w[i + j * m] = between(0, 4) == 0 ? between(-1000, 1000) : 0;
					break;
				default:
					w[i + j * m] = normal() * scale;
			}
	}
	/* no column, and no query, without a weight */
	for (int j = 0; j < (m > n ? m : n); j++)
		w[j % m + (j % n) * m] += 5.0;
	return w;
}

static void
transpose(const double *w, int m, int n, double *to)
{
	for (int j = 0; j < n; j++)
		for (int i = 0; i < m; i++)
			to[j + i * n] = w[i + j * m];
}

/* Queries and columns may change places; this holds lower and upper bounds against each other. */
static void
test_transpose(void **state)
{
	pe_test_seed(11);
	for (int i = 0; i < (quick() ? 8 : 160); i++)
	{
		int			m = between(1, 30);
		int			n = between(1, 30);
		double	   *w = random_queries(m, n, i % 4);
		double	   *turned = matrix(n, m);
		double		lower[2];
		double		upper[2];

		transpose(w, m, n, turned);
		solve_matrix("random", w, m, n, &lower[0], &upper[0]);
		solve_matrix("transposed", turned, n, m, &lower[1], &upper[1]);
		if (lower[0] > upper[1] * (1.0 + 1e-12) || lower[1] > upper[0] * (1.0 + 1e-12))
			fail_msg("%d: %.12g .. %.12g, transposed %.12g .. %.12g", i, lower[0], upper[0], lower[1], upper[1]);
		pe_free(w);
		pe_free(turned);
	}
}

/* The largest variance of a product is the product of both. */
static void
test_product(void **state)
{
	pe_test_seed(12);
	for (int i = 0; i < (quick() ? 2 : 20); i++)
	{
		int			m[2] = {between(2, 5), between(2, 5)};
		int			n[2] = {between(2, 5), between(2, 5)};
		double	   *w[2];
		double	   *both = matrix(m[0] * m[1], n[0] * n[1]);
		double		lower[3];
		double		upper[3];

		for (int k = 0; k < 2; k++)
		{
			w[k] = random_queries(m[k], n[k], (i + k) % 2);
			solve_matrix("factor", w[k], m[k], n[k], &lower[k], &upper[k]);
		}
		for (int j = 0; j < n[0] * n[1]; j++)
			for (int q = 0; q < m[0] * m[1]; q++)
				both[q + j * m[0] * m[1]] = w[0][q / m[1] + j / n[1] * m[0]] * w[1][q % m[1] + j % n[1] * m[1]];
		solve_matrix("product", both, m[0] * m[1], n[0] * n[1], &lower[2], &upper[2]);
		assert_true(lower[2] <= upper[0] * upper[1] * (1.0 + 1e-12));
		assert_true(upper[2] >= lower[0] * lower[1] * (1.0 - 1e-12));
		pe_free(w[0]);
		pe_free(w[1]);
		pe_free(both);
	}
}

/* ---- workloads ---- */

typedef struct asked
{
	pe_workload workload;
	pe_classes	classes;
	int32_t		n;
	double	   *gram;
	int32_t    *representative;
	pe_workload_source kept;
	pe_query_source source;
} asked;

static void
ask(const char *text, asked *a)
{
	const pe_workload *list[1] = {&a->workload};
	pe_text_error error;
	int32_t    *column_of;

	if (!pe_workload_parse(text, NULL, &a->workload, &error))
		fail_msg("%s: %s", text, error.message);
	pe_classes_init(list, 1, &a->classes);
	a->gram = matrix(a->classes.cells, a->classes.cells);
	pe_workload_gram(&a->workload, &a->classes, true, a->gram);
	column_of = pe_alloc((size_t) a->classes.cells, sizeof(int32_t));
	a->representative = pe_alloc((size_t) a->classes.cells, sizeof(int32_t));
	a->n = pe_optimum_reduce(a->gram, a->classes.cells, column_of);
	for (int32_t c = a->classes.cells - 1; c >= 0; c--)
		if (column_of[c] >= 0)
			a->representative[column_of[c]] = c;
	pe_free(column_of);
	pe_workload_source_init(&a->workload, &a->classes, a->representative, a->n, a->gram, &a->kept, &a->source);
}

static void
forget(asked *a)
{
	pe_workload_source_free(&a->kept);
	pe_free(a->gram);
	pe_free(a->representative);
	pe_classes_free(&a->classes);
	pe_workload_free(&a->workload);
}

/* Rows and variances of the adapter are those of one workload. */
static void
test_source(void **state)
{
	static const char *const texts[] = {
		"2.5 * prefix(6)*identity(3) + all_range(6)*total(3) + total(6)*total(3)",
		"ranges(20; 2-7, 5-11, 0-1) + 3 * total(20)",
		"matrix({{1,0,0,2},{0,-3,0,0},{1,1,0,1}})",
	};

	for (int i = 0; i < lengthof(texts); i++)
	{
		asked		a;
		int32_t		n;
		int32_t		m;
		int32_t    *query;
		double	   *w;
		double	   *c;
		double	   *variance;

		ask(texts[i], &a);
		n = a.n;
		m = a.source.queries;
		query = pe_alloc((size_t) m, sizeof(int32_t));
		w = matrix(m, n);
		c = matrix(n, n);
		variance = matrix(m, 1);
		for (int32_t q = 0; q < m; q++)
			query[q] = m - 1 - q;
		a.source.rows(a.source.argument, query, m, w);
		for (int32_t k = 0; k < n; k++)
			for (int32_t j = 0; j < n; j++)
			{
				double		sum = 0.0;

				for (int32_t q = 0; q < m; q++)
				{
					sum += w[q + k * m] * w[q + j * m];
					assert_true(fabs(w[q + k * m]) <= a.source.largest);
				}
				assert_true(close_to(sum, a.gram[k + j * n], 1e-14));
				c[k + j * n] = c[j + k * n] = 1.0 / (1.0 + k + j) + (k == j);
			}
		a.source.variances(a.source.argument, c, variance);
		for (int32_t q = 0; q < m; q++)
		{
			double		sum = 0.0;

			for (int32_t k = 0; k < n; k++)
				for (int32_t j = 0; j < n; j++)
					sum += w[m - 1 - q + k * m] * c[k + j * n] * w[m - 1 - q + j * m];
			assert_true(close_to(variance[q], sum, 1e-12));
		}
		pe_free(query);
		pe_free(w);
		pe_free(c);
		pe_free(variance);
		forget(&a);
	}
}

/* Where no query is unlike another, the least maximum is the least mean, and found at once. */
static void
test_symmetric(void **state)
{
	static const char *const texts[] = {
		"identity(17)", "total(9)", "3 * identity(4)*total(5)",
		"identity(4)*identity(4)*total(4) + identity(4)*total(4)*identity(4) + total(4)*identity(4)*identity(4)",
		"identity(6)*total(6) + total(6)*identity(6)",
		"matrix({{1,1,0,0,0},{0,1,1,0,0},{0,0,1,1,0},{0,0,0,1,1},{1,0,0,0,1}})",
	};

	for (int i = 0; i < lengthof(texts); i++)
	{
		asked		a;
		pe_design	design;
		pe_optimum	sum;
		double		lower;
		double		upper;

		ask(texts[i], &a);
		pe_optimum_max(&a.source, a.n, GAP, &design, &lower, &upper);
		pe_optimum_solve(a.gram, a.n, GAP, &sum);
		assert_int_equal(design.iterations, 1);
		assert_true(design.finished && upper / lower - 1.0 <= 1e-9);
		assert_true(close_to(upper, sum.upper / a.source.queries, 1e-6));
		pe_optimum_free(&sum);
		pe_design_free(&design);
		forget(&a);
	}
}

/* The largest variance under the strategy that is best for the sum. */
static double
worst_of_sum(const asked *a)
{
	double	   *variance = matrix(a->source.queries, 1);
	double		worst = 0.0;
	pe_optimum	sum;

	pe_optimum_solve(a->gram, a->n, GAP, &sum);
	assert_true(sum.full);
	assert_true(pe_la_cholesky(a->n, sum.x, a->n) && pe_la_triangle_inverse(a->n, sum.x, a->n));
	pe_la_triangle_square(a->n, sum.x, a->n);
	for (int32_t j = 0; j < a->n; j++)
		for (int32_t i = 0; i < j; i++)
			sum.x[j + (size_t) i * (size_t) a->n] = sum.x[i + (size_t) j * (size_t) a->n];
	a->source.variances(a->source.argument, sum.x, variance);
	for (int32_t q = 0; q < a->source.queries; q++)
		worst = fmax(worst, variance[q]);
	pe_optimum_free(&sum);
	pe_free(variance);
	return worst;
}

/* gain: what the worst query gains over the strategy for the sum, at least. */
static void
check_gain(const char *text, double gap, double value, double gain)
{
	asked		a;
	pe_design	design;
	double		lower;
	double		upper;
	double		worst;

	ask(text, &a);
	worst = worst_of_sum(&a);
	pe_optimum_max(&a.source, a.n, gap, &design, &lower, &upper);
	if (!design.finished || upper / lower - 1.0 > gap || lower > value * (1.0 + 1e-6) || upper < value * (1.0 - 1e-6) ||
		upper > (1.0 - gain) * worst)
		fail_msg("%.40s: %.10g .. %.10g after %d evaluations, expected %.10g; the worst under the sum %.10g", text, lower,
				 upper, design.iterations, value, worst);
	pe_design_free(&design);
	forget(&a);
}

/* A thousand ranges of 256 cells. */
static char *
many_ranges(void)
{
	char	   *text = pe_alloc(1 << 15, 1);
	int			at = sprintf(text, "ranges(256; ");

	pe_test_seed(5);
	for (int i = 0; i < 1024; i++)
	{
		int			a = between(0, 255);
		int			b = between(0, 255);

		at += sprintf(text + at, "%s%d-%d", i > 0 ? ", " : "", a < b ? a : b, a < b ? b : a);
	}
	strcpy(text + at, ")");
	return text;
}

static void
test_gain(void **state)
{
	asked		a;
	pe_design	design;
	double		lower;
	double		upper;
	char	   *text;

	check_gain("prefix(16)", GAP, 2.905253, 0.15);
	check_gain("prefix(64)", GAP, 4.457869, 0.15);
	check_gain("all_range(16)", GAP, 3.643622, 0.22);
	/* too many queries for the equations: by multiplication */
	if (!quick())
		check_gain("all_range(92)", 0.03, 7.000, 0.15);
	if (quick())
		return;
	check_gain("all_range(64)", GAP, 6.193283, 0.22);
	text = many_ranges();
	ask(text, &a);
	pe_optimum_max(&a.source, a.n, GAP, &design, &lower, &upper);
	if (!design.finished || upper / lower - 1.0 > GAP)
		fail_msg("ranges: %.10g .. %.10g after %d evaluations", lower, upper, design.iterations);
	pe_design_free(&design);
	forget(&a);
	pe_free(text);
}

/* ---- the host ---- */

/* Bad scales, rank one, queries that are the same: bounds are honest, and it ends. */
static void
test_hard(void **state)
{
	pe_test_seed(13);
	for (int i = 0; i < (quick() ? 4 : 60); i++)
	{
		int			m = between(1, 20);
		int			n = between(1, 20);
		double	   *w = random_queries(m, n, 1);
		double		spread = i % 3 == 0 ? 30.0 : 4.0;
		table		t;
		pe_design	design;
		double		lower;
		double		upper;
		double		outside;

		for (int j = 0; j < n; j++)
		{
			double		scale = exp(uniform(-spread, spread));

			for (int q = 0; q < m; q++)
				w[q + j * m] = i % 2 == 0 ? w[q + j * m] * scale : w[j * m] * (q + 1.0) + 1.0;
		}
		table_init(&t, w, m, n);
		for (int j = 0; j < n; j++)
			assert_true(t.gram[j + j * n] > 0.0);
		pe_optimum_max(&t.source, n, GAP, &design, &lower, &upper);
		assert_true(lower > 0.0 && lower <= upper && isfinite(upper) && design.iterations <= 120);
		if (i % 3 != 0 && !design.finished)
			fail_msg("%d: %d queries, %d columns: %.10g .. %.10g", i, m, n, lower, upper);
		if (i % 3 != 0)
			assert_true(largest_variance(&t, &design, &outside) <= upper * (1.0 + 1e-7));
		pe_design_free(&design);
		pe_free(t.gram);
		pe_free(w);
	}
}

static void
test_host(void **state)
{
	asked		a;
	pe_design	design;
	double		lower;
	double		upper;
	uint64_t	polls = pe_test_polls();
	uint64_t	steps = pe_test_steps();
	size_t		used;

	ask(quick() ? "prefix(12) + 2 * all_range(12)" : "prefix(40) + 2 * all_range(40)", &a);
	(void) pe_test_memory();
	pe_optimum_max(&a.source, a.n, GAP, &design, &lower, &upper);
	used = pe_test_memory();
	assert_true(design.iterations >= 3);
	assert_int_equal(pe_test_steps() - steps, design.iterations);
	assert_true(pe_test_polls() - polls >= 5 * (uint64_t) design.iterations);
	pe_design_free(&design);
	if (used > pe_optimum_max_memory(a.source.queries, a.n) + pe_workload_source_memory(&a.workload, &a.classes))
		fail_msg("%zu bytes, promised %zu", used, pe_optimum_max_memory(a.source.queries, a.n));
	/* nothing better than rounding */
	pe_optimum_max(&a.source, a.n, 0.0, &design, &lower, &upper);
	assert_true(!design.finished && lower <= upper && upper / lower - 1.0 <= 1e-7 && design.iterations <= 60);
	pe_design_free(&design);
	forget(&a);
}

static void
solve_order_two(void *v)
{
	const double w[] = {1.0, 0.0, 0.0, 1.0};
	table		t = {.w = w, .m = 2, .n = 2};
	pe_design	design;
	double		lower;
	double		upper;

	t.source = (pe_query_source) {2, 1.0, v, rows_of_table, variances_of_table, &t};
	pe_optimum_max(&t.source, 2, GAP, &design, &lower, &upper);
}

static void
test_refusals(void **state)
{
	double		infinite[] = {1.0, 0.0, 0.0, INFINITY};
	double		empty[] = {1.0, 0.0, 0.0, 0.0};

	assert_true(pe_test_is_bug(solve_order_two, infinite));
	assert_true(pe_test_is_bug(solve_order_two, empty));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_transpose),
		cmocka_unit_test(test_product),
		cmocka_unit_test(test_source),
		cmocka_unit_test(test_symmetric),
		cmocka_unit_test(test_gain),
		cmocka_unit_test(test_hard),
		cmocka_unit_test(test_host),
		cmocka_unit_test(test_refusals),
	};

	pe_la_single_thread();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
