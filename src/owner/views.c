/*
 * views.c
 *	  Views as datasets, and caps that are shared.  See views.h.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"

#include "accounting/filter.h"
#include "ledger/columns.h"
#include "ledger/families.h"
#include "ledger/shards.h"
#include "owner/view_words.h"
#include "owner/views.h"
#include "server/access.h"
#include "server/arguments.h"
#include "server/settings.h"
#include "server/values.h"
#include "view/registered.h"

/* ------------------------------------------------------------------
 * Words
 * ------------------------------------------------------------------
 */

void
pe_view_arguments(FunctionCallInfo fcinfo, int n, pe_dataset *declared, List **public_tables)
{
	pe_view_words *words;

	if (!pe_view_is_view(declared->relation))
	{
		for (int i = 0; i < 5; i++)
			if (!PG_ARGISNULL(n + i))
				ereport(ERROR,
						(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						 errmsg("public_tables, keys, functions, never_fails and max_rows_read go with a view"),
						 errdetail("\"%s\" is none.", get_rel_name(declared->relation))));
		return;
	}
	words = pe_view_words_argument(fcinfo, n);
	*public_tables = words->public_tables;
	declared->never_fails = words->never_fails;
	/* what the caller's names mean is kept by names that mean it under every search_path */
	declared->view_keys = list_length(words->keys);
	declared->view_key = palloc(Max(declared->view_keys, 1) * sizeof(char *));
	for (int i = 0; i < declared->view_keys; i++)
		declared->view_key[i] = pe_view_key_text(list_nth(words->keys, i));
	declared->view_functions = list_length(words->functions);
	declared->view_function = palloc(Max(declared->view_functions, 1) * sizeof(char *));
	for (int i = 0; i < declared->view_functions; i++)
		declared->view_function[i] = format_procedure_qualified(list_nth_oid(words->functions, i));
	if (!PG_ARGISNULL(n + 4) && PG_GETARG_INT32(n + 4) < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("max_rows_read must be at least 1")));
	declared->max_rows_read = PG_ARGISNULL(n + 4) ? 0 : PG_GETARG_INT32(n + 4);
	declared->view_setting = pe_view_settings_now(&declared->view_settings);
}

/* ------------------------------------------------------------------
 * The proof
 * ------------------------------------------------------------------
 */

void
pe_view_not_served(const pe_dataset *dataset, const char *what, const char *hint)
{
	if (dataset->view_identity != NULL || pe_view_is_view(dataset->relation))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("%s of a view", what),
				 hint != NULL ? errhint("%s", hint) : 0));
}

static void
check_served(const pe_dataset *declared)
{
	if (pe_dataset_has_values(declared))
		pe_view_not_served(declared, "neighbours => 'values' cannot be", "Register the table that has the values.");
	if (declared->max_blocks > 0)
		pe_view_not_served(declared, "blocks of time cannot be",
						   "Register the table whose rows arrive, or give a cap for all times together.");
	if (declared->unit == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a view needs a unit"),
				 errhint("Give unit => the column of \"%s\" that says whose a row is.",
						 get_rel_name(declared->relation))));
}

/* Rows that come later change none of a period that is over only where each row of the view is one of a table. */
static void
check_time(const pe_view_proof *proof, bool append_only)
{
	/* which cells of a unit are read follows from all of its rows: those of later periods would change earlier ones */
	if (proof->multiplies)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("series over a view that multiplies rows"),
				 errhint("Aggregate what is joined, GROUP BY the unit and the period.")));
	if (append_only && !proof->is_spine)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("append_only cannot be promised of this view"),
				 errdetail("Its rows of periods that are over can change with rows that come later: it has an "
						   "aggregate, a window, a sub-select, an outer join, or a join that multiplies rows."),
				 errhint("Leave append_only out; the series then has the sensitivity of rows that move.")));
}

