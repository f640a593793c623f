/*
 * release.c
 *	  Reading paid answers again: dp.cells.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"

#include "api/label.h"
#include "api/predicate.h"
#include "api/rows.h"
#include "ledger/access.h"
#include "ledger/budget.h"
#include "ledger/charge.h"
#include "mechanism/gaussian.h"

PG_FUNCTION_INFO_V1(pe_sql_cells);

/* A stored release, read by somebody who may. */
typedef struct stored_release
{
	int64		id;
	int			version;		/* of the data it is from */
	int			attributes;
	char	  **names;
	char	   *workload_text;
	bytea	   *payload;
	pe_dataset *dataset;
	pe_column  *columns;
	pe_domain  *domain;
	pe_workload workload;
	char	   *predicate_text; /* NULL: none */
	bool	   *possible;		/* per cell, whether the predicate leaves it; NULL: all */
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
paid_for(int64 id, bool frozen)
{
	static pe_statement payers = {NULL, "SELECT b.role_oid::int8, b.role_name FROM dp.release r "
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
		paid = pe_is_payer(frozen, (Oid) pe_access_int64(row, 1), pe_access_text(row, 2), user);
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

/* The row of a release, if the current user may read it. */
static void
read_row(stored_release *r)
{
	static pe_statement find = {NULL, "SELECT dataset_id, version, attributes, workload, sensitivity_sq::text, rho, payload, predicate "
	"FROM dp.release WHERE id = $1 AND payload IS NOT NULL", 1, {INT8OID}};
	Datum		key[1] = {Int64GetDatum(r->id)};
	pe_access	access;
	int64		dataset;
	bool		isnull;

	pe_access_begin(&access);
	if (pe_access_read(&find, key, NULL) != 1)
		refuse_release(r->id);
	dataset = pe_access_int64(0, 1);
	r->version = (int) pe_access_int64(0, 2);
	r->names = pe_access_texts(0, 3, &r->attributes);
	r->workload_text = pe_access_text(0, 4);
	r->stderr_ = pe_gaussian_stderr(parse_u128(pe_access_text(0, 5)), pe_access_int64(0, 6));
	r->payload = DatumGetByteaPP(pe_access_datum(0, 7, &isnull));
	r->predicate_text = pe_access_text(0, 8);
	pe_access_end(&access);

	r->dataset = pe_dataset_load_by_id(dataset);
	if (r->dataset == NULL || (!paid_for(r->id, r->dataset->frozen) && !pe_dataset_owned_by(r->dataset, GetUserId())))
		refuse_release(r->id);
}

/* Which cells the predicate of the release leaves, as it was when it was asked. */
static bool *
possible_cells(const stored_release *r)
{
	int			count = r->attributes;
	pe_column  *columns = palloc0(PE_MAX_ATTRIBUTES * sizeof(*columns));
	pe_predicate *predicate;

	memcpy(columns, r->columns, r->attributes * sizeof(*columns));
	predicate = pe_predicate_argument(r->dataset, r->predicate_text, columns, &count);
	return pe_predicate_cells(predicate, pe_columns_domain(columns, count, count - r->attributes));
}

static void
load(void *argument)
{
	stored_release *r = argument;
	pe_workload_error error;

	read_row(r);
	if (r->version < r->dataset->declared_version)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the attributes of dataset \"%s\" were declared anew after release " INT64_FORMAT,
						r->dataset->name, r->id)));
	r->value = pe_payload_read(r->payload, &r->values);
	r->columns = pe_columns_load(r->dataset, r->names, &r->attributes);
	r->domain = pe_columns_domain(r->columns, r->attributes, 0);
	if (!pe_workload_parse(r->workload_text, (const char *const *) r->names, r->attributes, &r->workload, &error))
		elog(ERROR, "the workload of release " INT64_FORMAT " cannot be read: %s", r->id, error.message);
	if (r->predicate_text != NULL)
		r->possible = possible_cells(r);
}

static void
make_cell(const void *argument, int32 cell, Datum *values, bool *nulls)
{
	const stored_release *r = argument;
	bool		known = r->possible != NULL && !r->possible[cell];	/* to hold no row, from the predicate alone */

	values[0] = Int32GetDatum(cell);
	values[1] = pe_label_of_cell(r->domain, r->columns, cell);
	values[2] = Float8GetDatum(known ? 0 : (double) r->value[pe_workload_query_of_cell(&r->workload, r->domain, cell)]);
	values[3] = Float8GetDatum(known ? 0 : r->stderr_);
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
