/*
 * tree_release.c
 *	  Paid tables of a tree, read again.  See tree_release.h.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/builtins.h"

#include "ask/ask_synthetic.h"
#include "ask/tree_release.h"
#include "counts/tree_answers.h"
#include "door/door.h"
#include "server/access.h"
#include "server/settings.h"

bool
pe_tree_release_is(const pe_release *r)
{
	return r->kind != NULL && strcmp(r->kind, PE_SYNTHETIC) == 0;
}

void
pe_tree_release_read(pe_release *r)
{
	int			count = r->attributes;

	pe_release_check_version(r);
	pe_release_read_values(r);
	r->columns = pe_columns_load(r->dataset, r->names, &count);
	r->domain = pe_columns_domain(r->columns, count, 0);
}

static void
open_tables(const pe_release *r, pe_tree_released *tables)
{
	int32		cells[PE_MAX_ATTRIBUTES];

	for (int a = 0; a < r->domain->attributes; a++)
		cells[a] = r->columns[a].cells;
	if (!pe_tree_open(r->domain->attributes, cells, r->value, r->values, tables))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("release " INT64_FORMAT " does not hold the tables of a tree", r->id)));
}

/* What each part had of the cost. */
static void
read_shares(const pe_release *r, int64 share[PE_TREE_PARTS])
{
	static pe_statement find = {NULL,
		"SELECT (request::jsonb->'shares'->>0)::int8, (request::jsonb->'shares'->>1)::int8, "
	"(request::jsonb->'shares'->>2)::int8 FROM dp_ledger.release WHERE id = $1", 1, {INT8OID}};
	Datum		key[1] = {Int64GetDatum(r->id)};
	pe_access	access;

	pe_access_begin(&access);
	for (int p = 0; p < PE_TREE_PARTS; p++)
		share[p] = 0;
	if (pe_access_read(&find, key, NULL) == 1)
		for (int p = 0; p < PE_TREE_PARTS; p++)
			share[p] = pe_access_int64(0, p + 1);
	pe_access_end(&access);
}

/* The noise of a part; NULL: it has no counts. */
static pe_noise *
noise_of_part(const pe_release *r, int part, int64 share)
{
	pe_plan_rules rules = pe_door_rules(r->dataset);
	pe_tree_problem problem = {
		.attributes = r->domain->attributes, .neighbours = rules.neighbours, .max_rows = rules.max_rows,
		.accounting = r->accounting
	};

	return share > 0 ? pe_noise_to_read(r->accounting, pe_tree_sensitivity(&problem, part), 0, share) : NULL;
}

static char *
text_of_edges(const pe_release *r, const pe_tree_released *tables)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int e = 0; e < tables->attributes - 1; e++)
		appendStringInfo(&text, "%s%s * %s", e > 0 ? ", " : "", r->columns[tables->edge[e][0]].name,
						 r->columns[tables->edge[e][1]].name);
	return text.data;
}

static void
refuse_term(const pe_release *r, const pe_tree_released *tables)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("release " INT64_FORMAT " has no table that determines the workload", r->id),
			 tables->attributes > 1
			 ? errdetail("It has the table of each attribute, and of these pairs: %s.", text_of_edges(r, tables))
			 : errdetail("It has the table of one attribute."),
			 errhint("Ask for one of them: identity(%s). dp.measure(..., 'marginals(2)') has all pairs.",
					 quote_identifier(r->columns[0].name))));
}

static void
tell_undetermined(const pe_answers *answers)
{
	int32		undetermined = 0;

	for (int32 q = 0; q < answers->queries; q++)
		undetermined += isnan(answers->estimate[q]);
	if (undetermined > 0)
		ereport(NOTICE,
				(errmsg("%d of %d queries are of cells that the noise drowns, and are NULL", undetermined,
						answers->queries),
				 errdetail("Such cells of an attribute are one class in the tables of pairs.")));
}

static void
fill_answers(const pe_tree_answer *answer, pe_noise *const *noise, pe_answers *answers)
{
	pe_confidence confidence[PE_TREE_PARTS];

	for (int p = 0; p < PE_TREE_PARTS; p++)
		if (noise[p] != NULL)
			pe_confidence_init(&confidence[p], noise[p], 1, PE_MISS);
	for (int32 q = 0; q < answers->queries; q++)
	{
		int			p = answer[q].part;
		double		half = NAN;

		answers->estimate[q] = answer[q].estimate;
		answers->stderr_[q] = NAN;
		if (!isnan(answer[q].estimate) && noise[p] != NULL)
		{
			answers->stderr_[q] = pe_noise_stderr(noise[p]) * sqrt(answer[q].squares);
			half = pe_confidence_half(&confidence[p], answer[q].squares, answer[q].squares == 1) +
				(pe_noise_shift(noise[p]) > 0 ? answer[q].weights / 2 : 0);
		}
		answers->lower[q] = answer[q].estimate - half;
		answers->upper[q] = answer[q].estimate + half;
	}
	for (int p = 0; p < PE_TREE_PARTS; p++)
		if (noise[p] != NULL)
			pe_confidence_free(&confidence[p]);
}

void
pe_tree_release_answer(pe_release *r, const char *text)
{
	pe_answers *answers = &r->answers;
	pe_workload *workload = palloc0(sizeof(*workload));
	pe_tree_released tables;
	pe_tree_answer *answer;
	pe_noise   *noise[PE_TREE_PARTS] = {NULL};
	int64		share[PE_TREE_PARTS];

	PE_UNDONE();
	pe_tree_release_read(r);
	read_shares(r, share);
	PE_END_UNDONE();
	open_tables(r, &tables);
	pe_parse_columns_workload(r->dataset, r->columns, r->domain, text, workload);
	pe_check_memory(pe_answers_memory(workload, r->columns) + (size_t) workload->queries * sizeof(*answer));
	answer = pe_alloc(workload->queries, sizeof(*answer));
	if (pe_tree_answers(&tables, workload, answer) >= 0)
		refuse_term(r, &tables);
	answers->queries = workload->queries;
	answers->estimate = pe_alloc(workload->queries, sizeof(double));
	answers->stderr_ = pe_alloc(workload->queries, sizeof(double));
	answers->lower = pe_alloc(workload->queries, sizeof(double));
	answers->upper = pe_alloc(workload->queries, sizeof(double));
	noise[PE_TREE_ONES] = noise_of_part(r, PE_TREE_ONES, share[PE_TREE_ONES]);
	noise[PE_TREE_PAIRS] = noise_of_part(r, PE_TREE_PAIRS, share[PE_TREE_PAIRS]);
	fill_answers(answer, noise, answers);
	pe_labels_init(&answers->labels, workload, r->columns);
	tell_undetermined(answers);
	pe_free(answer);
	pe_tree_close(&tables);
}
