/*
 * known_sums.c
 *	  What stored releases know of a request for aggregates.  See known.h.
 *
 * The variance of an aggregate grows with that of each of its sums
 * (counts/aggregate.h): where every sum follows from a release with at most the
 * noise that a new measurement would have, no standard error is larger, for any
 * rows.
 *
 * A sum may follow from two parts, whose noise is independent: what is above or
 * below of a number (domain/sums.h) from its centred sum and its count, and a
 * count from what is above and below.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "ask/atoms.h"
#include "ask/known.h"
#include "noise/interval.h"
#include "server/access.h"
#include "server/settings.h"

/* The number of releases that are looked at: the dearest that may serve. */
#define MOST_RELEASES "20"

/* Noises of the same size are the same up to rounding. */
#define ROUNDING 1e-9

/* ------------------------------------------------------------------
 * The same rows
 * ------------------------------------------------------------------
 */

static int
columns_read(const pe_aggregation *g)
{
	return g->groups + g->quantiles + g->watched + g->needed.numbers;
}

/*
 * Which rows count: attributes of the groups and of the predicate drop rows from
 * all sums.  Where rows of units are cut, the choice depends on what else is
 * read too, which drops none: cells of attributes, and values of numbers.
 */
char *
pe_aggregation_rows_text(const pe_aggregation *g)
{
	pe_dataset *dataset = g->asked.dataset;

	StringInfoData text;

	initStringInfo(&text);
	appendStringInfoString(&text, pe_rows_text(dataset, g->stored ? g->version : dataset->version, g->columns,
											   g->groups, g->predicate, &g->complete));
	for (int i = g->groups; dataset->unit != NULL && i < columns_read(g); i++)
		appendStringInfo(&text, " %s of %s", i < columns_read(g) - g->needed.numbers ? "cells" : "values",
						 quote_identifier(pe_column_text(&g->columns[i])));
	return text.data;
}

/* Whether what both read is declared alike. */
static bool
declared_alike(const pe_aggregation *g, const pe_aggregation *of)
{
	for (int i = 0; i < columns_read(g); i++)
		for (int j = 0; j < columns_read(of); j++)
			if (strcmp(g->columns[i].name, of->columns[j].name) == 0 &&
				g->columns[i].declared != of->columns[j].declared)
				return false;
	return true;
}

/* ------------------------------------------------------------------
 * The same sums
 * ------------------------------------------------------------------
 */

/* Whether two sums are of the same number, or of none. */
static bool
same_number(const pe_aggregation *g, int n, const pe_aggregation *of, int m)
{
	return strcmp(g->number_column[n]->name, of->number_column[m]->name) == 0;
}

/* Bits that one sum needs, in the numbering of the other; false if the other has not all of them. */
static bool
translate_needs(const pe_aggregation *g, uint64 needs, const pe_aggregation *of, uint64 *translated)
{
	*translated = 0;
	for (int n = 0; n < g->needed.numbers; n++)
		for (int m = 0; m < of->needed.numbers && (needs & PE_HAS_NUMBER(n)) != 0; m++)
			if (same_number(g, n, of, m))
			{
				*translated |= PE_HAS_NUMBER(m);
				needs &= ~PE_HAS_NUMBER(n);
			}
	for (int c = 0; c < g->conditions.count; c++)
		for (int d = 0; d < of->conditions.count && (needs & PE_HAS_CONDITION(c)) != 0; d++)
			if (strcmp(g->conditions.text[c], of->conditions.text[d]) == 0)
			{
				*translated |= PE_HAS_CONDITION(d);
				needs &= ~PE_HAS_CONDITION(c);
			}
	for (int a = g->groups; a < g->groups + g->quantiles; a++)
		for (int b = of->groups; b < of->groups + of->quantiles && (needs & PE_HAS_ATTRIBUTE(a)) != 0; b++)
			if (strcmp(g->columns[a].name, of->columns[b].name) == 0)
			{
				*translated |= PE_HAS_ATTRIBUTE(b);
				needs &= ~PE_HAS_ATTRIBUTE(a);
			}
	return needs == 0;
}

