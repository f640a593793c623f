/*
 * notices.c
 *	  NOTICEs that wait.  See notices.h.
 */
#include "postgres.h"

#include "fdw/notices.h"

static pe_held_notices now;

/* Outside of any error: the stack of errors has this NOTICE alone. */
void
pe_notice_finish(const char *file, int line, const char *function)
{
	MemoryContext old;

	if (!now.holds)
	{
		errfinish(file, line, function);
		return;
	}
	old = MemoryContextSwitchTo(now.memory);
	now.held = lappend(now.held, CopyErrorData());
	FlushErrorState();
	MemoryContextSwitchTo(old);
}

void
pe_notices_hold(pe_held_notices *before)
{
	*before = now;
	now = (pe_held_notices) {.holds = true, .memory = CurrentMemoryContext};
}

/* A statement in a function of another one is answered, also if that is refused: its NOTICEs do not wait. */
void
pe_notices_release(const pe_held_notices *before, bool send)
{
	List	   *held = now.held;
	ListCell   *cell;

	now = *before;
	foreach(cell, send ? held : NIL)
		ThrowErrorData(lfirst(cell));
}
