/*
 * laplace.c
 *	  The discrete Laplace mechanism on integer vectors, and its exact sampler.
 *
 * Canonne, Kamath, Steinke, arXiv:2004.00010, Algorithm 2: X = U + t V, U uniform
 * below t and accepted with probability exp(-U/t), V geometric with ratio 1/e,
 * has P[X] proportional to exp(-X/t); floor(X/s) then has ratio exp(-s/t), and a
 * random sign, the pair (-, 0) being drawn again, makes it two-sided.
 */
#include "noise/laplace.h"

#include <math.h>

#include "noise/gauss.h"
#include "noise/lazy_exp.h"
#include "noise/bits.h"

#define NANO UINT64_C(1000000000)

/* Draws are brought to this. */
#define LARGEST ((pe_u128) 1 << 126)

/* More steps of V than any process takes: no bound on the law. */
#define V_LIMIT (UINT64_MAX - PE_GAUSS_TABLE)

/* ----------
 * Preparation
 * ----------
 */
void
pe_laplace_init(pe_laplace *l, pe_u128 t, uint64_t s)
{
	uint64_t	divisor;

	if (t == 0 || t >= PE_LAPLACE_T_LIMIT || s == 0 || s >> 63 != 0)
		pe_bug("scale of the discrete Laplace distribution is out of range");
	divisor = pe_gauss_gcd(t, s);
	l->t = t / divisor;
	l->s = s / divisor;
	l->t_double = (double) l->t;
	l->margin = PE_LAZY_MARGIN;
	l->no_table = false;
}

/* ----------
 * A draw
 * ----------
 */

/* The claim V < exp(-u/t) in integers, for a real that begins with the 64 bits first. */
static __attribute__((noinline)) bool
accept_exactly(const pe_laplace *l, pe_u128 u, uint64_t first, pe_bits *bits)
{
	const pe_lazy_claim claim = {
		.a = 1, .b = 1, .n1 = pe_wide_from(u), .d1 = pe_wide_from(l->t), .d2 = pe_wide_from(1)
	};

	return pe_lazy_less_exact(&claim, first, bits);
}

/*
 * True with probability exp(-u/t), u < t; first are the first 32 bits of the
 * uniform that decides, and decide all but about 2^-32 of the cases.
 *
 * u/t in double passes three roundings and is at most 1, so it errs by less than
 * 2^-51, and exp of it by a relative 2^-50 more than exp's own: PE_LAZY_MARGIN
 * (lazy_exp.h) covers both.
 */
static inline bool
accept(const pe_laplace *l, pe_u128 u, uint32_t first, pe_bits *bits)
{
	double		estimate = exp(-((double) u / l->t_double));
	double		low = (double) first * 0x1p-32;
	pe_lazy_answer answer = pe_lazy_quick(low, low + 0x1p-32, estimate, l->margin);
	uint64_t	longer;

	if (__builtin_expect(answer != PE_LAZY_UNSURE, 1))
		return answer == PE_LAZY_YES;
	longer = (uint64_t) first << 32 | pe_bits_next32(bits);
	low = (double) longer * 0x1p-64;
	answer = pe_lazy_quick(low, low, estimate, l->margin);
	if (answer != PE_LAZY_UNSURE)
		return answer == PE_LAZY_YES;
	return accept_exactly(l, u, longer, bits);
}

static pe_u128
uniform_below(pe_u128 t, pe_bits *bits)
{
	return t <= UINT64_MAX ? pe_bits_below(bits, (uint64_t) t) : pe_bits_below128(bits, t);
}

/*
 * floor((u + t v) / s), brought to LARGEST, exactly: with t = b s + c and
 * u = d s + e it is b v + d + floor((c v + e) / s), where c v + e < 2^63 2^64.
 */
static pe_u128
scaled_down(const pe_laplace *l, pe_u128 u, uint64_t v)
{
	pe_u128		whole;
	pe_u128		rest = l->t % l->s * v + u % l->s;

	if (__builtin_mul_overflow(l->t / l->s, (pe_u128) v, &whole) || whole > LARGEST)
		return LARGEST;
	whole += u / l->s + rest / l->s;
	return whole < LARGEST ? whole : LARGEST;
}

pe_i128
pe_laplace_draw(const pe_laplace *l, pe_bits *bits)
{
	for (;;)
	{
		uint64_t	word = pe_bits_next64(bits);
		pe_u128		u = uniform_below(l->t, bits);
		pe_u128		y;

		if (!accept(l, u, (uint32_t) word, bits))
			continue;
		y = scaled_down(l, u, pe_gauss_geometric(l->no_table, (uint32_t) (word >> 32), V_LIMIT, bits));
		if (!pe_bits_next1(bits))
			return (pe_i128) y;
		if (y != 0)
			return -(pe_i128) y;
	}
}

/* ----------
 * The mechanism
 * ----------
 */
bool
pe_laplace_calibrate(pe_u128 sensitivity, int64_t nano_epsilon, pe_u128 *t, uint64_t *s)
{
	uint64_t	denominator = (uint64_t) nano_epsilon;
	uint64_t	factor = NANO;
	uint64_t	divisor;

	if (sensitivity == 0 || nano_epsilon <= 0)
		return false;

	/* cancel each factor of the numerator before they are multiplied */
	divisor = pe_gauss_gcd(sensitivity, denominator);
	sensitivity /= divisor;
	denominator /= divisor;
	divisor = pe_gauss_gcd(factor, denominator);
	factor /= divisor;
	denominator /= divisor;

	if (sensitivity > (PE_LAPLACE_T_LIMIT - 1) / factor)
		return false;
	*t = sensitivity * factor;
	*s = denominator;
	return true;
}

double
pe_laplace_stderr(pe_u128 sensitivity, int64_t nano_epsilon)
{
	pe_u128		t;
	uint64_t	s;
	double		half;

	if (!pe_laplace_calibrate(sensitivity, nano_epsilon, &t, &s))
		return INFINITY;
	half = (double) s / (double) t / 2;
	/* beyond, sinh(x) is exp(x) / 2 in double, and may overflow */
	if (half > 300)
		return sqrt(2.0) * exp(-half);
	return sqrt(0.5) / sinh(half);
}

void
pe_laplace_release(pe_i128 *exact, size_t count, pe_u128 sensitivity, int64_t nano_epsilon, int64_t *released)
{
	pe_laplace_release_rounded(exact, count, sensitivity, nano_epsilon, 0, released);
}

void
pe_laplace_release_rounded(pe_i128 *exact, size_t count, pe_u128 sensitivity, int64_t nano_epsilon,
						   int down, int64_t *released)
{
	pe_u128		t;
	uint64_t	s;
	pe_laplace	noise;
	pe_bits		bits;

	if (!pe_laplace_calibrate(sensitivity, nano_epsilon, &t, &s))
		pe_bug("discrete Laplace mechanism cannot be calibrated");
	pe_laplace_init(&noise, t, s);
	pe_bits_init(&bits);
	for (size_t i = 0; i < count; i++)
		released[i] = pe_rounded_sum(exact[i], pe_laplace_draw(&noise, &bits), down);
	pe_bits_wipe(&bits);
	pe_wipe(exact, count * sizeof(*exact));
}
