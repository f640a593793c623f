/*
 * stored_release.c
 *	  Paid answers, read again.  See stored_release.h.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "ask/ask_counts.h"
#include "ask/ask_sums.h"
#include "ask/ask_synthetic.h"
#include "ask/known.h"
#include "ask/rest.h"
#include "ask/stored_release.h"
#include "ask/suppress.h"
#include "ask/tree_release.h"
#include "server/access.h"
#include "server/aggregate_options.h"
#include "ledger/budget.h"
#include "ledger/formats.h"
#include "ledger/charge.h"
#include "ledger/standby.h"
#include "ledger/strategies.h"
#include "plan/plan.h"
#include "server/settings.h"
#include "noise/interval.h"
#include "server/values.h"

static void
refuse_release(int64 id)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("release " INT64_FORMAT " does not exist, or is not yours to read", id),
			 errhint("The view dp.releases lists those that are.")));
}

/* What its request says besides; it is freed. */
static void
take_request(Jsonb *request, pe_release *r)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(request));	/* outlives pe_access_end */
	double		cells_per_unit = 0;

	pe_option_take_string(request, "kind", &r->kind);
	pe_option_take_string(request, "workload", &r->grouping);
	if (r->grouping != NULL && strcmp(r->grouping, "identity") == 0)
		r->grouping = NULL;
	pe_option_take_number(request, "cells_per_unit", &cells_per_unit);
	r->cells_per_unit = (int) cells_per_unit;
	r->complete.name = pe_option_strings(request, "complete", &r->complete.names);
	r->aggregate = pe_option_strings(request, "aggregates", &r->aggregates);
	r->never_null = pe_option_strings(request, "never_null", &r->never_nulls);
	r->decimals = pe_option_strings(request, "decimals", &r->decimals_count);
	r->open = pe_option_strings(request, "open", &r->opens);
	MemoryContextSwitchTo(old);
	pfree(request);
}

void
pe_release_of_row(uint64 row, pe_release *r)
{
	bool		isnull;

	r->id = pe_access_int64(row, 1);
	PE_CHECK_FORMAT(pe_access_int64(row, 13), "release " INT64_FORMAT, r->id);
	r->version = (int) pe_access_int64(row, 2);
	r->names = pe_access_texts(row, 3, &r->attributes);
	r->workload_text = pe_access_text(row, 4);
	r->strategy_id = pe_access_int64(row, 5);
	r->other = pe_access_int64s(row, 6, &r->others);
	r->nano = pe_access_int64(row, 7);
	r->predicate_text = pe_access_text(row, 8);
	r->accounting = pe_accounting_of(pe_access_text(row, 9));
	r->method = pe_access_text(row, 10);
	r->is_dawa = r->method != NULL && strcmp(r->method, "dawa") == 0;
	r->created = DatumGetTimestampTz(pe_access_datum(row, 11, &isnull));
	take_request(DatumGetJsonbP(pe_access_datum(row, 12, &isnull)), r);
}

/* False if there is none, or its dataset is gone. */
static bool
find_row(pe_release *r)
{
	static pe_statement find = {NULL, "SELECT " PE_RELEASE_ROW ", dataset_id, "
		"coalesce((request::jsonb->>'rows_per_unit')::int8, 0) "
	"FROM dp_ledger.release WHERE id = $1 AND payload IS NOT NULL", 1, {INT8OID}};
	Datum		key[1] = {Int64GetDatum(r->id)};
	pe_access	access;
	int64		dataset;
	int			rows_per_unit;
	int			declared;

	pe_access_begin(&access);
	if (pe_access_read(&find, key, NULL) != 1)
		return false;
	pe_release_of_row(0, r);
	declared = (int) pe_access_int64(0, PE_RELEASE_DECLARED);
	dataset = pe_access_int64(0, PE_RELEASE_DECLARED + 1);
	rows_per_unit = (int) pe_access_int64(0, PE_RELEASE_DECLARED + 2);
	pe_access_end(&access);

	r->dataset = pe_dataset_load_by_id(dataset);
	if (r->dataset == NULL)
		return false;
	r->dataset->as_of = declared;
	if (rows_per_unit > 0)		/* the sensitivity is that of the request */
		r->dataset->max_rows = rows_per_unit;
	return true;
}

void
pe_release_read_row(pe_release *r)
{
	if (!find_row(r) ||
		(!pe_release_is_paid(r->id, r->dataset->frozen, GetUserId()) && !pe_dataset_owned_by(r->dataset, GetUserId())))
		refuse_release(r->id);
	pe_standby_await(r->dataset->cap_id);
}

void
pe_release_read_given(pe_release *r, const bytea *payload)
{
	if (!find_row(r))
		refuse_release(r->id);
	r->value = pe_payload_read(payload, &r->values);
}

