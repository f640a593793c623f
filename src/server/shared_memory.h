/*
 * shared_memory.h
 *	  Pieces of the server's shared memory, where the library is preloaded.
 */
#ifndef PE_SERVER_SHARED_MEMORY_H
#define PE_SERVER_SHARED_MEMORY_H

#include "storage/lwlock.h"

/* A piece, which lasts as long as the process. */
typedef struct pe_shared
{
	const char *name;			/* of the piece, and of its lock's tranche */
	Size		(*size) (void);

	/* Takes it, in each process that attaches to it; found: another process has made it already. */
	void		(*start) (void *memory, LWLock *lock, bool found);
	struct pe_shared *next;		/* set by the call below */
} pe_shared;

/* In _PG_init, in the postmaster: asks for a piece, with one lock.  Elsewhere it must not be called. */
extern void pe_shared_request(pe_shared *piece);

#endif
