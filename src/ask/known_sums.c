/*
 * known_sums.c
 *	  What stored releases of aggregates know of a request.  See known.h.
 *
 * The variance of an aggregate grows with that of each of its sums
 * (counts/aggregate.h): where every sum was measured with at most the noise
 * that a new measurement would have, by the same strategy, no standard error is
 * larger, for any rows.  Where some are measured together by atoms, nothing
 * that is linear in these varies more, by any strategy.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "ask/atoms.h"
#include "ask/known.h"
#include "server/access.h"
#include "server/settings.h"

/* The number of releases that are looked at: the dearest that may serve. */
#define MOST_RELEASES "20"

/* Noises of the same size are the same up to rounding. */
#define ROUNDING 1e-9

/*
 * Which rows count.  Where rows of units are cut, the choice depends on all attributes that are read; else
 * only those of the groups and of the predicate drop rows from all sums.
 */
static char *
rows_text(const pe_aggregation *g)
{
	pe_dataset *dataset = g->asked.dataset;
	int			read = g->groups + g->quantiles + g->watched + g->needed.numbers;

	return pe_rows_text(dataset, g->stored ? g->version : dataset->version, g->columns,
						dataset->unit != NULL ? read : g->groups, g->predicate);
}

/* ------------------------------------------------------------------
 * Noise
 * ------------------------------------------------------------------
 */

static double
noise_of_part(const pe_aggregation *g, int i, int64 nano)
{
	pe_noise   *noise = pe_plan_noise_of_part(&g->part[i], &g->rules, g->asked.ask.accounting, nano);
	double		error;

	if (noise == NULL)
		return INFINITY;
	error = pe_noise_stderr(noise);
	pe_free(noise);
	return error;
}

/* The n-th part of a sum, or -1. */
static int
part_of(const pe_aggregation *g, int sum, int n)
{
	for (int i = 0; i < g->parts; i++)
		if (pe_part_is_of(&g->source[i], sum) && n-- == 0)
			return i;
	return -1;
}

/* Whether what both read is declared alike. */
static bool
declared_alike(const pe_aggregation *g, const pe_aggregation *of)
{
	int			read = g->groups + g->quantiles + g->watched + g->needed.numbers;
	int			other = of->groups + of->quantiles + of->watched + of->needed.numbers;

	for (int i = 0; i < read; i++)
		for (int j = 0; j < other; j++)
			if (strcmp(g->columns[i].name, of->columns[j].name) == 0 &&
				g->columns[i].declared != of->columns[j].declared)
				return false;
	return true;
}

/* A request and a release. */
typedef struct pair
{
	const pe_aggregation *asked;
	int64		nano;			/* that it would cost */
	pe_stored_aggregates *stored;
} pair;

