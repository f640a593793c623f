/*
 * test_blocks_kronecker.c
 *	  Products of strategies: what an independent program computed, certificates, columns, limits.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "shim.h"
#include "union.h"

static void
make(made *m)
{
	assert_true(pe_blocks_kronecker(&m->problem, &m->blocks, &m->lower_bound));
	assert_int_equal(m->blocks.kind, PE_BLOCKS_KRONECKER);
	assert_int_equal(m->blocks.blocks, 1);
	assert_true(m->blocks.share[0] == UINT64_C(1) << PE_SHARE_BITS && pe_blocks_shares_hold(&m->blocks));
}

/* The objective from the integers: for each axis D^2 (PE_L1), or D, times the sum or the largest of w'(A'A)^-1 w. */
static double
objective(const made *m)
{
	const pe_term *term = &m->workload.term[0];
	double		product = term->weight * term->weight;

	for (int k = 0; k < m->blocks.axes; k++)
	{
		const pe_axis *axis = &m->blocks.axis[k];
		const pe_factor *factor = pe_term_on(term, axis->attribute[0]);
		double		largest;
		double	   *x = inverse_of(axis, m->blocks.norm, &largest);
		double		sum = 0;
		double		most = 0;

		for (int32_t q = 0; q < factor->queries; q++)
		{
			double		variance = variance_of(m, factor, q, x);

			sum += variance;
			most = fmax(most, variance);
		}
		product *= (m->problem.objective == PE_MAX ? most : sum) * largest * (m->blocks.norm == PE_L1 ? largest : 1);
		pe_free(x);
	}
	return product;
}

static void
test_known(void **state)
{
	static const struct
	{
		int			attributes;
		int			cells;
		const char *workload;
		double		optimum;
		double		loss;		/* that integers may cost */
	}			known[] = {
		{2, 16, "prefix(a0)*prefix(a1)", 2085.324813, 3e-5},
		{2, 128, "all_range(a0)*all_range(a1)", 3109985362, 1e-6},
		{3, 64, "all_range(a0)*all_range(a1)*prefix(a2)", 11024.3815 * 11024.3815 * 45.66535682, 3e-5},
	};

	for (int k = 0; k < lengthof(known); k++)
	{
		int			cells[3] = {known[k].cells, known[k].cells, 16};
		double		value;
		made		m;

		parse(&m, known[k].attributes, cells, known[k].workload);
		m.problem.gap = 1e-9;
		make(&m);
		value = objective(&m);
		if (!close_to(value, known[k].optimum, known[k].loss) || value < m.lower_bound || !close_to(m.lower_bound, known[k].optimum, 1e-8))
			fail_msg("%s: %.12g, at least %.12g, known %.12g", known[k].workload, value, m.lower_bound, known[k].optimum);
		discard(&m);
	}
}

/*
 * HDMM tells a root mean square of 64.6736 for the ranges of five attributes of 64 cells, the fifth power of one's.  They
 * are more queries than a workload may have: of two attributes.
 */
static void
test_hdmm(void **state)
{
	const double queries = 64 * 65 / 2;
	const int	cells[2] = {64, 64};
	made		m;

	(void) state;
	parse(&m, 2, cells, "all_range(a0)*all_range(a1)");
	m.problem.gap = 1e-9;
	make(&m);
	if (!close_to(pow(objective(&m) / (queries * queries), 1.25), 64.6736, 2e-5))
		fail_msg("%g", pow(objective(&m) / (queries * queries), 1.25));
	discard(&m);
}

/* Both objectives and both norms against the factors made one by one. */
static void
test_factors(void **state)
{
	static const char *const workload = "2 * prefix(a0)*identity(a1)*all_range(a3)";
	static const char *const factors[] = {"prefix(a0)", "identity(a1)", "all_range(a3)"};
	int			cells[] = {7, 5, 3, 9};

	for (int c = 0; c < 3; c++)
	{
		double		product = 4;
		double		bound = 4;
		made		m;

		parse(&m, 4, cells, workload);
		m.problem.norm = c == 2 ? PE_L1 : PE_L2;
		m.problem.objective = c == 1 ? PE_MAX : PE_SUM;
		make(&m);
		assert_int_equal(m.blocks.axes, 3);
		assert_int_equal(m.blocks.columns[2], 0);
		for (int f = 0; f < 3; f++)
		{
			made		one;

			parse(&one, 4, cells, factors[f]);
			one.problem.norm = m.problem.norm;
			one.problem.objective = m.problem.objective;
			make(&one);
			product *= objective(&one);
			bound *= one.lower_bound;
			discard(&one);
		}
		assert_true(close_to(objective(&m), product, 1e-4));
		assert_true(c == 2 ? m.lower_bound == 0 : close_to(m.lower_bound, bound, 2e-6) && m.lower_bound <= objective(&m));
		assert_true(c == 2 || product < bound * (1 + 1e-4));
		discard(&m);
	}
}

