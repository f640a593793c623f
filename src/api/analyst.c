/*
 * analyst.c
 *	  What an analyst calls: dp.histogram and its quotes, dp.cells.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "accounting/zcdp.h"
#include "api/arguments.h"
#include "api/label.h"
#include "api/question.h"
#include "ledger/access.h"
#include "ledger/errors.h"

PG_FUNCTION_INFO_V1(pe_sql_histogram);
PG_FUNCTION_INFO_V1(pe_sql_quote);
PG_FUNCTION_INFO_V1(pe_sql_quote_queries);
PG_FUNCTION_INFO_V1(pe_sql_cells);
PG_FUNCTION_INFO_V1(pe_sql_epsilon_of_rho);
PG_FUNCTION_INFO_V1(pe_sql_rho_of_epsilon);

/* ------------------------------------------------------------------
 * Telling what was charged, and what was not
 * ------------------------------------------------------------------
 */

/* Four digits, rounded down: what is said to be left is never more than is. */
static char *
rounded_down(double value)
{
	double		scale;

	if (!(value > 0))
		return pstrdup("0");
	scale = pow(10, 3 - floor(log10(value)));
	return psprintf("%.4g", floor(value * scale) / scale);
}

static double
epsilon_left(const pe_histogram *h, int64 rho_left)
{
	return pe_zcdp_epsilon(Max(rho_left, 0) * 1e-9, h->budget->delta / 2);
}

static void
tell_charge(const pe_histogram *h, const pe_charge_reply *reply)
{
	ereport(NOTICE,
			(errmsg("charged epsilon %.4g (rho %.4g) on dataset \"%s\"; %s left; release " INT64_FORMAT,
					pe_histogram_epsilon(h), h->rho * 1e-9, h->dataset->name,
					rounded_down(epsilon_left(h, reply->rho_left)), reply->release_id)));
}

static void
refuse_overspend(const pe_histogram *h, const pe_charge_reply *reply)
{
	double		left = epsilon_left(h, reply->rho_left);

	ereport(ERROR,
			(errcode(ERRCODE_PE_BUDGET_EXCEEDED),
			 errmsg("too little of the budget of role \"%s\" on dataset \"%s\" is left",
					h->budget->role, h->dataset->name),
			 errdetail("The request costs epsilon %.4g (rho %.4g); epsilon %s (rho %.9g) is left. Nothing was charged.",
					   pe_histogram_epsilon(h), h->rho * 1e-9, rounded_down(left), Max(reply->rho_left, 0) * 1e-9),
			 reply->rho_left > 0
			 ? errhint("epsilon => %s fits and buys max_stderr => %.4g.", float8out_internal(left),
					   pe_histogram_stderr(h->sensitivity_sq, reply->rho_left))
			 : errhint("The owner of the table can raise the budget or the cap.")));
}

/* ------------------------------------------------------------------
 * dp.histogram
 * ------------------------------------------------------------------
 */

/* Rows are made in a context of their own, emptied after each. */
static void
return_histogram(ReturnSetInfo *result, const pe_histogram *h, const pe_charge_reply *reply)
{
	MemoryContext per_row = AllocSetContextCreate(CurrentMemoryContext, "pg_epsilon row", ALLOCSET_DEFAULT_SIZES);

	if (reply->values != h->queries)
		elog(ERROR, "release " INT64_FORMAT " does not hold the answers to its queries", reply->release_id);
	for (int32 query = 0; query < h->queries; query++)
	{
		MemoryContext old = MemoryContextSwitchTo(per_row);
		bool		nulls[5] = {false};
		Datum		values[5] = {
			Int32GetDatum(query + 1), pe_label_of_query(&h->workload, h->domain, h->columns, query),
			Float8GetDatum((double) reply->value[query]), Float8GetDatum(h->stderr_),
			Int64GetDatum(reply->release_id)
		};

		CHECK_FOR_INTERRUPTS();
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
		MemoryContextSwitchTo(old);
		MemoryContextReset(per_row);
	}
	MemoryContextDelete(per_row);
}

Datum
pe_sql_histogram(PG_FUNCTION_ARGS)
{
	pe_histogram *h = pe_histogram_arguments(fcinfo, true);
	pe_charge_reply reply;

	InitMaterializedSRF(fcinfo, 0);
	pe_door_answer(&h->question, &reply);
	if (reply.outcome == PE_REFUSED)
		refuse_overspend(h, &reply);
	if (reply.charge_id != 0)
		tell_charge(h, &reply);
	return_histogram((ReturnSetInfo *) fcinfo->resultinfo, h, &reply);
	return (Datum) 0;
}

/* ------------------------------------------------------------------
 * Quotes
 * ------------------------------------------------------------------
 */

