/*
 * test_competitors.c
 *	  Strategies of every method, as integers: their objective against the
 *	  variances that reconstruction tells, against known ratios to the optimum and
 *	  against the bound; that every query is answered, and without a bias.
 *
 * With PG_EPSILON_QUICK set there are fewer and smaller workloads.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "blocks/blocks.h"
#include "blocks/reconstruct.h"
#include "methods/make.h"
#include "numbers.h"
#include "shim.h"
#include "workloads.h"

typedef struct made
{
	pe_workload workload;
	pe_classes	classes;
	pe_strategy strategy;
	pe_strategy_problem problem;
} made;

static void
make(const char *source, pe_method method, pe_norm norm, pe_objective objective, made *m)
{
	pe_text_error error;
	const pe_workload *w = &m->workload;

	if (!pe_workload_parse(source, NULL, &m->workload, &error))
		fail_msg("%s: %s", source, error.message);
	pe_classes_init(&w, 1, &m->classes);
	m->problem = (pe_strategy_problem) {
		.workload = w, .classes = &m->classes, .method = method, .objective = objective, .norm = norm, .gap = 1e-6
	};
	assert_int_equal(pe_strategy_make(&m->problem, &m->strategy), PE_STRATEGY_OK);
}

static void
discard(made *m)
{
	pe_strategy_free(&m->strategy);
	pe_classes_free(&m->classes);
	pe_workload_free(&m->workload);
}

static double
squared_sensitivity(const pe_strategy *strategy, pe_norm norm, pe_neighbours neighbours)
{
	pe_u128		sensitivity;

	if (norm == PE_L2)
	{
		assert_true(pe_strategy_sensitivity_sq(strategy, neighbours, 1, &sensitivity));
		return (double) sensitivity;
	}
	assert_true(pe_strategy_sensitivity_l1(strategy, neighbours, 1, &sensitivity));
	return (double) sensitivity * (double) sensitivity;
}

/* Delta^2 times the weighted sum, or the largest, of all variances. */
static double
objective_again(const made *m)
{
	pe_measured measured = {&m->workload, &m->strategy, NULL, NULL};
	pe_reconstruction r;
	double	   *variance = pe_alloc(m->workload.queries, sizeof(double));
	double		sum = 0;
	double		largest = 0;

	assert_true(pe_reconstruction_init(&measured, &m->workload, &r));
	assert_int_equal(pe_reconstruction_undetermined(&r), -1);
	pe_reconstruction_variance(&r, variance);
	for (int32_t t = 0; t < m->workload.terms; t++)
	{
		const pe_term *term = &m->workload.term[t];
		int32_t		factor_query[PE_MAX_ATTRIBUTES];

		for (int64_t local = 0; local < term->queries; local++)
		{
			double		v = term->weight * term->weight * variance[pe_term_query(term, local, factor_query)];

			sum += v;
			largest = fmax(largest, v);
		}
	}
	pe_reconstruction_free(&r);
	pe_free(variance);
	return squared_sensitivity(&m->strategy, m->problem.norm, m->problem.neighbours) * (m->problem.objective == PE_MAX ? largest : sum);
}

