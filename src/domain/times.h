/*
 * times.h
 *	  Which rows are read, by when they arrived.
 */
#ifndef PE_DOMAIN_TIMES_H
#define PE_DOMAIN_TIMES_H

#include <stdbool.h>
#include <stdint.h>

/* Times are days, or microseconds, as their column has them. */
typedef struct pe_times
{
	int64_t		from;			/* rows from this on are read */
	int64_t		before;			/* and before this */
	uint32_t	are_limited;	/* 1; or 0: all rows are read, and the rest is 0 */
	uint32_t	others;			/* 1: and those without a time, or with an infinite one; else 0 */
} pe_times;

/* Whether a row that arrived then is read, where times are limited; usable: it has a finite time. */
static inline bool
pe_times_have(const pe_times *times, bool usable, int64_t time)
{
	return usable ? times->from <= time && time < times->before : times->others != 0;
}

#endif
