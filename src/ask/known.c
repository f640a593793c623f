/*
 * known.c
 *	  What stored releases know of a request.  See known.h.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/json.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "ask/known.h"
#include "ask/replay.h"
#include "ask/ask_predicate.h"
#include "ledger/budget.h"
#include "server/access.h"
#include "server/settings.h"
#include "blocks/blocks.h"

/* ------------------------------------------------------------------
 * Which rows
 * ------------------------------------------------------------------
 */

static int
compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *) a, *(char *const *) b);
}

static int
add_dropping(const pe_column *columns, int count, const pe_complete *complete, char **name, int names)
{
	for (int i = 0; i < count; i++)
		if ((columns[i].domain.outside == PE_OUTSIDE_DROP || columns[i].domain.nulls == PE_NULLS_DROP) &&
			(columns[i].roll_up != NULL || !pe_is_complete(complete, columns[i].name)))
			name[names++] = columns[i].name;
	return names;
}

/* Those that may drop rows, each once, in an order of their own. */
static void
append_dropping(StringInfo text, const pe_column *columns, int attributes, const pe_column *named, int count,
				const pe_complete *complete)
{
	char	   *name[2 * PE_MAX_ATTRIBUTES];
	int			names = add_dropping(columns, attributes, complete, name, 0);

	names = add_dropping(named, count, complete, name, names);
	qsort(name, names, sizeof(*name), compare_names);
	for (int i = 0; i < names; i++)
		if (i == 0 || strcmp(name[i], name[i - 1]) != 0)
			escape_json(text, name[i]);
}

/* Attributes that were altered: which rows are dropped or selected may be others than before. */
static void
append_declared(StringInfo text, const pe_column *columns, int attributes)
{
	for (int i = 0; i < attributes; i++)
		if (columns[i].declared > 1)
			appendStringInfo(text, " %s %d", quote_identifier(columns[i].name), columns[i].declared);
}

char *
pe_rows_text(pe_dataset *dataset, int version, const pe_column *columns, int attributes, const char *predicate,
			 const pe_complete *complete)
{
	StringInfoData text;
	pe_column  *named = palloc0(PE_MAX_ATTRIBUTES * sizeof(*named));
	int			count = 0;

	if (predicate != NULL)
		pe_predicate_argument(dataset, predicate, named, &count);
	initStringInfo(&text);
	appendStringInfo(&text, "version %d", version);
	if (dataset->unit != NULL)
	{
		appendStringInfo(&text, " rows %d of", dataset->max_rows);
		for (int i = 0; i < attributes; i++)
			escape_json(&text, pe_column_text(&columns[i]));
	}
	appendStringInfoString(&text, " drop ");
	append_dropping(&text, columns, attributes, named, count, complete);
	appendStringInfoString(&text, " where ");
	appendStringInfoString(&text, predicate != NULL ? predicate : "");
	append_declared(&text, named, count);
	return text.data;
}

/* ------------------------------------------------------------------
 * Attributes together
 * ------------------------------------------------------------------
 */

void
pe_joint_add(pe_joint *joint, const pe_column *columns, int attributes, int *place)
{
	if (joint->columns == NULL)
		joint->columns = palloc0(PE_MAX_ATTRIBUTES * sizeof(*joint->columns));
	for (int i = 0; i < attributes; i++)
	{
		int			at = 0;

		while (at < joint->attributes && strcmp(joint->columns[at].name, columns[i].name) != 0)
			at++;
		if (at < joint->attributes && joint->columns[at].declared != columns[i].declared)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("attribute \"%s\" was altered between the releases", columns[i].name),
					 errdetail("Its cells are others in one than in the other.")));
		pe_check_attributes(at + 1);
		if (at == joint->attributes)
			joint->columns[joint->attributes++] = columns[i];
		place[i] = at;
	}
}

void
pe_joint_close(pe_joint *joint, pe_dataset *dataset, const char *predicate)
{
	const char *names[PE_MAX_ATTRIBUTES];

	for (int a = 0; a < joint->attributes; a++)
		names[a] = joint->columns[a].name;
	joint->domain = pe_columns_domain(joint->columns, joint->attributes, 0);
	pe_columns_check_product(joint->domain);
	pe_shape_of_domain(joint->domain, names, &joint->shape);
	joint->possible = pe_predicate_cells_of(dataset, predicate, joint->columns, joint->attributes);
}

/* ------------------------------------------------------------------
 * A release and a request together
 * ------------------------------------------------------------------
 */

/* Two of the same name are the same cells. */
static bool
are_alike(const pe_over_columns *one, const pe_over_columns *other)
{
	for (int i = 0; i < one->attributes; i++)
		for (int j = 0; j < other->attributes; j++)
			if (strcmp(one->columns[i].name, other->columns[j].name) == 0 &&
				strcmp(pe_column_text(&one->columns[i]), pe_column_text(&other->columns[j])) != 0)
				return false;
	return true;
}

/* Those of what was measured stand in front: so its classes keep their order. */
bool
pe_known_join(pe_known_pair *p, pe_dataset *dataset, const char *predicate, const pe_over_columns *measured,
			  const pe_strategy *strategy, const int *lattice, const pe_over_columns *asked)
{
	int			of_measured[PE_MAX_ATTRIBUTES];
	int			of_asked[PE_MAX_ATTRIBUTES];

	if (!are_alike(measured, asked))
		return false;
	pe_joint_add(&p->joint, measured->columns, measured->attributes, of_measured);
	pe_joint_add(&p->joint, asked->columns, asked->attributes, of_asked);
	if (strategy->blocks == NULL)
		pe_joint_close(&p->joint, dataset, predicate);
	/* blocks are over these alone, and know which cells the predicate leaves */
	else if (p->joint.attributes == measured->attributes)
		p->joint.shape = measured->workload->shape;
	else
		return false;
	if (!pe_workload_over(measured->workload, &p->joint.shape, of_measured, &p->measured_over) ||
		!pe_workload_over(asked->workload, &p->joint.shape, of_asked, &p->asked_over))
		return false;
	p->measured = (pe_measured) {&p->measured_over, strategy, p->joint.possible, lattice};
	return true;
}

double *
pe_known_variances(const pe_known_pair *p)
{
	double	   *variance = NULL;
	pe_reconstruction reconstruction;

	if (!pe_reconstruction_init(&p->measured, &p->asked_over, &reconstruction))
		return NULL;
	pe_check_memory(pe_reconstruction_memory(p->measured.strategy, &p->asked_over, &reconstruction.classes));
	if (pe_reconstruction_undetermined(&reconstruction) < 0)
	{
		variance = pe_alloc(p->asked_over.queries, sizeof(double));
		pe_reconstruction_variance(&reconstruction, variance);
	}
	pe_reconstruction_free(&reconstruction);
	return variance;
}

void
pe_known_tell(const pe_release *release)
{
	int64		seconds = Max(GetCurrentTimestamp() - release->created, 0) / USECS_PER_SEC;
	Datum		age = DirectFunctionCall2(timestamp_mi, TimestampGetDatum(seconds * USECS_PER_SEC),
										  TimestampGetDatum(0));

	ereport(NOTICE,
			(errmsg("answered from release " INT64_FORMAT " of %s, free", release->id,
					pe_replay_text(release->version, release->created)),
			 errdetail("It was measured %s ago; rows that came since do not count in it.",
					   DatumGetCString(DirectFunctionCall1(interval_out, age)))));
}
