/*
 * publish.c
 *	  dp.publish: a paid release, or a part of it, as an ordinary table of the caller's.
 *
 * The table is made and filled with the caller's rights, in his transaction
 * (published_table.h).  Its columns follow from the workload alone:
 *
 *	 query						number from 1, the primary key
 *	 ...						what the query says of each attribute (published_columns.h)
 *	 ...						what was measured (published_figures.h); of aggregates a row is a group
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/builtins.h"

#include "ask/ask_sums.h"
#include "server/arguments.h"
#include "read/published_figures.h"
#include "ask/stored_release.h"
#include "read/published_table.h"
#include "server/access.h"

PG_FUNCTION_INFO_V1(pe_sql_publish);

enum
{
	ARG_RELEASE, ARG_TARGET, ARG_REPLACE, ARG_WORKLOAD, ARG_NAMES
};

typedef struct publication
{
	int64		id;
	const pe_release *release;
	const pe_answers *answers;	/* of counts; */
	const pe_stored_aggregates *stored; /* or of aggregates; the other is NULL */
	char	   *charge;			/* that it was made for */

	pe_target	target;

	pe_published_columns columns;
	pe_published_figures figures;
} publication;

/* ------------------------------------------------------------------
 * Columns
 * ------------------------------------------------------------------
 */

/* The column that comes first; what was measured comes next, so no attribute can take their names. */
#define QUERY 0

static const pe_aggregation *
aggregation_of(const publication *p)
{
	return p->stored != NULL ? &p->stored->aggregation : NULL;
}

static void
make_columns(publication *p, char **given)
{
	int			first = pe_published_add(&p->columns, "query", "", INT4OID);
	int			fixed;

	pe_figures_add(&p->figures, &p->columns, aggregation_of(p), given);
	fixed = p->columns.columns;
	pe_published_place(&p->columns, first, first + 1);
	pe_published_add_queries(&p->columns);
	pe_published_place(&p->columns, first + 1, fixed);
}

/* ------------------------------------------------------------------
 * Rows
 * ------------------------------------------------------------------
 */

/* What was measured of a row; NaN: unknown. */
static pe_aggregate_result
result_of(const publication *p, int32 q, int m)
{
	const pe_answers *answers = p->answers;

	if (p->stored != NULL)
		return p->stored->result[(size_t) q * p->figures.measures + m];
	if (isnan(answers->stderr_[q])) /* nobody knows its error */
		return (pe_aggregate_result) {answers->estimate[q], NAN, NAN, NAN};
	return (pe_aggregate_result) {answers->estimate[q], answers->stderr_[q], answers->lower[q], answers->upper[q]};
}

/* In the order that the table has the columns. */
static void
make_row(const void *argument, int32 q, Datum *values, bool *nulls)
{
	const publication *p = argument;
	Datum		value[PE_MOST_PUBLISHED];
	bool		isnull[PE_MOST_PUBLISHED];

	memset(isnull, true, sizeof(isnull));
	pe_published_put(QUERY, Int32GetDatum(q + 1), value, isnull);
	pe_published_put_query(&p->columns, q, value, isnull);
	for (int m = 0; m < p->figures.measures; m++)
	{
		pe_aggregate_result result = result_of(p, q, m);

		pe_figures_put(&p->figures, m, &result, value, isnull);
	}
	pe_published_reorder(&p->columns, value, isnull, values, nulls);
}

/* ------------------------------------------------------------------
 * The table
 * ------------------------------------------------------------------
 */

static char *
comment_on(const publication *p)
{
	const pe_release *r = p->release;

	return psprintf("published by dp.publish: release " INT64_FORMAT " of dataset \"%s\", version %d of its data; "
					"%s%sworkload %s; %s%s; %s",
					r->id, r->dataset->name, r->version, pe_figures_text(aggregation_of(p)),
					pe_published_roll_ups(&p->columns), p->columns.labels->workload->canonical,
					r->predicate_text != NULL ? "where " : "all rows",
					r->predicate_text != NULL ? r->predicate_text : "", p->charge);
}

