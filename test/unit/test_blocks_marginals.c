/*
 * test_blocks_marginals.c
 *	  Blocks of unions of marginals: what independent programs computed, variances by the
 *	  formula of blocks.h from the shares alone, and sums over subsets against brute force.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "blocks/marginals.h"
#include "made_marginals.h"
#include "reference_marginals.h"

#define MOST 65536

/* ---- blocks of a workload ---- */

static uint32_t
axes_of_term(const made *m, int32_t t)
{
	uint32_t	axes = 0;

	for (int a = 0; a < m->blocks.axes; a++)
		if (pe_term_on(&m->workload.term[t], m->blocks.axis[a].attribute[0]) != NULL)
			axes |= UINT32_C(1) << a;
	return axes;
}

/* The relative variance of block b's noise, from its share: D is the squared norm of a column of (x)(n I - 11'), or its norm. */
static double
noise_of(const made *m, int32_t b)
{
	double		largest = 1;

	for (int a = 0; a < m->blocks.axes; a++)
	{
		double		n = m->blocks.axis[a].cells;

		if (m->axes[b] >> a & 1)
			largest *= m->blocks.norm == PE_L2 ? (n - 1) * (n - 1) + (n - 1) : 2 * (n - 1);
	}
	largest *= 0x1p40 / (double) m->blocks.share[b];
	return m->blocks.norm == PE_L2 ? largest : largest * largest;
}

/* A cell's weights less their mean are ((n - 1)/n, -1/n, ...), and (n I - 11')^+ divides them by n; their mean is 1/n. */
static double
variance_of_term(const made *m, const double *noise, int32_t t)
{
	uint32_t	axes = axes_of_term(m, t);
	double		variance = 0;

	for (int32_t b = 0; b < m->blocks.blocks; b++)
	{
		double		part = noise[b];

		if (m->axes[b] & ~axes)
			continue;
		for (int a = 0; a < m->blocks.axes; a++)
		{
			double		n = m->blocks.axis[a].cells;

			if (m->axes[b] >> a & 1)
				part *= ((n - 1) * (n - 1) + (n - 1)) / (n * n) / (n * n);
			else if (axes >> a & 1)
				part /= n * n;
		}
		variance += part;
	}
	return variance;
}

/* The variance of each term's cells, or NULL; the weighted sum of all; the weighted largest. */
static void
measure(const made *m, double *variance, double *sum, double *largest)
{
	double	   *noise = pe_alloc((size_t) m->blocks.blocks, sizeof(double));

	*sum = *largest = 0;
	for (int32_t b = 0; b < m->blocks.blocks; b++)
		noise[b] = noise_of(m, b);
	for (int32_t t = 0; t < m->workload.terms; t++)
	{
		double		weight = m->workload.term[t].weight;
		double		one = variance_of_term(m, noise, t);

		if (variance != NULL)
			variance[t] = one;
		*sum += weight * weight * one * (double) m->workload.term[t].queries;
		*largest = fmax(*largest, weight * weight * one);
	}
	pe_free(noise);
}

/* What the errors of all kinds of blocks are computed by says the same. */
static void
check_errors(const made *m, double sum, double largest)
{
	pe_blocks_errors errors;

	assert_int_equal(pe_blocks_undetermined(&m->blocks, &m->workload), -1);
	pe_blocks_error(&m->blocks, &m->workload, &errors);
	assert_true(close_to(errors.weighted_sum, sum, 1e-9) && close_to(errors.weighted_largest, largest, 1e-9));
}

static uint64_t
sum_of_shares(const pe_blocks *blocks)
{
	uint64_t	sum = 0;

	for (int32_t b = 0; b < blocks->blocks; b++)
	{
		assert_true(blocks->share[b] > 0);
		sum += blocks->share[b];
	}
	return sum;
}

