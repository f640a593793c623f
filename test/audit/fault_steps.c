/*
 * fault_steps.c
 *	  A fault for the audit through the door: noise of the right size in steps
 *	  of 2, so that the lowest bit of every answer stands in clear.
 *
 * Linked in place of pe_gaussian_release into a library of its own, which nothing
 * but the audit loads.
 */
#include "noise/gaussian.h"

#include <string.h>

extern void __real_pe_gaussian_release(pe_accounting accounting, pe_i128 *exact, size_t count, pe_u128 sensitivity_sq, int64_t nano_rho, int64_t *released);
extern void __wrap_pe_gaussian_release(pe_accounting accounting, pe_i128 *exact, size_t count, pe_u128 sensitivity_sq, int64_t nano_rho, int64_t *released);

void
__wrap_pe_gaussian_release(pe_accounting accounting, pe_i128 *exact, size_t count, pe_u128 sensitivity_sq, int64_t nano_rho, int64_t *released)
{
	pe_i128	   *zero = pe_alloc(count, sizeof(pe_i128));

	memset(zero, 0, count * sizeof(pe_i128));
	__real_pe_gaussian_release(accounting, zero, count, sensitivity_sq, 4 * nano_rho, released);
	for (size_t i = 0; i < count; i++)
		released[i] = (int64_t) exact[i] + 2 * released[i];
	pe_free(zero);
}