/* Measurements without noise give the exact answers. */
static void
check_unbiased(const made *m)
{
	pe_measured measured = {&m->workload, &m->strategy, NULL, NULL};
	pe_reconstruction r;
	int64_t    *x = pe_alloc(m->strategy.columns, sizeof(int64_t));
	pe_i128    *exact = pe_alloc(m->strategy.rows, sizeof(pe_i128));
	int64_t    *y = pe_alloc(m->strategy.rows, sizeof(int64_t));
	double	   *counts = pe_alloc(m->classes.cells, sizeof(double));
	double	   *truth = pe_alloc(m->workload.queries, sizeof(double));
	double	   *estimate = pe_alloc(m->workload.queries, sizeof(double));
	double	   *ones = pe_alloc(m->classes.cells, sizeof(double));
	double	   *squares = pe_alloc(m->workload.queries, sizeof(double));

	for (int32_t j = 0; j < m->strategy.columns; j++)
		x[j] = between(0, 1000);
	/* all of a column's rows are in the first of its classes */
	for (int32_t c = m->classes.cells - 1; c >= 0; c--)
	{
		int32_t		column = m->strategy.column_of[c];
		bool		first = column >= 0;

		for (int32_t before = 0; before < c && first; before++)
			first = m->strategy.column_of[before] != column;
		if (first)
			counts[c] = (double) x[column];
		ones[c] = 1;
	}
	pe_strategy_apply(&m->strategy, x, exact);
	for (int32_t i = 0; i < m->strategy.rows; i++)
		y[i] = (int64_t) exact[i];
	assert_true(pe_reconstruction_init(&measured, &m->workload, &r));
	pe_reconstruction_estimate(&r, y, estimate);
	pe_workload_apply(&m->workload, &m->classes, counts, truth);
	pe_workload_apply_squares(&m->workload, &m->classes, ones, squares);
	for (int32_t q = 0; q < m->workload.queries; q++)
		assert_true(fabs(estimate[q] - truth[q]) <= 1e-7 * 1000 * sqrt(m->classes.cells * squares[q]) + 1e-9);
	pe_reconstruction_free(&r);
	pe_free(x);
	pe_free(exact);
	pe_free(y);
	pe_free(counts);
	pe_free(truth);
	pe_free(estimate);
	pe_free(ones);
	pe_free(squares);
}

static void
check_bytes(const made *m)
{
	size_t		size;
	char	   *bytes;
	pe_strategy again;
	pe_strategy copy = m->strategy;

	if (copy.lower_bound == 0)
		copy.lower_bound = copy.objective;
	size = pe_strategy_size(&copy);
	bytes = pe_alloc(size, 1);
	pe_strategy_write(&copy, bytes);
	assert_int_equal(pe_strategy_read(&again, bytes, size), PE_STRATEGY_OK);
	pe_strategy_bind(&again, &m->workload);
	assert_true(squared_sensitivity(&again, m->problem.norm, PE_SUBSTITUTE) == squared_sensitivity(&m->strategy, m->problem.norm, PE_SUBSTITUTE));
	pe_strategy_free(&again);
	pe_free(bytes);
}

/* The same workload for other neighbours. */
static void
make_again(made *m, pe_neighbours neighbours)
{
	pe_strategy_free(&m->strategy);
	m->problem.neighbours = neighbours;
	assert_int_equal(pe_strategy_make(&m->problem, &m->strategy), PE_STRATEGY_OK);
}

/* Of two numbers the one for all cases, or that for few, and small ones. */
static int
few(int all, int under_valgrind)
{
	return getenv("PG_EPSILON_QUICK") != NULL ? under_valgrind : all;
}

static const char *const sources[] = {
	"all_range(16)", "prefix(17)", "identity(8)", "total(5) + identity(5)", "3 * prefix(9) + total(9)",
	"identity(4) * total(4) + total(4) * identity(4)", "width_range(30, 7)", "ranges(12; 0-3, 2-9, 2-9, 5-11)",
	"matrix({{1,-2,0,3},{0,0,5,0},{1,1,1,1}})", "total(9)", "prefix(4) * prefix(3)", "identity(1)"
};

static void
test_every_method(void **state)
{
	(void) state;
	for (int s = few(0, 8); s < lengthof(sources); s++)
		for (int method = 0; method < PE_METHOD_DAWA; method++)
			for (int norm = PE_L2; norm <= PE_L1; norm++)
			{
				made		m;
				double		bound;
				double		again;

				if (!pe_method_serves((pe_method) method, (pe_norm) norm))
					continue;
				make(sources[s], (pe_method) method, (pe_norm) norm, PE_SUM, &m);
				again = objective_again(&m);
				if (!(fabs(m.strategy.objective / again - 1) < 1e-6))
					fail_msg("%s, %s, norm %d: objective %.10g, by the variances %.10g", sources[s],
							 pe_method_name((pe_method) method), norm, m.strategy.objective, again);
				assert_int_equal(pe_strategy_bound(&m.problem, &bound), PE_STRATEGY_OK);
				assert_true(m.strategy.objective >= bound * (1 - 1e-9));
				if (method == PE_METHOD_OPTIMAL && norm == PE_L2)
					assert_true(pe_strategy_gap(&m.strategy) <= 2e-5 && m.strategy.lower_bound >= bound * (1 - 2e-3));
				check_unbiased(&m);
				check_bytes(&m);
				discard(&m);
			}
}