/* ------------------------------------------------------------------
 * dp.publish
 * ------------------------------------------------------------------
 */

/* The names given for aggregates; NULL: none. */
static char **
given_names(FunctionCallInfo fcinfo, const publication *p)
{
	int			longest = NAMEDATALEN - 1 - (int) strlen(pe_figure_suffix[PE_LOWER95]);
	char	  **name;
	int			names;

	if (PG_ARGISNULL(ARG_NAMES))
		return NULL;
	name = pe_names_argument(fcinfo, ARG_NAMES, "names", "a name of names", &names);
	if (p->stored == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("names is for releases of aggregates"),
				 errdetail("Release " INT64_FORMAT " has counts.", p->id)));
	if (names != p->stored->aggregation.aggregates)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%d names are given for %d aggregates", names, p->stored->aggregation.aggregates),
				 errhint("Give a name for each, in the order of the aggregates.")));
	for (int i = 0; i < names; i++)
		if (name[i][0] == '\0' || (int) strlen(name[i]) > longest)
			pe_refuse_parameter("names", name[i], psprintf("a name of 1 to %d bytes for each aggregate", longest));
	return name;
}

/* A part of a release of aggregates cannot be had: some of them do not add up. */
static void
refuse_workload(int64 id)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("workload does not go with a release of aggregates"),
			 errdetail("Release " INT64_FORMAT " has them for the groups that were asked for.", id),
			 errhint("Leave workload out.")));
}

static void
read_aggregates(publication *p, const char *workload)
{
	pe_stored_aggregates *s;
	pe_labels  *labels = palloc0(sizeof(*labels));

	if (workload != NULL)
		refuse_workload(p->id);
	s = pe_aggregation_of_release(p->id);
	pe_labels_init(labels, &s->aggregation.space[0].workload, s->aggregation.space[0].columns);
	p->stored = s;
	p->release = &s->release;
	p->columns.labels = labels;
	p->columns.column = s->aggregation.space[0].columns;
}

static void
read_counts(publication *p, const char *workload)
{
	pe_release *r = palloc0(sizeof(*r));

	r->id = p->id;
	r->published = true;
	pe_release_answer(r, workload);
	p->release = r;
	p->answers = &r->answers;
	p->columns.labels = &r->answers.labels;
	p->columns.column = r->columns;
}

/* What kind of release it is, if the current user may read it. */
static bool
has_aggregates(int64 id)
{
	pe_release	r = {.id = id};

	PE_UNDONE();
	pe_release_read_row(&r);
	PE_END_UNDONE();
	return r.workload_text == NULL && r.kind != NULL && strcmp(r.kind, PE_MEASUREMENT) == 0;
}

Datum
pe_sql_publish(PG_FUNCTION_ARGS)
{
	publication *p = palloc0(sizeof(*p));
	pe_confinement confinement;

	if (PG_ARGISNULL(ARG_RELEASE) || PG_ARGISNULL(ARG_TARGET) || PG_ARGISNULL(ARG_REPLACE))
		PG_RETURN_NULL();
	p->target.function = "dp.publish";
	p->id = PG_GETARG_INT64(ARG_RELEASE);
	if (has_aggregates(p->id))
		read_aggregates(p, pe_optional_text(fcinfo, ARG_WORKLOAD));
	else
		read_counts(p, pe_optional_text(fcinfo, ARG_WORKLOAD));
	p->charge = pe_charge_text(p->id);
	make_columns(p, given_names(fcinfo, p));
	pe_target_find(&p->target, PG_GETARG_TEXT_PP(ARG_TARGET), PG_GETARG_BOOL(ARG_REPLACE));

	pe_target_begin(&p->target, &confinement);
	pe_published_make(&p->columns, &p->target, "PRIMARY KEY (query)");
	pe_target_insert(&p->target, p->columns.labels->workload->queries, make_row, p);
	pe_target_finish(&p->target, comment_on(p));
	pe_target_end(&confinement);
	PG_RETURN_INT64(p->columns.labels->workload->queries);
}
