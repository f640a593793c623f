/*
 * time.c
 *	  The column that says when a row arrived.  See time.h.
 */
#include "postgres.h"

#include "catalog/pg_class.h"
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

Oid
pe_time_column_type(const pe_dataset *dataset, const char *column)
{
	Oid			type = pe_declared_column_type(dataset, column, get_attnum(dataset->relation, column));

	if (!OidIsValid(type))
		pe_refuse_missing_column(dataset, column);
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
pe_time_declare(const pe_dataset *dataset, const char *column, bool append_only, bool hold)
{
	static pe_statement write;
	AttrNumber	number = get_attnum(dataset->relation, column);
	pe_field	fields[] = {
		PE_INT8("id", dataset->id),
		PE_TEXT("time_attribute", column),
		PE_TEXT("time_type", pe_type_name(pe_time_column_type(dataset, column))),
		PE_INT4("time_attnum", number),
		PE_BOOL("append_only", append_only),
		PE_BOOL("held", hold)
	};
	pe_act		act;
	pe_access	access;

	if (dataset->max_blocks > 0 && (strcmp(column, dataset->time_attribute) != 0 || number != dataset->time_number))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the blocks of dataset \"%s\" are of column \"%s\"", dataset->name, dataset->time_attribute),
				 errdetail("What each block has lost is counted by it.")));
	pe_act_begin(&act, dataset->id, PE_ACT_DATASET, "set_time", NULL);
	pe_access_begin(&access);
	pe_access_update(&write, "dataset", PE_FIELDS(fields), 1, "");
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
	type = pe_declared_column_type(dataset, dataset->time_attribute, dataset->time_number);
	if (!pe_type_is_time(type) || strcmp(pe_type_name(type), dataset->time_type) != 0)
		pe_raise_column_changed(dataset, dataset->time_attribute, dataset->time_number);
	pe_time_check_held(dataset);
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

static char *
table_name(Oid table)
{
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(table)), get_rel_name(table));
}

/* Names of our triggers on a table, without those that it has of the table it is a partition of. */
static char **
own_triggers_of(Oid table, int *count)
{
	static pe_statement find = {NULL, "SELECT coalesce(pg_catalog.array_agg(tgname::text), '{}') "
		"FROM pg_catalog.pg_trigger WHERE tgrelid = $1 AND tgfoid = 'dp_internal.hold_time'::pg_catalog.regproc "
		"AND tgparentid = 0", 1, {OIDOID}};
	Datum		values[1] = {ObjectIdGetDatum(table)};
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

static void
release_table(Oid table)
{
	int			count;
	char	  **triggers = own_triggers_of(table, &count);

	for (int i = 0; i < count; i++)
		execute(psprintf("DROP TRIGGER %s ON %s", quote_identifier(triggers[i]), table_name(table)));
}

/* A trigger that fires for replicated rows, too: they come late as others do. */
static void
create_trigger(Oid table, const char *name, const char *when, const char *dataset)
{
	execute(psprintf("CREATE TRIGGER %s BEFORE %s EXECUTE FUNCTION dp_internal.hold_time(%s)", name, when,
					 quote_literal_cstr(dataset)));
	execute(psprintf("ALTER TABLE %s ENABLE ALWAYS TRIGGER %s", table_name(table), name));
}

/* A partition has the triggers for rows of its parent, and every table its own for TRUNCATE. */
static void
hold_table(Oid table, const char *dataset)
{
	if (!get_rel_relispartition(table))
		create_trigger(table, TRIGGER, psprintf("INSERT OR UPDATE OR DELETE ON %s FOR EACH ROW",
												table_name(table)), dataset);
	create_trigger(table, TRIGGER "_truncate", psprintf("TRUNCATE ON %s FOR EACH STATEMENT",
														table_name(table)), dataset);
}

/* 0A000 where no trigger of this server sees what becomes of rows, or their time. */
static void
check_can_hold(const pe_dataset *dataset, const char *column, List *tables)
{
	ListCell   *cell;

	foreach(cell, tables)
		if (get_rel_relkind(lfirst_oid(cell)) == RELKIND_FOREIGN_TABLE)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("the time of foreign table \"%s\" cannot be held", get_rel_name(lfirst_oid(cell))),
					 errdetail("Its rows change where no trigger of this server sees it."),
					 errhint("Use enforce => false, if you promise it.")));
	if (get_attgenerated(dataset->relation, get_attnum(dataset->relation, column)) != '\0')
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("the time in generated column \"%s\" cannot be held", column),
				 errdetail("It is computed after triggers have seen the row."),
				 errhint("Use enforce => false, if you promise it.")));
}

