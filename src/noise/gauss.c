/*
 * gauss.c
 *	  Exact sampling of the discrete Gaussian N_Z(0, sigma^2).
 */
#include "noise/gauss.h"

#include <math.h>

#include "noise/lazy_exp.h"

/* Below, u = 2^-53 is the relative error of one rounding to double. */

/*
 * The error of the exponent in double, relative to x + V: see exponent_estimate.
 */
#define EXPONENT_ERROR 0x1p-47

/* From this variance on, N_Z(0, s) has variance s to more than double precision. */
#define PLAIN_VARIANCE 3.0

const uint64_t pe_gauss_exp_table[PE_GAUSS_TABLE] = {
	UINT64_C(0x5e2d58d8b3bcdf1a), UINT64_C(0x22a555477f03973f), UINT64_C(0x0cbed86667585764),
	UINT64_C(0x04b0556e084f3d1d), UINT64_C(0x01b993fe00d53761), UINT64_C(0x00a2728f889ea6ae),
	UINT64_C(0x003bc2d73849531d), UINT64_C(0x0015fc21041027ac), UINT64_C(0x0008167912932a2c),
	UINT64_C(0x0002f9af36ac8f93), UINT64_C(0x000118354238f676), UINT64_C(0x0000671530ed0ef2),
	UINT64_C(0x000025ec0a77303b), UINT64_C(0x00000df3637ed80b), UINT64_C(0x00000521d72889fb),
	UINT64_C(0x000001e355bbaee8), UINT64_C(0x000000b1cf18bad3), UINT64_C(0x00000041698a31a6),
	UINT64_C(0x000000181056ff2c), UINT64_C(0x00000008da432af9), UINT64_C(0x0000000341b61a1b),
	UINT64_C(0x0000000132b48bf1), UINT64_C(0x0000000070d49f90), UINT64_C(0x0000000029820f1f),
	UINT64_C(0x000000000f451bd2), UINT64_C(0x00000000059e14a9), UINT64_C(0x0000000002110a53),
	UINT64_C(0x0000000000c29f80), UINT64_C(0x000000000047990a), UINT64_C(0x00000000001a56e0),
	UINT64_C(0x000000000009b090), UINT64_C(0x000000000003908c), UINT64_C(0x0000000000014fb5),
	UINT64_C(0x0000000000007b80), UINT64_C(0x0000000000002d6e), UINT64_C(0x00000000000010b6),
	UINT64_C(0x0000000000000626), UINT64_C(0x0000000000000243), UINT64_C(0x00000000000000d5),
	UINT64_C(0x000000000000004e)
};

/* ----------
 * Preparation
 * ----------
 */
uint64_t
pe_gauss_gcd(pe_u128 a, uint64_t b)
{
	uint64_t	rest = (uint64_t) (a % b);

	while (rest != 0)
	{
		uint64_t	next = b % rest;

		b = rest;
		rest = next;
	}
	return b;
}

/* floor(sqrt(n)), bit by bit from the highest */
static uint64_t
integer_sqrt(pe_u128 n)
{
	uint64_t	root = 0;

	for (int bit = 63; bit >= 0; bit--)
	{
		uint64_t	larger = root | UINT64_C(1) << bit;

		if ((pe_u128) larger * larger <= n)
			root = larger;
	}
	return root;
}

void
pe_gauss_init(pe_gauss *g, pe_u128 p, uint64_t q)
{
	uint64_t	divisor;

	if (p == 0 || p >> 127 != 0 || q == 0)
		pe_bug("variance of the discrete Gaussian is out of range");
	divisor = pe_gauss_gcd(p, q);
	g->p = p / divisor;
	g->q = q / divisor;

	/* floor(sqrt(p/q)) = floor(sqrt(floor(p/q))) < 2^63.5, so t fits */
	g->t = integer_sqrt(g->p / g->q) + 1;
	g->t_double = (double) g->t;
	g->rate = (double) g->q / (2.0 * (double) g->p);
	g->offset = (double) g->p / (2.0 * (double) g->q * (g->t_double * g->t_double));
	g->margin = PE_LAZY_MARGIN;
	g->no_table = false;
}

