/*
 * test_blocks_product.c
 *	  Unions over several ordered attributes: certificates against an independent program's and
 *	  against one matrix for all cells, matrices that kill their centres, cells without a query.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "shim.h"
#include "blocks/residual.h"
#include "union.h"

/* Whether every block can be drawn, also for units of three rows. */
static bool
can_be_drawn(const pe_blocks *blocks)
{
	pe_u128    *sensitivity = pe_alloc((size_t) blocks->blocks, sizeof(*sensitivity));
	int		   *lattice = pe_alloc((size_t) blocks->blocks, sizeof(*lattice));
	bool		can = pe_blocks_calibrate(blocks, PE_ADD_REMOVE, 3, sensitivity, lattice) &&
		pe_blocks_calibrate(blocks, PE_SUBSTITUTE, 1, sensitivity, lattice);

	pe_free(sensitivity);
	pe_free(lattice);
	return can;
}

/* Whether the shares hold, add up to no more than all, and blocks determine everything and are read as they are written. */
static void
check_blocks(const char *name, const made *m)
{
	size_t		size = pe_blocks_size(&m->blocks);
	char	   *bytes = pe_alloc(size, 1);
	pe_blocks  *read;
	uint64_t	sum = 0;

	for (int32_t b = 0; b < m->blocks.blocks; b++)
		sum += m->blocks.share[b];
	assert_true(sum <= UINT64_C(1) << PE_SHARE_BITS && pe_blocks_shares_hold(&m->blocks) && can_be_drawn(&m->blocks));
	if (pe_blocks_undetermined(&m->blocks, &m->workload) >= 0)
		fail_msg("%s: query %d is not determined", name, pe_blocks_undetermined(&m->blocks, &m->workload));
	pe_blocks_write(&m->blocks, bytes);
	read = pe_blocks_read(bytes, size);
	if (read == NULL)
		fail_msg("%s: blocks that cannot be read", name);
	pe_blocks_free(read);
	pe_free(read);
	pe_free(bytes);
}

/* The objective from the integers. */
static double
objective(const made *m)
{
	pe_blocks_errors errors;

	pe_blocks_error(&m->blocks, &m->workload, &errors);
	return errors.weighted_sum;
}

/* All sets of up to `most', and at least `least', attributes, each asked by its own constructor. */
static void
k_way(text *to, int attributes, const char *const *constructor, int least, int most)
{
	to->size = 0;
	for (int set = 0; set < 1 << attributes; set++)
	{
		bool		any = false;

		if (__builtin_popcount((unsigned) set) < least || __builtin_popcount((unsigned) set) > most)
			continue;
		add(to, "%s%s", to->size > 0 ? " + " : "", set == 0 ? "total" : "");
		for (int a = 0; a < attributes; a++)
			if (set >> a & 1)
			{
				add(to, "%s%s(a%d)", any ? "*" : "", constructor[a], a);
				any = true;
			}
	}
}

#define P "prefix"
#define R "all_range"
#define I "identity"
#define TWENTY(x) x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x

static void
test_known(void **state)
{
	static const struct
	{
		int			attributes;
		int			cells[20];
		const char *constructor[20];
		int			least;
		int			most;
		double		upper;
		double		lower;
	}			known[] = {
		{3, {8, 8, 8}, {P, P, P}, 0, 2, 2087.2726, 1573.4598},
		{3, {8, 8, 8}, {P, P, P}, 0, 3, 8554.3474, 6834.7265},
		{3, {8, 8, 8}, {R, R, R}, 0, 2, 42684.528, 38257.397},
		{3, {8, 8, 8}, {R, R, R}, 2, 2, 41323.125, 37143.747},
		{2, {24, 20}, {R, P}, 0, 2, 71873.42, 64645.821},
		{3, {12, 10, 5}, {R, P, I}, 2, 2, 10966.636, 10118.564},
		{5, {10, 10, 10, 10, 10}, {P, P, P, P, P}, 0, 3, 641220.61, 384230.17},
		{5, {10, 10, 10, 10, 10}, {R, R, R, R, R}, 0, 3, 1.2973609e8, 1.052378e8},
		{10, {10, 10, 10, 10, 10, 10, 10, 10, 10, 10}, {P, P, P, P, P, P, P, P, P, P}, 0, 3, 46624649, 21302137},
		{10, {10, 10, 10, 10, 10, 10, 10, 10, 10, 10}, {R, R, R, R, R, R, R, R, R, R}, 0, 3, 1.1732434e10, 8.8633355e9},
		{20, {TWENTY(10)}, {TWENTY(P)}, 0, 3, 2.8600486e9, 1.1158502e9},
		{20, {TWENTY(10)}, {TWENTY(R)}, 0, 3, 8.1290255e11, 5.9492313e11},
		{9, {85, 99, 100, 100, 9, 7, 6, 5, 2}, {R, R, R, R, I, I, I, I, I}, 2, 2, 2.563572e10, 2.1974691e10},
	};

	for (int k = 0; k < lengthof(known); k++)
	{
		text		workload;
		made		m;
		double		upper;
		double		loss;

		if (quick() && known[k].cells[0] > 24)
			continue;
		k_way(&workload, known[k].attributes, known[k].constructor, known[k].least, known[k].most);
		parse(&m, known[k].attributes, known[k].cells, workload.data);
		assert_true(pe_blocks_product(&m.problem, &m.blocks, &m.lower_bound));
		upper = objective(&m);
		print_message("# %s of %d attributes: %.2e above the known form, bound %.2e above\n", known[k].constructor[0], known[k].attributes,
					  upper / known[k].upper - 1, m.lower_bound / known[k].lower - 1);
		/* many blocks have small shares, and their matrices fewer bits */
		loss = m.blocks.blocks > 20 ? 5e-5 : 1e-5;
		if (!(upper <= known[k].upper * (1 + loss)) || !(m.lower_bound >= known[k].lower * (1 - 1e-5)) || m.lower_bound > upper)
			fail_msg("%s: %.9g, known %.9g; at least %.9g, known %.9g", workload.data, upper, known[k].upper, m.lower_bound,
					 known[k].lower);
		if (known[k].cells[0] <= 10)
			check_blocks(workload.data, &m);
		discard(&m);
	}
}

