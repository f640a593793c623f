/*
 * release.c
 *	  Paid answers, free: dp.answer, dp.cells, dp.expire_release and dp.expire_releases.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"

#include "server/return_rows.h"
#include "ask/stored_release.h"
#include "server/access.h"
#include "ledger/charge.h"

PG_FUNCTION_INFO_V1(pe_sql_answer);
PG_FUNCTION_INFO_V1(pe_sql_cells);
PG_FUNCTION_INFO_V1(pe_sql_expire_release);
PG_FUNCTION_INFO_V1(pe_sql_expire_releases);

static void
make_answer(const void *argument, int32 query, Datum *values, bool *nulls)
{
	const pe_release *r = argument;

	values[0] = Int32GetDatum(query + 1);
	values[1] = pe_label(&r->answers.labels, query);
	values[2] = Float8GetDatum(r->answers.estimate[query]);
	values[3] = Float8GetDatum(r->answers.stderr_[query]);
	values[4] = Float8GetDatum(r->answers.lower[query]);
	values[5] = Float8GetDatum(r->answers.upper[query]);
	nulls[2] = isnan(r->answers.estimate[query]);
	nulls[3] = nulls[4] = nulls[5] = isnan(r->answers.stderr_[query]);
}

Datum
pe_sql_answer(PG_FUNCTION_ARGS)
{
	pe_release r = {.id = PG_GETARG_INT64(0)};

	pe_release_answer(&r, text_to_cstring(PG_GETARG_TEXT_PP(1)));
	pe_answers_tell_noise(&r.answers);
	pe_return_rows(fcinfo, r.answers.queries, 6, make_answer, &r);
	return (Datum) 0;
}

/* The same, but cells count from 0. */
static void
make_cell(const void *argument, int32 cell, Datum *values, bool *nulls)
{
	make_answer(argument, cell, values, nulls);
	values[0] = Int32GetDatum(cell);
}

Datum
pe_sql_cells(PG_FUNCTION_ARGS)
{
	pe_release r = {.id = PG_GETARG_INT64(0)};

	pe_release_answer(&r, "identity");
	pe_return_rows(fcinfo, r.answers.queries, 6, make_cell, &r);
	return (Datum) 0;
}

Datum
pe_sql_expire_release(PG_FUNCTION_ARGS)
{
	pe_release	r = {.id = PG_GETARG_INT64(0)};

	PE_UNDONE();
	pe_release_read_row(&r);
	pe_dataset_check_owner(r.dataset);
	PE_END_UNDONE();
	pe_release_expire(r.dataset->id, r.id);
	PG_RETURN_VOID();
}

/* Of a year it may be 365 or 366 days: the sign alone is looked at. */
static void
check_age(Interval *age)
{
	static const Interval none = {0};

	if (DatumGetBool(DirectFunctionCall2(interval_lt, IntervalPGetDatum(age), IntervalPGetDatum(&none))))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("older_than must not be negative"),
				 errhint("Write older_than => '1 year', for example.")));
}

Datum
pe_sql_expire_releases(PG_FUNCTION_ARGS)
{
	pe_dataset *dataset;
	int			count;

	check_age(PG_GETARG_INTERVAL_P(1));
	PE_UNDONE();
	dataset = pe_dataset_load_own(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	PE_END_UNDONE();
	count = pe_releases_expire(dataset->id, PG_GETARG_DATUM(1));
	if (count > 0)
		ereport(NOTICE,
				(errmsg_plural("%d release of dataset \"%s\" is removed", "%d releases of dataset \"%s\" are removed",
							   count, count, dataset->name),
				 errdetail("Their charges stay. A role that asks the same again is charged anew.")));
	PG_RETURN_INT32(count);
}
