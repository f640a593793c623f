/*
 * dawa.c
 *	  Counts of ordered columns by way of a private partition.  See dawa.h.
 */
#include "counts/dawa.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/mem.h"
#include "optimum/optimum.h"
#include "strategy/rounding.h"
#include "noise/noise.h"

#define NANO 1e9

void
pe_dawa_split(pe_dawa_plan *plan, int64_t nano)
{
	/* a single column has one partition, and no draw decides it */
	plan->partition_nano = plan->columns > 1 ? nano / 4 : 0;
	plan->counts_nano = nano - plan->partition_nano;
}

/* ------------------------------------------------------------------
 * The partition
 * ------------------------------------------------------------------
 */

/*
 * What measuring a bucket costs in expected absolute error, if it is measured
 * by itself: its noise has scale Delta / epsilon.
 */
static double
bucket_cost(const pe_dawa_plan *plan)
{
	double		sensitivity = (double) plan->max_rows * (plan->neighbours == PE_SUBSTITUTE ? 2 : 1);

	return sensitivity * NANO / (double) plan->counts_nano;
}

void
pe_dawa_divide(const pe_dawa_plan *plan, const int64_t *counts, pe_dawa_buckets *buckets)
{
	pe_intervals intervals;
	size_t		scores;
	pe_i128    *exact;
	int64_t    *noisy;

	memset(buckets, 0, sizeof(*buckets));
	pe_intervals_init(&intervals, plan->columns);
	scores = (size_t) intervals.padded - 1;
	exact = pe_alloc(scores + 1, sizeof(*exact));
	noisy = pe_alloc(scores + 1, sizeof(*noisy));
	if (scores > 0)
	{
		pe_interval_scores(&intervals, counts, exact);
		pe_noise_draw(plan->allowance, pe_interval_sensitivity(&intervals, plan->neighbours, plan->max_rows),
					  plan->partition_nano, exact, scores, noisy);
	}
	pe_partition_cheapest(&intervals, noisy, bucket_cost(plan), &buckets->partition);
	pe_free(exact);
	pe_free(noisy);
}

/* ------------------------------------------------------------------
 * The strategy for the buckets
 * ------------------------------------------------------------------
 */

static int32_t
size_of(const pe_partition *partition, int32_t bucket)
{
	return partition->first[bucket + 1] - partition->first[bucket];
}

/* S'V S for the even spread S: each column gets a share 1 / size of its bucket. */
static double *
gram_of_buckets(const pe_dawa_plan *plan, const pe_partition *partition)
{
	int32_t		b = partition->buckets;
	double	   *gram = pe_alloc((size_t) b * b, sizeof(double));

	for (int32_t k = 0; k < b; k++)
		for (int32_t j = partition->first[k]; j < partition->first[k + 1]; j++)
			for (int32_t i = 0; i < b; i++)
			{
				double		sum = 0;

				for (int32_t row = partition->first[i]; row < partition->first[i + 1]; row++)
					sum += plan->v[(size_t) j * plan->columns + row];
				gram[(size_t) k * b + i] += sum / ((double) size_of(partition, i) * size_of(partition, k));
			}
	return gram;
}

/* Each bucket by itself. */
static void
count_buckets(int32_t buckets, pe_strategy *strategy)
{
	memset(strategy, 0, sizeof(*strategy));
	strategy->classes = strategy->columns = strategy->rows = strategy->inner = buckets;
	strategy->column_of = pe_alloc(buckets, sizeof(int32_t));
	for (int32_t b = 0; b < buckets; b++)
		strategy->column_of[b] = b;
}

/* Whether no query asks for two buckets: then nothing is better than to count each. */
static bool
is_diagonal(const double *v, int32_t n)
{
	for (int32_t j = 0; j < n; j++)
		for (int32_t i = 0; i < j; i++)
			if (v[(size_t) j * n + i] != 0)
				return false;
	return true;
}

/* Replaces that by the best known integers, if there are better ones. */
static void
optimise_buckets(const pe_dawa_plan *plan, const pe_partition *partition, pe_strategy *strategy)
{
	double	   *v = gram_of_buckets(plan, partition);

	if (!is_diagonal(v, partition->buckets))
	{
		pe_p_identity_options options = {0};
		pe_design	design;
		pe_real_strategy real;

		pe_p_identity(v, partition->buckets, &options, NULL, &design);
		real = (pe_real_strategy) {
			.factor = design.factor, .rows = design.rows, .inner = design.n, .diagonal = design.n, .v = v, .norm = PE_L1
		};
		(void) pe_round_dense(&real, strategy);
		pe_design_free(&design);
	}
	pe_free(v);
}

/* The triangle R of A'A = R'R; NULL if rounding does not leave A'A positive definite. */
static double *
root_of(const pe_strategy *strategy)
{
	int32_t		n = strategy->columns;
	int32_t		rows = strategy->rows;
	double	   *a = pe_alloc((size_t) rows * n, sizeof(double));
	double	   *root = pe_alloc((size_t) n * n, sizeof(double));

	for (size_t i = 0; i < (size_t) rows * n; i++)
		a[i] = strategy->dense[i];
	pe_la_syrk(true, n, rows, 1, a, rows, 0, root, n);
	pe_free(a);
	pe_poll();
	pe_la_mirror(n, root, n);
	if (pe_la_cholesky(n, root, n))
		return root;
	pe_free(root);
	return NULL;
}

