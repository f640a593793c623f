/*
 * test_dawa.c
 *	  Estimates by way of a private partition: the laws of both draws, the error that
 *	  the strategy promises, exact counts where there is next to no noise, and limits.
 *
 * Statistical tests use the system's randomness (statistics.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "optimum/optimum.h"
#include "counts/dawa.h"
#include "noise/laplace.h"
#include "shim.h"
#include "statistics.h"
#include "allowance.h"

#define NANO INT64_C(1000000000)

/* Of epsilon: the noise is 0, also that of the finest lattice. */
#define LARGE (1000000000 * NANO)

#define UNIT ((double) (1 << PE_ESTIMATE_BITS))

/* V of all ranges over n columns: how many ranges hold both. */
static double *
all_ranges(int n)
{
	double	   *v = calloc((size_t) n * n, sizeof(double));

	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			v[(size_t) i * n + j] = (double) ((i < j ? i : j) + 1) * (n - (i < j ? j : i));
	return v;
}

static double *
identity(int n)
{
	double	   *v = calloc((size_t) n * n, sizeof(double));

	for (int i = 0; i < n; i++)
		v[(size_t) i * n + i] = 1;
	return v;
}

/* The plan with an allowance for any draws. */
static const pe_dawa_plan *
paid(const pe_dawa_plan *plan)
{
	static pe_dawa_plan with;

	with = *plan;
	with.allowance = plenty(true);
	return &with;
}

static pe_dawa_plan
plan_of(int n, const double *v, int64_t nano)
{
	pe_dawa_plan plan = {.columns = n, .v = v, .neighbours = PE_ADD_REMOVE, .max_rows = 1};

	pe_dawa_split(&plan, nano);
	return plan;
}

/* ----------
 * The cost
 * ----------
 */
static void
test_split(void **unused)
{
	for (int64_t nano = PE_DAWA_LEAST_NANO; nano < 4 * NANO; nano = nano * 7 / 3 + 1)
	{
		pe_dawa_plan plan = {.columns = 2};

		pe_dawa_split(&plan, nano);
		assert_true(plan.partition_nano >= 1);
		assert_true(plan.partition_nano + plan.counts_nano == nano);
		assert_true(plan.partition_nano == nano / 4);
		plan.columns = 1;
		pe_dawa_split(&plan, nano);
		assert_true(plan.partition_nano == 0 && plan.counts_nano == nano);
	}
}

/* ----------
 * The partition's draw
 * ----------
 */

/* P[Y <= k] for P[Y = k] proportional to exp(-a |k|). */
static double
laplace_at_most(double a, double k)
{
	double		q = exp(-a);

	k = floor(k);
	return k < 0 ? exp(a * k) / (1 + q) : 1 - exp(-a * (k + 1)) / (1 + q);
}

/*
 * Two columns: they are one bucket if the noised score 2 |x_0 - x_1| is at most twice a
 * bucket's cost, k / epsilon_2; the noise is that of sensitivity 2 k at epsilon_1.
 */
static void
check_merges(pe_neighbours neighbours, int max_rows, int64_t nano, const int64_t *x)
{
	double	   *v = identity(2);
	pe_dawa_plan plan = plan_of(2, v, nano);
	int			sides = neighbours == PE_SUBSTITUTE ? 2 : 1;
	double		epsilon = (double) nano / NANO;
	double		threshold;
	double		expected;
	long		n = scaled(6000);
	long		merged = 0;

	plan.neighbours = neighbours;
	plan.max_rows = max_rows;
	threshold = 2 * sides * max_rows / (0.75 * epsilon);
	expected = laplace_at_most(0.25 * epsilon / (2 * sides * max_rows), threshold - 2 * llabs(x[0] - x[1]));
	for (long i = 0; i < n; i++)
	{
		pe_dawa_buckets buckets;

		pe_dawa_divide(paid(&plan), x, &buckets);
		merged += buckets.partition.buckets == 1;
		pe_dawa_buckets_free(&buckets);
	}
	print_message("merged %.4f of draws, expected %.4f\n", (double) merged / (double) n, expected);
	assert_true(expected > 0.05 && expected < 0.95);
	check_z("merges", ((double) merged - expected * (double) n) / sqrt((double) n * expected * (1 - expected)));
	free(v);
}

static void
test_merges(void **unused)
{
	check_merges(PE_ADD_REMOVE, 1, NANO, (int64_t[]) {5, 4});
	check_merges(PE_ADD_REMOVE, 1, NANO, (int64_t[]) {9, 1});
	check_merges(PE_SUBSTITUTE, 1, NANO, (int64_t[]) {3, 7});
	check_merges(PE_ADD_REMOVE, 3, 2 * NANO, (int64_t[]) {0, 8});
}

