/*
 * views.c
 *	  What the views show each role of the ledger: rows of its own.
 *
 * A view over the ledger's tables would have the rows of others in its plan, which
 * EXPLAIN ANALYZE counts, and so would the counters of tables and functions.  So the
 * views read these functions, which hand out the rows that their caller may see.
 */
#include "postgres.h"

#include "funcapi.h"
#include "utils/tuplestore.h"

#include "server/access.h"

PG_FUNCTION_INFO_V1(pe_sql_visible_budgets);
PG_FUNCTION_INFO_V1(pe_sql_visible_charges);
PG_FUNCTION_INFO_V1(pe_sql_visible_acts);
PG_FUNCTION_INFO_V1(pe_sql_visible_releases);
PG_FUNCTION_INFO_V1(pe_sql_visible_models);

static Datum
show(FunctionCallInfo fcinfo, pe_statement *statement)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	pe_access	access;
	uint64		rows;

	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	pe_access_begin_reading(&access);
	rows = pe_access_read_for(&access, statement);
	for (uint64 row = 0; row < rows; row++)
		tuplestore_puttuple(result->setResult, SPI_tuptable->vals[row]);
	pe_access_end(&access);
	return (Datum) 0;
}

Datum
pe_sql_visible_budgets(PG_FUNCTION_ARGS)
{
	static pe_statement all = {NULL, "SELECT * FROM dp_ledger.all_budgets", 0, {InvalidOid}};

	return show(fcinfo, &all);
}

Datum
pe_sql_visible_charges(PG_FUNCTION_ARGS)
{
	static pe_statement all = {NULL, "SELECT * FROM dp_ledger.all_charges", 0, {InvalidOid}};

	return show(fcinfo, &all);
}

Datum
pe_sql_visible_acts(PG_FUNCTION_ARGS)
{
	static pe_statement all = {NULL, "SELECT * FROM dp_ledger.all_acts", 0, {InvalidOid}};

	return show(fcinfo, &all);
}

Datum
pe_sql_visible_releases(PG_FUNCTION_ARGS)
{
	static pe_statement all = {NULL, "SELECT * FROM dp_ledger.all_releases", 0, {InvalidOid}};

	return show(fcinfo, &all);
}

Datum
pe_sql_visible_models(PG_FUNCTION_ARGS)
{
	static pe_statement all = {NULL, "SELECT * FROM dp_ledger.all_models", 0, {InvalidOid}};

	return show(fcinfo, &all);
}
