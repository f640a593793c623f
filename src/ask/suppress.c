/*
 * suppress.c
 *	  Who is bound by the minimum frequency, and which count decides.  See suppress.h.
 */
#include "postgres.h"

#include <math.h>

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "ask/suppress.h"
#include "workload/algebra.h"

const pe_aggregate_result pe_suppressed = {NAN, NAN, NAN, NAN};

pe_min_count
pe_suppress_rule(const pe_dataset *dataset, int more)
{
	int			units = Max(dataset->min_count, more);

	if (units > 0 && pe_dataset_owned_by(dataset, GetUserId()))
		units = 0;
	return (pe_min_count) {units, dataset->max_rows};
}

pe_min_count
pe_suppress_rule_of_published(const pe_dataset *dataset)
{
	return (pe_min_count) {dataset->min_count, dataset->max_rows};
}

/* ------------------------------------------------------------------
 * Counts
 * ------------------------------------------------------------------
 */

void
pe_suppress_check_workload(const pe_min_count *rule, const pe_dataset *dataset, const pe_workload *workload)
{
	if (rule->units > 0 && !pe_workload_weights_within(workload, 0, 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a matrix with other weights than 0 and 1 does not count a group"),
				 errdetail("Dataset \"%s\" shows groups of at least %d units alone.", dataset->name, rule->units),
				 errhint("Ask for the groups, and compute with what is shown.")));
}

void
pe_suppress_check_interval(const pe_min_count *rule, const pe_dataset *dataset, const char *what, const char *hint)
{
	if (rule->units > 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("%s does not show how many units a group has", what),
				 errdetail("Dataset \"%s\" shows groups of at least %d units alone. Nothing was charged.",
						   dataset->name, rule->units),
				 errhint("%s", hint)));
}

void
pe_suppress_tell(const pe_min_count *rule, int32 hidden, int32 partly, int32 groups)
{
	static TimestampTz told;

	if (hidden == 0 || told == GetCurrentStatementStartTimestamp())
		return;
	told = GetCurrentStatementStartTimestamp();
	ereport(NOTICE,
			(errmsg("%d of %d groups are not shown: each may have fewer than %d units", hidden, groups, rule->units),
			 partly == 0 ? 0 : errdetail_plural("%d of these is shown in some columns.",
												"%d of these are shown in some columns.", partly, partly),
			 errhint("Group by fewer or larger groups.")));
}

int32
pe_suppress_answers_silently(const pe_min_count *rule, pe_answers *answers)
{
	int32		hidden = 0;

	for (int32 q = 0; q < answers->queries; q++)
		if (!pe_min_count_shows(rule, answers->lower[q]))
		{
			answers->estimate[q] = answers->stderr_[q] = answers->lower[q] = answers->upper[q] = NAN;
			hidden++;
		}
	return hidden;
}

void
pe_suppress_answers(const pe_min_count *rule, pe_answers *answers)
{
	pe_suppress_tell(rule, pe_suppress_answers_silently(rule, answers), 0, answers->queries);
}

/* ------------------------------------------------------------------
 * Counts that are missing
 * ------------------------------------------------------------------
 */

/* The sum of 1 that an aggregate is made of; -1: none. */
static int
rows_of(const pe_aggregate *a)
{
	return a->sum[PE_USE_ABOVE] < 0 && a->sum[PE_USE_BELOW] < 0 ? a->sum[PE_USE_N] : -1;
}

/* Whether an aggregate is itself about how many rows there are: a sum of values, or their number, is not. */
static bool
is_of_rows(const pe_aggregate *a)
{
	return a->kind != PE_AGG_DISTINCT && (a->kind != PE_AGG_NUMBERS || !pe_aggregate_is_sum(a));
}

/* The count of the rows whose values another aggregate counts, NULL among them; -1: it is not asked for. */
static int
count_beside(const pe_aggregation *g, const pe_aggregate *distinct)
{
	for (int i = 0; i < g->aggregates; i++)
		if (g->aggregate[i].kind == PE_AGG_COUNT && g->aggregate[i].column[0] == NULL &&
			g->aggregate[i].condition == distinct->condition)
			return i;
	return -1;
}