static bool
same_sum(const pe_aggregation *g, const pe_sum *sum, const pe_aggregation *of, const pe_sum *other)
{
	bool		one = sum->kind != PE_SUM_ONE && sum->kind != PE_SUM_UNITS;
	uint64		needs;

	return sum->kind == other->kind && sum->most == other->most && (!one || same_number(g, sum->a, of, other->a)) &&
		(sum->kind != PE_SUM_PRODUCT || same_number(g, sum->b, of, other->b)) &&
		translate_needs(g, sum->needs, of, &needs) && needs == other->needs;
}

/* The part of a release that measured what part i of a request would; -1: none. */
static int
part_of(const pe_aggregation *g, int i, const pe_aggregation *of)
{
	const pe_source_of_part *source = &g->source[i];

	for (int j = 0; j < of->parts; j++)
		if (of->source[j].term == source->term &&
			same_sum(g, &g->needed.sum[source->sum], of, &of->needed.sum[of->source[j].sum]))
			return j;
	return -1;
}

/* What a part follows from: parts of a release, each times a factor. */
typedef struct known_terms
{
	int			terms;			/* 0: it does not follow */
	int			part[2];
	double		factor[2];
} known_terms;

/* The part that a release measured of this sum by the cells of groups, needs as it numbers them; -1: none. */
static int
part_of_kind(const pe_aggregation *of, pe_sum_kind kind, int number, uint64 needs)
{
	for (int j = 0; j < of->parts; j++)
	{
		const pe_sum *sum = &of->needed.sum[of->source[j].sum];

		if (sum->kind == kind && sum->needs == needs && (kind == PE_SUM_ONE || sum->a == number))
			return j;
	}
	return -1;
}

static known_terms
two_terms(int first, double first_factor, int second, double second_factor)
{
	return (known_terms) {first >= 0 && second >= 0 ? 2 : 0, {first, second}, {first_factor, second_factor}};
}

/* What a row needs to be counted, of rows that have a number: nothing of it where all have it. */
static uint64
needs_of_count(const pe_aggregation *of, int number, uint64 needs)
{
	return (of->never_null >> number & 1) != 0 ? needs & ~PE_HAS_NUMBER(number) : needs;
}

/* most + u, or most - u */
static known_terms
terms_of_side(const pe_aggregation *g, const pe_sum *sum, const pe_aggregation *of)
{
	double		side = sum->kind == PE_SUM_ABOVE ? 1 : -1;
	uint64		needs;

	for (int m = 0; m < of->needed.numbers && translate_needs(g, sum->needs, of, &needs); m++)
		if (same_number(g, sum->a, of, m))
			return two_terms(part_of_kind(of, PE_SUM_VALUE, m, needs), side,
							 part_of_kind(of, PE_SUM_ONE, 0, needs_of_count(of, m, needs)), of->needed.number[m].most);
	return (known_terms) {0};
}

/* 1, of the first number that is measured by both sides of the same rows. */
static known_terms
terms_of_count(const pe_aggregation *g, const pe_sum *sum, const pe_aggregation *of)
{
	uint64		needs;

	for (int m = 0; m < of->needed.numbers && translate_needs(g, sum->needs, of, &needs); m++)
	{
		uint64		of_number = needs | PE_HAS_NUMBER(m);
		double		each = .5 / of->needed.number[m].most;
		known_terms terms = two_terms(part_of_kind(of, PE_SUM_ABOVE, m, of_number), each,
									  part_of_kind(of, PE_SUM_BELOW, m, of_number), each);

		if (terms.terms > 0 && needs_of_count(of, m, of_number) == needs)
			return terms;
	}
	return (known_terms) {0};
}

static known_terms
terms_of(const pe_aggregation *g, int i, const pe_aggregation *of)
{
	const pe_sum *sum = &g->needed.sum[g->source[i].sum];
	int			j = part_of(g, i, of);

	if (j >= 0)
		return (known_terms) {1, {j}, {1}};
	if (g->source[i].term >= 0 || pe_aggregation_asks_share(g))
		return (known_terms) {0};
	if (sum->kind == PE_SUM_ABOVE || sum->kind == PE_SUM_BELOW)
		return terms_of_side(g, sum, of);
	return sum->kind == PE_SUM_ONE ? terms_of_count(g, sum, of) : (known_terms) {0};
}

