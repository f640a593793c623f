/*
 * sums_result.c
 *	  From what a release of aggregates holds to answers: post-processing.  See ask_sums.h.
 */
#include "postgres.h"

#include <math.h>

#include "utils/memutils.h"

#include "ask/ask_sums.h"
#include "ask/atoms.h"
#include "ask/answers.h"
#include "ask/ask_counts.h"
#include "ask/known.h"
#include "ask/rest.h"
#include "ask/suppress.h"
#include "blocks/blocks.h"
#include "counts/quantile.h"
#include "ledger/strategies.h"
#include "noise/interval.h"
#include "server/settings.h"
#include "server/values.h"

/* What is known of one part. */
typedef struct measured_part
{
	const pe_noise *noise;
	const pe_noise *joined;		/* that of the best estimate, NULL: noise */
	double		own_stderr;		/* of one measurement, */
	double		noise_stderr;	/* the same in units of the integers */
	const double *estimate;		/* of its space's own queries, in the same; NULL: nothing was measured */
	double		total;			/* of all cells, where it is asked for */
	int32	   *query_of;		/* of what is counted by terms: of each group, -1: of another term; else NULL */

	/* of counts, for their intervals */
	int32	   *summands;		/* as of pe_reconstruction_summands; NULL: not looked at yet */
	pe_confidence confidence;
} measured_part;

/* What answers are worked out from, of one group at a time. */
typedef struct reading
{
	pe_aggregation *g;
	int32		times;			/* pe_aggregate_noise */
	double		miss;			/* likewise */
	double		variance;		/* of what is answered, for measurements of variance 1 */
	measured_part *part;
	int32		group;			/* the one that is looked at: estimate, noise, total and along are of its sums */
	pe_sum_estimate *estimate;
	pe_sum_noise *noise;		/* NULL: all sums have their own */
	const double *mix;			/* as of pe_aggregate_errors */
	double	   *along;			/* of mixed sums: [sum * parts + part] */
	pe_error_law law;
	bool		is_release;		/* of one measurement, which is answered: counts have the law of its noise */
	pe_sum_total *total;		/* of shares; NULL: there is none */
	pe_sum_estimate *reference; /* values of sums in place of what was measured; NULL: none */
} reading;

static int32
groups_of(const pe_aggregation *g)
{
	return g->space[0].workload.queries;
}

static void
refuse_payload(int64 release)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("release " INT64_FORMAT " does not hold the measurements of its sums", release)));
}

void
pe_aggregation_refuse_earlier(int64 release)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("release " INT64_FORMAT " was paid with an earlier version of pg_epsilon, and cannot be read "
					"any more", release),
			 errdetail("It measured other sums than this version does for the same request."),
			 errhint("The same request with fresh => true is measured anew, and charged; or let the owner "
					 "register the dataset anew.")));
}

/* ------------------------------------------------------------------
 * What was measured
 * ------------------------------------------------------------------
 */

static int
spaces_measured(const pe_aggregation *g)
{
	int			spaces = 0;

	for (int i = 0; i < g->spaces; i++)
		spaces += pe_aggregation_measures(g, i);
	return spaces;
}

/* Whether a space has the strategy that was measured then; only: no other space has one. */
static bool
has_strategy(const pe_space *s, const pe_strategies *all, bool only)
{
	if (s->kept.id == 0)
		return !only || all->count == 0;
	for (int i = 0; i < all->count; i++)
		if (all->id[i] == s->kept.id)
			return true;
	return false;
}

/*
 * A replay is of what was measured then: another strategy perhaps than would be
 * made now, or the workload itself (0).
 */
static void
load_strategies(pe_aggregation *g, const pe_strategies *all)
{
	bool		only = spaces_measured(g) == 1;

	for (int i = 0; i < g->spaces; i++)
	{
		pe_space   *s = &g->space[i];

		if (!pe_aggregation_measures(g, i) || has_strategy(s, all, only))
			continue;
		pe_aggregation_load(s, all);
		if (pe_aggregation_is_counts(g))
			pe_aggregation_settle_cells(s);
		else
			pe_aggregation_settle(s);
	}
}

/* Two parts of a pair have one share. */
static bool
pairs_hold(const pe_aggregation *g)
{
	for (int i = 0; i < g->parts; i++)
		for (int j = 0; j < i; j++)
			if (g->part[i].pair > 0 && g->part[i].pair == g->part[j].pair && g->part[i].share != g->part[j].share)
				return false;
	return true;
}

bool
pe_aggregation_take_shares(pe_aggregation *g, const int64 *value)
{
	for (int i = 0; i < g->parts; i++)
		g->part[i].share = (uint64) value[i];
	return pe_plan_shares_hold(g->part, g->parts) && pairs_hold(g) &&
		pe_plan_find_apart(g->part, g->parts, &g->rules, g->asked.ask.accounting);
}

/* What stands in front of the measurements: the shares as they were then, of several parts. */
static int64
shares_in_front(const pe_aggregation *g)
{
	return g->parts > 1 ? g->parts : 0;
}

int64
pe_aggregation_rows_before(const pe_aggregation *g, int part)
{
	int64		rows = 0;

	for (int i = 0; i < part; i++)
		rows += g->part[i].strategy->rows;
	return rows;
}

/* The measurements; all of them are there. */
static const int64 *
read_shares(pe_aggregation *g, int64 release, const int64 *value, int64 values)
{
	if (values != shares_in_front(g) + pe_aggregation_rows_before(g, g->parts))
		pe_aggregation_refuse_earlier(release);
	if (g->parts > 1 && !pe_aggregation_take_shares(g, value))
		refuse_payload(release);
	return value + shares_in_front(g);
}

/* ------------------------------------------------------------------
 * What one measurement says
 * ------------------------------------------------------------------
 */

static const pe_space *
space_of(const pe_aggregation *g, int part)
{
	return &g->space[g->source[part].space];
}

static int
shift_of(const pe_aggregation *g, int part)
{
	return pe_sum_shift(&g->needed, &g->needed.sum[g->source[part].sum]);
}

static bool
has_shares(const pe_aggregation *g, int sum)
{
	for (int i = 0; i < g->aggregates; i++)
		if (g->aggregate[i].kind == PE_AGG_SHARE && g->aggregate[i].sum[PE_USE_N] == sum)
			return true;
	return false;
}

bool
pe_aggregation_asks_share(const pe_aggregation *g)
{
	for (int i = 0; i < g->aggregates; i++)
		if (g->aggregate[i].kind == PE_AGG_SHARE)
			return true;
	return false;
}

/* Whether the total of a part is answered beside its groups. */
static bool
has_total(const pe_aggregation *g, int part)
{
	return g->source[part].term < 0 && has_shares(g, g->source[part].sum);
}

int32
pe_aggregation_estimates(const pe_aggregation *g)
{
	int32		estimates = 0;

	for (int i = 0; i < g->parts; i++)
		estimates += pe_space_told(space_of(g, i))->queries + has_total(g, i);
	return estimates;
}

/* The total over the cells of a space, as a workload. */
static void
workload_of_total(const pe_aggregation *g, const pe_space *s, pe_workload *total)
{
	pe_parse_columns_workload(g->asked.dataset, s->columns, s->domain, "total", total);
}

static double
total_of_blocks(const pe_aggregation *g, const pe_space *s, const int *lattice, const int64 *y)
{
	pe_measured measured = s->measured;
	pe_reconstruction r;
	pe_workload total;
	double		estimate = 0;

	measured.lattice = lattice;
	workload_of_total(g, s, &total);
	if (!pe_reconstruction_init(&measured, &total, &r))
		elog(ERROR, "the total of a share cannot be told");
	pe_reconstruction_estimate(&r, y, &estimate);
	pe_reconstruction_free(&r);
	return estimate;
}

