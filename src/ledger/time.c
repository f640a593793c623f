/*
 * time.c
 *	  The column that says when a row arrived.  See time.h.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "ledger/acts.h"
#include "ledger/columns.h"
#include "ledger/relation.h"
#include "ledger/time.h"
#include "server/access.h"
#include "server/values.h"

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

Oid
pe_time_column_type(const pe_dataset *dataset, const char *column)
{
	Oid			type = column_type(dataset->relation, column);

	if (!OidIsValid(type))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("the table of dataset \"%s\" has no column \"%s\"", dataset->name, column)));
	if (!pe_type_is_time(type))
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
		CStringGetTextDatum(pe_type_name(pe_time_column_type(dataset, column))), BoolGetDatum(append_only)
	};
	pe_act		act;
	pe_access	access;

	if (dataset->max_blocks > 0 && strcmp(column, dataset->time_attribute) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the blocks of dataset \"%s\" are of column \"%s\"", dataset->name, dataset->time_attribute),
				 errdetail("What each block has lost is counted by it.")));
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
	if (!pe_type_is_time(type) || strcmp(pe_type_name(type), dataset->time_type) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("column \"%s\" is no longer what was declared for dataset \"%s\"", dataset->time_attribute, dataset->name)));
	return type;
}

/* ------------------------------------------------------------------
 * Held by triggers
 * ------------------------------------------------------------------
 */

#define TRIGGER "pg_epsilon_time"

/* As the caller would: what is made is the owner's, and no more may be done than the owner may. */
static void
execute(const char *statement)
{
	SPI_connect();
	if (SPI_execute(statement, false, 0) != SPI_OK_UTILITY)
		elog(ERROR, "could not execute: %s", statement);
	SPI_finish();
}

/* Names of our triggers on the table, those that fire or all. */
static char **
triggers_of(const pe_dataset *dataset, bool fire, int *count)
{
	static pe_statement find = {NULL, "SELECT coalesce(pg_catalog.array_agg(tgname::text), '{}') FROM pg_catalog.pg_trigger "
		"WHERE tgrelid = $1 AND tgfoid = 'dp_internal.hold_time'::pg_catalog.regproc AND tgparentid = 0 AND (tgenabled IN ('O', 'A') OR NOT $2)", 2, {OIDOID, BOOLOID}};
	Datum		values[2] = {ObjectIdGetDatum(dataset->relation), BoolGetDatum(fire)};
	MemoryContext here = CurrentMemoryContext;
	pe_access	access;
	char	  **names;

	pe_access_begin(&access);
	(void) pe_access_read(&find, values, NULL);
	MemoryContextSwitchTo(here);
	names = pe_access_texts(0, 1, count);
	pe_access_end(&access);
	return names;
}

void
pe_time_hold(const pe_dataset *dataset, bool hold)
{
	const char *table = quote_qualified_identifier(get_namespace_name(get_rel_namespace(dataset->relation)), get_rel_name(dataset->relation));
	const char *name = quote_literal_cstr(dataset->name);
	int			count;
	char	  **triggers = triggers_of(dataset, false, &count);

	for (int i = 0; i < count; i++)
		execute(psprintf("DROP TRIGGER %s ON %s", quote_identifier(triggers[i]), table));
	if (!hold)
		return;
	execute(psprintf("CREATE TRIGGER " TRIGGER " BEFORE INSERT OR UPDATE OR DELETE ON %s FOR EACH ROW EXECUTE FUNCTION dp_internal.hold_time(%s)", table, name));
	execute(psprintf("CREATE TRIGGER " TRIGGER "_truncate BEFORE TRUNCATE ON %s FOR EACH STATEMENT EXECUTE FUNCTION dp_internal.hold_time(%s)", table, name));
}

bool
pe_time_is_held(const pe_dataset *dataset)
{
	int			count;

	(void) triggers_of(dataset, true, &count);
	return count == 2;
}

/* The clock's time, not the transaction's: a long transaction may touch what was over when it began to. */
pe_held_time
pe_time_held(const char *dataset, Oid relation)
{
	static pe_statement find = {NULL, "SELECT coalesce(pg_catalog.min(d.time_attribute), ''), coalesce(pg_catalog.min(s.edges[1]), 0), coalesce(pg_catalog.max(u.edge), 0) "
		"FROM dp_ledger.dataset d JOIN dp_ledger.series s ON s.dataset_id = d.id, LATERAL pg_catalog.unnest(s.edges) WITH ORDINALITY u(edge, number) "
		"WHERE d.dataset = $1 AND NOT d.dropped AND d.relation_oid = ANY ($2) AND s.ended IS NULL AND s.append_only "
		"AND s.time_attribute = d.time_attribute AND s.time_type = d.time_type AND u.number > 1 "
		"AND dp_internal.period_due(u.edge, s.grace, s.time_zone, s.time_type) <= pg_catalog.clock_timestamp()", 2, {TEXTOID, OIDARRAYOID}};
	Datum		values[2] = {CStringGetTextDatum(dataset), pe_oid_array(pe_relation_family(relation))};
	MemoryContext here = CurrentMemoryContext;
	pe_held_time held;
	pe_access	access;

	pe_access_begin(&access);
	(void) pe_access_read(&find, values, NULL);
	MemoryContextSwitchTo(here);
	held = (pe_held_time) {pe_access_text(0, 1), pe_access_int64(0, 2), pe_access_int64(0, 3)};
	pe_access_end(&access);
	return held;
}
