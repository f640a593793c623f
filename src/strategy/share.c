/*
 * share.c
 *	  Shares of a sensitivity.  See share.h.
 */
#include "strategy/share.h"

/* A number of four digits of 64 bits, the least first. */
typedef struct wide
{
	uint64_t	digit[4];
} wide;

/* w = w factor; what is behind the fourth digit must be 0. */
static void
multiply(wide *w, uint64_t factor)
{
	pe_u128		carry = 0;

	for (int i = 0; i < 4; i++)
	{
		carry += (pe_u128) w->digit[i] * factor;
		w->digit[i] = (uint64_t) carry;
		carry >>= 64;
	}
}

/* w / divisor, rounded up; from 2^96 on: 2^96. */
static pe_u128
divide_up(const wide *w, uint64_t divisor)
{
	uint64_t	quotient[4];
	pe_u128		rest = 0;
	pe_u128		low;

	for (int i = 3; i >= 0; i--)
	{
		rest = rest << 64 | w->digit[i];
		quotient[i] = (uint64_t) (rest / divisor);
		rest %= divisor;
	}
	low = (pe_u128) quotient[1] << 64 | quotient[0];
	return quotient[3] != 0 || quotient[2] != 0 || low >= PE_LARGEST_SENSITIVITY
		? PE_LARGEST_SENSITIVITY : low + (rest > 0);
}

/*
 * So often times 4 (PE_L1: 2) until 2^-40 of it is 1.  At most 96 + 106 bits, and as many more as what is below 2^40
 * lacks.
 */
bool
pe_share_calibrate(pe_norm norm, pe_u128 largest, const uint64_t *factor, int factors, uint64_t share,
				   pe_u128 *sensitivity, int *lattice)
{
	wide		w = {{(uint64_t) largest, (uint64_t) (largest >> 64)}};

	for (int i = 0; i < factors; i++)
		multiply(&w, factor[i]);
	*lattice = 0;
	while ((*sensitivity = divide_up(&w, share)) < (pe_u128) 1 << 40)
	{
		multiply(&w, norm == PE_L2 ? 4 : 2);
		++*lattice;
	}
	return *sensitivity < PE_LARGEST_SENSITIVITY;
}
