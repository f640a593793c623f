/*
 * mem.h
 *	  The one shim between the rooms that know no PostgreSQL and their
 *	  host.
 *
 * The rooms without PostgreSQL (PURE_ROOMS of the Makefile) get memory, cancellation and
 * randomness through these functions and through nothing else.  In the server
 * they are implemented by src/server/shim.c (a MemoryContext,
 * CHECK_FOR_INTERRUPTS, pg_strong_random); in the unit tests by
 * test/unit/shim.c.  The choice is made by the linker: a function pointer that
 * could be reassigned would be a way in.
 *
 * None of these functions reports failure to its caller.  A function that cannot serve
 * does not return: the server raises an error, the unit tests abort.
 */
#ifndef PE_BASE_MEM_H
#define PE_BASE_MEM_H

#include <stddef.h>
#include <stdint.h>

/* Aligned to 8 bytes: the server's allocator promises no more, and 16 are assumed otherwise. */
typedef __int128 pe_i128 __attribute__((aligned(8)));
typedef unsigned __int128 pe_u128 __attribute__((aligned(8)));

/* Zeroed memory for count objects of size bytes; the product is checked. */
extern void *pe_alloc(size_t count, size_t size);

/* Frees what pe_alloc gave; NULL is allowed. */
extern void pe_free(void *p);

/* Overwrites memory that held exact data or random bits, so that no compiler may leave it out. */
extern void pe_wipe(void *p, size_t size);

/*
 * Gives the host a chance to cancel; does not return if it does.  Called at the
 * head of loops that can take long, never while exact data or undelivered noise
 * would be lost by it.
 */
extern void pe_poll(void);

/*
 * Reports to the host how far long work is: what is being done ("optimising the
 * strategy"), which step has ended (from 1) of how many, or, if steps is 0, how
 * far from the goal it is (a relative gap).  The host decides whether anybody
 * hears of it.
 */
extern void pe_progress(const char *what, int step, int steps, double gap);

/* Fills buf with size bytes from a cryptographic source; does not return if there is none. */
extern void pe_random_bytes(void *buf, size_t size);

/* Reports a state that the program's own logic rules out; does not return. */
extern void pe_bug(const char *what) __attribute__((noreturn));

/* Reports that what was kept as bytes cannot be what was written; does not return. */
extern void pe_damaged(const char *what) __attribute__((noreturn));

#endif
