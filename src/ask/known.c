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

/* So many of the newest releases are looked at, */
#define MOST_RELEASES "1000"

/* Requests of more queries are not looked for: their errors are not computed one by one. */
#define MOST_QUERIES 10000000

/*
 * Errors of a release and of a request that measure the same are the same up to
 * rounding.
 */
#define ROUNDING 1e-9

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

const char *
pe_release_rows_text(const pe_release *r)
{
	return r->rows_text != NULL ? r->rows_text
		: pe_rows_text(r->dataset, r->version, r->columns, r->attributes, r->predicate_text, &r->complete);
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

static bool
same_names(const pe_aggregation *h, const pe_release *r)
{
	if (h->groups != r->attributes)
		return false;
	for (int i = 0; i < h->groups; i++)
		if (strcmp(h->columns[i].name, r->columns[i].name) != 0)
			return false;
	return true;
}

/* Whether counts that are not negative can be had from it. */
static bool
gives_nonnegative(const pe_strategy *strategy)
{
	return strategy->blocks != NULL ? strategy->blocks->kind == PE_BLOCKS_MARGINALS : !strategy->direct;
}

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

/* What a direct strategy measures means the same over the same list of attributes only. */
static bool
join_known(const pe_aggregation *h, pe_known *k)
{
	pe_release *r = &k->release;
	const pe_over_columns measured = {r->columns, r->attributes, &r->workload};
	const pe_over_columns asked = {h->columns, h->groups, &h->space[0].workload};

	return (!r->kept.strategy.direct || same_names(h, r)) &&
		(!pe_counts_nonnegative(h) || gives_nonnegative(&r->kept.strategy)) &&
		pe_known_join(&k->pair, r->dataset, r->predicate_text, &measured, &r->kept.strategy, r->measured.lattice,
					  &asked);
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

/* A release that is looked at. */
typedef struct look
{
	const pe_aggregation *h;
	const double *most;			/* NULL: no bound */
	const char *rows;			/* pe_rows_text of the request */
	pe_known	known;
	bool		serves;
	double		work;
} look;

static void
measure_errors(look *l, const double *variance)
{
	double		noise = pe_noise_stderr(pe_release_noise(&l->known.release));

	l->serves = true;
	for (int32 q = 0; q < l->known.pair.asked_over.queries; q++)
	{
		double		error = noise * sqrt(variance[q]);

		l->known.max_stderr = Max(l->known.max_stderr, error);
		if (l->most != NULL && error > l->most[q] * (1 + ROUNDING))
			l->serves = false;
	}
}

static void
look_at(void *argument)
{
	look	   *l = argument;
	pe_release *r = &l->known.release;
	double	   *variance;

	/* what is cheap to see of counts alone comes first */
	if (r->workload_text != NULL)
	{
		r->columns = pe_columns_load(r->dataset, r->names, &r->attributes);
		if (strcmp(pe_release_rows_text(r), l->rows) != 0)
			return;
	}
	if (!pe_release_measured(r) || strcmp(pe_release_rows_text(r), l->rows) != 0)
		return;
	if (!join_known(l->h, &l->known))
		return;
	l->work = r->kept.strategy.blocks != NULL ? 1e3 * l->h->space[0].workload.queries
		: pow(r->kept.strategy.columns, 3);
	variance = pe_known_variances(&l->known.pair);
	if (variance != NULL)
		measure_errors(l, variance);
}

void
pe_known_pass_over(ErrorData *error)
{
	if (error->sqlerrcode != ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE &&
		error->sqlerrcode != ERRCODE_PROGRAM_LIMIT_EXCEEDED &&
		error->sqlerrcode != ERRCODE_OUT_OF_MEMORY && error->sqlerrcode != ERRCODE_DATA_CORRUPTED)
		ReThrowError(error);
	FreeErrorData(error);
}

/* ------------------------------------------------------------------
 * The search
 * ------------------------------------------------------------------
 */

Datum
pe_known_budgets(const pe_dataset *dataset)
{
	List	   *seen = pe_budgets_seen(dataset);
	Datum	   *ids = palloc((list_length(seen) + 1) * sizeof(Datum));
	int			count = 0;
	ListCell   *cell;

	foreach(cell, seen)
		ids[count++] = Int64GetDatum(((pe_budget *) lfirst(cell))->id);
	return PointerGetDatum(construct_array(ids, count, INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

/* Fills in what the ledger says of a release; payload and value stay NULL. */
static void
release_of_row(const pe_aggregation *h, uint64 row, pe_release *r)
{
	r->id = pe_access_int64(row, 1);
	r->names = pe_access_texts(row, 2, &r->attributes);
	r->workload_text = pe_access_text(row, 3);
	r->strategy_id = pe_access_int64(row, 4);
	r->nano = pe_access_int64(row, 5);
	r->accounting = pe_accounting_of(pe_access_text(row, 6));
	r->dataset = palloc(sizeof(*r->dataset));
	*r->dataset = *h->asked.dataset;
	r->dataset->as_of = (int) pe_access_int64(row, 7);
	r->complete.name = pe_access_texts(row, 8, &r->complete.names);
	r->version = h->asked.dataset->version;
	r->predicate_text = unconstify(char *, h->predicate);
}

/*
 * Those that may serve, the newest first.  Of several that measured the same only the one with the least
 * noise, and of these the newest.
 */
static pe_release *
candidates(const pe_aggregation *h, uint64 *count)
{
	static pe_statement find = {NULL,
		"SELECT id, attributes, workload, strategy_id, nano, accounting, declared, complete FROM ("
		"SELECT DISTINCT ON (attributes, workload, strategy_id, accounting, declared, complete, aggregates) * "
		"FROM ("
		"SELECT id, attributes, workload, coalesce(strategy_id, 0) AS strategy_id, "
		"coalesce(rho, epsilon, (request::jsonb->>'rho')::int8, (request::jsonb->>'epsilon')::int8) AS nano, "
		"accounting, declared, request::jsonb->'aggregates' AS aggregates, " PE_COMPLETE_OF("request") " AS complete "
		"FROM dp_ledger.release r WHERE dataset_id = $1 AND version = $2 AND payload IS NOT NULL "
		"AND (workload IS NOT NULL OR (request::jsonb->>'kind' = '" PE_MEASUREMENT "' AND method = 'optimal')) "
		"AND method <> 'dawa' AND predicate IS NOT DISTINCT FROM $3 "
		"AND coalesce((request::jsonb->>'rows_per_unit')::int8, 0) = $4 "
		"AND (charge_id IN (SELECT c.id FROM dp_ledger.charge c WHERE c.budget_id = ANY ($5)) "
		"OR id IN (SELECT c.release_id FROM dp_ledger.charge c WHERE c.budget_id = ANY ($5) "
		"AND c.release_id IS NOT NULL)) "
		"ORDER BY id DESC LIMIT " MOST_RELEASES ") newest "
		"ORDER BY attributes, workload, strategy_id, accounting, declared, complete, aggregates, nano DESC, id DESC) "
		"best "
		"ORDER BY id DESC", 5,
	{INT8OID, INT4OID, TEXTOID, INT8OID, INT8ARRAYOID}};
	const pe_dataset *dataset = h->asked.dataset;
	Datum		values[5] = {
		Int64GetDatum(dataset->id), Int32GetDatum(dataset->version),
		h->predicate != NULL ? CStringGetTextDatum(h->predicate) : (Datum) 0,
		Int64GetDatum(dataset->unit != NULL ? dataset->max_rows : 0), pe_known_budgets(dataset)
	};
	MemoryContext here = CurrentMemoryContext;
	pe_release *found;
	pe_access	access;

	pe_access_begin(&access);
	*count = pe_access_read(&find, values, h->predicate != NULL ? NULL : "  n  ");
	found = MemoryContextAllocZero(here, (*count + 1) * sizeof(*found));
	MemoryContextSwitchTo(here);
	for (uint64 row = 0; row < *count; row++)
		release_of_row(h, row, &found[row]);
	pe_access_end(&access);
	return found;
}

int64
pe_known_find(const pe_aggregation *h, const double *most, double *max_stderr)
{
	uint64		count = 0;
	pe_release *release = NULL;
	char	   *rows = pe_rows_text(h->asked.dataset, h->asked.dataset->version, h->columns, h->groups,
									h->predicate, &h->complete);
	MemoryContext here = CurrentMemoryContext;
	MemoryContext of_one = AllocSetContextCreate(here, "pg_epsilon release", ALLOCSET_DEFAULT_SIZES);
	double		work = 0;
	int64		best = 0;

	if (h->space[0].workload.queries <= MOST_QUERIES)
		release = candidates(h, &count);
	MemoryContextSwitchTo(of_one);
	for (uint64 i = 0; i < count && work < PE_KNOWN_WORK; i++)
	{
		look		l = {.h = h, .most = most, .rows = rows, .known.release = release[i]};
		ErrorData  *error = pe_run_undone(look_at, &l);

		if (error != NULL)
			pe_known_pass_over(error);
		else if (l.serves && (best == 0 || l.known.max_stderr < *max_stderr))
		{
			best = release[i].id;
			*max_stderr = l.known.max_stderr;
		}
		work += l.work;
		MemoryContextReset(of_one);
	}
	MemoryContextSwitchTo(here);
	MemoryContextDelete(of_one);
	return best;
}

/* ------------------------------------------------------------------
 * Answers
 * ------------------------------------------------------------------
 */

void
pe_known_read(const pe_aggregation *h, int64 id, pe_known *k)
{
	memset(k, 0, sizeof(*k));
	k->release.id = id;
	pe_release_read(&k->release);
	if (!join_known(h, k))
		elog(ERROR, "release " INT64_FORMAT " does not answer the request", id);
}

void
pe_known_answer(const pe_aggregation *h, const pe_known *k, pe_answers *answers)
{
	const pe_blocks *blocks = k->pair.measured.strategy->blocks;

	if (blocks != NULL && pe_counts_nonnegative(h))
		pe_check_memory(pe_blocks_nonnegative_memory(blocks));
	pe_answers_init(answers, &k->pair.measured, &k->pair.asked_over, k->pair.joint.columns, k->release.value,
					pe_release_noise(&k->release), NULL, pe_counts_nonnegative(h));
	pe_labels_init(&answers->labels, &h->space[0].workload, h->columns);
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