/* Unions of anything: the bound is one, the objective is not below the optimum, nor far from it. */
static void
test_random(void **state)
{
	int			made_blocks = 0;

	pe_test_seed(23);
	for (int i = 0; i < cases(300); i++)
	{
		text		workload;
		made		m;
		pe_strategy dense;
		double		upper;
		bool		zero;

		memset(&m, 0, sizeof(m));
		random_shape(&m.shape);
		random_workload(&workload, &m.shape, true);
		if (!try_parse(&m, workload.data))
			continue;
		zero = pe_strategy_optimal(&m.workload, &m.classes, NULL, 1e-4, &dense) != PE_STRATEGY_OK;
		m.problem.norm = i % 4 == 0 ? PE_L1 : PE_L2;
		if (!zero && pe_blocks_product(&m.problem, &m.blocks, &m.lower_bound))
		{
			made_blocks++;
			check_blocks(workload.data, &m);
			upper = objective(&m);
			if (upper < dense.lower_bound * (1 - 1e-9) || m.lower_bound > dense.objective * (1 + 1e-9) ||
				(m.problem.norm == PE_L2 && upper > 2 * dense.objective))
				fail_msg("%s: %.9g .. %.9g, one matrix %.9g .. %.9g", workload.data, m.lower_bound, upper, dense.lower_bound,
						 dense.objective);
			assert_true((m.lower_bound > 0) == (m.problem.norm == PE_L2));
		}
		if (!zero)
			pe_strategy_free(&dense);
		discard(&m);
	}
	assert_true(made_blocks > (quick() ? 1 : 50));
}

/* Cells that a predicate leaves out, cells that only the other terms count, and cells that are not told apart. */
static void
test_columns(void **state)
{
	static const int32_t known[] = {PE_RULED_OUT, PE_RULED_OUT, 0, 1, 2, 3};
	static const bool left[] = {false, false, true, true, true, true};
	const bool *const possible_of[] = {left, NULL, NULL};
	int			cells[] = {6, 4, 1};
	made		m;

	parse(&m, 3, cells, "ranges(a0; 0-1, 2-3, 3-4)*identity(a2) + prefix(a1)");
	m.problem.possible_of = possible_of;
	assert_true(pe_blocks_product(&m.problem, &m.blocks, &m.lower_bound));
	assert_int_equal(m.blocks.axes, 2);
	assert_int_equal(m.blocks.columns[0], 4);
	assert_memory_equal(m.blocks.column_of[0], known, sizeof(known));
	assert_int_equal(m.blocks.columns[2], 0);
	assert_null(m.blocks.column_of[2]);
	check_blocks("columns", &m);
	assert_true(objective(&m) < 2 * m.lower_bound);
	discard(&m);
}

/* An attribute that every term names has no centre and stands in every block. */
static void
test_whole(void **state)
{
	int			cells[] = {6, 5, 4};
	made		m;

	parse(&m, 3, cells, "all_range(a0)*prefix(a1) + prefix(a0)*prefix(a2)");
	assert_true(pe_blocks_product(&m.problem, &m.blocks, &m.lower_bound));
	assert_int_equal(m.blocks.blocks, 3);
	assert_null(m.blocks.axis[0].centre);
	assert_true(m.blocks.axis[1].centre != NULL && m.blocks.axis[2].centre != NULL);
	check_blocks("whole", &m);
	assert_true(objective(&m) < 2 * m.lower_bound);
	discard(&m);
}

/* The largest variance is served too, without a bound; what is one product or too large is not. */
static void
test_served(void **state)
{
	int			cells[] = {4097, 5, 4};
	pe_blocks	none = {0};
	made		m;

	parse(&m, 3, cells, "prefix(a1)*prefix(a2) + prefix(a1)");
	m.problem.objective = PE_MAX;
	assert_true(pe_blocks_product(&m.problem, &m.blocks, &m.lower_bound));
	assert_true(m.lower_bound == 0);
	discard(&m);
	parse(&m, 3, cells, "prefix(a0) + prefix(a1)");
	assert_false(pe_blocks_product(&m.problem, &m.blocks, &m.lower_bound));
	assert_memory_equal(&m.blocks, &none, sizeof(none));
	discard(&m);
	parse(&m, 3, cells, "prefix(a1)*prefix(a2)");
	assert_false(pe_blocks_product(&m.problem, &m.blocks, &m.lower_bound));
	discard(&m);
}

