/*
 * time.c
 *	  The column that says when a row arrived.  See time.h.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "ledger/acts.h"
#include "ledger/columns.h"
#include "ledger/time.h"
#include "server/access.h"

/* InvalidOid if there is no such column. */
static Oid
column_type(Oid relation, const char *column)
{
	AttrNumber	number = get_attnum(relation, column);

	if (number <= 0)
		return InvalidOid;
	pe_column_check_stored(relation, number);
	return getBaseType(get_atttype(relation, number));
}

static bool
is_time(Oid type)
{
	return type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID;
}

static Oid
check_column(const pe_dataset *dataset, const char *column)
{
	Oid			type = column_type(dataset->relation, column);

	if (!OidIsValid(type))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("the table of dataset \"%s\" has no column \"%s\"", dataset->name, column)));
	if (!is_time(type))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("column \"%s\" of type %s does not say when a row arrived", column, format_type_be(type)),
				 errhint("Use a column of type date, timestamp or timestamptz that is filled on insert.")));
	if (dataset->unit != NULL && strcmp(dataset->unit, column) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("column \"%s\" is the unit of dataset \"%s\"", column, dataset->name)));
	return type;
}

void
pe_time_declare(const pe_dataset *dataset, const char *column, bool append_only)
{
	static pe_statement write = {NULL, "UPDATE dp_ledger.dataset SET time_attribute = $2, time_type = $3, append_only = $4 WHERE id = $1", 4,
	{INT8OID, TEXTOID, TEXTOID, BOOLOID}};
	Datum		values[4] = {
		Int64GetDatum(dataset->id), CStringGetTextDatum(column),
		CStringGetTextDatum(format_type_be(check_column(dataset, column))), BoolGetDatum(append_only)
	};
	pe_act		act;
	pe_access	access;

	pe_act_begin(&act, dataset->id, PE_ACT_DATASET, "set_time", NULL);
	pe_access_begin(&access);
	pe_access_write(&write, values, NULL);
	pe_access_end(&access);
	pe_act_end(&act, NULL);
}

Oid
pe_time_type(const pe_dataset *dataset)
{
	Oid			type;

	if (dataset->time_attribute == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("dataset \"%s\" has no time", dataset->name),
				 errhint("The owner can declare which column says when a row arrived: dp.set_time(%s, ...).",
						 quote_literal_cstr(dataset->name))));
	type = column_type(dataset->relation, dataset->time_attribute);
	if (!is_time(type) || strcmp(format_type_be(type), dataset->time_type) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("column \"%s\" is no longer what was declared for dataset \"%s\"", dataset->time_attribute, dataset->name)));
	return type;
}
