/*
 * release.c
 *	  Reading paid answers again: dp.cells.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "api/label.h"
#include "api/question.h"
#include "api/rows.h"
#include "ledger/access.h"

PG_FUNCTION_INFO_V1(pe_sql_cells);

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

static void
load(void *argument)
{
	stored_release *r = argument;

	load_release(r->id, r);
}

static void
make_cell(const void *argument, int32 cell, Datum *values, bool *nulls)
{
	const stored_release *r = argument;

	values[0] = Int32GetDatum(cell);
	values[1] = pe_label_of_cell(r->domain, r->columns, cell);
	values[2] = Float8GetDatum((double) r->value[pe_workload_query_of_cell(&r->workload, r->domain, cell)]);
	values[3] = Float8GetDatum(r->stderr_);
}

Datum
pe_sql_cells(PG_FUNCTION_ARGS)
{
	stored_release r = {.id = PG_GETARG_INT64(0)};
	ErrorData  *error = pe_run_undone(load, &r);

	if (error != NULL)
		ReThrowError(error);
	if (pe_workload_queries(&r.workload, r.domain) != r.domain->cells || r.values != r.domain->cells)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("release " INT64_FORMAT " does not determine single cells", r.id),
				 errdetail("It answers workload %s.", r.workload.canonical)));
	pe_return_rows(fcinfo, r.domain->cells, 4, make_cell, &r);
	return (Datum) 0;
}