static double
total_of(const pe_strategy *strategy, const int64 *y)
{
	double	   *x = pe_alloc(strategy->columns, sizeof(double));
	double		total = 0;

	pe_strategy_solve(strategy, y, x);
	for (int32 j = 0; j < strategy->columns; j++)
		total += x[j];
	pe_free(x);
	return total;
}

/* Of all queries of a workload, in units of the integers; parts of one space have units of their own. */
static void
estimate_queries(const pe_reconstruction *r, const int *lattice, const int64 *y, double *estimate)
{
	pe_reconstruction own = *r;
	pe_measured measured = *r->measured;

	measured.lattice = lattice;
	own.measured = &measured;
	pe_reconstruction_estimate(&own, y, estimate);
}

static void
estimate_over(const pe_known_pair *pair, const int64 *y, double *estimate)
{
	pe_reconstruction r;

	if (!pe_reconstruction_init(&pair->measured, &pair->asked_over, &r))
		elog(ERROR, "what a release knows cannot be told");
	pe_reconstruction_estimate(&r, y, estimate);
	pe_reconstruction_free(&r);
}

int32
pe_aggregation_estimate_part(const pe_aggregation *of, const pe_aggregate_noise *noise, int j,
							 const pe_aggregation *g, int i, const pe_known_pair *pair, const int64 *y,
							 double *estimate)
{
	int32		queries = pe_space_told(space_of(g, i))->queries;
	int			shift = noise->lattice[j] != NULL ? 0 : pe_noise_shift(noise->of_part[j]);
	double		unit = ldexp(1, shift_of(of, j) - shift);

	if (pair != NULL)
		estimate_over(pair, y, estimate);
	else
		estimate_queries(&space_of(of, j)->own, noise->lattice[j], y, estimate);
	for (int32 q = 0; q < queries; q++)
		estimate[q] *= unit;
	if (has_total(g, i))
		estimate[queries] = unit * (of->part[j].strategy->blocks != NULL
									? total_of_blocks(of, space_of(of, j), noise->lattice[j], y)
									: total_of(of->part[j].strategy, y));
	return queries + has_total(g, i);
}

void
pe_aggregation_estimate(const pe_aggregation *g, const pe_aggregate_noise *noise, const int64 *y, double *estimate)
{
	for (int i = 0; i < g->parts; i++)
	{
		estimate += pe_aggregation_estimate_part(g, noise, i, g, i, NULL, y, estimate);
		y += g->part[i].strategy->rows;
	}
}

/* ------------------------------------------------------------------
 * Estimates of sums
 * ------------------------------------------------------------------
 */

/*
 * Whether each estimate of a space's own queries is one measurement; of classes
 * of atoms, whether each part of its noise is.
 */
static bool
is_single(const pe_space *s)
{
	int32		queries = s->workload.queries;
	int32	   *summands;
	bool		single = true;

	if (s->by_atom != NULL)
		return s->by_atom->by_class;
	summands = pe_alloc(queries, sizeof(int32));

	pe_reconstruction_summands(&s->own, s->variance, summands);
	for (int32 q = 0; q < queries; q++)
		single &= summands[q] <= 1;
	pe_free(summands);
	return single;
}

/* The group of a term's space that a query of the term is. */
static int32
place_in_space(const pe_aggregation *g, const pe_space *s, const pe_term *term, int64 local)
{
	int32		query[PE_MAX_ATTRIBUTES];
	int32		coordinate[PE_MAX_ATTRIBUTES] = {0};
	int32		place = 0;

	(void) pe_term_query(term, local, query);
	for (int f = 0; f < term->factors; f++)
		if (term->factor[f].constructor == PE_IDENTITY)
			coordinate[term->factor[f].attribute] = query[f];
	for (int a = 0; a < g->groups; a++)
		if ((s->set >> a & 1) != 0)
			place = place * g->space[0].workload.shape.cells[a] + coordinate[a];
	return place;
}

static void
put_estimate(reading *r, int i, int sum, int32 query)
{
	const measured_part *part = &r->part[i];

	r->estimate[sum] = (pe_sum_estimate) {part->estimate != NULL ? part->estimate[query] : 0,
		space_of(r->g, i)->variance[query] * part->noise_stderr * part->noise_stderr * r->variance};
}

static int32 *
queries_of_term(const pe_aggregation *g, int i)
{
	const pe_workload *workload = &g->space[0].workload;
	int32	   *term = pe_alloc(workload->queries, sizeof(int32));
	int32	   *local = pe_alloc(workload->queries, sizeof(int32));
	int32	   *query_of = pe_alloc(workload->queries, sizeof(int32));

	pe_workload_index(workload, term, local);
	for (int32 q = 0; q < workload->queries; q++)
		query_of[q] = term[q] != g->source[i].term ? -1
			: place_in_space(g, space_of(g, i), &workload->term[term[q]], local[q]);
	pe_free(term);
	pe_free(local);
	return query_of;
}

static bool
is_of_ranks(const pe_aggregation *g, int i)
{
	return space_of(g, i)->by_cells;
}

static void
put_part(reading *r, int i)
{
	const pe_source_of_part *source = &r->g->source[i];
	int32		query = r->part[i].query_of != NULL ? r->part[i].query_of[r->group] : 0;

	if (is_of_ranks(r->g, i) || query < 0)
		return;
	if (source->row_of == NULL)
		put_estimate(r, i, source->sum, source->term >= 0 ? query : pe_part_query(r->g, i, source->sum, r->group));
	for (int s = 0; s < r->g->needed.sums && source->row_of != NULL; s++)
		if (source->row_of[s] >= 0)
			put_estimate(r, i, s, pe_part_query(r->g, i, s, r->group));
}

/* Where estimates are sums of many Laplace numbers: the widest interval that any of the parts asks for. */
static pe_error_law
find_law(const pe_aggregation *g, const pe_aggregate_noise *noise)
{
	pe_error_law law = pe_error_law_of(g->asked.ask.accounting == PE_PURE, noise->miss);
	pe_confidence confidence;
	bool		single = true;

	for (int i = 0; i < g->parts && law.laplace; i++)
		single &= is_of_ranks(g, i) || (!space_of(g, i)->derived && is_single(space_of(g, i)));
	if (single)
		return law;
	pe_confidence_init(&confidence, noise->of_part[0], 1, noise->miss);
	law.factor = pe_confidence_half(&confidence, 1, 0) / pe_noise_stderr(noise->of_part[0]);
	pe_confidence_free(&confidence);
	return law;
}

/* ------------------------------------------------------------------
 * Counts whose rest was measured (rest.h)
 * ------------------------------------------------------------------
 */

static double
mean_variance(const pe_space *s, int32 groups)
{
	double		all = 0;

	for (int32 q = 0; q < groups; q++)
		all += s->variance[q];
	return all / groups;
}

/* The weights of what parts measured in the estimates of their sums; NULL: each is its own. */
static const double *
mix_of(const pe_aggregation *g, const pe_aggregate_noise *noise)
{
	double	   *variance;
	double	   *mix;

	if (!pe_rest_is_any(g))
		return NULL;
	variance = pe_alloc(g->parts, sizeof(double));
	mix = pe_alloc((size_t) g->parts * g->parts, sizeof(double));
	for (int i = 0; i < g->parts; i++)
		if (pe_rest_is_of_groups(g, i))
			variance[i] = pow(pe_noise_stderr(noise->of_part[i]), 2) * mean_variance(space_of(g, i), groups_of(g));
	pe_rest_estimate(g, variance, mix);
	pe_free(variance);
	return mix;
}

/* The part of a sum that is estimated from several parts; -1: of any other. */
static int
mixed_part(const pe_aggregation *g, const double *mix, int sum)
{
	int			i = mix != NULL ? pe_rest_part(g, sum) : -1;

	return i >= 0 && mix[i * g->parts + i] != 1 ? i : -1;
}

