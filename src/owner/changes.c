/*
 * changes.c
 *	  What is said where the rows of a dataset change all at once.  See changes.h.
 *
 * TRUNCATE has no event trigger.  A trigger on the table would be fired in all
 * sessions, but it is the owner's table: dp.create_dataset would wait for those
 * who write it, its dump could not be restored without the extension, and
 * TRUNCATE would fail where the library is gone.  So nothing is put on the
 * table, and the statement is looked at.
 */
#include "postgres.h"

#include "catalog/heap.h"
#include "catalog/namespace.h"
#include "catalog/pg_inherits.h"
#include "commands/extension.h"
#include "nodes/parsenodes.h"
#include "nodes/value.h"
#include "storage/lockdefs.h"
#include "tcop/utility.h"
#include "utils/builtins.h"

#include "owner/changes.h"
#include "ledger/dataset.h"
#include "ledger/families.h"
#include "server/access.h"

static ProcessUtility_hook_type previous_utility;

void
pe_changes_tell(const char *dataset)
{
	ereport(NOTICE,
			(errmsg("dataset \"%s\": answers of before are replayed until dp.new_version", dataset),
			 errhint("After SELECT dp.new_version(%s) the same questions are charged and measured anew.",
					 quote_literal_cstr(dataset))));
}

static void
tell_renamed(const char *dataset)
{
	ereport(NOTICE,
			(errmsg("dataset \"%s\" goes on with this table, under its new name", dataset),
			 errhint("If another table takes its place, use dp.move_dataset.")));
}

/* ------------------------------------------------------------------
 * Which datasets a statement is about
 * ------------------------------------------------------------------
 */

/* Of a TRUNCATE, with their parts and with those that it cascades to. */
static List *
truncated_tables(const TruncateStmt *statement)
{
	List	   *tables = NIL;
	List	   *more;
	ListCell   *cell;

	foreach(cell, statement->relations)
	{
		const RangeVar *name = lfirst_node(RangeVar, cell);
		Oid			table = RangeVarGetRelid(name, NoLock, true);

		if (OidIsValid(table))
			tables = list_concat_unique_oid(tables, name->inh ? find_all_inheritors(table, NoLock, NULL)
											: list_make1_oid(table));
	}
	while (statement->behavior == DROP_CASCADE && (more = heap_truncate_find_FKs(tables)) != NIL)
		tables = list_concat(tables, more);
	return tables;
}

/* A table that gets another name or schema; NULL: none does. */
static RangeVar *
renamed_table(const Node *statement)
{
	const RenameStmt *rename = (const RenameStmt *) statement;
	const AlterObjectSchemaStmt *schema = (const AlterObjectSchemaStmt *) statement;

	/* ALTER INDEX takes the name of a table, too */
	if (IsA(statement, RenameStmt) &&
		(rename->renameType == OBJECT_TABLE || rename->renameType == OBJECT_VIEW ||
		 rename->renameType == OBJECT_MATVIEW ||
		 rename->renameType == OBJECT_FOREIGN_TABLE || rename->renameType == OBJECT_INDEX))
		return rename->relation;
	if (IsA(statement, AlterObjectSchemaStmt) &&
		(schema->objectType == OBJECT_TABLE || schema->objectType == OBJECT_VIEW ||
		 schema->objectType == OBJECT_MATVIEW ||
		 schema->objectType == OBJECT_FOREIGN_TABLE))
		return schema->relation;
	return NULL;
}

typedef struct look
{
	const Node *statement;
	List	   *names;			/* of datasets */
} look;

/* The registered ones of a table; of those that it is a part of too, unless it must be the very table. */
static void
add_names(look *l, Oid table, bool itself)
{
	ListCell   *cell;

	foreach(cell, pe_datasets_of_family(table))
	{
		const pe_dataset *dataset = lfirst(cell);

		if (!dataset->dropped &&
			(dataset->relation == table ||
			 (!itself && list_member_oid(pe_families_heirs(pe_families_private(dataset)), table))))
			l->names = list_append_unique(l->names, makeString(dataset->name));
	}
}

static void
find_names(void *argument)
{
	look	   *l = argument;
	ListCell   *cell;
	RangeVar   *renamed = renamed_table(l->statement);
	Oid			table = renamed != NULL ? RangeVarGetRelid(renamed, NoLock, true) : InvalidOid;

	if (OidIsValid(table))
		add_names(l, table, true);
	else if (IsA(l->statement, TruncateStmt))
		foreach(cell, truncated_tables((const TruncateStmt *) l->statement))
			add_names(l, lfirst_oid(cell), false);
}

/*
 * Without locks that stay, and before the statement has its own.  No error here
 * is one of the statement, only a cancel.  The library can be loaded where the
 * extension is not: a schema of the ledger's name is then anybody's, with
 * tables of any form.
 */
static List *
names_of(const Node *statement)
{
	look		l = {.statement = statement};
	ErrorData  *error;

	if ((!IsA(statement, TruncateStmt) && renamed_table(statement) == NULL) ||
		!OidIsValid(get_extension_oid("pg_epsilon", true)))
		return NIL;
	error = pe_run_undone(find_names, &l);
	if (error == NULL)
		return l.names;
	if (error->sqlerrcode == ERRCODE_QUERY_CANCELED)
		ReThrowError(error);
	FreeErrorData(error);
	return NIL;
}

static void
tell_changes(PlannedStmt *statement, const char *text, bool read_only_tree, ProcessUtilityContext context,
			 ParamListInfo parameters, QueryEnvironment *environment,
			 DestReceiver *receiver, QueryCompletion *completion)
{
	bool		is_truncate = IsA(statement->utilityStmt, TruncateStmt);
	List	   *names = names_of(statement->utilityStmt);
	ListCell   *cell;

	(previous_utility != NULL ? previous_utility : standard_ProcessUtility)
		(statement, text, read_only_tree, context, parameters, environment, receiver, completion);
	foreach(cell, names)
	{
		if (is_truncate)
			pe_changes_tell(strVal(lfirst(cell)));
		else
			tell_renamed(strVal(lfirst(cell)));
	}
}

void
pe_changes_init(void)
{
	previous_utility = ProcessUtility_hook;
	ProcessUtility_hook = tell_changes;
}
