/*
 * gauss_floor.c
 *	  Exact sampling of floor(X) for a continuous Gaussian X.
 */
#include "noise/gauss.h"

/* Words of u that can be asked for; a comparison needs another one with chance 2^-64. */
#define LAZY_WORDS 32

/* A uniform real of [0, 1), as far as it is known. */
typedef struct lazy_real
{
	uint64_t	word[LAZY_WORDS];	/* highest first */
	int			known;
} lazy_real;

/* Is a fresh uniform real below u? */
static bool
fresh_below(lazy_real *u, pe_bits *bits)
{
	for (int i = 0; i < LAZY_WORDS; i++)
	{
		uint64_t	fresh = pe_bits_next64(bits);

		if (i == u->known)
			u->word[u->known++] = pe_bits_next64(bits);
		if (fresh != u->word[i])
			return fresh < u->word[i];
	}
	pe_bug("two uniform reals agree in 2048 bits");
}

/* Bernoulli(exp(-u^power numerator / denominator)), numerator <= denominator. */
static bool
accept_exp(lazy_real *u, int power, pe_u128 numerator, pe_u128 denominator, pe_bits *bits)
{
	for (uint64_t k = 1;; k++)
	{
		bool		next = pe_bits_below(bits, k) == 0;

		for (int i = 0; i < power && next; i++)
			next = fresh_below(u, bits);
		if (!next || pe_bits_below128(bits, denominator) >= numerator)
			return k % 2 == 1;
	}
}

/*
 * Bernoulli(exp(-u k / p - u^2 / (2 p))).  Where k > p the first exponent is divided
 * into equal parts of at most u each; p parts <= k + p < 2^121.
 */
static bool
accept(uint64_t parts, pe_u128 k, pe_u128 p, pe_bits *bits)
{
	lazy_real	u = {.known = 0};
	bool		accepted = true;

	for (uint64_t i = 0; i < parts && accepted && k > 0; i++)
		accepted = accept_exp(&u, 1, k, p * parts, bits);
	accepted = accepted && accept_exp(&u, 2, 1, 2 * p, bits);
	pe_wipe(&u, sizeof(u));
	return accepted;
}

pe_i128
pe_gauss_floor_draw(const pe_gauss *g, pe_bits *bits)
{
	if (g->q != 1 || g->p >> 120 != 0)
		pe_bug("continuous Gaussian is out of range");
	for (;;)
	{
		pe_i128		k = pe_gauss_draw(g, bits);

		/* k < 2^20 (sigma + 1), so k / p < 2^22 */
		if (k < 0 || !accept((uint64_t) ((pe_u128) k / g->p) + 1, (pe_u128) k, g->p, bits))
			continue;
		return pe_bits_next1(bits) ? -k - 1 : k;
	}
}
