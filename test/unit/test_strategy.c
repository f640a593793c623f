/*
 * test_strategy.c
 *	  Strategies from the text of a workload to integers and back to answers:
 *	  known optima, certificates and losses recomputed from the integers, least
 *	  squares by other means, bytes.
 *
 * Includes rounding.c to reach the single steps of the rounding.  Random cases
 * come from a fixed seed, so failures repeat; with PG_EPSILON_QUICK set there
 * are far fewer, and none of order 1024.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "strategy/rounding.c"
#include "blocks/blocks.h"
#include "blocks/reconstruct.h"
#include "numbers.h"
#include "shim.h"
#include "workloads.h"

#define GAP 1e-6

static void
parse(const char *source, const pe_shape *shape, pe_workload *workload)
{
	pe_text_error error;

	if (!pe_workload_parse(source, shape, workload, &error))
		fail_msg("%s: %s", source, error.message);
}

static pe_strategy_status
optimal(const pe_workload *workload, const bool *possible, double gap, pe_strategy *strategy)
{
	pe_classes	classes;
	pe_strategy_status status;

	pe_classes_init(&workload, 1, &classes);
	status = pe_strategy_optimal(workload, &classes, possible, gap, strategy);
	pe_classes_free(&classes);
	return status;
}

/* ---- known optima, through the text ---- */

/* The k-way marginals of a product of sizes, as a union of products. */
static void
marginals(text *to, const int *size, int attributes, int k)
{
	bool		first = true;

	to->size = 0;
	for (int set = 0; set < 1 << attributes; set++)
	{
		if (__builtin_popcount(set) != k)
			continue;
		add(to, "%s", first ? "" : " + ");
		first = false;
		for (int a = 0; a < attributes; a++)
			add(to, "%s%s(%d)", a > 0 ? " * " : "", set >> a & 1 ? "identity" : "total", size[a]);
	}
}

static void
cyclic_windows(text *to, int n)
{
	to->size = 0;
	add(to, "matrix({");
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			add(to, "%s%d%s", j > 0 ? "," : i > 0 ? ",{" : "{", (j - i + n) % n < n / 4, j == n - 1 ? "}" : "");
	add(to, "})");
}

static void
haar(text *to, int n)
{
	to->size = 0;
	add(to, "matrix({");
	for (int j = 0; j < n; j++)
		add(to, "%s1", j > 0 ? "," : "{");
	add(to, "}");
	for (int width = n; width > 1; width /= 2)
		for (int from = 0; from < n; from += width)
			for (int j = 0; j < n; j++)
				add(to, "%s%d%s", j > 0 ? "," : ",{",
					j < from || j >= from + width ? 0 : j < from + width / 2 ? 1 : -1, j == n - 1 ? "}" : "");
	add(to, "})");
}

static double worst_gap;

static void
check_optimum(const char *source, const pe_shape *shape, double optimum)
{
	pe_workload workload;
	pe_strategy strategy;

	parse(source, shape, &workload);
	assert_int_equal(optimal(&workload, NULL, GAP, &strategy), PE_STRATEGY_OK);
	worst_gap = fmax(worst_gap, pe_strategy_gap(&strategy));
	if (!(pe_strategy_gap(&strategy) >= 0 && pe_strategy_gap(&strategy) <= GAP) ||
		!(fabs(strategy.objective / optimum - 1) <= 1e-6) || strategy.lower_bound > optimum * (1 + 1e-9))
		fail_msg("%.60s: objective %.12g, lower bound %.12g, optimum %.12g",
				 source, strategy.objective, strategy.lower_bound, optimum);
	pe_strategy_free(&strategy);
	pe_workload_free(&workload);
}

static void
test_known(void **state)
{
	static const struct
	{
		const char *source;
		double		optimum;
	}			known[] = {
		{"all_range(2)", 3.732050808}, {"prefix(2)", 2.618033989}, {"all_range(4)", 16.44088734}, {"prefix(4)", 6.874144097},
		{"all_range(16)", 413.1402168}, {"prefix(16)", 45.66535681}, {"all_range(64)", 11024.3815}, {"prefix(64)", 282.2014211},
		{"all_range(256)", 276929.3084}, {"prefix(256)", 1631.403045},
		{"identity(16)", 16}, {"identity(64)", 64}, {"identity(256)", 256},
		{"total(16) + identity(16)", 22.85582305}, {"total(64) + identity(64)", 78.90381994},
		{"total(256) + identity(256)", 286.9450077},
		{"prefix(16) * prefix(16)", 2085.324813}, {"all_range(16) * identity(4)", 1652.560867}
	};
	static const struct
	{
		int			size[10];
		int			attributes;
		int			k;
		double		optimum;
	}			tables[] = {
		{{4, 4}, 2, 1, 13.74264069}, {{4, 4, 4}, 3, 1, 28.79422863}, {{4, 4, 4}, 3, 2, 107.4330844},
		{{2, 2, 2, 2, 2, 2}, 6, 2, 260.6511962}, {{2, 2, 2, 2, 2, 2, 2, 2}, 8, 2, 741.4051835},
		{{2, 3, 5}, 3, 2, 61.46296197}, {{2, 3, 5}, 3, 1, 21.7826788}, {{10, 10}, 2, 1, 37.69116882},
		{{5, 7, 9}, 3, 2, 355.7183956}
	};
	text		t;

	(void) state;
	for (int i = 0; i < lengthof(known); i++)
		check_optimum(known[i].source, NULL, known[i].optimum);
	for (int i = 0; i < lengthof(tables); i++)
	{
		marginals(&t, tables[i].size, tables[i].attributes, tables[i].k);
		check_optimum(t.data, NULL, tables[i].optimum);
	}
	cyclic_windows(&t, 16);
	check_optimum(t.data, NULL, 36.99179695);
	haar(&t, 16);
	check_optimum(t.data, NULL, 67.9411255);
	print_message("largest gap of the integers: %.2g\n", worst_gap);
}