/* Whether the budget has paid for this very request already. */
static bool
is_replay(const pe_histogram *h)
{
	static pe_statement find = {NULL, "SELECT FROM dp.release r JOIN dp.charge c ON c.id = r.charge_id OR c.release_id = r.id "
		"WHERE r.dataset_id = $1 AND r.version = $2 AND r.request_hash = $3 AND r.request = $4 AND r.payload IS NOT NULL "
		"AND c.budget_id = $5 LIMIT 1", 5, {INT8OID, INT4OID, BYTEAOID, TEXTOID, INT8OID}};
	const pe_charge_request *request = &h->question.charge;
	Datum		values[5] = {
		Int64GetDatum(request->dataset_id), Int32GetDatum((int32) request->version),
		PointerGetDatum(pe_request_hash(request->request)), CStringGetTextDatum(request->request),
		Int64GetDatum(request->budget_id)
	};
	pe_access	access;
	bool		found;

	if (request->fresh || h->budget == NULL)
		return false;
	pe_access_begin(&access);
	found = pe_access_read(&find, values, NULL) > 0;
	pe_access_end(&access);
	return found;
}

Datum
pe_sql_quote(PG_FUNCTION_ARGS)
{
	pe_histogram *h = pe_histogram_arguments(fcinfo, false);
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	bool		replay = is_replay(h);
	int64		left = h->budget != NULL ? pe_budget_rho_left(h->budget, h->dataset) : 0;
	int64		after = replay ? left : left - h->rho;
	bool		nulls[14] = {false};
	Datum		values[14] = {
		Float8GetDatum(h->rho / 1e9), Float8GetDatum(pe_histogram_epsilon(h)), Float8GetDatum(h->delta),
		Float8GetDatum(h->stderr_), Float8GetDatum(h->stderr_), Int32GetDatum(h->queries),
		Int32GetDatum(h->domain->cells), CStringGetTextDatum(h->method),
		/* see pe_strategy_of_workload: the queries themselves are the optimum, and the bound is attained */
		Float8GetDatum(h->queries), Float8GetDatum(h->queries), Float8GetDatum(0),
		BoolGetDatum(h->budget != NULL && after >= 0),
		after >= 0 && h->budget != NULL ? Float8GetDatum(epsilon_left(h, after)) : (Datum) 0,
		BoolGetDatum(replay)
	};

	nulls[12] = h->budget == NULL || after < 0;
	InitMaterializedSRF(fcinfo, 0);
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	return (Datum) 0;
}

Datum
pe_sql_quote_queries(PG_FUNCTION_ARGS)
{
	pe_histogram *h = pe_histogram_arguments(fcinfo, false);
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext per_row;

	InitMaterializedSRF(fcinfo, 0);
	per_row = AllocSetContextCreate(CurrentMemoryContext, "pg_epsilon row", ALLOCSET_DEFAULT_SIZES);
	for (int32 query = 0; query < h->queries; query++)
	{
		MemoryContext old = MemoryContextSwitchTo(per_row);
		bool		nulls[3] = {false};
		Datum		values[3] = {
			Int32GetDatum(query + 1), pe_label_of_query(&h->workload, h->domain, h->columns, query),
			Float8GetDatum(h->stderr_)
		};

		CHECK_FOR_INTERRUPTS();
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
		MemoryContextSwitchTo(old);
		MemoryContextReset(per_row);
	}
	MemoryContextDelete(per_row);
	return (Datum) 0;
}

/* ------------------------------------------------------------------
 * dp.cells
 * ------------------------------------------------------------------
 */

/* A stored release, read by somebody who may. */
typedef struct stored_release
{
	int64		id;
	pe_dataset *dataset;
	pe_column  *columns;
	pe_domain  *domain;
	pe_workload workload;
	double		stderr_;
	int64		values;
	int64	   *value;
} stored_release;

static void
refuse_release(int64 id)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("release " INT64_FORMAT " does not exist, or is not yours to read", id),
			 errhint("The view dp.releases lists those that are.")));
}

/* Whether one of the budgets that paid for a release is open to the current user. */
static bool
paid_for(int64 id)
{
	static pe_statement payers = {NULL, "SELECT b.role_oid::int8 FROM dp.release r "
		"JOIN dp.charge c ON c.id = r.charge_id OR c.release_id = r.id JOIN dp.budget b ON b.id = c.budget_id "
	"WHERE r.id = $1", 1, {INT8OID}};
	Datum		values[1] = {Int64GetDatum(id)};
	Oid			user = GetUserId();
	pe_access	access;
	bool		paid = false;
	uint64		rows;

	pe_access_begin(&access);
	rows = pe_access_read(&payers, values, NULL);
	for (uint64 row = 0; row < rows && !paid; row++)
		paid = has_privs_of_role(user, (Oid) pe_access_int64(row, 1));
	pe_access_end(&access);
	return paid;
}