/* Whether another aggregate needs the same count of rows. */
static bool
is_counted(const pe_aggregation *g, const pe_aggregate *sum)
{
	int			rows = rows_of(sum);

	if (sum->kind == PE_AGG_DISTINCT)
		return count_beside(g, sum) >= 0;
	if (sum->sum[PE_USE_ABOVE] >= 0 && sum->sum[PE_USE_BELOW] >= 0)
		return true;			/* both together are so many times the rows */
	for (int i = 0; rows >= 0 && i < g->aggregates; i++)
	{
		const pe_aggregate *a = &g->aggregate[i];
		const pe_aggregate *const *part = (const pe_aggregate *const *) a->part;

		if ((a->kind != PE_AGG_RATIO && is_of_rows(a) && rows_of(a) == rows) ||
			(part[0] != NULL && is_of_rows(part[0]) && rows_of(part[0]) == rows) ||
			(part[1] != NULL && is_of_rows(part[1]) && rows_of(part[1]) == rows))
			return true;
	}
	return false;
}

static bool
is_always_there(const pe_aggregation *g, const pe_aggregate *a)
{
	return (g->never_null >> a->number[0] & 1) != 0;
}

/* The count of the rows that a sum is made of, behind all others. */
static void
add_count_of(pe_aggregation *g, const pe_aggregate *sum)
{
	const char *name = sum->formula[0] != NULL ? sum->column[0] : quote_identifier(sum->column[0]);
	bool		all = sum->kind == PE_AGG_DISTINCT || is_always_there(g, sum);
	pe_aggregate *a = &g->aggregate[g->aggregates];
	pe_text_error error;

	if (g->aggregates == PE_MAX_AGGREGATES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the aggregates are too many with the counts that decide which groups are shown"),
				 errdetail("At most %d can be. Nothing was charged.", PE_MAX_AGGREGATES)));
	if (!pe_aggregate_parse(all ? "count(*)" : psprintf("regr_count(%s, %s)", name, name), NULL, a, &error))
		elog(ERROR, "a count cannot be asked for");
	if (!all)
		a->number[0] = a->number[1] = sum->number[0];
	a->where = sum->where != NULL ? pstrdup(sum->where) : NULL;
	a->condition = sum->condition;
	g->aggregates++;
}

static bool
add_count_if_missing(pe_aggregation *g, const pe_aggregate *a)
{
	if (a == NULL || a->kind == PE_AGG_RATIO || is_of_rows(a) || is_counted(g, a))
		return false;
	add_count_of(g, a);
	return true;
}

/* One at a time: with it the next one may be there, and numbers may be measured otherwise. */
bool
pe_suppress_add_counts(pe_aggregation *g)
{
	if (g->stored || Max(g->asked.dataset->min_count, g->asked.request->min_count) == 0)
		return false;
	for (int i = 0; i < g->aggregates; i++)
		if (add_count_if_missing(g, &g->aggregate[i]) || add_count_if_missing(g, g->aggregate[i].part[0]) ||
			add_count_if_missing(g, g->aggregate[i].part[1]))
			return true;
	return false;
}

/* ------------------------------------------------------------------
 * Counts that decide
 * ------------------------------------------------------------------
 */

/* What a row must have to be counted; -1 in all bits: it is counted by sums of two. */
static uint64
needs_of(const pe_aggregation *g, const pe_aggregate *a)
{
	return rows_of(a) >= 0 ? g->needed.sum[rows_of(a)].needs : PG_UINT64_MAX;
}

/* The units of the rows that an aggregate is made of, if they are counted; else it. */
static const pe_aggregate *
units_or_rows(const pe_aggregation *g, const pe_aggregate *a)
{
	for (int i = 0; i < g->aggregates && a->kind != PE_AGG_LOST; i++)
		if (g->aggregate[i].kind == PE_AGG_UNITS && needs_of(g, &g->aggregate[i]) == needs_of(g, a))
			return &g->aggregate[i];
	return a;
}

