/*
 * share.h
 *	  Shares of a sensitivity, for several vectors that one cost pays for.
 *
 * Vectors v_i with sensitivities Delta_i get noise as if each had the sensitivity
 * Delta_i / sqrt(share_i) (PE_L1: Delta_i / share_i).  Where the shares add up to at most 1,
 * sum_i |v_i - v_i'|^2 share_i / Delta_i^2 <= 1 for all neighbours (PE_L1: the same of norms): what
 * the draw of several vectors for one cost asks for (noise/noise.h).
 */
#ifndef PE_STRATEGY_SHARE_H
#define PE_STRATEGY_SHARE_H

#include "base/mem.h"
#include "optimum/design.h"

/* A share is a whole number of 2^-PE_SHARE_BITS. */
#define PE_SHARE_BITS 40
#define PE_WHOLE_SHARE (UINT64_C(1) << PE_SHARE_BITS)

/* No sampler serves a sensitivity (PE_L2: squared) from here on. */
#define PE_LARGEST_SENSITIVITY ((pe_u128) 1 << 96)

/*
 * largest times all factors / share, rounded up: the sensitivity (PE_L2:
 * squared) that a vector is drawn for.  One of the factors is in units of
 * 2^-PE_SHARE_BITS, like the share.  The answers are to be multiplied by
 * 2^lattice first, which makes the sensitivity so large that rounding loses at
 * most 2^-40 of it.  largest is below 2^96, and the factors have at most 106
 * bits together.  False if the result is 2^96 or more.
 */
extern bool pe_share_calibrate(pe_norm norm, pe_u128 largest, const uint64_t *factor, int factors, uint64_t share,
							   pe_u128 *sensitivity, int *lattice);

#endif