void
pe_time_hold(const pe_dataset *dataset, const char *column, bool hold)
{
	List	   *tables = pe_relation_heirs(dataset->relation, AccessShareLock);
	ListCell   *cell;

	if (hold)
		check_can_hold(dataset, column, tables);
	foreach(cell, tables)
		release_table(lfirst_oid(cell));
	foreach(cell, tables)
		if (hold)
			hold_table(lfirst_oid(cell), dataset->name);
}

/*
 * The bits of a trigger's type: for each row, before, insert, delete, update; and for TRUNCATE.  One with a
 * condition, for some columns only, or for another dataset holds nothing.
 */
#define HAS_TRIGGER(mask, type) \
	"EXISTS (SELECT FROM pg_catalog.pg_trigger t WHERE t.tgrelid = c.oid " \
	"AND t.tgfoid = 'dp_internal.hold_time'::pg_catalog.regproc AND t.tgtype & " mask " = " type " " \
	"AND t.tgenabled = 'A' AND t.tgqual IS NULL AND t.tgattr::pg_catalog.text = '' " \
	"AND t.tgargs = pg_catalog.convert_to($2, pg_catalog.getdatabaseencoding()) || '\\x00'::pg_catalog.bytea)"

/* A table of the dataset that lacks one of the triggers; NULL if there is none. */
static char *
table_not_held(const pe_dataset *dataset)
{
	static pe_statement find = {NULL, "SELECT c.relname::pg_catalog.text FROM pg_catalog.pg_class c "
		"WHERE c.oid = ANY ($1) AND NOT (" HAS_TRIGGER("31", "31") " AND " HAS_TRIGGER("35", "34") ") ORDER BY 1 "
		"LIMIT 1", 2, {OIDARRAYOID, TEXTOID}};
	Datum		values[2] = {pe_oid_array(pe_relation_heirs(dataset->relation, NoLock)),
		CStringGetTextDatum(dataset->name)};
	MemoryContext here = CurrentMemoryContext;
	char	   *table = NULL;
	pe_access	access;

	pe_access_begin_reading(&access);
	if (pe_access_read(&find, values, NULL) > 0)
	{
		MemoryContextSwitchTo(here);
		table = pe_access_text(0, 1);
	}
	pe_access_end(&access);
	return table;
}

bool
pe_time_is_held(const pe_dataset *dataset)
{
	return dataset->held && OidIsValid(pe_relation_owner(dataset->relation)) && table_not_held(dataset) == NULL;
}

void
pe_time_check_held(const pe_dataset *dataset)
{
	char	   *table = dataset->held && !dataset->frozen ? table_not_held(dataset) : NULL;

	if (table != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" lacks a trigger that holds the time of dataset \"%s\"", table, dataset->name),
				 errdetail("The owner declared that triggers hold the rows of periods that are over, of which less "
						   "noise follows. Nothing was charged."),
				 errhint("The owner can put them on all tables again: dp.set_time(%s, %s, append_only => true, "
						 "enforce => true).",
						 quote_literal_cstr(dataset->name), quote_literal_cstr(dataset->time_attribute))));
}

/* The clock's time, not the transaction's: a long transaction may touch what was over when it began to. */
pe_held_time
pe_time_held(const char *dataset, Oid relation)
{
	static pe_statement find = {NULL, "SELECT coalesce(pg_catalog.min(a.attname::pg_catalog.text), ''), "
		"coalesce(pg_catalog.min(s.edges[1]), 0), coalesce(pg_catalog.max(u.edge), 0) FROM dp_ledger.dataset d "
		"JOIN dp_ledger.series s ON s.dataset_id = d.id JOIN pg_catalog.pg_attribute a "
		"ON a.attrelid = d.relation_oid AND a.attnum = d.time_attnum, "
		"LATERAL pg_catalog.unnest(s.edges) WITH ORDINALITY u(edge, number) "
		"WHERE d.dataset = $1 AND NOT d.dropped AND d.relation_oid = ANY ($2) AND s.ended IS NULL "
		"AND s.append_only AND s.time_attribute = d.time_attribute AND s.time_attnum = d.time_attnum "
		"AND s.time_type = d.time_type AND u.number > 1 AND dp_internal.period_due(u.edge, s.grace, s.time_zone, "
		"s.time_type) <= pg_catalog.clock_timestamp()", 2, {TEXTOID, OIDARRAYOID}};
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
