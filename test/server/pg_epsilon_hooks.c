/*
 * pg_epsilon_hooks.c
 *	  A module that looks at every statement, as those do that collect statistics: for
 *	  a test of what such a module sees of pg_epsilon's own statements.  Scans of rows can be
 *	  made to wait before they are planned.
 *
 * Loaded by session_preload_libraries.  `make install` leaves this out.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "optimizer/planner.h"
#include "parser/analyze.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/inval.h"
#include "utils/memutils.h"

#include "server/compat.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(pe_test_seen);

void		_PG_init(void);

static post_parse_analyze_hook_type next_parsed;
static planner_hook_type next_planner;
static ExecutorStart_hook_type next_start;
static ExecutorRun_hook_type next_run;
static ExecutorFinish_hook_type next_finish;
static ExecutorEnd_hook_type next_end;

static StringInfoData seen;

/* pg_epsilon_hooks.wait: the advisory lock that is awaited before a scan of rows is planned; 0: none. */
static int	wait = 0;

static void
note(const char *hook, const char *text, uint64 rows)
{
	appendStringInfo(&seen, "%s " UINT64_FORMAT " ", hook, rows);
	for (; *text != '\0'; text++)
		appendStringInfoChar(&seen, *text == '\n' ? ' ' : *text);
	appendStringInfoChar(&seen, '\n');
}

static void
hooks_parsed(ParseState *state, Query *query, JumbleState *jumble)
{
	note("parsed", state->p_sourcetext, 0);
	if (next_parsed)
		next_parsed(state, query, jumble);
}

static PlannedStmt *
hooks_planner(Query *query, const char *text, int options, ParamListInfo parameters)
{
	if (wait != 0 && strstr(text, "dp_internal.read_rows") != NULL)
	{
		DirectFunctionCall1(pg_advisory_lock_int8, Int64GetDatum(wait));
		DirectFunctionCall1(pg_advisory_unlock_int8, Int64GetDatum(wait));
		AcceptInvalidationMessages();	/* as the lock of any other table does */
	}
	return (next_planner ? next_planner : standard_planner) (query, text, options, parameters);
}

static void
hooks_start(QueryDesc *query, int flags)
{
	note("start", query->sourceText, 0);
	(next_start ? next_start : standard_ExecutorStart) (query, flags);
}

static void
hooks_run(PE_RUN_PARAMETERS)
{
	note("run", query->sourceText, 0);
	(next_run ? next_run : standard_ExecutorRun) (PE_RUN_ARGUMENTS);
}

static void
hooks_finish(QueryDesc *query)
{
	note("finish", query->sourceText, 0);
	(next_finish ? next_finish : standard_ExecutorFinish) (query);
}

static void
hooks_end(QueryDesc *query)
{
	note("end", query->sourceText, query->estate->es_processed);
	(next_end ? next_end : standard_ExecutorEnd) (query);
}

/* pe_test_seen(): what was seen since the last call. */
Datum
pe_test_seen(PG_FUNCTION_ARGS)
{
	text	   *all = cstring_to_text_with_len(seen.data, seen.len);

	resetStringInfo(&seen);
	PG_RETURN_TEXT_P(all);
}

void
_PG_init(void)
{
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);

	initStringInfo(&seen);
	MemoryContextSwitchTo(old);
	DefineCustomIntVariable("pg_epsilon_hooks.wait", "The advisory lock that scans of rows await.", NULL, &wait, 0, 0, INT_MAX,
							PGC_USERSET, 0, NULL, NULL, NULL);
	next_parsed = post_parse_analyze_hook;
	post_parse_analyze_hook = hooks_parsed;
	next_planner = planner_hook;
	planner_hook = hooks_planner;
	next_start = ExecutorStart_hook;
	ExecutorStart_hook = hooks_start;
	next_run = ExecutorRun_hook;
	ExecutorRun_hook = hooks_run;
	next_finish = ExecutorFinish_hook;
	ExecutorFinish_hook = hooks_finish;
	next_end = ExecutorEnd_hook;
	ExecutorEnd_hook = hooks_end;
}