/* ----------
 * The geometric variable
 * ----------
 */

/* Is the uniform real that begins with first below exp(-m), 1 <= m <= PE_GAUSS_TABLE? */
static bool
below_exp(bool no_table, uint64_t first, uint32_t m, pe_bits *bits)
{
	uint64_t	entry = pe_gauss_exp_table[m - 1];

	if (first != entry && !no_table)
		return first < entry;
	return pe_lazy_less_exact(&(pe_lazy_claim) {.a = 1, .b = 1, .n1 = pe_wide_from(m),
		.d1 = pe_wide_from(1), .d2 = pe_wide_from(1)}, first, bits);
}

/*
 * V from a uniform real that begins with the 64 bits first: the number of m >= 1
 * with real < exp(-m).  Given real < exp(-40) the rest of V is distributed like V
 * itself, so it comes from a fresh real.
 *
 * Bits after first are drawn anew by every exact comparison.  That is sound as
 * at most one m can need them: the entries of the table differ, so first equals
 * one entry at most, and for every other m first alone decides.
 */
static __attribute__((noinline)) uint64_t
geometric_slowly(bool no_table, uint64_t first, uint64_t limit, pe_bits *bits)
{
	uint64_t	v = 0;

	while (v < limit)
	{
		for (uint32_t m = 1; m <= PE_GAUSS_TABLE; m++)
		{
			if (!below_exp(no_table, first, m, bits))
				return v + m - 1;
		}
		v += PE_GAUSS_TABLE;
		first = pe_bits_next64(bits);
	}
	return v;
}

/*
 * The same from a uniform real that begins with the 32 bits first, which decide
 * unless they equal the upper half of an entry.  The loop ends as the upper
 * half is 0 from m = 23 on.
 */
static inline uint64_t
geometric(bool no_table, uint32_t first, uint64_t limit, pe_bits *bits)
{
	uint32_t	v = 0;
	uint32_t	entry;

	while (first < (entry = (uint32_t) (pe_gauss_exp_table[v] >> 32)))
		v++;
	if (__builtin_expect(first == entry || no_table, 0))
		return geometric_slowly(no_table, (uint64_t) first << 32 | pe_bits_next32(bits), limit, bits);
	return v;
}

uint64_t
pe_gauss_geometric(bool no_table, uint32_t first, uint64_t limit, pe_bits *bits)
{
	return geometric(no_table, first, limit, bits);
}

/* ----------
 * The acceptance
 * ----------
 */

/*
 * x in double.  Returns a value within EXPONENT_ERROR / 3 * (x + v) of it.
 *
 * Every operation but the last adds or multiplies numbers that are not negative,
 * so relative roundings only add up.  In X = u + t v: a conversion, a product,
 * a sum: 3 (v is exact).  In rate: q, p, the quotient: 3.  In rate X X: 3 + 3 + 3
 * and two products: 11.  In offset: p, q, t twice, two products, the quotient: 7.
 * In their sum: 12.  That sum is x + v, so it is wrong by less than 12.1 u (x + v),
 * and the last rounding adds u x: below 14 u (x + v) < 2^-49 (x + v), for every
 * width of X and p.
 */
static inline double
exponent_estimate(const pe_gauss *g, uint64_t u, uint32_t v)
{
	double		x = (double) u + g->t_double * v;

	return g->rate * x * x + g->offset - v;
}

/*
 * The relative error of exp(-x) for such an x, and the margin for the rest.
 *
 * While x + v <= 2^40 the error of x is at most 2^-9, and exp turns an absolute
 * error e <= 2^-9 into a relative one below 1.01 e < EXPONENT_ERROR (x + v) / 2.
 * Beyond, v < 2^20 leaves x > 2^39: exp(-x) and its estimate are 0 up to 2^-61,
 * which the absolute margin covers.
 */