/* The error's root relative to that of the optimum. */
static void
check_ratio(const char *source, pe_method method, double optimum, double expected, double tolerance)
{
	made		m;
	double		ratio;

	make(source, method, PE_L2, PE_SUM, &m);
	ratio = sqrt(m.strategy.objective / optimum);
	if (!(fabs(ratio - expected) < tolerance))
		fail_msg("%s, %s: %.5f times the optimum", source, pe_method_name(method), ratio);
	discard(&m);
}

static void
test_known(void **state)
{
	(void) state;
	check_ratio("all_range(64)", PE_METHOD_DIRECT, 11024.38150, 14.1152, 5e-4);
	check_ratio("all_range(64)", PE_METHOD_IDENTITY, 11024.38150, 2.0374, 5e-4);
	check_ratio("all_range(64)", PE_METHOD_WAVELET, 11024.38150, 1.1739, 5e-4);
	check_ratio("prefix(64)", PE_METHOD_DIRECT, 282.2014211, 3.8098, 5e-4);
	check_ratio("prefix(64)", PE_METHOD_WAVELET, 282.2014211, 1.1931, 5e-4);
	check_ratio("identity(64)", PE_METHOD_WAVELET, 64, 1.5279, 5e-4);
	if (few(0, 1))
		return;
	check_ratio("total(64) + identity(64)", PE_METHOD_ADAPTIVE, 78.90381994, 1, 1e-4);
	check_ratio("all_range(64)", PE_METHOD_COA, 11024.38150, 1, 1e-4);
	check_ratio("identity(4) * identity(4) * total(4) + identity(4) * total(4) * identity(4) + total(4) * identity(4) * identity(4)",
				PE_METHOD_DIRECT, 107.4330844, 1.1577, 5e-4);
	check_ratio("identity(4) * identity(4) * total(4) + identity(4) * total(4) * identity(4) + total(4) * identity(4) * identity(4)",
				PE_METHOD_ADAPTIVE, 107.4330844, 1, 1e-4);
}

/* The worst query: certified, by the integers; the mean where all are alike; and what it gains elsewhere. */
static void
test_max(void **state)
{
	static const char *const alike[] = {"identity(7)", "identity(4) * total(4) + total(4) * identity(4)",
	"identity(3) * identity(3) * total(3) + identity(3) * total(3) * identity(3) + total(3) * identity(3) * identity(3)"};
	made		m;
	made		sum;

	(void) state;
	for (int s = 0; s < lengthof(alike); s++)
	{
		make(alike[s], PE_METHOD_OPTIMAL, PE_L2, PE_MAX, &m);
		make(alike[s], PE_METHOD_OPTIMAL, PE_L2, PE_SUM, &sum);
		if (!(fabs(m.strategy.objective * m.workload.queries / sum.strategy.objective - 1) < 2e-5))
			fail_msg("%s: largest variance %.10g, mean of the least sum %.10g", alike[s], m.strategy.objective,
					 sum.strategy.objective / m.workload.queries);
		discard(&m);
		discard(&sum);
	}
	for (int s = few(0, 8); s < lengthof(sources); s++)
	{
		double		of_sum;

		make(sources[s], PE_METHOD_OPTIMAL, PE_L2, PE_MAX, &m);
		make(sources[s], PE_METHOD_OPTIMAL, PE_L2, PE_SUM, &sum);
		sum.problem.objective = PE_MAX;
		of_sum = objective_again(&sum);
		if (!(fabs(m.strategy.objective / objective_again(&m) - 1) < 1e-6) || pe_strategy_gap(&m.strategy) > 2e-5 ||
			m.strategy.objective > of_sum * (1 + 2e-5) || m.strategy.lower_bound > of_sum * (1 + 1e-9))
			fail_msg("%s: largest variance %.10g, by the variances %.10g, bound %.10g, of the least sum %.10g", sources[s],
					 m.strategy.objective, objective_again(&m), m.strategy.lower_bound, of_sum);
		check_unbiased(&m);
		discard(&m);
		discard(&sum);
	}
}

