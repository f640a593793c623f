/*
 * workload_type.c
 *	  The type dp.workload: the canonical text of a workload.
 *
 * A value is stored as text is, and what gets in is canonical, so that output,
 * sending, equality and hashes are those of the bytes and the server's own.
 */
#include "postgres.h"

#include "fmgr.h"
#include "libpq/pqformat.h"
#include "utils/builtins.h"

#include "ask/answers.h"

PG_FUNCTION_INFO_V1(pe_sql_workload_in);
PG_FUNCTION_INFO_V1(pe_sql_workload_recv);

Datum
pe_sql_workload_in(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(cstring_to_text(pe_canonical_workload(PG_GETARG_CSTRING(0))));
}

/* What a client sends is text like any other, and is read like it. */
Datum
pe_sql_workload_recv(PG_FUNCTION_ARGS)
{
	StringInfo	message = (StringInfo) PG_GETARG_POINTER(0);
	int			size;
	char	   *text = pq_getmsgtext(message, message->len - message->cursor, &size);

	PG_RETURN_TEXT_P(cstring_to_text(pe_canonical_workload(text)));
}
