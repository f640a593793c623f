/*
 * noise.h
 *	  The noise of a release: which mechanism, how wide, what it costs.
 *
 * The norm of the sensitivity decides: PE_L2 is the Gaussian mechanism, which
 * costs rho (gaussian.h), PE_L1 the discrete Laplace mechanism, which costs a
 * pure epsilon (laplace.h).  What is released, for which neighbours and by which
 * theorem is said there.
 */
#ifndef PE_NOISE_NOISE_H
#define PE_NOISE_NOISE_H

#include <stddef.h>
#include <stdint.h>

#include "strategy/strategy.h"

typedef struct pe_noise
{
	pe_norm		norm;
	pe_u128		sensitivity;	/* PE_L2: squared */
	int64_t		nano;			/* the cost: rho or epsilon, in 1e-9 */
} pe_noise;

/* The standard deviation, in units of the answers; infinity for what cannot be calibrated. */
extern double pe_noise_stderr(const pe_noise *noise);

/*
 * The least cost in nano-units at which scale > 0 standard deviations are at most
 * max_stderr > 0; 0 if there is none up to 2^62.  noise->nano is not looked at.
 */
extern int64_t pe_noise_least_nano(const pe_noise *noise, double max_stderr, double scale);

/* Adds the noise to count exact answers, which are wiped: pe_gaussian_release or pe_laplace_release. */
extern void pe_noise_release(const pe_noise *noise, pe_i128 *exact, size_t count, int64_t *released);

#endif