/*
 * Queries without any weight, rows of zeros or cells that are ruled out, are not
 * worth a thought: the rest is solved as well as without them.
 */
static void
test_max_with_zeros(void **state)
{
	static const bool possible[5] = {true, true, false, true, true};
	static const char *const with[] = {"matrix({{1,0,2},{0,0,0},{1,-1,0},{0,1,1}})", "identity(5) + prefix(5)"};
	static const char *const without[] = {"matrix({{1,0,2},{1,-1,0},{0,1,1}})", "identity(4) + prefix(4)"};

	(void) state;
	for (int s = 0; s < lengthof(with); s++)
	{
		made		whole;
		made		rest;

		make(without[s], PE_METHOD_OPTIMAL, PE_L2, PE_MAX, &rest);
		make(with[s], PE_METHOD_OPTIMAL, PE_L2, PE_MAX, &whole);
		if (s == 1)
		{
			pe_strategy_free(&whole.strategy);
			whole.problem.possible = possible;
			assert_int_equal(pe_strategy_make(&whole.problem, &whole.strategy), PE_STRATEGY_OK);
		}
		if (pe_strategy_gap(&whole.strategy) > 2e-5 || !(fabs(whole.strategy.objective / rest.strategy.objective - 1) < 2e-5))
			fail_msg("%s: largest variance %.10g, bound %.10g, but %s: %.10g", with[s], whole.strategy.objective,
					 whole.strategy.lower_bound, without[s], rest.strategy.objective);
		discard(&whole);
		discard(&rest);
	}
}

/* A low-rank strategy for L1 that is all but singular is no reason to refuse the workload. */
static void
test_low_rank_singular(void **state)
{
	static const char *const hard[] = {"matrix(5; {{99,0,-80,0,100}}) + identity(5)",
	"matrix(6; {{0,0,17,-35,-65,0},{-26,100,1,0,99,-56}}) + 0.001 * identity(6)"};
	made		m;

	(void) state;
	for (int s = 0; s < lengthof(hard); s++)
	{
		make(hard[s], PE_METHOD_LOWRANK, PE_L1, PE_SUM, &m);
		if (!(fabs(m.strategy.objective / objective_again(&m) - 1) < 1e-6))
			fail_msg("%s: told %.10g, by the variances %.10g", hard[s], m.strategy.objective, objective_again(&m));
		check_unbiased(&m);
		discard(&m);
	}
}

/* One query that outweighs all others leaves X all but singular: what rounding costs there a ridge saves. */
static void
test_max_of_uneven_weights(void **state)
{
	static const char *const uneven[] = {"matrix(5; {{1,0,0,-1,1}}) + 0.001 * all_range(5)",
		"matrix(4; {{0,1,1,-1},{0,0,0,-1},{0,0,-1,-1},{1,0,0,1}}) + 1000 * total(4)",
	"matrix(5; {{0,1,0,1,0},{0,0,0,1,0},{-1,0,0,-1,-1},{0,-1,1,0,-1}}) + 1000 * total(5)"};

	(void) state;
	for (int s = 0; s < lengthof(uneven); s++)
	{
		made		m;

		make(uneven[s], PE_METHOD_OPTIMAL, PE_L2, PE_MAX, &m);
		if (pe_strategy_gap(&m.strategy) > 1e-4 || !(fabs(m.strategy.objective / objective_again(&m) - 1) < 1e-6))
			fail_msg("%s: largest variance %.10g, by the variances %.10g, bound %.10g", uneven[s], m.strategy.objective,
					 objective_again(&m), m.strategy.lower_bound);
		check_unbiased(&m);
		discard(&m);
	}
}

/*
 * Of one query over two columns X is all but singular, and variances in doubles can
 * cancel.  By the integers of T = (a b; 0 d) they are those of (w_1 / a, (w_2 a - w_1 b) / (a d)).
 */