/* Whether all parts follow, no two of them from the same one: they have noise of their own. */
static bool
all_follow(const pe_aggregation *g, const pe_aggregation *of)
{
	bool	   *used = palloc0(Max(of->parts, 1) * sizeof(bool));

	for (int i = 0; i < g->parts; i++)
	{
		known_terms terms = terms_of(g, i, of);

		for (int t = 0; t < terms.terms; t++)
		{
			if (used[terms.part[t]])
				return false;
			used[terms.part[t]] = true;
		}
		if (terms.terms == 0)
			return false;
	}
	return true;
}

/* ------------------------------------------------------------------
 * What a release says of a request
 * ------------------------------------------------------------------
 */

/* A release that is looked at. */
typedef struct look
{
	const pe_aggregation *asked;
	const pe_aggregate_noise *most; /* of what would be measured */
	pe_stored_aggregates *stored;
	pe_aggregate_noise noise;		/* of what was */
	pe_aggregation *answered;
	bool		serves;
} look;

static bool
is_same_groups(const pe_space *s, const pe_space *t)
{
	if (s->attributes != t->attributes || strcmp(s->workload.canonical, t->workload.canonical) != 0)
		return false;
	for (int a = 0; a < s->attributes; a++)
		if (strcmp(pe_column_text(&s->columns[a]), pe_column_text(&t->columns[a])) != 0)
			return false;
	return true;
}

/* Groups that are measured in the same way in both. */
static bool
is_same_space(const pe_space *s, const pe_space *t)
{
	return s->kept.id == t->kept.id && is_same_groups(s, t);
}

static bool
is_precise(const look *l, int i, int j, const double *variance)
{
	const pe_space *s = &l->asked->space[l->asked->source[i].space];
	double		most = pe_noise_stderr(l->most->of_part[i]) * (1 + ROUNDING);
	double		noise = pe_noise_stderr(l->noise.of_part[j]);

	for (int32 q = 0; q < s->workload.queries; q++)
		if (noise * sqrt(variance[q]) > most * sqrt(s->variance[q]))
			return false;
	return true;
}

/* What part i is answered from: a space of its own, with the errors of what was measured; NULL: it cannot be. */
static pe_space *
derived_space(const look *l, int i, int j, pe_known_pair *pair)
{
	const pe_aggregation *g = l->asked;
	const pe_aggregation *of = &l->stored->aggregation;
	const pe_space *s = &g->space[g->source[i].space];
	const pe_space *t = &of->space[of->source[j].space];
	const pe_over_columns measured = {t->columns, t->attributes, &t->workload};
	const pe_over_columns asked = {s->columns, s->attributes, &s->workload};
	pe_space   *derived = palloc(sizeof(*derived));

	*derived = *s;
	if (is_same_space(s, t))
	{
		derived->variance = t->variance;
		return derived;
	}
	/* ranks, units and shares need more than each group's own variance */
	if (s->above_text != NULL || g->source[i].term >= 0 || pe_aggregation_asks_share(g) ||
		!pe_known_join(pair, g->asked.dataset, g->predicate, &measured, &t->kept.strategy, l->noise.lattice[j], &asked))
		return NULL;
	derived->variance = pe_known_variances(pair);
	derived->derived = true;
	return derived->variance != NULL ? derived : NULL;
}

/* ------------------------------------------------------------------
 * Sums by atoms: the same aggregates, of the same groups
 * ------------------------------------------------------------------
 */

static bool
has_atoms(const pe_aggregation *g)
{
	for (int i = 0; i < g->parts; i++)
		if (g->source[i].row_of != NULL)
			return true;
	return false;
}

/* The n-th part of a sum, or -1. */
static int
nth_part_of(const pe_aggregation *g, int sum, int n)
{
	for (int i = 0; i < g->parts; i++)
		if (pe_part_is_of(&g->source[i], sum) && n-- == 0)
			return i;
	return -1;
}

/* Whether a sum of the request was measured in the same parts, each with no more noise. */
static bool
same_parts_serve(const look *l, int sum, int stored_sum)
{
	const pe_aggregation *g = l->asked;
	const pe_aggregation *of = &l->stored->aggregation;

	for (int n = 0;; n++)
	{
		int			i = nth_part_of(g, sum, n);
		int			j = nth_part_of(of, stored_sum, n);

		if (i < 0)
			return true;
		if (j < 0 || g->space[g->source[i].space].kept.id != of->space[of->source[j].space].kept.id ||
			pe_noise_stderr(l->noise.of_part[j]) > pe_noise_stderr(l->most->of_part[i]) * (1 + ROUNDING))
			return false;
	}
}