static pe_u128
parse_u128(const char *digits)
{
	pe_u128		number = 0;

	for (; *digits; digits++)
		number = number * 10 + (pe_u128) (*digits - '0');
	return number;
}

static void
load_release(int64 id, stored_release *r)
{
	static pe_statement find = {NULL, "SELECT dataset_id, version, attributes, workload, sensitivity_sq::text, rho, payload "
	"FROM dp.release WHERE id = $1 AND payload IS NOT NULL", 1, {INT8OID}};
	Datum		key[1] = {Int64GetDatum(id)};
	pe_workload_error error;
	pe_access	access;
	const char **names;
	char	   *workload;
	Datum	   *elements;
	bool	   *nulls;
	bool		isnull;
	int64		dataset;
	int			version;
	int			count;

	r->id = id;
	pe_access_begin(&access);
	if (pe_access_read(&find, key, NULL) != 1)
		refuse_release(id);
	dataset = pe_access_int64(0, 1);
	version = (int) pe_access_int64(0, 2);
	workload = pe_access_text(0, 4);
	r->stderr_ = pe_histogram_stderr(parse_u128(pe_access_text(0, 5)), pe_access_int64(0, 6));
	elements = NULL;
	{
		Datum		array = pe_access_datum(0, 3, &isnull);
		Datum		payload = pe_access_datum(0, 7, &isnull);

		pe_access_end(&access);
		deconstruct_array(DatumGetArrayTypeP(array), TEXTOID, -1, false, TYPALIGN_INT, &elements, &nulls, &count);
		r->value = pe_payload_read(DatumGetByteaPP(payload), &r->values);
	}
	names = palloc(Max(count, 1) * sizeof(char *));
	for (int i = 0; i < count; i++)
		names[i] = TextDatumGetCString(elements[i]);

	r->dataset = pe_dataset_load_by_id(dataset);
	if (r->dataset == NULL || (!paid_for(id) && !pe_dataset_owned_by(r->dataset, GetUserId())))
		refuse_release(id);
	if (r->dataset->version < version)
		elog(ERROR, "release " INT64_FORMAT " is of a version that its dataset never had", id);
	r->columns = pe_columns_load(r->dataset, (char **) names, &count);
	r->domain = pe_columns_domain(r->columns, count);
	if (!pe_workload_parse(workload, names, count, &r->workload, &error))
		elog(ERROR, "the workload of release " INT64_FORMAT " cannot be read: %s", id, error.message);
}

Datum
pe_sql_cells(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext per_row;
	stored_release r;

	load_release(PG_GETARG_INT64(0), &r);
	if (pe_workload_queries(&r.workload, r.domain) != r.domain->cells || r.values != r.domain->cells)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("release " INT64_FORMAT " does not determine single cells", r.id),
				 errdetail("It answers workload %s.", r.workload.canonical)));
	InitMaterializedSRF(fcinfo, 0);
	per_row = AllocSetContextCreate(CurrentMemoryContext, "pg_epsilon row", ALLOCSET_DEFAULT_SIZES);
	for (int32 cell = 0; cell < r.domain->cells; cell++)
	{
		MemoryContext old = MemoryContextSwitchTo(per_row);
		bool		nulls[4] = {false};
		Datum		values[4] = {
			Int32GetDatum(cell), pe_label_of_cell(r.domain, r.columns, cell),
			Float8GetDatum((double) r.value[pe_workload_query_of_cell(&r.workload, r.domain, cell)]),
			Float8GetDatum(r.stderr_)
		};

		CHECK_FOR_INTERRUPTS();
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
		MemoryContextSwitchTo(old);
		MemoryContextReset(per_row);
	}
	MemoryContextDelete(per_row);
	return (Datum) 0;
}

/* ------------------------------------------------------------------
 * Arithmetic
 * ------------------------------------------------------------------
 */

Datum
pe_sql_epsilon_of_rho(PG_FUNCTION_ARGS)
{
	double		rho = PG_GETARG_FLOAT8(0);
	double		delta = PG_GETARG_FLOAT8(1);

	pe_check_delta(delta);
	if (!(rho >= 0) || isinf(rho))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("rho must be a finite number of at least 0")));
	PG_RETURN_FLOAT8(pe_zcdp_epsilon(rho, delta));
}

Datum
pe_sql_rho_of_epsilon(PG_FUNCTION_ARGS)
{
	double		epsilon = PG_GETARG_FLOAT8(0);
	double		delta = PG_GETARG_FLOAT8(1);

	pe_check_epsilon(epsilon);
	pe_check_delta(delta);
	PG_RETURN_FLOAT8(pe_nano_rho_of_epsilon(epsilon, delta) / 1e9);
}