static void
test_singular(void **state)
{
	static const pe_method methods[] = {PE_METHOD_COA, PE_METHOD_SMOOTHING};
	static const int32_t weights[][2] = {{1, -1}, {-1, 1}, {1, 3}, {62, -62}, {-6450, 9998}};

	(void) state;
	for (int k = 0; k < lengthof(methods); k++)
		for (int w = 0; w < 3 * lengthof(weights); w += few(1, 4))
		{
			const int32_t *q = weights[w / 3];
			double		factor = w % 3 == 0 ? 1 : w % 3 == 1 ? 1000 : 0.001;
			text		source = {.size = 0};
			double		exact;
			made		m;

			add(&source, "%g * matrix({{%d,%d}})", factor, q[0], q[1]);
			make(source.data, methods[k], PE_L2, PE_SUM, &m);
			assert_int_equal(m.strategy.columns, 2);
			exact = squared_sensitivity(&m.strategy, PE_L2, PE_ADD_REMOVE) * factor * factor *
				(pow((double) q[0] / m.strategy.triangle[0], 2) +
				 pow(((double) q[1] * m.strategy.triangle[0] - (double) q[0] * m.strategy.triangle[1]) /
					 ((double) m.strategy.triangle[0] * m.strategy.triangle[2]), 2));
			if (!(fabs(m.strategy.objective / exact - 1) < 1e-6) || !(fabs(objective_again(&m) / exact - 1) < 1e-6))
				fail_msg("%s by %s: told %.10g, by the variances %.10g, exactly %.10g", source.data, pe_method_name(methods[k]),
						 m.strategy.objective, objective_again(&m), exact);
			discard(&m);
		}
}

static void
test_predicate(void **state)
{
	static const bool possible[16] = {true, true, false, false, true, true, true, true, false, true, true, true, true, true, false, true};
	made		m;

	(void) state;
	for (int method = 0; method < PE_METHOD_DAWA; method++)
		for (int norm = PE_L2; norm <= PE_L1; norm++)
		{
			if (!pe_method_serves((pe_method) method, (pe_norm) norm))
				continue;
			make("all_range(16)", (pe_method) method, (pe_norm) norm, PE_SUM, &m);
			pe_strategy_free(&m.strategy);
			m.problem.possible = possible;
			assert_int_equal(pe_strategy_make(&m.problem, &m.strategy), PE_STRATEGY_OK);
			assert_int_equal(m.strategy.columns, 12);
			assert_true(squared_sensitivity(&m.strategy, (pe_norm) norm, PE_ADD_REMOVE) > 0);
			discard(&m);
		}
}

/*
 * Under substitution what is told is of its sensitivity, for every method and norm; no method is below the
 * bound, and method optimal is not worse than the strategy for add_remove.
 */
static void
test_substitute(void **state)
{
	(void) state;
	for (int s = few(0, 8); s < lengthof(sources); s++)
		for (int method = 0; method < PE_METHOD_DAWA; method++)
			for (int kind = 0; kind < 3; kind++)
			{
				made		m;
				double		before;
				double		bound;

				if (!pe_method_serves((pe_method) method, kind == 1 ? PE_L1 : PE_L2) || (kind == 2 && method != PE_METHOD_OPTIMAL))
					continue;
				make(sources[s], (pe_method) method, kind == 1 ? PE_L1 : PE_L2, kind == 2 ? PE_MAX : PE_SUM, &m);
				m.problem.neighbours = PE_SUBSTITUTE;
				before = objective_again(&m);
				make_again(&m, PE_SUBSTITUTE);
				if (!(fabs(m.strategy.objective / objective_again(&m) - 1) < 1e-6) || m.strategy.objective > before * (1 + 1e-6))
					fail_msg("%s, %s, kind %d: objective %.10g, by the variances %.10g, before %.10g", sources[s],
							 pe_method_name((pe_method) method), kind, m.strategy.objective, objective_again(&m), before);
				assert_int_equal(pe_strategy_bound(&m.problem, &bound), PE_STRATEGY_OK);
				if (kind < 2)
					assert_true(m.strategy.objective >= bound * (1 - 1e-9));
				if (method == PE_METHOD_OPTIMAL && kind == 0 && !(pe_strategy_gap(&m.strategy) <= 2e-3))
					fail_msg("%s: gap %g", sources[s], pe_strategy_gap(&m.strategy));
				if (method == PE_METHOD_OPTIMAL)
					assert_true(m.strategy.lower_bound > 0 && pe_strategy_gap(&m.strategy) >= 0);
				check_unbiased(&m);
				check_bytes(&m);
				discard(&m);
			}
}

