/*
 * check_view.c
 *	  dp.check_view: whether a view could be a dataset, and whose each table of it is.
 *
 * It reads the catalog alone: no row of a table, and nothing of the ledger.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "ledger/relation.h"
#include "owner/view_words.h"
#include "server/arguments.h"
#include "server/return_rows.h"

PG_FUNCTION_INFO_V1(pe_sql_check_view);

enum
{
	ARG_RELATION, ARG_UNIT, ARG_WORDS
};

static void
make_row(const void *argument, int32 row, Datum *values, bool *nulls)
{
	const pe_view_proof *proof = argument;

	if (row < list_length(proof->families))
	{
		const pe_view_family *family = list_nth(proof->families, row);

		values[0] = ObjectIdGetDatum(family->relation);
		values[1] = CStringGetTextDatum(family->role == PE_VIEW_PRIVATE ? "private" : "public");
		values[2] = CStringGetTextDatum(family->rule);
		values[3] = CStringGetTextDatum(family->reason);
	}
	else
	{
		const pe_view_word *word = list_nth(proof->words, row - list_length(proof->families));

		nulls[0] = true;
		values[1] = CStringGetTextDatum("believed");
		values[2] = CStringGetTextDatum(word->part);
		values[3] = CStringGetTextDatum(word->reason);
	}
}

static void
check_view(Oid relation)
{
	Oid			owner = pe_relation_owner(relation);

	if (!OidIsValid(owner))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relation)));
	if (!pe_view_is_view(relation))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a view", get_rel_name(relation)),
				 errhint("A table or a materialized view needs no proof.")));
	if (!has_privs_of_role(GetUserId(), owner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be owner of view %s", get_rel_name(relation))));
}

Datum
pe_sql_check_view(PG_FUNCTION_ARGS)
{
	Oid			relation;
	char	   *unit;
	AttrNumber	number;
	pe_view_words *words;
	pe_view_proof *proof;

	if (PG_ARGISNULL(ARG_RELATION))
		pe_refuse_null("relation");
	relation = PG_GETARG_OID(ARG_RELATION);
	unit = pe_text_argument(fcinfo, ARG_UNIT, "unit");
	check_view(relation);
	number = get_attnum(relation, unit);
	if (number <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of view \"%s\" does not exist", unit, get_rel_name(relation))));
	words = pe_view_words_argument(fcinfo, ARG_WORDS);
	proof = pe_view_prove(relation, number, words, NIL);
	pe_return_rows(fcinfo, list_length(proof->families) + list_length(proof->words), 4, make_row, proof);
	return (Datum) 0;
}