/* The noise of a group of one measurement of a part, in units of the integers. */
static double
noise_of_group(const pe_aggregation *g, const pe_aggregate_noise *noise, int i, int32 group)
{
	return pe_noise_stderr(noise->of_part[i]) * sqrt(space_of(g, i)->variance[group]);
}

static void
put_mixed(reading *r)
{
	const pe_aggregation *g = r->g;

	for (int s = 0; s < g->needed.sums; s++)
	{
		int			i = mixed_part(g, r->mix, s);
		double	   *along = r->along + (size_t) s * g->parts;
		pe_sum_estimate all = {0, 0};

		for (int p = 0; p < g->parts && i >= 0; p++)
		{
			const measured_part *part = &r->part[p];
			double		weight = r->mix[i * g->parts + p];
			double		root = weight != 0 ? sqrt(space_of(g, p)->variance[r->group]) : 0;

			along[p] = weight * part->noise_stderr * root;
			if (weight == 0)
				continue;
			all.value += part->estimate != NULL ? weight * part->estimate[r->group] : 0;
			all.variance += pow(weight * (part->own_stderr * root), 2) * r->variance;
		}
		if (i < 0)
			continue;
		r->estimate[s] = all;
		r->noise[s] = (pe_sum_noise) {along, g->parts, sqrt(r->variance), pe_rest_all(g, i)};
	}
}

/* ------------------------------------------------------------------
 * Shares
 * ------------------------------------------------------------------
 */

/* The workload's queries of what is known of columns. */
static double *
queries_of_columns(const pe_space *s, const double *column)
{
	double	   *answer = pe_alloc(s->workload.queries, sizeof(double));
	const pe_workload *workload = &s->workload;
	pe_classes	classes;
	double	   *of_class;

	pe_classes_init(&workload, 1, &classes);
	of_class = pe_alloc(classes.cells, sizeof(double));
	for (int32 c = 0; c < classes.cells; c++)
		if (s->kept.strategy.column_of[c] >= 0)
			of_class[c] = column[s->kept.strategy.column_of[c]];
	pe_workload_apply(workload, &classes, of_class, answer);
	pe_classes_free(&classes);
	pe_free(of_class);
	return answer;
}

/*
 * The total over all cells of a sum, and how it varies with each group.  The
 * groups determine every class that they distinguish only where the strategy
 * has full rank.  It lives as long as the space.
 */
static void
find_total(const pe_aggregation *g, pe_space *s)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(s->variance));
	const pe_strategy *strategy = &s->kept.strategy;
	double	   *with;
	pe_workload total;

	if (strategy->blocks != NULL)
	{
		workload_of_total(g, s, &total);
		s->total_covariance = pe_alloc(s->workload.queries, sizeof(double));
		pe_blocks_covariance_with_total(strategy->blocks, &s->workload, s->total_covariance);
		pe_blocks_covariance_with_total(strategy->blocks, &total, &s->total_variance);
		MemoryContextSwitchTo(old);
		return;
	}
	pe_check_memory(3 * (size_t) strategy->columns * strategy->columns * sizeof(double));
	with = pe_strategy_covariance_with_total(strategy);
	s->total_covariance = queries_of_columns(s, with);
	s->total_variance = 0;
	for (int32 j = 0; j < strategy->columns; j++)
		s->total_variance += with[j];
	pe_free(with);
	MemoryContextSwitchTo(old);
}

static void
put_total(reading *r, int i)
{
	const pe_space *s = space_of(r->g, i);
	double		variance = r->part[i].noise_stderr * r->part[i].noise_stderr * r->variance;

	r->total[r->g->source[i].sum] = (pe_sum_total) {
		{r->part[i].total, s->total_variance * variance}, s->total_covariance[r->group] * variance
	};
}

/* ------------------------------------------------------------------
 * Answers
 * ------------------------------------------------------------------
 */

/* estimate: as pe_aggregation_estimate returns them; NULL: of no measurement. */
static void
begin(reading *r, pe_aggregation *g, const pe_aggregate_noise *noise, const double *estimate, double variance)
{
	*r = (reading) {.g = g, .times = noise->times, .miss = noise->miss, .variance = variance};
	r->part = pe_alloc(g->parts, sizeof(*r->part));
	r->estimate = pe_alloc(g->needed.sums, sizeof(*r->estimate));
	if (pe_aggregation_asks_share(g))
		r->total = pe_alloc(g->needed.sums, sizeof(*r->total));
	for (int i = 0; i < g->parts; i++)
	{
		measured_part *part = &r->part[i];

		part->noise = noise->of_part[i];
		part->joined = noise->joined != NULL ? noise->joined[i] : NULL;
		part->own_stderr = pe_noise_stderr(part->noise);
		part->noise_stderr = ldexp(part->own_stderr, shift_of(g, i));
		part->estimate = estimate;
		if (estimate != NULL)
			estimate += pe_space_told(space_of(g, i))->queries;
		if (g->source[i].row_of != NULL && r->noise == NULL)
			r->noise = pe_alloc(g->needed.sums, sizeof(*r->noise));
		if (has_total(g, i) && g->space[g->source[i].space].total_covariance == NULL)
			find_total(g, &g->space[g->source[i].space]);
		if (has_total(g, i) && estimate != NULL)
			part->total = *estimate++;
		if (g->source[i].term >= 0)
			part->query_of = queries_of_term(g, i);
	}
	r->mix = mix_of(g, noise);
	if (r->mix != NULL)
		r->along = pe_alloc((size_t) g->needed.sums * g->parts, sizeof(double));
	if (r->mix != NULL && r->noise == NULL)
		r->noise = pe_alloc(g->needed.sums, sizeof(*r->noise));
	r->law = find_law(g, noise);
}

static void
end(reading *r)
{
	for (int i = 0; i < r->g->parts; i++)
	{
		pe_free(r->part[i].query_of);
		if (r->part[i].summands == NULL)
			continue;
		pe_confidence_free(&r->part[i].confidence);
		pe_free(r->part[i].summands);
	}
	pe_free(r->reference);
	pe_free(r->total);
	pe_free(r->along);
	pe_free((void *) r->mix);
	pe_free(r->noise);
	pe_free(r->estimate);
	pe_free(r->part);
}

static pe_aggregate_result
result_of(const pe_quotient *answer)
{
	return (pe_aggregate_result) {answer->estimate, answer->stderr_, answer->lower, answer->upper};
}

/* What the sums of the group have in common. */
static void
put_noise(reading *r)
{
	const pe_aggregation *g = r->g;

	for (int i = 0; i < g->parts; i++)
		for (int s = 0; s < g->needed.sums && g->source[i].row_of != NULL; s++)
			if (g->source[i].row_of[s] >= 0)
			{
				r->noise[s] = pe_atoms_noise(g, i, s, r->group);
				r->noise[s].unit = r->part[i].noise_stderr * sqrt(r->variance);
			}
}

/* Of so many rows; the total of a share is that of as many groups as there are. */
static void
put_reference(reading *r)
{
	for (int s = 0; s < r->g->needed.sums; s++)
	{
		r->estimate[s].value = r->reference[s].value;
		if (r->total != NULL)
			r->total[s].estimate.value = r->reference[s].value * groups_of(r->g);
	}
}

/* Answers are of this group from now on. */
static void
look_at(reading *r, int32 group)
{
	const pe_aggregation *g = r->g;

	pe_poll();
	r->group = group;
	memset(r->estimate, 0, g->needed.sums * sizeof(*r->estimate));
	for (int i = 0; i < g->parts; i++)
	{
		put_part(r, i);
		if (has_total(g, i))
			put_total(r, i);
	}
	put_noise(r);
	if (r->mix != NULL)
		put_mixed(r);
	if (r->reference != NULL)
		put_reference(r);
}

