/*
 * fault_floats.c
 *	  A fault for the audit through the door: the normal number of a textbook,
 *	  by Box and Muller, added in floating point.
 *
 * What is released is the double itself in units of 2^-54, as in faults.h.  Linked
 * in place of pe_gaussian_release into a library of its own, which nothing but the
 * audit loads.
 */
#include "noise/gaussian.h"

#include <math.h>

extern void __wrap_pe_gaussian_release(pe_accounting accounting, pe_i128 *exact, size_t count, pe_u128 sensitivity_sq, int64_t nano_rho, int64_t *released);

static double
float_normal(void)
{
	uint64_t	word[2];

	pe_random_bytes(word, sizeof(word));
	return sqrt(-2 * log(ldexp((double) (word[0] >> 11) + 1, -53))) * cos(2 * acos(-1) * ldexp((double) (word[1] >> 11), -53));
}

void
__wrap_pe_gaussian_release(pe_accounting accounting, pe_i128 *exact, size_t count, pe_u128 sensitivity_sq, int64_t nano_rho, int64_t *released)
{
	double		sigma = pe_gaussian_stderr(PE_ZCDP, sensitivity_sq, nano_rho);

	for (size_t i = 0; i < count; i++)
		released[i] = (int64_t) ldexp((double) exact[i] + sigma * float_normal(), 54);
}