/* The optimum, proved by the bound, which no rounding passes. */
static void
check_optimum(const made *m, double reached, double optimum, double tolerance)
{
	if (!close_to(reached, optimum, tolerance) || !close_to(m->lower_bound, optimum, tolerance) || m->lower_bound > reached)
		fail_msg("%s: %.12g >= %.12g, not %.12g", m->workload.canonical, reached, m->lower_bound, optimum);
	assert_true(sum_of_shares(&m->blocks) == UINT64_C(1) << PE_SHARE_BITS);
}

static void
check_union(const pe_union_reference *reference)
{
	made		m;
	text		workload = {.size = 0};
	double		variance[9];
	double		sum;
	double		largest;
	int			attributes = 0;

	while (reference->cells[attributes] > 0)
		attributes++;
	for (int t = 0; reference->term[t].weight > 0; t++)
	{
		add(&workload, "%s%d * total", t > 0 ? " + " : "", reference->term[t].weight);
		for (int a = 0; a < attributes; a++)
			if (reference->term[t].attributes >> a & 1)
				add(&workload, " * identity(a%d)", a);
	}
	for (char *at; attributes > 0 && (at = strstr(workload.data, "total * ")) != NULL;)
		memmove(at, at + 8, strlen(at + 8) + 1);
	parse(&m, attributes, reference->cells, workload.data);
	make(&m);
	assert_int_equal(m.blocks.kind, PE_BLOCKS_MARGINALS);
	measure(&m, variance, &sum, &largest);
	check_optimum(&m, sum, reference->optimum, 1e-8);
	for (int32_t t = 0; t < m.workload.terms; t++)
		if (!close_to(variance[t], reference->term[t].variance, 1e-8))
			fail_msg("%s: term %d has %.12g, not %.12g", workload.data, t, variance[t], reference->term[t].variance);
	discard(&m);
}

static void
test_unions(void **state)
{
	for (int i = 0; i < lengthof(unions); i++)
		check_union(&unions[i]);
}

static void
check_marginals(int attributes, const int *cells, const char *workload, pe_objective objective, double optimum, double tolerance)
{
	made		m;
	double		sum;
	double		largest;

	parse(&m, attributes, cells, workload);
	m.problem.objective = objective;
	make(&m);
	measure(&m, NULL, &sum, &largest);
	print_message("# %s of %d attributes: %d blocks, %.1f ms, %zu kB\n", workload, attributes, m.blocks.blocks,
				  1e3 * m.seconds, m.memory / 1024);
	check_optimum(&m, objective == PE_SUM ? sum : largest, optimum, tolerance);
	discard(&m);
}

static void
test_many_attributes(void **state)
{
	check_marginals(12, NULL, "marginals(2)", PE_SUM, 326305.9425, 1e-9);
	check_marginals(20, NULL, "marginals(2)", PE_SUM, 2620638.367, 1e-9);
	check_marginals(20, NULL, "marginals(3)", PE_SUM, 807736840.1, 1e-9);
	check_marginals(10, NULL, "total + marginals(1) + marginals(2) + marginals(3)", PE_MAX, 105.030804, 1e-8);
	check_marginals(20, NULL, "marginals(3)", PE_MAX, 708.541088, 1e-8);
	if (!quick())
		check_marginals(20, NULL, "total + marginals(1) + marginals(2) + marginals(3)", PE_MAX, 768.941398, 1e-8);
}

/* ---- shares of many tables ---- */

typedef struct tables
{
	int			attributes;
	int32_t		cells[PE_SET_ATTRIBUTES];
	int			terms;
	pe_attribute_set *term;
	double	   *weight;
} tables;

/* All sets from attribute `from` on that may be added to one with so many members and cells. */
static void
add_tables(tables *all, const pe_tables_reference *reference, pe_attribute_set set, int from, int size, double cells)
{
	if (reference->hi == 0 ? cells > reference->lo : size > reference->hi)
		return;
	if (reference->hi == 0 || size >= reference->lo)
	{
		all->weight[all->terms] = 1;
		all->term[all->terms++] = set;
	}
	for (int a = from; a < all->attributes; a++)
		add_tables(all, reference, set | pe_set_of(a), a + 1, size + 1, cells * all->cells[a]);
}