/* The part that measures the count of a group by itself, and its query there; or -1. */
static int
part_of_count(const reading *r, const pe_aggregate *a, int32 *query)
{
	const pe_source_of_part *source = r->g->source;
	bool		counts = a->kind == PE_AGG_COUNT || a->kind == PE_AGG_DISTINCT;

	for (int i = 0; i < r->g->parts && r->is_release && counts; i++)
	{
		bool		by_terms = source[i].term >= 0;

		*query = by_terms ? r->part[i].query_of[r->group] : r->group;
		if (source[i].row_of == NULL && by_terms == (a->kind == PE_AGG_DISTINCT) && *query >= 0 &&
			source[i].sum == a->sum[PE_USE_N] && !is_of_ranks(r->g, i) &&
			(mixed_part(r->g, r->mix, source[i].sum) < 0 || r->part[i].joined != NULL))
			return i;
	}
	return -1;
}

static const pe_noise *
noise_of_count(const measured_part *part)
{
	return part->joined != NULL ? part->joined : part->noise;
}

/* What is answered from another release, or estimated from several parts: any weights. */
static void
look_at_summands(const reading *r, int i)
{
	measured_part *part = &r->part[i];
	const pe_space *s = space_of(r->g, i);

	if (part->summands != NULL)
		return;
	part->summands = pe_alloc(s->workload.queries, sizeof(int32));
	if (!s->derived && part->joined == NULL)
		pe_reconstruction_summands(&s->own, s->variance, part->summands);
	pe_confidence_init(&part->confidence, noise_of_count(part), r->g->part[i].strategy->rows, r->miss);
}

/* As dp.histogram and dp.answer tell it. */
static void
put_interval_of_count(const reading *r, int i, int32 query, pe_aggregate_result *result)
{
	const measured_part *part = &r->part[i];

	look_at_summands(r, i);
	pe_interval_around(&r->part[i].confidence, space_of(r->g, i)->variance[query], part->summands[query],
					   pe_noise_shift(noise_of_count(part)), result->estimate, &result->lower, &result->upper);
}

static void
answer_group(const reading *r, const pe_aggregate *a, pe_aggregate_result *result)
{
	pe_quotient answer;
	int32		query;
	int			part;

	pe_aggregate_answer_of(&r->g->needed, a, r->estimate, r->noise,
						   a->kind == PE_AGG_SHARE ? &r->total[a->sum[PE_USE_N]] : NULL, &r->law, &answer);
	*result = result_of(&answer);
	part = part_of_count(r, a, &query);
	if (part >= 0)
		put_interval_of_count(r, part, query, result);
}

/* ------------------------------------------------------------------
 * Counts that decide what is shown
 * ------------------------------------------------------------------
 */

static bool
is_measured(const pe_aggregation *g, int sum)
{
	for (int i = 0; i < g->parts; i++)
		if (pe_part_is_of(&g->source[i], sum))
			return true;
	return false;
}

/* Whether all sums of a count were measured; those of quantiles are ranks, and values are no rows. */
static bool
has_count(const pe_aggregation *g, const pe_aggregate *count)
{
	bool		has = !pe_aggregate_is_of_cells(count) && count->kind != PE_AGG_DISTINCT;

	for (int i = 0; i < PE_AGG_SUMS; i++)
		has &= count->sum[i] < 0 || is_measured(g, count->sum[i]);
	return has;
}

/* A count of rows has an interval of its own, also where an aggregate that is no count is made of it. */
static void
answer_count(const reading *r, const pe_aggregate *count, pe_aggregate_result *result)
{
	pe_aggregate plain = *count;

	if (plain.kind != PE_AGG_UNITS && plain.kind != PE_AGG_LOST)
		plain.kind = PE_AGG_COUNT;
	answer_group(r, &plain, result);
}

static void
answer_counts(reading *r)
{
	pe_aggregation *g = r->g;

	if (g->deciding == 0)
		return;
	g->count = pe_alloc((size_t) groups_of(g) * g->deciding, sizeof(*g->count));
	for (int i = 0; i < g->deciding; i++)
	{
		bool		has = has_count(g, &g->decides[i]);

		for (int32 q = 0; q < groups_of(g); q++)
		{
			g->count[(size_t) q * g->deciding + i] = pe_suppressed;
			if (!has)
				continue;
			look_at(r, q);
			answer_count(r, &g->decides[i], &g->count[(size_t) q * g->deciding + i]);
		}
	}
}

/* ------------------------------------------------------------------
 * Sums of answers, and their quotients
 * ------------------------------------------------------------------
 */

/* The standard error of a sum in a group, whose noise is its own; 0 where it has some in common with others. */
static double
error_of_sum(const pe_aggregate_errors *e, int sum, int32 group)
{
	const pe_aggregation *g = e->aggregation;

	for (int i = 0; i < g->parts; i++)
		if (g->source[i].row_of == NULL && g->source[i].sum == sum && g->source[i].term < 0)
			return sqrt(space_of(g, i)->variance[pe_part_query(g, i, sum, group)]) *
				ldexp(pe_noise_stderr(e->noise.of_part[i]), shift_of(g, i));
	return 0;
}

/* Parts of noise that sums of a group have in common. */
static int
common_parts(const pe_aggregation *g)
{
	int			parts = 0;

	for (int i = 0; i < g->parts; i++)
		if (g->source[i].row_of != NULL)
			parts += space_of(g, i)->by_atom->parts;
	return pe_rest_is_any(g) ? parts + g->parts : parts;
}

/* The standard deviation along one of them that a weighted sum of sums has. */
static double
weigh_part(const pe_aggregate_errors *e, int i, int p, int32 group, const double *weight)
{
	const pe_aggregation *g = e->aggregation;
	double		all = 0;

	for (int s = 0; s < g->needed.sums; s++)
		if (weight[s] != 0 && g->source[i].row_of[s] >= 0)
			all += weight[s] * pe_atoms_noise(g, i, s, group).part[p];
	return all * ldexp(pe_noise_stderr(e->noise.of_part[i]), shift_of(g, i));
}

/* Likewise, along what one part measured, of mixed sums. */
static double
weigh_mixed(const pe_aggregate_errors *e, int p, int32 group, const double *weight)
{
	const pe_aggregation *g = e->aggregation;
	double		all = 0;

	for (int s = 0; s < g->needed.sums; s++)
	{
		int			i = weight[s] != 0 ? mixed_part(g, e->mix, s) : -1;

		if (i >= 0)
			all += weight[s] * e->mix[i * g->parts + p];
	}
	return all != 0 ? all * noise_of_group(g, &e->noise, p, group) : 0;
}

/*
 * The parts of noise of one or two weighted sums in a group, the same ones in
 * both: those of sums with noise of their own, then those in common that any of
 * them has.  part[j] has room for all; returns how many there are.
 */
static int
fill_parts(const pe_aggregate_errors *e, int32 group, double *const *weight, int count, double *const *part)
{
	const pe_aggregation *g = e->aggregation;
	int			parts = 0;

	for (int s = 0; s < g->needed.sums; s++)
	{
		bool		weighs = weight[0][s] != 0 || weight[count - 1][s] != 0;
		double		error = weighs ? error_of_sum(e, s, group) : 0;

		if (g->space_of[s] >= 0 || mixed_part(g, e->mix, s) >= 0)
			continue;
		for (int j = 0; j < count; j++)
			part[j][parts] = weight[j][s] * error;
		parts++;
	}
	for (int i = 0; i < g->parts; i++)
		for (int p = 0; g->source[i].row_of != NULL && p < space_of(g, i)->by_atom->parts; p++)
		{
			for (int j = 0; j < count; j++)
				part[j][parts] = weigh_part(e, i, p, group, weight[j]);
			parts += part[0][parts] != 0 || part[count - 1][parts] != 0;
		}
	for (int p = 0; p < g->parts && e->mix != NULL; p++)
	{
		for (int j = 0; j < count; j++)
			part[j][parts] = weigh_mixed(e, p, group, weight[j]);
		parts += part[0][parts] != 0 || part[count - 1][parts] != 0;
	}
	return parts;
}

