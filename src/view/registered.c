/*
 * registered.c
 *	  The proof of a view that is a dataset.  See registered.h.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

#include "ledger/families.h"
#include "server/access.h"
#include "view/registered.h"

/* ------------------------------------------------------------------
 * Settings
 * ------------------------------------------------------------------
 */

static const char *const setting[] = {
	"TimeZone", "DateStyle", "IntervalStyle", "lc_monetary", "lc_numeric", "lc_time", "extra_float_digits",
	"bytea_output"
};

char **
pe_view_settings_now(int *count)
{
	char	  **now = palloc(2 * lengthof(setting) * sizeof(char *));

	for (int i = 0; i < lengthof(setting); i++)
	{
		now[2 * i] = pstrdup(setting[i]);
		now[2 * i + 1] = pstrdup(GetConfigOption(setting[i], false, false));
	}
	*count = 2 * lengthof(setting);
	return now;
}

void
pe_view_pin_settings(const pe_dataset *dataset)
{
	pe_setting *pinned = palloc(dataset->view_settings * sizeof(*pinned));

	for (int i = 0; i + 1 < dataset->view_settings; i += 2)
		pinned[i / 2] = (pe_setting) PE_SETTING(dataset->view_setting[i], dataset->view_setting[i + 1]);
	pe_pin_settings(pinned, dataset->view_settings / 2);
}

/* ------------------------------------------------------------------
 * The proof
 * ------------------------------------------------------------------
 */

static Oid
function_named(const char *text)
{
	return DatumGetObjectId(DirectFunctionCall1(regprocedurein, CStringGetDatum(text)));
}

static pe_view_words
words_of(const pe_dataset *dataset, List *public_tables)
{
	pe_view_words words = {.public_tables = public_tables, .never_fails = dataset->never_fails};

	for (int i = 0; i < dataset->view_keys; i++)
		words.keys = lappend(words.keys, pe_view_key_of_text(dataset->view_key[i]));
	for (int i = 0; i < dataset->view_functions; i++)
		words.functions = lappend_oid(words.functions, function_named(dataset->view_function[i]));
	return words;
}

static List *
kept_rules(const pe_dataset *dataset)
{
	List	   *kept = NIL;
	ListCell   *cell;

	foreach(cell, pe_families_of_cap(dataset->cap_id, dataset->id))
	{
		const pe_family *family = lfirst(cell);
		pe_view_family *rule = palloc0(sizeof(*rule));

		rule->relation = family->relation;
		rule->role = PE_VIEW_PRIVATE;
		rule->rule = family->rule;
		rule->said = family->said;
		kept = lappend(kept, rule);
	}
	return kept;
}

/* What the ledger keeps of the families. */
static List *
families_of(const pe_view_proof *proof, List *public_tables)
{
	List	   *families = NIL;
	ListCell   *cell;

	foreach(cell, proof->families)
	{
		const pe_view_family *found = lfirst(cell);
		pe_family  *family = palloc0(sizeof(*family));

		family->relation = found->relation;
		family->is_public = found->role == PE_VIEW_PUBLIC;
		family->is_named = family->is_public && list_member_oid(public_tables, found->relation);
		family->carries = found->carries;
		family->rule = found->rule;
		family->said = found->said;
		families = lappend(families, family);
	}
	return families;
}

pe_view_proof *
pe_view_prove_declared(pe_dataset *declared, List *public_tables)
{
	static const pe_setting names[] = {PE_SETTING("search_path", "pg_catalog, pg_temp")};
	int			level = NewGUCNestLevel();
	AttrNumber	number = get_attnum(declared->relation, declared->unit);
	pe_view_words words;
	pe_view_proof *proof;

	pe_view_pin_settings(declared);
	pe_pin_settings(names, lengthof(names));
	words = words_of(declared, public_tables);
	proof = pe_view_prove(declared->relation, number, &words, kept_rules(declared));
	AtEOXact_GUC(true, level);
	declared->view_identity = pstrdup(proof->identity);
	declared->families = families_of(proof, public_tables);
	return proof;
}

/* The public tables that the owner named. */
static List *
named_tables(const pe_dataset *dataset)
{
	List	   *named = NIL;
	ListCell   *cell;

	foreach(cell, pe_families_of(dataset))
	{
		const pe_family *family = lfirst(cell);

		if (family->is_named)
			named = lappend_oid(named, family->relation);
	}
	return named;
}

pe_view_words
pe_view_words_registered(const pe_dataset *dataset)
{
	return words_of(dataset, named_tables(dataset));
}

pe_view_proof *
pe_view_prove_anew(const pe_dataset *dataset, pe_dataset *proved)
{
	*proved = *dataset;
	return pe_view_prove_declared(proved, named_tables(dataset));
}

static void __attribute__((noreturn))
refuse_changed(const pe_dataset *dataset, const char *why)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the view of dataset \"%s\" is not the one that was registered", dataset->name),
			 errdetail("%s Nothing was charged.", why),
			 errhint("The owner can look at it with dp.check_view and take it as it is with dp.new_version(%s), "
					 "which keeps the cap and what is spent.", quote_literal_cstr(dataset->name))));
	pg_unreachable();
}

/* What is no longer provable was changed: it was proved when it was registered. */
static pe_view_proof *
prove_or_refuse(const pe_dataset *dataset, pe_dataset *proved)
{
	MemoryContext here = CurrentMemoryContext;
	pe_view_proof *volatile proof = NULL;

	PG_TRY();
	{
		proof = pe_view_prove_anew(dataset, proved);
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(here);
		error = CopyErrorData();
		if (error->sqlerrcode == ERRCODE_QUERY_CANCELED || error->sqlerrcode == ERRCODE_ADMIN_SHUTDOWN ||
			error->sqlerrcode == ERRCODE_OUT_OF_MEMORY || error->sqlerrcode == ERRCODE_T_R_DEADLOCK_DETECTED ||
			error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE)
			PG_RE_THROW();
		FlushErrorState();
		refuse_changed(dataset, psprintf("It is no longer proved: %s.", error->message));
	}
	PG_END_TRY();
	return proof;
}

pe_view_proof *
pe_view_prove_again(const pe_dataset *dataset)
{
	pe_dataset	proved;
	pe_view_proof *proof = prove_or_refuse(dataset, &proved);

	if (strcmp(proved.view_identity, dataset->view_identity) != 0 ||
		!pe_families_are_same(pe_families_of(dataset), proved.families))
		refuse_changed(dataset, "Its definition, a table, an index, a key or a function under it was changed.");
	return proof;
}
