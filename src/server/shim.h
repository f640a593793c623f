/*
 * shim.h
 *	  What the server's side of base/mem.h needs to know, and what it has for
 *	  those who know the server.
 */
#ifndef PE_SERVER_SHIM_H
#define PE_SERVER_SHIM_H

#include "utils/palloc.h"

/*
 * An operation begins that may take long.  From a second after this on,
 * pe_progress reports progress to the client, at most every second.  Until the
 * first call in a session nothing is said.
 */
extern void pe_progress_begin(void);

/*
 * Memory for what is exact and goes through the executor: overwritten before its
 * context is reset or deleted, also after an error.  Not zeroed, and not to be freed.
 */
extern void *pe_alloc_exact(MemoryContext context, size_t size);

/*
 * For what is exact and not of one piece: wipe(argument) is called before the context is
 * reset or deleted, also after an error, and never again.  argument must last as long.
 */
extern void pe_guard_set(MemoryContext context, void (*wipe) (void *argument), void *argument);

#endif