/* Several terms of these aggregates as one number that is linear in the sums. */
static pe_linear_estimate
add_terms(const pe_aggregation *g, const pe_aggregate *aggregate, const pe_aggregate_result *result,
		  const pe_terms *terms, double *weight)
{
	pe_linear_estimate all = {0, weight};

	for (int t = 0; t < terms->terms; t++)
	{
		const pe_weighted *term = &terms->term[t];

		all.value += term->factor * result[term->number].estimate;
		pe_aggregate_add_weights(&g->needed, &aggregate[term->number], term->factor, weight);
	}
	return all;
}

/* Whether estimates of two groups have no noise in common: each cell is counted by itself. */
static bool
groups_are_independent(const pe_aggregation *g)
{
	for (int i = 0; i < g->parts; i++)
	{
		const pe_strategy *strategy = g->part[i].strategy;

		if (strategy->triangle != NULL || strategy->dense != NULL || strategy->blocks != NULL)
			return false;
	}
	return true;
}

/* Of one sum of independent parts of noise. */
static void
add_error(const pe_aggregate_errors *e, const double *part, int parts, pe_aggregate_result *all)
{
	double		half = pe_error_half(&e->law, part, parts);
	double		error = 0;

	for (int i = 0; i < parts; i++)
		error = hypot(error, part[i]);
	all->stderr_ += error;
	all->lower -= half;
	all->upper += half;
}

/* Groups that have noise in common err no more together than each of them does. */
static pe_aggregate_result
sum_of(const pe_aggregate_errors *e, const pe_aggregate *aggregate, int aggregates,
	   const pe_aggregate_result *result, const int32 *group, int groups, const pe_terms *terms)
{
	const pe_aggregation *g = e->aggregation;
	size_t		most = (size_t) g->needed.sums + common_parts(g);
	double	   *part = pe_alloc(groups * most + 1, sizeof(double));
	double	   *weight = pe_alloc(g->needed.sums + 1, sizeof(double));
	bool		independent = groups_are_independent(g);
	pe_aggregate_result all = {0};
	int			parts = 0;

	for (int i = 0; i < groups; i++)
	{
		double	   *of_group = part + parts;

		memset(weight, 0, g->needed.sums * sizeof(double));
		all.estimate += add_terms(g, aggregate, result + (size_t) group[i] * aggregates, terms, weight).value;
		parts += fill_parts(e, group[i], &weight, 1, &of_group);
		if (!independent || i == groups - 1)
		{
			add_error(e, part, parts, &all);
			parts = 0;
		}
	}
	all.lower += all.estimate;
	all.upper += all.estimate;
	pe_free(weight);
	pe_free(part);
	return all;
}

pe_aggregate_result
pe_aggregation_sum(const pe_aggregate_errors *e, const pe_aggregate_result *result, const int32 *group, int groups,
				   const pe_terms *terms)
{
	const pe_aggregation *g = e->aggregation;

	return sum_of(e, g->aggregate, g->aggregates, result, group, groups, terms);
}

pe_aggregate_result
pe_aggregation_count_sum(const pe_aggregate_errors *e, const pe_aggregate_result *count, const int32 *group,
						 int groups, int number)
{
	const pe_aggregation *g = e->aggregation;
	pe_weighted one = {1, number};

	return sum_of(e, g->decides, g->deciding, count, group, groups, &(pe_terms) {&one, 1});
}

pe_aggregate_result
pe_aggregation_quotient(const pe_aggregate_errors *e, const pe_aggregate_result *result, int32 group,
						const pe_terms *above, const pe_terms *below)
{
	const pe_aggregation *g = e->aggregation;
	size_t		sums = g->needed.sums;
	size_t		most = sums + common_parts(g);
	double	   *room = pe_alloc(2 * (sums + most), sizeof(double));
	double	   *weight[2] = {room, room + sums};
	double	   *part[2] = {room + 2 * sums, room + 2 * sums + most};
	const pe_aggregate_result *of_group = result + (size_t) group * g->aggregates;
	pe_linear_estimate top = {add_terms(g, g->aggregate, of_group, above, weight[0]).value, part[0]};
	pe_linear_estimate bottom = {add_terms(g, g->aggregate, of_group, below, weight[1]).value, part[1]};
	pe_quotient quotient;

	pe_quotient_of(&e->law, &top, &bottom, fill_parts(e, group, weight, 2, part), &quotient);
	pe_free(room);
	return result_of(&quotient);
}

pe_aggregate_errors
pe_aggregation_errors_with(const pe_aggregation *g, pe_aggregate_noise noise, double miss)
{
	noise.miss = miss;
	return (pe_aggregate_errors) {g, noise, find_law(g, &noise), mix_of(g, &noise)};
}

/* ------------------------------------------------------------------
 * Quantiles
 * ------------------------------------------------------------------
 */

/* Those of so many groups, which are measured apart from each other, added up; from 0 at the first edge. */
static void
fill_ranks(const reading *r, int i, int32 group, int32 groups, pe_rank_estimates *ranks, double *room)
{
	const pe_space *s = space_of(r->g, i);
	int32		cells = ranks->cells;
	double	   *below = room;
	double	   *ascending = below + cells + 1;
	double	   *below_variance = ascending + cells + 1;
	double	   *above_variance = below_variance + cells + 1;

	memset(room, 0, 4 * ((size_t) cells + 1) * sizeof(double));
	for (int32 q = group; q < group + groups; q++)
		for (int32 e = 1; e <= cells; e++)
		{
			below[e] += r->part[i].estimate[q * cells + e - 1];
			below_variance[e] += s->variance[q * cells + e - 1] * r->variance;
			above_variance[e] += e < cells ? s->above_variance[q * (cells - 1) + e - 1] * r->variance : 0;
		}
	below[0] = below_variance[0] = 0;
	above_variance[0] = below_variance[cells];
	pe_ascending_ranks(cells, below, ascending);
	ranks->below = below;
	ranks->ascending = ascending;
	ranks->below_variance = below_variance;
	ranks->above_variance = above_variance;
	ranks->total_stderr = sqrt(below_variance[cells]) * r->part[i].noise_stderr;
}

static double
edge_of(const pe_column *column, int32 edge)
{
	return pe_number_of_text(column->type, column->points[edge]);
}

static void
put_quantile(const pe_column *x, const pe_quantile_place *place, pe_aggregate_result *result)
{
	*result = (pe_aggregate_result) {NAN, NAN, edge_of(x, place->lower), edge_of(x, place->upper)};
	if (place->cell >= 0)
	{
		double		lower = edge_of(x, place->cell);

		result->estimate = lower;
		if (!pe_bin_is_one_value(&x->domain, place->cell))
			result->estimate += place->inside * (edge_of(x, place->cell + 1) - lower);
	}
}

/*
 * Whether the interval of the number of rows is above 0: one that misses little
 * is wider than the three errors of quantile.h.
 */
static bool
has_rows(const pe_rank_estimates *ranks, pe_confidence *confidence)
{
	return ranks->below[ranks->cells] > pe_confidence_half(confidence, ranks->below_variance[ranks->cells], 0);
}

/* What decides whether it is shown: rows that have a rank. */
static void
put_count_of_ranks(const reading *r, int number, int32 group, const pe_rank_estimates *ranks, pe_confidence *confidence)
{
	const pe_aggregation *g = r->g;
	double		rows = ranks->below[ranks->cells];
	double		half = pe_confidence_half(confidence, ranks->below_variance[ranks->cells], 0);

	for (int i = 0; i < PE_DECIDED_BY && g->deciding > 0; i++)
	{
		int			count = g->decided_by[number][i];

		if (count >= 0 && pe_aggregate_is_of_cells(&g->decides[count]))
			g->count[(size_t) group * g->deciding + count] = (pe_aggregate_result) {
				rows, ranks->total_stderr, rows - half, rows + half
			};
	}
}