/* The number of the count of what an aggregate is made of. */
static int
decided_by(pe_aggregation *g, const pe_aggregate *a)
{
	pe_aggregate count;
	int			i = 0;

	if (a->kind == PE_AGG_DISTINCT && count_beside(g, a) >= 0)
		a = &g->aggregate[count_beside(g, a)];
	pe_aggregate_count_of(units_or_rows(g, a), &count);
	while (i < g->deciding && (g->decides[i].kind != count.kind || g->decides[i].most != count.most ||
							   memcmp(g->decides[i].sum, count.sum, sizeof(count.sum)) != 0))
		i++;
	if (i == g->deciding)
		g->decides[g->deciding++] = count;
	return i;
}

/* The count of all rows or units of a group, if the request asks for it; -1: it does not. */
static int
decides_all(pe_aggregation *g)
{
	for (int i = 0; i < g->aggregates; i++)
	{
		const pe_aggregate *a = &g->aggregate[i];

		if ((a->kind == PE_AGG_COUNT || a->kind == PE_AGG_UNITS || a->kind == PE_AGG_SHARE) && needs_of(g, a) == 0)
			return decided_by(g, a);
	}
	return -1;
}

void
pe_suppress_find_counts(pe_aggregation *g)
{
	int			all;

	if (!g->stored)
		pe_suppress_check_workload(&g->min, g->asked.dataset, &g->space[0].workload);
	if (g->on_grid && !g->stored)
		pe_suppress_check_interval(&g->min, g->asked.dataset, "a quantile of an attribute with a single bin",
								   "Let the owner declare bins.");
	g->deciding = 0;
	if (g->on_grid || pe_aggregation_is_counts(g) ||
		Max(Max(g->asked.dataset->min_count, g->asked.request->min_count), g->min.units) == 0)
		return;
	g->decides = palloc0(2 * PE_MAX_AGGREGATES * sizeof(*g->decides));
	all = decides_all(g);
	for (int i = 0; i < g->aggregates; i++)
	{
		const pe_aggregate *a = &g->aggregate[i];
		bool		ratio = a->kind == PE_AGG_RATIO;

		g->decided_by[i][0] = a->kind == PE_AGG_LOST ? -1 : all;
		g->decided_by[i][1] = decided_by(g, ratio ? a->part[0] : a);
		g->decided_by[i][2] = ratio ? decided_by(g, a->part[1]) : -1;
	}
}

/* The rule for one of the counts that decide. */
pe_min_count
pe_suppress_rule_of_count(const pe_aggregation *g, int number, int periods)
{
	const pe_aggregate *count = &g->decides[number];
	int			rows = g->min.rows * periods;

	if (count->kind == PE_AGG_UNITS)
		rows = 1;
	else if (count->kind == PE_AGG_LOST)
		rows = count->most;
	return (pe_min_count) {g->min.units, rows};
}

bool
pe_suppress_shows(const pe_aggregation *g, const pe_aggregate_result *count, int32 group, int aggregate, int periods)
{
	bool		shows = true;

	for (int i = 0; i < PE_DECIDED_BY && g->min.units > 0; i++)
	{
		int			number = g->decided_by[aggregate][i];

		if (number >= 0)
		{
			pe_min_count rule = pe_suppress_rule_of_count(g, number, periods);

			shows &= pe_min_count_shows(&rule, count[(size_t) group * g->deciding + number].lower);
		}
	}
	return shows;
}

void
pe_suppress_results(const pe_aggregation *g, const pe_aggregate_result *count, int periods, pe_aggregate_result *result)
{
	for (int32 q = 0; q < g->space[0].workload.queries && g->min.units > 0; q++)
		for (int i = 0; i < g->aggregates; i++)
			if (!pe_suppress_shows(g, count, q, i, periods))
				result[(size_t) q * g->aggregates + i] = pe_suppressed;
}
