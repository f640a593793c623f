/*
 * fault_noise.c
 *	  A fault between a charge and its store, for tests: no noise can be drawn.
 *
 * Linked in place of pe_gaussian_release into a library of its own, which nothing but
 * a test loads.
 */
#include "postgres.h"

#include "noise/gaussian.h"

extern void __wrap_pe_gaussian_release(pe_accounting accounting, pe_i128 *exact, size_t count, pe_u128 sensitivity_sq, int64_t nano_rho, int64_t *released);

void
__wrap_pe_gaussian_release(pe_accounting accounting, pe_i128 *exact, size_t count, pe_u128 sensitivity_sq, int64_t nano_rho, int64_t *released)
{
	ereport(ERROR,
			(errcode(ERRCODE_SYSTEM_ERROR),
			 errmsg("no noise can be drawn")));
}