void
pe_view_check_time(const pe_dataset *dataset, bool append_only)
{
	pe_dataset	proved;

	if (dataset->view_identity != NULL)
		check_time(pe_view_prove_anew(dataset, &proved), append_only);
}

static void
check_multiplied(const pe_dataset *declared, const pe_view_proof *proof)
{
	if (proof->multiplies && declared->max_rows_read == 0)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the view can have any number of rows of one \"%s\"", declared->unit),
				 errdetail("It multiplies the rows of its tables, so that their size does not bound the memory that "
						   "they take."),
				 errhint("Give max_rows_read => n: of each unit the rows of at most n cells are read, chosen by a "
						 "keyed hash.")));
	if (!proof->multiplies && declared->max_rows_read > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("max_rows_read is for a view that multiplies rows"),
				 errdetail("Of this one all rows are read; max_rows says how many of a unit count.")));
}

/* Whose the rows of each private table are, and which tables are nobody's. */
void
pe_view_tell(const pe_dataset *declared)
{
	StringInfoData rules;
	StringInfoData open;
	ListCell   *cell;

	initStringInfo(&rules);
	initStringInfo(&open);
	foreach(cell, declared->families)
	{
		const pe_family *family = lfirst(cell);

		if (family->is_public)
			appendStringInfo(&open, "%s%s", open.len > 0 ? ", " : "", get_rel_name(family->relation));
		else
			appendStringInfo(&rules, "%s%s", rules.len > 0 ? "; " : "", family->said);
	}
	ereport(NOTICE,
			(errmsg("dataset \"%s\" protects all rows of a unit, in all private tables of the view: %s",
					declared->name, rules.data),
			 open.len > 0 ? errdetail("Public, their rows are nobody's: %s.", open.data) : 0,
			 errhint("dp.describe shows it again. If it is not so, drop the dataset.")));
}

void
pe_view_declare(pe_dataset *declared, List *public_tables)
{
	pe_view_proof *proof;

	check_served(declared);
	(void) pe_unit_column_type(declared->relation, declared->unit);
	proof = pe_view_prove_declared(declared, public_tables);
	pe_shards_check_view(declared, proof->has_settings);
	check_multiplied(declared, proof);
}

void
pe_view_renew(const pe_dataset *dataset)
{
	pe_dataset	proved;
	pe_view_proof *proof = pe_view_prove_anew(dataset, &proved);

	pe_shards_check_view(&proved, proof->has_settings);
	if (dataset->time_attribute != NULL)
		check_time(proof, dataset->append_only);
	if (proof->multiplies)
		check_multiplied(&proved, proof);
	pe_dataset_take_proof(dataset, &proved);
	if (strcmp(dataset->view_identity, proved.view_identity) != 0)
		pe_view_tell(&proved);
}

/* The proof of a dataset, for pe_run_undone: its locks go, what it found stays. */
typedef struct renewal
{
	const pe_dataset *dataset;
	pe_dataset *proved;
} renewal;

static void
prove_anew(void *argument)
{
	renewal    *r = argument;

	(void) pe_view_prove_anew(r->dataset, r->proved);
}

/* Every table is there under its name, by the rule that it had. */
static bool
has_same_rules(const pe_dataset *dataset, const pe_dataset *proved)
{
	return pe_families_are_same(pe_families_of(dataset), proved->families);
}

bool
pe_view_is_provable(const pe_dataset *dataset)
{
	pe_dataset	proved;
	ErrorData  *error = pe_run_undone(prove_anew, &(renewal) {dataset, &proved});

	if (error != NULL && error->sqlerrcode == ERRCODE_QUERY_CANCELED)
		ReThrowError(error);
	if (error != NULL || !has_same_rules(dataset, &proved))
		return false;
	pe_dataset_take_proof(dataset, &proved);
	return true;
}