/* A sum of the request that is measured by atoms in one of both, with what it was in the release. */
typedef struct shared_sum
{
	int			sum[2];
	int			part[2];
	double		noise[2];
} shared_sum;

/* What two sums of a group have in common; of a sum with itself its variance. */
static double
covariance_of(const pe_aggregation *g, int side, const shared_sum *one, const shared_sum *other, int32 group)
{
	const pe_source_of_part *source = &g->source[one->part[side]];
	double		unit = one->noise[side] * one->noise[side];
	pe_sum_noise a;
	pe_sum_noise b;
	double		all = 0;

	if (one->part[side] != other->part[side])
		return 0;
	if (source->row_of == NULL)
		return unit * g->space[source->space].variance[group];
	a = pe_atoms_noise(g, one->part[side], one->sum[side], group);
	b = pe_atoms_noise(g, one->part[side], other->sum[side], group);
	for (int p = 0; p < a.parts; p++)
		all += a.part[p] * b.part[p];
	return unit * all;
}

/* Whether a symmetric matrix is positive semidefinite, in place; scale: numbers of this size are 0 up to rounding. */
static bool
is_semidefinite(double *m, int n, const double *scale)
{
	for (int k = 0; k < n; k++)
	{
		double		pivot = m[k * n + k];

		if (pivot < -ROUNDING * scale[k])
			return false;
		for (int i = k + 1; i < n && pivot <= ROUNDING * scale[k]; i++)
			if (fabs(m[i * n + k]) > 4 * ROUNDING * sqrt(scale[i] * scale[k]))
				return false;
		for (int i = k + 1; i < n && pivot > ROUNDING * scale[k]; i++)
			for (int j = k + 1; j < n; j++)
				m[i * n + j] -= m[i * n + k] * m[k * n + j] / pivot;
	}
	return true;
}

/*
 * Whether nothing that is linear in these sums varies more in the release than
 * in a new measurement: the difference of the covariances is semidefinite.
 */
static bool
shared_sums_serve(const look *l, const shared_sum *sum, int sums)
{
	const pe_aggregation *g = l->asked;
	const pe_aggregation *of = &l->stored->aggregation;
	double	   *less = pe_alloc((size_t) sums * sums + 1, sizeof(double));
	double	   *scale = pe_alloc(sums + 1, sizeof(double));
	bool		serve = true;

	for (int32 q = 0; q < g->space[0].workload.queries && serve; q++)
	{
		pe_poll();
		for (int i = 0; i < sums; i++)
			for (int j = 0; j < sums; j++)
			{
				double		fresh = covariance_of(g, 0, &sum[i], &sum[j], q);

				less[i * sums + j] = fresh * (1 + 2 * ROUNDING) - covariance_of(of, 1, &sum[i], &sum[j], q);
				scale[i] = i == j ? fresh : scale[i];
			}
		serve = is_semidefinite(less, sums, scale);
	}
	pe_free(scale);
	pe_free(less);
	return serve;
}

static bool
is_by_atom(const pe_aggregation *g, int part)
{
	return part >= 0 && g->source[part].row_of != NULL;
}

/* Sums that are looked at together. */
typedef struct shared_sums
{
	int			sums;
	shared_sum	sum[PE_MAX_SUMS];
} shared_sums;

/* False if the release has not this sum. */
static bool
add_shared(const look *l, int sum, int stored_sum, shared_sums *shared)
{
	shared_sum *to = &shared->sum[shared->sums];
	int			i = nth_part_of(l->asked, sum, 0);
	int			j = nth_part_of(&l->stored->aggregation, stored_sum, 0);

	if (i < 0)
		return true;
	if (j < 0 || l->asked->needed.sum[sum].kind == PE_SUM_UNITS)
		return false;
	for (int k = 0; k < shared->sums; k++)
		if (shared->sum[k].sum[0] == sum)
			return true;
	*to = (shared_sum) {{sum, stored_sum}, {i, j}, {pe_noise_stderr(l->most->of_part[i]),
		pe_noise_stderr(l->noise.of_part[j])}};
	shared->sums++;
	return to->noise[1] < INFINITY;
}

