/*
 * alias.h
 *	  Exact sampling of the discrete Gaussian N_Z(0, sigma^2) from a table.
 *
 * The same law as gauss.h, several times faster per draw, for a preparation of
 * some microseconds.  What it protects is stated in gaussian.h.
 *
 * The table.  Let f(k) = exp(-k^2 q/(2p)), but f(0) = 1/2: |Y| = k >= 0 is drawn
 * with a probability proportional to f(k) and gets a random sign.  The integers
 * from 0 up are divided into ranges: {0}, then [a_i, a_i + w_i), then the tail from
 * K on, and one range that stands for nothing.  With an integer scale F and
 * integer weights W_i that add up to 2^63,
 *
 *	  W_0 = F/2,
 *	  W_i >= w_i F f(a_i),
 *	  W_tail >= 2 D F f(K), D = floor(sigma) + 1, K >= sigma,
 *
 * and the range that stands for nothing has the rest, about 1/100.
 *
 * A draw.  A range is chosen with probability W_i / 2^63 by an alias table in
 * integers (Walker 1974, Vose 1991) and k uniformly in it, below w_i; k is
 * accepted with probability w_i F f(k) / W_i.  In the tail, k = K + (n - 1) D +
 * (uniform below D) where n is the number of fair bits up to the first 1,
 * and it is accepted with probability 2^n D F f(k) / W_tail.  After a
 * rejection, or nothing, all is drawn anew.
 *
 * Why it is exact.  Every k is proposed and accepted with probability
 *
 *	  W_i/2^63 * 1/w_i * w_i F f(k)/W_i = F f(k) / 2^63,
 *	  W_tail/2^63 * 2^-n/D * 2^n D F f(k)/W_tail = F f(k) / 2^63:
 *
 * proportional to f(k), for any W_i, F and ranges, if none of the
 * acceptances exceeds 1.  In a range that is W_i >= w_i F f(a_i), as f falls; {0}
 * needs no acceptance at all.  In the tail, k = K + y with y >= (n - 1) D, and
 *
 *	  f(K + y) / f(K) <= exp(-K y / sigma^2) <= exp(-(n - 1)) <= 2^-(n - 1),
 *
 * because K D >= sigma^2.  So rounding may make a W_i larger than necessary, never the
 * law wrong.  It cannot make one too small; u = 2^-53, and exp is supposed to
 * be right to a relative 2^-45 (below 2^-150: to give at most 2^-149):
 *
 * - x = a^2 q/(2p) carries a relative error of 7.1 u: q, p, their quotient, a
 *	 twice, two products.  Where x <= 100 that changes exp(-x) by a relative
 *	 2^-43, exp itself adds 2^-45, converting w and F and two products 4 u:
 *	 together below 2^-42.  The result is multiplied by 1 + 2^-40 (u) and
 *	 rounded up, so W_i > w_i F f(a_i) (1 + 2^-41).
 * - Where x > 100, w_i F f(a_i) < 2^65 exp(-100) < 1; 1 is added to every W_i.
 * - F <= 2^63 (1 - 2^-36) / sum of w_i f(a_i), so the W_i make at most
 *	 2^63 (1 - 2^-36) (1 + 2^-39) + 2 * 256 < 2^63.
 *
 * Nearly all acceptances are decided by 23 bits of the deciding uniform V: if
 * these are below quick_i = floor(2^23 (1 - 2^-39) w_i F f(a_i + w_i - 1)/W_i),
 * where the errors are below 2^-41 as above, then V < quick_i/2^23 <= the least
 * acceptance of the range.  The others are decided in double with a margin, and
 * if that leaves a doubt exactly (lazy_exp.h), with these 23 bits as V's first.
 *
 * Ranges.  sigma < 2^56 is required, p < 2^127, q < 2^64:
 *
 * - K < 9 sigma + sigma/6 + 2, D <= sigma + 1 and n <= 63 make every k < 73 sigma +
 *	 65 < 2^63.
 * - The sum of w_i f(a_i) is at least 1/2 and at least the sum of f, which is at
 *	 least sigma sqrt(pi/2) (Poisson summation).  As w_i <= max(1, sigma/6), w_i F
 *	 < 2^64; as D = 1 for sigma < 1 and D <= sigma + 1 <= 2 sigma otherwise,
 *	 D F < 2^64.
 * - F > 2^6, so that rounding it down to an even number costs at most 1/50.
 * - k^2 q < 2^190 and 2 p < 2^128, where 256 bits are at hand.
 *
 * n > 63 counts as a rejection.  That conditions the law on |Y| < K + 63 D, which
 * N_Z leaves with a probability below 2 exp(-72^2/2) < 2^-3700.
 */
#ifndef PE_NOISE_STRIP_H
#define PE_NOISE_STRIP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "noise/bits.h"
#include "noise/gauss.h"

/* Columns of the alias table, and ranges. */
#define PE_ALIAS_COLUMN_BITS 8
#define PE_ALIAS_COLUMNS (1 << PE_ALIAS_COLUMN_BITS)

/* The weights add up to 2^63, each column holds as much as every other. */
#define PE_ALIAS_TOTAL (UINT64_C(1) << 63)
#define PE_ALIAS_CAPACITY (PE_ALIAS_TOTAL / PE_ALIAS_COLUMNS)

/* The deciding uniform's first bits that come with the choice of the range. */
#define PE_ALIAS_QUICK_BITS 23

/* Largest D = floor(sigma) + 1. */
#define PE_ALIAS_D_MAX (UINT64_C(1) << 56)

/* Where the tail begins, in units of sigma. */
#define PE_ALIAS_REACH 9.0

/* Column c belongs to range c below the threshold and to the range alias from it on. */
typedef struct pe_alias_column
{
	uint64_t	threshold;		/* 0 .. PE_ALIAS_CAPACITY */
	uint64_t	alias;
} pe_alias_column;

/* The integers start .. start + width - 1. */
typedef struct pe_alias_range
{
	uint64_t	start;
	uint64_t	width;			/* D for the tail, 0 for nothing */
	uint64_t	quick;			/* first bits below this accept */
	uint64_t	weight;
} pe_alias_range;

/* A prepared distribution: 12 kB.  It holds no secret and no state. */
typedef struct pe_alias
{
	pe_u128		p;				/* sigma^2 = p/q */
	uint64_t	q;
	double		rate;			/* near q/(2p) */
	uint64_t	scale;			/* F, even */
	unsigned	tail;			/* the range that is the tail; the next one is nothing */

	/*
	 * How much is left to the exact comparison.  pe_alias_init sets
	 * PE_LAZY_MARGIN; unit tests raise it, and lower the quick bounds (to infinity
	 * and 0: every decision is then taken exactly).  The law does not depend on it.
	 */
	double		margin;
	pe_alias_column column[PE_ALIAS_COLUMNS];
	pe_alias_range range[PE_ALIAS_COLUMNS];
} pe_alias;

/* Can g's distribution have a table? */
extern bool pe_alias_serves(const pe_gauss *g);

/*
 * Prepares g's distribution; pe_bug if it is out of range.  The tail begins at
 * reach * sigma: PE_ALIAS_REACH, or less (at least 1.5) where a unit test wants
 * to see it more often.
 */
extern void pe_alias_init(pe_alias *s, const pe_gauss *g, double reach);

/*
 * One draw, below 2^63 in absolute value.  Takes random bits only from bits;
 * does not return if these give out.
 */
extern int64_t pe_alias_draw(const pe_alias *s, pe_bits *bits);

#endif