/* Unions that are products, with the optima that one matrix for all cells has, and unions that are none. */
static void
test_unions(void **state)
{
	static const struct
	{
		int			cells[3];
		const char *workload;
		double		optimum;	/* 0: it is no product */
	}			known[] = {
		{{8, 8, 8}, "(total(a0)+prefix(a0))*(total(a1)+prefix(a1))*(total(a2)+prefix(a2))", 8463.0566},
		{{24, 20, 1}, "total + all_range(a0) + prefix(a1) + all_range(a0)*prefix(a1)", 70790.853},
		{{24, 20, 1}, "3*total + 6*all_range(a0) + 1.5*prefix(a1) + 3*all_range(a0)*prefix(a1)", -1},
		{{24, 20, 1}, "total + all_range(a0) + prefix(a1) + 2*all_range(a0)*prefix(a1)", 0},
		{{24, 20, 1}, "total + all_range(a0) + all_range(a0) + all_range(a0)*prefix(a1)", 0},
		{{24, 20, 1}, "total + all_range(a0) + prefix(a1)", 0},
	};

	for (int k = 0; k < lengthof(known); k++)
	{
		pe_blocks_errors errors;
		pe_strategy dense;
		made		m;

		parse(&m, 3, known[k].cells, known[k].workload);
		if (known[k].optimum == 0)
		{
			assert_false(pe_blocks_kronecker(&m.problem, &m.blocks, &m.lower_bound));
			discard(&m);
			continue;
		}
		make(&m);
		assert_int_equal(pe_blocks_undetermined(&m.blocks, &m.workload), -1);
		pe_blocks_error(&m.blocks, &m.workload, &errors);
		assert_int_equal(pe_strategy_optimal(&m.workload, &m.classes, NULL, 1e-6, &dense), PE_STRATEGY_OK);
		assert_true(known[k].optimum < 0 || close_to(errors.weighted_sum, known[k].optimum, 5e-5));
		assert_true(close_to(errors.weighted_sum, dense.objective, 5e-5) && close_to(m.lower_bound, dense.lower_bound, 1e-5));
		pe_strategy_free(&dense);
		discard(&m);
	}
}

/* Cells without a query, cells that are ruled out, and cells that are not told apart. */
static void
test_columns(void **state)
{
	static const int32_t known[] = {PE_RULED_OUT, 0, 0, 1, 2, PE_NOT_ASKED};
	static const bool left[] = {false, true, true, true, true, true};
	const bool *const possible_of[] = {left, NULL};
	int			cells[] = {6, 4};
	made		m;

	parse(&m, 2, cells, "ranges(a0; 0-2, 1-3, 0-4)*identity(a1)");
	m.problem.possible_of = possible_of;
	make(&m);
	assert_memory_equal(m.blocks.column_of[0], known, sizeof(known));
	assert_int_equal(m.blocks.axis[0].cells, 3);
	assert_int_equal(m.blocks.axis[1].cells, 4);
	assert_true(m.blocks.first[1] == 12);
	assert_true(close_to(objective(&m), m.lower_bound, 1e-5));
	discard(&m);
}

/* The bits of many factors keep D_b below 2^96. */
static void
test_bits(void **state)
{
	int			cells[] = {4, 4, 4, 4, 4, 4, 4, 4};
	made		m;

	parse(&m, 8, cells, "prefix(a0)*prefix(a1)*prefix(a2)*prefix(a3)*prefix(a4)*prefix(a5)*prefix(a6)*prefix(a7)");
	make(&m);
	assert_true(pe_blocks_largest(&m.blocks, 0) < (pe_u128) 1 << 93);
	assert_true(objective(&m) < 1.2 * m.lower_bound);
	discard(&m);
}

/* Nor is what units of many rows are drawn with beyond 2^96. */
static void
test_units(void **state)
{
	static const int32_t rows[] = {1, 2, 3, 4, 20, 1000, 65535};
	int			cells[] = {8, 8, 8};

	for (int i = 0; i < 2 * lengthof(rows); i++)
	{
		pe_neighbours neighbours = i % 2 == 0 ? PE_ADD_REMOVE : PE_SUBSTITUTE;
		pe_u128		sensitivity;
		int			lattice;
		made		m;

		parse(&m, 3, cells, "prefix(a0)*prefix(a1)*prefix(a2)");
		m.problem.spare = pe_blocks_spare(neighbours, rows[i / 2]);
		assert_true(i > 0 || m.problem.spare == 0);
		make(&m);
		assert_true(pe_blocks_calibrate(&m.blocks, neighbours, rows[i / 2], &sensitivity, &lattice));
		assert_true(objective(&m) < 1.02 * m.lower_bound);
		discard(&m);
	}
}

static void
test_refused(void **state)
{
	static const char *const refused[] = {"prefix(a0)*prefix(a1)+prefix(a0)", "prefix(a0)*prefix(a1)", "prefix(a2)*prefix(a0)"};
	int			cells[] = {4096, 4097, 5000};
	pe_blocks	none = {0};

	for (int k = 0; k < lengthof(refused); k++)
	{
		made		m;

		parse(&m, 3, cells, refused[k]);
		assert_false(pe_blocks_kronecker(&m.problem, &m.blocks, &m.lower_bound));
		if (k > 0)
			assert_memory_equal(&m.blocks, &none, sizeof(none));
		pe_classes_free(&m.classes);
		pe_workload_free(&m.workload);
	}
}

/* Where one matrix for all cells would do, a product by either objective is a product all the same: it takes minutes less. */
static void
test_preferred(void **state)
{
	static const char *const workloads[] = {"all_range(a0)*prefix(a1)", "all_range(a0)*prefix(a1)+prefix(a0)", "prefix(a0)"};
	int			cells[] = {600, 6};

	for (int k = 0; k < lengthof(workloads); k++)
	{
		for (int objective = PE_SUM; objective <= PE_MAX; objective++)
		{
			made		m;

			parse(&m, 2, cells, workloads[k]);
			m.problem.objective = objective;
			assert_int_equal(pe_blocks_serve(&m.problem), k == 0);
			pe_classes_free(&m.classes);
			pe_workload_free(&m.workload);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_hdmm),
		cmocka_unit_test(test_factors),
		cmocka_unit_test(test_unions),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_bits),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_preferred),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