static bool
sum_serves(const look *l, int sum, int stored_sum, shared_sums *shared)
{
	bool		by_atom = is_by_atom(l->asked, nth_part_of(l->asked, sum, 0)) ||
		is_by_atom(&l->stored->aggregation, nth_part_of(&l->stored->aggregation, stored_sum, 0));

	return by_atom ? add_shared(l, sum, stored_sum, shared) : same_parts_serve(l, sum, stored_sum);
}

/* The same aggregate in both. */
static bool
aggregate_serves(const look *l, const pe_aggregate *a, const pe_aggregate *stored, shared_sums *shared)
{
	if (a->kind == PE_AGG_RATIO)
		return aggregate_serves(l, a->part[0], stored->part[0], shared) &&
			aggregate_serves(l, a->part[1], stored->part[1], shared);
	for (int s = 0; s < PE_AGG_SUMS; s++)
		if (a->sum[s] >= 0 && (stored->sum[s] < 0 || !sum_serves(l, a->sum[s], stored->sum[s], shared)))
			return false;
	return true;
}

static int
place_of(const pe_aggregation *g, const char *text)
{
	for (int i = 0; i < g->aggregates; i++)
		if (strcmp(g->text[i], text) == 0)
			return i;
	return -1;
}

/* The release's own aggregates, those that are asked for in their order; estimate: as of derive. */
static bool
derive_same(look *l, double **estimate)
{
	const pe_aggregation *g = l->asked;
	pe_aggregation *of = &l->stored->aggregation;
	pe_aggregation *a = l->answered = palloc(sizeof(*a));
	shared_sums *shared = palloc0(sizeof(*shared));

	*a = *of;
	a->aggregates = g->aggregates;
	for (int i = 0; i < g->aggregates; i++)
	{
		int			place = place_of(of, g->text[i]);

		if (place < 0 || !aggregate_serves(l, &g->aggregate[i], &of->aggregate[place], shared))
			return false;
		a->aggregate[i] = of->aggregate[place];
		a->text[i] = of->text[place];
	}
	if (!is_same_groups(&g->space[0], &of->space[0]) || !shared_sums_serve(l, shared->sum, shared->sums))
		return false;
	if (estimate != NULL)
	{
		*estimate = pe_alloc(pe_aggregation_estimates(a), sizeof(double));
		pe_aggregation_estimate(a, &l->noise, l->stored->measured, *estimate);
	}
	return true;
}

/* The same of what a part follows from: its noise is that of the first term. */
static pe_space *
space_of_terms(const look *l, int i, const known_terms *terms, pe_known_pair *pair)
{
	const pe_aggregation *g = l->asked;
	int32		queries = g->space[g->source[i].space].workload.queries;
	double	   *variance = palloc0(queries * sizeof(double));
	pe_space   *s = NULL;

	for (int t = 0; t < terms->terms; t++)
	{
		double		noise = pe_noise_stderr(l->noise.of_part[terms->part[t]]) /
			pe_noise_stderr(l->noise.of_part[terms->part[0]]) * terms->factor[t];

		s = derived_space(l, i, terms->part[t], &pair[t]);
		for (int32 q = 0; s != NULL && q < queries; q++)
			variance[q] += s->variance[q] * noise * noise;
		if (s == NULL || terms->terms == 1)
			return s;
	}
	if (s != NULL)
	{
		s->variance = variance;
		s->derived = true;
	}
	return s;
}

/* Estimates of a part, of so many queries. */
static int32
estimate_terms(const look *l, int i, const known_terms *terms, const pe_known_pair *pair, double *estimate)
{
	const pe_aggregation *of = &l->stored->aggregation;
	int32		queries = 0;
	double	   *each = pe_alloc(pe_aggregation_estimates(l->asked), sizeof(double));

	for (int t = 0; t < terms->terms; t++)
	{
		int			j = terms->part[t];

		queries = pe_aggregation_estimate_part(of, &l->noise, j, l->asked, i,
											   pair[t].joint.columns != NULL ? &pair[t] : NULL,
											   l->stored->measured + pe_aggregation_rows_before(of, j), each);
		for (int32 q = 0; q < queries; q++)
			estimate[q] = (t > 0 ? estimate[q] : 0) + terms->factor[t] * each[q];
	}
	pe_free(each);
	return queries;
}