void
pe_release_read_values(pe_release *r)
{
	static pe_statement find = {NULL, "SELECT payload FROM dp_ledger.release WHERE id = $1 AND payload IS NOT NULL",
	1, {INT8OID}};
	Datum		key[1] = {Int64GetDatum(r->id)};
	bytea	   *payload;
	pe_access	access;
	bool		isnull;

	if (r->value != NULL)
		return;
	pe_access_begin(&access);
	if (pe_access_read(&find, key, NULL) != 1)
		refuse_release(r->id);
	payload = DatumGetByteaPP(pe_access_datum(0, 1, &isnull));
	pe_access_end(&access);
	r->value = pe_payload_read(payload, &r->values);
}

/* ------------------------------------------------------------------
 * What was asked
 * ------------------------------------------------------------------
 */

static void
fill_request(const pe_release *r, bool as_counts, pe_request *request)
{
	pe_request_init(request, as_counts ? PE_ASK_COUNTS : PE_ASK_SUMS, "dp.aggregate");
	request->attribute = r->names;
	request->attributes = r->attributes;
	request->predicate = r->predicate_text;
	request->method = r->method;
	request->workload = as_counts ? r->workload_text : r->grouping;
	if (as_counts)
		return;
	request->sums.aggregate = r->aggregate;
	request->sums.aggregates = r->aggregates;
	request->sums.cells_per_unit = r->cells_per_unit;
	request->sums.limits_cells = r->cells_per_unit > 0;
}

/* A request that is read as what was paid for. */
static void
restore(const pe_release *r, const pe_request *request, pe_aggregation *g)
{
	g->asked.request = request;
	g->asked.dataset = r->dataset;
	g->asked.ask.accounting = r->accounting;
	g->asked.ask.cap = r->dataset->accounting;
	g->strategies = pe_strategies_of(r->strategy_id, r->other, r->others);
	g->version = r->version;
	g->complete = r->complete;
	g->never_null_name = r->never_null;
	g->never_null_names = r->never_nulls;
	g->open_name = r->open;
	g->open_names = r->opens;
	g->decimals = r->decimals;
	g->decimals_count = r->decimals_count;
	pe_aggregation_restore(g);
}

pe_stored_aggregates *
pe_aggregation_restored_of(const pe_release *r, bool as_counts)
{
	pe_stored_aggregates *s = palloc0(sizeof(*s));

	s->release = *r;
	fill_request(r, as_counts, &s->request);
	restore(r, &s->request, &s->aggregation);
	return s;
}

pe_aggregation *
pe_aggregation_over_release(const pe_release *r, const pe_request *request)
{
	pe_aggregation *g = palloc0(sizeof(*g));

	restore(r, request, g);
	return g;
}

void
pe_aggregation_read(pe_stored_aggregates *s)
{
	pe_release *r = &s->release;

	pe_release_read_values(r);
	if (!s->aggregation.on_grid)
		s->measured = pe_aggregation_measured(&s->aggregation, r->id, r->value, r->values,
											  &s->aggregation.strategies);
}

/* ------------------------------------------------------------------
 * Counts
 * ------------------------------------------------------------------
 */

/* Releases without a workload: what they are, and who gives them back. */
static const struct
{
	const char *kind;
	const char *what;
	const char *hint;
}			other_kinds[] = {
	{"minimum", "is a minimum", "dp.minimize_max_affine with the same arguments returns it, free."},
	{PE_MEASUREMENT, "holds aggregates without a count of all rows by attributes",
		"dp.publish makes a table of them. dp.aggregate with the same arguments returns them, and coarser groups of "
	"them with reuse => true, free."},
	{"rows_per_unit", "counts units by how many rows they have",
		"dp.rows_per_unit with the same arguments returns it, free."},
	{"keys", "holds keys", "dp.keys with the same arguments returns them, free."},
	{PE_SYNTHETIC, "holds the tables of a tree", "dp.synthesize draws rows from them, and dp.answer has them, free."},
	{"bounds", "holds bounds", "dp.bounds with the same arguments returns them, free."}
};

/* Aggregates as they were before they were measurements. */
#define EARLIER_AGGREGATES "aggregate"

static void
check_kind(const pe_release *r)
{
	if (r->kind != NULL && strcmp(r->kind, EARLIER_AGGREGATES) == 0)
		pe_aggregation_refuse_earlier(r->id);
}