static void
list_tables(tables *all, const pe_tables_reference *reference)
{
	*all = (tables) {.attributes = reference->attributes, .term = pe_alloc(MOST, sizeof(pe_attribute_set)),
		.weight = pe_alloc(MOST, sizeof(double))};
	for (int a = 0; a < all->attributes; a++)
		all->cells[a] = reference->cells != NULL ? reference->cells[a] : 10;
	add_tables(all, reference, 0, 0, 0, 1);
}

static double
cells_of(const tables *all, pe_attribute_set set)
{
	double		cells = 1;

	for (int a = 0; a < all->attributes; a++)
		cells *= pe_set_has(set, a) ? all->cells[a] : 1;
	return cells;
}

/* The variances that shares give, by the formula of marginals.h: the weighted sum, the largest. */
static void
measure_shares(const tables *all, const pe_closure *closure, const double *share, double *sum, double *largest)
{
	double		inside[PE_SET_ATTRIBUTES];
	double		outside[PE_SET_ATTRIBUTES];
	double	   *variance = pe_alloc((size_t) closure->sets, sizeof(double));

	for (int a = 0; a < all->attributes; a++)
	{
		double		n = all->cells[a];

		inside[a] = (n - 1) / n * (n - 1) / n;	/* C times d */
		outside[a] = 1 / (n * n);
	}
	for (int32_t k = 0; k < closure->sets; k++)
		variance[k] = 1 / share[k];
	pe_closure_sum_below(closure, inside, outside, variance);
	*sum = *largest = 0;
	for (int t = 0; t < all->terms; t++)
	{
		double		one = variance[pe_closure_find(closure, all->term[t])];

		*sum += cells_of(all, all->term[t]) * one;
		*largest = fmax(*largest, one);
	}
	pe_free(variance);
}

/* Returns the seconds that it took. */
static double
check_tables(const pe_tables_reference *reference, pe_objective objective, double tolerance)
{
	tables		all;
	pe_closure	closure;
	double	   *share;
	double		lower_bound;
	double		reached[2];		/* PE_SUM, PE_MAX */
	clock_t		start = clock();
	double		seconds;

	list_tables(&all, reference);
	assert_true(pe_closure_init(all.term, all.terms, MOST, &closure));
	share = pe_alloc((size_t) closure.sets, sizeof(double));
	pe_marginals_shares(&(pe_marginals) {.attributes = all.attributes, .cells = all.cells, .terms = all.terms, .term = all.term,
						.weight = all.weight, .objective = objective}, &closure, share, &lower_bound);
	seconds = (double) (clock() - start) / CLOCKS_PER_SEC;
	measure_shares(&all, &closure, share, &reached[0], &reached[1]);
	print_message("# %d tables of %d attributes, %d to %d: %.10g, gap %.1e, %.1f ms\n", all.terms, all.attributes, reference->lo,
				  reference->hi, reached[objective], reached[objective] / lower_bound - 1, 1e3 * seconds);
	assert_true(close_to(reached[objective], reference->value, tolerance));
	assert_true(close_to(lower_bound, reference->value, tolerance) && lower_bound <= reached[objective]);
	pe_free(share);
	pe_closure_free(&closure);
	pe_free(all.term);
	pe_free(all.weight);
	return seconds;
}

static void
test_least_sums(void **state)
{
	for (int i = 0; i < lengthof(least_sums); i++)
		if (!quick() || least_sums[i].attributes < 30)
		{
			double		seconds = check_tables(&least_sums[i], PE_SUM, 1e-9);

			/* all tables of two of 100 attributes */
			assert_true(quick() || least_sums[i].attributes != 100 || seconds < 1);
		}
}

