/*
 * formats.c
 *	  Rows that a newer library wrote.  See formats.h.
 */
#include "postgres.h"

#include "ledger/formats.h"

void
pe_format_refuse(const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("%s was written by a newer version of pg_epsilon", what),
			 errdetail("This version would misread it. Nothing was charged."),
			 errhint("Update the extension's library on this server.")));
}
