/*
 * numbers.h
 *	  Random numbers, and a few functions of numbers, for all tests.
 *
 * Random numbers come from pe_random_bytes, which pe_test_seed makes the same each time.
 */
#ifndef PE_TEST_NUMBERS_H
#define PE_TEST_NUMBERS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"

#define lengthof(array) ((int) (sizeof(array) / sizeof((array)[0])))

/* Whether few samples are enough: under valgrind and sanitizers. */
static inline bool
quick(void)
{
	return getenv("PG_EPSILON_QUICK") != NULL;
}

/* So many cases, or a part of them. */
static inline int
fewer(int count, int part)
{
	return quick() ? count / part + 1 : count;
}

static inline uint64_t
random_word(void)
{
	uint64_t	word;

	pe_random_bytes(&word, sizeof(word));
	return word;
}

/* From 0 on; the bias does not matter. */
static inline int
random_below(int n)
{
	return (int) (random_word() % (uint64_t) n);
}

static inline int
between(int lo, int hi)
{
	return lo + random_below(hi - lo + 1);
}

/* From 0 to below 1. */
static inline double
random_unit(void)
{
	return (double) (random_word() >> 11) * 0x1p-53;
}

static inline double
uniform(double lo, double hi)
{
	return lo + (hi - lo) * random_unit();
}

static inline double
normal(void)
{
	return sqrt(-2.0 * log(uniform(0x1p-53, 1.0))) * cos(2.0 * acos(-1.0) * uniform(0.0, 1.0));
}

static inline bool
close_to(double value, double expected, double tolerance)
{
	return fabs(value - expected) <= tolerance * fabs(expected);
}

/* By columns, of zeros. */
static inline double *
matrix(int rows, int columns)
{
	return pe_alloc((size_t) rows * (size_t) columns, sizeof(double));
}

#endif
