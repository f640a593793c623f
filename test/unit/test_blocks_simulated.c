/*
 * test_blocks_simulated.c
 *	  Estimates from blocks are unbiased and err as is told: 20,000 measurements of one table for
 *	  each kind and each accounting, by turns for both rules of neighbours.
 *
 * Some 700 statistics are compared with 7.5 standard deviations of theirs: one of them is beyond with a chance
 * of 1e-10.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "plan/private.h"
#include "plans.h"
#include "blocks/reconstruct.h"
#include "block_tables.h"
#include "shim.h"
#include "statistics.h"
#include "union.h"

#define MEASUREMENTS 20000
#define MOST_QUERIES 64
#define MOST_SD 7.5

typedef bool (*make_kind) (const pe_strategy_problem *problem, pe_blocks *blocks, double *lower_bound);

typedef struct kind
{
	make_kind	make;
	int			cells[3];
	const char *workload;
} kind;

static const kind kinds[] = {
	{pe_blocks_marginals, {3, 2, 4}, "identity(a0)*identity(a1) + 2*identity(a1)*identity(a2) + identity(a0)"},
	{pe_blocks_symmetric, {4, 2, 3}, "prefix(a0)*identity(a1) + all_range(a0)*identity(a2)"},
	{pe_blocks_kronecker, {4, 1, 3}, "prefix(a0)*all_range(a2)"},
	{pe_blocks_product, {4, 3, 2}, "prefix(a0)*identity(a2) + all_range(a1)*prefix(a0)"},
};

/* A table, what is measured of it, and what is right. */
typedef struct simulation
{
	made		of;
	pe_strategy strategy;
	pe_plan_rules rules;
	pe_accounting accounting;
	pe_plan    *plan;
	int64_t		nano;
	int64_t    *counts;
	double		truth[MOST_QUERIES];
} simulation;

static void
hold(void)
{
}

/* Random counts, as tables, and the answers. */
static void
fill_table(simulation *s)
{
	const pe_blocks *blocks = s->strategy.blocks;
	int			cells = cells_of_all(blocks);
	int64_t    *x = pe_alloc((size_t) cells, sizeof(int64_t));
	double	   *w = write_out(&s->of.workload);
	pe_tables	tables;

	for (int c = 0; c < cells; c++)
		x[c] = between(0, 20);
	for (int q = 0; q < s->of.workload.queries; q++)
		for (int c = 0; c < cells; c++)
			s->truth[q] += w[q * cells + c] * (double) x[c];
	assert_true(pe_blocks_tables(blocks, &tables));
	s->counts = counts_of_tables(blocks, &tables, x);
	pe_tables_free(&tables);
	pe_free(x);
	pe_free(w);
}

static void
begin(simulation *s, const kind *k, pe_accounting accounting, pe_neighbours neighbours)
{
	bool		pure = accounting == PE_PURE;
	pe_blocks  *blocks = pe_alloc(1, sizeof(*blocks));
	pe_plan_ask ask = {.accounting = accounting, .epsilon = pure ? 0.5 : NAN, .rho = pure ? NAN : 0.125, .max_stderr = NAN, .delta = pure ? 0 : 1e-6};
	pe_plan_counts counts = {.strategy = &s->strategy, .rules = {.neighbours = neighbours, .max_rows = between(1, 3)}, .scale = 1};

	memset(s, 0, sizeof(*s));
	parse(&s->of, 3, k->cells, k->workload);
	assert_true(s->of.workload.queries <= MOST_QUERIES);
	s->of.problem.norm = pure ? PE_L1 : PE_L2;
	assert_true(k->make(&s->of.problem, blocks, &s->of.lower_bound));
	pe_strategy_of_blocks(&s->strategy, blocks, 1, 0);
	s->rules = counts.rules;
	s->accounting = accounting;
	assert_int_equal(pe_plan_of_counts(&ask, &counts, &s->plan), PE_PLAN_MADE);
	s->nano = pure ? pe_cost_amount(pe_plan_cost(s->plan)).epsilon_nano : pe_cost_amount(pe_plan_cost(s->plan)).rho_nano;
	fill_table(s);
}

