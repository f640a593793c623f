/*
 * time.c
 *	  dp.set_time.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"

#include "api/arguments.h"
#include "ledger/time.h"

PG_FUNCTION_INFO_V1(pe_sql_set_time);

Datum
pe_sql_set_time(PG_FUNCTION_ARGS)
{
	pe_dataset *dataset = pe_own_dataset(pe_text_argument(fcinfo, 0, "dataset"));

	if (PG_ARGISNULL(1))
		pe_refuse_null("attribute");
	if (PG_ARGISNULL(2))
		pe_refuse_null("append_only");
	pe_dataset_check_rows(dataset);
	pe_time_declare(dataset, NameStr(*PG_GETARG_NAME(1)), PG_GETARG_BOOL(2));
	PG_RETURN_VOID();
}