/* Whether a sum of the request was measured in the same parts, each with no more noise. */
static bool
same_parts_serve(const pair *p, int sum, int stored_sum)
{
	const pe_aggregation *g = p->asked;
	const pe_aggregation *of = &p->stored->aggregation;

	for (int n = 0;; n++)
	{
		int			i = part_of(g, sum, n);
		int			j = part_of(of, stored_sum, n);

		if (i < 0)
			return true;
		if (j < 0 || g->space[g->source[i].space].kept.id != of->space[of->source[j].space].kept.id ||
			noise_of_part(of, j, p->stored->release.nano) > noise_of_part(g, i, p->nano) * (1 + ROUNDING))
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
shared_sums_serve(const pair *p, const shared_sum *sum, int sums)
{
	const pe_aggregation *g = p->asked;
	const pe_aggregation *of = &p->stored->aggregation;
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
add_shared(const pair *p, int sum, int stored_sum, shared_sums *shared)
{
	shared_sum *to = &shared->sum[shared->sums];
	int			i = part_of(p->asked, sum, 0);
	int			j = part_of(&p->stored->aggregation, stored_sum, 0);

	if (i < 0)
		return true;
	if (j < 0 || p->asked->needed.sum[sum].kind == PE_SUM_UNITS)
		return false;
	for (int k = 0; k < shared->sums; k++)
		if (shared->sum[k].sum[0] == sum)
			return true;
	*to = (shared_sum) {{sum, stored_sum}, {i, j}, {noise_of_part(p->asked, i, p->nano),
		noise_of_part(&p->stored->aggregation, j, p->stored->release.nano)}};
	shared->sums++;
	return to->noise[1] < INFINITY;
}

static bool
sum_serves(const pair *p, int sum, int stored_sum, shared_sums *shared)
{
	bool		by_atom = is_by_atom(p->asked, part_of(p->asked, sum, 0)) ||
		is_by_atom(&p->stored->aggregation, part_of(&p->stored->aggregation, stored_sum, 0));

	return by_atom ? add_shared(p, sum, stored_sum, shared) : same_parts_serve(p, sum, stored_sum);
}

/* The same aggregate in both. */
static bool
aggregate_serves(const pair *p, const pe_aggregate *a, const pe_aggregate *stored, shared_sums *shared)
{
	if (a->kind == PE_AGG_RATIO)
		return aggregate_serves(p, a->part[0], stored->part[0], shared) &&
			aggregate_serves(p, a->part[1], stored->part[1], shared);
	for (int s = 0; s < PE_AGG_SUMS; s++)
		if (a->sum[s] >= 0 && (stored->sum[s] < 0 || !sum_serves(p, a->sum[s], stored->sum[s], shared)))
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

static bool
serves(const pair *p, int *place)
{
	const pe_aggregation *g = p->asked;
	const pe_aggregation *of = &p->stored->aggregation;
	shared_sums shared = {0};

	if (!declared_alike(g, of) || strcmp(rows_text(g), rows_text(of)) != 0)
		return false;
	for (int i = 0; i < g->aggregates; i++)
	{
		place[i] = place_of(of, g->text[i]);
		if (place[i] < 0 || !aggregate_serves(p, &g->aggregate[i], &of->aggregate[place[i]], &shared))
			return false;
	}
	return shared_sums_serve(p, shared.sum, shared.sums);
}

/* ------------------------------------------------------------------
 * The search
 * ------------------------------------------------------------------
 */

static Datum
texts_as_json(const pe_aggregation *g)
{
	StringInfoData text;

	initStringInfo(&text);
	pe_text_names(&text, (char **) g->text, g->aggregates);
	return CStringGetTextDatum(text.data);
}

#define COST "coalesce((request::jsonb->>'rho')::int8, (request::jsonb->>'epsilon')::int8)"

/*
 * Those that have all the aggregates, of the same rows and groups; of several
 * with the same ones the dearest, of these the newest.
 */
static int64 *
candidates(const pe_aggregation *g, uint64 *count)
{
	static pe_statement find = {NULL,
		"SELECT id FROM (SELECT DISTINCT ON (request::jsonb->'aggregates', declared) id, " COST " AS nano "
		"FROM dp_ledger.release r WHERE dataset_id = $1 AND version = $2 AND payload IS NOT NULL AND workload IS NULL "
		"AND request::jsonb->>'kind' = 'aggregate' AND accounting = $3 AND attributes = $4 "
		"AND request::jsonb->>'workload' = $5 "
		"AND predicate IS NOT DISTINCT FROM $6 AND coalesce((request::jsonb->>'rows_per_unit')::int8, 0) = $7 "
		"AND coalesce((request::jsonb->>'cells_per_unit')::int8, 0) = $8 AND request::jsonb->'aggregates' @> $9::jsonb "
		"AND (charge_id IN (SELECT c.id FROM dp_ledger.charge c WHERE c.budget_id = ANY ($10)) "
		"OR id IN (SELECT c.release_id FROM dp_ledger.charge c WHERE c.budget_id = ANY ($10) "
		"AND c.release_id IS NOT NULL)) "
		"ORDER BY request::jsonb->'aggregates', declared, " COST " DESC, id DESC) best "
		"ORDER BY nano DESC, id DESC LIMIT " MOST_RELEASES, 10,
	{INT8OID, INT4OID, TEXTOID, TEXTARRAYOID, TEXTOID, TEXTOID, INT8OID, INT8OID, TEXTOID, INT8ARRAYOID}};
	const pe_dataset *dataset = g->asked.dataset;
	Datum	   *names = palloc((g->groups + 1) * sizeof(Datum));
	Datum		values[10] = {
		Int64GetDatum(dataset->id), Int32GetDatum(dataset->version),
		CStringGetTextDatum(pe_accounting_name(g->asked.ask.accounting)),
		0, CStringGetTextDatum(g->space[0].workload.canonical),
		g->predicate != NULL ? CStringGetTextDatum(g->predicate) : (Datum) 0,
		Int64GetDatum(dataset->unit != NULL ? dataset->max_rows : 0), Int64GetDatum(g->cells_per_unit),
		texts_as_json(g), pe_known_budgets(dataset)
	};
	MemoryContext here = CurrentMemoryContext;
	int64	   *found;
	pe_access	access;

	for (int i = 0; i < g->groups; i++)
		names[i] = CStringGetTextDatum(pe_column_text(&g->columns[i]));
	values[3] = PointerGetDatum(construct_array(names, g->groups, TEXTOID, -1, false, TYPALIGN_INT));
	pe_access_begin(&access);
	*count = pe_access_read(&find, values, g->predicate != NULL ? NULL : "     n    ");
	found = MemoryContextAlloc(here, (*count + 1) * sizeof(*found));
	for (uint64 row = 0; row < *count; row++)
		found[row] = pe_access_int64(row, 1);
	pe_access_end(&access);
	return found;
}

pe_stored_aggregates *
pe_known_aggregates(const pe_aggregation *g, int *place)
{
	pair		p = {.asked = g, .nano = pe_nano_left(pe_cost_amount(pe_plan_cost(g->asked.plan)),
													  g->asked.ask.accounting)};
	uint64		count;
	int64	   *found;

	if (g->on_grid)				/* nothing is measured: no two choices can be compared */
		return NULL;
	PE_UNDONE();
	found = candidates(g, &count);
	PE_END_UNDONE();
	for (uint64 i = 0; i < count; i++)
	{
		p.stored = pe_aggregation_of_release(found[i]);
		if (serves(&p, place))
			return p.stored;
	}
	return NULL;
}
