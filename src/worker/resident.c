/*
 * resident.c
 *	  Workers that stay.  See mailbox.h.
 *
 * A database cannot be dropped, renamed, moved or copied while somebody is
 * connected to it.  A worker that stays would stand in the way for ever: the
 * server waits five seconds for others to leave, so it is asked to before that
 * wait begins.  The next request starts another one.  Who may not do that to the
 * database cannot send its worker away either.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_database.h"
#include "commands/dbcommands.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "tcop/utility.h"
#include "utils/acl.h"
#include "utils/syscache.h"

#include "worker/mailbox.h"

static ProcessUtility_hook_type previous_utility;

/* The database that CREATE DATABASE copies. */
static const char *
template_of(const CreatedbStmt *statement)
{
	ListCell   *cell;

	foreach(cell, statement->options)
	{
		DefElem    *option = lfirst_node(DefElem, cell);

		if (strcmp(option->defname, "template") == 0 && option->arg != NULL)
			return defGetString(option);
	}
	return "template1";
}

/* The database that a statement needs for itself; NULL: none. */
static const char *
database_of(const Node *statement)
{
	switch (nodeTag(statement))
	{
		case T_DropdbStmt:
			return ((const DropdbStmt *) statement)->dbname;
		case T_AlterDatabaseStmt:	/* SET TABLESPACE is one */
			return ((const AlterDatabaseStmt *) statement)->dbname;
		case T_CreatedbStmt:
			return template_of((const CreatedbStmt *) statement);
		case T_RenameStmt:
			return ((const RenameStmt *) statement)->renameType == OBJECT_DATABASE
				? ((const RenameStmt *) statement)->subname : NULL;
		default:
			return NULL;
	}
}

/* Whether the statement is one for the current user: the database is his own, or a template to be copied. */
static bool
may_have(Oid database, const Node *statement)
{
	HeapTuple	tuple = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(database));
	bool		may = false;

	if (HeapTupleIsValid(tuple))
	{
		Form_pg_database form = (Form_pg_database) GETSTRUCT(tuple);

		may = has_privs_of_role(GetUserId(), form->datdba) || (IsA(statement, CreatedbStmt) && form->datistemplate);
		ReleaseSysCache(tuple);
	}
	return may;
}

static void
clear_the_way(PlannedStmt *statement, const char *text, bool read_only_tree, ProcessUtilityContext context,
			  ParamListInfo parameters, QueryEnvironment *environment, DestReceiver *receiver,
			  QueryCompletion *completion)
{
	const char *name = database_of(statement->utilityStmt);
	Oid			database = name != NULL ? get_database_oid(name, true) : InvalidOid;

	if (OidIsValid(database) && may_have(database, statement->utilityStmt))
		pe_mailbox_ask_to_leave(database);
	(previous_utility != NULL ? previous_utility
	 : standard_ProcessUtility) (statement, text, read_only_tree, context, parameters,
								environment, receiver, completion);
}

void
pe_resident_init(void)
{
	if (!process_shared_preload_libraries_in_progress)
		return;
	pe_board_request();
	previous_utility = ProcessUtility_hook;
	ProcessUtility_hook = clear_the_way;
}
