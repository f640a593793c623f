/*
 * known_sums.c
 *	  What stored releases of aggregates know of a request.  See known.h.
 *
 * The variance of an aggregate grows with that of each of its sums
 * (counts/aggregate.h): where every sum was measured with at most the noise
 * that a new measurement would have, by the same strategy, no standard error is
 * larger, for any rows.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

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
	const pe_complete none = {0};	/* both are by the same groups */
	int			read = g->groups + g->quantiles + g->watched + g->needed.numbers;

	return pe_rows_text(dataset, g->stored ? g->version : dataset->version, g->columns,
						dataset->unit != NULL ? read : g->groups, g->predicate, &none);
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
		if (g->source[i].sum == sum && n-- == 0)
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
sum_serves(const pair *p, int sum, int stored_sum)
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

/* The same aggregate in both. */
static bool
aggregate_serves(const pair *p, const pe_aggregate *a, const pe_aggregate *stored)
{
	if (a->kind == PE_AGG_RATIO)
		return aggregate_serves(p, a->part[0], stored->part[0]) && aggregate_serves(p, a->part[1], stored->part[1]);
	for (int s = 0; s < PE_AGG_SUMS; s++)
		if (a->sum[s] >= 0 && (stored->sum[s] < 0 || !sum_serves(p, a->sum[s], stored->sum[s])))
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

	if (!declared_alike(g, of) || strcmp(rows_text(g), rows_text(of)) != 0)
		return false;
	for (int i = 0; i < g->aggregates; i++)
	{
		place[i] = place_of(of, g->text[i]);
		if (place[i] < 0 || !aggregate_serves(p, &g->aggregate[i], &of->aggregate[place[i]]))
			return false;
	}
	return true;
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