static void
test_least_largest(void **state)
{
	for (int i = 0; i < lengthof(least_largest); i++)
		if (!quick() || least_largest[i].value < 200)
			check_tables(&least_largest[i], PE_MAX, 1e-8);
}

/* More tables than the interior point method takes. */
static void
test_coarse(void **state)
{
	check_tables(&(pe_tables_reference) {26, NULL, 0, 3, 1665.0}, PE_MAX, 1.1e-3);
}

/* ---- other problems ---- */

static void
random_union(made *m)
{
	int			attributes = between(1, 6);
	int			cells[6];
	text		workload = {.size = 0};

	for (int a = 0; a < attributes; a++)
		cells[a] = between(1, 7);
	for (int t = between(1, 6); t > 0; t--)
	{
		add(&workload, "%s%d.%d", workload.size > 0 ? " + " : "", between(1, 9), between(0, 9));
		for (int a = 0; a < attributes; a++)
			add(&workload, " * %s(a%d)", between(0, 1) ? "identity" : "total", a);
	}
	parse(m, attributes, cells, workload.data);
}

/* Of the objective, or of the largest variance: with 1 % of one block's share given to another. */
static double
move_shares(made *m, int32_t from, int32_t to)
{
	uint64_t	moved = m->blocks.share[from] / 100;
	double		value[2];

	m->blocks.share[from] -= moved;
	m->blocks.share[to] += moved;
	measure(m, NULL, &value[0], &value[1]);
	m->blocks.share[from] += moved;
	m->blocks.share[to] -= moved;
	return value[m->problem.objective];
}

/* The objective is convex in the shares: what no small change makes less is least. */
static void
test_laplace(void **state)
{
	for (int i = 0; i < cases(300); i++)
	{
		made		m;
		double		sum;
		double		largest;

		random_union(&m);
		m.problem.norm = PE_L1;
		make(&m);
		measure(&m, NULL, &sum, &largest);
		check_errors(&m, sum, largest);
		assert_true(m.lower_bound == 0);
		assert_true(sum_of_shares(&m.blocks) == UINT64_C(1) << PE_SHARE_BITS);
		for (int32_t b = 0; b < m.blocks.blocks; b++)
			assert_true(move_shares(&m, b, (b + 1) % m.blocks.blocks) >= sum * (1 - 1e-9));
		discard(&m);
	}
}

/* Either the bound proves it, or, for PE_L1, no weighted mean of the variances that is taken is less. */
static void
test_largest(void **state)
{
	for (int i = 0; i < cases(300); i++)
	{
		made		m;
		double		sum;
		double		largest;
		double		least;

		random_union(&m);
		m.problem.norm = i % 3 == 0 ? PE_L1 : PE_L2;
		make(&m);
		measure(&m, NULL, &sum, &largest);
		pe_blocks_free(&m.blocks);
		pe_free(m.axes);
		m.problem.objective = PE_MAX;
		make(&m);
		measure(&m, NULL, &sum, &least);
		check_errors(&m, sum, least);
		assert_true(least <= largest * (1 + 2e-3));
		if (m.problem.norm == PE_L2 && !(least <= m.lower_bound * (1 + 1e-6) && m.lower_bound <= least))
			fail_msg("%s: %.12g, at least %.12g", m.workload.canonical, least, m.lower_bound);
		for (int32_t b = 0; b < m.blocks.blocks; b++)
			assert_true(move_shares(&m, b, (b + 1) % m.blocks.blocks) >= least * (1 - 1e-3));
		discard(&m);
	}
}

