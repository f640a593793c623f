/*
 * quantile.c
 *	  Quantiles from released ranks.  See quantile.h.
 */
#include "counts/quantile.h"

#include <math.h>

#include "base/mem.h"

/* ------------------------------------------------------------------
 * Ranks that ascend
 * ------------------------------------------------------------------
 */

/* Neighbouring values that have one mean. */
typedef struct pool
{
	double		sum;
	int32_t		count;
} pool;

static double
mean_of(const pool *p)
{
	return p->sum / p->count;
}

void
pe_isotonic(int32_t count, const double *value, double *fitted)
{
	pool	   *pools = pe_alloc((size_t) count + 1, sizeof(*pools));
	int32_t		n = 0;
	int32_t		at = 0;

	for (int32_t i = 0; i < count; i++)
	{
		pools[n++] = (pool) {value[i], 1};
		while (n > 1 && mean_of(&pools[n - 2]) >= mean_of(&pools[n - 1]))
		{
			pools[n - 2].sum += pools[n - 1].sum;
			pools[n - 2].count += pools[n - 1].count;
			n--;
		}
	}
	for (int32_t p = 0; p < n; p++)
		for (int32_t i = 0; i < pools[p].count; i++)
			fitted[at++] = mean_of(&pools[p]);
	pe_free(pools);
}

void
pe_ascending_ranks(int32_t cells, const double *below, double *ascending)
{
	pe_isotonic(cells - 1, below + 1, ascending + 1);
	ascending[0] = 0;
	ascending[cells] = below[cells];
	for (int32_t e = 1; e < cells; e++)
		ascending[e] = fmin(fmax(ascending[e], 0), below[cells]);
}

/* ------------------------------------------------------------------
 * Quantiles
 * ------------------------------------------------------------------
 */
double
pe_quantile_variance(double below, double above, double total, double q)
{
	return fmax((1 - q) * below + q * above - q * (1 - q) * total, 0);
}

/* The first cell at whose end the ranks are at least this, which is above 0 and below the last of them. */
static void
find_point(const pe_rank_estimates *ranks, double rank, pe_quantile_place *place)
{
	const double *f = ranks->ascending;
	int32_t		k = 0;

	while (k < ranks->cells - 1 && f[k + 1] < rank)
		k++;
	place->cell = k;
	place->inside = fmin(fmax((rank - f[k]) / (f[k + 1] - f[k]), 0), 1);
}

/* -1: below, 1: above, 0: neither can be said. */
static int
side_of(const pe_rank_estimates *ranks, int32_t edge, double q, pe_confidence *confidence)
{
	double		total = ranks->below_variance[ranks->cells];
	double		variance = pe_quantile_variance(ranks->below_variance[edge], ranks->above_variance[edge], total, q);
	double		half = pe_confidence_half(confidence, variance, 0);
	double		distance = ranks->below[edge] - q * ranks->below[ranks->cells];

	return distance < -half ? -1 : distance > half;
}

static void
find_interval(const pe_rank_estimates *ranks, double q, pe_confidence *confidence, pe_quantile_place *place)
{
	place->lower = 0;
	while (place->lower < ranks->cells - 1 && side_of(ranks, place->lower + 1, q, confidence) < 0)
		place->lower++;
	place->upper = ranks->cells;
	while (place->upper > 1 && side_of(ranks, place->upper - 1, q, confidence) > 0)
		place->upper--;
}

void
pe_quantile_find(const pe_rank_estimates *ranks, double q, pe_confidence *confidence, pe_quantile_place *place)
{
	double		total = ranks->below[ranks->cells];

	*place = (pe_quantile_place) {-1, 0, -1, -1};
	if (total > 0 && total > 3 * ranks->total_stderr)
		find_point(ranks, q * total, place);
	if (ranks->below_variance != NULL)
		find_interval(ranks, q, confidence, place);
}