/* ----------
 * The counts' draw
 * ----------
 */

/* Delta^2 tr(V_b (A'A)^-1), from the integers. */
static double
promised(const pe_dawa_plan *plan, const pe_dawa_buckets *buckets)
{
	const pe_strategy *strategy = &buckets->strategy;
	int			b = strategy->columns;
	double	   *a = calloc((size_t) strategy->rows * b, sizeof(double));
	double		stderr_ = pe_laplace_stderr(buckets->sensitivity, plan->counts_nano);
	double		sum = 0;

	pe_strategy_matrix(strategy, a);
	for (int k = 0; k < b; k++)
	{
		/* a column of (A'A)^-1 by conjugate gradients, and V_b times it */
		double	   *x = calloc(b, sizeof(double));
		double	   *r = calloc(b, sizeof(double));
		double	   *p = calloc(b, sizeof(double));
		double	   *ap = calloc(b, sizeof(double));
		double		rr = 1;

		r[k] = p[k] = 1;
		for (int step = 0; step < 20 * b && rr > 1e-26; step++)
		{
			double		pap = 0;
			double		next = 0;

			memset(ap, 0, b * sizeof(double));
			for (int i = 0; i < strategy->rows; i++)
			{
				double		dot = 0;

				for (int j = 0; j < b; j++)
					dot += a[(size_t) i * b + j] * p[j];
				for (int j = 0; j < b; j++)
					ap[j] += a[(size_t) i * b + j] * dot;
			}
			for (int j = 0; j < b; j++)
				pap += p[j] * ap[j];
			for (int j = 0; j < b; j++)
			{
				x[j] += rr / pap * p[j];
				r[j] -= rr / pap * ap[j];
				next += r[j] * r[j];
			}
			for (int j = 0; j < b; j++)
				p[j] = r[j] + next / rr * p[j];
			rr = next;
		}
		for (int j = 0; j < b; j++)
		{
			const int32_t *first = buckets->partition.first;
			double		spread = 0;

			for (int row = first[j]; row < first[j + 1]; row++)
				for (int column = first[k]; column < first[k + 1]; column++)
					spread += plan->v[(size_t) row * plan->columns + column];
			sum += spread * x[j] / ((double) (first[j + 1] - first[j]) * (first[k + 1] - first[k]));
		}
		free(x);
		free(r);
		free(p);
		free(ap);
	}
	free(a);
	return sum * stderr_ * stderr_;
}

/* e'V e, e the error of what was released against x spread over buckets, or as it is. */
static double
weighted_error(const pe_dawa_plan *plan, const pe_partition *partition, const int64_t *x, const int64_t *released)
{
	int			n = plan->columns;
	double	   *e = calloc(n, sizeof(double));
	double		sum = 0;

	for (int b = 0; b < partition->buckets; b++)
	{
		double		mean = 0;
		int			size = partition->first[b + 1] - partition->first[b];

		for (int j = partition->first[b]; j < partition->first[b + 1]; j++)
			mean += (double) x[j] / size;
		for (int j = partition->first[b]; j < partition->first[b + 1]; j++)
			e[j] = (double) released[j] / UNIT - mean;
	}
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			sum += e[i] * plan->v[(size_t) i * n + j] * e[j];
	free(e);
	return sum;
}

/* Columns by sixes, and the last ones alone. */
static pe_partition
some_partition(int n)
{
	pe_partition partition = {.first = pe_alloc(n + 1, sizeof(int32_t))};

	for (int j = 0; j < n; j += j < n - n / 3 ? 6 : 1)
		partition.first[partition.buckets++] = j;
	partition.first[partition.buckets] = n;
	return partition;
}

/* For one partition: each column is unbiased for its bucket's mean, and the error is what the integers promise. */
static void
check_counts(int n, const double *v, int64_t nano, bool sums)
{
	pe_dawa_plan plan = plan_of(n, v, nano);
	pe_dawa_buckets buckets = {.partition = some_partition(n)};
	int64_t    *x = calloc(n, sizeof(*x));
	int64_t    *released = calloc(n, sizeof(*released));
	long		draws = scaled(5000);
	double		sum = 0;
	double		squares = 0;
	double		first = 0;
	double		first_squares = 0;
	double		mean = 0;

	pe_dawa_prepare(&plan, &buckets);
	assert_true((buckets.strategy.rows > buckets.strategy.columns) == sums);
	for (int j = 0; j < n; j++)
		x[j] = 37 * j % 101;
	for (int j = 0; j < buckets.partition.first[1]; j++)
		mean += (double) x[j] / buckets.partition.first[1];
	for (long i = 0; i < draws; i++)
	{
		double		error;

		pe_dawa_measure(paid(&plan), &buckets, x, released);
		error = weighted_error(&plan, &buckets.partition, x, released);
		sum += error;
		squares += error * error;
		error = (double) released[0] / UNIT - mean;
		first += error;
		first_squares += error * error;
	}
	print_message("%d columns in %d buckets, %d measured\n", n, buckets.partition.buckets, buckets.strategy.rows);
	check_z("error", (sum / (double) draws - promised(&plan, &buckets)) / sqrt((squares / (double) draws - pow(sum / (double) draws, 2)) / (double) draws));
	check_z("bias", first / sqrt(first_squares));
	pe_dawa_buckets_free(&buckets);
	free(x);
	free(released);
}

