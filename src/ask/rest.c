/*
 * rest.c
 *	  Counts of some of the rows of others, and what is measured of the rest.
 *	  See rest.h.
 *
 * With a the count of all rows, s_i of some, r_i of the rest and w the inverses
 * of their variances, least squares gives
 *
 *		a:		the mean of a, weight w_a, and of every s_i + r_i, weight 1 / (1 / w_s + 1 / w_r)
 *		s_i:	the mean of s_i, weight w_s, and of that a less r_i, weight w_r
 *
 * as each s_i and r_i stands in one equation beside a alone.
 */
#include "postgres.h"

#include <math.h>

#include "port/pg_bitutils.h"

#include "ask/rest.h"
#include "blocks/blocks.h"
#include "server/settings.h"

static const pe_sum *
sum_of(const pe_aggregation *g, int part)
{
	return &g->needed.sum[g->source[part].sum];
}

static uint64
numbers_of(const pe_sum *sum)
{
	return sum->needs & (PE_HAS_CONDITION(0) - 1);
}

int
pe_rest_part(const pe_aggregation *g, int sum)
{
	for (int i = 0; i < g->parts; i++)
		if (g->source[i].sum == sum && g->source[i].row_of == NULL)
			return i;
	return -1;
}

bool
pe_rest_is_any(const pe_aggregation *g)
{
	for (int i = 0; i < g->parts; i++)
		if (g->source[i].is_rest)
			return true;
	return false;
}

bool
pe_rest_has(const pe_aggregation *g, int i)
{
	for (int r = 0; r < g->parts && pe_rest_is_of_groups(g, i); r++)
		if (g->source[r].is_rest && g->source[r].all == g->source[i].sum)
			return true;
	return false;
}

/* ------------------------------------------------------------------
 * Parts
 * ------------------------------------------------------------------
 */

bool
pe_rest_is_of_groups(const pe_aggregation *g, int i)
{
	const pe_source_of_part *source = &g->source[i];
	const pe_sum *sum = sum_of(g, i);

	return sum->kind == PE_SUM_ONE && sum->needs < PE_HAS_ATTRIBUTE(0) && source->row_of == NULL && source->term < 0;
}

/* The same, without what was added here. */
static bool
counts_rows(const pe_aggregation *g, int i)
{
	return pe_rest_is_of_groups(g, i) && sum_of(g, i)->lacks == 0;
}

int
pe_rest_all(const pe_aggregation *g, int i)
{
	for (int r = 0; r < g->parts; r++)
		if (g->source[r].is_rest && (r == i || g->source[r].some == g->source[i].sum))
			return pe_rest_part(g, g->source[r].all);
	return i;
}

/* The part that counts all rows that part i counts, and most others, for its numbers alone; -1: none. */
static int
find_all(const pe_aggregation *g, int i)
{
	const pe_sum *some = sum_of(g, i);
	int			best = -1;

	for (int j = 0; j < g->parts && counts_rows(g, i); j++)
	{
		const pe_sum *all = sum_of(g, j);

		if (counts_rows(g, j) && (all->needs & ~some->needs) == 0 && all->needs != some->needs &&
			all->needs - numbers_of(all) == some->needs - numbers_of(some) &&
			(best < 0 || pg_popcount64(all->needs) < pg_popcount64(sum_of(g, best)->needs)))
			best = j;
	}
	return best;
}

/* The sets of numbers that the rest lacks. */
static int
sets_lacking(const pe_aggregation *g)
{
	int			sets = 0;

	for (int i = 0; i < g->parts; i++)
	{
		int			first = 0;

		while (sum_of(g, first)->lacks != sum_of(g, i)->lacks)
			first++;
		sets += first == i && sum_of(g, i)->lacks != 0;
	}
	return sets;
}

static void
add_rest(pe_aggregation *g, int all, int some)
{
	pe_sum		sum = *sum_of(g, all);
	int			n = g->needed.sums++;

	sum.lacks = (uint16_t) (numbers_of(sum_of(g, some)) & ~sum.needs);
	g->needed.sum[n] = sum;
	g->together = repalloc(g->together, g->needed.sums * sizeof(int));
	g->space_of = repalloc(g->space_of, g->needed.sums * sizeof(int));
	g->together[n] = n;
	g->space_of[n] = -1;
	g->source[g->parts++] = (pe_source_of_part) {
		.sum = n, .term = -1, .is_rest = true, .all = g->source[all].sum, .some = g->source[some].sum
	};
}

