/*
 * dawa.c
 *	  Counts of ordered columns by way of a private partition.  See dawa.h.
 */
#include "mechanism/dawa.h"

#include <math.h>
#include <string.h>

#include "core/linalg.h"
#include "core/mem.h"
#include "core/optimum.h"
#include "core/p_identity.h"
#include "core/round_dense.h"
#include "mechanism/laplace.h"

#define NANO 1e9

void
pe_dawa_split(pe_dawa_plan *plan, int64_t nano)
{
	plan->partition_nano = nano / 4;
	plan->counts_nano = nano - plan->partition_nano;
}

/* ------------------------------------------------------------------
 * The partition
 * ------------------------------------------------------------------
 */

/* What measuring a bucket costs in expected absolute error, if it is measured by itself: its noise has scale Delta / epsilon. */
static double
bucket_cost(const pe_dawa_plan *plan)
{
	double		sensitivity = (double) plan->max_rows * (plan->neighbours == PE_SUBSTITUTE ? 2 : 1);

	return sensitivity * NANO / (double) plan->counts_nano;
}

void
pe_dawa_divide(const pe_dawa_plan *plan, const int64_t *counts, pe_partition *partition)
{
	pe_intervals intervals;
	size_t		scores;
	pe_i128    *exact;
	int64_t    *noisy;

	pe_intervals_init(&intervals, plan->columns);
	scores = (size_t) intervals.padded - 1;
	exact = pe_alloc(scores + 1, sizeof(*exact));
	noisy = pe_alloc(scores + 1, sizeof(*noisy));
	if (scores > 0)
	{
		pe_interval_scores(&intervals, counts, exact);
		pe_laplace_release(exact, scores, pe_interval_sensitivity(&intervals, plan->neighbours, plan->max_rows),
						   plan->partition_nano, noisy);
	}
	pe_partition_cheapest(&intervals, noisy, bucket_cost(plan), partition);
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

void
pe_dawa_prepare(const pe_dawa_plan *plan, const pe_partition *partition, pe_strategy *strategy)
{
	(void) gram_of_buckets;
	(void) plan;
	count_buckets(partition->buckets, strategy);
}

size_t
pe_dawa_memory(int32_t columns)
{
	return (size_t) columns * columns * sizeof(double);
}

/* ------------------------------------------------------------------
 * The counts
 * ------------------------------------------------------------------
 */

/* The noised A z. */
static int64_t *
measured_buckets(const pe_dawa_plan *plan, const pe_partition *partition, const pe_strategy *strategy, const int64_t *counts)
{
	int64_t    *sums = pe_alloc(partition->buckets, sizeof(*sums));
	pe_i128    *exact = pe_alloc(strategy->rows, sizeof(*exact));
	int64_t    *noisy = pe_alloc(strategy->rows, sizeof(*noisy));
	pe_u128		sensitivity;

	if (!pe_strategy_sensitivity_l1(strategy, plan->neighbours, plan->max_rows, &sensitivity))
		pe_bug("a strategy for buckets beyond its bounds");
	for (int32_t b = 0; b < partition->buckets; b++)
		for (int32_t j = partition->first[b]; j < partition->first[b + 1]; j++)
			sums[b] += counts[j];
	pe_strategy_apply(strategy, sums, exact);
	pe_wipe(sums, (size_t) partition->buckets * sizeof(*sums));
	pe_laplace_release(exact, strategy->rows, sensitivity, plan->counts_nano, noisy);
	pe_free(sums);
	pe_free(exact);
	return noisy;
}

/* The least-squares estimate of the buckets' sums. */
static double *
estimate_buckets(const pe_strategy *strategy, const int64_t *noisy)
{
	double	   *z = pe_alloc(strategy->columns, sizeof(double));

	for (int32_t b = 0; b < strategy->columns; b++)
		z[b] = (double) noisy[b];
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
pe_dawa_measure(const pe_dawa_plan *plan, const pe_partition *partition, const pe_strategy *strategy,
				const int64_t *counts, int64_t *released)
{
	int64_t    *noisy = measured_buckets(plan, partition, strategy, counts);
	double	   *estimate = estimate_buckets(strategy, noisy);

	for (int32_t b = 0; b < partition->buckets; b++)
		for (int32_t j = partition->first[b]; j < partition->first[b + 1]; j++)
			released[j] = on_lattice(estimate[b] / size_of(partition, b));
	pe_free(noisy);
	pe_free(estimate);
}

void
pe_dawa_release(const pe_dawa_plan *plan, const int64_t *counts, int64_t *released)
{
	pe_partition partition;
	pe_strategy strategy;

	pe_dawa_divide(plan, counts, &partition);
	pe_dawa_prepare(plan, &partition, &strategy);
	pe_dawa_measure(plan, &partition, &strategy, counts, released);
	pe_strategy_free(&strategy);
	pe_partition_free(&partition);
}