/* A predicate that leaves 4 of 6 cells, and 1 of 3: as if there were so many; what nobody asks for has no column. */
static void
test_columns(void **state)
{
	static const bool four[] = {true, false, true, true, false, true};
	static const bool one[] = {false, true, false};
	const bool *possible_of[] = {four, one, NULL, NULL};
	const char *text = "identity(a0) * identity(a1) + 2 * identity(a1) * identity(a3) + identity(a0) * identity(a3)";
	made		m;
	made		same;

	parse(&m, 4, (int[]) {6, 3, 9, 5}, text);
	parse(&same, 4, (int[]) {4, 1, 9, 5}, text);
	m.problem.possible_of = possible_of;
	make(&m);
	make(&same);
	assert_int_equal(m.blocks.axes, 2);
	assert_int_equal(m.blocks.blocks, 4);
	assert_int_equal(m.blocks.axis[1].attribute[0], 3);
	assert_int_equal(m.blocks.axis[0].cells, 4);
	assert_int_equal(m.blocks.columns[1], 1);
	assert_int_equal(m.blocks.columns[2], 0);
	assert_int_equal(m.blocks.column_of[0][1], PE_RULED_OUT);
	assert_int_equal(m.blocks.column_of[0][5], 3);
	assert_memory_equal(m.blocks.share, same.blocks.share, 4 * sizeof(uint64_t));
	assert_true(m.lower_bound == same.lower_bound);
	for (int a = 0; a < 2; a++)
	{
		const pe_axis *axis = &m.blocks.axis[a];

		assert_true(axis->attributes == 1 && axis->matrices == 1 && axis->matrix[0].centred && axis->denominator == axis->cells);
		for (int32_t c = 0; c < axis->cells; c++)
			assert_int_equal(axis->centre[c], 1);
	}
	discard(&m);
	discard(&same);
}

static void
check_refused(int attributes, const int *cells, const char *workload)
{
	made		m;

	parse(&m, attributes, cells, workload);
	assert_false(pe_blocks_marginals(&m.problem, &m.blocks, &m.lower_bound));
	pe_classes_free(&m.classes);
	pe_workload_free(&m.workload);
}

#define TWO_EACH {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2}

static void
test_refused(void **state)
{
	check_refused(2, (int[]) {3, 4}, "identity(a0) + prefix(a1)");
	check_refused(2, (int[]) {3, 4}, "identity(a0) + matrix(a1; {{1,1,1,1}})");
	check_refused(1, (int[]) {3}, "identity(a0) + matrix({{1,1,1}})");
	/* 2^17 subsets */
	check_refused(17, (int[17]) TWO_EACH, "identity");
	/* one more than 65536 */
	check_refused(17, (int[17]) TWO_EACH,
				  "identity(a0) * identity(a1) * identity(a2) * identity(a3) * identity(a4) * identity(a5) * identity(a6) * "
				  "identity(a7) * identity(a8) * identity(a9) * identity(a10) * identity(a11) * identity(a12) * identity(a13) * "
				  "identity(a14) * identity(a15) + identity(a16)");
	check_marginals(16, (int[17]) TWO_EACH, "marginals(16)", PE_SUM, 65536, 1e-9);
}

/* ---- parts ---- */

static bool
is_below_one(const pe_attribute_set *set, int sets, pe_attribute_set below)
{
	for (int i = 0; i < sets; i++)
		if ((set[i] & below) == below)
			return true;
	return false;
}

/* Sums over all pairs of a set and a subset. */
static void
check_sums(const pe_closure *closure, const double *inside, const double *outside)
{
	double	   *given = pe_alloc((size_t) closure->sets, sizeof(double));
	double	   *above = pe_alloc((size_t) closure->sets, sizeof(double));
	double	   *below = pe_alloc((size_t) closure->sets, sizeof(double));
	double	   *expected[2] = {pe_alloc((size_t) closure->sets, sizeof(double)), pe_alloc((size_t) closure->sets, sizeof(double))};

	for (int32_t k = 0; k < closure->sets; k++)
		given[k] = above[k] = below[k] = random_unit();
	pe_closure_sum_above(closure, inside, outside, above);
	pe_closure_sum_below(closure, inside, outside, below);
	for (int32_t r = 0; r < closure->sets; r++)
		for (int32_t a = 0; a < closure->sets; a++)
		{
			double		factor = (closure->set[a] & closure->set[r]) == closure->set[r] ? 1 : 0;

			for (int i = 0; i < PE_SET_ATTRIBUTES; i++)
				if (pe_set_has(closure->set[a], i))
					factor *= pe_set_has(closure->set[r], i) ? inside[i] : outside[i];
			expected[0][r] += factor * given[a];
			expected[1][a] += factor * given[r];
		}
	for (int32_t k = 0; k < closure->sets; k++)
		assert_true(close_to(above[k], expected[0][k], 1e-12) && close_to(below[k], expected[1][k], 1e-12));
	pe_free(given);
	pe_free(above);
	pe_free(below);
	pe_free(expected[0]);
	pe_free(expected[1]);
}

