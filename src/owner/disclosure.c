/*
 * disclosure.c
 *	  dp.disclosure: what an owner publishes about a dataset, as JSON.
 *
 * All of it is read from the ledger, by the view dp_ledger.all_disclosures, and no row of
 * the dataset is read.  The view has what all roles spent: who is not the owner gets none of it.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

#include "server/arguments.h"
#include "ledger/dataset.h"
#include "ledger/time.h"
#include "server/access.h"

PG_FUNCTION_INFO_V1(pe_sql_disclosure);

/* As text.  Whether triggers hold what is declared of the time is not in the ledger: the table says it. */
static char *
read_disclosure(const pe_dataset *dataset, bool held)
{
	static pe_statement read = {NULL, "SELECT CASE WHEN has_time THEN pg_catalog.jsonb_set(disclosure, "
								"'{time,enforced}', pg_catalog.to_jsonb($2)) "
		"ELSE disclosure END FROM dp_ledger.all_disclosures WHERE id = $1", 2, {INT8OID, BOOLOID}};
	Datum		values[2] = {Int64GetDatum(dataset->id), BoolGetDatum(held)};
	MemoryContext here = CurrentMemoryContext;
	pe_access	access;
	char	   *text;

	pe_access_begin_reading(&access);
	if (pe_access_read(&read, values, NULL) != 1)
		elog(ERROR, "dataset \"%s\" is gone", dataset->name);
	MemoryContextSwitchTo(here);
	text = pe_access_text(0, 1);
	pe_access_end(&access);
	return text;
}

Datum
pe_sql_disclosure(PG_FUNCTION_ARGS)
{
	pe_dataset *dataset = pe_dataset_load_own(pe_text_argument(fcinfo, 0, "dataset"));
	bool		held = dataset->time_attribute != NULL && pe_time_is_held(dataset);

	return DirectFunctionCall1(jsonb_in, CStringGetDatum(read_disclosure(dataset, held)));
}