/* A quantile of ranks. */
static void
place_quantile(const pe_column *x, const pe_rank_estimates *ranks, double fraction, pe_confidence *confidence,
			   pe_aggregate_result *result)
{
	pe_quantile_place place;

	pe_quantile_find(ranks, fraction, confidence, &place);
	if (!has_rows(ranks, confidence))
		place.cell = -1;
	put_quantile(x, &place, result);
}

static void
begin_confidence(const reading *r, int i, pe_confidence *confidence)
{
	pe_confidence_init(confidence, r->part[i].noise,
					   (int32) Min((int64) r->g->part[i].strategy->rows * r->times, PG_INT32_MAX), r->miss);
}

/* A quantile of every group, from the part of its ranks. */
static void
answer_quantile(const reading *r, int number, int i, pe_aggregate_result *result)
{
	const pe_aggregation *g = r->g;
	const pe_aggregate *a = &g->aggregate[number];
	const pe_column *x = &g->columns[a->attribute];
	pe_rank_estimates ranks = {.cells = pe_attribute_ordered_cells(&x->domain)};
	double	   *room = pe_alloc(4 * ((size_t) ranks.cells + 1), sizeof(double));
	pe_confidence confidence;

	begin_confidence(r, i, &confidence);
	for (int32 q = 0; q < groups_of(g); q++)
	{
		fill_ranks(r, i, q, 1, &ranks, room);
		put_count_of_ranks(r, number, q, &ranks, &confidence);
		place_quantile(x, &ranks, a->fraction, &confidence, &result[(size_t) q * g->aggregates + number]);
	}
	pe_confidence_free(&confidence);
	pe_free(room);
}

/* The part that measures the cells of an aggregate. */
static int
part_of_cells(const pe_aggregation *g, int number)
{
	for (int i = 0; i < g->parts; i++)
		if (is_of_ranks(g, i) && g->source[i].sum == g->aggregate[number].sum[PE_USE_N])
			return i;
	elog(ERROR, "the cells of an aggregate were not measured");
	return -1;
}

/* A cell of so many groups together; NaN: of all cells of its group. */
static pe_aggregate_result
count_levels(const reading *r, int i, int32 cells, int32 group, int32 groups, int32 cell, pe_confidence *confidence)
{
	const pe_space *s = space_of(r->g, i);
	pe_aggregate_result all = {0};
	double		variance = 0;
	double		half;

	for (int32 q = group; q < group + groups; q++)
		for (int32 c = Max(cell, 0); c < (cell < 0 ? cells : cell + 1); c++)
		{
			all.estimate += r->part[i].estimate[q * cells + c];
			variance += s->variance[q * cells + c] * r->variance;
		}
	half = pe_confidence_half(confidence, variance, 0);
	all.stderr_ = sqrt(variance) * r->part[i].noise_stderr;
	all.lower = all.estimate - half;
	all.upper = all.estimate + half;
	return all;
}

static int32
cells_of(const pe_aggregation *g, int number)
{
	return pe_attribute_cells(&g->columns[g->aggregate[number].attribute].domain);
}

/* Levels are answered by tables alone; elsewhere their rows decide what is shown of them. */
static void
answer_levels(const reading *r, int number, pe_aggregate_result *result)
{
	const pe_aggregation *g = r->g;
	int			i = part_of_cells(g, number);
	pe_confidence confidence;

	begin_confidence(r, i, &confidence);
	for (int32 q = 0; q < groups_of(g); q++)
	{
		pe_aggregate_result rows = count_levels(r, i, cells_of(g, number), q, 1, -1, &confidence);

		result[(size_t) q * g->aggregates + number] = (pe_aggregate_result) {NAN, NAN, NAN, NAN};
		for (int d = 0; d < PE_DECIDED_BY && g->deciding > 0; d++)
		{
			int			count = g->decided_by[number][d];

			if (count >= 0 && g->decides[count].kind == PE_AGG_LEVELS)
				g->count[(size_t) q * g->deciding + count] = rows;
		}
	}
	pe_confidence_free(&confidence);
}

static void
answer_quantiles(const reading *r, pe_aggregate_result *result)
{
	const pe_aggregation *g = r->g;

	for (int a = 0; a < g->aggregates; a++)
		if (g->aggregate[a].kind == PE_AGG_QUANTILE)
			answer_quantile(r, a, part_of_cells(g, a), result);
		else if (g->aggregate[a].kind == PE_AGG_LEVELS)
			answer_levels(r, a, result);
}

/* Quantiles on a grid: group by group, in the order of the fractions. */
static void
answer_grid(const pe_aggregation *g, int64 release, const int64 *value, int64 values, pe_aggregate_result *result)
{
	const pe_number *number = &g->needed.number[0];

	if (values != g->question.sums.chosen)
		refuse_payload(release);
	for (int32 q = 0; q < groups_of(g); q++)
		for (int i = 0; i < g->aggregates; i++)
		{
			int			f = 0;
			double		u;

			while (g->fraction[f] != pe_fraction_of(&g->aggregate[i]))
				f++;
			u = (double) (value[q * g->grid.fractions + f] - number->most);
			result[q * g->aggregates + i] = (pe_aggregate_result) {
				pe_number_middle(number) + u * pe_number_step(number), NAN, NAN, NAN
			};
		}
}

void
pe_aggregation_answers(pe_aggregation *g, const pe_aggregate_noise *noise, const double *estimate, double variance,
					   pe_aggregate_result *result)
{
	reading		r;

	begin(&r, g, noise, estimate, variance);
	r.is_release = noise->times == 1 && variance == 1;
	for (int32 q = 0; q < groups_of(g); q++)
	{
		look_at(&r, q);
		for (int i = 0; i < g->aggregates; i++)
			if (!pe_aggregate_is_of_cells(&g->aggregate[i]))
				answer_group(&r, &g->aggregate[i], &result[(size_t) q * g->aggregates + i]);
	}
	answer_counts(&r);
	answer_quantiles(&r, result);
	end(&r);
}

/* ------------------------------------------------------------------
 * Tables
 * ------------------------------------------------------------------
 */

/* Sums of all groups together, and what they have in common: as of one group, and so many times its variance. */
static void
answer_all_groups(reading *r, pe_tabulated *t)
{
	const pe_aggregation *g = r->g;
	int32		groups = groups_of(g);
	pe_sum_estimate *all = pe_alloc(g->needed.sums + 1, sizeof(*all));
	pe_sum_estimate *sum = pe_alloc((size_t) groups * g->needed.sums, sizeof(*sum));

	for (int32 q = groups - 1; q >= 0; q--)
	{
		look_at(r, q);
		memcpy(sum + (size_t) q * g->needed.sums, r->estimate, g->needed.sums * sizeof(*sum));
	}
	for (int32 q = 0; q < groups; q++)
		for (int s = 0; s < g->needed.sums; s++)
		{
			all[s].value += sum[(size_t) q * g->needed.sums + s].value;
			all[s].variance += sum[(size_t) q * g->needed.sums + s].variance;
		}
	for (int s = 0; s < g->needed.sums && r->noise != NULL; s++)
		r->noise[s].unit *= sqrt(groups);
	for (int i = 0; i < g->aggregates; i++)
	{
		pe_quotient answer;

		if (pe_aggregate_is_of_cells(&g->aggregate[i]))
			continue;
		pe_aggregate_answer_of(&g->needed, &g->aggregate[i], all, r->noise, NULL, &r->law, &answer);
		t->result[(size_t) groups * g->aggregates + i] = result_of(&answer);
	}
	t->sum = sum;
	pe_free(all);
}