/* e is near to D d, adds up to D, and is small where most of d is the same. */
static void
test_integers(void **state)
{
	pe_test_seed(5);
	for (int i = 0; i < cases(200); i++)
	{
		int32_t		n = between(2, 40);
		double	   *d = matrix(n, 1);
		int32_t    *e = pe_alloc((size_t) n, sizeof(int32_t));
		double		most = uniform(0, 0.9);
		double		error = 0;
		double		square = 0;
		int32_t		sum = 0;
		int32_t		denominator;

		for (int32_t j = 0; j < n; j++)
			d[j] = (1 - most) / n + (j == n - 1 ? most : 0);
		denominator = pe_residual_integers(d, n, e);
		for (int32_t j = 0; j < n; j++)
		{
			sum += e[j];
			error += (e[j] / (double) denominator - d[j]) * (e[j] / (double) denominator - d[j]);
			square += d[j] * d[j];
			assert_true(e[j] >= 1);
		}
		assert_int_equal(sum, denominator);
		assert_true(e[0] <= 64 && error <= 1e-5 * square);
		pe_free(d);
		pe_free(e);
	}
}

/* No other shares are better, under both norms. */
static void
test_shares(void **state)
{
	int			cells[] = {6, 5, 4};

	for (int norm = 0; norm < 2; norm++)
	{
		made		m;
		double		best;

		parse(&m, 3, cells, "all_range(a0)*prefix(a1) + 2 * prefix(a0) + prefix(a1)*identity(a2) + all_range(a0)");
		m.problem.norm = norm == 0 ? PE_L2 : PE_L1;
		assert_true(pe_blocks_product(&m.problem, &m.blocks, &m.lower_bound));
		best = objective(&m);
		for (int32_t from = 0; from < m.blocks.blocks; from++)
			for (int32_t to = 0; to < m.blocks.blocks; to++)
			{
				uint64_t	moved = (m.blocks.share[from] < m.blocks.share[to] ? m.blocks.share[from] : m.blocks.share[to]) / 50;

				if (from == to)
					continue;
				m.blocks.share[from] -= moved;
				m.blocks.share[to] += moved;
				assert_true(objective(&m) > best * (1 + 1e-8));
				m.blocks.share[from] += moved;
				m.blocks.share[to] -= moved;
			}
		discard(&m);
	}
}

/* Pinching makes nuclear norms smaller, for all y and directions: one attribute, asked by random queries and the total. */
static void
test_pinch(void **state)
{
	double		closest = INFINITY;

	pe_test_seed(6);
	for (int i = 0; i < cases(300); i++)
	{
		int32_t		n = between(2, 9);
		double	  **gram = pe_alloc(1, sizeof(*gram));
		double	   *v = matrix(n, n);
		double	   *y = matrix(n, 1);
		double		total = exp(uniform(-4, 4));
		double		inside = 0;
		double		outside = 0;
		double		whole;
		double		pinched;
		pe_split	split = {&inside, &outside, 0};
		pe_residual residual;

		gram[0] = matrix(n, n);
		for (int32_t j = 0; j < n; j++)
			y[j] = exp(uniform(-4, 0));
		pe_scale_to_one(n, y);
		for (int32_t q = 0; q < n; q++)
		{
			double		w[9];

			for (int32_t j = 0; j < n; j++)
				w[j] = normal();
			for (int32_t j = 0; j < n * n; j++)
				gram[0][j] += w[j / n] * w[j % n];
		}
		memcpy(v, gram[0], (size_t) (n * n) * sizeof(double));
		pe_residual_init(n, 1, gram, v, &residual);
		pe_residual_pinch(&residual, y, uniform(-1, 1.5), &split);
		for (int32_t j = 0; j < n * n; j++)
			v[j] = gram[0][j] + total;
		whole = pe_nuclear_square(n, v, y);
		pinched = sqrt(total * split.absent + outside) + sqrt(inside);
		if (!(pinched * pinched <= whole * (1 + 1e-9)))
			fail_msg("%d cells: %.9g, whole %.9g", n, pinched * pinched, whole);
		closest = fmin(closest, whole / (pinched * pinched));
		pe_residual_free(&residual);
		pe_free(y);
	}
	assert_true(quick() || closest < 1.01);
}

/* A diagonal has the sum of its roots. */
static void
test_nuclear_square(void **state)
{
	double		gram[] = {4, 0, 0, 9};
	double		y[] = {0.25, 0.75};

	assert_true(close_to(pe_nuclear_square(2, gram, y), (1 + sqrt(6.75)) * (1 + sqrt(6.75)), 1e-12));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_served),
		cmocka_unit_test(test_integers),
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_pinch),
		cmocka_unit_test(test_nuclear_square),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
