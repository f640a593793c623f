/*
 * bits.c
 *	  A buffered source of uniform random bits for one operation.
 */
#include "noise/bits.h"

void
pe_bits_init(pe_bits *bits)
{
	bits->unread = 0;
	bits->fetched = 0;
	bits->spare = 0;
	bits->spares = 0;
}

void
pe_bits_wipe(pe_bits *bits)
{
	/* fetches grow and are kept at the end: what is before the last one was never written */
	pe_wipe(bits->buffer + PE_BITS_BYTES - bits->fetched, bits->fetched);
	pe_wipe(bits, offsetof(pe_bits, buffer));
}

void
pe_bits_refill(pe_bits *bits)
{
	size_t		size = bits->fetched == 0 ? PE_BITS_FIRST_BYTES : bits->fetched * 8;

	bits->fetched = size < PE_BITS_BYTES ? size : PE_BITS_BYTES;
	pe_random_bytes(bits->buffer + PE_BITS_BYTES - bits->fetched, bits->fetched);
	bits->unread = bits->fetched;
}

void
pe_bits_bad_bound(void)
{
	pe_bug("uniform draw below 0");
}

pe_u128
pe_bits_below128(pe_bits *bits, pe_u128 m)
{
	pe_u128		mask;

	if (m == 0)
		pe_bits_bad_bound();
	if (m <= UINT64_MAX)
		return pe_bits_below(bits, (uint64_t) m);

	/* the ones below the highest bit of m - 1: a draw is kept with chance above 1/2 */
	mask = m - 1;
	for (int shift = 1; shift < 128; shift *= 2)
		mask |= mask >> shift;
	for (;;)
	{
		pe_u128		high = pe_bits_next64(bits);
		pe_u128		draw = (high << 64 | pe_bits_next64(bits)) & mask;

		if (draw < m)
			return draw;
	}
}
