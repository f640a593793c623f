/*
 * lazy_exp.c
 *	  Exact decisions "V a < b 2^s exp(-x)" for a uniform real V and a rational x:
 *	  the fixed-point part.
 *
 * A fixed-point number with L limbs is an array of L + 2 words, lowest first:
 * words 0 .. L-1 are the fraction, words L and L+1 the integer part.  One unit
 * in the last place, "ulp" below, is 2^(-64 L).
 */
#include "noise/lazy_exp.h"

#include <string.h>

/* Words of V that a decision is tried with; the exponential has PE_LAZY_SCALE bits more at most. */
#define MIN_KNOWN 4
#define MAX_KNOWN 64

#define MAX_LIMBS (MAX_KNOWN + PE_LAZY_SCALE / 64)
#define WORDS (MAX_LIMBS + 2)

/*
 * Where the integer part of x reaches this, exp(-x) < 2^-23637 is below one ulp
 * at every length in use.
 */
#define HUGE_EXPONENT (UINT64_C(1) << 14)

/* Integer parts of quotients stop here; far above HUGE_EXPONENT plus any shift. */
#define QUOTIENT_CAP (UINT64_C(1) << 62)

/* Everything that depends on random bits, in one place so that it can be wiped. */
typedef struct workspace
{
	uint64_t	known[MAX_KNOWN];	/* the first words of V, highest first */
	int			nknown;
	uint64_t	x[WORDS];
	uint64_t	part[WORDS];	/* a quotient, then the reduced argument */
	uint64_t	term[WORDS];
	uint64_t	lower[WORDS];
	uint64_t	upper[WORDS];
	uint64_t	v[WORDS];
	uint64_t	product[2 * WORDS];
} workspace;

/* ----------
 * Integers of 256 bits
 * ----------
 */
pe_wide
pe_wide_from(pe_u128 value)
{
	pe_wide		wide = {{(uint64_t) value, (uint64_t) (value >> 64), 0, 0}};

	return wide;
}

pe_wide
pe_wide_product(pe_u128 x, pe_u128 y)
{
	uint64_t	a[2] = {(uint64_t) x, (uint64_t) (x >> 64)};
	uint64_t	b[2] = {(uint64_t) y, (uint64_t) (y >> 64)};
	pe_wide		wide = {{0, 0, 0, 0}};

	for (int i = 0; i < 2; i++)
	{
		uint64_t	carry = 0;

		for (int j = 0; j < 2; j++)
		{
			/* (2^64-1)^2 + 2 (2^64-1) = 2^128 - 1: no overflow */
			pe_u128		sum = (pe_u128) a[i] * b[j] + wide.limb[i + j] + carry;

			wide.limb[i + j] = (uint64_t) sum;
			carry = (uint64_t) (sum >> 64);
		}
		wide.limb[i + 2] = carry;
	}
	return wide;
}

pe_wide
pe_wide_times(pe_wide x, uint64_t m)
{
	uint64_t	carry = 0;

	for (int i = 0; i < 4; i++)
	{
		pe_u128		sum = (pe_u128) x.limb[i] * m + carry;

		x.limb[i] = (uint64_t) sum;
		carry = (uint64_t) (sum >> 64);
	}
	if (carry != 0)
		pe_bug("256-bit product overflows");
	return x;
}

/* ----------
 * Arrays of words, lowest first
 * ----------
 */
static int
compare_words(const uint64_t *a, const uint64_t *b, int n)
{
	for (int i = n - 1; i >= 0; i--)
	{
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	}
	return 0;
}

static void
add_words(uint64_t *a, const uint64_t *b, int n)
{
	uint64_t	carry = 0;

	for (int i = 0; i < n; i++)
	{
		pe_u128		sum = (pe_u128) a[i] + b[i] + carry;

		a[i] = (uint64_t) sum;
		carry = (uint64_t) (sum >> 64);
	}
}

/* a - b; true if the difference is negative (a then holds it modulo 2^(64 n)) */
static bool
subtract_words(uint64_t *a, const uint64_t *b, int n)
{
	uint64_t	borrow = 0;

	for (int i = 0; i < n; i++)
	{
		pe_u128		difference = (pe_u128) a[i] - b[i] - borrow;

		a[i] = (uint64_t) difference;
		borrow = (uint64_t) (difference >> 64) & 1;
	}
	return borrow != 0;
}

static void
add_word(uint64_t *a, uint64_t word, int n)
{
	for (int i = 0; i < n && word != 0; i++)
	{
		a[i] += word;
		word = a[i] < word;
	}
}

/* a - word, not below zero */
static void
subtract_word_or_zero(uint64_t *a, uint64_t word, int n)
{
	for (int i = 0; i < n && word != 0; i++)
	{
		uint64_t	before = a[i];

		a[i] -= word;
		word = before < word;
	}
	if (word != 0)
		memset(a, 0, n * sizeof(*a));
}

static void
multiply_by_word(uint64_t *a, uint64_t word, int n)
{
	uint64_t	carry = 0;

	for (int i = 0; i < n; i++)
	{
		pe_u128		sum = (pe_u128) a[i] * word + carry;

		a[i] = (uint64_t) sum;
		carry = (uint64_t) (sum >> 64);
	}
}

