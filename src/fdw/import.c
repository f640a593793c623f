/*
 * import.c
 *	  IMPORT FOREIGN SCHEMA dp and dp.expose.  See import.h.
 *
 * What is made belongs to the caller, and holds no data and no privilege: who reads it needs SELECT on it and a budget.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "foreign/foreign.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/resowner.h"
#include "utils/varlena.h"

#include "api/arguments.h"
#include "api/public_cells.h"
#include "fdw/import.h"

PG_FUNCTION_INFO_V1(pe_sql_expose);

/* ------------------------------------------------------------------
 * IMPORT FOREIGN SCHEMA
 * ------------------------------------------------------------------
 */

static char *
create_text(const char *name, const char *dataset, const char *server, const char *options)
{
	const char *id;
	char	   *columns = pe_public_columns(dataset, &id);

	return psprintf("CREATE FOREIGN TABLE %s (%s) SERVER %s OPTIONS (dataset %s, dataset_id %s%s)", name, columns,
					quote_identifier(server), quote_literal_cstr(dataset), quote_literal_cstr(id), options);
}

/* The names of all datasets whose rows are counted. */
static List *
datasets(void)
{
	MemoryContext here = CurrentMemoryContext;
	List	   *names = NIL;

	SPI_connect();
	if (SPI_execute("SELECT dataset FROM dp.datasets WHERE neighbours OPERATOR(pg_catalog.<>) 'values' ORDER BY dataset", true, 0) != SPI_OK_SELECT)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_ERROR),
				 errmsg("the datasets cannot be read")));
	for (uint64 row = 0; row < SPI_processed; row++)
	{
		char	   *name = SPI_getvalue(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, 1);
		MemoryContext old = MemoryContextSwitchTo(here);

		names = lappend(names, pstrdup(name));
		MemoryContextSwitchTo(old);
	}
	SPI_finish();
	return names;
}

/* Whether the statement's list has it, or has no list; the server passes over the others too, but they need not be looked at. */
static bool
is_meant(const ImportForeignSchemaStmt *statement, const char *name)
{
	bool		listed = false;
	ListCell   *cell;

	if (statement->list_type == FDW_IMPORT_SCHEMA_ALL)
		return true;
	foreach(cell, statement->table_list)
		listed |= strcmp(lfirst_node(RangeVar, cell)->relname, name) == 0;
	return listed == (statement->list_type == FDW_IMPORT_SCHEMA_LIMIT_TO);
}

/* What is wrong with a dataset, and not with the server or the session. */
static bool
is_of_dataset(const ErrorData *error)
{
	return error->sqlerrcode == ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE || error->sqlerrcode == ERRCODE_UNDEFINED_TABLE ||
		error->sqlerrcode == ERRCODE_UNDEFINED_OBJECT || error->sqlerrcode == ERRCODE_FEATURE_NOT_SUPPORTED;
}

/* The statement that makes the table of a dataset; NULL, with a WARNING, if it cannot be asked: its table is gone, say. */
static char *
create_or_skip(const char *dataset, const char *server)
{
	MemoryContext here = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	char	   *volatile text = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(here);
	PG_TRY();
	{
		text = create_text(quote_identifier(dataset), dataset, server, "");
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(here);
		error = CopyErrorData();
		if (!is_of_dataset(error))
			PG_RE_THROW();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		ereport(WARNING,
				(errcode(error->sqlerrcode),
				 errmsg("dataset \"%s\" is not imported", dataset),
				 errdetail("%s", error->message),
				 error->hint != NULL ? errhint("%s", error->hint) : 0));
	}
	PG_END_TRY();
	MemoryContextSwitchTo(here);
	CurrentResourceOwner = owner;
	return text;
}

List *
pe_fdw_import(ImportForeignSchemaStmt *statement, Oid server)
{
	List	   *commands = NIL;
	ListCell   *cell;

	if (strcmp(statement->remote_schema, "dp") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_SCHEMA_NOT_FOUND),
				 errmsg("schema \"%s\" has no datasets", statement->remote_schema),
				 errhint("Use IMPORT FOREIGN SCHEMA dp.")));
	foreach(cell, datasets())
	{
		char	   *command = is_meant(statement, lfirst(cell)) ? create_or_skip(lfirst(cell), GetForeignServer(server)->servername) : NULL;

		if (command != NULL)
			commands = lappend(commands, command);
	}
	return commands;
}

/* ------------------------------------------------------------------
 * dp.expose
 * ------------------------------------------------------------------
 */

enum
{
	ARG_DATASET, ARG_TARGET, ARG_EPSILON
};

static void
execute(const char *command)
{
	if (SPI_execute(command, false, 0) < 0)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_ERROR),
				 errmsg("the dataset cannot be exposed")));
}

/* The name with a suffix, cut where it would be too long. */
static char *
with_suffix(const char *name, const char *suffix)
{
	int			room = NAMEDATALEN - 1 - (int) strlen(suffix);

	return psprintf("%.*s%s", pg_mbcliplen(name, strlen(name), room), name, suffix);
}

static void
comment(const char *kind, const char *name, const char *text)
{
	execute(psprintf("COMMENT ON %s %s IS %s", kind, name, quote_literal_cstr(text)));
}

static void
make(const char *dataset, const char *table, const char *view, const char *options)
{
	execute(create_text(table, dataset, "dp", options));
	execute(psprintf("CREATE VIEW %s AS SELECT * FROM %s", view, table));
	comment("FOREIGN TABLE", table, psprintf("dataset %s of pg_epsilon, behind view %s", dataset, view));
	comment("VIEW", view, psprintf("dataset %s of pg_epsilon: aggregates are answered with noise and paid by the caller's budget, rows are not shown; "
								   "EXPLAIN tells what a SELECT would cost", dataset));
}

/* 42P07 with the cure where CREATE would have none. */
static void
check_free(const char *schema, const char *name)
{
	if (OidIsValid(get_relname_relid(name, get_namespace_oid(schema, false))))
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_TABLE),
				 errmsg("relation \"%s\" already exists", name),
				 errhint("Use replace => true for a view that dp.expose made: it keeps its privileges and options. Or another name.")));
}

Datum
pe_sql_expose(PG_FUNCTION_ARGS)
{
	char	   *dataset = pe_text_argument(fcinfo, ARG_DATASET, "dataset");
	char	   *target = pe_text_argument(fcinfo, ARG_TARGET, "target");
	double		epsilon = pe_optional_float(fcinfo, ARG_EPSILON, "epsilon");
	RangeVar   *name = makeRangeVarFromNameList(textToQualifiedNameList(cstring_to_text(target)));
	const char *schema = get_namespace_name(RangeVarGetCreationNamespace(name));

	if (!PG_ARGISNULL(ARG_EPSILON))
		pe_check_epsilon(epsilon);
	check_free(schema, name->relname);
	check_free(schema, with_suffix(name->relname, "_foreign"));
	SPI_connect();
	make(dataset, quote_qualified_identifier(schema, with_suffix(name->relname, "_foreign")), quote_qualified_identifier(schema, name->relname),
		 PG_ARGISNULL(ARG_EPSILON) ? "" : psprintf(", epsilon %s", quote_literal_cstr(pe_number_text(epsilon))));
	SPI_finish();
	PG_RETURN_TEXT_P(cstring_to_text(quote_qualified_identifier(schema, name->relname)));
}