/* What is no measurement of counts per cell. */
static void
refuse_kind(const pe_release *r)
{
	const char *what = "is a model";
	const char *hint = "dp.models tells its name, and dp.predict uses it.";

	check_kind(r);
	for (int i = 0; i < lengthof(other_kinds); i++)
		if (r->kind != NULL && strcmp(r->kind, other_kinds[i].kind) == 0)
		{
			what = other_kinds[i].what;
			hint = other_kinds[i].hint;
		}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("release " INT64_FORMAT " %s", r->id, what),
			 errhint("%s", hint)));
}

/* The part that counts all rows by the groups, which are attributes as they are; -1: none. */
static int
part_of_counts(const pe_aggregation *g)
{
	for (int a = 0; a < g->groups; a++)
		if (g->columns[a].roll_up != NULL)
			return -1;
	for (int i = 0; i < g->parts; i++)
	{
		const pe_sum *sum = &g->needed.sum[g->source[i].sum];

		if (sum->kind == PE_SUM_ONE && sum->needs == 0 && sum->lacks == 0 && g->source[i].space == 0)
			return i;
	}
	return -1;
}

static pe_stored_aggregates *
read_parts(pe_release *r)
{
	pe_stored_aggregates *s = pe_aggregation_restored_of(r, r->workload_text != NULL);

	if (s->aggregation.on_grid)
		return s;
	pe_aggregation_measure(&s->aggregation);
	pe_aggregation_read(s);
	s->measured = pe_rest_join(&s->aggregation, r->nano, s->measured);
	return s;
}

void
pe_release_take_part(pe_release *r, pe_stored_aggregates *s, int i)
{
	pe_aggregation *g = &s->aggregation;
	const pe_space *space = &g->space[g->source[i].space];

	r->columns = unconstify(pe_column *, space->columns);
	r->attributes = space->attributes;
	r->domain = space->domain;
	r->workload = space->workload;
	r->possible = space->possible;
	r->kept = space->kept;
	r->part = g->part[i];
	r->rows_text = pe_aggregation_rows_text(g);
	r->value = s->measured + pe_aggregation_rows_before(g, i);
	r->values = r->part.strategy->rows;
	r->measured = (pe_measured) {&r->workload, &r->kept.strategy, r->possible,
		pe_plan_lattices_of_part(&r->part, &g->rules, r->accounting, r->nano)};
	r->answers.joined = pe_rest_has(g, i);
}

/* The count of all rows, as it was measured, or what is best known of it; false if there is none. */
static bool
load_counts(pe_release *r)
{
	pe_stored_aggregates *s = read_parts(r);
	int			i = s->aggregation.on_grid ? -1 : part_of_counts(&s->aggregation);

	if (i >= 0)
		pe_release_take_part(r, s, i);
	return i >= 0;
}

void
pe_release_check_version(const pe_release *r)
{
	if (r->version < r->dataset->declared_version)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the attributes of dataset \"%s\" were declared anew after release " INT64_FORMAT,
						r->dataset->name, r->id)));
}

/* A measurement. */
static void
read_measurement_row(pe_release *r)
{
	if (r->dataset == NULL)
		pe_release_read_row(r);
	if (r->workload_text == NULL && (r->kind == NULL || strcmp(r->kind, PE_MEASUREMENT) != 0))
		refuse_kind(r);
	pe_release_check_version(r);
}

void
pe_release_read(pe_release *r)
{
	read_measurement_row(r);
	if (!load_counts(r))
		refuse_kind(r);
}

pe_stored_aggregates *
pe_release_read_parts(pe_release *r, bool *has_counts)
{
	pe_stored_aggregates *s;
	int			i;

	read_measurement_row(r);
	s = read_parts(r);
	i = s->aggregation.on_grid ? -1 : part_of_counts(&s->aggregation);
	*has_counts = i >= 0;
	if (i >= 0)
		pe_release_take_part(r, s, i);
	return s;
}

static const pe_column *
column_named(const pe_release *r, const char *name)
{
	for (int a = 0; a < r->attributes; a++)
		if (strcmp(r->names[a], name) == 0)
			return &r->columns[a];
	return NULL;
}

const pe_column *
pe_release_column(const pe_release *r, const char *name)
{
	const pe_column *column = column_named(r, name);
	char		unquoted[PE_NAME_SIZE];
	int			similar;

	if (column == NULL && pe_text_unquote(name, unquoted))
		column = column_named(r, unquoted);
	if (column != NULL)
		return column;
	similar = pe_similar_text(name, r->names, r->attributes);
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("release " INT64_FORMAT " does not have attribute \"%s\"", r->id, name),
			 similar >= 0 ? errhint("Perhaps you meant \"%s\". "
									"The view dp.releases lists the attributes of each release.",
									r->names[similar])
			 : errhint("The view dp.releases lists the attributes of each release.")));
}