/*
 * Whether the strategy's integers can be measured, and the sums be recovered
 * from them.
 */
static bool
complete(const pe_dawa_plan *plan, pe_dawa_buckets *buckets)
{
	const pe_strategy *strategy = &buckets->strategy;

	if (strategy->dense != NULL)
		buckets->root = root_of(strategy);
	return pe_strategy_sensitivity_l1(strategy, plan->neighbours, plan->max_rows, &buckets->sensitivity) &&
		pe_noise_is_served(PE_PURE, buckets->sensitivity, plan->counts_nano) &&
		(buckets->root != NULL) == (strategy->dense != NULL);
}

void
pe_dawa_prepare(const pe_dawa_plan *plan, pe_dawa_buckets *buckets)
{
	count_buckets(buckets->partition.buckets, &buckets->strategy);
	optimise_buckets(plan, &buckets->partition, &buckets->strategy);
	if (complete(plan, buckets))
		return;
	pe_free(buckets->root);
	buckets->root = NULL;
	pe_strategy_free(&buckets->strategy);
	count_buckets(buckets->partition.buckets, &buckets->strategy);
	if (!complete(plan, buckets))
		pe_bug("buckets cannot be counted");
}

size_t
pe_dawa_memory(int32_t columns)
{
	size_t		square = (size_t) columns * columns * sizeof(double);
	pe_p_identity_options options = {0};
	size_t		searching = pe_p_identity_memory(columns, &options);
	size_t		rounding = pe_round_dense_memory(2 * columns, columns, columns);

	/* V and the design or A and R, beside what is at work; intervals and scores are small */
	return 4 * square + (searching > rounding ? searching : rounding) + (size_t) columns * 1024;
}

/* ------------------------------------------------------------------
 * The counts
 * ------------------------------------------------------------------
 */

/* The noised A z. */
static int64_t *
measured_buckets(const pe_dawa_plan *plan, const pe_dawa_buckets *buckets, const int64_t *counts)
{
	const int32_t *first = buckets->partition.first;
	int32_t		count = buckets->partition.buckets;
	int32_t		rows = buckets->strategy.rows;
	int64_t    *sums = pe_alloc(count, sizeof(*sums));
	pe_i128    *exact = pe_alloc(rows, sizeof(*exact));
	int64_t    *noisy = pe_alloc(rows, sizeof(*noisy));

	for (int32_t b = 0; b < count; b++)
		for (int32_t j = first[b]; j < first[b + 1]; j++)
			sums[b] += counts[j];
	pe_strategy_apply(&buckets->strategy, sums, exact);
	pe_wipe(sums, (size_t) count * sizeof(*sums));
	pe_noise_draw(plan->allowance, buckets->sensitivity, plan->counts_nano, exact, rows, noisy);
	pe_free(sums);
	pe_free(exact);
	return noisy;
}

/* The least-squares estimate of the sums: (A'A)^-1 A'y. */
static double *
estimate_buckets(const pe_dawa_buckets *buckets, const int64_t *noisy)
{
	const pe_strategy *strategy = &buckets->strategy;
	double	   *z = pe_alloc(strategy->columns, sizeof(double));

	for (int32_t b = 0; b < strategy->columns; b++)
	{
		const int32_t *column = strategy->dense + (size_t) b * strategy->rows;

		if (strategy->dense == NULL)
			z[b] = (double) noisy[b];
		else
			for (int32_t i = 0; i < strategy->rows; i++)
				z[b] += (double) column[i] * (double) noisy[i];
	}
	if (strategy->dense != NULL)
		pe_la_cholesky_solve(strategy->columns, 1, buckets->root, strategy->columns, z, strategy->columns);
	return z;
}

/* In units of 2^-PE_ESTIMATE_BITS, within int64. */
static int64_t
on_lattice(double estimate)
{
	double		scaled = rint(ldexp(estimate, PE_ESTIMATE_BITS));

	if (scaled >= 0x1p63)
		return INT64_MAX;
	return scaled < -0x1p63 ? INT64_MIN : (int64_t) scaled;
}

void
pe_dawa_measure(const pe_dawa_plan *plan, const pe_dawa_buckets *buckets, const int64_t *counts, int64_t *released)
{
	const pe_partition *partition = &buckets->partition;
	int64_t    *noisy = measured_buckets(plan, buckets, counts);
	double	   *estimate = estimate_buckets(buckets, noisy);

	for (int32_t b = 0; b < partition->buckets; b++)
		for (int32_t j = partition->first[b]; j < partition->first[b + 1]; j++)
			released[j] = on_lattice(estimate[b] / size_of(partition, b));
	pe_free(noisy);
	pe_free(estimate);
}

/* ------------------------------------------------------------------
 * All of it
 * ------------------------------------------------------------------
 */

void
pe_dawa_buckets_free(pe_dawa_buckets *buckets)
{
	pe_partition_free(&buckets->partition);
	pe_strategy_free(&buckets->strategy);
	pe_free(buckets->root);
	memset(buckets, 0, sizeof(*buckets));
}

void
pe_dawa_release(const pe_dawa_plan *plan, const int64_t *counts, int64_t *released)
{
	pe_dawa_buckets buckets;

	pe_dawa_divide(plan, counts, &buckets);
	pe_dawa_prepare(plan, &buckets);
	pe_dawa_measure(plan, &buckets, counts, released);
	pe_dawa_buckets_free(&buckets);
}
