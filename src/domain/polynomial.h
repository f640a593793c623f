/*
 * polynomial.h
 *	  Polynomials of a row's columns, in integers.
 *
 * A *factor* is a column as a whole number of steps, value = steps * 10^-scale
 * or, where `binary`, steps * 2^-scale.  A value is clamped to the bounds, or is
 * absent outside of them; then it is rounded to a step.  NULL is absent, or
 * stands for the steps of a constant (coalesce).
 *
 * A polynomial of factors, of degree PE_POLYNOMIAL_DEGREE at most and without
 * its constant, has an integer value in [least, greatest]: bounds that follow
 * from those of its factors, exact if no factor is in a term twice, else
 * perhaps wider.  It is absent where any of its factors is.  With
 * places = (greatest - least) / 2^shift and shift = 0 where that is at most
 * PE_POLYNOMIAL_PLACES, it becomes an integer u in [-places, places] as other
 * numbers do (sums.h):
 *
 *		u = 2 q - places,  q = (value - least) / 2^shift, rounded
 *
 * or the same from `greatest` on downwards.  With shift 0 that is exact; else a
 * row's value is rounded to the nearest of its places.
 *
 * Privacy needs u in [-places, places] of every row, and nothing else: it is
 * clamped there.  All rows take the same steps.
 */
#ifndef PE_DOMAIN_POLYNOMIAL_H
#define PE_DOMAIN_POLYNOMIAL_H

#include <stdbool.h>

#include "base/mem.h"

#define PE_MAX_FACTORS 16
#define PE_POLYNOMIAL_DEGREE 3
#define PE_POLYNOMIAL_TERMS 64

/* Sums of 2^39 rows are at most 2^61, as accumulators hold them. */
#define PE_POLYNOMIAL_PLACES (1 << 22)

/* Steps of a factor are below this: in double each of them is the nearest to its value. */
#define PE_FACTOR_STEPS 0x1p47

/* The finest scale of a factor, and the one of a value whose steps are not known otherwise. */
#define PE_FACTOR_DECIMALS 15
#define PE_FACTOR_BITS 24

typedef struct pe_operand
{
	double		lower;			/* finite, lower < upper */
	double		upper;
	double		filling;		/* of NULL, if it fills */
	int32_t		scale;
	bool		clamp;			/* what is outside counts as the bound; else it is absent */
	bool		binary;
	bool		fills;

	/* by pe_operand_prepare */
	double		unit;			/* steps of 1 */
	int64_t		least;			/* steps, that of NULL among them */
	int64_t		greatest;
	int64_t		filled;
} pe_operand;

/* False if the bounds make no sense, or it has more than PE_FACTOR_STEPS. */
extern bool pe_operand_prepare(pe_operand *factor);

/* The finest binary scale for bounds: PE_FACTOR_BITS for what lies between them, or fewer where they are far from 0. */
extern int32_t pe_operand_binary_scale(double lower, double upper);

/* The steps of a value; false if it is absent, and *steps is one that it could have. */
extern bool pe_operand_place(const pe_operand *factor, bool isnull, double value, int64_t *steps);

typedef struct pe_monomial
{
	pe_i128		coefficient;	/* not 0 */
	uint8_t		degree;			/* at least 1 */
	uint8_t		factor[PE_POLYNOMIAL_DEGREE];	/* behind them PE_MAX_FACTORS, which is 1 */
} pe_monomial;

typedef struct pe_polynomial
{
	int32_t		terms;
	bool		from_greatest;
	pe_monomial term[PE_POLYNOMIAL_TERMS];
	uint32_t	needs;			/* bits of factors that it needs to be there, those of no term among them */

	/* by pe_polynomial_prepare */
	pe_i128		least;
	pe_i128		greatest;
	int			shift;
	int32_t		places;
	bool		is_short;		/* 64 bits hold all that is computed of a row */
} pe_polynomial;

typedef enum pe_polynomial_status
{
	PE_POLYNOMIAL_OK,
	PE_POLYNOMIAL_CONSTANT,		/* it has one value */
	PE_POLYNOMIAL_LARGE,		/* its values, or numbers on the way to them, do not fit 126 bits */
	PE_POLYNOMIAL_UNSOUND		/* not what the comments above say */
} pe_polynomial_status;

/* factor: prepared ones, so many. */
extern pe_polynomial_status pe_polynomial_prepare(pe_polynomial *polynomial, const pe_operand *factor, int factors);

/*
 * u of a row; steps: of all factors, behind them 1 at PE_MAX_FACTORS.  A factor
 * that is absent has steps that it could have.
 */
extern int32_t pe_polynomial_place(const pe_polynomial *polynomial, const int64_t *steps);

#endif
