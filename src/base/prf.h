/*
 * prf.h
 *	  A keyed function whose values look random without the key: SipHash-2-4
 *	  with 128 bits of result (Aumasson and Bernstein, "SipHash: a fast
 *	  short-input PRF", INDOCRYPT 2012).
 *
 * It is designed as a pseudorandom function under a secret key of 128 bits, for
 * messages that an adversary chooses and whose values he sees; the best attack
 * known on 2-4 is the search for the key.  That is what its uses ask for:
 *
 * - which rows of a unit count (domain/units.h, glm/row_tiles.h).  Sensitivity
 *   needs no more of it than that it is a function: a unit's rows are cut by
 *   what they are, under any key.  That it looks random keeps units apart and
 *   makes the choice one that no writer of rows can steer;
 * - the coins of Poisson sampling (glm/pass.h), one per unit and pass under a
 *   fresh key that is wiped.  That a sample costs less rests on coins that are
 *   indistinguishable from independent uniform ones: on the PRF, as noise rests
 *   on the system's generator.
 *
 * Noise never comes from it.  Each use has a key of its own, but the hashes of
 * units and of rows, which are never compared with each other.
 *
 * The results depend on key and message alone, not on the machine.  Nothing
 * fails.
 */
#ifndef PE_BASE_PRF_H
#define PE_BASE_PRF_H

#include <stddef.h>
#include <stdint.h>

/* SipHash-2-4-128; result[0] and result[1] are the two halves in its order of bytes, as little-endian words. */
extern void pe_siphash(const uint64_t key[2], const void *message, size_t size, uint64_t result[2]);

/* Half of the key of 16 bytes, as a little-endian word. */
extern uint64_t pe_siphash_key(const uint8_t bytes[8]);

#endif
