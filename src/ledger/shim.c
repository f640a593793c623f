/*
 * shim.c
 *	  core/mem.h as the server serves it.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "core/mem.h"

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
pe_poll(void)
{
	CHECK_FOR_INTERRUPTS();
}

void
pe_random_bytes(void *buf, size_t size)
{
	if (!pg_strong_random(buf, size))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("no random bytes can be had from the operating system")));
}

void
pe_bug(const char *what)
{
	elog(ERROR, "pg_epsilon: %s; please report a bug", what);
	pg_unreachable();
}
