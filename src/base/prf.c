/*
 * prf.c
 *	  HMAC-SHA256 and SipHash-2-4-128.  See prf.h.
 */
#include "base/prf.h"

#include <string.h>

#include "base/mem.h"

/* ------------------------------------------------------------------
 * SHA-256
 * ------------------------------------------------------------------
 */

#define BLOCK 64

static const uint32_t initial[8] = {
	0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19
};

static const uint32_t constant[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2
};

static uint32_t
rotate(uint32_t x, int bits)
{
	return x >> bits | x << (32 - bits);
}

static uint32_t
word_of_bytes(const uint8_t *bytes)
{
	return (uint32_t) bytes[0] << 24 | (uint32_t) bytes[1] << 16 | (uint32_t) bytes[2] << 8 | bytes[3];
}

static void
bytes_of_word(uint32_t word, uint8_t *bytes)
{
	for (int i = 0; i < 4; i++)
		bytes[i] = (uint8_t) (word >> (24 - 8 * i));
}

/*
 * One of the 64 steps.  It changes two of the eight words; which role a word has
 * moves on by one from step to step, so eight steps leave every word in its place.
 */
static inline void
step(uint32_t a, uint32_t b, uint32_t c, uint32_t *d, uint32_t e, uint32_t f, uint32_t g, uint32_t *h, uint32_t added)
{
	uint32_t	t1 = *h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + added;

	*d += t1;
	*h = t1 + (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
}

/* FIPS 180-4, 6.2.2: one block into the state. */
static void
compress(uint32_t state[8], const uint8_t *block)
{
	uint32_t	w[64];
	uint32_t	a = state[0], b = state[1], c = state[2], d = state[3],
				e = state[4], f = state[5], g = state[6], h = state[7];

	for (int t = 0; t < 16; t++)
		w[t] = word_of_bytes(block + 4 * t);
	for (int t = 16; t < 64; t++)
		w[t] = w[t - 16] + w[t - 7] +
			(rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ w[t - 15] >> 3) +
			(rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ w[t - 2] >> 10);
	for (int t = 0; t < 64; t += 8)
	{
		step(a, b, c, &d, e, f, g, &h, constant[t] + w[t]);
		step(h, a, b, &c, d, e, f, &g, constant[t + 1] + w[t + 1]);
		step(g, h, a, &b, c, d, e, &f, constant[t + 2] + w[t + 2]);
		step(f, g, h, &a, b, c, d, &e, constant[t + 3] + w[t + 3]);
		step(e, f, g, &h, a, b, c, &d, constant[t + 4] + w[t + 4]);
		step(d, e, f, &g, h, a, b, &c, constant[t + 5] + w[t + 5]);
		step(c, d, e, &f, g, h, a, &b, constant[t + 6] + w[t + 6]);
		step(b, c, d, &e, f, g, h, &a, constant[t + 7] + w[t + 7]);
	}
	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
	state[4] += e;
	state[5] += f;
	state[6] += g;
	state[7] += h;
}

/* The rest of a message, of which one block is in the state already, and its end. */
static void
finish(uint32_t state[8], const uint8_t *message, size_t size, uint8_t digest[PE_HMAC_SIZE])
{
	uint64_t	bits = ((uint64_t) size + BLOCK) * 8;
	uint8_t		last[2 * BLOCK] = {0};
	size_t		length;

	for (; size >= BLOCK; message += BLOCK, size -= BLOCK)
		compress(state, message);
	if (size > 0)
		memcpy(last, message, size);
	last[size] = 0x80;
	length = size + 9 <= BLOCK ? BLOCK : 2 * BLOCK;
	bytes_of_word((uint32_t) (bits >> 32), last + length - 8);
	bytes_of_word((uint32_t) bits, last + length - 4);
	for (size_t at = 0; at < length; at += BLOCK)
		compress(state, last + at);
	for (int i = 0; i < 8; i++)
		bytes_of_word(state[i], digest + 4 * i);
}

/* ------------------------------------------------------------------
 * HMAC
 * ------------------------------------------------------------------
 */

void
pe_hmac_init(pe_hmac_key *key, const uint8_t *bytes, size_t size)
{
	uint8_t		inner[BLOCK];
	uint8_t		outer[BLOCK];

	if (size > PE_HMAC_KEY)
		pe_bug("a key that is too long");
	for (size_t i = 0; i < BLOCK; i++)
	{
		uint8_t		byte = i < size ? bytes[i] : 0;

		inner[i] = byte ^ 0x36;
		outer[i] = byte ^ 0x5c;
	}
	memcpy(key->inner, initial, sizeof(initial));
	memcpy(key->outer, initial, sizeof(initial));
	compress(key->inner, inner);
	compress(key->outer, outer);
	pe_wipe(inner, sizeof(inner));
	pe_wipe(outer, sizeof(outer));
}

void
pe_hmac(const pe_hmac_key *key, const void *message, size_t size, uint8_t result[PE_HMAC_SIZE])
{
	uint32_t	state[8];

	memcpy(state, key->inner, sizeof(state));
	finish(state, message, size, result);
	memcpy(state, key->outer, sizeof(state));
	finish(state, result, PE_HMAC_SIZE, result);
}

/* ------------------------------------------------------------------
 * SipHash
 * ------------------------------------------------------------------
 */

static uint64_t
rotate_left(uint64_t x, int bits)
{
	return x << bits | x >> (64 - bits);
}

static void
sip_rounds(uint64_t v[4], int rounds)
{
	for (int i = 0; i < rounds; i++)
	{
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotate_left(v[1], 13) ^ v[0];
		v[3] = rotate_left(v[3], 16) ^ v[2];
		v[0] = rotate_left(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = rotate_left(v[1], 17) ^ v[2];
		v[3] = rotate_left(v[3], 21) ^ v[0];
		v[2] = rotate_left(v[2], 32);
	}
}

/* Up to eight bytes as a little-endian word. */
static uint64_t
little_endian(const uint8_t *bytes, size_t size)
{
	uint64_t	word = 0;

	for (size_t i = 0; i < size; i++)
		word |= (uint64_t) bytes[i] << (8 * i);
	return word;
}

static void
sip_absorb(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	sip_rounds(v, 2);
	v[0] ^= word;
}

void
pe_siphash(const uint64_t key[2], const void *message, size_t size, uint64_t result[2])
{
	const uint8_t *bytes = message;
	size_t		rest = size % 8;
	uint64_t	v[4] = {
		key[0] ^ UINT64_C(0x736f6d6570736575), key[1] ^ UINT64_C(0x646f72616e646f6d) ^ 0xee,
		key[0] ^ UINT64_C(0x6c7967656e657261), key[1] ^ UINT64_C(0x7465646279746573)
	};

	for (size_t at = 0; at + 8 <= size; at += 8)
		sip_absorb(v, little_endian(bytes + at, 8));
	sip_absorb(v, (uint64_t) size << 56 | (rest > 0 ? little_endian(bytes + size - rest, rest) : 0));
	v[2] ^= 0xee;
	sip_rounds(v, 4);
	result[0] = v[0] ^ v[1] ^ v[2] ^ v[3];
	v[1] ^= 0xdd;
	sip_rounds(v, 4);
	result[1] = v[0] ^ v[1] ^ v[2] ^ v[3];
}
