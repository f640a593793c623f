/*
 * bits.h
 *	  A buffered source of uniform random bits for one operation.
 *
 * A pe_bits is owned by its caller: created for one release, used, wiped.  It
 * is never static, so no two processes inherit the same unread bits through a
 * fork.  The bits come from pe_random_bytes: a little at first, because most releases
 * have few numbers, then 16 kB at a time.  Every bit is served at most once.
 *
 * An all-zero pe_bits is a valid, empty source: after pe_bits_wipe a further
 * draw fetches fresh bytes and never serves wiped ones.
 */
#ifndef PE_NOISE_BITS_H
#define PE_NOISE_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"

/* Bytes of the largest fetch, and of the first. */
#define PE_BITS_BYTES 16384
#define PE_BITS_FIRST_BYTES 512

/* Bounds up to this are served from 32 bits, with less than 1 draw in 32 repeated. */
#define PE_BITS_SHORT_BOUND (UINT64_C(1) << 27)

typedef struct pe_bits
{
	size_t		unread;			/* bytes not yet served, at the end of the buffer */
	size_t		fetched;		/* bytes of the last fetch; 0: there was none */
	uint64_t	spare;			/* single bits waiting to be served, lowest first */
	unsigned	spares;			/* how many of them */
	unsigned char buffer[PE_BITS_BYTES];
} pe_bits;

/* Makes bits an empty source; the first draw fetches bytes. */
extern void pe_bits_init(pe_bits *bits);

/* Overwrites everything, served or not.  To be called when the operation ends. */
extern void pe_bits_wipe(pe_bits *bits);

/* Fetches fresh bytes, more each time; what was left is dropped.  Raises an error if there is no randomness. */
extern void pe_bits_refill(pe_bits *bits);

/* Uniform below m, m >= 1, by rejection on 128 bits; pe_bug if m = 0. */
extern pe_u128 pe_bits_below128(pe_bits *bits, pe_u128 m);

/* Reports m = 0; kept out of line. */
extern void pe_bits_bad_bound(void) __attribute__((noreturn));

/*
 * Copies the next size bytes (4 or 8) to word.  What is left of the buffer when
 * it is too short is dropped.
 */
static inline void
pe_bits_take(pe_bits *bits, void *word, size_t size)
{
	if (__builtin_expect(bits->unread < size, 0))
		pe_bits_refill(bits);
	memcpy(word, bits->buffer + (PE_BITS_BYTES - bits->unread), size);
	bits->unread -= size;
}

/* The next 64 bits. */
static inline uint64_t
pe_bits_next64(pe_bits *bits)
{
	uint64_t	word;

	pe_bits_take(bits, &word, sizeof(word));
	return word;
}

/* The next 32 bits. */
static inline uint32_t
pe_bits_next32(pe_bits *bits)
{
	uint32_t	word;

	pe_bits_take(bits, &word, sizeof(word));
	return word;
}

/* One fair bit. */
static inline bool
pe_bits_next1(pe_bits *bits)
{
	bool		bit;

	if (bits->spares == 0)
	{
		bits->spare = pe_bits_next64(bits);
		bits->spares = 64;
	}
	bit = bits->spare & 1;
	bits->spare >>= 1;
	bits->spares--;
	return bit;
}

/*
 * Uniform below m, m >= 1, exactly; pe_bug if m = 0.
 *
 * Lemire, ACM TOMACS 29(1), 2019: the high half of word * m, where words whose
 * low half is below 2^w mod m are drawn again.  Then every result has the same
 * number of words, floor(2^w / m).
 */
static inline uint64_t
pe_bits_below(pe_bits *bits, uint64_t m)
{
	if (m <= PE_BITS_SHORT_BOUND)
	{
		uint32_t	m32 = (uint32_t) m;
		uint64_t	product = (uint64_t) pe_bits_next32(bits) * m32;

		if (__builtin_expect((uint32_t) product < m32 || m32 == 0, 0))
		{
			uint32_t	uneven;

			if (m32 == 0)
				pe_bits_bad_bound();
			uneven = -m32 % m32;
			while ((uint32_t) product < uneven)
				product = (uint64_t) pe_bits_next32(bits) * m32;
		}
		return product >> 32;
	}
	else
	{
		pe_u128		product = (pe_u128) pe_bits_next64(bits) * m;

		if (__builtin_expect((uint64_t) product < m, 0))
		{
			uint64_t	uneven = -m % m;

			while ((uint64_t) product < uneven)
				product = (pe_u128) pe_bits_next64(bits) * m;
		}
		return (uint64_t) (product >> 64);
	}
}

/* ----------
 * Sums of answers and noise, brought into the range of int64.
 *
 * A function of the noisy value alone: post-processing.
 * ----------
 */

/*
 * a + b, brought into the range of int64.  Where even 128 bits overflow, both
 * have the same sign, and the true sum is beyond int64 on that side.
 */
static inline int64_t
pe_saturated_sum(pe_i128 a, pe_i128 b)
{
	pe_i128		sum;

	if (__builtin_add_overflow(a, b, &sum))
		return a < 0 ? INT64_MIN : INT64_MAX;
	if (sum > INT64_MAX)
		return INT64_MAX;
	if (sum < INT64_MIN)
		return INT64_MIN;
	return (int64_t) sum;
}

/* The same, rounded to a multiple of 2^down first, of two the even one, and in units of it. */
static inline int64_t
pe_rounded_sum(pe_i128 a, pe_i128 b, int down)
{
	pe_i128		sum;
	pe_i128		whole;
	pe_i128		twice;

	if (down == 0 || __builtin_add_overflow(a, b, &sum))
		return pe_saturated_sum(a, b);
	whole = sum >> down;
	twice = 2 * (sum - whole * ((pe_i128) 1 << down)) - ((pe_i128) 1 << down);
	return pe_saturated_sum(whole, twice > 0 || (twice == 0 && (whole & 1) != 0));
}

#endif
