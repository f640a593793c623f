/*
 * prf.c
 *	  SipHash-2-4-128.  See prf.h.
 */
#include "base/prf.h"

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

uint64_t
pe_siphash_key(const uint8_t bytes[8])
{
	return little_endian(bytes, 8);
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
