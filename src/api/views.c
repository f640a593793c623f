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

#define VISIBLE(rows) \
PG_FUNCTION_INFO_V1(pe_sql_visible_##rows); \
Datum \
pe_sql_visible_##rows(PG_FUNCTION_ARGS) \
{ \
	static pe_statement all = {NULL, "SELECT * FROM dp_ledger.all_" #rows, 0, {InvalidOid}}; \
\
	return show(fcinfo, &all); \
}

VISIBLE(blocks)
VISIBLE(budgets)
VISIBLE(charges)
VISIBLE(acts)
VISIBLE(releases)
VISIBLE(models)
VISIBLE(series)
VISIBLE(activity)
VISIBLE(counts)