static void
end(simulation *s)
{
	pe_free(s->counts);
	free_plan(s->plan);
	pe_strategy_free(&s->strategy);
	discard(&s->of);
}

/* The standard error of each query, as a release tells it. */
static void
told(const simulation *s, const pe_reconstruction *r, double *stderr_of)
{
	pe_noise   *noise = pe_plan_noise_of(&s->strategy, &s->rules, s->accounting, s->nano);

	pe_reconstruction_variance(r, stderr_of);
	for (int q = 0; q < s->of.workload.queries; q++)
		stderr_of[q] = sqrt(stderr_of[q]) * pe_noise_stderr(noise);
	pe_free(noise);
}

/* Of n measurements: errors in standard errors, their squares, and the mean square of all queries. */
typedef struct sums
{
	double		error[MOST_QUERIES];
	double		square[MOST_QUERIES];
	double		mean;
	double		mean_square;
} sums;

static void
simulate(const simulation *s, const pe_measured *measured, long n, sums *sum)
{
	int			queries = s->of.workload.queries;
	size_t		rows = (size_t) s->strategy.rows;
	pe_i128    *exact = pe_alloc(rows, sizeof(*exact));
	int64_t    *released = pe_alloc(rows, sizeof(*released));
	double		stderr_of[MOST_QUERIES];
	double		estimate[MOST_QUERIES];
	pe_reconstruction r;

	assert_true(pe_reconstruction_init(measured, &s->of.workload, &r));
	assert_int_equal(pe_reconstruction_undetermined(&r), -1);
	told(s, &r, stderr_of);
	for (long i = 0; i < n; i++)
	{
		double		mean = 0;

		pe_plan_measure(s->plan, s->counts, exact, released, hold);
		pe_reconstruction_estimate(&r, released, estimate);
		for (int q = 0; q < queries; q++)
		{
			double		z = (estimate[q] - s->truth[q]) / stderr_of[q];

			sum->error[q] += z;
			sum->square[q] += z * z;
			mean += z * z / queries;
		}
		sum->mean += mean;
		sum->mean_square += mean * mean;
	}
	pe_reconstruction_free(&r);
	pe_free(exact);
	pe_free(released);
}

/* Fourth moments of a sum of Laplace variables are at most six times the squared variance, of normal ones three times. */
static void
check(const simulation *s, const sums *sum, long n)
{
	const char *name = s->of.workload.canonical;
	double		of_square = s->accounting == PE_PURE ? 5 : 2;
	double		mean = sum->mean / n;
	double		sd = sqrt((sum->mean_square / n - mean * mean) / n);

	for (int q = 0; q < s->of.workload.queries; q++)
		if (fabs(sum->error[q]) > MOST_SD * sqrt(n) || fabs(sum->square[q] - n) > MOST_SD * sqrt(of_square * n))
			fail_msg("%s, %s: query %d is off by %.2f standard errors, of which %.4f are seen", name,
					 pe_accounting_name(s->accounting), q, sum->error[q] / n, sqrt(sum->square[q] / n));
	if (fabs(mean - 1) > MOST_SD * sd)
		fail_msg("%s, %s: the variance is %.4f of what is told", name, pe_accounting_name(s->accounting), mean);
}

static void
test_kinds(void **state)
{
	pe_test_seed(23);
	for (int k = 0; k < lengthof(kinds); k++)
		for (pe_accounting accounting = PE_ZCDP; accounting <= PE_PURE; accounting++)
		{
			simulation	s;
			sums		sum = {.mean = 0};
			int		   *lattice;

			begin(&s, &kinds[k], accounting, (k + (int) accounting) % 2 == 0 ? PE_ADD_REMOVE : PE_SUBSTITUTE);
			lattice = pe_plan_lattices(&s.strategy, &s.rules, accounting, s.nano);
			simulate(&s, &(pe_measured) {&s.of.workload, &s.strategy, NULL, lattice}, scaled(MEASUREMENTS), &sum);
			check(&s, &sum, scaled(MEASUREMENTS));
			pe_free(lattice);
			end(&s);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