/* Counts with their total, exactly; with many of them only the counts, and by other methods. */
static void
test_counts_with_total(void **state)
{
	static const struct
	{
		const char *source;
		pe_method	method;
		pe_objective objective;
		int32_t		rows;
		double		told;
		double		bound;
	}			known[] = {
		{"identity(2)", PE_METHOD_OPTIMAL, PE_SUM, 3, 8. / 3, 8. / 3},
		{"2 * identity(3) * total(4)", PE_METHOD_OPTIMAL, PE_SUM, 4, 18, 18},
		{"identity(64)", PE_METHOD_OPTIMAL, PE_SUM, 65, 8192. / 65, 8192. / 65},
		{"identity(64)", PE_METHOD_OPTIMAL, PE_MAX, 65, 128. / 65, 128. / 65},
		{"identity(65)", PE_METHOD_OPTIMAL, PE_SUM, 65, 130, 8450. / 66},
		{"identity(10)", PE_METHOD_IDENTITY, PE_SUM, 10, 20, 200. / 11},
		{"total(7)", PE_METHOD_OPTIMAL, PE_SUM, 1, 1, 1}
	};

	(void) state;
	for (int k = 0; k < lengthof(known); k++)
	{
		made		m;

		make(known[k].source, known[k].method, PE_L2, known[k].objective, &m);
		make_again(&m, PE_SUBSTITUTE);
		assert_int_equal(m.strategy.rows, known[k].rows);
		assert_true(fabs(m.strategy.objective / known[k].told - 1) < 1e-12);
		assert_true(fabs(m.strategy.lower_bound / known[k].bound - 1) < 1e-12);
		assert_true(fabs(objective_again(&m) / known[k].told - 1) < 1e-9);
		/* a matrix of its own has to be kept */
		assert_true(pe_strategy_is_workload(&m.problem) == (m.strategy.dense == NULL));
		check_unbiased(&m);
		discard(&m);
	}
}

/* What a strategy takes to be made is told before. */
static void
test_memory(void **state)
{
	static const char *const large[] = {
		"all_range(40)", "width_range(50, 12)", "identity(3) * identity(3) * total(5) + total(3) * identity(3) * identity(5)",
		"5 * prefix(12) * total(3) + identity(12) * identity(3)", "matrix({{1,0,1},{0,1,1}}) * all_range(5)"
	};

	(void) state;
	for (int s = few(0, lengthof(large) - 1); s < lengthof(large); s++)
		for (int method = 0; method < PE_METHOD_DAWA; method++)
			for (int kind = 0; kind < 4; kind++)
			{
				made		m;
				size_t		most;

				if (!pe_method_serves((pe_method) method, kind == 1 ? PE_L1 : PE_L2) ||
					(kind == 2 && method != PE_METHOD_OPTIMAL))
					continue;
				make(large[s], (pe_method) method, kind == 1 ? PE_L1 : PE_L2, kind == 2 ? PE_MAX : PE_SUM, &m);
				pe_strategy_free(&m.strategy);
				m.problem.neighbours = kind == 3 ? PE_SUBSTITUTE : PE_ADD_REMOVE;
				most = pe_strategy_make_memory(&m.problem) + 4096;
				(void) pe_test_memory();
				assert_int_equal(pe_strategy_make(&m.problem, &m.strategy), PE_STRATEGY_OK);
				if (pe_test_memory() + pe_strategy_size(&m.strategy) > most)
					fail_msg("%s, %s, kind %d: more memory than was told", large[s], pe_method_name((pe_method) method), kind);
				discard(&m);
			}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_method),
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_max),
		cmocka_unit_test(test_max_with_zeros),
		cmocka_unit_test(test_max_of_uneven_weights),
		cmocka_unit_test(test_low_rank_singular),
		cmocka_unit_test(test_singular),
		cmocka_unit_test(test_predicate),
		cmocka_unit_test(test_substitute),
		cmocka_unit_test(test_counts_with_total),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
