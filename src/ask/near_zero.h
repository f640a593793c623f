/*
 * near_zero.h
 *	  One NOTICE where most groups of an answer say nothing.
 *
 * It is computed from a noisy answer alone.
 */
#ifndef PE_ASK_NEAR_ZERO_H
#define PE_ASK_NEAR_ZERO_H

#include "postgres.h"

/* How many standard errors are near. */
#define PE_NEAR_ZERO 3

/* One estimate for each group, all zero at first. */
typedef struct pe_near_zero
{
	int32		groups;
	int32		near;
} pe_near_zero;

/* Standard errors that are NaN are not known: no group of them is near. */
extern void pe_near_zero_add(pe_near_zero *count, double estimate, double stderr_);

/* Once per statement of the client.  more: the end of the hint, NULL: none. */
extern void pe_near_zero_tell(const pe_near_zero *count, const char *more);

#endif
