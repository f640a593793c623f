/*
 * test_blocks_unions.c
 *	  500 random unions over at most 256 cells: the blocks of the kind that serves and the dense
 *	  solver agree, in the optimum and in the variance of every query.
 *
 * Each comes from a seed of its own.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "dense_optimum.h"
#include "shim.h"
#include "union.h"

#define UNIONS 500
#define MOST_CELLS 256

/* One to five attributes of one to nine cells; small ones are likelier, as the dense solver takes the cube of the cells. */
static void
random_union_shape(pe_shape *shape)
{
	static const char *const names[] = {"a0", "a1", "a2", "a3", "a4"};
	int			most = between(0, 9) == 0 ? MOST_CELLS : between(2, 80);
	int			product = 1;

	memset(shape, 0, sizeof(*shape));
	for (int a = 0; a < 5 && (a == 0 || between(0, 4) > 0); a++)
	{
		int			cells = between(1, most / product < 9 ? most / product : 9);

		shape->name[a] = names[a];
		shape->cells[a] = shape->ordered[a] = cells;
		shape->attributes++;
		product *= cells;
	}
}

/*
 * The first `cores` attributes are asked by anything, in every term but for one in five, the others by identity and
 * total.
 */
static void
random_union(text *to, const pe_shape *shape, int cores, int terms)
{
	to->size = 0;
	for (int t = 0; t < terms; t++)
	{
		add(to, "%s%d.%d", t > 0 ? " + " : "", between(1, 4), between(0, 9));
		for (int a = 0; a < shape->attributes; a++)
		{
			add(to, " * ");
			if (a < cores && between(0, 4) > 0)
				random_factor(to, shape, a);
			else
				add(to, "%s(%s)", between(0, 1) ? "identity" : "total", shape->name[a]);
		}
	}
}

typedef bool (*make_kind) (const pe_strategy_problem *problem, pe_blocks *blocks, double *lower_bound);

/* Cheapest first, as pe_make_blocks; returns the kind, or 0: none that is certified serves. */
static int
make(made *m)
{
	static const make_kind kinds[] = {pe_blocks_marginals, pe_blocks_kronecker, pe_blocks_symmetric};

	m->problem.gap = 1e-12;
	for (int k = 0; k < lengthof(kinds); k++)
		if (kinds[k] (&m->problem, &m->blocks, &m->lower_bound))
			return m->blocks.kind;
	memset(&m->blocks, 0, sizeof(m->blocks));
	return 0;
}

/* All seeds from 1 on until there are so many. */
static void
test_unions(void **state)
{
	int			served[PE_BLOCKS_PRODUCT + 1] = {0};
	int			left = fewer(UNIONS, 50);

	for (uint64_t seed = 1; left > 0; seed++)
	{
		made		m = {.lower_bound = 0};
		text		workload;
		int			kind;

		pe_test_seed(seed);
		random_union_shape(&m.shape);
		random_union(&workload, &m.shape, between(0, 2), between(0, 2) == 0 ? 1 : between(2, 4));
		if (!try_parse(&m, workload.data))
			continue;
		kind = make(&m);
		if (kind != 0)
		{
			assert_true(pe_blocks_shares_hold(&m.blocks));
			/* factors of one product share the bits that its norm may have */
			compare_blocks(&m.workload, &m.blocks, m.lower_bound, kind == PE_BLOCKS_KRONECKER && m.blocks.axes > 1 ? 1e-4 : 1e-6);
			left--;
		}
		served[kind]++;
		discard(&m);
	}
	print_message("marginals %d, symmetric %d, kronecker %d, none %d\n", served[PE_BLOCKS_MARGINALS], served[PE_BLOCKS_SYMMETRIC],
				  served[PE_BLOCKS_KRONECKER], served[0]);
	for (int kind = PE_BLOCKS_MARGINALS; kind <= PE_BLOCKS_KRONECKER; kind++)
		assert_true(quick() || served[kind] >= UNIONS / 10);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