void
pe_rest_add(pe_aggregation *g)
{
	int			parts = g->parts;

	if (g->asked.ask.accounting == PE_PURE || g->rules.neighbours != PE_ADD_REMOVE || g->of_series > 0 ||
		pe_aggregation_asks_share(g) || pe_rest_is_any(g))
		return;
	for (int i = 0; i < parts; i++)
	{
		int			all = find_all(g, i);

		if (all >= 0 && g->parts < PE_MAX_SUMS && g->needed.sums < PE_MAX_SUMS && sets_lacking(g) < PE_MOST_LACKS)
			add_rest(g, all, i);
	}
}

/* ------------------------------------------------------------------
 * Estimates
 * ------------------------------------------------------------------
 */

/* The weights of a: each rest and its part know something of it. */
static void
estimate_all(const pe_aggregation *g, int a, const double *variance, double *row)
{
	double		whole = 1 / variance[a];

	for (int r = 0; r < g->parts; r++)
		if (g->source[r].is_rest && pe_rest_part(g, g->source[r].all) == a)
			whole += 1 / (variance[r] + variance[pe_rest_part(g, g->source[r].some)]);
	row[a] = 1 / variance[a] / whole;
	for (int r = 0; r < g->parts; r++)
		if (g->source[r].is_rest && pe_rest_part(g, g->source[r].all) == a)
		{
			int			s = pe_rest_part(g, g->source[r].some);

			row[r] = row[s] = 1 / (variance[r] + variance[s]) / whole;
		}
}

/* Those of s, and of the rest itself, from the estimate of a. */
static void
estimate_some(const pe_aggregation *g, int s, int r, const double *of_all, const double *variance, double *mix)
{
	int			parts = g->parts;
	double	   *some = mix + s * parts;
	double	   *rest = mix + r * parts;
	double		own = variance[r] / (variance[r] + variance[s]);

	for (int p = 0; p < parts; p++)
	{
		some[p] = own * (p == s) + (1 - own) * (of_all[p] - (p == r));
		rest[p] = of_all[p] - some[p];
	}
}

void
pe_rest_estimate(const pe_aggregation *g, const double *variance, double *mix)
{
	int			parts = g->parts;

	memset(mix, 0, (size_t) parts * parts * sizeof(double));
	for (int i = 0; i < parts; i++)
		mix[i * parts + i] = 1;
	for (int r = 0; r < parts; r++)
		if (g->source[r].is_rest)
		{
			int			a = pe_rest_part(g, g->source[r].all);

			estimate_all(g, a, variance, mix + a * parts);
			estimate_some(g, pe_rest_part(g, g->source[r].some), r, mix + a * parts, variance, mix);
		}
}

/* ------------------------------------------------------------------
 * The best estimate as one measurement
 * ------------------------------------------------------------------
 */

/* Weights of part i, each relative to noise of its share. */
static double *
weights_of(const pe_aggregation *g, int i)
{
	int			parts = g->parts;
	double	   *variance = pe_alloc(parts, sizeof(double));
	double	   *mix = pe_alloc((size_t) parts * parts, sizeof(double));
	double	   *weight = pe_alloc(parts, sizeof(double));

	for (int p = 0; p < parts; p++)
		variance[p] = 1 / (double) g->part[p].share;
	pe_rest_estimate(g, variance, mix);
	memcpy(weight, mix + (size_t) i * parts, parts * sizeof(double));
	pe_free(mix);
	pe_free(variance);
	return weight;
}

/* Part i with the share whose noise has the variance of the best estimate. */
static pe_plan_part
joined_part(const pe_aggregation *g, int i, const double *weight)
{
	pe_plan_part part = g->part[i];
	double		variance = 0;

	for (int p = 0; p < g->parts; p++)
		variance += weight[p] * weight[p] / (double) g->part[p].share;
	part.share = (uint64) fmin(1 / variance, (double) (PE_WHOLE_SHARE - 1));
	return part;
}

