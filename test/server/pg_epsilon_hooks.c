/*
 * pg_epsilon_hooks.c
 *	  A module that looks at every statement, as those do that collect statistics: for
 *	  a test of what such a module sees of pg_epsilon's own statements.
 *
 * Loaded by session_preload_libraries.  `make install` leaves this out.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "parser/analyze.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "server/compat.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(pe_test_seen);

void		_PG_init(void);

static post_parse_analyze_hook_type next_parsed;
static ExecutorStart_hook_type next_start;
static ExecutorRun_hook_type next_run;
static ExecutorFinish_hook_type next_finish;
static ExecutorEnd_hook_type next_end;

static StringInfoData seen;

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
	next_parsed = post_parse_analyze_hook;
	post_parse_analyze_hook = hooks_parsed;
	next_start = ExecutorStart_hook;
	ExecutorStart_hook = hooks_start;
	next_run = ExecutorRun_hook;
	ExecutorRun_hook = hooks_run;
	next_finish = ExecutorFinish_hook;
	ExecutorFinish_hook = hooks_finish;
	next_end = ExecutorEnd_hook;
	ExecutorEnd_hook = hooks_end;
}
