/*
 * shim.c
 *	  base/mem.h as the server serves it.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "base/mem.h"
#include "server/activity.h"
#include "server/shim.h"

/* Between two messages about the same operation, and before the first one. */
#define QUIET_MILLISECONDS 1000

/* When the operation began, or when it was last heard of; 0: there is none. */
static TimestampTz heard_of = 0;

/* What the session wants to hear of, when the operation began. */
static int	level = NOTICE;

void *
pe_alloc(size_t count, size_t size)
{
	size_t		bytes;

	if (__builtin_mul_overflow(count, size, &bytes) || !AllocHugeSizeIsValid(bytes))
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("pg_epsilon cannot allocate %zu objects of %zu bytes", count, size)));
	return palloc_extended(bytes, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

void
pe_free(void *p)
{
	if (p != NULL)
		pfree(p);
}

void
pe_wipe(void *p, size_t size)
{
	explicit_bzero(p, size);
}

void
pe_guard_set(MemoryContext context, void (*wipe) (void *argument), void *argument)
{
	MemoryContextCallback *callback = MemoryContextAllocZero(context, sizeof(*callback));

	callback->func = wipe;
	callback->arg = argument;
	MemoryContextRegisterResetCallback(context, callback);
}

/* What is overwritten when its context goes. */
typedef struct exact_chunk
{
	void	   *data;
	size_t		size;
} exact_chunk;

static void
wipe_chunk(void *argument)
{
	exact_chunk *chunk = argument;

	pe_wipe(chunk->data, chunk->size);
}

void *
pe_alloc_exact(MemoryContext context, size_t size)
{
	exact_chunk *chunk = MemoryContextAlloc(context, sizeof(*chunk));

	chunk->data = MemoryContextAlloc(context, size);
	chunk->size = size;
	(void) pe_guard_set(context, wipe_chunk, chunk);
	return chunk->data;
}

void
pe_poll(void)
{
	CHECK_FOR_INTERRUPTS();
}

void
pe_progress_begin(void)
{
	heard_of = GetCurrentTimestamp();
	level = client_min_messages;
}

/*
 * While rows are read nothing is reported (PE_UNDONE) except this, which is
 * public, or of a partition that is paid for (counts/dawa.h).
 */
static void
report_step(const char *what, int step, int steps, double gap)
{
	int			saved = client_min_messages;

	client_min_messages = level;
	if (steps > 0)
		ereport(NOTICE, (errmsg("%s: pass %d of %d", what, step, steps)));
	else
		ereport(NOTICE, (errmsg("%s: evaluation %d, gap %.0e", what, step, gap)));
	client_min_messages = saved;
}

void
pe_progress(const char *what, int step, int steps, double gap)
{
	TimestampTz now = GetCurrentTimestamp();

	if (heard_of == 0 || !TimestampDifferenceExceeds(heard_of, now, QUIET_MILLISECONDS))
		return;
	heard_of = now;
	pe_activity_progress(what, step, steps, gap);
	report_step(what, step, steps, gap);
}

void
pe_random_bytes(void *buf, size_t size)
{
	if (!pg_strong_random(buf, size))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not get random bytes from the operating system")));
}

void
pe_bug(const char *what)
{
	elog(ERROR, "pg_epsilon: %s; please report a bug", what);
	pg_unreachable();
}

void
pe_damaged(const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("a strategy is damaged: %s", what)));
	pg_unreachable();
}