static void
test_counts(void **unused)
{
	double	   *v = all_ranges(96);
	double	   *i = identity(16);

	check_counts(96, v, NANO, true);
	check_counts(16, i, NANO, false);
	check_counts(5, i, NANO / 10, false);
	free(v);
	free(i);
}

/* What rows in one column, or in two, change in A z; a column of no bucket stands for no row. */
static double
largest_change(const pe_dawa_buckets *buckets, bool substitute)
{
	const pe_strategy *strategy = &buckets->strategy;
	int			b = strategy->columns;
	double	   *a = calloc((size_t) strategy->rows * b, sizeof(double));
	double		largest = 0;

	pe_strategy_matrix(strategy, a);
	for (int i = 0; i < b; i++)
		for (int j = -1; j < (substitute ? b : 0); j++)
		{
			double		sum = 0;

			for (int row = 0; row < strategy->rows; row++)
				sum += fabs(a[(size_t) row * b + i] - (j < 0 ? 0 : a[(size_t) row * b + j]));
			largest = fmax(largest, sum);
		}
	free(a);
	return largest;
}

/* The noise of the counts is for the neighbours and the rows that the plan names. */
static void
test_counts_sensitivity(void **unused)
{
	double	   *v = all_ranges(96);

	for (int substitute = 0; substitute < 2; substitute++)
		for (int max_rows = 1; max_rows <= 3; max_rows += 2)
		{
			pe_dawa_plan plan = plan_of(96, v, NANO);
			pe_dawa_buckets buckets = {.partition = some_partition(96)};

			plan.neighbours = substitute ? PE_SUBSTITUTE : PE_ADD_REMOVE;
			plan.max_rows = max_rows;
			pe_dawa_prepare(&plan, &buckets);
			assert_true((double) buckets.sensitivity == max_rows * largest_change(&buckets, substitute));
			pe_dawa_buckets_free(&buckets);
		}
	free(v);
}

/* ----------
 * Next to no noise
 * ----------
 */
static void
check_exact(int n, const double *v)
{
	int64_t    *x = calloc(n, sizeof(*x));
	int64_t    *released = calloc(n, sizeof(*released));
	pe_dawa_plan plan = plan_of(n, v, LARGE);

	for (int j = 0; j < n; j++)
		x[j] = j * j % 7 * 1000 + j;
	pe_dawa_release(paid(&plan), x, released);
	for (int j = 0; j < n; j++)
		assert_int_equal(released[j], x[j] << PE_ESTIMATE_BITS);
	free(x);
	free(released);
}

static void
test_exact(void **unused)
{
	for (int n = 1; n <= 40; n += 1 + n / 5)
	{
		double	   *ranges = all_ranges(n);
		double	   *i = identity(n);

		check_exact(n, ranges);
		check_exact(n, i);
		free(ranges);
		free(i);
	}
}

/* Equal neighbours go together however little noise there is, and what differs does not. */
static void
test_exact_partition(void **unused)
{
	static const int64_t x[11] = {7, 7, 7, 7, 9, 9, 1, 2, 4, 4, 4};
	static const int32_t first[] = {0, 4, 6, 7, 8, 11};
	double	   *v = identity(11);
	pe_dawa_plan plan = plan_of(11, v, LARGE);
	pe_dawa_buckets buckets;

	/* 4, 4, 4: an interval of four that padding cuts off */
	for (int i = 0; i < 20; i++)
	{
		pe_dawa_divide(paid(&plan), x, &buckets);
		assert_int_equal(buckets.partition.buckets, 5);
		assert_memory_equal(buckets.partition.first, first, sizeof(first));
		pe_dawa_buckets_free(&buckets);
	}
	free(v);
}

/* ----------
 * What it is for
 * ----------
 */

