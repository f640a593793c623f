/*
 * shim.h
 *	  What the unit tests may ask of their implementation of base/mem.h.
 */
#ifndef PE_TEST_SHIM_H
#define PE_TEST_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * pe_random_bytes serves a reproducible stream from now on.  Not
 * cryptographic: for tests that must do the same thing twice.
 */
extern void pe_test_seed(uint64_t seed);

/* pe_random_bytes serves the system's randomness again (as at the start). */
extern void pe_test_unseed(void);

/* Does body(arg) end in pe_bug?  (Elsewhere pe_bug aborts the program.) */
extern bool pe_test_is_bug(void (*body) (void *arg), void *arg);

/* The same of a body whose memory is its own: what it has allocated and left is freed. */
extern bool pe_test_stops_with_bug(void (*body) (void *arg), void *arg);

/* How often pe_poll was called. */
extern uint64_t pe_test_polls(void);

/* How often pe_progress was called. */
extern uint64_t pe_test_steps(void);

/*
 * The most bytes from pe_alloc at one time since the last call, above what is in
 * use now.  Blocks count with what the C library rounds them up to.
 */
extern size_t pe_test_memory(void);

#endif