/* a 2^bits, bits < 64 */
static void
shift_left(uint64_t *a, unsigned bits, int n)
{
	for (int i = n - 1; i >= 0 && bits != 0; i--)
		a[i] = a[i] << bits | (i > 0 ? a[i - 1] >> (64 - bits) : 0);
}

static void
divide_by_word(uint64_t *a, uint64_t word, int n)
{
	uint64_t	remainder = 0;

	for (int i = n - 1; i >= 0; i--)
	{
		pe_u128		part = (pe_u128) remainder << 64 | a[i];

		a[i] = (uint64_t) (part / word);
		remainder = (uint64_t) (part % word);
	}
}

static bool
is_zero(const uint64_t *a, int n)
{
	for (int i = 0; i < n; i++)
	{
		if (a[i] != 0)
			return false;
	}
	return true;
}

/*
 * a = floor(a b / ulp) in fixed point, a and b below 2: word L + 1 of either is
 * zero and stays zero.  product is room for 2 L + 2 words.
 */
static void
multiply_fixed(uint64_t *a, const uint64_t *b, int limbs, uint64_t *product)
{
	int			n = limbs + 1;

	memset(product, 0, 2 * n * sizeof(*product));
	for (int i = 0; i < n; i++)
	{
		uint64_t	carry = 0;

		for (int j = 0; j < n; j++)
		{
			pe_u128		sum = (pe_u128) a[i] * b[j] + product[i + j] + carry;

			product[i + j] = (uint64_t) sum;
			carry = (uint64_t) (sum >> 64);
		}
		product[i + n] = carry;
	}
	memcpy(a, product + limbs, n * sizeof(*a));
}

/* ----------
 * The exponent
 * ----------
 */

/*
 * One step of long division: remainder = 2 remainder + bit, less d if possible.
 * The remainder is below d < 2^255 before, so doubling it does not overflow.
 * True if d went in.
 */
static bool
divide_step(uint64_t *remainder, uint64_t bit, const uint64_t *d)
{
	for (int i = 0; i < 4; i++)
	{
		uint64_t	out = remainder[i] >> 63;

		remainder[i] = remainder[i] << 1 | bit;
		bit = out;
	}
	if (compare_words(remainder, d, 4) < 0)
		return false;
	subtract_words(remainder, d, 4);
	return true;
}

/*
 * quotient = floor(n / d / ulp) in fixed point.  An integer part of QUOTIENT_CAP
 * or more is lowered to it, which keeps the result a lower bound.
 */
static void
divide_wide(const pe_wide *n, const pe_wide *d, int limbs, uint64_t *quotient)
{
	uint64_t	remainder[4] = {0, 0, 0, 0};
	uint64_t	whole = 0;

	if (is_zero(d->limb, 4) || d->limb[3] >> 63 != 0)
		pe_bug("denominator of an exponent is out of range");
	for (int bit = 255; bit >= 0; bit--)
	{
		whole <<= 1;
		if (divide_step(remainder, n->limb[bit / 64] >> (bit % 64) & 1, d->limb))
			whole |= 1;
		if (whole > QUOTIENT_CAP)
			whole = QUOTIENT_CAP;
	}
	for (int i = limbs - 1; i >= 0; i--)
	{
		uint64_t	word = 0;

		for (int bit = 0; bit < 64; bit++)
			word = word << 1 | divide_step(remainder, 0, d->limb);
		quotient[i] = word;
	}
	quotient[limbs] = whole;
	quotient[limbs + 1] = 0;
}

/*
 * Puts into w->x a lower bound of the claim's x, less than 2 ulp away (unless
 * both are at least HUGE_EXPONENT): two quotients, each rounded down by less
 * than one ulp.  Where these roundings make the difference negative, x itself is
 * in [0, 1 ulp) and 0 serves.
 */
static void
compute_exponent(workspace *w, const pe_lazy_claim *claim, int limbs)
{
	divide_wide(&claim->n1, &claim->d1, limbs, w->x);
	divide_wide(&claim->n2, &claim->d2, limbs, w->part);
	add_words(w->x, w->part, limbs + 1);
	if (w->x[limbs] < claim->shift)
		memset(w->x, 0, (limbs + 2) * sizeof(uint64_t));
	else
		w->x[limbs] -= claim->shift;
}

/* ----------
 * The exponential
 * ----------
 */

/*
 * w->lower = the Taylor sum of exp(-r), r = w->part < 2^-8; returns the number of
 * its terms.
 *
 * term i is floor(floor(term_{i-1} r) / i), so its error e_i <= (e_{i-1} r + 1)/i
 * + 1 < 3 ulp.  The sum stops after the first term that comes out as zero; its
 * true value is then below 3 ulp, and so is the rest of the alternating series.
 */