static inline double
relative_error(const pe_gauss *g, double x, uint32_t v)
{
	return g->margin + (x + v) * EXPONENT_ERROR;
}

/*
 * The claim V < exp(-x) in integers.
 *
 * X < 2^20 t <= 2^84, so X^2 q < 2^168 2^64.  t^2 <= (sigma + 1)^2: for sigma >= 1
 * t^2 q <= 4 p < 2^129, for sigma < 1 t = 1; so 2 q t^2 < 2^130.
 */
static __attribute__((noinline)) bool
accept_exactly(const pe_gauss *g, uint64_t u, uint32_t v, uint64_t first, pe_bits *bits)
{
	pe_u128		x = (pe_u128) g->t * v + u;
	const pe_lazy_claim claim = {
		.a = 1, .b = 1, .n1 = pe_wide_times(pe_wide_product(x, x), g->q), .d1 = pe_wide_times(pe_wide_from(g->p), 2),
		.n2 = pe_wide_from(g->p), .d2 = pe_wide_times(pe_wide_times(pe_wide_product(g->t, g->t), g->q), 2), .shift = v
	};

	return pe_lazy_less_exact(&claim, first, bits);
}

bool
pe_gauss_accept(const pe_gauss *g, uint64_t u, uint32_t v, uint64_t first, pe_bits *bits)
{
	double		x = exponent_estimate(g, u, v);
	double		uniform = (double) first * 0x1p-64;
	pe_lazy_answer answer = pe_lazy_quick(uniform, uniform, exp(-x), relative_error(g, x, v));

	if (answer != PE_LAZY_UNSURE)
		return answer == PE_LAZY_YES;
	return accept_exactly(g, u, v, first, bits);
}

/*
 * pe_gauss_accept when only the first 32 bits are at hand: they decide all but
 * about 2^-32 of the cases.
 */
static inline bool
accept(const pe_gauss *g, uint64_t u, uint32_t v, uint32_t first, pe_bits *bits)
{
	double		x = exponent_estimate(g, u, v);
	double		low = (double) first * 0x1p-32;
	pe_lazy_answer answer = pe_lazy_quick(low, low + 0x1p-32, exp(-x), relative_error(g, x, v));

	if (__builtin_expect(answer != PE_LAZY_UNSURE, 1))
		return answer == PE_LAZY_YES;
	return pe_gauss_accept(g, u, v, (uint64_t) first << 32 | pe_bits_next32(bits), bits);
}

pe_i128
pe_gauss_draw(const pe_gauss *g, pe_bits *bits)
{
	for (;;)
	{
		uint64_t	word = pe_bits_next64(bits);
		uint32_t	v = (uint32_t) geometric(g->no_table, (uint32_t) (word >> 32), PE_GAUSS_V_LIMIT, bits);
		uint64_t	u = pe_bits_below(bits, g->t);
		pe_u128		x;

		if (v >= PE_GAUSS_V_LIMIT || !accept(g, u, v, (uint32_t) word, bits))
			continue;
		x = (pe_u128) g->t * v + u;
		if (!pe_bits_next1(bits))
			return (pe_i128) x;
		if (x != 0)
			return -(pe_i128) x;
	}
}

/* ----------
 * The variance
 * ----------
 */
double
pe_gauss_variance(pe_u128 p, uint64_t q)
{
	double		parameter = (double) p / (double) q;
	double		mass = 1.0;
	double		moment = 0.0;

	if (parameter >= PLAIN_VARIANCE)
		return parameter;

	/* the first term left out is below exp(-30^2 / 6) = 7e-66 */
	for (int k = 1; k < 30; k++)
	{
		double		weight = 2.0 * exp(-k * k / (2.0 * parameter));

		mass += weight;
		moment += weight * k * k;
	}
	return moment / mass;
}
