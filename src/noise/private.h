/*
 * private.h
 *	  The fields of a noise, and drawing it without an allowance: for the rooms accounting,
 *	  noise and plan alone (scripts/check_layers.sh).
 */
#ifndef PE_NOISE_PRIVATE_H
#define PE_NOISE_PRIVATE_H

#include "noise/noise.h"

struct pe_noise
{
	pe_accounting accounting;	/* PE_PURE: Laplace; else Gaussian */
	pe_u128		sensitivity;	/* PE_L2: squared */
	int64_t		nano;			/* the cost: rho or epsilon, in 1e-9 */
	int			lattice;		/* the sensitivity is that of the answers times 2^lattice */
	bool		rounded;		/* noisy sums lose digits that say nothing, so that large ones fit (noise.c) */
};

struct pe_noise_parts
{
	pe_noise	noise;
};

/*
 * Adds the noise to count exact answers, which are wiped: pe_gaussian_release or pe_laplace_release.
 * released is in units of 2^-pe_noise_shift.
 */
extern void pe_noise_release(const pe_noise *noise, pe_i128 *exact, size_t count, int64_t *released);

#endif