static void
tabulate_levels(const reading *r, int number, pe_tabulated *t)
{
	const pe_aggregation *g = r->g;
	int			i = part_of_cells(g, number);
	int32		cells = cells_of(g, number);
	pe_confidence confidence;

	t->cell[number] = pe_alloc((size_t) (t->groups + 1) * cells, sizeof(**t->cell));
	begin_confidence(r, i, &confidence);
	for (int32 q = 0; q <= t->groups; q++)
		for (int32 c = 0; c < cells; c++)
			t->cell[number][(size_t) q * cells + c] = count_levels(r, i, cells, q % t->groups,
																   q < t->groups ? 1 : t->groups, c, &confidence);
	pe_confidence_free(&confidence);
}

static void
tabulate_quartiles(const reading *r, int number, pe_tabulated *t)
{
	const pe_aggregation *g = r->g;
	int			i = part_of_cells(g, number);
	const pe_column *x = &g->columns[g->aggregate[number].attribute];
	pe_rank_estimates ranks = {.cells = pe_attribute_ordered_cells(&x->domain)};
	double	   *room = pe_alloc(4 * ((size_t) ranks.cells + 1), sizeof(double));
	pe_confidence confidence;

	t->quartile[number] = pe_alloc((size_t) (t->groups + 1) * 3, sizeof(**t->quartile));
	begin_confidence(r, i, &confidence);
	for (int32 q = 0; q <= t->groups; q++)
	{
		fill_ranks(r, i, q % t->groups, q < t->groups ? 1 : t->groups, &ranks, room);
		for (int f = 0; f < 3; f++)
			place_quantile(x, &ranks, .25 * (f + 1), &confidence, &t->quartile[number][q * 3 + f]);
	}
	pe_confidence_free(&confidence);
	pe_free(room);
}

/* The rows that an aggregate does not count: of numbers a sum of the same noise, of levels one of its own. */
static pe_aggregate_result
missing_of(const pe_aggregate_errors *e, const pe_tabulated *t, int number, int32 group)
{
	const pe_aggregation *g = e->aggregation;
	pe_weighted term[2] = {{1, 0}, {-1, number}};
	int32		groups = group < t->groups ? 1 : t->groups;
	int32	   *each = palloc(groups * sizeof(int32));
	pe_aggregate_result all;
	double		half;

	for (int32 q = 0; q < groups; q++)
		each[q] = group < t->groups ? group : q;
	if (g->aggregate[number].kind != PE_AGG_LEVELS)
		return pe_aggregation_sum(e, t->result, each, groups, &(pe_terms) {term, 2});
	all = t->result[(size_t) group * g->aggregates];
	for (int32 c = 0; c < cells_of(g, number); c++)
		if (!pe_attribute_is_null(&g->columns[g->aggregate[number].attribute].domain, c))
		{
			const pe_aggregate_result *cell = &t->cell[number][(size_t) group * cells_of(g, number) + c];

			all.estimate -= cell->estimate;
			all.stderr_ = hypot(all.stderr_, cell->stderr_);
		}
	half = all.stderr_ * (e->law.laplace ? pe_laplace_sum_half(e->noise.miss) : pe_normal_half(e->noise.miss));
	all.lower = all.estimate - half;
	all.upper = all.estimate + half;
	return all;
}

/* Of all groups together: lower ends that are added up are no higher than that of the sum. */
static bool
shows_all(const pe_aggregation *g, int aggregate)
{
	bool		shows = true;

	for (int i = 0; i < PE_DECIDED_BY; i++)
		if (g->decided_by[aggregate][i] >= 0)
		{
			pe_min_count rule = pe_suppress_rule_of_count(g, g->decided_by[aggregate][i], 1);
			double		lower = 0;

			for (int32 q = 0; q < groups_of(g); q++)
				lower += g->count[(size_t) q * g->deciding + g->decided_by[aggregate][i]].lower;
			shows &= pe_min_count_shows(&rule, lower);
		}
	return shows;
}

static bool
shows_in_table(const pe_aggregation *g, int32 group, int aggregate)
{
	return group < groups_of(g) ? pe_suppress_shows(g, g->count, group, aggregate, 1) : shows_all(g, aggregate);
}

/* Of levels each is shown by its own rows, in a group that is. */
static void
suppress_table(const pe_aggregation *g, pe_tabulated *t)
{
	pe_min_count rule = g->min;

	for (int32 q = 0; q <= t->groups; q++)
		t->shown[q] = rule.units == 0 || shows_in_table(g, q, 0);
	for (int32 q = 0; q <= t->groups && rule.units > 0; q++)
		for (int i = 0; i < g->aggregates; i++)
		{
			bool		shown = t->shown[q] && shows_in_table(g, q, i);
			int32		cells = t->cell[i] != NULL ? cells_of(g, i) : 0;

			if (!shown)
				t->result[(size_t) q * g->aggregates + i] = t->missing[(size_t) q * g->aggregates + i] = pe_suppressed;
			for (int f = 0; f < 3 && t->quartile[i] != NULL && !shown; f++)
				t->quartile[i][q * 3 + f] = pe_suppressed;
			for (int32 c = 0; c < cells; c++)
				if (!shown || !pe_min_count_shows(&rule, t->cell[i][(size_t) q * cells + c].lower))
					t->cell[i][(size_t) q * cells + c] = pe_suppressed;
			if (!pe_min_count_shows(&rule, t->missing[(size_t) q * g->aggregates + i].lower))
				t->missing[(size_t) q * g->aggregates + i] = pe_suppressed;
		}
}

void
pe_aggregation_tabulate(pe_aggregation *g, const pe_aggregate_noise *noise, const double *estimate, pe_tabulated *t)
{
	int32		groups = groups_of(g);
	size_t		results = (size_t) (groups + 1) * g->aggregates;
	pe_aggregate_errors errors = pe_aggregation_errors_with(g, *noise, noise->miss);
	reading		r;

	*t = (pe_tabulated) {.groups = groups};
	t->result = pe_alloc(results, sizeof(*t->result));
	t->missing = pe_alloc(results, sizeof(*t->missing));
	t->cell = pe_alloc(g->aggregates, sizeof(*t->cell));
	t->quartile = pe_alloc(g->aggregates, sizeof(*t->quartile));
	t->shown = pe_alloc(groups + 1, sizeof(bool));
	pe_aggregation_answers(g, noise, estimate, 1, t->result);
	begin(&r, g, noise, estimate, 1);
	answer_all_groups(&r, t);
	for (int i = 0; i < g->aggregates; i++)
		if (g->aggregate[i].kind == PE_AGG_LEVELS)
			tabulate_levels(&r, i, t);
		else if (g->aggregate[i].kind == PE_AGG_QUANTILE)
			tabulate_quartiles(&r, i, t);
	for (int i = 1; i < g->aggregates; i++)
		for (int32 q = 0; q <= groups; q++)
			if (!pe_aggregate_needs_rows(&g->aggregate[i]))
				t->missing[(size_t) q * g->aggregates + i] = missing_of(&errors, t, i, q);
	end(&r);
	suppress_table(g, t);
}

pe_aggregate_noise
pe_aggregation_noise(const pe_aggregation *g, int64 nano)
{
	pe_noise  **of_part = palloc0(g->parts * sizeof(*of_part));
	pe_noise  **joined = palloc0(g->parts * sizeof(*joined));
	int		  **lattice = palloc0(g->parts * sizeof(*lattice));

	for (int i = 0; i < g->parts; i++)
	{
		pe_check_memory(pe_strategy_sensitivity_memory(g->part[i].strategy, g->rules.neighbours));
		of_part[i] = pe_plan_noise_of_part(&g->part[i], &g->rules, g->asked.ask.accounting, nano);
		lattice[i] = pe_plan_lattices_of_part(&g->part[i], &g->rules, g->asked.ask.accounting, nano);
		if (of_part[i] == NULL)
			elog(ERROR, "the noise of a part cannot be told");
		if (pe_rest_has(g, i))
			joined[i] = pe_rest_noise(g, i, nano);
	}
	return (pe_aggregate_noise) {of_part, joined, lattice, 1, PE_MISS};
}

