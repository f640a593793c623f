/*
 * attestation.c
 *	  dp.verify_ledger, dp.ledger_lines and dp.attest.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "server/arguments.h"
#include "server/return_rows.h"
#include "ledger/attest.h"
#include "ledger/chain.h"
#include "ledger/dataset.h"
#include "owner/views.h"

PG_FUNCTION_INFO_V1(pe_sql_verify_ledger);
PG_FUNCTION_INFO_V1(pe_sql_ledger_lines);
PG_FUNCTION_INFO_V1(pe_sql_attest);

typedef struct verified
{
	const pe_dataset *dataset;
	pe_chain_check check;
} verified;

static void
make_verified(const void *argument, int32 row, Datum *values, bool *nulls)
{
	const verified *v = argument;

	values[0] = BoolGetDatum(v->check.finding == NULL);
	values[1] = Int64GetDatum(v->check.charges);
	values[2] = Float8GetDatum(v->check.rho_spent / 1e9);
	values[3] = Int64GetDatum(v->check.first_bad);
	nulls[3] = v->check.first_bad == 0;
	values[4] = CStringGetTextDatum(v->check.finding != NULL ? v->check.finding
									: "every charge is what was written, and what is spent is their sum");
}

Datum
pe_sql_verify_ledger(PG_FUNCTION_ARGS)
{
	verified	v = {.dataset = pe_dataset_load_own(pe_text_argument(fcinfo, 0, "dataset"))};

	pe_ledger_verify(v.dataset, &v.check);
	pe_return_rows(fcinfo, 1, 5, make_verified, &v);
	return (Datum) 0;
}

typedef struct written
{
	ReturnSetInfo *result;
	int64		lines;
} written;

static void
write_line(void *argument, bool is_charge, int64 number, const char *text, const bytea *hash)
{
	written    *w = argument;
	int			size = VARSIZE_ANY_EXHDR(hash);
	char	   *hex = palloc0(2 * size + 1);
	Datum		values[5];
	bool		nulls[5] = {false};

	hex_encode(VARDATA_ANY(hash), size, hex);
	values[0] = Int64GetDatum(++w->lines);
	values[1] = CStringGetTextDatum(is_charge ? "charge" : "act");
	values[2] = Int64GetDatum(number);
	values[3] = CStringGetTextDatum(text);
	values[4] = CStringGetTextDatum(hex);
	tuplestore_putvalues(w->result->setResult, w->result->setDesc, values, nulls);
}

Datum
pe_sql_ledger_lines(PG_FUNCTION_ARGS)
{
	pe_dataset *dataset = pe_dataset_load_own(pe_text_argument(fcinfo, 0, "dataset"));
	written		w = {.result = (ReturnSetInfo *) fcinfo->resultinfo};
	pe_chain_check lines = {.each = write_line, .argument = &w};

	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	pe_chain_lines(dataset->id, &lines);
	return (Datum) 0;
}

static void
make_attested(const void *argument, int32 row, Datum *values, bool *nulls)
{
	const pe_attested *attested = list_nth((const List *) argument, row);

	values[0] = CStringGetTextDatum(attested->dataset);
	values[1] = CStringGetTextDatum(attested->relation);
	values[2] = Int64GetDatum(attested->charges);
	values[3] = Float8GetDatum(attested->rho_spent);
	values[4] = CStringGetTextDatum(psprintf("%sattested%s%s", attested->dropped ? "unregistered; " : "",
											 attested->finding != NULL ? " although " : "",
											 attested->finding != NULL ? attested->finding : ""));
}

/* A restored view is proved where it is now: its tables have other numbers, and must have the same rules. */
static void
renew_views(List *attested)
{
	ListCell   *cell;

	foreach(cell, attested)
	{
		const pe_attested *one = lfirst(cell);
		pe_dataset *dataset = one->dropped ? NULL : pe_dataset_load(one->dataset);

		if (dataset == NULL || dataset->view_identity == NULL || pe_view_is_provable(dataset))
			continue;
		ereport(WARNING,
				(errmsg("the view of dataset \"%s\" is not the one that was registered", one->dataset),
				 errhint("dp.check_view says why; dp.new_version(%s) takes it as it is.",
						 quote_literal_cstr(one->dataset))));
	}
}

Datum
pe_sql_attest(PG_FUNCTION_ARGS)
{
	char	   *reason = pe_text_argument(fcinfo, 0, "reason");
	List	   *attested;

	if (reason[strspn(reason, " \t\r\n")] == '\0')
		pe_refuse_parameter("reason", reason, "a text that says why the ledger can be trusted");
	attested = pe_attest(reason);
	renew_views(attested);
	if (attested == NIL)
		ereport(NOTICE, (errmsg("no dataset was attested")));
	pe_return_rows(fcinfo, list_length(attested), 5, make_attested, attested);
	return (Datum) 0;
}