const pe_noise *
pe_release_noise(const pe_release *r)
{
	pe_plan_rules rules = pe_door_rules(r->dataset);
	pe_noise   *noise;

	if (r->is_dawa)
		return NULL;
	pe_check_memory(pe_strategy_sensitivity_memory(&r->kept.strategy, rules.neighbours));
	noise = pe_plan_noise_of_part(&r->part, &rules, r->accounting, r->nano);
	if (noise == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("the strategy of release " INT64_FORMAT " is too large", r->id)));
	return noise;
}

pe_min_count
pe_release_rule(const pe_release *r)
{
	return r->published ? pe_suppress_rule_of_published(r->dataset) : pe_suppress_rule(r->dataset, 0);
}

void
pe_release_answer(pe_release *r, const char *text)
{
	pe_min_count rule;
	bool		is_tree;

	PE_UNDONE();
	pe_release_read_row(r);
	is_tree = text != NULL && pe_tree_release_is(r);
	if (!is_tree)
		pe_release_read(r);
	PE_END_UNDONE();
	if (is_tree)
		pe_tree_release_answer(r, text);
	else
		pe_release_reply(r, text);
	rule = pe_release_rule(r);
	pe_suppress_check_workload(&rule, r->dataset, r->answers.labels.workload);
	pe_suppress_answers(&rule, &r->answers);
}

void
pe_release_reply(pe_release *r, const char *text)
{
	pe_workload *workload = &r->workload;

	if (text != NULL)
	{
		workload = palloc0(sizeof(*workload));
		pe_parse_columns_workload(r->dataset, r->columns, r->domain, text, workload);
	}
	pe_counts_check_rows(workload);
	pe_answers_init(&r->answers, &r->measured, workload, r->columns, r->value, pe_release_noise(r), NULL, false);
}

/* ------------------------------------------------------------------
 * Aggregates
 * ------------------------------------------------------------------
 */

static void __attribute__((noreturn))
refuse_counts(int64 id)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("release " INT64_FORMAT " has no aggregates", id)));
	pg_unreachable();
}

/* NULL: it is no measurement.  Inside PE_UNDONE. */
static pe_stored_aggregates *
restore_aggregates(int64 id)
{
	pe_release	row = {.id = id};
	pe_stored_aggregates *s;

	pe_release_read_row(&row);
	check_kind(&row);
	if (row.kind == NULL || strcmp(row.kind, PE_MEASUREMENT) != 0)
		return NULL;
	pe_release_check_version(&row);
	s = pe_aggregation_restored_of(&row, false);
	pe_release_read_values(&s->release);
	return s;
}

/* Likewise; not inside PE_UNDONE. */
static pe_stored_aggregates *
read_aggregates(int64 id)
{
	pe_stored_aggregates *s;

	PE_UNDONE();
	s = restore_aggregates(id);
	PE_END_UNDONE();
	if (s != NULL)
		pe_aggregation_measure(&s->aggregation);
	return s;
}

pe_stored_aggregates *
pe_aggregation_of_release(int64 id)
{
	pe_stored_aggregates *s = read_aggregates(id);
	pe_release *r;

	if (s == NULL)
		refuse_counts(id);
	r = &s->release;
	s->aggregation.min = pe_suppress_rule_of_published(r->dataset);
	pe_suppress_check_workload(&s->aggregation.min, r->dataset, &s->aggregation.space[0].workload);
	if (s->aggregation.on_grid)
		pe_suppress_check_interval(&s->aggregation.min, r->dataset, "a quantile of an attribute with a single bin",
								   "Let the owner declare bins.");
	s->result = pe_aggregation_results(&s->aggregation, id, r->value, r->values, &s->aggregation.strategies,
									   r->nano, PE_MISS);
	pe_suppress_results(&s->aggregation, s->aggregation.count, 1, s->result);
	return s;
}

/* Levels are of tables, as no other front can ask for them; without any a table has averages. */
static bool
holds_table(const pe_aggregation *g)
{
	bool		holds = false;

	for (int i = 1; i < g->aggregates; i++)
		holds |= g->aggregate[i].kind == PE_AGG_LEVELS ||
			strcmp(pe_aggregate_word(&g->aggregate[i]), "regr_count") == 0;
	return holds && !g->on_grid && strcmp(g->text[0], "count(*)") == 0;
}

pe_stored_aggregates *
pe_aggregation_table_of_release(int64 id, pe_tabulated *table)
{
	pe_stored_aggregates *s = read_aggregates(id);
	pe_release *r;

	if (s == NULL || !holds_table(&s->aggregation))
		return NULL;
	r = &s->release;
	pe_aggregation_tabulate_release(&s->aggregation, id, r->value, r->values, &s->aggregation.strategies, r->nano,
									table);
	return s;
}