static int
taylor_sum(workspace *w, int limbs)
{
	int			n = limbs + 2;

	memset(w->term, 0, n * sizeof(uint64_t));
	memset(w->lower, 0, n * sizeof(uint64_t));
	w->term[limbs] = 1;
	w->lower[limbs] = 1;
	for (int i = 1;; i++)
	{
		multiply_fixed(w->term, w->part, limbs, w->product);
		divide_by_word(w->term, (uint64_t) i, n);
		if (is_zero(w->term, n))
			return i;
		if (i % 2 == 1)
			subtract_words(w->lower, w->term, n);
		else
			add_words(w->lower, w->term, n);
	}
}

/*
 * w->lower <= exp(-x) <= w->upper for the x that w->x stands for.
 *
 * With r = x / 2^s < 2^-8, exp(-x) is exp(-r) squared s times.  r is taken 2/2^s
 * + 1 < 2 ulp too small, the Taylor sum of N terms adds 3 N + 3 ulp: together
 * e < 3 N + 8.  Squaring a value in [0, 1] known to e ulp gives 2 e + e^2 ulp +
 * 1 <= 2 e + 2 (e < 2^63 and ulp <= 2^-256).  N <= 1025 since r^i < 2^(-8 i)
 * and there are 8192 bits at most, and s <= 22 as x < 2^14; so e stays below 2^34.
 */
static void
enclose_exponential(workspace *w, int limbs)
{
	int			n = limbs + 2;
	int			squarings = 8;
	uint64_t	error;

	memset(w->upper, 0, n * sizeof(uint64_t));
	if (w->x[limbs] >= HUGE_EXPONENT)
	{
		memset(w->lower, 0, n * sizeof(uint64_t));
		w->upper[0] = 1;
		return;
	}
	while (w->x[limbs] >> (squarings - 8) != 0)
		squarings++;
	memset(w->part, 0, n * sizeof(uint64_t));
	for (int i = 0; i <= limbs; i++)
	{
		w->part[i] = w->x[i] >> squarings;
		if (i < limbs)
			w->part[i] |= w->x[i + 1] << (64 - squarings);
	}

	error = 3 * (uint64_t) taylor_sum(w, limbs) + 8;
	for (int i = 0; i < squarings; i++)
	{
		multiply_fixed(w->lower, w->lower, limbs, w->product);
		error = 2 * error + 2;
	}
	memcpy(w->upper, w->lower, n * sizeof(uint64_t));
	subtract_word_or_zero(w->lower, error, n);
	add_word(w->upper, error, n);
}

/* ----------
 * The decision
 * ----------
 */

/*
 * w->v = (the known words as an integer, plus more) a, in units of 2^(-64 known - scale),
 * which is exact in limbs limbs: they hold those units.  The integer is at most
 * 2^(64 known), a is below 2^64 and the shift below 2^64, which is 0 where limbs = known:
 * limbs + 2 words are enough.
 */
static void
place_uniform(workspace *w, const pe_lazy_claim *claim, int known, int limbs, uint64_t more)
{
	int			n = limbs + 2;

	memset(w->v, 0, n * sizeof(uint64_t));
	for (int i = 0; i < known; i++)
		w->v[known - 1 - i] = w->known[i];
	add_word(w->v, more, n);
	multiply_by_word(w->v, claim->a, n);
	shift_left(w->v, (unsigned) (64 * (limbs - known)) - claim->scale, n);
}

/*
 * Decides with so many known words of V, if possible, and exp(-x) to scale bits more.
 * The known words put V in [v, v + 1) units: the claim is true if (v + 1) a 2^-scale <=
 * b lower, false if v a 2^-scale >= b upper.  All products are below 2^65 and fit the
 * two integer words.
 */
static pe_lazy_answer
decide_at(workspace *w, const pe_lazy_claim *claim, int known)
{
	int			limbs = known + (int) (claim->scale + 63) / 64;
	int			n = limbs + 2;

	compute_exponent(w, claim, limbs);
	enclose_exponential(w, limbs);
	multiply_by_word(w->lower, claim->b, n);
	multiply_by_word(w->upper, claim->b, n);

	place_uniform(w, claim, known, limbs, 0);
	if (compare_words(w->v, w->upper, n) >= 0)
		return PE_LAZY_NO;
	place_uniform(w, claim, known, limbs, 1);
	if (compare_words(w->v, w->lower, n) <= 0)
		return PE_LAZY_YES;
	return PE_LAZY_UNSURE;
}

bool
pe_lazy_less_exact(const pe_lazy_claim *claim, uint64_t first, pe_bits *bits)
{
	workspace	w;
	pe_lazy_answer answer = PE_LAZY_UNSURE;

	if (claim->a == 0 || claim->b == 0 || claim->shift >> 60 != 0 || claim->scale > PE_LAZY_SCALE)
		pe_bug("malformed exact comparison");
	w.known[0] = first;
	w.nknown = 1;
	for (int known = MIN_KNOWN; answer == PE_LAZY_UNSURE; known *= 2)
	{
		if (known > MAX_KNOWN)
			pe_bug("exact comparison left open by 4096 random bits");
		while (w.nknown < known)
			w.known[w.nknown++] = pe_bits_next64(bits);
		answer = decide_at(&w, claim, known);
	}
	pe_wipe(&w, sizeof(w));
	return answer == PE_LAZY_YES;
}
