/*
 * lazy_exp.h
 *	  Exact decisions "V a < b 2^s exp(-x)" for a uniform real V and a rational x.
 *
 * Every exact sampler of this room accepts or rejects by such a decision.  V is
 * a uniform real of [0,1) whose first bits are given and whose further bits are
 * drawn only when they matter.  A decision is taken only when an enclosure of
 * both sides proves it, and bits of V are never drawn twice, so its law is
 * that of the real comparison, exactly:
 *
 * 1. in double, with a margin that covers every rounding error
 *	  (pe_lazy_quick): this settles all but about 2^-39 of the cases;
 * 2. in fixed point with 4, 8, 16, 32, 64 limbs of 64 bits, and as many more as s asks
 *	  for (pe_lazy_less_exact).
 *
 * No result depends on the last digits of libm's exp: it only has to be right
 * to a relative 2^-45, which is 2^7 times worse than its documented error.
 */
#ifndef PE_NOISE_LAZY_EXP_H
#define PE_NOISE_LAZY_EXP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "noise/bits.h"

/*
 * Relative margin of the decisions in double.  It covers exp (2^-45), the
 * rounding of V and of the products with the margin (together below 2^-49).
 * The caller that computes the exponent adds the exponent's own error.
 */
#define PE_LAZY_MARGIN 0x1p-40

/* Absolute margin: 64 known bits of V leave 2^-64, an underflow of exp less. */
#define PE_LAZY_FLOOR 0x1p-60

/* The largest power of two that an exponential may be multiplied by. */
#define PE_LAZY_SCALE 4096

/* An unsigned integer of 256 bits, lowest limb first. */
typedef struct pe_wide
{
	uint64_t	limb[4];
} pe_wide;

/*
 * The claim V a < b 2^scale exp(-x) with x = n1/d1 + n2/d2 - shift.
 *
 * Required: x >= 0, 0 < d1, d2 < 2^255, a >= 1, b >= 1, shift < 2^60, scale <=
 * PE_LAZY_SCALE.  A term that is not needed is 0/1; scale is 0 for all who do not
 * compare with an exponential far below 1.
 */
typedef struct pe_lazy_claim
{
	uint64_t	a;
	uint64_t	b;
	pe_wide		n1;
	pe_wide		d1;
	pe_wide		n2;
	pe_wide		d2;
	uint64_t	shift;
	uint32_t	scale;
} pe_lazy_claim;

typedef enum pe_lazy_answer
{
	PE_LAZY_NO,
	PE_LAZY_YES,
	PE_LAZY_UNSURE
} pe_lazy_answer;

/* value as 256 bits */
extern pe_wide pe_wide_from(pe_u128 value);

/* x y; always fits */
extern pe_wide pe_wide_product(pe_u128 x, pe_u128 y);

/* x m; pe_bug if it does not fit 256 bits */
extern pe_wide pe_wide_times(pe_wide x, uint64_t m);

/*
 * Decides the claim exactly by fixed-point enclosures.
 *
 * first holds the first 64 bits of V; the others are drawn from bits.  Takes
 * a few microseconds.  pe_bug if 4096 bits of V do not decide (chance below
 * 2^-3900) or the claim is malformed.
 */
extern bool pe_lazy_less_exact(const pe_lazy_claim *claim, uint64_t first, pe_bits *bits);

/*
 * Decides V < P in double, or declines.
 *
 * V is known to lie in [low, high].  estimate is a double near P and relative
 * bounds its relative error as follows: |estimate - P| <= (relative - 2^-44)
 * estimate + 2^-61.  low and high may carry a relative rounding error of 2^-53
 * and an absolute one of 2^-63; the two margins leave room for both, and for the
 * rounding of the two right-hand sides (2^-51), as long as relative <= 2^6 or
 * estimate = 0.
 *
 * An infinite relative always declines: (1 - inf) and (1 + inf) times estimate
 * are infinite or NaN, and both comparisons are false.
 */
static inline pe_lazy_answer
pe_lazy_quick(double low, double high, double estimate, double relative)
{
	if (high < estimate * (1.0 - relative) - PE_LAZY_FLOOR)
		return PE_LAZY_YES;
	if (low > estimate * (1.0 + relative) + PE_LAZY_FLOOR)
		return PE_LAZY_NO;
	return PE_LAZY_UNSURE;
}

#endif
