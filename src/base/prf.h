/*
 * prf.h
 *	  Two keyed functions whose values look random to whoever has no key.
 *
 * HMAC-SHA256 (FIPS 198-1 and 180-4) and SipHash-2-4 with 128 bits of result
 * (Aumasson, Bernstein, "SipHash: a fast short-input PRF", INDOCRYPT 2012).
 * They decide which rows of a unit count (domain/units.h); noise never comes from
 * them.  They are written here, and not taken from the server's library, because
 * that prepares the key anew for every message: four compressions of SHA-256 and
 * some allocations where two compressions do.  Measured on short messages: 0.45
 * microseconds against 0.7 to 1.1 of OpenSSL 3 with the processor's own SHA-256.
 *
 * The results depend on key and message alone, not on the machine.  Nothing
 * fails.
 */
#ifndef PE_BASE_PRF_H
#define PE_BASE_PRF_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of a key that pe_hmac_init takes at most, and of a result. */
#define PE_HMAC_KEY 64
#define PE_HMAC_SIZE 32

/* A key, as the states of SHA-256 after its two first blocks. */
typedef struct pe_hmac_key
{
	uint32_t	inner[8];
	uint32_t	outer[8];
} pe_hmac_key;

extern void pe_hmac_init(pe_hmac_key *key, const uint8_t *bytes, size_t size);
extern void pe_hmac(const pe_hmac_key *key, const void *message, size_t size, uint8_t result[PE_HMAC_SIZE]);

/* SipHash-2-4-128; result[0] and result[1] are the two halves in its order of bytes, as little-endian words. */
extern void pe_siphash(const uint64_t key[2], const void *message, size_t size, uint64_t result[2]);

#endif