pe_noise *
pe_rest_noise(const pe_aggregation *g, int i, int64 nano)
{
	double	   *weight = weights_of(g, i);
	pe_plan_part part = joined_part(g, i, weight);

	pe_free(weight);
	return pe_plan_noise_of_part(&part, &g->rules, g->asked.ask.accounting, nano);
}

/* What the measurements of a part are in units of: 2^-shift of each row. */
static int *
shifts_of_part(const pe_aggregation *g, const pe_plan_part *part, int64 nano)
{
	const pe_strategy *strategy = part->strategy;
	int		   *lattice = pe_plan_lattices_of_part(part, &g->rules, g->asked.ask.accounting, nano);
	pe_noise   *noise = pe_plan_noise_of_part(part, &g->rules, g->asked.ask.accounting, nano);
	int		   *shift = pe_alloc(strategy->rows, sizeof(int));

	for (int32 row = 0; row < strategy->rows && lattice == NULL; row++)
		shift[row] = pe_noise_shift(noise);
	for (int32 b = 0; lattice != NULL && b < strategy->blocks->blocks; b++)
		for (int64 row = strategy->blocks->first[b]; row < strategy->blocks->first[b + 1]; row++)
			shift[row] = lattice[b];
	pe_free(noise);
	pe_free(lattice);
	return shift;
}

/* Adds what part p measured, times the weight. */
static void
add_measured(const pe_aggregation *g, int p, int64 nano, double weight, const int64 *measured, double *sum)
{
	const int64 *y = measured + pe_aggregation_rows_before(g, p);
	int		   *shift = shifts_of_part(g, &g->part[p], nano);

	for (int32 row = 0; row < g->part[p].strategy->rows; row++)
		sum[row] += weight * ldexp((double) y[row], -shift[row]);
	pe_free(shift);
}

static void
join_part(pe_aggregation *g, int i, int64 nano, const int64 *measured, int64 *joined)
{
	double	   *weight = weights_of(g, i);
	pe_plan_part part = joined_part(g, i, weight);
	int32		rows = part.strategy->rows;
	double	   *sum = pe_alloc(rows, sizeof(double));
	int		   *shift = shifts_of_part(g, &part, nano);
	int64	   *to = joined + pe_aggregation_rows_before(g, i);

	for (int p = 0; p < g->parts; p++)
		if (weight[p] != 0)
			add_measured(g, p, nano, weight[p], measured, sum);
	for (int32 row = 0; row < rows; row++)
		to[row] = (int64) rint(ldexp(sum[row], shift[row]));
	g->part[i] = part;
	pe_free(shift);
	pe_free(sum);
	pe_free(weight);
}

const int64 *
pe_rest_join(pe_aggregation *g, int64 nano, const int64 *measured)
{
	int64		rows = pe_aggregation_rows_before(g, g->parts);
	int64	   *joined;

	if (!pe_rest_is_any(g))
		return measured;
	pe_check_memory(rows * sizeof(int64));
	joined = palloc_extended(rows * sizeof(int64), MCXT_ALLOC_HUGE);
	memcpy(joined, measured, rows * sizeof(int64));
	for (int i = 0; i < g->parts; i++)
		if (pe_rest_has(g, i))
			join_part(g, i, nano, measured, joined);
	return joined;
}

/* ------------------------------------------------------------------
 * Shares
 * ------------------------------------------------------------------
 */

#define STEPS 200

/* The rest that has the share of part i beside it: no row of it has what i needs.  -1: none. */
static int
rest_beside(const pe_aggregation *g, int i)
{
	int			best = -1;

	for (int r = 0; r < g->parts; r++)
		if (g->source[r].is_rest && (sum_of(g, r)->lacks & ~g->part[i].needs) == 0 &&
			(best < 0 || g->source[r].some == g->source[i].sum ||
			 (g->source[best].some != g->source[i].sum &&
			  pg_popcount64(sum_of(g, r)->lacks) > pg_popcount64(sum_of(g, best)->lacks))))
			best = r;
	return best;
}

/* Where all or some are not measured there is no rest.  It stands behind the others, and has no cost. */
static void
drop_unneeded(pe_aggregation *g, const double *cost)
{
	int			kept = 0;

	for (int i = 0; i < g->parts; i++)
		if (!g->source[i].is_rest ||
			(cost[pe_rest_part(g, g->source[i].all)] > 0 && cost[pe_rest_part(g, g->source[i].some)] > 0))
		{
			g->source[kept] = g->source[i];
			g->part[kept++] = g->part[i];
		}
	g->parts = kept;
}