/* The same by names: marginals(k), and the mixture of tables that a census asks for. */
static void
test_known_by_name(void **state)
{
	const pe_shape three = {3, {"a", "b", "c"}, {5, 7, 9}, {5, 7, 9}};
	const pe_shape census = {4, {"age", "sex", "race", "hisp"}, {2, 2, 8, 2}, {2, 2, 8, 2}};
	const pe_shape larger = {4, {"age", "sex", "race", "hisp"}, {8, 2, 8, 2}, {8, 2, 8, 2}};
	const char *asked = "total + identity(sex) * identity(race) * identity(hisp) + prefix(age) * identity(sex)"
		" + identity(age) * identity(race) + identity(age) * identity(sex) * identity(hisp)";

	(void) state;
	check_optimum("marginals(2)", &three, 355.7183956);
	check_optimum("marginals(0) + marginals(1) + marginals(2) + marginals(3)", &three, 1282.367416);
	check_optimum(asked, &census, 153.5495521);
	check_optimum(asked, &larger, 472.9368936);
}

static void
test_known_large(void **state)
{
	const int	two[10] = {2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
	const int	eight[3] = {8, 8, 8};
	const int	four[5] = {4, 4, 4, 4, 4};
	text		t;

	(void) state;
	if (getenv("PG_EPSILON_QUICK") != NULL)
		return;
	check_optimum("all_range(1024)", NULL, 6484329);
	check_optimum("prefix(1024)", NULL, 8944.329194);
	check_optimum("total(1024) + identity(1024)", NULL, 1086.970665);
	marginals(&t, two, 10, 2);
	check_optimum(t.data, NULL, 1669.057647);
	marginals(&t, eight, 3, 2);
	check_optimum(t.data, NULL, 497.4602506);
	marginals(&t, four, 5, 2);
	check_optimum(t.data, NULL, 948.0591649);
}

/* ---- what rounding costs ---- */

/* At the coarsest lattice: the error of the integers over that of the real optimum, less 1. */
static double
loss(const char *source, bool everything)
{
	pe_workload workload;
	pe_classes	classes;
	pe_strategy strategy;
	pe_optimum	optimum;
	pe_rounding	m;
	const pe_workload *w = &workload;
	pe_strategy_problem problem = {.workload = w, .classes = &classes};
	double		result;

	parse(source, NULL, &workload);
	pe_classes_init(&w, 1, &classes);
	assert_int_equal(pe_rounding_begin(&m, &problem, &strategy), PE_STRATEGY_OK);
	pe_optimum_solve(m.v, m.n, 1e-8, &optimum);
	m.goal = optimum.lower;
	m.tolerance = 1e9;
	if (optimum.full)
		assert_true(pe_rounding_full(&m, optimum.x));
	else if (everything)
	{
		double	   *x = square_of_factor(m.n, optimum.factor, optimum.rank);

		pe_rounding_singular(&m, x);
		pe_free(x);
	}
	else
	{
		pe_rounding_factor(&m, optimum.factor, optimum.rank);
		assert_non_null(strategy.basis);
	}
	result = strategy.objective / optimum.upper - 1;
	pe_optimum_free(&optimum);
	pe_rounding_end(&m);
	pe_strategy_free(&strategy);
	pe_classes_free(&classes);
	pe_workload_free(&workload);
	return result;
}

static void
test_loss(void **state)
{
	static const char *const full[] = {
		/* below 64 cells the first columns have too few entries to be adjusted; there k grows */
		"all_range(64)", "all_range(256)", "prefix(64)", "prefix(256)",
		"total(64) + identity(64)", "prefix(16) * prefix(16)", "all_range(32) * identity(4)"
	};
	static const char *const deficient[] = {
		"identity(4) * identity(4) * total(4) + identity(4) * total(4) * identity(4) + total(4) * identity(4) * identity(4)",
		"identity(5) * identity(7) * total(9) + identity(5) * total(7) * identity(9) + total(5) * identity(7) * identity(9)",
		"identity(10) * total(10) + total(10) * identity(10)", "width_range(64, 9)", "width_range(200, 50)",
		"all_range(12) * total(12) + total(12) * prefix(12)", "ranges(30; 0-9, 5-14, 10-20, 3-29)"
	};
	double		worst[3] = {0, 0, 0};

	(void) state;
	for (int i = 0; i < lengthof(full); i++)
		worst[0] = fmax(worst[0], loss(full[i], false));
	for (int i = 0; i < lengthof(deficient); i++)
		worst[1] = fmax(worst[1], loss(deficient[i], false));
	for (int i = 0; i < lengthof(deficient); i++)
		worst[2] = fmax(worst[2], loss(deficient[i], true));
	print_message("loss at k = 16: full rank %.2g, with a basis %.2g, everything measured %.2g\n",
				  worst[0], worst[1], worst[2]);
	assert_true(worst[0] <= 2e-6);
	assert_true(worst[1] <= 1e-4);
	assert_true(worst[2] <= 1.5e-4);
}

/* A finer lattice where the gap asks for it: entries grow with it. */
static void
test_finer(void **state)
{
	const char *source = "identity(10) * total(10) + total(10) * identity(10)";
	pe_workload workload;
	pe_strategy coarse;
	pe_strategy fine;
	pe_u128		square_of_coarse;
	pe_u128		square_of_fine;

	(void) state;
	parse(source, NULL, &workload);
	assert_int_equal(optimal(&workload, NULL, 1e-2, &coarse), PE_STRATEGY_OK);
	assert_int_equal(optimal(&workload, NULL, 1e-6, &fine), PE_STRATEGY_OK);
	assert_true(pe_strategy_sensitivity_sq(&coarse, PE_ADD_REMOVE, 1, &square_of_coarse));
	assert_true(pe_strategy_sensitivity_sq(&fine, PE_ADD_REMOVE, 1, &square_of_fine));
	assert_true(fabs(sqrt((double) square_of_coarse) / 0x1p16 - 1) < 1e-2);
	assert_true(sqrt((double) square_of_fine) > 0x1p19);
	assert_true(pe_strategy_gap(&fine) <= 1e-6);
	pe_strategy_free(&coarse);
	pe_strategy_free(&fine);
	pe_workload_free(&workload);
}

/* Rows that doubles cannot tell from dependent ones: everything is measured, and nothing is lost. */
static void
test_no_basis(void **state)
{
	pe_workload workload;
	pe_strategy strategy;
	pe_measured measured = {&workload, &strategy, NULL, NULL};
	pe_reconstruction r;
	int64_t		x[3] = {7, 1000003, 12};
	pe_i128		exact[3];
	int64_t		y[3];
	double		estimate[2];

	(void) state;
	parse("matrix({{1000000,1,0},{1000000,2,0}})", NULL, &workload);
	assert_int_equal(optimal(&workload, NULL, GAP, &strategy), PE_STRATEGY_OK);
	assert_true(strategy.columns == 2 && strategy.rows == 2);
	pe_strategy_apply(&strategy, x, exact);
	for (int i = 0; i < strategy.rows; i++)
		y[i] = (int64_t) exact[i];
	assert_true(pe_reconstruction_init(&measured, &workload, &r));
	assert_int_equal(pe_reconstruction_undetermined(&r), -1);
	pe_reconstruction_estimate(&r, y, estimate);
	assert_true(fabs(estimate[0] / (7e6 + 1000003) - 1) < 1e-9 && fabs(estimate[1] / (7e6 + 2 * 1000003) - 1) < 1e-9);
	pe_reconstruction_free(&r);
	pe_strategy_free(&strategy);
	pe_workload_free(&workload);
}

/* ---- random workloads, end to end ---- */

/* A over all cells, rows x cells: what is measured, by the maps of the strategy. */
static double *
measured_matrix(const pe_strategy *strategy, const pe_workload *workload, const bool *possible)
{
	int32_t		cells = pe_shape_cells(&workload->shape);
	double	   *by_column = pe_alloc((size_t) strategy->rows * strategy->columns, sizeof(double));
	double	   *a = pe_alloc((size_t) strategy->rows * cells, sizeof(double));
	int32_t    *column_of = pe_alloc(cells, sizeof(int32_t));

	pe_strategy_matrix(strategy, by_column);
	pe_strategy_columns(strategy, workload, possible, column_of);
	for (int32_t i = 0; i < strategy->rows; i++)
		for (int32_t c = 0; c < cells; c++)
			if (column_of[c] >= 0)
				a[(size_t) i * cells + c] = by_column[(size_t) i * strategy->columns + column_of[c]];
	pe_free(by_column);
	pe_free(column_of);
	return a;
}

/* Solves M u = b in long double, with pivoting; M is n x n and destroyed. */
static void
solve_by_elimination(long double *m, long double *b, int n)
{
	for (int c = 0; c < n; c++)
	{
		int			best = c;

		for (int i = c; i < n; i++)
			if (fabsl(m[i * n + c]) > fabsl(m[best * n + c]))
				best = i;
		for (int j = 0; j < n; j++)
		{
			long double swap = m[c * n + j];

			m[c * n + j] = m[best * n + j];
			m[best * n + j] = swap;
		}
		{
			long double swap = b[c];

			b[c] = b[best];
			b[best] = swap;
		}
		for (int i = c + 1; i < n; i++)
		{
			long double factor = m[i * n + c] / m[c * n + c];

			for (int j = c; j < n; j++)
				m[i * n + j] -= factor * m[c * n + j];
			b[i] -= factor * b[c];
		}
	}
	for (int i = n - 1; i >= 0; i--)
	{
		for (int j = i + 1; j < n; j++)
			b[i] -= m[i * n + j] * b[j];
		b[i] /= m[i * n + i];
	}
}

/* The least-squares weights u on the measurements for a query w over the possible cells: A A'u = A w. */
static void
weights_of_query(const double *a, int rows, int cells, const double *w, long double *u)
{
	long double *m = malloc((size_t) rows * rows * sizeof(long double));

	for (int i = 0; i < rows; i++)
	{
		u[i] = 0;
		for (int c = 0; c < cells; c++)
			u[i] += (long double) a[i * cells + c] * w[c];
		for (int j = 0; j < rows; j++)
		{
			m[i * rows + j] = 0;
			for (int c = 0; c < cells; c++)
				m[i * rows + j] += (long double) a[i * cells + c] * a[j * cells + c];
		}
	}
	solve_by_elimination(m, u, rows);
	free(m);
}

typedef struct trial
{
	pe_shape	shape;
	text		source;
	pe_workload workload;
	int32_t		cells;
	bool	   *possible;
	pe_strategy strategy;
	double	   *a;
	pe_i128    *exact;
	int64_t    *y;				/* noisy */
	int64_t    *x;				/* counts of the cells */
} trial;

/* False if the workload asks for nothing. */
static bool
begin(trial *t, bool mask)
{
	int32_t    *column_of;
	int64_t    *columns;
	pe_strategy_status status;

	random_shape(&t->shape);
	random_workload(&t->source, &t->shape, true);
	parse(t->source.data, &t->shape, &t->workload);
	t->cells = pe_shape_cells(&t->shape);
	t->possible = mask ? pe_alloc(t->cells, sizeof(bool)) : NULL;
	for (int32_t c = 0; mask && c < t->cells; c++)
		t->possible[c] = between(0, 3) > 0;
	status = optimal(&t->workload, t->possible, GAP, &t->strategy);
	if (status == PE_STRATEGY_EMPTY)
	{
		pe_strategy_free(&t->strategy);
		pe_free(t->possible);
		pe_workload_free(&t->workload);
		return false;
	}
	assert_int_equal(status, PE_STRATEGY_OK);
	t->a = measured_matrix(&t->strategy, &t->workload, t->possible);
	t->x = pe_alloc(t->cells, sizeof(int64_t));
	t->y = pe_alloc(t->strategy.rows, sizeof(int64_t));
	t->exact = pe_alloc(t->strategy.rows, sizeof(pe_i128));
	columns = pe_alloc(t->strategy.columns, sizeof(int64_t));
	column_of = pe_alloc(t->cells, sizeof(int32_t));
	pe_strategy_columns(&t->strategy, &t->workload, t->possible, column_of);
	for (int32_t c = 0; c < t->cells; c++)
	{
		t->x[c] = t->possible == NULL || t->possible[c] ? between(0, 1000) : 0;
		if (column_of[c] >= 0)
			columns[column_of[c]] += t->x[c];
	}
	pe_strategy_apply(&t->strategy, columns, t->exact);
	for (int32_t i = 0; i < t->strategy.rows; i++)
		t->y[i] = (int64_t) t->exact[i] + between(-1000000, 1000000);
	pe_free(columns);
	pe_free(column_of);
	return true;
}

static void
end(trial *t)
{
	pe_strategy_free(&t->strategy);
	pe_workload_free(&t->workload);
	pe_free(t->possible);
	pe_free(t->a);
	pe_free(t->exact);
	pe_free(t->y);
	pe_free(t->x);
}

/* A x is what A written out makes of x, and the sensitivity is that of its columns. */
static void
check_measurement(const trial *t)
{
	pe_u128		largest = 0;
	pe_u128		got;

	for (int32_t i = 0; i < t->strategy.rows; i++)
	{
		pe_i128		sum = 0;

		for (int32_t c = 0; c < t->cells; c++)
			sum += (pe_i128) t->a[(size_t) i * t->cells + c] * t->x[c];
		if (sum != t->exact[i])
			fail_msg("measurement %d of %s", i, t->source.data);
	}
	for (int32_t c = 0; c < t->cells; c++)
	{
		pe_u128		norm_sq = 0;

		for (int32_t i = 0; i < t->strategy.rows; i++)
			norm_sq += (pe_u128) ((pe_i128) t->a[(size_t) i * t->cells + c] * (pe_i128) t->a[(size_t) i * t->cells + c]);
		largest = norm_sq > largest ? norm_sq : largest;
	}
	assert_true(pe_strategy_sensitivity_sq(&t->strategy, PE_ADD_REMOVE, 3, &got));
	assert_true(got == 9 * largest);
}

/* w with the cells that are ruled out taken as 0: they are known to be empty. */
static void
query_over_possible(const trial *t, const double *w, int32_t query, double *row)
{
	for (int32_t c = 0; c < t->cells; c++)
		row[c] = t->possible == NULL || t->possible[c] ? w[(size_t) query * t->cells + c] : 0;
}

/*
 * The answers and variances of a workload against least squares; returns the
 * weighted sum of the variances.  *undetermined: the first query outside the
 * row space, or -1.
 */
static double
check_answers(const trial *t, const pe_workload *asked, int32_t *undetermined)
{
	pe_measured measured = {&t->workload, &t->strategy, t->possible, NULL};
	pe_reconstruction r;
	double	   *w = write_out(asked);
	double	   *row = pe_alloc(t->cells, sizeof(double));
	double	   *estimate = pe_alloc(asked->queries, sizeof(double));
	double	   *variance = pe_alloc(asked->queries, sizeof(double));
	long double *u = malloc((size_t) t->strategy.rows * sizeof(long double));
	double		sum = 0;
	int32_t		factor_query[PE_MAX_ATTRIBUTES];

	assert_true(pe_reconstruction_init(&measured, asked, &r));
	pe_reconstruction_estimate(&r, t->y, estimate);
	pe_reconstruction_variance(&r, variance);
	*undetermined = -1;
	for (int32_t k = 0; k < asked->terms; k++)
		for (int64_t i = 0; i < asked->term[k].queries; i++)
		{
			int32_t		query = (int32_t) pe_term_query(&asked->term[k], i, factor_query);
			long double answer = 0;
			long double square = 0;
			long double outside = 0;
			long double size = 0;

			query_over_possible(t, w, query, row);
			weights_of_query(t->a, t->strategy.rows, t->cells, row, u);
			for (int32_t c = 0; c < t->cells; c++)
			{
				long double left = row[c];

				for (int32_t j = 0; j < t->strategy.rows; j++)
					left -= u[j] * t->a[(size_t) j * t->cells + c];
				outside += left * left;
				size += (long double) row[c] * row[c];
			}
			if (outside > 1e-12L * size)
			{
				if (*undetermined < 0 || query < *undetermined)
					*undetermined = query;
				continue;
			}
			for (int32_t j = 0; j < t->strategy.rows; j++)
			{
				answer += u[j] * t->y[j];
				square += u[j] * u[j];
			}
			if (fabs(estimate[query] - (double) answer) > 1e-9 * (1 + fabs((double) answer) + 1000 * sqrt((double) size)))
				fail_msg("query %d of %s from %s: %.17g, not %.17g", query, asked->canonical, t->source.data,
						 estimate[query], (double) answer);
			if (fabs(variance[query] - (double) square) > 1e-9 * (double) square + 1e-30)
				fail_msg("variance of query %d of %s from %s: %.17g, not %.17g", query, asked->canonical, t->source.data,
						 variance[query], (double) square);
			sum += asked->term[k].weight * asked->term[k].weight * (double) square;
		}
	assert_int_equal(pe_reconstruction_undetermined(&r), *undetermined);
	pe_reconstruction_free(&r);
	pe_free(w);
	pe_free(row);
	pe_free(estimate);
	pe_free(variance);
	free(u);
	return sum;
}

/* The objective that the strategy states is that of these integers. */
static void
check_certificate(const trial *t, double variances)
{
	pe_u128		sensitivity_sq;
	double		objective;

	assert_true(pe_strategy_sensitivity_sq(&t->strategy, PE_ADD_REMOVE, 1, &sensitivity_sq));
	objective = (double) sensitivity_sq * variances;
	if (fabs(objective / t->strategy.objective - 1) > 1e-8)
		fail_msg("objective of %s: %.12g, not %.12g", t->source.data, t->strategy.objective, objective);
	if (pe_strategy_gap(&t->strategy) > GAP)
		fail_msg("gap of %s: %g", t->source.data, pe_strategy_gap(&t->strategy));
	/* a little below 0 is the rounding of the two sums */
	if (pe_strategy_gap(&t->strategy) < -1e-12)
		fail_msg("gap of %s: %g", t->source.data, pe_strategy_gap(&t->strategy));
}

static void
test_random(void **state)
{
	int			determined = 0;
	int			others = 0;

	(void) state;
	pe_test_seed(7);
	for (int i = 0; i < cases(600); i++)
	{
		trial		t;
		text		source;
		pe_workload asked;
		int32_t		undetermined;
		double		variances;

		if (!begin(&t, i % 3 == 0))
			continue;
		check_measurement(&t);
		variances = check_answers(&t, &t.workload, &undetermined);
		assert_int_equal(undetermined, -1);
		check_certificate(&t, variances);

		random_workload(&source, &t.shape, false);
		parse(source.data, &t.shape, &asked);
		(void) check_answers(&t, &asked, &undetermined);
		others++;
		determined += undetermined < 0;
		pe_workload_free(&asked);
		end(&t);
	}
	print_message("%d of %d other workloads were determined\n", determined, others);
	assert_true(cases(600) < 600 || (determined > 50 && determined < others - 50));
}

/* ---- single cases ---- */

static void
test_counts_once(void **state)
{
	const pe_shape shape = {2, {"a", "b"}, {500, 400}, {500, 0}};
	pe_workload workload;
	pe_workload other;
	pe_strategy strategy;
	pe_measured measured = {&workload, &strategy, NULL, NULL};
	pe_reconstruction r;
	double	   *variance;

	(void) state;
	parse("3 * identity(b) * identity(a)", &shape, &workload);
	assert_true(pe_workload_counts_once(&workload));
	assert_int_equal(optimal(&workload, NULL, GAP, &strategy), PE_STRATEGY_OK);
	assert_true(strategy.rows == 200000 && strategy.triangle == NULL && strategy.basis == NULL);
	assert_true(strategy.objective == 9 * 200000.0 && pe_strategy_gap(&strategy) == 0);

	parse("prefix(a) + identity(b)", &shape, &other);
	assert_true(pe_reconstruction_init(&measured, &other, &r));
	assert_int_equal(pe_reconstruction_undetermined(&r), -1);
	variance = pe_alloc(other.queries, sizeof(double));
	pe_reconstruction_variance(&r, variance);
	assert_true(variance[0] == 400 && variance[499] == 200000 && variance[500] == 500 && variance[899] == 500);
	pe_free(variance);
	pe_reconstruction_free(&r);
	pe_workload_free(&other);
	pe_workload_free(&workload);
	pe_strategy_free(&strategy);
}

/* Summed over b, b is not determined, in any size. */
static void
test_undetermined_large(void **state)
{
	const pe_shape shape = {2, {"a", "b"}, {500, 400}, {500, 0}};
	pe_workload workload;
	pe_workload other;
	pe_strategy strategy;
	pe_measured measured = {&workload, &strategy, NULL, NULL};
	pe_reconstruction r;

	(void) state;
	parse("identity(a)", &shape, &workload);
	assert_int_equal(optimal(&workload, NULL, GAP, &strategy), PE_STRATEGY_OK);
	parse("all_range(a)", &shape, &other);
	assert_true(pe_reconstruction_init(&measured, &other, &r));
	assert_int_equal(pe_reconstruction_undetermined(&r), -1);
	pe_reconstruction_free(&r);
	pe_workload_free(&other);
	parse("identity", &shape, &other);
	assert_false(pe_reconstruction_init(&measured, &other, &r));
	pe_workload_free(&other);
	pe_workload_free(&workload);
	pe_strategy_free(&strategy);
}

static void
test_statuses(void **state)
{
	const pe_shape shape = {2, {"a", "b"}, {4, 3}, {4, 3}};
	bool		none[12] = {false};
	bool		some[12] = {false};
	pe_workload workload;
	pe_strategy strategy;

	(void) state;
	parse("prefix(a)", &shape, &workload);
	assert_int_equal(optimal(&workload, none, GAP, &strategy), PE_STRATEGY_EMPTY);
	pe_strategy_free(&strategy);
	some[11] = true;			/* the last cell of a: only the last prefix counts it */
	assert_int_equal(optimal(&workload, some, GAP, &strategy), PE_STRATEGY_OK);
	assert_true(strategy.columns == 1 && strategy.rows == 1 && strategy.triangle == NULL);
	pe_strategy_free(&strategy);
	pe_workload_free(&workload);

	parse("matrix(a; {{0,0,0,0}})", &shape, &workload);
	assert_int_equal(optimal(&workload, NULL, GAP, &strategy), PE_STRATEGY_EMPTY);
	pe_strategy_free(&strategy);
	pe_workload_free(&workload);

	parse("prefix(4097)", NULL, &workload);
	assert_int_equal(optimal(&workload, NULL, GAP, &strategy), PE_STRATEGY_TOO_LARGE);
	pe_strategy_free(&strategy);
	pe_workload_free(&workload);
}

/* A x with counts up to the ends of int64. */
static void
test_extreme_counts(void **state)
{
	pe_workload workload;
	pe_strategy strategy;
	pe_i128    *y;
	int64_t    *x;

	(void) state;
	parse("prefix(64)", NULL, &workload);
	assert_int_equal(optimal(&workload, NULL, 1e-9, &strategy), PE_STRATEGY_OK);
	x = pe_alloc(64, sizeof(*x));
	y = pe_alloc(64, sizeof(*y));
	for (int i = 0; i < 64; i++)
		x[i] = i % 2 == 0 ? INT64_MAX : INT64_MIN;
	pe_strategy_apply(&strategy, x, y);
	for (int32_t i = 0; i < 64; i++)
	{
		pe_i128		sum = 0;
		const int32_t *entry = strategy.triangle;

		for (int32_t j = 0; j < 64; entry += ++j)
			if (i <= j)
				sum += (pe_i128) entry[i] * x[j];
		assert_true(sum == y[i]);
	}
	pe_free(x);
	pe_free(y);
	pe_strategy_free(&strategy);
	pe_workload_free(&workload);
}

/* ---- bytes ---- */

static void
check_same_strategy(const pe_strategy *a, const pe_strategy *b)
{
	assert_true(a->classes == b->classes && a->columns == b->columns && a->rows == b->rows && a->inner == b->inner);
	assert_true(a->objective == b->objective && a->lower_bound == b->lower_bound && a->iterations == b->iterations);
	assert_memory_equal(a->column_of, b->column_of, (size_t) a->classes * sizeof(int32_t));
	assert_true((a->triangle == NULL) == (b->triangle == NULL) && (a->basis == NULL) == (b->basis == NULL));
	assert_true((a->dense == NULL) == (b->dense == NULL) && a->direct == b->direct);
	if (a->triangle != NULL)
		assert_memory_equal(a->triangle, b->triangle, (size_t) a->rows * (a->rows + 1) / 2 * sizeof(int32_t));
	if (a->dense != NULL)
		assert_memory_equal(a->dense, b->dense, (size_t) a->rows * a->inner * sizeof(int32_t));
	if (a->basis != NULL)
		assert_memory_equal(a->basis, b->basis, (size_t) a->inner * a->columns * sizeof(int32_t));
}

/* Whatever is accepted can be measured with. */
static void
read_damaged(const char *bytes, size_t size)
{
	pe_strategy strategy;
	pe_u128		sensitivity_sq;
	char	   *copy = malloc(size > 0 ? size : 1);

	memcpy(copy, bytes, size);
	if (pe_strategy_read(&strategy, copy, size) == PE_STRATEGY_OK)
	{
		if (!strategy.direct && pe_strategy_sensitivity_sq(&strategy, PE_SUBSTITUTE, 1, &sensitivity_sq))
			assert_true(sensitivity_sq > 0);
		pe_strategy_free(&strategy);
	}
	free(copy);
}

static void
check_bytes(const pe_strategy *strategy)
{
	size_t		size = pe_strategy_size(strategy);
	char	   *bytes = pe_alloc(size + 1, 1);
	pe_strategy again;

	pe_strategy_write(strategy, bytes);
	assert_int_equal(pe_strategy_read(&again, bytes, size), PE_STRATEGY_OK);
	check_same_strategy(strategy, &again);
	pe_strategy_free(&again);
	assert_int_equal(pe_strategy_read(&again, bytes, size + 1), PE_STRATEGY_MALFORMED);
	for (size_t shorter = 0; shorter < size; shorter++)
		assert_int_equal(pe_strategy_read(&again, bytes, shorter), PE_STRATEGY_MALFORMED);
	for (int flips = 0; flips < cases(20000); flips++)
	{
		size_t		at = (size_t) between(0, (int) size - 1);
		char		before = bytes[at];

		bytes[at] = (char) between(-128, 127);
		read_damaged(bytes, size);
		bytes[at] = before;
	}
	pe_free(bytes);
}

static void
test_bytes(void **state)
{
	static const char *const sources[] = {"prefix(5)", "identity(3) * total(2) + total(3) * identity(2)", "identity(4)"};

	(void) state;
	pe_test_seed(3);
	for (int i = 0; i < lengthof(sources); i++)
	{
		pe_workload workload;
		pe_strategy strategy;

		parse(sources[i], NULL, &workload);
		assert_int_equal(optimal(&workload, NULL, GAP, &strategy), PE_STRATEGY_OK);
		check_bytes(&strategy);
		pe_strategy_free(&strategy);
		pe_workload_free(&workload);
	}
}

/* ---- dense strategies ---- */

static int32_t column_of[4] = {0, PE_RULED_OUT, 2, 1};
static int32_t tree[15] = {1, 1, 1, 0, 0, 1, 1, 0, 1, 0, 1, 0, 0, 0, 1};
static int32_t pairs[6] = {1, 1, 0, 0, 1, 1};

/* A tree over three columns, or three rows over two sums of them. */
static pe_strategy
dense(bool with_basis)
{
	return (pe_strategy) {
		.classes = 4, .column_of = column_of, .columns = 3, .rows = with_basis ? 7 : 5, .inner = with_basis ? 2 : 3,
		.dense = tree, .basis = with_basis ? pairs : NULL, .objective = 1
	};
}

static void
test_bytes_dense(void **state)
{
	pe_strategy strategy;

	(void) state;
	for (int with_basis = 0; with_basis <= 1; with_basis++)
	{
		strategy = dense(with_basis);
		check_bytes(&strategy);
	}
	strategy = (pe_strategy) {
		.classes = 4, .column_of = column_of, .columns = 3, .rows = 100000, .inner = 3, .direct = true, .objective = 1
	};
	check_bytes(&strategy);
}

/* What is written here but does not fit together is refused. */
static void
refuse(const pe_strategy *strategy)
{
	size_t		size = pe_strategy_size(strategy);
	char	   *bytes = pe_alloc(size, 1);
	pe_strategy again;

	pe_strategy_write(strategy, bytes);
	assert_int_equal(pe_strategy_read(&again, bytes, size), PE_STRATEGY_MALFORMED);
	pe_free(bytes);
}

static void
test_refused(void **state)
{
	pe_strategy s;
	int32_t		large[15];
	int32_t    *many = pe_alloc(PE_OPTIMUM_CELLS + 1, sizeof(int32_t));

	(void) state;
	s = dense(false);
	s.rows = 2;					/* fewer than columns */
	refuse(&s);
	s = dense(false);
	s.inner = 2;				/* without a basis all columns are M's */
	refuse(&s);
	s = dense(true);
	s.rows = 1;
	refuse(&s);
	s = dense(true);
	s.columns = 1;				/* fewer than there are rows of the basis */
	refuse(&s);
	s = dense(false);
	for (int i = 0; i < 15; i++)
		large[i] = INT32_MAX;
	s.dense = large;			/* large, but A x fits */
	check_bytes(&s);
	s = dense(true);
	s.dense = large;
	s.basis = large;
	refuse(&s);					/* 2 * 3 * 2^62 in a row */
	s = (pe_strategy) {
		.classes = PE_OPTIMUM_CELLS + 1, .column_of = many, .columns = 1, .rows = 5, .inner = 1, .direct = true, .objective = 1
	};
	refuse(&s);					/* more classes than there is a Gram matrix of */
	s.classes--;
	check_bytes(&s);
	s.inner = 2;
	refuse(&s);
	pe_free(many);
}

/* Entries that a sampler cannot serve, or that A x cannot. */
static void
test_large_entries(void **state)
{
	int32_t		large[15];
	pe_strategy s = dense(true);
	pe_u128		got;

	(void) state;
	for (int i = 0; i < 15; i++)
		large[i] = INT32_MAX;
	s.dense = large;
	assert_true(pe_strategy_sensitivity_sq(&s, PE_ADD_REMOVE, 1, &got));
	assert_true(got == 7 * (2 * (pe_u128) INT32_MAX) * (2 * (pe_u128) INT32_MAX));
	assert_true(pe_strategy_sensitivity_l1(&s, PE_ADD_REMOVE, 1, &got));
	assert_true(got == 7 * 2 * (pe_u128) INT32_MAX);
	assert_false(pe_strategy_sensitivity_sq(&s, PE_ADD_REMOVE, 1 << 16, &got));
	s.basis = large;
	assert_false(pe_strategy_sensitivity_sq(&s, PE_ADD_REMOVE, 1, &got));
	assert_false(pe_strategy_sensitivity_l1(&s, PE_ADD_REMOVE, 1, &got));
}

/* Distances in the L1 norm beyond 64 bits: columns of seven entries near 2^61, of either sign. */
static void
test_large_distances(void **state)
{
	int32_t		large[15];
	const int32_t most = (1 << 30) - 1;
	int32_t		basis[6] = {most, -most, 0, most, -most, 1};
	pe_strategy s = dense(true);
	pe_u128		column;
	pe_u128		got;

	(void) state;
	for (int i = 0; i < 15; i++)
		large[i] = 1 << 30;
	s.dense = large;
	s.basis = basis;
	column = 7 * ((pe_u128) most << 31);
	assert_true(pe_strategy_sensitivity_l1(&s, PE_ADD_REMOVE, 1, &got));
	assert_true(got == column);
	assert_true(pe_strategy_sensitivity_l1(&s, PE_SUBSTITUTE, 1, &got));
	assert_true(got == 2 * column);
}

/* A x with counts up to the ends of int64, against A written out. */
static void
check_sums(const pe_strategy *strategy)
{
	int64_t		x[3] = {INT64_MAX, INT64_MIN, -12345};
	pe_i128		y[7];
	double		a[21];

	pe_strategy_matrix(strategy, a);
	pe_strategy_apply(strategy, x, y);
	for (int32_t i = 0; i < strategy->rows; i++)
	{
		pe_i128		sum = 0;

		for (int32_t j = 0; j < 3; j++)
		{
			int64_t		entry = 0;

			for (int32_t l = 0; l < strategy->inner; l++)
				entry += (int64_t) strategy->dense[l * strategy->rows + i] *
					(strategy->basis != NULL ? strategy->basis[l * 3 + j] : l == j);
			assert_true((double) entry == a[i * 3 + j]);
			sum += (pe_i128) entry * x[j];
		}
		assert_true(sum == y[i]);
	}
}

static void
test_sums_dense(void **state)
{
	int32_t		m[15];
	int32_t		b[6];

	(void) state;
	for (int round = 0; round < cases(2000); round++)
	{
		pe_strategy s = dense(round % 2);

		for (int i = 0; i < 15; i++)
			m[i] = between(-1000000, 1000000);
		for (int i = 0; i < 6; i++)
			b[i] = between(-50, 50);
		s.dense = m;
		s.basis = s.basis != NULL ? b : NULL;
		check_sums(&s);
	}
}

/* With a dense basis a column of A takes long: whoever looks at all of them polls for each. */
static void
test_polls(void **state)
{
	pe_strategy s = dense(true);
	pe_u128		sensitivity;
	double		a[7 * 3];
	uint64_t	before = pe_test_polls();
	uint64_t	norms;

	(void) state;
	assert_true(pe_strategy_sensitivity_sq(&s, PE_ADD_REMOVE, 1, &sensitivity));
	norms = pe_test_polls() - before;
	assert_true(norms >= 3);
	assert_true(pe_strategy_sensitivity_sq(&s, PE_SUBSTITUTE, 1, &sensitivity));
	assert_true(pe_test_polls() - before >= 2 * norms + 3);
	before = pe_test_polls();
	assert_true(pe_strategy_sensitivity_l1(&s, PE_ADD_REMOVE, 1, &sensitivity));
	assert_true(pe_test_polls() - before >= 3);
	before = pe_test_polls();
	pe_strategy_matrix(&s, a);
	assert_true(pe_test_polls() - before >= 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_known_by_name),
		cmocka_unit_test(test_known_large),
		cmocka_unit_test(test_loss),
		cmocka_unit_test(test_finer),
		cmocka_unit_test(test_no_basis),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_counts_once),
		cmocka_unit_test(test_undetermined_large),
		cmocka_unit_test(test_statuses),
		cmocka_unit_test(test_extreme_counts),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_bytes_dense),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_large_entries),
		cmocka_unit_test(test_large_distances),
		cmocka_unit_test(test_sums_dense),
		cmocka_unit_test(test_polls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