/* The request with the noise and the spaces of a release; at: estimates of all parts, NULL: not asked for. */
static bool
derive_parts(look *l, double *at)
{
	const pe_aggregation *g = l->asked;
	const pe_aggregation *of = &l->stored->aggregation;
	pe_aggregation *a = l->answered = palloc(sizeof(*a));
	pe_noise  **noise = palloc0(g->parts * sizeof(*noise));

	*a = *g;
	a->space = palloc0((g->parts + 1) * sizeof(*a->space));
	for (int i = 0; i < g->parts; i++)
	{
		known_terms terms = terms_of(g, i, of);
		pe_known_pair *pair = palloc0(2 * sizeof(*pair));
		pe_space   *s = space_of_terms(l, i, &terms, pair);
		int			j = terms.part[0];

		if (s == NULL || !is_precise(l, i, j, s->variance))
			return false;
		/* the groups are those of the first space */
		a->space[i + 1] = *s;
		a->source[i].space = i + 1;
		noise[i] = l->noise.of_part[j];
		a->part[i].strategy = of->part[j].strategy;
		if (at != NULL)
			at += estimate_terms(l, i, &terms, pair, at);
	}
	a->space[0] = g->space[0];
	l->noise = (pe_aggregate_noise) {noise, NULL, 1, PE_MISS};
	return true;
}

/* What is answered, with its estimates, NULL: they are not asked for; false if it is not known. */
static bool
derive(look *l, double **estimate)
{
	if (has_atoms(l->asked) || has_atoms(&l->stored->aggregation))
		return derive_same(l, estimate);
	if (estimate != NULL)
		*estimate = pe_alloc(pe_aggregation_estimates(l->asked), sizeof(double));
	return derive_parts(l, estimate != NULL ? *estimate : NULL);
}

/* Restores a release; what is cheap to see of it comes first. */
static bool
restore_similar(look *l, int64 id)
{
	const pe_aggregation *of;

	l->stored = pe_aggregation_restored(id);
	of = &l->stored->aggregation;
	if (of->on_grid || !declared_alike(l->asked, of) ||
		strcmp(pe_aggregation_rows_text(l->asked), pe_aggregation_rows_text(of)) != 0)
		return false;
	if (!has_atoms(l->asked) && !has_atoms(of) && !all_follow(l->asked, of))
		return false;
	pe_aggregation_read(l->stored);
	l->noise = pe_aggregation_noise(of, l->stored->release.nano);
	return true;
}

typedef struct look_at
{
	look		look;
	int64		id;
} look_at;

static void
look_at_release(void *argument)
{
	look_at    *at = argument;

	at->look.serves = restore_similar(&at->look, at->id) && derive(&at->look, NULL);
}

/* ------------------------------------------------------------------
 * The search
 * ------------------------------------------------------------------
 */

#define COST "coalesce((request::jsonb->>'rho')::int8, (request::jsonb->>'epsilon')::int8)"

/*
 * Those that have the attributes of the groups, of the same rows; of several
 * that asked for the same the dearest, of these the newest.
 */