/*
 * What the error of all rows weighs, beside sums of some of them.  With half of
 * its cost sums are as precise as sums of a number that all rows have:
 * sum(x) beside count(*).
 */
#define WEIGHT_OF_ALL 0.5

/* Whether a part's share is to be found: it has one, and is not the rest. */
static bool
is_free(const pe_aggregation *g, int i)
{
	return !g->source[i].is_rest && pe_plan_part_is_of_rows(&g->part[i]);
}

typedef struct sharing
{
	const pe_aggregation *g;
	int		   *beside;			/* of each part: the rest that has its share too, -1: none */
	double	   *weight;			/* of the variance of each part's sum */
	double	   *share;
	double	   *variance;		/* of noise of the whole share 1 */
	double	   *mix;
	double	   *gain;			/* of each part: what a larger share makes less */
} sharing;

static void
share_rest(sharing *s)
{
	const pe_aggregation *g = s->g;

	for (int r = 0; r < g->parts; r++)
		if (g->source[r].is_rest)
			s->share[r] = 0;
	for (int i = 0; i < g->parts; i++)
		if (s->beside[i] >= 0)
			s->share[s->beside[i]] += s->share[i];
}

/* d/ds of the sum of weight times variance, with the other sign: the weights are the best ones, and stay. */
static void
find_gains(sharing *s)
{
	int			parts = s->g->parts;

	for (int p = 0; p < parts; p++)
		s->variance[p] = s->share[p] > 0 ? 1 / s->share[p] : 0;
	pe_rest_estimate(s->g, s->variance, s->mix);
	for (int p = 0; p < parts; p++)
	{
		s->gain[p] = 0;
		for (int i = 0; i < parts; i++)
			s->gain[p] += s->weight[i] * pow(s->mix[i * parts + p] * s->variance[p], 2);
	}
}

/*
 * Optimal designs are found by multiplying by roots of gains: each step is no
 * worse than the last (Yu, "Monotonic convergence of a general algorithm for
 * computing optimal designs", 2010).
 */
static void
improve(sharing *s)
{
	const pe_aggregation *g = s->g;
	double		before = 0;
	double		after = 0;

	find_gains(s);
	for (int i = 0; i < g->parts; i++)
		if (is_free(g, i))
		{
			int			r = s->beside[i];

			before += s->share[i];
			s->share[i] *= sqrt(s->gain[i] + (r >= 0 ? s->gain[r] : 0));
			after += s->share[i];
		}
	for (int i = 0; i < g->parts; i++)
		if (is_free(g, i) && after > 0)
			s->share[i] *= before / after;
	share_rest(s);
}

void
pe_rest_share(pe_aggregation *g, const double *cost)
{
	int			parts;
	sharing		s = {.g = g};

	drop_unneeded(g, cost);
	if (!pe_rest_is_any(g))
		return;
	parts = g->parts;
	s.beside = pe_alloc(parts, sizeof(int));
	s.share = pe_alloc(4 * parts, sizeof(double));
	s.variance = s.share + parts;
	s.gain = s.variance + parts;
	s.weight = s.gain + parts;
	s.mix = pe_alloc((size_t) parts * parts, sizeof(double));
	for (int i = 0; i < parts; i++)
	{
		s.beside[i] = is_free(g, i) ? rest_beside(g, i) : -1;
		s.share[i] = (double) g->part[i].share;
		s.weight[i] = cost[i] * (pe_rest_has(g, i) ? WEIGHT_OF_ALL : 1);
	}
	share_rest(&s);
	for (int step = 0; step < STEPS; step++)
		improve(&s);
	for (int i = 0; i < parts; i++)
		if (is_free(g, i) && g->part[i].share > 0)
			g->part[i].share = (uint64) fmax(1, floor(s.share[i] * (1 - 0x1p-32)));
	for (int i = 0; i < parts; i++)
		if (s.beside[i] >= 0)
			g->part[s.beside[i]].share += g->part[i].share;
	pe_free(s.mix);
	pe_free(s.share);
	pe_free(s.beside);
}
