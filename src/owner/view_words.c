/*
 * view_words.c
 *	  What an owner says of a view.  See view_words.h.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/array.h"

#include "owner/view_words.h"
#include "server/access.h"
#include "server/arguments.h"

/* The elements of an array of Oids. */
static List *
oids_argument(FunctionCallInfo fcinfo, int n, Oid type, const char *name)
{
	List	   *oids = NIL;
	Datum	   *value;
	bool	   *nulls;
	int			count;

	if (PG_ARGISNULL(n))
		return NIL;
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(n), type, sizeof(Oid), true, TYPALIGN_INT, &value, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		if (nulls[i])
			pe_refuse_null(name);
		oids = list_append_unique_oid(oids, DatumGetObjectId(value[i]));
	}
	return oids;
}

static List *
keys_argument(FunctionCallInfo fcinfo, int n)
{
	List	   *keys = NIL;
	char	  **text;
	int			count;

	if (PG_ARGISNULL(n))
		return NIL;
	if (array_contains_nulls(PG_GETARG_ARRAYTYPE_P(n)))
		pe_refuse_null("an element of keys");
	text = pe_texts_of_array(PG_GETARG_DATUM(n), &count);
	for (int i = 0; i < count; i++)
		keys = lappend(keys, pe_view_key_of_text(text[i]));
	return keys;
}

pe_view_words *
pe_view_words_argument(FunctionCallInfo fcinfo, int n)
{
	pe_view_words *words = palloc0(sizeof(pe_view_words));

	words->public_tables = oids_argument(fcinfo, n, REGCLASSOID, "an element of public_tables");
	words->keys = keys_argument(fcinfo, n + 1);
	words->functions = oids_argument(fcinfo, n + 2, REGPROCEDUREOID, "an element of functions");
	words->never_fails = !PG_ARGISNULL(n + 3) && PG_GETARG_BOOL(n + 3);
	return words;
}