static int64 *
candidates(const pe_aggregation *g, uint64 *count)
{
	static pe_statement find = {NULL,
		"SELECT id FROM (SELECT DISTINCT ON (attributes, request::jsonb->'workload', request::jsonb->'aggregates', "
		"declared) id, " COST " AS nano "
		"FROM dp_ledger.release r WHERE dataset_id = $1 AND version = $2 AND payload IS NOT NULL "
		"AND request::jsonb->>'kind' = '" PE_MEASUREMENT "' AND method = 'optimal' AND accounting = $3 "
		"AND attributes @> $4 "
		"AND predicate IS NOT DISTINCT FROM $5 AND coalesce((request::jsonb->>'rows_per_unit')::int8, 0) = $6 "
		"AND (charge_id IN (SELECT c.id FROM dp_ledger.charge c WHERE c.budget_id = ANY ($7)) "
		"OR id IN (SELECT c.release_id FROM dp_ledger.charge c WHERE c.budget_id = ANY ($7) "
		"AND c.release_id IS NOT NULL)) "
		"ORDER BY attributes, request::jsonb->'workload', request::jsonb->'aggregates', declared, " COST
		" DESC, id DESC) best "
		"ORDER BY nano DESC, id DESC LIMIT " MOST_RELEASES, 7,
	{INT8OID, INT4OID, TEXTOID, TEXTARRAYOID, TEXTOID, INT8OID, INT8ARRAYOID}};
	const pe_dataset *dataset = g->asked.dataset;
	Datum	   *names = palloc((g->groups + 1) * sizeof(Datum));
	Datum		values[7] = {
		Int64GetDatum(dataset->id), Int32GetDatum(dataset->version),
		CStringGetTextDatum(pe_accounting_name(g->asked.ask.accounting)), 0,
		g->predicate != NULL ? CStringGetTextDatum(g->predicate) : (Datum) 0,
		Int64GetDatum(dataset->unit != NULL ? dataset->max_rows : 0), pe_known_budgets(dataset)
	};
	MemoryContext here = CurrentMemoryContext;
	int64	   *found;
	pe_access	access;

	for (int i = 0; i < g->groups; i++)
		names[i] = CStringGetTextDatum(pe_column_text(&g->columns[i]));
	values[3] = PointerGetDatum(construct_array(names, g->groups, TEXTOID, -1, false, TYPALIGN_INT));
	pe_access_begin(&access);
	*count = pe_access_read(&find, values, g->predicate != NULL ? NULL : "    n  ");
	found = MemoryContextAlloc(here, (*count + 1) * sizeof(*found));
	for (uint64 row = 0; row < *count; row++)
		found[row] = pe_access_int64(row, 1);
	pe_access_end(&access);
	return found;
}

/* What it takes to know the errors of a release, as of PE_KNOWN_WORK. */
static double
work_of(const pe_aggregation *of)
{
	double		work = 0;

	for (int i = 0; i < of->spaces; i++)
		work += pow(of->space[i].kept.strategy.columns, 3);
	return work;
}

/* The first that serves; 0: none.  What it takes to look is gone then. */
static int64
find_serving(const pe_aggregation *g, const pe_aggregate_noise *most)
{
	MemoryContext here = CurrentMemoryContext;
	MemoryContext of_one = AllocSetContextCreate(here, "pg_epsilon release", ALLOCSET_DEFAULT_SIZES);
	uint64		count;
	int64	   *found;
	int64		serving = 0;
	double		work = 0;

	PE_UNDONE();
	found = candidates(g, &count);
	PE_END_UNDONE();
	MemoryContextSwitchTo(of_one);
	for (uint64 i = 0; i < count && serving == 0 && work < PE_KNOWN_WORK; i++)
	{
		look_at		at = {.look = {.asked = g, .most = most}, .id = found[i]};
		ErrorData  *error = pe_run_undone(look_at_release, &at);

		if (error != NULL)
			pe_known_pass_over(error);
		else if (at.look.serves)
			serving = found[i];
		work += at.look.stored != NULL ? work_of(&at.look.stored->aggregation) : 0;
		MemoryContextReset(of_one);
	}
	MemoryContextSwitchTo(here);
	MemoryContextDelete(of_one);
	return serving;
}

pe_known_sums *
pe_known_aggregates(const pe_aggregation *g)
{
	pe_known_sums *known;
	pe_aggregate_noise most;
	look		l = {.asked = g, .most = &most};
	double	   *estimate = NULL;
	int64		id;

	if (g->on_grid)				/* nothing is measured: no two choices can be compared */
		return NULL;
	most = pe_aggregation_noise(g, pe_nano_left(pe_cost_amount(pe_plan_cost(g->asked.plan)), g->asked.ask.accounting));
	id = find_serving(g, &most);
	if (id == 0)
		return NULL;
	PE_UNDONE();
	if (!restore_similar(&l, id) || !derive(&l, &estimate))
		elog(ERROR, "release " INT64_FORMAT " does not answer the request", id);
	PE_END_UNDONE();
	known = palloc0(sizeof(*known));
	known->release = l.stored->release;
	known->aggregation = l.answered;
	known->noise = l.noise;
	known->estimate = estimate;
	return known;
}