static void
check_closure(int attributes, int spread)
{
	pe_attribute_set set[5] = {0};
	int			sets = between(1, 5);
	pe_closure	closure;
	double		inside[PE_SET_ATTRIBUTES];
	double		outside[PE_SET_ATTRIBUTES];
	int32_t		count = 0;

	for (int i = 0; i < sets; i++)
		for (int a = 0; a < attributes; a++)
			set[i] |= between(0, 1) ? pe_set_of(a * spread) : 0;
	for (int a = 0; a < PE_SET_ATTRIBUTES; a++)
	{
		inside[a] = random_unit();
		outside[a] = random_unit();
	}
	assert_true(pe_closure_init(set, sets, MOST, &closure));
	for (int subset = 0; subset < 1 << attributes; subset++)
	{
		pe_attribute_set below = 0;
		int32_t		found;

		for (int a = 0; a < attributes; a++)
			below |= subset >> a & 1 ? pe_set_of(a * spread) : 0;
		found = pe_closure_find(&closure, below);
		assert_true(is_below_one(set, sets, below) ? found >= 0 && closure.set[found] == below : found == -1);
		count += found >= 0;
	}
	assert_int_equal(closure.sets, count);
	assert_true(closure.set[0] == 0);
	check_sums(&closure, inside, outside);
	pe_closure_free(&closure);
	assert_true(pe_closure_init(set, sets, count, &closure));
	pe_closure_free(&closure);
	assert_true(count == 1 || !pe_closure_init(set, sets, count - 1, &closure));
}

static void
test_closure(void **state)
{
	for (int i = 0; i < cases(200); i++)
		check_closure(between(1, 7), between(1, 21));
}

/* Down to a whole number, but never to 0; the largest takes the rest. */
static void
test_rounding(void **state)
{
	static const double shares[][4] = {{1, 0, 0, 0}, {0.25, 0.25, 0.25, 0.25}, {0.3, 1e-14, 0.7 - 1e-14, 0}, {0x1.8p-40, 0.5, 0.5, 0}};

	for (int i = 0; i < lengthof(shares); i++)
	{
		uint64_t	rounded[4];
		uint64_t	sum = 0;
		double		largest = 0;

		pe_shares_round(shares[i], 4, rounded);
		for (int b = 0; b < 4; b++)
			largest = fmax(largest, shares[i][b]);
		for (int b = 0; b < 4; b++)
		{
			assert_true(rounded[b] >= 1);
			assert_true(rounded[b] == 1 || shares[i][b] == largest || (double) rounded[b] <= shares[i][b] * 0x1p40);
			assert_true((double) rounded[b] >= shares[i][b] * 0x1p40 - 4);
			sum += rounded[b];
		}
		assert_true(sum == UINT64_C(1) << 40);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unions),
		cmocka_unit_test(test_many_attributes),
		cmocka_unit_test(test_least_sums),
		cmocka_unit_test(test_least_largest),
		cmocka_unit_test(test_coarse),
		cmocka_unit_test(test_laplace),
		cmocka_unit_test(test_largest),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_closure),
		cmocka_unit_test(test_rounding),
	};

	pe_test_seed(20261123);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