const int64 *
pe_aggregation_measured(pe_aggregation *g, int64 release, const int64 *value, int64 values,
						const pe_strategies *strategies)
{
	load_strategies(g, strategies);
	return read_shares(g, release, value, values);
}

void
pe_aggregation_take(pe_aggregation *g, int64 release, const int64 *share, int32 shares, int64 rows,
					const pe_strategies *strategies)
{
	load_strategies(g, strategies);
	if (rows != pe_aggregation_rows_before(g, g->parts) || shares != shares_in_front(g))
		pe_aggregation_refuse_earlier(release);
	if (shares > 0 && !pe_aggregation_take_shares(g, share))
		refuse_payload(release);
}

/* What a release says of all queries, and with what noise. */
static double *
estimate_release(pe_aggregation *g, int64 release, const int64 *value, int64 values, const pe_strategies *strategies,
				 int64 nano, pe_aggregate_noise *noise)
{
	const int64 *measured = pe_aggregation_measured(g, release, value, values, strategies);
	double	   *estimate;

	*noise = pe_aggregation_noise(g, nano);
	estimate = pe_alloc(pe_aggregation_estimates(g), sizeof(double));
	pe_aggregation_estimate(g, noise, measured, estimate);
	return estimate;
}

pe_aggregate_result *
pe_aggregation_results(pe_aggregation *g, int64 release, const int64 *value, int64 values,
					   const pe_strategies *strategies, int64 nano, double miss)
{
	pe_aggregate_result *result = pe_alloc((size_t) groups_of(g) * g->aggregates, sizeof(*result));
	pe_aggregate_noise noise;
	double	   *estimate;

	if (g->on_grid)
	{
		answer_grid(g, release, value, values, result);
		return result;
	}
	estimate = estimate_release(g, release, value, values, strategies, nano, &noise);
	noise.miss = miss;
	pe_aggregation_answers(g, &noise, estimate, 1, result);
	pe_free(estimate);
	return result;
}

void
pe_aggregation_tabulate_release(pe_aggregation *g, int64 release, const int64 *value, int64 values,
								const pe_strategies *strategies, int64 nano, pe_tabulated *table)
{
	pe_aggregate_noise noise;
	double	   *estimate = estimate_release(g, release, value, values, strategies, nano, &noise);

	pe_aggregation_tabulate(g, &noise, estimate, table);
	pe_free(estimate);
}

/* ------------------------------------------------------------------
 * Errors known beforehand
 * ------------------------------------------------------------------
 */

/* Answers of so many rows in each group, of no measurement. */
static void
begin_reference(reading *r, pe_aggregation *g, const pe_aggregate_noise *noise, double rows, double variance)
{
	begin(r, g, noise, NULL, variance);
	r->reference = pe_alloc(g->needed.sums, sizeof(*r->reference));
	pe_aggregates_reference(&g->needed, rows, r->reference);
}

/* Whether a part has the same noise in two groups. */
static bool
has_same_noise(const reading *r, int i, int32 one, int32 other)
{
	const pe_space *s = space_of(r->g, i);
	const struct pe_atom_space *by = s->by_atom;
	int32		rows = by != NULL ? by->rows : 1;
	size_t		size = by != NULL && !by->alike ? (size_t) by->rows * by->parts : 0;
	const int32 *query_of = r->part[i].query_of;

	if (is_of_ranks(r->g, i) || r->g->source[i].of_all)
		return true;
	if (r->total != NULL && has_total(r->g, i) && s->total_covariance[one] != s->total_covariance[other])
		return false;
	if (query_of != NULL && (query_of[one] < 0 || query_of[other] < 0))
		return query_of[one] == query_of[other];
	one = query_of != NULL ? query_of[one] : one;
	other = query_of != NULL ? query_of[other] : other;
	for (int32 k = 0; k < rows; k++)
		if (s->variance[one * rows + k] != s->variance[other * rows + k])
			return false;
	return size == 0 || memcmp(by->part + one * size, by->part + other * size, size * sizeof(double)) == 0;
}

/* Groups that are measured alike have the same errors at reference values: the first of them is looked at. */
static bool
is_like_last(const reading *r, int32 group)
{
	bool		like = group > 0;

	for (int i = 0; i < r->g->parts && like; i++)
		like = has_same_noise(r, i, group, group - 1);
	return like;
}

/*
 * The largest standard error of the ranks that a quantile is computed from, or of
 * a level, in rows.
 */
static double
rank_error(const reading *r, int number)
{
	const pe_aggregation *g = r->g;
	double		most = 0;

	for (int i = 0; i < g->parts; i++)
	{
		const pe_space *s = space_of(g, i);

		if (g->source[i].sum != g->aggregate[number].sum[PE_USE_N])
			continue;
		for (int32 q = 0; q < s->workload.queries; q++)
			most = fmax(most, sqrt(s->variance[q]) * r->part[i].noise_stderr);
	}
	return most;
}

/* Of each aggregate the largest standard error of all groups; relative: divided by the answer. */
static void
find_largest_errors(reading *r, bool relative, double *error)
{
	const pe_aggregation *g = r->g;

	for (int32 q = 0; q < groups_of(g); q++)
	{
		if (is_like_last(r, q))
			continue;
		look_at(r, q);
		for (int i = 0; i < g->aggregates; i++)
		{
			pe_aggregate_result result;
			double		found;

			if (pe_aggregate_is_of_cells(&g->aggregate[i]))
				continue;
			answer_group(r, &g->aggregate[i], &result);
			found = relative ? result.stderr_ / fabs(result.estimate) : result.stderr_;
			if (!(found <= error[i]))	/* unknown is worse than any */
				error[i] = found;
		}
	}
}

void
pe_aggregation_errors_of(pe_aggregation *g, const pe_aggregate_noise *noise, double rows, double variance,
						 double *stderr_)
{
	reading		r;

	begin_reference(&r, g, noise, rows, variance);
	for (int i = 0; i < g->aggregates; i++)
		stderr_[i] = g->aggregate[i].kind == PE_AGG_LEVELS ? rank_error(&r, i)
			: pe_aggregate_is_of_cells(&g->aggregate[i]) ? NAN : 0;
	find_largest_errors(&r, false, stderr_);
	end(&r);
}

pe_aggregate_result *
pe_aggregation_reference(pe_aggregation *g, const pe_aggregate_noise *noise, double rows)
{
	pe_aggregate_result *result = pe_alloc((size_t) groups_of(g) * g->aggregates, sizeof(*result));
	reading		r;

	begin_reference(&r, g, noise, rows, 1);
	for (int32 q = 0; q < groups_of(g); q++)
	{
		look_at(&r, q);
		for (int i = 0; i < g->aggregates; i++)
			answer_group(&r, &g->aggregate[i], &result[(size_t) q * g->aggregates + i]);
	}
	end(&r);
	return result;
}

void
pe_aggregation_errors(pe_aggregation *g, double rows, int64 nano, double *stderr_)
{
	pe_aggregate_noise noise;

	for (int i = 0; i < g->aggregates; i++)
		stderr_[i] = NAN;
	if (g->on_grid)
		return;
	noise = pe_aggregation_noise(g, nano);
	pe_aggregation_errors_of(g, &noise, rows, 1, stderr_);
}

void
pe_aggregation_relative_errors(pe_aggregation *g, double rows, int64 nano, double *error)
{
	pe_aggregate_noise noise;
	reading		r;

	for (int i = 0; i < g->aggregates; i++)
		error[i] = NAN;
	if (g->on_grid)
		return;
	noise = pe_aggregation_noise(g, nano);
	begin_reference(&r, g, &noise, rows, 1);
	for (int i = 0; i < g->aggregates; i++)
		error[i] = pe_aggregate_is_of_cells(&g->aggregate[i]) ? rank_error(&r, i) / rows : 0;
	find_largest_errors(&r, true, error);
	end(&r);
}
