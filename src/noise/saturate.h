/*
 * saturate.h
 *	  Sums of answers and noise, brought into the range of int64.
 *
 * A function of the noisy value alone: post-processing.
 */
#ifndef PE_NOISE_SATURATE_H
#define PE_NOISE_SATURATE_H

#include <stdint.h>

#include "base/mem.h"

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

#endif