static double
mean_error(const pe_dawa_plan *plan, const int64_t *x)
{
	static int64_t released[256];
	pe_partition alone = {.buckets = plan->columns};
	double		sum = 0;

	alone.first = calloc(plan->columns + 1, sizeof(int32_t));
	for (int j = 0; j <= plan->columns; j++)
		alone.first[j] = j;
	for (int i = 0; i < 20; i++)
	{
		pe_dawa_release(paid(plan), x, released);
		sum += weighted_error(plan, &alone, x, released) / 20;
	}
	free(alone.first);
	return sum;
}

/* Level stretches with few steps: a quarter of the error of every column by itself, and less. */
static void
test_steps(void **unused)
{
	int64_t		x[256];
	double	   *v = identity(256);
	pe_dawa_plan plan = plan_of(256, v, NANO / 10);
	double		by_column = 256 * pow(pe_laplace_stderr(1, NANO / 10), 2);

	for (int j = 0; j < 256; j++)
		x[j] = j < 128 ? 5000 : j < 192 ? 20 : 90000;
	print_message("error %.4g of what every column by itself has\n", mean_error(&plan, x) / by_column);
	assert_true(mean_error(&plan, x) < by_column / 4);
	free(v);
}

/* ----------
 * Limits
 * ----------
 */
static void
test_limits(void **unused)
{
	int64_t		x[3] = {INT64_C(1) << 61, 0, INT64_C(1) << 61};
	int64_t		released[3];
	double	   *v = all_ranges(3);
	pe_dawa_plan plan = plan_of(3, v, PE_DAWA_LEAST_NANO);

	/* the least cost, the widest noise */
	plan.neighbours = PE_SUBSTITUTE;
	plan.max_rows = INT32_MAX;
	pe_dawa_release(paid(&plan), x, released);
	/* estimates beyond the lattice end at its end */
	plan = plan_of(3, v, 100 * NANO);
	pe_dawa_release(paid(&plan), x, released);
	assert_true(released[0] == INT64_MAX && released[2] == INT64_MAX);
	assert_true(x[0] == INT64_C(1) << 61);
	free(v);
}

/* V of one query, and one that is badly scaled: whatever is asked for is measured. */
static void
test_hard_workloads(void **unused)
{
	enum {n = 24};
	double	   *v = calloc(n * n, sizeof(double));
	int64_t		x[n];
	int64_t		released[n];

	for (int kind = 0; kind < 2; kind++)
	{
		pe_dawa_plan plan;

		for (int i = 0; i < n; i++)
			for (int j = 0; j < n; j++)
				v[i * n + j] = kind == 0 ? 1 : i == j ? pow(10, i - n / 2) : 0;
		for (int j = 0; j < n; j++)
			x[j] = 1000 * j;
		plan = plan_of(n, v, 100 * NANO);
		pe_dawa_release(paid(&plan), x, released);
		for (int j = 0; j < n; j++)
			assert_true(fabs((double) released[j] / UNIT) < 1e9);
	}
	free(v);
}

/* No cancel can come between the draws of counts and their use. */
static void
test_polls(void **unused)
{
	int64_t		x[64] = {0};
	int64_t		released[64];
	double	   *v = all_ranges(64);
	pe_dawa_plan plan = plan_of(64, v, 1000 * NANO);
	pe_dawa_buckets buckets;
	uint64_t	before;

	for (int j = 0; j < 64; j++)
		x[j] = 1000 * j;
	before = pe_test_polls();
	pe_dawa_divide(paid(&plan), x, &buckets);
	assert_true(pe_test_polls() == before);
	pe_dawa_prepare(&plan, &buckets);
	assert_true(pe_test_polls() > before);
	before = pe_test_polls();
	pe_dawa_measure(paid(&plan), &buckets, x, released);
	assert_true(pe_test_polls() == before);
	pe_dawa_buckets_free(&buckets);
	free(v);
}

/* What was foretold is enough, for few buckets and for many. */
static void
test_memory(void **unused)
{
	for (int n = 1; n <= 128; n = 3 * n + 1)
	{
		int64_t    *x = calloc(n, sizeof(*x));
		int64_t    *released = calloc(n, sizeof(*released));
		double	   *v = all_ranges(n);

		for (int many = 0; many < 2; many++)
		{
			pe_dawa_plan plan = plan_of(n, v, 1000 * NANO);
			size_t		used;

			for (int j = 0; j < n; j++)
				x[j] = many * 1000 * j;
			(void) pe_test_memory();
			pe_dawa_release(paid(&plan), x, released);
			used = pe_test_memory();
			print_message("%d columns: %zu bytes of %zu\n", n, used, pe_dawa_memory(n));
			assert_true(used <= pe_dawa_memory(n));
		}
		free(x);
		free(released);
		free(v);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_merges),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_counts_sensitivity),
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_exact_partition),
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_hard_workloads),
		cmocka_unit_test(test_polls),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