void
pe_view_move(const pe_dataset *dataset, Oid relation)
{
	pe_dataset	moved = *dataset;

	if ((dataset->view_identity != NULL) != pe_view_is_view(relation))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a dataset moves from a view to a view, or from a table to a table"),
				 errhint("Register \"%s\" with same_cap_as => %s.", get_rel_name(relation),
						 quote_literal_cstr(dataset->name))));
	if (dataset->view_identity == NULL)
		return;
	moved.relation = relation;
	pe_view_renew(&moved);
}

/* ------------------------------------------------------------------
 * A cap that is shared
 * ------------------------------------------------------------------
 */

static void __attribute__((noreturn))
refuse_other(const pe_dataset *cap, const char *what, const char *value)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s is that of dataset \"%s\", whose cap is shared: %s", what, cap->name, value),
			 errhint("Leave it out.")));
	pg_unreachable();
}

/* What has a default of its own may be that, which is taken for not given. */
void
pe_cap_argument(FunctionCallInfo fcinfo, int n, pe_dataset *declared)
{
	pe_dataset *cap;

	if (PG_ARGISNULL(n) != PG_ARGISNULL(2))
	{
		if (PG_ARGISNULL(n))
			return;
	}
	else
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 PG_ARGISNULL(n) ? errmsg("epsilon, the cap, must be given")
				 : errmsg("epsilon and same_cap_as do not go together"),
				 errhint("Give epsilon for a cap of its own, or same_cap_as for the cap of another dataset.")));
	cap = pe_dataset_of_cap(pe_dataset_load_own(pe_text_argument(fcinfo, n, "same_cap_as")));
	if (cap->frozen)
		ereport(ERROR,
				(errcode(ERRCODE_PE_FROZEN),
				 errmsg("dataset \"%s\" is frozen", cap->name),
				 errhint("The owner of the table lifts the freeze with dp.attest.")));
	if (pe_dataset_has_values(cap) || cap->max_blocks > 0 || cap->unit == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("the cap of dataset \"%s\" cannot be shared", cap->name),
				 errdetail("It protects %s.", pe_dataset_has_values(cap) ? "values"
						   : cap->unit == NULL ? "each row by itself" : "each block of time")));
	if (strcmp(declared->neighbours, "add_remove") != 0 && strcmp(declared->neighbours, cap->neighbours) != 0)
		refuse_other(cap, "neighbours", cap->neighbours);
	if (declared->accounting != PE_GDP && declared->accounting != cap->accounting)
		refuse_other(cap, "accounting", pe_accounting_name(cap->accounting));
	if (!PG_ARGISNULL(8))
		refuse_other(cap, "delta_share", psprintf("%g", cap->delta_share));
	if (!PG_ARGISNULL(3) && PG_GETARG_FLOAT8(3) != 1e-9 && PG_GETARG_FLOAT8(3) != cap->delta)
		refuse_other(cap, "delta", psprintf("%g", cap->delta));
	if (declared->max_blocks > 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a cap that is shared has no blocks of time")));
	declared->cap_id = cap->id;
	declared->neighbours = cap->neighbours;
	declared->accounting = cap->accounting;
	declared->epsilon = cap->epsilon;
	declared->delta = cap->delta;
	declared->delta_share = cap->delta_share;
}

static bool
is_whole(const char *type)
{
	return strcmp(type, "smallint") == 0 || strcmp(type, "integer") == 0 || strcmp(type, "bigint") == 0;
}

void
pe_cap_check_unit(const pe_dataset *declared)
{
	const pe_dataset *cap = declared->cap_id != 0 ? pe_dataset_recall(declared->cap_id) : NULL;
	const char *type = declared->unit != NULL ? pe_type_name(pe_unit_column_type(declared->relation, declared->unit))
		: "none";

	if (cap == NULL || strcmp(type, cap->unit_type) == 0 || (is_whole(type) && is_whole(cap->unit_type)))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("the units of datasets that share a cap are of one type"),
			 errdetail("That of dataset \"%s\" is %s, and \"%s\" is %s.", cap->name, cap->unit_type,
					   declared->unit != NULL ? declared->unit : "each row", type)));
}
