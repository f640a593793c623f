/*
 * gauss.h
 *	  Exact sampling of the discrete Gaussian N_Z(0, sigma^2).
 *
 * P[Y = y] is proportional to exp(-y^2 / (2 sigma^2)) over all integers y, with
 * sigma^2 = p/q a rational.  This is the sampler alone; what it protects is
 * stated in gaussian.h.
 *
 * Canonne, Kamath, Steinke, "The Discrete Gaussian for Differential Privacy",
 * arXiv:2004.00010, Algorithms 1 to 3, with the two exponential acceptances
 * multiplied into one.  With t = floor(sigma) + 1,
 *
 *	  U uniform on {0, .., t-1},  V geometric, P[V >= v] = exp(-v),  X = U + t V,
 *
 * X is accepted with probability exp(-x),
 *
 *	  x = (X - sigma^2/t)^2 / (2 sigma^2) + U/t = X^2 q/(2p) + p/(2 q t^2) - V,
 *
 * and gets a random sign, the pair (-, 0) being drawn again.  The first form of
 * x shows x >= 0.  P[propose X] exp(-x) is a constant times exp(-X^2 q/(2p)).
 * About 2.1 proposals per draw at large sigma.
 *
 * Every acceptance is exact (lazy_exp.h); doubles only say which decisions are
 * already certain.
 */
#ifndef PE_NOISE_GAUSS_H
#define PE_NOISE_GAUSS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "noise/bits.h"

/*
 * Proposals with V at or above this are drawn again.  That conditions the law on
 * |Y| < 2^20 t, which N_Z leaves with a probability below 2 exp(-2^39): less
 * than any event a computer meets, and far below what the random source itself
 * promises.  It bounds X by 2^84 and so every number below by 256 bits.
 */
#define PE_GAUSS_V_LIMIT (UINT32_C(1) << 20)

/* Entries of the geometric table. */
#define PE_GAUSS_TABLE 40

/* pe_gauss_exp_table[m - 1] = floor(2^64 exp(-m)), m = 1 .. PE_GAUSS_TABLE */
extern const uint64_t pe_gauss_exp_table[PE_GAUSS_TABLE];

/* A prepared distribution.  It holds no secret and no state. */
typedef struct pe_gauss
{
	pe_u128		p;				/* sigma^2 = p/q in lowest terms */
	uint64_t	q;
	uint64_t	t;				/* floor(sigma) + 1 */
	double		t_double;
	double		rate;			/* near q/(2p) */
	double		offset;			/* near p/(2 q t^2) */

	/*
	 * How much is left to the exact comparison.  pe_gauss_init sets
	 * PE_LAZY_MARGIN and false; unit tests raise them (to infinity and true:
	 * every decision is then taken exactly).  The law does not depend on them.
	 */
	double		margin;
	bool		no_table;
} pe_gauss;

/* The greatest common divisor of a and b, b > 0: what puts a/b into lowest terms. */
extern uint64_t pe_gauss_gcd(pe_u128 a, uint64_t b);

/*
 * V with P[V >= m] = exp(-m) from a uniform real that begins with the 32 bits
 * first.  limit is below 2^64 - PE_GAUSS_TABLE; a result of limit or more says no
 * more than that V is at least limit.  no_table as in pe_gauss.  Part of the
 * samplers here and in laplace.h.
 */
extern uint64_t pe_gauss_geometric(bool no_table, uint32_t first, uint64_t limit, pe_bits *bits);

/*
 * Prepares N_Z(0, p/q), any 0 < p < 2^127 and q > 0; pe_bug otherwise.
 */
extern void pe_gauss_init(pe_gauss *g, pe_u128 p, uint64_t q);

/*
 * One draw, below 2^84 in absolute value.  Takes random bits only from bits;
 * does not return if these give out.
 */
extern pe_i128 pe_gauss_draw(const pe_gauss *g, pe_bits *bits);

/*
 * Accepts X = u + t v, u < t, v < PE_GAUSS_V_LIMIT, with probability exp(-x)
 * where first holds the first 64 bits of the uniform that decides.  Part of
 * pe_gauss_draw, visible for the unit tests.
 */
extern bool pe_gauss_accept(const pe_gauss *g, uint64_t u, uint32_t v, uint64_t first, pe_bits *bits);

/*
 * The variance of N_Z(0, p/q), p > 0, q > 0, to a relative 1e-12 for p/q >= 1e-3.
 * It is below p/q, but from p/q = 3 on by less than a relative 1e-20 (by Poisson
 * summation the difference is about 8 pi^2 s exp(-2 pi^2 s) for s = p/q).
 */
extern double pe_gauss_variance(pe_u128 p, uint64_t q);

/* ----------
 * Exact sampling of floor(X) for a CONTINUOUS Gaussian X ~ N(0, sigma^2).
 *
 * P[K = k] = Phi((k + 1) / sigma) - Phi(k / sigma) over all integers k.  This is
 * not the discrete Gaussian of gauss.h: it is for theorems about a continuous
 * variable, whose lower bits are not needed but whose law is.  K + u with the right
 * u in [0, 1) is exactly N(0, sigma^2); so a theorem about X may be applied, and what
 * is computed from K alone is a function of X.
 *
 * |X| is drawn as k + u, k >= 0 and 0 <= u < 1, by rejection: k from N_Z(0, sigma^2)
 * conditioned on k >= 0, u uniform, accepted with
 *
 * exp(-((k + u)^2 - k^2) / (2 sigma^2)) = exp(-u k / sigma^2) exp(-u^2 / (2 sigma^2)).
 *
 * The density of an accepted pair is a constant times exp(-(k + u)^2 / (2 sigma^2)).
 * The sign is a fair bit; floor(-(k + u)) = -k - 1 except for u = 0, which has
 * probability 0.
 *
 * Both factors are Bernoulli(exp(-g)) with g <= 1 a product of u and rationals, by
 * Canonne, Kamath, Steinke, arXiv:2004.00010, Algorithm 1, which needs Bernoulli(g / K)
 * only; that is the conjunction of Bernoulli(u), the event that a fresh uniform real
 * is below u, and of rational ones.  Bits of u are drawn when a comparison needs them
 * and kept, so that the same u is used throughout: every decision is exact.
 * ----------
 */

/*
 * One draw, for a g that was prepared with q = 1 and p < 2^120 (pe_bug otherwise);
 * below 2^84 in absolute value.  Takes random bits only from bits.
 */
extern pe_i128 pe_gauss_floor_draw(const pe_gauss *g, pe_bits *bits);

#endif
